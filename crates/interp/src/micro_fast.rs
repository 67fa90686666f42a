//! Micro instructions with a plan: prepared when the program is compiled, run on the bytes of registers. An instruction
//! without a plan, and a case that its plan does not cover (undefined bytes, an address outside), runs by its definition.

use super::code::{Int, MicroSlot};
use super::micro::{MicroOp, MicroValue, MicroVar};
use super::step::Exec;
use smallvec::SmallVec;
use tessera_isa::tile::Loc;
use tessera_kernels::nest::{Dim, Nest, OPERANDS};
use tessera_kernels::{Level, MapKernel, Mapped, MemoryId, on_core};
use tessera_micro::plan::{Plan, clear_inactive, compare, find, plan, saturate, sum};
use tessera_micro::run::scalar_bits;
use tessera_micro::{Bits, Inst, Mask, Reg, Space};

/// Bytes of a register.
const BYTES: usize = tessera_micro::BYTES;

/// A prepared instruction.
#[derive(Debug)]
pub struct FastOp {
    pub plan: Plan,
    pub kernel: Option<MapKernel>,
    /// The first result, or none.
    pub dst: Option<MicroSlot>,
    pub mask: Option<usize>,
    /// Bytes of a lane.
    pub lane: usize,
    /// Bytes of a pointer's element.
    pub size: i64,
}

/// Whether an access of a register, or of a part of one, is aligned and inside UB.
#[inline]
pub fn is_in_ub(at: usize, len: usize) -> bool {
    let unit = if len == BYTES { 32 } else { len };
    at.is_multiple_of(unit) && at.checked_add(len).is_some_and(|end| end as u64 <= Space::Ub.size().unwrap_or(0))
}

/// The kernel of a function of lanes, for the registers of some rounds that lie one behind the other.
pub fn prepared(plan: &Plan, rounds: u64) -> Option<MapKernel> {
    match plan {
        Plan::Map { func, elem, args } => {
            let bytes = elem.bits() / 8;
            let mapped = Mapped::new(*func, *elem, (0..*args).map(|_| (*elem, None)).collect()).ok()?;
            let bits = std::array::from_fn(|k| if k <= *args { bytes * 8 } else { 0 });
            let step = std::array::from_fn(|k| if k <= *args { i64::from(bytes) } else { 0 });
            let dims = SmallVec::from_iter([Dim { extent: rounds * (BYTES as u64) / u64::from(bytes), step }]);
            Some(MapKernel::new(Nest { bits, base: [0; OPERANDS], dims }, mapped, Level::best()))
        }
        Plan::Convert(c) => {
            let mapped = Mapped::new(c.func, c.types[1], SmallVec::from_iter([(c.types[0], None)])).ok()?;
            let bits = [c.types[1].bits(), c.types[0].bits(), 0, 0];
            let dims = SmallVec::from_iter([Dim { extent: rounds * c.count, step: [c.steps[1], c.steps[0], 0, 0] }]);
            let base = [c.starts[1], c.starts[0], 0, 0];
            Some(MapKernel::new(Nest { bits, base, dims }, mapped, Level::best()))
        }
        _ => None,
    }
}

impl FastOp {
    /// The plan of an instruction as code.
    pub fn new(inst: &Inst<'_>, results: &[MicroVar]) -> Option<FastOp> {
        let plan = plan(inst)?;
        let kernel = prepared(&plan, 1);
        let dst = results.iter().find_map(|var| if let MicroVar::Micro(slot) = var { Some(*slot) } else { None });
        let lane = inst.lanes().map_or(4, |lane| (tessera_micro::lane_bits(lane) / 8) as usize);
        let pointer = inst.args.iter().find_map(|ty| ty.pointer());
        // A pointer to another memory than UB breaks a rule.
        if pointer.is_some_and(|(space, _)| space != Space::Ub) {
            return None;
        }
        let mask = inst.args.iter().position(|ty| ty.granularity().is_some());
        Some(FastOp { plan, kernel, dst, mask, lane, size: pointer.map_or(1, |(_, size)| size as i64) })
    }
}

/// The register in a slot, if all of it is defined.
fn reg<'v>(values: &'v [MicroValue], op: &MicroOp, n: usize) -> Option<&'v Reg> {
    let Some(MicroVar::Micro(slot)) = op.args.get(n) else { return None };
    match values.get(slot.index())? {
        MicroValue::Reg(reg) if reg.defined.is_all() => Some(reg),
        _ => None,
    }
}

/// The mask operand, if all of it is defined; without one all lanes are on.
#[inline]
fn mask<'v>(values: &'v [MicroValue], op: &MicroOp, n: Option<usize>) -> Option<&'v Mask> {
    static ALL: std::sync::LazyLock<Mask> = std::sync::LazyLock::new(|| Mask::of(Bits::ALL));
    let Some(n) = n else { return Some(&*ALL) };
    let Some(MicroVar::Micro(slot)) = op.args.get(n) else { return None };
    match values.get(slot.index())? {
        MicroValue::Mask(mask) if mask.defined.is_all() => Some(mask),
        _ => None,
    }
}

