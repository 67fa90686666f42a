//! Sorts, merges, gathers and scatters: what their tiles hold, and the loops that they are compared with.

use super::cases::Contents;
use super::yardstick::Make;
use std::hint::black_box;
use tessera::Role;
use tessera_yardstick::{ELEMENTS, gather_loop, merge_records, scatter_loop, sort_blocks};

/// The contents of a case's tiles, its baseline, and the bytes that it reads and writes.
pub(super) type Made = (Contents, &'static str, Make, usize);

pub(super) const SORT: Made = (unsorted, "std's sort of every 32 records", sort, RECORDS * (4 + 4 + 8));
pub(super) const MERGE: Made = (lists, "std's sort of the records, which finds the runs", merge, RECORDS * (8 + 8));
pub(super) const GATHER: Made = (scattered, "a plain loop over indices", gather, ELEMENTS * (4 + 4 + 4));
pub(super) const SCATTER: Made = (scattered, "a plain loop over indices", scatter, ELEMENTS * (4 + 4 + 4));

/// Records that are sorted, and of a list that is merged.
const RECORDS: usize = 4096;
pub(super) const LIST: usize = 1024;

/// The bits of an index.
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

fn sort() -> Box<dyn FnMut()> {
    let values: Vec<u32> = (0..RECORDS as u64).map(|k| unsorted(Role::Src, k) as u32).collect();
    let indices: Vec<u32> = (0..RECORDS as u32).collect();
    let mut out = vec![0; RECORDS];
    Box::new(move || {
        sort_blocks(black_box(&values), &indices, black_box(&mut out));
    })
}

fn merge() -> Box<dyn FnMut()> {
    let words: Vec<u32> = (0..2 * RECORDS as u64).map(|k| lists(Role::Src, k) as u32).collect();
    let mut out = vec![0; RECORDS];
    Box::new(move || {
        merge_records(black_box(&words), black_box(&mut out));
    })
}

/// Numbers, indices and room for as many numbers.
fn indexed() -> (Box<[f32; ELEMENTS]>, Vec<u32>, Box<[f32; ELEMENTS]>) {
    let mut values = Box::new([0.0; ELEMENTS]);
    values.iter_mut().enumerate().for_each(|(k, value)| *value = k as f32);
    let indices = (0..ELEMENTS as u64).map(|k| any(k, INDEX_BITS) as u32).collect();
    (values, indices, Box::new([0.0; ELEMENTS]))
}

fn gather() -> Box<dyn FnMut()> {
    let (values, indices, mut out) = indexed();
    Box::new(move || gather_loop(black_box(&values), black_box(&indices), black_box(&mut *out)))
}

fn scatter() -> Box<dyn FnMut()> {
    let (values, indices, mut out) = indexed();
    Box::new(move || scatter_loop(black_box(&*values), black_box(&indices), black_box(&mut out)))
}
