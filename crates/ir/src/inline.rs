//! Inlining: a program without calls, for the stages that want one straight line of control flow.

use crate::{Arg, BlockId, Def, Func, Module, NameId, Op, OpKind, Value, ValueId};
use rustc_hash::FxHashMap;
use tessera_isa::diag::{Diagnostic, Span};

/// More operations and calls than this are refused: a short text can call its way to any size.
const MAX_STEPS: usize = 4_000_000;

/// Calls nest at most this deep, so that unfolding them keeps its stack.
const MAX_DEPTH: usize = 256;

/// The entry function with every call replaced by the callee's body.
///
/// Values keep their names and spans. A `return` inside an inlined body disappears; its operands take the place of the
/// call's results.
pub fn inline(module: &Module, entry: &Func) -> Result<Func, Box<Diagnostic>> {
    if entry.callees().is_empty() {
        return Ok(entry.clone());
    }
    let mut out = Func { values: Vec::new(), ops: Vec::new(), blocks: Vec::new(), ..entry.clone() };
    let body = out.add_block();
    out.body = body;
    let mut inliner = Inliner { module, out, stack: vec![entry.name], steps: 0 };
    let mut map = FxHashMap::default();
    for (i, arg) in entry.args.iter().enumerate() {
        let value = Value { def: Def::Arg(i as u32), ..entry.value(*arg).clone() };
        inliner.out.args[i] = inliner.out.add_value(value);
        map.insert(*arg, inliner.out.args[i]);
    }
    inliner.block(entry, entry.body, body, &mut map, false)?;
    inliner.out.outputs = entry.outputs.iter().map(|v| mapped(&map, *v, entry.span)).collect::<Res<_>>()?;
    Ok(inliner.out)
}

type ValueMap = FxHashMap<ValueId, ValueId>;
type Res<T> = Result<T, Box<Diagnostic>>;

fn mapped(map: &ValueMap, value: ValueId, span: Span) -> Res<ValueId> {
    let known = map.get(&value).copied();
    known.ok_or_else(|| Diagnostic::internal(span, "a call is inlined, and a value is used before it is defined"))
}

struct Inliner<'a> {
    module: &'a Module,
    out: Func,
    stack: Vec<NameId>,
    steps: usize,
}

impl Inliner<'_> {
    /// Copies a block; gives the operands of the `return` that ended it, if an inlined function's did.
    fn block(
        &mut self,
        func: &Func,
        from: BlockId,
        to: BlockId,
        map: &mut ValueMap,
        inlined: bool,
    ) -> Res<Vec<ValueId>> {
        for arg in &func.block(from).args {
            let mut value = func.value(*arg).clone();
            if let Def::BlockArg(_, n) = value.def {
                value.def = Def::BlockArg(to, n);
            }
            let id = self.out.add_value(value);
            map.insert(*arg, id);
            self.out.block_mut(to).args.push(id);
        }
        for id in &func.block(from).ops {
            let op = func.op(*id);
            match op.kind {
                OpKind::Call(name) => self.call(op, name, to, map)?,
                OpKind::Return if inlined => return op.values().map(|v| mapped(map, v, op.span)).collect(),
                _ => self.copy(func, op, to, map, inlined)?,
            }
            self.steps += 1;
            if self.steps > MAX_STEPS {
                let name = self.module.names.text(self.out.name);
                let what = format!("the calls of @{name} unfold to more than {MAX_STEPS} operations and calls");
                let error = Diagnostic::error("syntax-limit", what).at(op.span, "").help("call in a loop instead");
                return Err(Box::new(error));
            }
        }
        Ok(Vec::new())
    }

    fn copy(&mut self, func: &Func, op: &Op, to: BlockId, map: &mut ValueMap, inlined: bool) -> Res<()> {
        let mut new = op.clone();
        for operand in &mut new.operands {
            if let Arg::Value(v) = operand.arg {
                operand.arg = Arg::Value(mapped(map, v, op.span)?);
            }
        }
        let id = self.out.push_op(to, Op::new(OpKind::Return, op.form, op.span));
        for (n, result) in new.results.iter_mut().enumerate() {
            let v = self.out.add_value(Value { def: Def::Result(id, n as u32), ..func.value(*result).clone() });
            map.insert(*result, v);
            *result = v;
        }
        for block in &mut new.blocks {
            let b = self.out.add_block();
            self.block(func, *block, b, map, inlined)?;
            *block = b;
        }
        *self.out.op_mut(id) = new;
        Ok(())
    }

    fn call(&mut self, op: &Op, name: NameId, to: BlockId, map: &mut ValueMap) -> Res<()> {
        let text = self.module.names.text(name);
        let refuse = |what: String| Err(Box::new(Diagnostic::error("call", what).at(op.span, "called here")));
        let Some(callee) = self.module.funcs.iter().find(|f| f.name == name) else {
            return refuse(format!("@{text} is called, and the module has no such function"));
        };
        if self.stack.contains(&name) {
            let what = format!("@{text} calls itself, and a kernel cannot recurse");
            let error = Diagnostic::error("call-recursive", what).at(op.span, "called here");
            return Err(Box::new(error.help("write a loop")));
        }
        if self.stack.len() >= MAX_DEPTH {
            return refuse(format!("@{text} is called {MAX_DEPTH} calls deep, which is the limit"));
        }
        let args: Vec<ValueId> = op.values().map(|v| mapped(map, v, op.span)).collect::<Res<_>>()?;
        if args.len() != callee.args.len() {
            return refuse(format!("@{text} takes {} arguments and is given {}", callee.args.len(), args.len()));
        }
        let mut inner: ValueMap = callee.args.iter().copied().zip(args).collect();
        self.stack.push(name);
        let returned = self.block(callee, callee.body, to, &mut inner, true)?;
        self.stack.pop();
        if returned.len() != op.results.len() {
            return refuse(format!("@{text} returns {} values, and {} are wanted", returned.len(), op.results.len()));
        }
        map.extend(op.results.iter().copied().zip(returned));
        Ok(())
    }
}
