//! The state of one block, and control flow.

mod loops;

use super::block_merge::BlockMerge;
use super::code::*;
use super::cores::{Links, Process, Wait};
use super::micro::{MicroState, MicroValue};
use super::micro_order::ScopeLog;
use super::ranks::{Rank, RanksState, SignalState};
use super::record::Recorder;
use super::report::Warnings;
use super::{Limits, Observer, Printed, Progress, TraceLine};
use loops::STRIDE;
use smallvec::SmallVec;
use std::sync::atomic::Ordering;
use tessera_exec::engine::{Engine, Global};
use tessera_ir::{Func, Module, OpId, ScalarType, StackSlots, ValueId, float, scalar};
use tessera_isa::diag::Span;
use tessera_isa::inst::Attrs;
use tessera_isa::ops::{AttrName, why_not};
use tessera_isa::profile::Profile;
use tessera_kernels::memory::Memories;
use tessera_kernels::{Failure, MemoryId, Place, failure};
use tessera_provenance::ProvenanceTracker;

/// The data that never changes while a program runs.
pub struct Context<'a> {
    pub module: &'a Module,
    pub func: &'a Func,
    pub profile: Profile,
    pub program: &'a Program,
    pub process: Process,
    pub blocks: u32,
    pub limits: Limits,
    /// Whether instructions that follow each other may go through the data together.
    pub fuses: bool,
    pub progress: Option<&'a Progress>,
    /// The arguments that buffers are bound to.
    pub buffers: &'a [ValueId],
    /// The merge of the writes of blocks on several threads.
    pub merge: Option<&'a BlockMerge>,
    /// The rank, where several run or could.
    pub rank: Option<Rank<'a>>,
}

impl Context<'_> {
    /// The name of a value, as messages show it.
    pub fn name(&self, value: ValueId) -> String {
        format!("%{}", self.module.names.text(self.func.value(value).name))
    }

    pub fn span(&self, op: OpId) -> Span {
        self.func.op(op).span
    }
}

/// One block that runs, and its results.
pub struct Exec<'a> {
    pub cx: &'a Context<'a>,
    pub engine: Engine,
    pub ints: Vec<i64>,
    pub tiles: Vec<TileId>,
    pub globals: Vec<Global>,
    /// The indices that the running instruction read out of global memory.
    pub indices: Vec<u64>,
    /// Registers, masks, streams, and what micro instructions leave for others.
    pub micro: MicroState,
    /// The log of the running vecscope, if an observer looks for races.
    pub scope_log: Option<Box<ScopeLog>>,
    pub block: u32,
    pub found: Warnings,
    pub printed: Vec<Printed>,
    pub trace: Option<Vec<TraceLine>>,
    /// The recorder of the run, step by step; the running core has it.
    pub recorder: Option<Box<Recorder>>,
    /// The tracker of the origins of bytes, if the run is watched.
    pub watch: Option<Box<ProvenanceTracker>>,
    /// The loops around its position while another core runs, if the run is watched.
    pub loops: SmallVec<[(Option<ValueId>, i64); 2]>,
    /// The observer; the running core has it.
    pub observer: Option<Box<dyn Observer + Send>>,
    /// The loops around its position, with their rounds, if the run is observed.
    pub turns: Vec<(OpId, u64)>,
    /// The number of loops around its position; while it resumes, of those entered again so far.
    pub depth: usize,
    /// The state that the cores of the block share; the running core has it.
    pub links: Option<Box<Links>>,
    /// The state of all ranks; the running process has it.
    pub ranks: Option<Box<RanksState>>,
    /// What it waits for, or asked for last, and the copies that it started.
    pub signals: SignalState,
    /// The operation at which it waits, and the reason.
    pub waits: Option<(OpId, Wait)>,
    /// The way back to where it waits: places in lists of operations, the outermost last.
    resume: Vec<u64>,
    /// The number of instructions issued before the block began.
    pub began: u64,
    pub steps: u64,
    /// The steps that were reported to `progress`.
    told: u64,
    /// The number of steps at which the limit is checked again.
    look: u64,
}

