//! Whole programs: control flow, views, global memory, blocks, and what a run reports.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod programs {
    mod atomics;
    mod blocks;
    mod chains;
    mod maker;
    mod overlays;
    mod products;
    pub mod support;
}

use programs::support::{Program, f32s, rules, u32s};
use tessera_isa::codec::Number;
use tessera_isa::profile::Profile;

/// A kernel that loads %a from p, does something, and stores %out (16x16 f32) to q.
fn kernel(body: &str) -> String {
    format!(
        "func.func @kernel(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {{
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %c2 = arith.constant 2 : index
            %c3 = arith.constant 3 : index
            %c8 = arith.constant 8 : index
            %c16 = arith.constant 16 : index
            %v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
            %w = pto.make_tensor_view %q, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
            %a = pto.alloc_tile : !pto.tile<16x16xf32>
            pto.tload ins(%v : !pto.tensor_view<?x?xf32>) outs(%a : !pto.tile<16x16xf32>)
            {body}
            pto.tstore ins(%out : !pto.tile<16x16xf32>) outs(%w : !pto.tensor_view<?x?xf32>)
            return
        }}"
    )
}

fn counting(n: u32) -> Vec<u8> {
    (0..n).flat_map(|v| (v as f32).to_le_bytes()).collect()
}

fn transposed(n: usize, bytes: &[u8]) -> Vec<f32> {
    let values = f32s(bytes);
    (0..n * n).map(|k| values[k % n * n + k / n]).collect()
}

#[test]
fn a_carried_tile_is_another_one_every_time() {
    for times in 0..4 {
        let text = kernel(&format!(
            "%n = arith.constant {times} : index
             %out = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (!pto.tile<16x16xf32>) {{
                 %x = pto.ttrans %t : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>
                 scf.yield %x : !pto.tile<16x16xf32>
             }}"
        ));
        for profile in Profile::ALL {
            let outcome = Program::new(&text, profile).buffer("p", &counting(256)).run();
            let expected = if times % 2 == 0 { f32s(&counting(256)) } else { transposed(16, &counting(256)) };
            assert_eq!(f32s(outcome.buffer("q")), expected, "{times} times on {profile}");
            assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
        }
    }
}

#[test]
fn carried_tiles_may_change_places() {
    let text = kernel(
        "%b = pto.ttrans %a : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>
         %out, %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %a, %t = %b)
                    -> (!pto.tile<16x16xf32>, !pto.tile<16x16xf32>) {
             scf.yield %t, %s : !pto.tile<16x16xf32>, !pto.tile<16x16xf32>
         }",
    );
    let outcome = Program::new(&text, Profile::A5).buffer("p", &counting(256)).run();
    assert_eq!(f32s(outcome.buffer("q")), transposed(16, &counting(256)));
}

#[test]
fn tiles_go_through_while_and_if() {
    // Three rounds of a transpose that is chosen by a branch, inside a loop that does nothing else.
    let text = kernel(
        "%k, %out = scf.while (%n = %c0, %t = %a) : (index, !pto.tile<16x16xf32>) -> (index, !pto.tile<16x16xf32>) {
             %more = arith.cmpi slt, %n, %c3 : index
             scf.condition(%more) %n, %t : index, !pto.tile<16x16xf32>
         } do {
         ^bb0(%n: index, %t: !pto.tile<16x16xf32>):
             %x = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %t) -> (!pto.tile<16x16xf32>) {
                 %first = arith.cmpi eq, %i, %c0 : index
                 %y = scf.if %first -> (!pto.tile<16x16xf32>) {
                     %z = pto.ttrans %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>
                     scf.yield %z : !pto.tile<16x16xf32>
                 } else {
                     scf.yield %s : !pto.tile<16x16xf32>
                 }
                 scf.yield %y : !pto.tile<16x16xf32>
             }
             %m = arith.addi %n, %c1 : index
             scf.yield %m, %x : index, !pto.tile<16x16xf32>
         }",
    );
    for profile in Profile::ALL {
        let outcome = Program::new(&text, profile).buffer("p", &counting(256)).run();
        assert_eq!(f32s(outcome.buffer("q")), transposed(16, &counting(256)), "{profile}");
        assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
    }
}

