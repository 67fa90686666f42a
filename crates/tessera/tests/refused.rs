//! An `internal` error is a defect: what was refused leaves no other analysis to fall over.
//!
//! The programs of the rules, legal and illegal ones, of every instruction and profile, are read on every profile as they are
//! and with one word of their types exchanged: another location, element type or layout. Each goes through every analysis.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::path::Path;
use tessera::equiv::Given;
use tessera::program::{Bindings, Input, Kernel, Limits, Need, OrderOptions};
use tessera::{Diagnostic, Profile, Program};
use tessera_isa::ops::Opcode;

/// The programs of the rules.
fn programs() -> Vec<String> {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/rules");
    let mut files: Vec<_> = std::fs::read_dir(rules).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    texts.flat_map(|text| text.split("// -----").map(str::to_string).collect::<Vec<_>>()).collect()
}

/// Words of types that stand for each other.
const WORDS: [&[&str]; 3] = [
    &["vec", "mat", "left", "right", "acc", "bias", "scaling", "scale_left", "scale_right"],
    &["f32", "f16", "i8", "i32", "ui8", "ui64", "f8E4M3FN", "f8E8M0FNU", "f8e8m0", "f8e4m3", "f4e2m1x2"],
    &["row_major", "col_major", "none_box"],
];

/// Every program that differs by one word of one type, wherever that type stands.
fn variants(text: &str) -> Vec<String> {
    let mut types: BTreeSet<&str> = BTreeSet::new();
    for at in text.match_indices("!pto.tile").map(|(at, _)| at) {
        let rest = &text[at..];
        if let Some(end) = rest.find('>').filter(|end| rest.find('\n').is_none_or(|line| *end < line)) {
            types.insert(&rest[..=end]);
        }
    }
    let mut all = Vec::new();
    for ty in types {
        let words: Vec<&str> = ty.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        for class in WORDS {
            // `16x16xf32` holds the element type as the end of a word.
            let own = |word: &&&str| words.iter().any(|w| w == *word || w.rsplit('x').next() == Some(**word));
            for from in class.iter().filter(own) {
                for to in class.iter().filter(|to| *to != from) {
                    all.push(text.replace(ty, &ty.replacen(from, to, 1)));
                }
            }
        }
    }
    all
}

fn inputs(kernel: &Kernel) -> Vec<(tessera_ir::ValueId, Input)> {
    let input = |value: &tessera_ir::ValueId| match kernel.need(*value) {
        Need::Scalar(_) => kernel.bind_number(*value, tessera::Number::Int(2)).ok(),
        Need::Tile(tile) => Some(Input::TileBytes(vec![1; tile.bytes() as usize])),
        Need::Buffer(elem, _) => {
            Some(Input::Buffer { bytes: vec![1; 1 << 14], elem, dims: vec![(1 << 17) / u64::from(elem.bits())] })
        }
        _ => None,
    };
    kernel.func().args.iter().filter_map(|value| Some((*value, input(value)?))).collect()
}

/// The rules that every analysis finds broken.
fn everything(text: &str, profile: Profile, is_whole: bool) -> Vec<Diagnostic> {
    let program = Program::read(text, Some(profile));
    let mut found = program.check();
    let has_errors = found.iter().any(Diagnostic::is_error);
    if program.has_errors() {
        return found;
    }
    for name in program.entries() {
        let kernel = match program.kernel_or_entry(name.as_deref()) {
            Ok(kernel) => kernel,
            Err(error) => {
                found.extend(error.diagnostics().cloned());
                continue;
            }
        };
        // These take programs that were refused, too.
        found.extend(kernel.plan(&[]).err().iter().flat_map(|e| e.diagnostics().cloned()));
        match kernel.order(&OrderOptions::default()) {
            Ok(report) => found.extend(report.diagnostics),
            Err(error) => found.extend(error.diagnostics().cloned()),
        }
        if has_errors || !is_whole {
            continue;
        }
        let limits = Limits { steps: 2_000, memory: 16 << 20 };
        let bindings = Bindings { inputs: inputs(&kernel), limits, ..Bindings::default() };
        found.extend(kernel.execute(bindings).diagnostics);
        let given = Given { limits, ..Given::default() };
        if let tessera::equiv::Answer::Stopped(_, error) = tessera::equiv::equiv(&kernel, &kernel, &given, &[]) {
            found.extend(error.diagnostics().cloned());
        }
        if let Err(error) = tessera::opt::optimize(&program, name.as_deref(), &given, &[]) {
            found.extend(error.diagnostics().cloned());
        }
    }
    found
}

