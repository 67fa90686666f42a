//! The meaning of each spelling: forms, signatures, listings, types and constants.

use super::support::{dump, read};
use tessera_asm::{Parsed, parse, parse_type, print, print_op, print_type};
use tessera_ir::{Arg, Def, OpKind, TextForm};
use tessera_isa::codec::Number;
use tessera_isa::inst::Relu;
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;

const T: &str = "!pto.tile<16x16xf32>";

/// The kind and operand roles of the n-th operation of the only function.
fn op(parsed: &Parsed, n: usize) -> (OpKind, Vec<Role>) {
    let func = &parsed.module.funcs[0];
    let op = func.op(func.block(func.body).ops[n]);
    (op.kind.clone(), op.operands.iter().map(|o| o.role).collect())
}

/// The rules of what is found.
fn rules(text: &str) -> Vec<&'static str> {
    parse(text, None).diagnostics.iter().map(|d| d.rule).collect()
}

/// Names and types of the listing's inputs.
fn inputs(parsed: &Parsed) -> Vec<String> {
    let func = &parsed.module.funcs[0];
    let input = func.args.iter().filter(|v| func.value(**v).def == Def::Input);
    let shown = input.map(|v| {
        let v = func.value(*v);
        format!("{}: {}", parsed.module.names.text(v.name), print_type(parsed.module.types.get(v.ty)))
    });
    shown.collect()
}

fn outputs(parsed: &Parsed) -> Vec<&str> {
    let func = &parsed.module.funcs[0];
    func.outputs.iter().map(|v| parsed.module.names.text(func.value(*v).name)).collect()
}

#[test]
fn the_three_forms_and_the_generic_one_are_one_instruction() {
    let texts = [
        format!("%d = textract %s[%r, %c] : {T} -> !pto.tile<8x8xf32>"),
        format!("%d = textract %s, %r, %c : ({T}, index, index) -> !pto.tile<8x8xf32>"),
        format!("%d = pto.textract %s, %r, %c : ({T}, index, index) -> !pto.tile<8x8xf32>"),
        format!("pto.textract ins(%s, %r, %c : {T}, index, index) outs(%d : !pto.tile<8x8xf32>)"),
        format!("pto.textract ins(%s : {T}, %r : index, %c : index) outs(%d : !pto.tile<8x8xf32>)"),
        format!("\"pto.textract\"(%s, %r, %c, %d) : ({T}, index, index, !pto.tile<8x8xf32>) -> ()"),
        format!("%d = \"pto.textract\"(%s, %r, %c) : ({T}, index, index) -> !pto.tile<8x8xf32>"),
    ];
    for text in texts {
        let parsed = read(&text);
        let (kind, roles) = op(&parsed, 0);
        assert_eq!(kind, OpKind::Pto(Opcode::Textract, Form::Plain), "{text}");
        assert_eq!(roles[..3], [Role::Src, Role::Row, Role::Col], "{text}");
        assert_eq!(inputs(&parsed), ["s: !pto.tile<16x16xf32>", "r: index", "c: index"], "{text}");
        assert_eq!(outputs(&parsed), ["d"], "{text}");
    }
}

