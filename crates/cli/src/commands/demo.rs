//! `tessera demo`: a small program, checked and run on every profile, and traced.

use crate::session::{FINE, Failure, Outcome, Session};
use crate::words::sentence;
use std::fmt::Write;
use tessera::equiv::Given;
use tessera::npy::Array;
use tessera::trace::{Target, back};
use tessera::{Elem, Error, Profile, Program};

const PROGRAM: &str = include_str!("demo/demo.pto");
/// Valid columns of a row.
const COLUMNS: usize = 5;
/// Ragged rows with what hurts a naive softmax: large numbers, equal ones, an infinity.
const X: [f32; 15] =
    [1.0, 2.0, 3.0, 4.0, 5.0, 1000.0, 999.0, 998.0, 0.0, -1000.0, 0.5, 0.5, 0.5, f32::NEG_INFINITY, 0.5];

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: tessera demo --source > demo.pto && tessera check demo.pto --profile all")]
pub struct Args {
    /// Print the program instead
    #[arg(long)]
    source: bool,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let text = if args.source { PROGRAM.to_string() } else { page().map_err(broken)? };
    session.stdout.write_all(text.as_bytes())?;
    Ok(FINE)
}

fn broken(error: Error) -> Failure {
    Failure::usage(format!("the demo does not run, which is a bug of tessera: {}", sentence(&error)))
}

fn page() -> Result<String, Error> {
    let mut out = String::from(
        "A softmax of ragged rows: 3 rows of 5 columns are valid in tiles of 8×16 (tessera demo --source\nprints it).\n\n",
    );
    for line in PROGRAM.lines().filter(|l| l.contains("pto.t") && l.starts_with('%')) {
        let _ = writeln!(out, "  {}", line.split(" : ").next().unwrap_or(line));
    }
    out.push_str("\n1  Is it legal?\n\n");
    for profile in Profile::ALL {
        let found = Program::read(PROGRAM, Some(profile)).check();
        let errors = found.iter().filter(|d| d.is_error()).count();
        let _ = writeln!(out, "  {:<5} {}", profile.name(), if errors == 0 { "yes" } else { "no" });
    }
    let results = Profile::ALL.map(softmax);
    let [first, others @ ..] = results;
    let first = first?;
    let mut is_same = true;
    for other in others {
        is_same &= other?.iter().zip(&first).all(|(a, b)| a.to_bits() == b.to_bits());
    }
    let same = if is_same { "the same bits on all three profiles" } else { "not the same on all profiles" };
    let _ = writeln!(out, "\n2  What does it compute? ({same})\n\n  {:<41}{:<41}total", "row of %x", "row of %y");
    for (x, y) in X.chunks(COLUMNS).zip(first.chunks(COLUMNS)) {
        let x: String = x.iter().map(|v| format!("{v:<8}")).collect();
        let values: String = y.iter().map(|v| format!("{v:<8.4}")).collect();
        let _ = writeln!(out, "  {x:<41}{values:<41}{}", y.iter().sum::<f32>());
    }
    out.push_str("\n3  Where does %y[1, 2] come from?\n\n");
    let kernel = Program::parse(PROGRAM)?.entry()?;
    let way = back(&kernel, &Given::default(), &Target::parse("%y[1,2]")?, false)?;
    if let Some(formula) = way.formula {
        let _ = writeln!(out, "  %y[1, 2] = {}", formula.term.text());
        for (name, node) in &formula.names {
            let _ = writeln!(out, "  where {name} = {}", node.text());
        }
    }
    out.push_str("\nNext: tessera explain trowmax · tessera layout 33x32xf16 · tessera run FILE --in x=x.npy\n");
    Ok(out)
}

fn softmax(profile: Profile) -> Result<Vec<f32>, Error> {
    let x = Array::of_elem(Elem::F32, vec![3, COLUMNS as u64], X.iter().flat_map(|v| v.to_le_bytes()).collect());
    Program::parse(PROGRAM)?.entry()?.on(profile).input("x", &x)?.output("y")?.run()?.get::<f32>("y")
}
