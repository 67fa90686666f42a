//! Nests that compute: every element of the destination is a function of one element of each operand.
//!
//! The loops are those of [`super::raw_map`]. The safe twin is [`Mapped::eval`].

use super::choose::choose;
use super::pair::parts;
use super::raw_map::{Loops, RawMap, SCALAR};
use crate::Level;
use crate::Place;
use crate::error::{Failure, internal_error};
use crate::nest::OutOfBounds;
use crate::nest::{DST, Nest, OPERANDS, read_bits, write_bits};
use smallvec::SmallVec;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

/// A function with its types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mapped {
    pub func: Func,
    /// The type of the result.
    pub to: Elem,
    /// The type of each argument, with its bits where it is a scalar.
    pub args: SmallVec<[(Elem, Option<u64>); 3]>,
}

impl Mapped {
    /// Returns the function with its types; it is defined on them.
    pub fn new(func: Func, to: Elem, args: SmallVec<[(Elem, Option<u64>); 3]>) -> Result<Mapped, Failure> {
        let types: SmallVec<[Elem; 4]> = args.iter().map(|(elem, _)| *elem).collect();
        if func.is_defined(to, &types) {
            return Ok(Mapped { func, to, args });
        }
        let types: Vec<String> = types.iter().map(Elem::to_string).collect();
        Err(internal_error(&format!("a {} of ({}) as {to} is not defined", func.name(), types.join(", "))))
    }

    /// The result for the elements of one point; none where the function is not defined on them.
    pub fn eval(&self, elements: impl IntoIterator<Item = u64>) -> Option<u64> {
        let mut elements = elements.into_iter();
        let bits = |scalar: Option<u64>, element: &mut dyn Iterator<Item = u64>| scalar.or_else(|| element.next());
        let args: SmallVec<[(Elem, u64); 3]> =
            self.args.iter().filter_map(|(elem, scalar)| Some((*elem, bits(*scalar, &mut elements)?))).collect();
        self.func.eval(self.to, &args)
    }

    /// The types of the arguments that are elements.
    pub fn elements(&self) -> impl Iterator<Item = Elem> + '_ {
        self.args.iter().filter(|(_, scalar)| scalar.is_none()).map(|(elem, _)| *elem)
    }
}

/// A computing nest with its kernel.
#[derive(Clone, Debug)]
pub struct MapKernel {
    mapped: Mapped,
    nest: Nest,
    raw: Option<RawMap>,
    spans: [(i128, i128); OPERANDS],
    /// The position of each argument among the operands; a scalar has none.
    from: [usize; ARGS],
    /// The values of the arguments that are scalars.
    scalars: [[u8; 8]; ARGS],
    /// The two innermost loops.
    loops: Loops,
}

/// Arguments at most.
pub(super) const ARGS: usize = OPERANDS - 1;

/// A nest whose operands were found inside their memories.
pub(super) struct BoundMap {
    raw: RawMap,
    start: [*mut u8; OPERANDS],
    step: [isize; OPERANDS],
    loops: Loops,
}

impl BoundMap {
    /// Runs it for the time with this number.
    ///
    /// Safety: the number is one of those requested, the memories have not moved, and nothing else accesses them.
    #[inline]
    pub unsafe fn run(&self, number: isize) {
        let mut at = self.start;
        for (at, step) in at.iter_mut().zip(self.step) {
            *at = at.wrapping_offset(step.wrapping_mul(number));
        }
        // SAFETY: the spans were checked for the first and the last time; that operands overlap only element by element is
        // a rule of the instruction (elementwise.md 1).
        unsafe { self.raw.run(at, &self.loops) };
    }
}

impl MapKernel {
    /// Chooses the kernel of a nest whose operands are the destination and the arguments that are elements.
    pub fn new(nest: Nest, mapped: Mapped, level: Level) -> MapKernel {
        let mut from = [0; ARGS];
        let mut operand = DST;
        for ((_, scalar), from) in mapped.args.iter().zip(&mut from) {
            if scalar.is_none() {
                operand += 1;
                *from = operand;
            }
        }
        // A page runs small programs and is loaded as a whole: there the safe twin does, and the kernels are left out.
        let is_quick = !cfg!(target_arch = "wasm32") && nest.elements() > 0;
        let chosen = is_quick.then(|| choose(&mapped, level.clamped())).flatten();
        MapKernel {
            raw: chosen.map(|c| c.0),
            spans: [0, 1, 2, 3].map(|k: usize| nest.span(k)),
            loops: inner_loops(&nest, from),
            mapped,
            nest,
            from,
            scalars: chosen.map_or([[0; 8]; ARGS], |c| c.1),
        }
    }

