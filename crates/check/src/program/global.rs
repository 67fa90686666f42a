//! Views of global memory: pointers, memrefs, `make_tensor_view`, `partition_view` (tile-model.md 7).

use super::state::Val;
use super::walk::Walk;
use smallvec::SmallVec;
use tessera_ir::{Arg, MemrefType, Op, Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::diag::Fault;
use tessera_isa::inst::{GlobalArg, ViewTag, ViewTags};
use tessera_isa::ops::{Opcode, Role, Text};

type Known = Option<i128>;

impl Walk<'_> {
    /// A pointer, memref or view of which the type says all that is known, except that an argument of the function
    /// starts where its buffer does.
    pub(super) fn global_of_type(&mut self, ty: &Type, is_argument: bool) -> Val {
        let start = is_argument.then_some(0);
        let (elem, dims, strides, offset) = match ty {
            Type::Ptr(elem, _) => (*elem, SmallVec::new(), SmallVec::new(), start),
            Type::View(view) => (view.elem, view.dims.clone(), view.dims.iter().map(|_| None).collect(), start),
            Type::Memref(MemrefType { elem, dims, strided: Some(s), .. }) => {
                (*elem, dims.clone(), s.strides.clone(), s.offset.filter(|_| is_argument))
            }
            Type::Memref(memref) => (memref.elem, memref.dims.clone(), dense(&memref.dims), start),
            _ => return Val::None,
        };
        self.state.add_view(
            GlobalArg { elem, tag: ViewTag::Nd, dims, strides, offset, buffer: None },
            tessera_ir::view::tags_of_type(ty),
        )
    }

    /// The first operand that is a view, and the integers after it.
    fn view_and_numbers(&self, op: &Op) -> Option<(GlobalArg, ViewTags, Vec<Known>)> {
        let (base, tags) = op.operands.iter().find_map(|o| match self.get(o.arg.value()?) {
            Val::View(id) => Some(&self.state.views[id]),
            _ => None,
        })?;
        let is_number = |arg: Arg| match arg {
            Arg::Int(_) => true,
            Arg::Value(v) => matches!(self.ty(v), Type::Scalar(_)),
        };
        let numbers = op.operands.iter().filter(|o| is_number(o.arg) && o.role != Role::Scalar);
        Some((base.clone(), *tags, numbers.map(|o| self.int(o.arg)).collect()))
    }

    fn written_dims(&self, value: ValueId) -> SmallVec<[Option<u64>; 5]> {
        match self.ty(value) {
            Type::View(view) => view.dims.clone(),
            Type::Memref(memref) => memref.dims.clone(),
            _ => SmallVec::new(),
        }
    }

    /// `pto.make_tensor_view`, `pto.partition_view` and `pto.addptr`: another view of the same buffer.
    pub(super) fn derive_view(&mut self, op: &Op, text: Text) {
        let Some(result) = op.results.first().copied() else { return };
        let Some((base, tags, numbers)) = self.view_and_numbers(op) else {
            return self.set_by_type(result, false);
        };
        let tags = if text == Text::MakeView { self.tags(op) } else { tags };
        let written = self.written_dims(result);
        let view = match text {
            Text::MakeView => make_view(base, &written, &numbers),
            Text::Partition => self.partition_view(op, base, &written, &numbers),
            _ => {
                let offset = moved(base.offset, numbers.first().copied().flatten());
                match self.ty(result) {
                    Type::Ptr(..) => GlobalArg { offset, dims: SmallVec::new(), strides: SmallVec::new(), ..base },
                    _ => GlobalArg { offset, ..base },
                }
            }
        };
        let val = self.state.add_view(view, tags);
        self.set(result, val);
    }

    /// The layout of a new view; a written one that its strides contradict is told (isa/structure.md 8).
    fn tags(&mut self, op: &Op) -> ViewTags {
        let inferred = tessera_ir::view::inferred(self.module, self.func, &self.constants, op);
        let Some(written) = op.known_attrs().layout() else { return inferred };
        if inferred.contradicts(written) {
            let other = if written == ViewTag::Nd { ViewTag::Dn } else { ViewTag::Nd };
            let what = format!("the view is tagged {written}, and its last two strides say {other}");
            self.found(op, &[], Fault::new("view-layout", what).help(format!("write {other}, or leave the tag out")));
        }
        ViewTags::written(written)
    }

    /// `pto.partition_view %v, offsets = […], sizes = […]`: a window, inside its view (`gm-bounds`).
    fn partition_view(&mut self, op: &Op, base: GlobalArg, written: &[Option<u64>], numbers: &[Known]) -> GlobalArg {
        let rank = base.dims.len();
        let known = |n: usize| numbers.get(n).copied().flatten();
        let mut view = base.clone();
        let mut broken = None;
        for (n, dim) in view.dims.iter_mut().enumerate() {
            let declared = written.get(n).copied().flatten();
            let (at, size) = (known(n), known(rank + n).or(declared.map(i128::from)));
            broken = broken.or_else(|| outside(n, at, size, *dim));
            *dim = size.and_then(|v| u64::try_from(v).ok());
            let stride = base.strides.get(n).copied().flatten();
            view.offset = moved(view.offset, at.zip(stride).map(|(at, stride)| at.saturating_mul(stride.into())));
        }
        if let Some(fault) = broken {
            // What lies outside is reported once; nothing follows from it.
            view.offset = None;
            self.found(op, &[], fault);
        }
        view
    }

    /// `tile_buf_addr`, `castptr`, `tensor_view_addr`: a pointer to the first element, where that is known.
    pub(super) fn pointer_to(&mut self, op: &Op) {
        let Some(result) = op.results.first().copied() else { return };
        let from = op.values().next().map(|v| self.get(v));
        let elem = self.ty(result).global_elem();
        let pointer = match (from, elem) {
            (Some(Val::Tile(object)), Some(elem)) => {
                let bits = self.state.objects[object].tile.bytes().saturating_mul(8);
                let buffer = Some(bits / u64::from(elem.bits()));
                let (dims, strides) = (SmallVec::new(), SmallVec::new());
                Some(GlobalArg { elem, tag: ViewTag::Nd, dims, strides, offset: Some(0), buffer })
            }
            (Some(Val::View(id)), Some(elem)) if self.state.views[id].0.elem == elem => {
                let base = self.state.views[id].0.clone();
                Some(GlobalArg { dims: SmallVec::new(), strides: SmallVec::new(), ..base })
            }
            _ => None,
        };
        match pointer {
            Some(pointer) => {
                let val = self.state.add_view(pointer, ViewTags::ND);
                self.set(result, val);
            }
            None => self.set_by_type(result, false),
        }
    }

    /// `get_tensor_view_dim` and `get_tensor_view_stride`.
    pub(super) fn view_number(&mut self, op: &Op, opcode: Opcode) {
        let Some(result) = op.results.first().copied() else { return };
        self.set_by_type(result, false);
        let Some((view, _, numbers)) = self.view_and_numbers(op) else { return };
        let (Some(Some(n)), rank) = (numbers.first().copied(), view.dims.len()) else { return };
        let Some(n) = usize::try_from(n).ok().filter(|n| *n < rank) else {
            let what = format!("dimension {n} of a view of {rank} dimensions is asked for");
            return self.found(op, &[], Fault::new("view-dim", what).help("dimensions count from 0"));
        };
        let known = match opcode {
            Opcode::GetTensorViewStride => view.strides.get(n).copied().flatten().map(i128::from),
            _ => view.dims.get(n).copied().flatten().map(i128::from),
        };
        if !self.dead {
            self.set(result, Val::Scalar(known.map(Number::Int)));
        }
    }

    /// `pto.load_scalar` and `pto.store_scalar`: an element before the buffer is outside it, however long it is.
    pub(super) fn scalar_access(&mut self, op: &Op) {
        if let Some((base, _, numbers)) = self.view_and_numbers(op)
            && let (Some(offset), Some(Some(index))) = (base.offset, numbers.last())
        {
            let at = index.saturating_add(offset.into());
            // What is on the chip points into a tile.
            let in_tile = |v: ValueId| matches!(self.ty(v), Type::Ptr(_, Some(space)) if !space.contains("gm"));
            let count = base.buffer.map(i128::from).filter(|_| op.values().any(in_tile));
            if let Some(count) = count.filter(|count| !(0..*count).contains(&at)) {
                let what = format!("element {at} of a tile is read or written, and it has {count} in memory");
                self.found(op, &[], Fault::new("tile-bounds", what).help("stay inside the tile"));
            } else if at < 0 {
                let what = format!("element {at} is read or written, and the buffer starts at 0");
                let fault = Fault::new("gm-bounds", what).help("use an index of at least 0");
                self.found(op, &[], fault);
            }
        }
        self.set_unknowns(&op.results);
    }
}

