//! Binding: the needs of a kernel's arguments, and whether the inputs fit (syntax.md 4).

use super::{Extents, Kernel};
use crate::fill::Fill;
use crate::npy::{self, Array};
use crate::{ConvType, Elem, Error, Missing, Result};
use tessera_interp::Input;
use tessera_ir::scalar::Constants;
use tessera_ir::{ScalarType, Sign, Type, ValueId};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::inst::scalar_number;
use tessera_isa::ops::Opcode;
use tessera_isa::tile::{Extent, Tile};

/// The number given for a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// A number.
    Number(Number),
    /// The bits of a float, or an integer: `0x…`.
    Bits(u64),
}

impl<T: Into<Number>> From<T> for Literal {
    fn from(number: T) -> Self {
        Literal::Number(number.into())
    }
}

/// The kinds of inputs that can be bound to a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Need {
    /// A scalar.
    Scalar(ScalarType),
    /// The buffer behind a pointer (no extents) or a view (extents, where known).
    Buffer(Elem, Option<Vec<Option<u64>>>),
    /// A tile.
    Tile(Tile),
    /// A conv tile.
    Conv(ConvType),
    /// Nothing: an event.
    Nothing,
}

impl Need {
    pub(crate) fn is_tile(&self) -> bool {
        matches!(self, Need::Tile(_) | Need::Conv(_))
    }

    /// The extents of the contents, where the type says all of them; a tile's are those of its valid region.
    pub fn dims(&self) -> Option<Vec<u64>> {
        match self {
            Need::Tile(t) => Some(vec![t.v_row.known().unwrap_or(t.rows), t.v_col.known().unwrap_or(t.cols)]),
            Need::Conv(conv) => Some(conv.written_dims().to_vec()),
            Need::Buffer(_, Some(dims)) => dims.iter().copied().collect(),
            _ => None,
        }
    }
}

impl Kernel {
    /// The kind of input that can be bound to a value.
    pub fn need(&self, value: ValueId) -> Need {
        match self.module().types.get(self.func().value(value).ty) {
            Type::Scalar(ty) => Need::Scalar(*ty),
            Type::Tile(ty) => Need::Tile(ty.resolve(self.profile())),
            ty @ Type::Vector(..) => ty.on(self.profile()).map_or(Need::Nothing, Need::Tile),
            Type::Conv(conv) => Need::Conv(*conv),
            Type::Ptr(elem, _) => Need::Buffer(*elem, None),
            Type::View(view) => Need::Buffer(view.elem, Some(view.dims.to_vec())),
            // A strided memref's buffer has room between the elements; the file is the buffer.
            Type::Memref(memref) if memref.strided.is_some() => Need::Buffer(memref.elem, None),
            Type::Memref(memref) => Need::Buffer(memref.elem, Some(memref.dims.to_vec())),
            Type::Event | Type::Opaque(_) | Type::Micro(_) | Type::Multi(..) => Need::Nothing,
        }
    }

    /// The element type of what a value holds.
    pub fn elem(&self, value: ValueId) -> Option<Elem> {
        match self.need(value) {
            Need::Tile(Tile { elem, .. }) | Need::Conv(ConvType { elem, .. }) | Need::Buffer(elem, _) => Some(elem),
            Need::Scalar(_) | Need::Nothing => None,
        }
    }

    /// The tiles, and the arguments with a buffer: what has elements that can be asked for.
    pub(crate) fn has_elements(&self, value: ValueId) -> bool {
        let need = self.need(value);
        need.is_tile() || matches!(need, Need::Buffer(..)) && self.func().args.contains(&value)
    }

    /// The names of all that has elements.
    pub(crate) fn names_with_elements(&self) -> Vec<&str> {
        let values = (0..self.func().values.len() as u32).map(ValueId);
        values.filter(|v| self.has_elements(*v)).map(|v| self.name(v)).collect()
    }

    /// The program's own outputs: a listing's outputs, the buffers that a kernel writes.
    pub fn outputs(&self) -> Vec<ValueId> {
        if self.module().is_listing {
            return self.func().outputs.clone();
        }
        self.arguments().iter().filter(|a| a.is_written).map(|a| a.value).collect()
    }

