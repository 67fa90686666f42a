//! Blocked transposes of units of 1, 2, 4 and 8 bytes.
//!
//! Loop `a` is contiguous in the source, loop `b` in the destination: a row of the source is a column of the
//! destination. A block takes sixteen bytes of as many source rows as fill a register of the destination; rows that are
//! as far apart as a lane holds units share a register from the start, so that only the units of one lane have to be
//! sorted. Zipping register `i` with register `i + N/2` does that in log₂ N rounds. Blocks at the end overlap the ones
//! before, so there is no scalar remainder; an extent below one block leaves the transpose to the strided loop.

use super::super::raw_map::unknown;
use super::transpose_set_conflict::transpose_set_conflict;
use super::vector::{Vector, zipped};
use crate::Level;
use crate::copy::{Inner, Loop, Raw};
use smallvec::SmallVec;
use std::arch::x86_64::*;

/// Bytes of a cache line.
const LINE: usize = 64;

/// The kernel for a transpose of units of `run` bytes, with its two loops moved to the end.
pub fn transpose(loops: &mut SmallVec<[Loop; 8]>, run: usize, level: Level) -> Option<Raw> {
    let unit = run as isize;
    let a = loops.iter().position(|l| l.src == unit && l.dst != unit)?;
    // One element that is repeated is no row.
    let b = loops.iter().position(|l| l.dst == unit && l.src != unit && l.src != 0)?;
    let (across, along) = (loops[a], loops[b]);
    let raw = match run {
        1 => kernel::<1, 16>(&across, &along, level),
        2 => kernel::<2, 8>(&across, &along, level),
        4 => kernel::<4, 4>(&across, &along, level),
        8 => kernel::<8, 2>(&across, &along, level),
        _ => None,
    }?;
    let mut k = 0;
    loops.retain(|_| {
        k += 1;
        k - 1 != a && k - 1 != b
    });
    loops.extend([across, along]);
    Some(raw)
}

/// The kernel for the extents and strides of two loops: a block is `N` units across and `N` per lane along.
fn kernel<const UNIT: usize, const N: usize>(across: &Loop, along: &Loop, level: Level) -> Option<Raw> {
    let fits = |lanes: usize| across.n >= N && along.n >= N * lanes;
    // Rows this far apart share so few sets of the first-level cache that a square of them does not stay there.
    let is_crowded = |pitch: isize| pitch % (8 * LINE * UNIT) as isize == 0;
    let lines = across.n.min(along.n) >= LINE / UNIT;
    if level >= Level::Avx512 && lines && (is_crowded(along.src) || is_crowded(across.dst)) {
        Some(transpose_set_conflict::<UNIT, N>)
    } else if level >= Level::Avx512 && UNIT < 8 && fits(4) && along.n.is_multiple_of(4 * N) {
        Some(if UNIT == 1 { bytes } else { fours::<UNIT, N> })
    } else if level >= Level::Avx512 && fits(2) {
        Some(pairs_of_many::<UNIT, N>)
    } else if fits(2) {
        Some(pairs::<UNIT, N>)
    } else if fits(1) {
        Some(singles::<UNIT, N>)
    } else {
        None
    }
}

/// Four lanes at once, where no block has to reach back.
///
/// Safety: the contract of [`Raw`], with both loops at least as long as a block, on a machine with AVX-512 F and BW.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn fours<const UNIT: usize, const N: usize>(src: *const u8, dst: *mut u8, inner: &Inner) {
    // SAFETY: the contract of this function.
    unsafe { squares::<UNIT>(src, dst, inner, |square, room, reach| square.cover::<__m512i, UNIT, N>(room, reach)) }
}

