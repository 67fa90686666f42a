//! Folds: one more element to every result, again and again (reduce.md 5).

use super::element::*;
use super::function::*;
use super::{Level, PackedKernel, PackedOp};
use crate::nest::{DST, read_bits};
use smallvec::SmallVec;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

/// The results of `[results, depth]` elements of `x`, the first ones of all results first; none where nothing is folded by
/// the function.
pub(super) fn fold(func: Func, from: Elem, to: Elem, [results, depth]: [usize; 2], x: &[u8]) -> Option<Vec<u8>> {
    if let Func::Arg { greatest, value } = func
        && results > 0
        && (!value || from == to)
        && let Some(found) = arg(greatest, value, from, to, results, x)
    {
        return Some(found);
    }
    let Some(start) = func.start(Func::state(to)) else {
        return by_definition(func, from, to, [results, depth], x);
    };
    macro_rules! kernel {
        ($op:ident: $($elem:ident $from:ident => $state:ident;)*) => {
            match (from, Func::state(to)) {
                $((Elem::$from, Elem::$state) => Some(best_states::<$elem, $state, $op>(results, start, x)),)*
                _ => None,
            }
        };
    }
    macro_rules! types {
        ($op:ident) => {
            kernel! { $op:
                F32 F32 => F32; F16 F16 => F32; Bf16 Bf16 => F32; I16 I16 => I32;
                I8 I8 => I8; I16 I16 => I16; I32 I32 => I32; I64 I64 => I64;
                U8 U8 => U8; U16 U16 => U16; U32 U32 => U32; U64 U64 => U64;
            }
        };
    }
    let state = match func {
        Func::Add => types!(Add),
        Func::Mul => types!(Mul),
        Func::Max => types!(Max),
        Func::Min => types!(Min),
        _ => None,
    };
    match state {
        Some(state) => Some(rounded(to, state)),
        None => by_definition(func, from, to, [results, depth], x),
    }
}

/// Folds along rows of f32 that machines have kernels for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Folds {
    Sum,
    Greatest,
    Least,
}

impl Folds {
    fn of(func: Func) -> Option<Folds> {
        match func {
            Func::Add => Some(Folds::Sum),
            Func::Max => Some(Folds::Greatest),
            Func::Min => Some(Folds::Least),
            _ => None,
        }
    }

    /// The initial value.
    fn start(self) -> f32 {
        match self {
            Folds::Sum => 0.0,
            Folds::Greatest => f32::NEG_INFINITY,
            Folds::Least => f32::INFINITY,
        }
    }
}

/// The results of as many rows of f32 as `results`, which lie a pitch apart, where the machine has a kernel for it: it
/// turns them in registers instead of gathering them. `elements` are those of all rows.
pub(super) fn fold_rows(
    func: Func,
    from: Elem,
    to: Elem,
    results: usize,
    elements: usize,
    (rows, pitch): (&[u8], isize),
) -> Option<Vec<u8>> {
    #[cfg(target_arch = "x86_64")]
    if (from, to) == (Elem::F32, Elem::F32) && results >= 16 && Level::best() >= Level::Avx512 {
        let folds = Folds::of(func)?;
        let depth = elements / results;
        let end = usize::try_from(pitch).ok()?.checked_mul(results - 1)?.checked_add(depth * 4)?;
        rows.get(..end)?;
        let mut out = vec![0.0; results];
        // SAFETY: the last row ends inside, and the machine has the instructions.
        unsafe { super::x86::row_fold(folds)(rows.as_ptr(), pitch, depth, folds.start(), &mut out) };
        return Some(out.into_iter().flat_map(f32::to_le_bytes).collect());
    }
    let _ = (func, from, to, results, elements, rows, pitch);
    None
}

/// A fold of rows of f32: where the rows and the results lie, from where their operands start.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowFoldPlan {
    pub folds: Folds,
    /// Rows and their elements.
    pub shape: [usize; 2],
    /// The first row, and how far it is to the next one.
    pub from: (i64, i64),
    /// The same of the results.
    pub to: (i64, i64),
}

