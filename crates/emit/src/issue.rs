//! The instructions themselves: destinations first, then sources, then scalars.

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{Op, ScalarType, Type, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AttrValue, Attrs, F32Rounding, GroupAxis, Precision, QuantScaleAlg, QuantType};
use tessera_isa::ops::{AttrKind, AttrName, Bind, CppAttr, CppValue, Form, FormInfo, Kind, OpInfo, Opcode, Role, Text};
use tessera_isa::profile::FP_ALIGN;
use tessera_isa::sem::Sem;
use tessera_isa::tile::{Extent, Tile};

/// The value that an attribute has, or its default, as an argument.
fn attribute(name: AttrName, attrs: &Attrs) -> Option<String> {
    Some(match (name.info().kind, attrs.value(name)?) {
        (AttrKind::Word { list, .. }, AttrValue::Word(n)) => {
            let word = list.get(usize::from(n))?.cpp;
            if name.cpp().starts_with(char::is_uppercase) { format!("{}::{word}", name.cpp()) } else { word.into() }
        }
        (_, AttrValue::Bool(value)) => value.to_string(),
        (_, AttrValue::Int(value)) if name.cpp().starts_with(char::is_uppercase) => {
            format!("{}{{{value}}}", name.cpp())
        }
        (_, value) => words::number(&value.number()?),
    })
}

