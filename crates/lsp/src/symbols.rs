//! Every name of a text with what it stands for: values, functions and aliases.

use crate::snapshot::Snapshot;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::OnceCell;
use tessera_asm::{Tok, Token};
use tessera_ir::{Func, Type, ValueId};
use tessera_isa::diag::Span;

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// The values that are defined at this place: one, or those of `%r:2`.
    Value(u32),
    /// A function, by its name.
    Function(String),
    /// A type alias `!t` or an attribute alias `#a`, with its sign.
    Alias(String),
}

/// A name in the text.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The name without its sign, its quotes and its `#1`: what a rename replaces.
    pub span: Span,
    pub symbol: Symbol,
    pub is_definition: bool,
}

/// All names of a text, in its order.
#[derive(Debug, Default)]
pub struct Symbols {
    pub list: Vec<Occurrence>,
    /// By place of definition: function and value.
    values: HashMap<u32, (usize, ValueId)>,
}

impl Symbols {
    pub fn new(snapshot: &Snapshot) -> Self {
        let mut finder = Finder::new(snapshot);
        let tokens = &snapshot.tokens().list;
        let list: Vec<Occurrence> =
            tokens.iter().enumerate().filter_map(|(n, token)| finder.occurrence(tokens, n, *token)).collect();
        Symbols { list, values: finder.values }
    }

    /// The name that a byte stands in or at the edge of.
    pub fn at(&self, byte: u32) -> Option<&Occurrence> {
        // The sign before a name belongs to it.
        let n = self.list.partition_point(|found| found.span.end < byte);
        self.list.get(n).filter(|found| found.span.start <= byte + 1)
    }

    /// Everywhere that a symbol is named.
    pub fn of(&self, symbol: &Symbol) -> impl Iterator<Item = &Occurrence> {
        self.list.iter().filter(move |found| found.symbol == *symbol)
    }

    /// Its definition.
    pub fn definition(&self, symbol: &Symbol) -> Option<&Occurrence> {
        self.of(symbol).find(|found| found.is_definition)
    }

    /// The value of a place of definition, with its function's position.
    pub fn value(&self, symbol: &Symbol) -> Option<(usize, ValueId)> {
        match symbol {
            Symbol::Value(start) => self.values.get(start).copied(),
            _ => None,
        }
    }
}

struct Finder<'a> {
    snapshot: &'a Snapshot,
    /// By place of a name: the place of its value's definition.
    uses: HashMap<u32, u32>,
    values: HashMap<u32, (usize, ValueId)>,
    /// By function's extent and name: where the values of that name are defined, in order. Only texts with errors need it.
    by_name: OnceCell<HashMap<(usize, &'a str), Vec<u32>>>,
    functions: HashSet<&'a str>,
    /// The names that are aliases, with their signs.
    aliases: HashSet<&'a str>,
}

