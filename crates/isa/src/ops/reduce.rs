//! Reductions and expansions (isa/reduce.md).

use super::vector::*;
use super::*;
use crate::elem::Elem::{self, *};
use crate::sem::{Axis, Func};

const BASE: OpInfo = OpInfo { family: Family::Reduce, source: "isa/reduce.md 1", ..LAYOUT };

/// On cpu a result may be wider than what is reduced (isa/reduce.md 2).
const WIDENING: &[(Elem, &[Elem])] = &[(F16, &[F32]), (Bf16, &[F32]), (I16, &[I32])];
const ND_OR_DN: Lay = Lay::Of(&[LayoutName::Nd, LayoutName::Dn]);

/// One value a row goes into ND, or into DN with one column.
const ONE_A_ROW: &[Layouts] = &[pair!(ND, ND), pair!(ND, Lay::OneColumnDn)];
const ONE_A_COLUMN: &[Layouts] = &[pair!(ND, ND)];
const IN_ROWS: &[Layouts] = &[pair!(ND_OR_DN, ND)];
/// The same with values: both destinations are laid out alike or not.
const VALUED_A_ROW: &[Layouts] = &[
    &[(Role::Src, ND), (Role::Dst, ND), (Role::DstVal, ND)],
    &[(Role::Src, ND), (Role::Dst, Lay::OneColumnDn), (Role::DstVal, ND)],
    &[(Role::Src, ND), (Role::Dst, ND), (Role::DstVal, Lay::OneColumnDn)],
    &[(Role::Src, ND), (Role::Dst, Lay::OneColumnDn), (Role::DstVal, Lay::OneColumnDn)],
];
const VALUED_A_COLUMN: &[Layouts] = &[&[(Role::Src, ND_OR_DN), (Role::Dst, ND), (Role::DstVal, ND)]];
/// One operand is full, the other has a block a row, or is DN with one value a row.
const ROW_BROADCAST: &[Layouts] = &[
    &[(Role::Src0, ND), (Role::Src1, ND), (Role::Dst, ND)],
    &[(Role::Src0, ND), (Role::Src1, Lay::OneColumnDn), (Role::Dst, ND)],
    &[(Role::Src0, Lay::OneColumnDn), (Role::Src1, ND), (Role::Dst, ND)],
];
/// Scratch of src's type that may be left out.
const LIKE_SRC: TmpAsk = TmpAsk { elem: TmpElem::LikeSrc, ..OPTIONAL };

/// One value for each row or column of src, folded from left to right.
macro_rules! reduction {
    ($mnemonic:literal $cpp:literal $func:ident $each:ident($($role:ident $(as $effect:ident)?),*) $($attrs:ident)?, $valid:ident, $layouts:expr;
     a2a3 $a2a3:expr, a5 $a5:expr; $($on:ident $kind:ident $(($ask:expr))? $suffix:literal;)* $example:literal, $formula:literal, $summary:literal) => {
        OpInfo {
            mnemonic: $mnemonic,
            cpp: &[$cpp],
            summary: $summary,
            formula: $formula,
            forms: &[form!(Plain: $($role $(as $effect)?),* => Dst as write_part)],
            $(attrs: $attrs,)?
            sigs: &[
                anywhere(Types::EqualOf(NUMBERS)),
                anywhere(Types::Pairs(WIDENING)),
                vector(Profiles::A2A3, Types::EqualOf($a2a3)).laid_out($layouts),
                vector(Profiles::A5, Types::EqualOf($a5)).laid_out($layouts),
            ],
            ids: ids!($mnemonic),
            rules: vector_rules!($mnemonic;
                ALL $valid "-valid"; ALL FoldEmpty "-empty";
                $($on $kind $(($ask))? $suffix;)* =>),
            sem: Sem::Fold { each: Axis::$each, func: Func::$func },
            examples: &[(Role::Dst, $example)],
            ..BASE
        }
    };
}

macro_rules! of_rows {
    ($mnemonic:literal $cpp:literal $func:ident a2a3 $a2a3:expr, a5 $a5:expr; $formula:literal, $summary:literal) => {
        reduction!($mnemonic $cpp $func Row(Src, Tmp as optional_scratch), RowFoldValid, ONE_A_ROW; a2a3 $a2a3, a5 $a5;
            A2A3 Tmp(LIKE_SRC) "-tmp"; "!pto.tile<vec, 16x16xf16, valid=16x1>", $formula, $summary)
    };
}

