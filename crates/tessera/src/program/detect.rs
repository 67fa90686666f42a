//! A run whose order of pipes is judged while it goes on (sync.md 4, "at run time").

use super::{Bindings, Kernel, Ranks, outcome_of};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tessera_interp::{
    Bytes, Communicated, Moment, Move, Moved, Moves, Observe, Observer, Outcome, SignalWord, Space, TouchKind, Variant,
    run,
};
use tessera_ir::OpId;
use tessera_isa::diag::{Diagnostic, Severity};
use tessera_isa::inst::{Inst, TileArg};
use tessera_isa::ops::Pipe;
use tessera_kernels::MemoryId;
use tessera_micro::order::Log;
use tessera_race::detector::shared_log::{SignalAct, Word};
use tessera_race::detector::{self, AccessKind, BlockFindings, Detector, KernelText};
use tessera_race::ranks::BlockLog;
use tessera_race::{Report, Verdict};

/// The findings of the blocks, each with its number.
pub(super) type SharedFindings = Arc<Mutex<Vec<(u32, BlockFindings)>>>;

/// Where the blocks of a rank put what orders it with others.
#[derive(Clone)]
pub(super) struct RankSink {
    pub rank: u32,
    pub cores: Vec<&'static str>,
    pub logs: Arc<Mutex<Vec<BlockLog>>>,
    /// The place in the run.
    pub now: Arc<AtomicU64>,
}

/// Hands on what a block is told of.
struct Judge<const W: usize> {
    block: u32,
    rank: Option<RankSink>,
    detector: Box<Detector<W>>,
    found: SharedFindings,
}

impl<const W: usize> Judge<W> {
    fn new(block: u32, text: Arc<KernelText>, found: SharedFindings) -> Self {
        Judge { block, rank: None, detector: Box::new(Detector::new(text)), found }
    }

    /// The next place in the run of all ranks.
    fn tick(&mut self) {
        if let Some(rank) = &self.rank {
            self.detector.at(rank.now.fetch_add(1, Ordering::Relaxed));
        }
    }

    fn of_rank(block: u32, text: Arc<KernelText>, found: SharedFindings, rank: RankSink) -> Self {
        Judge { block, rank: Some(rank), detector: Box::new(Detector::of_rank(text)), found }
    }
}

fn at<'a>(moment: &Moment<'a>) -> (OpId, detector::Turn<'a>) {
    (moment.op, moment.turns)
}

fn numbers(variant: Variant) -> (usize, usize, u64) {
    (variant.site, variant.number, variant.age)
}

fn kind(kind: TouchKind) -> AccessKind {
    match kind {
        TouchKind::Reads => AccessKind::Reads,
        TouchKind::Writes => AccessKind::Writes,
        TouchKind::Adds => AccessKind::Adds,
    }
}

/// The number of a memory of all ranks.
fn region(space: Space) -> Option<u32> {
    if let Space::Shared(number) = space { Some(number) } else { None }
}

fn memory(space: Space) -> detector::Space {
    match space {
        Space::Chip(loc, core) => detector::Space::Chip(loc, core),
        Space::Pool(core) => detector::Space::Pool(core),
        Space::Buffer(value) => detector::Space::Buffer(value),
        Space::Shared(number) => detector::Space::Shared(number),
    }
}

impl<const W: usize> Observer for Judge<W> {
    fn issued(&mut self, moment: Moment<'_>, variant: Variant, start: u64) -> bool {
        self.tick();
        self.detector.issued(moment.process, at(&moment), numbers(variant), start)
    }

    fn learn(&mut self, moment: Moment<'_>, variant: Variant, inst: &Inst, view: Option<Space>) {
        self.detector.learn(moment.process, numbers(variant), inst, view.map(memory));
    }

    fn scalar(&mut self, moment: Moment<'_>, space: Space, bytes: (u64, u64), writes: bool) {
        self.tick();
        self.detector.scalar(moment.process, at(&moment), memory(space), bytes, writes);
    }

