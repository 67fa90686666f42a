//! The legality tables of the headers.

use super::{header, screaming};
use std::collections::BTreeMap;
use std::fmt::Write;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Form, Lay, Layouts, Opcode, Role, Sig, TypeOf, Types};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{LayoutName, Loc, SLayout, TileType};

fn bits<T: Copy>(items: &[T], position: impl Fn(T) -> usize) -> u64 {
    items.iter().fold(0, |set, i| set | 1 << position(*i))
}

fn elems(list: &[Elem]) -> u64 {
    bits(list, |e| e as usize)
}

/// What a profile is: memories, element types, and the layouts of tiles.
pub(super) fn profiles() -> String {
    let mut out = String::from("namespace pto_model {\n\n");
    out += "// Bytes of each memory by profile and location; -1 is without limit, 0 is absent.\n";
    writeln!(out, "inline constexpr int64_t kMemoryBytes[][{}] = {{", Loc::ALL.len()).unwrap();
    for profile in Profile::ALL {
        let size = |loc: &Loc| match profile.memory(*loc).map(|m| m.bytes) {
            None => "0".to_string(),
            Some(None) => "-1".to_string(),
            Some(Some(bytes)) => bytes.to_string(),
        };
        writeln!(out, "    {{{}}},", Loc::ALL.iter().map(size).collect::<Vec<_>>().join(", ")).unwrap();
    }
    out += "};\n\n// The element types of a profile, as sets of tags.\ninline constexpr uint32_t kElems[] = {";
    let exists = |p: Profile, e: Elem| TileType::new(Loc::Vec, e, 64, 64).resolve(p).broken(p).is_none();
    let sets = Profile::ALL.map(|p| {
        let all: Vec<Elem> = Elem::ALL.iter().copied().filter(|e| exists(p, *e)).collect();
        format!("{:#x}", elems(&all))
    });
    out += &sets.join(", ");
    out += "};\n\nstruct UsualLayout {\n    BLayout outer;\n    SLayout inner;\n    int fractal;\n};\n\n";
    out += "// The order and the fractal that a location usually has (tile-model.md 5), by profile and location.\n";
    writeln!(out, "inline constexpr UsualLayout kUsual[][{}] = {{", Loc::ALL.len()).unwrap();
    for profile in Profile::ALL {
        out += "    {";
        for loc in Loc::ALL {
            let (b, s, fractal) = loc.usual(profile);
            write!(out, "{{BLayout::{}, SLayout::{}, {fractal}}}, ", b.cpp(), s.cpp()).unwrap();
        }
        out = format!("{}}},\n", out.trim_end_matches(", "));
    }
    out += "};\n\n// Rows and columns of a box of more than one row, by inner order, fractal (512, 1024, 32) and bits (4 to 64).\n";
    out += "inline constexpr int kBox[][3][5][2] = {\n";
    for inner in SLayout::ALL {
        out += "    {";
        for fractal in [512, 1024, 32] {
            let elems = [Elem::F4e2m1x2, Elem::I8, Elem::F16, Elem::F32, Elem::I64];
            let one = |elem: &Elem| {
                let (outer, ..) = Loc::Vec.usual(Profile::A5);
                let ty = TileType::new(Loc::Vec, *elem, 2, 2).with_layout(outer, *inner, fractal);
                let (rows, cols) = ty.resolve(Profile::A5).box_dims().unwrap();
                format!("{{{rows}, {cols}}}")
            };
            write!(out, "{{{}}}, ", elems.iter().map(one).collect::<Vec<_>>().join(", ")).unwrap();
        }
        out = format!("{}}},\n", out.trim_end_matches(", "));
    }
    out += "};\n\n} // namespace pto_model";
    header("PTO_COMMON_PROFILES_HPP", "What profiles have (tile-model.md 1, 2, 5).", "type.hpp", &out)
}

const TYPES: &str = "
// A condition of a signature. A signature begins with the profiles and forms that have it; then come ways to place its
// operands, ways to lay them out and ways to type them. Of each that is asked one way must fit, which is where all of its
// conditions hold.
enum class Ask : uint8_t {
    On,
    Locations,
    Layouts,
    Types,
    Loc,
    Layout,
    Fractal,
    Usual,
    Rows,
    Cols,
    RowMajor,
    OneLine,
    SameLayout,
    Elem,
    SameElem,
    SameSize,
};

// roles is the set of operands that are asked (0: all), of On the set of forms; value is a set, a number or a role.
struct Condition {
    Ask ask;
    uint64_t roles;
    uint32_t value;
    // The role that the first bit of `roles` stands for.
    uint32_t from = 0;
};
";

/// Adds conditions, those with one question for several operands as one.
fn conditions(out: &mut Vec<String>, asked: Vec<(&str, Role, u64)>) {
    // A word has 64 roles, and those from 64 on have a word of their own.
    let mut merged: BTreeMap<(usize, &str, u64, u64), u64> = BTreeMap::new();
    for (n, (ask, role, value)) in asked.iter().enumerate() {
        let first = asked.iter().position(|a| (a.0, a.2) == (*ask, *value)).unwrap_or(n);
        let role = *role as u64;
        *merged.entry((first, ask, *value, role / 64 * 64)).or_default() |= 1 << (role % 64);
    }
    out.extend(merged.into_iter().map(|((_, ask, value, from), roles)| match from {
        0 => condition(ask, roles, value),
        _ => format!("{{Ask::{ask}, {roles:#x}, {value:#x}, {from}}}"),
    }));
}

