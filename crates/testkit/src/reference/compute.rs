//! Instructions that compute: one loop per kind of meaning, over the definition of what an element becomes.

use super::{Cell, Done, NO_MEANING, Picture, Reference, area, number};
use crate::definition;
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::F32Rounding;
use tessera_isa::ops::Role;
use tessera_isa::profile::Profile;
use tessera_isa::sem::{At, Func, Reduced, Sem};

impl Reference<'_> {
    /// Whatever the row says.
    pub(crate) fn computed(&mut self) -> Done {
        match self.inst.op.info().sem {
            Sem::Map { args, func } => self.map(args, func),
            Sem::Expand { each, func } => self.expand(each, func),
            Sem::Fold { each, func: Func::Arg { greatest, .. } } => self.places(each, greatest),
            Sem::Fold { each, func } => self.fold(each, func),
            Sem::Contract { plus, scaled, .. } => self.contract(plus, scaled),
            Sem::Data(_) | Sem::Part(_) => self.irregular(),
            Sem::Computes(_) => self.own(),
            _ => Err(NO_MEANING),
        }
    }

    fn contract(&mut self, plus: Option<(Role, At)>, scaled: bool) -> Done {
        let (a, b, d) = (self.source(Role::A)?, self.source(Role::B)?, self.index(Role::Dst)?);
        let to = self.old[d].tile.elem;
        let ([m, depth], [_, n]) = (a.valid, b.valid);
        if self.inst.profile.is_npu() && m > 0 && n > 0 {
            // Boxes of 16×16 (matrix.md 1).
            let dst = &mut self.tiles[d];
            let rows = if a.tile.rows == 1 { 1 } else { m.next_multiple_of(16) };
            for [i, j] in area([rows.min(dst.tile.rows), n.next_multiple_of(16).min(dst.tile.cols)]) {
                dst.set(0, i, j, Cell::result(0, false));
            }
        }
        let func = match (scaled, self.inst.attrs.enable(), self.inst.profile) {
            (true, ..) => Func::ScaledMulAdd,
            (_, Some(true), Profile::A2a3 | Profile::A5) if a.tile.elem == Elem::F32 => {
                let dropped = if self.inst.profile == Profile::A5 { 13 } else { 12 };
                let to_even = self.inst.attrs.f32_rounding() == Some(F32Rounding::Rint);
                Func::MulAdd(Some(Reduced { dropped, to_even }))
            }
            _ => Func::MulAdd(None),
        };
        for [i, j] in area([m, n]) {
            let (_, mut sum, mut all) = match plus {
                Some((role, At::Same)) => element(self.source(role)?, i, j),
                Some((role, At::ColOf)) => element(self.source(role)?, 0, j),
                None => (to, 0, true),
            };
            for k in 0..depth {
                let mut step = vec![element(a, i, k), element(b, k, j)];
                if scaled {
                    step.push(element(self.source(Role::AScale)?, i, k / 32));
                    step.push(element(self.source(Role::BScale)?, k / 32, j));
                }
                let args: Vec<(Elem, u64)> = [(to, sum)].into_iter().chain(step.iter().map(|x| (x.0, x.1))).collect();
                sum = definition::eval(func, to, &args).ok_or(NO_MEANING)?;
                all &= step.iter().all(|x| x.2);
            }
            // A NaN result is canonical, also one that nothing was added to (matrix.md 1).
            let is_nan = to == Elem::F32 && f32::from_bits(sum as u32).is_nan();
            let sum = if is_nan { 0x7FC0_0000 } else { sum };
            self.tiles[d].set(0, i, j, Cell::result(sum, all));
        }
        Ok(false)
    }

    /// TGATHER with an index tile (irregular.md 4).
    pub(super) fn gather(&mut self) -> Done {
        let (src, idx, d) = (self.source(Role::Src)?, self.source(Role::Idx)?, self.index(Role::Dst)?);
        let columns = i128::from(src.tile.cols);
        let mut picked = Vec::new();
        for [i, j] in area(self.old[d].valid) {
            let (elem, bits, defined) = element(idx, i, j);
            let Number::Int(k) = number(elem, bits) else { return Err(NO_MEANING) };
            if !defined {
                return Err("undefined-use");
            }
            if k < 0 || k >= i128::from(src.tile.rows) * columns {
                return Err("tgather-index");
            }
            picked.push((i, j, src.get((k / columns) as u64, (k % columns) as u64)));
        }
        self.scratch();
        self.tiles[d].put(0, picked);
        Ok(false)
    }
}

pub(super) fn element(picture: &Picture, r: u64, c: u64) -> (Elem, u64, bool) {
    let (elem, cell) = (picture.tile.elem, picture.get(r, c));
    (elem, cell.bits, cell.is_whole(elem))
}
