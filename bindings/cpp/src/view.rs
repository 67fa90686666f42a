//! Views of the caller's memory.

use crate::abi::TesseraView;
use crate::convert::{Answer, Refusal, elem, word};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use tessera_isa::diag::Fault;
use tessera_isa::inst::{GlobalArg, ViewTag};
use tessera_kernels::memory::{AlignedBytes, BlockWrites, Memory};

/// Buffers whose extent the program has told: the first address and the bytes.
static BUFFERS: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());
/// How often one was told of, or forgotten.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// Remembers a buffer; one of 0 bytes is forgotten.
pub(crate) fn register(data: usize, size: usize) {
    let mut buffers = BUFFERS.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    if size == 0 {
        buffers.remove(&data);
    } else {
        buffers.insert(data, size);
    }
    CHANGES.fetch_add(1, Ordering::Release);
}

/// A number that grows whenever a buffer is told of, or forgotten.
pub(crate) fn changes() -> u64 {
    CHANGES.load(Ordering::Acquire)
}

/// The bytes of the buffer before and from an address on, where the buffer is known.
pub(crate) fn registered(data: usize) -> Option<(usize, usize)> {
    if changes() == 0 {
        return None;
    }
    let buffers = BUFFERS.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (first, size) = buffers.range(..=data).next_back()?;
    let before = data - first;
    (before < *size).then(|| (before, size - before))
}

/// A view, and the bytes of the caller's memory that belong to it.
pub(crate) struct View {
    pub global: GlobalArg,
    pub start: *mut u8,
    pub len: usize,
    /// Where the caller's pointer points to, counted from `start` on, where the view is the same at every address that has so many
    /// bytes before and behind it.
    pub origin: Option<isize>,
}

/// May a view lie there which has so many bytes before its first element and from there on?
pub(crate) fn is_inside(data: usize, before: isize, rest: isize) -> bool {
    let fits = |have: usize, needed: isize| isize::try_from(have).is_ok_and(|have| have >= needed);
    registered(data).is_none_or(|have| fits(have.0, before) && fits(have.1, rest))
}

impl View {
    /// The address of its first element.
    pub fn data(&self) -> u64 {
        let back = self.global.offset.unwrap_or(0).saturating_mul(self.global.elem.bits().into()) / 8;
        (self.start as u64).wrapping_add_signed(back)
    }

