//! The legality table of an instruction: its paths, with the three profiles side by side.

use super::table::Table;
use tessera_isa::elem::Elem;
use tessera_isa::ops::path::{A5_TYPES, ALL_LOCS, CUBE_A2A3, CUBE_A5, LayoutPair, Locs, NOT_ACC, SCALES, STANDARD};
use tessera_isa::ops::{Form, OpInfo, Path, Types};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;

/// The table, or nothing where legality is not about paths.
pub fn legality(info: &OpInfo) -> Option<Table> {
    if info.paths.is_empty() {
        return None;
    }
    let forms: Vec<Form> = info.forms.iter().map(|f| f.form).collect();
    let mut rows: Vec<([String; 4], [bool; 3])> = Vec::new();
    for path in info.paths {
        // Quantization of another source than Acc has a path so that `quant-source` can refuse it.
        let refused = |f: Form| matches!(f, Form::ScalarQuant | Form::VectorQuant) && !path.src.contains(&Loc::Acc);
        let used: Vec<Form> = forms.iter().copied().filter(|f| path.forms.contains(f) && !refused(*f)).collect();
        if (used.is_empty() && !forms.is_empty()) || path.types == Types::Pairs(&[]) {
            continue;
        }
        let key = [form_names(&used, &forms), locations(path), layouts(path.layouts), types(path.types)];
        let on = Profile::ALL.map(|p| path.on.has(p));
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

fn locations(path: &Path) -> String {
    format!("{}→{}", location_names(path.src), location_names(path.dst))
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

fn layouts(pairs: &[LayoutPair]) -> String {
    let one = |p: &LayoutPair| match p.same {
        true => "same".to_string(),
        false => format!("{}→{}", p.src.describe(), p.dst.describe()),
    };
    pairs.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn types(types: Types) -> String {
    match types {
        Types::Any => "any".into(),
        Types::Equal => "equal, any of the profile".into(),
        Types::EqualOf(list) => format!("equal: {}", elems(list)),
        Types::EachOf(list) => format!("each: {}", elems(list)),
        Types::Pairs(pairs) => {
            let one = |(src, dst): &(Elem, &[Elem])| format!("{src}→{}", names(dst));
            pairs.iter().map(one).collect::<Vec<_>>().join("; ")
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
