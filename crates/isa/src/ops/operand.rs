//! Operands: what each is to its instruction, and what the instruction does with it.

use super::{AttrName, Opcode};
use crate::inst::Attrs;
use crate::profile::{Profile, Profiles};
use crate::tile::words;
use std::sync::LazyLock;

words! {
    /// What an operand is to its instruction.
    #[non_exhaustive]
    Role {
        Src = "src", "src", "The only source tile.";
        Src0 = "src0", "src0", "The first of two source tiles.";
        Src1 = "src1", "src1", "The second of two source tiles.";
        Src2 = "src2", "src2", "The third of three source tiles.";
        Mask = "mask", "mask", "A tile of bits, one for each element.";
        Dst = "dst", "dst", "The only destination tile.";
        Dst0 = "dst0", "dst0", "The first of two destination tiles.";
        Dst1 = "dst1", "dst1", "The second of two destination tiles.";
        DstVal = "dst_val", "dstVal", "The values that belong to a destination of indices.";
        Tmp = "tmp", "tmp", "A scratch tile.";
        Fp = "fp", "fp", "A Scaling tile of quantization parameters.";
        Quant = "preQuantScalar", "preQuantScalar", "A scalar quantization parameter.";
        Fill = "fill", "fp", "A scalar fill value.";
        LeftPadding = "left_padding_num", "leftPaddingNum", "Elements of padding before a row.";
        RightPadding = "right_padding_num", "rightPaddingNum", "Elements of padding after a row.";
        InitCondition = "init_condition", "initCondition", "Whether the padding is filled.";
        Row = "row", "indexRow", "Row index of the window.";
        Col = "col", "indexCol", "Column index of the window.";
        Row1 = "row1", "indexRow1", "Row index of the second window.";
        Col1 = "col1", "indexCol1", "Column index of the second window.";
        A = "a", "a", "The left matrix operand.";
        B = "b", "b", "The right matrix operand.";
        Acc = "acc", "acc", "The accumulator that a product is added to.";
        Bias = "bias", "bias", "The row that a product is added to.";
        AScale = "a_scale", "aScale", "Scales of the left operand, one for each 32 columns of a row.";
        BScale = "b_scale", "bScale", "Scales of the right operand, one for each 32 rows of a column.";
        Idx = "idx", "idx", "A tile of indices.";
        Idx0 = "idx0", "idx0", "Byte counts of the first source's columns, per row.";
        Idx1 = "idx1", "idx1", "Byte counts of the second source's columns, per row.";
        DstIdx = "dstIdx", "dstIdx", "Indices that belong to the values of dst, or byte counts of joined columns.";
        PosM = "posM", "posM", "First output position of TIMG2COL.";
        PosK = "posK", "posK", "First kernel position of TIMG2COL.";
        Tile = "tile", "tile", "A tile an instruction only names (alloc, assign, print).";
        Addr = "addr", "addr", "A byte address.";
        ValidRow = "valid_row", "validRow", "A run-time valid extent, rows.";
        ValidCol = "valid_col", "validCol", "A run-time valid extent, columns.";
        Global = "global", "global", "A pointer, view or memref.";
        Number = "number", "number", "An element offset, index, extent or stride of global memory.";
        Scalar = "scalar", "scalar", "A scalar that is stored, or that every element meets.";
        Src3 = "src3", "src3", "The fourth of four source tiles.";
        Src0Idx = "src0Idx", "src0Idx", "Indices that belong to the values of src0.";
        Src1Idx = "src1Idx", "src1Idx", "Indices that belong to the values of src1.";
        Offset = "offset", "offset", "A tile of offsets, one for each row.";
        Scale = "scale", "scale", "A tile of scales, one for each row.";
        Cdst = "cdst", "cdst", "How many matches each row has.";
        Executed = "executed", "executed", "How many records were taken from each list.";
        Key0 = "key0", "key0", "The low word of a key.";
        Key1 = "key1", "key1", "The high word of a key.";
        Counter0 = "counter0", "counter0", "The lowest word of a counter.";
        Counter1 = "counter1", "counter1", "The second word of a counter.";
        Counter2 = "counter2", "counter2", "The third word of a counter.";
        Counter3 = "counter3", "counter3", "The highest word of a counter.";
        Index = "index", "index", "The place of an element in storage order.";
        Value = "value", "value", "A scalar that is read out of a tile.";
        Init = "init", "init", "The old contents of an SSA result.";
        Exp = "exp", "exp", "The shared exponent of each group.";
        Max = "max", "max", "The largest magnitude of each group.";
        Scaling = "scaling", "scaling", "What the elements of each group are multiplied by.";
        ExpZz = "exp_zz", "expZZ", "The exponents in the order in which the matrix unit reads them.";
        IdxView = "idx_view", "idx", "Indices in global memory.";
        ScratchView = "scratch", "scratch", "Scratch in global memory.";
        SlotView = "gm_slot_tensor", "gmSlotTensor", "A slot of a FIFO in global memory (isa/today.md 7.2).";
        C2vBuf = "c2v_consumer_buf", "c2vConsumerBuf", "Where the vector cores have the slots of a FIFO.";
        V2cBuf = "v2c_consumer_buf", "v2cConsumerBuf", "Where the cube core has the slots of a FIFO.";
        Pipe = "pipe", "pipe", "The FIFOs between the cores of a block.";
        DstView = "dst", "dst", "A view that is written, of whatever rank.";
        SrcView = "src", "src", "A view that is read, of whatever rank.";
        Signal = "signal", "signal", "Words that ranks notify and wait for.";
        Member = "group", "group", "The view of a member of a group of ranks.";
        Ping = "ping", "ping", "A tile through which bytes pass.";
        Pong = "pong", "pong", "A second tile through which bytes pass.";
        Workspace = "workspace", "workspace", "Memory that asynchronous transfers work with.";
        Session = "session", "session", "A session of asynchronous transfers.";
        AsyncEvent = "event", "event", "A copy that was started.";
    }
}

