//! What findings quote: text, or calls of the C++ library.

use crate::detector::Calls;
use tessera_ir::ValueId;
use tessera_isa::diag::Span;
use tessera_isa::ops::Pipe;

/// The program that findings are about.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Text(&'a str),
    Calls(&'a Calls),
}

impl<'a> From<&'a str> for Source<'a> {
    fn from(text: &'a str) -> Self {
        Source::Text(text)
    }
}

impl<'a> From<&'a Calls> for Source<'a> {
    fn from(calls: &'a Calls) -> Self {
        Source::Calls(calls)
    }
}

impl<'a> Source<'a> {
    pub fn is_calls(&self) -> bool {
        matches!(self, Source::Calls(_))
    }

    /// The text; empty for calls.
    pub fn text(&self) -> &'a str {
        match self {
            Source::Text(text) => text,
            Source::Calls(_) => "",
        }
    }

    /// `pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]`, or the call.
    pub fn flag(&self, what: &str, from: Pipe, to: Pipe, id: i64) -> String {
        let (from, to) = (from.cpp(), to.cpp());
        match self {
            Source::Text(_) => format!("pto.{what}_flag[<{from}>, <{to}>, <EVENT_ID{id}>]"),
            Source::Calls(_) => format!("{what}_flag({from}, {to}, EVENT_ID{id})"),
        }
    }

    /// `pto.barrier <PIPE_V>`, or the call.
    pub fn barrier(&self, pipe: &str) -> String {
        match self {
            Source::Text(_) => format!("pto.barrier <{pipe}>"),
            Source::Calls(_) => format!("pipe_barrier({pipe})"),
        }
    }

    /// The memory of the host that a part of global memory is.
    pub fn buffer(&self, value: ValueId) -> String {
        match self {
            Source::Calls(calls) => format!("global memory {:#x} +", calls.chunk(value)),
            Source::Text(_) => "global memory".into(),
        }
    }
}

/// `17:5`.
pub(super) fn place(text: &str, span: Span) -> String {
    let start = (span.start as usize).min(text.len());
    let before = text.get(..start).unwrap_or_default();
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
    format!("{line}:{column}")
}
