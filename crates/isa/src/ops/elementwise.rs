//! Elementwise instructions (isa/elementwise.md): most are one line each.

use super::vector::*;
use super::*;
use crate::elem::Elem::{self, *};

const BASE: OpInfo = OpInfo { family: Family::Elementwise, source: "isa/elementwise.md 1", ..LAYOUT };

family! { after support::END;
    Tabs => mapped!("tabs" "TABS" Abs(Src);
        cpu NUMBERS, a2a3 HALF_SINGLE, a5 &[I8, I16, I32, F16, F32];
        "dst(i,j) = |src(i,j)|", "Absolute value.");
    Tadd => mapped!("tadd" "TADD" Add(Src0, Src1);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 NUMBERS;
        "dst(i,j) = src0(i,j) + src1(i,j)", "Sum of two tiles.");
    Taddrelu => OpInfo {
        mnemonic: "taddrelu",
        cpp: &["TADDRELU"],
        summary: "Sum, clipped at zero.",
        formula: "dst(i,j) = trelu(src0(i,j) + src1(i,j)), one rounding",
        source: "isa/today.md 6.1",
        forms: &[form!(Plain: Src0, Src1 => Dst)],
        sigs: &[anywhere(Types::EqualOf(SIGNED_FLOAT)), vector(Profiles::A2A3, Types::EqualOf(SIGNED_FLOAT))],
        ids: ids!("taddrelu").profile("taddrelu-profile"),
        rules: rules! {
            A5 Signature "taddrelu-profile"; A2A3 Signature "taddrelu-loc", "taddrelu-layout";
            CPU_A2A3 Signature "taddrelu-dtype"; CPU_A2A3 SameValid "taddrelu-valid"; CPU_A2A3 Overlap "overlap";
        },
        sem: Sem::Map { args: &[Role::Src0, Role::Src1], func: sem::Func::ReluConvert { subtracts: false } },
        ..BASE
    };
    Taddc => mapped!("taddc" "TADDC" AddAdd(Src0, Src1, Src2);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 SIGNED_FLOAT;
        "dst(i,j) = (src0(i,j) + src1(i,j)) + src2(i,j)", "Sum of three tiles, left to right.");
    Tand => mapped!("tand" "TAND" And(Src0, Src1);
        cpu INTEGERS, a2a3 TO_32, a5 TO_32;
        "dst(i,j) = src0(i,j) & src1(i,j)", "Bitwise AND.");
    Tcmp => OpInfo {
        mnemonic: "tcmp",
        cpp: &["TCMP"],
        summary: "Compares two tiles; one bit per element into a mask (elementwise.md, 4).",
        formula: "bit j mod 8 of byte j / 8 of dst's row i = src0(i,j) <cmpMode> src1(i,j)",
        source: "isa/elementwise.md 4",
        forms: &[form!(Plain: Src0, Src1 => Dst as write_part)],
        attrs: &[AttrName::CmpMode],
        sigs: &[
            writes_mask(Types::ByRole(&compared!(Src0 Src1; NUMBERS, MASK_WRITTEN))),
            vector(Profiles::A2A3, Types::ByRole(&compared!(Src0 Src1; &[I32, F16, F32], &[I8, U8]))),
            vector(Profiles::A5, Types::ByRole(&compared!(Src0 Src1; NUMBERS, MASK_WRITTEN))),
        ],
        ids: ids!("tcmp"),
        rules: vector_rules!(mask "tcmp"; ALL MaskValid "-valid"; ALL Mask "-mask"; A2A3 CompareMode "-mode";),
        sem: Sem::Computes(sem::compare),
        notes: COMPARED,
        examples: &[(Role::Dst, "!pto.tile<vec, 16x32xu8, valid=16x4>")],
        ..BASE
    };
    Tcvt => OpInfo {
        mnemonic: "tcvt",
        cpp: &["TCVT"],
        summary: "Converts every element to dst's type (elementwise.md, 5).",
        formula: "dst(i,j) = convert(src(i,j), rmode, sat_mode)",
        source: "isa/elementwise.md 5",
        forms: &[form!(Plain: Src, Tmp as scratch_a2a3 => Dst)],
        attrs: &[AttrName::Rmode, AttrName::SatMode],
        value: Some(CppValue::Flag("NeedSetCtrl")),
        sigs: &[
            anywhere(Types::Pairs(CVT_CPU)),
            vector(Profiles::A2A3, Types::Pairs(CVT_A2A3)),
            vector(Profiles::A5, Types::Pairs(CVT_A5)),
        ],
        ids: ids!("tcvt"),
        rules: vector_rules!("tcvt";
            ALL SameValid "-valid"; NPU SameShape "-shape"; A2A3 Tmp(OPTIONAL) "-tmp"; A2A3 TmpOfCvt "-tmp-size";
            A5 CvtMode "-mode"; => ),
        sem: Sem::Computes(sem::convert_type),
        notes: &[
            "a NaN becomes 0 in integers and fp4, the canonical NaN in other floats; f32 to f32 rounds to an integral value",
            "sat_mode left out: integers clamp, except f16 to i8, u8, i16, f32 to i16, i32 to i16 and i64 to i32, which wrap; \
             floats overflow to infinity, f8e4m3 clamps",
            "OFF, float to integer: the rounded value is clamped to i32 (i64 for 32 and 64 bits), then its low bits count",
            "a zero that comes out of a float keeps its sign",
        ],
        examples: &[(Role::Dst, "!pto.tile<16x32xf32>")],
        ..BASE
    };
    Tdiv => mapped!("tdiv" "TDIV" Div(Src0, Src1) precise "Div";
        cpu NUMBERS, a2a3 HALF_SINGLE, a5 &[I16, U16, I32, U32, I64, U64, F16, F32];
        => CPU_A5 Zero "-zero";
        "dst(i,j) = src0(i,j) / src1(i,j)", "Quotient of two tiles; integers truncate toward zero.");
    Texp => mapped!("texp" "TEXP" Exp(Src) precise "Exp";
        cpu FLOATS, a2a3 HALF_SINGLE, a5 HALF_SINGLE;
        "dst(i,j) = e^src(i,j)", "Natural exponential.");
    Tfmod => mapped!("tfmod" "TFMOD" Fmod(Src0, Src1) precise "Fmod";
        cpu NUMBERS, a2a3 &[F32], a5 &[I16, U16, I32, U32, F16, F32];
        A2A3 NotInPlace "-inplace"; => CPU_A5 Zero "-zero";
        "dst(i,j) = src0(i,j) - trunc(src0(i,j) / src1(i,j)) * src1(i,j)",
        "Truncated remainder: a nonzero result has the sign of the dividend.");
    Tlog => mapped!("tlog" "TLOG" Log(Src) precise "Log";
        cpu FLOATS, a2a3 HALF_SINGLE, a5 HALF_SINGLE;
        "dst(i,j) = ln(src(i,j))", "Natural logarithm.");
    Tmax => mapped!("tmax" "TMAX" Max(Src0, Src1);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 NUMBERS;
        "dst(i,j) = max(src0(i,j), src1(i,j))", "Larger of two elements.");
    Tmin => mapped!("tmin" "TMIN" Min(Src0, Src1);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 NUMBERS;
        "dst(i,j) = min(src0(i,j), src1(i,j))", "Smaller of two elements.");
    Tmul => mapped!("tmul" "TMUL" Mul(Src0, Src1);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 &[I16, U16, I32, U32, I64, U64, F16, Bf16, F32];
        "dst(i,j) = src0(i,j) * src1(i,j)", "Product of two tiles.");
    Tneg => mapped!("tneg" "TNEG" Neg(Src);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 &[I16, U16, I32, U32, F16, Bf16, F32];
        "dst(i,j) = -src(i,j)", "Sign change.");
    Tnot => mapped!("tnot" "TNOT" Not(Src);
        cpu INTEGERS, a2a3 TO_32, a5 TO_32;
        "dst(i,j) = ~src(i,j)", "Bitwise complement.");
    Tor => mapped!("tor" "TOR" Or(Src0, Src1);
        cpu INTEGERS, a2a3 TO_32, a5 TO_32;
        "dst(i,j) = src0(i,j) | src1(i,j)", "Bitwise OR.");
    Tpow => mapped!("tpow" "TPOW" Pow(Src0, Src1; Tmp as measured_scratch) precise "Pow";
        cpu NUMBERS, a2a3 &[I8, U8, I16, U16, I32, U32, F32], a5 STORED;
        A2A3 Tmp(POW) "-tmp"; NPU TmpOfIntegers "-tmp"; NPU PreciseFloats "-precision"; => ALL Zero "-zero";
        "dst(i,j) = src0(i,j) ^ src1(i,j)",
        "src0 raised to the power src1; integers by repeated multiplication, wrapping.");
    Tprelu => mapped!("tprelu" "TPRELU" Prelu(Src0, Src1; Tmp as measured_scratch);
        cpu FLOATS, a2a3 HALF_SINGLE, a5 HALF_SINGLE;
        A2A3 Tmp(TmpAsk::U8) "-tmp"; A2A3 TmpRows "-tmp-size"; A2A3 NotInPlace "-inplace"; A2A3 NotInTmp "-inplace"; =>
        "dst(i,j) = src0(i,j) > 0 ? src0(i,j) : src1(i,j) * src0(i,j)", "ReLU with a slope per element.");
    Trecip => mapped!("trecip" "TRECIP" Recip(Src) precise "Recip";
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 SIGNED_FLOAT;
        A2A3 NotInPlace "-inplace"; => ALL Zero "-zero";
        "dst(i,j) = 1 / src(i,j)", "Reciprocal; integers truncate.");
    Trelu => mapped!("trelu" "TRELU" Relu(Src);
        cpu NUMBERS, a2a3 &[I32, F16, F32], a5 &[I32, F16, F32];
        "dst(i,j) = src(i,j) > 0 ? src(i,j) : 0", "Negative elements become zero.");
    Trem => mapped!("trem" "TREM" Rem(Src0, Src1; Tmp as measured_scratch) precise "Rem";
        cpu NUMBERS, a2a3 &[I32, F32], a5 &[I16, U16, I32, U32, I64, U64, F16, F32];
        A2A3 Tmp(LIKE_DST.rows(2).cols_of_dst()) "-tmp"; => ALL Zero "-zero"; A2A3 Range "-range";
        "dst(i,j) = src0(i,j) - floor(src0(i,j) / src1(i,j)) * src1(i,j)",
        "Floored remainder: a nonzero result has the sign of the divisor (i64: truncated, as tfmod).");
    Trsqrt => mapped!("trsqrt" "TRSQRT" Rsqrt(Src; Tmp as scratch_a2a3) precise "Rsqrt";
        cpu FLOATS, a2a3 HALF_SINGLE, a5 HALF_SINGLE;
        A2A3 Tmp(OPTIONAL) "-tmp"; NPU PreciseWithTmp "-precision"; =>
        "dst(i,j) = 1 / sqrt(src(i,j))", "Reciprocal of the square root, as one operation.");
    Tsel => OpInfo {
        mnemonic: "tsel",
        cpp: &["TSEL"],
        summary: "Picks src0 where the mask bit is 1, src1 where it is 0; bits are copied.",
        formula: "dst(i,j) = bit j mod W of mask(i, j / W) ? src0(i,j) : src1(i,j); W = bits of mask's type",
        source: "isa/elementwise.md 4",
        forms: &[form!(Plain: Mask, Src0, Src1, Tmp as scratch_a2a3 => Dst; named Dst, Mask, Tmp)],
        sigs: &[
            reads_mask(Types::ByRole(&selected!(Src0 Src1; NUMBERS))),
            vector(Profiles::A2A3, Types::ByRole(&selected!(Src0 Src1; &[I16, U16, I32, U32, F16, Bf16, F32]))),
            vector(Profiles::A5, Types::ByRole(&selected!(Src0 Src1; NUMBERS))),
        ],
        ids: ids!("tsel"),
        rules: vector_rules!(mask "tsel"; ALL SameValid "-valid"; A2A3 Tmp(TmpAsk::GIVEN) "-tmp"; ALL Mask "-mask";),
        sem: Sem::Computes(sem::select),
        notes: SELECTED,
        examples: &[(Role::Mask, "!pto.tile<16x32xu8>")],
        ..BASE
    };
    Tshl => mapped!("tshl" "TSHL" Shl(Src0, Src1);
        cpu INTEGERS, a2a3 TO_32, a5 INTEGERS;
        "dst(i,j) = src0(i,j) << (src1(i,j) mod W)", "Left shift by a count per element.");
    Tshr => mapped!("tshr" "TSHR" Shr(Src0, Src1);
        cpu INTEGERS, a2a3 TO_32, a5 INTEGERS;
        "dst(i,j) = src0(i,j) >> (src1(i,j) mod W)",
        "Right shift by a count per element; arithmetic for signed types, logical for unsigned.");
    Tsqrt => mapped!("tsqrt" "TSQRT" Sqrt(Src) precise "Sqrt";
        cpu FLOATS, a2a3 HALF_SINGLE, a5 HALF_SINGLE;
        "dst(i,j) = sqrt(src(i,j))", "Square root.");
    Tsub => mapped!("tsub" "TSUB" Sub(Src0, Src1);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 NUMBERS;
        "dst(i,j) = src0(i,j) - src1(i,j)", "Difference of two tiles.");
    Tsubc => mapped!("tsubc" "TSUBC" SubAdd(Src0, Src1, Src2);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 SIGNED_FLOAT;
        "dst(i,j) = (src0(i,j) - src1(i,j)) + src2(i,j)", "Difference of two tiles plus a third.");
    Txor => mapped!("txor" "TXOR" Xor(Src0, Src1; Tmp as measured_scratch);
        cpu INTEGERS, a2a3 TO_32, a5 TO_32;
        A2A3 Tmp(LIKE_DST.valid_of_dst()) "-tmp"; A2A3 NotInPlace "-inplace"; =>
        "dst(i,j) = src0(i,j) ^ src1(i,j)", "Bitwise exclusive OR.");
}