    /// Reads a descriptor. Where the buffer's extent is not known, the bytes are those between the first and the last
    /// element of the view.
    pub fn new(v: &TesseraView) -> Answer<View> {
        let (elem, tag) = (elem(v.elem)?, word(ViewTag::ALL, v.layout, "view layout")?);
        let dims = v.dims as usize;
        let (Some(shape), Some(stride)) = (v.shape.get(..dims), v.stride.get(..dims)) else {
            return Err(Refusal::argument(format!("a view has {dims} dimensions; it has 1 to 5")));
        };
        let fits = match tag {
            // Without dimensions it is a pointer, whose extent says how much there is.
            ViewTag::Nd => dims >= 1 || v.extent >= 0,
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
        let elements = |bytes: usize| bytes as i128 * 8 / i128::from(elem.bits());
        let (first, count) = match registered(v.data as usize) {
            _ if v.extent >= 0 => (0, i128::from(v.extent)),
            // Nothing is counted from the middle of an element.
            Some((before, rest)) if (before * 8).is_multiple_of(elem.bits().max(8) as usize) => {
                (-elements(before), elements(before) + elements(rest))
            }
            _ => (low, high.saturating_sub(low)),
        };
        // A part of a large buffer costs what the part costs. Rows of a dn view may pass their dimension (cpp.md 8).
        let is_part = dims > 0 && first <= low && high <= first.saturating_add(count);
        let keeps = tag != ViewTag::Dn || shape.iter().rev().skip(2).all(|n| *n == 1);
        let (first, count) = if is_part && keeps { (low, high.saturating_sub(low)) } else { (first, count) };
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
            origin: (is_part && keeps).then_some(-back),
        })
    }

    /// The buffer, with what the view touches of the caller's memory and zeros elsewhere: bytes between the elements of
    /// a view are not ours to read.
    pub fn contents(&self) -> Memory {
        let mut bytes = vec![0; self.len];
        self.for_each_run(|at, len| {
            if let Some(to) = bytes.get_mut(at..at + len) {
                // SAFETY: the run lies inside the view (`for_each_run`), whose memory the caller of the ABI vouches
                // for; `to` is as long and our own.
                unsafe { std::ptr::copy_nonoverlapping(self.start.add(at), to.as_mut_ptr(), len) };
            }
        });
        Memory::new(bytes, true)
    }

    /// The buffer where it is; `None` where it is empty.
    pub fn lent(&self) -> Option<AlignedBytes> {
        let first = NonNull::new(self.start).filter(|_| self.len > 0)?;
        // SAFETY: the caller of the ABI vouches for the elements of the view, between the first and the last of which these
        // bytes lie, and the engine reads and writes nothing but elements.
        Some(unsafe { AlignedBytes::lent(first, self.len) })
    }

    /// Leaves in the caller's memory what an instruction left in the buffer. What is combined with what is there happens
    /// one instruction after the other, whatever thread it is in (cpp.md 9).
    pub fn leave(&mut self, taken: &mut BlockWrites) {
        static COMBINING: Mutex<()> = Mutex::new(());
        if let (false, Some(mut there)) = (taken.combined.is_empty(), self.lent()) {
            let _one = COMBINING.lock();
            taken.combined.put(&mut there);
        }
        taken.writes().for_each(|(at, bytes)| self.write(at, bytes));
    }

    /// Writes a run of bytes of the buffer to the caller's memory.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        if at.checked_add(bytes.len()).is_some_and(|end| end <= self.len) {
            // SAFETY: inside the view, whose memory the caller of the ABI vouches for as writable.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(at), bytes.len()) };
        }
    }

    /// Calls `f(first byte, bytes)` for runs of the buffer that cover the view's elements.
    fn for_each_run(&self, mut f: impl FnMut(usize, usize)) {
        let dims: Vec<(u64, i64)> =
            self.global.dims.iter().zip(&self.global.strides).filter_map(|(d, s)| Some(((*d)?, (*s)?))).collect();
        if dims.iter().any(|(n, _)| *n == 0) {
            return;
        }
        if dims.is_empty() {
            return f(0, self.len);
        }
        // The innermost dimensions that lie densely make one run.
        let mut run = 1u64;
        let mut outer = dims.len();
        while let Some((n, stride)) = outer.checked_sub(1).and_then(|i| dims.get(i)) {
            if *n != 1 && u64::try_from(*stride) != Ok(run) {
                break;
            }
            run = run.saturating_mul(*n);
            outer -= 1;
        }
        let bits = i64::from(self.global.elem.bits());
        let mut index = vec![0u64; outer];
        loop {
            let offset = index.iter().zip(&dims).fold(self.global.offset.unwrap_or(0), |sum, (i, (_, stride))| {
                sum.saturating_add((*i as i64).saturating_mul(*stride))
            });
            // fp4 elements share bytes: a run starts and ends at whole ones.
            let first = offset.saturating_mul(bits).div_euclid(8);
            let last = offset.saturating_add(run as i64).saturating_mul(bits).saturating_add(7).div_euclid(8);
            if let (Ok(first), Ok(last)) = (usize::try_from(first), usize::try_from(last))
                && first < last
                && last <= self.len
            {
                f(first, last - first);
            }
            let Some(at) = (0..outer).rev().find(|d| index[*d] + 1 < dims[*d].0) else {
                return;
            };
            index[at] += 1;
            index[at + 1..].fill(0);
        }
    }
}

/// The first element that a view touches and one past the last, counted from its first index.
fn span(shape: &[i64], stride: &[i64]) -> (i128, i128) {
    if shape.contains(&0) {
        return (0, 0);
    }
    let reach = |n: &i64, s: &i64| (i128::from(*n) - 1) * i128::from(*s);
    let ends = shape.iter().zip(stride).map(|(n, s)| reach(n, s));
    let (low, high) =
        ends.fold((0i128, 0i128), |(low, high), r| (low.saturating_add(r.min(0)), high.saturating_add(r.max(0))));
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
        assert_eq!(
            span(&[i64::MAX, i64::MAX], &[i64::MAX, i64::MIN]).1,
            i128::from(i64::MAX) * (i128::from(i64::MAX) - 1) + 1
        );
    }
}
