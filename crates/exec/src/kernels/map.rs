//! Nests that compute: every element of the destination is a function of one element of each operand.
//!
//! One loop serves every function and type: it loads a few elements of each operand, computes, and stores, so that an
//! instruction may work in place and the compiler makes vectors of it. The safe twin is [`Mapped::eval`].

use super::cvt;
use super::element::*;
use super::pair::parts;
use super::{Level, OutOfBounds};
use crate::nest::{DST, Nest, OPERANDS, Place, read_bits, write_bits};
use smallvec::SmallVec;
use std::marker::PhantomData;
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

/// A function with its types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mapped {
    pub func: Func,
    /// The type of the result.
    pub to: Elem,
    /// The type of each argument, with its bits where it is a scalar.
    pub args: SmallVec<[(Elem, Option<u64>); 3]>,
}

impl Mapped {
    /// The result for the elements of one point.
    pub fn eval(&self, elements: impl IntoIterator<Item = u64>) -> u64 {
        let mut elements = elements.into_iter();
        let bits = |scalar: Option<u64>, element: &mut dyn Iterator<Item = u64>| scalar.or_else(|| element.next());
        let args: SmallVec<[(Elem, u64); 3]> =
            self.args.iter().filter_map(|(elem, scalar)| Some((*elem, bits(*scalar, &mut elements)?))).collect();
        self.func.eval(self.to, &args)
    }

    /// The types of the arguments that are elements.
    pub fn elements(&self) -> impl Iterator<Item = Elem> + '_ {
        self.args.iter().filter(|(_, scalar)| scalar.is_none()).map(|(elem, _)| *elem)
    }
}

/// A computing nest with its kernel.
#[derive(Clone, Debug)]
pub struct MapKernel {
    mapped: Mapped,
    nest: Nest,
    raw: Option<RawMap>,
    spans: [(i128, i128); OPERANDS],
    /// Where each argument is among the operands; a scalar is in none of them.
    from: [usize; ARGS],
    /// The values of the arguments that are scalars.
    scalars: [[u8; 8]; ARGS],
}

/// Arguments at most.
const ARGS: usize = OPERANDS - 1;

/// A kernel over two loops: where the destination and up to three arguments start.
///
/// Safety: every element that the loops reach is readable, or writable in the destination; a destination element
/// overlaps an argument only where both belong to one point; the machine has the instructions that the kernel was
/// compiled for.
pub(super) type RawMap = unsafe fn([*mut u8; OPERANDS], &Loops);

/// Rows and elements of a row, with the strides of the destination and of the arguments in bytes. The inner stride of a
/// scalar is [`SCALAR`]: its value stands where it starts.
pub(super) struct Loops {
    rows: usize,
    row_step: [isize; OPERANDS],
    n: usize,
    step: [isize; OPERANDS],
}

/// No stride of an operand.
const SCALAR: isize = isize::MIN;

impl MapKernel {
    /// Chooses the kernel of a nest whose operands are the destination and the arguments that are elements.
    pub fn new(nest: Nest, mapped: Mapped, level: Level) -> MapKernel {
        let mut from = [0; ARGS];
        let mut operand = DST;
        for ((_, scalar), from) in mapped.args.iter().zip(&mut from) {
            if scalar.is_none() {
                operand += 1;
                *from = operand;
            }
        }
        let chosen = choose(&mapped, level.clamped()).filter(|_| nest.elements() > 0);
        MapKernel {
            raw: chosen.map(|c| c.0),
            spans: [0, 1, 2, 3].map(|k: usize| nest.span(k)),
            mapped,
            nest,
            from,
            scalars: chosen.map_or([[0; 8]; ARGS], |c| c.1),
        }
    }

