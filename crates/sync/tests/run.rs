//! What is judged with the values of one run (sync.md 4): its path, and no other.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use tessera_ir::inline::inline;
use tessera_isa::profile::Profile;
use tessera_sync::{Mode, Options, RunValues, Verdict};

/// The counter is loaded; a second iteration would load into a tile that is still read.
const LOADED: &str = "
func.func @k(%g: !pto.ptr<f32>, %p: !pto.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %g, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %c = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %loaded = pto.load_scalar %p[%c1] : !pto.ptr<i32> -> i32
  %n = arith.index_cast %loaded : i32 to index
  LOOP
    pto.tload ins(%v : !pto.tensor_view<16x16xf32>) outs(%a : !pto.tile_buf<vec, 16x16xf32>)
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.tadd ins(%a, %a : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%c : !pto.tile_buf<vec, 16x16xf32>)
  END
  return
}
";

const FOR: [&str; 2] = ["scf.for %i = %c0 to %n step %c1 {", "}"];
const WHILE: [&str; 2] = [
    "%last = scf.while (%k = %c0) : (index) -> index {
    %more = arith.cmpi slt, %k, %n : index
    scf.condition(%more) %k : index
  } do {
  ^bb0(%i: index):",
    "  %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }",
];
const BLOCK: [&str; 2] = [
    "%block64 = pto.get_block_idx
  %block = arith.index_cast %block64 : i64 to index
  %two = arith.addi %block, %c1 : index
  scf.for %i = %c0 to %two step %c1 {",
    "}",
];

fn verdict(parts: [&str; 2], run: Option<(i32, i64)>) -> Verdict {
    let text = LOADED.replace("LOOP", parts[0]).replace("END", parts[1]);
    let parsed = tessera_asm::parse_bytes(text.as_bytes(), Some(Profile::A5));
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let func = inline(&parsed.module, parsed.module.entry(None).unwrap()).unwrap();
    let placement = tessera_plan::plan(&parsed.module, &func, Profile::A5, &[]).unwrap();
    let run = run.map(|(count, block)| {
        let bytes: Vec<u8> = [7, count].iter().flat_map(|n| n.to_le_bytes()).collect();
        RunValues { buffers: vec![(func.args[1], bytes.into())], block: [block, 4] }
    });
    let options = Options { mode: Some(Mode::Manual), run, ..Options::default() };
    tessera_sync::check(&parsed.module, &func, Profile::A5, &placement, &text, &options).verdict
}

#[test]
fn a_run_knows_what_it_loads() {
    for parts in [FOR, WHILE] {
        assert_eq!(verdict(parts, None), Verdict::Races);
        assert_eq!(verdict(parts, Some((0, 0))), Verdict::RaceFree);
        assert_eq!(verdict(parts, Some((1, 0))), Verdict::RaceFree);
        assert_eq!(verdict(parts, Some((2, 0))), Verdict::Races);
    }
}

#[test]
fn a_run_knows_its_block() {
    assert_eq!(verdict(BLOCK, None), Verdict::Races);
    assert_eq!(verdict(BLOCK, Some((0, 0))), Verdict::RaceFree);
    assert_eq!(verdict(BLOCK, Some((0, 1))), Verdict::Races);
}
