//! Cores that run together: FIFOs in both directions, splits, tokens, and what goes wrong between them
//! (isa/structure.md 4 to 6, sync.md 5).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use tessera::equiv::{Answer, equiv};
use tessera::program::{Bindings, Outcome};
use tessera::trace::{Given, Target, back};
use tessera::{OrderOptions, Profile, Program, Result, Verdict};

/// Tiles of 16 x 16 go from the vector cores to the cube core, through a product with the identity, and back.
fn round_trip(split: u8, rounds: usize) -> String {
    let [rows, cols] = [[16, 16], [8, 16], [16, 8]][usize::from(split)];
    let [down, right] = [[0, 0], [8, 0], [0, 8]][usize::from(split)];
    format!(
        r#"
!mat = !pto.tile_buf<loc=mat, dtype=f32, rows=16, cols=16>
!left = !pto.tile_buf<loc=left, dtype=f32, rows=16, cols=16>
!right = !pto.tile_buf<loc=right, dtype=f32, rows=16, cols=16>
!acc = !pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16>
!half = !pto.tile_buf<vec, {rows}x{cols}xf32>
func.func @cube(%eye: !pto.ptr<f32>, %gm: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = arith.constant {rounds} : index
  %v = pto.import_reserved_buffer {{name = "c2v", peer_func = @vec}} -> i32
  %m = pto.reserve_buffer {{name = "v2c", size = 4096, location = #pto.address_space<mat>, auto = true}} -> i32
  pto.aic_initialize_pipe {{dir_mask = 3, slot_size = 1024}} (gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %v : i32, v2c_consumer_buf = %m : i32)
  %view = pto.make_tensor_view %eye, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
  %em = pto.alloc_tile : !mat
  %e = pto.alloc_tile : !right
  %a = pto.alloc_tile : !left
  %c = pto.alloc_tile : !acc
  pto.tload ins(%view : !pto.tensor_view<16x16xf32>) outs(%em : !mat)
  pto.tmov ins(%em : !mat) outs(%e : !right)
  scf.for %i = %c0 to %n step %c1 {{
    %t = pto.tpop_from_aiv {{split = {split}}} -> !mat
    pto.tmov ins(%t : !mat) outs(%a : !left)
    pto.tfree_from_aiv {{split = {split}}}
    pto.tmatmul ins(%a, %e : !left, !right) outs(%c : !acc)
    pto.tpush_to_aiv(%c : !acc) {{split = {split}}}
  }}
  return
}}
func.func @vec(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %gm: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %down = arith.constant {down} : index
  %right = arith.constant {right} : index
  %rows = arith.constant {rows} : index
  %cols = arith.constant {cols} : index
  %n = arith.constant {rounds} : index
  %all = arith.muli %n, %c16 : index
  %v = pto.reserve_buffer {{name = "c2v", size = 4096, location = #pto.address_space<vec>, auto = true}} -> i32
  %m = pto.import_reserved_buffer {{name = "v2c", peer_func = @cube}} -> i32
  pto.aiv_initialize_pipe {{dir_mask = 3, slot_size = 1024}} (gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %v : i32, v2c_consumer_buf = %m : i32)
  %index = pto.get_subblock_idx
  %sub = arith.index_cast %index : i64 to index
  %row = arith.muli %sub, %down : index
  %col = arith.muli %sub, %right : index
  %vx = pto.make_tensor_view %x, shape = [%all, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %vy = pto.make_tensor_view %y, shape = [%all, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %in = pto.alloc_tile : !half
  %out = pto.alloc_tile : !half
  scf.for %i = %c0 to %n step %c1 {{
    %base = arith.muli %i, %c16 : index
    %r = arith.addi %base, %row : index
    %px = pto.partition_view %vx, offsets = [%r, %col], sizes = [%rows, %cols] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{rows}x{cols}xf32>
    pto.tload ins(%px : !pto.partition_tensor_view<{rows}x{cols}xf32>) outs(%in : !half)
    pto.tpush_to_aic(%in : !half) {{split = {split}}}
    %t = pto.tpop_from_aic {{split = {split}}} -> !half
    pto.tadd ins(%t, %t : !half, !half) outs(%out : !half)
    pto.tfree_from_aic {{split = {split}}}
    %py = pto.partition_view %vy, offsets = [%r, %col], sizes = [%rows, %cols] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{rows}x{cols}xf32>
    pto.tstore ins(%out : !half) outs(%py : !pto.partition_tensor_view<{rows}x{cols}xf32>)
  }}
  return
}}
"#
    )
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i % 251) as f32 - 100.0).collect()
}

fn eye() -> Vec<f32> {
    (0..256).map(|n| f32::from(u8::from(n % 17 == 0))).collect()
}

fn run(text: &str, profile: Profile, rounds: usize) -> Result<Vec<f32>> {
    let program = Program::read(text, Some(profile));
    let found = program.check();
    assert!(found.is_empty(), "{profile}: {found:#?}");
    let outputs = program
        .entry()?
        .input("eye", &eye())?
        .input("x", &numbers(rounds * 256))?
        .input("gm", &vec![0f32; 2048])?
        .output("y")?
        .run()?;
    outputs.get::<f32>("y")
}

#[test]
fn tiles_go_both_ways_in_every_split_on_every_profile() -> Result<()> {
    for profile in Profile::ALL {
        for split in 0..3 {
            // More rounds than slots, so that every slot is used again.
            let got = run(&round_trip(split, 11), profile, 11)?;
            let want: Vec<f32> = numbers(11 * 256).into_iter().map(|v| 2.0 * v).collect();
            assert_eq!(got, want, "{profile}, split {split}");
        }
    }
    Ok(())
}

#[test]
fn named_functions_and_sections_are_the_same_kernel() -> Result<()> {
    let text = round_trip(1, 3);
    let named = Program::read_entry(&text, Some(Profile::A5), Some("cube,vec"));
    let kernel = named.kernel("cube,vec")?;
    let outputs = kernel.input("eye", &eye())?.input("x", &numbers(768))?.output("y")?.run()?;
    assert_eq!(outputs.get::<f32>("y")?, run(&text, Profile::A5, 3)?);
    Ok(())
}

#[test]
fn flags_are_inserted_on_every_core_and_change_no_bit() -> Result<()> {
    for profile in Profile::ALL {
        for split in 0..3 {
            let text = round_trip(split, 11);
            let synced = Program::read(&text, Some(profile)).entry()?.synced()?;
            // Both functions stay functions, and both have flags.
            let parts: Vec<&str> = synced.text.split("func.func").collect();
            assert_eq!(parts.len(), 3, "{}", synced.text);
            assert!(
                parts[1..].iter().all(|part| part.contains("set_flag") && part.contains("return")),
                "{}",
                synced.text
            );
            let report = Program::read(&synced.text, Some(profile)).entry()?.order(&OrderOptions::default())?;
            assert_eq!(report.verdict, Verdict::RaceFree, "{profile}: {:#?}\n{}", report.diagnostics, synced.text);
            assert_eq!(run(&synced.text, profile, 11)?, run(&text, profile, 11)?);
        }
    }
    Ok(())
}

#[test]
fn functions_that_cannot_run_together_are_refused() {
    let text = round_trip(1, 1);
    let refused = |entry: &str| Program::read(&text, Some(Profile::A5)).kernel(entry).unwrap_err().to_string();
    assert!(refused("vec,vec").contains("@vec and @vec are both for the vector core"), "{}", refused("vec,vec"));
    assert!(refused("cube,other").contains("no function @other"), "{}", refused("cube,other"));
    let text = "func.func @a() {\n  return\n}\nfunc.func @b() {\n  return\n}\n";
    let error = Program::read(text, None).kernel("a,b").unwrap_err();
    assert_eq!(error.rule(), "entry");
}

/// Two functions with a C2V FIFO of eight slots, and what they do.
fn two(cube: &str, vec: &str) -> String {
    format!(
        r#"!acc = !pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16>
!half = !pto.tile_buf<vec, 8x16xf32>
func.func @mix(%gm: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %b = pto.import_reserved_buffer {{name = "c2v", peer_func = @vec}} -> i32
  pto.aic_initialize_pipe {{dir_mask = 1, slot_size = 1024}} (gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %b : i32)
  %a = pto.alloc_tile : !acc
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 9 : index
{cube}
  return
}}
func.func @vec(%gm: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %b = pto.reserve_buffer {{name = "c2v", size = 8192, location = #pto.address_space<vec>, auto = true}} -> i32
  pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 1024}} (gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %b : i32)
  %o = pto.alloc_tile : !half
{vec}
  return
}}
"#
    )
}

