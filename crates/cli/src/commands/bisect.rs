//! `tessera bisect`: the first instruction at which two programs differ on the same input (docs/tools.md).

use super::run::trace::Record;
use super::{Cli, Command, diff};
use crate::policy::Format;
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session};
use crate::source::Source;
use clap::Parser;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use tessera::case::Case;
use tessera::program::{Bindings, Input, Outcome as Ran, TileData};
use tessera::{Diagnostic, Elem, Kernel, Number, Profile, Program};
use tessera_interp::{Step, Stored};
use tessera_ir::ValueId;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera bisect a.pto b.pto\n  tessera bisect a.pto b.pto --profile a5 --in x=x.npy --set \
                  n=3\n  tessera bisect k.pto --profile a2a3 --with 'tessera fmt --to ssa' --with 'old/tessera fmt --to \
                  ssa'\n\nInputs that are not given are made up, the same for both. A command of --with is given the \
                  file and writes a program, or the lines of `tessera run --trace`, to standard output. Exit codes: 0 \
                  the results are the same, 1 they differ, 2 the command line or a file is wrong."
)]
pub struct Args {
    /// The first program
    #[arg(value_name = "A.pto")]
    a: PathBuf,
    /// The second program; with --with there is none
    #[arg(value_name = "B.pto", required_unless_present = "with", conflicts_with = "with")]
    b: Option<PathBuf>,
    /// Twice: commands that make the two programs, or traces, of one file; `{}` stands for it, else it comes last
    #[arg(long, value_name = "CMD")]
    with: Vec<String>,
    /// The profile of both. Default: each module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    /// The profile of the second program, where it is another one
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile_b: Option<Profile>,
    /// The function to run
    #[arg(long, value_name = "F")]
    entry: Option<String>,
    /// An array for an argument, as `tessera run --in` takes it
    #[arg(long = "in", value_name = "NAME=FILE.npy")]
    inputs: Vec<String>,
    /// A value for a scalar
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// The extents of an argument whose contents are made up
    #[arg(long, value_name = "NAME=NxM")]
    shape: Vec<String>,
    /// The number of blocks
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    blocks: u32,
    /// For people, or as one JSON object
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// One side of the comparison.
struct Side {
    source: Source,
    kernel: Kernel,
    ran: Ran,
}

/// What a side was made of.
enum Made {
    Program(Source),
    Trace(Vec<Record>),
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let (a, b) = match (&args.b, args.with.as_slice()) {
        (Some(b), []) => {
            let mut read =
                |file: &PathBuf| session.read_source(file).map(|bytes| Made::Program(Source::of_file(file, bytes)));
            (read(&args.a)?, read(b)?)
        }
        (None, [one, other]) => (make(args, session, one)?, make(args, session, other)?),
        (_, all) => {
            return Err(Failure::usage(format!(
                "--with is given twice, once for each side, and here {} times",
                all.len()
            )));
        }
    };
    match (a, b) {
        (Made::Program(a), Made::Program(b)) => {
            let profile_b = args.profile_b.or(args.profile);
            let (case, a_kernel) = prepared(args, session, &a, args.profile)?;
            let (_, b_kernel) = prepared(args, session, &b, profile_b)?;
            let bindings = case.bindings(&a_kernel).map_err(|e| Failure::usage(e.error.message().to_string()))?;
            let inputs = given(&a_kernel, &b_kernel, &bindings)?;
            let a = execute(a, a_kernel, Bindings { ..bindings }, session)?;
            let b = execute(
                b,
                b_kernel,
                Bindings { inputs, blocks: args.blocks, limits: case.limits, ..Bindings::default() },
                session,
            )?;
            report(args, session, &a, &b)
        }
        (Made::Trace(a), Made::Trace(b)) => diff::compare(session, (&args.with[0], &a), (&args.with[1], &b)),
        _ => Err(Failure::usage(
            "one command of --with wrote a program and the other one a trace; both have to write the same",
        )),
    }
}

/// What a command makes of the file.
fn make(args: &Args, session: &Session<'_>, command: &str) -> Result<Made, Failure> {
    let name = args.a.display().to_string();
    let line = if command.contains("{}") { command.replace("{}", &name) } else { format!("{command} {name}") };
    let mut shell = std::process::Command::new(if cfg!(windows) { "cmd" } else { "sh" });
    shell.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(&line).stdin(Stdio::null());
    if session.dir.as_os_str() != "" {
        shell.current_dir(&session.dir);
    }
    let done = shell.output().map_err(|e| Failure::usage(format!("cannot run `{command}`: {e}")))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let first = said.lines().next().unwrap_or("it says nothing");
        return Err(Failure::usage(format!("`{line}` failed ({}): {first}", done.status)));
    }
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    if text.trim_start().starts_with("{\"block\"") {
        return Ok(Made::Trace(diff::records(&text, command)?));
    }
    match text.trim().is_empty() {
        true => {
            Err(Failure::usage(format!("`{line}` wrote nothing to standard output; a program or a trace is wanted")))
        }
        false => Ok(Made::Program(Source::new(format!("`{command}`"), text))),
    }
}

