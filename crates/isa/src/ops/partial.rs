//! Partial operations, quantization and its inverse (isa/irregular.md 7 and 8).

use super::irregular::{BASE, INDEX, INDEX_32, by_role, in_vec, on_cpu};
use super::vector::SIGNED_FLOAT;
use super::*;
use crate::elem::Elem::{self, *};
use crate::sem::Func;

/// An operation where both sources are valid, a copy where one is.
macro_rules! part {
    ($mnemonic:literal $cpp:literal $func:ident, a5 $a5:expr; $what:literal, $named:literal) => {
        OpInfo {
            mnemonic: $mnemonic,
            cpp: &[$cpp],
            summary: concat!($named, " where both sources are valid, a copy where only one is."),
            formula: concat!("dst(i,j) = ", $what, " where both are valid, else the valid one"),
            source: "isa/irregular.md 7",
            forms: &[form!(Plain: Src0, Src1 => Dst)],
            sigs: &[
                on_cpu(Types::EqualOf(NUMBERS)),
                in_vec(Profiles::A2A3, Types::EqualOf(SIGNED_FLOAT)),
                in_vec(Profiles::A5, Types::EqualOf($a5)),
            ],
            ids: ids!($mnemonic),
            rules: rules! {
                NPU Signature concat!($mnemonic, "-loc"), concat!($mnemonic, "-layout");
                ALL Signature concat!($mnemonic, "-dtype"); ALL PartValid concat!($mnemonic, "-valid"); ALL Overlap "overlap";
            },
            sem: Sem::Part(Func::$func),
            ..BASE
        }
    };
}

/// The wider of page and assembler (isa/today.md 6.8); f32 has indices of its own size on a2a3.
const NARROW: &[Elem] = &[I8, U8, I16, U16, I32, U32, F16, Bf16];
const WITH_INDICES: &[Types] = &[
    by_role!(Src0 STANDARD, Src0Idx INDEX; Src1 as Src0, Dst as Src0, Src1Idx as Src0Idx, DstIdx as Src0Idx),
    by_role!(Src0 NARROW, Src0Idx INDEX; Src1 as Src0, Dst as Src0, Src1Idx as Src0Idx, DstIdx as Src0Idx),
    by_role!(Src0 &[F32], Src0Idx INDEX_32; Src1 as Src0, Dst as Src0, Src1Idx as Src0Idx, DstIdx as Src0Idx),
    by_role!(Src0 STANDARD, Src0Idx INDEX; Src1 as Src0, Dst as Src0, Src1Idx as Src0Idx, DstIdx as Src0Idx),
];

/// The greater or smaller value with its index.
macro_rules! part_arg {
    ($mnemonic:literal $cpp:literal $greatest:literal $better:literal, $named:literal) => {
        OpInfo {
            mnemonic: $mnemonic,
            cpp: &[$cpp],
            summary: concat!($named, " value with its index where both sources are valid, a copy where only one is."),
            formula: concat!("(dst, dstIdx)(i,j) = (src0, src0Idx)(i,j) if src0(i,j) ", $better,
                " src1(i,j), else (src1, src1Idx)(i,j)"),
            source: "isa/irregular.md 7",
            forms: &[form!(Plain: Src0, Src1, Src0Idx, Src1Idx => Dst, DstIdx;
                cpp Dst, Src0, Src1, DstIdx, Src0Idx, Src1Idx)],
            sigs: &[
                on_cpu(WITH_INDICES[0]),
                in_vec(Profiles::A2A3, WITH_INDICES[1]),
                in_vec(Profiles::A2A3, WITH_INDICES[2]),
                in_vec(Profiles::A5, WITH_INDICES[3]),
            ],
            ids: ids!($mnemonic),
            rules: rules! {
                NPU Signature concat!($mnemonic, "-loc"), concat!($mnemonic, "-layout");
                ALL Signature concat!($mnemonic, "-dtype"); ALL PartValid concat!($mnemonic, "-valid"); ALL Overlap "overlap";
            },
            sem: Sem::Part(Func::Arg { greatest: $greatest, value: false }),
            examples: &[
                (Role::Src0Idx, "!pto.tile<16x32xi32>"),
                (Role::Src1Idx, "!pto.tile<16x32xi32>"),
                (Role::DstIdx, "!pto.tile<16x32xi32>"),
            ],
            ..BASE
        }
    };
}

