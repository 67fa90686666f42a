//! Judges the calls of the C++ library in place of a text: each place of a call becomes an operation of a function without
//! loops, when it is reached first. Then the detector and its sentences are those of a run.

use super::report::tell;
use super::shadow_memory::{Access, Space};
use super::source_map::{KernelText, Move, ProcessText, ordered};
use super::{Detector, THREE};
use crate::explore::Core;
use crate::fifo_slots::FifoSlots;
use crate::report::Reporter;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;
use tessera_ir::{Fifo, Func, Module, NameId, Op, OpId, OpKind, TextForm, ValueId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::inst::{AttrValue, Inst, TileArg};
use tessera_isa::ops::{AttrName, Form, Opcode, Pipe};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Dir, Fifo as FifoPart};

/// Global memory is cut into parts of as many bytes, each of which is a memory of the detector.
const CHUNK: u64 = 1 << 24;

/// Numbers of events are greater than all ids of flags.
pub(super) const EVENTS: i64 = 1 << 40;

/// The place of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallSite {
    /// The intrinsic.
    pub name: String,
    pub file: String,
    /// 0 where it is not known.
    pub line: u32,
}

impl CallSite {
    /// `gemm.cpp:17`.
    pub fn place(&self) -> String {
        let file = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        match self.line {
            0 => "an unknown line".into(),
            line => format!("{file}:{line}"),
        }
    }
}

/// The operation that a call is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Called {
    pub op: Opcode,
    /// The words of an order operation: its pipes.
    pub words: SmallVec<[&'static str; 2]>,
    /// `ffts_mode` of a token.
    pub mode: Option<u8>,
}

/// One direction of a pipe between cores.
#[derive(Clone, Copy, Debug)]
pub struct CallFifo {
    pub dir: Dir,
    /// 0 whole tiles, 1 rows halved, 2 columns halved.
    pub split: u8,
    /// Whether both vector cores have a part in every slot.
    pub both: bool,
    /// Whether slots lie in global memory, and a pop copies.
    pub in_global: bool,
    pub slots: u64,
    pub slot_size: u64,
    /// The first slot in the consumer's memory.
    pub base: u64,
}

/// The sites of all calls, and the parts of global memory that they touch.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    sites: Vec<CallSite>,
    chunks: Vec<u64>,
}

impl Calls {
    pub(crate) fn call(&self, op: OpId) -> Option<&CallSite> {
        self.sites.get(op.index())
    }

    /// The first address of a part of global memory.
    pub(crate) fn chunk(&self, value: ValueId) -> u64 {
        self.chunks.get(value.index()).map_or(0, |chunk| chunk * CHUNK)
    }
}

/// A finding about calls.
#[derive(Clone, Debug)]
pub struct CallFinding {
    pub diagnostic: Diagnostic,
    /// The call that it is about.
    pub at: Option<CallSite>,
    /// Other calls, with what they do.
    pub others: Vec<(CallSite, String)>,
}

/// The judge of one block.
pub struct CallDetector {
    detector: Box<Detector<THREE>>,
    module: Module,
    func: Func,
    calls: Calls,
    known: FxHashMap<(CallSite, Called), OpId>,
    chunks: FxHashMap<u64, u32>,
    /// By the caller's number of an instruction and the part of global memory: the detector's number.
    variants: FxHashMap<(u64, u32), u64>,
    fifos: FxHashMap<u64, usize>,
    /// By process, FIFO and whether it pops: how many there were.
    moves: FxHashMap<(usize, usize, bool), u64>,
    once: u64,
    /// By process: the pipe of its last instruction, its events that were recorded and not waited for, by the caller's number, and
    /// those that its next instruction waits for.
    events: Vec<Events>,
    recorded: i64,
}

#[derive(Default)]
struct Events {
    pipe: Option<Pipe>,
    open: FxHashMap<u64, i64>,
    awaited: Vec<(OpId, i64)>,
}

impl CallDetector {
    /// A block that runs on these cores: one that is not split, or the cube core and two vector cores.
    pub fn new(profile: Profile, cores: &[Core]) -> CallDetector {
        let mut module = Module::default();
        let name = module.names.intern("kernel");
        let process = |core: &Core| ProcessText { core: *core, automatic: false, is_micro: false, orders: Vec::new() };
        let text = KernelText {
            profile,
            processes: cores.iter().map(process).collect(),
            moves: Vec::new(),
            slots: Vec::new(),
            events: Vec::new(),
            has_carried_events: false,
        };
        CallDetector {
            detector: Box::new(Detector::new(Arc::new(text))),
            func: Func::new(name, Span::default()),
            module,
            calls: Calls::default(),
            known: FxHashMap::default(),
            chunks: FxHashMap::default(),
            variants: FxHashMap::default(),
            fifos: FxHashMap::default(),
            moves: FxHashMap::default(),
            once: 0,
            events: cores.iter().map(|_| Events::default()).collect(),
            recorded: EVENTS,
        }
    }