/// The kernel of a program, and the inputs that the command line names.
fn prepared(
    args: &Args,
    session: &mut Session<'_>,
    source: &Source,
    profile: Option<Profile>,
) -> Result<(Case, Kernel), Failure> {
    let program = Program::read_entry(&source.text, profile, args.entry.as_deref());
    let errors: Vec<Diagnostic> = program.check().into_iter().filter(Diagnostic::is_error).collect();
    let policy = crate::policy::Policy::plain(args.format);
    if !errors.is_empty() {
        return Err(Failure::reported(policy.report(session, source, &errors, program.profile())?));
    }
    let kernel = program.kernel_or_entry(args.entry.as_deref());
    let kernel = kernel.map_err(|e| Failure::usage(format!("{}: {}", source.name, e.message())))?;
    // The options are those of `run`, which reads them.
    let mut words: Vec<OsString> = ["tessera", "--no-config", "run", "-"].iter().map(OsString::from).collect();
    for (option, values) in [("--in", &args.inputs), ("--set", &args.set), ("--shape", &args.shape)] {
        words.extend(values.iter().flat_map(|value| [OsString::from(option), OsString::from(value)]));
    }
    let parsed = Cli::try_parse_from(words)
        .map_err(|e| Failure::usage(e.to_string().trim_start_matches("error: ").trim_end()))?;
    let Command::Run(run) = parsed.command else { return Err(Failure::usage("the inputs cannot be read")) };
    let mut empty: &[u8] = &[];
    let mut inner = Session {
        dir: session.dir.clone(),
        stdin: &mut empty,
        stdout: &mut std::io::sink(),
        stderr: &mut std::io::sink(),
        color: false,
        dialect: None,
    };
    let mut case = run.case(&mut inner, profile).map_err(Failure::usage)?;
    (case.program, case.entry, case.blocks, case.fills_missing) = (program, args.entry.clone(), args.blocks, true);
    Ok((case, kernel))
}

/// The inputs of the first program for the arguments of the second: by name, else by place.
fn given(a: &Kernel, b: &Kernel, bindings: &Bindings) -> Result<Vec<(ValueId, Input)>, Failure> {
    let mut all = Vec::new();
    for (n, to) in b.func().args.iter().enumerate() {
        let named = a.func().args.iter().find(|from| a.name(**from) == b.name(*to));
        let Some(from) = named.or_else(|| a.func().args.get(n)) else { continue };
        for (_, input) in bindings.inputs.iter().filter(|(value, _)| value == from) {
            if a.elem(*from) != b.elem(*to) {
                let ty = |k: &Kernel, v: ValueId| k.elem(v).map_or("a scalar".to_string(), |e| e.to_string());
                return Err(Failure::usage(format!(
                    "%{} of the second program is {}, and %{} of the first one is {}; the same input cannot be given to both",
                    b.name(*to),
                    ty(b, *to),
                    a.name(*from),
                    ty(a, *from)
                )));
            }
            all.push((*to, input.clone()));
        }
    }
    Ok(all)
}

fn execute(source: Source, kernel: Kernel, bindings: Bindings, session: &mut Session<'_>) -> Result<Side, Failure> {
    let mut bindings = Bindings { record: true, ..bindings };
    bindings.outputs.extend(kernel.outputs().into_iter().map(|v| (v, 0)));
    let ran = kernel.execute(bindings);
    if ran.recorded.is_empty() {
        let policy = crate::policy::Policy::plain(Format::Human);
        let code = policy.report(session, &source, &ran.diagnostics, kernel.profile())?;
        return Err(Failure::reported(code));
    }
    Ok(Side { source, kernel, ran })
}

/// How far ahead an instruction's partner is looked for.
const FAR: usize = 4096;

/// A tile as one core sees it, and parts of buffers, while the steps are walked.
#[derive(Default)]
struct State(HashMap<(ValueId, u8), TileData>);

/// A difference between two steps.
struct Found {
    what: String,
    /// The operand, the place of its first element that differs, and both values.
    element: Option<(String, Vec<u64>, String, String)>,
    /// Elements that differ, of how many.
    count: (u64, u64),
}

