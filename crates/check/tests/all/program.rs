//! Whole programs: what the walk knows at an instruction, and what it must not claim to know.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use tessera_asm::parse;
use tessera_check::{check_module, portability};
use tessera_ir::Module;
use tessera_isa::diag::{Diagnostic, Severity};
use tessera_isa::profile::Profile;

const BIG: &str = "!pto.tile<loc=vec, dtype=f16, rows=64, cols=32>";
const SMALL: &str = "!pto.tile<loc=vec, dtype=f16, rows=16, cols=32>";
const DYNAMIC: &str = "!pto.tile<loc=vec, dtype=f16, rows=16, cols=32, v_row=?, v_col=?>";

/// Reads a program, with the tile types above for their names.
fn module(text: &str, profile: Profile) -> Module {
    let text = text.replace("BIG", BIG).replace("SMALL", SMALL).replace("DYNAMIC", DYNAMIC);
    let parsed = parse(&text, Some(profile));
    assert!(!parsed.has_errors(), "{:#?}", parsed.diagnostics);
    parsed.module
}

fn findings(text: &str, profile: Profile) -> Vec<Diagnostic> {
    check_module(&module(text, profile), profile)
}

/// The ids of what is reported, in order.
fn rules(text: &str) -> Vec<&'static str> {
    findings(text, Profile::Cpu).iter().map(|d| d.rule).collect()
}

/// A function with some constants and two tiles around a body.
fn kernel(args: &str, body: &str) -> String {
    let constants: String =
        [0, 1, 2, 3, 4, 16, 32, 48].iter().map(|n| format!("  %c{n} = arith.constant {n} : index\n")).collect();
    format!(
        "func.func @k({args}) {{\n{constants}  %big = pto.alloc_tile : BIG\n  %small = pto.alloc_tile : SMALL\n{body}\n  return\n}}\n"
    )
}

fn insert(row: &str) -> String {
    format!("pto.tinsert ins(%small, {row}, %c0 : SMALL, index, index) outs(%big : BIG)")
}

#[test]
fn a_loop_is_walked_to_its_first_bad_iteration() {
    let body =
        format!("scf.for %i = %c0 to %c48 step %c1 {{\n %r = arith.muli %i, %c16 : index\n {}\n}}", insert("%r"));
    let found = findings(&kernel("", &body), Profile::Cpu);
    assert_eq!(found.len(), 1, "each operation reports a rule once: {found:#?}");
    assert!(found[0].message.ends_with("at iteration %i = 4"), "{}", found[0].message);
}

#[test]
fn nested_loops_name_all_their_variables() {
    let body = format!(
        "scf.for %i = %c0 to %c2 step %c1 {{\n scf.for %j = %c0 to %c3 step %c1 {{\n %a = arith.muli %i, %c32 : index\n \
         %b = arith.muli %j, %c16 : index\n %r = arith.addi %a, %b : index\n {}\n}}\n}}",
        insert("%r")
    );
    let found = findings(&kernel("", &body), Profile::Cpu);
    assert_eq!(found.len(), 1);
    assert!(found[0].message.ends_with("at iteration %i = 1, %j = 2"), "{}", found[0].message);
}

#[test]
fn unknown_bounds_claim_nothing_about_iterations() {
    let body = format!("scf.for %i = %c0 to %n step %c1 {{\n %r = arith.muli %i, %c16 : index\n {}\n}}", insert("%r"));
    assert!(rules(&kernel("%n: index", &body)).is_empty());
    let body = format!("scf.for %i = %c0 to %n step %c1 {{\n {}\n}}", insert("%c48"));
    assert!(rules(&kernel("%n: index", &body)).is_empty());
    let wrong = format!("%r = arith.constant 49 : index\nscf.for %i = %c0 to %n step %c1 {{\n {}\n}}", insert("%r"));
    assert_eq!(rules(&kernel("%n: index", &wrong)), ["tinsert-bounds"]);
}

#[test]
fn a_loop_beyond_the_budget_is_walked_once_more_with_unknowns() {
    // Too many iterations to visit: the bad one is beyond what is walked, a constant is not.
    let body = format!(
        "%many = arith.constant 100000000 : index\n%x = arith.constant 49 : index\nscf.for %i = %c0 to %many step %c1 {{\n \
         %q = arith.divui %i, %many : index\n {}\n {}\n}}",
        insert("%q"),
        insert("%x")
    );
    let found = findings(&kernel("", &body), Profile::Cpu);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].rule, "tinsert-bounds");
}

