//! What blocks on several threads have in common.
//!
//! A block sees global memory as it was at the start plus its own writes (isa/structure.md 4). An array that the kernel only
//! reads is the same for all of them, and of one that it only writes nobody sees anything before the end: of both there is
//! one, which all threads work on. One that is read and written, or combined with, they work on, too, where each block keeps
//! to a part of its own ([`foresight`]). Of one that they only combine with nobody sees anything either: blocks take turns with
//! it ([`OrderedReduction`]). Of any other every thread has a copy.

use super::Run;
use super::blocks::Buffer;
use super::code::{BlockArgCopy, Code, CoreSyncOp, GlobalSlot, MakeView, Program, Support, Var};
use super::footprint_analysis::{self, BufferAccess};
use super::step::Context;
use std::sync::Arc;
use tessera_exec::engine::{combines, stores};
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Effect, Role};
use tessera_kernels::memory::{AlignedBytes, Memories, Memory, OrderedReduction, SharedBytes};
use tessera_kernels::{Failure, internal_error};

/// How the threads have a buffer.
pub(super) enum Sharing {
    /// A copy each.
    Copied,
    Read(Arc<SharedBytes>),
    WriteSet(Arc<SharedBytes>),
    CombineLog(Arc<SharedBytes>),
    /// Read, written and combined with where it is: no block touches what another one writes.
    Parted(Arc<SharedBytes>),
}

/// The logs of blocks whose turn has not come may take so many bytes, times the threads.
const LOG: usize = 8 << 20;

/// Whose turn it is among blocks on so many threads.
pub(super) fn turns(threads: usize) -> Arc<OrderedReduction> {
    Arc::new(OrderedReduction::new(LOG.saturating_mul(threads)))
}

/// Copies of fewer bytes than this, those of all threads together, are no burden.
pub(super) const SMALL: u64 = 1 << 20;