    fn looks_at_bytes(&self) -> bool {
        W != detector::FLAGS
    }

    fn touched(&mut self, moment: Moment<'_>, pipe: Pipe, bytes: Bytes) {
        let bytes = bytes.into_iter().map(|(space, from, to, writes)| (memory(space), from, to, writes)).collect();
        self.detector.touched(moment.process, at(&moment), pipe, bytes);
    }

    fn scoped(&mut self, _: Moment<'_>, log: &Log) {
        self.detector.scoped(log);
    }

    fn printed(&mut self, moment: Moment<'_>, tile: &TileArg) {
        self.detector.printed(moment.process, at(&moment), tile);
    }

    fn ordered(&mut self, moment: Moment<'_>, id: Option<i64>) {
        self.tick();
        self.detector.ordered(moment.process, at(&moment), id);
    }

    fn moved(&mut self, moment: Moment<'_>, Moved { number, tile, global }: Moved) {
        let global = global.map(|(space, start)| (memory(space), start));
        self.tick();
        self.detector.moved(moment.process, at(&moment), number, tile.as_ref(), global);
    }

    fn communicated(&mut self, moment: Moment<'_>, what: Communicated<'_>, space: &dyn Fn(MemoryId) -> Option<Space>) {
        self.tick();
        let (process, at) = (moment.process, at(&moment));
        let bytes = |moves: &Moves| -> Vec<(detector::Space, u64, u64, AccessKind)> {
            let one = |m: &Move| Some((memory(space(m.memory)?), m.from, m.to, kind(m.kind)));
            moves.list.iter().filter_map(one).collect()
        };
        let words = |words: &[SignalWord]| {
            let one = |w: &SignalWord| Some(Word { region: region(space(w.memory)?)?, byte: w.byte, before: w.before });
            words.iter().filter_map(one).collect()
        };
        match what {
            Communicated::Moves { phases } => {
                let phases: Vec<_> = phases.iter().map(|moves| (moves.pipe, bytes(moves))).collect();
                self.detector.transferred(process, at, &phases);
            }
            Communicated::Notify { words: of, sets, value, .. } => {
                self.detector.signalled(process, at, words(of), SignalAct::Notify { sets, value });
            }
            Communicated::Wait { words: of, cmp, value, .. } => {
                self.detector.signalled(process, at, words(of), SignalAct::Await { cmp, value });
            }
            Communicated::Cache { lines, is_fence } => {
                let lines = lines.and_then(|(of, ranges)| Some((region(space(of)?)?, ranges.into())));
                self.detector.cached(process, at, lines, is_fence);
            }
            Communicated::Start { moves, number } => self.detector.started(process, at, &bytes(moves), number),
            Communicated::Done { numbers } => self.detector.finished(process, at, numbers),
        }
    }

    fn looped(&mut self, process: usize, op: OpId, rounds: u64) {
        self.detector.looped(process, op, rounds);
    }

    fn ended(mut self: Box<Self>) {
        if let (Some(rank), Some(log)) = (&self.rank, self.detector.take_shared())
            && let Ok(mut logs) = rank.logs.lock()
        {
            logs.push(BlockLog { rank: rank.rank, block: self.block, cores: rank.cores.clone(), log });
        }
        if let Ok(mut found) = self.found.lock() {
            found.push((self.block, self.detector.ended()));
        }
    }
}

/// The parts of the order that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Flags,
    Races,
}

impl Kernel {
    /// Runs the kernel. Static errors are [`Program::check`](super::Program::check)'s to find; a run reports what it comes
    /// across, and broken rules of flags as warnings.
    pub fn execute(&self, bindings: Bindings) -> Outcome {
        let (mut outcome, report) = self.judged(bindings, Asked::Flags);
        let flags = report.into_iter().flat_map(|report| report.diagnostics).filter(|d| is_of_flags(d.rule));
        outcome.diagnostics.extend(flags.map(|d| Diagnostic { severity: Severity::Warning, ..d }));
        outcome
    }

