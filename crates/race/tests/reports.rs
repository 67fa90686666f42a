//! What is said of broken flags and races: once, at the first place, with lines that mend it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use tessera_ir::inline::inline;
use tessera_isa::diag::{Diagnostic, Fact};
use tessera_isa::profile::Profile;
use tessera_race::{Options, Report, Verdict, check};

const HEAD: &str = "!v = !pto.tile_buf<vec, 8x8xf32>
!w = !pto.tensor_view<8x8xf32>
!m = !pto.tile_buf<loc=mat, dtype=f16, rows=32, cols=32, v_row=32, v_col=32, blayout=col_major, slayout=row_major, fractal=512, pad=0>
!l = !pto.tile_buf<loc=left, dtype=f16, rows=16, cols=32>
func.func @k(%g: !pto.ptr<f32>, %h: !pto.ptr<f16>, %n: index, %b: i1) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c8 = arith.constant 8 : index
%c16 = arith.constant 16 : index
%c32 = arith.constant 32 : index
%from = pto.make_tensor_view %g, shape = [%c8, %c8], strides = [%c8, %c1] : !w
%half = pto.make_tensor_view %h, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<32x32xf16>
%x = pto.alloc_tile : !v
%y = pto.alloc_tile : !v
";
const LOAD: &str = "pto.tload ins(%from : !w) outs(%x : !v)";
const ADD: &str = "pto.tadd ins(%x, %x : !v, !v) outs(%y : !v)";

/// A kernel with this body, and the line of the body's first line.
fn kernel(body: &[&str]) -> (String, usize) {
    (format!("{HEAD}{}\nreturn\n}}\n", body.join("\n")), HEAD.lines().count() + 1)
}

fn report(text: &str, profile: Profile) -> Report {
    let parsed = tessera_asm::parse_bytes(text.as_bytes(), Some(profile));
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let func = inline(&parsed.module, parsed.module.entry(None).unwrap()).unwrap();
    let placement = tessera_plan::plan(&parsed.module, &func, profile, &[]).unwrap();
    check(&parsed.module, &func, profile, &placement, text, &Options::default())
}

fn line(text: &str, at: u32) -> usize {
    text[..at as usize].bytes().filter(|b| *b == b'\n').count() + 1
}

/// The rules with the lines of the body, counted from 0.
fn found(body: &[&str], profile: Profile) -> Vec<(&'static str, usize)> {
    let (text, first) = kernel(body);
    let all = report(&text, profile).diagnostics;
    all.iter().map(|d| (d.rule, line(&text, d.span.unwrap().start) - first)).collect()
}

#[test]
fn a_flag_is_told_of_once_at_its_first_place() {
    let id = "%eight = arith.constant 8 : index";
    let (set, wait) =
        ("pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %eight]", "pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %eight]");
    assert_eq!(found(&[id, LOAD, set, wait, ADD], Profile::A5), [("flag-id-range", 2)]);
    let (set, wait) =
        ("pto.set_flag[<PIPE_V>, <PIPE_V>, <EVENT_ID0>]", "pto.wait_flag[<PIPE_V>, <PIPE_V>, <EVENT_ID0>]");
    assert_eq!(found(&[set, wait, set, wait], Profile::A2a3), [("flag-pipe", 0)]);
    let (get, rls) = ("pto.get_buf[<PIPE_V>, 3]", "pto.rls_buf[<PIPE_V>, 3]");
    assert_eq!(found(&[get, get, rls, rls, "pto.get_buf[<PIPE_MTE2>, 3]"], Profile::A5), [("buf-token", 1)]);
}

/// In iteration 1 the second wait waits for a set that comes after it; for the first one of iteration 2 none is left.
#[test]
fn the_first_place_is_the_first_in_program_order() {
    let wait = "pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]";
    let set = "pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]";
    let bar = "pto.barrier <PIPE_ALL>";
    let body = [set, set, set, "scf.for %i = %c0 to %c2 step %c1 {", wait, bar, wait, bar, set, "}", wait, wait];
    let places = found(&body, Profile::A2a3).into_iter().filter(|f| f.0 == "flag-unmatched-wait").collect::<Vec<_>>();
    assert_eq!(places, [("flag-unmatched-wait", 11)]);
    let body = [set, "scf.for %i = %c0 to %c2 step %c1 {", wait, bar, wait, bar, set, set, "}", wait];
    let places = found(&body, Profile::A2a3).into_iter().filter(|f| f.0 == "flag-unmatched-wait").collect::<Vec<_>>();
    assert_eq!(places, [("flag-unmatched-wait", 4)]);
}

