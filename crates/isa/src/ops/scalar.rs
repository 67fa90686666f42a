//! Tile-scalar instructions (isa/scalar.md): what the elementwise ones do, with a scalar for a tile.

use super::vector::*;
use super::*;
use crate::elem::Elem::*;
use crate::sem::Func;

const BASE: OpInfo = OpInfo { family: Family::Scalar, source: "isa/scalar.md 1", ..LAYOUT };
/// The two orders of TDIVS.
const EITHER: &[Form] = &[Form::Plain, Form::ScalarFirst];
const AXPY: Types = Types::Pairs(&[(F16, HALF_SINGLE), (F32, &[F32])]);

family! { after elementwise::END;
    Tadds => mapped!("tadds" "TADDS" Add(Src, Scalar);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 NUMBERS;
        ALL ScalarNumber "-scalar"; =>
        "dst(i,j) = src(i,j) + s", "Adds a scalar.");
    Taddsc => mapped!("taddsc" "TADDSC" AddAdd(Src0, Scalar, Src1);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 SIGNED_FLOAT;
        ALL Scalar "-scalar"; =>
        "dst(i,j) = (src0(i,j) + s) + src1(i,j)", "Tile plus scalar plus tile.");
    Tands => mapped!("tands" "TANDS" And(Src, Scalar);
        cpu INTEGERS, a2a3 TO_32, a5 TO_32;
        ALL Scalar "-scalar"; NPU NotInPlace "-inplace"; =>
        "dst(i,j) = src(i,j) & s", "Bitwise AND with a scalar.");
    Taxpy => OpInfo {
        mnemonic: "taxpy",
        cpp: &["TAXPY"],
        summary: "Adds a scaled tile to the destination, which is read and written.",
        formula: "dst(i,j) = dst(i,j) + src(i,j) * s",
        source: "isa/scalar.md 3",
        forms: &[form!(Plain: Src, Scalar => Dst as update)],
        sigs: &[
            anywhere(Types::Pairs(&[(F16, HALF_SINGLE), (F32, &[F32]), (Bf16, &[Bf16])])),
            vector(Profiles::A2A3, AXPY),
            vector(Profiles::A5, AXPY),
        ],
        ids: ids!("taxpy"),
        rules: vector_rules!("taxpy";
            ALL SameValid "-valid"; NPU SameShape "-shape"; ALL ScalarTyped "-scalar"; => ),
        sem: Sem::Map { args: &[Role::Src, Role::Scalar, Role::Dst], func: Func::Axpy },
        ..BASE
    };
    Tcmps => OpInfo {
        mnemonic: "tcmps",
        cpp: &["TCMPS"],
        summary: "Compares with a scalar; one bit per element into a mask (elementwise.md, 4).",
        formula: "bit j mod 8 of mask byte (i, j / 8) = src(i,j) <cmpMode> s; where the byte lies: elementwise.md, 4",
        source: "isa/scalar.md 3",
        forms: &[form!(Plain: Src, Scalar => Dst as write_part)],
        attrs: &[AttrName::CmpMode],
        sigs: &[
            writes_mask(Types::ByRole(&compared!(Src; NUMBERS, MASK_WRITTEN))),
            vector(Profiles::A2A3, Types::ByRole(&compared!(Src; &[I16, U16, I32, F16, F32], &[I8, U8]))),
            vector(Profiles::A5, Types::ByRole(&compared!(Src; NUMBERS, MASK_WRITTEN))),
        ],
        ids: ids!("tcmps"),
        rules: vector_rules!(mask "tcmps";
            ALL MaskValid "-valid"; ALL Mask "-mask"; CPU_A5 MaskDense "-dense"; A2A3 CompareMode "-mode";
            ALL Scalar "-scalar";),
        sem: Sem::Computes(sem::compare),
        notes: COMPARED,
        examples: &[(Role::Dst, "!pto.tile<vec, 16x32xu8, valid=16x4>")],
        ..BASE
    };
    Tdivs => OpInfo {
        mnemonic: "tdivs",
        cpp: &["TDIVS"],
        summary: "Divides by a scalar, or a scalar by the tile: the operand order says which.",
        formula: "dst(i,j) = src(i,j) / s; with the scalar first: dst(i,j) = s / src(i,j)",
        source: "isa/scalar.md 3",
        forms: &[form!(Plain: Src, Scalar => Dst), form!(ScalarFirst: Scalar, Src => Dst)],
        attrs: PRECISE,
        value: Some(CppValue::Algorithm("Div")),
        sigs: &[
            anywhere(Types::EqualOf(NUMBERS)).of(EITHER),
            vector(Profiles::A2A3, Types::EqualOf(SIGNED_FLOAT)).of(EITHER),
            vector(Profiles::A5, Types::EqualOf(&[I8, U8, I16, U16, I32, U32, I64, U64, F16, F32])).of(EITHER),
        ],
        ids: ids!("tdivs"),
        rules: vector_rules!("tdivs"; ALL SameValid "-valid"; ALL ScalarNumber "-scalar"; => ALL Zero "-zero";),
        sem: Sem::Computes(sem::divide),
        notes: &[
            "x / ±0 = ±inf by the signs; 0 / 0 and inf / inf = NaN; integers truncate toward zero",
            "a5, a float tile by a scalar: src times 1 / s, both rounded in f32; s = ±0 gives +inf there, so -1 / -0 is -inf",
            "the scalar 0 with an integer tile is refused even where nothing is valid",
        ],
        ..BASE
    };
    Texpands => OpInfo {
        mnemonic: "texpands",
        cpp: &["TEXPANDS"],
        summary: "Every element of the valid region (in Mat: of the declared area) becomes the scalar.",
        formula: "dst(i,j) = s",
        source: "isa/scalar.md 3",
        forms: &[form!(Plain: Scalar => Dst)],
        sigs: &[
            in_mat(Profiles::CPU, Types::EqualOf(NUMBERS)),
            anywhere(Types::EqualOf(NUMBERS)),
            vector(Profiles::A2A3, Types::EqualOf(STORED)),
            in_mat(Profiles::A2A3, Types::EqualOf(STORED)),
            vector(Profiles::A5, Types::EqualOf(NUMBERS)),
            in_mat(Profiles::A5, Types::EqualOf(NUMBERS)),
        ],
        ids: ids!("texpands"),
        rules: vector_rules!("texpands"; ALL ScalarTyped "-scalar"; => ),
        sem: Sem::Computes(sem::expand_scalar),
        notes: &["into Mat the whole declared area is written"],
        ..BASE
    };
    Tfmods => mapped!("tfmods" "TFMODS" Fmod(Src, Scalar) precise "FmodS";
        cpu NUMBERS, a2a3 &[F32], a5 &[I16, U16, I32, U32, F16, F32];
        ALL ScalarTyped "-scalar"; A2A3 NotInPlace "-inplace"; => CPU_A5 Zero "-zero";
        "dst(i,j) = src(i,j) - trunc(src(i,j) / s) * s", "Truncated remainder by a scalar.");
    Tlrelu => OpInfo {
        mnemonic: "tlrelu",
        cpp: &["TLRELU"],
        summary: "ReLU with one slope for all elements.",
        formula: "dst(i,j) = src(i,j) > 0 ? src(i,j) : s * src(i,j)",
        source: "isa/scalar.md 2",
        forms: &[form!(Plain: Src, Scalar => Dst)],
        sigs: &[
            anywhere(Types::EqualOf(FLOATS)),
            vector(Profiles::A2A3, Types::EqualOf(HALF_SINGLE)),
            vector(Profiles::A5, Types::EqualOf(HALF_SINGLE)),
        ],
        ids: ids!("tlrelu"),
        rules: vector_rules!("tlrelu"; ALL SameValid "-valid"; ALL ScalarSlope "-scalar"; => ),
        sem: Sem::Computes(sem::leaky_relu),
        notes: &[
            "a source above 0 keeps its bits; ±0, negatives and NaN take the product",
            "the slope enters the f32 product as it is, also for f16 and bf16 tiles",
        ],
        ..BASE
    };
    Tmaxs => mapped!("tmaxs" "TMAXS" Max(Src, Scalar);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 NUMBERS;
        ALL ScalarNumber "-scalar"; =>
        "dst(i,j) = max(src(i,j), s)", "Larger of element and scalar.");
    Tmins => mapped!("tmins" "TMINS" Min(Src, Scalar);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 NUMBERS;
        ALL ScalarNumber "-scalar"; =>
        "dst(i,j) = min(src(i,j), s)", "Smaller of element and scalar.");
    Tmuls => mapped!("tmuls" "TMULS" Mul(Src, Scalar);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 &[I16, U16, I32, U32, I64, U64, F16, Bf16, F32];
        ALL ScalarNumber "-scalar"; =>
        "dst(i,j) = src(i,j) * s", "Multiplies by a scalar.");
    Tors => mapped!("tors" "TORS" Or(Src, Scalar);
        cpu INTEGERS, a2a3 TO_32, a5 TO_32;
        ALL Scalar "-scalar"; NPU NotInPlace "-inplace"; =>
        "dst(i,j) = src(i,j) | s", "Bitwise OR with a scalar.");
    Tpows => mapped!("tpows" "TPOWS" Pow(Src, Scalar; Tmp as measured_scratch) precise "Pow";
        cpu NUMBERS, a2a3 &[I8, U8, I16, U16, I32, U32, F32], a5 STORED;
        A2A3 Tmp(POW) "-tmp"; NPU TmpOfIntegers "-tmp"; ALL Scalar "-scalar"; NPU PreciseFloats "-precision"; => ALL Zero "-zero";
        "dst(i,j) = src(i,j) ^ s", "Power with a scalar exponent.");
    Trems => mapped!("trems" "TREMS" Rem(Src, Scalar; Tmp as measured_scratch) precise "RemS";
        cpu NUMBERS, a2a3 &[I32, F32], a5 &[I16, U16, I32, U32, I64, U64, F16, F32];
        A2A3 Tmp(LIKE_DST.rows(1).cols_of_dst()) "-tmp"; ALL ScalarTyped "-scalar"; => ALL Zero "-zero"; A2A3 Range "-range";
        "dst(i,j) = src(i,j) - floor(src(i,j) / s) * s", "Floored remainder by a scalar.");
    Tsels => OpInfo {
        mnemonic: "tsels",
        cpp: &["TSELS"],
        summary: "Picks src where the mask bit is 1, the scalar where it is 0; bits are copied.",
        formula: "dst(i,j) = bit j mod W of mask(i, j / W) ? src(i,j) : s; W = bits of mask's type",
        source: "isa/scalar.md 3",
        forms: &[form!(Plain: Mask, Src, Tmp as scratch_in_dst, Scalar => Dst)],
        sigs: &[
            reads_mask(Types::ByRole(&selected!(Src; NUMBERS))),
            vector(Profiles::A2A3, Types::ByRole(&selected!(Src; &[I16, U16, I32, U32, F16, Bf16, F32]))),
            vector(Profiles::A5, Types::ByRole(&selected!(Src; &[I8, U8, I16, U16, I32, U32, I64, U64, F16, F32]))),
        ],
        ids: ids!("tsels"),
        rules: vector_rules!(mask "tsels";
            ALL SameValid "-valid"; A2A3 Tmp(LIKE_DST) "-tmp"; ALL Mask "-mask"; ALL ScalarBits "-scalar";),
        sem: Sem::Computes(sem::select),
        notes: SELECTED,
        examples: &[(Role::Mask, "!pto.tile<16x32xu8>")],
        ..BASE
    };
    Tshls => mapped!("tshls" "TSHLS" Shl(Src, Scalar);
        cpu INTEGERS, a2a3 FROM_16_TO_32, a5 INTEGERS;
        ALL ScalarShift "-scalar"; =>
        "dst(i,j) = src(i,j) << (s mod W)", "Left shift by one count.");
    Tshrs => mapped!("tshrs" "TSHRS" Shr(Src, Scalar);
        cpu INTEGERS, a2a3 FROM_16_TO_32, a5 INTEGERS;
        ALL ScalarShift "-scalar"; =>
        "dst(i,j) = src(i,j) >> (s mod W)",
        "Right shift by one count; arithmetic for signed types, logical for unsigned.");
    Tsubs => mapped!("tsubs" "TSUBS" Sub(Src, Scalar);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 NUMBERS;
        ALL ScalarNumber "-scalar"; =>
        "dst(i,j) = src(i,j) - s", "Subtracts a scalar.");
    Tsubsc => mapped!("tsubsc" "TSUBSC" SubAdd(Src0, Scalar, Src1);
        cpu NUMBERS, a2a3 SIGNED_FLOAT, a5 SIGNED_FLOAT;
        ALL Scalar "-scalar"; =>
        "dst(i,j) = (src0(i,j) - s) + src1(i,j)", "Tile minus scalar plus tile.");
    Txors => mapped!("txors" "TXORS" Xor(Src, Scalar; Tmp as scratch_a2a3);
        cpu INTEGERS, a2a3 TO_32, a5 TO_32;
        A2A3 Tmp(LIKE_DST) "-tmp"; ALL Scalar "-scalar"; NPU NotInPlace "-inplace"; =>
        "dst(i,j) = src(i,j) ^ s", "Bitwise exclusive OR with a scalar.");
}
