//! Instructions that are issued again: a kernel's loop issues the same ones on the same tiles.
//!
//! A caller may give an instruction words that stand for it ([`TesseraInst::words`]). As long as nothing has happened to the machine
//! that could make a difference, the words issue it again, and no descriptor is made or read.
//!
//! [`TesseraInst::words`]: crate::abi::TesseraInst::words

#![allow(clippy::missing_safety_doc, reason = "the module comment of `calls` says it for all")]

use crate::abi::TesseraStatus;
use crate::machine::TesseraMachine;
use crate::races;
use crate::view::{self, View};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use tessera_exec::engine::{Cache, InstHandle, PointerTarget};
use tessera_isa::inst::{Inst, Root};
use tessera_kernels::memory::AlignedBytes;

/// The most instructions that are kept.
const MOST: usize = 1 << 12;

/// An instruction that can be issued again.
#[derive(Clone, Copy)]
struct Known {
    handle: InstHandle,
    /// The age of automatic storage in which it counts, if it uses any.
    age: Option<u64>,
    /// The view of the caller's memory, if it has one.
    view: Option<KnownView>,
    /// Its number where the order of calls is judged, 0 where it is not; its place among `watched`, one more.
    watched: u32,
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

/// The instructions that were given words.
pub(crate) struct Calls {
    known: Cache<Known>,
    /// How often automatic storage was freed.
    age: u64,
    /// Instructions whose order is judged.
    watched: Vec<(u64, Arc<Inst>)>,
}

impl Default for Calls {
    fn default() -> Self {
        Calls { known: Cache::new(MOST), age: 0, watched: Vec::new() }
    }
}

impl Calls {
    /// Something has changed that words do not say.
    pub fn forget(&mut self) {
        self.known.clear();
        self.watched.clear();
    }

    /// The same, for tiles without an address of their own.
    pub fn forget_automatic(&mut self) {
        self.age += 1;
    }
}

impl TesseraMachine {
    /// Keeps the instruction that was issued last, and gives its number for the judge of order. It is kept under the caller's words, unless its tiles lie in memory of the caller's own or its
    /// view is not the same at every address.
    pub(crate) fn keep(&mut self, words: &[u64], inst: &Inst, view: Option<&View>) -> Option<u64> {
        let roots = || inst.tiles.iter().filter_map(|t| t.place).map(|place| place.root);
        let known_view = view.map(|view| view.origin.map(|origin| (origin, view.len)));
        if words.is_empty() || roots().any(|root| root == Root::Host) || known_view == Some(None) {
            return None;
        }
        let age = roots().any(|root| matches!(root, Root::Auto(_))).then_some(self.calls.age);
        let view = known_view.flatten().map(|(origin, len)| KnownView { origin, len, seen: (0, view::changes()) });
        let handle = self.engine.handle()?;
        let watched = if races::is_on() { self.watch(inst) } else { 0 };
        self.calls.known.insert(words, Known { handle, age, view, watched });
        self.calls.watched.get((watched as usize).wrapping_sub(1)).map(|(number, _)| *number)
    }

    /// Keeps an instruction for the judge of order.
    fn watch(&mut self, inst: &Inst) -> u32 {
        // Beyond this instructions are not told from each other again, and are judged one by one.
        if self.calls.watched.len() >= 16 * MOST {
            return 0;
        }
        self.calls.watched.push((races::variant(), Arc::new(inst.clone())));
        self.calls.watched.len() as u32
    }

    /// Issues the instruction with these words again, with its view at another address; says whether it was done, and nothing is to
    /// be said.
    #[inline]
    fn reissue(&mut self, words: &[u64], data: *mut u8) -> bool {
        let is_known = self.calls.known.find(words);
        let known = self.calls.known.current().copied().filter(|_| is_known);
        if races::is_on() {
            return known.is_some_and(|known| self.reissue_judged(known, data));
        }
        match known {
            Some(Known { age: Some(age), .. }) if age != self.calls.age => false,
            Some(Known { handle, view: None, .. }) => matches!(self.engine.reissue(handle), Ok(Some(_))),
            Some(Known { handle, view: Some(view), .. }) => self.transfer_again(handle, view, data),
            None => false,
        }
    }

    /// The same where the order of calls is judged.
    #[cold]
    fn reissue_judged(&mut self, known: Known, data: *mut u8) -> bool {
        let watched = self.calls.watched.get((known.watched as usize).wrapping_sub(1)).cloned();
        let Some((number, inst)) = watched else { return false };
        let is_done = match known {
            Known { age: Some(age), .. } if age != self.calls.age => false,
            Known { handle, view: None, .. } => matches!(self.engine.reissue(handle), Ok(Some(_))),
            Known { handle, view: Some(view), .. } => self.transfer_again(handle, view, data),
        };
        if is_done {
            races::issued(self.profile, Some(number), known.view.map(|_| data as u64), inst);
        }
        is_done
    }

    fn transfer_again(&mut self, handle: InstHandle, view: KnownView, data: *mut u8) -> bool {
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
            if let Some((_, Known { view: Some(view), .. })) = self.calls.known.current_mut() {
                view.seen = now;
            }
        }
        let Some(first) = NonNull::new(first) else { return false };
        // SAFETY: the caller vouches for the elements of the view, between the first and the last of which these bytes lie, and
        // the engine reads and writes nothing but elements.
        let bytes = unsafe { AlignedBytes::lent(first, view.len) };
        // What is undefined is stored once more, as it was, by the call in full, which reports it.
        matches!(self.engine.transfer_again(handle, bytes), Ok(Some(issued)) if !issued.stored_undefined)
    }
}

/// Issues an instruction again that was issued with these words; `data` is that of its view, which is otherwise the same, or null.
/// `TESSERA_STATUS_ARGUMENT`: it has to be issued in full, because the words mean nothing any more, or because something is to be said
/// about it. A view may have been stored to before; in full it comes to the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_reissue(
    machine: *mut TesseraMachine,
    words: *const u64,
    count: u32,
    data: *mut c_void,
) -> TesseraStatus {
    TesseraMachine::call_again(machine, |m| {
        // SAFETY: not null, and the caller of the ABI vouches for the count (see `calls`).
        !words.is_null() && m.reissue(unsafe { std::slice::from_raw_parts(words, count as usize) }, data.cast())
    })
}
