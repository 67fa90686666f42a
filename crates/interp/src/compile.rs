//! From an inlined function to [`Program`]: values become slots, tiles become objects.

mod comm;
mod fifo;
mod instruction;
mod micro;

use super::code::*;
use super::cores::Process;
use super::micro_strip::StripLoop;
use tessera_ir::edges::{self, Control, Edge, When};
use tessera_ir::{
    Arg, BlockId, CastOp, Core, Def, Fifos, Func, Module, Op, OpId, OpKind, ScalarType, Type, ValueId, scalar,
};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Bind, IdArray, Role};
use tessera_isa::profile::{FP_ALIGN, Profile};
use tessera_kernels::Failure;
use tessera_plan::Placement;

/// Deeper nests of control flow than this are refused: running them would need as much stack.
const MAX_DEPTH: usize = 200;

pub fn compile(
    module: &Module,
    func: &Func,
    profile: Profile,
    placement: &Placement,
    process: Process,
    observed: bool,
) -> Result<Program, Failure> {
    if placement.fresh.len() != func.ops.len() || placement.tiles.len() != func.values.len() {
        return Err(Diagnostic::internal(func.span, "the placement is of another function"));
    }
    let is_micro = func.ops.iter().any(|op| matches!(op.kind, OpKind::Micro(_)));
    let mut program = Program { is_micro, ..Program::default() };
    program.vars = func.values.iter().map(|value| program.slot(module.types.get(value.ty))).collect();
    let object_of = vec![None; func.values.len()];
    let mut c = Compiler {
        module,
        func,
        profile,
        placement,
        program,
        object_of,
        depth: 0,
        constants: scalar::Constants::new(module, func),
        finds_scratch: module.finds_scratch(func),
        process,
        observed,
        cores: func.cores(),
        fifos: Fifos::new(module, func),
        stages: Vec::new(),
    };
    c.channels()?;
    for (i, value) in func.values.iter().enumerate() {
        let id = ValueId(i as u32);
        if let (Def::Arg(_) | Def::Input | Def::ListingOut, Var::Tile(_)) = (value.def, c.var(id)) {
            c.object(id)?;
        }
    }
    c.bind_given();
    c.program.body = c.block(func.body)?;
    Ok(c.program)
}

struct Compiler<'a> {
    module: &'a Module,
    func: &'a Func,
    profile: Profile,
    placement: &'a Placement,
    program: Program,
    object_of: Vec<Option<TileId>>,
    depth: usize,
    /// Integers that are the same whenever the program runs.
    constants: scalar::Constants,
    /// Whether scratch that is left out is found.
    finds_scratch: bool,
    process: Process,
    /// Whether order operations are observed.
    observed: bool,
    /// By operation: the kind of core that runs it.
    cores: Vec<Option<Core>>,
    fifos: Fifos,
    /// By FIFO: the tiles that pushes leave in slots.
    stages: Vec<Vec<TileId>>,
}

fn lacks(op: &Op, what: &str) -> Failure {
    Diagnostic::internal(op.span, format!("the operation lacks {what}"))
}

