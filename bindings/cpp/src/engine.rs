//! Memories and storage of a core, and the running of checked instructions.

use crate::convert::{Answer, Refusal};
use crate::key::Key;
use crate::pool::{Pool, Storage};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_exec::engine::memory::{Memories, Memory, MemoryId, POOL, of_loc, on_core};
use tessera_exec::lower::{Effect, Failure, Places, Prepared};
use tessera_exec::nest::Place;
use tessera_isa::diag::{Diagnostic, Fault};
use tessera_isa::inst::{AccToVec, Inst, Root, TileArg};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;

/// More instructions than this are not kept ready.
const MAX_READY: usize = 1024;

/// Runs of bytes that were written: where each starts, and its bytes.
pub(crate) type Runs = Vec<(usize, Vec<u8>)>;

/// An instruction made ready: what checking it found, and how it runs.
struct Ready {
    warnings: Vec<Diagnostic>,
    /// `None` for an instruction that only binds.
    prepared: Option<Prepared>,
    /// The tile that a TSTORE reads.
    stored: Option<Box<TileArg>>,
}

/// The memories of one core.
pub(crate) struct Engine {
    profile: Profile,
    memories: Memories,
    /// Global memory: the bytes of the view that is being loaded or stored.
    buffer: MemoryId,
    pool: Pool,
    ready: FxHashMap<Key, Ready>,
    undefined_stored: u64,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Refusal::rules(vec![*failure])
    }
}

impl Engine {
    pub fn new(profile: Profile) -> Self {
        let mut memories = Memories::new(true);
        let buffer = memories.add_buffer(Memory::default());
        Engine { profile, memories, buffer, pool: Pool::default(), ready: FxHashMap::default(), undefined_stored: 0 }
    }

    /// How many undefined bytes were stored as 0.
    pub fn undefined_stored(&self) -> u64 {
        self.undefined_stored
    }

    /// New automatic storage, undefined. All that is alive in a memory fits it (`capacity`).
    pub fn alloc(&mut self, loc: Loc, bytes: u64) -> Answer<u64> {
        if let Some(memory) = self.profile.memory(loc)
            && let Some(limit) = memory.bytes.map(|b| b - memory.reserved)
        {
            let used = self.pool.used(loc);
            if used.saturating_add(bytes) > limit {
                let what = format!(
                    "{bytes} more bytes do not fit {} on {}: automatic tiles have {used} of {limit}",
                    loc.memory_name(),
                    self.profile
                );
                return Err(Fault::new("capacity", what).help("let tiles that are not needed go out of scope").into());
            }
        }
        let (handle, at) = self.pool.alloc(loc, bytes)?;
        let grown = self.reserve(POOL, at.saturating_add(bytes));
        if let Err(refusal) = grown {
            self.pool.free(handle)?;
            return Err(refusal);
        }
        self.undefine_at(Place { memory: POOL, at: at as usize }, bytes as usize);
        Ok(handle.into())
    }

    /// The contents of a place become undefined, on both vector cores.
    fn undefine_at(&mut self, place: Place, bytes: usize) {
        for memory in [place.memory, on_core(place.memory, 1)] {
            if let Some(memory) = self.memories.get_mut(memory) {
                // What lies beyond the memory's end has never been touched.
                let end = place.at.saturating_add(bytes).min(memory.bytes().len());
                memory.defined_mut().remove(place.at, end.saturating_sub(place.at));
            }
        }
    }

    /// Makes the contents of a tile undefined, as those of a new one are.
    pub fn undefine(&mut self, arg: &TileArg) -> Answer<()> {
        let place = self.place(arg)?;
        self.undefine_at(place, arg.tile.bytes() as usize);
        Ok(())
    }

    /// Frees automatic storage.
    pub fn free(&mut self, handle: u64) -> Answer<()> {
        self.pool
            .free(u32::try_from(handle).map_err(|_| Refusal::argument(format!("{handle} is no handle of a storage")))?)
    }

    /// Automatic storage by its handle.
    pub fn storage(&self, handle: u64) -> Answer<&Storage> {
        let handle =
            u32::try_from(handle).map_err(|_| Refusal::argument(format!("{handle} is no handle of a storage")))?;
        self.pool.get(handle)
    }

    fn reserve(&mut self, memory: MemoryId, end: u64) -> Answer<()> {
        self.memories.reserve(memory, end).map_err(|over| {
            let what = format!("the kernel needs {} bytes of memory, and a core has {}", over.wanted, over.limit);
            Fault::new("memory-limit", what).help("use lower addresses or smaller tiles").into()
        })
    }

