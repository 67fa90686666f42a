//! TINTERLEAVE and TDEINTERLEAVE (PTO ISA, TINTERLEAVE page; ops.md 8).

use super::*;

const FORMS: &[Form] = &[Form::Plain, Form::OneSource];
const ROWS: &[Layouts] = &[pair!(Lay::RowMajor, Lay::RowMajor)];

static SIGS: &[Sig] = &[
    flow!(Profiles::CPU, FORMS, ALL_LOCS, ALL_LOCS, ROWS, Types::EqualOf(STANDARD), Pipe::V),
    flow!(Profiles::A5, FORMS, &[Loc::Vec], &[Loc::Vec], &[pair!(ND, ND)], Types::EqualOf(STANDARD), Pipe::V),
];

const TWO: FormInfo = form!(Plain: Src0, Src1 => Dst0, Dst1; cpp Dst1, Dst0, Src1, Src0);

pub(super) const TINTERLEAVE: OpInfo = OpInfo {
    mnemonic: "tinterleave",
    cpp: &["TInterleave", "TINTERLEAVE"],
    summary: "Interleave two tiles: the first half of the interleaved stream into dst0, the second into dst1.",
    formula: "stream(2k) = src0(i,k), stream(2k+1) = src1(i,k); dst0(i,j) = stream(j), dst1(i,j) = stream(V+j)",
    forms: &[TWO],
    rules: rules! {
        ALL Signature "tinterleave-profile", "tinterleave-loc", "tinterleave-layout", "tinterleave-dtype";
        ALL Interleave "tinterleave-shape", "tinterleave-even"; ALL Overlap "overlap";
    },
    sigs: SIGS,
    source: "PTO ISA, TINTERLEAVE page; ops.md 8",
    ids: Ids { profile: Some("tinterleave-profile"), ..ids!("tinterleave") },
    sem: Sem::Moves(sem::interleave),
    ..LAYOUT
};

pub(super) const TDEINTERLEAVE: OpInfo = OpInfo {
    mnemonic: "tdeinterleave",
    cpp: &["TDeInterleave", "TDEINTERLEAVE"],
    summary: "Take an interleaved stream apart: even positions into dst0, odd ones into dst1.",
    formula: "stream = src0 ++ src1; dst0(i,k) = stream(2k), dst1(i,k) = stream(2k+1)",
    forms: &[TWO, form!(OneSource: Src0 => Dst0, Dst1; cpp Dst1, Dst0, Src0)],
    sem: Sem::Moves(sem::deinterleave),
    ..TINTERLEAVE
};
