//! One operand of a nest: the bytes it touches, and single elements of it.

use super::Rows;
use smallvec::SmallVec;

/// The contiguous byte runs of one operand: loops around a run.
///
/// If elements have 4 bits and a run starts or ends inside a byte, it counts the whole byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Runs {
    /// Offset of the first run.
    pub(super) base: i64,
    /// Bytes of a run, or nibbles.
    len: u64,
    pub(super) nibbles: bool,
    dims: SmallVec<[(u64, [i64; 1]); 4]>,
}

impl Runs {
    pub(super) fn new(base: i64, bits: u32, dims: impl Iterator<Item = (u64, i64)>) -> Self {
        // An element read many times (stride 0) is still one run.
        let mut dims: SmallVec<[(u64, [i64; 1]); 4]> =
            dims.filter(|&(n, stride)| n == 0 || (n > 1 && stride != 0)).map(|(n, stride)| (n, [stride])).collect();
        dims.sort_by_key(|d| std::cmp::Reverse(d.1[0].unsigned_abs()));
        let mut len = if bits == 4 { 1 } else { u64::from(bits / 8) };
        while let Some(&(n, [stride])) = dims.last() {
            if stride != len as i64 {
                break;
            }
            len = len.saturating_mul(n);
            dims.pop();
        }
        Runs { base, len, nibbles: bits == 4, dims }
    }

    /// The first and one past the last byte of all runs, relative to where the operand starts.
    pub fn span(&self) -> (i128, i128) {
        span(self.base, if self.nibbles { 4 } else { 8 }, self.dims())
    }

    /// The loops, with the run as the innermost one.
    pub(super) fn dims(&self) -> impl Iterator<Item = (u64, i64)> {
        self.dims.iter().map(|&(n, [stride])| (n, stride)).chain([(self.len, 1)])
    }

    /// The runs over bytes, if the nibbles fill whole bytes.
    pub(super) fn in_bytes(&self) -> Option<Runs> {
        let even = |x: i64| x % 2 == 0;
        let whole = self.len.is_multiple_of(2) && even(self.base) && self.dims.iter().all(|d| even(d.1[0]));
        let dims = self.dims.iter().map(|&(n, [stride])| (n, [stride / 2]));
        let halved = || Runs { base: self.base / 2, len: self.len / 2, nibbles: false, dims: dims.collect() };
        (self.nibbles && whole).then(halved)
    }

    /// Calls `f(first byte, length)` for every run.
    #[inline]
    pub fn for_each(&self, mut f: impl FnMut(i64, u64)) {
        if self.nibbles {
            self.for_each_nibbles(|at, len| {
                let first = at.div_euclid(2);
                f(first, ((at + len as i64 + 1).div_euclid(2) - first) as u64);
            });
        } else {
            walk(&self.dims, [self.base], &mut |[at]| f(at, self.len));
        }
    }

    /// Calls `f` for every innermost loop of runs over whole bytes.
    pub(super) fn for_each_rows(&self, mut f: impl FnMut(Rows)) {
        let one = (1, [0]);
        let (&(n, [stride]), outer) = self.dims.split_last().unwrap_or((&one, &[]));
        walk(outer, [self.base], &mut |[at]| f(Rows { at, n, stride, len: self.len }));
    }

    /// Calls `f(first nibble, length in nibbles)` for every run.
    pub(super) fn for_each_nibbles(&self, mut f: impl FnMut(i64, u64)) {
        walk(&self.dims, [self.base], &mut |[at]| f(at, self.len));
    }
}

/// The span of bytes that loops touch, empty where a loop is.
pub(super) fn span(base: i64, bits: u32, dims: impl Iterator<Item = (u64, i64)>) -> (i128, i128) {
    let (mut low, mut high) = (i128::from(base), i128::from(base));
    for (n, stride) in dims {
        let Some(steps) = n.checked_sub(1) else { return (0, 0) };
        let far = i128::from(steps).saturating_mul(i128::from(stride));
        low = low.saturating_add(far.min(0));
        high = high.saturating_add(far.max(0));
    }
    if bits == 4 { (low.div_euclid(2), high.div_euclid(2) + 1) } else { (low, high + i128::from(bits / 8)) }
}

/// Visits every point of the loops, outermost first, `N` offsets at a time.
pub fn walk<const N: usize>(dims: &[(u64, [i64; N])], at: [i64; N], f: &mut impl FnMut([i64; N])) {
    let Some((&(n, stride), rest)) = dims.split_first() else {
        return f(at);
    };
    let mut at = at;
    for _ in 0..n {
        walk(rest, at, f);
        for (a, s) in at.iter_mut().zip(stride) {
            *a = a.wrapping_add(s);
        }
    }
}

/// Whole bytes of an offset: nibbles come two to a byte.
pub fn whole_bytes(offset: i64, bits: u32) -> i64 {
    if bits == 4 { offset.div_euclid(2) } else { offset }
}

pub fn size_of_element(bits: u32) -> i64 {
    i64::from(bits / 8).max(1)
}

/// The element of `bits` bits at an offset (nibbles for 4 bits, else bytes); 0 outside.
pub fn read(bytes: &[u8], at: i64, bits: u32) -> u64 {
    if bits == 4 {
        let byte = usize::try_from(at.div_euclid(2)).ok().and_then(|i| bytes.get(i)).copied().unwrap_or(0);
        return u64::from(if at % 2 == 0 { byte & 15 } else { byte >> 4 });
    }
    let mut value = [0u8; 8];
    let len = (bits / 8) as usize;
    let found = usize::try_from(at).ok().and_then(|i| bytes.get(i..i.checked_add(len)?));
    if let (Some(from), Some(to)) = (found, value.get_mut(..len)) {
        to.copy_from_slice(from);
    }
    u64::from_le_bytes(value)
}

/// Writes the low bits of `value` as the element at an offset; outside nothing happens.
pub fn write(bytes: &mut [u8], at: i64, bits: u32, value: u64) {
    if bits == 4 {
        if let Some(byte) = usize::try_from(at.div_euclid(2)).ok().and_then(|i| bytes.get_mut(i)) {
            let nibble = (value & 15) as u8;
            *byte = if at % 2 == 0 { *byte & 0xf0 | nibble } else { *byte & 0x0f | nibble << 4 };
        }
        return;
    }
    let len = (bits / 8) as usize;
    let place = usize::try_from(at).ok().and_then(|i| bytes.get_mut(i..i.checked_add(len)?));
    if let (Some(to), Some(from)) = (place, value.to_le_bytes().get(..len)) {
        to.copy_from_slice(from);
    }
}
