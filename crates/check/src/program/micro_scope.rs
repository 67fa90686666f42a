//! The places where micro instructions are allowed (micro/model.md 2), the operations that make pointers, and the
//! states of streams.

use super::report::Report;
use rustc_hash::{FxHashMap, FxHashSet};
use tessera_ir::{BlockId, Core, Def, Func, Module, Op, OpId, OpKind, Runs, Type, ValueId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::{Opcode, Order, Role, Text};
use tessera_isa::profile::Profile;
use tessera_micro::{Kind, MicroType, Space, Stands, Stream};

/// The rules about places, of one function.
pub(super) fn check(module: &Module, func: &Func, profile: Profile, report: &mut Report) {
    let is_micro = |op: &Op| matches!(op.kind, OpKind::Micro(_)) || op.is_vecscope();
    let Some(first) = func.ops.iter().find(|op| is_micro(op)) else { return };
    let core = if let Runs::One(core) = func.runs() { Some(core) } else { None };
    let is_automatic =
        |op: &Op| matches!(op.kind, OpKind::Pto(Opcode::AllocTile, _)) && op.operand(Role::Addr).is_none();
    let is_placed = func.ops.iter().any(is_automatic);
    let mut scopes = Scopes { module, func, report, scope: None, core, is_placed, streams: FxHashMap::default() };
    if profile != Profile::A5 {
        let what = format!("{} is an instruction of a5, and the program is for {profile}", first.kind.name());
        let found = match profile {
            Profile::Cpu => Diagnostic::warning("micro-profile", what),
            _ => Diagnostic::error("micro-profile", what),
        };
        let found = found.at(first.span, "").help("use --profile a5, or tile instructions");
        // The table of profiles says the same of every instruction.
        func.ops.iter().filter(|op| is_micro(op)).for_each(|op| scopes.report.refuse(op.span, "micro-profile"));
        if scopes.report.is_new(first.span, "micro-profile") {
            scopes.report.diagnostics.push(found);
        }
    }
    for arg in &func.args {
        if matches!(scopes.ty(*arg), Type::Micro(_)) {
            let span = func.value(*arg).span;
            scopes.found(span, "vreg-escape", "a register enters a function".into(), "make it in the vecscope");
        }
    }
    scopes.block(func.body);
}

/// A vecscope around.
#[derive(Clone)]
struct Scope {
    is_strict: bool,
    /// The values defined inside.
    own: FxHashSet<ValueId>,
}

struct Scopes<'a> {
    module: &'a Module,
    func: &'a Func,
    report: &'a mut Report,
    scope: Option<Scope>,
    core: Option<Core>,
    /// Whether tiles are placed automatically.
    is_placed: bool,
    /// The direction of each state's stream, and the place where the state was used up.
    streams: FxHashMap<ValueId, (Option<Stream>, Option<Span>)>,
}

