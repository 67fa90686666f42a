//! The C++ intrinsics of the rows outside the layout set (cpp.md 6): all that is said here of an instruction is in its row.

use crate::signatures::{role as tag, table};
use crate::{by_hand, header, screaming};
use std::fmt::Write;
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrKind, AttrName, CppAttr, CppValue, Family, FormInfo, Kind, Opcode, Role, Shape};
use tessera_isa::profile::Profile;

/// The families whose intrinsics are made of their rows, and their headers.
const FAMILIES: [(Family, &str); 5] = [
    (Family::Elementwise, "elementwise.hpp"),
    (Family::Scalar, "scalar.hpp"),
    (Family::Reduce, "reduce.hpp"),
    (Family::Matrix, "matrix.hpp"),
    (Family::Irregular, "irregular.hpp"),
];

/// The tag of an attribute.
fn attr_tag(name: AttrName) -> String {
    format!("TESSERA_ATTR_NAME_{}", screaming(&format!("{name:?}")))
}

/// The enumerators of an attribute's words; two words may share one.
fn enumerators(name: AttrName) -> Vec<&'static str> {
    let AttrKind::Word { list, .. } = name.info().kind else { return Vec::new() };
    let mut words: Vec<&str> = Vec::new();
    for word in list.iter().filter(|w| !list.iter().take_while(|o| o.name != w.name).any(|o| o.cpp == w.cpp)) {
        words.push(word.cpp);
    }
    words
}

/// The types of arguments and template arguments, as far as the instructions that are written by hand do not have them.
fn types(out: &mut String) {
    let rows = |hand: bool| Opcode::ALL.iter().filter(move |op| by_hand(**op) == hand).map(|op| op.info());
    let with = |name: AttrName, hand: bool| rows(hand).any(|row| row.attrs.contains(&name));
    let is_ours = |name: &AttrName| with(*name, false) && !with(*name, true);
    let mut named: Vec<&str> = Vec::new();
    for name in AttrName::ALL.iter().copied().filter(is_ours) {
        // Attributes may share a type of words.
        if named.contains(&name.cpp()) {
            continue;
        }
        named.push(name.cpp());
        match (name.info().kind, name.info().cpp) {
            (_, CppAttr::Algorithm | CppAttr::Hint) => {}
            (AttrKind::Word { first, .. }, _) => {
                let first = if first == 0 { String::new() } else { format!(" = {first}") };
                let all = enumerators(name).join(", ").replacen(',', &format!("{first},"), 1);
                writeln!(out, "enum class {} : uint32_t {{ {all} }};", name.cpp()).unwrap();
            }
            (AttrKind::Int(_), CppAttr::Optional) => {
                writeln!(out, "// {}\nenum class {} : int64_t {{}};", name.info().about, name.cpp()).unwrap();
            }
            _ => {}
        }
    }
    let mut known = Vec::new();
    writeln!(out, "// Wishes for precision: both give the same bits (isa/elementwise.md 3).").unwrap();
    for row in rows(false) {
        if let Some(CppValue::Algorithm(name)) = row.value
            && !known.contains(&name)
        {
            writeln!(out, "enum class {name}Algorithm : uint32_t {{ DEFAULT, HIGH_PRECISION }};").unwrap();
            known.push(name);
        }
    }
}

/// One overload while it is written.
#[derive(Default)]
struct Overload {
    parameters: Vec<String>,
    arguments: Vec<String>,
    call: String,
}

impl Overload {
    fn add(&mut self, ty: &str, name: &str) {
        self.parameters.push(format!("{ty}{name}"));
        self.arguments.push(name.into());
    }

    fn attribute(&mut self, name: AttrName) {
        let (tag, word) = (attr_tag(name), name.name());
        match (name.info().kind, name.info().default) {
            (AttrKind::Word { list, .. }, Some(AttrValue::Word(usual))) => {
                self.add(&format!("{} ", name.cpp()), word);
                let usual = format!("{}::{}", name.cpp(), list[usize::from(usual)].cpp);
                write!(self.call, ".AttrUnless({tag}, {word}, {usual})").unwrap();
            }
            (AttrKind::Word { first, .. }, _) => {
                self.add(&format!("{} ", name.cpp()), word);
                let first = if first == 0 { String::new() } else { format!(" - {first}") };
                write!(self.call, ".Attr({tag}, static_cast<int64_t>({word}){first})").unwrap();
            }
            (AttrKind::Int(_), _) => {
                let is_word = name.info().cpp == CppAttr::Optional;
                self.add(&if is_word { format!("{} ", name.cpp()) } else { "int64_t ".into() }, word);
                write!(self.call, ".Attr({tag}, static_cast<int64_t>({word}))").unwrap();
            }
            (AttrKind::Bool, _) => {
                self.add("bool ", word);
                write!(self.call, ".Attr({tag}, {word})").unwrap();
            }
            (AttrKind::Ints(_) | AttrKind::Number | AttrKind::Name, _) => panic!("{name} has no argument in C++ yet"),
        }
    }
}

