//! One run whose numbers are all known: nothing is chosen, and what instructions cost is kept.

use super::PathWalk;
use crate::Undecided;
use crate::linear_expr::{Expr, LinearExpr};
use crate::trace::Spent;
use tessera_ir::ValueId;
use tessera_isa::diag::Span;
use tessera_isa::inst::Inst;

impl PathWalk<'_> {
    /// Keeps the cost of an event, if costs are requested.
    pub(super) fn keep(&mut self, event: u32, inst: &Inst) {
        if let Some(costs) = self.subject.costs {
            let sized = inst.tiles.iter().all(|t| !t.valid.contains(&None));
            self.trace.costs.insert(event, Spent { cycles: costs.cycles(inst), sized });
        }
    }

    /// Why a walk does not go on.
    pub(super) fn too_long(&self, span: Span) -> Undecided {
        let what = match self.subject.costs {
            Some(_) => format!(
                "the run is longer than {} instructions and flags, or {} steps",
                self.subject.limits.events, self.subject.limits.steps
            ),
            None => "the program is too long to be followed on every path".to_string(),
        };
        Undecided::at(span, what)
    }

    /// Why a run is not known, with the arguments that would have to be.
    pub(super) fn needed(&mut self, span: Span, what: &str, forms: &[LinearExpr]) -> Undecided {
        let missing = self.arguments(forms);
        let names: Vec<String> = missing.iter().map(|v| format!("%{}", self.name(*v))).collect();
        let why = match names.as_slice() {
            [] => format!("{what} depends on a value that the program finds only when it runs"),
            names => format!("{what} depends on {}, which nobody gave a number", names.join(" and ")),
        };
        self.choices.missing = missing;
        Undecided::at(span, why)
    }

    fn name(&self, value: ValueId) -> &str {
        self.subject.module.names.text(self.subject.func.value(value).name)
    }

    /// The arguments that forms are made of; none where they depend on something else, too.
    fn arguments(&self, forms: &[LinearExpr]) -> Vec<ValueId> {
        let mut found = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut left: Vec<u32> = forms.iter().flat_map(|f| f.terms.iter().map(|t| t.0)).collect();
        while let Some(symbol) = left.pop() {
            if !seen.insert(symbol) {
                continue;
            }
            let mut inner = |all: &[&LinearExpr]| left.extend(all.iter().flat_map(|f| f.terms.iter().map(|t| t.0)));
            match self.symbols.expr(&LinearExpr::symbol(symbol)) {
                Some(Expr::Value(value)) if self.subject.func.args.contains(value) => found.push(*value),
                Some(Expr::Arith(_, _, a, b) | Expr::Cmp(_, _, a, b)) => inner(&[a, b]),
                Some(Expr::Cast(_, _, a)) => inner(&[a]),
                Some(Expr::Select(a, b, c)) => inner(&[a, b, c]),
                _ => return Vec::new(),
            }
        }
        found.sort_unstable();
        found
    }
}