/// Whether TQUANT takes it by pointer (cpp.md 6.6).
fn is_pointer(role: Role) -> bool {
    matches!(role, Role::Offset | Role::Exp | Role::Max | Role::Scaling | Role::ExpZz)
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

/// The place of the scratch tile among the arguments.
fn tmp_place(form: &FormInfo) -> usize {
    let order = form.cpp_order();
    order.iter().position(|role| *role == Role::Tmp).unwrap_or(order.len())
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

    /// The scalar of an instruction on tiles: as an element of the tiles (isa/scalar.md 2), or as the row says.
    fn typed_scalar(&self, op: &Op, form: &FormInfo, role: Role) -> Emitted<String> {
        let text = self.scalar(op, role)?;
        if let Some((_, ty)) = form.typed.iter().find(|t| t.0 == role) {
            return Ok(format!("static_cast<{ty}>({text})"));
        }
        let ty = op.operand(role).map_or(ScalarType::Index, |o| self.scalar_of(o.arg));
        let src = [Role::Src, Role::Src0, Role::Dst].iter().find_map(|role| self.operand(op, *role));
        let Some(elem) = src.and_then(|v| self.ty(v).tile().map(|t| t.elem)) else { return Ok(text) };
        if ScalarType::of(elem) == ty {
            return Ok(text);
        }
        // A single bit is -1 or 0, as every narrow integer keeps its sign.
        let text = if ty.bits() == 1 { format!("({text} ? -1 : 0)") } else { text };
        Ok(match (ty, elem.is_float()) {
            // The low bits of an integer are the element.
            (ScalarType::Int(..) | ScalarType::Index, true) => {
                let bits = elem.bits().max(8);
                format!("__builtin_bit_cast({}, static_cast<uint{bits}_t>({text}))", elem.cpp())
            }
            // The small floats convert by way of f32.
            (ScalarType::Float(from), true) if from != Elem::F32 => {
                format!("static_cast<{}>(static_cast<float>({text}))", elem.cpp())
            }
            _ => format!("static_cast<{}>({text})", elem.cpp()),
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

    /// An instruction on tiles.
    pub(crate) fn instruction(&mut self, op: &Op, opcode: Opcode, form: Form) -> Emitted<()> {
        self.begin_results(op)?;
        let attrs = op.known_attrs();
        let info = opcode.info();
        match info.text {
            _ if op.operand(Role::Global).is_some() => {
                return self.transfer(op, opcode, form);
            }
            _ if info.attrs.contains(&AttrName::Kernel) => return self.img2col(op),
            Text::Attributes if matches!(info.sem, Sem::RoundsF32 { .. }) => {
                let name = info.cpp.first().copied().unwrap_or_default();
                let mode = attrs.f32_rounding().map_or("CAST_ROUND", F32Rounding::cpp);
                let enable = attrs.enable() != Some(false);
                self.line(&format!("{name}({enable}, RoundMode::{mode});"));
                return Ok(());
            }
            Text::Attributes => {
                self.set_fmatrix(op);
                return Ok(());
            }
            Text::Value => {
                self.set_padding(op);
                return Ok(());
            }
            // TRESHAPE keeps the number of bytes; a tile of fewer is the first part of its source.
            _ if info.binds == Some(Bind::Bytes) && self.shrinks(op) => return self.first_part(op),
            _ if info.binds == Some(Bind::Storage) => {
                let (dst, src) = (self.tile(op, Role::Dst)?, self.tile(op, Role::Src)?);
                self.bind(&dst, &src, self.operand(op, Role::Src));
                return Ok(());
            }
            _ => {}
        }
        // One element: in C++ a member of the tile (cpp.md 4).
        if matches!(opcode, Opcode::Tgetval | Opcode::Tsetval) {
            return self.element(op, opcode == Opcode::Tgetval);
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
        let template = match opcode.info().attrs.contains(&AttrName::StoreMode) {
            true => self.template_of_mx(op, form)?,
            false => self.template_of_row(op, opcode.info(), form),
        };
        let mut arrays = self.arrays(op, form)?;
        if self.wants_scratch(op, opcode, form.form)
            && let Some((ty, address)) = self.scratch(op, opcode, form.form)?
        {
            let (tmp, at) = (self.names.fresh("tmp"), tmp_place(form));
            arrays.push(format!("{ty} {tmp};"));
            arrays.push(format!("TASSIGN({tmp}, {address:#x});"));
            arguments.insert(at.min(arguments.len()), tmp);
        }
        let call = format!("{name}{template}({});", arguments.join(", "));
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
        let place = |a: AttrName| match info.axis_cpp {
            Some((place, _)) if a == AttrName::MaskPattern => place,
            _ => given_as(form, a),
        };
        let axis = |cpp: CppAttr| info.axis_cpp.filter(|(place, _)| *place == cpp).map(|(_, word)| word.to_string());
        let of = |cpp: CppAttr| info.attrs_of(form).iter().copied().filter(move |a| place(*a) == cpp);
        let is_said = |a: &AttrName| attrs.get(*a).is_some() || *a == AttrName::Byte;
        let value = |a: AttrName| attribute(a, attrs).or_else(|| self.counted_byte(op, a));
        let mut all: Vec<String> = of(CppAttr::Ahead).filter(is_said).filter_map(value).collect();
        all.extend(axis(CppAttr::Ahead));
        all.extend(algorithm(info, attrs));
        let mut behind: Vec<String> = of(CppAttr::Behind).filter(is_said).filter_map(value).collect();
        behind.extend(axis(CppAttr::Behind));
        if !behind.is_empty() {
            all.extend(self.types_of_arguments(op, form));
            all.extend(behind);
        }
        if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
    }

    /// The types of the arguments, as template arguments.
    fn types_of_arguments(&self, op: &Op, form: &FormInfo) -> Vec<String> {
        let mut given = form.cpp_order();
        given.retain(|r| op.operand(*r).is_some() || self.operand(op, *r).is_some());
        let ty = |role: Role| match self.operand(op, role).filter(|_| role.kind() == Kind::Tile) {
            Some(tile) => Some(self.type_of(&self.value(tile))),
            None => self.typed_scalar(op, form, role).ok().map(|text| format!("decltype({text})")),
        };
        form.cpp_types(&given).into_iter().filter_map(ty).collect()
    }

    /// The template arguments of TQUANT to a format whose groups share exponents (cpp.md 6.6).
    fn template_of_mx(&self, op: &Op, form: &FormInfo) -> Emitted<String> {
        let attrs = op.known_attrs();
        let is_nv = attrs.quant_scale_alg() == Some(QuantScaleAlg::Nv);
        if attrs.group_axis() == Some(GroupAxis::Axis0) {
            let source = if is_nv { "Nv" } else { "Ocp" };
            let format = if attrs.quant_type() == Some(QuantType::MxFp4) { "MxFp4E2M1" } else { "MxFp8E4M3" };
            let interleave = if attrs.flag(AttrName::Interleave) { ", true" } else { "" };
            return Ok(format!("<0, MxQuantAlg::{source}{format}{interleave}>"));
        }
        let mut all: Vec<String> = attribute(AttrName::QuantType, attrs).into_iter().collect();
        match (self.operand(op, Role::ExpZz).is_some(), is_nv) {
            (true, true) => {
                let what = "pto.tquant.mx with exponents for the matrix unit and the nv scale";
                return Err(cannot(op.span, what, "leave out exp_zz, or quantScaleAlg"));
            }
            (true, false) => all.extend(attribute(AttrName::StoreMode, attrs)),
            (false, true) => {
                all.extend(self.types_of_arguments(op, form));
                all.extend(attribute(AttrName::QuantScaleAlg, attrs));
            }
            (false, false) => {}
        }
        Ok(format!("<{}>", all.join(", ")))
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
        Ok(arrays.into_iter().map(|(ty, name, items)| format!("{ty} {name} = {{{}}};", items.join(", "))).collect())
    }

    /// The scratch tile that a call needs and the text leaves out, as TTRANS does: its type, and an address behind
    /// everything else.
    fn scratch(&self, op: &Op, opcode: Opcode, form: Form) -> Emitted<Option<(String, u64)>> {
        let is_usual = form == Form::Plain && opcode.form(Form::Tmp).is_some();
        let is_needed = self.wants_scratch(op, opcode, form);
        let roles = [Role::Src, Role::Src0];
        let source = roles.iter().find_map(|role| self.operand(op, *role)).and_then(|v| self.ty(v).tile());
        let Some(tile) = source.map(|t| t.resolve(self.profile)).filter(|_| is_usual || is_needed) else {
            return Ok(None);
        };
        let whole = Tile { v_row: Extent::Static(tile.rows), v_col: Extent::Static(tile.cols), ..tile };
        let loc = tile.loc as usize;
        let used = self.placement.high_water.get(loc).copied().unwrap_or(0);
        let address = used.next_multiple_of(FP_ALIGN);
        let room = self.profile.memory(tile.loc).and_then(|m| Some(m.bytes? - m.reserved));
        let fits = room.is_none_or(|room| address.saturating_add(tile.bytes()) <= room)
            && self.placement.computed.get(loc) == Some(&false);
        if fits {
            return Ok(Some((words::tile_type(&whole, op.span)?, address)));
        }
        match is_needed {
            true => Err(cannot(
                op.span,
                format!("pto.{opcode} without a tmp tile, for which there is no room,"),
                "give it a tmp tile",
            )),
            false => Ok(None),
        }
    }

    /// Results begin: declared, placed, all of them valid, with their old contents where the text gives them.
    pub(crate) fn begin_results(&mut self, op: &Op) -> Emitted<()> {
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
            let name = self.names.object(value).to_string();
            if let Some(old) = op.operand(Role::Init).and_then(|o| o.arg.value()) {
                let old = self.value(old);
                self.copy(op.span, value, &name, &old)?;
            }
        }
        Ok(())
    }

    /// Whether the destination has fewer bytes than the source.
    fn shrinks(&self, op: &Op) -> bool {
        let bytes = |role: Role| {
            self.operand(op, role).and_then(|v| self.ty(v).tile()).map(|t| t.resolve(self.profile).bytes())
        };
        bytes(Role::Dst) < bytes(Role::Src)
    }

    /// The first bytes of a tile as another one: a copy on cpu, as TRESHAPE makes one there.
    fn first_part(&mut self, op: &Op) -> Emitted<()> {
        let (dst, src) = (self.tile(op, Role::Dst)?, self.tile(op, Role::Src)?);
        let source = self.operand(op, Role::Src);
        if self.profile.is_npu() {
            self.bind(&dst, &src, source);
            return Ok(());
        }
        let part = self.names.fresh("part");
        self.line(&format!("{} {part} = {dst};", self.type_of(&dst)));
        self.bind(&part, &src, source);
        self.line(&format!("TMOV({dst}, {part});"));
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
            self.bind(&d, &s, self.operand(op, Role::Src));
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
            // An optional operand and shared exponents are pointers in intrinsics written by hand (cpp.md 6.6).
            Kind::Tile if form.by_hand && is_pointer(role) => Ok(format!("&{}", self.tile(op, role)?)),
            Kind::Tile | Kind::Conv | Kind::Counts | Kind::Pipe | Kind::Async => self.tile(op, role),
        };
        order.iter().copied().filter(given).map(argument).collect()
    }

    /// Whether the arguments would be those of another call without a scratch tile.
    fn wants_scratch(&self, op: &Op, opcode: Opcode, form: Form) -> bool {
        let has = |role: &Role| self.operand(op, *role).is_some();
        let mut shapes = opcode.shapes().iter().filter(|s| s.form == form);
        let shape = shapes.find(|s| s.ins.iter().all(has) && s.outs.iter().all(has));
        shape.is_some_and(|shape| opcode.looks_like_another(shape)) && !has(&Role::Tmp)
    }

    /// Binds a tile to where another one lies.
    pub(crate) fn bind(&mut self, dst: &str, src: &str, value: Option<ValueId>) {
        let address = match value.and_then(|v| self.known_address(v)) {
            Some(address) => format!("{address:#x}"),
            None => format!("reinterpret_cast<uintptr_t>({src}.data())"),
        };
        self.line(&format!("TASSIGN({dst}, {address});"));
    }

    /// The address of a tile that is bound once, and to a number.
    fn known_address(&self, value: ValueId) -> Option<u64> {
        let rebinds = |id: &tessera_ir::OpId| {
            let op = self.func.op(*id);
            let is_new = op.results.contains(&value);
            let binds = op.opcode().and_then(|o| o.info().binds).is_some();
            binds && !is_new && (op.dsts().iter().any(|(_, v)| *v == value) || op.operand(Role::Tile).is_some())
        };
        if self.uses[value.index()].iter().any(rebinds) {
            return None;
        }
        let written = match self.func.value(value).def {
            tessera_ir::Def::Result(id, _) => self.func.op(id).operand(Role::Addr).map(|o| o.arg),
            _ => None,
        };
        let planned = || self.placement.slot(value).map(|slot| slot.addr);
        match written {
            Some(arg) => self.constant(arg).and_then(|v| u64::try_from(v).ok()),
            None => planned(),
        }
    }

    /// One element of a tile, by its place in storage.
    fn element(&mut self, op: &Op, is_read: bool) -> Emitted<()> {
        let index = format!("static_cast<uint32_t>({})", self.index(op, Role::Index));
        if is_read {
            let call = format!("{}.GetValue({index})", self.tile(op, Role::Src)?);
            if !op.results.iter().any(|v| self.needed[v.index()]) {
                self.line(&format!("(void){call};"));
                return Ok(());
            }
            let ty = words::scalar_type(self.result_type(op)?, op.span)?;
            return self.define(op, format!("static_cast<{ty}>({call})"));
        }
        let Some(dst) = self.operand(op, Role::Dst) else {
            return Err(Diagnostic::internal(op.span, "an element is set in no tile"));
        };
        let elem = self.ty(dst).tile().map_or("uint8_t", |t| t.elem.cpp());
        let stored = op.operands.iter().find(|o| o.role.kind() == Kind::Fill);
        let value = stored.map_or_else(|| "0".into(), |o| self.signed_or_not(o.arg));
        let tile = self.value(dst);
        self.line(&format!("{tile}.SetValue({index}, static_cast<{elem}>({value}));"));
        Ok(())
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
        let mut all = vec![self.type_of(&self.tile(op, Role::Dst)?), self.type_of(&self.tile(op, Role::Src)?)];
        match form {
            Form::VectorQuant => all.push(self.type_of(&self.tile(op, Role::Fp)?)),
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
}
