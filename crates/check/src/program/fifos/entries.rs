//! Views of slots that go through a FIFO (isa/today.md 7.2).

use super::{Check, open};
use rustc_hash::{FxHashMap, FxHashSet};
use tessera_ir::fifo::{self, FifoId};
use tessera_ir::{BlockId, Core, Fifos, Func, Op, OpId, Type, ValueId};
use tessera_isa::diag::Fault;
use tessera_isa::ops::{Role, Text};
use tessera_isa::sem::{Dir, Fifo as Part};

/// The entries of FIFOs at a point of the program, as far as they are known.
#[derive(Clone, Debug, Default)]
struct Known {
    /// By FIFO: the view that was allocated and not pushed; missing where nothing is known.
    allocated: FxHashMap<FifoId, Option<ValueId>>,
    /// Views whose slots were freed.
    freed: FxHashSet<ValueId>,
}

impl<'a> Check<'a> {
    /// `fifo-init` of a pipe whose slots are a view: it has no other buffer, except that tiles may go through it to the
    /// vector cores.
    pub(super) fn slot_view(&self, init: &Op) -> Option<Fault> {
        init.operand(Role::SlotView)?;
        let refuse = |what: &str, help: &str| Some(Fault::new("fifo-init", what.to_string()).help(help));
        if init.operand(Role::Global).is_some() {
            let what = "the pipe has gm_slot_tensor and gm_slot_buffer, and its slots lie in one of them";
            return refuse(what, "leave gm_slot_buffer out");
        }
        let by_tiles = |dir: &Dir| fifo::has_dir(init, *dir) && !fifo::has_entries(self.func, init, *dir);
        if Dir::ALL.iter().any(by_tiles) && (!fifo::has_dir(init, Dir::C2v) || fifo::has_dir(init, Dir::V2c)) {
            let what = "the slots of the pipe lie in gm_slot_tensor, and it has a buffer of the consumer, too";
            return refuse(what, "leave the buffer out and hand on views, or write dir_mask = 1");
        }
        None
    }

