//! The types of the instructions' functions, as a stub file has them.

use crate::instruction::{argument, callable, gives, keywords, name, overloads};
use pyo3::prelude::*;
use tessera::{AttrName, Opcode, Role};
use tessera_isa::ops::{AttrKind, Kind};

fn operand(role: Role) -> String {
    let ty = match role.kind() {
        _ if role == Role::Global => "ArrayLike",
        Kind::Tile | Kind::Conv => "Tile",
        Kind::Fill => "float",
        _ => "int",
    };
    format!("{}: {ty}", argument(role))
}

fn attribute(name: &AttrName) -> String {
    let ty = match name.info().kind {
        AttrKind::Word { list, .. } => {
            let words: Vec<String> = list.iter().map(|w| format!("\"{}\"", w.name)).collect();
            format!("Literal[{}]", words.join(", "))
        }
        AttrKind::Bool => "bool".into(),
        AttrKind::Ints(_) => "Sequence[int]".into(),
        AttrKind::Number => "float".into(),
        AttrKind::Int(_) => "int".into(),
        AttrKind::Name => "str".into(),
    };
    format!("{}: {ty} | None = None", name.name())
}

fn function(op: Opcode) -> String {
    let attrs: Vec<String> = keywords(op).iter().map(attribute).collect();
    let overloads = overloads(op);
    let mark = if overloads.len() == 1 { "" } else { "@overload\n" };
    let mut out = String::new();
    for overload in &overloads {
        let mut arguments: Vec<String> = overload.roles.iter().map(|r| operand(*r)).collect();
        if !attrs.is_empty() {
            arguments.push("*".into());
            arguments.extend(attrs.iter().cloned());
        }
        let result = if gives(op) { "int | float" } else { "None" };
        out.push_str(&format!("{mark}def {}({}) -> {result}: ...\n", name(op), arguments.join(", ")));
    }
    out
}

/// The stub file of `tessera.instructions`.
#[pyfunction]
pub fn stub() -> String {
    let functions: Vec<String> = callable().map(function).collect();
    let mut names: Vec<String> = callable().map(|op| format!("    \"{}\",\n", name(op))).collect();
    names.sort_unstable();
    format!(
        "# Generated from the instruction table by bindings/python/tests/test_stubs.py; do not edit.\n\n\
         from collections.abc import Sequence\nfrom typing import Literal, overload\n\n\
         from numpy.typing import ArrayLike\n\nfrom ._tessera import Tile\n\n__all__ = [\n{}]\n\n{}",
        names.concat(),
        functions.concat()
    )
}
