//! Semantics of synchronisation operations (sync.md 2 and 5), shared by the static checker and the detector.

use crate::explore::Core;
use crate::trace::{Group, Misuse};
use tessera_ir::{Op, OpId};
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrName, Opcode, Order, Ordered, Pipe};
use tessera_isa::profile::Profile;

/// The ids of flags on hardware.
const FLAG_IDS: std::ops::Range<i64> = 0..8;
/// The ids of buffers.
const BUFFER_IDS: std::ops::Range<i64> = 0..32;

/// An order operation; ids are asked for separately.
#[derive(Clone, Debug)]
pub enum SyncOp {
    Flag {
        from: Pipe,
        to: Pipe,
        sets: bool,
    },
    /// Of one pipe, or of all.
    Barrier(Option<Pipe>),
    /// Waits for the events among its operands.
    Events,
    Buffer {
        pipe: Pipe,
        takes: bool,
    },
    /// `sync.set` and `sync.wait`.
    Token {
        pipe: Pipe,
        sets: bool,
    },
    /// All cores of a group meet.
    Meet(Group),
    /// Barriers of these pipes, or of all.
    Fence(&'static [Option<Pipe>]),
    Nothing,
    /// It names pipes that it cannot.
    Wrong(Box<Misuse>),
}

/// An order operation with everything that its meaning depends on.
#[derive(Clone, Copy)]
pub struct SyncOpSite<'a> {
    pub at: OpId,
    pub op: &'a Op,
    pub order: Order,
    pub core: Core,
    pub profile: Profile,
    /// Whether a token is as on a2a3 ([`Op::is_wide_token`]).
    pub wide: bool,
}

