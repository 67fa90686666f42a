//! Tiles: the instructions that make, bind and size them, and what the others make of their operands.

use crate::{Analysis, Binding, Ext, GlobalMemory, Object, Origin, Place, Val};
use smallvec::SmallVec;
use tessera_ir::{Op, Type, ValueId};
use tessera_isa::inst::{Inst, ScalarArg, TileArg};
use tessera_isa::ops::{AttrName, Bind, Form, Opcode, Role, Text};
use tessera_isa::sem::{Sem, scale_address};

/// Tile operands by role, with their objects: ins before outs.
pub type Operands = SmallVec<[(Role, usize); 4]>;

/// Transfer functions of tiles.
pub trait Tiles<'a>: Analysis<'a> {
    /// The transfer function of an instruction that neither computes on tiles nor synchronizes: it makes, binds and
    /// sizes tiles, makes views, sets attributes, or gives numbers. Returns whether it was one.
    fn transfer(&mut self, op: &'a Op, opcode: Opcode) -> bool {
        match opcode.info().text {
            Text::Alloc => self.alloc(op),
            Text::Assign => self.assign(op),
            Text::SetValid => {
                if let Some(object) = op.operands.first().and_then(|o| self.state().tile(o.arg)) {
                    self.resize(op, object);
                }
            }
            text @ (Text::MakeView | Text::Partition | Text::AddPtr) => self.derive_view(op, text),
            Text::Address(_) => self.pointer_to(op),
            Text::Dim => self.view_number(op, opcode),
            Text::Extents(axes) => self.valid_extents(op, axes),
            Text::Attributes | Text::Value => self.configure(op, opcode),
            Text::Print | Text::Ignored | Text::AsWritten | Text::Hint(_) | Text::Meet => {}
            Text::Number | Text::Pipe(_) | Text::Comm(_) => self.set_unknown(op),
            Text::LoadScalar | Text::StoreScalar | Text::Forms | Text::Subset | Text::Slot => return false,
        }
        true
    }

    /// Adds a tile of the value's type.
    fn add_tile(&mut self, value: ValueId, origin: Origin) -> Option<usize> {
        let facts = self.facts(value)?;
        let tile = facts.tile;
        let early = self.state().early.get(&value).cloned();
        let (place, binding) = match early {
            Some(at) => (self.address(&facts.tile, &at), Binding::Address),
            None => (self.storage(value, &tile, origin), Binding::Own),
        };
        let open = if origin == Origin::Own { Ext::Unset } else { Ext::Unknown };
        let valid = [tile.v_row, tile.v_col].map(|extent| extent.known().map_or(open, Ext::Known));
        let broken = facts.fault.as_ref().filter(|f| f.is_error()).map(|f| f.rule);
        let (layout, conv) = (facts.layout.clone(), facts.conv);
        let objects = &mut self.state_mut().objects;
        let (id, shape) = (objects.len(), None);
        objects.push(Object { tile, conv, layout, valid, place, binding, storage: id, broken, shape });
        Some(id)
    }

    /// The properties of a tile's type on the profile.
    fn facts(&mut self, value: ValueId) -> Option<std::rc::Rc<crate::TypeFacts>> {
        let ty = self.state().func.value(value).ty;
        if let Some(Some(known)) = self.state().types.get(ty.index()) {
            return Some(known.clone());
        }
        let written = self.state().module.types.get(ty);
        let fault = written.on(self.state().profile).and_then(|tile| self.type_fault(written, &tile));
        self.state_mut().facts(ty, fault)
    }

    /// The tile that an instruction's result is: `?` means all of it (syntax.md 5).
    fn result_tile(&mut self, value: ValueId) -> Option<usize> {
        let id = self.new_tile(value, Origin::Own)?;
        self.state_mut().change(id).fill();
        self.state_mut().set(value, Val::Tile(id));
        Some(id)
    }

    /// An address in the memory of a tile.
    fn address(&mut self, tile: &tessera_isa::tile::Tile, at: &Self::Int) -> Place<Self::Int, Self::Root> {
        Place { root: Self::memory(tile.loc), at: self.product(at, &self.constant(8)) }
    }

