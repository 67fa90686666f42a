//! Order operations: flags, barriers, buffers' tokens, events (sync.md 2 and 5).

use super::{Core, Res, Val, Walk};
use crate::Undecided;
use crate::form::Form;
use crate::trace::{Flag, Kind, Line, Misuse};
use tessera_ir::{Op, OpId};
use tessera_isa::ops::{AttrName, Opcode, Order, Ordered, Pipe};
use tessera_isa::profile::Profile;

/// The ids of flags on hardware.
const FLAG_IDS: std::ops::Range<i64> = 0..8;
/// The ids of buffers.
const BUFFER_IDS: std::ops::Range<i64> = 0..32;

impl Core {
    /// The pipes of a core (isa/structure.md 4).
    pub fn has(self, pipe: Pipe) -> bool {
        match self {
            Core::Unsplit => true,
            Core::Cube => pipe != Pipe::V,
            Core::Vector(_) => !matches!(pipe, Pipe::M | Pipe::Mte1 | Pipe::Fix),
        }
    }

    /// How messages name it.
    pub fn name(self) -> &'static str {
        match self {
            Core::Unsplit => "the core",
            Core::Cube => "C",
            Core::Vector(0) => "V0",
            Core::Vector(_) => "V1",
        }
    }
}

impl<'a> Walk<'a> {
    /// The number of the vector core, or of the block that runs, and how many there are (isa/structure.md 4).
    pub(super) fn core_number(&self, opcode: Opcode) -> Option<i64> {
        let mixed = !self.kinds.is_empty();
        match opcode {
            Opcode::GetSubblockIdx => Some(if let Core::Vector(n) = self.subject.core { n.into() } else { 0 }),
            Opcode::GetSubblockNum => Some(if mixed { 2 } else { 1 }),
            Opcode::GetBlockIdx => self.subject.run.map(|run| run.block[0]),
            Opcode::GetBlockNum => self.subject.run.map(|run| run.block[1]),
            _ => None,
        }
    }

    pub(super) fn order(&mut self, id: OpId, op: &Op, order: Order) -> Res {
        let words = op.attrs.as_deref().map(|a| a.words.as_slice()).unwrap_or_default();
        let pipe = |n: usize| words.get(n).and_then(|w| Ordered::parse(w));
        match order {
            Order::Set | Order::Wait | Order::Record | Order::Await => self.flag(id, op, order, words),
            Order::Barrier => {
                let pipe = match pipe(0) {
                    Some(Ordered::One(pipe)) => Some(pipe),
                    _ => None,
                };
                self.event(id, pipe, Kind::Barrier, &[]);
            }
            Order::Events => {
                if let Some(Ordered::One(pipe)) = pipe(0) {
                    self.event(id, Some(pipe), Kind::Barrier, &[]);
                    return Ok(());
                }
                let recorded = op.values().filter_map(|v| self.get(v).event()).collect();
                let event = self.event(id, None, Kind::Joins, &[]);
                self.trace.named.insert(event, recorded);
            }
            Order::Take | Order::Release => self.buffer(id, op, order, pipe(0), words),
            Order::CoreSet | Order::CoreWait => self.core_flag(id, op, order, pipe(0), words)?,
            Order::Nothing => {}
        }
        Ok(())
    }

    /// The id that an order operation names: a word, or the operand.
    fn id(&mut self, op: &Op, word: Option<&String>) -> Form {
        let named = word.and_then(|w| w.trim_start_matches("EVENT_ID").parse::<i64>().ok());
        let given = op.operands.first().and_then(|o| self.form(o.arg));
        named.map(Form::from).or(given).unwrap_or_else(|| self.fresh())
    }

    /// Each flag is told of once, at its first place, and so is each operation (sync.md 9).
    fn misuse(&mut self, misuse: Misuse) {
        let is_new_flag = self.misused.flags.insert((misuse.rule, misuse.flag.clone()));
        if self.misused.ops.insert((misuse.op, misuse.rule)) && is_new_flag {
            self.trace.misuses.push(misuse);
        }
    }

    fn flag(&mut self, at: OpId, op: &Op, order: Order, words: &[String]) {
        let (core, name) = (self.subject.core, op.kind.name());
        let word = |n: usize| words.get(n).map_or("nothing", String::as_str);
        let sides = [0, 1].map(|n| words.get(n).and_then(|w| Ordered::parse(w)));
        let is_set = matches!(order, Order::Set | Order::Record);
        let classes = matches!(order, Order::Record | Order::Await);
        let (from, to) = match sides {
            [Some(Ordered::One(from)), Some(Ordered::One(to))] if from == to && classes => {
                if !is_set {
                    self.event(at, Some(to), Kind::Barrier, &[]);
                }
                return;
            }
            [Some(Ordered::One(from)), Some(Ordered::One(to))] if from != to && core.has(from) && core.has(to) => {
                (from, to)
            }
            [a, b] => {
                let (first, second) = (word(0), word(1));
                let (what, help) = match (a, b) {
                    (Some(Ordered::One(a)), Some(Ordered::One(b))) if a == b => (
                        format!("{name} goes from {first} to {second}, and a flag orders two different pipes"),
                        format!("write pto.barrier <{}>", a.cpp()),
                    ),
                    (Some(Ordered::All), _) | (_, Some(Ordered::All)) => (
                        format!("{name} names PIPE_ALL, and a flag goes from one pipe to one other"),
                        "write pto.barrier <PIPE_ALL>, or name the pipes".to_string(),
                    ),
                    _ => (
                        format!("{name} goes from {first} to {second}, and {} has not both pipes", core.name()),
                        "name two pipes of the core: PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX"
                            .to_string(),
                    ),
                };
                let ends = format!("{first} → {second}");
                let id = self.id(op, words.get(2));
                let flag = format!("{ends} {id:?}");
                self.misuse(Misuse { rule: "flag-pipe", op: at, flag, what, help, always: false });
                return self.flag_id(at, name, &ends, &id);
            }
        };
        let id = self.id(op, words.get(2));
        self.flag_id(at, name, &format!("{from} → {to}"), &id);
        let flag = self.flag_number(Flag::Pipes(from, to, id));
        let event = match is_set {
            true => self.event(at, Some(from), Kind::Set(flag), &[]),
            false => self.event(at, Some(to), Kind::Wait(flag), &[]),
        };
        if let Some(result) = op.results.first() {
            self.set(*result, Val::Event(event));
        }
    }

