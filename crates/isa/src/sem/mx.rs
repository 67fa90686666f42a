//! Shared exponents: quantization to 8- and 4-bit floats, and the order in which the matrix unit reads the exponents
//! (isa/today.md 6.4 and 6.5).

use super::irregular::{declared, routed, stored, top};
use super::route::{Data, Done, From, Routing};
use super::{Rect, Step, Steps, scratch, valid};
use crate::codec::Overflow;
use crate::elem::Elem;
use crate::inst::{GroupAxis, Inst, QuantScaleAlg, QuantType, TileArg};
use crate::ops::{AttrName, Role};

/// Elements that share an exponent.
pub const MX_GROUP: u64 = 32;

/// The axis and algorithm of TQUANT_MX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mx {
    /// Whether groups lie along the rows (axis0), not along the columns.
    pub by_rows: bool,
    /// Whether the scale is rounded up to hold the maximum (nv).
    pub is_nv: bool,
    /// Whether dst is fp4.
    pub is_fp4: bool,
    /// Whether exponents of two rows of groups stand side by side.
    pub interleave: bool,
}

impl Mx {
    pub fn of(inst: &Inst) -> Option<Mx> {
        let attrs = &inst.attrs;
        Some(Mx {
            by_rows: attrs.group_axis()? == GroupAxis::Axis0,
            is_nv: attrs.quant_scale_alg()? == QuantScaleAlg::Nv,
            is_fp4: attrs.quant_type()? == QuantType::MxFp4,
            interleave: attrs.flag(AttrName::Interleave),
        })
    }

    /// Rows and columns of groups.
    pub fn groups(&self, [rows, cols]: [u64; 2]) -> [u64; 2] {
        if self.by_rows { [rows / MX_GROUP, cols] } else { [rows, cols / MX_GROUP] }
    }

    /// The place of a group in a tile with one value for each; `flat`: all in one row.
    fn place(&self, [i, j]: [u64; 2], groups: [u64; 2], region: [u64; 2]) -> (u64, u64) {
        if region == groups { (i, j) } else { (0, i * groups[1] + j) }
    }
}

/// A group's exponent, its largest magnitude and its scale, as f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shared {
    pub exponent: u8,
    pub max: f32,
    pub scale: f32,
}

impl Shared {
    /// Of the elements of a group.
    ///
    /// ```
    /// use tessera_isa::elem::Elem;
    /// use tessera_isa::sem::{Mx, Shared};
    ///
    /// let ocp = Mx { by_rows: false, is_nv: false, is_fp4: false, interleave: false };
    /// // 3 has the exponent field 128, and MXFP8 has eight powers of two more above 1.
    /// let shared = Shared::of(&ocp, Elem::F32, [3.0, -1.0].into_iter());
    /// assert_eq!((shared.exponent, shared.scale), (120, 128.0));
    /// ```
    pub fn of(mx: &Mx, from: Elem, elements: impl Iterator<Item = f32>) -> Shared {
        let is_cut = from == Elem::F16 && !mx.is_nv;
        let magnitude =
            |x: f32| f32::from_bits(if is_cut { x.abs().to_bits() & 0xFFFF_0000 } else { x.abs().to_bits() });
        let larger = |m: f32, x: f32| if m.is_nan() || x.is_nan() { f32::NAN } else { m.max(magnitude(x)) };
        let max = elements.fold(0.0, larger);
        let field = |v: f32| (v.to_bits() >> 23 & 0xFF) as u8;
        let exponent = match (max.is_nan(), mx.is_nv) {
            (true, _) => 255,
            (false, false) => field(max).saturating_sub(if mx.is_fp4 { 2 } else { 8 }),
            (false, true) if max == 0.0 => 0,
            (false, true) => {
                let d = max * (1.0 / if mx.is_fp4 { 6.0f32 } else { 448.0 });
                let (e, fraction) = (field(d), d.to_bits() & 0x7F_FFFF);
                let stays = fraction == 0 || e == 254 || e == 0 && fraction <= 0x40_0000;
                if d.is_infinite() { 254 } else { e + u8::from(!stays) }
            }
        };
        let scale = match exponent {
            255 => f32::NAN,
            254 => f32::from_bits(0x0040_0000),
            e => f32::from_bits(u32::from(254 - e) << 23),
        };
        Shared { exponent, max, scale }
    }

