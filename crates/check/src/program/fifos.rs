//! FIFOs between cores: both ends, what goes through them, and in which order (isa/structure.md 5).

mod balance;
mod entries;
mod quant;

use super::report::Report;
use crate::rules::fifo as rules;
use rustc_hash::FxHashSet;
use tessera_ir::fifo::{self, Buffer, Fifo, popped};
use tessera_ir::scalar::Constants;
use tessera_ir::{Core, Fifos, Func, Module, Op, OpId, OpKind, Type, ValueId};
use tessera_isa::diag::Fault;
use tessera_isa::inst::{AttrValue, Space};
use tessera_isa::ops::{AttrName, Bind, Effect, Role, Text};
use tessera_isa::profile::{Profile, TILE_ALIGN};
use tessera_isa::sem::{Dir, Fifo as Part, Sem};
use tessera_isa::tile::{Loc, Tile};

/// The FIFO rules of a kernel without calls.
pub(super) fn check(module: &Module, func: &Func, profile: Profile, report: &mut Report) {
    // The value of a broken statement has no type, and its error comes first.
    let is_broken = func.values.iter().any(|value| !module.types.contains(value.ty));
    if is_broken || !func.ops.iter().any(|op| fifo::part(op).is_some()) {
        return;
    }
    let constants = Constants::new(module, func);
    let mut check =
        Check { module, func, profile, report, cores: func.cores(), fifos: Fifos::new(module, func), constants };
    func.walk(&mut |id, op, _| {
        if let Some(part) = fifo::part(op) {
            check.part(id, op, part);
        }
    });
    check.reserves();
    let fifos = std::mem::take(&mut check.fifos);
    for (n, known) in fifos.list.iter().enumerate() {
        check.splits(known);
        check.meetings(known);
        if !known.frees_at_pop(profile) {
            check.balance(&fifos, n);
        }
    }
    check.writes();
    check.entries(&fifos);
    check.flags(&fifos);
}

/// The directions of pipes that a function has flags for: each uses two of 16.
const MOST_DIRECTIONS: usize = 8;

struct Check<'a> {
    module: &'a Module,
    func: &'a Func,
    profile: Profile,
    report: &'a mut Report,
    cores: Vec<Option<Core>>,
    fifos: Fifos,
    constants: Constants,
}

fn memory(dir: Dir) -> (Space, Loc) {
    match dir {
        Dir::C2v => (Space::Vec, Loc::Vec),
        Dir::V2c => (Space::Mat, Loc::Mat),
    }
}

