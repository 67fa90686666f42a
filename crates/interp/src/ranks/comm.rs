//! The operations between ranks (isa/comm.md 3 and 9), as a process runs them.

use super::super::code::{CommOp, GlobalSlot, Int};
use super::super::cores::Wait;
use super::super::observe::{Communicated, Move, Moves, SignalWord, TouchKind};
use super::super::step::{Exec, Stop};
use super::views::Shared;
use super::{Copy, Notification, transfer};
use smallvec::SmallVec;
use tessera_ir::OpId;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{NotifyOp, ReduceOp, WaitCmp};
use tessera_isa::ops::{AttrName, Pipe, Role};
use tessera_isa::sem::{Comm, Func};
use tessera_kernels::{Failure, MemoryId, failure, internal_error};

/// What a process waits for, or tested last: the first word that does not compare.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub words: SmallVec<[(MemoryId, usize); 1]>,
    pub cmp: WaitCmp,
    pub value: i32,
}

impl Exec<'_> {
    /// Runs an operation between ranks; the process may have to wait.
    pub fn communicate(&mut self, at: OpId, op: &CommOp) -> Result<(), Stop> {
        if self.cx.rank.is_none() || self.watch.is_some() {
            let what =
                format!("pto.{} moves data between ranks, which is not followed byte by byte", op.opcode.printed());
            return Err(failure("not-executable", what, "run it, or look at a part of one rank").into());
        }
        self.settle()?;
        match op.comm {
            Comm::Put | Comm::Get => self.put(at, op)?,
            Comm::Broadcast | Comm::Gather | Comm::Scatter => self.distribute(at, op)?,
            Comm::Reduce => self.reduce(at, op)?,
            Comm::Notify => self.notify(at, op)?,
            Comm::Wait | Comm::Test => return self.await_signal(at, op),
            Comm::Session => {
                self.clobber(at, &op.tiles);
                self.signals.sessions += 1;
                self.result(op, self.signals.sessions);
            }
            Comm::PutAsync | Comm::GetAsync => self.start_copy(at, op)?,
            Comm::AwaitEvent | Comm::TestEvent => self.await_copy(at, op)?,
        }
        Ok(())
    }

    fn result(&mut self, op: &CommOp, value: i64) {
        if let Some(slot) = op.result {
            self.set(slot, value);
        }
    }

    fn slot(op: &CommOp, role: Role) -> Result<GlobalSlot, Failure> {
        let found = op.views.iter().find(|(r, _)| *r == role).map(|v| v.1);
        found.ok_or_else(|| internal_error("an operation between ranks lacks a view"))
    }

    fn shared_view(&mut self, at: OpId, op: &CommOp, role: Role) -> Result<Shared, Failure> {
        let global = self.global(Self::slot(op, role)?).clone();
        self.shared(at, &global, role.name())
    }

    fn members(&mut self, at: OpId, op: &CommOp) -> Result<Vec<Shared>, Failure> {
        let slots = op.views.iter().filter(|(role, _)| *role == Role::Member).map(|v| v.1);
        let globals: Vec<_> = slots.map(|slot| self.global(slot).clone()).collect();
        globals.iter().enumerate().map(|(n, global)| self.shared(at, global, &format!("g{n}"))).collect()
    }

    /// `X-shape` of extents that are known only now.
    fn same_extents(&self, op: &CommOp, a: (&str, &Shared), b: (&str, &Shared)) -> Result<(), Failure> {
        if a.1.dims == b.1.dims {
            return Ok(());
        }
        let dims = |view: &Shared| view.dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let what = format!("{} is a view of {}, and {} of {}", a.0, dims(a.1), b.0, dims(b.1));
        Err(failure(op.opcode.rule("shape"), what, "give views of the same extents"))
    }

    fn put(&mut self, at: OpId, op: &CommOp) -> Result<(), Failure> {
        let (dst, src) = (self.shared_view(at, op, Role::DstView)?, self.shared_view(at, op, Role::SrcView)?);
        self.same_extents(op, ("dst", &dst), ("src", &src))?;
        let adds = op.comm == Comm::Put && op.attrs.adds();
        self.observe_moves(at, op, &[&src], &[&dst], adds);
        match adds {
            true => transfer::add(&mut self.engine.memories, &dst, &src)?,
            false => transfer::copy(&mut self.engine.memories, &dst, &src)?,
        }
        self.clobber(at, &op.tiles);
        Ok(())
    }

    /// The root's place in its group; warns where it is another rank's (`comm-root`).
    fn root(&mut self, at: OpId, op: &CommOp, members: &[Shared]) -> usize {
        let root = op.attrs.int(AttrName::Root).and_then(|root| usize::try_from(root).ok()).unwrap_or(0);
        let (Some(rank), Some(view)) = (self.cx.rank, members.get(root)) else { return root };
        let of = rank.space.region(view.memory).map(|(_, region)| region.rank);
        if let Some(of) = of.filter(|of| *of != rank.number) {
            let name = op.opcode.printed();
            let what = format!("rank {} runs {name}, whose root is a view of rank {of}", rank.number);
            let found = Diagnostic::warning("comm-root", what).at(self.cx.span(at), "runs here");
            self.found.warn(at, found.help("run it on the rank that is the root"));
        }
        root
    }

    fn distribute(&mut self, at: OpId, op: &CommOp) -> Result<(), Failure> {
        let role = if op.comm == Comm::Gather { Role::DstView } else { Role::SrcView };
        let all = self.shared_view(at, op, role)?;
        let members = self.members(at, op)?;
        self.root(at, op, &members);
        let rows = members.first().and_then(|m| m.dims.get(m.dims.len().saturating_sub(2)).copied()).unwrap_or(1);
        let part = |n: usize| if op.comm == Comm::Broadcast { all.clone() } else { all.rows(n as u64 * rows, rows) };
        let parts: Vec<Shared> = (0..members.len()).map(part).collect();
        let inside =
            parts.iter().all(|part| part.reach().zip(all.reach()).is_none_or(|(p, a)| p.0 >= a.0 && p.1 <= a.1));
        for (n, (member, part)) in members.iter().zip(&parts).enumerate() {
            self.same_extents(op, (role.name(), part), (&format!("g{n}"), member))?;
            if !inside {
                let what = format!("{} has too few rows for {} members of {rows}", role.name(), members.len());
                return Err(failure(op.opcode.rule("shape"), what, "give a larger view"));
            }
        }
        let pairs: Vec<(&Shared, &Shared)> = match op.comm {
            Comm::Gather => parts.iter().zip(&members).collect(),
            _ => members.iter().zip(&parts).collect(),
        };
        let (dsts, srcs): (Vec<&Shared>, Vec<&Shared>) = pairs.iter().copied().unzip();
        let srcs = if op.comm == Comm::Broadcast { vec![&all] } else { srcs };
        self.observe_moves(at, op, &srcs, &dsts, false);
        for (dst, src) in pairs {
            transfer::copy(&mut self.engine.memories, dst, src)?;
        }
        self.clobber(at, &op.tiles);
        Ok(())
    }

    fn reduce(&mut self, at: OpId, op: &CommOp) -> Result<(), Failure> {
        let dst = self.shared_view(at, op, Role::DstView)?;
        let members = self.members(at, op)?;
        let root = self.root(at, op, &members);
        for (n, member) in members.iter().enumerate() {
            self.same_extents(op, ("dst", &dst), (&format!("g{n}"), member))?;
        }
        let func = match op.attrs.reduce_op() {
            Some(ReduceOp::Max) => Func::Max,
            Some(ReduceOp::Min) => Func::Min,
            _ => Func::Add,
        };
        let Some(first) = members.get(root) else { return Err(internal_error("a group lacks its root")) };
        let srcs: Vec<&Shared> = members.iter().collect();
        self.observe_moves(at, op, &srcs, &[&dst], false);
        let memories = &mut self.engine.memories;
        let mut all = transfer::gather(memories, first)?;
        for (_, member) in members.iter().enumerate().filter(|(n, _)| *n != root) {
            let more = transfer::gather(memories, member)?;
            transfer::combine(func, dst.elem, &mut all, &more)?;
        }
        transfer::scatter(memories, &dst, &all)?;
        self.clobber(at, &op.tiles);
        Ok(())
    }

    fn value(&self, op: &CommOp) -> i32 {
        self.int(op.value.unwrap_or(Int::Imm(0))) as i32
    }

    /// The words of a signal, each where it lies.
    fn words(&mut self, at: OpId, op: &CommOp) -> Result<SmallVec<[(MemoryId, usize); 1]>, Failure> {
        let signal = self.shared_view(at, op, Role::Signal)?;
        Ok(signal.elements().map(|byte| (signal.memory, byte as usize)).collect())
    }

    /// The contents of a word; one that nothing has written is 0, as the host leaves windows.
    fn word(&self, (memory, byte): (MemoryId, usize)) -> i32 {
        let bytes = self.engine.memories.get(memory).and_then(|m| m.bytes().get(byte..byte + 4));
        bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_le_bytes)
    }

    fn notify(&mut self, at: OpId, op: &CommOp) -> Result<(), Failure> {
        let (words, value) = (self.words(at, op)?, self.value(op));
        let sets = op.attrs.notify_op() == Some(NotifyOp::Set);
        let mut told: SmallVec<[SignalWord; 1]> = SmallVec::new();
        for at in &words {
            let before = self.word(*at);
            let after = if sets { value } else { before.wrapping_add(value) };
            if let Some(memory) = self.engine.memories.get_mut(at.0) {
                memory.put(at.1, &after.to_le_bytes());
                memory.note_written(at.1, 4);
            }
            told.push(SignalWord { memory: at.0, byte: at.1 as u64, before });
        }
        let rank = self.cx.rank.map_or(0, |rank| rank.number);
        let mut order = 0;
        let span = self.cx.span(at);
        if let Some(ranks) = &mut self.ranks {
            ranks.events += 1;
            order = ranks.events;
            for word in words {
                let known = ranks.notified.entry(word).or_insert(Notification { count: 0, rank, at: span });
                *known = Notification { count: known.count + 1, rank, at: span };
            }
        }
        self.observe_communicated(at, Communicated::Notify { words: &told, sets, value, order });
        Ok(())
    }

    /// Whether all words compare now.
    pub fn is_signalled(&self, wanted: &Wanted) -> bool {
        wanted.words.iter().all(|word| wanted.cmp.holds(self.word(*word), wanted.value))
    }

    fn await_signal(&mut self, at: OpId, op: &CommOp) -> Result<(), Stop> {
        let wanted = Wanted {
            words: self.words(at, op)?,
            cmp: op.attrs.wait_cmp().unwrap_or(WaitCmp::Eq),
            value: self.value(op),
        };
        let is_true = self.is_signalled(&wanted);
        let is_test = op.comm == Comm::Test;
        let is_asked_again = is_test && self.signals.asked == Some(at);
        if !is_true && !is_asked_again {
            self.signals.wanted = Some(Box::new(wanted));
            self.signals.asked = is_test.then_some(at);
            return Err(self.wait(at, if is_test { Wait::Test } else { Wait::Signal }));
        }
        self.signals.asked = None;
        if is_test {
            // A truth is one bit, sign-extended like every other integer.
            self.result(op, -i64::from(is_true));
        }
        if is_true {
            let told: SmallVec<[SignalWord; 1]> = wanted
                .words
                .iter()
                .map(|word| SignalWord { memory: word.0, byte: word.1 as u64, before: self.word(*word) })
                .collect();
            let mut order = 0;
            if let Some(ranks) = &mut self.ranks {
                // A test that is true leaves nothing for others; a wait that is over is progress all the same.
                ranks.passed += 1;
                ranks.events += 1;
                order = ranks.events;
            }
            let (cmp, value) = (wanted.cmp, wanted.value);
            self.observe_communicated(at, Communicated::Wait { words: &told, cmp, value, order });
        }
        Ok(())
    }

    fn start_copy(&mut self, at: OpId, op: &CommOp) -> Result<(), Failure> {
        let (dst, src) = (self.shared_view(at, op, Role::DstView)?, self.shared_view(at, op, Role::SrcView)?);
        self.same_extents(op, ("dst", &dst), ("src", &src))?;
        transfer::copy(&mut self.engine.memories, &dst, &src)?;
        let session = self.int(op.session.unwrap_or(Int::Imm(0)));
        self.signals.copies.push(Copy { at, session, is_done: false });
        let number = self.signals.copies.len() as i64;
        self.result(op, number);
        let moves = Moves { pipe: Pipe::S, list: self.moves(&[&src], &[&dst], false) };
        self.observe_communicated(at, Communicated::Start { moves: &moves, number: number as u64 });
        Ok(())
    }

    fn await_copy(&mut self, at: OpId, op: &CommOp) -> Result<(), Failure> {
        let (event, session) = (self.int(op.event.unwrap_or(Int::Imm(0))), self.int(op.session.unwrap_or(Int::Imm(0))));
        let number = usize::try_from(event).unwrap_or(0);
        let known = number.checked_sub(1).and_then(|n| self.signals.copies.get(n));
        let Some(copy) = known else {
            let what = "the event belongs to no copy that this process started";
            return Err(failure("async-view", what, "give the event of a copy"));
        };
        if copy.session != session {
            let what = "the event belongs to another session than the one that is named";
            return Err(failure("async-view", what, "give the session that started the copy"));
        }
        let mut done: SmallVec<[u64; 4]> = SmallVec::new();
        for (n, copy) in self.signals.copies.iter_mut().enumerate().take(number) {
            if copy.session == session && !copy.is_done {
                copy.is_done = true;
                done.push(n as u64 + 1);
            }
        }
        self.result(op, -1);
        self.observe_communicated(at, Communicated::Done { numbers: &done });
        Ok(())
    }

    /// `comm-leak`: copies that nothing waited for when the process ended.
    pub(super) fn leaked_copies(&mut self) {
        let left: Vec<OpId> = self.signals.copies.iter().filter(|c| !c.is_done).map(|c| c.at).collect();
        for at in left {
            let what = "the copy is started, and the process ends without a wait for it";
            let found = Diagnostic::warning("comm-leak", what).at(self.cx.span(at), "started here");
            self.found.warn(at, found.help("wait for its event with comm.wait_async_event"));
        }
    }

    fn moves(&self, srcs: &[&Shared], dsts: &[&Shared], adds: bool) -> Vec<Move> {
        let ranges = |view: &Shared, kind: TouchKind| -> Vec<Move> {
            let memory = view.memory;
            view.ranges().iter().map(|(from, to)| Move { memory, from: *from as u64, to: *to as u64, kind }).collect()
        };
        let reads = srcs.iter().flat_map(|view| ranges(view, TouchKind::Reads));
        let writes = if adds { TouchKind::Adds } else { TouchKind::Writes };
        reads.chain(dsts.iter().flat_map(|view| ranges(view, writes))).collect()
    }

    /// The pieces of a transfer: into the staging tiles, out of them (isa/today.md 8.1).
    fn observe_moves(&mut self, at: OpId, op: &CommOp, srcs: &[&Shared], dsts: &[&Shared], adds: bool) {
        if self.observer.is_none() {
            return;
        }
        let tiles = |kind: TouchKind, this: &Self| -> Vec<Move> {
            let tile = |slot: &super::super::code::TileSlot| {
                let object = this.engine.object(this.object_of(*slot)).ok()?;
                let (memory, from) = (object.place.memory, object.place.at as u64);
                Some(Move { memory, from, to: from + object.bytes(), kind })
            };
            op.tiles.iter().filter_map(tile).collect()
        };
        let all = self.moves(srcs, dsts, adds);
        let (reads, writes): (Vec<Move>, Vec<Move>) = all.into_iter().partition(|m| m.kind == TouchKind::Reads);
        let mut phases = vec![Moves { pipe: Pipe::Mte2, list: reads }];
        phases[0].list.extend(tiles(TouchKind::Writes, self));
        if op.comm == Comm::Reduce {
            let mut list = tiles(TouchKind::Reads, self);
            list.extend(tiles(TouchKind::Writes, self).into_iter().take(1));
            phases.push(Moves { pipe: Pipe::V, list });
        }
        let mut list = tiles(TouchKind::Reads, self);
        list.truncate(if op.comm == Comm::Reduce { 1 } else { 2 });
        list.extend(writes);
        phases.push(Moves { pipe: Pipe::Mte3, list });
        self.observe_communicated(at, Communicated::Moves { phases: &phases });
    }
}
