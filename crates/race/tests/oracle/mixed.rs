//! Kernels on a cube core and two vector cores: as data, as text, and as nodes of the model (sync.md 5, isa/structure.md 6).

use super::model::{self, Findings, Node, Touch, What};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;
use tessera_race::Verdict;

/// A block of 1024 bytes of global memory: `first + step · i + sub · (number of the vector core)`.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub first: i64,
    pub step: i64,
    pub sub: i64,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    // Cube.
    LoadMat(usize, At),
    MoveLeft(usize, usize),
    Product(usize, usize),
    StoreAcc(usize, At),
    PushAcc(usize),
    /// Pops from the vector cores; moves what was popped last.
    PopMat,
    MovePopped(usize),
    FreeMat,
    // Vector.
    Load(usize, At),
    Add(usize, usize),
    Store(usize, At),
    PopHalf,
    AddPopped(usize),
    StorePopped(At),
    FreeHalf,
    PushHalf(usize),
    // Both.
    Set(Pipe, Pipe, i64),
    Wait(Pipe, Pipe, i64),
    Bar(Option<Pipe>),
    CoreSet(Pipe, i64, Option<u8>),
    CoreWait(Pipe, i64),
    For(Option<u64>, Vec<Stmt>),
}

#[derive(Clone, Debug)]
pub struct Kernel {
    pub cube: Vec<Stmt>,
    pub vector: Vec<Stmt>,
    pub slots: u64,
    /// 0 whole tiles, 1 halves by rows.
    pub split: u8,
}

const MAT: &str = "!pto.tile_buf<loc=mat, dtype=f16, rows=16, cols=16, v_row=16, v_col=16, blayout=col_major, slayout=row_major, fractal=512, pad=0>";
const LEFT: &str = "!pto.tile_buf<loc=left, dtype=f16, rows=16, cols=16>";
const RIGHT: &str = "!pto.tile_buf<loc=right, dtype=f16, rows=16, cols=16>";
const ACC: &str = "!pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16>";

pub struct Text {
    pub text: String,
    lines: Vec<usize>,
    names: usize,
    counters: Vec<String>,
    popped: String,
    rows: u64,
    split: u8,
}

impl Text {
    pub fn new(k: &Kernel) -> Text {
        let rows = if k.split == 0 { 16 } else { 8 };
        let (text, lines, counters, popped) = Default::default();
        let mut t = Text { text, lines, names: 0, counters, popped, rows, split: k.split };
        t.line("func.func @k(%g: !pto.ptr<f32>, %h: !pto.ptr<f16>, %f: !pto.ptr<f32>, %n: index) {");
        for n in [0, 1, 8, 16] {
            t.line(&format!("%c{n} = arith.constant {n} : index"));
        }
        t.line(&format!("%cb = pto.reserve_buffer {{name = \"c2v\", size = {}, location = #pto.address_space<vec>, auto = true}} -> i32", 1024 * k.slots));
        t.line(&format!("%mb = pto.reserve_buffer {{name = \"v2c\", size = {}, location = #pto.address_space<mat>, auto = true}} -> i32", 1024 * k.slots));
        let init = format!(
            "%p = pto.initialize_l2g2l_pipe {{dir_mask = 3, slot_size = 1024, slot_num = {0}, local_slot_num = {0}, nosplit = {1}}}(%f, %cb, %mb : !pto.ptr<f32>, i32, i32) -> !pto.pipe",
            k.slots,
            k.split == 0
        );
        t.line("pto.section.cube {");
        t.line(&init);
        for (name, ty) in [("m", MAT), ("l", LEFT), ("r", RIGHT), ("acc", ACC)] {
            for n in 0..2 {
                t.line(&format!("%p{name}{n} = arith.constant {} : i64", n * 4096));
                t.line(&format!("%{name}{n} = pto.alloc_tile addr = %p{name}{n} : {ty}"));
            }
        }
        t.block(&k.cube);
        t.line("}");
        t.line("pto.section.vector {");
        t.line(&init);
        t.line("%sub64 = pto.get_subblock_idx");
        t.line("%sub = arith.index_cast %sub64 : i64 to index");
        for n in 0..3 {
            t.line(&format!("%pt{n} = arith.constant {} : i64", n * 512));
            t.line(&format!("%t{n} = pto.alloc_tile addr = %pt{n} : {}", t.vec("f32")));
            t.line(&format!("%pq{n} = arith.constant {} : i64", n * 512));
            t.line(&format!("%q{n} = pto.alloc_tile addr = %pq{n} : {}", t.vec("f16")));
        }
        t.block(&k.vector);
        t.line("}");
        t.line("return");
        t.line("}");
        t
    }

