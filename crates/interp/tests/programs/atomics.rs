//! Atomic stores of several blocks, compared with blocks that run one after the other on copies, element by element.

use super::support::{Program, f32s, rules};
use std::fmt::Write;
use tessera_isa::codec::Overflow;
use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;
use tessera_isa::sem::Func;
use tessera_testkit::random::Random;

/// Elements of an array, of a list of indices, and of the table in an array that is scattered to.
const LENGTH: usize = 3000;
const INDICES: usize = 2400;
const TABLE: [u64; 2] = [20, 32];

/// The arrays: %x is only loaded, %a only combined with, %b combined with and stored to, %c combined with and loaded, and
/// everything happens to %d.
const ARRAYS: [&str; 5] = ["x", "a", "b", "c", "d"];

/// The elements of an instruction's view: the first element of block 0, the distance to the next block's, and strides.
#[derive(Clone, Copy, Debug)]
struct View {
    array: usize,
    first: u64,
    step: u64,
    strides: [u64; 2],
}

impl View {
    fn at(&self, block: u64, [i, j]: [u64; 2]) -> usize {
        (self.first + block * self.step + i * self.strides[0] + j * self.strides[1]) as usize
    }
}

#[derive(Clone, Copy, Debug)]
enum Deed {
    Load(View),
    /// Into the half of the other tile that is ever written.
    LoadHalf(View),
    Store(View),
    Add(View),
    /// Of the other tile.
    AddHalf(View),
    /// Elements or rows, by indices from here on.
    Scatter(View, Func, bool, u64),
}

struct Case {
    elem: Elem,
    blocks: u32,
    valid: [u64; 2],
    deeds: Vec<Deed>,
    arrays: Vec<Vec<u64>>,
    indices: [Vec<u64>; 2],
}

/// A number of the type, now and then one that is special.
fn number(r: &mut Random, elem: Elem) -> u64 {
    match elem.is_float() && !r.once_in(8) {
        true => elem.encode_f64(r.below(4000) as f64 / 7.0 - 250.0, Overflow::Infinity),
        false => r.next() & elem.mask(),
    }
}

fn view(r: &mut Random, array: usize) -> View {
    let step = r.pick(&[0, 0, 1, 37, 300]);
    let pitch = r.pick(&[32, 32, 40, 7, 1, 0]);
    View { array, first: r.below(300), step, strides: [pitch, r.pick(&[1, 1, 1, 2])] }
}

fn case(r: &mut Random, has_undefined: bool) -> Case {
    let elem = r.pick(&[
        Elem::F32,
        Elem::F32,
        Elem::F16,
        Elem::Bf16,
        Elem::I8,
        Elem::I16,
        Elem::I32,
        Elem::U8,
        Elem::U16,
        Elem::U32,
    ]);
    let adds = !matches!(elem, Elem::U8 | Elem::U16 | Elem::U32);
    let valid = r.pick(&[[16, 32], [16, 32], [15, 31], [1, 8], [3, 2]]);
    let mut deeds = vec![Deed::Load(view(r, 0))];
    for _ in 0..r.range(2, 9) {
        let array = r.range(1, 4) as usize;
        let scatter = |r: &mut Random| {
            let func = r.pick(&[Func::Add, Func::Max, Func::Min]);
            Deed::Scatter(view(r, array), func, r.once_in(2), r.below(300))
        };
        deeds.push(match (r.below(10), array) {
            (0, _) => Deed::Load(view(r, 0)),
            (1, 3 | 4) => Deed::Load(view(r, array)),
            (2 | 3, 2 | 4) => Deed::Store(view(r, array)),
            (4, _) if has_undefined => Deed::LoadHalf(view(r, 0)),
            (5, _) if has_undefined && adds => Deed::AddHalf(view(r, array)),
            (6..8, _) => scatter(r),
            _ if adds => Deed::Add(view(r, array)),
            _ => scatter(r),
        });
    }
    let arrays = ARRAYS.map(|_| (0..LENGTH).map(|_| number(r, elem)).collect()).into();
    let indices = [TABLE[0] * TABLE[1], TABLE[0]].map(|below| (0..INDICES).map(|_| r.below(below)).collect());
    Case { elem, blocks: r.range(1, 6) as u32, valid, deeds, arrays, indices }
}