#[test]
fn carried_values_are_followed() {
    let body = format!(
        "%last = scf.for %i = %c0 to %c3 step %c1 iter_args(%at = %c0) -> (index) {{\n %next = arith.addi %at, %c16 : index\n \
         scf.yield %next : index\n}}\n{}",
        insert("%last")
    );
    assert!(rules(&kernel("", &body)).is_empty());
    let worse = body.replace("to %c3", "to %c4");
    assert_eq!(rules(&kernel("", &worse)), ["tinsert-bounds"]);
}

#[test]
fn a_known_condition_takes_one_branch() {
    let body = format!(
        "%x = arith.constant 49 : index\n%yes = arith.cmpi slt, %c1, %c2 : index\nscf.if %yes {{\n {}\n}} else {{\n {}\n}}",
        insert("%c16"),
        insert("%x")
    );
    assert!(rules(&kernel("", &body)).is_empty(), "the value of dead code means nothing");
    let body = body.replace("slt", "sgt");
    assert_eq!(rules(&kernel("", &body)), ["tinsert-bounds"]);
}

#[test]
fn dead_code_is_checked_as_far_as_types_go() {
    let body = "%no = arith.cmpi sgt, %c1, %c2 : index\nscf.if %no {\n %t = pto.tpack %small : SMALL -> SMALL\n}";
    assert_eq!(rules(&kernel("", body)), ["tpack-size"]);
    let body = "scf.for %i = %c2 to %c1 step %c1 {\n %t = pto.tpack %small : SMALL -> SMALL\n}";
    assert_eq!(rules(&kernel("", body)), ["tpack-size"]);
}

#[test]
fn steps_that_are_known_are_positive() {
    let repeat =
        |step: &str| format!("%less = arith.subi %c1, %c2 : index\nscf.for %i = %c0 to %c4 step {step} {{\n}}");
    assert_eq!(rules(&kernel("", &repeat("%c0"))), ["loop"]);
    assert_eq!(rules(&kernel("", &repeat("%less"))), ["loop"]);
    assert!(rules(&kernel("", &repeat("%c1"))).is_empty());
    assert!(rules(&kernel("%n: index", &repeat("%n"))).is_empty());
}

#[test]
fn branches_join() {
    let sized = |then: &str, otherwise: &str| {
        let body = format!(
            "%a = pto.alloc_tile : DYNAMIC\n%b = pto.alloc_tile : SMALL\nscf.if %p {{\n {then}\n}} else {{\n {otherwise}\n}}\n\
             pto.tmov ins(%a : DYNAMIC) outs(%b : SMALL)"
        );
        rules(&kernel("%p: i1", &body))
    };
    let set = |rows: &str| format!("pto.set_validshape %a, {rows}, %c32 : DYNAMIC");
    assert!(sized(&set("%c16"), &set("%c16")).is_empty());
    assert_eq!(sized(&set("%c4"), &set("%c4")), ["tmov-valid"], "both branches agree");
    assert!(sized(&set("%c16"), &set("%c4")).is_empty(), "one of them may be right");
    assert!(sized(&set("%c16"), "").is_empty(), "set on one path is not never set");
    assert_eq!(sized("", ""), ["valid-unset"]);
}

#[test]
fn results_of_a_branch_join_too() {
    let pick = |a: &str, b: &str| {
        let body = format!(
            "%r = scf.if %p -> (index) {{\n scf.yield {a} : index\n}} else {{\n scf.yield {b} : index\n}}\n{}",
            insert("%r")
        );
        rules(&kernel("%p: i1", &body))
    };
    assert!(pick("%c16", "%c48").is_empty());
    let body = format!(
        "%x = arith.constant 64 : index\n%r = scf.if %p -> (index) {{\n scf.yield %x : index\n}} else {{\n scf.yield %x : index\n}}\n{}",
        insert("%r")
    );
    assert_eq!(rules(&kernel("%p: i1", &body)), ["tinsert-bounds"]);
    let body = format!("%r = arith.select %p, %c16, %c48 : index\n{}", insert("%r"));
    assert!(rules(&kernel("%p: i1", &body)).is_empty());
}

