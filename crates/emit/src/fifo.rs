//! FIFOs between the cores of a block: the header's TPipe, TPUSH, TPOP and TFREE (isa/structure.md 5, cpp.md 6.7).

use crate::{Emitted, Emitter, cannot};
use tessera_ir::fifo::{local_slots, part, slot_size, slots};
use tessera_ir::{Op, OpId, Type, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{AttrName, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Dir, Fifo as Step};

/// The header's word for a split.
fn split(op: &Op) -> &'static str {
    match op.known_attrs().int(AttrName::PipeSplit) {
        Some(1) => "TileSplitAxis::TILE_UP_DOWN",
        Some(2) => "TileSplitAxis::TILE_LEFT_RIGHT",
        _ => "TileSplitAxis::TILE_NO_SPLIT",
    }
}

impl Emitter<'_> {
    pub(crate) fn pipe(&mut self, id: OpId, op: &Op) -> Emitted<()> {
        match part(op) {
            // The address of a reserved buffer is a number.
            Some(Step::Reserve | Step::Import) => {
                let result = self.result(op)?;
                let address = self.reserved(op, result)?;
                self.names.stands_for(result, address.to_string());
                Ok(())
            }
            Some(Step::Initialize(_)) => self.initialize(id, op),
            Some(Step::Declare) => {
                let tile = self.result(op)?;
                self.declare(tile)
            }
            Some(Step::Alloc(_) | Step::DeclareView) => Err(Self::no_entries(op)),
            Some(Step::SetQuant) => Err(Self::no_epilogue(op)),
            Some(Step::Push(_) | Step::Pop(_) | Step::Free(_)) if op.operand(Role::Global).is_some() => {
                Err(Self::no_entries(op))
            }
            Some(Step::Push(_)) => {
                let (pipe, tile) = (self.pipe_of(id, op)?, self.tile(op, Role::Src)?);
                self.step("TPUSH", op, &pipe, Some(&tile));
                Ok(())
            }
            Some(Step::Pop(_)) => self.pop(id, op),
            Some(Step::Free(_)) => {
                // On a2a3 the pop frees the slot, and the header's TFREE says so itself.
                let pipe = self.pipe_of(id, op)?;
                self.step("TFREE", op, &pipe, None);
                Ok(())
            }
            None => Err(Diagnostic::internal(op.span, "an instruction of FIFOs has no part in any")),
        }
    }

    /// The header has views of slots for tiles only.
    fn no_entries(op: &Op) -> Box<Diagnostic> {
        cannot(op.span, "the view of a slot of a FIFO", "move tiles through the pipe")
    }

    /// Nor has it conversions on a push.
    fn no_epilogue(op: &Op) -> Box<Diagnostic> {
        cannot(op.span, "a push that converts", "convert after the pop")
    }

    fn step(&mut self, name: &str, op: &Op, pipe: &str, tile: Option<&str>) {
        let split = split(op);
        self.line(&match tile {
            Some(tile) => format!("{name}<decltype({pipe}), {}, {split}>({pipe}, {tile});", self.type_of(tile)),
            None => format!("{name}<decltype({pipe}), {split}>({pipe});"),
        });
    }

    fn pop(&mut self, id: OpId, op: &Op) -> Emitted<()> {
        let pipe = self.pipe_of(id, op)?;
        let tile = match op.operand(Role::Tile) {
            Some(_) => self.tile(op, Role::Tile)?,
            None => {
                let tile = self.result(op)?;
                self.declare(tile)?;
                let (rows, cols) = (self.role(op, Role::ValidRow), self.role(op, Role::ValidCol));
                let declared = self.ty(tile).tile().map(|t| (t.rows.to_string(), t.cols.to_string()));
                let (all_rows, all_cols) = declared.unwrap_or_default();
                self.set_dynamic(tile, &rows.unwrap_or(all_rows), &cols.unwrap_or(all_cols));
                self.names.object(tile).to_string()
            }
        };
        self.step("TPOP", op, &pipe, Some(&tile));
        Ok(())
    }

    /// The address of a `reserve_buffer`, or of the one that is imported.
    fn reserved(&self, op: &Op, result: ValueId) -> Emitted<u64> {
        if let Some(Step::Reserve) = part(op) {
            return Ok(self.placement.reserved(result).unwrap_or(0));
        }
        let name = op.name_attr(AttrName::Name);
        let peer = op.name_attr(AttrName::PeerFunc).and_then(|peer| self.module.names.find(peer));
        let mut found = None;
        self.func.walk(&mut |id, other, _| {
            let is_it = part(other) == Some(Step::Reserve)
                && other.name_attr(AttrName::Name) == name
                && peer.is_none_or(|peer| self.func.home(id) == peer);
            if is_it {
                found = found.or(other.results.first().copied());
            }
        });
        match found {
            Some(value) => Ok(self.placement.reserved(value).unwrap_or(0)),
            None => {
                let what = "the address of a buffer that another function reserves, which does not run with this one,";
                Err(cannot(op.span, what, "name the function in peer_func, and build both in one module"))
            }
        }
    }

    fn initialize(&mut self, id: OpId, op: &Op) -> Emitted<()> {
        if op.operand(Role::SlotView).is_some() {
            return Err(Self::no_entries(op));
        }
        if tessera_ir::fifo::epilogue(op).is_some() {
            return Err(Self::no_epilogue(op));
        }
        let name = match op.results.first() {
            Some(result) => self.names.object(*result).to_string(),
            None => self.names.fresh("pipe"),
        };
        let attrs = op.known_attrs();
        let mask = attrs.int(AttrName::DirMask).unwrap_or(0);
        let direction = match mask {
            1 => "Direction::DIR_C2V",
            2 => "Direction::DIR_V2C",
            _ => "Direction::DIR_BOTH",
        };
        let gm = match op.operand(Role::Global).and_then(|o| o.arg.value()) {
            // Slots lie in global memory on a2a3 only (isa/structure.md 6).
            Some(v) if self.profile == Profile::A2a3 => match self.ty(v) {
                Type::Ptr(..) => self.value(v),
                _ => self.view(v)?.data.clone(),
            },
            _ => String::new(),
        };
        let gm = match gm.is_empty() {
            true => "nullptr".to_string(),
            false => format!("reinterpret_cast<__gm__ void *>({gm})"),
        };
        let [c2v, v2c] = [Dir::C2v, Dir::V2c].map(|dir| {
            let operand = tessera_ir::fifo::buffer_operand(op, dir).filter(|_| mask & dir.bit() != 0);
            operand.map_or_else(|| "0".into(), |arg| self.int(arg))
        });
        // On a2a3 both vector cores receive what is not split (isa/structure.md 6).
        let of = self.fifos.list.iter().find(|f| f.inits.iter().flatten().any(|init| *init == id));
        let whole = self.profile == Profile::A2a3 && of.is_some_and(|f| f.split == 0);
        self.line(&format!(
            "TPipe<{}, {direction}, {}, {}, {}, {whole}> {name}({gm}, {c2v}, {v2c});",
            self.flag_base(id, op),
            slot_size(op),
            slots(op),
            local_slots(op),
        ));
        self.pipes.insert(id, name);
        Ok(())
    }

    /// The first flag of a pipe: both ends name the same one, and pipes differ.
    fn flag_base(&self, id: OpId, op: &Op) -> i128 {
        if let Some(base) = op.known_attrs().int(AttrName::FlagBase) {
            return base;
        }
        // Each direction takes two flags.
        let of = self.fifos.list.iter().position(|f| f.inits.iter().flatten().any(|init| *init == id));
        2 * of.unwrap_or(0) as i128
    }

    /// The pipe of a push, pop or free: the one that it names, else the one of its function.
    fn pipe_of(&self, id: OpId, op: &Op) -> Emitted<String> {
        if let Some(value) = op.operand(Role::Pipe).and_then(|o| o.arg.value()) {
            return Ok(self.value(value));
        }
        let init = self.fifos.init(id);
        let found = init.and_then(|init| self.pipes.get(&init)).cloned();
        found.ok_or_else(|| {
            cannot(op.span, "a pipe that another function initializes", "initialize it in this function")
        })
    }

    /// The type of an expression that is an object, for template arguments.
    pub(crate) fn type_of(&self, text: &str) -> String {
        match text.starts_with('(') || self.references.contains(text) {
            true => format!("std::remove_reference_t<decltype({text})>"),
            false => format!("decltype({text})"),
        }
    }
}
