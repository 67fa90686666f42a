//! How far exp, log, rsqrt and pow are from correctly rounded: `cargo run --release -p tessera-bench --bin ulp`.
//!
//! The first three of every f32, pow of 10^8 pairs, against the platform's functions of binary64, whose own error is
//! 2^-29 of what counts here. Fails where a special value is not exact or a result is more than 1 ulp off
//! (elementwise.md 3).

#![allow(clippy::print_stdout, reason = "it is a command")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use tessera_isa::sem::math;

/// Inputs that a thread takes at a time.
const CHUNK: u64 = 1 << 20;
const PAIRS: u64 = 100_000_000;

fn main() -> ExitCode {
    let every = 1 << 32;
    let tallies = [
        measure("exp", every, |i| (math::exp(f32::from_bits(i as u32)), value(i).exp())),
        measure("log", every, |i| (math::log(f32::from_bits(i as u32)), value(i).ln())),
        measure("rsqrt", every, |i| (math::rsqrt(f32::from_bits(i as u32)), 1.0 / value(i).sqrt())),
        measure("pow", PAIRS, |i| {
            let (x, y) = pair(i);
            (math::pow(x, y), f64::from(x).powf(f64::from(y)))
        }),
    ];
    if tallies.iter().all(|tally| tally.wrong == 0) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn value(bits: u64) -> f64 {
    f64::from(f32::from_bits(bits as u32))
}

/// A pair that looks random: any bits, small integer exponents, or a result between 2^-160 and 2^130.
fn pair(i: u64) -> (f32, f32) {
    let mut bits = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    let x = f32::from_bits(bits as u32);
    match i % 8 {
        0 => (x, f32::from_bits((bits >> 32) as u32)),
        1 => (x, (bits >> 58) as f32 - 32.0),
        _ => {
            let exponent = (bits >> 32) as f64 / 4_294_967_296.0 * 290.0 - 160.0;
            (x.abs(), (exponent / f64::from(x.abs()).log2()) as f32)
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Tally {
    /// The largest error among results that are not correctly rounded, in units of the last place.
    largest: f64,
    not_correctly_rounded: u64,
    wrong: u64,
    /// The first input that gave a wrong result.
    first_wrong: Option<u64>,
}

impl Tally {
    fn count(&mut self, input: u64, got: f32, exact: f64) {
        let rounded = if exact.is_nan() { f32::from_bits(0x7FC0_0000) } else { exact as f32 };
        if got.to_bits() == rounded.to_bits() {
            return;
        }
        let is_special = !exact.is_finite() || exact == 0.0 || exact == 1.0;
        let same_sign = got.is_sign_negative() == rounded.is_sign_negative();
        if is_special || !same_sign || got.to_bits().abs_diff(rounded.to_bits()) > 1 {
            self.wrong += 1;
            self.first_wrong = self.first_wrong.or(Some(input));
        }
        self.not_correctly_rounded += 1;
        // The distance of f32's values at the exact one; its exponent, or the one of the subnormals.
        let exponent = (exact.abs().to_bits() >> 52).max(1023 - 126) - 23;
        self.largest = self.largest.max((f64::from(got) - exact).abs() / f64::from_bits(exponent << 52));
    }

    fn join(self, other: Tally) -> Tally {
        Tally {
            largest: self.largest.max(other.largest),
            not_correctly_rounded: self.not_correctly_rounded + other.not_correctly_rounded,
            wrong: self.wrong + other.wrong,
            first_wrong: self.first_wrong.or(other.first_wrong),
        }
    }
}

/// Counts what a function, given its result and the exact one for an input, does over so many inputs; prints a line.
fn measure(name: &str, inputs: u64, function: impl Fn(u64) -> (f32, f64) + Sync) -> Tally {
    let next = AtomicU64::new(0);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            if start >= inputs {
                return tally;
            }
            for input in start..inputs.min(start + CHUNK) {
                let (got, exact) = function(input);
                tally.count(input, got, exact);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let tally = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        // A thread that panicked has counted nothing right.
        let lost = Tally { wrong: 1, ..Tally::default() };
        running.into_iter().map(|thread| thread.join().unwrap_or(lost)).fold(Tally::default(), Tally::join)
    });
    let Tally { largest, not_correctly_rounded, wrong, first_wrong } = tally;
    println!(
        "{name}: {inputs} inputs, largest error {:.9} ulp, {not_correctly_rounded} not correctly rounded, {wrong} wrong",
        largest.max(0.5)
    );
    if let Some(input) = first_wrong {
        println!("{name}: the first wrong one is input {input:#x}");
    }
    tally
}
