//! Values that shells complete: a parser, and the words that it takes.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::Error;
use std::ffi::OsStr;

/// A parser with words for completion; it may take more than these.
#[derive(Clone)]
pub struct Completed<T: 'static> {
    pub parse: fn(&str) -> Result<T, String>,
    pub words: fn() -> Vec<&'static str>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Completed<T> {
    type Value = T;

    fn parse_ref(&self, cmd: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<T, Error> {
        TypedValueParser::parse_ref(&self.parse, cmd, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter().map(PossibleValue::new)))
    }
}
