//! An automatic program with the flags and barriers that it needs (sync.md 7).

use super::{Kernel, Program};
use crate::{Error, Result};
use std::collections::{HashMap, HashSet};
use tessera_asm::{Parsed, Trivia};
use tessera_ir::{
    Arg, Def, Func, Module, NameId, Op, OpId, OpKind, Operand, ScalarType, Sign, TextForm, Type, Value, ValueId,
};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Severity, Span};
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrName, Bind, Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Fifo, Sem};
use tessera_isa::tile::TileType;
use tessera_plan::Placement;
use tessera_race::{Conflict, Fallback, FlagUse, Limits, Place, SyncPlan};

/// A program with flags.
#[derive(Clone, Debug)]
pub struct Synced {
    /// The program as text.
    pub text: String,
    /// The purpose of each inserted operation, in text order.
    pub rows: Vec<SyncRow>,
    /// Findings: `sync-ids`.
    pub warnings: Vec<Diagnostic>,
    /// Order operations that are stronger than the program may need, with the reason: `sync-fallback`.
    pub fallbacks: Vec<Diagnostic>,
}

/// An inserted operation and the dependence that it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncRow {
    /// The operation, as it is printed.
    pub operation: String,
    /// Its position: before or after an instruction or a loop.
    pub place: SyncPlace,
    /// RAW, WAR or WAW.
    pub kind: &'static str,
    /// The tile, without `%`; none in global memory.
    pub tile: Option<String>,
    /// The instruction that comes first, and its place in the original text.
    pub first: (&'static str, Span),
    /// The instruction that waits for it.
    pub second: (&'static str, Span),
    /// The distance in iterations.
    pub later: u64,
}

/// The position of an inserted operation; its neighbour has its place in the original text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncPlace {
    /// Before an instruction, or a loop or branch that holds one.
    Before(Span),
    /// After it.
    After(Span),
    /// Before a loop: a set for one of its first iterations.
    BeforeLoop(Span),
    /// After a loop: a wait for one of its last iterations.
    AfterLoop(Span),
}

impl Kernel {
    /// Whether the program orders its pipes itself, so that it has flags already.
    pub fn has_flags(&self) -> bool {
        self.func().ops.iter().any(Op::is_order)
    }

    /// The program with the order operations that it needs, and no others; those that it has are taken out first.
    pub fn synced(&self) -> Result<Synced> {
        self.with_flags(false)
    }

    /// The same, with loops unrolled where flags round them would have ids that are computed.
    pub fn synced_unrolled(&self) -> Result<Synced> {
        self.with_flags(true)
    }

