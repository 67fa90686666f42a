//! Inlining: a program without calls, for the stages that require one straight line of control flow.

use crate::{Arg, BlockId, Core, Def, Func, Module, NameId, Op, OpId, OpKind, TextForm, Value, ValueId};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::DECLARED;

/// More operations and calls than this are refused: a short text can call its way to any size.
const MAX_STEPS: usize = 4_000_000;

/// Calls nest at most this deep, so that unfolding them keeps its stack.
const MAX_DEPTH: usize = 256;

/// The entry function with every call replaced by the callee's body; the function itself if it calls nothing.
///
/// Values keep their names and spans. A `return` inside an inlined body disappears; its operands take the place of the
/// call's results. Where functions of both kinds of core are reached, a call of a function of one kind becomes a section
/// (isa/structure.md 4).
pub fn inline<'a>(module: &'a Module, entry: &'a Func) -> Result<Cow<'a, Func>, Box<Diagnostic>> {
    if entry.callees().is_empty() {
        return Ok(Cow::Borrowed(entry));
    }
    let kinds = kinds(module, entry);
    let mut inliner = Inliner::new(module, entry, kinds == [true, true]);
    let mut map = FxHashMap::default();
    for arg in &entry.args {
        inliner.argument(entry, *arg, &mut map);
    }
    let body = inliner.out.body;
    inliner.block(entry, entry.body, body, &mut map, false)?;
    inliner.out.outputs = entry.outputs.iter().map(|v| mapped(&map, *v, entry.span)).collect::<Res<_>>()?;
    inliner.out.core = match kinds {
        [true, false] => Some(Core::Cube),
        [false, true] => Some(Core::Vector),
        _ => None,
    };
    Ok(Cow::Owned(inliner.out))
}

/// Several functions of different kinds as one kernel: each is a section, and arguments of one name are one argument
/// (isa/structure.md 3).
pub fn join(module: &Module, entries: &[&Func]) -> Result<Func, Box<Diagnostic>> {
    let Some(first) = entries.first() else {
        return Err(Diagnostic::internal(Span::default(), "a kernel of no functions"));
    };
    for (n, entry) in entries.iter().enumerate() {
        let name = module.names.text(entry.name);
        let refuse = |what: String, help: &str| {
            Err(Box::new(Diagnostic::error("entry", what).at(entry.span, "this function").help(help)))
        };
        let Some(core) = entry.core else {
            let what = format!("@{name} is to run together with others, and is for no kind of core");
            return refuse(what, "mark it with pto.kernel_kind, or run it alone");
        };
        if let Some(other) = entries.iter().take(n).find(|other| other.core == Some(core)) {
            let what = format!("@{name} and @{} are both for the {core} core", module.names.text(other.name));
            return refuse(what, "name one function of each kind");
        }
    }
    let mut inliner = Inliner::new(module, first, true);
    inliner.out.core = None;
    let mut args: FxHashMap<NameId, ValueId> = FxHashMap::default();
    for entry in entries {
        let mut map = FxHashMap::default();
        for arg in &entry.args {
            let value = entry.value(*arg);
            match args.get(&value.name).copied() {
                Some(known) if inliner.out.value(known).ty == value.ty => {
                    map.insert(*arg, known);
                }
                Some(known) => {
                    let name = module.names.text(value.name);
                    let what = format!("%{name} is one argument of the kernel, and has two types");
                    let other = inliner.out.value(known).span;
                    let error = Diagnostic::error("entry", what).at(value.span, "here").and_at(other, "and here");
                    return Err(Box::new(error.help("give one of them another name")));
                }
                None => {
                    args.insert(value.name, inliner.argument(entry, *arg, &mut map));
                }
            }
        }
        inliner.stack = vec![entry.name];
        let body = inliner.out.body;
        let to = entry.core.map_or(body, |core| inliner.section(core, body, entry.span));
        inliner.core = entry.core;
        inliner.block(entry, entry.body, to, &mut map, true)?;
        inliner.core = None;
    }
    let end = Op::new(OpKind::Return, TextForm::Ssa, first.span);
    let body = inliner.out.body;
    inliner.push(body, first.name, end);
    Ok(inliner.out)
}

