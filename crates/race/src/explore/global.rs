//! Pointers and views: where they lead, as forms.

use super::{AbstractValue, PathWalk};
use crate::linear_expr::{Expr, LinearExpr};
use crate::trace::{Access, Kind, Place};
use smallvec::SmallVec;
use std::rc::Rc;
use tessera_ir::{MemrefType, Op, OpId, Type};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{GlobalArg, Inst, ViewTag, ViewTags};
use tessera_isa::ops::{Opcode, Pipe, Role, Text};

/// A pointer or view.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub elem: Elem,
    pub tags: ViewTags,
    pub dims: Rc<[LinearExpr]>,
    /// In elements.
    pub strides: Rc<[LinearExpr]>,
    pub place: Place,
}

impl<'a> PathWalk<'a> {
    fn add_view(&mut self, view: View) -> AbstractValue {
        self.views.push(view);
        AbstractValue::View(self.views.len() - 1)
    }

    /// A view of which its type says what is known.
    pub(super) fn view_of_type(&mut self, ty: &Type, place: Place) -> AbstractValue {
        let (elem, dims, strided) = match ty {
            Type::Ptr(elem, _) => (*elem, &[][..], None),
            Type::View(view) => (view.elem, view.dims.as_slice(), None),
            Type::Memref(MemrefType { elem, dims, strided, .. }) => (*elem, dims.as_slice(), strided.as_ref()),
            _ => return AbstractValue::None,
        };
        let dims: SmallVec<[LinearExpr; 5]> =
            dims.iter().map(|d| d.map_or_else(|| self.fresh(), |d| (d as i64).into())).collect();
        let strides = match strided {
            Some(s) => s.strides.iter().map(|s| s.map_or_else(|| self.fresh(), LinearExpr::from)).collect(),
            None => {
                let mut strides: SmallVec<[LinearExpr; 5]> = SmallVec::new();
                let mut next = LinearExpr::from(1);
                for dim in dims.iter().rev() {
                    strides.push(next.clone());
                    next = self.symbols.arith(tessera_ir::ArithOp::Muli, 64, &next, dim);
                }
                strides.reverse();
                strides
            }
        };
        let offset = match strided.map(|s| s.offset) {
            Some(Some(offset)) => offset.into(),
            Some(None) => self.fresh(),
            None => LinearExpr::default(),
        };
        let at = place.at.plus(&offset.times(elem.bits().into()));
        let tags = tessera_ir::view::tags_of_type(ty);
        let (dims, strides): (SmallVec<[LinearExpr; 5]>, SmallVec<[LinearExpr; 5]>) = (dims, strides);
        self.add_view(View {
            elem,
            tags,
            dims: dims.as_slice().into(),
            strides: strides.as_slice().into(),
            place: Place { at, ..place },
        })
    }

    /// The first operand that is a view, and the integers after it.
    fn view_and_numbers(&self, op: &Op) -> Option<(View, Vec<LinearExpr>)> {
        let base = op.operands.iter().find_map(|o| match self.val(o.arg) {
            AbstractValue::View(view) => Some(self.views[view].clone()),
            _ => None,
        })?;
        let numbers = op.operands.iter().filter(|o| o.role == Role::Number).filter_map(|o| self.form(o.arg));
        Some((base, numbers.collect()))
    }

    /// `make_tensor_view`, `partition_view` and `addptr`.
    pub(super) fn derive_view(&mut self, op: &Op, text: Text) {
        let Some(result) = op.results.first().copied() else { return };
        let Some((base, mut numbers)) = self.view_and_numbers(op) else { return self.unknown(result) };
        let elem = self.ty(result).global_elem().unwrap_or(base.elem);
        let bits = i64::from(base.elem.bits());
        let second = numbers.split_off(numbers.len() / 2);
        let view = match text {
            Text::MakeView => {
                let tags = tessera_ir::view::tags(self.subject.module, self.subject.func, self.constants, op);
                View { elem, tags, dims: numbers.into(), strides: second.into(), place: base.place }
            }
            Text::Partition => {
                let mut at = base.place.at.clone();
                for (offset, stride) in numbers.iter().zip(&*base.strides) {
                    let moved = self.symbols.arith(tessera_ir::ArithOp::Muli, 64, offset, stride);
                    at = at.plus(&moved.times(bits));
                }
                View { dims: second.into(), place: Place { at, ..base.place }, ..base }
            }
            _ => {
                let by = second.first().cloned().unwrap_or_default();
                let at = base.place.at.plus(&by.times(bits));
                View { place: Place { at, ..base.place }, ..base }
            }
        };
        let val = self.add_view(view);
        self.set(result, val);
    }