    fn with_flags(&self, unrolled: bool) -> Result<Synced> {
        let tile = |v: &ValueId| self.module().types.get(self.func().value(*v).ty).is_tile();
        let makes = |op: &Op| matches!(op.kind, OpKind::Pto(..)) && op.form != TextForm::Dps;
        let alloc = |op: &Op| op.opcode().is_some_and(|o| o.info().forms.is_empty());
        if self.func().ops.iter().any(|op| makes(op) && !alloc(op) && op.results.iter().any(tile)) {
            // Only tiles that are allocated can have addresses.
            let text = self.program.text(Some(TextForm::Dps));
            let name = self.module().names.text(self.func().name).to_string();
            let program = Program::read(text, Some(self.profile())).sound()?;
            let kernel = program.kernel_or_entry((!program.module().is_listing).then_some(name.as_str()))?;
            if !kernel.func().ops.iter().any(|op| makes(op) && !alloc(op) && op.results.iter().any(tile_of(&kernel))) {
                return kernel.with_flags(unrolled);
            }
        }
        let mut func = self.without_flags();
        let mut module = self.module().clone();
        free_names(&mut module, &mut func);
        if module.level == Some(3) && func.ops.iter().any(|op| op.opcode() == Some(Opcode::Tassign)) {
            let what = "tassign binds tiles, and level 3 orders no pipes of such a program";
            let help = "allocate the tiles with addr, or write the flags";
            let at = func.ops.iter().find(|op| op.opcode() == Some(Opcode::Tassign)).map_or(func.span, |op| op.span);
            let found = Diagnostic::error("level-assign", what).at(at, "binds a tile").help(help);
            return Err(Error::from(Box::new(found)).in_text(self.program.source()));
        }
        if module.finds_scratch(&func) {
            write_scratch(&mut module, &mut func, self.profile());
        }
        let placement = tessera_plan::plan(&module, &func, self.profile(), &[])?;
        // Copies of a loop's body have one tile together.
        if shares(&placement) || unrolled && allocates_in_loops(&func) {
            addresses(&mut module, &mut func, &placement);
        }
        let in_text = |found| Error::from(found).in_text(self.program.source());
        let (profile, limits) = (self.profile(), Limits::default());
        let mut kept = Vec::new();
        let done = if unrolled {
            let all = tessera_race::insert_unrolled(&mut module, &func, profile, limits).map_err(in_text)?;
            (func, kept) = (all.func, all.kept);
            all.synced
        } else {
            let placement = tessera_plan::plan(&module, &func, profile, &[])?;
            tessera_race::insert(&mut module, &func, profile, &placement, limits)
        };
        if let Some(between) = &done.between {
            return Err(in_text(between.clone()));
        }
        let fallbacks = fallbacks(&module, &func, &done);
        let rows = done.table.iter().map(|served| SyncRow {
            operation: tessera_asm::print_op(&module, &done.func, done.func.op(served.op)).trim().to_string(),
            place: place(&func, served.place),
            later: served.later,
            kind: match served.conflict {
                Conflict::Raw => "RAW",
                Conflict::War => "WAR",
                Conflict::Waw => "WAW",
            },
            tile: served.tile.map(|v| module.names.text(func.value(v).name).to_string()),
            first: (func.op(served.first).name(), func.op(served.first).span),
            second: (func.op(served.second).name(), func.op(served.second).span),
        });
        let rows = rows.collect();
        let ids = done.short_of_ids.then(|| {
            let what =
                "more than eight flags of a pair of pipes are needed at once, so some were joined or became barriers";
            Diagnostic::warning("sync-ids", what).at(func.span, "").help("use a value sooner after it is made")
        });
        let kept = kept.iter().map(|id| {
            let what = "this loop is not unrolled, and its flags have ids that are computed";
            let help = "make its step a constant or its body shorter, or keep away from bytes of global memory that it comes to \
                        only after many iterations";
            Diagnostic::warning("sync-ids", what).at(func.op(*id).span, "").help(help)
        });
        let warnings = ids.into_iter().chain(kept).collect();
        Ok(Synced { text: self.with_function(module, done.func), rows, warnings, fallbacks })
    }

    /// The function without the flags and barriers that it has.
    pub(super) fn without_flags(&self) -> Func {
        let mut func = self.func().clone();
        let old: HashSet<OpId> =
            (0..).map(OpId).zip(&func.ops).filter(|(_, op)| op.is_order()).map(|(id, _)| id).collect();
        let values = |op: &Op| op.operands.iter().filter_map(|operand| operand.arg.value()).collect::<Vec<_>>();
        let mut uses: HashMap<ValueId, usize> = HashMap::new();
        func.ops.iter().flat_map(values).for_each(|value| *uses.entry(value).or_default() += 1);
        // Numbers that were made for the ids of flags only go with them.
        let (mut out, mut asked) = (old.clone(), Vec::from_iter(old));
        while let Some(id) = asked.pop() {
            for value in values(func.op(id)) {
                let left = uses.entry(value).or_default();
                *left = left.saturating_sub(1);
                let Def::Result(def, _) = func.value(value).def else { continue };
                let is_array = func.op(def).id_array().is_some();
                let is_number = matches!(func.op(def).kind, OpKind::Constant(_) | OpKind::Arith(_)) || is_array;
                if *left == 0 && is_number && out.insert(def) {
                    asked.push(def);
                }
            }
        }
        func.blocks.iter_mut().for_each(|block| block.ops.retain(|op| !out.contains(op)));
        func
    }

