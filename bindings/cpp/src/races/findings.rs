//! The findings about the order of calls, of all threads, as C reads them.

use super::{MODE, lock};
use crate::abi::{TesseraRace, TesseraStatus};
use crate::machine::CFinding;
use rustc_hash::FxHashSet;
use std::ffi::{CStr, CString, c_char};
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use tessera_isa::diag::{Diagnostic, Severity};
use tessera_race::detector::{CallFinding, CallSite};

static FOUND: Mutex<Vec<&'static Found>> = Mutex::new(Vec::new());
static SEEN: Mutex<Option<FxHashSet<String>>> = Mutex::new(None);

/// A finding that lives as long as the process.
struct Found {
    finding: CFinding,
    name: CString,
    file: CString,
    line: u32,
    json: CString,
}

/// Keeps findings, each once for all blocks.
pub(super) fn tell(findings: Vec<CallFinding>) {
    for CallFinding { mut diagnostic, at, others } in findings {
        let is_of_order = !others.is_empty() || diagnostic.span.is_some();
        if is_of_order && diagnostic.severity == Severity::Error && MODE.load(Ordering::Relaxed) == 1 {
            diagnostic.severity = Severity::Warning;
        }
        // In one line instructions may be wrong in several ways.
        let places = at.iter().chain(others.iter().map(|other| &other.0));
        let key = places.fold(diagnostic.rule.to_string(), |key, site| format!("{key} {} {}", site.name, site.place()));
        let key = if is_of_order { key } else { format!("{key} {}", diagnostic.message) };
        if !lock(&SEEN).get_or_insert_default().insert(key) {
            continue;
        }
        let json = json(&diagnostic, at.as_ref(), &others);
        let mut lines: Vec<String> = Vec::new();
        // Of a race both sides are said; a set or a wait needs no more words.
        if !others.is_empty() {
            let own = &diagnostic.label;
            lines.extend(at.as_ref().map(|site| format!("{} {}: {own}", site.name, site.place())));
        }
        lines.extend(others.iter().map(|(site, what)| format!("{} {}: {what}", site.name, site.place())));
        diagnostic.notes.splice(0..0, lines);
        let c = |s: &str| CString::new(s.split('\0').next().unwrap_or("")).unwrap_or_default();
        let found = Found {
            finding: CFinding::new(&diagnostic),
            name: c(at.as_ref().map_or("", |site| &site.name)),
            file: c(at.as_ref().map_or("", |site| &site.file)),
            line: at.as_ref().map_or(0, |site| site.line),
            json: c(&json),
        };
        // There are few: one for each pair of places in the source.
        lock(&FOUND).push(Box::leak(Box::new(found)));
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The finding on one line, with the fields of `check --format json` that a call has.
fn json(d: &Diagnostic, at: Option<&CallSite>, others: &[(CallSite, String)]) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(","));
    let site = |site: &CallSite| {
        format!("\"instruction\":{},\"file\":{},\"line\":{}", quoted(&site.name), quoted(&site.file), site.line)
    };
    let place = at.map_or_else(|| "\"file\":\"\",\"line\":0".to_string(), site);
    let others = others.iter().map(|(at, what)| format!("{{{},\"label\":{}}}", site(at), quoted(what))).collect();
    let notes = d.notes.iter().map(|note| quoted(note)).collect();
    let help = d.help.as_ref().map_or_else(|| "null".to_string(), |help| quoted(help));
    format!(
        "{{\"kind\":\"finding\",\"rule\":{},\"severity\":{},\"message\":{},{place},\"label\":{},\"others\":{},\"notes\":{},\"help\":{help}}}",
        quoted(d.rule),
        quoted(d.severity.name()),
        quoted(&d.message),
        quoted(&d.label),
        list(others),
        list(notes),
    )
}

/// Keeps another finding of the program beside those about order: its rule, 1 for an error and 0 for a warning, its text (the message, then
/// notes and help, a line each), the intrinsic and the place.
///
/// # Safety
/// The strings are null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_findings_add(
    rule: *const c_char,
    is_error: u32,
    text: *const c_char,
    name: *const c_char,
    file: *const c_char,
    line: u32,
) {
    // SAFETY: null, or ends in NUL.
    let text_of = |p: *const c_char| match p.is_null() {
        true => String::new(),
        false => unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned(),
    };
    let (id, text) = (text_of(rule), text_of(text));
    let known = tessera_isa::rules::rule(&id).map_or("internal", |rule| rule.id);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let message = first.split_once("]: ").map_or(first, |(_, message)| message);
    let severity = if is_error != 0 { Severity::Error } else { Severity::Warning };
    let mut diagnostic = Diagnostic::new(known, severity, message);
    for line in lines {
        match line.split_once(": ") {
            Some(("help", help)) => diagnostic.help = Some(help.into()),
            Some(("note", note)) => diagnostic.notes.push(note.into()),
            _ => {}
        }
    }
    let site = CallSite { name: text_of(name), file: text_of(file), line };
    tell(vec![CallFinding { diagnostic, at: Some(site), others: Vec::new() }]);
}

/// How many findings about the order of calls there are.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_races_count() -> u32 {
    lock(&FOUND).len() as u32
}

/// The n-th of them.
///
/// # Safety
/// `race` is null or has room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_races_found(n: u32, race: *mut TesseraRace) -> TesseraStatus {
    let found = lock(&FOUND).get(n as usize).copied();
    // SAFETY: null, or room for a finding.
    let (Some(found), Some(out)) = (found, (unsafe { race.as_mut() })) else { return TesseraStatus::Argument };
    let [name, file, json]: [*const c_char; 3] = [&found.name, &found.file, &found.json].map(|s| s.as_ptr());
    *out = TesseraRace { found: found.finding.describe(), name, file, line: found.line, reserved: 0, json };
    TesseraStatus::Ok
}
