//! Conversion between the forms: what comes out is legal text of the same program, and converting again changes nothing.

use super::support::{corpus, read};
use tessera_asm::{convert, convert_for_assembler, parse};
use tessera_ir::{OpKind, TextForm};

const FORMS: [TextForm; 3] = [TextForm::Asm, TextForm::Ssa, TextForm::Dps];

#[test]
fn every_conversion_is_readable_and_a_fixpoint() -> std::io::Result<()> {
    for (name, text) in corpus()? {
        let parsed = read(&text);
        for to in FORMS {
            let once = convert(&parsed, to);
            let again = parse(&once, None);
            assert!(!again.has_errors(), "{name} to {to:?}: {:#?}\n{once}", again.diagnostics);
            assert_eq!(once, convert(&again, to), "{name} to {to:?} is no fixpoint");
            for from in FORMS {
                let there = convert(&again, from);
                let back = parse(&there, None);
                assert!(!back.has_errors(), "{name} {to:?} to {from:?}: {:#?}\n{there}", back.diagnostics);
            }
        }
    }
    Ok(())
}

/// The instructions of a program in order, by name, allocation aside.
fn instructions(text: &str) -> Vec<String> {
    let parsed = read(text);
    let mut out = Vec::new();
    for func in &parsed.module.funcs {
        func.walk(&mut |_, op, _| match &op.kind {
            OpKind::Pto(opcode, form) if opcode.mnemonic() != "alloc_tile" => out.push(format!("{opcode} {form}")),
            OpKind::Pto(..) | OpKind::Constant(_) => {}
            other => out.push(format!("{other:?}")),
        });
    }
    out
}

#[test]
fn conversion_keeps_the_instructions_and_the_names() -> std::io::Result<()> {
    for (name, text) in corpus()? {
        let parsed = read(&text);
        for to in FORMS {
            let once = convert(&parsed, to);
            assert_eq!(instructions(&text), instructions(&once), "{name} to {to:?}:\n{once}");
            let again = read(&once);
            for (before, after) in parsed.module.funcs.iter().zip(&again.module.funcs) {
                let names =
                    |p: &tessera_asm::Parsed, list: &[tessera_ir::ValueId], f: &tessera_ir::Func| -> Vec<String> {
                        list.iter().map(|v| p.module.names.text(f.value(*v).name).to_string()).collect()
                    };
                let (args, kept) = (names(&parsed, &before.args, before), names(&again, &after.args, after));
                assert_eq!(args, kept, "{name} to {to:?}: arguments");
                let mut outputs = names(&parsed, &before.outputs, before);
                let mut kept = names(&again, &after.outputs, after);
                outputs.sort();
                kept.sort();
                assert_eq!(outputs, kept, "{name} to {to:?}: outputs\n{once}");
            }
        }
    }
    Ok(())
}

fn check(from: &str, to: TextForm, expected: &str) {
    let text = convert(&read(from), to);
    assert_eq!(text, expected);
    assert_eq!(convert(&read(&text), to), expected, "not a fixpoint");
}

#[test]
fn a_written_tile_becomes_a_result_and_back() {
    let dps = "\
%d = pto.alloc_tile : !pto.tile_buf<16x16xf32>
pto.ttrans ins(%s : !pto.tile_buf<16x16xf32>) outs(%d : !pto.tile_buf<16x16xf32>)
";
    let ssa = "%d = pto.ttrans %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>\n";
    let asm = "%d = ttrans %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>\n";
    check(dps, TextForm::Ssa, ssa);
    check(dps, TextForm::Asm, asm);
    check(ssa, TextForm::Asm, asm);
    check(asm, TextForm::Ssa, ssa);
    check(ssa, TextForm::Dps, dps);
    check(asm, TextForm::Dps, dps);
}

