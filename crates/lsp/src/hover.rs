//! Hover: a description of the item under the cursor.

use crate::Pages;
use crate::context::is_word;
use crate::hints;
use crate::snapshot::Snapshot;
use crate::symbols::{Symbol, type_of};
use gen_lsp_types as lsp;
use std::fmt::Write;
use tessera::Profile;
use tessera_asm::{Tok, print_type};
use tessera_ir::{Func, Op, Type, ValueId};
use tessera_isa::diag::Span;

/// The text about a place, with the span that it is about.
pub fn hover(snapshot: &Snapshot, at: u32, pages: &dyn Pages) -> Option<lsp::Hover> {
    if snapshot.tokens().in_comment(at) {
        return None;
    }
    let (span, value) = name(snapshot, at, pages)
        .or_else(|| instruction(snapshot, at, pages))
        .or_else(|| word(snapshot, at, pages))
        .or_else(|| written_type(snapshot, at, pages))?;
    let contents = lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value };
    Some(lsp::Hover { contents: contents.into(), range: Some(snapshot.text.range(span)) })
}

fn block(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```\n", text.trim_end())
}

/// A value, function or alias.
fn name(snapshot: &Snapshot, at: u32, pages: &dyn Pages) -> Option<(Span, String)> {
    let symbols = snapshot.symbols();
    let Some(found) = symbols.at(at) else { return former(snapshot, at, pages) };
    let module = snapshot.program.module();
    let text = match &found.symbol {
        Symbol::Function(name) => block("pto", &head(snapshot, name)?),
        Symbol::Alias(_) => {
            let definition = symbols.definition(&found.symbol)?;
            let line = Span::new(definition.span.start - 1, snapshot.text.line_end(definition.span.start));
            block("pto", snapshot.text.slice(line))
        }
        Symbol::Value(_) => {
            let (n, value) = symbols.value(&found.symbol)?;
            self::value(snapshot, module.funcs.get(n)?, value, pages)
        }
    };
    Some((found.span, text))
}

/// A value of a function that cannot be read any more, as the last version that could be read had it.
fn former(snapshot: &Snapshot, at: u32, pages: &dyn Pages) -> Option<(Span, String)> {
    let good = snapshot.good.as_deref()?;
    let (_, token) = snapshot.tokens().at(at).filter(|(_, t)| t.kind == Tok::Percent)?;
    let module = good.program.module();
    let name = module.names.find(snapshot.text.slice(token.span).trim_start_matches('%'))?;
    let mut found = module.funcs.iter().filter_map(|func| Some((func, func.find(name)?)));
    let (func, value) = found.next()?;
    Some((token.span, self::value(good, func, value, pages)))
}

/// The head of a function, as it is written.
fn head(snapshot: &Snapshot, name: &str) -> Option<String> {
    let module = snapshot.program.module();
    let id = module.names.find(name)?;
    let (_, span) = snapshot.program.extents().iter().find(|(known, _)| *known == Some(id))?;
    let text = snapshot.text.slice(*span);
    // The body's brace is the first at the end of a line.
    let end = text.find("{\n").or_else(|| text.find("{\r")).or_else(|| text.find('\n')).unwrap_or(text.len());
    text.get(..end).map(|head| head.trim_end().to_string())
}

fn value(snapshot: &Snapshot, func: &Func, value: ValueId, pages: &dyn Pages) -> String {
    let name = snapshot.program.module().names.text(func.value(value).name);
    let Some(ty) = type_of(snapshot, func, value) else {
        return block("pto", &format!("%{name} : ?"));
    };
    let mut out = block("pto", &format!("%{name} : {}", print_type(ty)));
    if let Some(place) = hints::place(snapshot, func, value) {
        let how = if place.is_manual { "at an address of the text" } else { "placed automatically" };
        let line = |line: Option<usize>, edge: &str| line.map_or(edge.to_string(), |n| format!("line {n}"));
        let (from, to) = (line(place.lines.0, "the entry"), line(place.lines.1, "the end"));
        let memory = place.loc.memory_name();
        let profile = snapshot.profile();
        let (addr, bytes) = (place.addr, place.bytes);
        let _ = write!(out, "{memory} {addr:#x}, {bytes} bytes on {profile}, {how}, alive from {from} to {to}\n\n");
    }
    out + &drawn(snapshot, ty, pages)
}

/// A tile drawn on the profiles, once where they agree.
fn drawn(snapshot: &Snapshot, ty: &Type, pages: &dyn Pages) -> String {
    let Type::Tile(tile) = ty else { return String::new() };
    let mut drawn: Vec<(tessera_isa::tile::Tile, Vec<Profile>)> = Vec::new();
    for profile in snapshot.profiles().0 {
        let on = tile.resolve(profile);
        match drawn.iter_mut().find(|(known, _)| *known == on) {
            Some((_, profiles)) => profiles.push(profile),
            None => drawn.push((on, vec![profile])),
        }
    }
    let mut out = String::new();
    for (tile, profiles) in drawn {
        let Some(first) = profiles.first() else { continue };
        let names: Vec<&str> = profiles.iter().map(|p| p.name()).collect();
        let _ = write!(out, "{tile} on {}\n{}", names.join(", "), block("text", &pages.layout(&tile, *first)));
    }
    out
}

/// An instruction at its mnemonic: where it is legal, and its page.
fn instruction(snapshot: &Snapshot, at: u32, pages: &dyn Pages) -> Option<(Span, String)> {
    let (_, token) = snapshot.tokens().at(at).filter(|(_, t)| matches!(t.kind, Tok::Word | Tok::Str))?;
    let word = snapshot.text.slice(token.span).trim_matches('"');
    let (_, op) = snapshot.operation(at)?;
    let opcode = op.opcode()?;
    let name = word.strip_prefix("pto.").unwrap_or(word);
    if tessera::Opcode::parse(name) != Some(opcode) {
        return None;
    }
    let page = pages.explain(opcode.mnemonic())?;
    Some((token.span, format!("{}{}", legality(snapshot, op), block("text", &page))))
}

/// The profiles that accept an operation, and the rules by which the others refuse it.
fn legality(snapshot: &Snapshot, op: &Op) -> String {
    if snapshot.program.has_errors() {
        return String::new();
    }
    let Some(refused) = snapshot.refused(op.span) else { return String::new() };
    let one = |profile: Profile| match refused[profile as usize] {
        None => format!("✓ {profile}"),
        Some(rule) => format!("✗ {profile}: {rule}"),
    };
    format!("{}\n\n", Profile::ALL.map(one).join(" · "))
}

/// A word that has a page: an attribute, a word of one, a type, a pipe, a location.
fn word(snapshot: &Snapshot, at: u32, pages: &dyn Pages) -> Option<(Span, String)> {
    let span = word_span(snapshot, at)?;
    let text = snapshot.text.slice(span);
    let mut names = vec![text, text.trim_start_matches("pto.")];
    // `16x32xf16`.
    names.extend(text.rsplit_once('x').map(|(_, elem)| elem));
    if text.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let page = names.iter().filter(|name| name.len() > 1).find_map(|name| pages.explain(name))?;
    let typed = written_type(snapshot, at, pages).map_or(String::new(), |(_, text)| text);
    Some((span, format!("{typed}{}", block("text", &page))))
}

fn word_span(snapshot: &Snapshot, at: u32) -> Option<Span> {
    let bytes = snapshot.text.text.as_bytes();
    let at = at as usize;
    let start = (0..at).rev().take_while(|n| bytes.get(*n).copied().is_some_and(is_word)).last().unwrap_or(at);
    let end =
        (at..bytes.len()).take_while(|n| bytes.get(*n).copied().is_some_and(is_word)).last().map_or(at, |n| n + 1);
    (start < end).then(|| Span::new(start as u32, end as u32))
}

/// A type that is written at a place, drawn.
fn written_type(snapshot: &Snapshot, at: u32, pages: &dyn Pages) -> Option<(Span, String)> {
    let holds = |span: Span| span.start <= at && at <= span.end;
    let module = snapshot.program.module();
    for func in &module.funcs {
        let values = func.values.iter().zip((0..).map(ValueId)).filter(|(v, _)| v.type_span != v.span);
        let of_values = values.map(|(v, id)| (v.type_span, id));
        let operands = func.ops.iter().flat_map(|op| &op.operands).filter(|o| o.type_span != o.span);
        let of_operands = operands.filter_map(|o| Some((o.type_span, o.arg.value()?)));
        let found = of_values.chain(of_operands).find(|(span, _)| holds(*span));
        if let Some((span, value)) = found {
            let ty = type_of(snapshot, func, value)?;
            return Some((span, block("pto", &print_type(ty)) + &drawn(snapshot, ty, pages)));
        }
    }
    None
}
