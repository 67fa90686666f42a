//! Instructions that work on several pipes, one phase after the other (isa/today.md 8.1): the library sets and waits for
//! flags inside.

use super::{Form, Opcode, Pipe, Role};
use crate::inst::{Coalesce, Inst};
use crate::profile::Profiles;
use crate::sem::coalesce;
use crate::tile::Loc;

/// A part of an instruction that runs on one pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    pub pipe: Pipe,
    /// The operands that it reads; each phase is done before the next one starts.
    pub reads: &'static [Role],
    pub writes: &'static [Role],
}

/// The order inside an instruction, and between it and its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    /// In order; none is one phase on the usual pipe.
    pub phases: &'static [Phase],
    /// Flags from a pipe to that of the first phase: everything earlier on it is done before.
    pub before: &'static [Pipe],
    /// Flags from a phase's pipe to another one, behind the last phase.
    pub after: &'static [(Pipe, Pipe)],
    /// The flags that it uses inside, from pipe to pipe with an id; a token of the program's own on one is overwritten.
    pub hidden: &'static [(Pipe, Pipe, u8)],
}

/// The uses of an instruction that have these phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Always,
    Form(Form),
    WithoutTmp,
    /// By rows, into Vec.
    Rows,
    /// Element by element, into Vec.
    Elements,
    /// Element by element, where the destination has one element.
    OneElement,
    RowsIntoMat,
    ElementsIntoMat,
    Integers,
    /// Elements of one byte, in Vec.
    Bytes,
    /// A window inside of Vec of less than 32 bytes in a row.
    SmallWindow,
}

const fn phase(pipe: Pipe, reads: &'static [Role], writes: &'static [Role]) -> Phase {
    Phase { pipe, reads, writes }
}

/// One phase on the usual pipe.
const PLAIN: Phases = Phases { phases: &[], before: &[], after: &[], hidden: &[] };

use Pipe::{Mte2, Mte3, S, V};
use Role::{Cdst, Dst, Global, Idx, IdxView, ScratchView, Src, Tmp};

/// A V instruction that does a part of its work on S (a2a3).
const PARTLY_SCALAR: Phases = Phases { hidden: &[(V, S, 0), (S, V, 0)], ..PLAIN };

/// A row: the instruction, its profiles, its use, and its phases. The first that fits counts.
const TABLE: &[(Opcode, Profiles, When, Phases)] = &[
    (Opcode::Tci, Profiles::ALL, When::WithoutTmp, Phases { phases: &[phase(S, &[], &[Dst])], ..PLAIN }),
    (
        Opcode::Mgather,
        Profiles::NPU,
        When::RowsIntoMat,
        Phases {
            phases: &[phase(S, &[IdxView], &[]), phase(Mte2, &[Global], &[Dst])],
            hidden: &[(S, Mte2, 0)],
            ..PLAIN
        },
    ),
    (
        Opcode::Mgather,
        Profiles::NPU,
        When::ElementsIntoMat,
        Phases {
            phases: &[phase(S, &[IdxView, Global], &[ScratchView]), phase(Mte2, &[ScratchView], &[Dst])],
            hidden: &[(S, Mte2, 0)],
            ..PLAIN
        },
    ),
    (
        Opcode::Mgather,
        Profiles::A2A3,
        When::Rows,
        Phases {
            phases: &[phase(S, &[Idx], &[]), phase(Mte2, &[Global], &[Dst])],
            before: &[V, Mte3],
            after: &[(Mte2, V), (Mte2, Mte3), (S, V), (S, Mte3)],
            hidden: &[(V, S, 0), (Mte3, S, 0), (S, Mte2, 0), (Mte2, V, 0), (Mte2, Mte3, 0), (S, V, 0), (S, Mte3, 0)],
        },
    ),
    (
        Opcode::Mgather,
        Profiles::A2A3,
        When::Elements,
        Phases {
            phases: &[phase(S, &[Idx, Global], &[Dst])],
            before: &[V, Mte3, Mte2],
            after: &[(S, V), (S, Mte2), (S, Mte3)],
            hidden: &[(V, S, 0), (Mte3, S, 0), (Mte2, S, 0), (S, V, 0), (S, Mte2, 0), (S, Mte3, 0)],
        },
    ),
    (
        Opcode::Mgather,
        Profiles::A5,
        When::OneElement,
        Phases {
            phases: &[phase(V, &[Idx], &[]), phase(S, &[Global], &[Dst])],
            hidden: &[(V, S, 0), (S, V, 0)],
            ..PLAIN
        },
    ),
    (
        Opcode::Mscatter,
        Profiles::A2A3,
        When::Rows,
        Phases {
            phases: &[phase(S, &[Idx], &[]), phase(Mte3, &[Src], &[Global])],
            before: &[V, Mte2],
            after: &[(Mte3, V), (Mte3, Mte2)],
            hidden: &[
                (V, S, 0),
                (Mte2, S, 0),
                (S, Mte3, 0),
                (Mte3, S, 0),
                (Mte3, V, 0),
                (Mte3, Mte2, 0),
                (S, V, 0),
                (S, Mte2, 0),
            ],
        },
    ),
    (
        Opcode::Mscatter,
        Profiles::A2A3,
        When::Elements,
        Phases {
            phases: &[phase(S, &[Idx, Src], &[Global])],
            before: &[V, Mte2, Mte3],
            after: &[(S, V), (S, Mte2), (S, Mte3)],
            hidden: &[(V, S, 0), (Mte2, S, 0), (Mte3, S, 0), (S, V, 0), (S, Mte2, 0), (S, Mte3, 0)],
        },
    ),
    (
        Opcode::Tscatter,
        Profiles::A2A3,
        When::Always,
        Phases {
            phases: &[phase(V, &[], &[Dst]), phase(S, &[Src, Idx], &[Dst])],
            after: &[(S, V)],
            hidden: &[(V, S, 0), (S, V, 0)],
            ..PLAIN
        },
    ),
    (
        Opcode::TscatterCols,
        Profiles::A2A3,
        When::Always,
        Phases {
            phases: &[phase(V, &[Src], &[Dst]), phase(S, &[Src], &[Dst])],
            after: &[(S, V)],
            hidden: &[(V, S, 0), (S, V, 0)],
            ..PLAIN
        },
    ),
    (
        Opcode::Tgather,
        Profiles::A2A3,
        When::Form(Form::Compare),
        Phases {
            phases: &[
                phase(V, &[Src], &[Tmp]),
                phase(S, &[], &[Tmp]),
                phase(V, &[Tmp], &[Dst]),
                phase(S, &[], &[Cdst]),
            ],
            hidden: &[(S, V, 0), (V, S, 0)],
            ..PLAIN
        },
    ),
    (Opcode::Tconcat, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Tdequant, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Tdivs, Profiles::A2A3, When::Integers, PARTLY_SCALAR),
    (Opcode::Textract, Profiles::A2A3, When::SmallWindow, PARTLY_SCALAR),
    (Opcode::Tfillpad, Profiles::A2A3, When::Bytes, PARTLY_SCALAR),
    (Opcode::TfillpadInplace, Profiles::A2A3, When::Bytes, PARTLY_SCALAR),
    (Opcode::TfillpadExpand, Profiles::A2A3, When::Bytes, PARTLY_SCALAR),
    (Opcode::Tpow, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Tpows, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Trowexpand, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Trowsum, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Trowprod, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Trowmax, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Trowmin, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Trowargmax, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Trowargmin, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Tsels, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Tshl, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Tshr, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Ttrans, Profiles::A2A3, When::Always, PARTLY_SCALAR),
    (Opcode::Tmrgsort, Profiles::A2A3, When::Always, PARTLY_SCALAR),
];

