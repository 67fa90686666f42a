//! What a program has to offer: its kernels, their arguments, and what the views say of them.
//!
//! ```
//! let text = "func.func @k(%x: !pto.ptr<f16>, %n: index) {
//!   %c1 = arith.constant 1 : index
//!   %c64 = arith.constant 64 : index
//!   %v = pto.make_tensor_view %x, shape = [%n, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf16>
//!   return
//! }";
//! let kernels = tessera::info::kernels(&tessera::Program::parse(text)?, None);
//! let x = &kernels[0].arguments[0];
//! assert_eq!((x.name.as_str(), x.ty.as_str()), ("x", "!pto.ptr<f16>"));
//! assert_eq!(x.extents, ["n", "64"]);
//! # Ok::<(), tessera::Error>(())
//! ```

use crate::program::{Kernel, Need, RankWindow, Suggestion};
use crate::{Diagnostic, Elem, Error, Program};
use tessera_ir::scalar::Constants;
use tessera_ir::{Arg, Core, Def, Fifos, Func, OpKind, Runs, ValueId};
use tessera_isa::ops::{Effect, Opcode, Role, Text};

/// The kind of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A number.
    Scalar,
    /// Global memory.
    Memory,
    /// A tile.
    Tile,
    /// Nothing that can be bound.
    Other,
}

/// An argument of a kernel, or an input of a listing.
#[derive(Clone, Debug)]
pub struct ArgumentInfo {
    /// Its name, without `%`.
    pub name: String,
    /// Its type.
    pub what: ArgumentKind,
    /// Its type, as text has it.
    pub ty: String,
    /// The type of its elements.
    pub elem: Option<Elem>,
    /// Its extents: numbers, names of scalars, or `?`; empty where nothing says them.
    pub extents: Vec<String>,
    /// Whether its memory is read.
    pub is_read: bool,
    /// Whether its memory is written.
    pub is_written: bool,
}

/// A FIFO between the cores of a kernel (isa/structure.md 5).
#[derive(Clone, Debug)]
pub struct FifoInfo {
    /// The function whose buffer it is, without `@`.
    pub owner: String,
    /// C2V or V2C.
    pub direction: String,
    /// The number of tiles that it holds.
    pub slots: u64,
    /// Bytes of a whole tile.
    pub slot_size: u64,
    /// 0 whole tiles, 1 rows halved, 2 columns halved.
    pub split: u8,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct KernelInfo {
    /// Its name, without `@`; none for a listing.
    pub name: Option<String>,
    /// Whether it runs by default.
    pub is_entry: bool,
    /// The cores that it runs on.
    pub cores: &'static str,
    /// The FIFOs between them.
    pub fifos: Vec<FifoInfo>,
    /// Whether it uses the block number or the number of blocks.
    pub uses_blocks: bool,
    /// Its arguments.
    pub arguments: Vec<ArgumentInfo>,
    /// The windows that its arithmetic shows, where it reaches other ranks (isa/comm.md 2).
    pub windows: Vec<RankWindow>,
    /// Whether it communicates with other ranks.
    pub communicates: bool,
    /// The kernel itself, and what it could be tried with; or why it does not run.
    pub runs: std::result::Result<(Kernel, Suggestion), Diagnostic>,
}

/// The kernels of a program: the named one, the entry, or all that could be it. None has a name that is not there.
pub fn kernels(program: &Program, entry: Option<&str>) -> Vec<KernelInfo> {
    let module = program.module();
    let name = |func: &Func| module.names.text(func.name).to_string();
    let mut names: Vec<Option<String>> = Vec::new();
    let is_entry = entry.is_some() || module.entry(None).is_some();
    match (entry, module.entry(None)) {
        (Some(entry), _) => names.push(Some(entry.to_string())),
        (None, Some(func)) => names.push((!module.is_listing).then(|| name(func))),
        (None, None) => {
            // Functions that communicate form one kernel (isa/structure.md 3).
            let mut seen = Vec::new();
            for func in module.candidates() {
                if !seen.contains(&func.name) {
                    let together = module.together(func);
                    seen.extend(together.iter().map(|f| f.name));
                    names.push(Some(together.into_iter().map(name).collect::<Vec<_>>().join(",")));
                }
            }
        }
    }
    let error = program.check().into_iter().find(Diagnostic::is_error);
    names.into_iter().filter_map(|name| describe(program, name, is_entry, error.as_ref())).collect()
}

fn describe(program: &Program, name: Option<String>, is_entry: bool, error: Option<&Diagnostic>) -> Option<KernelInfo> {
    let kernel = match program.kernel_or_entry(name.as_deref()) {
        Err(error) if error.rule() == "entry" => return None,
        kernel => kernel,
    };
    let (cores, fifos, arguments, uses_blocks) = match &kernel {
        Ok(kernel) => (cores(kernel.func().runs()), fifos(kernel), arguments(kernel), uses_blocks(kernel.func())),
        Err(_) => ("no core", Vec::new(), Vec::new(), false),
    };
    let (windows, communicates) = match &kernel {
        Ok(kernel) => (kernel.windows().unwrap_or_default(), kernel.communicates()),
        Err(_) => (Vec::new(), false),
    };
    let runs = match (kernel, error) {
        (_, Some(error)) => Err(error.clone()),
        (Err(error), None) => Err(Error::diagnostic(&error).clone()),
        (Ok(kernel), None) => {
            let suggestion = kernel.suggest(&[], 1);
            Ok((kernel, suggestion))
        }
    };
    Some(KernelInfo { name, is_entry, cores, fifos, uses_blocks, arguments, windows, communicates, runs })
}

/// The cores of a block that a kernel runs on (isa/structure.md 4).
fn cores(runs: Runs) -> &'static str {
    match runs {
        Runs::Mixed => "a cube core and two vector cores",
        Runs::One(Core::Cube) => "a cube core",
        Runs::One(Core::Vector) => "a vector core",
        Runs::Unsplit => "one core that has all pipes",
    }
}