    /// Runs the nest; the places are those of its operands.
    pub fn run<M: AsMut<[u8]>>(&self, memories: &mut [M], places: &[Place]) -> Result<(), OutOfBounds> {
        let n = self.nest.operands();
        let first = places.first().ok_or(OutOfBounds::NOWHERE)?;
        let mut at = [*first; OPERANDS];
        at.iter_mut().zip(places.get(..n).ok_or(OutOfBounds::NOWHERE)?).for_each(|(at, place)| *at = *place);
        let parts = parts(memories, at.map(|p| p.memory.index())).ok_or(OutOfBounds::NOWHERE)?;
        for k in 0..n {
            OutOfBounds::check(self.spans[k], at[k].at, parts[k].1)?;
        }
        let Some(raw) = self.raw else {
            self.elements(memories, &at);
            return Ok(());
        };
        let pointer = |k: usize| parts[k].0.wrapping_add(at[k].at).wrapping_offset(self.nest.base[k] as isize);
        let mut start = [pointer(DST); OPERANDS];
        for k in 0..ARGS {
            // A scalar is read where it stands, again and again, and nothing writes there.
            let scalar = self.scalars[k].as_ptr().cast_mut();
            start[k + 1] = if self.from[k] == 0 { scalar } else { pointer(self.from[k]) };
        }
        // SAFETY: every operand's span was checked against its memory, and the pointers come from mutable borrows that
        // last until the end of this call; the level was clamped to what the machine has. That operands overlap only
        // element by element is a rule of the instruction (elementwise.md 1).
        unsafe { self.rows(raw, &self.loops(), 0, start) };
        Ok(())
    }

    /// The strides of a loop; those of scalars are `scalar`.
    fn steps(&self, step: &[i64; OPERANDS], scalar: isize) -> [isize; OPERANDS] {
        let mut steps = [step[DST] as isize; OPERANDS];
        for k in 0..ARGS {
            steps[k + 1] = if self.from[k] == 0 { scalar } else { step[self.from[k]] as isize };
        }
        steps
    }

    /// The two innermost loops.
    fn loops(&self) -> Loops {
        let inner = |back: usize, scalar: isize| match self.nest.dims.iter().nth_back(back) {
            Some(dim) => (dim.extent as usize, self.steps(&dim.step, scalar)),
            None => (1, self.steps(&[0; OPERANDS], scalar)),
        };
        let ((n, step), (rows, row_step)) = (inner(0, SCALAR), inner(1, 0));
        Loops { rows, row_step, n, step }
    }

    /// Safety: the contract of [`RawMap`] at every point of the loops from `dim` on.
    unsafe fn rows(&self, raw: RawMap, loops: &Loops, dim: usize, at: [*mut u8; OPERANDS]) {
        if dim + 2 >= self.nest.dims.len() {
            // SAFETY: the contract of this function.
            return unsafe { raw(at, loops) };
        }
        let steps = self.steps(&self.nest.dims[dim].step, 0);
        for i in 0..self.nest.dims[dim].extent as isize {
            let mut next = at;
            next.iter_mut().zip(steps).for_each(|(p, step)| *p = p.wrapping_offset(i.wrapping_mul(step)));
            // SAFETY: the contract of this function.
            unsafe { self.rows(raw, loops, dim + 1, next) };
        }
    }

    /// Element by element, straight from the definition.
    fn elements<M: AsMut<[u8]>>(&self, memories: &mut [M], places: &[Place; OPERANDS]) {
        let bits = self.nest.bits;
        let unit = |k: usize| places[k].at as i64 * if bits[k] == 4 { 2 } else { 1 };
        self.nest.for_each_element(|at| {
            let mut args: SmallVec<[u64; ARGS]> = SmallVec::new();
            for k in 1..self.nest.operands() {
                let memory = memories.get_mut(places[k].memory.index()).map(AsMut::as_mut);
                args.push(memory.map_or(0, |m| read_bits(m, unit(k) + at[k], bits[k])));
            }
            let value = self.mapped.eval(args);
            if let Some(memory) = memories.get_mut(places[DST].memory.index()) {
                write_bits(memory.as_mut(), unit(DST) + at[DST], bits[DST], value);
            }
        });
    }
}

