//! How much memory the views of a kernel imply, without running it: what is computed of constants, bound scalars, block
//! numbers and induction variables is followed as ranges (isa/structure.md 3, 8).

use super::{Kernel, Need};
use std::collections::BTreeMap;
use tessera_absint::{
    Analysis, ControlFlow, Flow, GlobalMemory, Interval, Origin, Place, PlaceOf, State, Step, Val, Vals, ViewOf,
};
use tessera_interp::Input;
use tessera_ir::edges::{Control, For, While};
use tessera_ir::scalar::{Constants, compute, widths};
use tessera_ir::{Arg, Op, OpId, OpKind, ValueId, fifo};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::ops::{Form, Opcode, Role, Text};
use tessera_isa::sem::Dir;
use tessera_isa::tile::Loc;

/// Operations that are followed before nothing more is said.
const FUEL: u32 = 1 << 20;

/// How large an argument's memory is, as far as the program says it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extents {
    /// These extents hold all that the kernel can reach.
    Known(Vec<u64>),
    /// Nothing reaches into it.
    Unused,
    /// What is reached is not known before the run; this operation decides it.
    Unknown(Option<Span>),
}

impl Extents {
    /// The extents, if they are known; memory that nothing reaches into has one element.
    pub fn known(self) -> Option<Vec<u64>> {
        match self {
            Extents::Known(shape) => Some(shape),
            Extents::Unused => Some(vec![1]),
            Extents::Unknown(_) => None,
        }
    }
}

impl Kernel {
    /// The extents of every argument, in order, with these scalars and so many blocks; an argument that is no memory and
    /// no tile is unused.
    pub fn extents(&self, inputs: &[(ValueId, Input)], blocks: u32) -> Vec<Extents> {
        self.extents_on(inputs, blocks, (0, 1))
    }

    /// The same on one of several ranks: its number, and how many there are.
    pub fn extents_on(&self, inputs: &[(ValueId, Input)], blocks: u32, rank: (u32, u32)) -> Vec<Extents> {
        self.extents_of_rank(inputs, blocks, &self.contexts(), rank)
    }

    /// The same with these arguments as contexts, through which the kernel learns its number and
    /// where the windows of all ranks lie. A pointer that moves to another rank's window reaches as far there as here.
    pub(crate) fn extents_of_rank(
        &self,
        inputs: &[(ValueId, Input)],
        blocks: u32,
        contexts: &[ValueId],
        (rank, count): (u32, u32),
    ) -> Vec<Extents> {
        let constants = Constants::new(self.module(), self.func());
        let mut walk = Walk::new(self, blocks, &constants);
        let place = |value: &ValueId| self.func().args.iter().position(|arg| arg == value);
        walk.contexts = contexts.iter().filter_map(place).collect();
        walk.rank_word = i64::from(rank) | i64::from(count) << 32;
        for (value, input) in inputs {
            if let Input::Scalar(Number::Int(number)) = input {
                walk.state.set(*value, Val::Scalar(i64::try_from(*number).ok().map(Interval::one)));
            }
        }
        let is_done = walk.block(self.func().body).is_ok();
        let arguments = self.func().args.iter().enumerate();
        arguments.map(|(n, value)| walk.extents(n, *value, is_done)).collect()
    }
}

/// What an operation implies of an argument's memory.
#[derive(Clone, Debug)]
struct Use {
    argument: usize,
    /// One past the last bit that is reached, where known.
    end: Option<u128>,
    shape: Option<Vec<u64>>,
}

struct Walk<'a> {
    kernel: &'a Kernel,
    state: State<'a, Option<Interval>, Option<usize>>,
    blocks: u32,
    /// The newest word of each operation: what a loop does later holds what it did first.
    uses: BTreeMap<OpId, Use>,
    /// By argument that is a view: how far its axes are reached, where its type leaves them open.
    open: Vec<Vec<Option<u64>>>,
    fuel: u32,
    /// Arguments that are contexts, by position, and their word with the rank.
    contexts: Vec<usize>,
    rank_word: i64,
}

/// The analysis has no fuel left.
struct Spent;

