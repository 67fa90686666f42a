//! What `equiv`, `opt` and `trace` say about programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod arithmetic;
mod holds;
mod misses;
mod random;
mod shorter;
mod undecided;
mod ways;

use tessera::equiv::{Answer, Different, Equal, Given, equiv};
use tessera::program::Program;
use tessera_isa::profile::Profile;

/// Compares two texts, each on a profile.
pub fn compare(a: &str, on_a: Profile, b: &str, on_b: Profile, given: &Given) -> Answer {
    let [a, b] = [(a, on_a), (b, on_b)].map(|(text, profile)| {
        let program = Program::read(text, Some(profile));
        let errors: Vec<_> = program.check().into_iter().filter(|d| d.is_error()).collect();
        assert!(errors.is_empty(), "{text}\n{errors:?}");
        program
    });
    equiv(&a.entry().unwrap(), &b.entry().unwrap(), given, &[])
}

/// Compares two texts that must be equal on cpu.
pub fn equal(a: &str, b: &str) -> Equal {
    match compare(a, Profile::Cpu, b, Profile::Cpu, &Given::default()) {
        Answer::Equal(equal) => equal,
        other => panic!("{a}\n{b}\n{other:?}"),
    }
}

/// Compares two texts that must differ on cpu.
pub fn different(a: &str, b: &str) -> Different {
    match compare(a, Profile::Cpu, b, Profile::Cpu, &Given::default()) {
        Answer::Different(different) => different,
        other => panic!("{a}\n{b}\n{other:?}"),
    }
}

/// A listing of lines in a short hand: `T` is a 16x16 tile of f32.
pub fn listing(lines: &[&str]) -> String {
    lines.iter().map(|l| l.replace('T', "!pto.tile<16x16xf32>") + "\n").collect()
}

/// A kernel that loads `x` into `%a`, does something, and stores `%b` to `y`; both tiles are rows x cols of f32.
pub fn kernel(rows: u64, cols: u64, body: &str) -> String {
    format!(
        "func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %rows = arith.constant {rows} : index
  %cols = arith.constant {cols} : index
  %v = pto.make_tensor_view %x, shape = [%rows, %cols], strides = [%cols, %c1] : !pto.tensor_view<?x?xf32>
  %w = pto.make_tensor_view %y, shape = [%rows, %cols], strides = [%cols, %c1] : !pto.tensor_view<?x?xf32>
  %a = pto.alloc_tile : !pto.tile<{rows}x{cols}xf32>
  %b = pto.alloc_tile : !pto.tile<{rows}x{cols}xf32>
  pto.tload ins(%v : !pto.tensor_view<?x?xf32>) outs(%a : !pto.tile<{rows}x{cols}xf32>)
{body}
  pto.tstore ins(%b : !pto.tile<{rows}x{cols}xf32>) outs(%w : !pto.tensor_view<?x?xf32>)
  return
}}
"
    )
}