impl Check<'_> {
    fn name(&self, name: tessera_ir::NameId) -> &str {
        self.module.names.text(name)
    }

    fn tile(&self, value: Option<ValueId>) -> Option<Tile> {
        self.module.types.get(self.func.value(value?).ty).on(self.profile)
    }

    fn part(&mut self, id: OpId, op: &Op, part: Part) {
        let core = self.cores[id.index()];
        if part == Part::SetQuant && core == Some(Core::Cube) {
            return self.set_quant(id, op);
        }
        let moves = matches!(part, Part::SetQuant | Part::Alloc(_) | Part::Push(_) | Part::Pop(_) | Part::Free(_));
        if !moves && !matches!(part, Part::Initialize(_)) {
            return;
        }
        // Where nothing else of a pipe is written, the other operations stand elsewhere.
        let is_alone = || !self.func.ops.iter().any(|op| matches!(fifo::part(op), Some(Part::Initialize(_))));
        if part == Part::SetQuant && core.is_none() && is_alone() {
            let what = format!("no pipe has id = {}, so nothing uses the parameter", fifo::pipe_id(op));
            return self.report.fault(op, "", open(what).help("initialize the pipe in the same function"));
        }
        let Some(core) = core.filter(|core| part.core().is_none_or(|wanted| wanted == *core)) else {
            let name = op.kind.name();
            let what = match (core, part.core()) {
                (Some(core), _) => format!("{name} stands in code for the {core} core"),
                (None, _) => format!("{name} stands in code of no kind of core"),
            };
            let wanted = part.core().map_or("cube or vector".into(), |core| core.to_string());
            let help = format!("mark the function pto.kernel_kind = #pto.kernel_kind<{wanted}>, or write a section");
            return self.report.fault(op, "", Fault::new("fifo-kind", what).help(help));
        };
        match part {
            Part::Initialize(_) => self.init(id, op, core),
            _ => self.moves(id, op, part, core),
        }
    }

    /// `fifo-init`, `fifo-peer`, `fifo-size` and `fifo-gm` of one end.
    fn init(&mut self, id: OpId, op: &Op, core: Core) {
        let attrs = op.known_attrs();
        let number = |name| attrs.int(name);
        let init = |what: String, help: &str| Fault::new("fifo-init", what).help(help);
        let fault = match (number(AttrName::DirMask), number(AttrName::SlotSize), number(AttrName::SlotNum)) {
            (Some(1..=3), Some(size), slots) if size > 0 && size % 32 == 0 && slots.is_none_or(|n| n >= 0) => None,
            (None, ..) => Some(init("the pipe has no dir_mask".into(), "write dir_mask = 1, 2 or 3")),
            (Some(mask), ..) if !(1..=3).contains(&mask) => {
                Some(init(format!("dir_mask is {mask}"), "1 is cube to vector, 2 vector to cube, 3 both"))
            }
            (_, size, None | Some(0..)) => {
                let what = size.map_or("the pipe has no slot_size".into(), |size| format!("slot_size is {size}"));
                Some(init(what, "write the bytes of a whole tile, a multiple of 32"))
            }
            (_, _, Some(slots)) => Some(init(format!("slot_num is {slots}"), "a FIFO has at least one slot")),
        };
        let earlier = |other: &OpId| {
            fifo::pipe_id(self.func.op(*other)) == fifo::pipe_id(op)
                && self.func.home(*other) == self.func.home(id)
                && self.cores[other.index()] == Some(core)
                && *other != id
        };
        let inits = (0..self.func.ops.len() as u32).map(OpId);
        let mut inits = inits.filter(|at| matches!(fifo::part(self.func.op(*at)), Some(Part::Initialize(_))));
        let second = inits.find(earlier).filter(|other| self.func.op(*other).span.start < op.span.start);
        let number = fifo::pipe_id(op);
        let fault = fault.or_else(|| {
            let what = format!("@{} initializes two pipes with id = {number}", self.name(self.func.home(id)));
            second.map(|_| Fault::new("fifo-init", what).help("give each pipe of a function an id of its own"))
        });
        let fault = fault.or_else(|| {
            let local = attrs.int(AttrName::LocalSlotNum)?;
            let (most, profile) = (fifo::slots(op), self.profile);
            // The lower form's slots lie in global memory.
            let in_memory = matches!(fifo::part(op), Some(Part::Initialize(Some(_))));
            if profile == Profile::A5 && in_memory {
                let what = "local_slot_num is written, and a5 pops where the slots lie";
                return Some(init(what.into(), "leave it out"));
            }
            let fits = (1..=i128::from(most)).contains(&local);
            (!fits).then(|| init(format!("local_slot_num is {local}, and the pipe has {most} slots"), "1 to slot_num"))
        });
        let fault = fault.or_else(|| {
            let (key, ..) = op.attrs.as_deref()?.unknown.first()?;
            let what = format!("the attribute {key} would change what the pipe means, and is not understood");
            Some(init(what, "leave it out"))
        });
        if let Some(fault) = fault {
            return self.report.fault(op, "", fault);
        }
        if let Some(fault) = self.slot_view(op).or_else(|| self.epilogue(op)) {
            return self.report.fault(op, "", fault);
        }
        for dir in Dir::ALL.iter().copied().filter(|dir| fifo::has_dir(op, *dir)) {
            if fifo::has_entries(self.func, op, dir) {
                if let Some(fault) = self.other_end(op, core, dir) {
                    self.report.fault(op, "", fault);
                }
                continue;
            }
            if let Some(fault) = self.end(op, core, dir) {
                return self.report.fault(op, "", fault);
            }
        }
        if self.profile == Profile::A2a3
            && let Some(fault) = self.slot_buffer(op)
        {
            self.report.fault(op, "", fault);
        }
    }

    /// `fifo-gm`: the slots have room in global memory.
    fn slot_buffer(&self, init: &Op) -> Option<Fault> {
        if init.operand(Role::SlotView).is_some() {
            return None;
        }
        let Some(buffer) = init.operand(Role::Global).and_then(|o| o.arg.value()) else {
            let what = "the pipe has no gm_slot_buffer, and slots lie in global memory on a2a3";
            return Some(Fault::new("fifo-gm", what).help("give both ends a gm_slot_buffer"));
        };
        let Type::Memref(memref) = self.module.types.get(self.func.value(buffer).ty) else { return None };
        let ways = Dir::ALL.iter().filter(|dir| fifo::has_dir(init, **dir)).count() as u64;
        let needed = fifo::slots(init).saturating_mul(fifo::slot_size(init)).saturating_mul(ways);
        let elements = memref.dims.iter().try_fold(1u64, |n, dim| n.checked_mul((*dim)?))?;
        let held = memref.elem.bytes_of(elements);
        (memref.strided.is_none() && held < needed).then(|| {
            let what = format!("the gm_slot_buffer has {held} bytes, and the slots need {needed}");
            Fault::new("fifo-gm", what).help(format!("give a buffer of {needed} bytes"))
        })
    }

    /// `fifo-peer` and `fifo-size` of one direction of one end.
    fn end(&self, init: &Op, core: Core, dir: Dir) -> Option<Fault> {
        let peer = |what: String, help: String| Some(Fault::new("fifo-peer", what).help(help));
        let held = if self.profile == Profile::A2a3 { fifo::local_slots(init) } else { fifo::slots(init) };
        let needed = held.saturating_mul(fifo::slot_size(init));
        let (space, _) = memory(dir);
        match (fifo::buffer(self.func, init, dir), dir.consumer() == core) {
            (Buffer::Reserve(at), is_consumer) => {
                let reserve = self.func.op(at);
                let size = reserve.known_attrs().int(AttrName::Size).unwrap_or(0);
                if is_consumer && size < i128::from(needed) {
                    let what = format!(
                        "{} slots of {} bytes need {needed}, and {size} are reserved",
                        held,
                        fifo::slot_size(init)
                    );
                    return Some(Fault::new("fifo-size", what).help(format!("size = {needed}")));
                }
                let location = reserve.known_attrs().location();
                if is_consumer && location != Some(space) {
                    let what =
                        format!("the slots of {dir} are reserved in {}", location.map_or("no memory", |l| l.name()));
                    return Some(Fault::new("fifo-size", what).help(format!("location = #pto.address_space<{space}>")));
                }
                if is_consumer { None } else { self.own_reserve(init, core, dir, at) }
            }
            (Buffer::Import(_), true) => peer(
                format!("the {dir} buffer of the consumer is not what it reserved itself"),
                "give the result of its own reserve_buffer".into(),
            ),
            (Buffer::Other, _) => Some(open(format!("the {dir} buffer comes from no reserve_buffer and no import"))),
            (Buffer::Import(at), false) => self.import(init, at, dir),
        }
    }

    /// A producer gives what was reserved: not by itself, and with both ends of the pipe the same.
    fn own_reserve(&self, init: &Op, core: Core, dir: Dir, reserve: OpId) -> Option<Fault> {
        if self.cores[reserve.index()] == Some(core) {
            let what = format!("the {dir} buffer of the producer is one that it reserved itself");
            return Some(Fault::new("fifo-peer", what).help("import the buffer that the consumer reserves"));
        }
        let is_end = |(end, at): &(&Op, &Option<Core>)| {
            **at == Some(dir.consumer())
                && matches!(fifo::part(end), Some(Part::Initialize(_)))
                && fifo::buffer(self.func, end, dir) == Buffer::Reserve(reserve)
        };
        let (end, _) = self.func.ops.iter().zip(&self.cores).find(is_end)?;
        differ(init, end, "that of the consumer")
    }

    /// The function that an import names reserves that buffer, and its end of the pipe is the same.
    fn import(&self, init: &Op, import: OpId, dir: Dir) -> Option<Fault> {
        let peer = |what: String, help: &str| Some(Fault::new("fifo-peer", what).help(help));
        let op = self.func.op(import);
        let (name, func) = (op.name_attr(AttrName::Name).unwrap_or_default(), op.name_attr(AttrName::PeerFunc));
        let Some(func) = func else {
            return peer("the import names no peer_func".into(), "write peer_func = @consumer");
        };
        let Some(other) = self.module.func(func) else {
            return Some(open(format!("@{func} is named as peer_func, and the file has no such function")));
        };
        let named = |op: &&Op| fifo::part(op) == Some(Part::Reserve) && op.name_attr(AttrName::Name) == Some(name);
        if !other.ops.iter().any(|op| named(&op)) {
            return peer(format!("@{func} reserves no buffer \"{name}\""), "reserve it there, under this name");
        }
        let ends = other.ops.iter().filter(|end| {
            let Buffer::Reserve(at) = fifo::buffer(other, end, dir) else { return false };
            matches!(fifo::part(end), Some(Part::Initialize(_))) && named(&other.op(at))
        });
        let Some(end) = ends.into_iter().next() else {
            return peer(format!("@{func} initializes no pipe with its buffer \"{name}\""), "initialize both ends");
        };
        differ(init, end, &format!("that of @{func}"))
    }

    /// A push, pop or free by itself.
    fn moves(&mut self, id: OpId, op: &Op, part: Part, core: Core) {
        let Some(dir) = part.dir(core) else { return };
        let init = self.fifos.init(id).filter(|init| self.func.op(*init).span.start < op.span.start);
        let name = op.kind.name();
        let Some(init) = init else {
            let what = format!("{name} stands before any pipe is initialized for the {core} core");
            let help =
                if core == Core::Cube { "write aic_initialize_pipe first" } else { "write aiv_initialize_pipe first" };
            return self.report.fault(op, "", Fault::new("fifo-init", what).help(help));
        };
        // A pipe that is refused says nothing about what goes through it.
        let odd = split_of(op) > 2 && !self.fifos.of(id).is_some_and(|n| self.fifos.list[n].has_odd_splits());
        if self.report.refused.contains_key(&self.func.op(init).span) || odd {
            return;
        }
        if !fifo::has_dir(self.func.op(init), dir) {
            let mask = self.func.op(init).known_attrs().int(AttrName::DirMask).unwrap_or(0);
            let what = format!("{name} goes {dir}, and dir_mask = {mask} has no such direction");
            return self.report.fault(op, "", Fault::new("fifo-init", what).help("dir_mask = 3 has both"));
        }
        let (slot_size, split) = (fifo::slot_size(self.func.op(init)), split_of(op));
        if let Some(fault) = self.carried(op, part, fifo::has_entries(self.func, self.func.op(init), dir)) {
            return self.report.fault(op, "", fault);
        }
        let fault = match part {
            Part::Push(_) => {
                let Some(tile) = self.tile(op.operand(Role::Src).and_then(|o| o.arg.value())) else { return };
                // An extent that is not known has two equal halves, or is odd where it has to be.
                let valid = [tile.v_row, tile.v_col].map(|extent| extent.known().unwrap_or(u64::from(split > 2)));
                let epilogue = self.fifos.of(id).and_then(|n| self.fifos.list[n].epilogue);
                self.quantizes(id, epilogue)
                    .or_else(|| rules::check_push(self.profile, dir, split, slot_size, &tile, valid, epilogue))
            }
            Part::Pop(_) => {
                let Some(tile) = self.tile(popped(op)) else { return };
                let given = [Role::ValidRow, Role::ValidCol].map(|role| op.operand(role).map(|o| o.arg));
                let halves = if dir == Dir::C2v && matches!(split, 1 | 2) { 2 } else { 1 };
                let known = given.map(|arg| arg.map(|arg| self.constants.get(arg).map_or(0, i128::from)));
                let epilogue = self.fifos.of(id).and_then(|n| self.fifos.list[n].epilogue);
                rules::check_result(dir, &tile, epilogue)
                    .or_else(|| rules::check_slot(slot_size, &tile, halves))
                    .or_else(|| (op.operand(Role::Tile).is_none()).then(|| rules::check_popped(&tile, known)).flatten())
            }
            _ => None,
        };
        if let Some(fault) = fault {
            self.report.fault(op, "", fault);
        }
    }

    /// `fifo-size` of reserved buffers by themselves, and tiles that lie over them.
    fn reserves(&mut self) {
        let func = self.func;
        let reserves: Vec<(OpId, &Op)> =
            (0..).map(OpId).zip(&func.ops).filter(|(_, op)| fifo::part(op) == Some(Part::Reserve)).collect();
        let mut names = FxHashSet::default();
        for (id, op) in &reserves {
            let attrs = op.known_attrs();
            let size = |what: String, help: &str| Some(Fault::new("fifo-size", what).help(help));
            let (bytes, base) = (attrs.int(AttrName::Size).unwrap_or(0), attrs.int(AttrName::Base));
            let name = op.name_attr(AttrName::Name).unwrap_or_default();
            let loc = match attrs.location() {
                Some(Space::Vec) => Some(Loc::Vec),
                Some(Space::Mat) => Some(Loc::Mat),
                _ => None,
            };
            let room = loc.and_then(|loc| self.profile.memory(loc)).and_then(|m| m.bytes).map(i128::from);
            let fault = if name.is_empty() {
                size("the buffer has no name".into(), "write name = \"c2v\"")
            } else if !names.insert((func.home(*id), name)) {
                size(
                    format!("two buffers of @{} are named \"{name}\"", self.name(func.home(*id))),
                    "give each its own name",
                )
            } else if loc.is_none() {
                size(
                    "the buffer lies in no memory of the consumer".into(),
                    "write location = #pto.address_space<vec> or <mat>",
                )
            } else if bytes <= 0 {
                size(format!("{bytes} bytes are reserved"), "write size = slots · slot_size")
            } else if base.is_some() == attrs.flag(AttrName::Auto) {
                size(
                    "base is written exactly where auto = false".into(),
                    "write auto = true, or auto = false and base = …",
                )
            } else if let Some(base) = base.filter(|base| *base < 0 || base % i128::from(TILE_ALIGN) != 0) {
                size(format!("the base {base} is no address of a buffer"), "use a multiple of 32")
            } else if let Some(end) =
                base.or(Some(0)).map(|base| base + bytes).filter(|end| room.is_some_and(|room| *end > room))
            {
                size(
                    format!("the buffer ends at byte {end}, and the memory has {}", room.unwrap_or(0)),
                    "use a smaller or lower buffer",
                )
            } else {
                None
            };
            if let Some(fault) = fault {
                self.report.fault(op, "", fault);
            } else if let (Some(loc), Some(base)) = (loc, base) {
                self.overlaps(loc, base, base + bytes);
            }
        }
    }

    /// `overlap`: no tile with an address lies over a reserved buffer.
    fn overlaps(&mut self, loc: Loc, start: i128, end: i128) {
        let func = self.func;
        for op in &func.ops {
            let tile = match op.opcode().and_then(|o| o.info().binds) {
                Some(Bind::New) => op.results.first().copied(),
                Some(Bind::Address) => op.operand(Role::Tile).and_then(|o| o.arg.value()),
                _ => None,
            };
            let address = op.operand(Role::Addr).and_then(|o| self.constants.get(o.arg)).map(i128::from);
            if let (Some(tile), Some(at)) = (self.tile(tile).filter(|tile| tile.loc == loc), address)
                && at < end
                && start < at + i128::from(tile.bytes())
            {
                let last = at + i128::from(tile.bytes());
                let what = format!("a tile lies at {at:#x}..{last:#x}, over a buffer reserved at {start:#x}..{end:#x}");
                self.report.fault(op, "", Fault::new("overlap", what).help("move one of them"));
            }
        }
    }

    /// `fifo-split`: one split in a direction, which `nosplit` allows.
    fn splits(&mut self, fifo: &Fifo) {
        for id in fifo.pushes.iter().chain(&fifo.pops) {
            let op = self.func.op(*id);
            let split = op.known_attrs().int(AttrName::PipeSplit).unwrap_or(0);
            let init = self.fifos_init(fifo).map(|at| self.func.op(at));
            let nosplit = init.and_then(|init| init.known_attrs().get(AttrName::NoSplit));
            let says_core = op.operand(Role::Number).is_some();
            let fault = match (split, nosplit) {
                (0, _) if says_core => {
                    Some(("aiv_subblockid is written, and split is 0".into(), "leave it out, or write split = 1 or 2"))
                }
                (3..=4, _) if fifo.has_odd_splits() => None,
                (..0 | 3.., _) => Some((format!("split is {split}"), "0 is none, 1 rows, 2 columns")),
                (1..=4, _) if fifo.epilogue.is_some() => {
                    Some((format!("split is {split}, and the pipe has acc_push_epilogue"), "write split = 0"))
                }
                (1..=2, Some(AttrValue::Bool(true))) => {
                    Some((format!("split is {split}, and the pipe says nosplit = true"), "write split = 0"))
                }
                (0, Some(AttrValue::Bool(false))) => {
                    Some(("split is 0, and the pipe says nosplit = false".into(), "write split = 1 or 2"))
                }
                _ if split != i128::from(fifo.split) => Some((
                    format!("split is {split}, and {} elsewhere in {}", fifo.split, fifo.describe(self.module)),
                    "all pushes and pops of a direction have one split",
                )),
                _ => None,
            };
            if let Some((what, help)) = fault {
                self.report.fault(op, "", Fault::new("fifo-split", what).help(help));
            }
        }
    }

    /// `fifo-flags`: two flags for each direction of a function (isa/today.md 7.1).
    fn flags(&mut self, fifos: &Fifos) {
        if !self.profile.is_npu() {
            return;
        }
        let mut by_home: Vec<(tessera_ir::NameId, Vec<OpId>)> = Vec::new();
        for init in fifos.list.iter().flat_map(|fifo| fifo.inits.iter().flatten()) {
            let home = self.func.home(*init);
            match by_home.iter_mut().find(|(name, _)| *name == home) {
                Some((_, inits)) => inits.push(*init),
                None => by_home.push((home, vec![*init])),
            }
        }
        for (home, inits) in by_home {
            let Some(one_more) = inits.get(MOST_DIRECTIONS).copied() else { continue };
            let count = inits.len();
            let what = format!("the pipes of @{} have {count} directions, and there are flags for 8", self.name(home));
            let help = "a direction uses two of 16 flags: use fewer pipes, or one pipe for several tiles";
            self.report.fault(self.func.op(one_more), "one too many", Fault::new("fifo-flags", what).help(help));
        }
    }

    fn fifos_init(&self, fifo: &Fifo) -> Option<OpId> {
        fifo.inits.iter().flatten().next().copied()
    }

    /// `fifo-shape` and `fifo-type`: every pop takes what some push leaves, and the other way round.
    fn meetings(&mut self, fifo: &Fifo) {
        if fifo.inits.iter().flatten().any(|init| self.report.refused.contains_key(&self.func.op(*init).span)) {
            return;
        }
        let tiles = |ids: &[OpId], of: fn(&Op) -> Option<ValueId>| -> Vec<(OpId, Tile)> {
            let sound = ids.iter().filter(|id| !self.report.refused.contains_key(&self.func.op(**id).span));
            sound.filter_map(|id| Some((*id, self.tile(of(self.func.op(*id)))?))).collect()
        };
        let pushes = tiles(&fifo.pushes, |op| op.operand(Role::Src).and_then(|o| o.arg.value()));
        let pops = tiles(&fifo.pops, popped);
        let meet =
            |push: &Tile, pop: &Tile| rules::check_meet(self.profile, fifo.dir, fifo.split, push, pop, fifo.epilogue);
        let mut found = Vec::new();
        for (id, pop) in &pops {
            let all: Vec<_> = pushes.iter().map(|(_, push)| meet(push, pop)).collect();
            if !all.is_empty() && all.iter().all(Option::is_some) {
                found.extend(all.into_iter().flatten().next().map(|fault| (*id, fault)));
            }
        }
        // All pops of a pipe that converts give one type (isa/today.md 7.3).
        if let (Some(_), Some((_, first))) = (fifo.epilogue, pops.first())
            && let Some((id, other)) = pops.iter().find(|(_, tile)| tile.elem != first.elem)
        {
            let what = format!("{} is popped, and {} elsewhere of this pipe", other.elem, first.elem);
            found.push((*id, Fault::new("fifo-type", what).help("pop one type")));
        }
        if let (Some(_), [], Some((id, _))) = (fifo.epilogue, pops.as_slice(), pushes.first())
            && fifo.pops.is_empty()
        {
            let what = "the pipe has acc_push_epilogue, and nothing is popped, so the type is not known";
            found.push((*id, Fault::new("fifo-type", what).help("pop a tile of the type that is wanted")));
        }
        let is_clean = found.is_empty();
        for (id, push) in pushes.iter().filter(|_| is_clean) {
            let all: Vec<_> = pops.iter().map(|(_, pop)| meet(push, pop)).collect();
            if !all.is_empty() && all.iter().all(Option::is_some) {
                found.extend(all.into_iter().flatten().next().map(|fault| (*id, fault)));
            }
        }
        for (id, fault) in found {
            self.report.fault(self.func.op(id), "", fault);
        }
    }

    /// `fifo-write`: a popped tile, or a view of one, must not be written.
    fn writes(&mut self) {
        let func = self.func;
        let mut slots: FxHashSet<ValueId> = FxHashSet::default();
        func.walk(&mut |_, op, _| {
            let OpKind::Pto(opcode, form) = op.kind else { return };
            if matches!(fifo::part(op), Some(Part::Pop(_))) {
                slots.extend(popped(op));
                return;
            }
            let is_slot = |value: Option<ValueId>| value.is_some_and(|value| slots.contains(&value));
            let src = op.operand(Role::Src).and_then(|o| o.arg.value());
            // A pointer into the slot, and where it stores.
            let pointer = op.operands.first().and_then(|o| o.arg.value());
            if matches!(opcode.info().text, Text::Address(_) | Text::AddPtr) && is_slot(pointer) {
                slots.extend(op.results.iter().copied());
                return;
            }
            let stored = op.operand(Role::Global).and_then(|o| o.arg.value());
            let stored = stored.filter(|v| matches!(opcode.info().sem, Sem::Stores) && slots.contains(v));
            if opcode.is_view(self.profile) && is_slot(src) {
                slots.extend(op.dsts().into_iter().map(|(_, dst)| dst));
                return;
            }
            let writes = |effect| matches!(effect, Effect::Write | Effect::ReadWrite | Effect::Scratch);
            let written = op.operands.iter().find(|o| is_slot(o.arg.value()) && writes(opcode.effect(form, o.role)));
            if let Some(value) = written.and_then(|o| o.arg.value()).or(stored) {
                let name = self.module.names.text(func.value(value).name);
                let what = format!("{opcode} writes %{name}, which lies in a slot of a FIFO");
                self.report.fault(op, "", Fault::new("fifo-write", what).help("write a tile of its own"));
            }
        });
    }
}

