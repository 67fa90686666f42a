//! Records of a value and an index, sorted and merged (isa/irregular.md 6).

use super::fold::Bits;
use tessera_isa::elem::Elem;

/// Columns that are sorted together.
const BLOCK: usize = 32;

/// The key after every record's.
const LAST: i32 = i32::MAX;

/// The key of every NaN.
const NAN: i32 = LAST - 1;

/// Values by the order of their records: downward, -0 as +0, every number before every NaN.
trait Value: Bits {
    fn key(self) -> i32;
    fn bits(self) -> u64;
}

macro_rules! values {
    ($($type:ty as $signed:ty, $infinity:literal;)*) => {$(
        impl Value for $type {
            #[inline(always)]
            fn key(self) -> i32 {
                let magnitude = self & <$type>::MAX >> 1;
                let bits = if magnitude == 0 { 0 } else { self as $signed };
                // Rises with the number.
                let rank = bits ^ (bits >> (<$type>::BITS - 1) & <$signed>::MAX);
                if magnitude > $infinity { NAN } else { i32::from(!rank) }
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                self.into()
            }
        }
    )*};
}
values! { u32 as i32, 0x7F80_0000; u16 as i16, 0x7C00; }

/// 1 for every place behind another one.
const BEHIND: [[i32; BLOCK]; BLOCK] = {
    let mut table = [[0; BLOCK]; BLOCK];
    let mut j = 0;
    while j < BLOCK {
        let mut i = j + 1;
        while i < BLOCK {
            table[j][i] = 1;
            i += 1;
        }
        j += 1;
    }
    table
};

/// The number of keys before each one: lower keys, and equal ones at lower positions. Every pair is compared, many at
/// a time, without branches.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "a lane is one of several arrays, and closures keep vectors out")]
fn ranks(keys: &[i32; BLOCK]) -> [i32; BLOCK] {
    let mut ranks = [0; BLOCK];
    for j in 0..BLOCK {
        let key = keys[j];
        for i in 0..BLOCK {
            ranks[i] += i32::from(key < keys[i].wrapping_add(BEHIND[j][i]));
        }
    }
    ranks
}

/// Records of every 32 values of a row with their indices, sorted.
#[inline(always)]
fn sorted<V: Value + Copy + Default>(values: &[u8], indices: &[u8], out: &mut [u8]) {
    let blocks = values.chunks(BLOCK * size_of::<V>()).zip(indices.chunks(BLOCK * 4));
    for ((values, indices), out) in blocks.zip(out.as_chunks_mut::<8>().0.chunks_mut(BLOCK)) {
        let mut block = [V::default(); BLOCK];
        let mut keys = [LAST; BLOCK];
        for ((key, slot), value) in keys.iter_mut().zip(&mut block).zip(V::all(values)) {
            *key = value.key();
            *slot = value;
        }
        for ((rank, value), index) in ranks(&keys).iter().zip(block).zip(u32::all(indices)) {
            if let Some(record) = out.get_mut(*rank as usize) {
                *record = (value.bits() | u64::from(index) << 32).to_le_bytes();
            }
        }
    }
}

multiversion! {
    fn best_sorted[V: Value + Copy + Default][V](values: &[u8], indices: &[u8], out: &mut [u8]) where [] {
        sorted::<V>(values, indices, out)
    }
    "avx512f,avx512bw,avx512dq,avx512vl", "avx2"
}

/// The records of a row of values of a type and their indices, every 32 sorted; a record has 8 bytes.
pub fn sort(elem: Elem, values: &[u8], indices: &[u8], out: &mut [u8]) {
    match elem.bits() {
        32 => best_sorted::<u32>(values, indices, out),
        _ => best_sorted::<u16>(values, indices, out),
    }
}

/// Merges lists of records: always the head that comes first, and of equal ones that of the lower list. Returns the
/// number of each record, counted through all lists.
///
/// The merge of two lists does not depend on the others, so that they are merged two by two, sorted or not.
pub fn merge(elem: Elem, lists: [&[u8]; 4]) -> Vec<u32> {
    let mut first = 0;
    let [a, b, c, d] = lists.map(|list| {
        let start = first;
        first += (list.len() / 8) as u32;
        if elem.bits() == 32 { keyed::<u32>(list, start) } else { keyed::<u16>(list, start) }
    });
    let mut merged = merge_two(&merge_two(&a, &b), &merge_two(&c, &d));
    merged.pop();
    merged.into_iter().map(|keyed| keyed as u32).collect()
}

/// Whether records of a type are sorted, so that a merge of such lists is.
pub fn is_sorted(elem: Elem, list: &[u8]) -> bool {
    let keyed = if elem.bits() == 32 { keyed::<u32>(list, 0) } else { keyed::<u16>(list, 0) };
    keyed.is_sorted()
}

/// Numbers of records, counted from `first`, that rise with keys, and with places where keys are equal; and the end.
fn keyed<V: Value>(list: &[u8], first: u32) -> Vec<u64> {
    let records = list.as_chunks::<8>().0;
    let mut keyed = Vec::with_capacity(records.len() + 1);
    keyed.extend(records.iter().zip(first..).map(|(record, n)| {
        let key = V::all(record).next().map_or(LAST, V::key);
        u64::from(key as u32 ^ 1 << 31) << 32 | u64::from(n)
    }));
    keyed.push(END);
    keyed
}

/// The end of a list.
const END: u64 = u64::MAX;

/// Two lists with their ends; a list that is at its end stays there.
fn merge_two(x: &[u64], y: &[u64]) -> Vec<u64> {
    let (mut i, mut j) = (0, 0);
    let mut out = vec![END; x.len() + y.len() - 1];
    if y.len() == 1 {
        out.copy_from_slice(x);
        return out;
    }
    for to in &mut out {
        let (a, b) = (x[i], y[j]);
        let is_first = a < b;
        *to = if is_first { a } else { b };
        i += usize::from(is_first);
        j += usize::from(!is_first);
    }
    out
}
