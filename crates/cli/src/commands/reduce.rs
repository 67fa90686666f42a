//! `tessera reduce`: a small program that fails as a large one does (docs/tools.md).

use super::{Loaded, load};
use crate::interrupt;
use crate::output;
use crate::session::{FINE, Failure, Outcome, Session};
use crate::words::counted;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tessera::case::{Case, Status};
use tessera::program::Limits;
use tessera::{Diagnostic, Profile, Program};
use tessera_isa::diag::nearest;
use tessera_smith::reduce::{Goal, reduce};

#[derive(Debug, clap::Args)]
#[command(
    group(clap::ArgGroup::new("failure").required(true).args(["test", "rule", "differs"])),
    after_help = "Examples:\n  tessera reduce kernel.pto --rule gm-bounds\n  tessera reduce kernel.pto --test './check.sh \
                  {}' -o small.pto\n  tessera reduce kernel.pto --profile a5 --differs cpu\n\nThe command of --test is run \
                  by the shell with the name of a program in place of {}, else behind it. A program fails while the \
                  command ends with the exit code that it has for FILE, which is not 0. What is interrupted, by ^C or a \
                  limit, puts out the smallest program so far. Exit codes: 0 a program was put out, 2 the command line or \
                  a file is wrong, or FILE does not fail."
)]
pub struct Args {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A program fails while this command does: `{}` stands for its file
    #[arg(long, value_name = "CMD")]
    test: Option<String>,
    /// A program fails while this rule is reported by `check`, or by a run on made-up inputs
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// A program fails while its outputs on this profile are others than on its own, for the same made-up inputs
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    differs: Option<Profile>,
    /// cpu, a2a3, a5 or a device name. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    /// Try programs that are not legal, too; always so where FILE is not legal
    #[arg(long)]
    illegal: bool,
    /// Stop a test that takes longer; such a program does not fail
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = crate::limits::time)]
    test_time: Duration,
    /// Programs that are tried, at most
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    tries: usize,
    /// Where the program goes instead of standard output (`-`)
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Elements that a trial run may compute.
const LIMITS: Limits = Limits { steps: 1 << 20, memory: 1 << 28 };

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let Loaded { source, program } = load(session, &args.file, args.profile)?;
    output::check(session, &args.output.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    if program.has_errors() {
        let first = program.check().into_iter().find(Diagnostic::is_error);
        let what = first.map_or(String::new(), |d| format!(": {}", d.message));
        return Err(Failure::usage(format!(
            "{} cannot be read as a program, so nothing can be taken out of it{what}",
            source.name
        )));
    }
    let is_legal = !program.check().iter().any(Diagnostic::is_error);
    let goal = Goal { keeps_legal: is_legal && !args.illegal, most: args.tries };
    let mut test = Test::of(args, session, &program, &source.name)?;
    let best: Arc<Mutex<String>> = Arc::new(Mutex::new(program.text(None)));
    let guard = {
        let (best, file) = (best.clone(), args.output.as_ref().map(|file| session.path(file)));
        interrupt::at_stop(move || {
            let text = best.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = match &file {
                Some(file) => std::fs::write(file, text.as_bytes()),
                None => std::io::stdout().write_all(text.as_bytes()),
            };
        })
    };
    let reduced = reduce(&program, &goal, &mut |program| test.fails(program), &mut |text| {
        *best.lock().unwrap_or_else(PoisonError::into_inner) = text.to_string();
    });
    drop(guard);
    let [before, after] = reduced.operations.map(|n| counted(n as u64, "operation"));
    let cut = if reduced.is_cut { "; --tries allows more" } else { "" };
    let tries = counted(reduced.tries as u64, "program");
    writeln!(session.stderr, "{}: {before} became {after}, {tries} tried{cut}", source.name)?;
    match &args.output {
        Some(file) => session.write(file, reduced.text.into_bytes())?,
        None => session.stdout.write_all(reduced.text.as_bytes())?,
    }
    Ok(FINE)
}

/// The failure that is kept.
enum Test {
    /// A command, the folder that it runs in, and the exit code that it ends with.
    Command {
        command: String,
        dir: PathBuf,
        code: Option<i32>,
        time: Duration,
        scratch: Scratch,
    },
    Rule(String),
    Differs(Profile),
}

