//! `tessera sweep`: many programs, checked, run and compared (docs/sweep.md).

mod find;
mod record;
mod report;

use super::profiles;
use crate::limits::Limits;
use crate::output;
use crate::policy::Format;
use crate::progress;
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session};
use crate::watchdog;
use find::CaseSource;
use record::{Done, Record, key};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tessera::Profile;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera sweep kernels/ --profile a5\n  tessera sweep nightly.jsonl --shard 3/16 --out \
                  part3.jsonl\n  tessera sweep --merge part*.jsonl --out all.jsonl\n\nA folder is a case if it has program.pto and \
                  case.json, command.txt, or in_NAME.npy and expected_NAME.npy. Every other program is a case with \
                  random inputs. Cases that the file of --out has already are skipped. Exit codes: 0 all passed, 1 some \
                  did not, 2 the command line or a file is wrong."
)]
pub struct Args {
    /// Folders, programs, and lists: one JSON object (.jsonl) or one `tessera run` command (.txt) a line
    #[arg(value_name = "DIR|LIST", required = true)]
    paths: Vec<PathBuf>,
    /// The profiles of cases that name none. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_delimiter = ',', value_parser = profiles(), hide_possible_values = true)]
    profile: Vec<Profile>,
    #[command(flatten)]
    pub version: super::TextVersion,
    /// Run part I of N; the parts have no case in common
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// Append one JSON line per case to this file, and skip cases that it has already
    #[arg(long, value_name = "FILE.jsonl")]
    out: Option<PathBuf>,
    /// Join files that --out wrote
    #[arg(long, conflicts_with_all = ["shard", "jobs", "profile"])]
    merge: bool,
    /// How many cases run at once. Default: the number of processors
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Do not judge the order of the pipes: a case that computes what it should passes, whatever races in it
    #[arg(long)]
    no_races: bool,
    #[command(flatten)]
    limits: Limits,
    /// The format of the results: a table, or one JSON object per case
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| (1..=*n).contains(i)).ok_or_else(|| format!("'{text}' is no part, such as 1/4 or 4/4"))
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let records = if args.merge { merged(args, session)? } else { swept(args, session)? };
    let text = match args.format {
        Format::Human => report::page(&records),
        Format::Json => records.iter().map(Record::line).collect(),
    };
    session.stdout.write_all(text.as_bytes())?;
    Ok(if records.iter().all(Record::has_passed) { FINE } else { PROGRAM_ERROR })
}

/// The records of all parts, each case once.
fn merged(args: &Args, session: &mut Session<'_>) -> Result<Vec<Record>, Failure> {
    let mut all: Vec<Record> = Vec::new();
    for part in &args.paths {
        all.extend(Done::read(session, part)?.records);
    }
    record::order(&mut all);
    if let Some(file) = &args.out {
        let lines: String = all.iter().map(Record::line).collect();
        session.write(file, lines.into_bytes())?;
    }
    Ok(all)
}

fn swept(args: &Args, session: &mut Session<'_>) -> Result<Vec<Record>, Failure> {
    let mut found = Vec::new();
    for path in &args.paths {
        found.extend(find::cases(session, path)?);
    }
    if found.is_empty() {
        let places: Vec<String> = args.paths.iter().map(|p| p.display().to_string()).collect();
        return Err(Failure::usage(format!("there are no cases in {}; a case is a program (.pto)", places.join(", "))));
    }
    let mut work: Vec<(CaseSource, Option<Profile>)> = Vec::new();
    for case in found {
        let profiles = case.profiles(&args.profile);
        work.extend(profiles.into_iter().map(|profile| (case.clone(), profile)));
    }
    if let Some((part, parts)) = args.shard {
        let mut number = 0;
        work.retain(|_| {
            number += 1;
            (number - 1) % parts == part - 1
        });
    }
    let done = match &args.out {
        Some(file) if session.path(file).exists() => Done::read(session, file)?,
        _ => Done::default(),
    };
    let out = args.out.as_ref().map(|file| open(session, file, &done)).transpose()?;
    Sweep { args, done: &done, out: Mutex::new(out), dir: &session.dir }.run(&work)
}

/// The file that lines are added to, without a line that was cut short.
fn open(session: &Session<'_>, name: &Path, done: &Done) -> Result<File, Failure> {
    output::check(session, &[name])?;
    let wrong = |e: io::Error| Failure::file("write", name, &e);
    let file = OpenOptions::new().create(true).append(true).open(session.path(name)).map_err(wrong)?;
    if let Some(whole) = done.whole {
        file.set_len(whole).map_err(wrong)?;
    }
    Ok(file)
}

struct Sweep<'a> {
    args: &'a Args,
    done: &'a Done,
    out: Mutex<Option<File>>,
    dir: &'a Path,
}

impl Sweep<'_> {
    fn run(&self, work: &[(CaseSource, Option<Profile>)]) -> Result<Vec<Record>, Failure> {
        let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let total = work.len();
        let shown = {
            let counts = counts.clone();
            progress::show(move || {
                let [done, failed] = [&counts[0], &counts[1]].map(|n| n.load(Ordering::Relaxed));
                let bar = "█".repeat((20 * done).checked_div(total).unwrap_or(20));
                format!("sweeping {bar:░<20} {done} of {total}, {failed} not passed")
            })
        };
        let next = AtomicUsize::new(0);
        let all: Mutex<Vec<(usize, Result<Record, Failure>)>> = Mutex::new(Vec::new());
        let worker = || {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                let Some((case, profile)) = work.get(n) else { return };
                let record = self.one(case, *profile);
                counts[0].fetch_add(1, Ordering::Relaxed);
                if !record.as_ref().is_ok_and(Record::has_passed) {
                    counts[1].fetch_add(1, Ordering::Relaxed);
                }
                let is_broken = record.is_err();
                all.lock().unwrap_or_else(PoisonError::into_inner).push((n, record));
                if is_broken {
                    next.store(work.len(), Ordering::Relaxed);
                }
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let jobs = self.args.jobs.unwrap_or(cores).clamp(1, work.len().max(1));
        watchdog::cases(work.len(), jobs);
        std::thread::scope(|scope| {
            for _ in 1..jobs {
                scope.spawn(worker);
            }
            worker();
        });
        drop(shown);
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_by_key(|(n, _)| *n);
        all.into_iter().map(|(_, record)| record).collect()
    }

    /// One case, done or done before.
    fn one(&self, found: &CaseSource, profile: Option<Profile>) -> Result<Record, Failure> {
        let mut session = Session {
            dir: self.dir.join(&found.dir),
            stdin: &mut io::empty(),
            stdout: &mut io::sink(),
            stderr: &mut io::sink(),
            color: false,
            dialect: self.args.version.dialect.clone(),
        };
        let case = found.load(&mut session, profile, self.args.limits.into());
        let key = key(&case, profile, found);
        if let Some(record) = self.done.find(&key) {
            return Ok(record.clone());
        }
        let record = match case {
            Ok(mut case) => {
                case.races = !self.args.no_races;
                Record::of(key, &found.name, case.program.profile(), &case.run())
            }
            Err(why) => Record::unbound(key, &found.name, profile.unwrap_or(Profile::Cpu), why),
        };
        if let Some(out) = self.out.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            // One write a line: what is stopped loses the last line at most.
            out.write_all(record.line().as_bytes())?;
        }
        Ok(record)
    }
}
