//! Code actions: edits that make a finding go away. Whatever is offered was tried first.

use crate::findings::Finding;
use crate::fixes;
use crate::navigate::edit;
use crate::snapshot::Snapshot;
use gen_lsp_types as lsp;
use std::sync::Arc;
use tessera_isa::diag::Span;

/// A way out: what it does, and the edits.
pub struct Fix {
    pub title: String,
    pub edits: Vec<(Span, String)>,
}

/// What can be done about the findings of a part of the text.
pub fn actions(snapshot: &Arc<Snapshot>, span: Span, only: &[lsp::CodeActionKind]) -> Vec<lsp::CodeActionResponse> {
    let (findings, races) = snapshot.known();
    let touches = |f: &&Finding| f.span().start <= span.end && span.start <= f.span().end;
    let mut all: Vec<lsp::CodeAction> = Vec::new();
    let mut offer =
        |fix: Fix, finding: &Finding, kind: lsp::CodeActionKind| match all.iter_mut().find(|a| a.title == fix.title) {
            Some(same) => same.diagnostics.get_or_insert_default().push(finding.publish(snapshot)),
            None => all.push(lsp::CodeAction {
                title: fix.title,
                kind: Some(kind),
                diagnostics: Some(vec![finding.publish(snapshot)]),
                edit: Some(edit(snapshot, fix.edits)),
                ..Default::default()
            }),
        };
    for finding in findings.iter().filter(touches) {
        for fix in fixes::fixes(snapshot, finding) {
            offer(fix, finding, lsp::CodeActionKind::QuickFix);
        }
    }
    let races: Vec<&Finding> = races.iter().filter(touches).collect();
    for race in &races {
        if let Some(fix) = flags(snapshot, race) {
            offer(fix, race, lsp::CodeActionKind::QuickFix);
        }
    }
    if let Some(race) = races.iter().find(|race| race.diagnostic.is_error()) {
        for fix in all_flags(snapshot) {
            offer(fix, race, lsp::CodeActionKind::RefactorRewrite);
        }
    }
    // `refactor` asks for `refactor.rewrite`, too.
    let asked = |action: &lsp::CodeAction| {
        let kind = action.kind.as_ref().map(ToString::to_string).unwrap_or_default();
        only.is_empty() || only.iter().any(|o| kind == o.to_string() || kind.starts_with(&format!("{o}.")))
    };
    all.into_iter().filter(asked).map(lsp::CodeActionResponse::from).collect()
}

/// The lines that a race misses.
fn flags(snapshot: &Arc<Snapshot>, race: &Finding) -> Option<Fix> {
    let lines = race.lines();
    let titles: Vec<&str> = lines.iter().map(|(text, ..)| text.as_str()).collect();
    let title = format!("Insert {}", titles.join(" and "));
    let edits = lines.iter().map(|(text, span, behind)| {
        let (start, indent) = snapshot.text.indent(span.start);
        match behind {
            true => {
                let end = snapshot.text.line_end(span.end.saturating_sub(1).max(span.start));
                (Span::new(end, end), format!("\n{indent}{text}"))
            }
            false => (Span::new(start, start), format!("{indent}{text}\n")),
        }
    });
    let edits: Vec<(Span, String)> = edits.collect();
    let races = |s: &Snapshot| s.races().iter().filter(|f| f.diagnostic.is_error()).count();
    let tried = fixes::tried(snapshot, edits.clone());
    let mended = !edits.is_empty() && !tried.program.has_errors() && races(&tried) < races(snapshot);
    mended.then_some(Fix { title, edits })
}

/// The programs with all flags and barriers that a kernel needs, and no others.
fn all_flags(snapshot: &Arc<Snapshot>) -> Vec<Fix> {
    let program = snapshot.on(snapshot.profile());
    let entries = program.entries().into_iter();
    let one = |name: Option<String>| {
        let synced = program.kernel_or_entry(name.as_deref()).ok()?.synced().ok()?;
        let whose = name.map_or("the listing".into(), |name| format!("@{name}"));
        let title = format!("Replace the flags and barriers of {whose} by those that it needs");
        let edits = vec![(snapshot.text.whole(), synced.text)];
        let tried = fixes::tried(snapshot, edits.clone());
        let fine = |f: &Finding| !f.diagnostic.is_error();
        (tried.findings().iter().all(fine) && tried.races().iter().all(fine)).then_some(Fix { title, edits })
    };
    entries.filter_map(one).collect()
}
