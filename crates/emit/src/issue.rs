//! The instructions themselves: destinations first, then sources, then scalars.

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{Op, ScalarType, Type, ValueId};
use tessera_isa::inst::{AttrValue, Attrs, F32Rounding, Precision};
use tessera_isa::ops::{AttrKind, AttrName, Bind, CppAttr, CppValue, Form, FormInfo, Kind, OpInfo, Opcode, Role, Text};
use tessera_isa::profile::FP_ALIGN;
use tessera_isa::sem::Sem;
use tessera_isa::tile::{Extent, Tile};

/// The value that an attribute has, or its default, as an argument.
fn attribute(name: AttrName, attrs: &Attrs) -> Option<String> {
    Some(match (name.info().kind, attrs.value(name)?) {
        (AttrKind::Word { list, .. }, AttrValue::Word(n)) => {
            format!("{}::{}", name.cpp(), list.get(usize::from(n))?.cpp)
        }
        (_, AttrValue::Bool(value)) => value.to_string(),
        (_, AttrValue::Int(value)) if name.cpp().starts_with(char::is_uppercase) => {
            format!("{}{{{value}}}", name.cpp())
        }
        (_, value) => words::number(&value.number()?),
    })
}

/// The algorithm, where more than the usual precision is asked for.
fn algorithm(info: &OpInfo, attrs: &Attrs) -> Option<String> {
    let is_high =
        attrs.precision() == Some(Precision::High) || attrs.get(AttrName::HighPrecision) == Some(AttrValue::Bool(true));
    match info.value {
        Some(CppValue::Algorithm(name)) if is_high => Some(format!("{name}Algorithm::HIGH_PRECISION")),
        _ => None,
    }
}

/// The C++ spelling of an attribute of a form; intrinsics written by hand take words as template arguments (cpp.md
/// 6.6).
fn given_as(form: &FormInfo, name: AttrName) -> CppAttr {
    match (name.info().cpp, name.info().kind) {
        (CppAttr::Argument, AttrKind::Word { .. }) if form.by_hand => CppAttr::Behind,
        (cpp, _) => cpp,
    }
}