/// Where the last tile lies, where another row's intrinsic has the same name and as many tiles.
fn last_locations(op: Opcode, name: &str, shape: &Shape, last: Role) -> Option<String> {
    let kinds = |op: Opcode, s: &Shape| {
        let roles = op.form(s.form).map(|form| s.arguments(form)).unwrap_or_default();
        roles.into_iter().map(Role::kind).collect::<Vec<_>>()
    };
    let mut others = Opcode::ALL.iter().copied().filter(|o| *o != op && o.info().cpp.contains(&name));
    let is_shared = others.any(|o| o.shapes().iter().any(|s| kinds(o, s) == kinds(op, shape)));
    let locs: u32 = op.info().sigs.iter().flat_map(|s| s.locs_of(last)).fold(0, |set, l| set | 1 << *l as u32);
    is_shared.then(|| format!("{locs:#x}"))
}

/// The profiles that touch a scratch operand, as a condition; elsewhere it needs no storage.
fn is_touched(op: Opcode, form: &FormInfo, role: Role) -> Option<String> {
    let operand = form.operand(role).expect("an operand");
    let on: u32 = Profile::ALL.iter().filter(|p| operand.used.has(**p)).map(|p| 1 << *p as u32).sum();
    let always = Profile::ALL.iter().all(|p| operand.used.has(*p));
    let binary = if op.info().attrs.contains(&AttrName::IsBinary) { " || isBinary" } else { "" };
    (!always).then(|| format!(", detail::RunsOn({on:#x}){binary}"))
}

/// One overload and its `_IMPL` twin: the arguments in C++ order, then attributes, then events. `no_tmp` marks a call
/// without scratch that would otherwise look like another one.
fn overload(
    out: &mut String,
    op: Opcode,
    name: &str,
    (form, shape): (&FormInfo, &Shape),
    attrs: &[AttrName],
    no_tmp: bool,
) {
    let info = op.info();
    let roles = shape.arguments(form);
    let tiles: Vec<Role> = roles.iter().copied().filter(|r| r.kind() == Kind::Tile).collect();
    let (first, last) = (tiles.first().expect("a tile"), tiles.last().expect("a tile"));
    // A scalar is an element of the source.
    let element = tiles.iter().find(|r| matches!(r, Role::Src | Role::Src0)).unwrap_or(first);
    let mut made =
        Overload { call: format!("detail::Call(TESSERA_OP_{}", screaming(&format!("{op:?}"))), ..Overload::default() };
    let plain = op.shapes().iter().find(|s| shape.same_roles(s)).is_none_or(|first| first.form == form.form);
    made.call +=
        &if plain { ")".into() } else { format!(", TESSERA_FORM_{})", screaming(&format!("{:?}", form.form))) };
    for role in &roles {
        let (ty, how, rest) = match role.kind() {
            Kind::Tile | Kind::Conv => (format!("{role:?} &"), "Tile", is_touched(op, form, *role).unwrap_or_default()),
            Kind::Fill => (format!("detail::ScalarOf<typename {element:?}::DType> "), "Value", String::new()),
            Kind::Index => ("int64_t ".into(), "Scalar", String::new()),
            Kind::Quant => ("uint64_t ".into(), "Scalar", String::new()),
            Kind::Counts | Kind::Pipe => unreachable!("not a value of the C ABI"),
        };
        made.add(&ty, role.cpp());
        write!(made.call, ".{how}({}, {}{rest})", tag(*role), role.cpp()).unwrap();
    }
    if no_tmp {
        made.parameters.push("NoTmp".into());
        made.arguments.push("NoTmp{}".into());
    }
    for attr in attrs {
        made.attribute(*attr);
    }
    let value = info.value.map(|value| match value {
        CppValue::Algorithm(name) => {
            let says = |a: &&AttrName| matches!(a, AttrName::PrecisionMode | AttrName::HighPrecision);
            if let Some(attr) = info.attrs.iter().find(says) {
                write!(made.call, ".AttrUnless({}, PrecisionType, {name}Algorithm::DEFAULT)", attr_tag(*attr)).unwrap();
            }
            (format!("auto PrecisionType = {name}Algorithm::DEFAULT, "), "<PrecisionType>".to_string())
        }
        CppValue::Flag(name) => (format!("bool {name} = true, "), format!("<{name}>")),
    });
    let (declared, given) = value.unwrap_or_default();
    let named = form.named.iter().filter(|r| tiles.contains(r));
    let others = tiles.iter().filter(|r| !form.named.contains(r));
    let types = named.chain(others).map(|r| format!("typename {r:?}")).collect::<Vec<_>>().join(", ");
    let judged: Vec<String> =
        form.judged().filter(|r| roles.contains(r)).map(|r| format!("{{{}, {r:?}::Info}}", tag(r))).collect();
    let id = |id: Option<&str>| format!("\"{}\"", id.or(info.ids.loc).unwrap_or_default());
    let ids = [info.ids.profile, info.ids.loc, info.ids.layout, info.ids.dtype].map(id);
    let Overload { parameters, arguments, call } = made;
    let (is_void, is_event) = match last_locations(op, name, shape, *last) {
        None => ("void".to_string(), format!("detail::TileEventIf<{last:?}, WaitEvents...>")),
        Some(locs) => (
            format!("std::enable_if_t<detail::LiesIn<{last:?}>({locs})>"),
            format!("std::enable_if_t<detail::LiesIn<{last:?}>({locs}), detail::TileEventIf<{last:?}, WaitEvents...>>"),
        ),
    };
    write!(
        out,
        "template <{declared}{types}>\nPTO_INST {is_void} {name}_IMPL({0})\n{{ PTO_STATIC_SIG({1}, {2:?}, {3}, {4}); \
         {call}.Issue(); }}\ntemplate <{declared}{types}, typename... WaitEvents>\nPTO_INST \
         {is_event} {name}({0}, WaitEvents &...)\n{{ return {name}_IMPL{given}({5}), \
         RecordEvent{{}}; }}\n",
        parameters.join(", "),
        table(op),
        form.form,
        ids.join(", "),
        judged.join(", "),
        arguments.join(", "),
    )
    .unwrap();
}

