//! FIFOs between the cores of a block (isa/structure.md 4 to 6).

use crate::ops::Pipe;
use crate::profile::Profile;
use crate::tile::words;

words! {
    /// A kind of core.
    Core {
        Cube = "cube", "Cube", "Matrix products: L1, L0A, L0B, L0C.";
        Vector = "vector", "Vector", "Everything else: UB.";
    }
    /// A direction of a pipe.
    Dir {
        C2v = "C2V", "C2V", "From the cube core to the vector cores.";
        V2c = "V2C", "V2C", "From the vector cores to the cube core.";
    }
}

impl Core {
    /// The other kind.
    pub const fn other(self) -> Core {
        match self {
            Core::Cube => Core::Vector,
            Core::Vector => Core::Cube,
        }
    }

    /// Whether a core of this kind has the pipe (isa/structure.md 4).
    pub const fn has(self, pipe: Pipe) -> bool {
        match pipe {
            Pipe::S | Pipe::Mte2 | Pipe::Mte3 => true,
            Pipe::V => matches!(self, Core::Vector),
            Pipe::M | Pipe::Mte1 | Pipe::Fix => matches!(self, Core::Cube),
        }
    }
}

impl Dir {
    /// The kind of core that pushes.
    pub const fn producer(self) -> Core {
        match self {
            Dir::C2v => Core::Cube,
            Dir::V2c => Core::Vector,
        }
    }

    /// The kind of core that pops.
    pub const fn consumer(self) -> Core {
        self.producer().other()
    }

    /// Its bit of `dir_mask`.
    pub const fn bit(self) -> i128 {
        match self {
            Dir::C2v => 1,
            Dir::V2c => 2,
        }
    }
}

/// The effect of an instruction on FIFOs. A kind of core or a direction is present if the mnemonic names it; the lower
/// form takes it from the surrounding code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fifo {
    /// Memory for the slots of one direction, on the consumer.
    Reserve,
    /// The same memory, as the producer names it.
    Import,
    Initialize(Option<Core>),
    /// Gives the view of the next slot, once it is free (isa/today.md 7.2).
    Alloc(Option<Dir>),
    Push(Option<Dir>),
    Pop(Option<Dir>),
    Free(Option<Dir>),
    /// The parameter by which the pushes that follow quantize (isa/today.md 6.10).
    SetQuant,
    /// A tile that a pop gives its storage.
    Declare,
    /// A view that a pop or an allocation makes one of a slot.
    DeclareView,
}

impl Fifo {
    /// The kind of core whose code it belongs to, where the mnemonic says it.
    pub const fn core(self) -> Option<Core> {
        match self {
            Fifo::Initialize(core) => core,
            Fifo::SetQuant => Some(Core::Cube),
            Fifo::Push(Some(dir)) | Fifo::Alloc(Some(dir)) => Some(dir.producer()),
            Fifo::Pop(Some(dir)) | Fifo::Free(Some(dir)) => Some(dir.consumer()),
            _ => None,
        }
    }

    /// The direction, where it moves tiles in code of a kind of core.
    pub const fn dir(self, core: Core) -> Option<Dir> {
        match (self, core) {
            (Fifo::Push(None) | Fifo::Alloc(None), Core::Cube) | (Fifo::Pop(None) | Fifo::Free(None), Core::Vector) => {
                Some(Dir::C2v)
            }
            (Fifo::Push(None) | Fifo::Alloc(None), Core::Vector) | (Fifo::Pop(None) | Fifo::Free(None), Core::Cube) => {
                Some(Dir::V2c)
            }
            (Fifo::SetQuant, _) => Some(Dir::C2v),
            (Fifo::Push(dir) | Fifo::Alloc(dir) | Fifo::Pop(dir) | Fifo::Free(dir), _) => dir,
            _ => None,
        }
    }

    /// The pipe that does it (isa/structure.md 6).
    pub const fn pipe(self, dir: Dir, profile: Profile) -> Pipe {
        match (self, dir, profile) {
            (Fifo::Push(_), Dir::C2v, _) => Pipe::Fix,
            (Fifo::Push(_), Dir::V2c, _) | (Fifo::Alloc(_), ..) => Pipe::Mte3,
            (Fifo::Pop(_) | Fifo::Free(_), _, Profile::A2a3) => Pipe::Mte2,
            (Fifo::Pop(_) | Fifo::Free(_), Dir::C2v, _) => Pipe::V,
            (Fifo::Pop(_) | Fifo::Free(_), Dir::V2c, _) => Pipe::Mte1,
            _ => Pipe::S,
        }
    }

    /// The pipe that does it where views of slots go through the FIFO: a push comes after MTE3 and FIX (isa/today.md 7.2).
    pub const fn entry_pipe(self) -> Pipe {
        match self {
            Fifo::Pop(_) | Fifo::Free(_) => Pipe::Mte2,
            _ => Pipe::Mte3,
        }
    }
}
