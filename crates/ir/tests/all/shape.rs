//! The program's own shape: what control flow hands on, what is known without running, what the verifier refuses, and
//! where inlining stops.

#![allow(clippy::unwrap_used, reason = "a test")]

use tessera_ir::edges::{Control, When};
use tessera_ir::inline::inline;
use tessera_ir::scalar::{self, Constants, Undefined};
use tessera_ir::{
    Arg, ArithOp, BlockId, CastOp, CmpPred, Def, Func, Module, Op, OpId, OpKind, Operand, ScalarType, Sign, TextForm,
    Type, TypeId, Value, ValueId, verify,
};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Form, Opcode, Role};

/// A function under construction; every operation has a place of its own.
struct Build {
    module: Module,
    func: Func,
    index: TypeId,
    flag: TypeId,
    pointer: TypeId,
}

impl Build {
    fn new() -> Self {
        let mut module = Module::default();
        let name = module.names.intern("k");
        let mut ty = |t| module.types.intern(t);
        let index = ty(Type::Scalar(ScalarType::Index));
        let flag = ty(Type::Scalar(ScalarType::Int(1, Sign::None)));
        let pointer = ty(Type::Ptr(Elem::F32, None));
        Build { func: Func::new(name, Span::new(0, 1)), module, index, flag, pointer }
    }

    fn value(&mut self, ty: TypeId, def: Def) -> ValueId {
        let n = self.func.values.len() as u32;
        let name = self.module.names.intern(&format!("v{n}"));
        let span = Span::new(n, n + 1);
        self.func.add_value(Value { name, ty, def, span, type_span: span })
    }

    fn arg(&mut self, ty: TypeId) -> ValueId {
        let n = self.func.args.len() as u32;
        let v = self.value(ty, Def::Arg(n));
        self.func.args.push(v);
        v
    }

    fn block_arg(&mut self, block: BlockId, ty: TypeId) -> ValueId {
        let n = self.func.block(block).args.len() as u32;
        let v = self.value(ty, Def::BlockArg(block, n));
        self.func.blocks[block.index()].args.push(v);
        v
    }

    fn op(&mut self, at: BlockId, kind: OpKind, operands: &[Arg], results: &[TypeId]) -> OpId {
        let n = 100 + self.func.ops.len() as u32;
        let span = Span::new(n, n + 1);
        let mut op = Op::new(kind, TextForm::Ssa, span);
        op.operands =
            operands.iter().map(|arg| Operand { role: Role::Number, arg: *arg, span, type_span: span }).collect();
        let id = self.func.push_op(at, op);
        for (k, ty) in results.iter().enumerate() {
            let v = self.value(*ty, Def::Result(id, k as u32));
            self.func.ops[id.index()].results.push(v);
        }
        id
    }

    fn results(&self, op: OpId) -> &[ValueId] {
        &self.func.op(op).results
    }

    /// `scf.for` that carries two pointers and exchanges them.
    fn swapping(&mut self) -> (OpId, BlockId, [ValueId; 2]) {
        let (p, q) = (self.arg(self.pointer), self.arg(self.pointer));
        let operands = [Arg::Int(0), Arg::Int(4), Arg::Int(1), Arg::Value(p), Arg::Value(q)];
        let id = self.op(BlockId(0), OpKind::For, &operands, &[self.pointer, self.pointer]);
        let body = self.func.add_block();
        self.func.ops[id.index()].blocks.push(body);
        self.block_arg(body, self.index);
        let carried = [self.block_arg(body, self.pointer), self.block_arg(body, self.pointer)];
        self.op(body, OpKind::Yield, &[Arg::Value(carried[1]), Arg::Value(carried[0])], &[]);
        (id, body, carried)
    }

    /// The messages of the verifier; all of them are internal and have a place.
    fn wrong(&self) -> Vec<String> {
        let found = verify(&self.module, &self.func);
        assert!(found.iter().all(|d| d.rule == "internal" && d.span.is_some()), "{found:?}");
        found.into_iter().map(|d| d.message).collect()
    }
}

