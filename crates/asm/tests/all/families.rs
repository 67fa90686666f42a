//! Instructions of the families: attributes in every place and spelling, optional operands, forms that only the order of
//! operands or the number of destinations tells apart (isa/structure.md 2, isa/notes.md).

use tessera_asm::{convert, parse, print};
use tessera_ir::TextForm;

/// Types by letters, so that a line of text fits a line of the test.
const TYPES: &[(&str, &str)] = &[
    ("T", "!pto.tile_buf<16x32xf16>"),
    ("M", "!pto.tile_buf<16x32xu8>"),
    ("U", "!pto.tile_buf<16x32xf32>"),
    ("V", "!pto.tile_buf<vec, 16x16xf16, valid=16x1>"),
    ("I", "!pto.tile_buf<vec, 16x16xi32, valid=16x1>"),
    ("C", "!pto.tile_buf<vec, 16x32xf16, valid=1x32>"),
];

/// A text with its types written out.
fn spelled(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_inclusive([' ', ',', ')', '(', '\n']) {
        let bare = word.trim_end_matches([' ', ',', ')', '(', '\n']);
        match TYPES.iter().find(|(letter, _)| *letter == bare) {
            Some((_, ty)) => out += &word.replace(bare, ty),
            None => out += word,
        }
    }
    out
}

/// The text means the canonical one, which is read and printed as it is; forms are converted and read again.
#[track_caller]
fn means(text: &str, canonical: &str) {
    let parsed = parse(&spelled(text), None);
    assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
    let printed = print(&parsed);
    assert_eq!(
        printed.trim_end(),
        // DPS text has the dialect's own names of types.
        match canonical.contains("outs(") {
            true => spelled(canonical).replace("xu8>", "xui8>"),
            false => spelled(canonical).replace("tile_buf", "tile"),
        }
    );
    assert_eq!(print(&parse(&printed, None)), printed);
    for form in [TextForm::Asm, TextForm::Ssa, TextForm::Dps] {
        let converted = convert(&parsed, form);
        let again = parse(&converted, None);
        assert!(!again.has_errors(), "{converted}: {:?}", again.diagnostics);
        assert_eq!(convert(&again, form), converted);
    }
}

/// The broken rules of a text.
fn rules(text: &str) -> Vec<&'static str> {
    parse(&spelled(text), None).diagnostics.iter().map(|d| d.rule).collect()
}

#[test]
fn attributes_stand_inside_ins_or_behind_outs() {
    let canonical = "pto.tcmp ins(%a, %b {cmpMode = #pto<cmp lt>} : T, T) outs(%m : M)";
    for attribute in ["lt", "\"lt\"", "less_than", "#pto<cmp lt>", "#pto.cmp<lt>", "#pto<cmp less_than>"] {
        for text in [
            format!("pto.tcmp ins(%a, %b {{cmpMode = {attribute}}} : T, T) outs(%m : M)"),
            format!("pto.tcmp ins(%a, %b{{cmpMode = {attribute}}} : T, T) outs(%m : M)"),
            format!("pto.tcmp ins(%a, %b, {{cmpMode = {attribute}}} : T, T) outs(%m : M)"),
            format!("pto.tcmp ins(%a, %b : T, T) outs(%m : M) {{cmpMode = {attribute}}}"),
            format!("\"pto.tcmp\"(%a, %b, %m) <{{cmpMode = {attribute}}}> : (T, T, M) -> ()"),
        ] {
            means(&text, canonical);
        }
    }
    means("\"pto.tcmp\"(%a, %b, %m) {cmpMode = 2 : i32} : (T, T, M) -> ()", canonical);
    means(
        "\"pto.tcvt\"(%a, %b) <{rmode = 7 : i32, sat_mode = 1}> : (T, U) -> ()",
        "pto.tcvt ins(%a {rmode = #pto<round_mode CAST_RINT>, satmode = #pto<saturation_mode OFF>} : T) outs(%b : U)",
    );
    means("%m = tcmp %a, %b : (T, T) -> M #cmpMode=ge", "%m = tcmp %a, %b {cmpMode = #pto<cmp ge>} : (T, T) -> M");
    means(
        "pto.trowexpandsub ins(%a, %b {src1Col = 1, src0eqdst = true, highPrecision = false} : T, V) outs(%d : T)",
        "pto.trowexpandsub ins(%a, %b : T, V) outs(%d : T) {src1Col = 1 : i64, src0eqdst = true, highPrecision = false}",
    );
    means(
        "pto.texp ins(%a : T) outs(%d : T) {precision_mode = HIGH_PRECISION}",
        "pto.texp ins(%a : T) outs(%d : T) {precisionType = #pto<exp_precision high_precision>}",
    );
}