impl RowFoldPlan {
    /// The fold, where the machine has a kernel for it.
    pub fn of(staged: &PackedKernel) -> Option<RowFoldPlan> {
        let (PackedOp::Reduce { func, to: Elem::F32, extent: [results, 1, depth], starts: false }, [input]) =
            (staged.what, staged.inputs.as_slice())
        else {
            return None;
        };
        let ((first, pitch), [into]) = (input.rows?, staged.output.nests.as_slice()) else { return None };
        let [dim] = into.dims.as_slice() else { return None };
        let is_one = input.elem == Elem::F32 && results >= 16 && Level::best() >= Level::Avx512;
        is_one.then_some(RowFoldPlan {
            folds: Folds::of(func)?,
            shape: [results, depth],
            from: (first as i64, pitch as i64),
            to: (into.base[DST], dim.step[DST]),
        })
    }
}

/// A fold of rows of f32 whose operands were found inside their memories.
pub(super) struct BoundRowFold {
    pub folds: Folds,
    pub start: f32,
    shape: [usize; 2],
    /// The first row and the first result, and how far it is to those of the next strip.
    rows: (*mut u8, isize),
    out: (*mut u8, isize),
    pitch: isize,
    /// From one result to the next.
    step: isize,
}

impl BoundRowFold {
    /// The fold on a destination and a source that start here, where the machine has a kernel for it.
    pub fn new(folded: RowFoldPlan, out: (*mut u8, isize), rows: (*mut u8, isize)) -> BoundRowFold {
        let RowFoldPlan { folds, shape, from, to } = folded;
        let at = |(start, strip): (*mut u8, isize), first: i64| (start.wrapping_offset(first as isize), strip);
        let (rows, out) = (at(rows, from.0), at(out, to.0));
        BoundRowFold { folds, start: folds.start(), shape, rows, out, pitch: from.1 as isize, step: to.1 as isize }
    }

    /// Runs it on the strip with this number.
    ///
    /// Safety: the number is one of those requested, the memories have not moved, and nothing else accesses them.
    pub unsafe fn run(&self, number: isize) {
        let [results, depth] = self.shape;
        let mut out: SmallVec<[f32; 64]> = SmallVec::from_elem(0.0, results);
        let rows = self.rows.0.wrapping_offset(self.rows.1 * number);
        // SAFETY: the spans were checked for the first and the last strip, and the machine has the instructions.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            super::x86::row_fold(self.folds)(rows, self.pitch, depth, self.start, &mut out);
            #[cfg(not(target_arch = "x86_64"))]
            let _ = (rows, self.pitch, depth, self.folds, self.start, &mut out);
            self.put(number, 0, &out);
        }
    }

    /// Writes the results of a strip from row `first` on.
    ///
    /// Safety: as of [`BoundRowFold::run`], and there are such rows.
    #[inline(always)]
    pub unsafe fn put(&self, number: isize, first: isize, results: &[f32]) {
        let mut to = self.out.0.wrapping_offset(self.out.1 * number + self.step * first);
        for result in results {
            // SAFETY: one of the results of the strip.
            unsafe { to.cast::<f32>().write_unaligned(*result) };
            to = to.wrapping_offset(self.step);
        }
    }
}

/// The place of the first greatest or least element of each result, or that element (isa/reduce.md 5).
fn arg(greatest: bool, value: bool, from: Elem, to: Elem, results: usize, x: &[u8]) -> Option<Vec<u8>> {
    macro_rules! kernel {
        ($($elem:ident)*) => {
            match from {
                $(Elem::$elem if greatest => Some(best_places::<$elem, Greater>(results, x)),)*
                $(Elem::$elem => Some(best_places::<$elem, Less>(results, x)),)*
                _ => None,
            }
        };
    }
    let (places, elements) = kernel! { F32 F16 Bf16 I8 I16 I32 I64 U8 U16 U32 U64 }?;
    let size = to.bits() as usize / 8;
    match value {
        true => Some(elements),
        false => Some(places.into_iter().flat_map(|k| u64::from(k).to_le_bytes().into_iter().take(size)).collect()),
    }
}

/// The comparison that selects one of two values.
trait Beats<V> {
    fn beats(x: V, y: V) -> bool;
}

macro_rules! winners {
    ($($name:ident $op:tt;)*) => {$(
        struct $name;

        impl<V: PartialOrd> Beats<V> for $name {
            #[inline(always)]
            fn beats(x: V, y: V) -> bool {
                x $op y
            }
        }
    )*};
}
winners! { Greater >; Less <; }

