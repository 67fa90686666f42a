//! TMOV and TMOV_FP (ops.md 2 and 3.4, fixpipe.md).

use super::*;
use crate::elem::Elem::{self, *};

/// Every form of a move from another location than Acc; quantization there is refused by `quant-source`.
const ALL_FORMS: &[Form] = &[Form::Plain, Form::Fill, Form::ScalarQuant, Form::VectorQuant];
const TO_BOXES: &[Elem] = &[F16, Bf16, F32, I32, I8, U8, F8e4m3, F8e5m2, Hif8, F4e2m1x2, F4e1m2x2];
const ZN: Lay = Lay::Of(&[LayoutName::Zn]);
const INTO_ROW: &[Layouts] = &[pair!(ND, Lay::Any), pair!(NZ, Lay::Any)];

#[rustfmt::skip]
static SIGS: &[Sig] = &[
    flow!(Profiles::CPU, &[Form::Plain], NOT_ACC, ALL_LOCS, &[ANY], Types::Any, Pipe::V),
    flow!(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], NOT_QUANTIZED, ALL_LOCS, &[ANY], Types::Any, Pipe::V),
    flow!(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Mat], ALL_LOCS, &[ANY], MAT_OTHERS, Pipe::V),
    flow!(Profiles::CPU, &[Form::Fill], NOT_ACC, ALL_LOCS, &[ANY], Types::Equal, Pipe::V),
    flow!(Profiles::CPU, &[Form::Plain], &[Loc::Acc], ALL_LOCS, &[ANY], ACC_PLAIN_CPU, Pipe::Fix),
    flow!(Profiles::CPU, &[Form::Fill], &[Loc::Acc], ALL_LOCS, &[ANY], Types::Equal, Pipe::Fix),
    flow!(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], QUANTIZED, ALL_LOCS, &[ANY], ACC_QUANT_CPU, Pipe::Fix),

    flow!(Profiles::A2A3, ALL_FORMS, &[Loc::Vec], &[Loc::Vec], &[SAME], Types::Equal, Pipe::V),
    flow!(Profiles::A2A3, ALL_FORMS, &[Loc::Mat], &[Loc::Left], INTO_LEFT, Types::EqualOf(CUBE_A2A3), Pipe::Mte1),
    flow!(Profiles::A2A3, ALL_FORMS, &[Loc::Mat], &[Loc::Right], INTO_RIGHT, Types::EqualOf(CUBE_A2A3), Pipe::Mte1),
    flow!(Profiles::A2A3, &[Form::Plain], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], ACC_PLAIN_A2A3, Pipe::Fix),
    flow!(Profiles::A2A3, &[Form::ScalarQuant], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], ACC_SCALAR_A2A3, Pipe::Fix),
    flow!(Profiles::A2A3, &[Form::VectorQuant], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], ACC_VECTOR_A2A3, Pipe::Fix),
    flow!(Profiles::A2A3, &[Form::Fill], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], Types::Pairs(&[]), Pipe::Fix),

    flow!(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Vec], &[SAME], Types::Equal, Pipe::V),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Vec], &[pair!(ND, NZ), pair!(ND, ZN)], Types::EqualOf(TO_BOXES), Pipe::V),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Vec], &[pair!(ND, ZZ)], Types::EqualOf(SCALES), Pipe::V),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Mat], &[pair!(ND, ND), pair!(NZ, NZ)], Types::EqualOf(A5_TYPES), Pipe::Mte3),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::Left], INTO_LEFT, Types::EqualOf(CUBE_A5), Pipe::Mte1),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::Right], INTO_RIGHT, Types::EqualOf(CUBE_A5), Pipe::Mte1),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::ScaleLeft], &[pair!(ZZ, ZZ)], Types::EqualOf(SCALES), Pipe::Mte1),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::ScaleRight], &[pair!(NN, NN)], Types::EqualOf(SCALES), Pipe::Mte1),
    flow!(Profiles::A5, &[Form::Plain], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ)], ACC_PLAIN_A5, Pipe::Fix),
    flow!(Profiles::A5, &[Form::Fill], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ)], ACC_SAME, Pipe::Fix),
    flow!(Profiles::A5, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ)], ACC_QUANT_A5, Pipe::Fix),
    flow!(Profiles::A5, &[Form::Plain], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_PLAIN_A5, Pipe::Fix),
    flow!(Profiles::A5, &[Form::Fill], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_SAME, Pipe::Fix),
    flow!(Profiles::A5, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_QUANT_A5, Pipe::Fix),

    flow!(Profiles::NPU, ALL_FORMS, &[Loc::Mat], &[Loc::Bias], INTO_ROW, Types::OwnRule, Pipe::Mte1),
    flow!(Profiles::NPU, ALL_FORMS, &[Loc::Mat], &[Loc::Scaling], INTO_ROW, Types::OwnRule, Pipe::Fix),
];

pub(super) const TMOV: OpInfo = OpInfo {
    mnemonic: "tmov",
    cpp: &["TMOV"],
    summary: "Move a tile's valid region, changing location, layout or (out of an accumulator) type on the way.",
    formula: "dst(i,j) = src(i,j) over the valid region",
    forms: &[form!(Plain: Src => Dst), form!(VectorQuant: Src, Fp => Dst), form!(ScalarQuant: Src, Quant => Dst)],
    attrs: &[AttrName::AccToVecMode, AttrName::ReluPreMode, AttrName::SaturateInf, AttrName::GrpAxis],
    rules: rules! {
        ALL Signature "tmov-loc", "tmov-layout"; ALL MoveBias "tmov-bias"; ALL MoveScaling "tmov-scaling"; ALL Signature "tmov-dtype";
        A5 MoveAttr "tmov-attr"; ALL MoveShape "tmov-shape"; ALL MoveValid "tmov-valid"; ALL MovePitch "tmov-pitch";
        ALL Fixpipe "acc-mode", "acc-mode-split", "quant-source", "quant-sign", "quant-scale", "fp-operand", "fp-align", "fp-short";
        ALL FillValue "fp-value"; ALL Overlap "overlap"; ALL Footprint "footprint"; ALL Conversion "value-conversion";
    },
    sigs: SIGS,
    source: "ops.md 2; PTO ISA, layout family page",
    ids: ids!("tmov"),
    sem: Sem::Moves(sem::mov),
    ..LAYOUT
};

pub(super) const TMOV_FP: OpInfo = OpInfo {
    mnemonic: "tmov_fp",
    aliases: &["tmov.fp"],
    cpp: &["TMOV_FP"],
    summary: "TMOV with a Scaling tile of quantization parameters, or with a value that fills dst's padding.",
    formula: "dst(i,j) = quant(src(i,j), fp[j]), or dst(i,j) = src(i,j) and v outside dst's valid region",
    forms: &[form!(VectorQuant: Src, Fp => Dst), form!(Fill: Src, Fill => Dst as write_all)],
    attrs: &[AttrName::ReluPreMode, AttrName::AccToVecMode, AttrName::SaturateInf, AttrName::GrpAxis],
    source: "ops.md 2 and 3.4; PTO ISA, layout family page",
    ..TMOV
};
