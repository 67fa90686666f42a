//! What vector instructions cost (isa/cost.md): estimates in cycles, for reports. No result, order or legality depends on
//! them; an instruction without a figure has an unknown cost, and cpu has none.

use crate::elem::Elem::{self, F16, F32, I16, I32};
use crate::ops::Opcode;
use crate::profile::Profile;

/// The element types that a figure is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    All,
    Floats,
    Integers,
    Type(Elem),
}

impl Of {
    /// Is the type one of them?
    pub fn has(self, elem: Elem) -> bool {
        match self {
            Of::All => true,
            Of::Floats => elem.is_float(),
            Of::Integers => !elem.is_float(),
            Of::Type(one) => one == elem,
        }
    }
}

/// A number of cycles, by element type; a type that none is for has no figure.
pub type Figure = &'static [(Of, u32)];

/// How long `n` repeats of 256 bytes take.
#[derive(Clone, Copy, Debug)]
pub enum Timing {
    /// `startup + completion + n · per_repeat + (n - 1) · interval`.
    Startup { startup: u32, completion: Figure, per_repeat: Figure, interval: u32 },
    /// `latency + (n - 1) · per_repeat`.
    Latency { latency: Figure, per_repeat: Figure },
}

/// The cost of some instructions on a profile.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub on: Profile,
    pub ops: &'static [Opcode],
    /// Is it printed for the instruction, and not only for its class?
    pub published: bool,
    /// How long it takes; of a reduction each step (isa/cost.md 2).
    pub timing: Timing,
}

/// A figure of one number, or of several by type.
macro_rules! figure {
    ($all:literal) => { &[(Of::All, $all)] };
    ({f = $floats:literal, i = $integers:literal}) => { &[(Of::Floats, $floats), (Of::Integers, $integers)] };
    ({$($elem:ident = $n:literal),*}) => { &[$((Of::Type($elem), $n)),*] };
}

macro_rules! costs {
    ($($on:ident $basis:ident [$($op:ident)*] $timing:ident { $($field:ident = $figure:tt),* };)*) => {
        &[$(Cost {
            on: Profile::$on,
            ops: &[$(Opcode::$op),*],
            published: costs!(@ $basis),
            timing: Timing::$timing { $($field: costs!(@ $field $figure)),* },
        }),*]
    };
    (@ published) => { true };
    (@ derived) => { false };
    (@ startup $n:tt) => { $n };
    (@ interval $n:tt) => { $n };
    (@ $field:ident $figure:tt) => { figure!($figure) };
}

/// Every figure (isa/cost.toml).
pub const COSTS: &[Cost] = costs! {
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

/// The cost of an instruction on a profile, where it is known.
pub fn cost(op: Opcode, profile: Profile) -> Option<&'static Cost> {
    COSTS.iter().find(|c| c.on == profile && c.ops.contains(&op))
}

/// The number of a figure for a type.
pub fn figure(figure: Figure, elem: Elem) -> Option<u64> {
    figure.iter().find(|(of, _)| of.has(elem)).map(|(_, n)| (*n).into())
}

impl Timing {
    /// Cycles of so many repeats on elements of a type, where that is known; nothing to do costs nothing.
    pub fn cycles(&self, elem: Elem, repeats: u64) -> Option<u64> {
        let Some(between) = repeats.checked_sub(1) else { return Some(0) };
        match *self {
            Timing::Startup { startup, completion, per_repeat, interval } => {
                let (completion, per_repeat) = (figure(completion, elem)?, figure(per_repeat, elem)?);
                Some(u64::from(startup) + completion + repeats * per_repeat + between * u64::from(interval))
            }
            Timing::Latency { latency, per_repeat } => {
                Some(figure(latency, elem)? + between * figure(per_repeat, elem)?)
            }
        }
    }
}
