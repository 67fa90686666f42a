//! `plan --sync --unroll`: a program with its loops unrolled computes the same bits for every trip count, also where
//! iterations are left over, and needs no id that is computed.

#![allow(clippy::unwrap_used, reason = "a test")]

use tessera::{OrderOptions, Profile, Program, Result, Verdict};

/// Blocks of 8 x 8, of which the loop takes one after the other with a step, from a first one on.
fn kernel(lower: u32, step: u32, head: &str, tiles: &str, tail: &str) -> String {
    format!(
        "func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %lower = arith.constant {lower} : index
  %step = arith.constant {step} : index
  %c200 = arith.constant 200 : index
  %in = pto.make_tensor_view %x, shape = [%c200, %c8], strides = [%c8, %c1] : !pto.tensor_view<200x8xf32>
  %out = pto.make_tensor_view %y, shape = [%c200, %c8], strides = [%c8, %c1] : !pto.tensor_view<200x8xf32>
  %first = pto.partition_view %in, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<200x8xf32> -> !pto.partition_tensor_view<8x8xf32>
  %a = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
  %b = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
  %c = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
  pto.tload ins(%first : !pto.partition_tensor_view<8x8xf32>) outs(%a : !pto.tile_buf<vec, 8x8xf32>)
  pto.tload ins(%first : !pto.partition_tensor_view<8x8xf32>) outs(%b : !pto.tile_buf<vec, 8x8xf32>)
  pto.tload ins(%first : !pto.partition_tensor_view<8x8xf32>) outs(%c : !pto.tile_buf<vec, 8x8xf32>)
  {head} {{
    {tiles}
    %row = arith.muli %i, %c8 : index
    %from = pto.partition_view %in, offsets = [%row, %c0], sizes = [%c8, %c8] : !pto.tensor_view<200x8xf32> -> !pto.partition_tensor_view<8x8xf32>
    %to = pto.partition_view %out, offsets = [%row, %c0], sizes = [%c8, %c8] : !pto.tensor_view<200x8xf32> -> !pto.partition_tensor_view<8x8xf32>
    pto.tload ins(%from : !pto.partition_tensor_view<8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
    pto.tadd ins(%t, %u : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>) outs(%u : !pto.tile_buf<vec, 8x8xf32>)
    pto.tstore ins(%u : !pto.tile_buf<vec, 8x8xf32>) outs(%to : !pto.partition_tensor_view<8x8xf32>)
    {tail}
  }}
  return
}}
"
    )
}

/// Tiles by turns of two and of three, and tiles that are handed round.
fn kernels(lower: u32, step: u32, upper: &str) -> [String; 3] {
    let head = format!("scf.for %i = %lower to {upper} step %step");
    let two = "%m = arith.remui %i, %c2 : index
    %is = arith.cmpi eq, %m, %c0 : index
    %t = arith.select %is, %a, %b : !pto.tile_buf<vec, 8x8xf32>
    %u = arith.select %is, %b, %c : !pto.tile_buf<vec, 8x8xf32>";
    let three = "%m = arith.remui %i, %c3 : index
    %is = arith.cmpi eq, %m, %c0 : index
    %is1 = arith.cmpi eq, %m, %c1 : index
    %t, %u = scf.if %is -> (!pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>) {
      scf.yield %a, %b : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>
    } else {
      %v = arith.select %is1, %b, %c : !pto.tile_buf<vec, 8x8xf32>
      %w = arith.select %is1, %c, %a : !pto.tile_buf<vec, 8x8xf32>
      scf.yield %v, %w : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>
    }";
    let handed = format!(
        "%x2, %y2 = {head} iter_args(%t = %a, %u = %b) -> (!pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>)"
    );
    let round = "scf.yield %u, %t : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>";
    [
        kernel(lower, step, &head, two, ""),
        kernel(lower, step, &head, three, ""),
        kernel(lower, step, &handed, "", round),
    ]
}

fn run(text: &str, profile: Profile, n: i64) -> Result<Vec<f32>> {
    let numbers: Vec<f32> = (0..1600).map(|v| (v % 251) as f32 - 100.0).collect();
    let kernel = Program::read(text, Some(profile)).entry()?;
    kernel.input("x", &numbers)?.input("y", &vec![0f32; 1600])?.set("n", n)?.output("y")?.run()?.get::<f32>("y")
}

#[test]
fn unrolled_loops_compute_the_same_bits() -> Result<()> {
    for profile in Profile::ALL {
        for (lower, step) in [(0, 1), (1, 1), (2, 3)] {
            for text in kernels(lower, step, "%n").into_iter().chain(kernels(lower, step, "%c8")) {
                let synced = Program::read(&text, Some(profile)).entry()?.synced_unrolled()?;
                assert!(synced.warnings.is_empty(), "{text}");
                assert!(!synced.text.contains("_flag_dyn"), "{}", synced.text);
                let report = Program::read(&synced.text, Some(profile)).entry()?.order(&OrderOptions::default())?;
                assert_eq!(report.verdict, Verdict::RaceFree, "{profile}: {:#?}\n{}", report.diagnostics, synced.text);
                for n in [-1, 0, 1, 2, 3, 4, 5, 6, 7, 11, 20] {
                    assert_eq!(run(&synced.text, profile, n)?, run(&text, profile, n)?, "n = {n}\n{}", synced.text);
                }
            }
        }
    }
    Ok(())
}
