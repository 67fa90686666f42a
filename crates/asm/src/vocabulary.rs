//! The words of the language, for tools that complete them.

use crate::types::{FIELDS, Field, TYPE_NAMES};
use tessera_ir::cores::KERNEL_KIND;
use tessera_ir::{Core, Dialect};
use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Compact, Loc, SLayout};

/// The words that a statement can start with, behind its results.
pub fn operations() -> impl Iterator<Item = String> {
    crate::words::all()
}

/// The names of types, those in brackets without them.
pub fn types() -> impl Iterator<Item = &'static str> {
    TYPE_NAMES.split_whitespace()
}

/// The attributes of a module or a function (isa/structure.md 3), each with the values that it can have; one without any
/// is written alone.
pub fn attributes(of: &str) -> Vec<(&'static str, Vec<String>)> {
    let quoted = |words: &[&str]| words.iter().map(|word| format!("\"{word}\"")).collect();
    let profiles: Vec<&str> = Profile::ALL.iter().map(|p| p.name()).collect();
    let kinds = Core::ALL.iter().map(|core| format!("#pto.kernel_kind<{core}>")).collect();
    let first = match of {
        "module" => ("pto.target_arch", quoted(&profiles)),
        "func.func" => ("pto.entry", Vec::new()),
        _ => return Vec::new(),
    };
    let versions: Vec<&str> = Dialect::ALL.iter().map(|version| version.name()).collect();
    let version = (of == "module").then(|| ("pto.dialect", quoted(&versions)));
    let others = [("pto.sync", quoted(&["manual", "auto"])), (KERNEL_KIND, kinds)];
    std::iter::once(first).chain(version).chain(others).collect()
}

/// The fields of a tile type, each with the words that it can have; numbers are not listed.
pub fn tile_fields() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    FIELDS.iter().map(|(field, key)| {
        let words = match field {
            Field::Loc => Loc::ALL.iter().map(|w| w.name()).collect(),
            Field::Elem => Elem::ALL.iter().map(|w| w.name()).collect(),
            Field::BLayout => BLayout::ALL.iter().map(|w| w.name()).collect(),
            Field::SLayout => SLayout::ALL.iter().map(|w| w.name()).collect(),
            Field::Fractal => vec!["512", "1024", "32"],
            Field::Pad => vec!["null", "zero", "max", "min"],
            Field::Compact => Compact::ALL.iter().map(|w| w.name()).collect(),
            Field::Rows | Field::Cols | Field::ValidRow | Field::ValidCol => Vec::new(),
        };
        (*key, words)
    })
}
