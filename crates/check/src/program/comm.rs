//! Operations between ranks: the rules of isa/comm.md 4, as far as types and constants decide them.

use super::walk::Walk;
use tessera_absint::{Ext, Operands, Val};
use tessera_ir::{Def, Func, Module, Op, OpId, OpKind, ScalarType, Type, ValueId};
use tessera_isa::diag::{Diagnostic, Fault, Severity};
use tessera_isa::elem::Elem;
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrName, Opcode, Role};
use tessera_isa::sem::{Comm, Core, Sem};
use tessera_isa::tile::{LayoutName, Loc, Tile};

/// The types that atomic_add adds (isa/memory.md 3).
const ADDED: [Elem; 6] = [Elem::I8, Elem::I16, Elem::I32, Elem::F16, Elem::Bf16, Elem::F32];
/// The types that are reduced.
const REDUCED: [Elem; 9] =
    [Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::F16, Elem::Bf16, Elem::F32];
/// The least bytes of scratch of a session.
const SCRATCH: u64 = 256;

/// A view operand: its role, its value, its element type and its extents; none for a pointer.
struct ViewOperand {
    role: Role,
    value: ValueId,
    elem: Elem,
    dims: Option<Vec<Option<u64>>>,
    is_partition: bool,
}

/// A tile operand with its object.
struct TileOperand {
    role: Role,
    object: usize,
    tile: Tile,
    elem: Elem,
}

/// A broken rule of an operation: the end of its id, the fault in a sentence, and a way out.
type Broken = Option<(&'static str, String, &'static str)>;

impl ViewOperand {
    fn extents(&self) -> &[Option<u64>] {
        self.dims.as_deref().unwrap_or_default()
    }

    fn shown(&self) -> String {
        let dims = self.extents().iter().map(|d| d.map_or("?".to_string(), |d| d.to_string()));
        dims.collect::<Vec<_>>().join("x")
    }

    /// Rows and columns, as staging tiles count them.
    fn rows_and_cols(&self) -> [Option<u64>; 2] {
        match self.extents() {
            [] => [None, None],
            [cols] => [Some(1), *cols],
            [.., rows, cols] => [*rows, *cols],
        }
    }
}

