//! A block of a matrix product in registers, and halves as floats.

use super::super::Level;
use super::super::contract::{COLS, ROWS};
use std::arch::x86_64::*;

/// Rows of the left factor, rows of the right one, the sums.
pub(crate) type Block<T> = fn(&[&[T]; ROWS], &[[T; COLS]], &mut [[T; COLS]; ROWS]);

macro_rules! block {
    ($name:ident $type:ty, $features:literal, $vector:ty, $load:ident, $store:ident, $all:ident, $add:expr) => {
        pub(crate) fn $name(rows: &[&[$type]; ROWS], panel: &[[$type; COLS]], sums: &mut [[$type; COLS]; ROWS]) {
            const LANES: usize = size_of::<$vector>() / size_of::<$type>();

            /// Safety: the machine has the instructions, and every row has an element for each row of the panel.
            #[target_feature(enable = $features)]
            unsafe fn inner(rows: &[&[$type]; ROWS], panel: &[[$type; COLS]], sums: &mut [[$type; COLS]; ROWS]) {
                let add = $add;
                for at in (0..COLS).step_by(2 * LANES) {
                    // SAFETY: two vectors from column `at` on, of rows with COLS columns; element `k` of each row.
                    unsafe {
                        let place = |row: &mut [$type; COLS], n: usize| row.as_mut_ptr().add(at + n * LANES).cast();
                        let mut block: [[$vector; 2]; ROWS] =
                            std::array::from_fn(|r| [0, 1].map(|n| $load(place(&mut sums[r], n))));
                        for (k, columns) in panel.iter().enumerate() {
                            let y = [0, 1].map(|n| $load(columns.as_ptr().add(at + n * LANES).cast()));
                            for (sums, row) in block.iter_mut().zip(rows) {
                                let x = $all(*row.as_ptr().add(k));
                                *sums = [add(sums[0], x, y[0]), add(sums[1], x, y[1])];
                            }
                        }
                        for (r, vectors) in block.iter().enumerate() {
                            vectors.iter().enumerate().for_each(|(n, v)| $store(place(&mut sums[r], n), *v));
                        }
                    }
                }
            }

            assert!(rows.iter().all(|row| row.len() >= panel.len()), "every row goes as far as the panel");
            // SAFETY: whoever picked this has asked the machine, and the rows are long enough.
            unsafe { inner(rows, panel, sums) }
        }
    };
}

block!(f32_avx512 f32, "avx512f", __m512, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps,
    |s, x, y| _mm512_fmadd_ps(x, y, s));
block!(f32_avx2 f32, "avx2,fma", __m256, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps,
    |s, x, y| _mm256_fmadd_ps(x, y, s));
block!(i32_avx512 i32, "avx512f", __m512i, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_set1_epi32,
    |s, x, y| _mm512_add_epi32(s, _mm512_mullo_epi32(x, y)));
block!(i32_avx2 i32, "avx2", __m256i, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_set1_epi32,
    |s, x, y| _mm256_add_epi32(s, _mm256_mullo_epi32(x, y)));

/// The block kernel of floats at a level, where it has one.
pub(crate) fn floats(level: Level) -> Option<Block<f32>> {
    match level {
        Level::Avx512 => Some(f32_avx512),
        Level::Avx2 => Some(f32_avx2),
        Level::Scalar => None,
    }
}

/// The block kernel of integers at a level, where it has one.
pub(crate) fn integers(level: Level) -> Option<Block<i32>> {
    match level {
        Level::Avx512 => Some(i32_avx512),
        Level::Avx2 => Some(i32_avx2),
        Level::Scalar => None,
    }
}

/// Halves as floats, where the level has an instruction for it.
pub(crate) fn halves(bytes: &[u8], level: Level) -> Option<Vec<f32>> {
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
