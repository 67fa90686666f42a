//! TTRANS (PTO ISA, TTRANS page; ops.md 5).

use super::*;

const FORMS: &[Form] = &[Form::Plain, Form::Tmp];
const NONE_BOX: Lay = Lay::Of(&[LayoutName::Nd, LayoutName::Dn]);
const NO_BOXES: &[Layouts] = &[pair!(NONE_BOX, NONE_BOX)];

static SIGS: &[Sig] = &[
    flow!(Profiles::CPU, FORMS, ALL_LOCS, ALL_LOCS, &[ANY], Types::Any, Pipe::V),
    flow!(Profiles::A2A3, FORMS, &[Loc::Vec], &[Loc::Vec], &[pair!(ND, ND)], Types::EachOf(STANDARD), Pipe::V),
    flow!(Profiles::A5, FORMS, &[Loc::Vec], &[Loc::Vec], NO_BOXES, Types::EachOf(STANDARD), Pipe::V),
];

/// a5 transposes the declared shape, and dst's valid region is free there (ops.md 5).
const fn read_narrow(role: Role) -> Operand {
    read(role).valid_on(Profiles::CPU_A2A3)
}
const fn write_narrow(role: Role) -> Operand {
    write_sources(role).valid_on(Profiles::CPU_A2A3)
}

pub(super) const TTRANS: OpInfo = OpInfo {
    mnemonic: "ttrans",
    cpp: &["TTRANS"],
    summary: "Transpose: over the source's valid region on cpu and a2a3, over its declared shape on a5.",
    formula: "dst(j,i) = src(i,j)",
    forms: &[
        form!(Plain: Src as read_narrow => Dst as write_narrow),
        form!(Tmp: Src as read_narrow, Tmp as scratch => Dst as write_narrow),
    ],
    rules: rules! {
        ALL Signature "ttrans-loc", "ttrans-layout", "ttrans-dtype"; ALL TransposeSize "ttrans-size";
        ALL TransposeTmp "ttrans-tmp"; ALL TransposeShape "ttrans-shape"; ALL TileType "ttrans-align"; ALL Overlap "overlap";
    },
    sigs: SIGS,
    source: "PTO ISA, TTRANS page; ops.md 5",
    ids: ids!("ttrans"),
    sem: Sem::Moves(sem::transpose),
    examples: &[(Role::Dst, "!pto.tile<32x16xf16>")],
    ..LAYOUT
};
