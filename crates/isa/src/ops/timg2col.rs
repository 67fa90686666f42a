//! TIMG2COL (ops.md 7).

use super::path::{Lay, LayoutPair, Path, Types, pair, path};
use super::{AttrName, Form, FormInfo, OpInfo, Pipe, Role};
use crate::elem::Elem;
use crate::profile::Profiles;
use crate::tile::Loc;

const FORMS: &[Form] = &[Form::Plain, Form::NoIndex];
const A2A3: &[Elem] = &[Elem::I8, Elem::F16, Elem::Bf16, Elem::F32];
const CPU: &[Elem] =
    &[Elem::I8, Elem::F16, Elem::Bf16, Elem::F32, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32];
const A5: &[Elem] = &[
    Elem::I8,
    Elem::F16,
    Elem::Bf16,
    Elem::F32,
    Elem::U8,
    Elem::I16,
    Elem::U16,
    Elem::I32,
    Elem::U32,
    Elem::F8e4m3,
    Elem::F8e5m2,
];

const INTO: &[LayoutPair] = &[pair(Lay::Any, Lay::Usual)];

const fn into_left(on: Profiles, types: &'static [Elem]) -> Path {
    path(on, FORMS, &[Loc::Mat], &[Loc::Left], INTO, Types::EqualOf(types), Pipe::Mte1)
}

static PATHS: &[Path] = &[into_left(Profiles::CPU, CPU), into_left(Profiles::A2A3, A2A3), into_left(Profiles::A5, A5)];

pub(super) static TIMG2COL: OpInfo = OpInfo {
    mnemonic: "timg2col",
    aliases: &[],
    cpp: &["TIMG2COL"],
    summary: "Rearrange image patches of a conv tile into the rows of a Left tile, for convolution by matrix product.",
    formula: "dst(r,c) = src[n][d][c1][oy·strideH + ky·dilH - top][ox·strideW + kx·dilW - left][c0], or the pad value \
              outside the image; m = posM+r = ((n·D + d)·OH + oy)·OW + ox, k = posK+c = ((c1·KH + ky)·KW + kx)·C0 + c0",
    forms: &[
        FormInfo { form: Form::Plain, ins: &[Role::Src, Role::PosM, Role::PosK], outs: &[Role::Dst] },
        FormInfo { form: Form::NoIndex, ins: &[Role::Src], outs: &[Role::Dst] },
    ],
    attrs: &[AttrName::Kernel, AttrName::Stride, AttrName::Dilation, AttrName::Pad, AttrName::PadValue, AttrName::Fmap],
    rules: &[
        "timg2col-loc",
        "timg2col-layout",
        "timg2col-dtype",
        "timg2col-c0",
        "timg2col-config",
        "timg2col-fmap",
        "timg2col-empty",
        "fp-value",
    ],
    paths: PATHS,
    pipe: Pipe::Mte1,
    source: "ops.md 7; layout-family seed",
    layout: true,
};
