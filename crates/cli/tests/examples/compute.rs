//! Programs that compute, against plain loops: to the bit where every operation is exact or rounded once, within the bound
//! of the specification where an exponential is taken (isa/elementwise.md 3).

use super::{Example, bytes_u16, bytes_u32};
use tessera_isa::codec::Overflow;
use tessera_isa::elem::Elem;

pub(super) fn bytes_f32(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    bytes_u32(values.into_iter().map(f32::to_bits))
}

pub(super) fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// Numbers between -4 and 4 that look like nothing in particular.
pub(super) fn noise(seed: u32, n: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 21) as f32 - 4.0
    };
    (0..n).map(|_| next()).collect()
}

#[track_caller]
fn close(got: &[f32], want: impl Iterator<Item = f64>, bound: f64) {
    let mut n = 0;
    for (k, (got, want)) in got.iter().zip(want).enumerate() {
        assert!((f64::from(*got) - want).abs() <= bound * want.abs(), "element {k}: {got}, and {want} is right");
        n += 1;
    }
    assert_eq!(n, got.len());
}

#[test]
fn softmax() {
    let (rows, cols) = (13, 50);
    let x = noise(1, rows * cols);
    let got = Example::new("softmax")
        .input("x", Elem::F32, &[rows as u64, cols as u64], bytes_f32(x.iter().copied()))
        .outputs(&["y"]);
    let want = (0..rows * cols).map(|n| {
        let row = &x[n / cols * cols..n / cols * cols + cols];
        let peak = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let total: f64 = row.iter().map(|v| f64::from(v - peak).exp()).sum();
        f64::from(x[n] - peak).exp() / total
    });
    // Fifty roundings of the sum, one of the quotient, and an ulp of the exponential on both sides.
    close(&f32s(&got[0]), want, 54.0 * f64::from(f32::EPSILON));
}

#[test]
fn layer_norm() {
    let (x, gamma, beta) = (noise(2, 16 * 64), noise(3, 64), noise(4, 64));
    let got = Example::new("layer_norm")
        .input("x", Elem::F32, &[16, 64], bytes_f32(x.iter().copied()))
        .input("gamma", Elem::F32, &[1, 64], bytes_f32(gamma.iter().copied()))
        .input("beta", Elem::F32, &[1, 64], bytes_f32(beta.iter().copied()))
        .outputs(&["y"]);
    let want = x.chunks_exact(64).flat_map(|row| {
        let mean = row.iter().fold(0.0f32, |s, v| s + v) / 64.0;
        let centred: Vec<f32> = row.iter().map(|v| v - mean).collect();
        let variance = centred.iter().fold(0.0f32, |s, v| s + v * v) / 64.0;
        let deviation = (variance + 1.0e-5).sqrt();
        let scaled = centred.into_iter().map(move |v| v / deviation);
        scaled.zip(gamma.iter().zip(&beta)).map(|(v, (g, b))| v * g + b).collect::<Vec<f32>>()
    });
    assert_eq!(got, [bytes_f32(want)]);
}

#[test]
fn gelu() {
    let x = noise(5, 32 * 64);
    let got = Example::new("gelu").input("x", Elem::F32, &[32, 64], bytes_f32(x.iter().copied())).outputs(&["y"]);
    let want = x.iter().map(|x| {
        let u = (x * x * x * 0.044715 + x) * -1.595_769;
        f64::from(*x) / (1.0 + f64::from(u).exp())
    });
    close(&f32s(&got[0]), want, 4.0 * f64::from(f32::EPSILON));
}

#[test]
fn rope() {
    let (head, angle) = (noise(6, 16 * 64), noise(7, 16 * 32));
    let (cos, sin): (Vec<f32>, Vec<f32>) = angle.iter().map(|a| (a.cos(), a.sin())).unzip();
    let got = Example::new("rope")
        .input("head", Elem::F32, &[16, 64], bytes_f32(head.iter().copied()))
        .input("cos", Elem::F32, &[16, 32], bytes_f32(cos.iter().copied()))
        .input("sin", Elem::F32, &[16, 32], bytes_f32(sin.iter().copied()))
        .outputs(&["turned"]);
    let want = (0..16 * 64).map(|n| {
        let (row, k) = (n / 64, n % 32);
        let (x, y) = (head[row * 64 + k], head[row * 64 + 32 + k]);
        let (c, s) = (cos[row * 32 + k], sin[row * 32 + k]);
        if n % 64 < 32 { x * c - y * s } else { y * c + x * s }
    });
    assert_eq!(got, [bytes_f32(want)]);
}

#[test]
fn cast_chain() {
    // Eighths, which f16 holds.
    let x: Vec<f32> = noise(8, 16 * 64).into_iter().map(|v| (v * 8.0).round() / 8.0).collect();
    let half = |v: f32| Elem::F16.encode_f32(v, Overflow::Infinity) as u16;
    let got = Example::new("cast_chain")
        .input("x", Elem::F16, &[16, 64], bytes_u16(x.iter().map(|v| half(*v))))
        .outputs(&["q", "error"]);
    let coded = x.chunks_exact(64).flat_map(|row| {
        let step = row.iter().fold(0.0f32, |m, v| m.max(v.abs())) / 127.0;
        row.iter().map(move |v| {
            // To the nearest f16, which has 11 bits: between 64 and 128 these are sixteenths.
            let scaled = v / step;
            let unit = 2.0f32.powi((scaled.abs().max(f32::MIN_POSITIVE).log2().floor() as i32 - 10).max(-24));
            let rounded = (scaled / unit).round_ties_even() * unit;
            let code = rounded.round_ties_even().clamp(-128.0, 127.0);
            (code as i8, code * step - v)
        })
    });
    let (codes, errors): (Vec<i8>, Vec<f32>) = coded.unzip();
    assert_eq!(got[0], codes.iter().map(|c| *c as u8).collect::<Vec<u8>>());
    assert_eq!(got[1], bytes_f32(errors));
}

#[test]
fn masked_select() {
    let scores = noise(9, 16 * 64);
    let got = Example::new("masked_select")
        .input("scores", Elem::F32, &[16, 64], bytes_f32(scores.iter().copied()))
        .input("row", Elem::I32, &[16, 64], bytes_u32((0..1024).map(|n| n / 64)))
        .input("column", Elem::I32, &[16, 64], bytes_u32((0..1024).map(|n| n % 64)))
        .outputs(&["masked"]);
    let want = scores.iter().enumerate().map(|(n, v)| if n % 64 <= n / 64 { *v } else { f32::NEG_INFINITY });
    assert_eq!(got, [bytes_f32(want)]);
}