const BYTES: &[Elem] = &[I8, U8];
const QUANTIZED: Types = by_role!(Src &[F32], Fp &[F32], Offset &[F32], Dst BYTES;);
const RESTORED: Types = by_role!(Src &[I8, I16], Scale &[F32], Offset &[F32], Dst &[F32];);

family! { after irregular::END;
    Tpartadd => part!("tpartadd" "TPARTADD" Add, a5 NUMBERS; "src0(i,j) + src1(i,j)", "Sum");
    Tpartmul => part!("tpartmul" "TPARTMUL" Mul, a5 STANDARD; "src0(i,j) * src1(i,j)", "Product");
    Tpartmax => part!("tpartmax" "TPARTMAX" Max, a5 NUMBERS; "max(src0(i,j), src1(i,j))", "Maximum");
    Tpartmin => part!("tpartmin" "TPARTMIN" Min, a5 NUMBERS; "min(src0(i,j), src1(i,j))", "Minimum");
    Tpartargmax => part_arg!("tpartargmax" "TPARTARGMAX" true ">=", "Greater");
    Tpartargmin => part_arg!("tpartargmin" "TPARTARGMIN" false "<=", "Smaller");
    Tquant => OpInfo {
        mnemonic: "tquant",
        cpp: &["TQUANT"],
        summary: "Affine quantization of f32 to 8-bit integers, one factor (and offset) per row.",
        formula: "INT8_SYM: dst = clamp(rne(src*fp)); INT8_ASYM: dst = clamp(rne(src*fp + offset))",
        source: "isa/irregular.md 8; isa/today.md 6.4",
        forms: &[form!(Plain: Src, Fp, Offset as optional => Dst, Tmp as scratch_in_dps; cpp Dst, Src, Fp, Tmp, Offset; by_hand cpp)],
        attrs: &[AttrName::QuantType],
        sigs: &[on_cpu(QUANTIZED), in_vec(Profiles::NPU, QUANTIZED)],
        ids: ids!("tquant"),
        rules: rules! {
            NPU Signature "tquant-loc", "tquant-layout"; ALL Signature "tquant-dtype"; ALL Words "tquant-attr";
            ALL QuantAttr "tquant-attr";
            ALL LikeDst "tquant-valid"; ALL QuantParam "tquant-param"; A2A3 QuantTmp "tquant-tmp"; ALL Overlap "overlap";
        },
        sem: Sem::Computes(sem::quantize),
        examples: &[
            (Role::Src, "!pto.tile<16x32xf32>"),
            (Role::Fp, "!pto.tile<vec, 16x1xf32, blayout=col_major>"),
            (Role::Offset, "!pto.tile<vec, 16x1xf32, blayout=col_major>"),
            (Role::Dst, "!pto.tile<16x32xi8>"),
            (Role::Tmp, "!pto.tile<16x32xf32>"),
        ],
        ..BASE
    };
    Tdequant => OpInfo {
        mnemonic: "tdequant",
        cpp: &["TDEQUANT"],
        summary: "Integers back to f32 with a scale and an offset per row.",
        formula: "dst(i,j) = (f32(src(i,j)) - offset(i,0)) * scale(i,0)",
        source: "isa/irregular.md 8",
        forms: &[form!(Plain: Src, Scale, Offset => Dst)],
        sigs: &[on_cpu(RESTORED), in_vec(Profiles::NPU, RESTORED)],
        ids: ids!("tdequant"),
        rules: rules! {
            NPU Signature "tdequant-loc", "tdequant-layout"; ALL Signature "tdequant-dtype"; ALL LikeDst "tdequant-valid";
            ALL DequantParam "tdequant-param"; ALL Overlap "overlap";
        },
        sem: Sem::Computes(sem::dequantize),
        examples: &[
            (Role::Src, "!pto.tile<16x32xi8>"),
            (Role::Scale, "!pto.tile<vec, 16x1xf32, blayout=col_major>"),
            (Role::Offset, "!pto.tile<vec, 16x1xf32, blayout=col_major>"),
            (Role::Dst, "!pto.tile<16x32xf32>"),
        ],
        ..BASE
    };
}
