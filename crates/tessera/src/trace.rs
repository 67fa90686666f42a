//! The origins of an output element, and the destinations of an input element.
//!
//! A kernel runs once symbolically, with a log of all moves ([`tessera_provenance::Log`]); no data is needed. [`back`]
//! follows the log from its end, [`forward`] from its beginning.

mod target;

use crate::formula::{Formula, Node, Notated, number_text, step};
use crate::program::{Kernel, Need};
use crate::symbolic::{ELEMENTS, Explain, Keep, constant_text, function_text, place};
pub use crate::symbolic::{Given, Moment};
use crate::{Elem, Error, Missing, Result};
use std::collections::HashSet;
pub use target::Target;
use tessera_ir::{OpId, ValueId};
use tessera_kernels::{MemoryId, is_buffer};
use tessera_provenance::{Function, Log, ProvenanceTracker, Read, Source, Spot, Terms};

/// Elements of one step that are shown by themselves; the rest is counted.
const SHOWN: usize = 16;

/// Steps of a way that are shown, unless all are.
const HOPS: usize = 40;

/// Steps that are shown at all, and how deep they may lie in each other.
const ALL_HOPS: usize = 1 << 14;
const DEPTH: usize = 200;

type ByteAt = (MemoryId, usize);

/// The event of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// It was moved.
    Moved,
    /// It was converted; this is the function.
    Converted(String),
    /// It was computed; this is the formula.
    Computed(String),
    /// It was filled with, or stored as, a constant.
    Filled(String),
    /// Hardware writes whole blocks, and the footprint of the instruction covers it: undefined.
    Clobbered,
    /// The contents of the tile begin here, undefined: nothing has written it.
    NeverWritten,
    /// It is what the caller gave.
    Input,
    /// It decides how others are converted.
    Parameter,
    /// It is here when everything is done.
    Ends,
}

/// One step of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The operation, where one did it.
    pub op: Option<OpId>,
    /// The block.
    pub block: u32,
    /// The loops around the operation, outermost first: `%i`, or `round` of a `scf.while`.
    pub loops: Vec<(String, i64)>,
    /// The event.
    pub how: How,
    /// The element that was read: `%src[3, 5]`.
    pub from: Option<String>,
    /// The element that was written, or that is there.
    pub to: Option<String>,
    /// Elements that are not shown one by one.
    pub more: u64,
    /// The number of splits into bytes before this step.
    pub depth: usize,
}

/// The path of an element back to its origins, newest step first.
///
/// A computed element also has a formula of input elements. Unless `is_full`, long sums and long paths are cut.
pub fn back(kernel: &Kernel, given: &Given, target: &Target, is_full: bool) -> Result<ElementPath> {
    given.check(&[kernel])?;
    let value = target.value(kernel)?;
    let is_tile = kernel.need(value).is_tile();
    let (watch, log) = run(kernel, given, if is_tile { vec![value] } else { Vec::new() })?;
    let output = watch.outputs.iter().find(|o| o.value == value && o.core == target.core);
    let (bytes, ids) = if is_tile {
        let (row, col) = target.element(kernel, value)?;
        let inside = output.filter(|o| row < o.rows && col < o.cols);
        let size = kernel.elem(value).map_or(1, |elem| elem.bytes_of(1));
        let ids = inside.and_then(|o| {
            let first = ((row * o.cols + col) * size) as usize;
            o.origins.get(first..first + size as usize)
        });
        (log.element(value, target.core, row, col), ids)
    } else {
        let (first, len) = target.bytes(kernel, value, given)?;
        let bytes = log.buffer(value).map(|m| (first..first + len).map(|b| (m, b)).collect());
        (bytes, output.and_then(|o| o.origins.get(first..first + len)))
    };
    let Some(bytes) = bytes else {
        return Err(Error::request(format!("{target} is not in the program when it ends; name another element")));
    };
    let numbers = numbers(kernel);
    let explain = Explain { kernel, terms: &watch.terms, numbers: &numbers, given };
    // A conversion alone is told by the step that makes it.
    let is_converted = |f: &Formula| matches!(f.term, Node::Apply { function: Notated::Before(_), .. });
    let formula = ids.and_then(|ids| explain.formula(ids, is_full)).filter(|f| !is_converted(f));
    let mut walk = Walk::new(kernel, given, &log, is_full);
    walk.follow(bytes, log.events.len(), given.until.map(|m| m.block), Some(target.to_string()), 0);
    Ok(ElementPath { formula, hops: walk.hops, is_cut: walk.is_cut })
}

