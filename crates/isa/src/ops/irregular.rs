//! Instructions whose data decides where elements go (isa/irregular.md).

use super::*;
use crate::elem::Elem::{self, *};

/// Every type but fp4.
const ANY_BUT_FP4: &[Elem] = &[F32, F16, Bf16, I8, I16, I32, I64, U8, U16, U32, U64, F8e4m3, F8e5m2, Hif8, F8e8m0];
const A2A3: &[Elem] = &[I16, U16, I32, U32, F16, Bf16, F32];
const INDEX: &[Elem] = &[I16, U16, I32, U32];

macro_rules! gather {
    ($on:ident $types:expr, $index:expr, $locs:expr, $layouts:expr) => {
        Sig {
            on: Profiles::$on,
            forms: PLAIN,
            locs: $locs,
            layouts: $layouts,
            types: Types::ByRole(&[
                (Role::Src, TypeOf::One($types)),
                (Role::Idx, TypeOf::One($index)),
                (Role::Dst, TypeOf::Like(Role::Src)),
            ]),
            pipe: Pipe::V,
        }
    };
}
const VEC: &[(Role, Locs)] = &[(Role::Src, &[Loc::Vec]), (Role::Idx, &[Loc::Vec]), (Role::Dst, &[Loc::Vec])];
const ROWS_OF: &[Layouts] = &[&[(Role::Src, ND), (Role::Idx, ND), (Role::Dst, ND)]];

family! { after matrix::END;
    Tgather => OpInfo {
        mnemonic: "tgather",
        cpp: &["TGATHER"],
        summary: "Picks elements of src by linear index.",
        formula: "k = idx(i,j); dst(i,j) = src(k / src.C, k mod src.C)",
        source: "isa/irregular.md 4",
        family: Family::Irregular,
        forms: &[form!(Plain: Src, Idx, Tmp as optional_scratch => Dst)],
        sigs: &[
            gather!(CPU ANY_BUT_FP4, INDEX, &[], &[]),
            gather!(A2A3 A2A3, &[I32, U32], VEC, ROWS_OF),
            gather!(A5 NUMBERS, INDEX, VEC, ROWS_OF),
        ],
        ids: ids!("tgather"),
        rules: rules! {
            NPU Signature "tgather-loc", "tgather-layout"; ALL Signature "tgather-dtype"; ALL GatherValid "tgather-valid";
            A2A3 GatherTmp "tgather-tmp"; ALL Overlap "overlap"; ALL AtRun "tgather-index", "undefined-use";
        },
        sem: Sem::Data(sem::gather),
        examples: &[(Role::Idx, "!pto.tile<16x32xi32>"), (Role::Tmp, "!pto.tile<16x32xi32>")],
        ..LAYOUT
    };
}