impl<'a> SyncOpSite<'a> {
    fn words(&self) -> &'a [String] {
        self.op.attrs.as_deref().map(|a| a.words.as_slice()).unwrap_or_default()
    }

    fn word(&self, n: usize) -> &'a str {
        self.words().get(n).map_or("nothing", String::as_str)
    }

    fn pipe(&self, n: usize) -> Option<Ordered> {
        self.words().get(n).and_then(|w| Ordered::parse(w))
    }

    /// `flag-pipe`.
    fn wrong(&self, flag: String, what: String, help: String) -> SyncOp {
        SyncOp::Wrong(Box::new(Misuse { rule: "flag-pipe", op: self.at, flag, what, help, always: false }))
    }

    /// `flag-id-range`.
    fn wrong_id(&self, flag: String, what: String, help: String) -> Misuse {
        Misuse { rule: "flag-id-range", op: self.at, flag, what, help, always: true }
    }

    /// The pipes of a flag as they are written; none where it is no flag.
    pub fn ends(&self) -> Option<String> {
        let is_flag = matches!(self.order, Order::Set | Order::Wait | Order::Record | Order::Await);
        is_flag.then(|| format!("{} → {}", self.word(0), self.word(1)))
    }

    /// The effect of the operation.
    pub fn sync_op(&self) -> SyncOp {
        match self.order {
            Order::Set | Order::Wait | Order::Record | Order::Await => self.flag(),
            // A word that names no pipe orders nothing: it is no barrier of all of them.
            Order::Barrier | Order::Events if self.pipe(0).is_none() && !self.words().is_empty() => {
                let flag = format!("barrier of {}", self.word(0));
                self.wrong(flag, self.no_pipe(), "name a pipe, PIPE_ALL or an operation class".to_string())
            }
            Order::Barrier => SyncOp::Barrier(match self.pipe(0) {
                Some(Ordered::One(pipe)) => Some(pipe),
                _ => None,
            }),
            Order::Events => match self.pipe(0) {
                Some(Ordered::One(pipe)) => SyncOp::Barrier(Some(pipe)),
                _ => SyncOp::Events,
            },
            Order::Take | Order::Release => match self.pipe(0) {
                Some(Ordered::One(pipe)) if self.core.has(pipe) => {
                    SyncOp::Buffer { pipe, takes: self.order == Order::Take }
                }
                _ => {
                    let flag = format!("buffers of {}", self.word(0));
                    self.wrong(flag, self.no_pipe(), "name a pipe or an operation class".to_string())
                }
            },
            Order::CoreSet | Order::CoreWait => match self.pipe(0) {
                Some(Ordered::One(pipe)) => {
                    let sets = self.order == Order::CoreSet;
                    // On a2a3 the whole core waits.
                    let holds_all = !sets && (self.wide || self.crosses_blocks());
                    SyncOp::Token { pipe: if holds_all { Pipe::S } else { pipe }, sets }
                }
                _ => {
                    let flag = format!("cores' flags of {}", self.word(0));
                    self.wrong(flag, self.no_pipe(), "name one pipe".to_string())
                }
            },
            Order::Fence if self.core == Core::Cube => {
                SyncOp::Fence(&[Some(Pipe::Mte2), Some(Pipe::Mte3), Some(Pipe::Fix)])
            }
            Order::Fence => SyncOp::Fence(&[None]),
            Order::Meet => SyncOp::Meet(Group::of(self.word(1))),
            Order::Nothing | Order::Cache => SyncOp::Nothing,
        }
    }

    fn no_pipe(&self) -> String {
        format!("{} names {}, which is no pipe of {}", self.op.kind.name(), self.word(0), self.core.name())
    }

    fn flag(&self) -> SyncOp {
        let (core, name) = (self.core, self.op.kind.name());
        let sets = matches!(self.order, Order::Set | Order::Record);
        let classes = matches!(self.order, Order::Record | Order::Await);
        let (first, second) = (self.word(0), self.word(1));
        let wrong = |what: String, help: String| self.wrong(format!("{first} → {second} of {:?}", self.at), what, help);
        match [self.pipe(0), self.pipe(1)] {
            [Some(Ordered::One(from)), Some(Ordered::One(to))] if from == to && classes => {
                if sets {
                    SyncOp::Nothing
                } else {
                    SyncOp::Barrier(Some(to))
                }
            }
            [Some(Ordered::One(from)), Some(Ordered::One(to))] if from != to && core.has(from) && core.has(to) => {
                SyncOp::Flag { from, to, sets }
            }
            [Some(Ordered::One(a)), Some(Ordered::One(b))] if a == b => wrong(
                format!("{name} goes from {first} to {second}, and a flag orders two different pipes"),
                format!("write pto.barrier <{}>", a.cpp()),
            ),
            [Some(Ordered::All), _] | [_, Some(Ordered::All)] => wrong(
                format!("{name} names PIPE_ALL, and a flag goes from one pipe to one other"),
                "write pto.barrier <PIPE_ALL>, or name the pipes".to_string(),
            ),
            _ => wrong(
                format!("{name} goes from {first} to {second}, and {} has not both pipes", core.name()),
                "name two pipes of the core: PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX"
                    .to_string(),
            ),
        }
    }

    /// The id that it names, where it is written and no operand.
    pub fn written_id(&self) -> Option<i64> {
        self.op.written_id(self.order)
    }

    /// Whether there is a flag with this id.
    pub fn has_flag(&self, id: i64) -> bool {
        id >= 0 && (!self.profile.is_npu() || FLAG_IDS.contains(&id))
    }

    /// `flag-id-range` of a flag; where it is said in which iteration.
    pub fn flag_id(&self, ends: &str, id: i64, iteration: &str) -> Option<Misuse> {
        if self.has_flag(id) {
            return None;
        }
        let hardware = self.profile.is_npu();
        let name = self.op.kind.name();
        let what = match hardware {
            true => format!("{name} of {ends} has id {id}{iteration}, and ids are 0 to 7"),
            false => format!("{name} of {ends} has id {id}, and ids are at least 0"),
        };
        let help = "use an id from 0 to 7 that nothing else uses there; two buffers take turns with i mod 2";
        Some(self.wrong_id(format!("{ends} {id}"), what, help.to_string()))
    }

    /// `flag-id-range` of a buffer's token.
    pub fn buffer_id(&self, id: Option<i64>) -> Result<u32, Misuse> {
        if let Some(id) = id.filter(|id| BUFFER_IDS.contains(id)) {
            return Ok(id as u32);
        }
        let id = id.map_or("an id that is not known".to_string(), |n| format!("id {n}"));
        let what = format!("{} has {id}, and buffers have ids 0 to 31", self.op.kind.name());
        Err(self.wrong_id(format!("buffer {} {id}", self.word(0)), what, "use an id from 0 to 31".to_string()))
    }

    /// `flag-id-range` of a token between cores.
    pub fn token_id(&self, id: i64, iteration: &str) -> Option<Misuse> {
        if let Some(found) = self.wrong_mode() {
            return Some(found);
        }
        let small =
            self.wide || matches!(self.core, Core::Vector(_)) && !self.op.is_block_token() || self.crosses_blocks();
        let limit = if small { 16 } else { 32 };
        if (0..limit).contains(&id) {
            return None;
        }
        let (name, core, last) = (self.op.kind.name(), self.core.name(), limit - 1);
        let what = format!("{name} has id {id}{iteration}, and ids of {core} are 0 to {last}");
        let flag = format!("cores' flag {id} of {:?}", self.at);
        Some(self.wrong_id(flag, what, format!("use an id from 0 to {last}")))
    }

    /// The counter of an id: an instruction of micro/cube.md 8 counts modulo 16 on a vector core.
    pub fn counter(&self, id: i64) -> i64 {
        let is_vector = matches!(self.core, Core::Vector(_));
        if is_vector && self.op.is_block_token() { id.rem_euclid(16) } else { id }
    }

    /// `flag-id-range` of a written `ffts_mode`: 0 to 2, and 0 across blocks (isa/today.md 8.3).
    fn wrong_mode(&self) -> Option<Misuse> {
        let Some(AttrValue::Int(mode)) = self.op.known_attrs().get(AttrName::FftsMode) else { return None };
        let range = if self.crosses_blocks() { 0..=0 } else { 0..=2 };
        if range.contains(&mode) {
            return None;
        }
        let (name, last) = (self.op.kind.name(), range.end());
        let what = format!("{name} has ffts_mode {mode}, and its modes are 0 to {last}");
        Some(self.wrong_id(format!("mode of {:?}", self.at), what, "write a mode that exists, or leave it out".into()))
    }

    /// Whether it is a meeting of all blocks by its name.
    pub fn crosses_blocks(&self) -> bool {
        self.op.opcode().is_some_and(Opcode::crosses_blocks)
    }

    /// Whether a token stands for a meeting of cores of one kind (sync.md 5, `ffts_mode`).
    pub fn meets(&self) -> bool {
        let mode = self.op.opcode().map_or(2, |opcode| opcode.ffts_mode(self.wide, self.op.known_attrs()));
        self.order == Order::CoreSet && (mode == 0 || mode == 1 && self.core != Core::Cube)
    }

    /// The group of cores that a meeting across blocks is for.
    pub fn group(&self) -> Group {
        if self.core == Core::Cube { Group::Cube } else { Group::Vector }
    }
}
