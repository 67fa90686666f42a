//! The order operations of edges, in the program (sync.md 7.3 and 7.4).

use super::Place;
use super::edges::{Edge, ids};
use rustc_hash::FxHashMap;
use tessera_ir::edges::Control;
use tessera_ir::scalar::Constants;
use tessera_ir::{
    Arg, ArithOp, BlockId, Core, Def, Func, Module, Op, OpId, OpKind, Operand, ScalarType, TextForm, Type, Value,
    ValueId,
};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::ops::{Form, Opcode, Pipe, Role};
use tessera_plan::Points;

/// The operations to insert at an operation.
#[derive(Default)]
struct Here {
    before: Vec<OpId>,
    /// Sets before a loop come last.
    primes: Vec<OpId>,
    /// Waits after a loop come first.
    drains: Vec<OpId>,
    after: Vec<OpId>,
}

/// A function on its way to one with flags.
pub struct Emit<'a> {
    module: &'a mut Module,
    func: Func,
    points: &'a Points,
    constants: Constants,
    here: FxHashMap<OpId, Here>,
    /// At the start of loop bodies: the number of the iteration.
    heads: FxHashMap<OpId, Vec<OpId>>,
    counters: FxHashMap<OpId, Arg>,
    /// By loop: numbers that its body begins with, and ids by the first, what is added, and how many there are.
    numbers: FxHashMap<(OpId, i64), Arg>,
    remainders: FxHashMap<(OpId, u64, u64, u64), Arg>,
    names: u32,
    /// By operation of the program: the kind of core that runs it; by inserted one: the kind that it is for.
    cores: Vec<Option<Core>>,
    for_core: FxHashMap<OpId, Core>,
    /// The operations of each edge, and where they stand.
    made: Vec<Vec<(OpId, Place)>>,
}

impl<'a> Emit<'a> {
    pub fn new(module: &'a mut Module, func: &Func, points: &'a Points, edges: usize) -> Self {
        let constants = Constants::new(module, func);
        Emit {
            module,
            func: func.clone(),
            points,
            constants,
            here: FxHashMap::default(),
            heads: FxHashMap::default(),
            counters: FxHashMap::default(),
            numbers: FxHashMap::default(),
            remainders: FxHashMap::default(),
            names: 0,
            cores: func.cores(),
            for_core: FxHashMap::default(),
            made: vec![Vec::new(); edges],
        }
    }

    /// A new operation, in no block yet, beside another one.
    fn op(&mut self, kind: OpKind, beside: OpId) -> OpId {
        let at = self.func.op(beside).span.start;
        self.func.add_op(Op::new(kind, TextForm::Dps, Span::new(at, at)))
    }

    /// A new integer that an operation makes.
    fn result(&mut self, op: OpId, name: &str) -> ValueId {
        let ty = self.module.types.intern(Type::Scalar(ScalarType::Index));
        let mut text = name.to_string();
        while self.module.names.find(&text).is_some_and(|n| self.func.values.iter().any(|v| v.name == n)) {
            self.names += 1;
            text = format!("{name}_{}", self.names);
        }
        let name = self.module.names.intern(&text);
        let span = self.func.op(op).span;
        let value = self.func.add_value(Value { name, ty, def: Def::Result(op, 0), span, type_span: span });
        self.func.op_mut(op).results.push(value);
        value
    }

    fn operand(&mut self, op: OpId, role: Role, arg: Arg) {
        let span = self.func.op(op).span;
        self.func.op_mut(op).operands.push(Operand { role, arg, span, type_span: span });
    }

    fn constant(&mut self, n: i64, beside: OpId, out: &mut Vec<OpId>) -> Arg {
        let op = self.op(OpKind::Constant(Number::Int(n.into())), beside);
        out.push(op);
        Arg::Value(self.result(op, &format!("sync_c{n}")))
    }

    fn arith(&mut self, kind: ArithOp, sides: [Arg; 2], beside: OpId, out: &mut Vec<OpId>) -> Arg {
        let op = self.op(OpKind::Arith(kind), beside);
        sides.into_iter().for_each(|arg| self.operand(op, Role::Scalar, arg));
        out.push(op);
        Arg::Value(self.result(op, "sync_i"))
    }

    /// A set or a wait.
    fn flag(&mut self, is_set: bool, (from, to): (Pipe, Pipe), id: Result<u64, Arg>, beside: OpId) -> OpId {
        let opcode = match (is_set, &id) {
            (true, Ok(_)) => Opcode::SetFlag,
            (false, Ok(_)) => Opcode::WaitFlag,
            (true, Err(_)) => Opcode::SetFlagDyn,
            (false, Err(_)) => Opcode::WaitFlagDyn,
        };
        let op = self.op(OpKind::Pto(opcode, Form::Plain), beside);
        let mut words = vec![from.cpp().to_string(), to.cpp().to_string()];
        match id {
            Ok(id) => words.push(format!("EVENT_ID{id}")),
            Err(arg) => self.operand(op, Role::Scalar, arg),
        }
        self.func.op_mut(op).attrs_mut().words = words;
        op
    }

