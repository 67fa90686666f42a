//! Zip and unzip with 32-byte vectors; rows shorter than one vector go element by element. Unzipping takes 64 bytes where the
//! machine can, with one shuffle of two registers for each result; zipping is no faster so.

use super::super::pair::RawPair;
use crate::Level;
use crate::copy::Loop;
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// The kernel for rows of `n` elements of `unit` bytes.
pub fn pair(zip: bool, unit: i64, n: usize, level: Level) -> Option<RawPair> {
    let lines = !zip && level >= Level::Avx512 && n.saturating_mul(unit as usize) >= LINE;
    Some(match (zip, unit) {
        (true, 1) => self::zip::<u8>,
        (true, 2) => self::zip::<u16>,
        (true, 4) => self::zip::<u32>,
        (true, 8) => self::zip::<u64>,
        (false, 1) if lines => unzip_lines::<u8>,
        (false, 2) if lines => unzip_lines::<u16>,
        (false, 4) if lines => unzip_lines::<u32>,
        (false, 8) if lines => unzip_lines::<u64>,
        (false, 1) => unzip::<u8>,
        (false, 2) => unzip::<u16>,
        (false, 4) => unzip::<u32>,
        (false, 8) => unzip::<u64>,
        _ => return None,
    })
}

/// Bytes of a cache line, which is a vector of AVX-512.
const LINE: usize = 64;

/// Offsets of the vectors of `step` bytes that cover `len` bytes, the last one overlapping.
#[inline(always)]
fn cover(len: usize, step: usize, f: impl Fn(usize)) {
    let last = len - step;
    let mut k = 0;
    while k < last {
        f(k);
        k += step;
    }
    f(last);
}

/// # Safety
///
/// The contract of [`RawPair`], for elements `T`, on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn zip<T>(x: *mut u8, y: *mut u8, both: *mut u8, rows: &Loop, n: usize) {
    let len = n * size_of::<T>();
    for i in 0..rows.n as isize {
        let (x, y) = (x.wrapping_offset(i * rows.src).cast_const(), y.wrapping_offset(i * rows.src).cast_const());
        let both = both.wrapping_offset(i * rows.dst);
        // SAFETY: `k` stays below `n`, or `k + 32` below `len`; the interleaved row has twice as much.
        unsafe {
            if len < 32 {
                for k in 0..n {
                    both.cast::<T>().add(2 * k).write_unaligned(x.cast::<T>().add(k).read_unaligned());
                    both.cast::<T>().add(2 * k + 1).write_unaligned(y.cast::<T>().add(k).read_unaligned());
                }
                continue;
            }
            cover(len, 32, |k| {
                let (a, b) = (_mm256_loadu_si256(x.add(k).cast()), _mm256_loadu_si256(y.add(k).cast()));
                let (low, high) = match size_of::<T>() {
                    1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
                    2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
                    4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
                    _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                };
                _mm256_storeu_si256(both.add(2 * k).cast(), _mm256_permute2x128_si256::<0x20>(low, high));
                _mm256_storeu_si256(both.add(2 * k + 32).cast(), _mm256_permute2x128_si256::<0x31>(low, high));
            });
        }
    }
}

/// # Safety
///
/// The contract of [`RawPair`], for elements `T`, on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn unzip<T>(x: *mut u8, y: *mut u8, both: *mut u8, rows: &Loop, n: usize) {
    let len = n * size_of::<T>();
    // Brings the even elements of a 16-byte lane to its low half.
    let sort = match size_of::<T>() {
        1 => _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15),
        2 => _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15),
        4 => _mm_setr_epi8(0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15),
        _ => _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    };
    let sort = _mm256_broadcastsi128_si256(sort);
    for i in 0..rows.n as isize {
        let (x, y) = (x.wrapping_offset(i * rows.src), y.wrapping_offset(i * rows.src));
        let both = both.wrapping_offset(i * rows.dst).cast_const();
        // SAFETY: `k` stays below `n`, or `k + 32` below `len`; the interleaved row has twice as much.
        unsafe {
            if len < 32 {
                for k in 0..n {
                    x.cast::<T>().add(k).write_unaligned(both.cast::<T>().add(2 * k).read_unaligned());
                    y.cast::<T>().add(k).write_unaligned(both.cast::<T>().add(2 * k + 1).read_unaligned());
                }
                continue;
            }
            cover(len, 32, |k| {
                let a = _mm256_shuffle_epi8(_mm256_loadu_si256(both.add(2 * k).cast()), sort);
                let b = _mm256_shuffle_epi8(_mm256_loadu_si256(both.add(2 * k + 32).cast()), sort);
                let even = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_unpacklo_epi64(a, b));
                let odd = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_unpackhi_epi64(a, b));
                _mm256_storeu_si256(x.add(k).cast(), even);
                _mm256_storeu_si256(y.add(k).cast(), odd);
            });
        }
    }
}

/// The numbers of the even and of the odd elements of two registers of `T`, each as wide as an element.
struct Picks<T>(PhantomData<T>);

impl<T> Picks<T> {
    const EVEN: [u8; LINE] = picks(size_of::<T>(), 0);
    const ODD: [u8; LINE] = picks(size_of::<T>(), 1);
}

/// Every second number from the first on, in units of `unit` bytes.
const fn picks(unit: usize, first: u8) -> [u8; LINE] {
    let mut bytes = [0; LINE];
    let mut k = 0;
    while k < LINE / unit {
        bytes[k * unit] = 2 * k as u8 + first;
        k += 1;
    }
    bytes
}

/// The elements of two registers that have these numbers. With 64 bytes of each, one instruction does what takes three
/// with 32.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn pick<T>(a: __m512i, picks: __m512i, b: __m512i) -> __m512i {
    match size_of::<T>() {
        1 => _mm512_permutex2var_epi8(a, picks, b),
        2 => _mm512_permutex2var_epi16(a, picks, b),
        4 => _mm512_permutex2var_epi32(a, picks, b),
        _ => _mm512_permutex2var_epi64(a, picks, b),
    }
}

/// # Safety
///
/// The contract of [`RawPair`], for at least a line of elements `T`, on a machine with AVX-512 F, BW and VBMI.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn unzip_lines<T>(x: *mut u8, y: *mut u8, both: *mut u8, rows: &Loop, n: usize) {
    let len = n * size_of::<T>();
    // SAFETY: the tables have 64 bytes; `k + 64` stays below `len`, and the interleaved row has twice as much.
    unsafe {
        let even = _mm512_loadu_si512(Picks::<T>::EVEN.as_ptr().cast());
        let odd = _mm512_loadu_si512(Picks::<T>::ODD.as_ptr().cast());
        for i in 0..rows.n as isize {
            let (x, y) = (x.wrapping_offset(i * rows.src), y.wrapping_offset(i * rows.src));
            let both = both.wrapping_offset(i * rows.dst).cast_const();
            cover(len, LINE, |k| {
                let a = _mm512_loadu_si512(both.add(2 * k).cast());
                let b = _mm512_loadu_si512(both.add(2 * k + LINE).cast());
                _mm512_storeu_si512(x.add(k).cast(), pick::<T>(a, even, b));
                _mm512_storeu_si512(y.add(k).cast(), pick::<T>(a, odd, b));
            });
        }
    }
}
