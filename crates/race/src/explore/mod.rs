//! The walk: a program run with what is known of its values, on one path, into a [`Trace`].
//!
//! Scalars are forms; a branch whose condition is not known, and a loop whose trip count is not, are **choices**
//! ([`PathChoices`]), which whoever walks again makes otherwise. Tiles are objects with a place, so that the bytes of every
//! instruction are known exactly wherever the program knows them.

mod choices;
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

use crate::linear_expr::{Expr, LinearExpr, Symbols};
use crate::trace::{Access, Event, Kind, Place, Root, Sets, Tick, Trace};
use crate::{Limits, Undecided};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_ir::edges::Control;
use tessera_ir::scalar::{self, Constants};
use tessera_ir::{Arg, ArithOp, BlockId, FifoId, Fifos, Func, Module, Op, OpId, OpKind, Operand, Runs, Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::cost::Costs;
use tessera_isa::inst::{Attrs, ConvType};
use tessera_isa::layout::Layout;
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;
use tessera_isa::tile::Tile;
use tessera_plan::Placement;

/// What a value is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum AbstractValue {
    #[default]
    None,
    Int(LinearExpr),
    /// The number of an object.
    Tile(usize),
    /// A pointer or view.
    View(usize),
    /// The event that recorded it.
    Event(u32),
    /// The number of an array of ids.
    Ids(usize),
}

impl AbstractValue {
    fn event(&self) -> Option<u32> {
        match self {
            AbstractValue::Event(event) => Some(*event),
            _ => None,
        }
    }
}

/// A tile as it is now.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub tile: Tile,
    pub conv: Option<ConvType>,
    pub layout: Layout,
    pub valid: [Option<u64>; 2],
    pub place: Place,
    /// Has it an address of its own?
    pub manual: bool,
    /// The number of all of this but where it lies, once somebody asked.
    pub shape: Option<u32>,
}

/// A process: what of the program it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Core {
    /// All pipes and memories in one.
    #[default]
    Unsplit,
    Cube,
    Vector(u8),
}

/// What everything is about.
#[derive(Clone, Copy)]
pub(crate) struct AnalysisInput<'a> {
    pub module: &'a Module,
    pub func: &'a Func,
    pub profile: Profile,
    pub placement: &'a Placement,
    pub core: Core,
    pub automatic: bool,
    /// Are the buffers of different arguments different ones?
    pub disjoint: bool,
    /// Is it asked for when operations begin and end?
    pub ticks: bool,
    /// Do a few trip counts do?
    pub brief: bool,
    /// Arguments whose numbers are known.
    pub values: &'a [(ValueId, i64)],
    pub limits: Limits,
    /// The number of the block, and how many there are, where that is known.
    pub block: Option<[i64; 2]>,
    /// What instructions cost, where that is asked: then everything of the run must be known.
    pub costs: Option<&'a Costs>,
}

impl<'a> AnalysisInput<'a> {
    /// A process on every path, in which pipes are ordered by the program.
    pub fn new(module: &'a Module, func: &'a Func, profile: Profile, placement: &'a Placement, core: Core) -> Self {
        let (automatic, disjoint, ticks, brief) = (false, true, false, false);
        let (values, limits, block, costs) = (&[][..], Limits::default(), None, None);
        AnalysisInput {
            module,
            func,
            profile,
            placement,
            core,
            automatic,
            disjoint,
            ticks,
            brief,
            values,
            limits,
            block,
            costs,
        }
    }
}

pub(crate) type Explored = Result<(), Undecided>;

/// What is wrong by itself, with the rules that it breaks: order operations, and flags.
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
    symbols: Symbols,
    /// By operation: how many values it found.
    found: FxHashMap<OpId, u32>,
    /// The operation that the walk is at.
    at: Option<OpId>,
    misused: MisuseSet,
    /// The buffers that the process wrote to.
    written: FxHashSet<Root>,
    /// Whether it has micro instructions: pointers on the chip are numbers then.
    is_micro: bool,
    fifos: Fifos,
    /// By operation of a mixed kernel: the kind of core that runs it.
    kinds: Vec<Option<tessera_ir::Core>>,
    /// By FIFO: its pushes, pops and frees so far.
    counts: FxHashMap<(FifoId, fifo::Count), u64>,
    constants: &'a Constants,
    env: Vec<AbstractValue>,
    objects: Vec<Object>,
    views: Vec<global::View>,
    config: Attrs,
    /// Arrays of ids of flags, as far as these are known.
    arrays: Vec<Vec<Option<LinearExpr>>>,
    /// Addresses that TASSIGN gives to values before their definition (syntax.md 1).
    early: FxHashMap<ValueId, LinearExpr>,
    turn: SmallVec<[(OpId, u64); 2]>,
    turn_id: u32,
    flags: FxHashMap<crate::trace::Flag, u32>,
    /// By operation in a loop: the event that a set or a wait with a written id is.
    plain_flags: Vec<Option<(Pipe, Kind)>>,
    steps: u64,
    /// Where iterations begin, while a loop is tried out.
    marks: Vec<usize>,
    /// What tiles were before the loop that is tried out changed them.
    undo: Vec<(usize, Object)>,
    /// How many loops are being tried out.
    trial: u32,
    /// Loops in the one that is tried out whose trip counts it decides.
    uneven: period::VaryingTrips,
    /// The choices that were made before the loop that is tried out.
    settled: Vec<(ChoiceKey, u64)>,
    /// How many loops of unknown trip count are around.
    open_loops: u32,
    /// By loop in another one: the choices that it was, one for each bound that it had.
    kin: FxHashMap<OpId, Vec<ChoiceKey>>,
    /// Symbols whose values the trip counts of loops around tell, and these loops.
    running: FxHashMap<u32, (i64, OpId)>,
    /// Symbols whose values a loop's trip count told.
    bound: FxHashMap<u32, i64>,
    /// Those of them that stand for greater ones, too.
    endless: FxHashMap<u32, Widened>,
    /// What each branch in such a loop compared.
    asked: FxHashMap<OpId, (crate::linear_expr::Terms, i64)>,
}