#[test]
fn a_tile_that_begins_in_a_loop_begins_undefined() {
    let text = kernel(
        "%out = pto.alloc_tile : !pto.tile<16x16xf32>
         scf.for %i = %c0 to %c2 step %c1 {
             %t = pto.alloc_tile : !pto.tile<16x16xf32>
             %first = arith.cmpi eq, %i, %c0 : index
             scf.if %first {
                 pto.tmov ins(%a : !pto.tile<16x16xf32>) outs(%t : !pto.tile<16x16xf32>)
             }
             pto.tmov ins(%t : !pto.tile<16x16xf32>) outs(%out : !pto.tile<16x16xf32>)
         }",
    );
    let outcome = Program::new(&text, Profile::Cpu).buffer("p", &counting(256)).run();
    assert_eq!(rules(&outcome.diagnostics), ["undefined-read"]);
    assert_eq!(f32s(outcome.buffer("q")), [0.0; 256]);
}

#[test]
fn while_and_if_decide_as_they_should() {
    let text = kernel(
        "%out = pto.alloc_tile : !pto.tile<16x16xf32>
         %n = scf.while (%k = %c0) : (index) -> index {
             %more = arith.cmpi slt, %k, %c3 : index
             scf.condition(%more) %k : index
         } do {
         ^bb0(%k: index):
             %m = arith.addi %k, %c1 : index
             scf.yield %m : index
         }
         %three = arith.cmpi eq, %n, %c3 : index
         scf.if %three {
             pto.ttrans ins(%a : !pto.tile<16x16xf32>) outs(%out : !pto.tile<16x16xf32>)
         } else {
             pto.tmov ins(%a : !pto.tile<16x16xf32>) outs(%out : !pto.tile<16x16xf32>)
         }",
    );
    let outcome = Program::new(&text, Profile::Cpu).buffer("p", &counting(256)).run();
    assert_eq!(f32s(outcome.buffer("q")), transposed(16, &counting(256)));
}

#[test]
fn reshape_copies_on_cpu_and_binds_on_hardware() {
    let text = kernel(
        "%out = pto.alloc_tile : !pto.tile<16x16xf32>
         pto.treshape ins(%a : !pto.tile<16x16xf32>) outs(%out : !pto.tile<16x16xf32>)
         %z = pto.alloc_tile : !pto.tile<16x16xf32, valid=16x16>
         pto.ttrans ins(%a : !pto.tile<16x16xf32>) outs(%z : !pto.tile<16x16xf32>)
         pto.tmov ins(%z : !pto.tile<16x16xf32>) outs(%a : !pto.tile<16x16xf32>)",
    )
    .replace(", valid=16x16", "");
    let on = |profile| Program::new(&text, profile).buffer("p", &counting(256)).run();
    assert_eq!(f32s(on(Profile::Cpu).buffer("q")), f32s(&counting(256)));
    for profile in [Profile::A2a3, Profile::A5] {
        assert_eq!(f32s(on(profile).buffer("q")), transposed(16, &counting(256)), "{profile}");
    }
}

#[test]
fn a_view_keeps_its_pitch() {
    let text = kernel(
        "%out = pto.alloc_tile : !pto.tile<16x16xf32>
         %s = pto.subset %a[%c8, %c8] sizes [8, 8] : !pto.tile<16x16xf32>
         pto.tinsert ins(%s, %c0, %c0 : !pto.tile<8x8xf32>, index, index) outs(%out : !pto.tile<16x16xf32>)",
    );
    let outcome = Program::new(&text, Profile::Cpu).buffer("p", &counting(256)).run();
    let got = f32s(outcome.buffer("q"));
    assert_eq!(&got[..8], [136.0, 137.0, 138.0, 139.0, 140.0, 141.0, 142.0, 143.0]);
    assert_eq!(got[16], 152.0);
    assert_eq!(got[8], 0.0);
    assert_eq!(rules(&outcome.diagnostics), ["undefined-read"]);
}

