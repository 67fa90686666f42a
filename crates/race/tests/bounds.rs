//! Loops with the same bounds run equally often, and none of them is a loop of known length for that (sync.md 4 and 9).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use tessera_ir::Func;
use tessera_ir::inline::inline;
use tessera_isa::profile::Profile;
use tessera_race::{Limits, Mode, Options, Verdict, check, insert};

/// A kernel with two buffers of blocks of 8×32 floats and a few tiles.
fn kernel(body: &str) -> String {
    let block = "!pto.partition_tensor_view<8x32xf32>";
    let view = |line: &str| match line.trim().split_once('@') {
        Some((instruction, place)) => {
            let (buffer, row) = place.split_once(' ').unwrap();
            let (operation, tile) = instruction.trim().split_once(' ').unwrap();
            let part = format!(
                "%p{buffer}{row} = pto.partition_view %v{buffer}, offsets = [%{row}, %c0], sizes = [%c8, %c32] : \
                 !pto.tensor_view<4096x32xf32> -> {block}\n"
            );
            part + &match operation {
                "load" => format!("pto.tload ins(%p{buffer}{row} : {block}) outs(%{tile} : !v)\n"),
                _ => format!("pto.tstore ins(%{tile} : !v) outs(%p{buffer}{row} : {block})\n"),
            }
        }
        None => format!("{line}\n"),
    };
    let body: String = body.lines().map(view).collect();
    format!(
        "!v = !pto.tile_buf<vec, 8x32xf32>
        func.func @k(%g0: !pto.ptr<f32>, %g1: !pto.ptr<f32>, %n: index) {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c8 = arith.constant 8 : index
        %c16 = arith.constant 16 : index
        %c32 = arith.constant 32 : index
        %c256 = arith.constant 256 : index
        %c4096 = arith.constant 4096 : index
        %f = arith.constant 1.5 : f32
        %v0 = pto.make_tensor_view %g0, shape = [%c4096, %c32], strides = [%c32, %c1] : !pto.tensor_view<4096x32xf32>
        %v1 = pto.make_tensor_view %g1, shape = [%c4096, %c32], strides = [%c32, %c1] : !pto.tensor_view<4096x32xf32>
        %a = pto.alloc_tile : !v
        %b = pto.alloc_tile : !v
        %c = pto.alloc_tile : !v
        {body}
        return
        }}"
    )
}

/// Inserts flags: how many edges there are, after each was taken out once and missed.
fn edges(text: &str, profile: Profile) -> usize {
    let mut parsed = tessera_asm::parse_bytes(text.as_bytes(), Some(profile));
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let func = inline(&parsed.module, parsed.module.entry(None).unwrap()).unwrap().into_owned();
    let placement = tessera_plan::plan(&parsed.module, &func, profile, &[]).unwrap();
    let synced = insert(&mut parsed.module, &func, profile, &placement, Limits::default());
    assert!(synced.serial.is_none());
    let options = Options { mode: Some(Mode::Manual), ..Options::default() };
    let verdict = |func: &Func| check(&parsed.module, func, profile, &placement, text, &options).verdict;
    assert_eq!(verdict(&synced.func), Verdict::RaceFree, "{profile}");
    let edges: BTreeSet<usize> = synced.table.iter().map(|served| served.edge).collect();
    for edge in &edges {
        let mut without = synced.func.clone();
        let out: BTreeSet<_> = synced.table.iter().filter(|s| s.edge == *edge).map(|s| s.op.0).collect();
        without.blocks.iter_mut().for_each(|block| block.ops.retain(|op| !out.contains(&op.0)));
        assert_eq!(verdict(&without), Verdict::Races, "{profile}: edge {edge} of {}", edges.len());
    }
    edges.len()
}

fn verdict(text: &str, profile: Profile) -> Verdict {
    let parsed = tessera_asm::parse_bytes(text.as_bytes(), Some(profile));
    let func = inline(&parsed.module, parsed.module.entry(None).unwrap()).unwrap().into_owned();
    let placement = tessera_plan::plan(&parsed.module, &func, profile, &[]).unwrap();
    let options = Options { mode: Some(Mode::Manual), ..Options::default() };
    check(&parsed.module, &func, profile, &placement, text, &options).verdict
}

