//! Whole kernels beside numpy on one thread, in one run, taking turns: `cargo run --release -p tessera-bench --bin whole [NAME]`.
//! Without a python3 that has numpy only our own times are printed.

#![allow(clippy::print_stdout, reason = "it is a command")]

mod cases;
mod gemm;
mod numpy;

use cases::{Case, cases};
use numpy::Numpy;
use std::time::Instant;
use tessera::Error;
use tessera::program::{Bindings, Input, Kernel, Program};

/// Rounds of a short and of a long run; the difference is what counts, so that reading the program does not.
const FEW: u64 = 10;
const MANY: u64 = 60;

/// Pairs of measurements.
const PAIRS: usize = 15;

/// Seconds of a run.
pub fn seconds(kernel: &Kernel, case: &Case, fuses: bool) -> Result<f64, Error> {
    let inputs = case.arrays.iter().enumerate().filter_map(|(k, array)| {
        let input = Input::Buffer { bytes: array.bytes(k), elem: array.elem, dims: vec![array.elements as u64] };
        Some((kernel.find(&format!("p_{}", array.name))?, input))
    });
    let bindings = Bindings { inputs: inputs.collect(), fuses, ..Bindings::default() };
    let start = Instant::now();
    let outcome = kernel.execute(bindings);
    let time = start.elapsed().as_secs_f64();
    match outcome.diagnostics.into_iter().find(|d| d.is_error()) {
        Some(found) => Err(Error::from(Box::new(found))),
        None => Ok(time),
    }
}

/// The best and the median of some numbers.
pub fn best_and_median(numbers: &mut [f64]) -> (f64, f64) {
    numbers.sort_by(f64::total_cmp);
    (numbers.first().copied().unwrap_or(0.0), numbers.get(numbers.len() / 2).copied().unwrap_or(0.0))
}

fn measure(case: &Case) -> Result<(), Error> {
    let (few, many) = (Program::parse(&case.text(FEW))?, Program::parse(&case.text(MANY))?);
    let (few, many) = (few.entry()?, many.entry()?);
    let mut numpy = Numpy::start(case);
    // What disturbs a run only makes it longer.
    let mut short = [f64::MAX; 2];
    let mut long = [const { Vec::new() }; 2];
    let mut theirs = Vec::new();
    for _ in 0..PAIRS {
        for (n, fuses) in [true, false].into_iter().enumerate() {
            short[n] = short[n].min(seconds(&few, case, fuses)?);
            long[n].push(seconds(&many, case, fuses)?);
        }
        theirs.push(numpy.as_mut().and_then(Numpy::time).unwrap_or(0.0));
    }
    let round = |n: usize, time: &f64| (time - short[n]).max(0.0) / (MANY - FEW) as f64 * 1e6;
    let mut ours: Vec<f64> = long[0].iter().map(|time| round(0, time)).collect();
    let mut unfused: Vec<f64> = long[1].iter().map(|time| round(1, time)).collect();
    let mut ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| theirs / ours.max(1e-3)).collect();
    let [(ours, _), (unfused, _), (theirs, _)] = [&mut ours, &mut unfused, &mut theirs].map(|n| best_and_median(n));
    let (_, ratio) = best_and_median(&mut ratios);
    println!("{:42} {ours:9.1} {unfused:9.1} {theirs:9.1} {:8.2} {ratio:8.2}", case.name, theirs / ours);
    Ok(())
}

fn main() -> Result<(), Error> {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    println!("best of {PAIRS}, µs; `times`: best of numpy by best of ours, `pairs`: median of pairs");
    println!("{:42} {:>9} {:>9} {:>9} {:>8} {:>8}", "kernel", "us", "unfused", "numpy", "times", "pairs");
    for case in cases().iter().filter(|case| case.name.contains(&wanted)) {
        measure(case)?;
    }
    if "gemm".contains(&wanted) || wanted.is_empty() {
        gemm::measure()?;
    }
    Ok(())
}
