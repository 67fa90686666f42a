//! TPACK (ops.md 6).

use super::*;

static SIGS: &[Sig] =
    &[flow!(Profiles::CPU_A5, &[Form::Plain], &[Loc::Vec], &[Loc::Vec], &[pair!(ND, ND)], Types::OwnRule, Pipe::V)];

pub(super) const TPACK: OpInfo = OpInfo {
    mnemonic: "tpack",
    cpp: &["TPACK"],
    summary: "Keep the low bytes of every element.",
    formula: "dst(i,j) = low dst.sz bytes of src(i,j)",
    forms: &[form!(Plain: Src => Dst)],
    rules: rules![ALL Signature "tpack-profile", "tpack-layout"; ALL Pack "tpack-size", "tpack-valid"; ALL Overlap "overlap";],
    sigs: SIGS,
    source: "ops.md 6; PTO ISA, layout family page",
    // Vec and ND are one rule.
    ids: Ids { profile: Some("tpack-profile"), loc: Some("tpack-layout"), layout: Some("tpack-layout"), dtype: None },
    sem: Sem::Moves(sem::pack),
    examples: &[(Role::Src, "!pto.tile<16x32xf32>")],
    ..LAYOUT
};
