//! Elementwise instructions that follow each other as acts on registers: they go over the data once, and what only the next
//! one takes is never written. A fold of the rows of what they make takes them from the registers, too.
//!
//! The safe twin is to run the instructions one after the other, which is what happens on machines without AVX-512.

use super::fold::{BegunFold, RowsFolded};
use super::part::{Does, Link};
use super::{Level, OutOfBounds};
use crate::nest::{DST, SRC};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_isa::elem::Elem;
use tessera_isa::sem::{Func, Rounding, Saturation};

/// What happens to what is in the registers, all of which is f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    /// Takes the operand in its place.
    Take,
    /// Writes it.
    Put(Form),
    /// Makes every NaN the one that arithmetic gives.
    Settle,
    Round(Form),
    Add,
    Sub,
    /// The operand less what is there.
    SubFrom,
    Mul,
    Div,
    /// The operand by what is there.
    DivOf,
    Max,
    Min,
    Relu,
    Sqrt,
    Recip,
    Abs,
    Neg,
    Exp,
    ExpDif,
    Log,
    Rsqrt,
}

/// How elements lie in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    F32,
    F16,
    Bf16,
    I16,
    I8,
    U8,
}

impl Form {
    fn of(elem: Elem) -> Option<Form> {
        Some(match elem {
            Elem::F32 => Form::F32,
            Elem::F16 => Form::F16,
            Elem::Bf16 => Form::Bf16,
            Elem::I16 => Form::I16,
            Elem::I8 => Form::I8,
            Elem::U8 => Form::U8,
            _ => return None,
        })
    }

    /// Bytes of an element.
    #[inline(always)]
    pub fn size(self) -> usize {
        match self {
            Form::F32 => 4,
            Form::F16 | Form::Bf16 | Form::I16 => 2,
            Form::I8 | Form::U8 => 1,
        }
    }
}

/// Where the operand of an act is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// In the registers.
    Own,
    /// In memory, side by side.
    Dense,
    /// In memory, one for all of a row.
    One,
}

/// An act whose operand was found in its memory.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "acts run on x86-64 only"))]
pub(crate) struct Bound {
    pub act: Act,
    pub kind: Kind,
    pub form: Form,
    /// Where it starts, and how far it is to the next strip, to the next row and to the next element.
    pub start: *mut u8,
    pub strip: isize,
    pub row: isize,
    pub step: usize,
    /// Are there only [`SLOT_ROWS`] rows, or [`FOLDED`] rows and columns, which are used again and again?
    pub wraps: bool,
}

/// Rows of what is in scratch memory: no more go through the acts at once.
pub(crate) const SLOT_ROWS: usize = 4;

/// So many rows are folded at once, as many columns of them at a time.
pub(crate) const FOLDED: usize = 16;

/// An act, and its operand as a side of one of the instructions.
#[derive(Clone, Copy, Debug)]
struct Placed {
    act: Act,
    kind: Kind,
    form: Form,
    /// The operand, where it is a scalar.
    value: Option<f32>,
    row: isize,
    /// The instruction and its side, where the operand is in memory.
    side: Option<(usize, usize)>,
    /// The byte of the scratch memory where it is, some rows of it.
    slot: Option<usize>,
}

/// Instructions that became acts.
#[derive(Debug)]
pub(crate) struct Fused {
    acts: Vec<Placed>,
    are_plain: bool,
    shape: [usize; 2],
    /// The instruction that folds what the acts make.
    fold: Option<(usize, RowsFolded)>,
    /// Elements of what is in scratch memory.
    slot: usize,
}

/// The elements of an operand in the first strip.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Region {
    memory: usize,
    first: i64,
    row: i64,
    strip: i64,
    form: Form,
    is_one: bool,
}

#[derive(Clone, Copy, Debug)]
enum Arg {
    Scalar(f32),
    Side(usize, Region),
}

impl Arg {
    fn is(&self, region: Option<Region>) -> bool {
        matches!(self, Arg::Side(_, own) if Some(*own) == region)
    }

