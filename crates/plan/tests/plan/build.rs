//! Builds small programs without going through text.

use tessera_ir::{
    Arg, BlockId, Def, Func, Module, Op, OpId, OpKind, Operand, ScalarType, TextForm, Type, TypeId, Value, ValueId,
};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::tile::{BLayout, Loc, SLayout, TileType};

/// A function under construction; operations go to the end of the current block.
pub struct Builder {
    pub module: Module,
    pub func: Func,
    at: BlockId,
    index: TypeId,
    count: u32,
}

impl Builder {
    pub fn new() -> Self {
        let mut module = Module::default();
        let name = module.names.intern("kernel");
        let index = module.types.intern(Type::Scalar(ScalarType::Index));
        let func = Func::new(name, Span::default());
        Builder { at: func.body, module, func, index, count: 0 }
    }

    /// A type of `units` times 32 bytes, in the location's usual layout.
    pub fn tile(&mut self, loc: Loc, units: u64) -> TypeId {
        self.module.types.intern(Type::Tile(TileType::new(loc, Elem::F32, units, 8)))
    }

    /// The same, ND wherever it lives.
    pub fn nd_tile(&mut self, loc: Loc, units: u64) -> TypeId {
        let nd = TileType::new(loc, Elem::F32, units, 8).with_layout(BLayout::RowMajor, SLayout::NoneBox, 512);
        self.module.types.intern(Type::Tile(nd))
    }

    fn value(&mut self, ty: TypeId, def: Def) -> ValueId {
        self.count += 1;
        let name = self.module.names.intern(&format!("v{}", self.count));
        let span = Span::new(self.count, self.count + 1);
        self.func.add_value(Value { name, ty, def, span, type_span: span })
    }

    pub fn ty(&self, v: ValueId) -> TypeId {
        self.func.value(v).ty
    }

    fn op(&mut self, kind: OpKind, operands: &[(Role, Arg)], results: &[TypeId]) -> OpId {
        self.count += 1;
        let span = Span::new(self.count, self.count + 1);
        let mut op = Op::new(kind, TextForm::Dps, span);
        op.operands =
            operands.iter().map(|(role, arg)| Operand { role: *role, arg: *arg, span, type_span: span }).collect();
        let id = self.func.push_op(self.at, op);
        for (n, ty) in results.iter().enumerate() {
            let v = self.value(*ty, Def::Result(id, n as u32));
            self.func.ops[id.index()].results.push(v);
        }
        id
    }

    fn result(&self, op: OpId) -> ValueId {
        self.func.op(op).results[0]
    }

    fn pto(&mut self, op: Opcode, operands: &[(Role, ValueId)], results: &[TypeId]) -> OpId {
        let operands: Vec<_> = operands.iter().map(|(r, v)| (*r, Arg::Value(*v))).collect();
        self.op(OpKind::Pto(op, Form::Plain), &operands, results)
    }

    /// A tile that a listing reads.
    pub fn input(&mut self, ty: TypeId) -> ValueId {
        let v = self.value(ty, Def::Input);
        self.func.args.push(v);
        v
    }

    pub fn alloc(&mut self, ty: TypeId) -> ValueId {
        let op = self.pto(Opcode::AllocTile, &[], &[ty]);
        self.result(op)
    }

    pub fn alloc_at(&mut self, ty: TypeId, addr: i64) -> ValueId {
        let op = self.op(OpKind::Pto(Opcode::AllocTile, Form::Plain), &[(Role::Addr, Arg::Int(addr))], &[ty]);
        self.result(op)
    }

    pub fn alloc_computed(&mut self, ty: TypeId, addr: ValueId) -> ValueId {
        let op = self.pto(Opcode::AllocTile, &[(Role::Addr, addr)], &[ty]);
        self.result(op)
    }

    pub fn tassign(&mut self, tile: ValueId, addr: i64) {
        let operands = [(Role::Tile, Arg::Value(tile)), (Role::Addr, Arg::Int(addr))];
        self.op(OpKind::Pto(Opcode::Tassign, Form::Plain), &operands, &[]);
    }