impl Walk<'_> {
    /// Checks an operation between ranks, and forgets what its tiles held.
    pub(super) fn communicates(&mut self, op: &Op, opcode: Opcode) {
        let Sem::Comm(comm) = opcode.info().sem else { return };
        let (views, tiles) = (self.comm_views(op), self.comm_tiles(op));
        let broken = tiles.iter().find_map(|t| self.state.objects[t.object].broken);
        if let Some(rule) = broken {
            self.report.refuse(op.span, rule);
        } else if let Some((end, what, help)) = self.broken(op, comm, &views, &tiles) {
            self.found(op, Fault::new(if end == "overlap" { end } else { opcode.rule(end) }, what).help(help));
        }
        self.comm_core(op, opcode, comm);
        let touched: Operands = tiles.iter().map(|t| (t.role, t.object)).collect();
        if !self.dead && !self.is_micro && !touched.is_empty() {
            self.refused_contents(&touched);
        }
    }

    /// `kind-pipe`: the cube core only signals.
    fn comm_core(&mut self, op: &Op, opcode: Opcode, comm: Comm) {
        if self.core != Some(Core::Cube) || comm.is_signal() {
            return;
        }
        let what = format!("{opcode} moves bytes through Vec tiles, which the cube core does not have");
        let mut fault = Fault::new("kind-pipe", what).help("move it into code for the vector core");
        if self.state.profile == tessera_isa::profile::Profile::Cpu {
            fault.severity = Severity::Warning;
        }
        self.report.fault(op, "", fault);
    }

    fn comm_views(&self, op: &Op) -> Vec<ViewOperand> {
        let view = |o: &tessera_ir::Operand| {
            let value = o.arg.value().filter(|_| o.role.is_shared())?;
            let ty = self.state.ty(value);
            let (dims, is_partition) = match ty {
                Type::View(view) => (Some(view.dims.iter().copied().collect()), view.partition),
                Type::Memref(memref) => (Some(memref.dims.iter().copied().collect()), false),
                _ => (None, false),
            };
            Some(ViewOperand { role: o.role, value, elem: ty.global_elem()?, dims, is_partition })
        };
        op.operands.iter().filter_map(view).collect()
    }

    fn comm_tiles(&self, op: &Op) -> Vec<TileOperand> {
        let tile = |o: &tessera_ir::Operand| {
            let object = self.state.tile(o.arg)?;
            let tile = self.state.objects[object].tile;
            Some(TileOperand { role: o.role, object, tile, elem: tile.elem })
        };
        op.operands.iter().filter_map(tile).collect()
    }

    /// The first rule that the operation breaks.
    fn broken(&self, op: &Op, comm: Comm, views: &[ViewOperand], tiles: &[TileOperand]) -> Broken {
        let is_new = matches!(comm, Comm::AwaitEvent | Comm::TestEvent);
        self.loc(views, tiles)
            .or_else(|| if is_new { None } else { self.dtype(op, comm, views, tiles) })
            .or_else(|| shape(comm, views))
            .or_else(|| self.view_layouts(comm, views, tiles))
            .or_else(|| if comm.is_staged() { self.stage(views, tiles) } else { None })
            .or_else(|| if comm.is_collective() { self.group(op, views) } else { None })
            .or_else(|| words(op, comm))
            .or_else(|| self.transfer_async(op, comm, views, tiles))
            .or_else(|| self.apart(tiles))
    }

    fn loc(&self, views: &[ViewOperand], tiles: &[TileOperand]) -> Broken {
        let on_chip = |view: &&ViewOperand| space(self.state.module, self.state.func, view.value).is_some();
        if let Some(view) = views.iter().find(on_chip) {
            let what = format!("{} lies on the chip, where no other rank reaches it", view.role);
            return Some(("loc", what, "make the view of a pointer to global memory"));
        }
        let tile = tiles.iter().find(|t| t.tile.loc != Loc::Vec)?;
        let what = format!("{} lies in {}, and bytes pass through tiles in vec", tile.role, tile.tile.loc);
        Some(("loc", what, "give a tile in vec"))
    }

    fn dtype(&self, op: &Op, comm: Comm, views: &[ViewOperand], tiles: &[TileOperand]) -> Broken {
        if comm.is_signal() {
            let signal = views.iter().find(|v| v.role == Role::Signal)?;
            if signal.elem != Elem::I32 {
                let what = format!("the signal holds {}, and its words are i32", signal.elem);
                return Some(("dtype", what, "make a view of i32"));
            }
            let value = op.operand(Role::Scalar).and_then(|o| o.arg.value())?;
            let ty = self.state.ty(value);
            return match ty {
                Type::Scalar(ScalarType::Int(bits, _)) if *bits <= 32 => None,
                _ => {
                    let what = format!("the value is {}, and it is an integer of 32 bits at most", shown(ty));
                    Some(("dtype", what, "give an i32"))
                }
            };
        }
        if comm == Comm::Session {
            return None;
        }
        let all = views.iter().map(|v| (v.role, v.elem)).chain(tiles.iter().map(|t| (t.role, t.elem)));
        let all: Vec<(Role, Elem)> = all.collect();
        let (first, elem) = *all.first()?;
        if let Some((role, other)) = all.iter().find(|(_, other)| *other != elem) {
            let what = format!("{first} holds {elem}, and {role} holds {other}");
            return Some(("dtype", what, "give views and tiles of one element type"));
        }
        let adds = comm == Comm::Put && op.known_attrs().adds();
        if adds && !ADDED.contains(&elem) {
            let what = format!("atomic_add takes views of i8, i16, i32, f16, bf16 and f32, and these hold {elem}");
            return Some(("dtype", what, "leave out atomicType, or use another type"));
        }
        if comm == Comm::Reduce && !REDUCED.contains(&elem) {
            let what = format!("views of {elem} are not reduced");
            return Some(("dtype", what, "use i8, u8, i16, u16, i32, u32, f16, bf16 or f32"));
        }
        None
    }

    fn view_layouts(&self, comm: Comm, views: &[ViewOperand], tiles: &[TileOperand]) -> Broken {
        let tile = tiles.iter().find(|t| t.tile.layout_name() != LayoutName::Nd && comm.is_staged());
        if let Some(tile) = tile {
            let what = format!("{} is a {} tile, and bytes pass through ND tiles", tile.role, tile.tile.layout_name());
            return Some(("layout", what, "give a row-major tile without boxes"));
        }
        let staging = tiles.first().filter(|_| comm.is_staged())?;
        let tag = |view: &ViewOperand| match self.state.get(view.value) {
            Val::View(n) => Some(self.state.views[*n].tags.of(&staging.tile)),
            _ => None,
        };
        let mut tags = views.iter().filter_map(|view| Some((view.role, tag(view)?)));
        let (first, tag) = tags.next()?;
        let (role, other) = tags.find(|(_, other)| *other != tag)?;
        let what = format!("{first} is a view in {tag}, and {role} in {other}");
        Some(("layout", what, "make views whose last two strides say the same"))
    }

    fn stage(&self, views: &[ViewOperand], tiles: &[TileOperand]) -> Broken {
        for tile in tiles {
            let object = &self.state.objects[tile.object];
            let names = ["rows", "columns"];
            for axis in [0, 1] {
                let Ext::Known(valid) = object.valid[axis] else { continue };
                if valid == 0 {
                    let what = format!("{} has no valid {}, and nothing passes through it", tile.role, names[axis]);
                    return Some(("stage", what, "give it a positive valid extent"));
                }
                let written = [object.tile.v_row, object.tile.v_col][axis];
                // What is set while the program runs may leave a rest.
                if written.known().is_none() {
                    continue;
                }
                for view in views {
                    let extent = view.rows_and_cols()[axis];
                    if let Some(extent) = extent.filter(|n| *n > valid && n % valid != 0) {
                        let what = format!(
                            "{} has {extent} {}, which is no multiple of the {valid} of {}",
                            view.role, names[axis], tile.role
                        );
                        return Some(("stage", what, "use a divisor, or `?` for a rest"));
                    }
                }
            }
        }
        let of = |role: Role| tiles.iter().find(|t| t.role == role);
        let (ping, pong) = (of(Role::Ping)?, of(Role::Pong)?);
        if ping.tile != pong.tile {
            let what = "ping and pong are tiles of different types".to_string();
            return Some(("stage", what, "give two tiles of one type"));
        }
        let what = self.meet(ping, pong)?;
        Some(("stage", what, "give two tiles that are apart"))
    }

    /// The bytes that two tiles share, if there are any.
    fn meet(&self, a: &TileOperand, b: &TileOperand) -> Option<String> {
        let names = format!("{} and {}", a.role, b.role);
        if a.object == b.object {
            return Some(format!("{names} are one tile"));
        }
        let (x, y) = (self.place(a.object)?, self.place(b.object)?);
        let ends = [x.start + self.state.objects[a.object].bytes(), y.start + self.state.objects[b.object].bytes()];
        let meets = x.root == y.root && x.start < ends[1] && y.start < ends[0];
        let ranges = || format!("{:#x} to {:#x} and {:#x} to {:#x}", x.start, ends[0], y.start, ends[1]);
        meets.then(|| format!("{names} share bytes: {}", ranges()))
    }

    /// `overlap`: the accumulator and the tiles through which the members' views come.
    fn apart(&self, tiles: &[TileOperand]) -> Broken {
        let acc = tiles.iter().find(|t| t.role == Role::Acc)?;
        let what = tiles.iter().filter(|t| t.role != Role::Acc).find_map(|t| self.meet(acc, t))?;
        Some(("overlap", what, "give tiles that are apart"))
    }

    fn group(&self, op: &Op, views: &[ViewOperand]) -> Broken {
        let members: Vec<&ViewOperand> = views.iter().filter(|v| v.role == Role::Member).collect();
        if members.is_empty() {
            return Some(("group", "the group has no member".into(), "name the view of each rank"));
        }
        let differs = |m: &&&ViewOperand| self.state.ty(m.value) != self.state.ty(members[0].value);
        if let Some(other) = members.iter().find(differs) {
            let [a, b] = [members[0].value, other.value].map(|v| shown(self.state.ty(v)));
            let what = format!("the members have different types: {a} and {b}");
            return Some(("group", what, "give views of one type"));
        }
        match op.known_attrs().get(AttrName::Root) {
            Some(AttrValue::Int(root)) if (0..members.len() as i128).contains(&root) => None,
            Some(AttrValue::Int(root)) => {
                let what = format!("root is {root}, and the group has {} members", members.len());
                Some(("group", what, "root counts from 0"))
            }
            _ => Some(("group", "the root is not written".into(), "write {root = 0 : i32}")),
        }
    }

    /// Transfers that run on, and their sessions (isa/comm.md 4 and 9).
    fn transfer_async(&self, op: &Op, comm: Comm, views: &[ViewOperand], tiles: &[TileOperand]) -> Broken {
        if comm == Comm::Session {
            let bytes = tiles.first().map(|t| t.tile.bytes()).filter(|bytes| *bytes < SCRATCH)?;
            let what = format!("the scratch tile has {bytes} bytes, and a session needs {SCRATCH}");
            return Some(("async-view", what, "give a larger tile"));
        }
        if let Some(session) = self.other_session(op).filter(|_| matches!(comm, Comm::AwaitEvent | Comm::TestEvent)) {
            let name = self.state.module.names.text(self.state.func.value(session).name);
            let what = format!("the event belongs to the session %{name}");
            return Some(("async-view", what, "give the session that started the copy"));
        }
        for view in views.iter().filter(|_| comm.is_async()) {
            if view.extents().contains(&None) {
                let what = format!(
                    "{} is a view of {}, and the extents of what is copied are constants",
                    view.role,
                    view.shown()
                );
                return Some(("async-view", what, "give the partition constant sizes"));
            }
            let long = view.extents().iter().filter(|n| **n != Some(1)).count();
            if long > 1 {
                let what = format!(
                    "{} is a view of {}, with {long} dimensions of more than one element",
                    view.role,
                    view.shown()
                );
                return Some(("async-view", what, "copy a dense view of one dimension"));
            }
            let stride = match self.state.get(view.value) {
                Val::View(n) => {
                    let at = view.extents().iter().position(|n| *n != Some(1));
                    at.and_then(|at| self.known_stride(*n, at)).filter(|stride| *stride != 1)
                }
                _ => None,
            };
            if let Some(stride) = stride {
                let what = format!("{} steps by {stride} elements, and what is copied is dense", view.role);
                return Some(("async-view", what, "copy a dense view of one dimension"));
            }
        }
        None
    }

    fn known_stride(&self, view: usize, axis: usize) -> Option<i128> {
        use tessera_absint::Analysis;
        self.known(self.state.views[view].strides.get(axis)?)
    }

    /// The session that started the copy of an event, if it is another one than the operation names.
    fn other_session(&self, op: &Op) -> Option<ValueId> {
        let event = op.operand(Role::AsyncEvent).and_then(|o| o.arg.value())?;
        let named = op.operand(Role::Session).and_then(|o| o.arg.value())?;
        let session = started_in(self.state.func, event)?;
        let is_made = |v: ValueId| matches!(self.state.func.value(v).def, Def::Result(..));
        (session != named && is_made(session) && is_made(named)).then_some(session)
    }
}