fn fifos(kernel: &Kernel) -> Vec<FifoInfo> {
    let info = |fifo: &tessera_ir::fifo::Fifo| FifoInfo {
        owner: kernel.module().names.text(fifo.owner).to_string(),
        direction: fifo.dir.to_string(),
        slots: fifo.slots,
        slot_size: fifo.slot_size,
        split: fifo.split,
    };
    Fifos::new(kernel.module(), kernel.func()).list.iter().map(info).collect()
}

fn uses_blocks(func: &Func) -> bool {
    func.ops.iter().any(|op| matches!(op.opcode(), Some(Opcode::GetBlockIdx | Opcode::GetBlockNum)))
}

fn arguments(kernel: &Kernel) -> Vec<ArgumentInfo> {
    let (module, func) = (kernel.module(), kernel.func());
    let says = Names { kernel, known: Constants::new(module, func) };
    let describe = |argument: &crate::program::Argument| {
        let value = argument.value;
        let need = kernel.need(value);
        let (what, is_memory) = match need {
            Need::Scalar(_) => (ArgumentKind::Scalar, false),
            Need::Buffer(..) => (ArgumentKind::Memory, true),
            Need::Tile(_) | Need::Conv(_) => (ArgumentKind::Tile, false),
            _ => (ArgumentKind::Other, false),
        };
        // A tile that a listing names first in `outs` is made by it.
        let is_made = func.value(value).def == Def::ListingOut;
        ArgumentInfo {
            name: kernel.name(value).to_string(),
            what,
            ty: tessera_asm::print_type(module.types.get(func.value(value).ty)),
            elem: kernel.elem(value),
            extents: says.extents(value, &need),
            is_read: if is_memory { argument.is_read } else { !is_made && says.is_source(value) },
            is_written: if is_memory { argument.is_written } else { is_made || says.is_destination(value) },
        }
    };
    kernel.arguments().iter().map(describe).collect()
}

/// Extents in the program's own words.
struct Names<'a> {
    kernel: &'a Kernel,
    known: Constants,
}

impl Names<'_> {
    fn extents(&self, value: ValueId, need: &Need) -> Vec<String> {
        if let Need::Buffer(_, Some(dims)) = need {
            return dims.iter().map(|d| d.map_or("?".into(), |d| d.to_string())).collect();
        }
        if let Some(dims) = need.dims() {
            return dims.iter().map(u64::to_string).collect();
        }
        let mut views: Vec<Vec<String>> = Vec::new();
        self.kernel.func().walk(&mut |_, op, _| {
            let is_view = op.opcode().is_some_and(|o| o.info().text == Text::MakeView);
            if is_view && op.operand(Role::Global).and_then(|o| o.arg.value()) == Some(value) {
                let numbers: Vec<Arg> = op.operands.iter().filter(|o| o.role == Role::Number).map(|o| o.arg).collect();
                let extents = numbers.iter().take(numbers.len() / 2);
                views.push(extents.map(|arg| self.number(*arg)).collect());
            }
        });
        // Of several views the first that says most.
        let unknown = |view: &Vec<String>| view.iter().filter(|e| *e == "?").count();
        views.into_iter().min_by_key(unknown).unwrap_or_default()
    }

    /// A number, or the scalar that it is.
    fn number(&self, arg: Arg) -> String {
        if let Some(number) = self.known.get(arg) {
            return number.to_string();
        }
        let func = self.kernel.func();
        let mut value = arg.value();
        // A cast keeps what it is called.
        while let Some(v) = value {
            match func.value(v).def {
                Def::Arg(_) => return self.kernel.name(v).to_string(),
                Def::Result(op, _) if matches!(func.op(op).kind, OpKind::Cast(_)) => {
                    value = func.op(op).values().next()
                }
                _ => return "?".into(),
            }
        }
        "?".into()
    }

    /// Whether an operation reads this value.
    fn is_source(&self, value: ValueId) -> bool {
        let reads = |op: &tessera_ir::Op| {
            op.operands.iter().any(|o| o.arg.value() == Some(value) && op.effect(o.role) != Effect::Write)
        };
        self.kernel.func().ops.iter().any(reads)
    }

    /// Whether an instruction writes this tile.
    fn is_destination(&self, tile: ValueId) -> bool {
        self.kernel.func().ops.iter().any(|op| op.dsts().iter().any(|(_, v)| *v == tile))
    }
}
