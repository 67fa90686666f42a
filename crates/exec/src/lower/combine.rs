//! Stores that combine old contents with new elements: atomic adds, maxima and minima (isa/memory.md 3 and 5).
//!
//! First fresh elements are made, as a plain store would write them, then they are combined with the old contents. If
//! all is defined and no element of the view occurs twice, kernels do both. Otherwise they run element by element in
//! row-major order; an undefined element changes nothing. The combinations are logged if blocks are put together later
//! (isa/structure.md 4).

use crate::definedness::Value;
use crate::lower::{Effect, Lowering, Operand, missing};
use smallvec::SmallVec;
use std::sync::Arc;
use tessera_isa::elem::Elem;
use tessera_isa::layout::Layout;
use tessera_isa::sem::{Apply, Arg, Fixpipe, Func};
use tessera_kernels::memory::{CombineOp, Memories};
use tessera_kernels::nest::{DST, Map, Nest, Nests, OPERANDS, OutOfBounds, lower, read_bits};
use tessera_kernels::{Conversion, Convert, Failure, Kernel, Level, Mapped, Params, Place, Sides, internal_error};

/// A compiled store that combines.
#[derive(Clone, Debug)]
pub struct Combine {
    /// The function of an element of the view and a fresh one, and the function that makes a fresh one.
    op: Func,
    first: Func,
    extent: [u64; 2],
    view: Element,
    /// The arguments after the element of the view.
    args: SmallVec<[Argument; 2]>,
    one: Arc<CombineOp>,
    at_once: Option<AtOnce>,
}

/// An operand, by the points of the domain.
#[derive(Clone, Debug)]
struct Element {
    operand: u8,
    elem: Elem,
    layout: Layout,
    map: Map,
}

#[derive(Clone, Debug)]
enum Argument {
    Element(Box<Element>),
    Scalar(Elem, u64),
}

impl Element {
    /// The first byte of the element at a point.
    fn byte(&self, at: [u64; 2], places: &[Place]) -> Option<i64> {
        let (r, c) = self.map.of(at);
        let start = i64::try_from(places.get(usize::from(self.operand))?.at).ok()?;
        Some(start + self.layout.offset(r, c) * i64::from(self.elem.bits() / 8))
    }

    fn is_defined(&self, at: [u64; 2], memories: &Memories, places: &[Place]) -> bool {
        let byte = self.byte(at, places).and_then(|byte| usize::try_from(byte).ok());
        let (Some((_, memory)), Some(byte)) = (memories.operand(places, self.operand), byte) else { return false };
        !memories.tracked || memory.defined().has_all(byte, self.elem.bits() as usize / 8)
    }

    /// Its bits, where it is defined.
    fn read(&self, at: [u64; 2], memories: &Memories, places: &[Place]) -> Option<u64> {
        let (_, memory) = memories.operand(places, self.operand)?;
        let byte = self.byte(at, places)?;
        self.is_defined(at, memories, places).then(|| read_bits(memory.bytes(), byte, self.elem.bits()))
    }
}

/// The same store at once: fresh elements are made side by side, in the order in which those of the view lie.
#[derive(Clone, Debug)]
pub struct AtOnce {
    made: SmallVec<[Made; 1]>,
    how: Arc<CombineOp>,
}

/// The kernel that makes the fresh elements of one nest.
#[derive(Clone, Debug)]
enum Made {
    Copied(Box<Kernel>),
    Converted(Box<Convert>),
}

impl AtOnce {
    /// By nests from the tile to the view; `func` is the function of an element of the view and a fresh one.
    fn new(func: Func, elem: Elem, nests: &[Nest], conversion: Option<Conversion>) -> Self {
        let (mut from, mut to) = (Nests::new(), Nests::new());
        let mut base = 0;
        for nest in nests {
            let (mut making, mut putting) = (nest.clone(), nest.clone());
            let mut step = i64::from(elem.bits() / 8);
            (making.base[DST], putting.base) = (base, [nest.base[DST], base, 0, 0]);
            putting.bits = [elem.bits(), elem.bits(), 0, 0];
            for (making, putting) in making.dims.iter_mut().zip(&mut putting.dims).rev() {
                making.step[DST] = step;
                putting.step = [putting.step[DST], step, 0, 0];
                step = step.saturating_mul(making.extent as i64);
            }
            making.normalise();
            base = base.saturating_add(step);
            from.push(making);
            to.push(putting);
        }
        let made = |nest: Nest| match conversion {
            Some(conversion) => Made::Converted(Box::new(Convert::new(nest, conversion, Level::best()))),
            None => Made::Copied(Box::new(Kernel::new(&nest, Level::best()))),
        };
        let how = Arc::new(CombineOp::new(func, elem, to.iter()));
        AtOnce { made: from.into_iter().map(made).collect(), how }
    }

    /// Makes the fresh elements of a tile that starts at byte `at`.
    fn make(&self, tile: &[u8], at: usize, params: &Params, fresh: &mut Vec<u8>) -> Result<(), OutOfBounds> {
        fresh.resize(self.how.len, 0);
        for made in &self.made {
            let (sides, at) = (Sides::Two(tile, fresh), [at, 0]);
            match made {
                Made::Copied(kernel) => kernel.run(sides, at)?,
                Made::Converted(convert) => convert.run(sides, at, params)?,
            }
        }
        Ok(())
    }
}

impl Combine {
    /// Runs it; `is_defined` says whether everything that it reads is defined.
    pub fn run(
        &self,
        memories: &mut Memories,
        places: &[Place],
        params: &Params,
        is_defined: bool,
        effect: &mut Effect,
    ) {
        if !is_defined || self.run_at_once(memories, places, params).is_none() {
            self.run_each(memories, places, effect);
        }
    }