/// A function with the types of its arguments and of its result.
pub(super) trait Op {
    type A: Element;
    type B: Element;
    type C: Element;
    type D: Element;

    fn apply(a: Value<Self::A>, b: Value<Self::B>, c: Value<Self::C>) -> Value<Self::D>;

    /// See [`Fun::settle`].
    #[inline(always)]
    fn settle(_a: &[Value<Self::A>], _b: &[Value<Self::B>], _out: &mut [Value<Self::D>]) {}
}

pub(super) type Value<E> = <E as Element>::Value;

/// A function of one, two or three elements; the third is of the result's type.
struct One<F, E>(PhantomData<(F, E)>);
struct Two<F, E>(PhantomData<(F, E)>);
struct Three<F, E, D>(PhantomData<(F, E, D)>);

impl<F: Fun<Value<E>>, E: Element> Op for One<F, E> {
    type A = E;
    type B = Nothing;
    type C = Nothing;
    type D = E;

    #[inline(always)]
    fn apply(a: Value<E>, (): (), (): ()) -> Value<E> {
        F::of(a, Value::<E>::default(), Value::<E>::default())
    }
}

impl<F: Fun<Value<E>>, E: Element> Op for Two<F, E> {
    type A = E;
    type B = E;
    type C = Nothing;
    type D = E;

    #[inline(always)]
    fn apply(a: Value<E>, b: Value<E>, (): ()) -> Value<E> {
        F::of(a, b, Value::<E>::default())
    }

    #[inline(always)]
    fn settle(a: &[Value<E>], b: &[Value<E>], out: &mut [Value<E>]) {
        F::settle(a, b, out);
    }
}

impl<F: Fun<Value<E>>, E: Element, D: Element<Value = Value<E>>> Op for Three<F, E, D> {
    type A = E;
    type B = E;
    type C = D;
    type D = D;

    #[inline(always)]
    fn apply(a: Value<E>, b: Value<E>, c: Value<E>) -> Value<E> {
        F::of(a, b, c)
    }
}

/// The kernel of a function with its types, and the values of its scalars.
fn choose(mapped: &Mapped, level: Level) -> Option<(RawMap, [[u8; 8]; ARGS])> {
    let to = mapped.to;
    let first = mapped.elements().next()?;
    if let Func::Cvt { rounding, saturation } = mapped.func {
        return cvt::choose(first, to, rounding, saturation, level);
    }
    // The third argument alone may be of another type: the result's.
    let is_kept = |(n, (elem, scalar)): (usize, &(Elem, Option<u64>))| match scalar {
        Some(_) => elem.is_float() == first.is_float(),
        None => *elem == if n == 2 { to } else { first },
    };
    if !mapped.args.iter().enumerate().all(is_kept) || (first != to && mapped.func != Func::Axpy) {
        return None;
    }
    let mut scalars = [[0; 8]; ARGS];
    for ((elem, bits), bytes) in mapped.args.iter().zip(&mut scalars).filter_map(|((e, s), b)| Some(((*e, (*s)?), b))) {
        match elem.decode(bits) {
            // A float enters as the f32 that it is, whatever the type of the elements (isa/scalar.md 2).
            Number::Float(v) => bytes[..4].copy_from_slice(&(v as f32).to_ne_bytes()),
            Number::Int(v) => *bytes = (v as u64).to_le_bytes(),
        }
    }
    let raw = match to.is_float() {
        true => of_floats(mapped.func, first, to, level),
        false => wrapping(mapped.func, to, level).or_else(|| of_integers(mapped.func, to, level)),
    };
    Some((raw?, scalars))
}

/// The kernel of one of some functions; `$types` makes it of a function and how many arguments it has.
macro_rules! among {
    ($func:expr, $types:ident: $($arity:ident $($name:ident)*;)*) => {
        match $func {
            $($(Func::$name => $types!($arity $name),)*)*
            _ => None,
        }
    };
}

