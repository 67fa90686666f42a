//! Unrolling of `scf.for`: several iterations in each iteration of the new loop, and the remainder behind it.
//!
//! A copy of the body uses what is known of its induction variable (`i mod 2` in every second iteration): selects and
//! branches that it decides are removed, and so are values that become unused.

use super::facts::{Facts, Known};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tessera_ir::edges::{Control, FOR_BOUNDS, For};
use tessera_ir::scalar::Constants;
use tessera_ir::{
    Arg, ArithOp, Block, BlockId, CmpPred, Def, Func, Module, NameId, Op, OpId, OpKind, Operand, ScalarType, Sign,
    TextForm, Type, TypeId, Value, ValueId,
};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::ops::Role;

/// The values of the loop, as a copy of its body sees them.
type Map = FxHashMap<ValueId, Arg>;

/// Unrolls a loop by a factor. Returns false if the loop has no constant positive step. The operation keeps its
/// identity as long as a loop remains.
pub fn unroll(module: &mut Module, func: &mut Func, id: OpId, times: u64) -> bool {
    let Some((whole, times)) = Loop::of(module, func, id).zip(i64::try_from(times).ok().filter(|n| *n > 1)) else {
        return false;
    };
    let Some(place) = func.blocks.iter().position(|block| block.ops.contains(&id)) else { return false };
    // The definitions of the loop are removed, and their names are free.
    let mut names: FxHashSet<NameId> = func.values.iter().map(|value| value.name).collect();
    defined(func, id).iter().for_each(|v| _ = names.remove(&func.value(*v).name));
    let facts = Facts::new(module, func);
    let mut work = Unroll { module, func, facts, names, whole, made: FxHashSet::default() };
    let ops = match work.whole.count() {
        Some(count) => work.counted(id, times, count),
        None => work.uncounted(id, times),
    };
    let Some(ops) = ops else { return false };
    let list = &mut work.func.blocks[place].ops;
    if let Some(at) = list.iter().position(|op| *op == id) {
        list.splice(at..=at, ops);
    }
    work.clean();
    true
}

/// The values that an operation and its blocks define.
fn defined(func: &Func, id: OpId) -> Vec<ValueId> {
    let (mut all, mut left) = (Vec::new(), vec![id]);
    while let Some(id) = left.pop() {
        all.extend(&func.op(id).results);
        for block in &func.op(id).blocks {
            all.extend(&func.block(*block).args);
            left.extend(&func.block(*block).ops);
        }
    }
    all
}

/// A loop as it was.
struct Loop {
    lower: Arg,
    upper: Arg,
    step: Arg,
    body: BlockId,
    variable: ValueId,
    carried: Vec<ValueId>,
    inits: Vec<Arg>,
    results: Vec<ValueId>,
    /// Lower bound, upper bound and step, where they are constants.
    known: [Option<i64>; 3],
    by: i64,
    name: String,
    ty: TypeId,
    span: Span,
}

impl Loop {
    fn of(module: &Module, func: &Func, id: OpId) -> Option<Loop> {
        let op = func.op(id);
        let Ok(Control::For(For { lower, upper, step, body, variable, carried, inits, results, .. })) =
            Control::of(func, op)
        else {
            return None;
        };
        let constants = Constants::new(module, func);
        let known = [lower, upper, step].map(|arg| constants.get(arg));
        let (carried, results) = (carried.to_vec(), results.to_vec());
        let inits = inits.iter().map(|o| o.arg).collect();
        let by = known[2].filter(|by| *by > 0)?;
        let value = func.value(variable);
        let (name, ty) = (module.names.text(value.name).to_string(), value.ty);
        Some(Loop { lower, upper, step, body, variable, carried, inits, results, known, by, name, ty, span: op.span })
    }

    /// The trip count.
    fn count(&self) -> Option<i64> {
        let (lower, upper) = self.known[0].zip(self.known[1])?;
        let over = upper.checked_sub(lower)?.max(0);
        Some(over / self.by + i64::from(over % self.by > 0))
    }
}

