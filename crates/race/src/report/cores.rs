//! Errors between cores, as sentences: deadlocks, leftover tokens and too many tokens (sync.md 5, isa/structure.md 4).

use super::Reporter;
use crate::channels::{Channels, EventRef};
use crate::explore::Core;
use crate::happens_before::HappensBefore;
use crate::trace::{Kind, Line, Trace};
use tessera_ir::Fifos;
use tessera_isa::diag::Diagnostic;
use tessera_isa::profile::Profile;

impl Reporter<'_> {
    /// Reports what is wrong between the processes.
    pub fn cores(&mut self, traces: &[&Trace], order: &HappensBefore, between: &Channels, fifos: &Fifos, stops: bool) {
        if stops {
            self.deadlock(traces, between, fifos);
            return;
        }
        between.overflows(order).into_iter().for_each(|at| self.overflow(traces, at));
        between.left.iter().for_each(|at| self.left(traces, *at));
    }

    /// A token that may be one too many.
    pub fn overflow(&mut self, traces: &[&Trace], at: EventRef) {
        let what = format!("{} may be one too many: a counter of tokens holds 15", self.sending(traces, at));
        let found = Diagnostic::error("sync-overflow", what).at(self.span(op(traces, at)), "this token");
        self.of_flag("sync-overflow", traces, at, found.help("wait for tokens before more are given"));
    }

    /// A token without a receiver.
    pub fn left(&mut self, traces: &[&Trace], at: EventRef) {
        let (sending, path) = (self.sending(traces, at), self.path(traces[at.0]));
        let what = format!("{sending} is taken by no wait before the kernel ends{path}");
        let found = Diagnostic::warning("flag-leak", what).at(self.span(op(traces, at)), "this token");
        self.of_flag("flag-leak", traces, at, found.help("wait as often as is set"));
    }

    /// "the token that sync.set of C gives with id 3 in iteration 2".
    fn sending(&self, traces: &[&Trace], at: EventRef) -> String {
        let trace = traces[at.0];
        let id = match trace.events[at.1].kind {
            Kind::Send(Line::Token { id, .. }) => format!(" with id {id}"),
            _ => String::new(),
        };
        format!(
            "the token that {} of {}{} gives{id}",
            self.name(op(traces, at)),
            trace.core.name(),
            self.turn(trace, at.1)
        )
    }

    /// Each kind of token is reported once, at its first place.
    fn of_flag(&mut self, rule: &'static str, traces: &[&Trace], at: EventRef, found: Diagnostic) {
        let key = (rule, format!("{} {:?}", traces[at.0].core.name(), traces[at.0].events[at.1].kind));
        let start = self.span(op(traces, at)).start;
        if self.flags.get(&key).is_none_or(|(before, _)| start < *before) {
            self.flags.insert(key, (start, found));
        }
    }

    /// No process can run, and not all have ended.
    fn deadlock(&mut self, traces: &[&Trace], between: &Channels, fifos: &Fifos) {
        let at = between.standstill(traces);
        let mut sentences = Vec::new();
        let mut found = Diagnostic::error("deadlock", "");
        for (process, event) in at.iter().enumerate() {
            let trace = traces[process];
            let Some(event) = *event else {
                sentences.push(format!("{} has ended", trace.core.name()));
                continue;
            };
            let op = op(traces, (process, event));
            let why = match trace.events[event].kind {
                Kind::Receive(line) => self.waiting(traces, &at, trace.core, line, fifos),
                _ => String::new(),
            };
            let (name, turn) = (self.name(op), self.turn(trace, event));
            sentences.push(format!("{} waits in {name} at {}{turn}: {why}", trace.core.name(), self.place(op)));
            let label = format!("{} waits here", trace.core.name());
            found = match found.span {
                None => found.at(self.span(op), label),
                Some(_) => found.and_at(self.span(op), label),
            };
        }
        let Some(start) = found.span.map(|span| span.start) else { return };
        let path = traces.iter().map(|trace| self.path(trace)).find(|path| !path.is_empty()).unwrap_or_default();
        found.message = format!("{}{path}", sentences.join("; "));
        let help = match traces.len() {
            1 => "check it together with the function at the other end",
            _ => "push and pop, set and wait equally often, and free slots before more are needed than there are",
        };
        let key = ("deadlock", start.to_string());
        self.flags.entry(key).or_insert((start, found.help(help)));
    }

    /// Why a process does not get on.
    fn waiting(&self, traces: &[&Trace], at: &[Option<usize>], core: Core, line: Line, fifos: &Fifos) -> String {
        // The number of tokens that a core has sent on a line.
        let sent = |from: Core, line: Line| {
            let process = traces.iter().position(|t| t.core == from)?;
            let until = at[process].unwrap_or(traces[process].events.len());
            let events = traces[process].events[..until].iter();
            Some((from.name(), events.filter(|e| e.kind == Kind::Send(line)).count()))
        };
        let all = |cores: &[Core], verb: &str| {
            let said = cores.iter().filter_map(|core| sent(*core, line));
            let said: Vec<String> = said.map(|(name, n)| format!("{name} has {verb} {n}")).collect();
            if said.is_empty() { "nobody is at its other end".to_string() } else { said.join(", ") }
        };
        let vectors = |split: u8| -> &[Core] {
            match split != 0 || self.profile == Profile::A2a3 {
                true => &[Core::Vector(0), Core::Vector(1)],
                false => &[Core::Vector(0)],
            }
        };
        match line {
            Line::Token { id, .. } => format!("no token with id {id} comes"),
            Line::Meeting { group, .. } => format!("not all cores arrive, {}", all(group.cores(), "arrived")),
            Line::Ready(n) => {
                let fifo = &fifos.list[n];
                let from = if core == Core::Cube { vectors(fifo.split) } else { &[Core::Cube] };
                format!("{} is empty, {}", fifo.describe(self.module), all(from, "pushed"))
            }
            Line::Free(n) => {
                let fifo = &fifos.list[n];
                let verb = if self.profile == Profile::A2a3 { "popped" } else { "freed" };
                let from = if core == Core::Cube { vectors(fifo.split) } else { &[Core::Cube] };
                format!("{} is full, {} slots, {}", fifo.describe(self.module), fifo.slots, all(from, verb))
            }
        }
    }
}

fn op(traces: &[&Trace], at: EventRef) -> tessera_ir::OpId {
    traces[at.0].events[at.1].op
}
