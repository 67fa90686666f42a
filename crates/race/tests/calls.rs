//! Functions that are not inlined: each is ordered by itself, with full barriers around its calls.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use tessera_ir::inline::inline;
use tessera_isa::profile::Profile;
use tessera_race::{Fallback, Limits, Mode, Options, Verdict, check, insert};

const PROGRAM: &str = "
func.func private @twice(%a: !pto.tile_buf<vec, 16x16xf32>, %b: !pto.tile_buf<vec, 16x16xf32>) {
  pto.tadd ins(%a, %a : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%b : !pto.tile_buf<vec, 16x16xf32>)
  pto.tmul ins(%a, %b : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%b : !pto.tile_buf<vec, 16x16xf32>)
  return
}
func.func @k(%x: memref<16x16xf32>, %y: memref<16x16xf32>, %n: index) attributes {pto.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.constant 0 : i64
  %q = arith.constant 1024 : i64
  %a = pto.alloc_tile addr = %p : !pto.tile_buf<vec, 16x16xf32>
  %b = pto.alloc_tile addr = %q : !pto.tile_buf<vec, 16x16xf32>
  scf.for %i = %c0 to %n step %c1 {
    pto.tload ins(%x : memref<16x16xf32>) outs(%a : !pto.tile_buf<vec, 16x16xf32>)
    func.call @twice(%a, %b) : (!pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) -> ()
    pto.tstore ins(%b : !pto.tile_buf<vec, 16x16xf32>) outs(%y : memref<16x16xf32>)
  }
  return
}
";

#[test]
fn every_function_is_ordered_by_itself() {
    for profile in [Profile::A2a3, Profile::A5] {
        let parsed = tessera_asm::parse_bytes(PROGRAM.as_bytes(), Some(profile));
        assert!(parsed.diagnostics.iter().all(|d| !d.is_error()), "{:?}", parsed.diagnostics);
        let mut module = parsed.module;
        for n in 0..module.funcs.len() {
            let func = module.funcs[n].clone();
            let placement = tessera_plan::plan(&module, &func, profile, &[]).unwrap();
            let synced = insert(&mut module, &func, profile, &placement, Limits::default());
            assert!(synced.serial.is_none(), "{:?}", synced.serial);
            let around = synced.fallbacks().filter(|(_, why)| *why == Fallback::Call).count();
            assert_eq!(around, usize::from(!func.callees().is_empty()));
            module.funcs[n] = synced.func;
        }
        // Together they have no race.
        let text = tessera_asm::print_module(&module);
        let read = tessera_asm::parse_bytes(text.as_bytes(), Some(profile));
        let module = read.module;
        let func = inline(&module, module.entry(None).unwrap()).unwrap();
        let placement = tessera_plan::plan(&module, &func, profile, &[]).unwrap();
        let options = Options { mode: Some(Mode::Manual), ..Options::default() };
        let report = check(&module, &func, profile, &placement, &text, &options);
        assert_eq!(report.verdict, Verdict::RaceFree, "{profile}\n{text}\n{:#?}", report.diagnostics);
    }
}
