//! Names: where they are defined and used, and giving them others.

use crate::server::Refused;
use crate::snapshot::Snapshot;
use crate::symbols::{Occurrence, Symbol};
use gen_lsp_types as lsp;
use std::collections::HashMap;
use tessera::Program;
use tessera_isa::diag::Span;

/// The definition of the name at a place.
pub fn definition(snapshot: &Snapshot, at: u32) -> Option<lsp::DefinitionResponse> {
    let symbols = snapshot.symbols();
    let found = symbols.definition(&symbols.at(at)?.symbol)?;
    Some(lsp::Definition::Location(snapshot.location(found.span)).into())
}

/// Everywhere that the name at a place stands.
pub fn references(snapshot: &Snapshot, at: u32, with_definition: bool) -> Vec<lsp::Location> {
    let all = same(snapshot, at).filter(|found| with_definition || !found.is_definition);
    all.map(|found| snapshot.location(found.span)).collect()
}

/// The same, as the editor shows them beside each other.
pub fn highlights(snapshot: &Snapshot, at: u32) -> Vec<lsp::DocumentHighlight> {
    let written = written(snapshot, at);
    let kind = |found: &Occurrence| match found.is_definition || written.contains(&found.span.start) {
        true => lsp::DocumentHighlightKind::Write,
        false => lsp::DocumentHighlightKind::Read,
    };
    let one =
        |found: &Occurrence| lsp::DocumentHighlight { range: snapshot.text.range(found.span), kind: Some(kind(found)) };
    same(snapshot, at).map(one).collect()
}

fn same(snapshot: &Snapshot, at: u32) -> impl Iterator<Item = &Occurrence> {
    let symbols = snapshot.symbols();
    symbols.at(at).into_iter().flat_map(|found| symbols.of(&found.symbol))
}

/// The instructions that write the value at a place.
fn written(snapshot: &Snapshot, at: u32) -> Vec<u32> {
    let symbols = snapshot.symbols();
    let value = symbols.at(at).and_then(|found| symbols.value(&found.symbol));
    let Some((func, value)) = value else { return Vec::new() };
    let Some(func) = snapshot.program.module().funcs.get(func) else { return Vec::new() };
    let operands = func.ops.iter().flat_map(|op| op.operands.iter().filter(|o| o.role.is_dst()));
    operands.filter(|o| o.arg.value() == Some(value)).map(|o| o.span.start + 1).collect()
}

/// The ranges that a rename at a place would replace.
pub fn prepare(snapshot: &Snapshot, at: u32) -> Option<lsp::PrepareRenameResult> {
    let found = snapshot.symbols().at(at)?;
    let placeholder = snapshot.text.slice(found.span).to_string();
    Some(lsp::PrepareRenamePlaceholder { range: snapshot.text.range(found.span), placeholder }.into())
}

/// The edits that give the name at a place another one.
pub fn rename(snapshot: &Snapshot, at: u32, new: &str) -> Result<lsp::WorkspaceEdit, Refused> {
    let symbols = snapshot.symbols();
    let found = symbols.at(at).ok_or_else(|| Refused::because("no name stands here; put the cursor on one"))?;
    let new = new.trim().trim_start_matches(sign(&found.symbol));
    if !is_name(new, &found.symbol) {
        let what = "a name is digits, or letters, digits, `_`, `$`, `.` and `-` that do not begin with a digit";
        return Err(Refused::because(format!("'{new}' is no name; {what}")));
    }
    if let Some(at) = taken(snapshot, &found.symbol, new) {
        let line = snapshot.text.position(at).line + 1;
        return Err(Refused::because(format!("line {line} has a {new} already; take another name")));
    }
    let edits: Vec<(Span, String)> = symbols.of(&found.symbol).map(|f| (f.span, new.to_string())).collect();
    // Whatever else could be in the way shows when the new text is read.
    let errors = |program: &Program| program.check().iter().filter(|d| d.is_error()).count();
    let renamed = Program::read(snapshot.text.with(edits.clone()).text.as_bytes(), None);
    if renamed.has_errors() && errors(&renamed) > errors(&snapshot.program) {
        return Err(Refused::because(format!("with the name {new} the program could not be read any more")));
    }
    Ok(edit(snapshot, edits))
}

/// Edits of one document.
pub fn edit(snapshot: &Snapshot, edits: Vec<(Span, String)>) -> lsp::WorkspaceEdit {
    let changes = HashMap::from([(snapshot.uri.clone(), snapshot.text.edits(edits))]);
    lsp::WorkspaceEdit { changes: Some(changes), ..Default::default() }
}

fn sign(symbol: &Symbol) -> &'static [char] {
    match symbol {
        Symbol::Value(_) => &['%'],
        Symbol::Function(_) => &['@'],
        Symbol::Alias(_) => &['!', '#'],
    }
}

/// syntax.md 1: digits, or letters, digits and signs that do not begin with a digit. Functions and aliases begin with a
/// letter.
fn is_name(name: &str, symbol: &Symbol) -> bool {
    let is_value = matches!(symbol, Symbol::Value(_));
    let is_sign = |c: char| matches!(c, '_' | '$' | '.') || c == '-' && !matches!(symbol, Symbol::Alias(_));
    let Some(first) = name.chars().next() else { return false };
    if is_value && first.is_ascii_digit() {
        return name.chars().all(|c| c.is_ascii_digit());
    }
    let starts = first.is_ascii_alphabetic() || first == '_' || is_value && is_sign(first);
    starts && name.chars().all(|c| c.is_ascii_alphanumeric() || is_sign(c)) && !name.contains("->")
}

/// The places at which the new name already has another meaning.
fn taken(snapshot: &Snapshot, symbol: &Symbol, new: &str) -> Option<u32> {
    let symbols = snapshot.symbols();
    let module = snapshot.program.module();
    match symbol {
        Symbol::Value(_) => {
            let (func, _) = symbols.value(symbol)?;
            let is_new = |name: &str| name.split_once('#').map_or(name, |(base, _)| base) == new;
            let mut values = module.funcs.get(func)?.values.iter();
            let other = values.find(|v| is_new(module.names.text(v.name)) && Symbol::Value(v.span.start) != *symbol)?;
            Some(other.span.start)
        }
        Symbol::Function(old) => {
            let other = Symbol::Function(new.into());
            if old == new { None } else { symbols.of(&other).next().map(|found| found.span.start) }
        }
        Symbol::Alias(old) => {
            let sign = old.get(..1).unwrap_or_default();
            let other = Symbol::Alias(format!("{sign}{new}"));
            if other == *symbol { None } else { symbols.of(&other).next().map(|found| found.span.start) }
        }
    }
}
