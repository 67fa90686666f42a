//! Failures of an instruction: diagnostics that do not have a place yet.

use tessera_isa::diag::Diagnostic;

/// A failure while an instruction is compiled or runs. The caller adds the place.
pub type Failure = Box<Diagnostic>;

/// Returns a failure that breaks `rule`: one sentence, and a way out.
pub fn failure(rule: &'static str, what: impl Into<String>, help: impl Into<String>) -> Failure {
    Box::new(Diagnostic::error(rule, what).help(help))
}

/// Returns the failure of a broken invariant.
#[cold]
pub fn internal_error(what: &str) -> Failure {
    failure("internal", what, "this is a defect of the tool, not of the program; please report it")
}
