//! TEXTRACT and TEXTRACT_FP (ops.md 3.1, 3.3, 3.4).

use super::*;
use crate::elem::Elem::{self, *};

const ALL_FORMS: &[Form] = &[Form::Plain, Form::Fill, Form::ScalarQuant, Form::VectorQuant];
const TWO: &[Form] = &[Form::TwoWindows];
const TWO_A2A3: &[Elem] = &[I8, F16, Bf16, F32, I32];
const ND_NZ: &[Layouts] = &[pair!(ND, ND), pair!(NZ, NZ)];

#[rustfmt::skip]
static SIGS: &[Sig] = &[
    flow!(Profiles::CPU, &[Form::Plain, Form::TwoWindows], NOT_ACC, ALL_LOCS, &[ANY], Types::Any, Pipe::V),
    flow!(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], NOT_QUANTIZED, ALL_LOCS, &[ANY], Types::Any, Pipe::V),
    flow!(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Mat], ALL_LOCS, &[ANY], MAT_OTHERS, Pipe::V),
    flow!(Profiles::CPU, &[Form::Fill], NOT_ACC, ALL_LOCS, &[ANY], Types::Equal, Pipe::V),
    flow!(Profiles::CPU, &[Form::Plain, Form::TwoWindows], &[Loc::Acc], ALL_LOCS, &[ANY], ACC_PLAIN_CPU, Pipe::Fix),
    flow!(Profiles::CPU, &[Form::Fill], &[Loc::Acc], ALL_LOCS, &[ANY], Types::Equal, Pipe::Fix),
    flow!(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], QUANTIZED, ALL_LOCS, &[ANY], ACC_QUANT_CPU, Pipe::Fix),

    flow!(Profiles::A2A3, ALL_FORMS, &[Loc::Mat], &[Loc::Left], INTO_LEFT, Types::EqualOf(CUBE_A2A3), Pipe::Mte1),
    flow!(Profiles::A2A3, ALL_FORMS, &[Loc::Mat], &[Loc::Right], INTO_RIGHT, Types::EqualOf(CUBE_A2A3), Pipe::Mte1),
    flow!(Profiles::A2A3, ALL_FORMS, &[Loc::Vec], &[Loc::Vec], ND_NZ, Types::EqualOf(STANDARD), Pipe::V),
    flow!(Profiles::A2A3, TWO, &[Loc::Vec], &[Loc::Vec], &[pair!(ND, NZ)], Types::EqualOf(TWO_A2A3), Pipe::V),
    flow!(Profiles::A2A3, &[Form::Plain], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], ACC_PLAIN_A2A3, Pipe::Fix),
    flow!(Profiles::A2A3, &[Form::ScalarQuant], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], ACC_SCALAR_A2A3, Pipe::Fix),
    flow!(Profiles::A2A3, &[Form::VectorQuant], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], ACC_VECTOR_A2A3, Pipe::Fix),
    flow!(Profiles::A2A3, &[Form::Fill], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], Types::Pairs(&[]), Pipe::Fix),

    flow!(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::Left], INTO_LEFT, Types::EqualOf(CUBE_A5), Pipe::Mte1),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::Right], INTO_RIGHT, Types::EqualOf(CUBE_A5), Pipe::Mte1),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::ScaleLeft], &[pair!(ZZ, ZZ)], Types::EqualOf(SCALES), Pipe::Mte1),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::ScaleRight], &[pair!(NN, NN)], Types::EqualOf(SCALES), Pipe::Mte1),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Mat], ND_NZ, Types::EqualOf(A5_TYPES), Pipe::Mte3),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Vec], ND_NZ, Types::EqualOf(STANDARD_AND_A5), Pipe::V),
    flow!(Profiles::A5, TWO, &[Loc::Vec], &[Loc::Vec], &[pair!(ND, NZ)], Types::EqualOf(A5_TYPES), Pipe::V),
    flow!(Profiles::A5, &[Form::Plain], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ)], ACC_PLAIN_A5, Pipe::Fix),
    flow!(Profiles::A5, &[Form::Fill], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ)], ACC_SAME, Pipe::Fix),
    flow!(Profiles::A5, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ)], ACC_QUANT_A5, Pipe::Fix),
    flow!(Profiles::A5, &[Form::Plain], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_PLAIN_A5, Pipe::Fix),
    flow!(Profiles::A5, &[Form::Fill], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_SAME, Pipe::Fix),
    flow!(Profiles::A5, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_QUANT_A5, Pipe::Fix),
];

pub(super) const TEXTRACT: OpInfo = OpInfo {
    mnemonic: "textract",
    cpp: &["TEXTRACT"],
    summary: "Take a window of the source, at (indexRow, indexCol), as a tile of its own.",
    formula: "dst(i,j) = src(indexRow+i, indexCol+j) over dst's valid region",
    forms: &[
        form!(Plain: Src as read_declared, Row, Col => Dst),
        form!(VectorQuant: Src as read_declared, Fp, Row, Col => Dst),
        form!(ScalarQuant: Src as read_declared, Row, Col, Quant => Dst; cpp Dst, Src, Quant, Row, Col),
        form!(TwoWindows: Src as read_declared, Row, Col, Row1, Col1 => Dst0, Dst1),
    ],
    attrs: &[AttrName::ReluPreMode, AttrName::AccToVecMode, AttrName::SaturateInf],
    rules: rules! {
        ALL TileType "tile-fp4"; ALL ExtractSignature "textract-loc", "textract-layout", "textract-dtype";
        ALL ExtractAlign "textract-align"; ALL ExtractBounds "textract-bounds";
        ALL Fixpipe "acc-mode", "acc-mode-split", "quant-source", "quant-sign", "quant-scale", "fp-operand", "fp-align", "fp-short";
        ALL FillValue "fp-value"; ALL Overlap "overlap"; ALL Footprint "footprint"; ALL ExtractDivides "textract-divides";
        ALL Conversion "value-conversion";
    },
    sigs: SIGS,
    source: "ops.md 3.1 and 3.3; PTO ISA, layout family page",
    ids: ids!("textract"),
    sem: Sem::Moves(sem::extract),
    examples: &[(Role::Src, "!pto.tile<32x64xf16>")],
    ..LAYOUT
};

pub(super) const TEXTRACT_FP: OpInfo = OpInfo {
    mnemonic: "textract_fp",
    aliases: &["textract.fp"],
    cpp: &["TEXTRACT_FP"],
    summary: "TEXTRACT with a Scaling tile of quantization parameters, or with a value that fills dst's padding.",
    formula: "dst(i,j) = quant(src(indexRow+i, indexCol+j), fp[indexCol+j]), or TEXTRACT and v outside dst's valid region",
    forms: &[
        form!(VectorQuant: Src as read_declared, Fp, Row, Col => Dst),
        form!(Fill: Src as read_declared, Fill, Row, Col => Dst as write_all; cpp Dst, Src, Row, Col, Fill),
    ],
    source: "ops.md 3.1 and 3.4; PTO ISA, layout family page",
    ..TEXTRACT
};
