//! Elementwise instructions (isa/elementwise.md): one line each.

use super::*;
use crate::elem::Elem::*;
use crate::sem::{At, Func};

/// Signatures of a family that works in Vec, row by row, on one element type: cpu takes any location and layout.
macro_rules! one_type {
    ($($role:ident)* ; cpu $cpu:expr, a2a3 $a2a3:expr, a5 $a5:expr) => {
        &[
            Sig { on: Profiles::CPU, forms: PLAIN, locs: &[], layouts: &[], types: Types::EqualOf($cpu), pipe: Pipe::V },
            one_type!(@ A2A3 $a2a3, $($role)*),
            one_type!(@ A5 $a5, $($role)*),
        ]
    };
    (@ $on:ident $types:expr, $($role:ident)*) => {
        Sig {
            on: Profiles::$on,
            forms: PLAIN,
            locs: &[$((Role::$role, &[Loc::Vec])),*],
            layouts: &[&[$((Role::$role, ND)),*]],
            types: Types::EqualOf($types),
            pipe: Pipe::V,
        }
    };
}

/// `dst(i,j) = func(sources(i,j))`: name, mnemonic, C++ name, function and its operands, types by profile, texts.
macro_rules! elementwise {
    ($($Name:ident $mnemonic:literal $cpp:literal $func:ident($($role:ident $at:ident),*)
       cpu $cpu:expr, a2a3 $a2a3:expr, a5 $a5:expr, $formula:literal, $summary:literal;)*) => {
        family! { after support::END; $(
            $Name => OpInfo {
                mnemonic: $mnemonic,
                cpp: &[$cpp],
                summary: $summary,
                formula: $formula,
                source: "isa/elementwise.md 1",
                family: Family::Elementwise,
                forms: &[form!(Plain: $($role),* => Dst)],
                sigs: one_type!($($role)* Dst; cpu $cpu, a2a3 $a2a3, a5 $a5),
                ids: ids!($mnemonic),
                rules: rules! {
                    NPU Signature concat!($mnemonic, "-loc"), concat!($mnemonic, "-layout");
                    ALL Signature concat!($mnemonic, "-dtype"); ALL SameValid concat!($mnemonic, "-valid"); ALL Overlap "overlap";
                },
                sem: Sem::Map { domain: Role::Dst, args: &[$((Role::$role, At::$at)),*], func: Func::$func },
                ..LAYOUT
            };
        )* }
    };
}

elementwise! {
    Tadd "tadd" "TADD" Add(Src0 Same, Src1 Same) cpu NUMBERS, a2a3 &[I16, I32, F16, F32], a5 NUMBERS,
        "dst(i,j) = src0(i,j) + src1(i,j)", "Sum of two tiles.";
}
