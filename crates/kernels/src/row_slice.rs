//! Parts of an instruction: the same work on a share of its rows, so that several instructions can go through the data
//! together.

use super::fold::{BoundRowFold, RowFoldPlan};
use super::fused::{BoundRegisterOps, Fused};
use super::map::BoundMap;
use super::product::Product;
use crate::Place;
use crate::nest::OutOfBounds;
use crate::nest::{DST, Nest, SRC};
use crate::pair::start;
use crate::plan::sides;
use crate::{Kernel, Level, MapKernel, PackedKernel, PackedOp};
use smallvec::SmallVec;
use std::sync::Arc;

/// The work of an instruction, or the first of several equal parts of it.
#[derive(Clone, Debug)]
pub struct RowSlice {
    kernel: Work,
    /// The operands, the written one first.
    pub sides: SmallVec<[Side; 4]>,
    /// The rounds of its outermost loop: it can be divided by what divides them.
    pub rounds: u64,
    /// With fewer rounds it is slow: rows are folded several at a time.
    pub least: u64,
}

/// The number of rows that are folded at a time.
const ROWS: u64 = 16;

#[derive(Clone, Debug)]
enum Work {
    Map(Box<MapKernel>),
    Copy(Box<(Kernel, Nest)>),
    Fold(Arc<PackedKernel>),
    Product(Box<Product>),
}

/// An instruction's operation on each element.
pub(super) enum ElementOp<'a> {
    Copy,
    Map(&'a MapKernel),
}

/// An operand of a part.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Its number.
    pub operand: u8,
    /// The bytes that the part touches lie between these two, from where the operand starts.
    pub span: (i64, i64),
    /// The distance to the start of the next part.
    pub step: i64,
}

/// An instruction of several that go through the data together.
#[derive(Clone, Debug)]
pub struct FusedOp {
    pub part: RowSlice,
    /// The places of its operands.
    pub places: SmallVec<[Place; 8]>,
    /// The places of its operands in the scratch memory, by side: the byte there that stands for the first one of the
    /// span, while a strip is processed; the next strip uses the same bytes.
    pub homes: SmallVec<[Option<usize>; 4]>,
}

impl FusedOp {
    pub fn new(part: RowSlice, places: SmallVec<[Place; 8]>) -> FusedOp {
        FusedOp { part, places, homes: SmallVec::new() }
    }

    fn home(&self, side: usize) -> Option<usize> {
        self.homes.get(side).copied().flatten()
    }
}

impl RowSlice {
    /// All of a computing nest that the machine has vectors for.
    pub fn of_map(operands: &[u8], kernel: &MapKernel) -> Option<RowSlice> {
        RowSlice::map(operands, kernel, kernel.vectors()?.clone(), 1)
    }

    fn map(operands: &[u8], kernel: &MapKernel, nest: Nest, parts: u64) -> Option<RowSlice> {
        let (nest, sides, rounds) = divided(operands, nest, parts)?;
        Some(RowSlice { kernel: Work::Map(Box::new(kernel.over(nest))), sides, rounds, least: 1 })
    }

    /// All of a copy, of rows or of elements that change places.
    pub fn of_copy(src: u8, dst: u8, nest: &Nest) -> Option<RowSlice> {
        let is_one = nest.bits[DST] == nest.bits[SRC];
        is_one.then(|| RowSlice::copy(&[dst, src], nest.clone(), 1))?
    }

    fn copy(operands: &[u8], nest: Nest, parts: u64) -> Option<RowSlice> {
        let (nest, sides, rounds) = divided(operands, nest, parts)?;
        let kernel = Kernel::new(&nest, Level::best());
        Some(RowSlice { kernel: Work::Copy(Box::new((kernel, nest))), sides, rounds, least: 1 })
    }

    /// All of a fold of rows, or of a product.
    pub fn of_staged(staged: &PackedKernel) -> Option<RowSlice> {
        RowSlice::fold(staged, 1).or_else(|| RowSlice::of_product(staged.product.as_ref()?))
    }

