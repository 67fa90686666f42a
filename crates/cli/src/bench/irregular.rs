//! Sorts, merges, gathers and scatters: what their tiles hold, and the loops that they are compared with.

use super::cases::Contents;
use super::yardstick::{Make, vectorised};
use std::hint::black_box;
use tessera::Role;

/// The contents of a case's tiles, its baseline, and the bytes that it reads and writes.
pub(super) type Made = (Contents, &'static str, Make, usize);

pub(super) const SORT: Made = (unsorted, "std's sort of every 32 records", sort, RECORDS * (4 + 4 + 8));
pub(super) const MERGE: Made = (lists, "std's sort of the records, which finds the runs", merge, RECORDS * (8 + 8));
pub(super) const GATHER: Made = (scattered, "a plain loop over indices", gather, ELEMENTS * (4 + 4 + 4));
pub(super) const SCATTER: Made = (scattered, "a plain loop over indices", scatter, ELEMENTS * (4 + 4 + 4));

/// Records that are sorted, and of a list that is merged.
const RECORDS: usize = 4096;
pub(super) const LIST: usize = 1024;

/// Elements that are moved by index, and the bits of an index.
const ELEMENTS: usize = 128 * 128;
const INDEX_BITS: u32 = ELEMENTS.trailing_zeros();

/// Any number below 2^`bits`, another one for each k.
fn any(k: u64, bits: u32) -> u64 {
    k.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)
}

/// Values in no order, and indices that rise.
fn unsorted(role: Role, k: u64) -> u64 {
    match role {
        Role::Src => (any(k, 20) as f32 - 1000.0).to_bits().into(),
        _ => k,
    }
}

/// Records, downward in every list.
fn lists(_: Role, k: u64) -> u64 {
    let record = k / 2;
    let value = (LIST as u64 - record % LIST as u64) * 1024 + any(record, 10);
    if k.is_multiple_of(2) { (value as f32).to_bits().into() } else { record }
}

/// Numbers, and indices all over a tile.
fn scattered(role: Role, k: u64) -> u64 {
    match role {
        Role::Idx => any(k, INDEX_BITS),
        _ => (k as f32).to_bits().into(),
    }
}

/// A record as one number that rises where values fall; the values here are numbers, and not zero twice.
fn ordered(value: u32, index: u32) -> u64 {
    let bits = value as i32;
    let rank = bits ^ (bits >> 31 & i32::MAX);
    u64::from(!rank as u32 ^ 1 << 31) << 32 | u64::from(index)
}

fn sort() -> Box<dyn FnMut()> {
    let values: Vec<u32> = (0..RECORDS as u64).map(|k| unsorted(Role::Src, k) as u32).collect();
    let indices: Vec<u32> = (0..RECORDS as u32).collect();
    let mut out = vec![0; RECORDS];
    Box::new(move || {
        let blocks = black_box(&values).chunks(32).zip(indices.chunks(32));
        for (to, (values, indices)) in out.chunks_mut(32).zip(blocks) {
            for (to, (value, index)) in to.iter_mut().zip(values.iter().zip(indices)) {
                *to = ordered(*value, *index);
            }
            // As numbers: by a key of pairs it takes half as long again.
            to.sort_unstable();
        }
        black_box(&mut out);
    })
}

fn merge() -> Box<dyn FnMut()> {
    let words: Vec<u32> = (0..2 * RECORDS as u64).map(|k| lists(Role::Src, k) as u32).collect();
    let mut out = vec![0; RECORDS];
    Box::new(move || {
        for (to, record) in out.iter_mut().zip(black_box(&words).as_chunks::<2>().0) {
            *to = ordered(record[0], record[1]);
        }
        // The stable one looks for runs; the other one takes a sixth longer.
        out.sort();
        black_box(&mut out);
    })
}

/// Numbers, indices and room for as many numbers.
fn indexed(run: fn(&[f32], &[u32], &mut [f32])) -> Box<dyn FnMut()> {
    let values: Vec<f32> = (0..ELEMENTS).map(|k| k as f32).collect();
    let indices: Vec<u32> = (0..ELEMENTS as u64).map(|k| any(k, INDEX_BITS) as u32).collect();
    let mut out = vec![0.0; ELEMENTS];
    Box::new(move || run(black_box(&values), black_box(&indices), black_box(&mut out)))
}

fn gather() -> Box<dyn FnMut()> {
    indexed(gather_loop)
}

fn scatter() -> Box<dyn FnMut()> {
    indexed(scatter_loop)
}

vectorised! {
    gather_loop(values: &[f32], indices: &[u32], out: &mut [f32]) {
        for (to, k) in out.iter_mut().zip(indices) {
            // SAFETY: there are as many values as numbers of so many bits.
            *to = unsafe { *values.get_unchecked(*k as usize) };
        }
    }

    scatter_loop(values: &[f32], indices: &[u32], out: &mut [f32]) {
        for (value, k) in values.iter().zip(indices) {
            // SAFETY: there is as much room as numbers of so many bits.
            unsafe { *out.get_unchecked_mut(*k as usize) = *value };
        }
    }
}
