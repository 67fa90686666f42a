//! Order between pipes and between cores (sync.md 2 and 5): what an instruction does to it, the words that name pipes, and
//! which pipes finish in the order in which they start.

use super::{AttrName, Effect, Form, Judged, OpInfo, Opcode, Pipe, Role, sig};
use crate::inst::Attrs;
use crate::profile::Profile;
use crate::sem::{Dir, Fifo, Sem};
use crate::tile::Loc;
use smallvec::SmallVec;

/// What an instruction does to the order of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// A token for a flag, once everything earlier on its first pipe is done.
    Set,
    /// What is later on the flag's second pipe starts after it takes a token.
    Wait,
    /// A set whose pipes are those of operation classes; nothing where they are equal.
    Record,
    /// A wait whose pipes are those of operation classes; a barrier where they are equal.
    Await,
    Barrier,
    /// Waits for events.
    Events,
    /// Takes a buffer's token.
    Take,
    /// Gives a buffer's token back.
    Release,
    /// A token for another core.
    CoreSet,
    /// Takes a token of another core.
    CoreWait,
    /// All cores of some kinds arrive, then all go on (isa/comm.md 7).
    Meet,
    /// What moves data is done before what is later; a vector core's other pipes too (isa/today.md 8.1).
    Fence,
    /// Lines of the cache of S are written back and forgotten (isa/comm.md 5).
    Cache,
    Nothing,
}

impl Order {
    /// Does a process that reaches it order its pipes itself (sync.md 3)?
    pub const fn is_manual(self) -> bool {
        !matches!(self, Order::CoreSet | Order::CoreWait | Order::Meet | Order::Fence | Order::Cache | Order::Nothing)
    }
}

/// What is done with a small array of ids of flags (sync.md 2), a local array or a struct (isa/today.md 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdArray {
    /// A new array.
    Declare,
    /// The element at a place.
    Get,
    /// Puts an element there.
    Set,
}

impl IdArray {
    /// What an instruction of this name does with one.
    ///
    /// ```
    /// use tessera_isa::ops::IdArray;
    /// assert_eq!(IdArray::parse("eventid_array_get"), Some(IdArray::Get));
    /// ```
    pub fn parse(name: &str) -> Option<IdArray> {
        match name {
            "declare_eventid_array" | "declare_local_array" | "declare_struct" => Some(IdArray::Declare),
            "eventid_array_get" | "local_array_get" | "struct_get" => Some(IdArray::Get),
            "eventid_array_set" | "local_array_set" | "struct_set" => Some(IdArray::Set),
            _ => None,
        }
    }
}

/// What a word of an order operation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ordered {
    One(Pipe),
    All,
}

/// The operation classes under both of their names, by pipe (sync.md 2).
const CLASSES: &[(&str, Pipe)] = &[
    ("TLOAD", Pipe::Mte2),
    ("TSTORE_VEC", Pipe::Mte3),
    ("TSTORE_ACC", Pipe::Fix),
    ("TMOV_M2L", Pipe::Mte1),
    ("TMOV_M2B", Pipe::Mte1),
    ("TMOV_M2S", Pipe::Fix),
    ("TMOV_V2M", Pipe::Fix),
    ("TMOV_M2V", Pipe::V),
    ("TVEC", Pipe::V),
    ("TVECWAIT_EVENT", Pipe::V),
    ("TMATMUL", Pipe::M),
    ("EVENT_LOAD_FROM_GM", Pipe::Mte2),
    ("EVENT_STORE_FROM_VEC", Pipe::Mte3),
    ("EVENT_STORE_FROM_ACC", Pipe::Fix),
    ("EVENT_MOVE_MAT_TO_LEFT", Pipe::Mte1),
    ("EVENT_MOVE_MAT_TO_BIAS", Pipe::Mte1),
    ("EVENT_MOVE_MAT_TO_SCALAR", Pipe::Fix),
    ("EVENT_MOVE_VEC_TO_MAT", Pipe::Fix),
    ("EVENT_MOVE_MAT_TO_VEC", Pipe::V),
    ("EVENT_COMPUTE_VEC", Pipe::V),
    ("EVENT_VEC_WAITPOINT", Pipe::V),
    ("EVENT_COMPUTE_MATMUL", Pipe::M),
];

