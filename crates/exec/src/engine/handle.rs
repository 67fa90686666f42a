//! Issuing an instruction again without looking at it.
//!
//! The caller keeps an [`InstHandle`] as long as nothing that the instruction depends on changes: its operands, their places and what
//! was configured. Tiles of the engine's own are looked at ([`Engine::reissue_on`]), so that such a caller needs no handle.

use super::tiles::TileId;
use super::transfer::BUFFER;
use super::{Cache, CachedInst, Engine, IssueReport};
use crate::lower::Effect;
use tessera_isa::inst::Inst;
use tessera_isa::ops::Role;
use tessera_kernels::Failure;
use tessera_kernels::memory::AlignedBytes;

/// An instruction that was issued, on the operands that it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstHandle {
    at: usize,
    age: u64,
    /// The start of its view in the buffer, if it has one.
    start: Option<usize>,
}

impl Engine {
    /// The handle of the instruction that was issued last; none where it does more than moving bytes.
    pub fn handle(&self) -> Option<InstHandle> {
        let (at, entry, age) = self.caches.first()?.current_at().filter(|(_, entry, _)| entry.is_repeatable)?;
        let start = entry.compiled.as_ref()?.view().map(|view| view.at);
        Some(InstHandle { at, age, start })
    }

    /// Issues an instruction without a view again, if it is still known.
    #[inline]
    pub fn reissue(&mut self, handle: InstHandle) -> Result<Option<IssueReport<'_>>, Failure> {
        let is_known = self.caches.first_mut().is_some_and(|c| c.choose(handle.at, handle.age));
        if is_known && handle.start.is_none() { self.repeat(0).map(Some) } else { Ok(None) }
    }

    /// Issues an instruction again that had a view of as many lent bytes ([`Engine::transfer_lent`]), with a view of these.
    #[inline]
    pub fn transfer_again(
        &mut self,
        handle: InstHandle,
        bytes: AlignedBytes,
    ) -> Result<Option<IssueReport<'_>>, Failure> {
        let is_known = self.caches.first_mut().is_some_and(|c| c.choose(handle.at, handle.age));
        let (Some(buffer), Some(start), true) = (self.memories.get_mut(BUFFER), handle.start, is_known) else {
            return Ok(None);
        };
        buffer.lend(bytes);
        let done = self.repeat(start).map(|issued| issued.stored_undefined);
        if let Some(buffer) = self.memories.get_mut(BUFFER) {
            buffer.lend(AlignedBytes::default());
        }
        let report =
            |stored_undefined| IssueReport { warnings: &[], is_new: false, about_contents: None, stored_undefined };
        done.map(|stored_undefined| Some(report(stored_undefined)))
    }

    /// Issues an instruction without a view again, if it was issued on these tiles as they are now.
    #[inline]
    pub fn reissue_on(&mut self, inst: &Inst, tiles: &[(Role, TileId)]) -> Result<Option<IssueReport<'_>>, Failure> {
        self.name(inst, tiles, None);
        let Some(cache) = self.caches.first_mut() else { return Ok(None) };
        let is_known =
            cache.find(&self.key.0) && cache.current().is_some_and(|entry| entry.is_repeatable && !entry.expands);
        if is_known { self.repeat(0).map(Some) } else { Ok(None) }
    }

    /// Runs the current instruction, which is repeatable.
    #[inline]
    fn repeat(&mut self, start: usize) -> Result<IssueReport<'_>, Failure> {
        self.issued += 1;
        let effect = self.run(0, start)?;
        let current = self.caches.first().filter(|_| effect.has(Effect::WARNED)).and_then(Cache::current);
        let (about_contents, stored_undefined) =
            (current.and_then(CachedInst::warning), effect.has(Effect::STORED_UNDEFINED));
        Ok(IssueReport { warnings: &[], is_new: false, about_contents, stored_undefined })
    }
}