    /// Where a tile lies; a tile without storage lies nowhere that matters.
    pub fn place(&self, arg: &TileArg) -> Answer<Place> {
        match arg.place {
            None => Ok(Place { memory: POOL, at: 0 }),
            Some(p) => {
                let (memory, start) = match p.root {
                    Root::Memory(loc) => (of_loc(loc), p.start),
                    Root::Auto(handle) => (POOL, self.pool.get(handle)?.at.saturating_add(p.start)),
                };
                let at = usize::try_from(start).map_err(|_| Refusal::argument(format!("{start:#x} is no address")))?;
                Ok(Place { memory, at })
            }
        }
    }

    /// Was an instruction made ready under this key?
    pub fn is_ready(&self, key: &Key) -> bool {
        self.ready.contains_key(key)
    }

    /// Makes a legal instruction ready under a key; a store takes one vector core's copy.
    pub fn make_ready(&mut self, key: Key, inst: &Inst, warnings: Vec<Diagnostic>, core: u8) -> Answer<()> {
        // Views, and TRESHAPE on hardware, move nothing: the caller binds.
        let binds = match inst.op {
            Opcode::Tsubview => true,
            Opcode::Treshape => self.profile != Profile::Cpu,
            _ => false,
        };
        let prepared = if binds { None } else { Some(self.prepare(inst, core)?) };
        let stored = inst.src().filter(|_| inst.op == Opcode::Tstore).cloned().map(Box::new);
        if self.ready.len() >= MAX_READY {
            self.ready.clear();
        }
        self.ready.insert(key, Ready { warnings, prepared, stored });
        Ok(())
    }

    /// Runs the transfer that is ready under a key; its view starts at byte `first` of the buffer.
    fn run_at(&mut self, key: &Key, first: usize) -> Answer<(Effect, Vec<Diagnostic>)> {
        let Some(ready) = self.ready.get_mut(key) else {
            return Ok((Effect::default(), Vec::new()));
        };
        let effect = match &mut ready.prepared {
            Some(prepared) => prepared.run(&mut self.memories, first)?,
            None => Effect::default(),
        };
        Ok((effect, ready.warnings.clone()))
    }

    /// Runs the instruction that is ready under a key; `None` where there is none.
    pub fn run(&mut self, key: &Key) -> Option<Answer<Vec<Diagnostic>>> {
        let ready = self.ready.get_mut(key)?;
        if let Some(prepared) = &mut ready.prepared
            && let Err(failure) = prepared.run(&mut self.memories, 0)
        {
            return Some(Err(failure.into()));
        }
        Some(Ok(ready.warnings.clone()))
    }

    /// Lowers an instruction; the tiles of a store are those of a vector core.
    fn prepare(&mut self, inst: &Inst, core: u8) -> Answer<Prepared> {
        let uses_core1 = matches!(
            inst.attrs.acc_to_vec(),
            Some(AccToVec::SingleModeVec1 | AccToVec::DualModeSplitM | AccToVec::DualModeSplitN)
        );
        let mut tiles: SmallVec<[Place; 6]> = SmallVec::new();
        for arg in &inst.tiles {
            let mut place = self.place(arg)?;
            place.memory = on_core(place.memory, core);
            if arg.place.is_none() {
                return Err(Refusal::argument(format!("the tile {} has no storage", arg.role)));
            }
            let end = (place.at as u64).saturating_add(span(arg));
            self.reserve(place.memory, end)?;
            if uses_core1 {
                self.reserve(on_core(place.memory, 1), end)?;
            }
            tiles.push(place);
        }
        let global = inst.global.as_ref().map(|_| self.buffer);
        Ok(Prepared::new(inst, Places { tiles: &tiles, global, tracked: true })?)
    }

    /// TLOAD or TSTORE over `contents`, the bytes of the view's buffer; gives them back.
    fn transfer(&mut self, key: &Key, contents: Memory, first: usize) -> Answer<(Effect, Vec<Diagnostic>, Memory)> {
        if let Some(memory) = self.memories.get_mut(self.buffer) {
            *memory = contents;
        }
        let ran = self.run_at(key, first);
        let contents = self.memories.get_mut(self.buffer).map(std::mem::take).unwrap_or_default();
        ran.map(|(effect, warnings)| (effect, warnings, contents))
    }

    /// TLOAD from the bytes of the view's buffer.
    pub fn load(&mut self, key: &Key, contents: Memory, first: usize) -> Answer<Vec<Diagnostic>> {
        self.transfer(key, contents, first).map(|(_, warnings, _)| warnings)
    }

