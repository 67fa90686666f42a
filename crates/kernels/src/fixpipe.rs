//! The fixpipe on runs of consecutive elements: the types are known outside the loop, so that the loop is short.

use tessera_isa::codec::QuantParam;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Fixpipe;

/// The quantization parameters of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run<'a> {
    Plain,
    /// The scalar form, or the vector form along one column.
    Same(&'a QuantParam),
    /// The vector form along a row: one parameter per element.
    Each(&'a [QuantParam]),
}

/// [`Fixpipe::apply`] on each element of `src`, which are 4 bytes long, into `dst`, as far as both reach.
pub(super) fn apply_run(form: &Fixpipe, src: &[u8], params: Run<'_>, dst: &mut [u8]) {
    // Naming the types here lets the compiler specialise the loop to them.
    macro_rules! specialise {
            ($($src:ident => $($dst:ident)*;)*) => {
                match (form.src, form.dst) {
                    $($((Elem::$src, Elem::$dst) => {
                        const BYTES: usize = Elem::$dst.bits() as usize / 8;
                        let typed = Fixpipe { src: Elem::$src, dst: Elem::$dst, ..*form };
                        match form.relu {
                            true => run::<BYTES>(&Fixpipe { relu: true, ..typed }, src, params, dst),
                            false => run::<BYTES>(&Fixpipe { relu: false, ..typed }, src, params, dst),
                        }
                    })*)*
                    (_, other) => match other.bits() {
                        64 => run::<8>(form, src, params, dst),
                        32 => run::<4>(form, src, params, dst),
                        16 => run::<2>(form, src, params, dst),
                        _ => run::<1>(form, src, params, dst),
                    },
                }
            };
        }
    specialise! {
        F32 => F16 Bf16 F32 I8 U8 F8e4m3 Hif8;
        I32 => I32 I8 U8 F16 Bf16 I16;
    }
}

/// Loops rather than iterator adapters: a closure would stand between the types named above and the loop.
#[inline(always)]
fn run<const BYTES: usize>(form: &Fixpipe, src: &[u8], params: Run<'_>, dst: &mut [u8]) {
    let moves = src.as_chunks::<4>().0.iter().zip(dst.as_chunks_mut::<BYTES>().0);
    match params {
        Run::Plain => {
            for (from, to) in moves {
                store(to, form.apply(u32::from_le_bytes(*from), None));
            }
        }
        Run::Same(param) => {
            for (from, to) in moves {
                store(to, form.apply(u32::from_le_bytes(*from), Some(param)));
            }
        }
        Run::Each(params) => {
            for ((from, to), param) in moves.zip(params) {
                store(to, form.apply(u32::from_le_bytes(*from), Some(param)));
            }
        }
    }
}

/// Stores the low bytes of an element's bits, at most 8.
#[inline(always)]
fn store<const BYTES: usize>(to: &mut [u8; BYTES], bits: u64) {
    to.copy_from_slice(&bits.to_le_bytes()[..BYTES]);
}