/// The step that wrote each of some elements last, counted through all elements of a tile or a buffer; none where nothing
/// wrote it. The kernel runs once for all of them, and runs no longer than what is given allows.
pub fn last_written(
    kernel: &Kernel,
    given: &Given,
    value: ValueId,
    core: u8,
    elements: &[u64],
) -> Result<Vec<Option<Hop>>> {
    let need = kernel.need(value);
    let (_, log) = run(kernel, given, if need.is_tile() { vec![value] } else { Vec::new() })?;
    let dims = need.dims().filter(|_| need.is_tile());
    let columns = dims.and_then(|d| d.last().copied()).unwrap_or(1).max(1);
    let elem = kernel.elem(value).unwrap_or(Elem::U8);
    let size = elem.bytes_of(1) as usize;
    let written = |element: &u64| {
        let bytes = match need.is_tile() {
            true if matches!(need, Need::Conv(_)) => log.element(value, core, 0, *element),
            true => log.element(value, core, element / columns, element % columns),
            false => {
                let first = (element.saturating_mul(elem.bits().into()) / 8) as usize;
                log.buffer(value).map(|m| (first..first + size).map(|byte| (m, byte)).collect())
            }
        };
        let mut walk = Walk::new(kernel, given, &log, false);
        walk.follow(bytes?, log.events.len(), None, None, 0);
        walk.hops.into_iter().next().filter(|hop| hop.op.is_some())
    };
    Ok(elements.iter().map(written).collect())
}

/// The origin of an element.
#[derive(Clone, Debug)]
pub struct ElementPath {
    /// Its formula, if it is computed.
    pub formula: Option<Formula>,
    /// The way back, newest step first.
    pub hops: Vec<Hop>,
    /// Whether the path was cut.
    pub is_cut: bool,
}

fn numbers(kernel: &Kernel) -> Vec<(ValueId, u32)> {
    kernel.func().args.iter().copied().zip(0..).collect()
}

/// Everywhere an input element goes, oldest step first, and where it is in the end.
pub fn forward(kernel: &Kernel, given: &Given, target: &Target) -> Result<Vec<Hop>> {
    given.check(&[kernel])?;
    let value = target.value(kernel)?;
    if !kernel.func().args.contains(&value) {
        let error = Error::request(format!("%{} is no input", target.name));
        return Err(error.missing_is(Missing::Input(target.name.clone())));
    }
    let tiles = kernel.outputs().into_iter().filter(|v| kernel.need(*v).is_tile());
    let (_, log) = run(kernel, given, tiles.collect())?;
    let (first, len) = target.bytes(kernel, value, given)?;
    let memory = match kernel.need(value) {
        Need::Buffer(..) => log.buffer(value),
        _ => Some(tessera_provenance::given(value)),
    };
    let Some(memory) = memory else {
        return Err(Error::request(format!("%{} has no contents to follow", target.name)));
    };
    let mut walk = Walk::new(kernel, given, &log, true);
    walk.spread((first..first + len).map(|b| (memory, b)).collect());
    Ok(walk.hops)
}

fn run(kernel: &Kernel, given: &Given, wanted: Vec<ValueId>) -> Result<(ProvenanceTracker, Log)> {
    let mut terms = Terms::as_written().within(given.bounds());
    let mut watch = given.run(kernel, &mut terms, &numbers(kernel), &wanted, Keep::Log, &|_| false)?;
    let log = watch.log.take().unwrap_or_default();
    if log.is_cut {
        let kept = log.events.len();
        let what = format!("{kept} steps were kept, and more of them take more than {} bytes", given.bounds().memory);
        return Err(Error::undecided(None, what).help("run fewer rounds, or allow more memory"));
    }
    watch.terms = terms;
    Ok((watch, log))
}

struct Walk<'a> {
    kernel: &'a Kernel,
    given: &'a Given,
    log: &'a Log,
    hops: Vec<Hop>,
    /// Whether the full path is requested.
    is_full: bool,
    /// Visited bytes, by place and the event that wrote them.
    seen: HashSet<(ByteAt, usize)>,
    is_cut: bool,
}

impl<'a> Walk<'a> {
    fn new(kernel: &'a Kernel, given: &'a Given, log: &'a Log, is_full: bool) -> Self {
        Walk { kernel, given, log, hops: Vec::new(), is_full, seen: HashSet::new(), is_cut: false }
    }

