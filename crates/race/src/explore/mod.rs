//! The walk: symbolic execution of a program on one path, which records a [`Trace`].
//!
//! Scalars are linear expressions. A branch with an unknown condition and a loop with an unknown trip count are
//! **choices** ([`PathChoices`]), which another walk makes differently. Tiles are objects with a place, so that the
//! bytes of every instruction are known exactly wherever the program knows them.

mod choices;
mod comm;
mod concrete_run;
mod control;
mod fifo;
mod footprint_cache;
mod global;
mod micro;
mod peel;
mod period;
mod sync_ops;
mod tiles;
mod widening;

pub use choices::{ChoiceKey, PathChoices, SymbolicLoop};
use widening::Widened;

use crate::causes::Extra;
use crate::linear_expr::{Expr, LinearExpr, Symbols};
use crate::trace::{Access, Event, Kind, Place, Root, Sets, Tick, Trace};
use crate::{Limits, Undecided};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_absint::{Analysis, ControlFlow, Ext, Flow, Origin, State, Tiles, Val};
use tessera_ir::edges::Control;
use tessera_ir::scalar::{self, Constants};
use tessera_ir::{Arg, ArithOp, FifoId, Fifos, Func, Module, Op, OpId, OpKind, Runs, ScalarType, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::cost::Costs;
use tessera_isa::ops::{Form, Opcode, Pipe, Text};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Loc, Tile};
use tessera_plan::Placement;

/// A process: what of the program it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Core {
    /// All pipes and memories in one.
    #[default]
    Unsplit,
    Cube,
    Vector(u8),
}

/// The input of an analysis.
#[derive(Clone, Copy)]
pub(crate) struct AnalysisInput<'a> {
    pub module: &'a Module,
    pub func: &'a Func,
    pub profile: Profile,
    pub placement: &'a Placement,
    pub core: Core,
    pub automatic: bool,
    /// Whether the buffers of different arguments are different.
    pub disjoint: bool,
    /// Whether other functions call this one, so that the tiles it is given may share bytes.
    pub is_called: bool,
    /// Whether the start and end times of operations are requested.
    pub ticks: bool,
    /// Whether a few trip counts suffice.
    pub brief: bool,
    /// Arguments whose numbers are known.
    pub values: &'a [(ValueId, i64)],
    pub limits: Limits,
    /// The number of the block, and how many there are, where that is known.
    pub block: Option<[i64; 2]>,
    /// The costs of instructions, if they are requested: then everything of the run must be known.
    pub costs: Option<&'a Costs>,
    /// Order operations that are tried beside those of the program.
    pub extra: &'a [Extra],
}

impl<'a> AnalysisInput<'a> {
    /// A process on every path, in which pipes are ordered by the program.
    pub fn new(module: &'a Module, func: &'a Func, profile: Profile, placement: &'a Placement, core: Core) -> Self {
        let (automatic, disjoint, is_called, ticks, brief) = (false, true, false, false, false);
        let (values, limits, block, costs) = (&[][..], Limits::default(), None, None);
        AnalysisInput {
            module,
            func,
            profile,
            placement,
            core,
            automatic,
            disjoint,
            is_called,
            ticks,
            brief,
            values,
            limits,
            block,
            costs,
            extra: &[],
        }
    }
}

pub(crate) type Explored = Result<(), Undecided>;