#[test]
fn loaded_contents_become_init_and_back() {
    let dps = "\
func.func @k(%p: memref<16x16xf32>, %q: memref<4x8xf32>, %r: index) {
  %s = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32>
  %d = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%q : memref<4x8xf32>) outs(%s : !pto.tile_buf<vec, 4x8xf32>)
  pto.tload ins(%p : memref<16x16xf32>) outs(%d : !pto.tile_buf<vec, 16x16xf32>)
  pto.tinsert ins(%s, %r, %r : !pto.tile_buf<vec, 4x8xf32>, index, index) outs(%d : !pto.tile_buf<vec, 16x16xf32>)
  pto.tstore ins(%d : !pto.tile_buf<vec, 16x16xf32>) outs(%p : memref<16x16xf32>)
  return
}
";
    let ssa = "\
func.func @k(%p: memref<16x16xf32>, %q: memref<4x8xf32>, %r: index) {
  %s = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32>
  %d_old = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%q : memref<4x8xf32>) outs(%s : !pto.tile_buf<vec, 4x8xf32>)
  pto.tload ins(%p : memref<16x16xf32>) outs(%d_old : !pto.tile_buf<vec, 16x16xf32>)
  %d = pto.tinsert %s, %r, %r, init(%d_old) : (!pto.tile<vec, 4x8xf32>, index, index, !pto.tile<vec, 16x16xf32>) -> !pto.tile<vec, 16x16xf32>
  pto.tstore ins(%d : !pto.tile_buf<vec, 16x16xf32>) outs(%p : memref<16x16xf32>)
  return
}
";
    check(dps, TextForm::Ssa, ssa);
    check(ssa, TextForm::Dps, dps);
}

#[test]
fn literals_become_constants() {
    let asm = "%d = textract %s[0, 8] : !pto.tile<16x16xf32> -> !pto.tile<8x8xf32>\n";
    let ssa = "\
%c0 = arith.constant 0 : index
%c8 = arith.constant 8 : index
%d = pto.textract %s, %c0, %c8 : (!pto.tile<16x16xf32>, index, index) -> !pto.tile<8x8xf32>
";
    check(asm, TextForm::Ssa, ssa);
}

#[test]
fn a_dynamic_result_has_its_declared_extents() {
    let ssa = "%d = pto.tmov %s : !pto.tile<vec, 16x8xf32> -> !pto.tile<vec, 16x8xf32, valid=?x8>\n";
    let dps = "\
%c16 = arith.constant 16 : index
%d = pto.alloc_tile valid_row = %c16 : !pto.tile_buf<vec, 16x8xf32, valid=?x8>
pto.tmov ins(%s : !pto.tile_buf<vec, 16x8xf32>) outs(%d : !pto.tile_buf<vec, 16x8xf32, valid=?x8>)
";
    check(ssa, TextForm::Dps, dps);
    // And it stays DPS: SSA has no operand for the extents.
    check(dps, TextForm::Ssa, dps);
}

#[test]
fn what_ssa_cannot_express_stays() {
    for dps in [
        // `--in` may give a listing's output contents.
        "pto.tmov ins(%s : !pto.tile_buf<8x8xf32>) outs(%d : !pto.tile_buf<8x8xf32>)\n",
        // Two writers.
        "%d = pto.alloc_tile : !pto.tile_buf<8x8xf32>\n\
         pto.tmov ins(%s : !pto.tile_buf<8x8xf32>) outs(%d : !pto.tile_buf<8x8xf32>)\n\
         pto.ttrans ins(%s : !pto.tile_buf<8x8xf32>) outs(%d : !pto.tile_buf<8x8xf32>)\n",
        // An address.
        "%a = arith.constant 64 : i64\n\
         %d = pto.alloc_tile addr = %a : !pto.tile_buf<8x8xf32>\n\
         pto.tmov ins(%s : !pto.tile_buf<8x8xf32>) outs(%d : !pto.tile_buf<8x8xf32>)\n",
        // A use before the write.
        "%d = pto.alloc_tile : !pto.tile_buf<8x8xf32>\n\
         pto.tassign %d, @tile(0x40)\n\
         pto.tmov ins(%s : !pto.tile_buf<8x8xf32>) outs(%d : !pto.tile_buf<8x8xf32>)\n",
        // Written in a region.
        "%d = pto.alloc_tile : !pto.tile_buf<8x8xf32>\n\
         scf.for %i = %n to %n step %n {\n  pto.tmov ins(%s : !pto.tile_buf<8x8xf32>) outs(%d : !pto.tile_buf<8x8xf32>)\n}\n",
    ] {
        check(dps, TextForm::Ssa, dps);
    }
}

