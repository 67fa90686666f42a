//! Folds, products, gathers, comparisons and selections against the formulas, element by element and bit for bit, in every layout.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use tessera_isa::elem::Elem;
use tessera_isa::inst::Cmp;
use tessera_isa::layout::Layout;
use tessera_isa::profile::Profile;
use tessera_isa::sem::{Func, Reduced};
use tessera_isa::tile::{BLayout, Loc, SLayout, TileType};
use tessera_kernels::nest::Map;
use tessera_kernels::{MemoryId, PackedKernel, Place};
use tessera_testkit::random::rounds;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// An element: mostly of a middling size, sometimes any bits.
    fn bits(&mut self, elem: Elem) -> u64 {
        use tessera_isa::codec::Overflow;
        let any = self.0.rotate_left(29) ^ self.below(1 << 30);
        match self.below(40) {
            0 => any & elem.mask(),
            1 => 1 << (elem.bits() - 1),
            _ if elem.is_float() => elem.encode_f64(self.below(4000) as f64 / 64.0 - 31.0, Overflow::Infinity),
            _ => any & elem.mask(),
        }
    }

    fn layout(&mut self, elem: Elem, rows: u64, cols: u64) -> Layout {
        let (blayout, slayout) = [
            (BLayout::RowMajor, SLayout::NoneBox),
            (BLayout::ColMajor, SLayout::NoneBox),
            (BLayout::ColMajor, SLayout::RowMajor),
            (BLayout::RowMajor, SLayout::ColMajor),
        ][self.below(4) as usize];
        let ty = TileType::new(Loc::Vec, elem, rows.next_multiple_of(32), cols.next_multiple_of(32));
        ty.with_layout(blayout, slayout, 512).resolve(Profile::Cpu).layout()
    }
}

