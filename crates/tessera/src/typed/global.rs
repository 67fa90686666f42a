//! TLOAD and TSTORE: slices as global memory (tile-model.md 7).

use super::element::{pack, unpack};
use super::intrinsic::gets;
use super::known::{self, legal};
use super::{AsTile, Element};
use crate::dynamic::{TileBuf, saturated};
use crate::{Error, RecordEvent, Result, Role};
use tessera_isa::inst::{GlobalArg, Inst, ViewTag};

/// A slice as a view of global memory that [`tload`] reads.
///
/// A bare slice is the tile's valid region, row by row. With a shape it is a view of one to five dimensions; strides
/// count elements and are row-major unless given. Of an odd number of fp4 elements the last one has no whole byte and
/// cannot be reached.
///
/// ```
/// use tessera::prelude::*;
///
/// // Every other element of the first two rows of a 4 × 16 matrix.
/// let matrix: Vec<i32> = (0..64).collect();
/// let machine = Machine::new(Profile::Cpu);
/// let mut tile: Tile<loc::Vec, i32, 2, 8> = machine.tile()?;
/// tload(&mut tile, Tensor::new(&matrix).shape(&[2, 8]).strides(&[16, 2]))?;
/// assert_eq!(tile.to_vec()?[6..10], [12, 14, 16, 18]);
///
/// let beyond = Tensor::new(&matrix).shape(&[2, 8]).strides(&[16, 8]);
/// assert_eq!(tload(&mut tile, beyond).unwrap_err().rule(), "gm-bounds");
/// # Ok::<(), tessera::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tensor<'a, T> {
    data: &'a [T],
    view: View,
}

/// A slice as a view of global memory that [`tstore`] writes; see [`Tensor`].
#[derive(Debug)]
pub struct TensorMut<'a, T> {
    data: &'a mut [T],
    view: View,
}

/// The selected elements of a slice, in order.
#[derive(Clone, Debug)]
struct View {
    shape: Option<Vec<usize>>,
    strides: Option<Vec<i64>>,
    offset: usize,
    tag: ViewTag,
}

const WHOLE: View = View { shape: None, strides: None, offset: 0, tag: ViewTag::Nd };

macro_rules! view_builder {
    () => {
        /// With these extents, outermost first.
        pub fn shape(mut self, extents: &[usize]) -> Self {
            self.view.shape = Some(extents.to_vec());
            self
        }

        /// With these distances between neighbours of each dimension, in elements.
        pub fn strides(mut self, strides: &[i64]) -> Self {
            self.view.strides = Some(strides.to_vec());
            self
        }

        /// Starting at this element of the slice.
        pub fn offset(mut self, element: usize) -> Self {
            self.view.offset = element;
            self
        }

        /// With this layout tag.
        pub fn tag(mut self, tag: ViewTag) -> Self {
            self.view.tag = tag;
            self
        }
    };
}

impl<'a, T: Element> Tensor<'a, T> {
    /// The whole slice.
    pub fn new(data: &'a [T]) -> Self {
        Tensor { data, view: WHOLE }
    }
    view_builder!();

    pub(crate) fn load(self, tile: &TileBuf, dense: &[u64]) -> Result<RecordEvent> {
        let (machine, tiles) = (tile.machine(), [(Role::Dst, tile.slot().id)]);
        self.read(dense, |view, bytes| machine.state()?.transfer(Inst::tload(machine.profile()), &tiles, view, bytes))?;
        Ok(RecordEvent::new())
    }
}

impl<T: Element> Tensor<'_, T> {
    /// Gives an instruction the view and its bytes.
    pub(crate) fn read(self, dense: &[u64], f: impl FnOnce(GlobalArg, &mut [u8]) -> Result<()>) -> Result<()> {
        f(self.view.arg::<T>(dense)?, &mut pack(whole_bytes(self.data)))
    }
}

impl<'a, T: Element> TensorMut<'a, T> {
    /// The whole slice.
    pub fn new(data: &'a mut [T]) -> Self {
        TensorMut { data, view: WHOLE }
    }
    view_builder!();

    /// Gives an instruction the view and its bytes, and puts back what it made of them.
    pub(crate) fn change(self, dense: &[u64], f: impl FnOnce(GlobalArg, &mut [u8]) -> Result<()>) -> Result<()> {
        let arg = self.view.arg::<T>(dense)?;
        let mut bytes = pack(whole_bytes(self.data));
        f(arg, &mut bytes)?;
        for (element, stored) in self.data.iter_mut().zip(unpack(&bytes)) {
            *element = stored;
        }
        Ok(())
    }
}

/// The part of a slice that is made of whole bytes.
fn whole_bytes<T: Element>(data: &[T]) -> &[T] {
    match data.split_last() {
        Some((_, even)) if T::ELEM.is_fp4() && data.len() % 2 == 1 => even,
        _ => data,
    }
}

