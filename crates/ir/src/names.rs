//! The names of a module, each once, one behind the other in one text.

use crate::NameId;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The names of a module.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    all: Vec<Name>,
    /// By hash. It grows without reading the names again.
    table: HashTable<NameId>,
}

#[derive(Clone, Copy, Debug)]
struct Name {
    /// The end of the name in the text; it starts at the end of the one before.
    end: u32,
    hash: u32,
}

/// Names that differ in their last byte only have neighbouring places in the table: `%v120` to `%v129` follow each other in a
/// text, and each at a place of its own would be as many lines that a long text has pushed out of the caches.
fn hash(text: &str) -> u32 {
    let (last, head) = text.as_bytes().split_last().unwrap_or((&0, &[]));
    let hash = FxBuildHasher.hash_one(head);
    (hash ^ hash >> 32) as u32 & !15 | u32::from(last & 15)
}

/// The table takes seven bits from the top and the place from the bottom.
fn spread(hash: u32) -> u64 {
    u64::from(hash.wrapping_mul(0x9E37_79B1)) << 32 | u64::from(hash)
}

impl Names {
    /// Reserves space for `names` names.
    pub fn reserve(&mut self, names: usize) {
        self.text.reserve(8 * names);
        self.all.reserve(names);
        self.table.reserve(names, |_| 0);
    }

    /// The id of a name, new or known.
    pub fn intern(&mut self, text: &str) -> NameId {
        let hash = hash(text);
        if let Some(id) = self.find_hashed(hash, text) {
            return id;
        }
        let id = NameId(self.all.len() as u32);
        self.text.push_str(text);
        self.all.push(Name { end: self.text.len() as u32, hash });
        let all = &self.all;
        self.table.insert_unique(spread(hash), id, |id| all.get(id.index()).map_or(0, |name| spread(name.hash)));
        id
    }

    /// The id of a name, if it occurs.
    pub fn find(&self, text: &str) -> Option<NameId> {
        self.find_hashed(hash(text), text)
    }

    fn find_hashed(&self, hash: u32, text: &str) -> Option<NameId> {
        self.table.find(spread(hash), |id| self.all[id.index()].hash == hash && self.text(*id) == text).copied()
    }

    /// The text of a name of this module.
    pub fn text(&self, id: NameId) -> &str {
        let end = self.all[id.index()].end;
        let start = id.index().checked_sub(1).map_or(0, |before| self.all[before].end);
        &self.text[start as usize..end as usize]
    }

    /// Whether the id is one of this module's.
    pub fn contains(&self, id: NameId) -> bool {
        id.index() < self.all.len()
    }
}