fn of_floats(func: Func, elem: Elem, to: Elem, level: Level) -> Option<RawMap> {
    macro_rules! floats {
        (Three $name:ident) => {
            match (elem, to) {
                (Elem::F32, Elem::F32) => Some(leveled::<Three<$name, F32, F32>>(level)),
                (Elem::F16, Elem::F16) => Some(leveled::<Three<$name, F16, F16>>(level)),
                (Elem::Bf16, Elem::Bf16) => Some(leveled::<Three<$name, Bf16, Bf16>>(level)),
                (Elem::F16, Elem::F32) => Some(leveled::<Three<$name, F16, F32>>(level)),
                (Elem::Bf16, Elem::F32) => Some(leveled::<Three<$name, Bf16, F32>>(level)),
                _ => None,
            }
        };
        ($arity:ident $name:ident) => {
            match elem {
                Elem::F32 => Some(leveled::<$arity<$name, F32>>(level)),
                Elem::F16 => Some(leveled::<$arity<$name, F16>>(level)),
                Elem::Bf16 => Some(leveled::<$arity<$name, Bf16>>(level)),
                _ => None,
            }
        };
    }
    macro_rules! bits {
        ($name:ident) => {
            match elem.bits() {
                32 => Some(narrow::<One<$name, U32>>(level)),
                16 => Some(narrow::<One<$name, U16>>(level)),
                _ => None,
            }
        };
    }
    match func {
        Func::Abs => bits!(SignOff),
        Func::Neg => bits!(SignFlipped),
        _ => among! { func, floats:
            One Relu Recip Exp Log Sqrt Rsqrt;
            Two Add Sub Mul Div MulRecip Rem Fmod Pow Max Min Prelu ExpDif;
            Three AddAdd SubAdd Axpy;
        },
    }
}

/// Integer functions for which the sign of the type does not matter.
fn wrapping(func: Func, elem: Elem, level: Level) -> Option<RawMap> {
    macro_rules! unsigned {
        (@ $($op:tt)*) => { Some(narrow::<$($op)*>(level)) };
        (Three $name:ident) => {
            match elem.bits() {
                8 => unsigned!(@ Three<$name, U8, U8>),
                16 => unsigned!(@ Three<$name, U16, U16>),
                32 => unsigned!(@ Three<$name, U32, U32>),
                64 => unsigned!(@ Three<$name, U64, U64>),
                _ => None,
            }
        };
        ($arity:ident $name:ident) => {
            match elem.bits() {
                8 => unsigned!(@ $arity<$name, U8>),
                16 => unsigned!(@ $arity<$name, U16>),
                32 => unsigned!(@ $arity<$name, U32>),
                64 => unsigned!(@ $arity<$name, U64>),
                _ => None,
            }
        };
    }
    among! { func, unsigned:
        One Neg Not;
        Two Add Sub Mul And Or Xor Shl;
        Three AddAdd SubAdd;
    }
}

fn of_integers(func: Func, elem: Elem, level: Level) -> Option<RawMap> {
    macro_rules! integers {
        ($arity:ident $name:ident) => {
            integers!($arity $name: I8 I16 I32 I64 U8 U16 U32 U64)
        };
        ($arity:ident $name:ident: $($elem:ident)*) => {
            match elem {
                $(Elem::$elem => Some(narrow::<$arity<$name, $elem>>(level)),)*
                _ => None,
            }
        };
    }
    among! { func, integers:
        One Abs Relu Recip;
        Two Div Rem Fmod Pow Max Min Shr;
    }
}

