//! Whole programs: what a turn of a loop costs, what a second core brings, how fast text becomes a plan.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tessera::program::{Bindings, Input, Kernel, Program};
use tessera::{Elem, Error, Result};

/// A measurement of whole programs.
#[derive(Clone, Copy, Debug)]
pub struct Programs {
    /// Its name in reports.
    pub name: &'static str,
    /// The meaning of the number.
    pub unit: &'static str,
    pub(super) measure: fn(Duration, bool) -> Result<f64>,
}

impl Programs {
    /// Measures for about this long; instructions that follow each other go through the data together where `fuses`.
    pub fn measure(&self, budget: Duration, fuses: bool) -> Result<f64> {
        (self.measure)(budget, fuses)
    }
}

/// The shortest of at least three times, and of as many as the budget allows: what disturbs a run only makes it longer.
pub(super) fn shortest(budget: Duration, time: impl Fn() -> Result<f64>) -> Result<f64> {
    let start = Instant::now();
    let mut best = time()?.min(time()?).min(time()?);
    while start.elapsed() < budget {
        best = best.min(time()?);
    }
    Ok(best)
}

/// All of them.
pub static PROGRAMS: &[Programs] = &[
    Programs {
        name: "loop 1000000 x tmov f32 16x16",
        unit: "ns",
        measure: |budget, _| shortest(budget, || turn(1_000_000)),
    },
    Programs {
        name: "chain tadd tmuls trelu tadd f32 128x128",
        unit: "speed-up",
        measure: |budget, fuses| speed_up(budget, fuses, 128, &IN_PLACE),
    },
    Programs {
        name: "chain trowmax trowexpandsub texp trowsum f32 128x128",
        unit: "speed-up",
        measure: |budget, fuses| speed_up(budget, fuses, 128, &SOFTMAX),
    },
    Programs {
        name: "chain tadd tmuls trelu tadd f32 256x256",
        unit: "speed-up",
        measure: |budget, fuses| speed_up(budget, fuses, 256, &IN_PLACE),
    },
    Programs { name: "blocks 2", unit: "speed-up", measure: |_, _| blocks() },
    Programs { name: "parse 10000", unit: "ms", measure: |budget, _| shortest(budget, || parse(10_000)) },
    Programs { name: "parse 100000", unit: "ms", measure: |budget, _| shortest(budget, || parse(100_000)) },
    Programs { name: "check 10000", unit: "ms", measure: |budget, _| shortest(budget, || check(10_000)) },
    Programs { name: "plan 10000", unit: "ms", measure: |budget, _| shortest(budget, || plan(10_000)) },
];

pub(super) fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

/// A tile loaded, and an instruction on it again and again.
fn repeated(count: u64, rows: u64, instruction: &str) -> String {
    format!(
        "func.func @kernel(%p: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {count} : index
  %rows = arith.constant {rows} : index
  %view = pto.make_tensor_view %p, shape = [%rows, %rows], strides = [%rows, %c1] : !pto.tensor_view<?x?xf32>
  %a = pto.alloc_tile : !pto.tile_buf<vec, {rows}x{rows}xf32>
  %b = pto.alloc_tile : !pto.tile_buf<vec, {rows}x{rows}xf32>
  pto.tload ins(%view : !pto.tensor_view<?x?xf32>) outs(%a : !pto.tile_buf<vec, {rows}x{rows}xf32>)
  scf.for %i = %c0 to %n step %c1 {{
    pto.{instruction} ins(%a : !pto.tile_buf<vec, {rows}x{rows}xf32>) outs(%b : !pto.tile_buf<vec, {rows}x{rows}xf32>)
  }}
  return
}}
"
    )
}

/// Seconds of a run of a kernel with one square of f32.
fn run(kernel: &Kernel, rows: u64, blocks: u32, fuses: bool) -> Result<f64> {
    let input = kernel.find("p").map(|value| {
        let bytes = vec![1; (rows * rows * 4) as usize];
        let (elem, dims) = (Elem::F32, vec![rows * rows]);
        (value, Input::Buffer { bytes, elem, dims })
    });
    let bindings = Bindings { inputs: input.into_iter().collect(), blocks, fuses, ..Bindings::default() };
    let (time, outcome) = seconds(|| kernel.execute(bindings));
    match outcome.diagnostics.into_iter().next() {
        Some(found) => Err(Error::from(Box::new(found))),
        None => Ok(time),
    }
}

