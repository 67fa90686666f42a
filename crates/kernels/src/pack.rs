//! Masks: comparisons packed eight to a byte, and selections by such bits (isa/elementwise.md 4). Rows lie one after the
//! other in dense buffers.

#[cfg(target_arch = "x86_64")]
use super::Level;
use super::element::*;
use super::fold::Bits;
#[cfg(target_arch = "x86_64")]
use super::x86::{Question, bits as bits_by_masks, select as select_by_masks};
use tessera_isa::elem::Elem;
use tessera_isa::inst::Cmp;

/// The bytes of the mask: row by row, bits from the last column on are 0. A scalar stands for all elements of `y`.
pub(super) fn compare(cmp: Cmp, elem: Elem, columns: usize, x: &[u8], y: &[u8]) -> Option<Vec<u8>> {
    // With the arguments exchanged, and the opposite: `ne` is true of a NaN, and the other five are false.
    let (x, y) = if matches!(cmp, Cmp::Gt | Cmp::Ge) { (y, x) } else { (x, y) };
    #[cfg(target_arch = "x86_64")]
    if let Some(found) = by_masks(cmp, elem, columns, x, y) {
        return Some(found);
    }
    macro_rules! kernel {
        ($op:ident: $($elem:ident)*) => {
            match elem {
                $(Elem::$elem => Some(best_bits::<$elem, $op>(columns, x, y, cmp == Cmp::Ne)),)*
                _ => None,
            }
        };
    }
    macro_rules! types {
        ($op:ident) => {
            kernel! { $op: F32 F16 Bf16 I8 I16 I32 I64 U8 U16 U32 U64 }
        };
    }
    match cmp {
        Cmp::Eq | Cmp::Ne => types!(Equal),
        Cmp::Lt | Cmp::Gt => types!(Less),
        Cmp::Le | Cmp::Ge => types!(LessOrEqual),
    }
}

/// The same by instructions that make bits, where the machine has them.
#[cfg(target_arch = "x86_64")]
fn by_masks(cmp: Cmp, elem: Elem, columns: usize, x: &[u8], y: &[u8]) -> Option<Vec<u8>> {
    let question = match cmp {
        Cmp::Eq | Cmp::Ne => Question::Equal,
        Cmp::Lt | Cmp::Gt => Question::Less,
        Cmp::Le | Cmp::Ge => Question::LessOrEqual,
    };
    let bits = bits_by_masks(elem, question).filter(|_| Level::best() >= Level::Avx512)?;
    let size = elem.bits() as usize / 8;
    // Rows that end with a byte are one long row.
    let whole = columns.is_multiple_of(8) && columns > 0;
    let columns = if whole { x.len().min(y.len()) / size } else { columns };
    let (row, bytes) = ((columns * size).max(1), columns.div_ceil(8).max(1));
    let mut out = vec![0; x.len() / row * bytes];
    for ((x, y), out) in x.chunks_exact(row).zip(y.chunks_exact(row)).zip(out.chunks_exact_mut(bytes)) {
        // SAFETY: rows of `columns` elements and the bytes of their bits, on a machine whose support was checked.
        unsafe { bits(x.as_ptr(), y.as_ptr(), columns, cmp == Cmp::Ne, out.as_mut_ptr()) };
    }
    Some(out)
}

trait Holds<V> {
    fn holds(x: V, y: V) -> bool;
}

macro_rules! comparisons {
    ($($name:ident $op:tt;)*) => {$(
        struct $name;

        impl<V: PartialOrd> Holds<V> for $name {
            #[inline(always)]
            fn holds(x: V, y: V) -> bool {
                x $op y
            }
        }
    )*};
}
comparisons! { Equal ==; Less <; LessOrEqual <=; }