fn outcome(text: &str, profile: Profile) -> Outcome {
    Program::read(text, Some(profile)).entry().unwrap().execute(Bindings::default())
}

fn rules(outcome: &Outcome) -> Vec<&str> {
    outcome.diagnostics.iter().map(|d| d.rule).filter(|rule| !rule.starts_with("undefined-")).collect()
}

const PUSH: &str = "  pto.tpush_to_aiv(%a : !acc) {split = 1}\n";
const POP: &str = "  %t = pto.tpop_from_aic {split = 1} -> !half\n";
const FREE: &str = "  pto.tfree_from_aic {split = 1}\n";
const USE: &str = "  pto.tadd ins(%t, %t : !half, !half) outs(%o : !half)\n";
const PUSH_NINE: &str = "  scf.for %i = %c0 to %n step %c1 {\n    pto.tpush_to_aiv(%a : !acc) {split = 1}\n  }\n";

#[test]
fn a_deadlock_names_who_waits_for_what() {
    let text = two(PUSH_NINE, &format!("{POP}{USE}"));
    let found = outcome(&text, Profile::A5).diagnostics;
    let deadlock = found.iter().find(|d| d.rule == "deadlock").unwrap();
    assert_eq!(
        deadlock.message,
        "C waits in tpush_to_aiv at 11:5: the C2V FIFO of @vec is full, 8 of 8 slots, V0 has freed 0, V1 has freed 0; \
         V0 has ended; V1 has ended"
    );
    let text = two("", POP);
    let found = outcome(&text, Profile::A5).diagnostics;
    let deadlock = found.iter().find(|d| d.rule == "deadlock").unwrap();
    assert_eq!(
        deadlock.message,
        "C has ended; V0 waits in tpop_from_aic at 17:3: the C2V FIFO of @vec is empty, 0 of 8 slots, C has pushed 0; \
         V1 waits in tpop_from_aic at 17:3: the C2V FIFO of @vec is empty, 0 of 8 slots, C has pushed 0"
    );
}