    fn fold(staged: &PackedKernel, parts: u64) -> Option<RowSlice> {
        let (PackedOp::Reduce { func, to, extent: [rows, 1, depth], starts: false }, [input]) =
            (staged.what, staged.inputs.as_slice())
        else {
            return None;
        };
        let ([from], [into], Some(_)) = (input.nests.as_slice(), staged.output.nests.as_slice(), input.rows) else {
            return None;
        };
        let (mut from, mut into) = (from.clone(), into.clone());
        // The buffer has a column for each row (`FusedStage::rows_of`), so its own rows become shorter.
        let ([along, across], [out]) = (from.dims.as_mut_slice(), into.dims.as_mut_slice()) else { return None };
        if across.extent != rows as u64 || out.extent != rows as u64 {
            return None;
        }
        let rounds = rows as u64 / parts;
        (across.extent, out.extent) = (rounds, rounds);
        along.step[DST] /= parts as i64;
        let steps = [out.step[DST], across.step[SRC]].map(|step| step.checked_mul(rounds as i64));
        let sides = SmallVec::from_iter([
            side(staged.output.operand, &into, DST, steps[0]?)?,
            side(input.operand, &from, SRC, steps[1]?)?,
        ]);
        let mut part = staged.clone();
        part.what = PackedOp::Reduce { func, to, extent: [rounds as usize, 1, depth], starts: false };
        let stages = part.inputs.iter_mut().chain([&mut part.output]);
        for (stage, nest) in stages.zip([from, into]) {
            stage.len /= parts as usize;
            stage.kernels = SmallVec::from_iter([Kernel::new(&nest, Level::best())]);
            stage.nests = SmallVec::from_iter([nest]);
        }
        part.inputs.iter_mut().for_each(|input| input.columns = rounds);
        Some(RowSlice { kernel: Work::Fold(Arc::new(part)), sides, rounds, least: ROWS })
    }

    /// All of a product.
    pub fn of_product(product: &Product) -> Option<RowSlice> {
        let sides = product.sides()?;
        Some(RowSlice { kernel: Work::Product(Box::new(product.clone())), sides, rounds: 1, least: 1 })
    }

    /// The first of `parts` equal parts of it; `None` unless they divide its rounds.
    pub fn first_of(&self, parts: u64) -> Option<RowSlice> {
        if parts == 0 || !self.rounds.is_multiple_of(parts) {
            return None;
        }
        let operands: SmallVec<[u8; 4]> = self.sides.iter().map(|side| side.operand).collect();
        match &self.kernel {
            Work::Map(kernel) => RowSlice::map(&operands, kernel, kernel.vectors()?.clone(), parts),
            Work::Copy(copy) => RowSlice::copy(&operands, copy.1.clone(), parts),
            Work::Fold(staged) => RowSlice::fold(staged, parts),
            Work::Product(_) => None,
        }
    }

    /// The loops of an elementwise operation, and the operation.
    pub(super) fn elementwise(&self) -> Option<(&Nest, ElementOp<'_>)> {
        match &self.kernel {
            Work::Map(kernel) => Some((kernel.vectors()?, ElementOp::Map(kernel))),
            Work::Copy(copy) => is_in_rows(&copy.1).then_some((&copy.1, ElementOp::Copy)),
            Work::Fold(_) | Work::Product(_) => None,
        }
    }

    /// The loops of a copy.
    pub fn copied(&self) -> Option<&Nest> {
        match &self.kernel {
            Work::Copy(copy) => Some(&copy.1),
            _ => None,
        }
    }

    /// Whether it is a copy that changes the order of elements.
    pub fn is_turned(&self) -> bool {
        self.copied().is_some_and(|nest| !is_in_rows(nest))
    }

    /// The product that it is.
    pub fn product(&self) -> Option<&Product> {
        match &self.kernel {
            Work::Product(product) => Some(product),
            _ => None,
        }
    }

    /// The fold of rows that it is, where the machine has a kernel for it.
    pub(super) fn row_fold(&self) -> Option<RowFoldPlan> {
        match &self.kernel {
            Work::Fold(staged) => RowFoldPlan::of(staged),
            Work::Map(_) | Work::Copy(_) | Work::Product(_) => None,
        }
    }

    /// Whether it touches all bytes of a side's span.
    pub fn is_solid(&self, side: usize) -> bool {
        let Some(at) = self.sides.get(side) else { return false };
        self.elementwise().is_some_and(|(nest, _)| {
            let touched = u128::from(nest.elements()) * u128::from(nest.bits[side] / 8);
            touched == u128::from(at.span.1.abs_diff(at.span.0))
        })
    }

    /// Whether it is a copy of one run of bytes.
    pub fn is_plain_copy(&self) -> bool {
        let is_same = |nest: &Nest| nest.dims.iter().all(|dim| dim.step[DST] == dim.step[SRC]);
        matches!(&self.kernel, Work::Copy(copy) if is_same(&copy.1)) && self.is_solid(DST)
    }

