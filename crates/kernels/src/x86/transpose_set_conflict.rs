//! Transposes of tiles with cache set conflicts: rows that are a power of two apart share few sets of the first level.
//!
//! The remedy is to take a long run of each row before the next one, on both sides. So a panel of the source goes
//! through a dense stage, in two passes that move whole lines: the first turns units inside the lanes of as many rows
//! as a lane has units, the second turns the lanes of four such groups, which makes lines of four destination rows.

use super::vector::zipped;
use crate::copy::Inner;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Bytes of the stage: half of the first level.
const ROOM: usize = 16 << 10;

/// Bytes of a destination row that are written at once.
const RUN: usize = 512;

#[repr(align(64))]
struct Stage([MaybeUninit<u8>; ROOM]);

/// Units of `UNIT` bytes, `N` to a lane.
///
/// Safety: the contract of [`super::super::Raw`], with loops of at least a line of units, on a machine with AVX-512 F and
/// BW.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn transpose_set_conflict<const UNIT: usize, const N: usize>(
    src: *const u8,
    dst: *mut u8,
    inner: &Inner,
) {
    let mut stage = Stage([const { MaybeUninit::uninit() }; ROOM]);
    let stage = stage.0.as_mut_ptr().cast::<u8>();
    let Inner { a, b, .. } = inner;
    let unit = LINE / UNIT;
    let rows = (RUN / UNIT).min(ROOM / LINE).min(b.n / unit * unit);
    let columns = ROOM / (rows * UNIT) / unit * unit;
    parts(b.n, rows, unit, |j, along| {
        parts(a.n, columns, unit, |i, across| {
            let panel = Panel { stage, groups: along / N, lines: across / unit };
            // SAFETY: whole lines of units inside both loops; `rows` times `columns` units fit the stage, and a line is in
            // bounds where all of its units are, which lie side by side on either side.
            unsafe {
                panel.take::<UNIT, N>(src.wrapping_add(i * UNIT).wrapping_offset(j as isize * b.src), b.src);
                panel.give::<N>(dst.wrapping_add(j * UNIT).wrapping_offset(i as isize * a.dst), a.dst);
            }
        });
    });
}

/// Cuts `n` into parts of at most `most`, all multiples of `unit`; the last one reaches back.
#[inline(always)]
fn parts(n: usize, most: usize, unit: usize, mut f: impl FnMut(usize, usize)) {
    let mut at = 0;
    while at < n {
        let start = at.min(n - unit);
        let len = most.min((n - start) / unit * unit);
        f(start, len);
        at = start + len;
    }
}

/// A part of the source on its way: `lines` lines of `groups` groups of rows.
struct Panel {
    stage: *mut u8,
    groups: usize,
    lines: usize,
}

impl Panel {
    /// The address in the stage of column `k` of each lane of a line; the groups follow each other.
    #[inline(always)]
    fn column(&self, line: usize, n: usize, k: usize) -> *mut u8 {
        self.stage.wrapping_add((line * n + k) * self.groups * LINE)
    }