impl Scopes<'_> {
    fn ty(&self, value: ValueId) -> &Type {
        self.module.types.get(self.func.value(value).ty)
    }

    fn found(&mut self, span: Span, rule: &'static str, what: String, help: &str) {
        self.report.refuse(span, rule);
        if self.report.is_new(span, rule) {
            self.report.diagnostics.push(Diagnostic::error(rule, what).at(span, "").help(help));
        }
    }

    fn block(&mut self, block: BlockId) {
        let func = self.func;
        for id in &func.block(block).ops {
            self.op(*id, func.op(*id));
        }
    }

    fn op(&mut self, id: OpId, op: &Op) {
        if op.is_vecscope() {
            return self.vecscope(op);
        }
        let is_register = |value: ValueId| matches!(self.ty(value), Type::Micro(_));
        let has_register = op.values().any(is_register) || op.results.iter().copied().any(is_register);
        match &self.scope {
            Some(scope) => {
                let outside = op.values().find(|v| scope.is_strict && !scope.own.contains(v));
                if let Some(value) = outside.filter(|_| !op.is_scope_argument()) {
                    let name = self.module.names.text(self.func.value(value).name);
                    let what = format!("%{name} is defined outside of the strict vecscope that uses it");
                    self.found(op.span, "vecscope-capture", what, "hand it in as an operand");
                }
                if let Some(what) = self.foreign(op) {
                    let help = "move it out of the vecscope";
                    self.found(op.span, "vecscope-op", format!("{what} stands in a vecscope"), help);
                }
            }
            None if matches!(&op.kind, OpKind::Micro(call) if call.row.stands == Stands::InVecscope)
                || has_register =>
            {
                let what = format!("{} stands outside of a vecscope", op.kind.name());
                self.found(op.span, "vecscope-missing", what, "put it into pto.vecscope { … }");
            }
            None => {}
        }
        self.pointer(op);
        self.streams(op);
        if let Some(scope) = &mut self.scope {
            scope.own.extend(op.results.iter().copied());
        }
        let outside = self.core;
        self.core = outside.or(op.section_core());
        // Each branch uses up states on its own.
        let before = self.streams.clone();
        let mut after = before.clone();
        for block in &op.blocks {
            self.streams.clone_from(&before);
            if let Some(scope) = &mut self.scope {
                scope.own.extend(self.func.block(*block).args.iter().copied());
            }
            self.enter(id, op, *block);
            self.block(*block);
            for (value, (stream, used)) in &self.streams {
                let entry = after.entry(*value).or_insert((*stream, None));
                entry.1 = entry.1.or(*used);
                entry.0 = entry.0.or(*stream);
            }
        }
        if !op.blocks.is_empty() {
            self.streams = after;
            self.leave(op);
        }
        self.core = outside;
    }

    fn vecscope(&mut self, op: &Op) {
        if self.scope.is_some() {
            let what = "a vecscope stands in a vecscope".to_string();
            self.found(op.span, "vecscope-nested", what, "end the outer one first");
        }
        if self.core == Some(Core::Cube) {
            let what = "a vecscope stands in cube code".to_string();
            self.found(op.span, "vecscope-kind", what, "put it into a function or section of kind vector");
        }
        let outer = self.scope.take();
        let is_strict = op.scope_word() == Some("strict_vecscope");
        let mut own = FxHashSet::default();
        for block in &op.blocks {
            own.extend(self.func.block(*block).args.iter().copied());
        }
        self.scope = Some(Scope { is_strict, own });
        let handed = op.blocks.first().map(|block| self.func.block(*block).ops.as_slice()).unwrap_or_default();
        let escapes = handed.iter().map(|id| self.func.op(*id)).filter(|op| op.is_scope_argument());
        let escapes: Vec<ValueId> = escapes.flat_map(|op| op.results.iter().copied()).collect();
        let carried = op.operands.iter().filter_map(|o| o.arg.value()).chain(op.results.iter().copied());
        let crossing = escapes.into_iter().chain(carried).find(|v| matches!(self.ty(*v), Type::Micro(_)));
        if let Some(value) = crossing {
            let name = self.module.names.text(self.func.value(value).name).to_string();
            let what = format!("%{name} is a register, and crosses the edge of a vecscope");
            self.found(op.span, "vreg-escape", what, "store it, and load it again inside");
        }
        op.blocks.iter().for_each(|block| self.block(*block));
        self.scope = outer;
    }

    /// The name that messages give to an operation that is not allowed in a vecscope; `None` where it is allowed.
    fn foreign(&self, op: &Op) -> Option<String> {
        let name = || Some(op.kind.name().to_string());
        match &op.kind {
            OpKind::Micro(call) if call.row.stands == Stands::Outside => name(),
            OpKind::Pto(opcode, _) => match opcode.info().text {
                Text::AddPtr | Text::Number => None,
                Text::Address(_) if *opcode == Opcode::Castptr => None,
                Text::LoadScalar | Text::StoreScalar => {
                    let pointer = op.operand(Role::Global).and_then(|o| o.arg.value());
                    let is_global = pointer.and_then(|p| self.ty(p).space()) == Some(Space::Gm);
                    is_global.then(|| format!("{} of global memory", opcode.mnemonic()))
                }
                _ => name(),
            },
            OpKind::Other(_) | OpKind::Call(_) => name(),
            OpKind::If if op.section().is_some() => Some("a section".into()),
            _ => None,
        }
    }

    /// castptr between memories, and scalars where they are not accessed.
    fn pointer(&mut self, op: &Op) {
        let OpKind::Pto(opcode, _) = op.kind else { return };
        let first = op.values().next();
        let space = |value: Option<ValueId>| value.and_then(|v| self.ty(v).space());
        let (from, to) = (space(first), space(op.results.first().copied()));
        match opcode.info().text {
            Text::Address(_) if opcode == Opcode::Castptr => match (from, to) {
                (None, Some(Space::Gm)) => {
                    let what = "a number becomes a pointer to global memory".to_string();
                    self.found(op.span, "castptr-gm", what, "pass the pointer as an argument");
                }
                (None, Some(Space::Ub)) if self.is_placed => {
                    let what = "a number becomes an address in UB, where tiles are placed automatically";
                    let help = "give the tiles addresses, or make the pointer with pto.tile_buf_addr";
                    if self.report.is_new(op.span, "castptr-auto") {
                        self.report
                            .diagnostics
                            .push(Diagnostic::warning("castptr-auto", what).at(op.span, "").help(help));
                    }
                }
                (Some(from), Some(to)) if from != to => {
                    let what = format!("a pointer to {} becomes one to {}", from.name(), to.name());
                    self.found(op.span, "castptr-space", what, "keep the memory, and change the element only");
                }
                _ => {}
            },
            _ if matches!(opcode.order(), Some(Order::Take | Order::Release)) => {
                let words = op.attrs.as_deref().map(|attrs| attrs.words.as_slice()).unwrap_or_default();
                if let Some(mode) = words.get(2).filter(|mode| !matches!(mode.as_str(), "0" | "1")) {
                    let what = format!("{} has mode {mode}, and modes are 0 and 1", opcode.mnemonic());
                    self.found(op.span, "buf-mode", what, "leave the mode out, or write 0");
                }
            }
            Text::LoadScalar | Text::StoreScalar => {
                let pointer = op.operand(Role::Global).and_then(|o| o.arg.value());
                let is_inside = self.scope.is_some();
                let Some(space) = space(pointer) else { return };
                let fits = matches!(space, Space::Gm | Space::Ub) || (space == Space::L1 && !is_inside);
                if !fits {
                    let load = opcode == Opcode::LoadScalar;
                    let rule = if load { "load_scalar-space" } else { "store_scalar-space" };
                    let what = format!("{} does not access {} here", opcode.mnemonic(), space.name());
                    self.found(op.span, rule, what, "use a pointer to ub");
                }
            }
            _ => {}
        }
    }

    /// States of streams: which way they go, and that each of a store stream is used once.
    fn streams(&mut self, op: &Op) {
        let OpKind::Micro(call) = &op.kind else { return };
        let rule = |name: &str| call.row.rules.contains(&name);
        let wanted = match (rule("=align-linear"), rule("=align-kind")) {
            (true, _) => Some(Stream::Store),
            (false, true) => Some(Stream::Load),
            _ => None,
        };
        for (arg, operand) in call.row.args.iter().zip(&op.operands) {
            let (Kind::Align, Some(value)) = (arg.kind, operand.arg.value()) else { continue };
            let entry = self.streams.get(&value).copied().unwrap_or_default();
            if entry.0.is_some() && wanted.is_some() && entry.0 != wanted {
                let what = format!("{} takes a state of the other kind", call.name);
                self.found(op.span, "align-kind", what, "vldas starts loads, init_align starts stores");
            } else if let (Some(Stream::Store), Some(_)) = (wanted, entry.1) {
                let what = format!("{} uses a state that another store has used", call.name);
                self.found(op.span, "align-linear", what, "use the state that the other store gives");
            }
            if wanted == Some(Stream::Store) {
                self.streams.insert(value, (entry.0, Some(op.span)));
            }
        }
        let made = match wanted {
            Some(stream) => Some(stream),
            None if call.row.class == tessera_micro::Class::Vld => Some(Stream::Load),
            None => Some(Stream::Store),
        };
        for value in &op.results {
            if matches!(self.ty(*value), Type::Micro(MicroType::Align)) {
                self.streams.insert(*value, (made, None));
            }
        }
    }

    /// States that control flow hands into a block: they are used up outside, and begin anew inside.
    fn enter(&mut self, _id: OpId, op: &Op, block: BlockId) {
        let states = op.values().filter(|v| matches!(self.ty(*v), Type::Micro(MicroType::Align)));
        let kinds: Vec<Option<Stream>> = states.map(|v| self.streams.get(&v).and_then(|entry| entry.0)).collect();
        let args = self.func.block(block).args.iter().copied();
        let args: Vec<ValueId> = args.filter(|v| matches!(self.ty(*v), Type::Micro(MicroType::Align))).collect();
        for (arg, kind) in args.into_iter().zip(kinds.into_iter().chain(std::iter::repeat(None))) {
            self.streams.insert(arg, (kind, None));
        }
        // A state of outside that a loop uses up is used up once a round.
        if op.kind == OpKind::For || op.kind == OpKind::While {
            let inside = &self.func.block(block).ops;
            let uses: Vec<(ValueId, Span)> = self.outer_stores(inside);
            for (value, span) in uses {
                let what = "a state from outside of the loop is used up in every round".to_string();
                self.found(span, "align-linear", what, "pass it through iter_args");
                self.streams.insert(value, (None, None));
            }
        }
    }

    /// States of store streams that operations use up, and that they do not make.
    fn outer_stores(&self, ops: &[OpId]) -> Vec<(ValueId, Span)> {
        let mut out = Vec::new();
        for id in ops {
            let op = self.func.op(*id);
            let OpKind::Micro(call) = &op.kind else { continue };
            if !call.row.rules.contains(&"=align-linear") {
                continue;
            }
            for value in op.values().filter(|v| matches!(self.ty(*v), Type::Micro(MicroType::Align))) {
                let is_inside = match self.func.value(value).def {
                    Def::Result(made, _) => ops.contains(&made),
                    Def::BlockArg(..) => true,
                    _ => false,
                };
                if !is_inside {
                    out.push((value, op.span));
                }
            }
        }
        out
    }

    /// The results of control flow are new states.
    fn leave(&mut self, op: &Op) {
        let states = op.values().filter(|v| matches!(self.ty(*v), Type::Micro(MicroType::Align)));
        let states: Vec<ValueId> = states.collect();
        // The n-th state that goes in has the direction of the n-th that comes out.
        let kinds: Vec<Option<Stream>> = states.iter().map(|v| self.streams.get(v).and_then(|entry| entry.0)).collect();
        for value in states {
            let entry = self.streams.get(&value).copied().unwrap_or_default();
            self.streams.insert(value, (entry.0, Some(op.span)));
        }
        let is_state = |value: &&ValueId| matches!(self.ty(**value), Type::Micro(MicroType::Align));
        let results: Vec<ValueId> = op.results.iter().filter(is_state).copied().collect();
        for (value, kind) in results.into_iter().zip(kinds.into_iter().chain(std::iter::repeat(None))) {
            self.streams.insert(value, (kind, None));
        }
    }
}
