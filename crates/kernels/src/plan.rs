//! Plans: the nests and fills of one instruction with their kernels chosen, to be run any number of times.

use crate::nest::{Fill, Nest, OPERANDS, OutOfBounds, fold};
use crate::pair::Pair;
use crate::{Conversion, Convert, Kernel, Level, MapKernel, Mapped, PackedKernel, Params, Place, RowSlice, Sides};
use smallvec::SmallVec;
use std::sync::Arc;

/// One step of an instruction; operands go by number.
#[derive(Clone, Debug)]
pub enum PlanStep {
    /// Copies elements from operand `src` to operand `dst`.
    Copy {
        /// The operand that is read.
        src: u8,
        /// The operand that is written.
        dst: u8,
        nest: Nest,
    },
    /// Converts elements of operand `src` and writes them to operand `dst`.
    Convert {
        /// The operand that is read.
        src: u8,
        /// The operand that is written.
        dst: u8,
        /// The index map, lowered with the widths of both element types.
        nest: Nest,
        /// The change of each element's value.
        conversion: Conversion,
    },
    /// Computes elements of the first operand from those of the others.
    Map {
        /// The operands, in the order of the nest's.
        operands: SmallVec<[u8; OPERANDS]>,
        nest: Nest,
        /// The function of each element.
        mapped: Mapped,
    },
    /// Computes what whole rows, or data, decide.
    #[allow(private_interfaces, reason = "made by lowering only")]
    PackedKernel(Arc<PackedKernel>),
    /// Fills elements of operand `dst`.
    Fill {
        /// The operand that is written.
        dst: u8,
        fill: Fill,
    },
}

/// The steps of an instruction, ready to run.
///
/// Neighbouring copies may run in any order and together (an instruction whose result depends on their order is an error:
/// ops.md 1, rule 4); fills and conversions keep their place among them.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    actions: SmallVec<[Action; 2]>,
}

#[derive(Clone, Debug)]
enum Action {
    Copy { src: u8, dst: u8, kernel: Kernel, nest: Box<Nest> },
    Convert { src: u8, dst: u8, convert: Box<Convert> },
    Map { operands: SmallVec<[u8; OPERANDS]>, kernel: Box<MapKernel> },
    PackedKernel(Arc<PackedKernel>),
    Fill { dst: u8, fill: Fill },
    // Two copies with one strided side in common: each line of memory is touched once.
    Pair { operands: [u8; 3], kernel: Pair },
}

impl Plan {
    /// Chooses kernels for the best instruction set of this machine.
    pub fn new(steps: impl IntoIterator<Item = PlanStep>) -> Self {
        Plan::with_level(steps, Level::best())
    }

    /// Chooses kernels of one level; all levels give the same bytes.
    pub fn with_level(steps: impl IntoIterator<Item = PlanStep>, level: Level) -> Self {
        let mut actions = SmallVec::new();
        let mut copies: Vec<(u8, u8, Nest)> = Vec::new();
        let mut fills: Vec<(u8, Fill)> = Vec::new();
        for step in steps {
            if !matches!(step, PlanStep::Copy { .. }) {
                flush_copies(&mut copies, level, &mut actions);
            }
            if !matches!(step, PlanStep::Fill { .. }) {
                flush_fills(&mut fills, &mut actions);
            }
            match step {
                PlanStep::Copy { src, dst, nest } => copies.push((src, dst, nest)),
                PlanStep::Fill { dst, fill } => fills.push((dst, fill)),
                PlanStep::Convert { src, dst, nest, conversion } => {
                    let convert = Box::new(Convert::new(nest, conversion, level));
                    actions.push(Action::Convert { src, dst, convert });
                }
                PlanStep::Map { operands, nest, mapped } => {
                    actions.push(Action::Map { operands, kernel: Box::new(MapKernel::new(nest, mapped, level)) });
                }
                PlanStep::PackedKernel(staged) => actions.push(Action::PackedKernel(staged)),
            }
        }
        flush_copies(&mut copies, level, &mut actions);
        flush_fills(&mut fills, &mut actions);
        Plan { actions }
    }

    /// The number of kernels that a run calls.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Whether a run does nothing.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Its work as one operation that rows can share, if it is one.
    pub fn part(&self) -> Option<RowSlice> {
        match self.actions.as_slice() {
            [Action::Map { operands, kernel }] => RowSlice::of_map(operands, kernel),
            [Action::Copy { src, dst, nest, .. }] => RowSlice::of_copy(*src, *dst, nest),
            [Action::PackedKernel(staged)] => RowSlice::of_staged(staged),
            _ => None,
        }
    }

    /// Runs every step of a plan without quantization; see [`Plan::run_with`].
    pub fn run<M: AsRef<[u8]> + AsMut<[u8]>>(&self, memories: &mut [M], places: &[Place]) -> Result<(), OutOfBounds> {
        self.run_with(memories, places, &Params::default())
    }

    /// Runs every step, converting ones with these quantization parameters. `places` says where each operand lies;
    /// nothing is written outside the memories, and an operand without a place, or a step that leaves its memory, is an
    /// error before that step.
    #[inline]
    pub fn run_with<M: AsRef<[u8]> + AsMut<[u8]>>(
        &self,
        memories: &mut [M],
        places: &[Place],
        params: &Params,
    ) -> Result<(), OutOfBounds> {
        for action in &self.actions {
            // Tiny instructions are mostly copies, and the stack frame of the others would slow them.
            if let Action::Copy { src, dst, kernel, .. } = action {
                copy(memories, places, (*src, *dst), kernel)?;
            } else {
                action.run(memories, places, params)?;
            }
        }
        Ok(())
    }
}

