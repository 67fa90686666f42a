//! TPACK (ops.md 6).

use super::path::{ND, Path, Types, pair, path};
use super::{Form, FormInfo, OpInfo, Pipe, Role};
use crate::profile::Profiles;
use crate::tile::Loc;

static PATHS: &[Path] =
    &[path(Profiles::CPU_A5, &[Form::Plain], &[Loc::Vec], &[Loc::Vec], &[pair(ND, ND)], Types::OwnRule, Pipe::V)];

pub(super) static TPACK: OpInfo = OpInfo {
    mnemonic: "tpack",
    aliases: &[],
    cpp: &["TPACK"],
    summary: "Keep the low bytes of every element.",
    formula: "dst(i,j) = low dst.sz bytes of src(i,j)",
    forms: &[FormInfo { form: Form::Plain, ins: &[Role::Src], outs: &[Role::Dst] }],
    attrs: &[],
    rules: &["tpack-profile", "tpack-layout", "tpack-size", "tpack-valid", "overlap"],
    paths: PATHS,
    pipe: Pipe::V,
    source: "ops.md 6; layout-family seed",
    layout: true,
};
