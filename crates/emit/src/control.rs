//! Control flow: loops and branches, and what they hand on.

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::edges::{Control, For, If, Select, While};
use tessera_ir::{Arg, Op, Operand, Type, ValueId};
use tessera_isa::diag::Span;
use tessera_isa::tile::Loc;

/// A variable, the value that it stands for, and what is handed on to it.
type Handed<'n> = (&'n str, ValueId, Arg);

/// The variables with the values that they stand for, and what is handed on to them.
fn together<'n>(names: &'n [String], to: &[ValueId], from: &[Operand]) -> Vec<Handed<'n>> {
    names.iter().zip(to).zip(from).map(|((name, to), from)| (name.as_str(), *to, from.arg)).collect()
}

impl Emitter<'_> {
    pub(super) fn control(&mut self, op: &Op) -> Emitted<()> {
        match Control::of(self.func, op)? {
            Control::For(f) => self.repeat(op, f),
            Control::If(i) => self.branch(i),
            Control::While(w) => self.repeat_while(op, w),
            Control::Select(s) => self.select(s),
        }
    }

    /// The type of a variable that control flow hands a value on in: tiles go by pointer.
    fn handed_type(&self, value: ValueId) -> Emitted<String> {
        match self.ty(value) {
            Type::Scalar(ty) => words::scalar_type(*ty, self.span(value)).map(str::to_string),
            Type::Tile(_) | Type::Conv(_) => {
                Ok(format!("{} *", words::object_type(self.ty(value), self.profile, self.span(value))?))
            }
            Type::Ptr(..) => self.pointer_type(value),
            Type::View(_) | Type::Memref(_) => self.open_type(value),
            Type::Event => Ok("RecordEvent".into()),
            Type::Opaque(_) | Type::Micro(_) | Type::Multi(..) | Type::Vector(..) => {
                Err(cannot(self.span(value), "this value, which control flow hands on,", "use it in one block"))
            }
        }
    }

    /// The expression that is handed on for a value.
    fn handed(&self, to: ValueId, arg: Arg) -> Emitted<String> {
        Ok(match (arg, self.ty(to)) {
            (Arg::Value(v), Type::Tile(_) | Type::Conv(_)) => format!("&{}", self.value(v)),
            (Arg::Value(v), Type::View(_) | Type::Memref(_)) => self.open_view(to, v)?,
            _ => self.int(arg),
        })
    }

    /// A variable for a value that control flow hands on; gives its name.
    fn variable(&mut self, value: ValueId, first: Option<String>) -> Emitted<String> {
        let own = self.names.object(value).to_string();
        // A carried tile with a buffer of its own keeps its name for the buffer.
        let name = if self.owns_object(value) { self.names.fresh(&format!("{own}_now")) } else { own };
        let ty = self.handed_type(value)?;
        let space = if ty.ends_with('*') { "" } else { " " };
        let init = match (first, self.ty(value)) {
            (Some(first), _) => format!(" = {first}"),
            (None, Type::View(_) | Type::Memref(_)) => "(nullptr)".into(),
            (None, _) => "{}".into(),
        };
        // Compilers warn about a number that is only ever set.
        let unused = matches!(self.ty(value), Type::Scalar(_)) && !self.needed[value.index()];
        let mark = if unused { "[[maybe_unused]] " } else { "" };
        self.line(&format!("{mark}{ty}{space}{name}{init};"));
        if matches!(self.ty(value), Type::View(_) | Type::Memref(_)) {
            self.variable_view(value, &name)?;
        }
        let expression = if self.is_tile(value) { format!("(*{name})") } else { name.clone() };
        self.names.stands_for(value, expression);
        Ok(name)
    }

    /// Variables for values that take these.
    fn variables(&mut self, values: &[ValueId], inits: &[Operand]) -> Emitted<Vec<String>> {
        let one = |(n, value): (usize, &ValueId)| {
            let first = inits.get(n).map(|init| self.handed(*value, init.arg)).transpose()?;
            self.variable(*value, first)
        };
        values.iter().enumerate().map(one).collect()
    }

    /// Assigns what is handed on to variables, all at once.
    fn assign_all(&mut self, all: &[Handed]) -> Emitted<()> {
        let mut values: Vec<String> =
            all.iter().map(|(_, to, arg)| self.handed(*to, *arg)).collect::<Result<_, _>>()?;
        if all.len() > 1 {
            for ((name, ..), value) in all.iter().zip(&mut values) {
                let next = self.names.fresh(&format!("{name}_next"));
                self.line(&format!("const auto {next} = {value};"));
                *value = next;
            }
        }
        for ((name, ..), value) in all.iter().zip(values) {
            self.line(&format!("{name} = {value};"));
        }
        Ok(())
    }

    /// The values that a loop yields to its carried values; a carried tile may have a buffer of its own.
    fn carry(&mut self, op: &Op, carried: &[ValueId], names: &[String], from: &[Operand]) -> Emitted<()> {
        let (buffered, others): (Vec<Handed>, Vec<Handed>) =
            together(names, carried, from).into_iter().partition(|(_, to, _)| self.owns_object(*to));
        if buffered.len() > 1 {
            return Err(cannot(op.span, "a loop that exchanges several tiles", "carry one tile, or use TMOV"));
        }
        for (name, buffer, arg) in buffered {
            let (to, from) = (self.names.object(buffer).to_string(), self.int(arg));
            self.set_dynamic(buffer, &format!("{from}.GetValidRow()"), &format!("{from}.GetValidCol()"));
            self.copy(op.span, buffer, &to, &from)?;
            // The variable points at the buffer from here on; the others are handed on below.
            self.line(&format!("{name} = &{to};"));
        }
        self.assign_all(&others)
    }

    /// A tile's contents into another tile of its type.
    pub(crate) fn copy(&mut self, span: Span, value: ValueId, to: &str, from: &str) -> Emitted<()> {
        let is_vec = self.ty(value).tile().is_some_and(|t| t.loc == Loc::Vec);
        if !is_vec && self.profile.is_npu() {
            return Err(cannot(
                span,
                "a copy of a tile that a loop makes anew, outside of the vector core,",
                "allocate the tile before the loop",
            ));
        }
        // What comes before and after is not ordered with a copy that the text does not show.
        let barrier = if self.profile.is_npu() { "pipe_barrier(PIPE_ALL);" } else { "" };
        for line in [barrier, &format!("TMOV({to}, {from});"), barrier] {
            if !line.is_empty() {
                self.line(line);
            }
        }
        Ok(())
    }

    /// Writes something one step further in.
    fn nested(&mut self, write: impl FnOnce(&mut Self) -> Emitted<()>) -> Emitted<()> {
        self.depth += 1;
        let done = write(self);
        self.depth -= 1;
        done
    }

    fn repeat(&mut self, op: &Op, f: For<'_>) -> Emitted<()> {
        let names = self.variables(f.carried, f.inits)?;
        let ty = words::scalar_type(self.scalar_of(Arg::Value(f.variable)), op.span)?;
        let i = self.names.object(f.variable).to_string();
        let (lower, upper, step) = (self.int(f.lower), self.int(f.upper), self.int(f.step));
        self.line(&format!("for ({ty} {i} = {lower}; {i} < {upper}; {i} += {step}) {{"));
        self.nested(|e| {
            e.block(f.body)?;
            e.carry(op, f.carried, &names, f.yields)
        })?;
        self.line("}");
        for (result, value) in f.results.iter().zip(f.carried) {
            let expression = self.names.expression(*value).to_string();
            self.names.stands_for(*result, expression);
            if let Some(view) = self.views.get(value).cloned() {
                self.views.insert(*result, view);
            }
        }
        Ok(())
    }

    fn branch(&mut self, choice: If<'_>) -> Emitted<()> {
        // A scope that is always entered, and has no results.
        if choice.results.is_empty() && choice.condition == Arg::Int(1) {
            return self.block(choice.blocks[0]);
        }
        let condition = self.int(choice.condition);
        let names = self.variables(choice.results, &[])?;
        self.line(&format!("if ({condition}) {{"));
        for (n, (block, yields)) in choice.blocks.into_iter().zip(choice.yields).enumerate() {
            if n == 1 {
                if self.func.block(block).ops.is_empty() {
                    break;
                }
                self.line("} else {");
            }
            self.nested(|e| {
                e.block(block)?;
                e.assign_all(&together(&names, choice.results, yields))
            })?;
        }
        self.line("}");
        Ok(())
    }

    fn repeat_while(&mut self, op: &Op, w: While<'_>) -> Emitted<()> {
        let before_names = self.variables(w.carried, w.inits)?;
        let result_names = self.variables(w.results, &[])?;
        let after_names = self.variables(w.taken, &[])?;
        self.line("while (true) {");
        self.nested(|e| {
            e.block(w.before)?;
            e.line(&format!("if (!({})) {{", e.int(w.condition)));
            e.nested(|e| e.assign_all(&together(&result_names, w.results, w.handed)))?;
            e.line("    break;");
            e.line("}");
            e.carry(op, w.taken, &after_names, w.handed)?;
            e.block(w.after)?;
            e.carry(op, w.carried, &before_names, w.yields)
        })?;
        self.line("}");
        Ok(())
    }

    fn select(&mut self, s: Select<'_>) -> Emitted<()> {
        for result in s.results {
            let [then, other] = [self.handed(*result, s.choices[0].arg)?, self.handed(*result, s.choices[1].arg)?];
            let text = format!("{} ? {then} : {other}", self.int(s.condition));
            self.variable(*result, Some(text))?;
        }
        Ok(())
    }
}