impl Case {
    fn text(&self) -> String {
        let (elem, [rows, cols]) = (self.elem, self.valid);
        let tile = format!("!pto.tile_buf<vec, 16x32x{elem}, valid={rows}x{cols}>");
        let half = format!("!pto.tile_buf<vec, 16x32x{elem}, valid={}x{}>", rows.div_ceil(2), cols / 2);
        let index = [
            format!("!pto.tile_buf<vec, 16x32xi32, valid={rows}x{cols}>"),
            format!("!pto.tile_buf<vec, 16x8xi32, valid={rows}x1>"),
        ];
        let arguments = ARRAYS.map(|name| format!("%{name}: !pto.ptr<{elem}>")).join(", ");
        let mut text = format!(
            "func.func @kernel({arguments}, %elements: !pto.ptr<i32>, %rows: !pto.ptr<i32>) {{
  %block = pto.get_block_idx
  %this = arith.index_cast %block : i64 to index
  %at0 = arith.constant 0 : i64
  %at1 = arith.constant 8192 : i64
  %at2 = arith.constant 16384 : i64
  %at3 = arith.constant 24576 : i64
  %t = pto.alloc_tile addr = %at0 : {tile}
  %u = pto.alloc_tile addr = %at1 : {tile}
  %half = pto.alloc_tile addr = %at1 : {half}
  %i0 = pto.alloc_tile addr = %at2 : {}
  %i1 = pto.alloc_tile addr = %at3 : {}\n",
            index[0], index[1]
        );
        let mut views = 0;
        let mut view = |text: &mut String, name: &str, ty: &str, view: &View, shape: [u64; 2]| {
            views += 1;
            let numbers = [view.first, view.step, shape[0], shape[1], view.strides[0], view.strides[1]];
            for (k, number) in numbers.iter().enumerate() {
                let _ = writeln!(text, "  %n{views}_{k} = arith.constant {number} : index");
            }
            let n = format!("%n{views}");
            let _ = writeln!(
                text,
                "  {n}_6 = arith.muli %this, {n}_1 : index
  {n}_7 = arith.addi {n}_6, {n}_0 : index
  %p{views} = pto.addptr %{name}, {n}_7 : !pto.ptr<{ty}> -> !pto.ptr<{ty}>
  %v{views} = pto.make_tensor_view %p{views}, shape = [{n}_2, {n}_3], strides = [{n}_4, {n}_5] : !pto.tensor_view<?x?x{ty}>"
            );
            format!("%v{views} : !pto.tensor_view<?x?x{ty}>")
        };
        let ty = elem.to_string();
        for deed in &self.deeds {
            let (of, shape) = match deed {
                Deed::LoadHalf(of) => (of, [rows.div_ceil(2), cols / 2]),
                Deed::Load(of) | Deed::Store(of) | Deed::Add(of) | Deed::AddHalf(of) => (of, [rows, cols]),
                Deed::Scatter(of, ..) => (&View { strides: [TABLE[1], 1], ..*of }, TABLE),
            };
            let there = view(&mut text, ARRAYS[of.array], &ty, of, shape);
            let atomic = "{atomicType = #pto<atomic_type atomic_add>}";
            let line = match deed {
                Deed::Load(_) => format!("  pto.tload ins({there}) outs(%t : {tile})"),
                Deed::LoadHalf(_) => format!("  pto.tload ins({there}) outs(%half : {half})"),
                Deed::Store(_) => format!("  pto.tstore ins(%t : {tile}) outs({there})"),
                Deed::Add(_) => format!("  pto.tstore ins(%t : {tile}) outs({there}) {atomic}"),
                Deed::AddHalf(_) => format!("  pto.tstore ins(%u : {tile}) outs({there}) {atomic}"),
                Deed::Scatter(of, func, by_row, from) => {
                    let n = usize::from(*by_row);
                    let (name, shape) = [("elements", [rows, cols]), ("rows", [rows, 1])][n];
                    let list = View { array: 0, first: *from, step: of.step, strides: [shape[1], 1] };
                    let list = view(&mut text, name, "i32", &list, shape);
                    let _ = writeln!(text, "  pto.tload ins({list}) outs(%i{n} : {})", index[n]);
                    let op = match func {
                        Func::Max => "max",
                        Func::Min => "min",
                        _ => "add",
                    };
                    format!(
                        "  pto.mscatter ins(%t, %i{n} : {tile}, {}) outs({there}) {{scatterAtomicOp = #pto<scatter_atomic_op {op}>}}",
                        index[n]
                    )
                }
            };
            let _ = writeln!(text, "{line}");
        }
        text + "  return\n}"
    }

