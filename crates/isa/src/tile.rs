//! Tile types: location, shape, valid region, layout, pad value, compact mode (tile-model.md 2 to 6).
//!
//! [`TileType`] is a type as it is written: a left-out layout stays left out, because the usual layout of a location
//! depends on the profile. [`TileType::resolve`] fills it in and gives a [`Tile`], which is what rules and the
//! simulator read.

use crate::codec::Number;
use crate::elem::{Elem, PadKind};
use crate::layout::{Axis, Layout};
use crate::profile::{FP_ALIGN, Profile, TILE_ALIGN};
use std::fmt;

/// Enums of words: the variant, the word in text with other spellings, the enumerator in C++, what it is.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal $(| $also:literal)*, $cpp:literal, $about:literal;)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $(#[doc = $about] $variant,)* }
        impl $name {
            /// All of them, in declaration order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];
            /// The words, for the table of attributes.
            pub const WORDS: &'static [$crate::ops::Word] =
                &[$($crate::ops::Word { name: $text, cpp: $cpp, also: &[$($also),*] },)*];
            /// The word in text.
            pub fn name(self) -> &'static str { match self { $($name::$variant => $text,)* } }
            /// The enumerator in C++.
            pub fn cpp(self) -> &'static str { match self { $($name::$variant => $cpp,)* } }
            /// The value of a word, as text writes it.
            #[allow(unreachable_patterns, reason = "attributes of different instructions may have one name")]
            pub fn parse(word: &str) -> Option<Self> { match word { $($text $(| $also)* => Some($name::$variant),)* _ => None } }
        }
        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result { f.write_str(self.name()) }
        }
    )*};
}
pub(crate) use words;

words! {
    /// Where a tile lives; each location is a memory of its own.
    Loc {
        Vec = "vec", "Vec", "The unified buffer of a vector core.";
        Mat = "mat", "Mat", "L1.";
        Left = "left", "Left", "L0A, the left matrix operand.";
        Right = "right", "Right", "L0B, the right matrix operand.";
        Acc = "acc", "Acc", "L0C, the accumulator.";
        Bias = "bias", "Bias", "The bias table.";
        Scaling = "scaling", "Scaling", "The fixpipe buffer of quantization parameters.";
        ScaleLeft = "scale_left", "ScaleLeft", "Scales of the left operand (A5).";
        ScaleRight = "scale_right", "ScaleRight", "Scales of the right operand (A5).";
    }
    /// The outer order of a layout.
    BLayout {
        RowMajor = "row_major", "RowMajor", "Rows of boxes lie one after the other.";
        ColMajor = "col_major", "ColMajor", "Columns of boxes lie one after the other.";
    }
    /// The order inside a box.
    SLayout {
        NoneBox = "none_box", "NoneBox", "No boxes.";
        RowMajor = "row_major", "RowMajor", "Rows of a box lie one after the other.";
        ColMajor = "col_major", "ColMajor", "Columns of a box lie one after the other.";
    }
    /// The compact mode; only `row_plus_one` has a rule here (tile-model.md 5).
    Compact {
        Null = "null", "Null", "None.";
        Normal = "normal", "Normal", "Carried and printed.";
        RowPlusOne = "row_plus_one", "RowPlusOne", "NZ with one extra row as bank-conflict padding.";
        RowAlignedPadding = "row_aligned_padding", "RowAlignedPadding", "Carried and printed.";
    }
    /// The six layouts by name.
    LayoutName {
        Nd = "ND", "ND", "Row-major, no boxes.";
        Dn = "DN", "DN", "Column-major, no boxes.";
        Nz = "NZ", "NZ", "Columns of row-major boxes.";
        Zn = "ZN", "ZN", "Rows of column-major boxes.";
        Zz = "ZZ", "ZZ", "Rows of row-major boxes.";
        Nn = "NN", "NN", "Columns of column-major boxes.";
    }
}

