//! Loops of micro instructions whose rounds run several at a time: one instruction goes through the registers of all these
//! rounds before the next one does. Rounds that the plans of their instructions do not cover run one by one.

mod build;
mod vectors;

use super::code::{BlockArgCopy, Code, For, Int, IntSlot, MicroSlot};
use super::micro::MicroValue;
use super::micro_fast::is_in_ub;
use super::step::Exec;
use smallvec::SmallVec;
use std::ops::Range;
use tessera_ir::ScalarType;
use tessera_isa::inst::Cmp;
use tessera_isa::tile::Loc;
use tessera_kernels::memory::AlignedBytes;
use tessera_kernels::{MapKernel, MemoryId, on_core};
use tessera_micro::plan::Conversion;
use tessera_micro::{BYTES, Bits, Call, Extreme, Mask, Reg, Space};
use vectors::{Vectors, lanes, lanes_mut, rounds};

/// Rounds that run together at most: their registers fit into the first-level cache.
const ROUNDS: usize = 32;
/// Fewer rounds than these run one by one.
const LEAST: usize = 4;

/// A register of the loop, by number: there is one for each round.
type RegId = usize;
/// A mask of the loop.
type MaskId = usize;

/// The mask with all lanes on.
const ALL: MaskId = 0;

/// An address of UB: pointer + index.
#[derive(Clone, Copy, Debug)]
struct Address {
    base: Int,
    index: Int,
    /// Bytes of an element of the pointer, and bytes that are accessed.
    size: i64,
    len: usize,
    /// Its row in the table of addresses.
    row: usize,
}

impl Address {
    /// Goes on with the step between the first two; `None` where one is not aligned, or outside.
    fn extend(&self, at: &mut [usize]) -> Option<()> {
        let (first, second) = (*at.first()?, *at.get(1)?);
        let step = second.wrapping_sub(first) as isize;
        let last = first.checked_add_signed(step.checked_mul(at.len() as isize - 1)?)?;
        // Between two that are aligned and as far apart as the first two, all are; the lowest and the highest are at the ends.
        if ![second, last].into_iter().all(|at| is_in_ub(at, self.len)) {
            return None;
        }
        at.iter_mut().enumerate().for_each(|(k, to)| *to = first.wrapping_add_signed(step * k as isize));
        Some(())
    }
}

/// A number that is put into every lane of a register.
#[derive(Clone, Copy, Debug)]
struct Number {
    int: Int,
    ty: Option<ScalarType>,
    elem: ScalarType,
    lane: usize,
    to: RegId,
    /// Its row in the table of numbers.
    row: usize,
}

/// A conversion between 32 and 16 bits: its kernels read and write 16-bit numbers that lie one behind the other.
#[derive(Debug)]
struct Convert {
    how: Conversion,
    kernels: [MapKernel; 2],
    from: RegId,
    /// Room for the 16-bit numbers, and for a saturated copy of the source.
    half: RegId,
    copy: RegId,
}

#[derive(Debug)]
enum Act {
    /// Integers: done before everything else.
    Scalar,
    Load(Address),
    Store(Address, RegId),
    Number(Number),
    /// A kernel for one round, and one for all of them.
    Map(Box<[MapKernel; 2]>, [RegId; 2]),
    Convert(Box<Convert>),
    Compare(Cmp, [RegId; 2], MaskId),
    Select([RegId; 2]),
    /// A lane of a register in every lane.
    Broadcast(RegId, usize),
    Sum(RegId),
    Find(RegId, Extreme),
    Below(Int, IntSlot, MaskId),
    Pattern(Box<Mask>, MaskId),
    /// Order, which one step after the other keeps.
    Nothing,
}

/// An operation of the body.
#[derive(Debug)]
struct Step {
    /// Its place in the body.
    place: usize,
    act: Act,
    to: RegId,
    mask: MaskId,
    /// Bytes of a lane.
    lane: usize,
    /// Whether a load's register may be the memory itself: nothing is stored before its last use.
    stays: bool,
}

/// A value that a round hands on to the next one.
#[derive(Debug)]
struct Carried {
    slot: MicroSlot,
    to: RegId,
    from: RegId,
}

/// A loop that can run in strips.
#[derive(Debug, Default)]
pub struct StripLoop {
    steps: Vec<Step>,
    /// Steps that need what an earlier round made: these go round by round.
    serial: Range<usize>,
    carried: Vec<Carried>,
    /// Values of before the loop.
    outer_regs: Vec<(MicroSlot, RegId)>,
    outer_masks: Vec<(MicroSlot, MaskId)>,
    /// Masks that must have all lanes of so many bytes on: conversions have no other plan.
    full: Vec<(MaskId, usize)>,
    ints: Vec<BlockArgCopy>,
    /// Whether every integer of the body is a linear function of the loop's variable.
    is_linear: bool,
    regs: usize,
    masks: usize,
    addresses: usize,
    numbers: usize,
}

