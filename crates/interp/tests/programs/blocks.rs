//! Blocks that share arrays come to the same as blocks that have copies. A run that is recorded is such a one.

use super::support::{Program, Ran, f32s, rules};
use tessera_isa::codec::Number;
use tessera_isa::profile::Profile;

/// Every block adds what it loads from %x to itself and stores it to %y and %z, 16 x 16 elements in rows `pitch` apart, `step`
/// after the block before, `rounds` times, each `stride` further on. %w it changes in place, and it looks at the next block's
/// part; in %y it sets an element, too, and to %s it adds.
const KERNEL: &str = "func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>, %w: !pto.ptr<f32>,
                                        %s: !pto.ptr<f32>, %step: index, %pitch: index, %rounds: index, %stride: index,
                                        %single: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c256 = arith.constant 256 : index
    %b64 = pto.get_block_idx
    %b = arith.index_cast %b64 : i64 to index
    %from = arith.muli %b, %c256 : index
    %px = pto.addptr %x, %from : !pto.ptr<f32> -> !pto.ptr<f32>
    %vx = pto.make_tensor_view %px, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %vs = pto.make_tensor_view %s, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %a = pto.alloc_tile : !pto.tile<16x16xf32>
    %d = pto.alloc_tile : !pto.tile<16x16xf32>
    %e = pto.alloc_tile : !pto.tile<16x16xf32>
    %mine = arith.muli %b, %step : index
    %w1 = pto.addptr %w, %from : !pto.ptr<f32> -> !pto.ptr<f32>
    %w2 = pto.addptr %w1, %c256 : !pto.ptr<f32> -> !pto.ptr<f32>
    %own = pto.make_tensor_view %w1, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %next = pto.make_tensor_view %w2, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    scf.for %i = %c0 to %rounds step %c1 {
        pto.tload ins(%vx : !pto.tensor_view<?x?xf32>) outs(%a : !pto.tile<16x16xf32>)
        pto.tload ins(%own : !pto.tensor_view<?x?xf32>) outs(%d : !pto.tile<16x16xf32>)
        pto.tload ins(%next : !pto.tensor_view<?x?xf32>) outs(%e : !pto.tile<16x16xf32>)
        pto.tadd ins(%a, %d : !pto.tile<16x16xf32>, !pto.tile<16x16xf32>) outs(%d : !pto.tile<16x16xf32>)
        pto.tadd ins(%a, %e : !pto.tile<16x16xf32>, !pto.tile<16x16xf32>) outs(%e : !pto.tile<16x16xf32>)
        pto.tstore ins(%d : !pto.tile<16x16xf32>) outs(%own : !pto.tensor_view<?x?xf32>)
        %on = arith.muli %i, %stride : index
        %at = arith.addi %mine, %on : index
        %py = pto.addptr %y, %at : !pto.ptr<f32> -> !pto.ptr<f32>
        %pz = pto.addptr %z, %at : !pto.ptr<f32> -> !pto.ptr<f32>
        %vy = pto.make_tensor_view %py, shape = [%c16, %c16], strides = [%pitch, %c1] : !pto.tensor_view<?x?xf32>
        %vz = pto.make_tensor_view %pz, shape = [%c16, %c16], strides = [%pitch, %c1] : !pto.tensor_view<?x?xf32>
        pto.tstore ins(%e : !pto.tile<16x16xf32>) outs(%vy : !pto.tensor_view<?x?xf32>)
        pto.tstore ins(%d : !pto.tile<16x16xf32>) outs(%vz : !pto.tensor_view<?x?xf32>)
        pto.tstore ins(%a : !pto.tile<16x16xf32>) outs(%vs : !pto.tensor_view<?x?xf32>) {atomicType = #pto<atomic_type atomic_add>}
        %number = arith.constant 0.5 : f32
        %place = arith.muli %b, %single : index
        pto.store_scalar %number, %y[%place] : !pto.ptr<f32>, f32
    }
    return
}";

fn numbers(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| ((i * 37 % 1009) as f32).to_le_bytes()).collect()
}

fn kernel(blocks: u32, given: [usize; 5]) -> Program {
    let names = ["step", "pitch", "rounds", "stride", "single"];
    let program = Program::new(KERNEL, Profile::Cpu)
        .buffer("x", &numbers(256 * blocks as usize))
        .buffer("y", &numbers(6000))
        .buffer("w", &numbers(256 * (blocks as usize + 1)))
        .buffer("s", &numbers(256))
        .output("z")
        .blocks(blocks);
    names.into_iter().zip(given).fold(program, |p, (name, n)| p.scalar(name, Number::Int(n as i128)))
}

fn compare(shared: &Ran, copied: &Ran, what: &str) {
    assert_eq!(format!("{:?}", shared.diagnostics), format!("{:?}", copied.diagnostics), "{what}");
    for name in ["x", "y", "z", "w", "s"].into_iter().filter(|_| !copied.failed()) {
        assert_eq!(shared.buffer(name), copied.buffer(name), "{what}, {name}");
    }
}

#[test]
fn shared_arrays_are_as_copies_are() {
    let mut seed = 11u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let mut found = Vec::new();
    for round in 0..120 {
        let blocks = 1 + next(7) as u32;
        // Apart, interleaved by rows, and over each other in every way; now and then beyond the end of %y.
        let given = match round % 4 {
            0 => [256 * 3, 16, 3, 256, 0],
            1 => [16, 16 * 8, 3, 4, next(6000)],
            2 => [next(300), 16 + next(30), 1 + next(4), next(300), next(40)],
            _ => [next(700), 16 + next(100), 1 + next(4), next(200), next(2)],
        };
        let run = |record: bool, fuses: bool| kernel(blocks, given).record(record).fuses(fuses).run();
        let copied = run(true, true);
        for fuses in [true, false] {
            compare(&run(false, fuses), &copied, &format!("{blocks} blocks, {given:?}"));
        }
        found.push(copied.failed() as usize * 2 + rules(&copied.diagnostics).contains(&"block-overlap") as usize);
    }
    // All cases have come: neither, an overlap, an error.
    assert!((0..3).all(|case| found.iter().filter(|n| **n == case).count() > 5), "{found:?}");
}

#[test]
fn the_highest_block_wins_whoever_comes_first() {
    for _ in 0..20 {
        // All blocks write the same elements of %y and %z.
        let ran = kernel(6, [0, 16, 2, 0, 0]).run();
        let (x, w) = (f32s(&numbers(256 * 6)), f32s(&numbers(256 * 7)));
        let of_last = |k: usize| x[5 * 256 + k] + w[6 * 256 + k];
        let y = f32s(ran.buffer("y"));
        assert!((1..256).all(|k| y[k] == of_last(k)));
        assert_eq!(y[0], 0.5);
        let told: Vec<_> =
            ran.diagnostics.iter().filter(|d| d.rule == "block-overlap").map(|d| d.message.as_str()).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("blocks 0 and 1 both write bytes 0 to 1023 of %y"), "{told:?}");
    }
}
