//! Every rule, on every profile on which it can fail: programs that pass because it holds, and programs that fail
//! because only it is broken.
//!
//! `tests/rules/*.pto` hold programs separated by `// -----`. Each says `// profile: …` and `// rule: …`, the rules in
//! question (one or more of both), and marks the offending lines with `// expected-error {{rule}}` (or `-warning`, `-note`).
//! What is marked must be reported and nothing else. `BLESS=1 cargo test -p tessera-pto-check --test rules` rewrites the
//! marks; read the difference before you commit it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tessera_asm::parse;
use tessera_check::check_module;
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{Opcode, RuleKind};
use tessera_isa::profile::Profile;
use tessera_isa::rules;

const SEPARATOR: &str = "// -----";

/// Rules that no program breaks without running, or that belong to other crates.
const ELSEWHERE: [&str; 51] = [
    // Text: the assembler's.
    "type-mismatch",
    "unknown-op",
    "unknown-profile",
    "unknown-attribute",
    "undefined-name",
    "redefined-name",
    "operand-count",
    "profile-override",
    "entry",
    "entry-ambiguous",
    "entry-result",
    "call",
    "call-recursive",
    "memref-space",
    "cast-width",
    // Placement's.
    "capacity",
    // The run's.
    "not-executable",
    "undefined-read",
    "undefined-use",
    "arith",
    "scalar-range",
    "tile-bounds",
    "view-dim",
    "trap",
    "loop",
    "memory-limit",
    "block-overlap",
    "binding",
    "deadlock",
    "fifo-use-after-free",
    "fifo-leak",
    "fifo-unfreed",
    // The order's, which plain checking does not look at (sync.md).
    "flag-pipe",
    "flag-id-range",
    "flag-unmatched-wait",
    "flag-leak",
    "flag-overwrite",
    "barrier-useless",
    "buf-token",
    "race-raw",
    "race-war",
    "race-waw",
    "sync-overflow",
    "sync-ids",
    "sync-fallback",
    // Those of several ranks, which a run finds (isa/comm.md).
    "comm-window",
    "race-signal",
    "comm-unflushed",
    "comm-stale",
    // No program's: the tool's own.
    "internal",
    "undecided",
];

/// Rules about data of which a constant scalar decides a part, so that programs break them without running.
const DECIDED_BY_A_SCALAR: [&str; 4] = ["tdivs-zero", "tfmods-zero", "trems-zero", "trems-range"];

/// Rules that cannot fail on a profile, since another one implies them (isa/rules.md).
const IMPLIED: [(&str, Profile); 4] = [
    ("texpands-dtype", Profile::Cpu),
    ("tgemv-shape", Profile::Cpu),
    ("tgemv_acc-shape", Profile::Cpu),
    ("tgemv_bias-shape", Profile::Cpu),
];

/// One program of a file.
struct Program<'a> {
    text: &'a str,
    profiles: Vec<Profile>,
    rules: Vec<&'a str>,
}

fn programs(file: &str) -> Vec<Program<'_>> {
    let mut found = Vec::new();
    let mut rest = file;
    while !rest.is_empty() {
        let end = rest.find(SEPARATOR).unwrap_or(rest.len());
        let text = &rest[..end];
        rest = rest.get(end + SEPARATOR.len()..).unwrap_or("");
        let value = |key: &str| {
            let line = text.lines().find_map(|l| l.strip_prefix(key));
            line.unwrap_or_else(|| panic!("a program without `{key}`:\n{text}")).trim()
        };
        let profiles = value("// profile:").split(' ').map(|p| Profile::parse(p).unwrap());
        found.push(Program { text, profiles: profiles.collect(), rules: value("// rule:").split(' ').collect() });
    }
    found
}

/// Lines with the marks that they carry or should carry: `error rule`.
type Marks = BTreeSet<(usize, String)>;

fn marked(text: &str) -> Marks {
    let mut marks = Marks::new();
    for (n, line) in text.lines().enumerate() {
        for part in line.split("expected-").skip(1) {
            let (severity, rest) = part.split_once(' ').unwrap();
            let rule = rest.strip_prefix("{{").and_then(|r| r.split_once("}}")).unwrap().0;
            marks.insert((n, format!("{severity} {rule}")));
        }
    }
    marks
}

fn findings(text: &str, profile: Profile) -> Vec<Diagnostic> {
    let parsed = parse(text, Some(profile));
    let mut all = parsed.diagnostics;
    if !all.iter().any(Diagnostic::is_error) {
        all.extend(check_module(&parsed.module, profile));
    }
    // Programs about other rules leave their tiles unwritten, or use both kinds of cores.
    let asked = |rule: &str| text.lines().any(|l| l.starts_with("// rule:") && l.contains(rule));
    all.retain(|d| !["never-written", "unsplit-core"].contains(&d.rule) || asked(d.rule));
    all
}

