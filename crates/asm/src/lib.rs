//! PTO text to IR and back (syntax.md): a hand-written lexer and parser that report every error of a file with its
//! place, a canonical printer, and conversion between the three forms.
//!
//! ```
//! let parsed = tessera_asm::parse("%dst = tmov %src : !pto.tile<16x64xf32> -> !pto.tile<16x64xf32>", None);
//! assert!(!parsed.has_errors());
//! let listing = &parsed.module.funcs[0];
//! assert_eq!(parsed.module.names.text(listing.value(listing.args[0]).name), "src");
//! ```

mod convert;
pub mod dialect;
mod lex;
mod migrate;
mod parse;
mod print;
mod sink;
mod trivia;
mod types;
pub mod vocabulary;
mod words;

pub use convert::{convert, convert_as, convert_for_assembler};
pub use dialect::Mark;
pub use lex::{Tok, Token};
pub use migrate::{migrate, undecided};
pub use print::{print, print_as, print_module, print_op, print_type};
pub use trivia::{Comment, Trivia};

use std::sync::Arc;
use tessera_ir::{Func, Lines, Module, NameId, Type};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::profile::Profile;

/// The first bytes of a bytecode file.
const BYTECODE: &[u8] = b"PTOBC\0";

/// Longer texts are refused: places in a text are 32-bit.
pub const MAX_TEXT: usize = 256 * 1024 * 1024;

/// The contents of a text.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The program. After errors it is incomplete and only fit for looking at.
    pub module: Module,
    /// Everything that is wrong or worth knowing, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Comments and the like, which formatting keeps.
    pub trivia: Trivia,
    /// The extent of each function, head and body, with its name. Functions that could not be read to their end are
    /// included.
    pub functions: Vec<(Option<NameId>, Span)>,
    /// Spellings that some version of the text lacks, each at its first place.
    pub marks: Vec<Mark>,
}

impl Parsed {
    /// Whether the program can be looked at: all that is wrong are operations that no table knows, which are kept as they
    /// are written.
    pub fn is_whole(&self) -> bool {
        let is_kept = |d: &Diagnostic| !d.is_error() || d.rule == "unknown-op";
        let is_typed = |func: &Func| func.values.iter().all(|value| value.ty != parse::UNKNOWN);
        self.diagnostics.iter().all(is_kept) && self.module.funcs.iter().all(is_typed)
    }

    /// Whether there is an error among the diagnostics.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads a module or listing. Types are compared on `profile`, or on the module's own target, or on `cpu`.
pub fn parse(text: &str, profile: Option<Profile>) -> Parsed {
    parse_shared(text.into(), profile)
}

/// The same of a text that is kept as it is: copying a long one takes a tenth of the time to read it.
pub fn parse_shared(text: Arc<str>, profile: Option<Profile>) -> Parsed {
    parse_as(text, profile, None)
}

/// The same in a version of the text, which stands over what the module says (isa/today.md 1).
pub fn parse_as(text: Arc<str>, profile: Option<Profile>, dialect: Option<&str>) -> Parsed {
    if text.len() > MAX_TEXT {
        let what = format!("a text of {} bytes is longer than the limit of {MAX_TEXT}", text.len());
        return refuse(text, Diagnostic::error("syntax-limit", what).help("split the program"));
    }
    let mut parser = parse::Parser::new(&text, profile);
    parser.given_dialect = dialect.map(String::from);
    parser.file();
    let mut diagnostics = parser.sink.list;
    diagnostics.sort_by_key(|d| d.span.map_or(0, |s| s.start));
    let trivia = Trivia { text: text.clone(), ..parser.trivia };
    let module = Module { lines: Lines(text.clone()), ..parser.module };
    Parsed { module, diagnostics, trivia, functions: parser.extents, marks: parser.marks }
}

fn refuse(text: Arc<str>, diagnostic: Diagnostic) -> Parsed {
    let trivia = Trivia { text, ..Trivia::default() };
    Parsed { diagnostics: vec![diagnostic], trivia, ..Parsed::default() }
}

/// Reads the bytes of a file, which may not be text at all.
pub fn parse_bytes(bytes: &[u8], profile: Option<Profile>) -> Parsed {
    parse_bytes_as(bytes, profile, None)
}

/// The same in a version of the text.
pub fn parse_bytes_as(bytes: &[u8], profile: Option<Profile>, dialect: Option<&str>) -> Parsed {
    if bytes.starts_with(BYTECODE) {
        let what = "the file is bytecode of the assembler (it begins with PTOBC), which has no published format";
        let found = Diagnostic::error("syntax-encoding", what);
        return refuse("".into(), found.help("give the text that it was made of, or let the assembler print it"));
    }
    if bytes.starts_with(b"\x7fELF") {
        let what = "the file is an object that was compiled for a machine (it begins with ELF), and no text";
        return refuse("".into(), Diagnostic::error("syntax-encoding", what).help("give the text that it was made of"));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => parse_as(text.into(), profile, dialect),
        Err(error) => {
            let at = error.valid_up_to();
            let byte = bytes.get(at).copied().unwrap_or(0);
            let what = format!("byte {at} of the file, 0x{byte:02X}, is no UTF-8 text");
            let at = u32::try_from(at).unwrap_or(u32::MAX - 1);
            let found = Diagnostic::error("syntax-encoding", what).at(Span::new(at, at + 1), "not UTF-8");
            refuse(String::from_utf8_lossy(bytes).into(), found.help("save the program as UTF-8"))
        }
    }
}

/// The tokens of a text with its comments, for tools that look at what is written before it makes sense. Inside a type's
/// `<…>` they are whatever stands there.
pub fn tokens(text: &str, listing: bool) -> (Vec<Token>, Vec<Comment>) {
    let (mut sink, mut trivia) = (sink::Sink::default(), Trivia::default());
    let mut lexer = lex::Lexer::new(text);
    lexer.listing = listing;
    let next = || Some(lexer.next(&mut sink, &mut trivia)).filter(|token| token.kind != Tok::Eof);
    let tokens = std::iter::from_fn(next).collect();
    (tokens, trivia.comments)
}

/// Reads one type.
pub fn parse_type(text: &str) -> Result<Type, Box<Diagnostic>> {
    let piece = types::Piece { text, start: 0 };
    types::parse(piece, &|_| None, &mut types::Fields::default())
}
