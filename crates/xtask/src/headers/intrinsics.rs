//! The C++ intrinsics of the rows outside the layout set (cpp.md 6): all that is said here of an instruction is in its row.

use super::signatures::{role as tag, table};
use super::{by_hand, header, screaming};
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

/// The template parameter of a role. A single letter is what programs call macros.
fn type_of(role: Role) -> String {
    let name = format!("{role:?}");
    if name.len() == 1 { format!("Tile{name}") } else { name }
}

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
    let rows = |hand: bool| Opcode::WITH_CPP.iter().filter(move |op| by_hand(**op) == hand).map(|op| op.info());
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
            (_, CppAttr::Algorithm | CppAttr::Hint | CppAttr::Phase | CppAttr::Implied) => {}
            // C++ has more of them than the rows (arguments.hpp).
            _ if name == AttrName::QuantType => {}
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
    /// Template parameters, with their names.
    ahead: Vec<(String, String)>,
    behind: Vec<(String, String)>,
    parameters: Vec<String>,
    arguments: Vec<String>,
    call: String,
}

impl Overload {
    fn add(&mut self, ty: &str, name: &str) {
        self.parameters.push(format!("{ty}{name}"));
        self.arguments.push(name.into());
    }

    /// An argument, or a template argument with its default.
    fn take(&mut self, name: AttrName, ty: &str, default: Option<String>) {
        let template = (
            format!("{ty} {}{}", name.name(), default.map_or_else(String::new, |d| format!(" = {d}"))),
            name.name().into(),
        );
        match name.info().cpp {
            CppAttr::Ahead => self.ahead.push(template),
            CppAttr::Behind => self.behind.push(template),
            _ => self.add(&format!("{ty} "), name.name()),
        }
    }