    /// Binds a tile to an address.
    fn bind(&mut self, id: usize, at: &Self::Int) {
        let tile = self.state().objects[id].tile;
        let place = self.address(&tile, at);
        let object = self.state_mut().change(id);
        if matches!(object.binding, Binding::View | Binding::InPlace) && object.broken.is_none() {
            // It was a view, which may have another pitch.
            object.layout = tile.layout();
        }
        (object.place, object.binding, object.storage) = (place, Binding::Address, id);
        self.bound(id);
    }

    /// `pto.alloc_tile` and `pto.alloc_multi_tile [addr = %a] [valid_row = %r] [valid_col = %c]`.
    fn alloc(&mut self, op: &Op) {
        let Some(result) = op.results.first().copied() else { return };
        let Some(id) = self.new_tile(result, Origin::Own) else { return };
        self.state_mut().set(result, Val::Tile(id));
        if let (Some(at), Some(facts)) = (op.operand(Role::Addr).and_then(|o| self.read(o.arg)), self.facts(result)) {
            let at = self.check_address(op, &facts, at);
            self.bind(id, &at);
        }
        // The valid extents of a multi-buffer tile are its slots'.
        if self.state().ty(result).slots().is_none() {
            self.resize(op, id);
        }
    }

    /// `pto.tassign %t, @tile(0x…)` and `%r = pto.tassign %t, %a : T -> T`.
    fn assign(&mut self, op: &Op) {
        let named = op.operands.iter().find(|o| o.role != Role::Addr).and_then(|o| o.arg.value());
        let at = op.operand(Role::Addr).and_then(|o| self.read(o.arg));
        let (Some(named), Some(at)) = (named, at) else { return };
        let Some(facts) = self.facts(named) else { return };
        let at = self.check_address(op, &facts, at);
        let Val::Tile(id) = *self.state().get(named) else {
            // Named before it is defined: the address waits.
            self.state_mut().early.insert(named, at);
            return;
        };
        self.bind(id, &at);
        self.state_mut().set_all(&op.results, [Val::Tile(id)]);
    }

    /// The valid extents of a tile at this moment, as far as they are known.
    fn valid_extents(&mut self, op: &Op, axes: &[usize]) {
        let tile = op.operands.first().and_then(|o| self.state().tile(o.arg));
        let valid = tile.map(|id| self.state().objects[id].valid);
        for (axis, result) in axes.iter().zip(&op.results) {
            let known = valid.and_then(|valid| valid.get(*axis).copied());
            let number = match known {
                Some(Ext::Known(n)) => i64::try_from(n).ok().map(|n| self.constant(n)),
                _ => None,
            };
            let number = number.unwrap_or_else(|| self.unknown());
            self.state_mut().set(*result, Val::Scalar(number));
        }
    }

    /// Sets valid extents that the type leaves open.
    fn resize(&mut self, op: &Op, id: usize) {
        let given = [Role::ValidRow, Role::ValidCol].map(|role| self.int_at(op, role));
        if given == [None, None] {
            return;
        }
        let known = given.map(Option::flatten);
        let is_legal = self.check_extents(op, id, known);
        let known = known.map(|n| Ext::from(n.filter(|_| is_legal).and_then(|n| u64::try_from(n).ok())));
        self.state_mut().change(id).set_open(|axis, now| given[axis].map_or(now, |_| known[axis]));
    }

    /// `pto.setfmatrix` and `pto.set_img2col_padding` (ops.md 7).
    fn configure(&mut self, op: &Op, opcode: Opcode) {
        let attrs = op.known_attrs();
        if opcode == Opcode::SetImg2colPadding {
            let value = op.operands.first().and_then(|o| self.number(o.arg)).or(attrs.pad_value());
            self.state_mut().config.set(AttrName::PadValue, value);
        } else {
            self.state_mut().config = attrs.or(&self.state().config);
        }
    }

    /// The tiles of an instruction; none where one is not there, because its definition was refused.
    fn operands(&mut self, op: &Op, opcode: Opcode, form: Form) -> Option<Operands> {
        let mut operands = Operands::new();
        let mut is_complete = true;
        for operand in op.operands.iter().filter(|o| o.role != Role::Init) {
            let Some(value) = operand.arg.value() else { continue };
            match self.state().get(value) {
                Val::Tile(object) => operands.push((operand.role, *object)),
                Val::None => is_complete &= !self.state().ty(value).is_tile(),
                _ => {}
            }
        }
        let outs = opcode.form(form).into_iter().flat_map(|f| f.out_roles());
        for (result, role) in op.results.iter().zip(outs) {
            if matches!(self.state().ty(*result), Type::Scalar(_)) {
                self.set_by_type(*result, Origin::Found);
                continue;
            }
            match self.result_tile(*result) {
                Some(object) => operands.push((role, object)),
                None => is_complete = false,
            }
        }
        is_complete.then_some(operands)
    }