/// What kind of value an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Tile,
    Conv,
    /// A scalar of type index or integer.
    Index,
    /// A scalar of 64 bits.
    Quant,
    /// A scalar of the element type.
    Fill,
    Counts,
    /// The FIFOs between cores.
    Pipe,
    /// A session of asynchronous transfers, or one of them.
    Async,
}

impl Role {
    /// The kind of value that plays the role.
    pub const fn kind(self) -> Kind {
        match self {
            Role::Quant => Kind::Quant,
            Role::Fill | Role::Scalar | Role::Value | Role::InitCondition | Role::Key0 | Role::Key1 => Kind::Fill,
            Role::Counter0 | Role::Counter1 | Role::Counter2 | Role::Counter3 => Kind::Fill,
            Role::Executed => Kind::Counts,
            Role::Pipe => Kind::Pipe,
            Role::Session | Role::AsyncEvent => Kind::Async,
            Role::C2vBuf | Role::V2cBuf => Kind::Index,
            Role::Row | Role::Col | Role::Row1 | Role::Col1 | Role::PosM | Role::PosK => Kind::Index,
            Role::Addr | Role::ValidRow | Role::ValidCol | Role::Number | Role::Index => Kind::Index,
            Role::LeftPadding | Role::RightPadding => Kind::Index,
            _ => Kind::Tile,
        }
    }

    /// Whether it is a view of global memory.
    pub const fn is_view(self) -> bool {
        matches!(self, Role::Global | Role::IdxView | Role::ScratchView | Role::SlotView) || self.is_shared()
    }

    /// Whether it is a view through which ranks communicate.
    pub const fn is_shared(self) -> bool {
        matches!(self, Role::DstView | Role::SrcView | Role::Signal | Role::Member | Role::Workspace)
    }

