//! `tile-overlap` and `never-written`: which write the bytes of each tile hold at this point.
//!
//! Bytes on the chip are cut into **cells**. A cell says which write it holds, and which older writes to tiles of other
//! places were lost under it. Two findings follow when a tile is read:
//!
//! - its own data was lost under the write of an overlapping tile, and that tile is read since the write, too: both are
//!   alive in the same bytes (`tile-overlap`);
//! - no byte that it reads has a cell: no instruction wrote it on any path (`never-written`).
//!
//! Tiles that begin at the same byte, views of one tile, and a tile that reads what another one wrote where it has no
//! data of its own are names of one storage; so are reads that end before the overlapping write.
//!
//! Branches with unknown conditions are joined: a cell that differs between arms only warns. A loop that is walked once
//! counts as running; a read in it waits for the end of the loop, because an earlier turn may have written the bytes.

use super::slots::Slots;
use super::walk::Walk;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::rc::Rc;
use tessera_absint::{Operands, Val};
use tessera_ir::{Core, Func, Op, Runs, Type, ValueId};
use tessera_isa::diag::{Diagnostic, Severity, Span};
use tessera_isa::inst::{Inst, Root};
use tessera_isa::ops::{Covers, Effect, FormInfo, Opcode, Role};
use tessera_isa::sem::{Fifo, Sem, effects};
use tessera_isa::tile::Loc;

/// More lost writes than this are not kept under one cell.
const MAX_LOST: usize = 4;

/// More cells than this are not kept: the program writes very many small windows, and nothing is said of the memory.
const MAX_CELLS: usize = 4096;

/// One write, or one read, of a tile at a known place.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    /// The object whose storage it is.
    storage: usize,
    value: Option<ValueId>,
    /// Its declared bytes.
    start: u64,
    end: u64,
    /// The bytes that are touched.
    from: u64,
    to: u64,
    /// Whether exactly these bytes are touched.
    exact: bool,
    /// What makes a tile another one at the same place: its type's words.
    shape: (u64, u64, u16),
    op: Span,
    opcode: Opcode,
}

/// The state of a run of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Cell {
    /// The write that it holds, as a position in [`Memories::writes`]; none where it is not known.
    write: Option<u32>,
    /// Older writes to other tiles that this write put an end to.
    lost: SmallVec<[u32; 2]>,
    /// The write to another tile at the same place that it put an end to before anything read it.
    unread: Option<u32>,
    /// Whether the tile that was written is read since.
    own_read: bool,
    /// A tile whose data was lost and that is read since: the lost write, and the reader.
    lost_read: Option<(u32, Span)>,
    /// Whether this holds on some paths only.
    maybe: bool,
    /// Some path writes nothing here; how many undecided branches were open where the paths met.
    skipped: Option<u32>,
}

/// The cells of every storage at one point of the program.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    cells: FxHashMap<Root, BTreeMap<u64, (u64, Cell)>>,
    /// Memories in which an instruction writes at an unknown place.
    unknown: FxHashSet<Root>,
    /// Whether it may be any tile, also one that has no address yet.
    anywhere: bool,
    pub slots: Slots,
}

/// A read of bytes that nothing has written up to here, in a loop that is walked once.
struct Pending {
    root: Root,
    from: u64,
    to: u64,
    found: Diagnostic,
}

/// What the whole walk knows beside [`Contents`].
#[derive(Default)]
pub(super) struct Memories {
    writes: Vec<Touched>,
    /// Objects that `alloc_tile` made: nothing has written them before the program does.
    fresh: FxHashSet<usize>,
    /// Roots of such objects without an address.
    fresh_roots: FxHashSet<Root>,
    /// Memories that cores of the other kind write.
    shared: Vec<Root>,
    /// Places that are windows of each other, because one was read where only the other one was written.
    windows: FxHashSet<(u64, u64)>,
    /// By loop that is walked once, outermost first.
    pending: Vec<Vec<Pending>>,
    /// The number of open branches whose condition is not known.
    pub branches: u32,
    /// Whether anything leaves the program: without it no undefined byte is ever seen.
    has_output: bool,
}