    /// The text of the program with another function in place of this one.
    fn with_function(&self, mut module: Module, mut func: Func) -> String {
        let names: Vec<NameId> = parts(&module, &func).iter().map(|part| part.name).collect();
        let had_calls = module.funcs.iter().any(|f| names.contains(&f.name) && !f.callees().is_empty());
        if had_calls {
            distinct_names(&mut module, &mut func);
        }
        let called: Vec<_> = module.funcs.iter().flat_map(Func::callees).collect();
        for part in parts(&module, &func) {
            module.funcs.iter_mut().filter(|f| f.name == part.name).for_each(|f| *f = part.clone());
        }
        if !had_calls {
            let trivia = self.program.trivia().clone();
            return tessera_asm::print(&Parsed {
                module,
                diagnostics: Vec::new(),
                trivia,
                functions: Vec::new(),
                marks: Vec::new(),
            });
        }
        // Called functions are part of the kernel now, with their ends of FIFOs.
        own_peers(&mut module, &names);
        module.funcs.retain(|f| names.contains(&f.name) || !called.contains(&f.name));
        let (diagnostics, trivia, functions) = (Vec::new(), Trivia::default(), Vec::new());
        tessera_asm::print(&Parsed { module, diagnostics, trivia, functions, marks: Vec::new() })
    }
}

impl Program {
    /// The program with an allocation for every tile, so that each can have an address: tiles that instructions make as
    /// results are allocated before them.
    pub fn with_allocations(&self) -> Result<Program> {
        let module = self.module();
        let makes = |func: &Func, op: &Op| {
            let is_tile = |v: &ValueId| module.types.get(func.value(*v).ty).is_tile();
            let is_alloc = op.opcode().is_some_and(|o| o.info().forms.is_empty());
            matches!(op.kind, OpKind::Pto(..))
                && op.form != TextForm::Dps
                && !is_alloc
                && op.results.iter().any(is_tile)
        };
        match module.funcs.iter().any(|func| func.ops.iter().any(|op| makes(func, op))) {
            true => Program::read(self.text(Some(TextForm::Dps)), Some(self.profile())).sound(),
            false => Ok(self.clone()),
        }
    }

    /// The text of the program with these functions in place of its own, every tile at its address. Functions that were
    /// made sections of one, which the last part says, are taken apart again.
    pub fn with_functions(&self, mut module: Module, functions: Vec<(Func, Placement, bool)>) -> String {
        let called: HashSet<NameId> = module.funcs.iter().flat_map(Func::callees).collect();
        let mut names: HashSet<NameId> = HashSet::new();
        let mut printed = Vec::new();
        for (mut func, placement, is_joined) in functions {
            free_names(&mut module, &mut func);
            distinct_names(&mut module, &mut func);
            addresses(&mut module, &mut func, &placement);
            let all = if is_joined { parts(&module, &func) } else { vec![func] };
            names.extend(all.iter().map(|f| f.name));
            printed.extend(all);
        }
        for func in printed {
            module.funcs.iter_mut().filter(|f| f.name == func.name).for_each(|f| *f = func.clone());
        }
        // Functions that were unfolded at their calls are part of the kernel.
        module.funcs.retain(|f| names.contains(&f.name) || f.is_declaration || !called.contains(&f.name));
        let trivia = self.trivia().clone();
        tessera_asm::print(&Parsed {
            module,
            diagnostics: Vec::new(),
            trivia,
            functions: Vec::new(),
            marks: Vec::new(),
        })
    }
}

/// The fallbacks of a plan as notes: one for each edge, or one for all if the program could not be analysed.
pub fn fallbacks(module: &Module, func: &Func, plan: &SyncPlan) -> Vec<Diagnostic> {
    if let Some(why) = &plan.serial {
        let count = plan.fallbacks().count();
        let what = format!("{count} full barriers, one before each instruction: {}", why.message);
        let note = Diagnostic::new("sync-fallback", Severity::Note, what);
        return vec![match why.span {
            Some(span) => note.at(span, "here"),
            None => note,
        }];
    }
    let note = |(served, why): (&FlagUse, Fallback)| {
        let operation = tessera_asm::print_op(module, &plan.func, plan.func.op(served.op));
        let what = format!("{} stands here because {}", operation.trim(), why.why());
        let [first, second] = [served.first, served.second].map(|op| func.op(op).span);
        Diagnostic::new("sync-fallback", Severity::Note, what)
            .at(second, "this one waits")
            .and_at(first, "for this one")
    };
    plan.fallbacks().map(note).collect()
}

