//! The functions of Python's `tessera.instructions`.

use tessera_isa::ops::{AttrKind, AttrName, Form, Kind, Opcode, Role};
use tessera_isa::sem::Sem;

/// A way to call an instruction.
#[derive(Clone, Debug)]
pub struct Overload {
    /// The form.
    pub form: Form,
    /// In C++ order.
    pub roles: Vec<Role>,
}

/// The ways to call an instruction; none if it has no tiles.
pub fn overloads(op: Opcode) -> Vec<Overload> {
    let is_callable = |roles: &Vec<Role>| {
        let is_tile = |r: &Role| r.kind() == Kind::Tile && *r != Role::Global;
        // A program's pipes and vectors of counts are no operands of a single instruction.
        let is_given = |r: &Role| !matches!(r.kind(), Kind::Counts | Kind::Pipe | Kind::Async);
        roles.iter().any(is_tile) && roles.iter().all(is_given)
    };
    let all = op.shapes().iter().filter_map(|shape| {
        let mut roles = shape.arguments(op.form(shape.form)?);
        // The element that is read is what the function gives.
        roles.retain(|r| *r != Role::Value);
        Some(Overload { form: shape.form, roles })
    });
    all.filter(|o| is_callable(&o.roles)).collect()
}

/// The instructions that are functions.
pub fn callable() -> impl Iterator<Item = Opcode> {
    Opcode::ALL.iter().copied().filter(|op| !op.info().cpp.is_empty() && !overloads(*op).is_empty())
}

/// Whether the function gives an element.
pub fn gives_element(op: Opcode) -> bool {
    matches!(op.info().sem, Sem::Gets)
}

/// The name of the function.
pub fn name(op: Opcode) -> String {
    op.mnemonic().replace('.', "_")
}

/// The name of an operand's argument: its role, unless that is a word of Python's own.
pub fn argument(role: Role) -> &'static str {
    if role == Role::Global { "global_" } else { role.name() }
}

/// The attributes that are keywords, as text spells them; an array as global memory has a layout tag.
pub fn keywords(op: Opcode) -> Vec<AttrName> {
    let overloads = overloads(op);
    let mut roles = overloads.iter().flat_map(|o| &o.roles);
    let is_role = |attr: &AttrName| roles.clone().any(|r| r.name() == attr.name());
    let mut all: Vec<AttrName> = op.info().attrs.iter().copied().filter(|a| !is_role(a)).collect();
    if !all.contains(&AttrName::Layout) && roles.any(|r| *r == Role::Global) {
        all.push(AttrName::Layout);
    }
    all
}

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

/// The declarations of an instruction, one line for each way to call it.
pub fn declarations(op: Opcode) -> Vec<String> {
    if op.info().cpp.is_empty() {
        return Vec::new();
    }
    let attrs: Vec<String> = keywords(op).iter().map(attribute).collect();
    let declaration = |overload: &Overload| {
        let mut arguments: Vec<String> = overload.roles.iter().map(|r| operand(*r)).collect();
        if !attrs.is_empty() {
            arguments.push("*".into());
            arguments.extend(attrs.iter().cloned());
        }
        let result = if gives_element(op) { "int | float" } else { "None" };
        format!("def {}({}) -> {result}", name(op), arguments.join(", "))
    };
    overloads(op).iter().map(declaration).collect()
}

fn function(op: Opcode) -> String {
    let all = declarations(op);
    let mark = if all.len() == 1 { "" } else { "@overload\n" };
    all.iter().map(|declaration| format!("{mark}{declaration}: ...\n")).collect()
}

/// The stub file of `tessera.instructions`.
pub fn stub() -> String {
    let functions: Vec<String> = callable().map(function).collect();
    let mut names: Vec<String> = callable().map(|op| format!("    \"{}\",\n", name(op))).collect();
    names.sort_unstable();
    format!(
        "# Generated from the instruction table by `cargo xtask codegen`; do not edit.\n\n\
         from collections.abc import Sequence\nfrom typing import Literal, overload\n\n\
         from numpy.typing import ArrayLike\n\nfrom ._tessera import Tile\n\n__all__ = [\n{}]\n\n{}",
        names.concat(),
        functions.concat()
    )
}