impl Contents {
    /// Cuts the cells of a root at these bytes, so that each lies inside or outside.
    fn cut(cells: &mut BTreeMap<u64, (u64, Cell)>, at: u64) {
        if let Some((start, (end, cell))) = cells.range_mut(..at).next_back()
            && *end > at
        {
            let (start, rest) = (*start, (*end, cell.clone()));
            cells.insert(at, rest);
            if let Some((end, _)) = cells.get_mut(&start) {
                *end = at;
            }
        }
    }

    /// Replaces the cells of a range: gaps come as `None`.
    fn update(&mut self, root: Root, from: u64, to: u64, new: impl Fn(Option<&Cell>) -> Cell) {
        if from >= to || self.unknown.contains(&root) {
            return;
        }
        let cells = self.cells.entry(root).or_default();
        Self::cut(cells, from);
        Self::cut(cells, to);
        let old: SmallVec<[(u64, u64, Cell); 4]> =
            cells.range(from..to).map(|(start, (end, cell))| (*start, *end, cell.clone())).collect();
        let mut made: SmallVec<[(u64, u64, Cell); 4]> = SmallVec::new();
        let mut push = |start: u64, end: u64, cell: Cell| match made.last_mut() {
            Some(last) if last.1 == start && last.2 == cell => last.1 = end,
            _ => made.push((start, end, cell)),
        };
        let mut at = from;
        for (start, end, cell) in &old {
            if at < *start {
                push(at, *start, new(None));
            }
            push(*start, *end, new(Some(cell)));
            at = *end;
        }
        if at < to {
            push(at, to, new(None));
        }
        old.iter().for_each(|(start, _, _)| drop(cells.remove(start)));
        cells.extend(made.into_iter().map(|(start, end, cell)| (start, (end, cell))));
        if cells.len() > MAX_CELLS {
            self.forget(root);
        }
    }

    /// The cells that meet a range, and whether they fill it.
    fn within(&self, root: Root, from: u64, to: u64) -> impl Iterator<Item = (u64, u64, &Cell)> {
        let cells = self.cells.get(&root);
        let first = cells.and_then(|c| c.range(..=from).next_back()).map_or(from, |(start, _)| *start);
        let range = cells.into_iter().flat_map(move |c| c.range(first..to));
        range.map(|(start, (end, cell))| (*start, *end, cell)).filter(move |(_, end, _)| *end > from)
    }

    /// Nothing is known of a memory from here on.
    fn forget(&mut self, root: Root) {
        self.cells.remove(&root);
        self.unknown.insert(root);
    }

    /// What holds after either of two branches; `branches` are still open.
    fn join(self, mut other: Contents, branches: u32) -> Contents {
        let mut joined = self;
        joined.anywhere |= other.anywhere;
        joined.slots.join(&other.slots);
        let unknown: Vec<Root> = other.unknown.drain().collect();
        unknown.into_iter().for_each(|root| joined.forget(root));
        let roots: FxHashSet<Root> = joined.cells.keys().chain(other.cells.keys()).copied().collect();
        for root in roots.into_iter().filter(|root| !joined.unknown.contains(root)) {
            let (a, b) =
                (joined.cells.remove(&root).unwrap_or_default(), other.cells.remove(&root).unwrap_or_default());
            joined.cells.insert(root, if a == b { a } else { join_cells(&a, &b, branches) });
        }
        joined
    }
}