    /// The argument or input of a name, with or without `%`.
    pub fn argument(&self, name: &str) -> Result<ValueId> {
        let name = name.strip_prefix('%').unwrap_or(name);
        let arguments = &self.func().args;
        let names: Vec<&str> = arguments.iter().map(|v| self.name(*v)).collect();
        let found = arguments.iter().zip(&names).find(|(_, n)| **n == name);
        found.map(|(v, _)| *v).ok_or_else(|| Error::unknown("input", name, &names))
    }

    /// The tile of a name, or the argument whose buffer is meant.
    pub fn result(&self, name: &str) -> Result<ValueId> {
        let Some(value) = self.find(name) else {
            let is_data = |v: &ValueId| !matches!(self.need(*v), Need::Scalar(_) | Need::Nothing);
            let values = (0..self.func().values.len() as u32).map(ValueId).filter(is_data);
            let mut names: Vec<&str> = values.map(|v| self.name(v)).collect();
            names.dedup();
            return Err(Error::unknown("value", name, &names));
        };
        let refuse = |why: &str| Err(Error::request(format!("%{} {why}", self.name(value))));
        match self.need(value) {
            _ if self.has_elements(value) => Ok(value),
            Need::Buffer(..) => refuse("is a view").map_err(|e| e.missing_is(Missing::Argument(name.into()))),
            _ => refuse("is a scalar, and only tiles and buffers can be put out"),
        }
    }

    /// The input that the `?` extents of a tile are, which has no contents yet (isa/structure.md 3).
    pub fn bind_valid(&self, value: ValueId, rows: u64, cols: u64) -> Result<Input> {
        let name = self.name(value);
        let Need::Tile(tile) = self.need(value) else {
            return Err(Error::request(format!("%{name} is no tile, and only tiles have a valid region")));
        };
        let fits = |extent: Extent, n: u64, declared: u64| extent.known().map_or(n <= declared, |v| v == n);
        if !fits(tile.v_row, rows, tile.rows) || !fits(tile.v_col, cols, tile.cols) {
            let side =
                |extent: Extent, declared: u64| extent.known().map_or(format!("up to {declared}"), |v| v.to_string());
            let (r, c) = (side(tile.v_row, tile.rows), side(tile.v_col, tile.cols));
            return Err(Error::request(format!("%{name} ({tile}) takes ({r}, {c}), and ({rows}, {cols}) is given")));
        }
        Ok(Input::Valid { rows, cols })
    }

    /// The input that the `?` strides and the `?` offset of a memref are (isa/structure.md 3); without strides it is dense.
    pub fn bind_strides(&self, value: ValueId, strides: Vec<i64>, offset: i64) -> Result<Input> {
        let name = self.name(value);
        let strided = match self.module().types.get(self.func().value(value).ty) {
            Type::Memref(memref) => memref.strided.as_ref(),
            _ => None,
        };
        let Some(strided) = strided else {
            return Err(Error::request(format!("%{name} is no memref with strided<…>, and only those have strides")));
        };
        if !strides.is_empty() && strides.len() != strided.strides.len() {
            let what = format!("%{name} has {} strides, and {} are given", strided.strides.len(), strides.len());
            return Err(Error::request(what));
        }
        for (k, (written, given)) in strided.strides.iter().zip(&strides).enumerate() {
            if let Some(written) = written.filter(|w| w != given) {
                return Err(Error::request(format!("stride {k} of %{name} is {written}, and {given} is given")));
            }
        }
        if let Some(written) = strided.offset.filter(|w| *w != offset && offset != 0) {
            return Err(Error::request(format!("%{name} starts at {written}, and {offset} is given")));
        }
        Ok(Input::Strides { strides, offset })
    }