    /// Whether it computes nothing.
    pub fn is_copy(&self) -> bool {
        matches!(self.kernel, Work::Copy(_))
    }

    /// Whether it folds rows.
    pub fn is_fold(&self) -> bool {
        matches!(self.kernel, Work::Fold(_))
    }

    /// Its rows and columns; one row of all elements where they lie side by side.
    pub(super) fn shape(&self) -> Option<[u64; 2]> {
        match self.elementwise()?.0.dims.as_slice() {
            [all] => Some([1, all.extent]),
            [rows, columns] => Some([rows.extent, columns.extent]),
            _ => None,
        }
    }

    /// Runs the part with this number, with the operands of the instruction at these places.
    pub fn run<M: AsRef<[u8]> + AsMut<[u8]>>(
        &self,
        number: i64,
        memories: &mut [M],
        places: &[Place],
    ) -> Result<(), OutOfBounds> {
        let mut at: SmallVec<[Place; 8]> = SmallVec::new();
        let moved = |side: &Side| {
            let place = places.get(usize::from(side.operand))?;
            Some(Place { at: place.at.checked_add_signed((side.step * number) as isize)?, ..*place })
        };
        if let Work::Fold(_) | Work::Product(_) = &self.kernel {
            at.extend_from_slice(places);
            for side in &self.sides {
                let place = at.get_mut(usize::from(side.operand)).ok_or(OutOfBounds::NOWHERE)?;
                *place = moved(side).ok_or(OutOfBounds::NOWHERE)?;
            }
        }
        match &self.kernel {
            Work::Fold(staged) => return staged.run(memories, &at),
            Work::Product(product) => return product.run(memories, &at).ok_or(OutOfBounds::NOWHERE),
            Work::Map(_) | Work::Copy(_) => {}
        }
        for side in &self.sides {
            at.push(moved(side).ok_or(OutOfBounds::NOWHERE)?);
        }
        match (&self.kernel, at.as_slice()) {
            (Work::Map(kernel), at) => kernel.run(memories, at),
            (Work::Copy(copy), [to, from]) => {
                let (bytes, at) = sides(memories, *from, *to)?;
                copy.0.run(bytes, at)
            }
            _ => Err(OutOfBounds::NOWHERE),
        }
    }
}

/// Whether a copy moves rows of elements in their order.
fn is_in_rows(nest: &Nest) -> bool {
    let size = i64::from(nest.bits[DST] / 8);
    nest.dims.last().is_some_and(|row| row.step[DST] == size && row.step[SRC] == size)
}

/// The first of `parts` equal parts of a nest: its loops, its operands and its rounds.
fn divided(operands: &[u8], mut nest: Nest, parts: u64) -> Option<(Nest, SmallVec<[Side; 4]>, u64)> {
    let outer = nest.dims.first_mut()?;
    outer.extent /= parts;
    let (rounds, steps) = (outer.extent, outer.step);
    let side = |(k, operand): (usize, &u8)| side(*operand, &nest, k, steps[k].checked_mul(rounds as i64)?);
    let sides = operands.iter().enumerate().map(side).collect::<Option<_>>()?;
    nest.bits.iter().all(|bits| *bits != 4).then_some((nest, sides, rounds))
}

fn side(operand: u8, nest: &Nest, k: usize, step: i64) -> Option<Side> {
    let (first, end) = nest.span(k);
    Some(Side { operand, span: (i64::try_from(first).ok()?, i64::try_from(end).ok()?), step })
}

/// A stage that runs on a strip: an instruction of a list by its number, or several that became acts.
#[derive(Debug)]
pub enum FusedStage {
    One(usize),
    Fused(Fused),
}

/// A stage whose operands were found inside their memories.
enum BoundStage<'a> {
    Map(BoundMap),
    Copy(&'a Kernel, [(*mut u8, isize); 2]),
    Fold(BoundRowFold),
    RegisterOps(BoundRegisterOps),
}

