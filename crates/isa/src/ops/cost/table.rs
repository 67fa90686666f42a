//! The published figures (isa/cost.toml).

use super::{Cost, Costs, Cube, Of, Timing, Transfer};
use crate::elem::Elem::{F16, F32, I8, I16, I32};
use crate::ops::Opcode;
use crate::profile::Profile;
use crate::tile::Loc;
use std::borrow::Cow;

/// A figure of one number, or of several by type.
macro_rules! figure {
    ($all:literal) => { Cow::Borrowed(&[(Of::All, $all)]) };
    ({f = $floats:literal, i = $integers:literal}) => {
        Cow::Borrowed(&[(Of::Floats, $floats), (Of::Integers, $integers)])
    };
    ({$($elem:ident = $n:literal),*}) => { Cow::Borrowed(&[$((Of::Type($elem), $n)),*]) };
}

macro_rules! costs {
    ($($on:ident $basis:ident [$($op:ident)*] $timing:ident { $($field:ident = $figure:tt),* };)*) => {
        &[$(Cost {
            on: Profile::$on,
            ops: Cow::Borrowed(&[$(Opcode::$op),*]),
            published: costs!(@ $basis),
            repeat_bytes: 256,
            timing: Timing::$timing { $($field: costs!(@ $field $figure)),* },
        }),*]
    };
    (@ published) => { true };
    (@ derived) => { false };
    (@ startup $n:tt) => { $n };
    (@ interval $n:tt) => { $n };
    (@ $field:ident $figure:tt) => { figure!($figure) };
}

/// Bytes per cycle of a path; without a memory it is global memory.
macro_rules! transfers {
    ($($on:ident $from:expr => $to:expr, [$($op:ident)*] $bytes:literal;)*) => {
        &[$(Transfer {
            on: Profile::$on,
            from: $from,
            to: $to,
            ops: Cow::Borrowed(&[$(Opcode::$op),*]),
            bytes_per_cycle: $bytes,
        }),*]
    };
}

/// What is published.
pub static PUBLISHED: Costs =
    Costs { vector: Cow::Borrowed(VECTOR), transfers: Cow::Borrowed(TRANSFERS), cubes: Cow::Borrowed(CUBES) };

const TRANSFERS: &[Transfer] = transfers! {
    A2a3 None => Some(Loc::Vec), [Tload] 128;
    A2a3 None => Some(Loc::Mat), [Tload] 256;
    A2a3 Some(Loc::Vec) => Some(Loc::Vec), [Tmov] 128;
    A2a3 Some(Loc::Mat) => Some(Loc::Left), [Tmov Textract] 256;
    A2a3 Some(Loc::Mat) => Some(Loc::Right), [Tmov Textract] 128;
    A2a3 Some(Loc::Mat) => Some(Loc::Mat), [Textract] 32;
};

const CUBES: &[Cube] = &[Cube {
    on: Profile::A2a3,
    ops: Cow::Borrowed(&[
        Opcode::Tmatmul,
        Opcode::TmatmulAcc,
        Opcode::TmatmulBias,
        Opcode::Tgemv,
        Opcode::TgemvAcc,
        Opcode::TgemvBias,
    ]),
    startup: 14,
    fractal: [16, 16],
    k_bytes: 32,
    per_fractal: figure!({I8 = 1, F16 = 1, F32 = 2}),
}];

