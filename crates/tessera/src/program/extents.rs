//! How much memory the views of a kernel imply, without running it: what is computed of constants, bound scalars, block
//! numbers and induction variables is followed as ranges (isa/structure.md 3, 8).

use super::range::Range;
use super::{Kernel, Need};
use crate::Elem;
use std::collections::BTreeMap;
use tessera_interp::Input;
use tessera_ir::edges::{Control, Edge, For, When};
use tessera_ir::scalar::{compute, widths};
use tessera_ir::{Arg, BlockId, Op, OpId, OpKind, Type, ValueId, fifo};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::ops::{Opcode, Role, Text};
use tessera_isa::sem::Dir;

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
        let mut walk = Walk::new(self, blocks);
        for (value, input) in inputs {
            if let Input::Scalar(Number::Int(number)) = input {
                walk.known[value.index()] = i64::try_from(*number).ok().map(|v| Known::Int(Range::one(v)));
            }
        }
        walk.block(self.func().body);
        let arguments = self.func().args.iter().enumerate();
        arguments.map(|(n, value)| walk.extents(n, *value)).collect()
    }
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
enum Known {
    Int(Range),
    Place(Place),
}

/// A pointer or view into an argument's memory.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    argument: usize,
    elem: Elem,
    /// The first element, counted from the start of the memory.
    offset: Range,
    /// Extents and strides; none for a pointer.
    axes: Option<Vec<(Option<Range>, Option<Range>)>>,
}

impl Place {
    /// One past the last bit that its extents reach.
    fn end(&self) -> Option<u128> {
        let mut last = self.offset;
        for (extent, stride) in self.axes.as_ref()? {
            if extent.as_ref()?.high <= 0 {
                return Some(0);
            }
            let extent = Range { low: 0, high: extent.as_ref()?.high - 1 };
            last = last.plus(extent.times((*stride)?)?)?;
        }
        self.until(last)
    }

    fn until(&self, last: Range) -> Option<u128> {
        Some((u128::try_from(last.high).ok()? + 1) * u128::from(self.elem.bits()))
    }

    /// Its extents, where it is dense and begins at the start.
    fn shape(&self) -> Option<Vec<u64>> {
        let axes = self.axes.as_ref().filter(|_| self.offset == Range::one(0))?;
        let mut dense = 1;
        for (extent, stride) in axes.iter().rev() {
            let (extent, stride) = ((*extent)?.single()?, (*stride)?.single()?);
            if extent < 1 || extent > 1 && stride != dense {
                return None;
            }
            dense = dense.checked_mul(extent)?;
        }
        axes.iter().map(|(extent, _)| u64::try_from(extent.as_ref()?.low).ok()).collect()
    }
}

/// What an operation implies of an argument's memory.
#[derive(Clone, Debug)]
struct Use {
    argument: usize,
    end: Option<u128>,
    shape: Option<Vec<u64>>,
}

struct Walk<'a> {
    kernel: &'a Kernel,
    blocks: u32,
    known: Vec<Option<Known>>,
    /// The newest word of each operation: what a loop does later holds what it did first.
    uses: BTreeMap<OpId, Use>,
    /// By argument that is a view: how far its axes are reached, where its type leaves them open.
    open: Vec<Vec<Option<u64>>>,
    fuel: u32,
}

