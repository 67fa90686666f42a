//! The speed of nests, beside a memcpy of as many bytes: `cargo bench -p tessera-bench --bench kernels`.
//!
//! Throughput counts bytes read plus bytes written. Every run takes the next of a ring of tiles that together fill the
//! second-level cache, as tiles in a program do.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use tessera_isa::codec::QuantParam;
use tessera_isa::elem::Elem;
use tessera_isa::layout::{Axis, Layout};
use tessera_isa::sem::Fixpipe;
use tessera_kernels::memory::AlignedBytes;
use tessera_kernels::nest::{Map, Nests, Operand, lower, lower_fill};
use tessera_kernels::{Conversion, MemoryId, Params, Place};
use tessera_kernels::{Plan, PlanStep};

/// Bytes of one operand's ring.
const RING: usize = 192 << 10;

struct Case {
    name: &'static str,
    steps: Vec<PlanStep>,
    /// Bytes of every operand.
    sizes: Vec<usize>,
    /// Bytes read and written.
    moved: usize,
    params: Params,
}

fn nd(rows: u64, cols: u64) -> Layout {
    Layout::row_major(rows, cols, cols)
}

/// Boxes of 16 rows and `ic` columns, column by column (tile-model.md 5).
fn nz(rows: u64, cols: u64, ic: u64) -> Layout {
    let row = Axis::boxed(rows, 16, 16 * ic as i64, ic as i64);
    Layout { row, col: Axis::boxed(cols, ic, (rows * ic) as i64, 1) }
}

fn zn(rows: u64, cols: u64, ir: u64) -> Layout {
    Layout { row: Axis::boxed(rows, ir, (cols * ir) as i64, 1), col: Axis::linear(cols, ir as i64) }
}

/// Bits of an element on both sides of a move.
#[derive(Clone, Copy, Debug)]
struct Bits {
    src: u32,
    dst: u32,
}

impl Bits {
    const fn same(bits: u32) -> Self {
        Bits { src: bits, dst: bits }
    }
}

/// `dst(i, j) = src(i, j)`, through a map on either side.
#[derive(Clone, Copy, Debug)]
struct Move {
    rows: u64,
    cols: u64,
    src: Map,
    dst: Map,
}

fn lower_move(mv: &Move, src: &Layout, dst: &Layout, bits: Bits) -> Nests {
    let from = Operand { layout: src, map: mv.src, bits: bits.src };
    lower([mv.rows, mv.cols], &[Operand { layout: dst, map: mv.dst, bits: bits.dst }, from])
}

fn bytes(layout: &Layout, bits: u32) -> usize {
    (layout.rows() * layout.cols() * u64::from(bits) / 8) as usize
}

/// One move between two tiles.
fn copy(name: &'static str, mv: Move, src: &Layout, dst: &Layout, bits: Bits) -> Case {
    let steps =
        lower_move(&mv, src, dst, bits).into_iter().map(|nest| PlanStep::Copy { src: 0, dst: 1, nest }).collect();
    let moved = (mv.rows * mv.cols * u64::from(bits.src + bits.dst) / 8) as usize;
    Case { name, steps, sizes: vec![bytes(src, bits.src), bytes(dst, bits.dst)], moved, params: Params::default() }
}

/// TINTERLEAVE, or back: (half, interleaved, first column of the half, parity).
fn interleave(name: &'static str, bits: u32, zip: bool) -> Case {
    let tile = nd(64, 128);
    let mut steps = Vec::new();
    for (half, both, column, parity) in [(0, 2, 0, 0), (1, 2, 0, 1), (0, 3, 64, 0), (1, 3, 64, 1)] {
        let (window, every) = (Map::at(0, column), Map { origin: [0, parity], step: [[1, 0], [0, 2]] });
        let (src, dst) = if zip { (window, every) } else { (every, window) };
        let nests = lower_move(&Move { rows: 64, cols: 64, src, dst }, &tile, &tile, Bits::same(bits));
        let (from, to) = if zip { (half, both) } else { (both, half) };
        steps.extend(nests.into_iter().map(|nest| PlanStep::Copy { src: from, dst: to, nest }));
    }
    let size = bytes(&tile, bits);
    Case { name, steps, sizes: vec![size; 4], moved: 4 * size, params: Params::default() }
}