    /// The instruction with what is known, but for places and its view.
    fn inst(&mut self, op: &Op, opcode: Opcode, form: Form, operands: &[(Role, usize)]) -> Inst {
        let mut inst = Inst::new(opcode, form, self.state().profile);
        for (role, object) in operands {
            let object = &self.state().objects[*object];
            inst.conv = inst.conv.or(object.conv);
            let (tile, layout, valid) = (object.tile, object.layout.clone(), object.valid());
            inst.tiles.push(TileArg { role: *role, tile, layout, valid, place: None });
        }
        for operand in op.operands.iter().filter(|o| o.role != Role::Init) {
            let value = operand.arg.value();
            if value.is_none_or(|value| matches!(self.state().get(value), Val::Scalar(_))) {
                let ty = value.map(|value| self.state().scalar_type(value));
                inst.scalars.push(ScalarArg { role: operand.role, ty, value: self.number(operand.arg) });
            }
        }
        let attrs = op.known_attrs();
        inst.attrs = if opcode.is_configured() { attrs.or(&self.state().config) } else { attrs.clone() };
        inst.makes_dst = !op.results.is_empty();
        let tiles: SmallVec<[_; 4]> = inst.tiles.iter().map(|t| (t.role, t.tile)).collect();
        // Level 3 has a rule of its own for these (`level-tmp`).
        let is_told =
            self.state().module.level == Some(3) && opcode.wants_scratch(form, &inst.attrs, inst.profile, &tiles);
        inst.finds_scratch = self.state().finds_scratch || is_told;
        inst
    }

    /// The source and the destination of an instruction that binds one to the other.
    fn ends(operands: &[(Role, usize)]) -> Option<(usize, usize)> {
        let find = |role| operands.iter().find(|o| o.0 == role).map(|o| o.1);
        find(Role::Src).zip(find(Role::Dst))
    }

    /// Makes the bindings that precede the checks of an instruction: a destination of TFILLPAD_INPLACE that has no
    /// address and is no view becomes a view of the source (ops.md 6).
    fn bind_in_place(&mut self, opcode: Opcode, operands: &[(Role, usize)]) {
        let is_in_place = opcode.info().binds == Some(Bind::InPlace);
        let Some((src, dst)) = Self::ends(operands).filter(|_| is_in_place) else { return };
        let state = self.state_mut();
        let (source, target) = (&state.objects[src], &state.objects[dst]);
        if matches!(target.binding, Binding::Address | Binding::View) {
            return;
        }
        // Other shapes and layouts are refused; a view of them would mean nothing.
        let (a, b) = (&source.tile, &target.tile);
        let is_alike = a.same_layout(b) && (a.rows, a.cols, a.elem) == (b.rows, b.cols, b.elem);
        let layout = if is_alike { source.layout.clone() } else { target.layout.clone() };
        let (place, storage) = (source.place.clone(), source.storage);
        let object = state.change(dst);
        (object.place, object.storage, object.layout, object.binding) = (place, storage, layout, Binding::InPlace);
    }

    /// Applies the changes of an instruction other than to bytes.
    fn rebind(&mut self, op: &Op, inst: &Inst, operands: &[(Role, usize)]) {
        if let (Some(bind), Some((src, dst))) = (inst.op.binds(inst.profile), Self::ends(operands)) {
            match bind {
                Bind::Window => {
                    self.window(inst, src, dst);
                    // The valid region of a window is as written, if its type leaves it open (isa/today.md 5.1).
                    self.resize(op, dst);
                    self.check_window(op, dst);
                }
                Bind::Slot => {
                    self.slot(op, src, dst);
                    self.resize(op, dst);
                }
                Bind::Bytes => {
                    self.check_rebind(op, src, dst);
                    self.reinterpret(src, dst);
                }
                Bind::Storage => {
                    self.reinterpret(src, dst);
                    self.state_mut().change(dst).storage = self.state().objects[src].storage;
                }
                Bind::Scale => self.scale_of(src, dst),
                Bind::New | Bind::Address | Bind::InPlace => {}
            }
        }
        let dst = operands.iter().find(|o| o.0 == Role::Dst);
        if let Some((_, dst)) = dst.filter(|_| inst.op.info().expands) {
            self.state_mut().change(*dst).fill();
        }
    }