    /// `first + (iteration + plus) mod m`, made at the start of the body.
    fn id(&mut self, id: OpId, first: u64, plus: u64, m: u64) -> Result<u64, Arg> {
        if m == 1 {
            return Ok(first);
        }
        let key = (id, first, plus % m, m);
        if let Some(known) = self.remainders.get(&key) {
            return Err(*known);
        }
        let mut value = self.counter(id);
        match key {
            (_, 0, 0, _) => value = self.head(ArithOp::Remui, value, m, id),
            (_, 0, plus, _) => {
                value = self.head(ArithOp::Addi, value, plus, id);
                value = self.head(ArithOp::Remui, value, m, id);
            }
            // The same remainder may be there already, for other flags.
            (_, first, plus, _) => {
                if let Err(remainder) = self.id(id, 0, plus, m) {
                    value = self.head(ArithOp::Addi, remainder, first, id);
                }
            }
        }
        self.remainders.insert(key, value);
        Err(value)
    }

    /// A number that a loop's body begins with, made of another one and a constant.
    fn head(&mut self, kind: ArithOp, value: Arg, n: u64, id: OpId) -> Arg {
        let mut out = Vec::new();
        let by = match self.numbers.get(&(id, n as i64)) {
            Some(known) => *known,
            None => self.constant(n as i64, id, &mut out),
        };
        self.numbers.insert((id, n as i64), by);
        let value = self.arith(kind, [value, by], id, &mut out);
        self.heads.entry(id).or_default().extend(out);
        value
    }

    /// The number of the iteration, from 0.
    fn counter(&mut self, id: OpId) -> Arg {
        if let Some(known) = self.counters.get(&id) {
            return *known;
        }
        let func = self.func.clone();
        let Ok(Control::For(f)) = Control::of(&func, func.op(id)) else { return Arg::Int(0) };
        let mut out = Vec::new();
        let mut value = Arg::Value(f.variable);
        if self.constants.get(f.lower) != Some(0) {
            value = self.arith(ArithOp::Subi, [value, f.lower], id, &mut out);
        }
        if self.constants.get(f.step) != Some(1) {
            value = self.arith(ArithOp::Divsi, [value, f.step], id, &mut out);
        }
        self.heads.entry(id).or_default().extend(out);
        self.counters.insert(id, value);
        value
    }

    /// The id of the wait for iteration `N + j`, after a loop that ran N times.
    fn last_id(
        &mut self,
        id: OpId,
        first: u64,
        j: u64,
        (m, distance): (u64, u64),
        out: &mut Vec<OpId>,
    ) -> Result<u64, Arg> {
        // All of them are waited for, in whatever order.
        if m == distance {
            return Ok(first + j);
        }
        let func = self.func.clone();
        let Ok(Control::For(f)) = Control::of(&func, func.op(id)) else { return Ok(first + j) };
        let [lower, upper, step] = [f.lower, f.upper, f.step].map(|arg| self.constants.get(arg));
        if let (Some(lower), Some(upper), Some(step)) = (lower, upper, step) {
            let count = if step > 0 && upper > lower { (upper - lower + step - 1) / step } else { 0 };
            return Ok(first + (count as u64 + j) % m);
        }
        let mut value = f.upper;
        if lower != Some(0) {
            value = self.arith(ArithOp::Subi, [value, f.lower], id, out);
        }
        if step != Some(1) {
            value = self.arith(ArithOp::Ceildivsi, [value, f.step], id, out);
        }
        let zero = self.constant(0, id, out);
        value = self.arith(ArithOp::Maxsi, [value, zero], id, out);
        if j > 0 {
            let by = self.constant(j as i64, id, out);
            value = self.arith(ArithOp::Addi, [value, by], id, out);
        }
        let modulus = self.constant(m as i64, id, out);
        value = self.arith(ArithOp::Remui, [value, modulus], id, out);
        if first > 0 {
            let base = self.constant(first as i64, id, out);
            value = self.arith(ArithOp::Addi, [value, base], id, out);
        }
        Err(value)
    }

    /// Adds the operations of an edge whose first id is given.
    pub fn edge(&mut self, n: usize, edge: &Edge, first: u64) {
        self.operations(n, edge, first);
        if let Some(core) = edge.core() {
            self.for_core.extend(self.made[n].iter().map(|(op, _)| (*op, core)));
        }
    }

