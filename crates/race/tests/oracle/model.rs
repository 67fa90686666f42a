//! An independent model of sync.md 2 to 4: everything is unrolled, every pair of nodes is compared, nothing is clever.

#![allow(clippy::needless_range_loop, clippy::type_complexity, reason = "a model that reads like its definition")]

use super::program::{Block, Stmt, VEC_STEP};
use std::collections::{BTreeMap, BTreeSet};
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Work,
    Set(Pipe, Pipe, i64),
    Wait(Pipe, Pipe, i64),
    Bar,
    Get(u32),
    Rls(u32),
    /// Gives a token to another core, or takes one.
    Send,
    Receive,
}

/// Memory, first byte, one past the last byte, written?
pub type Touch = (u8, i64, i64, bool);

#[derive(Clone, Debug)]
pub struct Node {
    pub process: usize,
    pub line: usize,
    /// None is all pipes.
    pub pipe: Option<Pipe>,
    pub what: What,
    pub touches: Vec<Touch>,
    /// The iterations of the loops around.
    pub turn: Vec<i64>,
}

/// Findings: rule, line of the first, line of the second (races), or the rule and its line twice.
pub type Findings = BTreeSet<(String, usize, usize)>;

pub struct Model<'a> {
    lines: &'a [usize],
    next: usize,
    nodes: Vec<Node>,
    conditions: u32,
    trips: u64,
    inner: u64,
    /// What goes between cores, and does somebody wait for what never comes?
    cross: Vec<(usize, usize)>,
    lost: bool,
    /// By process: is its order left to the assembler?
    auto: [bool; 3],
}

/// What is wrong with a program, when loops of unknown count run 0 to `most` times.
pub fn judge(program: &[Stmt], lines: &[usize], profile: Profile, conditions: usize, most: u64) -> Findings {
    let mut races = Findings::new();
    // Each flag is reported once per rule, at its first place in the text.
    let mut flags: BTreeMap<(String, String), usize> = BTreeMap::new();
    for mask in 0..1u32 << conditions {
        let inner = if has_inner(program) { most } else { 0 };
        for (trips, inner) in (0..=most).flat_map(|n| (0..=inner).map(move |m| (n, m))) {
            let (nodes, cross) = Default::default();
            let mut model =
                Model { lines, next: 0, nodes, conditions: mask, trips, inner, cross, lost: false, auto: [false; 3] };
            model.block(program, 0, true);
            let (found, broken) = model.findings(profile);
            races.extend(found);
            for ((rule, flag), line) in broken {
                let first = flags.entry((rule, flag)).or_insert(line);
                *first = (*first).min(line);
            }
        }
    }
    races.extend(flags.into_iter().map(|((rule, _), line)| (rule, line, line)));
    races
}

fn has_inner(program: &[Stmt]) -> bool {
    program.iter().any(|stmt| match stmt {
        Stmt::Inner(_) | Stmt::While(_) => true,
        Stmt::For(_, body) => has_inner(body),
        Stmt::If(_, yes, no) => has_inner(yes) || has_inner(no),
        _ => false,
    })
}

/// What is wrong with the nodes of several processes: races, and broken flags by rule and flag.
pub fn judge_nodes(
    nodes: Vec<Node>,
    cross: Vec<(usize, usize)>,
    lost: bool,
    profile: Profile,
    auto: [bool; 3],
) -> (Findings, Vec<((String, String), usize)>, Vec<Vec<u64>>) {
    let model = Model { lines: &[], next: 0, nodes, conditions: 0, trips: 0, inner: 0, cross, lost, auto };
    let (found, broken) = model.findings(profile);
    (found, broken, model.closure(profile))
}

/// Is one before the other in a closed relation?
pub fn is_before(before: &[Vec<u64>], a: usize, b: usize) -> bool {
    before[a][b / 64] & (1 << (b % 64)) != 0
}

