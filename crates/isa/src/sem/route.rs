//! Data-dependent steps: the bytes that a step moves and makes, once its data is known (isa/irregular.md).
//!
//! [`routes`] is the one definition of these instructions. Code that runs, checks or follows them calls it with the
//! current data. Bytes that are moved keep their definedness and their provenance; bytes that are made are values.
//! Nothing is written before all of it is known, so an index that is out of range leaves everything as it was.

use super::func::{best, compare};
use super::records::{Record, before, merge};
use super::{Mx, Random, Rect, irregular};
use crate::codec::{Number, Overflow};
use crate::diag::Fault;
use crate::elem::Elem;
use crate::inst::{Cmp, Inst, TileArg};
use crate::ops::Role;
use crate::profile::Profile;
use smallvec::SmallVec;
use std::cmp::Ordering;

/// A step whose data decides what goes where.
#[derive(Clone, Debug, PartialEq)]
pub struct Routed {
    pub how: Routing,
    /// The elements that may be read, by tile.
    pub reads: SmallVec<[(usize, Rect); 4]>,
    pub writes: SmallVec<[(usize, Rect); 2]>,
}

/// The way in which data, or the place alone, decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Routing {
    /// Consecutive integers in row 0.
    Count {
        start: i128,
        down: bool,
    },
    /// Ones on one side of a diagonal.
    Triangle {
        diagonal: i128,
        upper: bool,
    },
    Random(Random),
    /// Cumulative counts of one byte.
    Histogram {
        byte: u64,
    },
    /// Indices of what matches a value, and how many there are.
    Compare {
        /// The comparison of elements with the value.
        cmp: Cmp,
        /// The value, as an element of src.
        bits: u64,
        /// The number that is added to the indices.
        offset: i128,
    },
    /// Blocks of 32 bytes by offset.
    Blocks,
    /// Elements by the index of their destination.
    Scatter,
    /// Records of every 32 columns.
    Sort,
    /// Records of four neighbouring blocks.
    MergeBlocks {
        length: u64,
    },
    MergeLists {
        /// Whether merging stops when a list is used up.
        exhausted: bool,
    },
    /// The greater or smaller of two values, with its index.
    Pick {
        greatest: bool,
    },
    /// Elements by the exponent that their group shares.
    QuantizeMx(Mx),
    /// Exponents in the order in which the matrix unit reads them.
    Exponents {
        /// Whether their groups lie along the rows.
        by_rows: bool,
    },
}

impl Routing {
    /// Whether element (i, j) of every destination depends on elements (i, j) alone, so that it may work in place.
    pub fn is_by_element(self) -> bool {
        matches!(self, Routing::Pick { .. })
    }

    /// The operands whose contents decide what goes where or what is made.
    pub fn deciders(self) -> &'static [Role] {
        match self {
            Routing::Count { .. } | Routing::Triangle { .. } | Routing::Random(_) | Routing::Exponents { .. } => &[],
            Routing::QuantizeMx(_) => &[Role::Src],
            Routing::Histogram { .. } => &[Role::Src, Role::Idx],
            Routing::Compare { .. } | Routing::Sort | Routing::MergeBlocks { .. } => &[Role::Src],
            Routing::Blocks | Routing::Scatter => &[Role::Idx],
            Routing::MergeLists { .. } => &[Role::Src0, Role::Src1, Role::Src2, Role::Src3],
            Routing::Pick { .. } => &[Role::Src0, Role::Src1],
        }
    }
}

/// Bytes of a destination and what they become. Offsets count bytes from a tile's first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub dst: usize,
    pub to: i64,
    /// The number of bytes, at most 8 of a value.
    pub len: u64,
    pub from: From,
}

/// The source of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The bytes of a tile, from a byte on.
    Tile(usize, i64),
    /// A value, lowest byte first.
    Value(u64),
    Undefined,
}

/// The routes of a step with its data; later routes take precedence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routes {
    pub all: Vec<Route>,
    /// A warning about data that is legal.
    pub warning: Option<Box<Fault>>,
}

/// Reads the given number of bits of a tile's bytes from an offset on, if all are defined.
pub type Read<'a> = &'a dyn Fn(usize, i64, u64) -> Option<u64>;