#[test]
fn an_extent_set_in_a_loop_is_not_known_before_it() {
    // The first iteration uses what the one before it set; walked once, it is set to something.
    let body = "%a = pto.alloc_tile valid_row = %c16 valid_col = %c32 : DYNAMIC\n%b = pto.alloc_tile : SMALL\n\
                scf.for %i = %c0 to %n step %c1 {\n pto.tmov ins(%a : DYNAMIC) outs(%b : SMALL)\n \
                pto.set_validshape %a, %c4, %c32 : DYNAMIC\n}";
    assert!(rules(&kernel("%n: index", body)).is_empty());
    let known = body.replace("to %n", "to %c2");
    assert_eq!(rules(&kernel("", &known)), ["tmov-valid"]);
}

#[test]
fn while_loops_with_known_conditions_are_walked() {
    let body = format!(
        "%end = scf.while (%at = %c0) : (index) -> index {{\n %more = arith.cmpi slt, %at, %c48 : index\n \
         scf.condition(%more) %at : index\n}} do {{\n^bb0(%now: index):\n %next = arith.addi %now, %c16 : index\n \
         scf.yield %next : index\n}}\n{}",
        insert("%end")
    );
    assert!(rules(&kernel("", &body)).is_empty());
    let beyond = body.replace("slt, %at, %c48", "sle, %at, %c48");
    assert_eq!(rules(&kernel("", &beyond)), ["tinsert-bounds"]);
}

#[test]
fn calls_are_checked_where_they_happen() {
    let callee = "func.func @put(%big: BIG, %small: SMALL, %r: index) {\n %z = arith.constant 0 : index\n \
                  pto.tinsert ins(%small, %r, %z : SMALL, index, index) outs(%big : BIG)\n return\n}\n";
    let call = |row: &str| {
        let call = format!("func.call @put(%big, %small, {row}) : (BIG, SMALL, index) -> ()");
        let entry = kernel("", &call).replace("func.func @k()", "func.func @k() attributes {pto.entry}");
        rules(&format!("{callee}{entry}"))
    };
    assert!(call("%c48").is_empty());
    let wrong = "func.func @put(%big: BIG, %small: SMALL) {\n %z = arith.constant 49 : index\n \
                 pto.tinsert ins(%small, %z, %z : SMALL, index, index) outs(%big : BIG)\n return\n}\n";
    let entry = kernel(
        "",
        "func.call @put(%big, %small) : (BIG, SMALL) -> ()\nfunc.call @put(%big, %small) : (BIG, SMALL) -> ()",
    );
    let entry = entry.replace("func.func @k()", "func.func @k() attributes {pto.entry}");
    assert_eq!(rules(&format!("{wrong}{entry}")), ["tinsert-bounds"], "one place, one report");
    let alone = kernel("", "").replace("func.func @k()", "func.func @k() attributes {pto.entry}");
    assert_eq!(rules(&format!("{wrong}{alone}")), ["tinsert-bounds"], "a function that nobody calls");
}

#[test]
fn addresses_given_before_the_definition_count() {
    let text = "tassign %s, @tile(0x0)\ntassign %d, @tile(0x200)\n%d = ttrans %s : T -> T";
    let text = text.replace('T', "!pto.tile<loc=vec, dtype=f32, rows=16, cols=16>");
    assert_eq!(rules(&text), ["overlap"]);
}

#[test]
fn unknown_addresses_overlap_nothing() {
    let text = kernel(
        "%x: i64",
        "%a = pto.alloc_tile addr = %x : SMALL\n%b = pto.alloc_tile addr = %x : SMALL\npto.tmov ins(%a : SMALL) outs(%b : SMALL)",
    );
    assert!(rules(&text).is_empty());
}

#[test]
fn tiles_of_two_iterations_are_two_tiles() {
    let square = "!pto.tile<loc=vec, dtype=f32, rows=16, cols=16>";
    let body = format!(
        "%first = pto.alloc_tile : {square}\n%last = scf.for %i = %c0 to %c4 step %c1 iter_args(%old = %first) -> ({square}) {{\n \
         %new = pto.alloc_tile : {square}\n pto.ttrans ins(%old : {square}) outs(%new : {square})\n scf.yield %new : {square}\n}}"
    );
    assert!(rules(&kernel("", &body)).is_empty());
}

