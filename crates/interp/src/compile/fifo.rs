//! FIFOs and tokens between cores (isa/structure.md 4 to 6, sync.md 5).

use super::super::code::*;
use super::super::cores::Group;
use super::super::grid_barrier;
use super::super::observe;
use super::{Compiler, lacks};
use tessera_ir::{Arg, Core, Op, OpId, OpKind, ScalarType, ValueId, fifo};
use tessera_isa::elem::Elem;
use tessera_isa::ops::{AttrName, Opcode, Order, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Fifo as Part, Sem};
use tessera_isa::tile::{BLayout, Loc, SLayout, Tile};
use tessera_kernels::{Failure, failure, internal_error};

/// More slots than this are not kept.
const MAX_SLOTS: u64 = 1 << 16;

impl Compiler<'_> {
    /// Computes the addresses of the slots of every FIFO, and makes the tiles that pushes leave in them. All cores
    /// agree on it.
    pub(super) fn channels(&mut self) -> Result<(), Failure> {
        let fifos = std::mem::take(&mut self.fifos);
        for f in &fifos.list {
            if f.slots > MAX_SLOTS {
                let what =
                    format!("{} has {} slots, and {MAX_SLOTS} are kept at most", f.describe(self.module), f.slots);
                return Err(failure("memory-limit", what, "use fewer slots"));
            }
            let room = f.slots.saturating_mul(f.slot_size);
            let mut stages = Vec::new();
            for push in f.pushes.iter().filter(|_| !f.entries) {
                let op = self.func.op(*push);
                let src = op.operand(Role::Src).and_then(|o| o.arg.value()).ok_or_else(|| lacks(op, "a tile"))?;
                let stage = self.slot_object(op, src)?;
                if f.epilogue.is_some() {
                    // What waits has the type that is popped.
                    let popped = f.pops.first().and_then(|pop| fifo::popped(self.func.op(*pop)));
                    let elem = popped.and_then(|v| self.ty(v).on(self.profile)).ok_or_else(|| lacks(op, "a pop"))?.elem;
                    let tile = &mut self.program.objects[stage.index()].tile;
                    let (blayout, slayout) = (BLayout::RowMajor, SLayout::NoneBox);
                    *tile = Tile { loc: Loc::Vec, elem, blayout, slayout, fractal: 512, ..*tile };
                }
                stages.push(stage);
            }
            let stage = self.program.pool;
            let widened = stage.saturating_add(room.saturating_mul(2));
            self.program.pool = widened.saturating_add(if f.epilogue.is_some() { 1 << 16 } else { 0 });
            self.stages.push(stages);
            self.program.channels.push(Channel {
                dir: f.dir,
                slots: f.slots,
                local_slots: f.local_slots,
                slot_size: f.slot_size,
                split: f.split,
                is_global: f.is_global(self.profile),
                frees_at_pop: f.frees_at_pop(self.profile),
                entries: f.entries,
                epilogue: f.epilogue,
                widened,
                name: f.describe(self.module),
                base: self.placement.slots_of(self.func, &self.constants, f),
                stage,
                offset: f.offset(self.func),
            });
        }
        self.fifos = fifos;
        Ok(())
    }

    /// A tile in a slot; it has a place only while it is there.
    fn slot_object(&mut self, op: &Op, like: ValueId) -> Result<TileId, Failure> {
        let tile = self.ty(like).on(self.profile).ok_or_else(|| lacks(op, "a tile"))?;
        let info = ObjectInfo { value: like, tile, conv: None, address: None, pool: 0, is_own: false };
        self.program.objects.push(info);
        Ok(TileId::new(self.program.objects.len() - 1))
    }

    /// Whether the section is for other cores than the one that is compiled for.
    pub(super) fn is_skipped(&self, id: OpId, op: &Op) -> bool {
        let (Some(section), Some(core)) = (op.section_core(), self.process.core) else { return false };
        // A section that only moves whole tiles runs on vector core 0 (cpu, a5).
        let is_outer = self.cores[id.index()].is_none();
        let only_first = self.process.number == 1 && self.profile != Profile::A2a3 && is_outer;
        section != core || only_first && section == Core::Vector && fifo::moves_whole_tiles(self.func, &op.blocks)
    }

    pub(super) fn fifo(&mut self, id: OpId, op: &Op, code: &mut Vec<Code>) -> Result<(), Failure> {
        let Some(part) = fifo::part(op) else { return Ok(()) };
        let Some(meet) = self.meet(id, op, part, code)? else { return Ok(()) };
        code.push(Code::CoreSyncOp(id, Box::new(meet)));
        Ok(())
    }

    fn meet(&mut self, id: OpId, op: &Op, part: Part, code: &mut Vec<Code>) -> Result<Option<CoreSyncOp>, Failure> {
        match part {
            Part::Reserve | Part::Import => {
                let value = self.buffer_address(op, part)? as i64;
                code.push(Code::Set { dst: self.int_result(op)?, value });
                return Ok(None);
            }
            Part::Initialize(_) => return Ok(None),
            Part::Declare => {
                let made = self.result(op)?;
                let slot = self.var(made).tile().ok_or_else(|| lacks(op, "a tile as its result"))?;
                let object = self.object(made)?;
                code.push(Code::Support(id, Box::new(Support::Declare { object, slot })));
                return Ok(None);
            }
            // A pop, or an allocation, makes the view.
            // A push asks for its parameter.
            Part::DeclareView | Part::SetQuant => return Ok(None),
            _ => {}
        }
        let Some(channel) = self.fifos.of(id) else {
            let fault = match self.cores[id.index()] {
                None => ("fifo-kind", "stands in code of no kind of core"),
                Some(_) => ("fifo-init", "has no initialized pipe in its direction"),
            };
            code.push(Code::Support(id, Box::new(Support::Fault(fault.0, format!("{} {}", op.kind.name(), fault.1)))));
            return Ok(None);
        };
        let init = self.fifos.init(id).map(|init| self.func.op(init));
        let of_init = |role| init.and_then(|init| init.operand(role)).and_then(|o| o.arg.value());
        let slot = of_init(Role::SlotView).and_then(|v| self.var(v).global());
        if self.fifos.list[channel].entries {
            let slot = slot.ok_or_else(|| lacks(op, "a pipe with gm_slot_tensor"))?;
            let view = fifo::entry(op).and_then(|v| self.var(v).global());
            return Ok(Some(CoreSyncOp::Entry(Entry {
                channel,
                part,
                slot,
                view,
                sub_block: self.role(op, Role::Number)?,
            })));
        }
        let global = slot.or_else(|| of_init(Role::Global).and_then(|v| self.var(v).global()));
        let cache = self.program.moves;
        Ok(Some(match part {
            Part::Push(_) => {
                let number = self.fifos.list[channel].pushes.iter().position(|p| *p == id);
                let number = number.ok_or_else(|| internal_error("a push is not among its FIFO's"))?;
                let src = op.operand(Role::Src).and_then(|o| o.arg.value()).and_then(|v| self.var(v).tile());
                self.program.moves += 1;
                let quant = self.quant_push(id, channel)?;
                CoreSyncOp::Push(Push {
                    quant,
                    channel,
                    number,
                    src: src.ok_or_else(|| lacks(op, "a tile"))?,
                    stage: *self.stages[channel].get(number).ok_or_else(|| internal_error("a push has no stage"))?,
                    global,
                    cache,
                    sub_block: self.role(op, Role::Number)?,
                })
            }
            Part::Pop(_) => {
                let made = fifo::popped(op).ok_or_else(|| lacks(op, "a tile"))?;
                let slots = self.fifos.list[channel].slots;
                let ring = (0..slots).map(|_| self.slot_object(op, made)).collect::<Result<_, _>>()?;
                self.program.moves += 1;
                CoreSyncOp::Pop(Pop {
                    channel,
                    to: self.var(made).tile().ok_or_else(|| lacks(op, "a tile"))?,
                    ring,
                    valid: [self.role(op, Role::ValidRow)?, self.role(op, Role::ValidCol)?],
                    stages: self.stages[channel].clone(),
                    global,
                    views: self.views_of(made)?,
                    cache,
                    sub_block: self.role(op, Role::Number)?,
                })
            }
            _ => CoreSyncOp::Free { channel },
        }))
    }

    /// What a push does to the elements of an accumulator, with the parameter that is set before it.
    fn quant_push(&mut self, push: OpId, channel: usize) -> Result<Option<QuantPush>, Failure> {
        let Some(epilogue) = self.fifos.list[channel].epilogue else { return Ok(None) };
        // The conversion, and the widening of its parameters.
        self.program.moves += 2;
        if epilogue.quant.param().is_none() {
            return Ok(Some(QuantPush { epilogue, param: PushArg::None }));
        }
        let op = self.func.op(push);
        let set = fifo::quant_of(self.func, push).map(|set| self.func.op(set));
        let set = set.ok_or_else(|| lacks(op, "a parameter that is set before it"))?;
        let param = match set.operand(Role::Fp).and_then(|o| o.arg.value()) {
            Some(fp) => {
                let tile = self.ty(fp).on(self.profile).ok_or_else(|| lacks(set, "a tile"))?;
                let wide = if tile.elem.bits() < 64 { Some(self.slot_object(set, fp)?) } else { None };
                if let Some(wide) = wide {
                    self.program.objects[wide.index()].tile.elem = Elem::U64;
                }
                PushArg::Vector(self.var(fp).tile().ok_or_else(|| lacks(set, "a tile"))?, wide)
            }
            None => PushArg::Scalar(self.role(set, Role::Scalar)?.ok_or_else(|| lacks(set, "a scalar"))?),
        };
        Ok(Some(QuantPush { epilogue, param }))
    }

    /// The address that `reserve_buffer` and `import_reserved_buffer` give.
    fn buffer_address(&self, op: &Op, part: Part) -> Result<u64, Failure> {
        if part == Part::Reserve {
            return Ok(self.placement.reserved(self.result(op)?).unwrap_or(0));
        }
        let peer = op.name_attr(AttrName::PeerFunc).and_then(|peer| self.module.names.find(peer));
        let name = op.name_attr(AttrName::Name);
        let is = |(at, other): &(usize, &Op)| {
            let at = OpId(*at as u32);
            fifo::part(other) == Some(Part::Reserve)
                && Some(self.func.home(at)) == peer
                && other.name_attr(AttrName::Name) == name
        };
        let reserve = self.func.ops.iter().enumerate().find(is).and_then(|(_, op)| op.results.first().copied());
        Ok(reserve.and_then(|value| self.placement.reserved(value)).unwrap_or(0))
    }

    /// The tiles that may become views of a popped one.
    fn views_of(&mut self, popped: ValueId) -> Result<Vec<TileId>, Failure> {
        let mut values = vec![popped];
        let mut at = 0;
        while let Some(source) = values.get(at).copied() {
            at += 1;
            for op in &self.func.ops {
                let OpKind::Pto(opcode, _) = op.kind else { continue };
                if opcode.is_view(self.profile) && op.operand(Role::Src).and_then(|o| o.arg.value()) == Some(source) {
                    let new = op.dsts().into_iter().map(|(_, dst)| dst).filter(|dst| !values.contains(dst));
                    let new: Vec<ValueId> = new.collect();
                    values.extend(new);
                }
            }
        }
        values.into_iter().skip(1).map(|value| self.object(value)).collect()
    }

    /// `sync.set` and `sync.wait`: in a process that is not split they order its own pipes, unless all blocks meet there.
    pub(super) fn token(&mut self, id: OpId, op: &Op, opcode: Opcode, code: &mut Vec<Code>) -> Result<(), Failure> {
        let Some((_, id_of)) = op.token() else { return Ok(()) };
        let is_wide = op.is_wide_token(self.module, self.profile);
        let mode = opcode.ffts_mode(is_wide, op.known_attrs());
        let takes = matches!(opcode.info().sem, Sem::Orders(Order::CoreWait));
        let is_met = grid_barrier::is_met(self.module, self.func, self.profile) && (takes || mode == 0);
        if self.process.core.is_none() && !is_met {
            if self.observed {
                code.push(observe::order(id, op, |arg| self.int(op, arg).ok()));
            }
            return Ok(());
        }
        let token = match id_of {
            Arg::Int(v) => Int::Imm(v),
            value => self.int(op, value)?,
        };
        let meet = if takes {
            CoreSyncOp::Take { id: token, crosses: opcode.crosses_blocks(), is_wide }
        } else {
            CoreSyncOp::Give { id: token, mode, is_wide }
        };
        code.push(Code::CoreSyncOp(id, Box::new(meet)));
        Ok(())
    }

    /// `syncall`: the group, and the workspace where one is given.
    pub(super) fn meeting(&mut self, id: OpId, op: &Op, code: &mut Vec<Code>) -> Result<(), Failure> {
        let words = op.attrs.as_deref().map(|a| a.words.as_slice()).unwrap_or_default();
        let group = match words.get(1).map(String::as_str) {
            Some("aic_only") => Group::Cube,
            Some("aiv_only") => Group::Vector,
            _ => Group::All,
        };
        let pointer = op.operand(Role::Global).and_then(|o| self.var(o.arg.value()?).global());
        let word = pointer.map(|pointer| {
            let ty = ScalarType::Int(32, tessera_ir::Sign::None);
            (Access { pointer, index: Int::Imm(0), ty }, self.program.temporary())
        });
        let wanted = self.role(op, Role::Number)?;
        code.push(Code::CoreSyncOp(id, Box::new(CoreSyncOp::Meet(Meeting { group, word, wanted }))));
        Ok(())
    }
}