    fn vec(&self, elem: &str) -> String {
        format!("!pto.tile_buf<vec, {}x16x{elem}>", self.rows)
    }

    fn line(&mut self, line: &str) -> usize {
        writeln!(self.text, "{line}").unwrap();
        self.text.lines().count()
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("%x{}", self.names)
    }

    fn number(&mut self, n: i64) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = arith.constant {n} : index"));
        name
    }

    /// `first + step · i + sub · core`, in elements of 256 to a block.
    fn view(&mut self, at: At, rows: u64, elem: &str) -> (String, String) {
        let mut sum = self.number(256 * at.first);
        let i = self.counters.last().cloned();
        for (by, of) in [(at.step, i), (at.sub, Some("%sub".to_string()))] {
            if let (true, Some(of)) = (by != 0, of) {
                let (by, scaled, next) = (self.number(256 * by), self.fresh(), self.fresh());
                self.line(&format!("{scaled} = arith.muli {of}, {by} : index"));
                self.line(&format!("{next} = arith.addi {sum}, {scaled} : index"));
                sum = next;
            }
        }
        let (base, p, v) = (if elem == "f16" { "%h" } else { "%g" }, self.fresh(), self.fresh());
        let ty = format!("!pto.tensor_view<{rows}x16x{elem}>");
        self.line(&format!("{p} = pto.addptr {base}, {sum} : !pto.ptr<{elem}> -> !pto.ptr<{elem}>"));
        self.line(&format!("{v} = pto.make_tensor_view {p}, shape = [%c{rows}, %c16], strides = [%c16, %c1] : {ty}"));
        (v, ty)
    }

    fn block(&mut self, program: &[Stmt]) {
        let (rows, split) = (self.rows, self.split);
        let (f32s, f16s) = (self.vec("f32"), self.vec("f16"));
        for stmt in program {
            let line = match stmt {
                Stmt::LoadMat(n, at) => {
                    let (v, ty) = self.view(*at, 16, "f16");
                    self.line(&format!("pto.tload ins({v} : {ty}) outs(%m{n} : {MAT})"))
                }
                Stmt::MoveLeft(to, from) => self.line(&format!("pto.tmov ins(%m{from} : {MAT}) outs(%l{to} : {LEFT})")),
                Stmt::Product(c, a) => {
                    self.line(&format!("pto.tmatmul ins(%l{a}, %r0 : {LEFT}, {RIGHT}) outs(%acc{c} : {ACC})"))
                }
                Stmt::StoreAcc(n, at) => {
                    let (v, ty) = self.view(*at, 16, "f32");
                    self.line(&format!("pto.tstore ins(%acc{n} : {ACC}) outs({v} : {ty})"))
                }
                Stmt::PushAcc(n) => {
                    self.line(&format!("pto.tpush(%acc{n}, %p : {ACC}, !pto.pipe) {{split = {split}}}"))
                }
                Stmt::PopMat => self.pop(MAT),
                Stmt::MovePopped(to) => {
                    let popped = self.popped.clone();
                    self.line(&format!("pto.tmov ins({popped} : {MAT}) outs(%l{to} : {LEFT})"))
                }
                Stmt::FreeMat | Stmt::FreeHalf => self.line(&format!("pto.tfree(%p : !pto.pipe) {{split = {split}}}")),
                Stmt::Load(n, at) => {
                    let (v, ty) = self.view(*at, rows, "f32");
                    self.line(&format!("pto.tload ins({v} : {ty}) outs(%t{n} : {f32s})"))
                }
                Stmt::Add(c, a) => {
                    self.line(&format!("pto.tadd ins(%t{a}, %t{a} : {f32s}, {f32s}) outs(%t{c} : {f32s})"))
                }
                Stmt::Store(n, at) => {
                    let (v, ty) = self.view(*at, rows, "f32");
                    self.line(&format!("pto.tstore ins(%t{n} : {f32s}) outs({v} : {ty})"))
                }
                Stmt::PopHalf => self.pop(&f32s),
                Stmt::AddPopped(c) => {
                    let popped = self.popped.clone();
                    self.line(&format!("pto.tadd ins({popped}, {popped} : {f32s}, {f32s}) outs(%t{c} : {f32s})"))
                }
                Stmt::StorePopped(at) => {
                    let ((v, ty), popped) = (self.view(*at, rows, "f32"), self.popped.clone());
                    self.line(&format!("pto.tstore ins({popped} : {f32s}) outs({v} : {ty})"))
                }
                Stmt::PushHalf(n) => {
                    self.line(&format!("pto.tpush(%q{n}, %p : {f16s}, !pto.pipe) {{split = {split}}}"))
                }
                Stmt::Set(a, b, id) => {
                    self.line(&format!("pto.set_flag[<{}>, <{}>, <EVENT_ID{id}>]", a.cpp(), b.cpp()))
                }
                Stmt::Wait(a, b, id) => {
                    self.line(&format!("pto.wait_flag[<{}>, <{}>, <EVENT_ID{id}>]", a.cpp(), b.cpp()))
                }
                Stmt::Bar(pipe) => self.line(&format!("pto.barrier <{}>", pipe.map_or("PIPE_ALL", |p| p.cpp()))),
                Stmt::CoreSet(pipe, id, mode) => {
                    let mode = mode.map_or(String::new(), |m| format!(" {{ffts_mode = {m}}}"));
                    self.line(&format!("pto.sync.set <{}>, {id}{mode}", pipe.cpp()))
                }
                Stmt::CoreWait(pipe, id) => self.line(&format!("pto.sync.wait <{}>, {id}", pipe.cpp())),
                Stmt::For(count, body) => {
                    let i = self.fresh();
                    let upper = count.map_or("%n".into(), |n| self.number(n as i64));
                    let line = self.line(&format!("scf.for {i} = %c0 to {upper} step %c1 {{"));
                    self.lines.push(line);
                    self.counters.push(i);
                    self.block(body);
                    self.counters.pop();
                    self.line("}");
                    continue;
                }
            };
            self.lines.push(line);
        }
    }

    fn pop(&mut self, ty: &str) -> usize {
        self.popped = self.fresh();
        let (popped, split) = (self.popped.clone(), self.split);
        self.line(&format!("{popped} = pto.declare_tile -> {ty}"));
        self.line(&format!("pto.tpop({popped}, %p : {ty}, !pto.pipe) {{split = {split}}}"))
    }
}

