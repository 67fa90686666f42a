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
const SRC: Operand = read(Role::Src).valid_on(Profiles::CPU_A2A3);
const DST: Operand = write_sources(Role::Dst).valid_on(Profiles::CPU_A2A3);

pub(super) const TTRANS: OpInfo = OpInfo {
    mnemonic: "ttrans",
    cpp: &["TTRANS"],
    summary: "Transpose: over the source's valid region on cpu and a2a3, over its declared shape on a5.",
    formula: "dst(j,i) = src(i,j)",
    forms: &[
        FormInfo { form: Form::Plain, ins: &[SRC], outs: &[DST], cpp: &[], named: &[], attrs: None, examples: &[] },
        FormInfo {
            form: Form::Tmp,
            ins: &[SRC, scratch(Role::Tmp)],
            outs: &[DST],
            cpp: &[],
            named: &[],
            attrs: None,
            examples: &[],
        },
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