    /// A step of an event, or of nothing.
    fn hop(&self, event: Option<usize>, how: How, depth: usize) -> Hop {
        let event = event.and_then(|n| self.log.events.get(n));
        let loops = event.map_or(Vec::new(), |e| {
            let name = |v: &Option<ValueId>| v.map_or("round".to_string(), |v| format!("%{}", self.kernel.name(v)));
            e.now.loops.iter().map(|(v, i)| (name(v), *i)).collect()
        });
        let (op, block) = event.map_or((None, 0), |e| (e.now.op, e.now.block));
        Hop { op, block, loops, how, from: None, to: None, more: 0, depth }
    }

    /// The element that some bytes are, as an event names it.
    fn name(&self, event: usize, bytes: &[ByteAt], written: bool) -> String {
        let Some(first) = bytes.first() else { return String::new() };
        let len = bytes.len() as u64;
        match self.log.spot(event, *first, written) {
            Spot::Tile { value, core, row, col, byte } => {
                let core = if core == 1 { "@1" } else { "" };
                let element = format!("%{}{core}[{row}, {col}]", self.kernel.name(value));
                let size = self.kernel.elem(value).map_or(1, |elem| elem.bytes_of(1));
                match len == size {
                    true => element,
                    false if len == 1 => format!("byte {byte} of {element}"),
                    false => format!("{len} bytes from byte {byte} of {element} on"),
                }
            }
            Spot::Buffer { value, byte } | Spot::Given { value, byte } => {
                place(self.kernel, self.given, value, byte, len)
            }
            Spot::Nowhere => format!("{len} bytes at {:#x}", first.1),
        }
    }

    fn elem_at(&self, event: usize, at: ByteAt) -> Option<Elem> {
        match self.log.spot(event, at, true) {
            Spot::Tile { value, .. } | Spot::Buffer { value, .. } | Spot::Given { value, .. } => {
                self.kernel.elem(value)
            }
            Spot::Nowhere => None,
        }
    }

    /// Follows bytes that belong together back from an event.
    fn follow(&mut self, bytes: Vec<ByteAt>, before: usize, block: Option<u32>, name: Option<String>, depth: usize) {
        let (mut bytes, mut before, mut block, mut name) = (bytes, before, block, name);
        loop {
            if depth > DEPTH || self.hops.len() >= if self.is_full { ALL_HOPS } else { HOPS } {
                self.is_cut = true;
                return;
            }
            let sources: Vec<Option<(usize, Source)>> =
                bytes.iter().map(|b| self.log.writer(*b, before, block)).collect();
            let Some(first) = sources.first() else { return };
            let Some((event, source)) = first.clone() else {
                return match sources.iter().any(Option::is_some) {
                    true => self.split(bytes, before, block, depth),
                    false => self.origin(&bytes, before, name, depth),
                };
            };
            let same = sources.iter().all(|s| s.as_ref().is_some_and(|(e, s)| *e == event && alike(s, &source)));
            if !same {
                return self.split(bytes, before, block, depth);
            }
            let to = Some(self.name(event, &bytes, true)).filter(|_| depth > 0 || name.is_none()).or(name.take());
            let sources = sources.iter().flatten().map(|(_, source)| source);
            let (how, next): (How, Vec<ByteAt>) = match &source {
                Source::Copied(_) => {
                    let copied = |s: &Source| if let Source::Copied(at) = s { Some(*at) } else { None };
                    (How::Moved, sources.filter_map(copied).collect())
                }
                Source::Computed { function: function @ Function::Converted(_), operands, param } => {
                    let with = param.map(|p| {
                        let bytes: Vec<ByteAt> = (0..8).map(|k| (p.0, p.1 + k)).collect();
                        format!(", with the parameter {}", self.name(event, &bytes, false))
                    });
                    let how = How::Converted(function_text(function) + &with.unwrap_or_default());
                    let element =
                        operands.iter().find_map(|o| if let Read::Element(e) = o { Some(e.clone()) } else { None });
                    (how, element.unwrap_or_default())
                }
                Source::Computed { function, operands, .. } => {
                    return self.computed(function, operands, event, to, depth);
                }
                Source::Constant(_) => {
                    let constant = |s: &Source| if let Source::Constant(byte) = s { Some(*byte) } else { None };
                    let constants: Vec<u8> = sources.filter_map(constant).collect();
                    let elem = bytes.first().and_then(|b| self.elem_at(event, *b));
                    (How::Filled(constant_text(&constants, elem)), Vec::new())
                }
                Source::Clobbered => (How::Clobbered, Vec::new()),
                Source::Begun => (How::NeverWritten, Vec::new()),
            };
            let mut hop = self.hop(Some(event), how, depth);
            hop.to = to;
            if next.is_empty() {
                self.hops.push(hop);
                return;
            }
            let from = self.name(event, &next, false);
            hop.from = Some(from.clone());
            // Binding an input tile is no step of the program.
            if hop.op.is_some() {
                self.hops.push(hop);
            }
            block = self.log.events.get(event).map(|e| e.now.block);
            (bytes, before, name) = (next, event, Some(from));
        }
    }