    /// Adds full barriers before and after a call.
    pub fn call(&mut self, call: OpId) -> [(OpId, Place); 2] {
        [Place::Before(call), Place::After(call)].map(|place| {
            let op = self.op(OpKind::Pto(Opcode::Barrier, Form::Plain), call);
            self.func.op_mut(op).attrs_mut().words = vec!["PIPE_ALL".to_string()];
            let here = self.here.entry(call).or_default();
            if place == Place::Before(call) {
                here.before.push(op)
            } else {
                here.after.insert(0, op)
            }
            (op, place)
        })
    }

    fn operations(&mut self, n: usize, edge: &Edge, first: u64) {
        match *edge {
            Edge::Barrier { pipe, before, .. } => {
                let op = self.op(OpKind::Pto(Opcode::Barrier, Form::Plain), before);
                self.func.op_mut(op).attrs_mut().words = vec![pipe.map_or("PIPE_ALL", Pipe::cpp).to_string()];
                self.made[n].push((op, Place::Before(before)));
                self.here.entry(before).or_default().before.push(op);
            }
            Edge::Pair { from, to, after, before, round, .. } => {
                let pipes = (from, to);
                let (set_id, wait_id) = match round {
                    None => (Ok(first), Ok(first)),
                    Some((id, distance)) => {
                        let m = ids(self.points, after, before, distance);
                        (self.id(id, first, distance, m), self.id(id, first, 0, m))
                    }
                };
                let set = self.flag(true, pipes, set_id, after);
                let wait = self.flag(false, pipes, wait_id, before);
                self.made[n].extend([(set, Place::After(after)), (wait, Place::Before(before))]);
                self.here.entry(after).or_default().after.push(set);
                self.here.entry(before).or_default().before.push(wait);
                let Some((id, distance)) = round else { return };
                let m = ids(self.points, after, before, distance);
                for j in 0..distance {
                    let prime = self.flag(true, pipes, Ok(first + j % m), id);
                    let mut out = Vec::new();
                    let last = self.last_id(id, first, j, (m, distance), &mut out);
                    let drain = self.flag(false, pipes, last, id);
                    self.made[n].extend([(prime, Place::Primes(id)), (drain, Place::Drains(id))]);
                    let here = self.here.entry(id).or_default();
                    here.primes.push(prime);
                    here.drains.extend(out);
                    here.drains.push(drain);
                }
            }
        }
    }

    /// The function with everything in it.
    pub fn done(mut self) -> (Func, Vec<Vec<(OpId, Place)>>) {
        // An operation beside a section of its core moves into the section.
        let mut inside: Vec<(BlockId, Vec<OpId>, Vec<OpId>)> = Vec::new();
        for n in 0..self.func.blocks.len() {
            let block = BlockId(n as u32);
            let ops = std::mem::take(&mut self.func.block_mut(block).ops);
            let owner = self.points.owner(block);
            let mut all = owner.and_then(|id| self.heads.remove(&id)).unwrap_or_default();
            for id in ops {
                let here = self.here.remove(&id).unwrap_or_default();
                let before: Vec<OpId> = here.before.into_iter().chain(here.primes).collect();
                let after: Vec<OpId> = here.drains.into_iter().chain(here.after).collect();
                let op = self.func.op(id);
                match (op.section_core(), op.blocks.first()) {
                    (Some(_), Some(body)) => {
                        inside.push((*body, before, after));
                        all.push(id);
                    }
                    _ => {
                        self.place(before, id, &mut all);
                        all.push(id);
                        self.place(after, id, &mut all);
                    }
                }
            }
            self.func.block_mut(block).ops = all;
        }
        for (block, before, after) in inside {
            let ops = &mut self.func.block_mut(block).ops;
            ops.splice(0..0, before);
            ops.extend(after);
        }
        (self.func, self.made)
    }

    /// Puts operations beside another one, in a section where not only their core runs that.
    fn place(&mut self, list: Vec<OpId>, beside: OpId, out: &mut Vec<OpId>) {
        let here = self.cores.get(beside.index()).copied().flatten();
        let mut open: Option<(Core, BlockId)> = None;
        for op in list {
            match self.for_core.get(&op).copied().filter(|core| here != Some(*core)) {
                None => {
                    open = None;
                    out.push(op);
                }
                Some(core) => {
                    let body = open.filter(|(of, _)| *of == core).map_or_else(
                        || {
                            let (body, empty) = (self.func.add_block(), self.func.add_block());
                            let span = self.func.op(op).span;
                            out.push(self.func.add_op(Op::section_of(core, body, empty, span)));
                            body
                        },
                        |(_, body)| body,
                    );
                    open = Some((core, body));
                    self.func.block_mut(body).ops.push(op);
                }
            }
        }
    }
}
