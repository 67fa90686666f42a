//! FIFOs between the cube core and the vector cores of a block (isa/structure.md 5 and 6).

use super::*;
use crate::sem::{Core, Dir, Fifo};

/// What the rows here share.
const BASE: OpInfo = OpInfo { family: Family::Support, pipe: Pipe::S, source: "isa/structure.md 5 and 6", ..LAYOUT };

/// No operands; attributes, and maybe a result.
const ALONE: PipeText = PipeText { attrs_first: true, worded: false, operands: &[], has_result: false };
const MAKES: PipeText = PipeText { has_result: true, ..ALONE };
const INIT: PipeText = PipeText {
    worded: true,
    operands: &[
        (Role::Global, "gm_slot_buffer", true),
        (Role::SlotView, "gm_slot_tensor", true),
        (Role::C2vBuf, "c2v_consumer_buf", true),
        (Role::V2cBuf, "v2c_consumer_buf", true),
    ],
    ..ALONE
};
const LOCAL: PipeText = PipeText { operands: &[(Role::C2vBuf, "c2v", false), (Role::V2cBuf, "v2c", true)], ..MAKES };
const GLOBAL: PipeText = PipeText {
    operands: &[(Role::Global, "gm", false), (Role::C2vBuf, "c2v", true), (Role::V2cBuf, "v2c", true)],
    ..MAKES
};
/// Operands come first where tiles move.
const MOVES: PipeText = PipeText { attrs_first: false, ..ALONE };
const PUSH: PipeText = PipeText { operands: &[(Role::Src, "tile", false)], ..MOVES };
const POP: PipeText = PipeText {
    operands: &[(Role::ValidRow, "valid_row", true), (Role::ValidCol, "valid_col", true)],
    has_result: true,
    ..MOVES
};
const PIPE_PUSH: PipeText = PipeText { operands: &[(Role::Src, "tile", false), (Role::Pipe, "pipe", false)], ..MOVES };
const PIPE_POP: PipeText = PipeText { operands: &[(Role::Tile, "tile", false), (Role::Pipe, "pipe", false)], ..MOVES };
/// A free may name the view whose slot it frees (isa/today.md 7.2).
const FREE: PipeText = PipeText { operands: &[(Role::Global, "entry", true)], ..MOVES };
const PIPE_FREE: PipeText =
    PipeText { operands: &[(Role::Global, "entry", true), (Role::Pipe, "pipe", false)], ..MOVES };
/// The parameter by which pushes quantize.
const SCALAR: PipeText = PipeText { operands: &[(Role::Scalar, "scalar", false)], ..MOVES };
const VECTOR: PipeText = PipeText { operands: &[(Role::Fp, "fp", false)], ..MOVES };
/// Where views of slots go through a pipe.
const ALLOC: PipeText = PipeText { has_result: true, ..MOVES };
const PIPE_ALLOC: PipeText =
    PipeText { operands: &[(Role::Global, "entry", false), (Role::Pipe, "pipe", false)], ..MOVES };

/// The attributes of `initialize`: those of both forms, and those of the lower one.
const OF_PIPE: &[AttrName] = &[
    AttrName::PipeId,
    AttrName::DirMask,
    AttrName::SlotSize,
    AttrName::SlotNum,
    AttrName::LocalSlotNum,
    AttrName::NoSplit,
    AttrName::AccPushEpilogue,
];
const OF_LOWER: &[AttrName] = &[
    AttrName::PipeId,
    AttrName::DirMask,
    AttrName::SlotSize,
    AttrName::SlotNum,
    AttrName::LocalSlotNum,
    AttrName::FlagBase,
    AttrName::NoSplit,
    AttrName::AccPushEpilogue,
];

/// A row: mnemonic, meaning, text, attributes, what it does, and the rules that can refuse it.
macro_rules! fifo {
    ($mnemonic:literal $sem:expr, $text:expr, $attrs:expr, $summary:literal, $rules:expr) => {
        OpInfo {
            mnemonic: $mnemonic,
            summary: $summary,
            sem: Sem::Fifo($sem),
            text: Text::Pipe($text),
            attrs: $attrs,
            rules: $rules,
            ..BASE
        }
    };
}

/// The same for views of slots.
macro_rules! entry {
    ($($row:tt)*) => { OpInfo { source: "isa/today.md 7.2", ..fifo!($($row)*) } };
}

const ALLOCS: &[RuleUse] = rules! {
    ALL Program "fifo-init", "fifo-kind", "fifo-entry", "fifo-split"; ALL AtRun "deadlock";
};
const QUANTS: &[RuleUse] = rules! {
    ALL Program "fifo-init", "fifo-kind", "fifo-quant"; ALL AtRun "quant-scale";
};
const PUSHES: &[RuleUse] = rules! {
    ALL Program "fifo-init", "fifo-kind", "fifo-entry", "fifo-quant", "fifo-slot", "fifo-split", "fifo-shape", "acc-mode-split", "fifo-type";
    ALL AtRun "deadlock", "fifo-leak", "undefined-read";
};
const POPS: &[RuleUse] = rules! {
    ALL Program "fifo-init", "fifo-kind", "fifo-slot", "fifo-split", "fifo-shape", "fifo-type", "fifo-valid", "fifo-write";
    ALL AtRun "deadlock", "fifo-use-after-free"; A5 AtRun "fifo-unfreed";
};
const FREES: &[RuleUse] = rules! {
    ALL Program "fifo-init", "fifo-kind", "fifo-free";
};
const INITS: &[RuleUse] = rules! {
    ALL Program "fifo-init", "fifo-kind", "fifo-peer", "fifo-size"; A2A3 Program "fifo-gm";
};
const SPLIT: &[AttrName] = &[AttrName::PipeId, AttrName::PipeSplit];

