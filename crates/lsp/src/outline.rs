//! The document as a whole: its functions and values, what can be folded, its kernels, and its canonical text.

use crate::snapshot::Snapshot;
use crate::symbols::{Symbol, type_of};
use gen_lsp_types as lsp;
use tessera_asm::Tok;
use tessera_ir::{Func, ValueId};
use tessera_isa::diag::Span;

/// Functions with their values; those of a listing at the top.
pub fn symbols(snapshot: &Snapshot) -> Vec<lsp::DocumentSymbol> {
    let module = snapshot.program.module();
    let mut all = Vec::new();
    for func in &module.funcs {
        let values = values(snapshot, func);
        if module.is_listing {
            all.extend(values);
            continue;
        }
        let name = module.names.text(func.name);
        let definition = snapshot.symbols().definition(&Symbol::Function(name.into())).map(|found| found.span);
        let extent = snapshot.program.extents().iter().find(|(known, _)| *known == Some(func.name));
        let selection = definition.unwrap_or(func.span);
        let whole = extent.map_or(func.span, |(_, span)| *span).to(selection);
        let kind = lsp::SymbolKind::Function;
        let detail = func.core.map(|core| format!("{core} core"));
        all.push(symbol(snapshot, format!("@{name}"), detail, kind, (whole, selection), Some(values)));
    }
    all
}

fn values(snapshot: &Snapshot, func: &Func) -> Vec<lsp::DocumentSymbol> {
    let names = &snapshot.program.module().names;
    let ids = (0..func.values.len() as u32).map(ValueId);
    let one = |id: ValueId| {
        let value = func.value(id);
        let detail = type_of(snapshot, func, id).map(tessera_asm::print_type);
        let name = format!("%{}", names.text(value.name));
        symbol(snapshot, name, detail, lsp::SymbolKind::Variable, (value.span, value.span), None)
    };
    ids.map(one).collect()
}

#[expect(deprecated, reason = "the struct has no other way to be made")]
fn symbol(
    snapshot: &Snapshot,
    name: String,
    detail: Option<String>,
    kind: lsp::SymbolKind,
    (whole, selection): (Span, Span),
    children: Option<Vec<lsp::DocumentSymbol>>,
) -> lsp::DocumentSymbol {
    let (range, selection_range) = (snapshot.text.range(whole), snapshot.text.range(selection));
    lsp::DocumentSymbol { name, detail, kind, tags: None, deprecated: None, range, selection_range, children }
}

/// The edits that make the text canonical; none where it cannot be read.
pub fn formatting(snapshot: &Snapshot) -> Option<Vec<lsp::TextEdit>> {
    if snapshot.program.has_errors() {
        return None;
    }
    let (old, new) = (&*snapshot.text.text, snapshot.program.text(None));
    if old == new {
        return Some(Vec::new());
    }
    // Only from the first line that differs to the last one, so that the cursor stays where it is.
    let head: usize = old.split_inclusive('\n').zip(new.split_inclusive('\n')).map_while(equal).sum();
    let (old_rest, new_rest) = (old.get(head..)?, new.get(head..)?);
    let lines = old_rest.split_inclusive('\n').rev().zip(new_rest.split_inclusive('\n').rev());
    let tail: usize = lines.map_while(equal).sum();
    let span = Span::new(head as u32, (old.len() - tail) as u32);
    Some(snapshot.text.edits(vec![(span, new_rest.get(..new_rest.len() - tail)?.to_string())]))
}

fn equal((a, b): (&str, &str)) -> Option<usize> {
    (a == b).then_some(a.len())
}

/// What can be folded: braces over several lines, and comments of several lines.
pub fn folds(snapshot: &Snapshot) -> Vec<lsp::FoldingRange> {
    let line = |byte: u32| snapshot.text.position(byte).line;
    let fold = |start_line, end_line, kind| lsp::FoldingRange { start_line, end_line, kind, ..Default::default() };
    let mut all = Vec::new();
    let mut open = Vec::new();
    for token in &snapshot.tokens().list {
        match token.kind {
            Tok::LBrace => open.push(line(token.span.start)),
            Tok::RBrace => {
                // The line of the closing brace stays visible.
                let (start, end) = (open.pop(), line(token.span.start));
                all.extend(start.filter(|start| start + 1 < end).map(|start| fold(start, end - 1, None)));
            }
            _ => {}
        }
    }
    let comments = snapshot.tokens().comments.iter().filter(|c| !c.trailing);
    let mut run: Option<(u32, u32)> = None;
    for at in comments.map(|c| Some(line(c.span.start))).chain([None]) {
        run = match (run, at) {
            (Some((start, end)), Some(at)) if at == end + 1 => Some((start, at)),
            (found, at) => {
                let kind = Some(lsp::FoldingRangeKind::Comment);
                all.extend(found.filter(|(start, end)| start < end).map(|(start, end)| fold(start, end, kind)));
                at.map(|at| (at, at))
            }
        };
    }
    all
}

/// `Run` and `Explore` above each kernel, as commands that the client has announced.
pub fn lenses(snapshot: &Snapshot) -> Vec<lsp::CodeLens> {
    if snapshot.program.has_errors() {
        return Vec::new();
    }
    let module = snapshot.program.module();
    let uri = serde_json::json!(snapshot.uri);
    let lens = |range: lsp::Range, title: &str, command: &str, arguments| lsp::CodeLens {
        range,
        command: Some(lsp::Command::new(title.into(), None, command.into(), Some(arguments))),
        data: None,
    };
    let mut all = Vec::new();
    for func in module.candidates() {
        let name = (!module.is_listing).then(|| module.names.text(func.name).to_string());
        let symbol = name.clone().map(Symbol::Function);
        let definition = symbol.and_then(|symbol| snapshot.symbols().definition(&symbol).map(|found| found.span));
        let range = snapshot.text.range(definition.unwrap_or_default());
        all.push(lens(range, "▶ Run", "tessera.run", vec![uri.clone(), serde_json::json!(name)]));
        all.push(lens(range, "Explore", "tessera.explore", vec![uri.clone()]));
    }
    all
}
