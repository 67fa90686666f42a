//! Lowering against the obvious loop: every element of a random move between random layouts, one by one.

mod nest_support;

use nest_support::*;
use tessera_isa::layout::Layout;
use tessera_kernels::nest::*;
use tessera_kernels::{Level, MemoryId};
use tessera_kernels::{Place, Plan, PlanStep};
use tessera_testkit::random::rounds;

/// A random map of `rows × cols` and the extent of the tile it needs.
fn map(random: &mut Random, rows: u64, cols: u64, steps: bool) -> (Map, u64, u64) {
    let origin = [random.range(0, 20), random.range(0, 20)];
    let mut pick = |n: u64| if steps && n > 0 { random.range(1, 2) } else { 1 };
    let (si, sj) = (pick(rows), pick(cols));
    let transposed = random.range(0, 2) == 0;
    let step = if transposed { [[0, sj], [si, 0]] } else { [[si, 0], [0, sj]] };
    let (di, dj) = (si * rows, sj * cols);
    let (r, c) = if transposed { (dj, di) } else { (di, dj) };
    (Map { origin, step }, origin[0] + r, origin[1] + c)
}

fn at(map: &Map, i: u64, j: u64) -> (u64, u64) {
    (map.origin[0] + map.step[0][0] * i + map.step[0][1] * j, map.origin[1] + map.step[1][0] * i + map.step[1][1] * j)
}

fn footprint(layout: &Layout) -> u64 {
    // By force: the largest offset of any element, so that buffers have not one byte to spare.
    let mut top = 0;
    for r in 0..layout.rows() {
        for c in 0..layout.cols() {
            top = top.max(layout.offset(r, c));
        }
    }
    top as u64 + 1
}

struct Case {
    mv: Move,
    src: Layout,
    dst: Layout,
    bits: Bits,
}

fn case(random: &mut Random, bits: Bits) -> Case {
    let (rows, cols) = (random.range(1, 40), random.range(1, 70));
    let steps = random.range(0, 3) == 0;
    let (from, sr, sc) = map(random, rows, cols, steps);
    let (to, dr, dc) = map(random, rows, cols, steps);
    let mv = Move { rows, cols, src: from, dst: to };
    Case { mv, src: random_layout(random, sr, sc, bits.src), dst: random_layout(random, dr, dc, bits.dst), bits }
}

impl Case {
    fn expected(&self, src: &[u8], dst: &[u8]) -> Vec<u8> {
        let mut out = dst.to_vec();
        for i in 0..self.mv.rows {
            for j in 0..self.mv.cols {
                let ((r, c), (x, y)) = (at(&self.mv.src, i, j), at(&self.mv.dst, i, j));
                let value = get(src, self.src.offset(r, c) as u64, self.bits.src);
                put(&mut out, self.dst.offset(x, y) as u64, self.bits.dst, value);
            }
        }
        out
    }
}

const WIDTHS: [Bits; 8] = [
    Bits::same(4),
    Bits::same(8),
    Bits::same(16),
    Bits::same(32),
    Bits::same(64),
    Bits { src: 32, dst: 16 },
    Bits { src: 32, dst: 8 },
    Bits { src: 16, dst: 8 },
];

#[test]
fn every_element_arrives_and_nothing_else_changes() {
    let mut random = Random(1);
    for round in 0..rounds(1500) {
        let case = case(&mut random, WIDTHS[round % WIDTHS.len()]);
        let src = random.bytes(bytes_of(footprint(&case.src), case.bits.src));
        let dst = random.bytes(bytes_of(footprint(&case.dst), case.bits.dst));
        let want = case.expected(&src, &dst);
        let nests = lower_move(&case.mv, &case.src, &case.dst, case.bits);
        assert_eq!(
            nests.iter().map(|n| n.elements() * u64::from(n.bits[SRC])).sum::<u64>(),
            case.mv.rows * case.mv.cols * u64::from(case.bits.src)
        );
        for level in Level::available() {
            let steps = nests.iter().map(|nest| PlanStep::Copy { src: 0, dst: 1, nest: nest.clone() });
            let plan = Plan::with_level(steps, level);
            let mut memories = [src.clone(), dst.clone()];
            plan.run(
                &mut memories,
                &[Place { memory: MemoryId::new(0), at: 0 }, Place { memory: MemoryId::new(1), at: 0 }],
            )
            .unwrap();
            assert_eq!(
                memories[1], want,
                "two memories, {level:?}, round {round}: {:?} {:?} {:?}",
                case.mv, case.src, case.dst
            );

            // Both sides in one memory, the destination first, at odd places.
            let (d, s) = (random.range(0, 3) as usize, dst.len() + random.range(3, 9) as usize);
            let mut memory = vec![0u8; s + src.len()];
            memory[d..d + dst.len()].copy_from_slice(&dst);
            memory[s..].copy_from_slice(&src);
            let mut memories = [memory];
            plan.run(
                &mut memories,
                &[Place { memory: MemoryId::new(0), at: s }, Place { memory: MemoryId::new(0), at: d }],
            )
            .unwrap();
            assert_eq!(&memories[0][d..d + dst.len()], &want[..], "one memory, {level:?}, round {round}");
            assert_eq!(&memories[0][s..], &src[..], "the source is left alone, {level:?}, round {round}");
        }
        let mut once = dst.clone();
        for nest in &nests {
            nest.run(&src, &mut once).unwrap();
        }
        assert_eq!(once, want, "nest by nest, round {round}");
    }
}

