//! Bounds of views and pointers (tile-model.md 7).

use super::walk::Walk;
use tessera_absint::{Analysis, GlobalMemory};
use tessera_ir::{Op, Type, ValueId};
use tessera_isa::diag::Fault;
use tessera_isa::inst::{GlobalArg, ViewTag};

type Known = Option<i128>;

impl Walk<'_> {
    /// A view as an operand, with what is known of it.
    pub(super) fn view_arg(&self, view: usize) -> GlobalArg {
        let view = &self.state.views[view];
        let bits = view.elem.bits();
        GlobalArg {
            elem: view.elem,
            tag: ViewTag::Nd,
            dims: view.dims.iter().map(|d| u64::try_from(self.known(d)?).ok()).collect(),
            strides: view.strides.iter().map(|s| i64::try_from(self.known(s)?).ok()).collect(),
            offset: self.known(&view.place.at).and_then(|at| i64::try_from(at.div_euclid(bits.into())).ok()),
            buffer: view.bits.map(|all| all / u64::from(bits)),
        }
    }

    /// `pto.load_scalar` and `pto.store_scalar`: an element before the buffer is outside it, however long it is.
    pub(super) fn scalar_access(&mut self, op: &Op) {
        let found = self.view_and_numbers(op);
        self.set_unknown(op);
        let Some((base, numbers)) = found else { return };
        let Some((start, index)) = self.known(&base.place.at).zip(numbers.last().and_then(|n| self.known(n))) else {
            return;
        };
        let bits = base.elem.bits();
        let at = index.saturating_add(start.div_euclid(bits.into()));
        // Pointers to on-chip memory point into a tile.
        let in_tile = |v: ValueId| matches!(self.state.ty(v), Type::Ptr(_, Some(space)) if !space.contains("gm"));
        let count = base.bits.map(|all| i128::from(all / u64::from(bits))).filter(|_| op.values().any(in_tile));
        if let Some(count) = count.filter(|count| !(0..*count).contains(&at)) {
            let what = format!("element {at} of a tile is read or written, and it has {count} in memory");
            self.found(op, Fault::new("tile-bounds", what).help("stay inside the tile"));
        } else if at < 0 {
            let what = format!("element {at} is read or written, and the buffer starts at 0");
            self.found(op, Fault::new("gm-bounds", what).help("use an index of at least 0"));
        }
    }
}

/// A window that provably leaves its view in one dimension.
pub(super) fn outside(n: usize, at: Known, size: Known, limit: Known) -> Option<Fault> {
    let (from, extent) = (at.unwrap_or(0), size.unwrap_or(0));
    let end = from.saturating_add(extent);
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
