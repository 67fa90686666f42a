//! The roots that a tile may stand for, and its possible places.

use crate::flow::Root;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use tessera_ir::ValueId;

/// A root, as a position in the list of roots.
pub type RootId = usize;

/// More of them are not followed one by one: what is beyond lives for the whole function instead, which keeps the
/// analysis near linear on programs that hand on or rebind thousands of tiles.
const MAX: usize = 32;

/// The tiles that a handle may stand for: control flow hands tiles on by reference, so a carried value or a result of
/// `scf.if` is one of those that flow into it. Every other value of tile type is its own tile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refs {
    /// The tiles by the values that define them, sorted.
    pub tiles: SmallVec<[ValueId; 1]>,
    pub many: bool,
}

impl Refs {
    /// One tile.
    pub fn tile(value: ValueId) -> Self {
        Refs { tiles: SmallVec::from_slice(&[value]), many: false }
    }

    /// Stands for everything that either may stand for; gives the tiles that are no longer listed from here on.
    /// `unlisted` are those that no longer were before.
    #[must_use]
    pub fn join(&mut self, other: &Refs, unlisted: &FxHashSet<ValueId>) -> SmallVec<[ValueId; 1]> {
        self.many |= other.many;
        for tile in &other.tiles {
            if unlisted.contains(tile) {
                self.many = true;
            } else if let Err(at) = self.tiles.binary_search(tile) {
                self.tiles.insert(at, *tile);
            }
        }
        if self.tiles.len() <= MAX {
            return SmallVec::new();
        }
        self.many = true;
        std::mem::take(&mut self.tiles)
    }
}

/// The storages that a tile may be bound to at one point of the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Binding {
    pub roots: SmallVec<[RootId; 2]>,
    /// It may stand for roots that are pinned and no longer listed.
    pub pinned: bool,
}

impl Binding {
    /// This root, or nowhere.
    pub fn of(root: Option<RootId>) -> Self {
        Binding { roots: root.into_iter().collect(), pinned: false }
    }

    /// Stands for everything that either may stand for.
    pub fn join(&mut self, other: &Binding, all: &mut [Root]) {
        self.pinned |= other.pinned;
        for root in &other.roots {
            if all[*root].pinned {
                self.pinned = true;
            } else if let Err(at) = self.roots.binary_search(root) {
                self.roots.insert(at, *root);
            }
        }
        if self.roots.len() > MAX {
            self.roots.drain(..).for_each(|root| all[root].pinned = true);
            self.pinned = true;
        }
    }

    /// Whether it stands for every root that `other` may stand for.
    pub fn covers(&self, other: &Binding, all: &[Root]) -> bool {
        let has = |r: &RootId| self.roots.binary_search(r).is_ok() || self.pinned && all[*r].pinned;
        (self.pinned || !other.pinned) && other.roots.iter().all(has)
    }
}