impl Compiler<'_> {
    fn var(&self, value: ValueId) -> Var {
        self.program.vars[value.index()]
    }

    fn ty(&self, value: ValueId) -> &Type {
        self.module.types.get(self.func.value(value).ty)
    }

    /// The object of a value that makes a tile.
    fn object(&mut self, value: ValueId) -> Result<TileId, Failure> {
        if let Some(id) = self.object_of[value.index()] {
            return Ok(id);
        }
        let span = self.func.value(value).span;
        let no_tile = || Diagnostic::internal(span, "a value that is no tile makes one");
        let (tile, conv) = match self.ty(value) {
            Type::Conv(c) => (c.as_tile(), Some(*c)),
            ty @ (Type::Tile(_) | Type::Multi(..) | Type::Vector(..)) => {
                (ty.on(self.profile).ok_or_else(no_tile)?, None)
            }
            _ => return Err(no_tile()),
        };
        let address = self.placement.slot(value).map(|s| s.addr);
        let id = TileId::new(self.program.objects.len());
        let pool = self.program.pool;
        if address.is_none() {
            self.program.pool = pool.saturating_add(tile.bytes().div_ceil(FP_ALIGN).saturating_mul(FP_ALIGN));
        }
        self.program.objects.push(ObjectInfo { value, tile, conv, address, pool, is_own: true });
        self.object_of[value.index()] = Some(id);
        Ok(id)
    }

    /// A tile that exists from the start and is first of all bound to an address lies there from the start.
    fn bind_given(&mut self) {
        let mut seen = vec![false; self.func.values.len()];
        let mut bound = Vec::new();
        self.func.walk(&mut |_, op, _| {
            for operand in &op.operands {
                let Some(v) = operand.arg.value() else { continue };
                let first = !std::mem::replace(&mut seen[v.index()], true);
                if first
                    && op.opcode().and_then(|o| o.info().binds) == Some(Bind::Address)
                    && operand.role != Role::Addr
                {
                    bound.push((v, op.operand(Role::Addr).map(|o| o.arg)));
                }
            }
        });
        for (value, addr) in bound {
            let (Some(object), Some(addr)) = (self.object_of[value.index()], addr) else { continue };
            if let Some(address) = self.constant(addr) {
                self.program.bound.push((object, address));
            }
        }
    }

    fn constant(&self, arg: Arg) -> Option<i64> {
        match arg {
            Arg::Int(v) => Some(v),
            Arg::Value(v) => {
                let Def::Result(op, _) = self.func.value(v).def else { return None };
                if let OpKind::Constant(Number::Int(v)) = self.func.op(op).kind { Some(v as i64) } else { None }
            }
        }
    }

    fn scalar_type(&self, value: ValueId) -> ScalarType {
        match self.ty(value) {
            Type::Scalar(s) => *s,
            _ => ScalarType::Index,
        }
    }

    fn int(&self, op: &Op, arg: Arg) -> Result<Int, Failure> {
        match arg {
            Arg::Int(v) => Ok(Int::Imm(v)),
            Arg::Value(v) => self.var(v).int().map(Int::Slot).ok_or_else(|| lacks(op, "a scalar")),
        }
    }

    fn operand(&self, op: &Op, n: usize) -> Result<Int, Failure> {
        self.int(op, op.operands.get(n).ok_or_else(|| lacks(op, "an operand"))?.arg)
    }

    fn scalar(&self, op: &Op, arg: Arg) -> Result<Scalar, Failure> {
        Ok(Scalar { int: self.int(op, arg)?, ty: arg.value().map(|v| self.scalar_type(v)) })
    }

    fn role(&self, op: &Op, role: Role) -> Result<Option<Int>, Failure> {
        op.operand(role).map(|o| self.int(op, o.arg)).transpose()
    }

    fn result(&self, op: &Op) -> Result<ValueId, Failure> {
        op.results.first().copied().ok_or_else(|| lacks(op, "its result"))
    }

    fn int_result(&self, op: &Op) -> Result<IntSlot, Failure> {
        self.var(self.result(op)?).int().ok_or_else(|| lacks(op, "a scalar result"))
    }

    /// The values that one edge of control flow passes on. A tile that a loop passes to its own blocks goes through
    /// the buffer of the carried tile, if it has one.
    fn hands(&mut self, op: &Op, edge: Edge<'_>) -> Result<Vec<BlockArgCopy>, Failure> {
        let mut hands = Vec::new();
        for (to, from) in edge.pairs() {
            hands.push(match (self.var(to), from, from.value().map(|v| self.var(v))) {
                (Var::Int(to), ..) => BlockArgCopy::Int { to, from: self.int(op, from)? },
                (Var::Tile(slot), _, Some(Var::Tile(from))) => {
                    let inner = matches!(edge.when, When::Again | When::Proceed);
                    let buffered = inner && self.placement.slot(to).is_some();
                    let buffer = if buffered { Some(self.object(to)?) } else { None };
                    BlockArgCopy::Tile { to: slot, from, buffer }
                }
                (Var::Global(to), _, Some(Var::Global(from))) => BlockArgCopy::Global { to, from },
                (Var::Ids(to, count), _, Some(Var::Ids(from, same))) if count == same => {
                    hands.extend(
                        (0..count).map(|n| BlockArgCopy::Int { to: to.plus(n), from: Int::Slot(from.plus(n)) }),
                    );
                    continue;
                }
                (Var::Micro(to), _, Some(Var::Micro(from))) => BlockArgCopy::Micro { to, from },
                (Var::Nothing, _, Some(Var::Nothing)) => continue,
                _ => return Err(Diagnostic::internal(op.span, "control flow hands on a value of another kind")),
            });
        }
        Ok(hands)
    }

    /// The operation on an array of ids of flags (sync.md 2), a local array or a struct (isa/today.md 4.3).
    fn ids(&self, op: &Op) -> Result<Option<Support>, Failure> {
        let array = op.operands.first().and_then(|o| o.arg.value());
        let slots = array.and_then(|v| self.ty(v).stack_slots());
        let places = op.places().iter().map(|o| self.int(op, o.arg)).collect::<Result<Vec<_>, _>>()?;
        let ids = || match op.operands.first().and_then(|o| o.arg.value()).map(|v| self.var(v)) {
            Some(Var::Ids(first, count)) => Ok((first, count)),
            _ => Err(lacks(op, "an array of ids")),
        };
        Ok(match op.id_array() {
            Some(IdArray::Get) => {
                let shape = slots.ok_or_else(|| lacks(op, "an array"))?;
                Some(Support::GetId { ids: ids()?, shape, places, to: self.int_result(op)? })
            }
            Some(IdArray::Set) => {
                let shape = slots.ok_or_else(|| lacks(op, "an array"))?;
                let last = op.operands.len().saturating_sub(1);
                Some(Support::SetId { ids: ids()?, shape, places, id: self.operand(op, last)? })
            }
            Some(IdArray::Declare) => match self.var(self.result(op)?) {
                Var::Ids(first, count) => Some(Support::NewIds(first, count)),
                _ => None,
            },
            None => None,
        })
    }

    fn block(&mut self, block: BlockId) -> Result<Vec<Code>, Failure> {
        let func = self.func;
        let mut code = Vec::new();
        for id in &func.block(block).ops {
            let fresh = &self.placement.fresh[id.index()];
            if !fresh.is_empty() {
                let objects = fresh.iter().map(|v| self.object(*v)).collect::<Result<_, _>>()?;
                code.push(Code::Support(*id, Box::new(Support::Fresh(objects))));
            }
            self.op(*id, func.op(*id), &mut code)?;
        }
        self.program.find_chains(&code);
        Ok(code)
    }

    fn nested(&mut self, op: &Op, block: BlockId) -> Result<Vec<Code>, Failure> {
        if self.depth >= MAX_DEPTH {
            let what = format!("control flow is nested more than {MAX_DEPTH} deep");
            return Err(Box::new(
                Diagnostic::error("syntax-limit", what).at(op.span, "").help("move the inner loops into one"),
            ));
        }
        self.depth += 1;
        let code = self.block(block);
        self.depth -= 1;
        code
    }

    fn op(&mut self, id: OpId, op: &Op, code: &mut Vec<Code>) -> Result<(), Failure> {
        let (from, to) = scalar::widths(self.module, self.func, op);
        code.push(match &op.kind {
            OpKind::Pto(opcode, form) => return self.pto(id, op, *opcode, *form, code),
            OpKind::Other(_) if op.id_array().is_some() => match self.ids(op)? {
                Some(support) => Code::Support(id, Box::new(support)),
                None => return Ok(()),
            },
            OpKind::Micro(call) => self.micro(id, op, call)?,
            OpKind::Other(name) => Code::Support(id, Box::new(Support::Refuse(name))),
            OpKind::Constant(value) => {
                let value = match (value, self.scalar_type(self.result(op)?)) {
                    // A float constant is what its type makes of it.
                    (Number::Float(v), ScalarType::Float(elem)) => {
                        match elem.decode(elem.encode_f64(*v, Overflow::Infinity)) {
                            Number::Float(v) => v.to_bits() as i64,
                            Number::Int(v) => v as i64,
                        }
                    }
                    (number, ty) => slot_bits(*number, ty),
                };
                Code::Set { dst: self.int_result(op)?, value }
            }
            OpKind::Dense(all) => {
                let vector = self.result(op)?;
                let object = self.object(vector)?;
                let slot = self.var(vector).tile().ok_or_else(|| lacks(op, "a vector"))?;
                let elem = self.program.objects.get(object.index()).map_or(Elem::U8, |o| o.tile.elem);
                let bytes = |number: &Number| elem.encode(*number, Overflow::Infinity).to_le_bytes();
                let size = elem.bytes_of(1) as usize;
                let bytes = all.iter().flat_map(|number| bytes(number).into_iter().take(size)).collect();
                Code::Support(id, Box::new(Support::Dense { object, slot, bytes }))
            }
            OpKind::Arith(kind) => {
                let (dst, a, b) = (self.int_result(op)?, self.operand(op, 0)?, self.operand(op, kind.arity() - 1)?);
                Code::Arith { op: *kind, width: to, dst, a, b, at: id }
            }
            OpKind::Cmp(pred) => {
                let (dst, a, b) = (self.int_result(op)?, self.operand(op, 0)?, self.operand(op, 1)?);
                Code::Cmp { pred: *pred, width: from, dst, a, b }
            }
            OpKind::Float(kind) => {
                let result = self.result(op)?;
                let ScalarType::Float(elem) = self.scalar_type(result) else { return Err(lacks(op, "a float")) };
                let arg = |n: usize| self.operand(op, n.min(kind.arity() - 1));
                Code::Float { op: *kind, elem, dst: self.int_result(op)?, args: Box::new([arg(0)?, arg(1)?, arg(2)?]) }
            }
            OpKind::CmpFloat(pred) => {
                let (dst, a, b) = (self.int_result(op)?, self.operand(op, 0)?, self.operand(op, 1)?);
                Code::CmpFloat { pred: *pred, dst, a, b }
            }
            OpKind::Cast(kind) if *kind == CastOp::Bitcast || kind.floats() != (false, false) => {
                let from = op.values().next().map_or(ScalarType::Index, |v| self.scalar_type(v));
                let to = self.scalar_type(self.result(op)?);
                Code::Convert { op: *kind, from, to, dst: self.int_result(op)?, a: self.operand(op, 0)?, at: id }
            }
            OpKind::Cast(kind) => {
                Code::Cast { op: *kind, from, to, dst: self.int_result(op)?, a: self.operand(op, 0)? }
            }
            OpKind::For | OpKind::If | OpKind::While | OpKind::Select => {
                self.begin_scope(id, op, code);
                let control = self.control(id, op)?;
                code.push(control);
                self.end_scope(id, op, code);
                return Ok(());
            }
            OpKind::Condition | OpKind::Yield | OpKind::Return => return Ok(()),
            OpKind::Call(_) => {
                let what = "a call is left in a function that runs; inline it first";
                return Err(Box::new(Diagnostic::error("call", what).at(op.span, "called here")));
            }
        });
        Ok(())
    }

    fn control(&mut self, id: OpId, op: &Op) -> Result<Code, Failure> {
        let control = Control::of(self.func, op)?;
        let handed = control.edges();
        let at = |when| handed.iter().copied().find(|e| e.when == when).ok_or_else(|| lacks(op, "an edge"));
        Ok(match control {
            Control::For(f) => {
                let body = self.nested(op, f.body)?;
                let mut made = Box::new(For {
                    at: id,
                    name: f.variable,
                    iv: self.var(f.variable).int().ok_or_else(|| lacks(op, "an induction variable"))?,
                    lower: self.int(op, f.lower)?,
                    upper: self.int(op, f.upper)?,
                    step: self.int(op, f.step)?,
                    enter: self.hands(op, at(When::Enter)?)?,
                    least: least(&body).saturating_add(1),
                    body,
                    again: self.hands(op, at(When::Again)?)?,
                    leave: self.hands(op, at(When::Leave)?)?,
                    strip: None,
                });
                made.strip = StripLoop::new(&made);
                Code::For(made)
            }
            Control::While(w) => Code::While(Box::new(While {
                at: id,
                enter: self.hands(op, at(When::Enter)?)?,
                before: self.nested(op, w.before)?,
                condition: self.int(op, w.condition)?,
                proceed: self.hands(op, at(When::Proceed)?)?,
                after: self.nested(op, w.after)?,
                again: self.hands(op, at(When::Again)?)?,
                leave: self.hands(op, at(When::Leave)?)?,
            })),
            // Everything is compiled for every core, so that all of them agree on the addresses.
            Control::If(_) if self.is_skipped(id, op) => {
                self.nested(op, op.blocks.first().copied().ok_or_else(|| lacks(op, "a block"))?)?;
                let nothing = || (Vec::new(), Vec::new());
                Code::If(Box::new(If { condition: Int::Imm(0), then: nothing(), other: nothing() }))
            }
            Control::If(edges::If { condition, .. }) | Control::Select(edges::Select { condition, .. }) => {
                let mut branches = Vec::new();
                for (n, edge) in handed.iter().enumerate() {
                    let body = op.blocks.get(n).map_or(Ok(Vec::new()), |b| self.nested(op, *b))?;
                    branches.push((body, self.hands(op, *edge)?));
                }
                let [then, other] = branches.try_into().map_err(|_| lacks(op, "a branch"))?;
                Code::If(Box::new(If { condition: self.int(op, condition)?, then, other }))
            }
        })
    }
}

/// The least steps that operations take: those of loops whose bounds are constants with them.
fn least(code: &[Code]) -> u64 {
    let rounds = |c: &Code| match c {
        Code::For(f) => match (f.lower, f.upper, f.step) {
            (Int::Imm(lower), Int::Imm(upper), Int::Imm(step)) if step > 0 && upper > lower => {
                (upper.abs_diff(lower) / step.unsigned_abs()).saturating_mul(f.least)
            }
            _ => 0,
        },
        _ => 0,
    };
    code.iter().map(rounds).fold(code.len() as u64, u64::saturating_add)
}
