//! DPS text that assemblers take: a module with a function, and transfers of partitions instead of whole views.

use super::{Convert, converted};
use crate::Parsed;
use crate::migrate::without_memrefs;
use crate::print::print_with;
use rustc_hash::FxHashMap;
use tessera_ir::scalar::Constants;
use tessera_ir::{
    Arg, BlockId, Def, Dialect, Op, OpId, OpKind, Operand, ScalarType, Sign, TextForm, Type, ValueId, ViewType,
};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::{Family, Form, Opcode, Role, Text};
use tessera_isa::profile::Profile;

/// The name of the function that a listing becomes.
const KERNEL: &str = "kernel";

/// The DPS text of a program in a module. A listing becomes its only function, with its inputs and the tiles that it only
/// writes as arguments; a view that is loaded or stored as a whole becomes a partition.
///
/// ```
/// let parsed = tessera_asm::parse("%d = tmov %s : !pto.tile<16x8xf32> -> !pto.tile<16x8xf32>  // copy", None);
/// let text = tessera_asm::convert_for_assembler(&parsed, None).unwrap();
/// assert!(text.contains("func.func @kernel(%s: !pto.tile_buf<vec, 16x8xf32>)"));
/// ```
///
/// The error is that of a program whose text has errors, which has no other form.
pub fn convert_for_assembler(parsed: &Parsed, dialect: Option<Dialect>) -> Result<String, Box<Diagnostic>> {
    if let Some(first) = parsed.diagnostics.iter().find(|d| d.is_error()) {
        let what = format!("the program has errors, the first of them: {}", first.message);
        let found = Diagnostic::error(first.rule, what).at(first.span.unwrap_or_default(), "here");
        return Err(Box::new(found.help("correct them before the program is converted")));
    }
    let mut module = converted(parsed, TextForm::Dps);
    let mut trivia = parsed.trivia.clone();
    for func in std::mem::take(&mut module.funcs) {
        let mut convert = Convert::new(&mut module, func, TextForm::Dps);
        convert.partition_views();
        convert.place_at_allocation();
        let mut func = convert.finish();
        without_memrefs(&module, &mut func);
        module.funcs.push(func);
    }
    if module.is_listing {
        (module.is_listing, module.has_wrapper) = (false, true);
        let start = |func: &tessera_ir::Func| func.block(func.body).ops.first().map(|op| func.op(*op).span.start);
        let start = module.funcs.first().and_then(start).unwrap_or(0);
        trivia.wrapper = Some((start, u32::MAX));
        trivia.block_ends.iter_mut().filter_map(|ends| ends.first_mut()).for_each(|end| *end = u32::MAX);
        if let Some(profile) = module.profile.filter(|profile| module.target.is_none() && *profile != Profile::Cpu) {
            module.target = Some((profile, Default::default()));
        }
        let name = module.names.intern(KERNEL);
        for func in &mut module.funcs {
            (func.name, func.is_entry) = (name, true);
            (func.span.start, func.span.end) = (start, start);
            for n in 0..func.args.len() {
                let value = func.args[n];
                func.value_mut(value).def = Def::Arg(n as u32);
            }
            let end = func.ops.last().map_or(func.span, |op| op.span);
            func.push_op(func.body, Op::new(OpKind::Return, TextForm::Ssa, end));
        }
    }
    Ok(print_with(&module, &trivia, dialect))
}

