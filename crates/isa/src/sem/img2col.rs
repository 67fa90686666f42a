//! TIMG2COL (ops.md 7).

use super::{Step, Steps};
use crate::inst::{ConvType, Inst};
use crate::ops::Role;

/// The configuration of a TIMG2COL, defaults filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Img2col {
    pub image: ConvType,
    pub kernel: [u64; 2],
    pub stride: [u64; 2],
    pub dilation: [u64; 2],
    /// Padding: left, right, top, bottom.
    pub pad: [u64; 4],
    pub pos_m: u64,
    pub pos_k: u64,
    /// The bits read outside the image.
    pub pad_bits: u64,
    pub rows: u64,
    pub cols: u64,
}

impl Img2col {
    /// Output rows and columns; `None` where the kernel does not fit the padded image (`timg2col-empty`).
    pub fn output(&self) -> Option<[u64; 2]> {
        let [left, right, top, bottom] = self.pad;
        let [_, _, _, h, w, _] = self.image.dims;
        let extent = |size: u64, pad: u64, axis: usize| {
            let span = self.dilation[axis].saturating_mul(self.kernel[axis].saturating_sub(1)) + 1;
            size.saturating_add(pad).checked_sub(span).map(|rest| rest / self.stride[axis].max(1) + 1)
        };
        Some([extent(h, top + bottom, 0)?, extent(w, left + right, 1)?])
    }

    /// The element of the image that an element of the columns is (ops.md 7); none is padding. Columns up to the next place in
    /// the kernel are elements side by side.
    pub fn element(&self, row: u64, col: u64) -> Option<u64> {
        let [images, depth, channels, height, width, lanes] = self.image.dims;
        let [high, wide] = self.output()?;
        let places = self.kernel[0].checked_mul(self.kernel[1])?;
        let (m, k) = (self.pos_m.checked_add(row)?, self.pos_k.checked_add(col)?);
        let (down, x) = (m.checked_div(wide)?, m.checked_rem(wide)?);
        let (deep, y) = (down.checked_div(high)?, down.checked_rem(high)?);
        let (n, z) = (deep.checked_div(depth)?, deep.checked_rem(depth)?);
        let (groups, lane) = (k.checked_div(lanes)?, k.checked_rem(lanes)?);
        let (channel, place) = (groups.checked_div(places)?, groups.checked_rem(places)?);
        let inside = |at: u64, place: u64, axis: usize, before: u64, extent: u64| {
            let place = place.checked_mul(self.dilation[axis])?;
            let at = at.checked_mul(self.stride[axis])?.checked_add(place)?.checked_sub(before)?;
            (at < extent).then_some(at)
        };
        let [left, _, top, _] = self.pad;
        let y = inside(y, place / self.kernel[1], 0, top, height)?;
        let x = inside(x, place % self.kernel[1], 1, left, width)?;
        let inside = n < images && channel < channels;
        inside.then_some(((((n * depth + z) * channels + channel) * height + y) * width + x) * lanes + lane)
    }
}

/// TIMG2COL.
pub fn img2col(inst: &Inst) -> Steps {
    let conv = img2col_config(inst)?;
    let (src, dst) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    Some(vec![Step::Img2col { src, dst, conv }])
}

/// The configuration of a TIMG2COL whose attributes are in range (`timg2col-config`) and whose values are known.
pub fn img2col_config(inst: &Inst) -> Option<Img2col> {
    let dst = inst.tile(Role::Dst)?;
    let image = inst.conv?;
    let pad_bits = match inst.attrs.pad_value() {
        Some(value) => image.elem.encode_exact(&value)?,
        None => 0,
    };
    Some(Img2col {
        image,
        kernel: unsigned(inst.attrs.kernel()?)?,
        stride: unsigned(inst.attrs.stride())?,
        dilation: unsigned(inst.attrs.dilation())?,
        pad: unsigned(inst.attrs.pad())?,
        pos_m: inst.index_u64(Role::PosM)?,
        pos_k: inst.index_u64(Role::PosK)?,
        pad_bits,
        rows: dst.valid[0]?,
        cols: dst.valid[1]?,
    })
}

fn unsigned<const N: usize>(values: [i64; N]) -> Option<[u64; N]> {
    values.iter().all(|v| *v >= 0).then(|| values.map(|v| v as u64))
}