/// The registers and masks of a strip.
#[derive(Debug, Default)]
pub struct StripState {
    regs: Option<AlignedBytes>,
    masks: Vec<[Mask; ROUNDS]>,
    addresses: Vec<[usize; ROUNDS]>,
    numbers: Vec<[i64; ROUNDS]>,
    /// By register: the address where all its rounds lie one behind the other, if it is not copied.
    memory: Vec<Option<usize>>,
}

/// Whether two accesses of these addresses, of which the second comes earlier in a round, may not change places: the one of
/// an earlier round would come after that of a later one.
fn conflict(late: (&[usize], usize), early: (&[usize], usize)) -> bool {
    let ends = |(all, len): (&[usize], usize)| {
        let (low, high) = all.iter().fold((usize::MAX, 0), |(low, high), at| (low.min(*at), high.max(*at)));
        (low, high + len)
    };
    let ((a, b), (c, d)) = (ends(late), ends(early));
    if b <= c || d <= a {
        return false;
    }
    let overlap = |i: usize, j: usize| late.0[i] < early.0[j] + early.1 && early.0[j] < late.0[i] + late.1;
    let rising = late.0 == early.0 && late.0.windows(2).all(|w| w[1] >= w[0] + late.1.max(early.1));
    !rising && (0..late.0.len()).any(|i| (i + 1..early.0.len()).any(|j| overlap(i, j)))
}

