//! Instructions on tiles: what they touch, and what they make of their operands.

use super::footprint_cache::Touched;
use super::{AbstractValue, Explored, Object, PathWalk};
use crate::footprint;
use crate::linear_expr::LinearExpr;
use crate::trace::{Access, Kind, Place, Root};
use smallvec::SmallVec;
use std::rc::Rc;
use tessera_ir::{Op, OpId, ScalarType, Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::inst::{Attrs, Inst, ScalarArg, TileArg};
use tessera_isa::ops::{Bind, Form as OpForm, Opcode, Role, Text};
use tessera_isa::sem::{Rect, Sem, scale_address, stored};
use tessera_isa::tile::Extent;

/// An instruction, its form, and the shapes of its tiles.
pub(super) type Alike = (Opcode, OpForm, SmallVec<[u32; 4]>);

/// An instruction, and what it touches.
pub(super) type Seen = (Inst, Rc<[footprint::Part]>);

/// Of instructions on tiles of the same shapes so many are remembered: they differ in numbers, attributes or views.
const MAX_ALIKE: usize = 8;

/// A tile operand: its role and its object.
type Operands = SmallVec<[(Role, usize); 4]>;

impl<'a> PathWalk<'a> {
    /// A new tile of a value's type, where placement put the value.
    pub(super) fn new_tile(&mut self, value: ValueId) -> Option<usize> {
        let ty = self.ty(value);
        let tile = ty.on(self.subject.profile)?;
        let conv = if let Type::Conv(conv) = ty { Some(*conv) } else { None };
        let place = match (self.early.get(&value), self.subject.placement.slot(value)) {
            (Some(at), _) => Place { root: Root::Chip(tile.loc, 0), at: at.times(8) },
            (None, Some(slot)) => Place { root: Root::Chip(slot.loc, 0), at: (slot.addr as i64 * 8).into() },
            (None, None) => Place { root: Root::Tile(value), at: LinearExpr::default() },
        };
        let manual = self.early.contains_key(&value);
        let valid = [tile.v_row.known(), tile.v_col.known()];
        self.objects.push(Object { layout: tile.layout(), tile, conv, valid, place, manual, shape: None });
        Some(self.objects.len() - 1)
    }

    pub(super) fn instruction(&mut self, id: OpId, op: &'a Op, opcode: Opcode, form: OpForm) -> Explored {
        if let Some(order) = opcode.order() {
            return self.order(id, op, order);
        }
        match opcode.info().text {
            Text::Alloc => self.alloc(op),
            Text::Assign => self.assign(op),
            Text::SetValid => {
                if let Some(AbstractValue::Tile(object)) = op.operands.first().map(|o| self.val(o.arg)) {
                    self.size(op, object);
                }
            }
            text @ (Text::MakeView | Text::Partition | Text::AddPtr) => self.derive_view(op, text),
            Text::Address(_) => self.pointer_to(op),
            Text::Dim => self.view_number(op, opcode),
            Text::LoadScalar | Text::StoreScalar => self.scalar_access(id, op),
            Text::Attributes | Text::Value => self.configure(op),
            Text::Number => self.number(op, opcode),
            Text::Pipe(_) => self.fifo(id, op),
            Text::Print | Text::Ignored | Text::AsWritten | Text::Hint(_) => {}
            Text::Forms | Text::Subset => self.on_tiles(id, op, opcode, form),
        }
        Ok(())
    }

    fn number(&mut self, op: &Op, opcode: Opcode) {
        for result in &op.results {
            let val = match (self.core_number(opcode), opcode.info().sem) {
                (Some(n), _) => AbstractValue::Int(n.into()),
                // Every block is as good as another one.
                _ => AbstractValue::Int(self.symbols.of(crate::linear_expr::Expr::Block(opcode))),
            };
            self.set(*result, val);
        }
    }

    fn alloc(&mut self, op: &Op) {
        let Some(result) = op.results.first().copied() else { return };
        let Some(object) = self.new_tile(result) else { return };
        if let Some(at) = op.operand(Role::Addr).and_then(|o| self.form(o.arg)) {
            self.bind(object, &at);
        }
        self.size(op, object);
        self.set(result, AbstractValue::Tile(object));
    }

    fn bind(&mut self, object: usize, at: &LinearExpr) {
        let object = self.change(object);
        object.place = Place { root: Root::Chip(object.tile.loc, 0), at: at.times(8) };
        object.manual = true;
    }

    fn assign(&mut self, op: &Op) {
        let named = op.operands.iter().find(|o| o.role != Role::Addr).and_then(|o| o.arg.value());
        let at = op.operand(Role::Addr).and_then(|o| self.form(o.arg));
        let (Some(named), Some(at)) = (named, at) else { return };
        match *self.get(named) {
            AbstractValue::Tile(object) => {
                self.bind(object, &at);
                if let Some(result) = op.results.first() {
                    self.set(*result, AbstractValue::Tile(object));
                }
            }
            _ => {
                self.early.insert(named, at);
            }
        }
    }

    fn size(&mut self, op: &Op, object: usize) {
        let given = [Role::ValidRow, Role::ValidCol].map(|role| op.operand(role).map(|o| self.known(o.arg)));
        if given.iter().all(Option::is_none) {
            return;
        }
        let object = self.change(object);
        let open = [object.tile.v_row, object.tile.v_col].map(|e| e == Extent::Dynamic);
        for axis in [0, 1] {
            if let (true, Some(value)) = (open[axis], given[axis]) {
                object.valid[axis] = value.and_then(|v| u64::try_from(v).ok());
            }
        }
    }

    fn configure(&mut self, op: &Op) {
        let attrs: &Attrs = op.known_attrs();
        self.config = attrs.or(&self.config);
    }

    fn operands(&mut self, op: &Op, opcode: Opcode, form: OpForm) -> Operands {
        let mut operands = Operands::new();
        for operand in op.operands.iter().filter(|o| o.role != Role::Init) {
            if let Some(AbstractValue::Tile(object)) = operand.arg.value().map(|v| self.get(v)) {
                operands.push((operand.role, *object));
            }
        }
        let outs = opcode.form(form).into_iter().flat_map(|f| f.out_roles());
        for (result, role) in op.results.iter().zip(outs) {
            if matches!(self.ty(*result), Type::Scalar(_)) {
                self.unknown(*result);
                continue;
            }
            let Some(object) = self.new_tile(*result) else { continue };
            let made = self.change(object);
            // `?` of a result means all of it (syntax.md 5).
            made.valid = [made.valid[0].or(Some(made.tile.rows)), made.valid[1].or(Some(made.tile.cols))];
            self.set(*result, AbstractValue::Tile(object));
            operands.push((role, object));
        }
        operands
    }

    fn on_tiles(&mut self, id: OpId, op: &Op, opcode: Opcode, form: OpForm) {
        if self.again(id, op).is_some() {
            return;
        }
        let operands = self.operands(op, opcode, form);
        let find = |role: Role| operands.iter().find(|o| o.0 == role).map(|o| o.1);
        let ends = find(Role::Src).zip(find(Role::Dst));
        let binds = opcode.binds(self.subject.profile);
        if let (Some(Bind::InPlace), Some((src, dst))) = (binds, ends) {
            self.share_in_place(src, dst);
        }
        let view = op.operands.iter().find_map(|o| match self.val(o.arg) {
            AbstractValue::View(view) => Some(view),
            _ => None,
        });
        let mut inst = self.inst(op, opcode, form, &operands);
        let place = view.map(|view| self.meet(view, &mut inst));
        match (binds, ends) {
            (Some(Bind::Window), Some((src, dst))) => {
                self.window(&inst, src, dst);
                return self.size(op, dst);
            }
            (Some(Bind::Bytes | Bind::Storage), Some((src, dst))) => {
                let place = self.objects[src].place.clone();
                self.change(dst).place = place;
                return;
            }
            (Some(Bind::Scale), Some((src, dst))) => return self.scale_of(src, dst),
            _ => {}
        }
        self.touch(id, op, inst, &operands, place);
        if let (true, Some(dst)) = (opcode.info().expands, find(Role::Dst)) {
            let object = self.change(dst);
            let extents = [(object.tile.v_row, object.tile.rows), (object.tile.v_col, object.tile.cols)];
            for (axis, (written, all)) in extents.into_iter().enumerate().filter(|(_, e)| e.0 == Extent::Dynamic) {
                let _ = written;
                object.valid[axis] = Some(all);
            }
        }
    }

    fn inst(&self, op: &Op, opcode: Opcode, form: OpForm, operands: &[(Role, usize)]) -> Inst {
        let mut inst = Inst::new(opcode, form, self.subject.profile);
        for (role, object) in operands {
            let object = &self.objects[*object];
            inst.conv = inst.conv.or(object.conv);
            let (tile, layout, valid) = (object.tile, object.layout.clone(), object.valid);
            inst.tiles.push(TileArg { role: *role, tile, layout, valid, place: None });
        }
        for operand in op.operands.iter().filter(|o| o.role != Role::Init) {
            if let AbstractValue::Int(form) = self.val(operand.arg) {
                let ty = operand.arg.value().and_then(|v| match self.ty(v) {
                    Type::Scalar(ty) => Some(*ty),
                    _ => None,
                });
                let whole = !matches!(ty, Some(ScalarType::Float(_)));
                let value = form.with(&self.bound).known().filter(|_| whole).map(|v| Number::Int(v.into()));
                inst.scalars.push(ScalarArg { role: operand.role, ty, value });
            }
        }
        let attrs = op.known_attrs();
        let is_configured = inst.conv.is_some() && !op.operands.iter().any(|o| o.role == Role::Global);
        inst.attrs = if is_configured { attrs.or(&self.config) } else { attrs.clone() };
        inst.makes_dst = !op.results.is_empty();
        inst
    }

    /// The event of an instruction, with the bytes of its operands.
    fn touch(&mut self, id: OpId, op: &Op, inst: Inst, operands: &[(Role, usize)], view: Option<Place>) {
        let (opcode, form, profile) = (inst.op, inst.form, self.subject.profile);
        let prints = matches!(opcode.info().sem, Sem::Prints);
        let adds = inst.attrs.adds()
            || inst.attrs.scatter_atomic().is_some_and(|a| a == tessera_isa::inst::ScatterAtomic::Add);
        let parts = self.parts(&inst, operands);
        let tiles = inst.tiles.iter().map(|t| (t.role, t.tile));
        let touched = Touched { parts, adds, pipe: opcode.pipe(form, profile, tiles) };
        let accesses = self.accesses(&touched, operands, view.as_ref());
        let pipe = touched.pipe;
        self.remember(id, op, &inst, operands, touched);
        let event = match prints {
            true => self.event(id, Some(tessera_isa::ops::Pipe::S), Kind::Meets, &accesses),
            false if accesses.is_empty() && op.results.is_empty() => return,
            false => self.event(id, Some(pipe), Kind::Work, &accesses),
        };
        self.keep(event, &inst);
        // What an event among the operands recorded is before the instruction (sync.md 2).
        let recorded: SmallVec<[u32; 2]> = op.values().filter_map(|v| self.get(v).event()).collect();
        if !recorded.is_empty() {
            self.trace.named.insert(event, recorded);
        }
    }

    /// What an instruction touches of its operands, which is asked once for all that are alike.
    fn parts(&mut self, inst: &Inst, operands: &[(Role, usize)]) -> Rc<[footprint::Part]> {
        let shapes = operands.iter().map(|(_, object)| self.shape(*object)).collect();
        let key = (inst.op, inst.form, shapes);
        let known = self.choices.alike.get(&key).and_then(|all| all.iter().find(|seen| seen.0 == *inst));
        if let Some((_, parts)) = known {
            return parts.clone();
        }
        let parts: Rc<[footprint::Part]> = match inst.op.info().sem {
            Sem::Gets | Sem::Prints => self.element(inst).into(),
            _ => footprint::parts(inst).into(),
        };
        let all = self.choices.alike.entry(key).or_default();
        if all.len() >= MAX_ALIKE {
            all.clear();
        }
        all.push((inst.clone(), parts.clone()));
        parts
    }

    /// The bytes of an instruction where its operands lie.
    pub(super) fn accesses(
        &mut self,
        touched: &Touched,
        operands: &[(Role, usize)],
        view: Option<&Place>,
    ) -> SmallVec<[Access; 4]> {
        let mut accesses: SmallVec<[Access; 4]> = SmallVec::new();
        for part in touched.parts.iter() {
            let (place, role) = match part.tile {
                Some(n) => {
                    let Some((role, object)) = operands.get(n) else { continue };
                    let mut place = self.objects[*object].place.clone();
                    if let Root::Chip(loc, core) = &mut place.root {
                        *core = self.memory_of(*loc, part.core);
                    }
                    (place, *role)
                }
                None => {
                    let Some(place) = view.cloned() else { continue };
                    (place, Role::Global)
                }
            };
            let on_view = part.tile.is_none();
            // A sum is one access, which writes.
            if on_view && touched.adds && !part.writes {
                continue;
            }
            let set = self.sets.of(&place, &part.ranges);
            let adds = touched.adds && on_view;
            accesses.push(Access { set, writes: part.writes, adds, exact: part.exact, role, start: place.start() });
        }
        accesses
    }

    /// What TGETVAL and TPRINT read.
    fn element(&self, inst: &Inst) -> Vec<footprint::Part> {
        let Some(arg) = inst.tiles.first() else { return Vec::new() };
        let named = inst.index_u64(Role::Index).and_then(|n| stored(inst, 0, n));
        let (rect, exact) = match (inst.has_scalar(Role::Index), named) {
            (true, Some((row, col))) => (Rect { row, col, rows: 1, cols: 1 }, true),
            (false, _) if arg.valid.iter().all(Option::is_some) => {
                let [rows, cols] = arg.valid.map(|v| v.unwrap_or(0));
                (Rect { row: 0, col: 0, rows, cols }, true)
            }
            _ => (Rect { row: 0, col: 0, rows: arg.tile.rows, cols: arg.tile.cols }, false),
        };
        let ranges = footprint::rect_ranges(&arg.layout, arg.tile.elem.bits().into(), rect);
        vec![footprint::Part { tile: Some(0), core: 0, ranges: ranges.into(), writes: false, exact }]
    }

    /// A destination of TFILLPAD_INPLACE without an address is a view of the source (ops.md 6).
    fn share_in_place(&mut self, src: usize, dst: usize) {
        if !self.objects[dst].manual {
            let Object { place, layout, .. } = self.objects[src].clone();
            let object = self.change(dst);
            (object.place, object.layout) = (place, layout);
        }
    }

    /// The destination becomes a window of the source, and keeps its pitch (ops.md 10).
    fn window(&mut self, inst: &Inst, src: usize, dst: usize) {
        let source = self.objects[src].clone();
        let target = &self.objects[dst];
        let (rows, cols) = (target.tile.rows, target.tile.cols);
        let at = inst.index_u64(Role::Row).zip(inst.index_u64(Role::Col));
        let (r, c) = at.unwrap_or((0, 0));
        let Some((start, layout)) = source.layout.window(r, c, rows, cols) else { return };
        let moved = match at {
            Some(_) => start.wrapping_mul(i64::from(source.tile.elem.bits())).into(),
            // Somewhere in the source.
            None => self.fresh(),
        };
        let object = self.change(dst);
        object.layout = layout;
        object.place = Place { root: source.place.root, at: source.place.at.plus(&moved) };
        object.manual = false;
    }

    /// The destination goes to the scales of the source (isa/matrix.md 3).
    fn scale_of(&mut self, src: usize, dst: usize) {
        let Place { root: Root::Chip(..), at } = &self.objects[src].place else { return };
        let Some(start) = at.known().and_then(|bits| u64::try_from(bits / 8).ok()) else { return };
        let object = self.change(dst);
        let at = (scale_address(start) as i64).saturating_mul(8);
        object.place = Place { root: Root::Chip(object.tile.loc, 0), at: at.into() };
    }
}