/// Each receiving value at these moments, with the argument that it takes.
fn pairs(func: &Func, op: OpId, when: When) -> Vec<(ValueId, Arg)> {
    let edges = Control::of(func, func.op(op)).unwrap().edges();
    edges.iter().filter(|e| e.when == when).flat_map(|e| e.pairs()).collect()
}

#[test]
fn a_for_hands_on_all_but_its_bounds() {
    let mut b = Build::new();
    let (id, _, carried) = b.swapping();
    let (args, results) = (b.func.args.clone(), b.results(id).to_vec());
    let to = |a: [ValueId; 2], from: [ValueId; 2]| vec![(a[0], Arg::Value(from[0])), (a[1], Arg::Value(from[1]))];
    assert_eq!(pairs(&b.func, id, When::Enter), to(carried, [args[0], args[1]]));
    assert_eq!(pairs(&b.func, id, When::Again), to(carried, [carried[1], carried[0]]));
    assert_eq!(pairs(&b.func, id, When::Leave), to([results[0], results[1]], carried));
    assert!(pairs(&b.func, id, When::Proceed).is_empty());
    assert_eq!(b.wrong(), [""; 0]);
}

#[test]
fn a_while_hands_on_all_but_its_condition() {
    let mut b = Build::new();
    let (flag, p) = (b.arg(b.flag), b.arg(b.pointer));
    let id = b.op(BlockId(0), OpKind::While, &[Arg::Value(p)], &[b.pointer]);
    let [before, after] = [b.func.add_block(), b.func.add_block()];
    b.func.ops[id.index()].blocks.extend([before, after]);
    let carried = b.block_arg(before, b.pointer);
    let taken = b.block_arg(after, b.pointer);
    b.op(before, OpKind::Condition, &[Arg::Value(flag), Arg::Value(carried)], &[]);
    b.op(after, OpKind::Yield, &[Arg::Value(taken)], &[]);
    let result = b.results(id)[0];
    assert_eq!(pairs(&b.func, id, When::Enter), [(carried, Arg::Value(p))]);
    assert_eq!(pairs(&b.func, id, When::Proceed), [(taken, Arg::Value(carried))]);
    assert_eq!(pairs(&b.func, id, When::Leave), [(result, Arg::Value(carried))]);
    assert_eq!(pairs(&b.func, id, When::Again), [(carried, Arg::Value(taken))]);
    assert_eq!(b.wrong(), [""; 0]);
    // Without the operation that decides, there is nothing to read.
    b.func.blocks[before.index()].ops.clear();
    assert_eq!(Control::of(&b.func, b.func.op(id)).unwrap_err().rule, "internal");
    assert_eq!(b.wrong(), ["an operation of control flow lacks one of its parts"]);
}

#[test]
fn a_branch_and_a_choice_hand_on_either_value() {
    let mut b = Build::new();
    let (flag, p, q) = (b.arg(b.flag), b.arg(b.pointer), b.arg(b.pointer));
    let id = b.op(BlockId(0), OpKind::If, &[Arg::Value(flag)], &[b.pointer]);
    for value in [p, q] {
        let block = b.func.add_block();
        b.func.ops[id.index()].blocks.push(block);
        b.op(block, OpKind::Yield, &[Arg::Value(value)], &[]);
    }
    let select = b.op(BlockId(0), OpKind::Select, &[Arg::Value(flag), Arg::Value(p), Arg::Value(q)], &[b.pointer]);
    for op in [id, select] {
        let result = b.results(op)[0];
        assert_eq!(pairs(&b.func, op, When::Leave), [(result, Arg::Value(p)), (result, Arg::Value(q))]);
    }
    assert_eq!(b.wrong(), [""; 0]);
}

