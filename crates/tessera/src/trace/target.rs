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
        let looks = "write NAME[ROW, COLUMN] for a tile or NAME[INDEX] for a buffer";
        let wrong = || Error::request(format!("'{text}' is no element; {looks}"));
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

    pub(crate) fn value(&self, kernel: &Kernel) -> Result<ValueId> {
        let Some(value) = kernel.find(&self.name) else {
            let mut names = kernel.names_with_elements();
            names.dedup();
            return Err(Error::unknown("tile or argument", &self.name, &names));
        };
        let why = match kernel.need(value) {
            _ if kernel.has_elements(value) => return Ok(value),
            Need::Buffer(..) => "is a view; name an element of the argument that it is a view of",
            _ => "is a scalar, and only tiles and buffers have elements",
        };
        Err(Error::request(format!("%{} {why}", self.name)))
    }

    /// Row and column in a tile's declared area; an element of a conv tile lies in its one row.
    pub(crate) fn element(&self, kernel: &Kernel, value: ValueId) -> Result<(u64, u64)> {
        let why = match (kernel.need(value), &*self.index) {
            (Need::Conv(conv), _) => return Ok((0, self.flat(&conv.written_dims())?)),
            (Need::Tile(tile), [row, col]) if *row < tile.rows && *col < tile.cols => return Ok((*row, *col)),
            (Need::Tile(tile), [_, _]) => {
                format!("{self} is outside: {tile} has {} rows and {} columns", tile.rows, tile.cols)
            }
            (Need::Tile(_), all) => format!("{self} has {} indices, and a tile takes a row and a column", all.len()),
            _ => format!("%{} is no tile", self.name),
        };
        Err(Error::request(why))
    }

    /// First byte and length in an argument's contents.
    pub(crate) fn bytes(&self, kernel: &Kernel, value: ValueId, given: &Given) -> Result<(usize, usize)> {
        let Some(elem) = kernel.elem(value) else {
            return Err(Error::request(format!("%{} has no elements", self.name)));
        };
        let dims = given.shape(&self.name).map(<[u64]>::to_vec).or_else(|| kernel.need(value).dims());
        let dims = dims.or_else(|| if self.index.len() > 1 { given.implied_shape(kernel, value) } else { None });
        let index = match (&dims, self.index.as_slice()) {
            (None, [index]) => *index,
            (None, all) => {
                let what = format!("{self} has {} indices, and a pointer takes one", all.len());
                return Err(Error::request(what).missing_is(Missing::Extents(self.name.clone())));
            }
            (Some(dims), _) => self.flat(dims)?,
        };
        let first = index.checked_mul(u64::from(elem.bits())).map(|bits| bits / 8).filter(|byte| *byte < 1 << 32);
        let first = first.ok_or_else(|| Error::request(format!("{self} is outside every buffer")))?;
        Ok((first as usize, elem.bytes_of(1) as usize))
    }

    /// The position in a dense array; one index counts all elements.
    fn flat(&self, dims: &[u64]) -> Result<u64> {
        let shape = || dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let all = dims.iter().try_fold(1u64, |n, d| n.checked_mul(*d)).unwrap_or(u64::MAX);
        let name = &self.name;
        let why = match *self.index {
            [index] if index < all => return Ok(index),
            [_] => format!("{self} is outside: %{name} has {all} elements ({})", shape()),
            _ if self.index.len() != dims.len() => {
                let each = "give one index per dimension, or one for all";
                format!("{self} has {} indices, and %{name} is {}; {each}", self.index.len(), shape())
            }
            _ if self.index.iter().zip(dims).any(|(index, dim)| index >= dim) => {
                format!("{self} is outside: %{name} is {}", shape())
            }
            _ => {
                let inner = |flat: u64, (index, dim): (&u64, &u64)| flat.saturating_mul(*dim).saturating_add(*index);
                return Ok(self.index.iter().zip(dims).fold(0, inner));
            }
        };
        Err(Error::request(why))
    }
}
