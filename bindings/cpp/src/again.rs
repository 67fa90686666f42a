//! Calls that were made before: a kernel's loop issues the same instructions on the same tiles again and again.
//!
//! What a call says is compared word by word with what an earlier one said. Where they are equal, and nothing has happened to the
//! machine since that could make a difference, descriptors are not read again.

use crate::abi::{TesseraAttr, TesseraInst, TesseraScalar, TesseraStorage, TesseraTileArg};
use crate::machine::TesseraMachine;
use tessera_exec::engine::{Pointed, Ticket};

/// So many calls are remembered; a power of two.
const SLOTS: usize = 256;

/// Structures that are whole words of eight bytes, without padding.
trait Words: Sized {
    const WHOLE: () = assert!(size_of::<Self>().is_multiple_of(8) && align_of::<Self>() == 8);
}

impl Words for TesseraTileArg {}
impl Words for TesseraScalar {}
impl Words for TesseraAttr {}

/// What a list is in memory.
#[inline]
fn words<T: Words>(list: &[T]) -> &[u64] {
    const { T::WHOLE };
    // SAFETY: so many whole words, aligned, and every field of these structures is an integer of four or eight bytes.
    unsafe { std::slice::from_raw_parts(list.as_ptr().cast(), size_of_val(list) / 8) }
}

/// An instruction as a call says it.
#[derive(Clone, Copy)]
pub(crate) struct Said<'a> {
    head: [u64; 2],
    parts: [&'a [u64]; 3],
}

impl<'a> Said<'a> {
    /// `None` for an instruction on a conv tile, which few loops have.
    #[inline]
    pub fn new(
        inst: &TesseraInst,
        tiles: &'a [TesseraTileArg],
        scalars: &'a [TesseraScalar],
        attrs: &'a [TesseraAttr],
    ) -> Option<Self> {
        let word = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let counts = inst.tile_count << 16 | inst.scalar_count << 8 | inst.attr_count;
        let head = [word(inst.op, inst.form), counts.into()];
        inst.conv.is_null().then(|| Said { head, parts: [words(tiles), words(scalars), words(attrs)] })
    }

    #[inline]
    fn slot(&self, tiles: &[TesseraTileArg]) -> usize {
        let mix = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        let hash = tiles.iter().fold(mix(0, self.head[0]), |sum, t| mix(sum, t.tile.storage));
        (hash >> 40) as usize % SLOTS
    }

    #[inline]
    fn is(&self, key: &[u64]) -> bool {
        let Some((head, mut rest)) = key.split_first_chunk() else { return false };
        *head == self.head
            && self.parts.iter().all(|part| {
                let (first, others) = rest.split_at_checked(part.len()).unwrap_or_default();
                rest = others;
                first == *part
            })
    }

    fn key(&self) -> Box<[u64]> {
        self.head.iter().chain(self.parts.into_iter().flatten()).copied().collect()
    }
}

struct Known {
    key: Box<[u64]>,
    ticket: Ticket,
    /// Until when it counts: automatic storage may be freed.
    age: Option<u64>,
}

/// The calls that are remembered.
#[derive(Default)]
pub(crate) struct Calls {
    slots: Vec<Option<Known>>,
    /// How often automatic storage was freed.
    age: u64,
}

impl Calls {
    /// Something has changed that calls do not say.
    pub fn forget(&mut self) {
        self.slots.clear();
    }

    /// The same, for tiles without an address of their own.
    pub fn forget_automatic(&mut self) {
        self.age += 1;
    }
}

impl TesseraMachine {
    /// Makes a call again that was made before; tells whether it was. One that fails is looked at anew.
    #[inline]
    pub(crate) fn again(&mut self, said: Said<'_>, tiles: &[TesseraTileArg]) -> bool {
        let age = self.calls.age;
        let known = self.calls.slots.get(said.slot(tiles)).and_then(Option::as_ref);
        match known {
            Some(known) if known.age.is_none_or(|a| a == age) && said.is(&known.key) => {
                self.engine.again(known.ticket).unwrap_or(false)
            }
            _ => false,
        }
    }

    /// Remembers the call that was made, unless it is about memory of the caller's own.
    pub(crate) fn remember(&mut self, said: Said<'_>, tiles: &[TesseraTileArg]) {
        let Some(ticket) = self.engine.ticket() else { return };
        let mut is_automatic = false;
        for tile in tiles.iter().map(|t| t.tile) {
            match self.engine.pointed(tile.storage.wrapping_add(tile.offset)) {
                _ if tile.storage_kind == TesseraStorage::Address as u32 => {}
                Pointed::Memory(..) => {}
                Pointed::Pool(..) => is_automatic = true,
                Pointed::Elsewhere => return,
            }
        }
        if self.calls.slots.is_empty() {
            self.calls.slots.resize_with(SLOTS, || None);
        }
        let age = is_automatic.then_some(self.calls.age);
        if let Some(slot) = self.calls.slots.get_mut(said.slot(tiles)) {
            *slot = Some(Known { key: said.key(), ticket, age });
        }
    }
}