#[test]
fn conversions_see_every_element_with_its_column() {
    let mut random = Random(2);
    for round in 0..rounds(200) {
        let bits = [Bits { src: 32, dst: 8 }, Bits { src: 16, dst: 32 }, Bits::same(32)][round % 3];
        let case = case(&mut random, bits);
        let src = random.bytes(bytes_of(footprint(&case.src), bits.src));
        let mut dst = random.bytes(bytes_of(footprint(&case.dst), bits.dst));
        let mut want = dst.clone();
        for i in 0..case.mv.rows {
            for j in 0..case.mv.cols {
                let ((r, c), (x, y)) = (at(&case.mv.src, i, j), at(&case.mv.dst, i, j));
                let value = get(&src, case.src.offset(r, c) as u64, bits.src);
                put(&mut want, case.dst.offset(x, y) as u64, bits.dst, value ^ (7 + j));
            }
        }
        // A third operand that only follows the columns: eight bytes each, from the seventh on.
        let list = Layout::row_major(1, 7 + case.mv.cols, 0);
        let column = Map { origin: [0, 7], step: [[0, 0], [0, 1]] };
        let operands = [
            Operand { layout: &case.dst, map: case.mv.dst, bits: bits.dst },
            Operand { layout: &case.src, map: case.mv.src, bits: bits.src },
            Operand { layout: &list, map: column, bits: 64 },
        ];
        for nest in lower([case.mv.rows, case.mv.cols], &operands) {
            nest.for_each_element(|[d, s, p, _]| {
                let element = |at: i64, bits: u32| at as u64 * 8 / u64::from(bits);
                let value = get(&src, element(s, bits.src), bits.src) ^ (p as u64 / 8);
                put(&mut dst, element(d, bits.dst), bits.dst, value);
            });
        }
        assert_eq!(dst, want, "round {round}");
    }
}

#[test]
fn fills_cover_their_window_and_nothing_else() {
    let mut random = Random(3);
    for round in 0..rounds(400) {
        let bits = [4, 8, 16, 32, 64][round % 5];
        let (r, c) = (random.range(0, 20), random.range(0, 20));
        let (rows, cols) = (random.range(0, 40), random.range(0, 70));
        let layout = random_layout(&mut random, r + rows.max(1), c + cols.max(1), bits);
        let mut dst = random.bytes(bytes_of(footprint(&layout), bits));
        let mut want = dst.clone();
        let pattern = random.next();
        for i in 0..rows {
            for j in 0..cols {
                put(&mut want, layout.offset(r + i, c + j) as u64, bits, pattern);
            }
        }
        let mut touched = vec![false; dst.len()];
        for fill in lower_fill([r, c], [rows, cols], &layout, bits, pattern) {
            fill.run(&mut dst).unwrap();
            fill.runs().for_each(|at, len| touched[at as usize..at as usize + len as usize].fill(true));
        }
        assert_eq!(dst, want, "round {round} {layout:?}");
        for i in 0..rows {
            for j in 0..cols {
                let bit = layout.offset(r + i, c + j) as usize * bits as usize;
                assert!(touched[bit / 8]);
            }
        }
    }
}

