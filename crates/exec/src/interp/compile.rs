//! From an inlined function to [`Program`]: values become slots, tiles become objects.

mod instruction;

use super::code::*;
use super::scalar::wrap;
use crate::lower::Failure;
use tessera_ir::{Arg, BlockId, Def, Func, Module, Op, OpId, OpKind, ScalarType, Type, ValueId};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{Opcode, Role};
use tessera_isa::profile::{FP_ALIGN, Profile};
use tessera_plan::Placement;

/// Deeper nests of control flow than this are refused: running them would need as much stack.
const MAX_DEPTH: usize = 200;

pub(crate) fn compile(
    module: &Module,
    func: &Func,
    profile: Profile,
    placement: &Placement,
) -> Result<Program, Failure> {
    let mut c = Compiler {
        module,
        func,
        profile,
        placement,
        program: Program { vars: vec![Var::Nothing; func.values.len()], ..Program::default() },
        object_of: vec![None; func.values.len()],
        depth: 0,
    };
    for (i, value) in func.values.iter().enumerate() {
        let program = &mut c.program;
        let var = match module.types.get(value.ty) {
            Type::Scalar(_) => {
                program.ints += 1;
                Var::Int(program.ints as Slot - 1)
            }
            Type::Tile(_) | Type::Conv(_) => {
                program.tiles += 1;
                Var::Tile(program.tiles as Slot - 1)
            }
            Type::Ptr(..) | Type::View(_) | Type::Memref(_) => {
                program.globals += 1;
                Var::Global(program.globals as Slot - 1)
            }
            Type::Event => Var::Nothing,
        };
        if let Some(slot) = program.vars.get_mut(i) {
            *slot = var;
        }
    }
    for (i, value) in func.values.iter().enumerate() {
        let id = ValueId(i as u32);
        if let (Def::Arg(_) | Def::Input | Def::ListingOut, Var::Tile(_)) = (value.def, c.var(id)) {
            c.object(id);
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
}

impl Compiler<'_> {
    fn var(&self, value: ValueId) -> Var {
        self.program.vars.get(value.index()).copied().unwrap_or(Var::Nothing)
    }

    fn ty(&self, value: ValueId) -> &Type {
        self.module.types.get(self.func.value(value).ty)
    }

    /// The object of a value that makes a tile.
    fn object(&mut self, value: ValueId) -> TileId {
        if let Some(Some(id)) = self.object_of.get(value.index()) {
            return *id;
        }
        let (tile, conv) = match self.ty(value) {
            Type::Conv(c) => (c.as_tile(), Some(*c)),
            Type::Tile(t) => (t.resolve(self.profile), None),
            // Nobody asks: only tiles have objects.
            _ => (
                tessera_isa::tile::TileType::new(tessera_isa::tile::Loc::Vec, tessera_isa::elem::Elem::U8, 1, 32)
                    .resolve(self.profile),
                None,
            ),
        };
        let address = self.placement.slot(value).map(|s| s.addr);
        let id = TileId::new(self.program.objects.len());
        let pool = self.program.pool;
        if address.is_none() {
            self.program.pool = pool.saturating_add(tile.bytes().div_ceil(FP_ALIGN).saturating_mul(FP_ALIGN));
        }
        self.program.objects.push(ObjectInfo { value, tile, conv, address, pool });
        if let Some(slot) = self.object_of.get_mut(value.index()) {
            *slot = Some(id);
        }
        id
    }

    /// A tile that exists from the start and is first of all bound to an address lies there from the start.
    fn bind_given(&mut self) {
        let mut seen = vec![false; self.func.values.len()];
        let mut bound = Vec::new();
        self.func.walk(&mut |_, op, _| {
            for operand in &op.operands {
                let Some(v) = operand.arg.value() else { continue };
                let first = seen.get_mut(v.index()).is_some_and(|s| !std::mem::replace(s, true));
                if first && op.opcode() == Some(Opcode::Tassign) && operand.role != Role::Addr {
                    bound.push((v, op.operand(Role::Addr).map(|o| o.arg)));
                }
            }
        });
        for (value, addr) in bound {
            let (Some(Some(object)), Some(addr)) = (self.object_of.get(value.index()).copied(), addr) else {
                continue;
            };
            if let Some(address) = self.constant(addr) {
                self.program.bound.push((object, address));
            }
        }
    }

    fn constant(&self, arg: Arg) -> Option<i64> {
        match arg {
            Arg::Int(v) => Some(v),
            Arg::Value(v) => match self.func.value(v).def {
                Def::Result(op, _) => match self.func.op(op).kind {
                    OpKind::Constant(Number::Int(v)) => Some(v as i64),
                    _ => None,
                },
                _ => None,
            },
        }
    }

    fn scalar_type(&self, value: ValueId) -> ScalarType {
        match self.ty(value) {
            Type::Scalar(s) => *s,
            _ => ScalarType::Index,
        }
    }

    fn int(&self, arg: Arg) -> Int {
        match arg {
            Arg::Int(v) => Int::Imm(v),
            Arg::Value(v) => match self.var(v) {
                Var::Int(slot) => Int::Slot(slot),
                _ => Int::Imm(0),
            },
        }
    }

    fn scalar(&self, arg: Arg) -> Scalar {
        Scalar { int: self.int(arg), ty: arg.value().map(|v| self.scalar_type(v)) }
    }

    fn role(&self, op: &Op, role: Role) -> Option<Int> {
        op.operand(role).map(|o| self.int(o.arg))
    }

    fn tile_slot(&self, value: ValueId) -> Option<Slot> {
        match self.var(value) {
            Var::Tile(slot) => Some(slot),
            _ => None,
        }
    }

    fn global_slot(&self, value: ValueId) -> Option<Slot> {
        match self.var(value) {
            Var::Global(slot) => Some(slot),
            _ => None,
        }
    }

    fn source(&self, arg: Arg) -> Source {
        match arg {
            Arg::Int(v) => Source::Int(Int::Imm(v)),
            Arg::Value(v) => match self.var(v) {
                Var::Int(slot) => Source::Int(Int::Slot(slot)),
                Var::Tile(slot) => Source::Tile(slot),
                Var::Global(slot) => Source::Global(slot),
                Var::Nothing => Source::Nothing,
            },
        }
    }

    /// Values handed to places; a carried tile may have a buffer of its own.
    fn hands(&mut self, to: &[ValueId], from: impl IntoIterator<Item = Arg>, buffers: bool) -> Vec<Hand> {
        let mut hands = Vec::new();
        for (to, from) in to.iter().zip(from) {
            let buffered = buffers && self.tile_slot(*to).is_some() && self.placement.slot(*to).is_some();
            hands.push(Hand { to: self.var(*to), from: self.source(from), buffer: buffered.then(|| self.object(*to)) });
        }
        hands
    }

    /// The operands of the operation that ends a block.
    fn last_args(&self, block: BlockId) -> Vec<Arg> {
        let last = self.func.block(block).ops.last().map(|id| self.func.op(*id));
        match last.map(|op| (&op.kind, op)) {
            Some((OpKind::Yield | OpKind::Condition, op)) => op.operands.iter().map(|o| o.arg).collect(),
            _ => Vec::new(),
        }
    }

    fn block(&mut self, block: BlockId) -> Result<Vec<Code>, Failure> {
        let func = self.func;
        let mut code = Vec::new();
        for id in &func.block(block).ops {
            let fresh = self.placement.fresh.get(id.index()).cloned().unwrap_or_default();
            if !fresh.is_empty() {
                code.push(Code::Fresh(fresh.into_iter().map(|v| self.object(v)).collect()));
            }
            self.op(*id, func.op(*id), &mut code)?;
        }
        Ok(code)
    }

    fn nested(&mut self, op: &Op, block: Option<BlockId>) -> Result<Vec<Code>, Failure> {
        let Some(block) = block else {
            return Ok(Vec::new());
        };
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
        let arg = |n: usize| op.operands.get(n).map_or(Arg::Int(0), |o| o.arg);
        let result = op.results.first().copied();
        let dst = match result.map(|r| self.var(r)) {
            Some(Var::Int(slot)) => slot,
            _ => 0,
        };
        let width = |c: &Self, arg: Arg| arg.value().or(result).map_or(64, |v| c.scalar_type(v).bits());
        match &op.kind {
            OpKind::Pto(opcode, form) => self.pto(id, op, *opcode, *form, code),
            OpKind::Other(name) => code.push(Code::Refuse { at: id, name }),
            OpKind::Constant(value) => {
                let ty = result.map(|r| self.scalar_type(r));
                let value = match (value, ty) {
                    // A float constant is what its type makes of it.
                    (Number::Float(v), Some(ScalarType::Float(elem))) => {
                        match elem.decode(elem.encode_f64(*v, Overflow::Infinity)) {
                            Number::Float(v) => v.to_bits() as i64,
                            Number::Int(v) => v as i64,
                        }
                    }
                    (Number::Float(v), _) => v.to_bits() as i64,
                    (Number::Int(v), Some(ScalarType::Float(_))) => (*v as f64).to_bits() as i64,
                    (Number::Int(v), _) => wrap(*v as i64, width(self, Arg::Int(0))),
                };
                code.push(Code::Set { dst, value });
            }
            OpKind::Arith(kind) => code.push(Code::Arith {
                op: *kind,
                width: width(self, arg(0)),
                dst,
                a: self.int(arg(0)),
                b: self.int(arg(1)),
                at: id,
            }),
            OpKind::Cmp(pred) => code.push(Code::Cmp {
                pred: *pred,
                width: arg(0).value().or(arg(1).value()).map_or(64, |v| self.scalar_type(v).bits()),
                dst,
                a: self.int(arg(0)),
                b: self.int(arg(1)),
            }),
            OpKind::Cast(kind) => code.push(Code::Cast {
                op: *kind,
                from: arg(0).value().map_or(64, |v| self.scalar_type(v).bits()),
                to: result.map_or(64, |v| self.scalar_type(v).bits()),
                dst,
                a: self.int(arg(0)),
            }),
            OpKind::Select => {
                let hand = |c: &Self, n: usize| Hand {
                    to: result.map_or(Var::Nothing, |r| c.var(r)),
                    from: c.source(arg(n)),
                    buffer: None,
                };
                code.push(Code::Select { condition: self.int(arg(0)), then: hand(self, 1), other: hand(self, 2) });
            }
            OpKind::For => code.push(self.repeat(id, op)?),
            OpKind::If => {
                let branch = |c: &mut Self, block: Option<BlockId>| -> Result<(Vec<Code>, Vec<Hand>), Failure> {
                    let body = c.nested(op, block)?;
                    let yields = block.map_or(Vec::new(), |b| c.last_args(b));
                    Ok((body, c.hands(&op.results, yields, false)))
                };
                let then = branch(self, op.blocks.first().copied())?;
                let other = branch(self, op.blocks.get(1).copied())?;
                let condition = self.int(arg(0));
                code.push(Code::If(Box::new(If { condition, then, other })));
            }
            OpKind::While => code.push(self.repeat_while(id, op)?),
            OpKind::Condition | OpKind::Yield | OpKind::Return => {}
            OpKind::Call(_) => {
                let what = "a call is left in a function that runs; inline it first";
                return Err(Box::new(Diagnostic::error("call", what).at(op.span, "called here")));
            }
        }
        Ok(())
    }

    fn repeat(&mut self, id: OpId, op: &Op) -> Result<Code, Failure> {
        let arg = |n: usize| op.operands.get(n).map_or(Arg::Int(0), |o| o.arg);
        let block = op.blocks.first().copied();
        let args = block.map_or(Default::default(), |b| self.func.block(b).args.clone());
        let (iv, carried) = args.split_first().map_or((None, &[][..]), |(iv, rest)| (Some(*iv), rest));
        let inits: Vec<Arg> = op.operands.iter().skip(3).map(|o| o.arg).collect();
        let enter = self.hands(carried, inits, false);
        let body = self.nested(op, block)?;
        let yields = block.map_or(Vec::new(), |b| self.last_args(b));
        let again = self.hands(carried, yields, true);
        let leave = self.hands(&op.results, carried.iter().map(|v| Arg::Value(*v)), false);
        let name = iv.unwrap_or(ValueId(0));
        Ok(Code::For(Box::new(For {
            at: id,
            name,
            iv: match iv.map(|v| self.var(v)) {
                Some(Var::Int(slot)) => slot,
                _ => 0,
            },
            lower: self.int(arg(0)),
            upper: self.int(arg(1)),
            step: self.int(arg(2)),
            enter,
            body,
            again,
            leave,
        })))
    }

    fn repeat_while(&mut self, id: OpId, op: &Op) -> Result<Code, Failure> {
        let (first, second) = (op.blocks.first().copied(), op.blocks.get(1).copied());
        let args = |c: &Self, b: Option<BlockId>| b.map_or(Default::default(), |b| c.func.block(b).args.clone());
        let (before_args, after_args) = (args(self, first), args(self, second));
        let inits: Vec<Arg> = op.operands.iter().map(|o| o.arg).collect();
        let enter = self.hands(&before_args, inits, false);
        let before = self.nested(op, first)?;
        let handed = first.map_or(Vec::new(), |b| self.last_args(b));
        let condition = handed.first().map_or(Int::Imm(0), |a| self.int(*a));
        let proceed = self.hands(&after_args, handed.iter().skip(1).copied(), true);
        let after = self.nested(op, second)?;
        let yields = second.map_or(Vec::new(), |b| self.last_args(b));
        let again = self.hands(&before_args, yields, true);
        let leave = self.hands(&op.results, handed.iter().skip(1).copied(), false);
        Ok(Code::While(Box::new(While { at: id, enter, before, condition, proceed, after, again, leave })))
    }
}

/// The element type behind a pointer, view or memref.
pub(crate) fn global_elem(ty: &Type) -> Option<tessera_isa::elem::Elem> {
    match ty {
        Type::Ptr(e, _) => Some(*e),
        Type::View(v) => Some(v.elem),
        Type::Memref(m) => Some(m.elem),
        _ => None,
    }
}
