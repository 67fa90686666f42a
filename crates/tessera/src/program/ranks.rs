//! Several ranks that run together (isa/comm.md 2): a kernel for each, and the windows through which they reach each
//! other.
//!
//! ```
//! use tessera::program::{Ranks, Inputs, Setting};
//! use tessera::Program;
//!
//! let text = "func.func @k(%flag: !pto.ptr<i32>, %me: i32) {
//!   %c0 = arith.constant 0 : index
//!   pto.store %me, %flag[%c0] : !pto.ptr<i32>, i32
//!   return
//! }";
//! let kernel = Program::parse(text)?.entry()?;
//! let mut ranks = Ranks::new(vec![kernel; 3])?;
//! for rank in 0..3 {
//!     let set = vec![("me".to_string(), Setting::Rank)];
//!     ranks.bind(rank, Inputs { set, ..Inputs::default() }, 1).map_err(|e| e.error)?;
//! }
//! let outcome = ranks.execute();
//! assert!(outcome.diagnostics.is_empty());
//! assert_eq!(outcome.ranks[2].buffers[0].bytes, [2, 0, 0, 0]);
//! # Ok::<(), tessera::Error>(())
//! ```

use super::detect::{RankSink, SharedFindings, observe_rank};
use super::{Bindings, InputError, Inputs, Kernel, Need, Outputs, Placement, PrintedValue};
use crate::{Error, Result};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use tessera_interp::{Outcome, RanksOutcome, Window, communicates, run_ranks};
use tessera_ir::edges::Control;
use tessera_ir::scalar::Constants;
use tessera_ir::{Arg, ArithOp, Def, Func, OpKind, ValueId};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Role, Text};
use tessera_race::detector::{self, KernelText};
use tessera_race::ranks::BlockLog;

/// The first word of a context that says where a window starts.
const FIRST_BASE: i64 = 4;
/// The word of a context that holds the rank and the number of ranks.
const RANK_WORD: i64 = 2;
/// The largest number of ranks.
const MAX_RANKS: usize = 64;

/// A window: the argument through which a kernel finds it, and the arguments that lie in it, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankWindow {
    /// The context, without `%`; none if no argument is one.
    pub context: Option<String>,
    /// The arguments, without `%`.
    pub args: Vec<String>,
}

/// Several ranks, with a kernel and inputs each.
#[derive(Clone, Debug)]
pub struct Ranks {
    kernels: Vec<Kernel>,
    /// By rank: what it runs with.
    pub bindings: Vec<Bindings>,
    windows: Vec<RankWindow>,
    is_found: bool,
    binds: Vec<[(u32, String); 2]>,
}

fn wrong(what: impl Into<String>) -> Error {
    Error::new("comm-window", what)
}

impl Ranks {
    /// A rank for each kernel, with the windows that the kernels' arithmetic shows.
    pub fn new(kernels: Vec<Kernel>) -> Result<Ranks> {
        if kernels.is_empty() || kernels.len() > MAX_RANKS {
            let what = format!("{} ranks are asked for, and there may be 1 to {MAX_RANKS}", kernels.len());
            return Err(wrong(what).help("give another number of ranks"));
        }
        let bindings = vec![Bindings::default(); kernels.len()];
        let mut ranks = Ranks { kernels, bindings, windows: Vec::new(), is_found: true, binds: Vec::new() };
        ranks.windows = ranks.found_windows()?;
        Ok(ranks)
    }

    /// The number of ranks.
    pub fn count(&self) -> usize {
        self.kernels.len()
    }

    /// The kernel of a rank.
    pub fn kernel(&self, rank: usize) -> Option<&Kernel> {
        self.kernels.get(rank)
    }

    /// The windows: those that were named, else those that were found.
    pub fn windows(&self) -> &[RankWindow] {
        &self.windows
    }

