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
        "layouts": LayoutName::ALL.iter().map(|l| json!({ "name": l.name(), "about": l.about() })).collect::<Vec<_>>(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

pub fn profile(name: &str) -> Result<Profile, String> {
    Profile::parse(name).ok_or_else(|| format!("there is no profile '{name}' (cpu, a2a3, a5)"))
}

/// Places of a text as scripts count them: UTF-16 units from its start.
pub struct Places<'a> {
    text: &'a str,
    /// By line: its first byte, and the units before it.
    lines: Vec<(usize, usize)>,
}

impl<'a> Places<'a> {
    pub fn new(text: &'a str) -> Self {
        let start = |before: &mut (usize, usize), line: &str| {
            let (bytes, units) = *before;
            *before = (bytes + line.len(), units + line.encode_utf16().count());
            Some((bytes, units))
        };
        Places { text, lines: text.split_inclusive('\n').scan((0, 0), start).collect() }
    }

    /// The line (from 0), and the units before it and before the byte.
    fn units(&self, byte: u32) -> (usize, usize, usize) {
        let mut end = (byte as usize).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let line = self.lines.partition_point(|(start, _)| *start <= end).saturating_sub(1);
        let (start, before) = self.lines.get(line).copied().unwrap_or_default();
        let inside = self.text.get(start..end).unwrap_or_default();
        (line, before, before + inside.encode_utf16().count())
    }

    /// A place; lines and columns count from 1.
    pub fn at(&self, span: Span) -> Value {
        let (line, before, start) = self.units(span.start);
        let (.., end) = self.units(span.end);
        json!({ "start": start, "end": end, "line": line + 1, "column": start - before + 1 })
    }

    fn finding(&self, d: &Diagnostic) -> Value {
        let labels: Vec<Value> = d.secondary.iter().map(|l| json!({ "at": self.at(l.span), "text": l.text })).collect();
        json!({
            "severity": d.severity.name(), "rule": d.rule, "message": d.message, "help": d.help, "notes": d.notes,
            "at": d.span.map(|span| self.at(span)), "label": d.label, "labels": labels,
        })
    }

    pub fn findings(&self, all: &[Diagnostic]) -> Vec<Value> {
        all.iter().map(|d| self.finding(d)).collect()
    }
}
