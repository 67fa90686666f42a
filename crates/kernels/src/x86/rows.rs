//! Rows: `run` bytes at every point of two loops.
//!
//! Runs up to a few lines are copied with vector registers, the last vector overlapping the one before: a call of
//! memmove for each of them would cost more than the bytes. A row's bytes are all loaded before or without any other
//! row's bytes changing them, so overlapping vectors write the same values twice. If the machine has masks, a vector
//! of a run's last bytes does not overlap: half of such would straddle two lines.

use crate::Level;
use crate::copy::{Inner, Raw};
use std::arch::x86_64::*;

/// From this length on a run leaves the second-level cache, and the C library knows best.
const LARGE: usize = 1 << 20;

/// The kernel for runs of this length, or for a single one.
pub fn rows(is_single: bool, run: usize, level: Level) -> Raw {
    match run {
        1 => units::<u8>,
        2 => units::<u16>,
        3 => halves::<u16>,
        4 => units::<u32>,
        5..=7 => halves::<u32>,
        8 => units::<u64>,
        9..=15 => halves::<u64>,
        16 => vectors::<16>,
        17..=31 => halves::<u128>,
        32 => vectors::<32>,
        64 if level >= Level::Avx512 => lines,
        64 => vectors::<64>,
        33..=63 if level >= Level::Avx512 => masked,
        33..=63 => halves::<[u8; 32]>,
        65..=127 if level >= Level::Avx512 => masked_second,
        128..LARGE if level >= Level::Avx512 && is_single => one_of_lines,
        65..LARGE if level >= Level::Avx512 => long_lines,
        65..LARGE => long,
        0 | LARGE.. => moves,
    }
}

/// Calls `f` at every point of the two loops.
#[inline(always)]
fn points(src: *const u8, dst: *mut u8, inner: &Inner, f: impl Fn(*const u8, *mut u8)) {
    let Inner { a, b, .. } = inner;
    for i in 0..a.n as isize {
        let (mut s, mut d) = (src.wrapping_offset(i * a.src), dst.wrapping_offset(i * a.dst));
        for _ in 0..b.n {
            f(s, d);
            s = s.wrapping_offset(b.src);
            d = d.wrapping_offset(b.dst);
        }
    }
}

/// Safety: the contract of [`Raw`], with runs of the size of `T`.
unsafe fn units<T>(src: *const u8, dst: *mut u8, inner: &Inner) {
    points(src, dst, inner, |s, d| {
        // SAFETY: one run is one `T`, readable and writable at every point; no alignment is assumed.
        unsafe { d.cast::<T>().write_unaligned(s.cast::<T>().read_unaligned()) }
    });
}

/// Two overlapping `T` cover the run.
///
/// Safety: the contract of [`Raw`], with runs of one to two `T`.
unsafe fn halves<T>(src: *const u8, dst: *mut u8, inner: &Inner) {
    let second = inner.run - size_of::<T>();
    points(src, dst, inner, |s, d| {
        // SAFETY: both `T` lie inside the run.
        unsafe {
            let low = s.cast::<T>().read_unaligned();
            let high = s.add(second).cast::<T>().read_unaligned();
            d.cast::<T>().write_unaligned(low);
            d.add(second).cast::<T>().write_unaligned(high);
        }
    });
}

/// Safety: the contract of [`Raw`], with runs of `N` bytes, on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn vectors<const N: usize>(src: *const u8, dst: *mut u8, inner: &Inner) {
    points(src, dst, inner, |s, d| {
        // SAFETY: `N` bytes are one run.
        unsafe { d.cast::<[u8; N]>().write_unaligned(s.cast::<[u8; N]>().read_unaligned()) }
    });
}

/// Safety: the contract of [`Raw`], with runs of 64 bytes, on a machine with AVX-512.
#[target_feature(enable = "avx512f")]
unsafe fn lines(src: *const u8, dst: *mut u8, inner: &Inner) {
    points(src, dst, inner, |s, d| {
        // SAFETY: 64 bytes are one run.
        unsafe { _mm512_storeu_si512(d.cast(), _mm512_loadu_si512(s.cast())) }
    });
}

