//! The parser: recursive descent over tokens, driven by the instruction table.
//!
//! A parse function that fails has reported why and gives [`Failed`]; the list of statements then goes on at the next
//! one. Names that a broken statement would have defined count as defined, so that one mistake is one message.

mod arith;
mod attr;
mod attr_typed;
mod comm;
mod cursor;
mod flow;
mod form;
mod generic;
mod inst;
mod listing;
mod memref;
mod micro;
mod mismatch;
mod module;
mod names;
mod opaque;
mod order;
mod pipes;
mod region;
mod scalar;
mod special;
mod special_types;
mod spliced;
mod statement;
mod strided;
mod suffix;
mod version;

use crate::dialect::Mark;
use crate::lex::{Lexer, Token};
use crate::sink::Sink;
use crate::trivia::Trivia;
use attr::AliasValue;
use names::Scope;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::Cell;
use tessera_ir::{BlockId, Dialect, Func, LocId, Module, NameId, TypeId, ValueId};
use tessera_isa::diag::Span;
use tessera_isa::profile::Profile;

/// Brackets and regions nest at most this deep.
pub(crate) const MAX_DEPTH: u32 = 256;

/// An estimate of the number of statements, for which space is reserved at once. Growing repeatedly costs a tenth of
/// the time to read a text.
fn statements(text: &str) -> usize {
    (text.len() / 64).next_power_of_two().min(1 << 17)
}

/// The parse function has failed and has reported the reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

pub(crate) type Res<T> = Result<T, Failed>;

/// The type of a value whose type is not known yet.
pub(crate) const UNKNOWN: TypeId = TypeId(u32::MAX);

/// An operand before names are looked up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Raw {
    pub what: RawArg,
    pub span: Span,
    /// The type written for it, with its place.
    pub ty: Option<TypeAt>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RawArg {
    Name(NameId),
    Int(i64),
}

pub(crate) type Raws = SmallVec<[Raw; 6]>;

/// The names on the left of `=`, and where the statement starts.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    pub names: SmallVec<[(NameId, Span); 2]>,
    pub start: Span,
}

/// A type with its place.
pub(crate) type TypeAt = (TypeId, Span);

pub(crate) type Types = SmallVec<[TypeAt; 4]>;

#[derive(Default)]
pub(crate) struct Parser<'a> {
    text: &'a str,
    lex: Lexer<'a>,
    tok: Token,
    /// The span of the last token.
    prev: Span,
    pub sink: Sink,
    pub trivia: Trivia,
    pub module: Module,
    func: Func,
    block: BlockId,
    scope: Scope,
    given: Option<Profile>,
    /// Types by their text: a program repeats a few spellings thousands of times.
    types: FxHashMap<&'a str, TypeId>,
    /// The types that were read last.
    recent_types: Vec<(&'a str, TypeId)>,
    type_aliases: FxHashMap<&'a str, TypeAt>,
    attr_aliases: FxHashMap<&'a str, AliasValue>,
    /// Locations that name aliases, which may be defined at the end of the file, with their first places.
    open_locs: Vec<(LocId, Span)>,
    depth: u32,
    /// The start of the statement that is being read.
    statement_at: u32,
    /// Dictionaries that it has opened and not closed.
    dictionaries: u32,
    /// Blocks with statements that were skipped: missing parts of these are not reported.
    broken: FxHashSet<BlockId>,
    /// Whether parsing was given up. Brackets that stay open are then not reported.
    stopped: bool,
    /// Whether a `return` was in a region of the function.
    open_region: bool,
    /// The token before which a closing brace was missed.
    missing_brace: Option<u32>,
    block_ends: Vec<u32>,
    /// Bytes that aliases have grown to.
    expansions: Cell<usize>,
    /// Whether a type that was read has strides.
    has_strides: bool,
    /// Whether branches between blocks were reported for the function.
    blocks_told: bool,
    /// Attributes of the inner modules around, which hold for their functions.
    inherited: Vec<(String, String)>,
    /// The function that is being read, once its head has been.
    name: Option<NameId>,
    /// The whole extent of each function.
    pub extents: Vec<(Option<NameId>, Span)>,
    /// The place where each function is defined.
    functions: FxHashMap<NameId, Span>,
    /// Names of functions of the inner module that is being read, where another module has them too: each with the name
    /// that it gets here, and the modules around (isa/today.md 4.2).
    renamed: Vec<FxHashMap<NameId, NameId>>,
    /// The number of functions before the module that is being read.
    module_start: usize,
    common: names::CommonTypes,
    /// The version that the reader was given, as written.
    pub given_dialect: Option<String>,
    /// The version that is given, or that the module says.
    stated: Option<Dialect>,
    /// Spellings that some version lacks, each at its first place.
    pub marks: Vec<Mark>,
    marked: FxHashSet<usize>,
    /// Values of regions that became part of the block around them.
    spliced: Vec<ValueId>,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str, given: Option<Profile>) -> Self {
        let mut module = Module::default();
        let common = names::CommonTypes::new(&mut module.types);
        module.names.reserve(statements(text));
        let mut parser = Parser {
            text,
            lex: Lexer::new(text),
            func: Func::new(module.names.intern("listing"), Span::default()),
            module,
            scope: Scope::new(),
            given,
            block_ends: vec![0],
            common,
            ..Parser::default()
        };
        parser.bump();
        parser
    }

    /// The profile that types are compared on.
    fn profile(&self) -> Profile {
        self.given.or(self.module.target.map(|(profile, _)| profile)).unwrap_or(Profile::Cpu)
    }
}