    /// Names a window. The first one that is named replaces all that were found.
    pub fn window(&mut self, context: Option<&str>, args: &[String]) -> Result<()> {
        if std::mem::take(&mut self.is_found) {
            self.windows.clear();
        }
        let bare = |name: &str| name.strip_prefix('%').unwrap_or(name).to_string();
        let window = RankWindow { context: context.map(bare), args: args.iter().map(|a| bare(a)).collect() };
        if let Some(context) = &window.context {
            for kernel in &self.kernels {
                let Ok(value) = kernel.argument(context) else { continue };
                if !matches!(kernel.need(value), Need::Buffer(elem, None) if elem.bits() == 64) {
                    return Err(wrong(format!("%{context} is no pointer to words of 64 bits, and a context is one"))
                        .help("name a !pto.ptr<i64>"));
                }
            }
            self.kernels[0].argument(context)?;
        }
        let twice = (1..).zip(&window.args).find(|(n, name)| window.args.iter().skip(*n).any(|other| other == *name));
        if let Some((_, name)) = twice {
            return Err(wrong(format!("%{name} is named twice in a window")).help("name it once"));
        }
        for name in &window.args {
            for (rank, kernel) in self.kernels.iter().enumerate() {
                let value = match kernel.argument(name) {
                    Ok(value) => value,
                    // The first rank says which names there are.
                    Err(error) if rank == 0 => return Err(error),
                    Err(_) => {
                        let what = format!("%{name} lies in a window, and rank {rank} has no argument of that name");
                        return Err(wrong(what).help("give all ranks the arguments of a window"));
                    }
                };
                if !matches!(kernel.need(value), Need::Buffer(..)) {
                    return Err(wrong(format!("%{name} is no memory, and a window holds memory")).help("name pointers"));
                }
            }
            if let Some(other) = self.windows.iter().find(|w| w.args.contains(name)) {
                let what = format!("%{name} would lie in two windows");
                return Err(wrong(what).help(format!("name it once: the other window holds {}", other.args.join(", "))));
            }
        }
        self.windows.push(window);
        Ok(())
    }

    /// Says that an argument of a rank is an argument of another one.
    pub fn alias(&mut self, rank: u32, name: &str, other: u32, of: &str) -> Result<()> {
        for (rank, name) in [(rank, name), (other, of)] {
            let Some(kernel) = self.kernels.get(rank as usize) else {
                let what = format!("there is no rank {rank}: ranks are 0 to {}", self.kernels.len() - 1);
                return Err(wrong(what).help("name a rank that runs"));
            };
            let value = kernel.argument(name)?;
            if !matches!(kernel.need(value), Need::Buffer(..)) {
                return Err(wrong(format!("%{name} of rank {rank} is no memory")).help("name a pointer"));
            }
        }
        let bare = |name: &str| name.strip_prefix('%').unwrap_or(name).to_string();
        self.binds.push([(rank, bare(name)), (other, bare(of))]);
        Ok(())
    }

    /// Gives a rank its inputs; gives the arguments whose extents are not known.
    pub fn bind(&mut self, rank: usize, inputs: Inputs, blocks: u32) -> std::result::Result<Vec<ValueId>, InputError> {
        let count = self.kernels.len() as u32;
        let Some(kernel) = self.kernels.get(rank) else {
            return Err(Error::request(format!("there is no rank {rank}")).into());
        };
        let inputs = Inputs { rank: (rank as u32, count), ..inputs };
        let (bindings, open) = kernel.bind_inputs(inputs, blocks)?;
        self.bindings[rank] = bindings;
        Ok(open)
    }

    /// Whether every required argument of a rank is bound; contexts are filled, and windows have room.
    pub fn unbound(&self, rank: usize, open: &[ValueId]) -> Result<()> {
        let (kernel, bindings) = (&self.kernels[rank], &self.bindings[rank]);
        let mut inputs = bindings.inputs.clone_kinds();
        let filled = self.filled(rank);
        inputs.extend(filled.into_iter().map(|value| (value, super::Input::Valid { rows: 0, cols: 0 })));
        kernel.unbound_or_open(&inputs, open)
    }