/// The register of a slot to be written, all of it defined.
fn made(values: &mut [MicroValue], slot: usize) -> Option<&mut Reg> {
    let value = values.get_mut(slot)?;
    if !matches!(value, MicroValue::Reg(_)) {
        *value = MicroValue::Reg(Box::new(Reg::zero()));
    }
    let MicroValue::Reg(reg) = value else { return None };
    reg.defined = Bits::ALL;
    Some(reg)
}

/// The same, taken out of its slot.
fn taken(values: &mut [MicroValue], slot: usize) -> Option<Box<Reg>> {
    made(values, slot)?;
    match std::mem::take(values.get_mut(slot)?) {
        MicroValue::Reg(reg) => Some(reg),
        _ => None,
    }
}

fn set_mask(values: &mut [MicroValue], slot: usize, mask: Mask) -> Option<()> {
    match values.get_mut(slot)? {
        MicroValue::Mask(to) => **to = mask,
        value => *value = MicroValue::Mask(Box::new(mask)),
    }
    Some(())
}

/// Copies a unit again and again.
fn repeat(to: &mut [u8; BYTES], unit: &[u8]) {
    match unit {
        [one] => to.fill(*one),
        _ => to.chunks_exact_mut(unit.len()).for_each(|chunk| chunk.copy_from_slice(unit)),
    }
}