/// Misuses that are errors by themselves, with the rules that they break: of synchronisation operations, and of flags.
#[derive(Clone, Default)]
struct MisuseSet {
    ops: FxHashSet<(OpId, &'static str)>,
    flags: FxHashSet<(&'static str, String)>,
}

pub(crate) struct PathWalk<'a> {
    pub subject: AnalysisInput<'a>,
    pub choices: &'a mut PathChoices,
    pub sets: &'a mut Sets,
    pub trace: Trace,
    state: State<'a, LinearExpr, Root>,
    symbols: Symbols,
    /// By operation: how many values it found.
    found: FxHashMap<OpId, u32>,
    /// The operation that the walk is at.
    at: Option<OpId>,
    misused: MisuseSet,
    /// The buffers that the process wrote to.
    written: FxHashSet<Root>,
    /// The calls of functions that use pipes, and whether one of them was made.
    calls: FxHashSet<OpId>,
    calls_away: bool,
    /// Whether it has micro instructions: pointers on the chip are numbers then.
    is_micro: bool,
    fifos: Fifos,
    /// By operation of a mixed kernel: the kind of core that runs it.
    kinds: Vec<Option<tessera_ir::Core>>,
    /// By FIFO: its pushes, pops and frees so far.
    counts: FxHashMap<(FifoId, fifo::Count), u64>,
    /// Arrays of ids of flags, as far as these are known.
    arrays: Vec<Vec<Option<LinearExpr>>>,
    turn: SmallVec<[(OpId, u64); 2]>,
    turn_id: u32,
    flags: FxHashMap<crate::trace::Flag, u32>,
    /// By operation in a loop: the event that a set or a wait with a written id is.
    plain_flags: Vec<Option<(Pipe, Kind)>>,
    steps: u64,
    /// The starts of iterations, while a loop is tried out.
    marks: Vec<usize>,
    /// The number of loops that are being tried out.
    trial: u32,
    /// Loops in the one that is tried out whose trip counts it decides.
    uneven: period::VaryingTrips,
    /// The choices that were made before the loop that is tried out.
    settled: Vec<(ChoiceKey, u64)>,
    /// The number of enclosing loops with unknown trip count.
    open_loops: u32,
    /// By loop in another one: the choices that it was, one for each bound that it had.
    kin: FxHashMap<OpId, Vec<ChoiceKey>>,
    /// Symbols whose values the trip counts of loops around tell, and these loops.
    running: FxHashMap<u32, (i64, OpId)>,
    /// Symbols whose values a loop's trip count determined.
    bound: FxHashMap<u32, i64>,
    /// The symbols in `bound` that also stand for greater values.
    endless: FxHashMap<u32, Widened>,
    /// The comparison of each branch in such a loop.
    asked: FxHashMap<OpId, (crate::linear_expr::Terms, i64)>,
}

/// Walks a process on the path that the choices make.
pub(crate) fn walk<'a>(
    subject: AnalysisInput<'a>,
    constants: &'a Constants,
    choices: &mut PathChoices,
    sets: &mut Sets,
) -> Result<Trace, Undecided> {
    let func = subject.func;
    let symbols = std::mem::take(&mut choices.symbols);
    let mut walk = PathWalk {
        subject,
        choices,
        sets,
        trace: Trace {
            core: subject.core,
            turns: vec![SmallVec::new()],
            automatic: subject.automatic,
            is_micro: is_micro(func),
            ..Trace::default()
        },
        state: State::new(subject.module, func, subject.profile, constants),
        symbols,
        found: FxHashMap::default(),
        at: None,
        misused: MisuseSet::default(),
        written: FxHashSet::default(),
        calls: crate::calls::working(subject.module, func, subject.profile),
        calls_away: false,
        is_micro: is_micro(func),
        fifos: Fifos::new(subject.module, func),
        kinds: if func.runs() == Runs::Mixed { func.cores() } else { Vec::new() },
        counts: FxHashMap::default(),
        arrays: Vec::new(),
        turn: SmallVec::new(),
        turn_id: 0,
        flags: FxHashMap::default(),
        plain_flags: Vec::new(),
        steps: 0,
        marks: Vec::new(),
        trial: 0,
        uneven: period::VaryingTrips::default(),
        settled: Vec::new(),
        open_loops: 0,
        kin: FxHashMap::default(),
        running: FxHashMap::default(),
        asked: FxHashMap::default(),
        bound: FxHashMap::default(),
        endless: FxHashMap::default(),
    };
    for arg in &func.args {
        walk.set_by_type(*arg, Origin::Argument);
    }
    walk.block(func.body)?;
    walk.trace.steps = walk.steps;
    walk.choices.symbols = walk.symbols;
    Ok(walk.trace)
}

/// Whether a function has micro instructions.
pub(crate) fn is_micro(func: &Func) -> bool {
    func.ops.iter().any(|op| matches!(op.kind, OpKind::Micro(_)))
}

/// A value of the program.
pub(crate) type Value = Val<LinearExpr>;
/// A tile as it is now.
pub(crate) type Object = tessera_absint::Object<LinearExpr, Root>;
/// A pointer or view.
pub(crate) type View = tessera_absint::View<LinearExpr, Root>;

