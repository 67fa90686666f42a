//! Every copying kernel against its scalar twin, over random extents, strides and alignments, in buffers that have not
//! one byte to spare.

use tessera_kernels::memory::AlignedBytes;
use tessera_kernels::nest::*;
use tessera_kernels::{Kernel, Level, MemoryId, Sides};
use tessera_kernels::{Place, Plan, PlanStep};
use tessera_testkit::random::{Random, rounds};

/// Miri runs few of many lengths.
const STEP: usize = if cfg!(miri) { 37 } else { 1 };

/// A nest of the given loops (extent, source stride, destination stride), and the bytes of both sides.
fn nest(src_bits: u32, dst_bits: u32, dims: &[(u64, u64, u64)]) -> (Nest, usize, usize) {
    let dims = dims.iter().map(|&(extent, src, dst)| Dim { extent, step: [dst as i64, src as i64, 0, 0] });
    let nest = Nest { bits: [dst_bits, src_bits, 0, 0], base: [0; 4], dims: dims.collect() };
    let (src, dst) = (nest.span(SRC).1, nest.span(DST).1);
    (nest, src as usize, dst as usize)
}

/// Runs the nest at every level, in two memories and in one, and compares with the scalar twin.
fn compare(random: &mut Random, nest: &Nest, src_len: usize, dst_len: usize) {
    let (src, dst) = (random.bytes(src_len), random.bytes(dst_len));
    let mut want = dst.clone();
    assert!(Kernel::new(nest, Level::Scalar).run(Sides::Two(&src, &mut want), [0, 0]).is_ok());
    for level in Level::available() {
        let kernel = Kernel::new(nest, level);
        let mut got = dst.clone();
        assert!(kernel.run(Sides::Two(&src, &mut got), [0, 0]).is_ok());
        assert!(got == want, "{level:?} {nest:?}");
        // The same at another alignment, both sides in one memory.
        let shift = random.range(1, 65) as usize;
        let mut memory = vec![0xa5u8; shift];
        memory.extend_from_slice(&dst);
        memory.extend_from_slice(&src);
        assert!(kernel.run(Sides::One(&mut memory), [shift + dst_len, shift]).is_ok());
        assert!(memory[shift..shift + dst_len] == want[..], "one memory, {level:?} {nest:?}");
        assert!(memory[..shift].iter().all(|&b| b == 0xa5) && memory[shift + dst_len..] == src[..]);
    }
}

#[test]
fn rows_of_every_length() {
    let mut random = Random(11);
    for run in (1..=160).chain([192, 200, 255, 256, 511, 512, 1000, 1024, 1025, 3000]).step_by(STEP) {
        for _ in 0..rounds(4) {
            let (a, b, c) = (random.range(1, 3), random.range(1, 5), random.range(1, 19));
            let mut pitch = [random.range(run, run + 70), random.range(run, run + 70)];
            let mut dims = vec![(run, 1, 1)];
            for n in [c, b, a] {
                dims.push((n, pitch[0], pitch[1]));
                pitch = pitch.map(|p| p * n + random.range(0, 40));
            }
            dims.reverse();
            let (nest, src, dst) = nest(8, 8, &dims);
            compare(&mut random, &nest, src, dst);
        }
    }
}

#[test]
fn transposes_of_every_shape() {
    let mut random = Random(12);
    for unit in [1u64, 2, 4, 8] {
        for round in 0..rounds(150) {
            let (m, n) = match round % 4 {
                0 => (random.range(1, 40), random.range(1, 40)),
                1 => (random.range(1, 150), random.range(1, 20)),
                2 => (random.range(16, 140), 64 * random.range(1, 3)),
                _ => (random.range(30, 80), random.range(60, 300)),
            };
            let boxes = random.range(1, 3);
            let (src_pitch, dst_pitch) = ((m + random.range(0, 9)) * unit, (n + random.range(0, 9)) * unit);
            let dims = [
                (boxes, src_pitch * n, dst_pitch * m + random.range(0, 3)),
                (m, unit, dst_pitch),
                (n, src_pitch, unit),
            ];
            let (nest, src, dst) = nest(unit as u32 * 8, unit as u32 * 8, &dims);
            compare(&mut random, &nest, src, dst);
        }
    }
}

/// Rows so far apart that they crowd a set of the cache go through a stage, from wherever the destination starts in a line.
#[test]
fn transposes_with_crowded_pitches() {
    let mut random = Random(17);
    for unit in [1u64, 2, 4, 8] {
        for round in 0..rounds(60) {
            let (m, n) = (random.range(40, 140), random.range(60, if round % 3 == 0 { 700 } else { 150 }));
            let crowded = 512 * unit * m.max(n).div_ceil(512);
            let (src_pitch, dst_pitch) = match round % 2 {
                0 => (crowded, n * unit),
                _ => (m * unit, crowded),
            };
            let (nest, src, dst) =
                nest(unit as u32 * 8, unit as u32 * 8, &[(m, unit, dst_pitch), (n, src_pitch, unit)]);
            compare(&mut random, &nest, src, dst);
        }
    }
}

