//! Diagnostics for people: the source line, the place, labels, notes and a way out.

use crate::source::Source;
use crate::words::counted;
use annotate_snippets::{Annotation, AnnotationKind, Element, Level, Origin, Renderer, Snippet};
use std::ops::Range;
use tessera::{Diagnostic, Profile, Severity};

/// Longer lines are shown around the places that matter only.
const MAX_LINE: usize = 400;
/// How much of a long line is shown on either side of a place.
const AROUND: usize = 60;
/// Places further apart than this are shown as separate pieces of source.
const MAX_DISTANCE: usize = 100;

/// Of an operation with more columns the name is underlined, and not all of it.
const MAX_UNDERLINE: usize = 80;

/// The rule of what is known and does not run.
pub const STUCK: &str = "not-executable";

/// A diagnostic as text, as rustc would show it.
pub fn human(diagnostic: &Diagnostic, source: &Source, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let pieces = pieces(diagnostic, source);
    let mut elements: Vec<Element<'_>> = pieces.iter().map(|piece| piece.snippet(source).into()).collect();
    if elements.is_empty() {
        elements.push(Origin::path(source.name.as_str()).into());
    }
    elements.extend(diagnostic.notes.iter().map(|n| Level::NOTE.message(n.as_str()).into()));
    elements.extend(diagnostic.help.iter().map(|h| Level::HELP.message(h.as_str()).into()));
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.rule);
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    // A source line is cut around its places where the terminal is narrow; usually it has what it had.
    let renderer = if super::width() < super::WIDTH { renderer.term_width(super::width()) } else { renderer };
    let mut text = renderer.render(&[title.elements(elements)]);
    text.push_str("\n\n");
    for piece in &pieces {
        // A cut line counts its columns from the cut; the header names the place in the file.
        let (at, shown) = (source.position(piece.first), piece.shown_column(source));
        if shown != at.column {
            let header = |column: usize| format!("{}:{}:{column}", source.name, at.line);
            text = text.replacen(&header(shown), &header(at.column), 1);
        }
    }
    text
}

/// How many findings there are, in one line that names the profile.
pub fn summary(name: &str, diagnostics: &[Diagnostic], profile: Profile) -> String {
    let count = |severity: Severity| diagnostics.iter().filter(|d| d.severity == severity).count() as u64;
    let found = match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => "no errors".to_string(),
        (errors, 0) => counted(errors, "error"),
        (0, warnings) => counted(warnings, "warning"),
        (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    };
    let stuck = diagnostics.iter().any(|d| d.rule == STUCK && d.severity == Severity::Note);
    let stuck = if stuck { ", and it does not run" } else { "" };
    format!("{name}: {found}{stuck} (profile {profile})\n")
}

struct Place {
    range: Range<usize>,
    kind: AnnotationKind,
    label: String,
}

/// Lines that are shown together.
struct Piece {
    /// The place that the piece is about.
    first: usize,
    lines: Range<usize>,
    places: Vec<Place>,
}

/// The places of a diagnostic, grouped by nearness, the primary one first.
fn pieces(diagnostic: &Diagnostic, source: &Source) -> Vec<Piece> {
    let primary = diagnostic.span.map(|s| (s, AnnotationKind::Primary, diagnostic.label.clone()));
    let others = diagnostic.secondary.iter().map(|l| (l.span, AnnotationKind::Context, l.text.clone()));
    let mut pieces: Vec<Piece> = Vec::new();
    for (span, kind, label) in primary.into_iter().chain(others) {
        let range = source.clamp(span);
        let line = source.line_of(range.start);
        // A span over many lines is shown by its first one.
        let range = range.start..range.end.min(source.line_range(line).end).max(range.start);
        let range = underlined(source.text.get(range.clone()).unwrap_or_default())
            .map_or(range.clone(), |len| range.start..range.start + len);
        let place = Place { range, kind, label };
        let near = |p: &&mut Piece| line + MAX_DISTANCE > p.lines.start && line < p.lines.end + MAX_DISTANCE;
        match pieces.iter_mut().find(near) {
            Some(piece) => {
                piece.lines = piece.lines.start.min(line)..piece.lines.end.max(line + 1);
                piece.places.push(place);
            }
            None => pieces.push(Piece { first: place.range.start, lines: line..line + 1, places: vec![place] }),
        }
    }
    pieces
}

/// The bytes of a long operation up to the end of its name, where it has one.
fn underlined(text: &str) -> Option<usize> {
    if text.chars().count() <= MAX_UNDERLINE {
        return None;
    }
    let name = if text.starts_with('%') { text.find(" = ")? + " = ".len() } else { 0 };
    let len = text.get(name..)?.find(|c: char| c.is_whitespace() || "([<".contains(c))?;
    // A name of an operation has a dialect, or is one of PTO-AS.
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._\"".contains(c);
    (len > 0 && text.get(name..name + len)?.chars().all(is_name)).then_some(name + len)
}

impl Piece {
    /// The part of a line that is shown: a long one is cut around its places.
    fn shown(&self, source: &Source, line: usize) -> Range<usize> {
        let range = source.line_range(line);
        if range.len() <= MAX_LINE {
            return range;
        }
        let places = self.places_on(source, line);
        let first = places.iter().map(|p| p.range.start).min().unwrap_or(range.start);
        let last = places.iter().map(|p| p.range.end).max().unwrap_or(range.start);
        let start = source.floor(first.saturating_sub(AROUND).max(range.start));
        let end = source.floor((last + AROUND).min(start + MAX_LINE).min(range.end));
        start..end.max(start)
    }

    fn places_on(&self, source: &Source, line: usize) -> Vec<&Place> {
        self.places.iter().filter(|p| source.line_of(p.range.start) == line).collect()
    }

    /// The column of the first place as it is shown.
    fn shown_column(&self, source: &Source) -> usize {
        let line = source.line_of(self.first);
        let shown = self.shown(source, line);
        let mark = usize::from(shown.start > source.line_range(line).start);
        let head = source.text.get(shown.start..self.first).unwrap_or("");
        head.chars().count() + mark + 1
    }

    /// The lines with their places.
    fn snippet<'a>(&self, source: &'a Source) -> Snippet<'a, Annotation<'a>> {
        let mut text = String::new();
        let mut annotations = Vec::new();
        for line in self.lines.clone() {
            let range = source.line_range(line);
            let shown = self.shown(source, line);
            if shown.start > range.start {
                text.push('…');
            }
            let shift = |at: usize, base: usize| base + at.clamp(shown.start, shown.end) - shown.start;
            for place in self.places_on(source, line) {
                let span = shift(place.range.start, text.len())..shift(place.range.end, text.len());
                let label = (!place.label.is_empty()).then(|| place.label.clone());
                annotations.push(place.kind.span(span).label(label));
            }
            text.push_str(source.text.get(shown.clone()).unwrap_or(""));
            if shown.end < range.end {
                text.push('…');
            }
            text.push('\n');
        }
        Snippet::source(text).path(source.name.as_str()).line_start(self.lines.start + 1).annotations(annotations)
    }
}
