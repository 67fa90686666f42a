//! `tessera diff`: the first instruction at which two recorded runs differ.

use super::run::trace::Record;
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session};
use std::path::{Path, PathBuf};

const MAX_TRACE: u64 = 1 << 30;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  tessera run a.pto --in x=x.npy --trace a.trace\n  tessera run b.pto --in x=x.npy --trace \
                  b.trace\n  tessera diff a.trace b.trace\n\nExit codes: 0 the runs are the same, 1 they differ, 2 a file \
                  is wrong."
)]
pub struct Args {
    /// The first trace
    #[arg(value_name = "A.trace")]
    a: PathBuf,
    /// The second trace
    #[arg(value_name = "B.trace")]
    b: PathBuf,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let a = read(session, &args.a)?;
    let b = read(session, &args.b)?;
    let [name_a, name_b] = [&args.a, &args.b].map(|file| file.display().to_string());
    compare(session, (&name_a, &a), (&name_b, &b))
}

/// Compares two traces, each with its name.
pub fn compare(session: &mut Session<'_>, a: (&str, &[Record]), b: (&str, &[Record])) -> Outcome {
    let ((name_a, a), (name_b, b)) = (a, b);
    let first = a.iter().zip(b).position(|(x, y)| difference(x, y).is_some());
    let at = first.or((a.len() != b.len()).then(|| a.len().min(b.len())));
    let Some(at) = at else {
        writeln!(session.stdout, "the same: {} instructions", a.len())?;
        return Ok(FINE);
    };
    let (x, y) = (a.get(at), b.get(at));
    let what = match (x, y) {
        (Some(x), Some(y)) => difference(x, y).unwrap_or_default(),
        (None, _) => format!("{name_a} ends here"),
        (_, None) => format!("{name_b} ends here"),
    };
    writeln!(session.stdout, "different from instruction {at} on: {what}")?;
    for (file, record) in [(name_a, x), (name_b, y)] {
        writeln!(session.stdout, "  {file}")?;
        let Some(record) = record else {
            writeln!(session.stdout, "    (the end)")?;
            continue;
        };
        let block = if record.block == 0 { String::new() } else { format!("block {}, ", record.block) };
        writeln!(session.stdout, "    {block}line {}: {} {}", record.line, record.op, record.operands)?;
        for write in &record.written {
            writeln!(session.stdout, "      wrote {} ({})", write.tile, write.hash)?;
        }
    }
    Ok(PROGRAM_ERROR)
}

/// The difference between two instructions, if there is one. Their positions in the text, and the names and places of
/// tiles, are ignored.
fn difference(a: &Record, b: &Record) -> Option<String> {
    if a.block != b.block {
        return Some(format!("it belongs to block {} and to block {}", a.block, b.block));
    }
    if a.op != b.op {
        return Some(format!("{} against {}", a.op, b.op));
    }
    let (left, right) = (plain(&a.operands), plain(&b.operands));
    if left != right {
        let differs = |(x, y): &(&String, &String)| x != y;
        return Some(match left.iter().zip(&right).find(differs) {
            Some((x, y)) => format!("operand {x} against {y}"),
            None => format!("{} operands against {}", left.len(), right.len()),
        });
    }
    let hashes = |r: &Record| r.written.iter().map(|w| w.hash.clone()).collect::<Vec<_>>();
    if hashes(a) == hashes(b) {
        return None;
    }
    let differs = a.written.iter().zip(&b.written).find(|(x, y)| x.hash != y.hash);
    Some(match differs {
        Some((x, y)) if x.tile == y.tile => format!("{} of {} has other contents", x.tile, a.op),
        Some((x, y)) => format!("{} and {} of {} have different contents", x.tile, y.tile, a.op),
        None => format!("{} tiles are written against {}", a.written.len(), b.written.len()),
    })
}

/// Operands without names and addresses: `src=%a@0x0:16x16` is `src=16x16`.
fn plain(operands: &str) -> Vec<String> {
    let one = |word: &str| match word.split_once('=') {
        Some((role, rest)) if rest.starts_with('%') => {
            let extent = rest.rsplit_once(':').map_or("", |(_, extent)| extent);
            format!("{role}={extent}")
        }
        _ => word.to_string(),
    };
    operands.split_whitespace().map(one).collect()
}

fn read(session: &mut Session<'_>, file: &Path) -> Result<Vec<Record>, Failure> {
    let bytes = session.read(file, MAX_TRACE)?;
    records(&String::from_utf8_lossy(&bytes), &file.display().to_string())
}

/// The lines of a trace.
pub fn records(text: &str, name: &str) -> Result<Vec<Record>, Failure> {
    let mut all = Vec::new();
    for (n, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        all.push(serde_json::from_str(line).map_err(|e| {
            let why = format!("this is no line of a trace ({e}); `tessera run --trace FILE` writes one");
            Failure::usage(format!("{name}:{}: {why}", n + 1))
        })?);
    }
    Ok(all)
}
