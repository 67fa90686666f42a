//! One order operation is deleted from programs that are right: there is one error, and its repair makes the program
//! right again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use tessera::{OrderOptions, Profile, Program, Verdict};

/// The text of the order operations that are deleted.
const ORDER: [&str; 3] = ["pto.set_flag", "pto.wait_flag", "pto.barrier"];

/// Errors of a program, those of its order included.
fn errors(text: &str, profile: Profile) -> Vec<String> {
    let program = Program::read(text, Some(profile));
    let mut found = program.check();
    if !found.iter().any(|d| d.is_error()) {
        let report = program.entry().unwrap().order(&OrderOptions::default()).unwrap();
        assert_ne!(report.verdict, Verdict::Undecided, "{text}");
        found.extend(report.diagnostics);
    }
    found.into_iter().filter(|d| d.is_error()).map(|d| format!("{}: {} {:?}", d.rule, d.message, d.help)).collect()
}

fn delete_each(text: &str, profile: Profile) {
    assert_eq!(errors(text, profile), [""; 0], "the program is right");
    let lines: Vec<&str> = text.lines().collect();
    for (n, line) in lines.iter().enumerate().filter(|(_, line)| ORDER.iter().any(|order| line.contains(order))) {
        let mut less = lines.clone();
        less.remove(n);
        let less = less.join("\n") + "\n";
        let found = errors(&less, profile);
        assert_eq!(found.len(), 1, "without line {} ({}) on {profile}: {found:#?}", n + 1, line.trim());
        let fixed = tessera_lsp::fix(&less, &[profile], true);
        assert_eq!(errors(&fixed.text, profile), [""; 0], "{found:?} was repaired to\n{}", fixed.text);
    }
}

#[test]
fn each_deleted_operation_is_one_error_with_a_repair() {
    let double = include_str!("../../../examples/sync/ping_pong.pto");
    let sum = include_str!("../../../examples/sync/sum.pto");
    for profile in [Profile::A2a3, Profile::A5] {
        delete_each(double, profile);
        delete_each(sum, profile);
        delete_each(GEMM, profile);
    }
    delete_each(TURNS, Profile::A5);
    delete_each(CHAIN, Profile::A2a3);
}

/// Barriers in a row, and two of all pipes.
const CHAIN: &str = "\
!t = !pto.tile_buf<vec, 16x64xf32>
func.func @chain(%x: memref<16x64xf32>, %y: memref<16x64xf32>) {
  %a = pto.alloc_tile : !t
  %b = pto.alloc_tile : !t
  pto.tload ins(%x : memref<16x64xf32>) outs(%a : !t)
  pto.barrier <PIPE_ALL>
  pto.texp ins(%a : !t) outs(%b : !t)
  pto.barrier <PIPE_V>
  pto.tadd ins(%a, %b : !t, !t) outs(%b : !t)
  pto.barrier <PIPE_ALL>
  pto.tstore ins(%b : !t) outs(%y : memref<16x64xf32>)
  return
}
";

/// A product over k, with a branch in the loop.
const GEMM: &str = "\
!l1 = !pto.tile_buf<loc=mat, f16, 16, 16>
!l = !pto.tile_buf<loc=left, f16, 16, 16>
!r = !pto.tile_buf<loc=right, f16, 16, 16>
!c = !pto.tile_buf<loc=acc, f32, 16, 16>
func.func @gemm(%x: memref<16x16xf16>, %w: memref<16x16xf16>, %z: memref<16x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = pto.alloc_tile : !l1
  %b = pto.alloc_tile : !l1
  %l = pto.alloc_tile : !l
  %r = pto.alloc_tile : !r
  %c = pto.alloc_tile : !c
  pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
  pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
  scf.for %k = %c0 to %n step %c1 {
    pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.tload ins(%x : memref<16x16xf16>) outs(%a : !l1)
    pto.tload ins(%w : memref<16x16xf16>) outs(%b : !l1)
    pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.tmov ins(%a : !l1) outs(%l : !l)
    pto.tmov ins(%b : !l1) outs(%r : !r)
    pto.set_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
    pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
    %first = arith.cmpi eq, %k, %c0 : index
    pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>]
    scf.if %first {
      pto.tmatmul ins(%l, %r : !l, !r) outs(%c : !c)
    } else {
      pto.tmatmul.acc ins(%c, %l, %r : !c, !l, !r) outs(%c : !c)
    }
    pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
  }
  pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
  pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
  pto.tstore ins(%c : !c) outs(%z : memref<16x16xf32>)
  return
}
";

/// Two buffers that take turns, with a computed id.
const TURNS: &str = "\
func.func @total(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %rows = arith.muli %n, %c16 : index
  %in = pto.make_tensor_view %x, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
  %out = pto.make_tensor_view %y, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
  %b = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
  %sum = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
  pto.texpands ins(%zero : f32) outs(%sum : !pto.tile_buf<vec, 16x64xf32>)
  pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
  scf.for %i = %c0 to %n step %c1 {
    %sync_c2 = arith.constant 2 : index
    %sync_i = arith.remui %i, %sync_c2 : index
    %turn = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %turn, %c0 : index
    %t = arith.select %even, %a, %b : !pto.tile_buf<vec, 16x64xf32>
    %row = arith.muli %i, %c16 : index
    %from = pto.partition_view %in, offsets = [%row, %c0], sizes = [%c16, %c64] : !pto.tensor_view<?x64xf32> -> !pto.partition_tensor_view<16x64xf32>
    pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %sync_i]
    pto.tload ins(%from : !pto.partition_tensor_view<16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.tadd ins(%sum, %t : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>) outs(%sum : !pto.tile_buf<vec, 16x64xf32>)
    pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %sync_i]
  }
  pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
  pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.tstore ins(%sum : !pto.tile_buf<vec, 16x64xf32>) outs(%out : !pto.tensor_view<16x64xf32>)
  return
}
";
