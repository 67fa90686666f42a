//! Findings of a walk: each operation and rule once, with places.

use rustc_hash::{FxHashMap, FxHashSet};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::inst::Inst;

#[derive(Default)]
pub(super) struct Report {
    pub diagnostics: Vec<Diagnostic>,
    seen: FxHashSet<(Span, &'static str)>,
    /// The rule that refuses each operation, by the operation's place.
    pub refused: FxHashMap<Span, &'static str>,
    /// Each instruction as it was first visited, if this is requested.
    pub met: Option<FxHashMap<Span, Inst>>,
}

impl Report {
    /// One that keeps the instructions.
    pub(super) fn meeting() -> Report {
        Report { met: Some(FxHashMap::default()), ..Report::default() }
    }

    /// Whether the rule is broken at this place for the first time.
    pub(super) fn is_new(&mut self, span: Span, rule: &'static str) -> bool {
        self.seen.insert((span, rule))
    }

    /// Records an instruction that is about to be checked.
    pub(super) fn meet(&mut self, span: Span, inst: &Inst) {
        if let Some(met) = &mut self.met {
            met.entry(span).or_insert_with(|| inst.clone());
        }
    }

    /// Everything found, in the order of the text rather than of the walk.
    pub(super) fn in_text_order(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|d| d.span.map_or(0, |span| span.start));
        self.diagnostics
    }

    /// The operation at this place is refused by the rule, unless another one was before.
    pub(super) fn refuse(&mut self, op: Span, rule: &'static str) {
        self.refused.entry(op).or_insert(rule);
    }
}
