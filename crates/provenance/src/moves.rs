//! The effect of an instruction on provenance: its definedness transfer together with the functions that it applies.

use super::function::{Param, converted};
use super::plane::{Plane, SIZE};
use super::terms::{Bytes, Elements};
use super::{Function, Nibble, TermId, Terms, UNDEFINED};
use smallvec::SmallVec;
use tessera_exec::definedness::{TransferMove, Value};
use tessera_exec::lower::ParamAt;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;
use tessera_kernels::nest::{DST, Dim, Nest, SRC, size_of_element};
use tessera_kernels::{Conversion, Kernel, Level, Mapped, PackedKernel, PackedOp, Sides};

/// The source of a move; a source without a plane is in the destination's.
#[derive(Clone, Copy)]
pub struct ReadSource<'p> {
    pub plane: Option<&'p Plane>,
    /// The start of the operand, or of its first parameter.
    pub at: usize,
}

impl ReadSource<'_> {
    fn read(&self, dst: &Plane, by: i64, bytes: usize) -> Bytes {
        let (plane, at) = (self.plane.unwrap_or(dst), offset(self.at, by));
        (at..at + bytes).map(|b| plane.get(b)).collect()
    }

    /// The origin of an element.
    fn element(&self, dst: &Plane, by: i64, elem: Elem, terms: &mut Terms) -> TermId {
        terms.element(&self.read(dst, by, size(elem.bits())))
    }
}

fn size(bits: u32) -> usize {
    size_of_element(bits) as usize
}

/// The function that it applies, where it applies one.
pub(crate) fn function(mv: &TransferMove) -> Option<Function> {
    match &mv.value {
        Value::Bits => None,
        Value::Converted(conversion, param) => {
            let param = match param {
                ParamAt::None => Param::None,
                ParamAt::Fixed(param) => Param::Fixed(*param),
                ParamAt::Tile { .. } => Param::Data(SmallVec::from_elem(UNDEFINED, 8)),
            };
            Some(converted(*conversion, param).0)
        }
        Value::Mapped(mapped) => Some(Function::of_mapped(mapped)),
        Value::PackedKernel(staged) => staged_function(staged),
    }
}

/// The scalars among the arguments of a function, by place.
pub(crate) fn scalars(mv: &TransferMove) -> SmallVec<[(usize, Elem, u64); 2]> {
    match &mv.value {
        Value::Mapped(mapped) => {
            let args = mapped.args.iter().enumerate();
            args.filter_map(|(n, (elem, bits))| Some((n, *elem, (*bits)?))).collect()
        }
        _ => SmallVec::new(),
    }
}

