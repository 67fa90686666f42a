//! The legality table of an instruction: its signatures, with the three profiles side by side.

use super::table::Table;
use tessera::{Elem, Loc, Profile};
use tessera_isa::ops::sig::{A5_TYPES, ALL_LOCS, CUBE_A2A3, CUBE_A5, Locs, NOT_ACC, SCALES, STANDARD};
use tessera_isa::ops::{Effect, Form, Kind, Lay, Layouts, OpInfo, Role, Sig, TypeOf, Types};

/// The table, or nothing where the instruction takes no tiles.
pub fn legality(info: &OpInfo) -> Option<Table> {
    if info.sigs.is_empty() {
        return None;
    }
    let forms: Vec<Form> = info.forms.iter().map(|f| f.form).collect();
    let mut rows: Vec<([String; 4], [bool; 3])> = Vec::new();
    for sig in info.sigs {
        // Quantization of another source than Acc has a line so that `quant-source` can refuse it.
        let from_acc = sig.locs_of(Role::Src).contains(&Loc::Acc);
        let refused = |f: Form| matches!(f, Form::ScalarQuant | Form::VectorQuant) && !from_acc;
        let used: Vec<Form> = forms.iter().copied().filter(|f| sig.forms.contains(f) && !refused(*f)).collect();
        if used.is_empty() || sig.types == Types::Pairs(&[]) {
            continue;
        }
        let locations = paths(info, |role| location_names(sig.locs_of(role)));
        let key = [form_names(&used, &forms), locations, layouts(sig, info), types(sig.types, &roles(info))];
        let on = Profile::ALL.map(|p| sig.on.has(p));
        match rows.iter_mut().find(|(k, _)| *k == key) {
            Some((_, all)) => all.iter_mut().zip(on).for_each(|(a, b)| *a |= b),
            None => rows.push((key, on)),
        }
    }
    let mut table = Table::new(["form", "path", "layouts", "types", "cpu", "a2a3", "a5"]);
    for (key, on) in rows {
        let marks = on.map(|yes| if yes { "✓" } else { "–" }.to_string());
        table.row(key.into_iter().chain(marks));
    }
    Some(table)
}

fn form_names(used: &[Form], all: &[Form]) -> String {
    if used.len() == all.len() {
        return "all".into();
    }
    used.iter().map(|f| f.name()).collect::<Vec<_>>().join(", ")
}

/// Is the instruction judged flow by flow, or has it but one source and one destination?
fn flows(info: &OpInfo) -> bool {
    info.by_flows() || roles(info) == [Role::Src, Role::Dst]
}

/// The tile operands that signatures judge.
fn roles(info: &OpInfo) -> Vec<Role> {
    let operands = info.forms.first().into_iter().flat_map(|f| f.operands());
    operands.filter(|o| o.role.kind() == Kind::Tile && o.effect != Effect::Scratch).map(|o| o.role).collect()
}

/// What holds of the operands: from source to destination, of all of them alike, or one by one.
fn paths(info: &OpInfo, of: impl Fn(Role) -> String) -> String {
    let all: Vec<String> = roles(info).into_iter().map(&of).collect();
    match all.as_slice() {
        _ if flows(info) => format!("{}→{}", of(Role::Src), of(Role::Dst)),
        [first, rest @ ..] if rest.iter().all(|l| l == first) => first.clone(),
        _ => roles(info).iter().zip(all).map(|(r, l)| format!("{r} {l}")).collect::<Vec<_>>().join(", "),
    }
}

fn location_names(locs: Locs) -> String {
    if locs == ALL_LOCS {
        "any".into()
    } else if locs == NOT_ACC {
        "not acc".into()
    } else {
        locs.iter().map(|l| l.name()).collect::<Vec<_>>().join("/")
    }
}

fn layouts(sig: &Sig, info: &OpInfo) -> String {
    let one = |way: &Layouts| {
        let of = |role: Role| way.iter().find(|(r, _)| *r == role).map_or(Lay::Any, |(_, lay)| *lay);
        match flows(info) && of(Role::Dst) == Lay::Like(Role::Src) {
            true => "same".to_string(),
            false => paths(info, |role| of(role).describe()),
        }
    };
    if sig.layouts.is_empty() { "any".into() } else { sig.layouts.iter().map(one).collect::<Vec<_>>().join(", ") }
}

fn all<T>(list: &[T], one: impl Fn(&T) -> String) -> String {
    list.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn types(types: Types, there: &[Role]) -> String {
    match types {
        Types::Any => "any".into(),
        Types::Alike => "equal but for the sign, any of the profile".into(),
        Types::Equal => "equal, any of the profile".into(),
        Types::EqualOf(list) => format!("equal: {}", elems(list)),
        Types::EachOf(list) => format!("each: {}", elems(list)),
        Types::Pairs(pairs) => all(pairs, |(src, dst)| format!("{src}→{}", names(dst))),
        Types::ByRole(list) => all(list, |(role, asked)| match asked {
            TypeOf::One(list) => format!("{role}: {}", names(list)),
            TypeOf::Like(other) => format!("{role} as {other}"),
            TypeOf::SizeOf(other) => format!("{role} of the size of {other}"),
            TypeOf::Alike(other) => format!("{role} as {other}, but for the sign"),
        }),
        Types::Rows(roles, rows) => {
            // A row may name operands that other forms have.
            let kept = |row: &[Elem]| -> Vec<Elem> {
                roles.iter().zip(row).filter(|(role, _)| there.contains(role)).map(|(_, elem)| *elem).collect()
            };
            let mut shown: Vec<Vec<Elem>> = rows.iter().map(|row| kept(row)).collect();
            shown.dedup();
            all(&shown, |row| names(row).replace(' ', "·"))
        }
        Types::OwnRule => "a rule of its own".into(),
    }
}

fn elems(list: &[Elem]) -> String {
    named_lists()
        .into_iter()
        .find(|(_, members)| *members == list)
        .map_or_else(|| names(list), |(name, _)| format!("{name} types"))
}

fn names(list: &[Elem]) -> String {
    list.iter().map(|e| e.name()).collect::<Vec<_>>().join(" ")
}

fn named_lists() -> [(&'static str, &'static [Elem]); 5] {
    [("standard", STANDARD), ("A5", A5_TYPES), ("a2a3 cube", CUBE_A2A3), ("a5 cube", CUBE_A5), ("scale", SCALES)]
}

/// What the named lists of a rendered table hold.
pub fn legend(rendered: &str) -> Vec<String> {
    named_lists()
        .into_iter()
        .filter(|(name, _)| rendered.contains(&format!("{name} types")))
        .map(|(name, list)| format!("{name} types: {}", names(list)))
        .collect()
}
