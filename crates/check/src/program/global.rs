//! Views of global memory: pointers, memrefs, `make_tensor_view`, `partition_view` (tile-model.md 7).

use super::state::Val;
use super::walk::Walk;
use smallvec::SmallVec;
use tessera_ir::{Arg, MemrefType, Op, Type, ValueId};
use tessera_isa::diag::Fault;
use tessera_isa::inst::{GlobalArg, ViewTag};
use tessera_isa::ops::Role;

impl Walk<'_> {
    /// A pointer, memref or view of which the type says all that is known.
    pub(super) fn global_of_type(&mut self, ty: &Type) -> Val {
        let view = match ty {
            Type::Ptr(elem, _) => GlobalArg {
                elem: *elem,
                tag: ViewTag::Nd,
                dims: SmallVec::new(),
                strides: SmallVec::new(),
                offset: None,
                buffer: None,
            },
            Type::View(view) => GlobalArg {
                elem: view.elem,
                tag: ViewTag::Nd,
                dims: view.dims.clone(),
                strides: view.dims.iter().map(|_| None).collect(),
                offset: None,
                buffer: None,
            },
            Type::Memref(memref) => of_memref(memref),
            _ => return Val::None,
        };
        self.add_view(view)
    }

    /// The same as an argument of the function: it starts where its buffer does.
    pub(super) fn global_argument(&mut self, ty: &Type) -> Val {
        let val = self.global_of_type(ty);
        let start = match ty {
            Type::Memref(MemrefType { strided: Some(s), .. }) => s.offset,
            _ => Some(0),
        };
        if let Val::View(id) = val
            && let Some(view) = self.state.views.get_mut(id)
        {
            view.offset = start;
        }
        val
    }

    fn add_view(&mut self, view: GlobalArg) -> Val {
        self.state.views.push(view);
        Val::View(self.state.views.len() - 1)
    }

    /// The first operand that is a view, and the integers after it.
    fn view_and_numbers(&self, op: &Op) -> Option<(GlobalArg, Vec<Option<i128>>)> {
        let base = op.operands.iter().find_map(|o| match self.get(o.arg.value()?) {
            Val::View(id) => self.state.views.get(id),
            _ => None,
        })?;
        let is_number = |arg: Arg| match arg {
            Arg::Int(_) => true,
            Arg::Value(v) => matches!(self.ty(v), Type::Scalar(_)),
        };
        let numbers = op.operands.iter().filter(|o| is_number(o.arg) && o.role != Role::Scalar);
        Some((base.clone(), numbers.map(|o| self.int(o.arg)).collect()))
    }

    fn written_dims(&self, value: ValueId) -> SmallVec<[Option<u64>; 5]> {
        match self.ty(value) {
            Type::View(view) => view.dims.clone(),
            _ => SmallVec::new(),
        }
    }

    /// `pto.make_tensor_view %p, shape = […], strides = […]`.
    pub(super) fn make_view(&mut self, op: &Op) {
        let Some(result) = op.results.first().copied() else {
            return;
        };
        let written = self.written_dims(result);
        let Some((base, numbers)) = self.view_and_numbers(op) else {
            let val = self.unknown(result);
            return self.set(result, val);
        };
        let rank = written.len();
        let known = |n: usize| numbers.get(n).copied().flatten();
        let dim = |n: usize| known(n).and_then(|v| u64::try_from(v).ok()).or(written.get(n).copied().flatten());
        let view = GlobalArg {
            elem: base.elem,
            tag: op.known_attrs().layout().unwrap_or(ViewTag::Nd),
            dims: (0..rank).map(dim).collect(),
            strides: (0..rank).map(|n| known(rank + n).and_then(|v| i64::try_from(v).ok())).collect(),
            offset: base.offset,
            buffer: base.buffer,
        };
        let val = self.add_view(view);
        self.set(result, val);
    }

    /// `pto.partition_view %v, offsets = […], sizes = […]`: a window, inside its view (`gm-bounds`).
    pub(super) fn partition_view(&mut self, op: &Op) {
        let Some(result) = op.results.first().copied() else {
            return;
        };
        let written = self.written_dims(result);
        let Some((base, numbers)) = self.view_and_numbers(op) else {
            let val = self.unknown(result);
            return self.set(result, val);
        };
        let rank = base.dims.len();
        let known = |n: usize| numbers.get(n).copied().flatten();
        let mut view = base.clone();
        let mut broken = None;
        for n in 0..rank {
            let declared = written.get(n).copied().flatten();
            let (at, size) = (known(n), known(rank + n).or(declared.map(i128::from)));
            let have = base.dims.get(n).copied().flatten();
            broken = broken.or_else(|| outside(n, at, size, have));
            if let Some(dim) = view.dims.get_mut(n) {
                *dim = size.and_then(|v| u64::try_from(v).ok());
            }
            let stride = base.strides.get(n).copied().flatten();
            let moved = at.zip(stride).map(|(at, stride)| at.saturating_mul(stride.into()));
            view.offset = view
                .offset
                .zip(moved)
                .and_then(|(offset, moved)| i64::try_from(moved.saturating_add(offset.into())).ok());
        }
        if let Some(fault) = broken {
            // What lies outside is reported once; nothing follows from it.
            view.offset = None;
            self.found(op, &[], fault);
        }
        let val = self.add_view(view);
        self.set(result, val);
    }

    /// `pto.addptr %p, %n`.
    pub(super) fn add_pointer(&mut self, op: &Op) {
        let Some(result) = op.results.first().copied() else {
            return;
        };
        let Some((mut base, numbers)) = self.view_and_numbers(op) else {
            let val = self.unknown(result);
            return self.set(result, val);
        };
        let by = numbers.first().copied().flatten();
        base.offset = base.offset.zip(by).and_then(|(offset, by)| i64::try_from(by.saturating_add(offset.into())).ok());
        let val = self.add_view(base);
        self.set(result, val);
    }

    /// `pto.load_scalar` and `pto.store_scalar`: an element before the buffer is outside it, however long it is.
    pub(super) fn scalar_access(&mut self, op: &Op) {
        if let Some((base, numbers)) = self.view_and_numbers(op)
            && let (Some(offset), Some(Some(index))) = (base.offset, numbers.last())
        {
            let at = index.saturating_add(offset.into());
            if at < 0 {
                let what = format!("element {at} is read or written, and the buffer starts at 0");
                let fault = Fault::new("gm-bounds", what).help("use an index of at least 0");
                self.found(op, &[], fault);
            }
        }
        for result in &op.results {
            self.set(*result, Val::Scalar(None));
        }
    }
}

fn of_memref(memref: &MemrefType) -> GlobalArg {
    let strides = match &memref.strided {
        Some(strided) => strided.strides.clone(),
        None => dense(&memref.dims),
    };
    GlobalArg { elem: memref.elem, tag: ViewTag::Nd, dims: memref.dims.clone(), strides, offset: None, buffer: None }
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
fn outside(n: usize, at: Option<i128>, size: Option<i128>, have: Option<u64>) -> Option<Fault> {
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
    let fault = Fault::new("gm-bounds", what);
    Some(match limit {
        Some(limit) if (0..=limit).contains(&extent) => fault.help(format!("its offset is at most {}", limit - extent)),
        Some(limit) => fault.help(format!("its size is at most {limit}")),
        None => fault.help("offsets and sizes are at least 0"),
    })
}
