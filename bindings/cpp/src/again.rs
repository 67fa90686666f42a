//! Instructions that are issued again: a kernel's loop issues the same ones on the same tiles.
//!
//! Who issues an instruction may ask for a number that stands for it. As long as nothing has happened to the machine that could make a
//! difference, the number issues it again, and no descriptor is made or read.

#![allow(clippy::missing_safety_doc, reason = "the module comment of `calls` says it for all")]

use crate::abi::{TesseraStatus, TesseraStorage, TesseraTileArg};
use crate::machine::TesseraMachine;
use tessera_exec::engine::{Pointed, Ticket};

/// So many instructions have numbers.
const MOST: usize = 1 << 12;

/// An instruction that can be issued again.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    ticket: Ticket,
    /// Until when it counts: automatic storage may be freed.
    age: Option<u64>,
}

/// The instructions that have numbers.
#[derive(Default)]
pub(crate) struct Calls {
    list: Vec<Known>,
    /// How often all of them were forgotten.
    generation: u32,
    /// How often automatic storage was freed.
    age: u64,
    /// The instruction that was issued last.
    last: Option<Known>,
}

impl Calls {
    /// Something has changed that calls do not say.
    pub fn forget(&mut self) {
        self.list.clear();
        self.generation = self.generation.wrapping_add(1);
        self.last = None;
    }

    /// The same, for tiles without an address of their own.
    pub fn forget_automatic(&mut self) {
        self.age += 1;
    }

    fn number(&mut self) -> Option<u64> {
        let last = self.last.take()?;
        if self.list.len() >= MOST {
            self.forget();
        }
        self.list.push(last);
        Some(u64::from(self.generation) << 32 | self.list.len() as u64)
    }

    #[inline]
    fn find(&self, number: u64) -> Option<Ticket> {
        let known = self.list.get((number as u32 as usize).checked_sub(1)?)?;
        let is_valid = number >> 32 == u64::from(self.generation) && known.age.is_none_or(|age| age == self.age);
        is_valid.then_some(known.ticket)
    }
}

impl TesseraMachine {
    /// Notes that an instruction was issued that binds no tile, unless it is about memory of the caller's own.
    pub(crate) fn note_issued(&mut self, tiles: &[TesseraTileArg]) {
        let mut is_automatic = false;
        let is_ours = tiles.iter().map(|t| t.tile).all(|tile| {
            let pointed = self.engine.pointed(tile.storage.wrapping_add(tile.offset));
            is_automatic |= matches!(pointed, Pointed::Pool(..));
            tile.storage_kind == TesseraStorage::Address as u32 || !matches!(pointed, Pointed::Elsewhere)
        });
        let age = is_automatic.then_some(self.calls.age);
        self.calls.last = self.engine.ticket().filter(|_| is_ours).map(|ticket| Known { ticket, age });
    }
}

/// A number for the instruction that was issued last, with which `tessera_again` issues it again; 0 where it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_issued(machine: *mut TesseraMachine) -> u64 {
    // SAFETY: null, or a machine of this thread's (see `calls`).
    unsafe { machine.as_mut() }.and_then(|m| m.calls.number()).unwrap_or(0)
}

/// Issues an instruction again by its number. `TESSERA_STATUS_ARGUMENT`, and nothing was changed: it has to be issued in full, because
/// the number means nothing any more, or because something is to be said about it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_again(machine: *mut TesseraMachine, number: u64) -> TesseraStatus {
    TesseraMachine::call_again(machine, |m| {
        m.calls.find(number).is_some_and(|ticket| matches!(m.engine.again(ticket), Ok(Some(_))))
    })
}
