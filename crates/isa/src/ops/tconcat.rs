//! TCONCAT (ops.md 6).

use super::*;

const FORMS: &[Form] = &[Form::Plain, Form::Indexed, Form::IndexedOut];

static SIGS: &[Sig] = &[
    flow!(Profiles::CPU, FORMS, ALL_LOCS, ALL_LOCS, &[ANY], Types::Equal, Pipe::V),
    flow!(Profiles::NPU, FORMS, &[Loc::Vec], &[Loc::Vec], &[pair!(ND, ND)], Types::EqualOf(STANDARD), Pipe::V),
];

pub(super) const TCONCAT: OpInfo = OpInfo {
    mnemonic: "tconcat",
    aliases: &["tconcatidx"],
    cpp: &["TCONCAT"],
    summary: "Join two tiles along the columns (cpu: or rows), or as many columns of each as index tiles say.",
    formula: "dst(i,j) = j < src0.Cv ? src0(i,j) : src1(i, j-src0.Cv)",
    forms: &[
        form!(Plain: Src0, Src1 => Dst as write_sources),
        form!(Indexed: Src0, Src1, Idx0, Idx1 => Dst as write_part),
        form!(IndexedOut: Src0, Src1, Idx0, Idx1 => Dst as write_part, DstIdx; cpp Dst, Src0, Src1, DstIdx, Idx0, Idx1),
    ],
    attrs: &[AttrName::Dim],
    rules: rules! {
        ALL ConcatDim "tconcat-dim"; ALL ConcatSignature "tconcat-loc", "tconcat-layout", "tconcat-dtype";
        ALL ConcatExtents "tconcat-rows", "tconcat-cols"; ALL ConcatIndex "tconcat-index"; ALL Overlap "overlap";
        ALL Footprint "footprint";
    },
    sigs: SIGS,
    source: "ops.md 6; PTO ISA, layout family page",
    ids: ids!("tconcat"),
    sem: Sem::Data(sem::concat),
    examples: &[(Role::Dst, "!pto.tile<16x64xf16>")],
    ..LAYOUT
};