impl<'a> Walk<'a> {
    fn new(kernel: &'a Kernel, blocks: u32) -> Self {
        let func = kernel.func();
        let mut known = vec![None; func.values.len()];
        let mut open = vec![Vec::new(); func.args.len()];
        for (argument, value) in func.args.iter().enumerate() {
            let ty = kernel.module().types.get(func.value(*value).ty);
            let Some(elem) = ty.global_elem() else { continue };
            let (dims, strided): (Option<&[Option<u64>]>, _) = match ty {
                Type::View(view) => (Some(&view.dims), None),
                Type::Memref(memref) => (Some(&memref.dims), memref.strided.as_ref()),
                _ => (None, None),
            };
            let count = |n: u64| i64::try_from(n).ok().map(Range::one);
            let axes = dims.map(|dims| {
                let mut dense = Some(1);
                let mut axes: Vec<_> = dims.iter().map(|d| (d.and_then(count), None)).collect();
                for (n, (extent, stride)) in axes.iter_mut().enumerate().rev() {
                    let written = strided.and_then(|s| s.strides.get(n).copied().flatten());
                    *stride = written.or(dense).map(Range::one);
                    dense = dense.zip(extent.and_then(Range::single)).and_then(|(d, e): (i64, i64)| d.checked_mul(e));
                }
                axes
            });
            open[argument] = vec![Some(0); dims.map_or(0, <[_]>::len)];
            let offset = Range::one(strided.and_then(|s| s.offset).unwrap_or(0));
            known[value.index()] = Some(Known::Place(Place { argument, elem, offset, axes }));
        }
        Walk { kernel, blocks, known, uses: BTreeMap::new(), open, fuel: FUEL }
    }

