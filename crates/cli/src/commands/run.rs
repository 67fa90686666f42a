//! `tessera run`: binds files and values to a program, runs it, and writes what comes out.

use super::load;
use crate::bind::{self, Bound};
use crate::npy::{self, Array};
use crate::policy::{Format, Policy};
use crate::render::values::Values;
use crate::session::{Failure, Outcome, PROGRAM_ERROR, Session, USAGE_ERROR};
use crate::source::Source;
use std::path::PathBuf;
use tessera::program::{Bindings, Input, Kernel, Need, Outcome as Result_, TileData};
use tessera_ir::{Type, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Severity, nearest};
use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;

/// The largest input file.
const MAX_INPUT: u64 = 4 << 30;

/// Run a program
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tessera run it.pto --in src0=a.npy --in src1=b.npy --out dst0=x.npy\n  tessera run \
                        kernel.pto --profile a5 --set n=16 --in x=x.npy --out y=y.npy --blocks 4\n  tessera run it.pto \
                        --in src=a.npy           (prints the outputs)")]
pub struct Args {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// cpu, a2a3, a5 or a device name. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profile)]
    profile: Option<Profile>,
    /// The function to run
    #[arg(long, value_name = "F")]
    entry: Option<String>,
    /// An array for an argument, or for an input of a listing
    #[arg(long = "in", value_name = "NAME=FILE.npy", value_parser = bind::file)]
    inputs: Vec<Bound<PathBuf>>,
    /// Where an argument or any tile goes; NAME@1 is core 1's copy
    #[arg(long = "out", value_name = "NAME=FILE.npy", value_parser = bind::file)]
    outputs: Vec<Bound<PathBuf>>,
    /// A tile's declared bytes as they lie in memory
    #[arg(long, value_name = "NAME=FILE", value_parser = bind::file)]
    raw_in: Vec<Bound<PathBuf>>,
    /// Where a tile's declared bytes go
    #[arg(long, value_name = "NAME=FILE", value_parser = bind::file)]
    raw_out: Vec<Bound<PathBuf>>,
    /// A value for a scalar
    #[arg(long, value_name = "NAME=VALUE", value_parser = bind::value, allow_hyphen_values = true)]
    set: Vec<Bound<Number>>,
    /// How often the kernel runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65536))]
    blocks: u32,
    /// Print a tile after the run; undefined elements are ?
    #[arg(long, value_name = "TILE")]
    dump: Vec<String>,
    /// Write one JSON line per instruction: operands and a hash of what it wrote
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Do not follow undefined bytes: faster, and silent about them
    #[arg(long)]
    untracked: bool,
    #[command(flatten)]
    policy: Policy,
}

/// Runs the command.
pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    args.policy.check_options(session)?;
    let (source, program) = load(session, &args.file, args.profile)?;
    let profile = program.profile();
    let found = program.check();
    let is_illegal = found.iter().any(Diagnostic::is_error);
    // A run tells what it comes across; warnings of the text are for `check`, unless they were made errors.
    let (mut findings, quiet): (Vec<_>, Vec<_>) = args
        .policy
        .apply(found)
        .into_iter()
        .partition(|d| d.is_error() || d.rule == "profile-override");
    if is_illegal {
        return args.policy.report(session, &source, &findings, profile);
    }
    let kernel = match program.kernel(args.entry.as_deref()) {
        Ok(kernel) => kernel,
        Err(diagnostic) => {
            findings.push(*diagnostic);
            let code = args.policy.report(session, &source, &findings, profile)?;
            return Ok(if args.entry.is_some() { USAGE_ERROR } else { code });
        }
    };
    let job = Job { args, kernel: &kernel };
    let bindings = match job.bindings(session)? {
        Ok(bindings) => bindings,
        Err(diagnostic) => {
            args.policy.report(session, &source, &[diagnostic], profile)?;
            return Ok(USAGE_ERROR);
        }
    };
    let shapes = job.input_shapes(&bindings);
    let outcome = kernel.run(bindings);
    let at_run_time = args.policy.apply(outcome.diagnostics.clone());
    let is_new = |d: &Diagnostic| !findings.iter().any(|f| f.rule == d.rule && f.span == d.span);
    let at_run_time: Vec<Diagnostic> = at_run_time.into_iter().filter(is_new).collect();
    findings.extend(at_run_time);
    job.show_printed(session, &outcome)?;
    let quiet = quiet.iter().filter(|d| d.severity == Severity::Warning).count();
    if quiet > 0 && args.policy.format == Format::Human {
        let plural = if quiet == 1 { "" } else { "s" };
        writeln!(session.stderr, "note: `tessera check` shows {quiet} warning{plural} about the text")?;
    }
    let mut code = crate::session::FINE;
    if !findings.is_empty() {
        code = args.policy.report(session, &source, &findings, profile)?;
    }
    if code == PROGRAM_ERROR || outcome.failed() {
        return Ok(PROGRAM_ERROR);
    }
    job.put_out(session, &source, &outcome, &shapes)?;
    Ok(code)
}

