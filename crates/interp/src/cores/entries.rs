//! Views of slots in global memory: allocated, pushed, popped and freed (isa/today.md 7.2).

use super::super::code::{Channel, Entry, GlobalSlot};
use super::super::step::{Exec, Stop};
use super::links::{State, Wait};
use tessera_exec::engine::Global;
use tessera_ir::{Core, OpId};
use tessera_isa::sem::Fifo as Part;
use tessera_kernels::{Failure, failure, internal_error};

impl Exec<'_> {
    pub(super) fn entry(&mut self, at: OpId, entry: &Entry) -> Result<(), Stop> {
        let (program, n) = (self.cx.program, entry.channel);
        let lost = || internal_error("a FIFO of views is not there");
        let channel = program.channels.get(n).ok_or_else(lost)?;
        let links = self.links.as_deref().ok_or_else(lost)?;
        let state = links.channels.get(n).ok_or_else(lost)?;
        let (ready, freed) = (links.ready(n, channel), links.freed(n, channel));
        let is_vector = self.cx.process.core == Some(Core::Vector);
        let me = if is_vector { usize::from(self.cx.process.number) } else { 0 };
        let State { allocated, pushed, popped, freed: given_back, .. } = *state;
        let number = match entry.part {
            Part::Alloc(_) => {
                if allocated[me] > pushed[me] {
                    let what = format!("{}: a slot is allocated, and the one before it was not pushed", channel.name);
                    return Err(failure("fifo-entry", what, "push each slot before the next one is allocated").into());
                }
                if allocated[me] >= freed.saturating_add(channel.slots) {
                    return Err(self.wait(at, Wait::Slot { channel: n }));
                }
                allocated[me]
            }
            Part::Push(_) => {
                let is_last = entry.view.is_some_and(|view| {
                    let last = pushed[me] % channel.slots.max(1);
                    self.slot_at(channel, entry.slot, last).is_ok_and(|slot| self.global(view).is_same(&slot))
                });
                if allocated[me] <= pushed[me] || !is_last {
                    let what = format!("{}: what is pushed is not the slot that was allocated last", channel.name);
                    return Err(failure("fifo-entry", what, "push what talloc gave").into());
                }
                pushed[me]
            }
            Part::Pop(_) => {
                if popped[me] >= ready {
                    return Err(self.wait(at, Wait::Tile { channel: n }));
                }
                popped[me]
            }
            _ => {
                if given_back[me] >= popped[me] {
                    let what = format!("{} has no popped slot that could be freed", channel.name);
                    return Err(failure("fifo-free", what, "free once for each pop, after it").into());
                }
                given_back[me]
            }
        };
        if let (Part::Alloc(_) | Part::Pop(_), Some(view)) = (entry.part, entry.view) {
            let slot = self.slot_at(channel, entry.slot, number % channel.slots.max(1))?;
            self.globals[view.index()] = slot;
        }
        self.observe_move(at, number, None, None);
        if let Some(links) = &mut self.links
            && let Some(state) = links.channels.get_mut(n)
        {
            let counts = match entry.part {
                Part::Alloc(_) => &mut state.allocated,
                Part::Push(_) => &mut state.pushed,
                Part::Pop(_) => &mut state.popped,
                _ => &mut state.freed,
            };
            counts[me] += 1;
            links.events += 1;
        }
        Ok(())
    }

    /// The view of a slot: as the pipe describes it, or the half that is this vector core's.
    fn slot_at(&self, channel: &Channel, slot: GlobalSlot, number: u64) -> Result<Global, Failure> {
        let mut view = self.global(slot).clone();
        let bits = u64::from(view.elem.bits()).max(1);
        let by = number.saturating_mul(channel.slot_size).saturating_mul(8) / bits;
        let elements = view.dims.iter().fold(1u64, |n, dim| n.saturating_mul(*dim));
        let is_half = view.elem.bytes_of(elements).saturating_mul(2) == channel.slot_size;
        let is_vector = self.cx.process.core == Some(Core::Vector);
        let axis = view.dims.len().checked_sub(if channel.split == 1 { 2 } else { 1 });
        let shift = match axis.filter(|_| is_vector && channel.split != 0 && is_half) {
            Some(axis) => {
                let (extent, stride) = (view.dims.get(axis).copied(), view.strides.get(axis).copied());
                let extent = i64::try_from(extent.unwrap_or(0)).unwrap_or(i64::MAX);
                i64::from(self.cx.process.number).saturating_mul(extent).saturating_mul(stride.unwrap_or(1))
            }
            None => 0,
        };
        let moved = i64::try_from(by).ok().and_then(|by| view.offset.checked_add(by)?.checked_add(shift));
        let beyond = || {
            let what = format!("slot {number} of {} lies beyond all memory", channel.name);
            failure("gm-bounds", what, "use fewer or smaller slots")
        };
        view.offset = moved.ok_or_else(beyond)?;
        Ok(view)
    }
}
