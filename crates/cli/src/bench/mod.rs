//! The benchmark: instructions beside a yardstick, and whole programs.
//!
//! An instruction that moves data can at best be as fast as a memcpy that reads and writes the same number of bytes, one
//! that adds as a plain loop that does. So each [`Case`] is measured side by side with such a [`Yardstick`], in the same
//! moments and over as many bytes of the second-level cache, and the result is the ratio of the two. The whole instruction is measured, as programs issue it: operands
//! looked up, lowered nests found, bytes moved and, where undefined elements are followed, their marks too.
//!
//! ```
//! use tessera_cli::bench::{MOVES, measure};
//! use std::time::Duration;
//!
//! let measured = measure(&MOVES[0], Duration::from_millis(5))?;
//! assert!(measured.rate > 0.0 && measured.ratio > 0.0 && measured.ratio_tracked > 0.0);
//! # Ok::<(), tessera::Error>(())
//! ```

mod cases;
mod irregular;
mod micro;
mod programs;
mod ranks;
mod ring;
mod yardstick;

pub use cases::{COMPUTES, Case, MOVES};
pub use programs::{PROGRAMS, Programs};
pub use ring::Instructions;
pub use tessera_yardstick::multiply_adds;
pub use yardstick::{Laps, Yardstick};

use std::time::{Duration, Instant};
use tessera::Result;

/// All measurements of whole programs.
pub fn programs() -> impl Iterator<Item = &'static Programs> {
    PROGRAMS.iter().chain(micro::MICRO).chain(ranks::RANKED)
}

/// All cases.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    MOVES.iter().chain(COMPUTES)
}

/// The work of an instruction, in units that its baseline has too.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Bytes that the formula reads, plus bytes that it writes.
    Bytes(usize),
    MultiplyAdds(usize),
}

impl Work {
    /// The amount of work.
    pub fn amount(self) -> usize {
        match self {
            Work::Bytes(n) | Work::MultiplyAdds(n) => n,
        }
    }
}

/// The result of a case.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Work per second, in units of 10⁹, by the instruction; undefined elements are not followed.
    pub rate: f64,
    /// The same of the yardstick.
    pub yardstick_rate: f64,
    /// The speed of the instruction relative to its baseline: the median of all pairs of neighbouring measurements.
    pub ratio: f64,
    /// The same with undefined elements followed, which is how programs run unless told otherwise.
    pub ratio_tracked: f64,
}

/// The duration of one measurement; a shorter one would measure the clock, a longer one the neighbours.
const SAMPLE: Duration = Duration::from_micros(40);

/// Measures a case for about this long.
pub fn measure(case: &Case, budget: Duration) -> Result<Measured> {
    let [plain, copied, ratio] = compare(case, false, budget / 2)?;
    let [_, _, ratio_tracked] = compare(case, true, budget / 2)?;
    let rate = |seconds: f64| case.work.amount() as f64 / seconds / 1e9;
    Ok(Measured { rate: rate(plain), yardstick_rate: rate(copied), ratio, ratio_tracked })
}

/// Seconds of the instruction and of its yardstick, and how much longer the yardstick takes; medians.
fn compare(case: &Case, tracked: bool, budget: Duration) -> Result<[f64; 3]> {
    let mut instructions = Instructions::new(case, tracked)?;
    let mut yardstick = Laps::new(case, false)?;
    let first = Instant::now();
    yardstick.lap()?;
    let laps = (SAMPLE.as_secs_f64() / first.elapsed().as_secs_f64().max(1e-7)).ceil() as usize;
    let seconds = |start: Instant, turns: usize| start.elapsed().as_secs_f64() / (laps * turns) as f64;
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let end = Instant::now() + budget;
    while Instant::now() < end || ratios.len() < 9 {
        // A lap that does not count brings the tiles back.
        instructions.lap()?;
        let start = Instant::now();
        for _ in 0..laps {
            instructions.lap()?;
        }
        let our = seconds(start, instructions.turns());
        yardstick.lap()?;
        let start = Instant::now();
        for _ in 0..laps {
            yardstick.lap()?;
        }
        let their = seconds(start, yardstick.turns());
        ours.push(our);
        theirs.push(their);
        ratios.push(their / our);
    }
    Ok([median(&mut ours), median(&mut theirs), median(&mut ratios)])
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut []), 0.0);
    }
}
