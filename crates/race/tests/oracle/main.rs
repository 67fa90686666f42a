//! The order of programs against an independent model of sync.md, and the worked examples of its section 6.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cores;
mod examples;
mod mixed;
mod model;
mod program;
mod random;

use model::Findings;
use program::{Stmt, text};
use tessera_ir::inline::inline;
use tessera_isa::profile::Profile;
use tessera_race::{Mode, Options, Report, Verdict};

/// What the checker says of a program's text.
pub fn report(text: &str, profile: Profile) -> Report {
    report_of(text, profile, Some(Mode::Manual))
}

/// The rules and lines of what is found where it is also asked what is redundant.
pub fn redundant(text: &str, profile: Profile) -> Vec<(String, usize)> {
    let options = Options { mode: Some(Mode::Manual), redundant: true, ..Options::default() };
    let line = |at: u32| text[..at as usize].bytes().filter(|b| *b == b'\n').count() + 1;
    let found = report_with(text, profile, &options).diagnostics.into_iter();
    found.map(|d| (d.rule.to_string(), line(d.span.unwrap().start))).collect()
}

/// The same, for whoever orders the pipes.
pub fn report_of(text: &str, profile: Profile, mode: Option<Mode>) -> Report {
    report_with(text, profile, &Options { mode, ..Options::default() })
}

fn report_with(text: &str, profile: Profile, options: &Options) -> Report {
    let parsed = tessera_asm::parse_bytes(text.as_bytes(), Some(profile));
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let module = &parsed.module;
    let func = inline(module, module.entry(None).unwrap()).unwrap();
    let placement = tessera_plan::plan(module, &func, profile, &[]).unwrap();
    tessera_race::check(module, &func, profile, &placement, text, options)
}

/// The findings that are errors, by rule and lines.
pub fn findings(report: &Report, text: &str) -> Findings {
    let line = |at: u32| text[..at as usize].lines().count().max(1) + usize::from(text[..at as usize].ends_with('\n'));
    let errors = report.diagnostics.iter().filter(|d| d.is_error());
    errors
        .map(|d| {
            let y = line(d.span.unwrap().start);
            let x = if d.rule.starts_with("race") { line(d.secondary[0].span.start) } else { y };
            (d.rule.to_string(), x, y)
        })
        .collect()
}

/// Compares checker and model.
pub fn compare(program: &[Stmt], tiles: usize, conditions: usize, profile: Profile, most: u64) -> Verdict {
    let t = text(program, tiles, conditions);
    let report = report(&t.text, profile);
    let (found, model) = (findings(&report, &t.text), model::judge(program, &t.lines, profile, conditions, most));
    let numbered = || t.text.lines().enumerate().map(|(n, l)| format!("{:3} {l}\n", n + 1)).collect::<String>();
    // One report per pair of program points; which rule, where several paths break several, is the first path's.
    let pair = |(rule, x, y): &(String, usize, usize)| {
        let rule = if rule.starts_with("race") { "race" } else { rule };
        (rule.to_string(), *x, *y)
    };
    assert!(found.is_subset(&model) || found.iter().map(pair).ne(model.iter().map(pair)), "{found:?} {model:?}");
    let (left, right): (Findings, Findings) = (found.iter().map(pair).collect(), model.iter().map(pair).collect());
    assert_eq!(
        left,
        right,
        "{profile}: checker (left) and model differ on {program:?}\n{}\n{:#?}",
        numbered(),
        report.diagnostics
    );
    let expected = if model.is_empty() { Verdict::RaceFree } else { Verdict::Races };
    assert_eq!(report.verdict, expected, "{profile}: {program:?}\n{}{:#?}", numbered(), report.diagnostics);
    report.verdict
}
