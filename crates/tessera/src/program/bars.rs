//! A program with the barriers that accesses inside of its vecscopes need (micro/model.md 8).

use super::{OrderOptions, Program};
use crate::Result;
use tessera_isa::diag::{Diagnostic, Fact, Span};

/// More barriers than this are not inserted.
const MOST: usize = 256;

impl Program {
    /// The text with a barrier before every access that races with an earlier one of its vecscope, and no barrier that
    /// another one makes useless. Lines and comments stay as they are.
    pub fn with_bars(&self, entry: Option<&str>) -> Result<String> {
        let mut text = self.source().to_string();
        let mut added: Vec<String> = Vec::new();
        while added.len() < MOST {
            let program = Program::read(&text, Some(self.profile()));
            let Some((line, at)) = program.missing_bar(entry)? else { break };
            let start = text.get(..at.start as usize).and_then(|before| before.rfind('\n')).map_or(0, |n| n + 1);
            let indent: String =
                text.get(start..).unwrap_or_default().chars().take_while(|c| c.is_whitespace()).collect();
            // Each is found again by its comment.
            let line = format!("{indent}{line} // bar {}\n", added.len());
            text.insert_str(start, &line);
            added.push(line);
        }
        for line in added.iter().rev() {
            let less = text.replacen(line.as_str(), "", 1);
            if Program::read(&less, Some(self.profile())).missing_bar(entry)?.is_none() {
                text = less;
            } else {
                let bare = format!("{}\n", line.split(" // ").next().unwrap_or_default());
                text = text.replacen(line.as_str(), &bare, 1);
            }
        }
        Ok(text)
    }

    /// The first barrier that is missing, and the operation that it belongs before.
    fn missing_bar(&self, entry: Option<&str>) -> Result<Option<(String, Span)>> {
        let kernel = self.kernel_or_entry(entry)?;
        let report = kernel.order(&OrderOptions::default())?;
        Ok(report.diagnostics.iter().filter(|found| found.is_error()).find_map(bar_of))
    }
}

/// The barrier inside of a vecscope that a finding says is missing.
fn bar_of(found: &Diagnostic) -> Option<(String, Span)> {
    let (_, Fact::List(lines)) = found.facts.iter().find(|(name, _)| *name == "add")? else { return None };
    let [Fact::Parts(parts)] = lines.as_slice() else { return None };
    match parts.as_slice() {
        [("text", Fact::Text(text)), ("before", Fact::Place(at))] if is_bar(text) => Some((text.to_string(), *at)),
        _ => None,
    }
}

fn is_bar(text: &str) -> bool {
    let name = text.trim_start_matches("pto.").split(' ').next().unwrap_or_default();
    tessera_micro::find(name).is_some_and(|(_, row)| row.sem == tessera_micro::Sem::Bar)
}
