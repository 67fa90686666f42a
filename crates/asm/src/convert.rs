//! Conversion between the forms (syntax.md 5). No conversion changes what a program computes, so an instruction whose
//! other form would differ in anything stays as it is; forms may mix.
//!
//! - DPS to SSA or assembly: a tile that `alloc_tile` makes, without address or run-time extents, and that one
//!   instruction of the same block writes, becomes the result of that instruction. Where it was loaded before and the
//!   instruction does not write all of it, the loaded tile becomes `init(…)`. A tile that a listing only writes stays,
//!   because `--in` may give it contents under its name.
//! - SSA or assembly to DPS: a result becomes an allocated tile. `init(%old)` becomes `outs(%old)` where nothing else
//!   needs the old contents.

mod assembler;
mod events;
mod to_dps;
mod to_ssa;
mod writes;

pub use assembler::convert_for_assembler;

use crate::Parsed;
use crate::print::print_with;
use events::Events;
use rustc_hash::{FxHashMap, FxHashSet};
use tessera_ir::{
    Arg, BlockId, Def, Dialect, Func, Module, NameId, Op, OpId, OpKind, ScalarType, TextForm, Type, TypeId, Value,
    ValueId,
};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::ops::{Family, FormInfo, Opcode, Text};
use tessera_isa::sem::Sem;

/// The text of a program in another form; what that form cannot express stays as it is.
///
/// ```
/// use tessera_ir::TextForm;
/// let parsed = tessera_asm::parse("%d = tmov %s : !pto.tile<16x8xf32> -> !pto.tile<16x8xf32>", None);
/// let text = tessera_asm::convert(&parsed, TextForm::Dps);
/// assert!(text.contains("pto.tmov ins(%s : !pto.tile_buf<16x8xf32>) outs(%d : !pto.tile_buf<16x8xf32>)"));
/// ```
pub fn convert(parsed: &Parsed, to: TextForm) -> String {
    convert_as(parsed, to, None)
}

/// The same in a version of the text; without one in the program's own.
pub fn convert_as(parsed: &Parsed, to: TextForm, dialect: Option<Dialect>) -> String {
    print_with(&converted(parsed, to), &parsed.trivia, dialect)
}

/// The program in another form.
fn converted(parsed: &Parsed, to: TextForm) -> Module {
    let mut module = parsed.module.clone();
    for func in std::mem::take(&mut module.funcs) {
        let mut convert = Convert::new(&mut module, func, to);
        match to {
            TextForm::Dps => convert.outs_for_results(),
            TextForm::Ssa | TextForm::Asm => convert.results_for_outs(),
        }
        let func = convert.finish();
        module.funcs.push(func);
    }
    module
}

/// One function on its way to another form.
struct Convert<'a> {
    module: &'a mut Module,
    func: Func,
    events: Events,
    to: TextForm,
    used: FxHashSet<NameId>,
    /// Operations to put before another one, in order.
    before: FxHashMap<OpId, Vec<OpId>>,
    gone: FxHashSet<OpId>,
    /// Constants made for literals, per block.
    constants: FxHashMap<(BlockId, i64), ValueId>,
}

impl<'a> Convert<'a> {
    fn new(module: &'a mut Module, func: Func, to: TextForm) -> Self {
        Convert {
            module,
            events: Events::of(&func),
            to,
            used: func.values.iter().map(|v| v.name).collect(),
            func,
            before: FxHashMap::default(),
            gone: FxHashSet::default(),
            constants: FxHashMap::default(),
        }
    }

    /// Puts the new operations into their blocks.
    fn finish(mut self) -> Func {
        for block in &mut self.func.blocks {
            for id in std::mem::take(&mut block.ops) {
                block.ops.extend(self.before.remove(&id).unwrap_or_default());
                block.ops.extend(Some(id).filter(|id| !self.gone.contains(id)));
            }
        }
        self.func
    }

    /// The table's row for an instruction that can change its form.
    fn form_of(&self, op: &Op) -> Option<&'static FormInfo> {
        let OpKind::Pto(opcode, form) = op.kind else { return None };
        opcode.form(form).filter(|_| !matches!(opcode.info().family, Family::Support | Family::Memory))
    }

    /// Whether the operation moves or computes elements and makes no view of its operands.
    fn moves(&self, op: &Op) -> bool {
        let is_move = |o: Opcode| matches!(o.info().sem, Sem::Moves(_)) && o.info().text == Text::Forms;
        op.opcode().is_some_and(|o| o.info().binds.is_none() && (self.form_of(op).is_some() || is_move(o)))
    }

    fn fresh(&mut self, base: &str) -> NameId {
        let mut n = 0usize;
        let mut text = base.to_string();
        loop {
            let id = self.module.names.intern(&text);
            if self.used.insert(id) {
                return id;
            }
            text = format!("{base}_{n}");
            n += 1;
        }
    }

    fn new_value(&mut self, name: NameId, ty: TypeId, def: Def, span: Span) -> ValueId {
        self.func.add_value(Value { name, ty, def, span, type_span: span })
    }

    /// The value of a constant index, made before `op`.
    fn constant(&mut self, block: BlockId, op: OpId, n: i64) -> ValueId {
        if let Some(value) = self.constants.get(&(block, n)) {
            return *value;
        }
        let span = self.func.op(op).span;
        let ty = self.module.types.intern(Type::Scalar(ScalarType::Index));
        let base = if n < 0 { format!("cm{}", n.unsigned_abs()) } else { format!("c{n}") };
        let name = self.fresh(&base);
        let mut constant = Op::new(OpKind::Constant(Number::Int(n.into())), TextForm::Ssa, span);
        let id = OpId(self.func.ops.len() as u32);
        let value = self.new_value(name, ty, Def::Result(id, 0), span);
        constant.results.push(value);
        self.func.add_op(constant);
        self.before.entry(op).or_default().push(id);
        self.constants.insert((block, n), value);
        value
    }

    /// Replaces the literals of an instruction by constants: only the assembly form has literals.
    fn define_literals(&mut self, block: BlockId, id: OpId) {
        for i in 0..self.func.op(id).operands.len() {
            if let Arg::Int(n) = self.func.op(id).operands[i].arg {
                let value = self.constant(block, id, n);
                self.func.op_mut(id).operands[i].arg = Arg::Value(value);
            }
        }
    }

    /// An output of the listing has another name from now on.
    fn replace_output(&mut self, old: ValueId, new: ValueId) {
        for output in self.func.outputs.iter_mut().filter(|o| **o == old) {
            *output = new;
        }
    }

    /// Every operation with its block, outer before inner.
    fn all_ops(&self) -> Vec<(BlockId, OpId)> {
        let mut out = Vec::new();
        let mut todo = vec![self.func.body];
        while let Some(block) = todo.pop() {
            for id in &self.func.block(block).ops {
                out.push((block, *id));
                todo.extend(self.func.op(*id).blocks.iter().copied());
            }
        }
        out
    }
}

fn replace(op: &mut Op, old: ValueId, new: ValueId) {
    for operand in op.operands.iter_mut().filter(|o| o.arg == Arg::Value(old)) {
        operand.arg = Arg::Value(new);
    }
}