/// Walks a process on the path that the choices make.
pub(crate) fn walk(
    subject: AnalysisInput<'_>,
    constants: &Constants,
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
        symbols,
        found: FxHashMap::default(),
        at: None,
        misused: MisuseSet::default(),
        written: FxHashSet::default(),
        is_micro: is_micro(func),
        fifos: Fifos::new(subject.module, func),
        kinds: if func.runs() == Runs::Mixed { func.cores() } else { Vec::new() },
        counts: FxHashMap::default(),
        constants,
        env: vec![AbstractValue::None; func.values.len()],
        objects: Vec::new(),
        views: Vec::new(),
        config: Attrs::new(),
        arrays: Vec::new(),
        early: FxHashMap::default(),
        turn: SmallVec::new(),
        turn_id: 0,
        flags: FxHashMap::default(),
        plain_flags: Vec::new(),
        steps: 0,
        marks: Vec::new(),
        undo: Vec::new(),
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
        walk.argument(*arg);
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

impl<'a> PathWalk<'a> {
    fn get(&self, value: ValueId) -> &AbstractValue {
        &self.env[value.index()]
    }

    fn set(&mut self, value: ValueId, val: AbstractValue) {
        self.env[value.index()] = val;
    }

    fn ty(&self, value: ValueId) -> &'a Type {
        self.subject.module.types.get(self.subject.func.value(value).ty)
    }

    fn val(&self, arg: Arg) -> AbstractValue {
        match arg {
            Arg::Value(v) => self.get(v).clone(),
            Arg::Int(n) => AbstractValue::Int(n.into()),
        }
    }

    fn vals(&self, operands: &[Operand]) -> Vec<AbstractValue> {
        operands.iter().map(|o| self.val(o.arg)).collect()
    }

    /// The integer at an operand's place.
    fn form(&self, arg: Arg) -> Option<LinearExpr> {
        let form = self.written_form(arg)?;
        Some(if self.bound.is_empty() { form } else { form.with(&self.bound) })
    }

    /// The same without what loops told of it.
    fn written_form(&self, arg: Arg) -> Option<LinearExpr> {
        match self.val(arg) {
            AbstractValue::Int(form) => Some(form),
            _ => None,
        }
    }

    fn known(&self, arg: Arg) -> Option<i64> {
        self.form(arg)?.known()
    }

    /// What the operation here finds when it runs. Whatever runs the same operation as often finds the same, unless it
    /// looks into a memory of its own.
    fn fresh(&mut self) -> LinearExpr {
        let times = self.found.entry(self.at.unwrap_or(OpId(u32::MAX))).or_default();
        *times += 1;
        let core = if let Core::Vector(n) = self.subject.core { n } else { 0 };
        let own = self.at.is_some_and(|at| self.kinds.get(at.index()).is_some_and(Option::is_some));
        self.symbols.of(Expr::Found(self.at, *times, if own { core } else { 0 }))
    }

    /// A value of which only the type is known.
    fn argument(&mut self, value: ValueId) {
        let val = match self.ty(value) {
            Type::Tile(_) | Type::Conv(_) | Type::Vector(..) => {
                self.new_tile(value).map_or(AbstractValue::None, AbstractValue::Tile)
            }
            ty @ (Type::Ptr(..) | Type::View(_) | Type::Memref(_)) => {
                let place = match self.subject.disjoint {
                    true => Place { root: Root::Buffer(value), at: LinearExpr::default() },
                    false => Place { root: Root::Anywhere, at: self.symbols.of(Expr::Value(value)) },
                };
                self.view_of_type(ty, place)
            }
            Type::Scalar(_) => match self.subject.values.iter().find(|(v, _)| *v == value) {
                Some((_, known)) => AbstractValue::Int((*known).into()),
                None => AbstractValue::Int(self.symbols.of(Expr::Value(value))),
            },
            Type::Event | Type::Opaque(_) | Type::Micro(_) => AbstractValue::None,
        };
        self.set(value, val);
    }

    /// A value that only a run knows.
    fn unknown(&mut self, value: ValueId) {
        let val = match self.ty(value) {
            Type::Scalar(_) => AbstractValue::Int(self.fresh()),
            Type::Tile(_) | Type::Conv(_) | Type::Vector(..) => {
                self.new_tile(value).map_or(AbstractValue::None, AbstractValue::Tile)
            }
            Type::Ptr(..) if self.is_chip_pointer(value) => AbstractValue::Int(self.fresh()),
            ty @ (Type::Ptr(..) | Type::View(_) | Type::Memref(_)) => {
                let at = self.fresh();
                self.view_of_type(ty, Place { root: Root::Anywhere, at })
            }
            Type::Event | Type::Opaque(_) | Type::Micro(_) => AbstractValue::None,
        };
        self.set(value, val);
    }

    fn block(&mut self, block: BlockId) -> Explored {
        let func = self.subject.func;
        for id in &func.block(block).ops {
            self.steps += 1;
            // Each iteration is kept with those of all loops around it.
            let turns = self.trace.turns.len().saturating_mul(self.turn.len());
            let events = self.trace.events.len().max(turns / 8);
            if self.steps > self.subject.limits.steps || events > self.subject.limits.events {
                return Err(self.too_long(func.op(*id).span));
            }
            let op = func.op(*id);
            self.at = Some(*id);
            let (ticks, events) = (self.trace.ticks.len(), self.trace.events.len());
            if self.subject.ticks {
                self.trace.ticks.push(Tick::Begin(*id));
            }
            self.op(*id, op)?;
            if self.subject.ticks {
                match self.trace.events.len() == events && op.blocks.is_empty() {
                    true => self.trace.ticks.truncate(ticks),
                    false => self.trace.ticks.push(Tick::End(*id)),
                }
            }
        }
        Ok(())
    }

    fn op(&mut self, id: OpId, op: &'a Op) -> Explored {
        match &op.kind {
            OpKind::Pto(opcode, _) if self.is_micro && self.chip_pointer(id, op, *opcode) => {}
            OpKind::Pto(opcode, form) => return self.instruction(id, op, *opcode, *form),
            OpKind::Micro(_) => return self.micro(id, op),
            _ if op.is_vecscope() => return self.vecscope(id, op),
            OpKind::Other(_) if op.id_array().is_some() => self.ids(id, op),
            OpKind::Other(_) | OpKind::Call(_) => op.results.iter().for_each(|value| self.unknown(*value)),
            OpKind::Constant(value) => self.constant(op, *value),
            OpKind::Dense(_) => op.results.iter().for_each(|value| self.argument(*value)),
            OpKind::Arith(_) | OpKind::Cmp(_) | OpKind::Cast(_) => self.compute(op),
            OpKind::Float(_) | OpKind::CmpFloat(_) => op.results.iter().for_each(|value| self.unknown(*value)),
            OpKind::For | OpKind::If | OpKind::While | OpKind::Select => {
                return match Control::of(self.subject.func, op) {
                    Ok(Control::For(f)) => self.repeat(id, op, f),
                    Ok(Control::If(i)) => self.branch(id, op, i),
                    Ok(Control::While(w)) => self.repeat_while(id, op, w),
                    Ok(Control::Select(s)) => self.select(id, op, s),
                    Err(broken) => Err(Undecided::at(op.span, broken.message)),
                };
            }
            OpKind::Yield | OpKind::Condition | OpKind::Return => {}
        }
        Ok(())
    }

    fn constant(&mut self, op: &Op, value: Number) {
        let Some(result) = op.results.first() else { return };
        let val = match (self.ty(*result), value) {
            (Type::Scalar(ty), Number::Int(v)) => AbstractValue::Int(scalar::wrap(v as i64, ty.bits()).into()),
            _ => AbstractValue::Int(self.symbols.of(Expr::Value(*result))),
        };
        self.set(*result, val);
    }

    fn compute(&mut self, op: &Op) {
        let Some(result) = op.results.first().copied() else { return };
        let (module, func) = (self.subject.module, self.subject.func);
        if let (OpKind::Cmp(pred), [a, b], false) = (&op.kind, op.operands.as_slice(), self.endless.is_empty())
            && let (Some(a), Some(b)) = (self.written_form(a.arg), self.written_form(b.arg))
            && self.is_beyond(&a, &b)
        {
            let (from, _) = scalar::widths(module, func, op);
            let unknown = self.symbols.of(Expr::Cmp(*pred, from, a, b));
            return self.set(result, AbstractValue::Int(unknown));
        }
        if let Some(form) = self.derived(op) {
            return self.set(result, AbstractValue::Int(form));
        }
        let computed = scalar::compute(module, func, op, |arg| self.known(arg));
        let form = match computed {
            Some(Ok(v)) => v.into(),
            _ => {
                let side = |n: usize| op.operands.get(n).and_then(|o| self.form(o.arg));
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
        };
        self.set(result, AbstractValue::Int(form));
    }

    /// Is one surely at most the other, which is a constant?
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