impl Ordered {
    /// What a word means: `PIPE_V`, `PIPE_ALL`, or an operation class.
    ///
    /// ```
    /// use tessera_isa::ops::{Ordered, Pipe};
    /// assert_eq!(Ordered::parse("PIPE_MTE2"), Some(Ordered::One(Pipe::Mte2)));
    /// assert_eq!(Ordered::parse("TSTORE_ACC"), Some(Ordered::One(Pipe::Fix)));
    /// assert_eq!(Ordered::parse("EVENT_COMPUTE_VEC"), Some(Ordered::One(Pipe::V)));
    /// ```
    pub fn parse(word: &str) -> Option<Ordered> {
        if word == "PIPE_ALL" {
            return Some(Ordered::All);
        }
        let pipe = Pipe::ALL.iter().find(|p| p.cpp() == word).copied();
        pipe.or_else(|| CLASSES.iter().find(|(class, _)| *class == word).map(|(_, pipe)| *pipe)).map(Ordered::One)
    }
}

impl Pipe {
    /// Do its instructions also finish in the order in which they start (sync.md 1)?
    pub const fn is_in_order(self, profile: Profile) -> bool {
        match profile {
            Profile::Cpu => true,
            Profile::A2a3 => !matches!(self, Pipe::V | Pipe::Mte2 | Pipe::Mte3),
            Profile::A5 => !matches!(self, Pipe::Mte2 | Pipe::Mte3),
        }
    }
}

/// The pipe of a move between two memories (sync.md 1).
const fn path(from: Loc, to: Loc) -> Option<Pipe> {
    use Loc::{Acc, Bias, Left, Mat, Right, ScaleLeft, ScaleRight, Scaling, Vec};
    match (from, to) {
        (Mat, Left | Right | Bias | ScaleLeft | ScaleRight) => Some(Pipe::Mte1),
        (Mat, Scaling) => Some(Pipe::Fix),
        (Vec, Mat) => Some(Pipe::Mte3),
        (Acc, Vec | Mat) => Some(Pipe::Fix),
        _ => None,
    }
}

impl Opcode {
    /// What it does to the order of others; none where it does something of its own.
    pub const fn order(self) -> Option<Order> {
        match self.info().sem {
            Sem::Orders(order) => Some(order),
            _ => None,
        }
    }

    /// Whether a token between cores is for a meeting of all blocks, on every profile (isa/today.md 8.3).
    pub const fn crosses_blocks(self) -> bool {
        matches!(self, Opcode::SetCrossBlock | Opcode::WaitCrossBlock)
    }

    /// The cores that a token is for: 2 those of the other kind in the block, 1 both vector cores, 0 all of one kind in
    /// all blocks (sync.md 5).
    pub fn ffts_mode(self, is_wide: bool, attrs: &Attrs) -> i128 {
        match self {
            _ if self.crosses_blocks() => 0,
            Opcode::SyncSet if is_wide => attrs.int(AttrName::FftsMode).unwrap_or(2),
            _ => 2,
        }
    }

    /// The pipe that does it with these tiles: that of the signature which takes them, else the row's own.
    pub fn pipe(self, form: Form, profile: Profile, operands: impl IntoIterator<Item = Judged>) -> Pipe {
        let info: &OpInfo = self.info();
        let judged = |role: Role| self.effect(form, role) != Effect::Scratch;
        let mut tiles: SmallVec<[Judged; 4]> = operands.into_iter().filter(|(role, _)| judged(*role)).collect();
        if let Sem::Fifo(fifo) = info.sem {
            // The tile tells the direction where the mnemonic does not: Acc and Mat are the cube core's.
            let pushes = matches!(fifo, Fifo::Push(_));
            let of_cube = tiles.first().is_some_and(|(_, tile)| matches!(tile.loc, Loc::Acc | Loc::Mat));
            let dir = if of_cube == pushes { Dir::C2v } else { Dir::V2c };
            return fifo.pipe(fifo.core().and_then(|core| fifo.dir(core)).unwrap_or(dir), profile);
        }
        if info.by_flows() {
            // Moves are judged flow by flow; without a source (TLOAD, a fill) or a destination (TSTORE) the tile that
            // is there decides.
            let find = |roles: [Role; 2]| roles.into_iter().find_map(|r| tiles.iter().find(|t| t.0 == r)).map(|t| t.1);
            let (src, dst) = (find([Role::Src, Role::Src0]), find([Role::Dst, Role::Dst0]));
            let (Some(src), Some(dst)) = (src.or(dst), dst.or(src)) else { return info.pipe };
            // cpu moves between any locations; those that have a path on hardware keep its pipe.
            if let (Profile::Cpu, Some(pipe)) = (profile, path(src.loc, dst.loc)) {
                return pipe;
            }
            tiles = SmallVec::from_slice(&[(Role::Src, src), (Role::Dst, dst)]);
        }
        sig::find(info.sigs, profile, form, &tiles).map_or(info.pipe, |s| s.pipe)
    }
}