#[test]
fn operands_choose_the_form() {
    let acc = "!pto.tile<loc=acc, dtype=f32, rows=16, cols=16>";
    let fp = "!pto.tile<loc=scaling, dtype=u64, rows=1, cols=16>";
    let mat = "!pto.tile<loc=mat, dtype=i8, rows=16, cols=32>";
    for (text, form) in [
        (format!("%d = tmov %s : {acc} -> {mat}"), Form::Plain),
        (format!("%d = tmov %s, %q : {acc} -> {mat}"), Form::ScalarQuant),
        (format!("%d = tmov %s, %q : ({acc}, {fp}) -> {mat}"), Form::VectorQuant),
        (format!("%d = pto.tmov %s, %q : ({acc}, i64) -> {mat}"), Form::ScalarQuant),
        (format!("%d = pto.tmov_fp %s, %q : ({acc}, {fp}) -> {mat}"), Form::VectorQuant),
        (format!("%d = pto.tmov.fp %s, %q : ({acc}, i8) -> {mat}"), Form::Fill),
        (format!("%d = tmov_fp %s, %q : {acc} -> {mat}"), Form::Fill),
        (format!("%d = tinsert %s : {T} -> {T}"), Form::NoIndex),
        (format!("%d = tinsert %s[0, 0] : {T} -> {T}"), Form::Plain),
        (format!("%d = tinsert %s[0, 0], %q : {T} -> {T}"), Form::ScalarQuant),
        (format!("%d = tinsert_fp %s[0, 0], %q : ({T}, {fp}) -> {T}"), Form::VectorQuant),
        (format!("%d = tinsert %s[0, 0], %q : ({acc}, {fp}) -> {mat}"), Form::VectorQuant),
        (format!("%d = pto.textract %s, %q, %r, %c : ({acc}, {fp}, index, index) -> {mat}"), Form::VectorQuant),
        (format!("pto.tinsert ins(%s, %q, %r, %c : {acc}, {fp}, index, index) outs(%d : {mat})"), Form::VectorQuant),
        (format!("%a, %b = textract %s[0, 0][8, 8] : {T} -> {T}"), Form::TwoWindows),
        (format!("%d = ttrans %s, %tmp : ({T}, {T}) -> {T}"), Form::Tmp),
        (format!("%a, %b = tdeinterleave %s : {T} -> ({T}, {T})"), Form::OneSource),
        (format!("%d = tfillpad %s : {T}"), Form::Plain),
        (format!("%d = pto.tfillpad %v : (f32) -> {T}"), Form::Fill),
        (format!("%d = tconcat %a, %b : {T} -> {T}"), Form::Plain),
        (format!("%d = tconcat %a, %b, %i, %j : {T} -> {T}"), Form::Indexed),
        (format!("%d, %n = tconcat %a, %b, %i, %j : {T} -> {T}"), Form::IndexedOut),
    ] {
        let parsed = read(&text);
        assert!(matches!(op(&parsed, 0).0, OpKind::Pto(_, f) if f == form), "{text}: {:?}", op(&parsed, 0));
        let printed = print(&parsed);
        assert_eq!(dump(&parsed.module), dump(&read(&printed).module), "{printed}");
    }
}

#[test]
fn inputs_without_a_type_get_the_usual_one() {
    let parsed = read("%d = tmov_fp %s, %v : !pto.tile<16x32xu8> -> !pto.tile<16x32xu8>");
    assert_eq!(inputs(&parsed), ["s: !pto.tile<16x32xu8>", "v: ui8"]);
    let parsed = read(&format!("%d = tmov %s, %q : {T} -> {T}"));
    assert_eq!(inputs(&parsed)[1], "q: i64");
    // A written type goes before the usual one, wherever it is written.
    let text = format!("%d = textract %s[%r, 0] : {T} -> {T}\n%x = arith.addi %r, %r : i32");
    assert_eq!(inputs(&read(&text))[1], "r: i32");
    let text = format!("%d = textract %s[%r, %r] : ({T}, i32, i32) -> {T}");
    let parsed = read(&text);
    assert_eq!(inputs(&parsed)[1], "r: i32");
    assert_eq!(inputs(&read(&print(&parsed)))[1], "r: i32");
}

