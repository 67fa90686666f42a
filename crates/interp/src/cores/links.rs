//! The state that cores share besides memories: the progress of each FIFO, and the tokens on their way.

use super::super::code::{Channel, TileId};
use super::super::step::Exec;
use smallvec::SmallVec;
use std::collections::VecDeque;
use tessera_ir::{Fifos, OpId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::profile::Profile;
use tessera_isa::sem::Dir;

/// The reason why a core waits.
#[derive(Clone, Copy, Debug)]
pub enum Wait {
    /// A free slot.
    Slot {
        channel: usize,
    },
    /// The next tile.
    Tile {
        channel: usize,
    },
    Token {
        id: i64,
    },
    /// The other cores of a group.
    Meeting(Group),
    /// The words of a signal.
    Signal,
    /// A test of a signal, which is asked again in the next round.
    Test,
}

/// The cores that meet in a `syncall` (isa/comm.md 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Cube,
    Vector,
    All,
}

impl Group {
    /// All of them.
    pub const ALL: [Group; 3] = [Group::Cube, Group::Vector, Group::All];

    /// The places of its cores among those of a block.
    pub fn places(self) -> std::ops::Range<usize> {
        match self {
            Group::Cube => 0..1,
            Group::Vector => 1..3,
            Group::All => 0..3,
        }
    }
}

/// A tile that was pushed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pushed {
    /// The number of the push, in the text.
    pub number: usize,
    pub valid: [u64; 2],
}

/// A popped tile, and where its slot lies.
#[derive(Clone, Debug)]
pub struct Popped {
    pub tile: TileId,
    pub views: SmallVec<[TileId; 2]>,
}

/// The progress of a FIFO. The operations of both vector cores are counted for each.
#[derive(Debug)]
pub struct State {
    /// Views of slots that were given out (isa/today.md 7.2).
    pub allocated: [u64; 2],
    pub pushed: [u64; 2],
    pub popped: [u64; 2],
    pub freed: [u64; 2],
    /// By slot and half.
    pub slots: Vec<[Pushed; 2]>,
    /// The tiles that were popped and not freed, oldest first.
    pub live: [VecDeque<Popped>; 2],
}

/// Everything that cores share besides memories.
#[derive(Debug)]
pub struct Links {
    pub profile: Profile,
    pub channels: Vec<State>,
    /// Tokens from C, by vector core and id; and from each vector core to C.
    pub from_cube: [[u8; 16]; 2],
    pub to_cube: [[u8; 16]; 2],
    /// The cores of the block: the cube core, or one that has all pipes, and each vector core.
    pub cores: [bool; 3],
    /// The arrivals at a meeting of cores of one kind, by core and id; and the tokens that each core gets there.
    pub come: [[u8; 16]; 3],
    pub met: [[u8; 16]; 3],
    /// By core and group: whether it has arrived at a meeting, and whether it may go on.
    pub arrived: [[bool; 3]; 3],
    pub may_go_on: [[bool; 3]; 3],
    /// By group: how many cores take part, where the program says so.
    pub wanted: [i64; 3],
    /// Grows with every event that may let a waiting core continue.
    pub events: u64,
}

impl Links {
    pub fn new(profile: Profile, channels: &[Channel], cores: [bool; 3]) -> Links {
        let state = |channel: &Channel| State {
            allocated: [0; 2],
            pushed: [0; 2],
            popped: [0; 2],
            freed: [0; 2],
            slots: vec![[Pushed::default(); 2]; channel.slots as usize],
            live: Default::default(),
        };
        Links {
            profile,
            channels: channels.iter().map(state).collect(),
            from_cube: [[0; 16]; 2],
            to_cube: [[0; 16]; 2],
            cores,
            come: [[0; 16]; 3],
            met: [[0; 16]; 3],
            arrived: [[false; 3]; 3],
            may_go_on: [[false; 3]; 3],
            wanted: [0; 3],
            events: 0,
        }
    }

    /// Whether both vector cores have a part in every tile of the FIFO. On a2a3 both take and give whole tiles, too.
    fn is_for_both(&self, channel: &Channel) -> bool {
        channel.split != 0 || self.profile == Profile::A2a3
    }

    /// The number of times that a slot became free again.
    pub fn freed(&self, n: usize, channel: &Channel) -> u64 {
        let Some(state) = self.channels.get(n) else { return 0 };
        let freed = if channel.frees_at_pop { state.popped } else { state.freed };
        match channel.dir {
            Dir::C2v if self.is_for_both(channel) => freed[0].min(freed[1]),
            _ => freed[0],
        }
    }

