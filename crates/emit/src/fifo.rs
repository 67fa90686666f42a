//! FIFOs between the cores of a block: the header's TPipe, TPUSH, TPOP and TFREE (isa/structure.md 5, cpp.md 6.7).

use crate::{Emitted, Emitter, cannot};
use tessera_ir::fifo::{Fifo, entry, local_slots, part, popped, quant_of, slot_size, slots};
use tessera_ir::{Op, OpId, Type, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{AttrName, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Dir, Epilogue, Fifo as Step, PushQuant};

/// The ways of quantizing on a push that cpp.md 7 has a word for.
const HAS_NAME: &[PushQuant] = &[
    PushQuant::NoConvert,
    PushQuant::F32F16,
    PushQuant::F32Bf16,
    PushQuant::Deqf16Scalar,
    PushQuant::Deqf16Vec,
    PushQuant::Req8Scalar,
    PushQuant::Req8Vec,
    PushQuant::Qf322b8Scalar,
    PushQuant::Qf322b8Vec,
    PushQuant::Qf322f16Scalar,
    PushQuant::Qf322bf16Scalar,
    PushQuant::Qs322bf16Scalar,
    PushQuant::Qs322bf16Vec,
];

/// The header's word for a split.
fn split(op: &Op) -> &'static str {
    match op.known_attrs().int(AttrName::PipeSplit) {
        Some(1) => "TileSplitAxis::TILE_UP_DOWN",
        Some(2) => "TileSplitAxis::TILE_LEFT_RIGHT",
        Some(3) => "TileSplitAxis::TILE_UP_DOWN_ODD",
        Some(4) => "TileSplitAxis::TILE_LEFT_RIGHT_ODD",
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
            // It begins where a slot becomes it.
            Some(Step::DeclareView) => Ok(()),
            Some(Step::SetQuant) => self.set_quant(id, op),
            Some(Step::Alloc(_)) => self.take_entry("TALLOC", id, op),
            Some(Step::Pop(_)) if self.has_entries(id) => self.take_entry("TPOP", id, op),
            Some(Step::Pop(_)) => self.pop(id, op),
            Some(Step::Push(_)) => self.push(id, op),
            Some(Step::Free(_)) => {
                // On a2a3 the pop frees the slot, and the header's TFREE says so itself.
                let pipe = self.pipe_of(id, op)?;
                let entry = op.operand(Role::Global).map(|_| self.entry_of(op)).transpose()?;
                self.step("TFREE", op, &pipe, entry.as_deref());
                Ok(())
            }
            None => Err(Diagnostic::internal(op.span, "an instruction of FIFOs has no part in any")),
        }
    }

    /// Whether views of slots go through the pipe of an operation, and no tiles (isa/today.md 7.2).
    fn has_entries(&self, id: OpId) -> bool {
        self.fifos.of(id).is_some_and(|fifo| self.fifos.list[fifo].entries)
    }

    /// What a push out of an accumulator does to its elements (isa/today.md 7.3).
    fn epilogue(&self, id: OpId) -> Option<Epilogue> {
        self.fifos.of(id).and_then(|fifo| self.fifos.list[fifo].epilogue)
    }

    fn push(&mut self, id: OpId, op: &Op) -> Emitted<()> {
        let pipe = self.pipe_of(id, op)?;
        if op.operand(Role::Global).is_some() {
            let entry = self.entry_of(op)?;
            self.step("TPUSH", op, &pipe, Some(&entry));
            return Ok(());
        }
        let tile = self.tile(op, Role::Src)?;
        let Some(epilogue) = self.epilogue(id) else {
            self.step("TPUSH", op, &pipe, Some(&tile));
            return Ok(());
        };
        if !HAS_NAME.contains(&epilogue.quant) {
            let what = format!("a push with quant = {}, for which the header has no word,", epilogue.quant.name());
            return Err(cannot(op.span, what, "quantize with pto.tmov, and push the result"));
        }
        // One parameter is set at a time, and another pipe may have set its own since.
        if epilogue.quant.param().is_some() && self.quantizing_pipes() > 1 {
            let set = quant_of(self.func, id);
            set.map(|set| self.set_quant(set, self.func.op(set))).transpose()?;
        }
        let relu = if epilogue.relu { "NormalRelu" } else { "NoRelu" };
        let (layout, quant) = (epilogue.layout.cpp(), epilogue.quant.cpp());
        let params = format!("FixpipeParams<LayoutMode_t::{layout}, QuantMode_t::{quant}, ReluPreMode::{relu}>");
        self.line(&format!("TPUSH<decltype({pipe}), {}, {params}>({pipe}, {tile});", self.type_of(&tile)));
        Ok(())
    }

    /// How many pipes of the function quantize by a parameter.
    fn quantizing_pipes(&self) -> usize {
        let has_param = |f: &&Fifo| f.epilogue.is_some_and(|e| e.quant.param().is_some());
        self.fifos.list.iter().filter(has_param).count()
    }

    /// The parameter by which the pushes that follow quantize.
    fn set_quant(&mut self, id: OpId, op: &Op) -> Emitted<()> {
        if self.fifos.of(id).is_none() {
            return Ok(());
        }
        if op.operand(Role::Fp).is_some() {
            let fp = self.tile(op, Role::Fp)?;
            self.line(&format!("SET_QUANT_VECTOR({fp});"));
            return Ok(());
        }
        // The type of the result is that of what is popped.
        let pops = self.fifos.of(id).map(|fifo| self.fifos.list[fifo].pops.clone()).unwrap_or_default();
        let popped = pops.iter().find_map(|pop| popped(self.func.op(*pop)));
        let Some(elem) = popped.and_then(|v| self.ty(v).tile()).map(|tile| tile.elem) else {
            return Err(cannot(
                op.span,
                "a scale of pushes that nothing pops",
                "pop what is pushed in the same module",
            ));
        };
        let scale = self.scalar(op, Role::Scalar)?;
        self.line(&format!("SET_QUANT_SCALAR<{}>({scale});", elem.cpp()));
        Ok(())
    }

    /// The object of the view that an operation of a FIFO has.
    fn entry_of(&self, op: &Op) -> Emitted<String> {
        let value = entry(op).ok_or_else(|| Diagnostic::internal(op.span, "a step of a FIFO has no view"))?;
        Ok(match self.names.is_declared(value) {
            true => self.names.object(value).to_string(),
            // A view of a slot that another block made.
            false => self.view_for(value, op)?,
        })
    }

    /// A view becomes that of the next slot: one to fill, or one that is filled.
    fn take_entry(&mut self, name: &str, id: OpId, op: &Op) -> Emitted<()> {
        let pipe = self.pipe_of(id, op)?;
        let value = entry(op).ok_or_else(|| Diagnostic::internal(op.span, "a step of a FIFO has no view"))?;
        if !self.names.is_declared(value) {
            let init = self.fifos.init(id).map(|init| self.func.op(init));
            let slot = init.and_then(|init| init.operand(Role::SlotView)).and_then(|o| o.arg.value());
            let Some(slot) = slot else {
                return Err(cannot(op.span, "a view of a slot without gm_slot_tensor", "say it where the pipe begins"));
            };
            self.declare_entry(value, slot)?;
            self.names.declared(value);
        }
        let entry = self.names.object(value).to_string();
        self.step(name, op, &pipe, Some(&entry));
        self.bind_entry(value)
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
        let slot_view = op.operand(Role::SlotView);
        // Slots lie in a view everywhere, in a buffer of global memory on a2a3 only (isa/structure.md 6).
        let gm = match slot_view.or(op.operand(Role::Global)).and_then(|o| o.arg.value()) {
            Some(v) if self.profile == Profile::A2a3 || slot_view.is_some() => match self.ty(v) {
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
