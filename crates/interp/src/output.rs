//! The outputs of a block: requested tiles, prints, and the trace.

use super::code::{GlobalSlot, InstTemplate, TileSlot};
use super::step::Exec;
use super::{Printed, PrintedValue, TraceLine, TraceWrite};
use tessera_exec::engine::{TileData, is_valid_set};
use tessera_ir::{OpId, ValueId};
use tessera_isa::inst::{AttrValue, PrintFormat};
use tessera_isa::ops::{AttrName, Role};
use tessera_kernels::memory::ArrayAccess;
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
            let format = self.print_format(at);
            self.printed.push(Printed { op: at, block: self.block, what, format });
        }
        Ok(())
    }

    /// The format that `pto.tprint` says.
    fn print_format(&self, at: OpId) -> Option<(usize, usize)> {
        match self.cx.func.op(at).known_attrs().get(AttrName::PrintFormat)? {
            AttrValue::Word(n) => PrintFormat::ALL.get(usize::from(n)).map(|format| format.width_and_digits()),
            _ => None,
        }
    }

    /// `pto.tprint` of a view: its elements, the last dimension as columns.
    pub fn print_view(&mut self, at: OpId, value: ValueId, slot: GlobalSlot) -> Result<(), Failure> {
        let view = self.global(slot).clone();
        let all = self.inside(&view, "what is printed")?;
        let cols = view.dims.last().copied().unwrap_or(1);
        let rows = (all.len() as u64).checked_div(cols).unwrap_or(0);
        let bits = view.elem.bits() as usize;
        let (mut elements, mut defined) = (vec![0; (all.len() * bits).div_ceil(8)], Vec::new());
        defined.resize(elements.len(), 0xFF);
        let tracked = self.engine.memories.tracked;
        if let Some(memory) = self.engine.memories.get_mut(view.buffer) {
            for (n, element) in all.into_iter().enumerate() {
                let bit = element as usize * bits;
                let (byte, len) = (bit / 8, bits.div_ceil(8));
                memory.touch([(byte, len)].into_iter(), ArrayAccess::READS)?;
                let is_defined = !tracked || memory.defined().has_all(byte, len);
                for k in 0..len {
                    let from = memory.bytes().get(byte + k).copied().unwrap_or(0) >> (bit % 8);
                    let from = if bits == 4 { from & 15 } else { from };
                    let to = (n * bits) / 8 + k;
                    if let (Some(to), Some(defined)) = (elements.get_mut(to), defined.get_mut(to)) {
                        *to |= from << ((n * bits) % 8);
                        *defined &= if is_defined { 0xFF } else { 0 };
                    }
                }
            }
        }
        let (raw, raw_defined) = (elements.clone(), defined.clone());
        let data = TileData { rows, cols, elem: view.elem, conv: None, elements, defined, raw, raw_defined };
        let (what, format) = (PrintedValue::Tile(value, data), self.print_format(at));
        self.printed.push(Printed { op: at, block: self.block, what, format });
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
