//! Programs of the matrix unit, against plain loops: to the bit where every step is rounded once (isa/matrix.md 1).

use super::compute::{bytes_f32, f32s, noise};
use super::{Example, bytes_u16, bytes_u32};
use tessera_isa::codec::Overflow;
use tessera_isa::elem::Elem;

fn halves(values: &[f32]) -> Vec<u8> {
    bytes_u16(values.iter().map(|v| Elem::F16.encode_f32(*v, Overflow::Infinity) as u16))
}

/// Multiples of 1/64, which f16 holds.
fn half_noise(seed: u32, n: usize) -> Vec<f32> {
    noise(seed, n).into_iter().map(|v| (v * 64.0).round() / 64.0).collect()
}

#[test]
fn gemm() {
    let (a, b) = (half_noise(21, 128 * 256), half_noise(22, 256 * 128));
    let got = Example::new("gemm")
        .input("a", Elem::F16, &[128, 256], halves(&a))
        .input("b", Elem::F16, &[256, 128], halves(&b))
        .input("c", Elem::F32, &[128, 128], vec![0; 128 * 128 * 4])
        .outputs(&["out"]);
    let want = (0..128 * 128).map(|n| {
        let (i, j) = (n / 128, n % 128);
        (0..256).fold(0.0f32, |s, k| a[i * 256 + k].mul_add(b[k * 128 + j], s))
    });
    assert_eq!(got, [bytes_f32(want)]);
}

#[test]
fn int8_layer() {
    let small = |seed: u32, n: usize| noise(seed, n).into_iter().map(|v| (v * 6.0) as i8).collect::<Vec<i8>>();
    let (a, b) = (small(23, 32 * 64), small(24, 64 * 32));
    let bias: Vec<i32> = noise(25, 32).into_iter().map(|v| (v * 4000.0) as i32).collect();
    let bytes = |values: &[i8]| values.iter().map(|v| *v as u8).collect::<Vec<u8>>();
    let got = Example::new("int8_layer")
        .input("a", Elem::I8, &[32, 64], bytes(&a))
        .input("b", Elem::I8, &[64, 32], bytes(&b))
        .input("bias", Elem::I32, &[1, 32], bytes_u32(bias.iter().map(|v| *v as u32)))
        .input("c", Elem::I8, &[32, 32], vec![0; 32 * 32])
        .outputs(&["out"]);
    let want = (0..32 * 32).map(|n| {
        let (i, j) = (n / 32, n % 32);
        let sum = (0..64).fold(bias[j], |s, k| s + i32::from(a[i * 64 + k]) * i32::from(b[k * 32 + j]));
        // Sixty-fourths of a number below 2^24 are exact.
        (sum.max(0) as f32 / 64.0).round_ties_even().min(127.0) as u8
    });
    let want: Vec<u8> = want.collect();
    assert!(want.contains(&0) && want.contains(&127) && want.iter().any(|v| (1..127).contains(v)));
    assert_eq!(got, [want]);
}

#[test]
fn gemm_mx() {
    let codes = |seed: u32, n: usize| noise(seed, n).into_iter().map(|v| (v * 2.0 + 8.0) as u8).collect::<Vec<u8>>();
    let value = |code: u8| {
        let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][usize::from(code & 7)];
        if code < 8 { magnitude } else { -magnitude }
    };
    let (a, b) = (codes(26, 32 * 128), codes(27, 128 * 64));
    let scales = |seed: u32, n: usize| noise(seed, n).into_iter().map(|v| (127.0 + v * 3.0) as u8).collect::<Vec<u8>>();
    let (a_scale, b_scale) = (scales(28, 32 * 4), scales(29, 4 * 64));
    let packed = |codes: &[u8]| codes.chunks_exact(2).map(|pair| pair[0] | pair[1] << 4).collect::<Vec<u8>>();
    let got = Example::new("gemm_mx")
        .input("a", Elem::F4e2m1x2, &[32, 128], packed(&a))
        .input("b", Elem::F4e2m1x2, &[128, 64], packed(&b))
        .input("a_scale", Elem::F8e8m0, &[32, 4], a_scale.clone())
        .input("b_scale", Elem::F8e8m0, &[4, 64], b_scale.clone())
        .outputs(&["c"]);
    let power = |scale: u8| 2f32.powi(i32::from(scale) - 127);
    let want = (0..32 * 64).map(|n| {
        let (i, j) = (n / 64, n % 64);
        (0..128).fold(0.0f32, |s, k| {
            let x = value(a[i * 128 + k]) * power(a_scale[i * 4 + k / 32]);
            let y = value(b[k * 64 + j]) * power(b_scale[k / 32 * 64 + j]);
            s + x * y
        })
    });
    assert_eq!(got, [bytes_f32(want)]);
}

#[test]
fn flash_attention() {
    let (q, k, v) = (half_noise(30, 16 * 64), half_noise(31, 64 * 64), half_noise(32, 64 * 64));
    let got = Example::new("flash_attention")
        .input("q", Elem::F16, &[16, 64], halves(&q))
        .input("k", Elem::F16, &[64, 64], halves(&k))
        .input("v", Elem::F16, &[64, 64], halves(&v))
        .input("zeros", Elem::F32, &[16, 64], vec![0; 16 * 64 * 4])
        .outputs(&["out"]);
    let product = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    for (n, got) in f32s(&got[0]).into_iter().enumerate() {
        let (query, d) = (&q[n / 64 * 64..][..64], n % 64);
        let scores: Vec<f64> = k.chunks_exact(64).map(|key| product(query, key) / 8.0).collect();
        let peak = scores.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - peak).exp()).collect();
        let total: f64 = weights.iter().sum();
        let want = weights.iter().enumerate().map(|(key, w)| w * f64::from(v[key * 64 + d])).sum::<f64>() / total;
        // Weights are rounded to f16, values are at most 4, and the weights of a row sum up to 1.
        let bound = 4.0 * (2f64.powi(-11) + 2f64.powi(-24) * 64.0) * 2.0;
        assert!((f64::from(got) - want).abs() <= bound, "element {n}: {got}, and {want} is right");
    }
}