#[test]
fn a_pop_frees_the_slot_on_a2a3_only() {
    let pops = POP.replace("%t", "%first") + POP;
    let text = two(PUSH_NINE, &pops);
    assert_eq!(rules(&outcome(&text, Profile::A2a3)), ["fifo-leak"]);
    assert_eq!(rules(&outcome(&text, Profile::A5)), ["deadlock"]);
}

#[test]
fn what_is_left_in_a_fifo_is_a_warning() {
    let twice = format!("{PUSH}{PUSH}");
    assert_eq!(rules(&outcome(&two(&twice, &format!("{POP}{FREE}")), Profile::A5)), ["fifo-leak"]);
    assert_eq!(rules(&outcome(&two(PUSH, POP), Profile::A5)), ["fifo-unfreed"]);
    assert_eq!(rules(&outcome(&two(PUSH, POP), Profile::Cpu)), [""; 0]);
    assert_eq!(rules(&outcome(&two(PUSH, &format!("{POP}{USE}{FREE}")), Profile::A5)), [""; 0]);
}

#[test]
fn a_popped_tile_ends_where_its_slot_is_freed() {
    let late = format!("{POP}{FREE}{USE}");
    for profile in [Profile::Cpu, Profile::A5] {
        assert_eq!(rules(&outcome(&two(PUSH, &late), profile)), ["fifo-use-after-free"]);
    }
    assert_eq!(rules(&outcome(&two(PUSH, &late), Profile::A2a3)), [""; 0]);
    let view = "  %c0 = arith.constant 0 : index\n  %s = pto.subset %t[%c0, %c0] sizes [4, 16] : !half\n";
    let used = "  %p = pto.alloc_tile : !pto.tile_buf<vec, 4x16xf32>\n  pto.tadd ins(%s, %s : !pto.tile_buf<vec, 4x16xf32>, \
                !pto.tile_buf<vec, 4x16xf32>) outs(%p : !pto.tile_buf<vec, 4x16xf32>)\n";
    let late = format!("{POP}{view}{FREE}{used}");
    assert_eq!(rules(&outcome(&two(PUSH, &late), Profile::A5)), ["fifo-use-after-free"]);
    let again = format!("{POP}{FREE}{FREE}");
    assert_eq!(rules(&outcome(&two(PUSH, &again), Profile::A5)), ["fifo-free"]);
}