impl Loc {
    /// The memory behind the location.
    pub fn memory_name(self) -> &'static str {
        match self {
            Loc::Vec => "UB",
            Loc::Mat => "L1",
            Loc::Left => "L0A",
            Loc::Right => "L0B",
            Loc::Acc => "L0C",
            Loc::Bias => "the bias table",
            Loc::Scaling => "the fixpipe buffer",
            Loc::ScaleLeft => "the L0A scale area",
            Loc::ScaleRight => "the L0B scale area",
        }
    }

    /// The alignment of automatic tiles: Scaling tiles may always serve as `fp` operands (tile-model.md 2).
    pub fn align(self) -> u64 {
        if self == Loc::Scaling { FP_ALIGN } else { TILE_ALIGN }
    }

    /// The usual layout of the location (tile-model.md 5).
    pub const fn usual(self, profile: Profile) -> (BLayout, SLayout, u32) {
        use {BLayout::*, SLayout as S};
        match self {
            Loc::Vec | Loc::Bias | Loc::Scaling => (RowMajor, S::NoneBox, 512),
            Loc::Mat => (ColMajor, S::RowMajor, 512),
            Loc::Left if matches!(profile, Profile::A2a3) => (RowMajor, S::RowMajor, 512),
            Loc::Left => (ColMajor, S::RowMajor, 512),
            Loc::Right => (RowMajor, S::ColMajor, 512),
            Loc::Acc => (ColMajor, S::RowMajor, 1024),
            Loc::ScaleLeft => (RowMajor, S::RowMajor, 32),
            Loc::ScaleRight => (ColMajor, S::ColMajor, 32),
        }
    }
}

impl LayoutName {
    /// The layout of an outer and an inner order.
    pub const fn of(b: BLayout, s: SLayout) -> LayoutName {
        match (b, s) {
            (BLayout::RowMajor, SLayout::NoneBox) => LayoutName::Nd,
            (BLayout::ColMajor, SLayout::NoneBox) => LayoutName::Dn,
            (BLayout::ColMajor, SLayout::RowMajor) => LayoutName::Nz,
            (BLayout::RowMajor, SLayout::ColMajor) => LayoutName::Zn,
            (BLayout::RowMajor, SLayout::RowMajor) => LayoutName::Zz,
            (BLayout::ColMajor, SLayout::ColMajor) => LayoutName::Nn,
        }
    }

    /// The formula of the offset (tile-model.md 5).
    pub fn formula(self) -> &'static str {
        match self {
            LayoutName::Nd => "r·cols + c",
            LayoutName::Dn => "c·rows + r",
            LayoutName::Nz => "bc·rows·IC + br·N + ir·IC + ic",
            LayoutName::Zn => "br·cols·IR + bc·N + ic·IR + ir",
            LayoutName::Zz => "br·cols·IR + bc·N + ir·IC + ic",
            LayoutName::Nn => "bc·rows·IC + br·N + ic·IR + ir",
        }
    }

    /// The order of the elements in memory, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            LayoutName::Nd => "Row after row, as in a C array.",
            LayoutName::Dn => "Column after column, as in a Fortran array.",
            LayoutName::Nz => {
                "One column of boxes after the other, the boxes of a column from top to bottom; inside a box row after row."
            }
            LayoutName::Zn => {
                "One row of boxes after the other, the boxes of a row from left to right; inside a box column after column."
            }
            LayoutName::Zz => {
                "One row of boxes after the other, the boxes of a row from left to right; inside a box row after row."
            }
            LayoutName::Nn => {
                "One column of boxes after the other, the boxes of a column from top to bottom; inside a box column after column."
            }
        }
    }

    /// Whether the layout has boxes.
    pub fn is_boxed(self) -> bool {
        !matches!(self, LayoutName::Nd | LayoutName::Dn)
    }
}

/// A valid extent: known with the type, or set at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extent {
    Static(u64),
    /// `?`: set when the tile is allocated or by `set_validshape`.
    Dynamic,
}

impl Extent {
    /// The extent, where the type knows it.
    pub const fn known(self) -> Option<u64> {
        match self {
            Extent::Static(n) => Some(n),
            Extent::Dynamic => None,
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Static(n) => write!(f, "{n}"),
            Extent::Dynamic => f.write_str("?"),
        }
    }
}

