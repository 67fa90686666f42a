//! Diagnostics for programs: one JSON object a line.

use crate::source::Source;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tessera::{Diagnostic, Profile};
use tessera_isa::diag::Fact;

#[derive(Serialize)]
struct Record<'a> {
    rule: &'a str,
    severity: &'a str,
    message: &'a str,
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    notes: Vec<String>,
    help: Option<&'a str>,
    profile: &'a str,
    /// Fields of the rule's own.
    #[serde(flatten)]
    facts: Map<String, Value>,
}

/// A diagnostic as one line. Labels and second places become notes.
pub fn line(diagnostic: &Diagnostic, source: &Source, profile: Profile) -> String {
    let range = diagnostic.span.map(|s| source.clamp(s));
    let start = range.as_ref().map(|r| source.position(r.start));
    let end = range.as_ref().map(|r| source.position(r.end));
    let mut notes = diagnostic.notes.clone();
    if !diagnostic.label.is_empty() {
        notes.insert(0, diagnostic.label.clone());
    }
    notes.extend(diagnostic.secondary.iter().map(|label| {
        let at = source.position(source.clamp(label.span).start);
        format!("{}:{}:{}: {}", source.name, at.line, at.column, label.text)
    }));
    let record = Record {
        rule: diagnostic.rule,
        severity: diagnostic.severity.name(),
        message: &diagnostic.message,
        file: &source.name,
        line: start.map(|p| p.line),
        column: start.map(|p| p.column),
        end_line: end.map(|p| p.line),
        end_column: end.map(|p| p.column),
        notes,
        help: diagnostic.help.as_deref(),
        profile: profile.name(),
        facts: parts(&diagnostic.facts, source),
    };
    // A record of strings and numbers always has a JSON form.
    serde_json::to_string(&record).unwrap_or_default() + "\n"
}

pub fn parts(facts: &[(&'static str, Fact)], source: &Source) -> Map<String, Value> {
    facts.iter().map(|(name, fact)| (name.to_string(), value(fact, source))).collect()
}

fn value(fact: &Fact, source: &Source) -> Value {
    match fact {
        Fact::Text(text) => json!(text),
        Fact::Number(n) => json!(n),
        Fact::List(all) => all.iter().map(|fact| value(fact, source)).collect(),
        Fact::Parts(facts) => Value::Object(parts(facts, source)),
        Fact::Place(span) => {
            let at = source.position(source.clamp(*span).start);
            json!({"line": at.line, "column": at.column})
        }
    }
}
