//! Versions of the text (isa/today.md 1): which one a text has, and what it is printed as in each.

use super::support::{corpus, dump, read};
use tessera_asm::dialect::CHANGES;
use tessera_asm::{Parsed, migrate, parse, parse_as, print, print_as};
use tessera_ir::Dialect::{self, V0_27, V0_60, V0_64};
use tessera_ir::OpKind;

fn function(body: &str) -> String {
    function_in("{pto.target_arch = \"a5\"}", body)
}

fn function_in(attributes: &str, body: &str) -> String {
    let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let args = "%p: !pto.ptr<i32>, %i: index, %n: i32, %f: f32";
    format!("module attributes {attributes} {{\n  func.func @k({args}) {{\n{lines}    return\n  }}\n}}\n")
}

const TILES: &str = "\
%t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
%w = pto.alloc_tile : !pto.tile_buf<vec, 16x64xi32>
";

fn of(text: &str) -> Option<Dialect> {
    read(text).module.dialect
}

fn rules(parsed: &Parsed) -> Vec<&'static str> {
    parsed.diagnostics.iter().map(|d| d.rule).collect()
}

#[test]
fn a_text_has_the_version_that_its_spellings_say() {
    for (body, dialect) in [
        ("%x = pto.load_scalar %p[%i] : !pto.ptr<i32> -> i32", None),
        ("%x = pto.load %p[%i] : !pto.ptr<i32> -> i32", Some(V0_60)),
        ("%x = pto.addi %n, %n : i32", Some(V0_60)),
        ("%t = pto.alloc_tile : !pto.tile_buf<vec, 16x32x!pto.hif8>", Some(V0_60)),
        ("pto.set_flag[\"PIPE_V\", \"PIPE_MTE3\", \"EVENT_ID0\"]", Some(V0_60)),
        ("pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]", None),
        ("%a = memref.alloc() : memref<16x64xf32, #pto.address_space<vec>>", Some(V0_27)),
    ] {
        assert_eq!(of(&function(body)), dialect, "{body}");
    }
    let window = "%s = pto.subset %t[%i, %i] sizes [8, 64] : !pto.tile_buf<vec, 16x64xf32>";
    assert_eq!(of(&function(&format!("{TILES}{window}"))), Some(V0_27));
    // What one version only has stands over what another one lacks.
    assert_eq!(of(&function(&format!("{TILES}{window}\n%x = pto.load %p[%i] : !pto.ptr<i32> -> i32"))), Some(V0_60));
}

#[test]
fn what_is_stated_stands_over_what_is_inferred() {
    let body = "%x = pto.load_scalar %p[%i] : !pto.ptr<i32> -> i32";
    for (number, dialect) in [("0.27", V0_27), ("0.40", V0_27), ("0.60", V0_60), ("0.63", V0_60), ("0.64", V0_64)] {
        let text = function_in(&format!("{{pto.dialect = \"{number}\"}}"), body);
        assert_eq!(of(&text), Some(dialect), "{number}");
        // The reader's own word stands over the module's.
        let given = parse_as(text.as_str().into(), None, Some("0.60"));
        assert_eq!((given.module.dialect, given.has_errors()), (Some(V0_60), false));
    }
    let newer = read(&function_in("{pto.dialect = \"0.71\"}", "%x = pto.load %p[%i] : !pto.ptr<i32> -> i32"));
    assert_eq!((newer.module.dialect, rules(&newer)), (Some(V0_64), vec!["unknown-dialect"]));
    for number in ["0.26", "new", ""] {
        let text = function_in(&format!("{{pto.dialect = \"{number}\"}}"), body);
        assert_eq!(rules(&parse(&text, None)), ["unknown-dialect"], "{number}");
    }
}

#[test]
fn a_stated_version_warns_once_about_each_spelling_that_it_lacks() {
    let body = "%x = pto.load_scalar %p[%i] : !pto.ptr<i32> -> i32\n%y = pto.load_scalar %p[%i] : !pto.ptr<i32> -> i32\n\
                %z = pto.load %p[%i] : !pto.ptr<i32> -> i32";
    let found = |version: &str| rules(&read(&function_in(&format!("{{pto.dialect = \"{version}\"}}"), body)));
    assert_eq!(found("0.27"), ["dialect-spelling"]);
    assert_eq!(found("0.64"), ["dialect-spelling"]);
    assert_eq!(rules(&read(&function(body))), [""; 0]);
}