    /// The array that C++ gives it in, beside others (cpp.md 6.2).
    pub const fn array(self) -> Option<&'static str> {
        match self {
            Role::Key0 | Role::Key1 => Some("TRandomKey"),
            Role::Counter0 | Role::Counter1 | Role::Counter2 | Role::Counter3 => Some("TRandomCounter"),
            _ => None,
        }
    }

    /// May assembly write it in brackets behind the source? The place of one element is an ordinary operand
    /// (isa/notes.md).
    pub fn in_brackets(self) -> bool {
        self.kind() == Kind::Index && self != Role::Index
    }

    /// Does the name say that it is a destination?
    pub fn is_dst(self) -> bool {
        use Role::{Cdst, Dst, Dst0, Dst1, DstIdx, DstVal, Executed, Exp, ExpZz, Max, Scaling};
        matches!(self, Dst | Dst0 | Dst1 | DstVal | DstIdx | Cdst | Executed | Exp | Max | Scaling | ExpZz)
    }
}

/// What an instruction does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    Read,
    /// Writes it; what the formula does not name keeps its bits.
    Write,
    /// Reads it and writes it.
    ReadWrite,
    Scratch,
    /// Makes it another name of its source's storage; moves nothing.
    View,
    /// Does nothing with it: scratch that the profile does not need.
    Unused,
}

/// How much of an operand an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    Valid,
    /// All of the declared area.
    Declared,
    /// As much as the sources hold together.
    Sources,
    /// A part; the rest is kept.
    Part,
}

/// An operand of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// What it is to the instruction.
    pub role: Role,
    /// What the instruction does with it.
    pub effect: Effect,
    /// May it be left out?
    pub optional: bool,
    /// How much of it is written, where it is.
    pub covers: Covers,
    /// The profiles on which its valid region counts; elsewhere a dynamic one need not be set (`valid-unset`).
    pub valid: Profiles,
    /// The profiles on which it is touched at all: some scratch is asked for in text and not used.
    pub used: Profiles,
    /// Does text write it as `word = %v : T` behind the attributes?
    pub is_worded: bool,
    /// Does only the DPS form write it (isa/irregular.md 9)?
    pub dps_only: bool,
    /// The profiles on which it may share storage with the destination, scratch though it is (isa/today.md 5.4).
    pub over_dst: Profiles,
}

impl Operand {
    /// Do signatures judge it? Scratch has a rule of its own.
    pub const fn is_judged(&self) -> bool {
        !matches!(self.effect, Effect::Scratch) && matches!(self.role.kind(), Kind::Tile)
    }

    /// Is it touched on a profile? TCOLSUM's scratch is on a5 where it adds in pairs (isa/reduce.md 4).
    pub fn is_used(&self, profile: Profile, attrs: &Attrs) -> bool {
        self.used.has(profile) || attrs.is_binary()
    }

    /// The word that stands before it, where one does.
    pub fn word(&self) -> Option<&'static str> {
        let word = if self.role == Role::Fill { "pad_value" } else { self.role.name() };
        self.is_worded.then_some(word)
    }

    const fn new(role: Role, effect: Effect) -> Operand {
        Operand {
            role,
            effect,
            optional: false,
            covers: Covers::Valid,
            valid: Profiles::ALL,
            used: Profiles::ALL,
            is_worded: false,
            dps_only: false,
            over_dst: Profiles::NONE,
        }
    }

    pub(super) const fn covers(self, covers: Covers) -> Operand {
        Operand { covers, ..self }
    }

    pub(super) const fn valid_on(self, valid: Profiles) -> Operand {
        Operand { valid, ..self }
    }
}