/// Decides for every buffer; those that are shared are taken out until [`put_back`]. Copies of fewer than `small` bytes are
/// made without a look at what blocks will do.
pub(super) fn share(
    run: &Run<'_>,
    cx: &[Context<'_>],
    buffers: &mut [Buffer],
    turns: &Arc<OrderedReduction>,
    (threads, small): (usize, u64),
) -> Result<Vec<Sharing>, Failure> {
    let uses = uses(run, cx, buffers);
    let is_contested = |(buffer, uses): &(&Buffer, &Use)| uses.is_contested() && !buffer.grows;
    let contested =
        buffers.iter().zip(&uses).filter(is_contested).map(|(buffer, _)| buffer.memory.bytes().len() as u64);
    let copies = contested.sum::<u64>().saturating_mul(threads as u64);
    let take = |buffer: &mut Buffer| Arc::new(SharedBytes::new(buffer.memory.take_bytes()));
    let shared = |(buffer, uses): (&mut Buffer, &Use)| match uses {
        // Who records looks at the bytes before and after.
        _ if run.record => Sharing::Copied,
        // Micro instructions say nothing of what blocks will touch.
        _ if cx.iter().any(|cx| cx.program.is_micro) => Sharing::Copied,
        _ if uses.is_contested() && copies >= small && !buffer.grows => Sharing::Parted(take(buffer)),
        _ if uses.only_combines() && !buffer.grows => Sharing::CombineLog(take(buffer)),
        _ if uses.is_contested() => Sharing::Copied,
        Use { writes: false, .. } => Sharing::Read(take(buffer)),
        Use { writes: true, .. } if !buffer.grows => Sharing::WriteSet(take(buffer)),
        // How long it will be is not known; only what is written costs memory.
        Use { writes: true, .. } => match usize::try_from(run.limits.memory).ok().and_then(AlignedBytes::with_room) {
            Some(room) => Sharing::WriteSet(Arc::new(SharedBytes::new(room))),
            None => Sharing::Copied,
        },
    };
    let mut all: Vec<Sharing> = buffers.iter_mut().zip(&uses).map(shared).collect();
    if all.iter().any(|sharing| matches!(sharing, Sharing::Parted(_))) {
        let asked = |sharing: &Sharing| match sharing {
            Sharing::Parted(_) => BufferAccess::Touched,
            Sharing::Read(_) => BufferAccess::Known,
            Sharing::WriteSet(_) | Sharing::CombineLog(_) | Sharing::Copied => BufferAccess::Nothing,
        };
        let asked: Vec<BufferAccess> = all.iter().map(asked).collect();
        let parted = footprint_analysis::parted(run, cx, (buffers, &asked), threads, copies.max(SMALL), || {
            memories(run, buffers, &all, turns)
        });
        for (((buffer, uses), sharing), parted) in buffers.iter_mut().zip(&uses).zip(&mut all).zip(parted) {
            match sharing {
                Sharing::Parted(array) if !parted && uses.only_combines() => {
                    *sharing = Sharing::CombineLog(array.clone());
                }
                Sharing::Parted(_) if !parted => put_one_back(buffer, std::mem::replace(sharing, Sharing::Copied))?,
                _ => {}
            }
        }
    }
    Ok(all)
}

/// The memories of one thread.
pub(super) fn memories(run: &Run<'_>, buffers: &[Buffer], all: &[Sharing], turns: &Arc<OrderedReduction>) -> Memories {
    let mut memories = Memories::with_limit(run.tracked, run.limits.memory);
    for (buffer, sharing) in buffers.iter().zip(all) {
        memories.add_buffer(match sharing {
            Sharing::Copied => buffer.memory.watched(),
            Sharing::Read(array) | Sharing::Parted(array) => Memory::reading(array, buffer.memory.defined()),
            Sharing::WriteSet(array) => Memory::writing(array),
            Sharing::CombineLog(array) => Memory::combining(array, buffer.memory.defined(), turns),
        });
    }
    memories
}

/// The buffers have their bytes again.
pub(super) fn put_back(buffers: &mut [Buffer], all: Vec<Sharing>) -> Result<(), Failure> {
    buffers.iter_mut().zip(all).try_for_each(|(buffer, sharing)| put_one_back(buffer, sharing))
}

fn put_one_back(buffer: &mut Buffer, sharing: Sharing) -> Result<(), Failure> {
    let (array, is_written) = match sharing {
        Sharing::Copied => return Ok(()),
        Sharing::Read(array) | Sharing::CombineLog(array) | Sharing::Parted(array) => (array, false),
        Sharing::WriteSet(array) => (array, true),
    };
    let array = Arc::into_inner(array).ok_or_else(|| internal_error("a thread that has ended holds an array"))?;
    let (bytes, claims) = array.into_parts();
    buffer.memory.put_bytes(bytes);
    buffer.claims = is_written.then_some(claims);
    Ok(())
}

/// What a kernel may do with a buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    reads: bool,
    writes: bool,
    combines: bool,
}

impl Use {
    /// Does it matter in which order blocks touch it?
    fn is_contested(self) -> bool {
        self.combines || self.reads && self.writes
    }

    fn only_combines(self) -> bool {
        self.combines && !self.reads && !self.writes
    }
}

/// Finds what the kernel may do with every buffer.
fn uses(run: &Run<'_>, cx: &[Context<'_>], buffers: &[Buffer]) -> Vec<Use> {
    let mut uses = vec![Use::default(); buffers.len()];
    for program in cx.iter().map(|cx| cx.program) {
        let mut found = PointerUses { flows: Vec::new(), touches: Vec::new() };
        found.code(&program.body, program);
        let mut holds: Vec<Vec<bool>> = vec![vec![false; buffers.len()]; program.globals];
        for (k, buffer) in buffers.iter().enumerate() {
            if let Some(Var::Global(slot)) = program.vars.get(buffer.value.index()) {
                holds[slot.index()][k] = true;
                found.elements(*slot, run.module.types.get(run.func.value(buffer.value).ty).global_elem());
            }
        }
        // Pointers and views go from slot to slot until nothing is new.
        let mut is_new = true;
        while std::mem::take(&mut is_new) {
            for (from, to) in &found.flows {
                let held = holds[from.index()].clone();
                for (to, from) in holds[to.index()].iter_mut().zip(held) {
                    is_new |= from && !*to;
                    *to |= from;
                }
            }
        }
        for (slot, touch) in &found.touches {
            for (uses, _) in uses.iter_mut().zip(&holds[slot.index()]).filter(|(_, holds)| **holds) {
                uses.reads |= touch.reads;
                uses.writes |= touch.writes;
                uses.combines |= touch.combines;
            }
        }
    }
    uses
}