fn condition(ask: &str, roles: u64, value: u64) -> String {
    format!("{{Ask::{ask}, {roles:#x}, {value:#x}}}")
}

fn lay(role: Role, lay: Lay) -> Vec<(&'static str, Role, u64)> {
    let names = |names: &[LayoutName]| ("Layout", role, bits(names, |n| n as usize));
    match lay {
        Lay::Any => vec![],
        Lay::Of(list) => vec![names(list)],
        Lay::Exactly(name, fractal) => vec![names(&[name]), ("Fractal", role, fractal.into())],
        Lay::Usual => vec![("Usual", role, 0)],
        Lay::OneRowNd => vec![names(&[LayoutName::Nd]), ("Rows", role, 1)],
        Lay::OneColumnDn => vec![names(&[LayoutName::Dn]), ("Cols", role, 1)],
        Lay::RowMajor => vec![("RowMajor", role, 0)],
        Lay::OneLine => vec![("OneLine", role, 0)],
        Lay::Like(other) => vec![("SameLayout", role, other as u64)],
    }
}

fn layouts(out: &mut Vec<String>, ways: &[Layouts]) {
    let ways: Vec<_> =
        ways.iter().map(|way| way.iter().flat_map(|(role, l)| lay(*role, *l)).collect::<Vec<_>>()).collect();
    // A way that asks nothing always fits.
    if ways.iter().any(Vec::is_empty) {
        return;
    }
    for way in ways {
        out.push(condition("Layouts", 0, 0));
        conditions(out, way);
    }
}

fn types(out: &mut Vec<String>, types: Types) {
    let mut way = |asked: Vec<(&str, Role, u64)>| {
        out.push(condition("Types", 0, 0));
        conditions(out, asked);
    };
    match types {
        // What a rule of its own decides is not the table's business.
        Types::Any | Types::OwnRule => {}
        // A form without types: nothing fits.
        Types::Pairs([]) => out.extend([condition("Types", 0, 0), condition("Elem", 0, 0)]),
        Types::Pairs(pairs) => pairs
            .iter()
            .for_each(|(src, dsts)| way(vec![("Elem", Role::Src, elems(&[*src])), ("Elem", Role::Dst, elems(dsts))])),
        Types::ByRole(roles) => {
            let one = |(role, asked): &(Role, TypeOf)| match asked {
                TypeOf::One(list) => ("Elem", *role, elems(list)),
                TypeOf::Like(other) | TypeOf::Alike(other) => ("SameElem", *role, *other as u64),
                TypeOf::SizeOf(other) => ("SameSize", *role, *other as u64),
            };
            way(roles.iter().map(one).collect());
        }
        Types::Rows(roles, rows) => {
            rows.iter().for_each(|row| way(roles.iter().zip(*row).map(|(r, e)| ("Elem", *r, elems(&[*e]))).collect()));
        }
        Types::Equal | Types::Alike => out.extend([condition("Types", 0, 0), condition("SameElem", 0, 0)]),
        Types::EachOf(list) => out.extend([condition("Types", 0, 0), condition("Elem", 0, elems(list))]),
        Types::EqualOf(list) => {
            out.extend([condition("Types", 0, 0), condition("SameElem", 0, 0), condition("Elem", 0, elems(list))])
        }
    }
}

fn signature(sig: &Sig) -> String {
    let on: Vec<Profile> = sig.on.iter().collect();
    let mut out = vec![condition("On", bits(sig.forms, |f| f as usize), bits(&on, |p| p as usize))];
    let locs: Vec<_> = sig.locs.iter().filter(|(_, locs)| locs.len() < Loc::ALL.len()).collect();
    if !locs.is_empty() {
        out.push(condition("Locations", 0, 0));
        conditions(&mut out, locs.iter().map(|(role, locs)| ("Loc", *role, bits(locs, |l| l as usize))).collect());
    }
    layouts(&mut out, sig.layouts);
    types(&mut out, sig.types);
    out.join(", ")
}

/// The name of a row's table.
pub(super) fn table(op: Opcode) -> String {
    format!("k{op:?}Sigs")
}

pub(super) fn signatures() -> String {
    assert!(Elem::ALL.len() <= 32);
    let mut out = String::from("namespace pto_model {\n\n");
    let forms: Vec<String> = Form::ALL.iter().map(|f| format!("{f:?}")).collect();
    writeln!(out, "enum class Form {{ {} }};", forms.join(", ")).unwrap();
    out += TYPES;
    let mut known: BTreeMap<String, Opcode> = BTreeMap::new();
    for op in Opcode::WITH_CPP.iter().filter(|op| !op.info().sigs.is_empty()) {
        let rows: Vec<String> = op.info().sigs.iter().map(|sig| format!("    {},\n", signature(sig))).collect();
        let body = rows.concat();
        match known.get(&body) {
            Some(same) => writeln!(out, "\ninline constexpr const auto &{} = {};", table(*op), table(*same)).unwrap(),
            None => write!(out, "\ninline constexpr Condition {}[] = {{\n{body}}};\n", table(*op)).unwrap(),
        }
        known.entry(body).or_insert(*op);
    }
    out += "\n} // namespace pto_model";
    header("PTO_COMMON_SIGNATURES_HPP", "The legality tables of the instructions, by role.", "type.hpp", &out)
}

/// The tag of a role.
pub(super) fn role(role: Role) -> String {
    format!("TESSERA_ROLE_{}", screaming(&format!("{role:?}")))
}