#[test]
fn runs_are_exactly_the_bytes_of_a_side() {
    let mut random = Random(4);
    for round in 0..rounds(400) {
        let bits = WIDTHS[round % WIDTHS.len()];
        let case = case(&mut random, bits);
        for (side, layout, map, bits) in
            [(SRC, &case.src, &case.mv.src, bits.src), (DST, &case.dst, &case.mv.dst, bits.dst)]
        {
            let len = bytes_of(footprint(layout), bits);
            let (mut want, mut got) = (vec![false; len], vec![false; len]);
            for i in 0..case.mv.rows {
                for j in 0..case.mv.cols {
                    let (r, c) = at(map, i, j);
                    let bit = layout.offset(r, c) as usize * bits as usize;
                    want[bit / 8..(bit + bits as usize).div_ceil(8)].fill(true);
                }
            }
            let mut count = 0;
            for nest in lower_move(&case.mv, &case.src, &case.dst, case.bits) {
                nest.runs(side).for_each(|at, len| {
                    count += 1;
                    got[at as usize..at as usize + len as usize].fill(true);
                });
            }
            assert_eq!(got, want, "round {round} {side:?}");
            assert!(count >= 1);
        }
    }
}

#[test]
fn a_convolution_window_is_a_few_nests() {
    // 16×16 images in two planes of C0 = 16 channels: four domain axes (plane, output row, output column, channel).
    let (h, w, c0) = (16, 16, 16);
    let image = Layout::row_major(2 * h, w * c0, w * c0);
    for width in [16u64, 14, 5] {
        let left = layout(Kind::Nz, 14 * width, 2 * 9 * c0, (16, 16));
        // Plane, output row, output column, channel.
        let from = Map { origin: [1, 0], step: [[h, 1, 0, 0], [0, 0, c0, 1]] };
        let to = Map { origin: [0, 4 * c0], step: [[0, width, 1, 0], [9 * c0, 0, 0, 1]] };
        let operands = [Operand { layout: &left, map: to, bits: 16 }, Operand { layout: &image, map: from, bits: 16 }];
        let nests = lower([2, 14, width, c0], &operands);
        if width == 16 {
            assert_eq!(nests.len(), 1);
        }
        let src = Random(5).bytes((2 * h * w * c0 * 2) as usize);
        let mut dst = vec![0; (left.rows() * left.cols() * 2) as usize];
        let mut want = dst.clone();
        for c1 in 0..2 {
            for y in 0..14 {
                for x in 0..width {
                    for c in 0..c0 {
                        let from = image.offset(c1 * h + 1 + y, x * c0 + c) as u64;
                        let to = left.offset(y * width + x, c1 * 9 * c0 + 4 * c0 + c) as u64;
                        put(&mut want, to, 16, get(&src, from, 16));
                    }
                }
            }
        }
        for nest in &nests {
            nest.run(&src, &mut dst).unwrap();
        }
        assert_eq!(dst, want, "width {width}");
    }
}

#[test]
fn a_nest_that_leaves_its_memory_is_refused_and_writes_nothing() {
    let nd = Layout::row_major(4, 8, 8);
    let whole = Move { rows: 4, cols: 8, src: Map::SAME, dst: Map::SAME };
    let nest = lower_move(&whole, &nd, &nd, Bits::same(32)).remove(0);
    let mut dst = vec![0u8; 127];
    let error = nest.run(&[1; 128], &mut dst).unwrap_err();
    assert_eq!(error, OutOfBounds { first: 0, end: 128, len: 127 });
    assert_eq!(
        error.to_string(),
        "the move touches bytes 0 to 128 of a memory of 127 bytes; give the operand a place inside it"
    );
    assert!(dst.iter().all(|&b| b == 0));
    assert!(nest.run(&[1; 127], &mut [0; 128]).is_err());
    let plan = Plan::new([PlanStep::Copy { src: 0, dst: 1, nest }]);
    let mut memories = [vec![1u8; 256]];
    let place = |at| Place { memory: MemoryId::new(0), at };
    assert!(plan.run(&mut memories, &[place(0), place(129)]).is_err());
    assert!(plan.run(&mut memories, &[place(0), place(usize::MAX)]).is_err());
    assert!(plan.run(&mut memories, &[place(0)]).is_err());
    assert!(plan.run(&mut memories, &[place(0), Place { memory: MemoryId::new(1), at: 0 }]).is_err());
    assert!(plan.run(&mut memories, &[place(0), place(128)]).is_ok());
}

