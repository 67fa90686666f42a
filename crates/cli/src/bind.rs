//! Names and files of the command line: `NAME=FILE`, `NAME=random`, `NAME=VALUE`, `NAME@1`.

use crate::words;
use std::path::{Path, PathBuf};
use tessera::Literal;
use tessera::fill::Fill;
use tessera::npy::Float;
use tessera::program::Setting;
use tessera_isa::codec::Number;

/// A name of the program with what the command line binds it to.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound<T> {
    /// The name, without `%` and without `@1`.
    pub name: String,
    /// Core 1's copy is meant.
    pub core1: bool,
    /// The rank that is meant, where several run.
    pub of: Of,
    /// The file or value.
    pub to: T,
}

/// The ranks that a name is about (isa/comm.md 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// All of them.
    #[default]
    All,
    /// `NAME@2`.
    Rank(u32),
    /// `NAME@`: one array, whose first axis is the rank.
    Stack,
}

impl<T> Bound<T> {
    /// The name without its rank.
    pub fn bare(&self) -> &str {
        ranked(&self.name).0
    }
}

/// A name, and the rank behind its `@`.
pub fn ranked(name: &str) -> (&str, Of) {
    match name.rsplit_once('@') {
        Some((name, "")) => (name, Of::Stack),
        Some((name, rank)) => rank.parse().map_or((name, Of::All), |rank| (name, Of::Rank(rank))),
        None => (name, Of::All),
    }
}

/// Refuses a word behind `@` that is no rank: it would mean all of them.
fn has_rank(text: &str) -> Result<(), String> {
    match text.rsplit_once('@') {
        Some((name, rank)) if !rank.is_empty() && rank.parse::<u32>().is_err() => {
            Err(format!("'{text}': '{rank}' is no rank; {name}@0 is rank 0's"))
        }
        _ => Ok(()),
    }
}

/// `NAME`, `%NAME` or `NAME@1`.
pub fn name(text: &str) -> Result<Bound<()>, String> {
    has_rank(text)?;
    let bare = text.strip_prefix('%').unwrap_or(text);
    let (name, core1) = match bare.strip_suffix("@1") {
        Some(name) => (name, true),
        None => (bare.strip_suffix("@0").unwrap_or(bare), false),
    };
    if name.is_empty() {
        return Err(format!("'{text}' is no name"));
    }
    Ok(Bound { name: name.to_string(), core1, of: ranked(bare).1, to: () })
}

fn split<'a>(text: &'a str, what: &str) -> Result<(Bound<()>, &'a str), String> {
    let wrong = || format!("'{text}' is not NAME={what}");
    let (left, right) = text.split_once('=').filter(|(_, to)| !to.is_empty()).ok_or_else(wrong)?;
    has_rank(left)?;
    Ok((name(left).map_err(|_| wrong())?, right))
}

/// `NAME=FILE`.
pub fn file(text: &str) -> Result<Bound<PathBuf>, String> {
    let (Bound { name, core1, of, .. }, to) = split(text, "FILE")?;
    Ok(Bound { name, core1, of, to: to.into() })
}

/// The input of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Give {
    /// The array of a file, with its numbers cast to the argument's type or as it is.
    File(PathBuf, bool),
    /// Contents that are made up.
    Fill(Fill),
}

/// `NAME=FILE`, `NAME=FILE:cast`, `NAME=random[:SEED]`, `iota`, `zeros`, `ones` or `value:V`.
pub fn give(text: &str) -> Result<Bound<Give>, String> {
    let (Bound { name, core1, of, .. }, to) = split(text, "FILE")?;
    let fill = Fill::parse(to).map_err(|error| words::sentence(&error))?;
    let to = match (fill, to.strip_suffix(":cast")) {
        (Some(fill), _) => Give::Fill(fill),
        (None, Some(file)) => Give::File(file.into(), true),
        (None, None) => Give::File(to.into(), false),
    };
    Ok(Bound { name, core1, of, to })
}

/// The file of an array, and the type to convert it to, if it is not its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// The file.
    pub file: PathBuf,
    /// The type of its numbers.
    pub as_float: Option<Float>,
}