    /// The arguments of a rank that need no input: contexts, arguments of windows, and other ranks' buffers.
    fn filled(&self, rank: usize) -> Vec<ValueId> {
        let kernel = &self.kernels[rank];
        let windows = self.windows.iter().flat_map(|w| w.args.iter().chain(&w.context));
        let bound = self.binds.iter().filter(|b| b[0].0 as usize == rank).map(|b| &b[0].1);
        windows.chain(bound).filter_map(|name| kernel.argument(name).ok()).collect()
    }

    /// The windows that the arithmetic of the kernels shows; all ranks must agree.
    fn found_windows(&self) -> Result<Vec<RankWindow>> {
        let mut found: Vec<RankWindow> = Vec::new();
        for kernel in &self.kernels {
            for window in kernel.windows()? {
                match found.iter_mut().find(|w| w.context == window.context) {
                    None => found.push(window),
                    Some(known) => {
                        let new: Vec<String> = window.args.into_iter().filter(|a| !known.args.contains(a)).collect();
                        known.args.extend(new);
                    }
                }
            }
        }
        Ok(found)
    }

    /// The bytes of the arguments of windows, and of buffers that other ranks are given, that have no contents.
    fn rooms(&self) -> Result<Vec<(u32, ValueId, u64)>> {
        let mut rooms = Vec::new();
        let count = self.kernels.len() as u32;
        let extents: Vec<Vec<Option<u64>>> = (self.kernels.iter().zip(&self.bindings).enumerate())
            .map(|(rank, (kernel, bindings))| {
                let contexts = kernel.contexts();
                let all = kernel.extents_of_rank(&bindings.inputs, bindings.blocks, &contexts, (rank as u32, count));
                let bytes = |(value, extents): (&ValueId, super::Extents)| {
                    let elements: u64 = extents.known()?.iter().product();
                    Some(kernel.elem(*value)?.bytes_of(elements))
                };
                kernel.func().args.iter().zip(all).map(bytes).collect()
            })
            .collect();
        let given = |rank: usize, value: ValueId| {
            self.bindings[rank].inputs.iter().find_map(|(v, input)| match input {
                super::Input::Buffer { bytes, .. } if *v == value => Some(bytes.len() as u64),
                _ => None,
            })
        };
        let named = self.windows.iter().flat_map(|w| &w.args);
        for name in named {
            let of = |rank: usize| self.kernels[rank].argument(name).ok();
            // The same on all ranks: as large as any of them needs it.
            let mut most: Option<u64> = None;
            for (rank, extents) in extents.iter().enumerate() {
                let Some(value) = of(rank) else { continue };
                let place = self.kernels[rank].func().args.iter().position(|v| *v == value);
                let implied = place.and_then(|place| extents.get(place).copied().flatten());
                most = most.max(given(rank, value).or(implied));
            }
            if let Some(given) = (0..self.kernels.len()).find_map(|rank| given(rank, of(rank)?)) {
                most = Some(given);
            }
            for rank in 0..self.kernels.len() {
                let Some(value) = of(rank).filter(|value| given(rank, *value).is_none()) else { continue };
                let Some(bytes) = most else {
                    let what = format!("%{name} lies in a window, and its extents are not known before the run");
                    return Err(wrong(what).help(format!("give %{name} a file, or say its extents")));
                };
                rooms.push((rank as u32, value, bytes));
            }
        }
        for [_, (rank, name)] in &self.binds {
            let rank = *rank as usize;
            let Ok(value) = self.kernels[rank].argument(name) else { continue };
            let place = self.kernels[rank].func().args.iter().position(|v| *v == value);
            let implied = place.and_then(|place| extents[rank].get(place).copied().flatten());
            // Those that are given it say how much of it they need.
            let needed = self.binds.iter().filter(|b| b[1] == (rank as u32, name.clone())).filter_map(|b| {
                let (own, name) = (b[0].0 as usize, &b[0].1);
                let value = self.kernels[own].argument(name).ok()?;
                let place = self.kernels[own].func().args.iter().position(|v| *v == value)?;
                extents[own].get(place).copied().flatten()
            });
            if let Some(bytes) = needed.chain(implied).max().filter(|_| given(rank, value).is_none()) {
                rooms.push((rank as u32, value, bytes));
            }
        }
        Ok(rooms)
    }

