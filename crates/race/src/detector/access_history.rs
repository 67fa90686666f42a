//! The access history of a cell: the entries that later events are compared with.

use super::event::{Done, Iterations, Point};
use super::shadow_memory::{Access, AccessKind};
use super::vector_clock::{Clock, LANES, Lane};
use crate::races::Conflict;
use tessera_ir::OpId;

/// An event that touches bytes.
pub struct Touching<'a, const W: usize> {
    pub process: usize,
    pub lane: Lane,
    pub position: u32,
    pub clock: &'a Clock<W>,
    pub point: &'a Point,
    pub done: Done,
    /// Whether every later event happens after it anyway.
    pub is_before_all: bool,
}

/// An access that is kept.
#[derive(Clone, Debug)]
pub struct Entry {
    pub lane: Lane,
    pub way: AccessKind,
    pub access: u8,
    pub position: u32,
    pub op: OpId,
    pub index: u32,
    pub done: Done,
    /// The clock of its own process when it started.
    pub clock: [u32; LANES],
    pub turns: Iterations,
    /// The first round of it that was seen, and its position.
    pub first: (Iterations, u32),
    /// By pipe of its process: the first event that raced with it, one more than its position; 0 where none did.
    pub raced: [u32; LANES],
}

impl Entry {
    pub fn process(&self) -> usize {
        usize::from(self.lane) / LANES
    }

    /// Whether this event, or an earlier one on its pipe, is known to race with it.
    #[inline]
    pub fn is_marked<const W: usize>(&self, event: &Touching<'_, W>) -> bool {
        (1..=event.position + 1).contains(&self.raced[usize::from(event.lane) % LANES])
    }

    /// This event raced with it.
    #[inline]
    pub fn mark<const W: usize>(&mut self, event: &Touching<'_, W>) {
        if !self.is_marked(event) {
            self.raced[usize::from(event.lane) % LANES] = event.position + 1;
        }
    }
}

/// What to do with an event at a cell: compare it, record it, or both.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum HistoryUpdate<'a> {
    Meets,
    /// Record it. The sorted program positions are the entries that raced with it.
    Stays(&'a [u32]),
    MeetsAndStays,
}

/// An event meets what is kept of a cell, and takes its place there.
#[inline]
pub fn meet<const W: usize>(
    entries: &mut Vec<Entry>,
    event: &Touching<'_, W>,
    (access, own): (&Access, u8),
    act: HistoryUpdate<'_>,
    (several, automatic): (bool, bool),
    race: &mut impl FnMut(&mut Entry, u8, Conflict),
) {
    // Entries of one program point are ordered, so the newest one suffices.
    let (mut own_entry, mut at) = (None, 0);
    while let Some(e) = entries.get_mut(at) {
        let is_own = e.process() == event.process;
        if is_own && e.index == event.point.index {
            at += 1;
            continue;
        }
        let before = event.clock.has(e.lane, e.position);
        let is_ordered = before || is_own && automatic;
        match (act, e.way.conflict(access.way)) {
            (HistoryUpdate::Stays(raced), _) if raced.is_empty() || e.is_marked(event) => {}
            (HistoryUpdate::Stays(raced), _) if raced.binary_search(&e.index).is_ok() => e.mark(event),
            (HistoryUpdate::Meets | HistoryUpdate::MeetsAndStays, Some(conflict)) if !is_ordered => {
                race(e, own, conflict)
            }
            _ => {}
        }
        if act == HistoryUpdate::Meets {
            at += 1;
            continue;
        }
        let is_same = e.lane == event.lane && e.op == event.point.op && e.way == access.way;
        if is_same && own_entry.is_none() {
            own_entry = Some((at, e.first));
            at += 1;
        } else if is_same || !several && before && access.way.covers(e.way) {
            entries.swap_remove(at);
        } else {
            at += 1;
        }
    }
    if act == HistoryUpdate::Meets || event.is_before_all && !several && access.way == AccessKind::Reads {
        return;
    }
    let entry = Entry {
        lane: event.lane,
        way: access.way,
        access: own,
        position: event.position,
        op: event.point.op,
        index: event.point.index,
        done: event.done,
        clock: event.clock.of(event.process),
        turns: event.point.turns,
        first: own_entry.map_or((event.point.turns, event.position), |(_, first)| first),
        raced: [0; LANES],
    };
    match own_entry.and_then(|(at, _)| entries.get_mut(at)) {
        Some(place) => *place = entry,
        None => entries.push(entry),
    }
}