#[test]
fn every_width_wraps_like_its_type() {
    let mut values = vec![0i64, 1, -1, 5, -7, 127, -128, 128, 32767, -32768, i64::MAX, i64::MIN];
    values.extend((0..64).map(|k| 1i64 << k));
    for &a in &values {
        for &b in &values {
            let (x, y) = (scalar::wrap(a, 8) as i8, scalar::wrap(b, 8) as i8);
            let (p, q) = (i64::from(x), i64::from(y));
            let of = |op| scalar::arith(op, 8, p, q).ok();
            assert_eq!(of(ArithOp::Addi), Some(i64::from(x.wrapping_add(y))));
            assert_eq!(of(ArithOp::Muli), Some(i64::from(x.wrapping_mul(y))));
            assert_eq!(of(ArithOp::Divsi), x.checked_div(y).map(i64::from));
            assert_eq!(of(ArithOp::Remsi), (y != 0).then(|| i64::from(x.wrapping_rem(y))));
            assert_eq!(of(ArithOp::Divui), (x as u8).checked_div(y as u8).map(|v| i64::from(v as i8)));
            assert_eq!(of(ArithOp::Remui), (x as u8).checked_rem(y as u8).map(|v| i64::from(v as i8)));
            assert_eq!(of(ArithOp::Maxui), Some(i64::from((x as u8).max(y as u8) as i8)));
            let shift = u32::from(y as u8);
            assert_eq!(of(ArithOp::Shli), x.checked_shl(shift).map(i64::from));
            assert_eq!(of(ArithOp::Shrsi), x.checked_shr(shift).map(i64::from));
            assert_eq!(of(ArithOp::Shrui), (x as u8).checked_shr(shift).map(|v| i64::from(v as i8)));
            assert_eq!(scalar::compare(CmpPred::Ult, 8, p, q), (x as u8) < (y as u8));
            assert_eq!(scalar::compare(CmpPred::Slt, 8, p, q), x < y);
            assert_eq!(scalar::arith(ArithOp::Divsi, 64, a, b).ok(), a.checked_div(b));
            assert_eq!(scalar::arith(ArithOp::Subi, 64, a, b), Ok(a.wrapping_sub(b)));
        }
    }
    assert_eq!(scalar::cast(CastOp::Extui, 1, 32, -1), 1);
    assert_eq!(scalar::cast(CastOp::Extsi, 1, 32, -1), -1);
    assert_eq!(scalar::cast(CastOp::Trunci, 32, 8, 200), -56);
    assert_eq!(scalar::cast(CastOp::IndexCastui, 32, 64, -1), 0xFFFF_FFFF);
}

#[test]
fn what_has_no_value_says_why() {
    assert_eq!(scalar::arith(ArithOp::Remui, 32, 7, 0), Err(Undefined::DividedByZero(7)));
    assert_eq!(scalar::arith(ArithOp::Divsi, 8, -128, -1), Err(Undefined::QuotientOverflow(-128, 8)));
    assert_eq!(scalar::arith(ArithOp::Shli, 8, 1, 8), Err(Undefined::Shift(8, 8)));
    assert_eq!(Undefined::Shift(8, 9).to_string(), "a value of 8 bits is shifted by 9");
}

#[test]
fn constants_are_computed_where_they_have_a_value() {
    let mut b = Build::new();
    let unknown = b.arg(b.index);
    let body = BlockId(0);
    let constant = |b: &mut Build, v| {
        let id = b.op(body, OpKind::Constant(Number::Int(v)), &[], &[b.index]);
        Arg::Value(b.results(id)[0])
    };
    let (six, zero) = (constant(&mut b, 6), constant(&mut b, 0));
    let mut of = |kind: OpKind, x, y| {
        let ty = if matches!(kind, OpKind::Cmp(_)) { b.flag } else { b.index };
        let id = b.op(body, kind, &[x, y], &[ty]);
        Arg::Value(b.results(id)[0])
    };
    let asked = [
        (of(OpKind::Arith(ArithOp::Muli), six, Arg::Int(7)), Some(42)),
        (of(OpKind::Arith(ArithOp::Divsi), six, zero), None),
        (of(OpKind::Cmp(CmpPred::Sgt), six, zero), Some(-1)),
        (of(OpKind::Arith(ArithOp::Addi), six, Arg::Value(unknown)), None),
    ];
    let known = Constants::new(&b.module, &b.func);
    for (arg, value) in asked {
        assert_eq!(known.get(arg), value);
    }
    assert_eq!(b.wrong(), [""; 0]);
}

