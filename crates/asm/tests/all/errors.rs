//! Every rule of the text: its id, and the place of what is wrong.

use tessera_asm::{Parsed, parse, parse_bytes, parse_type, print_module};
use tessera_isa::diag::{Diagnostic, Severity};

/// Line and column of a diagnostic, from 1.
fn place(text: &str, d: &Diagnostic) -> (usize, usize) {
    let at = d.span.map_or(0, |s| s.start) as usize;
    let before = &text[..at.min(text.len())];
    let line = before.matches('\n').count() + 1;
    (line, at - before.rfind('\n').map_or(0, |p| p + 1) + 1)
}

fn found(text: &str, parsed: &Parsed) -> Vec<(&'static str, usize, usize)> {
    let at = |d: &Diagnostic| {
        let (line, column) = place(text, d);
        (d.rule, line, column)
    };
    parsed.diagnostics.iter().map(at).collect()
}

/// The text has exactly these findings.
#[track_caller]
fn check(text: &str, expected: &[(&'static str, usize, usize)]) {
    let parsed = parse(text, None);
    assert_eq!(found(text, &parsed), expected, "{:#?}\n{text}", parsed.diagnostics);
    for d in &parsed.diagnostics {
        assert!(tessera_isa::rules::rule(d.rule).is_some(), "{} is no rule", d.rule);
        assert!(!d.message.is_empty() && !d.message.ends_with('.'), "{}", d.message);
        assert!(d.help.is_some(), "{} offers no way out", d.message);
    }
}

const T: &str = "!pto.tile<16x8xf32>";

#[test]
fn tokens() {
    check(&format!("%a = tmov ~ %b : {T}"), &[("syntax-token", 1, 11)]);
    check(&format!("% = tmov %b : {T}"), &[("syntax-token", 1, 1)]);
    check("\u{1F600}", &[("syntax-token", 1, 1)]);
    check(&format!("%a = tmov %b {{x = \"y}} : {T}\n%c = tmov %a : {T}"), &[("syntax-string", 1, 19)]);
}

#[test]
fn numbers() {
    check(&format!("%a = textract %b[99999999999999999999, 0] : {T}"), &[("syntax-integer", 1, 18)]);
    check("%a = arith.constant 300 : i8", &[("syntax-integer", 1, 21)]);
    check("%a = arith.constant 1.0e999 : f32", &[("syntax-float", 1, 21)]);
    check("%a = arith.constant 1.5 : i8", &[("type-mismatch", 1, 21)]);
    check("%a = pto.alloc_tile : !pto.tile<99999999999999999999x8xf32>", &[("syntax-integer", 1, 33)]);
    // Large, but a number: the verifier refuses it.
    assert!(parse("%a = pto.alloc_tile : !pto.tile<1000000000000000000x8xf32>", None).diagnostics.is_empty());
}

#[test]
fn brackets() {
    check("func.func @f() {\n  return\n", &[("syntax-unclosed", 1, 16)]);
    check(&format!("pto.tmov ins(%a : {T}"), &[("syntax-unclosed", 1, 13)]);
    check(
        "%a = pto.alloc_tile : !pto.tile<16x8xf32\n%b = pto.alloc_tile : !pto.tile<16x8xf32>",
        &[("syntax-unclosed", 1, 32)],
    );
    check("func.func @f() {\n  return\n}\n}\n", &[("syntax-expected", 4, 1)]);
    // The text after a broken statement is read. The end that the broken statement would have supplied is not reported
    // as missing.
    check(
        "func.func @f() {\n  %a = pto.alloc_tile : !pto.tile<16x8xf32\n  %b = arith.addi %c, %c : index\n  return\n}",
        &[("syntax-unclosed", 2, 34), ("undefined-name", 3, 19)],
    );
    check(
        "func.func @f(%n: index) {\n  scf.for %i = %n to %n {\n    return\n  }\n  retrun\n}",
        &[("syntax-expected", 2, 25), ("unknown-op", 5, 3)],
    );
}

#[test]
fn types() {
    for (ty, rule, column) in [
        ("!pto.tile<loc==vec, dtype=f16, rows=16, cols=32>", "syntax-type", 15),
        ("!pto.tile<vex, 16x32xf16>", "syntax-type", 11),
        ("!pto.tile<vec, 16x32xf61>", "syntax-type", 22),
        ("!pto.tile<vec, 16xf16>", "syntax-type", 16),
        ("!pto.tile<loc=vec, dtype=f16, rows=16>", "syntax-type", 11),
        ("!pto.tile<loc=vec, dtype=f16, rows=16, rows=16, cols=8>", "syntax-type", 40),
        ("!pto.tile<vec, 16x32xf16, blayuot=row_major>", "syntax-type", 27),
        ("!pto.tile<vec, 16x32xf16, pad=custom(zz)>", "syntax-integer", 38),
        ("!pto.tail<vec, 16x32xf16>", "syntax-type", 1),
        ("!pto.ptr<f31>", "syntax-type", 10),
        ("!pto.conv_tile<mat, NC1HWC0, 1x2x16xf16>", "syntax-type", 30),
        ("memref<4x4xf32, strided<[1]>>", "syntax-type", 25),
        ("i65", "syntax-type", 1),
        ("!missing", "undefined-name", 1),
    ] {
        let d = parse_type(ty).map(|t| format!("{t:?}")).expect_err(ty);
        assert_eq!((d.rule, d.span.map(|s| s.start + 1)), (rule, Some(column)), "{ty}: {d:#?}");
        assert!(d.help.is_some(), "{ty}");
        check(&format!("%a = pto.alloc_tile : {ty}"), &[(rule, 1, 22 + column as usize)]);
    }
}

#[test]
fn suggestions_name_the_nearest_word() {
    let help = |text: &str| parse(text, None).diagnostics[0].help.clone().unwrap_or_default();
    assert_eq!(help("pto.tmove ins(%a : index)"), "did you mean `pto.tmov`?");
    assert_eq!(help("%d = tinset %s"), "did you mean `tinsert`?");
    assert_eq!(help("%d = arith.adi %a, %b : index"), "did you mean `arith.addi`?");
    assert_eq!(help("%a = pto.alloc_tile : !pto.tile<vec, 16x8xf23>"), "did you mean `f32`?");
    assert_eq!(help("module attributes {pto.target_arch = \"a2a4\"} {\n}"), "did you mean `a2a3`?");
}

#[test]
fn attributes() {
    check(&format!("%d = pto.tconcat %a, %b {{dim = \"x\"}} : ({T}, {T}) -> {T}"), &[("syntax-attribute", 1, 32)]);
    check(&format!("%d = pto.tmov %a {{reluPreMode = \"rulu\"}} : {T} -> {T}"), &[("syntax-attribute", 1, 33)]);
    check(
        &format!("%d = pto.tmov %a {{reluPreMode = \"no_relu\", reluPreMode = \"no_relu\"}} : {T} -> {T}"),
        &[("syntax-attribute", 1, 44)],
    );
    check("pto.setfmatrix {fmap = [1, 2, 3]}", &[("syntax-attribute", 1, 24)]);
    check(&format!("%d = pto.tmov %a {{frobnicate = 3}} : {T} -> {T}"), &[("unknown-attribute", 1, 19)]);
    let text = format!("%d = pto.tmov %a {{frobnicate = 3}} : {T} -> {T}");
    assert_eq!(parse(&text, None).diagnostics[0].severity, Severity::Warning);
    check("module attributes {pto.target_arch = \"gpu\"} {\n}", &[("unknown-profile", 1, 38)]);
}

#[test]
fn forms_and_counts() {
    check(&format!("%d = pto.ttrans %a, %a, %a : ({T}, {T}, {T}) -> {T}"), &[("operand-count", 1, 1)]);
    check(&format!("pto.tmov ins(%a, %b : {T}) outs(%c : {T})"), &[("operand-count", 1, 13)]);
    check(
        &format!("%d = pto.textract %a, 0, 1 : ({T}, index, index) -> {T}"),
        &[("syntax-form", 1, 23), ("syntax-form", 1, 26)],
    );
    check(&format!("%d = pto.tmov ins(%a : {T}) outs(%b : {T})"), &[("syntax-form", 1, 1)]);
    check("%d = tmov_fp %s, 1.5", &[("syntax-form", 1, 18)]);
    check("%d = tmov %s", &[("syntax-expected", 1, 1)]);
    check(&format!("%a, %b = pto.alloc_tile : {T}"), &[("operand-count", 1, 1)]);
    check(&format!("%d = pto.tinsert %s, %s, %s : ({T}, {T}, {T}) -> {T}"), &[("type-mismatch", 1, 22)]);
}

#[test]
fn names() {
    check("func.func @f() {\n  %a = arith.addi %b, %b : index\n  return\n}", &[("undefined-name", 2, 19)]);
    check("%a = arith.constant 1 : index\n%a = arith.constant 2 : index", &[("redefined-name", 2, 1)]);
    check("%a = arith.addi %b, %b : index\n%b = arith.constant 2 : index", &[("undefined-name", 1, 17)]);
    check("tassign %t, @tile(0x20)", &[("undefined-name", 1, 9)]);
    check("func.func @f() {\n  return\n}\nfunc.func @f() {\n  return\n}", &[("redefined-name", 4, 11)]);
    // A name ends with its region.
    let text = "func.func @f(%n: index) {\n  scf.for %i = %n to %n step %n {\n    %x = arith.addi %i, %i : index\n  }\n  %y = arith.addi %x, %x : index\n  return\n}";
    check(text, &[("undefined-name", 5, 19)]);
}

#[test]
fn a_differing_type_is_shown_at_its_field() {
    let text = "%a = pto.alloc_tile : !pto.tile<vec, 16x32xf16>\n%b = pto.tmov %a : !pto.tile<vec, 16x32xf16, valid=16x31> -> !pto.tile<vec, 16x32xf16>";
    check(text, &[("type-mismatch", 2, 55)]);
    let d = &parse(text, None).diagnostics[0];
    assert!(d.message.ends_with("v_col is 31 here, 32 there"), "{}", d.message);
    assert_eq!(d.secondary.len(), 1);
    // All uses of a listing's input agree.
    let text = "%a = arith.addi %n, %n : index\n%b = arith.addi %n, %n : i32";
    check(text, &[("type-mismatch", 2, 26), ("type-mismatch", 2, 26)]);
    // Types are compared on the profile: Mat is NZ unless it says otherwise.
    let text = "%a = pto.alloc_tile : !pto.tile<loc=mat, dtype=f16, rows=16, cols=32>\n%b = pto.tmov %a : !pto.tile<mat, 16x32xf16, blayout=col_major, slayout=row_major> -> !pto.tile<vec, 16x32xf16>";
    check(text, &[]);
}

#[test]
fn files_and_regions() {
    check("%a = arith.constant 1 : index\nfunc.func @f() {\n  return\n}", &[("syntax-mixed", 2, 1)]);
    check("func.func @f() {\n  return\n}\n%a = arith.constant 1 : index", &[("syntax-mixed", 4, 1)]);
    check("func.func @f() {\n}", &[("syntax-region", 1, 1)]);
    check("func.func @f() -> index {\n  return\n}", &[("operand-count", 2, 3)]);
    check("func.func @f() {\n  return\n  return\n}", &[("syntax-region", 2, 3)]);
    check(
        "func.func @f(%c: i1) {\n  %x = scf.if %c -> (index) {\n    scf.yield %c : i1\n  }\n  return\n}",
        &[("type-mismatch", 3, 5)],
    );
    check("func.func @f(%c: i1) {\n  %x = scf.if %c -> (index) {\n  }\n  return\n}", &[("syntax-region", 2, 3)]);
    // The values that a loop passes to its region are in its head.
    let labelled =
        |head: &str| format!("func.func @f(%n: index, %c: i1) {{\n  {head} {{\n  ^bb0(%y: index):\n  }}\n  return\n}}");
    check(&labelled("scf.for %i = %n to %n step %n"), &[("syntax-region", 3, 8)]);
    check(&labelled("scf.if %c"), &[("syntax-region", 3, 8)]);
    check(&labelled("pto.section.cube"), &[("syntax-region", 3, 8)]);
    // One word names a pipe.
    check("pto.sync.set <1x256>, 16", &[("syntax-expected", 1, 16)]);
    // An input without a type has one that all its uses take.
    let twice = "%d = pto.alloc_tile valid_row = %r valid_col = %r : !pto.tile_buf<vec, 16x32xf16, valid=?x?>\npto.tfillpad_expand ins(%r : f16) \
                 outs(%d : !pto.tile_buf<vec, 16x32xf16, valid=?x?>)";
    check(twice, &[("type-mismatch", 2, 30)]);
    // Tokens between cores are no values.
    check("%x = pto.sync.wait <PIPE_V>, 3 : index", &[("operand-count", 1, 1)]);
    check("return", &[("syntax-region", 1, 1)]);
    check("%a = arith.constant 1 : index\nscf.yield %a : index", &[("syntax-region", 2, 1)]);
    check("", &[("syntax-expected", 1, 1)]);
    check(" \n\t", &[("syntax-expected", 1, 1)]);
}

#[test]
fn all_errors_of_a_file_are_reported() {
    let text = format!(
        "func.func @f() {{\n  %a = pto.alloc_tile : {T}\n  pto.tmoov ins(%a : {T}) outs(%a : {T})\n  %b = arith.constant : index\n  %c = arith.addi %b, %b : index\n  pto.tmov ins(%a : {T}) outs(%zz : {T})\n  return\n}}"
    );
    check(&text, &[("unknown-op", 3, 3), ("syntax-expected", 4, 23), ("undefined-name", 6, 47)]);
}

#[test]
fn a_newline_ends_a_statement_of_a_listing() {
    check(&format!("%a = tmov\n%b : {T}"), &[("operand-count", 1, 1), ("syntax-expected", 2, 4)]);
    check(&format!("%a = tmov %b : {T} %c = tmov %a : {T}"), &[("syntax-expected", 1, 36)]);
    // But not inside brackets, behind `,` `=` `:` `->`, or before `:` `->` `outs` `{`.
    check("%a =\n tmov\n %b", &[("operand-count", 1, 1), ("syntax-expected", 3, 2)][..]);
    check(&format!("pto.tmov ins(\n%b\n:\n{T})\nouts(%a : {T})\n{{reluPreMode = \"no_relu\"}};\n"), &[]);
    check(&format!("%a = tmov %b\n: {T}\n-> {T}"), &[]);
}

#[test]
fn bytes_that_are_no_text() {
    let parsed = parse_bytes(b"%a = \xFF", None);
    assert_eq!(parsed.diagnostics[0].rule, "syntax-encoding");
    assert_eq!(parsed.diagnostics[0].span.map(|s| s.start), Some(5));
    assert!(parsed.diagnostics[0].message.contains("byte 5"));
}

#[test]
fn limits_have_errors_of_their_own() {
    let nested = "module {\n".repeat(100_000);
    assert_eq!(found(&nested, &parse(&nested, None)), [("syntax-nesting", 257, 8)]);
    let lists = format!("%a = pto.tmov %b {{x = {}", "[".repeat(100_000));
    assert_eq!(parse(&lists, None).diagnostics[0].rule, "syntax-nesting");
    let branches = format!("func.func @f(%c: i1) {{\n{}", "scf.if %c {\n".repeat(100_000));
    assert_eq!(found(&branches, &parse(&branches, None)), [("syntax-nesting", 257, 11)]);
    let types = format!("%a = pto.alloc_tile : {}", "!pto<".repeat(100_000));
    assert!(parse(&types, None).has_errors());
    let long = format!("%{} = tmov %b : {T}", "a".repeat(100_000));
    assert_eq!(parse(&long, None).diagnostics[0].rule, "syntax-limit");
    let many = "bad\n".repeat(100_000);
    let parsed = parse(&many, None);
    assert_eq!(parsed.diagnostics.len(), 101);
    assert!(parsed.diagnostics.iter().any(|d| d.rule == "syntax-limit"));
    let wide = format!("%a = tmov %b : {T} // {}", "x".repeat(1 << 22));
    assert!(!parse(&wide, None).has_errors());
}

#[test]
fn what_stands_at_an_operands_place_is_named() {
    let text = |source: &str, index: &str| {
        format!(
            "func.func @f(%t: {T}) {{\n  %a = pto.textract {source}, {index}, {index} : ({T}, {T}, index) -> {T}\n}}"
        )
    };
    let parsed = parse(&text("%t", "%typo"), None);
    assert_eq!(
        parsed.diagnostics[0].message,
        "row of textract is an index or integer, and %typo is !pto.tile<16x8xf32>"
    );
    let parsed = parse(&format!("%a = tmov 3 : {T} -> {T}"), None);
    assert_eq!(parsed.diagnostics[0].message, "src of tmov is a tile, and 3 is a literal");
}

#[test]
fn generic_arithmetic_refuses_attributes_that_it_does_not_know() {
    let text = |attributes: &str| {
        format!("%c = arith.constant 1 : index\n%a = \"arith.addi\"(%c, %c) {attributes} : (index, index) -> index")
    };
    check(&text("{speed = 3}"), &[("syntax-attribute", 2, 28)]);
    check(&text("<{overflowFlags = #arith.overflow<none>}>"), &[]);
    let parsed = parse(&text("<{overflowFlags = #arith.overflow<nsw, nuw>}>"), None);
    assert!(print_module(&parsed.module).contains("arith.addi %c, %c overflow<nsw, nuw> : index"));
}

#[test]
fn a_literal_is_no_destination() {
    let tile = "!pto.tile<16x32xf16>";
    let parsed = tessera_asm::parse(&format!("pto.tneg ins(%a : {tile}) outs(0 : {tile})"), None);
    let found: Vec<_> = parsed.diagnostics.iter().map(|d| (d.rule, d.message.as_str())).collect();
    assert_eq!(found, [("type-mismatch", "dst of tneg is a tile, and 0 is a literal")]);
}

/// Strides on the type of a view are its source's pitch (isa/structure.md 2).
#[test]
fn the_strides_of_a_view_are_its_sources() {
    let program = |strides: &str| {
        format!(
            "%c0 = arith.constant 0 : index
%s = pto.subset %x[%c0, %c0] sizes [16, 32] : !pto.tile_buf<32x64xf32, #pto.address_space<vec>>
%r = pto.subset %s[%c0, %c0] sizes [8, 32] : !pto.tile_buf<16x32xf32, #pto.address_space<vec>>
pto.tmov ins(%r : !pto.tile_buf<8x32xf32, {strides}, #pto.address_space<vec>>) outs(%y : !pto.tile_buf<8x32xf32>)
"
        )
    };
    for right in ["strided<[64, 1]>", "strided<[64, 1], offset: ?>", "strided<[?, 1], offset: 4>", "strided<[?, ?]>"] {
        check(&program(right), &[]);
    }
    for wrong in ["strided<[32, 1]>", "strided<[64, 2], offset: ?>"] {
        check(&program(wrong), &[("type-mismatch", 4, 19)]);
    }
}