    /// Runs all ranks together. Static errors are [`Program::check`](super::Program::check)'s to find.
    pub fn execute(self) -> RanksOutcome {
        self.executed(|_, _, _| None)
    }

    /// Checks the programs, runs all ranks, and gives what comes out of each; with `judged` an error in their order is an
    /// error. Warnings of the run are with the first rank's.
    ///
    /// ```
    /// use tessera::program::{Inputs, Ranks};
    /// use tessera::Program;
    ///
    /// let text = include_str!("../../../../examples/ranks/all_gather.pto");
    /// let kernel = Program::parse(text)?.entry()?;
    /// let mut ranks = Ranks::new(vec![kernel; 2])?;
    /// for rank in 0..2 {
    ///     let x = tessera::npy::Array::new(&[1, 64], &[rank as f32; 64])?;
    ///     ranks.bind(rank, Inputs::default().array("x", x), 1).map_err(|e| e.error)?;
    /// }
    /// let outputs = ranks.run(true)?;
    /// assert_eq!(outputs[0].get::<f32>("y")?[63..65], [0.0, 1.0]);
    /// # Ok::<(), tessera::Error>(())
    /// ```
    pub fn run(mut self, judged: bool) -> Result<Vec<Outputs>> {
        let kernels = self.kernels.clone();
        let mut warnings = Vec::new();
        for (rank, kernel) in kernels.iter().enumerate() {
            let text = kernel.program().source();
            let found = kernel.program().check();
            if let Some(error) = Error::of(found.clone()) {
                return Err(error.in_text(text));
            }
            if rank == 0 {
                warnings = found;
            }
            self.unbound(rank, &[]).map_err(|e| e.in_text(text))?;
            let bindings = &mut self.bindings[rank];
            bindings.outputs.extend(kernel.outputs().into_iter().map(|v| (v, 0)));
            bindings.outputs.sort_unstable();
            bindings.outputs.dedup();
        }
        let wanted: Vec<_> = self.bindings.iter().map(|b| b.outputs.clone()).collect();
        let shapes: Vec<_> = kernels.iter().zip(&self.bindings).map(|(kernel, b)| kernel.shapes(b)).collect();
        let (mut all, found) = if judged { self.execute_judged() } else { (self.execute(), Vec::new()) };
        let found: Vec<Diagnostic> = std::mem::take(&mut all.diagnostics).into_iter().chain(found).collect();
        if let (Some(error), Some(kernel)) = (Error::of(found.clone()), kernels.first()) {
            return Err(error.in_text(kernel.program().source()));
        }
        let is_new = |d: &Diagnostic| !warnings.iter().any(|w| w.rule == d.rule && w.span == d.span);
        let new: Vec<Diagnostic> = found.into_iter().filter(is_new).collect();
        warnings.extend(new);
        let mut outputs = Vec::new();
        for (rank, kernel) in kernels.iter().enumerate() {
            let mut outcome = outcome_of(&mut all, rank);
            let array = |(v, core): &(ValueId, u8)| {
                let array = kernel.take_array(&mut outcome, &shapes[rank], *v, *core)?;
                Some((kernel.name(*v).to_string(), array))
            };
            let arrays = wanted[rank].iter().filter_map(array).collect();
            let name = |what: &PrintedValue| match what {
                PrintedValue::Tile(value, _) => kernel.name(*value).to_string(),
                PrintedValue::Text(_) => String::new(),
            };
            let printed = outcome.printed.into_iter().map(|p| (name(&p.what), p.what)).collect();
            outputs.push(Outputs::new(arrays, std::mem::take(&mut warnings), printed));
        }
        Ok(outputs)
    }