#[test]
fn a_broken_type_is_reported_once_where_it_is_written() {
    let bad = "!pto.tile<loc=vec, dtype=f16, rows=16, cols=10>";
    let text = kernel(
        "",
        &format!(
            "%a = pto.alloc_tile : {bad}\npto.tmov ins(%a : {bad}) outs(%small : SMALL)\npto.tprint ins(%a : {bad})"
        ),
    );
    let found = findings(&text, Profile::A5);
    assert_eq!(found.iter().map(|d| d.rule).collect::<Vec<_>>(), ["tile-align"]);
    let span = found[0].span.unwrap();
    let text = text.replace("BIG", BIG).replace("SMALL", SMALL);
    assert_eq!(&text[span.start as usize..span.end as usize], bad);
}

#[test]
fn an_error_shows_the_instruction_and_its_tiles() {
    let text = "%d = pto.tmov %s : !pto.tile<16x32xf16> -> !pto.tile<16x32xbf16>";
    let found = findings(text, Profile::A5);
    assert_eq!(found.len(), 1);
    let error = &found[0];
    assert_eq!((error.rule, error.severity), ("tmov-dtype", Severity::Error));
    assert_eq!(error.span.unwrap().start, 0);
    let labels: Vec<&str> = error.secondary.iter().map(|l| l.text.as_str()).collect();
    assert_eq!(labels, ["src: vec 16x32xf16 ND", "dst: vec 16x32xbf16 ND"]);
    assert!(error.help.is_some());
}

#[test]
fn portability_says_what_is_legal_where() {
    let text = "%d = pto.tmov %s : !pto.tile<16x32xf16> -> !pto.tile<loc=vec, dtype=f16, rows=16, cols=32, \
                blayout=col_major, slayout=row_major>\n%e = pto.tpack %d : !pto.tile<loc=vec, dtype=f16, rows=16, cols=32, \
                blayout=col_major, slayout=row_major> -> !pto.tile<16x32xi8>";
    let table = portability(&module(text, Profile::Cpu));
    let rows: Vec<_> = table.rows.iter().map(|r| (r.mnemonic, r.refused)).collect();
    assert_eq!(
        rows,
        [
            ("tmov", [None, Some("tmov-layout"), None]),
            ("tpack", [Some("tpack-layout"), Some("tpack-profile"), Some("tpack-layout")]),
        ]
    );
    assert!(!table.is_legal(Profile::A5) && table.rows[0].refused[Profile::A5 as usize].is_none());
}

#[test]
fn configuration_persists_and_joins() {
    let conv = "!pto.conv_tile<mat, NC1HWC0, 1x1x8x8x16xf16>";
    let left = "!pto.tile<loc=left, dtype=f16, rows=16, cols=32>";
    let with = |before: &str| {
        let body = format!(
            "{before}\n%t = pto.timg2col %image, %c0, %c0 {{kernel = [3, 3]}} : ({conv}, index, index) -> {left}"
        );
        rules(&kernel(&format!("%p: i1, %image: {conv}"), &body))
    };
    assert!(with("pto.setfmatrix {fmap = [8, 8]}").is_empty());
    assert_eq!(with("pto.setfmatrix {fmap = [4, 8]}"), ["timg2col-fmap"]);
    assert_eq!(with("pto.setfmatrix {fmap = [4, 8]}\npto.setfmatrix {fmap = [8, 8], pad = [0, 0, 0, 0]}"), [""; 0]);
    assert!(with("scf.if %p {\n pto.setfmatrix {fmap = [4, 8]}\n}").is_empty(), "one path only");
}

#[test]
fn ten_thousand_instructions_are_walked_in_one_pass() {
    let mut text = String::from("%x0 = tmov %in : T -> T\n");
    for i in 1..10_000 {
        text.push_str(&format!("%x{i} = tmov %x{} : T -> T\n", i - 1));
    }
    let found = findings(&text.replace('T', SMALL), Profile::A5);
    assert!(found.is_empty(), "{found:#?}");
}

/// Memory that is bound to a view without strides is dense, for every analysis.
#[test]
fn a_view_argument_is_dense() {
    let body = |cols: u64| {
        let view = format!("!pto.tensor_view<16x{cols}xf16>");
        let stride = format!("%s = pto.get_tensor_view_stride %v, %c0 : {view} -> index\n{}", insert("%s"));
        rules(&kernel(&format!("%v: {view}"), &stride))
    };
    assert!(body(48).is_empty());
    assert_eq!(body(49), ["tinsert-bounds"]);
}

