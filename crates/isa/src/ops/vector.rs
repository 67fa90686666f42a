//! What the rows of the vector unit share: signatures, lists of types, rules in their order.

use super::*;
use crate::elem::Elem::{self, *};

pub(super) const INTEGERS: &[Elem] = &[I8, U8, I16, U16, I32, U32, I64, U64];
pub(super) const TO_32: &[Elem] = &[I8, U8, I16, U16, I32, U32];
pub(super) const FROM_16_TO_32: &[Elem] = &[I16, U16, I32, U32];
pub(super) const FLOATS: &[Elem] = &[F16, Bf16, F32];
pub(super) const HALF_SINGLE: &[Elem] = &[F16, F32];
pub(super) const SIGNED_FLOAT: &[Elem] = &[I16, I32, F16, F32];
pub(super) const STORED: &[Elem] = &[I8, U8, I16, U16, I32, U32, F16, Bf16, F32];
/// What a comparison may write its bits into.
pub(super) const MASK_WRITTEN: &[Elem] = &[I8, U8, I32, U32];
/// What may carry the bits of a mask that is read.
pub(super) const MASK_READ: &[Elem] = STORED;

/// Functions that know a wish for precision.
pub(super) const PRECISE: &[AttrName] = &[AttrName::PrecisionMode];

/// The edge cases of comparisons and of masks that are written.
pub(super) const COMPARED: &[&str] = &[
    "floats by value, -0 equals +0; with a NaN ne is true and the other five are false",
    "mask bytes are written whole: bits behind the last column are 0; one undefined element makes its byte undefined",
];
/// The edge cases of masks that are read.
pub(super) const SELECTED: &[&str] = &[
    "bits are copied, a NaN keeps its payload",
    "an undefined mask byte makes its results undefined, the operand not picked does not count",
];

/// Every operand that a vector instruction may have, in Vec.
const IN_VEC: &[(Role, Locs)] = &[
    (Role::Src, &[Loc::Vec]),
    (Role::Src0, &[Loc::Vec]),
    (Role::Src1, &[Loc::Vec]),
    (Role::Src2, &[Loc::Vec]),
    (Role::Mask, &[Loc::Vec]),
    (Role::Dst, &[Loc::Vec]),
    (Role::DstVal, &[Loc::Vec]),
];
/// And row by row.
const IN_ROWS: Layouts = &[
    (Role::Src, ND),
    (Role::Src0, ND),
    (Role::Src1, ND),
    (Role::Src2, ND),
    (Role::Mask, ND),
    (Role::Dst, ND),
    (Role::DstVal, ND),
];

impl Sig {
    /// For these forms.
    pub(super) const fn of(self, forms: &'static [Form]) -> Sig {
        Sig { forms, ..self }
    }

    /// With these layouts.
    pub(super) const fn laid_out(self, layouts: &'static [Layouts]) -> Sig {
        Sig { layouts, ..self }
    }
}

/// cpu: wherever the operands lie.
pub(super) const fn anywhere(types: Types) -> Sig {
    Sig { on: Profiles::CPU, forms: PLAIN, locs: &[], layouts: &[], types, pipe: Pipe::V }
}
/// In Vec, row by row.
pub(super) const fn vector(on: Profiles, types: Types) -> Sig {
    Sig { on, forms: PLAIN, locs: IN_VEC, layouts: &[IN_ROWS], types, pipe: Pipe::V }
}
/// cpu, where the mask that is written still lies row by row (isa/elementwise.md 2).
pub(super) const fn writes_mask(types: Types) -> Sig {
    anywhere(types).laid_out(&[&[(Role::Dst, ND)]])
}
/// cpu, where the mask that is read still lies row by row.
pub(super) const fn reads_mask(types: Types) -> Sig {
    anywhere(types).laid_out(&[&[(Role::Mask, ND)]])
}
/// Into Mat, however it is laid out.
pub(super) const fn in_mat(on: Profiles, types: Types) -> Sig {
    Sig { on, forms: PLAIN, locs: &[(Role::Dst, &[Loc::Mat])], layouts: &[], types, pipe: Pipe::Mte2 }
}

