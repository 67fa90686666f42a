//! Several blocks on several threads, compared with a model that runs one block after the other on copies.

use super::maker::{Maker, PART};
use super::support::{Program, f32s, rules};
use std::fmt::Write;
use tessera_isa::profile::Profile;

/// Elements of a row that an instruction moves, and of an array.
const ROW: usize = 16;
const LENGTH: usize = 16 * ROW;

/// A block's operation on a row of an array; every block begins with a row of its own numbers in %t.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Adds it to %t.
    Load(usize, usize),
    Store(usize, usize),
    Combine(usize, usize),
    /// Stores 0.5 to its first element.
    Scalar(usize, usize),
}

use Step::*;

/// Kernels on two arrays: how they use them, and the atomic function.
const KERNELS: [(&str, &[Step]); 9] = [
    ("reads", &[Load(0, 0), Load(0, 8), Store(1, 0)]),
    ("writes", &[Store(0, 0), Store(0, 8), Scalar(0, 3)]),
    ("reads, then writes", &[Load(0, 0), Store(0, 0), Load(1, 0), Store(1, 4)]),
    ("writes, then reads", &[Store(0, 0), Load(0, 8), Store(1, 0), Scalar(1, 17), Load(1, 12), Store(1, 1)]),
    ("combines", &[Combine(0, 0), Combine(0, 8), Combine(1, 0)]),
    ("combines and reads", &[Combine(0, 0), Load(0, 8), Combine(0, 4), Store(1, 0)]),
    ("combines and writes", &[Combine(0, 0), Store(0, 8), Combine(0, 12), Combine(1, 0)]),
    ("writes and combines", &[Scalar(0, 0), Combine(0, 0), Store(1, 0), Combine(1, 8)]),
    (
        "all of it",
        &[Load(0, 0), Combine(0, 4), Scalar(0, 6), Combine(0, 0), Load(0, 2), Store(0, 10), Load(1, 0), Store(1, 0)],
    ),
];

