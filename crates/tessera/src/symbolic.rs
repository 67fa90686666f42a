//! Runs on origins instead of data: what [`trace`](crate::trace), [`equiv`](crate::equiv) and [`opt`](crate::opt) share.

use crate::formula::{Formula, formula};
use crate::program::{Bindings, Extents, Input, Kernel, Limits, Need, Progress};
use crate::{ConvType, Elem, Error, Literal, Missing, Number, Result};
use std::sync::Arc;
use tessera_interp::watch;
use tessera_ir::{Def, ValueId};
use tessera_isa::sem::Fixpipe;
use tessera_isa::tile::Tile;
pub use tessera_provenance::Moment;
use tessera_provenance::{Bound, Bounds, Converted, Function, ProvenanceTracker, Quantized, Term, TermId, Terms};

/// Known facts before a symbolic run.
#[derive(Clone, Debug)]
pub struct Given {
    /// Values of scalars, by name.
    pub set: Vec<(String, Literal)>,
    /// Shapes of tiles and buffers whose types leave them open, by name.
    pub shapes: Vec<(String, Vec<u64>)>,
    /// The number of blocks.
    pub blocks: u32,
    /// The moment that is asked about; left out: when everything is done.
    pub until: Option<Moment>,
    /// The limits of a run. Terms and what is kept of the run take half of its memory at most.
    pub limits: Limits,
    /// The work of all runs together: elements that are computed, with their operands.
    pub work: u64,
    /// The receiver of progress reports.
    pub progress: Option<Arc<Progress>>,
}

impl Default for Given {
    fn default() -> Self {
        let (set, shapes) = Default::default();
        Given { set, shapes, blocks: 1, until: None, limits: Limits::default(), work: Bounds::WORK, progress: None }
    }
}

/// The records of a symbolic run besides its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Nothing,
    /// Everything that happened.
    Log,
    /// The contents of every tile.
    Contents,
}

impl Given {
    /// A table of terms within the limits.
    pub(crate) fn terms(&self) -> Terms {
        Terms::default().within(self.bounds())
    }

    pub(crate) fn bounds(&self) -> Bounds {
        Bounds { memory: self.limits.memory / 2, work: self.work }
    }

    /// Whether all names exist in one of the kernels.
    pub(crate) fn check(&self, kernels: &[&Kernel]) -> Result<()> {
        let names: Vec<&str> = kernels.iter().flat_map(|k| k.func().args.iter().map(|v| k.name(*v))).collect();
        let given = self.set.iter().map(|s| &s.0).chain(self.shapes.iter().map(|s| &s.0));
        for name in given {
            if !names.contains(&name.as_str()) {
                return Err(Error::unknown("argument", name, &names));
            }
        }
        Ok(())
    }

    pub(crate) fn shape(&self, name: &str) -> Option<&[u64]> {
        self.shapes.iter().find(|(n, _)| n == name).map(|(_, s)| s.as_slice())
    }

    /// The extents that the kernel's views give an argument, with these scalars.
    pub(crate) fn implied_shape(&self, kernel: &Kernel, value: ValueId) -> Option<Vec<u64>> {
        let args = &kernel.func().args;
        let scalar = |arg: &ValueId| {
            let (_, number) = self.set.iter().find(|(name, _)| name == kernel.name(*arg))?;
            Some((*arg, kernel.bind_number(*arg, *number).ok()?))
        };
        let scalars: Vec<(ValueId, Input)> = args.iter().filter_map(scalar).collect();
        let extents = kernel.extents(&scalars, self.blocks);
        match args.iter().zip(extents).find(|(arg, _)| **arg == value) {
            Some((_, Extents::Known(shape))) => Some(shape),
            _ => None,
        }
    }

    /// The inputs of the arguments: zeros that stand for any values. A tile that a listing only writes is bound if
    /// `is_given` says so.
    fn inputs(&self, kernel: &Kernel, is_given: &dyn Fn(ValueId) -> bool) -> Result<Vec<(ValueId, Input)>> {
        let mut inputs = Vec::new();
        for value in &kernel.func().args {
            let name = kernel.name(*value);
            let shape = self.shape(name);
            let zeros = |shape: &[u64], elem: Elem| -> Result<Input> {
                let elements = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
                let Some(bytes) = elements.map(|n| elem.bytes_of(n)).filter(|n| *n <= 1 << 28) else {
                    let what = format!("the shape of %{name} has too many elements to follow; give a smaller one");
                    return Err(Error::request(what));
                };
                let input = kernel.bind(*value, shape, vec![0; bytes as usize]);
                input.map_err(|e| e.missing_is(Missing::Shape(name.into())))
            };
            let undecided = |why: String| Error::undecided(Some(kernel.func().value(*value).span), why);
            let need = kernel.need(*value);
            match &need {
                Need::Nothing => {}
                Need::Scalar(_) => {
                    if let Some((_, number)) = self.set.iter().find(|(n, _)| n == name) {
                        inputs.push((*value, kernel.bind_number(*value, *number)?));
                    } else if kernel.func().ops.iter().any(|op| op.values().any(|v| v == *value)) {
                        let error = undecided(format!("the scalar %{name} has no value"));
                        return Err(error.missing_is(Missing::Value(name.into())));
                    }
                }
                Need::Tile(_) if kernel.func().value(*value).def == Def::ListingOut && !is_given(*value) => {}
                Need::Tile(Tile { elem, .. }) | Need::Conv(ConvType { elem, .. }) | Need::Buffer(elem, _) => {
                    // Unbound, a buffer is as long as what is read of it.
                    let own = need.dims().filter(|_| need.is_tile());
                    if let Some(shape) = shape.map(<[u64]>::to_vec).or(own) {
                        inputs.push((*value, zeros(&shape, *elem)?));
                    } else if matches!(&need, Need::Buffer(_, Some(dims)) if dims.contains(&None)) {
                        let error = undecided(format!("the type of %{name} leaves extents open"));
                        return Err(error.missing_is(Missing::Shape(name.into())));
                    }
                }
            }
        }
        Ok(inputs)
    }

