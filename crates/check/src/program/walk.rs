//! The walk: what is known of numbers and places, and loops.

use super::alias::Aliases;
use super::contents::{Contents, Memories};
use super::report::Report;
use rustc_hash::{FxHashMap, FxHashSet};
use std::convert::Infallible;
use std::rc::Rc;
use tessera_absint::{
    Analysis, Binding, ControlFlow, Flow, Origin, PlaceOf, State, Step, Tiles, TypeFacts, Val, Vals, ViewOf,
};
use tessera_ir::edges::{Control, For, While};
use tessera_ir::scalar::{self, Constants};
use tessera_ir::{
    Arg, BlockId, Core, Def, Fifos, Func, Module, Op, OpId, OpKind, Operand, Runs, ScalarType, Sign, Type, TypeId,
    ValueId,
};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Fault, Severity, Span};
use tessera_isa::inst::{Inst, Place, Root, ViewTag, ViewTags};
use tessera_isa::ops::{Form, Opcode, Role, Text};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Sem;
use tessera_isa::tile::{Extent, Loc, Tile};

use crate::rules::{memory, tile, valid};

/// The number of operations that are visited before loops are no longer walked iteration by iteration.
const BUDGET: usize = 100_000;

/// A scalar that is known or not.
pub(super) type Constant = Option<Number>;

/// A loop that is being walked iteration by iteration.
struct Frame {
    variable: ValueId,
    value: i128,
    first: bool,
}

pub(super) struct Walk<'a> {
    pub state: State<'a, Constant, Option<Root>>,
    pub report: &'a mut Report,
    pub aliases: Aliases,
    /// What the bytes on the chip hold here.
    pub contents: Rc<Contents>,
    pub memories: Memories,
    /// The first instructions of an unsplit function that only one kind of core has the pipe for.
    pub kinds: [Option<(Span, Opcode)>; 2],
    /// Ids of flags that are out of range, which were reported.
    pub wrong_ids: FxHashSet<(String, i64)>,
    /// The FIFOs of the function.
    pub fifos: Fifos,
    /// The number of the next automatic storage.
    next_auto: u32,
    /// Types of Left tiles whose written outer order was replaced, which has been reported.
    replaced: FxHashSet<TypeId>,
    /// The kind of core whose code is walked.
    pub core: Option<Core>,
    /// Whether the function is one process that has all pipes.
    pub is_unsplit: bool,
    /// Whether it has micro instructions: pointers on the chip are byte addresses then.
    pub is_micro: bool,
    /// In code that is never reached no value means anything.
    pub dead: bool,
    /// In loops: the operands with which each instruction last passed, since most turns repeat them.
    pub passed: FxHashMap<Span, Inst>,
    visited: Vec<bool>,
    budget: usize,
    frames: Vec<Frame>,
}

