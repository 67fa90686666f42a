//! Contents that need no file: `random`, `iota`, `zeros`, `ones`, `value:3.5`.
//!
//! ```
//! use tessera::fill::Fill;
//! use tessera::Elem;
//!
//! let fill = Fill::parse("random:7")?.ok_or("a file")?;
//! let array = fill.array(Elem::F16, &[4, 16])?;
//! assert_eq!(array.shape, [4, 16]);
//! assert_eq!(array, fill.array(Elem::F16, &[4, 16])?);
//! assert_eq!(Fill::parse("./random")?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What each of them is, element i of a type counted from 0 in row-major order:
//!
//! | fill | floats | integers | f8e8m0 |
//! |---|---|---|---|
//! | `zeros` | 0 | 0 | the bits 0 |
//! | `ones` | 1 | 1 | 1 |
//! | `value:V` | the nearest to V | V | the nearest to V |
//! | `iota` | i mod 2^p, p the bits of the mantissa with its leading 1 | i mod 2^bits, as bits | 2^(i mod 8) |
//! | `random:S` | the nearest to (r >> 11) / 2^52 − 1, so −1 to 1 | r >> 60, less 8 where signed: −8 to 7, 0 to 15 | 2^((r >> 61) − 4) |
//!
//! r is number i of splitmix64 from S on: `x = S + (i + 1) · 0x9e3779b97f4a7c15`, `x = (x ^ x >> 30) ·
//! 0xbf58476d1ce4e5b9`, `x = (x ^ x >> 27) · 0x94d049bb133111eb`, `r = x ^ x >> 31`, all modulo 2^64. So the same fill is
//! the same bits everywhere, and a longer array begins as a shorter one does.

use crate::npy::Array;
use crate::{Elem, Error, Number, Result};
use std::fmt;
use tessera_isa::codec::Overflow;
use tessera_isa::elem::ElemKind;

/// The most bytes of one array that is made up: as much as a file may have.
const MOST: u64 = 4 << 30;

/// The contents of a filled array.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fill {
    /// Numbers that look random, by a seed; without one, [`Fill::seeded`] gives it.
    Random(Option<u64>),
    /// 0, 1, 2, …
    Iota,
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// One number everywhere.
    Value(Number),
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fill::Random(None) => f.write_str("random"),
            Fill::Random(Some(seed)) => write!(f, "random:{seed}"),
            Fill::Iota => f.write_str("iota"),
            Fill::Zeros => f.write_str("zeros"),
            Fill::Ones => f.write_str("ones"),
            Fill::Value(number) => write!(f, "value:{}", shown(*number)),
        }
    }
}

impl Fill {
    /// The fill that a text names; none where it is the name of a file, such as `./random`.
    pub fn parse(text: &str) -> Result<Option<Fill>> {
        let (word, detail) = text.split_once(':').map_or((text, None), |(w, d)| (w, Some(d)));
        let fill = match (word, detail) {
            ("iota", None) => Fill::Iota,
            ("zeros", None) => Fill::Zeros,
            ("ones", None) => Fill::Ones,
            ("random", None) => Fill::Random(None),
            ("random", Some(seed)) => {
                let seed = seed.parse().map_err(|_| {
                    Error::request(format!("'{seed}' is no seed; write a number from 0 to {}", u64::MAX))
                })?;
                Fill::Random(Some(seed))
            }
            ("value", Some(number)) => {
                let int = number.parse().ok().map(Number::Int);
                let number = int.or_else(|| number.parse().ok().map(Number::Float));
                Fill::Value(number.ok_or_else(|| Error::request(format!("'{text}' has no number after value:")))?)
            }
            ("value", None) => {
                return Err(Error::request("'value' has no number").help("write value:3.5, or ./value for a file"));
            }
            _ => return Ok(None),
        };
        Ok(Some(fill))
    }

    /// The same with a seed, where it has none.
    pub fn seeded(self, seed: u64) -> Fill {
        match self {
            Fill::Random(None) => Fill::Random(Some(seed)),
            other => other,
        }
    }

    /// The fill of a rank's argument: without a seed, each rank has contents of its own.
    pub(crate) fn of_rank(self, argument: u64, rank: u32) -> Fill {
        if rank == 0 { self } else { self.seeded(argument | u64::from(rank) << 32) }
    }

