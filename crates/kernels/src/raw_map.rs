//! The loops of nests that compute.
//!
//! A function over some types is compiled as one loop over groups of elements that lie side by side ([`groups`]), which the
//! compiler makes vectors of. A group is loaded, computed and stored, so that an instruction may work in place. Everything
//! else is shared by all functions: elements that lie apart, or are fewer than a group, go through buffers ([`RawMap::run`]).

#![allow(clippy::needless_range_loop, reason = "a lane is one of several arrays, and closures keep vectors out")]

use super::Level;
use super::element::*;
use crate::nest::{DST, OPERANDS};
use std::mem::MaybeUninit;

/// Rows and elements of a row, with the strides of the destination and of the arguments in bytes. The inner stride of a
/// scalar is [`SCALAR`]: its value stands where it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loops {
    pub rows: usize,
    pub row_step: [isize; OPERANDS],
    pub n: usize,
    pub step: [isize; OPERANDS],
}

/// No stride of an operand.
pub(super) const SCALAR: isize = isize::MIN;

/// The second argument, which may have one value in a row.
const SECOND: usize = 2;

/// A function with the types of its arguments and of its result.
pub(super) trait Op {
    type A: Element;
    type B: Element;
    type C: Element;
    type D: Element;

    /// Whether the second and the third argument are always scalars.
    const BOUNDED: bool = false;

    fn apply(a: Value<Self::A>, b: Value<Self::B>, c: Value<Self::C>) -> Value<Self::D>;

    /// See [`Fun::of_all`](super::function::Fun::of_all).
    ///
    /// Safety: the machine has the instructions of `M`.
    #[inline(always)]
    unsafe fn apply_all<M: Simd>(a: &Values<Self::A>, b: &Values<Self::B>, c: &Values<Self::C>) -> Values<Self::D> {
        let mut out = [Value::<Self::D>::default(); LANES];
        for lane in 0..LANES {
            out[lane] = Self::apply(a[lane], b[lane], c[lane]);
        }
        out
    }
}

pub(super) type Value<E> = <E as Element>::Value;
pub(super) type Values<E> = [<E as Element>::Value; LANES];

/// A kernel over two loops.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawMap {
    /// The loop over elements of every operand.
    groups: Groups,
    /// The loop where the second argument has one value in a row, if there is one for that.
    same: Option<Groups>,
    /// The bytes of an element by operand; 0 of arguments that are not there, or that `groups` takes as scalars.
    sizes: [usize; OPERANDS],
    /// A kernel that comes first, where the machine has instructions that the compiler does not find.
    first: Option<RawRows>,
}

/// The loop over `n` elements of each row: whole groups, side by side in the destination and in every argument that is not a
/// scalar or, where the loop is compiled for that, the same in a row.
///
/// Safety: the contract of [`RawMap::run`].
type Groups = unsafe fn(at: [*mut u8; OPERANDS], loops: &Loops, n: usize);

/// Computes the first elements of every row, and says how many these are.
///
/// Safety: the contract of [`RawMap::run`].
pub(super) type RawRows = unsafe fn(at: [*mut u8; OPERANDS], loops: &Loops) -> usize;

impl RawMap {
    fn new<O: Op>(groups: Groups, same: Option<Groups>) -> RawMap {
        let args = if O::BOUNDED { [0; 2] } else { [size_of::<Raw<O::B>>(), size_of::<Raw<O::C>>()] };
        let sizes = [size_of::<Raw<O::D>>(), size_of::<Raw<O::A>>(), args[0], args[1]];
        RawMap { groups, same, sizes, first: None }
    }

    /// The same behind a kernel for some of the elements.
    pub fn after(self, first: RawRows) -> RawMap {
        RawMap { first: Some(first), ..self }
    }

