//! The outputs of a block: requested tiles, prints, and the trace.

use super::code::{InstTemplate, TileSlot};
use super::step::Exec;
use super::{Printed, PrintedValue, TraceLine, TraceWrite};
use tessera_exec::engine::is_valid_set;
use tessera_ir::OpId;
use tessera_isa::ops::Role;
use tessera_kernels::{Failure, internal_error};

impl Exec<'_> {
    /// `pto.tprint`.
    pub fn print(&mut self, at: OpId, slot: TileSlot) -> Result<(), Failure> {
        self.is_alive(slot)?;
        self.watch_print(slot)?;
        let valid = self.engine.object(self.object_of(slot))?.valid;
        let op = self.cx.func.op(at).opcode().ok_or_else(|| internal_error("a print is no instruction"))?;
        is_valid_set(op, Role::Tile, valid)?;
        let data = self.engine.read(self.object_of(slot), 0)?;
        if data.defined.iter().any(|d| *d != 0xFF) {
            self.warn_undefined(at, slot, "is printed");
        }
        self.observe_print(at, self.object_of(slot));
        if let Some(value) = self.value_of(slot) {
            let what = PrintedValue::Tile(value, data);
            self.printed.push(Printed { op: at, block: self.block, what });
        }
        Ok(())
    }

    /// Adds a line to the trace: the instruction, its operands, and a hash of its results.
    pub fn trace_line(&mut self, site: &InstTemplate) {
        let mut operands = Vec::new();
        let mut written = Vec::new();
        for (role, slot) in &site.tiles {
            let name = self.tile_name(*slot);
            let Ok(o) = self.engine.object(self.object_of(*slot)) else {
                continue;
            };
            let [rows, cols] = o.extent();
            operands.push(format!("{role}={name}@{:#x}:{rows}x{cols}", o.place.at));
            if role.is_dst() {
                for core in [0, 1] {
                    let contents = self.engine.contents(self.object_of(*slot), core);
                    let Some((bytes, defined)) = contents else { continue };
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
            index: self.engine.issued - self.began - 1,
            block: self.block,
            op: site.at,
            span: self.cx.span(site.at),
            opcode: site.inst.op,
            operands: operands.join(" "),
            written,
        };
        if let Some(trace) = &mut self.trace {
            trace.push(line);
        }
        self.record(site);
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