fn place(func: &Func, place: Place) -> SyncPlace {
    let span = |op: OpId| func.op(op).span;
    match place {
        Place::Before(op) => SyncPlace::Before(span(op)),
        Place::After(op) => SyncPlace::After(span(op)),
        Place::Primes(op) => SyncPlace::BeforeLoop(span(op)),
        Place::Drains(op) => SyncPlace::AfterLoop(span(op)),
    }
}

fn tile_of(kernel: &Kernel) -> impl Fn(&ValueId) -> bool + '_ {
    |v| kernel.module().types.get(kernel.func().value(*v).ty).is_tile()
}

/// The functions that a kernel is made of, as they are now: functions that run together were made sections of one
/// ([`tessera_ir::inline::join`]), and are taken apart again.
fn parts(module: &Module, func: &Func) -> Vec<Func> {
    let original = |name: NameId| module.funcs.iter().find(|f| f.name == name);
    if func.core.is_some() || original(func.name).is_none_or(|first| first.core.is_none()) {
        return vec![func.clone()];
    }
    let ops = &func.block(func.body).ops;
    let part = |id: &OpId| {
        let (body, first) = (*func.op(*id).blocks.first()?, original(func.home(*id))?);
        let named = |arg: &ValueId| func.args.iter().copied().find(|v| func.value(*v).name == first.value(*arg).name);
        let args = first.args.iter().filter_map(named).collect();
        let &Func { name, is_entry, core, span, loc, .. } = first;
        let mut part = Func { name, is_entry, core, span, loc, args, body, attrs: first.attrs.clone(), ..func.clone() };
        part.block_mut(body).ops.extend(ops.last());
        Some(part)
    };
    ops.iter().filter(|id| func.op(**id).section_core().is_some()).filter_map(part).collect()
}

/// Names the function that a reserved buffer is in now where its old one was inlined: in it, and at the producer's end.
fn own_peers(module: &mut Module, parts: &[NameId]) {
    let is_part = |func: &&Func| parts.contains(&func.name);
    let mut buffers: HashMap<(NameId, String), (NameId, String)> = HashMap::new();
    let mut renamed: HashMap<(NameId, OpId), String> = HashMap::new();
    for func in module.funcs.iter().filter(is_part) {
        let mut taken: HashSet<String> = HashSet::new();
        func.walk(&mut |id, op, _| {
            let (Some(name), None) = (op.name_attr(AttrName::Name), op.name_attr(AttrName::PeerFunc)) else { return };
            let own = (1..)
                .map(|n| if n == 1 { name.to_string() } else { format!("{name}_{n}") })
                .find(|own| taken.insert(own.clone()))
                .unwrap_or_default();
            if own != name {
                renamed.insert((func.name, id), own.clone());
            }
            buffers.insert((func.home(id), name.to_string()), (func.name, own));
        });
    }
    let Module { funcs, names, .. } = module;
    for func in funcs.iter_mut().filter(|func| parts.contains(&func.name)) {
        let of = func.name;
        for (n, op) in func.ops.iter_mut().enumerate() {
            let peer = op.name_attr(AttrName::PeerFunc).and_then(|peer| names.find(peer));
            let name = op.name_attr(AttrName::Name).map(String::from);
            let here = renamed.get(&(of, OpId(n as u32))).map(|own| (None, own));
            let there = peer.zip(name).and_then(|key| buffers.get(&key)).map(|(home, own)| (Some(*home), own));
            let (Some((home, own)), Some(attrs)) = (here.or(there), op.attrs.as_deref_mut()) else { continue };
            for (key, text) in &mut attrs.names {
                match (*key, home) {
                    (AttrName::Name, _) => *text = format!("\"{own}\""),
                    (AttrName::PeerFunc, Some(home)) => *text = format!("@{}", names.text(home)),
                    _ => {}
                }
            }
        }
    }
}