/// Runs stages of instructions `times` times, each time on the next parts. Operands are in memories, or in scratch
/// memory.
pub fn run_stages<M: AsRef<[u8]> + AsMut<[u8]>>(
    links: &[FusedOp],
    stages: &[FusedStage],
    times: u64,
    memories: &mut [M],
    scratch: &mut [u8],
) -> Result<(), OutOfBounds> {
    let times = i64::try_from(times).unwrap_or(i64::MAX);
    if let Some(begun) = begin(links, stages, times, memories, scratch)? {
        for number in 0..times as isize {
            for stage in &begun {
                // SAFETY: one of the times that it was begun for; `memories` is borrowed and not touched in between.
                unsafe {
                    match stage {
                        BoundStage::Map(map) => map.run(number),
                        BoundStage::Copy(kernel, [(to, step), (from, by)]) => {
                            kernel.run_at(from.wrapping_offset(by * number), to.wrapping_offset(step * number));
                        }
                        BoundStage::Fold(fold) => fold.run(number),
                        BoundStage::RegisterOps(acts) => acts.run(number),
                    }
                }
            }
        }
        return Ok(());
    }
    for number in 0..times {
        for link in links {
            link.part.run(number, memories, &link.places)?;
        }
    }
    Ok(())
}

/// All stages, with pointers that come from one borrow of all memories; none where a part is something else.
fn begin<'a, M: AsRef<[u8]> + AsMut<[u8]>>(
    links: &'a [FusedOp],
    stages: &[FusedStage],
    times: i64,
    memories: &mut [M],
    scratch: &mut [u8],
) -> Result<Option<Vec<BoundStage<'a>>>, OutOfBounds> {
    let (buffer, room) = (scratch.as_mut_ptr(), scratch.len());
    // The first side of a part is the one that is written.
    let written = |link: &FusedOp| {
        let side = link.part.sides.first().filter(|_| link.home(0).is_none())?;
        Some(link.places.get(usize::from(side.operand))?.memory.index())
    };
    let written: SmallVec<[usize; 8]> = links.iter().filter_map(written).collect();
    let start = |(id, memory): (usize, &mut M)| start(memory, written.contains(&id));
    let all: SmallVec<[(*mut u8, usize); 32]> = memories.iter_mut().enumerate().map(start).collect();
    // The start of an operand, and the step to the next part: the first and the last part are in bounds.
    let side = |link: &FusedOp, n: usize| {
        let home = link.home(n);
        let side = link.part.sides.get(n)?;
        if let Some(first) = home {
            let end = first.checked_add(usize::try_from(side.span.1.checked_sub(side.span.0)?).ok()?)?;
            return (end <= room).then(|| Ok((buffer.wrapping_add(first).wrapping_offset(-side.span.0 as isize), 0)));
        }
        let place = link.places.get(usize::from(side.operand))?;
        let (memory, len) = *all.get(place.memory.index())?;
        let last =
            side.step.checked_mul(times - 1).and_then(|last| usize::try_from(last).ok()?.checked_add(place.at))?;
        let span = (i128::from(side.span.0), i128::from(side.span.1));
        let found = OutOfBounds::check(span, place.at, len).and(OutOfBounds::check(span, last, len));
        Some(found.map(|()| (memory.wrapping_add(place.at), side.step as isize)))
    };
    let side = |link: &FusedOp, n: usize| side(link, n).unwrap_or(Err(OutOfBounds::NOWHERE));
    let mut begun = Vec::with_capacity(stages.len());
    for stage in stages {
        begun.push(match stage {
            FusedStage::Fused(fused) => BoundStage::RegisterOps(fused.begin((buffer, room), |n, k| {
                let link = links.get(n).ok_or(OutOfBounds::NOWHERE)?;
                let base = link.part.elementwise().map_or(0, |(nest, _)| nest.base[k]);
                side(link, k).map(|(start, step)| (start.wrapping_offset(base as isize), step))
            })?),
            FusedStage::One(n) => {
                let link = links.get(*n).ok_or(OutOfBounds::NOWHERE)?;
                let mut at: SmallVec<[(*mut u8, isize); 4]> = SmallVec::new();
                for k in 0..link.part.sides.len() {
                    at.push(side(link, k)?);
                }
                let begins = match &link.part.kernel {
                    Work::Map(kernel) => kernel.begin(&at).map(BoundStage::Map),
                    Work::Copy(copy) => match at.as_slice() {
                        [to, from] if copy.0.is_raw() => Some(BoundStage::Copy(&copy.0, [*to, *from])),
                        _ => None,
                    },
                    Work::Fold(staged) => match (RowFoldPlan::of(staged), at.as_slice()) {
                        (Some(folded), [to, from]) => Some(BoundStage::Fold(BoundRowFold::new(folded, *to, *from))),
                        _ => None,
                    },
                    // It is alone, and finds its operands itself.
                    Work::Product(_) => None,
                };
                let Some(begins) = begins else { return Ok(None) };
                begins
            }
        });
    }
    Ok(Some(begun))
}
