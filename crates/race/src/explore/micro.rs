//! Micro instructions on a path (micro/model.md 8): transfers as events of their pipes, a vecscope as one event of pipe V whose
//! own accesses are compared with each other.

use super::{Core, Explored, PathWalk};
use crate::Undecided;
use crate::linear_expr::LinearExpr;
use crate::trace::{Access, Kind, Place, Root};
use crate::vecscope::InScope;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_absint::{Analysis, Val};
use tessera_ir::edges::{Control, Edge, When};
use tessera_ir::{Arg, BlockId, Func, Module, Op, OpId, OpKind, Type, ValueId, scalar};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::ops::{Opcode, Pipe, Role, Text};
use tessera_isa::tile::Loc;
use tessera_micro::check::Known;
use tessera_micro::footprint::Whose;
use tessera_micro::order::{Log, Node, NodeKind, Touch};
use tessera_micro::{Class, Inst, Load, MicroType, Sem, Space, Store, footprint};

/// The greatest number of operations that loops inside a vecscope run.
const MAX_STEPS: usize = 100_000;
/// The number of rounds in which loops of unknown trip count are walked, so that accesses of neighbouring rounds are
/// compared.
const ROUNDS: i64 = 3;
/// Rows of one transfer that are looked at one by one.
const MAX_ROWS: usize = 1 << 14;

fn loc_of(space: Space) -> Option<Loc> {
    Some(match space {
        Space::Ub => Loc::Vec,
        Space::L1 => Loc::Mat,
        Space::L0a => Loc::Left,
        Space::L0b => Loc::Right,
        Space::L0c => Loc::Acc,
        Space::Bt => Loc::Bias,
        Space::Fb => Loc::Scaling,
        Space::ScalesA => Loc::ScaleLeft,
        Space::ScalesB => Loc::ScaleRight,
        Space::Gm | Space::AnySpace => return None,
    })
}

impl<'a> PathWalk<'a> {
    /// Whether a value is a pointer on the chip, which is a number here.
    pub(super) fn is_chip_pointer(&self, value: ValueId) -> bool {
        self.is_micro && self.state.ty(value).space().is_some_and(|space| space != Space::Gm)
    }

    /// A pointer on the chip that is made or moved, or a scalar behind one; tells whether it is one.
    pub(super) fn chip_pointer(&mut self, id: OpId, op: &Op, opcode: Opcode) -> bool {
        let (first, result) = (op.values().next(), op.results.first().copied());
        let is_chip = |this: &Self, value: Option<ValueId>| value.is_some_and(|v| this.is_chip_pointer(v));
        let size = |this: &Self, v: ValueId| this.state.ty(v).global_elem().map_or(1, |e| e.bytes_of(1) as i64);
        match opcode.info().text {
            Text::AddPtr if is_chip(self, result) => {
                let (Some(result), [from, by, ..]) = (result, op.operands.as_slice()) else { return true };
                let moved = self.read(from.arg).zip(self.read(by.arg));
                let moved = moved.map(|(at, n)| at.plus(&n.times(size(self, result))));
                let moved = moved.unwrap_or_else(|| self.fresh());
                self.state.set(result, Val::Scalar(moved));
                true
            }
            Text::Address(_) if is_chip(self, result) || is_chip(self, first) => {
                let Some(result) = result else { return true };
                let at = match op.operands.first().map(|o| self.val(o.arg)) {
                    Some(Val::Scalar(form)) => form,
                    Some(Val::Tile(n)) => {
                        let place = self.state.objects[n].place.clone();
                        match place.at.known().filter(|_| matches!(place.root, Root::Chip(..))) {
                            Some(bits) => LinearExpr::from(bits / 8),
                            None => self.fresh(),
                        }
                    }
                    _ => self.fresh(),
                };
                self.state.set(result, Val::Scalar(at));
                true
            }
            Text::LoadScalar | Text::StoreScalar => {
                let pointer = op.operand(Role::Global).and_then(|o| o.arg.value()).filter(|v| self.is_chip_pointer(*v));
                let Some(pointer) = pointer else { return false };
                self.set_unknown(op);
                let (Some(at), Some(index)) =
                    (self.read(Arg::Value(pointer)), op.operand(Role::Number).and_then(|o| self.read(o.arg)))
                else {
                    return true;
                };
                let bytes = size(self, pointer);
                let writes = op.results.is_empty();
                let access = self.on_chip(pointer, &at.plus(&index.times(bytes)), &[(0, bytes)], writes, true);
                self.event(id, Some(Pipe::S), Kind::Work, &access);
                true
            }
            _ => false,
        }
    }