fn reported(text: &str, found: &[Diagnostic]) -> Marks {
    let line_of = |at: u32| text[..at as usize].matches('\n').count();
    found.iter().map(|d| (line_of(d.span.unwrap().start), format!("{} {}", d.severity.name(), d.rule))).collect()
}

fn blessed(text: &str, marks: &Marks) -> String {
    let mut out = String::new();
    for (n, line) in text.lines().enumerate() {
        let bare = line.split("// expected-").next().unwrap().trim_end();
        out.push_str(if line.contains("// expected-") { bare } else { line });
        let here: Vec<String> = marks
            .iter()
            .filter(|(at, _)| *at == n)
            .map(|(_, mark)| mark.split_once(' ').unwrap())
            .map(|(severity, rule)| format!("expected-{severity} {{{{{rule}}}}}"))
            .collect();
        if !here.is_empty() {
            write!(out, "  // {}", here.join(" ")).unwrap();
        }
        out.push('\n');
    }
    out
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(files.len(), tessera_check::examples::FILES.len(), "FILES has each of them");
    files.retain(|f| f.extension().is_some_and(|e| e == "pto"));
    files.sort();
    files
}

#[test]
fn programs_report_what_they_are_marked_with() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for file in files() {
        let content = std::fs::read_to_string(&file).unwrap();
        let mut rewritten = Vec::new();
        let mut line = 0;
        for program in programs(&content) {
            let want = marked(program.text);
            let mut first = None;
            for profile in &program.profiles {
                let found = findings(program.text, *profile);
                let got = reported(program.text, &found);
                if got != want {
                    let name = file.file_name().unwrap().to_string_lossy();
                    writeln!(wrong, "{name}:{} on {profile}, rule {}", line + 1, program.rules[0]).unwrap();
                    writeln!(wrong, "  marked {want:?}\n  found  {got:?}").unwrap();
                    found.iter().for_each(|d| writeln!(wrong, "    {}", d.message).unwrap());
                }
                first.get_or_insert(got);
            }
            rewritten.push(blessed(program.text, &first.unwrap_or_default()));
            line += program.text.matches('\n').count();
        }
        if bless {
            std::fs::write(&file, rewritten.join(SEPARATOR)).unwrap();
        }
    }
    assert!(wrong.is_empty() || bless, "{wrong}");
}

#[test]
fn every_message_has_values_and_every_error_a_way_out() {
    for file in files() {
        let content = std::fs::read_to_string(&file).unwrap();
        for program in programs(&content) {
            for profile in &program.profiles {
                for found in findings(program.text, *profile) {
                    let text = &found.message;
                    assert!(!text.is_empty() && !text.ends_with('.') && !text.contains("  "), "{text}");
                    assert!(!found.is_error() || found.help.is_some(), "{}: {text}", found.rule);
                }
            }
        }
    }
}

#[test]
fn every_rule_has_a_program_that_passes_and_one_that_fails() {
    let mut passing = BTreeSet::new();
    let mut failing = BTreeSet::new();
    for file in files() {
        let content = std::fs::read_to_string(&file).unwrap();
        for program in programs(&content) {
            let marks = marked(program.text);
            let breaks = |rule: &str| marks.iter().any(|(_, mark)| mark.ends_with(&format!(" {rule}")));
            for (rule, profile) in program.rules.iter().flat_map(|r| program.profiles.iter().map(move |p| (*r, p))) {
                let key = (rule.to_string(), *profile);
                if breaks(rule) {
                    failing.insert(key);
                } else {
                    passing.insert(key);
                }
            }
        }
    }
    let mut missing = Vec::new();
    for rule in rules::all().filter(|r| !r.implied) {
        let used = || Opcode::ALL.iter().flat_map(|op| op.info().rules).filter(|r| r.id == rule.id);
        let of_data = |kind| {
            matches!(
                kind,
                RuleKind::AtRun | RuleKind::Zero | RuleKind::Range | RuleKind::Duplicate | RuleKind::Unsorted
            )
        };
        let at_run = used().next().is_some() && used().all(|r| of_data(r.kind));
        let at_run = at_run && !DECIDED_BY_A_SCALAR.contains(&rule.id);
        if rule.id.starts_with("syntax-") || ELSEWHERE.contains(&rule.id) || at_run {
            continue;
        }
        for profile in rule.on.iter() {
            let key = (rule.id.to_string(), profile);
            // The profile's own layout is replaced on hardware only (syntax.md 3).
            if rule.id == "left-blayout" && profile == Profile::Cpu || IMPLIED.contains(&(rule.id, profile)) {
                continue;
            }
            // Where a profile lacks an instruction, every program with it is refused.
            if !passing.contains(&key) && !rule.id.ends_with("-profile") {
                missing.push(format!("{} passes nowhere on {profile}", rule.id));
            }
            if !failing.contains(&key) {
                missing.push(format!("{} fails nowhere on {profile}", rule.id));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
