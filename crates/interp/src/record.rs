//! A run step by step: each instruction, and the tiles and buffers that it changed.

use super::TileOutput;
use super::code::InstTemplate;
use super::step::Exec;
use rustc_hash::FxHashMap;
use tessera_exec::engine::stores;
use tessera_ir::{OpId, ValueId};
use tessera_isa::inst::Inst;
use tessera_kernels::MemoryId;
use tessera_kernels::memory::Memories;

/// The limit of the tile bytes that are compared; later steps are not recorded.
const MOST: usize = 1 << 28;

/// Bytes of the widest element.
const WIDEST: usize = 8;

/// One block, step by step.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    pub block: u32,
    /// The tiles before the first instruction.
    pub start: Vec<TileOutput>,
    /// The buffers of arguments then.
    pub buffers: Vec<Stored>,
    pub steps: Vec<Step>,
    /// Whether the block was too long to record all of it.
    pub is_cut: bool,
}

/// One instruction of a recorded run.
#[derive(Clone, Debug)]
pub struct Step {
    pub op: OpId,
    /// The core that ran it, where a block has several.
    pub core: Option<&'static str>,
    /// The instruction with all its values.
    pub inst: Inst,
    /// The values of its tiles, by their position in the instruction.
    pub tiles: Vec<Option<ValueId>>,
    /// The tiles that are other than before, each as one vector core sees it.
    pub changed: Vec<TileOutput>,
    /// The parts of global memory that are.
    pub stored: Vec<Stored>,
}

/// A part of an argument's buffer.
#[derive(Clone, Debug)]
pub struct Stored {
    pub value: ValueId,
    /// The first byte; all of its elements are whole.
    pub at: usize,
    pub bytes: Vec<u8>,
    /// By byte: `0xFF` where it is defined.
    pub defined: Vec<u8>,
}

/// Goes from core to core with the memories.
#[derive(Debug, Default)]
pub struct Recorder {
    pub block: Recorded,
    /// The hash of each tile's last contents.
    seen: FxHashMap<(ValueId, u8), u64>,
    /// By buffer: its argument, and its last contents.
    buffers: Vec<(ValueId, Vec<u8>, Vec<u8>)>,
    looked: usize,
    /// Whether a scalar was stored to global memory since the last query.
    pub has_scalar: bool,
}

impl Recorder {
    pub fn new(buffers: impl Iterator<Item = ValueId>) -> Self {
        Recorder { buffers: buffers.map(|value| (value, Vec::new(), Vec::new())).collect(), ..Recorder::default() }
    }

    /// The parts of global memory that changed since the last call.
    fn stored(&mut self, memories: &Memories) -> Vec<Stored> {
        self.has_scalar = false;
        let mut all = Vec::new();
        for (k, (value, bytes, defined)) in (0..).zip(&mut self.buffers) {
            let Some(memory) = memories.get(MemoryId::buffer(k)) else { continue };
            let now = memory.bytes();
            let known = memory.defined().expand(0, now.len());
            self.looked += now.len();
            let is_new = |n: &usize| bytes.get(*n) != now.get(*n) || defined.get(*n) != known.get(*n);
            let first = (0..now.len()).find(is_new);
            if let Some((first, last)) = first.zip((0..now.len()).rfind(is_new)) {
                // Whole elements, whatever they are.
                let (at, end) = (first / WIDEST * WIDEST, (last / WIDEST * WIDEST + WIDEST).min(now.len()));
                let [bytes, defined] = [now, &known].map(|all| all.get(at..end).unwrap_or_default().to_vec());
                all.push(Stored { value: *value, at, bytes, defined });
            }
            (*bytes, *defined) = (now.to_vec(), known);
        }
        all
    }
}

impl Exec<'_> {
    /// The tiles as they are at the start.
    pub fn record_start(&mut self) {
        let changed = self.changed();
        if let Some(recorder) = &mut self.recorder {
            recorder.block.block = self.block;
            recorder.block.start.extend(changed);
            let stored = recorder.stored(&self.engine.memories);
            recorder.block.buffers.extend(stored);
        }
    }

    /// One step: the instruction that has just run.
    pub fn record(&mut self, site: &InstTemplate) {
        if self.recorder.as_ref().is_none_or(|r| r.block.is_cut) {
            return;
        }
        let Ok(inst) = self.inst(site, site.global.map(|slot| self.global(slot))) else { return };
        let step = Step {
            op: site.at,
            core: self.cx.process.is_mixed.then(|| self.cx.process.name()),
            inst,
            tiles: site.tiles.iter().map(|(_, slot)| self.value_of(*slot)).collect(),
            changed: self.changed(),
            stored: Vec::new(),
        };
        if let Some(recorder) = &mut self.recorder {
            let stored = if stores(&site.inst) || recorder.has_scalar {
                recorder.stored(&self.engine.memories)
            } else {
                Vec::new()
            };
            recorder.block.steps.push(Step { stored, ..step });
        }
    }

    /// The tiles of this core that changed since the last call.
    fn changed(&mut self) -> Vec<TileOutput> {
        let Some(mut recorder) = self.recorder.take() else { return Vec::new() };
        let mut all = Vec::new();
        let slots = (0..self.cx.func.values.len() as u32).map(ValueId);
        let slots = slots.filter_map(|value| Some((value, self.cx.program.tile(value)?)));
        for (value, slot) in slots {
            for core in [0u8, 1] {
                if core == 1 && self.engine.contents(self.object_of(slot), 1).is_none_or(|c| !c.1.contains(&0xFF)) {
                    continue;
                }
                let Ok(data) = self.engine.read(self.object_of(slot), core) else { continue };
                recorder.looked += data.raw.len();
                let is_known = [&data.raw, &data.raw_defined];
                let hash = is_known.iter().fold(data.rows * 31 + data.cols, |hash, bytes| {
                    bytes.iter().fold(hash, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
                });
                // A mixed kernel's vector cores know themselves as core 0.
                let core = if self.cx.process.is_vector_of_two() { self.cx.process.number } else { core };
                if recorder.seen.insert((value, core), hash) != Some(hash) {
                    all.push(TileOutput { value, core, data });
                }
            }
        }
        recorder.block.is_cut |= recorder.looked > MOST;
        self.recorder = Some(recorder);
        all
    }
}
