//! Sorting and counting, against plain loops over the same numbers.

use super::{Example, bytes_u16, bytes_u32};
use tessera_isa::elem::Elem;

/// Numbers that look random.
fn noise(n: u32) -> u32 {
    (n.wrapping_add(7)).wrapping_mul(2_654_435_761) >> 8
}

#[test]
fn topk() {
    // Some scores are equal, so that the order of equal ones shows.
    let scores: Vec<f32> = (0..256).map(|n| (noise(n) % 200) as f32 - 100.0).collect();
    let got = Example::new("topk")
        .input("scores", Elem::F32, &[1, 256], bytes_u32(scores.iter().map(|s| s.to_bits())))
        .outputs(&["values", "places", "taken"]);
    let mut left: Vec<usize> = (0..256).collect();
    let mut best = Vec::new();
    for _ in 0..64 {
        // The first of the greatest.
        let greatest = left.iter().map(|n| scores[*n]).fold(f32::MIN, f32::max);
        let at = left.iter().position(|n| scores[*n] == greatest).unwrap();
        best.push(left.remove(at));
    }
    assert_eq!(got[0], bytes_u32(best.iter().map(|n| scores[*n].to_bits())));
    assert_eq!(got[1], bytes_u32(best.iter().map(|n| *n as u32)));
    // All records of both halves are merged, also those that did not fit.
    assert_eq!(got[2], bytes_u16([128, 128, 0, 0].into_iter()));
}

#[test]
fn histogram() {
    let keys: Vec<u16> = (0..8 * 64).map(|n| (noise(n) % 1500) as u16).collect();
    let prefix: Vec<u8> = (0..8).map(|row| row % 5).collect();
    let got = Example::new("histogram")
        .input("keys", Elem::U16, &[8, 64], bytes_u16(keys.iter().copied()))
        .input("prefix", Elem::U8, &[8, 1], prefix.clone())
        .outputs(&["high", "low"]);
    let (mut high, mut low) = (Vec::new(), Vec::new());
    for (row, keys) in keys.chunks(64).enumerate() {
        for bin in 0..=255u8 {
            high.push(keys.iter().filter(|k| k.to_le_bytes()[1] <= bin).count() as u32);
            let chosen = keys.iter().filter(|k| k.to_le_bytes()[1] == prefix[row]);
            low.push(chosen.filter(|k| k.to_le_bytes()[0] <= bin).count() as u32);
        }
    }
    assert_eq!(got, [bytes_u32(high.into_iter()), bytes_u32(low.into_iter())]);
}