    /// Bytes behind a pointer on the chip.
    fn on_chip(
        &mut self,
        pointer: ValueId,
        at: &LinearExpr,
        ranges: &[(i64, i64)],
        writes: bool,
        exact: bool,
    ) -> SmallVec<[Access; 2]> {
        let core = if let Core::Vector(n) = self.subject.core { n } else { 0 };
        let space = self.state.ty(pointer).space();
        let Some(loc) = space.and_then(loc_of) else { return SmallVec::new() };
        let core = if loc == Loc::Vec { core } else { 0 };
        let place = Place { root: Root::Chip(loc, core), at: at.times(8) };
        let set = self.sets.of(&place, &ranges.into());
        let start = place.at.byte();
        [Access { set, writes, adds: false, exact, if_valid: false, role: Role::Src, start }].into_iter().collect()
    }

    /// Bytes behind a pointer on the chip, in the memory that the instruction means.
    fn whose(
        &mut self,
        pointer: ValueId,
        at: &LinearExpr,
        whose: Whose,
        ranges: &[(i64, i64)],
        writes: bool,
    ) -> SmallVec<[Access; 2]> {
        let root = match (whose, self.state.ty(pointer).space()) {
            (Whose::Own, _) => return self.on_chip(pointer, at, ranges, writes, true),
            (Whose::Core(core), _) => Root::Chip(Loc::Vec, core),
            (Whose::Scales, Some(Space::L0b)) => Root::Chip(Loc::ScaleRight, 0),
            (Whose::Scales, _) => Root::Chip(Loc::ScaleLeft, 0),
        };
        let bits = match (whose, at.known()) {
            (Whose::Scales, Some(at)) => LinearExpr::from(at / 16 * 8),
            // The scales of an operand whose address is not known may be anywhere.
            (Whose::Scales, None) => self.fresh(),
            _ => at.times(8),
        };
        let place = Place { root, at: bits };
        let set = self.sets.of(&place, &ranges.into());
        let start = place.at.byte();
        [Access { set, writes, adds: false, exact: true, if_valid: false, role: Role::Src, start }]
            .into_iter()
            .collect()
    }

    /// A micro instruction outside of vecscopes: what it moves, on its pipe.
    pub(super) fn micro(&mut self, id: OpId, op: &'a Op) -> Explored {
        self.set_unknown(op);
        let Some(inst) = op.micro(self.subject.module, self.subject.func) else { return Ok(()) };
        let Some(pipe) = inst.call.pipe().filter(|_| footprint::is_outside(&inst)) else {
            return Ok(());
        };
        // Counted from the pointers, wherever they point.
        let known: Vec<Known> = op
            .operands
            .iter()
            .map(|operand| {
                let is_pointer = operand.arg.value().is_some_and(|v| matches!(self.state.ty(v), Type::Ptr(..)));
                match is_pointer {
                    true => Known::Int(0),
                    false => self.known_at(operand.arg).map_or(Known::No, Known::Int),
                }
            })
            .collect();
        let Some(runs) = footprint::outside(&inst, &known, MAX_ROWS) else {
            let what = format!("the numbers of {} are not known, so what it touches is not", inst.call.name);
            return Err(Undecided::at(op.span, what));
        };
        let mut accesses: SmallVec<[Access; 4]> = SmallVec::new();
        for (n, operand) in op.operands.iter().enumerate() {
            let Some(pointer) = operand.arg.value() else { continue };
            let mut kinds: SmallVec<[(Whose, bool); 4]> = SmallVec::new();
            for run in runs.iter().filter(|run| run.operand == n) {
                if !kinds.contains(&(run.whose, run.writes)) {
                    kinds.push((run.whose, run.writes));
                }
            }
            for (whose, writes) in kinds {
                let own = runs.iter().filter(|run| (run.operand, run.whose, run.writes) == (n, whose, writes));
                let ranges = joined(own.map(|run| (run.at, run.at + run.len as i64)).collect());
                match self.val(operand.arg) {
                    Val::View(view) => {
                        let place = self.state.views[view].place.clone();
                        let set = self.sets.of(&place, &ranges.as_slice().into());
                        let start = place.at.byte();
                        accesses.push(Access {
                            set,
                            writes,
                            adds: false,
                            exact: true,
                            if_valid: false,
                            role: Role::Global,
                            start,
                        });
                    }
                    Val::Scalar(at) => accesses.extend(self.whose(pointer, &at, whose, &ranges, writes)),
                    _ => {}
                }
            }
        }
        if !accesses.is_empty() {
            self.event(id, Some(pipe), Kind::Work, &accesses);
        }
        Ok(())
    }