/// The overloads of a form as it is written: attributes that may be left out are, from the last one on.
fn overloads(out: &mut String, op: Opcode, name: &str, shape: &Shape) {
    let form = op.form(shape.form).expect("a form");
    // The C ABI has no vectors of counts.
    if shape.arguments(form).iter().any(|r| r.kind() == Kind::Counts) {
        return;
    }
    let is_there = |a: &&AttrName| a.info().beside.is_none_or(|role| shape.ins.contains(&role));
    let of =
        |cpp: CppAttr| op.info().attrs_of(form).iter().filter(is_there).filter(move |a| a.info().cpp == cpp).copied();
    let optional: Vec<AttrName> = of(CppAttr::Optional).collect();
    let no_tmp = op.looks_like_another(shape);
    // Where leaving out scratch does not tell forms apart either, the first one has the name.
    let kinds =
        |s: &Shape| s.arguments(op.form(s.form).expect("a form")).into_iter().map(Role::kind).collect::<Vec<_>>();
    let mut earlier = op.shapes().iter().take_while(|s| !std::ptr::eq(*s, shape));
    if no_tmp
        && (shape.ins.contains(&Role::Tmp) || earlier.any(|s| op.looks_like_another(s) && kinds(s) == kinds(shape)))
    {
        return;
    }
    for given in 0..=optional.len() {
        let attrs: Vec<AttrName> = of(CppAttr::Argument).chain(optional.iter().take(given).copied()).collect();
        overload(out, op, name, (form, shape), &attrs, no_tmp);
    }
}

/// The headers of intrinsics: one for each family, and the types of their arguments.
pub fn all() -> Vec<(&'static str, String)> {
    let mut words = String::new();
    types(&mut words);
    let about = "What the instructions that are made of their rows take besides tiles and numbers.";
    let mut headers = vec![("words.hpp", header("PTO_COMMON_WORDS_HPP", about, "issue.hpp", &words))];
    let about =
        "The instructions whose arguments are what their rows say: destinations first, then events to wait for.";
    for (family, file) in FAMILIES {
        let mut out = String::from("inline namespace PTO_PROFILE_NAMESPACE {\n");
        for op in Opcode::ALL.iter().filter(|op| op.info().family == family) {
            let info = op.info();
            // What binds a tile or sets a mode is written by hand (products.hpp).
            if info.binds.is_some() || info.forms.is_empty() {
                continue;
            }
            writeln!(out, "\n// {} {} ({})", info.summary, info.formula, info.source).unwrap();
            for name in info.cpp {
                op.shapes().iter().for_each(|shape| overloads(&mut out, *op, name, shape));
            }
        }
        out += "\n} // namespace PTO_PROFILE_NAMESPACE";
        let guard = format!("PTO_COMMON_{}_HPP", file.split('.').next().unwrap().to_uppercase());
        headers.push((file, header(&guard, about, "words.hpp", &out)));
    }
    headers
}
