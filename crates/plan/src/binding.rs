//! What a handle may stand for.

use smallvec::SmallVec;

/// A root, as a position in the list of roots.
pub type RootId = u32;

/// More roots than this are not followed one by one: they live for the whole function instead, which keeps the analysis
/// near linear on programs that rebind one tile thousands of times.
const MAX_ROOTS: usize = 32;

/// The storages that a handle may stand for at one point of the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Binding {
    /// Roots, sorted.
    pub roots: SmallVec<[RootId; 2]>,
    /// It may have an address of its own.
    pub manual: bool,
    /// It may stand for roots that are pinned and no longer listed.
    pub pinned: bool,
}

impl Binding {
    /// One root.
    pub fn root(id: RootId) -> Self {
        Binding {
            roots: SmallVec::from_slice(&[id]),
            ..Binding::default()
        }
    }

    /// An address in the text.
    pub fn manual() -> Self {
        Binding {
            manual: true,
            ..Binding::default()
        }
    }

    /// Stands for everything that either may stand for. `pinned` tells, by root, which ones are no longer followed.
    pub fn join(&mut self, other: &Binding, pinned: &mut [bool]) {
        self.manual |= other.manual;
        self.pinned |= other.pinned;
        for root in &other.roots {
            if pinned.get(*root as usize).copied().unwrap_or(true) {
                self.pinned = true;
            } else if let Err(at) = self.roots.binary_search(root) {
                self.roots.insert(at, *root);
            }
        }
        if self.roots.len() > MAX_ROOTS {
            for root in self.roots.drain(..) {
                if let Some(p) = pinned.get_mut(root as usize) {
                    *p = true;
                }
            }
            self.pinned = true;
        }
    }

    /// Does it stand for all that `other` may stand for?
    pub fn covers(&self, other: &Binding, pinned: &[bool]) -> bool {
        let has = |r: &RootId| {
            self.roots.binary_search(r).is_ok() || self.pinned && pinned.get(*r as usize).copied().unwrap_or(true)
        };
        (self.manual || !other.manual) && (self.pinned || !other.pinned) && other.roots.iter().all(has)
    }
}