/// The extents of views fit each other (isa/comm.md 4).
fn shape(comm: Comm, views: &[ViewOperand]) -> Broken {
    let extent = |d: Option<u64>| d.map_or("?".to_string(), |d| d.to_string());
    for view in views.iter().filter(|v| v.role != Role::Workspace) {
        if view.dims.is_none() {
            let what = format!("{} is a pointer, which has no extents", view.role);
            return Some(("shape", what, "make a view of it with pto.make_tensor_view"));
        }
        let may_be_open = view.is_partition && (matches!(comm, Comm::Put | Comm::Get) || comm.is_async());
        if view.extents().contains(&None) && !may_be_open {
            let what = format!("{} is a view of {}, and its extents are not open here", view.role, view.shown());
            return Some(("shape", what, "give the partition constant sizes"));
        }
        if view.extents().contains(&Some(0)) {
            let what = format!("{} is a view of {}, which has no element", view.role, view.shown());
            return Some(("shape", what, "give positive extents"));
        }
    }
    let of = |role: Role| views.iter().find(|v| v.role == role);
    match comm {
        Comm::Put | Comm::Get | Comm::PutAsync | Comm::GetAsync => {
            let (dst, src) = (of(Role::DstView)?, of(Role::SrcView)?);
            if dst.extents() != src.extents() {
                let what = format!("dst is a view of {}, and src of {}", dst.shown(), src.shown());
                return Some(("shape", what, "give views of the same extents"));
            }
            None
        }
        Comm::Broadcast | Comm::Reduce => {
            let view = of(Role::SrcView).or_else(|| of(Role::DstView))?;
            let member = of(Role::Member)?;
            if view.extents() != member.extents() {
                let what = format!("{} is a view of {}, and a member of {}", view.role, view.shown(), member.shown());
                return Some(("shape", what, "give views of the same extents"));
            }
            None
        }
        Comm::Gather | Comm::Scatter => {
            let view = of(Role::SrcView).or_else(|| of(Role::DstView))?;
            let member = of(Role::Member)?;
            let count = views.iter().filter(|v| v.role == Role::Member).count() as u64;
            let (all, one) = (view.extents(), member.extents());
            let axis = all.len().saturating_sub(2);
            let differs = all.len() != one.len() || (0..all.len()).any(|n| n != axis && all[n] != one[n]);
            if differs {
                let what = format!("{} is a view of {}, and a member of {}", view.role, view.shown(), member.shown());
                return Some(("shape", what, "give views that differ in their rows only"));
            }
            let (rows, part) = (*all.get(axis)?, *one.get(axis)?);
            let needed = part?.saturating_mul(count);
            if rows? < needed {
                let what = format!(
                    "{} has {} rows, and {count} members of {} need {needed}",
                    view.role,
                    extent(rows),
                    extent(part)
                );
                return Some(("shape", what, "give a larger view, or name fewer members"));
            }
            None
        }
        _ => None,
    }
}