macro_rules! of_columns {
    ($mnemonic:literal $cpp:literal $func:ident a2a3 $a2a3:expr, a5 $a5:expr; $formula:literal, $summary:literal) => {
        reduction!($mnemonic $cpp $func Col(Src), ColFoldValid, ONE_A_COLUMN; a2a3 $a2a3, a5 $a5;
            "!pto.tile<vec, 16x32xf16, valid=1x32>", $formula, $summary)
    };
}

/// Types of an arg instruction: what is searched, and what holds a place in it.
macro_rules! places {
    ($src:expr, $dst:expr) => {
        Types::ByRole(&[
            (Role::Src, TypeOf::One($src)),
            (Role::Dst, TypeOf::One($dst)),
            (Role::DstVal, TypeOf::Like(Role::Src)),
        ])
    };
}

/// The place of the first greatest or least element of each row or column, and with two destinations its value too.
macro_rules! arg {
    ($mnemonic:literal $cpp:literal $each:ident $greatest:literal, $valid:ident, $layouts:expr, $valued:expr;
     a2a3 $a2a3:expr, a5 $a5:expr; valued [$($on:ident $src:expr, $dst:expr;)*] $index:literal $value:literal $formula:literal, $summary:literal) => {
        OpInfo {
            mnemonic: $mnemonic,
            cpp: &[$cpp],
            summary: $summary,
            formula: $formula,
            forms: &[
                form!(Plain: Src, Tmp as optional_scratch => Dst as write_part),
                form!(Valued: Src, Tmp as optional_scratch => DstVal as write_part, Dst as write_part),
            ],
            sigs: &[
                anywhere(places!(NUMBERS, INDEX)).of(&[Form::Plain, Form::Valued]),
                vector(Profiles::A2A3, places!($a2a3, INDEX_32)).laid_out($layouts),
                vector(Profiles::A5, places!($a5, INDEX_32)).laid_out($layouts),
                $(vector(Profiles::$on, places!($src, $dst)).of(&[Form::Valued]).laid_out($valued),)*
            ],
            ids: ids!($mnemonic),
            rules: vector_rules!($mnemonic;
                ALL $valid "-valid"; ALL FoldEmpty "-empty";
                ALL ArgIndex "-index"; A2A3 ArgTmp "-tmp";
                A2A3 ArgTmpSize "-tmp-size"; =>),
            sem: Sem::Fold { each: Axis::$each, func: Func::Arg { greatest: $greatest, value: false } },
            examples: &[(Role::Dst, $index), (Role::DstVal, $value)],
            ..BASE
        }
    };
}
const INDEX: &[Elem] = &[I32, U32, I16, U16];
const INDEX_16: &[Elem] = &[I16, U16];
const INDEX_32: &[Elem] = &[I32, U32];

macro_rules! row_arg {
    ($mnemonic:literal $cpp:literal $greatest:literal $formula:literal, $summary:literal) => {
        arg!($mnemonic $cpp Row $greatest, RowFoldValid, ONE_A_ROW, VALUED_A_ROW;
            a2a3 SIGNED_FLOAT, a5 &[F16, Bf16, F32, I16, U16, I32, U32];
            valued [
                A2A3 &[F16, I16], INDEX; A2A3 &[F32, I32], INDEX_32;
                A5 &[F16, Bf16, I16, U16], INDEX; A5 &[F32, I32, U32], INDEX_32;
            ]
            "!pto.tile<vec, 16x16xi32, valid=16x1>" "!pto.tile<vec, 16x16xf16, valid=16x1>" $formula, $summary)
    };
}

macro_rules! col_arg {
    ($mnemonic:literal $cpp:literal $greatest:literal $formula:literal, $summary:literal) => {
        arg!($mnemonic $cpp Col $greatest, ColFoldValid, IN_ROWS, VALUED_A_COLUMN;
            a2a3 &[F16, F32, U16, U32], a5 &[F16, F32, I8, U8, I16, U16, I32, U32];
            valued [
                A2A3 &[F16, U16], INDEX_16; A2A3 &[F32, U32], INDEX_32;
                A5 &[F16, I16, U16], INDEX_16; A5 &[F32, I32, U32], INDEX_32;
            ]
            "!pto.tile<vec, 16x32xi32, valid=1x32>" "!pto.tile<vec, 16x32xf16, valid=1x32>" $formula, $summary)
    };
}

