//! TIMG2COL (ops.md 7).

use super::*;
use crate::elem::Elem::{self, *};

const FORMS: &[Form] = &[Form::Plain, Form::NoIndex];
const A2A3: &[Elem] = &[I8, F16, Bf16, F32];
const CPU: &[Elem] = &[I8, F16, Bf16, F32, U8, I16, U16, I32, U32];
const A5: &[Elem] = &[I8, F16, Bf16, F32, U8, I16, U16, I32, U32, F8e4m3, F8e5m2];

const INTO: &[Layouts] = &[pair!(Lay::Any, Lay::Usual)];

macro_rules! into_left {
    ($on:expr, $types:expr) => {
        flow!($on, FORMS, &[Loc::Mat], &[Loc::Left], INTO, Types::EqualOf($types), Pipe::Mte1)
    };
}

static SIGS: &[Sig] = &[into_left!(Profiles::CPU, CPU), into_left!(Profiles::A2A3, A2A3), into_left!(Profiles::A5, A5)];

pub(super) const TIMG2COL: OpInfo = OpInfo {
    mnemonic: "timg2col",
    cpp: &["TIMG2COL"],
    summary: "Rearrange image patches of a conv tile into the rows of a Left tile, for convolution by matrix product.",
    formula: "dst(r,c) = src[n][d][c1][oy·strideH + ky·dilH - top][ox·strideW + kx·dilW - left][c0], or the pad value \
              outside the image; m = posM+r = ((n·D + d)·OH + oy)·OW + ox, k = posK+c = ((c1·KH + ky)·KW + kx)·C0 + c0",
    forms: &[form!(Plain: Src, PosM, PosK => Dst), form!(NoIndex: Src => Dst)],
    attrs: &[AttrName::Kernel, AttrName::Stride, AttrName::Dilation, AttrName::Pad, AttrName::PadValue, AttrName::Fmap],
    rules: rules! {
        ALL Img2col "timg2col-loc", "timg2col-layout", "timg2col-dtype", "timg2col-c0", "timg2col-config", "timg2col-fmap", "timg2col-empty";
        ALL FillValue "fp-value";
    },
    sigs: SIGS,
    pipe: Pipe::Mte1,
    source: "ops.md 7; PTO ISA, layout family page",
    ids: ids!("timg2col"),
    sem: Sem::Moves(sem::img2col),
    examples: &[
        (Role::Src, "!pto.conv_tile<mat, NC1HWC0, 1x1x4x4x16xf16>"),
        (Role::Dst, "!pto.tile<loc=left, f16, 16, 16>"),
    ],
    ..LAYOUT
};
