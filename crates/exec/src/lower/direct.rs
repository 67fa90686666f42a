//! Scatters, sorts and merges (isa/irregular.md 4 and 6) of tiles that are stored row by row: the same bytes as their
//! routes produce, without listing the routes. Undefined, out-of-range and warned cases use the routes.

use crate::lower::operand;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;
use tessera_isa::ops::{AttrName, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Routing;
use tessera_kernels::memory::{ByteSet, Memories, Memory};
use tessera_kernels::{MemoryId, Place, are_below, fold_indices, is_sorted, merge, scatter, sort};

/// Bytes of a record.
const RECORD: usize = 8;

/// Rows of a tile, in bytes.
#[derive(Clone, Copy, Debug)]
struct Rows {
    operand: u8,
    elem: Elem,
    rows: usize,
    /// Of a row's valid columns, and from one row to the next.
    len: usize,
    pitch: usize,
}

impl Rows {
    fn of(inst: &Inst, role: Role) -> Option<Rows> {
        let number = inst.tile_index(role)?;
        let arg = inst.tiles.get(number)?;
        let ([row], [column]) = (arg.layout.row.digits.as_slice(), arg.layout.col.digits.as_slice()) else {
            return None;
        };
        let (elem, size) = (arg.tile.elem, usize::try_from(arg.tile.elem.size()?).ok()?);
        let [rows, columns] = [usize::try_from(arg.valid[0]?).ok()?, usize::try_from(arg.valid[1]?).ok()?];
        let pitch = usize::try_from(row.stride).ok()?.checked_mul(size)?;
        (column.stride == 1).then_some(Rows { operand: operand(number, 0), elem, rows, len: columns * size, pitch })
    }

    /// The bytes of a row, in a memory in which the tile starts at byte `at`.
    fn row(&self, at: usize, row: usize) -> Range<usize> {
        let first = at + row * self.pitch;
        first..first + self.len
    }

    /// Whether all of it is in bounds, and defined.
    fn is_whole(&self, memories: &Memories, places: &[Place]) -> bool {
        let Some((at, memory)) = memories.operand(places, self.operand) else { return false };
        (0..self.rows).all(|row| {
            let bytes = self.row(at, row);
            let is_defined = !memories.tracked || memory.defined().has_all(bytes.start, bytes.len());
            is_defined && memory.bytes().get(bytes).is_some()
        })
    }

    /// Its memory and its bytes, where there is nothing between its rows.
    fn dense(&self, places: &[Place]) -> Option<(MemoryId, Range<usize>)> {
        let place = places.get(usize::from(self.operand))?;
        let is_dense = self.rows <= 1 || self.pitch == self.len;
        is_dense.then_some((place.memory, place.at..place.at + self.rows * self.len))
    }

    /// Its rows, one after the other; `None` where they leave the memory.
    fn bytes<'m>(&self, memories: &'m Memories, places: &[Place]) -> Option<Cow<'m, [u8]>> {
        let (at, memory) = memories.operand(places, self.operand)?;
        if let Some((_, bytes)) = self.dense(places) {
            return Some(Cow::Borrowed(memory.bytes().get(bytes)?));
        }
        let mut all = Vec::with_capacity(self.rows * self.len);
        for row in 0..self.rows {
            all.extend_from_slice(memory.bytes().get(self.row(at, row))?);
        }
        Some(Cow::Owned(all))
    }
}

/// Such an instruction.
#[derive(Clone, Debug)]
pub struct Direct {
    what: DirectOp,
    /// The operands read, and the operand written.
    sources: SmallVec<[Rows; 4]>,
    dst: Rows,
}

#[derive(Clone, Copy, Debug)]
enum DirectOp {
    /// A scatter into `elements` elements; if `once`, a repeated index is worth a warning.
    Scatter {
        elements: usize,
        once: bool,
    },
    Sort,
    /// Merges blocks of `len` bytes, four by four.
    MergeBlocks {
        len: usize,
    },
    MergeLists {
        exhausted: bool,
        executed: Rows,
    },
}

