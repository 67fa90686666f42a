//! Versions of the public text (isa/today.md 1).

use std::fmt;

/// A version of the text that has a name. A version decides how text is printed, and a few meanings (isa/today.md 1.2);
/// everything is read in each.
///
/// ```
/// use tessera_ir::Dialect;
/// assert_eq!(Dialect::parse("0.61").unwrap(), (Dialect::V0_60, false));
/// assert!(Dialect::parse("0.26").is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    V0_27,
    V0_60,
    V0_64,
}

impl Dialect {
    /// All of them, the oldest first.
    pub const ALL: &[Dialect] = &[Dialect::V0_27, Dialect::V0_60, Dialect::V0_64];

    /// The number as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::V0_27 => "0.27",
            Dialect::V0_60 => "0.60",
            Dialect::V0_64 => "0.64",
        }
    }

    fn number(self) -> (u32, u32) {
        match self {
            Dialect::V0_27 => (0, 27),
            Dialect::V0_60 => (0, 60),
            Dialect::V0_64 => (0, 64),
        }
    }

    /// The version of a number: the next lower one that has a name, and whether the number is higher than all of them.
    /// A number below all of them is none.
    pub fn parse(text: &str) -> Option<(Dialect, bool)> {
        let mut parts = text.trim().trim_start_matches('v').split('.').map(|part| {
            let is_number = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            part.parse::<u32>().ok().filter(|_| is_number)
        });
        let number = (parts.next()??, parts.next()??);
        let patch = parts.next();
        if patch == Some(None) || parts.next().is_some() {
            return None;
        }
        let found = Dialect::ALL.iter().rev().copied().find(|version| version.number() <= number)?;
        Some((found, number > Dialect::V0_64.number()))
    }

    /// What is wrong with a number that is no version, and the way out.
    pub fn unknown(text: &str) -> (String, String) {
        let what = format!("`{text}` is no version of the text");
        let names: Vec<&str> = Dialect::ALL.iter().map(|version| version.name()).collect();
        (what, format!("write one of {}, or a number from {} on", names.join(", "), Dialect::V0_27))
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
