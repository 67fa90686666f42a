//! Which loops run in strips, and how.

use super::{ALL, Act, Address, Carried, Convert, MaskId, Number, ROUNDS, RegId, Step, StripLoop};
use crate::code::{BlockArgCopy, Code, For, Int, MicroSlot, Support};
use crate::micro::{MicroOp, MicroSupport, MicroVar};
use crate::micro_fast::{FastOp, prepared};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use tessera_ir::ArithOp;
use tessera_kernels::nest::{Dim, Nest, OPERANDS};
use tessera_kernels::{Level, MapKernel, Mapped};
use tessera_micro::plan::{Conversion, Plan};
use tessera_micro::{BYTES, Space};

/// What becomes of the slots while a loop is looked at.
#[derive(Default)]
struct Builder {
    strip: StripLoop,
    regs: HashMap<usize, RegId>,
    masks: HashMap<usize, MaskId>,
    made: HashSet<usize>,
    carried: HashMap<usize, usize>,
    /// For each step, the registers that it reads.
    reads: Vec<Vec<RegId>>,
}

impl Builder {
    fn new_reg(&mut self) -> RegId {
        self.strip.regs += 1;
        self.strip.regs - 1
    }

    fn reg(&mut self, slot: MicroSlot) -> RegId {
        if let Some(reg) = self.regs.get(&slot.index()) {
            return *reg;
        }
        let reg = self.new_reg();
        self.regs.insert(slot.index(), reg);
        if !self.made.contains(&slot.index()) && !self.carried.contains_key(&slot.index()) {
            self.strip.outer_regs.push((slot, reg));
        }
        reg
    }

    fn mask(&mut self, slot: MicroSlot) -> Option<MaskId> {
        if let Some(mask) = self.masks.get(&slot.index()) {
            return Some(*mask);
        }
        self.strip.masks += 1;
        let mask = self.strip.masks;
        self.masks.insert(slot.index(), mask);
        if !self.made.contains(&slot.index()) {
            if self.carried.contains_key(&slot.index()) {
                return None;
            }
            self.strip.outer_masks.push((slot, mask));
        }
        Some(mask)
    }

    /// An operand that is a register, or a number in every lane of one.
    fn arg(&mut self, op: &MicroOp, fast: &FastOp, n: usize, place: usize) -> Option<RegId> {
        match op.args.get(n)? {
            MicroVar::Micro(slot) => Some(self.reg(*slot)),
            MicroVar::Int(int) => {
                let elem = op.arg_types.first().and_then(|ty| ty.lane()).or(op.result_types.first()?.lane())?;
                let to = self.new_reg();
                let ty = op.arg_types.get(n)?.scalar();
                let row = self.strip.numbers;
                self.strip.numbers += 1;
                let act = Act::Number(Number { int: *int, ty, elem, lane: fast.lane, to, row });
                self.push(place, act, to, ALL, fast.lane, Vec::new());
                Some(to)
            }
            _ => None,
        }
    }

    fn push(&mut self, place: usize, act: Act, to: RegId, mask: MaskId, lane: usize, reads: Vec<RegId>) {
        self.strip.steps.push(Step { place, act, to, mask, lane, stays: false });
        self.reads.push(reads);
    }

    fn address(&mut self, op: &MicroOp, n: usize, size: i64, len: usize) -> Option<Address> {
        let (MicroVar::Address(Space::Ub, base), MicroVar::Int(index)) = (op.args.get(n)?, op.args.get(n + 1)?) else {
            return None;
        };
        let row = self.strip.addresses;
        self.strip.addresses += 1;
        Some(Address { base: *base, index: *index, size, len, row })
    }

