//! Is an output what it should be?
//!
//! Without a tolerance the bits must be equal: −0 is not 0, and two NaNs of different bits differ. With one, values are
//! compared: −0 equals 0, a NaN equals every NaN and nothing else, an infinity only itself; an element is near enough if
//! `|got − want| ≤ atol + rtol · |want|` (what is not given counts as 0), or if it is at most `ulp` values of its type
//! away. So `ulp = 0` means equal values. What is wanted may be of another type: then values are compared, exactly or
//! nearly, and the type's values are counted from the one that the wanted number rounds to.
//!
//! ```
//! use tessera::compare::{Tolerance, compare};
//! use tessera::npy::Array;
//! use tessera::Elem;
//!
//! let got = Array::new(&[2, 2], &[1.0f32, 2.0, 3.0, 4.0])?;
//! let want = Array::new(&[2, 2], &[1.0f32, 2.0, 3.5, 4.0])?;
//! let found = compare(Elem::F32, &got, &want, &Tolerance::default())?;
//! assert_eq!((found.different, &found.worst[0].index[..]), (1, &[1, 0][..]));
//! let near = Tolerance { atol: Some(0.5), ..Tolerance::default() };
//! assert!(compare(Elem::F32, &got, &want, &near)?.is_equal());
//! # Ok::<(), tessera::Error>(())
//! ```

use crate::npy::{Array, Reader, accepted, shape_text};
use crate::{Elem, Error, Number, Result};
use std::cmp::Ordering;
use tessera_isa::codec::Overflow;

/// Differences that are kept.
pub const WORST: usize = 8;

/// The tolerance of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// By how much.
    pub atol: Option<f64>,
    /// By which part of the wanted value.
    pub rtol: Option<f64>,
    /// By how many values of the output's type.
    pub ulp: Option<u64>,
}

impl Tolerance {
    /// Whether the bits must be equal.
    pub fn is_exact(&self) -> bool {
        *self == Tolerance::default()
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The number of elements.
    pub elements: u64,
    /// The number of elements outside the tolerance.
    pub different: u64,
    /// The worst of those, the worst one first.
    pub worst: Vec<Difference>,
}

/// An element that is not near enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its index, outermost first.
    pub index: Vec<u64>,
    /// The same, counted through all elements.
    pub element: u64,
    /// Its value.
    pub got: String,
    /// Its expected value.
    pub want: String,
    /// Their distance; infinite where one of them is no number, 0 where only the bits differ.
    pub distance: f64,
    /// The same in values of the output's type, where both are numbers.
    pub ulp: Option<u64>,
}

impl Comparison {
    /// Whether every element is within the tolerance.
    pub fn is_equal(&self) -> bool {
        self.different == 0
    }
}

/// Compares an output of an element type with what it should be: an array of the same type, or one of numbers, which are
/// compared by value. The extents of the wanted array count; both have as many elements.
pub fn compare(elem: Elem, got: &Array, want: &Array, tolerance: &Tolerance) -> Result<Comparison> {
    compare_bytes(elem, &got.bytes, want, tolerance)
}

/// The same where the output lies.
pub fn compare_bytes(elem: Elem, got: &[u8], want: &Array, tolerance: &Tolerance) -> Result<Comparison> {
    let own = Reader::Elem(elem);
    let is_same_type = want.holds(elem);
    let reader = if is_same_type { Some(own) } else { want.reader() };
    let Some(reader) = reader else {
        let what = format!("its elements are {}, and the output is {elem}", want.descr);
        return Err(Error::request(what).help(format!("give {} or numbers", accepted(elem))));
    };
    let elements = own.count(got.len());
    if reader.count(want.bytes.len()) != elements {
        let count = reader.count(want.bytes.len());
        let what = format!("it has {count} elements {}, and the output has {elements}", shape_text(&want.shape));
        return Err(Error::request(what).help("compare with an array of the output's extents"));
    }
    let mut found = Comparison { elements, ..Comparison::default() };
    if is_same_type && got == want.bytes {
        return Ok(found);
    }
    let mut shape = want.shape.clone();
    if let (true, true, Some(last)) = (is_same_type, elem.is_fp4(), shape.last_mut()) {
        *last *= 2;
    }
    let ranks = Ranks::of(elem);
    for element in 0..elements {
        let (g, w) = (own.raw(got, element), reader.raw(&want.bytes, element));
        if is_same_type && g == w {
            continue;
        }
        let pair = Pair { got: own.number(g), want: reader.number(w) };
        let rounded = if is_same_type { w } else { elem.encode(pair.want, Overflow::Infinity) };
        let ulp = pair.are_numbers().then(|| ranks.distance(g, rounded));
        if pair.is_near(ulp, tolerance, is_same_type) {
            continue;
        }
        found.different += 1;
        let distance = pair.distance();
        let is_shown =
            found.worst.len() < WORST || found.worst.last().is_some_and(|last| is_worse(distance, last.distance));
        if is_shown {
            let at = found.worst.partition_point(|d| !is_worse(distance, d.distance));
            let [got, want] = texts(own.text(g), reader.text(w), [g, w]);
            let difference = Difference { index: index(element, &shape), element, got, want, distance, ulp };
            found.worst.insert(at, difference);
            found.worst.truncate(WORST);
        }
    }
    Ok(found)
}

