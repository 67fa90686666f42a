//! Paths: the lines of the legality tables, and the search that turns "no path" into the first broken rule.

use super::{Form, Pipe};
use crate::elem::Elem;
use crate::profile::{Profile, Profiles};
use crate::tile::{LayoutName, Loc, Tile};

/// A set of locations.
pub type Locs = &'static [Loc];

/// What a path asks of one side's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lay {
    /// Any layout.
    Any,
    /// One of these.
    Of(&'static [LayoutName]),
    /// NZ with fractal 512.
    Nz512,
    /// The usual layout of the location.
    Usual,
    /// ND with one declared row.
    OneRowNd,
    /// Outer order row-major.
    RowMajor,
}

/// A pair of layouts that a path takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutPair {
    /// The source's layout.
    pub src: Lay,
    /// The destination's layout.
    pub dst: Lay,
    /// Must they be the same layout?
    pub same: bool,
}

/// Short for a pair of layouts.
pub const fn pair(src: Lay, dst: Lay) -> LayoutPair {
    LayoutPair { src, dst, same: false }
}
/// Any two equal layouts.
pub const SAME: LayoutPair = LayoutPair { src: Lay::Any, dst: Lay::Any, same: true };
/// Any two layouts.
pub const ANY: LayoutPair = pair(Lay::Any, Lay::Any);
/// ND on either side.
pub const ND: Lay = Lay::Of(&[LayoutName::Nd]);
/// NZ on either side.
pub const NZ: Lay = Lay::Of(&[LayoutName::Nz]);
/// ZZ on either side.
pub const ZZ: Lay = Lay::Of(&[LayoutName::Zz]);
/// NN on either side.
pub const NN: Lay = Lay::Of(&[LayoutName::Nn]);
/// Into Left: the profile's layout out of NZ or ZN, or out of one row.
pub const INTO_LEFT: &[LayoutPair] = &[pair(NZ_ZN, Lay::Usual), pair(Lay::OneRowNd, Lay::Usual)];
/// Into Right: the profile's layout out of NZ or ZN.
pub const INTO_RIGHT: &[LayoutPair] = &[pair(NZ_ZN, Lay::Usual)];
/// Out of an accumulator into Vec.
pub const NZ_TO_VEC: &[LayoutPair] = &[pair(NZ, Lay::Of(&[LayoutName::Nz, LayoutName::Nd, LayoutName::Dn]))];
/// NZ or ZN.
pub const NZ_ZN: Lay = Lay::Of(&[LayoutName::Nz, LayoutName::Zn]);

/// What a path asks of the element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// Any two types.
    Any,
    /// Any type of the profile, the same on both sides.
    Equal,
    /// One of these, the same on both sides.
    EqualOf(&'static [Elem]),
    /// Each side one of these.
    EachOf(&'static [Elem]),
    /// One of these pairs, source first.
    Pairs(&'static [(Elem, &'static [Elem])]),
    /// A rule of its own decides (`tmov-bias`, `tmov-scaling`).
    OwnRule,
}

/// One line of a legality table.
#[derive(Debug)]
pub struct Path {
    /// The profiles that have it.
    pub on: Profiles,
    /// The forms that may use it.
    pub forms: &'static [Form],
    /// The source's location.
    pub src: Locs,
    /// The destination's location.
    pub dst: Locs,
    /// The layouts.
    pub layouts: &'static [LayoutPair],
    /// The element types.
    pub types: Types,
    /// The pipe that moves the data.
    pub pipe: Pipe,
}

/// Short for a path, in the order of the tables.
pub const fn path(
    on: Profiles,
    forms: &'static [Form],
    src: Locs,
    dst: Locs,
    layouts: &'static [LayoutPair],
    types: Types,
    pipe: Pipe,
) -> Path {
    Path { on, forms, src, dst, layouts, types, pipe }
}

/// At which step of the search the last path fell away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// No path on the profile in this form.
    Profile,
    /// None with these locations.
    Loc,
    /// None with these layouts.
    Layout,
    /// None with these types.
    Dtype,
}

/// The standard types of ops.md.
pub const STANDARD: &[Elem] =
    &[Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::F16, Elem::Bf16, Elem::F32];
/// The A5 types of ops.md.
pub const A5_TYPES: &[Elem] = &[
    Elem::I8,
    Elem::F16,
    Elem::Bf16,
    Elem::F32,
    Elem::I32,
    Elem::Hif8,
    Elem::F8e4m3,
    Elem::F8e5m2,
    Elem::F8e8m0,
    Elem::F4e2m1x2,
    Elem::F4e1m2x2,
];
/// The standard types and the A5 types.
pub const STANDARD_AND_A5: &[Elem] = &[
    Elem::I8,
    Elem::U8,
    Elem::I16,
    Elem::U16,
    Elem::I32,
    Elem::U32,
    Elem::F16,
    Elem::Bf16,
    Elem::F32,
    Elem::Hif8,
    Elem::F8e4m3,
    Elem::F8e5m2,
    Elem::F8e8m0,
    Elem::F4e2m1x2,
    Elem::F4e1m2x2,
];
/// What the matrix operands of a2a3 take.
pub const CUBE_A2A3: &[Elem] = &[Elem::I8, Elem::F16, Elem::Bf16, Elem::F32];
/// What the matrix operands of a5 take.
pub const CUBE_A5: &[Elem] = &[
    Elem::I8,
    Elem::F8e4m3,
    Elem::F8e5m2,
    Elem::Hif8,
    Elem::F16,
    Elem::Bf16,
    Elem::F32,
    Elem::F4e2m1x2,
    Elem::F4e1m2x2,
    Elem::F8e8m0,
];
/// What scale operands take.
pub const SCALES: &[Elem] = &[Elem::U8, Elem::F8e8m0, Elem::Hif8];

