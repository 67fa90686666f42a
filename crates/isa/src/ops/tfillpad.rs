//! TFILLPAD, TFILLPAD_INPLACE and TFILLPAD_EXPAND (ops.md 6).

use super::*;

const FORMS: &[Form] = &[Form::Plain, Form::Fill];

static SIGS: &[Sig] = &[
    flow!(Profiles::CPU, FORMS, ALL_LOCS, &[Loc::Mat], &[ANY], Types::Equal, Pipe::Mte2),
    flow!(Profiles::CPU, FORMS, ALL_LOCS, ALL_LOCS, &[ANY], Types::Equal, Pipe::V),
    flow!(Profiles::NPU, FORMS, &[Loc::Vec], &[Loc::Vec], &[pair!(ND, ND)], Types::Equal, Pipe::V),
    flow!(Profiles::NPU, FORMS, &[Loc::Mat], &[Loc::Mat], &[pair!(NZ, NZ)], Types::Equal, Pipe::Mte2),
];

const BASE: OpInfo = OpInfo {
    formula: "dst(i,j) = src(i,j) inside src's valid region, the pad value elsewhere in dst's declared area",
    forms: &[form!(Plain: Src => Dst as write_declared), form!(Fill: Fill => Dst as write_part)],
    sigs: SIGS,
    attrs: &[AttrName::PadOfDst],
    ids: ids!("tfillpad"),
    source: "ops.md 6; PTO ISA, layout family page",
    sem: Sem::Moves(sem::fillpad),
    examples: &[
        (Role::Src, "!pto.tile<vec, 16x32xf16, valid=16x20>"),
        (Role::Dst, "!pto.tile<vec, 16x32xf16, valid=16x20, pad=zero>"),
    ],
    ..LAYOUT
};

/// `tfillpad` into a tile of another declared shape expands (isa/today.md 6.3).
pub fn fill_of(op: Opcode, src: [u64; 2], dst: [u64; 2]) -> Opcode {
    if op == Opcode::Tfillpad && src != dst { Opcode::TfillpadExpand } else { op }
}

pub(super) const TFILLPAD: OpInfo = OpInfo {
    mnemonic: "tfillpad",
    cpp: &["TFILLPAD"],
    summary: "Copy the valid region and fill everything else of the declared area with the pad value.",
    rules: rules! {
        ALL FillSignature "tfillpad-loc", "tfillpad-layout", "tfillpad-dtype"; ALL FillPad "tfillpad-shape", "tfillpad-pad";
        ALL FillValue "fp-value"; ALL Overlap "overlap"; ALL FillNoop "tfillpad-noop";
    },
    ..BASE
};
pub(super) const TFILLPAD_INPLACE: OpInfo = OpInfo {
    mnemonic: "tfillpad_inplace",
    cpp: &["TFILLPAD_INPLACE"],
    summary: "Fill the padding of a tile where it lies; dst and src are views of one storage.",
    rules: rules! {
        ALL FillSignature "tfillpad-loc", "tfillpad-layout", "tfillpad-dtype"; ALL FillPad "tfillpad-shape", "tfillpad-pad", "tfillpad-inplace";
        ALL FillValue "fp-value"; ALL FillNoop "tfillpad-noop";
    },
    forms: &[form!(Plain: Src => Dst as write_window), form!(Fill: Fill => Dst as write_part)],
    binds: Some(Bind::InPlace),
    ..BASE
};
pub(super) const TFILLPAD_EXPAND: OpInfo = OpInfo {
    mnemonic: "tfillpad_expand",
    cpp: &["TFILLPAD_EXPAND"],
    summary: "TFILLPAD into a tile that may be larger; a dynamic valid region becomes the whole declared area.",
    rules: rules! {
        ALL FillSignature "tfillpad-loc", "tfillpad-layout", "tfillpad-dtype"; ALL FillPad "tfillpad-shape", "tfillpad-valid", "tfillpad-pad";
        ALL FillValue "fp-value"; ALL Overlap "overlap"; ALL FillNoop "tfillpad-noop"; ALL FillStatic "tfillpad-static";
    },
    expands: true,
    examples: &[(Role::Dst, "!pto.tile<vec, 32x64xf16, pad=zero>")],
    ..BASE
};
