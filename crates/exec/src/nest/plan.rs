//! Plans: the nests and fills of one instruction with their kernels chosen, to be run any number of times.

use super::{Fill, Nest, OutOfBounds};
use crate::kernels::{Conversion, Convert, Kernel, Level, Pair, Params};
use smallvec::SmallVec;

/// Where an operand lies: in which memory, and from which byte on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Index into the memories.
    pub memory: usize,
    /// First byte of the operand.
    pub at: usize,
}

/// One step of an instruction; operands go by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Copies elements from operand `src` to operand `dst`.
    Copy {
        /// The operand that is read.
        src: u8,
        /// The operand that is written.
        dst: u8,
        /// What goes where.
        nest: Nest,
    },
    /// Converts elements of operand `src` and writes them to operand `dst`.
    Convert {
        /// The operand that is read.
        src: u8,
        /// The operand that is written.
        dst: u8,
        /// What goes where, lowered with the widths of both element types.
        nest: Nest,
        /// What happens to an element.
        conversion: Conversion,
    },
    /// Fills elements of operand `dst`.
    Fill {
        /// The operand that is written.
        dst: u8,
        /// What is written where.
        fill: Fill,
    },
}

/// The steps of an instruction, ready to run.
///
/// Neighbouring copies may run in any order and together (an instruction whose result depends on their order is an error:
/// ops.md 1, rule 4); a fill keeps its place among them.
#[derive(Clone, Debug)]
pub struct Plan {
    actions: SmallVec<[Action; 2]>,
}

#[derive(Clone, Debug)]
enum Action {
    Copy {
        src: u8,
        dst: u8,
        kernel: Kernel,
    },
    Convert {
        src: u8,
        dst: u8,
        convert: Box<Convert>,
    },
    Fill {
        dst: u8,
        fill: Fill,
    },
    /// Two copies with one strided side in common: each line of memory is touched once.
    Pair {
        operands: [u8; 3],
        kernel: Pair,
    },
}

impl Plan {
    /// Chooses kernels for the best instruction set of this machine.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Plan::with_level(steps, Level::best())
    }

    /// Chooses kernels of one level; all levels give the same bytes.
    pub fn with_level(steps: impl IntoIterator<Item = Step>, level: Level) -> Self {
        let mut actions = SmallVec::new();
        let mut copies: SmallVec<[(u8, u8, Nest); 4]> = SmallVec::new();
        for step in steps {
            let action = match step {
                Step::Copy { src, dst, nest } => {
                    copies.push((src, dst, nest));
                    continue;
                }
                Step::Convert {
                    src,
                    dst,
                    nest,
                    conversion,
                } => Action::Convert {
                    src,
                    dst,
                    convert: Box::new(Convert::new(nest, conversion, level)),
                },
                Step::Fill { dst, fill } => Action::Fill { dst, fill },
            };
            fuse(&mut copies, level, &mut actions);
            actions.push(action);
        }
        fuse(&mut copies, level, &mut actions);
        Plan { actions }
    }

    /// Runs every step of a plan without quantization; see [`Plan::run_with`].
    pub fn run<M: AsMut<[u8]>>(&self, memories: &mut [M], places: &[Place]) -> Result<(), OutOfBounds> {
        self.run_with(memories, places, &Params::default())
    }

    /// Runs every step, converting ones with these quantization parameters. `places` says where each operand lies; nothing is written outside the memories, and an operand
    /// without a place, or a step that leaves its memory, is an error before that step.
    pub fn run_with<M: AsMut<[u8]>>(
        &self,
        memories: &mut [M],
        places: &[Place],
        params: &Params,
    ) -> Result<(), OutOfBounds> {
        let place = |operand: u8| places.get(usize::from(operand)).copied().ok_or(NOWHERE);
        for action in &self.actions {
            match action {
                Action::Copy { src, dst, kernel } => {
                    let (src, dst) = (place(*src)?, place(*dst)?);
                    if src.memory == dst.memory {
                        let memory = memories.get_mut(src.memory).ok_or(NOWHERE)?;
                        kernel.run_within(memory.as_mut(), src.at, dst.at)?;
                    } else {
                        let pair = memories.get_disjoint_mut([src.memory, dst.memory]);
                        let [from, to] = pair.map_err(|_| NOWHERE)?;
                        kernel.run((from.as_mut(), src.at), (to.as_mut(), dst.at))?;
                    }
                }
                Action::Convert { src, dst, convert } => {
                    let (src, dst) = (place(*src)?, place(*dst)?);
                    if src.memory == dst.memory {
                        let memory = memories.get_mut(src.memory).ok_or(NOWHERE)?;
                        convert.run_within(memory.as_mut(), src.at, dst.at, params)?;
                    } else {
                        let pair = memories.get_disjoint_mut([src.memory, dst.memory]);
                        let [from, to] = pair.map_err(|_| NOWHERE)?;
                        convert.run((from.as_mut(), src.at), (to.as_mut(), dst.at), params)?;
                    }
                }
                Action::Fill { dst, fill } => {
                    let dst = place(*dst)?;
                    let memory = memories.get_mut(dst.memory).ok_or(NOWHERE)?.as_mut();
                    let len = memory.len();
                    fill.run(memory.get_mut(dst.at..).ok_or(OutOfBounds { len, ..NOWHERE })?)?;
                }
                Action::Pair {
                    operands: [x, y, z],
                    kernel,
                } => {
                    kernel.run(memories, [place(*x)?, place(*y)?, place(*z)?])?;
                }
            }
        }
        Ok(())
    }
}

/// An operand that has no place.
const NOWHERE: OutOfBounds = OutOfBounds {
    first: 0,
    end: 0,
    len: 0,
};

/// Turns copies into actions, two at once where one side of them interleaves.
fn fuse(copies: &mut SmallVec<[(u8, u8, Nest); 4]>, level: Level, actions: &mut SmallVec<[Action; 2]>) {
    let mut rest = std::mem::take(copies);
    while !rest.is_empty() {
        let (src, dst, nest) = rest.remove(0);
        let found = rest.iter().enumerate().find_map(|(k, (other_src, other_dst, other))| {
            let (kernel, swapped) = Pair::new(&nest, other, src == *other_src, dst == *other_dst, level)?;
            let (first, second) = if swapped {
                ((other_src, other_dst), (&src, &dst))
            } else {
                ((&src, &dst), (other_src, other_dst))
            };
            let operands = if kernel.is_zip() {
                [*first.0, *second.0, *first.1]
            } else {
                [*first.1, *second.1, *first.0]
            };
            Some((k, operands, kernel))
        });
        match found {
            Some((k, operands, kernel)) => {
                rest.remove(k);
                actions.push(Action::Pair { operands, kernel });
            }
            None => actions.push(Action::Copy {
                src,
                dst,
                kernel: Kernel::new(&nest, level),
            }),
        }
    }
}