/// Joins the cells of one memory.
fn join_cells(
    a: &BTreeMap<u64, (u64, Cell)>,
    b: &BTreeMap<u64, (u64, Cell)>,
    branches: u32,
) -> BTreeMap<u64, (u64, Cell)> {
    let mut edges: Vec<u64> = a.iter().chain(b).flat_map(|(start, (end, _))| [*start, *end]).collect();
    edges.sort_unstable();
    edges.dedup();
    let at = |cells: &BTreeMap<u64, (u64, Cell)>, from: u64| {
        cells.range(..=from).next_back().filter(|(_, (end, _))| *end > from).map(|(_, (_, cell))| cell.clone())
    };
    let mut joined: Vec<(u64, u64, Cell)> = Vec::new();
    for pair in edges.windows(2) {
        let cell = match (at(a, pair[0]), at(b, pair[0])) {
            (None, None) => continue,
            (Some(x), Some(y)) if x == y => x,
            (Some(x), Some(y)) => {
                let weight = |c: &Cell| {
                    (c.own_read && c.lost_read.is_some(), c.lost_read.is_some(), !c.lost.is_empty(), c.own_read)
                };
                let skipped = x.skipped.into_iter().chain(y.skipped).min();
                let more = if weight(&x) >= weight(&y) { x } else { y };
                Cell { maybe: true, skipped, ..more }
            }
            (Some(x), None) | (None, Some(x)) => Cell { maybe: true, skipped: Some(branches), ..x },
        };
        match joined.last_mut() {
            Some(last) if last.1 == pair[0] && last.2 == cell => last.1 = pair[1],
            _ => joined.push((pair[0], pair[1], cell)),
        }
    }
    joined.into_iter().map(|(start, end, cell)| (start, (end, cell))).collect()
}

impl Touched {
    fn declared(&self) -> String {
        format!("{:#x}..{:#x}", self.start, self.end)
    }

    /// Whether one declared area lies in the other.
    fn contains(&self, other: &Touched) -> bool {
        let inside = |a: &Touched, b: &Touched| a.start >= b.start && a.end <= b.end;
        inside(self, other) || inside(other, self)
    }
}

impl Memories {
    /// Whether two tiles are names of one storage.
    fn is_same(&self, a: &Touched, b: &Touched) -> bool {
        let starts = (a.start.min(b.start), a.start.max(b.start));
        a.storage == b.storage || a.start == b.start || self.windows.contains(&starts)
    }

    /// Whether the data of a tile is the one that was lost: other tiles at its place may be larger.
    fn is_lost(&self, lost: u32, tile: &Touched) -> bool {
        let lost = &self.writes[lost as usize];
        lost.storage == tile.storage || (lost.start, lost.end) == (tile.start, tile.end)
    }

    /// A cell after a write.
    fn written(&self, now: u32, sure: bool, old: Option<&Cell>) -> Cell {
        let write = &self.writes[now as usize];
        let mut cell = Cell { write: Some(now), maybe: !sure, ..Cell::default() };
        let Some(old) = old else { return cell };
        let others = old.lost.iter().chain(&old.write).filter(|n| !self.is_same(&self.writes[**n as usize], write));
        for n in others {
            let storage = self.writes[*n as usize].storage;
            if cell.lost.len() < MAX_LOST && !cell.lost.iter().any(|m| self.writes[*m as usize].storage == storage) {
                cell.lost.push(*n);
            }
        }
        let twin = |n: &u32| {
            let before = &self.writes[*n as usize];
            let is_other = before.value != write.value && before.storage != write.storage;
            is_other && before.shape == write.shape && (before.from, before.to) == (write.from, write.to)
        };
        cell.unread = old.write.filter(twin).filter(|_| !old.own_read && sure && !old.maybe);
        cell
    }
}

/// What an analysis of branches keeps of both.
pub(super) type Shared = Rc<Contents>;

