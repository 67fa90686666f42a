//! The one error of the library: a broken rule with its sentence and a way out.

use std::fmt;
use tessera_exec::engine::Refused;
use tessera_isa::diag::{Diagnostic, Fault};

/// What the intrinsics return.
pub type Result<T> = std::result::Result<T, Error>;

/// A refused instruction, tile or value.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Diagnostic>);

impl Error {
    /// An error without help.
    pub(crate) fn new(rule: &'static str, message: impl Into<String>) -> Self {
        Error(Box::new(Diagnostic::error(rule, message)))
    }

    /// With a way out.
    pub(crate) fn help(self, text: impl Into<String>) -> Self {
        Error(Box::new(self.0.help(text)))
    }

    /// The id of the broken rule, which `tessera explain` knows.
    pub fn rule(&self) -> &'static str {
        self.0.rule
    }

    /// One sentence with the actual values.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The smallest change that helps, where one is known.
    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// All that is known, as data.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.rule, self.0.message)?;
        match &self.0.help {
            Some(help) => write!(f, " (help: {help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        let first = refused.0.into_iter().next();
        Error(Box::new(
            first.unwrap_or_else(|| Diagnostic::error("internal", "an instruction was refused without a reason")),
        ))
    }
}

impl From<Box<Diagnostic>> for Error {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Error(diagnostic)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Error(fault.into())
    }
}