    /// The other end of a pipe without a buffer: equal id and direction.
    pub(super) fn other_end(&self, init: &Op, core: Core, dir: Dir) -> Option<Fault> {
        let id = fifo::pipe_id(init);
        let is_end = |end: &Op, at: Option<Core>| {
            at == Some(core.other())
                && matches!(fifo::part(end), Some(Part::Initialize(_)))
                && fifo::pipe_id(end) == id
                && fifo::has_dir(end, dir)
        };
        let end_in = |func: &'a Func| {
            let has_one = func.ops.iter().any(|op| matches!(fifo::part(op), Some(Part::Initialize(_))));
            let cores = if has_one { func.cores() } else { Vec::new() };
            func.ops.iter().zip(cores).find(|(end, at)| is_end(end, *at)).map(|(end, _)| end)
        };
        let Some(end) = end_in(self.func).or_else(|| self.module.funcs.iter().find_map(end_in)) else {
            let what = format!("no {} code initializes the {dir} pipe with id = {id}", core.other());
            return Some(open(what).help("initialize both ends with one id to run it"));
        };
        super::differ(init, end, &format!("that of the {} core", core.other()))
    }

    /// `fifo-init` and `fifo-type`: views go through pipes whose slots are views, and tiles through the others.
    pub(super) fn carried(&self, op: &Op, part: Part, has_entries: bool) -> Option<Fault> {
        let value = op.operand(Role::Global).and_then(|o| o.arg.value()).or(op.results.first().copied());
        let carried = value.filter(|v| matches!(self.module.types.get(self.func.value(*v).ty), Type::View(_)));
        let name = op.kind.name();
        match (carried, has_entries) {
            (Some(_), false) => {
                let what = format!("{name} hands on the view of a slot, and the pipe has no gm_slot_tensor of its own");
                Some(
                    Fault::new("fifo-init", what).help("initialize both ends with gm_slot_tensor and without a buffer"),
                )
            }
            (None, true) if !matches!(part, Part::Free(_)) => {
                let what = format!("{name} moves a tile, and views of slots go through the pipe");
                Some(Fault::new("fifo-type", what).help("hand on the view of a slot"))
            }
            _ => None,
        }
    }

    /// `fifo-entry` and `fifo-use-after-free`, as far as the order of the text decides them.
    pub(super) fn entries(&mut self, fifos: &Fifos) {
        if !fifos.list.iter().any(|fifo| fifo.entries) {
            return;
        }
        let none = (0..fifos.list.len()).map(|n| (n, None)).collect();
        self.entries_in(fifos, self.func.body, &mut Known { allocated: none, freed: FxHashSet::default() });
        for fifo in fifos.list.iter().filter(|fifo| fifo.entries) {
            self.element_types(fifo.inits.iter().flatten());
        }
    }

    /// `fifo-type`: both ends describe slots of one element type.
    fn element_types<'i>(&mut self, inits: impl Iterator<Item = &'i OpId>) {
        let elem = |id: &OpId| {
            let view = self.func.op(*id).operand(Role::SlotView)?.arg.value()?;
            Some((*id, self.module.types.get(self.func.value(view).ty).global_elem()?))
        };
        let all: Vec<_> = inits.filter_map(elem).collect();
        if let [(_, first), rest @ ..] = all.as_slice()
            && let Some((at, other)) = rest.iter().find(|(_, other)| other != first)
        {
            let what = format!("slots of {other} are described here, and slots of {first} at the other end");
            let fault = Fault::new("fifo-type", what).help("describe one element type at both ends");
            self.report.fault(self.func.op(*at), "", fault);
        }
    }

    fn entries_in(&mut self, fifos: &Fifos, block: BlockId, known: &mut Known) {
        let func = self.func;
        for id in &func.block(block).ops {
            let op = func.op(*id);
            let part = fifo::part(op);
            let of = fifos.of(*id).filter(|n| fifos.list[*n].entries);
            if let (Some(part), Some(n)) = (part, of) {
                self.entry(op, part, n, known);
                continue;
            }
            self.lives(op, known);
            // A view of the view of a slot lies in the slot.
            let derives = op.opcode().is_some_and(|o| {
                matches!(o.info().text, Text::Partition | Text::MakeView | Text::AddPtr | Text::Address(_))
            });
            if derives && op.values().any(|v| known.freed.contains(&v)) {
                known.freed.extend(op.results.iter().copied());
            }
            let is_section = op.section_core().is_some();
            for inner in op.blocks.iter() {
                let mut inside = known.clone();
                if !is_section && !op.blocks.is_empty() {
                    // What an earlier round, or the other arm, left is not known.
                    inside.allocated.retain(|n, _| !self.moves_in(fifos, op, *n));
                }
                self.entries_in(fifos, *inner, &mut inside);
                if is_section && op.blocks.first() == Some(inner) {
                    *known = inside;
                    break;
                }
            }
            if !is_section && !op.blocks.is_empty() {
                known.allocated.retain(|n, _| !self.moves_in(fifos, op, *n));
            }
        }
    }

    /// Whether the regions of an operation allocate or push slots of a FIFO.
    fn moves_in(&self, fifos: &Fifos, op: &Op, n: FifoId) -> bool {
        let mut next: Vec<BlockId> = op.blocks.to_vec();
        while let Some(block) = next.pop() {
            for id in &self.func.block(block).ops {
                next.extend(self.func.op(*id).blocks.iter().copied());
                let part = fifo::part(self.func.op(*id));
                if fifos.of(*id) == Some(n) && matches!(part, Some(Part::Alloc(_) | Part::Push(_))) {
                    return true;
                }
            }
        }
        false
    }

    /// An allocation, push, pop or free of the view of a slot.
    fn entry(&mut self, op: &Op, part: Part, n: FifoId, known: &mut Known) {
        if self.report.refused.contains_key(&op.span) {
            known.allocated.remove(&n);
            return;
        }
        let view = fifo::entry(op);
        let name = |v: ValueId| self.module.names.text(self.func.value(v).name).to_string();
        let refuse = |what: String, help: &str| Some(Fault::new("fifo-entry", what).help(help));
        let last = known.allocated.get(&n).copied();
        let fault = match part {
            Part::Alloc(_) => match last {
                Some(Some(old)) => {
                    let what = format!("a slot is allocated, and %{} of the same FIFO was not pushed yet", name(old));
                    refuse(what, "push each slot before the next one is allocated")
                }
                _ => None,
            },
            Part::Push(_) => match last {
                Some(None) => {
                    refuse("a slot is pushed, and none was allocated".into(), "allocate it with talloc first")
                }
                Some(old) if old != view => {
                    let (old, new) = (old.map(name).unwrap_or_default(), view.map(name).unwrap_or_default());
                    refuse(format!("%{new} is pushed, and %{old} was allocated last"), "push what was allocated last")
                }
                _ => None,
            },
            _ => None,
        };
        match part {
            Part::Alloc(_) if fault.is_none() => drop(known.allocated.insert(n, view)),
            Part::Push(_) => drop(known.allocated.insert(n, None)),
            _ => {}
        }
        if matches!(part, Part::Push(_) | Part::Free(_)) {
            self.lives(op, known);
        }
        match (part, view) {
            (Part::Free(_), Some(view)) => drop(known.freed.insert(view)),
            (Part::Alloc(_) | Part::Pop(_), Some(view)) => drop(known.freed.remove(&view)),
            _ => {}
        }
        // Views of it that were made before.
        if let (Part::Free(_), Some(view)) = (part, view) {
            known.freed.extend(self.views_of(view));
        }
        if let Some(fault) = fault {
            self.report.fault(op, "", fault);
        }
    }

    /// The views, and pointers, that are made of a view.
    fn views_of(&self, view: ValueId) -> FxHashSet<ValueId> {
        let mut all = FxHashSet::from_iter([view]);
        self.func.walk(&mut |_, op, _| {
            let derives = op.opcode().is_some_and(|o| {
                matches!(o.info().text, Text::Partition | Text::MakeView | Text::AddPtr | Text::Address(_))
            });
            if derives && op.values().any(|v| all.contains(&v)) {
                all.extend(op.results.iter().copied());
            }
        });
        all
    }

    /// `fifo-use-after-free`: no operand is a view whose slot was freed.
    fn lives(&mut self, op: &Op, known: &Known) {
        if known.freed.is_empty() || self.report.refused.contains_key(&op.span) {
            return;
        }
        if let Some(value) = op.values().find(|v| known.freed.contains(v)) {
            let name = self.module.names.text(self.func.value(value).name);
            let what = format!("%{name} is used, and its slot of the FIFO has been freed");
            let fault = Fault::new("fifo-use-after-free", what).help("free the slot after the last use of the view");
            self.report.fault(op, "", fault);
        }
    }
}
