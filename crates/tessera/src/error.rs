//! The one error of the library: broken rules with their sentences, places and ways out.

use std::fmt;
use std::sync::Arc;
use tessera_exec::engine::IssueError;
use tessera_isa::diag::{Diagnostic, Fault, Span, nearest};

/// The result of an operation that can be refused.
pub type Result<T> = std::result::Result<T, Error>;

/// A refused program, instruction, tile or value.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A2a3);
/// let src: Tile<loc::Vec, f32, 16, 64> = machine.tile()?;
/// let mut dst: Tile<loc::Mat, f32, 16, 64> = machine.tile()?;
/// let error = tmov(&mut dst, &src).unwrap_err();
/// assert_eq!(error.rule(), "tmov-loc");
/// assert!(error.to_string().starts_with("tmov-loc: "));
/// # Ok::<(), tessera::Error>(())
/// ```
///
/// The errors of a text tell where they are, also where `main` returns them:
///
/// ```
/// let text = "%t = pto.ttrans %s : !pto.tile<8x16xf32> -> !pto.tile<8x16xf32>";
/// let error = tessera::Program::parse(text)?.entry()?.run().unwrap_err();
/// assert_eq!(error.rule(), "ttrans-shape");
/// assert!(format!("{error:?}").contains("line 1, column 1: %t = pto.ttrans"));
/// # Ok::<(), tessera::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    first: Diagnostic,
    more: Vec<Diagnostic>,
    missing: Vec<Missing>,
    /// The program that the places are in.
    text: Option<Arc<str>>,
}

/// The subject of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The program, instruction or tile breaks a rule.
    Illegal,
    /// A requested or given item does not exist or does not fit.
    Request,
    /// Data decides, or a value is missing: there is no answer that holds for all inputs.
    Undecided,
}

/// An input that the caller can supply to go on. Front ends word how it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// A number for this scalar.
    Value(String),
    /// An array for this argument.
    Array(String),
    /// Another shape for this argument.
    Shape(String),
    /// A shape for this pointer, so that its elements have several indices.
    Extents(String),
    /// The argument that this is a view of.
    Argument(String),
    /// An input, where this is none.
    Input(String),
    /// The names of the tiles that are compared.
    Outputs,
    /// The name of the function that runs.
    Entry,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Value(name) => write!(f, "give %{name} a number"),
            Missing::Array(name) => write!(f, "give %{name} an array"),
            Missing::Shape(name) | Missing::Extents(name) => write!(f, "give %{name} a shape that fits"),
            Missing::Argument(_) => f.write_str("name the argument that it is a view of"),
            Missing::Input(_) => f.write_str("follow it back instead"),
            Missing::Outputs => f.write_str("name the tiles to compare"),
            Missing::Entry => f.write_str("mark one with attributes {pto.entry}, or name it"),
        }
    }
}

impl Error {
    fn of_kind(kind: ErrorKind, first: Diagnostic) -> Self {
        Error(Box::new(Inner { kind, first, more: Vec::new(), missing: Vec::new(), text: None }))
    }

    pub(crate) fn new(rule: &'static str, message: impl Into<String>) -> Self {
        Error::of_kind(ErrorKind::Illegal, Diagnostic::error(rule, message))
    }

