//! `tessera bench`: how fast instructions are, beside a yardstick.

use crate::bench::{Case, Programs, Work, Yardstick, cases, measure, programs};
use crate::policy::Format;
use crate::render::table::Table;
use crate::session::{FINE, Failure, Outcome, Session};
use serde::Serialize;
use std::io::IsTerminal;
use std::time::Duration;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each instruction runs as in a program, on tiles in the second-level cache. It alternates with a \
                        reference: a memcpy or a plain loop over as many bytes, or as many multiply-adds in \
                        registers. The rate is 10⁹ bytes read and written per second (GB/s), or 10⁹ multiply-adds \
                        per second (GMA/s). `ratio` is the speed of the instruction divided by that of the \
                        reference; `tracked` is the same with tracking of undefined elements.\n\nExamples:\n  tessera bench --quick\n  tessera bench --filter ttrans --format json"
)]
pub struct Args {
    /// Repeat less; takes at most 20 seconds
    #[arg(long)]
    quick: bool,
    /// Run only benchmarks whose name contains S
    #[arg(long, value_name = "S", default_value = "")]
    filter: String,
    /// Run programs without fusion of instructions
    #[arg(long)]
    no_fuse: bool,
    /// The format of the results
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Serialize)]
struct CaseLine<'a> {
    case: &'a str,
    #[serde(flatten)]
    rates: Rates,
    yardstick: &'a str,
    ratio: f64,
    ratio_tracked: f64,
}

/// The speed of the instruction and of its baseline.
#[derive(Serialize)]
#[serde(untagged)]
enum Rates {
    Copies { bytes: usize, gbps: f64, memcpy_gbps: f64 },
    Bytes { bytes: usize, gbps: f64, yardstick_gbps: f64 },
    MultiplyAdds { multiply_adds: usize, gmas: f64, yardstick_gmas: f64 },
}

impl Rates {
    fn of(case: &Case, rate: f64, yardstick: f64) -> Self {
        match (case.work, case.yardstick) {
            (Work::Bytes(bytes), Yardstick::Memcpy) => Rates::Copies { bytes, gbps: rate, memcpy_gbps: yardstick },
            (Work::Bytes(bytes), _) => Rates::Bytes { bytes, gbps: rate, yardstick_gbps: yardstick },
            (Work::MultiplyAdds(multiply_adds), _) => {
                Rates::MultiplyAdds { multiply_adds, gmas: rate, yardstick_gmas: yardstick }
            }
        }
    }

    fn unit(&self) -> &'static str {
        match self {
            Rates::Copies { .. } | Rates::Bytes { .. } => "GB/s",
            Rates::MultiplyAdds { .. } => "GMA/s",
        }
    }
}

#[derive(Serialize)]
struct ProgramLine<'a> {
    case: &'a str,
    value: f64,
    unit: &'a str,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let cases: Vec<&Case> = cases().filter(|c| c.name.contains(&args.filter)).collect();
    let programs: Vec<&Programs> = programs().filter(|p| p.name.contains(&args.filter)).collect();
    if cases.is_empty() && programs.is_empty() {
        let what = format!("no case has '{}' in its name; `tessera bench --quick` shows them all", args.filter);
        return Err(Failure::usage(what));
    }
    let mut progress = Progress::new(cases.len() + programs.len());
    let mut table = Table::new(["instruction", "rate", "", "yardstick", "its rate", "ratio", "tracked"]);
    let budget = Duration::from_millis(if args.quick { 250 } else { 3000 });
    for case in &cases {
        progress.next(session, case.name)?;
        let m = measure(case, budget).map_err(|e| failed(case.name, &e))?;
        progress.show(session, "")?;
        let rates = Rates::of(case, rounded(m.rate), rounded(m.yardstick_rate));
        match args.format {
            Format::Json => json(
                session,
                &CaseLine {
                    case: case.name,
                    rates,
                    yardstick: case.yardstick.name(),
                    ratio: rounded(m.ratio),
                    ratio_tracked: rounded(m.ratio_tracked),
                },
            )?,
            Format::Human => table.row([
                case.name.to_string(),
                format!("{:.1}", m.rate),
                rates.unit().to_string(),
                case.yardstick.name().to_string(),
                format!("{:.1}", m.yardstick_rate),
                format!("{:.2}", m.ratio),
                format!("{:.2}", m.ratio_tracked),
            ]),
        }
    }
    let mut whole = Table::new(["program", "", ""]);
    for program in &programs {
        progress.next(session, program.name)?;
        let value = program.measure(budget * 2, !args.no_fuse).map_err(|e| failed(program.name, &e))?;
        progress.show(session, "")?;
        match args.format {
            Format::Json => {
                json(session, &ProgramLine { case: program.name, value: rounded(value), unit: program.unit })?
            }
            Format::Human => whole.row([program.name.to_string(), format!("{value:.2}"), program.unit.to_string()]),
        }
    }
    let tables = [table, whole].into_iter().filter(|t| !t.is_empty());
    let text = tables.map(|t| t.render()).collect::<Vec<_>>().join("\n");
    session.stdout.write_all(text.as_bytes())?;
    Ok(FINE)
}

/// Three digits after the point; more would be noise.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn failed(name: &str, error: &tessera::Error) -> Failure {
    Failure::usage(format!("{name} cannot be measured: {error}"))
}

fn json(session: &mut Session<'_>, line: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(line).map_err(|e| Failure::usage(format!("cannot write a result: {e}")))?;
    writeln!(session.stdout, "{text}")?;
    session.stdout.flush()?;
    Ok(())
}

/// The current measurement, in a line of its own that disappears again; only on a terminal.
struct Progress {
    done: usize,
    all: usize,
    shown: bool,
}

const BAR: usize = 20;

impl Progress {
    fn new(all: usize) -> Self {
        let shown = std::io::stderr().is_terminal();
        Progress { done: 0, all, shown }
    }

    fn next(&mut self, session: &mut Session<'_>, name: &str) -> Result<(), Failure> {
        let full = BAR * self.done / self.all.max(1);
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(BAR - full));
        let line = format!("{bar} {}/{} {name}", self.done, self.all);
        self.done += 1;
        self.show(session, &line)
    }

    fn show(&self, session: &mut Session<'_>, line: &str) -> Result<(), Failure> {
        if self.shown {
            write!(session.stderr, "\r\x1b[2K{line}")?;
            session.stderr.flush()?;
        }
        Ok(())
    }
}
