//! Issuing an instruction again that was issued before, without looking at it.
//!
//! Who knows that nothing has changed since, its operands, their places and what was configured, keeps a [`Ticket`].

use super::Engine;
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

    /// Issues an instruction again; tells whether it is still known.
    #[inline]
    pub fn again(&mut self, ticket: Ticket) -> Result<bool, Failure> {
        let Some(cache) = self.caches.first_mut() else { return Ok(false) };
        if !cache.choose(ticket.at, ticket.age) {
            return Ok(false);
        }
        self.issued += 1;
        cache.run(&mut self.memories, 0, self.issued).map(|_| true)
    }
}