    /// The code of an element.
    pub fn code(&self, mx: &Mx, from: Elem, x: f32) -> u64 {
        let t = x * self.scale;
        let t = match mx.is_fp4 && from == Elem::Bf16 {
            true => f32::from_bits((Elem::Bf16.encode_f32(t, Overflow::Infinity) as u32) << 16),
            false => t,
        };
        let (to, most, nan, sign) =
            if mx.is_fp4 { (Elem::F4e2m1x2, 6.0, 7, 8) } else { (Elem::F8e4m3, 448.0, 0x7F, 0x80) };
        if t.is_nan() {
            return nan;
        }
        let code = to.encode_f32(t.abs().min(most), Overflow::Saturate);
        code | if t.is_sign_negative() { sign } else { 0 }
    }
}

/// The value of an element of f32, f16 or bf16.
fn value(elem: Elem, bits: u64) -> f32 {
    match elem {
        Elem::F32 => f32::from_bits(bits as u32),
        Elem::Bf16 => f32::from_bits((bits as u32) << 16),
        _ => match elem.decode(bits) {
            crate::codec::Number::Float(v) => v as f32,
            crate::codec::Number::Int(v) => v as f32,
        },
    }
}

/// TQUANT_MX.
pub fn quantize_mx(inst: &Inst) -> Steps {
    let mx = Mx::of(inst)?;
    let tile = |role| inst.tile_index(role);
    let (s, d) = (tile(Role::Src)?, tile(Role::Dst)?);
    let extent = valid(inst, s)?;
    let mut writes = vec![(d, top(extent))];
    for role in [Role::Exp, Role::Max, Role::Scaling] {
        let n = tile(role)?;
        writes.push((n, top(valid(inst, n)?)));
    }
    if let Some(zz) = tile(Role::ExpZz) {
        writes.push((zz, declared(inst, zz)?));
    }
    let src = &inst.tiles.get(s)?.tile;
    let mut all = Vec::new();
    // Hardware computes in the padding of 16-bit sources.
    if src.elem != Elem::F32 && extent[1] < src.cols {
        let rect = Rect { row: 0, col: extent[1], rows: extent[0], cols: src.cols - extent[1] };
        all.push(Step::Clobber { dst: s, core: 0, rect });
    }
    all.push(routed(Routing::QuantizeMx(mx), &[(s, top(extent))], &writes));
    Some(all)
}

/// TMOV of exponents into ZZ order.
pub fn exponents(inst: &Inst) -> Steps {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let by_rows = inst.attrs.group_axis()? == GroupAxis::Axis0;
    let (extent, src) = (valid(inst, s)?, &inst.tiles.get(s)?.tile);
    let mut all = Vec::new();
    if !by_rows {
        all.extend(scratch(inst));
        // The padding of src: columns behind the valid ones, then rows.
        let [rows, cols] = extent;
        for rect in [
            Rect { row: 0, col: cols, rows, cols: src.cols - cols.min(src.cols) },
            Rect { row: rows, col: 0, rows: src.rows - rows.min(src.rows), cols: src.cols },
        ] {
            if !rect.is_empty() {
                all.push(Step::Clobber { dst: s, core: 0, rect });
            }
        }
    }
    all.push(routed(Routing::Exponents { by_rows }, &[(s, top(extent))], &[(d, declared(inst, d)?)]));
    Some(all)
}

/// The byte of a ZZ order with `half` pairs of columns: row 16b + q, column 2p + d.
fn zz(half: u64, row: u64, col: u64) -> u64 {
    ((row / 16 * half + col / 2) * 16 + row % 16) * 2 + col % 2
}

