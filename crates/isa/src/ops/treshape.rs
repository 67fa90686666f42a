//! TRESHAPE (PTO ISA, TRESHAPE page; ops.md 4).

use super::*;

/// The tile stays in its location.
macro_rules! stays {
    ($($loc:ident)*) => {
        &[$(flow!(Profiles::ALL, &[Form::Plain], &[Loc::$loc], &[Loc::$loc], &[ANY], Types::Any, Pipe::S)),*]
    };
}

static SIGS: &[Sig] = stays!(Vec Mat Left Right Acc Bias Scaling ScaleLeft ScaleRight);

pub(super) const TRESHAPE: OpInfo = OpInfo {
    mnemonic: "treshape",
    cpp: &["TRESHAPE"],
    summary: "Reinterpret the same bytes as another tile type: a copy on cpu, a view on a2a3 and a5.",
    formula: "bytes(dst) = bytes(src), over the declared area",
    forms: &[form!(Plain: Src as read_declared => Dst as write_declared)],
    attrs: &[AttrName::Shape],
    rules: rules! {
        ALL Reshape "treshape-loc", "treshape-box", "treshape-bytes", "treshape-shape"; ALL Overlap "overlap";
        ALL ReshapeValid "treshape-valid"; ALL Program "treshape-alias";
    },
    sigs: SIGS,
    source: "PTO ISA, TRESHAPE page; ops.md 4",
    pipe: Pipe::S,
    ids: Ids { loc: Some("treshape-loc"), ..Ids::NONE },
    binds: Some(Bind::Bytes),
    sem: Sem::Moves(sem::reshape),
    examples: &[(Role::Dst, "!pto.tile<32x16xf16>")],
    ..LAYOUT
};