impl<'a> Analysis<'a> for Walk<'a> {
    type Int = Option<Interval>;
    /// The argument, where it is known.
    type Root = Option<usize>;
    type Stop = Spent;
    type Own = ();

    fn state(&self) -> &State<'a, Option<Interval>, Option<usize>> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State<'a, Option<Interval>, Option<usize>> {
        &mut self.state
    }

    fn constant(&self, n: i64) -> Option<Interval> {
        Some(Interval::one(n))
    }

    fn unknown(&mut self) -> Option<Interval> {
        None
    }

    fn known(&self, n: &Option<Interval>) -> Option<i128> {
        n.and_then(Interval::single).map(i128::from)
    }

    fn sum(&mut self, a: &Option<Interval>, b: &Option<Interval>) -> Option<Interval> {
        (*a)?.plus((*b)?)
    }

    fn product(&mut self, a: &Option<Interval>, b: &Option<Interval>) -> Option<Interval> {
        (*a)?.times((*b)?)
    }

    fn either_int(&mut self, a: &Option<Interval>, b: &Option<Interval>) -> Option<Interval> {
        Some((*a)?.hull((*b)?))
    }

    fn literal(&mut self, _: ValueId, number: Number) -> Option<Interval> {
        match number {
            Number::Int(n) => i64::try_from(n).ok().map(Interval::one),
            Number::Float(_) => None,
        }
    }

    fn scalar(&mut self, _: ValueId, _: Origin) -> Option<Interval> {
        None
    }

    fn compute(&mut self, op: &Op) -> Option<Interval> {
        let (module, func) = (self.state.module, self.state.func);
        let side = |n: usize| op.operands.get(n).and_then(|o| self.read(o.arg)).flatten();
        let (from, to) = widths(module, func, op);
        match &op.kind {
            OpKind::Arith(kind) => Interval::arith(*kind, to, side(0)?, side(kind.arity() - 1)?),
            OpKind::Cast(kind) if kind.floats() == (false, false) => side(0)?.cast(*kind, from, to),
            OpKind::Cmp(_) => {
                let int = |arg: Arg| self.read(arg).flatten().and_then(Interval::single);
                compute(module, func, op, int).and_then(Result::ok).map(Interval::one)
            }
            _ => None,
        }
    }

    fn buffer(&mut self, value: ValueId, origin: Origin) -> PlaceOf<'a, Self> {
        let argument = self.state.func.args.iter().position(|arg| *arg == value);
        match argument.filter(|_| origin == Origin::Argument) {
            Some(argument) => Place { root: Some(argument), at: self.constant(0) },
            None => self.anywhere(),
        }
    }

    fn anywhere(&mut self) -> PlaceOf<'a, Self> {
        Place { root: None, at: None }
    }

    fn memory(_: Loc) -> Option<usize> {
        None
    }

    /// Tiles reach no memory by themselves.
    fn new_tile(&mut self, _: ValueId, _: Origin) -> Option<usize> {
        None
    }

    fn visit(&mut self, id: OpId, op: &'a Op) -> Step<'a, Self> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Spent)?;
        self.op(id, op)
    }

    fn instruction(&mut self, id: OpId, op: &'a Op, opcode: Opcode, _: Form) -> Step<'a, Self> {
        let view = op.operand(Role::Global).and_then(|o| self.view(o.arg));
        match opcode.info().text {
            text @ (Text::MakeView | Text::Partition | Text::AddPtr) => {
                if let Some(view) = view.filter(|_| text == Text::Partition) {
                    self.reach(op, &view);
                }
                self.derive_view(op, text);
                let made = op.results.first().filter(|_| text == Text::MakeView);
                if let Some(view) = made.and_then(|made| self.view(Arg::Value(*made))) {
                    self.note(id, &view, self.end(&view), self.shape(&view));
                }
            }
            Text::Address(_) => self.pointer_to(op),
            Text::Dim => self.view_number(op, opcode),
            Text::Number => {
                let number = self.number_of(opcode);
                self.state.set_all(&op.results, [Val::Scalar(number)]);
            }
            Text::LoadScalar | Text::StoreScalar => {
                if let Some((view, numbers)) = self.view_and_numbers(op) {
                    if view.place.root.is_some_and(|root| self.contexts.contains(&root)) {
                        self.context_word(op, numbers.first().copied().flatten());
                        return Ok(());
                    }
                    let last = numbers.first().cloned().flatten();
                    let at = self.moved(&view.place.at, &last, view.elem.bits());
                    self.note(id, &view, until(at, view.elem.bits()), None);
                }
                self.set_unknown(op);
            }
            Text::Pipe(_) => {
                // The slots of both directions lie there (isa/structure.md 5, `fifo-gm`; isa/today.md 7.2).
                if let Some(view) = view.or_else(|| self.view(op.operand(Role::SlotView)?.arg)) {
                    let directions = [Dir::C2v, Dir::V2c].into_iter().filter(|dir| fifo::has_dir(op, *dir)).count();
                    let bytes = u128::from(fifo::slot_size(op)) * u128::from(fifo::slots(op)) * directions as u128;
                    self.note(id, &view, until(view.place.at, 0).map(|bits| bits + 8 * bytes), None);
                }
                self.set_unknown(op);
            }
            _ => {
                // A view was counted where it was made; how far an instruction reaches from a pointer, only it knows.
                if let Some(view) = view.filter(|view| view.dims.is_empty()) {
                    self.note(id, &view, None, None);
                }
                self.set_unknown(op);
            }
        }
        Ok(())
    }

    fn control(&mut self, _: OpId, _: &'a Op, control: Flow<'a>) -> Step<'a, Self> {
        match control {
            Ok(Control::For(f)) => return self.repeat(f),
            Ok(Control::While(w)) => return self.repeat_while(w),
            Ok(Control::If(i)) => return self.choose(i),
            Ok(Control::Select(s)) => self.choose_value(s),
            Err(_) => {}
        }
        Ok(())
    }
}

