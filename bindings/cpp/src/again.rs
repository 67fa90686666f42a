//! Instructions that are issued again: a kernel's loop issues the same ones on the same tiles.
//!
//! Who issues an instruction may ask for a number that stands for it. As long as nothing has happened to the machine that could make a
//! difference, the number issues it again, and no descriptor is made or read.

#![allow(clippy::missing_safety_doc, reason = "the module comment of `calls` says it for all")]

use crate::abi::{TesseraStatus, TesseraStorage, TesseraTileArg};
use crate::machine::TesseraMachine;
use crate::view::{self, View};
use std::ffi::c_void;
use std::ptr::NonNull;
use tessera_exec::engine::{InstHandle, PointerTarget};
use tessera_isa::inst::{Place, Root, TileArg};
use tessera_kernels::memory::AlignedBytes;

/// So many instructions have numbers.
const MOST: usize = 1 << 12;

/// An instruction that can be issued again.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    ticket: InstHandle,
    /// Until when it counts: automatic storage may be freed.
    age: Option<u64>,
    /// The view of the caller's memory, if it has one.
    view: Option<KnownView>,
}

/// A view that may lie at any address.
#[derive(Clone, Copy)]
struct KnownView {
    /// Where the caller's pointer points to, counted from its first byte on.
    origin: isize,
    len: usize,
    /// The address where it was last, and when ([`view::changes`]): it may lie there.
    seen: (usize, u64),
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

    /// Another call is made: whatever was issued before is not the last instruction any more.
    pub fn forget_last(&mut self) {
        self.last = None;
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
    fn find(&mut self, number: u64) -> Option<&mut Known> {
        let known = self.list.get_mut((number as u32 as usize).checked_sub(1)?)?;
        let is_valid = number >> 32 == u64::from(self.generation) && known.age.is_none_or(|age| age == self.age);
        is_valid.then_some(known)
    }
}

impl TesseraMachine {
    /// Notes that an instruction was issued that binds no tile, unless it is about memory of the caller's own.
    pub(crate) fn note_issued(&mut self, tiles: &[TesseraTileArg]) {
        let mut is_automatic = false;
        let is_ours = tiles.iter().map(|t| t.tile).all(|tile| {
            let pointed = self.engine.pointed(tile.storage.wrapping_add(tile.offset));
            is_automatic |= matches!(pointed, PointerTarget::Pool(..));
            tile.storage_kind == TesseraStorage::Address as u32 || !matches!(pointed, PointerTarget::Elsewhere)
        });
        let age = is_automatic.then_some(self.calls.age);
        self.calls.last = self.engine.ticket().filter(|_| is_ours).map(|ticket| Known { ticket, age, view: None });
    }

    /// Until when an instruction counts whose tiles are these: none where one of them is memory of the caller's own, or named
    /// by a handle.
    pub(crate) fn age_of(&self, tiles: &[TileArg]) -> Option<Option<u64>> {
        let mut is_automatic = false;
        let is_ours = tiles.iter().filter_map(|t| t.place).all(|Place { root, start }| match root {
            Root::Memory(_) => true,
            Root::Auto(_) => false,
            Root::Host => {
                let pointed = self.engine.pointed(start);
                is_automatic |= matches!(pointed, PointerTarget::Pool(..));
                !matches!(pointed, PointerTarget::Elsewhere)
            }
        });
        is_ours.then(|| is_automatic.then_some(self.calls.age))
    }

    /// Notes that an instruction was issued whose view is where the caller has it.
    pub(crate) fn note_transferred(&mut self, age: Option<Option<u64>>, view: &View) {
        let seen = (0, view::changes());
        let view = view.origin.map(|origin| KnownView { origin, len: view.len, seen });
        let known = |((ticket, age), view)| Known { ticket, age, view: Some(view) };
        self.calls.last = self.engine.ticket().zip(age).zip(view).map(known);
    }

    /// Issues an instruction again with its view at another address; says whether it was done, and nothing is to be said.
    fn transfer_again(&mut self, number: u64, data: *mut u8) -> bool {
        let Some(Known { ticket, view: Some(view), .. }) = self.calls.find(number).copied() else { return false };
        let first = data.wrapping_offset(-view.origin);
        let now = (data as usize, view::changes());
        if view.seen != now {
            let is_elsewhere = |at: *mut u8| matches!(self.engine.pointed(at as u64), PointerTarget::Elsewhere);
            let rest = isize::try_from(view.len).ok().and_then(|len| len.checked_sub(view.origin));
            let may_lie = rest.is_some_and(|rest| view::is_inside(data as usize, view.origin, rest));
            let is_free = is_elsewhere(first) && is_elsewhere(first.wrapping_add(view.len.saturating_sub(1)));
            if !(may_lie && is_free && !data.is_null()) {
                return false;
            }
            if let Some(Known { view: Some(view), .. }) = self.calls.find(number) {
                view.seen = now;
            }
        }
        let Some(first) = NonNull::new(first) else { return false };
        // SAFETY: the caller vouches for the elements of the view, between the first and the last of which these bytes lie, and
        // the engine reads and writes nothing but elements.
        let bytes = unsafe { AlignedBytes::lent(first, view.len) };
        // What is undefined is stored once more, as it was, by who tells of it.
        matches!(self.engine.transfer_again(ticket, bytes), Ok(Some(issued)) if !issued.stored_undefined)
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
        let ticket = m.calls.find(number).map(|known| known.ticket);
        ticket.is_some_and(|ticket| matches!(m.engine.again(ticket), Ok(Some(_))))
    })
}

/// The same for an instruction that `tessera_transfer` issued: `data` is that of its view, which is otherwise the same. It may have
/// stored before something is to be said about it; in full it comes to the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_transfer_again(
    machine: *mut TesseraMachine,
    number: u64,
    data: *mut c_void,
) -> TesseraStatus {
    TesseraMachine::call_again(machine, |m| m.transfer_again(number, data.cast()))
}