/// Nanoseconds of one turn of a loop.
fn turn(count: u64) -> Result<f64> {
    let program = Program::parse(&repeated(count, 16, "tmov"))?;
    Ok(run(&program.entry()?, 16, 1, true)? * 1e9 / count as f64)
}

/// Instructions on tiles of a type `!t`, with a value for each row in `%r`: what a step of a network's layer is.
const IN_PLACE: [&str; 4] = [
    "pto.tadd ins(%x, %y : !t, !t) outs(%x : !t)",
    "pto.tmuls ins(%x, %half : !t, f32) outs(%x : !t)",
    "pto.trelu ins(%x : !t) outs(%x : !t)",
    "pto.tadd ins(%x, %z : !t, !t) outs(%x : !t)",
];

/// The most of a softmax.
const SOFTMAX: [&str; 4] = [
    "pto.trowmax ins(%y, %z : !t, !t) outs(%r : !r)",
    "pto.trowexpandsub ins(%y, %r : !t, !r) outs(%x : !t) {src1Col = 1}",
    "pto.texp ins(%x : !t) outs(%x : !t)",
    "pto.trowsum ins(%x, %z : !t, !t) outs(%r : !r)",
];

/// Rounds of some instructions on squares.
fn chain(rounds: u64, rows: u64, instructions: &[&str]) -> String {
    let body = instructions.join("\n      ");
    format!(
        "!t = !pto.tile_buf<vec, {rows}x{rows}xf32>
!r = !pto.tile_buf<vec, {rows}x1xf32, blayout=col_major>
module {{
  func.func @kernel(%p: !pto.ptr<f32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant {rounds} : index
    %rows = arith.constant {rows} : index
    %half = arith.constant 0.5 : f32
    %view = pto.make_tensor_view %p, shape = [%rows, %rows], strides = [%rows, %c1] : !pto.tensor_view<?x?xf32>
    %x = pto.alloc_tile : !t
    %y = pto.alloc_tile : !t
    %z = pto.alloc_tile : !t
    %r = pto.alloc_tile : !r
    pto.tload ins(%view : !pto.tensor_view<?x?xf32>) outs(%x : !t)
    pto.tload ins(%view : !pto.tensor_view<?x?xf32>) outs(%y : !t)
    pto.tload ins(%view : !pto.tensor_view<?x?xf32>) outs(%z : !t)
    scf.for %i = %c0 to %n step %c1 {{
      {body}
    }}
    pto.tstore ins(%x : !t) outs(%view : !pto.tensor_view<?x?xf32>)
    return
  }}
}}
"
    )
}

/// The speed-up of instructions that go through the data together: the median of pairs of runs. A short run contains
/// everything before the first round as well, so it is subtracted.
fn speed_up(budget: Duration, fuses: bool, rows: u64, instructions: &[&str]) -> Result<f64> {
    let rounds = (1 << 24) / (rows * rows);
    let parse = |rounds| Program::parse(&chain(rounds, rows, instructions));
    let (few, many) = (parse(rounds / 8)?, parse(rounds)?);
    let (few, many) = (few.entry()?, many.entry()?);
    let start = Instant::now();
    let mut ratios = Vec::new();
    let mut short = [f64::MAX; 2];
    while ratios.len() < 5 || start.elapsed() < budget {
        let mut long = [0.0; 2];
        for (n, fuses) in [false, fuses].into_iter().enumerate() {
            short[n] = short[n].min(run(&few, rows, 1, fuses)?);
            long[n] = run(&many, rows, 1, fuses)? - short[n];
        }
        ratios.push(long[0] / long[1].max(f64::MIN_POSITIVE));
    }
    Ok(super::median(&mut ratios))
}

/// The speed-up of two blocks on two cores over one after the other: the best of five of either.
fn blocks() -> Result<f64> {
    let time =
        |count: u64, blocks: u32| run(&Program::parse(&repeated(count, 64, "ttrans"))?.entry()?, 64, blocks, true);
    // A block that takes at least a fifth of a second, and a little more.
    let sample = 100_000;
    let count = (sample as f64 * 0.25 / time(sample, 1)?).ceil() as u64;
    let mut best = [f64::MAX; 2];
    for _ in 0..5 {
        for (best, blocks) in best.iter_mut().zip([1, 2]) {
            *best = best.min(time(count, blocks)?);
        }
    }
    let [one, two] = best;
    Ok(2.0 * one / two)
}