/// The place of an operand.
#[inline]
fn place(places: &[Place], operand: u8) -> Result<Place, OutOfBounds> {
    places.get(usize::from(operand)).copied().ok_or(OutOfBounds::NOWHERE)
}

#[inline(always)]
fn copy<M: AsRef<[u8]> + AsMut<[u8]>>(
    memories: &mut [M],
    places: &[Place],
    (src, dst): (u8, u8),
    kernel: &Kernel,
) -> Result<(), OutOfBounds> {
    let (bytes, at) = sides(memories, place(places, src)?, place(places, dst)?)?;
    kernel.run(bytes, at)
}

impl Action {
    #[inline(never)]
    fn run<M: AsRef<[u8]> + AsMut<[u8]>>(
        &self,
        memories: &mut [M],
        places: &[Place],
        params: &Params,
    ) -> Result<(), OutOfBounds> {
        let place = |operand: u8| place(places, operand);
        match self {
            Action::Copy { src, dst, kernel, .. } => copy(memories, places, (*src, *dst), kernel),
            Action::Convert { src, dst, convert } => {
                let (bytes, at) = sides(memories, place(*src)?, place(*dst)?)?;
                convert.run(bytes, at, params)
            }
            Action::Map { operands, kernel } => {
                let (first, others) = operands.split_first().ok_or(OutOfBounds::NOWHERE)?;
                let mut at = [place(*first)?; OPERANDS];
                for (at, operand) in at.iter_mut().skip(1).zip(others) {
                    *at = place(*operand)?;
                }
                kernel.run_at(memories, at)
            }
            Action::PackedKernel(staged) => staged.run(memories, places),
            Action::Fill { dst, fill } => {
                let dst = place(*dst)?;
                let memory = memories.get_mut(dst.memory.index()).ok_or(OutOfBounds::NOWHERE)?.as_mut();
                let len = memory.len();
                fill.run(memory.get_mut(dst.at..).ok_or(OutOfBounds { len, ..OutOfBounds::NOWHERE })?)
            }
            Action::Pair { operands: [x, y, z], kernel } => kernel.run(memories, [place(*x)?, place(*y)?, place(*z)?]),
        }
    }
}

/// Two operands, and where they start. Handed back through memory it would be read before it is written out.
#[inline(always)]
pub fn sides<M: AsRef<[u8]> + AsMut<[u8]>>(
    memories: &mut [M],
    src: Place,
    dst: Place,
) -> Result<(Sides<'_>, [usize; 2]), OutOfBounds> {
    let at = [src.at, dst.at];
    if src.memory == dst.memory {
        let memory = memories.get_mut(src.memory.index()).ok_or(OutOfBounds::NOWHERE)?;
        return Ok((Sides::One(memory.as_mut()), at));
    }
    let pair = memories.get_disjoint_mut([src.memory.index(), dst.memory.index()]);
    let [from, to] = pair.map_err(|_| OutOfBounds::NOWHERE)?;
    Ok((Sides::Two((*from).as_ref(), to.as_mut()), at))
}

/// Turns copies into actions: folded per pair of operands, and two at once where one side of them interleaves.
fn flush_copies(copies: &mut Vec<(u8, u8, Nest)>, level: Level, actions: &mut SmallVec<[Action; 2]>) {
    let mut rest: SmallVec<[(u8, u8, Nest); 4]> = SmallVec::new();
    while let Some(&(src, dst, _)) = copies.first() {
        let same = copies.extract_if(.., |c| (c.0, c.1) == (src, dst)).map(|c| c.2).collect();
        rest.extend(fold(same).into_iter().map(|nest| (src, dst, nest)));
    }
    // The search for a partner is quadratic in the number of nests, so that a plan of many nests does without.
    let pairs = rest.len() <= 64;
    while !rest.is_empty() {
        let (src, dst, nest) = rest.remove(0);
        let partner = rest.iter().enumerate().filter(|_| pairs).find_map(|(k, (other_src, other_dst, other))| {
            let (kernel, swapped) = Pair::new(&nest, other, src == *other_src, dst == *other_dst, level)?;
            let (even, odd) = ((src, dst), (*other_src, *other_dst));
            let (even, odd) = if swapped { (odd, even) } else { (even, odd) };
            let operands = if kernel.zip { [even.0, odd.0, even.1] } else { [even.1, odd.1, even.0] };
            Some((k, operands, kernel))
        });
        if let Some((k, operands, kernel)) = partner {
            rest.remove(k);
            actions.push(Action::Pair { operands, kernel });
        } else {
            actions.push(Action::Copy { src, dst, kernel: Kernel::new(&nest, level), nest: nest.into() });
        }
    }
}

/// Turns fills into actions. Fills of one value may run in any order, so they are folded as copies are.
fn flush_fills(fills: &mut Vec<(u8, Fill)>, actions: &mut SmallVec<[Action; 2]>) {
    for same in fills.chunk_by(|a, b| a.0 == b.0 && a.1.same_value(&b.1)) {
        let Some(&(dst, _)) = same.first() else { continue };
        let folded = Fill::fold(same.iter().map(|f| &f.1));
        actions.extend(folded.into_iter().map(|fill| Action::Fill { dst, fill }));
    }
    fills.clear();
}
