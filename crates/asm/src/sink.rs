//! Where errors go: a list with an end, so that hostile text cannot fill the memory with messages.

use tessera_isa::diag::Diagnostic;

/// More errors than this are not listed.
pub(crate) const MAX_DIAGNOSTICS: usize = 100;

/// The findings so far.
#[derive(Default)]
pub(crate) struct Sink {
    pub list: Vec<Diagnostic>,
    full: bool,
    /// Where the last bad token was: what the parser misses behind it is no news.
    pub bad_token: Option<u32>,
}

impl Sink {
    /// Adds a finding; says once that there are too many, then keeps quiet.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.full {
            return;
        }
        if self.list.len() >= MAX_DIAGNOSTICS {
            self.full = true;
            let span = diagnostic.span.unwrap_or_default();
            self.list.push(
                Diagnostic::error(
                    "syntax-limit",
                    format!("the text has more than {MAX_DIAGNOSTICS} findings, and the rest is not read"),
                )
                .at(span, "")
                .help("mend the first ones"),
            );
            return;
        }
        self.list.push(diagnostic);
    }

    /// Adds the finding of a bad token.
    pub fn push_lexical(&mut self, diagnostic: Diagnostic) {
        self.bad_token = diagnostic.span.map(|s| s.start);
        self.push(diagnostic);
    }

    /// Is there no room left? Then parsing stops.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Has there been an error?
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(Diagnostic::is_error)
    }
}

/// A piece of the user's text for a message: one line, not too long.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut out: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MOST)
        .collect();
    if text.chars().nth(MOST).is_some() {
        out.push('…');
    }
    out
}
