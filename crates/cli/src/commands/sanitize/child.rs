//! An executable that was compiled with our header, run as a child: its findings come back as lines of JSON in a file.

use super::Args;
use crate::policy::Findings;
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session};
use crate::source::Source;
use crate::words::counted;
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use tessera::{Diagnostic, Profile, Severity, Span};

/// A line of the file.
#[derive(Deserialize)]
struct Line {
    kind: String,
    #[serde(default)]
    rule: String,
    #[serde(default)]
    severity: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    instruction: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    line: usize,
    #[serde(default)]
    label: String,
    #[serde(default)]
    others: Vec<Other>,
    #[serde(default)]
    notes: Vec<String>,
    help: Option<String>,
}

/// Another call that a finding is about.
#[derive(Deserialize)]
struct Other {
    file: String,
    line: usize,
    instruction: String,
    label: String,
}

/// Whether a file is a program of this machine, not a text.
pub fn is_program(path: &Path) -> bool {
    let mut head = [0u8; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    // ELF, the two byte orders of Mach-O, and PE.
    let is_binary = matches!(head, [0x7F, b'E', b'L', b'F'] | [0xCF | 0xCE, 0xFA, 0xED, 0xFE] | [b'M', b'Z', ..]);
    read.is_ok() && (is_binary || head.starts_with(b"#!"))
}

pub fn run(args: &Args, session: &mut Session<'_>, file: &Path) -> Outcome {
    let path = session.dir.join(file);
    let name = file.display().to_string();
    if name.ends_with(".so") || name.ends_with(".dylib") {
        let what = format!("{name} is a shared object, which does not run by itself");
        return Err(Failure::usage(format!(
            "{what}: give the program that loads it, as in `tessera sanitize python3 -- host.py`"
        )));
    }
    let findings = std::env::temp_dir().join(format!("tessera-findings-{}.jsonl", std::process::id()));
    let _ = std::fs::remove_file(&findings);
    let mut command = Command::new(if path.components().count() > 1 { path } else { Path::new(".").join(path) });
    command
        .args(&args.args)
        .env("TESSERA_RACES", "error")
        .env("TESSERA_ERRORS", "print")
        .env("TESSERA_FINDINGS", &findings);
    if !session.dir.as_os_str().is_empty() {
        command.current_dir(&session.dir);
    }
    let done = command.output().map_err(|e| Failure::usage(format!("{name} does not start: {e}")))?;
    let text = std::fs::read_to_string(&findings).unwrap_or_default();
    let _ = std::fs::remove_file(&findings);
    let lines: Vec<Line> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if args.format == Findings::Human {
        session.stdout.write_all(&done.stdout)?;
    }
    if text.is_empty() {
        session.stderr.write_all(&done.stderr)?;
        let ended = if done.status.success() { String::new() } else { format!(" ({})", done.status) };
        return Err(Failure::usage(format!(
            "{name} called no instruction of Tessera{ended}: compile it with the header pto/pto-inst.hpp of bindings/cpp"
        )));
    }
    let is_whole = lines.iter().any(|line| line.kind == "end");
    let mut worst = FINE;
    let (mut count, mut sources): (u64, Vec<Source>) = (0, Vec::new());
    // With an error the program ends with 1, whichever tool found it.
    let has_errors = lines.iter().any(|line| line.severity == "error");
    for line in lines.into_iter().filter(|line| line.kind == "finding") {
        if !sources.iter().any(|source| source.name == line.file) {
            // A source that is not here is shown by its name and line only.
            let text = std::fs::read_to_string(session.dir.join(&line.file)).unwrap_or_default();
            sources.push(Source::new(line.file.clone(), text));
        }
        let Some(source) = sources.iter().find(|source| source.name == line.file) else { continue };
        let found = diagnostic(line, source);
        if !args.wants(&found) {
            continue;
        }
        let found = args.policy.apply(vec![found]);
        count += found.len() as u64;
        for d in &found {
            worst = worst.max(args.policy.one(session, source, d, Profile::Cpu)?);
        }
    }
    if args.format == Findings::Human {
        let what = if count == 0 { "nothing found".to_string() } else { counted(count, "finding") };
        writeln!(session.stderr, "{name}: {what}")?;
        if !is_whole {
            writeln!(session.stderr, "note: {name} ended before everything was judged ({})", done.status)?;
        }
    }
    let has_failed = !done.status.success() && (!has_errors || !is_whole);
    if has_failed && args.format == Findings::Human {
        session.stderr.write_all(&done.stderr)?;
        writeln!(session.stderr, "error: {name} failed: {}", done.status)?;
    }
    Ok(if has_failed { worst.max(PROGRAM_ERROR) } else { worst })
}

/// A finding at its line of the source.
fn diagnostic(line: Line, source: &Source) -> Diagnostic {
    let rule = tessera_micro::rules::rule(&line.rule).map_or("internal", |rule| rule.id);
    let severity = match line.severity.as_str() {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => Severity::Note,
    };
    let mut found = Diagnostic::new(rule, severity, line.message);
    let mut notes = line.notes;
    match span(source, line.line) {
        Some(span) => found = found.at(span, line.label),
        None if line.line > 0 => notes.insert(0, format!("{} at {}:{}", line.instruction, line.file, line.line)),
        None if !line.instruction.is_empty() => notes.insert(0, format!("in {}", line.instruction)),
        None => {}
    }
    for Other { file, line: number, instruction, label } in line.others {
        match span(source, number).filter(|_| file == line.file) {
            Some(span) => found = found.and_at(span, label),
            None => notes.push(format!("{instruction} at {file}:{number}: {label}")),
        }
    }
    found.notes = notes;
    found.help = line.help;
    found
}

/// A line of a source, without the blanks around it.
fn span(source: &Source, line: usize) -> Option<Span> {
    let range = source.line_range(line.checked_sub(1)?);
    let text = source.text.get(range.clone()).filter(|text| !text.trim().is_empty())?;
    let start = range.start + text.len() - text.trim_start().len();
    Some(Span::new(start as u32, (start + text.trim().len()) as u32))
}