    fn kind(&self) -> (Kind, Form) {
        match self {
            // One for all rows.
            Arg::Scalar(_) => (Kind::One, Form::F32),
            Arg::Side(_, Region { form, is_one: true, .. }) => (Kind::One, *form),
            Arg::Side(_, Region { form, .. }) => (Kind::Dense, *form),
        }
    }
}

/// An instruction over rows and columns.
#[derive(Debug)]
struct Step {
    /// What it computes; a copy computes nothing.
    act: Option<Act>,
    args: SmallVec<[Arg; 2]>,
    to: Region,
}

/// The acts of an instruction, each with the number of its argument.
type Acts = SmallVec<[(Act, Option<usize>); 2]>;

/// Instructions that can become acts together, and how.
#[derive(Debug)]
pub(crate) struct Run {
    shape: [u64; 2],
    steps: Vec<Step>,
    /// By instruction: the acts, each with the number of its argument.
    acts: Vec<Acts>,
    /// What the last instruction is, where it folds what the others make.
    fold: Option<RowsFolded>,
}

/// What is known of the NaNs in the registers.
#[derive(Clone, Copy, PartialEq)]
enum Bits {
    /// They are as memory has them.
    Read,
    /// Any NaN stands for the one that arithmetic gives.
    Made,
    /// There is no other than that one.
    Settled,
}

/// Rows that are shorter are not worth it.
const LEAST: u64 = 32;

/// The elements of a row where nothing says how long rows are: some of them fit the first-level cache.
const ROW: u64 = 1024;

impl Run {
    /// As many of these instructions from the first on as can become acts together; none where that is fewer than two.
    pub fn longest(links: &[Link], strips: i64) -> Option<Run> {
        let mut longest = None;
        for n in 2..=links.len() {
            match Run::new(links.get(..n)?, strips) {
                Some(run) => longest = Some(run),
                None => break,
            }
        }
        longest
    }

