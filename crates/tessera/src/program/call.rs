//! One run of a kernel: arrays in by name, arrays out by name.

use super::{Bindings, Kernel, Need};
use crate::npy::Array;
use crate::{Diagnostic, Elem, Element, Error, Number, Profile, Result};
use tessera_interp::{Input, Outcome, PrintedValue, TileData};
use tessera_ir::{Type, ValueId};

/// Inputs of an argument: an [`Array`] with its shape, or elements in the argument's own shape.
pub trait Data {
    /// The array; elements alone are one row.
    fn to_array(&self) -> Array;

    /// Whether it has a shape of its own.
    fn has_shape(&self) -> bool {
        false
    }
}

impl Data for Array {
    fn to_array(&self) -> Array {
        self.clone()
    }

    fn has_shape(&self) -> bool {
        true
    }
}

impl<T: Element> Data for [T] {
    fn to_array(&self) -> Array {
        Array::of_elem(T::ELEM, vec![self.len() as u64], crate::typed::element::pack(self))
    }
}

impl<T: Element> Data for Vec<T> {
    fn to_array(&self) -> Array {
        self.as_slice().to_array()
    }
}

impl<T: Element, const N: usize> Data for [T; N] {
    fn to_array(&self) -> Array {
        self.as_slice().to_array()
    }
}

/// The shapes that buffers come out in, where they have as many elements; the first one of a value counts.
pub type Shapes = Vec<(ValueId, Vec<u64>)>;

impl Kernel {
    /// The shapes of buffers: of the arrays that are bound to them, else what the views imply.
    pub fn shapes(&self, bindings: &Bindings) -> Shapes {
        let bound = bindings.inputs.iter().filter_map(|(value, input)| match input {
            Input::Buffer { dims, .. } => Some((*value, dims.clone())),
            _ => None,
        });
        let mut shapes: Shapes = bound.collect();
        let is_open = |v: &ValueId| matches!(self.need(*v), Need::Buffer(..)) && !shapes.iter().any(|(b, _)| b == v);
        if self.func().args.iter().any(is_open) {
            let extents = self.extents(&bindings.inputs, bindings.blocks);
            shapes.extend(self.func().args.iter().zip(extents).filter_map(|(v, e)| Some((*v, e.known()?))));
        }
        shapes
    }
}

impl Bindings {
    /// Binds an input to a value.
    pub fn add(&mut self, kernel: &Kernel, value: ValueId, input: Input) -> Result<()> {
        let is_stride = |input: &Input| matches!(input, Input::Strides { .. });
        // Strides stand beside the buffer that they are of.
        if self.inputs.iter().any(|(v, old)| *v == value && is_stride(old) == is_stride(&input)) {
            return Err(Error::request(format!("%{} is bound twice", kernel.name(value))));
        }
        self.inputs.push((value, input));
        Ok(())
    }
}

impl Kernel {
    /// The same kernel on another profile: its text is read again there, and what that finds is told by
    /// [`run`](Kernel::run).
    pub fn on(mut self, profile: Profile) -> Kernel {
        let program = self.program.on(profile);
        let name = self.module().names.text(self.func().name).to_string();
        let name = Some(name.as_str()).filter(|_| !self.module().is_listing);
        match program.kernel_or_entry(name) {
            _ if program.has_errors() => self.refused = program.sound().err(),
            Ok(kernel) => (self.program, self.body) = (kernel.program, kernel.body),
            Err(error) => self.refused = Some(error),
        }
        self
    }

    /// Gives an array to an argument, or to an input of a listing.
    pub fn input(self, name: &str, data: &(impl Data + ?Sized)) -> Result<Kernel> {
        let value = self.argument(name)?;
        let mut array = data.to_array();
        if !data.has_shape() {
            array.shape = self.own_shape(value, array.shape.iter().product());
        }
        let input = self.bind_array(value, array)?;
        self.with_input(value, input)
    }

