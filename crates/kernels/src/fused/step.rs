//! An instruction as a step of a run: over rows and columns, with regions of memory or scalars as arguments.

use super::super::fold::RowFoldPlan;
use super::super::row_slice::{ElementOp, FusedOp};
use super::register_op::{self, Form, Kind, RegisterOp};
use crate::nest::{DST, SRC};
use smallvec::SmallVec;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

/// The elements of an operand in the first strip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Region {
    pub memory: usize,
    pub first: i64,
    pub row: i64,
    pub strip: i64,
    pub form: Form,
    pub is_one: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Arg {
    Scalar(f32),
    Side(usize, Region),
}

impl Arg {
    fn is(&self, region: Option<Region>) -> bool {
        matches!(self, Arg::Side(_, own) if Some(*own) == region)
    }

    pub fn kind(&self) -> (Kind, Form) {
        match self {
            // One for all rows.
            Arg::Scalar(_) => (Kind::One, Form::F32),
            Arg::Side(_, Region { form, is_one: true, .. }) => (Kind::One, *form),
            Arg::Side(_, Region { form, .. }) => (Kind::Dense, *form),
        }
    }
}

/// An instruction over rows and columns.
#[derive(Debug)]
pub(super) struct Step {
    /// The operation; `None` for a copy, which computes nothing.
    pub act: Option<RegisterOp>,
    pub args: SmallVec<[Arg; 2]>,
    pub to: Region,
}

/// The acts of an instruction, each with the number of its argument.
pub(super) type RegisterOps = SmallVec<[(RegisterOp, Option<usize>); 2]>;

impl Step {
    /// Whether all of it is f32, and every act is plain.
    pub fn is_plain(&self) -> bool {
        let is_f32 = |arg: &Arg| arg.kind().1 == Form::F32;
        self.act.is_none_or(RegisterOp::is_plain) && self.to.form == Form::F32 && self.args.iter().all(is_f32)
    }

    /// The acts of an instruction after one that left this region in the registers, each with the number of its argument.
    pub fn acts(&self, own: Option<Region>) -> RegisterOps {
        let mut acts = SmallVec::new();
        let is = |n: usize, region: Option<Region>| self.args.get(n).is_some_and(|arg| arg.is(region));
        let turned = self.act.and_then(RegisterOp::turned).filter(|_| is(1, own) && !is(0, own));
        if let Some(act) = turned {
            acts.push((act, Some(0)));
            return acts;
        }
        let mut own = own;
        if !is(0, own) {
            acts.push((RegisterOp::Take, Some(0)));
            own = match self.args.first() {
                Some(Arg::Side(_, region)) => Some(*region),
                _ => None,
            };
        }
        let Some(act) = self.act.filter(|act| *act != RegisterOp::Take) else { return acts };
        let second = (self.args.len() > 1 && !is(1, own)).then_some(1);
        acts.push((act, second));
        acts
    }
}

/// A fold of rows: it takes them from the registers, and there is a result for each row.
fn folding(link: &FusedOp, fold: RowFoldPlan) -> Option<Step> {
    let region = |side: usize, (first, row): (i64, i64), is_one: bool| {
        let at = link.part.sides.get(side)?;
        let place = link.places.get(usize::from(at.operand))?;
        let first = i64::try_from(place.at).ok()?.checked_add(first)?;
        Some(Region { memory: place.memory.index(), first, row, strip: at.step, form: Form::F32, is_one })
    };
    let args = SmallVec::from_iter([Arg::Side(SRC, region(SRC, fold.from, false)?)]);
    Some(Step { act: None, args, to: region(DST, fold.to, true)? })
}