    /// The operation of a call at a place.
    pub fn op(&mut self, site: &CallSite, called: &Called) -> OpId {
        let key = (site.clone(), called.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let n = self.func.ops.len() as u32;
        // Its span is its number: findings are sorted by it.
        let span = Span::new(n, n + 1);
        let mut op = Op::new(OpKind::Pto(called.op, Form::Plain), TextForm::Dps, span);
        if !called.words.is_empty() || called.mode.is_some() {
            let attrs = op.attrs_mut();
            attrs.words = called.words.iter().map(|word| (*word).to_string()).collect();
            attrs.known.set(AttrName::FftsMode, called.mode.map(|mode| AttrValue::Int(mode.into())));
        }
        let id = self.func.push_op(self.func.body, op);
        let text = Arc::make_mut(&mut self.detector.text);
        for process in &mut text.processes {
            process.orders.push(ordered(&self.module, text.profile, (id, self.func.op(id)), process.core));
        }
        text.moves.push(None);
        text.events.push(SmallVec::new());
        self.calls.sites.push(site.clone());
        self.known.insert(key, id);
        id
    }

    /// The memory of an address of the host, and the place there.
    fn global(&mut self, address: u64) -> (Space, u64, u32) {
        let (chunk, next) = (address / CHUNK, self.calls.chunks.len() as u32);
        let number = *self.chunks.entry(chunk).or_insert(next);
        if number == next {
            self.calls.chunks.push(chunk);
        }
        (Space::Buffer(ValueId(number)), address % CHUNK, number)
    }

    /// The last instruction of a process records an event.
    pub fn records(&mut self, process: usize, op: OpId, number: u64) {
        self.recorded += 1;
        let Some(events) = self.events.get_mut(process) else { return };
        let Some(pipe) = events.pipe else { return };
        events.open.insert(number, self.recorded);
        self.detector.event(process, op, (pipe, self.recorded), true);
    }

    /// The next instruction of a process, or all that is later, waits for an event. One that was not recorded orders nothing.
    pub fn awaits(&mut self, process: usize, op: OpId, number: u64, is_next: bool) {
        let Some(events) = self.events.get_mut(process) else { return };
        let Some(event) = events.open.remove(&number) else { return };
        match is_next {
            true => events.awaited.push((op, event)),
            false => self.detector.event(process, op, (Pipe::S, event), false),
        }
    }

    /// An instruction is issued. One that comes again has a number, by which it is known; `address` is where its view starts.
    pub fn issued(&mut self, process: usize, op: OpId, variant: Option<u64>, address: Option<u64>, inst: &Inst) {
        let (view, start, chunk) = match address {
            Some(address) => {
                let (space, start, chunk) = self.global(address);
                (Some(space), start, chunk)
            }
            None => (None, 0, u32::MAX),
        };
        if let Some(events) = self.events.get_mut(process) {
            events.pipe = Some(inst.pipe());
            for (op, event) in std::mem::take(&mut events.awaited) {
                self.detector.event(process, op, (inst.pipe(), event), false);
            }
        }
        let at = (op, &[] as super::Turn<'_>);
        if let Some(variant) = variant {
            let next = self.variants.len() as u64 + 1;
            let number = *self.variants.entry((variant, chunk)).or_insert(next);
            let variant = (0, number as usize, 0);
            if !self.detector.is_known(process, variant) {
                let accesses = self.accesses(process, inst, view);
                self.detector.learn_accesses(process, variant, inst, accesses);
            }
            if start + self.detector.reach(process, number as usize) <= CHUNK {
                self.detector.issued(process, at, variant, start);
                return;
            }
        }
        self.once += 1;
        let accesses = self.accesses(process, inst, view);
        let accesses = accesses.into_iter().flat_map(|access| self.apart(access, start)).collect();
        self.detector.learn_accesses(process, (0, 0, self.once), inst, accesses);
        self.detector.issued(process, at, (0, 0, self.once), 0);
    }

    /// The bytes that an instruction touches. Tiles without an address lie where the compiler puts them, which also orders them.
    fn accesses(&self, process: usize, inst: &Inst, view: Option<Space>) -> Vec<Access> {
        let mut accesses = self.detector.accesses(process, inst, view);
        accesses.retain(|access| !matches!(access.space, Space::Pool(_)));
        accesses
    }

    /// An access of global memory, cut where its parts meet.
    fn apart(&mut self, access: Access, start: u64) -> SmallVec<[Access; 1]> {
        let Space::Buffer(value) = access.space else { return SmallVec::from_iter([access]) };
        let first = self.calls.chunk(value) as i64;
        let mut parts: Vec<(Space, Vec<(i64, i64)>)> = Vec::new();
        for (from, to) in access.bytes(start as i64) {
            let (mut from, to) = (from + first, to + first);
            while from < to {
                let (space, at, _) = self.global(from as u64);
                let end = to.min(from - at as i64 + CHUNK as i64);
                let range = (at as i64, at as i64 + end - from);
                match parts.iter_mut().find(|(of, _)| *of == space) {
                    Some((_, ranges)) => ranges.push(range),
                    None => parts.push((space, vec![range])),
                }
                from = end;
            }
        }
        let part = |(space, ranges): (Space, Vec<(i64, i64)>)| Access {
            space,
            ranges: ranges.into(),
            is_view: false,
            ..access.clone()
        };
        parts.into_iter().map(part).collect()
    }

    /// An order operation with this id.
    pub fn ordered(&mut self, process: usize, op: OpId, id: Option<i64>) {
        self.detector.ordered(process, (op, &[]), id);
    }

    /// A push, a pop or a free of the FIFO with this key, or a slot of it is allocated, for a push without a tile; the first slot lies at this address of the host.
    pub fn moved(
        &mut self,
        process: usize,
        op: OpId,
        part: FifoPart,
        (key, of): (u64, CallFifo),
        (tile, address): (Option<&TileArg>, Option<u64>),
    ) {
        let profile = self.detector.text.profile;
        let fifo = *self.fifos.entry(key).or_insert_with(|| {
            let text = Arc::make_mut(&mut self.detector.text);
            let fifo = Fifo {
                dir: of.dir,
                owner: NameId::default(),
                name: String::new(),
                id: 0,
                reserve: None,
                inits: Default::default(),
                slot_view: of.in_global,
                entries: tile.is_none() && !matches!(part, FifoPart::Free(_)),
                allocs: Vec::new(),
                epilogue: None,
                pushes: Vec::new(),
                pops: Vec::new(),
                frees: Vec::new(),
                slots: of.slots,
                local_slots: of.slots,
                slot_size: of.slot_size,
                split: of.split,
            };
            text.slots.push(FifoSlots::of_calls(fifo, profile, of.base, of.both));
            text.slots.len() - 1
        });
        let pops = matches!(part, FifoPart::Pop(_));
        let text = Arc::make_mut(&mut self.detector.text);
        let Some(slots) = text.slots.get_mut(fifo) else { return };
        if let (FifoPart::Pop(_), Some(tile)) = (part, tile) {
            slots.popped.get_or_insert(tile.layout.clone());
        }
        let pipe = if slots.fifo.entries { part.entry_pipe() } else { part.pipe(of.dir, profile) };
        if let Some(known) = text.moves.get_mut(op.index()) {
            *known = Some(Move { part, fifo, pipe });
        }
        let global = address.filter(|_| of.in_global).map(|address| self.global(address));
        let number = self.moves.entry((process, fifo, pops)).or_default();
        let this = *number;
        *number += u64::from(!matches!(part, FifoPart::Free(_)));
        self.detector.moved(process, (op, &[]), this, tile, global.map(|(space, at, _)| (space, at)));
    }

    /// Whether nothing waits, and every slot that was filled was taken.
    pub fn is_quiet(&self) -> bool {
        self.detector.pipes.iter().all(|pipes| pipes.pending.is_empty()) && self.detector.lines.is_drained()
    }

    /// What it found.
    pub fn findings(&self) -> Vec<CallFinding> {
        let profile = self.detector.text.profile;
        let mut reporter = Reporter::new(&self.module, &self.func, profile, &self.calls);
        let loops = vec![SmallVec::new(); self.func.ops.len()];
        tell(&mut reporter, &self.detector, &loops);
        let site = |span: Span| self.calls.sites.get(span.start as usize).cloned();
        let found = |diagnostic: Diagnostic| CallFinding {
            at: diagnostic.span.and_then(site),
            others: diagnostic.secondary.iter().filter_map(|l| Some((site(l.span)?, l.text.clone()))).collect(),
            diagnostic,
        };
        reporter.done().into_iter().map(found).collect()
    }
}