/// The scalar of iteration 4 is stored where every iteration loads, after a loop that runs as often.
#[test]
fn a_second_loop_of_the_same_bounds_runs_as_long_as_its_accesses_need() {
    let text = kernel(
        "scf.for %i = %c0 to %n step %c1 {
        }
        %far = arith.muli %c2, %c16 : index
        scf.for %j = %c0 to %n step %c1 {
        %at = arith.muli %j, %c256 : index
        pto.store_scalar %f, %g1[%at] : !pto.ptr<f32>, f32
        load a @1 far
        }",
    );
    for profile in Profile::ALL {
        assert_eq!(verdict(&text, profile), Verdict::Races, "{profile}");
        assert!(edges(&text, profile) > 0, "{profile}");
    }
}

/// The second loop takes turns with two tiles, the first with none: the longer period counts for both.
#[test]
fn a_second_loop_has_its_own_period() {
    let text = kernel(
        "scf.for %i = %c0 to %n step %c1 {
        }
        scf.for %j = %c0 to %n step %c1 {
        %turn = arith.remui %j, %c2 : index
        %is = arith.cmpi eq, %turn, %c0 : index
        %t = arith.select %is, %a, %b : !v
        %row = arith.muli %j, %c8 : index
        load t @0 row
        pto.tadd ins(%t, %t : !v, !v) outs(%c : !v)
        store c @1 row
        }",
    );
    for profile in Profile::ALL {
        assert_eq!(verdict(&text, profile), Verdict::Races, "{profile}");
        assert_eq!(edges(&text, profile), 4, "{profile}");
    }
}

/// The drains of the inner loop have computed ids; trying the outer one out does not make them unknown.
#[test]
fn ids_round_an_inner_loop_are_known() {
    let text = kernel(
        "scf.for %i = %c0 to %n step %c1 {
        scf.for %j = %c0 to %n step %c1 {
        %ahead = arith.addi %j, %c2 : index
        %next = arith.muli %ahead, %c8 : index
        load a @1 next
        %row = arith.muli %j, %c8 : index
        store b @1 row
        }
        }",
    );
    for profile in Profile::ALL {
        assert!(edges(&text, profile) > 0, "{profile}");
    }
}

/// A wait on S comes after what S did, and before everything later: nothing else has to tell of it.
#[test]
fn a_wait_on_s_tells_of_everything_before_it_on_s() {
    let text = kernel(
        "%at = arith.muli %c2, %c256 : index
        pto.store_scalar %f, %g1[%at] : !pto.ptr<f32>, f32
        load a @0 c0
        pto.store_scalar %f, %g0[%c0] : !pto.ptr<f32>, f32
        load b @1 c16",
    );
    for profile in Profile::ALL {
        assert_eq!(edges(&text, profile), 1, "{profile}");
    }
}

/// A loop that runs longer than it is tried has a bound that passes every number, and so does what is computed of it.
#[test]
fn what_is_computed_of_a_bound_passes_every_number() {
    let loads = "scf.for %i = %c0 to %n step %c1 {\nload a@0 c0\n}\n";
    let used = "pto.texp ins(%a : !v) outs(%b : !v)";
    for (what, then) in [
        ("itself", "%q = arith.cmpi sgt, %n, %c16 : index\nscf.if %q {"),
        ("less", "%h = arith.subi %n, %c16 : index\n%q = arith.cmpi sgt, %h, %c2 : index\nscf.if %q {"),
        ("twice", "%h = arith.muli %n, %c2 : index\n%q = arith.cmpi sgt, %h, %c32 : index\nscf.if %q {"),
        ("half", "%h = arith.divui %n, %c2 : index\n%q = arith.cmpi sgt, %h, %c16 : index\nscf.if %q {"),
        ("a bound", "%h = arith.subi %n, %c16 : index\nscf.for %j = %c0 to %h step %c1 {"),
        ("a start", "scf.for %j = %c16 to %n step %c2 {"),
    ] {
        for profile in [Profile::A5, Profile::A2a3] {
            let text = kernel(&format!("{loads}{then}\n{used}\n}}"));
            assert!(edges(&text, profile) > 0, "{what} on {profile}");
        }
    }
    let counted = "%e = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> (index) {\nload a@0 c0\n\
                   %y = arith.addi %x, %c2 : index\nscf.yield %y : index\n}\n\
                   %q = arith.cmpi sgt, %e, %c32 : index\nscf.if %q {\n";
    assert!(edges(&kernel(&format!("{counted}{used}\n}}")), Profile::A5) > 0, "what is handed on");
}

