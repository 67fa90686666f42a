//! Issuing an instruction again that was issued before, without looking at it.
//!
//! Who knows that nothing has changed since, its operands, their places and what was configured, keeps a [`Ticket`].

use super::{Engine, Entry, Issued};
use crate::lower::Failure;

/// An instruction that was issued, on the operands that it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    at: usize,
    age: u64,
}

impl Engine {
    /// The ticket of the instruction that was issued last; none where it has more to it than the bytes that it moves.
    pub fn ticket(&self) -> Option<Ticket> {
        let (at, entry, age) = self.caches.first()?.current_at()?;
        let is_plain = entry.warnings.is_empty() && entry.init.is_none();
        (is_plain && entry.prepared.is_some()).then_some(Ticket { at, age })
    }

    /// A number that grows whenever a tile may have changed in anything but its contents, or something was configured.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Issues an instruction again, if it is still known.
    #[inline]
    pub fn again(&mut self, ticket: Ticket) -> Result<Option<Issued<'_>>, Failure> {
        let Some(cache) = self.caches.first_mut() else { return Ok(None) };
        if !cache.choose(ticket.at, ticket.age) {
            return Ok(None);
        }
        self.issued += 1;
        let effect = cache.run(&mut self.memories, 0, self.issued)?;
        // What has a ticket has no other warnings.
        let about_contents = if effect.warned { cache.current().and_then(Entry::warning) } else { None };
        let stored_undefined = effect.stored_undefined;
        Ok(Some(Issued { warnings: &[], is_new: false, about_contents, stored_undefined }))
    }
}
