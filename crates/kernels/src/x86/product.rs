//! A block of a product of f32 in registers, with its left factor and its sums where they lie.

#![allow(clippy::needless_range_loop, reason = "a lane is one of several arrays, and closures keep vectors out")]

use super::super::Level;
use super::super::contract::{COLS, ROWS};
use super::super::product::{RUN, RawBlock, Rows};
use std::arch::x86_64::*;

/// `$at_once` rows and two vectors of columns are in registers together.
macro_rules! block {
    ($name:ident $features:literal, $at_once:literal, $vector:ty, $load:ident, $store:ident, $all:ident, $add:ident,
     |$v:ident| $canonical:expr) => {
        /// Safety: the contract of [`RawBlock`].
        #[target_feature(enable = $features)]
        unsafe fn $name(
            (left, rows): (*const f32, Rows),
            depth: usize,
            panel: *const f32,
            from: Option<[*const f32; 2]>,
            to: [*mut f32; 2],
            pitch: usize,
        ) {
            const LANES: usize = size_of::<$vector>() / size_of::<f32>();
            let (mut at, mut first) = (0, 0);
            while first < ROWS {
                // The half and the position in it of each of the two vectors; a vector of RUN lanes is one half.
                let place = [(at / RUN, at % RUN), ((at + LANES) / RUN, (at + LANES) % RUN)];
                // SAFETY: two vectors of columns from `at` on, of rows from `first` on, and element `k` of each row.
                unsafe {
                    let mut block = [[$all(0.0); 2]; $at_once];
                    if let Some(from) = from {
                        for r in 0..$at_once {
                            for n in 0..2 {
                                block[r][n] = $load(from[place[n].0].add((first + r) * pitch + place[n].1));
                            }
                        }
                    }
                    let mut columns = panel.add(at);
                    let mut run = left.add(first * rows.row);
                    let mut k = 0;
                    while k < depth {
                        let len = rows.len.min(depth - k);
                        for x in 0..len {
                            let y = [$load(columns), $load(columns.add(LANES))];
                            for r in 0..$at_once {
                                let x = $all(run.add(r * rows.row + x).read_unaligned());
                                block[r] = [$add(x, y[0], block[r][0]), $add(x, y[1], block[r][1])];
                            }
                            columns = columns.add(COLS);
                        }
                        run = run.wrapping_add(rows.step);
                        k += len;
                    }
                    for r in 0..$at_once {
                        for n in 0..2 {
                            let $v = block[r][n];
                            $store(to[place[n].0].add((first + r) * pitch + place[n].1), $canonical);
                        }
                    }
                }
                at += 2 * LANES;
                if at == COLS {
                    (at, first) = (0, first + $at_once);
                }
            }
        }
    };
}

block!(avx512 "avx512f", 8, __m512, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_fmadd_ps,
    |v| super::halves::without_payload(v));
block!(avx2 "avx2,fma", 4, __m256, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps,
    |v| _mm256_blendv_ps(v, _mm256_set1_ps(f32::from_bits(0x7FC0_0000)), _mm256_cmp_ps::<_CMP_UNORD_Q>(v, v)));

/// The kernel of a level, where it has one.
pub fn product(level: Level) -> Option<RawBlock> {
    match level {
        Level::Avx512 => Some(avx512),
        Level::Avx2 => Some(avx2),
        Level::Scalar => None,
    }
}