/// Column 0 or row 0 everywhere.
macro_rules! expansion {
    ($mnemonic:literal $cpp:literal $each:ident $valid:ident, $layouts:expr, $example:literal; $formula:literal, $summary:literal) => {
        OpInfo {
            mnemonic: $mnemonic,
            cpp: &[$cpp],
            summary: $summary,
            formula: $formula,
            forms: &[form!(Plain: Src => Dst)],
            sigs: &[
                anywhere(Types::EqualOf(NUMBERS)),
                vector(Profiles::A2A3, Types::EqualOf(STORED)).laid_out($layouts),
                vector(Profiles::A5, Types::EqualOf(NUMBERS)).laid_out($layouts),
            ],
            ids: ids!($mnemonic),
            rules: vector_rules!($mnemonic; ALL $valid "-valid"; =>),
            sem: Sem::Expand { each: Axis::$each, func: Func::Bits },
            examples: &[(Role::Src, $example)],
            ..BASE
        }
    };
}

const ROW_ATTRS: &[AttrName] = &[AttrName::Src1Col, AttrName::Src0EqDst];
const EXACT_ROW_ATTRS: &[AttrName] = &[AttrName::Src1Col, AttrName::Src0EqDst, AttrName::HighPrecision];
/// What the expansions with an operation take on a5.
const A5_EXPANDED: &[Elem] = STORED;

/// Division has a wish for precision in C++.
const fn algorithm(func: Func) -> Option<CppValue> {
    if matches!(func, Func::Div) { Some(CppValue::Algorithm("Div")) } else { None }
}

/// A full tile and a value, or a 32-byte block, for each row.
macro_rules! row_expand {
    ($mnemonic:literal $cpp:literal $func:ident $attrs:ident; cpu $cpu:expr, a2a3 $a2a3:expr, a5 $a5:expr;
     $($($on:ident $kind:ident $own:literal;)* => $($late:ident $at_run:ident $suffix:literal;)*)? $what:literal, $does:literal) => {
        OpInfo {
            mnemonic: $mnemonic,
            cpp: &[$cpp],
            summary: concat!("Row broadcast: each row of the full operand ", $does,
                " the value (or 32-byte block) of that row in the other operand."),
            formula: concat!("dst(i,j) = ", $what, "; for the full operand s(i,j) = src(i,j), for the broadcast operand \
                s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)"),
            forms: &[form!(Plain: Src0, Src1, Tmp as optional_scratch => Dst)],
            attrs: $attrs,
            sigs: &[
                anywhere(Types::EqualOf($cpu)),
                vector(Profiles::A2A3, Types::EqualOf($a2a3)).laid_out(ROW_BROADCAST),
                vector(Profiles::A5, Types::EqualOf($a5)).laid_out(ROW_BROADCAST),
            ],
            ids: ids!($mnemonic),
            rules: vector_rules!($mnemonic;
                ALL RowExpandValid "-valid"; ALL ExpandColumn "-attr"; $($($on $kind $own;)*)?
                A2A3 ExpandTmp "-tmp"; A2A3 ExpandTmpSize "-tmp-size";
                => $($($late $at_run $suffix;)*)?),
            value: algorithm(Func::$func),
            sem: Sem::Expand { each: Axis::Row, func: Func::$func },
            examples: &[(Role::Src1, "!pto.tile<vec, 16x1xf16, blayout=col_major>")],
            ..BASE
        }
    };
}

/// A full tile and one row.
macro_rules! col_expand {
    ($mnemonic:literal $cpp:literal $func:ident; cpu $cpu:expr, a2a3 $a2a3:expr, a5 $a5:expr;
     $($late:ident $at_run:ident $suffix:literal;)* $what:literal, $does:literal) => {
        OpInfo {
            mnemonic: $mnemonic,
            cpp: &[$cpp],
            summary: concat!("Column broadcast: each row of the full operand ", $does, " row 0 of the other operand."),
            formula: concat!("dst(i,j) = ", $what,
                "; for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(0,j)"),
            forms: &[form!(Plain: Src0, Src1 => Dst)],
            sigs: &[
                anywhere(Types::EqualOf($cpu)),
                vector(Profiles::A2A3, Types::EqualOf($a2a3)),
                vector(Profiles::A5, Types::EqualOf($a5)),
            ],
            ids: ids!($mnemonic),
            rules: vector_rules!($mnemonic; ALL ColExpandValid "-valid";
                => $($late $at_run $suffix;)*),
            value: algorithm(Func::$func),
            sem: Sem::Expand { each: Axis::Col, func: Func::$func },
            examples: &[(Role::Src1, "!pto.tile<vec, 1x32xf16>")],
            ..BASE
        }
    };
}

