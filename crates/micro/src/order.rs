//! The order of accesses inside of a vecscope, and what races there (micro/model.md 8).
//!
//! A [`Log`] has one node for each access, barrier, and value that depends on one, in program order. `≺` is kept as the set of
//! nodes before each one; two accesses that share a byte, one of which writes, race where neither is before the other.

use crate::table::{Class, Row, Sem};
use smallvec::SmallVec;

/// Bytes of UB that a node touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    pub from: i64,
    pub to: i64,
    pub writes: bool,
    /// By byte: what is written, where that is known, to be compared with other writes.
    pub data: Option<Vec<u32>>,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    Access(Class),
    /// A barrier, by its kind.
    Bar(String),
    /// A value made of others.
    Value,
}

/// One access, barrier or value.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The operation, as the program counts them.
    pub op: u32,
    /// The rounds of the loops around, the innermost last.
    pub turns: SmallVec<[u64; 2]>,
    pub act: NodeKind,
    /// The nodes whose values it uses.
    pub after: SmallVec<[u32; 4]>,
    pub touches: SmallVec<[Touch; 1]>,
}

/// The events of one launch of a vecscope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    pub nodes: Vec<Node>,
    /// Whether there was too much to keep.
    pub is_cut: bool,
}

/// Logs of more nodes than this are cut.
pub const MAX_NODES: usize = 12_000;

/// More races than this are not looked for in one launch.
const MAX_RACES: usize = 4_096;

/// The kind of a conflict between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conflict {
    Raw,
    War,
    Waw,
}

impl Conflict {
    /// The rule's id.
    pub fn rule(self) -> &'static str {
        match self {
            Conflict::Raw => "race-raw",
            Conflict::War => "race-war",
            Conflict::Waw => "race-waw",
        }
    }
}

/// Two accesses that race.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    /// The numbers of the earlier and of the later node.
    pub nodes: [usize; 2],
    pub conflict: Conflict,
    /// The first bytes that both touch.
    pub bytes: (i64, i64),
    /// The kind of the barrier that is missing.
    pub missing: &'static str,
    /// Whether both are vector stores, of which the later one stays.
    pub is_warning: bool,
}

/// The classes that a kind of barrier orders, before and after it.
pub fn bar_classes(kind: &str) -> Option<(&'static [Class], &'static [Class])> {
    const VECTOR: &[Class] = &[Class::Vld, Class::Vst];
    const SCALAR: &[Class] = &[Class::Ld, Class::St];
    let side = |word: &str| -> Option<&'static [Class]> {
        Some(match word {
            "V" => VECTOR,
            "S" => SCALAR,
            "VLD" => &[Class::Vld],
            "VST" => &[Class::Vst],
            "LD" => &[Class::Ld],
            "ST" => &[Class::St],
            _ => return None,
        })
    };
    match kind.strip_suffix("_ALL") {
        Some(pair) if pair.len() == 2 => Some((side(pair.get(..1)?)?, side(pair.get(1..)?)?)),
        _ => kind.split_once('_').and_then(|(a, b)| Some((side(a)?, side(b)?))),
    }
}

/// The kind of barrier between two classes.
fn missing(x: Class, y: Class) -> &'static str {
    let bar = crate::rows().find(|row: &&Row| row.sem == Sem::Bar);
    let name = |class: Class| match class {
        Class::Vld => "VLD",
        Class::Vst => "VST",
        Class::Ld => "LD",
        Class::St | Class::None => "ST",
    };
    let wanted = format!("{}_{}", name(x), name(y));
    let words = bar.and_then(|row| row.word_list(0)).map(|list| list.words).unwrap_or_default();
    words.iter().copied().find(|word| *word == wanted).unwrap_or("VV_ALL")
}

/// A set of nodes.
#[derive(Clone, Default)]
struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, n: usize) {
        if self.0.len() <= n / 64 {
            self.0.resize(n / 64 + 1, 0);
        }
        if let Some(word) = self.0.get_mut(n / 64) {
            *word |= 1 << (n % 64);
        }
    }

    fn has(&self, n: usize) -> bool {
        self.0.get(n / 64).is_some_and(|word| word >> (n % 64) & 1 == 1)
    }

    fn add(&mut self, other: &Set) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| *to |= from);
    }
}