    /// Runs all ranks together and judges their order (isa/comm.md 5 and 6): the findings beside the run's own.
    pub fn execute_judged(self) -> (RanksOutcome, Vec<Diagnostic>) {
        let kernels = self.kernels.clone();
        let orders: Vec<_> = self.bindings.iter().map(|b| b.order).collect();
        let logs: Arc<Mutex<Vec<BlockLog>>> = Arc::default();
        let (now, texts) = (Arc::new(AtomicU64::new(0)), Mutex::new(Vec::new()));
        let outcome = self.executed(|rank, kernel, placement| {
            let (module, func, profile) = (kernel.module(), kernel.func(), kernel.profile());
            let order = orders.get(rank).copied().flatten();
            let text = Arc::new(KernelText::new(module, func, profile, placement, order));
            let found = SharedFindings::default();
            let cores = text.processes.iter().map(|p| p.core.name()).collect();
            let sink = RankSink { rank: rank as u32, cores, logs: logs.clone(), now: now.clone() };
            let observe = observe_rank(text.clone(), found.clone(), sink);
            if let Ok(mut texts) = texts.lock() {
                texts.push((text, found));
            }
            Some(observe)
        });
        if outcome.diagnostics.iter().any(Diagnostic::is_error) {
            return (outcome, Vec::new());
        }
        let texts = texts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<Diagnostic> = Vec::new();
        for (kernel, (text, blocks)) in kernels.iter().zip(&texts).filter(|(_, (text, _))| !text.is_plain()) {
            let mut blocks = std::mem::take(&mut *blocks.lock().unwrap_or_else(PoisonError::into_inner));
            blocks.sort_by_key(|(block, _)| *block);
            let blocks = blocks.into_iter().map(|(_, findings)| findings).collect();
            let report = detector::report(kernel.module(), kernel.func(), kernel.program().source(), text, blocks);
            let is_new = |d: &Diagnostic| !found.iter().any(|f| f.rule == d.rule && f.span == d.span);
            let new: Vec<Diagnostic> = report.diagnostics.into_iter().filter(is_new).collect();
            found.extend(new);
        }
        let mut logs = std::mem::take(&mut *logs.lock().unwrap_or_else(PoisonError::into_inner));
        logs.sort_by_key(|log| (log.rank, log.block));
        let space = &outcome.space;
        let text = tessera_race::ranks::Text {
            funcs: kernels.iter().map(|kernel| (kernel.module(), kernel.func())).collect(),
            name: &|region, byte| space.name_of(region, byte),
            cache: true,
        };
        found.extend(tessera_race::ranks::judge(logs, &text));
        if let Some(program) = kernels.first().map(Kernel::program) {
            found = program.with_locations(found);
        }
        (outcome, found)
    }

    /// The same with an observer for each rank.
    pub(crate) fn executed(
        mut self,
        observe: impl Fn(usize, &Kernel, &Placement) -> Option<Arc<tessera_interp::Observe>>,
    ) -> RanksOutcome {
        let failed = |diagnostics| RanksOutcome { diagnostics, ..RanksOutcome::default() };
        let rooms = match self.rooms() {
            Ok(rooms) => rooms,
            Err(error) => return failed(error.diagnostics().cloned().collect()),
        };
        let mut bindings = std::mem::take(&mut self.bindings);
        // Ranks with one kernel share its placement.
        let mut placements: Vec<(usize, Placement)> = Vec::new();
        let mut placement_of = Vec::new();
        for (rank, kernel) in self.kernels.iter().enumerate() {
            let same = |(other, _): &(usize, Placement)| {
                let other = &self.kernels[*other];
                other.func().name == kernel.func().name
            };
            let known = placements.iter().position(same);
            if known.is_none() {
                match kernel.placed(&bindings[rank]) {
                    Ok(placement) => placements.push((rank, placement)),
                    Err(outcome) => return failed(outcome.diagnostics),
                }
            }
            placement_of.push(known.unwrap_or(placements.len() - 1));
        }
        let value = |rank: usize, name: &str| self.kernels[rank].argument(name).ok();
        let window = |window: &RankWindow| Window {
            contexts: (0..self.kernels.len()).map(|rank| value(rank, window.context.as_ref()?)).collect(),
            args: (0..self.kernels.len())
                .map(|rank| window.args.iter().filter_map(|name| value(rank, name)).collect())
                .collect(),
        };
        let windows: Vec<Window> = self.windows.iter().map(window).collect();
        let bind = |[(rank, name), (other, of)]: &[(u32, String); 2]| {
            Some([(*rank, value(*rank as usize, name)?), (*other, value(*other as usize, of)?)])
        };
        let binds = self.binds.iter().filter_map(bind).collect();
        let mut runs = Vec::new();
        for (rank, _) in self.kernels.iter().enumerate() {
            let (first, placement) = &placements[placement_of[rank]];
            // Of the same function, so that its code is shared.
            let kernel = &self.kernels[*first];
            let mut run = kernel.prepared(std::mem::take(&mut bindings[rank]), placement);
            run.observe = observe(rank, kernel, placement);
            runs.push(run);
        }
        let program = self.kernels.first().map(|kernel| kernel.program().clone());
        let mut outcome = run_ranks(tessera_interp::Ranks { runs, windows, binds, rooms });
        if let Some(program) = program {
            outcome.diagnostics = program.with_locations(outcome.diagnostics);
        }
        outcome
    }
}