/// The arrays that were bound, by value, to give outputs the same shape.
type Shapes = Vec<(ValueId, Vec<u64>)>;

struct Job<'a> {
    args: &'a Args,
    kernel: &'a Kernel<'a>,
}

/// A sentence about a binding, as a diagnostic.
fn refuse(message: String) -> Diagnostic {
    Diagnostic::error("binding", message)
}

impl Job<'_> {
    /// Reads the files and finds the values; the inner error is about the command line's names and files.
    fn bindings(&self, session: &mut Session<'_>) -> Result<Result<Bindings, Diagnostic>, Failure> {
        let mut inputs: Vec<(ValueId, Input)> = Vec::new();
        let mut add = |value: ValueId, name: &str, input: Input| {
            if inputs.iter().any(|(v, _)| *v == value) {
                return Err(refuse(format!("%{name} is bound twice")));
            }
            inputs.push((value, input));
            Ok(())
        };
        for bound in &self.args.inputs {
            let bytes = session.read(&bound.to, MAX_INPUT)?;
            let result = self.argument(&bound.name, bound.core1).and_then(|value| {
                let input = self.array(value, &bytes).map_err(|why| refuse(format!("{}: {why}", bound.to.display())))?;
                add(value, &bound.name, input)
            });
            if let Err(diagnostic) = result {
                return Ok(Err(diagnostic));
            }
        }
        for bound in &self.args.raw_in {
            let bytes = session.read(&bound.to, MAX_INPUT)?;
            let result = self.argument(&bound.name, bound.core1).and_then(|value| {
                let input = self.raw(value, bytes).map_err(|why| refuse(format!("{}: {why}", bound.to.display())))?;
                add(value, &bound.name, input)
            });
            if let Err(diagnostic) = result {
                return Ok(Err(diagnostic));
            }
        }
        for bound in &self.args.set {
            let result = self.argument(&bound.name, false).and_then(|value| {
                let input = self.kernel.scalar_input(value, bound.to).map_err(refuse)?;
                add(value, &bound.name, input)
            });
            if let Err(diagnostic) = result {
                return Ok(Err(diagnostic));
            }
        }
        if let Some(diagnostic) = self.kernel.unbound(&inputs) {
            return Ok(Err(diagnostic));
        }
        Ok(self.wanted().map(|outputs| Bindings {
            inputs,
            outputs,
            blocks: self.args.blocks,
            tracked: !self.args.untracked,
            trace: self.args.trace.is_some(),
        }))
    }

    /// The argument or input of a name.
    fn argument(&self, name: &str, core1: bool) -> Result<ValueId, Diagnostic> {
        let func = self.kernel.func();
        let names: Vec<&str> = func.args.iter().map(|v| self.kernel.name(*v)).collect();
        if core1 {
            return Err(refuse(format!("%{name}@1 cannot be bound: core 1's copies start undefined")));
        }
        let found = func.args.iter().copied().find(|v| self.kernel.name(*v) == name);
        found.ok_or_else(|| self.unknown(name, "input", &names))
    }

    fn unknown(&self, name: &str, kind: &str, names: &[&str]) -> Diagnostic {
        let what = refuse(format!("the program has no {kind} %{name}"));
        match nearest(name, names.iter().copied()) {
            Some(near) => what.help(format!("did you mean %{near}?")),
            None if names.is_empty() => what,
            None => {
                let shown: Vec<String> = names.iter().take(12).map(|n| format!("%{n}")).collect();
                what.help(format!("there are {}", shown.join(", ")))
            }
        }
    }

    fn array(&self, value: ValueId, bytes: &[u8]) -> Result<Input, String> {
        let array = Array::parse(bytes)?;
        let mut shape = array.shape.clone();
        if let Some(elem) = self.elem(value) {
            if !array.holds(elem) {
                let name = self.kernel.name(value);
                return Err(format!("its elements are {}, and %{name} takes {elem} ({})", array.descr, npy::accepted(elem)));
            }
            if let (true, Some(last)) = (elem.is_fp4(), shape.last_mut()) {
                *last = last.saturating_mul(2);
            }
        }
        self.kernel.input(value, &shape, array.bytes)
    }

    fn raw(&self, value: ValueId, bytes: Vec<u8>) -> Result<Input, String> {
        let name = self.kernel.name(value);
        let wanted = match self.kernel.need(value) {
            Need::Tile(tile) => tile.bytes(),
            Need::Conv(conv) => conv.bytes(),
            _ => return Err(format!("%{name} is no tile, and only tiles have raw bytes; use --in or --set")),
        };
        if bytes.len() as u64 != wanted {
            return Err(format!("it has {} bytes, and the declared area of %{name} has {wanted}", bytes.len()));
        }
        Ok(Input::TileBytes(bytes))
    }

    /// The element type of what a value holds.
    fn elem(&self, value: ValueId) -> Option<Elem> {
        match self.kernel.need(value) {
            Need::Tile(tile) => Some(tile.elem),
            Need::Conv(conv) => Some(conv.elem),
            Need::Buffer(elem, _) => Some(elem),
            Need::Scalar(_) | Need::Nothing => None,
        }
    }

    /// The values that the command line wants; without any, the program's own outputs.
    fn wanted(&self) -> Result<Vec<(ValueId, u8)>, Diagnostic> {
        let args = self.args;
        let mut all = Vec::new();
        for bound in &args.outputs {
            all.push((self.output(&bound.name, false)?, u8::from(bound.core1)));
        }
        for bound in &args.raw_out {
            all.push((self.output(&bound.name, true)?, u8::from(bound.core1)));
        }
        for name in &args.dump {
            let (name, core) = dumped(name);
            all.push((self.output(name, true)?, core));
        }
        if all.is_empty() && args.policy.format == Format::Human {
            all.extend(self.own_outputs().into_iter().map(|v| (v, 0)));
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// What a program puts out by itself: a listing's outputs, the buffers that a kernel writes.
    fn own_outputs(&self) -> Vec<ValueId> {
        let func = self.kernel.func();
        if self.kernel.module().is_listing {
            return func.outputs.clone();
        }
        self.kernel.arguments().iter().filter(|a| a.is_written).map(|a| a.value).collect()
    }

    /// The tile or buffer of a name.
    fn output(&self, name: &str, only_tiles: bool) -> Result<ValueId, Diagnostic> {
        let func = self.kernel.func();
        let module = self.kernel.module();
        let Some(value) = self.kernel.find(name) else {
            let is_data = |v: &ValueId| !matches!(module.types.get(func.value(*v).ty), Type::Scalar(_) | Type::Event);
            let values = (0..func.values.len() as u32).map(ValueId).filter(is_data);
            let mut names: Vec<&str> = values.map(|v| self.kernel.name(v)).collect();
            names.dedup();
            return Err(self.unknown(name, "value", &names));
        };
        let is_argument = func.args.contains(&value);
        match self.kernel.need(value) {
            Need::Tile(_) | Need::Conv(_) => Ok(value),
            Need::Buffer(..) if is_argument && !only_tiles => Ok(value),
            Need::Buffer(..) if only_tiles => Err(refuse(format!("%{name} is no tile, and only tiles have raw bytes"))),
            Need::Buffer(..) => Err(refuse(format!("%{name} is a view; ask for the argument that it is a view of"))),
            Need::Scalar(_) | Need::Nothing => Err(refuse(format!("%{name} is a scalar; tiles and arguments can be put out"))),
        }
    }

    fn input_shapes(&self, bindings: &Bindings) -> Shapes {
        let shape = |(value, input): &(ValueId, Input)| match input {
            Input::Buffer { dims, .. } => Some((*value, dims.clone())),
            _ => None,
        };
        bindings.inputs.iter().filter_map(shape).collect()
    }

    /// `pto.tprint`, in the order of the program.
    fn show_printed(&self, session: &mut Session<'_>, outcome: &Result_) -> Result<(), Failure> {
        for printed in &outcome.printed {
            let block = if self.args.blocks > 1 { format!(" in block {}", printed.block) } else { String::new() };
            let text = show_tile(self.kernel.name(printed.value), &block, &printed.data);
            // JSON lines keep standard output to themselves.
            match self.args.policy.format {
                Format::Human => session.stdout.write_all(text.as_bytes())?,
                Format::Json => session.stderr.write_all(text.as_bytes())?,
            }
        }
        Ok(())
    }

    /// Writes the files, or shows the outputs if none are asked for.
    fn put_out(&self, session: &mut Session<'_>, source: &Source, outcome: &Result_, shapes: &Shapes) -> Result<(), Failure> {
        let args = self.args;
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for bound in &args.outputs {
            if let Some(array) = self.kernel.find(&bound.name).and_then(|v| self.output_array(outcome, shapes, v, bound.core1)) {
                files.push((bound.to.clone(), array.to_file()));
            }
        }
        for bound in &args.raw_out {
            if let Some(data) = self.kernel.find(&bound.name).and_then(|v| tile(outcome, v, bound.core1)) {
                files.push((bound.to.clone(), data.raw.clone()));
            }
        }
        if let Some(file) = &args.trace {
            files.push((file.clone(), trace_lines(source, outcome).into_bytes()));
        }
        bind::write_all(session, &files)?;
        for name in &args.dump {
            let (name, core) = dumped(name);
            if let Some(data) = self.kernel.find(name).and_then(|v| tile(outcome, v, core == 1)) {
                session.stdout.write_all(show_tile(name, if core == 1 { " on core 1" } else { "" }, data).as_bytes())?;
            }
        }
        let silent = args.outputs.is_empty() && args.raw_out.is_empty() && args.dump.is_empty();
        if silent && args.policy.format == Format::Human {
            for value in self.own_outputs() {
                let name = self.kernel.name(value);
                let text = match (tile(outcome, value, false), self.output_array(outcome, shapes, value, false)) {
                    (Some(data), _) => show_tile(name, "", data),
                    (None, Some(array)) => self.show_buffer(name, value, &array),
                    (None, None) => continue,
                };
                session.stdout.write_all(text.as_bytes())?;
            }
        }
        Ok(())
    }

    fn output_array(&self, outcome: &Result_, shapes: &Shapes, value: ValueId, core1: bool) -> Option<Array> {
        if let Some(data) = tile(outcome, value, core1) {
            let shape = data.conv.map_or_else(|| vec![data.rows, data.cols], |c| c.written_dims().to_vec());
            return Some(Array::of_elem(data.elem, shape, data.elements.clone()));
        }
        let buffer = outcome.buffers.iter().find(|b| b.value == value)?;
        let elem = self.elem(value)?;
        let bound = shapes.iter().find(|(v, _)| *v == value).map(|(_, shape)| shape.clone());
        let elements = buffer.bytes.len() as u64 * 8 / u64::from(elem.bits());
        let shape = bound.unwrap_or_else(|| self.kernel.buffer_dims(value, elements));
        Some(Array::of_elem(elem, shape, buffer.bytes.clone()))
    }

    fn show_buffer(&self, name: &str, value: ValueId, array: &Array) -> String {
        let Some(elem) = self.elem(value) else { return String::new() };
        let mut shape = array.shape.clone();
        if let (true, Some(last)) = (elem.is_fp4(), shape.last_mut()) {
            *last = last.saturating_mul(2);
        }
        let values = Values {
            elem,
            shape: &shape,
            bytes: &array.bytes,
            defined: &[],
        };
        format!("%{name}: {elem} {}\n{}", npy::shape_text(&shape), values.table())
    }
}

/// `NAME` or `NAME@1` of `--dump`.
fn dumped(name: &str) -> (&str, u8) {
    let name = name.strip_prefix('%').unwrap_or(name);
    match name.strip_suffix("@1") {
        Some(name) => (name, 1),
        None => (name, 0),
    }
}

fn tile(outcome: &Result_, value: ValueId, core1: bool) -> Option<&TileData> {
    let is_it = |t: &&tessera_exec::interp::TileOutput| t.value == value && t.core == u8::from(core1);
    outcome.tiles.iter().find(is_it).map(|t| &t.data)
}

fn show_tile(name: &str, note: &str, data: &TileData) -> String {
    let shape = data.conv.map_or_else(|| vec![data.rows, data.cols], |c| c.written_dims().to_vec());
    let values = Values {
        elem: data.elem,
        shape: &shape,
        bytes: &data.elements,
        defined: &data.defined,
    };
    format!("%{name}{note}: {} {}\n{}", data.elem, npy::shape_text(&shape), values.table())
}

#[derive(serde::Serialize)]
struct TraceRecord<'a> {
    block: u32,
    index: u64,
    line: usize,
    op: &'a str,
    operands: &'a str,
    written: Vec<(&'a str, String)>,
}

fn trace_lines(source: &Source, outcome: &Result_) -> String {
    let mut out = String::new();
    for line in &outcome.trace {
        let record = TraceRecord {
            block: line.block,
            index: line.index,
            line: source.position(source.clamp(line.span).start).line,
            op: line.opcode.mnemonic(),
            operands: &line.operands,
            written: line.written.iter().map(|w| (w.name.as_str(), format!("{:016x}", w.hash))).collect(),
        };
        out.push_str(&serde_json::to_string(&record).unwrap_or_default());
        out.push('\n');
    }
    out
}
