//! Instructions that are come across again, on the same kinds of operands: they touch the same parts of them.

use super::{Core, PathWalk, View};
use crate::footprint::OperandFootprint;
use crate::linear_expr::LinearExpr;
use crate::trace::{Access, Kind, Root};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;
use tessera_absint::Val;
use tessera_ir::{Op, OpId};
use tessera_isa::inst::Inst;
use tessera_isa::layout::Layout;
use tessera_isa::ops::{Pipe, Role};
use tessera_isa::sem::Sem;
use tessera_isa::tile::Tile;

/// Everything that decides which parts of a tile are touched.
pub(super) type Shape = (Tile, Layout, [Option<u64>; 2]);

/// The accesses of an instruction.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    pub parts: Rc<[OperandFootprint]>,
    pub adds: bool,
    pub pipe: Pipe,
}

/// Extents and strides of a view.
type Extents = (Rc<[LinearExpr]>, Rc<[LinearExpr]>);

/// The same, with what it was asked for.
#[derive(Debug)]
pub(super) struct Known {
    touched: Touched,
    shapes: SmallVec<[u32; 4]>,
    view: Option<Extents>,
    placed: RefCell<SmallVec<[Placed; 2]>>,
}

/// The accesses of an instruction on a core with its tiles and its view in these places, each with its set among all.
#[derive(Debug)]
struct Placed {
    core: Core,
    places: SmallVec<[(Root, i64); 4]>,
    accesses: SmallVec<[(u32, Access); 4]>,
}

/// The number of places for which an instruction is remembered: loops use tiles in rotation.
const MAX_PLACED: usize = 4;

impl PathWalk<'_> {
    pub(super) fn shape(&mut self, object: usize) -> u32 {
        let object = &mut self.state.objects[object];
        if let Some(known) = object.shape {
            return known;
        }
        let shapes = &mut self.choices.shapes;
        let next = shapes.len() as u32;
        let shape = *shapes.entry((object.tile, object.layout.clone(), object.valid())).or_insert(next);
        object.shape = Some(shape);
        shape
    }

    /// The event of an instruction whose operands are as they were. It has tiles and a view with known extents, no numbers.
    pub(super) fn again(&mut self, id: OpId, op: &Op) -> Option<()> {
        let known = self.choices.known.get(id.index())?.clone()?;
        let mut operands: SmallVec<[(Role, usize); 4]> = SmallVec::new();
        let mut view = None;
        for operand in &op.operands {
            match self.state.env[operand.arg.value()?.index()] {
                Val::Tile(object) => operands.push((operand.role, object)),
                Val::View(at) => view = Some(at),
                _ => return None,
            }
        }
        let is_same = operands.len() == known.shapes.len()
            && operands.iter().zip(&known.shapes).all(|((_, object), shape)| self.shape(*object) == *shape);
        let place = match (view.map(|view| &self.state.views[view]), &known.view) {
            (None, None) => None,
            (Some(View { dims, strides, place, .. }), Some(view)) if *dims == view.0 && *strides == view.1 => {
                Some(place)
            }
            _ => return None,
        };
        if !is_same {
            return None;
        }
        let tiles = operands.iter().map(|(_, object)| &self.state.objects[*object].place);
        let places: Option<SmallVec<[(Root, i64); 4]>> =
            tiles.chain(place).map(|place| Some((place.root, place.at.known()?))).collect();
        let accesses = match places {
            Some(places) => self.placed(&known, places, &operands, view),
            None => self.accesses(&known.touched, &operands, place.cloned().as_ref()),
        };
        self.event(id, Some(known.touched.pipe), Kind::Work, &accesses);
        Some(())
    }

    /// The accesses of an instruction whose operands have known places, for which they are computed once.
    fn placed(
        &mut self,
        known: &Known,
        places: SmallVec<[(Root, i64); 4]>,
        operands: &[(Role, usize)],
        view: Option<usize>,
    ) -> SmallVec<[Access; 4]> {
        let core = self.subject.core;
        let mut all = known.placed.borrow_mut();
        if let Some(placed) = all.iter().find(|placed| placed.core == core && placed.places == places) {
            let given = |(set, access): &(u32, Access)| Access { set: self.sets.given(*set), ..*access };
            return placed.accesses.iter().map(given).collect();
        }
        let view = view.map(|view| self.state.views[view].place.clone());
        let accesses = self.accesses(&known.touched, operands, view.as_ref());
        if all.len() >= MAX_PLACED {
            all.clear();
        }
        let which = accesses.iter().map(|access| (self.sets.which(access.set), *access)).collect();
        all.push(Placed { core, places, accesses: which });
        accesses
    }

    /// Keeps what an instruction does for when it comes again.
    pub(super) fn remember(&mut self, id: OpId, op: &Op, inst: &Inst, operands: &[(Role, usize)], touched: Touched) {
        let info = inst.op.info();
        let is_work = !touched.parts.is_empty() && !matches!(info.sem, Sem::Gets | Sem::Prints) && !info.expands;
        let is_plain = inst.op.binds(self.subject.profile).is_none() && inst.conv.is_none() && op.results.is_empty();
        let has_no_numbers = inst.scalars.is_empty() && op.operands.iter().all(|o| o.role != Role::Init);
        if self.turn.is_empty() || self.subject.costs.is_some() || !(is_work && is_plain && has_no_numbers) {
            return;
        }
        let view = op.values().find_map(|v| match self.state.env[v.index()] {
            Val::View(view) => Some((self.state.views[view].dims.clone(), self.state.views[view].strides.clone())),
            _ => None,
        });
        let is_known = |(dims, strides): &Extents| dims.iter().chain(&**strides).all(|f| f.known().is_some());
        if view.as_ref().is_none_or(is_known) {
            let shapes = operands.iter().map(|(_, object)| self.shape(*object)).collect();
            let all = &mut self.choices.known;
            all.resize(all.len().max(id.index() + 1), None);
            all[id.index()] = Some(Rc::new(Known { touched, shapes, view, placed: RefCell::default() }));
        }
    }
}