    /// `tile_buf_addr`, `castptr`, `tensor_view_addr`.
    pub(super) fn pointer_to(&mut self, op: &Op) {
        let Some(result) = op.results.first().copied() else { return };
        let from = op.values().next().map(|v| self.get(v).clone());
        let place = match (from, self.ty(result).global_elem()) {
            (Some(AbstractValue::Tile(object)), Some(elem)) => Some((self.objects[object].place.clone(), elem)),
            (Some(AbstractValue::View(view)), Some(elem)) => Some((self.views[view].place.clone(), elem)),
            _ => None,
        };
        match place {
            Some((place, elem)) => {
                let (dims, strides) = (Rc::from([]), Rc::from([]));
                let val = self.add_view(View { elem, tags: ViewTags::ND, dims, strides, place });
                self.set(result, val);
            }
            None => self.unknown(result),
        }
    }

    pub(super) fn view_number(&mut self, op: &Op, opcode: Opcode) {
        let Some(result) = op.results.first().copied() else { return };
        let number = self.view_and_numbers(op).and_then(|(view, numbers)| {
            let n = usize::try_from(numbers.first()?.known()?).ok()?;
            let list = if opcode == Opcode::GetTensorViewStride { &view.strides } else { &view.dims };
            list.get(n).cloned()
        });
        match number {
            Some(form) => self.set(result, AbstractValue::Int(form)),
            None => self.unknown(result),
        }
    }

    /// Gives an instruction its view; where the view lies. One with unknown strides is a place of its own, equal to
    /// itself only.
    pub(super) fn meet(&mut self, view: usize, inst: &mut Inst) -> Place {
        let view = self.views[view].clone();
        let data = inst.dst().or_else(|| inst.src());
        let valid = data.map_or([None; 2], |t| t.valid);
        let rank = view.dims.len();
        let dim = |(n, d): (usize, &LinearExpr)| {
            let known = d.known().and_then(|d| u64::try_from(d).ok());
            known.or(match rank - n {
                1 => valid[1],
                2 => valid[0],
                _ => Some(1),
            })
        };
        let dims: SmallVec<[Option<u64>; 5]> = view.dims.iter().enumerate().map(dim).collect();
        let mut dense = Some(1i64);
        let mut strides: SmallVec<[Option<i64>; 5]> = SmallVec::new();
        let mut is_known = true;
        for (stride, extent) in view.strides.iter().zip(&dims).rev() {
            let known = stride.known();
            is_known &= known.is_some() || *extent == Some(1);
            strides.push(known.or(dense));
            dense = dense.zip(*extent).and_then(|(s, d)| s.checked_mul(i64::try_from(d).ok()?));
        }
        strides.reverse();
        inst.set_view(
            GlobalArg { elem: view.elem, tag: ViewTag::Nd, dims, strides, offset: None, buffer: None },
            view.tags,
        );
        if is_known {
            return view.place;
        }
        let all = view.dims.iter().chain(&*view.strides).chain([&view.place.at]).cloned().collect();
        Place { root: view.place.root, at: self.symbols.of(Expr::View(all)) }
    }

    /// `load_scalar` and `store_scalar`.
    pub(super) fn scalar_access(&mut self, id: OpId, op: &Op) {
        let found = self.view_and_numbers(op);
        op.results.iter().for_each(|value| self.unknown(*value));
        let Some((view, numbers)) = found else { return };
        let Some(index) = numbers.last() else { return };
        let bits = i64::from(view.elem.bits());
        let place = Place { at: view.place.at.plus(&index.times(bits)), ..view.place };
        let set = self.sets.of(&place, &[(0, (bits + 7) / 8)].into());
        let writes = op.results.is_empty();
        if let Some(result) = op.results.first().filter(|_| !self.written.contains(&place.root)) {
            let found = self.symbols.of(Expr::Loaded(place.root, place.at.clone(), bits as u32));
            self.set(*result, AbstractValue::Int(found));
        }
        let access = Access { set, writes, adds: false, exact: true, role: Role::Global, start: place.start() };
        self.event(id, Some(Pipe::S), Kind::Work, &[access]);
    }
}
