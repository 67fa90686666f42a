//! Parts of an instruction: the same work on a share of its rows, so that several instructions can go through the data
//! together.

use super::map::Begun;
use super::{Kernel, Level, MapKernel, OutOfBounds, Staged, What};
use crate::nest::{DST, Nest, Place, SRC};
use smallvec::SmallVec;
use std::sync::Arc;

/// What an instruction does, or the first of several equal parts of it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    kernel: Work,
    /// The operands, what is written first.
    pub sides: SmallVec<[Side; 4]>,
    /// The rounds of its outermost loop: it can be divided by what divides them.
    pub rounds: u64,
    /// With fewer rounds it is slow: rows are folded several at a time.
    pub least: u64,
}

/// So many rows are folded at a time.
const ROWS: u64 = 32;

#[derive(Clone, Debug)]
enum Work {
    Map(Box<MapKernel>),
    Fold(Arc<Staged>),
}

/// An operand of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// Its number.
    pub operand: u8,
    /// The bytes that the part touches lie between these two, from where the operand starts.
    pub span: (i64, i64),
    /// How far it is to where the next part starts.
    pub step: i64,
}

impl Part {
    /// All of a computing nest that the machine has vectors for.
    pub fn of_map(operands: &[u8], kernel: &MapKernel) -> Option<Part> {
        Part::map(operands, kernel, kernel.vectors()?.clone(), 1)
    }

    fn map(operands: &[u8], kernel: &MapKernel, mut nest: Nest, parts: u64) -> Option<Part> {
        let outer = nest.dims.first_mut()?;
        outer.extent /= parts;
        let (rounds, steps) = (outer.extent, outer.step);
        let in_bytes = nest.bits.iter().all(|bits| *bits != 4);
        let side = |(k, operand): (usize, &u8)| side(*operand, &nest, k, steps[k].checked_mul(rounds as i64)?);
        let sides = operands.iter().enumerate().map(side).collect::<Option<_>>()?;
        in_bytes.then(|| Part { kernel: Work::Map(Box::new(kernel.over(nest))), sides, rounds, least: 1 })
    }

    /// All of a fold of rows.
    pub fn of_fold(staged: &Arc<Staged>) -> Option<Part> {
        Part::fold(staged, 1)
    }

    fn fold(staged: &Staged, parts: u64) -> Option<Part> {
        let (What::Reduce { func, to, extent: [rows, 1, depth], starts: false }, [input]) =
            (staged.what, staged.inputs.as_slice())
        else {
            return None;
        };
        let ([from], [into], Some(_)) = (input.nests.as_slice(), staged.output.nests.as_slice(), input.rows) else {
            return None;
        };
        let (mut from, mut into) = (from.clone(), into.clone());
        // The buffer has a column for each row (`Stage::rows_of`), so its own rows become shorter.
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
        part.what = What::Reduce { func, to, extent: [rounds as usize, 1, depth], starts: false };
        let stages = part.inputs.iter_mut().chain([&mut part.output]);
        for (stage, nest) in stages.zip([from, into]) {
            stage.len /= parts as usize;
            stage.kernels = SmallVec::from_iter([Kernel::new(&nest, Level::best())]);
            stage.nests = SmallVec::from_iter([nest]);
        }
        part.inputs.iter_mut().for_each(|input| input.columns = rounds);
        Some(Part { kernel: Work::Fold(Arc::new(part)), sides, rounds, least: ROWS })
    }

    /// The first of so many equal parts of it; they divide its rounds.
    pub fn first_of(&self, parts: u64) -> Option<Part> {
        if parts == 0 || !self.rounds.is_multiple_of(parts) {
            return None;
        }
        match &self.kernel {
            Work::Map(kernel) => {
                let operands: SmallVec<[u8; 4]> = self.sides.iter().map(|side| side.operand).collect();
                Part::map(&operands, kernel, kernel.vectors()?.clone(), parts)
            }
            Work::Fold(staged) => Part::fold(staged, parts),
        }
    }

    /// Runs the part with this number, with the operands of the instruction at these places.
    pub fn run<M: AsMut<[u8]>>(&self, number: i64, memories: &mut [M], places: &[Place]) -> Result<(), OutOfBounds> {
        let mut at: SmallVec<[Place; 8]> = SmallVec::new();
        let moved = |side: &Side| {
            let place = places.get(usize::from(side.operand))?;
            Some(Place { at: place.at.checked_add_signed((side.step * number) as isize)?, ..*place })
        };
        match &self.kernel {
            Work::Map(kernel) => {
                for side in &self.sides {
                    at.push(moved(side).ok_or(OutOfBounds::NOWHERE)?);
                }
                kernel.run(memories, &at)
            }
            Work::Fold(staged) => {
                at.extend_from_slice(places);
                for side in &self.sides {
                    let place = at.get_mut(usize::from(side.operand)).ok_or(OutOfBounds::NOWHERE)?;
                    *place = moved(side).ok_or(OutOfBounds::NOWHERE)?;
                }
                staged.run(memories, &at)
            }
        }
    }
}

/// Runs parts of instructions, each with the places of its operands: so many times all of them, each time on the next parts.
pub(crate) fn run_parts<M: AsMut<[u8]>>(
    parts: &[(Part, SmallVec<[Place; 8]>)],
    times: u64,
    memories: &mut [M],
) -> Result<(), OutOfBounds> {
    let times = i64::try_from(times).unwrap_or(i64::MAX);
    if let Some(begun) = begin(parts, times, memories)? {
        for number in 0..times as isize {
            for part in &begun {
                // SAFETY: one of the times that it was begun for; `memories` is borrowed and not touched in between.
                unsafe { part.run(number) };
            }
        }
        return Ok(());
    }
    for number in 0..times {
        for (part, places) in parts {
            part.run(number, memories, places)?;
        }
    }
    Ok(())
}

/// The nests of all parts, with pointers that come from one borrow of all memories; none where a part is something else.
fn begin<M: AsMut<[u8]>>(
    parts: &[(Part, SmallVec<[Place; 8]>)],
    times: i64,
    memories: &mut [M],
) -> Result<Option<Vec<Begun>>, OutOfBounds> {
    let start = |memory: &mut M| {
        let bytes = memory.as_mut();
        (bytes.as_mut_ptr(), bytes.len())
    };
    let all: SmallVec<[(*mut u8, usize); 32]> = memories.iter_mut().map(start).collect();
    let mut begun = Vec::with_capacity(parts.len());
    for (part, places) in parts {
        let Work::Map(kernel) = &part.kernel else { return Ok(None) };
        let mut at: SmallVec<[Place; 4]> = SmallVec::new();
        for side in &part.sides {
            at.push(*places.get(usize::from(side.operand)).ok_or(OutOfBounds::NOWHERE)?);
        }
        let steps: SmallVec<[i64; 4]> = part.sides.iter().map(|side| side.step).collect();
        let Some(one) = kernel.begin(&all, &at, &steps, times)? else { return Ok(None) };
        begun.push(one);
    }
    Ok(Some(begun))
}

fn side(operand: u8, nest: &Nest, k: usize, step: i64) -> Option<Side> {
    let (first, end) = nest.span(k);
    Some(Side { operand, span: (i64::try_from(first).ok()?, i64::try_from(end).ok()?), step })
}
