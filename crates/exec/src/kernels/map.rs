//! Nests that compute: every element of the destination is a function of one element of each operand.
//!
//! One loop serves every function and type: it loads a few elements of each operand, computes, and stores, so that an
//! instruction may work in place and the compiler makes vectors of it. The safe twin is [`Mapped::eval`].

use super::pair::parts;
use super::{Level, OutOfBounds};
use crate::nest::{DST, Nest, OPERANDS, Place, read_bits, write_bits};
use smallvec::SmallVec;
use tessera_isa::codec::{Overflow, f16_to_f32};
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
    scalars: [[u8; 8]; ARGS],
}

/// Arguments at most.
const ARGS: usize = OPERANDS - 1;

/// A kernel over one loop: the destination and up to three arguments, their strides in bytes, and how many elements.
///
/// Safety: every element that the loop reaches is readable, or writable in the destination; a destination element
/// overlaps an argument only where both belong to one point; the machine has the instructions that the kernel was
/// compiled for.
type RawMap = unsafe fn([*mut u8; OPERANDS], [isize; OPERANDS], usize);

impl MapKernel {
    /// Chooses the kernel of a nest whose operands are the destination and the arguments that are elements.
    pub fn new(nest: Nest, mapped: Mapped, level: Level) -> MapKernel {
        let same = mapped.args.iter().all(|(elem, _)| *elem == mapped.to);
        let mut from = [0; ARGS];
        let mut scalars = [[0; 8]; ARGS];
        let mut operand = DST;
        for ((elem, scalar), (from, bytes)) in mapped.args.iter().zip(from.iter_mut().zip(&mut scalars)) {
            match scalar {
                Some(bits) => *bytes = (bits & elem.mask()).to_le_bytes(),
                None => {
                    operand += 1;
                    *from = operand;
                }
            }
        }
        MapKernel {
            raw: raw(mapped.func, mapped.to, level.clamped()).filter(|_| same && nest.elements() > 0),
            spans: [0, 1, 2, 3].map(|k: usize| nest.span(k)),
            mapped,
            nest,
            from,
            scalars,
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
        unsafe { self.rows(raw, 0, start) };
        Ok(())
    }

    fn steps(&self, dim: usize) -> [isize; OPERANDS] {
        let step = self.nest.dims[dim].step;
        let mut steps = [step[DST] as isize; OPERANDS];
        for k in 0..ARGS {
            steps[k + 1] = if self.from[k] == 0 { 0 } else { step[self.from[k]] as isize };
        }
        steps
    }

    /// Safety: the contract of [`RawMap`] at every point of the loops from `dim` on.
    unsafe fn rows(&self, raw: RawMap, dim: usize, at: [*mut u8; OPERANDS]) {
        if dim + 1 >= self.nest.dims.len() {
            let (steps, n) = match self.nest.dims.get(dim) {
                Some(d) => (self.steps(dim), d.extent as usize),
                None => ([0; OPERANDS], 1),
            };
            // SAFETY: the contract of this function.
            return unsafe { raw(at, steps, n) };
        }
        let steps = self.steps(dim);
        for i in 0..self.nest.dims[dim].extent as isize {
            let mut next = at;
            next.iter_mut().zip(steps).for_each(|(p, step)| *p = p.wrapping_offset(i.wrapping_mul(step)));
            // SAFETY: the contract of this function.
            unsafe { self.rows(raw, dim + 1, next) };
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

/// An element type as kernels see it: the bits in memory, and the value that is computed with.
pub(super) trait Element {
    /// As it lies in memory.
    type Raw: Copy + Default;
    /// What is computed with.
    type Value: Copy + Default;
    /// The value of some bits.
    fn get(raw: Self::Raw) -> Self::Value;
    /// The bits of a value, rounded once.
    fn put(value: Self::Value) -> Self::Raw;
}

macro_rules! element {
    ($($name:ident $raw:ty as $value:ty: |$x:ident| $get:expr, |$v:ident| $put:expr;)*) => {$(
        pub(super) struct $name;

        impl Element for $name {
            type Raw = $raw;
            type Value = $value;

            #[inline(always)]
            fn get($x: $raw) -> $value {
                $get
            }

            #[inline(always)]
            fn put($v: $value) -> $raw {
                $put
            }
        }
    )*};
}

element! {
    F32 u32 as f32: |x| f32::from_bits(x), |v| if v.is_nan() { 0x7FC0_0000 } else { v.to_bits() };
    F16 u16 as f32: |x| f16_to_f32(x), |v| Elem::F16.encode_f32(v, Overflow::Infinity) as u16;
    Bf16 u16 as f32: |x| f32::from_bits(u32::from(x) << 16), |v| Elem::Bf16.encode_f32(v, Overflow::Infinity) as u16;
    I8 i8 as i8: |x| x, |v| v;
    I16 i16 as i16: |x| x, |v| v;
    I32 i32 as i32: |x| x, |v| v;
    I64 i64 as i64: |x| x, |v| v;
    U8 u8 as u8: |x| x, |v| v;
    U16 u16 as u16: |x| x, |v| v;
    U32 u32 as u32: |x| x, |v| v;
    U64 u64 as u64: |x| x, |v| v;
}

/// A function of `N` values of one type.
pub(super) trait Op<V, const N: usize> {
    fn apply(args: [V; N]) -> V;
}

/// The table of kernels: a function, its arguments, what it is on floats (in f32) and on integers.
macro_rules! table {
    ($($func:ident [$($x:ident)*] $n:literal, float $float:expr, integer $integer:expr;)*) => {
        $(
            pub(super) struct $func;
            table!(@impl $func [$($x)*] $n, f32, $float);
            table!(@integers $func [$($x)*] $n, $integer);
        )*

        fn raw(func: Func, elem: Elem, level: Level) -> Option<RawMap> {
            match func {
                $(Func::$func => {
                    macro_rules! at {
                        ($elem:ident) => { leveled::<$elem, $func, $n>(level) };
                    }
                    Some(match elem {
                        Elem::F32 => at!(F32), Elem::F16 => at!(F16), Elem::Bf16 => at!(Bf16),
                        Elem::I8 => at!(I8), Elem::I16 => at!(I16), Elem::I32 => at!(I32), Elem::I64 => at!(I64),
                        Elem::U8 => at!(U8), Elem::U16 => at!(U16), Elem::U32 => at!(U32), Elem::U64 => at!(U64),
                        _ => return None,
                    })
                })*
                _ => None,
            }
        }
    };
    (@integers $func:ident [$($x:ident)*] $n:literal, $value:expr) => {
        table!(@impl $func [$($x)*] $n, i8, $value);
        table!(@impl $func [$($x)*] $n, i16, $value);
        table!(@impl $func [$($x)*] $n, i32, $value);
        table!(@impl $func [$($x)*] $n, i64, $value);
        table!(@impl $func [$($x)*] $n, u8, $value);
        table!(@impl $func [$($x)*] $n, u16, $value);
        table!(@impl $func [$($x)*] $n, u32, $value);
        table!(@impl $func [$($x)*] $n, u64, $value);
    };
    (@impl $func:ident [$($x:ident)*] $n:literal, $type:ty, $value:expr) => {
        impl Op<$type, $n> for $func {
            #[inline(always)]
            fn apply([$($x),*]: [$type; $n]) -> $type {
                $value
            }
        }
    };
}

table! {
    Add [x y] 2, float x + y, integer x.wrapping_add(y);
}

/// Elements that are loaded together.
const LANES: usize = 32;

/// Safety: the contract of [`RawMap`].
#[inline(always)]
unsafe fn row<E: Element, O: Op<E::Value, N>, const N: usize>(
    at: [*mut u8; OPERANDS],
    step: [isize; OPERANDS],
    n: usize,
) {
    let size = size_of::<E::Raw>() as isize;
    let side_by_side = step[DST] == size && step[1..=N].iter().all(|s| *s == size || *s == 0);
    let point = |k: usize, i: usize| at[k].wrapping_offset(step[k].wrapping_mul(i as isize)).cast::<E::Raw>();
    let mut i = 0;
    while side_by_side && i + LANES <= n {
        let mut args = [[E::Raw::default(); LANES]; N];
        for (k, arg) in args.iter_mut().enumerate() {
            let p = point(k + 1, i);
            // SAFETY: LANES elements from `i` on, or the one that all of them share.
            *arg = unsafe {
                if step[k + 1] == 0 {
                    [p.read_unaligned(); LANES]
                } else {
                    p.cast::<[E::Raw; LANES]>().read_unaligned()
                }
            };
        }
        let mut out = [E::Raw::default(); LANES];
        for (lane, out) in out.iter_mut().enumerate() {
            let mut values = [E::Value::default(); N];
            values.iter_mut().zip(&args).for_each(|(v, arg)| *v = E::get(arg[lane]));
            *out = E::put(O::apply(values));
        }
        // SAFETY: LANES elements from `i` on.
        unsafe { point(DST, i).cast::<[E::Raw; LANES]>().write_unaligned(out) };
        i += LANES;
    }
    while i < n {
        let mut values = [E::Value::default(); N];
        for (k, v) in values.iter_mut().enumerate() {
            // SAFETY: element `i` of the loop.
            *v = E::get(unsafe { point(k + 1, i).read_unaligned() });
        }
        // SAFETY: element `i` of the loop.
        unsafe { point(DST, i).write_unaligned(E::put(O::apply(values))) };
        i += 1;
    }
}

fn leveled<E: Element, O: Op<E::Value, N>, const N: usize>(level: Level) -> RawMap {
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! compiled {
            ($($name:ident $features:literal)*) => {$(
                /// Safety: the contract of [`RawMap`], on a machine with these instructions.
                #[target_feature(enable = $features)]
                unsafe fn $name<E: Element, O: Op<E::Value, N>, const N: usize>(
                    at: [*mut u8; OPERANDS],
                    step: [isize; OPERANDS],
                    n: usize,
                ) {
                    // SAFETY: the contract of this function.
                    unsafe { row::<E, O, N>(at, step, n) }
                }
            )*};
        }
        compiled! { avx512 "avx512f,avx512bw,avx512dq,avx512vl" avx2 "avx2" }
        match level {
            Level::Avx512 => return avx512::<E, O, N>,
            Level::Avx2 => return avx2::<E, O, N>,
            Level::Scalar => {}
        }
    }
    let _ = level;
    row::<E, O, N>
}
