//! Elements by index: which indices are in range, what they pick, and where they put it (isa/irregular.md 4).

use super::fold::Bits;
use tessera_isa::elem::Elem;

/// Are all indices of this type at least 0, and below `end`?
pub(crate) fn are_below(elem: Elem, indices: &[u8], end: usize) -> bool {
    // Read as unsigned, a negative index is beyond half of its type.
    let end = |half: usize| end.min(if elem.is_signed() { half } else { half.saturating_mul(2) });
    match elem.bits() {
        32 => (largest_of_words(indices) as usize) < end(1 << 31) || indices.is_empty(),
        16 => usize::from(largest_of_halves(indices)) < end(1 << 15) || indices.is_empty(),
        _ => false,
    }
}

leveled! {
    fn largest_of_words[][](indices: &[u8]) -> u32 where [] { u32::all(indices).fold(0, u32::max) }
    "avx512f,avx512bw,avx512dq,avx512vl", "avx2"
}

leveled! {
    fn largest_of_halves[][](indices: &[u8]) -> u16 where [] { u16::all(indices).fold(0, u16::max) }
    "avx512f,avx512bw,avx512dq,avx512vl", "avx2"
}

/// The kernel for the sizes of elements and indices, by `$kernel::<bytes, index>`.
macro_rules! by_size {
    ($size:expr, $elem:expr, $kernel:ident($($arg:expr),*)) => {
        match ($size, $elem.bits()) {
            (8, 32) => $kernel::<8, u32>($($arg),*),
            (8, 16) => $kernel::<8, u16>($($arg),*),
            (4, 32) => $kernel::<4, u32>($($arg),*),
            (4, 16) => $kernel::<4, u16>($($arg),*),
            (2, 32) => $kernel::<2, u32>($($arg),*),
            (2, 16) => $kernel::<2, u16>($($arg),*),
            (1, 32) => $kernel::<1, u32>($($arg),*),
            (1, 16) => $kernel::<1, u16>($($arg),*),
            _ => {}
        }
    };
}

/// Elements of `size` bytes by indices of a type, all of which are in range.
pub(super) fn gather(size: usize, elem: Elem, src: &[u8], indices: &[u8], out: &mut [u8]) {
    by_size!(size, elem, best_picked(src, indices, out));
}

#[inline(always)]
fn picked<const N: usize, I: Bits + Into<u64>>(src: &[u8], indices: &[u8], out: &mut [u8]) {
    let src = src.as_chunks::<N>().0;
    let Some(last) = src.len().checked_sub(1) else { return };
    for (to, k) in out.as_chunks_mut::<N>().0.iter_mut().zip(I::all(indices)) {
        *to = src[(k.into() as usize).min(last)];
    }
}

leveled! {
    fn best_picked[const N: usize, I: Bits + Into<u64>][N, I](src: &[u8], indices: &[u8], out: &mut [u8]) where [] {
        picked::<N, I>(src, indices, out)
    }
    "avx512f,avx512bw,avx512dq,avx512vl", "avx2"
}

/// Puts elements of `size` bytes to their indices of a type, one after the other; tells whether one came to a place where `missing`
/// is not 0. The stores take so long that the question costs nothing.
pub(crate) fn scatter(size: usize, elem: Elem, src: &[u8], indices: &[u8], out: &mut [u8], missing: &[u8]) -> bool {
    let mut all = 0;
    by_size!(size, elem, put(src, indices, out, missing, &mut all));
    all != 0
}

fn put<const N: usize, I: Bits + Into<u64>>(src: &[u8], indices: &[u8], out: &mut [u8], missing: &[u8], all: &mut u8) {
    let out = out.as_chunks_mut::<N>().0;
    let mut any = 0;
    for (from, k) in src.as_chunks::<N>().0.iter().zip(I::all(indices)) {
        let k = k.into() as usize;
        if let Some(to) = out.get_mut(k) {
            *to = *from;
        }
        any |= missing.get(k).copied().unwrap_or(0);
    }
    *all = any;
}

/// The indices of a type, folded from `start` on.
#[inline]
pub(crate) fn fold_indices<T>(elem: Elem, indices: &[u8], start: T, mut f: impl FnMut(T, usize) -> T) -> T {
    match elem.bits() {
        32 => u32::all(indices).fold(start, |so_far, k| f(so_far, k as usize)),
        _ => u16::all(indices).fold(start, |so_far, k| f(so_far, usize::from(k))),
    }
}