/// `pto.make_tensor_view %p, shape = […], strides = […]`.
fn make_view(base: GlobalArg, written: &[Option<u64>], numbers: &[Known]) -> GlobalArg {
    let known = |n: usize| numbers.get(n).copied().flatten();
    let dim = |(n, written): (usize, &Option<u64>)| known(n).and_then(|v| u64::try_from(v).ok()).or(*written);
    let stride = |n: usize| known(written.len() + n).and_then(|v| i64::try_from(v).ok());
    GlobalArg {
        dims: written.iter().enumerate().map(dim).collect(),
        strides: (0..written.len()).map(stride).collect(),
        ..base
    }
}

/// An offset so many elements further on.
fn moved(offset: Option<i64>, by: Known) -> Option<i64> {
    i64::try_from(by?.saturating_add(offset?.into())).ok()
}

/// Strides of a dense array, as far as they are known.
fn dense(dims: &[Option<u64>]) -> SmallVec<[Option<i64>; 5]> {
    let mut strides: SmallVec<[Option<i64>; 5]> = SmallVec::new();
    let mut stride = Some(1i64);
    for dim in dims.iter().rev() {
        strides.push(stride);
        stride = stride.zip(*dim).and_then(|(s, d)| s.checked_mul(i64::try_from(d).ok()?));
    }
    strides.reverse();
    strides
}

/// A window that provably leaves its view in one dimension.
fn outside(n: usize, at: Known, size: Known, have: Option<u64>) -> Option<Fault> {
    let (from, extent) = (at.unwrap_or(0), size.unwrap_or(0));
    let end = from.saturating_add(extent);
    let limit = have.map(i128::from);
    let what = if from < 0 || extent < 0 {
        format!("dimension {n} of the partition has offset {from} and size {extent}")
    } else if let Some(limit) = limit.filter(|limit| end > *limit) {
        format!("dimension {n} of the partition ends at {end}, and its view has {limit}")
    } else {
        return None;
    };
    let help = match limit {
        Some(limit) if (0..=limit).contains(&extent) => format!("its offset is at most {}", limit - extent),
        Some(limit) => format!("its size is at most {limit}"),
        None => "offsets and sizes are at least 0".into(),
    };
    Some(Fault::new("gm-bounds", what).help(help))
}