/// Types by role: sources of one type, and a mask of bits.
macro_rules! compared {
    ($src:ident $($same:ident)*; $types:expr, $mask:expr) => {
        [
            (Role::$src, TypeOf::One($types)),
            $((Role::$same, TypeOf::Like(Role::$src)),)*
            (Role::Dst, TypeOf::One($mask)),
        ]
    };
}
/// Types by role: a mask of bits, and sources and destination of one type.
macro_rules! selected {
    ($src:ident $($same:ident)*; $types:expr) => {
        [
            (Role::Mask, TypeOf::One(MASK_READ)),
            (Role::$src, TypeOf::One($types)),
            $((Role::$same, TypeOf::Like(Role::$src)),)*
            (Role::Dst, TypeOf::Like(Role::$src)),
        ]
    };
}

/// The rules of a vector instruction: those of the signature, those before `overlap`, and after the arrow those that
/// data can break.
macro_rules! vector_rules {
    (mask $mnemonic:literal; $($rules:tt)*) => { vector_rules!(@ $mnemonic ALL; $($rules)* =>) };
    ($mnemonic:literal; $($rules:tt)*) => { vector_rules!(@ $mnemonic NPU; $($rules)*) };
    (@ $mnemonic:literal $layout:ident; $($on:ident $kind:ident $(($ask:expr))? $suffix:literal;)*
     => $($late:ident $at_run:ident $late_suffix:literal;)*) => {
        &[
            RuleUse { id: concat!($mnemonic, "-loc"), kind: RuleKind::Signature, on: Profiles::NPU },
            RuleUse { id: concat!($mnemonic, "-layout"), kind: RuleKind::Signature, on: Profiles::$layout },
            RuleUse { id: concat!($mnemonic, "-dtype"), kind: RuleKind::Signature, on: Profiles::ALL },
            $(RuleUse { id: concat!($mnemonic, $suffix), kind: RuleKind::$kind $(($ask))?, on: Profiles::$on },)*
            RuleUse { id: "overlap", kind: RuleKind::Overlap, on: Profiles::ALL },
            $(RuleUse { id: concat!($mnemonic, $late_suffix), kind: RuleKind::$at_run, on: Profiles::$late },)*
        ]
    };
}

/// `dst(i,j) = func(sources(i,j))`: mnemonic, C++ name, function and its operands; types by profile, rules, texts.
macro_rules! mapped {
    ($mnemonic:literal $cpp:literal $func:ident($($role:ident),* $(; $tmp:ident as $scratch:ident)?) $(precise $algorithm:literal)?;
     cpu $cpu:expr, a2a3 $a2a3:expr, a5 $a5:expr;
     $($($on:ident $kind:ident $(($ask:expr))? $suffix:literal;)* => $($late:ident $at_run:ident $late_suffix:literal;)*)?
     $formula:literal, $summary:literal) => {
        OpInfo {
            mnemonic: $mnemonic,
            cpp: &[$cpp],
            summary: $summary,
            formula: $formula,
            forms: &[form!(Plain: $($role),* $(, $tmp as $scratch)? => Dst)],
            $(attrs: PRECISE, value: Some(CppValue::Algorithm($algorithm)),)?
            sigs: &[
                anywhere(Types::EqualOf($cpu)),
                vector(Profiles::A2A3, Types::EqualOf($a2a3)),
                vector(Profiles::A5, Types::EqualOf($a5)),
            ],
            ids: ids!($mnemonic),
            rules: vector_rules!($mnemonic;
                ALL SameValid "-valid"; $($($on $kind $(($ask))? $suffix;)*)?
                => $($($late $at_run $late_suffix;)*)?),
            sem: Sem::Map { args: &[$(Role::$role),*], func: sem::Func::$func },
            ..BASE
        }
    };
}
pub(super) use {compared, mapped, selected, vector_rules};

/// Scratch of dst's type (isa/elementwise.md 6).
pub(super) const LIKE_DST: TmpAsk = TmpAsk { elem: TmpElem::LikeDst, ..TmpAsk::GIVEN };
/// Scratch that may be left out.
pub(super) const OPTIONAL: TmpAsk = TmpAsk { given: Given::Optional, ..TmpAsk::GIVEN };
/// Scratch of a power.
pub(super) const POW: TmpAsk = TmpAsk { given: Given::ForFloats, ..LIKE_DST.rows_of_dst().cols_of_dst() };
