//! Marker types: where a tile lives, and how its elements lie.

use super::sealed::Sealed;
use tessera_isa::tile::{BLayout, Loc, SLayout};

/// A location as a type; the types are in [`loc`].
pub trait Location: Sealed + 'static {
    /// The location.
    const LOC: Loc;
}

/// A layout as a type; the types are in [`layout`].
pub trait LayoutMarker: Sealed + 'static {
    /// Outer order, inner order and box size; `None` for the location's usual layout on the machine's profile.
    const ORDER: Option<(BLayout, SLayout, u32)>;
}

/// Locations (tile-model.md 2). Write `loc::Vec`, so that the standard library's `Vec` keeps its name.
pub mod loc {
    use super::{Loc, Location, Sealed};

    macro_rules! locations {
        ($($(#[$doc:meta])* $name:ident;)*) => {$(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
            impl Sealed for $name {}
            impl Location for $name {
                const LOC: Loc = Loc::$name;
            }
        )*};
    }
    locations! {
        /// The unified buffer of a vector core.
        Vec;
        /// L1.
        Mat;
        /// L0A, the left matrix operand.
        Left;
        /// L0B, the right matrix operand.
        Right;
        /// L0C, the accumulator.
        Acc;
        /// The bias table.
        Bias;
        /// The fixpipe buffer of quantization parameters.
        Scaling;
        /// Scales of the left operand (A5).
        ScaleLeft;
        /// Scales of the right operand (A5).
        ScaleRight;
    }
}

/// Layouts (tile-model.md 5).
pub mod layout {
    use super::{BLayout, LayoutMarker, SLayout, Sealed};

    macro_rules! layouts {
        ($($(#[$doc:meta])* $name:ident$(<$fractal:ident>)? = $order:expr;)*) => {$(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name$(<const $fractal: u32 = 512>)? {}
            impl$(<const $fractal: u32>)? Sealed for $name$(<$fractal>)? {}
            impl$(<const $fractal: u32>)? LayoutMarker for $name$(<$fractal>)? {
                const ORDER: Option<(BLayout, SLayout, u32)> = $order;
            }
        )*};
    }
    layouts! {
        /// The usual layout of the location, which for Left depends on the profile; what a tile has that names no
        /// layout.
        Usual = None;
        /// Row-major, no boxes.
        Nd = Some((BLayout::RowMajor, SLayout::NoneBox, 512));
        /// Column-major, no boxes.
        Dn = Some((BLayout::ColMajor, SLayout::NoneBox, 512));
        /// Columns of row-major boxes.
        Nz<FRACTAL> = Some((BLayout::ColMajor, SLayout::RowMajor, FRACTAL));
        /// Rows of column-major boxes.
        Zn<FRACTAL> = Some((BLayout::RowMajor, SLayout::ColMajor, FRACTAL));
        /// Rows of row-major boxes.
        Zz<FRACTAL> = Some((BLayout::RowMajor, SLayout::RowMajor, FRACTAL));
        /// Columns of column-major boxes.
        Nn<FRACTAL> = Some((BLayout::ColMajor, SLayout::ColMajor, FRACTAL));
    }
}
