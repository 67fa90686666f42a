//! Diagnostics as data: what is wrong, where, and how to get out. Rendering is the binary's job.

/// A range of bytes in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
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

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    Note,
    /// Legal, and probably not meant.
    Warning,
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
    pub span: Span,
    pub text: String,
}

/// The fact that names the place which a front end made the operation from: its `file`, `line` and `column`.
pub const SOURCE: &str = "source";

/// A fact of a finding that programs read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    Text(String),
    Number(i64),
    List(Vec<Fact>),
    /// Facts by name.
    Parts(Vec<(&'static str, Fact)>),
    /// A place in the text.
    Place(Span),
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
    pub severity: Severity,
    /// One sentence with the actual values.
    pub message: String,
    /// The primary place, if the finding has one.
    pub span: Option<Span>,
    /// The label at the primary place.
    pub label: String,
    pub secondary: Vec<Label>,
    /// Further facts, one sentence each.
    pub notes: Vec<String>,
    /// The smallest change that helps.
    pub help: Option<String>,
    /// The facts of the message, by name, for programs that read it.
    pub facts: Vec<(&'static str, Fact)>,
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
            facts: Vec::new(),
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

    /// With a fact by name.
    pub fn fact(mut self, name: &'static str, fact: Fact) -> Self {
        self.facts.push((name, fact));
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A broken rule with its message; the caller that has the source text adds the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub rule: &'static str,
    /// The rule's, unless it is broken in a way that only warns.
    pub severity: Severity,
    /// One sentence with the values.
    pub message: String,
    /// The smallest change that helps.
    pub help: Option<String>,
    /// The operand (position in the instruction's tile list) that the sentence is about, if it is about one.
    pub operand: Option<usize>,
}

impl Fault {
    /// A fault without help, as bad as the rule says.
    pub fn new(rule: &'static str, message: impl Into<String>) -> Self {
        let severity = crate::rules::rule(rule).map_or(Severity::Error, |r| r.severity);
        Fault { rule, severity, message: message.into(), help: None, operand: None }
    }

    /// Only a warning, though the rule is an error.
    pub fn warns(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// With a way out.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// About one operand.
    pub fn on(mut self, operand: usize) -> Self {
        self.operand = Some(operand);
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl From<Fault> for Diagnostic {
    fn from(fault: Fault) -> Self {
        let mut found = Diagnostic::new(fault.rule, fault.severity, fault.message);
        found.help = fault.help;
        found
    }
}

impl From<Fault> for Box<Diagnostic> {
    fn from(fault: Fault) -> Self {
        Box::new(fault.into())
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
        // The first letters of a word are seldom mistyped.
        .min_by_key(|(d, w)| (*d, std::cmp::Reverse(common_prefix(&lower, w)), w.len()))
        .map(|(_, w)| w)
}

/// The number of letters with which both words begin, regardless of case.
fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count()
}

/// Single-character edits between two words; two neighbours swapped count as one.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut best = (above[j] + usize::from(a[i] != b[j])).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(0)
}
