//! Elements by index: the range check, gathers and scatters (isa/irregular.md 4).

use super::fold::Bits;
use crate::memory::Elements;
use tessera_isa::elem::Elem;

/// Whether all indices of this type are at least 0, and below `end`.
pub fn are_below(elem: Elem, indices: &[u8], end: usize) -> bool {
    // Read as unsigned, a negative index is beyond half of its type.
    let end = |half: usize| end.min(if elem.is_signed() { half } else { half.saturating_mul(2) });
    match elem.bits() {
        32 => (largest_of_words(indices) as usize) < end(1 << 31) || indices.is_empty(),
        16 => usize::from(largest_of_halves(indices)) < end(1 << 15) || indices.is_empty(),
        _ => false,
    }
}

multiversion! {
    fn largest_of_words[][](indices: &[u8]) -> u32 where [] { u32::all(indices).fold(0, u32::max) }
    "avx512f,avx512bw,avx512dq,avx512vl", "avx2"
}

multiversion! {
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

multiversion! {
    fn best_picked[const N: usize, I: Bits + Into<u64>][N, I](src: &[u8], indices: &[u8], out: &mut [u8]) where [] {
        picked::<N, I>(src, indices, out)
    }
    "avx512f,avx512bw,avx512dq,avx512vl", "avx2"
}

/// Puts elements of `size` bytes to their indices of a type, one after the other. Returns whether all of them were
/// `there`; the check is free, since the stores take longer.
pub fn scatter(
    size: usize,
    elem: Elem,
    src: &[u8],
    indices: &[u8],
    out: &mut [u8],
    there: Option<Elements<'_>>,
) -> bool {
    let mut all = 0;
    by_size!(size, elem, put(src, indices, out, there, &mut all));
    all & (!0 >> (64 - size)) == !0 >> (64 - size)
}

fn put<const N: usize, I: Bits + Into<u64>>(
    src: &[u8],
    indices: &[u8],
    out: &mut [u8],
    there: Option<Elements<'_>>,
    all: &mut u64,
) {
    let out = out.as_chunks_mut::<N>().0;
    let moves = src.as_chunks::<N>().0.iter().zip(I::all(indices));
    let mut put = |from: &[u8; N], k: usize| out.get_mut(k).into_iter().for_each(|to| *to = *from);
    let Some(there) = there else { return moves.for_each(|(from, k)| put(from, k.into() as usize)) };
    *all = moves.fold(!0, |all, (from, k)| {
        let k = k.into() as usize;
        put(from, k);
        all & there.bits(N, k)
    });
}

/// The indices of a type, folded from `start` on.
#[inline]
pub fn fold_indices<T>(elem: Elem, indices: &[u8], start: T, mut f: impl FnMut(T, usize) -> T) -> T {
    match elem.bits() {
        32 => u32::all(indices).fold(start, |so_far, k| f(so_far, k as usize)),
        _ => u16::all(indices).fold(start, |so_far, k| f(so_far, usize::from(k))),
    }
}
