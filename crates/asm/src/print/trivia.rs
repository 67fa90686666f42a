//! Comments and blank lines between operations.

use super::Printer;

impl Printer<'_> {
    /// Starts a line.
    pub(super) fn margin(&mut self) -> &mut Self {
        (0..self.indent).for_each(|_| self.out.push_str("  "));
        self
    }

    /// A blank line before what was written at `at`, if there was one and something stands before.
    fn blank(&mut self, at: u32) {
        let opened = self.out.is_empty() || self.out.ends_with("{\n") || self.out.ends_with("\n\n");
        if !opened && self.trivia.blanks.binary_search(&at).is_ok() {
            self.out.push('\n');
        }
    }

    /// The comments before what was written at `at`, each on its own line, then a blank line if there was one.
    pub(super) fn lead(&mut self, at: u32) -> &mut Self {
        while let Some(comment) = self.trivia.comments.get(self.comment).copied() {
            if comment.span.start >= at {
                break;
            }
            self.comment += 1;
            self.blank(comment.span.start);
            self.margin().comment_text(comment);
            self.out.push('\n');
        }
        self.blank(at);
        self
    }

    /// Ends a line, with the comment that stood behind it; what follows was written at `limit`.
    pub(super) fn end_line(&mut self, limit: u32) {
        if let Some(comment) = self.trivia.comments.get(self.comment).copied()
            && comment.trailing
            && comment.span.start < limit
        {
            self.comment += 1;
            self.text("  ").comment_text(comment);
        }
        self.out.push('\n');
    }

    fn comment_text(&mut self, comment: crate::trivia::Comment) {
        let text = self.trivia.comment_text(&comment);
        // `#` starts a comment only at the start of a line of a listing.
        if text.starts_with('#') && (comment.trailing || !self.module.is_listing) {
            self.out.push_str("//");
        }
        self.out.push_str(text);
    }
}