    /// An array of these extents, counted in elements.
    pub fn array(self, elem: Elem, shape: &[u64]) -> Result<Array> {
        let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d)).filter(|n| elem.bytes_of(*n) <= MOST);
        let Some(count) = count else {
            let shown = crate::npy::shape_text(shape);
            let what = format!("an array {shown} of {elem} has more than {} GiB, the most that is made up", MOST >> 30);
            return Err(Error::request(what).help("give a file, or a smaller shape"));
        };
        if elem.is_fp4() && shape.last().is_some_and(|last| last % 2 == 1) {
            let what = format!("rows of {} {elem} elements do not end at a byte", shape.last().unwrap_or(&0));
            return Err(Error::request(what).help("two elements share a byte: make the last extent even"));
        }
        let bits = self.bits(elem)?;
        let mut bytes = vec![0u8; elem.bytes_of(count) as usize];
        match elem.size() {
            Some(size) => {
                for (i, to) in (0..).zip(bytes.chunks_exact_mut(size as usize)) {
                    to.copy_from_slice(&bits(i).to_le_bytes()[..size as usize]);
                }
            }
            None => {
                for (i, to) in (0..).zip(&mut bytes) {
                    *to = (bits(2 * i) | bits(2 * i + 1) << 4) as u8;
                }
            }
        }
        Ok(Array::of_elem(elem, shape.to_vec(), bytes))
    }

    /// The bits of element i.
    fn bits(self, elem: Elem) -> Result<Box<dyn Fn(u64) -> u64>> {
        let near = move |v: f64| elem.encode_f64(v, Overflow::Infinity);
        let power = move |exponent: i32| near(2f64.powi(exponent));
        let has_zero = elem.encode_exact(&Number::Int(0)).is_some();
        let same = |number: Number| {
            let bits = elem.encode(number, Overflow::Infinity);
            let is_finite = |v: Number| !matches!(v, Number::Float(v) if !v.is_finite());
            let fits = match elem.is_float() {
                true => is_finite(elem.decode(bits)) == is_finite(number) && (has_zero || is_positive(number)),
                false => elem.encode_exact(&number).is_some(),
            };
            let (low, high) = elem.range();
            let [low, high, given] = [low, high, number].map(shown);
            fits.then_some(bits).ok_or_else(|| Error::request(format!("{elem} ({low} to {high}) has no {given}")))
        };
        Ok(match self {
            Fill::Zeros => Box::new(|_| 0),
            Fill::Ones => {
                let one = same(Number::Int(1))?;
                Box::new(move |_| one)
            }
            Fill::Value(number) => {
                let bits = same(number)?;
                Box::new(move |_| bits)
            }
            Fill::Iota if !has_zero => Box::new(move |i| power((i % 8) as i32)),
            Fill::Iota if elem.is_float() => {
                let holds = |p: &u32| elem.encode_exact(&Number::Int((1 << p) - 1)).is_some();
                let exact = 1u64 << (1..=24).take_while(holds).last().unwrap_or(1);
                Box::new(move |i| near((i % exact) as f64))
            }
            Fill::Iota => Box::new(move |i| i & elem.mask()),
            Fill::Random(seed) => {
                let seed = seed.unwrap_or(0);
                match elem.kind() {
                    ElemKind::Float if has_zero => {
                        Box::new(move |i| near((mix(seed, i) >> 11) as f64 / (1u64 << 52) as f64 - 1.0))
                    }
                    ElemKind::Float => Box::new(move |i| power((mix(seed, i) >> 61) as i32 - 4)),
                    ElemKind::SignedInt => Box::new(move |i| (mix(seed, i) >> 60).wrapping_sub(8) & elem.mask()),
                    ElemKind::UnsignedInt => Box::new(move |i| mix(seed, i) >> 60),
                }
            }
        })
    }
}

fn shown(number: Number) -> String {
    match number {
        Number::Int(v) => v.to_string(),
        Number::Float(v) => format!("{v:?}"),
    }
}

fn is_positive(number: Number) -> bool {
    match number {
        Number::Int(v) => v > 0,
        Number::Float(v) => v > 0.0 || v.is_nan(),
    }
}

/// Number i of splitmix64.
fn mix(seed: u64, i: u64) -> u64 {
    let mut x = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
