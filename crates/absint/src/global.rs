//! Views of memory: pointers, memrefs, `make_tensor_view`, `partition_view` (tile-model.md 7).

use crate::{Analysis, Origin, Place, PlaceOf, Val, View, ViewOf};
use smallvec::SmallVec;
use tessera_ir::{MemrefType, Op, Type};
use tessera_isa::inst::ViewTags;
use tessera_isa::ops::{Opcode, Role, Text};

/// Extents or strides.
type Dims<I> = SmallVec<[I; 5]>;

fn fit(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Transfer functions of pointers and views.
pub trait GlobalMemory<'a>: Analysis<'a> {
    /// A view of which everything is known from its type, except its place. It is dense unless the type has strides,
    /// as memory that is bound to an argument is.
    fn view_of_type(&mut self, ty: &Type, place: PlaceOf<'a, Self>) -> Val<Self::Int> {
        let (elem, dims, strided) = match ty {
            Type::Ptr(elem, _) => (*elem, &[][..], None),
            Type::View(view) => (view.elem, view.dims.as_slice(), None),
            Type::Memref(MemrefType { elem, dims, strided, .. }) => (*elem, dims.as_slice(), strided.as_ref()),
            _ => return Val::None,
        };
        let dims: Dims<Self::Int> = dims.iter().map(|d| self.written(d.map(fit))).collect();
        let offset = strided.map(|s| self.written(s.offset));
        let strides = match strided {
            Some(s) => s.strides.iter().map(|s| self.written(*s)).collect(),
            None => self.dense(&dims),
        };
        let at = offset.map_or(place.at.clone(), |offset| self.moved(&place.at, &offset, elem.bits()));
        let (tags, place) = (tessera_ir::view::tags_of_type(ty), Place { at, ..place });
        let (dims, strides) = (dims.as_slice().into(), strides.as_slice().into());
        self.state_mut().add_view(View { elem, tags, dims, strides, place, bits: None })
    }

    /// A number of a type, which may leave it open.
    fn written(&mut self, n: Option<i64>) -> Self::Int {
        match n {
            Some(n) => self.constant(n),
            None => self.unknown(),
        }
    }

    /// Strides of a dense array.
    fn dense(&mut self, dims: &[Self::Int]) -> Dims<Self::Int> {
        let mut strides = Dims::new();
        let mut next = self.constant(1);
        for dim in dims.iter().rev() {
            strides.push(next.clone());
            next = self.product(&next, dim);
        }
        strides.reverse();
        strides
    }

    /// The place `by` elements of `bits` bits after `at`.
    fn moved(&mut self, at: &Self::Int, by: &Self::Int, bits: u32) -> Self::Int {
        let by = self.product(by, &self.constant(bits.into()));
        self.sum(at, &by)
    }

    /// The first operand that is a view, and the integers after it.
    fn view_and_numbers(&mut self, op: &Op) -> Option<(ViewOf<'a, Self>, Dims<Self::Int>)> {
        let base = op.operands.iter().find_map(|o| match self.state().get(o.arg.value()?) {
            Val::View(id) => Some(self.state().views[*id].clone()),
            _ => None,
        })?;
        let numbers = op.operands.iter().filter(|o| o.role == Role::Number);
        Some((base, numbers.map(|o| self.read(o.arg).unwrap_or_else(|| self.unknown())).collect()))
    }

    /// `pto.make_tensor_view`, `pto.partition_view` and `pto.addptr`: another view of the same memory.
    fn derive_view(&mut self, op: &Op, text: Text) {
        let Some(result) = op.results.first().copied() else { return };
        let Some((base, numbers)) = self.view_and_numbers(op) else {
            return self.set_by_type(result, Origin::Found);
        };
        let ty = self.state().ty(result);
        let bits = base.elem.bits();
        let (first, second) = numbers.split_at(numbers.len() / 2);
        let view = match text {
            Text::MakeView => {
                let elem = ty.global_elem().unwrap_or(base.elem);
                let (tags, dims) = (self.view_tags(op), self.extents(ty, first));
                View { elem, tags, dims: dims.as_slice().into(), strides: second.into(), ..base }
            }
            Text::Partition => {
                let sizes = self.extents(ty, second);
                let mut at = base.place.at.clone();
                for (offset, stride) in first.iter().zip(&*base.strides) {
                    let by = self.product(offset, stride);
                    at = self.moved(&at, &by, bits);
                }
                // Nothing follows from a window outside its view.
                if !self.check_partition(op, &base, first, &sizes) {
                    at = self.unknown();
                }
                View { dims: sizes.as_slice().into(), place: Place { at, ..base.place }, ..base }
            }
            _ => {
                let by = numbers.first().cloned().unwrap_or_else(|| self.unknown());
                let place = Place { at: self.moved(&base.place.at, &by, bits), ..base.place };
                match ty {
                    Type::Ptr(..) => View { place, dims: [].into(), strides: [].into(), ..base },
                    _ => View { place, ..base },
                }
            }
        };
        let val = self.state_mut().add_view(view);
        self.state_mut().set(result, val);
    }

    /// Extents as they are computed, or else as the result's type says.
    fn extents(&mut self, ty: &Type, computed: &[Self::Int]) -> Dims<Self::Int> {
        let declared = match ty {
            Type::View(view) => view.dims.as_slice(),
            Type::Memref(memref) => &memref.dims,
            _ => &[],
        };
        let declared = declared.iter().copied().chain(std::iter::repeat(None));
        let either = |(n, declared): (&Self::Int, Option<u64>)| {
            let declared = declared.filter(|_| self.known(n).is_none());
            declared.map_or_else(|| n.clone(), |d| self.constant(fit(d)))
        };
        computed.iter().zip(declared).map(either).collect()
    }

    /// `tile_buf_addr`, `castptr`, `tensor_view_addr`: a pointer to the first element.
    fn pointer_to(&mut self, op: &Op) {
        let Some(result) = op.results.first().copied() else { return };
        let from = op.values().next().map(|v| self.state().get(v).clone());
        let (place, bits) = match from {
            Some(Val::Tile(object)) => {
                (self.pointee(object), Some(self.state().objects[object].tile.bytes().saturating_mul(8)))
            }
            Some(Val::View(view)) => (self.state().views[view].place.clone(), self.state().views[view].bits),
            _ => return self.set_by_type(result, Origin::Found),
        };
        let Some(elem) = self.state().ty(result).global_elem() else {
            return self.set_by_type(result, Origin::Found);
        };
        let view = View { elem, tags: ViewTags::ND, dims: [].into(), strides: [].into(), place, bits };
        let val = self.state_mut().add_view(view);
        self.state_mut().set(result, val);
    }

    /// `get_tensor_view_dim` and `get_tensor_view_stride`.
    fn view_number(&mut self, op: &Op, opcode: Opcode) {
        let Some(result) = op.results.first().copied() else { return };
        let asked = self.view_and_numbers(op);
        let asked = asked.and_then(|(view, numbers)| Some((view, self.known(numbers.first()?)?)));
        if let Some((view, n)) = asked {
            let list = if opcode == Opcode::GetTensorViewStride { &view.strides } else { &view.dims };
            match usize::try_from(n).ok().and_then(|n| list.get(n)) {
                Some(number) => return self.state_mut().set(result, Val::Scalar(number.clone())),
                None => self.check_dimension(op, n, list.len()),
            }
        }
        self.set_by_type(result, Origin::Found);
    }
}

impl<'a, A: Analysis<'a>> GlobalMemory<'a> for A {}