    fn attribute(&mut self, name: AttrName) {
        let (tag, word) = (attr_tag(name), name.name());
        match (name.info().kind, name.info().default) {
            (AttrKind::Word { list, .. }, Some(AttrValue::Word(usual))) => {
                let usual = format!("{}::{}", name.cpp(), list[usize::from(usual)].cpp);
                self.take(name, name.cpp(), Some(usual.clone()));
                write!(self.call, ".AttrUnless({tag}, {word}, {usual})").unwrap();
            }
            (AttrKind::Word { first, .. }, _) => {
                self.take(name, name.cpp(), None);
                let first = if first == 0 { String::new() } else { format!(" - {first}") };
                write!(self.call, ".Attr({tag}, static_cast<int64_t>({word}){first})").unwrap();
            }
            (AttrKind::Int(_), default) => {
                let is_word = name.cpp().starts_with(char::is_uppercase);
                let default = if let Some(AttrValue::Int(n)) = default { Some(n.to_string()) } else { None };
                self.take(name, if is_word { name.cpp() } else { "int" }, default);
                write!(self.call, ".Attr({tag}, static_cast<int64_t>({word}))").unwrap();
            }
            (AttrKind::Bool, _) => {
                let is_argument = name.info().cpp == CppAttr::Argument;
                self.take(name, if is_argument { "bool" } else { "int" }, Some("0".into()));
                write!(self.call, ".Attr({tag}, static_cast<int64_t>({word}))").unwrap();
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
    let mut others = Opcode::WITH_CPP.iter().copied().filter(|o| *o != op && o.info().cpp.contains(&name));
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
    (!always).then(|| format!(", pto_detail::RunsOn({on:#x}){binary}"))
}

/// The arguments of the roles, as the intrinsic takes them and hands them on.
fn operands(made: &mut Overload, op: Opcode, form: &FormInfo, roles: &[Role], element: Role) {
    for role in roles {
        let (tag, name) = (tag(*role), role.cpp());
        let call = &mut made.call;
        match role.kind() {
            Kind::Tile | Kind::Conv => {
                write!(call, ".Tile({tag}, {name}{})", is_touched(op, form, *role).unwrap_or_default()).unwrap();
                made.add(&format!("{} &", type_of(*role)), name);
            }
            Kind::Fill if role.array().is_some() => {
                let (array, name) = (role.array().unwrap_or_default(), name.trim_end_matches(char::is_numeric));
                let place = roles.iter().filter(|r| r.array() == Some(array)).position(|r| r == role).expect("itself");
                write!(call, ".Value({tag}, pto_detail::ScalarOf<uint32_t>({name}[{place}]))").unwrap();
                if place == 0 {
                    made.add(&format!("const {array} &"), name);
                }
            }
            Kind::Fill => {
                let ty = form.typed.iter().find(|t| t.0 == *role).map(|t| t.1);
                let of = ty.map_or_else(|| format!("typename {}::DType", type_of(element)), str::to_string);
                write!(call, ".Value({tag}, pto_detail::ScalarOf<{of}>({name}))").unwrap();
                let is_named = form.named.contains(role);
                let own = ty.map_or_else(|| format!("pto_detail::ScalarOf<{of}>"), str::to_string);
                made.add(&format!("{} ", if is_named { type_of(*role) } else { own }), name);
            }
            Kind::Index | Kind::Quant => {
                write!(call, ".Scalar({tag}, {name})").unwrap();
                made.add(if role.kind() == Kind::Index { "int64_t " } else { "uint64_t " }, name);
            }
            Kind::Pipe | Kind::Async => panic!("{op} is written by hand"),
            Kind::Counts => {
                write!(call, ".Tile({tag}, counts)").unwrap();
                made.add("MrgSortExecutedNumList &", name);
            }
        }
    }
}

/// One overload, with its `_IMPL` twin and its twin with events: the arguments in C++ order, then attributes. `no_tmp` marks
/// a call without scratch that would otherwise look like another one; `phase` is a first template argument without effect.
fn overload(
    out: &mut String,
    op: Opcode,
    name: &str,
    (form, shape): (&FormInfo, &Shape),
    (phase, attrs): (Option<AttrName>, &[AttrName]),
    no_tmp: bool,
) {
    let info = op.info();
    let roles = shape.arguments(form);
    let tiles: Vec<Role> = roles.iter().copied().filter(|r| r.kind() == Kind::Tile).collect();
    let (first, last) = (tiles.first().expect("a tile"), tiles.last().expect("a tile"));
    // A scalar is an element of the source.
    let element = tiles.iter().find(|r| matches!(r, Role::Src | Role::Src0)).unwrap_or(first);
    let plain = op.shapes().iter().find(|s| shape.same_roles(s)).is_none_or(|first| first.form == form.form);
    let which =
        if plain { String::new() } else { format!(", TESSERA_FORM_{}", screaming(&format!("{:?}", form.form))) };
    let call = format!("pto_detail::Call(TESSERA_OP_{}, \"{name}\", where{which})", screaming(&format!("{op:?}")));
    let mut made = Overload { call, ..Overload::default() };
    made.ahead.extend(phase.map(|a| (format!("{} {}", a.cpp(), a.name()), a.name().to_string())));
    operands(&mut made, op, form, &roles, *element);
    if no_tmp {
        made.parameters.push("NoTmp".into());
        made.arguments.push("NoTmp{}".into());
    }
    for attr in attrs {
        made.attribute(*attr);
    }
    match info.value {
        Some(CppValue::Algorithm(name)) => {
            let says = |a: &&AttrName| matches!(a, AttrName::PrecisionMode | AttrName::HighPrecision);
            if let Some(attr) = info.attrs.iter().find(says) {
                write!(made.call, ".AttrUnless({}, PrecisionType, {name}Algorithm::DEFAULT)", attr_tag(*attr)).unwrap();
            }
            made.ahead.push((format!("auto PrecisionType = {name}Algorithm::DEFAULT"), "PrecisionType".into()));
        }
        Some(CppValue::Flag(name)) => made.ahead.push((format!("bool {name} = true"), name.into())),
        None => {}
    }
    let types = form.cpp_types(&roles).into_iter().map(|r| (format!("typename {}", type_of(r)), type_of(r)));
    let template: Vec<(String, String)> = made.ahead.into_iter().chain(types).chain(made.behind).collect();
    let list = |items: Vec<&str>| items.join(", ");
    let (declared, given) =
        (list(template.iter().map(|t| t.0.as_str()).collect()), list(template.iter().map(|t| t.1.as_str()).collect()));
    let judged: Vec<String> =
        form.judged().filter(|r| roles.contains(r)).map(|r| format!("{{{}, {}::Info}}", tag(r), type_of(r))).collect();
    let id = |id: Option<&str>| format!("\"{}\"", id.or(info.ids.loc).unwrap_or_default());
    let ids = [info.ids.profile, info.ids.loc, info.ids.layout, info.ids.dtype].map(id);
    let (of_first, of_last) = (type_of(*first), type_of(*last));
    let exists = match last_locations(op, name, shape, *last) {
        None if first == last => format!("pto_detail::IsTile<{of_last}>"),
        // Communication has other operands under the same names.
        None => format!("pto_detail::IsTile<{of_first}> && pto_detail::IsTile<{of_last}>"),
        Some(locs) => format!("pto_detail::LiesIn<{of_last}>({locs})"),
    };
    let body = match roles.iter().find(|r| r.kind() == Kind::Counts) {
        Some(role) => {
            let call = format!("if ({}.Done()) {{ pto_detail::ReadCounts({}, counts); }}", made.call, role.cpp());
            format!("pto_detail::CountsTile counts; {call}")
        }
        None => format!("{}.Issue();", made.call),
    };
    writeln!(
        out,
        "PTO_INTRINSIC({name}, ({declared}), ({given}), ({exists}), ({}), ({}),\n    \
         PTO_STATIC_SIG({}, {:?}, {}, {});\n    {body})",
        made.parameters.join(", "),
        made.arguments.join(", "),
        table(op),
        form.form,
        ids.join(", "),
        judged.join(", "),
    )
    .unwrap();
}

/// The overloads of a form as it is written: attributes that may be left out are, from the last one on.
fn overloads(out: &mut String, op: Opcode, name: &str, shape: &Shape) {
    let form = op.form(shape.form).expect("a form");
    if form.by_hand {
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
        && (shape.arguments(form).contains(&Role::Tmp)
            || earlier.any(|s| op.looks_like_another(s) && kinds(s) == kinds(shape)))
    {
        return;
    }
    let always = || [CppAttr::Ahead, CppAttr::Behind, CppAttr::Argument].into_iter().flat_map(of);
    for phase in std::iter::once(None).chain(of(CppAttr::Phase).map(Some)) {
        for given in 0..=optional.len() {
            let attrs: Vec<AttrName> = always().chain(optional.iter().take(given).copied()).collect();
            overload(out, op, name, (form, shape), (phase, &attrs), no_tmp);
        }
    }
}

/// The headers of intrinsics: one for each family, and the types of their arguments.
pub(super) fn all() -> Vec<(&'static str, String)> {
    let mut words = String::new();
    types(&mut words);
    let about = "What the instructions that are made of their rows take besides tiles and numbers.";
    let mut headers = vec![("attributes.hpp", header("PTO_COMMON_ATTRIBUTES_HPP", about, "arguments.hpp", &words))];
    let about =
        "The instructions whose arguments are what their rows say: destinations first, then events to wait for.";
    for (family, file) in FAMILIES {
        let mut out = String::from("inline namespace PTO_PROFILE_NAMESPACE {\n");
        for op in Opcode::WITH_CPP.iter().filter(|op| op.info().family == family) {
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
        headers.push((file, header(&guard, about, "attributes.hpp", &out)));
    }
    headers
}
