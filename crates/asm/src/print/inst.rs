//! Instructions in their three forms.

use super::{Printer, TILE};
use smallvec::SmallVec;
use tessera_ir::{Def, Op, OpKind, Operand, ScalarType, Sign, TextForm, Type};
use tessera_isa::codec::Number;
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrKind, AttrName, Bind, Family, FormInfo, Kind, Opcode, Role};
use tessera_isa::sem::Sem;

impl Printer<'_> {
    pub(super) fn instruction(&mut self, op: &Op, opcode: Opcode, form: &FormInfo) -> &mut Self {
        // Optional operands may be left out, so roles tell where the destinations begin.
        let ends = |o: &Operand| o.role == Role::Init || form.out_roles().any(|role| role == o.role);
        let (ins, rest) = op.operands.split_at(op.operands.iter().position(ends).unwrap_or(op.operands.len()));
        // Operands behind a word stand last.
        let word = |o: &Operand| form.operand(o.role).and_then(|row| row.word());
        let (ins, worded) = ins.split_at(ins.iter().position(|o| word(o).is_some()).unwrap_or(ins.len()));
        match op.form {
            TextForm::Dps => self.groups(ins, rest, op, Some(opcode)).attrs(op, opcode),
            TextForm::Asm if rest.iter().any(|o| o.role == Role::Global) => self.window(op, opcode),
            // A scalar that is read out of a tile is a result of DPS text (isa/irregular.md 9).
            TextForm::Ssa if matches!(opcode.info().sem, Sem::Gets) && !self.module.is_listing => self
                .text(" ins(")
                .operands(ins)
                .text(" : ")
                .operand_types(ins)
                .text(") outs : ")
                .result_types(op)
                .attrs(op, opcode),
            TextForm::Ssa => {
                self.text(if op.operands.is_empty() { "" } else { " " }).operands(ins);
                self.init(rest, ins.is_empty()).attrs(op, opcode).signature(op, false)
            }
            TextForm::Asm => {
                // The families' signatures list every type (isa/notes.md).
                let tiles_only =
                    opcode.info().by_flows() && opcode.info().family != Family::Memory && !self.needs_scalar_types(op);
                self.bracketed(ins).init(rest, ins.is_empty()).attrs(op, opcode).signature(op, tiles_only)
            }
        };
        for operand in worded {
            write!(self, " {} = ", word(operand).unwrap_or_default());
            self.arg(operand.arg).text(" : ").operand_types(std::slice::from_ref(operand));
        }
        self
    }

    /// `%src, %view[%row, %col] : (types) -> ()`.
    fn window(&mut self, op: &Op, opcode: Opcode) -> &mut Self {
        let (indices, mut listed): (SmallVec<[Operand; 6]>, SmallVec<[Operand; 6]>) =
            op.operands.iter().copied().partition(|o| o.role.kind() == Kind::Index);
        self.text(" ").operands(&listed).text("[").operands(&indices).text("]").attrs(op, opcode);
        listed.extend(indices);
        self.text(" : (").operand_types(&listed).text(") -> ()")
    }

    /// `ins(… {…} : …) outs(…)`.
    fn groups(&mut self, ins: &[Operand], outs: &[Operand], op: &Op, opcode: Option<Opcode>) -> &mut Self {
        for (word, group) in [("ins", ins), ("outs", outs)] {
            if group.is_empty() {
                continue;
            }
            let clause = self.clause(op).filter(|_| word == "ins" && opcode.is_some());
            let plain: SmallVec<[Operand; 8]> =
                group.iter().filter(|o| clause.is_none_or(|(_, other)| o.role != other.role)).copied().collect();
            // A parameter of a store has its type beside it, and that of a move.
            let apart = plain
                .iter()
                .position(|o| o.role == Role::Quant)
                .filter(|n| *n + 1 == plain.len() && word == "ins" && opcode.is_some_and(|o| self.pairs_types(op, o)));
            let (group, quant) = plain.split_at(apart.unwrap_or(plain.len()));
            write!(self, " {word}(").operands(group);
            if word == "ins" && opcode.is_some() && self.has_no_scratch(op) {
                self.text(" no_tmp");
            }
            if let Some(opcode) = opcode.filter(|_| word == "ins") {
                let has_pattern = op.known_attrs().get(AttrName::MaskPattern).is_some();
                if self.known_attrs_after(op, opcode, true, if has_pattern { ", {" } else { " {" }) {
                    self.text("}");
                }
            }
            self.text(" : ").operand_types(group);
            if !quant.is_empty() {
                self.text(", ").operands(quant).text(" : ").operand_types(quant);
            }
            if let Some((clause, operand)) = clause {
                let of_move = opcode.is_some_and(|o| o.mnemonic().starts_with("tmov"));
                self.text(if of_move { ", " } else { " " });
                if !of_move {
                    write!(self, "{clause} ");
                }
                self.arg(operand.arg).text(" : ").arg_type(operand.arg);
            }
            if let Some(axis) = opcode.filter(|_| word == "ins").and_then(|opcode| self.mask_axis(op, opcode)) {
                write!(self, ", \"{axis}\"");
            }
            self.text(")");
        }
        self
    }

    /// Whether a scalar parameter has its type beside it, `ins(%s : S, %q : i64)`.
    fn pairs_types(&self, op: &Op, opcode: Opcode) -> bool {
        op.dsts().is_empty() || opcode == Opcode::Tmov
    }

    fn init(&mut self, rest: &[Operand], first: bool) -> &mut Self {
        for operand in rest.iter().filter(|o| o.role == Role::Init) {
            self.text(if first { "init(" } else { ", init(" }).arg(operand.arg).text(")");
        }
        self
    }

    /// `%src[%row, %col], %other`: indices stand behind the first operand, two by two.
    fn bracketed(&mut self, ins: &[Operand]) -> &mut Self {
        let (indices, plain): (SmallVec<[&Operand; 4]>, SmallVec<[&Operand; 4]>) =
            ins.iter().partition(|o| o.role.in_brackets());
        for (n, operand) in plain.iter().enumerate() {
            self.text(if n == 0 { " " } else { ", " }).arg(operand.arg);
            if n == 0 {
                for pair in indices.chunks(2) {
                    self.text("[").list(pair, |p, o| p.arg(o.arg)).text("]");
                }
            }
        }
        self
    }

    /// Whether the assembly signature has to list scalars too, because an input's type is not the usual one.
    fn needs_scalar_types(&self, op: &Op) -> bool {
        let dst = op.dsts().first().map(|(_, v)| *v);
        let elem = dst.and_then(|v| self.module.types.get(self.func.value(v).ty).tile().map(|t| t.elem));
        op.operands.iter().any(|o| {
            let Some(value) = o.arg.value().map(|v| self.func.value(v)) else { return false };
            let ty = self.module.types.get(value.ty);
            if value.def != Def::Input || !matches!(ty, Type::Scalar(_)) {
                return false;
            }
            match o.role.kind() {
                Kind::Index => *ty != Type::Scalar(ScalarType::Index),
                Kind::Quant => *ty != Type::Scalar(ScalarType::Int(64, Sign::None)),
                _ => elem.map(|e| Type::Scalar(ScalarType::of(e))).as_ref() != Some(ty),
            }
        })
    }

    /// ` : (types) -> types`.
    fn signature(&mut self, op: &Op, tiles_only: bool) -> &mut Self {
        // Operands behind a word have their types there.
        let row = if let OpKind::Pto(opcode, form) = op.kind { opcode.form(form) } else { None };
        let is_listed = |o: &Operand| row.and_then(|f| f.operand(o.role)).is_none_or(|o| !o.is_worded);
        let listed: SmallVec<[Operand; 6]> = op
            .operands
            .iter()
            .filter(|o| is_listed(o) && (!tiles_only || o.role.kind() == Kind::Tile))
            .copied()
            .collect();
        // Other names of a storage have no form of their own in DPS text.
        let renames = op.opcode().is_some_and(|o| o.info().binds == Some(Bind::Bytes)) && !self.module.is_listing;
        self.tile = if op.form == TextForm::Dps || renames { TILE } else { "!pto.tile" };
        match (listed.len(), op.results.len()) {
            // Nothing comes out: the one type of what goes in is all.
            (1, 0) => self.text(" : ").operand_types(&listed),
            (1, _) => self.text(" : ").operand_types(&listed).text(" -> "),
            _ => self.text(" : (").operand_types(&listed).text(") -> "),
        };
        if op.results.len() == 1 {
            self.result_types(op);
        } else if listed.len() != 1 || !op.results.is_empty() {
            self.text("(").result_types(op).text(")");
        }
        self.tile = TILE;
        self
    }

    /// ` {key = value}`: the attributes that the instruction knows in the table's order, then the others.
    pub(super) fn attrs(&mut self, op: &Op, opcode: Opcode) -> &mut Self {
        if self.known_attrs(op, opcode, false) {
            self.unknown_attrs(op, ", ", "").text("}")
        } else {
            self.unknown_attrs(op, " {", "}")
        }
    }

    /// ` {key = value`: the attributes inside `ins(…)`, or those behind the operands. Returns whether there were any.
    fn known_attrs(&mut self, op: &Op, opcode: Opcode, inside: bool) -> bool {
        self.known_attrs_after(op, opcode, inside, " {")
    }

    fn known_attrs_after(&mut self, op: &Op, opcode: Opcode, inside: bool, open: &str) -> bool {
        let mut any = false;
        for name in opcode.info().attrs {
            if inside != (name.info().inside_ins && op.form == TextForm::Dps) {
                continue;
            }
            let named = || op.attrs.as_deref()?.names.iter().find(|(n, _)| n == name).map(|(_, text)| text.clone());
            if let Some((key, value)) = self.known_attr(op, *name).or_else(|| Some((name.name(), named()?))) {
                write!(self, "{}{key} = {value}", if any { ", " } else { open });
                any = true;
            }
        }
        any
    }

    /// A PTO instruction outside the table.
    pub(super) fn other(&mut self, op: &Op, name: &str) -> &mut Self {
        let spelled = crate::dialect::operation(name).filter(|known| !known.spelling.is_in(self.dialect));
        let spelled = spelled.and_then(|known| known.same).unwrap_or(name);
        if let Some(text) = op.attrs.as_deref().and_then(|a| a.words.first()) {
            return match text.strip_prefix("pto.").and_then(|rest| rest.strip_prefix(name)) {
                Some(rest) => self.text("pto.").text(spelled).text(rest),
                None => self.text(text),
            };
        }
        write!(self, "pto.{spelled}");
        if op.form == TextForm::Dps {
            let split = op.operands.iter().position(|o| o.role.is_dst()).unwrap_or(op.operands.len());
            let (ins, outs) = op.operands.split_at(split);
            return self.groups(ins, outs, op, None).unknown_attrs(op, " {", "}");
        }
        if !op.operands.is_empty() {
            self.text(" ").operands(&op.operands);
        }
        self.unknown_attrs(op, " {", "}");
        if op.operands.is_empty() && op.results.is_empty() { self } else { self.signature(op, false) }
    }
}

pub(super) fn attr_text(kind: AttrKind, value: AttrValue) -> String {
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
