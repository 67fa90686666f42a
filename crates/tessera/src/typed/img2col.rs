//! TIMG2COL and the conv tiles it reads (ops.md 7; tile-model.md 7).

use super::element::{pack, unpack};
use super::known::{self, legal};
use super::setters::setters;
use super::{AsTile, Element, Tensor};
use crate::{
    AttrName, Attrs, BLayout, ConvType, Elem, Error, Form, Instruction, Loc, Number, Opcode, RecordEvent, Result, Role,
    SLayout, TileBuf, TileType,
};
use std::marker::PhantomData;

/// An image in L1: a dense array NC1HWC0 or NDC1HWC0. Made by [`Machine::conv_tile`](crate::Machine::conv_tile).
#[derive(Debug)]
pub struct ConvTile<T> {
    buf: TileBuf,
    conv: ConvType,
    types: PhantomData<T>,
}

impl<T: Element> ConvTile<T> {
    pub(crate) fn new(buf: TileBuf, conv: ConvType) -> Self {
        ConvTile { buf, conv, types: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.conv.elements() as usize
    }

    /// Always false: an image has elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes all elements, the last extent fastest.
    pub fn write(&mut self, values: &[T]) -> Result<()> {
        if values.len() != self.len() {
            let what = format!("{} values are given, and the image has {}", values.len(), self.len());
            return Err(Error::new("tload-shape", what).help(format!("give {} values", self.len())));
        }
        Ok(self.buf.machine().state()?.engine.write(self.buf.slot().id, &pack(values))?)
    }

    /// All elements; unwritten ones are 0.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut elements = unpack(&self.buf.data()?.raw);
        elements.truncate(self.len());
        Ok(elements)
    }
}

/// `TLOAD` of a conv tile: a dense copy.
pub fn tload_conv<'a, T: Element>(dst: &mut ConvTile<T>, src: impl Into<Tensor<'a, T>>) -> Result<RecordEvent> {
    let dims = dst.conv.written_dims();
    src.into().load(&dst.buf, &dims)
}

/// The configuration of TIMG2COL: kernel, and what differs from the defaults.
#[derive(Clone, Copy, Debug)]
pub struct Img2col {
    kernel: [i64; 2],
    stride: Option<[i64; 2]>,
    dilation: Option<[i64; 2]>,
    fmap: Option<[i64; 2]>,
    pad: Option<[i64; 4]>,
    pad_value: Option<Number>,
    position: Option<(usize, usize)>,
}

impl Img2col {
    /// A kernel of this height and width, stride and dilation 1, no padding.
    pub const fn kernel(height: i64, width: i64) -> Self {
        Img2col {
            kernel: [height, width],
            stride: None,
            dilation: None,
            fmap: None,
            pad: None,
            pad_value: None,
            position: None,
        }
    }

    setters! {
        /// With this stride, height and width.
        stride(height: i64, width: i64) { stride = Some([height, width]) }
        /// With this dilation, height and width.
        dilation(height: i64, width: i64) { dilation = Some([height, width]) }
        /// For an image of this height and width, which must be the conv tile's (`timg2col-fmap`).
        fmap(height: i64, width: i64) { fmap = Some([height, width]) }
        /// With padding left, right, top and bottom of the image.
        pad(left: i64, right: i64, top: i64, bottom: i64) { pad = Some([left, right, top, bottom]) }
        /// From output position `m` and kernel position `k` on.
        position(m: usize, k: usize) { position = Some((m, k)) }
    }

    /// With this value in the padding.
    pub fn pad_value<T: Element>(mut self, value: T) -> Self {
        self.pad_value = Some(value.number());
        self
    }
}

/// A conv tile as signatures see it: a row in L1.
const fn image(elem: Elem) -> TileType {
    TileType::new(Loc::Mat, elem, 1, 1).with_layout(BLayout::RowMajor, SLayout::NoneBox, 512)
}

/// `TIMG2COL(dst, src, cfg)`: the windows of an image as rows of a Left tile.
///
/// ```
/// use tessera::prelude::*;
///
/// let machine = Machine::new(Profile::A5);
/// let mut image = machine.conv_tile::<f16>(&[1, 1, 4, 4, 16])?;
/// image.write(&[f16::ONE; 256])?;
/// let mut left: Tile<loc::Left, f16, 16, 144> = machine.tile()?;
/// timg2col(&mut left, &image, Img2col::kernel(3, 3).pad(1, 1, 1, 1))?;
/// // The first window's first row lies in the padding.
/// assert_eq!((left.get(0, 0)?, left.get(0, 64)?), (Some(f16::ZERO), Some(f16::ONE)));
/// # Ok::<(), tessera::Error>(())
/// ```
pub fn timg2col<D: AsTile, T: Element>(dst: &mut D, src: &ConvTile<T>, config: Img2col) -> Result<RecordEvent> {
    legal!(known::refused(Opcode::Timg2col, Form::Plain, [(Role::Src, Some(image(T::ELEM))), (Role::Dst, D::KNOWN)]));
    let mut attrs = Attrs::default().with(AttrName::Kernel, config.kernel);
    attrs.set(AttrName::Stride, config.stride);
    attrs.set(AttrName::Dilation, config.dilation);
    attrs.set(AttrName::Pad, config.pad);
    attrs.set(AttrName::PadValue, config.pad_value);
    attrs.set(AttrName::Fmap, config.fmap);
    let inst = Instruction::new(Opcode::Timg2col).tile(Role::Src, &src.buf).tile(Role::Dst, dst.buf()).attrs(attrs);
    match config.position {
        Some((m, k)) => inst.index(Role::PosM, m).index(Role::PosK, k).issue_as(Form::Plain),
        None => inst.issue_as(Form::NoIndex),
    }
}
