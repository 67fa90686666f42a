//! Diagnostics as data: what is wrong, where, and how to get out. Rendering is the binary's job.

/// A range of bytes in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end`.
    pub fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Legal, and probably not meant.
    Warning,
    /// Refused.
    Error,
}

impl Severity {
    /// The word that people and JSON readers see.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A second place that belongs to a diagnostic, such as the other operand's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there.
    pub text: String,
}

/// One finding: a rule, a sentence with the actual values, places, notes and a way out.
///
/// ```
/// use tessera_isa::diag::{Diagnostic, Severity, Span};
/// let d = Diagnostic::error("tile-align", "a row of 2 f32 is 8 bytes, which is no multiple of 32")
///     .at(Span::new(10, 20), "this type")
///     .help("cols 2 → 8, keep v_col=2");
/// assert_eq!((d.rule, d.severity), ("tile-align", Severity::Error));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The id of the broken rule; `tessera explain` knows every one.
    pub rule: &'static str,
    /// Error, warning or note.
    pub severity: Severity,
    /// One sentence with the actual values.
    pub message: String,
    /// The primary place, if the finding has one.
    pub span: Option<Span>,
    /// What to say at the primary place.
    pub label: String,
    /// Other places.
    pub secondary: Vec<Label>,
    /// Further facts, one sentence each.
    pub notes: Vec<String>,
    /// The smallest change that helps.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic of any severity.
    pub fn new(rule: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic {
            rule,
            severity,
            message: message.into(),
            span: None,
            label: String::new(),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// An error.
    pub fn error(rule: &'static str, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Error, message)
    }

    /// A broken invariant of the tool itself, at the operation where it shows.
    pub fn internal(span: Span, message: impl Into<String>) -> Box<Self> {
        let help = "this is a defect of the tool, not of the program; please report it";
        Box::new(Self::error("internal", message).at(span, "here").help(help))
    }

    /// A warning.
    pub fn warning(rule: &'static str, message: impl Into<String>) -> Self {
        Self::new(rule, Severity::Warning, message)
    }

    /// With the primary place.
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.span = Some(span);
        self.label = label.into();
        self
    }

    /// With another place.
    pub fn and_at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// With a note.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// With a way out.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Is this an error?
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The word of `words` nearest to `word` by edit distance, if any is near enough to be what was meant.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long inputs are never a typo of a short name; the bound keeps the distance cheap on hostile input.
    if word.len() > 64 {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let limit = (word.chars().count() / 3).max(1) + 1;
    words
        .into_iter()
        .map(|w| (distance(&lower, &w.to_ascii_lowercase()), w))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, w)| (*d, w.len()))
        .map(|(_, w)| w)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (slot, cb) in row.iter_mut().skip(1).zip(&b) {
            let here = (diagonal + usize::from(ca != *cb)).min(left + 1).min(*slot + 1);
            diagonal = *slot;
            *slot = here;
            left = here;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_finds_typos_and_refuses_strangers() {
        let words = ["tmov", "tinsert", "textract"];
        assert_eq!(nearest("tmove", words), Some("tmov"));
        assert_eq!(nearest("TINSRT", words), Some("tinsert"));
        assert_eq!(nearest("banana", words), None);
        assert_eq!(nearest(&"t".repeat(10_000), words), None);
    }
}