pub(super) const fn read(role: Role) -> Operand {
    Operand::new(role, Effect::Read)
}
/// Read by its declared shape.
pub(super) const fn read_declared(role: Role) -> Operand {
    read(role).valid_on(Profiles::NONE)
}
pub(super) const fn write(role: Role) -> Operand {
    Operand::new(role, Effect::Write)
}
/// Written in part.
pub(super) const fn write_part(role: Role) -> Operand {
    write(role).covers(Covers::Part)
}
/// Written in a window, wherever the valid region is.
pub(super) const fn write_window(role: Role) -> Operand {
    write_part(role).valid_on(Profiles::NONE)
}
/// Written as far as the sources go.
pub(super) const fn write_sources(role: Role) -> Operand {
    write(role).covers(Covers::Sources)
}
/// Written inside and outside of its valid region.
pub(super) const fn write_all(role: Role) -> Operand {
    write(role).covers(Covers::Declared)
}
/// Written in its declared area.
pub(super) const fn write_declared(role: Role) -> Operand {
    write_all(role).valid_on(Profiles::NONE)
}
/// Another name of its source's storage.
pub(super) const fn view(role: Role) -> Operand {
    Operand::new(role, Effect::View).covers(Covers::Declared).valid_on(Profiles::NONE)
}
pub(super) const fn scratch(role: Role) -> Operand {
    Operand::new(role, Effect::Scratch).valid_on(Profiles::NONE)
}
/// Written on top of what is there.
pub(super) const fn update(role: Role) -> Operand {
    Operand::new(role, Effect::ReadWrite)
}
/// A scalar that may be left out, behind its word.
pub(super) const fn worded(role: Role) -> Operand {
    Operand { optional: true, is_worded: true, ..read(role) }
}
/// Scratch that may be left out, used on cpu and a2a3 (isa/notes.md).
pub(super) const fn optional_scratch(role: Role) -> Operand {
    Operand { optional: true, used: Profiles::CPU_A2A3, ..scratch(role) }
}
/// Read, where hardware may also change the padding.
pub(super) const fn read_narrowly(role: Role) -> Operand {
    read(role)
}
/// Written in part, where it is given.
pub(super) const fn optional_part(role: Role) -> Operand {
    Operand { optional: true, ..write_part(role).valid_on(Profiles::NONE) }
}
/// Scratch that is always given, and used everywhere.
pub(super) const fn staged(role: Role) -> Operand {
    scratch(role)
}
/// Scratch in global memory, where it is given.
pub(super) const fn optional_view(role: Role) -> Operand {
    optional(role)
}
/// Scratch of a form of its own, used on cpu and a2a3.
pub(super) const fn counted_scratch(role: Role) -> Operand {
    Operand { optional: false, ..optional_scratch(role) }
}
/// Read where it is given.
pub(super) const fn optional(role: Role) -> Operand {
    Operand { optional: true, ..read(role) }
}
/// Scratch that may be left out, used on every profile.
pub(super) const fn scratch_everywhere(role: Role) -> Operand {
    Operand { optional: true, ..scratch(role) }
}
/// Scratch that may be left out, and that only the DPS form writes.
pub(super) const fn scratch_in_dps(role: Role) -> Operand {
    Operand { dps_only: true, ..optional_scratch(role) }
}
/// Scratch among the destinations.
pub(super) const fn scratch_out(role: Role) -> Operand {
    Operand { optional: false, dps_only: true, ..optional_scratch(role) }
}
/// Scratch that may be left out, used on a2a3 only (isa/elementwise.md 6).
pub(super) const fn scratch_a2a3(role: Role) -> Operand {
    Operand { used: Profiles::A2A3, ..optional_scratch(role) }
}

/// The same, where it may be the destination's storage.
pub(super) const fn scratch_in_dst(role: Role) -> Operand {
    Operand { over_dst: Profiles::A2A3, ..scratch_a2a3(role) }
}

/// The same, where hardware asks for valid extents of it.
pub(super) const fn measured_scratch(role: Role) -> Operand {
    scratch_a2a3(role).valid_on(Profiles::A2A3)
}