    /// Runs the loops on operands that start at `at`, the destination first.
    ///
    /// Safety: every element that the loops reach is readable, or writable in the destination; a destination element
    /// overlaps an argument only where both belong to one point; the machine has the instructions that the kernel was
    /// compiled for.
    pub unsafe fn run(&self, mut at: [*mut u8; OPERANDS], loops: &Loops) {
        // SAFETY: the contract of this function.
        let done = self.first.map_or(0, |first| unsafe { first(at, loops) });
        if done >= loops.n {
            return;
        }
        let is_same = self.sizes[SECOND] > 0 && matches!(loops.step[SECOND], SCALAR | 0);
        let same = self.same.filter(|_| is_same);
        let is_fixed = |k: usize| self.sizes[k] == 0 || (k == SECOND && same.is_some());
        let is_dense = [0, 1, 2, 3].map(|k: usize| is_fixed(k) || loops.step[k] == self.sizes[k] as isize);
        let groups = same.unwrap_or(self.groups);
        for k in (0..OPERANDS).filter(|k| loops.step[*k] != SCALAR) {
            at[k] = at[k].wrapping_offset(loops.step[k].wrapping_mul(done as isize));
        }
        let n = loops.n - done;
        let whole = if is_dense == [true; OPERANDS] { n - n % LANES } else { 0 };
        // SAFETY: the contract of this function: all of these lie side by side.
        unsafe {
            if whole > 0 {
                groups(at, loops, whole);
            }
            if whole < n {
                self.staged(groups, at, &Loops { n, ..*loops }, whole, is_fixed, is_dense);
            }
        }
    }

    /// The elements of each row from `whole` on, some at a time: operands that do not lie side by side are gathered into
    /// buffers, and the results are spread.
    ///
    /// Safety: the contract of [`RawMap::run`].
    #[inline(never)]
    unsafe fn staged(
        &self,
        groups: Groups,
        mut at: [*mut u8; OPERANDS],
        loops: &Loops,
        whole: usize,
        is_fixed: impl Fn(usize) -> bool,
        is_dense: [bool; OPERANDS],
    ) {
        let mut buffers = [const { MaybeUninit::<[u64; STAGE]>::uninit() }; OPERANDS];
        let buffers = buffers.each_mut().map(|buffer| buffer.as_mut_ptr().cast::<u8>());
        for _ in 0..loops.rows {
            for start in (whole..loops.n).step_by(STAGE) {
                let n = STAGE.min(loops.n - start);
                let point = |k: usize| at[k].wrapping_offset(loops.step[k].wrapping_mul(start as isize));
                let mut place = at;
                for k in (0..OPERANDS).filter(|k| !is_fixed(*k)) {
                    let is_there = is_dense[k] && n.is_multiple_of(LANES);
                    place[k] = if is_there { point(k) } else { buffers[k] };
                    let is_one = matches!(loops.step[k], SCALAR | 0);
                    // SAFETY: `n` elements of the row, and room for whole groups of them; one value is enough for all.
                    unsafe {
                        match is_one {
                            _ if is_there || k == DST => {}
                            true if start > whole => {}
                            true => gather(at[k], 0, self.sizes[k], STAGE.min(loops.n), buffers[k]),
                            false => gather(point(k), loops.step[k], self.sizes[k], n, buffers[k]),
                        }
                    }
                }
                let one = Loops { rows: 1, ..*loops };
                // SAFETY: whole groups side by side, in the operands or in the buffers.
                unsafe {
                    groups(place, &one, n.next_multiple_of(LANES));
                    if place[DST] == buffers[DST] {
                        spread(buffers[DST], self.sizes[DST], n, point(DST), loops.step[DST]);
                    }
                }
            }
            at.iter_mut().zip(loops.row_step).for_each(|(p, step)| *p = p.wrapping_offset(step));
        }
    }
}

/// Elements that go through the buffers at once.
const STAGE: usize = 8 * LANES;

/// Applies `$copy` to the integer type of this number of bytes.
macro_rules! by_size {
    ($size:expr, $copy:ident) => {
        match $size {
            1 => $copy!(u8),
            2 => $copy!(u16),
            4 => $copy!(u32),
            _ => $copy!(u64),
        }
    };
}