/// The words of an operation (isa/comm.md 1).
fn words(op: &Op, comm: Comm) -> Broken {
    let name = match comm {
        Comm::Put => AttrName::AtomicType,
        Comm::Notify => AttrName::NotifyOp,
        Comm::Wait | Comm::Test => AttrName::WaitCmp,
        Comm::Reduce => AttrName::ReduceOp,
        _ => return None,
    };
    let help = match comm {
        Comm::Put => "write {atomicType = #pto<atomic_type atomic_add>}",
        Comm::Notify => "write {notifyOp = #pto<notify_op atomic_add>} or {notifyOp = #pto<notify_op set>}",
        Comm::Reduce => "write {reduceOp = #pto<reduce_op sum>}, max or min",
        _ => "write {cmp = #pto<wait_cmp ge>}, eq, ne, gt, lt or le",
    };
    let attrs = op.known_attrs();
    match (attrs.get(name), attrs.word(name)) {
        (Some(_), Some(_)) => None,
        (None, _) if comm == Comm::Put => None,
        (None, _) => Some(("attr", format!("{name} is not written"), help)),
        (Some(_), None) => Some(("attr", format!("{name} has a word that it does not know"), help)),
    }
}

/// The memory on the chip that a view is made of, if it is made of a pointer there.
fn space(module: &Module, func: &Func, value: ValueId) -> Option<tessera_micro::Space> {
    let mut value = value;
    for _ in 0..func.ops.len() + 1 {
        if let ty @ Type::Ptr(..) = module.types.get(func.value(value).ty)
            && let Some(space) = ty.space()
        {
            return Some(space).filter(|space| *space != tessera_micro::Space::Gm);
        }
        let Def::Result(op, _) = func.value(value).def else { return None };
        value = func.op(op).operand(Role::Global).and_then(|o| o.arg.value())?;
    }
    None
}