const VECTOR: &[Cost] = costs! {
    A2a3 published [Tadd Tsub Tmax Tmin]
        Startup { startup = 14, completion = {f = 19, i = 17}, per_repeat = 2, interval = 18 };
    A2a3 published [Taddc Tsubc Trem Tfmod]
        Startup { startup = 14, completion = {f = 19, i = 17}, per_repeat = 2, interval = 18 };
    A2a3 published [Tmul] Startup { startup = 14, completion = {f = 20, i = 18}, per_repeat = 2, interval = 18 };
    A2a3 published [Tdiv] Startup { startup = 14, completion = 20, per_repeat = {F32 = 2, F16 = 4}, interval = 18 };
    A2a3 published [Tand Tor Txor Tshl Tshr] Startup { startup = 14, completion = 17, per_repeat = 2, interval = 18 };
    A2a3 published [Tabs] Startup { startup = 14, completion = {f = 19, i = 17}, per_repeat = 1, interval = 18 };
    A2a3 published [Tneg] Startup { startup = 14, completion = {f = 20, i = 18}, per_repeat = 1, interval = 18 };
    A2a3 published [Trelu] Startup { startup = 14, completion = 19, per_repeat = 1, interval = 18 };
    A2a3 published [Tnot Trecip] Startup { startup = 13, completion = 26, per_repeat = 1, interval = 18 };
    A2a3 published [Texp Tlog]
        Startup { startup = 13, completion = {F32 = 26, F16 = 28}, per_repeat = {F32 = 2, F16 = 4}, interval = 18 };
    A2a3 published [Tsqrt]
        Startup { startup = 13, completion = {F32 = 27, F16 = 29}, per_repeat = {F32 = 2, F16 = 4}, interval = 18 };
    A2a3 published [Trsqrt] Startup { startup = 14, completion = 20, per_repeat = 1, interval = 18 };
    A2a3 published [Taxpy Tprelu Tmrgsort] Startup { startup = 14, completion = 26, per_repeat = 2, interval = 18 };
    A2a3 published [Trowsum Trowmax Trowmin] Startup {
        startup = 13,
        completion = {F32 = 19, F16 = 21, I32 = 19, I16 = 17},
        per_repeat = {F32 = 2, F16 = 2, I32 = 2, I16 = 1},
        interval = 18
    };
    A2a3 derived [Tcolsum Tcolmax Tcolmin]
        Startup { startup = 14, completion = {f = 19, i = 17}, per_repeat = 2, interval = 18 };
    A2a3 derived [Tadds Tsubs Tmaxs Tmins Taddsc Tsubsc]
        Startup { startup = 14, completion = {f = 19, i = 17}, per_repeat = 1, interval = 18 };
    A2a3 derived [Tmuls Tlrelu] Startup { startup = 14, completion = {f = 20, i = 18}, per_repeat = 1, interval = 18 };
    A2a3 derived [Tands Tors Txors Tshls Tshrs] Startup { startup = 14, completion = 17, per_repeat = 1, interval = 18 };
    A5 published [Tadd Tsub Tmax Tmin] Latency { latency = 7, per_repeat = 2 };
    A5 published [Tand Tor Txor Tshl Tshr] Latency { latency = 7, per_repeat = 2 };
    A5 published [Tmul] Latency { latency = 8, per_repeat = 2 };
    A5 published [Tdiv] Latency { latency = {F32 = 17, F16 = 22}, per_repeat = {F32 = 2, F16 = 4} };
    A5 published [Tabs Trelu Tnot] Latency { latency = 5, per_repeat = 1 };
    A5 published [Tneg] Latency { latency = 8, per_repeat = 1 };
    A5 published [Texp] Latency { latency = {F32 = 16, F16 = 21}, per_repeat = {F32 = 2, F16 = 4} };
    A5 published [Tlog] Latency { latency = {F32 = 18, F16 = 23}, per_repeat = {F32 = 2, F16 = 4} };
    A5 published [Tsqrt] Latency { latency = {F32 = 17, F16 = 22}, per_repeat = {F32 = 2, F16 = 4} };
    A5 published [Trsqrt] Latency { latency = 13, per_repeat = 1 };
    A5 published [Tcvt] Latency { latency = {F32 = 7}, per_repeat = 1 };
    A5 published [Tmov] Latency { latency = 9, per_repeat = 1 };
    A5 published [Trowsum Trowmax Trowmin]
        Latency { latency = {F32 = 19, F16 = 21, I32 = 19, I16 = 17}, per_repeat = 2 };
};
