//! Array access analysis: how a kernel may access its arrays. It follows pointers and views through the program, once
//! for all blocks.
//!
//! Blocks on several threads read an array that no block writes in place. For any other array each thread has an
//! overlay ([`Memory::block_view`](tessera_kernels::memory::Memory::block_view)), which refuses accesses not found
//! here.

use super::Run;
use super::blocks::Buffer;
use super::code::{BlockArgCopy, Code, CoreSyncOp, GlobalSlot, MakeView, Program, Support, Var};
use super::micro::MicroVar;
use super::step::Context;
use tessera_exec::engine::{combines, stores};
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Effect, Role};
use tessera_kernels::memory::ArrayAccess;

/// By buffer: the accesses that the kernel may make.
pub(super) fn accesses(run: &Run<'_>, cx: &[Context<'_>], buffers: &[Buffer]) -> Vec<ArrayAccess> {
    let mut accesses = vec![ArrayAccess::default(); buffers.len()];
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
            for (access, _) in accesses.iter_mut().zip(&holds[slot.index()]).filter(|(_, holds)| **holds) {
                *access = access.or(*touch);
            }
        }
    }
    accesses
}

/// The flow of pointers and views, and the accesses to the arrays that they point to.
struct PointerUses {
    flows: Vec<(GlobalSlot, GlobalSlot)>,
    touches: Vec<(GlobalSlot, ArrayAccess)>,
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
                    CoreSyncOp::Push(push) => {
                        self.touches.extend(push.global.map(|slot| (slot, ArrayAccess::READS_AND_WRITES)))
                    }
                    CoreSyncOp::Pop(pop) => {
                        self.touches.extend(pop.global.map(|slot| (slot, ArrayAccess::READS_AND_WRITES)))
                    }
                    CoreSyncOp::Entry(entry) => {
                        self.touches.push((entry.slot, ArrayAccess::READS_AND_WRITES));
                        self.flows.extend(entry.view.map(|view| (entry.slot, view)));
                    }
                    CoreSyncOp::Free { .. } | CoreSyncOp::Give { .. } | CoreSyncOp::Take { .. } => {}
                    CoreSyncOp::Comm(comm) => {
                        let views = comm.views.iter().map(|(_, slot)| (*slot, ArrayAccess::READS_AND_WRITES));
                        self.touches.extend(views)
                    }
                    CoreSyncOp::Meet(meeting) => {
                        let word = meeting.word.as_ref();
                        self.touches.extend(word.map(|(access, _)| (access.pointer, ArrayAccess::READS_AND_WRITES)))
                    }
                },
                Code::Micro(op) => {
                    // The first operand of a transfer is its source; a store may combine with the old contents.
                    let globals = op.args.iter().enumerate().filter_map(|(n, var)| match var {
                        MicroVar::Global(slot) => Some((n, *slot)),
                        _ => None,
                    });
                    let access = |n| if n == 0 { ArrayAccess::READS } else { ArrayAccess::READS_AND_WRITES };
                    self.touches.extend(globals.map(|(n, slot)| (slot, access(n))));
                }
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
        for (role, slot) in program.sites.get(number).into_iter().flat_map(|site| &site.views) {
            let is_read = *role == Role::IdxView;
            self.touches.push((*slot, if is_read { ArrayAccess::READS } else { ArrayAccess::WRITES }));
        }
        let Some((site, slot)) = program.sites.get(number).and_then(|site| Some((site, site.global?))) else { return };
        let what = match site.inst.op.effect(site.inst.form, Role::Global) {
            Effect::Read => ArrayAccess::READS,
            _ if !stores(&site.inst) => ArrayAccess::READS_AND_WRITES,
            _ if combines(&site.inst) => ArrayAccess::COMBINES,
            _ => ArrayAccess::WRITES,
        };
        self.touches.push((slot, what));
    }

    fn view(&mut self, view: &MakeView) {
        self.flows.push((view.src, view.dst));
        self.elements(view.dst, Some(view.elem));
    }

    /// A store of half a byte reads the other half.
    fn elements(&mut self, slot: GlobalSlot, elem: Option<Elem>) {
        if elem.is_some_and(Elem::is_fp4) {
            self.touches.push((slot, ArrayAccess::READS));
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
            Support::PrintView(_, view) => self.touches.push((*view, ArrayAccess::READS)),
            Support::LoadScalar(access, _) => self.touches.push((access.pointer, ArrayAccess::READS)),
            Support::StoreScalar(access, _) => self.touches.push((access.pointer, ArrayAccess::WRITES)),
            _ => {}
        }
    }
}