/// A counter that `scf.while`, or a carried value that counts, is compared with a constant: those iterations are looked
/// at one by one.
#[test]
fn all_counters_are_peeled() {
    let load = format!("scf.if %is {{\n{LOAD}\n}}");
    let count = "%is = arith.cmpi eq, %i, %c2 : index";
    let tail = ["%next = arith.addi %i, %c1 : index", "scf.yield %next : index", "}"];
    let turns = [
        "%end = scf.while (%k = %c0) : (index) -> index {",
        "%go = arith.cmpi slt, %k, %n : index",
        "scf.condition(%go) %k : index",
        "} do {",
        "^bb0(%i: index):",
    ];
    let body = [&turns[..], &[count, &load, "pto.barrier <PIPE_MTE3>", ADD], &tail].concat();
    let carried = ["%end = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {"];
    let other = [&carried[..], &[count, &load, "pto.barrier <PIPE_MTE3>", ADD], &tail].concat();
    for profile in Profile::ALL {
        for body in [&body, &other] {
            let (text, _) = kernel(body);
            let report = report(&text, profile);
            let mut rules: Vec<&str> = report.diagnostics.iter().map(|d| d.rule).collect();
            rules.sort_unstable();
            // On a2a3 each addition also races with the next one.
            let both = ["race-raw", "race-war"];
            rules.retain(|rule| *rule != "race-waw");
            assert_eq!((report.verdict, &rules[..]), (Verdict::Races, &both[..]), "{profile} {body:?}");
        }
    }
}