fn put(bytes: &mut [u8], layout: &Layout, elem: Elem, (r, c): (u64, u64), bits: u64) {
    let at = layout.offset(r, c) as usize;
    if elem.bits() == 4 {
        let (byte, shift) = (&mut bytes[at / 2], 4 * (at % 2));
        *byte = *byte & !(15 << shift) | (bits as u8) << shift;
        return;
    }
    let size = elem.bits() as usize / 8;
    bytes[at * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
}

fn get(bytes: &[u8], layout: &Layout, elem: Elem, (r, c): (u64, u64)) -> u64 {
    let at = layout.offset(r, c) as usize;
    if elem.bits() == 4 {
        return u64::from(bytes[at / 2] >> (4 * (at % 2)) & 15);
    }
    let size = elem.bits() as usize / 8;
    bytes[at * size..][..size].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

fn tile(random: &mut Random, elem: Elem, rows: u64, cols: u64) -> (Layout, Vec<u8>) {
    let layout = random.layout(elem, rows, cols);
    let mut bytes = vec![0; (layout.footprint() as usize * elem.bits() as usize).div_ceil(8)];
    for r in 0..layout.rows() {
        for c in 0..layout.cols() {
            put(&mut bytes, &layout, elem, (r, c), random.bits(elem));
        }
    }
    (layout, bytes)
}

fn places(n: usize) -> Vec<Place> {
    (0..n).map(|memory| Place { memory: MemoryId::new(memory), at: 0 }).collect()
}

const NUMBERS: [Elem; 11] = [
    Elem::F32,
    Elem::F16,
    Elem::Bf16,
    Elem::I8,
    Elem::I16,
    Elem::I32,
    Elem::I64,
    Elem::U8,
    Elem::U16,
    Elem::U32,
    Elem::U64,
];

/// Folds rows or columns, and compares with the definition.
fn fold(random: &mut Random, func: Func, from: Elem, to: Elem) {
    let (rows, cols) = (1 + random.below(40), 1 + random.below(70));
    let by_rows = random.below(2) == 0;
    let (src, x) = tile(random, from, rows, cols);
    let (dst, old) = tile(random, to, rows, cols);
    let at = |step| Map { origin: [0, 0], step };
    let (extent, source, result) = match by_rows {
        true => ([rows, 1, cols], at([[1, 0, 0], [0, 0, 1]]), at([[1, 0, 0], [0, 0, 0]])),
        false => ([1, cols, rows], at([[0, 0, 1], [0, 1, 0]]), at([[0, 0, 0], [0, 1, 0]])),
    };
    let staged = PackedKernel::reduce(func, extent, ((1, &dst, to), result), &[((0, &src, from), source)], None, None);
    let mut want = old.clone();
    for n in 0..if by_rows { rows } else { cols } {
        let place = |k: u64| if by_rows { (n, k) } else { (k, n) };
        let elements: Vec<_> = (0..extent[2]).map(|k| [(from, get(&x, &src, from, place(k)))]).collect();
        let result = func.fold(to, None, elements.iter().map(|e| e.as_slice())).unwrap();
        put(&mut want, &dst, to, place(0), result);
    }
    let mut memories = [x, old];
    staged.run(&mut memories, &places(2)).unwrap();
    assert!(memories[1] == want, "{func:?} {from} → {to}, {rows}x{cols}, by rows {by_rows}");
}

#[test]
fn folds_of_rows_and_columns() {
    let mut random = Random(5);
    let wider = [(Elem::F16, Elem::F32), (Elem::Bf16, Elem::F32), (Elem::I16, Elem::I32), (Elem::F8e4m3, Elem::F32)];
    for (from, to) in NUMBERS.map(|elem| (elem, elem)).into_iter().chain(wider) {
        for _ in 0..rounds(8) {
            for func in [Func::Add, Func::Mul, Func::Max, Func::Min] {
                fold(&mut random, func, from, to);
            }
        }
    }
    for from in NUMBERS {
        for greatest in [false, true] {
            for _ in 0..rounds(4) {
                fold(&mut random, Func::Arg { greatest, value: true }, from, from);
                for to in [Elem::I32, Elem::U16] {
                    fold(&mut random, Func::Arg { greatest, value: false }, from, to);
                }
            }
        }
    }
}

#[test]
fn comparisons_are_bits_of_bytes() {
    let mut random = Random(8);
    for elem in NUMBERS {
        for cmp in Cmp::ALL {
            for scalar in [false, true] {
                let func = Func::Compare(*cmp);
                let (rows, cols) = (1 + random.below(9), 1 + random.below(70));
                let ((lx, x), (ly, y)) = (tile(&mut random, elem, rows, cols), tile(&mut random, elem, rows, cols));
                let bytes = cols.div_ceil(8);
                let mask = Layout::row_major(1, rows * bytes, rows * bytes);
                let old = vec![0xA5; (rows * bytes) as usize];
                let one = (elem, random.bits(elem));
                let (tx, ty) = ((0, &lx, elem), (1, &ly, elem));
                let args = if scalar { vec![tx] } else { vec![tx, ty] };
                let staged = PackedKernel::pack(func, [rows, cols], &args, scalar.then_some(one), (2, &mask, Elem::U8));
                let mut memories = [x.clone(), y.clone(), old];
                staged.run(&mut memories, &places(3)).unwrap();
                for k in 0..rows * bytes {
                    let (r, first) = (k / bytes, k % bytes * 8);
                    let pairs: Vec<_> = (first..(first + 8).min(cols))
                        .flat_map(|c| {
                            let y = if scalar { one } else { (elem, get(&y, &ly, elem, (r, c))) };
                            [(elem, get(&x, &lx, elem, (r, c))), y]
                        })
                        .collect();
                    let want = func.eval(Elem::U8, &pairs).unwrap() as u8;
                    assert_eq!(memories[2][k as usize], want, "{elem} {cmp:?} {rows}x{cols} byte {k}");
                }
            }
        }
    }
}

#[test]
fn selections_go_by_the_bits_of_a_mask() {
    let mut random = Random(9);
    for elem in [Elem::U8, Elem::F16, Elem::F32, Elem::I64] {
        for scalar in [None, Some(0), Some(1)] {
            for _ in 0..rounds(4) {
                let (rows, cols) = (1 + random.below(9), 1 + random.below(70));
                let ((lx, x), (ly, y)) = (tile(&mut random, elem, rows, cols), tile(&mut random, elem, rows, cols));
                let (ld, old) = tile(&mut random, elem, rows, cols);
                let lm = Layout::row_major(rows, 32, 32);
                let mask: Vec<u8> = (0..rows * 32).map(|_| random.below(256) as u8).collect();
                let one = random.bits(elem);
                let arg = |n, tile| if scalar == Some(n) { Err(one) } else { Ok(tile) };
                let args = [arg(0, (1, &lx, elem)), arg(1, (2, &ly, elem))];
                let staged = PackedKernel::select([rows, cols], (0, &lm, Elem::U8), args, (3, &ld, elem));
                let mut want = old.clone();
                for r in 0..rows {
                    for c in 0..cols {
                        let is_set = mask[(r * 32 + c / 8) as usize] >> (c % 8) & 1 == 1;
                        let picked = match (is_set, scalar) {
                            (true, Some(0)) | (false, Some(1)) => one,
                            (true, _) => get(&x, &lx, elem, (r, c)),
                            (false, _) => get(&y, &ly, elem, (r, c)),
                        };
                        put(&mut want, &ld, elem, (r, c), picked);
                    }
                }
                let mut memories = [mask, x, y, old];
                staged.run(&mut memories, &places(4)).unwrap();
                assert!(memories[3] == want, "{elem}, scalar {scalar:?}, {rows}x{cols}");
            }
        }
    }
}

/// Tiles without gaps in one memory: apart, and with the destination on one of the sources.
#[test]
fn dense_tiles_are_selected_where_they_lie() {
    let mut random = Random(10);
    for (elem, cols) in [(Elem::U8, 64), (Elem::F16, 37), (Elem::F32, 48), (Elem::I64, 8)] {
        let (rows, size) = (5u64, elem.bits() as u64 / 8);
        let (layout, masks) = (Layout::row_major(rows, cols, cols), Layout::row_major(rows, 8, 8));
        let bytes = (rows * cols * size) as usize;
        for dst in [2 * bytes, 0, bytes] {
            let memory: Vec<u8> = (0..3 * bytes).map(|_| random.below(256) as u8).collect();
            let mask: Vec<u8> = (0..rows * 8).map(|_| random.below(256) as u8).collect();
            let mut want = memory.clone();
            for k in 0..rows * cols {
                let (r, c) = (k / cols, k % cols);
                let from = if mask[(r * 8 + c / 8) as usize] >> (c % 8) & 1 == 1 { 0 } else { bytes };
                let at = (k * size) as usize;
                want[dst + at..][..size as usize].copy_from_slice(&memory[from + at..][..size as usize]);
            }
            let args = [Ok((1, &layout, elem)), Ok((2, &layout, elem))];
            let staged = PackedKernel::select([rows, cols], (0, &masks, Elem::U8), args, (3, &layout, elem));
            let at = |memory, at| Place { memory: MemoryId::new(memory), at };
            let mut memories = [mask, memory];
            staged.run(&mut memories, &[at(0, 0), at(1, 0), at(1, bytes), at(1, dst)]).unwrap();
            assert!(memories[1] == want, "{elem}, destination at {dst}");
        }
    }
}

#[test]
fn products_are_chains_of_fused_multiply_adds() {
    let mut random = Random(6);
    let types = [
        (Elem::F32, Elem::F32, Elem::F32),
        (Elem::F16, Elem::F16, Elem::F32),
        (Elem::Bf16, Elem::Bf16, Elem::F32),
        (Elem::I8, Elem::I8, Elem::I32),
        (Elem::F8e4m3, Elem::F8e5m2, Elem::F32),
        (Elem::Hif8, Elem::Hif8, Elem::F32),
    ];
    for round in 0..rounds(48) {
        let (x, y, to) = types[round % types.len()];
        let (m, n, k) = (1 + random.below(20), 1 + random.below(50), random.below(40));
        let ((la, a), (lb, b)) = (tile(&mut random, x, m, k.max(1)), tile(&mut random, y, k.max(1), n));
        let ((ls, start), (ld, old)) = (tile(&mut random, to, m, n), tile(&mut random, to, m, n));
        let at = |step| Map { origin: [0, 0], step };
        let same = at([[1, 0, 0], [0, 1, 0]]);
        // Fresh, on an accumulator, on a row.
        let plus = [None, Some(same), Some(at([[0, 0, 0], [0, 1, 0]]))][round % 3];
        let args = [((0, &la, x), at([[1, 0, 0], [0, 0, 1]])), ((1, &lb, y), at([[0, 0, 1], [0, 1, 0]]))];
        let from = plus.map(|map| ((2, &ls, to), map));
        let reduced =
            [None, Some(Reduced { dropped: 12, to_even: false }), Some(Reduced { dropped: 13, to_even: true })];
        let func = Func::MulAdd(reduced[round / 6 % 3].filter(|_| x == Elem::F32));
        let staged = PackedKernel::reduce(func, [m, n, k], ((3, &ld, to), same), &args, None, from);
        let mut want = old.clone();
        for i in 0..m {
            for j in 0..n {
                let first = plus.map_or(0, |map| get(&start, &ls, to, map.of([i, j, 0])));
                let step = |s, k| {
                    let (a, b) = (get(&a, &la, x, (i, k)), get(&b, &lb, y, (k, j)));
                    func.eval(to, &[(to, s), (x, a), (y, b)]).unwrap()
                };
                // Without a step what it starts as comes through the arithmetic too.
                let sum = (0..k).fold(first, step);
                let sum = if to.is_nan(sum) { 0x7FC0_0000 } else { sum };
                put(&mut want, &ld, to, (i, j), sum);
            }
        }
        let mut memories = [a, b, start, old];
        staged.run(&mut memories, &places(4)).unwrap();
        assert!(memories[3] == want, "{x}·{y} → {to}, {m}x{n}x{k}");
    }
}

/// Whole blocks of sums, in the layouts of accumulators and in rows, are computed where they lie: fresh, on others, in place.
#[test]
fn whole_blocks_of_products_are_computed_in_place() {
    let mut random = Random(16);
    let f32 = Elem::F32;
    let layout = |loc: Loc, rows: u64, cols: u64| TileType::new(loc, f32, rows, cols).resolve(Profile::Cpu).layout();
    for round in 0..rounds(24) {
        let (m, n, k) = (8 * (1 + random.below(3)), 32 * (1 + random.below(2)), 1 + random.below(40));
        let (rows, depth) = (m.next_multiple_of(16), k.next_multiple_of(16));
        let mut filled = |layout: Layout| {
            let bytes: Vec<u8> =
                (0..layout.footprint()).flat_map(|_| (random.bits(f32) as u32).to_le_bytes()).collect();
            (layout, bytes)
        };
        let (la, a) = filled(layout([Loc::Left, Loc::Vec][round % 2], rows, depth));
        let (lb, b) = filled(layout([Loc::Right, Loc::Vec][round / 2 % 2], depth, n));
        let (ld, old) = filled(layout([Loc::Acc, Loc::Vec][round / 4 % 2], rows, n));
        let (_, start) = filled(ld.clone());
        let at = |step| Map { origin: [0, 0], step };
        let same = at([[1, 0, 0], [0, 1, 0]]);
        let args = [((0, &la, f32), at([[1, 0, 0], [0, 0, 1]])), ((1, &lb, f32), at([[0, 0, 1], [0, 1, 0]]))];
        let from = (round % 3 > 0).then_some(((2, &ld, f32), same));
        let func = Func::MulAdd(None);
        let staged = PackedKernel::reduce(func, [m, n, k], ((3, &ld, f32), same), &args, None, from);
        let in_place = round % 3 == 2;
        let mut want = old.clone();
        for i in 0..m {
            for j in 0..n {
                let first = from.map_or(0, |_| get(if in_place { &old } else { &start }, &ld, f32, (i, j)));
                let step = |s, k| {
                    let (a, b) = (get(&a, &la, f32, (i, k)), get(&b, &lb, f32, (k, j)));
                    func.eval(f32, &[(f32, s), (f32, a), (f32, b)]).unwrap()
                };
                put(&mut want, &ld, f32, (i, j), (0..k).fold(first, step));
            }
        }
        let mut memories = [a, b, start, old];
        let mut at = places(4);
        at[2] = if in_place { at[3] } else { at[2] };
        staged.run(&mut memories, &at).unwrap();
        assert!(memories[3] == want, "{m}x{n}x{k}, round {round}");
    }
}

/// Middling scales are exact in f32, others are not: both ways of the kernel.
#[test]
fn scaled_products_are_rounded_once() {
    let mut random = Random(8);
    let types = [
        (Elem::F8e4m3, Elem::F8e4m3),
        (Elem::F8e4m3, Elem::F8e5m2),
        (Elem::F8e5m2, Elem::F8e5m2),
        (Elem::F4e2m1x2, Elem::F4e2m1x2),
        (Elem::F4e1m2x2, Elem::F4e2m1x2),
    ];
    let (to, scale) = (Elem::F32, Elem::F8e8m0);
    for round in 0..rounds(40) {
        let (x, y) = types[round % types.len()];
        let (m, n, k) = (2 * (1 + random.below(8)), 2 * (1 + random.below(20)), 2 * random.below(60));
        let blocks = k.div_ceil(32).max(1);
        let ((la, a), (lb, b)) = (tile(&mut random, x, m, k.max(1)), tile(&mut random, y, k.max(1), n));
        let ((lx, mut xs), (ly, mut ys)) = (tile(&mut random, scale, m, blocks), tile(&mut random, scale, blocks, n));
        let ((ls, start), (ld, old)) = (tile(&mut random, to, m, n), tile(&mut random, to, m, n));
        for byte in xs.iter_mut().chain(&mut ys) {
            *byte = match round % 4 {
                0 => 100 + random.below(50) as u8,
                1 => [255, 127][usize::from(random.below(9) > 0)],
                _ => random.below(256) as u8,
            };
        }
        let at = |step| Map { origin: [0, 0], step };
        let (left, right) = (at([[1, 0, 0], [0, 0, 1]]), at([[0, 0, 1], [0, 1, 0]]));
        let same = at([[1, 0, 0], [0, 1, 0]]);
        let plus = [None, Some(same), Some(at([[0, 0, 0], [0, 1, 0]]))][round % 3];
        let args = [((0, &la, x), left), ((1, &lb, y), right)];
        let scales = [((2, &lx, scale), left), ((3, &ly, scale), right)];
        let from = plus.map(|map| ((4, &ls, to), map));
        let staged =
            PackedKernel::reduce(Func::ScaledMulAdd, [m, n, k], ((5, &ld, to), same), &args, Some(scales), from);
        let mut want = old.clone();
        for i in 0..m {
            for j in 0..n {
                let first = plus.map_or(0, |map| get(&start, &ls, to, map.of([i, j, 0])));
                let step = |s, k| {
                    let (a, b) = ((x, get(&a, &la, x, (i, k))), (y, get(&b, &lb, y, (k, j))));
                    let scales = [get(&xs, &lx, scale, (i, k / 32)), get(&ys, &ly, scale, (k / 32, j))];
                    Func::ScaledMulAdd.eval(to, &[(to, s), a, b, (scale, scales[0]), (scale, scales[1])]).unwrap()
                };
                let sum = (0..k).fold(first, step);
                put(&mut want, &ld, to, (i, j), if to.is_nan(sum) { 0x7FC0_0000 } else { sum });
            }
        }
        let mut memories = [a, b, xs, ys, start, old];
        staged.run(&mut memories, &places(6)).unwrap();
        assert!(memories[5] == want, "{x}·{y}, {m}x{n}x{k}, round {round}");
    }
}

#[test]
fn gathers_pick_by_linear_index() {
    let mut random = Random(7);
    for elem in [Elem::U8, Elem::F16, Elem::F32, Elem::I64] {
        for idx in [Elem::U16, Elem::I32] {
            let ((ls, src), (li, mut indices)) = (tile(&mut random, elem, 5, 40), tile(&mut random, idx, 7, 30));
            let (ld, old) = tile(&mut random, elem, 7, 30);
            let shape = [ls.rows(), ls.cols()];
            let mut want = old.clone();
            for r in 0..7 {
                for c in 0..30 {
                    let k = random.below(shape[0] * shape[1]);
                    put(&mut indices, &li, idx, (r, c), k);
                    let picked = get(&src, &ls, elem, (k / shape[1], k % shape[1]));
                    put(&mut want, &ld, elem, (r, c), picked);
                }
            }
            let staged = PackedKernel::gather((0, &ls, elem), shape, (1, &li, idx), (2, &ld, elem), [7, 30]);
            let mut memories = [src, indices, old];
            staged.run(&mut memories, &places(3)).unwrap();
            assert!(memories[2] == want, "{elem} by {idx}");
        }
    }
}