    /// The input that contents made up for an argument are: of these extents, else of those that the program implies.
    /// None where they are not known before the run.
    pub fn bind_fill(
        &self,
        value: ValueId,
        fill: Fill,
        shape: Option<&[u64]>,
        extents: &[Extents],
    ) -> Result<Option<Input>> {
        let place = self.func().args.iter().position(|v| *v == value);
        let Some((elem, place)) = self.elem(value).zip(place) else {
            let name = self.name(value).to_string();
            return Err(match self.need(value) {
                Need::Scalar(_) => Error::request(format!("%{name} is a scalar")).missing_is(Missing::Value(name)),
                _ => Error::request(format!("%{name} has no contents that could be filled")),
            });
        };
        let implied = extents.get(place).cloned().and_then(Extents::known);
        let Some(shape) = shape.map(<[u64]>::to_vec).or(implied) else { return Ok(None) };
        // Without a seed every argument has its own.
        let array = fill.seeded(place as u64).array(elem, &shape)?;
        self.bind(value, &shape, array.bytes).map(Some)
    }

    /// The input that an array is for a value.
    pub fn bind_array(&self, value: ValueId, array: Array) -> Result<Input> {
        let mut shape = array.shape.clone();
        if let Some(elem) = self.elem(value) {
            if !array.holds(elem) {
                let (name, wanted) = (self.name(value), npy::accepted(elem));
                let what = format!("its elements are {}, and %{name} takes {elem} ({wanted})", array.descr);
                return Err(Error::request(what).help(npy::cast(elem)));
            }
            if let (true, Some(last)) = (elem.is_fp4(), shape.last_mut()) {
                *last = last.saturating_mul(2);
                return self.bind_packed(value, &shape, array.bytes, true);
            }
        }
        self.bind(value, &shape, array.bytes)
    }

    /// The input that elements of a value's own type are for it. `shape` counts elements, `bytes` are dense and
    /// row-major.
    pub fn bind(&self, value: ValueId, shape: &[u64], bytes: Vec<u8>) -> Result<Input> {
        self.bind_packed(value, shape, bytes, false)
    }

    /// The same; the shapes in messages are those of a file with two elements in a byte.
    fn bind_packed(&self, value: ValueId, shape: &[u64], bytes: Vec<u8>, packed: bool) -> Result<Input> {
        let in_file = |n: u64| if packed { n.div_ceil(2) } else { n };
        let wrong = |wanted: String| {
            let mut shown = shape.to_vec();
            shown.iter_mut().last().into_iter().for_each(|n| *n = in_file(*n));
            let note = if packed { ", with two elements in a byte" } else { "" };
            Error::request(format!("its shape is {}, and %{} takes {wanted}{note}", dims(&shown), self.name(value)))
        };
        match self.need(value) {
            Need::Tile(tile) => {
                let fits = |v: Extent, n: u64, declared: u64| v.known().map_or(n <= declared, |v| v == n);
                match *shape {
                    [rows, cols] if fits(tile.v_row, rows, tile.rows) && fits(tile.v_col, cols, tile.cols) => {
                        Ok(Input::Tile { rows, cols, elements: bytes })
                    }
                    _ => {
                        let side = |v: Option<u64>, n: u64| v.map_or(format!("up to {n}"), |v| v.to_string());
                        let rows = side(tile.v_row.known(), tile.rows);
                        let cols = side(tile.v_col.known().map(in_file), in_file(tile.cols));
                        Err(wrong(format!("({rows}, {cols}), the valid region of {tile}")))
                    }
                }
            }
            Need::Conv(conv) => {
                if *shape != conv.written_dims()[..] {
                    let mut wanted = conv.written_dims().to_vec();
                    wanted.iter_mut().last().into_iter().for_each(|n| *n = in_file(*n));
                    return Err(wrong(format!("{} ({})", dims(&wanted), conv.format())));
                }
                Ok(Input::Tile { rows: 1, cols: conv.elements(), elements: bytes })
            }
            Need::Buffer(elem, wanted) => {
                let fits = |w: &Vec<Option<u64>>| {
                    w.len() == shape.len() && w.iter().zip(shape).all(|(w, n)| w.is_none_or(|w| w == *n))
                };
                if let Some(mut wanted) = wanted.filter(|w| !fits(w)) {
                    wanted.iter_mut().last().into_iter().for_each(|n| *n = n.map(in_file));
                    let text: Vec<String> = wanted.iter().map(|d| d.map_or("?".into(), |d| d.to_string())).collect();
                    return Err(wrong(format!("({})", text.join(", "))));
                }
                Ok(Input::Buffer { bytes, elem, dims: shape.to_vec() })
            }
            Need::Scalar(_) => {
                let name = self.name(value).to_string();
                Err(Error::request(format!("%{name} is a scalar")).missing_is(Missing::Value(name)))
            }
            Need::Nothing => {
                Err(Error::request(format!("%{} is an event, which nothing can be bound to", self.name(value))))
            }
        }
    }