#[test]
fn transposes_of_runs_of_units() {
    // A 16×2 box of bytes moves pairs: the unit of the transpose is wider than the element.
    let mut random = Random(13);
    for run in [2u64, 4, 8] {
        for _ in 0..rounds(40) {
            let (m, n) = (random.range(1, 40), random.range(1, 40));
            let dims = [(m, run, n * run), (n, m * run, run), (run, 1, 1)];
            let (nest, src, dst) = nest(8, 8, &dims);
            compare(&mut random, &nest, src, dst);
        }
    }
}

/// Box rows of 32 bytes that change places, and squares of eight elements, in loops of every extent.
#[test]
fn moves_into_boxes_and_out_of_them() {
    let mut random = Random(19);
    for round in 0..rounds(200) {
        let (rows, boxes) = (random.range(1, if round % 4 == 0 { 140 } else { 20 }), random.range(1, 20));
        let pitch = if round % 3 == 0 { 4096 } else { boxes * 32 + random.range(0, 70) };
        let (far, groups) = (rows * 32 + random.range(0, 40), random.range(1, 3));
        let (in_rows, in_boxes) = (pitch * rows, far * boxes);
        let into = [(groups, in_rows, in_boxes), (boxes, 32, far), (rows, pitch, 32), (32, 1, 1)];
        let out = into.map(|(n, src, dst)| (n, dst, src));
        for dims in [into, out] {
            let (nest, src, dst) = nest(8, 8, &dims);
            compare(&mut random, &nest, src, dst);
        }
        let (columns, step, pitch) = (random.range(1, 40), 32 + random.range(0, 9), random.range(160, 200));
        let (nest, src, dst) = nest(32, 32, &[(groups, 40 * step, 8 * pitch), (8, 4, pitch), (columns, step, 4)]);
        compare(&mut random, &nest, src, dst);
    }
}

#[test]
fn narrowing_copies() {
    let mut random = Random(14);
    for (from, to) in [(32, 16), (32, 8), (16, 8)] {
        let bits = (from, to);
        let (from, to) = (u64::from(from / 8), u64::from(to / 8));
        for n in (1..=140).step_by(STEP) {
            let rows = random.range(1, 5);
            let dims = [(rows, n * from + random.range(0, 9), n * to + random.range(0, 9)), (n, from, to)];
            let (nest, src, dst) = nest(bits.0, bits.1, &dims);
            compare(&mut random, &nest, src, dst);
            // Not contiguous: the low bytes of every second element.
            let dims = [(n, 2 * from, to), (rows, 2 * from * n, to * n)];
            let (nest, src, dst) = self::nest(bits.0, bits.1, &dims);
            compare(&mut random, &nest, src, dst);
        }
    }
}

#[test]
fn single_units_at_any_stride() {
    let mut random = Random(15);
    for unit in [1u64, 2, 4, 8] {
        for _ in 0..rounds(60) {
            let (m, n) = (random.range(1, 20), random.range(1, 50));
            let (s, d) = (unit * random.range(1, 4), unit * random.range(1, 4));
            let dims = [(m, s * n + random.range(0, 5), d * n + random.range(0, 5)), (n, s, d)];
            let (nest, src, dst) = nest(unit as u32 * 8, unit as u32 * 8, &dims);
            compare(&mut random, &nest, src, dst);
        }
    }
}

/// Interleaves rows of `n` elements from two operands, and back, at every level.
#[test]
fn pairs_of_nests_interleave() {
    let mut random = Random(16);
    for unit in [1u64, 2, 4, 8] {
        for round in 0..rounds(120) {
            let (blocks, rows, n) = (random.range(1, 3), random.range(1, 4), random.range(1, 300));
            let half = n * unit + random.range(0, 9);
            let both = 2 * n * unit + random.range(0, 9);
            let zip = round % 2 == 0;
            let dims = |half: u64, both: u64, n: u64| if zip { (n, half, both) } else { (n, both, half) };
            let loops =
                [dims(half * rows + 3, both * rows + 5, blocks), dims(half, both, rows), dims(unit, 2 * unit, n)];
            let (even, ..) = nest(unit as u32 * 8, unit as u32 * 8, &loops);
            let mut odd = even.clone();
            if zip {
                odd.base[DST] += unit as i64;
            } else {
                odd.base[SRC] += unit as i64;
            }
            // Operands 0 and 1 are the halves, 2 the interleaved side; the odd nest may come first.
            let step = |k: u8, nest: &Nest| {
                let (src, dst) = if zip { (k, 2) } else { (2, k) };
                PlanStep::Copy { src, dst, nest: nest.clone() }
            };
            let mut steps = vec![step(0, &even), step(1, &odd)];
            if random.range(0, 1) == 1 {
                steps.reverse();
            }
            let (half_side, both_side) = if zip { (SRC, DST) } else { (DST, SRC) };
            let half_len = even.span(half_side).1 as usize;
            let both_len = odd.span(both_side).1 as usize;
            let memories = [random.bytes(half_len), random.bytes(half_len), random.bytes(both_len)];
            let places = [0, 1, 2].map(|memory| Place { memory: MemoryId::new(memory), at: 0 });
            let mut want = memories.clone();
            Plan::with_level(steps.clone(), Level::Scalar).run(&mut want, &places).unwrap();
            for level in Level::available() {
                let plan = Plan::with_level(steps.clone(), level);
                let mut got = memories.clone();
                plan.run(&mut got, &places).unwrap();
                assert!(got == want, "{level:?} zip {zip} unit {unit} n {n}");
                let mut one = [memories.concat()];
                let at = [0, half_len, 2 * half_len].map(|at| Place { memory: MemoryId::new(0), at });
                plan.run(&mut one, &at).unwrap();
                assert!(one[0] == want.concat(), "one memory, {level:?} zip {zip} unit {unit} n {n}");
                let mut short = memories.clone();
                short[2].pop();
                assert!(plan.run(&mut short, &places).is_err());
                assert!(plan.run(&mut got, &places[..2]).is_err());
            }
        }
    }
}

