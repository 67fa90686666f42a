//! Loops over vector registers of 256 bytes.

/// Bytes of a register.
const BYTES: usize = 256;

multiversion! {
    /// The sum of the 64 f32 of every register as a tree of neighbours.
    pub fn sums[][](registers: &[u8], totals: &mut [f32]) where [] { sums_of(registers, totals) }
    "avx512f,avx512bw,avx512dq,avx512vl", "avx2"
}

multiversion! {
    /// 16-bit numbers into the even halves of 32-bit lanes, or into the odd ones; the other halves become 0. Returns whether
    /// one of the numbers has all bits of `special` set.
    pub fn spread_halves[][](from: &[u8], to: &mut [u8], is_odd: bool, special: u16) -> bool where [] {
        spread(from, to, is_odd, special)
    }
    "avx512f,avx512bw,avx512dq,avx512vl", "avx2"
}

multiversion! {
    /// The even halves of 32-bit lanes, or the odd ones.
    pub fn take_halves[][](from: &[u8], to: &mut [u8], is_odd: bool) where [] { take(from, to, is_odd) }
    "avx512f,avx512bw,avx512dq,avx512vl", "avx2"
}

#[inline(always)]
fn sums_of(registers: &[u8], totals: &mut [f32]) {
    for (total, register) in totals.iter_mut().zip(registers.as_chunks::<BYTES>().0) {
        let lanes = register.as_chunks::<4>().0;
        let pair = |i: usize| f32::from_le_bytes(lanes[2 * i]) + f32::from_le_bytes(lanes[2 * i + 1]);
        let lanes: [f32; 32] = std::array::from_fn(pair);
        let lanes: [f32; 16] = std::array::from_fn(|i| lanes[2 * i] + lanes[2 * i + 1]);
        let lanes: [f32; 8] = std::array::from_fn(|i| lanes[2 * i] + lanes[2 * i + 1]);
        let lanes: [f32; 4] = std::array::from_fn(|i| lanes[2 * i] + lanes[2 * i + 1]);
        *total = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
}

#[inline(always)]
fn spread(from: &[u8], to: &mut [u8], is_odd: bool, special: u16) -> bool {
    let shift = if is_odd { 16 } else { 0 };
    let mut found = 0u16;
    for (to, from) in to.as_chunks_mut::<4>().0.iter_mut().zip(from.as_chunks::<2>().0) {
        let bits = u16::from_le_bytes(*from);
        found |= u16::from(bits & special == special);
        *to = (u32::from(bits) << shift).to_le_bytes();
    }
    found != 0
}

#[inline(always)]
fn take(from: &[u8], to: &mut [u8], is_odd: bool) {
    let shift = if is_odd { 16 } else { 0 };
    for (to, from) in to.as_chunks_mut::<2>().0.iter_mut().zip(from.as_chunks::<4>().0) {
        *to = ((u32::from_le_bytes(*from) >> shift) as u16).to_le_bytes();
    }
}