/// The places and the bits of the winners: the first NaN wins over every number.
#[inline(always)]
fn places<E: Element, O: Beats<E::Value>>(results: usize, x: &[u8]) -> (Vec<u32>, Vec<u8>)
where
    E::Raw: Bits,
    E::Value: PartialEq,
{
    #[allow(clippy::eq_op, reason = "true of a NaN alone")]
    let is_nan = |v: E::Value| v != v;
    let row = results * size_of::<E::Raw>();
    let mut rows = x.chunks_exact(row.max(1));
    let mut best: Vec<E::Raw> = E::Raw::all(rows.next().unwrap_or(&[])).collect();
    let mut places = vec![0u32; best.len()];
    for (k, row) in (1..).zip(rows) {
        for ((best, place), x) in best.iter_mut().zip(&mut places).zip(E::Raw::all(row)) {
            let (old, new) = (E::get(*best), E::get(x));
            let wins = !is_nan(old) & (O::beats(new, old) | is_nan(new));
            *best = if wins { x } else { *best };
            *place = if wins { k } else { *place };
        }
    }
    let mut bytes = vec![0; row];
    bytes.chunks_exact_mut(size_of::<E::Raw>()).zip(best).for_each(|(to, bits)| bits.write(to));
    (places, bytes)
}

multiversion! {
    fn best_places[E: Element, O: Beats<E::Value>][E, O](results: usize, x: &[u8]) -> (Vec<u32>, Vec<u8>)
    where [E::Raw: Bits, E::Value: PartialEq] {
        places::<E, O>(results, x)
    }
    "avx2", "avx2"
}

/// Every result from its state, rounded once.
fn rounded(to: Elem, state: Vec<u8>) -> Vec<u8> {
    let from = Func::state(to);
    if from == to {
        return state;
    }
    let size = to.bits() as usize / 8;
    let elements = state.chunks_exact(from.bits() as usize / 8);
    let bits = elements.map(|s| tessera_isa::sem::convert(from, to, read_bits(s, 0, from.bits())));
    bits.flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
}

/// Element by element.
fn by_definition(func: Func, from: Elem, to: Elem, [results, depth]: [usize; 2], x: &[u8]) -> Option<Vec<u8>> {
    let size = from.bits() as usize / 8;
    let element = |n: usize| [(from, read_bits(x, (n * size) as i64, from.bits()))];
    let mut out = Vec::with_capacity(results * to.bits() as usize / 8);
    for r in 0..results {
        let elements: Vec<_> = (0..depth).map(|k| element(k * results + r)).collect();
        let folded = func.fold(to, None, elements.iter().map(|e| e.as_slice()))?;
        out.extend(folded.to_le_bytes().into_iter().take(to.bits() as usize / 8));
    }
    Some(out)
}

/// One more element to every state, in rising k.
#[inline(always)]
fn states<E: Element, S: Element, O: Fun<S::Value>>(results: usize, start: u64, x: &[u8]) -> Vec<u8>
where
    S::Value: From<E::Value>,
    E::Raw: Bits,
    S::Raw: Bits,
{
    let first = S::Raw::all(&start.to_le_bytes()).next().unwrap_or_default();
    let mut states = vec![S::get(first); results];
    for row in x.chunks_exact((results * size_of::<E::Raw>()).max(1)) {
        for (s, x) in states.iter_mut().zip(E::Raw::all(row)) {
            *s = O::of(*s, S::Value::from(E::get(x)), S::Value::default());
        }
    }
    let mut bytes = vec![0; results * size_of::<S::Raw>()];
    for (to, s) in bytes.chunks_exact_mut(size_of::<S::Raw>()).zip(&states) {
        S::put(*s).write(to);
    }
    bytes
}

/// Elements in little-endian bytes.
pub(super) trait Bits: Sized {
    fn all(bytes: &[u8]) -> impl Iterator<Item = Self>;
    fn write(self, to: &mut [u8]);
}

macro_rules! bits {
    ($($type:ty)*) => {$(
        impl Bits for $type {
            #[inline(always)]
            fn all(bytes: &[u8]) -> impl Iterator<Item = Self> {
                bytes.as_chunks().0.iter().map(|b| <$type>::from_le_bytes(*b))
            }

            #[inline(always)]
            fn write(self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
bits! { i8 i16 i32 i64 u8 u16 u32 u64 }

multiversion! {
    fn best_states[E: Element, S: Element, O: Fun<S::Value>][E, S, O](results: usize, start: u64, x: &[u8]) -> Vec<u8>
    where [S::Value: From<E::Value>, E::Raw: Bits, S::Raw: Bits] {
        states::<E, S, O>(results, start, x)
    }
    "avx512f,avx512bw,avx512dq,avx512vl", "avx2"
}
