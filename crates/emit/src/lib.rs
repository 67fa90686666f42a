//! C++ for the vendor's compiler: what `tessera build` writes (spec/build.md).
//!
//! ```
//! use tessera_emit::{Options, build};
//! use tessera_isa::profile::Profile;
//!
//! let text = "
//! func.func @twice(%p: memref<16x16xf32>) {
//!   %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
//!   pto.tload ins(%p : memref<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
//!   pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
//!   pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%p : memref<16x16xf32>)
//!   return
//! }";
//! let module = tessera_asm::parse(text, None).module;
//! let built = build(&module, Profile::A2a3, &Options::default())?;
//! assert!(built.text.contains("extern \"C\" __global__ AICORE void twice(__gm__ float *p)"));
//! assert!(built.text.contains("TADD(t, t, t);"));
//! # Ok::<(), Box<tessera_isa::diag::Diagnostic>>(())
//! ```
//!
//! A module goes through three steps: its kernels are found and placed, their pipes are ordered ([`build()`]), and each
//! function is printed. A function whose calls C++ can say calls; where it cannot (a FIFO that the caller made, views as
//! arguments) the callee is unfolded at the call.
//!
//! A tile is an object at the address that the plan gives it; control flow hands tiles on by pointer, because in the
//! text, too, a tile that a loop carries stays the same tile. Tiles that a function is given are references.
//!
//! What C++ cannot say is an error; there is no code that means something else than the text.

mod address;
mod body;
mod build;
mod comm;
mod control;
mod conv;
mod fifo;
mod float;
mod function;
mod issue;
mod names;
mod order;
mod scalar;
mod transfer;
mod views;
mod words;

pub use build::{Built, Function, Kernel, Options, Parameter, build};

use names::Names;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use tessera_ir::scalar::Constants;
use tessera_ir::{Arg, BlockId, CastOp, Core, Def, Fifos, Func, Module, NameId, Op, OpId, OpKind, Type, ValueId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::{Bind, Role, Text};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Sem;
use tessera_plan::Placement;
use views::View;

type Emitted<T> = Result<T, Box<Diagnostic>>;

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
fn needed(func: &Func, uses: &[Vec<OpId>]) -> Vec<bool> {
    let mut needed = vec![false; func.values.len()];
    let mut todo: Vec<ValueId> = func.outputs.clone();
    func.walk(&mut |_, op, _| {
        if !is_pure(op) {
            todo.extend(op.values());
        }
    });
    let text = |op: &Op| op.opcode().map(|o| o.info().text);
    while let Some(value) = todo.pop() {
        if !std::mem::replace(&mut needed[value.index()], true)
            && let Def::Result(id, _) = func.value(value).def
        {
            let op = func.op(id);
            // The extents of a view of which only windows are used are nowhere in the text.
            let has_windows_only = uses[value.index()].iter().all(|id| text(func.op(*id)) == Some(Text::Partition));
            let unused = match text(op) {
                Some(Text::MakeView) if has_windows_only => Some(0),
                Some(Text::Partition) if has_windows_only => Some(1),
                _ => None,
            };
            let numbers: Vec<ValueId> = op.values().collect();
            let Some(half) = unused else {
                todo.extend(numbers);
                continue;
            };
            let operands: Vec<Arg> = op.operands.iter().filter(|o| o.role == Role::Number).map(|o| o.arg).collect();
            let (first, second) = operands.split_at(operands.len() / 2);
            let kept = if half == 0 { second } else { first };
            todo.extend(kept.iter().filter_map(|arg| arg.value()));
            todo.extend(op.operand(Role::Global).and_then(|o| o.arg.value()));
        }
    }
    needed
}

/// A function on its way to text.
struct Emitter<'a> {
    module: &'a Module,
    func: &'a Func,
    profile: Profile,
    placement: &'a Placement,
    names: Names,
    /// The C++ names of the module's functions.
    functions: &'a HashMap<NameId, String>,
    constants: Constants,
    fifos: Fifos,
    /// By value: the operations that use it.
    uses: Vec<Vec<OpId>>,
    /// Views of global memory, by the value that stands for them.
    views: HashMap<ValueId, View>,
    /// The pipes of the functions, by the operation that initializes them, and of values.
    pipes: HashMap<OpId, String>,
    /// The parameters that are references.
    references: HashSet<String>,
    /// Tiles that TASSIGN binds before their definition, or first of all: they lie there from the start.
    early: Vec<(ValueId, OpId, Arg)>,
    /// By value: whether an operation with an effect depends on it.
    needed: Vec<bool>,
    /// The file that lines are counted in, where `#line` is wanted.
    debug_lines: Option<&'a str>,
    line_starts: Vec<u32>,
    /// Whether something of `pto::comm` is called.
    communicates: bool,
    /// The kind of core that the code is for.
    core: Option<Core>,
    out: String,
    depth: usize,
}