#[test]
fn tokens_order_cores_and_a_missing_one_is_a_deadlock() {
    let kernel = |set: &str, wait: &str| {
        format!(
            "func.func @k(%p: !pto.ptr<f32>) {{\n  pto.section.cube {{\n    {set}\n  }}\n  pto.section.vector {{\n    {wait}\n  \
             }}\n  return\n}}\n"
        )
    };
    let set = "pto.sync.set <PIPE_FIX>, 3\n    pto.sync.set <PIPE_FIX>, 19";
    let wait = "pto.sync.wait <PIPE_V>, 3";
    let one = "pto.sync.set <PIPE_FIX>, 3";
    for profile in [Profile::Cpu, Profile::A5] {
        assert_eq!(rules(&outcome(&kernel(set, wait), profile)), [""; 0]);
        assert_eq!(rules(&outcome(&kernel(one, wait), profile)), ["deadlock"]);
        // One for V0, and one for V1.
        assert_eq!(rules(&outcome(&kernel(set, ""), profile)), ["flag-leak"; 2]);
    }
    // On a2a3 one set is for both vector cores, and ids end at 15.
    assert_eq!(rules(&outcome(&kernel(one, wait), Profile::A2a3)), [""; 0]);
    assert_eq!(rules(&outcome(&kernel(set, wait), Profile::A2a3)), ["flag-id-range"]);
    let back = kernel("pto.sync.wait <PIPE_MTE2>, 5\n    pto.sync.wait <PIPE_MTE2>, 21", "pto.sync.set <PIPE_MTE3>, 5");
    assert_eq!(rules(&outcome(&back, Profile::A5)), [""; 0]);
    let back = kernel("pto.sync.wait <PIPE_MTE2>, 5", "pto.sync.set <PIPE_MTE3>, 5");
    assert_eq!(rules(&outcome(&back, Profile::A2a3)), [""; 0]);
    let many = ["pto.sync.set <PIPE_FIX>, 3"; 16].join("\n    ");
    assert_eq!(rules(&outcome(&kernel(&many, ""), Profile::A5)), ["sync-overflow"]);
    let meet = "pto.sync.set <PIPE_MTE3>, 7 {ffts_mode = 1}\n    pto.sync.wait <PIPE_MTE2>, 7";
    assert_eq!(rules(&outcome(&kernel("", meet), Profile::A2a3)), [""; 0]);
}