/// The text with the lines that a finding says to add.
fn mended(text: &str, found: &Diagnostic) -> String {
    let lines: Vec<&str> = text.lines().collect();
    // After a loop or branch: behind its end.
    let end = |n: usize| {
        let mut depth = 0;
        (n..lines.len())
            .find(|k| {
                depth += lines[*k].matches('{').count() as i32 - lines[*k].matches('}').count() as i32;
                depth <= 0
            })
            .unwrap()
    };
    let mut before: Vec<Vec<&str>> = vec![Vec::new(); lines.len() + 1];
    let Some((_, Fact::List(add))) = found.facts.iter().find(|f| f.0 == "add") else { panic!("{found:?}") };
    for one in add {
        let Fact::Parts(parts) = one else { panic!("{one:?}") };
        let [("text", Fact::Text(what)), (side, Fact::Place(span))] = parts.as_slice() else { panic!("{parts:?}") };
        let at = line(text, span.start) - 1;
        match *side {
            "before" => before[at].push(what),
            _ => before[end(at) + 1].insert(0, what),
        }
    }
    let all = lines.iter().enumerate().flat_map(|(n, line)| before[n].iter().copied().chain([*line]));
    all.fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn the_lines_to_add_mend_the_race() {
    let (flags, turns) = ("pto.barrier <PIPE_S>", "scf.for %i = %c0 to %n step %c1 {");
    let bodies: [&[&str]; 7] = [
        &[flags, LOAD, ADD],
        // The load is in a loop, the addition behind it, and the other way round.
        &[flags, turns, LOAD, "pto.barrier <PIPE_MTE2>", "}", ADD],
        &[flags, LOAD, turns, "pto.barrier <PIPE_V>", ADD, "}"],
        // Round a loop.
        &[flags, turns, ADD, "pto.barrier <PIPE_V>", LOAD, "pto.barrier <PIPE_MTE2>", "}"],
        // In different arms of a branch in a loop; in the same one.
        &[flags, "scf.if %b {", LOAD, "}", ADD],
        &[flags, turns, "scf.if %b {", LOAD, "} else {", "}", "pto.barrier <PIPE_MTE2>", "}", ADD],
        &[flags, turns, "scf.if %b {", ADD, LOAD, "}", "pto.barrier <PIPE_V>", "pto.barrier <PIPE_MTE2>", "}"],
    ];
    for profile in Profile::ALL {
        for body in bodies {
            let (mut text, _) = kernel(body);
            // One after the other.
            for _ in 0..4 {
                let report = report(&text, profile);
                let Some(race) = report.diagnostics.iter().find(|d| d.is_error()) else { break };
                assert!(race.rule.starts_with("race-"), "{profile} {}\n{text}", race.message);
                text = mended(&text, race);
            }
            assert_eq!(report(&text, profile).verdict, Verdict::RaceFree, "{profile}\n{text}");
        }
    }
}

/// An id is free if no path uses it: the flag in the branch is one, too.
#[test]
fn ids_of_other_paths_are_not_free() {
    let (set, wait) =
        ("pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]", "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]");
    let (text, _) = kernel(&[LOAD, "scf.if %b {", "} else {", set, wait, "}", ADD]);
    let race = report(&text, Profile::A5).diagnostics.remove(0);
    assert!(race.help.as_ref().unwrap().contains("<EVENT_ID1>"), "{race:?}");
}

/// The bytes of a boxed tile are no run of its elements: rows and columns say which are meant.
#[test]
fn boxed_tiles_are_told_by_rows_and_columns() {
    let (text, _) = kernel(&[
        "%tile = pto.alloc_tile : !m",
        "%left = pto.alloc_tile : !l",
        "pto.tload ins(%half : !pto.tensor_view<32x32xf16>) outs(%tile : !m)",
        "pto.textract ins(%tile, %c16, %c0 : !m, index, index) outs(%left : !l)",
        "pto.barrier <PIPE_MTE2>",
    ]);
    for profile in Profile::ALL {
        let race = report(&text, profile).diagnostics.remove(0);
        assert_eq!(race.rule, "race-raw");
        assert!(race.label.contains("rows 16..32 × columns 0..32"), "{profile} {}", race.label);
        assert!(race.secondary[0].text.contains("rows 16..32 × columns 0..32"), "{profile} {race:?}");
    }
}

/// A loop that is tried a few times stands for all longer ones: what is done only after more than a hundred turns is
/// looked at, and what is known of the bound before the loop holds in it.
#[test]
fn branches_on_the_bound_of_a_loop() {
    let turns = "scf.for %i = %c0 to %n step %c1 {";
    let (bar, is) =
        ("pto.barrier <PIPE_ALL>", "%far = arith.constant 100 : index\n%is = arith.cmpi sgt, %n, %far : index");
    let after = [turns, bar, "}", is, "scf.if %is {", LOAD, ADD, "}"];
    // There is no turn where the bound is at most 0.
    let none = "%is = arith.cmpi sgt, %n, %c0 : index";
    let never = [bar, none, "scf.if %is {", "} else {", turns, LOAD, ADD, "}", "}"];
    // At least one turn: the flag is set.
    let set = "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]";
    let wait = "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]";
    let first = "%first = arith.cmpi eq, %i, %c0 : index";
    let once = [none, "scf.if %is {", turns, first, "scf.if %first {", LOAD, set, "}", "}", wait, ADD, "}"];
    for profile in Profile::ALL {
        assert_eq!(found(&after, profile), [("race-raw", 7)], "{profile}");
        assert_eq!(found(&never, profile), [], "{profile}");
        assert_eq!(found(&once, profile), [], "{profile}");
    }
}

/// Loops one after the other, each as often as nobody knows: so many combinations are not looked at, and that is said.
#[test]
fn many_loops_are_undecided_soon() {
    let arguments: String = (0..200).map(|n| format!("%n{n}: index, ")).collect();
    let loops: Vec<String> = (0..200)
        .map(|n| format!("scf.for %i{n} = %c0 to %n{n} step %c1 {{\n{LOAD}\npto.barrier <PIPE_ALL>\n}}"))
        .collect();
    let (text, _) = kernel(&loops.iter().map(String::as_str).collect::<Vec<_>>());
    let text = text.replace("%n: index", &format!("{arguments}%n: index"));
    let report = report(&text, Profile::A5);
    assert_eq!(report.verdict, Verdict::Undecided);
    assert!(report.diagnostics[0].message.contains("too many combinations"), "{:?}", report.diagnostics);
}

/// Both names of an operation class mean its pipe (sync.md 2).
#[test]
fn operation_classes_have_two_names() {
    for (load, vector) in [("TLOAD", "TVEC"), ("EVENT_LOAD_FROM_GM", "EVENT_COMPUTE_VEC")] {
        let operation = |name: &str| format!("pto.{name}[<{load}>, <{vector}>, <EVENT_ID0>]");
        let (record, wait) = (operation("record_event"), operation("wait_event"));
        assert_eq!(found(&[LOAD, &record, &wait, ADD], Profile::A5), [], "{load}");
    }
}

/// Ids out of an array are those that were put there: in a straight line, in a loop, by a computed index.
#[test]
fn ids_of_an_array_are_known() {
    let flag = |name: &str, id: &str| format!("pto.{name}_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %{id}]");
    let put = |at: &str, id: &str| format!("pto.eventid_array_set %ids[%{at}], %{id} : !pto.eventid_array<2>, index");
    let get =
        |at: &str, id: &str| format!("%{id} = pto.eventid_array_get %ids[%{at}] : !pto.eventid_array<2> -> index");
    let declare = "%ids = pto.declare_eventid_array : !pto.eventid_array<2>";
    let body = |ids: &[String], waits: &str| -> Vec<(&'static str, usize)> {
        let turn = "%turn = arith.remui %i, %c2 : index";
        let (get, set) = (get("turn", "id"), flag("set", "id"));
        let (other, wait) =
            (format!("%{waits} = pto.eventid_array_get %ids[%turn] : !pto.eventid_array<2>"), flag("wait", waits));
        let mut lines = vec![declare];
        lines.extend(ids.iter().map(String::as_str));
        lines.extend(["scf.for %i = %c0 to %n step %c1 {", turn, &get, LOAD, &set, &other, &wait, ADD]);
        lines.extend(["pto.barrier <PIPE_ALL>", "}"]);
        found(&lines, Profile::A5)
    };
    assert_eq!(body(&[put("c0", "c0"), put("c1", "c1")], "same"), []);
    let looped = ["scf.for %k = %c0 to %c2 step %c1 {".to_string(), put("k", "k"), "}".to_string()];
    assert_eq!(body(&looped, "same"), []);
    // An id that is none.
    assert_eq!(body(&[put("c0", "c0"), put("c1", "c8")], "same"), [("flag-id-range", 7)]);
    // An index that the array has not.
    let outside = [declare, &put("c2", "c0"), LOAD, ADD];
    assert_eq!(found(&outside, Profile::A5), [("flag-id-range", 1)]);
    // What nobody put there is not known.
    let unknown = body(&[put("c0", "c0")], "same");
    assert!(unknown.iter().all(|(rule, _)| *rule == "undecided") && !unknown.is_empty(), "{unknown:?}");
}

/// A counter that holds one more token after each iteration overflows, if only after more of them than are tried.
#[test]
fn a_counter_overflows_after_many_iterations() {
    let program = |core: &str, other: &str| {
        let part = |kind: &str, body: &str| {
            format!("pto.section.{kind} {{\nscf.for %{kind}i = %c0 to %n step %c1 {{\n{body}\n}}\n}}\n")
        };
        let (cube, vector) = (part("cube", core), part("vector", other));
        let text = format!(
            "func.func @k(%n: index) {{\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n{cube}{vector}return\n}}\n"
        );
        let all = report(&text, Profile::A2a3).diagnostics;
        all.iter().filter(|d| d.is_error()).map(|d| d.rule).collect::<Vec<_>>()
    };
    let (set, wait) = ("pto.sync.set <PIPE_FIX>, 3", "pto.sync.wait <PIPE_V>, 3");
    assert_eq!(program(set, wait), ["sync-overflow"]);
    let answered =
        program(&format!("{set}\npto.sync.wait <PIPE_FIX>, 4"), &format!("{wait}\npto.sync.set <PIPE_V>, 4"));
    assert_eq!(answered, [] as [&str; 0]);
}

/// An instruction that waits for a later one of its own iteration can be waited for by the iterations after that only.
#[test]
fn lines_to_add_do_not_wait_for_themselves() {
    let store = "pto.tstore ins(%x : !v) outs(%from : !w)";
    let (text, _) = kernel(&[
        "scf.for %i = %c0 to %n step %c1 {",
        "pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID6>]",
        LOAD,
        store,
        "pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID6>]",
        "}",
    ]);
    let races = report(&text, Profile::A5).diagnostics;
    let race = races.iter().find(|d| d.rule == "race-raw").unwrap();
    assert!(race.help.as_deref().unwrap().contains("goes round the loop"), "{race:?}");
}

#[test]
fn what_fills_a_mat_tile_is_mte2() {
    // tfillpad and texpands into Mat stand on MTE2, on cpu too (sync.md 1 and 9): MTE1 reads before they write.
    let fill = |op: &str| {
        format!(
            "!p = !pto.tile_buf<loc=mat, dtype=f16, rows=32, cols=32, v_row=20, v_col=32, pad=zero>
!q = !pto.tile_buf<loc=left, dtype=f16, rows=32, cols=32, v_row=20, v_col=32>
func.func @k() {{
%z = arith.constant 0.0 : f16
%t = pto.alloc_tile : !p
%l = pto.alloc_tile : !q
pto.barrier <PIPE_ALL>
pto.tmov ins(%t : !p) outs(%l : !q)
{op}
return
}}
"
        )
    };
    for profile in Profile::ALL {
        for op in ["pto.tfillpad ins(%t : !p) outs(%t : !p)", "pto.texpands ins(%z : f16) outs(%t : !p)"] {
            let found = report(&fill(op), profile).diagnostics;
            let notes: Vec<_> = found.iter().flat_map(|d| &d.notes).filter(|n| n.contains("missing")).collect();
            assert_eq!(notes, ["missing: MTE1 -> MTE2"], "{profile} {op}");
        }
    }
}

#[test]
fn a_word_that_is_no_pipe_is_no_barrier() {
    // V of a2a3 may overlap the two additions.
    let body = |between| [ADD, between, "pto.tadd ins(%y, %y : !v, !v) outs(%x : !v)"];
    assert_eq!(found(&body("pto.barrier <PIPE_ALL>"), Profile::A2a3), []);
    assert_eq!(found(&body("pto.barrier <TVEC>"), Profile::A2a3), []);
    for word in [
        "pto.barrier <PIPE_MTE4>",
        "pto.pipe_barrier \"PIPE_MTE4\"",
        "pto.barrier_sync [<TVECTOR>]",
        "pto.tsync <TVECTOR>",
    ] {
        assert_eq!(found(&body(word), Profile::A2a3), [("flag-pipe", 1)], "{word}");
        let on_cpu: Vec<_> = found(&body(word), Profile::Cpu);
        assert_eq!(on_cpu, [("flag-pipe", 1)], "{word}");
    }
}

#[test]
fn an_id_that_fits_no_integer_is_out_of_range() {
    let huge = "99999999999999999999999";
    let set = format!("pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID{huge}>]");
    let token = format!("pto.sync.set <PIPE_V>, {huge}");
    for profile in [Profile::A2a3, Profile::A5] {
        assert_eq!(found(&[&set], profile)[0], ("flag-id-range", 0));
        assert_eq!(found(&[&token], profile)[0], ("flag-id-range", 0));
    }
}

#[test]
fn patches_of_an_image_are_what_is_read() {
    // Rows 4 to 7 of the output see rows 3 to 6 of an image of 8 by 8; each of its rows is 256 bytes.
    let text = |address: u32| {
        format!(
            "!i = !pto.conv_tile<mat, NC1HWC0, 1x1x8x8x16xf16>
!b = !pto.tile_buf<mat, 1x64xf32>
!left = !pto.tile_buf<loc=left, dtype=f16, rows=32, cols=32>
func.func @k(%g: !pto.ptr<f32>) {{
%c1 = arith.constant 1 : index
%c16 = arith.constant 16 : index
%c32 = arith.constant 32 : index
%c64 = arith.constant 64 : index
%a0 = arith.constant 0 : i64
%at = arith.constant {address} : i64
%v = pto.make_tensor_view %g, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<1x64xf32>
%image = pto.alloc_tile addr = %a0 : !i
%row = pto.alloc_tile addr = %at : !b
%l = pto.alloc_tile : !left
pto.tload ins(%v : !pto.tensor_view<1x64xf32>) outs(%row : !b)
pto.timg2col ins(%image, %c32, %c16 : !i, index, index) outs(%l : !left) {{kernel = [3, 3], pad = [1, 1, 1, 1]}}
pto.barrier <PIPE_ALL>
return
}}
"
        )
    };
    for profile in Profile::ALL {
        for row in 0..8 {
            let found = report(&text(row * 256), profile).verdict;
            let wanted = if (3..7).contains(&row) { Verdict::Races } else { Verdict::RaceFree };
            assert_eq!(found, wanted, "{profile} row {row}");
        }
    }
}

/// A window keeps its pitch under another type: what lies beside it is not its own. TASSIGN gives the tile its own layout back.
#[test]
fn a_reshaped_window_touches_the_bytes_of_the_window() {
    let body = |more: &[&str], read: &str| {
        let before = [
            "%zero = arith.constant 0 : i64",
            "%beside = arith.constant 32 : i64",
            "%wide = pto.alloc_tile addr = %zero : !pto.tile_buf<vec, 8x16xf32>",
            "%l = pto.subset %wide[%c0, %c0] sizes [8, 8] : !pto.tile_buf<vec, 8x16xf32>",
            "%r = pto.subset %wide[%c0, %c8] sizes [8, 8] : !pto.tile_buf<vec, 8x16xf32>",
            "%i = pto.treshape %r : !v -> !pto.tile_buf<vec, 8x8xi32>",
            "%m = pto.treshape %i : !pto.tile_buf<vec, 8x8xi32> -> !v",
            "pto.barrier <PIPE_ALL>",
            "pto.tload ins(%from : !w) outs(%l : !v)",
        ];
        let add = format!("pto.tadd ins({read}, {read} : !v, !v) outs(%y : !v)");
        let rules = found(&[&before[..], more, &[&add]].concat(), Profile::A5);
        rules.into_iter().map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    assert!(body(&[], "%m").is_empty());
    assert_eq!(body(&["%moved = pto.tassign %m, %beside : !v -> !v"], "%moved"), ["race-raw"]);
}

/// A load and an addition without a flag, of as many rows as a run says.
const RAGGED: &str = "!t = !pto.tile_buf<vec, 16x64xf32, valid=?x64>
func.func @ragged(%x: !pto.ptr<f32>, %n: index) {
%c1 = arith.constant 1 : index
%c64 = arith.constant 64 : index
%from = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x64xf32>
%a = pto.alloc_tile valid_row = %n : !t
pto.tload ins(%from : !pto.tensor_view<?x64xf32>) outs(%a : !t)
pto.barrier <PIPE_V>
pto.tadd ins(%a, %a : !t, !t) outs(%a : !t)
return
}
";

#[test]
fn a_region_that_a_run_decides_races_if_any_row_is_valid() {
    let found = report(RAGGED, Profile::A2a3);
    assert_eq!(found.verdict, Verdict::Races);
    let [race] = found.diagnostics.as_slice() else { panic!("{found:#?}") };
    assert_eq!((race.rule, line(RAGGED, race.span.unwrap().start)), ("race-raw", 9));
    assert!(race.message.ends_with("if any row is valid"), "{}", race.message);
    let ordered = RAGGED.replace("<PIPE_V>", "<PIPE_ALL>");
    assert_eq!(report(&ordered, Profile::A2a3).verdict, Verdict::RaceFree);
}

/// Both vector cores load rows of their own and store them to the same rows.
const SAME_ROWS: &str = "!t = !pto.tile_buf<vec, 8x16xf32>
!p = !pto.partition_tensor_view<8x16xf32>
func.func @same_rows(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c8 = arith.constant 8 : index
%c16 = arith.constant 16 : index
%v = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
%w = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
pto.section.cube {
  pto.barrier <PIPE_ALL>
}
pto.section.vector {
  %i = pto.get_subblock_idx
  %n = arith.index_cast %i : i64 to index
  %row = arith.muli %n, %c8 : index
  %a = pto.alloc_tile : !t
  %from = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> !p
  %to = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> !p
  pto.tload ins(%from : !p) outs(%a : !t)
  pto.barrier <PIPE_ALL>
  pto.tstore ins(%a : !t) outs(%to : !p)
}
return
}
";

#[test]
fn vector_cores_that_store_different_data_to_the_same_rows_race() {
    let severities = |text: &str| -> Vec<(&str, bool)> {
        report(text, Profile::A5).diagnostics.iter().map(|d| (d.rule, d.is_error())).collect()
    };
    assert_eq!(severities(SAME_ROWS), [("race-waw", true)]);
    // The same rows are loaded: the data is the same.
    assert_eq!(severities(&SAME_ROWS.replace("%v, offsets = [%row", "%v, offsets = [%c0")), [("race-waw", false)]);
    assert_eq!(severities(&SAME_ROWS.replace("%w, offsets = [%c0", "%w, offsets = [%row")), []);
}
