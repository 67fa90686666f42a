//! Code actions: edits that make a finding go away. Whatever is offered was tried first.

use crate::findings::Finding;
use crate::fixes;
use crate::navigate::edit;
use crate::snapshot::Snapshot;
use gen_lsp_types as lsp;
use std::sync::Arc;
use tessera_ir::OpKind;
use tessera_isa::diag::Span;

/// A way out: what it does, and the edits.
pub struct Fix {
    pub title: String,
    pub edits: Vec<(Span, String)>,
}

/// Quick fixes for the findings in a range of the text.
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

/// A line that is missing: its text, the place it belongs to, and whether it stands behind that.
type Line = (String, Span, bool);

/// The lines that a race misses. An edge that goes round a loop also needs a set before the loop, which the first round
/// waits for, and a wait behind it, which takes what the last round sets.
pub fn flags(snapshot: &Arc<Snapshot>, race: &Finding) -> Option<Fix> {
    let lines = race.lines();
    let outside = |title: &str, around: Span| {
        let line = snapshot.text.line_of(around.start) + 1;
        format!("{title}, with a set before the loop of line {line} and a wait after it")
    };
    let titles: Vec<&str> = lines.iter().map(|(text, ..)| text.as_str()).take(2).collect();
    let title = format!("Insert {}", titles.join(" and "));
    let title = lines.get(2).map_or(title.clone(), |(_, around, _)| outside(&title, *around));
    let mut all = vec![(title.clone(), lines.clone())];
    if let [set, wait] = lines.as_slice() {
        for around in loops(snapshot, [set.1, wait.1]) {
            let more = [(set.0.clone(), around, false), (wait.0.clone(), around, true)];
            all.push((outside(&title, around), more.into_iter().chain(lines.clone()).collect()));
        }
    }
    let errors = |s: &Snapshot, of: &dyn Fn(&str) -> bool| {
        s.races().iter().filter(|f| f.diagnostic.is_error() && of(f.diagnostic.rule)).count()
    };
    // A program that stops for ever has no races, and is not mended.
    let stops = |rule: &str| !rule.starts_with("race-");
    let left = |fix: &Fix| {
        let tried = fixes::tried(snapshot, fix.edits.clone());
        let (all, before) = (errors(&tried, &|_| true), errors(snapshot, &|_| true));
        let mends = !fix.edits.is_empty() && !tried.program.has_errors() && all < before;
        (mends && errors(&tried, &stops) <= errors(snapshot, &stops)).then_some(all)
    };
    let fixes = all.into_iter().map(|(title, lines)| Fix { title, edits: inserted(snapshot, &lines) });
    let (_, fix) = fixes.filter_map(|fix| Some((left(&fix)?, fix))).min_by_key(|(left, _)| *left)?;
    Some(fix)
}

fn inserted(snapshot: &Snapshot, lines: &[Line]) -> Vec<(Span, String)> {
    let edit = |(text, span, behind): &Line| {
        let (start, indent) = snapshot.text.indent(span.start);
        match behind {
            true => {
                let end = snapshot.text.line_end(span.end.saturating_sub(1).max(span.start));
                (Span::new(end, end), format!("\n{indent}{text}"))
            }
            false => (Span::new(start, start), format!("{indent}{text}\n")),
        }
    };
    lines.iter().map(edit).collect()
}

/// The loops around two places, with their bodies, the innermost first.
fn loops(snapshot: &Snapshot, places: [Span; 2]) -> Vec<Span> {
    let mut all = Vec::new();
    for (n, func) in snapshot.program.module().funcs.iter().enumerate() {
        let ends = snapshot.program.trivia().block_ends.get(n);
        for op in func.ops.iter().filter(|op| matches!(op.kind, OpKind::For | OpKind::While)) {
            let end = op.blocks.iter().filter_map(|block| ends?.get(block.index()).copied()).max();
            let span = Span::new(op.span.start, end.map_or(op.span.end, |end| end + 1));
            if places.iter().all(|place| span.start < place.start && place.end < span.end) {
                all.push(span);
            }
        }
    }
    all.sort_by_key(|span| span.end - span.start);
    all
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
