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

    /// The usual layout of the location, which for Left depends on the profile; what a tile has that names no layout.
    #[derive(Clone, Copy, Debug)]
    pub enum Usual {}
    impl Sealed for Usual {}
    impl LayoutMarker for Usual {
        const ORDER: Option<(BLayout, SLayout, u32)> = None;
    }

    macro_rules! plain {
        ($($(#[$doc:meta])* $name:ident = $outer:ident;)*) => {$(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
            impl Sealed for $name {}
            impl LayoutMarker for $name {
                const ORDER: Option<(BLayout, SLayout, u32)> = Some((BLayout::$outer, SLayout::NoneBox, 512));
            }
        )*};
    }
    plain! {
        /// Row-major, no boxes.
        Nd = RowMajor;
        /// Column-major, no boxes.
        Dn = ColMajor;
    }

    macro_rules! boxed {
        ($($(#[$doc:meta])* $name:ident = $outer:ident, $inner:ident;)*) => {$(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name<const FRACTAL: u32 = 512> {}
            impl<const FRACTAL: u32> Sealed for $name<FRACTAL> {}
            impl<const FRACTAL: u32> LayoutMarker for $name<FRACTAL> {
                const ORDER: Option<(BLayout, SLayout, u32)> = Some((BLayout::$outer, SLayout::$inner, FRACTAL));
            }
        )*};
    }
    boxed! {
        /// Columns of row-major boxes.
        Nz = ColMajor, RowMajor;
        /// Rows of column-major boxes.
        Zn = RowMajor, ColMajor;
        /// Rows of row-major boxes.
        Zz = RowMajor, RowMajor;
        /// Columns of column-major boxes.
        Nn = ColMajor, ColMajor;
    }
}
