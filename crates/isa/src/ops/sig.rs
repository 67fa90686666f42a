//! Signatures: the lines of the legality tables, by role, and the search that turns "no line fits" into the first
//! broken rule.
//!
//! A signature names what it asks of each operand; nothing assumes one source and one destination. Instructions that
//! move elements ([`crate::sem::Sem::Moves`]) are judged flow by flow: `src` and `dst` of a signature stand for any
//! source and any destination of the instruction.

use super::{Form, Pipe, Role};
use crate::elem::Elem::{self, *};
use crate::profile::{Profile, Profiles};
use crate::tile::{BLayout, LayoutName, Loc, Tile};

/// A set of locations.
pub type Locs = &'static [Loc];

/// What a signature asks of one operand's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lay {
    Any,
    Of(&'static [LayoutName]),
    /// This one, with this fractal.
    Exactly(LayoutName, u32),
    /// The usual layout of the location.
    Usual,
    /// ND with one declared row.
    OneRowNd,
    /// DN with one declared column.
    OneColumnDn,
    /// One declared row or one declared column, of elements of at most four bytes.
    OneLine,
    RowMajor,
    /// The layout of another operand.
    Like(Role),
}

/// One way to lay out the operands; an operand that is not named has any layout.
pub type Layouts = &'static [(Role, Lay)];

/// A pair of layouts of a flow, source first.
macro_rules! pair {
    ($src:expr, $dst:expr) => {
        &[(Role::Src, $src), (Role::Dst, $dst)]
    };
}

/// One line of the table of a move: profiles, forms, locations of source and destination, layouts, types, pipe.
macro_rules! flow {
    ($on:expr, $forms:expr, $src:expr, $dst:expr, $layouts:expr, $types:expr, $pipe:expr) => {
        Sig {
            on: $on,
            forms: $forms,
            locs: &[(Role::Src, $src), (Role::Dst, $dst)],
            layouts: $layouts,
            types: $types,
            pipe: $pipe,
        }
    };
}
pub(super) use {flow, pair};

/// Any two equal layouts.
pub(super) const SAME: Layouts = &[(Role::Dst, Lay::Like(Role::Src))];
pub(super) const ANY: Layouts = &[];
pub(super) const ND: Lay = Lay::Of(&[LayoutName::Nd]);
pub(super) const NZ: Lay = Lay::Of(&[LayoutName::Nz]);
pub(super) const NZ_512: Lay = Lay::Exactly(LayoutName::Nz, 512);
pub(super) const ZZ: Lay = Lay::Of(&[LayoutName::Zz]);
pub(super) const NN: Lay = Lay::Of(&[LayoutName::Nn]);
pub(super) const NZ_ZN: Lay = Lay::Of(&[LayoutName::Nz, LayoutName::Zn]);
/// Into Left: the profile's layout out of NZ or ZN, or out of one row.
pub(super) const INTO_LEFT: &[Layouts] = &[pair!(NZ_ZN, Lay::Usual), pair!(Lay::OneRowNd, Lay::Usual)];
/// Into Right: the profile's layout out of NZ or ZN.
pub(super) const INTO_RIGHT: &[Layouts] = &[pair!(NZ_ZN, Lay::Usual)];
/// Out of an accumulator into Vec.
pub(super) const NZ_TO_VEC: &[Layouts] = &[pair!(NZ, Lay::Of(&[LayoutName::Nz, LayoutName::Nd, LayoutName::Dn]))];

