//! Names and files of the command line: `NAME=FILE`, `NAME=VALUE`, `NAME@1`.

use std::path::PathBuf;
use tessera::Literal;
use tessera_isa::codec::Number;

/// A name of the program with what the command line binds it to.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound<T> {
    /// The name, without `%` and without `@1`.
    pub name: String,
    /// Core 1's copy is meant.
    pub core1: bool,
    /// The file or value.
    pub to: T,
}

/// `NAME`, `%NAME` or `NAME@1`.
pub fn name(text: &str) -> Result<Bound<()>, String> {
    let bare = text.strip_prefix('%').unwrap_or(text);
    let (name, core1) = match bare.strip_suffix("@1") {
        Some(name) => (name, true),
        None => (bare.strip_suffix("@0").unwrap_or(bare), false),
    };
    if name.is_empty() {
        return Err(format!("'{text}' is no name"));
    }
    Ok(Bound { name: name.to_string(), core1, to: () })
}

fn split<'a>(text: &'a str, what: &str) -> Result<(Bound<()>, &'a str), String> {
    let wrong = || format!("'{text}' is not NAME={what}");
    let (left, right) = text.split_once('=').filter(|(_, to)| !to.is_empty()).ok_or_else(wrong)?;
    Ok((name(left).map_err(|_| wrong())?, right))
}

/// `NAME=FILE`.
pub fn file(text: &str) -> Result<Bound<PathBuf>, String> {
    let (Bound { name, core1, .. }, to) = split(text, "FILE")?;
    Ok(Bound { name, core1, to: to.into() })
}

/// `NAME=VALUE`: an integer, a float, `true` or `false`; `0x…` are the bits of a float, as MLIR writes them.
pub fn value(text: &str) -> Result<Bound<Literal>, String> {
    let (Bound { name, core1, .. }, to) = split(text, "VALUE")?;
    let number = number(to).ok_or_else(|| format!("'{to}' is no number"))?;
    if core1 {
        return Err(format!("'{name}@1': a scalar has no copy on core 1"));
    }
    Ok(Bound { name, core1, to: number })
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
