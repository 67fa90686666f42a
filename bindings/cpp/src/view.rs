//! Views of the caller's memory.

use crate::abi::TesseraView;
use crate::convert::{Answer, Refusal, elem, view_tag};
use tessera_isa::inst::{GlobalArg, ViewTag};
use tessera_isa::tile_rules::Fault;

/// A view, and the bytes of the caller's memory that belong to it.
pub(crate) struct View {
    pub global: GlobalArg,
    start: *mut u8,
    len: usize,
}

impl View {
    /// Reads a descriptor. Where the buffer's extent is not known, the bytes are those between the first and the last
    /// element of the view.
    pub fn new(v: &TesseraView) -> Answer<View> {
        let (elem, tag) = (elem(v.elem)?, view_tag(v.layout)?);
        let dims = v.dims as usize;
        let (Some(shape), Some(stride)) = (v.shape.get(..dims), v.stride.get(..dims)) else {
            return Err(Refusal::argument(format!("a view has {dims} dimensions; it has 1 to 5")));
        };
        let fits = match tag {
            ViewTag::Nd => dims >= 1,
            ViewTag::Dn => dims >= 2,
            ViewTag::Nz => dims == 5,
        };
        if !fits {
            return Err(Refusal::argument(format!("a view with layout {tag} has {dims} dimensions (tile-model.md 7)")));
        }
        if let Some((i, n)) = shape.iter().enumerate().find(|(_, n)| **n < 0) {
            let what = format!("dimension {i} of the view has extent {n}");
            return Err(Fault::new("gm-bounds", what).help("give dynamic extents when the view is made").into());
        }
        let (low, high) = span(shape, stride);
        // fp4 elements share bytes, so a buffer starts at an even one.
        let low = low.saturating_sub(if elem.is_fp4() { low.rem_euclid(2) } else { 0 });
        let (first, count) = if v.extent >= 0 { (0, i128::from(v.extent)) } else { (low, high.saturating_sub(low)) };
        let too_large = || {
            let what = format!("the view spans {count} elements, which no memory has");
            Refusal::from(Fault::new("gm-bounds", what).help("check its extents and strides"))
        };
        let count = u64::try_from(count).map_err(|_| too_large())?;
        let bytes = |elements: i128| elements.saturating_mul(elem.bits().into()) / 8;
        let len = isize::try_from(elem.bytes_of(count)).map_err(|_| too_large())?;
        let back = isize::try_from(bytes(first)).map_err(|_| too_large())?;
        if v.data.is_null() && len > 0 {
            return Err(Refusal::null());
        }
        Ok(View {
            global: GlobalArg {
                elem,
                tag,
                dims: shape.iter().map(|n| u64::try_from(*n).ok()).collect(),
                strides: stride.iter().map(|s| Some(*s)).collect(),
                offset: i64::try_from(first.saturating_neg()).ok(),
                buffer: Some(count),
            },
            start: v.data.cast::<u8>().wrapping_offset(back),
            len: len as usize,
        })
    }

    /// The bytes, to be read.
    ///
    /// # Safety
    /// The caller of the ABI vouches for the memory of the view, as `tessera_load` says.
    pub unsafe fn bytes(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: not null (checked in `new`), in the caller's object and initialised, by the contract above.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// The bytes, to be written.
    ///
    /// # Safety
    /// As for [`View::bytes`], and nobody else uses the memory during the call.
    pub unsafe fn bytes_mut(&mut self) -> &mut [u8] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: as in `bytes`; the view is borrowed for as long as the slice.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

/// The first element that a view touches and one past the last, counted from its first index.
fn span(shape: &[i64], stride: &[i64]) -> (i128, i128) {
    if shape.contains(&0) {
        return (0, 0);
    }
    let reach = |n: &i64, s: &i64| (i128::from(*n) - 1) * i128::from(*s);
    let ends = shape.iter().zip(stride).map(|(n, s)| reach(n, s));
    let (low, high) = ends.fold((0i128, 0i128), |(low, high), r| {
        (low.saturating_add(r.min(0)), high.saturating_add(r.max(0)))
    });
    (low, high.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_reach_both_ways() {
        assert_eq!(span(&[2, 3], &[3, 1]), (0, 6));
        assert_eq!(span(&[2, 3], &[-3, 1]), (-3, 3));
        assert_eq!(span(&[2, 0], &[3, 1]), (0, 0));
        assert_eq!(span(&[i64::MAX, i64::MAX], &[i64::MAX, i64::MIN]).1, i128::from(i64::MAX) * (i128::from(i64::MAX) - 1) + 1);
    }
}
