//! Races in sentences: both instructions, what they share, the edge that is missing, and the lines that would be it.

use super::fixit::{Missing, waits_back};
use super::{Reporter, Source};
use crate::explore::Core;
use crate::races::{Conflict, Race, Side};
use crate::trace::{Access, Bytes, Event, Kind, Line, Root, Sets, Trace};
use std::ops::Range;
use tessera_ir::{OpId, ValueId, fifo};
use tessera_isa::diag::{Diagnostic, Fact, Severity};
use tessera_isa::ops::{Pipe, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Tile;

/// Loops around, with their iterations.
type Turn = [(OpId, u64)];

impl Reporter<'_> {
    pub fn race(&mut self, traces: &[&Trace], sets: &Sets, race: &Race) {
        // Events of one core are nearer than events of two.
        let apart = if race.x.process == race.y.process { race.y.event - race.x.event } else { usize::MAX };
        self.race_apart(traces, sets, race, apart);
    }

    /// The same for two events at this distance.
    pub fn race_apart(&mut self, traces: &[&Trace], sets: &Sets, race: &Race, apart: usize) {
        let op = |side: &Side| traces[side.process].events[side.event].op;
        let key = match race.x.process == race.y.process {
            true => (op(&race.x), op(&race.y)),
            false => (op(&race.x).min(op(&race.y)), op(&race.x).max(op(&race.y))),
        };
        if !self.races.contains_key(&key) {
            let found = self.sentence(traces, sets, race);
            let ends = [race.x, race.y].map(|side| &traces[side.process].events[side.event]);
            let [x, y] = ends.map(|event| (event.pipe.unwrap_or(Pipe::S), event.op));
            let missing = (race.x.process == race.y.process).then(|| {
                let trace = traces[race.x.process];
                let is_back = waits_back(trace, race.x.event, race.y.event);
                Missing { core: trace.core, x, y, is_back }
            });
            self.races.insert(key, (apart, found, missing));
        }
    }

    /// Both vector cores write the same bytes with the same instruction: no race (sync.md 4).
    pub fn same(&mut self, traces: &[&Trace], sets: &Sets, race: &Race) {
        let op = traces[race.x.process].events[race.x.event].op;
        if self.others.insert((op, "same")) {
            let memory = self.memory(sets.get(race.x.access.set).root);
            let what = format!(
                "V0 and V1 both write {} in {memory} with this {}",
                self.operand(op, race.x.access.role),
                self.name(op)
            );
            let note = Diagnostic::new("race-waw", Severity::Note, what).at(self.span(op), "the same bytes");
            self.found.push(note.help("write on one core, or a half on each, by pto.get_subblock_idx"));
        }
    }

    fn sentence(&self, traces: &[&Trace], sets: &Sets, race: &Race) -> Diagnostic {
        let sides = [race.x, race.y];
        let of = sides.map(|side| traces[side.process]);
        let events: [&Event; 2] = [&of[0].events[race.x.event], &of[1].events[race.y.event]];
        let [a, b] = sides.map(|side| side.access);
        let ops = events.map(|e| e.op);
        let names = ops.map(|op| self.name(op));
        let turns: [&Turn; 2] = [0, 1].map(|n| of[n].turns[events[n].turn as usize].as_slice());
        let is_between = race.x.process != race.y.process;
        // A kernel on one core needs no name of the core.
        let core = |n: usize| if is_between { format!("{} ", of[n].core.name()) } else { String::new() };
        let whose = match (turns[0], turns[1]) {
            _ if is_between => format!(" of {}{}", of[0].core.name(), self.turn(of[0], race.x.event)),
            (a, b) if a == b => String::new(),
            ([.., (l, i)], [.., (m, j)]) if l == m && i + 1 == *j => " of the iteration before".into(),
            _ => self.turn(of[0], race.x.event),
        };
        let (does, still) = match race.conflict {
            Conflict::Raw => ("reads", "write"),
            Conflict::War => ("writes", "read"),
            Conflict::Waw => ("writes", "write"),
        };
        let what_y = self.operand(ops[1], b.role);
        let who = if is_between { format!(" of {}", of[1].core.name()) } else { String::new() };
        let valid = if a.exact && b.exact { "" } else { ", if any row is valid" };
        let what = format!("{}{who} {does} {what_y} while {}{whose} may still {still} it{valid}", names[1], names[0]);
        let (pipe_x, pipe_y) = (events[0].pipe.unwrap_or(Pipe::S), events[1].pipe.unwrap_or(Pipe::S));
        let shared = shared(sets.get(a.set), sets.get(b.set));
        let bytes = (shared.first().map_or(0, |r| r.0), shared.last().map_or(0, |r| r.1));
        let line = |n: usize, pipe: Pipe, access: &Access| {
            let verb = if access.writes { "writes" } else { "reads" };
            let (operand, memory) = (self.operand(ops[n], access.role), self.memory(sets.get(access.set).root));
            let turn = match turns[n] {
                [] => String::new(),
                all => {
                    let all: Vec<String> = all.iter().map(|(_, n)| n.to_string()).collect();
                    format!(" (iteration {})", all.join(", "))
                }
            };
            let window = self.window(ops[n], access, &shared).map_or_else(String::new, |[rows, columns]| {
                format!(", rows {}..{} × columns {}..{}", rows.start, rows.end, columns.start, columns.end)
            });
            format!("{}{pipe} {verb} {operand}, {memory} {}{window}{turn}", core(n), range(bytes))
        };
        let side = |n: usize, pipe: Pipe, access: &Access| {
            let turns = turns[n].iter().map(|(_, i)| Fact::Number(*i as i64)).collect();
            let mut parts = vec![
                ("at", Fact::Place(self.span(ops[n]))),
                ("instruction", Fact::Text(names[n].to_string())),
                ("pipe", Fact::Text(pipe.name().into())),
                ("access", Fact::Text(if access.writes { "writes" } else { "reads" }.into())),
                ("operand", Fact::Text(self.operand(ops[n], access.role))),
                ("iterations", Fact::List(turns)),
            ];
            if let Some(window) = self.window(ops[n], access, &shared) {
                let [rows, columns] =
                    window.map(|axis| Fact::List(vec![Fact::Number(axis.start as i64), Fact::Number(axis.end as i64)]));
                parts.extend([("rows", rows), ("columns", columns)]);
            }
            if is_between {
                parts.push(("core", Fact::Text(of[n].core.name().into())));
            }
            Fact::Parts(parts)
        };
        let found = Diagnostic::error(race.conflict.rule(), what)
            .at(self.span(ops[1]), line(1, pipe_y, &b))
            .and_at(self.span(ops[0]), line(0, pipe_x, &a))
            .fact("x", side(0, pipe_x, &a))
            .fact("y", side(1, pipe_y, &b))
            .fact("memory", Fact::Text(self.memory(sets.get(b.set).root)))
            .fact("bytes", Fact::List(vec![Fact::Number(bytes.0), Fact::Number(bytes.1)]));
        if is_between {
            return self.mend_between(traces, found, [of[0], of[1]], (pipe_x, ops[0]), (pipe_y, ops[1]));
        }
        found
    }

    /// Describes the missing edge between cores, and the lines that would add it.
    fn mend_between(
        &self,
        traces: &[&Trace],
        found: Diagnostic,
        of: [&Trace; 2],
        x: (Pipe, OpId),
        y: (Pipe, OpId),
    ) -> Diagnostic {
        let [from, to] = of.map(|trace| trace.core);
        let ends = [format!("{} {}", from.name(), x.0), format!("{} {}", to.name(), y.0)];
        let found = found.note(format!("missing: {} -> {}", ends[0], ends[1]));
        let found = found.fact("missing", Fact::List(ends.map(Fact::Text).into()));
        let places = [self.place(x.1), self.place(y.1)];
        let on_a2a3 = self.profile == Profile::A2a3;
        if from != Core::Cube && to != Core::Cube && !on_a2a3 {
            return found.help(
                "V0 and V1 have no tokens for each other here: give each its own bytes, or order them through C",
            );
        }
        let is_used = |id: i64| {
            let uses = |kind: Kind| matches!(kind, Kind::Send(Line::Token { id: n, .. }) if n % 16 == id);
            traces.iter().any(|t| t.events.iter().any(|e| uses(e.kind)))
        };
        let Some(id) = (0..16).find(|id| !is_used(*id)) else {
            return found.help("all ids are in use: order the cores with a token that both know already");
        };
        // On a5 and cpu the cube core says which vector core it means.
        let of_cube = |other: Core| if other == Core::Vector(1) && !on_a2a3 { id + 16 } else { id };
        let ids = match (from, to) {
            (Core::Cube, other) => [of_cube(other), id],
            (other, Core::Cube) => [id, of_cube(other)],
            _ => [id, id],
        };
        let mode = if from != Core::Cube && to != Core::Cube { " {ffts_mode = 1}" } else { "" };
        let (set, wait) = match self.source {
            Source::Text(_) => (
                format!("pto.sync.set <{}>, {}{mode}", x.0.cpp(), ids[0]),
                format!("pto.sync.wait <{}>, {}", y.0.cpp(), ids[1]),
            ),
            Source::Calls(_) if on_a2a3 => {
                let config = 1 | (if mode.is_empty() { 2 } else { 1 }) << 4 | ids[0] << 8;
                (format!("ffts_cross_core_sync({}, {config:#x})", x.0.cpp()), format!("wait_flag_dev({})", ids[1]))
            }
            Source::Calls(_) => (
                format!("set_intra_block({}, {})", x.0.cpp(), ids[0]),
                format!("wait_intra_block({}, {})", y.0.cpp(), ids[1]),
            ),
        };
        let line = |text: &str, side: &'static str, op: OpId| {
            Fact::Parts(vec![("text", Fact::Text(text.into())), (side, Fact::Place(self.span(op)))])
        };
        let found = found.fact("add", Fact::List(vec![line(&set, "after", x.1), line(&wait, "before", y.1)]));
        found.help(format!("add {set} after {} and {wait} before {}", places[0], places[1]))
    }

    /// The value of an operand, or the result in its place.
    fn value_of(&self, op: OpId, role: Role) -> Option<ValueId> {
        let op = self.func.op(op);
        let made = || op.dsts().into_iter().find(|(r, _)| *r == role).map(|(_, v)| v);
        op.operand(role).and_then(|o| o.arg.value()).or_else(made)
    }

    /// The rows and columns of a boxed tile that lie in these bytes, which are no run of its elements.
    fn window(&self, op: OpId, access: &Access, bytes: &[(i64, i64)]) -> Option<[Range<u64>; 2]> {
        let value = self.value_of(op, access.role)?;
        let tile = self.module.types.get(self.func.value(value).ty).on(self.profile).filter(Tile::is_boxed)?;
        let (layout, bits) = (tile.layout(), i64::from(tile.elem.bits()));
        let (end, start) = (layout.footprint() as i64, access.start);
        let element = |byte: i64| (byte - start).max(0) * 8 / bits;
        let elements = || bytes.iter().map(|(from, to)| element(*from)..element(*to).min(end));
        if elements().eq(std::iter::once(0..end)) {
            return Some([0..tile.rows, 0..tile.cols]);
        }
        let mut window: Option<[Range<u64>; 2]> = None;
        for (r, c) in elements().flatten().filter_map(|offset| layout.inverse(offset)) {
            let [rows, columns] = window.get_or_insert_with(|| [r..r + 1, c..c + 1]);
            *rows = rows.start.min(r)..rows.end.max(r + 1);
            *columns = columns.start.min(c)..columns.end.max(c + 1);
        }
        window
    }

    /// `%a`.
    fn operand(&self, op: OpId, role: Role) -> String {
        let value = self.value_of(op, role);
        let op = self.func.op(op);
        if role == Role::Pipe && fifo::part(op).is_some() {
            return "the slot".into();
        }
        if let Source::Calls(_) = self.source {
            return if role == Role::Global { "the view".into() } else { role.name().to_string() };
        }
        let named = value.or_else(|| op.values().next()).map(|v| self.module.names.text(self.func.value(v).name));
        named.map_or_else(|| role.name().to_string(), |name| format!("%{name}"))
    }

    fn memory(&self, root: Root) -> String {
        match root {
            Root::Chip(loc, 0) => loc.memory_name().to_string(),
            Root::Chip(loc, core) => format!("{} of V{core}", loc.memory_name()),
            Root::Buffer(value) if self.source.is_calls() => self.source.buffer(value),
            Root::Buffer(value) => format!("global memory of %{}", self.module.names.text(self.func.value(value).name)),
            Root::Anywhere => "global memory".into(),
            Root::Tile(value) => format!("the storage of %{}", self.module.names.text(self.func.value(value).name)),
        }
    }
}

/// The bytes that two sets share.
fn shared(a: &Bytes, b: &Bytes) -> Vec<(i64, i64)> {
    let mut both = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.ranges.get(i), b.ranges.get(j)) {
        let (from, to) = (x.0.max(y.0), x.1.min(y.1));
        if from < to {
            both.push((from, to));
        }
        if x.1 <= y.1 { i += 1 } else { j += 1 }
    }
    if both.is_empty() { vec![a.span()] } else { both }
}

fn range((from, to): (i64, i64)) -> String {
    let hex = |n: i64| if n < 0 { format!("-{:#06x}", n.unsigned_abs()) } else { format!("{n:#06x}") };
    format!("{}..{}", hex(from), hex(to))
}