/// Each of these is one statement in all versions.
const STATEMENTS: [[&str; 3]; 8] = [
    [
        "%s = pto.subset %t[%i, %i] sizes [8, 64] : !pto.tile_buf<vec, 16x64xf32>",
        "%s = pto.subview %t[%i, %i] sizes [8, 64] : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 8x64xf32>",
        "=",
    ],
    ["%x = pto.load_scalar %p[%i] : !pto.ptr<i32> -> i32", "=", "%x = pto.load %p[%i] : !pto.ptr<i32> -> i32"],
    ["pto.store_scalar %n, %p[%i] : !pto.ptr<i32>, i32", "=", "pto.store %n, %p[%i] : !pto.ptr<i32>, i32"],
    [
        "pto.tcvt ins(%t {rmode = #pto<round_mode ROUND>, sat_mode = #pto<saturation_mode ON>} : !pto.tile_buf<vec, 16x64xf32>) outs(%w : !pto.tile_buf<vec, 16x64xi32>)",
        "pto.tcvt ins(%t {rmode = #pto<round_mode ROUND>, satmode = #pto<saturation_mode ON>} : !pto.tile_buf<vec, 16x64xf32>) outs(%w : !pto.tile_buf<vec, 16x64xi32>)",
        "=",
    ],
    [
        "pto.tcvt ins(%t {sat_mode = #pto<saturation_mode OFF>} : !pto.tile_buf<vec, 16x64xf32>) outs(%w : !pto.tile_buf<vec, 16x64xi32>)",
        "pto.tcvt ins(%t {satmode = #pto<saturation_mode OFF>} : !pto.tile_buf<vec, 16x64xf32>) outs(%w : !pto.tile_buf<vec, 16x64xi32>)",
        "=",
    ],
    [
        "pto.tdiv ins(%t, %t : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>) {precision_mode = #pto<precision_mode HIGH_PRECISION>}",
        "pto.tdiv ins(%t, %t : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>) {precisionType = #pto<div_precision high_precision>}",
        "=",
    ],
    [
        "pto.tgather ins(%t, {maskPattern = #pto.mask_pattern<P1111>} : !pto.tile_buf<vec, 16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)",
        "pto.tgather ins(%t, {maskPattern = #pto.mask_pattern<P1111>} : !pto.tile_buf<vec, 16x64xf32>, \"row\") outs(%t : !pto.tile_buf<vec, 16x64xf32>)",
        "=",
    ],
    ["pto.get_buf[#pto.pipe_event_type<TVEC>, 0]", "pto.get_buf[#pto.pipe_event_type<TVEC>, 0, 0]", "="],
];

#[test]
fn statements_are_printed_as_each_version_writes_them() {
    for row in STATEMENTS {
        let of_version = |n: usize| (0..=n).rev().map(|n| row[n]).find(|text| *text != "=").unwrap_or_default();
        for from in Dialect::ALL {
            let text = |n| format!("{TILES}{}", of_version(n));
            let attributes = format!("{{pto.dialect = \"{from}\"}}");
            let source = function_in(&attributes, &text(*from as usize));
            for to in Dialect::ALL {
                let wanted = function_in(&format!("{{pto.dialect = \"{to}\"}}"), &text(*to as usize));
                let (migrated, unsaid) = migrate(&read(&source), *to);
                assert_eq!((migrated.as_str(), unsaid.len()), (wanted.as_str(), 0), "{from} to {to}");
            }
        }
    }
}

#[test]
fn saturation_that_is_left_out_is_written_where_versions_differ() {
    let convert = |attribute: &str, to: &str, ty: &str| {
        format!(
            "{TILES}%o = pto.alloc_tile : {ty}\npto.tcvt ins(%t{attribute} : !pto.tile_buf<vec, 16x64xf32>) outs(%{to} : {ty})"
        )
    };
    let wide = |attribute: &str| convert(attribute, "o", "!pto.tile_buf<vec, 16x64xi32>");
    for (from, attribute, to, wanted) in [
        (V0_27, "", V0_60, " {satmode = #pto<saturation_mode ON>}"),
        (V0_60, "", V0_27, " {sat_mode = #pto<saturation_mode OFF>}"),
        (V0_60, "", V0_64, ""),
        (V0_27, "", V0_27, ""),
    ] {
        let source = function_in(&format!("{{pto.dialect = \"{from}\"}}"), &wide(attribute));
        let (migrated, _) = migrate(&read(&source), to);
        assert_eq!(migrated, function_in(&format!("{{pto.dialect = \"{to}\"}}"), &wide(wanted)), "{from} to {to}");
    }
    // Unstated text is read as 0.27, with a warning; into a type that all versions treat alike nothing is said.
    assert_eq!(rules(&read(&function(&wide("")))), ["dialect-meaning"]);
    assert!(print(&read(&function(&wide("")))).contains("satmode = #pto<saturation_mode ON>"));
    let narrow = convert("", "o", "!pto.tile_buf<vec, 16x64xf16>");
    assert_eq!(rules(&read(&function(&narrow))), [""; 0]);
    assert_eq!(print(&read(&function(&narrow))), function(&narrow));
}