#[test]
fn undefined_bytes_say_where_they_come_from() {
    // On a2a3 a move of 13 columns writes two whole blocks of each row.
    let text = kernel(
        "%x = pto.alloc_tile : !pto.tile<vec, 16x16xf32, valid=16x13>
         %y = pto.alloc_tile : !pto.tile<vec, 16x16xf32, valid=16x13>
         %part = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c13] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x13xf32>
         pto.tload ins(%part : !pto.partition_tensor_view<16x13xf32>) outs(%x : !pto.tile<vec, 16x16xf32, valid=16x13>)
         pto.tmov ins(%x : !pto.tile<vec, 16x16xf32, valid=16x13>) outs(%y : !pto.tile<vec, 16x16xf32, valid=16x13>)
         %out = pto.alloc_tile : !pto.tile<16x16xf32>
         pto.treshape ins(%y : !pto.tile<vec, 16x16xf32, valid=16x13>) outs(%out : !pto.tile<16x16xf32>)",
    )
    .replace("%c8 =", "%c13 = arith.constant 13 : index\n%c8 =");
    let outcome = Program::new(&text, Profile::A2a3).buffer("p", &counting(256)).run();
    let d = outcome.diagnostics.iter().find(|d| d.rule == "undefined-read").unwrap();
    assert!(d.message.contains("%out(0, 13)"), "{}", d.message);
    assert!(d.secondary[0].text.contains("footprint"), "{:?}", d.secondary);
    let got = f32s(outcome.buffer("q"));
    assert_eq!((got[12], got[13], got[16]), (12.0, 0.0, 16.0));
}

#[test]
fn pointers_scalars_and_buffers_without_a_file() {
    let text = "func.func @kernel(%p: !pto.ptr<i32>, %q: !pto.ptr<i32>, %n: i32) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        %p2 = pto.addptr %p, %c1 : !pto.ptr<i32> -> !pto.ptr<i32>
        scf.for %i = %c0 to %c4 step %c1 {
            %x = pto.load_scalar %p2[%i] : !pto.ptr<i32> -> i32
            %y = arith.muli %x, %n : i32
            pto.store_scalar %y, %q[%i] : !pto.ptr<i32>, i32
        }
        return
    }";
    let input: Vec<u8> = [7u32, 1, 2, 0x4000_0000, 5].iter().flat_map(|v| v.to_le_bytes()).collect();
    let outcome = Program::new(text, Profile::Cpu).buffer("p", &input).scalar("n", Number::Int(4)).output("q").run();
    assert_eq!(u32s(outcome.buffer("q")), [4, 8, 0, 20]);
    assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
    let unbound = Program::new(text, Profile::Cpu).buffer("p", &input).run();
    assert_eq!(rules(&unbound.diagnostics), ["binding"]);
    let short = Program::new(text, Profile::Cpu).buffer("p", &input[..8]).scalar("n", Number::Int(4)).run();
    assert_eq!(rules(&short.diagnostics), ["gm-bounds"]);
    assert!(short.diagnostics[0].notes.contains(&"%i = 1".to_string()), "{:?}", short.diagnostics[0].notes);
    assert!(short.buffers.is_empty());
}

#[test]
fn a_value_that_was_never_written_decides_nothing() {
    let text = "func.func @kernel(%p: !pto.ptr<i32>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %v = arith.constant 5 : i32
        pto.store_scalar %v, %p[%c1] : !pto.ptr<i32>, i32
        %x = pto.load_scalar %p[%c0] : !pto.ptr<i32> -> i32
        return
    }";
    let outcome = Program::new(text, Profile::Cpu).run();
    assert_eq!(rules(&outcome.diagnostics), ["undefined-use"]);
}

#[test]
fn what_cannot_go_on_stops_with_its_rule() {
    let cases = [
        ("%x = arith.divsi %c1, %c0 : index", "arith"),
        ("%x = pto.alloc_tile valid_row = %big : !pto.tile<vec, 16x16xf32, valid=?x16>", "valid-range"),
        (
            "%x = pto.alloc_tile : !pto.tile<vec, 16x16xf32, valid=?x16>
             pto.tmov ins(%x : !pto.tile<vec, 16x16xf32, valid=?x16>) outs(%out : !pto.tile<16x16xf32>)",
            "valid-unset",
        ),
        ("%x = pto.alloc_tile addr = %odd : !pto.tile<16x16xf32>", "tassign-align"),
        (
            "%x = pto.alloc_tile addr = %far : !pto.tile<16x16xf32>
             pto.tmov ins(%a : !pto.tile<16x16xf32>) outs(%x : !pto.tile<16x16xf32>)",
            "memory-limit",
        ),
        (
            "%s = pto.partition_view %v, offsets = [%c8, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>",
            "gm-bounds",
        ),
        (
            "pto.tput ins(%a, %a : !pto.tile<16x16xf32>, !pto.tile<16x16xf32>) outs(%out : !pto.tile<16x16xf32>)",
            "not-executable",
        ),
        ("scf.for %i = %c0 to %c1 step %c0 {\n scf.yield \n}", "loop"),
    ];
    for (body, rule) in cases {
        let text = kernel(&format!(
            "%out = pto.ttrans %a : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>
             %big = arith.constant 17 : index
             %odd = arith.constant 33 : index
             %far = arith.constant 0x100000000 : index
             {body}"
        ));
        let outcome = Program::new(&text, Profile::Cpu).buffer("p", &counting(256)).run();
        assert_eq!(rules(&outcome.diagnostics), [rule], "{body}");
        assert!(outcome.diagnostics[0].span.is_some() && outcome.buffers.is_empty(), "{body}");
    }
}