/// Copies `n` elements that are a stride apart into a buffer, and fills it up to whole groups.
///
/// Safety: the elements are readable, and the buffer has room for the groups.
unsafe fn gather(from: *const u8, step: isize, size: usize, n: usize, to: *mut u8) {
    let groups = n.next_multiple_of(LANES);
    macro_rules! copy {
        ($type:ty) => {
            for i in 0..n {
                let element = from.wrapping_offset(step.wrapping_mul(i as isize)).cast::<$type>().read_unaligned();
                to.cast::<$type>().add(i).write_unaligned(element);
            }
        };
    }
    // SAFETY: the contract of this function.
    unsafe {
        if step == size as isize {
            std::ptr::copy_nonoverlapping(from, to, n * size);
        } else {
            by_size!(size, copy);
        }
        std::ptr::write_bytes(to.add(n * size), 0, (groups - n) * size);
    }
}

/// Copies `n` elements of a buffer to places that are a stride apart.
///
/// Safety: the elements are readable, and the places writable.
unsafe fn spread(from: *const u8, size: usize, n: usize, to: *mut u8, step: isize) {
    macro_rules! copy {
        ($type:ty) => {
            for i in 0..n {
                let element = from.cast::<$type>().add(i).read_unaligned();
                to.wrapping_offset(step.wrapping_mul(i as isize)).cast::<$type>().write_unaligned(element);
            }
        };
    }
    // SAFETY: the contract of this function.
    unsafe {
        if step == size as isize {
            std::ptr::copy_nonoverlapping(from, to, n * size);
        } else {
            by_size!(size, copy);
        }
    }
}

type Raw<E> = <E as Element>::Raw;

/// The value of an operand that has one in a row: a scalar, or an element.
///
/// Safety: it is readable; the machine has the instructions of `M`.
#[inline(always)]
unsafe fn one<E: Element>(at: *const u8, step: isize) -> E::Value {
    // SAFETY: the contract of this function.
    unsafe {
        match step {
            SCALAR => at.cast::<E::Value>().read_unaligned(),
            _ => E::get(at.cast::<E::Raw>().read_unaligned()),
        }
    }
}

/// The loop over groups for a machine with vectors.
///
/// Safety: the contract of [`Groups`]; the machine has the instructions of `M`.
#[inline(always)]
unsafe fn groups<O: Op, M: Simd, const SAME: bool>(mut at: [*mut u8; OPERANDS], loops: &Loops, n: usize) {
    // SAFETY: the contract of this function, and elements `i` to `i + LANES` of each row.
    unsafe {
        let third = if O::BOUNDED { one::<O::C>(at[3], SCALAR) } else { Value::<O::C>::default() };
        for _ in 0..loops.rows {
            let second = match SAME || O::BOUNDED {
                true => one::<O::B>(at[2], loops.step[2]),
                false => Value::<O::B>::default(),
            };
            let mut i = 0;
            while i < n {
                let a = O::A::get_all::<M>(at[1].cast::<Raw<O::A>>().add(i).cast::<[_; LANES]>().read_unaligned());
                let b = match SAME || O::BOUNDED {
                    true => [second; LANES],
                    false => O::B::get_all::<M>(at[2].cast::<Raw<O::B>>().add(i).cast::<[_; LANES]>().read_unaligned()),
                };
                let c = match O::BOUNDED {
                    true => [third; LANES],
                    false => O::C::get_all::<M>(at[3].cast::<Raw<O::C>>().add(i).cast::<[_; LANES]>().read_unaligned()),
                };
                let out = O::D::put_all::<M>(O::apply_all::<M>(&a, &b, &c));
                at[DST].cast::<Raw<O::D>>().add(i).cast::<[_; LANES]>().write_unaligned(out);
                i = unknown(i + LANES);
            }
            at.iter_mut().zip(loops.row_step).for_each(|(p, step)| *p = p.wrapping_offset(step));
        }
    }
}