impl<'a> Exec<'a> {
    /// A block before its first operation; buffers and arguments are the caller's to set.
    pub fn new(cx: &'a Context<'a>, memories: Memories, trace: bool) -> Self {
        let program = cx.program;
        let mut engine = Engine::of_program(cx.profile, memories, program.sites.len() + program.moves);
        (engine.core, engine.is_one_core) = (cx.process.number, cx.process.is_vector_of_two());
        for o in &program.objects {
            match o.is_own {
                true => engine.add(o.tile, o.conv, o.address, o.pool),
                false => engine.add_at(o.tile, o.conv, Place { memory: MemoryId::NONE, at: 0 }),
            };
        }
        Exec {
            cx,
            engine,
            ints: vec![0; program.ints],
            tiles: vec![TileId::NONE; program.tiles],
            globals: vec![Global::default(); program.globals],
            indices: Vec::new(),
            micro: MicroState::new(program.micros),
            scope_log: None,
            block: 0,
            found: Warnings::default(),
            printed: Vec::new(),
            trace: trace.then(Vec::new),
            recorder: None,
            watch: None,
            loops: SmallVec::new(),
            observer: None,
            turns: Vec::new(),
            depth: 0,
            links: None,
            ranks: None,
            signals: SignalState::default(),
            waits: None,
            resume: Vec::new(),
            began: 0,
            steps: 0,
            told: 0,
            look: 0,
        }
    }

    /// Forgets everything but arguments, buffers and prepared instructions.
    pub fn reset(&mut self, block: u32) {
        let cx = self.cx;
        self.block = block;
        self.engine.config = Attrs::default();
        self.micro.reset();
        self.scope_log = None;
        (self.steps, self.told, self.look) = (0, 0, STRIDE.min(cx.limits.steps));
        self.began = self.engine.issued;
        self.engine.waiting.clear();
        self.engine.memories.clear_chip();
        self.engine.objects.iter_mut().for_each(|o| o.restart());
        self.engine.epoch += 1;
        // A value may be named before its definition (syntax.md 1), so its own tile is there from the start.
        let program = cx.program;
        self.waits = None;
        self.resume.clear();
        self.loops.clear();
        self.observer = None;
        self.turns.clear();
        self.links = None;
        self.signals = SignalState::default();
        for (object, info) in program.objects.iter().enumerate().filter(|(_, info)| info.is_own) {
            if let Some(slot) = program.tile(info.value) {
                self.set_tile(slot, TileId::new(object));
            }
        }
    }

    /// Runs to the end, or on from where it waits until it waits again.
    pub fn run(&mut self) -> Result<(), Stop> {
        let program = self.cx.program;
        self.depth = 0;
        let result = self.code(&program.body).map_err(|stop| {
            let mut stop = stop;
            if self.cx.process.is_mixed {
                stop = stop.noted(|| format!("on {}", self.cx.process.name()));
            }
            if let Some(rank) = self.cx.rank.filter(|rank| rank.count > 1) {
                stop = stop.noted(|| format!("on rank {} of {}", rank.number, rank.count));
            }
            if self.cx.blocks > 1 {
                stop = stop.noted(|| format!("in block {} of {}", self.block, self.cx.blocks));
            }
            stop
        });
        self.tell();
        result
    }

    /// The process cannot go on now.
    pub fn wait(&mut self, at: OpId, wait: Wait) -> Stop {
        self.waits = Some((at, wait));
        Stop::DeferredInst
    }

    fn tell(&mut self) {
        if let Some(progress) = self.cx.progress {
            progress.steps.fetch_add(self.steps - self.told, Ordering::Relaxed);
        }
        self.told = self.steps;
    }

    #[inline]
    pub fn int(&self, int: Int) -> i64 {
        match int {
            Int::Imm(v) => v,
            Int::Slot(slot) => self.ints[slot.index()],
        }
    }