impl<'a> Emitter<'a> {
    fn ty(&self, value: ValueId) -> &'a Type {
        self.module.types.get(self.func.value(value).ty)
    }

    fn span(&self, value: ValueId) -> Span {
        self.func.value(value).span
    }

    /// One line at the current depth.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:width$}{text}", "", width = self.depth * 4);
    }

    /// A line of the preprocessor.
    fn directive(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }

    fn is_tile(&self, value: ValueId) -> bool {
        self.ty(value).is_tile()
    }

    /// The integer behind an operand, if the text says it.
    fn constant(&self, arg: Arg) -> Option<i64> {
        self.constants.get(arg)
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
        func.block(block).ops.iter().try_for_each(|id| self.op(*id, func.op(*id)))
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

    /// `#line`, where it is wanted: the place that a front end wrote, else the line of the text (build.md 3).
    fn debug_line(&mut self, op: &Op) {
        let Some(file) = self.debug_lines else { return };
        let written = op.loc.and_then(|id| self.module.locs.get(id)).and_then(|loc| loc.place.as_ref());
        let (file, line) = match written {
            Some(place) => (place.file.to_string(), place.line.max(1)),
            None => (file.to_string(), self.line_starts.partition_point(|start| *start <= op.span.start) as u32 + 1),
        };
        let text = format!("#line {line} \"{}\"", file.replace('\\', "\\\\").replace('"', "\\\""));
        self.directive(&text);
    }

    fn op(&mut self, id: OpId, op: &Op) -> Emitted<()> {
        let is_known =
            |v: &ValueId| matches!(self.ty(*v), Type::Scalar(_)) && self.constants.get(Arg::Value(*v)).is_some();
        if is_pure(op) && op.results.iter().all(|v| !self.needed[v.index()] || is_known(v)) {
            return Ok(());
        }
        let is_printed = !matches!(op.kind, OpKind::Constant(_) | OpKind::Condition | OpKind::Yield | OpKind::Return);
        if is_printed && op.section().is_none() {
            self.debug_line(op);
        }
        match &op.kind {
            OpKind::Pto(opcode, form) => self.pto(id, op, *opcode, *form),
            OpKind::Micro(call) => {
                let what = format!(
                    "pto.{}, a micro instruction that the vendor's tool lowers in its own back end,",
                    call.name
                );
                Err(cannot(op.span, what, "write tile instructions, or give this file to the vendor's tool"))
            }
            OpKind::Other(_) if op.id_array().is_some() => self.slots(op),
            OpKind::Other(name) => {
                let what = format!("pto.{name}, which has no spelling among the names of the header,");
                Err(cannot(op.span, what, "take it out of the program"))
            }
            OpKind::Arith(kind) => self.arith(op, *kind),
            OpKind::Cmp(pred) => self.compare(op, *pred),
            OpKind::Cast(kind) if *kind != CastOp::Bitcast && kind.floats() == (false, false) => self.cast(op, *kind),
            OpKind::Cast(kind) => self.cast_float(op, *kind),
            OpKind::Float(kind) => self.float(op, *kind),
            OpKind::CmpFloat(pred) => self.compare_floats(op, *pred),
            OpKind::If if op.section_core().is_some() => self.section(op),
            OpKind::For | OpKind::If | OpKind::While | OpKind::Select => self.control(op),
            // Counts are what an instruction leaves; their first values do not matter.
            OpKind::Dense(_) => {
                op.results.iter().for_each(|v| self.counts(*v));
                Ok(())
            }
            // Constants are literals; what the others hand on is written by the operation that they end.
            OpKind::Constant(_) | OpKind::Condition | OpKind::Yield => Ok(()),
            OpKind::Return => self.returns(op),
            OpKind::Call(name) => self.call(op, *name),
        }
    }

    /// Whether an operation makes a view, or says something about one, so that no object is needed for it.
    fn only_names_view(op: &Op) -> bool {
        op.opcode().is_some_and(|o| {
            matches!(
                o.info().text,
                Text::MakeView | Text::Partition | Text::Dim | Text::Address(_) | Text::LoadScalar | Text::StoreScalar
            )
        })
    }
}