impl<'a> Analysis<'a> for PathWalk<'a> {
    type Int = LinearExpr;
    type Root = Root;
    type Stop = Undecided;
    type Own = ();

    fn state(&self) -> &State<'a, LinearExpr, Root> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State<'a, LinearExpr, Root> {
        &mut self.state
    }

    fn constant(&self, n: i64) -> LinearExpr {
        n.into()
    }

    fn unknown(&mut self) -> LinearExpr {
        self.fresh()
    }

    fn known(&self, n: &LinearExpr) -> Option<i128> {
        n.known().map(i128::from)
    }

    fn sum(&mut self, a: &LinearExpr, b: &LinearExpr) -> LinearExpr {
        a.plus(b)
    }

    fn product(&mut self, a: &LinearExpr, b: &LinearExpr) -> LinearExpr {
        self.symbols.arith(ArithOp::Muli, 64, a, b)
    }

    fn either_int(&mut self, a: &LinearExpr, b: &LinearExpr) -> LinearExpr {
        if a == b { a.clone() } else { self.fresh() }
    }

    fn read(&self, arg: Arg) -> Option<LinearExpr> {
        let form = self.raw(arg)?;
        Some(if self.bound.is_empty() { form } else { form.with(&self.bound) })
    }

    fn number(&self, arg: Arg) -> Option<Number> {
        let is_float = |v| matches!(self.state.scalar_type(v), ScalarType::Float(_));
        let known = self.known_at(arg).filter(|_| !arg.value().is_some_and(is_float));
        known.map(|v| Number::Int(v.into()))
    }

    fn literal(&mut self, value: ValueId, number: Number) -> LinearExpr {
        match number {
            Number::Int(v) => (v as i64).into(),
            Number::Float(_) => self.symbols.of(Expr::Value(value)),
        }
    }

    fn scalar(&mut self, value: ValueId, origin: Origin) -> LinearExpr {
        if origin != Origin::Argument {
            return self.fresh();
        }
        match self.subject.values.iter().find(|(v, _)| *v == value) {
            Some((_, known)) => (*known).into(),
            None => self.symbols.of(Expr::Value(value)),
        }
    }

    fn compute(&mut self, op: &Op) -> LinearExpr {
        let (module, func) = (self.subject.module, self.subject.func);
        if let (OpKind::Cmp(pred), [a, b], false) = (&op.kind, op.operands.as_slice(), self.endless.is_empty())
            && let (Some(a), Some(b)) = (self.raw(a.arg), self.raw(b.arg))
            && self.is_beyond(&a, &b)
        {
            let (from, _) = scalar::widths(module, func, op);
            return self.symbols.of(Expr::Cmp(*pred, from, a, b));
        }
        if let Some(form) = self.derived(op) {
            return form;
        }
        let computed = scalar::compute(module, func, op, |arg| self.known_at(arg));
        match computed {
            Some(Ok(v)) => v.into(),
            _ => {
                let side = |n: usize| op.operands.get(n).and_then(|o| self.read(o.arg));
                let (from, to) = scalar::widths(module, func, op);
                match (&op.kind, side(0), side(1)) {
                    // A loop that did not run tells that its bound is small.
                    (OpKind::Arith(ArithOp::Maxsi), Some(a), Some(b)) if self.is_at_most(&a, &b) => b,
                    (OpKind::Arith(ArithOp::Maxsi), Some(a), Some(b)) if self.is_at_most(&b, &a) => a,
                    (OpKind::Arith(kind), Some(a), Some(b)) => self.symbols.arith(*kind, to, &a, &b),
                    (OpKind::Cmp(pred), Some(a), Some(b)) => self.symbols.of(Expr::Cmp(*pred, from, a, b)),
                    // Indices are taken to fit their types.
                    (OpKind::Cast(_), Some(a), _) if from > 1 && to > 1 => a,
                    (OpKind::Cast(_), Some(a), _) => self.symbols.of(Expr::Cast(to, from > to, a)),
                    _ => self.fresh(),
                }
            }
        }
    }

    fn buffer(&mut self, value: ValueId, origin: Origin) -> Place {
        match (origin, self.subject.disjoint) {
            (Origin::Argument, true) => Place { root: Root::Buffer(value), at: LinearExpr::default() },
            (Origin::Argument, false) => Place { root: Root::Anywhere, at: self.symbols.of(Expr::Value(value)) },
            _ => self.anywhere(),
        }
    }

    /// The address that placement gave to the value.
    fn storage(&mut self, value: ValueId, tile: &Tile, origin: Origin) -> Place {
        // The tiles that a called function is given may be one tile.
        if origin == Origin::Argument && self.subject.is_called && self.subject.func.args.contains(&value) {
            return Place { root: Root::Chip(tile.loc, 0), at: self.symbols.of(Expr::Value(value)) };
        }
        match self.subject.placement.slot(value) {
            Some(slot) => Place { root: Root::Chip(slot.loc, 0), at: (slot.addr as i64 * 8).into() },
            None => Place { root: Root::Tile(value), at: LinearExpr::default() },
        }
    }

    fn anywhere(&mut self) -> Place {
        Place { root: Root::Anywhere, at: self.fresh() }
    }

    fn memory(loc: Loc) -> Root {
        Root::Chip(loc, 0)
    }

    fn visit(&mut self, id: OpId, op: &'a Op) -> Explored {
        self.steps += 1;
        // Each iteration is kept with those of all loops around it.
        let turns = self.trace.turns.len().saturating_mul(self.turn.len());
        let events = self.trace.events.len().max(turns / 8);
        if self.steps > self.subject.limits.steps || events > self.subject.limits.events {
            return Err(self.too_long(op.span));
        }
        self.at = Some(id);
        let (ticks, events) = (self.trace.ticks.len(), self.trace.events.len());
        if self.subject.ticks {
            self.trace.ticks.push(Tick::Begin(id));
        }
        self.extra(id, false);
        match &op.kind {
            OpKind::Pto(opcode, _) if self.is_micro && self.chip_pointer(id, op, *opcode) => {}
            OpKind::Micro(_) => self.micro(id, op)?,
            _ if op.is_vecscope() => self.vecscope(id, op)?,
            _ => self.op(id, op)?,
        }
        self.extra(id, true);
        if self.subject.ticks {
            match self.trace.events.len() == events && op.blocks.is_empty() {
                true => self.trace.ticks.truncate(ticks),
                false => self.trace.ticks.push(Tick::End(id)),
            }
        }
        Ok(())
    }

    fn instruction(&mut self, id: OpId, op: &'a Op, opcode: Opcode, form: Form) -> Explored {
        if let Some(order) = opcode.order() {
            return self.order(id, op, order);
        }
        match opcode.info().text {
            Text::Number => self.core_numbers(op, opcode),
            Text::Pipe(_) => self.fifo(id, op),
            Text::Comm(_) => self.between_ranks(id, op),
            Text::LoadScalar | Text::StoreScalar => self.scalar_access(id, op),
            _ if self.transfer(op, opcode) => {}
            _ => return self.on_tiles(id, op, opcode, form),
        }
        Ok(())
    }

    fn is_number(&self, value: ValueId) -> bool {
        self.is_chip_pointer(value)
    }

    fn other(&mut self, id: OpId, op: &'a Op) {
        if op.id_array().is_some() {
            return self.ids(id, op);
        }
        if self.calls.contains(&id) {
            self.call(id, op);
        }
        self.set_unknown(op);
    }

    fn control(&mut self, id: OpId, op: &'a Op, control: Flow<'a>) -> Explored {
        match control {
            Ok(Control::For(f)) => self.repeat(id, op, f),
            Ok(Control::While(w)) => self.repeat_while(id, op, w),
            Ok(Control::If(i)) => self.branch(id, op, i),
            Ok(Control::Select(s)) => self.select(id, op, s),
            Err(broken) => Err(Undecided::at(op.span, broken.message)),
        }
    }
}