/// The literal of `pad=custom(…)`, kept as written until it is converted to the element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PadLiteral {
    /// A bit pattern, written `0x…`.
    Bits(u64),
    Int(i64),
    /// The bits of a binary64 value.
    Float(u64),
}

/// The pad value of a tile type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pad {
    Null,
    Zero,
    Max,
    Min,
    /// A value of the user's.
    Custom(PadLiteral),
}

/// A tile type as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TileType {
    pub loc: Loc,
    pub elem: Elem,
    pub rows: u64,
    pub cols: u64,
    pub v_row: Extent,
    pub v_col: Extent,
    /// Outer order; left out means the location's usual one.
    pub blayout: Option<BLayout>,
    /// Inner order; left out means the location's usual one.
    pub slayout: Option<SLayout>,
    /// Box size; left out means the location's usual one.
    pub fractal: Option<u32>,
    pub pad: Pad,
    pub compact: Compact,
}

impl TileType {
    /// A tile type with everything but location, element and shape left out.
    pub const fn new(loc: Loc, elem: Elem, rows: u64, cols: u64) -> Self {
        TileType {
            loc,
            elem,
            rows,
            cols,
            v_row: Extent::Static(rows),
            v_col: Extent::Static(cols),
            blayout: None,
            slayout: None,
            fractal: None,
            pad: Pad::Null,
            compact: Compact::Null,
        }
    }

    /// The same type with its layout written out.
    pub const fn with_layout(mut self, b: BLayout, s: SLayout, fractal: u32) -> Self {
        (self.blayout, self.slayout, self.fractal) = (Some(b), Some(s), Some(fractal));
        self
    }

    /// The same type in another memory.
    pub const fn with_location(mut self, loc: Loc) -> Self {
        self.loc = loc;
        self
    }

    /// Whether elements that share a byte adjoin in a column: in DN, ZN and NN; in ND, NZ and ZZ they do in a row
    /// (isa/today.md 2).
    pub fn packs_rows(&self) -> bool {
        match (self.slayout, self.blayout) {
            (Some(SLayout::ColMajor), _) => true,
            (Some(SLayout::RowMajor), _) => false,
            (_, blayout) => blayout == Some(BLayout::ColMajor),
        }
    }

    /// The same type with this valid region.
    pub fn with_valid(mut self, v_row: Extent, v_col: Extent) -> Self {
        (self.v_row, self.v_col) = (v_row, v_col);
        self
    }

    /// The type on a profile: the usual layout where none is written; on `a2a3` and `a5` a Left tile's outer order is
    /// the profile's, whatever was written (syntax.md 3).
    pub const fn resolve(&self, profile: Profile) -> Tile {
        let (b, s, f) = self.loc.usual(profile);
        let blayout = match self.blayout {
            Some(written) if !self.replaces_blayout(profile) => written,
            _ => b,
        };
        let slayout = match self.slayout {
            Some(written) => written,
            None => s,
        };
        // The usual box size of a location is that of its usual boxes; without boxes it says nothing.
        let fractal = match self.fractal {
            Some(written) => written,
            None if matches!(slayout, SLayout::NoneBox) => 512,
            None => f,
        };
        // Text has one word for three memories of scales (isa/today.md 2).
        let is_scale = matches!((profile, self.loc), (Profile::A5, Loc::Scaling));
        let loc = match (blayout, slayout) {
            _ if !is_scale || fractal != 32 || !matches!(self.elem, Elem::F8e8m0) => self.loc,
            (BLayout::RowMajor, SLayout::RowMajor) => Loc::ScaleLeft,
            (BLayout::ColMajor, SLayout::ColMajor) => Loc::ScaleRight,
            _ => self.loc,
        };
        Tile {
            loc,
            elem: self.elem,
            rows: self.rows,
            cols: self.cols,
            v_row: self.v_row,
            v_col: self.v_col,
            blayout,
            slayout,
            fractal,
            pad: self.pad,
            compact: self.compact,
        }
    }

