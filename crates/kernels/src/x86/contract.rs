//! A block of a matrix product in registers, and halves as floats.

#![allow(clippy::needless_range_loop, reason = "a lane is one of several arrays, and closures keep vectors out")]

use super::super::Level;
use super::super::contract::{COLS, ROWS};
use std::arch::x86_64::*;

/// Rows of the left factor, rows of the right one, the sums and from one row of them to the next.
pub type Block<T> = fn(&[&[T]; ROWS], &[[T; COLS]], &mut [T], usize);

/// `$at_once` rows and two vectors of columns are in registers together.
macro_rules! block {
    ($name:ident $type:ty, $features:literal, $at_once:literal, $vector:ty, $load:ident, $store:ident, $all:ident,
     $add:expr) => {
        pub fn $name(rows: &[&[$type]; ROWS], panel: &[[$type; COLS]], sums: &mut [$type], pitch: usize) {
            const LANES: usize = size_of::<$vector>() / size_of::<$type>();

            /// Safety: the machine has the instructions, every row has an element for each row of the panel, and the sums
            /// have all rows.
            #[target_feature(enable = $features)]
            unsafe fn inner(rows: &[&[$type]; ROWS], panel: &[[$type; COLS]], sums: &mut [$type], pitch: usize) {
                let add = $add;
                let (mut at, mut first) = (0, 0);
                while first < ROWS {
                    // SAFETY: two vectors from column `at` on, of rows with COLS columns; element `k` of each row.
                    unsafe {
                        let place = sums.as_mut_ptr().add(first * pitch + at);
                        let mut block = [[$load(place.cast()); 2]; $at_once];
                        for r in 0..$at_once {
                            for n in 0..2 {
                                block[r][n] = $load(place.add(r * pitch + n * LANES).cast());
                            }
                        }
                        for (k, columns) in panel.iter().enumerate() {
                            let y = [
                                $load(columns.as_ptr().add(at).cast()),
                                $load(columns.as_ptr().add(at + LANES).cast()),
                            ];
                            for r in 0..$at_once {
                                let x = $all(*rows[first + r].as_ptr().add(k));
                                block[r] = [add(block[r][0], x, y[0]), add(block[r][1], x, y[1])];
                            }
                        }
                        for r in 0..$at_once {
                            for n in 0..2 {
                                $store(place.add(r * pitch + n * LANES).cast(), block[r][n]);
                            }
                        }
                    }
                    at += 2 * LANES;
                    if at == COLS {
                        (at, first) = (0, first + $at_once);
                    }
                }
            }

            assert!(rows.iter().all(|row| row.len() >= panel.len()), "every row goes as far as the panel");
            assert!(sums.len() >= (ROWS - 1) * pitch + COLS, "every row of the sums is there");
            // SAFETY: the code that chose this kernel has checked the machine's support, and the rows are long enough.
            unsafe { inner(rows, panel, sums, pitch) }
        }
    };
}

block!(f32_avx512 f32, "avx512f", 8, __m512, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps,
    |s, x, y| _mm512_fmadd_ps(x, y, s));
block!(f32_avx2 f32, "avx2,fma", 4, __m256, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps,
    |s, x, y| _mm256_fmadd_ps(x, y, s));
block!(i32_avx512 i32, "avx512f,avx512bw", 8, __m512i, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_set1_epi32,
    |s, x, y| _mm512_add_epi32(s, _mm512_madd_epi16(x, y)));
block!(i32_avx2 i32, "avx2", 4, __m256i, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_set1_epi32,
    |s, x, y| _mm256_add_epi32(s, _mm256_madd_epi16(x, y)));

/// The block kernel of floats at a level, where it has one.
pub fn floats(level: Level) -> Option<Block<f32>> {
    match level {
        Level::Avx512 => Some(f32_avx512),
        Level::Avx2 => Some(f32_avx2),
        Level::Scalar => None,
    }
}

/// The block kernel of pairs of words at a level, where it has one.
pub fn integers(level: Level) -> Option<Block<i32>> {
    match level {
        Level::Avx512 => Some(i32_avx512),
        Level::Avx2 => Some(i32_avx2),
        Level::Scalar => None,
    }
}

/// Halves as floats, where the level has an instruction for it.
pub fn halves(bytes: &[u8], level: Level) -> Option<Vec<f32>> {
    /// Safety: the machine has the instructions.
    #[target_feature(enable = "avx2,f16c")]
    unsafe fn inner(groups: &[[u8; 16]], out: &mut [f32]) {
        for (group, to) in groups.iter().zip(out.as_chunks_mut::<8>().0) {
            // SAFETY: sixteen bytes are read and eight floats written.
            unsafe {
                let half = _mm_loadu_si128(group.as_ptr().cast());
                _mm256_storeu_ps(to.as_mut_ptr(), _mm256_cvtph_ps(half));
            }
        }
    }
    let (groups, []) = bytes.as_chunks::<16>() else { return None };
    if level < Level::Avx2 {
        return None;
    }
    let mut out = vec![0.0; bytes.len() / 2];
    // SAFETY: the level says that the machine has the instructions.
    unsafe { inner(groups, &mut out) };
    Some(out)
}