/// The routes of a step with this data.
pub fn routes(inst: &Inst, how: Routing, read: Read<'_>) -> Result<Routes, Box<Fault>> {
    let mut data = Data { inst, read, routes: Routes::default() };
    let missing = || format!("{} runs without an operand, or without knowing its extents", inst.op.title());
    data.route(how).unwrap_or_else(|| Err(Box::new(Fault::new("internal", missing()))))?;
    Ok(data.routes)
}

/// `None`: an operand is missing, or its extents are unknown.
pub(super) type Done = Option<Result<(), Box<Fault>>>;

/// Gives up with the fault.
macro_rules! known {
    ($value:expr) => {
        match $value {
            Ok(value) => value,
            Err(fault) => return Some(Err(fault)),
        }
    };
}

pub(super) struct Data<'a> {
    pub inst: &'a Inst,
    read: Read<'a>,
    routes: Routes,
}

/// An operand with its position and valid region.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a> {
    number: usize,
    arg: &'a TileArg,
    pub elem: Elem,
    size: u64,
    pub valid: [u64; 2],
}

impl Tile<'_> {
    /// The byte of an element.
    fn at(&self, r: u64, c: u64) -> i64 {
        self.arg.layout.offset(r, c).saturating_mul(self.size as i64)
    }
}