impl<'a> Analysis<'a> for Walk<'a> {
    type Int = Constant;
    /// None for global memory, and where nothing is known.
    type Root = Option<Root>;
    type Stop = Infallible;
    type Own = (Aliases, Rc<Contents>);

    fn state(&self) -> &State<'a, Constant, Option<Root>> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State<'a, Constant, Option<Root>> {
        &mut self.state
    }

    fn constant(&self, n: i64) -> Constant {
        Some(Number::Int(n.into()))
    }

    fn unknown(&mut self) -> Constant {
        None
    }

    fn known(&self, n: &Constant) -> Option<i128> {
        match n {
            Some(Number::Int(n)) => Some(*n),
            _ => None,
        }
    }

    fn sum(&mut self, a: &Constant, b: &Constant) -> Constant {
        self.known(a).zip(self.known(b)).map(|(a, b)| Number::Int(a.saturating_add(b)))
    }

    fn product(&mut self, a: &Constant, b: &Constant) -> Constant {
        self.known(a).zip(self.known(b)).map(|(a, b)| Number::Int(a.saturating_mul(b)))
    }

    fn either_int(&mut self, a: &Constant, b: &Constant) -> Constant {
        a.filter(|_| a == b)
    }

    fn read(&self, arg: Arg) -> Option<Constant> {
        let Val::Scalar(number) = self.val(arg) else { return None };
        let number = number.filter(|_| !self.dead);
        Some(match (arg.value().map(|v| self.state.scalar_type(v)), number) {
            (Some(ScalarType::Int(n, Sign::Unsigned)), Some(Number::Int(v))) => {
                Some(Number::Int(scalar::unsigned(v as i64, n.into()).into()))
            }
            _ => number,
        })
    }

    fn number(&self, arg: Arg) -> Option<Number> {
        self.read(arg).flatten()
    }

    fn literal(&mut self, _: ValueId, number: Number) -> Constant {
        (!self.dead).then_some(number)
    }

    fn scalar(&mut self, _: ValueId, _: Origin) -> Constant {
        None
    }

    fn compute(&mut self, op: &Op) -> Constant {
        let int = |arg: Arg| match self.val(arg) {
            Val::Scalar(Some(Number::Int(v))) => Some(v as i64),
            _ => None,
        };
        // An operation without a value is unknown here; the run reports it.
        let value = scalar::compute(self.state.module, self.state.func, op, int).and_then(Result::ok);
        value.filter(|_| !self.dead).map(|v| Number::Int(v.into()))
    }

    fn buffer(&mut self, _: ValueId, origin: Origin) -> PlaceOf<'a, Self> {
        // An argument starts where its buffer does.
        PlaceOf::<Self> { root: None, at: (origin == Origin::Argument).then_some(Number::Int(0)) }
    }

    fn storage(&mut self, _: ValueId, _: &Tile, origin: Origin) -> PlaceOf<'a, Self> {
        if origin == Origin::Found {
            return self.anywhere();
        }
        self.next_auto += 1;
        PlaceOf::<Self> { root: Some(Root::Auto(self.next_auto)), at: self.constant(0) }
    }

    fn anywhere(&mut self) -> PlaceOf<'a, Self> {
        PlaceOf::<Self> { root: None, at: None }
    }

    fn memory(loc: Loc) -> Option<Root> {
        Some(Root::Memory(loc))
    }

    fn pointee(&mut self, _: usize) -> PlaceOf<'a, Self> {
        PlaceOf::<Self> { root: None, at: self.constant(0) }
    }

    fn own(&self) -> Self::Own {
        (self.aliases.clone(), self.contents.clone())
    }

    fn set_own(&mut self, (aliases, contents): Self::Own) {
        (self.aliases, self.contents) = (aliases, contents);
    }

    fn join_own(&mut self, (a, left): Self::Own, (b, right): Self::Own) {
        self.aliases = a;
        self.aliases.join(b);
        self.join_contents(left, right);
    }

    fn visit(&mut self, id: OpId, op: &'a Op) -> Step<'a, Self> {
        self.visited[id.index()] = true;
        self.budget = self.budget.saturating_sub(1);
        match &op.kind {
            OpKind::Pto(opcode, _) if self.is_micro && self.chip_pointer(op, *opcode) => {}
            OpKind::Micro(_) => self.micro(op),
            _ => self.op(id, op)?,
        }
        Ok(())
    }

    fn is_number(&self, value: ValueId) -> bool {
        self.is_chip_pointer(value)
    }

    fn instruction(&mut self, id: OpId, op: &'a Op, opcode: Opcode, form: Form) -> Step<'a, Self> {
        if let Some(order) = opcode.order() {
            self.flag_id(op, order);
        }
        match opcode.info().text {
            Text::LoadScalar | Text::StoreScalar => self.scalar_access(op),
            Text::Attributes if matches!(opcode.info().sem, Sem::RoundsF32 { .. }) => {
                let mut inst = Inst::new(opcode, form, self.state.profile);
                inst.attrs = op.known_attrs().clone();
                crate::check(&inst).into_iter().for_each(|fault| self.found(op, fault));
            }
            _ if self.transfer(op, opcode) => match opcode.info().text {
                Text::Alloc => self.allocated(op),
                Text::Address(_) => self.escapes(op),
                Text::Pipe(_) => self.slot(id, op),
                Text::Comm(_) => self.communicates(op, opcode),
                _ => {}
            },
            _ => self.on_tiles(op, opcode, form),
        }
        Ok(())
    }

    fn control(&mut self, _: OpId, op: &'a Op, control: Flow<'a>) -> Step<'a, Self> {
        match control {
            Ok(Control::For(f)) => return self.repeat(op, f),
            Ok(Control::While(w)) => return self.repeat_while(op, w),
            Ok(Control::Select(s)) => self.choose_value(s),
            Ok(Control::If(i)) => {
                let outside = self.core;
                self.core = outside.or(op.section_core());
                let open = u32::from(self.truth(i.condition).is_none());
                self.memories.branches += open;
                self.choose(i)?;
                self.memories.branches -= open;
                self.core = outside;
            }
            Err(broken) => self.report.diagnostics.push(*broken),
        }
        Ok(())
    }

    fn type_fault(&self, ty: &Type, resolved: &Tile) -> Option<Fault> {
        match ty {
            Type::Conv(conv) => tile::check_conv(conv, self.state.profile),
            Type::Multi(slot, _) => tile::check_tile(&slot.resolve(self.state.profile), self.state.profile),
            _ => tile::check_tile(resolved, self.state.profile),
        }
    }

    /// Breaks of `tile-*` are reported where the type is written.
    fn new_tile(&mut self, value: ValueId, origin: Origin) -> Option<usize> {
        let facts = self.facts(value)?;
        let (state, profile) = (&self.state, self.state.profile);
        let defined = state.func.value(value);
        let (name, span) = (state.module.names.text(defined.name), defined.type_span);
        if let Type::Tile(written) = state.ty(value)
            && written.replaces_blayout(profile)
            && self.replaced.insert(defined.ty)
        {
            let order = facts.tile.blayout;
            let text = format!("{profile} keeps Left tiles {order}, so the written blayout of %{name} is replaced");
            self.report.diagnostics.push(Diagnostic::new("left-blayout", Severity::Note, text).at(span, ""));
        }
        if let Some(fault) = &facts.fault {
            if let (true, Def::Result(op, _)) = (fault.is_error(), defined.def) {
                self.report.refuse(state.func.op(op).span, fault.rule);
            }
            if self.report.is_new(span, fault.rule) {
                let found = Diagnostic::from(fault.clone()).at(span, format!("the type of %{name}"));
                self.report.diagnostics.push(found);
            }
        }
        self.add_tile(value, origin)
    }

    fn check_address(&mut self, op: &Op, tile: &TypeFacts, at: Constant) -> Constant {
        if tile.fault.as_ref().is_some_and(Fault::is_error) {
            return None;
        }
        let bytes = tile.conv.map_or(tile.tile.bytes(), |conv| conv.bytes());
        let fault = |a| memory::check_address(tile.tile.loc, bytes, a, self.state.profile);
        let Some(fault) = self.known(&at).and_then(fault) else { return at };
        self.found(op, fault);
        None
    }

    fn check_extents(&mut self, op: &Op, object: usize, extents: [Option<i128>; 2]) -> bool {
        let object = &self.state.objects[object];
        if object.broken.is_some() {
            return false;
        }
        let fault = valid::check_valid(&object.tile, extents);
        let is_legal = fault.is_none();
        fault.into_iter().for_each(|fault| self.found(op, fault));
        is_legal
    }

    /// A window lies inside its view (`gm-bounds`).
    fn check_partition(&mut self, op: &Op, base: &ViewOf<'a, Self>, at: &[Constant], sizes: &[Constant]) -> bool {
        let dims = at.iter().zip(sizes).zip(&*base.dims).enumerate();
        let outside =
            |(n, ((at, size), dim))| super::global::outside(n, self.known(at), self.known(size), self.known(dim));
        let fault = dims.into_iter().find_map(outside);
        let is_inside = fault.is_none();
        fault.into_iter().for_each(|fault| self.found(op, fault));
        is_inside
    }

    fn check_dimension(&mut self, op: &Op, n: i128, rank: usize) {
        let what = format!("dimension {n} of a view of {rank} dimensions is asked for");
        self.found(op, Fault::new("view-dim", what).help("dimensions count from 0"));
    }

    /// A destination of TRESHAPE that has an address gives it up (ops.md 4).
    fn check_rebind(&mut self, op: &Op, src: usize, dst: usize) {
        let has_address = self.state.objects[dst].binding == Binding::Address;
        if has_address
            && let Some(Place { start, .. }) = self.place(dst).filter(|place| self.place(src) != Some(*place))
            && self.report.is_new(op.span, "treshape-address")
        {
            let profile = self.state.profile;
            let text = format!("on {profile} dst lies where src lies, and gives up its address {start:#x}");
            let note = Diagnostic::new("treshape-address", Severity::Note, text).at(op.span, "");
            self.report.diagnostics.push(note);
        }
    }

    fn check_window(&mut self, op: &Op, dst: usize) {
        let tile = self.state.objects[dst].tile;
        let is_open = [tile.v_row, tile.v_col].contains(&Extent::Dynamic);
        let is_written = [Role::ValidRow, Role::ValidCol].iter().any(|role| op.operand(*role).is_some());
        if op.opcode() == Some(Opcode::Subset) && is_open && !is_written {
            let what = format!("the window {tile} has `?` for an extent, and no valid region is written");
            self.found(op, Fault::new("valid-unset", what).help("write valid [%rows, %cols] behind the sizes"));
        }
    }

    fn bound(&mut self, object: usize) {
        self.aliases.forget(object);
    }

    /// The layout of a new view; a written one that its strides contradict is reported (isa/structure.md 8).
    fn view_tags(&mut self, op: &Op) -> ViewTags {
        let inferred = tessera_ir::view::inferred(self.state.module, self.state.func, self.state.constants, op);
        let Some(written) = op.known_attrs().layout() else { return inferred };
        if inferred.contradicts(written) {
            let other = if written == ViewTag::Nd { ViewTag::Dn } else { ViewTag::Nd };
            let what = format!("the view is tagged {written}, and its last two strides say {other}");
            self.found(op, Fault::new("view-layout", what).help(format!("write {other}, or leave the tag out")));
        }
        ViewTags::written(written)
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        module: &'a Module,
        func: &'a Func,
        profile: Profile,
        constants: &'a Constants,
        report: &'a mut Report,
    ) -> Self {
        Walk {
            state: State::new(module, func, profile, constants),
            report,
            aliases: Aliases::default(),
            contents: Rc::default(),
            memories: Memories::default(),
            kinds: [None; 2],
            wrong_ids: FxHashSet::default(),
            fifos: Fifos::new(module, func),
            next_auto: 0,
            replaced: FxHashSet::default(),
            core: if let Runs::One(core) = func.runs() { Some(core) } else { None },
            is_unsplit: func.runs() == Runs::Unsplit,
            is_micro: func.ops.iter().any(|op| matches!(op.kind, OpKind::Micro(_))),
            dead: false,
            passed: FxHashMap::default(),
            visited: vec![false; func.ops.len()],
            budget: BUDGET,
            frames: Vec::new(),
        }
    }

    pub(super) fn run(mut self) {
        let func = self.state.func;
        func.args.iter().for_each(|arg| self.set_by_type(*arg, Origin::Argument));
        self.shared_memories();
        let Ok(()) = self.block(func.body);
        self.dead = true;
        let Ok(()) = self.sweep(func.body);
    }

    /// The address of a tile, if it is known.
    pub(super) fn place(&self, object: usize) -> Option<Place> {
        let place = &self.state.objects[object].place;
        Some(Place { root: place.root?, start: u64::try_from(self.known(&place.at)? / 8).ok()? })
    }

    /// ", at iteration %i = 2", where a loop is past its first iteration.
    pub(super) fn iteration(&self) -> String {
        if self.frames.iter().all(|f| f.first) {
            return String::new();
        }
        let at = self.frames.iter().map(|f| {
            let name = self.state.module.names.text(self.state.func.value(f.variable).name);
            format!("%{name} = {}", f.value)
        });
        format!(", at iteration {}", at.collect::<Vec<_>>().join(", "))
    }

    /// Whether this is a turn of a loop that is walked turn by turn.
    pub(super) fn in_turn(&self) -> bool {
        !self.frames.is_empty()
    }

    fn repeat(&mut self, op: &'a Op, f: For<'a>) -> Step<'a, Self> {
        let known = (self.int(f.lower), self.int(f.upper), self.int(f.step));
        if let Some(step) = known.2.filter(|step| *step <= 0) {
            let fault = Fault::new("loop", format!("the loop steps by {step}")).help("a step is at least 1");
            self.report.fault(op, "never ends", fault);
        }
        let mut carried = self.vals(f.inits);
        if let (Some(lower), Some(upper), Some(step)) = known
            && step > 0
        {
            let mut i = lower;
            while i < upper && self.budget > 0 {
                // An empty body costs too.
                self.budget = self.budget.saturating_sub(1);
                self.state.set(f.variable, Val::Scalar(Some(Number::Int(i))));
                self.state.set_all(f.carried, carried);
                self.frames.push(Frame { variable: f.variable, value: i, first: i == lower });
                self.block(f.body)?;
                self.frames.pop();
                carried = self.vals(f.yields);
                i = i.saturating_add(step);
            }
            if i >= upper {
                self.state.set_all(f.results, carried);
                return Ok(());
            }
        }
        let yielded = self.once(op, f.yields)?;
        let results: Vals<Constant> = carried.into_iter().zip(yielded).map(|(a, b)| self.either(a, b)).collect();
        self.state.set_all(f.results, results);
        Ok(())
    }

    fn repeat_while(&mut self, op: &'a Op, w: While<'a>) -> Step<'a, Self> {
        let mut carried = self.vals(w.inits);
        while self.budget > 0 {
            self.state.set_all(w.carried, carried);
            self.block(w.before)?;
            let handed = self.vals(w.handed);
            match self.truth(w.condition) {
                Some(true) => {
                    self.state.set_all(w.taken, handed);
                    self.block(w.after)?;
                    carried = self.vals(w.yields);
                }
                Some(false) => {
                    self.state.set_all(w.results, handed);
                    return Ok(());
                }
                None => break,
            }
        }
        self.once(op, w.yields)?;
        // The values that the condition returns at the end may differ from the carried ones.
        self.set_unknown(op);
        Ok(())
    }

    /// Walks the blocks of a loop once, for any iteration: what changes in it is unknown. Gives what it yields.
    fn once(&mut self, op: &'a Op, yields: &[Operand]) -> Result<Vals<Constant>, Infallible> {
        let func = self.state.func;
        self.enter_loop();
        let (values, ran) = self.apart(|this| {
            op.blocks.iter().for_each(|block| this.forget(*block));
            for block in &op.blocks {
                func.block(*block).args.iter().for_each(|arg| this.set_by_type(*arg, Origin::Found));
                this.block(*block)?;
            }
            Ok(this.vals(yields))
        })?;
        let ((), skipped) = self.apart(|_| Ok(()))?;
        let contents = ran.1.1.clone();
        self.join(ran, skipped);
        // Of bytes it counts as a loop that runs.
        self.contents = contents;
        self.leave_loop();
        Ok(values)
    }

    /// Forgets the properties of outer tiles that operations of a block change.
    fn forget(&mut self, block: BlockId) {
        let func = self.state.func;
        for id in &func.block(block).ops {
            let op = func.op(*id);
            for operand in &op.operands {
                if let (Some(opcode), Some(object)) = (op.opcode(), self.state.tile(operand.arg)) {
                    self.forget_tile(object, opcode, operand.role);
                }
            }
            if matches!(op.opcode(), Some(Opcode::Setfmatrix | Opcode::SetImg2colPadding)) {
                self.state.forget_config();
            }
            op.blocks.iter().for_each(|inner| self.forget(*inner));
        }
    }

    /// Checks blocks that the walk never entered: nothing is known there but types.
    fn sweep(&mut self, block: BlockId) -> Result<(), Infallible> {
        let func = self.state.func;
        let ops = &func.block(block).ops;
        let entered = ops.first().is_none_or(|id| self.visited[id.index()]);
        if !entered {
            func.block(block).args.iter().for_each(|arg| self.set_by_type(*arg, Origin::Found));
            self.block(block)?;
        }
        ops.iter().flat_map(|id| &func.op(*id).blocks).try_for_each(|inner| self.sweep(*inner))
    }
}