struct Unroll<'a> {
    module: &'a mut Module,
    func: &'a mut Func,
    facts: Facts,
    names: FxHashSet<NameId>,
    whole: Loop,
    /// Operations that were made here.
    made: FxHashSet<OpId>,
}

impl Unroll<'_> {
    /// A loop with a known trip count: groups of several iterations, then the remainder.
    fn counted(&mut self, id: OpId, times: i64, count: i64) -> Option<Vec<OpId>> {
        let lower = self.whole.known[0]?;
        let by = self.whole.by;
        let at = |n: i64| n.checked_mul(by).and_then(|by| lower.checked_add(by));
        let turns = if count < 2 * times { 0 } else { count / times };
        let (mut out, mut args) = (Vec::new(), self.whole.inits.clone());
        if turns > 0 {
            let upper = self.number(at(turns * times)?, "end", &mut out);
            args = self.turns(id, times, upper, args, false, &mut out)?.1;
        }
        for n in turns * times..count {
            let counter = self.number(at(n)?, "", &mut out);
            args = self.copy(counter, &args, &mut out);
        }
        let map = self.whole.results.iter().copied().zip(args).collect();
        self.replace(&map);
        Some(out)
    }

    /// A loop that runs any number of times. It hands on where it stopped; what is left over is asked for one by one.
    fn uncounted(&mut self, id: OpId, times: i64) -> Option<Vec<OpId>> {
        let mut out = Vec::new();
        let less = (times - 1).checked_mul(self.whole.by)?;
        let less = self.number(less, "less", &mut out);
        let upper = self.arith(ArithOp::Subi, [self.whole.upper, less], "end", &mut out);
        let inits = self.whole.inits.clone();
        let (rest, args) = self.turns(id, times, upper, inits, true, &mut out)?;
        let results = self.rest(rest?, args, 1, times, &mut out);
        let map = self.whole.results.iter().copied().zip(results).collect();
        self.replace(&map);
        Some(out)
    }

    /// The loop of whole turns: where it stops, if that is asked for, and what it hands on.
    fn turns(
        &mut self,
        id: OpId,
        times: i64,
        upper: Arg,
        inits: Vec<Arg>,
        stops: bool,
        out: &mut Vec<OpId>,
    ) -> Option<(Option<Arg>, Vec<Arg>)> {
        let by = times.checked_mul(self.whole.by)?;
        let step = self.number(by, "step", out);
        let body = self.func.add_block();
        let counter = self.value_like(self.whole.variable, Def::BlockArg(body, 0));
        let stop = stops.then(|| self.value(self.whole.ty, "at", Def::BlockArg(body, 1)));
        let first = 1 + usize::from(stops);
        let carried = self.whole.carried.clone();
        let carried: Vec<ValueId> =
            carried.iter().zip(first..).map(|(v, n)| self.value_like(*v, Def::BlockArg(body, n as u32))).collect();
        self.func.block_mut(body).args = [counter].into_iter().chain(stop).chain(carried.iter().copied()).collect();
        let (mut ops, mut args) = (Vec::new(), carried.iter().map(|v| Arg::Value(*v)).collect::<Vec<_>>());
        let mut at = Arg::Value(counter);
        for n in 0..times {
            if let (Some(lower), Arg::Value(value)) = (self.whole.known[0], at) {
                let residue = lower.saturating_add(n.saturating_mul(self.whole.by));
                self.facts.set(value, Known::repeating(residue, by, lower >= 0));
            }
            args = self.copy(at, &args, &mut ops);
            if stops || n + 1 < times {
                at = self.next(at, if n + 1 < times { "" } else { "next" }, &mut ops);
            }
        }
        // A value that is handed on unchanged is the value that came in.
        let unchanged: Vec<bool> = carried.iter().zip(&args).map(|(v, arg)| Arg::Value(*v) == *arg).collect();
        let same = carried.iter().zip(&inits).zip(&unchanged).filter(|(_, same)| **same);
        let same: Map = same.map(|((v, init), _)| (*v, *init)).collect();
        let left = |all: &[Arg]| -> Vec<Arg> {
            all.iter().zip(&unchanged).filter(|(_, same)| !**same).map(|(arg, _)| *arg).collect()
        };
        let yields: Vec<Arg> = stops.then_some(at).into_iter().chain(left(&args)).collect();
        if !yields.is_empty() {
            let end = self.op(OpKind::Yield, &yields);
            ops.push(end);
        }
        self.func.block_mut(body).ops = ops;
        self.func.block_mut(body).args.retain(|v| !same.contains_key(v));
        for (n, v) in self.func.block(body).args.clone().into_iter().enumerate() {
            self.func.value_mut(v).def = Def::BlockArg(body, n as u32);
        }
        let results = self.whole.results.clone();
        let results: Vec<ValueId> = results
            .iter()
            .zip(&unchanged)
            .filter(|(_, same)| !**same)
            .map(|(v, _)| self.value_like(*v, Def::Result(id, 0)))
            .collect();
        let rest = stops.then(|| self.value(self.whole.ty, "rest", Def::Result(id, 0)));
        let all: SmallVec<[ValueId; 2]> = rest.into_iter().chain(results.iter().copied()).collect();
        for (n, v) in all.iter().enumerate() {
            self.func.value_mut(*v).def = Def::Result(id, n as u32);
        }
        let first = stops.then_some(self.whole.lower);
        let operands: Vec<Arg> = [self.whole.lower, upper, step].into_iter().chain(first).chain(left(&inits)).collect();
        let operands = self.operands(&OpKind::For, &operands);
        let op = self.func.op_mut(id);
        (op.operands, op.results, op.blocks) = (operands, all, SmallVec::from_slice(&[body]));
        out.push(id);
        self.replace(&same);
        let mut results = results.into_iter().map(Arg::Value);
        let handed =
            unchanged.iter().zip(inits).filter_map(|(same, init)| if *same { Some(init) } else { results.next() });
        Some((rest.map(Arg::Value), handed.collect()))
    }

    /// The remainder from one iteration on: that iteration if it exists, and then the next one.
    fn rest(&mut self, at: Arg, args: Vec<Arg>, n: i64, times: i64, out: &mut Vec<OpId>) -> Vec<Arg> {
        if n >= times {
            return args;
        }
        if let (Some(lower), Arg::Value(value)) = (self.whole.known[0], at) {
            let residue = lower.saturating_add((n - 1).saturating_mul(self.whole.by));
            let known = Known::repeating(residue, times.saturating_mul(self.whole.by), lower >= 0);
            self.facts.set(value, known);
        }
        let flag = self.module.types.intern(Type::Scalar(ScalarType::Int(1, Sign::None)));
        let more = self.op(OpKind::Cmp(CmpPred::Slt), &[at, self.whole.upper]);
        let more_value = self.value(flag, "more", Def::Result(more, 0));
        self.func.op_mut(more).results.push(more_value);
        out.push(more);
        let [yes, no] = [self.func.add_block(), self.func.add_block()];
        let mut ops = Vec::new();
        let mut done = self.copy(at, &args, &mut ops);
        if n + 1 < times {
            let next = self.next(at, "", &mut ops);
            done = self.rest(next, done, n + 1, times, &mut ops);
        }
        let branch = self.op(OpKind::If, &[Arg::Value(more_value)]);
        self.func.op_mut(branch).blocks.extend([yes, no]);
        out.push(branch);
        if args.is_empty() {
            self.func.block_mut(yes).ops = ops;
            return args;
        }
        for (block, mut ops, yields) in [(yes, ops, &done), (no, Vec::new(), &args)] {
            let end = self.op(OpKind::Yield, yields);
            ops.push(end);
            self.func.block_mut(block).ops = ops;
        }
        let results = self.whole.results.clone();
        let results = results.iter().zip(0..).map(|(v, n)| self.value_like(*v, Def::Result(branch, n)));
        let results: SmallVec<[ValueId; 2]> = results.collect();
        self.func.op_mut(branch).results.clone_from(&results);
        results.into_iter().map(Arg::Value).collect()
    }

    /// The counter of the next iteration.
    fn next(&mut self, at: Arg, name: &str, out: &mut Vec<OpId>) -> Arg {
        self.arith(ArithOp::Addi, [at, self.whole.step], name, out)
    }

    /// One iteration with this counter and these carried values; what it yields.
    fn copy(&mut self, counter: Arg, args: &[Arg], out: &mut Vec<OpId>) -> Vec<Arg> {
        let mut map: Map = [(self.whole.variable, counter)].into_iter().collect();
        map.extend(self.whole.carried.iter().copied().zip(args.iter().copied()));
        let end = self.copy_ops(self.whole.body, &mut map, out);
        end.map_or_else(Vec::new, |end| end.operands.iter().map(|o| o.arg).collect())
    }

    /// Copies the operations of a block; the one that ends it is given back.
    fn copy_ops(&mut self, from: BlockId, map: &mut Map, out: &mut Vec<OpId>) -> Option<Op> {
        for id in self.func.block(from).ops.clone() {
            let mut op = self.func.op(id).clone();
            for operand in &mut op.operands {
                if let Some(arg) = operand.arg.value().and_then(|v| map.get(&v)) {
                    operand.arg = *arg;
                }
            }
            if op.kind.is_end() {
                return Some(op);
            }
            if self.decided(&op, map, out) {
                continue;
            }
            let blocks = std::mem::take(&mut op.blocks);
            let results = std::mem::take(&mut op.results);
            let copied = self.func.add_op(op);
            self.made.insert(copied);
            for block in blocks {
                let to = self.func.add_block();
                let args = self.func.block(block).args.clone();
                let args: SmallVec<[ValueId; 2]> =
                    args.iter().zip(0..).map(|(v, n)| self.mapped(*v, Def::BlockArg(to, n), map)).collect();
                let mut ops = Vec::new();
                let end = self.copy_ops(block, map, &mut ops);
                ops.extend(end.map(|end| self.func.add_op(end)));
                *self.func.block_mut(to) = Block { args, ops };
                self.func.op_mut(copied).blocks.push(to);
            }
            let results = results.iter().zip(0..).map(|(v, n)| self.mapped(*v, Def::Result(copied, n), map));
            let results = results.collect();
            self.func.op_mut(copied).results = results;
            self.facts.of(self.module, self.func, copied);
            out.push(copied);
        }
        None
    }

    /// Whether the direction of a select or branch is known; the chosen side then replaces it.
    fn decided(&mut self, op: &Op, map: &mut Map, out: &mut Vec<OpId>) -> bool {
        if op.section().is_some() || !matches!(op.kind, OpKind::Select | OpKind::If) {
            return false;
        }
        let Some(holds) = op.operands.first().and_then(|o| self.facts.exact(o.arg)) else { return false };
        let args: Vec<Arg> = match (&op.kind, op.blocks.as_slice(), op.operands.as_slice()) {
            (OpKind::Select, [], [_, yes, no]) => vec![if holds != 0 { yes.arg } else { no.arg }],
            (OpKind::If, [yes, no], _) => {
                let end = self.copy_ops(if holds != 0 { *yes } else { *no }, map, out);
                end.map_or_else(Vec::new, |end| end.operands.iter().map(|o| o.arg).collect())
            }
            _ => return false,
        };
        map.extend(op.results.iter().copied().zip(args));
        true
    }

    fn mapped(&mut self, value: ValueId, def: Def, map: &mut Map) -> ValueId {
        let new = self.value_like(value, def);
        map.insert(value, Arg::Value(new));
        new
    }

    /// A value with the type of another one, and its name or one like it.
    fn value_like(&mut self, like: ValueId, def: Def) -> ValueId {
        let Value { name, ty, span, type_span, .. } = *self.func.value(like);
        let text = self.module.names.text(name).to_string();
        let name = self.fresh(&text);
        self.func.add_value(Value { name, ty, def, span, type_span })
    }

    /// A value that is named after the counter.
    fn value(&mut self, ty: TypeId, what: &str, def: Def) -> ValueId {
        let text = if what.is_empty() { self.whole.name.clone() } else { format!("{}_{what}", self.whole.name) };
        let (name, span) = (self.fresh(&text), self.whole.span);
        self.func.add_value(Value { name, ty, def, span, type_span: span })
    }

    /// A name that nothing has yet.
    fn fresh(&mut self, wanted: &str) -> NameId {
        let mut name = self.module.names.intern(wanted);
        let mut n = 0;
        while !self.names.insert(name) {
            n += 1;
            name = self.module.names.intern(&format!("{wanted}_{n}"));
        }
        name
    }

    fn operands(&self, kind: &OpKind, args: &[Arg]) -> SmallVec<[Operand; 3]> {
        let span = Span::new(self.whole.span.start, self.whole.span.start);
        let role = |n: usize| match kind {
            OpKind::Yield => Role::Scalar,
            OpKind::For if n >= FOR_BOUNDS => Role::Scalar,
            _ => Role::Number,
        };
        args.iter().enumerate().map(|(n, arg)| Operand { role: role(n), arg: *arg, span, type_span: span }).collect()
    }

    fn op(&mut self, kind: OpKind, args: &[Arg]) -> OpId {
        let span = Span::new(self.whole.span.start, self.whole.span.start);
        let operands = self.operands(&kind, args);
        let id = self.func.add_op(Op { operands, ..Op::new(kind, TextForm::Ssa, span) });
        self.made.insert(id);
        id
    }

    fn number(&mut self, n: i64, name: &str, out: &mut Vec<OpId>) -> Arg {
        let op = self.op(OpKind::Constant(Number::Int(n.into())), &[]);
        self.result(op, name, out)
    }

    fn arith(&mut self, kind: ArithOp, sides: [Arg; 2], name: &str, out: &mut Vec<OpId>) -> Arg {
        let op = self.op(OpKind::Arith(kind), &sides);
        self.result(op, name, out)
    }

    fn result(&mut self, op: OpId, name: &str, out: &mut Vec<OpId>) -> Arg {
        let value = self.value(self.whole.ty, name, Def::Result(op, 0));
        self.func.op_mut(op).results.push(value);
        self.facts.of(self.module, self.func, op);
        out.push(op);
        Arg::Value(value)
    }

    /// Other values in place of some, everywhere.
    fn replace(&mut self, map: &Map) {
        if map.is_empty() {
            return;
        }
        for operand in self.func.ops.iter_mut().flat_map(|op| &mut op.operands) {
            if let Some(arg) = operand.arg.value().and_then(|v| map.get(&v)) {
                operand.arg = *arg;
            }
        }
    }

    /// Takes out numbers that were made here and that nothing needs.
    fn clean(&mut self) {
        let mut uses: FxHashMap<ValueId, u32> = FxHashMap::default();
        let mut asked = Vec::new();
        self.func.walk(&mut |id, op, _| {
            op.values().for_each(|v| *uses.entry(v).or_default() += 1);
            asked.push(id);
        });
        let mut gone = FxHashSet::default();
        while let Some(id) = asked.pop() {
            let op = self.func.op(id);
            let is_number = matches!(op.kind, OpKind::Constant(_) | OpKind::Arith(_) | OpKind::Cmp(_) | OpKind::Select);
            let is_used = op.results.iter().any(|v| uses.get(v).is_some_and(|n| *n > 0));
            if !is_number || is_used || !self.made.contains(&id) || !gone.insert(id) {
                continue;
            }
            for value in op.values() {
                uses.entry(value).and_modify(|n| *n = n.saturating_sub(1));
                if let Def::Result(def, _) = self.func.value(value).def {
                    asked.push(def);
                }
            }
        }
        self.func.blocks.iter_mut().for_each(|block| block.ops.retain(|op| !gone.contains(op)));
    }
}