fn report(args: &Args, session: &mut Session<'_>, a: &Side, b: &Side) -> Outcome {
    let mut compared = 0;
    for (x, y) in a.ran.recorded.iter().zip(&b.ran.recorded) {
        let (mut left, mut right) = (State::default(), State::default());
        for (state, all) in [(&mut left, &x.start), (&mut right, &y.start)] {
            state.0.extend(all.iter().map(|t| ((t.value, t.core), t.data.clone())));
        }
        let mut rest = y.steps.as_slice();
        for (n, step) in x.steps.iter().enumerate() {
            left.apply(step);
            let find = |one: &Step, all: &[Step]| {
                all.iter().take(FAR).position(|other| other.inst.op == one.inst.op && other.core == one.core)
            };
            // Instructions that only one side has are passed over: what they leave shows where it is used. Where each side
            // has one that the other lacks, one stands for the other.
            let ahead = x.steps.get(n + 1..).unwrap_or_default();
            let at = match (find(step, rest), rest.first().map(|other| find(other, ahead))) {
                (Some(at), Some(Some(later))) if later < at => continue,
                (Some(at), _) => at,
                (None, Some(None)) => 0,
                (None, _) => continue,
            };
            let (passed, later) = rest.split_at(at + 1);
            passed.iter().for_each(|other| right.apply(other));
            rest = later;
            let Some(other) = passed.last() else { continue };
            if let Some(found) = difference(a, b, step, other, &left, &right) {
                return tell(args, session, &found, (a, Some(step)), (b, Some(other)), x.block, compared);
            }
            compared += 1;
        }
    }
    if let Some(found) = outputs(a, b).or_else(|| stopped(a, b)) {
        return tell(args, session, &found, (a, None), (b, None), 0, compared);
    }
    match args.format {
        Format::Json => writeln!(session.stdout, "{}", json!({"equal": true, "compared": compared}))?,
        Format::Human => {
            writeln!(
                session.stdout,
                "the same: {} and {}, {compared} instructions compared",
                a.source.name, b.source.name
            )?;
        }
    }
    Ok(FINE)
}

impl State {
    fn apply(&mut self, step: &Step) {
        self.0.extend(step.changed.iter().map(|t| ((t.value, t.core), t.data.clone())));
    }
}

/// The first operand that two instructions of one kind leave with other contents.
fn difference(a: &Side, b: &Side, x: &Step, y: &Step, left: &State, right: &State) -> Option<Found> {
    for (n, (tile, other)) in x.inst.tiles.iter().zip(&y.inst.tiles).enumerate() {
        let (Some(Some(v)), Some(Some(w))) = (x.tiles.get(n), y.tiles.get(n)) else { continue };
        if !tile.role.is_dst() || tile.role != other.role {
            continue;
        }
        for core in 0..2 {
            let (Some(one), Some(two)) = (left.0.get(&(*v, core)), right.0.get(&(*w, core))) else { continue };
            let name = format!("%{}", a.kernel.name(*v));
            if one.elem != two.elem || (one.rows, one.cols) != (two.rows, two.cols) {
                let shape = |d: &TileData| format!("{}x{} {}", d.rows, d.cols, d.elem);
                let what = format!("{name} is {} against {}", shape(one), shape(two));
                return Some(Found { what, element: None, count: (0, 0) });
            }
            if one.elements != two.elements {
                return Some(elements(&name, one.elem, &[one.rows, one.cols], &one.elements, &two.elements));
            }
        }
    }
    let stored = |side: &Side, s: &Stored| side.kernel.elem(s.value);
    for (one, two) in x.stored.iter().zip(&y.stored) {
        let name = format!("%{}", a.kernel.name(one.value));
        if one.at != two.at || one.bytes.len() != two.bytes.len() {
            let what = format!("{name} is written from byte {} on against byte {}", one.at, two.at);
            return Some(Found { what, element: None, count: (0, 0) });
        }
        if let (Some(elem), true) = (stored(a, one).filter(|e| Some(*e) == stored(b, two)), one.bytes != two.bytes) {
            let mut found = elements(&name, elem, &[], &one.bytes, &two.bytes);
            if let Some((_, index, ..)) = &mut found.element {
                let first = one.at as u64 * 8 / u64::from(elem.bits().max(1));
                index.iter_mut().for_each(|n| *n += first);
            }
            return Some(found);
        }
    }
    None
}

/// An error that only one run met.
fn stopped(a: &Side, b: &Side) -> Option<Found> {
    let error =
        |side: &Side| side.ran.diagnostics.iter().find(|d| d.is_error()).map(|d| format!("{}: {}", d.rule, d.message));
    let what = match (error(a), error(b)) {
        (Some(why), None) => format!("{} stops ({why})", a.source.name),
        (None, Some(why)) => format!("{} stops ({why})", b.source.name),
        _ => return None,
    };
    Some(Found { what, element: None, count: (0, 0) })
}