impl<'a> Walk<'a> {
    fn new(kernel: &'a Kernel, blocks: u32, constants: &'a Constants) -> Self {
        let (module, func, profile) = (kernel.module(), kernel.func(), kernel.profile());
        let mut walk = Walk {
            kernel,
            state: State::new(module, func, profile, constants),
            blocks,
            uses: BTreeMap::new(),
            open: Vec::new(),
            fuel: FUEL,
            contexts: Vec::new(),
            rank_word: 0,
        };
        for value in &func.args {
            walk.set_by_type(*value, Origin::Argument);
            let mut rank = 0;
            if let Val::View(view) = *walk.state.get(*value) {
                // Strides that a type leaves open are dense unless a run is given others.
                let dims = walk.state.views[view].dims.clone();
                let dense = walk.dense(&dims);
                let view = &mut walk.state.views[view];
                view.strides = view.strides.iter().zip(dense).map(|(stride, dense)| stride.or(dense)).collect();
                view.place.at = view.place.at.or(Some(Interval::one(0)));
                rank = dims.len();
            }
            walk.open.push(vec![Some(0); rank]);
        }
        walk
    }

    /// All that was found about an argument.
    fn extents(&self, argument: usize, value: ValueId, is_done: bool) -> Extents {
        let Some(elem) = self.kernel.elem(value) else { return Extents::Unused };
        let need = self.kernel.need(value);
        if let Some(dims) = need.dims() {
            return Extents::Known(dims);
        }
        if let Need::Buffer(_, Some(dims)) = &need {
            let reached = &self.open[argument];
            let reached = reached.iter().map(|r| r.filter(|n| *n > 0));
            let all: Option<Vec<u64>> = dims.iter().zip(reached).map(|(dim, reached)| dim.or(reached)).collect();
            return all.map_or(Extents::Unknown(None), Extents::Known);
        }
        if !is_done {
            return Extents::Unknown(None);
        }
        let own = self.view(Arg::Value(value)).filter(|view| !view.dims.is_empty());
        let mut shapes: Vec<Vec<u64>> = own.as_ref().and_then(|view| self.shape(view)).into_iter().collect();
        let mut reached = own.map(|view| self.end(&view).unwrap_or(0));
        for (id, found) in self.uses.iter().filter(|(_, u)| u.argument == argument) {
            let Some(end) = found.end else { return Extents::Unknown(Some(self.kernel.func().op(*id).span)) };
            reached = Some(reached.map_or(end, |r| r.max(end)));
            shapes.extend(found.shape.clone());
        }
        let Some(bits) = reached else { return Extents::Unused };
        let Ok(elements) = u64::try_from(bits.div_ceil(u128::from(elem.bits()))) else { return Extents::Unknown(None) };
        let is_all = |s: &Vec<u64>| s.iter().try_fold(1u64, |n, d| n.checked_mul(*d)) == Some(elements);
        Extents::Known(shapes.into_iter().find(is_all).unwrap_or_else(|| vec![elements]))
    }

