//! TFILLPAD, TFILLPAD_INPLACE and TFILLPAD_EXPAND (ops.md 6).

use super::path::{ALL_LOCS, ANY, ND, NZ, Path, Types, pair, path};
use super::{Form, FormInfo, OpInfo, Pipe, Role};
use crate::profile::Profiles;
use crate::tile::Loc;

const FORMS: &[Form] = &[Form::Plain, Form::Fill];

static PATHS: &[Path] = &[
    path(Profiles::CPU, FORMS, ALL_LOCS, ALL_LOCS, &[ANY], Types::Equal, Pipe::V),
    path(Profiles::NPU, FORMS, &[Loc::Vec], &[Loc::Vec], &[pair(ND, ND)], Types::Equal, Pipe::V),
    path(Profiles::NPU, FORMS, &[Loc::Mat], &[Loc::Mat], &[pair(NZ, NZ)], Types::Equal, Pipe::Mte2),
];

const FORM_TABLE: &[FormInfo] = &[
    FormInfo { form: Form::Plain, ins: &[Role::Src], outs: &[Role::Dst] },
    FormInfo { form: Form::Fill, ins: &[Role::Fill], outs: &[Role::Dst] },
];

const fn row(
    mnemonic: &'static str,
    cpp: &'static [&'static str],
    summary: &'static str,
    rules: &'static [&'static str],
) -> OpInfo {
    OpInfo {
        mnemonic,
        aliases: &[],
        cpp,
        summary,
        formula: "dst(i,j) = src(i,j) inside src's valid region, the pad value elsewhere in dst's declared area",
        forms: FORM_TABLE,
        attrs: &[],
        rules,
        paths: PATHS,
        pipe: Pipe::V,
        source: "ops.md 6; layout-family seed",
        layout: true,
    }
}

pub(super) static TFILLPAD: OpInfo = row(
    "tfillpad",
    &["TFILLPAD"],
    "Copy the valid region and fill everything else of the declared area with the pad value.",
    &[
        "tfillpad-loc",
        "tfillpad-layout",
        "tfillpad-dtype",
        "tfillpad-shape",
        "tfillpad-pad",
        "fp-value",
        "overlap",
        "tfillpad-noop",
    ],
);
pub(super) static TFILLPAD_INPLACE: OpInfo = row(
    "tfillpad_inplace",
    &["TFILLPAD_INPLACE"],
    "Fill the padding of a tile where it lies; dst and src are views of one storage.",
    &[
        "tfillpad-loc",
        "tfillpad-layout",
        "tfillpad-dtype",
        "tfillpad-shape",
        "tfillpad-pad",
        "tfillpad-inplace",
        "fp-value",
        "tfillpad-noop",
    ],
);
pub(super) static TFILLPAD_EXPAND: OpInfo = row(
    "tfillpad_expand",
    &["TFILLPAD_EXPAND"],
    "TFILLPAD into a tile that may be larger; a dynamic valid region becomes the whole declared area.",
    &[
        "tfillpad-loc",
        "tfillpad-layout",
        "tfillpad-dtype",
        "tfillpad-shape",
        "tfillpad-valid",
        "tfillpad-pad",
        "fp-value",
        "overlap",
        "tfillpad-noop",
    ],
);
