//! The C++ intrinsics of the rows outside the layout set.

use crate::signatures::{role as tag, table};
use crate::{by_hand, header, screaming};
use std::fmt::Write;
use tessera_isa::ops::{AttrKind, AttrName, FormInfo, Kind, Opcode, Role, Shape};

/// Whether an attribute is an argument, and of which type.
fn attribute(name: AttrName) -> &'static str {
    match name.info().kind {
        AttrKind::Word { .. } => name.cpp(),
        AttrKind::Int(_) => "int64_t",
        AttrKind::Bool => "bool",
        AttrKind::Ints(_) | AttrKind::Number => panic!("{name} has no argument in C++ yet"),
    }
}

/// The words of attributes, as far as the instructions that are written by hand do not have them.
fn words(out: &mut String) {
    let with = |name: AttrName, hand: bool| {
        Opcode::ALL.iter().any(|op| by_hand(*op) == hand && op.info().attrs.contains(&name))
    };
    for name in AttrName::ALL.iter().copied().filter(|n| with(*n, false) && !with(*n, true)) {
        if let AttrKind::Word { list, first, .. } = name.info().kind {
            let words: Vec<&str> = list.iter().map(|w| w.cpp).collect();
            let first = if first == 0 { String::new() } else { format!(" = {first}") };
            let all = words.join(", ").replacen(',', &format!("{first},"), 1);
            writeln!(out, "\nenum class {} : uint32_t {{ {all} }};", name.cpp()).unwrap();
        }
    }
}

/// One overload: the arguments in C++ order, then attributes, then events.
fn overload(out: &mut String, op: Opcode, name: &str, form: &FormInfo, shape: &Shape) {
    let info = op.info();
    let given = |role: &Role| shape.ins.contains(role) || shape.outs.contains(role);
    let roles: Vec<Role> = form.cpp_order().into_iter().filter(given).collect();
    let tiles: Vec<Role> = roles.iter().copied().filter(|r| r.kind() == Kind::Tile).collect();
    let (first, last) = (tiles.first().expect("a tile"), tiles.last().expect("a tile"));
    let mut call = format!("detail::Call(TESSERA_OP_{})", screaming(&format!("{op:?}")));
    let mut arguments = Vec::new();
    for role in &roles {
        let (ty, how) = match role.kind() {
            Kind::Tile | Kind::Conv => (format!("{role:?} &"), "Tile"),
            Kind::Fill => (format!("typename {first:?}::DType "), "Scalar"),
            Kind::Index => ("int64_t ".into(), "Scalar"),
            Kind::Quant => ("uint64_t ".into(), "Scalar"),
            Kind::Counts => ("MrgSortExecutedNumList &".into(), "Counts"),
        };
        arguments.push(format!("{ty}{}", role.cpp()));
        write!(call, ".{how}({}, {})", tag(*role), role.cpp()).unwrap();
    }
    for attr in info.attrs {
        let ty = attribute(*attr);
        arguments.push(format!("{ty} {}", attr.name()));
        let value = format!("static_cast<int64_t>({})", attr.name());
        write!(call, ".Attr(TESSERA_ATTR_NAME_{}, {value})", screaming(&format!("{attr:?}"))).unwrap();
    }
    let types: Vec<String> = tiles.iter().map(|r| format!("typename {r:?}")).collect();
    let judged: Vec<String> = form.judged().map(|r| format!("{{{}, {r:?}::Info}}", tag(r))).collect();
    let id = |id: Option<&str>| format!("\"{}\"", id.or(info.ids.loc).unwrap_or_default());
    let ids = [info.ids.profile, info.ids.loc, info.ids.layout, info.ids.dtype].map(id);
    write!(
        out,
        "template <{}, typename... WaitEvents>\n\
         PTO_INST detail::TileEventIf<{last:?}, WaitEvents...> {name}({}, WaitEvents &...)\n{{\n    \
         PTO_STATIC_SIG({}, {:?}, {}, {});\n    return {call}.Issue();\n}}\n",
        types.join(", "),
        arguments.join(", "),
        table(op),
        form.form,
        ids.join(", "),
        judged.join(", "),
    )
    .unwrap();
}

pub fn all() -> String {
    let mut out = String::from("inline namespace PTO_PROFILE_NAMESPACE {\n");
    words(&mut out);
    for op in Opcode::ALL.iter().filter(|op| !by_hand(**op)) {
        let info = op.info();
        writeln!(out, "\n// {} {} ({})", info.summary, info.formula, info.source).unwrap();
        for name in info.cpp {
            for shape in op.shapes() {
                overload(&mut out, *op, name, op.form(shape.form).expect("a form"), shape);
            }
        }
    }
    out += "\n} // namespace PTO_PROFILE_NAMESPACE";
    let about =
        "The instructions whose arguments are what their rows say: destinations first, then events to wait for.";
    header("PTO_COMMON_INSTRUCTIONS_HPP", about, "issue.hpp", &out)
}
