//! TINTERLEAVE and TDEINTERLEAVE (tinterleave seed; ops.md 8).

use super::path::{ALL_LOCS, Lay, ND, Path, STANDARD, Types, pair, path};
use super::{Form, FormInfo, OpInfo, Pipe, Role};
use crate::profile::Profiles;
use crate::tile::Loc;

const FORMS: &[Form] = &[Form::Plain, Form::OneSource];
const ROWS: &[super::LayoutPair] = &[pair(Lay::RowMajor, Lay::RowMajor)];

static PATHS: &[Path] = &[
    path(Profiles::CPU, FORMS, ALL_LOCS, ALL_LOCS, ROWS, Types::EqualOf(STANDARD), Pipe::V),
    path(Profiles::A5, FORMS, &[Loc::Vec], &[Loc::Vec], &[pair(ND, ND)], Types::EqualOf(STANDARD), Pipe::V),
];

const RULES: &[&str] = &[
    "tinterleave-profile",
    "tinterleave-loc",
    "tinterleave-layout",
    "tinterleave-dtype",
    "tinterleave-shape",
    "tinterleave-even",
    "overlap",
];

const TWO: FormInfo = FormInfo { form: Form::Plain, ins: &[Role::Src0, Role::Src1], outs: &[Role::Dst0, Role::Dst1] };

pub(super) static TINTERLEAVE: OpInfo = OpInfo {
    mnemonic: "tinterleave",
    aliases: &[],
    cpp: &["TInterleave", "TINTERLEAVE"],
    summary: "Interleave two tiles: the first half of the interleaved stream into dst0, the second into dst1.",
    formula: "stream(2k) = src0(i,k), stream(2k+1) = src1(i,k); dst0(i,j) = stream(j), dst1(i,j) = stream(V+j)",
    forms: &[TWO],
    attrs: &[],
    rules: RULES,
    paths: PATHS,
    pipe: Pipe::V,
    source: "tinterleave seed; ops.md 8",
    layout: true,
};

pub(super) static TDEINTERLEAVE: OpInfo = OpInfo {
    mnemonic: "tdeinterleave",
    aliases: &[],
    cpp: &["TDeInterleave", "TDEINTERLEAVE"],
    summary: "Take an interleaved stream apart: even positions into dst0, odd ones into dst1.",
    formula: "stream = src0 ++ src1; dst0(i,k) = stream(2k), dst1(i,k) = stream(2k+1)",
    forms: &[TWO, FormInfo { form: Form::OneSource, ins: &[Role::Src0], outs: &[Role::Dst0, Role::Dst1] }],
    attrs: &[],
    rules: RULES,
    paths: PATHS,
    pipe: Pipe::V,
    source: "tinterleave seed; ops.md 8",
    layout: true,
};