    /// All of them, if that can be and the machine has the registers.
    pub fn new(links: &[Link], strips: i64) -> Option<Run> {
        if Level::best() < Level::Avx512 {
            return None;
        }
        let fold = links.last()?.part.row_fold();
        let maps = links.get(..links.len() - usize::from(fold.is_some()))?;
        let shape = maps.iter().map(|link| link.part.shape()).collect::<Option<Vec<_>>>()?;
        let shape = shape.iter().copied().find(|shape| shape[0] > 1).or(shape.first().copied())?;
        let shape = match (fold, shape) {
            (Some(fold), _) if fold.shape.iter().all(|n| n.is_multiple_of(FOLDED)) => fold.shape.map(|n| n as u64),
            (Some(_), _) => return None,
            // What lies side by side can be rows of any length.
            (None, [1, n]) if n.is_multiple_of(ROW) => [n / ROW, ROW],
            (None, other) => other,
        };
        let steps: Vec<Step> = links.iter().map(|link| step(link, shape)).collect::<Option<_>>()?;
        if shape[1] < LEAST || !are_apart(links, &steps, strips) {
            return None;
        }
        let mut own = None;
        let mut acts = Vec::new();
        for step in &steps {
            acts.push(step.acts(own));
            own = Some(step.to);
        }
        // What is folded is in the registers, sixteen of them.
        let is_taken =
            fold.is_none() || acts.last().is_some_and(|acts| acts.is_empty()) && steps.iter().all(Step::is_plain);
        is_taken.then_some(Run { shape, steps, acts, fold })
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Is this side of an instruction taken from the registers, and not from memory?
    pub fn is_own(&self, link: usize, side: usize) -> bool {
        let (Some(step), Some(acts)) = (self.steps.get(link), self.acts.get(link)) else { return false };
        let is_side = |n: usize| matches!(step.args.get(n), Some(Arg::Side(k, _)) if *k == side);
        !acts.iter().any(|(_, arg)| arg.is_some_and(is_side))
    }

    /// Does an instruction write exactly what an earlier one wrote?
    pub fn overwrites(&self, link: usize, earlier: (&Run, usize)) -> bool {
        let (Some(step), Some(other)) = (self.steps.get(link), earlier.0.steps.get(earlier.1)) else { return false };
        let is_same =
            step.to.form.size() == other.to.form.size() && Region { form: other.to.form, ..step.to } == other.to;
        is_same && self.shape == earlier.0.shape
    }

    /// Does an instruction read, on this side, exactly what an earlier one of the run wrote?
    pub fn rereads(&self, link: usize, side: usize, earlier: usize) -> bool {
        let to = self.steps.get(earlier).map(|step| step.to);
        let is_side = |arg: &Arg| matches!(arg, Arg::Side(k, region) if *k == side && Some(*region) == to);
        self.steps.get(link).is_some_and(|step| step.args.iter().any(is_side))
    }

    /// The bytes of scratch memory that rows of what an instruction writes take.
    pub fn slot_bytes(&self, link: usize) -> usize {
        self.steps.get(link).map_or(0, |step| self.slot() * step.to.form.size())
    }

    /// The elements of a row in scratch memory.
    fn slot_row(&self) -> usize {
        if self.fold.is_some() { FOLDED } else { self.shape[1] as usize }
    }

    /// The elements there of what an instruction writes.
    fn slot(&self) -> usize {
        self.slot_row() * if self.fold.is_some() { FOLDED } else { SLOT_ROWS }
    }

    /// The acts, of which only those instructions write that are asked for; they are the ones from `first` on of a list. Sides
    /// in `slots` are not in memory, but some rows of them in the scratch memory.
    pub fn fused(
        &self,
        first: usize,
        is_put: impl Fn(usize) -> bool,
        slots: &FxHashMap<(usize, usize), usize>,
    ) -> Fused {
        let mut all: Vec<Placed> = Vec::new();
        let mut bits = Bits::Read;
        for (n, (step, acts)) in self.steps.iter().zip(&self.acts).enumerate() {
            let link = first + n;
            let mut push = |act: Act, arg: Option<&Arg>| {
                let (kind, form) = match act {
                    Act::Put(_) => (Kind::Own, Form::F32),
                    _ => arg.map_or((Kind::Own, Form::F32), Arg::kind),
                };
                let placed = Placed { act, kind, form, value: None, row: 0, side: None, slot: None };
                // What nobody has looked at is not taken.
                if act == Act::Take && matches!(all.last(), Some(Placed { act: Act::Take, .. })) {
                    all.pop();
                }
                all.push(match arg {
                    Some(Arg::Scalar(value)) => Placed { value: Some(*value), ..placed },
                    Some(Arg::Side(side, region)) => match slots.get(&(link, *side)) {
                        Some(slot) => {
                            let row = self.slot_row() * region.form.size();
                            Placed { slot: Some(*slot), row: row as isize, ..placed }
                        }
                        None => Placed { row: region.row as isize, side: Some((link, *side)), ..placed },
                    },
                    None => placed,
                });
            };
            for (act, arg) in acts {
                if matches!(act, Act::Abs | Act::Neg) && bits == Bits::Made {
                    push(Act::Settle, None);
                    bits = Bits::Settled;
                }
                push(*act, arg.and_then(|n| step.args.get(n)));
                bits = match (act, bits) {
                    (Act::Take, _) if step.act == Some(Act::Take) => Bits::Made,
                    (Act::Take | Act::Abs | Act::Neg, _) => Bits::Read,
                    (Act::Relu, Bits::Settled) => Bits::Settled,
                    (act, _) if act.settles() => Bits::Settled,
                    _ => Bits::Made,
                };
            }
            if step.act.is_some() && step.to.form != Form::F32 {
                push(Act::Round(step.to.form), None);
                bits = Bits::Settled;
            }
            let is_fold = self.fold.is_some() && n + 1 == self.steps.len();
            if is_put(link) && !is_fold {
                if bits == Bits::Made {
                    push(Act::Settle, None);
                    bits = Bits::Settled;
                }
                push(Act::Put(step.to.form), Some(&Arg::Side(DST, step.to)));
            }
        }
        let fold = self.fold.map(|fold| (first + self.steps.len() - 1, fold));
        let are_plain = self.steps.iter().all(Step::is_plain);
        Fused { acts: all, are_plain, shape: self.shape.map(|n| n as usize), fold, slot: self.slot() }
    }
}

impl Act {
    /// Needs it no registers of its own, beside f32?
    fn is_plain(self) -> bool {
        match self {
            Act::Put(form) => form == Form::F32,
            Act::Exp | Act::ExpDif | Act::Log | Act::Rsqrt | Act::Round(_) => false,
            _ => true,
        }
    }

