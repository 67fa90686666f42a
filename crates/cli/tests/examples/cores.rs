//! Kernels on a cube core and two vector cores.

use super::compute::bytes_f32;
use super::{Example, bytes_u16, half_of};
use tessera_isa::elem::Elem;

#[test]
fn cores_both_ways() {
    let a = |i: usize, k: usize| ((i * 7 + k * 3) % 9) as i32 - 4;
    let b = |k: usize, j: usize| ((k * 5 + j * 11) % 7) as i32 - 3;
    let halves = |values: Vec<i32>| bytes_u16(values.into_iter().map(half_of));
    let got = Example::new("cores_both_ways")
        .input("a", Elem::F16, &[16, 16], halves((0..256).map(|n| a(n / 16, n % 16)).collect()))
        .input("b", Elem::F16, &[64, 16], halves((0..1024).map(|n| b(n / 16, n % 16)).collect()))
        .outputs(&["out"]);
    let want = (0..1024).map(|n| {
        let (block, i, j) = (n / 256, n / 16 % 16, n % 16);
        2.0 * (0..16).map(|k| a(i, k) * b(block * 16 + k, j)).sum::<i32>() as f32
    });
    assert_eq!(got, [bytes_f32(want)]);
}

#[test]
fn cores_split() {
    let a = |i: usize, k: usize| ((i * 5 + k) % 11) as f32 - 5.0;
    let b = |k: usize, j: usize| ((k + j * 3) % 13) as f32 - 6.0;
    let got = Example::new("cores_split")
        .input("a", Elem::F32, &[16, 16], bytes_f32((0..256).map(|n| a(n / 16, n % 16))))
        .input("b", Elem::F32, &[16, 16], bytes_f32((0..256).map(|n| b(n / 16, n % 16))))
        .outputs(&["out"]);
    let want = (0..256).map(|n| 1.0 + (0..16).map(|k| a(n / 16, k) * b(k, n % 16)).sum::<f32>());
    assert_eq!(got, [bytes_f32(want)]);
}

#[test]
fn cores_deadlock() {
    let told = Example::new("cores_deadlock").fails();
    let wanted = "error[deadlock]: C waits in tpush_to_aiv at 15:7: the C2V FIFO of @mix is full, 8 of 8 slots, V0 has freed 0, V1 \
                  has freed 0; V0 waits in sync.wait at 22:5: no token with id 0 has come; V1 waits in sync.wait at 22:5: no token \
                  with id 0 has come";
    let one_line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains(wanted), "{told}");
}