family! { after scalar::END;
    Trowsum => of_rows!("trowsum" "TROWSUM" Add a2a3 SIGNED_FLOAT, a5 &[F16, F32, I16, I32, I64, U64];
        "dst(i,0) = (((+0 + src(i,0)) + src(i,1)) + ...) + src(i,C-1), C = src.Cv",
        "The sum of each row of src goes to column 0 of dst.");
    Trowprod => of_rows!("trowprod" "TROWPROD" Mul a2a3 SIGNED_FLOAT, a5 SIGNED_FLOAT;
        "dst(i,0) = (((1 * src(i,0)) * src(i,1)) * ...) * src(i,C-1), C = src.Cv",
        "The product of each row of src goes to column 0 of dst.");
    Trowmax => of_rows!("trowmax" "TROWMAX" Max a2a3 SIGNED_FLOAT, a5 &[F16, F32, I8, U8, I16, I32, I64, U64];
        "dst(i,0) = max over 0 <= j < src.Cv of src(i,j)", "The maximum of each row of src goes to column 0 of dst.");
    Trowmin => of_rows!("trowmin" "TROWMIN" Min a2a3 SIGNED_FLOAT, a5 &[F16, F32, I8, U8, I16, I32, I64, U64];
        "dst(i,0) = min over 0 <= j < src.Cv of src(i,j)", "The minimum of each row of src goes to column 0 of dst.");
    Tcolsum => reduction!("tcolsum" "TCOLSUM" Add Col(Src, Tmp as optional_scratch) BINARY, ColFoldValid, ONE_A_COLUMN;
        a2a3 SIGNED_FLOAT, a5 NUMBERS; NPU PairTmp "-tmp"; NPU PairTmpSize "-tmp-size";
        "!pto.tile<vec, 16x32xf16, valid=1x32>",
        "dst(0,j) = (((+0 + src(0,j)) + src(1,j)) + ...) + src(R-1,j), R = src.Rv",
        "The sum of each column of src goes to row 0 of dst.");
    Tcolprod => of_columns!("tcolprod" "TCOLPROD" Mul a2a3 SIGNED_FLOAT, a5 &[F16, Bf16, F32, I16, U16, I32, U32];
        "dst(0,j) = (((1 * src(0,j)) * src(1,j)) * ...) * src(R-1,j), R = src.Rv",
        "The product of each column of src goes to row 0 of dst.");
    Tcolmax => of_columns!("tcolmax" "TCOLMAX" Max a2a3 SIGNED_FLOAT, a5 NUMBERS;
        "dst(0,j) = max over 0 <= i < src.Rv of src(i,j)", "The maximum of each column of src goes to row 0 of dst.");
    Tcolmin => of_columns!("tcolmin" "TCOLMIN" Min a2a3 SIGNED_FLOAT, a5 NUMBERS;
        "dst(0,j) = min over 0 <= i < src.Rv of src(i,j)", "The minimum of each column of src goes to row 0 of dst.");
    Trowargmax => row_arg!("trowargmax" "TROWARGMAX" true
        "dst(i,0) = first j with src(i,j) greatest in row i; dst_val(i,0) = src(i, dst(i,0))",
        "Column index of the first greatest element of each row, and with two destinations its value too.");
    Tcolargmax => col_arg!("tcolargmax" "TCOLARGMAX" true
        "dst(0,j) = first i with src(i,j) greatest in column j; dst_val(0,j) = src(dst(0,j), j)",
        "Row index of the first greatest element of each column, and with two destinations its value too.");
    Trowargmin => row_arg!("trowargmin" "TROWARGMIN" false
        "dst(i,0) = first j with src(i,j) least in row i; dst_val(i,0) = src(i, dst(i,0))",
        "Column index of the first least element of each row, and with two destinations its value too.");
    Tcolargmin => col_arg!("tcolargmin" "TCOLARGMIN" false
        "dst(0,j) = first i with src(i,j) least in column j; dst_val(0,j) = src(dst(0,j), j)",
        "Row index of the first least element of each column, and with two destinations its value too.");
    Trowexpand => expansion!("trowexpand" "TROWEXPAND" Row RowOfValid, IN_ROWS, "!pto.tile<vec, 16x16xf16, valid=16x1>";
        "dst(i,j) = src(i,0)", "Copies column 0 of src into every column of dst; bits are moved, not computed.");
    Tcolexpand => expansion!("tcolexpand" "TCOLEXPAND" Col ColOfValid, ONE_A_COLUMN, "!pto.tile<vec, 1x32xf16>";
        "dst(i,j) = src(0,j)", "Copies row 0 of src into every row of dst; bits are moved, not computed.");
    Trowexpandadd => row_expand!("trowexpandadd" "TROWEXPANDADD" Add ROW_ATTRS;
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 A5_EXPANDED; "s0(i,j) + s1(i,j)", "adds");
    Trowexpandsub => row_expand!("trowexpandsub" "TROWEXPANDSUB" Sub EXACT_ROW_ATTRS;
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 A5_EXPANDED; "s0(i,j) - s1(i,j)", "subtracts");
    Trowexpandmul => row_expand!("trowexpandmul" "TROWEXPANDMUL" Mul EXACT_ROW_ATTRS;
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 A5_EXPANDED; "s0(i,j) * s1(i,j)", "multiplies by");
    Trowexpanddiv => row_expand!("trowexpanddiv" "TROWEXPANDDIV" Div EXACT_ROW_ATTRS;
        cpu NUMBERS, a2a3 HALF_SINGLE, a5 A5_EXPANDED; NPU PreciseWithTmp "-precision"; => CPU_A5 Zero "-zero"; "s0(i,j) / s1(i,j)", "divides by");
    Trowexpandmax => row_expand!("trowexpandmax" "TROWEXPANDMAX" Max ROW_ATTRS;
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 A5_EXPANDED; "max(s0(i,j), s1(i,j))", "takes the maximum with");
    Trowexpandmin => row_expand!("trowexpandmin" "TROWEXPANDMIN" Min ROW_ATTRS;
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 A5_EXPANDED; "min(s0(i,j), s1(i,j))", "takes the minimum with");
    Trowexpandexpdif => row_expand!("trowexpandexpdif" "TROWEXPANDEXPDIF" ExpDif ROW_ATTRS;
        cpu HALF_SINGLE, a2a3 HALF_SINGLE, a5 HALF_SINGLE; "exp(s0(i,j) - s1(i,j))", "takes exp of the difference with");
    Tcolexpandadd => col_expand!("tcolexpandadd" "TCOLEXPANDADD" Add;
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 A5_EXPANDED; "s0(i,j) + s1(i,j)", "adds");
    Tcolexpandsub => col_expand!("tcolexpandsub" "TCOLEXPANDSUB" Sub;
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 A5_EXPANDED; "s0(i,j) - s1(i,j)", "subtracts");
    Tcolexpandmul => col_expand!("tcolexpandmul" "TCOLEXPANDMUL" Mul;
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 A5_EXPANDED; "s0(i,j) * s1(i,j)", "multiplies by");
    Tcolexpanddiv => col_expand!("tcolexpanddiv" "TCOLEXPANDDIV" Div;
        cpu NUMBERS, a2a3 HALF_SINGLE, a5 A5_EXPANDED; CPU_A5 Zero "-zero"; "s0(i,j) / s1(i,j)", "divides by");
    Tcolexpandmax => col_expand!("tcolexpandmax" "TCOLEXPANDMAX" Max;
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 A5_EXPANDED; "max(s0(i,j), s1(i,j))", "takes the maximum with");
    Tcolexpandmin => col_expand!("tcolexpandmin" "TCOLEXPANDMIN" Min;
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 A5_EXPANDED; "min(s0(i,j), s1(i,j))", "takes the minimum with");
    Tcolexpandexpdif => col_expand!("tcolexpandexpdif" "TCOLEXPANDEXPDIF" ExpDif;
        cpu HALF_SINGLE, a2a3 HALF_SINGLE, a5 HALF_SINGLE; "exp(s0(i,j) - s1(i,j))", "takes exp of the difference with");
    Tpairreducesum => OpInfo {
        mnemonic: "tpairreducesum",
        cpp: &["TPAIRREDUCESUM"],
        summary: "Adds neighbouring pairs of each row into the lower half of dst's row and zeroes the upper half.",
        formula: "dst(i,k) = src(i,2k) + src(i,2k+1) for k < floor(C/2); dst(i,k) = +0 for the other k < C, C = dst.Cv; \
                  cpu only: for odd C dst(i,(C-1)/2) = src(i,C-1) + 0",
        forms: &[form!(Plain: Src => Dst)],
        sigs: &[
            anywhere(Types::EqualOf(NUMBERS)),
            vector(Profiles::A2A3, Types::EqualOf(HALF_SINGLE)),
            vector(Profiles::A5, Types::EqualOf(HALF_SINGLE)),
        ],
        ids: ids!("tpairreducesum"),
        rules: vector_rules!("tpairreducesum"; ALL SameValid "-valid"; =>),
        sem: Sem::Computes(sem::pair_sums),
        notes: &["odd valid columns: the last element stands alone on cpu; a2a3 and a5 drop it and write 0"],
        ..BASE
    };
}

/// The order in which hardware adds.
const BINARY: &[AttrName] = &[AttrName::IsBinary];