#[test]
fn a_core_moves_into_a_tile_of_another() -> Result<()> {
    let text = r#"
!acc = !pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16>
!v = !pto.tile_buf<vec, 16x16xf32>
func.func @k(%a: !acc, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %t = pto.alloc_tile : !v
  pto.section.vector {
    %index = pto.get_subblock_idx
    %sub = arith.index_cast %index : i64 to index
    %count = pto.get_subblock_num
    %o = pto.alloc_tile : !v
    pto.sync.wait <PIPE_V>, 1
    pto.tadd ins(%t, %t : !v, !v) outs(%o : !v)
    %row = arith.muli %sub, %c16 : index
    %view = pto.make_tensor_view %y, shape = [%c32, %c16], strides = [%c16, %c1] : !pto.tensor_view<32x16xf32>
    %part = pto.partition_view %view, offsets = [%row, %c0], sizes = [%c16, %c16] : !pto.tensor_view<32x16xf32> -> !pto.partition_tensor_view<16x16xf32>
    pto.tstore ins(%o : !v) outs(%part : !pto.partition_tensor_view<16x16xf32>)
  }
  pto.section.cube {
    pto.tmov ins(%a : !acc) outs(%t : !v)
    pto.tmov ins(%a : !acc) outs(%t : !v) {accToVecMode = #pto.acc_to_vec_mode<single_mode_vec1>}
    pto.sync.set <PIPE_FIX>, 1
    pto.sync.set <PIPE_FIX>, 17
  }
  return
}
"#;
    let x = numbers(256);
    let outputs = Program::read(text, Some(Profile::A5)).entry()?.input("a", &x)?.output("y")?.run()?;
    let want: Vec<f32> = x.iter().chain(&x).map(|v| 2.0 * v).collect();
    assert_eq!(outputs.get::<f32>("y")?, want);
    Ok(())
}

#[test]
fn blocks_of_cores_do_not_meet() -> Result<()> {
    let program = Program::read(round_trip(1, 5), Some(Profile::A5));
    let outputs = program.entry()?.input("eye", &eye())?.input("x", &numbers(1280))?.output("y")?.blocks(3).run()?;
    assert_eq!(outputs.get::<f32>("y")?, run(&round_trip(1, 5), Profile::A5, 5)?);
    Ok(())
}

/// Every block writes its number, meets the others, and adds up what all wrote.
fn meeting(head: &str, meet: &str) -> String {
    format!(
        "func.func @k(%y: !pto.ptr<i64>, %z: !pto.ptr<i64>) {head} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %b = pto.get_block_idx
  %n = pto.get_block_num
  %at = arith.index_cast %b : i64 to index
  %blocks = arith.index_cast %n : i64 to index
  %first = arith.cmpi eq, %b, %zero : i64
  %next = arith.addi %b, %n : i64
  pto.store_scalar %next, %y[%at] : !pto.ptr<i64>, i64
  {meet}
  %sum = scf.for %i = %c0 to %blocks step %c1 iter_args(%s = %zero) -> (i64) {{
    %e = pto.load_scalar %y[%i] : !pto.ptr<i64> -> i64
    %t = arith.addi %s, %e : i64
    scf.yield %t : i64
  }}
  pto.store_scalar %sum, %z[%at] : !pto.ptr<i64>, i64
  return
}}
"
    )
}

const MEET: &str = "pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 0}\n  pto.sync.wait <PIPE_MTE2>, 3";

#[test]
fn where_blocks_meet_all_see_what_all_wrote() -> Result<()> {
    let vector = "attributes {pto.kernel_kind = #pto.kernel_kind<vector>}";
    for head in ["", vector, &vector.replace("vector", "cube")] {
        let program = Program::read(meeting(head, MEET), Some(Profile::A2a3));
        let outputs = program.entry()?.input("y", &[0i64; 4])?.output("z")?.blocks(4).run()?;
        assert_eq!(outputs.get::<i64>("z")?, [4 + 5 + 6 + 7; 4], "{head}");
        let alone = program.entry()?.input("y", &[0i64; 1])?.output("z")?.run()?;
        assert_eq!(alone.get::<i64>("z")?, [1]);
        // Without the meeting a block sees what was there at the start, and its own writes.
        let apart = Program::read(meeting(head, ""), Some(Profile::A2a3));
        let outputs = apart.entry()?.input("y", &[0i64; 4])?.output("z")?.blocks(4).run()?;
        assert_eq!(outputs.get::<i64>("z")?, [4, 5, 6, 7], "{head}");
    }
    Ok(())
}

#[test]
fn a_block_that_does_not_come_to_a_meeting_is_waited_for_in_vain() {
    let vector = "attributes {pto.kernel_kind = #pto.kernel_kind<vector>}";
    let meet = format!("scf.if %first {{\n  {MEET}\n  }}");
    let program = Program::read(meeting(vector, &meet), Some(Profile::A2a3));
    let error = program.entry().unwrap().input("y", &[0i64; 3]).unwrap().blocks(3).run().unwrap_err();
    let said = "V0 waits in sync.wait at 14:3: not all cores of its kind have come to the meeting with id 3";
    assert_eq!((error.rule(), error.message()), ("deadlock", said));
    assert_eq!(error.diagnostic().notes, ["in block 0 of 3"]);
}

