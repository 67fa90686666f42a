//! Views as operands, and loads and stores of scalars.

use super::{PathWalk, View};
use crate::linear_expr::{Expr, LinearExpr};
use crate::trace::{Access, Kind, Place};
use smallvec::SmallVec;
use tessera_absint::{Analysis, GlobalMemory, Val};
use tessera_ir::{Op, OpId};
use tessera_isa::inst::{GlobalArg, Inst, ViewTag};
use tessera_isa::ops::{Pipe, Role};

impl PathWalk<'_> {
    /// Gives an instruction its view; where the view lies. One with unknown strides is a place of its own, equal to
    /// itself only.
    pub(super) fn meet(&mut self, view: usize, inst: &mut Inst) -> Place {
        let view: View = self.state.views[view].clone();
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
        self.set_unknown(op);
        let Some((view, numbers)) = found else { return };
        let Some(index) = numbers.last() else { return };
        let bits = i64::from(view.elem.bits());
        let place = Place { at: view.place.at.plus(&index.times(bits)), ..view.place };
        let set = self.sets.of(&place, &[(0, (bits + 7) / 8)].into());
        let writes = op.results.is_empty();
        if let Some(result) = op.results.first().filter(|_| !self.calls_away && !self.written.contains(&place.root)) {
            let found = self.symbols.of(Expr::Loaded(place.root, place.at.clone(), bits as u32));
            self.state.set(*result, Val::Scalar(found));
        }
        let access = Access {
            set,
            writes,
            adds: false,
            exact: true,
            if_valid: false,
            role: Role::Global,
            start: place.at.byte(),
        };
        self.event(id, Some(Pipe::S), Kind::Work, &[access]);
    }
}