#[inline(always)]
fn bits<E: Element, O: Holds<E::Value>>(columns: usize, x: &[u8], y: &[u8], is_opposite: bool) -> Vec<u8>
where
    E::Raw: Bits,
{
    let size = size_of::<E::Raw>();
    let mut out = Vec::with_capacity(x.len() / (8 * size.max(1)) + 1);
    // Eight at once, as bytes 0 and 1, which a product brings side by side.
    let byte = |x: &[u8], y: &[u8]| {
        let mut holds = [0u8; 8];
        for ((holds, x), y) in holds.iter_mut().zip(E::Raw::all(x)).zip(E::Raw::all(y)) {
            *holds = u8::from(O::holds(E::get(x), E::get(y)) != is_opposite);
        }
        (u64::from_le_bytes(holds).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
    };
    let row = (columns * size).max(1);
    for (x, y) in x.chunks_exact(row).zip(y.chunks_exact(row)) {
        let (x, y) = (x.chunks_exact(LANES * size), y.chunks_exact(LANES * size));
        let rest = (x.remainder(), y.remainder());
        for (x, y) in x.zip(y) {
            let mut holds = [false; LANES];
            for ((holds, x), y) in holds.iter_mut().zip(E::Raw::all(x)).zip(E::Raw::all(y)) {
                *holds = O::holds(E::get(x), E::get(y)) != is_opposite;
            }
            let bits = holds.iter().enumerate().fold(0u32, |bits, (n, holds)| bits | u32::from(*holds) << n);
            out.extend_from_slice(&bits.to_le_bytes());
        }
        out.extend(rest.0.chunks(8 * size).zip(rest.1.chunks(8 * size)).map(|(x, y)| byte(x, y)));
    }
    out
}

multiversion! {
    fn best_bits[E: Element, O: Holds<E::Value>][E, O](columns: usize, x: &[u8], y: &[u8], is_opposite: bool) -> Vec<u8>
    where [E::Raw: Bits] {
        bits::<E, O>(columns, x, y, is_opposite)
    }
    "avx2", "avx2"
}

/// Of two rows of elements of `size` bytes, the first where the bit of the mask is 1.
pub(super) fn select(size: usize, columns: usize, mask: &[u8], x: &[u8], y: &[u8], out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if Level::best() >= Level::Avx512 {
        // Rows that end with a byte are one long row.
        let columns = if columns.is_multiple_of(8) { out.len() / size } else { columns };
        let (row, bytes) = ((columns * size).max(1), columns.div_ceil(8).max(1));
        let rows = x.chunks_exact(row).zip(y.chunks_exact(row)).zip(out.chunks_exact_mut(row));
        for (((x, y), out), mask) in rows.zip(mask.chunks_exact(bytes)) {
            // SAFETY: `columns` elements and bits, on a machine whose support was checked.
            unsafe { select_by_masks(size)(mask.as_ptr(), [x.as_ptr(), y.as_ptr()], columns, out.as_mut_ptr()) };
        }
        return;
    }
    match size {
        1 => best_picked::<u8>(columns, mask, x, y, out),
        2 => best_picked::<u16>(columns, mask, x, y, out),
        4 => best_picked::<u32>(columns, mask, x, y, out),
        _ => best_picked::<u64>(columns, mask, x, y, out),
    }
}

#[inline(always)]
fn picked<T: Bits + Copy>(columns: usize, mask: &[u8], x: &[u8], y: &[u8], out: &mut [u8]) {
    let size = size_of::<T>();
    let (row, bytes) = ((columns * size).max(1), columns.div_ceil(8).max(1));
    let rows = x.chunks_exact(row).zip(y.chunks_exact(row)).zip(out.chunks_exact_mut(row));
    for (((mut x, mut y), mut out), mut mask) in rows.zip(mask.chunks_exact(bytes)) {
        while let (Some((x32, x_rest)), Some((y32, y_rest)), Some((bits, mask_rest))) =
            (x.split_at_checked(LANES * size), y.split_at_checked(LANES * size), mask.split_first_chunk::<4>())
        {
            let (out32, out_rest) = std::mem::take(&mut out).split_at_mut(LANES * size);
            let bits = u32::from_le_bytes(*bits);
            let both = T::all(x32).zip(T::all(y32));
            for ((n, (x, y)), out) in both.enumerate().zip(out32.chunks_exact_mut(size)) {
                (if bits >> n & 1 == 1 { x } else { y }).write(out);
            }
            (x, y, out, mask) = (x_rest, y_rest, out_rest, mask_rest);
        }
        let eights = x.chunks(8 * size).zip(y.chunks(8 * size)).zip(out.chunks_mut(8 * size));
        for (((x, y), out), byte) in eights.zip(mask) {
            let both = T::all(x).zip(T::all(y));
            for ((bit, (x, y)), out) in both.enumerate().zip(out.chunks_exact_mut(size)) {
                (if byte >> bit & 1 == 1 { x } else { y }).write(out);
            }
        }
    }
}

multiversion! {
    fn best_picked[T: Bits + Copy][T](columns: usize, mask: &[u8], x: &[u8], y: &[u8], out: &mut [u8]) where [] {
        picked::<T>(columns, mask, x, y, out)
    }
    "avx2", "avx2"
}
