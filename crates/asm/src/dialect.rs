//! The version of a text (isa/today.md 1): stated, or what it has of one version only; and what a version means by what
//! is left out.

mod meaning;
mod table;

pub(crate) use meaning::{Saturated, counts_byte_1, is_core_flag, lacks, saturation, saturation_word};
pub(crate) use table::shape;
pub use table::{CHANGES, Change, Part, Spelling};

use crate::Parsed;
use crate::migrate::finding;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;
use tessera_ir::Dialect;
use tessera_isa::diag::{Diagnostic, Span};

/// A spelling of the table, by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Its number among all names of the table.
    pub number: usize,
    pub spelling: &'static Spelling,
    pub name: &'static str,
    /// The name that the other versions write for it, if nothing else differs.
    pub same: Option<&'static str>,
}

static KNOWN: LazyLock<FxHashMap<(Part, &'static str), Known>> = LazyLock::new(|| {
    let mut known = FxHashMap::default();
    for spelling in CHANGES.iter().flat_map(|change| change.spellings) {
        // Shapes have blanks in their names.
        let names: Vec<&str> = match spelling.part {
            Part::Shape => vec![spelling.names],
            _ => spelling.names.split_whitespace().collect(),
        };
        let mut same = spelling.same.split_whitespace();
        for name in names {
            let number = known.len();
            known.insert((spelling.part, name), Known { number, spelling, name, same: same.next() });
        }
    }
    known
});

/// The entry of a spelling in the table.
pub(crate) fn known(part: Part, name: &str) -> Option<Known> {
    KNOWN.get(&(part, name)).copied()
}

/// The operation of a mnemonic, without `pto.`; `.` and `_` are one letter, except behind `comm`.
pub(crate) fn operation(mnemonic: &str) -> Option<Known> {
    let spelled = || known(Part::Operation, &mnemonic.replace('.', "_"));
    known(Part::Operation, mnemonic).or_else(|| mnemonic.contains('.').then(spelled)?)
}

/// The names of operations on scalars in the pto dialect, without `pto.` (isa/today.md 4.4).
pub fn scalars() -> impl Iterator<Item = &'static str> {
    table::SCALARS.split_whitespace()
}

/// Returns the name that a version writes: the same one, or its own.
pub(crate) fn spelled(part: Part, name: &'static str, dialect: Dialect) -> &'static str {
    match known(part, name) {
        Some(known) if !known.spelling.is_in(dialect) => known.same.unwrap_or(name),
        _ => name,
    }
}

/// A spelling that some version lacks, and its first place in a text.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub(crate) known: Known,
    pub span: Span,
}

impl Mark {
    /// Whether a version has it.
    pub fn is_in(&self, dialect: Dialect) -> bool {
        self.known.spelling.is_in(dialect)
    }

    /// The spelling, as messages write it.
    pub fn name(&self) -> String {
        match self.known.spelling.part {
            Part::Operation => format!("`pto.{}`", self.known.name),
            Part::Shape => self.known.name.to_string(),
            _ => format!("`{}`", self.known.name),
        }
    }

    /// Whether two marks are of one spelling.
    pub fn is_same(&self, other: &Mark) -> bool {
        self.known.number == other.known.number
    }

    /// The text to write in a version without it.
    pub fn instead(&self) -> &'static str {
        self.known.spelling.instead
    }
}

/// The version that only these spellings have: 0.60 where 0.27 lacks one, else 0.27 where 0.60 lacks one.
pub(crate) fn inferred(marks: &[Mark]) -> Option<Dialect> {
    let lacks = |dialect| marks.iter().any(|mark| !mark.is_in(dialect));
    if lacks(Dialect::V0_27) { Some(Dialect::V0_60) } else { lacks(Dialect::V0_60).then_some(Dialect::V0_27) }
}

/// The spellings of a printed text that its version lacks: they were said in no other way.
pub fn unsaid(source: &Parsed, printed: &str, dialect: Dialect) -> Vec<Diagnostic> {
    let marks = crate::parse(printed, source.module.profile).marks;
    let lacking = marks.iter().filter(|mark| !mark.is_in(dialect));
    lacking.map(|mark| finding(mark, &source.marks, dialect)).collect()
}

/// The table as text, for docs/versions.md.
pub fn markdown() -> String {
    let versions: Vec<&str> = Dialect::ALL.iter().map(|version| version.name()).collect();
    let mut out = format!("| construct | {} |\n|---|---|---|---|\n", versions.join(" | "));
    for change in CHANGES {
        out.push_str(&format!("| {} | {} |\n", change.construct, change.text.join(" | ")));
    }
    out
}
