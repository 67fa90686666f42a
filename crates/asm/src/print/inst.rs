//! Instructions in their three forms.

use super::Printer;
use smallvec::SmallVec;
use std::fmt::Write;
use tessera_ir::{Arg, Def, Op, Operand, TextForm, Type};
use tessera_isa::codec::Number;
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrKind, FormInfo, Kind, Opcode, Role};

/// The name of tile types: as the reference pages write them in each form.
pub(super) fn tile_name(form: TextForm) -> &'static str {
    match form {
        TextForm::Dps => "!pto.tile_buf",
        TextForm::Asm | TextForm::Ssa => "!pto.tile",
    }
}

impl Printer<'_> {
    pub(super) fn instruction(&mut self, op: &Op, opcode: Opcode, form: &FormInfo) {
        if op.form != TextForm::Asm {
            self.text("pto.");
        }
        self.text(opcode.mnemonic());
        let n = form.ins.len().min(op.operands.len());
        let (ins, rest) = op.operands.split_at(n);
        match op.form {
            TextForm::Dps => {
                self.groups(ins, rest, op, Some(opcode));
                self.attrs(op, opcode);
            }
            TextForm::Ssa => {
                self.positional(op, ins, rest);
                self.attrs(op, opcode);
                self.signature(op, &op.operands, false);
            }
            TextForm::Asm => {
                self.bracketed(ins);
                self.init(rest, ins.is_empty());
                self.attrs(op, opcode);
                let tiles_only = !self.needs_scalar_types(op);
                self.signature(op, &op.operands, tiles_only);
            }
        }
    }

    /// `ins(… {…} : …) outs(…)`.
    fn groups(&mut self, ins: &[Operand], outs: &[Operand], op: &Op, opcode: Option<Opcode>) {
        for (word, group) in [("ins", ins), ("outs", outs)] {
            if group.is_empty() {
                continue;
            }
            let _ = write!(self.out, " {word}(");
            self.operands(group);
            if let Some(opcode) = opcode.filter(|_| word == "ins")
                && self.known_attrs(op, opcode, true)
            {
                self.text("}");
            }
            self.text(" : ");
            self.list(group.iter().map(|o| o.arg), |p, arg| p.arg_type(arg, "!pto.tile_buf"));
            self.text(")");
        }
    }

    fn positional(&mut self, op: &Op, ins: &[Operand], rest: &[Operand]) {
        if !op.operands.is_empty() {
            self.text(" ");
        }
        self.operands(ins);
        self.init(rest, ins.is_empty());
    }

    fn init(&mut self, rest: &[Operand], first: bool) {
        for operand in rest.iter().filter(|o| o.role == Role::Init) {
            self.text(if first { "init(" } else { ", init(" });
            self.arg(operand.arg);
            self.text(")");
        }
    }

    /// `%src[%row, %col], %other`: indices stand behind the first operand, two by two.
    fn bracketed(&mut self, ins: &[Operand]) {
        let (indices, plain): (SmallVec<[&Operand; 4]>, SmallVec<[&Operand; 4]>) =
            ins.iter().partition(|o| o.role.kind() == Kind::Index);
        for (n, operand) in plain.iter().enumerate() {
            self.text(if n == 0 { " " } else { ", " });
            self.arg(operand.arg);
            if n == 0 {
                for pair in indices.chunks(2) {
                    self.text("[");
                    self.list(pair.iter().map(|o| o.arg), Self::arg);
                    self.text("]");
                }
            }
        }
    }

    /// Does the assembly signature have to list scalars too, because an input's type is not the usual one?
    fn needs_scalar_types(&self, op: &Op) -> bool {
        let dst = op.dsts().first().map(|(_, v)| *v);
        let elem = dst.and_then(|v| self.module.types.get(self.func.value(v).ty).tile().map(|t| t.elem));
        op.operands.iter().any(|o| {
            let Some(value) = o.arg.value().map(|v| self.func.value(v)) else {
                return false;
            };
            let ty = self.module.types.get(value.ty);
            if value.def != Def::Input || !matches!(ty, Type::Scalar(_)) {
                return false;
            }
            match o.role.kind() {
                Kind::Index => *ty != Type::Scalar(tessera_ir::ScalarType::Index),
                Kind::Quant => *ty != Type::Scalar(tessera_ir::ScalarType::Int(64, tessera_ir::Sign::None)),
                _ => elem.map(|e| Type::Scalar(crate::parse::scalar_of(e))).as_ref() != Some(ty),
            }
        })
    }

    /// ` : (types) -> types`.
    fn signature(&mut self, op: &Op, operands: &[Operand], tiles_only: bool) {
        let listed: SmallVec<[Arg; 6]> =
            operands.iter().filter(|o| !tiles_only || o.role.kind() == Kind::Tile).map(|o| o.arg).collect();
        let tile = tile_name(op.form);
        self.text(" : ");
        let parens = listed.len() != 1;
        if parens {
            self.text("(");
        }
        self.list(listed.iter().copied(), |p, arg| p.arg_type(arg, tile));
        if parens {
            self.text(")");
        }
        if op.results.is_empty() {
            // Nothing comes out: the one type of what goes in is all.
            if parens {
                self.text(" -> ()");
            }
            return;
        }
        self.text(" -> ");
        let types: SmallVec<[_; 2]> = op.results.iter().map(|v| self.func.value(*v).ty).collect();
        let parens = types.len() > 1;
        if parens {
            self.text("(");
        }
        self.list(types.iter().copied(), |p, ty| p.ty(ty, tile));
        if parens {
            self.text(")");
        }
    }

    /// ` {key = value}`: the attributes that the instruction knows in the table's order, then the others.
    pub(super) fn attrs(&mut self, op: &Op, opcode: Opcode) {
        let mut any = self.known_attrs(op, opcode, false);
        if let Some(attrs) = op.attrs.as_deref().filter(|a| !a.unknown.is_empty()) {
            self.text(if any { ", " } else { " {" });
            self.unknown_attrs(attrs, true);
            any = true;
        }
        if any {
            self.text("}");
        }
    }

    /// ` {key = value`: what stands inside `ins(…)`, or what stands behind the operands. Says whether there was any.
    fn known_attrs(&mut self, op: &Op, opcode: Opcode, inside: bool) -> bool {
        let mut any = false;
        for name in opcode.info().attrs {
            if inside != (name.info().inside_ins && op.form == TextForm::Dps) {
                continue;
            }
            if let Some(value) = op.known_attrs().get(*name) {
                let value = attr_text(name.info().kind, value);
                let _ = write!(self.out, "{}{name} = {value}", if any { ", " } else { " {" });
                any = true;
            }
        }
        any
    }

    /// A PTO instruction outside the table.
    pub(super) fn other(&mut self, op: &Op, name: &str) {
        let _ = write!(self.out, "pto.{name}");
        let split = op.operands.iter().position(|o| o.role.is_dst()).unwrap_or(op.operands.len());
        let (ins, outs) = op.operands.split_at(split);
        if op.form == TextForm::Dps {
            self.groups(ins, outs, op, None);
        } else if !op.operands.is_empty() {
            self.text(" ");
            self.operands(&op.operands);
        }
        if let Some(attrs) = op.attrs.as_deref().filter(|a| !a.unknown.is_empty()) {
            self.text(" {");
            self.unknown_attrs(attrs, true);
            self.text("}");
        }
        if op.form != TextForm::Dps && !(op.operands.is_empty() && op.results.is_empty()) {
            self.signature(op, &op.operands, false);
        }
    }
}

fn attr_text(kind: AttrKind, value: AttrValue) -> String {
    match (kind, value) {
        (AttrKind::Word { list, spelling, .. }, AttrValue::Word(n)) => {
            spelling.spell(list.get(usize::from(n)).map_or("", |w| w.name))
        }
        (AttrKind::Int(Some(ty)), AttrValue::Int(n)) => format!("{n} : {ty}"),
        (AttrKind::Ints(len), AttrValue::Ints(all)) => {
            let all: Vec<String> = all.iter().take(len).map(i64::to_string).collect();
            format!("[{}]", all.join(", "))
        }
        (_, AttrValue::Bool(b)) => b.to_string(),
        (_, value) => match value.number() {
            Some(Number::Int(n)) => n.to_string(),
            Some(Number::Float(v)) if v.is_finite() => super::flow::decimal(v),
            Some(Number::Float(v)) => format!("0x{:X} : f32", (v as f32).to_bits()),
            None => String::new(),
        },
    }
}