/// A type in words.
fn shown(ty: &Type) -> String {
    let dims = |dims: &[Option<u64>], elem: Elem| {
        let dims: String = dims.iter().map(|d| d.map_or("?x".to_string(), |d| format!("{d}x"))).collect();
        format!("{dims}{elem}")
    };
    match ty {
        Type::View(view) => dims(&view.dims, view.elem),
        Type::Memref(memref) => dims(&memref.dims, memref.elem),
        Type::Scalar(ScalarType::Int(bits, _)) => format!("i{bits}"),
        Type::Scalar(ScalarType::Index) => "index".into(),
        Type::Scalar(ScalarType::Float(elem)) => elem.to_string(),
        other => format!("{other:?}"),
    }
}

/// `comm-poll` and `comm-leak`: what the flow of values says of tests and of copies that run on.
pub(super) fn check(func: &Func, report: &mut super::report::Report) {
    let mut tests = Vec::new();
    let mut starts = Vec::new();
    let mut awaited = Vec::new();
    func.walk(&mut |id, op, _| match op.opcode().map(|o| o.info().sem) {
        Some(Sem::Comm(Comm::Test)) => tests.push(id),
        Some(Sem::Comm(comm)) if comm.is_async() => starts.push(id),
        Some(Sem::Comm(Comm::AwaitEvent | Comm::TestEvent)) => {
            awaited.extend(op.operand(Role::Session).and_then(|o| o.arg.value()));
            awaited.extend(op.operand(Role::AsyncEvent).and_then(|o| started_in(func, o.arg.value()?)));
        }
        _ => {}
    });
    for id in tests.into_iter().filter(|id| decides(func, *id)) {
        let op = func.op(id);
        let what = "a test of a signal decides control flow: the result may depend on time";
        let fault = Fault { severity: Severity::Warning, ..Fault::new("comm-poll", what) };
        report.fault(op, "", fault.help("wait for the signal with comm.twait"));
    }
    for id in starts {
        let op = func.op(id);
        let session = op.operand(Role::Session).and_then(|o| o.arg.value());
        if session.is_some_and(|session| !awaited.contains(&session)) && report.is_new(op.span, "comm-leak") {
            let what = "the copy is started, and nothing waits for it";
            let found = Diagnostic::new("comm-leak", Severity::Warning, what).at(op.span, "started here");
            report.diagnostics.push(found.help("wait for its event with comm.wait_async_event"));
        }
    }
}

