//! The intrinsics of every row outside the layout set are what the instruction table says.
//! `BLESS=1 cargo test --test generated` writes them anew.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::path::Path;
use tessera_isa::ops::{Effect, FormInfo, Kind, Opcode, Role, Shape};

const HEAD: &str = "//! The intrinsics of the instruction table's rows outside the layout set.
//!
//! Generated from the table by the test `generated`; do not edit.

";

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
    let roles: Vec<Role> =
        form.cpp_order().into_iter().filter(|r| shape.ins.contains(r) || shape.outs.contains(r)).collect();
    let (mut types, mut arguments) = (Vec::new(), Vec::new());
    for role in &roles {
        let effect = form.operand(*role).map_or(Effect::Read, |o| o.effect);
        let (how, bound) = match role.kind() {
            Kind::Tile | Kind::Conv if effect == Effect::Read => ("read", "AsTile"),
            Kind::Tile | Kind::Conv => ("write", "AsTile"),
            Kind::Fill | Kind::Quant => ("value", "Element"),
            Kind::Index => ("index", ""),
            Kind::Counts => ("counts", ""),
        };
        arguments.push(format!("{}: {how} {role:?}", snake(&format!("{role:?}"))));
        if !bound.is_empty() {
            types.push(format!("{role:?}: {bound}"));
        }
    }
    if !info.attrs.is_empty() {
        arguments.push("attrs: attrs Attrs".into());
    }
    let call: Vec<&str> = roles.iter().map(|r| r.cpp()).collect();
    let judged: Vec<String> = form.judged().map(|role| format!("{role:?}: {role:?}")).collect();
    let cpp = info.cpp.first().copied().unwrap_or_default();
    writeln!(out, "    /// `{cpp}({})`: {}\n    ///", call.join(", "), info.summary).unwrap();
    writeln!(out, "    /// `{}` ({})", info.formula, info.source).unwrap();
    let name = name(op, form, &roles);
    writeln!(out, "    {name}[{}]({})", types.join(", "), arguments.join(", ")).unwrap();
    writeln!(out, "        = {op:?} {:?} {{{}}};\n", form.form, judged.join(", ")).unwrap();
}

#[test]
fn the_intrinsics_are_those_of_the_table() {
    let mut rows = String::new();
    for op in Opcode::ALL {
        let info = op.info();
        if info.by_flows() || info.cpp.is_empty() {
            continue;
        }
        for shape in op.shapes() {
            let form = op.form(shape.form).unwrap();
            intrinsic(&mut rows, *op, form, shape);
        }
    }
    let mut uses = String::from("use super::AsTile;\n");
    if rows.contains(": Element") {
        uses += "use super::Element;\n";
    }
    let text = format!("{HEAD}{uses}use super::intrinsic::intrinsics;\n\nintrinsics! {{\n{}\n}}\n", rows.trim_end());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/typed/generated.rs");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    assert!(std::fs::read_to_string(&file).unwrap() == text, "{} differs from the table; bless it", file.display());
}