    /// Gives a number to a scalar argument.
    pub fn set(self, name: &str, number: impl Into<Number>) -> Result<Kernel> {
        let value = self.argument(name)?;
        let input = self.bind_number(value, number.into())?;
        self.with_input(value, input)
    }

    fn with_input(mut self, value: ValueId, input: Input) -> Result<Kernel> {
        let mut bindings = std::mem::take(&mut self.bindings);
        bindings.add(&self, value, input)?;
        Ok(Kernel { bindings, ..self })
    }

    /// Asks for a tile, or for the buffer of an argument, besides what the program puts out by itself.
    pub fn output(mut self, name: &str) -> Result<Kernel> {
        let value = self.result(name)?;
        self.bindings.outputs.push((value, 0));
        Ok(self)
    }

    /// The number of blocks.
    pub fn blocks(mut self, blocks: u32) -> Kernel {
        self.bindings.blocks = blocks.max(1);
        self
    }

    /// Checks the program, runs it, and gives what comes out.
    pub fn run(mut self) -> Result<Outputs> {
        let bindings = std::mem::take(&mut self.bindings);
        self.run_with(bindings)
    }

    /// The same with what a tool has bound, besides what the program puts out by itself.
    pub fn run_with(mut self, mut bindings: Bindings) -> Result<Outputs> {
        if let Some(refused) = self.refused.take() {
            return Err(refused);
        }
        let text = self.program.source();
        let mut warnings = self.program.check();
        if let Some(error) = Error::of(warnings.clone()) {
            return Err(error.in_text(text));
        }
        self.unbound(&bindings.inputs).map_err(|e| e.in_text(text))?;
        bindings.outputs.extend(self.outputs().into_iter().map(|v| (v, 0)));
        bindings.outputs.sort_unstable();
        bindings.outputs.dedup();
        let (wanted, shapes) = (bindings.outputs.clone(), self.shapes(&bindings));
        let mut outcome = self.execute(bindings);
        if let Some(error) = Error::of(outcome.diagnostics.clone()) {
            return Err(error.in_text(text));
        }
        let array = |(v, core)| Some((self.name(v).to_string(), self.take_array(&mut outcome, &shapes, v, core)?));
        let arrays = wanted.into_iter().filter_map(array).collect();
        let is_new = |d: &&Diagnostic| !warnings.iter().any(|w| w.rule == d.rule && w.span == d.span);
        let found: Vec<Diagnostic> = outcome.diagnostics.iter().filter(is_new).cloned().collect();
        warnings.extend(found);
        let name = |what: &PrintedValue| match what {
            PrintedValue::Tile(value, _) => self.name(*value).to_string(),
            PrintedValue::Text(_) => String::new(),
        };
        let printed = outcome.printed.into_iter().map(|p| (name(&p.what), p.what)).collect();
        Ok(Outputs { arrays, warnings, printed })
    }

    /// The shape of this many elements as a value's contents.
    fn own_shape(&self, value: ValueId, elements: u64) -> Vec<u64> {
        let shape = match self.need(value) {
            Need::Buffer(_, Some(dims)) => {
                // One open extent follows from the others.
                let known: u64 = dims.iter().flatten().product();
                Some(dims.iter().map(|d| d.unwrap_or(elements / known.max(1))).collect())
            }
            need => need.dims(),
        };
        let is_all = |s: &Vec<u64>| s.iter().try_fold(1u64, |n, d| n.checked_mul(*d)) == Some(elements);
        shape.filter(is_all).unwrap_or_else(|| vec![elements])
    }

    /// A tile's valid region after a run, or a buffer in the shape of its input.
    pub fn array(&self, outcome: &Outcome, shapes: &[(ValueId, Vec<u64>)], value: ValueId, core: u8) -> Option<Array> {
        let (elem, shape, bytes) = self.contents(outcome, shapes, value, core)?;
        Some(Array::of_elem(elem, shape, bytes.to_vec()))
    }