    fn micro(&mut self, place: usize, op: &MicroOp) -> Option<()> {
        let fast = op.fast.as_ref()?;
        let mask = match fast.mask {
            Some(n) => match op.args.get(n)? {
                MicroVar::Micro(slot) => self.mask(*slot)?,
                _ => return None,
            },
            None => ALL,
        };
        let kernels = |fast: &FastOp| {
            let both = [fast.kernel.clone()?, prepared(&fast.plan, ROUNDS as u64)?];
            both.iter().all(MapKernel::is_compiled).then(|| Box::new(both))
        };
        let (act, reads) = match &fast.plan {
            Plan::Load { unit } => (Act::Load(self.address(op, 0, fast.size, *unit)?), vec![]),
            Plan::Store { .. } => {
                let from = self.arg(op, fast, 0, place)?;
                (Act::Store(self.address(op, 1, fast.size, BYTES)?, from), vec![from])
            }
            Plan::Map { args, .. } => {
                let a = self.arg(op, fast, 0, place)?;
                let b = if *args > 1 { self.arg(op, fast, 1, place)? } else { a };
                (Act::Map(kernels(fast)?, [a, b]), vec![a, b])
            }
            Plan::Convert(c) => {
                let from = self.arg(op, fast, 0, place)?;
                self.strip.full.push((mask, fast.lane));
                let kernels = [conversion(c, 1)?, conversion(c, ROUNDS as u64)?];
                let (half, copy) = (self.new_reg(), self.new_reg());
                (Act::Convert(Box::new(Convert { how: *c, kernels, from, half, copy })), vec![from])
            }
            Plan::Compare { cmp } => {
                let (a, b) = (self.arg(op, fast, 0, place)?, self.arg(op, fast, 1, place)?);
                self.made.insert(fast.dst?.index());
                (Act::Compare(*cmp, [a, b], self.mask(fast.dst?)?), vec![a, b])
            }
            Plan::Select { .. } => {
                let (a, b) = (self.arg(op, fast, 0, place)?, self.arg(op, fast, 1, place)?);
                (Act::Select([a, b]), vec![a, b])
            }
            Plan::Broadcast { from, .. } => {
                let source = self.arg(op, fast, 0, place)?;
                (Act::Broadcast(source, *from), vec![source])
            }
            Plan::Sum => {
                let from = self.arg(op, fast, 0, place)?;
                (Act::Sum(from), vec![from])
            }
            Plan::Find(side) => {
                let from = self.arg(op, fast, 0, place)?;
                (Act::Find(from, *side), vec![from])
            }
            Plan::Mask(mask) => {
                self.made.insert(fast.dst?.index());
                (Act::Pattern(mask.clone(), self.mask(fast.dst?)?), vec![])
            }
            Plan::Nothing => (Act::Nothing, vec![]),
            Plan::Below => {
                let (MicroVar::Int(count), MicroVar::Int(Int::Slot(rest))) = (op.args.first()?, op.results.get(1)?)
                else {
                    return None;
                };
                self.made.insert(fast.dst?.index());
                (Act::Below(*count, *rest, self.mask(fast.dst?)?), vec![])
            }
        };
        // A store has no result, and a mask is none that is a register.
        let to = match (&act, fast.dst) {
            (Act::Store(..) | Act::Compare(..) | Act::Pattern(..) | Act::Below(..) | Act::Nothing, _) => 0,
            (_, Some(dst)) => {
                self.made.insert(dst.index());
                self.reg(dst)
            }
            _ => return None,
        };
        self.push(place, act, to, mask, fast.lane, reads);
        Some(())
    }
}

impl StripLoop {
    /// The strips of a loop; `None` where it has operations without a plan.
    pub fn new(f: &For) -> Option<Box<StripLoop>> {
        let is_micro = f.body.iter().any(|code| matches!(code, Code::Micro(_)));
        if !is_micro || f.body.iter().any(|code| !is_covered(code)) {
            return None;
        }
        let mut builder = Builder::default();
        for hand in &f.again {
            match hand {
                BlockArgCopy::Int { .. } => builder.strip.ints.push(*hand),
                BlockArgCopy::Micro { to, from } => {
                    builder.carried.insert(to.index(), from.index());
                }
                _ => return None,
            }
        }
        for (place, code) in f.body.iter().enumerate() {
            match code {
                Code::Micro(op) => builder.micro(place, op)?,
                _ => builder.push(place, Act::Scalar, 0, ALL, 1, Vec::new()),
            }
        }
        for hand in &f.again {
            let BlockArgCopy::Micro { to, from } = hand else { continue };
            // A mask that is handed on, and a value that only moves, run round by round.
            let from = *builder.regs.get(&from.index()).filter(|_| builder.made.contains(&from.index()))?;
            let reg = builder.reg(*to);
            builder.strip.carried.push(Carried { slot: *to, to: reg, from });
        }
        builder.strip.serial = builder.serial();
        builder.find_staying();
        let full = std::mem::take(&mut builder.strip.full);
        let is_known = |mask: MaskId| {
            mask == ALL
                || builder.strip.outer_masks.iter().any(|(_, m)| *m == mask)
                || builder
                    .strip
                    .steps
                    .iter()
                    .any(|s| matches!(s.act, Act::Below(_, _, m) | Act::Pattern(_, m) if m == mask))
        };
        if !full.iter().all(|(mask, _)| is_known(*mask)) {
            return None;
        }
        builder.strip.full = full;
        builder.strip.is_linear = is_linear(f);
        Some(Box::new(builder.strip))
    }
}

impl Builder {
    /// Finds the loads whose registers may be the memory itself.
    fn find_staying(&mut self) {
        for n in 0..self.strip.steps.len() {
            let Some(Step { act: Act::Load(_), to, .. }) = self.strip.steps.get(n) else { continue };
            let reg = *to;
            let is_carried = self.strip.carried.iter().any(|c| c.from == reg);
            let last = (n..self.reads.len()).rev().find(|k| self.reads[*k].contains(&reg)).unwrap_or(n);
            let stores = |step: &Step| matches!(step.act, Act::Store(..));
            let stays = !is_carried && !self.strip.steps.iter().take(last + 1).skip(n).any(stores);
            if let Some(step) = self.strip.steps.get_mut(n) {
                step.stays = stays;
            }
        }
    }