    /// Safety: the panel's rows, `step` apart, are readable from `src` on, it fits the stage, and the machine has AVX-512 F
    /// and BW.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    unsafe fn take<const UNIT: usize, const N: usize>(&self, src: *const u8, step: isize) {
        let far = self.groups * LINE;
        for group in 0..self.groups {
            let src = src.wrapping_offset((group * N) as isize * step);
            for line in 0..self.lines {
                let (src, to) = (src.wrapping_add(line * LINE), self.column(line, N, 0).wrapping_add(group * LINE));
                // SAFETY: a line of `N` rows, and a line of each of `N` columns.
                unsafe {
                    match UNIT {
                        1 => turn_bytes(src, step, to, far),
                        2 => turn_words(src, step, to, far),
                        4 => turn_doubles(src, step, to, far),
                        _ => turn_quads(src, step, to, far),
                    }
                }
            }
        }
    }

    /// Safety: the panel's columns are writable as rows from `dst` on, `pitch` apart, and the machine has AVX-512 F.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn give<const N: usize>(&self, dst: *mut u8, pitch: isize) {
        for line in 0..self.lines {
            for k in 0..N {
                let from = self.column(line, N, k);
                let dst = dst.wrapping_offset((line * 4 * N + k) as isize * pitch);
                for four in 0..self.groups / 4 {
                    // SAFETY: four lines of the stage, and one of each of four destination rows.
                    unsafe {
                        let group = |n: usize| _mm512_load_si512(from.wrapping_add((4 * four + n) * LINE).cast());
                        let rows = turn_lanes([group(0), group(1), group(2), group(3)]);
                        let row =
                            |lane: isize| dst.wrapping_add(four * LINE).wrapping_offset(lane * N as isize * pitch);
                        _mm512_storeu_si512(row(0).cast(), rows[0]);
                        _mm512_storeu_si512(row(1).cast(), rows[1]);
                        _mm512_storeu_si512(row(2).cast(), rows[2]);
                        _mm512_storeu_si512(row(3).cast(), rows[3]);
                    }
                }
            }
        }
    }
}

/// Makes functions that turn the units of every lane of a line of some rows: what comes to row `k` is column `k` of each
/// lane, and goes `k · far` bytes after `to`, to the start of a line.
macro_rules! turns {
    ($($name:ident: [$($k:tt)*] $($zips:ident)*;)*) => {$(
        /// Safety: the lines are readable and writable, and the machine has AVX-512 F and BW.
        #[target_feature(enable = "avx512f,avx512bw")]
        #[inline]
        unsafe fn $name(src: *const u8, step: isize, to: *mut u8, far: usize) {
            // SAFETY: the contract of this function.
            unsafe {
                let mut r = [$(_mm512_loadu_si512(src.wrapping_offset($k * step).cast())),*];
                zipped!(r [$($k)*] $($zips)*);
                $(_mm512_store_si512(to.wrapping_add($k * far).cast(), r[$k]);)*
            }
        }
    )*};
}
turns! {
    turn_bytes: [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]
        _mm512_unpacklo_epi8 _mm512_unpackhi_epi8 _mm512_unpacklo_epi8 _mm512_unpackhi_epi8
        _mm512_unpacklo_epi8 _mm512_unpackhi_epi8 _mm512_unpacklo_epi8 _mm512_unpackhi_epi8;
    turn_words: [0 1 2 3 4 5 6 7]
        _mm512_unpacklo_epi16 _mm512_unpackhi_epi16 _mm512_unpacklo_epi16 _mm512_unpackhi_epi16
        _mm512_unpacklo_epi16 _mm512_unpackhi_epi16;
    turn_doubles: [0 1 2 3] _mm512_unpacklo_epi32 _mm512_unpackhi_epi32 _mm512_unpacklo_epi32 _mm512_unpackhi_epi32;
    turn_quads: [0 1] _mm512_unpacklo_epi64 _mm512_unpackhi_epi64;
}

/// Lane `n` of register `k` becomes lane `k` of register `n`.
#[target_feature(enable = "avx512f")]
#[inline]
fn turn_lanes(r: [__m512i; 4]) -> [__m512i; 4] {
    let (a, b) = (_mm512_shuffle_i32x4::<0x44>(r[0], r[1]), _mm512_shuffle_i32x4::<0xEE>(r[0], r[1]));
    let (c, d) = (_mm512_shuffle_i32x4::<0x44>(r[2], r[3]), _mm512_shuffle_i32x4::<0xEE>(r[2], r[3]));
    [
        _mm512_shuffle_i32x4::<0x88>(a, c),
        _mm512_shuffle_i32x4::<0xDD>(a, c),
        _mm512_shuffle_i32x4::<0x88>(b, d),
        _mm512_shuffle_i32x4::<0xDD>(b, d),
    ]
}
