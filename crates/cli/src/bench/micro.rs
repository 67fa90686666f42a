//! Micro instructions: loops in a vecscope beside a memcpy of as many bytes, in the same run.

use super::programs::{Programs, seconds, shortest};
use std::hint::black_box;
use std::time::Duration;
use tessera::program::{Bindings, Input, Program};
use tessera::{Elem, Error, Result};

/// Bytes that a round of a loop goes through.
const BYTES: usize = 64 << 10;
const OF_MEMCPY: &str = "of memcpy";

/// Loads 64 lanes of `%x`, computes, and stores.
const ADD: &str = "
        %v = pto.vlds %x[%i] : !p -> !v
        %w = pto.vadd %v, %k, %m : !v, !v, !m -> !v
        pto.vsts %w, %y[%i], %m : !v, !p, !m";
const CONVERT: &str = "
        %v = pto.vlds %x[%i] : !p -> !v
        %w = pto.vcvt %v, %m {rnd = \"R\", sat = \"SAT\", part = \"EVEN\"} : !v, !m -> !h
        pto.vsts %w, %z[%j], %mh : !h, !q, !pto.mask<b16>";
const SUM: &str = "
        %v = pto.vlds %x[%i] : !p -> !v
        %w = pto.vcadd %v, %m : !v, !m -> !v
        pto.vsts %w, %y[%i], %first : !v, !p, !m";
const REGISTERS: &str = "
        %v = pto.vadd %k, %k, %m : !v, !v, !m -> !v
        %w = pto.vadd %k, %k, %m : !v, !v, !m -> !v";

/// The measurements.
pub static MICRO: &[Programs] = &[
    Programs { name: "micro vlds vadd vsts f32", unit: OF_MEMCPY, measure: |budget, _| of_memcpy(budget, &scope(ADD)) },
    Programs {
        name: "micro vlds vcvt vsts f32 f16",
        unit: OF_MEMCPY,
        measure: |budget, _| of_memcpy(budget, &scope(CONVERT)),
    },
    Programs {
        name: "micro vlds vcadd vsts f32",
        unit: OF_MEMCPY,
        measure: |budget, _| of_memcpy(budget, &scope(SUM)),
    },
    Programs { name: "micro mte_gm_ub", unit: OF_MEMCPY, measure: |budget, _| of_memcpy(budget, TRANSFER) },
    Programs { name: "micro dispatch", unit: "ns", measure: |budget, _| shortest(budget, dispatch) },
];

/// 64 KB from global memory, `%n` times.
const TRANSFER: &str =
    "pto.mte_gm_ub %p, %x, %zero, %len nburst(%two, %len, %len) : !pto.ptr<f32, gm>, !p, i64, i64, i64, i64, i64";

/// A vecscope with a loop over 64 KB.
fn scope(body: &str) -> String {
    format!(
        "pto.vecscope {{
      %m = pto.pset_b32 \"PAT_ALL\" : !m
      %mh = pto.pset_b16 \"PAT_ALL\" : !pto.mask<b16>
      %first = pto.pset_b32 \"PAT_VL1\" : !m
      %k = pto.vbr %half : f32 -> !v
      scf.for %i = %c0 to %elements step %c64 {{
        %j = arith.addi %i, %i : index{body}
      }}
    }}"
    )
}

/// Rounds of a body.
fn text(rounds: u64, body: &str) -> String {
    let text = format!(
        "module attributes {{pto.target_arch = \"a5\", pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  func.func @kernel(%p: !pto.ptr<f32, gm>) attributes {{pto.aicore}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %elements = arith.constant {} : index
    %n = arith.constant {rounds} : index
    %zero = arith.constant 0 : i64
    %two = arith.constant 2 : i64
    %len = arith.constant {} : i64
    %at = arith.constant {BYTES} : i64
    %half = arith.constant 0.5 : f32
    %x = pto.castptr %zero : i64 -> !p
    %y = pto.castptr %at : i64 -> !p
    %z = pto.castptr %at : i64 -> !q
    {TRANSFER}
    scf.for %round = %c0 to %n step %c1 {{
      {body}
    }}
    return
  }}
}}
",
        BYTES / 4,
        BYTES / 2
    );
    let types = [
        ("!p", "!pto.ptr<f32, ub>"),
        ("!q", "!pto.ptr<f16, ub>"),
        ("!v", "!pto.vreg<64xf32>"),
        ("!h", "!pto.vreg<128xf16>"),
        ("!m", "!pto.mask<b32>"),
    ];
    let aliases: String = types.iter().map(|(name, ty)| format!("{name} = {ty}\n")).collect();
    aliases + &text
}

/// Seconds of a run.
fn run(text: &str) -> Result<f64> {
    let kernel = Program::parse(text)?.entry()?;
    let bytes = || std::iter::repeat_n(1.5f32.to_le_bytes(), BYTES / 4).flatten().collect();
    let input = |value| (value, Input::Buffer { bytes: bytes(), elem: Elem::F32, dims: vec![BYTES as u64 / 4] });
    let bindings = Bindings { inputs: kernel.find("p").map(input).into_iter().collect(), ..Bindings::default() };
    let (time, outcome) = seconds(|| kernel.execute(bindings));
    match outcome.diagnostics.into_iter().find(|d| d.is_error()) {
        Some(found) => Err(Error::from(Box::new(found))),
        None => Ok(time),
    }
}

/// Seconds of a round: what comes before the first one is subtracted.
fn round(body: &str, rounds: u64) -> Result<f64> {
    let (few, many) = (run(&text(rounds / 8, body))?, run(&text(rounds, body))?);
    Ok((many - few).max(f64::MIN_POSITIVE) / (rounds - rounds / 8) as f64)
}

/// Seconds of a memcpy of the bytes of a round.
fn memcpy() -> f64 {
    const ROUNDS: u32 = 2000;
    let (from, mut to) = (vec![1u8; BYTES], vec![0u8; BYTES]);
    let (time, ()) = seconds(|| (0..ROUNDS).for_each(|_| black_box(&mut to).copy_from_slice(black_box(&from))));
    time / f64::from(ROUNDS)
}

/// The speed as a part of memcpy's: the median of pairs.
fn of_memcpy(budget: Duration, body: &str) -> Result<f64> {
    let start = std::time::Instant::now();
    let mut ratios = Vec::new();
    while ratios.len() < 5 || start.elapsed() < budget {
        let before = memcpy();
        let own = round(body, 400)?;
        ratios.push((before + memcpy()) / 2.0 / own);
    }
    Ok(super::median(&mut ratios))
}

/// Nanoseconds of an instruction on registers, with its share of the loop.
fn dispatch() -> Result<f64> {
    let instructions = 2 * BYTES / 256;
    Ok(round(&scope(REGISTERS), 400)? * 1e9 / instructions as f64)
}
