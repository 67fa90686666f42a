//! Costs of one's own: a file in the form of isa/cost.toml in place of the published figures.

use crate::{Error, Result};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use tessera_isa::cost::{Cost, Costs, Cube, Figure, Of, Timing, Transfer};
use tessera_isa::diag::nearest;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Opcode, Pipe};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;

/// Reads a file of costs.
///
/// ```
/// let costs = tessera::costs::parse(r#"
///     [[transfer]]
///     profile = "a5"
///     path = "vec->gm"
///     ops = ["tstore"]
///     pipe = "MTE3"
///     bytes_per_cycle = 128
/// "#)?;
/// assert_eq!(costs.transfers[0].bytes_per_cycle, 128);
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Costs> {
    let file: File = toml::from_str(text).map_err(|wrong| {
        let head = text.get(..wrong.span().map_or(0, |span| span.start)).unwrap_or("");
        let line = head.matches('\n').count() + 1;
        let column = head.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        let what = wrong.message().trim_end().replace('\n', ", ");
        Error::request(format!("line {line}, column {column}: {what}"))
            .help("docs/spec/isa/cost.toml is a file of this form")
    })?;
    Ok(Costs {
        vector: file.vector.into_iter().map(|row| row.0).collect(),
        transfers: file.transfer.into_iter().map(Transfer::from).collect(),
        cubes: file.cube.into_iter().map(Cube::from).collect(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    transfer: Vec<TransferRow>,
    #[serde(default)]
    cube: Vec<CubeRow>,
    #[serde(default)]
    vector: Vec<VectorRow>,
    /// Keys that describe the core itself, and a copy that no instruction is: they are no costs.
    #[serde(rename = "profile")]
    _profile: Option<IgnoredAny>,
    #[serde(rename = "copy")]
    _copy: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransferRow {
    profile: Word<Profile>,
    path: Word<Path>,
    ops: Vec<Word<Opcode>>,
    #[serde(rename = "pipe")]
    _pipe: Option<Word<Pipe>>,
    bytes_per_cycle: NonZeroU32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CubeRow {
    profile: Word<Profile>,
    ops: Vec<Word<Opcode>>,
    #[serde(rename = "pipe")]
    _pipe: Option<Word<Pipe>>,
    startup: u32,
    fractal: Fractal,
    per_fractal: Figures,
    /// Worked examples.
    #[serde(rename = "check")]
    _check: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fractal {
    m: NonZeroU32,
    n: NonZeroU32,
    k_bytes: NonZeroU32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VectorFields {
    profile: Word<Profile>,
    ops: Vec<Word<Opcode>>,
    basis: Option<String>,
    #[serde(rename = "pipe")]
    _pipe: Option<Word<Pipe>>,
    startup: Option<u32>,
    completion: Option<Figures>,
    interval: Option<u32>,
    latency: Option<Figures>,
    per_repeat: Figures,
    repeat_bytes: Option<NonZeroU32>,
}

/// A row whose fields belong to one formula (isa/cost.md 1).
#[derive(Deserialize)]
#[serde(try_from = "VectorFields")]
struct VectorRow(Cost);

impl TryFrom<VectorFields> for VectorRow {
    type Error = String;

    fn try_from(row: VectorFields) -> std::result::Result<Self, String> {
        let per_repeat = row.per_repeat.0;
        let timing = match (row.latency, row.startup, row.completion, row.interval) {
            (Some(Figures(latency)), None, None, None) => Timing::Latency { latency, per_repeat },
            (None, Some(startup), Some(Figures(completion)), Some(interval)) => {
                Timing::Startup { startup, completion, per_repeat, interval }
            }
            _ => return Err("a row of [[vector]] has latency, or startup, completion and interval".into()),
        };
        let published = match row.basis.as_deref() {
            Some("published") => true,
            None | Some("derived") => false,
            Some(other) => return Err(format!("the basis is '{other}', and it is \"published\" or \"derived\"")),
        };
        let (on, ops) = (row.profile.0, ops(row.ops));
        Ok(VectorRow(Cost { on, ops, published, repeat_bytes: row.repeat_bytes.map_or(256, NonZeroU32::get), timing }))
    }
}

impl From<TransferRow> for Transfer {
    fn from(row: TransferRow) -> Self {
        let Path(from, to) = row.path.0;
        Transfer { on: row.profile.0, from, to, ops: ops(row.ops), bytes_per_cycle: row.bytes_per_cycle.get() }
    }
}

impl From<CubeRow> for Cube {
    fn from(row: CubeRow) -> Self {
        let Fractal { m, n, k_bytes } = row.fractal;
        Cube {
            on: row.profile.0,
            ops: ops(row.ops),
            startup: row.startup,
            fractal: [m.get(), n.get()],
            k_bytes: k_bytes.get(),
            per_fractal: row.per_fractal.0,
        }
    }
}

fn ops(words: Vec<Word<Opcode>>) -> Cow<'static, [Opcode]> {
    words.into_iter().map(|word| word.0).collect()
}

/// Something that has a name.
trait Named: Sized {
    fn named(word: &str) -> std::result::Result<Self, String>;
}

struct Word<T>(T);

impl<'de, T: Named> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        T::named(&String::deserialize(from)?).map(Word).map_err(de::Error::custom)
    }
}

/// The known word that a misspelt one is closest to.
fn unknown(what: &str, word: &str, all: impl Iterator<Item = &'static str>) -> String {
    match nearest(word, all) {
        Some(near) => format!("there is no {what} '{word}'; did you mean '{near}'?"),
        None => format!("there is no {what} '{word}'"),
    }
}

impl Named for Profile {
    fn named(word: &str) -> std::result::Result<Self, String> {
        match Profile::parse(word) {
            Some(Profile::Cpu) => Err("cpu has no costs; the profiles are a2a3 and a5".into()),
            Some(profile) => Ok(profile),
            None => Err(unknown("profile", word, ["a2a3", "a5"].into_iter())),
        }
    }
}

impl Named for Opcode {
    fn named(word: &str) -> std::result::Result<Self, String> {
        let names = || Opcode::ALL.iter().map(|op| op.mnemonic());
        Opcode::parse(word).ok_or_else(|| unknown("instruction", word, names()))
    }
}

impl Named for Pipe {
    fn named(word: &str) -> std::result::Result<Self, String> {
        let found = Pipe::ALL.iter().copied().find(|p| p.name() == word);
        found.ok_or_else(|| unknown("pipe", word, Pipe::ALL.iter().map(|p| p.name())))
    }
}

/// From one memory to another; none is global memory.
struct Path(Option<Loc>, Option<Loc>);

impl Named for Path {
    fn named(word: &str) -> std::result::Result<Self, String> {
        let end = |name: &str| match name.trim() {
            "gm" => Ok(None),
            name => Loc::parse(name)
                .map(Some)
                .ok_or_else(|| unknown("memory", name, Loc::ALL.iter().map(|l| l.name()).chain(["gm"]))),
        };
        match word.split_once("->") {
            Some((from, to)) => Ok(Path(end(from)?, end(to)?)),
            None => Err(format!("'{word}' is no path; one is written gm->vec")),
        }
    }
}

/// A number, or a table of numbers by element type.
struct Figures(Figure);

impl<'de> Deserialize<'de> for Figures {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        from.deserialize_any(ByType).map(|all| Figures(all.into()))
    }
}

struct ByType;

impl<'de> Visitor<'de> for ByType {
    type Value = Vec<(Of, u32)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of cycles, or a table of them by element type")
    }

    fn visit_i64<E: de::Error>(self, n: i64) -> std::result::Result<Self::Value, E> {
        let n = u32::try_from(n).map_err(|_| E::custom(format!("{n} is no number of cycles")))?;
        Ok(vec![(Of::All, n)])
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some((name, n)) = map.next_entry::<String, u32>()? {
            let of = match name.as_str() {
                "f" => Of::Floats,
                "i" => Of::Integers,
                name => Of::Type(Elem::parse(name).ok_or_else(|| {
                    de::Error::custom(unknown("element type", name, Elem::ALL.iter().map(|e| e.name())))
                })?),
            };
            all.push((of, n));
        }
        // A type's own name goes first.
        all.sort_by_key(|(of, _)| !matches!(of, Of::Type(_)));
        Ok(all)
    }
}