words! {
    /// How an instruction is used: which variant of its formula.
    #[non_exhaustive]
    Form {
        Plain = "plain", "", "As is.";
        ScalarQuant = "scalar quant", "", "With a scalar quantization parameter.";
        VectorQuant = "vector quant", "", "With a Scaling tile of parameters.";
        Fill = "fill", "", "With a fill value for the padding (ops.md 3.4), or a fill value as the only source (ops.md 6).";
        Tmp = "tmp", "", "With a scratch tile.";
        Indexed = "indexed", "", "With index tiles.";
        IndexedOut = "indexed, counts out", "", "With index tiles in and out.";
        TwoWindows = "two windows", "", "Two windows of one source.";
        OneSource = "one source", "", "One source instead of two.";
        NoIndex = "no index", "", "Row and column left out.";
        ScalarFirst = "scalar first", "", "The scalar before the tile.";
        Window = "window", "", "With a window of a view.";
        Valued = "with values", "", "With a second destination for values.";
        Compare = "compare", "", "What matches a value is picked.";
        Mask = "mask", "", "What a pattern names is picked.";
        InMemory = "indices in memory", "", "With indices in global memory.";
        Blocks = "blocks", "", "Blocks of one tile.";
        Lists = "lists", "", "Several tiles, each one list.";
        ListsTmpOut = "lists, tmp in outs", "", "Several tiles, with scratch among the destinations.";
    }
}

/// One form: its operands in text order. What is written stands in `outs`.
#[derive(Debug)]
pub struct FormInfo {
    pub form: Form,
    /// Operands that are read, in text order.
    pub ins: &'static [Operand],
    /// Operands that are written, in text order.
    pub outs: &'static [Operand],
    /// The arguments of the C++ intrinsic, where they are not `outs` and then `ins`.
    pub cpp: &'static [Role],
    /// The operands whose types are the first template arguments of the intrinsic, where that is another order; the type of
    /// a scalar is one only if it is named here.
    pub named: &'static [Role],
    /// The C++ types of scalars that are no elements.
    pub typed: &'static [(Role, &'static str)],
    /// Is the intrinsic written by hand? It is then one with choices that only C++ has (cpp.md 6.6).
    pub by_hand: bool,
    /// The attributes that intrinsics of the form take, where those are not all of the row's.
    pub attrs: Option<&'static [AttrName]>,
    /// What it computes, where that is not the row's formula.
    pub formula: Option<&'static str>,
    /// Types of operands with which the form is legal, where they are not the row's.
    pub examples: &'static [(Role, &'static str)],
}

impl FormInfo {
    /// The operands that signatures judge together, in text order.
    pub fn judged(&self) -> impl Iterator<Item = Role> {
        self.operands().filter(|o| o.is_judged()).map(|o| o.role)
    }

    /// All operands, in text order.
    pub fn operands(&self) -> impl Iterator<Item = &'static Operand> {
        self.ins.iter().chain(self.outs)
    }

    /// The operand with this role.
    pub fn operand(&self, role: Role) -> Option<&'static Operand> {
        self.operands().find(|o| o.role == role)
    }

    /// The operands among these whose types are template arguments of the C++ intrinsic, in order.
    pub fn cpp_types(&self, given: &[Role]) -> Vec<Role> {
        let named = self.named.iter().filter(|r| given.contains(r));
        named.chain(given.iter().filter(|r| r.kind() == Kind::Tile && !self.named.contains(r))).copied().collect()
    }

    /// The arguments of the C++ intrinsic, in order.
    pub fn cpp_order(&self) -> Vec<Role> {
        match self.cpp {
            [] => self.outs.iter().chain(self.ins).map(|o| o.role).collect(),
            order => order.to_vec(),
        }
    }

    /// The roles of the operands that are written.
    pub fn out_roles(&self) -> impl Iterator<Item = Role> + Clone {
        self.outs.iter().map(|o| o.role)
    }
}

