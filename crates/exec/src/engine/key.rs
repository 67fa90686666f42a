//! The key of an instruction: everything that its compiled form depends on, besides the contents of memories and the
//! start of a view in its buffer.
//!
//! Types and layouts go by their numbers ([`Interner`]), automatic storage by its place: the tiles of a function that
//! is called again have the same key.

use super::global::Global;
use super::tiles::Object;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use tessera_isa::codec::Number;
use tessera_isa::inst::{ScalarArg, ScalarType};
use tessera_isa::ops::Role;
use tessera_kernels::Place;

/// Every value that occurs, once, with its number.
#[derive(Debug)]
pub struct Interner<T> {
    list: Vec<T>,
    ids: FxHashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { list: Vec::new(), ids: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    pub fn number(&mut self, value: &T) -> u32 {
        if let Some(id) = self.ids.get(value) {
            return *id;
        }
        let id = self.list.len() as u32;
        self.list.push(value.clone());
        self.ids.insert(value.clone(), id);
        id
    }

    pub fn get(&self, id: u32) -> Option<&T> {
        self.list.get(id as usize)
    }
}

#[derive(Debug, Default)]
pub struct Key(pub Vec<u64>);

impl Key {
    #[inline]
    pub fn push(&mut self, word: u64) {
        self.0.push(word);
    }

    #[inline]
    pub fn tile(&mut self, role: Role, o: &Object) {
        self.place(role, [o.kind, o.layout], o.place, o.valid);
    }

    /// A tile operand with the numbers of its type and its layout.
    #[inline]
    pub fn place(&mut self, role: Role, [kind, layout]: [u32; 2], place: Place, valid: [Option<u64>; 2]) {
        let extent = |v: Option<u64>| v.unwrap_or(u64::MAX);
        self.0.extend_from_slice(&[
            u64::from(kind) << 32 | u64::from(layout),
            (role as u64) << 32 | place.memory.index() as u64,
            place.at as u64,
            extent(valid[0]),
            extent(valid[1]),
        ]);
    }

    /// A view of a buffer with room for `bound` elements.
    #[inline]
    pub fn view(&mut self, view: &Global, bound: u64) {
        self.0.extend_from_slice(&[
            view.buffer.index() as u64,
            (view.elem as u64) << 16 | (view.dims.len() as u64) << 8 | view.tags.bits(),
            bound,
        ]);
        self.0.extend(view.dims.iter().copied());
        self.0.extend(view.strides.iter().map(|s| *s as u64));
    }

    pub fn scalar(&mut self, scalar: &ScalarArg) {
        let ty = match scalar.ty {
            None => 0,
            Some(ScalarType::Index) => 1,
            Some(ScalarType::Int(bits, sign)) => 2 | u64::from(bits) << 8 | (sign as u64) << 16,
            Some(ScalarType::Float(elem)) => 3 | (elem as u64) << 8,
        };
        self.push(ty << 32 | scalar.role as u64);
        self.0.extend(match scalar.value {
            None => [0, 0, 0],
            Some(Number::Int(v)) => [1, v as u64, (v >> 64) as u64],
            Some(Number::Float(v)) => [2, v.to_bits(), 0],
        });
    }
}