/// What a signature asks of the element types of the operands that it judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    Any,
    /// Any type of the profile, the same in all operands.
    Equal,
    /// Any type of the profile, the same in all operands; signed and unsigned integers of one width count as one.
    Alike,
    /// One of these, the same in all operands.
    EqualOf(&'static [Elem]),
    /// Each operand one of these.
    EachOf(&'static [Elem]),
    /// One of these pairs, source first.
    Pairs(&'static [(Elem, &'static [Elem])]),
    ByRole(&'static [(Role, TypeOf)]),
    /// One of these tuples, in the order of the roles.
    Rows(&'static [Role], &'static [&'static [Elem]]),
    /// A rule of its own decides (`tmov-bias`, `tmov-scaling`).
    OwnRule,
}

/// What [`Types::ByRole`] asks of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeOf {
    One(&'static [Elem]),
    /// The type of another operand.
    Like(Role),
    /// A type of another operand's size.
    SizeOf(Role),
    /// The type of another operand, signedness aside.
    Alike(Role),
}

/// One line of a legality table.
#[derive(Debug)]
pub struct Sig {
    /// The profiles that have it.
    pub on: Profiles,
    /// The forms that may use it.
    pub forms: &'static [Form],
    /// Where the operands lie; one that is not named lies anywhere.
    pub locs: &'static [(Role, Locs)],
    /// The ways in which they may be laid out; without any, every way.
    pub layouts: &'static [Layouts],
    pub types: Types,
    /// The pipe that does it.
    pub pipe: Pipe,
}

/// At which step of the search the last signature fell away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// No signature on the profile in this form.
    Profile,
    Loc,
    Layout,
    Dtype,
}

/// The standard types of ops.md.
pub const STANDARD: &[Elem] = &[I8, U8, I16, U16, I32, U32, F16, Bf16, F32];
/// Every integer type, and the floats of cpu.
pub(super) const NUMBERS: &[Elem] = &[I8, U8, I16, U16, I32, U32, I64, U64, F16, Bf16, F32];
/// The A5 types of ops.md.
pub const A5_TYPES: &[Elem] = &[I8, F16, Bf16, F32, I32, Hif8, F8e4m3, F8e5m2, F8e8m0, F4e2m1x2, F4e1m2x2];
pub(super) const STANDARD_AND_A5: &[Elem] =
    &[I8, U8, I16, U16, I32, U32, F16, Bf16, F32, Hif8, F8e4m3, F8e5m2, F8e8m0, F4e2m1x2, F4e1m2x2];
/// What the matrix operands of a2a3 take.
pub const CUBE_A2A3: &[Elem] = &[I8, F16, Bf16, F32];
/// What the matrix operands of a5 take.
pub const CUBE_A5: &[Elem] = &[I8, F8e4m3, F8e5m2, Hif8, F16, Bf16, F32, F4e2m1x2, F4e1m2x2, F8e8m0];
/// What scale operands take.
pub const SCALES: &[Elem] = &[U8, F8e8m0, Hif8];

/// Out of an accumulator, plain: fixpipe.md 2.
pub(super) const ACC_PLAIN_A2A3: Types = Types::Pairs(&[(F32, &[F16, Bf16])]);
/// Out of an accumulator with a scalar: fixpipe.md 2.
pub(super) const ACC_SCALAR_A2A3: Types = Types::Pairs(&[(F32, &[I8]), (I32, &[I8, U8, F16, I16])]);
/// Out of an accumulator with a Scaling tile: fixpipe.md 2.
pub(super) const ACC_VECTOR_A2A3: Types = Types::Pairs(&[(F32, &[I8, U8]), (I32, &[I8, U8, F16, I16])]);
/// Out of an accumulator, plain, on cpu: both rows of fixpipe.md 2, and any two equal types.
#[rustfmt::skip]
pub(super) const ACC_PLAIN_CPU: Types = Types::Pairs(&[
    (F32, &[F16, Bf16, F32]), (F16, &[F16]), (Bf16, &[Bf16]), (I8, &[I8]), (U8, &[U8]), (I16, &[I16]), (U16, &[U16]),
    (I32, &[I32]), (U32, &[U32]), (I64, &[I64]), (U64, &[U64]),
]);
/// Out of an accumulator, plain: fixpipe.md 2.
pub(super) const ACC_PLAIN_A5: Types = Types::Pairs(&[(F32, &[F16, Bf16, F32]), (I32, &[I32])]);
/// Out of an accumulator, quantized: fixpipe.md 2.
pub(super) const ACC_QUANT_A5: Types =
    Types::Pairs(&[(F32, &[I8, U8, Hif8, F16, Bf16, F8e4m3]), (I32, &[I8, U8, F16, Bf16])]);
/// Out of an accumulator, quantized, on cpu: both rows of fixpipe.md 2 whose types exist there.
pub(super) const ACC_QUANT_CPU: Types = Types::Pairs(&[(F32, &[I8, U8, F16, Bf16]), (I32, &[I8, U8, F16, I16, Bf16])]);

/// What cpu does not quantize out of Mat: there `quant-source` says so.
pub(super) const MAT_OTHERS: Types =
    Types::ByRole(&[(Role::Src, TypeOf::One(&[I8, U8, I16, U16, U32, I64, U64, F16, Bf16]))]);

/// Out of an accumulator without a change of type, as fill values and dual modes need it.
pub(super) const ACC_SAME: Types = Types::Pairs(&[(F32, &[F32]), (I32, &[I32])]);

/// All locations.
pub const ALL_LOCS: Locs = Loc::ALL;
/// All locations but the accumulator: its sources go through fixpipe on every profile.
pub const NOT_ACC: Locs =
    &[Loc::Vec, Loc::Mat, Loc::Left, Loc::Right, Loc::Bias, Loc::Scaling, Loc::ScaleLeft, Loc::ScaleRight];

/// All locations whose elements are never quantized: cpu quantizes out of Mat as out of an accumulator (fixpipe.md 1).
pub const NOT_QUANTIZED: Locs =
    &[Loc::Vec, Loc::Left, Loc::Right, Loc::Bias, Loc::Scaling, Loc::ScaleLeft, Loc::ScaleRight];
/// Where cpu quantizes from.
pub(super) const QUANTIZED: Locs = &[Loc::Acc, Loc::Mat];

/// A tile operand of an instruction that is judged.
pub type Judged = (Role, Tile);

const fn tile(tiles: &[Judged], role: Role) -> Option<&Tile> {
    let mut n = 0;
    while n < tiles.len() {
        if tiles[n].0 as u8 == role as u8 {
            return Some(&tiles[n].1);
        }
        n += 1;
    }
    None
}

/// Does the condition hold for any value of a slice? Closures cannot be called in constants.
macro_rules! any {
    ($each:pat in $slice:expr => $holds:expr) => {{
        let (mut found, mut n) = (false, 0);
        while n < $slice.len() && !found {
            let $each = $slice[n];
            found = $holds;
            n += 1;
        }
        found
    }};
}

const fn lists(list: &[Elem], elem: Elem) -> bool {
    any!(listed in list => listed as u8 == elem as u8)
}

impl Lay {
    /// Does the operand have this layout?
    pub const fn takes(self, tile: &Tile, tiles: &[Judged], profile: Profile) -> bool {
        let name = tile.layout_name() as u8;
        match self {
            Lay::Any => true,
            Lay::Of(names) => any!(listed in names => listed as u8 == name),
            Lay::Exactly(layout, fractal) => name == layout as u8 && tile.fractal == fractal,
            Lay::Usual => tile.has_usual_layout(profile),
            Lay::OneRowNd => name == LayoutName::Nd as u8 && tile.rows == 1,
            Lay::OneColumnDn => name == LayoutName::Dn as u8 && tile.cols == 1,
            Lay::OneLine => !tile.is_boxed() && (tile.rows == 1 || tile.cols == 1) && tile.elem.bits() < 64,
            Lay::RowMajor => matches!(tile.blayout, BLayout::RowMajor),
            Lay::Like(role) => match self::tile(tiles, role) {
                Some(other) => tile.same_layout(other),
                None => true,
            },
        }
    }

    /// How tables show it.
    pub fn describe(self) -> String {
        match self {
            Lay::Any => "any".into(),
            Lay::Of(names) => names.iter().map(|n| n.name()).collect::<Vec<_>>().join("/"),
            Lay::Exactly(name, fractal) => format!("{name} {fractal}"),
            Lay::Usual => "usual".into(),
            Lay::OneRowNd => "1-row ND".into(),
            Lay::OneColumnDn => "1-column DN".into(),
            Lay::OneLine => "one line".into(),
            Lay::RowMajor => "row-major".into(),
            Lay::Like(role) => format!("as {role}"),
        }
    }
}

impl Types {
    /// Does the signature take these types?
    pub const fn takes(self, tiles: &[Judged]) -> bool {
        match self {
            Types::Any | Types::OwnRule => true,
            Types::Equal => all_equal(tiles),
            Types::Alike => !any!((_, Tile { elem, .. }) in tiles => !alike(elem, tiles[0].1.elem)),
            Types::EqualOf(list) => all_equal(tiles) && (tiles.is_empty() || lists(list, tiles[0].1.elem)),
            Types::EachOf(list) => !any!((_, Tile { elem, .. }) in tiles => !lists(list, elem)),
            Types::Pairs(pairs) => {
                let (Some(src), Some(dst)) = (tile(tiles, Role::Src), tile(tiles, Role::Dst)) else { return false };
                any!((from, to) in pairs => from as u8 == src.elem as u8 && lists(to, dst.elem))
            }
            Types::ByRole(roles) => !any!((role, asked) in roles => match (tile(tiles, role), asked) {
                (None, _) => false,
                (Some(found), TypeOf::One(list)) => !lists(list, found.elem),
                (Some(found), TypeOf::Like(other)) => has_another_type(tiles, other, found.elem),
                (Some(found), TypeOf::SizeOf(other)) => match tile(tiles, other) {
                    Some(other) => other.elem.bits() != found.elem.bits(),
                    None => false,
                },
                (Some(found), TypeOf::Alike(other)) => {
                    matches!(tile(tiles, other), Some(like) if !alike(like.elem, found.elem))
                }
            }),
            Types::Rows(roles, rows) => any!(row in rows => {
                let mut k = 0;
                while k < roles.len() && !has_another_type(tiles, roles[k], row[k]) {
                    k += 1;
                }
                k == roles.len()
            }),
        }
    }
}

/// Is the operand there, with another type?
const fn has_another_type(tiles: &[Judged], role: Role, elem: Elem) -> bool {
    matches!(tile(tiles, role), Some(found) if found.elem as u8 != elem as u8)
}

/// Are they one type, signedness aside?
const fn alike(a: Elem, b: Elem) -> bool {
    a as u8 == b as u8 || !a.is_float() && !b.is_float() && a.bits() == b.bits()
}

const fn all_equal(tiles: &[Judged]) -> bool {
    !any!((_, Tile { elem, .. }) in tiles => elem as u8 != tiles[0].1.elem as u8)
}

impl Sig {
    /// The locations that it takes for an operand.
    pub fn locs_of(&self, role: Role) -> Locs {
        self.locs.iter().find(|(r, _)| *r == role).map_or(ALL_LOCS, |(_, locs)| locs)
    }

    /// Is it a line for this profile and form?
    pub const fn is_for(&self, profile: Profile, form: Form) -> bool {
        self.on.has(profile) && any!(listed in self.forms => listed as u8 == form as u8)
    }

    const fn takes_locs(&self, tiles: &[Judged]) -> bool {
        !any!((role, locs) in self.locs => match tile(tiles, role) {
            Some(found) => !any!(loc in locs => loc as u8 == found.loc as u8),
            None => false,
        })
    }

    const fn takes_layouts(&self, tiles: &[Judged], profile: Profile) -> bool {
        let fits = any!(way in self.layouts => !any!((role, lay) in way => match tile(tiles, role) {
            Some(found) => !lay.takes(found, tiles, profile),
            None => false,
        }));
        fits || self.layouts.is_empty()
    }

    /// How far the operands come with this signature alone.
    pub const fn judge(&self, profile: Profile, form: Form, tiles: &[Judged]) -> Result<(), Miss> {
        if !self.is_for(profile, form) {
            Err(Miss::Profile)
        } else if !self.takes_locs(tiles) {
            Err(Miss::Loc)
        } else if !self.takes_layouts(tiles, profile) {
            Err(Miss::Layout)
        } else if !self.types.takes(tiles) {
            Err(Miss::Dtype)
        } else {
            Ok(())
        }
    }
}

/// The signature that takes these operands, or how far the search came: rules in the order of ops.md 1. Constant, so
/// that the verifier and the typed intrinsics ask the same function.
pub const fn find(sigs: &'static [Sig], profile: Profile, form: Form, tiles: &[Judged]) -> Result<&'static Sig, Miss> {
    let (mut miss, mut n) = (Miss::Profile, 0);
    while n < sigs.len() {
        match sigs[n].judge(profile, form, tiles) {
            Ok(()) => return Ok(&sigs[n]),
            Err(reached) if reached as u8 > miss as u8 => miss = reached,
            Err(_) => {}
        }
        n += 1;
    }
    Err(miss)
}