    /// TSTORE from one vector core's copy into a buffer of `len` bytes: what was written, and what was found.
    pub fn store(&mut self, key: &Key, len: usize, first: usize, core: u8) -> Answer<(Runs, Vec<Diagnostic>)> {
        let mut empty = Memory::new(vec![0; len], true);
        empty.watch();
        let (effect, mut found, mut contents) = self.transfer(key, empty, first)?;
        if effect.stored_undefined
            && let Some(arg) = self.ready.get(key).and_then(|r| r.stored.as_deref())
        {
            let undefined = self.undefined(arg, core)?;
            let what = format!("{undefined} bytes of {} have no defined value and are stored as 0", arg.tile);
            found.push(Diagnostic::warning("undefined-read", what).help("write all of the valid region before TSTORE"));
            self.undefined_stored = self.undefined_stored.saturating_add(undefined);
        }
        Ok((contents.take_written(&Memory::default()), found))
    }

    /// How many bytes of a valid region have no defined value.
    fn undefined(&self, arg: &TileArg, core: u8) -> Answer<u64> {
        let place = self.place(arg)?;
        let Some(memory) = self.memories.get(on_core(place.memory, core)) else {
            return Ok(0);
        };
        let size = arg.tile.elem.size().unwrap_or(1);
        let bits = i64::from(arg.tile.elem.bits());
        let [rows, cols] = arg.valid.map(|v| v.unwrap_or(0));
        let mut count = 0;
        for row in 0..rows {
            for col in 0..cols {
                let at = place.at + (arg.layout.offset(row, col) * bits / 8).max(0) as usize;
                count += (at..at + size as usize).filter(|b| !memory.defined().has(*b)).count() as u64;
            }
        }
        Ok(count)
    }

    /// Copies all bytes of the declared area, definedness included.
    pub fn copy(&mut self, dst: TileArg, src: TileArg) -> Answer<()> {
        // This is what TRESHAPE does on cpu (ops.md 4); here it serves any profile.
        let mut inst = Inst::new(Opcode::Treshape, Form::Plain, Profile::Cpu);
        inst.tiles.push(TileArg { role: Role::Src, ..src });
        inst.tiles.push(TileArg { role: Role::Dst, ..dst });
        self.prepare(&inst, 0)?.run(&mut self.memories, 0)?;
        Ok(())
    }

    /// Bytes of a tile from an offset on; undefined ones are 0.
    pub fn read(&self, arg: &TileArg, offset: u64, len: usize) -> Answer<Vec<u8>> {
        let at = self.place(arg)?.at + offset as usize;
        let mut out = vec![0; len];
        if let Some(memory) = self.memories.get(self.place(arg)?.memory) {
            memory.defined().for_each_run(at, at + len, |start, n| {
                if let (Some(to), Some(from)) =
                    (out.get_mut(start - at..start - at + n), memory.bytes().get(start..start + n))
                {
                    to.copy_from_slice(from);
                }
            });
        }
        Ok(out)
    }

    /// Writes bytes of a tile from an offset on.
    pub fn write(&mut self, arg: &TileArg, offset: u64, bytes: &[u8]) -> Answer<()> {
        let place = self.place(arg)?;
        let at = place.at + offset as usize;
        self.reserve(place.memory, (at + bytes.len()) as u64)?;
        if let Some(memory) = self.memories.get_mut(place.memory) {
            memory.put(at, bytes);
        }
        Ok(())
    }
}

/// Bytes that a tile spans, the gaps of a view included.
pub(crate) fn span(arg: &TileArg) -> u64 {
    arg.tile.elem.bytes_of(arg.layout.footprint())
}

/// The warnings of a legal instruction; an illegal one is refused.
pub(crate) fn legal(inst: &Inst) -> Answer<Vec<Diagnostic>> {
    for arg in &inst.tiles {
        if arg.valid.contains(&None)
            && tessera_isa::sem::effects(inst).tiles.iter().any(|t| t.role == arg.role && t.needs_valid)
        {
            let name = if arg.valid[0].is_none() { "v_row" } else { "v_col" };
            return Err(tessera_check::valid_unset(inst.op, arg.role, name).into());
        }
    }
    let mut found: Vec<Diagnostic> = tessera_check::check(inst).into_iter().map(Diagnostic::from).collect();
    if found.iter().any(Diagnostic::is_error) {
        found.retain(Diagnostic::is_error);
        return Err(Refusal::rules(found));
    }
    Ok(found)
}