    /// Whether resolving replaces an outer order that was written (a note reports it to the user).
    pub const fn replaces_blayout(&self, profile: Profile) -> bool {
        match self.blayout {
            Some(b) => matches!(self.loc, Loc::Left) && profile.is_npu() && b as u8 != self.loc.usual(profile).0 as u8,
            None => false,
        }
    }
}

/// A tile type on a profile: nothing is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    pub loc: Loc,
    pub elem: Elem,
    pub rows: u64,
    pub cols: u64,
    pub v_row: Extent,
    pub v_col: Extent,
    pub blayout: BLayout,
    pub slayout: SLayout,
    /// Box size; without meaning for `none_box`.
    pub fractal: u32,
    pub pad: Pad,
    pub compact: Compact,
}

impl Tile {
    /// The layout's name.
    pub const fn layout_name(&self) -> LayoutName {
        LayoutName::of(self.blayout, self.slayout)
    }

    /// Whether the layout has boxes.
    pub const fn is_boxed(&self) -> bool {
        !matches!(self.slayout, SLayout::NoneBox)
    }

    /// Rows and columns of a box (tile-model.md 5); `None` where the fractal is not one of the three.
    pub const fn box_dims(&self) -> Option<(u64, u64)> {
        let c0 = self.elem.c0();
        let (ir, ic) = match (self.slayout, self.fractal) {
            (SLayout::NoneBox, _) => return Some((1, 1)),
            (SLayout::RowMajor, 512) => (16, c0),
            (SLayout::ColMajor, 512) => (c0, 16),
            (_, 1024) => (16, 16),
            (SLayout::RowMajor, 32) => (16, 2),
            (SLayout::ColMajor, 32) => (2, 16),
            _ => return None,
        };
        // One row of row-major boxes is just a row.
        Some(if matches!(self.slayout, SLayout::RowMajor) && self.rows == 1 { (1, ic) } else { (ir, ic) })
    }

    /// The layout of this tile over the bytes of another one. A window of a wider tile keeps its pitch, which only a tile
    /// with the same lines can take over.
    pub fn layout_over(&self, from: &Tile, source: &Layout) -> Option<Layout> {
        if *source == from.layout() {
            return Some(self.layout());
        }
        let lines = |t: &Tile| match t.blayout {
            BLayout::RowMajor => (t.rows, t.cols * u64::from(t.elem.bits())),
            BLayout::ColMajor => (t.cols, t.rows * u64::from(t.elem.bits())),
        };
        let stride = match from.blayout {
            BLayout::RowMajor => source.offset(1, 0),
            BLayout::ColMajor => source.offset(0, 1),
        };
        let stride = stride.saturating_mul(i64::from(from.elem.bits())) / i64::from(self.elem.bits());
        (!self.is_boxed() && lines(from) == lines(self)).then(|| match self.blayout {
            BLayout::RowMajor => Layout { row: Axis::linear(self.rows, stride), col: Axis::linear(self.cols, 1) },
            BLayout::ColMajor => Layout { row: Axis::linear(self.rows, 1), col: Axis::linear(self.cols, stride) },
        })
    }

    /// The layout as a value. The tile type is legal; an illegal fractal counts as 512.
    pub fn layout(&self) -> Layout {
        let (ir, ic) = self.box_dims().unwrap_or((16, self.elem.c0()));
        let (rows, cols) = (self.rows, self.cols);
        if !self.is_boxed() {
            return match self.blayout {
                BLayout::RowMajor => Layout::row_major(rows, cols, cols),
                BLayout::ColMajor => Layout::col_major(rows, cols, rows),
            };
        }
        let n = (ir * ic) as i64;
        // A tile that is refused for its size has a layout, too.
        let stride = |extent: u64, side: u64| extent.saturating_mul(side).min(i64::MAX as u64) as i64;
        let (row_outer, col_outer) = match self.blayout {
            BLayout::RowMajor => (stride(cols, ir), n),
            BLayout::ColMajor => (n, stride(self.stored_rows(), ic)),
        };
        let (row_inner, col_inner) = match self.slayout {
            SLayout::ColMajor => (1, ir as i64),
            _ => (ic as i64, 1),
        };
        Layout { row: Axis::boxed(rows, ir, row_outer, row_inner), col: Axis::boxed(cols, ic, col_outer, col_inner) }
    }