    /// Something that does not exist, or does not fit.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Error::of_kind(ErrorKind::Request, Diagnostic::error("binding", message))
    }

    /// There is no such name; the nearest one may be meant.
    pub(crate) fn unknown(kind: &str, name: &str, names: &[&str]) -> Self {
        let error = Error::request(format!("the program has no {kind} %{name}"));
        match nearest(name, names.iter().copied()) {
            Some(near) => error.help(format!("did you mean %{near}?")),
            None if names.is_empty() => error,
            None => {
                let shown: Vec<String> = names.iter().take(12).map(|n| format!("%{n}")).collect();
                error.help(format!("there are {}", shown.join(", ")))
            }
        }
    }

    /// A question without an answer that holds for all inputs.
    pub(crate) fn undecided(span: Option<Span>, why: impl Into<String>) -> Self {
        let mut first = Diagnostic::error("undecided", why);
        first.span = span;
        Error::of_kind(ErrorKind::Undecided, first)
    }

    /// Such a question, as it was found.
    pub(crate) fn of_undecided(found: Diagnostic) -> Self {
        let kind = if found.rule == "undecided" { ErrorKind::Undecided } else { ErrorKind::Illegal };
        Error::of_kind(kind, found)
    }

    /// The errors among diagnostics, if there are any.
    pub(crate) fn of(diagnostics: Vec<Diagnostic>) -> Option<Self> {
        let mut errors = diagnostics.into_iter().filter(Diagnostic::is_error);
        let mut error = Error::of_kind(ErrorKind::Illegal, errors.next()?);
        error.0.more = errors.collect();
        Some(error)
    }

    pub(crate) fn at(mut self, span: Span, label: &str) -> Self {
        (self.0.first.span, self.0.first.label) = (Some(span), label.into());
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.0.first.help = Some(text.into());
        self
    }

    pub(crate) fn missing_is(mut self, missing: Missing) -> Self {
        self.0.missing = vec![missing.clone()];
        self.help(missing.to_string())
    }

    /// Several things are missing; the help names them all.
    pub(crate) fn all_missing(mut self, missing: Vec<Missing>) -> Self {
        let help: Vec<String> = missing.iter().map(Missing::to_string).collect();
        self.0.missing = missing;
        self.help(help.join(", "))
    }

    pub(crate) fn and_at(mut self, span: Span, label: &str) -> Self {
        self.0.first = self.0.first.and_at(span, label);
        self
    }

    pub(crate) fn in_text(mut self, text: &Arc<str>) -> Self {
        self.0.text = Some(text.clone());
        self
    }

    /// The subject.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The id of the broken rule, which `tessera explain` knows; of several, the first one's.
    pub fn rule(&self) -> &'static str {
        self.0.first.rule
    }

    /// One sentence with the actual values.
    pub fn message(&self) -> &str {
        &self.0.first.message
    }

    /// The smallest change that helps, where one is known.
    pub fn help_text(&self) -> Option<&str> {
        self.0.first.help.as_deref()
    }

    /// The input that the caller can supply to go on, if that helps.
    pub fn missing(&self) -> Option<&Missing> {
        self.0.missing.first()
    }

    /// All that the caller can give to go on.
    pub fn missing_all(&self) -> &[Missing] {
        &self.0.missing
    }

    /// All that is known of the first broken rule, as data.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.0.first
    }

    /// All broken rules.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        std::iter::once(&self.0.first).chain(&self.0.more)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, found) in self.diagnostics().enumerate() {
            let newline = if n > 0 { "\n" } else { "" };
            write!(f, "{newline}{}: {}", found.rule, found.message)?;
            if let Some(help) = &found.help {
                write!(f, " (help: {help})")?;
            }
            if let (Some(text), Some(span)) = (&self.0.text, found.span) {
                place(f, text, span)?;
            }
        }
        Ok(())
    }
}

/// The line that a span begins in.
fn place(f: &mut fmt::Formatter<'_>, text: &str, span: Span) -> fmt::Result {
    let Some((before, after)) = text.split_at_checked(span.start as usize) else { return Ok(()) };
    let line = before.matches('\n').count() + 1;
    let head = before.rsplit('\n').next().unwrap_or("");
    let tail = after.lines().next().unwrap_or("");
    write!(f, "\n  line {line}, column {}: {}", head.chars().count() + 1, format!("{head}{tail}").trim())
}

/// `main` prints the debug form of an error, so it is the readable one.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

impl From<IssueError> for Error {
    fn from(refused: IssueError) -> Self {
        let broken = || Error::new("internal", "an instruction was refused without a reason");
        Error::of(refused.0).unwrap_or_else(broken)
    }
}

impl From<Box<Diagnostic>> for Error {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Error::of_kind(ErrorKind::Illegal, *diagnostic)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let diagnostic: Box<Diagnostic> = fault.into();
        diagnostic.into()
    }
}