fn concat(name: &'static str, bits: u32, left: u64, right: u64) -> Case {
    let up = |n: u64| n.next_multiple_of(256 / u64::from(bits));
    let (a, b, dst) = (nd(64, up(left)), nd(64, up(right)), nd(64, up(left + right)));
    let mut steps = Vec::new();
    for (k, src, cols, at) in [(0, &a, left, 0), (1, &b, right, left)] {
        let mv = Move { rows: 64, cols, src: Map::SAME, dst: Map::at(0, at) };
        let nests = lower_move(&mv, src, &dst, Bits::same(bits));
        steps.extend(nests.into_iter().map(|nest| PlanStep::Copy { src: k, dst: 2, nest }));
    }
    let moved = (128 * (left + right) * u64::from(bits) / 8) as usize;
    let sizes = [&a, &b, &dst].map(|l| bytes(l, bits)).to_vec();
    Case { name, steps, sizes, moved, params: Params::default() }
}

fn fillpad() -> Case {
    let tile = nd(128, 128);
    let inside = Move { rows: 100, cols: 100, src: Map::SAME, dst: Map::SAME };
    let mut case = copy("tfillpad f32 100x100 in 128x128", inside, &tile, &tile, Bits::same(32));
    let infinity = u64::from(f32::INFINITY.to_bits());
    for (at, rows, cols) in [([0, 100], 100, 28), ([100, 0], 28, 128)] {
        let fills = lower_fill(at, [rows, cols], &tile, 32, infinity);
        case.steps.extend(fills.into_iter().map(|fill| PlanStep::Fill { dst: 1, fill }));
    }
    case.moved = 40_000 + bytes(&tile, 32);
    case
}

/// Out of an accumulator: plain, or with one parameter per column.
fn fixpipe(name: &'static str, dst: Elem, ic: u64, quant: bool) -> Case {
    let (from, to) = (nz(128, 128, 16), nz(128, 128, ic));
    let mv = Move { rows: 128, cols: 128, src: Map::SAME, dst: Map::SAME };
    let bits = Bits { src: 32, dst: dst.bits() };
    let list = nd(1, 128);
    let column = Operand { layout: &list, map: Map { origin: [0, 0], step: [[0, 0], [0, 1]] }, bits: 64 };
    let source = Operand { layout: &from, map: mv.src, bits: bits.src };
    let operands = [Operand { layout: &to, map: mv.dst, bits: bits.dst }, source, column];
    let nests = if quant { lower([128, 128], &operands) } else { lower_move(&mv, &from, &to, bits) };
    let conversion =
        Conversion::Fixpipe(Fixpipe { src: Elem::F32, dst, relu: false, hardware_rounding: true, saturate_inf: false });
    let steps = nests.into_iter().map(|nest| PlanStep::Convert { src: 0, dst: 1, nest, conversion }).collect();
    let param = |k: u16| QuantParam::scalar(1 << 46 | u64::from((f32::from(k) * 0.01).to_bits()));
    let params = if quant { Params::new((0..128).map(param)) } else { Params::default() };
    let sizes = vec![bytes(&from, 32), bytes(&to, dst.bits())];
    Case { name, steps, moved: sizes.iter().sum(), sizes, params }
}