#[test]
fn an_element_is_followed_from_core_to_core() -> Result<()> {
    for profile in Profile::ALL {
        let program = Program::read(round_trip(1, 2), Some(profile));
        let kernel = program.entry()?;
        let way = back(&kernel, &Given::default(), &Target::parse("y[300]")?, false)?;
        let ops: Vec<&str> = way.hops.iter().filter_map(|hop| Some(kernel.func().op(hop.op?).kind.name())).collect();
        assert_eq!(ops[..4], ["tstore", "tadd", "tpop_from_aic", "tpush_to_aiv"], "{profile}");
        assert!(ops.contains(&"tpop_from_aiv") && ops.contains(&"tpush_to_aic"), "{profile}: {ops:?}");
        // Each half is in the round in which its own core is.
        assert!(
            way.hops.iter().filter(|hop| hop.op.is_some()).all(|hop| hop.loops.iter().all(|(_, i)| *i == 1)),
            "{way:?}"
        );
    }
    Ok(())
}

#[test]
fn the_ways_to_split_are_proved_equal() -> Result<()> {
    let kernel = |split: u8, profile| Program::read(round_trip(split, 2), Some(profile)).entry();
    for profile in Profile::ALL {
        let rows = kernel(1, profile)?;
        let given = Given::default();
        let equal =
            |other| Ok::<bool, tessera::Error>(matches!(equiv(&rows, &other, &given, &["y".into()]), Answer::Equal(_)));
        assert!(equal(kernel(2, profile)?)? && equal(kernel(0, profile)?)?, "{profile}");
        let other = round_trip(1, 2).replace("pto.tadd ins(%t, %t", "pto.tadd ins(%t, %in");
        assert!(!equal(Program::read(other, Some(profile)).entry()?)?, "{profile}");
    }
    Ok(())
}

/// Two functions for each core in one: a tile that is allocated outside of sections, in a loop.
#[test]
fn a_tile_outside_of_sections_is_each_cores_own() -> Result<()> {
    let text = r#"
!acc = !pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16>
!half = !pto.tile_buf<vec, 8x16xf32>
func.func @k(%a: !acc, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %n = arith.constant 20 : index
  %all = arith.constant 320 : index
  %slots = pto.reserve_buffer {name = "s", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.section.cube {
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %slots : i32)
    pto.tpush_to_aiv(%a : !acc) {split = 1}
  }
  pto.section.vector {
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %slots : i32)
    %first = pto.tpop_from_aic {split = 1} -> !half
    pto.tfree_from_aic {split = 1}
  }
  scf.for %i = %c0 to %n step %c1 {
    %t = pto.alloc_tile : !half
    pto.section.cube {
      pto.tpush_to_aiv(%a : !acc) {split = 1}
      pto.tpush_to_aiv(%a : !acc) {split = 1}
    }
    pto.section.vector {
      %p = pto.tpop_from_aic {split = 1} -> !half
      pto.tadd ins(%p, %p : !half, !half) outs(%t : !half)
      pto.tfree_from_aic {split = 1}
      %q = pto.tpop_from_aic {split = 1} -> !half
      %o = pto.alloc_tile : !half
      pto.tadd ins(%t, %q : !half, !half) outs(%o : !half)
      pto.tfree_from_aic {split = 1}
      %index = pto.get_subblock_idx
      %sub = arith.index_cast %index : i64 to index
      %down = arith.muli %sub, %c8 : index
      %base = arith.muli %i, %c16 : index
      %row = arith.addi %base, %down : index
      %v = pto.make_tensor_view %y, shape = [%all, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
      %w = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x16xf32>
      pto.tstore ins(%o : !half) outs(%w : !pto.partition_tensor_view<8x16xf32>)
    }
  }
  return
}
"#;
    for profile in [Profile::Cpu, Profile::A5] {
        let outcome = Program::read(text, Some(profile)).entry()?.input("a", &numbers(256))?.output("y")?.run()?;
        let want: Vec<f32> = (0..20).flat_map(|_| numbers(256)).map(|v| 3.0 * v).collect();
        assert_eq!(outcome.get::<f32>("y")?, want, "{profile}");
    }
    Ok(())
}