    /// The destination lies where the source lies, under the layout of its own type.
    fn reinterpret(&mut self, src: usize, dst: usize) {
        let (source, target) = (&self.state().objects[src], &self.state().objects[dst]);
        let is_legal = source.broken.is_none() && target.broken.is_none();
        let layout = if is_legal { target.tile.layout_over(&source.tile, &source.layout) } else { None };
        let place = source.place.clone();
        let object = self.state_mut().change(dst);
        (object.place, object.binding) = (place, Binding::View);
        object.layout = layout.unwrap_or_else(|| object.layout.clone());
    }

    /// The destination becomes a window of the source, and keeps its pitch (ops.md 10).
    fn window(&mut self, inst: &Inst, src: usize, dst: usize) {
        let (source, target) = (self.state().objects[src].clone(), self.state().objects[dst].tile);
        let at = inst.index_u64(Role::Row).zip(inst.index_u64(Role::Col));
        // Somewhere in the source: the pitch is known all the same.
        let (r, c) = at.unwrap_or((0, 0));
        let (start, layout) = source.layout.window(r, c, target.rows, target.cols).unzip();
        let by = start.filter(|_| at.is_some());
        let by = by.map(|start| self.constant(start)).unwrap_or_else(|| self.unknown());
        let at = self.moved(&source.place.at, &by, source.tile.elem.bits());
        let object = self.state_mut().change(dst);
        (object.place, object.storage) = (Place { at, ..source.place }, source.storage);
        object.binding = Binding::View;
        object.layout = layout.unwrap_or_else(|| object.layout.clone());
    }

    /// The destination becomes a slot of the source (isa/today.md 5.2).
    fn slot(&mut self, op: &Op, src: usize, dst: usize) {
        let (source, bytes) = (self.state().objects[src].place.clone(), self.state().objects[dst].tile.bytes());
        let index = op.operand(Role::Index).and_then(|o| self.read(o.arg));
        let by = match index {
            Some(index) => self.product(&index, &self.constant(i64::try_from(bytes).unwrap_or(i64::MAX))),
            None => self.unknown(),
        };
        let at = self.moved(&source.at, &by, 8);
        let storage = self.state().objects[src].storage;
        let object = self.state_mut().change(dst);
        (object.place, object.storage, object.binding) = (Place { at, ..source }, storage, Binding::View);
    }

    /// The destination goes to the scales of the source, as TASSIGN would bind it (isa/matrix.md 3). Without addresses
    /// placement sees to it.
    fn scale_of(&mut self, src: usize, dst: usize) {
        let source = &self.state().objects[src];
        if source.place.root != Self::memory(source.tile.loc) {
            return;
        }
        let start = self.known(&source.place.at).and_then(|bits| u64::try_from(bits / 8).ok());
        if let Some(start) = start.and_then(|start| i64::try_from(scale_address(start)).ok()) {
            self.bind(dst, &self.constant(start));
        }
    }

    /// Forgets what an instruction in a loop that is walked once may change in one of its tiles.
    fn forget_tile(&mut self, id: usize, opcode: Opcode, role: Role) {
        let info = opcode.info();
        let moves = info.binds.is_some_and(|bind| match bind {
            Bind::Address => true,
            bind => bind.follows_src() && role == Role::Dst,
        });
        let resizes = matches!(info.sem, Sem::Resizes) || info.expands && role == Role::Dst;
        let place = moves.then(|| self.anywhere());
        if !moves && !resizes {
            return;
        }
        let object = self.state_mut().change(id);
        object.place = place.unwrap_or_else(|| object.place.clone());
        if resizes {
            object.set_open(|_, _| Ext::Unknown);
        }
    }
}

impl<'a, A: Analysis<'a>> Tiles<'a> for A {}