/// A pointer to elements of another type leads to the same place.
#[test]
fn a_cast_pointer_leads_where_it_led() {
    let body = |at: &str| {
        let body = format!(
            "%less = arith.subi %c0, %c4 : index\n%p = pto.addptr %x, %less : !pto.ptr<f32> -> !pto.ptr<f32>\n\
             %q = pto.castptr %p : !pto.ptr<f32> -> !pto.ptr<f16>\n%v = pto.load_scalar %q[{at}] : !pto.ptr<f16> -> f16"
        );
        rules(&kernel("%x: !pto.ptr<f32>", &body))
    };
    // Four f32 before the start are eight f16.
    assert_eq!(body("%c4"), ["gm-bounds"]);
    assert!(body("%c16").is_empty());
}

/// A destination of TFILLPAD_INPLACE that is a view already stays one, as it does in the engine (ops.md 6).
#[test]
fn a_view_is_not_filled_somewhere_else() {
    let body = |from: &str| {
        let body = format!(
            "%whole = pto.alloc_tile : BIG\n%other = pto.alloc_tile : SMALL\n\
             %w = pto.subset %whole[%c0, %c0] sizes [16, 32] : BIG\n\
             %padded = pto.alloc_tile : !pto.tile<loc=vec, dtype=f16, rows=16, cols=32, pad=zero>\n\
             pto.treshape ins(%w : SMALL) outs(%padded : !pto.tile<loc=vec, dtype=f16, rows=16, cols=32, pad=zero>)\n\
             pto.tfillpad_inplace ins({from} : SMALL) outs(%padded : !pto.tile<loc=vec, dtype=f16, rows=16, cols=32, pad=zero>)"
        );
        let found = findings(&kernel("", &body), Profile::A5);
        found.iter().filter(|d| d.is_error()).map(|d| d.rule).collect::<Vec<_>>()
    };
    assert!(body("%w").is_empty(), "{:?}", body("%w"));
    assert_eq!(body("%other"), ["tfillpad-inplace"]);
}

/// TRESHAPE of a window keeps the window's pitch, and TASSIGN gives a tile its own layout back.
#[test]
fn a_window_under_another_type_keeps_its_pitch() {
    const WIDE: &str = "!pto.tile<loc=vec, dtype=f16, rows=16, cols=64>";
    let body = |more: &str| {
        let body = format!(
            "%wide = pto.alloc_tile addr = %a0 : {WIDE}\n\
             %l = pto.subset %wide[%c0, %c0] sizes [16, 32] : {WIDE}\n\
             %r = pto.subset %wide[%c0, %c32] sizes [16, 32] : {WIDE}\n\
             %b = pto.treshape %r : SMALL -> !pto.tile<loc=vec, dtype=bf16, rows=16, cols=32>\n\
             %m = pto.treshape %b : !pto.tile<loc=vec, dtype=bf16, rows=16, cols=32> -> SMALL\n\
             {more}\npto.tmov ins(%l : SMALL) outs(%m : SMALL)"
        );
        let body = format!("%a0 = arith.constant 0 : i64\n%a64 = arith.constant 64 : i64\n{body}");
        let found = findings(&kernel("", &body), Profile::A5);
        found.iter().filter(|d| d.is_error()).map(|d| d.rule).collect::<Vec<_>>()
    };
    assert!(body("").is_empty(), "{:?}", body(""));
    // Dense from the same byte on it reaches into the other half.
    assert_eq!(body("%n = pto.tassign %m, %a64 : SMALL -> SMALL"), ["overlap"]);
}

/// The results of broken statements have no type.
#[test]
fn portability_takes_text_that_was_read_with_errors() {
    let text = "pto.tcolargmin ins(%s : !pto.tile<16x32xf16>) outs(%dst : !pto.tile<vec, 16x32xi32, valid=1x32>)\n\
                pto.mad_acc%dst = tcolargmin %s : !pto.tile<16x32xf16>\n\
                %val, %dst = tcolargmin %s : !pto.tile<16x32xf16> -> (!pto.none, !p t = none)";
    let parsed = parse(text, Some(Profile::A5));
    assert!(parsed.has_errors());
    assert_eq!(portability(&parsed.module).rows.len(), 2);
}