/// `NAME=FILE`, or `NAME=FILE:f32`.
pub fn take(text: &str) -> Result<Bound<Take>, String> {
    let (Bound { name, core1, of, .. }, to) = split(text, "FILE")?;
    let cast = to.rsplit_once(':').and_then(|(file, ty)| Some((file, Float::parse(ty)?)));
    let (file, as_float) = cast.map_or((to, None), |(file, ty)| (file, Some(ty)));
    Ok(Bound { name, core1, of, to: Take { file: file.into(), as_float } })
}

impl AsRef<Path> for Take {
    fn as_ref(&self) -> &Path {
        &self.file
    }
}

/// `NAME=NxM`.
pub fn shape(text: &str) -> Result<(String, Vec<u64>), String> {
    let wrong = || format!("'{text}' is not NAME=NxM, such as x=16x64");
    let (bound, dims) = split(text, "NxM").map_err(|_| wrong())?;
    let dims: Option<Vec<u64>> = dims.split('x').map(|d| d.parse().ok()).collect();
    // The rank stays with the name.
    let name = match bound.of {
        Of::Rank(rank) => format!("{}@{rank}", bound.bare()),
        _ => bound.name,
    };
    Ok((name, dims.ok_or_else(wrong)?))
}

/// `NAME=VALUE`, `NAME.valid=R,C`, `NAME.strides=S,T` or `NAME.offset=N` (isa/structure.md 3).
pub fn setting(text: &str) -> Result<Bound<Setting>, String> {
    let (Bound { name, core1, of, .. }, to) = split(text, "VALUE")?;
    let numbers = |of: &str| {
        let all: Option<Vec<i64>> = to.split([',', 'x']).map(|n| n.trim().parse().ok()).collect();
        all.ok_or_else(|| format!("'{text}' is not NAME.{of}, such as x.valid=16,32, x.strides=64,1 or x.offset=0"))
    };
    let ending = |suffix: &str| name.strip_suffix(suffix).filter(|bare| !bare.is_empty()).map(str::to_string);
    let (name, setting) = if let Some(tile) = ending(".valid") {
        let pair = numbers("valid=R,C")?.iter().map(|n| u64::try_from(*n).ok()).collect::<Option<Vec<_>>>();
        let valid = pair.and_then(|p| <[u64; 2]>::try_from(p).ok());
        (tile, Setting::Valid(valid.ok_or_else(|| format!("'{to}' is no region of ROWS,COLUMNS"))?))
    } else if let Some(memref) = ending(".strides") {
        (memref, Setting::Strides(numbers("strides=S,T")?))
    } else if let Some(memref) = ending(".offset") {
        let offset = to.parse().map_err(|_| format!("'{to}' is no offset"))?;
        (memref, Setting::Offset(offset))
    } else {
        let setting = match to {
            "rank" => Setting::Rank,
            "ranks" => Setting::Ranks,
            _ => Setting::Value(number(to).ok_or_else(|| format!("'{to}' is no number"))?),
        };
        (name, setting)
    };
    Ok(Bound { name, core1, of, to: setting })
}

/// `NAME=VALUE`: an integer, a float, `true` or `false`; `0x…` are the bits of a float, as MLIR writes them.
pub fn value(text: &str) -> Result<Bound<Literal>, String> {
    let (Bound { name, core1, of, .. }, to) = split(text, "VALUE")?;
    let number = number(to).ok_or_else(|| format!("'{to}' is no number"))?;
    if core1 {
        return Err(format!("'{name}@1': a scalar has no copy on core 1"));
    }
    Ok(Bound { name, core1, of, to: number })
}

fn number(text: &str) -> Option<Literal> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let int = match hex {
        Some(hex) => i128::from_str_radix(hex, 16).ok(),
        None if digits.starts_with(['+', '-']) => None,
        None => digits.parse::<i128>().ok(),
    };
    let bits = int.filter(|_| sign == 1 && hex.is_some()).and_then(|v| u64::try_from(v).ok());
    let number = match (int, text) {
        _ if bits.is_some() => return bits.map(Literal::Bits),
        (Some(v), _) => v.checked_mul(sign).map(Number::Int),
        (None, "true") => Some(Number::Int(1)),
        (None, "false") => Some(Number::Int(0)),
        (None, _) => text.parse::<f64>().ok().map(Number::Float),
    };
    number.map(Literal::Number)
}