    /// Runs a kernel on origins, numbered in these terms. `numbers` are the input numbers of its arguments.
    pub(crate) fn run(
        &self,
        kernel: &Kernel,
        terms: &mut Terms,
        numbers: &[(ValueId, u32)],
        wanted: &[ValueId],
        keep: Keep,
        is_given: &dyn Fn(ValueId) -> bool,
    ) -> Result<ProvenanceTracker> {
        let inputs = self.inputs(kernel, is_given)?;
        let placement = kernel.plan(wanted)?;
        let outputs = wanted.iter().flat_map(|v| [(*v, 0), (*v, 1)]).collect();
        let bindings = Bindings {
            inputs,
            outputs,
            blocks: self.blocks,
            limits: self.limits,
            progress: self.progress.clone(),
            ..Bindings::default()
        };
        let mut watching = ProvenanceTracker::new(std::mem::take(terms), numbers.to_vec(), keep == Keep::Log);
        watching.until = self.until;
        watching.contents = (keep == Keep::Contents).then(Default::default);
        let (outcome, mut watch) = watch(kernel.prepared(bindings, &placement), watching);
        *terms = std::mem::take(&mut watch.terms);
        if let Some(undecided) = &watch.undecided {
            return Err(Error::undecided(undecided.op.map(|op| kernel.func().op(op).span), &undecided.why));
        }
        if let Some(bound) = terms.met() {
            return Err(self.met(bound, &watch));
        }
        match Error::of(kernel.program().with_locations(outcome.diagnostics)) {
            Some(error) => Err(error.in_text(kernel.program().source())),
            None => Ok(watch),
        }
    }
}

impl Given {
    /// The bound that was met, and how far the run came.
    fn met(&self, bound: Bound, watch: &ProvenanceTracker) -> Error {
        let ran = match watch.instructions() {
            1 => "1 instruction".to_string(),
            n => format!("{n} instructions"),
        };
        let (what, more) = match bound {
            Bound::Memory => {
                let bytes = self.bounds().memory;
                (format!("its elements take more than {bytes} bytes to follow after {ran}"), "allow more memory")
            }
            Bound::Work => {
                let work = self.work;
                (format!("more than {work} elements and operands were computed after {ran}"), "allow more work")
            }
        };
        Error::undecided(None, what).help(format!("use smaller tiles, run fewer rounds, or {more}"))
    }
}

/// Describes elements in the names of one program.
pub(crate) struct Explain<'a> {
    pub kernel: &'a Kernel,
    pub terms: &'a Terms,
    pub numbers: &'a [(ValueId, u32)],
    pub given: &'a Given,
}