#[test]
fn an_address_that_comes_first_stays_first() {
    let asm = "\
tassign %d, @tile(0x40)
%d = tmov %s : !pto.tile<8x8xf32> -> !pto.tile<8x8xf32>
";
    let dps = "\
%d = pto.alloc_tile : !pto.tile_buf<8x8xf32>
tassign %d, @tile(0x40)
pto.tmov ins(%s : !pto.tile_buf<8x8xf32>) outs(%d : !pto.tile_buf<8x8xf32>)
";
    check(asm, TextForm::Dps, dps);
}

#[test]
fn assemblers_get_a_module_of_partitions_and_tiles() {
    let listing = "\
# from a page
pto.tassign %d, @tile(0x400)
%d = tmov %s : !pto.tile<16x8xf32> -> !pto.tile<16x8xf32>
";
    let expected = "\
// # from a page
module {
  func.func @kernel(%s: !pto.tile_buf<vec, 16x8xf32>) attributes {pto.entry} {
    %addr_400 = arith.constant 1024 : i64
    %d = pto.alloc_tile addr = %addr_400 : !pto.tile_buf<vec, 16x8xf32>
    pto.tmov ins(%s : !pto.tile_buf<vec, 16x8xf32>) outs(%d : !pto.tile_buf<vec, 16x8xf32>)
    return
  }
}
";
    let text = convert_for_assembler(&read(listing), None).unwrap();
    assert_eq!(text.replace("//#", "// #"), expected);
    let whole = "\
module {
  func.func @k(%x: !pto.ptr<f32>, %a: memref<16x16xf32, #pto.address_space<vec>>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %v = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    pto.tload ins(%v : !pto.tensor_view<?x?xf32>) outs(%a : memref<16x16xf32, #pto.address_space<vec>>)
    return
  }
}
";
    let text = convert_for_assembler(&read(whole), None).unwrap();
    let window = "    %v_all = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> \
                  !pto.partition_tensor_view<16x16xf32>\n    pto.tload ins(%v_all : !pto.partition_tensor_view<16x16xf32>) \
                  outs(%a : !pto.tile_buf<vec, 16x16xf32>)\n";
    assert!(text.contains(window), "{text}");
    assert_eq!(convert_for_assembler(&read(&text), None).unwrap(), text);
}

#[test]
fn lowered_tiles_are_tiles() {
    const CONFIG: &str =
        "config = #pto.tile_buf_config<blayout=row_major, slayout=none_box, s_fractal_size=512, pad=null>";
    const M: &str = "memref<16x64xf32, #pto.address_space<vec>>";
    for (text, expected) in [
        (
            format!(
                "%t = pto.bind_tile %a, %c, %c {{{CONFIG}, pto.view_semantics = \"treshape\"}} : {M} -> memref<64x16xf32, #pto.address_space<vec>>"
            ),
            "%t = pto.treshape %a : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 64x16xf32, valid=16x16>",
        ),
        (format!("%t = pto.declare_tile_memref -> {M}"), "%t = pto.declare_tile -> !pto.tile_buf<vec, 16x64xf32>"),
        (
            format!("pto.set_validshape %a, %c, %c {{__pto.lowered_set_validshape}} : {M}"),
            "%a = pto.alloc_tile valid_row = %a.valid_row valid_col = %a.valid_col : !pto.tile_buf<vec, 16x64xf32, valid=?x?>",
        ),
    ] {
        let text = format!(
            "func.func @k() {{\n  %c = arith.constant 16 : index\n  %a = memref.alloc() : {M}\n  {text}\n  return\n}}\n"
        );
        let printed = tessera_asm::print(&read(&text));
        assert!(printed.contains(expected), "{printed}");
        assert_eq!(tessera_asm::print(&read(&printed)), printed);
    }
}

#[test]
fn a_program_with_errors_has_no_text_for_assemblers() {
    for text in [
        "%d = tmov %s : !pto.tile<16x8xf32> -> ",
        "func.func @k() {\n  pto.tload ins(%v) outs(%t)\n",
        "%a = tadd %a, %b",
    ] {
        let found = convert_for_assembler(&parse(text, None), None).unwrap_err();
        assert!(found.message.starts_with("the program has errors, the first of them: "), "{}", found.message);
    }
}