    pub fn constant(&mut self, v: i128) -> ValueId {
        let index = self.index;
        let op = self.op(OpKind::Constant(Number::Int(v)), &[], &[index]);
        self.result(op)
    }

    pub fn block_idx(&mut self) -> ValueId {
        let index = self.index;
        let op = self.pto(Opcode::GetBlockIdx, &[], &[index]);
        self.result(op)
    }

    /// A type in the location's usual layout.
    pub fn typed(&mut self, loc: Loc, elem: Elem, rows: u64, cols: u64) -> TypeId {
        self.module.types.intern(Type::Tile(TileType::new(loc, elem, rows, cols)))
    }

    /// A product of scaled operands: (a, its scales), (b, its scales), and where it goes.
    pub fn product(&mut self, a: [ValueId; 2], b: [ValueId; 2], dst: ValueId) {
        let operands = [(Role::A, a[0]), (Role::AScale, a[1]), (Role::B, b[0]), (Role::BScale, b[1]), (Role::Dst, dst)];
        self.pto(Opcode::TmatmulMx, &operands, &[]);
    }

    /// A DPS move.
    pub fn mov(&mut self, src: ValueId, dst: ValueId) -> OpId {
        self.pto(Opcode::Tmov, &[(Role::Src, src), (Role::Dst, dst)], &[])
    }

    /// An SSA move.
    pub fn moved(&mut self, src: ValueId, ty: TypeId) -> ValueId {
        let op = self.pto(Opcode::Tmov, &[(Role::Src, src)], &[ty]);
        self.result(op)
    }

    /// An SSA instruction with two sources.
    pub fn concat(&mut self, a: ValueId, b: ValueId, ty: TypeId) -> ValueId {
        let op = self.pto(Opcode::Tconcat, &[(Role::Src0, a), (Role::Src1, b)], &[ty]);
        self.result(op)
    }

    /// Reads a tile.
    pub fn print(&mut self, tile: ValueId) -> OpId {
        self.pto(Opcode::Tprint, &[(Role::Tile, tile)], &[])
    }

    fn window(&mut self, src: ValueId, dst: Option<ValueId>, results: &[TypeId]) -> OpId {
        let corner = [(Role::Row, Arg::Int(0)), (Role::Col, Arg::Int(0))];
        let dst = dst.map(|v| (Role::Dst, Arg::Value(v)));
        let operands: Vec<_> = [(Role::Src, Arg::Value(src))].into_iter().chain(corner).chain(dst).collect();
        self.op(OpKind::Pto(Opcode::Tsubview, Form::Plain), &operands, results)
    }

    pub fn subview(&mut self, src: ValueId, ty: TypeId) -> ValueId {
        let op = self.window(src, None, &[ty]);
        self.result(op)
    }

    pub fn subview_into(&mut self, src: ValueId, dst: ValueId) {
        self.window(src, Some(dst), &[]);
    }

    pub fn reshape(&mut self, src: ValueId, dst: ValueId) {
        self.pto(Opcode::Treshape, &[(Role::Src, src), (Role::Dst, dst)], &[]);
    }

    pub fn reshaped(&mut self, src: ValueId) -> ValueId {
        let ty = self.ty(src);
        let op = self.pto(Opcode::Treshape, &[(Role::Src, src)], &[ty]);
        self.result(op)
    }

    pub fn fill_inplace(&mut self, src: ValueId, dst: ValueId) {
        self.pto(Opcode::TfillpadInplace, &[(Role::Src, src), (Role::Dst, dst)], &[]);
    }

    fn block_arg(&mut self, block: BlockId, ty: TypeId) -> ValueId {
        let n = self.func.block(block).args.len() as u32;
        let v = self.value(ty, Def::BlockArg(block, n));
        self.func.blocks[block.index()].args.push(v);
        v
    }