#[test]
fn what_a_version_cannot_say_stays_and_is_told() {
    let text = function(
        "// why\n%a = pto.declare_local_array -> !pto.local_array<2xi32>\n%x = pto.load %p[%i] : !pto.ptr<i32> -> i32",
    );
    let (text, unsaid) = migrate(&read(&text), V0_27);
    assert!(
        text.contains("// why\n") && text.contains("pto.declare_local_array") && text.contains("pto.load_scalar"),
        "{text}"
    );
    assert_eq!(unsaid.iter().map(|d| d.rule).collect::<Vec<_>>(), ["dialect-spelling"]);
    assert!(unsaid[0].span.is_some() && unsaid[0].message.contains("declare_local_array"));
}

#[test]
fn every_program_is_printed_the_same_twice_in_every_version() -> std::io::Result<()> {
    for (name, text) in corpus()?.into_iter().step_by(3) {
        let first = parse(&text, None);
        for dialect in Dialect::ALL {
            let printed = print_as(&first, *dialect);
            let second = parse(&printed, None);
            assert!(!second.has_errors(), "{name} in {dialect}: {:#?}\n{printed}", second.diagnostics);
            // Operations without a row may have another shape under another name.
            if !first.module.funcs.iter().flat_map(|f| &f.ops).any(|op| matches!(op.kind, OpKind::Other(_))) {
                assert_eq!(dump(&first.module), dump(&second.module), "{name} in {dialect}:\n{printed}");
            }
            assert_eq!(printed, print_as(&second, *dialect), "{name} in {dialect}");
        }
    }
    Ok(())
}

#[test]
fn scalar_operations_of_the_dialect_are_those_of_arith() {
    for (own, arith) in [
        ("%x = pto.addi %n, %n : i32", "%x = arith.addi %n, %n : i32"),
        ("%x = pto.divi %n, %n unsigned : i32", "%x = arith.divui %n, %n : i32"),
        ("%x = pto.floordiv %n, %n signed : i32", "%x = arith.floordivsi %n, %n : i32"),
        ("%x = pto.shl %n, %n : i32", "%x = arith.shli %n, %n : i32"),
        ("%x = pto.cmpi ge %n, %n signed : i32", "%x = arith.cmpi sge, %n, %n : i32"),
        ("%x = pto.cmpf lt %f, %f : f32", "%x = arith.cmpf olt, %f, %f : f32"),
        ("%x = pto.maxf %f, %f : f32", "%x = arith.maxnumf %f, %f : f32"),
        ("%x = pto.absf %f : f32", "%x = math.absf %f : f32"),
        ("%x = pto.itof %n unsigned : i32 to f32", "%x = arith.uitofp %n : i32 to f32"),
        ("%x = pto.ftof %f : f32 to f16", "%x = arith.truncf %f : f32 to f16"),
        ("%x = pto.bitcast %f : f32 to i32", "%x = arith.bitcast %f : f32 to i32"),
        ("%x = pto.constant 3 : i32", "%x = arith.constant 3 : i32"),
    ] {
        assert_eq!(print(&read(&function(own))), function(arith), "{own}");
    }
    for (wrong, rule) in [
        ("%x = pto.divi %n, %n : i32", "syntax-expected"),
        ("%x = pto.ftoi %f r signed : f32 to i32", "syntax-attribute"),
        ("%x = pto.cmpi slt %n, %n signed : i32", "syntax-expected"),
        ("%x = pto.mul_extended %n, %n signed : i32", "operand-count"),
    ] {
        assert_eq!(rules(&parse(&function(wrong), None)), [rule], "{wrong}");
    }
}

#[test]
fn regions_that_are_their_body_stand_in_the_block() {
    let text = function(
        "%a = scf.execute_region -> i32 {\n  %x = arith.addi %n, %n : i32\n  scf.yield %x : i32\n}\n\
         %x = arith.addi %a, %n : i32\n%b = pto.fusion_region {\n  %y = arith.addi %x, %n : i32\n  pto.yield(%y) : (i32) -> ()\n} : i32",
    );
    let printed = print(&read(&text));
    let body = "%a = arith.addi %n, %n : i32\n%x = arith.addi %a, %n : i32\n%b = arith.addi %x, %n : i32";
    assert_eq!(printed, function(body));
}

#[test]
fn an_unknown_operation_is_one_error_and_the_rest_is_read() {
    let text = function(&format!(
        "{TILES}%u = pto.tmtmul %t words(%n, %n) \"x\" : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 16x64xf32>\n\
         pto.tadd ins(%u, %t : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)"
    ));
    let parsed = parse(&text, None);
    assert_eq!(rules(&parsed), ["unknown-op"]);
    assert!(parsed.is_whole());
    assert_eq!(parsed.module.funcs[0].ops.len(), 5);
}

#[test]
fn every_other_spelling_of_the_table_is_known_as_one() {
    for spelling in CHANGES.iter().flat_map(|change| change.spellings).filter(|s| !s.same.is_empty()) {
        let (own, same) = (spelling.names.split_whitespace(), spelling.same.split_whitespace());
        assert_eq!(own.clone().count(), same.clone().count(), "{}", spelling.names);
        assert!(own.zip(same).all(|(a, b)| a != b));
    }
}
