//! Instructions on tiles: an `Inst` with what is known, its rules, and what it leaves behind.

use super::state::{Ext, Object, Val};
use super::walk::Walk;
use smallvec::SmallVec;
use tessera_ir::{Op, Type};
use tessera_isa::diag::{Diagnostic, Fault, Severity, Span};
use tessera_isa::inst::{Inst, Place, Root, ScalarArg, TileArg};
use tessera_isa::ops::{Bind, Form, Opcode, Role, Text};
use tessera_isa::sem::{Sem, effects, scale_address};

#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub role: Role,
    pub object: usize,
    type_span: Span,
}

type Operands = SmallVec<[Operand; 4]>;

impl Walk<'_> {
    pub(super) fn instruction(&mut self, op: &Op, opcode: Opcode, form: Form) {
        let text = opcode.info().text;
        match text {
            Text::Alloc => self.alloc(op),
            Text::Assign => self.assign(op),
            Text::SetValid => self.set_validshape(op),
            Text::MakeView | Text::Partition | Text::AddPtr => self.derive_view(op, text),
            Text::Address(_) => self.pointer_to(op),
            Text::Dim => self.view_number(op, opcode),
            Text::Print => {}
            Text::LoadScalar | Text::StoreScalar => self.scalar_access(op),
            Text::Attributes if matches!(opcode.info().sem, Sem::RoundsF32 { .. }) => {
                let mut inst = Inst::new(opcode, form, self.profile);
                inst.attrs = op.known_attrs().clone();
                for fault in crate::check(&inst) {
                    self.found(op, &[], fault);
                }
            }
            Text::Attributes | Text::Value => self.configure(op, opcode),
            Text::Number | Text::Pipe(_) => self.set_unknowns(&op.results),
            Text::Ignored | Text::AsWritten | Text::Hint(_) => {}
            Text::Forms | Text::Subset => self.on_tiles(op, opcode, form),
        }
    }

    fn on_tiles(&mut self, op: &Op, opcode: Opcode, form: Form) {
        let Some(operands) = self.tile_operands(op, opcode, form) else { return };
        if opcode.binds(self.profile) == Some(Bind::InPlace) {
            self.share_in_place(&operands);
        }
        let inst = self.inst(op, opcode, form, &operands);
        self.report.meet(op.span, &inst);
        let broken = operands.iter().find_map(|o| self.state.objects[o.object].broken);
        if let Some(rule) = broken {
            self.report.refuse(op.span, rule);
        } else if let Some(fault) = self.unset(&inst, &operands) {
            self.found(op, &operands, fault);
        } else if !self.in_turn() || self.passed.get(&op.span) != Some(&inst) {
            let faults = crate::check(&inst);
            if faults.is_empty() && self.in_turn() {
                self.passed.insert(op.span, inst.clone());
            }
            for fault in faults {
                self.found(op, &operands, fault);
            }
        }
        self.check_pipe(op, &inst);
        self.alias(op, &inst, &operands);
        self.after(op, &inst, &operands);
    }

    /// The tiles of an instruction, ins before outs; `None` where one is not there (its definition was refused).
    fn tile_operands(&mut self, op: &Op, opcode: Opcode, form: Form) -> Option<Operands> {
        let mut operands = Operands::new();
        let mut missing = false;
        for operand in op.operands.iter().filter(|o| o.role != Role::Init) {
            let Some(value) = operand.arg.value() else { continue };
            match self.get(value) {
                Val::Tile(object) => {
                    operands.push(Operand { role: operand.role, object, type_span: operand.type_span })
                }
                Val::None => missing = true,
                Val::Scalar(_) | Val::View(_) => {}
            }
        }
        let outs = opcode.form(form).into_iter().flat_map(|f| f.out_roles());
        for (result, role) in op.results.iter().zip(outs) {
            if matches!(self.ty(*result), Type::Scalar(_)) {
                self.set_by_type(*result, false);
                continue;
            }
            let object = self.result_tile(*result)?;
            operands.push(Operand { role, object, type_span: self.func.value(*result).type_span });
        }
        (!missing).then_some(operands)
    }

    fn object(&self, operands: &[Operand], role: Role) -> Option<(usize, &Object)> {
        let id = operands.iter().find(|o| o.role == role)?.object;
        Some((id, &self.state.objects[id]))
    }

    /// The source, the destination's number, and the destination.
    fn ends(&self, operands: &[Operand]) -> Option<(&Object, usize, &Object)> {
        let (dst, object) = self.object(operands, Role::Dst)?;
        Some((self.object(operands, Role::Src)?.1, dst, object))
    }

    /// A destination of TFILLPAD_INPLACE without an address becomes a view of the source (ops.md 6).
    fn share_in_place(&mut self, operands: &[Operand]) {
        let Some((src, dst, object)) = self.ends(operands).filter(|(_, _, dst)| !dst.manual) else { return };
        let (place, storage) = (src.place, src.storage);
        let layout = src.layout.clone();
        // Other shapes and layouts are refused; a view of them would mean nothing.
        let alike = src.tile.same_layout(&object.tile)
            && (src.tile.rows, src.tile.cols, src.tile.elem) == (object.tile.rows, object.tile.cols, object.tile.elem);
        self.state.change(dst, |object| {
            object.place = place;
            object.storage = storage;
            if alike {
                object.layout = layout;
            }
        });
    }

    fn inst(&self, op: &Op, opcode: Opcode, form: Form, operands: &[Operand]) -> Inst {
        let mut inst = Inst::new(opcode, form, self.profile);
        for operand in operands {
            let object = &self.state.objects[operand.object];
            inst.conv = inst.conv.or(object.conv);
            // In dead code only the type means anything.
            let (valid, place) = if self.dead {
                ([object.tile.v_row.known(), object.tile.v_col.known()], None)
            } else {
                (object.valid.map(Ext::known), object.place)
            };
            let (tile, layout) = (object.tile, object.layout.clone());
            inst.tiles.push(TileArg { role: operand.role, tile, layout, valid, place });
        }
        for operand in op.operands.iter().filter(|o| o.role != Role::Init) {
            match operand.arg.value().map_or(Val::Scalar(None), |v| self.get(v)) {
                Val::Scalar(_) => inst.scalars.push(ScalarArg {
                    role: operand.role,
                    ty: operand.arg.value().map(|v| self.scalar_type(v)),
                    value: self.number(operand.arg),
                }),
                Val::View(id) => {
                    let (view, tags) = &self.state.views[id];
                    inst.set_view(view.clone(), *tags);
                }
                Val::Tile(_) | Val::None => {}
            }
        }
        let attrs = op.known_attrs();
        let configured = inst.conv.is_some() && inst.global.is_none();
        inst.attrs = if configured { attrs.or(&self.state.config) } else { attrs.clone() };
        inst.makes_dst = !op.results.is_empty();
        inst
    }

    /// `valid-unset`: an extent that the instruction uses and that nothing ever set (tile-model.md 4).
    fn unset(&mut self, inst: &Inst, operands: &[Operand]) -> Option<Fault> {
        if self.dead || inst.tiles.iter().all(|t| !t.valid.contains(&None)) {
            return None;
        }
        for (n, (operand, touch)) in operands.iter().zip(effects(inst).tiles).enumerate() {
            let object = &self.state.objects[operand.object];
            if !object.valid.contains(&Ext::Unset) || !touch.needs_valid {
                continue;
            }
            let name = if object.valid[0] == Ext::Unset { "v_row" } else { "v_col" };
            // Reported once: from here on it counts as set to something.
            self.state.change(operand.object, |object| {
                object.valid = object.valid.map(|e| if e == Ext::Unset { Ext::Unknown } else { e });
            });
            return Some(crate::rules::valid::unset(inst.op, operand.role, name).on(n));
        }
        None
    }

    pub(super) fn found(&mut self, op: &Op, operands: &[Operand], mut fault: Fault) {
        if fault.is_error() {
            self.report.refuse(op.span, fault.rule);
        }
        if !self.report.is_new(op.span, fault.rule) {
            return;
        }
        fault.message.push_str(&self.iteration());
        let about = fault.operand;
        let named: SmallVec<[bool; 4]> = operands.iter().map(|o| mentions(&fault.message, o.role)).collect();
        let mut found = Diagnostic::from(fault).at(op.span, "");
        for (n, operand) in operands.iter().enumerate() {
            let object = &self.state.objects[operand.object];
            // A sentence about one operand needs only that one, and those that it names.
            let is_named = named.get(n).copied().unwrap_or(false);
            if about.is_some_and(|about| about != n && !is_named) && operand.role.is_dst() == is_dst(operands, about) {
                continue;
            }
            let what = match object.conv {
                Some(conv) => format!("{}: a conv tile of {}", operand.role, conv.elem),
                None => format!("{}: {}", operand.role, object.tile),
            };
            found = found.and_at(operand.type_span, what);
        }
        for view in op.operands.iter().filter(|o| o.role == Role::Global) {
            found = found.and_at(view.type_span, "the view");
        }
        self.report.diagnostics.push(found);
    }

    /// What an instruction changes besides bytes.
    fn after(&mut self, op: &Op, inst: &Inst, operands: &[Operand]) {
        match inst.op.binds(inst.profile) {
            Some(Bind::Window) => {
                self.window(inst, operands);
                if let Some((_, dst, _)) = self.ends(operands) {
                    self.window_size(op, dst);
                }
            }
            Some(Bind::Bytes) => self.rebind(op, operands),
            Some(Bind::Storage) => self.share(operands),
            Some(Bind::Scale) => self.scale_of(operands),
            _ => {}
        }
        if inst.op.info().expands
            && let Some((dst, _)) = self.object(operands, Role::Dst)
        {
            self.state.change(dst, Object::fill);
        }
    }

    /// The destination becomes a window of the source, and keeps its pitch (ops.md 10).
    fn window(&mut self, inst: &Inst, operands: &[Operand]) {
        let Some((src, dst, object)) = self.ends(operands) else { return };
        let at = inst.index_u64(Role::Row).zip(inst.index_u64(Role::Col));
        let bits = i64::from(src.tile.elem.bits());
        let storage = src.storage;
        // Somewhere in the source: the pitch is known all the same.
        let (r, c) = at.unwrap_or((0, 0));
        let (start, layout) = src.layout.window(r, c, object.tile.rows, object.tile.cols).unzip();
        let place = src.place.filter(|_| at.is_some()).and_then(|place| {
            let bytes = u64::try_from(start?.checked_mul(bits)? / 8).ok()?;
            Some(Place { start: place.start.checked_add(bytes)?, ..place })
        });
        self.state.change(dst, |object| {
            object.place = place;
            object.storage = storage;
            object.manual = false;
            if let Some(layout) = layout {
                object.layout = layout;
            }
        });
    }

    /// The destination is the source's storage under another layout (isa/structure.md 7).
    fn share(&mut self, operands: &[Operand]) {
        let Some((src, dst, _)) = self.ends(operands) else { return };
        let (place, storage) = (src.place, src.storage);
        self.state.change(dst, |object| (object.place, object.storage) = (place, storage));
    }

    /// The destination goes to the scales of the source, as TASSIGN would bind it (isa/matrix.md 3). Without addresses
    /// placement sees to it.
    fn scale_of(&mut self, operands: &[Operand]) {
        let Some((src, dst, object)) = self.ends(operands) else { return };
        let Some(Place { root: Root::Memory(_), start }) = src.place else { return };
        let place = Place { root: Root::Memory(object.tile.loc), start: scale_address(start) };
        self.state.change(dst, |object| {
            object.place = Some(place);
            object.manual = true;
        });
    }

    /// On a2a3 and a5 the destination of TRESHAPE lies where the source lies (ops.md 4).
    fn rebind(&mut self, op: &Op, operands: &[Operand]) {
        let Some((src, dst, object)) = self.ends(operands) else { return };
        let (place, lost) = (src.place, object.place.filter(|p| object.manual && src.place != Some(*p)));
        if let Some(Place { start, .. }) = lost
            && self.report.is_new(op.span, "treshape-address")
        {
            let text = format!("on {} dst lies where src lies, and gives up its address {start:#x}", self.profile);
            let note = Diagnostic::new("treshape-address", Severity::Note, text).at(op.span, "");
            self.report.diagnostics.push(note);
        }
        self.state.change(dst, |object| {
            object.place = place;
            object.manual = false;
        });
    }
}

fn is_dst(operands: &[Operand], n: Option<usize>) -> bool {
    n.and_then(|n| operands.get(n)).is_some_and(|o| o.role.is_dst())
}

/// Does a sentence name an operand by its role?
fn mentions(message: &str, role: Role) -> bool {
    message.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == role.name())
}
