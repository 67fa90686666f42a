//! The findings of a run: warnings, undefined bytes, and their origins.

use super::code::{InstTemplate, TileSlot};
use super::step::Exec;
use rustc_hash::FxHashSet;
use tessera_exec::definedness::{DefinednessTransfer, Value};
use tessera_exec::engine::UndefinedElement;
use tessera_ir::{OpId, ValueId};
use tessera_isa::diag::{Diagnostic, Severity};
use tessera_isa::inst::Inst;
use tessera_kernels::MemoryId;
use tessera_provenance::{ByteAt, Read, Source};

/// The number of moves through which the origin of an undefined byte is followed back.
const MAX_HOPS: usize = 4;

/// Warnings, each once per operation.
#[derive(Debug, Default)]
pub struct Warnings {
    pub warnings: Vec<Diagnostic>,
    seen: FxHashSet<(OpId, &'static str)>,
}

impl Warnings {
    /// Keeps a warning, unless the operation has given it before.
    pub fn warn(&mut self, at: OpId, mut d: Diagnostic) {
        if self.seen.insert((at, d.rule)) {
            d.severity = Severity::Warning;
            self.warnings.push(d);
        }
    }

    /// Whether the operation has given this warning.
    pub fn has(&self, at: OpId, rule: &'static str) -> bool {
        self.seen.contains(&(at, rule))
    }
}

/// An instruction that left a byte undefined.
struct UndefinedWrite {
    when: u64,
    at: OpId,
    /// The source of the byte, if it was moved.
    source: Option<(MemoryId, usize)>,
}

impl Exec<'_> {
    pub fn tile_name(&self, slot: TileSlot) -> String {
        self.value_of(slot).map_or("the tile".into(), |value| self.cx.name(value))
    }

    /// The value whose tile is in a slot.
    pub fn value_of(&self, slot: TileSlot) -> Option<ValueId> {
        self.cx.program.objects.get(self.object_of(slot).index()).map(|o| o.value)
    }

    /// One note per operand: its value while the instruction runs.
    pub fn operand_notes(&self, at: OpId, inst: &Inst) -> Vec<String> {
        let op = self.cx.func.op(at);
        let mut notes = Vec::new();
        for arg in &inst.tiles {
            let value = op
                .operand(arg.role)
                .and_then(|o| o.arg.value())
                .or_else(|| op.dsts().iter().find(|d| d.0 == arg.role).map(|d| d.1));
            let name = value.map_or(arg.role.to_string(), |v| self.cx.name(v));
            let start = arg.place.map_or(0, |p| p.start);
            let extent = |v: Option<u64>| v.map_or("?".into(), |v| v.to_string());
            let [r, c] = arg.valid;
            notes.push(format!("{name} is {} at {start:#x}, valid {}x{}", arg.tile, extent(r), extent(c)));
        }
        for scalar in &inst.scalars {
            if let Some(tessera_isa::codec::Number::Int(v)) = scalar.value {
                notes.push(format!("{} is {v}", scalar.role));
            }
        }
        notes
    }

    /// `undefined-read`: a store wrote zeros where its tile is undefined.
    pub fn report_store(&mut self, site: &InstTemplate) {
        if let (Some((_, slot)), false) = (site.tiles.first(), self.found.has(site.at, "undefined-read")) {
            self.warn_undefined(site.at, *slot, "is stored");
        }
    }

    pub fn warn_undefined(&mut self, at: OpId, slot: TileSlot, how: &str) {
        if let Some(d) = self.undefined_read(slot, 0, how) {
            let d = self.at(at, Box::new(d));
            self.found.warn(at, *d);
        }
    }

    /// The warning about the first undefined element of a tile that leaves the chip.
    pub fn undefined_read(&self, slot: TileSlot, core: u8, how: &str) -> Option<Diagnostic> {
        let element = self.engine.first_undefined(self.object_of(slot), core)?;
        let name = self.tile_name(slot);
        let UndefinedElement { row, col, memory, byte } = element;
        let what =
            format!("{name}({row}, {col}) at byte {byte:#x} is undefined and {how}; a 0 is written in its place");
        let mut d = Diagnostic::warning("undefined-read", what);
        d = self.origin(d, memory, byte);
        if self.cx.blocks > 1 {
            d.notes.push(format!("in block {} of {}", self.block, self.cx.blocks));
        }
        Some(d.help("write the element before it is read, or make the valid region smaller"))
    }

    /// Of the bytes that one depends on, one that is undefined; any where all belong to one element.
    fn undefined_of(&self, source: Option<Source>, any: bool) -> Option<ByteAt> {
        let has = |(memory, byte)| self.engine.memories.get(memory).is_some_and(|m| m.defined().has(byte));
        match source? {
            Source::Copied(at) => Some(at),
            Source::Computed { operands, .. } => operands.into_iter().flat_map(Read::bytes).find(|at| any || !has(*at)),
            _ => None,
        }
    }

    /// Adds the origin of an undefined byte to a diagnostic, as far as the compiled instructions show it.
    fn origin(&self, mut d: Diagnostic, memory: MemoryId, byte: usize) -> Diagnostic {
        let (mut memory, mut byte, mut before) = (memory, byte, u64::MAX);
        for _ in 0..MAX_HOPS {
            // The latest instruction before this point that left the byte undefined.
            let mut latest: Option<UndefinedWrite> = None;
            for (cache, site) in self.engine.caches.iter().zip(&self.cx.program.sites) {
                for entry in cache.entries.iter().filter(|e| (self.began + 1..before).contains(&e.undefined_at)) {
                    let Some(compiled) = &entry.compiled else { continue };
                    if latest.as_ref().is_some_and(|l| l.when >= entry.undefined_at) {
                        continue;
                    }
                    for step in &compiled.shadow {
                        let (operand, area) = step.target();
                        let Some(place) = compiled.places.get(usize::from(operand)) else {
                            continue;
                        };
                        if matches!(step, DefinednessTransfer::Set { .. })
                            || place.memory != memory
                            || !area.contains(place.at, byte)
                        {
                            continue;
                        }
                        let source = match step {
                            DefinednessTransfer::Move(mv) => {
                                let from =
                                    tessera_provenance::came_from(mv, &compiled.places, byte as i64 - place.at as i64);
                                self.undefined_of(
                                    from,
                                    mv.reads.len() == 1 && !matches!(mv.value, Value::PackedKernel(_)),
                                )
                            }
                            _ => None,
                        };
                        latest = Some(UndefinedWrite { when: entry.undefined_at, at: site.at, source });
                    }
                }
            }
            match latest {
                Some(UndefinedWrite { at, source: None, .. }) => {
                    return d.and_at(
                        self.cx.span(at),
                        "hardware writes whole blocks here, and its footprint covers the byte",
                    );
                }
                Some(UndefinedWrite { when, at, source: Some(source) }) => {
                    d = d.and_at(self.cx.span(at), "moved here, undefined already");
                    (memory, byte, before) = (source.0, source.1, when);
                }
                None => return d.note("nothing has written it: it is padding, or the tile was never filled"),
            }
        }
        d
    }
}