impl Log {
    /// A node at the end; gives its number.
    pub fn push(&mut self, node: Node) -> u32 {
        if self.nodes.len() >= MAX_NODES {
            self.is_cut = true;
            return 0;
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// By node: those that are before it.
    fn before(&self) -> Vec<Set> {
        let mut before: Vec<Set> = Vec::with_capacity(self.nodes.len());
        let classes = [Class::Vld, Class::Vst, Class::Ld, Class::St];
        let number = |class: Class| classes.iter().position(|c| *c == class);
        // By class: the accesses so far with all before them, and what barriers order before later ones.
        let (mut past, mut barred) = (vec![Set::default(); 4], vec![Set::default(); 4]);
        let mut scalar: Option<usize> = None;
        for (n, node) in self.nodes.iter().enumerate() {
            let mut own = Set::default();
            for earlier in node.after.iter().map(|k| *k as usize).chain(scalar.filter(|_| is_scalar(&node.act))) {
                if let Some(set) = before.get(earlier) {
                    own.add(set);
                    own.insert(earlier);
                }
            }
            match &node.act {
                NodeKind::Access(class) => {
                    if let Some(k) = number(*class) {
                        own.add(&barred[k]);
                        past[k].add(&own);
                        past[k].insert(n);
                    }
                    if is_scalar(&node.act) {
                        scalar = Some(n);
                    }
                }
                NodeKind::Bar(kind) => {
                    if let Some((first, second)) = bar_classes(kind) {
                        first.iter().filter_map(|c| number(*c)).for_each(|k| own.add(&past[k]));
                        second.iter().filter_map(|c| number(*c)).for_each(|k| barred[k].add(&own));
                    }
                }
                NodeKind::Value => {}
            }
            before.push(own);
        }
        before
    }

    /// All races, the nearest pairs only, each pair of operations once.
    pub fn races(&self) -> Vec<Race> {
        let before = self.before();
        let is_before = |x: usize, y: usize| before.get(y).is_some_and(|set| set.has(x));
        let mut blocks: std::collections::HashMap<i64, Vec<usize>> = std::collections::HashMap::new();
        let mut found: Vec<Race> = Vec::new();
        for (y, node) in self.nodes.iter().enumerate() {
            let lines = node.touches.iter().flat_map(|t| t.from.div_euclid(32)..=(t.to - 1).div_euclid(32));
            let mut lines: Vec<i64> = lines.collect();
            lines.sort_unstable();
            lines.dedup();
            let mut earlier: Vec<usize> = lines.iter().filter_map(|line| blocks.get(line)).flatten().copied().collect();
            earlier.sort_unstable();
            earlier.dedup();
            for x in earlier {
                if found.len() < MAX_RACES && !is_before(x, y) {
                    found.extend(self.conflict(x, y));
                }
            }
            for line in lines {
                blocks.entry(line).or_default().push(y);
            }
        }
        let races: std::collections::HashSet<[usize; 2]> = found.iter().map(|race| race.nodes).collect();
        let is_race = |x: usize, y: usize| races.contains(&[x, y]);
        let touches = |z: usize, bytes: (i64, i64)| {
            let touches = self.nodes.get(z).map(|node| &node.touches);
            touches.is_some_and(|all| all.iter().any(|t| t.from < bytes.1 && bytes.0 < t.to))
        };
        let is_nearest = |race: &Race| {
            let [x, y] = race.nodes;
            let between = |z: usize| {
                touches(z, race.bytes) && (is_before(x, z) && is_race(z, y) || is_before(z, y) && is_race(x, z))
            };
            !(x + 1..y).any(between)
        };
        let mut told = std::collections::HashSet::new();
        let ops = |race: &Race| {
            let op = |n: usize| self.nodes.get(race.nodes[n]).map_or(0, |node| node.op);
            (op(0), op(1), race.conflict)
        };
        let mut nearest: Vec<Race> = found.iter().filter(|race| is_nearest(race)).cloned().collect();
        nearest.retain(|race| told.insert(ops(race)));
        nearest
    }

    /// The conflict of two accesses, if there is one.
    fn conflict(&self, x: usize, y: usize) -> Option<Race> {
        let (a, b) = (self.nodes.get(x)?, self.nodes.get(y)?);
        let (NodeKind::Access(first), NodeKind::Access(second)) = (&a.act, &b.act) else { return None };
        let mut shared: Option<(Conflict, (i64, i64))> = None;
        for t in &a.touches {
            for u in &b.touches {
                let bytes = (t.from.max(u.from), t.to.min(u.to));
                let conflict = match (t.writes, u.writes) {
                    _ if bytes.0 >= bytes.1 => continue,
                    (false, false) => continue,
                    (true, false) => Conflict::Raw,
                    (false, true) => Conflict::War,
                    (true, true) if is_equal(t, u, bytes) => continue,
                    (true, true) => Conflict::Waw,
                };
                shared.get_or_insert((conflict, bytes));
            }
        }
        let (conflict, bytes) = shared?;
        let is_warning = conflict == Conflict::Waw && *first == Class::Vst && *second == Class::Vst;
        Some(Race { nodes: [x, y], conflict, bytes, missing: missing(*first, *second), is_warning })
    }
}

fn is_scalar(act: &NodeKind) -> bool {
    matches!(act, NodeKind::Access(Class::Ld | Class::St))
}

/// Whether two writes leave the same bits in the bytes that they share.
fn is_equal(x: &Touch, y: &Touch, (from, to): (i64, i64)) -> bool {
    let part = |t: &Touch| {
        let data = t.data.as_ref()?;
        data.get((from - t.from) as usize..(to - t.from) as usize).map(<[u32]>::to_vec)
    };
    part(x).is_some() && part(x) == part(y)
}