impl Exec<'_> {
    /// Whether loops may run in strips: nobody looks at the single operations.
    pub fn runs_strips(&self) -> bool {
        self.observer.as_ref().is_none_or(|observer| !observer.looks_at_bytes())
            && self.watch.is_none()
            && self.trace.is_none()
            && self.recorder.is_none()
            && self.scope_log.is_none()
    }

    /// The values of before a loop in the registers of its strips. `None` where one is not all defined.
    pub fn begin_strips(&mut self, strip: &StripLoop, count: usize) -> Option<Box<StripState>> {
        let mut state = std::mem::take(&mut self.micro.strip).unwrap_or_default();
        let count = count.min(ROUNDS);
        let bytes = strip.regs * ROUNDS * BYTES;
        if state.regs.as_ref().is_none_or(|regs| regs.len() < bytes) {
            state.regs = Some(AlignedBytes::zeroed(bytes));
        }
        state.masks.resize(strip.masks + 1, [Mask::of(Bits::ALL); ROUNDS]);
        state.masks.get_mut(ALL)?.fill(Mask::of(Bits::ALL));
        state.addresses.resize(strip.addresses, [0; ROUNDS]);
        state.numbers.resize(strip.numbers, [0; ROUNDS]);
        state.memory.clear();
        state.memory.resize(strip.regs, None);
        let regs: &mut [u8] = state.regs.as_mut()?;
        for (slot, reg) in &strip.outer_regs {
            let MicroValue::Reg(value) = self.micro.values.get(slot.index())? else { return None };
            if !value.defined.is_all() {
                return None;
            }
            regs.get_mut(rounds(*reg, 0, count))?
                .chunks_exact_mut(BYTES)
                .for_each(|to| to.copy_from_slice(&value.bytes));
        }
        for (slot, mask) in &strip.outer_masks {
            let MicroValue::Mask(value) = self.micro.values.get(slot.index())? else { return None };
            if !value.defined.is_all() {
                return None;
            }
            state.masks.get_mut(*mask)?.fill(**value);
        }
        Some(state)
    }

    /// Gives the registers back.
    pub fn end_strips(&mut self, state: Option<Box<StripState>>) {
        self.micro.strip = state;
    }

    /// Runs the next rounds of a loop together and returns their number; `None` where they must run one by one, and then
    /// nothing has changed.
    pub fn strip(
        &mut self,
        f: &For,
        strip: &StripLoop,
        state: &mut StripState,
        (i, step, left): (i64, i64, u64),
    ) -> Option<usize> {
        let count = usize::try_from(left).unwrap_or(ROUNDS).min(ROUNDS);
        if count < LEAST || !self.has_steps(count as u64 * (f.body.len() as u64 + 1)) {
            return None;
        }
        let before: Vec<(IntSlot, i64)> = strip
            .ints
            .iter()
            .filter_map(|hand| {
                if let BlockArgCopy::Int { to, .. } = hand { Some((*to, self.int(Int::Slot(*to)))) } else { None }
            })
            .collect();
        let covered = self.strip_scalars(f, strip, state, (i, step), count);
        let covered = covered.and_then(|()| self.strip_fits(strip, state, count));
        if covered.is_none() {
            before.into_iter().for_each(|(slot, value)| self.set(slot, value));
            return None;
        }
        let id = on_core(MemoryId::of_loc(Loc::Vec), self.engine.core);
        let memory = self.engine.memories.get_mut(id)?;
        let regs: &mut [u8] = state.regs.as_mut()?;
        let mut vectors = Vectors {
            regs,
            masks: &mut state.masks,
            addresses: &state.addresses,
            numbers: &state.numbers,
            lies: &mut state.memory,
            memory,
        };
        for carried in &strip.carried {
            let MicroValue::Reg(value) = self.micro.values.get(carried.slot.index())? else { return None };
            *lanes_mut(vectors.regs, carried.to, 0)? = value.bytes;
        }
        let (before, rest) = strip.steps.split_at(strip.serial.start);
        let (serial, after) = rest.split_at(strip.serial.len());
        before.iter().try_for_each(|step| vectors.run(step, 0, count))?;
        if !strip.carried.is_empty() {
            for k in 0..count {
                for carried in strip.carried.iter().filter(|_| k > 0) {
                    *lanes_mut(vectors.regs, carried.to, k)? = *lanes(vectors.regs, carried.from, k - 1)?;
                }
                serial.iter().try_for_each(|step| vectors.run(step, k, 1))?;
            }
        }
        after.iter().try_for_each(|step| vectors.run(step, 0, count))?;
        for carried in &strip.carried {
            let bytes = *lanes(vectors.regs, carried.from, count - 1)?;
            *self.micro.values.get_mut(carried.slot.index())? =
                MicroValue::Reg(Box::new(Reg { bytes, defined: Bits::ALL }));
        }
        Some(count)
    }

    /// The integers of some rounds: addresses, numbers and the masks of counts.
    fn strip_scalars(
        &mut self,
        f: &For,
        strip: &StripLoop,
        state: &mut StripState,
        (i, by): (i64, i64),
        count: usize,
    ) -> Option<()> {
        for carried in &strip.carried {
            let MicroValue::Reg(value) = self.micro.values.get(carried.slot.index())? else { return None };
            value.defined.is_all().then_some(())?;
        }
        // Two rounds tell what the others of a linear loop are.
        let computed = if strip.is_linear { 2 } else { count };
        for k in 0..computed {
            self.set(f.iv, i.checked_add(by.checked_mul(k as i64)?)?);
            for step in &strip.steps {
                match &step.act {
                    Act::Scalar => self.scalar(f.body.get(step.place)?).ok()?,
                    Act::Load(address) | Act::Store(address, _) => {
                        let by = self.int(address.index).wrapping_mul(address.size);
                        let at = usize::try_from(self.int(address.base).wrapping_add(by)).ok()?;
                        if !is_in_ub(at, address.len) {
                            return None;
                        }
                        *state.addresses.get_mut(address.row)?.get_mut(k)? = at;
                    }
                    Act::Number(number) => {
                        *state.numbers.get_mut(number.row)?.get_mut(k)? = self.int(number.int);
                    }
                    Act::Below(count, rest, mask) => {
                        let count = self.int(*count);
                        let call = call_of(f, step.place)?;
                        // A negative count is warned of.
                        if (count as i32) < 0 {
                            return None;
                        }
                        *state.masks.get_mut(*mask)?.get_mut(k)? = tessera_micro::run::below(call, count)?;
                        self.set(*rest, tessera_micro::run::rest(call, count)?);
                    }
                    _ => {}
                }
            }
            self.hand(&strip.ints).ok()?;
        }
        if strip.is_linear {
            for step in &strip.steps {
                match &step.act {
                    Act::Load(address) | Act::Store(address, _) => {
                        address.extend(state.addresses.get_mut(address.row)?.get_mut(..count)?)?;
                    }
                    Act::Number(number) => {
                        let row = state.numbers.get_mut(number.row)?;
                        let first = *row.first()?;
                        row.fill(first);
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// Whether the loads of some rounds read defined bytes, no access depends on the order of rounds, and masks are as plans
    /// need them.
    fn strip_fits(&mut self, strip: &StripLoop, state: &mut StripState, count: usize) -> Option<()> {
        let id = on_core(MemoryId::of_loc(Loc::Vec), self.engine.core);
        self.engine.memories.reserve(id, Space::Ub.size()?).ok()?;
        for step in &strip.steps {
            if let Act::Pattern(mask, to) = &step.act {
                state.masks.get_mut(*to)?.fill(**mask);
            }
        }
        for (mask, lane) in &strip.full {
            state.masks.get(*mask)?.iter().take(count).all(|mask| mask.is_on(*lane)).then_some(())?;
        }
        let tracked = self.engine.memories.tracked;
        let memory = self.engine.memories.get(id)?;
        let mut accesses: SmallVec<[(&[usize], usize, bool); 8]> = SmallVec::new();
        for step in &strip.steps {
            let (address, is_store) = match &step.act {
                Act::Load(address) => (address, false),
                Act::Store(address, _) => (address, true),
                _ => continue,
            };
            let at = state.addresses.get(address.row)?.get(..count)?;
            if !is_store && tracked {
                let is_run = at.windows(2).all(|w| w[1] == w[0] + address.len);
                let is_defined = match is_run {
                    true => memory.defined().has_all(*at.first()?, address.len * count),
                    false => at.iter().all(|at| memory.defined().has_all(*at, address.len)),
                };
                is_defined.then_some(())?;
            }
            for (earlier, len, stores) in &accesses {
                if (is_store || *stores) && conflict((at, address.len), (earlier, *len)) {
                    return None;
                }
            }
            accesses.push((at, address.len, is_store));
        }
        Some(())
    }
}

/// The instruction at a place of a loop's body.
fn call_of(f: &For, place: usize) -> Option<&Call> {
    if let Code::Micro(op) = f.body.get(place)? { Some(&op.call) } else { None }
}