#[test]
fn malformed_operations_are_internal_errors_with_a_place() {
    // Too few operands, a type that does not fit, a result that says it is another's.
    let mut b = Build::new();
    b.op(BlockId(0), OpKind::Arith(ArithOp::Addi), &[Arg::Int(1)], &[b.index]);
    assert_eq!(verify(&b.module, &b.func)[0].span, Some(Span::new(100, 101)));
    let mut b = Build::new();
    let p = b.arg(b.pointer);
    b.op(BlockId(0), OpKind::Arith(ArithOp::Addi), &[Arg::Value(p), Arg::Int(1)], &[b.index]);
    assert_eq!(b.wrong().len(), 1);
    let mut b = Build::new();
    let id = b.op(BlockId(0), OpKind::Constant(Number::Int(1)), &[], &[b.index]);
    let result = b.results(id)[0];
    b.func.values[result.index()].def = Def::Result(OpId(7), 0);
    assert!(b.wrong()[0].starts_with("%v0 is Result(OpId(0), 0) and says"));
    // An instruction without its source, and one whose source is a pointer.
    let mut b = Build::new();
    b.op(BlockId(0), OpKind::Pto(Opcode::Tmov, Form::Plain), &[], &[b.index]);
    assert_eq!(b.wrong(), ["tmov lacks its operand src"]);
    let mut b = Build::new();
    let p = b.arg(b.pointer);
    let id = b.op(BlockId(0), OpKind::Pto(Opcode::Tmov, Form::Plain), &[Arg::Value(p)], &[b.index]);
    b.func.ops[id.index()].operands[0].role = Role::Src;
    assert_eq!(b.wrong(), ["the operand src of tmov has another type"]);
}

#[test]
fn malformed_regions_are_internal_errors() {
    // A loop that yields one value too few, a pointer for a number, a block of two operations, an early end.
    let break_it = |with: &dyn Fn(&mut Build, OpId, BlockId)| {
        let mut b = Build::new();
        let (id, body, _) = b.swapping();
        with(&mut b, id, body);
        b.wrong()
    };
    let fewer = break_it(&|b, _, body| {
        let end = b.func.end(body).unwrap();
        b.func.ops[end.index()].operands.pop();
    });
    assert_eq!(fewer, ["1 values are handed to 2"]);
    let other = break_it(&|b, _, body| {
        let end = b.func.end(body).unwrap();
        b.func.ops[end.index()].operands[0].arg = Arg::Int(3);
    });
    assert!(other[0].ends_with("is handed a value of another type"), "{other:?}");
    let bound = break_it(&|b, id, _| b.func.ops[id.index()].operands[1].arg = Arg::Value(ValueId(0)));
    assert_eq!(bound, ["what decides about control flow is no integer of the right type"]);
    let shared = break_it(&|b, id, body| b.func.ops[id.index()].blocks.push(body));
    assert_eq!(shared, ["BlockId(1) belongs to two operations"]);
    let cyclic = break_it(&|b, id, body| b.func.blocks[body.index()].ops.insert(0, id));
    assert_eq!(cyclic, ["the operation stands in two places"]);
    let early = break_it(&|b, _, body| {
        b.op(body, OpKind::Constant(Number::Int(1)), &[], &[b.index]);
    });
    assert_eq!(early[0], "the operation ends a block that it does not end");
}