/// Safety: the contract of [`Raw`], with runs of at most 64 bytes, on a machine with AVX-512 F and BW.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn masked(src: *const u8, dst: *mut u8, inner: &Inner) {
    let mask = !0 >> (64 - inner.run);
    points(src, dst, inner, |s, d| {
        // SAFETY: the mask has the bytes of the run, and no others are touched.
        unsafe { _mm512_mask_storeu_epi8(d.cast(), mask, _mm512_maskz_loadu_epi8(mask, s.cast())) }
    });
}

/// Safety: the contract of [`Raw`], with runs of 65 to 128 bytes, on a machine with AVX-512 F and BW.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn masked_second(src: *const u8, dst: *mut u8, inner: &Inner) {
    let mask = !0 >> (128 - inner.run);
    points(src, dst, inner, |s, d| {
        // SAFETY: a line, and then as the mask says.
        unsafe {
            let first = _mm512_loadu_si512(s.cast());
            let second = _mm512_maskz_loadu_epi8(mask, s.add(64).cast());
            _mm512_storeu_si512(d.cast(), first);
            _mm512_mask_storeu_epi8(d.add(64).cast(), mask, second);
        }
    });
}

/// Safety: the contract of [`Raw`], with runs of at least 32 bytes, on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn long(src: *const u8, dst: *mut u8, inner: &Inner) {
    let last = inner.run - 32;
    points(src, dst, inner, |s, d| {
        // SAFETY: every vector starts at or before `run - 32`.
        unsafe {
            let tail = _mm256_loadu_si256(s.add(last).cast());
            let mut k = 0;
            while k < last {
                _mm256_storeu_si256(d.add(k).cast(), _mm256_loadu_si256(s.add(k).cast()));
                k += 32;
            }
            _mm256_storeu_si256(d.add(last).cast(), tail);
        }
    });
}

/// Safety: the contract of [`Raw`], with runs of at least 64 bytes, on a machine with AVX-512.
#[target_feature(enable = "avx512f")]
unsafe fn long_lines(src: *const u8, dst: *mut u8, inner: &Inner) {
    // SAFETY: a run is readable and writable at every point.
    points(src, dst, inner, |s, d| unsafe { run_of_lines(s, d, inner.run) });
}

/// The same for a single run, which needs no loops: of a small tile they are as much work as the copy.
///
/// Safety: as for [`long_lines`], with loops of one turn.
#[target_feature(enable = "avx512f")]
unsafe fn one_of_lines(src: *const u8, dst: *mut u8, inner: &Inner) {
    // SAFETY: the run is readable and writable.
    unsafe { run_of_lines(src, dst, inner.run) }
}

/// Safety: `run` bytes, at least 64, are readable and writable, and the machine has AVX-512.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn run_of_lines(s: *const u8, d: *mut u8, run: usize) {
    let last = run - 64;
    // SAFETY: every vector starts at or before `run - 64`.
    unsafe {
        let load = |k: usize| _mm512_loadu_si512(s.add(k).cast());
        let store = |k: usize, v| _mm512_storeu_si512(d.add(k).cast(), v);
        let tail = load(last);
        let mut k = 0;
        while k + 256 <= last {
            let v = [load(k), load(k + 64), load(k + 128), load(k + 192)];
            store(k, v[0]);
            store(k + 64, v[1]);
            store(k + 128, v[2]);
            store(k + 192, v[3]);
            k += 256;
        }
        while k < last {
            store(k, load(k));
            k += 64;
        }
        store(last, tail);
    }
}

/// Safety: the contract of [`Raw`].
unsafe fn moves(src: *const u8, dst: *mut u8, inner: &Inner) {
    let run = inner.run;
    // SAFETY: a run is readable and writable at every point; a tile moved onto itself makes both sides one (ops.md 1,
    // rule 4), so this is `copy`, not `copy_nonoverlapping`.
    points(src, dst, inner, |s, d| unsafe { std::ptr::copy(s, d, run) });
}
