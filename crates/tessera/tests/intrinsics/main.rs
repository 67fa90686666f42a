//! Every instruction and form through the typed intrinsics, against plain loops; rules per profile; hostile values.

mod compute;
mod fill;
mod fixpipe;
mod global;
mod hostile;
mod moves;
mod profiles;
mod rearrange;
mod run_time;
mod transfers;
mod vector;
mod views;

#[path = "../../examples/first_steps.rs"]
mod first_steps;

use tessera::prelude::*;
use tessera::{Error, Result};

/// Elements that differ from their neighbours, negative and large ones among them.
fn ramp<T: Element>(n: usize) -> Vec<T> {
    (0..n as u64).map(|i| T::from_element_bits(i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7)).collect()
}

/// A tile whose valid region is filled with a ramp, and the ramp.
fn filled<L, T, const R: usize, const C: usize, Lay>(m: &Machine) -> Result<(Tile<L, T, R, C, Lay>, Vec<T>)>
where
    L: Location,
    T: Element,
    Lay: LayoutMarker,
{
    let mut tile = m.tile()?;
    let values = ramp(R * C);
    tile.write(&values)?;
    Ok((tile, values))
}

/// The bits of elements, so that NaNs compare.
fn bits<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|v| v.to_element_bits()).collect()
}

/// A 64-bit quantization parameter (fixpipe.md 3).
fn param(scale: f32, offset: u64, signed: bool) -> u64 {
    u64::from(scale.to_bits()) | offset << 37 | u64::from(signed) << 46
}

/// The rule of the error, if it is one.
fn rule<T>(result: Result<T>) -> &'static str {
    result.err().map_or("legal", |e: Error| e.rule())
}

#[test]
fn the_example_runs() -> Result<()> {
    first_steps::main()
}
