//! Semantic tokens: what each word is, as the program says and not only its letters.

use crate::snapshot::Snapshot;
use crate::symbols;
use gen_lsp_types as lsp;
use rustc_hash::FxHashMap as HashMap;
use std::collections::HashSet;
use std::sync::LazyLock;
use tessera_asm::{Tok, Token, vocabulary};
use tessera_ir::{Def, Value};
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

/// The legend of the token numbers.
pub fn legend() -> lsp::SemanticTokensLegend {
    lsp::SemanticTokensLegend {
        token_types: KINDS.map(String::from).to_vec(),
        token_modifiers: vec!["definition".into()],
    }
}

/// The tokens of a part of the text.
pub fn tokens(snapshot: &Snapshot, span: Span) -> Vec<lsp::SemanticToken> {
    let (tokens, text) = (snapshot.tokens(), &snapshot.text);
    let inside = |s: &Span| s.start < span.end && span.start < s.end;
    let names = names(snapshot);
    let mut words = HashMap::default();
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
        // The inside of a type keeps the grammar's colours: it is most of a text, and semantic colours add nothing.
        if !inside(&token.span) || angles > 0 {
            continue;
        }
        let (before, next) = (n.checked_sub(1).and_then(|n| tokens.list.get(n)), tokens.list.get(n + 1));
        let Some(kind) = kind(snapshot, token, before, next, &mut words) else { continue };
        all.push(match (kind, names.get(&token.span.start)) {
            (Kind::Variable, Some(name)) => {
                let kind = if name.is_parameter { Kind::Parameter } else { kind };
                (token.span, kind, u32::from(name.is_definition) * DEFINITION)
            }
            (Kind::Function, _) => {
                let is_definition = before.is_some_and(|t| symbols::defines_function(text.slice(t.span)));
                (token.span, kind, u32::from(is_definition) * DEFINITION)
            }
            _ => (token.span, kind, 0),
        });
    }
    all.sort_by_key(|(span, ..)| span.start);
    let (mut cursor, mut before) = (text.cursor(), lsp::Position { line: 0, character: 0 });
    let mut data = Vec::with_capacity(all.len());
    for (span, kind, modifiers) in all {
        let [start, end] = [span.start, span.end].map(|byte| cursor.position(byte));
        // A token stands on one line; a string that is not closed ends with its own.
        if start.line != end.line || end.character <= start.character {
            continue;
        }
        let delta_line = start.line - before.line;
        let from = if delta_line == 0 { before.character } else { 0 };
        data.push(lsp::SemanticToken {
            delta_line,
            delta_start: start.character - from,
            length: end.character - start.character,
            token_type: kind as u32,
            token_modifiers_bitset: modifiers,
        });
        before = start;
    }
    data
}

/// The colours that a client has, by the name of the answer that brought them.
#[derive(Default)]
pub struct Painted {
    id: String,
    data: Vec<lsp::SemanticToken>,
}

impl Painted {
    /// All colours of a version, kept for the next time.
    pub fn full(&mut self, snapshot: &Snapshot) -> lsp::SemanticTokens {
        *self = Painted { id: snapshot.version.to_string(), data: tokens(snapshot, snapshot.text.whole()) };
        lsp::SemanticTokens { result_id: Some(self.id.clone()), data: self.data.clone() }
    }

    /// The difference to an earlier answer: an edit changes one place.
    pub fn delta(&mut self, snapshot: &Snapshot, known: &str) -> lsp::SemanticTokensDeltaResponse {
        let before = std::mem::take(self);
        if before.id != known || known.is_empty() {
            return self.full(snapshot).into();
        }
        *self = Painted { id: snapshot.version.to_string(), data: tokens(snapshot, snapshot.text.whole()) };
        let (old, new) = (&before.data, &self.data);
        let same = |(a, b): &(&lsp::SemanticToken, &lsp::SemanticToken)| a == b;
        let head = old.iter().zip(new).take_while(same).count();
        let rest = old.len().min(new.len()) - head;
        let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(same).count();
        let numbers =
            |t: &lsp::SemanticToken| [t.delta_line, t.delta_start, t.length, t.token_type, t.token_modifiers_bitset];
        let data: Vec<u32> = new.iter().take(new.len() - tail).skip(head).flat_map(numbers).collect();
        let (start, delete_count) = (5 * head as u32, 5 * (old.len() - tail - head) as u32);
        let edit = lsp::SemanticTokensEdit { start, delete_count, data: Some(data) };
        let edits = if old == new { Vec::new() } else { vec![edit] };
        lsp::SemanticTokensDelta { result_id: Some(self.id.clone()), edits }.into()
    }
}

/// The kind of the value whose name stands at a place.
#[derive(Clone, Copy)]
struct Name {
    is_parameter: bool,
    is_definition: bool,
}

/// By place: the names of values that are arguments of functions and regions, or defined there.
fn names(snapshot: &Snapshot) -> HashMap<u32, Name> {
    let mut all = HashMap::default();
    for func in &snapshot.program.module().funcs {
        let is_parameter = |def: Def| matches!(def, Def::Arg(_) | Def::BlockArg(..) | Def::Input);
        for operand in func.ops.iter().flat_map(|op| &op.operands) {
            let value = operand.arg.value().map(|v| func.value(v));
            if value.is_some_and(|v| is_parameter(v.def)) {
                all.insert(operand.span.start, Name { is_parameter: true, is_definition: false });
            }
        }
        let defined = |v: &Value| (v.span.start, Name { is_parameter: is_parameter(v.def), is_definition: true });
        all.extend(func.values.iter().map(defined));
    }
    all
}

fn kind<'a>(
    snapshot: &'a Snapshot,
    token: &Token,
    before: Option<&Token>,
    next: Option<&Token>,
    words: &mut HashMap<&'a str, Kind>,
) -> Option<Kind> {
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
        Tok::Word => *words.entry(word).or_insert_with(|| match word {
            _ if is_type(word) => Kind::Type,
            _ if AttrName::ALL.iter().any(|a| a.name() == word) => Kind::Attribute,
            _ => operation(word),
        }),
        _ => return None,
    })
}

/// Whether this `=` gives an attribute its value. The `=` behind results is followed by a mnemonic.
fn attribute(snapshot: &Snapshot, equal: Option<&Token>) -> bool {
    let Some(equal) = equal else { return false };
    let tokens = &snapshot.tokens().list;
    let n = tokens.partition_point(|t| t.span.start < equal.span.start);
    let key = n.checked_sub(1).and_then(|n| tokens.get(n));
    key.is_some_and(|t| t.kind == Tok::Word)
}

/// Whether it is a type without brackets: `index`, `f32`.
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