/// The same for bytes.
///
/// Safety: the contract of [`Raw`], with both loops at least as long as a block, on a machine with AVX-512 F, BW and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn bytes(src: *const u8, dst: *mut u8, inner: &Inner) {
    squares::<1>(src, dst, inner, |Square { src, step, dst, pitch, across, .. }, room, reach| {
        // The rows of the next square, to be fetched meanwhile; wherever they are, nothing is read.
        let next = match reach > LINE {
            true => src.wrapping_offset(LINE as isize * step),
            false => src.wrapping_add(across).wrapping_offset((reach as isize - inner.b.n as isize) * step),
        };
        // A block is as long as a square, or longer.
        let back = (reach as isize - LINE as isize).min(0);
        let (src, dst) = (src.wrapping_offset(back * step), dst.wrapping_offset(back));
        // SAFETY: every block ends at or before the end of both loops.
        unsafe { square_of_bytes((src, step), (dst, pitch), next, across, room) };
    });
}

/// The same as [`pairs`] with twice as many registers to choose from: a round over sixteen of them needs more than
/// sixteen.
///
/// Safety: the contract of [`Raw`], with both loops at least as long as a block, on a machine with AVX-512 F, BW and
/// VL.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn pairs_of_many<const UNIT: usize, const N: usize>(src: *const u8, dst: *mut u8, inner: &Inner) {
    // SAFETY: the contract of this function.
    unsafe { squares::<UNIT>(src, dst, inner, |square, room, reach| square.cover::<__m256i, UNIT, N>(room, reach)) }
}

/// Safety: the contract of [`Raw`], with both loops at least as long as a block, on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn pairs<const UNIT: usize, const N: usize>(src: *const u8, dst: *mut u8, inner: &Inner) {
    // SAFETY: the contract of this function.
    unsafe { squares::<UNIT>(src, dst, inner, |square, room, reach| square.cover::<__m256i, UNIT, N>(room, reach)) }
}

/// Safety: the contract of [`Raw`], with both loops at least as long as a block.
unsafe fn singles<const UNIT: usize, const N: usize>(src: *const u8, dst: *mut u8, inner: &Inner) {
    // SAFETY: the contract of this function.
    unsafe { squares::<UNIT>(src, dst, inner, |square, room, reach| square.cover::<__m128i, UNIT, N>(room, reach)) }
}

/// Cuts both loops into squares of one line by one line, so that every line of either side is used up while it is at
/// hand. With each square comes how far the loops go on from its origin.
#[inline(always)]
fn squares<const UNIT: usize>(src: *const u8, dst: *mut u8, inner: &Inner, mut f: impl FnMut(Square, usize, usize)) {
    // Up to the next line; tiles start at half lines, and less than half a line would cut blocks.
    let edge = |at: usize| (LINE - at % LINE / 32 * 32) / UNIT;
    let Inner { a, b, .. } = inner;
    let mut i = 0;
    while i < a.n {
        let across = edge(src.addr() + i * UNIT).min(a.n - i);
        let mut j = 0;
        while j < b.n {
            let along = edge(dst.addr() + j * UNIT).min(b.n - j);
            let s = src.wrapping_add(i * UNIT).wrapping_offset(j as isize * b.src);
            let d = dst.wrapping_add(j * UNIT).wrapping_offset(i as isize * a.dst);
            f(Square { src: s, step: b.src, dst: d, pitch: a.dst, across, along }, a.n - i, b.n - j);
            j += along;
        }
        i += across;
    }
}

/// A part of the loops, at most one line by one line.
struct Square {
    src: *const u8,
    /// From one source row to the next.
    step: isize,
    dst: *mut u8,
    /// From one destination row to the next.
    pitch: isize,
    across: usize,
    along: usize,
}

impl Square {
    /// Covers the square with blocks. The loops go on for `room` and `reach` units from its origin, so that a block
    /// that does not fit before their end can reach back.
    ///
    /// Safety: the contract of [`Raw`] for the loops around the square, which are at least as long as a block, on a
    /// machine that has the vectors.
    #[inline(always)]
    unsafe fn cover<V: Vector, const UNIT: usize, const N: usize>(&self, room: usize, reach: usize) {
        let rows = N * V::LANES;
        let mut i = 0;
        while i < self.across {
            let across = (i as isize).min(room as isize - N as isize);
            let mut j = 0;
            while j < self.along {
                let along = (j as isize).min(reach as isize - rows as isize);
                let s = self.src.wrapping_offset(across * UNIT as isize).wrapping_offset(along * self.step);
                let d = self.dst.wrapping_offset(along * UNIT as isize).wrapping_offset(across * self.pitch);
                // SAFETY: the block ends at or before the end of both loops.
                unsafe { block::<V, UNIT, N>(s, self.step, d, self.pitch) };
                j += rows;
            }
            i += N;
        }
    }
}