    #[inline]
    pub fn set(&mut self, slot: IntSlot, value: i64) {
        self.ints[slot.index()] = value;
    }

    /// The slots of an id in an array of ids: the slot of the element, and the one that says whether it is defined.
    fn id_slot(
        &self,
        (first, count): (IntSlot, u32),
        shape: &StackSlots,
        places: &[Int],
    ) -> Result<[IntSlot; 2], Failure> {
        let places: SmallVec<[i64; 4]> = places.iter().map(|place| self.int(*place)).collect();
        match shape.element(&places) {
            Ok(n) => Ok([first.plus(n as u32), first.plus(n as u32 + count)]),
            Err((_, index)) if matches!(shape, StackSlots::Array { elem: ScalarType::Index, .. }) => {
                let what = format!("an array of {count} ids has none at index {index}");
                Err(failure("flag-id-range", what, "use an index inside the array"))
            }
            Err((dimension, index)) => {
                let what = format!("index {index} of dimension {dimension} is outside of the local array");
                Err(failure("local-bounds", what, "use an index inside the array"))
            }
        }
    }

    /// A failure at an operation, if it has no place yet.
    pub fn at(&self, op: OpId, failure: Failure) -> Failure {
        if failure.span.is_some() {
            return failure;
        }
        Box::new(failure.at(self.cx.span(op), "when this runs"))
    }

    #[cold]
    fn undefined(&self, at: OpId, what: scalar::Undefined) -> Failure {
        self.at(at, failure(what.rule(), what.to_string(), what.help()))
    }

    fn code(&mut self, code: &[Code]) -> Result<(), Stop> {
        self.branch(code)?;
        Ok(self.settle()?)
    }

    /// The same without an end: what waits may wait for what comes after it.
    fn branch(&mut self, code: &[Code]) -> Result<(), Stop> {
        let first = match self.resume.pop() {
            Some(at) => at as usize,
            None => {
                self.steps += code.len() as u64;
                0
            }
        };
        for (n, c) in code.iter().enumerate().skip(first) {
            let at = |this: &mut Self, stop: Stop| this.left_at(n as u64, stop);
            if !self.engine.waiting.is_empty() && !c.reads_no_bytes() {
                self.settle()?;
            }
            if self.scope_log.is_some() {
                self.log_number(c);
            }
            match c {
                Code::For(f) => self.repeat(f).map_err(|stop| at(self, stop))?,
                Code::If(branch) => {
                    let taken = if self.int(branch.condition) != 0 { &branch.then } else { &branch.other };
                    self.branch(&taken.0).map_err(|stop| at(self, stop))?;
                    if !taken.1.is_empty() {
                        self.settle()?;
                        self.hand(&taken.1)?;
                    }
                }
                Code::While(w) => self.repeat_while(w).map_err(|stop| at(self, stop))?,
                Code::Issue(site) => self.issue(*site as usize)?,
                Code::Micro(op) => self.micro(op).map_err(|e| self.at(op.at, e))?,
                Code::CoreSyncOp(op, meet) => self.meet(*op, meet).map_err(|stop| at(self, stop))?,
                _ => self.scalar(c)?,
            }
        }
        Ok(())
    }