/// What a token is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Line {
    Ready(bool),
    Free(bool),
    Token(i64),
    Meeting(i64),
}

/// One process on its way through the kernel.
struct Walk<'a> {
    lines: &'a [usize],
    next: usize,
    process: usize,
    profile: Profile,
    slots: i64,
    split: u8,
    trips: u64,
    nodes: Vec<Node>,
    /// By line: the nodes that give, and those that take.
    given: BTreeMap<Line, Vec<usize>>,
    taken: BTreeMap<Line, Vec<usize>>,
    counts: HashMap<(bool, bool), i64>,
    popped: (i64, i64),
    turn: Vec<i64>,
    /// Lines whose ids this core does not have.
    bad: Vec<usize>,
}

// Memories: UB of V0 and V1 0 and 1, their slots 2 and 3, L1 4, its slots 5, L0A 6, L0C 7, global 10 and 11, global slots 12.
impl Walk<'_> {
    fn add(&mut self, line: usize, pipe: Option<Pipe>, what: What, touches: Vec<Touch>) -> usize {
        let (process, turn) = (self.process, self.turn.clone());
        self.nodes.push(Node { process, line, pipe, what, touches, turn });
        self.nodes.len() - 1
    }

    fn give(&mut self, line: usize, pipe: Pipe, of: Line) {
        let node = self.add(line, Some(pipe), What::Send, vec![]);
        self.given.entry(of).or_default().push(node);
    }

    fn take(&mut self, line: usize, pipe: Pipe, of: Line) {
        let node = self.add(line, Some(pipe), What::Receive, vec![]);
        self.taken.entry(of).or_default().push(node);
    }

    fn slot(&mut self, pushes: bool, c2v: bool) -> i64 {
        let n = self.counts.entry((pushes, c2v)).or_default();
        *n += 1;
        (*n - 1) % self.slots
    }

    fn block(&mut self, program: &[Stmt], i: i64, runs: bool) {
        let a2a3 = self.profile == Profile::A2a3;
        let core = (self.process.max(1) - 1) as i64;
        let (ub, halves) = (core as u8, self.split != 0);
        let half = if halves { core * 512 } else { 0 };
        let size = if halves { 512 } else { 1024 };
        for stmt in program {
            let line = self.lines[self.next];
            self.next += 1;
            if let Stmt::For(count, body) = stmt {
                let start = self.next;
                for k in 0..count.unwrap_or(self.trips) {
                    self.next = start;
                    self.turn.push(k as i64);
                    self.block(body, k as i64, runs);
                    self.turn.pop();
                }
                self.next = start;
                self.block(body, 0, false);
                continue;
            }
            if !runs {
                continue;
            }
            let at = |b: &At| (b.first + b.step * i + b.sub * core) * 1024;
            let gm = |b: &At, len: i64, w: bool| (10u8, at(b), at(b) + len, w);
            let vec = |n: usize, len: i64, w: bool| (ub, n as i64 * 512, n as i64 * 512 + len, w);
            let tile = |m: u8, n: usize, len: i64, w: bool| (m, n as i64 * 4096, n as i64 * 4096 + len, w);
            let (pipe, touches) = match stmt {
                Stmt::LoadMat(n, b) => {
                    (Pipe::Mte2, vec![tile(4, *n, 512, true), (11, at(b) / 2, at(b) / 2 + 512, false)])
                }
                Stmt::MoveLeft(to, from) => (Pipe::Mte1, vec![tile(4, *from, 512, false), tile(6, *to, 512, true)]),
                Stmt::Product(c, a) => (Pipe::M, vec![tile(6, *a, 512, false), tile(7, *c, 1024, true)]),
                Stmt::StoreAcc(n, b) => (Pipe::Fix, vec![tile(7, *n, 1024, false), gm(b, 1024, true)]),
                Stmt::PushAcc(n) => {
                    let slot = self.slot(true, true);
                    self.take(line, Pipe::Fix, Line::Free(true));
                    let mut touches = vec![tile(7, *n, 1024, false)];
                    match (a2a3, halves) {
                        (true, _) => touches.push((12, slot * 1024, slot * 1024 + 1024, true)),
                        (false, true) => touches.extend([2, 3].map(|m| (m, slot * 1024, slot * 1024 + 512, true))),
                        (false, false) => touches.push((2, slot * 1024, slot * 1024 + 1024, true)),
                    }
                    self.add(line, Some(Pipe::Fix), What::Work, touches);
                    self.give(line, Pipe::Fix, Line::Ready(true));
                    continue;
                }
                Stmt::PushHalf(n) => {
                    let slot = self.slot(true, false);
                    self.take(line, Pipe::Mte3, Line::Free(false));
                    let from = vec(*n, size / 2, false);
                    let to = if a2a3 { (12, (self.slots + slot) * 1024) } else { (5, slot * 1024) };
                    let start = to.1 + half / 2;
                    self.add(line, Some(Pipe::Mte3), What::Work, vec![from, (to.0, start, start + size / 2, true)]);
                    self.give(line, Pipe::Mte3, Line::Ready(false));
                    continue;
                }
                Stmt::PopHalf => {
                    let slot = self.slot(false, true);
                    let pipe = if a2a3 { Pipe::Mte2 } else { Pipe::V };
                    self.take(line, pipe, Line::Ready(true));
                    self.popped = (slot * if a2a3 { size } else { 1024 }, size);
                    if a2a3 {
                        let from = (12, slot * 1024 + half, slot * 1024 + half + size, false);
                        self.add(
                            line,
                            Some(pipe),
                            What::Work,
                            vec![from, (2 + ub, slot * size, slot * size + size, true)],
                        );
                        self.give(line, pipe, Line::Free(true));
                    }
                    continue;
                }
                Stmt::PopMat => {
                    let slot = self.slot(false, false);
                    let pipe = if a2a3 { Pipe::Mte2 } else { Pipe::Mte1 };
                    self.take(line, pipe, Line::Ready(false));
                    self.popped = (slot * if a2a3 { 512 } else { 1024 }, 512);
                    if a2a3 {
                        let from = (self.slots + slot) * 1024;
                        let touches = vec![(12, from, from + 512, false), (5, slot * 512, slot * 512 + 512, true)];
                        self.add(line, Some(pipe), What::Work, touches);
                        self.give(line, pipe, Line::Free(false));
                    }
                    continue;
                }
                Stmt::FreeHalf | Stmt::FreeMat => {
                    let c2v = matches!(stmt, Stmt::FreeHalf);
                    if !a2a3 {
                        self.give(line, if c2v { Pipe::V } else { Pipe::Mte1 }, Line::Free(c2v));
                    }
                    continue;
                }
                Stmt::MovePopped(to) => {
                    (Pipe::Mte1, vec![(5, self.popped.0, self.popped.0 + 512, false), tile(6, *to, 512, true)])
                }
                Stmt::AddPopped(c) => {
                    (Pipe::V, vec![(2 + ub, self.popped.0, self.popped.0 + size, false), vec(*c, size, true)])
                }
                Stmt::StorePopped(b) => {
                    (Pipe::Mte3, vec![(2 + ub, self.popped.0, self.popped.0 + size, false), gm(b, size, true)])
                }
                Stmt::Load(n, b) => (Pipe::Mte2, vec![vec(*n, size, true), gm(b, size, false)]),
                Stmt::Add(c, a) => (Pipe::V, vec![vec(*c, size, true), vec(*a, size, false)]),
                Stmt::Store(n, b) => (Pipe::Mte3, vec![vec(*n, size, false), gm(b, size, true)]),
                Stmt::Set(a, b, id) => {
                    self.add(line, Some(*a), What::Set(*a, *b, *id), vec![]);
                    continue;
                }
                Stmt::Wait(a, b, id) => {
                    self.add(line, Some(*b), What::Wait(*a, *b, *id), vec![]);
                    continue;
                }
                Stmt::Bar(pipe) => {
                    self.add(line, *pipe, What::Bar, vec![]);
                    continue;
                }
                Stmt::CoreSet(_, id, _) | Stmt::CoreWait(_, id) if *id > 15 && (a2a3 || self.process > 0) => {
                    self.bad.push(line);
                    continue;
                }
                Stmt::CoreSet(pipe, id, mode) => {
                    let meets = a2a3 && (*mode == Some(0) || *mode == Some(1) && self.process > 0);
                    self.give(line, *pipe, if meets { Line::Meeting(*id) } else { Line::Token(*id) });
                    continue;
                }
                Stmt::CoreWait(pipe, id) => {
                    self.take(line, if a2a3 { Pipe::S } else { *pipe }, Line::Token(*id));
                    continue;
                }
                Stmt::For(..) => continue,
            };
            self.add(line, Some(pipe), What::Work, touches);
        }
    }
}