/// The session in which the copy of an event was started, where the text says it.
fn started_in(func: &Func, event: ValueId) -> Option<ValueId> {
    let Def::Result(start, _) = func.value(event).def else { return None };
    func.op(start).operand(Role::Session).and_then(|o| o.arg.value())
}

/// Whether something computed from an operation's result decides control flow.
fn decides(func: &Func, from: OpId) -> bool {
    let mut tainted = vec![false; func.values.len()];
    func.op(from).results.iter().for_each(|r| tainted[r.index()] = true);
    loop {
        let before = tainted.iter().filter(|t| **t).count();
        for op in &func.ops {
            let is_tainted = op.values().any(|v| tainted[v.index()]);
            match op.kind {
                OpKind::If | OpKind::Select | OpKind::For if is_tainted => {
                    let deciding = if op.kind == OpKind::For { 3 } else { 1 };
                    let mut deciding = op.operands.iter().take(deciding).filter_map(|o| o.arg.value());
                    if op.kind != OpKind::Select && deciding.any(|v| tainted[v.index()]) {
                        return true;
                    }
                }
                OpKind::Condition => {
                    let first = op.operands.first().and_then(|o| o.arg.value());
                    if first.is_some_and(|v| tainted[v.index()]) {
                        return true;
                    }
                }
                _ => {}
            }
            if !is_tainted && !op.blocks.iter().any(|b| hands_on(func, *b, &tainted)) {
                continue;
            }
            op.results.iter().for_each(|r| tainted[r.index()] = true);
            let args = op.blocks.iter().flat_map(|b| &func.block(*b).args);
            args.for_each(|a| tainted[a.index()] = true);
        }
        if tainted.iter().filter(|t| **t).count() == before {
            return false;
        }
    }
}

/// Whether the last operation of a block hands on something tainted.
fn hands_on(func: &Func, block: tessera_ir::BlockId, tainted: &[bool]) -> bool {
    let last = func.block(block).ops.last().map(|id| func.op(*id));
    last.is_some_and(|op| op.values().any(|v| tainted[v.index()]))
}