impl Convert<'_> {
    /// A listing's `tassign` may name a tile before it is made: the allocation gets the address.
    fn place_at_allocation(&mut self) {
        let ids: Vec<_> = self.all_ops();
        for (_, id) in ids {
            let op = self.func.op(id);
            let is_assign = op.opcode().is_some_and(|o| o.info().text == Text::Assign) && op.results.is_empty();
            let tile = op.operand(Role::Tile).and_then(|o| o.arg.value()).filter(|_| is_assign);
            let (Some(tile), Some(Arg::Int(n))) = (tile, op.operand(Role::Addr).map(|o| o.arg)) else { continue };
            let Def::Result(made, _) = self.func.value(tile).def else { continue };
            let alloc = self.func.op(made);
            if alloc.opcode() != Some(Opcode::AllocTile) || alloc.operand(Role::Addr).is_some() {
                continue;
            }
            let span = alloc.span;
            let ty = self.module.types.intern(Type::Scalar(ScalarType::Int(64, Sign::None)));
            let name = self.fresh(&format!("addr_{n:x}"));
            let mut constant = Op::new(OpKind::Constant(Number::Int(n.into())), TextForm::Ssa, span);
            let value = self.new_value(name, ty, Def::Result(OpId(self.func.ops.len() as u32), 0), span);
            constant.results.push(value);
            let constant = self.func.add_op(constant);
            self.before.entry(made).or_default().push(constant);
            let operand = Operand { role: Role::Addr, arg: Arg::Value(value), span, type_span: span };
            self.func.op_mut(made).operands.insert(0, operand);
            self.gone.insert(id);
        }
    }

    /// A zero that the function's block has before this place.
    fn known_zero(&self, known: &Constants, at: Span) -> Option<ValueId> {
        let index = Type::Scalar(ScalarType::Index);
        let made = |id: &OpId| {
            let op = self.func.op(*id);
            let value = op.results.first().copied().filter(|_| matches!(op.kind, OpKind::Constant(_)))?;
            let is_zero = known.get(Arg::Value(value)) == Some(0) && op.span.start < at.start;
            (is_zero && *self.module.types.get(self.func.value(value).ty) == index).then_some(value)
        };
        self.func.block(self.func.body).ops.iter().find_map(made)
    }

    /// Transfers of a view take a partition of all of it.
    fn partition_views(&mut self) {
        let known = Constants::new(self.module, &self.func);
        let makers: FxHashMap<ValueId, OpId> = (0..self.func.ops.len() as u32)
            .map(OpId)
            .filter(|id| self.func.op(*id).opcode() == Some(Opcode::MakeTensorView))
            .filter_map(|id| Some((*self.func.op(id).results.first()?, id)))
            .collect();
        // One partition for all transfers of a block.
        let mut made_in: FxHashMap<(BlockId, ValueId), ValueId> = FxHashMap::default();
        for (block, id) in self.all_ops() {
            let op = self.func.op(id);
            let Some(info) = op.opcode().map(Opcode::info) else { continue };
            let is_transfer =
                info.text == Text::Forms && info.family == Family::Memory && op.operand(Role::Idx).is_none();
            let place = op.operands.iter().position(|o| o.role == Role::Global).filter(|_| is_transfer);
            let Some((place, view)) = place.and_then(|n| Some((n, op.operands[n].arg.value()?))) else { continue };
            let Type::View(ty) = self.module.types.get(self.func.value(view).ty) else { continue };
            let (Some(maker), false) = (makers.get(&view), ty.partition) else { continue };
            if let Some(made) = made_in.get(&(block, view)) {
                self.func.op_mut(id).operands[place].arg = Arg::Value(*made);
                continue;
            }
            let numbers: Vec<Operand> =
                self.func.op(*maker).operands.iter().filter(|o| o.role == Role::Number).copied().collect();
            let sizes: Vec<Operand> = numbers.iter().take(ty.dims.len()).copied().collect();
            let extent =
                |(dim, size): (&Option<u64>, &Operand)| dim.or_else(|| u64::try_from(known.get(size.arg)?).ok());
            let dims = ty.dims.iter().zip(&sizes).map(extent).collect();
            let ty = ViewType { partition: true, dims, elem: ty.elem };
            let (span, rank) = (op.span, sizes.len());
            let zero = self.known_zero(&known, span).unwrap_or_else(|| self.constant(block, id, 0));
            let operand = |role, arg| Operand { role, arg, span, type_span: span };
            let mut window = Op::new(OpKind::Pto(Opcode::PartitionView, Form::Plain), TextForm::Ssa, span);
            window.operands.push(operand(Role::Global, Arg::Value(view)));
            window.operands.extend((0..rank).map(|_| operand(Role::Number, Arg::Value(zero))));
            window.operands.extend(sizes);
            let base = self.module.names.text(self.func.value(view).name).to_string();
            let name = self.fresh(&format!("{base}_all"));
            let ty = self.module.types.intern(Type::View(ty));
            let made = self.new_value(name, ty, Def::Result(OpId(self.func.ops.len() as u32), 0), span);
            window.results.push(made);
            made_in.insert((block, view), made);
            let window = self.func.add_op(window);
            self.before.entry(id).or_default().push(window);
            self.func.op_mut(id).operands[place].arg = Arg::Value(made);
        }
    }
}
