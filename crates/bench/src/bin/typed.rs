//! What a small instruction costs through the typed tiles: `cargo run --release -p tessera-bench --bin typed`.

#![allow(clippy::print_stdout, reason = "it is a command")]

use std::time::Instant;
use tessera::prelude::*;

const CALLS: u32 = 1000;

/// Nanoseconds of one call: the median of many short runs.
fn nanoseconds(mut call: impl FnMut() -> Result<(), tessera::Error>) -> Result<f64, tessera::Error> {
    let mut times = Vec::new();
    for _ in 0..501 {
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        times.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn main() -> Result<(), tessera::Error> {
    let machine = Machine::new(Profile::Cpu);
    let mut a: Tile<loc::Vec, f32, 16, 16> = machine.tile()?;
    let mut b: Tile<loc::Vec, f32, 16, 16> = machine.tile()?;
    let mut c: Tile<loc::Vec, f32, 16, 16> = machine.tile()?;
    a.write(&[1.5; 256])?;
    println!("tmov f32 16x16   {:6.1} ns", nanoseconds(|| tmov(&mut b, &a).map(drop))?);
    println!("tadd f32 16x16   {:6.1} ns", nanoseconds(|| tadd(&mut c, &a, &b).map(drop))?);
    Ok(())
}