impl View {
    /// The view as an operand; without a shape it is dense.
    fn arg<T: Element>(&self, dense: &[u64]) -> Result<GlobalArg> {
        let dims: Vec<u64> = match &self.shape {
            Some(shape) => shape.iter().map(|n| *n as u64).collect(),
            None => dense.to_vec(),
        };
        let least = match self.tag {
            ViewTag::Nd => 1,
            ViewTag::Dn => 2,
            ViewTag::Nz => 5,
        };
        // A conv tile's view has its six dimensions, and comes without a shape.
        let most = if self.shape.is_some() { 5 } else { dims.len() };
        if dims.len() < least || dims.len() > most {
            let (tag, n) = (self.tag, dims.len());
            let what = format!("a view tagged {tag} has {least} to 5 dimensions, and this one has {n}");
            return Err(Error::new("tload-shape", what).help("give its shape and strides"));
        }
        let strides = match &self.strides {
            Some(strides) if strides.len() == dims.len() => strides.clone(),
            Some(strides) => {
                let what = format!("the view has {} dimensions and {} strides", dims.len(), strides.len());
                return Err(Error::new("tload-shape", what).help("give one stride for each dimension"));
            }
            // Columns of a bare slice lie one after the other.
            None if self.tag == ViewTag::Dn && self.shape.is_none() => {
                let rows = dims.first().copied().unwrap_or(1);
                vec![1, i64::try_from(rows).unwrap_or(i64::MAX)]
            }
            None => row_major(&dims),
        };
        Ok(GlobalArg {
            elem: T::ELEM,
            tag: self.tag,
            dims: dims.into_iter().map(Some).collect(),
            strides: strides.into_iter().map(Some).collect(),
            offset: Some(saturated(self.offset)),
            buffer: None,
        })
    }
}

fn row_major(dims: &[u64]) -> Vec<i64> {
    let mut strides = vec![1i64; dims.len()];
    for n in (1..dims.len()).rev() {
        strides[n - 1] = strides[n].saturating_mul(i64::try_from(dims[n]).unwrap_or(i64::MAX));
    }
    strides
}

/// Slices, vectors and arrays are views of all that they hold.
macro_rules! whole {
    ($($view:ident: $([$($array:tt)*] $data:ty),*;)*) => {$($(
        impl<'a, T: Element, $($array)*> From<$data> for $view<'a, T> {
            fn from(data: $data) -> Self {
                $view::new(data)
            }
        }
    )*)*};
}
whole! {
    Tensor: [] &'a [T], [] &'a Vec<T>, [const N: usize] &'a [T; N];
    TensorMut: [] &'a mut [T], [] &'a mut Vec<T>, [const N: usize] &'a mut [T; N];
}

gets! {
    /// `GETVAL(src, index)`: an element in storage order as a scalar; `undefined-use` where nobody has written it.
    ///
    /// ```
    /// use tessera::prelude::*;
    ///
    /// let machine = Machine::new(Profile::Cpu);
    /// let mut tile: Tile<loc::Vec, i32, 2, 8> = machine.tile()?;
    /// tsetval(&mut tile, 9, 7)?;
    /// assert_eq!(tgetval::<_, i32>(&tile, 9)?, 7);
    /// assert_eq!(tgetval::<_, i32>(&tile, 8).unwrap_err().rule(), "undefined-use");
    /// assert_eq!(tgetval::<_, i32>(&tile, 16).unwrap_err().rule(), "tgetval-index");
    /// # Ok::<(), tessera::Error>(())
    /// ```
    tgetval = Tgetval;
}

/// `TLOAD(dst, src)`: a slice or a [`Tensor`] into the tile's valid region; padding becomes the tile's pad value where it
/// has one.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A5);
/// let mut tile: Tile<loc::Vec, f32, 8, 8> = machine.tile()?;
/// tload(&mut tile, &[0.5f32; 64])?;
/// assert_eq!(tload(&mut tile, &[0.5f32; 63]).unwrap_err().rule(), "gm-bounds");
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn tload<'a, D: AsTile, T: Element>(dst: &mut D, src: impl Into<Tensor<'a, T>>) -> Result<RecordEvent> {
    legal!(known::transfer(D::KNOWN, T::ELEM, "tload-dtype", false));
    let (rows, cols) = dst.buf().valid()?;
    src.into().load(dst.buf(), &[rows as u64, cols as u64])
}

/// `TSTORE(dst, src)`: the tile's valid region into a slice or a [`TensorMut`]. Elements that nobody has written are
/// stored as 0, with a warning (`undefined-read`).
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A5);
/// let mut tile: Tile<loc::Vec, i32, 1, 8> = machine.tile()?;
/// tile.write(&[1, 2, 3, 4, 5, 6, 7, 8])?;
/// let mut out = vec![0; 24];
/// tstore(TensorMut::new(&mut out).shape(&[1, 8]).strides(&[24, 3]), &tile)?;
/// assert_eq!(out[..7], [1, 0, 0, 2, 0, 0, 3]);
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn tstore<'a, S: AsTile, T: Element>(dst: impl Into<TensorMut<'a, T>>, src: &S) -> Result<RecordEvent> {
    legal!(known::transfer(S::KNOWN, T::ELEM, "tstore-dtype", true));
    let (rows, cols) = src.buf().valid()?;
    let (machine, tiles) = (src.buf().machine(), [(Role::Src, src.buf().slot().id)]);
    dst.into().change(&[rows as u64, cols as u64], |view, bytes| {
        machine.state()?.transfer(Inst::tstore(machine.profile()), &tiles, view, bytes)
    })?;
    Ok(RecordEvent::new())
}