/// Inner loops that run as often as an outer one counts have no period, and are decided all the same.
#[test]
fn inner_loops_that_the_outer_counter_bounds_are_decided() {
    let turns = "%turn = arith.remui %j, %c2 : index
        %is = arith.cmpi eq, %turn, %c0 : index
        %t = arith.select %is, %a, %b : !v
        load t @0 c0
        pto.tadd ins(%t, %t : !v, !v) outs(%c : !v)
        }
        %row = arith.muli %i, %c8 : index
        store c @1 row
        }";
    for (what, bounds) in [
        ("as often", "scf.for %j = %c0 to %i step %c1 {"),
        ("from there on", "scf.for %j = %i to %n step %c1 {"),
        ("fewer and fewer times", "scf.for %j = %i to %c8 step %c1 {"),
        ("half as often", "%h = arith.divui %i, %c2 : index\nscf.for %j = %c0 to %h step %c1 {"),
        ("at most so often", "%h = arith.minsi %i, %c2 : index\nscf.for %j = %c0 to %h step %c1 {"),
    ] {
        let text = kernel(&format!("scf.for %i = %c0 to %n step %c1 {{\n{bounds}\n{turns}"));
        for profile in [Profile::A5, Profile::A2a3] {
            assert_eq!(verdict(&text, profile), Verdict::Races, "{what} on {profile}");
            assert!(edges(&text, profile) > 3, "{what} on {profile}");
        }
    }
}

/// The bound of an inner loop is data that each turn loads anew.
#[test]
fn inner_loops_that_data_bounds_are_decided() {
    let text = kernel(
        "scf.for %i = %c0 to %n step %c1 {
        %q = arith.remui %i, %c2 : index
        %odd = arith.cmpi eq, %q, %c1 : index
        %s = arith.select %odd, %a, %b : !v
        load s @0 c0
        %m = pto.load_scalar %g2[%i] : !pto.ptr<i64> -> i64
        %most = arith.index_cast %m : i64 to index
        scf.for %j = %c0 to %most step %c1 {
        pto.tadd ins(%s, %s : !v, !v) outs(%c : !v)
        }
        }",
    )
    .replace("%n: index", "%g2: !pto.ptr<i64>, %n: index");
    for profile in [Profile::A5, Profile::A2a3] {
        assert_eq!(verdict(&text, profile), Verdict::Races, "{profile}");
        assert!(edges(&text, profile) > 1, "{profile}");
    }
}

/// Two nested loops of the same bounds, whose accesses of global memory meet late and are ordered early.
#[test]
fn accesses_that_are_ordered_need_not_be_run_until_they_meet() {
    let text = kernel(
        "scf.for %i = %c0 to %n step %c1 {
        scf.for %j = %c0 to %n step %c1 {
        %at = arith.muli %j, %c32 : index
        pto.store_scalar %f, %g1[%at] : !pto.ptr<f32>, f32
        }
        %next = arith.addi %i, %c1 : index
        %row = arith.muli %next, %c8 : index
        store a @1 row
        }",
    );
    for profile in [Profile::A5, Profile::A2a3] {
        assert!(edges(&text, profile) > 0, "{profile}");
    }
}
