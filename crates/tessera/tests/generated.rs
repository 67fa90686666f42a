//! The intrinsics of every row outside the layout set are what the instruction table says.
//! `BLESS=1 cargo test --test generated` writes them anew.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::path::Path;
use tessera_isa::ops::{AttrKind, AttrName, CppAttr, Effect, Family, Form, FormInfo, Kind, Opcode, Role, Shape};

/// The families with intrinsics that are made of their rows, each with its file and what it holds.
const FAMILIES: [(Family, &str, &str); 5] = [
    (Family::Elementwise, "elementwise", "Elementwise instructions (isa/elementwise.md)."),
    (Family::Scalar, "scalar", "Tile-scalar instructions (isa/scalar.md)."),
    (Family::Reduce, "reduce", "Reductions and expansions (isa/reduce.md)."),
    (Family::Matrix, "matrix", "Matrix products (isa/matrix.md)."),
    (Family::Irregular, "irregular", "Instructions whose data decides where (isa/irregular.md)."),
];

fn snake(name: &str) -> String {
    let mut out = String::new();
    for (n, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && n > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The name of a form: the mnemonic, what the form is where it is not the first one, and the optional operands given.
fn name(op: Opcode, form: &FormInfo, roles: &[Role]) -> String {
    let mut name = op.mnemonic().to_string();
    if op.info().forms.first().is_none_or(|first| first.form != form.form) {
        name = format!("{name}_{}", snake(&format!("{:?}", form.form)));
    }
    for role in form.operands().filter(|o| o.optional && roles.contains(&o.role)).map(|o| o.role) {
        name = format!("{name}_{}", snake(&format!("{role:?}")));
    }
    name
}

fn intrinsic(out: &mut String, op: Opcode, form: &FormInfo, shape: &Shape) {
    let info = op.info();
    let roles = shape.arguments(form);
    let (mut types, mut arguments) = (Vec::new(), Vec::new());
    for role in &roles {
        let effect = form.operand(*role).map_or(Effect::Read, |o| o.effect);
        let (how, bound) = match role.kind() {
            Kind::Tile | Kind::Conv if effect == Effect::Read => ("read", "AsTile"),
            // Counts are a tile of one row here.
            Kind::Tile | Kind::Conv | Kind::Counts => ("write", "AsTile"),
            Kind::Fill | Kind::Quant => ("value", "Element"),
            Kind::Index => ("index", ""),
            Kind::Pipe => panic!("{op} has a pipe, which is no tile"),
        };
        arguments.push(format!("{}: {how} {role:?}", snake(&format!("{role:?}"))));
        if !bound.is_empty() {
            types.push(format!("{role:?}: {bound}"));
        }
    }
    // Words are arguments, and so is a flag where its operand is; hints are the dynamic interface's.
    let is_there = |a: &&AttrName| a.info().beside.is_none_or(|role| roles.contains(&role));
    let given = |a: &&AttrName| !matches!(a.info().cpp, CppAttr::Algorithm | CppAttr::Phase | CppAttr::Hint);
    let attrs: Vec<&AttrName> = info.attrs_of(form).iter().filter(is_there).filter(given).collect();
    if attrs.iter().any(|a| matches!(a.info().kind, AttrKind::Word { .. })) {
        arguments.push("attrs: attrs Attrs".into());
    }
    let flags = attrs.iter().filter(|a| matches!(a.info().kind, AttrKind::Bool));
    arguments.extend(flags.map(|a| format!("{}: flag {a:?}", snake(&format!("{a:?}")))));
    let call: Vec<&str> = roles.iter().map(|r| r.cpp()).chain(attrs.iter().map(|a| a.name())).collect();
    let judged: Vec<String> =
        form.judged().filter(|r| roles.contains(r)).map(|role| format!("{role:?}: {role:?}")).collect();
    let cpp = info.cpp.first().copied().unwrap_or_default();
    writeln!(out, "    /// `{cpp}({})`: {}\n    ///", call.join(", "), info.summary).unwrap();
    writeln!(out, "    /// `{}` ({})", info.formula, info.source).unwrap();
    let name = name(op, form, &roles);
    writeln!(out, "    {name}[{}]({})", types.join(", "), arguments.join(", ")).unwrap();
    writeln!(out, "        = {op:?} {:?} {{{}}};\n", form.form, judged.join(", ")).unwrap();
}

/// An intrinsic with a view: what it takes is decided when it runs. Attributes come last.
fn transfer(out: &mut String, op: Opcode, form: &FormInfo, shape: &Shape) {
    let info = op.info();
    let roles = shape.arguments(form);
    let way = if form.out_roles().any(|r| r == Role::Global) { "into" } else { "from" };
    let (mut types, mut arguments) = (Vec::new(), Vec::new());
    for role in &roles {
        let is_read = form.operand(*role).is_none_or(|o| o.effect == Effect::Read);
        let how = match role.kind() {
            _ if *role == Role::Global => way,
            Kind::Quant => "quant",
            Kind::Index => "index",
            _ if is_read => "read",
            _ => "write",
        };
        arguments.push(format!("{}: {how} {role:?}", snake(&format!("{role:?}"))));
        if matches!(how, "read" | "write") {
            types.push(format!("{role:?}: AsTile"));
        }
    }
    if !info.attrs.is_empty() {
        arguments.push("attrs: attrs Attrs".into());
    }
    let cpp = info.cpp.first().copied().unwrap_or_default();
    let call: Vec<&str> = roles.iter().map(|r| r.cpp()).collect();
    writeln!(out, "    /// `{cpp}({})`: {}\n    ///", call.join(", "), info.summary).unwrap();
    writeln!(out, "    /// `{}` ({})", info.formula, info.source).unwrap();
    let mut name = name(op, form, &roles);
    // The plain loads and stores of slices are written by hand.
    if info.by_flows() && form.form == Form::Plain && !info.attrs.is_empty() {
        name += "_with";
    }
    writeln!(out, "    {name}[{}]({}) = {op:?} {way} global;\n", types.join(", "), arguments.join(", ")).unwrap();
}

#[test]
fn the_transfers_are_those_of_the_table() {
    let mut rows = String::new();
    for op in Opcode::ALL.iter().filter(|op| op.info().family == Family::Memory) {
        for shape in op.shapes() {
            transfer(&mut rows, *op, op.form(shape.form).unwrap(), shape);
        }
    }
    let uses = "use crate::typed::AsTile;\nuse crate::typed::intrinsic::transfers;\n";
    bless("memory", "Between global memory and tiles (isa/memory.md).", uses, "transfers", &rows);
}

/// The file of a family is what the table says.
fn bless(name: &str, about: &str, uses: &str, of: &str, rows: &str) {
    let text = format!(
        "//! {about}\n//!\n//! Generated from the instruction table by the test `generated`; do not edit.\n\n{uses}\n\
         {of}! {{\n{}\n}}\n",
        rows.trim_end()
    );
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/typed/generated/{name}.rs"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let is_same = std::fs::read_to_string(&file).unwrap_or_default() == text;
    assert!(is_same, "{} is not what the table says; BLESS=1 writes it", file.display());
}

#[test]
fn the_intrinsics_are_those_of_the_table() {
    // Views have types of their own, so instructions with them are written by hand.
    let has_view = |op: &Opcode| op.info().forms.iter().flat_map(|f| f.operands()).any(|o| o.role == Role::Global);
    for op in Opcode::ALL.iter().filter(|op| !op.info().by_flows() && !has_view(op)) {
        assert!(FAMILIES.iter().any(|f| f.0 == op.info().family), "{op} has no file");
    }
    for (family, name, about) in FAMILIES {
        let mut rows = String::new();
        for op in Opcode::ALL.iter().filter(|op| op.info().family == family && !op.info().cpp.is_empty()) {
            let roles = |s: &Shape| s.arguments(op.form(s.form).unwrap());
            for (n, shape) in op.shapes().iter().enumerate() {
                // Text may write the operands of one form in two ways; a scalar that comes back is written by hand.
                let is_another = op.shapes().iter().take(n).any(|s| s.form != shape.form && roles(s) == roles(shape));
                if !is_another && !shape.outs.contains(&Role::Value) {
                    intrinsic(&mut rows, *op, op.form(shape.form).unwrap(), shape);
                }
            }
        }
        let macros = "use crate::typed::intrinsic::intrinsics;\n";
        let uses = match rows.contains(": Element") {
            true => format!("{macros}use crate::typed::{{AsTile, Element}};\n"),
            false => format!("use crate::typed::AsTile;\n{macros}"),
        };
        bless(name, about, &uses, "intrinsics", &rows);
    }
}
