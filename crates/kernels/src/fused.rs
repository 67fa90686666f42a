//! Elementwise instructions that follow each other as acts on registers: they go over the data once, and a result that
//! only the next one reads is never written. A fold of the rows of the result takes them from the registers, too.
//!
//! The safe twin is to run the instructions one after the other, as on machines without AVX-512.

mod register_op;
mod step;

pub use register_op::{Bound, FOLDED, Form, Kind, RegisterOp, SLOT_ROWS};

use super::fold::{BoundRowFold, RowFoldPlan};
use super::row_slice::FusedOp;
use crate::Level;
use crate::nest::DST;
use crate::nest::OutOfBounds;
use rustc_hash::FxHashMap;
use step::{Arg, Region, RegisterOps, Step, are_apart, step};

/// An act, and its operand as a side of one of the instructions.
#[derive(Clone, Copy, Debug)]
struct Placed {
    act: RegisterOp,
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
pub struct Fused {
    acts: Vec<Placed>,
    are_plain: bool,
    shape: [usize; 2],
    /// The instruction that folds the result of the acts.
    fold: Option<(usize, RowFoldPlan)>,
    /// The number of elements of a slot in scratch memory.
    slot: usize,
}

/// Instructions that can become acts together, and how.
#[derive(Debug)]
pub struct FusedLoop {
    shape: [u64; 2],
    steps: Vec<Step>,
    /// By instruction: the acts, each with the number of its argument.
    acts: Vec<RegisterOps>,
    /// The last instruction's fold, if it folds the results of the others.
    fold: Option<RowFoldPlan>,
}

/// The state of the NaNs in the registers.
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

impl FusedLoop {
    /// As many of these instructions from the first on as can become acts together; none where that is fewer than two.
    pub fn longest(links: &[FusedOp], strips: i64) -> Option<FusedLoop> {
        let mut longest = None;
        for n in 2..=links.len() {
            match FusedLoop::new(links.get(..n)?, strips) {
                Some(run) => longest = Some(run),
                None => break,
            }
        }
        longest
    }

    /// All of them, if that can be and the machine has the registers.
    pub fn new(links: &[FusedOp], strips: i64) -> Option<FusedLoop> {
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
            // Contiguous elements can be rows of any length.
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
        // A fold takes its input from sixteen registers.
        let is_taken =
            fold.is_none() || acts.last().is_some_and(|acts| acts.is_empty()) && steps.iter().all(Step::is_plain);
        is_taken.then_some(FusedLoop { shape, steps, acts, fold })
    }

    /// The number of instructions.
    #[allow(clippy::len_without_is_empty, reason = "there are at least two")]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it takes the place of none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether an instruction takes this side from the registers and not from memory.
    pub fn is_own(&self, link: usize, side: usize) -> bool {
        let (Some(step), Some(acts)) = (self.steps.get(link), self.acts.get(link)) else { return false };
        let is_side = |n: usize| matches!(step.args.get(n), Some(Arg::Side(k, _)) if *k == side);
        !acts.iter().any(|(_, arg)| arg.is_some_and(is_side))
    }

    /// Whether an instruction writes exactly what an earlier one wrote.
    pub fn overwrites(&self, link: usize, earlier: (&FusedLoop, usize)) -> bool {
        let (Some(step), Some(other)) = (self.steps.get(link), earlier.0.steps.get(earlier.1)) else { return false };
        let is_same =
            step.to.form.size() == other.to.form.size() && Region { form: other.to.form, ..step.to } == other.to;
        is_same && self.shape == earlier.0.shape
    }

    /// Whether an instruction reads, on this side, exactly what an earlier one of the run wrote.
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
            let mut push = |act: RegisterOp, arg: Option<&Arg>| {
                let (kind, form) = match act {
                    RegisterOp::Put(_) => (Kind::Own, Form::F32),
                    _ => arg.map_or((Kind::Own, Form::F32), Arg::kind),
                };
                let placed = Placed { act, kind, form, value: None, row: 0, side: None, slot: None };
                // A value that no act has read is not taken.
                if act == RegisterOp::Take && matches!(all.last(), Some(Placed { act: RegisterOp::Take, .. })) {
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
                if matches!(act, RegisterOp::Abs | RegisterOp::Neg) && bits == Bits::Made {
                    push(RegisterOp::Settle, None);
                    bits = Bits::Settled;
                }
                push(*act, arg.and_then(|n| step.args.get(n)));
                bits = match (act, bits) {
                    (RegisterOp::Take, _) if step.act == Some(RegisterOp::Take) => Bits::Made,
                    (RegisterOp::Take | RegisterOp::Abs | RegisterOp::Neg, _) => Bits::Read,
                    (RegisterOp::Relu, Bits::Settled) => Bits::Settled,
                    (act, _) if act.settles() => Bits::Settled,
                    _ => Bits::Made,
                };
            }
            if step.act.is_some() && step.to.form != Form::F32 {
                push(RegisterOp::Round(step.to.form), None);
                bits = Bits::Settled;
            }
            let is_fold = self.fold.is_some() && n + 1 == self.steps.len();
            if is_put(link) && !is_fold {
                if bits == Bits::Made {
                    push(RegisterOp::Settle, None);
                    bits = Bits::Settled;
                }
                push(RegisterOp::Put(step.to.form), Some(&Arg::Side(DST, step.to)));
            }
        }
        let fold = self.fold.map(|fold| (first + self.steps.len() - 1, fold));
        let are_plain = self.steps.iter().all(Step::is_plain);
        Fused { acts: all, are_plain, shape: self.shape.map(|n| n as usize), fold, slot: self.slot() }
    }
}

/// Acts whose operands were found inside their memories.
pub(super) struct BoundRegisterOps {
    acts: Vec<Bound>,
    are_plain: bool,
    shape: [usize; 2],
    fold: Option<BoundRowFold>,
}

impl BoundRegisterOps {
    /// Runs them on the strip with this number.
    ///
    /// Safety: the number is one of those requested, the memories have not moved, and nothing else accesses them.
    pub unsafe fn run(&self, number: isize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: there are acts on machines with AVX-512 only ([`FusedLoop::longest`]); the spans of all sides were checked for the
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
    ) -> Result<BoundRegisterOps, OutOfBounds> {
        let bound = |placed: &Placed| {
            let Placed { act, kind, form, value, row, side, slot } = placed;
            let step = match (act, kind) {
                (RegisterOp::Put(form), _) => form.size(),
                (_, Kind::Dense) => form.size(),
                _ => 0,
            };
            let (start, strip) = match (*slot, *side) {
                (Some(slot), _) if slot + step * self.slot <= room => (scratch.wrapping_add(slot), 0),
                (Some(_), _) => return Err(OutOfBounds::NOWHERE),
                (None, Some((link, side))) => start(link, side)?,
                // A scalar is never written.
                (None, None) => (value.as_ref().map_or(std::ptr::null(), std::ptr::from_ref).cast_mut().cast(), 0),
            };
            Ok(Bound { act: *act, kind: *kind, form: *form, start, strip, row: *row, step, wraps: slot.is_some() })
        };
        // The rows that it folds are in the registers.
        let fold = |(link, fold): (usize, RowFoldPlan)| {
            Ok(BoundRowFold::new(fold, start(link, DST)?, (std::ptr::null_mut(), 0)))
        };
        let mut acts = Vec::with_capacity(self.acts.len());
        for placed in &self.acts {
            acts.push(bound(placed)?);
        }
        Ok(BoundRegisterOps {
            acts,
            are_plain: self.are_plain,
            shape: self.shape,
            fold: self.fold.map(fold).transpose()?,
        })
    }
}