    /// Rows that storage has: whole boxes, except in NZ (isa/today.md 5.4).
    const fn stored_rows(&self) -> u64 {
        match self.box_dims() {
            Some((side, _)) if !matches!(self.layout_name(), LayoutName::Nz) && !self.rows.is_multiple_of(side) => {
                (self.rows / side + 1).saturating_mul(side)
            }
            _ => self.rows,
        }
    }

    /// Bytes of the declared area.
    pub const fn bytes(&self) -> u64 {
        self.elem.bytes_of(self.stored_rows().saturating_mul(self.cols))
    }

    /// "Same layout": outer, inner and, when boxed, fractal (tile-model.md 5).
    pub const fn same_layout(&self, other: &Tile) -> bool {
        self.has_layout((other.blayout, other.slayout, other.fractal))
    }

    /// Whether the tile has the usual layout of its location.
    pub const fn has_usual_layout(&self, profile: Profile) -> bool {
        self.has_layout(self.loc.usual(profile))
    }

    const fn has_layout(&self, (b, s, fractal): (BLayout, SLayout, u32)) -> bool {
        self.blayout as u8 == b as u8 && self.slayout as u8 == s as u8 && (!self.is_boxed() || self.fractal == fractal)
    }

    /// The bits that padding is filled with; `None` for `pad=null` and for a custom value out of range.
    pub fn pad_bits(&self) -> Option<u64> {
        match self.pad {
            Pad::Null => None,
            Pad::Zero => Some(self.elem.pad_bits(PadKind::Zero)),
            Pad::Max => Some(self.elem.pad_bits(PadKind::Max)),
            Pad::Min => Some(self.elem.pad_bits(PadKind::Min)),
            Pad::Custom(literal) => literal.to_bits(self.elem).map(|(bits, _)| bits),
        }
    }

    /// The type as it would be written, nothing left out.
    pub fn written(&self) -> TileType {
        TileType { pad: self.pad, compact: self.compact, ..TileType::new(self.loc, self.elem, self.rows, self.cols) }
            .with_valid(self.v_row, self.v_col)
            .with_layout(self.blayout, self.slayout, self.fractal)
    }
}

/// The notation of a tile in messages: `vec 16x32xf16 NZ`, with the fractal if it is not the default and the region if
/// it is not all.
impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}x{}x{} {}", self.loc, self.rows, self.cols, self.elem, self.layout_name())?;
        if self.is_boxed() && self.fractal != 512 {
            write!(f, " {}", self.fractal)?;
        }
        if (self.v_row, self.v_col) != (Extent::Static(self.rows), Extent::Static(self.cols)) {
            write!(f, " valid {}x{}", self.v_row, self.v_col)?;
        }
        Ok(())
    }
}

impl PadLiteral {
    /// The bits of the literal in an element type and whether it is exact; `None` where it is out of range.
    pub fn to_bits(self, elem: Elem) -> Option<(u64, bool)> {
        let value = match self {
            PadLiteral::Bits(bits) => return (bits & !elem.mask() == 0).then_some((bits, true)),
            PadLiteral::Int(v) => v.into(),
            PadLiteral::Float(bits) => Number::Float(f64::from_bits(bits)),
        };
        let exact = elem.encode_exact(&value).map(|bits| (bits, true));
        exact.or_else(|| elem.encode_in_range(&value).map(|bits| (bits, false)))
    }
}

impl fmt::Display for PadLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PadLiteral::Bits(bits) => write!(f, "0x{bits:X}"),
            PadLiteral::Int(v) => write!(f, "{v}"),
            PadLiteral::Float(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
        }
    }
}
