//! Typed tiles and the intrinsics.
//!
//! A [`Tile`] has its location, element type, declared shape and layout as its Rust type, as the C++ template has. What
//! these decide on every profile is decided by the compiler: the message starts with the rule's id, and the note below it
//! names the types.
//!
//! ```compile_fail
//! use tessera::prelude::*;
//!
//! let machine = Machine::new(Profile::Cpu);
//! // error: tile-align: without boxes, the bytes of the major dimension are a multiple of 32 …
//! let tile: Tile<loc::Vec, f32, 16, 2> = machine.tile().unwrap();
//! ```
//!
//! Everything else — what one profile forbids, indices, valid regions, values — is an [`Error`].
//! Destinations come first, as in C++. Every intrinsic takes [`TileBuf`]s too.
//!
//! Scalars are Rust numbers and keep their type, and words are arguments:
//!
//! ```
//! use tessera::prelude::*;
//!
//! let machine = Machine::new(Profile::A5);
//! let mut x: Tile<loc::Vec, f32, 1, 8> = machine.tile()?;
//! let mut half: Tile<loc::Vec, f32, 1, 8> = machine.tile()?;
//! let mut whole: Tile<loc::Vec, i32, 1, 8> = machine.tile()?;
//! x.write(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
//! tmuls(&mut half, &x, 0.5f32)?;
//! tcvt(&mut whole, &half, Rounding::Rint)?;
//! assert_eq!(whole.to_vec()?, [0, 1, 2, 2, 2, 3, 4, 4]);
//! # Ok::<(), tessera::Error>(())
//! ```

pub(crate) mod element;
mod generated;
mod global;
mod img2col;
mod intrinsic;
pub(crate) mod known;
mod marker;
mod moves;
mod operand;
mod rearrange;
pub(crate) mod setters;

pub use element::{Element, F4E1M2, F4E2M1, F8E4M3, F8E5M2, F8E8M0, Hif8};
pub use generated::*;
pub use global::{Tensor, TensorMut, tgetval, tload, tstore};
pub use img2col::{ConvTile, Img2col, timg2col, tload_conv};
pub use marker::{LayoutMarker, Location, layout, loc};
pub use moves::*;
pub use operand::{Operand, TileOrValue};
pub use rearrange::*;

use crate::{Error, Result, TileBuf, TileType};
use std::fmt;
use std::marker::PhantomData;

pub(crate) mod sealed {
    /// The types of the tile model are a closed set.
    pub trait Sealed {}
}

/// The tile operands of intrinsics: a [`Tile`], or a [`TileBuf`] whose type is known at run time.
pub trait AsTile {
    /// The facts of the Rust type; none for a [`TileBuf`].
    const KNOWN: Option<TileType>;

    /// The tile.
    fn buf(&self) -> &TileBuf;
}

/// A tile of `R` × `C` elements `T` at location `L`, laid out as `Lay` says.
///
/// Tiles are made by [`Machine::tile`](crate::Machine::tile). A tile's contents are undefined until something writes
/// them. Its **valid region** is what instructions read and write; at first it is all of the declared area.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::Cpu);
/// let mut tile: Tile<loc::Vec, i16, 16, 32, layout::Nz> = machine.tile()?;
/// tile.set_valid(1, 3)?;
/// tile.write(&[5, 6, 7])?;
/// assert_eq!(tile.to_vec()?, [5, 6, 7]);
/// assert_eq!(tile.set_valid(17, 3).unwrap_err().rule(), "valid-range");
/// # Ok::<(), tessera::Error>(())
/// ```
pub struct Tile<L, T, const R: usize, const C: usize, Lay = layout::Usual> {
    buf: TileBuf,
    types: PhantomData<(L, T, Lay)>,
}

impl<L: Location, T: Element, const R: usize, const C: usize, Lay: LayoutMarker> Tile<L, T, R, C, Lay> {
    /// The type as a value.
    pub const TYPE: TileType = {
        let ty = TileType::new(L::LOC, T::ELEM, R as u64, C as u64);
        match Lay::ORDER {
            Some((outer, inner, fractal)) => ty.with_layout(outer, inner, fractal),
            None => ty,
        }
    };

    pub(crate) fn new(buf: TileBuf) -> Self {
        Tile { buf, types: PhantomData }
    }

    /// Valid rows and columns; `valid-unset` where they were never set.
    pub fn valid(&self) -> Result<(usize, usize)> {
        self.buf.valid()
    }

    /// Sets the valid region; `valid-range` where it leaves the declared area or the type fixes it.
    pub fn set_valid(&mut self, rows: usize, cols: usize) -> Result<()> {
        self.buf.set_valid(rows, cols)
    }

    /// The valid region, row by row; unwritten elements are 0 (see [`Tile::defined`]).
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.buf.to_vec()
    }

    /// The valid region as vector core 1 sees it, which only an AccToVecMode writes (fixpipe.md 6).
    pub fn to_vec_core1(&self) -> Result<Vec<T>> {
        let data = self.buf.data_on(1)?;
        Ok(crate::dynamic::elements(&data.elements, data.rows, data.cols))
    }

    /// For each element of the valid region, row by row: whether it is written.
    pub fn defined(&self) -> Result<Vec<bool>> {
        let elements = self.elements()?;
        Ok(elements.iter().map(Option::is_some).collect())
    }

    /// An element of the valid region; `None` if it is unwritten.
    pub fn get(&self, row: usize, col: usize) -> Result<Option<T>> {
        let (rows, cols) = self.valid()?;
        if row >= rows || col >= cols {
            let what = format!("element ({row}, {col}) is outside the valid region of {rows}x{cols}");
            return Err(Error::new("valid-range", what).help("read inside the valid region"));
        }
        Ok(self.elements()?.get(row * cols + col).copied().flatten())
    }

    /// The valid region, row by row; `None` for unwritten elements.
    fn elements(&self) -> Result<Vec<Option<T>>> {
        let data = self.buf.data()?;
        let values: Vec<T> = crate::dynamic::elements(&data.elements, data.rows, data.cols);
        let masks: Vec<T> = crate::dynamic::elements(&data.defined, data.rows, data.cols);
        let whole = |mask: &T| mask.to_element_bits() == T::ELEM.mask();
        let pairs = values.into_iter().zip(&masks);
        Ok(pairs.map(|(v, mask)| whole(mask).then_some(v)).collect())
    }

    /// Writes the valid region, row by row: a test's way to fill any tile. Programs use [`tload`].
    pub fn write(&mut self, values: &[T]) -> Result<()> {
        self.buf.write(values)
    }

    /// The declared bytes as they lie in memory; undefined ones are 0.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.buf.data()?.raw)
    }

    /// Writes the declared bytes as they lie in memory.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.buf.write_raw(bytes)
    }

    /// The tile without its Rust type.
    pub fn into_buf(self) -> TileBuf {
        self.buf
    }
}

impl<L: Location, T: Element, const R: usize, const C: usize, Lay: LayoutMarker> AsTile for Tile<L, T, R, C, Lay> {
    const KNOWN: Option<TileType> = Some(Self::TYPE);

    fn buf(&self) -> &TileBuf {
        &self.buf
    }
}

impl<L: Location, T: Element, const R: usize, const C: usize, Lay: LayoutMarker> fmt::Debug for Tile<L, T, R, C, Lay> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.buf.tile_type() {
            Ok(tile) => write!(f, "Tile({tile})"),
            Err(_) => f.write_str("Tile"),
        }
    }
}
