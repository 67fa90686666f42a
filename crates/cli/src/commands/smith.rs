//! `tessera smith`: random legal programs, made from the instruction table (docs/tools.md).

use crate::session::{FINE, Failure, Outcome, Session};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tessera::{Dialect, Profile, TextForm};
use tessera_isa::diag::nearest;
use tessera_isa::ops::{Family, Opcode};
use tessera_smith::{Feature, MOST, Made, Options, family_name};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera smith --profile a5 --seed 7\n  tessera smith --families matrix,memory --features \
                  loops,dynamic --size 40\n  tessera smith --count 1000 --with-expected cases && tessera sweep cases\n  \
                  tessera smith --profile a5 --illegal tadd-dtype\n\nEvery program is accepted by `check` and has run. \
                  Its first line says whether it is race-free. The same options and seed are the same program on every \
                  machine."
)]
pub struct Args {
    /// The profile that the programs are legal on
    #[arg(long, value_name = "P", default_value = "cpu", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Profile,
    /// The seed of the first program
    #[arg(long, value_name = "N", default_value = "0", value_parser = seed)]
    seed: u64,
    /// How many programs are made, each of the next seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    count: u64,
    /// Instructions of a program, as they are drawn; some are taken out, and loads and stores come to them
    #[arg(long, value_name = "N", default_value_t = 12)]
    size: usize,
    /// Draw from these families only: layout, support, elementwise, scalar, reduce, matrix, irregular, memory
    #[arg(long, value_name = "F", value_delimiter = ',', value_parser = family)]
    families: Vec<Family>,
    /// Further constructs: loops, calls, cores, flags, fifo, dynamic
    #[arg(long, value_name = "F", value_delimiter = ',', value_parser = feature)]
    features: Vec<Feature>,
    /// The form of the text: asm (PTO-AS), ssa (Level 1), dps (Level 2)
    #[arg(long, value_name = "FORM", default_value = "dps", value_parser = PossibleValuesParser::new(["asm", "ssa", "dps"]).map(form))]
    to: TextForm,
    /// The version of the text: 0.27, 0.60 or 0.64
    #[arg(long, value_name = "V", value_parser = super::dialect)]
    dialect: Option<Dialect>,
    /// Write each program with inputs and expected outputs into a folder of its own below this one, as a case of `sweep`
    #[arg(long, value_name = "DIR")]
    with_expected: Option<PathBuf>,
    /// Make a program that breaks exactly this rule
    #[arg(long, value_name = "RULE", conflicts_with_all = ["with_expected", "to", "dialect"])]
    illegal: Option<String>,
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("'{text}' is no seed; write a number from 0 to {}", u64::MAX))
}

fn feature(word: &str) -> Result<Feature, String> {
    let words = Feature::ALL.map(Feature::name);
    Feature::parse(word).ok_or_else(|| unknown("feature", word, &words))
}

/// The families that rows belong to.
fn families() -> Vec<Family> {
    let mut all: Vec<Family> = Vec::new();
    for op in Opcode::ALL {
        if !all.contains(&op.info().family) {
            all.push(op.info().family);
        }
    }
    all
}

fn family(word: &str) -> Result<Family, String> {
    let names: Vec<String> = families().into_iter().map(family_name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    families().into_iter().find(|f| family_name(*f) == word).ok_or_else(|| unknown("family", word, &names))
}

fn unknown(what: &str, word: &str, words: &[&str]) -> String {
    let near = nearest(word, words.iter().copied()).map_or(String::new(), |near| format!("; did you mean '{near}'?"));
    format!("there is no {what} '{word}'{near} ({})", words.join(", "))
}

fn form(name: String) -> TextForm {
    match name.as_str() {
        "asm" => TextForm::Asm,
        "ssa" => TextForm::Ssa,
        _ => TextForm::Dps,
    }
}

impl Args {
    fn options(&self, number: u64) -> Options {
        Options {
            profile: self.profile,
            seed: self.seed.wrapping_add(number),
            size: self.size,
            families: self.families.clone(),
            features: self.features.clone(),
            form: self.to,
            dialect: self.dialect,
        }
    }
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    if args.size == 0 || args.size > MOST {
        return Err(Failure::usage(format!("--size {}: a program has 1 to {MOST} instructions", args.size)));
    }
    if let Some(rule) = &args.illegal {
        if tessera_micro::rules::rule(rule).is_none() {
            let near = nearest(rule, tessera_micro::rules::all().map(|r| r.id));
            let near = near.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
            return Err(Failure::usage(format!("there is no rule '{rule}'{near}")));
        }
        for number in 0..args.count {
            let made = tessera_smith::illegal(&args.options(number), rule);
            let made = made.map_err(|why| Failure::usage(why.to_string()))?;
            print(session, number, &made.text)?;
        }
        return Ok(FINE);
    }
    crate::watchdog::cases(args.count as usize, 1);
    // Programs are made side by side and put out in order.
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    let batch = (jobs * 16).min(args.count);
    let mut first = 0;
    while first < args.count {
        let last = (first + batch).min(args.count);
        for (number, made) in (first..last).zip(batch_of(args, first, last, jobs as usize)) {
            let made = made.map_err(|why| Failure::usage(why.to_string()))?;
            match &args.with_expected {
                Some(dir) => case(session, dir, args, number, &made)?,
                None => print(session, number, &made.text)?,
            }
        }
        first = last;
    }
    Ok(FINE)
}

type Result1 = Result<Made, tessera_smith::Refused>;

fn batch_of(args: &Args, first: u64, last: u64, jobs: usize) -> Vec<Result1> {
    let all: Mutex<Vec<(u64, Result1)>> = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = first + next.fetch_add(1, Ordering::Relaxed) as u64;
            if number >= last {
                return;
            }
            let made = tessera_smith::smith(&args.options(number));
            all.lock().unwrap_or_else(PoisonError::into_inner).push((number, made));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.min((last - first) as usize) {
            scope.spawn(work);
        }
        work();
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, made)| made).collect()
}

fn print(session: &mut Session<'_>, number: u64, text: &str) -> Result<(), Failure> {
    if number > 0 {
        writeln!(session.stdout, "// -----")?;
    }
    Ok(session.stdout.write_all(text.as_bytes())?)
}

/// Writes the folder of a case.
fn case(session: &mut Session<'_>, dir: &Path, args: &Args, number: u64, made: &Made) -> Result<(), Failure> {
    let folder = dir.join(format!("{}-{}", args.profile, args.seed.wrapping_add(number)));
    std::fs::create_dir_all(session.path(&folder)).map_err(|e| Failure::file("write", &folder, &e))?;
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    let mut named = |prefix: &str, arrays: &[(String, tessera::npy::Array)]| {
        let mut names = Map::new();
        for (name, array) in arrays {
            let file = format!("{prefix}_{name}.npy");
            names.insert(name.clone(), Value::String(file.clone()));
            files.push((folder.join(file), array.to_file()));
        }
        names
    };
    let (inputs, expected) = (named("in", &made.inputs), named("expected", &made.expected));
    let numbers: Map<String, Value> = made.numbers.iter().map(|(name, n)| (name.clone(), json!(*n as i64))).collect();
    let about = json!({"in": inputs, "set": numbers, "expect": expected, "profile": [args.profile.name()]});
    files.push((folder.join("case.json"), (about.to_string() + "\n").into_bytes()));
    files.push((folder.join("program.pto"), made.text.clone().into_bytes()));
    crate::output::write(session, &files)
}
