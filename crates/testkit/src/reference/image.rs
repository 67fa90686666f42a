//! TIMG2COL (ops.md 7).

use super::{Cell, Done, NO_MEANING, Reference, area};
use tessera_isa::ops::Role;

impl Reference<'_> {
    pub(super) fn image_to_columns(&mut self) -> Done {
        let (d, src, attrs) = (self.index(Role::Dst)?, self.source(Role::Src)?, &self.inst.attrs);
        let image = self.inst.conv.ok_or(NO_MEANING)?;
        let [n_all, depth, c1_all, h, w, c0_all] = image.dims.map(|v| v as i128);
        let [kh, kw] = attrs.kernel().ok_or(NO_MEANING)?.map(i128::from);
        let [stride_h, stride_w] = attrs.stride().map(i128::from);
        let [dil_h, dil_w] = attrs.dilation().map(i128::from);
        let [left, right, top, bottom] = attrs.pad().map(i128::from);
        let pad = match attrs.pad_value() {
            Some(v) => image.elem.encode_exact(&v).ok_or(NO_MEANING)?,
            None => 0,
        };
        let (pos_m, pos_k) = (i128::from(self.number(Role::PosM)?), i128::from(self.number(Role::PosK)?));
        let oh = (h + top + bottom - dil_h * (kh - 1) - 1).div_euclid(stride_h) + 1;
        let ow = (w + left + right - dil_w * (kw - 1) - 1).div_euclid(stride_w) + 1;
        for [r, c] in area(self.old[d].valid) {
            let m = pos_m + i128::from(r);
            let (n, z) = (m / (depth * oh * ow), m / (oh * ow) % depth);
            let (oy, ox) = (m / ow % oh, m % ow);
            let k = pos_k + i128::from(c);
            let c1 = k / (c0_all * kh * kw);
            let t = k / c0_all % (kh * kw);
            let (ky, kx, c0) = (t / kw, t % kw, k % c0_all);
            let iy = oy * stride_h + ky * dil_h - top;
            let ix = ox * stride_w + kx * dil_w - left;
            let inside = n < n_all && c1 < c1_all && (0..h).contains(&iy) && (0..w).contains(&ix);
            let at = ((((n * depth + z) * c1_all + c1) * h + iy) * w + ix) * c0_all + c0;
            self.tiles[d].set(0, r, c, if inside { src.get(0, at as u64) } else { Cell::of(pad) });
        }
        Ok(false)
    }
}