/// `fifo-open`, a warning: rules about the other end are not checked.
fn open(what: String) -> Fault {
    Fault::new("fifo-open", what).warns().help("give the result of reserve_buffer or import_reserved_buffer to run it")
}

/// The attributes in which the two ends of a pipe disagree.
fn differ(init: &Op, end: &Op, other: &str) -> Option<Fault> {
    let said = |op: &Op| {
        let given = |name| op.known_attrs().value(name);
        let slots = Some(AttrValue::Int(fifo::slots(op).into()));
        [given(AttrName::DirMask), given(AttrName::SlotSize), slots, given(AttrName::NoSplit)]
    };
    let ways = ["dir_mask", "slot_size", "slots", "nosplit", "acc_push_epilogue"];
    let differs = said(init).into_iter().zip(said(end)).position(|(a, b)| a != b);
    let differs = differs.or_else(|| (fifo::epilogue(init) != fifo::epilogue(end)).then_some(4))?;
    let what = format!("the ends of the pipe differ in {}: this one and {other}", ways[differs]);
    Some(Fault::new("fifo-peer", what).help("write the same at both ends"))
}

fn split_of(op: &Op) -> u8 {
    op.known_attrs().int(AttrName::PipeSplit).and_then(|split| u8::try_from(split).ok()).unwrap_or(0)
}