    /// Is the id of a flag between these one that there is?
    fn flag_id(&mut self, op: OpId, name: &str, ends: &str, id: &Form) {
        let hardware = self.subject.profile.is_npu();
        let Some(n) = id.known().filter(|n| *n < 0 || hardware && !FLAG_IDS.contains(n)) else { return };
        let what = match hardware {
            true => format!("{name} of {ends} has id {n}{}, and ids are 0 to 7", self.iteration()),
            false => format!("{name} of {ends} has id {n}, and ids are at least 0"),
        };
        let help = "use an id from 0 to 7 that nothing else uses there; two buffers take turns with i mod 2".into();
        self.misuse(Misuse { rule: "flag-id-range", op, flag: format!("{ends} {n}"), what, help, always: true });
    }

    /// ", in iteration 8" inside a loop.
    fn iteration(&self) -> String {
        self.turn.last().map_or_else(String::new, |(_, n)| format!(" in iteration {n}"))
    }

    fn flag_number(&mut self, flag: Flag) -> u32 {
        let next = self.flags.len() as u32;
        let flags = &mut self.trace.flags;
        *self.flags.entry(flag).or_insert_with_key(|flag| {
            flags.push(flag.clone());
            next
        })
    }

    fn buffer(&mut self, at: OpId, op: &Op, order: Order, pipe: Option<Ordered>, words: &[String]) {
        let name = op.kind.name();
        let Some(Ordered::One(pipe)) = pipe.filter(|p| !matches!(p, Ordered::One(p) if !self.subject.core.has(*p)))
        else {
            let word = words.first().map_or("nothing", String::as_str);
            let what = format!("{name} names {word}, which is no pipe of {}", self.subject.core.name());
            let (flag, help) = (format!("buffers of {word}"), "name a pipe or an operation class".into());
            return self.misuse(Misuse { rule: "flag-pipe", op: at, flag, what, help, always: false });
        };
        let id = self.id(op, words.get(1));
        match id.known() {
            Some(n) if BUFFER_IDS.contains(&n) => {
                let kind = if order == Order::Take { Kind::Take(n as u32) } else { Kind::Release(n as u32) };
                self.event(at, Some(pipe), kind, &[]);
            }
            known => {
                let id = known.map_or("an id that is not known".to_string(), |n| format!("id {n}"));
                let what = format!("{name} has {id}, and buffers have ids 0 to 31");
                let (flag, help) = (format!("buffer {pipe} {id}"), "use an id from 0 to 31".into());
                self.misuse(Misuse { rule: "flag-id-range", op: at, flag, what, help, always: true });
            }
        }
    }

    /// `sync.set` and `sync.wait`; in an unsplit process a flag from one pipe to the other (sync.md 5).
    fn core_flag(&mut self, at: OpId, op: &Op, order: Order, pipe: Option<Ordered>, words: &[String]) -> Res {
        let name = op.kind.name();
        let Some(Ordered::One(pipe)) = pipe else {
            let word = words.first().map_or("nothing", String::as_str);
            let what = format!("{name} names {word}, which is no pipe of {}", self.subject.core.name());
            let (flag, help) = (format!("cores' flags of {word}"), "name one pipe".into());
            self.misuse(Misuse { rule: "flag-pipe", op: at, flag, what, help, always: false });
            return Ok(());
        };
        let id = self.id(op, words.get(1));
        let (profile, core) = (self.subject.profile, self.subject.core);
        let limit = if profile == Profile::A2a3 || matches!(core, Core::Vector(_)) { 16 } else { 32 };
        if let Some(n) = id.known().filter(|n| !(0..limit).contains(n)) {
            let what =
                format!("{name} has id {n}{}, and ids of {} are 0 to {}", self.iteration(), core.name(), limit - 1);
            let help = format!("use an id from 0 to {}", limit - 1);
            let flag = format!("cores' flag {n} of {at:?}");
            self.misuse(Misuse { rule: "flag-id-range", op: at, flag, what, help, always: true });
            return Ok(());
        }
        let is_set = order == Order::CoreSet;
        // On a2a3 the whole core waits.
        let pipe = if !is_set && profile == Profile::A2a3 { Pipe::S } else { pipe };
        if core == Core::Unsplit {
            if !(is_set && id.known().is_some_and(|n| n >= 16)) {
                let flag = self.flag_number(Flag::Cores(id));
                self.event(at, Some(pipe), if is_set { Kind::Set(flag) } else { Kind::Wait(flag) }, &[]);
            }
            return Ok(());
        }
        let Some(id) = id.known() else {
            return Err(Undecided::at(op.span, format!("the id of {name} is not known")));
        };
        let mode = op.known_attrs().int(AttrName::FftsMode).unwrap_or(2);
        let meets = is_set && profile == Profile::A2a3 && (mode == 0 || mode == 1 && core != Core::Cube);
        let line = Line::Token { id, meets };
        self.event(at, Some(pipe), if is_set { Kind::Send(line) } else { Kind::Receive(line) }, &[]);
        Ok(())
    }
}