    /// An element was computed here; the first of those that it was made of are followed, each once.
    fn computed(&mut self, function: &Function, operands: &[Read], event: usize, to: Option<String>, depth: usize) {
        let name = |o: &Read| match o {
            Read::Element(bytes) => Node::Element(self.name(event, bytes, false)),
            Read::Scalar(elem, bits) => Node::Constant(number_text(*elem, *bits)),
        };
        let formula = step(function, operands.iter().map(name).collect(), self.is_full);
        let mut hop = self.hop(Some(event), How::Computed(formula.text()), depth);
        hop.to = to;
        let elements = operands.iter().filter_map(|o| if let Read::Element(e) = o { Some(e) } else { None });
        let most = if self.is_full { usize::MAX } else { ELEMENTS };
        let shown: Vec<(Vec<ByteAt>, String)> =
            elements.clone().take(most).map(|e| (e.clone(), self.name(event, e, false))).collect();
        hop.more = (elements.count() - shown.len()) as u64;
        hop.from = Some(shown.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", "));
        self.hops.push(hop);
        let block = self.log.events.get(event).map(|e| e.now.block);
        for (bytes, name) in shown {
            let writer = bytes.first().and_then(|b| Some((*b, self.log.writer(*b, event, block)?.0)));
            if writer.is_none_or(|writer| self.seen.insert(writer)) {
                self.follow(bytes, event, block, Some(name), depth + 1);
            }
        }
    }

    /// The bytes go different ways from here.
    fn split(&mut self, bytes: Vec<ByteAt>, before: usize, block: Option<u32>, depth: usize) {
        for byte in bytes {
            self.follow(vec![byte], before, block, None, depth + 1);
        }
    }

    /// Nothing has written these bytes.
    fn origin(&mut self, bytes: &[ByteAt], before: usize, name: Option<String>, depth: usize) {
        let is_given = bytes.first().is_some_and(|(m, _)| is_buffer(*m));
        let how = if is_given { How::Input } else { How::NeverWritten };
        let mut hop = self.hop(None, how, depth);
        hop.to = Some(name.unwrap_or_else(|| self.name(before, bytes, false)));
        self.hops.push(hop);
    }

    /// Follows bytes forward through everything.
    fn spread(&mut self, start: Vec<ByteAt>) {
        // The place of the element, with the event that wrote it there.
        let mut here: Vec<(ByteAt, Option<usize>)> = start.iter().map(|b| (*b, None)).collect();
        let mut left: Vec<(ByteAt, Option<usize>)> = Vec::new();
        let mut block = 0;
        let log = self.log;
        for (n, event) in log.events.iter().enumerate() {
            if event.now.block != block {
                // The next block finds what there was before the first one.
                block = event.now.block;
                left.extend(here.drain(..).filter(|(at, by)| is_buffer(at.0) && by.is_some()));
                here.extend(start.iter().map(|b| (*b, None)));
            }
            let mut next: Vec<(ByteAt, Option<usize>)> = Vec::new();
            let mut arrived: Vec<(ByteAt, ByteAt, Option<Function>)> = Vec::new();
            let mut decides = Vec::new();
            for (at, by) in &here {
                let carried = event.carry(*at);
                next.extend(carried.is_kept.then_some((*at, *by)));
                decides.extend(carried.is_param.then_some(*at));
                arrived.extend(carried.to.into_iter().map(|(to, how)| (*at, to, how)));
            }
            for (_, to, _) in &arrived {
                next.retain(|(at, _)| at != to);
                next.push((*to, Some(n)));
            }
            here = next;
            if event.now.op.is_some() {
                self.arrivals(n, arrived);
                if !decides.is_empty() {
                    let mut hop = self.hop(Some(n), How::Parameter, 0);
                    hop.from = Some(self.name(n, &decides, false));
                    self.hops.push(hop);
                }
            }
        }
        here.extend(left);
        self.ends(here);
    }

    /// The steps of one event, element by element.
    fn arrivals(&mut self, event: usize, arrived: Vec<(ByteAt, ByteAt, Option<Function>)>) {
        let mut hops: Vec<Hop> = Vec::new();
        // A computed element depends on every byte of its arguments, byte for byte.
        let size = |f: &Option<Function>| match f {
            Some(Function::Converted(_)) | None => None,
            Some(f) => f.to().size().map(|n| n as usize),
        };
        let (mut computed, carried): (Vec<_>, Vec<_>) = arrived.into_iter().partition(|a| size(&a.2).is_some());
        let element = |a: &(ByteAt, ByteAt, Option<Function>)| (a.1.0, a.1.1 / size(&a.2).unwrap_or(1));
        computed.sort_by_key(|a| (element(a), a.1));
        let computed = computed.chunk_by(|a, b| element(a) == element(b)).map(<[_]>::to_vec);
        for group in runs(carried, |a| a.1).into_iter().chain(computed) {
            let Some((_, _, function)) = group.first().copied() else { continue };
            let mut from: Vec<ByteAt> = group.iter().map(|g| g.0).collect();
            let mut to: Vec<ByteAt> = group.iter().map(|g| g.1).collect();
            from.sort_unstable();
            from.dedup();
            to.dedup();
            let from = self.name(event, &from, false);
            let how = match function {
                None => How::Moved,
                Some(f @ Function::Converted(_)) => How::Converted(function_text(&f)),
                Some(f) => How::Computed(format!("{} of {from}", function_text(&f))),
            };
            let mut hop = self.hop(Some(event), how, 0);
            hop.from = Some(from);
            hop.to = Some(self.name(event, &to, true));
            if !hops.contains(&hop) {
                hops.push(hop);
            }
        }
        let more = hops.len().saturating_sub(SHOWN) as u64;
        hops.truncate(SHOWN);
        if let Some(last) = hops.last_mut() {
            last.more = more;
        }
        self.hops.extend(hops);
    }

    fn ends(&mut self, here: Vec<(ByteAt, Option<usize>)>) {
        let log = self.log;
        // A later block may have written over what an earlier one left.
        let stands = |(at, by): &(ByteAt, Option<usize>)| {
            by.is_some_and(|by| log.writer(*at, log.events.len(), None).is_some_and(|(e, _)| e == by))
        };
        let mut here: Vec<_> = here.into_iter().filter(stands).collect();
        here.sort_unstable();
        here.dedup();
        for group in runs(here, |h| h.0) {
            let event = group.first().and_then(|g| g.1);
            // A step that leaves it in its own place is not shown.
            if event.and_then(|e| log.events.get(e)).is_none_or(|e| e.now.op.is_none()) {
                continue;
            }
            let mut hop = self.hop(event, How::Ends, 0);
            let bytes: Vec<ByteAt> = group.iter().map(|g| g.0).collect();
            hop.to = Some(self.name(event.unwrap_or(log.events.len()), &bytes, true));
            self.hops.push(hop);
        }
    }
}

/// Groups of neighbouring bytes, at most eight: elements.
fn runs<T: Copy>(mut all: Vec<T>, at: impl Fn(&T) -> ByteAt) -> Vec<Vec<T>> {
    all.sort_by_key(|t| at(t));
    let mut groups: Vec<Vec<T>> = Vec::new();
    let joins = |(m, b): ByteAt, (memory, byte): ByteAt| m == memory && byte <= b + 1;
    for item in all {
        match groups.last_mut() {
            Some(group) if group.len() < 8 && group.last().is_some_and(|last| joins(at(last), at(&item))) => {
                group.push(item);
            }
            _ => groups.push(vec![item]),
        }
    }
    groups
}

/// Whether two bytes have the same kind of source, so that they are shown together.
fn alike(a: &Source, b: &Source) -> bool {
    match (a, b) {
        (Source::Copied(a), Source::Copied(b)) => a.0 == b.0,
        (Source::Constant(_), Source::Constant(_)) => true,
        (a, b) => a == b,
    }
}
