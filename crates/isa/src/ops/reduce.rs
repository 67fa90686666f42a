//! Reductions (isa/reduce.md): one value per row.

use super::*;
use crate::elem::Elem::{self, *};
use crate::sem::{Axis, Func};

/// On cpu a sum may be wider than what is summed (isa/reduce.md 2).
const WIDENING: &[(Elem, &[Elem])] = &[(F16, &[F32]), (Bf16, &[F32]), (I16, &[I32])];

const VEC: &[Loc] = &[Loc::Vec];
const ONE_A_ROW: &[Layouts] = &[pair!(ND, ND), pair!(ND, Lay::OneColumnDn)];

/// One value for each row of src, folded from left to right.
macro_rules! row_reductions {
    ($($Name:ident $mnemonic:literal $cpp:literal $func:ident a2a3 $a2a3:expr, a5 $a5:expr, $formula:literal, $summary:literal;)*) => {
        family! { after elementwise::END; $(
            $Name => OpInfo {
                mnemonic: $mnemonic,
                cpp: &[$cpp],
                summary: $summary,
                formula: $formula,
                source: "isa/reduce.md 1",
                family: Family::Reduce,
                forms: &[form!(Plain: Src, Tmp as optional_scratch => Dst)],
                sigs: &[
                    flow!(Profiles::CPU, PLAIN, ALL_LOCS, ALL_LOCS, &[ANY], Types::EqualOf(NUMBERS), Pipe::V),
                    flow!(Profiles::CPU, PLAIN, ALL_LOCS, ALL_LOCS, &[ANY], Types::Pairs(WIDENING), Pipe::V),
                    flow!(Profiles::A2A3, PLAIN, VEC, VEC, ONE_A_ROW, Types::EqualOf($a2a3), Pipe::V),
                    flow!(Profiles::A5, PLAIN, VEC, VEC, ONE_A_ROW, Types::EqualOf($a5), Pipe::V),
                ],
                ids: ids!($mnemonic),
                rules: rules! {
                    NPU Signature concat!($mnemonic, "-loc"), concat!($mnemonic, "-layout");
                    ALL Signature concat!($mnemonic, "-dtype"); ALL RowFoldValid concat!($mnemonic, "-valid");
                    ALL FoldEmpty concat!($mnemonic, "-empty"); A2A3 FoldTmp concat!($mnemonic, "-tmp");
                    ALL Overlap "overlap";
                },
                sem: Sem::Fold { src: Role::Src, each: Axis::Row, func: Func::$func },
                examples: &[(Role::Dst, "!pto.tile<vec, 16x16xf16, valid=16x1>")],
                ..LAYOUT
            };
        )* }
    };
}

row_reductions! {
    Trowsum "trowsum" "TROWSUM" Add a2a3 &[F16, F32, I16, I32], a5 &[F16, F32, I16, I32, I64, U64],
        "dst(i,0) = (((+0 + src(i,0)) + src(i,1)) + ...) + src(i,C-1), C = src.Cv",
        "The sum of each row of src goes to column 0 of dst.";
}
