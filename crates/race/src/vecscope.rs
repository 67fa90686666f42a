//! Races between accesses of one vecscope, in sentences (micro/model.md 8).

use crate::report::Reporter;
use smallvec::SmallVec;
use tessera_ir::OpId;
use tessera_isa::diag::{Diagnostic, Fact, Severity};
use tessera_micro::order::{Node, Race};

/// Two accesses of one launch that race.
#[derive(Clone, Debug)]
pub struct InScope {
    ops: [OpId; 2],
    turns: [SmallVec<[u64; 2]>; 2],
    race: Race,
}

impl InScope {
    pub fn new(x: &Node, y: &Node, race: &Race) -> InScope {
        let race = race.clone();
        InScope { ops: [OpId(x.op), OpId(y.op)], turns: [x.turns.clone(), y.turns.clone()], race }
    }

    /// Whether it is the same pair of operations, with the same conflict.
    pub fn is_like(&self, other: &InScope) -> bool {
        (self.ops, self.race.conflict) == (other.ops, other.race.conflict)
    }
}

impl InScope {
    /// Whether it is only warned of.
    pub fn is_warning(&self) -> bool {
        self.race.is_warning
    }
}

impl Reporter<'_> {
    /// Says what races inside of a vecscope.
    pub fn in_scope(&mut self, found: &InScope) {
        let names = found.ops.map(|op| self.func.op(op).kind.name());
        let places = found.ops.map(|op| self.place(op));
        let round = |n: usize| match found.turns[n].as_slice() {
            [] => String::new(),
            turns => format!(" in iteration {}", turns.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        };
        let race = &found.race;
        let rule = race.conflict.rule();
        let (from, to) = race.bytes;
        let [first, second] = [0, 1].map(|n| format!("{} at {}{}", names[n], places[n], round(n)));
        let what = format!("{first} and {second} touch UB bytes {from:#x}..{to:#x} in any order");
        let severity = if race.is_warning { Severity::Warning } else { Severity::Error };
        let [x, y] = found.ops.map(|op| self.func.op(op).span);
        let missing = format!(
            "missing: pto.mem_bar \"{}\" between {} ({}) and {} ({})",
            race.missing, places[0], names[0], places[1], names[1]
        );
        let diagnostic = Diagnostic::new(rule, severity, what)
            .at(y, format!("{} comes later", names[1]))
            .and_at(x, format!("{} comes first", names[0]))
            .fact(
                "add",
                Fact::List(vec![Fact::Parts(vec![
                    ("text", Fact::Text(format!("pto.mem_bar \"{}\"", race.missing))),
                    ("before", Fact::Place(y)),
                ])]),
            )
            .help(missing);
        let is_new = self
            .found
            .iter()
            .all(|other| (other.rule, other.span, &other.secondary) != (rule, diagnostic.span, &diagnostic.secondary));
        if is_new {
            self.found.push(diagnostic);
        }
    }
}