/// Any two different types, and f32 to itself.
const CVT_CPU: &[(Elem, &[Elem])] = &[
    (I8, &[U8, I16, U16, I32, U32, I64, U64, F16, Bf16, F32]),
    (U8, &[I8, I16, U16, I32, U32, I64, U64, F16, Bf16, F32]),
    (I16, &[I8, U8, U16, I32, U32, I64, U64, F16, Bf16, F32]),
    (U16, &[I8, U8, I16, I32, U32, I64, U64, F16, Bf16, F32]),
    (I32, &[I8, U8, I16, U16, U32, I64, U64, F16, Bf16, F32]),
    (U32, &[I8, U8, I16, U16, I32, I64, U64, F16, Bf16, F32]),
    (I64, &[I8, U8, I16, U16, I32, U32, U64, F16, Bf16, F32]),
    (U64, &[I8, U8, I16, U16, I32, U32, I64, F16, Bf16, F32]),
    (F16, &[I8, U8, I16, U16, I32, U32, I64, U64, Bf16, F32]),
    (Bf16, &[I8, U8, I16, U16, I32, U32, I64, U64, F16, F32]),
    (F32, &[I8, U8, I16, U16, I32, U32, I64, U64, F16, Bf16, F32]),
];
const CVT_A2A3: &[(Elem, &[Elem])] = &[
    (F32, &[F16, F32, Bf16, I16, I32, I64]),
    (F16, &[F32, I32, I16, I8, U8]),
    (Bf16, &[F32, I32]),
    (I16, &[F16, F32]),
    (I32, &[F32, I16, I64, F16]),
    (I64, &[F32, I32]),
    (U8, &[F16]),
    (I8, &[F16]),
];
const CVT_A5: &[(Elem, &[Elem])] = &[
    (F32, &[F32, F16, Bf16, I16, I32, I64, F8e4m3, F8e5m2, Hif8]),
    (F16, &[F32, I32, I16, I8, U8, Hif8]),
    (Bf16, &[F32, I32, F16, F4e1m2x2, F4e2m1x2]),
    (I16, &[U8, F16, F32, U32, I32]),
    (I32, &[F32, I16, U16, I64, U8]),
    (I64, &[F32, I32]),
    (U8, &[F16, U16]),
    (I8, &[F16, I16, I32]),
    (U32, &[U8, U16, I16]),
    (F8e4m3, &[F32]),
    (F8e5m2, &[F32]),
    (Hif8, &[F32]),
    (F4e1m2x2, &[Bf16]),
    (F4e2m1x2, &[Bf16]),
];