    fn points(&self) -> impl Iterator<Item = [u64; 2]> + use<> {
        let [rows, cols] = self.valid;
        (0..rows).flat_map(move |i| (0..cols).map(move |j| [i, j]))
    }

    /// The arrays after all blocks.
    fn expected(&self) -> Vec<Vec<u64>> {
        let mut all = self.arrays.clone();
        for block in 0..u64::from(self.blocks) {
            let mut own = Own::new(&self.arrays, self.elem);
            let (mut tile, mut other) = (vec![None; 16 * 32], vec![None; 16 * 32]);
            let place = |[i, j]: [u64; 2]| (i * 32 + j) as usize;
            for deed in &self.deeds {
                match deed {
                    Deed::Load(from) => {
                        self.points().for_each(|p| tile[place(p)] = Some(own.arrays[from.array][from.at(block, p)]));
                    }
                    Deed::LoadHalf(from) => {
                        let [rows, cols] = [self.valid[0].div_ceil(2), self.valid[1] / 2];
                        for p in self.points().filter(|p| p[0] < rows && p[1] < cols) {
                            other[place(p)] = Some(own.arrays[from.array][from.at(block, p)]);
                        }
                    }
                    Deed::Store(to) => {
                        for p in self.points() {
                            let at = (to.array, to.at(block, p));
                            own.arrays[at.0][at.1] = tile[place(p)].unwrap();
                            own.written[at.0][at.1] = true;
                        }
                    }
                    Deed::Add(to) => {
                        self.points().for_each(|p| own.combine((to.array, to.at(block, p)), Func::Add, tile[place(p)]));
                    }
                    Deed::AddHalf(to) => {
                        self.points()
                            .for_each(|p| own.combine((to.array, to.at(block, p)), Func::Add, other[place(p)]));
                    }
                    Deed::Scatter(to, func, by_row, from) => {
                        let first = from + block * to.step;
                        for [i, j] in self.points() {
                            let n = if *by_row { i } else { i * self.valid[1] + j };
                            let index = self.indices[usize::from(*by_row)][(first + n) as usize];
                            let at = if *by_row { index * TABLE[1] + j } else { index };
                            let at = to.first + block * to.step + at;
                            own.combine((to.array, at as usize), *func, tile[place([i, j])]);
                        }
                    }
                }
            }
            own.leave(&mut all);
        }
        all
    }

    fn program(&self, text: &str) -> Program {
        let bytes = |list: &[u64], size: u32| -> Vec<u8> {
            list.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size as usize / 8)).collect()
        };
        let mut program = Program::new(text, Profile::Cpu)
            .buffer("elements", &bytes(&self.indices[0], 32))
            .buffer("rows", &bytes(&self.indices[1], 32))
            .blocks(self.blocks);
        for (name, array) in ARRAYS.iter().zip(&self.arrays) {
            program = program.buffer(name, &bytes(array, self.elem.bits()));
        }
        program
    }
}

/// One block's view of the arrays, and its writes.
struct Own {
    elem: Elem,
    arrays: Vec<Vec<u64>>,
    written: Vec<Vec<bool>>,
    combined: Vec<((usize, usize), Func, u64)>,
}

impl Own {
    fn new(arrays: &[Vec<u64>], elem: Elem) -> Self {
        let written = arrays.iter().map(|array| vec![false; array.len()]).collect();
        Own { elem, arrays: arrays.to_vec(), written, combined: Vec::new() }
    }

    fn combine(&mut self, at: (usize, usize), func: Func, fresh: Option<u64>) {
        let Some(fresh) = fresh else { return };
        let old = &mut self.arrays[at.0][at.1];
        *old = func.eval(self.elem, &[(self.elem, *old), (self.elem, fresh)]).unwrap();
        if !self.written[at.0][at.1] {
            self.combined.push((at, func, fresh));
        }
    }