    /// All that was found about an argument.
    fn extents(&self, argument: usize, value: ValueId) -> Extents {
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
        if self.fuel == 0 {
            return Extents::Unknown(None);
        }
        let own = match &self.known[value.index()] {
            Some(Known::Place(place)) if place.axes.is_some() => Some(place),
            _ => None,
        };
        let mut shapes: Vec<Vec<u64>> = own.and_then(Place::shape).into_iter().collect();
        let mut reached = own.map(|place| place.end().unwrap_or(0));
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

    fn int(&self, arg: Arg) -> Option<Range> {
        match self.get(arg) {
            Some(Known::Int(range)) => Some(range),
            _ => None,
        }
    }

    fn get(&self, arg: Arg) -> Option<Known> {
        match arg {
            Arg::Int(v) => Some(Known::Int(Range::one(v))),
            Arg::Value(v) => self.known.get(v.index()).cloned().flatten(),
        }
    }

    fn place(&self, op: &Op) -> Option<Place> {
        match self.get(op.operand(Role::Global)?.arg) {
            Some(Known::Place(place)) => Some(place),
            _ => None,
        }
    }

    fn set(&mut self, value: ValueId, known: Option<Known>) {
        self.known[value.index()] = known;
    }

    fn block(&mut self, block: BlockId) {
        let kernel = self.kernel;
        for id in &kernel.func().block(block).ops {
            self.fuel = self.fuel.saturating_sub(1);
            if self.fuel == 0 {
                return;
            }
            self.op(*id, kernel.func().op(*id));
        }
    }

    fn op(&mut self, id: OpId, op: &'a Op) {
        let (module, func) = (self.kernel.module(), self.kernel.func());
        let side = |n: usize| op.operands.get(n).and_then(|o| self.int(o.arg));
        let known = match &op.kind {
            OpKind::Constant(Number::Int(v)) => i64::try_from(*v).ok().map(Range::one),
            OpKind::Arith(kind) => side(0)
                .zip(side(kind.arity() - 1))
                .and_then(|(a, b)| Range::arith(*kind, widths(module, func, op).1, a, b)),
            OpKind::Cast(kind) if kind.floats() == (false, false) => {
                let (from, to) = widths(module, func, op);
                side(0).and_then(|range| range.cast(*kind, from, to))
            }
            OpKind::Cmp(_) => {
                let int = |arg: Arg| self.int(arg).and_then(Range::single);
                compute(module, func, op, int).and_then(Result::ok).map(Range::one)
            }
            OpKind::For | OpKind::If | OpKind::While | OpKind::Select => return self.control(op),
            OpKind::Pto(opcode, _) => return self.instruction(id, op, *opcode),
            _ => None,
        };
        for result in &op.results {
            self.set(*result, known.map(Known::Int));
        }
    }

    fn instruction(&mut self, id: OpId, op: &Op, opcode: Opcode) {
        let place = self.place(op);
        let numbers: Vec<Option<Range>> =
            op.operands.iter().filter(|o| o.role == Role::Number).map(|o| self.int(o.arg)).collect();
        let (first, second) = numbers.split_at(numbers.len() / 2);
        let made = match opcode.info().text {
            Text::MakeView => place.map(|p| {
                let axes = first.iter().copied().zip(second.iter().copied()).collect();
                let view = Place { axes: Some(axes), ..p };
                self.note(id, &view, view.end(), view.shape());
                Known::Place(view)
            }),
            Text::Partition => place.and_then(|p| self.partition(id, p, first, second)),
            Text::AddPtr => place.and_then(|p| {
                let offset = p.offset.plus((*numbers.first()?)?)?;
                let axes = p.axes.filter(|_| !self.is_pointer(op));
                Some(Known::Place(Place { offset, axes, ..p }))
            }),
            Text::Address(_) => place.and_then(|p| self.address(op, p)),
            Text::Dim => place.and_then(|p| {
                let axis = usize::try_from((*numbers.first()?)?.single()?).ok()?;
                let (extent, stride) = *p.axes?.get(axis)?;
                let is_stride = opcode == Opcode::GetTensorViewStride;
                if is_stride { stride } else { extent }.map(Known::Int)
            }),
            Text::Number => self.number(opcode).map(Known::Int),
            Text::LoadScalar | Text::StoreScalar => {
                if let Some(p) = place {
                    let last = numbers.first().copied().flatten().and_then(|n| p.offset.plus(n));
                    self.note(id, &p, last.and_then(|last| p.until(last)), None);
                }
                None
            }
            Text::Pipe(_) => {
                // The slots of both directions lie there (isa/structure.md 5, `fifo-gm`).
                if let Some(p) = place {
                    let directions = [Dir::C2v, Dir::V2c].into_iter().filter(|dir| fifo::has_dir(op, *dir)).count();
                    let bytes = u128::from(fifo::slot_size(op)) * u128::from(fifo::slots(op)) * directions as u128;
                    let before = u128::try_from(p.offset.high).ok().map(|n| n * u128::from(p.elem.bits()));
                    self.note(id, &p, before.map(|bits| bits + 8 * bytes), None);
                }
                None
            }
            _ => {
                // A view was counted where it was made; how far an instruction reaches from a pointer, only it knows.
                if let Some(p) = place.filter(|p| p.axes.is_none()) {
                    self.note(id, &p, None, None);
                }
                None
            }
        };
        for result in &op.results {
            self.set(*result, made.clone());
        }
    }

    fn number(&self, opcode: Opcode) -> Option<Range> {
        let blocks = i64::from(self.blocks.max(1));
        Some(match opcode {
            Opcode::GetBlockIdx => Range { low: 0, high: blocks - 1 },
            Opcode::GetBlockNum => Range::one(blocks),
            Opcode::GetSubblockIdx => Range { low: 0, high: 1 },
            Opcode::GetSubblockNum => Range { low: 1, high: 2 },
            _ => return None,
        })
    }

    fn note(&mut self, id: OpId, place: &Place, end: Option<u128>, shape: Option<Vec<u64>>) {
        self.uses.insert(id, Use { argument: place.argument, end, shape });
    }

    fn partition(&mut self, id: OpId, p: Place, offsets: &[Option<Range>], sizes: &[Option<Range>]) -> Option<Known> {
        let axes = p.axes.as_ref()?;
        let is_argument = matches!(self.kernel.func().op(id).operand(Role::Global)?.arg,
            Arg::Value(v) if self.kernel.func().args.contains(&v));
        let mut made = Place { axes: Some(Vec::new()), ..p.clone() };
        let mut offset = Some(p.offset);
        for (k, ((_, stride), (from, size))) in axes.iter().zip(offsets.iter().zip(sizes)).enumerate() {
            if let Some(open) = self.open.get_mut(p.argument).and_then(|o| o.get_mut(k)).filter(|_| is_argument) {
                let end = from.zip(*size).and_then(|(f, s)| f.plus(s)).and_then(|end| u64::try_from(end.high).ok());
                *open = open.zip(end).map(|(a, b)| a.max(b));
            }
            offset = offset.zip(from.zip(*stride)).and_then(|(o, (f, s))| o.plus(f.times(s)?));
            made.axes.iter_mut().for_each(|axes| axes.push((*size, *stride)));
        }
        made.offset = offset?;
        Some(Known::Place(made))
    }

    fn is_pointer(&self, op: &Op) -> bool {
        let (module, func) = (self.kernel.module(), self.kernel.func());
        op.results.first().is_some_and(|v| matches!(module.types.get(func.value(*v).ty), Type::Ptr(..)))
    }

    /// The pointer to a view's first element, or to elements of another type.
    fn address(&self, op: &Op, p: Place) -> Option<Known> {
        let result = op.results.first()?;
        let elem = self.kernel.module().types.get(self.kernel.func().value(*result).ty).global_elem()?;
        let scaled = |n: i64| n.checked_mul(i64::from(p.elem.bits())).map(|bits| bits / i64::from(elem.bits()));
        let offset = Range { low: scaled(p.offset.low)?, high: scaled(p.offset.high)? };
        Some(Known::Place(Place { elem, offset, axes: None, ..p }))
    }

    fn control(&mut self, op: &'a Op) {
        let Ok(control) = Control::of(self.kernel.func(), op) else { return };
        match control {
            Control::For(f) => self.rounds(&control, &f),
            Control::While(w) => {
                self.hand(&control, When::Enter);
                let before = self.all(w.carried);
                for _ in 0..2 {
                    self.block(w.before);
                    self.hand(&control, When::Proceed);
                    self.hand(&control, When::Leave);
                    self.block(w.after);
                    let after: Vec<_> = w.yields.iter().map(|o| self.get(o.arg)).collect();
                    if after == before {
                        return;
                    }
                    // How often it goes round is not known.
                    let kept: Vec<_> =
                        before.iter().zip(after).map(|(b, a)| b.clone().filter(|b| Some(b) == a.as_ref())).collect();
                    self.put(w.carried, kept);
                }
            }
            Control::If(i) => {
                let taken = self.int(i.condition).and_then(Range::single).map(|c| usize::from(c == 0));
                let mut joined: Option<Vec<Option<Known>>> = None;
                for (n, (block, yields)) in i.blocks.into_iter().zip(i.yields).enumerate() {
                    if taken.is_some_and(|taken| taken != n) {
                        continue;
                    }
                    self.block(block);
                    joined = Some(join(joined, yields.iter().map(|o| self.get(o.arg)).collect()));
                }
                self.put(i.results, joined.unwrap_or_default());
            }
            Control::Select(s) => {
                let taken = self.int(s.condition).and_then(Range::single).map(|c| usize::from(c == 0));
                let choices = s.choices.iter().enumerate().filter(|(n, _)| taken.is_none_or(|taken| taken == *n));
                let joined = choices.fold(None, |all, (_, choice)| Some(join(all, vec![self.get(choice.arg)])));
                self.put(s.results, joined.unwrap_or_default());
            }
        }
    }

    /// A counted loop: what it carries goes on as in its first round, or is not known.
    fn rounds(&mut self, control: &Control<'a>, f: &For<'a>) {
        let bounds = self.int(f.lower).zip(self.int(f.upper)).zip(self.int(f.step));
        let rounds = bounds.filter(|(_, step)| step.low > 0).map(|((lower, upper), step)| {
            let length = upper.high.saturating_sub(lower.low);
            let rounds = if length > 0 { (length - 1) / step.low + 1 } else { 0 };
            let last = match (lower.single(), step.single()) {
                (Some(lower), Some(step)) => lower.saturating_add((rounds - 1).max(0).saturating_mul(step)),
                _ => upper.high.saturating_sub(1).max(lower.low),
            };
            (rounds, Range { low: lower.low, high: last })
        });
        self.hand(control, When::Enter);
        if rounds.is_some_and(|(rounds, _)| rounds == 0) {
            return self.hand(control, When::Leave);
        }
        self.set(f.variable, rounds.map(|(_, range)| Known::Int(range)));
        let before = self.all(f.carried);
        self.block(f.body);
        let after: Vec<_> = f.yields.iter().map(|o| self.get(o.arg)).collect();
        if after == before {
            return self.hand(control, When::Leave);
        }
        let times = rounds.map(|(rounds, _)| rounds - 1);
        let moved: Vec<_> = before.iter().zip(&after).map(|(b, a)| moved(b, a, times)).collect();
        self.put(f.carried, moved.clone());
        self.block(f.body);
        let again: Vec<_> = f.yields.iter().map(|o| self.get(o.arg)).collect();
        let rounds = before.iter().zip(&after).zip(moved.iter().zip(&again));
        let kept: Vec<_> =
            rounds.map(|((b, a), (m, g))| (distance(b, a) == distance(m, g)).then(|| m.clone()).flatten()).collect();
        if kept != moved {
            self.put(f.carried, kept.clone());
            self.block(f.body);
        }
        let last = kept.iter().zip(&again).map(|(k, a)| k.as_ref().and(a.clone()));
        let left = join(Some(join(Some(before), kept.clone())), last.collect());
        self.put(f.results, left);
    }

    fn all(&self, values: &[ValueId]) -> Vec<Option<Known>> {
        values.iter().map(|v| self.get(Arg::Value(*v))).collect()
    }

    fn put(&mut self, values: &[ValueId], known: Vec<Option<Known>>) {
        for (value, known) in values.iter().zip(known) {
            self.set(*value, known);
        }
    }

    fn hand(&mut self, control: &Control<'a>, when: When) {
        let edges = control.edges();
        for edge in edges.iter().filter(|e: &&Edge<'_>| e.when == when) {
            let handed: Vec<_> = edge.args().map(|arg| self.get(arg)).collect();
            self.put(edge.to, handed);
        }
    }
}

/// Either of two.
fn join(all: Option<Vec<Option<Known>>>, more: Vec<Option<Known>>) -> Vec<Option<Known>> {
    let Some(all) = all else { return more };
    let either = |(a, b): (Option<Known>, Option<Known>)| match (a?, b?) {
        (Known::Int(a), Known::Int(b)) => Some(Known::Int(a.hull(b))),
        (Known::Place(a), Known::Place(b)) => {
            let offset = a.offset.hull(b.offset);
            (Place { offset, ..a.clone() } == Place { offset, ..b }).then_some(Known::Place(Place { offset, ..a }))
        }
        _ => None,
    };
    all.into_iter().zip(more).map(either).collect()
}

/// How far a round moves a value.
fn distance(before: &Option<Known>, after: &Option<Known>) -> Option<Range> {
    match (before.as_ref()?, after.as_ref()?) {
        (Known::Int(b), Known::Int(a)) => a.from(*b),
        (Known::Place(b), Known::Place(a)) => {
            let is_same = Place { offset: b.offset, ..a.clone() } == *b;
            is_same.then(|| a.offset.from(b.offset)).flatten()
        }
        _ => None,
    }
}

/// Where a value is in some of the rounds that follow.
fn moved(before: &Option<Known>, after: &Option<Known>, times: Option<i64>) -> Option<Known> {
    let step = distance(before, after)?;
    Some(match before.as_ref()? {
        Known::Int(range) => Known::Int(range.stepped(step, times?)?),
        Known::Place(place) => Known::Place(Place { offset: place.offset.stepped(step, times?)?, ..place.clone() }),
    })
}
