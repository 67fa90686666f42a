//! The vector unit: maps, folds, expansions, masks, from the formulas of isa/elementwise.md, scalar.md and reduce.md.

use super::compute::element;
use super::{Cell, Done, NO_MEANING, Picture, Reference, area, number, scalar_bits};
use crate::definition::codec::{Beyond, clamp, encode, float, sticky};
use crate::definition::{self, holds};
use std::cmp::Ordering;
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Family, Form, Opcode, Role, RuleKind};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Axis, Func, Saturation};
use tessera_isa::tile::{LayoutName, Loc};

/// An argument at a point: its type, its bits, and whether it is wholly defined.
type TypedBits = (Elem, u64, bool);

impl Reference<'_> {
    /// Instructions with formulas of their own.
    pub(super) fn own(&mut self) -> Done {
        let (op, attrs) = (self.inst.op, &self.inst.attrs);
        match op {
            Opcode::Tcvt => {
                let rounding = attrs.rounding().ok_or(NO_MEANING)?;
                let to = self.inst.dst().map(|dst| dst.tile.elem);
                let is_byte = matches!(to, Some(Elem::F8e4m3 | Elem::F8e5m2)) && self.inst.profile == Profile::A5;
                let saturation = match attrs.saturation() {
                    Some(Saturation::Off) => Some(Saturation::Off),
                    _ if is_byte => Some(Saturation::Finite),
                    given => given,
                };
                self.map(&[Role::Src], Func::Cvt { rounding, saturation })
            }
            Opcode::Tdivs if self.inst.form == Form::ScalarFirst => self.map(&[Role::Scalar, Role::Src], Func::Div),
            Opcode::Tdivs => {
                let is_float = self.source(Role::Dst)?.tile.elem.is_float();
                let func = if is_float && self.inst.profile == Profile::A5 { Func::MulRecip } else { Func::Div };
                self.map(&[Role::Src, Role::Scalar], func)
            }
            Opcode::Tlrelu => self.map(&[Role::Src, Role::Scalar], Func::Prelu),
            Opcode::Texpands => self.fill(),
            Opcode::Tcmp | Opcode::Tcmps => self.compare(),
            Opcode::Tsel | Opcode::Tsels => self.select(),
            Opcode::Tpairreducesum => self.pairs(),
            _ => self.irregular(),
        }
    }

    /// A scalar as an element: low bits, or rounded to nearest even (isa/scalar.md 2).
    fn scalar_as(&self, elem: Elem) -> Result<TypedBits, &'static str> {
        Ok((elem, scalar_bits(elem, self.inst.scalar(Role::Scalar).ok_or(NO_MEANING)?)?, true))
    }

    /// A scalar of any kind by its value (isa/today.md 6.8): rounded to the even one of two, or cut toward zero.
    fn scalar_by_value(&self, elem: Elem) -> Result<TypedBits, &'static str> {
        let bits = match (self.inst.scalar(Role::Scalar).ok_or(NO_MEANING)?, elem.is_float()) {
            (Number::Int(v), true) => encode(elem, sticky(v), Beyond::Infinite).ok_or(NO_MEANING)?,
            (Number::Float(v), false) => {
                let cut = v.trunc() as i128;
                if !v.is_finite() || clamp(elem, cut) != cut {
                    return Err("scalar-range");
                }
                cut as u64 & elem.mask()
            }
            (same, _) => scalar_bits(elem, same)?,
        };
        Ok((elem, bits, true))
    }

    fn arg(&self, role: Role, [i, j]: [u64; 2], to: Elem) -> Result<TypedBits, &'static str> {
        if self.index(role).is_ok() {
            return Ok(element(self.source(role)?, i, j));
        }
        match self.inst.op {
            // The slope is not rounded.
            Opcode::Tlrelu => self.scalar_as(Elem::F32),
            Opcode::Tadds | Opcode::Tsubs | Opcode::Tmuls | Opcode::Tdivs | Opcode::Tmaxs | Opcode::Tmins => {
                self.scalar_by_value(self.source(Role::Src)?.tile.elem)
            }
            _ => self.scalar_as(self.source(Role::Src).map_or(to, |src| src.tile.elem)),
        }
    }

    /// `-zero`: a defined divisor of an integer is 0, whatever is divided.
    fn check_zero(&self, func: Func, to: Elem, args: &[TypedBits]) -> Result<(), &'static str> {
        let rule = self.inst.op.info().rules.iter().find(|r| r.kind == RuleKind::Zero && r.on.has(self.inst.profile));
        let (Some(rule), false) = (rule, to.is_float()) else { return Ok(()) };
        let value = |n: usize| match args.get(n) {
            Some((elem, bits, true)) => Some(number(*elem, *bits)),
            _ => None,
        };
        let is_zero = |n: usize| value(n) == Some(Number::Int(0));
        let broken = match func {
            Func::Recip => is_zero(0),
            Func::Div | Func::Rem | Func::Fmod => is_zero(1),
            Func::Pow => is_zero(0) && matches!(value(1), Some(Number::Int(..0))),
            _ => false,
        };
        if broken { Err(rule.id) } else { Ok(()) }
    }

    pub(super) fn map(&mut self, roles: &[Role], func: Func) -> Done {
        let d = self.index(Role::Dst)?;
        let (extent, to) = (self.old[d].valid, self.old[d].tile.elem);
        if roles.get(1) == Some(&Role::Scalar) && func != Func::Pow {
            // A scalar that divides is asked even where nothing is divided (isa/scalar.md 3).
            let divisor = self.arg(Role::Scalar, [0, 0], to)?;
            self.check_zero(func, to, &[(to, 1, false), divisor])?;
        }
        self.scratch();
        for at @ [i, j] in area(extent) {
            let found = roles.iter().map(|role| self.arg(*role, at, to)).collect::<Result<Vec<_>, _>>()?;
            self.check_zero(func, to, &found)?;
            self.tiles[d].set(0, i, j, applied(func, to, &found)?);
        }
        Ok(false)
    }

    fn fill(&mut self) -> Done {
        let d = self.index(Role::Dst)?;
        let tile = self.old[d].tile;
        let (_, bits, _) = self.scalar_as(tile.elem)?;
        let extent = if tile.loc == Loc::Mat { [tile.rows, tile.cols] } else { self.old[d].valid };
        for [i, j] in area(extent) {
            self.tiles[d].set(0, i, j, Cell::of(bits));
        }
        Ok(false)
    }

    /// Byte `b` of the mask for row `i` of the data: which byte of the tile (isa/elementwise.md 4).
    fn mask_byte(mask: &Picture, i: u64, b: u64, is_dense: bool, row: u64) -> usize {
        let pitch = mask.tile.elem.bytes_of(mask.tile.cols);
        let (i, b) = match (is_dense, mask.tile.elem.bytes_of(mask.valid[1])) {
            (true, v) => ((i * row + b) / v, (i * row + b) % v),
            _ => (i, b),
        };
        (i * pitch + b) as usize
    }

    fn compare(&mut self) -> Done {
        let d = self.index(Role::Dst)?;
        let of_scalar = self.inst.op == Opcode::Tcmps;
        let x = self.source(if of_scalar { Role::Src } else { Role::Src0 })?;
        let cmp = self.inst.attrs.cmp().ok_or(NO_MEANING)?;
        let is_dense = of_scalar && self.inst.profile != Profile::A2a3;
        let [rows, cols] = x.valid;
        let row = cols.div_ceil(8);
        for [i, b] in area([rows, row]) {
            let (mut byte, mut defined) = (0, true);
            for bit in 0..(cols - 8 * b).min(8) {
                let x = element(x, i, 8 * b + bit);
                let y = match of_scalar {
                    true => self.scalar_as(x.0)?,
                    false => element(self.source(Role::Src1)?, i, 8 * b + bit),
                };
                byte |= u8::from(holds(cmp, order(x, y))) << bit;
                defined &= x.2 && y.2;
            }
            let at = Self::mask_byte(&self.old[d], i, b, is_dense, row);
            let content = &mut self.tiles[d].cores[0];
            (content.bytes[at], content.defined[at]) = (byte, if defined { 0xFF } else { 0 });
        }
        Ok(false)
    }

    fn select(&mut self) -> Done {
        let (d, mask) = (self.index(Role::Dst)?, self.source(Role::Mask)?);
        let to = self.old[d].tile.elem;
        self.scratch();
        for [i, j] in area(self.old[d].valid) {
            let at = Self::mask_byte(mask, i, j / 8, false, 0);
            let (byte, is_known) = (mask.cores[0].bytes[at], mask.cores[0].defined[at] == 0xFF);
            let (_, bits, defined) = match (byte >> (j % 8) & 1 == 1, self.inst.op) {
                (true, Opcode::Tsel) => element(self.source(Role::Src0)?, i, j),
                (false, Opcode::Tsel) => element(self.source(Role::Src1)?, i, j),
                (true, _) => element(self.source(Role::Src)?, i, j),
                (false, _) => self.scalar_as(to)?,
            };
            self.tiles[d].set(0, i, j, Cell::result(bits, defined && is_known));
        }
        Ok(false)
    }

    fn pairs(&mut self) -> Done {
        let (d, src) = (self.index(Role::Dst)?, self.source(Role::Src)?);
        let (to, [rows, cols]) = (self.old[d].tile.elem, self.old[d].valid);
        for [i, k] in area([rows, cols]) {
            let cell = if k < cols / 2 {
                applied(Func::Add, to, &[element(src, i, 2 * k), element(src, i, 2 * k + 1)])?
            } else if self.inst.profile == Profile::Cpu && cols % 2 == 1 && k == cols / 2 {
                applied(Func::Add, to, &[element(src, i, cols - 1), (to, 0, true)])?
            } else {
                Cell::of(0)
            };
            self.tiles[d].set(0, i, k, cell);
        }
        Ok(false)
    }

    /// The blocks of 32 bytes that a2a3 writes in these rows (isa/reduce.md 3).
    fn clobber(&mut self, d: usize, [rows, cols]: [u64; 2]) {
        if self.inst.profile == Profile::A2a3 && cols > 0 {
            let dst = &mut self.tiles[d];
            let end = cols.next_multiple_of(dst.tile.elem.c0()).min(dst.tile.cols);
            for [i, j] in area([rows, end]) {
                dst.set(0, i, j, Cell::result(0, false));
            }
        }
    }

    pub(super) fn expand(&mut self, each: Axis, func: Func) -> Done {
        let d = self.index(Role::Dst)?;
        let (extent, tile) = (self.old[d].valid, self.old[d].tile);
        self.scratch();
        if let Ok(src) = self.source(Role::Src) {
            if each == Axis::Col {
                self.clobber(d, extent);
            }
            for [i, j] in area(extent) {
                let cell = if each == Axis::Row { src.get(i, 0) } else { src.get(0, j) };
                self.tiles[d].set(0, i, j, cell);
            }
            return Ok(false);
        }
        let (src0, src1) = (self.source(Role::Src0)?, self.source(Role::Src1)?);
        let is_nd = self.inst.profile == Profile::Cpu || src0.tile.layout_name() == LayoutName::Nd;
        let first_is_full = src0.valid == extent && is_nd;
        let found = |src: &Picture, is_full: bool, [i, j]: [u64; 2]| {
            let n = if self.inst.attrs.src1_col() == Some(1) { 1 } else { src.valid[1] };
            match (is_full, each) {
                (true, _) => element(src, i, j),
                (_, Axis::Row) => element(src, i, j % n),
                (_, Axis::Col) => element(src, 0, j),
            }
        };
        let mut written = Vec::new();
        for at @ [i, j] in area(extent) {
            let args = [found(src0, first_is_full, at), found(src1, !first_is_full, at)];
            self.check_zero(func, tile.elem, &args)?;
            written.push((i, j, applied(func, tile.elem, &args)?));
        }
        self.tiles[d].put(0, written);
        Ok(false)
    }

    pub(super) fn fold(&mut self, each: Axis, func: Func) -> Done {
        let (src, d) = (self.source(Role::Src)?, self.index(Role::Dst)?);
        let to = self.old[d].tile.elem;
        let state = if to.is_float() { Elem::F32 } else { to };
        let (results, depth) = lines(each, src);
        self.scratch();
        if each == Axis::Col && depth > 0 {
            self.clobber(d, [1, results]);
        }
        for n in 0..results {
            let place = |k: u64| if each == Axis::Row { (n, k) } else { (k, n) };
            let first = element(src, place(0).0, place(0).1);
            // +0, 1, or the first element itself.
            let start = match func {
                Func::Add => 0,
                Func::Mul if to.is_float() => 0x3F80_0000,
                Func::Mul => 1,
                _ => definition::convert(state, (first.0, first.1)).ok_or(NO_MEANING)?,
            };
            let (mut sum, mut all) = (start, true);
            for k in 0..depth {
                let (elem, bits, defined) = element(src, place(k).0, place(k).1);
                sum = definition::eval(func, state, &[(state, sum), (elem, bits)]).ok_or(NO_MEANING)?;
                all &= defined;
            }
            let cell = Cell::result(definition::convert(to, (state, sum)).ok_or(NO_MEANING)?, all);
            self.tiles[d].set(0, place(0).0, place(0).1, cell);
        }
        Ok(false)
    }

    /// Where the first greatest or least element is, and which it is (isa/reduce.md 5).
    pub(super) fn places(&mut self, each: Axis, greatest: bool) -> Done {
        let (src, d) = (self.source(Role::Src)?, self.index(Role::Dst)?);
        let (results, depth) = lines(each, src);
        let wanted = if greatest { Ordering::Greater } else { Ordering::Less };
        self.scratch();
        for n in 0..results {
            let place = |k: u64| if each == Axis::Row { (n, k) } else { (k, n) };
            let at = |k: u64| element(src, place(k).0, place(k).1);
            let is_nan = |k: u64| float(src.tile.elem, at(k).1).is_some_and(f64::is_nan);
            let best = (0..depth).find(|k| is_nan(*k)).unwrap_or_else(|| {
                (1..depth).fold(0, |best, k| if order(at(k), at(best)) == Some(wanted) { k } else { best })
            });
            let all = (0..depth).all(|k| at(k).2);
            let (row, col) = place(0);
            self.tiles[d].set(0, row, col, Cell::result(best, all));
            if let Ok(value) = self.index(Role::DstVal) {
                self.tiles[value].set(0, row, col, Cell::result(at(best).1, all));
            }
        }
        Ok(false)
    }

    /// Scratch that is touched becomes undefined (isa/notes.md).
    pub(super) fn scratch(&mut self) {
        let info = self.inst.op.info();
        let is_touched = match (self.inst.profile, info.family) {
            (_, Family::Layout) | (Profile::A2a3, _) => true,
            (Profile::Cpu, family) => !matches!(family, Family::Elementwise | Family::Scalar),
            (Profile::A5, _) if matches!(self.inst.op, Opcode::Tsort32 | Opcode::TmovZz) => true,
            (Profile::A5, _) => self.inst.op == Opcode::Tcolsum && self.inst.attrs.is_binary(),
        };
        if let (true, Ok(tmp)) = (is_touched, self.index(Role::Tmp)) {
            self.tiles[tmp].cores[0].defined.fill(0);
        }
    }
}

/// How many results there are, and of how many elements each is made.
fn lines(each: Axis, src: &Picture) -> (u64, u64) {
    let [rows, cols] = src.valid;
    if each == Axis::Row { (rows, cols) } else { (cols, rows) }
}

fn applied(func: Func, to: Elem, args: &[TypedBits]) -> Result<Cell, &'static str> {
    let bits: Vec<(Elem, u64)> = args.iter().map(|(elem, bits, _)| (*elem, *bits)).collect();
    let result = definition::eval(func, to, &bits).ok_or(NO_MEANING)?;
    Ok(Cell::result(result, args.iter().all(|f| f.2)))
}

/// By value; with a NaN there is no order.
fn order(x: TypedBits, y: TypedBits) -> Option<Ordering> {
    definition::order((x.0, x.1), (y.0, y.1)).flatten()
}
