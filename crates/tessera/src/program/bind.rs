//! What a kernel's arguments need, and whether what is given fits (syntax.md 4).

use super::Kernel;
use crate::npy::{self, Array};
use crate::{ConvType, Elem, Error, Missing, Result};
use tessera_exec::interp::Input;
use tessera_ir::edges::Control;
use tessera_ir::scalar::Constants;
use tessera_ir::{Def, Func, OpKind, ScalarType, Sign, Type, ValueId};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::inst::scalar_number;
use tessera_isa::ops::{Effect, Opcode, Role};
use tessera_isa::sem::Sem;
use tessera_isa::tile::{Extent, Tile};

/// What somebody gives for a scalar.
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

/// What can be bound to a value.
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
    pub(crate) fn dims(&self) -> Option<Vec<u64>> {
        match self {
            Need::Tile(t) => Some(vec![t.v_row.known().unwrap_or(t.rows), t.v_col.known().unwrap_or(t.cols)]),
            Need::Conv(conv) => Some(conv.written_dims().to_vec()),
            Need::Buffer(_, Some(dims)) => dims.iter().copied().collect(),
            _ => None,
        }
    }
}

/// An argument of a function, or an input of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The value.
    pub value: ValueId,
    /// Is its memory read?
    pub is_read: bool,
    /// Is its memory written?
    pub is_written: bool,
    /// May it be left unbound?
    pub is_optional: bool,
}

impl Kernel {
    /// What can be bound to a value.
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
            Type::Event | Type::Opaque(_) => Need::Nothing,
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

    /// What the program puts out by itself: a listing's outputs, the buffers that a kernel writes.
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

    /// The arguments, in order, with what happens to the memory behind them.
    pub fn arguments(&self) -> Vec<Argument> {
        let func = self.func();
        let unused = |value: &ValueId| {
            let is_optional = func.value(*value).def == Def::ListingOut;
            Argument { value: *value, is_read: false, is_written: false, is_optional }
        };
        let mut all: Vec<Argument> = func.args.iter().map(unused).collect();
        let mut origins = Origins::new(func);
        // A block may hand a pointer back to where it was followed before; what is known only grows.
        while origins.follow(func) && func.blocks.len() > 1 {}
        for (pointer, is_written) in accesses(func) {
            for n in &origins.0[pointer.index()] {
                all[*n].is_written |= is_written;
                all[*n].is_read |= !is_written;
            }
        }
        all
    }

    /// Is everything bound that must be?
    pub fn unbound(&self, inputs: &[(ValueId, Input)]) -> Result<()> {
        let missing = |a: &Argument| {
            let wanted = match self.need(a.value) {
                Need::Nothing => false,
                Need::Scalar(_) => true,
                // A tile of a kernel starts undefined, as long as its extents are known (isa/structure.md 3).
                Need::Tile(tile) if matches!(self.func().value(a.value).def, Def::Arg(_)) => {
                    tile.v_row.known().is_none() || tile.v_col.known().is_none()
                }
                Need::Tile(_) | Need::Conv(_) => !a.is_optional,
                // A buffer that is only written grows as it needs to, as long as its extents are known.
                Need::Buffer(_, dims) => {
                    a.is_read && !a.is_written || dims.is_some_and(|d| d.iter().any(Option::is_none))
                }
            };
            wanted && !inputs.iter().any(|(v, _)| *v == a.value)
        };
        let Some(argument) = self.arguments().into_iter().find(missing) else { return Ok(()) };
        let name = self.name(argument.value).to_string();
        let (what, missing) = match self.need(argument.value) {
            Need::Scalar(ty) => (format!("the scalar %{name} of type {}", scalar_name(ty)), Missing::Value(name)),
            Need::Tile(tile) => (format!("the tile %{name} ({tile})"), Missing::Array(name)),
            _ => (format!("the buffer of %{name}"), Missing::Array(name)),
        };
        let place = self.func().value(argument.value).span;
        Err(Error::request(format!("{what} is not bound to anything")).at(place, "needs a value").missing_is(missing))
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
                Err(Error::request(format!("%{name} is an integer ({}), and {v:?} is none", scalar_name(ty))))
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

/// The pointers and views that operations go through, and whether they write there.
fn accesses(func: &Func) -> Vec<(ValueId, bool)> {
    let mut all = Vec::new();
    func.walk(&mut |_, op, _| {
        let global = op.operand(Role::Global).and_then(|o| o.arg.value());
        let is_written = match op.kind {
            OpKind::Pto(opcode, form) => match opcode.info().sem {
                Sem::Loads => Some(false),
                Sem::Stores => Some(true),
                sem => sem.computes().then(|| opcode.effect(form, Role::Global) != Effect::Read),
            },
            _ => None,
        };
        all.extend(global.zip(is_written));
    });
    all
}

/// By value: the arguments, by position, whose memory it may point into.
struct Origins(Vec<Vec<usize>>);

impl Origins {
    fn new(func: &Func) -> Self {
        let mut origins = Origins(vec![Vec::new(); func.values.len()]);
        for (n, value) in func.args.iter().enumerate() {
            origins.0[value.index()].push(n);
        }
        origins
    }

    /// Follows every operation once; was there anything new?
    fn follow(&mut self, func: &Func) -> bool {
        let mut grown = false;
        func.walk(&mut |_, op, _| {
            if let (true, Ok(control)) = (op.kind.is_flow(), Control::of(func, op)) {
                for (to, from) in control.edges().iter().flat_map(|edge| edge.pairs()) {
                    grown |= from.value().is_some_and(|from| self.join(to, from));
                }
            } else if let Some(pointer) = op.operand(Role::Global).and_then(|o| o.arg.value()) {
                // Views, windows and moved pointers; a loaded scalar points nowhere, and nobody asks.
                op.results.iter().for_each(|result| grown |= self.join(*result, pointer));
            }
        });
        grown
    }

    fn join(&mut self, to: ValueId, from: ValueId) -> bool {
        let more = self.0[from.index()].clone();
        let known = &mut self.0[to.index()];
        let before = known.len();
        known.extend(more);
        known.sort_unstable();
        known.dedup();
        known.len() > before
    }
}

fn dims(shape: &[u64]) -> String {
    let text: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("({})", text.join(", "))
}

fn scalar_name(ty: ScalarType) -> String {
    match ty {
        ScalarType::Float(elem) => elem.to_string(),
        integer => tessera_asm::print_type(&Type::Scalar(integer)),
    }
}