fn cases() -> Vec<Case> {
    let all = |rows, cols, src, dst| Move { rows, cols, src, dst };
    let whole = all(128, 128, Map::SAME, Map::SAME);
    let transposed = |rows, cols| all(rows, cols, Map::SAME, Map::TRANSPOSED);
    let tile = nd(128, 128);
    let boxed = nz(128, 128, 16);
    vec![
        copy("tmov nd f32 16x16", all(16, 16, Map::SAME, Map::SAME), &nd(16, 16), &nd(16, 16), Bits::same(32)),
        copy("tmov nd f32 128x128", whole, &tile, &tile, Bits::same(32)),
        copy("tmov nd-nz f16 128x128", whole, &tile, &boxed, Bits::same(16)),
        copy("tmov nz-nd f16 128x128", whole, &boxed, &tile, Bits::same(16)),
        copy("tmov nd-zn f16 128x128", whole, &tile, &zn(128, 128, 16), Bits::same(16)),
        copy(
            "textract nd f32 64x64 of 128x128",
            all(64, 64, Map::at(32, 32), Map::SAME),
            &tile,
            &nd(64, 64),
            Bits::same(32),
        ),
        copy(
            "tinsert nz f16 64x64 into 128x128",
            all(64, 64, Map::SAME, Map::at(16, 32)),
            &nz(64, 64, 16),
            &boxed,
            Bits::same(16),
        ),
        copy(
            "tinsert nd f16 63x61 into 128x128",
            all(63, 61, Map::SAME, Map::at(3, 5)),
            &nd(64, 64),
            &tile,
            Bits::same(16),
        ),
        copy("ttrans f32 128x128", transposed(128, 128), &tile, &tile, Bits::same(32)),
        copy("ttrans f16 128x128", transposed(128, 128), &tile, &tile, Bits::same(16)),
        copy("ttrans i8 128x128", transposed(128, 128), &tile, &tile, Bits::same(8)),
        copy("ttrans f32 100x60 in 104x64", transposed(100, 60), &nd(104, 64), &nd(64, 104), Bits::same(32)),
        copy(
            "ttrans f32 128x128, pitch 4096 bytes",
            transposed(128, 128),
            &nd(128, 1024),
            &nd(128, 1024),
            Bits::same(32),
        ),
        interleave("tinterleave f32 64x128", 32, true),
        interleave("tdeinterleave f32 64x128", 32, false),
        interleave("tinterleave i8 64x128", 8, true),
        concat("tconcat f32 64x64+64x64", 32, 64, 64),
        concat("tconcat f16 64x37+64x27", 16, 37, 27),
        fillpad(),
        copy("tpack i32-i16 128x128", whole, &tile, &tile, Bits { src: 32, dst: 16 }),
        fixpipe("acc-mat f32-f16 128x128", Elem::F16, 16, false),
        fixpipe("acc-mat f32-i8 128x128, vector quant", Elem::I8, 32, true),
    ]
}

fn nests(criterion: &mut Criterion) {
    for case in cases() {
        let mut group = criterion.benchmark_group(case.name);
        group.throughput(Throughput::Bytes(case.moved as u64));
        let ring = case.sizes.iter().map(|size| RING / size).min().unwrap_or(1).max(1);
        let mut memories: Vec<AlignedBytes> = case.sizes.iter().map(|size| AlignedBytes::zeroed(size * ring)).collect();
        let places: Vec<Vec<Place>> = (0..ring)
            .map(|k| {
                case.sizes
                    .iter()
                    .enumerate()
                    .map(|(memory, size)| Place { memory: MemoryId::new(memory), at: k * size })
                    .collect()
            })
            .collect();
        let plan = Plan::new(case.steps);
        let mut turn = places.iter().cycle();
        group.bench_function(BenchmarkId::from_parameter("nests"), |bench| {
            bench.iter(|| turn.next().map(|places| plan.run_with(black_box(&mut memories), places, &case.params)));
        });

        let half = case.moved / 2;
        let (src, mut dst) = (AlignedBytes::zeroed(RING.max(half)), AlignedBytes::zeroed(RING.max(half)));
        let mut turn = (0..(RING / half).max(1)).map(|k| k * half..(k + 1) * half).cycle();
        group.bench_function(BenchmarkId::from_parameter("memcpy"), |bench| {
            bench.iter(|| {
                turn.next().map(|range| black_box(&mut dst)[range.clone()].copy_from_slice(&black_box(&src)[range]))
            });
        });
        group.finish();
    }
}

criterion_group!(benches, nests);
criterion_main!(benches);
