//! Instructions of the cube core (micro/cube.md): into L1, to the operands' memories, products, and out of the
//! accumulator.

mod check;
mod fields;
mod layout;
mod moves;
mod product;
mod store;

use crate::call::{Call, GroupItem, Inst, Item};
use crate::check::{Known, Refusal};
use crate::footprint::Touch;
use crate::run::{Core, Issue, Place, Specials};
use crate::table::{Cube, Sem};
use fields::Fields;
use tessera_isa::diag::Diagnostic;

pub(crate) use check::types;

fn of(inst: &Inst<'_>) -> Option<Cube> {
    if let Sem::Cube(cube) = inst.call.row.sem { Some(cube) } else { None }
}

/// The rules that need numbers, as far as these are known (cube.md 2).
pub(crate) fn values(inst: &Inst<'_>, known: &[Known]) -> Result<(), Refusal> {
    let fields = Fields { inst, known };
    match of(inst) {
        Some(Cube::Boxes) => moves::check_boxes(&fields),
        Some(Cube::Fill) => moves::check_fill(&fields),
        Some(cube @ (Cube::Bias | Cube::Parameters)) => moves::check_rows(&fields, cube),
        Some(Cube::Load) => moves::check_load(&fields),
        Some(Cube::LoadScales) => moves::check_scales(&fields),
        Some(Cube::Product { .. }) => product::check(&fields),
        Some(Cube::Store) => store::check(&fields),
        None => Ok(()),
    }
}

/// Warnings that numbers decide: groups and repetitions that write a common byte.
pub(crate) fn warnings(inst: &Inst<'_>, known: &[Known]) -> Option<Diagnostic> {
    let fields = Fields { inst, known };
    match of(inst)? {
        Cube::Boxes => moves::overlapping_groups(&fields),
        Cube::Store => store::overlapping_repetitions(&fields),
        _ => None,
    }
}

/// Runs one instruction, whose rules hold.
pub(crate) fn run(issue: &Issue<'_, '_>, known: &[Known], core: &mut Core<'_>) -> Result<(), Refusal> {
    let fields = Fields { inst: issue.inst, known };
    match of(issue.inst) {
        Some(Cube::Boxes) => moves::boxes(&fields, issue, core),
        Some(Cube::Fill) => moves::fill(&fields, issue, core),
        Some(cube @ (Cube::Bias | Cube::Parameters)) => moves::rows(&fields, cube, issue, core),
        Some(Cube::Load) => moves::load(&fields, issue, core),
        Some(Cube::LoadScales) => moves::load_scales(&fields, issue, core),
        Some(Cube::Product { start, scaled }) => product::run(&fields, start, scaled, issue, core),
        Some(Cube::Store) => store::run(&fields, issue, core),
        None => Ok(()),
    }
}

/// The bytes that it touches, counted from its pointers; `None` where numbers are not known, or for more than `most`
/// ranges.
pub(crate) fn footprint(inst: &Inst<'_>, known: &[Known], most: usize) -> Option<Vec<Touch>> {
    let fields = Fields { inst, known };
    let touches = match of(inst)? {
        Cube::Boxes => moves::touched_by_boxes(&fields, most),
        Cube::Fill => moves::touched_by_fill(&fields, most),
        cube @ (Cube::Bias | Cube::Parameters) => moves::touched_by_rows(&fields, cube, most),
        Cube::Load => moves::touched_by_load(&fields),
        Cube::LoadScales => moves::touched_by_scales(&fields),
        Cube::Product { start, scaled } => product::touched(&fields, start, scaled),
        Cube::Store => store::touched(&fields, most),
    }?;
    (touches.len() <= most).then_some(touches)
}

/// A mode of a store that is known and does not run.
pub(crate) fn unknown_mode(call: &Call) -> Option<&str> {
    let modes = call.items.iter().filter_map(|item| match item {
        Item::Group(name, items) if name == "pre_quant" || name == "pre_relu" => Some(items),
        _ => None,
    });
    let mut words = modes.flatten().filter_map(|item| match item {
        GroupItem::Pair(key, word) if key == "mode" => Some(word.as_str()),
        _ => None,
    });
    words.find(|word| store::is_unknown(word))
}

/// Bytes that were read: undefined ones are 0.
struct Read {
    bytes: Vec<u8>,
    /// One a byte; empty if all are defined.
    undefined: Vec<bool>,
}

impl Read {
    fn of(core: &Core<'_>, place: Place, at: i64, len: usize) -> Read {
        if let Some(bytes) = core.memory.bytes(place, at as u64, len) {
            return Read { bytes: bytes.to_vec(), undefined: Vec::new() };
        }
        let all: Vec<Option<u8>> = (0..len).map(|k| core.memory.byte(place, at as u64 + k as u64)).collect();
        Read {
            bytes: all.iter().map(|byte| byte.unwrap_or(0)).collect(),
            undefined: all.iter().map(Option::is_none).collect(),
        }
    }

    fn zeros(len: usize) -> Read {
        Read { bytes: vec![0; len], undefined: Vec::new() }
    }

    fn is_defined(&self, at: usize, len: usize) -> bool {
        self.undefined.is_empty() || self.undefined.iter().skip(at).take(len).all(|undefined| !undefined)
    }

    /// The bits of some bytes; `None` where one of them is undefined.
    fn bits(&self, at: usize, len: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at + len).filter(|_| self.is_defined(at, len))?;
        Some(bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    }

    fn set(&mut self, at: usize, bits: Option<u64>, len: usize) {
        if let Some(to) = self.bytes.get_mut(at..at + len) {
            to.copy_from_slice(bits.unwrap_or(0).to_le_bytes().get(..len).unwrap_or_default());
        }
        if bits.is_none() {
            self.undefined.resize(self.bytes.len(), false);
            self.undefined.iter_mut().skip(at).take(len).for_each(|undefined| *undefined = true);
        }
    }

    fn write(&self, core: &mut Core<'_>, place: Place, at: i64) {
        if self.undefined.is_empty() {
            return core.memory.put_all(place, at as u64, &self.bytes);
        }
        for (k, byte) in self.bytes.iter().enumerate() {
            core.memory.put(place, at as u64 + k as u64, self.is_defined(k, 1).then_some(*byte));
        }
    }
}

/// Whether an arithmetic clause that is left out counts as `sat` (cube.md 7, CTRL bit 48).
fn saturates_unsaid(specials: &Specials) -> bool {
    specials.control >> 48 & 1 == 0
}
