//! TEXTRACT and TEXTRACT_FP (ops.md 3.1, 3.3, 3.4).

use super::path::*;
use super::{AttrName, Form, FormInfo, OpInfo, Pipe, Role};
use crate::elem::Elem;
use crate::profile::Profiles;
use crate::tile::Loc;

const ALL_FORMS: &[Form] = &[Form::Plain, Form::Fill, Form::ScalarQuant, Form::VectorQuant];
const TWO: &[Form] = &[Form::TwoWindows];
const TWO_A2A3: &[Elem] = &[Elem::I8, Elem::F16, Elem::Bf16, Elem::F32, Elem::I32];
const ND_NZ: &[LayoutPair] = &[pair(ND, ND), pair(NZ, NZ)];

#[rustfmt::skip]
static PATHS: &[Path] = &[
    path(Profiles::CPU, &[Form::Plain, Form::ScalarQuant, Form::VectorQuant, Form::TwoWindows], NOT_ACC, ALL_LOCS, &[ANY], Types::Any, Pipe::V),
    path(Profiles::CPU, &[Form::Fill], NOT_ACC, ALL_LOCS, &[ANY], Types::Equal, Pipe::V),
    path(Profiles::CPU, &[Form::Plain, Form::TwoWindows], &[Loc::Acc], ALL_LOCS, &[ANY], ACC_PLAIN_A5, Pipe::Fix),
    path(Profiles::CPU, &[Form::Fill], &[Loc::Acc], ALL_LOCS, &[ANY], ACC_SAME, Pipe::Fix),
    path(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], ALL_LOCS, &[ANY], ACC_QUANT_CPU, Pipe::Fix),

    path(Profiles::A2A3, ALL_FORMS, &[Loc::Mat], &[Loc::Left], INTO_LEFT, Types::EqualOf(CUBE_A2A3), Pipe::Mte1),
    path(Profiles::A2A3, ALL_FORMS, &[Loc::Mat], &[Loc::Right], INTO_RIGHT, Types::EqualOf(CUBE_A2A3), Pipe::Mte1),
    path(Profiles::A2A3, ALL_FORMS, &[Loc::Vec], &[Loc::Vec], ND_NZ, Types::EqualOf(STANDARD), Pipe::V),
    path(Profiles::A2A3, TWO, &[Loc::Vec], &[Loc::Vec], &[pair(ND, NZ)], Types::EqualOf(TWO_A2A3), Pipe::V),
    path(Profiles::A2A3, &[Form::Plain], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, Lay::Nz512)], ACC_PLAIN_A2A3, Pipe::Fix),
    path(Profiles::A2A3, &[Form::ScalarQuant], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, Lay::Nz512)], ACC_SCALAR_A2A3, Pipe::Fix),
    path(Profiles::A2A3, &[Form::VectorQuant], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, Lay::Nz512)], ACC_VECTOR_A2A3, Pipe::Fix),
    path(Profiles::A2A3, &[Form::Fill], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, Lay::Nz512)], Types::Pairs(&[]), Pipe::Fix),

    path(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::Left], INTO_LEFT, Types::EqualOf(CUBE_A5), Pipe::Mte1),
    path(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::Right], INTO_RIGHT, Types::EqualOf(CUBE_A5), Pipe::Mte1),
    path(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::ScaleLeft], &[pair(ZZ, ZZ)], Types::EqualOf(SCALES), Pipe::Mte1),
    path(Profiles::A5, ALL_FORMS, &[Loc::Mat], &[Loc::ScaleRight], &[pair(NN, NN)], Types::EqualOf(SCALES), Pipe::Mte1),
    path(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Mat], ND_NZ, Types::EqualOf(A5_TYPES), Pipe::Mte3),
    path(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Vec], ND_NZ, Types::EqualOf(STANDARD_AND_A5), Pipe::V),
    path(Profiles::A5, TWO, &[Loc::Vec], &[Loc::Vec], &[pair(ND, NZ)], Types::EqualOf(A5_TYPES), Pipe::V),
    path(Profiles::A5, &[Form::Plain], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, NZ)], ACC_PLAIN_A5, Pipe::Fix),
    path(Profiles::A5, &[Form::Fill], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, NZ)], ACC_SAME, Pipe::Fix),
    path(Profiles::A5, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, NZ)], ACC_QUANT_A5, Pipe::Fix),
    path(Profiles::A5, &[Form::Plain], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_PLAIN_A5, Pipe::Fix),
    path(Profiles::A5, &[Form::Fill], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_SAME, Pipe::Fix),
    path(Profiles::A5, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_QUANT_A5, Pipe::Fix),
];

const RULES: &[&str] = &[
    "tile-fp4",
    "textract-loc",
    "textract-layout",
    "textract-dtype",
    "textract-align",
    "textract-bounds",
    "acc-mode",
    "acc-mode-split",
    "quant-source",
    "quant-sign",
    "quant-scale",
    "fp-operand",
    "fp-align",
    "fp-short",
    "fp-value",
    "overlap",
    "footprint",
    "textract-divides",
    "value-conversion",
];

pub(super) static TEXTRACT: OpInfo = OpInfo {
    mnemonic: "textract",
    aliases: &[],
    cpp: &["TEXTRACT"],
    summary: "Take a window of the source, at (indexRow, indexCol), as a tile of its own.",
    formula: "dst(i,j) = src(indexRow+i, indexCol+j) over dst's valid region",
    forms: &[
        FormInfo { form: Form::Plain, ins: &[Role::Src, Role::Row, Role::Col], outs: &[Role::Dst] },
        FormInfo { form: Form::ScalarQuant, ins: &[Role::Src, Role::Row, Role::Col, Role::Quant], outs: &[Role::Dst] },
        FormInfo {
            form: Form::TwoWindows,
            ins: &[Role::Src, Role::Row, Role::Col, Role::Row1, Role::Col1],
            outs: &[Role::Dst0, Role::Dst1],
        },
    ],
    attrs: &[AttrName::ReluPreMode, AttrName::AccToVecMode],
    rules: RULES,
    paths: PATHS,
    pipe: Pipe::V,
    source: "ops.md 3.1 and 3.3; layout-family seed",
    layout: true,
};

pub(super) static TEXTRACT_FP: OpInfo = OpInfo {
    mnemonic: "textract_fp",
    aliases: &["textract.fp"],
    cpp: &["TEXTRACT_FP"],
    summary: "TEXTRACT with a Scaling tile of quantization parameters, or with a value that fills dst's padding.",
    formula: "dst(i,j) = quant(src(indexRow+i, indexCol+j), fp[indexCol+j]), or TEXTRACT and v outside dst's valid region",
    forms: &[
        FormInfo { form: Form::VectorQuant, ins: &[Role::Src, Role::Fp, Role::Row, Role::Col], outs: &[Role::Dst] },
        FormInfo { form: Form::Fill, ins: &[Role::Src, Role::Fill, Role::Row, Role::Col], outs: &[Role::Dst] },
    ],
    attrs: &[AttrName::ReluPreMode, AttrName::AccToVecMode],
    rules: RULES,
    paths: PATHS,
    pipe: Pipe::V,
    source: "ops.md 3.1 and 3.4; layout-family seed",
    layout: true,
};