const READS: Use = Use { reads: true, writes: false, combines: false };
const WRITES: Use = Use { reads: false, writes: true, combines: false };
const BOTH: Use = Use { reads: true, writes: true, combines: false };
const COMBINES: Use = Use { reads: false, writes: false, combines: true };

/// Where pointers and views go, and what is done with what they point to.
struct PointerUses {
    flows: Vec<(GlobalSlot, GlobalSlot)>,
    touches: Vec<(GlobalSlot, Use)>,
}

impl PointerUses {
    fn code(&mut self, code: &[Code], program: &Program) {
        for c in code {
            match c {
                Code::For(f) => {
                    self.code(&f.body, program);
                    [&f.enter, &f.again, &f.leave].into_iter().for_each(|hands| self.hands(hands));
                }
                Code::If(branch) => {
                    for (code, hands) in [&branch.then, &branch.other] {
                        self.code(code, program);
                        self.hands(hands);
                    }
                }
                Code::While(w) => {
                    self.code(&w.before, program);
                    self.code(&w.after, program);
                    [&w.enter, &w.proceed, &w.again, &w.leave].into_iter().for_each(|hands| self.hands(hands));
                }
                Code::Issue(site) => self.site(*site as usize, program),
                Code::Support(_, support) => self.support(support),
                Code::CoreSyncOp(_, meet) => match &**meet {
                    // Slots of a FIFO in global memory are written by one core and read by another.
                    CoreSyncOp::Push(push) => self.touches.extend(push.global.map(|slot| (slot, BOTH))),
                    CoreSyncOp::Pop(pop) => self.touches.extend(pop.global.map(|slot| (slot, BOTH))),
                    CoreSyncOp::Free { .. } | CoreSyncOp::Give { .. } | CoreSyncOp::Take { .. } => {}
                },
                Code::Set { .. }
                | Code::Arith { .. }
                | Code::Cmp { .. }
                | Code::Cast { .. }
                | Code::Float { .. }
                | Code::CmpFloat { .. }
                | Code::Convert { .. } => {}
            }
        }
    }

    fn hands(&mut self, hands: &[BlockArgCopy]) {
        self.flows.extend(hands.iter().filter_map(|hand| match hand {
            BlockArgCopy::Global { to, from } => Some((*from, *to)),
            _ => None,
        }));
    }

    fn site(&mut self, number: usize, program: &Program) {
        let Some((site, slot)) = program.sites.get(number).and_then(|site| Some((site, site.global?))) else { return };
        let what = match site.inst.op.effect(site.inst.form, Role::Global) {
            Effect::Read => READS,
            _ if !stores(&site.inst) => BOTH,
            _ if combines(&site.inst) => COMBINES,
            _ => WRITES,
        };
        self.touches.push((slot, what));
    }

    fn view(&mut self, view: &MakeView) {
        self.flows.push((view.src, view.dst));
        self.elements(view.dst, Some(view.elem));
    }

    /// Who writes half a byte reads the other half.
    fn elements(&mut self, slot: GlobalSlot, elem: Option<Elem>) {
        if elem.is_some_and(Elem::is_fp4) {
            self.touches.push((slot, READS));
        }
    }

    fn support(&mut self, support: &Support) {
        match support {
            Support::MakeView(view) | Support::Partition(view) => self.view(view),
            Support::AddPtr { src, dst, .. } => self.flows.push((*src, *dst)),
            Support::Address(address) => {
                if let (Var::Global(from), Var::Global(to)) = (address.from, address.to) {
                    self.flows.push((from, to));
                    self.elements(to, address.elem);
                }
            }
            Support::LoadScalar(access, _) => self.touches.push((access.pointer, READS)),
            Support::StoreScalar(access, _) => self.touches.push((access.pointer, WRITES)),
            _ => {}
        }
    }
}