#[test]
fn empty_and_huge_domains_do_no_harm() {
    let nd = Layout::row_major(4, 8, 8);
    for (rows, cols) in [(0, 8), (4, 0), (0, 0)] {
        let mv = Move { rows, cols, src: Map::SAME, dst: Map::SAME };
        assert!(lower_move(&mv, &nd, &nd, Bits::same(16)).is_empty());
    }
    let n = u64::from(u32::MAX);
    let huge = layout(Kind::Nz, n, n - n % 16, (16, 16));
    let mv = Move { rows: n - 20, cols: n - n % 16 - 30, src: Map::at(3, 5), dst: Map::at(7, 1) };
    for nest in lower_move(&mv, &huge, &huge, Bits::same(64)) {
        assert!(nest.run(&[0; 64], &mut [0; 64]).is_err());
    }
}

#[test]
fn what_should_be_one_run_is_one_run() {
    let whole = Move { rows: 128, cols: 128, src: Map::SAME, dst: Map::SAME };
    let f32_acc = layout(Kind::Nz, 128, 128, (16, 16));
    let f16_mat = layout(Kind::Nz, 128, 128, (16, 16));
    let nests = lower_move(&whole, &f32_acc, &f16_mat, Bits { src: 32, dst: 16 });
    assert_eq!(nests.len(), 1);
    assert_eq!(nests[0].dims.len(), 1);
    assert_eq!(nests[0].dims[0], Dim { extent: 16384, step: [2, 4, 0, 0] });
    let nd = Layout::row_major(128, 128, 128);
    let nests = lower_move(&whole, &nd, &f16_mat, Bits::same(16));
    assert_eq!(nests.len(), 1);
    assert_eq!(nests[0].dims.len(), 3);
}

#[test]
fn folding_moves_the_same_elements() {
    let mut random = Random(6);
    for round in 0..rounds(300) {
        // Every nest of a move cut into rows, in random order, comes together again.
        let bits = WIDTHS[round % WIDTHS.len()];
        let case = case(&mut random, bits);
        let src = random.bytes(bytes_of(footprint(&case.src), bits.src));
        let mut dst = random.bytes(bytes_of(footprint(&case.dst), bits.dst));
        let want = case.expected(&src, &dst);
        let mut rows = Vec::new();
        for i in 0..case.mv.rows {
            let moved = |m: &Map| Map { origin: at(m, i, 0).into(), ..*m };
            let row = Move { rows: 1, src: moved(&case.mv.src), dst: moved(&case.mv.dst), ..case.mv };
            rows.extend(lower_move(&row, &case.src, &case.dst, bits));
        }
        let mut shuffled = rows.clone();
        shuffled.sort_by_cached_key(|_| random.next());
        let folded = fold(shuffled.into_iter().collect());
        assert!(folded.len() <= rows.len());
        for nest in folded {
            nest.run(&src, &mut dst).unwrap();
        }
        assert_eq!(dst, want, "round {round}");
    }
}

#[test]
fn plans_fold_copies_and_fills() {
    let nd = Layout::row_major(32, 64, 64);
    let mut random = Random(8);
    let src = random.bytes(32 * 64);
    let mut want = src.clone();
    let mut steps = Vec::new();
    for r in 0..32 {
        let row = Move { rows: 1, cols: 40, src: Map::at(r, 0), dst: Map::at(r, 0) };
        steps.extend(lower_move(&row, &nd, &nd, Bits::same(8)).into_iter().map(|nest| PlanStep::Copy {
            src: 0,
            dst: 1,
            nest,
        }));
    }
    for r in 0..32 {
        want[r * 64 + 40..r * 64 + 64].fill(0x77);
        let fills = lower_fill([r as u64, 40], [1, 24], &nd, 8, 0x77);
        steps.extend(fills.into_iter().map(|fill| PlanStep::Fill { dst: 1, fill }));
    }
    // A later fill wins over an earlier one.
    want[..5].fill(0x11);
    steps.extend(lower_fill([0, 0], [1, 5], &nd, 8, 0x11).into_iter().map(|fill| PlanStep::Fill { dst: 1, fill }));
    for level in Level::available() {
        let plan = Plan::with_level(steps.clone(), level);
        assert_eq!(plan.len(), 3);
        let mut memories = [src.clone(), vec![0; 32 * 64]];
        plan.run(
            &mut memories,
            &[Place { memory: MemoryId::new(0), at: 0 }, Place { memory: MemoryId::new(1), at: 0 }],
        )
        .unwrap();
        assert_eq!(memories[1], want);
    }
}