    /// Runs the kernel and judges the order of its pipes in this run: races, flags, deadlocks. There is no report where the
    /// run failed.
    pub fn execute_judged(&self, bindings: Bindings) -> (Outcome, Option<Report>) {
        self.judged(bindings, Asked::Races)
    }

    fn judged(&self, bindings: Bindings, asked: Asked) -> (Outcome, Option<Report>) {
        if self.communicates() {
            return self.judged_alone(bindings, asked);
        }
        let placement = match self.placed(&bindings) {
            Ok(placement) => placement,
            Err(outcome) => return (*outcome, None),
        };
        let text = Arc::new(KernelText::new(self.module(), self.func(), self.profile(), &placement, bindings.order));
        let found = SharedFindings::default();
        let mut prepared = self.prepared(bindings, &placement);
        let is_asked = if asked == Asked::Flags { text.has_flags() } else { !text.is_plain() };
        prepared.observe = is_asked.then(|| observe(asked, text.clone(), found.clone()));
        let mut outcome = run(prepared);
        if is_asked {
            // The report lists leftover tokens one by one.
            outcome.diagnostics.retain(|d| d.rule != "flag-leak");
        }
        outcome.diagnostics = self.program.with_locations(outcome.diagnostics);
        if outcome.failed() {
            return (outcome, None);
        }
        let mut found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
        found.sort_by_key(|(block, _)| *block);
        let blocks = found.into_iter().map(|(_, findings)| findings).collect();
        let mut report = detector::report(self.module(), self.func(), self.program.source(), &text, blocks);
        report.diagnostics = self.program.with_locations(report.diagnostics);
        (outcome, Some(report))
    }
}

/// The observers of a rank whose order is judged with that of others.
pub(super) fn observe_rank(text: Arc<KernelText>, found: SharedFindings, sink: RankSink) -> Arc<Observe> {
    let is_alone = text.is_alone();
    Arc::new(move |block| match is_alone {
        true => Box::new(Judge::<{ detector::ONE }>::of_rank(block, text.clone(), found.clone(), sink.clone())),
        false => Box::new(Judge::<{ detector::THREE }>::of_rank(block, text.clone(), found.clone(), sink.clone())),
    })
}

impl Kernel {
    /// A kernel that communicates, on one rank: remote is local (isa/comm.md 2).
    fn judged_alone(&self, bindings: Bindings, asked: Asked) -> (Outcome, Option<Report>) {
        let mut ranks = match Ranks::new(vec![self.clone()]) {
            Ok(ranks) => ranks,
            Err(error) => {
                let diagnostics = error.diagnostics().cloned().collect();
                return (Outcome { diagnostics, ..Outcome::default() }, None);
            }
        };
        ranks.bindings = vec![bindings];
        let (mut all, found) = match asked {
            Asked::Flags => (ranks.execute(), None),
            Asked::Races => {
                let (all, found) = ranks.execute_judged();
                let is_racy = found.iter().any(Diagnostic::is_error);
                let verdict = if is_racy { Verdict::Races } else { Verdict::RaceFree };
                (all, Some(Report { verdict, diagnostics: found }))
            }
        };
        let diagnostics = std::mem::take(&mut all.diagnostics);
        (Outcome { diagnostics, ..outcome_of(&mut all, 0) }, found)
    }
}

fn is_of_flags(rule: &str) -> bool {
    rule.starts_with("flag-") || rule == "buf-token"
}

fn observe(asked: Asked, text: Arc<KernelText>, found: SharedFindings) -> Arc<Observe> {
    let is_alone = text.is_alone();
    Arc::new(move |block| match (asked, is_alone) {
        (Asked::Flags, _) => Box::new(Judge::<{ detector::FLAGS }>::new(block, text.clone(), found.clone())),
        (Asked::Races, true) => Box::new(Judge::<{ detector::ONE }>::new(block, text.clone(), found.clone())),
        (Asked::Races, false) => Box::new(Judge::<{ detector::THREE }>::new(block, text.clone(), found.clone())),
    })
}
