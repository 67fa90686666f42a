//! Instructions that compute: one loop per kind of meaning, over the definition of what an element becomes.

use super::{Cell, Done, Picture, Reference};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::elem::Elem;
use tessera_isa::ops::Role;
use tessera_isa::profile::Profile;
use tessera_isa::sem::{At, Axis, Func, Sem};

impl Reference<'_> {
    /// Whatever the row says.
    pub(crate) fn computed(&mut self) -> Option<Done> {
        match self.inst.op.info().sem {
            Sem::Map { domain, args, func } => self.map(domain, args, func),
            Sem::Fold { src, each, func } => self.fold(src, each, func),
            Sem::Contract { a, b, plus } => self.contract(a, b, plus),
            Sem::Data(_) => self.gather(),
            _ => None,
        }
    }

    /// An argument at a point: its type, its bits, and whether it is wholly defined.
    fn arg(&self, role: Role, at: At, [i, j]: [u64; 2], to: Elem) -> Option<(Elem, u64, bool)> {
        let (r, c) = match at {
            At::Scalar => {
                return Some(match self.inst.scalar(role)? {
                    Number::Int(v) => (to, to.encode_int(v, Overflow::Infinity), true),
                    Number::Float(v) => (to, to.encode_f64(v, Overflow::Infinity), true),
                });
            }
            At::Same => (i, j),
            At::RowOf => (i, 0),
            At::ColOf => (0, j),
            At::Transposed => (j, i),
        };
        Some(element(self.source(role)?, r, c))
    }

    fn map(&mut self, domain: Role, args: &[(Role, At)], func: Func) -> Option<Done> {
        let [rows, cols] = self.source(domain)?.valid;
        let d = self.index(Role::Dst)?;
        let to = self.old.get(d)?.tile.elem;
        self.scratch(self.inst.profile == Profile::A2a3);
        for i in 0..rows {
            for j in 0..cols {
                let found: Option<Vec<_>> = args.iter().map(|(role, at)| self.arg(*role, *at, [i, j], to)).collect();
                let found = found?;
                let bits: Vec<(Elem, u64)> = found.iter().map(|(elem, bits, _)| (*elem, *bits)).collect();
                let cell = result(func.eval(to, &bits), found.iter().all(|f| f.2));
                self.tiles.get_mut(d)?.set(0, i, j, cell);
            }
        }
        Some(Ok(false))
    }

    fn fold(&mut self, src: Role, each: Axis, func: Func) -> Option<Done> {
        let (src, d) = (self.source(src)?.clone(), self.index(Role::Dst)?);
        let to = self.old.get(d)?.tile.elem;
        let state = Func::state(to);
        let [rows, cols] = src.valid;
        let (results, depth) = if each == Axis::Row { (rows, cols) } else { (cols, rows) };
        self.scratch(self.inst.profile != Profile::A5);
        for n in 0..results {
            let place = |k: u64| if each == Axis::Row { (n, k) } else { (k, n) };
            let (mut sum, mut all) = (0, true);
            for k in 0..depth {
                let (elem, bits, defined) = element(&src, place(k).0, place(k).1);
                (sum, all) = (func.eval(state, &[(state, sum), (elem, bits)]), all && defined);
            }
            let cell = result(Func::Convert.eval(to, &[(state, sum)]), all);
            self.tiles.get_mut(d)?.set(0, place(0).0, place(0).1, cell);
        }
        Some(Ok(false))
    }

    fn contract(&mut self, a: Role, b: Role, plus: Option<(Role, At)>) -> Option<Done> {
        let (a, b, d) = (self.source(a)?.clone(), self.source(b)?.clone(), self.index(Role::Dst)?);
        let to = self.old.get(d)?.tile.elem;
        let ([m, depth], [_, n]) = (a.valid, b.valid);
        if self.inst.profile.is_npu() && m > 0 && n > 0 {
            // Boxes of 16×16 (matrix.md 1).
            let dst = self.tiles.get_mut(d)?;
            let up = |x: u64| x.div_ceil(16) * 16;
            for i in 0..if a.tile.rows == 1 { 1 } else { up(m) }.min(dst.tile.rows) {
                for j in 0..up(n).min(dst.tile.cols) {
                    dst.set(0, i, j, result(0, false));
                }
            }
        }
        for i in 0..m {
            for j in 0..n {
                let (_, mut sum, mut all) = match plus {
                    Some((role, at)) => self.arg(role, at, [i, j], to)?,
                    None => (to, 0, true),
                };
                for k in 0..depth {
                    let (x, y) = (element(&a, i, k), element(&b, k, j));
                    sum = Func::MulAdd.eval(to, &[(to, sum), (x.0, x.1), (y.0, y.1)]);
                    all &= x.2 && y.2;
                }
                self.tiles.get_mut(d)?.set(0, i, j, result(sum, all));
            }
        }
        Some(Ok(false))
    }

    /// TGATHER with an index tile (irregular.md 4).
    fn gather(&mut self) -> Option<Done> {
        let (src, idx, d) = (self.source(Role::Src)?.clone(), self.source(Role::Idx)?.clone(), self.index(Role::Dst)?);
        let [rows, cols] = self.old.get(d)?.valid;
        let columns = i128::from(src.tile.cols);
        let mut picked = Vec::new();
        for i in 0..rows {
            for j in 0..cols {
                let (elem, bits, defined) = element(&idx, i, j);
                let Number::Int(k) = elem.decode(bits) else { return None };
                if !defined {
                    return Some(Err("undefined-use"));
                }
                if k < 0 || k >= i128::from(src.tile.rows) * columns {
                    return Some(Err("tgather-index"));
                }
                picked.push((i, j, src.get((k / columns) as u64, (k % columns) as u64)));
            }
        }
        self.scratch(self.inst.profile != Profile::A5);
        for (i, j, cell) in picked {
            self.tiles.get_mut(d)?.set(0, i, j, cell);
        }
        Some(Ok(false))
    }

    /// Scratch that is touched becomes undefined.
    fn scratch(&mut self, is_touched: bool) {
        if let Some(tmp) = self.index(Role::Tmp).filter(|_| is_touched).and_then(|n| self.tiles.get_mut(n)) {
            tmp.cores[0].defined.fill(0);
        }
    }
}

fn element(picture: &Picture, r: u64, c: u64) -> (Elem, u64, bool) {
    let (elem, cell) = (picture.tile.elem, picture.get(r, c));
    (elem, cell.bits, cell.defined & elem.mask() == elem.mask())
}

fn result(bits: u64, defined: bool) -> Cell {
    Cell { bits, defined: if defined { !0 } else { 0 } }
}
