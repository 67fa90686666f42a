//! TIMG2COL (ops.md 7).

use super::{Cell, Done, Reference};
use tessera_isa::ops::Role;

impl Reference<'_> {
    pub(super) fn image_to_columns(&mut self) -> Option<Done> {
        let (d, attrs, image) = (self.index(Role::Dst)?, &self.inst.attrs, self.inst.conv?);
        let src = self.source(Role::Src)?.clone();
        let [n_all, depth, c1_all, h, w, c0_all] = image.dims.map(|v| v as i128);
        let [kh, kw] = attrs.kernel()?.map(i128::from);
        let [stride_h, stride_w] = attrs.stride().map(i128::from);
        let [dil_h, dil_w] = attrs.dilation().map(i128::from);
        let [left, right, top, bottom] = attrs.pad().map(i128::from);
        let pad = match attrs.pad_value() {
            Some(v) => image.elem.encode_exact(&v)?,
            None => 0,
        };
        let (pos_m, pos_k) = (self.inst.index(Role::PosM)?, self.inst.index(Role::PosK)?);
        let oh = (h + top + bottom - dil_h * (kh - 1) - 1).div_euclid(stride_h) + 1;
        let ow = (w + left + right - dil_w * (kw - 1) - 1).div_euclid(stride_w) + 1;
        let [rows, cols] = self.old.get(d)?.valid;
        for r in 0..rows {
            for c in 0..cols {
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
                let cell = if inside {
                    let at = ((((n * depth + z) * c1_all + c1) * h + iy) * w + ix) * c0_all + c0;
                    src.get(0, at as u64)
                } else {
                    Cell::of(pad)
                };
                self.tiles.get_mut(d)?.set(0, r, c, cell);
            }
        }
        Some(Ok(false))
    }
}
