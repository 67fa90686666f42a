//! C++ that calls the intrinsics: what `tessera emit --cpp` prints.
//!
//! ```
//! use tessera_isa::profile::Profile;
//!
//! let text = "%dst = pto.ttrans %src : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>";
//! let module = tessera_asm::parse(text, None).module;
//! let code = tessera_emit::cpp(&module, &module.funcs[0], Profile::Cpu)?;
//! assert!(code.contains("TTRANS(dst, src"));
//! # Ok::<(), Box<tessera_isa::diag::Diagnostic>>(())
//! ```
//!
//! A tile is one object at the address that the plan gives it; control flow hands tiles on by pointer, because in the
//! text, too, a tile that a loop carries stays the same tile. Listing inputs and outputs are host arrays of the valid
//! region, as in files. Where new contents begin at bytes that another tile may have used, `HostForget` says so, so
//! that what is undefined in the text is undefined in C++.
//!
//! What C++ cannot say is an error; there is no code that means something else than the text.

mod body;
mod control;
mod float;
mod issue;
mod names;
mod signature;
mod transfer;
mod words;

use names::Names;
use std::fmt::Write;
use tessera_ir::{Arg, BlockId, CastOp, Def, Func, Module, Op, OpId, OpKind, Runs, Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::{Bind, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Sem;
use tessera_plan::{Placement, Slot};

type Emitted<T> = Result<T, Box<Diagnostic>>;

/// The C++ of an inlined function of a module that is legal on the profile.
pub fn cpp(module: &Module, func: &Func, profile: Profile) -> Emitted<String> {
    if func.runs() == Runs::Mixed {
        return Err(cannot(func.span, "a kernel of both kinds of cores", "write the part of one kind by itself"));
    }
    if let Some((op, call)) = func.ops.iter().find_map(|op| match &op.kind {
        OpKind::Micro(call) => Some((op, call)),
        _ => None,
    }) {
        let what =
            format!("pto.{}, a micro instruction that the public assembler lowers in its own back end,", call.name);
        return Err(cannot(op.span, what, "write the tile instructions, and give this file to the assembler"));
    }
    let placement = tessera_race::place(module, func, profile, &[], None)?;
    let mut emitter = Emitter {
        module,
        func,
        profile,
        placement: &placement,
        names: Names::new(module, func),
        early: Vec::new(),
        needed: needed(func),
        out: String::new(),
        depth: 0,
        in_loop: 0,
    };
    emitter.find_early();
    emitter.program()?;
    Ok(emitter.out)
}

fn cannot(span: Span, what: impl Into<String>, help: impl Into<String>) -> Box<Diagnostic> {
    let what = format!("{} cannot be written in C++", what.into());
    Box::new(Diagnostic::error("not-executable", what).at(span, "this").help(help))
}

/// Whether the operation only computes its results.
fn is_pure(op: &Op) -> bool {
    match op.kind {
        OpKind::Constant(_) | OpKind::Arith(_) | OpKind::Cmp(_) | OpKind::Cast(_) | OpKind::Select => true,
        OpKind::Float(_) | OpKind::CmpFloat(_) => true,
        OpKind::Pto(op, _) => {
            matches!(op.info().sem, Sem::Value | Sem::Block | Sem::Loads) && op.info().binds.is_none()
        }
        _ => false,
    }
}

/// The values that an operation with an effect depends on; C++ warns about unused variables.
fn needed(func: &Func) -> Vec<bool> {
    let mut needed = vec![false; func.values.len()];
    let mut todo: Vec<ValueId> = func.outputs.clone();
    for op in func.ops.iter().filter(|op| !is_pure(op)) {
        todo.extend(op.values());
    }
    while let Some(value) = todo.pop() {
        if !std::mem::replace(&mut needed[value.index()], true)
            && let Def::Result(op, _) = func.value(value).def
        {
            todo.extend(func.op(op).values());
        }
    }
    needed
}

struct Emitter<'a> {
    module: &'a Module,
    func: &'a Func,
    profile: Profile,
    placement: &'a Placement,
    names: Names,
    /// Tiles that TASSIGN binds before their definition, or first of all: they lie there from the start.
    early: Vec<(ValueId, OpId, Arg)>,
    /// By value: whether an operation with an effect depends on it.
    needed: Vec<bool>,
    out: String,
    depth: usize,
    /// The number of open loops.
    in_loop: usize,
}

impl Emitter<'_> {
    fn ty(&self, value: ValueId) -> &Type {
        self.module.types.get(self.func.value(value).ty)
    }

    fn span(&self, value: ValueId) -> Span {
        self.func.value(value).span
    }

    /// One line at the current depth.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:width$}{text}", "", width = self.depth * 4);
    }

    fn is_tile(&self, value: ValueId) -> bool {
        self.ty(value).is_tile()
    }

    /// The integer behind an operand, if the text says it.
    fn constant(&self, arg: Arg) -> Option<i64> {
        let value = match arg {
            Arg::Int(v) => return Some(v),
            Arg::Value(value) => value,
        };
        let Def::Result(op, _) = self.func.value(value).def else { return None };
        match self.func.op(op).kind {
            OpKind::Constant(Number::Int(v)) => Some(v as i64),
            _ => None,
        }
    }

    /// An address of the text.
    fn address(&self, arg: Arg) -> String {
        self.constant(arg).filter(|v| *v >= 0).map_or_else(|| self.int(arg), |v| format!("{v:#x}"))
    }

    /// Finds what TASSIGN says before the tile begins (syntax.md 1).
    fn find_early(&mut self) {
        let mut seen = vec![false; self.func.values.len()];
        let mut found = Vec::new();
        self.func.walk(&mut |id, op, _| {
            op.results.iter().for_each(|v| seen[v.index()] = true);
            let binds = op.opcode().and_then(|o| o.info().binds) == Some(Bind::Address);
            for operand in &op.operands {
                let Some(v) = operand.arg.value() else { continue };
                let first = !std::mem::replace(&mut seen[v.index()], true);
                if first && binds && operand.role != Role::Addr {
                    found.extend(op.operand(Role::Addr).map(|addr| (v, id, addr.arg)));
                }
            }
        });
        self.early = found;
    }

    fn early_address(&self, value: ValueId) -> Option<Arg> {
        self.early.iter().find(|(v, ..)| *v == value).map(|(_, _, arg)| *arg)
    }

    /// Whether the bytes of a tile may hold older data when its contents begin.
    fn may_be_stale(&self, value: ValueId) -> bool {
        let Some(own) = self.placement.slot(value).filter(|_| self.in_loop == 0) else { return true };
        let meets = |s: &Slot| s.loc == own.loc && s.addr < own.limit() && own.addr < s.limit() && s.start < own.start;
        self.placement.tiles.iter().flatten().any(meets)
            || self.placement.manual.iter().any(|m| meets(&m.slot))
            || self.placement.computed[own.loc as usize]
    }

    /// The tile values that are objects of their own, in order: not what control flow hands on.
    fn owns_object(&self, value: ValueId) -> bool {
        self.is_tile(value)
            && match self.func.value(value).def {
                Def::Arg(_) | Def::Input | Def::ListingOut => true,
                Def::Result(op, _) => {
                    matches!(&self.func.op(op).kind, OpKind::Pto(op, _) if op.info().binds != Some(Bind::Address))
                }
                Def::BlockArg(..) => self.placement.slot(value).is_some(),
            }
    }

    fn block(&mut self, block: BlockId) -> Emitted<()> {
        let func = self.func;
        func.block(block).ops.iter().try_for_each(|id| {
            self.begin_contents(*id)?;
            self.op(*id, func.op(*id))
        })
    }

    /// Contents that begin with an operation are undefined just before it.
    fn begin_contents(&mut self, id: OpId) -> Emitted<()> {
        for value in self.placement.fresh[id.index()].iter().copied() {
            // Results begin with their instruction, once they are at their place.
            let is_result = self.func.op(id).results.contains(&value);
            if !is_result && self.owns_object(value) && self.names.is_declared(value) && self.may_be_stale(value) {
                // The tile's own bytes are meant, wherever it may be bound meanwhile.
                let Some(slot) = self.placement.slot(value) else {
                    return Err(Diagnostic::internal(self.span(value), "contents begin where no bytes are planned"));
                };
                self.line(&format!("HostForget({}, {:#x});", self.names.object(value), slot.addr));
            }
        }
        Ok(())
    }

    /// The declaration of a tile that begins, unless it was declared first of all.
    fn declare(&mut self, value: ValueId) -> Emitted<()> {
        if self.names.is_declared(value) {
            return Ok(());
        }
        let ty = words::object_type(self.ty(value), self.profile, self.span(value))?;
        self.line(&format!("{ty} {};", self.names.object(value)));
        self.names.declared(value);
        Ok(())
    }

    /// The declaration of counts, which an instruction leaves.
    fn counts(&mut self, value: ValueId) {
        if !self.names.is_declared(value) {
            self.line(&format!("MrgSortExecutedNumList {};", self.names.object(value)));
            self.names.declared(value);
        }
    }

    /// Binds a tile to where it lies: an address of the text, or of the plan; views are bound by their instruction.
    fn place(&mut self, value: ValueId) {
        let planned = || self.placement.slot(value).map(|slot| format!("{:#x}", slot.addr));
        if let Some(address) = self.early_address(value).map(|arg| self.address(arg)).or_else(planned) {
            self.line(&format!("TASSIGN({}, {address});", self.names.object(value)));
        }
    }

    fn op(&mut self, id: OpId, op: &Op) -> Emitted<()> {
        if is_pure(op) && !op.results.iter().any(|v| self.needed[v.index()]) {
            return Ok(());
        }
        match &op.kind {
            OpKind::Pto(opcode, form) => self.pto(id, op, *opcode, *form),
            // Functions with one are refused as a whole.
            OpKind::Micro(_) => Ok(()),
            OpKind::Other(name) => {
                let what = format!("pto.{name}, which is outside the layout set,");
                Err(cannot(op.span, what, "take it out of the program"))
            }
            OpKind::Arith(kind) => self.arith(op, *kind),
            OpKind::Cmp(pred) => self.compare(op, *pred),
            OpKind::Cast(kind) if *kind != CastOp::Bitcast && kind.floats() == (false, false) => self.cast(op, *kind),
            OpKind::Cast(kind) => self.cast_float(op, *kind),
            OpKind::Float(kind) => self.float(op, *kind),
            OpKind::CmpFloat(pred) => self.compare_floats(op, *pred),
            OpKind::For | OpKind::If | OpKind::While | OpKind::Select => self.control(op),
            // Constants are literals; what the others hand on is written by the operation that they end.
            // Counts are what an instruction leaves; their first values do not matter.
            OpKind::Dense(_) => {
                op.results.iter().for_each(|v| self.counts(*v));
                Ok(())
            }
            OpKind::Constant(_) | OpKind::Condition | OpKind::Yield | OpKind::Return => Ok(()),
            OpKind::Call(_) => {
                Err(cannot(op.span, "a call that was not inlined", "this is a defect; please report it"))
            }
        }
    }
}