    /// The same where it lies: its elements, extents and bytes.
    pub fn contents<'o>(
        &self,
        outcome: &'o Outcome,
        shapes: &[(ValueId, Vec<u64>)],
        value: ValueId,
        core: u8,
    ) -> Option<(Elem, Vec<u64>, &'o [u8])> {
        let (elem, shape) = self.output_shape(outcome, shapes, value, core)?;
        let tile = outcome.tiles.iter().find(|t| t.value == value && t.core == core).map(|t| &t.data.elements);
        let buffer = || outcome.buffers.iter().find(|b| b.value == value).map(|b| &b.bytes);
        Some((elem, shape, tile.or_else(buffer)?))
    }

    /// The same, moved out of what a run gave.
    pub fn take_array(
        &self,
        outcome: &mut Outcome,
        shapes: &[(ValueId, Vec<u64>)],
        value: ValueId,
        core: u8,
    ) -> Option<Array> {
        let (elem, shape) = self.output_shape(outcome, shapes, value, core)?;
        let Outcome { tiles, buffers, .. } = outcome;
        let tile = tiles.iter_mut().find(|t| t.value == value && t.core == core).map(|t| &mut t.data.elements);
        let buffer = buffers.iter_mut().find(|b| b.value == value).map(|b| &mut b.bytes);
        Some(Array::of_elem(elem, shape, std::mem::take(tile.or(buffer)?)))
    }

    fn output_shape(
        &self,
        outcome: &Outcome,
        shapes: &[(ValueId, Vec<u64>)],
        value: ValueId,
        core: u8,
    ) -> Option<(Elem, Vec<u64>)> {
        let tile = outcome.tiles.iter().find(|t| t.value == value && t.core == core);
        if let Some(data) = tile.map(|t| &t.data) {
            let is_vector = matches!(self.module().types.get(self.func().value(value).ty), Type::Vector(..));
            return Some((data.elem, if is_vector { vec![data.cols] } else { tile_shape(data) }));
        }
        let buffer = outcome.buffers.iter().find(|b| b.value == value)?;
        let elem = self.elem(value)?;
        let elements = buffer.bytes.len() as u64 * 8 / u64::from(elem.bits());
        let is_all = |s: &Vec<u64>| s.iter().try_fold(1u64, |n, d| n.checked_mul(*d)) == Some(elements);
        let given = shapes.iter().find(|(v, _)| *v == value).map(|(_, shape)| shape.clone()).filter(is_all);
        Some((elem, given.unwrap_or_else(|| self.buffer_dims(value, elements))))
    }
}

/// The extents of a tile's valid region, as its array has them.
pub fn tile_shape(data: &TileData) -> Vec<u64> {
    match data.conv {
        Some(conv) => conv.written_dims().to_vec(),
        None => vec![data.rows, data.cols],
    }
}

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Outputs {
    arrays: Vec<(String, Array)>,
    warnings: Vec<Diagnostic>,
    printed: Vec<(String, PrintedValue)>,
}

impl Outputs {
    pub(super) fn new(
        arrays: Vec<(String, Array)>,
        warnings: Vec<Diagnostic>,
        printed: Vec<(String, PrintedValue)>,
    ) -> Outputs {
        Outputs { arrays, warnings, printed }
    }

    /// The elements of an output, row by row; those that were never written are 0, and a warning tells of them.
    pub fn get<T: Element>(&self, name: &str) -> Result<Vec<T>> {
        self.array(name)?.to_vec()
    }

    /// An output with its shape.
    pub fn array(&self, name: &str) -> Result<&Array> {
        let name = name.strip_prefix('%').unwrap_or(name);
        let found = self.arrays.iter().find(|(n, _)| n == name).map(|(_, array)| array);
        found.ok_or_else(|| Error::unknown("output", name, &self.names().collect::<Vec<_>>()))
    }

    /// The names of the outputs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|(name, _)| name.as_str())
    }

    /// The outputs, with their names.
    pub fn into_arrays(self) -> Vec<(String, Array)> {
        self.arrays
    }

    /// Warnings: legal and probably not intended.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The printed text, block by block; a tile with its name.
    pub fn printed(&self) -> &[(String, PrintedValue)] {
        &self.printed
    }
}
