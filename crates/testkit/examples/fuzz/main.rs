//! Inputs that nobody meant: `cargo run --release -p tessera-testkit --example fuzz -- --seconds 3600`.
//!
//! The corpus is every program of the repository and what `crates/testkit/corpus` keeps of earlier findings. Each input is a few of
//! them damaged and joined ([`mutate`]), given to one target ([`targets`]). A panic, more than a second of work, or more than
//! 1 GiB of growth is a finding: the input goes to a file, and the exit code is 1. The same seed gives the same inputs.
//! Files on the command line are given to the targets as they are.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a command that talks to the terminal"
)]

mod calls;
mod corpus;
mod mutate;
mod targets;

use corpus::Corpus;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};
use targets::{TARGETS, Target};
use tessera_testkit::random::Random;

/// The longest that an input may take; unoptimized programs take ten times as long.
const LONG: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
/// After so long an input is given up together with the process.
const HANGS: Duration = Duration::from_secs(60);
/// The most that the process may have grown to, in KiB.
const MOST_KIB: u64 = 1 << 20;

const USAGE: &str = "usage: fuzz [--seconds N] [--inputs N] [--target NAME] [--seed N] [--save DIR] [FILE…]";

struct Options {
    seconds: u64,
    inputs: u64,
    target: Option<&'static Target>,
    seed: u64,
    save: PathBuf,
    files: Vec<PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        seconds: 60,
        inputs: u64::MAX,
        target: None,
        seed: 1,
        save: "fuzz-findings".into(),
        files: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            options.files.push(word.into());
            continue;
        }
        let value = words.next().ok_or(USAGE)?;
        let number = || value.parse::<u64>().map_err(|_| format!("'{value}' is no number; {USAGE}"));
        match word.as_str() {
            "--seconds" => options.seconds = number()?,
            "--inputs" => (options.inputs, options.seconds) = (number()?, u64::from(u32::MAX)),
            "--seed" => options.seed = number()?,
            "--save" => options.save = value.into(),
            "--target" => {
                let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
                let found = TARGETS.iter().find(|t| t.name == value);
                options.target = Some(found.ok_or_else(|| format!("the targets are {}", names.join(", ")))?);
            }
            _ => return Err(USAGE.into()),
        }
    }
    Ok(options)
}

/// The input that runs now, since when, and for which target; what hangs is saved by another thread.
static NOW: Mutex<Option<(Instant, &'static str, Vec<u8>)>> = Mutex::new(None);
/// Where the last panic was.
static PLACE: Mutex<String> = Mutex::new(String::new());
static SAVED: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    // A panic is told with its input.
    std::panic::set_hook(Box::new(|panic| {
        if let (Ok(mut place), Some(at)) = (PLACE.lock(), panic.location()) {
            *place = format!("{}:{}", at.file(), at.line());
        }
    }));
    watch_for_hangs(options.save.clone());
    let findings = match options.files.is_empty() {
        true => fuzz(&options),
        false => replay(&options),
    };
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn replay(options: &Options) -> u64 {
    let mut findings = 0;
    for file in &options.files {
        let Ok(bytes) = std::fs::read(file) else {
            eprintln!("{} cannot be read", file.display());
            findings += 1;
            continue;
        };
        for target in TARGETS.iter().filter(|t| options.target.is_none_or(|o| o.name == t.name)) {
            if let Some(what) = ran(target, &bytes) {
                println!("{}: {}: {what}", file.display(), target.name);
                findings += 1;
            }
        }
    }
    findings
}

fn fuzz(options: &Options) -> u64 {
    let corpus = Corpus::load();
    let mut random = Random(options.seed);
    let (begin, mut inputs, mut findings) = (Instant::now(), 0u64, 0u64);
    let mut told = begin;
    let mut known: HashMap<(&str, String), u64> = HashMap::new();
    while inputs < options.inputs && begin.elapsed() < Duration::from_secs(options.seconds) {
        let target = options.target.unwrap_or_else(|| &TARGETS[random.below(TARGETS.len() as u64) as usize]);
        let input = mutate::input(&corpus, target, &mut random);
        if let Some(what) = ran(target, &input) {
            // One place is told a few times only.
            let kind: String = what.chars().take(60).collect();
            let times = known.entry((target.name, kind)).or_insert(0u64);
            *times += 1;
            if *times <= 3 {
                let file = save(&options.save, target.name, &input);
                println!("{}: {what}\n  {}", target.name, file.display());
            }
            findings += 1;
        }
        inputs += 1;
        if told.elapsed() > Duration::from_secs(60) {
            told = Instant::now();
            println!("{inputs} inputs, {findings} findings, {} MiB at most", peak_kib() >> 10);
        }
    }
    if peak_kib() > MOST_KIB {
        println!("the process grew to {} MiB", peak_kib() >> 10);
        findings += 1;
    }
    println!(
        "{inputs} inputs in {} s, {} programs in the corpus, seed {}: {findings} findings, {} MiB at most",
        begin.elapsed().as_secs(),
        corpus.programs.len(),
        options.seed,
        peak_kib() >> 10
    );
    findings
}

/// What is wrong with how a target took an input.
fn ran(target: &'static Target, input: &[u8]) -> Option<String> {
    let before = peak_kib();
    // On a machine that does something else an input may seem slow: then it is run again, and only its own time counts.
    let mut took = Duration::ZERO;
    for clock in [wall, busy] {
        let begin = clock();
        set_now(Some((Instant::now(), target.name, input.to_vec())));
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
        set_now(None);
        if let Err(panic) = outcome {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
            let place = PLACE.lock().map(|p| p.clone()).unwrap_or_default();
            return Some(format!("panics at {place}: {}", text.unwrap_or_default()));
        }
        took = clock().saturating_sub(begin);
        if took < LONG {
            break;
        }
    }
    if took >= LONG {
        return Some(format!("takes {} ms", took.as_millis()));
    }
    let after = peak_kib();
    (after > MOST_KIB && after > before).then(|| format!("grows from {} to {} MiB", before >> 10, after >> 10))
}

fn wall() -> Duration {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed()
}

/// How long the process has run on all cores, in hundredths of a second where the system tells.
fn busy() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |n: usize| fields.get(n)?.parse::<u64>().ok();
    ticks(11).zip(ticks(12)).map_or_else(wall, |(user, system)| Duration::from_millis((user + system) * 10))
}

fn set_now(now: Option<(Instant, &'static str, Vec<u8>)>) {
    if let Ok(mut place) = NOW.lock() {
        *place = now;
    }
}

fn watch_for_hangs(save_to: PathBuf) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let Ok(now) = NOW.lock() else { return };
            if let Some((since, target, input)) = &*now
                && since.elapsed() > HANGS
            {
                println!("{target}: hangs\n  {}", save(&save_to, target, input).display());
                std::process::exit(1);
            }
        }
    });
}

fn save(dir: &Path, target: &str, input: &[u8]) -> PathBuf {
    let n = SAVED.fetch_add(1, Ordering::Relaxed);
    let file = dir.join(format!("{target}-{}-{n}", std::process::id()));
    if std::fs::create_dir_all(dir).and_then(|()| std::fs::write(&file, input)).is_err() {
        println!("  the input cannot be saved: {:?}", String::from_utf8_lossy(input));
    }
    file
}

/// The most memory that the process has had; 0 where the system does not say.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