/// What the model says of a kernel; `deadlock` has no line.
pub fn judge(k: &Kernel, t: &Text, profile: Profile, most: u64) -> Findings {
    let mut found = Findings::new();
    let mut flags: BTreeMap<(String, String), usize> = BTreeMap::new();
    // Counters of tokens that grow are full after so many turns.
    let gives = |s: &[Stmt]| any(s, &|s| matches!(s, Stmt::CoreSet(..)));
    let long = (gives(&k.cube) || gives(&k.vector)).then_some(40);
    for trips in (0..=most).chain(long) {
        let a2a3 = profile == Profile::A2a3;
        let both = k.split != 0 || a2a3;
        let mut walks: Vec<Walk<'_>> = Vec::new();
        let first_of_vector = t.lines.len() - count(&k.vector);
        for process in 0..3 {
            let (nodes, given, taken, counts) = Default::default();
            let (slots, split) = (k.slots as i64, k.split);
            let next = if process == 0 { 0 } else { first_of_vector };
            let (lines, popped, turn, bad) = (t.lines.as_slice(), (0, 0), Vec::new(), Vec::new());
            let mut walk = Walk {
                lines,
                next,
                process,
                profile,
                slots,
                split,
                trips,
                nodes,
                given,
                taken,
                counts,
                popped,
                turn,
                bad,
            };
            // Whole tiles only: the second vector core has nothing to do.
            let moves = |s: &[Stmt]| any(s, &|s| matches!(s, Stmt::PopHalf | Stmt::PushHalf(_)));
            match process {
                0 => walk.block(&k.cube, 0, true),
                2 if !both && moves(&k.vector) => {}
                _ => walk.block(&k.vector, 0, true),
            }
            walks.push(walk);
        }
        let starts = [0, walks[0].nodes.len(), walks[0].nodes.len() + walks[1].nodes.len()];
        let of = |p: usize, line: Line, gives: bool| -> Vec<usize> {
            let all = if gives { &walks[p].given } else { &walks[p].taken };
            all.get(&line).into_iter().flatten().map(|n| starts[p] + n).collect()
        };
        let (mut cross, mut lost) = (Vec::new(), false);
        let mut counters: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        // Tokens one after the other, each from all of some nodes.
        let mut pair = |tokens: Vec<Vec<usize>>, free: usize, waits: Vec<usize>, cross: &mut Vec<(usize, usize)>| {
            for (k, wait) in waits.iter().enumerate().skip(free) {
                match tokens.get(k - free) {
                    Some(from) => cross.extend(from.iter().map(|n| (*n, *wait))),
                    None => lost = true,
                }
            }
        };
        let one = |of: Vec<usize>| of.into_iter().map(|n| vec![n]).collect::<Vec<_>>();
        let zip = |a: Vec<usize>, b: Vec<usize>| a.into_iter().zip(b).map(|(a, b)| vec![a, b]).collect::<Vec<_>>();
        let vectors = |line: Line| match both {
            true => zip(of(1, line, true), of(2, line, true)),
            false => one(of(1, line, true)),
        };
        let slots = k.slots as usize;
        pair(vectors(Line::Free(true)), slots, of(0, Line::Free(true), false), &mut cross);
        pair(vectors(Line::Ready(false)), 0, of(0, Line::Ready(false), false), &mut cross);
        for v in [1, 2] {
            pair(one(of(0, Line::Ready(true), true)), 0, of(v, Line::Ready(true), false), &mut cross);
            pair(one(of(0, Line::Free(false), true)), slots, of(v, Line::Free(false), false), &mut cross);
        }
        for id in 0..32 {
            let token = Line::Token(id);
            let waits = of(0, token, false);
            let meeting = Line::Meeting(id);
            match a2a3 {
                true => {
                    let own = one(of(0, meeting, true));
                    let from = [own, zip(of(1, token, true), of(2, token, true))].concat();
                    pair(from, 0, waits.clone(), &mut cross);
                    counters.extend([(of(0, meeting, true), waits.clone())]);
                    counters.extend([1, 2].map(|v| (of(v, token, true), waits.clone())));
                    for v in [1, 2] {
                        let from = [one(of(0, token, true)), zip(of(1, meeting, true), of(2, meeting, true))].concat();
                        pair(from, 0, of(v, token, false), &mut cross);
                        counters.extend([1, 2].map(|from| (of(from, meeting, true), of(v, token, false))));
                        counters.push((of(0, token, true), of(v, token, false)));
                    }
                }
                false => {
                    let v = 1 + (id / 16) as usize;
                    let gives = of(v, Line::Token(id % 16), true);
                    counters.push((gives.clone(), waits.clone()));
                    pair(one(gives), 0, waits, &mut cross);
                    if id < 16 {
                        for v in [1, 2] {
                            let gives = of(0, Line::Token(id + 16 * (v as i64 - 1)), true);
                            counters.push((gives.clone(), of(v, token, false)));
                            pair(one(gives), 0, of(v, token, false), &mut cross);
                        }
                    }
                }
            }
        }
        let bad: Vec<usize> = walks.iter().flat_map(|w| w.bad.iter().copied()).collect();
        flags.extend(bad.iter().map(|line| (("flag-id-range".to_string(), format!("line {line}")), *line)));
        let nodes: Vec<Node> = walks.into_iter().flat_map(|w| w.nodes).collect();
        let lines: Vec<usize> = nodes.iter().map(|n| n.line).collect();
        let orders = |s: &[Stmt]| any(s, &|s| matches!(s, Stmt::Set(..) | Stmt::Wait(..) | Stmt::Bar(_)));
        let auto = [!orders(&k.cube), !orders(&k.vector)];
        let (races, broken, before) = model::judge_nodes(nodes, cross, lost, profile, [auto[0], auto[1], auto[1]]);
        let stops = broken.iter().any(|((rule, _), _)| rule == "deadlock");
        if bad.is_empty() {
            found.extend(races);
        }
        for ((rule, flag), line) in broken {
            let first = flags.entry((rule, flag)).or_insert(line);
            *first = (*first).min(line);
        }
        for (gives, takes) in counters.iter().filter(|_| !stops) {
            let full = |k: &usize| takes.get(k - 15).is_none_or(|t| !model::is_before(&before, *t, gives[*k]));
            if let Some(k) = (15..gives.len()).find(full) {
                found.insert(("sync-overflow".into(), lines[gives[k]], lines[gives[k]]));
            }
        }
    }
    found.extend(flags.into_iter().map(|((rule, _), line)| (rule, line, line)));
    found
}