type Combined = (&'static str, fn(f32, f32) -> f32);
const FUNCS: [Combined; 3] = [("add", |a, b| a + b), ("max", f32::max), ("min", f32::min)];

fn text(steps: &[Step], func: &str, pitch: usize) -> String {
    let mut text = format!(
        "!t = !pto.tile_buf<vec, 1x{ROW}xf32>
!i = !pto.tile_buf<vec, 1x{ROW}xi32>
!v = !pto.tensor_view<?x?xf32>
func.func @kernel(%x: !pto.ptr<f32>, %n: !pto.ptr<i32>, %a0: !pto.ptr<f32>, %a1: !pto.ptr<f32>) {{
  %c1 = arith.constant 1 : index
  %row = arith.constant {ROW} : index
  %pitch = arith.constant {pitch} : index
  %half = arith.constant 0.5 : f32
  %b64 = pto.get_block_idx
  %b = arith.index_cast %b64 : i64 to index
  %t = pto.alloc_tile : !t
  %u = pto.alloc_tile : !t
  %i = pto.alloc_tile : !i
  %from = arith.muli %b, %row : index
  %mine = arith.muli %b, %pitch : index
  %px = pto.addptr %x, %from : !pto.ptr<f32> -> !pto.ptr<f32>
  %vx = pto.make_tensor_view %px, shape = [%c1, %row], strides = [%row, %c1] : !v
  %vn = pto.make_tensor_view %n, shape = [%c1, %row], strides = [%row, %c1] : !pto.tensor_view<?x?xi32>
  pto.tload ins(%vx : !v) outs(%t : !t)
  pto.tload ins(%vn : !pto.tensor_view<?x?xi32>) outs(%i : !i)\n"
    );
    for (k, step) in steps.iter().enumerate() {
        let (Load(array, at) | Store(array, at) | Combine(array, at) | Scalar(array, at)) = step;
        let _ = writeln!(
            text,
            "  %at{k} = arith.constant {at} : index
  %first{k} = arith.addi %mine, %at{k} : index
  %p{k} = pto.addptr %a{array}, %first{k} : !pto.ptr<f32> -> !pto.ptr<f32>
  %v{k} = pto.make_tensor_view %p{k}, shape = [%c1, %row], strides = [%row, %c1] : !v"
        );
        let _ = match step {
            Load(..) => writeln!(
                text,
                "  pto.tload ins(%v{k} : !v) outs(%u : !t)\n  pto.tadd ins(%t, %u : !t, !t) outs(%t : !t)"
            ),
            Store(..) => writeln!(text, "  pto.tstore ins(%t : !t) outs(%v{k} : !v)"),
            Combine(..) if func == "add" => {
                writeln!(
                    text,
                    "  pto.tstore ins(%t : !t) outs(%v{k} : !v) {{atomicType = #pto<atomic_type atomic_add>}}"
                )
            }
            Combine(..) => writeln!(
                text,
                "  pto.mscatter ins(%t, %i : !t, !i) outs(%v{k} : !v) {{scatterAtomicOp = #pto<scatter_atomic_op {func}>}}"
            ),
            Scalar(..) => writeln!(text, "  pto.store_scalar %half, %a{array}[%first{k}] : !pto.ptr<f32>, f32"),
        };
    }
    text + "  return\n}"
}

fn number(seed: usize) -> f32 {
    (seed * 7919 % 1013) as f32 / 16.0 - 30.0
}

/// Both arrays after all blocks: a block sees what was there at the start, and what it did; the highest block wins.
fn expected(steps: &[Step], combine: fn(f32, f32) -> f32, pitch: usize, blocks: usize) -> [Vec<f32>; 2] {
    let start = [0, 1].map(|array| (0..LENGTH).map(|k| number(array * 999 + k)).collect::<Vec<f32>>());
    let mut result = start.clone();
    for block in 0..blocks {
        let mut own = start.clone();
        let mut written = [[false; LENGTH]; 2];
        let mut tile: Vec<f32> = (0..ROW).map(|k| number(block * ROW + k + 5)).collect();
        for step in steps {
            let (Load(array, at) | Store(array, at) | Combine(array, at) | Scalar(array, at)) = *step;
            let first = block * pitch + at;
            let count = if matches!(step, Scalar(..)) { 1 } else { ROW };
            for (k, n) in (first..first + count).enumerate() {
                match step {
                    Load(..) => tile[k] += own[array][n],
                    Store(..) => (own[array][n], written[array][n]) = (tile[k], true),
                    Scalar(..) => (own[array][n], written[array][n]) = (0.5, true),
                    Combine(..) => {
                        own[array][n] = combine(own[array][n], tile[k]);
                        result[array][n] = combine(result[array][n], tile[k]);
                    }
                }
            }
        }
        for array in 0..2 {
            (0..LENGTH).filter(|n| written[array][*n]).for_each(|n| result[array][n] = own[array][n]);
        }
    }
    result
}

/// With 1 to 8 blocks, on 1 to 4 threads, apart, over each other in part, and all at one place.
#[test]
fn blocks_write_overlays_that_are_merged_in_order() {
    let bytes = |numbers: Vec<f32>| numbers.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    let indices: Vec<u8> = (0..ROW as i32).flat_map(i32::to_le_bytes).collect();
    let mut round = 0usize;
    for (what, steps) in KERNELS {
        let combines = steps.iter().any(|step| matches!(step, Combine(..)));
        for (func, combine) in FUNCS.into_iter().take(if combines { 3 } else { 1 }) {
            for pitch in [24, 6, 0] {
                round += 1;
                // Miri takes seconds for each.
                if cfg!(miri) && round % 5 != 1 {
                    continue;
                }
                let text = text(steps, func, pitch);
                let all: &[usize] = if cfg!(miri) { &[3] } else { &[1, 2, 3, 5, 8] };
                for (blocks, threads) in all.iter().flat_map(|b| [1, 2, 3, 4].map(|t| (*b, t))) {
                    if cfg!(miri) && threads != 2 {
                        continue;
                    }
                    let program = Program::new(&text, Profile::Cpu)
                        .buffer("x", &bytes((0..8 * ROW).map(|k| number(k + 5)).collect()))
                        .buffer("n", &indices)
                        .buffer("a0", &bytes((0..LENGTH).map(number).collect()))
                        .buffer("a1", &bytes((0..LENGTH).map(|k| number(999 + k)).collect()));
                    let ran = program.blocks(blocks as u32).threads(threads).fuses(round.is_multiple_of(2)).run();
                    assert!(!ran.failed(), "{:?}\n{text}", ran.diagnostics);
                    let found = ["a0", "a1"].map(|name| f32s(ran.buffer(name)));
                    let want = expected(steps, combine, pitch, blocks);
                    assert_eq!(
                        found, want,
                        "a kernel that {what} ({func}), {blocks} blocks {pitch} apart, {threads} threads"
                    );
                }
            }
        }
    }
}

/// Random programs; a run that is recorded copies all arrays at the start of every block.
#[test]
fn random_programs_do_not_depend_on_threads() {
    let numbers = |n: usize| (0..n).flat_map(|i| ((i * 37 % 1009) as f32).to_le_bytes()).collect::<Vec<u8>>();
    let (mut failed, mut overlapping) = (0, 0);
    for seed in 0..600u64 {
        let (text, ways) = Maker::program(seed);
        let blocks = 2 + seed as u32 % 5;
        // Now and then the array ends before the last block's part.
        let len = if seed % 16 == 7 { 3 * PART } else { 12 * PART };
        let table: Vec<u8> = (0..8).flat_map(|n: i32| (256 * (n % 2)).to_le_bytes()).collect();
        let run = |threads: usize, record: bool| {
            let program = Program::new(&text, Profile::Cpu)
                .buffer("w", &numbers(len))
                .buffer("x", &numbers(len))
                .buffer("n", &table)
                .tracked(seed % 4 != 3)
                .fuses(seed % 3 != 2);
            program.blocks(blocks).threads(threads).record(record).run()
        };
        let expected = run(1, true);
        failed += usize::from(expected.failed());
        overlapping += usize::from(rules(&expected.diagnostics).contains(&"block-overlap"));
        for threads in 1..=4 {
            let found = run(threads, false);
            let what = format!("seed {seed}, {blocks} blocks on {threads} threads, {ways:?}\n{text}");
            assert_eq!(format!("{:?}", found.diagnostics), format!("{:?}", expected.diagnostics), "{what}");
            let bytes =
                |outcome: &tessera_interp::Outcome| outcome.buffers.iter().map(|b| b.bytes.clone()).collect::<Vec<_>>();
            assert_eq!(bytes(&found), bytes(&expected), "{what}");
        }
    }
    assert!(failed >= 10 && overlapping > 100, "{failed} {overlapping}");
}
