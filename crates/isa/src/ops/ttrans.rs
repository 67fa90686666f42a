//! TTRANS (ttrans seed; ops.md 5).

use super::path::{ALL_LOCS, ANY, Lay, ND, Path, STANDARD, Types, pair, path};
use super::{Form, FormInfo, OpInfo, Pipe, Role};
use crate::profile::Profiles;
use crate::tile::{LayoutName, Loc};

const FORMS: &[Form] = &[Form::Plain, Form::Tmp];
const NONE_BOX: Lay = Lay::Of(&[LayoutName::Nd, LayoutName::Dn]);

static PATHS: &[Path] = &[
    path(Profiles::CPU, FORMS, ALL_LOCS, ALL_LOCS, &[ANY], Types::Any, Pipe::V),
    path(Profiles::A2A3, FORMS, &[Loc::Vec], &[Loc::Vec], &[pair(ND, ND)], Types::EachOf(STANDARD), Pipe::V),
    path(Profiles::A5, FORMS, &[Loc::Vec], &[Loc::Vec], &[pair(NONE_BOX, NONE_BOX)], Types::EachOf(STANDARD), Pipe::V),
];

pub(super) static TTRANS: OpInfo = OpInfo {
    mnemonic: "ttrans",
    aliases: &[],
    cpp: &["TTRANS"],
    summary: "Transpose: over the source's valid region on cpu and a2a3, over its declared shape on a5.",
    formula: "dst(j,i) = src(i,j)",
    forms: &[
        FormInfo { form: Form::Plain, ins: &[Role::Src], outs: &[Role::Dst] },
        FormInfo { form: Form::Tmp, ins: &[Role::Src, Role::Tmp], outs: &[Role::Dst] },
    ],
    attrs: &[],
    rules: &[
        "ttrans-loc",
        "ttrans-layout",
        "ttrans-dtype",
        "ttrans-size",
        "ttrans-tmp",
        "ttrans-shape",
        "ttrans-align",
        "overlap",
    ],
    paths: PATHS,
    pipe: Pipe::V,
    source: "ttrans seed; ops.md 5",
    layout: true,
};