    /// The input that a number is for a scalar.
    pub fn bind_number(&self, value: ValueId, given: impl Into<Literal>) -> Result<Input> {
        let name = self.name(value);
        let Need::Scalar(ty) = self.need(value) else {
            return Err(Error::request(format!("%{name} is no scalar")).missing_is(Missing::Array(name.into())));
        };
        let number = match (given.into(), ty) {
            (Literal::Bits(bits), ScalarType::Float(elem)) => {
                if bits & !elem.mask() != 0 {
                    let what =
                        format!("%{name} is {} of {} bits, and {bits:#x} is wider", scalar_name(ty), elem.bits());
                    return Err(Error::request(what));
                }
                return Ok(Input::Scalar(scalar_number(elem, bits)));
            }
            (Literal::Bits(bits), _) => Number::Int(bits.into()),
            (Literal::Number(number), _) => number,
        };
        match (ty, number) {
            (ScalarType::Float(elem), _) => {
                let v = match number {
                    Number::Int(v) => v as f64,
                    Number::Float(v) => v,
                };
                // A scalar holds what its type can hold, as a constant of the text does.
                Ok(Input::Scalar(elem.decode(elem.encode_f64(v, Overflow::Infinity))))
            }
            (_, Number::Float(v)) => {
                Err(Error::request(format!("%{name} is an integer ({}), and {v:?} is none", scalar_name(ty)))
                    .help("give a whole number"))
            }
            (_, Number::Int(v)) => {
                let bits = ty.bits().min(64);
                let (low, high) = match ty {
                    ScalarType::Int(_, Sign::Unsigned) => (0, (1i128 << bits) - 1),
                    ScalarType::Int(_, Sign::Signed) => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                    // A type without a sign takes both readings of its bits.
                    _ => (-(1i128 << (bits - 1)), (1i128 << bits) - 1),
                };
                if v < low || v > high {
                    let what = format!("%{name} is {} ({low} to {high}), and {v} is outside", scalar_name(ty));
                    return Err(Error::request(what));
                }
                Ok(Input::Scalar(number))
            }
        }
    }

    /// The extents of a buffer that no file was bound to: those of its type, or of a view of all of it.
    pub fn buffer_dims(&self, value: ValueId, elements: u64) -> Vec<u64> {
        let is_all = |d: &Vec<u64>| d.iter().try_fold(1u64, |n, d| n.checked_mul(*d)) == Some(elements);
        let known = self.need(value).dims().filter(is_all);
        known.or_else(|| self.view_dims(value).into_iter().find(is_all)).unwrap_or_else(|| vec![elements])
    }

    /// The constant shapes of the views of a pointer.
    fn view_dims(&self, pointer: ValueId) -> Vec<Vec<u64>> {
        let func = self.func();
        let known = Constants::new(self.module(), func);
        let mut shapes = Vec::new();
        func.walk(&mut |_, op, _| {
            if op.opcode() == Some(Opcode::MakeTensorView) && op.values().next() == Some(pointer) {
                let extents = op.operands.iter().skip(1).take(op.operands.len() / 2);
                let shape: Option<Vec<u64>> =
                    extents.map(|o| known.get(o.arg).and_then(|v| u64::try_from(v).ok())).collect();
                shapes.extend(shape);
            }
        });
        shapes
    }
}

fn dims(shape: &[u64]) -> String {
    let text: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("({})", text.join(", "))
}

pub(super) fn scalar_name(ty: ScalarType) -> String {
    match ty {
        ScalarType::Float(elem) => elem.to_string(),
        integer => tessera_asm::print_type(&Type::Scalar(integer)),
    }
}
