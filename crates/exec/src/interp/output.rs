//! What leaves a block: tiles that are asked for, prints, and the trace.

use super::code::{Site, Slot};
use super::exec::Exec;
use super::{Printed, TileData, TraceLine, TraceWrite};
use crate::memory::on_core;
use crate::nest::{Bits, Map, Move, lower};
use crate::prepared::Failure;
use tessera_ir::OpId;
use tessera_isa::layout::Layout;

impl Exec<'_> {
    /// A tile's valid region in logical order and its declared bytes, as one core sees them.
    pub fn tile_data(&self, slot: Slot, core: u8) -> Result<TileData, Failure> {
        let o = self.tile(slot)?;
        let (rows, cols) = (o.valid[0].min(o.tile.rows), o.valid[1].min(o.tile.cols));
        let elem = o.tile.elem;
        let layout = self.layouts.get(o.layout);
        let len = elem.bytes_of(rows.saturating_mul(cols)) as usize;
        let (mut elements, mut defined) = (vec![0u8; len], vec![0u8; len]);
        let mv = Move {
            rows,
            cols,
            src: Map::IDENTITY,
            dst: Map::IDENTITY,
        };
        let span = elem.bytes_of(layout.footprint()) as usize;
        if let Some(memory) = self.memories.get(on_core(o.place.memory, core)) {
            let bytes = memory.bytes().get(o.place.at..).unwrap_or(&[]);
            let shadow = if self.memories.tracked {
                memory.defined().expand(o.place.at, span)
            } else {
                vec![0xFF; span]
            };
            for nest in lower(
                &mv,
                &layout,
                &Layout::row_major(rows, cols, cols),
                Bits::same(elem.bits()),
            ) {
                // A tile that nothing ever touched may lie beyond the memory's end.
                if nest.run(bytes, &mut elements).is_ok() {
                    let _ = nest.run(&shadow, &mut defined);
                }
            }
        }
        elements.iter_mut().zip(&defined).for_each(|(b, d)| *b &= d);
        let (mut raw, raw_defined) = self.contents(self.object_of(slot), core);
        raw.iter_mut().zip(&raw_defined).for_each(|(b, d)| *b &= d);
        Ok(TileData {
            rows,
            cols,
            elem,
            conv: o.conv,
            elements,
            defined,
            raw,
            raw_defined,
        })
    }

    /// `pto.tprint`.
    pub fn print(&mut self, at: OpId, slot: Slot) -> Result<(), Failure> {
        let data = self.tile_data(slot, 0)?;
        if data.defined.iter().any(|d| *d != 0xFF)
            && let Some(d) = self.undefined_read(slot, 0, "is printed")
        {
            let d = self.at(at, Box::new(d));
            self.found.warn(at, *d);
        }
        let value = self
            .cx
            .program
            .objects
            .get(self.object_of(slot) as usize)
            .map(|o| o.value);
        if let Some(value) = value {
            self.printed.push(Printed {
                op: at,
                value,
                block: self.block,
                data,
            });
        }
        Ok(())
    }

    /// One line of the trace: what ran, on what, and a hash of what it wrote.
    pub fn trace_line(&mut self, _index: usize, site: &Site) {
        let mut operands = Vec::new();
        let mut written = Vec::new();
        for (role, slot) in &site.tiles {
            let name = self.tile_name(*slot);
            let Ok(o) = self.tile(*slot) else { continue };
            operands.push(format!(
                "{role}={name}@{:#x}:{}x{}",
                o.place.at,
                o.valid[0].min(o.tile.rows),
                o.valid[1].min(o.tile.cols)
            ));
            if role.is_dst() {
                for core in [0, 1] {
                    let (bytes, defined) = self.contents(self.object_of(*slot), core);
                    if core == 0 || defined.contains(&0xFF) {
                        written.push(TraceWrite {
                            name: if core == 0 { name.clone() } else { format!("{name}@1") },
                            hash: hash(&bytes, &defined),
                        });
                    }
                }
            }
        }
        for (role, scalar) in &site.scalars {
            operands.push(match scalar.number(self.int(scalar.int)) {
                tessera_isa::codec::Number::Int(v) => format!("{role}={v}"),
                tessera_isa::codec::Number::Float(v) => format!("{role}={v:?}"),
            });
        }
        let line = TraceLine {
            index: self.issued - 1,
            block: self.block,
            op: site.at,
            span: self.cx.span(site.at),
            opcode: site.opcode,
            operands: operands.join(" "),
            written,
        };
        if let Some(trace) = &mut self.trace {
            trace.push(line);
        }
    }
}

/// FNV-1a over the bytes; an undefined one counts as a symbol of its own.
fn hash(bytes: &[u8], defined: &[u8]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325u64;
    for (byte, defined) in bytes.iter().zip(defined) {
        let symbol = if *defined == 0xFF { u64::from(*byte) } else { 256 };
        state = (state ^ symbol).wrapping_mul(0x0100_0000_01b3);
    }
    state
}