    /// Whether it has a kernel, and is not computed element by element.
    pub fn is_compiled(&self) -> bool {
        self.raw.is_some()
    }

    /// The nest; none where it is computed element by element.
    pub(super) fn vectors(&self) -> Option<&Nest> {
        self.raw.map(|_| &self.nest)
    }

    /// The same on another nest of the same operands.
    pub(super) fn over(&self, nest: Nest) -> MapKernel {
        let (spans, loops) = ([0, 1, 2, 3].map(|k: usize| nest.span(k)), inner_loops(&nest, self.from));
        MapKernel { spans, loops, nest, ..self.clone() }
    }

    /// The function that it computes.
    pub(super) fn mapped(&self) -> &Mapped {
        &self.mapped
    }

    /// The value of an argument that is a scalar among floats.
    pub(super) fn scalar(&self, arg: usize) -> f32 {
        self.scalars.get(arg).map_or(0.0, |[a, b, c, d, ..]| f32::from_ne_bytes([*a, *b, *c, *d]))
    }

    /// The nest on operands that start here, to be run at once and any number of times, each time these steps further on; none
    /// where it has more than two loops.
    pub(super) fn begin(&self, at: &[(*mut u8, isize)]) -> Option<BoundMap> {
        let operand = |k: usize| {
            let (start, step) = *at.get(k)?;
            Some((start.wrapping_offset(self.nest.base[k] as isize), step))
        };
        let first = operand(DST)?;
        let (mut start, mut step) = ([first.0; OPERANDS], [first.1; OPERANDS]);
        for k in 0..ARGS {
            (start[k + 1], step[k + 1]) = match self.from[k] {
                0 => (self.scalars[k].as_ptr().cast_mut(), 0),
                from => operand(from)?,
            };
        }
        let begun = self.raw.map(|raw| BoundMap { raw, start, step, loops: self.loops });
        begun.filter(|_| self.nest.dims.len() <= 2)
    }

    /// Runs the nest; the places are those of its operands.
    pub fn run<M: AsRef<[u8]> + AsMut<[u8]>>(&self, memories: &mut [M], places: &[Place]) -> Result<(), OutOfBounds> {
        let first = places.first().ok_or(OutOfBounds::NOWHERE)?;
        let mut at = [*first; OPERANDS];
        let all = places.get(..self.nest.operands()).ok_or(OutOfBounds::NOWHERE)?;
        at.iter_mut().zip(all).for_each(|(at, place)| *at = *place);
        self.run_at(memories, at)
    }

    /// The same with a place for each operand there could be.
    pub fn run_at<M: AsRef<[u8]> + AsMut<[u8]>>(
        &self,
        memories: &mut [M],
        at: [Place; OPERANDS],
    ) -> Result<(), OutOfBounds> {
        let n = self.nest.operands();
        let operands: [_; OPERANDS] = std::array::from_fn(|k| (at[k], k == DST));
        let parts = parts(memories, operands).ok_or(OutOfBounds::NOWHERE)?;
        for k in 0..n {
            OutOfBounds::check(self.spans[k], at[k].at, parts[k].1)?;
        }
        let Some(raw) = self.raw else {
            self.elements(memories, &at);
            return Ok(());
        };
        let pointer = |k: usize| parts[k].0.wrapping_add(at[k].at).wrapping_offset(self.nest.base[k] as isize);
        let mut start = [pointer(DST); OPERANDS];
        for k in 0..ARGS {
            // A scalar is read where it stands, again and again, and nothing writes there.
            let scalar = self.scalars[k].as_ptr().cast_mut();
            start[k + 1] = if self.from[k] == 0 { scalar } else { pointer(self.from[k]) };
        }
        // SAFETY: every operand's span was checked against its memory, and the pointers come from one borrow of each
        // memory that lasts until the end of this call, a mutable one where the kernel writes; the level was clamped
        // to what the machine has. A rule of the instruction makes operands overlap only element by element
        // (elementwise.md 1).
        unsafe { self.rows(raw, &self.loops, 0, start) };
        Ok(())
    }