/// The first output that differs in the end.
fn outputs(a: &Side, b: &Side) -> Option<Found> {
    for one in &a.ran.buffers {
        let name = a.kernel.name(one.value);
        let two = b.ran.buffers.iter().find(|o| b.kernel.name(o.value) == name)?;
        let elem = a.kernel.elem(one.value)?;
        if one.bytes != two.bytes {
            return Some(elements(&format!("%{name}"), elem, &[], &one.bytes, &two.bytes));
        }
    }
    None
}

fn elements(name: &str, elem: Elem, shape: &[u64], one: &[u8], two: &[u8]) -> Found {
    let bits = |bytes: &[u8], n: usize| match elem.size() {
        Some(size) => {
            let size = size as usize;
            let mut word = [0u8; 8];
            let from = bytes.get(n * size..(n + 1) * size).unwrap_or(&[]);
            word.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(word)
        }
        None => u64::from(bytes.get(n / 2).copied().unwrap_or(0)) >> (4 * (n % 2)) & 15,
    };
    let count = one.len() * 8 / elem.bits().max(1) as usize;
    let differs: Vec<usize> = (0..count).filter(|n| bits(one, *n) != bits(two, *n)).collect();
    let shown = |n: u64| match elem.decode(n) {
        Number::Int(v) => v.to_string(),
        Number::Float(v) => format!("{v:?}"),
    };
    let element = differs.first().map(|n| {
        let index = match shape {
            [_, cols] if *cols > 0 => vec![*n as u64 / cols, *n as u64 % cols],
            _ => vec![*n as u64],
        };
        let [mut x, mut y] = [one, two].map(|bytes| shown(bits(bytes, *n)));
        if x == y {
            // Two bit patterns of one number, or two NaNs.
            [x, y] = [one, two].map(|bytes| format!("{} (0x{:X})", shown(bits(bytes, *n)), bits(bytes, *n)));
        }
        (name.to_string(), index, x, y)
    });
    Found { what: format!("{name} has other contents"), element, count: (differs.len() as u64, count as u64) }
}

fn tell(
    args: &Args,
    session: &mut Session<'_>,
    found: &Found,
    a: (&Side, Option<&Step>),
    b: (&Side, Option<&Step>),
    block: u32,
    compared: usize,
) -> Outcome {
    let place = |(side, step): (&Side, Option<&Step>)| {
        let op = side.kernel.func().op(step?.op);
        let line = side.source.line(op.span);
        let range = side.source.line_range(line - 1);
        Some((line, side.source.text.get(range).unwrap_or_default().trim().to_string()))
    };
    let (left, right) = (place(a), place(b));
    let names = [a.1, b.1].map(|step| step.map(|step| step.inst.op.mnemonic()));
    let name = match names {
        [Some(x), Some(y)] if x != y => format!("{x} against {y}"),
        [Some(x), _] => x.to_string(),
        _ => "the outputs".to_string(),
    };
    match args.format {
        Format::Json => {
            let side = |side: &Side, place: &Option<(usize, String)>| {
                let (line, text) = place.clone().unzip();
                json!({"file": side.source.name, "line": line, "text": text})
            };
            let mut answer = json!({
                "equal": false, "compared": compared, "block": block, "instruction": name, "message": found.what,
                "a": side(a.0, &left), "b": side(b.0, &right), "different": found.count.0, "elements": found.count.1,
            });
            if let Some((operand, index, x, y)) = &found.element {
                answer["element"] = json!({"operand": operand, "index": index, "a": x, "b": y});
            }
            writeln!(session.stdout, "{}", Value::to_string(&answer))?;
        }
        Format::Human => {
            let at = if block == 0 { String::new() } else { format!(" of block {block}") };
            writeln!(session.stdout, "different from instruction {compared}{at} on: {name}: {}", found.what)?;
            for ((side, _), place) in [(a, &left), (b, &right)] {
                match place {
                    Some((line, text)) => writeln!(session.stdout, "  {}:{line}: {text}", side.source.name)?,
                    None => writeln!(session.stdout, "  {}", side.source.name)?,
                }
            }
            if let Some((operand, index, x, y)) = &found.element {
                let index: Vec<String> = index.iter().map(u64::to_string).collect();
                let (n, all) = found.count;
                writeln!(
                    session.stdout,
                    "  {operand}[{}]: {x} against {y}; {n} of {all} elements differ",
                    index.join(", ")
                )?;
            }
        }
    }
    Ok(PROGRAM_ERROR)
}
