//! Moves into boxes and out of them: a row of a box is 32 bytes, whatever its elements are.
//!
//! Loop `a` is contiguous in the source, loop `b` in the destination, as in a transpose. Between rows and boxes whole box rows
//! change places; between boxes whose elements lie along rows and boxes whose elements lie along columns the elements of one
//! box row do.

use crate::Level;
use crate::copy::{Inner, Loop, Raw};
use smallvec::SmallVec;
use std::arch::x86_64::*;

/// Bytes of a row of a box, and how many elements of 4 bytes that is.
const ROW: usize = 32;
const EIGHT: usize = 8;

/// Bytes of a cache line, and of a page: the machine fetches ahead along a page, and not from row to row of a large array.
const LINE: usize = 64;
const PAGE: usize = 4096;

/// The kernel for box rows, or for the elements of one, with its two loops moved to the end.
pub fn boxes(loops: &mut SmallVec<[Loop; 8]>, run: usize, level: Level) -> Option<Raw> {
    let unit = run as isize;
    let a = loops.iter().position(|l| l.src == unit && l.dst != unit)?;
    let b = loops.iter().position(|l| l.dst == unit && l.src != unit && l.src != 0)?;
    let (across, along) = (loops[a], loops[b]);
    let is_box = across.n == EIGHT && along.n.is_multiple_of(EIGHT);
    let raw: Raw = match run {
        ROW if across.n > 1 && along.n > 1 => rows,
        4 if is_box && level >= Level::Avx512 => elements,
        _ => return None,
    };
    loops.remove(a.max(b));
    loops.remove(a.min(b));
    loops.extend([across, along]);
    Some(raw)
}

/// Two by two box rows at a time, so that every line of either side is used up while it is at hand.
///
/// Safety: the contract of [`Raw`], with runs of 32 bytes, on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn rows(src: *const u8, dst: *mut u8, inner: &Inner) {
    let Inner { a, b, .. } = inner;
    // The number of source rows that go together: enough for whole lines of the destination, and few enough for rows
    // and boxes that share sets of the first-level cache.
    let (is_into_boxes, is_far) = (b.n > a.n, b.src.unsigned_abs() >= PAGE);
    let together = if is_into_boxes && !is_far { 16 } else { 8 };
    let mut first = 0;
    while first < b.n {
        let end = (first + together).min(b.n);
        if is_into_boxes && is_far {
            for j in first..end {
                let row = src.wrapping_offset(j as isize * b.src);
                let mut at = 0;
                while at < a.n * ROW {
                    _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(at).cast());
                    at += LINE;
                }
            }
        }
        let mut i = 0;
        while i < a.n {
            let (s, d) = (src.wrapping_offset(i as isize * a.src), dst.wrapping_offset(i as isize * a.dst));
            // The last ones of odd loops are moved twice.
            let a_next = if i + 1 < a.n { (a.src, a.dst) } else { (0, 0) };
            let mut j = first;
            while j < end {
                let (s, d) = (s.wrapping_offset(j as isize * b.src), d.wrapping_offset(j as isize * b.dst));
                let b_next = if j + 1 < end { (b.src, b.dst) } else { (0, 0) };
                // SAFETY: a run is readable and writable at every point.
                unsafe {
                    let first = _mm256_loadu_si256(s.cast());
                    let second = _mm256_loadu_si256(s.wrapping_offset(b_next.0).cast());
                    let third = _mm256_loadu_si256(s.wrapping_offset(a_next.0).cast());
                    let fourth = _mm256_loadu_si256(s.wrapping_offset(a_next.0 + b_next.0).cast());
                    _mm256_storeu_si256(d.cast(), first);
                    _mm256_storeu_si256(d.wrapping_offset(b_next.1).cast(), second);
                    _mm256_storeu_si256(d.wrapping_offset(a_next.1).cast(), third);
                    _mm256_storeu_si256(d.wrapping_offset(a_next.1 + b_next.1).cast(), fourth);
                }
                j += 2;
            }
            i += 2;
        }
        first = end;
    }
}

/// Squares of eight elements: two box rows share a register, and the elements of each lane are sorted, then the lanes.
///
/// Safety: the contract of [`Raw`], with runs of 4 bytes, eight points of the first loop and a multiple of it of the second, on a
/// machine with AVX-512 F and DQ.
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn elements(src: *const u8, dst: *mut u8, inner: &Inner) {
    // Macros and no closures: one that is not inlined has not the instructions of this function.
    macro_rules! two {
        ($s:ident, $step:expr, $n:literal) => {
            _mm512_insertf32x8::<1>(
                _mm512_castps256_ps512(_mm256_loadu_ps($s.wrapping_offset($n * $step).cast())),
                _mm256_loadu_ps($s.wrapping_offset(($n + 4) * $step).cast()),
            )
        };
    }
    macro_rules! put {
        ($zip:ident, $x:ident, $y:ident, $d:ident, $pitch:expr, $n:literal) => {
            let fours = $zip(_mm512_castps_pd($x), _mm512_castps_pd($y));
            let eights = _mm512_castpd_ps(_mm512_shuffle_f64x2::<0b11_01_10_00>(fours, fours));
            _mm256_storeu_ps($d.wrapping_offset($n * $pitch).cast(), _mm512_castps512_ps256(eights));
            _mm256_storeu_ps($d.wrapping_offset(($n + 4) * $pitch).cast(), _mm512_extractf32x8_ps::<1>(eights));
        };
    }
    let Inner { a, b, .. } = inner;
    let mut j = 0;
    while j < b.n {
        let (s, d) = (src.wrapping_offset(j as isize * b.src), dst.wrapping_add(4 * j));
        // SAFETY: eight elements of eight points of either loop are a square that lies inside both.
        unsafe {
            let (w, x, y, z) = (two!(s, b.src, 0), two!(s, b.src, 1), two!(s, b.src, 2), two!(s, b.src, 3));
            let (low, high) = (_mm512_unpacklo_ps(w, x), _mm512_unpackhi_ps(w, x));
            let (next_low, next_high) = (_mm512_unpacklo_ps(y, z), _mm512_unpackhi_ps(y, z));
            put!(_mm512_unpacklo_pd, low, next_low, d, a.dst, 0);
            put!(_mm512_unpackhi_pd, low, next_low, d, a.dst, 1);
            put!(_mm512_unpacklo_pd, high, next_high, d, a.dst, 2);
            put!(_mm512_unpackhi_pd, high, next_high, d, a.dst, 3);
        }
        j += EIGHT;
    }
}