#[test]
fn levels_are_ordered_and_start_with_scalar() {
    let levels: Vec<Level> = Level::available().collect();
    assert_eq!(levels[0], Level::Scalar);
    assert_eq!(levels.last(), Some(&Level::best()));
    assert!(levels.is_sorted());
}

/// Rows copied and padded on either side, apart, touching or overlapping, at every level.
#[test]
fn padded_rows() {
    let mut random = Random(17);
    for round in 0..rounds(400) {
        let (rows, run, len) = (random.range(1, 70), random.range(1, 300), random.range(1, 150));
        let pitch = [run + len, run + len + random.range(0, 40), run.max(len)][round % 3];
        let (at, pad) = (random.range(0, 20), random.range(0, pitch));
        let (mut copy, src_len, _) = nest(8, 8, &[(rows, run + 3, pitch), (run, 1, 1)]);
        copy.base[DST] = at as i64;
        let fill = Fill::new(8, random.next(), pad as i64, [(rows, pitch as i64), (len, 1)]);
        let steps =
            [PlanStep::Copy { src: 0, dst: 1, nest: copy.clone() }, PlanStep::Fill { dst: 1, fill: fill.clone() }];
        let dst_len = copy.span(DST).1.max(fill.span().1) as usize;
        let memories = [random.bytes(src_len), random.bytes(dst_len)];
        let places = [0, 1].map(|memory| Place { memory: MemoryId::new(memory), at: 0 });
        let mut want = memories.clone();
        copy.run(&memories[0], &mut want[1]).unwrap();
        fill.run(&mut want[1]).unwrap();
        for level in Level::available() {
            let plan = Plan::with_level(steps.clone(), level);
            let mut got = memories.clone();
            plan.run(&mut got, &places).unwrap();
            assert!(got == want, "{level:?} {copy:?} {fill:?}");
            let mut one = [memories.concat()];
            plan.run(
                &mut one,
                &[Place { memory: MemoryId::new(0), at: 0 }, Place { memory: MemoryId::new(0), at: src_len }],
            )
            .unwrap();
            assert!(one[0] == want.concat(), "one memory, {level:?} {copy:?} {fill:?}");
            let mut short = memories.clone();
            short[1].pop();
            assert!(plan.run(&mut short, &places).is_err());
        }
    }
}

#[test]
fn aligned_bytes_stay_aligned() {
    let mut random = Random(18);
    for len in [0usize, 1, 63, 64, 65, 4096, 100_000] {
        let bytes = random.bytes(len);
        let mut aligned = AlignedBytes::from(&bytes[..]);
        let copy = aligned.clone();
        assert_eq!((&aligned[..], &copy[..]), (&bytes[..], &bytes[..]));
        assert_eq!((aligned.as_ptr().align_offset(64), copy.as_ptr().align_offset(64)), (0, 0));
        aligned.truncate(len / 2);
        aligned.truncate(len);
        assert_eq!(&aligned[..], &bytes[..len / 2]);
        aligned.as_mut().fill(7);
        assert!(aligned.iter().all(|&b| b == 7));
    }
}

/// Nests that lowering never makes, but that the type allows.
#[test]
fn degenerate_nests_do_nothing() {
    for bits in [0, 4, 8, 12, 32] {
        for dims in
            [vec![(0, 1, 1)], vec![(0, 8, 8), (4, 1, 1)], vec![(4, 8, 8), (0, 1, 1)], vec![(3, 0, 0), (0, 2, 4)]]
        {
            let (nest, ..) = nest(bits, bits, &dims);
            for level in Level::available() {
                assert_eq!(Kernel::new(&nest, level).run(Sides::Two(&[], &mut []), [0, 0]), Ok(()));
            }
        }
    }
    let (one, ..) = nest(0, 0, &[]);
    for level in Level::available() {
        assert_eq!(Kernel::new(&one, level).run(Sides::Two(&[], &mut []), [0, 0]), Ok(()));
    }
}
