//! The programs of `examples/micro` against plain loops, and programs that their quick fixes and plans complete.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::path::Path;
use tessera::{Kernel, OrderOptions, Program, Verdict, f16};

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/micro").join(format!("{name}.pto"));
    std::fs::read_to_string(path).unwrap()
}

fn kernel(name: &str) -> Kernel {
    Program::parse(&source(name)).unwrap_or_else(|e| panic!("{name}: {e}")).entry().unwrap()
}

/// Numbers between -4 and 4, from a linear congruence.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32 * 8.0 - 4.0
    };
    (0..n).map(next).collect()
}

fn near(made: &[f32], expected: &[f32], relative: f32) {
    assert_eq!(made.len(), expected.len());
    for (k, (x, y)) in made.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= relative * y.abs().max(1.0), "{k}: {x} and {y}");
    }
}

#[test]
fn every_example_is_legal_and_prints_as_it_reads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/micro");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let program = Program::parse(&text).unwrap();
        assert_eq!(program.check().iter().filter(|d| d.is_error()).count(), 0, "{text}");
        let printed = program.text(None);
        assert_eq!(Program::parse(&printed).unwrap().text(None), printed);
        // Words that are instructions of their own keep their names.
        assert_eq!(text.matches("set_intra_block").count(), printed.matches("set_intra_block").count());
        count += 1;
    }
    assert_eq!(count, 9);
}

#[test]
fn a_sum_has_a_masked_tail() {
    for n in [1usize, 63, 64, 150] {
        let (x, y) = (numbers(n, 1), numbers(n, 2));
        let run = kernel("vector_add").input("x", &x).unwrap().input("y", &y).unwrap().set("n", n as i64).unwrap();
        let z = run.run().unwrap().get::<f32>("z").unwrap();
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        assert_eq!(z, expected);
    }
}

#[test]
fn rows_are_normalised() {
    let (x, g, b) = (numbers(2048, 3), numbers(256, 4), numbers(256, 5));
    let run = kernel("layer_norm").input("x", &x).unwrap().input("g", &g).unwrap().input("b", &b).unwrap();
    let y = run.run().unwrap().get::<f32>("y").unwrap();
    let mut expected = Vec::new();
    for row in x.chunks(256) {
        let mean = row.iter().map(|v| f64::from(*v)).sum::<f64>() / 256.0;
        let var = row.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / 256.0;
        let one = |(k, v): (usize, &f32)| {
            ((f64::from(*v) - mean) / (var + 1e-5).sqrt() * f64::from(g[k]) + f64::from(b[k])) as f32
        };
        expected.extend(row.iter().enumerate().map(one));
    }
    near(&y, &expected, 1e-5);
}

#[test]
fn softmax_is_rescaled_on_the_way() {
    let x = numbers(8192, 6);
    let y = kernel("online_softmax").input("x", &x).unwrap().run().unwrap().get::<f32>("y").unwrap();
    let mut expected = Vec::new();
    for row in x.chunks(512) {
        let top = row.iter().fold(f64::NEG_INFINITY, |a, b| a.max(f64::from(*b)));
        let sum: f64 = row.iter().map(|v| (f64::from(*v) - top).exp()).sum();
        expected.extend(row.iter().map(|v| ((f64::from(*v) - top).exp() / sum) as f32));
    }
    near(&y, &expected, 1e-6);
}

#[test]
fn elements_are_gathered() {
    let x = numbers(1024, 7);
    let k: Vec<i32> = (0..200).map(|i| (i * 37) % 1024).collect();
    let run = kernel("gather").input("x", &x).unwrap().input("k", &k).unwrap();
    let y = run.run().unwrap().get::<f32>("y").unwrap();
    let expected: Vec<f32> = k.iter().map(|k| x[*k as usize]).collect();
    assert_eq!(y, expected);
}

#[test]
fn the_largest_come_first() {
    let x = numbers(128, 8);
    let k: Vec<u32> = (0..128).collect();
    let run = kernel("topk").input("x", &x).unwrap().input("k", &k).unwrap();
    let y = run.run().unwrap().get::<f32>("y").unwrap();
    let mut order: Vec<usize> = (0..128).collect();
    order.sort_by(|a, b| x[*b].total_cmp(&x[*a]));
    for (n, place) in order.iter().take(16).enumerate() {
        assert_eq!((y[2 * n], y[2 * n + 1].to_bits()), (x[*place], *place as u32));
    }
}

#[test]
fn streams_leave_their_neighbours_alone() {
    let (x, y) = (numbers(256, 9), numbers(256, 10));
    let run = kernel("unaligned").input("x", &x).unwrap().input("y", &y).unwrap();
    let made = run.run().unwrap().get::<f32>("y").unwrap();
    let mut expected = y;
    for k in 0..192 {
        expected[3 + k] = 2.0 * x[1 + k];
    }
    assert_eq!(made, expected);
}

#[test]
fn tiles_and_registers_share_bytes() {
    let x = numbers(2048, 11);
    let y = kernel("mixed_gelu").input("x", &x).unwrap().run().unwrap().get::<f32>("y").unwrap();
    let one = |v: &f32| {
        let u = 0.797_884_56 * (f64::from(*v) + 0.044715 * f64::from(*v).powi(3));
        (f64::from(*v) / (1.0 + (-2.0 * u).exp())) as f32
    };
    near(&y, &x.iter().map(one).collect::<Vec<f32>>(), 1e-5);
}