/// Whether the function reaches code for cube cores, and whether it reaches code for vector cores.
fn kinds(module: &Module, entry: &Func) -> [bool; 2] {
    let reached = module.called(entry);
    Core::ALL
        .iter()
        .copied()
        .map(|core| {
            let has_section = |f: &&Func| f.ops.iter().any(|op| op.section_core() == Some(core));
            reached.iter().any(|f| f.core == Some(core) || has_section(f))
        })
        .collect::<Vec<_>>()
        .try_into()
        .unwrap_or_default()
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
    /// Whether calls of functions of one kind become sections.
    wraps: bool,
    /// The kind of core whose code is copied.
    core: Option<Core>,
}

impl<'a> Inliner<'a> {
    fn new(module: &'a Module, entry: &Func, wraps: bool) -> Self {
        let mut out =
            Func { name: entry.name, span: entry.span, loc: entry.loc, is_entry: entry.is_entry, ..Func::default() };
        (out.attrs, out.core) = (entry.attrs.clone(), entry.core);
        out.body = out.add_block();
        Inliner { module, out, stack: vec![entry.name], steps: 0, wraps, core: entry.core }
    }

    fn argument(&mut self, entry: &Func, arg: ValueId, map: &mut ValueMap) -> ValueId {
        let n = self.out.args.len() as u32;
        let def = match entry.value(arg).def {
            Def::Arg(_) => Def::Arg(n),
            other => other,
        };
        let id = self.out.add_value(Value { def, ..entry.value(arg).clone() });
        self.out.arg_locs.extend(entry.arg_loc(arg).map(|loc| (id, loc)));
        self.out.args.push(id);
        map.insert(arg, id);
        id
    }

    fn push(&mut self, to: BlockId, home: NameId, op: Op) -> OpId {
        self.out.homes.push(home);
        self.out.push_op(to, op)
    }

    /// A new section; gives the block of its body.
    fn section(&mut self, core: Core, to: BlockId, span: Span) -> BlockId {
        let (body, empty) = (self.out.add_block(), self.out.add_block());
        let home = self.stack.last().copied().unwrap_or(self.out.name);
        self.push(to, home, Op::section_of(core, body, empty, span));
        body
    }

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
            self.out.arg_locs.extend(func.arg_loc(*arg).map(|loc| (id, loc)));
            map.insert(*arg, id);
            self.out.block_mut(to).args.push(id);
        }
        for id in &func.block(from).ops {
            let op = func.op(*id);
            match op.kind {
                OpKind::Call(name) if self.is_declared(name) => {
                    let outside = Op { kind: OpKind::Other(DECLARED), ..op.clone() };
                    self.copy(func, &outside, to, map, inlined)?;
                }
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
        let id = self.push(to, func.name, Op::new(OpKind::Return, op.form, op.span));
        for (n, result) in new.results.iter_mut().enumerate() {
            let v = self.out.add_value(Value { def: Def::Result(id, n as u32), ..func.value(*result).clone() });
            map.insert(*result, v);
            *result = v;
        }
        let outside = self.core;
        self.core = outside.or(op.section_core());
        for block in &mut new.blocks {
            let b = self.out.add_block();
            self.block(func, *block, b, map, inlined)?;
            *block = b;
        }
        self.core = outside;
        *self.out.op_mut(id) = new;
        Ok(())
    }

    /// Whether the function has no body.
    fn is_declared(&self, name: NameId) -> bool {
        self.module.funcs.iter().any(|f| f.name == name && f.is_declaration)
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
        let outside = self.core;
        let to = match callee.core {
            Some(core) if outside == Some(core.other()) => {
                let what = format!("@{text} runs on {core} cores, and is called by code for {} cores", core.other());
                let error = Diagnostic::error("section-kind", what).at(op.span, "called here");
                return Err(Box::new(error.and_at(callee.span, "marked here").help("call it outside of the section")));
            }
            Some(core) if self.wraps && outside.is_none() && !op.results.is_empty() => {
                return refuse(format!("@{text} runs on {core} cores only, and the others lack what it returns"));
            }
            Some(core) if self.wraps && outside.is_none() => self.section(core, to, op.span),
            _ => to,
        };
        let mut inner: ValueMap = callee.args.iter().copied().zip(args).collect();
        self.stack.push(name);
        self.core = outside.or(callee.core);
        let returned = self.block(callee, callee.body, to, &mut inner, true)?;
        self.core = outside;
        self.stack.pop();
        if returned.len() != op.results.len() {
            return refuse(format!("@{text} returns {} values, and {} are wanted", returned.len(), op.results.len()));
        }
        map.extend(op.results.iter().copied().zip(returned));
        Ok(())
    }
}