/// Safety: sixteen bytes of `N · LANES` source rows are readable, and a vector of `N` destination rows is writable,
/// the rows as far apart as the strides say, on a machine that has the vectors.
#[inline(always)]
unsafe fn block<V: Vector, const UNIT: usize, const N: usize>(src: *const u8, step: isize, dst: *mut u8, pitch: isize) {
    // SAFETY: the contract of this function.
    unsafe {
        // Loops and no closures: one that is not inlined has not the instructions of this function.
        let mut r = [V::gather(src, N as isize * step); N];
        let mut i = 1;
        while i < N {
            r[i] = V::gather(src.wrapping_offset(i as isize * step), N as isize * step);
            i += 1;
        }
        let mut round = 1;
        while round < N {
            let mut zipped = r;
            let mut i = 0;
            while i < N / 2 {
                (zipped[2 * i], zipped[2 * i + 1]) = r[i].zip::<UNIT>(r[i + N / 2]);
                i += 1;
            }
            r = zipped;
            round *= 2;
        }
        for (k, row) in r.into_iter().enumerate() {
            row.store(dst.wrapping_offset(k as isize * pitch));
        }
    }
}

/// A square of bytes, in blocks sixteen across and a line along; the loop goes on for `room` bytes, so that the last block can
/// reach back. Rows are counted on where they are used, one addition each: otherwise the compiler makes as many addresses as there
/// are rows, most of them in memory. The first bytes of the rows from `next` on are fetched: the rows of a square that comes
/// from the second level would be waited for.
///
/// Safety: as many bytes as the blocks have, of as many source rows as a line has bytes, are readable, and a line of as many
/// destination rows is writable, the rows as far apart as the strides say, on a machine with AVX-512 F, BW and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline(never)]
unsafe fn square_of_bytes(
    (src, step): (*const u8, isize),
    (dst, pitch): (*mut u8, isize),
    next: *const u8,
    across: usize,
    room: usize,
) {
    let (step, pitch) = (step as usize, pitch as usize);
    macro_rules! block {
        ($rows:ident $fetched:ident $to:ident [$($k:tt)*]) => {
            // SAFETY: the contract of this function.
            unsafe {
                let mut row = 0usize.wrapping_sub(step);
                let mut r = [$({
                    let _ = $k;
                    (row, $fetched) = (unknown(row.wrapping_add(step)), unknown($fetched.wrapping_add(step)));
                    _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add($fetched).cast());
                    let lane = |n: usize| _mm_loadu_si128($rows[n].wrapping_add(row).cast());
                    let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(lane(0)), lane(1));
                    let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(lane(2)), lane(3));
                    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
                }),*];
                zipped!(
                    r [$($k)*]
                    _mm512_unpacklo_epi8 _mm512_unpackhi_epi8 _mm512_unpacklo_epi8 _mm512_unpackhi_epi8
                    _mm512_unpacklo_epi8 _mm512_unpackhi_epi8 _mm512_unpacklo_epi8 _mm512_unpackhi_epi8
                );
                let mut row = 0usize.wrapping_sub(pitch);
                $(
                    row = unknown(row.wrapping_add(pitch));
                    _mm512_storeu_si512($to.wrapping_add(row).cast(), r[$k]);
                )*
            }
        };
    }
    let (mut i, mut fetched) = (0, 0usize.wrapping_sub(step));
    while i < across {
        let at = (i as isize).min(room as isize - 16) as usize;
        let rows = [0, 16, 32, 48].map(|row: usize| src.wrapping_add(at.wrapping_add(row.wrapping_mul(step))));
        let to = dst.wrapping_add(at.wrapping_mul(pitch));
        block!(rows fetched to [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]);
        i += 16;
    }
}