/// Loads up to `m` elements from the `i`-th on; what is beyond them is any number.
///
/// Safety: they are readable, and so is the value of a scalar; the machine has the instructions of `M`.
#[inline(always)]
unsafe fn load<E: Element, M: Machine>(at: *const u8, step: isize, i: usize, m: usize) -> [E::Value; LANES] {
    let size = size_of::<E::Raw>() as isize;
    if size == 0 {
        return [E::Value::default(); LANES];
    }
    if step == SCALAR {
        // SAFETY: the contract of this function.
        return [unsafe { at.cast::<E::Value>().read_unaligned() }; LANES];
    }
    let point = |lane: usize| at.wrapping_offset(step.wrapping_mul((i + lane) as isize)).cast::<E::Raw>();
    // SAFETY: elements `i` to `i + m` of the loop, or the one that all of them share.
    let raw = unsafe {
        if step == size && m == LANES {
            point(0).cast::<[E::Raw; LANES]>().read_unaligned()
        } else if step == 0 {
            [point(0).read_unaligned(); LANES]
        } else {
            let mut raw = [E::Raw::default(); LANES];
            for (lane, raw) in raw.iter_mut().enumerate().take(m) {
                *raw = point(lane).read_unaligned();
            }
            raw
        }
    };
    // SAFETY: the contract of this function.
    unsafe { E::get_all::<M>(raw) }
}

/// Safety: the contract of [`RawMap`]; the machine has the instructions of `M`.
#[inline(always)]
unsafe fn row<O: Op, M: Machine>(at: [*mut u8; OPERANDS], step: &[isize; OPERANDS], n: usize) {
    let size = size_of::<<O::D as Element>::Raw>() as isize;
    let point = |i: usize| at[DST].wrapping_offset(step[DST].wrapping_mul(i as isize)).cast::<<O::D as Element>::Raw>();
    let mut i = 0;
    while i < n {
        let m = LANES.min(n - i);
        // SAFETY: the contract of this function.
        let (a, b, c) = unsafe {
            (
                load::<O::A, M>(at[1], step[1], i, m),
                load::<O::B, M>(at[2], step[2], i, m),
                load::<O::C, M>(at[3], step[3], i, m),
            )
        };
        let mut values = [Value::<O::D>::default(); LANES];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = O::apply(a[lane], b[lane], c[lane]);
        }
        O::settle(&a, &b, &mut values);
        // SAFETY: elements `i` to `i + m` of the loop.
        unsafe {
            let out = O::D::put_all::<M>(values);
            if step[DST] == size && m == LANES {
                point(i).cast::<[<O::D as Element>::Raw; LANES]>().write_unaligned(out);
            } else {
                for (lane, out) in out.into_iter().enumerate().take(m) {
                    point(i + lane).write_unaligned(out);
                }
            }
        }
        i += m;
    }
}

/// Safety: the contract of [`RawMap`]; the machine has the instructions of `M`.
#[inline(always)]
unsafe fn all<O: Op, M: Machine>(mut at: [*mut u8; OPERANDS], loops: &Loops) {
    for _ in 0..loops.rows {
        // SAFETY: the contract of this function.
        unsafe { row::<O, M>(at, &loops.step, loops.n) };
        at.iter_mut().zip(loops.row_step).for_each(|(p, step)| *p = p.wrapping_offset(step));
    }
}

macro_rules! compiled {
    ($($name:ident $machine:ident $features:literal)*) => {$(
        /// Safety: the contract of [`RawMap`], on a machine with these instructions.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $name<O: Op>(at: [*mut u8; OPERANDS], loops: &Loops) {
            // SAFETY: the contract of this function.
            unsafe { all::<O, super::x86::$machine>(at, loops) }
        }
    )*};
}
compiled! { avx512 Avx512 "avx512f,avx512bw,avx512dq,avx512vl,f16c" avx2 Avx2 "avx2,f16c" }

/// The kernel of a level.
pub(super) fn leveled<O: Op>(level: Level) -> RawMap {
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx512 {
        return avx512::<O>;
    }
    narrow::<O>(level)
}

/// The same where wider vectors than AVX2's are not worth their code.
pub(super) fn narrow<O: Op>(level: Level) -> RawMap {
    #[cfg(target_arch = "x86_64")]
    if level >= Level::Avx2 {
        return avx2::<O>;
    }
    let _ = level;
    all::<O, Plain>
}
