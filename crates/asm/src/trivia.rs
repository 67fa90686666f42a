//! The parts of a text besides its program: comments, blank lines, the ends of regions and the names of types.

use std::sync::Arc;
use tessera_ir::TypeId;
use tessera_isa::diag::Span;

/// A comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    pub span: Span,
    /// Whether it follows something else on its line.
    pub trailing: bool,
}

/// Comments and other parts of a text that do not change what it means; formatting keeps them.
#[derive(Clone, Debug, Default)]
pub struct Trivia {
    /// The text that the places below count in, with invalid UTF-8 replaced.
    pub text: Arc<str>,
    pub comments: Vec<Comment>,
    /// The places that follow a blank line, in order.
    pub blanks: Vec<u32>,
    /// Per function and block, the end of the block's text.
    pub block_ends: Vec<Vec<u32>>,
    /// The start and end of the `module { … }` around the functions.
    pub wrapper: Option<(u32, u32)>,
    /// Type aliases: name without `!`, type, place.
    pub type_aliases: Vec<(String, TypeId, Span)>,
    /// The end of what has been noted; text read twice is noted once.
    pub(crate) noted: u32,
}

impl Trivia {
    pub(crate) fn comment(&mut self, span: Span, trailing: bool) {
        if span.end > self.noted {
            self.comments.push(Comment { span, trailing });
            self.noted = span.end;
        }
    }

    pub(crate) fn blank_before(&mut self, at: u32) {
        if self.blanks.last().is_none_or(|last| *last < at) {
            self.blanks.push(at);
        }
    }

    /// The text of a comment.
    pub fn comment_text(&self, comment: &Comment) -> &str {
        self.text.get(comment.span.start as usize..comment.span.end as usize).unwrap_or_default()
    }
}
