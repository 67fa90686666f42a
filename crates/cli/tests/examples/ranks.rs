//! Kernels of several ranks, against plain loops over the ranks.

use super::compute::{bytes_f32, f32s, noise};
use super::{Example, bytes_u32};
use tessera_isa::elem::Elem;

/// Rows of 64 numbers: so many for each of so many ranks.
fn rows(seed: u32, ranks: usize, rows: usize) -> Vec<Vec<Vec<f32>>> {
    let all = noise(seed, ranks * rows * 64);
    let rows_of = |rank: &[f32]| rank.chunks(64).map(<[f32]>::to_vec).collect();
    all.chunks(rows * 64).map(rows_of).collect()
}

fn packed(rows: &[Vec<Vec<f32>>]) -> Vec<u8> {
    bytes_f32(rows.iter().flatten().flatten().copied())
}

#[test]
fn ring_step() {
    let x: Vec<f32> = noise(3, 4 * 64);
    let got = Example::new("ranks/ring_step").input("x", Elem::F32, &[4, 64], bytes_f32(x.clone())).outputs(&["y"]);
    let want = (0..4 * 64).map(|n| x[(n + 3 * 64) % (4 * 64)]);
    assert_eq!(got, [bytes_f32(want)]);
}

#[test]
fn all_reduce() {
    let x = rows(5, 4, 4);
    let got = Example::new("ranks/all_reduce").input("x", Elem::F32, &[4, 4, 64], packed(&x)).outputs(&["out"]);
    // The sum of a chunk begins on the rank with its number, and goes round to the right.
    let sum = |chunk: usize, i: usize| (1..4).fold(x[chunk][chunk][i], |sum, k| x[(chunk + k) % 4][chunk][i] + sum);
    let one: Vec<f32> = (0..4 * 64).map(|n| sum(n / 64, n % 64)).collect();
    assert_eq!(got, [bytes_f32((0..4).flat_map(|_| one.clone()))]);
}

#[test]
fn all_gather() {
    let x = rows(7, 4, 1);
    let got = Example::new("ranks/all_gather").input("x", Elem::F32, &[4, 1, 64], packed(&x)).outputs(&["out"]);
    let one: Vec<f32> = x.iter().flatten().flatten().copied().collect();
    assert_eq!(got, [bytes_f32((0..4).flat_map(|_| one.clone()))]);
}

#[test]
fn reduce_scatter() {
    let x = rows(9, 4, 4);
    let got = Example::new("ranks/reduce_scatter").input("x", Elem::F32, &[4, 4, 64], packed(&x)).outputs(&["out"]);
    // Ranks add in the order of the rounds.
    let sum = |q: usize, i: usize| (0..4).fold(0.0, |sum, rank| sum + x[rank][q][i]);
    assert_eq!(got, [bytes_f32((0..4 * 64).map(|n| sum(n / 64, n % 64)))]);
}

#[test]
fn moe() {
    let x = noise(11, 4 * 8 * 16);
    let route = |token: usize| (token * 5 + token / 8) % 4;
    let got = Example::new("ranks/moe")
        .input("x", Elem::F32, &[4, 8, 16], bytes_f32(x.clone()))
        .input("route", Elem::I32, &[4, 8], bytes_u32((0..32).map(|token| route(token) as u32)))
        .outputs(&["out"]);
    let want = (0..4 * 8 * 16).map(|n| x[n] * (route(n / 16) + 1) as f32);
    assert_eq!(got, [bytes_f32(want)]);
}

#[test]
fn gemm_send() {
    let a = |i: usize, k: usize| ((i * 7 + k * 3) % 9) as f32 - 4.0;
    let b = |k: usize, j: usize| ((k * 5 + j * 11) % 7) as f32 - 3.0;
    let got = Example::new("ranks/gemm_send")
        .input("a", Elem::F32, &[3, 64, 16], bytes_f32((0..3 * 1024).map(|n| a(n / 16, n % 16))))
        .input("b", Elem::F32, &[16, 16], bytes_f32((0..256).map(|n| b(n / 16, n % 16))))
        .outputs(&["out"]);
    let product = |i: usize, j: usize| 2.0 * (0..16).map(|k| a(i, k) * b(k, j)).sum::<f32>();
    assert_eq!(f32s(&got[0]), (0..3 * 1024).map(|n| product(n / 16, n % 16)).collect::<Vec<f32>>());
}

#[test]
fn hang_and_race() {
    let told = |name: &str| Example::new(name).fails().split_whitespace().collect::<Vec<_>>().join(" ");
    let hang = told("ranks/hang");
    for rank in [0, 1] {
        let why = format!("flag[0] of rank {rank} is 1, wants ge 2; notified once, by rank {}", 1 - rank);
        assert!(hang.contains(&why), "{hang}");
    }
    let race = told("ranks/race");
    let why = "tload on rank 0 reads y[64] of rank 0 while comm.tput on rank 1 may still write it";
    assert!(race.contains(why), "{race}");
}