/// Values that no operation defines any more lose their names, so that new ones may have them.
fn free_names(module: &mut Module, func: &mut Func) {
    let mut live = HashSet::new();
    func.walk(&mut |id, _, _| _ = live.insert(id));
    let none = module.names.intern("");
    let gone = |value: &&mut Value| matches!(value.def, Def::Result(op, _) if !live.contains(&op));
    func.values.iter_mut().filter(gone).for_each(|value| value.name = none);
}

/// Whether it gives a tile storage.
fn allocates(op: &Op) -> bool {
    op.opcode().and_then(|opcode| opcode.info().binds) == Some(Bind::New)
}

/// Writes the scratch tiles that instructions leave out: with addresses everywhere they would be asked for (isa/today.md
/// 9).
fn write_scratch(module: &mut Module, func: &mut Func, profile: Profile) {
    let mut taken = names(func);
    for block in 0..func.blocks.len() {
        let mut ops = Vec::with_capacity(func.blocks[block].ops.len());
        for id in std::mem::take(&mut func.blocks[block].ops) {
            if let Some(tile) = left_out(module, func, id, profile) {
                let at = func.op(id).span.start;
                let span = Span::new(at, at);
                let ty = module.types.intern(Type::Tile(tile));
                let alloc = OpKind::Pto(Opcode::AllocTile, Form::Plain);
                let alloc = func.add_op(Op::new(alloc, TextForm::Dps, span));
                let name = fresh(module, &mut taken, "tmp");
                let value = Value { name, ty, def: Def::Result(alloc, 0), span, type_span: span };
                let value = func.add_value(value);
                func.op_mut(alloc).results.push(value);
                ops.push(alloc);
                let operands = &mut func.op_mut(id).operands;
                let before = operands.iter().position(|o| o.role.is_dst()).unwrap_or(operands.len());
                operands.insert(before, Operand { role: Role::Tmp, arg: Arg::Value(value), span, type_span: span });
            }
            ops.push(id);
        }
        func.blocks[block].ops = ops;
    }
}

/// The scratch tile that an instruction asks for and leaves out.
fn left_out(module: &Module, func: &Func, id: OpId, profile: Profile) -> Option<TileType> {
    let op = func.op(id);
    let OpKind::Pto(opcode, form) = op.kind else { return None };
    let tile = |o: &Operand| Some((o.role, module.types.get(func.value(o.arg.value()?).ty).on(profile)?));
    let tiles: Vec<_> = op.operands.iter().filter_map(tile).collect();
    match tiles.iter().any(|(role, _)| *role == Role::Tmp) || op.form != TextForm::Dps {
        true => None,
        false => opcode.scratch_tile(form, op.known_attrs(), profile, &tiles),
    }
}

/// Whether a tile is allocated in a loop.
fn allocates_in_loops(func: &Func) -> bool {
    let mut found = false;
    func.walk(&mut |_, op, depth| found |= depth > 0 && allocates(op));
    found
}

/// Whether two tiles share bytes.
fn shares(placement: &Placement) -> bool {
    let mut slots: Vec<_> = placement.tiles.iter().flatten().collect();
    slots.sort_by_key(|s| (s.loc as u8, s.addr));
    slots.windows(2).any(|pair| pair[0].loc == pair[1].loc && pair[1].addr < pair[0].limit())
}

