//! Findings as one SARIF 2.1.0 log, which code hosts turn into annotations.

use super::json;
use crate::source::Source;
use serde_json::{Map, Value, json};
use tessera::{Diagnostic, Profile, Severity};
use tessera_isa::diag::{Fact, SOURCE};
use tessera_micro::rules::rule;

/// The findings of one command, whatever files and profiles they are of.
#[derive(Clone, Debug, Default)]
pub struct Log {
    rules: Vec<&'static str>,
    results: Vec<Value>,
}

impl Log {
    /// Adds a finding.
    pub fn add(&mut self, diagnostic: &Diagnostic, source: &Source, profile: Profile) {
        let index = self.rules.iter().position(|id| *id == diagnostic.rule).unwrap_or_else(|| {
            self.rules.push(diagnostic.rule);
            self.rules.len() - 1
        });
        let mut text = diagnostic.message.clone();
        let notes = diagnostic.notes.iter().map(|note| format!("\nnote: {note}"));
        text.extend(notes.chain(diagnostic.help.iter().map(|help| format!("\nhelp: {help}"))));
        let mut properties = json::parts(&diagnostic.facts, source);
        properties.insert("profile".into(), json!(profile.name()));
        let mut result = json!({
            "ruleId": diagnostic.rule,
            "ruleIndex": index,
            "level": level(diagnostic.severity),
            "message": { "text": text },
            "locations": [location(source, diagnostic.span, &diagnostic.label)],
            "properties": properties,
        });
        let mut related: Vec<Value> =
            diagnostic.secondary.iter().map(|label| location(source, Some(label.span), &label.text)).collect();
        related.extend(made_from(diagnostic));
        if let (Some(result), false) = (result.as_object_mut(), related.is_empty()) {
            result.insert("relatedLocations".into(), json!(related));
        }
        self.results.push(result);
    }

    /// The whole log.
    pub fn text(&self) -> String {
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "tessera",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": self.rules.iter().map(|id| about(id)).collect::<Vec<_>>(),
                } },
                "columnKind": "unicodeCodePoints",
                "results": self.results,
            }],
        });
        format!("{log:#}\n")
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// What a rule says.
fn about(id: &str) -> Value {
    let mut about = Map::new();
    about.insert("id".into(), json!(id));
    if let Some(rule) = rule(id) {
        about.insert("shortDescription".into(), json!({ "text": rule.text }));
        let help = format!("{}; `tessera explain {id}` says more", rule.source);
        about.insert("help".into(), json!({ "text": help }));
        about.insert("defaultConfiguration".into(), json!({ "level": level(rule.severity) }));
    }
    Value::Object(about)
}

/// A place in a file; the file where none is known.
fn location(source: &Source, span: Option<tessera::Span>, label: &str) -> Value {
    let mut place = Map::new();
    place.insert("artifactLocation".into(), json!({ "uri": uri(&source.name) }));
    if let Some(range) = span.map(|span| source.clamp(span)) {
        let (start, end) = (source.position(range.start), source.position(range.end));
        let region = json!({
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        });
        place.insert("region".into(), region);
    }
    match label {
        "" => json!({ "physicalLocation": place }),
        label => json!({ "physicalLocation": place, "message": { "text": label } }),
    }
}

/// The place that a front end made the operation from.
fn made_from(diagnostic: &Diagnostic) -> Option<Value> {
    let (_, Fact::Parts(parts)) = diagnostic.facts.iter().find(|(name, _)| *name == SOURCE)? else { return None };
    let part = |wanted: &str| parts.iter().find(|(name, _)| *name == wanted).map(|(_, fact)| fact);
    let (Fact::Text(file), Fact::Number(line), Fact::Number(column)) = (part("file")?, part("line")?, part("column")?)
    else {
        return None;
    };
    // Lines and columns count from 1; 0 is an unknown one.
    let mut place = json!({ "artifactLocation": { "uri": uri(file) } });
    if let (Some(place), true) = (place.as_object_mut(), *line > 0) {
        place.insert("region".into(), json!({ "startLine": line, "startColumn": (*column).max(1) }));
    }
    Some(json!({ "physicalLocation": place, "message": { "text": "the operation comes from here" } }))
}

/// A file name as a URI reference.
fn uri(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
    let encoded = |b: u8| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
    let name = if cfg!(windows) { name.replace('\\', "/") } else { name.to_string() };
    name.bytes().map(encoded).collect()
}