impl Emitter<'_> {
    /// The tile or view with a role, as an operand or a result.
    pub(crate) fn operand(&self, op: &Op, role: Role) -> Option<ValueId> {
        let written = op.dsts().into_iter().find(|(r, _)| *r == role).map(|(_, v)| v);
        written.or_else(|| op.operand(role).and_then(|o| o.arg.value()))
    }

    pub(crate) fn tile(&self, op: &Op, role: Role) -> Emitted<String> {
        let found = self.operand(op, role).map(|v| self.value(v));
        found.ok_or_else(|| cannot(op.span, format!("an instruction without {role}"), "give it all its operands"))
    }

    /// The type of a tile expression, for template arguments.
    pub(crate) fn type_of(text: &str) -> String {
        match text.strip_prefix('(') {
            Some(_) => format!("std::remove_reference_t<decltype({text})>"),
            None => format!("decltype({text})"),
        }
    }

    /// The scalar of an instruction on tiles: in its own type, where that is not the elements'.
    fn typed_scalar(&self, op: &Op, form: &FormInfo, role: Role) -> Emitted<String> {
        let text = self.scalar(op, role)?;
        if let Some((_, ty)) = form.typed.iter().find(|t| t.0 == role) {
            return Ok(format!("static_cast<{ty}>({text})"));
        }
        let ty = op.operand(role).map_or(ScalarType::Index, |o| self.scalar_of(o.arg));
        let src = [Role::Src, Role::Src0, Role::Dst].iter().find_map(|role| self.operand(op, *role));
        let elem = src.and_then(|v| self.ty(v).tile().map(|t| t.elem));
        Ok(match ty {
            _ if elem.map(ScalarType::of) == Some(ty) => text,
            // A single bit is -1 or 0, as every narrow integer keeps its sign.
            ScalarType::Int(1, _) => format!("Exactly(static_cast<int8_t>({text} ? -1 : 0))"),
            ScalarType::Index => format!("Exactly(static_cast<int64_t>({text}))"),
            _ if words::is_unsigned(ty) => format!("Exactly(static_cast<{}>({text}))", words::unsigned_type(ty)),
            _ => format!("Exactly(static_cast<{}>({text}))", words::scalar_type(ty, op.span)?),
        })
    }

    /// A fill value or quantization parameter.
    pub(crate) fn scalar(&self, op: &Op, role: Role) -> Emitted<String> {
        let operand =
            op.operand(role).ok_or_else(|| cannot(op.span, format!("an instruction without {role}"), "give it"))?;
        words::scalar_type(self.scalar_of(operand.arg), op.span)?;
        Ok(match self.constant(operand.arg) {
            _ if role != Role::Quant => self.signed_or_not(operand.arg),
            Some(v) => format!("UINT64_C({:#x})", v as u64),
            None => format!("static_cast<uint64_t>({})", self.int(operand.arg)),
        })
    }

    /// An index; one that is left out is 0.
    pub(crate) fn index(&self, op: &Op, role: Role) -> String {
        self.role(op, role).unwrap_or_else(|| "0".into())
    }

    /// An instruction on tiles.
    pub(crate) fn instruction(&mut self, op: &Op, opcode: Opcode, form: Form) -> Emitted<()> {
        self.begin_results(op, opcode)?;
        let attrs = op.known_attrs();
        let info = opcode.info();
        match info.text {
            _ if op.operand(Role::Global).is_some() => {
                return self.transfer(op, opcode, form);
            }
            _ if info.attrs.contains(&AttrName::Kernel) => {
                let (dst, src) = (self.tile(op, Role::Dst)?, self.tile(op, Role::Src)?);
                let mut lines = config(attrs);
                lines.extend([Role::PosM, Role::PosK].map(|role| format!("cfg.{role} = {};", self.index(op, role))));
                self.configured(lines, &format!("TIMG2COL({dst}, {src}, cfg);"));
                return Ok(());
            }
            Text::Attributes if matches!(info.sem, Sem::RoundsF32 { .. }) => {
                let name = info.cpp.first().copied().unwrap_or_default();
                let mode = attrs.f32_rounding().map_or("CAST_ROUND", F32Rounding::cpp);
                let enable = attrs.enable() != Some(false);
                self.line(&format!("{name}({enable}, RoundMode::{mode});"));
                return Ok(());
            }
            Text::Attributes => {
                let lines = config(attrs);
                if !lines.is_empty() {
                    self.configured(lines, "SETFMATRIX(cfg);");
                }
                return Ok(());
            }
            Text::Value => {
                let given = op.operands.first().map(|o| self.signed_or_not(o.arg));
                if let Some(value) = given.or_else(|| attrs.pad_value().map(|number| words::number(&number))) {
                    self.line(&format!("SET_IMG2COL_PADDING({value});"));
                }
                return Ok(());
            }
            _ if info.binds == Some(Bind::Storage) => {
                let (dst, src) = (self.tile(op, Role::Dst)?, self.tile(op, Role::Src)?);
                self.line(&format!("TASSIGN({dst}, {src});"));
                return Ok(());
            }
            _ => {}
        }
        if matches!(info.sem, Sem::Gets) {
            let (src, index) = (self.tile(op, Role::Src)?, self.index(op, Role::Index));
            let call = format!("GETVAL({src}, {index})");
            // The call can fail, so it is made even if its result is unused.
            if !op.results.iter().any(|v| self.needed[v.index()]) {
                self.line(&format!("{call};"));
                return Ok(());
            }
            return self.define(op, call);
        }
        let name = info.cpp.first().copied().unwrap_or_default();
        if let (false, Some(row)) = (info.by_flows(), opcode.form(form)) {
            return self.made_of_row(op, opcode, row, name);
        }
        let arguments = self.arguments(op, opcode, form)?;
        let template = self.template(op, form, attrs)?;
        if info.binds == Some(Bind::InPlace) && form == Form::Plain {
            self.bind_inplace(op)?;
        }
        let shape = match attrs.shape() {
            Some([r, c]) => format!(", {{{r}, {c}}}"),
            None => String::new(),
        };
        // A mode belongs to the plain intrinsic with a Scaling tile, everything else of it to the one with `_FP` (cpp.md 6).
        let plain = name.trim_end_matches("_FP");
        let name = match (form, attrs.acc_to_vec()) {
            (Form::VectorQuant, Some(_)) => plain.to_string(),
            (Form::VectorQuant, None) => format!("{plain}_FP"),
            _ => name.to_string(),
        };
        if let Some((ty, address)) = self.scratch(op, opcode, form)? {
            let tmp = self.names.fresh("tmp");
            self.line("{");
            self.line(&format!("    {ty} {tmp};"));
            self.line(&format!("    TASSIGN({tmp}, {address:#x});"));
            self.line(&format!("    {name}{template}({}{shape}, {tmp});", arguments.join(", ")));
            self.line("}");
            return Ok(());
        }
        self.line(&format!("{name}{template}({}{shape});", arguments.join(", ")));
        Ok(())
    }

    /// A call of an intrinsic whose arguments are what its row says.
    fn made_of_row(&mut self, op: &Op, opcode: Opcode, form: &FormInfo, name: &str) -> Emitted<()> {
        let mut arguments = self.arguments(op, opcode, form.form)?;
        arguments.extend(self.attributes(op, opcode.info(), form));
        let template = self.template_of_row(op, opcode.info(), form);
        let call = format!("{name}{template}({});", arguments.join(", "));
        let arrays = self.arrays(op, form)?;
        if arrays.is_empty() {
            self.line(&call);
            return Ok(());
        }
        self.line("{");
        arrays.iter().for_each(|array| self.line(&format!("    {array}")));
        self.line(&format!("    {call}"));
        self.line("}");
        Ok(())
    }

    /// The attributes that are arguments: those that may be left out are, where nothing behind them is given.
    fn attributes(&self, op: &Op, info: &OpInfo, form: &FormInfo) -> Vec<String> {
        let attrs = op.known_attrs();
        let is_there = |a: &&AttrName| a.info().beside.is_none_or(|role| op.operand(role).is_some());
        let of = |cpp: CppAttr| info.attrs_of(form).iter().filter(is_there).filter(move |a| given_as(form, **a) == cpp);
        let optional: Vec<&AttrName> = of(CppAttr::Optional).collect();
        let given = optional.iter().rposition(|a| attrs.get(**a).is_some()).map_or(0, |last| last + 1);
        let all = of(CppAttr::Argument).chain(optional.into_iter().take(given));
        all.filter_map(|name| attribute(*name, attrs)).collect()
    }

    /// The template arguments of an intrinsic whose row says them: values, and where some follow them the types.
    fn template_of_row(&self, op: &Op, info: &OpInfo, form: &FormInfo) -> String {
        let attrs = op.known_attrs();
        let of = |cpp: CppAttr| info.attrs_of(form).iter().copied().filter(move |a| given_as(form, *a) == cpp);
        let is_said = |a: &AttrName| attrs.get(*a).is_some() || a.info().default.is_none();
        let value = |a: AttrName| attribute(a, attrs).or_else(|| self.counted_byte(op, a));
        let mut all: Vec<String> = of(CppAttr::Ahead).filter(is_said).filter_map(value).collect();
        all.extend(algorithm(info, attrs));
        let behind: Vec<String> = of(CppAttr::Behind).filter(is_said).filter_map(value).collect();
        if !behind.is_empty() {
            let given: Vec<Role> = form
                .cpp_order()
                .into_iter()
                .filter(|r| op.operand(*r).is_some() || self.operand(op, *r).is_some())
                .collect();
            let ty = |role: Role| match self.operand(op, role).filter(|_| role.kind() == Kind::Tile) {
                Some(tile) => Some(Self::type_of(&self.value(tile))),
                None => self.typed_scalar(op, form, role).ok().map(|text| format!("decltype({text})")),
            };
            all.extend(form.cpp_types(&given).into_iter().filter_map(ty));
            all.extend(behind);
        }
        if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
    }

    /// The byte that THISTOGRAM counts where it is not named: the highest or the lowest (isa/irregular.md 3).
    fn counted_byte(&self, op: &Op, name: AttrName) -> Option<String> {
        let size = self.ty(self.operand(op, Role::Src)?).tile()?.elem.size()?;
        let byte = if op.known_attrs().flag(AttrName::IsMsb) { size - 1 } else { 0 };
        Some(format!("{}{{{byte}}}", name.cpp()))
    }

    /// Scalars that C++ gives in arrays.
    fn arrays(&self, op: &Op, form: &FormInfo) -> Emitted<Vec<String>> {
        let mut arrays: Vec<(&str, &str, Vec<String>)> = Vec::new();
        for role in form.cpp_order() {
            let Some(ty) = role.array() else { continue };
            let item = format!("static_cast<uint32_t>({})", self.scalar(op, role)?);
            match arrays.last_mut().filter(|a| a.0 == ty) {
                Some((.., items)) => items.push(item),
                None => arrays.push((ty, role.cpp().trim_end_matches(char::is_numeric), vec![item])),
            }
        }
        Ok(arrays
            .into_iter()
            .map(|(ty, name, items)| format!("const {ty} {name} = {{{}}};", items.join(", ")))
            .collect())
    }

    /// The scratch tile that the C++ intrinsic wants and the text leaves out, as TTRANS does (PTO ISA, TTRANS page): type
    /// and address behind everything else, where there is room.
    fn scratch(&self, op: &Op, opcode: Opcode, form: Form) -> Emitted<Option<(String, u64)>> {
        let source = self.operand(op, Role::Src).and_then(|v| self.ty(v).tile().map(|t| t.resolve(self.profile)));
        let (Some(tile), Form::Plain, true) = (source, form, opcode.form(Form::Tmp).is_some()) else { return Ok(None) };
        let whole = Tile { v_row: Extent::Static(tile.rows), v_col: Extent::Static(tile.cols), ..tile };
        let loc = tile.loc as usize;
        let (Some(used), Some(false)) = (self.placement.high_water.get(loc), self.placement.computed.get(loc)) else {
            return Ok(None);
        };
        let address = used.next_multiple_of(FP_ALIGN);
        let room = self.profile.memory(tile.loc).and_then(|m| Some(m.bytes? - m.reserved));
        if room.is_some_and(|room| address.saturating_add(tile.bytes()) > room) {
            return Ok(None);
        }
        Ok(Some((words::tile_type(&whole, op.span)?, address)))
    }

    /// Results begin: declared, placed, all of them valid, with their old contents where the text gives them.
    pub(crate) fn begin_results(&mut self, op: &Op, opcode: Opcode) -> Emitted<()> {
        for value in op.results.iter().copied() {
            if matches!(self.ty(value), Type::Vector(..)) {
                self.counts(value);
            }
            if !self.is_tile(value) {
                continue;
            }
            self.declare(value)?;
            self.place(value);
            // A result's dynamic extents are its declared ones (syntax.md 5), unless they are written.
            if let Some((rows, cols)) = self.ty(value).tile().map(|t| (t.rows, t.cols)) {
                let [r, c] = [(Role::ValidRow, rows), (Role::ValidCol, cols)]
                    .map(|(role, all)| self.role(op, role).unwrap_or_else(|| all.to_string()));
                self.set_dynamic(value, &r, &c);
            }
            let name = self.names.object(value);
            let is_placed = self.early_address(value).is_some() || self.placement.slot(value).is_some();
            if let Some(old) = op.operand(Role::Init).and_then(|o| o.arg.value()) {
                self.line(&format!("HostCopy({name}, {});", self.value(old)));
            } else if opcode.info().binds != Some(Bind::Window) && is_placed && self.may_be_stale(value) {
                self.line(&format!("HostForget({name});"));
            }
        }
        Ok(())
    }

    /// TFILLPAD_INPLACE makes a destination without an address of its own a view of its source (ops.md 6).
    fn bind_inplace(&mut self, op: &Op) -> Emitted<()> {
        let Some(dst) = self.operand(op, Role::Dst) else { return Ok(()) };
        let is_result = op.results.contains(&dst);
        let manual = self.placement.manual.iter().any(|m| m.value == dst) || self.early_address(dst).is_some();
        let bound_otherwise = self.func.ops.iter().any(|other| {
            let binds = other.opcode().and_then(|o| o.info().binds);
            let views = matches!(binds, Some(Bind::Window | Bind::Bytes | Bind::Storage));
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
        let order = form.cpp_order();
        // The scalars of one array are one argument.
        let begins =
            |role: &Role| role.array().is_none() || order.iter().find(|r| r.array() == role.array()) == Some(role);
        let given = |role: &Role| {
            begins(role) && (self.operand(op, *role).is_some() || !form.operand(*role).is_some_and(|o| o.optional))
        };
        let argument = |role: Role| match role.kind() {
            Kind::Index => Ok(self.index(op, role)),
            Kind::Fill if role.array().is_some() => Ok(role.cpp().trim_end_matches(char::is_numeric).to_string()),
            Kind::Fill if !opcode.info().by_flows() => self.typed_scalar(op, form, role),
            Kind::Quant | Kind::Fill => self.scalar(op, role),
            // An optional operand is a pointer in intrinsics written by hand (cpp.md 6.6).
            Kind::Tile if form.by_hand && role == Role::Offset => Ok(format!("&{}", self.tile(op, role)?)),
            Kind::Tile | Kind::Conv | Kind::Counts | Kind::Pipe => self.tile(op, role),
        };
        let mut all: Vec<String> = order.iter().copied().filter(given).map(argument).collect::<Emitted<_>>()?;
        let has = |role: &Role| self.operand(op, *role).is_some();
        let shape = opcode.shapes().iter().filter(|s| s.form == form.form);
        let shape = shape.into_iter().find(|s| s.ins.iter().all(has) && s.outs.iter().all(has));
        if shape.is_some_and(|shape| opcode.looks_like_another(shape)) && !has(&Role::Tmp) {
            all.push("NoTmp{}".into());
        }
        Ok(all)
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
                let ty = op.operand(Role::Fill).map_or(ScalarType::Index, |o| self.scalar_of(o.arg));
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

    /// A call with a configuration of its own.
    fn configured(&mut self, lines: Vec<String>, call: &str) {
        self.line("{");
        self.line("    Img2colConfig cfg;");
        for line in lines {
            self.line(&format!("    {line}"));
        }
        self.line(&format!("    {call}"));
        self.line("}");
    }
}

fn config(attrs: &Attrs) -> Vec<String> {
    let mut lines = Vec::new();
    for name in [AttrName::Kernel, AttrName::Stride, AttrName::Dilation, AttrName::Fmap, AttrName::Pad] {
        let parts: &[&str] = if name == AttrName::Pad { &["Left", "Right", "Top", "Bottom"] } else { &["H", "W"] };
        if let Some(AttrValue::Ints(values)) = attrs.get(name) {
            lines.extend(parts.iter().zip(values).map(|(part, v)| format!("cfg.{name}{part} = {v};")));
        }
    }
    lines.extend(attrs.pad_value().map(|value| format!("cfg.SetPadValue({});", words::number(&value))));
    lines
}