    fn view(&self, arg: Arg) -> Option<ViewOf<'a, Self>> {
        match self.state.get(arg.value()?) {
            Val::View(view) => Some(self.state.views[*view].clone()),
            _ => None,
        }
    }

    /// One past the last bit that the extents of a view reach.
    fn end(&self, view: &ViewOf<'a, Self>) -> Option<u128> {
        let mut last = view.place.at?;
        for (extent, stride) in view.dims.iter().zip(&*view.strides) {
            let high = (*extent)?.high;
            if high <= 0 {
                return Some(0);
            }
            let elements = Interval { low: 0, high: high - 1 }.times((*stride)?)?;
            last = last.plus(elements.times(Interval::one(view.elem.bits().into()))?)?;
        }
        until(Some(last), view.elem.bits())
    }

    /// The extents of a view, where it is dense and begins at the start.
    fn shape(&self, view: &ViewOf<'a, Self>) -> Option<Vec<u64>> {
        let mut dense = (view.place.at == Some(Interval::one(0))).then_some(1i64)?;
        for (extent, stride) in view.dims.iter().zip(&*view.strides).rev() {
            let (extent, stride) = ((*extent)?.single()?, (*stride)?.single()?);
            if extent < 1 || extent > 1 && stride != dense {
                return None;
            }
            dense = dense.checked_mul(extent)?;
        }
        view.dims.iter().map(|extent| u64::try_from((*extent)?.low).ok()).collect()
    }

    /// A word of a context: the rank and how many there are; or where a window starts, which is taken to be one place.
    fn context_word(&mut self, op: &Op, index: Option<Interval>) {
        // A context is read at word 2 and at words 4 + x only.
        let word = match index.and_then(Interval::single) {
            Some(2) => Some(Interval::one(self.rank_word)),
            Some(0 | 1 | 3) => None,
            _ => Some(Interval::one(0)),
        };
        self.state.set_all(&op.results, [Val::Scalar(word)]);
    }

    fn number_of(&self, opcode: Opcode) -> Option<Interval> {
        let blocks = i64::from(self.blocks.max(1));
        Some(match opcode {
            Opcode::GetBlockIdx => Interval { low: 0, high: blocks - 1 },
            Opcode::GetBlockNum => Interval::one(blocks),
            Opcode::GetSubblockIdx => Interval { low: 0, high: 1 },
            Opcode::GetSubblockNum => Interval { low: 1, high: 2 },
            _ => return None,
        })
    }

    fn note(&mut self, id: OpId, view: &ViewOf<'a, Self>, end: Option<u128>, shape: Option<Vec<u64>>) {
        if let Some(argument) = view.place.root {
            self.uses.insert(id, Use { argument, end, shape });
        }
    }

    /// Notes how far a partition reaches along the axes of an argument.
    fn reach(&mut self, op: &Op, base: &ViewOf<'a, Self>) {
        let is_argument = op.operand(Role::Global).and_then(|o| o.arg.value());
        let is_argument = is_argument.is_some_and(|v| self.state.func.args.contains(&v));
        let (Some((_, numbers)), Some(argument)) = (self.view_and_numbers(op), base.place.root.filter(|_| is_argument))
        else {
            return;
        };
        let (from, sizes) = numbers.split_at(numbers.len() / 2);
        for (open, (from, size)) in self.open[argument].iter_mut().zip(from.iter().zip(sizes)) {
            let end = from.zip(*size).and_then(|(f, s)| f.plus(s)).and_then(|end| u64::try_from(end.high).ok());
            *open = open.zip(end).map(|(a, b)| a.max(b));
        }
    }

    /// A counted loop: what it carries goes on as in its first round, or is not known.
    fn repeat(&mut self, f: For<'a>) -> Step<'a, Self> {
        let [lower, upper, step] = [f.lower, f.upper, f.step].map(|arg| self.read(arg).flatten());
        let bounds = lower.zip(upper).zip(step.filter(|step| step.low > 0));
        let rounds = bounds.map(|((lower, upper), step)| {
            let length = upper.high.saturating_sub(lower.low);
            let rounds = if length > 0 { (length - 1) / step.low + 1 } else { 0 };
            let last = match (lower.single(), step.single()) {
                (Some(lower), Some(step)) => lower.saturating_add((rounds - 1).max(0).saturating_mul(step)),
                _ => upper.high.saturating_sub(1).max(lower.low),
            };
            (rounds, Interval { low: lower.low, high: last })
        });
        let before = self.vals(f.inits);
        if rounds.is_some_and(|(rounds, _)| rounds == 0) {
            self.state.set_all(f.results, before);
            return Ok(());
        }
        self.state.set(f.variable, Val::Scalar(rounds.map(|(_, range)| range)));
        let after = self.round(&f, &before)?;
        if after == before {
            self.state.set_all(f.results, after);
            return Ok(());
        }
        let times = rounds.map(|(rounds, _)| rounds - 1);
        let moved: Vals<_> = before.iter().zip(&after).map(|(b, a)| self.stepped(b, a, times)).collect();
        let again = self.round(&f, &moved)?;
        let rounds = before.iter().zip(&after).zip(moved.iter().zip(&again));
        let is_even: Vec<bool> =
            rounds.map(|((b, a), (m, g))| b == a && m == g || self.distance(b, a) == self.distance(m, g)).collect();
        let kept = |all: Vals<_>| -> Vals<_> {
            all.into_iter().zip(&is_even).map(|(val, is_even)| if *is_even { val } else { Val::None }).collect()
        };
        let (kept, last) = (kept(moved.clone()), kept(again));
        if kept != moved {
            self.round(&f, &kept)?;
        }
        let mut left = before;
        for more in [kept, last] {
            left = left.into_iter().zip(more).map(|(a, b)| self.either(a, b)).collect();
        }
        self.state.set_all(f.results, left);
        Ok(())
    }

    fn repeat_while(&mut self, w: While<'a>) -> Step<'a, Self> {
        let before = self.vals(w.inits);
        self.state.set_all(w.carried, before.clone());
        for _ in 0..2 {
            self.block(w.before)?;
            let handed = self.vals(w.handed);
            self.state.set_all(w.taken, handed.clone());
            self.state.set_all(w.results, handed);
            self.block(w.after)?;
            let after = self.vals(w.yields);
            if after == before {
                break;
            }
            // How often it goes round is not known.
            let kept = before.iter().zip(after).map(|(b, a)| if *b == a { a } else { Val::None });
            self.state.set_all(w.carried, kept);
        }
        Ok(())
    }

    /// A round of a loop with these values carried: what it yields.
    fn round(&mut self, f: &For<'a>, carried: &Vals<Option<Interval>>) -> Result<Vals<Option<Interval>>, Spent> {
        self.state.set_all(f.carried, carried.iter().cloned());
        self.block(f.body)?;
        Ok(self.vals(f.yields))
    }

    /// How far a round moves a value.
    fn distance(&self, before: &Val<Option<Interval>>, after: &Val<Option<Interval>>) -> Option<Interval> {
        match (before, after) {
            (Val::Scalar(before), Val::Scalar(after)) => (*after)?.from((*before)?),
            (Val::View(before), Val::View(after)) => {
                let (before, mut after) = (&self.state.views[*before], self.state.views[*after].clone());
                let at = std::mem::replace(&mut after.place.at, before.place.at);
                if after == *before { at?.from(before.place.at?) } else { None }
            }
            _ => None,
        }
    }

    /// Where a value is in some of the rounds that follow.
    fn stepped(
        &mut self,
        before: &Val<Option<Interval>>,
        after: &Val<Option<Interval>>,
        times: Option<i64>,
    ) -> Val<Option<Interval>> {
        let step = self.distance(before, after).zip(times);
        match (before, step) {
            _ if before == after => *before,
            (Val::Scalar(Some(from)), Some((step, times))) => Val::Scalar(from.stepped(step, times)),
            (Val::View(view), Some((step, times))) => {
                let mut view = self.state.views[*view].clone();
                view.place.at = view.place.at.and_then(|from| from.stepped(step, times));
                self.state.add_view(view)
            }
            _ => Val::None,
        }
    }
}

/// One past the last bit of an element.
fn until(at: Option<Interval>, bits: u32) -> Option<u128> {
    Some(u128::try_from(at?.high).ok()? + u128::from(bits))
}
