//! Operands that are a tile or a value.

use super::{AsTile, Element};
use crate::{Number, TileBuf, TileType};

/// What the `_FP` forms and the TFILLPAD family take: a reference to a tile, or a value.
///
/// For `_FP` (ops.md 3.4) a Scaling tile is vector quantization and a value fills the destination's padding. A value is
/// written in any scalar type; it must be exactly representable in the destination's (`fp-value`).
pub trait TileOrValue {
    /// The Rust type of a tile; none for a value.
    const TILE: Option<TileType>;
    /// Whether it is a value.
    const IS_VALUE: bool;
    /// The operand.
    fn operand(&self) -> Operand<'_>;
}

/// An operand that is a tile or a value.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// A tile.
    Tile(&'a TileBuf),
    /// A value.
    Value(Number),
}

impl<S: AsTile> TileOrValue for &S {
    const TILE: Option<TileType> = S::KNOWN;
    const IS_VALUE: bool = false;
    fn operand(&self) -> Operand<'_> {
        Operand::Tile(self.buf())
    }
}

macro_rules! values {
    ($($ty:ty => $number:expr;)*) => {$(
        impl TileOrValue for $ty {
            const TILE: Option<TileType> = None;
            const IS_VALUE: bool = true;
            fn operand(&self) -> Operand<'_> {
                Operand::Value($number(*self))
            }
        }
    )*};
    ($($ty:ty)*) => { values! { $($ty => Element::number;)* } };
}
values! {
    f32 half::f16 half::bf16 i8 i16 i32 i64 u8 u16 u32 u64
    super::F8E4M3 super::F8E5M2 super::F8E8M0 super::Hif8 super::F4E2M1 super::F4E1M2
}
values! {
    f64 => Number::Float;
    Number => std::convert::identity;
}