/// An instruction over rows and columns, if it is one that there are acts for.
pub(super) fn step(link: &FusedOp, shape: [u64; 2]) -> Option<Step> {
    if let Some(fold) = link.part.row_fold() {
        return folding(link, fold);
    }
    let (nest, does) = link.part.elementwise()?;
    let region = |side: usize, elem: Elem| {
        let form = Form::of(elem)?;
        let (row, step) = match nest.dims.as_slice() {
            [dim] if dim.extent == shape[0].checked_mul(shape[1])? => {
                (dim.step[side].checked_mul(shape[1] as i64)?, dim.step[side])
            }
            [rows, columns] if [rows.extent, columns.extent] == shape => (rows.step[side], columns.step[side]),
            _ => return None,
        };
        let at = link.part.sides.get(side)?;
        let place = link.places.get(usize::from(at.operand))?;
        let first = i64::try_from(place.at).ok()?.checked_add(nest.base[side])?;
        let is_one = step == 0;
        (is_one || step == form.size() as i64).then_some(Region {
            memory: place.memory.index(),
            first,
            row,
            strip: at.step,
            form,
            is_one,
        })
    };
    let (act, args, to) = match does {
        ElementOp::Copy if nest.bits[..2] == [32, 32] => {
            (None, SmallVec::from_iter([Arg::Side(1, region(1, Elem::F32)?)]), Elem::F32)
        }
        ElementOp::Copy => return None,
        ElementOp::Map(kernel) => {
            let mapped = kernel.mapped();
            let mut args = SmallVec::new();
            let mut side = DST;
            for (n, (elem, scalar)) in mapped.args.iter().enumerate() {
                args.push(match scalar {
                    Some(_) => Arg::Scalar(kernel.scalar(n)),
                    None => {
                        side += 1;
                        Arg::Side(side, region(side, *elem)?)
                    }
                });
            }
            let from = mapped.elements().next()?;
            let is_kept =
                mapped.args.iter().all(|(elem, scalar)| if scalar.is_some() { elem.is_float() } else { *elem == from });
            let is_float = matches!(from, Elem::F32 | Elem::F16 | Elem::Bf16) && from == mapped.to;
            let act = match mapped.func {
                Func::Cvt { rounding, saturation } => register_op::converts(from, mapped.to, rounding, saturation)?,
                func if is_float && is_kept => register_op::act(func, from)?,
                _ => return None,
            };
            (Some(act), args, mapped.to)
        }
    };
    let to = region(DST, to)?;
    (!to.is_one && args.len() <= 2).then_some(Step { act, args, to })
}

/// Whether every written region is apart from all other regions, or equal to them element by element.
pub(super) fn are_apart(links: &[FusedOp], steps: &[Step], strips: i64) -> bool {
    let mut seen: Vec<(Region, (i64, i64), bool)> = Vec::new();
    for (link, step) in links.iter().zip(steps) {
        let read = step.args.iter().filter_map(|arg| match arg {
            Arg::Side(side, region) => Some((*side, *region, false)),
            Arg::Scalar(_) => None,
        });
        let from = seen.len();
        for (side, region, is_written) in read.chain([(DST, step.to, true)]) {
            let Some(at) = link.part.sides.get(side) else { return false };
            // The start of the region differs from the start of the operand.
            let Some(place) = link.places.get(usize::from(at.operand)) else { return false };
            let start = place.at as i64;
            seen.push((region, (start.saturating_add(at.span.0), start.saturating_add(at.span.1)), is_written));
        }
        for n in from..seen.len() {
            let (region, span, is_written) = seen[n];
            let meets = |(other, its_span, other_is_written): &(Region, (i64, i64), bool)| {
                let all = |(first, end): (i64, i64), strip: i64| {
                    (first, end.saturating_add(strip.saturating_mul(strips - 1)))
                };
                let is_beside = |a: (i64, i64), b: (i64, i64)| a.1 <= b.0 || b.1 <= a.0;
                let is_apart = is_beside(all(span, region.strip), all(*its_span, other.strip))
                    || region.strip == other.strip && is_beside(span, *its_span);
                let matters = (is_written || *other_is_written) && region.memory == other.memory;
                matters && region != *other && !is_apart
            };
            if seen[..n].iter().any(meets) {
                return false;
            }
        }
    }
    true
}