    /// Runs an operation on integers and floats.
    #[inline(always)]
    pub fn scalar(&mut self, code: &Code) -> Result<(), Failure> {
        match code {
            Code::Set { dst, value } => self.set(*dst, *value),
            Code::Arith { op, width, dst, a, b, at } => {
                let value = scalar::arith(*op, *width, self.int(*a), self.int(*b));
                self.set(*dst, value.map_err(|e| self.undefined(*at, e))?);
            }
            Code::Cmp { pred, width, dst, a, b } => {
                // One bit, sign-extended like every other integer.
                let value = scalar::compare(*pred, *width, self.int(*a), self.int(*b));
                self.set(*dst, -i64::from(value));
            }
            Code::Cast { op, from, to, dst, a } => {
                let value = scalar::cast(*op, *from, *to, self.int(*a));
                self.set(*dst, value);
            }
            Code::Float { op, elem, dst, args } => {
                let args = args.as_ref().map(|a| f64::from_bits(self.int(a) as u64));
                self.set(*dst, float::float(*op, *elem, args).to_bits() as i64);
            }
            Code::CmpFloat { pred, dst, a, b } => {
                let [a, b] = [a, b].map(|v| f64::from_bits(self.int(*v) as u64));
                self.set(*dst, -i64::from(float::compare(*pred, a, b)));
            }
            Code::Convert { op, from, to, dst, a, at } => {
                let value = float::cast(*op, *from, *to, self.int(*a));
                self.set(*dst, value.map_err(|e| self.undefined(*at, e))?);
            }
            Code::Support(at, support) => self.support(*at, support).map_err(|e| self.at(*at, e))?,
            // Control flow and instructions are the caller's.
            Code::For(_) | Code::If(_) | Code::While(_) | Code::Issue(_) | Code::Micro(_) | Code::CoreSyncOp(..) => {}
        }
        Ok(())
    }

    /// On the way out of what waits: the place where to go on.
    #[cold]
    fn left_at(&mut self, place: u64, stop: Stop) -> Stop {
        if matches!(stop, Stop::DeferredInst) {
            self.resume.push(place);
        }
        stop
    }

    fn support(&mut self, at: OpId, support: &Support) -> Result<(), Failure> {
        match support {
            Support::Fresh(objects) => objects.iter().for_each(|o| self.undefine(None, *o)),
            Support::Alloc(alloc) => self.alloc(at, alloc)?,
            Support::Assign { tile, addr, result } => {
                let tile = self.object_of(*tile);
                self.engine.assign(tile, self.int(*addr))?;
                if let Some(result) = result {
                    self.set_tile(*result, tile);
                }
            }
            Support::SetValid { tile, valid } => {
                let valid = valid.map(|v| v.map(|v| self.int(v)));
                self.engine.set_valid(self.object_of(*tile), valid)?;
            }
            Support::Window(window) => self.window(at, window)?,
            Support::MakeView(view) => self.make_view(view)?,
            Support::Partition(view) => self.partition(view)?,
            Support::AddPtr { src, dst, by, is_pointer } => self.add_pointer(*src, *dst, self.int(*by), *is_pointer)?,
            Support::Address(address) => self.address(address)?,
            Support::ViewNumber(view) => self.view_number(view)?,
            Support::Extents(tile, to) => self.valid_extents(*tile, to)?,
            Support::PrintText { format, values } => self.print_text(at, format, values),
            Support::Trap => {
                let words = self.cx.func.op(at).attrs.as_deref().map(|attrs| attrs.words.join(" ")).unwrap_or_default();
                let said = if words.is_empty() { String::new() } else { format!(": {words}") };
                let what = format!("the program stops itself here{said}");
                return Err(failure("trap", what, "find out why it got here"));
            }
            Support::LoadScalar(access, to) => self.load_scalar(at, access, *to)?,
            Support::Get(get) => self.get_element(at, get)?,
            Support::Dense { object, slot, bytes } => self.dense(at, *object, *slot, bytes)?,
            Support::StoreScalar(access, scalar) => {
                if self.cx.blocks > 1 {
                    self.engine.memories.set_writer(at.0);
                }
                self.store_scalar(at, access, *scalar)?;
            }
            Support::Configure(attrs) => self.engine.configure(attrs),
            Support::PadValue { scalar, attr } => {
                let value = scalar.map(|s| s.number(self.int(s.int))).or(*attr);
                self.engine.config.set(AttrName::PadValue, value);
            }
            Support::BlockIndex(slot) => self.set(*slot, i64::from(self.block)),
            Support::BlockCount(slot) => self.set(*slot, i64::from(self.cx.blocks)),
            Support::Print(tile) => self.print(at, *tile)?,
            Support::PrintView(value, view) => self.print_view(at, *value, *view)?,
            Support::Declare { object, slot } => {
                self.engine.end_tile(*object)?;
                self.set_tile(*slot, *object);
            }
            Support::NewIds(first, count) => {
                (*count..2 * count).for_each(|n| self.set(first.plus(n), 0));
            }
            Support::GetId { ids, shape, places, to } => {
                let [slot, defined] = self.id_slot(*ids, shape, places)?;
                if self.ints[defined.index()] == 0 {
                    let what = "an element is read that was never set";
                    return Err(failure("undefined-use", what, "set it first"));
                }
                self.set(*to, self.ints[slot.index()]);
            }
            Support::SetId { ids, shape, places, id } => {
                let [slot, defined] = self.id_slot(*ids, shape, places)?;
                self.set(slot, self.int(*id));
                self.set(defined, 1);
            }
            Support::Micro(support) => self.micro_support(at, support)?,
            Support::Cache(cached) => self.observe_cache(at, *cached),
            Support::Order(id) => self.observe_order(at, id.map(|id| self.int(id))),
            Support::Fault(rule, what) => return Err(failure(rule, what, "check the program")),
            Support::Refuse(name) => {
                let (what, help) = why_not(name);
                return Err(failure("not-executable", what, help));
            }
        }
        Ok(())
    }