/// Block i adds nothing, but writes its number to row i of q, and to row 0.
const BLOCKS: &str = "func.func @kernel(%p: !pto.ptr<i32>, %q: !pto.ptr<i32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %i64 = pto.get_block_idx
    %i = arith.index_cast %i64 : i64 to index
    %n = pto.get_block_num
    %row = arith.muli %i, %c8 : index
    %v = pto.make_tensor_view %p, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xi32>
    %at = pto.addptr %q, %row : !pto.ptr<i32> -> !pto.ptr<i32>
    %w = pto.make_tensor_view %at, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xi32>
    %t = pto.alloc_tile : !pto.tile<1x8xi32>
    %old = pto.load_scalar %q[%c0] : !pto.ptr<i32> -> i32
    pto.tload ins(%v : !pto.tensor_view<?x?xi32>) outs(%t : !pto.tile<1x8xi32>)
    pto.tstore ins(%t : !pto.tile<1x8xi32>) outs(%w : !pto.tensor_view<?x?xi32>)
    %mine = arith.trunci %i64 : i64 to i32
    pto.store_scalar %mine, %q[%c0] : !pto.ptr<i32>, i32
    pto.store_scalar %old, %at[%c1] : !pto.ptr<i32>, i32
    return
}";

#[test]
fn blocks_see_the_initial_contents_and_the_highest_one_wins() {
    let row: Vec<u8> = (10u32..18).flat_map(|v| v.to_le_bytes()).collect();
    let initial: Vec<u8> = (0..64u32).flat_map(|_| 99u32.to_le_bytes()).collect();
    for tracked in [true, false] {
        let outcome =
            Program::new(BLOCKS, Profile::Cpu).buffer("p", &row).buffer("q", &initial).blocks(7).tracked(tracked).run();
        let got = u32s(outcome.buffer("q"));
        for block in 1..7 {
            assert_eq!(got[block * 8..block * 8 + 4], [10, 99, 12, 13], "block {block}");
        }
        assert_eq!(got[0], 6, "the highest block wins");
        assert_eq!(got[1], 99);
        assert_eq!(got[56..], [99; 8], "no block wrote the last row");
    }
}

#[test]
fn the_lowest_block_that_fails_is_told() {
    let text = BLOCKS.replace("%old = pto.load_scalar %q[%c0]", "%old = pto.load_scalar %q[%row]");
    let few: Vec<u8> = vec![0; 8 * 4 * 3];
    let outcome = Program::new(&text, Profile::Cpu).buffer("p", &few).buffer("q", &few).blocks(9).run();
    assert_eq!(rules(&outcome.diagnostics), ["gm-bounds"]);
    let notes = &outcome.diagnostics[0].notes;
    assert!(notes.iter().any(|n| n.contains("block 3 of 9")), "{notes:?}");
}

#[test]
fn listings_take_extents_from_inputs_and_keep_init() {
    let text = "%d = pto.tinsert %s, %r, %c, init(%old) : (!pto.tile<vec, 8x8xi32, valid=?x?>, index, index, !pto.tile<16x16xi32>) -> !pto.tile<16x16xi32>";
    let small: Vec<u8> = (1..=6u32).flat_map(|v| v.to_le_bytes()).collect();
    let old: Vec<u8> = (0..256u32).flat_map(|v| (1000 + v).to_le_bytes()).collect();
    let outcome = Program::new(text, Profile::Cpu)
        .tile("s", 2, 3, &small)
        .tile("old", 16, 16, &old)
        .scalar("r", Number::Int(4))
        .scalar("c", Number::Int(5))
        .output("d")
        .run();
    let got = u32s(&outcome.tiles[0].data.elements);
    assert_eq!(got[4 * 16 + 5..4 * 16 + 9], [1, 2, 3, 1072]);
    assert_eq!(got[5 * 16 + 5..5 * 16 + 8], [4, 5, 6]);
    assert_eq!((got[0], got[255]), (1000, 1255));
    assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
}