    /// From the first step that reads what the round before made to the last one that makes it.
    fn serial(&self) -> Range<usize> {
        let carried = &self.strip.carried;
        if carried.is_empty() {
            return 0..0;
        }
        let reads = |n: &usize| self.reads[*n].iter().any(|r| carried.iter().any(|c| c.to == *r));
        let makes = |n: &usize| {
            let step = &self.strip.steps[*n];
            let is_reg = !matches!(
                step.act,
                Act::Scalar | Act::Store(..) | Act::Compare(..) | Act::Below(..) | Act::Pattern(..) | Act::Nothing
            );
            is_reg && carried.iter().any(|c| c.from == step.to)
        };
        let count = self.strip.steps.len();
        let first = (0..count).find(reads).unwrap_or(count);
        let end = (0..count).rev().find(makes).map_or(0, |n| n + 1);
        first..end.max(first)
    }
}

/// The kernel of a conversion whose 16-bit numbers lie one behind the other.
fn conversion(c: &Conversion, rounds: u64) -> Option<MapKernel> {
    let mapped = Mapped::new(c.func, c.types[1], SmallVec::from_iter([(c.types[0], None)])).ok()?;
    let bits = [c.types[1].bits(), c.types[0].bits(), 0, 0];
    let step = bits.map(|bits| i64::from(bits / 8));
    let dims = SmallVec::from_iter([Dim { extent: rounds * c.count, step }]);
    let kernel = MapKernel::new(Nest { bits, base: [0; OPERANDS], dims }, mapped, Level::best());
    kernel.is_compiled().then_some(kernel)
}

/// Whether an operation may stand in a strip.
fn is_covered(code: &Code) -> bool {
    match code {
        Code::Micro(op) => op.fast.is_some(),
        Code::Set { .. }
        | Code::Arith { .. }
        | Code::Cmp { .. }
        | Code::Cast { .. }
        | Code::Float { .. }
        | Code::CmpFloat { .. }
        | Code::Convert { .. } => true,
        Code::Support(_, support) => matches!(**support, Support::Micro(MicroSupport::Move { .. })),
        _ => false,
    }
}

/// Whether every integer of a loop's body is a linear function of its variable, modulo 2^64.
fn is_linear(f: &For) -> bool {
    #[derive(Clone, Copy, PartialEq, PartialOrd)]
    enum Degree {
        Constant,
        Linear,
    }
    let mut made: HashMap<usize, Degree> = HashMap::from([(f.iv.index(), Degree::Linear)]);
    let degree = |made: &HashMap<usize, Degree>, int: &Int| match int {
        Int::Slot(slot) => made.get(&slot.index()).copied().unwrap_or(Degree::Constant),
        Int::Imm(_) => Degree::Constant,
    };
    let sum = |a: Degree, b: Degree| if a > b { a } else { b };
    let hands_ints = f.again.iter().any(|hand| matches!(hand, BlockArgCopy::Int { .. }));
    !hands_ints
        && f.body.iter().all(|code| {
            let (to, degree) = match code {
                Code::Set { dst, .. } => (*dst, Degree::Constant),
                Code::Arith { op, width: 64, dst, a, b, .. } => {
                    let (a, b) = (degree(&made, a), degree(&made, b));
                    let both = sum(a, b);
                    let is_sum = matches!(op, ArithOp::Addi | ArithOp::Subi);
                    let is_product = *op == ArithOp::Muli && (a == Degree::Constant || b == Degree::Constant);
                    if both != Degree::Constant && !is_sum && !is_product {
                        return false;
                    }
                    (*dst, both)
                }
                Code::Cast { from: 64, to: 64, dst, a, .. } => (*dst, degree(&made, a)),
                Code::Support(_, support) => match &**support {
                    Support::Micro(MicroSupport::Move { to, from, by }) => {
                        let by = by.map_or(Degree::Constant, |(by, _)| degree(&made, &by));
                        (*to, sum(degree(&made, from), by))
                    }
                    _ => return false,
                },
                Code::Micro(op) => {
                    let numbers = op.args.iter().enumerate().filter_map(|(n, arg)| match arg {
                        // An index behind a pointer may move; any other number goes into lanes.
                        MicroVar::Int(int)
                            if !matches!(
                                n.checked_sub(1).and_then(|n| op.args.get(n)),
                                Some(MicroVar::Address(..))
                            ) =>
                        {
                            Some(int)
                        }
                        _ => None,
                    });
                    let makes =
                        op.results.iter().any(|result| matches!(result, MicroVar::Int(_) | MicroVar::Address(..)));
                    return !makes && numbers.into_iter().all(|int| degree(&made, int) == Degree::Constant);
                }
                _ => return false,
            };
            made.insert(to.index(), degree);
            true
        })
}
