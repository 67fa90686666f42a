//! The instructions of a strip on the registers of all its rounds.

use super::{ALL, Act, Address, Convert, ROUNDS, RegId, Step};
use smallvec::SmallVec;
use std::ops::Range;
use tessera_kernels::memory::Memory;
use tessera_kernels::registers::{spread_halves, sums, take_halves};
use tessera_kernels::{MapKernel, MemoryId, Place};
use tessera_micro::plan::{clear_inactive, compare, find, saturate, sum, sum_bits};
use tessera_micro::run::scalar_bits;
use tessera_micro::{BYTES, Mask};

/// The bytes of a register in some rounds.
pub fn rounds(reg: RegId, first: usize, count: usize) -> Range<usize> {
    (reg * ROUNDS + first) * BYTES..(reg * ROUNDS + first + count) * BYTES
}

/// One register.
pub fn lanes(regs: &[u8], reg: RegId, round: usize) -> Option<&[u8; BYTES]> {
    regs.get(rounds(reg, round, 1))?.try_into().ok()
}

pub fn lanes_mut(regs: &mut [u8], reg: RegId, round: usize) -> Option<&mut [u8; BYTES]> {
    regs.get_mut(rounds(reg, round, 1))?.try_into().ok()
}

/// The memory of a strip as its instructions see it.
pub struct Vectors<'a> {
    pub regs: &'a mut [u8],
    pub masks: &'a mut [[Mask; ROUNDS]],
    pub addresses: &'a [[usize; ROUNDS]],
    pub numbers: &'a [[i64; ROUNDS]],
    /// By register: where in memory it lies.
    pub lies: &'a mut [Option<usize>],
    pub memory: &'a mut Memory,
}

impl Vectors<'_> {
    /// Runs an instruction for some rounds, one of them or those from the first one on.
    pub fn run(&mut self, step: &Step, first: usize, count: usize) -> Option<()> {
        let all = first..first + count;
        match &step.act {
            Act::Scalar | Act::Below(..) | Act::Pattern(..) | Act::Nothing => {}
            Act::Load(address) => {
                let at = self.addresses.get(address.row)?.get(all)?;
                let is_run = address.len == BYTES && at.windows(2).all(|w| w[1] == w[0] + BYTES);
                // The kernels go through all rounds that there could be.
                let start = *at.first()?;
                let stays = step.stays && is_run && count > 1 && start + ROUNDS * BYTES <= self.memory.bytes().len();
                *self.lies.get_mut(step.to)? = stays.then_some(start);
                if stays {
                    return Some(());
                }
                let to = self.regs.get_mut(rounds(step.to, first, count))?;
                if is_run {
                    to.copy_from_slice(self.memory.bytes().get(start..start + count * BYTES)?);
                    return Some(());
                }
                for (to, at) in to.chunks_exact_mut(BYTES).zip(at) {
                    let bytes = self.memory.bytes().get(*at..at + address.len)?;
                    to.chunks_exact_mut(address.len).for_each(|to| to.copy_from_slice(bytes));
                }
            }
            Act::Store(address, from) => self.store(step, address, *from, all)?,
            Act::Number(number) => {
                let values = self.numbers.get(number.row)?.get(all)?;
                let to = self.regs.get_mut(rounds(number.to, first, count))?;
                for (to, raw) in to.chunks_exact_mut(BYTES).zip(values) {
                    let bits = scalar_bits(number.ty, *raw, number.elem).to_le_bytes();
                    let lane = bits.get(..number.lane)?;
                    to.chunks_exact_mut(number.lane).for_each(|to| to.copy_from_slice(lane));
                }
            }
            Act::Map(kernels, [a, b]) => {
                self.kernel(kernels, step.to, [*a, *b], first, count)?;
                self.clear(step, all)?;
            }
            Act::Convert(convert) if convert.how.narrows() => {
                let how = &convert.how;
                let special = self.narrow(convert, convert.from, step.to, first, count)?;
                if special && let Some(largest) = how.largest {
                    for k in all {
                        let source = *self.lanes(convert.from, k)?;
                        let copied = lanes_mut(self.regs, convert.copy, k)?;
                        *copied = source;
                        saturate(copied, largest);
                    }
                    self.narrow(convert, convert.copy, step.to, first, count)?;
                }
            }
            Act::Convert(convert) => {
                let (half, odd) = (rounds(convert.half, first, count), convert.how.is_odd());
                match *self.lies.get(convert.from)? {
                    Some(start) => {
                        let from = self.memory.bytes().get(start + first * BYTES..start + (first + count) * BYTES)?;
                        take_halves(from, self.regs.get_mut(half)?, odd);
                    }
                    None => {
                        let both = [rounds(convert.from, first, count), half];
                        let [from, to] = self.regs.get_disjoint_mut(both).ok()?;
                        take_halves(from, to, odd);
                    }
                }
                self.kernel(&convert.kernels, step.to, [convert.half; 2], first, count)?;
            }
            Act::Compare(cmp, [a, b], to) => {
                for k in all {
                    let mask = self.masks.get(step.mask)?.get(k)?;
                    let made = compare(self.lanes(*a, k)?, self.lanes(*b, k)?, mask, *cmp);
                    *self.masks.get_mut(*to)?.get_mut(k)? = made;
                }
            }
            Act::Select([a, b]) => {
                for k in all {
                    let mask = self.masks.get(step.mask)?.get(k)?;
                    let mut out = *self.lanes(*b, k)?;
                    let from = self.lanes(*a, k)?;
                    for run in mask.active_bytes(step.lane).runs() {
                        out.get_mut(run.clone())?.copy_from_slice(from.get(run)?);
                    }
                    *lanes_mut(self.regs, step.to, k)? = out;
                }
            }
            Act::Broadcast(from, lane) => {
                for k in all.clone() {
                    let mut unit = [0; 8];
                    let source = self.lanes(*from, k)?.chunks_exact(step.lane).nth(*lane)?;
                    unit.get_mut(..step.lane)?.copy_from_slice(source);
                    let to = lanes_mut(self.regs, step.to, k)?;
                    to.chunks_exact_mut(step.lane).for_each(|to| to.copy_from_slice(&unit[..step.lane]));
                }
                self.clear(step, all)?;
            }
            Act::Sum(from) => {
                let mut totals = [0.0; ROUNDS];
                let totals = totals.get_mut(..count)?;
                sums(self.source(*from, first, count)?, totals);
                for (k, total) in all.zip(totals) {
                    let mask = self.masks.get(step.mask)?.get(k)?;
                    let total = match mask.is_on(4) {
                        true => sum_bits(*total),
                        false => sum(self.lanes(*from, k)?, mask),
                    };
                    let to = lanes_mut(self.regs, step.to, k)?;
                    to.fill(0);
                    to.get_mut(..4)?.copy_from_slice(&total.to_le_bytes());
                }
            }
            Act::Find(from, side) => {
                for k in all {
                    let (bits, n) = find(self.lanes(*from, k)?, self.masks.get(step.mask)?.get(k)?, *side);
                    let to = lanes_mut(self.regs, step.to, k)?;
                    to.fill(0);
                    to.get_mut(..4)?.copy_from_slice(&bits.to_le_bytes());
                    to.get_mut(4..8)?.copy_from_slice(&n.to_le_bytes());
                }
            }
        }
        Some(())
    }
}