fn count(program: &[Stmt]) -> usize {
    program.iter().map(|s| 1 + if let Stmt::For(_, body) = s { count(body) } else { 0 }).sum()
}

fn any(program: &[Stmt], is: &dyn Fn(&Stmt) -> bool) -> bool {
    program.iter().any(|s| is(s) || matches!(s, Stmt::For(_, body) if any(body, is)))
}

/// Compares checker and model on a kernel.
pub fn compare(k: &Kernel, profile: Profile, most: u64) -> Verdict {
    let t = Text::new(k);
    let report = super::report_of(&t.text, profile, None);
    // Between cores there is no first one.
    let sorted = |(rule, x, y): &(String, usize, usize)| match rule.starts_with("race") {
        true => ("race".to_string(), *x.min(y), *x.max(y)),
        false if rule == "deadlock" => (rule.clone(), 0, 0),
        false => (rule.clone(), *x, *y),
    };
    let found: Findings = super::findings(&report, &t.text).iter().map(sorted).collect();
    let model: Findings = judge(k, &t, profile, most).iter().map(sorted).collect();
    let numbered = || t.text.lines().enumerate().map(|(n, l)| format!("{:3} {l}\n", n + 1)).collect::<String>();
    let said = || report.diagnostics.iter().map(|d| format!("{}: {}\n", d.rule, d.message)).collect::<String>();
    assert_eq!(found, model, "{profile}: checker (left) and model differ\n{}\n{}", numbered(), said());
    let expected = if model.is_empty() { Verdict::RaceFree } else { Verdict::Races };
    assert_eq!(report.verdict, expected, "{profile}\n{}\n{}", numbered(), said());
    report.verdict
}