fn check(text: &str, profile: Profile, is_whole: bool) {
    let found = everything(text, profile, is_whole);
    let internal = found.iter().find(|d| d.rule == "internal");
    if let Some(internal) = internal {
        panic!("{profile}: {}\n{text}\n{found:?}", internal.message);
    }
}

#[test]
fn no_rule_leaves_an_internal_error_behind() {
    let mut used: BTreeSet<(&str, Profile)> = BTreeSet::new();
    for text in programs() {
        for profile in Profile::ALL {
            check(&text, profile, true);
            let program = Program::read(&text, Some(profile));
            let ops = program.module().funcs.iter().flat_map(|f| &f.ops).filter_map(|op| op.opcode());
            used.extend(ops.map(|op| (op.mnemonic(), profile)));
        }
    }
    // These two take anything, and no program of the rules uses them.
    let has_rules = |op: &&Opcode| !matches!(**op, Opcode::Bitcast | Opcode::BindTile);
    let rows =
        Opcode::ALL.iter().filter(has_rules).filter(|op| !op.info().sigs.is_empty() && !op.info().forms.is_empty());
    let asked = rows.flat_map(|op| Profile::ALL.map(|profile| (op.mnemonic(), profile)));
    let missing: Vec<_> = asked.filter(|row| !used.contains(row)).collect();
    assert!(missing.is_empty(), "in no program that is read there: {missing:?}");
}

#[test]
fn no_exchanged_type_leaves_an_internal_error_behind() {
    let mut asked = 0;
    for text in programs() {
        for (n, variant) in variants(&text).iter().enumerate() {
            check(variant, Profile::ALL[n % Profile::ALL.len()], false);
            asked += 1;
        }
    }
    assert!(asked > 10_000, "{asked}");
}

/// Statements that an audit found to end in `internal`.
#[test]
fn what_is_named_before_its_definition_is_a_tile() {
    let listing = "tassign %c0, @tile(0)\n%c0 = arith.constant 0 : index\n\
                   %dst = tmov %src : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>\n";
    for profile in Profile::ALL {
        let found = everything(listing, profile, true);
        let rules: Vec<&str> = found.iter().map(|d| d.rule).collect();
        assert_eq!(rules, ["type-mismatch"], "{found:?}");
        assert_eq!(found[0].message, "tile of tassign cannot be %c0, which is index");
    }
}

/// One finding, and no `internal`: block-scaled products where hardware has none, and with operands elsewhere.
#[test]
fn a_product_that_is_refused_is_refused_once() {
    let program = |left: &str, scale: &str| {
        let (left, scale) = (
            format!("!pto.tile_buf<{left}, 32x64xf8e4m3, blayout=col_major, slayout=row_major>"),
            format!("!pto.tile_buf<{scale}, 32x2xf8e8m0, blayout=row_major, slayout=row_major, fractal=32>"),
        );
        let right = "!pto.tile_buf<right, 64x32xf8e4m3, blayout=row_major, slayout=col_major>";
        let other = "!pto.tile_buf<scale_right, 2x32xf8e8m0, blayout=col_major, slayout=col_major, fractal=32>";
        let acc = "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>";
        format!(
            "func.func @k() {{\n  %a = pto.alloc_tile : {left}\n  %a_scale = pto.alloc_tile : {scale}\n  \
             %b = pto.alloc_tile : {right}\n  %b_scale = pto.alloc_tile : {other}\n  %d = pto.alloc_tile : {acc}\n  \
             pto.tmatmul.mx ins(%a, %a_scale, %b, %b_scale : {left}, {scale}, {right}, {other}) outs(%d : {acc})\n  \
             return\n}}\n"
        )
    };
    let errors = |text: &str, profile: Profile| -> Vec<&'static str> {
        Program::read(text, Some(profile)).check().iter().filter(|d| d.is_error()).map(|d| d.rule).collect()
    };
    assert_eq!(errors(&program("left", "scale_left"), Profile::A5), [""; 0]);
    assert_eq!(errors(&program("mat", "scale_left"), Profile::A5), ["tmatmul_mx-loc"]);
    assert_eq!(errors(&program("left", "mat"), Profile::A5), ["tmatmul_mx-loc"]);
    for (left, scale) in [("left", "scale_left"), ("mat", "scale_left"), ("left", "mat"), ("vec", "left")] {
        for profile in Profile::ALL {
            check(&program(left, scale), profile, true);
        }
    }
}