    /// A vecscope: its accesses among themselves, and all of them as one event.
    pub(super) fn vecscope(&mut self, id: OpId, op: &'a Op) -> Explored {
        let (module, func) = (self.subject.module, self.subject.func);
        let mut scope = ScopeWalk {
            module,
            func,
            outer: &*self,
            env: FxHashMap::default(),
            log: Log::default(),
            reach: FxHashMap::default(),
            turns: SmallVec::new(),
            steps: 0,
            numbers: 0,
            known_values: FxHashMap::default(),
            unclear: None,
        };
        scope.op(id, op);
        let ScopeWalk { log, reach, unclear, .. } = scope;
        let races = log.races();
        let node = |n: usize| log.nodes.get(n);
        let found: Vec<InScope> = races
            .iter()
            .filter_map(|race| Some(InScope::new(node(race.nodes[0])?, node(race.nodes[1])?, race)))
            .collect();
        let mut unclear = unclear;
        if !reach.is_empty() && found.iter().all(InScope::is_warning) {
            let mut wide = log.clone();
            for (n, touches) in &reach {
                wide.nodes[*n as usize].touches.clone_from(touches);
            }
            let more = wide.races().into_iter().find(|race| !race.is_warning && !races.contains(race));
            if let Some(y) = more.and_then(|race| wide.nodes.get(race.nodes[1]).map(|node| OpId(node.op))) {
                let what = "whether accesses of the vecscope meet depends on masks or indices that are not known";
                unclear.get_or_insert((func.op(y).span, what.to_string()));
            }
        }
        if log.is_cut {
            unclear.get_or_insert((op.span, "the vecscope has too many accesses to compare".into()));
        }
        let mut accesses: SmallVec<[Access; 4]> = SmallVec::new();
        for writes in [false, true] {
            for (exact, all) in [(true, false), (false, true)] {
                let mut ranges = Vec::new();
                for (n, node) in log.nodes.iter().enumerate() {
                    let touches = match reach.get(&(n as u32)) {
                        Some(wide) if all => wide,
                        None if !all => &node.touches,
                        _ => continue,
                    };
                    ranges.extend(touches.iter().filter(|t| t.writes == writes).map(|t| (t.from, t.to)));
                }
                let ranges = joined(ranges);
                if !ranges.is_empty() {
                    let core = if let Core::Vector(n) = self.subject.core { n } else { 0 };
                    let place = Place { root: Root::Chip(Loc::Vec, core), at: 0.into() };
                    let set = self.sets.of(&place, &ranges.as_slice().into());
                    accesses.push(Access {
                        set,
                        writes,
                        adds: false,
                        exact,
                        if_valid: false,
                        role: Role::Src,
                        start: 0,
                    });
                }
            }
        }
        self.trace.scopes.extend(found);
        if !accesses.is_empty() {
            self.event(id, Some(Pipe::V), Kind::Work, &accesses);
        }
        match unclear {
            Some((span, why)) => {
                self.trace.unclear.get_or_insert((span, why));
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Ranges that are sorted and apart.
fn joined(mut ranges: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    ranges.sort_unstable();
    let mut out: Vec<(i64, i64)> = Vec::new();
    for (from, to) in ranges {
        match out.last_mut().filter(|last| last.1 >= from) {
            Some(last) => last.1 = last.1.max(to),
            None => out.push((from, to)),
        }
    }
    out
}

/// The known properties of a value inside a vecscope.
#[derive(Clone, Copy, Debug, Default)]
struct Fact {
    int: Option<i64>,
    /// Its node, one more.
    node: u32,
    /// Equal numbers are equal values, within one round.
    number: u64,
    /// A store stream: the address of its first waiting byte, and how many wait.
    stream: Option<(i64, i64)>,
    mask: Option<tessera_micro::Mask>,
}

/// The walk through one launch of a vecscope.
struct ScopeWalk<'w, 'a> {
    module: &'a Module,
    func: &'a Func,
    outer: &'w PathWalk<'a>,
    env: FxHashMap<ValueId, Fact>,
    log: Log,
    /// By node: what it may touch, where that is more than what it surely does.
    reach: FxHashMap<u32, SmallVec<[Touch; 1]>>,
    turns: SmallVec<[u64; 2]>,
    steps: usize,
    numbers: u64,
    /// Values by what makes them, in this round.
    known_values: FxHashMap<String, u64>,
    unclear: Option<(Span, String)>,
}

impl ScopeWalk<'_, '_> {
    fn fact(&mut self, arg: Arg) -> Fact {
        match arg {
            Arg::Int(v) => Fact { int: Some(v), number: hash(&format!("={v}")), ..Fact::default() },
            Arg::Value(value) => match self.env.get(&value) {
                Some(fact) => *fact,
                None => {
                    let int = self.outer.known_at(arg);
                    let number = hash(&int.map_or_else(|| format!("%{}", value.index()), |v| format!("={v}")));
                    Fact { int, number, ..Fact::default() }
                }
            },
        }
    }

    fn fresh(&mut self) -> u64 {
        self.numbers += 1;
        hash(&format!("#{}", self.numbers))
    }

    fn block(&mut self, block: BlockId) {
        let func = self.func;
        for id in &func.block(block).ops {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                let why = "the vecscope runs too long to be followed".to_string();
                self.unclear.get_or_insert((func.op(*id).span, why));
                return;
            }
            self.op(*id, func.op(*id));
        }
    }

    /// A node of a value that several nodes make.
    fn value_node(&mut self, nodes: &[u32]) -> u32 {
        let mut after: SmallVec<[u32; 4]> = nodes.iter().filter(|n| **n > 0).map(|n| n - 1).collect();
        after.sort_unstable();
        after.dedup();
        match after.as_slice() {
            [] => 0,
            [one] => one + 1,
            _ => {
                let (turns, touches) = (SmallVec::new(), SmallVec::new());
                self.log.push(Node { op: 0, turns, act: NodeKind::Value, after, touches }) + 1
            }
        }
    }

    fn op(&mut self, id: OpId, op: &Op) {
        let facts: SmallVec<[Fact; 8]> = op.operands.iter().map(|o| self.fact(o.arg)).collect();
        match &op.kind {
            OpKind::Micro(_) => self.micro(id, op, &facts),
            OpKind::Constant(Number::Int(v)) => self.define(op, Some(*v as i64), 0),
            OpKind::Pto(opcode, _) => self.pointer(id, op, *opcode, &facts),
            OpKind::For | OpKind::If | OpKind::While | OpKind::Select => self.control(op),
            OpKind::Yield | OpKind::Condition | OpKind::Return => {}
            _ => {
                let ints = |arg: Arg| op.operands.iter().position(|o| o.arg == arg).and_then(|n| facts.get(n)?.int);
                let value = scalar::compute(self.module, self.func, op, ints).and_then(Result::ok);
                let nodes: SmallVec<[u32; 4]> = facts.iter().map(|fact| fact.node).collect();
                let node = self.value_node(&nodes);
                self.define(op, value, node);
            }
        }
    }

    fn define(&mut self, op: &Op, int: Option<i64>, node: u32) {
        for result in &op.results {
            let number = match int {
                Some(v) => hash(&format!("={v}")),
                None => self.fresh(),
            };
            self.env.insert(*result, Fact { int, node, number, ..Fact::default() });
        }
    }

    /// Pointers and scalars on the chip.
    fn pointer(&mut self, id: OpId, op: &Op, opcode: Opcode, facts: &[Fact]) {
        let nodes: SmallVec<[u32; 4]> = facts.iter().map(|fact| fact.node).collect();
        let int = |n: usize| facts.get(n).and_then(|fact| fact.int);
        let size = |value: Option<ValueId>| {
            let elem = value.and_then(|v| self.module.types.get(self.func.value(v).ty).global_elem());
            elem.map_or(1, |e| e.bytes_of(1) as i64)
        };
        match opcode.info().text {
            Text::AddPtr => {
                let unit = size(op.results.first().copied());
                let moved = int(0).zip(int(1)).map(|(at, n)| at.wrapping_add(n.wrapping_mul(unit)));
                let node = self.value_node(&nodes);
                self.define(op, moved, node);
            }
            Text::Address(_) => {
                let node = self.value_node(&nodes);
                self.define(op, int(0), node);
            }
            Text::LoadScalar | Text::StoreScalar => {
                let pointer = op.operand(Role::Global).and_then(|o| o.arg.value());
                let unit = size(pointer);
                let at = pointer.map(|p| self.fact(Arg::Value(p))).and_then(|fact| fact.int);
                let index = op.operand(Role::Number).map(|o| o.arg).and_then(|arg| self.fact(arg).int);
                let writes = op.results.is_empty();
                let from = at.zip(index).map(|(at, n)| at + n * unit);
                let value = op.operand(Role::Scalar).map(|o| o.arg).map(|arg| self.fact(arg).number);
                let data = value.map(|number| (0..unit).map(|k| mixed(number, k)).collect());
                let touches: SmallVec<[Touch; 1]> =
                    from.map(|from| Touch { from, to: from + unit, writes, data }).into_iter().collect();
                let class = if writes { Class::St } else { Class::Ld };
                let node = self.access(id, op, class, &nodes, touches, from.is_none().then_some((0, 1 << 18, writes)));
                self.define(op, None, node);
            }
            _ => self.define(op, None, 0),
        }
    }

    /// A node that touches memory; `anywhere` is what it may touch where that is not known.
    fn access(
        &mut self,
        id: OpId,
        _op: &Op,
        class: Class,
        nodes: &[u32],
        touches: SmallVec<[Touch; 1]>,
        anywhere: Option<(i64, i64, bool)>,
    ) -> u32 {
        let after = nodes.iter().filter(|n| **n > 0).map(|n| n - 1).collect();
        let turns = self.turns.clone();
        let node = self.log.push(Node { op: id.0, turns, act: NodeKind::Access(class), after, touches });
        if let Some((from, to, writes)) = anywhere {
            self.reach.insert(node, [Touch { from, to, writes, data: None }].into_iter().collect());
        }
        node + 1
    }

    fn micro(&mut self, id: OpId, op: &Op, facts: &[Fact]) {
        let Some(inst) = op.micro(self.module, self.func) else { return };
        let nodes: SmallVec<[u32; 8]> = facts.iter().map(|fact| fact.node).collect();
        let known: Vec<Known> = facts
            .iter()
            .map(|fact| match (fact.mask, fact.int) {
                (Some(mask), _) => Known::Mask(mask),
                (None, Some(v)) => Known::Int(v),
                _ => Known::No,
            })
            .collect();
        let call = inst.call;
        let (node, number) = match call.row.class {
            class @ (Class::Vld | Class::Vst) => {
                let (touches, reach) = self.touches(&inst, &known, facts);
                let node = self.access(id, op, class, &nodes, touches, None);
                if let Some(reach) = reach {
                    self.reach.insert(node - 1, reach);
                }
                (node, self.fresh())
            }
            _ if call.row.sem == Sem::Bar => {
                let act = NodeKind::Bar(call.word(0).unwrap_or_default().to_string());
                let (turns, touches) = (self.turns.clone(), SmallVec::new());
                self.log.push(Node { op: id.0, turns, act, after: SmallVec::new(), touches });
                return;
            }
            _ => {
                // The same instruction on the same operands makes the same values.
                let operands: Vec<u64> = facts.iter().map(|fact| fact.number).collect();
                let results: Vec<String> = inst.results.iter().map(|ty| ty.to_string()).collect();
                let key = format!("{} {:?} {:?} {operands:?} {results:?}", call.name, call.items, call.attrs);
                let next = self.numbers + 1;
                let number = *self.known_values.entry(key).or_insert(next);
                self.numbers = self.numbers.max(number);
                (self.value_node(&nodes), hash(&format!("#{number}")))
            }
        };
        let streams = self.streams(&inst, facts);
        for (n, result) in op.results.iter().enumerate() {
            let ty = self.module.types.get(self.func.value(*result).ty);
            let mut fact = Fact { node, number: mixed(number, n as i64).into(), ..Fact::default() };
            match ty {
                Type::Micro(MicroType::Mask(_)) => fact.mask = mask_of(&inst, facts),
                Type::Micro(MicroType::Align) => fact.stream = streams,
                Type::Ptr(..) => fact.int = moved(&inst, facts),
                Type::Scalar(_) => fact.int = rest_of(&inst, facts),
                _ => {}
            }
            self.env.insert(*result, fact);
        }
    }

    /// The bytes that are certainly accessed, and those that may be, if these are more.
    fn touches(
        &mut self,
        inst: &Inst<'_>,
        known: &[Known],
        facts: &[Fact],
    ) -> (SmallVec<[Touch; 1]>, Option<SmallVec<[Touch; 1]>>) {
        let writes = inst.call.row.class == Class::Vst;
        let ub = Space::Ub.size().unwrap_or(0) as i64;
        let anywhere = || Some([Touch { from: 0, to: ub, writes, data: None }].into_iter().collect());
        let append = |n: i64, at: i64, waiting: Option<(i64, i64)>| {
            let (first, len) = waiting.filter(|w| w.1 > 0).unwrap_or((at, 0));
            let whole = (first + len + n).div_euclid(32) * 32;
            (whole > first).then_some(Touch { from: first, to: whole, writes: true, data: None })
        };
        let named = |name: &str| inst.call.operand(name).and_then(|n| facts.get(n)?.int);
        let size = inst.args.iter().find_map(|ty| ty.pointer()).map_or(1, |(_, size)| size as i64);
        let waiting = inst.call.operand("al").and_then(|n| facts.get(n)?.stream);
        match inst.call.row.sem {
            Sem::Store(Store::Append) => match (named("base"), named("n"), waiting) {
                (Some(at), Some(n), Some(_)) => (append(n * size, at, waiting).into_iter().collect(), None),
                _ => (SmallVec::new(), anywhere()),
            },
            Sem::Store(Store::AppendPredicate) => {
                let lanes = inst.args.get(1).and_then(|ty| ty.granularity()).map_or(8, |g| 256 / i64::from(g));
                match (named("base"), waiting) {
                    (Some(at), Some(_)) => (append(lanes, at, waiting).into_iter().collect(), None),
                    _ => (SmallVec::new(), anywhere()),
                }
            }
            Sem::Store(Store::Flush) => match waiting {
                Some((at, len)) => {
                    let touch = Touch { from: at, to: at + len, writes: true, data: None };
                    ([touch].into_iter().filter(|t| t.from < t.to).collect(), None)
                }
                None => (SmallVec::new(), anywhere()),
            },
            Sem::Load(Load::Gather | Load::GatherBlocks)
            | Sem::Store(Store::Scatter | Store::AppendSqueezed | Store::FlushSqueezed) => {
                (SmallVec::new(), anywhere())
            }
            Sem::Store(Store::Empty) => (SmallVec::new(), None),
            _ => {
                let stored = facts.first().map(|fact| fact.number).filter(|_| writes);
                let dist = format!("{:?}", inst.call.attrs);
                let at = footprint::address(inst, known);
                let runs = |runs: SmallVec<[footprint::Run; 8]>| -> SmallVec<[Touch; 1]> {
                    let touch = |run: &footprint::Run| {
                        let (from, to) = (run.at, run.at + run.len as i64);
                        let start = at.unwrap_or(from);
                        let number = stored.map(|number| hash(&format!("{number} {dist}")));
                        let data = number.map(|number| (from..to).map(|k| mixed(number, k - start)).collect());
                        Touch { from, to, writes: run.writes, data }
                    };
                    runs.iter().filter(|run| run.len > 0).map(touch).collect()
                };
                match (footprint::sure(inst, known), footprint::reach(inst, known)) {
                    (Some(sure), _) => (runs(sure), None),
                    (None, Some(reach)) => (SmallVec::new(), Some(runs(reach))),
                    (None, None) => (SmallVec::new(), anywhere()),
                }
            }
        }
    }

    /// The store stream that an instruction makes.
    fn streams(&mut self, inst: &Inst<'_>, facts: &[Fact]) -> Option<(i64, i64)> {
        let named = |name: &str| inst.call.operand(name).and_then(|n| facts.get(n)?.int);
        let size = inst.args.iter().find_map(|ty| ty.pointer()).map_or(1, |(_, size)| size as i64);
        let n = match inst.call.row.sem {
            Sem::Store(Store::Empty) => return Some((0, 0)),
            Sem::Store(Store::Append) => named("n")? * size,
            Sem::Store(Store::AppendPredicate) => {
                inst.args.get(1).and_then(|ty| ty.granularity()).map_or(8, |g| 256 / i64::from(g))
            }
            _ => return None,
        };
        let waiting = inst.call.operand("al").and_then(|n| facts.get(n)?.stream)?;
        let (first, len) = if waiting.1 > 0 { waiting } else { (named("base")?, 0) };
        let end = first + len + n;
        let whole = end.div_euclid(32) * 32;
        Some(if whole > first { (whole, end - whole) } else { (first, len + n) })
    }

    fn hand(&mut self, edge: Edge<'_>) {
        let facts: Vec<(ValueId, Fact)> = edge.pairs().map(|(to, from)| (to, self.fact(from))).collect();
        for (to, fact) in facts {
            self.env.insert(to, fact);
        }
    }

    fn control(&mut self, op: &Op) {
        let Ok(control) = Control::of(self.func, op) else { return };
        let edges = control.edges();
        let at = |when: When| edges.iter().copied().find(|edge| edge.when == when);
        match control {
            Control::For(f) => {
                let [lower, upper, step] = [f.lower, f.upper, f.step].map(|arg| self.fact(arg).int);
                let step = step.unwrap_or(1).max(1);
                let is_known = lower.is_some() && upper.is_some();
                let rounds = match (lower, upper) {
                    (Some(lower), Some(upper)) => {
                        (upper.saturating_sub(lower).max(0) as u64).div_ceil(step as u64) as i64
                    }
                    _ => ROUNDS,
                };
                if let Some(edge) = at(When::Enter) {
                    self.hand(edge);
                }
                let variable = lower.or(if is_known { None } else { Some(0) });
                for n in 0..rounds {
                    if self.steps > MAX_STEPS {
                        break;
                    }
                    // A round is on its own for equal values.
                    self.known_values.clear();
                    let int = variable.map(|first| first + n * step);
                    let number = int.map_or(0, |v| hash(&format!("={v}")));
                    self.env.insert(f.variable, Fact { int, number, ..Fact::default() });
                    self.turns.push(n as u64);
                    self.block(f.body);
                    self.turns.pop();
                    if let Some(edge) = at(When::Again) {
                        self.hand(edge);
                    }
                }
                self.known_values.clear();
                if let Some(edge) = at(When::Leave) {
                    self.hand(edge);
                }
            }
            Control::While(w) => {
                if let Some(edge) = at(When::Enter) {
                    self.hand(edge);
                }
                for n in 0.. {
                    self.known_values.clear();
                    self.turns.push(n);
                    self.block(w.before);
                    let goes_on = self.fact(w.condition).int.map_or(n < ROUNDS as u64, |v| v != 0);
                    if goes_on && self.steps <= MAX_STEPS {
                        if let Some(edge) = at(When::Proceed) {
                            self.hand(edge);
                        }
                        self.block(w.after);
                        if let Some(edge) = at(When::Again) {
                            self.hand(edge);
                        }
                    }
                    self.turns.pop();
                    if !goes_on || self.steps > MAX_STEPS {
                        break;
                    }
                }
                if let Some(edge) = at(When::Leave) {
                    self.hand(edge);
                }
            }
            Control::If(_) | Control::Select(_) => {
                let condition = op.operands.first().map(|o| o.arg).and_then(|arg| self.fact(arg).int);
                // If the condition is unknown, both arms are walked, one after the other.
                for (n, edge) in edges.iter().enumerate() {
                    if condition.is_some_and(|v| (v == 0) != (n == 1)) {
                        continue;
                    }
                    self.known_values.clear();
                    if let Some(block) = op.blocks.get(n) {
                        self.block(*block);
                    }
                    self.hand(*edge);
                }
                if condition.is_none() && !op.blocks.is_empty() {
                    let why = "which arm of a branch runs is not known".to_string();
                    self.unclear.get_or_insert((op.span, why));
                }
                self.known_values.clear();
            }
        }
    }
}

/// The moved pointer of an access, or of an appended predicate.
fn moved(inst: &Inst<'_>, facts: &[Fact]) -> Option<i64> {
    let at = inst.args.iter().position(|ty| ty.pointer().is_some())?;
    let base = facts.get(at)?.int?;
    let size = inst.args.get(at)?.pointer()?.1 as i64;
    let named = |name: &str| inst.call.operand(name).and_then(|n| facts.get(n)?.int);
    Some(match inst.call.row.sem {
        Sem::Store(Store::AppendPredicate) => {
            base + inst.args.get(1).and_then(|ty| ty.granularity()).map_or(8, |g| 256 / i64::from(g))
        }
        Sem::Load(Load::Blocks) | Sem::Store(Store::Blocks) => base + 32 * named("rs")?,
        Sem::Load(Load::Predicate) | Sem::Store(Store::Predicate) if inst.call.name.ends_with('i') => {
            base + 32 * named("i")?
        }
        Sem::Store(Store::Append | Store::Flush) => base + size * named("n")?,
        Sem::Load(Load::Unaligned) => base + size * named("n")?,
        _ => base + size * named("i")?,
    })
}

/// The mask that an instruction makes, where that is known.
fn mask_of(inst: &Inst<'_>, facts: &[Fact]) -> Option<tessera_micro::Mask> {
    tessera_micro::run::pattern(inst.call).or_else(|| tessera_micro::run::below(inst.call, facts.first()?.int?))
}

/// The rest that `plt` leaves of a known count.
fn rest_of(inst: &Inst<'_>, facts: &[Fact]) -> Option<i64> {
    tessera_micro::run::rest(inst.call, facts.first()?.int?)
}

fn hash(text: &str) -> u64 {
    let fold = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, fold)
}

/// The number of a part of a value.
fn mixed(number: u64, part: i64) -> u32 {
    let all = hash(&format!("{number}.{part}"));
    (all ^ all >> 32) as u32 | 1 << 31
}