    /// With kernels, where no element is met again.
    fn run_at_once(&self, memories: &mut Memories, places: &[Place], params: &Params) -> Option<()> {
        let (all, Some(Argument::Element(from))) = (self.at_once.as_ref()?, self.args.first()) else { return None };
        let view = *places.get(usize::from(self.view.operand))?;
        let mut fresh = std::mem::take(&mut memories.fresh);
        let made = memories.operand(places, from.operand).map(|(at, m)| all.make(m.bytes(), at, params, &mut fresh));
        let is_made = made.is_some_and(|made| made.is_ok());
        if let Some(memory) = memories.get_mut(view.memory).filter(|_| is_made) {
            memory.combine(&all.how, view.at, &mut fresh);
        }
        memories.fresh = fresh;
        is_made.then_some(())
    }

    /// Element by element in row-major order.
    fn run_each(&self, memories: &mut Memories, places: &[Place], effect: &mut Effect) {
        let (to, [rows, cols]) = (self.view.elem, self.extent);
        for at in (0..rows).flat_map(|i| (0..cols).map(move |j| [i, j])) {
            let arg = |arg: &Argument| match arg {
                Argument::Element(element) => Some((element.elem, element.read(at, memories, places)?)),
                Argument::Scalar(elem, bits) => Some((*elem, *bits)),
            };
            let args: Option<SmallVec<[(Elem, u64); 2]>> = self.args.iter().map(arg).collect();
            let is_there = self.view.is_defined(at, memories, places);
            let (Some(args), true, Some(byte)) = (args, is_there, self.view.byte(at, places)) else {
                effect.add(Effect::STORED_UNDEFINED, true);
                continue;
            };
            // Lowering has checked that both functions are defined.
            let Some(new) = self.first.eval(to, &args) else { continue };
            let mut new = new.to_le_bytes();
            let place = places.get(usize::from(self.view.operand));
            if let (Some(memory), Some(new)) =
                (place.and_then(|place| memories.get_mut(place.memory)), new.get_mut(..self.one.len))
            {
                memory.combine(&self.one, byte as usize, new);
            }
        }
    }
}

/// The two functions of a store that combines.
fn combined(func: Func) -> Result<(Func, Func), Failure> {
    func.combined().ok_or_else(|| internal_error(&format!("a store combines by a {}", func.name())))
}

impl Lowering<'_> {
    /// Combines old contents with new elements; the first argument is the old element.
    pub fn combined(&mut self, apply: &Apply, to: Operand, from: SmallVec<[(Operand, Map); 3]>) -> Result<(), Failure> {
        let (extent, elem, (op, first)) = (apply.extent, to.elem, combined(apply.func)?);
        let mut numbers: SmallVec<[u8; OPERANDS]> = SmallVec::from_iter([to.number]);
        numbers.extend(from.iter().map(|(operand, _)| operand.number));
        let nests = {
            let read = from.iter().map(|(operand, map)| operand.at(*map));
            let operands: SmallVec<[_; OPERANDS]> = [to.at(apply.dst.1)].into_iter().chain(read).collect();
            lower(extent, &operands)
        };
        let at_once = self.at_once(apply, &to, from.get(1))?;
        let (mut args, mut typed): (SmallVec<[Argument; 2]>, SmallVec<[_; 3]>) = Default::default();
        let mut elements = from.into_iter();
        for arg in &apply.args {
            let arg = match arg {
                Arg::Scalar(elem, bits) => Argument::Scalar(*elem, *bits),
                Arg::Element(..) => {
                    let (from, map) = elements.next().ok_or_else(|| missing("element to read"))?;
                    let (operand, elem, layout) = (from.number, from.elem, from.layout);
                    Argument::Element(Box::new(Element { operand, elem, layout, map }))
                }
            };
            typed.push(match &arg {
                Argument::Scalar(elem, bits) => (*elem, Some(*bits)),
                Argument::Element(element) => (element.elem, None),
            });
            args.push(arg);
        }
        args.remove(0);
        let view = Element { operand: to.number, elem, layout: to.layout, map: apply.dst.1 };
        let one = self.made.combines.last().filter(|last| last.op == op && last.view.elem == elem);
        let one = one.map_or_else(|| Arc::new(CombineOp::one(op, elem)), |last| last.one.clone());
        self.made.combines.push(Combine { op, first, extent, view, args, one, at_once });
        let value = Value::Mapped(Mapped::new(apply.func, elem, typed)?);
        self.followed(&numbers, nests, value, true);
        Ok(())
    }

    /// The same at once, where no element is met again. The parameters are looked at before anything is written.
    fn at_once(
        &mut self,
        apply: &Apply,
        to: &Operand,
        from: Option<&(Operand, Map)>,
    ) -> Result<Option<AtOnce>, Failure> {
        let ((op, first), (from, map)) = (combined(apply.func)?, from.ok_or_else(|| missing("element to read"))?);
        let two = [to.at(apply.dst.1), from.at(*map)];
        let is_apart = to.layout.is_injective() && apply.dst.1.step == Map::SAME.step;
        let is_worth_it = is_apart && apply.extent != [1, 1];
        let (nests, conversion) = match first {
            Func::Fixpipe { relu, hardware_rounding, saturate_inf, quant } => {
                let fixpipe = Fixpipe { src: from.elem, dst: to.elem, relu, hardware_rounding, saturate_inf };
                let (_, nests) = self.fixpipe(&fixpipe, quant, apply.args.get(2), apply.extent, two)?;
                (nests, Some(Conversion::Fixpipe(fixpipe)))
            }
            _ if is_worth_it => (lower(apply.extent, &two), None),
            _ => return Ok(None),
        };
        Ok(is_worth_it.then(|| AtOnce::new(op, to.elem, &nests, conversion)))
    }
}