/// The same element by element: for functions that no machine has vectors for, and for machines without vectors.
///
/// Safety: the contract of [`Groups`].
unsafe fn each<O: Op, const SAME: bool>(mut at: [*mut u8; OPERANDS], loops: &Loops, n: usize) {
    // SAFETY: the contract of this function, and element `i` of each row.
    unsafe {
        let third = if O::BOUNDED { one::<O::C>(at[3], SCALAR) } else { Value::<O::C>::default() };
        for _ in 0..loops.rows {
            let second = match SAME || O::BOUNDED {
                true => one::<O::B>(at[2], loops.step[2]),
                false => Value::<O::B>::default(),
            };
            let mut i = 0;
            while i < n {
                let a = O::A::get(at[1].cast::<Raw<O::A>>().add(i).read_unaligned());
                let b = match SAME || O::BOUNDED {
                    true => second,
                    false => O::B::get(at[2].cast::<Raw<O::B>>().add(i).read_unaligned()),
                };
                let c = match O::BOUNDED {
                    true => third,
                    false => O::C::get(at[3].cast::<Raw<O::C>>().add(i).read_unaligned()),
                };
                at[DST].cast::<Raw<O::D>>().add(i).write_unaligned(O::D::put(O::apply(a, b, c)));
                i = unknown(i + 1);
            }
            at.iter_mut().zip(loops.row_step).for_each(|(p, step)| *p = p.wrapping_offset(step));
        }
    }
}

/// The number, of which the compiler knows nothing any more. Else it makes vectors of several groups here, and gathers them.
#[inline(always)]
pub(super) fn unknown(i: usize) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut i = i;
        // SAFETY: it does nothing.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) i, options(nomem, nostack, preserves_flags)) };
        i
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    i
}

macro_rules! compiled {
    ($($name:ident $machine:ident $features:literal)*) => {$(
        /// Safety: the contract of [`Groups`], on a machine with these instructions.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $name<O: Op, const SAME: bool>(at: [*mut u8; OPERANDS], loops: &Loops, n: usize) {
            // SAFETY: the contract of this function.
            unsafe { groups::<O, super::x86::$machine, SAME>(at, loops, n) }
        }
    )*};
}
compiled! { avx512 Avx512 "avx512f,avx512bw,avx512dq,avx512vl,f16c,fma" avx2 Avx2 "avx2,f16c,fma" }

/// Safety: the contract of [`Groups`].
unsafe fn plain<O: Op, const SAME: bool>(at: [*mut u8; OPERANDS], loops: &Loops, n: usize) {
    // SAFETY: the contract of this function.
    unsafe {
        match cfg!(all(target_arch = "x86_64", not(miri))) {
            // x86-64 without AVX2 is rare, and vectors for it are a third of the code.
            true => each::<O, SAME>(at, loops, n),
            false => groups::<O, Plain, SAME>(at, loops, n),
        }
    }
}

/// The loop of a level, where wider vectors than AVX2's are worth their code.
fn wide<O: Op, const SAME: bool>(level: Level) -> Groups {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::<O, SAME>,
        _ => half_wide::<O, SAME>(level),
    }
}

fn half_wide<O: Op, const SAME: bool>(level: Level) -> Groups {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => avx2::<O, SAME>,
        _ => plain::<O, SAME>,
    }
}

/// Whether the second argument may be an element or a scalar.
const fn has_second<O: Op>() -> bool {
    !O::BOUNDED && size_of::<Raw<O::B>>() > 0
}

/// The kernel of a level.
pub(super) fn leveled<O: Op>(level: Level) -> RawMap {
    let same = if const { has_second::<O>() } { Some(wide::<O, true>(level)) } else { None };
    RawMap::new::<O>(wide::<O, false>(level), same)
}

/// The kernel of a level, by pairs of elements where the level has vectors for that.
pub(super) fn paired<O: Op, P: Op>(level: Level) -> RawMap {
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx512 {
        let same: Option<Groups> = if const { has_second::<P>() } { Some(avx512::<P, true>) } else { None };
        return RawMap::new::<P>(avx512::<P, false>, same);
    }
    let same = if const { has_second::<O>() } { Some(half_wide::<O, true>(level)) } else { None };
    RawMap::new::<O>(half_wide::<O, false>(level), same)
}

/// The kernel of integers, whose scalars are elements: vectors of AVX2's width do.
pub(super) fn narrow<O: Op>(level: Level) -> RawMap {
    RawMap::new::<O>(half_wide::<O, false>(level), None)
}

/// The kernel of a function that machines have no vectors for.
pub(super) fn scalar<O: Op>() -> RawMap {
    RawMap::new::<O>(each::<O, false>, None)
}