impl Exec<'_> {
    /// Runs an instruction by its plan; `None` where the plan does not cover the case, and nothing has changed.
    #[inline]
    pub fn micro_fast(&mut self, op: &MicroOp, fast: &FastOp) -> Option<()> {
        match &fast.plan {
            Plan::Load { unit } => {
                let (at, id) = self.ub_address(op, 0, fast.size, *unit)?;
                let memory = self.engine.memories.get(id)?;
                let bytes = memory.bytes().get(at..at + unit)?;
                if self.engine.memories.tracked && !memory.defined().has_all(at, *unit) {
                    return None;
                }
                let to = made(&mut self.micro.values, fast.dst?.index())?;
                if *unit == BYTES { to.bytes.copy_from_slice(bytes) } else { repeat(&mut to.bytes, bytes) }
            }
            Plan::Store { lane } => {
                let (at, id) = self.ub_address(op, 1, fast.size, BYTES)?;
                self.engine.memories.reserve(id, Space::Ub.size()?).ok()?;
                let from = reg(&self.micro.values, op, 0)?;
                let mask = mask(&self.micro.values, op, fast.mask)?;
                let memory = self.engine.memories.get_mut(id)?;
                let to = memory.as_mut().get_mut(at..at + BYTES)?;
                if mask.is_on(*lane) {
                    to.copy_from_slice(&from.bytes);
                    if !memory.defined().has_all(at, BYTES) {
                        memory.defined_mut().insert(at, BYTES);
                    }
                } else {
                    for run in mask.active_bytes(*lane).runs() {
                        to.get_mut(run.clone())?.copy_from_slice(from.bytes.get(run)?);
                    }
                    for run in mask.active_bytes(*lane).runs() {
                        memory.defined_mut().insert(at + run.start, run.len());
                    }
                }
            }
            Plan::Map { args, .. } => {
                let dst = fast.dst?.index();
                let mut scalar: Option<[u8; BYTES]> = None;
                let mut slots = [None; 2];
                for (n, to) in slots.iter_mut().enumerate().take(*args) {
                    match op.args.get(n)? {
                        // A register that is also the result would be written while it is read.
                        MicroVar::Micro(slot) if slot.index() != dst => {
                            reg(&self.micro.values, op, n)?;
                            *to = Some(slot.index());
                        }
                        MicroVar::Int(int) if n > 0 => {
                            let raw = self.int(*int);
                            let bits = scalar_bits(op.arg_types.get(n)?.scalar(), raw, op.arg_types.first()?.lane()?);
                            repeat(scalar.insert([0; BYTES]), bits.to_le_bytes().get(..fast.lane)?);
                        }
                        _ => return None,
                    }
                }
                let mask = mask(&self.micro.values, op, fast.mask)?;
                let inactive = (!mask.is_on(fast.lane)).then_some(*mask);
                let mut out = taken(&mut self.micro.values, dst)?;
                let values = &self.micro.values;
                let bytes = |slot: Option<usize>| match slot.and_then(|slot| values.get(slot)) {
                    Some(MicroValue::Reg(reg)) => &reg.bytes[..],
                    _ => scalar.as_ref().map_or(&[][..], |all| &all[..]),
                };
                let done = fast.kernel.as_ref()?.run_on(&mut out.bytes, slots.map(bytes));
                if let Some(mask) = inactive {
                    clear_inactive(&mut out.bytes, &mask, fast.lane);
                }
                *self.micro.values.get_mut(dst)? = MicroValue::Reg(out);
                if !matches!(done, Ok(true)) {
                    return None;
                }
            }
            Plan::Convert(c) => {
                let dst = fast.dst?.index();
                let source = reg(&self.micro.values, op, 0)?;
                let is_on = mask(&self.micro.values, op, fast.mask)?.is_on(fast.lane);
                if matches!(op.args.first()?, MicroVar::Micro(slot) if slot.index() == dst) || !is_on {
                    return None;
                }
                let mut from = source.bytes;
                if let Some(largest) = c.largest {
                    saturate(&mut from, largest);
                }
                let mut out = taken(&mut self.micro.values, dst)?;
                out.bytes.fill(0);
                let done = fast.kernel.as_ref()?.run_on(&mut out.bytes, [&from, &[]]);
                *self.micro.values.get_mut(dst)? = MicroValue::Reg(out);
                if !matches!(done, Ok(true)) {
                    return None;
                }
            }
            Plan::Compare { cmp } => {
                let (x, y) = (reg(&self.micro.values, op, 0)?, self.second(op)?);
                let y = y.as_ref().map_or_else(|| reg(&self.micro.values, op, 1), Some)?;
                let made = compare(&x.bytes, &y.bytes, mask(&self.micro.values, op, fast.mask)?, *cmp);
                set_mask(&mut self.micro.values, fast.dst?.index(), made)?;
            }
            Plan::Select { lane } => {
                let (x, y) = (reg(&self.micro.values, op, 0)?, reg(&self.micro.values, op, 1)?);
                let mask = mask(&self.micro.values, op, fast.mask)?;
                let mut out = y.bytes;
                for run in mask.active_bytes(*lane).runs() {
                    out.get_mut(run.clone())?.copy_from_slice(x.bytes.get(run)?);
                }
                made(&mut self.micro.values, fast.dst?.index())?.bytes = out;
            }
            Plan::Broadcast { lane, from } => {
                let bits = match op.args.first()? {
                    MicroVar::Micro(_) => reg(&self.micro.values, op, 0)?.lane(*lane, *from),
                    MicroVar::Int(int) => {
                        let ty = op.result_types.first()?.lane()?;
                        scalar_bits(op.arg_types.first()?.scalar(), self.int(*int), ty)
                    }
                    _ => return None,
                };
                let mask = *mask(&self.micro.values, op, fast.mask)?;
                let to = made(&mut self.micro.values, fast.dst?.index())?;
                repeat(&mut to.bytes, bits.to_le_bytes().get(..*lane)?);
                if !mask.is_on(*lane) {
                    clear_inactive(&mut to.bytes, &mask, *lane);
                }
            }
            Plan::Sum => {
                let total = sum(&reg(&self.micro.values, op, 0)?.bytes, mask(&self.micro.values, op, fast.mask)?);
                let to = made(&mut self.micro.values, fast.dst?.index())?;
                to.bytes.fill(0);
                to.put(4, 0, total.into());
            }
            Plan::Find(side) => {
                let (bits, n) =
                    find(&reg(&self.micro.values, op, 0)?.bytes, mask(&self.micro.values, op, fast.mask)?, *side);
                let to = made(&mut self.micro.values, fast.dst?.index())?;
                to.bytes.fill(0);
                to.put(4, 0, bits.into());
                to.put(4, 1, n.into());
            }
            Plan::Nothing => {}
            Plan::Mask(mask) => set_mask(&mut self.micro.values, fast.dst?.index(), **mask)?,
            Plan::Below => {
                let MicroVar::Int(int) = op.args.first()? else { return None };
                let count = self.int(*int);
                // A negative count is warned of.
                if (count as i32) < 0 {
                    return None;
                }
                let mask = tessera_micro::run::below(&op.call, count)?;
                let rest = tessera_micro::run::rest(&op.call, count)?;
                let Some(MicroVar::Int(Int::Slot(to))) = op.results.get(1) else { return None };
                set_mask(&mut self.micro.values, fast.dst?.index(), mask)?;
                self.set(*to, rest);
            }
        }
        Some(())
    }

    /// The scalar of a comparison in every lane; `Some(None)` where the second operand is a register.
    fn second(&self, op: &MicroOp) -> Option<Option<Reg>> {
        let MicroVar::Int(int) = op.args.get(1)? else { return Some(None) };
        let bits = scalar_bits(op.arg_types.get(1)?.scalar(), self.int(*int), op.arg_types.first()?.lane()?);
        let mut all = Reg::zero();
        repeat(&mut all.bytes, bits.to_le_bytes().get(..4)?);
        Some(Some(all))
    }

    /// The byte of UB at pointer + index, if it is aligned and all of the bytes lie inside.
    #[inline]
    fn ub_address(&self, op: &MicroOp, n: usize, size: i64, len: usize) -> Option<(usize, MemoryId)> {
        let (MicroVar::Address(Space::Ub, base), MicroVar::Int(index)) = (op.args.get(n)?, op.args.get(n + 1)?) else {
            return None;
        };
        let at = self.int(*base).wrapping_add(self.int(*index).wrapping_mul(size));
        let at = usize::try_from(at).ok().filter(|at| is_in_ub(*at, len))?;
        Some((at, on_core(MemoryId::of_loc(Loc::Vec), self.engine.core)))
    }
}