/// Inputs without their contents.
trait Kinds {
    fn clone_kinds(&self) -> Vec<(ValueId, super::Input)>;
}

impl Kinds for Vec<(ValueId, super::Input)> {
    fn clone_kinds(&self) -> Vec<(ValueId, super::Input)> {
        let kind = |(value, input): &(ValueId, super::Input)| {
            let input = match input {
                super::Input::Buffer { elem, dims, .. } => {
                    super::Input::Buffer { bytes: Vec::new(), elem: *elem, dims: dims.clone() }
                }
                super::Input::TileBytes(_) => super::Input::TileBytes(Vec::new()),
                other => other.clone(),
            };
            (*value, input)
        };
        self.iter().map(kind).collect()
    }
}

impl Kernel {
    /// Whether it communicates with other ranks.
    pub fn communicates(&self) -> bool {
        communicates(self.func()) || !self.contexts().is_empty()
    }

    /// The position of an argument.
    pub(crate) fn argument_place(&self, value: ValueId) -> u64 {
        self.func().args.iter().position(|v| *v == value).unwrap_or(0) as u64
    }

    /// The arguments that are contexts (isa/comm.md 2): pointers to i64 that are only loaded from, at words 2 and 4 + x.
    pub(crate) fn contexts(&self) -> Vec<ValueId> {
        let func = self.func();
        let known = Constants::new(self.module(), func);
        let is_words =
            |v: &ValueId| matches!(self.need(*v), Need::Buffer(elem, None) if matches!(elem, Elem::I64 | Elem::U64));
        let candidates = func.args.iter().copied().filter(is_words);
        let is_context = |value: &ValueId| {
            let mut loads = 0;
            let fits = func.ops.iter().filter(|op| op.values().any(|v| v == *value)).all(|op| {
                let is_load = op.opcode().is_some_and(|o| o.info().text == Text::LoadScalar);
                let index = op.operand(Role::Number).map(|o| o.arg);
                loads += 1;
                is_load && index.is_some_and(|index| is_context_word(func, &known, index))
            });
            fits && loads > 0
        };
        candidates.filter(is_context).collect()
    }

    /// The contexts and the arguments of windows.
    pub(crate) fn in_windows(&self) -> Vec<ValueId> {
        let windows = self.windows().unwrap_or_default();
        let names = windows.iter().flat_map(|w| w.args.iter().chain(&w.context));
        names.filter_map(|name| self.argument(name).ok()).collect()
    }

    /// The windows that its arithmetic shows: the arguments to which something computed from a context is added.
    pub fn windows(&self) -> Result<Vec<RankWindow>> {
        let func = self.func();
        let mut windows: Vec<RankWindow> = Vec::new();
        for context in self.contexts() {
            let (mut tainted, mut origins) = (vec![false; func.values.len()], vec![Vec::new(); func.values.len()]);
            for arg in &func.args {
                origins[arg.index()].push(*arg);
            }
            let mut args: Vec<ValueId> = Vec::new();
            while follow(func, context, &mut tainted, &mut origins, &mut args) {}
            let mut args: Vec<ValueId> = args.into_iter().filter(|arg| *arg != context).collect();
            args.sort_unstable();
            let args: Vec<String> = args.into_iter().map(|arg| self.name(arg).to_string()).collect();
            for name in &args {
                if let Some(other) = windows.iter().find(|w| w.args.contains(name)) {
                    let (a, b) = (self.name(context), other.context.clone().unwrap_or_default());
                    let what = format!("%{name} could lie in the window of %{a} and in that of %{b}");
                    return Err(wrong(what).help("say in which window it lies"));
                }
            }
            windows.push(RankWindow { context: Some(self.name(context).to_string()), args });
        }
        Ok(windows)
    }
}

