//! A timeline: in words, as a trace for Perfetto, and as a picture.

mod picture;
mod trace;

pub use picture::draw;
pub use trace::events;

use super::table::Table;
use crate::source::Source;
use crate::words::counted;
use serde::Serialize;
use std::fmt::Write;
use tessera::Kernel;
use tessera::program::Timeline;
use tessera_ir::{Func, Op};
use tessera_isa::ops::Role;
use tessera_race::Core;
use tessera_race::timeline::{BankConflict, Process, Slice, SliceKind, Step, Use};

/// The most steps of a critical path that are printed.
const MAX_STEPS: usize = 60;
/// The most notes that are printed; the file for Perfetto has all of them.
const MAX_NOTES: usize = 20;

/// A timeline with the program that it is of.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    pub line: &'a Timeline,
    pub kernel: &'a Kernel,
    pub source: &'a Source,
    /// Are the costs somebody's own?
    pub own_costs: bool,
}

impl<'a> Shown<'a> {
    fn func(&self) -> &'a Func {
        self.kernel.func()
    }

    fn op(&self, slice: &Slice) -> &'a Op {
        self.func().op(slice.op)
    }

    fn mnemonic(&self, slice: &Slice) -> &'a str {
        self.op(slice).kind.name()
    }

    /// The line of the text, from 1.
    fn number(&self, slice: &Slice) -> usize {
        self.source.line(slice.span)
    }

    fn slice(&self, (process, number): (usize, usize)) -> &'a Slice {
        &self.line.processes[process].slices[number]
    }

    /// `%a, %b → %c`.
    fn operands(&self, slice: &Slice) -> String {
        let op = self.op(slice);
        let names = |is_dst: bool| {
            let given = op.operands.iter().filter(move |o| o.role.is_dst() == is_dst);
            given.filter_map(|o| o.arg.value()).map(|v| format!("%{}", self.kernel.name(v)))
        };
        let results = op.results.iter().map(|v| format!("%{}", self.kernel.name(*v)));
        let from: Vec<String> = names(false).collect();
        let to: Vec<String> = names(true).chain(results).collect();
        match (from.is_empty(), to.is_empty()) {
            (false, false) => format!("{} → {}", from.join(", "), to.join(", ")),
            (true, false) => format!("→ {}", to.join(", ")),
            _ => from.join(", "),
        }
    }

    /// `@k on a5`, and what the numbers are.
    fn title(&self) -> String {
        let name = match self.kernel.module().is_listing {
            true => "the listing".to_string(),
            false => format!("@{}", self.kernel.module().names.text(self.func().name)),
        };
        format!("{name} on {}", self.kernel.profile())
    }

    fn costs(&self) -> &'static str {
        if self.own_costs { "costs are estimates, from a file" } else { "costs are estimates (docs/spec/isa/cost.md)" }
    }

    /// `at least 12 cycles`.
    fn total(&self) -> String {
        let least = if self.line.unknown() > 0 { "at least " } else { "" };
        format!("{least}{}", counted(self.line.total, "cycle"))
    }

    /// What a kernel takes so long for, in a sentence.
    pub fn bound(&self) -> Option<String> {
        let (process, pipe, cycles) = self.line.bound()?;
        let whose = core_name(self.line, &self.line.processes[process]);
        let busy = self.line.processes[process].uses().into_iter().find(|u| u.pipe == pipe).map_or(0, |u| u.busy);
        let on = if whose.is_empty() { pipe.to_string() } else { format!("{pipe} of {whose}") };
        let total = self.line.total;
        Some(format!(
            "bounded by {on}: {cycles} of {total} cycles of the critical path, busy {} of the time",
            share(busy, total)
        ))
    }

    /// Operands that meet in a group of banks, as a note.
    fn meeting(&self, meeting: &BankConflict) -> String {
        let slice = self.slice(meeting.at);
        let op = self.op(slice);
        let side = |n: usize| {
            let side = meeting.sides[n];
            let named = op.operand(side.role).and_then(|o| o.arg.value());
            let made = || op.results.first().copied().filter(|_| side.role.is_dst());
            let name = named.or_else(made).map_or(role_name(side.role), |v| format!("%{}", self.kernel.name(v)));
            format!("{name} at 0x{:05x} (bank {})", side.address, side.bank())
        };
        let times = if meeting.times > 1 { format!(", {} times", meeting.times) } else { String::new() };
        let (name, line, group) = (self.mnemonic(slice), self.number(slice), meeting.sides[0].group());
        format!("note: {name} in line {line}: {} and {} meet in bank group {group}{times}", side(0), side(1))
    }
}

/// How much a pipe of a core does.
#[derive(Clone, Debug)]
pub struct Used {
    pub core: String,
    pub pipe: &'static str,
    pub instructions: u64,
    pub unknown: u64,
    pub busy: u64,
}

/// The pipes that do something.
pub fn used(shown: &Shown<'_>) -> Vec<Used> {
    let of = |process: &'_ Process| {
        let core = core_name(shown.line, process);
        let used = move |used: Use| {
            let Use { pipe, instructions, unknown, busy } = used;
            Used { core: core.clone(), pipe: pipe.name(), instructions, unknown, busy }
        };
        process.uses().into_iter().map(used).collect::<Vec<_>>()
    };
    shown.line.processes.iter().flat_map(of).collect()
}

