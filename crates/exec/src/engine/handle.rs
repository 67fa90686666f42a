//! Issuing an instruction again that was issued before, without looking at it.
//!
//! Who knows that nothing has changed since, its operands, their places and what was configured, keeps a [`InstHandle`].

use super::transfer::BUFFER;
use super::{Engine, Entry, IssueReport};
use crate::lower::Effect;
use tessera_kernels::Failure;
use tessera_kernels::memory::AlignedBytes;

/// An instruction that was issued, on the operands that it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstHandle {
    at: usize,
    age: u64,
    /// Where its view starts in the buffer, if it has one.
    start: Option<usize>,
}

impl Engine {
    /// The ticket of the instruction that was issued last; none where it has more to it than the bytes that it moves.
    pub fn ticket(&self) -> Option<InstHandle> {
        let (at, entry, age) = self.caches.first()?.current_at()?;
        let is_plain = entry.warnings.is_empty() && entry.init.is_none();
        let start = entry.prepared.as_ref()?.view().map(|view| view.at);
        is_plain.then_some(InstHandle { at, age, start })
    }

    /// A number that grows whenever a tile may have changed in anything but its contents, or something was configured.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Issues an instruction without a view again, if it is still known.
    #[inline]
    pub fn again(&mut self, ticket: InstHandle) -> Result<Option<IssueReport<'_>>, Failure> {
        if ticket.start.is_some() { Ok(None) } else { self.issue_again(ticket) }
    }

    /// Issues an instruction again that had a view of as many bytes of somebody else's ([`Engine::transfer_lent`]), with a view
    /// of these.
    #[inline]
    pub fn transfer_again(
        &mut self,
        ticket: InstHandle,
        bytes: AlignedBytes,
    ) -> Result<Option<IssueReport<'_>>, Failure> {
        let (Some(buffer), Some(_)) = (self.memories.get_mut(BUFFER), ticket.start) else { return Ok(None) };
        buffer.lend(bytes);
        let done = self.issue_again(ticket).map(|issued| issued.map(|issued| issued.stored_undefined));
        if let Some(buffer) = self.memories.get_mut(BUFFER) {
            buffer.lend(AlignedBytes::default());
        }
        let issued =
            |stored_undefined| IssueReport { warnings: &[], is_new: false, about_contents: None, stored_undefined };
        Ok(done?.map(issued))
    }

    #[inline]
    fn issue_again(&mut self, ticket: InstHandle) -> Result<Option<IssueReport<'_>>, Failure> {
        let Some(cache) = self.caches.first_mut() else { return Ok(None) };
        if !cache.choose(ticket.at, ticket.age) {
            return Ok(None);
        }
        self.issued += 1;
        let effect = cache.run(&mut self.memories, ticket.start.unwrap_or(0), self.issued)?;
        // What has a ticket has no other warnings.
        let about_contents = if effect.has(Effect::WARNED) { cache.current().and_then(Entry::warning) } else { None };
        let stored_undefined = effect.has(Effect::STORED_UNDEFINED);
        Ok(Some(IssueReport { warnings: &[], is_new: false, about_contents, stored_undefined }))
    }
}