/// Out of an accumulator, plain: fixpipe.md 2.
pub const ACC_PLAIN_A2A3: Types = Types::Pairs(&[(Elem::F32, &[Elem::F16, Elem::Bf16])]);
/// Out of an accumulator with a scalar: fixpipe.md 2.
pub const ACC_SCALAR_A2A3: Types =
    Types::Pairs(&[(Elem::F32, &[Elem::I8]), (Elem::I32, &[Elem::I8, Elem::U8, Elem::F16, Elem::I16])]);
/// Out of an accumulator with a Scaling tile: fixpipe.md 2.
pub const ACC_VECTOR_A2A3: Types =
    Types::Pairs(&[(Elem::F32, &[Elem::I8, Elem::U8]), (Elem::I32, &[Elem::I8, Elem::U8, Elem::F16, Elem::I16])]);
/// Out of an accumulator, plain: fixpipe.md 2. cpu has the union of both rows, which is this one.
pub const ACC_PLAIN_A5: Types =
    Types::Pairs(&[(Elem::F32, &[Elem::F16, Elem::Bf16, Elem::F32]), (Elem::I32, &[Elem::I32])]);
/// Out of an accumulator, quantized: fixpipe.md 2.
pub const ACC_QUANT_A5: Types = Types::Pairs(&[
    (Elem::F32, &[Elem::I8, Elem::U8, Elem::Hif8, Elem::F16, Elem::Bf16, Elem::F8e4m3]),
    (Elem::I32, &[Elem::I8, Elem::U8, Elem::F16, Elem::Bf16]),
]);
/// Out of an accumulator, quantized, on cpu: both rows of fixpipe.md 2 whose types exist there.
pub const ACC_QUANT_CPU: Types = Types::Pairs(&[
    (Elem::F32, &[Elem::I8, Elem::U8, Elem::F16, Elem::Bf16]),
    (Elem::I32, &[Elem::I8, Elem::U8, Elem::F16, Elem::I16, Elem::Bf16]),
]);

/// Out of an accumulator without a change of type, as fill values and dual modes need it.
pub const ACC_SAME: Types = Types::Pairs(&[(Elem::F32, &[Elem::F32]), (Elem::I32, &[Elem::I32])]);

/// All locations.
pub const ALL_LOCS: Locs = Loc::ALL;
/// All locations but the accumulator: its sources go through fixpipe on every profile.
pub const NOT_ACC: Locs =
    &[Loc::Vec, Loc::Mat, Loc::Left, Loc::Right, Loc::Bias, Loc::Scaling, Loc::ScaleLeft, Loc::ScaleRight];

impl Lay {
    fn takes(self, tile: &Tile, profile: Profile) -> bool {
        match self {
            Lay::Any => true,
            Lay::Of(names) => names.contains(&tile.layout_name()),
            Lay::Nz512 => tile.layout_name() == LayoutName::Nz && tile.fractal == 512,
            Lay::Usual => tile.has_usual_layout(profile),
            Lay::OneRowNd => tile.layout_name() == LayoutName::Nd && tile.rows == 1,
            Lay::RowMajor => tile.blayout == crate::tile::BLayout::RowMajor,
        }
    }

    /// How tables show it.
    pub fn describe(self) -> String {
        match self {
            Lay::Any => "any".into(),
            Lay::Of(names) => names.iter().map(|n| n.name()).collect::<Vec<_>>().join("/"),
            Lay::Nz512 => "NZ 512".into(),
            Lay::Usual => "usual".into(),
            Lay::OneRowNd => "1-row ND".into(),
            Lay::RowMajor => "row-major".into(),
        }
    }
}

impl Types {
    /// Does the path take these two types?
    pub fn takes(self, src: Elem, dst: Elem) -> bool {
        match self {
            Types::Any | Types::OwnRule => true,
            Types::Equal => src == dst,
            Types::EqualOf(list) => src == dst && list.contains(&src),
            Types::EachOf(list) => list.contains(&src) && list.contains(&dst),
            Types::Pairs(pairs) => pairs.iter().any(|(s, ds)| *s == src && ds.contains(&dst)),
        }
    }
}

impl Path {
    fn takes_layouts(&self, src: &Tile, dst: &Tile, profile: Profile) -> bool {
        self.layouts
            .iter()
            .any(|p| p.src.takes(src, profile) && p.dst.takes(dst, profile) && (!p.same || src.same_layout(dst)))
    }
}

/// The path of a source and a destination, or how far the search came: rules in the order of ops.md 1.
pub fn find(
    paths: &'static [Path],
    profile: Profile,
    form: Form,
    src: &Tile,
    dst: &Tile,
) -> Result<&'static Path, Miss> {
    let mut miss = Miss::Profile;
    for p in paths {
        if !p.on.has(profile) || !p.forms.contains(&form) {
            continue;
        }
        let reached = if !p.src.contains(&src.loc) || !p.dst.contains(&dst.loc) {
            Miss::Loc
        } else if !p.takes_layouts(src, dst, profile) {
            Miss::Layout
        } else if !p.types.takes(src.elem, dst.elem) {
            Miss::Dtype
        } else {
            return Ok(p);
        };
        if reached as u8 > miss as u8 {
            miss = reached;
        }
    }
    Err(miss)
}