family! { after memory::END;
    ReserveBuffer => fifo!("reserve_buffer" Fifo::Reserve, MAKES,
        &[AttrName::Name, AttrName::Size, AttrName::Location, AttrName::Auto, AttrName::Base],
        "Memory for the slots of a FIFO, for the whole kernel.", rules![ALL Program "fifo-size";]);
    ImportReservedBuffer => fifo!("import_reserved_buffer" Fifo::Import, MAKES, &[AttrName::Name, AttrName::PeerFunc],
        "The memory that another function reserved.", rules![ALL Program "fifo-peer";]);
    AicInitializePipe => fifo!("aic_initialize_pipe" Fifo::Initialize(Some(Core::Cube)), INIT, OF_PIPE,
        "The cube core's end of a pipe.", INITS);
    AivInitializePipe => fifo!("aiv_initialize_pipe" Fifo::Initialize(Some(Core::Vector)), INIT, OF_PIPE,
        "The vector cores' end of a pipe.", INITS);
    InitializeL2lPipe => fifo!("initialize_l2l_pipe" Fifo::Initialize(None), LOCAL, OF_LOWER,
        "An end of a pipe whose slots lie on the chip.", INITS);
    InitializeL2g2lPipe => fifo!("initialize_l2g2l_pipe" Fifo::Initialize(None), GLOBAL, OF_LOWER,
        "An end of a pipe whose slots lie in global memory.", INITS);
    DeclareTile => fifo!("declare_tile" Fifo::Declare, MAKES, &[], "A tile that a tpop gives its storage.", &[]);
    TpushToAiv => fifo!("tpush_to_aiv" Fifo::Push(Some(Dir::C2v)), PUSH, SPLIT,
        "Give a tile to the vector cores; waits for a free slot.", PUSHES);
    TpushToAic => fifo!("tpush_to_aic" Fifo::Push(Some(Dir::V2c)), PUSH, SPLIT,
        "Give a tile to the cube core; waits for a free slot.", PUSHES);
    TpopFromAic => fifo!("tpop_from_aic" Fifo::Pop(Some(Dir::C2v)), POP, SPLIT,
        "Take the next tile from the cube core; waits for it.", POPS);
    TpopFromAiv => fifo!("tpop_from_aiv" Fifo::Pop(Some(Dir::V2c)), POP, SPLIT,
        "Take the next tile from the vector cores; waits for it.", POPS);
    TfreeFromAic => fifo!("tfree_from_aic" Fifo::Free(Some(Dir::C2v)), FREE, SPLIT,
        "Give the slot of the oldest popped tile back to the cube core.", FREES);
    TfreeFromAiv => fifo!("tfree_from_aiv" Fifo::Free(Some(Dir::V2c)), FREE, SPLIT,
        "Give the slot of the oldest popped tile back to the vector cores.", FREES);
    Tpush => fifo!("tpush" Fifo::Push(None), PIPE_PUSH, SPLIT, "tpush_to_aiv or tpush_to_aic, by the core.", PUSHES);
    Tpop => fifo!("tpop" Fifo::Pop(None), PIPE_POP, SPLIT, "tpop_from_aic or tpop_from_aiv, by the core.", POPS);
    Tfree => fifo!("tfree" Fifo::Free(None), PIPE_FREE, SPLIT, "tfree_from_aic or tfree_from_aiv, by the core.", FREES);
    TallocToAiv => entry!("talloc_to_aiv" Fifo::Alloc(Some(Dir::C2v)), ALLOC, SPLIT,
        "The view of the next slot for the vector cores; waits until it is free.", ALLOCS);
    TallocToAic => entry!("talloc_to_aic" Fifo::Alloc(Some(Dir::V2c)), ALLOC, SPLIT,
        "The view of the next slot for the cube core; waits until it is free.", ALLOCS);
    Talloc => entry!("talloc" Fifo::Alloc(None), PIPE_ALLOC, SPLIT, "talloc_to_aiv or talloc_to_aic, by the core.", ALLOCS);
    DeclareGlobal => entry!("declare_global" Fifo::DeclareView, MAKES, &[],
        "A view that a talloc or a tpop makes one of a slot.", &[]);
    SetQuantScalar => OpInfo { source: "isa/today.md 6.10 and 7.3", ..fifo!("set_quant_scalar" Fifo::SetQuant, SCALAR,
        &[AttrName::PipeId], "The factor by which the pushes that follow quantize.", QUANTS) };
    SetQuantVector => OpInfo { source: "isa/today.md 6.10 and 7.3", ..fifo!("set_quant_vector" Fifo::SetQuant, VECTOR,
        &[AttrName::PipeId], "The factors, one for each column, by which the pushes that follow quantize.", QUANTS) };
}
