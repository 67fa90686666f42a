//! The instructions themselves: destinations first, then sources, then scalars.

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{Arg, Op, Type, ValueId};
use tessera_isa::inst::{AttrValue, Attrs};
use tessera_isa::ops::{AttrKind, AttrName, Bind, Effect, Family, Form, Kind, Opcode, Role, Text};

/// The value that an attribute has, as an argument.
fn attribute(name: AttrName, attrs: &Attrs) -> Option<String> {
    Some(match (name.info().kind, attrs.value(name)?) {
        (AttrKind::Word { list, .. }, AttrValue::Word(n)) => {
            format!("{}::{}", name.cpp(), list.get(usize::from(n))?.cpp)
        }
        (_, AttrValue::Bool(value)) => value.to_string(),
        (_, value) => words::number(&value.number()?),
    })
}

impl Emitter<'_> {
    /// The tile or view with a role, as an operand or a result.
    fn operand(&self, op: &Op, role: Role) -> Option<ValueId> {
        let written = op.dsts().into_iter().find(|(r, _)| *r == role).map(|(_, v)| v);
        written.or_else(|| op.operand(role).and_then(|o| o.arg.value()))
    }

    fn tile(&self, op: &Op, role: Role) -> Emitted<String> {
        let found = self.operand(op, role).map(|v| self.value(v));
        found.ok_or_else(|| cannot(op.span, format!("an instruction without {role}"), "give it all its operands"))
    }

    /// The type of a tile expression, for template arguments.
    fn type_of(text: &str) -> String {
        match text.strip_prefix('(') {
            Some(_) => format!("std::remove_reference_t<decltype({text})>"),
            None => format!("decltype({text})"),
        }
    }

    /// A fill value or quantization parameter.
    fn scalar(&self, op: &Op, role: Role) -> Emitted<String> {
        let operand =
            op.operand(role).ok_or_else(|| cannot(op.span, format!("an instruction without {role}"), "give it"))?;
        let ty = self.scalar_of(operand.arg);
        words::scalar_type(ty, op.span)?;
        if role == Role::Quant {
            return Ok(match self.constant(operand.arg) {
                Some(v) => format!("UINT64_C({:#x})", v as u64),
                None => format!("static_cast<uint64_t>({})", self.int(operand.arg)),
            });
        }
        let text = self.int(operand.arg);
        Ok(if words::is_unsigned(ty) { format!("static_cast<{}>({text})", words::unsigned_type(ty)) } else { text })
    }

    fn index(&self, op: &Op, role: Role) -> String {
        self.role(op, role).unwrap_or_else(|| "0".into())
    }

    /// An instruction on tiles.
    pub(crate) fn instruction(&mut self, op: &Op, opcode: Opcode, form: Form) -> Emitted<()> {
        self.begin_results(op, opcode)?;
        let attrs = op.known_attrs();
        let info = opcode.info();
        match info.text {
            _ if op.operand(Role::Global).is_some() => {
                return if opcode.effect(form, Role::Global) == Effect::Read { self.load(op) } else { self.store(op) };
            }
            _ if info.attrs.contains(&AttrName::Kernel) => return self.img2col(op, attrs),
            Text::Attributes => return self.setfmatrix(attrs),
            Text::Value => {
                let value = match (op.operands.first(), attrs.pad_value()) {
                    (Some(o), _) => {
                        let (ty, text) = (self.scalar_of(o.arg), self.int(o.arg));
                        if words::is_unsigned(ty) {
                            format!("static_cast<{}>({text})", words::unsigned_type(ty))
                        } else {
                            text
                        }
                    }
                    (None, Some(number)) => words::number(&number),
                    (None, None) => return Ok(()),
                };
                self.line(&format!("SET_IMG2COL_PADDING({value});"));
                return Ok(());
            }
            _ => {}
        }
        let mut arguments = self.arguments(op, opcode, form)?;
        let name = info.cpp.first().copied().unwrap_or_default();
        if !matches!(info.family, Family::Layout | Family::Support) {
            // The intrinsic is made of the row: its attributes are arguments.
            arguments.extend(info.attrs.iter().filter_map(|name| attribute(*name, attrs)));
            self.line(&format!("{name}({});", arguments.join(", ")));
            return Ok(());
        }
        let template = self.template(op, form, attrs)?;
        if info.binds == Some(Bind::InPlace) && form == Form::Plain {
            self.bind_inplace(op)?;
        }
        let shape = match attrs.shape() {
            Some([r, c]) => format!(", {{{r}, {c}}}"),
            None => String::new(),
        };
        self.line(&format!("{name}{template}({}{shape});", arguments.join(", ")));
        Ok(())
    }

    /// Results begin: declared, placed, all of them valid, with their old contents where the text gives them.
    fn begin_results(&mut self, op: &Op, opcode: Opcode) -> Emitted<()> {
        for value in op.results.clone() {
            if !self.is_tile(value) {
                continue;
            }
            self.begin(value)?;
            self.all_valid(value);
            let name = self.names.object(value).to_string();
            let init = op.operand(Role::Init).and_then(|o| o.arg.value());
            let view = opcode.info().binds == Some(Bind::Window);
            if let Some(old) = init {
                let old = self.value(old);
                self.line(&format!("HostCopy({name}, {old});"));
            } else if !view
                && (self.early_address(value).is_some() || self.placement.slot(value).is_some())
                && self.may_be_stale(value)
            {
                self.line(&format!("HostForget({name});"));
            }
        }
        Ok(())
    }

    /// TFILLPAD_INPLACE makes a destination without an address of its own a view of its source (ops.md 6).
    fn bind_inplace(&mut self, op: &Op) -> Emitted<()> {
        let Some(dst) = self.operand(op, Role::Dst) else {
            return Ok(());
        };
        let is_result = op.results.contains(&dst);
        let manual = self.placement.manual.iter().any(|m| m.value == dst) || self.early_address(dst).is_some();
        let bound_otherwise = self.func.ops.iter().any(|other| {
            let binds = other.opcode().and_then(|o| o.info().binds);
            let views = matches!(binds, Some(Bind::Window | Bind::Bytes));
            let assigns = matches!(binds, Some(Bind::Address | Bind::New)) && other.operand(Role::Addr).is_some();
            let target = other.dsts().iter().any(|(_, v)| *v == dst)
                || other.results.contains(&dst)
                || (assigns && other.values().any(|v| v == dst));
            (views || assigns) && target
        });
        if is_result || !(manual || bound_otherwise) {
            let (d, s) = (self.value(dst), self.tile(op, Role::Src)?);
            self.line(&format!("TASSIGN({d}, {s});"));
        }
        Ok(())
    }

    /// The arguments, in the order of the row.
    fn arguments(&self, op: &Op, opcode: Opcode, form: Form) -> Emitted<Vec<String>> {
        let Some(form) = opcode.form(form).filter(|_| !opcode.info().cpp.is_empty()) else {
            return Err(cannot(op.span, format!("pto.{opcode}"), "take it out of the program"));
        };
        let given = |role: &Role| self.operand(op, *role).is_some() || !form.operand(*role).is_some_and(|o| o.optional);
        let argument = |role: Role| match role.kind() {
            Kind::Index => Ok(self.index(op, role)),
            Kind::Quant | Kind::Fill => self.scalar(op, role),
            Kind::Tile | Kind::Conv => self.tile(op, role),
        };
        form.cpp_order().into_iter().filter(given).map(argument).collect()
    }

    /// Template arguments: the modes of an instruction, after the types that stand before them.
    fn template(&self, op: &Op, form: Form, attrs: &Attrs) -> Emitted<String> {
        let mode = |name: AttrName| attrs.word(name).map(|word| format!("{}::{}", name.cpp(), word.cpp));
        let modes: Vec<String> = attrs.iter().filter_map(|(name, _)| mode(name)).collect();
        if let Some(split) = mode(AttrName::Mode) {
            if modes.len() > 1 {
                return Err(cannot(op.span, "a split with another mode", "leave one of them out"));
            }
            return Ok(format!("<{split}>"));
        }
        if attrs.get(AttrName::Dim).is_some() && form == Form::Plain {
            return Ok(format!("<{}>", attrs.dim()));
        }
        if modes.is_empty() {
            return Ok(String::new());
        }
        let mut all = vec![Self::type_of(&self.tile(op, Role::Dst)?), Self::type_of(&self.tile(op, Role::Src)?)];
        match form {
            Form::VectorQuant => all.push(Self::type_of(&self.tile(op, Role::Fp)?)),
            Form::Fill => {
                let ty = op.operand(Role::Fill).map_or(Arg::Int(0), |o| o.arg);
                let ty = self.scalar_of(ty);
                all.push(match words::is_unsigned(ty) {
                    true => words::unsigned_type(ty).into(),
                    false => words::scalar_type(ty, op.span)?.into(),
                });
            }
            _ => {}
        }
        all.extend(modes);
        Ok(format!("<{}>", all.join(", ")))
    }

    /// The view behind an operand of TLOAD or TSTORE; a pointer is a dense view of the tile's valid region.
    fn view(&self, op: &Op, tile: &str) -> Emitted<String> {
        let value = op.operands.iter().filter_map(|o| o.arg.value()).find(|v| self.elem_of(*v).is_some());
        let value = value.ok_or_else(|| cannot(op.span, "a transfer without global memory", "give it a view"))?;
        Ok(match self.ty(value) {
            Type::Ptr(elem, _) => {
                let (rows, cols) = (format!("{tile}.GetValidRow()"), format!("{tile}.GetValidCol()"));
                crate::body::tensor(*elem, "ND", &[rows, cols.clone()], &[cols, "1".into()], &self.value(value))
            }
            _ => self.value(value),
        })
    }

    fn load(&mut self, op: &Op) -> Emitted<()> {
        let dst = self.operand(op, Role::Dst).ok_or_else(|| cannot(op.span, "a load without a tile", "give it one"))?;
        let tile = self.value(dst);
        let global = op.operands.iter().filter_map(|o| o.arg.value()).find(|v| self.elem_of(*v).is_some());
        let view = match (self.ty(dst), global.map(|g| (g, self.ty(g)))) {
            // A conv tile takes a pointer as it is.
            (Type::Conv(_), Some((g, Type::Ptr(..)))) => self.value(g),
            _ => self.view(op, &tile)?,
        };
        self.line(&format!("TLOAD({tile}, {view});"));
        Ok(())
    }

    fn store(&mut self, op: &Op) -> Emitted<()> {
        let tile = self.tile(op, Role::Src)?;
        let view = self.view(op, &tile)?;
        self.line(&format!("TSTORE({view}, {tile});"));
        Ok(())
    }

    fn setfmatrix(&mut self, attrs: &Attrs) -> Emitted<()> {
        let cfg = self.config(attrs);
        if !cfg.is_empty() {
            self.line("{");
            self.line("    Img2colConfig cfg;");
            for line in cfg {
                self.line(&format!("    {line}"));
            }
            self.line("    SETFMATRIX(cfg);");
            self.line("}");
        }
        Ok(())
    }

    fn config(&self, attrs: &Attrs) -> Vec<String> {
        let mut lines = Vec::new();
        for name in [AttrName::Kernel, AttrName::Stride, AttrName::Dilation, AttrName::Fmap, AttrName::Pad] {
            let parts: &[&str] = if name == AttrName::Pad { &["Left", "Right", "Top", "Bottom"] } else { &["H", "W"] };
            if let Some(AttrValue::Ints(values)) = attrs.get(name) {
                lines.extend(parts.iter().zip(values).map(|(part, v)| format!("cfg.{name}{part} = {v};")));
            }
        }
        if let Some(value) = attrs.pad_value() {
            lines.push(format!("cfg.SetPadValue({});", words::number(&value)));
        }
        lines
    }

    fn img2col(&mut self, op: &Op, attrs: &Attrs) -> Emitted<()> {
        let (dst, src) = (self.tile(op, Role::Dst)?, self.tile(op, Role::Src)?);
        let (m, k) = (self.index(op, Role::PosM), self.index(op, Role::PosK));
        self.line("{");
        self.line("    Img2colConfig cfg;");
        for line in self.config(attrs) {
            self.line(&format!("    {line}"));
        }
        self.line(&format!("    cfg.posM = {m};"));
        self.line(&format!("    cfg.posK = {k};"));
        self.line(&format!("    TIMG2COL({dst}, {src}, cfg);"));
        self.line("}");
        Ok(())
    }
}