    /// Hands values on, all at once.
    pub fn hand(&mut self, hands: &[BlockArgCopy]) -> Result<(), Failure> {
        if self.scope_log.is_some() {
            self.log_hands(hands);
        }
        match hands {
            [] => {}
            [one] => {
                let value = self.read(*one);
                self.copy_carried(hands)?;
                self.write(value);
            }
            _ => {
                let values: SmallVec<[BlockArgValue; 4]> = hands.iter().map(|h| self.read(*h)).collect();
                self.copy_carried(hands)?;
                values.into_iter().for_each(|value| self.write(value));
            }
        }
        Ok(())
    }

    #[inline]
    fn read(&self, hand: BlockArgCopy) -> BlockArgValue {
        match hand {
            BlockArgCopy::Int { to, from } => BlockArgValue::Int(to, self.int(from)),
            BlockArgCopy::Tile { to, from, buffer } => {
                BlockArgValue::Tile(to, buffer.unwrap_or_else(|| self.object_of(from)))
            }
            BlockArgCopy::Global { to, from } => {
                BlockArgValue::Global(to, Box::new(self.globals[from.index()].clone()))
            }
            BlockArgCopy::Micro { to, from } => {
                BlockArgValue::Micro(to, self.micro.values.get(from.index()).cloned().unwrap_or_default())
            }
        }
    }

    #[inline]
    fn write(&mut self, value: BlockArgValue) {
        match value {
            BlockArgValue::Int(to, value) => self.set(to, value),
            BlockArgValue::Tile(to, object) => self.set_tile(to, object),
            BlockArgValue::Global(to, global) => self.globals[to.index()] = *global,
            BlockArgValue::Micro(to, value) => {
                if let Some(slot) = self.micro.values.get_mut(to.index()) {
                    *slot = value;
                }
            }
        }
    }
}

/// Why a process does not go on.
pub enum Stop {
    Failed(Failure),
    /// It waits for another one.
    DeferredInst,
    /// The run has reached the requested point ([`ProvenanceTracker::until`]).
    Reached,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failed(failure)
    }
}

impl Stop {
    #[cold]
    fn noted(self, note: impl FnOnce() -> String) -> Stop {
        match self {
            Stop::Failed(mut failure) => {
                failure.notes.push(note());
                Stop::Failed(failure)
            }
            other => other,
        }
    }
}

/// A value on its way.
enum BlockArgValue {
    Int(IntSlot, i64),
    Tile(TileSlot, TileId),
    Global(GlobalSlot, Box<Global>),
    Micro(MicroSlot, MicroValue),
}
