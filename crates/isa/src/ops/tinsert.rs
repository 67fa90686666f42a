//! TINSERT and TINSERT_FP (PTO ISA, TINSERT page; ops.md 3.2 and 3.4).

use super::*;

const ALL_FORMS: &[Form] = &[Form::Plain, Form::NoIndex, Form::Fill, Form::ScalarQuant, Form::VectorQuant];
const PLAIN: &[Form] = &[Form::Plain, Form::NoIndex];

#[rustfmt::skip]
static SIGS: &[Sig] = &[
    flow!(Profiles::CPU, PLAIN, NOT_ACC, ALL_LOCS, &[ANY], Types::Any, Pipe::V),
    flow!(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], NOT_QUANTIZED, ALL_LOCS, &[ANY], Types::Any, Pipe::V),
    flow!(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Mat], ALL_LOCS, &[ANY], MAT_OTHERS, Pipe::V),
    flow!(Profiles::CPU, &[Form::Fill], NOT_ACC, ALL_LOCS, &[ANY], Types::Equal, Pipe::V),
    flow!(Profiles::CPU, PLAIN, &[Loc::Acc], ALL_LOCS, &[ANY], ACC_PLAIN_CPU, Pipe::Fix),
    flow!(Profiles::CPU, &[Form::Fill], &[Loc::Acc], ALL_LOCS, &[ANY], Types::Equal, Pipe::Fix),
    flow!(Profiles::CPU, &[Form::ScalarQuant, Form::VectorQuant], QUANTIZED, ALL_LOCS, &[ANY], ACC_QUANT_CPU, Pipe::Fix),

    flow!(Profiles::A2A3, PLAIN, &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], ACC_PLAIN_A2A3, Pipe::Fix),
    flow!(Profiles::A2A3, &[Form::ScalarQuant], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], ACC_SCALAR_A2A3, Pipe::Fix),
    flow!(Profiles::A2A3, &[Form::VectorQuant], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], ACC_VECTOR_A2A3, Pipe::Fix),
    flow!(Profiles::A2A3, &[Form::Fill], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ_512)], Types::Pairs(&[]), Pipe::Fix),
    flow!(Profiles::A2A3, PLAIN, &[Loc::Vec], &[Loc::Vec], &[pair!(ND, ND), pair!(NZ, NZ)], Types::EqualOf(STANDARD), Pipe::V),

    flow!(Profiles::A5, PLAIN, &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ)], ACC_PLAIN_A5, Pipe::Fix),
    flow!(Profiles::A5, &[Form::Fill], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ)], ACC_SAME, Pipe::Fix),
    flow!(Profiles::A5, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], &[Loc::Mat], &[pair!(NZ, NZ)], ACC_QUANT_A5, Pipe::Fix),
    flow!(Profiles::A5, PLAIN, &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_PLAIN_A5, Pipe::Fix),
    flow!(Profiles::A5, &[Form::Fill], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_SAME, Pipe::Fix),
    flow!(Profiles::A5, &[Form::ScalarQuant, Form::VectorQuant], &[Loc::Acc], &[Loc::Vec], NZ_TO_VEC, ACC_QUANT_A5, Pipe::Fix),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Vec], &[pair!(ND, ND), pair!(NZ, NZ)], Types::EqualOf(A5_TYPES), Pipe::V),
    flow!(Profiles::A5, ALL_FORMS, &[Loc::Vec], &[Loc::Mat], &[pair!(ND, ND), pair!(ND, NZ), pair!(NZ, NZ)], Types::EqualOf(A5_TYPES), Pipe::Mte3),
];

pub(super) const TINSERT: OpInfo = OpInfo {
    mnemonic: "tinsert",
    cpp: &["TINSERT"],
    summary: "Put the source into a window of the destination, at (indexRow, indexCol); the rest is preserved.",
    formula: "dst(indexRow+i, indexCol+j) = src(i,j) over src's valid region",
    forms: &[
        form!(Plain: Src, Row, Col => Dst as write_window),
        form!(NoIndex: Src => Dst as write_window; cpp Dst, Src, Row, Col),
        form!(VectorQuant: Src, Fp, Row, Col => Dst as write_window),
        form!(ScalarQuant: Src, Row, Col, Quant => Dst as write_window; cpp Dst, Src, Quant, Row, Col),
    ],
    attrs: &[AttrName::ReluPreMode, AttrName::AccToVecMode, AttrName::SaturateInf, AttrName::Mode],
    rules: rules! {
        ALL TileType "tile-fp4"; ALL InsertSignature "tinsert-loc", "tinsert-layout", "tinsert-dtype"; ALL InsertCols "tinsert-cols";
        ALL InsertAlign "tinsert-align"; ALL InsertBounds "tinsert-bounds";
        ALL Fixpipe "acc-mode", "acc-mode-split", "quant-source", "quant-sign", "quant-scale", "fp-operand", "fp-align", "fp-short";
        ALL FillValue "fp-value"; ALL Overlap "overlap"; ALL Footprint "footprint"; ALL InsertBoxed "tinsert-nd-into-boxed";
        ALL InsertHardware "tinsert-hw";
        ALL Conversion "value-conversion";
    },
    sigs: SIGS,
    source: "PTO ISA, TINSERT page; ops.md 3.2",
    ids: ids!("tinsert"),
    sem: Sem::Moves(sem::insert),
    examples: &[(Role::Dst, "!pto.tile<32x64xf16>")],
    notes: &[
        "a5 Vec→Vec ND: hardware copies blocks where indexCol, both pitches and the valid columns are whole blocks of 32 bytes, goes \
         through vector registers where they are not, and moves a single element as a scalar; the result is the same",
        "split2, split4 (a5 Vec→Mat NZ): the ceil(Cv/C0) column blocks of the source move in K = 2 or 4 parts of blocks/K, the last takes \
         the rest, and rows count up to the next 16; the result is that of one insert",
    ],
    ..LAYOUT
};

pub(super) const TINSERT_FP: OpInfo = OpInfo {
    mnemonic: "tinsert_fp",
    aliases: &["tinsert.fp"],
    cpp: &["TINSERT_FP"],
    summary: "TINSERT with a Scaling tile of quantization parameters, or with a value that fills dst's padding.",
    formula: "dst(indexRow+i, indexCol+j) = quant(src(i,j), fp[j]), or TINSERT and v outside dst's valid region",
    forms: &[
        form!(VectorQuant: Src, Fp, Row, Col => Dst as write_window),
        form!(Fill: Src, Fill, Row, Col => Dst as write_part; cpp Dst, Src, Row, Col, Fill),
    ],
    attrs: &[AttrName::ReluPreMode, AttrName::AccToVecMode, AttrName::SaturateInf],
    source: "PTO ISA, TINSERT page; ops.md 3.2 and 3.4",
    notes: &[],
    ..TINSERT
};