#[test]
fn raw_bytes_make_all_of_a_region_valid_and_prints_need_one() {
    let text = "pto.tprint ins(%t : !pto.tile<vec, 2x8xi32, valid=?x?>)";
    let bytes: Vec<u8> = (0..16u32).flat_map(u32::to_le_bytes).collect();
    let outcome = Program::new(text, Profile::Cpu).raw("t", &bytes).run();
    assert_eq!(outcome.printed[0].tile().unwrap().elements, bytes);
    assert_eq!(rules(&Program::new(text, Profile::Cpu).run().diagnostics), ["valid-unset"]);
    let short = Program::new(text, Profile::Cpu).tile("t", 2, 8, &bytes[..60]).run();
    assert_eq!(rules(&short.diagnostics), ["binding"]);
}

#[test]
fn no_tile_is_too_large_to_be_refused() {
    let text = "%d = pto.alloc_tile : !pto.tile<65528x65528xf32>
                %e = pto.alloc_tile : !pto.tile<65528x65528xf32>
                pto.tmov ins(%d : !pto.tile<65528x65528xf32>) outs(%e : !pto.tile<65528x65528xf32>)";
    let unused = "%d = pto.alloc_tile : !pto.tile<65528x65528xf32>";
    for text in [text, unused] {
        let outcome = Program::new(text, Profile::Cpu).output("d").run();
        assert_eq!(rules(&outcome.diagnostics), ["memory-limit"], "{text}");
    }
}

#[test]
fn core_one_leaves_by_its_own_name() {
    let text = "pto.tmov ins(%a : !pto.tile<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) outs(%v : !pto.tile<16x16xf32>) {accToVecMode = #pto.acc_to_vec_mode<single_mode_vec1>}";
    let program =
        || Program::new(text, Profile::A5).tile("a", 16, 16, &counting(256)).output("v").output("v@1").trace();
    let outcome = program().run();
    assert_eq!(f32s(&outcome.tiles[1].data.elements), f32s(&counting(256)));
    assert!(outcome.tiles[0].data.defined.iter().all(|d| *d == 0));
    assert_eq!(rules(&outcome.diagnostics), ["undefined-read"]);
    let written: Vec<&str> = outcome.trace[0].written.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(written, ["%v", "%v@1"]);
    assert_eq!(program().run().trace[0].written, outcome.trace[0].written);
}

#[test]
fn configuration_persists_and_attributes_win() {
    let text = |extra: &str| {
        format!(
            "pto.setfmatrix {{fmap = [4, 4], pad = [1, 1, 1, 1]}}
             %seven = arith.constant 7.0 : f16
             pto.set_img2col_padding %seven : f16
             %d = pto.timg2col %img {{kernel = [3, 3]{extra}}} : (!pto.conv_tile<mat, NC1HWC0, 1x1x4x4x16xf16>) -> !pto.tile<left, 16x144xf16, blayout=col_major, slayout=row_major>"
        )
    };
    let image: Vec<u8> = (0..256u16).flat_map(|v| v.to_le_bytes()).collect();
    let first = |text: &str| {
        let outcome = Program::new(text, Profile::Cpu).tile("img", 1, 256, &image).output("d").run();
        assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
        u16::from_le_bytes([outcome.tiles[0].data.elements[0], outcome.tiles[0].data.elements[1]])
    };
    assert_eq!(first(&text("")), 0x4700);
    assert_eq!(first(&text(", pad_value = 1.0")), 0x3C00);
    assert_eq!(first(&text(", pad = [0, 0, 0, 0]")), 0);
}

#[test]
fn printing_is_data() {
    let text = kernel(
        "%out = pto.ttrans %a : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>
         pto.tprint ins(%out : !pto.tile<16x16xf32>)",
    );
    let outcome = Program::new(&text, Profile::Cpu).buffer("p", &counting(256)).run();
    assert_eq!(outcome.printed.len(), 1);
    assert_eq!(f32s(&outcome.printed[0].tile().unwrap().elements), transposed(16, &counting(256)));
}