fn is_worse(a: f64, b: f64) -> bool {
    a.partial_cmp(&b) == Some(Ordering::Greater)
}

/// Two elements that look alike are shown with their bits.
fn texts(got: String, want: String, bits: [u64; 2]) -> [String; 2] {
    match got == want {
        true => [format!("{got} ({:#x})", bits[0]), format!("{want} ({:#x})", bits[1])],
        false => [got, want],
    }
}

struct Pair {
    got: Number,
    want: Number,
}

fn value(number: Number) -> f64 {
    match number {
        Number::Int(v) => v as f64,
        Number::Float(v) => v,
    }
}

impl Pair {
    fn are_numbers(&self) -> bool {
        !value(self.got).is_nan() && !value(self.want).is_nan()
    }

    fn distance(&self) -> f64 {
        let distance = match (self.got, self.want) {
            (Number::Int(g), Number::Int(w)) => g.abs_diff(w) as f64,
            (g, w) if value(g) == value(w) || value(g).is_nan() && value(w).is_nan() => 0.0,
            (g, w) => (value(g) - value(w)).abs(),
        };
        if distance.is_nan() { f64::INFINITY } else { distance }
    }

    /// Elements of one type have different bits here.
    fn is_near(&self, ulp: Option<u64>, tolerance: &Tolerance, is_same_type: bool) -> bool {
        if tolerance.is_exact() {
            return !is_same_type && self.distance() == 0.0;
        }
        if self.distance() == 0.0 {
            return true;
        }
        let (atol, rtol) = (tolerance.atol.unwrap_or(0.0), tolerance.rtol.unwrap_or(0.0));
        let is_close = self.distance().is_finite() && self.distance() <= atol + rtol * value(self.want).abs();
        is_close || tolerance.ulp.zip(ulp).is_some_and(|(most, ulp)| ulp <= most)
    }
}

/// By bits: how many values of a type are smaller. For most types bits count up with the magnitude.
struct Ranks {
    elem: Elem,
    table: Vec<i64>,
}

impl Ranks {
    fn of(elem: Elem) -> Ranks {
        let mut table = Vec::new();
        // HiFloat8 has its exponents in another order than its bits.
        if elem == Elem::Hif8 {
            let values: Vec<f64> = (0..256).map(|bits| value(elem.decode(bits))).collect();
            let rank = |v: &f64| values.iter().filter(|other| *other < v).count() as i64;
            table = values.iter().map(rank).collect();
        }
        Ranks { elem, table }
    }

    fn rank(&self, bits: u64) -> i128 {
        if let Some(rank) = self.table.get(bits as usize) {
            return (*rank).into();
        }
        match self.elem.decode(bits) {
            Number::Int(v) => v,
            Number::Float(_) if self.elem == Elem::F8e8m0 => bits.into(),
            Number::Float(_) => {
                let sign = 1 << (self.elem.bits() - 1);
                let magnitude = i128::from(bits & (sign - 1));
                if bits & sign == 0 { magnitude } else { -magnitude }
            }
        }
    }

    fn distance(&self, a: u64, b: u64) -> u64 {
        u64::try_from(self.rank(a).abs_diff(self.rank(b))).unwrap_or(u64::MAX)
    }
}

fn index(element: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = element;
    let mut index: Vec<u64> = Vec::new();
    for dim in shape.iter().rev() {
        index.push(rest % dim.max(&1));
        rest /= dim.max(&1);
    }
    index.reverse();
    index
}