/// A form with its optional operands decided: what is written in one line of text. Those left out come last.
#[derive(Debug)]
pub struct Shape {
    pub form: Form,
    /// What is read, in text order.
    pub ins: Vec<Role>,
    /// What is written, in text order.
    pub outs: Vec<Role>,
    /// Has it an operand that only the DPS form can name?
    pub dps_only: bool,
}

impl Shape {
    /// The arguments of the C++ intrinsic, in order.
    pub fn arguments(&self, form: &FormInfo) -> Vec<Role> {
        form.cpp_order().into_iter().filter(|r| self.ins.contains(r) || self.outs.contains(r)).collect()
    }

    /// Has the other one the same operands, in whatever order?
    pub fn same_roles(&self, other: &Shape) -> bool {
        let sides = [(&self.ins, &other.ins), (&self.outs, &other.outs)];
        sides.iter().all(|(a, b)| a.len() == b.len() && a.iter().all(|role| b.contains(role)))
    }
}

pub(super) static SHAPES: LazyLock<Vec<Vec<Shape>>> = LazyLock::new(|| {
    let of = |op: &Opcode| {
        let mut shapes = Vec::new();
        for form in op.info().forms {
            // Those behind a word are told by it, and have no place among the others.
            let optional = form.operands().filter(|o| o.optional && !o.is_worded).count() as u32;
            for left_out in 0..1u32 << optional {
                let mut bit = 0;
                let mut given = |o: &&Operand| {
                    bit += u32::from(o.optional && !o.is_worded);
                    !o.is_worded && (!o.optional || left_out & (1 << (bit - 1)) == 0)
                };
                let ins: Vec<Role> = form.ins.iter().filter(&mut given).map(|o| o.role).collect();
                let outs: Vec<Role> = form.outs.iter().filter(&mut given).map(|o| o.role).collect();
                let dps_only = form.operands().any(|o| o.dps_only && (ins.contains(&o.role) || outs.contains(&o.role)));
                let shape = Shape { form: form.form, ins, outs, dps_only };
                // Lists are numbered without a gap.
                if !shape.ins.contains(&Role::Src3) || shape.ins.contains(&Role::Src2) {
                    shapes.push(shape);
                }
            }
        }
        shapes
    };
    Opcode::WITH_CPP.iter().map(of).collect()
});

/// A form: its name, what it reads, what it writes. Roles are read and written unless an effect is named.
macro_rules! form {
    ($form:ident: $($in:ident $(as $effect:ident)?),* => $($out:ident $(as $out_effect:ident)?),* $(; cpp $($arg:ident),*)? $(; named $($named:ident),*)?
     $(; typed $($scalar:ident $ty:literal),*)? $(; by_hand $hand:ident)? $(; attrs $($attr:ident),*)? $(; formula $formula:literal)? $(; with $($of:ident $text:literal),*)?) => {
        FormInfo {
            form: Form::$form,
            ins: &[$(form!(@ read $in $($effect)?)),*],
            outs: &[$(form!(@ write $out $($out_effect)?)),*],
            cpp: &[$($(Role::$arg),*)?],
            named: &[$($(Role::$named),*)?],
            typed: &[$($((Role::$scalar, $ty)),*)?],
            by_hand: form!(@ hand $($hand)?),
            attrs: form!(@ attrs $([$($attr)*])?),
            formula: form!(@ formula $($formula)?),
            examples: &[$($((Role::$of, $text)),*)?],
        }
    };
    (@ hand) => { false };
    (@ hand cpp) => { true };
    (@ formula) => { None };
    (@ formula $text:literal) => { Some($text) };
    (@ attrs) => { None };
    (@ attrs [$($attr:ident)*]) => { Some(&[$(AttrName::$attr),*]) };
    (@ $usual:ident $role:ident) => { $usual(Role::$role) };
    (@ $usual:ident $role:ident $effect:ident) => { $effect(Role::$role) };
}
pub(super) use form;