/// A product of f16 matrices, one rounding a step.
fn product(a: &[f16], b: &[f16], [m, k, n]: [usize; 3], start: impl Fn(usize) -> f32) -> Vec<f32> {
    let mut out = Vec::new();
    for i in 0..m {
        for j in 0..n {
            let step = |s: f32, c: usize| a[i * k + c].to_f32().mul_add(b[c * n + j].to_f32(), s);
            out.push((0..k).fold(start(j), step));
        }
    }
    out
}

fn halves(n: usize, seed: u64) -> Vec<f16> {
    numbers(n, seed).into_iter().map(f16::from_f32).collect()
}

#[test]
fn the_cube_core_multiplies() {
    let (a, b, bias) = (halves(40 * 64, 12), halves(64 * 48, 13), numbers(48, 14));
    let run = kernel("cube_matmul").input("a", &a).unwrap().input("b", &b).unwrap().input("bias", &bias).unwrap();
    let c = run.run().unwrap().get::<f32>("c").unwrap();
    let sums = product(&a, &b, [40, 64, 48], |j| bias[j]);
    assert_eq!(c, sums.into_iter().map(|v| v.max(0.0)).collect::<Vec<f32>>());
}

#[test]
fn cube_and_vector_cores_work_together() {
    let (a, b) = (halves(1024, 15), halves(1024, 16));
    let run = kernel("cube_and_vector").input("a", &a).unwrap().input("b", &b).unwrap();
    let y = run.run().unwrap().get::<f32>("y").unwrap();
    let sums = product(&a, &b, [32, 32, 32], |_| 0.0);
    assert_eq!(y, sums.into_iter().map(|v| v.max(0.0) + 1.0).collect::<Vec<f32>>());
    // Without the token the vector cores may come too early.
    let early = source("cube_and_vector").replace("      pto.wait_intra_block <PIPE_V>, 1\n", "");
    let early =
        early.replace("      pto.set_intra_block <PIPE_FIX>, 1\n      pto.set_intra_block <PIPE_FIX>, 17\n", "");
    let report = Program::parse(&early).unwrap().entry().unwrap().order(&OrderOptions::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Races);
    assert!(report.diagnostics.iter().any(|d| d.rule == "race-raw"), "{:?}", report.diagnostics);
}

#[test]
fn transfers_and_vecscopes_get_their_flags() {
    let text = source("layer_norm");
    let bare: String = text.lines().filter(|line| !line.contains("_flag[")).map(|line| format!("{line}\n")).collect();
    let program = Program::parse(&bare).unwrap();
    let order = |program: &Program| program.entry().unwrap().order(&OrderOptions::default()).unwrap().verdict;
    assert_eq!(order(&program), Verdict::Races);
    let synced = program.entry().unwrap().synced().unwrap();
    let again = Program::parse(&synced.text).unwrap_or_else(|e| panic!("{e}\n{}", synced.text));
    assert_eq!(order(&again), Verdict::RaceFree, "{}", synced.text);
    // A flag each way, none inside of the vecscope.
    assert_eq!(synced.rows.len(), 4, "{}", synced.text);
    let scope = synced.text.split("pto.vecscope").nth(1).unwrap().split("mte_ub_gm").next().unwrap();
    assert_eq!(scope.matches("wait_flag").count(), 1, "{scope}");
    // Taking flags out leaves the instructions.
    let resynced = again.entry().unwrap().synced().unwrap();
    assert_eq!(resynced.text, synced.text);
}

/// A store that is loaded again, in a loop and behind it.
const AGAIN: &str = r#"module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>} {
  func.func @k(%x: !pto.ptr<f32, gm>) attributes {pto.aicore} {
    %zero = arith.constant 0 : i64
    %p = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    pto.vecscope {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c256 = arith.constant 256 : index
      %one = arith.constant 1.0 : f32
      %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %v = pto.vbr %one : f32 -> !pto.vreg<64xf32>
      pto.vsts %v, %p[%c0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
      scf.for %i = %c0 to %c256 step %c64 {
        // Every round reads what the last one wrote.
        %w = pto.vlds %p[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
        %j = arith.addi %i, %c64 : index
        pto.vsts %w, %p[%j], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
      }
    }
    return
  }
}
"#;

#[test]
fn vecscopes_get_their_barriers() {
    let order = |text: &str| Program::parse(text).unwrap().entry().unwrap().order(&OrderOptions::default()).unwrap();
    assert_eq!(order(AGAIN).verdict, Verdict::Races);
    let text = Program::parse(AGAIN).unwrap().with_bars(None).unwrap();
    assert_eq!(order(&text).verdict, Verdict::RaceFree, "{text}");
    // One barrier in the loop orders both.
    assert_eq!(text.matches("pto.mem_bar \"VST_VLD\"").count(), 1, "{text}");
    let bare: String = text.lines().filter(|l| !l.contains("mem_bar")).map(|l| format!("{l}\n")).collect();
    assert_eq!(bare, AGAIN);
    assert_eq!(Program::parse(&text).unwrap().with_bars(None).unwrap(), text);
}
