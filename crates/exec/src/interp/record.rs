//! A run step by step: what each instruction was, and which tiles are other than before.

use super::TileOutput;
use super::code::Site;
use super::step::Exec;
use rustc_hash::FxHashMap;
use tessera_ir::{OpId, ValueId};
use tessera_isa::inst::Inst;

/// Bytes of tiles that are looked at; what comes later is not recorded.
const MOST: usize = 1 << 28;

/// One block, step by step.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    pub block: u32,
    /// The tiles before the first instruction.
    pub start: Vec<TileOutput>,
    pub steps: Vec<Step>,
    /// Did it go on for too long to record all of it?
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
}

/// Goes from core to core with the memories.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub block: Recorded,
    /// The hash of what each tile last held.
    seen: FxHashMap<(ValueId, u8), u64>,
    looked: usize,
}

impl Exec<'_> {
    /// The tiles as they are at the start.
    pub fn record_start(&mut self) {
        let changed = self.changed();
        if let Some(recorder) = &mut self.recorder {
            recorder.block.block = self.block;
            recorder.block.start.extend(changed);
        }
    }

    /// One step: the instruction that has just run.
    pub fn record(&mut self, site: &Site) {
        if self.recorder.as_ref().is_none_or(|r| r.block.is_cut) {
            return;
        }
        let tiles: Vec<_> = site.tiles.iter().map(|(role, slot)| (*role, self.object_of(*slot))).collect();
        let view = site.global.map(|slot| self.global(slot).clone());
        let Ok(inst) = self.engine.instruction(self.with_scalars(site), &tiles, view.as_ref()) else { return };
        let step = Step {
            op: site.at,
            core: self.cx.process.is_mixed.then(|| self.cx.process.name()),
            inst,
            tiles: site.tiles.iter().map(|(_, slot)| self.value_of(*slot)).collect(),
            changed: self.changed(),
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.block.steps.push(step);
        }
    }

    /// The tiles of this core that are other than when it was asked last.
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