impl Direct {
    pub fn new(inst: &Inst, how: Routing) -> Option<Direct> {
        let rows = |role| Rows::of(inst, role);
        let dst = rows(Role::Dst)?;
        let (what, sources): (DirectOp, SmallVec<[Rows; 4]>) = match how {
            Routing::Scatter => {
                let tile = inst.dst()?.tile;
                let elements = usize::try_from(tile.rows.checked_mul(tile.cols)?).ok()?;
                let is_linear = dst.pitch as u64 == tile.cols * tile.elem.size()?;
                let once = inst.profile == Profile::A5;
                (
                    is_linear.then_some(DirectOp::Scatter { elements, once })?,
                    SmallVec::from_slice(&[rows(Role::Src)?, rows(Role::Idx)?]),
                )
            }
            Routing::Sort => (DirectOp::Sort, SmallVec::from_slice(&[rows(Role::Src)?, rows(Role::Idx)?])),
            Routing::MergeBlocks { length } => {
                let src = rows(Role::Src)?;
                let len = usize::try_from(length.checked_mul(src.elem.size()?)?).ok()?;
                (DirectOp::MergeBlocks { len }, SmallVec::from_slice(&[src]))
            }
            Routing::MergeLists { exhausted: _ } => {
                let what = DirectOp::MergeLists {
                    exhausted: inst.attrs.flag(AttrName::Exhausted),
                    executed: rows(Role::Executed)?,
                };
                let roles = [Role::Src0, Role::Src1, Role::Src2, Role::Src3].into_iter();
                let lists = roles.filter(|role| inst.tile_index(*role).is_some());
                (what, lists.map(rows).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        Some(Direct { what, sources, dst })
    }

    /// Whether everything that is read is defined, and every index in range.
    pub fn is_ready(&self, memories: &Memories, places: &[Place]) -> bool {
        let is_whole = self.sources.iter().all(|rows| rows.is_whole(memories, places));
        match (self.what, self.sources.as_slice()) {
            (DirectOp::Scatter { elements, once }, [_, idx]) if is_whole => {
                let Some(indices) = idx.bytes(memories, places) else { return false };
                are_below(idx.elem, &indices, elements) && !(once && has_twice(idx.elem, &indices, elements))
            }
            // Of lists that are not sorted the other way warns.
            (DirectOp::MergeBlocks { len }, [src]) => {
                let is_whole = is_whole && len > 0 && len % RECORD == 0;
                is_whole
                    && src.bytes(memories, places).is_some_and(|b| b.chunks(len).all(|list| is_sorted(src.elem, list)))
            }
            (DirectOp::MergeLists { .. }, lists) if is_whole && lists.len() <= 4 => {
                let is_sorted =
                    |rows: &Rows| rows.bytes(memories, places).is_some_and(|list| is_sorted(rows.elem, &list));
                lists.iter().all(is_sorted)
            }
            _ => is_whole && self.sources.len() <= 4,
        }
    }

    /// Moves the bytes.
    pub fn run(&self, memories: &mut Memories, places: &[Place]) -> Option<()> {
        let tracked = memories.tracked;
        match (self.what, self.sources.as_slice()) {
            (DirectOp::Scatter { elements, .. }, [src, idx]) => {
                let size = usize::try_from(self.dst.elem.size()?).ok()?;
                let place = places.get(usize::from(self.dst.operand))?;
                let to = place.at..place.at + elements * size;
                let defined = memories.get(place.memory)?.defined();
                let is_marked = tracked && !defined.has_all(to.start, to.len());
                let put = |values: &[u8], indices: &[u8], out: &mut [u8], defined: &ByteSet| {
                    let there = if is_marked { defined.elements(to.start, size) } else { None };
                    let were_there = scatter(size, idx.elem, values, indices, out, there);
                    (is_marked && !were_there).then(|| marks(idx.elem, indices, elements))
                };
                // Sources in the same memory are read in place.
                let there = |rows: &Rows| rows.dense(places).filter(|(memory, _)| *memory == place.memory);
                let (bytes, defined) = memories.get_mut(place.memory)?.bytes_and_defined();
                let marks = if let (Some((_, values)), Some((_, indices))) = (there(src), there(idx))
                    && let Ok([values, indices, out]) = bytes.get_disjoint_mut([values, indices, to.clone()])
                {
                    put(values, indices, out, defined)
                } else {
                    let values = src.bytes(memories, places)?.into_owned();
                    let indices = idx.bytes(memories, places)?.into_owned();
                    let (bytes, defined) = memories.get_mut(place.memory)?.bytes_and_defined();
                    put(&values, &indices, bytes.get_mut(to.clone())?, defined)
                };
                if let Some(marks) = marks {
                    memories.get_mut(place.memory)?.defined_mut().insert_elements(to.start, size, &marks);
                }
            }
            (DirectOp::Sort, [src, idx]) => {
                let (values, indices) = (src.bytes(memories, places)?, idx.bytes(memories, places)?);
                let (records, per_row) = (src.len / usize::try_from(src.elem.size()?).ok()? * RECORD, idx.len.max(1));
                let mut out = vec![0; src.rows * records];
                for (row, out) in out.chunks_exact_mut(records.max(1)).enumerate() {
                    // One row of indices may serve all rows of values.
                    let first = if idx.rows == src.rows { row * per_row } else { 0 };
                    sort(src.elem, &values[row * src.len..][..src.len], indices.get(first..first + idx.len)?, out);
                }
                let (at, memory) = memories.operand_mut(places, self.dst.operand)?;
                for (row, from) in out.chunks_exact(records.max(1)).enumerate() {
                    write(memory, at + row * self.dst.pitch, from, tracked)?;
                }
            }
            (DirectOp::MergeBlocks { len }, [src]) => {
                let records = src.bytes(memories, places)?;
                let mut out = Vec::with_capacity(records.len() / RECORD);
                for group in records.chunks_exact(4 * len) {
                    let blocks = [0, 1, 2, 3].map(|n: usize| &group[n * len..][..len]);
                    out.extend(picked(group, &merge(src.elem, blocks))?);
                }
                let (at, memory) = memories.operand_mut(places, self.dst.operand)?;
                write(memory, at, out.as_flattened(), tracked)?;
            }
            (DirectOp::MergeLists { exhausted, executed }, sources) => {
                let mut lists = [Cow::default(), Cow::default(), Cow::default(), Cow::default()];
                for (list, source) in lists.iter_mut().zip(sources) {
                    *list = source.bytes(memories, places)?;
                }
                let mut merged = merge(self.dst.elem, lists.each_ref().map(|list| &**list));
                let mut ends = [0; 4];
                for n in 0..4 {
                    ends[n] = lists[..=n].iter().map(|list| list.len() / RECORD).sum();
                }
                let list_of = |n: u32| ends.iter().position(|end| (n as usize) < *end);
                if exhausted {
                    merged.truncate(until_exhausted(&merged, &ends[..sources.len()]));
                }
                let mut taken = [0u16; 4];
                for n in &merged {
                    let list = &mut taken[list_of(*n)?];
                    *list = list.wrapping_add(1);
                }
                merged.truncate(self.dst.len / RECORD);
                let out = picked(&lists.concat(), &merged)?;
                let (at, memory) = memories.operand_mut(places, self.dst.operand)?;
                write(memory, at, out.as_flattened(), tracked)?;
                let (at, memory) = memories.operand_mut(places, executed.operand)?;
                let counts: Vec<u8> = taken.iter().flat_map(|count| count.to_le_bytes()).collect();
                write(memory, at, &counts, tracked)?;
            }
            _ => return None,
        }
        Some(())
    }
}

/// The number of records that are taken until one of the lists, which end at `ends`, is exhausted.
fn until_exhausted(merged: &[u32], ends: &[usize]) -> usize {
    let mut start = 0;
    let mut until = merged.len();
    for end in ends {
        let last = merged.iter().position(|n| *n as usize + 1 == *end).filter(|_| *end > start);
        until = until.min(last.map_or(0, |at| at + 1));
        start = *end;
    }
    until
}

/// 0xFF for every element that an index names.
fn marks(elem: Elem, indices: &[u8], elements: usize) -> Vec<u8> {
    let mut marks = vec![0; elements];
    fold_indices(elem, indices, (), |(), k| marks.get_mut(k).into_iter().for_each(|mark| *mark = 0xFF));
    marks
}

/// Whether an index occurs twice.
fn has_twice(elem: Elem, indices: &[u8], elements: usize) -> bool {
    let named = marks(elem, indices, elements).into_iter().filter(|mark| *mark != 0).count();
    named < indices.len() / (elem.bits() as usize / 8)
}

/// Records by their numbers.
fn picked(records: &[u8], which: &[u32]) -> Option<Vec<[u8; RECORD]>> {
    let records = records.as_chunks::<RECORD>().0;
    which.iter().map(|n| records.get(*n as usize).copied()).collect()
}

/// Writes defined bytes.
fn write(memory: &mut Memory, at: usize, bytes: &[u8], tracked: bool) -> Option<()> {
    memory.as_mut().get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
    if tracked {
        memory.defined_mut().insert(at, bytes.len());
    }
    Some(())
}
