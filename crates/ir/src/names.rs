//! The names of a module, each once, one behind the other in one text.

use crate::NameId;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// The names of a module.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    /// Where each name ends, and the name before it with the same hash.
    ends: Vec<(usize, Option<NameId>)>,
    /// By hash: the last name. Growing does not read the names again.
    last: FxHashMap<u64, NameId>,
}

impl Names {
    /// Makes space for so many names.
    pub fn reserve(&mut self, names: usize) {
        self.text.reserve(8 * names);
        self.ends.reserve(names);
        self.last.reserve(names);
    }

    /// The id of a name, new or known.
    pub fn intern(&mut self, text: &str) -> NameId {
        let hash = FxBuildHasher.hash_one(text);
        if let Some(id) = self.find_hashed(hash, text) {
            return id;
        }
        let id = NameId(self.ends.len() as u32);
        self.text.push_str(text);
        let before = self.last.insert(hash, id);
        self.ends.push((self.text.len(), before));
        id
    }

    /// The id of a name, if it occurs.
    pub fn find(&self, text: &str) -> Option<NameId> {
        self.find_hashed(FxBuildHasher.hash_one(text), text)
    }

    fn find_hashed(&self, hash: u64, text: &str) -> Option<NameId> {
        let mut id = self.last.get(&hash).copied();
        while let Some(name) = id {
            if self.text(name) == text {
                return id;
            }
            id = self.ends[name.index()].1;
        }
        None
    }

    /// The text of a name of this module.
    pub fn text(&self, id: NameId) -> &str {
        let end = self.ends[id.index()].0;
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before].0);
        &self.text[start..end]
    }

    /// Is the id one of this module's?
    pub fn contains(&self, id: NameId) -> bool {
        id.index() < self.ends.len()
    }
}