#[test]
fn is_binary_is_printed_as_its_page_says() {
    means("pto.tcolsum ins(%a {isBinary = false} : T) outs(%d : C)", "pto.tcolsum ins(%a : T) outs(%d : C)");
    let with_tmp = "pto.tcolsum ins(%a, %t {isBinary = false} : T, T) outs(%d : C)";
    means(with_tmp, with_tmp);
    means(
        "pto.tcolsum ins(%a : T) outs(%d : C) {isBinary = true}",
        "pto.tcolsum ins(%a {isBinary = true} : T) outs(%d : C)",
    );
}

#[test]
fn wrong_attributes_are_told() {
    let twice = "pto.tcmp ins(%a, %b {cmpMode = lt} : T, T) outs(%m : M) {cmpMode = lt}";
    assert_eq!(rules(twice), ["syntax-duplicate"]);
    assert_eq!(
        rules("\"pto.tcmp\"(%a, %b, %m) <{cmpMode = lt}> {cmpMode = lt} : (T, T, M) -> ()"),
        ["syntax-duplicate"]
    );
    assert_eq!(rules("pto.tcmp ins(%a, %b {cmpMode = less} : T, T) outs(%m : M)"), ["syntax-attribute"]);
    // Numbers are words of the generic form only, and only those that the page lists.
    assert_eq!(rules("pto.tcvt ins(%a {rmode = 3} : T) outs(%b : U)"), ["syntax-attribute"]);
    assert_eq!(rules("\"pto.tcvt\"(%a, %b) <{rmode = 8}> : (T, U) -> ()"), ["syntax-attribute"]);
    assert_eq!(rules("pto.tcolsum ins(%a {isBinary = 1} : T) outs(%d : C)"), ["syntax-attribute"]);
}

#[test]
fn optional_operands_are_told_apart_by_number_and_type() {
    means("\"pto.trowargmax\"(%a, %i) : (T, I) -> ()", "pto.trowargmax ins(%a : T) outs(%i : I)");
    means("\"pto.trowargmax\"(%a, %t, %i) : (T, T, I) -> ()", "pto.trowargmax ins(%a, %t : T, T) outs(%i : I)");
    let all = "pto.trowargmax ins(%a, %t : T, T) outs(%v, %i : V, I)";
    means("\"pto.trowargmax\"(%a, %t, %v, %i) : (T, T, V, I) -> ()", all);
    let valued = "pto.trowargmax ins(%a : T) outs(%v, %i : V, I)";
    for sizes in ["1, 0, 1, 1", "1, 2"] {
        let text =
            format!("\"pto.trowargmax\"(%a, %v, %i) <{{operandSegmentSizes = array<i32: {sizes}>}}> : (T, V, I) -> ()");
        means(&text, valued);
    }
    means("%v, %i = pto.trowargmax %a : (T) -> (V, I)", "%v, %i = pto.trowargmax %a : T -> (V, I)");
    means("%v, %i = trowargmax %a, %t : (T, T) -> (V, I)", "%v, %i = trowargmax %a, %t : (T, T) -> (V, I)");
    for operands in ["%m, %a, %x : M, T, f16", "%m, %a, %t, %x : M, T, T, f16"] {
        let text = format!("pto.tsels ins({operands}) outs(%d : T)");
        means(&text, &text);
    }
}

#[test]
fn a_scalar_stands_before_or_behind_the_tile() {
    for operands in ["%x, %a : f16, T", "%a, %x : T, f16"] {
        let text = format!("pto.tdivs ins({operands}) outs(%d : T)");
        means(&text, &text);
        let (names, types) = operands.split_once(" : ").unwrap();
        means(&format!("\"pto.tdivs\"({names}, %d) : ({types}, T) -> ()"), &text);
        means(&format!("%d = pto.tdivs {names} : ({types}) -> T"), &format!("%d = pto.tdivs {names} : ({types}) -> T"));
        means(&format!("%d = tdivs {names} : ({types}) -> T"), &format!("%d = tdivs {names} : ({types}) -> T"));
    }
    assert_eq!(rules("pto.tdivs ins(%a, %b : T, T) outs(%d : T)"), ["operand-count"]);
    assert_eq!(rules("pto.tdivs ins(%x, %y : f16, f16) outs(%d : T)"), ["operand-count"]);
    assert_eq!(rules("pto.tadds ins(%a, %b : T, T) outs(%d : T)"), ["type-mismatch"]);
}

/// TAXPY reads its destination, so its old contents go with it into SSA.
#[test]
fn an_updated_destination_is_an_explicit_operand() {
    let text = "func.func @f(%p: !pto.ptr<f32>) {
      %x = arith.constant 2.0 : f32
      %a = pto.alloc_tile : U
      %d = pto.alloc_tile : U
      pto.tload ins(%p : !pto.ptr<f32>) outs(%a : U)
      pto.tload ins(%p : !pto.ptr<f32>) outs(%d : U)
      pto.taxpy ins(%a, %x : U, f32) outs(%d : U)
      return
    }";
    let converted = convert(&parse(&spelled(text), None), TextForm::Ssa);
    assert!(converted.contains("%d = pto.taxpy %a, %x, init(%d_old) :"), "{converted}");
}