/// Milliseconds from text to a program whose types agree, again and again as the language server does it.
fn parse(count: usize) -> Result<f64> {
    crate::memory::keep();
    let text: Arc<str> = instructions(count).into();
    let (time, program) = seconds(|| Program::parse_shared(text));
    program.map(|_| time * 1e3)
}

/// Milliseconds of all rules.
fn check(count: usize) -> Result<f64> {
    let program = Program::parse(&instructions(count))?;
    let (time, found) = seconds(|| tessera_check::check_module(program.module(), program.profile()));
    match found.into_iter().find(|d| d.is_error()) {
        Some(found) => Err(Error::from(Box::new(found))),
        None => Ok(time * 1e3),
    }
}

/// Milliseconds of placement and order.
fn plan(count: usize) -> Result<f64> {
    let program = Program::parse(&instructions(count))?;
    let kernel = program.entry()?;
    let (time, placement) = seconds(|| kernel.plan(&[]));
    placement?;
    Ok(time * 1e3)
}

/// A function with this many layout instructions: ten mnemonics, all three forms, short and long spellings of types.
fn instructions(count: usize) -> String {
    const SHORT: &str = "!pto.tile_buf<vec, 64x64xf16>";
    const LONG: &str = "!pto.tile_buf<loc=vec, dtype=f16, rows=64, cols=64, v_row=64, v_col=64, blayout=row_major, \
                        slayout=none_box, fractal=512, pad=0>";
    const MAT: &str = "!pto.tile<loc=mat, f16, 64, 64>";
    const WIDE: &str = "!pto.tile_buf<vec, 64x128xf16>";
    const BYTES: &str = "!pto.tile_buf<vec, 64x64xi8>";
    const PADDED: &str = "!pto.tile_buf<vec, 64x64xf16, pad=zero>";
    let mut text = format!(
        "func.func @kernel() {{\n  %c0 = arith.constant 0 : index\n  %mat = pto.alloc_tile : {MAT}\n  \
         %wide = pto.alloc_tile : {WIDE}\n  %bytes = pto.alloc_tile : {BYTES}\n  \
         %padded = pto.alloc_tile : {PADDED}\n  %v0 = pto.alloc_tile : {LONG}\n"
    );
    // The last value of the usual type, which the next instruction reads.
    let mut last = 0;
    for k in 1..=count {
        let source = format!("%v{last}");
        let mut result = |line: String| {
            last = k;
            line
        };
        let line = match k % 12 {
            0 => result(format!("%v{k} = pto.ttrans {source} : {LONG} -> {SHORT}")),
            1 => result(format!("%v{k} = pto.tmov {source} : ({SHORT}) -> {SHORT}")),
            2 => format!("pto.tmov ins({source} : {LONG}) outs(%mat : {MAT})"),
            3 => result(format!("%v{k} = pto.textract %mat, %c0, %c0 : ({MAT}, index, index) -> {SHORT}")),
            4 => format!("pto.tinsert ins({source}, %c0, %c0 : {SHORT}, index, index) outs(%wide : {WIDE})"),
            5 => result(format!("%v{k}, %w{k} = tinterleave {source}, {source} : {SHORT}")),
            6 => format!("pto.tconcat ins({source}, {source} : {LONG}, {LONG}) outs(%wide : {WIDE})"),
            7 => format!("pto.tpack ins({source} : {SHORT}) outs(%bytes : {BYTES})"),
            8 => format!("pto.tfillpad ins({source} : {LONG}) outs(%padded : {PADDED})"),
            9 => result(format!("%v{k} = textract %wide[%c0, %c0] : {WIDE} -> {SHORT}")),
            10 => result(format!("%v{k} = pto.treshape {source} : {SHORT} -> {SHORT}")),
            _ => result(format!("%w{k}, %v{k} = tdeinterleave {source}, {source} : {SHORT}")),
        };
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("  return\n}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_legal_and_run() {
        let program = Program::parse(&instructions(48)).unwrap_or_else(|e| panic!("{e}"));
        let errors: Vec<_> = program.check().into_iter().filter(|d| d.is_error()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert!(plan(48).is_ok_and(|ms| ms > 0.0) && check(48).is_ok_and(|ms| ms > 0.0));
        assert!(turn(10).is_ok_and(|ns| ns > 0.0));
        for instructions in [&IN_PLACE, &SOFTMAX] {
            assert!(speed_up(Duration::ZERO, true, 64, instructions).is_ok_and(|times| times > 0.0));
        }
    }
}