/// A file of its own that the tried programs are written to.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Test {
    fn of(args: &Args, session: &Session<'_>, program: &Program, name: &str) -> Result<Test, Failure> {
        if let Some(command) = &args.test {
            let scratch = Scratch(std::env::temp_dir().join(format!("tessera-reduce-{}.pto", std::process::id())));
            let mut test = Test::Command {
                command: command.clone(),
                dir: session.dir.clone(),
                code: Some(0),
                time: args.test_time,
                scratch,
            };
            let code = test.exit_code(program.source())?;
            match (&mut test, code) {
                (_, Some(Some(0))) => {
                    return Err(Failure::usage(format!(
                        "{name} does not fail: `{command}` ends with exit code 0; a test command fails (exit code 1, \
                         say) as long as the program has what is looked for"
                    )));
                }
                (_, None) => {
                    return Err(Failure::usage(format!(
                        "`{command}` took longer than {} s for {name}; --test-time allows more",
                        args.test_time.as_secs()
                    )));
                }
                (Test::Command { code, .. }, Some(found)) => *code = found,
                _ => {}
            }
            return Ok(test);
        }
        let (mut test, what) = match (&args.rule, args.differs) {
            (Some(rule), _) => {
                if tessera_micro::rules::rule(rule).is_none() {
                    let near = nearest(rule, tessera_micro::rules::all().map(|r| r.id));
                    let near = near.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
                    return Err(Failure::usage(format!("there is no rule '{rule}'{near}")));
                }
                (Test::Rule(rule.clone()), format!("{rule} is not reported by `check`, nor by a run on made-up inputs"))
            }
            (None, Some(other)) => {
                let own = program.profile();
                (
                    Test::Differs(other),
                    format!(
                        "its outputs on {own} and {other} are the same for made-up inputs, or it does not run on both"
                    ),
                )
            }
            (None, None) => return Err(Failure::usage("--test, --rule or --differs says what a failure is")),
        };
        match test.fails(program) {
            true => Ok(test),
            false => Err(Failure::usage(format!("{name} does not fail: {what}"))),
        }
    }

    fn fails(&mut self, program: &Program) -> bool {
        match self {
            Test::Command { code, .. } => {
                let code = *code;
                self.exit_code(program.source()).is_ok_and(|found| found == Some(code))
            }
            Test::Rule(rule) => reports(program, rule, LIMITS),
            Test::Differs(other) => differs(program, *other),
        }
    }

    /// The exit code of the command for a program; none where it takes too long.
    fn exit_code(&self, text: &str) -> Result<Option<Option<i32>>, Failure> {
        let Test::Command { command, dir, time, scratch, .. } = self else { return Ok(None) };
        std::fs::write(&scratch.0, text).map_err(|e| Failure::file("write", &scratch.0, &e))?;
        let name = scratch.0.display().to_string();
        let line = if command.contains("{}") { command.replace("{}", &name) } else { format!("{command} {name}") };
        let mut shell = Command::new(if cfg!(windows) { "cmd" } else { "sh" });
        shell.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(line);
        if *dir != Path::new("") {
            shell.current_dir(dir);
        }
        let child = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|e| Failure::usage(format!("cannot run `{command}`: {e}")))?;
        let begun = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(Some(status.code())),
                Ok(None) if begun.elapsed() < *time => std::thread::sleep(pause),
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Ok(None);
                }
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Whether a rule is reported by `check`, or by a run on made-up inputs.
pub fn reports(program: &Program, rule: &str, limits: Limits) -> bool {
    let is_it = |d: &Diagnostic| d.rule == rule;
    let found = program.check();
    if found.iter().any(is_it) || found.iter().any(Diagnostic::is_error) {
        return found.iter().any(is_it);
    }
    let mut case = Case::new(program.clone());
    (case.fills_missing, case.limits) = (true, limits);
    case.run().found.iter().any(is_it)
}

/// Whether a program runs on both profiles, with other outputs.
fn differs(program: &Program, other: Profile) -> bool {
    let Some((inputs, outputs)) = outputs(program, None) else { return false };
    match self::outputs(&program.on(other), Some(&inputs)) {
        Some((_, found)) => found != outputs,
        None => false,
    }
}

type Arrays = Vec<(String, tessera::npy::Array)>;

/// The outputs of a run, and the inputs that it was given: what another run had, else made-up ones.
fn outputs(program: &Program, given: Option<&tessera::program::Inputs>) -> Option<(tessera::program::Inputs, Arrays)> {
    let mut case = Case::new(program.clone());
    (case.fills_missing, case.limits) = (true, LIMITS);
    case.inputs = given.cloned().unwrap_or_default();
    if program.check().iter().any(Diagnostic::is_error) || case.run().status != Status::Passed {
        return None;
    }
    let kernel = program.entry().ok()?;
    let mut bindings = case.bindings(&kernel).ok()?;
    bindings.outputs.extend(kernel.outputs().into_iter().map(|v| (v, 0)));
    let shapes = kernel.shapes(&bindings);
    let wanted = bindings.outputs.clone();
    let mut outcome = kernel.execute(bindings);
    let array = |(v, core)| Some((kernel.name(v).to_string(), kernel.take_array(&mut outcome, &shapes, v, core)?));
    Some((case.inputs, wanted.into_iter().filter_map(array).collect()))
}
