//! Placement in manual programs: two tiles share bytes only where one is done with before the other begins (sync.md 3).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use tessera_ir::inline::inline;
use tessera_isa::profile::Profile;
use tessera_race::{Mode, Options, Verdict, check, place};

/// Two tiles of 128 KiB, of which UB of a2a3 and a5 holds one, used one after the other.
fn program(between: &str) -> String {
    let tile = "!pto.tile_buf<vec, 512x64xf32>";
    let view = "!pto.tensor_view<512x64xf32>";
    let make = "shape = [%c512, %c64], strides = [%c64, %c1]";
    format!(
        "func.func @k(%g: !pto.ptr<f32>, %h: !pto.ptr<f32>, %o: !pto.ptr<f32>) {{
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %v = pto.make_tensor_view %g, {make} : {view}
  %w = pto.make_tensor_view %h, {make} : {view}
  %x = pto.make_tensor_view %o, {make} : {view}
  %a = pto.alloc_tile : {tile}
  %b = pto.alloc_tile : {tile}
  pto.tload ins(%v : {view}) outs(%a : {tile})
  pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.tstore ins(%a : {tile}) outs(%x : {view})
  {between}
  pto.tload ins(%w : {view}) outs(%b : {tile})
  pto.barrier <PIPE_ALL>
  return
}}
"
    )
}

/// Do the tiles share bytes, or is there no room; and are there races?
fn outcome(between: &str, profile: Profile, order: Option<Mode>) -> Result<(bool, Verdict), &'static str> {
    let text = program(between);
    let parsed = tessera_asm::parse(&text, Some(profile));
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let module = &parsed.module;
    let func = inline(module, module.entry(None).unwrap()).unwrap();
    let placement = place(module, &func, profile, &[], order).map_err(|d| d.rule)?;
    let slots: Vec<_> = placement.tiles.iter().flatten().collect();
    let report = check(module, &func, profile, &placement, &text, &Options { mode: order, ..Options::default() });
    Ok((slots[0].addr == slots[1].addr, report.verdict))
}

#[test]
fn tiles_share_bytes_only_where_flags_order_them() {
    let flag =
        "pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]\n  pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]";
    for profile in [Profile::A2a3, Profile::A5] {
        assert_eq!(outcome("", profile, None), Err("capacity"));
        assert_eq!(outcome(flag, profile, None), Ok((true, Verdict::RaceFree)));
        assert_eq!(outcome("pto.barrier <PIPE_ALL>", profile, None), Ok((true, Verdict::RaceFree)));
        // The assembler would insert what is missing.
        assert_eq!(outcome("", profile, Some(Mode::Auto)), Ok((true, Verdict::RaceFree)));
    }
    // With room enough nobody shares.
    assert_eq!(outcome("", Profile::Cpu, None), Ok((false, Verdict::RaceFree)));
    assert_eq!(outcome(flag, Profile::Cpu, None), Ok((false, Verdict::RaceFree)));
}

#[test]
fn nobody_shares_bytes_that_another_core_writes() {
    // The cube core moves into a tile of UB that no vector core touches; vector tiles lie elsewhere all the same.
    let text = "!c = !pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16>
!v = !pto.tile_buf<vec, 16x16xf32>
func.func @k() {
  %shared = pto.alloc_tile : !v
  pto.section.cube {
    %p = pto.alloc_tile : !c
    pto.tmov ins(%p : !c) outs(%shared : !v)
  }
  pto.section.vector {
    %x = pto.alloc_tile : !v
    %y = pto.alloc_tile : !v
    pto.tabs ins(%x : !v) outs(%y : !v)
  }
  return
}
";
    for profile in [Profile::Cpu, Profile::A5] {
        let parsed = tessera_asm::parse(text, Some(profile));
        assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
        let module = &parsed.module;
        let func = inline(module, module.entry(None).unwrap()).unwrap();
        for order in [None, Some(Mode::Manual)] {
            let placement = place(module, &func, profile, &[], order).unwrap();
            let options = Options { mode: order, ..Options::default() };
            let report = check(module, &func, profile, &placement, text, &options);
            assert_eq!(report.verdict, Verdict::RaceFree, "{profile} {:?}", report.diagnostics);
        }
    }
}