#[test]
fn untracked_runs_give_the_same_bytes() {
    let text = kernel("%out = pto.ttrans %a : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>");
    let run = |tracked| {
        Program::new(&text, Profile::A5).buffer("p", &counting(256)).tracked(tracked).run().buffer("q").to_vec()
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn elements_scattered_to_one_place_are_told_of_on_a5() {
    // Every index is 0: the last element stays (isa/irregular.md 4).
    let text = kernel(
        "%z = arith.constant 0 : i32
         %idx = pto.alloc_tile : !pto.tile<16x16xi32>
         %out = pto.alloc_tile : !pto.tile<16x16xf32>
         pto.texpands ins(%z : i32) outs(%idx : !pto.tile<16x16xi32>)
         pto.tmov ins(%a : !pto.tile<16x16xf32>) outs(%out : !pto.tile<16x16xf32>)
         pto.tscatter ins(%a, %idx : !pto.tile<16x16xf32>, !pto.tile<16x16xi32>) outs(%out : !pto.tile<16x16xf32>)",
    );
    for profile in Profile::ALL {
        let outcome = Program::new(&text, profile).buffer("p", &counting(256)).run();
        // Hardware clears the destination first (isa/today.md 6.6).
        let mut expected = if profile.is_npu() { vec![0.0; 256] } else { f32s(&counting(256)) };
        expected[0] = 255.0;
        assert_eq!(f32s(outcome.buffer("q")), expected, "{profile}");
        let told: &[&str] = if profile == Profile::A5 { &["tscatter-duplicate"] } else { &[] };
        assert_eq!(outcome.diagnostics.iter().map(|d| d.rule).collect::<Vec<_>>(), told, "{profile}");
    }
}

/// A list that TMRGSORT is given in another order is merged, with a warning that names the first value in the wrong place.
#[test]
fn lists_that_are_not_sorted_are_merged_with_a_warning() {
    let bytes = |lists: [[f32; 4]; 4]| -> Vec<u8> {
        lists.as_flattened().iter().flat_map(|v| [*v, 0.0]).flat_map(f32::to_le_bytes).collect()
    };
    let text = "func.func @kernel(%p: memref<1x32xf32>, %q: memref<1x32xf32>) {
        %c8 = arith.constant 8 : i32
        %a = pto.alloc_tile : !pto.tile<1x32xf32>
        %b = pto.alloc_tile : !pto.tile<1x32xf32>
        pto.tload ins(%p : memref<1x32xf32>) outs(%a : !pto.tile<1x32xf32>)
        pto.tmrgsort ins(%a, %c8 : !pto.tile<1x32xf32>, i32) outs(%b : !pto.tile<1x32xf32>)
        pto.tstore ins(%b : !pto.tile<1x32xf32>) outs(%q : memref<1x32xf32>)
        return
    }";
    let lists = [[9.0, 7.0, 5.0, 3.0], [8.0, 6.0, 4.0, 2.0], [1.0, 0.5, 0.25, 0.0], [7.5, 7.5, 7.5, -1.0]];
    for (swapped, told) in [(false, vec![]), (true, vec!["tmrgsort-unsorted"])] {
        let mut lists = lists;
        if swapped {
            lists[2].swap(0, 1);
        }
        let outcome = Program::new(text, Profile::Cpu).buffer("p", &bytes(lists)).run();
        assert_eq!(outcome.diagnostics.iter().map(|d| d.rule).collect::<Vec<_>>(), told);
        if swapped {
            let said = &outcome.diagnostics[0].message;
            assert!(said.contains("the value in column 18 comes before that in column 16"), "{said}");
        }
    }
}

#[test]
fn an_element_becomes_a_scalar_and_an_element_again() {
    // Storage order: element 3 of the tile goes to element 17.
    let text = kernel(
        "%c17 = arith.constant 17 : index
         %out = pto.alloc_tile : !pto.tile<16x16xf32>
         pto.tmov ins(%a : !pto.tile<16x16xf32>) outs(%out : !pto.tile<16x16xf32>)
         %x = pto.tgetval ins(%a, %c3 : !pto.tile<16x16xf32>, index) outs : f32
         pto.tsetval ins(%c17, %x : index, f32) outs(%out : !pto.tile<16x16xf32>)",
    );
    for profile in Profile::ALL {
        let outcome = Program::new(&text, profile).buffer("p", &counting(256)).run();
        let mut expected = f32s(&counting(256));
        expected[17] = 3.0;
        assert_eq!(f32s(outcome.buffer("q")), expected, "{profile}");
    }
}
