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
        (Role::C2vBuf, "c2v_consumer_buf", true),
        (Role::V2cBuf, "v2c_consumer_buf", true),
    ],
    ..ALONE
};
const LOCAL: PipeText = PipeText { operands: &[(Role::C2vBuf, "c2v", false), (Role::V2cBuf, "v2c", true)], ..MAKES };
const GLOBAL: PipeText = PipeText {
    operands: &[(Role::Global, "gm", false), (Role::C2vBuf, "c2v", false), (Role::V2cBuf, "v2c", true)],
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
const PIPE_FREE: PipeText = PipeText { operands: &[(Role::Pipe, "pipe", false)], ..MOVES };

/// The attributes of `initialize`: those of both forms, and those of the lower one.
const OF_PIPE: &[AttrName] = &[AttrName::DirMask, AttrName::SlotSize, AttrName::NoSplit];
const OF_LOWER: &[AttrName] = &[
    AttrName::DirMask,
    AttrName::SlotSize,
    AttrName::SlotNum,
    AttrName::LocalSlotNum,
    AttrName::FlagBase,
    AttrName::NoSplit,
];

/// A row: mnemonic, meaning, text, attributes, and what it does.
macro_rules! fifo {
    ($mnemonic:literal $sem:expr, $text:expr, $attrs:expr, $summary:literal) => {
        OpInfo {
            mnemonic: $mnemonic,
            summary: $summary,
            sem: Sem::Fifo($sem),
            text: Text::Pipe($text),
            attrs: $attrs,
            ..BASE
        }
    };
}

const SPLIT: &[AttrName] = &[AttrName::PipeSplit];

family! { after memory::END;
    ReserveBuffer => fifo!("reserve_buffer" Fifo::Reserve, MAKES,
        &[AttrName::Name, AttrName::Size, AttrName::Location, AttrName::Auto, AttrName::Base],
        "Memory for the slots of a FIFO, for the whole kernel.");
    ImportReservedBuffer => fifo!("import_reserved_buffer" Fifo::Import, MAKES, &[AttrName::Name, AttrName::PeerFunc],
        "The memory that another function reserved.");
    AicInitializePipe => fifo!("aic_initialize_pipe" Fifo::Initialize(Some(Core::Cube)), INIT, OF_PIPE,
        "The cube core's end of a pipe.");
    AivInitializePipe => fifo!("aiv_initialize_pipe" Fifo::Initialize(Some(Core::Vector)), INIT, OF_PIPE,
        "The vector cores' end of a pipe.");
    InitializeL2lPipe => fifo!("initialize_l2l_pipe" Fifo::Initialize(None), LOCAL, OF_LOWER,
        "An end of a pipe whose slots lie on the chip.");
    InitializeL2g2lPipe => fifo!("initialize_l2g2l_pipe" Fifo::Initialize(None), GLOBAL, OF_LOWER,
        "An end of a pipe whose slots lie in global memory.");
    DeclareTile => fifo!("declare_tile" Fifo::Declare, MAKES, &[], "A tile that a tpop gives its storage.");
    TpushToAiv => fifo!("tpush_to_aiv" Fifo::Push(Some(Dir::C2v)), PUSH, SPLIT,
        "Give a tile to the vector cores; waits for a free slot.");
    TpushToAic => fifo!("tpush_to_aic" Fifo::Push(Some(Dir::V2c)), PUSH, SPLIT,
        "Give a tile to the cube core; waits for a free slot.");
    TpopFromAic => fifo!("tpop_from_aic" Fifo::Pop(Some(Dir::C2v)), POP, SPLIT,
        "Take the next tile from the cube core; waits for it.");
    TpopFromAiv => fifo!("tpop_from_aiv" Fifo::Pop(Some(Dir::V2c)), POP, SPLIT,
        "Take the next tile from the vector cores; waits for it.");
    TfreeFromAic => fifo!("tfree_from_aic" Fifo::Free(Some(Dir::C2v)), MOVES, SPLIT,
        "Give the slot of the oldest popped tile back to the cube core.");
    TfreeFromAiv => fifo!("tfree_from_aiv" Fifo::Free(Some(Dir::V2c)), MOVES, SPLIT,
        "Give the slot of the oldest popped tile back to the vector cores.");
    Tpush => fifo!("tpush" Fifo::Push(None), PIPE_PUSH, SPLIT, "tpush_to_aiv or tpush_to_aic, by the core.");
    Tpop => fifo!("tpop" Fifo::Pop(None), PIPE_POP, SPLIT, "tpop_from_aic or tpop_from_aiv, by the core.");
    Tfree => fifo!("tfree" Fifo::Free(None), PIPE_FREE, SPLIT, "tfree_from_aic or tfree_from_aiv, by the core.");
}
