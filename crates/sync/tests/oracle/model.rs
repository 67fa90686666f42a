//! An independent model of sync.md 2 to 4: everything is unrolled, every pair of nodes is compared, nothing is clever.

#![allow(clippy::needless_range_loop, clippy::type_complexity, reason = "a model that reads like its definition")]

use super::program::{Block, Stmt, VEC_STEP};
use std::collections::{BTreeMap, BTreeSet};
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Work,
    Set(Pipe, Pipe, i64),
    Wait(Pipe, Pipe, i64),
    Bar,
    Get(u32),
    Rls(u32),
}

/// Memory, first byte, one past the last byte, written?
type Touch = (u8, i64, i64, bool);

#[derive(Clone, Debug)]
struct Node {
    line: usize,
    /// None is all pipes.
    pipe: Option<Pipe>,
    what: What,
    touches: Vec<Touch>,
}

/// Findings: rule, line of the first, line of the second (races), or the rule and its line twice.
pub type Findings = BTreeSet<(String, usize, usize)>;

pub struct Model<'a> {
    lines: &'a [usize],
    next: usize,
    nodes: Vec<Node>,
    conditions: u32,
    trips: u64,
}

/// What is wrong with a program, when loops of unknown count run 0 to `most` times.
pub fn judge(program: &[Stmt], lines: &[usize], profile: Profile, conditions: usize, most: u64) -> Findings {
    let mut races = Findings::new();
    // Each flag is reported once per rule, at its first place in the text.
    let mut flags: BTreeMap<(String, String), usize> = BTreeMap::new();
    for mask in 0..1u32 << conditions {
        for trips in 0..=most {
            let mut model = Model { lines, next: 0, nodes: Vec::new(), conditions: mask, trips };
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
                Stmt::For(count, body) => {
                    let start = self.next;
                    for k in 0..count.unwrap_or(self.trips) {
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
                self.nodes.push(Node { line, pipe, what, touches });
            }
        }
    }

    /// The relation of sync.md 3, closed, as bits.
    fn closure(&self, profile: Profile) -> Vec<Vec<bool>> {
        let n = self.nodes.len();
        let mut before = vec![vec![false; n]; n];
        let in_order = |p: Pipe| match profile {
            Profile::Cpu => true,
            Profile::A2a3 => matches!(p, Pipe::S | Pipe::M | Pipe::Mte1 | Pipe::Fix),
            Profile::A5 => matches!(p, Pipe::S | Pipe::V | Pipe::M | Pipe::Mte1 | Pipe::Fix),
        };
        for a in 0..n {
            for b in a + 1..n {
                let (x, y) = (&self.nodes[a], &self.nodes[b]);
                for p in Pipe::ALL {
                    let on = |n: &Node| n.pipe.is_none_or(|q| q == *p);
                    if !on(x) || !on(y) {
                        continue;
                    }
                    let ends = matches!(y.what, What::Set(..) | What::Rls(_) | What::Bar);
                    let starts = matches!(x.what, What::Wait(..) | What::Get(_) | What::Bar);
                    before[a][b] |= in_order(*p) || ends || starts;
                }
                let waits_on_s = matches!(x.what, What::Wait(..) | What::Get(_)) && x.pipe == Some(Pipe::S);
                let bar_all = x.what == What::Bar && x.pipe.is_none();
                let reads = x.what == What::Work && x.pipe == Some(Pipe::S) && x.touches.iter().any(|t| !t.3);
                before[a][b] |= waits_on_s || bar_all || reads;
            }
        }
        for (set, wait) in self.pairs() {
            before[set][wait] = true;
        }
        for b in 0..n {
            if let What::Get(id) = self.nodes[b].what {
                let is = |a: &usize| self.nodes[*a].what == What::Rls(id) && self.nodes[*a].pipe != self.nodes[b].pipe;
                if let Some(a) = (0..b).rev().find(is) {
                    before[a][b] = true;
                }
            }
        }
        for k in 0..n {
            let through = before[k].clone();
            for row in before.iter_mut() {
                if row[k] {
                    row.iter_mut().zip(&through).for_each(|(to, via)| *to |= via);
                }
            }
        }
        before
    }

    fn flags(&self) -> BTreeMap<String, (Vec<usize>, Vec<usize>)> {
        let mut flags: BTreeMap<String, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (n, node) in self.nodes.iter().enumerate() {
            match node.what {
                What::Set(a, b, id) => flags.entry(format!("{a} {b} {id}")).or_default().0.push(n),
                What::Wait(a, b, id) => flags.entry(format!("{a} {b} {id}")).or_default().1.push(n),
                _ => {}
            }
        }
        flags
    }

    fn pairs(&self) -> Vec<(usize, usize)> {
        self.flags().into_values().flat_map(|(sets, waits)| sets.into_iter().zip(waits)).collect()
    }

    fn findings(&self, profile: Profile) -> (Findings, Vec<((String, String), usize)>) {
        let mut broken = Vec::new();
        let mut stops = false;
        for (n, node) in self.nodes.iter().enumerate() {
            if let What::Set(a, b, id) | What::Wait(a, b, id) = node.what {
                let limit = if profile == Profile::Cpu { i64::MAX } else { 8 };
                if !(0..limit).contains(&id) {
                    broken.push((("flag-id-range".to_string(), format!("line {}", node.line)), node.line));
                    stops = true;
                }
                if a == b && profile != Profile::Cpu {
                    broken.push((("flag-pipe".to_string(), format!("line {}", node.line)), node.line));
                    stops = true;
                }
            }
            if let What::Get(id) | What::Rls(id) = node.what {
                let same = |m: &&Node| m.pipe == node.pipe && matches!(m.what, What::Get(k) | What::Rls(k) if k == id);
                let held = self.nodes[..n].iter().rev().find(same).is_some_and(|m| matches!(m.what, What::Get(_)));
                if matches!(node.what, What::Get(_)) == held {
                    broken.push((("buf-token".to_string(), format!("line {}", node.line)), node.line));
                }
            }
        }
        let before = self.closure(profile);
        for (flag, (sets, waits)) in self.flags() {
            let mut add = |rule: &str, n: usize| broken.push(((rule.to_string(), flag.clone()), self.nodes[n].line));
            if waits.len() > sets.len() {
                add("flag-unmatched-wait", waits[sets.len()]);
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
            // Everything in a circle is before itself; to blame are the waits whose sets come later.
            for (set, wait) in sets.iter().zip(&waits) {
                if before[*wait][*set] && set > wait {
                    add("flag-unmatched-wait", *wait);
                    stops = true;
                    break;
                }
            }
        }
        if stops {
            return (Findings::new(), broken);
        }
        (self.races(&before), broken)
    }

    fn conflict(&self, x: usize, y: usize) -> Vec<(Touch, Touch)> {
        let (a, b) = (&self.nodes[x].touches, &self.nodes[y].touches);
        let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b)));
        pairs.filter(|(a, b)| a.0 == b.0 && a.1.max(b.1) < a.2.min(b.2) && (a.3 || b.3)).collect()
    }

    fn races(&self, before: &[Vec<bool>]) -> Findings {
        let n = self.nodes.len();
        let race = |x: usize, y: usize| !before[x][y] && !before[y][x] && !self.conflict(x, y).is_empty();
        let mut found: BTreeMap<(usize, usize), String> = BTreeMap::new();
        for y in 0..n {
            for x in (0..y).rev().filter(|x| race(*x, y)) {
                let key = (self.nodes[x].line, self.nodes[y].line);
                if found.contains_key(&key) {
                    continue;
                }
                let conflicts = self.conflict(x, y);
                let left_out = (x + 1..y).any(|z| {
                    let touches = self.nodes[z].touches.iter().any(|t| {
                        conflicts.iter().any(|(a, b)| a.0 == t.0 && a.1.max(b.1).max(t.1) < a.2.min(b.2).min(t.2))
                    });
                    touches && (before[x][z] && race(z, y) || before[z][y] && race(x, z))
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