impl<'a> Finder<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        let module = snapshot.program.module();
        let (mut uses, mut values) = (HashMap::default(), HashMap::default());
        for (n, func) in module.funcs.iter().enumerate() {
            for (id, value) in func.values.iter().enumerate() {
                let start = value.span.start;
                values.entry(start).or_insert((n, ValueId(id as u32)));
                uses.entry(start).or_insert(start);
            }
            for operand in func.ops.iter().flat_map(|op| &op.operands) {
                if let Some(value) = operand.arg.value() {
                    uses.insert(operand.span.start, func.value(value).span.start);
                }
            }
        }
        let functions = snapshot.program.extents().iter().filter_map(|(name, _)| Some(module.names.text((*name)?)));
        let tokens = &snapshot.tokens().list;
        let is_alias = |(a, b): &(&Token, &Token)| matches!(a.kind, Tok::Bang | Tok::Hash) && b.kind == Tok::Equal;
        let pairs = tokens.iter().zip(tokens.iter().skip(1)).filter(is_alias);
        let aliases = pairs.filter(|(a, _)| a.first).map(|(a, _)| snapshot.text.slice(a.span)).collect();
        Finder { functions: functions.collect(), aliases, snapshot, uses, values, by_name: OnceCell::new() }
    }

    fn occurrence(&mut self, tokens: &[Token], n: usize, token: Token) -> Option<Occurrence> {
        let text = self.snapshot.text.slice(token.span);
        let before = |back: usize| n.checked_sub(back).and_then(|n| tokens.get(n)).copied();
        let word = |back: usize| before(back).map_or("", |t| self.snapshot.text.slice(t.span));
        let span = Span::new(token.span.start + 1, token.span.end);
        match token.kind {
            Tok::Percent => {
                let base = text.split_once('#').map_or(text, |(base, _)| base);
                let span = Span::new(token.span.start + 1, token.span.start + base.len() as u32);
                let at = self.uses.get(&token.span.start).copied().or_else(|| self.by_scope(base, token.span.start))?;
                let is_definition = at == token.span.start;
                Some(Occurrence { span, symbol: Symbol::Value(at), is_definition })
            }
            Tok::At => {
                let name = text.trim_start_matches('@').trim_matches('"');
                let quotes = u32::from(text.starts_with("@\""));
                let span = Span::new(span.start + quotes, span.end - quotes);
                let is_definition = defines_function(word(1));
                let known = self.functions.contains(name);
                known.then(|| Occurrence { span, symbol: Symbol::Function(name.into()), is_definition })
            }
            // `"func.func"() <{sym_name = "kernel"}>`.
            Tok::Str if word(1) == "=" && word(2) == "sym_name" => {
                let name = text.trim_matches('"');
                let span = Span::new(span.start, span.end - 1);
                let known = self.functions.contains(name);
                known.then(|| Occurrence { span, symbol: Symbol::Function(name.into()), is_definition: true })
            }
            Tok::Bang | Tok::Hash if self.aliases.contains(text) => {
                let is_definition = token.first && tokens.get(n + 1).is_some_and(|t| t.kind == Tok::Equal);
                Some(Occurrence { span, symbol: Symbol::Alias(text.into()), is_definition })
            }
            _ => None,
        }
    }

    /// The meaning of a name in a statement that could not be read: the last value of that name that is defined before
    /// it in the same function.
    fn by_scope(&self, base: &str, at: u32) -> Option<u32> {
        let by_name = self.by_name.get_or_init(|| by_name(self.snapshot));
        let places = by_name.get(&(extent(self.snapshot, at), base.trim_start_matches('%')))?;
        places.iter().rev().find(|start| **start <= at).or(places.first()).copied()
    }
}

fn by_name(snapshot: &Snapshot) -> HashMap<(usize, &str), Vec<u32>> {
    let module = snapshot.program.module();
    let mut all: HashMap<(usize, &str), Vec<u32>> = HashMap::default();
    for value in module.funcs.iter().flat_map(|func| &func.values) {
        let (start, name) = (value.span.start, module.names.text(value.name));
        let base = name.split_once('#').map_or(name, |(base, _)| base);
        let places = all.entry((extent(snapshot, start), base)).or_default();
        if places.last() != Some(&start) {
            places.push(start);
        }
    }
    all
}

/// Whether the name behind this word defines a function.
pub fn defines_function(word: &str) -> bool {
    ["func.func", "private", "public", "nested"].contains(&word)
}

/// The function that a byte stands in, by its position among those of the text.
fn extent(snapshot: &Snapshot, byte: u32) -> usize {
    let extents = snapshot.program.extents();
    extents.iter().position(|(_, span)| span.start <= byte && byte < span.end).unwrap_or(usize::MAX)
}

/// The type of a value, where it is known.
pub fn type_of<'a>(snapshot: &'a Snapshot, func: &Func, value: ValueId) -> Option<&'a Type> {
    let types = &snapshot.program.module().types;
    let id = func.value(value).ty;
    types.contains(id).then(|| types.get(id))
}