impl Walk<'_> {
    /// Joins the contents of two arms.
    pub(super) fn join_contents(&mut self, a: Shared, b: Shared) {
        let is_one = Rc::ptr_eq(&a, &b);
        let own = |shared: Shared| Rc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone());
        self.contents = if is_one { a } else { Rc::new(own(a).join(own(b), self.memories.branches)) };
    }

    /// Memories that cores of the other kind write, where program order says nothing.
    pub(super) fn shared_memories(&mut self) {
        let func = self.state.func;
        let is_output = |op: &Op| op.opcode().is_some_and(leaves);
        self.memories.has_output = func.ops.iter().any(is_output) || !func.outputs.is_empty();
        self.memories.shared = shared_memories(self.state.module, func);
        for root in &self.memories.shared {
            Rc::make_mut(&mut self.contents).forget(*root);
        }
    }

    /// A tile that `alloc_tile` made. One in a memory that the other cores write may have its contents from there.
    pub(super) fn allocated(&mut self, op: &Op) {
        for object in
            op.results.iter().filter_map(|r| if let Val::Tile(n) = self.state.get(*r) { Some(*n) } else { None })
        {
            let memory = self.state.objects.get(object).map(|o| Root::Memory(o.tile.loc));
            if memory.is_some_and(|root| self.memories.shared.contains(&root)) {
                continue;
            }
            self.memories.fresh.insert(object);
            if let Some(root @ Some(Root::Auto(_))) = self.state.objects.get(object).map(|o| o.place.root) {
                self.memories.fresh_roots.extend(root);
            }
        }
    }

    /// A pointer into a tile: anything may be written through it.
    pub(super) fn escapes(&mut self, op: &Op) {
        for object in op.operands.iter().filter_map(|o| self.state.tile(o.arg)) {
            let Some(place) = self.place(object) else { continue };
            let end = place.start.saturating_add(self.state.objects[object].bytes());
            Rc::make_mut(&mut self.contents).update(place.root, place.start, end, |_| Cell::default());
        }
    }

    /// An instruction that was refused: what it writes is not known.
    pub(super) fn refused_contents(&mut self, operands: &Operands) {
        for (_, object) in operands {
            let end = |start: u64| start.saturating_add(self.state.objects[*object].bytes());
            match self.place(*object) {
                Some(place) => {
                    let end = end(place.start);
                    Rc::make_mut(&mut self.contents).update(place.root, place.start, end, |_| Cell::default());
                }
                None => self.forget_memory(*object),
            }
        }
    }

    fn forget_memory(&mut self, object: usize) {
        let root = Root::Memory(self.state.objects[object].tile.loc);
        if !self.contents.unknown.contains(&root) || !self.contents.anywhere {
            let contents = Rc::make_mut(&mut self.contents);
            contents.forget(root);
            contents.anywhere = true;
        }
    }

    /// What an instruction reads and leaves behind.
    pub(super) fn touch(&mut self, op: &Op, inst: &Inst, operands: &Operands) {
        if self.dead || self.is_micro || operands.is_empty() {
            return;
        }
        if self.report.refused.contains_key(&op.span) {
            return self.refused_contents(operands);
        }
        let effects = effects(inst);
        if !effects.moves() || is_empty(inst) {
            return;
        }
        let values = self.operand_values(op);
        let touched: SmallVec<[Option<(Root, Touched)>; 4]> = (0..operands.len())
            .map(|n| self.touched(op, inst, n, operands[n].1, values.get(n).copied().flatten()))
            .collect();
        let read = |n: &usize| effects.tiles[*n].reads();
        for n in (0..operands.len()).filter(read) {
            if let Some((root, tile)) = &touched[n] {
                let others = (0..operands.len()).filter(|m| read(m) && *m != n);
                let others: SmallVec<[Option<ValueId>; 4]> =
                    others.filter_map(|m| touched[m].as_ref()).map(|(_, t)| t.value).collect();
                self.read_contents(*root, tile, operands[n], inst, &others);
            }
        }
        for (n, effect) in effects.tiles.iter().enumerate().filter(|(_, t)| t.writes()) {
            let Some((root, tile)) = &touched[n] else {
                // A popped tile lies wherever its FIFO puts it.
                self.forget_memory(operands[n].1);
                continue;
            };
            let row = inst.op.form(inst.form).and_then(|f| f.operand(effect.role));
            let is_part = row.is_some_and(|row| row.covers == Covers::Part);
            let is_scratch = effect.effect == Effect::Scratch;
            self.write_contents(*root, tile.clone(), is_part, is_scratch);
        }
    }

    /// The values of the tile operands, in the order of [`tessera_absint::Tiles::operands`].
    fn operand_values(&self, op: &Op) -> SmallVec<[Option<ValueId>; 4]> {
        let is_tile = |v: &ValueId| matches!(self.state.ty(*v), Type::Tile(_) | Type::Conv(_));
        let ins = op.operands.iter().filter(|o| o.role != Role::Init).filter_map(|o| o.arg.value());
        ins.filter(|v| matches!(self.state.get(*v), Val::Tile(_)))
            .chain(op.results.iter().copied().filter(is_tile))
            .map(Some)
            .collect()
    }

    /// The bytes that an instruction touches of an operand, as one range.
    fn touched(
        &self,
        op: &Op,
        inst: &Inst,
        n: usize,
        object: usize,
        value: Option<ValueId>,
    ) -> Option<(Root, Touched)> {
        let place = self.place(object)?;
        let (arg, object) = (inst.tiles.get(n)?, &self.state.objects[object]);
        let bits = u64::from(arg.tile.elem.bits());
        let start = place.start;
        let end = start.saturating_add(if object.conv.is_some() {
            object.bytes()
        } else {
            arg.tile.elem.bytes_of(arg.layout.footprint())
        });
        let (mut from, mut to, mut exact) = (start, end, object.conv.is_some());
        if let ([Some(rows), Some(cols)], None) = (arg.valid, object.conv)
            && let Some((low, high)) = arg.layout.reach([0, 0], [rows, cols])
        {
            let (low, high) = (u64::try_from(low).ok()?, u64::try_from(high).ok()? + 1);
            (from, to) = (start + low * bits / 8, start + (high * bits).div_ceil(8));
            exact = high - low == rows * cols;
        } else if arg.valid.contains(&Some(0)) {
            return None;
        }
        let shape = (arg.tile.rows, arg.tile.cols, arg.tile.elem.bits() as u16);
        let storage = object.storage;
        let opcode = inst.op;
        let touched = Touched { storage, value, start, end, from, to, exact, shape, op: op.span, opcode };
        Some((place.root, touched))
    }

    fn name(&self, tile: &Touched) -> String {
        match tile.value {
            Some(value) => format!("%{}", self.state.module.names.text(self.state.func.value(value).name)),
            None => "the tile".into(),
        }
    }

    fn read_contents(
        &mut self,
        root: Root,
        tile: &Touched,
        (role, object): (Role, usize),
        inst: &Inst,
        others: &[Option<ValueId>],
    ) {
        if self.contents.unknown.contains(&root) {
            return;
        }
        self.find_unwritten(root, tile, (role, object), inst);
        let mut found: Option<(u32, u32, Span, bool)> = None;
        let mut changes = false;
        for (_, _, cell) in self.contents.within(root, tile.from, tile.to) {
            let Some(n) = cell.write else { continue };
            let write = &self.memories.writes[n as usize];
            if self.memories.is_same(write, tile) {
                changes |= !cell.own_read;
                let reader = cell.lost_read.map(|(lost, reader)| (n, lost, reader, cell.maybe));
                let both = cell.unread.filter(|lost| {
                    let lost = self.memories.writes[*lost as usize].value;
                    lost == tile.value && others.contains(&write.value)
                        || write.value == tile.value && others.contains(&lost)
                });
                let both = both.map(|lost| (n, lost, tile.op, cell.maybe));
                found = found.or(reader).or(both);
                continue;
            }
            let is_lost = |m: &&u32| self.memories.is_lost(**m, tile);
            match cell.lost.iter().find(is_lost) {
                Some(lost) if cell.own_read => found = found.or(Some((n, *lost, tile.op, cell.maybe))),
                Some(_) => changes |= cell.lost_read.is_none(),
                None if write.contains(tile) => {
                    let starts = (write.start.min(tile.start), write.start.max(tile.start));
                    self.memories.windows.insert(starts);
                    return;
                }
                None => {}
            }
        }
        if changes {
            let memories = &self.memories;
            let contents = Rc::make_mut(&mut self.contents);
            let Some(cells) = contents.cells.get_mut(&root) else { return };
            let first = cells.range(..=tile.from).next_back().map_or(tile.from, |(start, _)| *start);
            for (_, (end, cell)) in cells.range_mut(first..tile.to) {
                let Some(n) = cell.write.filter(|_| *end > tile.from) else { continue };
                if memories.is_same(&memories.writes[n as usize], tile) {
                    cell.own_read = true;
                } else if cell.lost_read.is_none() {
                    let is_lost = |m: &&u32| memories.is_lost(**m, tile);
                    cell.lost_read = cell.lost.iter().find(is_lost).map(|lost| (*lost, tile.op));
                }
            }
        }
        if let Some((write, lost, reader, maybe)) = found {
            self.report_overlap(write, lost, reader, maybe, tile.exact);
        }
    }

    fn report_overlap(&mut self, write: u32, lost: u32, reader: Span, maybe: bool, exact: bool) {
        let [write, lost] = [write, lost].map(|n| self.memories.writes[n as usize].clone());
        if !self.report.is_new(write.op, "tile-overlap") {
            return;
        }
        // A tile inside of another one may be a window of it, whose address is written out.
        let is_window = write.start != lost.start && write.contains(&lost) && write.shape.2 == lost.shape.2;
        let is_error = !maybe && exact && write.exact && lost.exact && !is_window;
        let severity = if is_error { Severity::Error } else { Severity::Warning };
        let (a, b) = (self.name(&write), self.name(&lost));
        let some = if maybe { ", on some paths" } else { "" };
        let (from, to) = (write.declared(), lost.declared());
        let what = format!(
            "{a} ({from}) overwrites {b} ({to}), which is read afterwards, as {a} is{some}: both are alive in \
             the same bytes"
        );
        let help = format!("give one of them bytes of its own, or read {b} for the last time before {a} is written");
        let found = Diagnostic::new("tile-overlap", severity, what)
            .at(write.op, format!("{} writes {a}", write.opcode.title()));
        let found = found.and_at(lost.op, format!("{b} was written here"));
        let found = found.and_at(reader, format!("{b} is still read here")).help(help);
        if severity == Severity::Error {
            self.report.refuse(write.op, "tile-overlap");
        }
        self.report.diagnostics.push(found);
    }

    /// `never-written` at a read.
    fn find_unwritten(&mut self, root: Root, tile: &Touched, (role, object): (Role, usize), inst: &Inst) {
        let is_fresh = match root {
            Root::Auto(_) => self.memories.fresh_roots.contains(&root) && !self.contents.anywhere,
            Root::Memory(_) => self.memories.fresh.contains(&self.state.objects[object].storage),
            _ => false,
        };
        if !is_fresh || !self.memories.has_output || tile.from >= tile.to {
            return;
        }
        let mut some_path = false;
        for (_, _, cell) in self.contents.within(root, tile.from, tile.to) {
            // A branch that is still open may be the one that wrote it.
            match cell.skipped {
                Some(branches) if branches >= self.memories.branches && tile.exact => some_path = true,
                _ => return,
            }
        }
        let (name, title) = (self.name(tile), inst.op.title());
        let what = match some_path {
            true => format!("on some paths nothing has written {name}, which {title} reads as {role}"),
            false => format!("nothing has written {name}, which {title} reads as {role}"),
        };
        let help = format!("write {name} before, or read the tile that was meant");
        let mut found = Diagnostic::warning("never-written", what).at(tile.op, "read here").help(help);
        if let Some(value) = tile.value {
            found = found.and_at(self.state.func.value(value).span, format!("{name} is made here"));
        }
        match self.memories.pending.last_mut() {
            Some(pending) => pending.push(Pending { root, from: tile.from, to: tile.to, found }),
            None => self.report_unwritten(tile.op, found),
        }
        // Reported once: from here on something is there.
        if self.memories.pending.is_empty() {
            let unknown = |old: Option<&Cell>| Cell { skipped: None, ..old.cloned().unwrap_or_default() };
            Rc::make_mut(&mut self.contents).update(root, tile.from, tile.to, unknown);
        }
    }

    fn report_unwritten(&mut self, op: Span, found: Diagnostic) {
        if self.report.is_new(op, "never-written") {
            self.report.diagnostics.push(found);
        }
    }

    /// Begins a loop that is walked once.
    pub(super) fn enter_loop(&mut self) {
        self.memories.pending.push(Vec::new());
    }

    /// Ends it: a read that an earlier turn may have served is fine.
    pub(super) fn leave_loop(&mut self) {
        for pending in self.memories.pending.pop().unwrap_or_default() {
            let is_unknown = self.contents.unknown.contains(&pending.root);
            if is_unknown || self.contents.within(pending.root, pending.from, pending.to).next().is_some() {
                continue;
            }
            match self.memories.pending.last_mut() {
                Some(outer) => outer.push(pending),
                None => {
                    let op = pending.found.span.unwrap_or_default();
                    self.report_unwritten(op, pending.found);
                }
            }
        }
    }

    fn write_contents(&mut self, root: Root, tile: Touched, is_part: bool, is_scratch: bool) {
        if self.contents.unknown.contains(&root) {
            return;
        }
        let (from, to, sure) = (tile.from, tile.to, tile.exact && !is_scratch);
        if is_part {
            // Which bytes it writes is not known: what is there may stay.
            let kept = |old: Option<&Cell>| Cell { skipped: None, ..old.cloned().unwrap_or_default() };
            return Rc::make_mut(&mut self.contents).update(root, from, to, kept);
        }
        let now = self.memories.writes.len() as u32;
        self.memories.writes.push(tile);
        let memories = &self.memories;
        let new = |old: Option<&Cell>| Cell { own_read: is_scratch, ..memories.written(now, sure, old) };
        Rc::make_mut(&mut self.contents).update(root, from, to, new);
    }
}

