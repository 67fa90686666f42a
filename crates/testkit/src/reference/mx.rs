//! Shared exponents, from the formulas of isa/today.md 6.4 and 6.5.

use super::compute::element;
use super::{Cell, Done, NO_MEANING, Reference, area};
use crate::definition::codec::{Beyond, encode, float};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{GroupAxis, QuantScaleAlg, QuantType};
use tessera_isa::ops::{AttrName, Role};

/// The exponent field of a number as f32, from its size: 0 below 2^-126.
fn field(v: f32) -> i32 {
    let v = f64::from(v);
    if v == 0.0 { 0 } else { (v.log2().floor() as i32 + 127).max(0) }
}

/// A power of two.
fn power(e: i32) -> f64 {
    2f64.powi(e)
}

impl Reference<'_> {
    pub(super) fn quantize_mx(&mut self) -> Done {
        let (src, d) = (self.source(Role::Src)?, self.index(Role::Dst)?);
        let attrs = &self.inst.attrs;
        let is_fp4 = attrs.quant_type() == Some(QuantType::MxFp4);
        let by_rows = attrs.group_axis() == Some(GroupAxis::Axis0);
        let is_nv = attrs.quant_scale_alg() == Some(QuantScaleAlg::Nv);
        let interleave = attrs.flag(AttrName::Interleave);
        let (from, region) = (src.tile.elem, src.valid);
        let [rows, cols] = region;
        let (lines, per_line) = if by_rows { (cols, rows / 32) } else { (rows, cols / 32) };
        let most = if is_fp4 { 6.0 } else { 448.0 };
        if let (Ok(zz), true) = (self.index(Role::ExpZz), per_line > 0) {
            for k in 0..rows.next_multiple_of(16) * per_line {
                self.tiles[zz].cores[0].set(k as i64, Elem::U8, Cell::of(0));
            }
        }
        for (line, group) in area([lines, per_line]).map(|[l, g]| (l, g)) {
            let at = |k: u64| if by_rows { (group * 32 + k, line) } else { (line, group * 32 + k) };
            let mut all = Vec::new();
            for k in 0..32 {
                let (r, c) = at(k);
                let (elem, bits, defined) = element(src, r, c);
                all.push((float(elem, bits).ok_or(NO_MEANING)? as f32, defined));
            }
            let defined = all.iter().all(|x| x.1);
            let mut m = 0f32;
            for (x, _) in &all {
                let mut size = x.abs();
                if from == Elem::F16 && !is_nv && size > 0.0 && size.is_finite() {
                    // Cut to eight significant bits.
                    let unit = power((f64::from(size).log2().floor() as i32).max(-126) - 7);
                    size = ((f64::from(size) / unit).floor() * unit) as f32;
                }
                m = if m.is_nan() || x.is_nan() { f32::NAN } else { m.max(size) };
            }
            let e = if m.is_nan() {
                255
            } else if !is_nv {
                let top = if m.is_infinite() { 255 } else { field(m) };
                (top - if is_fp4 { 2 } else { 8 }).max(0)
            } else if m == 0.0 {
                0
            } else {
                let c = 1.0 / most as f32;
                let product = (f64::from(m) * f64::from(c)) as f32;
                if product.is_infinite() {
                    254
                } else {
                    let (e, d) = (field(product), f64::from(product));
                    let is_whole = d == power(d.log2().floor() as i32) && e > 0;
                    let is_small = e == 0 && d <= power(-127);
                    e + i32::from(!is_whole && !is_small && e != 254)
                }
            };
            let scale = if e == 255 { f64::NAN } else { power(127 - e) };
            for (k, (x, _)) in (0..).zip(&all) {
                let (r, c) = at(k);
                let mut t = (f64::from(*x) * scale) as f32;
                if is_fp4 && from == Elem::Bf16 {
                    let bits = encode(Elem::Bf16, t.into(), Beyond::Infinite).ok_or(NO_MEANING)?;
                    t = float(Elem::Bf16, bits).ok_or(NO_MEANING)? as f32;
                }
                let (to, nan, sign) = if is_fp4 { (Elem::F4e2m1x2, 7, 8) } else { (Elem::F8e4m3, 0x7F, 0x80) };
                let code = match t.is_nan() {
                    true => nan,
                    false => {
                        let size = f64::from(t.abs()).min(most);
                        encode(to, size, Beyond::Largest).ok_or(NO_MEANING)? & (sign - 1)
                            | if t.is_sign_negative() { sign } else { 0 }
                    }
                };
                self.tiles[d].set(0, r, c, Cell::result(code, defined));
            }
            let groups = if by_rows { [group, line] } else { [line, group] };
            for role in [Role::Exp, Role::Max, Role::Scaling] {
                let n = self.index(role)?;
                let width = if by_rows { cols } else { per_line };
                let (r, c) = match role {
                    Role::Exp if interleave => (group / 2, 2 * line + group % 2),
                    _ if self.old[n].valid[0] == 1 => (0, groups[0] * width + groups[1]),
                    _ => (groups[0], groups[1]),
                };
                let (bits, kept) = match role {
                    Role::Exp => (e as u64, true),
                    Role::Max if m.is_nan() => (0x7FC0_0000, from == Elem::F32),
                    Role::Max => (u64::from(m.to_bits()), from == Elem::F32),
                    _ if e == 255 => (0x7FC0_0000, from == Elem::F32),
                    _ => (u64::from((scale as f32).to_bits()), from == Elem::F32),
                };
                self.tiles[n].set(0, r, c, Cell::result(bits, defined && kept));
            }
            if let Ok(zz) = self.index(Role::ExpZz) {
                let to = ((line / 16 * (per_line / 2) + group / 2) * 16 + line % 16) * 2 + group % 2;
                self.tiles[zz].cores[0].set(to as i64, Elem::U8, Cell::result(e as u64, defined));
            }
        }
        if from != Elem::F32 {
            let s = self.index(Role::Src)?;
            for [r, c] in area([rows, src.tile.cols]).filter(|[_, c]| *c >= cols) {
                self.tiles[s].set(0, r, c, Cell::result(0, false));
            }
        }
        Ok(false)
    }

    pub(super) fn exponents(&mut self) -> Done {
        let (src, d, s) = (self.source(Role::Src)?, self.index(Role::Dst)?, self.index(Role::Src)?);
        let byte = |n: u64| src.get(n / src.valid[1], n % src.valid[1]);
        let mut written = Vec::new();
        if self.inst.attrs.group_axis() == Some(GroupAxis::Axis0) {
            let (pairs, blocks) = (src.valid[0] / 2, src.valid[1] / 16);
            for [k, p] in area([blocks, pairs]) {
                for [q, e] in area([16, 2]) {
                    written.push((((k * pairs + p) * 16 + q) * 2 + e, src.get(2 * p + e, 16 * k + q)));
                }
            }
        } else {
            let [rows, cols] = self.old[d].valid;
            for [b, p] in area([rows.div_ceil(16), cols / 2]) {
                for [q, e] in area([16, 2]) {
                    let row = 16 * b + q;
                    let cell = if row < rows { byte(row * cols + 2 * p + e) } else { Cell::of(0) };
                    written.push((((b * cols / 2 + p) * 16 + q) * 2 + e, cell));
                }
            }
            self.scratch();
            for [r, c] in area([src.tile.rows, src.tile.cols]) {
                if r >= src.valid[0] || c >= src.valid[1] {
                    self.tiles[s].set(0, r, c, Cell::result(0, false));
                }
            }
        }
        for (at, cell) in written {
            self.tiles[d].cores[0].set(at as i64, Elem::U8, cell);
        }
        Ok(false)
    }
}