    /// The same on bytes that are apart: those of the result, and those of each argument that is elements. Returns whether it
    /// ran: a nest without a kernel does not, and nothing is written then.
    #[inline]
    pub fn run_on(&self, dst: &mut [u8], args: [&[u8]; 2]) -> Result<bool, OutOfBounds> {
        let n = self.nest.operands();
        let Some(raw) = self.raw.filter(|_| n <= args.len() + 1) else { return Ok(false) };
        OutOfBounds::check(self.spans[DST], 0, dst.len())?;
        for k in 1..n {
            OutOfBounds::check(self.spans[k], 0, args[k - 1].len())?;
        }
        let mut start = [dst.as_mut_ptr().wrapping_offset(self.nest.base[DST] as isize); OPERANDS];
        for k in 0..ARGS {
            start[k + 1] = match self.from[k] {
                0 => self.scalars[k].as_ptr().cast_mut(),
                from => args[from - 1].as_ptr().cast_mut().wrapping_offset(self.nest.base[from] as isize),
            };
        }
        // SAFETY: every operand's span was checked against its bytes, which are borrowed until the end of this call, those of
        // the result mutably, and so lie apart from the others; the level was clamped to what the machine has.
        unsafe { self.rows(raw, &self.loops, 0, start) };
        Ok(true)
    }

    /// The same; elements that lie outside are left out.
    pub fn run_inside<M: AsRef<[u8]> + AsMut<[u8]>>(&self, memories: &mut [M], at: [Place; OPERANDS]) {
        if self.run_at(memories, at).is_err() {
            self.elements(memories, &at);
        }
    }

    /// Safety: the contract of [`RawMap`] at every point of the loops from `dim` on.
    unsafe fn rows(&self, raw: RawMap, loops: &Loops, dim: usize, at: [*mut u8; OPERANDS]) {
        if dim + 2 >= self.nest.dims.len() {
            // SAFETY: the contract of this function.
            return unsafe { raw.run(at, loops) };
        }
        let steps = steps(self.from, &self.nest.dims[dim].step, 0);
        for i in 0..self.nest.dims[dim].extent as isize {
            let mut next = at;
            next.iter_mut().zip(steps).for_each(|(p, step)| *p = p.wrapping_offset(i.wrapping_mul(step)));
            // SAFETY: the contract of this function.
            unsafe { self.rows(raw, loops, dim + 1, next) };
        }
    }

    /// Element by element, straight from the definition.
    fn elements<M: AsRef<[u8]> + AsMut<[u8]>>(&self, memories: &mut [M], places: &[Place; OPERANDS]) {
        let bits = self.nest.bits;
        let unit = |k: usize| places[k].at as i64 * if bits[k] == 4 { 2 } else { 1 };
        self.nest.for_each_element(|at| {
            let mut args: SmallVec<[u64; ARGS]> = SmallVec::new();
            for k in 1..self.nest.operands() {
                let memory = memories.get(places[k].memory.index()).map(AsRef::as_ref);
                args.extend(memory.map(|m| read_bits(m, unit(k) + at[k], bits[k])));
            }
            let memory = memories.get_mut(places[DST].memory.index());
            if let (Some(memory), Some(value)) = (memory, self.mapped.eval(args)) {
                write_bits(memory.as_mut(), unit(DST) + at[DST], bits[DST], value);
            }
        });
    }
}

/// The strides of a loop; those of scalars are `scalar`.
fn steps(from: [usize; ARGS], step: &[i64; OPERANDS], scalar: isize) -> [isize; OPERANDS] {
    let mut steps = [step[DST] as isize; OPERANDS];
    for k in 0..ARGS {
        steps[k + 1] = if from[k] == 0 { scalar } else { step[from[k]] as isize };
    }
    steps
}

/// The two innermost loops.
fn inner_loops(nest: &Nest, from: [usize; ARGS]) -> Loops {
    let inner = |back: usize, scalar: isize| match nest.dims.iter().nth_back(back) {
        Some(dim) => (dim.extent as usize, steps(from, &dim.step, scalar)),
        None => (1, steps(from, &[0; OPERANDS], scalar)),
    };
    let ((n, step), (rows, row_step)) = (inner(0, SCALAR), inner(1, 0));
    Loops { rows, row_step, n, step }
}