/// An instruction of the critical path.
#[derive(Clone, Debug, Serialize)]
pub struct PathStep {
    pub core: String,
    pub line: usize,
    pub instruction: String,
    pub iteration: Vec<u64>,
    pub pipe: &'static str,
    pub start: u64,
    pub cycles: u64,
    /// Is that its cost, and not one cycle for want of any?
    pub known: bool,
    /// What it waited for.
    pub after: String,
}

/// The critical path, from the start to the end.
pub fn path(shown: &Shown<'_>) -> Vec<PathStep> {
    let step = |step: &Step| {
        let slice = shown.slice(step.at);
        PathStep {
            core: core_name(shown.line, &shown.line.processes[step.at.0]),
            line: shown.number(slice),
            instruction: shown.mnemonic(slice).to_string(),
            iteration: slice.turns.clone(),
            pipe: slice.pipe.name(),
            start: slice.start,
            cycles: slice.cycles(),
            known: slice.what != SliceKind::Work { known: false },
            after: step.why.to_string(),
        }
    };
    shown.line.path.iter().map(step).collect()
}

fn role_name(role: Role) -> String {
    role.name().to_string()
}

/// Which core of which block, where there are several.
fn core_name(line: &Timeline, process: &Process) -> String {
    let core = match process.core {
        Core::Unsplit => String::new(),
        core => core.name().to_string(),
    };
    let blocks = line.processes.iter().any(|p| p.block > 0);
    match (blocks, core.is_empty()) {
        (false, _) => core,
        (true, true) => format!("block {}", process.block),
        (true, false) => format!("{core} of block {}", process.block),
    }
}

fn share(part: u64, all: u64) -> String {
    format!("{} %", (part * 100 + all / 2).checked_div(all).unwrap_or(0))
}

/// The page that is printed: the total, how busy the pipes are, and the critical path.
pub fn page(shown: &Shown<'_>) -> String {
    let line = shown.line;
    let mut out = format!("{}; {}\n\ntotal: {}", shown.title(), shown.costs(), shown.total());
    let (unknown, all) =
        (line.unknown(), line.processes.iter().flat_map(|p| &p.slices).filter(|s| s.is_work()).count());
    let _ = match unknown {
        0 => writeln!(out),
        n => {
            writeln!(out, "; {n} of {} without a known cost, taken as 1 cycle each", counted(all as u64, "instruction"))
        }
    };
    if line.unsized_work > 0 {
        let _ = writeln!(
            out,
            "{} of valid regions that depend on numbers nobody gave",
            counted(line.unsized_work, "instruction")
        );
    }
    let several = line.processes.iter().any(|p| !core_name(line, p).is_empty());
    let head = several.then_some("core").into_iter();
    let mut table = Table::new(head.chain(["pipe", "instructions", "unknown", "busy", "share"]));
    for used in used(shown) {
        let numbers = [used.instructions, used.unknown, used.busy].map(|n| n.to_string());
        let cells = std::iter::once(used.pipe.to_string()).chain(numbers).chain([share(used.busy, line.total)]);
        table.row(several.then_some(used.core).into_iter().chain(cells));
    }
    let _ = write!(out, "\nPipes\n{}", table.render());
    if !line.path.is_empty() {
        let _ = write!(out, "\nCritical path\n{}", steps(shown, several).render());
    }
    if let Some(bound) = shown.bound() {
        let _ = write!(out, "\n{bound}\n");
    }
    if !line.meetings.is_empty() {
        out.push('\n');
        line.meetings.iter().take(MAX_NOTES).for_each(|m| out.push_str(&(shown.meeting(m) + "\n")));
        if let Some(more) = line.meetings.len().checked_sub(MAX_NOTES).filter(|n| *n > 0) {
            let _ =
                writeln!(out, "note: {more} more pairs of operands meet in a bank group; the notes of F.json have all");
        }
    }
    out
}

fn steps(shown: &Shown<'_>, several: bool) -> Table {
    let steps = path(shown);
    let looped = steps.iter().any(|s| !s.iteration.is_empty());
    let head = several.then_some("core").into_iter().chain(["line", "instruction"]);
    let mut table = Table::new(head.chain(looped.then_some("iteration")).chain(["pipe", "start", "cycles", "after"]));
    let hidden = if steps.len() > MAX_STEPS { MAX_STEPS / 2..steps.len() - MAX_STEPS / 2 } else { 0..0 };
    for (n, step) in steps.iter().enumerate() {
        if n == hidden.start && !hidden.is_empty() {
            let mut cells = vec![String::new(); 6 + usize::from(several) + usize::from(looped)];
            cells[usize::from(several)] = "…".into();
            cells[usize::from(several) + 1] = format!("{} more", hidden.len());
            table.row(cells);
        }
        if hidden.contains(&n) {
            continue;
        }
        let turns = step.iteration.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let cycles = if step.known { step.cycles.to_string() } else { "unknown".into() };
        let core = several.then_some(step.core.clone()).into_iter();
        let cells = core.chain([step.line.to_string(), step.instruction.clone()]).chain(looped.then_some(turns));
        table.row(cells.chain([step.pipe.to_string(), step.start.to_string(), cycles, step.after.clone()]));
    }
    table
}
