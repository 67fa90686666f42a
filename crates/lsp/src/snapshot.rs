//! One version of a document: what it says, read once, and what requests need of it, made when first asked for.

use crate::config::Config;
use crate::findings::{self, Finding};
use crate::hints::{self, Places};
use crate::symbols::Symbols;
use crate::text::Text;
use gen_lsp_types::{Location, Uri};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tessera::{Profile, Program};
use tessera_asm::{Comment, Tok, Token};
use tessera_ir::{Func, Op};
use tessera_isa::diag::Span;

/// In a shorter text everything is found out at once.
const SMALL: usize = 16 << 10;

/// A version of a document.
pub struct Snapshot {
    pub uri: Uri,
    pub version: i32,
    pub text: Text,
    pub config: Config,
    /// The program on its own profile, else on `cpu`.
    pub program: Program,
    /// The last version without errors in its text, where this one has some.
    pub good: Option<Arc<Snapshot>>,
    tokens: OnceLock<Tokens>,
    symbols: OnceLock<Symbols>,
    findings: OnceLock<Vec<Finding>>,
    races: OnceLock<Vec<Finding>>,
    places: OnceLock<Places>,
    legality: OnceLock<HashMap<Span, Refusals>>,
}

/// By profile: the rule that refuses an instruction.
pub type Refusals = [Option<&'static str>; 3];

/// The tokens of a text, and its comments.
pub struct Tokens {
    pub list: Vec<Token>,
    pub comments: Vec<Comment>,
}

impl Tokens {
    /// The position of the first token that ends behind a byte.
    pub fn behind(&self, byte: u32) -> usize {
        self.list.partition_point(|token| token.span.end <= byte)
    }

    /// The token that a byte stands in or at the end of, the one behind it first.
    pub fn at(&self, byte: u32) -> Option<(usize, Token)> {
        let n = self.behind(byte);
        let touches = |n: &usize| {
            let found = self.list.get(*n);
            found.is_some_and(|t| t.kind != Tok::End && t.span.start <= byte && byte <= t.span.end)
        };
        let is_name = |n: &usize| {
            self.list.get(*n).is_some_and(|t| !matches!(t.kind, Tok::Comma | Tok::RParen | Tok::Colon | Tok::RBracket))
        };
        let before = n.checked_sub(1).filter(touches);
        let here = Some(n).filter(touches);
        let n = here.filter(is_name).or(before).or(here)?;
        Some((n, *self.list.get(n)?))
    }

    /// Whether a byte is inside a comment.
    pub fn in_comment(&self, byte: u32) -> bool {
        let n = self.comments.partition_point(|c| c.span.end < byte);
        self.comments.get(n).is_some_and(|c| c.span.start < byte)
    }
}

impl Snapshot {
    /// Reads a version. `before` is the version that it replaces.
    pub fn new(uri: Uri, version: i32, text: Text, config: Config, before: Option<&Arc<Snapshot>>) -> Snapshot {
        let program = Program::read(text.text.as_bytes(), None);
        let last_good = |before: &Arc<Snapshot>| match before.program.has_errors() {
            true => before.good.clone(),
            false => Some(before.clone()),
        };
        let good = before.filter(|_| program.has_errors()).and_then(last_good);
        let (tokens, symbols, findings, races, places, legality) = Default::default();
        Snapshot { uri, version, text, config, program, good, tokens, symbols, findings, races, places, legality }
    }

    /// The profiles that it is judged on, and whether they were chosen: by the user, or by the module.
    pub fn profiles(&self) -> (Vec<Profile>, bool) {
        match (&self.config.profiles, self.program.module().target) {
            (chosen, _) if !chosen.is_empty() => (chosen.clone(), true),
            (_, Some((own, _))) => (vec![own], true),
            _ => (Profile::ALL.to_vec(), false),
        }
    }

    /// The profile that pictures and places are of.
    pub fn profile(&self) -> Profile {
        self.profiles().0.first().copied().unwrap_or(self.program.profile())
    }

    /// The program on a profile.
    pub fn on(&self, profile: Profile) -> Program {
        if profile == self.program.profile() { self.program.clone() } else { self.program.on(profile) }
    }

    pub fn tokens(&self) -> &Tokens {
        self.tokens.get_or_init(|| {
            let (list, comments) = tessera_asm::tokens(&self.text.text, self.program.module().is_listing);
            Tokens { list, comments }
        })
    }

    /// Every name with what it stands for.
    pub fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::new(self))
    }

    /// Whether the text is short enough for its findings to be computed at once.
    pub fn is_small(&self) -> bool {
        self.text.text.len() < SMALL
    }

    /// Everything that is wrong, as far as it is known: in a long text the worker finds it out.
    pub fn known(&self) -> (&[Finding], &[Finding]) {
        match self.is_small() {
            true => (self.findings(), self.races()),
            false => (self.findings.get().map_or(&[], |f| f), self.races.get().map_or(&[], |f| f)),
        }
    }

    /// The findings of the reader and of the rules.
    pub fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(|| findings::rules(self))
    }

    /// The findings about the order of pipes.
    pub fn races(&self) -> &[Finding] {
        self.races.get_or_init(|| findings::races(self))
    }

    /// The places of tiles; computing them takes a while.
    pub fn places(&self) -> &Places {
        self.places.get_or_init(|| hints::places(self))
    }

    /// The same, if it has been made already.
    pub fn known_places(&self) -> Option<&Places> {
        self.places.get()
    }

    /// The profiles that refuse the instruction at a place, and their rules.
    pub fn refused(&self, span: Span) -> Option<Refusals> {
        let rows = || self.program.portability().rows.into_iter().map(|row| (row.span, row.refused)).collect();
        self.legality.get_or_init(rows).get(&span).copied()
    }

    /// A place in the document.
    pub fn location(&self, span: Span) -> Location {
        Location { uri: self.uri.clone(), range: self.text.range(span) }
    }

    /// The innermost operation that a byte stands in.
    pub fn operation(&self, byte: u32) -> Option<(&Func, &Op)> {
        let ops = self.program.module().funcs.iter().flat_map(|func| func.ops.iter().map(move |op| (func, op)));
        let around = ops.filter(|(_, op)| op.span.start <= byte && byte <= op.span.end);
        around.min_by_key(|(_, op)| op.span.end - op.span.start)
    }

    /// The operations that start in a span.
    pub fn operations_in(&self, span: Span) -> impl Iterator<Item = (&Func, &Op)> {
        let ops = self.program.module().funcs.iter().flat_map(|func| func.ops.iter().map(move |op| (func, op)));
        ops.filter(move |(_, op)| op.span.start < span.end && span.start < op.span.end)
    }
}