impl Data<'_> {
    fn arg(&self, role: Role) -> Option<(usize, &TileArg)> {
        let number = self.inst.tile_index(role)?;
        Some((number, self.inst.tiles.get(number)?))
    }

    pub(super) fn exponents(&mut self, by_rows: bool) -> Done {
        let (s, src) = self.arg(Role::Src)?;
        let (d, dst) = self.arg(Role::Dst)?;
        let ([rows, cols], [dst_rows, dst_cols]) = (src.known_valid()?, dst.known_valid()?);
        let mut moved = Vec::new();
        if by_rows {
            let half = rows / 2;
            for (row, col) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
                // Row 2p + d and column 16k + q.
                let to = ((col / 16 * half + row / 2) * 16 + col % 16) * 2 + row % 2;
                moved.push((to, From::Tile(s, src.layout.offset(row, col))));
            }
        } else {
            for (row, col) in (0..dst_rows.next_multiple_of(16)).flat_map(|r| (0..dst_cols).map(move |c| (r, c))) {
                let n = row * dst_cols + col;
                let from = match row < dst_rows && cols > 0 {
                    true => From::Tile(s, src.layout.offset(n / cols, n % cols)),
                    false => From::Value(0),
                };
                moved.push((zz(dst_cols / 2, row, col), from));
            }
        }
        moved.sort_by_key(|(to, _)| *to);
        moved.into_iter().for_each(|(to, from)| self.push(d, to as i64, 1, from));
        Some(Ok(()))
    }

    pub(super) fn quantize_mx(&mut self, mx: Mx) -> Done {
        let src = self.tile(Role::Src)?;
        let (d, dst) = self.arg(Role::Dst)?;
        let dst = dst.clone();
        let extent = src.valid;
        let groups = mx.groups(extent);
        let mut codes = std::collections::BTreeMap::new();
        for (i, j) in (0..groups[0]).flat_map(|i| (0..groups[1]).map(move |j| (i, j))) {
            let at = |k: u64| if mx.by_rows { (i * MX_GROUP + k, j) } else { (i, j * MX_GROUP + k) };
            let places: Vec<(u64, u64)> = (0..MX_GROUP).map(at).collect();
            let read = |(r, c): &(u64, u64)| self.element(src, *r, *c).map(|bits| value(src.elem, bits));
            let elements: Option<Vec<f32>> = places.iter().map(read).collect();
            let shared = elements.as_ref().map(|all| Shared::of(&mx, src.elem, all.iter().copied()));
            for (n, place) in places.into_iter().enumerate() {
                let x = elements.as_ref().and_then(|all| all.get(n));
                codes.insert(place, shared.zip(x).map(|(shared, x)| shared.code(&mx, src.elem, *x)));
            }
            self.shared(&mx, (i, j), groups, shared)?;
        }
        // Two fp4 elements are one byte.
        let bits = dst.tile.elem.bits();
        let per_byte = u64::from(8 / bits);
        for (r, c) in codes.keys().copied().filter(|(_, c)| c.is_multiple_of(per_byte)) {
            let both: Option<u64> = (0..per_byte).try_fold(0, |byte, k| {
                let code = codes.get(&(r, c + k)).copied().flatten()?;
                Some(byte | code << (u64::from(bits) * k))
            });
            let to = dst.layout.offset(r, c) / per_byte as i64;
            self.push(d, to, 1, both.map_or(From::Undefined, From::Value));
        }
        Some(Ok(()))
    }

    /// What a group leaves beside its codes. Hardware keeps other bits in max and scaling of 16-bit sources.
    fn shared(&mut self, mx: &Mx, (i, j): (u64, u64), groups: [u64; 2], shared: Option<Shared>) -> Option<()> {
        let is_wide = self.tile(Role::Src)?.elem == Elem::F32;
        let value = |of: &dyn Fn(Shared) -> u64| shared.map_or(From::Undefined, |shared| From::Value(of(shared)));
        let exponent = value(&|shared| shared.exponent.into());
        let exp = self.tile(Role::Exp)?;
        let at = match mx.interleave {
            true => (i / 2, 2 * j + i % 2),
            false => mx.place([i, j], groups, exp.valid),
        };
        self.put(exp, at, exponent);
        for (role, from) in [
            (Role::Max, value(&|shared| Elem::F32.encode_f32(shared.max, Overflow::Infinity))),
            (Role::Scaling, value(&|shared| Elem::F32.encode_f32(shared.scale, Overflow::Infinity))),
        ] {
            let tile = self.tile(role)?;
            let at = mx.place([i, j], groups, tile.valid);
            self.put(tile, at, if is_wide { from } else { From::Undefined });
        }
        if let Some((n, _)) = self.arg(Role::ExpZz) {
            let place = |k: u64| stored(self.inst, n, k as i64 as u64);
            let tile = self.tile(Role::ExpZz)?;
            let to = place(zz(groups[1] / 2, i, j))?;
            self.put(tile, to, exponent);
            // Rows up to the next sixteen are zero.
            if i + 1 == groups[0] {
                for row in groups[0]..groups[0].next_multiple_of(16) {
                    let to = place(zz(groups[1] / 2, row, j))?;
                    self.put(tile, to, From::Value(0));
                }
            }
        }
        Some(())
    }
}