/// Whether an instruction hands elements to global memory, to another core or to a scalar.
fn leaves(opcode: Opcode) -> bool {
    let info = opcode.info();
    let writes = |form: &FormInfo| {
        let global = form.operand(Role::Global);
        global.is_some_and(|row| matches!(row.effect, Effect::Write | Effect::ReadWrite))
    };
    info.forms.iter().any(writes) || matches!(info.sem, Sem::Gets | Sem::Fifo(Fifo::Push(_)))
}

/// Whether an instruction works on no element (isa/today.md 5.3).
fn is_empty(inst: &Inst) -> bool {
    inst.tiles.iter().all(|t| t.valid.contains(&Some(0)))
}

/// The memories that a core of the other kind writes in a mixed kernel: its order is not that of the text.
fn shared_memories(module: &tessera_ir::Module, func: &Func) -> Vec<Root> {
    let mut shared = Vec::new();
    if func.runs() != Runs::Mixed {
        return shared;
    }
    let cores = func.cores();
    func.walk(&mut |id, op, _| {
        let other = match cores[id.index()] {
            Some(Core::Cube) => Loc::Vec,
            Some(Core::Vector) => Loc::Mat,
            None => return,
        };
        let is_other = |v: ValueId| match module.types.get(func.value(v).ty) {
            Type::Tile(tile) => tile.loc == other,
            Type::Conv(_) => other == Loc::Mat,
            _ => false,
        };
        if op.opcode().is_some() && op.values().any(is_other) {
            shared.push(Root::Memory(other));
        }
    });
    shared
}