    /// The number of tiles that have become available to pop, in total.
    pub fn ready(&self, n: usize, channel: &Channel) -> u64 {
        let Some(state) = self.channels.get(n) else { return 0 };
        match channel.dir {
            Dir::V2c if self.is_for_both(channel) => state.pushed[0].min(state.pushed[1]),
            _ => state.pushed[0],
        }
    }

    /// Describes why a core waits.
    pub fn describe(&self, wait: Wait, exec: &Exec<'_>) -> String {
        let channel = |n: usize| exec.cx.program.channels.get(n).zip(self.channels.get(n));
        match wait {
            Wait::Slot { channel: n } => {
                let Some((channel, state)) = channel(n) else { return String::new() };
                let half = if channel.dir == Dir::V2c { usize::from(exec.cx.process.number) } else { 0 };
                let used = state.pushed[half] - self.freed(n, channel).min(state.pushed[half]);
                let verb = if channel.frees_at_pop { "popped" } else { "freed" };
                let freed = if channel.frees_at_pop { state.popped } else { state.freed };
                let who = match channel.dir {
                    Dir::C2v if self.is_for_both(channel) => {
                        format!("V0 has {verb} {}, V1 has {verb} {}", freed[0], freed[1])
                    }
                    Dir::C2v => format!("V0 has {verb} {}", freed[0]),
                    Dir::V2c => format!("C has {verb} {}", freed[0]),
                };
                format!("{} is full, {used} of {} slots, {who}", channel.name, channel.slots)
            }
            Wait::Tile { channel: n } => {
                let Some((channel, state)) = channel(n) else { return String::new() };
                let who = match channel.dir {
                    Dir::C2v => format!("C has pushed {}", state.pushed[0]),
                    Dir::V2c if self.is_for_both(channel) => {
                        format!("V0 has pushed {}, V1 has pushed {}", state.pushed[0], state.pushed[1])
                    }
                    Dir::V2c => format!("V0 has pushed {}", state.pushed[0]),
                };
                format!("{} is empty, 0 of {} slots, {who}", channel.name, channel.slots)
            }
            Wait::Meeting(group) => {
                let come = group.places().filter(|place| self.arrived[*place][group as usize]).count();
                let all = group.places().filter(|place| self.cores[*place]).count();
                format!("{come} of {all} cores of its block have arrived")
            }
            Wait::Signal | Wait::Test => exec.signal_wanted(),
            Wait::Token { id } => {
                let has_come = |id: i64| self.come[exec.cx.process.place()].get(usize::try_from(id).ok()?).copied();
                match has_come(id) {
                    Some(1..) => format!("not all cores of its kind have come to the meeting with id {id}"),
                    _ => format!("no token with id {id} has come"),
                }
            }
        }
    }

    /// The warnings about the state left when all cores have ended, each with an operation to point at.
    pub fn left(&self, exec: &Exec<'_>) -> Vec<(OpId, Diagnostic)> {
        let mut found = Vec::new();
        let fifos = Fifos::new(exec.cx.module, exec.cx.func);
        for (n, (channel, state)) in exec.cx.program.channels.iter().zip(&self.channels).enumerate() {
            let Some(fifo) = fifos.list.get(n) else { continue };
            let (both, is_c2v) = (self.is_for_both(channel), channel.dir == Dir::C2v);
            let least = |counts: [u64; 2], by_both: bool| if by_both { counts[0].min(counts[1]) } else { counts[0] };
            let most = |counts: [u64; 2], by_both: bool| if by_both { counts[0].max(counts[1]) } else { counts[0] };
            let pushed = most(state.pushed, both && !is_c2v);
            let left = pushed.saturating_sub(least(state.popped, both && is_c2v));
            if let (1.., Some(at)) = (left, fifo.pushes.first()) {
                let what = format!("{}: {pushed} tiles were pushed, and {left} of them never popped", channel.name);
                let warning = Diagnostic::warning("fifo-leak", what).at(exec.cx.span(*at), "pushed here");
                found.push((*at, warning.help("pop as often as is pushed")));
            }
            let unfreed: u64 = match channel.entries {
                true => state.popped.iter().sum::<u64>() - state.freed.iter().sum::<u64>(),
                false if channel.frees_at_pop => 0,
                false => state.live.iter().map(|live| live.len() as u64).sum(),
            };
            if let (1.., Some(at), Profile::A5) = (unfreed, fifo.pops.first(), self.profile) {
                let what = format!("{}: {unfreed} popped tiles were never freed", channel.name);
                let warning = Diagnostic::warning("fifo-unfreed", what).at(exec.cx.span(*at), "popped here");
                found.push((*at, warning.help("free each slot after its last use")));
            }
        }
        found.extend(self.tokens_left(exec));
        found
    }
}
