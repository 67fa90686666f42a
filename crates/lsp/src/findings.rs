//! The findings of a program on all profiles that it is checked for, as the protocol words them.

use crate::SCHEME;
use crate::snapshot::Snapshot;
use gen_lsp_types as lsp;
use std::collections::HashMap;
use tessera::{OrderOptions, Profile, Program, Severity};
use tessera_isa::diag::{Diagnostic, Fact, Span};
use tessera_race::Limits;

/// The name of the tool in diagnostics.
pub const SOURCE: &str = "tessera";

/// Smaller limits than the command's: an editor waits for the answer.
const LIMITS: Limits = Limits { steps: 2_000_000, events: 200_000, total: 1_000_000 };

/// A finding, and the profiles on which it holds.
#[derive(Clone, Debug)]
pub struct Finding {
    pub diagnostic: Diagnostic,
    pub on: Vec<Profile>,
    /// Whether it holds on each profile that the program is checked for.
    everywhere: bool,
    /// Whether the user chose these profiles. Otherwise a finding on one of them only is a matter of portability.
    chosen: bool,
}

/// The findings of the reader and of the rules.
pub fn rules(snapshot: &Snapshot) -> Vec<Finding> {
    on_each(snapshot, |program| {
        let mut found = program.check();
        // Judging a program on several profiles overrides nothing.
        found.retain(|d| d.rule != "profile-override");
        found
    })
}

/// The findings about the order of pipes.
pub fn races(snapshot: &Snapshot) -> Vec<Finding> {
    if !snapshot.config.races || snapshot.program.has_errors() {
        return Vec::new();
    }
    let options = OrderOptions { limits: LIMITS, ..OrderOptions::default() };
    let refused: Vec<Profile> =
        snapshot.findings().iter().filter(|f| f.diagnostic.is_error()).flat_map(|f| f.on.clone()).collect();
    on_each(snapshot, |program| {
        if refused.contains(&program.profile()) {
            return Vec::new();
        }
        let kernels = program.entries().into_iter().filter_map(|name| program.kernel_or_entry(name.as_deref()).ok());
        kernels.filter_map(|kernel| kernel.order(&options).ok()).flat_map(|report| report.diagnostics).collect()
    })
}

/// The findings on all profiles; the same one on several is one.
fn on_each(snapshot: &Snapshot, find: impl Fn(&Program) -> Vec<Diagnostic>) -> Vec<Finding> {
    let (profiles, chosen) = snapshot.profiles();
    let mut all: Vec<Finding> = Vec::new();
    let mut known: HashMap<(&'static str, Option<Span>, String), usize> = HashMap::new();
    for profile in &profiles {
        for diagnostic in find(&snapshot.on(*profile)) {
            let key = (diagnostic.rule, diagnostic.span, diagnostic.message.clone());
            let n = *known.entry(key).or_insert(all.len());
            match all.get_mut(n) {
                Some(same) => same.on.push(*profile),
                None => all.push(Finding { diagnostic, on: vec![*profile], everywhere: false, chosen }),
            }
        }
    }
    for finding in &mut all {
        finding.on.dedup();
        finding.everywhere = finding.on.len() == profiles.len();
    }
    all.sort_by_key(|f| f.diagnostic.span.map_or(0, |s| s.start));
    all
}

impl Finding {
    fn severity(&self) -> lsp::DiagnosticSeverity {
        match self.diagnostic.severity {
            // The user did not choose the profiles that refuse it, and other profiles accept it.
            Severity::Error if !self.chosen && !self.everywhere => lsp::DiagnosticSeverity::Warning,
            Severity::Error => lsp::DiagnosticSeverity::Error,
            Severity::Warning => lsp::DiagnosticSeverity::Warning,
            Severity::Note => lsp::DiagnosticSeverity::Information,
        }
    }

    /// The span; a finding without one is about the beginning of the text.
    pub fn span(&self) -> Span {
        self.diagnostic.span.unwrap_or_default()
    }

    /// The sentence, the profiles if it does not hold on all, notes and help.
    fn message(&self) -> String {
        let d = &self.diagnostic;
        let mut text = d.message.clone();
        if !self.everywhere {
            let names: Vec<&str> = self.on.iter().map(|p| p.name()).collect();
            text += &format!(" (on {})", names.join(", "));
        }
        text.extend(d.notes.iter().map(|note| format!("\nnote: {note}")));
        text.extend(d.help.iter().map(|help| format!("\nhelp: {help}")));
        text
    }

    /// As the protocol has it.
    pub fn publish(&self, snapshot: &Snapshot) -> lsp::Diagnostic {
        let d = &self.diagnostic;
        let labels = d.secondary.iter().filter(|label| !label.text.is_empty());
        let own = d.span.filter(|_| !d.label.is_empty()).map(|span| (span, &d.label));
        let related = own.into_iter().chain(labels.map(|label| (label.span, &label.text)));
        let related: Vec<lsp::DiagnosticRelatedInformation> = related
            .map(|(span, text)| lsp::DiagnosticRelatedInformation {
                location: snapshot.location(span),
                message: text.clone(),
            })
            .collect();
        lsp::Diagnostic {
            range: snapshot.text.range(self.span()),
            severity: Some(self.severity()),
            code: Some(lsp::Code::String(d.rule.into())),
            code_description: Some(lsp::CodeDescription { href: format!("{SCHEME}:{}", d.rule).into() }),
            source: Some(SOURCE.into()),
            message: self.message().into(),
            related_information: Some(related).filter(|list| !list.is_empty()),
            ..Default::default()
        }
    }

    /// The lines that would mend a race: text, where, and whether behind what is there.
    pub fn lines(&self) -> Vec<(String, Span, bool)> {
        let facts = self.diagnostic.facts.iter().find(|(name, _)| *name == "add");
        let Some((_, Fact::List(lines))) = facts else { return Vec::new() };
        let line = |fact: &Fact| {
            let Fact::Parts(parts) = fact else { return None };
            let part = |wanted: &str| parts.iter().find(|(name, _)| *name == wanted).map(|(_, fact)| fact);
            let Some(Fact::Text(text)) = part("text") else { return None };
            match (part("after"), part("before")) {
                (Some(Fact::Place(span)), _) => Some((text.clone(), *span, true)),
                (_, Some(Fact::Place(span))) => Some((text.clone(), *span, false)),
                _ => None,
            }
        };
        lines.iter().map(line).collect::<Option<Vec<_>>>().unwrap_or_default()
    }
}
