//! Clocks of the pipes of all processes of a block.

use crate::trace::PHASES;
use tessera_isa::ops::Pipe;

/// Lanes of a process: its pipes, and one for phases that another one follows.
pub const LANES: usize = crate::trace::LANES;
/// A pipe of a process.
pub type Lane = u8;

pub fn lane(process: usize, pipe: Pipe) -> Lane {
    (process * LANES + pipe as usize) as Lane
}

/// The lane of phases.
pub fn phase_lane(process: usize) -> Lane {
    (process * LANES + PHASES) as Lane
}

/// A vector clock: by lane, the number of its events, in program order, that are done. A kernel has one process, or
/// three.
#[derive(Clone, Copy, Debug)]
pub struct Clock<const W: usize>([u32; W]);

impl<const W: usize> Default for Clock<W> {
    fn default() -> Self {
        Clock([0; W])
    }
}

impl<const W: usize> Clock<W> {
    #[inline]
    pub fn join(&mut self, other: &Clock<W>) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a = (*a).max(*b));
    }

    #[inline]
    pub fn done(&self, lane: Lane) -> u32 {
        self.0.get(usize::from(lane)).copied().unwrap_or(0)
    }

    #[inline]
    pub fn raise(&mut self, lane: Lane, to: u32) {
        if let Some(own) = self.0.get_mut(usize::from(lane)) {
            *own = (*own).max(to);
        }
    }

    /// Whether the event at this position of a lane is done.
    #[inline]
    pub fn has(&self, lane: Lane, position: u32) -> bool {
        self.done(lane) > position
    }

    /// The part of one process.
    #[inline]
    pub fn of(&self, process: usize) -> [u32; LANES] {
        let mut own = [0; LANES];
        own.iter_mut().zip(self.0.iter().skip(process * LANES)).for_each(|(to, from)| *to = *from);
        own
    }
}
