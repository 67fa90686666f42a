//! Semantic tokens: what each word is, as the program says and not only its letters.

use crate::snapshot::Snapshot;
use gen_lsp_types as lsp;
use std::collections::HashSet;
use std::sync::LazyLock;
use tessera_asm::{Tok, Token, vocabulary};
use tessera_ir::Def;
use tessera_isa::diag::Span;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{AttrName, Opcode, other};

/// The kinds of tokens, in the order of their numbers.
#[derive(Clone, Copy)]
enum Kind {
    Comment,
    Keyword,
    Instruction,
    Variable,
    Parameter,
    Function,
    Type,
    Attribute,
    Word,
    Number,
    String,
}

const KINDS: [&str; 11] = [
    "comment",
    "keyword",
    "macro",
    "variable",
    "parameter",
    "function",
    "type",
    "property",
    "enumMember",
    "number",
    "string",
];

/// The modifier of names where they are defined.
const DEFINITION: u32 = 1;

/// What the numbers mean.
pub fn legend() -> lsp::SemanticTokensLegend {
    lsp::SemanticTokensLegend {
        token_types: KINDS.map(String::from).to_vec(),
        token_modifiers: vec!["definition".into()],
    }
}

/// The tokens of a part of the text.
pub fn tokens(snapshot: &Snapshot, span: Span) -> lsp::SemanticTokens {
    let (tokens, text) = (snapshot.tokens(), &snapshot.text);
    let inside = |s: &Span| s.start < span.end && span.start < s.end;
    let parameters = parameters(snapshot);
    let mut all: Vec<(Span, Kind, u32)> =
        tokens.comments.iter().map(|c| c.span).filter(inside).map(|s| (s, Kind::Comment, 0)).collect();
    // Open `<`, from the first token on.
    let mut angles = 0usize;
    for (n, token) in tokens.list.iter().enumerate() {
        match token.kind {
            Tok::Less => angles += 1,
            Tok::Greater => angles = angles.saturating_sub(1),
            Tok::End => angles = 0,
            _ if token.first && angles > 0 && !matches!(token.kind, Tok::Word | Tok::Int) => angles = 0,
            _ => {}
        }
        if token.span.start >= span.end {
            break;
        }
        // What stands inside a type has the grammar's colours: it is most of a text, and nothing more is known of it.
        if !inside(&token.span) || angles > 0 {
            continue;
        }
        let (before, next) = (n.checked_sub(1).and_then(|n| tokens.list.get(n)), tokens.list.get(n + 1));
        if let Some(kind) = kind(snapshot, token, before, next) {
            let is_parameter = matches!(kind, Kind::Variable) && parameters.contains(&token.span.start);
            let kind = if is_parameter { Kind::Parameter } else { kind };
            let is_name = matches!(token.kind, Tok::Percent | Tok::At);
            let found = if is_name { snapshot.symbols().at(token.span.start) } else { None };
            let is_definition = found.is_some_and(|f| f.is_definition && f.span.start <= token.span.end);
            all.push((token.span, kind, if is_definition { DEFINITION } else { 0 }));
        }
    }
    all.sort_by_key(|(span, ..)| span.start);
    let mut before = lsp::Position { line: 0, character: 0 };
    let mut data = Vec::with_capacity(all.len());
    for (span, kind, modifiers) in all {
        let range = text.range(span);
        // A token stands on one line; a string that is not closed ends with its own.
        if range.start.line != range.end.line || range.end.character <= range.start.character {
            continue;
        }
        let delta_line = range.start.line - before.line;
        let from = if delta_line == 0 { before.character } else { 0 };
        data.push(lsp::SemanticToken {
            delta_line,
            delta_start: range.start.character - from,
            length: range.end.character - range.start.character,
            token_type: kind as u32,
            token_modifiers_bitset: modifiers,
        });
        before = range.start;
    }
    lsp::SemanticTokens { result_id: None, data }
}

/// Where arguments of functions and regions stand.
fn parameters(snapshot: &Snapshot) -> HashSet<u32> {
    let mut all = HashSet::new();
    for func in &snapshot.program.module().funcs {
        let is_parameter = |def: Def| matches!(def, Def::Arg(_) | Def::BlockArg(..) | Def::Input);
        all.extend(func.values.iter().filter(|v| is_parameter(v.def)).map(|v| v.span.start));
        for operand in func.ops.iter().flat_map(|op| &op.operands) {
            let value = operand.arg.value().map(|v| func.value(v));
            if value.is_some_and(|v| is_parameter(v.def)) {
                all.insert(operand.span.start);
            }
        }
    }
    all
}

fn kind(snapshot: &Snapshot, token: &Token, before: Option<&Token>, next: Option<&Token>) -> Option<Kind> {
    let word = snapshot.text.slice(token.span);
    let is_key = next.is_some_and(|t| t.kind == Tok::Equal);
    Some(match token.kind {
        Tok::Percent => Kind::Variable,
        Tok::At => Kind::Function,
        Tok::Bang => Kind::Type,
        Tok::Hash => Kind::Word,
        Tok::Caret => Kind::Keyword,
        Tok::Int | Tok::Float => Kind::Number,
        // `"pto.tadd"(…)` and `"scf.for"(…)` of the generic form.
        Tok::Str if next.is_some_and(|t| t.kind == Tok::LParen) => operation(word.trim_matches('"')),
        Tok::Str => Kind::String,
        Tok::Word if is_key => Kind::Attribute,
        Tok::Word if before.is_some_and(|t| t.kind == Tok::Equal) && !token.first && attribute(snapshot, before) => {
            Kind::Word
        }
        Tok::Word if is_type(word) => Kind::Type,
        Tok::Word if AttrName::ALL.iter().any(|a| a.name() == word) => Kind::Attribute,
        Tok::Word => operation(word),
        _ => return None,
    })
}

/// Does this `=` give an attribute its value? One behind results does not: a mnemonic follows.
fn attribute(snapshot: &Snapshot, equal: Option<&Token>) -> bool {
    let Some(equal) = equal else { return false };
    let tokens = &snapshot.tokens().list;
    let n = tokens.partition_point(|t| t.span.start < equal.span.start);
    let key = n.checked_sub(1).and_then(|n| tokens.get(n));
    key.is_some_and(|t| t.kind == Tok::Word)
}

/// Is it a type without brackets: `index`, `f32`?
fn is_type(word: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        vocabulary::types().chain(Elem::ALL.iter().flat_map(|e| e.info().spellings).copied()).collect()
    });
    NAMES.contains(word)
}

fn operation(word: &str) -> Kind {
    let name = word.strip_prefix("pto.").unwrap_or(word);
    let is_instruction = word != name || Opcode::parse(name).is_some() || other(name).is_some();
    if is_instruction { Kind::Instruction } else { Kind::Keyword }
}