/// Gives every tile that is allocated the address where it lies, so that it stays there.
fn addresses(module: &mut Module, func: &mut Func, placement: &Placement) {
    let ty = module.types.intern(Type::Scalar(ScalarType::Int(64, Sign::None)));
    let mut taken = names(func);
    for block in 0..func.blocks.len() {
        // An address is one number for all tiles of a block that lie there.
        let mut known: HashMap<u64, ValueId> = HashMap::new();
        let mut ops = Vec::with_capacity(func.blocks[block].ops.len());
        for id in std::mem::take(&mut func.blocks[block].ops) {
            let op = func.op(id);
            let is_free = allocates(op) && op.operand(Role::Addr).is_none();
            let tile = op.results.first().copied().filter(|_| is_free);
            if let (Some(Sem::Fifo(Fifo::Reserve)), Some(base)) =
                (op.opcode().map(|o| o.info().sem), op.results.first().and_then(|buffer| placement.reserved(*buffer)))
            {
                let known = &mut func.op_mut(id).attrs_mut().known;
                known.set(AttrName::Auto, Some(AttrValue::Bool(false)));
                known.set(AttrName::Base, i64::try_from(base).ok());
            }
            // Assemblers want an address on each tile or on none; one without storage touches nothing.
            let place = tile
                .and_then(|v| placement.slot(v).map(|slot| slot.addr).or_else(|| unused(module, func, v, placement)));
            let op = func.op(id);
            let span = Span::new(op.span.start, op.span.start);
            if let Some(addr) = place {
                let value = *known.entry(addr).or_insert_with(|| {
                    let number = OpKind::Constant(Number::Int(addr.into()));
                    let constant = func.add_op(Op::new(number, TextForm::Dps, span));
                    let name = fresh(module, &mut taken, &format!("addr_{addr:x}"));
                    let def = Def::Result(constant, 0);
                    let value = func.add_value(Value { name, ty, def, span, type_span: span });
                    func.op_mut(constant).results.push(value);
                    ops.push(constant);
                    value
                });
                let address = Operand { role: Role::Addr, arg: Arg::Value(value), span, type_span: span };
                func.op_mut(id).operands.insert(0, address);
            }
            ops.push(id);
        }
        func.blocks[block].ops = ops;
    }
    // The tiles of a listing have no allocation: TASSIGN names them first.
    let named: Vec<(ValueId, u64)> =
        func.args.iter().filter(|_| module.is_listing).filter_map(|v| Some((*v, placement.slot(*v)?.addr))).collect();
    for (value, addr) in named.into_iter().rev() {
        let span = Span::default();
        let mut op = Op::new(OpKind::Pto(Opcode::Tassign, Form::Plain), TextForm::Dps, span);
        for (role, arg) in [(Role::Tile, Arg::Value(value)), (Role::Addr, Arg::Int(addr as i64))] {
            op.operands.push(Operand { role, arg, span, type_span: span });
        }
        let id = func.add_op(op);
        let body = func.body;
        func.block_mut(body).ops.insert(0, id);
    }
}

/// An address for a tile that has no storage: behind all others, if there is room.
fn unused(module: &Module, func: &Func, tile: ValueId, placement: &Placement) -> Option<u64> {
    const ALIGNMENT: u64 = 1024;
    // What becomes another name of a storage has the address of that.
    let binds = |op: &Op| op.opcode().is_some_and(|o| o.info().binds.is_some());
    if func.ops.iter().any(|op| binds(op) && op.dsts().iter().any(|(_, dst)| *dst == tile)) {
        return None;
    }
    let profile = module.profile?;
    let tile = module.types.get(func.value(tile).ty).tile()?.resolve(profile);
    let high = placement.high_water.get(tile.loc as usize)?.next_multiple_of(ALIGNMENT);
    let room = profile.memory(tile.loc).and_then(|memory| memory.room());
    let fits = room.is_none_or(|room| high.saturating_add(tile.bytes()) <= room);
    Some(if fits { high } else { 0 })
}

/// The names of a function's values.
fn names(func: &Func) -> HashSet<NameId> {
    func.values.iter().map(|value| value.name).collect()
}

/// A name that is not taken yet, and now is.
fn fresh(module: &mut Module, taken: &mut HashSet<NameId>, wanted: &str) -> NameId {
    let mut name = module.names.intern(wanted);
    let mut n = 0;
    while !taken.insert(name) {
        n += 1;
        name = module.names.intern(&format!("{wanted}_{n}"));
    }
    name
}

/// Calls that were inlined more than once leave names that are taken.
fn distinct_names(module: &mut Module, func: &mut Func) {
    let (mut taken, mut seen) = (names(func), HashSet::new());
    for n in 0..func.values.len() {
        if !seen.insert(func.values[n].name) {
            let wanted = module.names.text(func.values[n].name).to_string();
            func.values[n].name = fresh(module, &mut taken, &wanted);
            seen.insert(func.values[n].name);
        }
    }
}