    fn leave(self, all: &mut [Vec<u64>]) {
        for (at, func, fresh) in self.combined {
            let old = &mut all[at.0][at.1];
            *old = func.eval(self.elem, &[(self.elem, *old), (self.elem, fresh)]).unwrap();
        }
        for ((all, own), written) in all.iter_mut().zip(self.arrays).zip(self.written) {
            for (n, _) in written.iter().enumerate().filter(|(_, written)| **written) {
                all[n] = own[n];
            }
        }
    }
}

#[test]
fn blocks_combine_one_after_the_other() {
    let mut r = Random(41);
    let mut undefined = 0;
    for round in 0..240 {
        let case = case(&mut r, round % 3 == 0);
        let (text, expected) = (case.text(), case.expected());
        let copied = case.program(&text).record(true).run();
        let size = case.elem.bits() as usize / 8;
        let runs = [1, 2, 3, 6].map(|threads| {
            // Undefined elements have any value if definedness is not tracked.
            let tracked = round % 3 == 0 || threads != 3;
            (threads, tracked, case.program(&text).threads(threads).tracked(tracked).fuses(threads != 6).run())
        });
        for (threads, tracked, ran) in &runs {
            assert!(!ran.failed(), "{:?}\n{text}", ran.diagnostics);
            if *tracked {
                assert_eq!(format!("{:?}", ran.diagnostics), format!("{:?}", copied.diagnostics), "{text}");
            }
            for (name, expected) in ARRAYS.iter().zip(&expected) {
                for (n, (is, want)) in ran.buffer(name).chunks_exact(size).zip(expected).enumerate() {
                    let want = &want.to_le_bytes()[..size];
                    assert_eq!(is, want, "element {n} of %{name}, {} blocks on {threads}\n{text}", case.blocks);
                }
            }
        }
        undefined += usize::from(rules(&copied.diagnostics).contains(&"undefined-read"));
    }
    assert!(undefined > 20, "{undefined}");
}

/// Each block adds its own number to all of %a many times, more than logs have room for.
#[test]
fn logs_that_grow_too_long_wait_for_their_turn() {
    let (rounds, blocks) = (300, 5);
    let tile = "!pto.tile_buf<vec, 64x256xf32>";
    let text = format!(
        "func.func @kernel(%a: !pto.ptr<f32>, %x: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %rounds = arith.constant {rounds} : index
  %block = pto.get_block_idx
  %this = arith.index_cast %block : i64 to index
  %x1 = pto.addptr %x, %this : !pto.ptr<f32> -> !pto.ptr<f32>
  %v = pto.make_tensor_view %a, shape = [%c64, %c256], strides = [%c256, %c1] : !pto.tensor_view<?x?xf32>
  %w = pto.make_tensor_view %x1, shape = [%c64, %c256], strides = [%c256, %c1] : !pto.tensor_view<?x?xf32>
  %t = pto.alloc_tile : {tile}
  pto.tload ins(%w : !pto.tensor_view<?x?xf32>) outs(%t : {tile})
  scf.for %i = %c0 to %rounds step %c1 {{
    pto.tstore ins(%t : {tile}) outs(%v : !pto.tensor_view<?x?xf32>) {{atomicType = #pto<atomic_type atomic_add>}}
  }}
  return
}}"
    );
    let x: Vec<f32> = (0..64 * 256 + blocks).map(|n| 1.0 / (n * 7919 % 1013 + 3) as f32).collect();
    let mut expected = vec![0.0f32; 64 * 256];
    for block in 0..blocks {
        for (sum, x) in expected.iter_mut().zip(&x[block..]) {
            (0..rounds).for_each(|_| *sum += x);
        }
    }
    let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
    for threads in [1, 2, 4] {
        let program = Program::new(&text, Profile::Cpu).buffer("a", &vec![0; 64 * 256 * 4]).buffer("x", &bytes);
        let ran = program.blocks(blocks as u32).threads(threads).run();
        assert!(f32s(ran.buffer("a")) == expected, "on {threads}");
    }
}
