//! `tessera gym`: tasks for those who write kernels, and their scores (docs/tools.md).

use crate::policy::Format;
use crate::render::table::Table;
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use tessera::Profile;
use tessera_isa::diag::nearest;
use tessera_smith::gym::{Score, Task, score, tasks};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera gym\n  tessera gym softmax\n  tessera gym score solutions --format json\n\nA solution \
                  is a file NAME.pto with the signature of the task. It is run on hidden inputs, and what must come out is \
                  computed by the task's formula. Exit codes of score: 0 all solutions are correct and race-free, 1 some are \
                  not, 2 the command line or a file is wrong."
)]
pub struct Args {
    /// A task, to show its page; or `score`. Without it, the tasks are listed
    #[arg(value_name = "TASK|score")]
    what: Option<String>,
    /// With `score`: the folder of solutions
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// With `score`: the profile. Default: the module's own, else a5
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    /// With `score`: the seed of the hidden inputs. Default: another one every time
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// A table, or one JSON object
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    match (args.what.as_deref(), &args.dir) {
        (None, _) => list(args, session),
        (Some("score"), Some(dir)) => scored(args, dir, session),
        (Some("score"), None) => Err(Failure::usage("score needs the folder of solutions: tessera gym score DIR")),
        (Some(name), _) => {
            let Some(task) = tasks().iter().find(|t| t.name == name) else {
                let near = nearest(name, tasks().iter().map(|t| t.name.as_str()));
                let near = near.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
                return Err(Failure::usage(format!("there is no task '{name}'{near}")));
            };
            match args.format {
                Format::Human => session.stdout.write_all(task.page().as_bytes())?,
                Format::Json => writeln!(session.stdout, "{}", about(task))?,
            }
            Ok(FINE)
        }
    }
}

fn about(task: &Task) -> Value {
    let tolerance = task.tolerance();
    json!({
        "task": task.name, "level": task.level, "about": task.about, "formula": task.formula,
        "signature": task.signature(), "page": task.page(), "atol": tolerance.atol, "rtol": tolerance.rtol,
    })
}

fn list(args: &Args, session: &mut Session<'_>) -> Outcome {
    if args.format == Format::Json {
        let all: Vec<Value> = tasks().iter().map(about).collect();
        writeln!(session.stdout, "{}", Value::Array(all))?;
        return Ok(FINE);
    }
    let mut table = Table::new(["level", "task", "what is asked for"]);
    for task in tasks() {
        table.row([task.level.to_string(), task.name.clone(), task.about.clone()]);
    }
    writeln!(session.stdout, "{}\n`tessera gym TASK` shows a task", table.render())?;
    Ok(FINE)
}

fn scored(args: &Args, dir: &PathBuf, session: &mut Session<'_>) -> Outcome {
    let full = session.path(dir);
    let entries = std::fs::read_dir(&full).map_err(|e| Failure::file("read", dir, &e))?;
    let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let seed = args.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(1, |now| now.as_nanos() as u64 >> 10)
    });
    let mut all: Vec<(&Task, Score)> = Vec::new();
    for file in names.iter().filter(|name| name.ends_with(".pto")) {
        let name = file.trim_end_matches(".pto");
        let Some(task) = tasks().iter().find(|t| t.name == name) else {
            return Err(Failure::usage(format!(
                "{}: there is no task '{name}'; `tessera gym` lists them",
                dir.join(file).display()
            )));
        };
        let bytes = session.read_source(&dir.join(file))?;
        all.push((task, score(task, &String::from_utf8_lossy(&bytes), args.profile, seed)));
    }
    if all.is_empty() {
        return Err(Failure::usage(format!("there is no solution in {}; one is a file TASK.pto", dir.display())));
    }
    all.sort_by_key(|(task, _)| (task.level, task.name.clone()));
    let is_good = |s: &Score| s.is_correct && s.is_race_free;
    let good = all.iter().filter(|(_, s)| is_good(s)).count();
    match args.format {
        Format::Json => {
            let solutions = all.iter().map(|(task, s)| {
                json!({"task": task.name, "level": task.level, "correct": s.is_correct, "race_free": s.is_race_free,
                    "cycles": s.cycles, "floor": s.floor, "notes": s.notes})
            });
            let solutions: Vec<Value> = solutions.collect();
            let answer = json!({"seed": seed, "tasks": tasks().len(), "solved": good, "solutions": solutions});
            writeln!(session.stdout, "{answer}")?;
        }
        Format::Human => {
            let mut table = Table::new(["level", "task", "correct", "race-free", "cycles", "floor", "why"]);
            let word = |is: bool| if is { "yes" } else { "no" }.to_string();
            let number = |n: Option<u64>| n.map_or("–".to_string(), |n| n.to_string());
            for (task, s) in &all {
                let why = s.notes.last().cloned().unwrap_or_default();
                table.row([
                    task.level.to_string(),
                    task.name.clone(),
                    word(s.is_correct),
                    word(s.is_race_free),
                    number(s.cycles),
                    number(s.floor),
                    why,
                ]);
            }
            writeln!(
                session.stdout,
                "{}\n{good} of {} solutions are correct and race-free (seed {seed})",
                table.render(),
                all.len()
            )?;
        }
    }
    Ok(if good == all.len() { FINE } else { PROGRAM_ERROR })
}
