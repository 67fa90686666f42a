//! The list of errors. It is bounded, so that hostile text cannot fill the memory with messages.

use tessera_isa::diag::{Diagnostic, nearest};

/// More errors than this end the reading; more warnings are not listed.
pub(crate) const MAX_DIAGNOSTICS: usize = 100;

#[derive(Default)]
pub(crate) struct Sink {
    pub list: Vec<Diagnostic>,
    errors: usize,
    /// The place of the last bad token: tokens that the parser misses behind it are not reported.
    pub bad_token: Option<u32>,
}

impl Sink {
    /// Adds a finding; says once that there are too many errors, then keeps quiet.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !diagnostic.is_error() {
            if self.list.len() - self.errors < MAX_DIAGNOSTICS {
                self.list.push(diagnostic);
            }
            return;
        }
        if self.is_full() {
            return;
        }
        self.errors += 1;
        self.list.push(if self.is_full() {
            let what = format!("the text has more than {MAX_DIAGNOSTICS} errors, and the rest is not read");
            let span = diagnostic.span.unwrap_or_default();
            Diagnostic::error("syntax-limit", what).at(span, "").help("mend the first ones")
        } else {
            diagnostic
        });
    }

    /// Leaves one error, the last before `end`, of those from `start` on: one broken statement is one message.
    pub fn keep_one(&mut self, start: usize, end: usize) {
        let last = self.list.iter().take(end).rposition(Diagnostic::is_error);
        let mut n = 0;
        self.list.retain(|d| {
            n += 1;
            n <= start || Some(n - 1) == last || !d.is_error()
        });
        self.errors = self.list.iter().filter(|d| d.is_error()).count();
    }

    /// Takes back what was added from `start` on.
    pub fn forget(&mut self, start: usize) {
        self.list.truncate(start);
        self.errors = self.list.iter().filter(|d| d.is_error()).count();
    }

    pub fn push_lexical(&mut self, diagnostic: Diagnostic) {
        self.bad_token = diagnostic.span.map(|s| s.start);
        self.push(diagnostic);
    }

    /// Whether there is no room left. Parsing then stops.
    pub fn is_full(&self) -> bool {
        self.errors > MAX_DIAGNOSTICS
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }
}

/// A piece of the user's text for a message: one line, not too long.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut out: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST).collect();
    if text.chars().nth(MOST).is_some() {
        out.push('…');
    }
    out
}

/// Help for a word that is not known: the one of these that it is nearest to, or something else to write.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    words: impl IntoIterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(word, words).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}
