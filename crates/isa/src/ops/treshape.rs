//! TRESHAPE (treshape seed; ops.md 4).

use super::path::{ANY, Path, Types, path};
use super::{AttrName, Form, FormInfo, OpInfo, Pipe, Role};
use crate::profile::Profiles;
use crate::tile::Loc;

const fn stays(loc: &'static [Loc]) -> Path {
    path(Profiles::ALL, &[Form::Plain], loc, loc, &[ANY], Types::Any, Pipe::S)
}

pub(super) static PATHS: &[Path] = &[
    stays(&[Loc::Vec]),
    stays(&[Loc::Mat]),
    stays(&[Loc::Left]),
    stays(&[Loc::Right]),
    stays(&[Loc::Acc]),
    stays(&[Loc::Bias]),
    stays(&[Loc::Scaling]),
    stays(&[Loc::ScaleLeft]),
    stays(&[Loc::ScaleRight]),
];

pub(super) const RULES: &[&str] = &[
    "treshape-loc",
    "treshape-box",
    "treshape-bytes",
    "treshape-shape",
    "overlap",
    "treshape-valid",
    "treshape-alias",
];

pub(super) static TRESHAPE: OpInfo = OpInfo {
    mnemonic: "treshape",
    aliases: &[],
    cpp: &["TRESHAPE"],
    summary: "Reinterpret the same bytes as another tile type: a copy on cpu, a view on a2a3 and a5.",
    formula: "bytes(dst) = bytes(src), over the declared area",
    forms: &[FormInfo { form: Form::Plain, ins: &[Role::Src], outs: &[Role::Dst] }],
    attrs: &[AttrName::Shape],
    rules: RULES,
    paths: PATHS,
    pipe: Pipe::S,
    source: "treshape seed; ops.md 4",
    layout: true,
};