/// Moves origins; `from` says where the operands are that it reads, `params` where the parameters are.
pub(crate) fn run(
    mv: &TransferMove,
    from: &[ReadSource<'_>],
    params: Option<ReadSource<'_>>,
    dst: (&mut Plane, usize),
    terms: &mut Terms,
) {
    let (dst, dst_at) = dst;
    let Some(first) = from.first() else { return };
    for nest in &mv.nests {
        match &mv.value {
            Value::Converted(conversion, param) => {
                convert(nest, *conversion, (*param, params), first, (dst, dst_at), terms)
            }
            Value::Mapped(mapped) => map(nest, mapped, from, (dst, dst_at), terms),
            Value::PackedKernel(_) => {}
            Value::Bits if nest.bits[SRC] == 4 || nest.bits[DST] == 4 => nibbles(nest, first, dst, dst_at, terms),
            Value::Bits => {
                let kernel = Kernel::new(&widened(nest), Level::best());
                // A plane that is too short belongs to a memory that is too long to be followed, which is noted.
                let bytes = match first.plane {
                    Some(src) => Sides::Two(src.raw(), dst.raw_mut()),
                    None => Sides::One(dst.raw_mut()),
                };
                let _ = kernel.run(bytes, [first.at * SIZE, dst_at * SIZE]);
            }
        }
    }
    if let Value::PackedKernel(staged) = &mv.value {
        stage(staged, from, (dst, dst_at), terms);
    }
}

type Results = Vec<(usize, Bytes)>;

/// Everything is read before anything is written.
fn write(dst: &mut Plane, results: Results) {
    for (at, ids) in results {
        (at..).zip(ids).for_each(|(at, id)| dst.set(at, id));
    }
}

fn convert(
    nest: &Nest,
    conversion: Conversion,
    (param, params): (ParamAt, Option<ReadSource<'_>>),
    from: &ReadSource<'_>,
    (dst, dst_at): (&mut Plane, usize),
    terms: &mut Terms,
) {
    let mut results: Results = Vec::with_capacity(nest.elements() as usize);
    nest.for_each_element(|[d, s, p, _]| {
        let element = from.read(dst, s, size(nest.bits[SRC]));
        let param = match (params, param) {
            (Some(params), _) => Param::Data(params.read(dst, p, 8)),
            (None, ParamAt::Fixed(param)) => Param::Fixed(param),
            (None, _) => Param::None,
        };
        results.push((offset(dst_at, d), terms.convert(conversion, &element, param, size(nest.bits[DST]))));
    });
    write(dst, results);
}

fn map(nest: &Nest, mapped: &Mapped, from: &[ReadSource<'_>], (dst, dst_at): (&mut Plane, usize), terms: &mut Terms) {
    let function = Function::of_mapped(mapped);
    let scalars: SmallVec<[Option<TermId>; 3]> = mapped
        .args
        .iter()
        .map(|(elem, bits)| bits.map(|bits| terms.constant_element(bits, size(elem.bits()))))
        .collect();
    let mut results: Results = Vec::with_capacity(nest.elements() as usize);
    nest.for_each_element(|at| {
        let mut elements = from.iter().zip(at.iter().skip(SRC));
        let mut operands = Elements::new();
        for ((elem, _), scalar) in mapped.args.iter().zip(&scalars) {
            let read = |(from, at): (&ReadSource<'_>, &i64)| from.element(dst, *at, *elem, terms);
            operands.extend(scalar.or_else(|| elements.next().map(read)));
        }
        let result = terms.apply(function, operands);
        results.push((offset(dst_at, at[DST]), terms.bytes(result, function.bytes())));
    });
    write(dst, results);
}

/// The function of a step over whole rows; where data decides there is none.
fn staged_function(staged: &PackedKernel) -> Option<Function> {
    let elem = |input: usize| staged.inputs.get(input).map(|input| input.elem);
    match staged.what {
        PackedOp::Reduce { func: func @ Func::Arg { .. }, to, .. } => {
            Some(Function::Mapped { func, to, args: [elem(0), None, None] })
        }
        PackedOp::Reduce { func, to, starts, .. } => {
            let own = staged.inputs.len() - usize::from(starts);
            Some(Function::Fold { func, to, args: [0, 1, 2, 3].map(|n| elem(n).filter(|_| n < own)) })
        }
        PackedOp::Pack { func, scalar, .. } => {
            Some(Function::Mapped { func, to: Elem::U8, args: [elem(0), scalar.map(|s| s.0).or(elem(1)), None] })
        }
        // Origins follow a selection bit by bit.
        PackedOp::Gather { .. } | PackedOp::Select { .. } => None,
    }
}

fn stage(staged: &PackedKernel, from: &[ReadSource<'_>], (dst, dst_at): (&mut Plane, usize), terms: &mut Terms) {
    let Some(function) = staged_function(staged) else { return };
    let offsets: SmallVec<[Vec<i64>; 3]> = staged.inputs.iter().map(|input| input.offsets(true)).collect();
    let (start, scalar, starts) = match staged.what {
        PackedOp::Reduce { func, to, starts, .. } => {
            let state = Func::state(to);
            let start = matches!(function, Function::Fold { .. }) && !starts;
            (
                func.start(state).filter(|_| start).map(|bits| terms.constant_element(bits, size(state.bits()))),
                None,
                starts.then_some(state),
            )
        }
        PackedOp::Pack { scalar, .. } => {
            (None, scalar.map(|(elem, bits)| terms.constant_element(bits, size(elem.bits()))), None)
        }
        PackedOp::Gather { .. } | PackedOp::Select { .. } => return,
    };
    let mut results: Results = Vec::new();
    for (result, at) in staged.output.offsets(false).into_iter().enumerate() {
        let mut operands: Elements = start.into_iter().collect();
        staged.reads(result, |input, element| {
            let elem = staged.inputs[input].elem;
            let at = offsets[input][element];
            let mut id = match elem.bits() {
                4 => half(&from[input], dst, at, terms),
                _ => from[input].element(dst, at, elem, terms),
            };
            // The start of a fold is converted to the type that it adds up in.
            if let Some(state) = starts.filter(|state| operands.is_empty() && *state != elem) {
                let bytes = terms.bytes(id, size(elem.bits()));
                let conversion = Conversion::Value { src: elem, dst: state };
                let bytes = terms.convert(conversion, &bytes, Param::None, size(state.bits()));
                id = terms.element(&bytes);
            }
            operands.push(id);
            operands.extend(scalar);
        });
        let id = terms.apply(function, operands);
        results.push((offset(dst_at, at), terms.bytes(id, function.bytes())));
    }
    write(dst, results);
}

/// The origin of half a byte, `at` halves behind the start, as a byte of its own.
fn half(from: &ReadSource<'_>, dst: &Plane, at: i64, terms: &mut Terms) -> TermId {
    match from.plane.unwrap_or(dst).get(offset(from.at, at.div_euclid(2))) {
        UNDEFINED => UNDEFINED,
        byte => {
            let pair = [terms.nibble(byte, at.rem_euclid(2) == 1), terms.nibble(Terms::constant(0), true)];
            terms.join(pair)
        }
    }
}

fn offset(at: usize, by: i64) -> usize {
    usize::try_from(at as i64 + by).unwrap_or(usize::MAX / 16)
}

/// A nest over bytes as one over their origins; a narrowing one takes the low bytes.
fn widened(nest: &Nest) -> Nest {
    let scale = SIZE as i64;
    let bytes = u64::from(nest.bits[SRC].min(nest.bits[DST]) / 8).max(1);
    let scaled = |at: [i64; 4]| at.map(|at| at.saturating_mul(scale));
    let mut dims: SmallVec<[Dim; 8]> =
        nest.dims.iter().map(|d| Dim { extent: d.extent, step: scaled(d.step) }).collect();
    let bits = if bytes == 1 { 32 } else { 64 };
    if bytes > 2 {
        dims.push(Dim { extent: bytes / 2, step: [2 * scale, 2 * scale, 0, 0] });
    }
    let mut nest = Nest { bits: [bits, bits, 0, 0], base: scaled(nest.base), dims };
    nest.normalise();
    nest
}

/// Elements of 4 bits: two of them, from anywhere, make a byte.
fn nibbles(nest: &Nest, source: &ReadSource<'_>, dst: &mut Plane, dst_at: usize, terms: &mut Terms) {
    let half = |at: usize, n: i64, bits: u32| {
        let n = if bits == 4 { n } else { n.saturating_mul(2) };
        (offset(at, n.div_euclid(2)), n.rem_euclid(2) == 1)
    };
    let mut moved: Vec<(usize, bool, Nibble)> = Vec::with_capacity(nest.elements() as usize);
    nest.for_each_element(|[d, s, ..]| {
        let (from, high) = half(source.at, s, nest.bits[SRC]);
        let (to, to_high) = half(dst_at, d, nest.bits[DST]);
        let of = source.plane.unwrap_or(dst).get(from);
        moved.push((to, to_high, terms.nibble(of, high)));
    });
    for (to, high, nibble) in moved {
        let old = dst.get(to);
        let other = terms.nibble(old, !high);
        let pair = if high { [other, nibble] } else { [nibble, other] };
        let id = terms.join(pair);
        dst.set(to, id);
    }
}