impl PathWalk<'_> {
    /// A call that is not inlined: full barriers stand on both sides of it.
    fn call(&mut self, id: OpId, op: &Op) {
        for object in op.values().filter_map(|v| self.state.tile(Arg::Value(v))).collect::<Vec<_>>() {
            self.state.change(object).set_open(|_, _| Ext::Unknown);
        }
        self.calls_away = true;
        self.event(id, Some(Pipe::S), Kind::Meets, &[]);
    }

    /// The number at an operand's place, without the values that loops determined.
    fn raw(&self, arg: Arg) -> Option<LinearExpr> {
        match self.val(arg) {
            Val::Scalar(form) => Some(form),
            _ => None,
        }
    }

    fn known_at(&self, arg: Arg) -> Option<i64> {
        self.read(arg)?.known()
    }

    /// The symbol of the value that this operation finds at run time. The n-th run of an operation finds the same
    /// value in every process, unless it reads a memory of its own core.
    fn fresh(&mut self) -> LinearExpr {
        let times = self.found.entry(self.at.unwrap_or(OpId(u32::MAX))).or_default();
        *times += 1;
        let core = if let Core::Vector(n) = self.subject.core { n } else { 0 };
        let own = self.at.is_some_and(|at| self.kinds.get(at.index()).is_some_and(Option::is_some));
        self.symbols.of(Expr::Found(self.at, *times, if own { core } else { 0 }))
    }

    /// Whether `a` is certainly at most `b`, which must be a constant.
    fn is_at_most(&self, a: &LinearExpr, b: &LinearExpr) -> bool {
        self.choices.most(a).zip(b.known()).is_some_and(|(most, n)| most <= n)
    }

    /// A new event of an operation.
    fn event(&mut self, op: OpId, pipe: Option<Pipe>, kind: Kind, accesses: &[Access]) -> u32 {
        let from = self.trace.accesses.len() as u32;
        self.trace.accesses.extend_from_slice(accesses);
        for access in accesses.iter().filter(|a| a.writes) {
            let root = self.sets.get(access.set).root;
            if matches!(root, Root::Buffer(_) | Root::Anywhere) {
                self.written.insert(root);
            }
        }
        let range = (from, self.trace.accesses.len() as u32);
        self.trace.events.push(Event { op, pipe, kind, turn: self.turn_id, accesses: range });
        let event = self.trace.events.len() as u32 - 1;
        if self.subject.ticks {
            self.trace.ticks.push(Tick::Event(event));
        }
        event
    }

    /// The number of the iterations that the walk is in.
    fn new_turn(&mut self) {
        self.turn_id = self.trace.turns.len() as u32;
        self.trace.turns.push(self.turn.clone());
    }
}