impl<'a> Data<'a> {
    pub fn tile(&self, role: Role) -> Option<Tile<'a>> {
        let number = self.inst.tile_index(role)?;
        let arg = self.inst.tiles.get(number)?;
        Some(Tile { number, arg, elem: arg.tile.elem, size: arg.tile.elem.size()?, valid: arg.known_valid()? })
    }

    /// An element, where it is defined.
    pub fn element(&self, tile: Tile<'_>, r: u64, c: u64) -> Option<u64> {
        (self.read)(tile.number, tile.at(r, c), tile.size)
    }

    /// An element that decides something.
    fn decider(&self, tile: Tile<'_>, r: u64, c: u64) -> Result<u64, Box<Fault>> {
        self.element(tile, r, c).ok_or_else(|| {
            let role = tile.arg.role;
            let title = self.inst.op.title();
            let what = format!("{role}({r}, {c}) was never written, and it decides what {title} does");
            Box::new(Fault::new("undefined-use", what).help(format!("write {role} first")).on(tile.number))
        })
    }

    pub fn push(&mut self, dst: usize, to: i64, len: u64, from: From) {
        if let (Some(last), From::Tile(tile, at)) = (self.routes.all.last_mut(), from)
            && last.dst == dst
            && last.to + last.len as i64 == to
            && let From::Tile(before, start) = last.from
            && before == tile
            && start + last.len as i64 == at
        {
            last.len += len;
            return;
        }
        self.routes.all.push(Route { dst, to, len, from });
    }

    pub fn put(&mut self, dst: Tile<'_>, (r, c): (u64, u64), from: From) {
        self.push(dst.number, dst.at(r, c), dst.size, from);
    }

    /// The rule of the instruction's row with this ending, broken by data.
    fn fault(&self, suffix: &str, on: usize, what: String, help: String) -> Box<Fault> {
        let found = self.inst.op.info().rules.iter().find(|r| r.id.ends_with(suffix));
        Box::new(Fault::new(found.map_or("internal", |r| r.id), what).help(help).on(on))
    }

    fn route(&mut self, how: Routing) -> Done {
        match how {
            Routing::Count { .. } | Routing::Triangle { .. } | Routing::Random(_) => self.made(how),
            Routing::Histogram { byte } => self.histogram(byte),
            Routing::Compare { cmp, bits, offset } => self.compare(cmp, bits, offset),
            Routing::Blocks => self.blocks(),
            Routing::Scatter => self.scatter(),
            Routing::Sort => self.sort(),
            Routing::MergeBlocks { length } => self.merge_blocks(length),
            Routing::MergeLists { exhausted } => self.merge_lists(exhausted),
            Routing::Pick { greatest } => self.pick(greatest),
            Routing::QuantizeMx(mx) => self.quantize_mx(mx),
            Routing::Exponents { by_rows } => self.exponents(by_rows),
        }
    }

    /// Elements that are a function of their place.
    fn made(&mut self, how: Routing) -> Done {
        let dst = self.tile(Role::Dst)?;
        let [rows, cols] = dst.valid;
        for i in 0..rows {
            for j in 0..cols {
                let bits = match how {
                    Routing::Count { start, down } => {
                        let j = i128::from(j);
                        (if down { start - j } else { start + j }) as u64
                    }
                    Routing::Triangle { diagonal, upper } => {
                        let (edge, j) = (i128::from(i) + diagonal, i128::from(j));
                        let is_one = if upper { j >= edge } else { j <= edge };
                        dst.elem.encode_int(is_one.into(), Overflow::Infinity)
                    }
                    Routing::Random(random) => random.word(i, j, cols).into(),
                    _ => 0,
                };
                self.put(dst, (i, j), From::Value(bits & dst.elem.mask()));
            }
        }
        Some(Ok(()))
    }

    fn histogram(&mut self, byte: u64) -> Done {
        let (src, idx, dst) = (self.tile(Role::Src)?, self.tile(Role::Idx)?, self.tile(Role::Dst)?);
        for i in 0..src.valid[0] {
            let elements: Vec<Option<u64>> = (0..src.valid[1]).map(|j| self.element(src, i, j)).collect();
            // Bytes above the counted one that the filter names, the highest first.
            let mut filter = Vec::new();
            for above in (byte + 1..src.size).rev() {
                let (r, c) = if src.size == 2 { (i, 0) } else { (src.size - 1 - above, 0) };
                if !elements.is_empty() {
                    filter.push((above, known!(self.decider(idx, r, c))));
                }
            }
            let passes = |x: u64| filter.iter().all(|(above, wanted)| x >> (8 * above) & 0xFF == *wanted);
            let mut counts = [0u64; 256];
            for x in elements.iter().flatten().filter(|x| passes(**x)) {
                if let Some(count) = counts.get_mut((x >> (8 * byte) & 0xFF) as usize) {
                    *count += 1;
                }
            }
            let is_known = !elements.contains(&None);
            let mut sum = 0;
            for (bin, count) in (0..).zip(counts) {
                sum += count;
                self.put(dst, (i, bin), if is_known { From::Value(sum) } else { From::Undefined });
            }
        }
        Some(Ok(()))
    }

    fn compare(&mut self, cmp: Cmp, bits: u64, offset: i128) -> Done {
        let (src, dst, counts) = (self.tile(Role::Src)?, self.tile(Role::Dst)?, self.tile(Role::Cdst)?);
        for i in 0..src.valid[0] {
            let mut matches = 0;
            for j in 0..src.valid[1] {
                let x = known!(self.decider(src, i, j));
                if !compare(cmp, (src.elem, x), (src.elem, bits)) {
                    continue;
                }
                let index = offset + i128::from(i * src.arg.tile.cols + j);
                if matches < dst.valid[1] {
                    self.put(dst, (i, matches), From::Value(index as u64 & dst.elem.mask()));
                }
                matches += 1;
            }
            if matches > dst.valid[1] {
                let what = format!("row {i} of src has {matches} matches, and dst has {} valid columns", dst.valid[1]);
                let help = format!("give dst at least {matches} valid columns");
                return Some(Err(self.fault("-room", dst.number, what, help)));
            }
            let place = irregular::stored(self.inst, counts.number, i)?;
            self.put(counts, place, From::Value(matches & counts.elem.mask()));
        }
        Some(Ok(()))
    }

    fn blocks(&mut self) -> Done {
        let (idx, dst) = (self.tile(Role::Idx)?, self.tile(Role::Dst)?);
        let number = self.inst.tile_index(Role::Src)?;
        let src = self.inst.tiles.get(number)?;
        let (bytes, bits, c0) = (src.tile.bytes(), u64::from(src.tile.elem.bits()), dst.elem.c0());
        let is_whole = src.layout == src.tile.layout();
        for i in 0..dst.valid[0] {
            for b in 0..dst.valid[1] / c0 {
                let offset = known!(self.decider(idx, i, b));
                let aligned = !self.inst.profile.is_npu() || offset.is_multiple_of(32);
                if offset + 32 > bytes || !aligned {
                    let what = match aligned {
                        true => format!("the offset idx({i}, {b}) is {offset}, and src has {bytes} bytes"),
                        false => format!("the offset idx({i}, {b}) is {offset}, which is no multiple of 32"),
                    };
                    let help = "give offsets of whole blocks of 32 bytes inside src".to_string();
                    return Some(Err(self.fault("-index", idx.number, what, help)));
                }
                let to = dst.at(i, b * c0);
                if is_whole {
                    self.push(dst.number, to, 32, From::Tile(number, offset as i64));
                    continue;
                }
                // A window of another tile keeps its pitch, so its bytes do not lie one after the other.
                for byte in offset..offset + 32 {
                    let (r, c) = irregular::stored(self.inst, number, byte * 8 / bits)?;
                    let at =
                        src.layout.offset(r, c).saturating_mul(bits as i64) / 8 + (byte % (bits / 8).max(1)) as i64;
                    self.push(dst.number, to + (byte - offset) as i64, 1, From::Tile(number, at));
                }
            }
        }
        Some(Ok(()))
    }

    fn scatter(&mut self) -> Done {
        let (src, idx, dst) = (self.tile(Role::Src)?, self.tile(Role::Idx)?, self.tile(Role::Dst)?);
        let [rows, cols] = [dst.arg.tile.rows, dst.arg.tile.cols];
        let mut first = vec![None; usize::try_from(rows * cols).ok()?];
        for i in 0..src.valid[0] {
            for j in 0..src.valid[1] {
                let bits = known!(self.decider(idx, i, j));
                let Number::Int(index) = idx.elem.decode(bits) else { return None };
                let seen = usize::try_from(index).ok().and_then(|k| first.get_mut(k));
                let (Ok(k), Some(seen)) = (u64::try_from(index), seen) else {
                    let last = (rows * cols).saturating_sub(1);
                    let what = format!(
                        "the index idx({i}, {j}) is {index}, and dst has elements 0 to {last} ({rows} rows of {cols})"
                    );
                    let help = "give indices of the declared area of dst".to_string();
                    return Some(Err(self.fault("-index", idx.number, what, help)));
                };
                let is_new = self.inst.profile == Profile::A5 && self.routes.warning.is_none();
                if let (Some((r, c)), true) = (*seen, is_new) {
                    let what = format!(
                        "idx({r}, {c}) and idx({i}, {j}) are both {k}: hardware's order is open, here the last one stays"
                    );
                    let fault =
                        self.fault("-duplicate", idx.number, what, "give each element an index of its own".into());
                    self.routes.warning = Some(fault);
                }
                *seen = Some((i, j));
                self.put(dst, (k / cols, k % cols), From::Tile(src.number, src.at(i, j)));
            }
        }
        Some(Ok(()))
    }

    fn sort(&mut self) -> Done {
        let (src, idx, dst) = (self.tile(Role::Src)?, self.tile(Role::Idx)?, self.tile(Role::Dst)?);
        let p = 8 / dst.size;
        for i in 0..src.valid[0] {
            let row = if idx.valid[0] == src.valid[0] { i } else { 0 };
            let mut first = 0;
            while first < src.valid[1] {
                let end = (first + 32).min(src.valid[1]);
                let mut keys = Vec::new();
                for j in first..end {
                    keys.push((j, (src.elem, known!(self.decider(src, i, j)))));
                }
                keys.sort_by(|a, b| before(a.1, b.1));
                for (n, (j, _)) in (first..).zip(keys) {
                    let to = dst.at(i, p * n);
                    self.push(dst.number, to, src.size, From::Tile(src.number, src.at(i, j)));
                    if src.size < 4 {
                        self.push(dst.number, to + 2, 2, From::Value(0));
                    }
                    self.push(dst.number, to + 4, 4, From::Tile(idx.number, idx.at(row, j)));
                }
                first = end;
            }
        }
        Some(Ok(()))
    }

    /// The records of some columns of a one-row tile: their values, and where they lie.
    fn records(&self, tile: Tile<'_>, first: u64, end: u64) -> Result<Vec<Record>, Box<Fault>> {
        let p = 8 / tile.size;
        let record = |n| {
            let value = self.decider(tile, 0, p * n)?;
            Ok(Record { value: (tile.elem, value), from: From::Tile(tile.number, tile.at(0, p * n)) })
        };
        (first / p..end / p).map(record).collect()
    }

    /// Warns of a list that is merged and is not sorted. It is merged all the same (isa/irregular.md 6).
    fn note_order(&mut self, tile: Tile<'_>, first: u64, list: &[Record]) {
        let is_behind = |pair: &[Record]| matches!(pair, [x, y] if before(x.value, y.value) == Ordering::Greater);
        let Some(n) = list.windows(2).position(is_behind).filter(|_| self.routes.warning.is_none()) else { return };
        let p = 8 / tile.size;
        let (at, role) = (first + p * n as u64, tile.arg.role);
        let next = at + p;
        let what = format!(
            "{role} is not sorted: the value in column {next} comes before that in column {at}, so what is merged is not sorted"
        );
        let help = "sort each list first, the greatest value first; tsort32 gives such records".to_string();
        self.routes.warning = Some(self.fault("-unsorted", tile.number, what, help));
    }

    fn merge_blocks(&mut self, length: u64) -> Done {
        let (src, dst) = (self.tile(Role::Src)?, self.tile(Role::Dst)?);
        for group in 0..src.valid[1] / (4 * length) {
            let first = 4 * length * group;
            let mut lists = Vec::new();
            for block in 0..4 {
                let start = first + block * length;
                let list = known!(self.records(src, start, start + length));
                self.note_order(src, start, &list);
                lists.push(list);
            }
            let (merged, _) = merge(&lists, false);
            for (n, from) in (0..).zip(merged) {
                self.push(dst.number, dst.at(0, first) + 8 * n, 8, from);
            }
        }
        Some(Ok(()))
    }

    fn merge_lists(&mut self, exhausted: bool) -> Done {
        let (dst, executed) = (self.tile(Role::Dst)?, self.tile(Role::Executed)?);
        let mut lists = Vec::new();
        for role in [Role::Src0, Role::Src1, Role::Src2, Role::Src3] {
            if let Some(tile) = self.tile(role) {
                let list = known!(self.records(tile, 0, tile.valid[1]));
                self.note_order(tile, 0, &list);
                lists.push(list);
            }
        }
        let (merged, taken) = merge(&lists, exhausted);
        let room = dst.valid[1] * dst.size / 8;
        for (n, from) in (0..room as i64).zip(merged) {
            self.push(dst.number, dst.at(0, 0) + 8 * n, 8, from);
        }
        for (k, count) in (0..).zip(taken) {
            self.put(executed, (0, k), From::Value(count & 0xFFFF));
        }
        Some(Ok(()))
    }

    fn pick(&mut self, greatest: bool) -> Done {
        let values = [self.tile(Role::Src0)?, self.tile(Role::Src1)?];
        let indices = [self.tile(Role::Src0Idx)?, self.tile(Role::Src1Idx)?];
        let (dst, dst_idx) = (self.tile(Role::Dst)?, self.tile(Role::DstIdx)?);
        for i in 0..dst.valid[0] {
            for j in 0..dst.valid[1] {
                let [x, y] = values.map(|v| i < v.valid[0] && j < v.valid[1]);
                let taken = match (x, y) {
                    (true, true) => {
                        let [x, y] = values.map(|v| self.element(v, i, j).map(|bits| (v.elem, bits)));
                        x.zip(y).and_then(|(x, y)| best(greatest, [x, y].into_iter())).map(|(place, _)| place as usize)
                    }
                    (true, false) => Some(0),
                    (false, true) => Some(1),
                    (false, false) => {
                        self.put(dst, (i, j), From::Value(0));
                        self.put(dst_idx, (i, j), From::Value(0));
                        continue;
                    }
                };
                for (sources, dst) in [(&values, dst), (&indices, dst_idx)] {
                    let source = taken.and_then(|n| sources.get(n));
                    let from = source.map_or(From::Undefined, |s| From::Tile(s.number, s.at(i, j)));
                    self.put(dst, (i, j), from);
                }
            }
        }
        Some(Ok(()))
    }
}
