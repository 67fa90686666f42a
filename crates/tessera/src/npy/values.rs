//! The numbers of an array, and casts: what `astype` is in numpy.

use super::{Array, Dtype, has_numpy_type, kind_of, shape_text};
use crate::{Elem, Error, Number, Result};
use tessera_isa::codec::Overflow;

/// The interpretation of an array's elements as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Elem(Elem),
    /// binary64, which no tile has.
    F64,
}

impl Reader {
    fn bits(self) -> u64 {
        match self {
            Reader::Elem(elem) => elem.bits().into(),
            Reader::F64 => 64,
        }
    }

    /// The number of elements in this many bytes.
    pub fn count(self, bytes: usize) -> u64 {
        bytes as u64 * 8 / self.bits()
    }

    /// The bits of an element.
    pub fn raw(self, bytes: &[u8], index: u64) -> u64 {
        let first = (index * self.bits() / 8) as usize;
        let len = (self.bits() / 8).max(1) as usize;
        let own = bytes.get(first..first + len).unwrap_or(&[]);
        let bits = own.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        match self.bits() {
            4 if index.is_multiple_of(2) => bits & 15,
            4 => bits >> 4,
            _ => bits,
        }
    }

    pub fn number(self, raw: u64) -> Number {
        match self {
            Reader::Elem(elem) => elem.decode(raw),
            Reader::F64 => Number::Float(f64::from_bits(raw)),
        }
    }

    /// An element as text.
    pub fn text(self, raw: u64) -> String {
        match self {
            Reader::Elem(elem) => elem.format_bits(raw),
            Reader::F64 => format!("{:?}", f64::from_bits(raw)),
        }
    }
}

/// A float type of numpy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Float {
    /// binary16.
    F16,
    /// binary32.
    F32,
    /// binary64.
    F64,
}

impl Float {
    /// The type of a name.
    pub fn parse(name: &str) -> Option<Float> {
        match name {
            "f16" => Some(Float::F16),
            "f32" => Some(Float::F32),
            "f64" => Some(Float::F64),
            _ => None,
        }
    }
}

impl Array {
    /// The interpretation that its own descriptor gives; bits without a meaning (`V2`) have none.
    pub(crate) fn reader(&self) -> Option<Reader> {
        let is_it = |e: &&Elem| match &self.dtype {
            Dtype::Named(name) => e.info().dtype_names.contains(&name.as_str()),
            Dtype::Kind('b', width) => **e == Elem::U8 && *width == 1,
            Dtype::Kind(kind, width) => has_numpy_type(**e) && kind_of(**e) == *kind && e.size() == Some(*width as u64),
        };
        match self.dtype {
            Dtype::Kind('f', 8) => Some(Reader::F64),
            _ => Elem::ALL.iter().find(is_it).map(|e| Reader::Elem(*e)),
        }
    }

    /// The array with every number as the nearest one of an element type. Beyond the largest one it becomes what the type
    /// has for that: infinity, else NaN, else the largest (fp4). An integer type takes integers in its range only.
    ///
    /// ```
    /// use tessera::npy::Array;
    /// use tessera::Elem;
    ///
    /// let array = Array::new(&[2], &[1.0f32, -0.1])?.cast(Elem::Bf16)?;
    /// assert_eq!(array.bytes, [0x80, 0x3F, 0xCD, 0xBD]);
    /// # Ok::<(), tessera::Error>(())
    /// ```
    pub fn cast(&self, elem: Elem) -> Result<Array> {
        let Some(reader) = self.reader() else {
            let what = format!("its elements are {}, bits without a value, and cannot be cast", self.descr);
            return Err(Error::request(what).help("leave the cast out to take them as they are"));
        };
        if elem.is_fp4() && self.shape.last().is_none_or(|last| last % 2 == 1) {
            let shape = shape_text(&self.shape);
            let what = format!("its shape is {shape}, and rows of {elem} have two elements in a byte");
            return Err(Error::request(what).help("make the last extent even"));
        }
        let encoded = |index: u64| {
            let number = reader.number(reader.raw(&self.bytes, index));
            if elem.is_float() {
                return Ok(elem.encode(number, Overflow::Infinity));
            }
            elem.encode_exact(&number).ok_or_else(|| {
                let what = format!("its element {index} is {}, which {elem} does not hold", shown(number));
                Error::request(what).help("cast it in numpy, where it can be rounded or cut as you like")
            })
        };
        let count = reader.count(self.bytes.len());
        let mut bytes = Vec::with_capacity(elem.bytes_of(count) as usize);
        for index in 0..count {
            let bits = encoded(index)?;
            match (elem.size(), index % 2) {
                (Some(size), _) => bytes.extend(bits.to_le_bytes().into_iter().take(size as usize)),
                (None, 0) => bytes.push(bits as u8),
                (None, _) => bytes.last_mut().into_iter().for_each(|byte| *byte |= (bits << 4) as u8),
            }
        }
        Ok(Array::of_elem(elem, self.shape.clone(), bytes))
    }

    /// An array of an element type as one that numpy calculates with; the last extent counts elements again.
    pub fn widened(&self, elem: Elem, to: Float) -> Array {
        let reader = Reader::Elem(elem);
        let numbers = (0..reader.count(self.bytes.len())).map(|i| reader.number(reader.raw(&self.bytes, i)));
        let value = |number: Number| match number {
            Number::Int(v) => v as f64,
            Number::Float(v) => v,
        };
        let mut shape = self.shape.clone();
        if let (true, Some(last)) = (elem.is_fp4(), shape.last_mut()) {
            *last *= 2;
        }
        let (descr, width) = match to {
            Float::F16 => ("<f2", 2),
            Float::F32 => ("<f4", 4),
            Float::F64 => ("<f8", 8),
        };
        let bytes = match to {
            Float::F16 => encode(numbers, Elem::F16),
            Float::F32 => encode(numbers, Elem::F32),
            Float::F64 => numbers.flat_map(|n| value(n).to_le_bytes()).collect(),
        };
        Array { dtype: Dtype::Kind('f', width), descr: descr.into(), shape, bytes }
    }
}

fn encode(numbers: impl Iterator<Item = Number>, elem: Elem) -> Vec<u8> {
    let size = elem.bytes_of(1) as usize;
    numbers.flat_map(|n| elem.encode(n, Overflow::Infinity).to_le_bytes().into_iter().take(size)).collect()
}

fn shown(number: Number) -> String {
    match number {
        Number::Int(v) => v.to_string(),
        Number::Float(v) => format!("{v:?}"),
    }
}
