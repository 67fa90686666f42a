//! The one engine: memories, the tiles in them, and compiled instructions.
//!
//! An instruction comes as an [`Inst`]: from the interpreter for each operation of a program, from the intrinsics and the C ABI for
//! each call. Its tiles are operands that say where they lie, or tiles of the engine. The engine asks the rules, compiles it, keeps
//! both, and runs it. An instruction that was issued before with the same operands is found by its key ([`Cache`]), or by the
//! [`InstHandle`] that the caller kept.
//!
//! ```
//! use tessera_exec::engine::Engine;
//! use tessera_isa::elem::Elem;
//! use tessera_isa::inst::Inst;
//! use tessera_isa::ops::{Form, Opcode, Role};
//! use tessera_isa::profile::Profile;
//! use tessera_isa::tile::{Loc, TileType};
//!
//! let mut engine = Engine::new(Profile::Cpu, true);
//! let nd = engine.tile(&TileType::new(Loc::Vec, Elem::U8, 32, 32)).unwrap();
//! let nz = engine.tile(&TileType::new(Loc::Mat, Elem::U8, 32, 32)).unwrap();
//! engine.write(nd, &[7; 1024]).unwrap();
//! let tmov = Inst::new(Opcode::parse("tmov").unwrap(), Form::Plain, Profile::Cpu);
//! engine.issue(&tmov, &[(Role::Src, nd), (Role::Dst, nz)]).unwrap();
//! assert_eq!(engine.read(nz, 0).unwrap().elements, vec![7; 1024]);
//! ```

mod cache;
mod contents;
mod element;
mod fusion;
mod global;
mod handle;
mod host;
mod issue;
mod key;
mod pool;
mod tiles;
mod transfer;

pub use cache::{Cache, CachedInst};
pub use contents::TileData;
pub use contents::UndefinedElement;
pub use global::Global;
pub use handle::InstHandle;
pub use host::PointerTarget;
pub use issue::{IssueError, IssueReport};
pub use issue::{is_valid_set, stores};
pub use pool::Storage;
use tessera_kernels::Place;
pub use tiles::TileId;
pub use tiles::{Binding, Object};
pub use transfer::{Runs, combines};

use key::{Interner, Key};

use tessera_isa::inst::{Attrs, ConvType};
use tessera_isa::layout::Layout;
use tessera_isa::profile::Profile;
use tessera_isa::tile::Tile;
use tessera_kernels::memory::{Memories, Memory};

/// The number of variants of one operation of a program that are kept.
const OF_ONE: usize = 256;

/// The number of variants that are kept of all instructions that are issued on their own.
const OF_ALL: usize = 1024;

/// Memories, tiles and compiled instructions.
#[derive(Debug)]
pub struct Engine {
    pub profile: Profile,
    pub memories: Memories,
    pub objects: Vec<Object>,
    released: Vec<TileId>,
    kinds: Interner<(Tile, Option<ConvType>)>,
    layouts: Interner<Layout>,
    pool: pool::Pool,
    /// The addresses of memory that the caller lends for an instruction, rising.
    lent: Vec<u64>,
    /// The vector core whose UB is its own.
    pub core: u8,
    /// Whether the other vector core is not this engine's.
    pub is_one_core: bool,
    /// Grows whenever a tile may have changed in anything but its contents.
    pub epoch: u64,
    /// The attributes set by SETFMATRIX and SET_IMG2COL_PADDING (ops.md 7).
    pub config: Attrs,
    /// By operation of the program; one for all where there is none.
    pub caches: Vec<Cache>,
    pub key: Key,
    pub issued: u64,
    pub waiting: fusion::DeferredQueue,
}

impl Engine {
    /// An engine that takes one instruction at a time; `tracked` says whether it tracks definedness.
    pub fn new(profile: Profile, tracked: bool) -> Self {
        let mut memories = Memories::new(tracked);
        // The buffer through which loads and stores go.
        memories.add_buffer(Memory::default());
        Engine::with(profile, memories, vec![Cache::new(OF_ALL)])
    }

    /// The engine of a program with this number of instructions.
    pub fn of_program(profile: Profile, memories: Memories, instructions: usize) -> Self {
        Engine::with(profile, memories, (0..instructions).map(|_| Cache::new(OF_ONE)).collect())
    }

    fn with(profile: Profile, memories: Memories, caches: Vec<Cache>) -> Self {
        Engine {
            profile,
            memories,
            objects: Vec::new(),
            released: Vec::new(),
            kinds: Interner::default(),
            layouts: Interner::default(),
            pool: pool::Pool::default(),
            lent: Vec::new(),
            core: 0,
            is_one_core: false,
            epoch: 1,
            config: Attrs::default(),
            caches,
            key: Key::default(),
            issued: 0,
            waiting: fusion::DeferredQueue::default(),
        }
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// SETFMATRIX and SET_IMG2COL_PADDING: attributes stay until they are set again (ops.md 7).
    pub fn configure(&mut self, given: &Attrs) {
        self.config = given.or(&self.config);
        self.epoch += 1;
    }
}