/// The uses of instructions that have phases, or flags inside: the profiles, the use in the words of isa/today.md 8.1, and
/// what the use has.
pub fn phase_rows() -> impl Iterator<Item = (Opcode, Profiles, &'static str, &'static Phases)> {
    TABLE.iter().map(|(op, on, when, phases)| (*op, *on, when.words(), phases))
}

impl When {
    /// The use in words; empty where the row has one only.
    fn words(self) -> &'static str {
        match self {
            When::Rows => "row",
            When::Elements => "elem",
            When::OneElement => "elem, dst 1 x 1",
            When::RowsIntoMat => "row into Mat",
            When::ElementsIntoMat => "elem into Mat",
            When::Always | When::Form(_) | When::WithoutTmp => "",
            When::Integers | When::Bytes | When::SmallWindow => "some",
        }
    }

    fn holds(self, inst: &Inst) -> bool {
        let src = inst.src().map(|src| &src.tile);
        let into_mat = inst.dst().is_some_and(|dst| dst.tile.loc == Loc::Mat);
        let is = |mode: Coalesce| coalesce(inst) == Some(mode);
        match self {
            When::Always => true,
            When::Form(form) => inst.form == form,
            When::WithoutTmp => inst.tile(Tmp).is_none(),
            // Extents that are not known leave the mode open: rows order less.
            When::Rows => !into_mat && !is(Coalesce::Elem),
            When::Elements => !into_mat && is(Coalesce::Elem),
            When::OneElement => is(Coalesce::Elem) && inst.dst().is_some_and(|dst| dst.valid == [Some(1); 2]),
            When::RowsIntoMat => into_mat && !is(Coalesce::Elem),
            When::ElementsIntoMat => into_mat && is(Coalesce::Elem),
            When::Integers => src.is_some_and(|tile| !tile.elem.is_float()),
            When::Bytes => src.is_some_and(|tile| tile.elem.bits() == 8 && tile.loc == Loc::Vec),
            When::SmallWindow => {
                let is_small =
                    |cols: u64| src.is_some_and(|tile| tile.loc == Loc::Vec && tile.elem.bytes_of(cols) < 32);
                inst.dst().is_some_and(|dst| dst.tile.loc == Loc::Vec && dst.valid[1].is_some_and(is_small))
            }
        }
    }
}

impl Inst {
    /// The phases of the instruction.
    pub fn phases(&self) -> &'static Phases {
        let own = TABLE.iter().filter(|(op, on, ..)| *op == self.op && on.has(self.profile));
        own.map(|(_, _, when, phases)| (when, phases)).find(|(when, _)| when.holds(self)).map_or(&PLAIN, |(_, p)| p)
    }

    /// The pipe of the instruction, or of its last phase.
    pub fn pipe(&self) -> Pipe {
        let usual = || self.op.pipe(self.form, self.profile, self.tiles.iter().map(|t| (t.role, t.tile)));
        self.phases().phases.last().map_or_else(usual, |phase| phase.pipe)
    }
}