impl Vectors<'_> {
    /// A function of the lanes, of one round or of all.
    fn kernel(
        &mut self,
        kernels: &[MapKernel; 2],
        to: RegId,
        [a, b]: [RegId; 2],
        first: usize,
        count: usize,
    ) -> Option<()> {
        let (kernel, count) = if count == 1 { (&kernels[0], 1) } else { (&kernels[1], ROUNDS) };
        let place = |reg: RegId| match self.lies.get(reg).copied().flatten() {
            Some(start) => Place { memory: MemoryId::new(1), at: start + first * BYTES },
            None => Place { memory: MemoryId::new(0), at: rounds(reg, first, count).start },
        };
        let (to, a, b) = (place(to), place(a), place(b));
        // An operand that the kernel does not have lies where another one does.
        let at = [to, a, b, a];
        kernel.run_at(&mut [&mut *self.regs, self.memory.as_mut()], at).ok()
    }

    /// Converts to 16 bits, which are spread over their lanes. Returns whether one is infinite, or no number.
    fn narrow(&mut self, convert: &Convert, from: RegId, to: RegId, first: usize, count: usize) -> Option<bool> {
        self.kernel(&convert.kernels, convert.half, [from; 2], first, count)?;
        let both = [rounds(convert.half, first, count), rounds(to, first, count)];
        let [half, to] = self.regs.get_disjoint_mut(both).ok()?;
        Some(spread_halves(half, to, convert.how.is_odd(), convert.how.special()))
    }

    /// The bytes of a register in some rounds.
    fn source(&self, reg: RegId, first: usize, count: usize) -> Option<&[u8]> {
        match self.lies.get(reg)? {
            Some(start) => self.memory.bytes().get(start + first * BYTES..start + (first + count) * BYTES),
            None => self.regs.get(rounds(reg, first, count)),
        }
    }

    fn lanes(&self, reg: RegId, round: usize) -> Option<&[u8; BYTES]> {
        self.source(reg, round, 1)?.try_into().ok()
    }

    /// Makes inactive lanes 0.
    fn clear(&mut self, step: &Step, all: Range<usize>) -> Option<()> {
        if step.mask == ALL {
            return Some(());
        }
        for k in all {
            let mask = self.masks.get(step.mask)?.get(k)?;
            if !mask.is_on(step.lane) {
                clear_inactive(lanes_mut(self.regs, step.to, k)?, mask, step.lane);
            }
        }
        Some(())
    }

    fn store(&mut self, step: &Step, address: &Address, from: RegId, all: Range<usize>) -> Option<()> {
        let at = self.addresses.get(address.row)?.get(all.clone())?;
        let masks = self.masks.get(step.mask)?.get(all.clone())?;
        let (start, len) = (*at.first()?, all.len() * BYTES);
        if at.windows(2).all(|w| w[1] == w[0] + BYTES) && masks.iter().all(|mask| mask.is_on(step.lane)) {
            let bytes = self.regs.get(rounds(from, all.start, all.len()))?;
            self.memory.as_mut().get_mut(start..start + len)?.copy_from_slice(bytes);
            if !self.memory.defined().has_all(start, len) {
                self.memory.defined_mut().insert(start, len);
            }
            return Some(());
        }
        // Rounds mostly have the same mask.
        let mut runs: SmallVec<[Range<usize>; 4]> = SmallVec::new();
        let mut of: Option<&Mask> = None;
        let (regs, memory) = (&*self.regs, &mut *self.memory);
        for ((at, mask), k) in at.iter().zip(masks).zip(all) {
            if of != Some(mask) {
                runs = mask.active_bytes(step.lane).runs().collect();
                of = Some(mask);
            }
            let bytes = lanes(regs, from, k)?;
            let to = memory.as_mut().get_mut(*at..at + BYTES)?;
            for run in &runs {
                to.get_mut(run.clone())?.copy_from_slice(bytes.get(run.clone())?);
            }
            for run in &runs {
                if !memory.defined().has_all(at + run.start, run.len()) {
                    memory.defined_mut().insert(at + run.start, run.len());
                }
            }
        }
        Some(())
    }
}
