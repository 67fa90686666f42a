//! What answers share: places in a text, findings, the catalog.

use serde_json::{Value, json};
use tessera::{Diagnostic, Elem, Opcode, Profile, Span};
use tessera_isa::tile::{LayoutName, Loc};

/// A program for each instruction, from the reference pages.
const SAMPLES: &str = include_str!("../samples.txt");

/// Mnemonic, profile, text.
pub fn samples() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    SAMPLES.split("=== ").skip(1).filter_map(|section| {
        let (head, text) = section.split_once('\n')?;
        let (name, profile) = head.split_once(' ')?;
        Some((name, profile, text))
    })
}

pub fn catalog() -> Value {
    let instructions: Vec<Value> = samples()
        .filter_map(|(name, profile, text)| {
            let info = Opcode::parse(name)?.info();
            Some(json!({
                "name": name, "family": format!("{:?}", info.family), "summary": info.summary,
                "formula": info.formula, "profile": profile, "text": text,
            }))
        })
        .collect();
    json!({
        "instructions": instructions,
        "profiles": Profile::ALL.map(|p| p.name()),
        "elems": Elem::ALL.iter().map(|e| e.name()).collect::<Vec<_>>(),
        "locs": Loc::ALL.iter().map(|l| l.name()).collect::<Vec<_>>(),
        "layouts": LayoutName::ALL.iter().map(|l| l.name()).collect::<Vec<_>>(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

pub fn profile(name: &str) -> Result<Profile, String> {
    Profile::parse(name).ok_or_else(|| format!("there is no profile '{name}' (cpu, a2a3, a5)"))
}

/// A place as scripts count it: UTF-16 units from the start of the text, and the line, from 1.
pub fn place(text: &str, span: Span) -> Value {
    let at = |byte: u32| {
        let mut end = (byte as usize).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.get(..end).unwrap_or(text)
    };
    let units = |part: &str| part.encode_utf16().count();
    let (before, through) = (at(span.start), at(span.end));
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    json!({
        "start": units(before), "end": units(through), "line": before.matches('\n').count() + 1,
        "column": units(&before[line_start..]) + 1,
    })
}

/// A finding.
pub fn finding(text: &str, d: &Diagnostic) -> Value {
    let labels: Vec<Value> = d.secondary.iter().map(|l| json!({ "at": place(text, l.span), "text": l.text })).collect();
    json!({
        "severity": d.severity.name(), "rule": d.rule, "message": d.message, "help": d.help, "notes": d.notes,
        "at": d.span.map(|span| place(text, span)), "label": d.label, "labels": labels,
    })
}

pub fn findings(text: &str, all: &[Diagnostic]) -> Vec<Value> {
    all.iter().map(|d| finding(text, d)).collect()
}