#[test]
fn a_listing_allocates_what_it_only_writes() {
    let text =
        format!("pto.tmov ins(%a : {T}) outs(%b : {T})\npto.tmov ins(%b : {T}) outs(%c : {T})\n%e = tmov %c : {T}");
    let parsed = read(&text);
    assert!(parsed.module.is_listing);
    assert_eq!(inputs(&parsed), ["a: !pto.tile<16x16xf32>"]);
    assert_eq!(outputs(&parsed), ["e", "b", "c"]);
    let func = &parsed.module.funcs[0];
    let names: Vec<_> = func.args.iter().map(|v| parsed.module.names.text(func.value(*v).name)).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn addresses_may_come_before_their_tiles() {
    let text = format!(
        "tassign %s, @tile(0x1000)\npto.tassign %d, @tile(8192)\npto.tassign %o, @tile(0x0)\n%d = tmov %s : {T}\npto.tmov ins(%d : {T}) outs(%o : {T})"
    );
    let parsed = read(&text);
    assert_eq!(inputs(&parsed), ["s: !pto.tile<16x16xf32>"]);
    assert_eq!(outputs(&parsed), ["o"]);
    let func = &parsed.module.funcs[0];
    let second = func.op(func.block(func.body).ops[1]);
    assert_eq!(second.operands[1].arg, Arg::Int(8192));
    assert!(matches!(func.value(second.operands[0].arg.value().unwrap()).def, Def::Result(..)));
}

#[test]
fn treshape_may_write_only_its_result_type() {
    let text = "%s = pto.alloc_tile : !pto.tile<16x16xf32>\n%d = treshape %s : !pto.tile<8x32xf32>\n%e = treshape %x : !pto.tile<8x32xf32>";
    let parsed = read(text);
    assert_eq!(inputs(&parsed), ["x: !pto.tile<8x32xf32>"]);
    let func = &parsed.module.funcs[0];
    let reshape = func.op(func.block(func.body).ops[1]);
    assert_eq!(
        print_op(&parsed.module, func, reshape),
        "%d = treshape %s : !pto.tile<16x16xf32> -> !pto.tile<8x32xf32>"
    );
}

#[test]
fn old_contents_have_the_type_of_the_result() {
    let d = "!pto.tile<32x32xf32>";
    for text in [
        format!("%d = pto.tinsert %s, %r, %c, init(%o) : ({T}, index, index, {d}) -> {d}"),
        format!("%d = tinsert %s[%r, %c], init(%o) : ({T}, {d}) -> {d}"),
        format!("%d = tinsert %s[%r, %c], init(%o) : {T} -> {d}"),
    ] {
        let parsed = read(&text);
        assert_eq!(op(&parsed, 0).1, [Role::Src, Role::Row, Role::Col, Role::Init]);
        assert_eq!(inputs(&parsed)[3], "o: !pto.tile<32x32xf32>");
    }
    let wrong = format!("%d = pto.tinsert %s, %r, %c, init(%o) : ({T}, index, index, {T}) -> {d}");
    assert_eq!(parse(&wrong, None).diagnostics[0].rule, "type-mismatch");
    // A known old value is enough to know the result.
    let text = format!("%o = pto.alloc_tile : {d}\n%s = pto.alloc_tile : {T}\n%d = tinsert %s[0, 0], init(%o)");
    assert_eq!(outputs(&read(&text)), ["d"]);
}

#[test]
fn spellings_of_one_type_are_one_type() {
    for group in [
        &[
            "!pto.tile<16x32xf16>",
            "!pto.tile_buf<loc=vec, dtype=half, rows=16, cols=32>",
            "!pto<tile_buf<cols=32, rows=16, loc=\"vec\", dtype=f16>>",
            "!pto.tile<loc=ub, f16, 16, 32>",
        ][..],
        &[
            "!pto.tile<vec, 16x32xf16, valid=?x12, blayout=col_major, slayout=row_major, pad=2>",
            "!pto.tile<loc=vec, dtype=f16, rows=16, cols=32, v_row=-1, v_col=12, blayout=col_major, slayout=row_major, fractal=512, pad=max>",
        ],
        &[
            "!pto.tile<loc=mat, f16, 16, 32, ColMajor, RowMajor, 512, Zero>",
            "!pto.tile<mat, 16x32xf16, blayout=col_major, slayout=row_major, pad=1>",
        ],
        &["!pto.tile<vec, 16x16xf4e2m1x2, valid=0x12>", "!pto.tile<vec, 16x16xfloat4_e2m1x2_t, valid=0x12>"],
    ] {
        let first = parse_type(group[0]).unwrap();
        for text in group {
            let ty = parse_type(text).unwrap();
            assert_eq!(first, ty, "{text}");
            assert_eq!(parse_type(&print_type(&ty)).unwrap(), ty, "{}", print_type(&ty));
        }
    }
    for text in [
        "!pto.conv_tile<mat, NDC1HWC0, 1x2x3x4x5x16xf16>",
        "!pto.ptr<bf16, gm>",
        "!pto.tensor_view<?x16xui8>",
        "!pto.partition_tensor_view<1x2x3x4x5xf32>",
        "memref<4x?xf32, strided<[?, 1], offset: ?>, #pto.address_space<gm>>",
        "memref<16xhif8>",
        "!pto.event",
        "index",
        "si16",
        "!pto.tile<loc=mat, dtype=f16, rows=16, cols=32, blayout=row_major>",
        "!pto.tile<vec, 33x32xf16, blayout=col_major, slayout=row_major, pad=custom(-1.5), compact=row_plus_one>",
        "!pto.tile<loc=left, dtype=i8, rows=16, cols=32, pad=custom(0xFF)>",
    ] {
        assert_eq!(print_type(&parse_type(text).unwrap()), text);
    }
}

#[test]
fn constants_are_rounded_to_their_type() {
    let value = |text: &str| match op(&read(text), 0).0 {
        OpKind::Constant(n) => n,
        other => panic!("{other:?}"),
    };
    assert_eq!(value("%c = arith.constant 255 : i8"), Number::Int(-1));
    assert_eq!(value("%c = arith.constant -128 : i8"), Number::Int(-128));
    assert_eq!(value("%c = arith.constant true"), Number::Int(-1));
    assert_eq!(value("%c = arith.constant 0x10 : index"), Number::Int(16));
    assert_eq!(value("%c = arith.constant 0.1 : f32"), Number::Float(f64::from(0.1f32)));
    assert_eq!(value("%c = arith.constant 1.0e10 : f16"), Number::Float(f64::INFINITY));
    assert_eq!(value("%c = arith.constant 0x3F80 : bf16"), Number::Float(1.0));
    assert_eq!(value("%c = arith.constant -1.0 : bf16"), Number::Float(-1.0));
    for text in [
        "255 : ui8",
        "-1 : i8",
        "0x7FC0 : bf16",
        "1.0e-7 : f32",
        "0.1 : f32",
        "0x7C00 : f16",
        "false : i1",
        "-0.0 : f32",
    ] {
        let first = print(&read(&format!("%c = arith.constant {text}")));
        assert_eq!(first, print(&read(&first)), "{text}");
    }
}

#[test]
fn types_are_compared_on_the_profile() {
    // On cpu a Left tile's written order counts, on a5 it is the profile's own (syntax.md 3).
    let left = |b: &str| format!("!pto.tile<left, 16x32xf16, blayout={b}, slayout=row_major>");
    let text = format!("%a = pto.alloc_tile : {}\n%b = tmov %a : {} -> {T}", left("row_major"), left("col_major"));
    assert!(parse(&text, None).has_errors());
    assert!(!parse(&text, Some(Profile::A5)).has_errors());
    let module =
        format!("module attributes {{pto.target_arch = \"a5\"}} {{\n  func.func @k() {{\n{text}\n    return\n  }}\n}}");
    let parsed = parse(&module, None);
    assert!(!parsed.has_errors());
    assert_eq!(parsed.module.target.map(|t| t.0), Some(Profile::A5));
}

#[test]
fn aliases_and_attributes() {
    let text = format!(
        "!t = {T}\n#mode = #pto<relu_pre_mode normal_relu>\n%d = pto.tmov %s {{reluPreMode = #mode}} : !t -> !t\n%e = tmov %d : !t #reluPreMode=\"no_relu\" loc(\"k.py\":3:4)"
    );
    let parsed = read(&text);
    let func = &parsed.module.funcs[0];
    let attrs = |n: usize| func.op(func.block(func.body).ops[n]).attrs.clone().unwrap();
    assert_eq!(attrs(0).known.relu().map(|r| r.name()), Some("normal_relu"));
    assert_eq!(attrs(1).known.relu().map(|r| r.name()), Some("no_relu"));
    let loc = parsed.module.locs.get(func.op(func.block(func.body).ops[1]).loc.unwrap());
    assert_eq!(loc.map(|loc| &*loc.text), Some("\"k.py\":3:4"));
    assert!(print(&parsed).starts_with("!t = !pto.tile_buf<16x16xf32>\n%d = pto.tmov %s {reluPreMode"));
}

/// Words are read bare, quoted, in the dialect's spelling, and in generic form as numbers.
#[test]
fn words_in_attributes() {
    let relu = |text: &str| {
        let parsed = read(text);
        parsed.module.funcs[0].ops[0].attrs.clone().unwrap().known.relu()
    };
    for word in ["normal_relu", "\"normal_relu\"", "#pto<relu_pre_mode normal_relu>", "#pto.relu_pre_mode<normal_relu>"]
    {
        let text = format!("%d = pto.tmov %s {{reluPreMode = {word}}} : {T} -> {T}");
        assert_eq!(relu(&text), Some(Relu::NormalRelu), "{word}");
    }
    for (number, wanted) in [("0", Relu::NoRelu), ("1 : i32", Relu::NormalRelu)] {
        let text = format!("%d = \"pto.tmov\"(%s) {{reluPreMode = {number}}} : ({T}) -> {T}");
        assert_eq!(relu(&text), Some(wanted), "{number}");
    }
    // Only there, and only the numbers of words.
    for text in [
        format!("%d = pto.tmov %s {{reluPreMode = 1}} : {T} -> {T}"),
        format!("%d = \"pto.tmov\"(%s) {{reluPreMode = 2}} : ({T}) -> {T}"),
        format!("%d = pto.tmov %s {{reluPreMode = normal}} : {T} -> {T}"),
    ] {
        assert_eq!(rules(&text), ["syntax-attribute"], "{text}");
    }
}

/// The DPS form takes attributes inside `ins(…)`, too, and prints them where the attribute's entry says.
#[test]
fn attributes_inside_ins() {
    let inside = format!("pto.tmov ins(%a{{reluPreMode = normal_relu}} : {T}) outs(%b : {T})");
    let behind = format!("pto.tmov ins(%a : {T}) outs(%b : {T}) {{reluPreMode = #pto<relu_pre_mode normal_relu>}}");
    assert_eq!(print(&read(&inside)), print(&read(&behind)));
    let twice = format!("pto.tmov ins(%a {{mode = \"x\"}} : {T}) outs(%b : {T}) {{reluPreMode = no_relu}}");
    assert_eq!(rules(&twice), ["unknown-attribute"]);
    assert_ne!(rules(&format!("pto.tmov ins(%a : {T}) outs(%b {{reluPreMode = no_relu}} : {T})")), Vec::<&str>::new());
}

#[test]
fn other_pto_instructions_are_recognised() {
    let text = format!("pto.tput ins(%a, %b : {T}, {T}) outs(%c : {T})\n%d = pto.tget %a, %x : ({T}, f32) -> {T}");
    let parsed = read(&text);
    assert_eq!(op(&parsed, 0).0, OpKind::Other("tput"));
    assert_eq!(op(&parsed, 1).0, OpKind::Other("tget"));
    assert_eq!(parsed.module.funcs[0].ops[0].form, TextForm::Dps);
    assert_eq!(dump(&parsed.module), dump(&read(&print(&parsed)).module));
}

#[test]
fn dots_and_underscores_are_one_letter_in_mnemonics() {
    for text in ["pto.tmov.fp", "pto.tmov_fp", "pto.tfillpad.inplace", "pto.tfillpad_inplace", "pto.set.validshape"] {
        let name = text.strip_prefix("pto.").unwrap_or(text);
        assert_eq!(Opcode::parse(name), Opcode::parse(&name.replace('.', "_")), "{text}");
    }
    let parsed = read(&format!("%d = tfillpad.expand %s : {T} -> {T}"));
    assert_eq!(op(&parsed, 0).0, OpKind::Pto(Opcode::TfillpadExpand, Form::Plain));
    assert!(print(&parsed).contains("tfillpad_expand %s"));
}

#[test]
fn a_bare_type_is_a_tile_or_a_pointer() {
    let parsed = read("pto.tmov ins(%s : <loc=vec, f32, 16, 16>) outs(%d : <16x16xf32>)");
    assert_eq!(inputs(&parsed), ["s: !pto.tile<16x16xf32>"]);
    assert!(print(&parsed).contains("!pto.tile_buf<16x16xf32>"), "{}", print(&parsed));
    let parsed = read("%n = arith.constant 4 : index\n%q = pto.addptr %p, %n : <f32> -> <f32>");
    assert_eq!(inputs(&parsed), ["p: !pto.ptr<f32>"]);
}
