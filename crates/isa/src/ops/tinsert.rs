//! TINSERT and TINSERT_FP (tinsert seed; ops.md 3.2 and 3.4).

use super::path::*;
use super::{AttrName, Form, FormInfo, OpInfo, Pipe, Role};
use crate::profile::Profiles;
use crate::tile::Loc;

const ALL_FORMS: &[Form] = &[Form::Plain, Form::NoIndex, Form::Fill, Form::ScalarQuant, Form::VectorQuant];
const PLAIN: &[Form] = &[Form::Plain, Form::NoIndex];

#[rustfmt::skip]
static PATHS: &[Path] = &[
    path(Profiles::CPU, &[Form::Plain, Form::NoIndex, Form::ScalarQuant, Form::VectorQuant], NOT_ACC, ALL_LOCS, &[ANY], Types::Any, Pipe::V),
    path(Profiles::CPU, &[Form::Fill], NOT_ACC, ALL_LOCS, &[ANY], Types::Equal, Pipe::V),
    path(Profiles::CPU, PLAIN, &[Loc::Acc], ALL_LOCS, &[ANY], ACC_PLAIN_A5, Pipe::Fix),
    path(Profiles::CPU, &[Form::Fill], &[Loc::Acc], ALL_LOCS, &[ANY], ACC_SAME, Pipe::Fix),
    path(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], ALL_LOCS, &[ANY], ACC_QUANT_CPU, Pipe::Fix),

    path(Profiles::A2A3, PLAIN, &[Loc::Acc], &[Loc::Mat], &[pair(NZ, Lay::Nz512)], ACC_PLAIN_A2A3, Pipe::Fix),
    path(Profiles::A2A3, &[Form::ScalarQuant], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, Lay::Nz512)], ACC_SCALAR_A2A3, Pipe::Fix),
    path(Profiles::A2A3, &[Form::VectorQuant], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, Lay::Nz512)], ACC_VECTOR_A2A3, Pipe::Fix),
    path(Profiles::A2A3, &[Form::Fill], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, Lay::Nz512)], Types::Pairs(&[]), Pipe::Fix),

    path(Profiles::A5, PLAIN, &[Loc::Acc], &[Loc::Mat], &[pair(NZ, NZ)], ACC_PLAIN_A5, Pipe::Fix),
    path(Profiles::A5, &[Form::Fill], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, NZ)], ACC_SAME, Pipe::Fix),
    path(Profiles::A5, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], &[Loc::Mat], &[pair(NZ, NZ)], ACC_QUANT_A5, Pipe::Fix),
    path(Profiles::A5, PLAIN, &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_PLAIN_A5, Pipe::Fix),
    path(Profiles::A5, &[Form::Fill], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_SAME, Pipe::Fix),
    path(Profiles::A5, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_QUANT_A5, Pipe::Fix),
    path(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Vec], &[pair(ND, ND), pair(NZ, NZ)], Types::EqualOf(A5_TYPES), Pipe::V),
    path(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Mat], &[pair(ND, ND), pair(ND, NZ), pair(NZ, NZ)], Types::EqualOf(A5_TYPES), Pipe::Mte3),
];

const RULES: &[&str] = &[
    "tile-fp4",
    "tinsert-loc",
    "tinsert-layout",
    "tinsert-dtype",
    "tinsert-cols",
    "tinsert-align",
    "tinsert-bounds",
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
    "tinsert-nd-into-boxed",
    "value-conversion",
];

pub(super) static TINSERT: OpInfo = OpInfo {
    mnemonic: "tinsert",
    aliases: &[],
    cpp: &["TINSERT"],
    summary: "Put the source into a window of the destination, at (indexRow, indexCol); the rest is preserved.",
    formula: "dst(indexRow+i, indexCol+j) = src(i,j) over src's valid region",
    forms: &[
        FormInfo { form: Form::Plain, ins: &[Role::Src, Role::Row, Role::Col], outs: &[Role::Dst] },
        FormInfo { form: Form::NoIndex, ins: &[Role::Src], outs: &[Role::Dst] },
        FormInfo { form: Form::ScalarQuant, ins: &[Role::Src, Role::Row, Role::Col, Role::Quant], outs: &[Role::Dst] },
    ],
    attrs: &[AttrName::ReluPreMode, AttrName::AccToVecMode, AttrName::Mode],
    rules: RULES,
    paths: PATHS,
    pipe: Pipe::V,
    source: "tinsert seed; ops.md 3.2",
    layout: true,
};

pub(super) static TINSERT_FP: OpInfo = OpInfo {
    mnemonic: "tinsert_fp",
    aliases: &["tinsert.fp"],
    cpp: &["TINSERT_FP"],
    summary: "TINSERT with a Scaling tile of quantization parameters, or with a value that fills dst's padding.",
    formula: "dst(indexRow+i, indexCol+j) = quant(src(i,j), fp[j]), or TINSERT and v outside dst's valid region",
    forms: &[
        FormInfo { form: Form::VectorQuant, ins: &[Role::Src, Role::Fp, Role::Row, Role::Col], outs: &[Role::Dst] },
        FormInfo { form: Form::Fill, ins: &[Role::Src, Role::Fill, Role::Row, Role::Col], outs: &[Role::Dst] },
    ],
    attrs: &[AttrName::ReluPreMode, AttrName::AccToVecMode],
    rules: RULES,
    paths: PATHS,
    pipe: Pipe::V,
    source: "tinsert seed; ops.md 3.2 and 3.4",
    layout: true,
};
