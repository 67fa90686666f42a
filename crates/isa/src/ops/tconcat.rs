//! TCONCAT (ops.md 6).

use super::path::{ALL_LOCS, ANY, ND, Path, STANDARD, Types, pair, path};
use super::{AttrName, Form, FormInfo, OpInfo, Pipe, Role};
use crate::profile::Profiles;
use crate::tile::Loc;

const FORMS: &[Form] = &[Form::Plain, Form::Indexed, Form::IndexedOut];

static PATHS: &[Path] = &[
    path(Profiles::CPU, FORMS, ALL_LOCS, ALL_LOCS, &[ANY], Types::Equal, Pipe::V),
    path(Profiles::NPU, FORMS, &[Loc::Vec], &[Loc::Vec], &[pair(ND, ND)], Types::EqualOf(STANDARD), Pipe::V),
];

pub(super) static TCONCAT: OpInfo = OpInfo {
    mnemonic: "tconcat",
    aliases: &[],
    cpp: &["TCONCAT"],
    summary: "Join two tiles along the columns (cpu: or rows), or as many columns of each as index tiles say.",
    formula: "dst(i,j) = j < src0.Cv ? src0(i,j) : src1(i, j-src0.Cv)",
    forms: &[
        FormInfo { form: Form::Plain, ins: &[Role::Src0, Role::Src1], outs: &[Role::Dst] },
        FormInfo { form: Form::Indexed, ins: &[Role::Src0, Role::Src1, Role::Idx0, Role::Idx1], outs: &[Role::Dst] },
        FormInfo {
            form: Form::IndexedOut,
            ins: &[Role::Src0, Role::Src1, Role::Idx0, Role::Idx1],
            outs: &[Role::Dst, Role::DstIdx],
        },
    ],
    attrs: &[AttrName::Dim],
    rules: &[
        "tconcat-dim",
        "tconcat-loc",
        "tconcat-layout",
        "tconcat-dtype",
        "tconcat-rows",
        "tconcat-cols",
        "tconcat-index",
        "overlap",
        "footprint",
    ],
    paths: PATHS,
    pipe: Pipe::V,
    source: "ops.md 6; layout-family seed",
    layout: true,
};