/// Whether an index is word 2 of a context, or word 4 + x.
fn is_context_word(func: &Func, known: &Constants, index: Arg) -> bool {
    if let Some(n) = known.get(index) {
        return n == RANK_WORD || (FIRST_BASE..FIRST_BASE + 2 * MAX_RANKS as i64).contains(&n);
    }
    let Some(value) = index.value() else { return false };
    let Def::Result(op, _) = func.value(value).def else { return false };
    let op = func.op(op);
    match op.kind {
        OpKind::Arith(ArithOp::Addi) => op.operands.iter().any(|o| known.get(o.arg) == Some(FIRST_BASE)),
        OpKind::Cast(_) => op.operands.first().is_some_and(|o| is_context_word(func, known, o.arg)),
        _ => false,
    }
}

/// Follows every operation once: what is computed from a context, which arguments pointers come from, and which of those
/// something computed from the context is added to. Returns whether anything new was found.
fn follow(
    func: &Func,
    context: ValueId,
    tainted: &mut [bool],
    origins: &mut [Vec<ValueId>],
    args: &mut Vec<ValueId>,
) -> bool {
    let mut grown = false;
    let flow = |to: ValueId, from: ValueId, tainted: &mut [bool], origins: &mut [Vec<ValueId>]| {
        let more: Vec<ValueId> =
            origins[from.index()].iter().copied().filter(|v| !origins[to.index()].contains(v)).collect();
        let taints = tainted[from.index()] && !tainted[to.index()];
        tainted[to.index()] |= taints;
        let grows = taints || !more.is_empty();
        origins[to.index()].extend(more);
        grows
    };
    for op in &func.ops {
        if let (true, Ok(control)) = (op.kind.is_flow(), Control::of(func, op)) {
            for (to, from) in control.edges().iter().flat_map(|edge| edge.pairs()) {
                if let Some(from) = from.value() {
                    grown |= flow(to, from, tainted, origins);
                }
            }
            continue;
        }
        let text = op.opcode().map(|o| o.info().text);
        let pointer = op.operand(Role::Global).and_then(|o| o.arg.value());
        if text == Some(Text::LoadScalar) {
            let is_from = pointer.is_some_and(|p| origins[p.index()].contains(&context));
            for result in op.results.iter().filter(|_| is_from) {
                grown |= !std::mem::replace(&mut tainted[result.index()], true);
            }
            continue;
        }
        if let Some(pointer) = pointer {
            for result in &op.results {
                grown |= flow(*result, pointer, tainted, origins);
            }
            let moves = op.operands.iter().filter(|o| o.role == Role::Number).filter_map(|o| o.arg.value());
            if text == Some(Text::AddPtr) && moves.into_iter().any(|n| tainted[n.index()]) {
                for arg in &origins[pointer.index()] {
                    if !args.contains(arg) {
                        args.push(*arg);
                        grown = true;
                    }
                }
            }
            continue;
        }
        if op.values().any(|v| tainted[v.index()]) {
            for result in &op.results {
                grown |= !std::mem::replace(&mut tainted[result.index()], true);
            }
        }
    }
    grown
}

/// One rank's part of an outcome, as a run of one device gives it.
pub fn outcome_of(all: &mut RanksOutcome, rank: usize) -> Outcome {
    let part = all.ranks.get_mut(rank).map(std::mem::take).unwrap_or_default();
    Outcome { buffers: part.buffers, tiles: part.tiles, printed: part.printed, trace: part.trace, ..Outcome::default() }
}
