//! `treshape-alias`: after a TRESHAPE one of the tiles is written, then the other read (ops.md 4).
//!
//! cpu copies and the others share the storage, so such a program means two things. Reads and writes go through views
//! to the storage behind them; a write of the whole tile makes what the other one wrote before it not matter.

use super::walk::Walk;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use tessera_absint::Operands;
use tessera_ir::Op;
use tessera_isa::diag::Fault;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{Bind, Role};
use tessera_isa::sem::effects;

/// More pairs of tiles than this are not watched at once: a branch keeps a copy of them.
const MAX_ALIASES: usize = 2048;

/// Two tiles of one TRESHAPE, which share storage on a2a3 and a5 and do not on cpu.
type Pair = [usize; 2];

/// Such pairs, with who of the two was written since.
#[derive(Clone, Debug, Default)]
pub(super) struct Aliases {
    written: FxHashMap<Pair, [bool; 2]>,
    /// The pairs of a tile, and of tiles that had some: most instructions touch none of these.
    of: FxHashMap<usize, SmallVec<[Pair; 2]>>,
    /// From the oldest on, and some that are gone.
    order: VecDeque<Pair>,
}

impl Aliases {
    fn knows(&self, tile: usize) -> bool {
        self.of.contains_key(&tile)
    }

    fn of(&self, tile: usize) -> &[Pair] {
        self.of.get(&tile).map_or(&[], |pairs| pairs)
    }

    fn add(&mut self, pair: Pair, written: [bool; 2]) {
        if self.written.insert(pair, written).is_none() {
            for tile in pair {
                self.of.entry(tile).or_default().push(pair);
            }
            self.order.push_back(pair);
        }
        // The oldest are forgotten first.
        while self.written.len() > MAX_ALIASES
            && let Some(oldest) = self.order.pop_front()
        {
            self.remove(oldest);
        }
    }

    fn remove(&mut self, pair: Pair) {
        if self.written.remove(&pair).is_some() {
            for tile in pair {
                self.of.entry(tile).or_default().retain(|other| *other != pair);
            }
        }
        // Removed pairs stay in `order` until it is longer than the pairs that are left.
        if self.order.len() > 2 * MAX_ALIASES {
            self.order.retain(|pair| self.written.contains_key(pair));
        }
    }

    /// Drops the earlier aliases of a tile.
    pub(super) fn forget(&mut self, tile: usize) {
        for pair in self.of.get(&tile).cloned().unwrap_or_default() {
            self.remove(pair);
        }
    }

    /// From here on `dst` is the storage of `src`, or a copy of it; so it is of those that share src's already.
    fn share(&mut self, src: usize, dst: usize) {
        self.forget(dst);
        let partners = self.of(src).iter().map(|[a, b]| if *a == src { *b } else { *a });
        for partner in std::iter::once(src).chain(partners.collect::<SmallVec<[usize; 4]>>()) {
            self.add([partner, dst], [false; 2]);
        }
    }

    /// Whether a tile that shares this one's storage was written.
    fn is_stale(&self, tile: usize) -> bool {
        self.of(tile).iter().any(|pair| {
            let written = self.written.get(pair).copied().unwrap_or_default();
            written[usize::from(pair[0] == tile)]
        })
    }

    /// A write of the whole tile makes what the other one wrote before it not matter.
    fn write(&mut self, tile: usize, whole: bool) {
        for pair in self.of.get(&tile).into_iter().flatten() {
            if let Some(written) = self.written.get_mut(pair) {
                let side = usize::from(pair[1] == tile);
                written[side] = true;
                written[1 - side] &= !whole;
            }
        }
    }

    /// Joins the aliases of two branches.
    pub(super) fn join(&mut self, other: Aliases) {
        for pair in other.order {
            let Some([first, second]) = other.written.get(&pair) else { continue };
            let own = self.written.get(&pair).copied().unwrap_or_default();
            self.add(pair, [own[0] | first, own[1] | second]);
        }
    }
}

impl Walk<'_> {
    pub(super) fn alias(&mut self, op: &Op, inst: &Inst, operands: &Operands) {
        let reshapes = inst.op.info().binds == Some(Bind::Bytes);
        let storage = |n: usize| self.state.objects[n].storage;
        // Most instructions touch no tile that was ever reshaped, and need not look at the pairs.
        let mut touched = op.operands.iter().filter_map(|o| self.state.tile(o.arg)).map(storage);
        if !reshapes && !touched.any(|tile| self.aliases.knows(tile)) {
            return;
        }
        let effects = effects(inst);
        let mut read = Vec::new();
        let mut written = Vec::new();
        for ((_, object), touch) in operands.iter().zip(&effects.tiles) {
            // On hardware a TRESHAPE moves nothing, and yet gives on what src holds.
            if touch.reads() || reshapes && touch.role == Role::Src {
                read.push(storage(*object));
            }
            if touch.writes() {
                written.push((storage(*object), touch.covers));
            }
        }
        for init in op.operands.iter().filter(|o| o.role == Role::Init) {
            read.extend(self.state.tile(init.arg).map(storage));
        }
        let find = |role: Role| Some(storage(operands.iter().find(|o| o.0 == role)?.1));
        let shared = find(Role::Src).zip(find(Role::Dst)).filter(|(src, dst)| reshapes && src != dst);
        if read.iter().any(|tile| self.aliases.is_stale(*tile)) {
            let what = "the tile that is read shares its storage with one written since their TRESHAPE on a2a3 and a5, \
                        and is a copy of its own on cpu";
            let fault = Fault::new("treshape-alias", what).help("read it before the write, or write another tile");
            self.found_on(op, operands, fault);
        }
        if reshapes {
            if let Some((src, dst)) = shared {
                self.aliases.share(src, dst);
            }
            return;
        }
        for (tile, whole) in written {
            self.aliases.write(tile, whole);
        }
    }
}