impl Explain<'_> {
    /// The formula of an element whose bytes have these terms.
    pub fn element(&self, ids: &[TermId], elem: Elem) -> String {
        self.bytes(ids, Some(elem), 0)
    }

    pub fn bytes(&self, ids: &[TermId], elem: Option<Elem>, depth: usize) -> String {
        let terms: Vec<Term<'_>> = ids.iter().map(|id| self.terms.get(*id)).collect();
        let Some(first) = terms.first() else { return "nothing".into() };
        if terms.iter().all(|t| *t == Term::Undefined) {
            return "undefined".into();
        }
        let constant: Option<Vec<u8>> = ids.iter().map(|id| Terms::constant_of(*id)).collect();
        if let Some(bytes) = constant {
            return constant_text(&bytes, elem);
        }
        if depth > 3 {
            return "…".into();
        }
        if let Term::Input { input, byte } = first {
            let run = (0u64..).zip(&terms).all(|(k, t)| *t == Term::Input { input: *input, byte: byte + k });
            if run {
                return self.input(*input, *byte, ids.len() as u64);
            }
        }
        if let Some(formula) = self.formula(ids, false) {
            return formula.line();
        }
        match first {
            _ if ids.len() > 1 => {
                let each: Vec<String> = ids.iter().map(|id| self.bytes(&[*id], None, depth + 1)).collect();
                format!("bytes ({})", each.join(", "))
            }
            Term::Nibbles([low, high]) => {
                let half = |n: &tessera_provenance::Nibble| {
                    let which = if n.high { "high" } else { "low" };
                    format!("the {which} half of {}", self.bytes(&[n.of], None, depth + 1))
                };
                format!("{} and {}", half(low), half(high))
            }
            Term::Applied { byte, .. } => {
                let whole = formula(self, ids.first().map_or(0, |id| id - u32::from(*byte)), false);
                format!("byte {byte} of {}", whole.map_or(String::new(), |f| f.line()))
            }
            _ => "undefined".into(),
        }
    }

    /// The formula of an element with these origins, where it is computed.
    pub fn formula(&self, ids: &[TermId], is_full: bool) -> Option<Formula> {
        let first = *ids.first()?;
        let whole = self.terms.applied(first).filter(|(function, _)| function.bytes() == ids.len());
        let is_one = ids.iter().zip(first..).all(|(id, next)| *id == next);
        whole.filter(|_| is_one).and_then(|_| formula(self, first, is_full))
    }

    /// A byte of an input as an element of an argument.
    fn input(&self, input: u32, byte: u64, len: u64) -> String {
        match self.numbers.iter().find(|(_, n)| *n == input) {
            Some((value, _)) => place(self.kernel, self.given, *value, byte, len),
            None => format!("byte {byte} of an input that only the other program has"),
        }
    }
}

/// A byte of an argument's contents as an element: `%src[3, 5]`.
pub(crate) fn place(kernel: &Kernel, given: &Given, value: ValueId, byte: u64, len: u64) -> String {
    let name = kernel.name(value);
    let Some(elem) = kernel.elem(value) else { return format!("%{name}") };
    let dims = given.shape(name).map(<[u64]>::to_vec).or_else(|| kernel.need(value).dims());
    let size = elem.bytes_of(1);
    let at = coordinates(byte * 8 / u64::from(elem.bits()), &dims.unwrap_or_default());
    match (byte % size, len == size) {
        (0, true) => format!("%{name}[{at}]"),
        (0, false) if elem.is_fp4() => format!("%{name}[{at}] and the next"),
        (first, _) if len == 1 => format!("byte {first} of %{name}[{at}]"),
        (first, _) => format!("{len} bytes from byte {first} of %{name}[{at}] on"),
    }
}

/// An element of a dense array; what lies outside of its extents keeps counting in the first one.
fn coordinates(index: u64, dims: &[u64]) -> String {
    let mut rest = index;
    let mut all: Vec<String> = Vec::new();
    for dim in dims.iter().skip(1).rev() {
        all.push((rest % dim.max(&1)).to_string());
        rest /= dim.max(&1);
    }
    all.push(rest.to_string());
    all.reverse();
    all.join(", ")
}

/// A constant with its bits and its value.
pub(crate) fn constant_text(bytes: &[u8], elem: Option<Elem>) -> String {
    let bits = bytes.iter().take(8).rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    let hex = format!("0x{bits:0width$X}", width = bytes.len() * 2);
    match elem.filter(|e| e.size() == Some(bytes.len() as u64)) {
        Some(elem) => match elem.decode(bits) {
            Number::Int(v) => format!("the constant {v} ({elem} {hex})"),
            Number::Float(v) => format!("the constant {v:?} ({elem} {hex})"),
        },
        None => format!("the constant {hex}"),
    }
}

/// Elements that a function is applied to and that are shown one by one.
pub(crate) const ELEMENTS: usize = 4;

pub(crate) fn function_text(function: &Function) -> String {
    let Converted { fixpipe: Fixpipe { src, dst, relu, hardware_rounding, saturate_inf }, quantized } = match function {
        Function::Converted(converted) => converted,
        Function::Mapped { func, to, .. } | Function::Fold { func, to, .. } | Function::Many { func, to } => {
            return format!("{to} {}", func.name());
        }
    };
    let mut text = format!("{src} → {dst}");
    match quantized {
        Quantized::No => {}
        Quantized::Data => text.push_str(" by vector quantization"),
        Quantized::Fixed { shift, .. } if *shift > 0 => text.push_str(&format!(" by a shift of {shift}")),
        Quantized::Fixed { scale, offset, .. } => {
            text.push_str(&format!(" times {:?}", f32::from_bits(*scale)));
            if *offset != 0 {
                text.push_str(&format!(" plus {offset}"));
            }
        }
    }
    if *hardware_rounding {
        text.push_str(", rounded before the offset");
    }
    if *saturate_inf {
        text.push_str(", infinities saturated");
    }
    if *relu {
        text.push_str(", then ReLU");
    }
    text
}
