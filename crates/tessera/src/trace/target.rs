//! The element that is asked for: `%dst[3, 5]`, `%dst@1[3, 5]`, `dst_gm[17]`.

use crate::error::{Error, Missing, Result};
use crate::program::{Kernel, Need};
use crate::symbolic::Given;
use std::fmt;
use tessera_ir::ValueId;

/// A name with an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name, without `%`.
    pub name: String,
    /// The vector core.
    pub core: u8,
    /// The index, outermost first.
    pub index: Vec<u64>,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index: Vec<String> = self.index.iter().map(u64::to_string).collect();
        let core = if self.core == 1 { "@1" } else { "" };
        write!(f, "%{}{core}[{}]", self.name, index.join(", "))
    }
}

impl Target {
    /// Reads one, or says what it looks like.
    ///
    /// ```
    /// use tessera::trace::Target;
    ///
    /// let target = Target::parse("%dst@1[3, 5]").unwrap();
    /// assert_eq!((target.name.as_str(), target.core, &target.index[..]), ("dst", 1, &[3, 5][..]));
    /// assert!(Target::parse("dst").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Target> {
        let wrong = || {
            let what =
                format!("'{text}' is no element; write NAME[ROW, COLUMN] for a tile or NAME[INDEX] for a buffer");
            Error::request(what)
        };
        let text = text.trim();
        let (name, index) = text.strip_suffix(']').and_then(|t| t.split_once('[')).ok_or_else(wrong)?;
        let name = name.trim();
        let name = name.strip_prefix('%').unwrap_or(name);
        let (name, core) = match name.strip_suffix("@1") {
            Some(name) => (name, 1),
            None => (name.strip_suffix("@0").unwrap_or(name), 0),
        };
        let index: Option<Vec<u64>> = index.split(',').map(|i| i.trim().parse().ok()).collect();
        match index {
            Some(index) if !name.is_empty() => Ok(Target { name: name.to_string(), core, index }),
            _ => Err(wrong()),
        }
    }

    /// The tile or argument that it names.
    pub(crate) fn value(&self, kernel: &Kernel) -> Result<ValueId> {
        let func = kernel.func();
        let is_data = |v: &ValueId| match kernel.need(*v) {
            Need::Tile(_) | Need::Conv(_) => true,
            Need::Buffer(..) => func.args.contains(v),
            Need::Scalar(_) | Need::Nothing => false,
        };
        if let Some(value) = kernel.find(&self.name) {
            return match kernel.need(value) {
                _ if is_data(&value) => Ok(value),
                Need::Buffer(..) => Err(Error::request(format!(
                    "%{} is a view; name an element of the argument that it is a view of",
                    self.name
                ))),
                _ => {
                    Err(Error::request(format!("%{} is a scalar, and only tiles and buffers have elements", self.name)))
                }
            };
        }
        let mut names: Vec<&str> =
            (0..func.values.len() as u32).map(ValueId).filter(is_data).map(|v| kernel.name(v)).collect();
        names.dedup();
        Err(Error::unknown("tile or argument", &self.name, &names))
    }

    /// Row and column in a tile's declared area; an element of a conv tile lies in its one row.
    pub(crate) fn element(&self, kernel: &Kernel, value: ValueId) -> Result<(u64, u64)> {
        match kernel.need(value) {
            Need::Conv(conv) => Ok((0, self.flat(&conv.written_dims())?)),
            Need::Tile(tile) => match *self.index {
                [row, col] if row < tile.rows && col < tile.cols => Ok((row, col)),
                [_, _] => Err(Error::request(format!(
                    "{self} is outside: {tile} has {} rows and {} columns",
                    tile.rows, tile.cols
                ))),
                _ => Err(Error::request(format!(
                    "{self} has {} indices, and a tile takes a row and a column",
                    self.index.len()
                ))),
            },
            _ => Err(Error::request(format!("%{} is no tile", self.name))),
        }
    }

    /// First byte and length in an argument's contents.
    pub(crate) fn bytes(&self, kernel: &Kernel, value: ValueId, given: &Given) -> Result<(usize, usize)> {
        let shape = given.shapes.iter().find(|(n, _)| *n == self.name).map(|(_, s)| s.clone());
        let (elem, dims) = match kernel.need(value) {
            Need::Tile(tile) => {
                let own = [tile.v_row.known().unwrap_or(tile.rows), tile.v_col.known().unwrap_or(tile.cols)];
                (tile.elem, Some(shape.unwrap_or(own.to_vec())))
            }
            Need::Conv(conv) => (conv.elem, Some(conv.written_dims().to_vec())),
            Need::Buffer(elem, dims) => {
                let known = dims.and_then(|d| d.into_iter().collect::<Option<Vec<u64>>>());
                (elem, shape.or(known))
            }
            Need::Scalar(_) | Need::Nothing => return Err(Error::request(format!("%{} has no elements", self.name))),
        };
        let index = match (&dims, self.index.as_slice()) {
            (None, [index]) => *index,
            (None, _) => {
                let what = format!("{self} has {} indices, and a pointer takes one", self.index.len());
                return Err(Error::request(what).missing_is(Missing::Extents(self.name.clone())));
            }
            (Some(dims), _) => self.flat(dims)?,
        };
        let first = index.checked_mul(u64::from(elem.bits())).map(|bits| bits / 8);
        let first =
            first.filter(|b| *b < 1 << 32).ok_or_else(|| Error::request(format!("{self} is outside every buffer")))?;
        Ok((first as usize, elem.size().unwrap_or(1) as usize))
    }

    /// The position in a dense array; one index counts all elements.
    fn flat(&self, dims: &[u64]) -> Result<u64> {
        let shape = || dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let all = dims.iter().try_fold(1u64, |n, d| n.checked_mul(*d)).unwrap_or(u64::MAX);
        if let [index] = *self.index {
            return match index < all {
                true => Ok(index),
                false => {
                    Err(Error::request(format!("{self} is outside: %{} has {all} elements ({})", self.name, shape())))
                }
            };
        }
        if self.index.len() != dims.len() {
            return Err(Error::request(format!(
                "{self} has {} indices, and %{} is {}; give one index per dimension, or one for all",
                self.index.len(),
                self.name,
                shape()
            )));
        }
        let mut flat = 0u64;
        for (index, dim) in self.index.iter().zip(dims) {
            if index >= dim {
                return Err(Error::request(format!("{self} is outside: %{} is {}", self.name, shape())));
            }
            flat = flat.saturating_mul(*dim).saturating_add(*index);
        }
        Ok(flat)
    }
}
