//! Places in the text that a front end made a program from: `loc(…)` behind an operation or argument (syntax.md 1).

use rustc_hash::FxHashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A location of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocId(NonZeroU32);

impl LocId {
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A line of another file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub file: Arc<str>,
    /// From 1; 0 where it is unknown.
    pub line: u32,
    pub column: u32,
}

/// A location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loc {
    /// What stands between the parentheses, without aliases.
    pub text: Arc<str>,
    /// The place that it names: of a call site the callee's, of a fused one the first that is known.
    pub place: Option<Place>,
}

impl Loc {
    fn new(text: Arc<str>) -> Self {
        Loc { place: place(&text), text }
    }
}

/// The locations of a module, each text once.
#[derive(Clone, Debug, Default)]
pub struct Locs {
    all: Vec<Loc>,
    by_text: FxHashMap<Arc<str>, LocId>,
}

impl Locs {
    /// The location that is written so.
    pub fn intern(&mut self, text: &str) -> Option<LocId> {
        if let Some(id) = self.by_text.get(text) {
            return Some(*id);
        }
        let id = LocId(NonZeroU32::new(u32::try_from(self.all.len() + 1).ok()?)?);
        let text: Arc<str> = text.into();
        self.all.push(Loc::new(text.clone()));
        self.by_text.insert(text, id);
        Some(id)
    }

    /// The location of an id of this module.
    pub fn get(&self, id: LocId) -> Option<&Loc> {
        self.all.get(id.index())
    }

    /// Another text for a location: the aliases that it names are known.
    pub fn rewrite(&mut self, id: LocId, text: &str) {
        if let Some(loc) = self.all.get_mut(id.index()) {
            *loc = Loc::new(text.into());
        }
    }

    /// Whether no location is written.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The first `"file":line:column`; a string that something else follows is a name.
fn place(text: &str) -> Option<Place> {
    let mut rest = text;
    loop {
        let (_, tail) = rest.split_once('"')?;
        let (file, behind) = string(tail)?;
        if let Some((line, column)) = behind.strip_prefix(':').and_then(numbers) {
            return Some(Place { file: file.into(), line, column });
        }
        rest = behind;
    }
}

/// `12:5` at the start.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let number = |text: &str| text.get(..text.bytes().take_while(u8::is_ascii_digit).count())?.parse().ok();
    let (line, rest) = text.split_once(':')?;
    Some((line.parse().ok()?, number(rest)?))
}

/// A string behind its opening quote, and what follows the closing one. `\"`, `\\`, `\n`, `\t` and `\0A` are escapes.
fn string(text: &str) -> Option<(String, &str)> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some((String::from_utf8_lossy(&out).into_owned(), text.get(at + 1..)?)),
            b'\\' => {
                let hex = text.get(at + 1..at + 3).and_then(|two| u8::from_str_radix(two, 16).ok());
                let (byte, len) = match (hex, *bytes.get(at + 1)?) {
                    (Some(byte), _) => (byte, 3),
                    (None, b'n') => (b'\n', 2),
                    (None, b't') => (b'\t', 2),
                    (None, other) => (other, 2),
                };
                out.push(byte);
                at += len;
            }
            byte => {
                out.push(byte);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn says(text: &str, file: &str, line: u32, column: u32) {
        assert_eq!(place(text), Some(Place { file: file.into(), line, column }), "{text}");
    }

    #[test]
    fn places_of_locations() {
        says("\"k.py\":3:4", "k.py", 3, 4);
        says("\"a \\\"b\\\\\\41.py\":0:7", "a \"b\\A.py", 0, 7);
        says("\"load\"(\"k.py\":3:4)", "k.py", 3, 4);
        says("fused<\"pass\">[unknown, \"k.py\":3:4, \"l.py\":5:6]", "k.py", 3, 4);
        says("callsite(\"inner\"(\"k.py\":3:4) at \"l.py\":5:6)", "k.py", 3, 4);
        says("\"k.py\":3:4 to :9", "k.py", 3, 4);
        for nothing in ["unknown", "\"name\"", "\"open", "\"k.py\":x:1", "\"k.py\":99999999999:1", "\"k\\"] {
            assert_eq!(place(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_text_is_one_location() {
        let mut locs = Locs::default();
        let (a, b) = (locs.intern("\"k.py\":3:4"), locs.intern("unknown"));
        assert_eq!(a, locs.intern("\"k.py\":3:4"));
        assert_ne!(a, b);
        let text = b.and_then(|b| locs.get(b)).map(|loc| &*loc.text);
        assert_eq!(text, Some("unknown"));
    }
}