#[test]
fn uses_stand_after_definitions_and_inside_regions() {
    let mut b = Build::new();
    let (_, _, carried) = b.swapping();
    b.op(BlockId(0), OpKind::Return, &[Arg::Value(carried[0])], &[]);
    assert_eq!(b.wrong(), [format!("%v{} is used where it is not defined", carried[0].0)]);
    let mut b = Build::new();
    b.op(BlockId(0), OpKind::Return, &[Arg::Value(ValueId(9))], &[]);
    assert_eq!(b.wrong(), ["ValueId(9) is no value of the function"]);
    let mut b = Build::new();
    b.func.body = BlockId(3);
    assert_eq!(b.wrong(), ["BlockId(3) is no block of the function"]);
    let mut b = Build::new();
    b.arg(TypeId(40));
    assert_eq!(b.wrong(), ["a value has a type or a name that the module does not have"]);
}

/// A module of functions that each call the next one `times`; the last one does nothing.
fn chain(depth: usize, times: usize) -> Module {
    let mut b = Build::new();
    let mut funcs = Vec::new();
    for n in 0..=depth {
        let name = b.module.names.intern(&format!("f{n}"));
        b.func = Func::new(name, Span::new(n as u32, n as u32 + 1));
        let next = b.module.names.intern(&format!("f{}", n + 1));
        for _ in 0..if n < depth { times } else { 0 } {
            b.op(BlockId(0), OpKind::Call(next), &[], &[]);
        }
        b.op(BlockId(0), OpKind::Return, &[], &[]);
        funcs.push(b.func.clone());
    }
    b.module.funcs = funcs;
    b.module
}

#[test]
fn a_call_is_replaced_by_the_callee() {
    // @k(%a) calls @pick(%a), which returns its argument.
    let mut b = Build::new();
    let pick = b.module.names.intern("pick");
    let a = b.arg(b.pointer);
    let call = b.op(BlockId(0), OpKind::Call(pick), &[Arg::Value(a)], &[b.pointer]);
    let taken = b.results(call)[0];
    b.op(BlockId(0), OpKind::Return, &[Arg::Value(taken)], &[]);
    let caller = b.func.clone();
    b.func = Func::new(pick, Span::default());
    let x = b.arg(b.pointer);
    b.op(BlockId(0), OpKind::Return, &[Arg::Value(x)], &[]);
    b.module.funcs = vec![caller, b.func.clone()];
    let inlined = inline(&b.module, &b.module.funcs[0]).unwrap();
    assert_eq!(verify(&b.module, &inlined), []);
    let ops: Vec<&Op> = inlined.block(inlined.body).ops.iter().map(|id| inlined.op(*id)).collect();
    assert_eq!(ops.len(), 1);
    assert_eq!(ops[0].operands[0].arg, Arg::Value(inlined.args[0]));
    // One argument too many, and a function that does not exist.
    b.module.funcs[1].args.clear();
    assert_eq!(inline(&b.module, &b.module.funcs[0]).unwrap_err().message, "@pick takes 0 arguments and is given 1");
    b.module.funcs.pop();
    assert_eq!(inline(&b.module, &b.module.funcs[0]).unwrap_err().rule, "call");
}

#[test]
fn inlining_stops_at_its_limits() {
    let inlined = |depth, times| {
        let module = chain(depth, times);
        inline(&module, &module.funcs[0]).map(|f| f.block(f.body).ops.len()).map_err(|d| (d.rule, d.message))
    };
    assert_eq!(inlined(255, 1), Ok(1));
    let (rule, message) = inlined(256, 1).unwrap_err();
    assert_eq!((rule, message.as_str()), ("call", "@f256 is called 256 calls deep, which is the limit"));
    let (rule, message) = inlined(22, 2).unwrap_err();
    assert_eq!(rule, "syntax-limit");
    assert!(message.contains("unfold to more than 4000000"), "{message}");
    // A circle of calls.
    let mut module = chain(2, 1);
    module.funcs[2].ops[0].kind = OpKind::Call(module.funcs[0].name);
    module.funcs[2].ops[0].operands.clear();
    assert_eq!(inline(&module, &module.funcs[0]).unwrap_err().message, "@f0 calls itself, and a kernel cannot recurse");
}