impl Model<'_> {
    fn block(&mut self, program: &[Stmt], i: u64, runs: bool) {
        for stmt in program {
            let line = self.lines[self.next];
            self.next += 1;
            let vec = |n: usize, w: bool| (0, n as i64 * VEC_STEP, n as i64 * VEC_STEP + 1024, w);
            let chip = |m: u8, n: usize, size: i64, w: bool| (m, n as i64 * 4096, n as i64 * 4096 + size, w);
            let gm = |b: &Block, w: bool| (10, b.at(i) * 1024, b.at(i) * 1024 + 1024, w);
            let half = |b: &Block, w: bool| (11, b.at(i) * 512, b.at(i) * 512 + 512, w);
            let word = |b: &Block, w: bool| (10, b.at(i) * 1024, b.at(i) * 1024 + 4, w);
            let (pipe, what, touches) = match stmt {
                Stmt::Load(t, b) => (Some(Pipe::Mte2), What::Work, vec![vec(t.at(i), true), gm(b, false)]),
                Stmt::Add(c, a, b) => {
                    (Some(Pipe::V), What::Work, vec![vec(c.at(i), true), vec(a.at(i), false), vec(b.at(i), false)])
                }
                Stmt::Store(t, b) => (Some(Pipe::Mte3), What::Work, vec![vec(t.at(i), false), gm(b, true)]),
                Stmt::LoadMat(n, b) => (Some(Pipe::Mte2), What::Work, vec![chip(1, *n, 512, true), half(b, false)]),
                Stmt::MoveLeft(to, from) => {
                    (Some(Pipe::Mte1), What::Work, vec![chip(1, *from, 512, false), chip(2, *to, 512, true)])
                }
                Stmt::MoveRight(to, from) => {
                    (Some(Pipe::Mte1), What::Work, vec![chip(1, *from, 512, false), chip(3, *to, 512, true)])
                }
                Stmt::Product(c, a, b) => (
                    Some(Pipe::M),
                    What::Work,
                    vec![chip(2, *a, 512, false), chip(3, *b, 512, false), chip(4, *c, 1024, true)],
                ),
                Stmt::StoreAcc(n, b) => (Some(Pipe::Fix), What::Work, vec![chip(4, *n, 1024, false), gm(b, true)]),
                Stmt::ReadScalar(b) => (Some(Pipe::S), What::Work, vec![word(b, false)]),
                Stmt::WriteScalar(b) => (Some(Pipe::S), What::Work, vec![word(b, true)]),
                Stmt::Set(a, b, id) => (Some(*a), What::Set(*a, *b, id.at(i)), vec![]),
                Stmt::Wait(a, b, id) => (Some(*b), What::Wait(*a, *b, id.at(i)), vec![]),
                Stmt::Bar(pipe) => (*pipe, What::Bar, vec![]),
                Stmt::Get(pipe, id) => (Some(*pipe), What::Get(*id), vec![]),
                Stmt::Rls(pipe, id) => (Some(*pipe), What::Rls(*id), vec![]),
                Stmt::For(_, body) | Stmt::Inner(body) | Stmt::While(body) => {
                    let start = self.next;
                    let count = match stmt {
                        Stmt::For(count, _) => count.unwrap_or(self.trips),
                        _ => self.inner,
                    };
                    for k in 0..count {
                        self.next = start;
                        self.block(body, k, runs);
                    }
                    self.next = start;
                    self.block(body, 0, false);
                    continue;
                }
                Stmt::If(condition, yes, no) => {
                    let holds = self.conditions & (1 << condition) != 0;
                    self.block(yes, i, runs && holds);
                    self.block(no, i, runs && !holds);
                    continue;
                }
            };
            if runs {
                self.nodes.push(Node { process: 0, line, pipe, what, touches, turn: Vec::new() });
            }
        }
    }

    /// The relation of sync.md 3, closed, as bits.
    fn closure(&self, profile: Profile) -> Vec<Vec<u64>> {
        let n = self.nodes.len();
        let mut before = vec![vec![0u64; n.div_ceil(64)]; n];
        let mut set = |a: usize, b: usize| before[a][b / 64] |= 1 << (b % 64);
        let in_order = |p: Pipe| match profile {
            Profile::Cpu => true,
            Profile::A2a3 => matches!(p, Pipe::S | Pipe::M | Pipe::Mte1 | Pipe::Fix),
            Profile::A5 => matches!(p, Pipe::S | Pipe::V | Pipe::M | Pipe::Mte1 | Pipe::Fix),
        };
        for a in 0..n {
            for b in a + 1..n {
                let (x, y) = (&self.nodes[a], &self.nodes[b]);
                if x.process != y.process {
                    continue;
                }
                if self.auto[x.process] {
                    set(a, b);
                    continue;
                }
                for p in Pipe::ALL {
                    let on = |n: &Node| n.pipe.is_none_or(|q| q == *p);
                    if !on(x) || !on(y) {
                        continue;
                    }
                    let ends = matches!(y.what, What::Set(..) | What::Rls(_) | What::Bar | What::Send);
                    let starts = matches!(x.what, What::Wait(..) | What::Get(_) | What::Bar | What::Receive);
                    if in_order(*p) || ends || starts {
                        set(a, b);
                    }
                }
                let waits = matches!(x.what, What::Wait(..) | What::Get(_) | What::Receive);
                let waits_on_s = waits && x.pipe == Some(Pipe::S);
                let bar_all = x.what == What::Bar && x.pipe.is_none();
                let reads = x.what == What::Work && x.pipe == Some(Pipe::S) && x.touches.iter().any(|t| !t.3);
                if waits_on_s || bar_all || reads {
                    set(a, b);
                }
            }
        }
        self.pairs().into_iter().chain(self.cross.iter().copied()).for_each(|(a, b)| set(a, b));
        for b in 0..n {
            if let What::Get(id) = self.nodes[b].what {
                let is = |a: &usize| {
                    let x = &self.nodes[*a];
                    x.what == What::Rls(id) && x.pipe != self.nodes[b].pipe && x.process == self.nodes[b].process
                };
                if let Some(a) = (0..b).rev().find(is) {
                    set(a, b);
                }
            }
        }
        for k in 0..n {
            let through = before[k].clone();
            for row in before.iter_mut().filter(|row| row[k / 64] & (1 << (k % 64)) != 0) {
                row.iter_mut().zip(&through).for_each(|(to, via)| *to |= via);
            }
        }
        before
    }

    fn flags(&self) -> BTreeMap<String, (Vec<usize>, Vec<usize>)> {
        let mut flags: BTreeMap<String, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (n, node) in self.nodes.iter().enumerate() {
            match node.what {
                What::Set(a, b, id) => flags.entry(format!("{} {a} {b} {id}", node.process)).or_default().0.push(n),
                What::Wait(a, b, id) => flags.entry(format!("{} {a} {b} {id}", node.process)).or_default().1.push(n),
                _ => {}
            }
        }
        flags
    }

    fn pairs(&self) -> Vec<(usize, usize)> {
        self.flags().into_values().flat_map(|(sets, waits)| sets.into_iter().zip(waits)).collect()
    }

    /// Do all processes come to their ends, one operation after the other?
    fn ends(&self) -> bool {
        let mut done = vec![false; self.nodes.len()];
        loop {
            let before = done.iter().filter(|d| **d).count();
            for process in 0..3 {
                let own = (0..self.nodes.len()).filter(|n| self.nodes[*n].process == process);
                for n in own {
                    if self.cross.iter().any(|(from, to)| *to == n && !done[*from]) {
                        break;
                    }
                    done[n] = true;
                }
            }
            if done.iter().filter(|d| **d).count() == before {
                return before == self.nodes.len();
            }
        }
    }

    fn findings(&self, profile: Profile) -> (Findings, Vec<((String, String), usize)>) {
        let mut broken = Vec::new();
        let mut stops = false;
        for (n, node) in self.nodes.iter().enumerate() {
            // Both vector cores run the same text.
            let whose = node.process.min(1);
            if let What::Set(a, b, id) | What::Wait(a, b, id) = node.what {
                let flag = format!("{whose} {a:?} {b:?} {id}");
                let limit = if profile == Profile::Cpu { i64::MAX } else { 8 };
                if !(0..limit).contains(&id) {
                    broken.push((("flag-id-range".to_string(), flag.clone()), node.line));
                    stops = true;
                }
                if a == b && profile != Profile::Cpu {
                    broken.push((("flag-pipe".to_string(), flag), node.line));
                    stops = true;
                }
            }
            if let What::Get(id) | What::Rls(id) = node.what {
                let same = |m: &&Node| {
                    (m.process, m.pipe) == (node.process, node.pipe)
                        && matches!(m.what, What::Get(k) | What::Rls(k) if k == id)
                };
                let held = self.nodes[..n].iter().rev().find(same).is_some_and(|m| matches!(m.what, What::Get(_)));
                if matches!(node.what, What::Get(_)) == held {
                    broken
                        .push((("buf-token".to_string(), format!("{} {:?} {id}", node.process, node.pipe)), node.line));
                }
            }
        }
        let before = self.closure(profile);
        let is_before = |a: usize, b: usize| is_before(&before, a, b);
        // Where the processes come to their ends one operation after the other, only flags can close a circle.
        let deadlock = self.lost || self.cross.iter().any(|(a, b)| is_before(*b, *a)) && !self.ends();
        if deadlock {
            broken.push((("deadlock".to_string(), String::new()), 0));
            stops = true;
        }
        for (flag, (sets, waits)) in self.flags() {
            let mut add = |rule: &str, n: usize| broken.push(((rule.to_string(), flag.clone()), self.nodes[n].line));
            // Everything in a circle is before itself; to blame are the waits whose sets come later. They come before the
            // waits that have none.
            let mut pairs = sets.iter().zip(&waits);
            let in_circle = pairs.find(|(set, wait)| !deadlock && is_before(**wait, **set) && set > wait);
            if let Some(wait) = in_circle.map(|(_, wait)| wait).or(waits.get(sets.len())) {
                add("flag-unmatched-wait", *wait);
                stops = true;
            }
            if profile != Profile::Cpu {
                if sets.len() > waits.len() {
                    add("flag-leak", sets[waits.len()]);
                }
                for k in 1..sets.len() {
                    let waited = waits.iter().filter(|w| **w < sets[k]).count();
                    if waited < k && k - 1 < waits.len() {
                        add("flag-overwrite", sets[k]);
                        break;
                    }
                }
            }
        }
        if stops {
            return (Findings::new(), broken);
        }
        (self.races(&before), broken)
    }

    /// The nodes of V0 that give other data than those of V1: what they read of global memory differs.
    fn differing(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut tainted: Vec<(u8, i64, i64)> = Vec::new();
        for (n, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.process == 1) {
            let twin = |other: &&Node| other.process == 2 && (other.line, &other.turn) == (node.line, &node.turn);
            let Some(twin) = self.nodes.iter().find(twin) else { continue };
            let mut reads = node.touches.iter().zip(&twin.touches).filter(|(a, b)| !a.3 && !b.3);
            let differs = reads.any(|(a, b)| match a.0 {
                10 | 11 => (a.0, a.1, a.2) != (b.0, b.1, b.2),
                _ => tainted.iter().any(|t| t.0 == a.0 && t.1.max(a.1) < t.2.min(a.2)),
            });
            for t in node.touches.iter().filter(|t| t.3) {
                tainted.retain(|old| old.0 != t.0 || old.1 < t.1 || old.2 > t.2);
                if differs {
                    found.insert(n);
                    tainted.push((t.0, t.1, t.2));
                }
            }
        }
        found
    }

    fn conflict(&self, x: usize, y: usize, differing: &BTreeSet<usize>) -> Vec<(Touch, Touch)> {
        let (a, b) = (&self.nodes[x].touches, &self.nodes[y].touches);
        let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b)));
        // Both vector cores may write the same with the same instruction.
        let (m, n) = (&self.nodes[x], &self.nodes[y]);
        let twins = m.process + n.process == 3 && m.process * n.process == 2 && (m.line, &m.turn) == (n.line, &n.turn);
        let twins = twins && !differing.contains(&x) && !differing.contains(&y);
        let shares = |a: &Touch, b: &Touch| a.0 == b.0 && a.1.max(b.1) < a.2.min(b.2) && (a.3 || b.3);
        pairs.filter(|(a, b)| shares(a, b) && !(twins && a == b)).collect()
    }

    fn races(&self, before: &[Vec<u64>]) -> Findings {
        let n = self.nodes.len();
        let differing = self.differing();
        let is_before = |a: usize, b: usize| is_before(before, a, b);
        let race =
            |x: usize, y: usize| !self.conflict(x, y, &differing).is_empty() && !is_before(x, y) && !is_before(y, x);
        let mut found: BTreeMap<(usize, usize), String> = BTreeMap::new();
        for y in 0..n {
            for x in (0..y).rev().filter(|x| race(*x, y)) {
                let key = (self.nodes[x].line, self.nodes[y].line);
                if found.contains_key(&key) {
                    continue;
                }
                let conflicts = self.conflict(x, y, &differing);
                let between = self.nodes[x].process != self.nodes[y].process;
                let left_out = !between
                    && (x + 1..y).any(|z| {
                        let touches = self.nodes[z].touches.iter().any(|t| {
                            conflicts.iter().any(|(a, b)| a.0 == t.0 && a.1.max(b.1).max(t.1) < a.2.min(b.2).min(t.2))
                        });
                        touches && (is_before(x, z) && race(z, y) || is_before(z, y) && race(x, z))
                    });
                if !left_out {
                    let rules = [(true, false, "race-raw"), (false, true, "race-war"), (true, true, "race-waw")];
                    let rule = rules.iter().find(|(w, v, _)| conflicts.iter().any(|(a, b)| (a.3, b.3) == (*w, *v)));
                    found.insert(key, rule.unwrap().2.to_string());
                }
            }
        }
        found.into_iter().map(|((x, y), rule)| (rule, x, y)).collect()
    }
}