    fn inside(&mut self, block: BlockId, f: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.at, block);
        f(self);
        self.at = outer;
    }

    fn handing(&mut self, kind: OpKind, mut leading: Vec<(Role, Arg)>, values: &[ValueId]) {
        leading.extend(values.iter().map(|v| (Role::Init, Arg::Value(*v))));
        self.op(kind, &leading, &[]);
    }

    /// `scf.for` with carried values; the body gives what it yields.
    pub fn for_loop(
        &mut self,
        inits: &[ValueId],
        body: impl FnOnce(&mut Self, &[ValueId]) -> Vec<ValueId>,
    ) -> Vec<ValueId> {
        let mut operands = vec![(Role::Number, Arg::Int(0)), (Role::Number, Arg::Int(9)), (Role::Number, Arg::Int(1))];
        operands.extend(inits.iter().map(|v| (Role::Init, Arg::Value(*v))));
        let types: Vec<TypeId> = inits.iter().map(|v| self.ty(*v)).collect();
        let id = self.op(OpKind::For, &operands, &types);
        let block = self.func.add_block();
        self.func.ops[id.index()].blocks.push(block);
        let index = self.index;
        self.block_arg(block, index);
        let args: Vec<ValueId> = types.iter().map(|t| self.block_arg(block, *t)).collect();
        self.inside(block, |b| {
            let yielded = body(b, &args);
            b.handing(OpKind::Yield, Vec::new(), &yielded);
        });
        self.func.op(id).results.to_vec()
    }

    /// `scf.while`: the first block gives what `scf.condition` hands on, the second what it yields.
    pub fn while_loop(
        &mut self,
        inits: &[ValueId],
        before: impl FnOnce(&mut Self, &[ValueId]) -> Vec<ValueId>,
        after: impl FnOnce(&mut Self, &[ValueId]) -> Vec<ValueId>,
    ) -> Vec<ValueId> {
        let operands: Vec<_> = inits.iter().map(|v| (Role::Init, Arg::Value(*v))).collect();
        let types: Vec<TypeId> = inits.iter().map(|v| self.ty(*v)).collect();
        let id = self.op(OpKind::While, &operands, &types);
        let blocks = [self.func.add_block(), self.func.add_block()];
        self.func.ops[id.index()].blocks.extend(blocks);
        let args = blocks.map(|b| types.iter().map(|t| self.block_arg(b, *t)).collect::<Vec<_>>());
        self.inside(blocks[0], |b| {
            let handed = before(b, &args[0]);
            b.handing(OpKind::Condition, vec![(Role::Number, Arg::Int(1))], &handed);
        });
        self.inside(blocks[1], |b| {
            let yielded = after(b, &args[1]);
            b.handing(OpKind::Yield, Vec::new(), &yielded);
        });
        self.func.op(id).results.to_vec()
    }

    /// `scf.if`; both branches give what they yield.
    pub fn branch(
        &mut self,
        types: &[TypeId],
        then: impl FnOnce(&mut Self) -> Vec<ValueId>,
        otherwise: impl FnOnce(&mut Self) -> Vec<ValueId>,
    ) -> Vec<ValueId> {
        let id = self.op(OpKind::If, &[(Role::Number, Arg::Int(1))], types);
        let blocks = [self.func.add_block(), self.func.add_block()];
        self.func.ops[id.index()].blocks.extend(blocks);
        self.inside(blocks[0], |b| {
            let yielded = then(b);
            b.handing(OpKind::Yield, Vec::new(), &yielded);
        });
        self.inside(blocks[1], |b| {
            let yielded = otherwise(b);
            b.handing(OpKind::Yield, Vec::new(), &yielded);
        });
        self.func.op(id).results.to_vec()
    }
}

/// The program as text, for messages of failing tests.
pub fn dump(b: &Builder) -> String {
    let name = |v: &ValueId| b.module.names.text(b.func.value(*v).name).to_string();
    let mut out = String::new();
    b.func.walk(&mut |_, op, depth| {
        let results: Vec<String> = op.results.iter().map(name).collect();
        let operands: Vec<String> = op
            .operands
            .iter()
            .map(|o| match o.arg {
                Arg::Value(v) => format!("{}={}", o.role, name(&v)),
                Arg::Int(n) => n.to_string(),
            })
            .collect();
        let args: Vec<Vec<String>> =
            op.blocks.iter().map(|x| b.func.block(*x).args.iter().map(name).collect()).collect();
        let pad = "  ".repeat(depth);
        out += &format!("{pad}{results:?} = {:?} {operands:?} {args:?}\n", op.kind);
    });
    out
}