    /// Has what it gives no NaN but the one that arithmetic gives?
    fn settles(self) -> bool {
        matches!(
            self,
            Act::Settle | Act::Round(_) | Act::Max | Act::Min | Act::Exp | Act::ExpDif | Act::Log | Act::Rsqrt
        )
    }

    /// The act with its arguments the other way round.
    fn turned(self) -> Option<Act> {
        match self {
            Act::Add | Act::Mul | Act::Max | Act::Min => Some(self),
            Act::Sub => Some(Act::SubFrom),
            Act::Div => Some(Act::DivOf),
            _ => None,
        }
    }
}

impl Step {
    /// Is all of it f32, and every act plain?
    fn is_plain(&self) -> bool {
        let is_f32 = |arg: &Arg| arg.kind().1 == Form::F32;
        self.act.is_none_or(Act::is_plain) && self.to.form == Form::F32 && self.args.iter().all(is_f32)
    }

    /// The acts of an instruction after one that left this region in the registers, each with the number of its argument.
    fn acts(&self, own: Option<Region>) -> Acts {
        let mut acts = SmallVec::new();
        let is = |n: usize, region: Option<Region>| self.args.get(n).is_some_and(|arg| arg.is(region));
        let turned = self.act.and_then(Act::turned).filter(|_| is(1, own) && !is(0, own));
        if let Some(act) = turned {
            acts.push((act, Some(0)));
            return acts;
        }
        let mut own = own;
        if !is(0, own) {
            acts.push((Act::Take, Some(0)));
            own = match self.args.first() {
                Some(Arg::Side(_, region)) => Some(*region),
                _ => None,
            };
        }
        let Some(act) = self.act.filter(|act| *act != Act::Take) else { return acts };
        let second = (self.args.len() > 1 && !is(1, own)).then_some(1);
        acts.push((act, second));
        acts
    }
}

/// A fold of rows: it takes what is in the registers, and there is a result for each row.
fn folding(link: &Link, fold: RowsFolded) -> Option<Step> {
    let region = |side: usize, (first, row): (i64, i64), is_one: bool| {
        let at = link.part.sides.get(side)?;
        let place = link.places.get(usize::from(at.operand))?;
        let first = i64::try_from(place.at).ok()?.checked_add(first)?;
        Some(Region { memory: place.memory.index(), first, row, strip: at.step, form: Form::F32, is_one })
    };
    let args = SmallVec::from_iter([Arg::Side(SRC, region(SRC, fold.from, false)?)]);
    Some(Step { act: None, args, to: region(DST, fold.to, true)? })
}

/// An instruction over rows and columns, if it is one that there are acts for.
fn step(link: &Link, shape: [u64; 2]) -> Option<Step> {
    if let Some(fold) = link.part.row_fold() {
        return folding(link, fold);
    }
    let (nest, does) = link.part.elementwise()?;
    let region = |side: usize, elem: Elem| {
        let form = Form::of(elem)?;
        let (row, step) = match nest.dims.as_slice() {
            [dim] if dim.extent == shape[0].checked_mul(shape[1])? => {
                (dim.step[side].checked_mul(shape[1] as i64)?, dim.step[side])
            }
            [rows, columns] if [rows.extent, columns.extent] == shape => (rows.step[side], columns.step[side]),
            _ => return None,
        };
        let at = link.part.sides.get(side)?;
        let place = link.places.get(usize::from(at.operand))?;
        let first = i64::try_from(place.at).ok()?.checked_add(nest.base[side])?;
        let is_one = step == 0;
        (is_one || step == form.size() as i64).then_some(Region {
            memory: place.memory.index(),
            first,
            row,
            strip: at.step,
            form,
            is_one,
        })
    };
    let (act, args, to) = match does {
        Does::Copy if nest.bits[..2] == [32, 32] => {
            (None, SmallVec::from_iter([Arg::Side(1, region(1, Elem::F32)?)]), Elem::F32)
        }
        Does::Copy => return None,
        Does::Map(kernel) => {
            let mapped = kernel.mapped();
            let mut args = SmallVec::new();
            let mut side = DST;
            for (n, (elem, scalar)) in mapped.args.iter().enumerate() {
                args.push(match scalar {
                    Some(_) => Arg::Scalar(kernel.scalar(n)),
                    None => {
                        side += 1;
                        Arg::Side(side, region(side, *elem)?)
                    }
                });
            }
            let from = mapped.elements().next()?;
            let is_kept =
                mapped.args.iter().all(|(elem, scalar)| if scalar.is_some() { elem.is_float() } else { *elem == from });
            let is_float = matches!(from, Elem::F32 | Elem::F16 | Elem::Bf16) && from == mapped.to;
            let act = match mapped.func {
                Func::Cvt { rounding, saturation } => converts(from, mapped.to, rounding, saturation)?,
                func if is_float && is_kept => act(func, from)?,
                _ => return None,
            };
            (Some(act), args, mapped.to)
        }
    };
    let to = region(DST, to)?;
    (!to.is_one && args.len() <= 2).then_some(Step { act, args, to })
}

fn act(func: Func, elem: Elem) -> Option<Act> {
    Some(match func {
        Func::Add => Act::Add,
        Func::Sub => Act::Sub,
        Func::Mul => Act::Mul,
        Func::Div => Act::Div,
        Func::Max => Act::Max,
        Func::Min => Act::Min,
        Func::Relu => Act::Relu,
        Func::Sqrt => Act::Sqrt,
        Func::Recip => Act::Recip,
        Func::Exp => Act::Exp,
        Func::ExpDif => Act::ExpDif,
        Func::Log => Act::Log,
        Func::Rsqrt => Act::Rsqrt,
        // These only touch the sign, of a NaN too.
        Func::Abs if elem == Elem::F32 => Act::Abs,
        Func::Neg if elem == Elem::F32 => Act::Neg,
        _ => return None,
    })
}

/// A conversion to a float that f32 and one rounding come to.
fn converts(from: Elem, to: Elem, rounding: Rounding, saturation: Option<Saturation>) -> Option<Act> {
    let is_clamped = saturation.unwrap_or_else(|| Saturation::usual(from, to)) == Saturation::On;
    let is_nearest = matches!(rounding, Rounding::None | Rounding::Rint | Rounding::CastRint);
    let is_exact = to == Elem::F32 && from != Elem::F32;
    let is_rounded = matches!(to, Elem::F16 | Elem::Bf16) && from == Elem::F32 && is_nearest && !is_clamped;
    (is_exact || is_rounded).then_some(Act::Take)
}

/// Do all that is written and all that others touch lie apart, or element by element at the same place?
fn are_apart(links: &[Link], steps: &[Step], strips: i64) -> bool {
    let mut seen: Vec<(Region, (i64, i64), bool)> = Vec::new();
    for (link, step) in links.iter().zip(steps) {
        let read = step.args.iter().filter_map(|arg| match arg {
            Arg::Side(side, region) => Some((*side, *region, false)),
            Arg::Scalar(_) => None,
        });
        let from = seen.len();
        for (side, region, is_written) in read.chain([(DST, step.to, true)]) {
            let Some(at) = link.part.sides.get(side) else { return false };
            // Where the region starts is not where the operand does.
            let Some(place) = link.places.get(usize::from(at.operand)) else { return false };
            let start = place.at as i64;
            seen.push((region, (start.saturating_add(at.span.0), start.saturating_add(at.span.1)), is_written));
        }
        for n in from..seen.len() {
            let (region, span, is_written) = seen[n];
            let meets = |(other, its_span, other_is_written): &(Region, (i64, i64), bool)| {
                let all = |(first, end): (i64, i64), strip: i64| {
                    (first, end.saturating_add(strip.saturating_mul(strips - 1)))
                };
                let is_beside = |a: (i64, i64), b: (i64, i64)| a.1 <= b.0 || b.1 <= a.0;
                let is_apart = is_beside(all(span, region.strip), all(*its_span, other.strip))
                    || region.strip == other.strip && is_beside(span, *its_span);
                let matters = (is_written || *other_is_written) && region.memory == other.memory;
                matters && region != *other && !is_apart
            };
            if seen[..n].iter().any(meets) {
                return false;
            }
        }
    }
    true
}

/// Acts whose operands were found inside their memories.
pub(super) struct BegunActs {
    acts: Vec<Bound>,
    are_plain: bool,
    shape: [usize; 2],
    fold: Option<BegunFold>,
}

impl BegunActs {
    /// Runs them on the strip with this number.
    ///
    /// Safety: it is one of those that were asked for, the memories are where they were, and nobody else touches them.
    pub unsafe fn run(&self, number: isize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: there are acts on machines with AVX-512 only ([`Run::longest`]); the spans of all sides were checked for the
        // first and the last strip, and what is written lies apart from what others touch, or element by element
        // ([`are_apart`]).
        unsafe {
            match &self.fold {
                Some(fold) => super::x86::folded(&self.acts, fold, self.shape, number),
                None => super::x86::fused(&self.acts, self.are_plain, self.shape, number),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (number, &self.acts, self.are_plain, self.shape, &self.fold);
    }
}

impl Fused {
    /// The acts on operands that start where `start` says, which has checked them, or in the scratch memory.
    pub(super) fn begin(
        &self,
        (scratch, room): (*mut u8, usize),
        start: impl Fn(usize, usize) -> Result<(*mut u8, isize), OutOfBounds>,
    ) -> Result<BegunActs, OutOfBounds> {
        let bound = |placed: &Placed| {
            let Placed { act, kind, form, value, row, side, slot } = placed;
            let step = match (act, kind) {
                (Act::Put(form), _) => form.size(),
                (_, Kind::Dense) => form.size(),
                _ => 0,
            };
            let (start, strip) = match (*slot, *side) {
                (Some(slot), _) if slot + step * self.slot <= room => (scratch.wrapping_add(slot), 0),
                (Some(_), _) => return Err(OutOfBounds::NOWHERE),
                (None, Some((link, side))) => start(link, side)?,
                // Nobody writes to a scalar.
                (None, None) => (value.as_ref().map_or(std::ptr::null(), std::ptr::from_ref).cast_mut().cast(), 0),
            };
            Ok(Bound { act: *act, kind: *kind, form: *form, start, strip, row: *row, step, wraps: slot.is_some() })
        };
        // The rows that it folds are in the registers.
        let fold =
            |(link, fold): (usize, RowsFolded)| Ok(BegunFold::new(fold, start(link, DST)?, (std::ptr::null_mut(), 0)));
        let mut acts = Vec::with_capacity(self.acts.len());
        for placed in &self.acts {
            acts.push(bound(placed)?);
        }
        Ok(BegunActs { acts, are_plain: self.are_plain, shape: self.shape, fold: self.fold.map(fold).transpose()? })
    }
}
