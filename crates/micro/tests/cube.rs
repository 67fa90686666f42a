//! Instructions of the cube core against the formulas of cube.md, element by element, and the numbers of its checks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::HashMap;
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{ScalarType, Sign};
use tessera_micro::check::Refusal;
use tessera_micro::run::{Core, Memory, Place, Specials, Value, run};
use tessera_micro::{Attr, Call, GroupItem, Inst, Item, Space, Ty, find};

const I64: Ty = Ty::Scalar(ScalarType::Int(64, Sign::None));
const ELEMS: [Elem; 9] = [
    Elem::F32,
    Elem::F16,
    Elem::Bf16,
    Elem::I8,
    Elem::F8e4m3,
    Elem::F8e5m2,
    Elem::Hif8,
    Elem::F4e2m1x2,
    Elem::F4e1m2x2,
];

/// Every memory, undefined at the start.
#[derive(Default)]
struct Chip(HashMap<(Space, u32), Vec<Option<u8>>>);

impl Chip {
    fn of(&mut self, space: Space, unit: u32) -> &mut Vec<Option<u8>> {
        self.0.entry((space, unit)).or_insert_with(|| vec![None; 1 << 20])
    }

    fn put(&mut self, space: Space, at: usize, bytes: &[u8]) {
        for (to, from) in self.of(space, 0)[at..].iter_mut().zip(bytes) {
            *to = Some(*from);
        }
    }

    fn get(&mut self, space: Space, unit: u32, at: usize, size: usize) -> Option<u64> {
        let bytes = &self.of(space, unit)[at..at + size];
        bytes.iter().rev().try_fold(0, |bits, byte| Some(bits << 8 | u64::from((*byte)?)))
    }
}

impl Memory for Chip {
    fn byte(&self, place: Place, at: u64) -> Option<u8> {
        self.0.get(&(place.space, place.unit))?[at as usize]
    }
    fn bytes(&self, _: Place, _: u64, _: usize) -> Option<&[u8]> {
        None
    }
    fn put(&mut self, place: Place, at: u64, value: Option<u8>) {
        self.of(place.space, place.unit)[at as usize] = value;
    }
    fn put_all(&mut self, place: Place, at: u64, bytes: &[u8]) {
        for (k, byte) in bytes.iter().enumerate() {
            Memory::put(self, place, at + k as u64, Some(*byte));
        }
    }
    fn copy(&mut self, from: (Place, u64), to: (Place, u64), len: u64) -> Result<(), Refusal> {
        for k in 0..len {
            let byte = self.byte(from.0, from.1 + k);
            Memory::put(self, to.0, to.1 + k, byte);
        }
        Ok(())
    }
    fn global(&mut self, _: Place, _: i64, _: u64, _: bool) -> Result<(), Refusal> {
        Ok(())
    }
}

/// An instruction under construction.
struct Case {
    call: Call,
    types: Vec<Ty>,
    values: Vec<Value<'static>>,
}

impl Case {
    fn new(name: &str) -> Case {
        let (name, row) = find(name).unwrap();
        Case { call: Call { name, row, items: Vec::new(), attrs: Vec::new() }, types: Vec::new(), values: Vec::new() }
    }
    fn value(mut self, ty: Ty, value: Value<'static>) -> Case {
        self.types.push(ty);
        self.values.push(value);
        self
    }
    fn ptr(mut self, elem: Elem, space: Space, at: i64) -> Case {
        self.call.items.push(Item::Value);
        self.value(Ty::Ptr(elem, space), Value::Ptr(Place { space, unit: 0 }, at))
    }
    fn ints(mut self, values: &[i64]) -> Case {
        for v in values {
            self.call.items.push(Item::Value);
            self = self.value(I64, Value::Int(*v));
        }
        self
    }
    fn group(mut self, name: &str, values: &[i64]) -> Case {
        self.call.items.push(Item::Group(name.into(), vec![GroupItem::Value; values.len()]));
        for v in values {
            self = self.value(I64, Value::Int(*v));
        }
        self
    }
    fn word(mut self, word: &str) -> Case {
        self.call.items.push(Item::Word(word.into()));
        self
    }
    fn items(mut self, name: &str, items: Vec<GroupItem>) -> Case {
        self.call.items.push(Item::Group(name.into(), items));
        self
    }
    fn attr(mut self, key: &str, value: Attr) -> Case {
        self.call.attrs.push((key.into(), value));
        self
    }
    fn check(&self) -> Vec<&'static str> {
        let inst = Inst { call: &self.call, args: self.types.iter().copied().collect(), results: Default::default() };
        let known = tessera_micro::run::known(&self.values);
        tessera_micro::check::check(&inst, &known).iter().map(|d| d.rule).collect()
    }
    fn run_with(&self, chip: &mut Chip, specials: &mut Specials) -> Result<Vec<&'static str>, Refusal> {
        let found = self.check();
        let inst = Inst { call: &self.call, args: self.types.iter().copied().collect(), results: Default::default() };
        let mut notes = Vec::new();
        assert!(found.iter().all(|rule| rule.ends_with("overlap")), "{found:?}");
        run(&inst, &self.values, &mut Core { specials, memory: chip, notes: &mut notes })?;
        // What the race checker knows of the instruction is what it did.
        Ok(notes.iter().map(|note| note.rule).collect())
    }
    fn run(&self, chip: &mut Chip) {
        let notes = self.run_with(chip, &mut Specials::default()).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(notes, Vec::<&str>::new());
    }
}

/// Numbers from a linear congruence.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// The byte, and the shift, of element (r, c) of boxes (cube.md 1).
fn boxed(r: usize, c: usize, boxes: usize, elem: Elem) -> (usize, usize) {
    let bits = elem.bits() as usize;
    let c0 = 256 / bits;
    let at = 512 * ((c / c0) * boxes + r / 16) + 32 * (r % 16) + (c % c0) * bits / 8;
    (at, (c % c0) * bits % 8)
}

fn bits_at(chip: &mut Chip, space: Space, (at, shift): (usize, usize), elem: Elem) -> Option<u64> {
    let size = (elem.bits() as usize).div_ceil(8);
    Some(chip.get(space, 0, at, size)? >> shift & elem.mask())
}

fn real(elem: Elem, bits: u64) -> f64 {
    match elem.decode(bits) {
        Number::Int(v) => v as f64,
        Number::Float(v) => v,
    }
}

#[test]
fn matrices_become_boxes() {
    let mut dice = Dice(1);
    for (elem, by_columns) in [(Elem::F16, false), (Elem::F32, true), (Elem::I8, false), (Elem::I8, true)] {
        let sz = elem.bits() as usize / 8;
        let (n, d, groups) = (21usize, 37usize, 2usize);
        let pitch = if by_columns { n + 3 } else { d + 5 } * sz;
        let so = 4096;
        let mut chip = Chip::default();
        let source = dice.bytes(16384);
        chip.put(Space::Gm, 0, &source);
        let mode = if by_columns { "dn2nz" } else { "nd2nz" };
        let l4 = 600;
        Case::new("mte_gm_l1_frac")
            .ptr(elem, Space::Gm, 8)
            .ptr(elem, Space::L1, 1024)
            .word(mode)
            .group("shape", &[n as i64, d as i64])
            .group("src_layout", &[pitch as i64, so])
            .group("dst_group", &[groups as i64, 1, 32, l4])
            .group("ctrl", &[0, 0])
            .run(&mut chip);
        let c0 = 32 / sz;
        for g in 0..groups {
            for i in 0..n {
                for j in 0..d.div_ceil(c0) * c0 {
                    let at = 1024 + 32 * (g * l4 as usize + j / c0 * 32 + i) + sz * (j % c0);
                    let from = 8 + g * so as usize + if by_columns { j * pitch + i * sz } else { i * pitch + j * sz };
                    let bytes = source
                        .get(from..from + sz)
                        .filter(|_| j < d)
                        .map_or(0, |b| b.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)));
                    assert_eq!(chip.get(Space::L1, 0, at, sz), Some(bytes), "{elem} {mode} ({i}, {j})");
                }
            }
        }
        // Rows behind the last one are not touched.
        assert_eq!(chip.get(Space::L1, 0, 1024 + 32 * n, 1), None);
    }
}

#[test]
fn loads_move_boxes_and_transpose_elements() {
    let mut dice = Dice(2);
    for elem in ELEMS {
        for (rows, k) in [(16i64, 64i64), (40, 64), (70, 192)] {
            let mut chip = Chip::default();
            chip.put(Space::L1, 0, &dice.bytes(1 << 17));
            let plain = Case::new("mte_l1_l0a").ptr(elem, Space::L1, 512).ptr(elem, Space::L0a, 1024).ints(&[rows, k]);
            plain.run(&mut chip);
            let boxes = (rows as usize).div_ceil(16);
            for i in 0..rows as usize {
                for c in 0..k as usize {
                    let (at, shift) = boxed(i, c, boxes, elem);
                    let moved = bits_at(&mut chip, Space::L0a, (1024 + at, shift), elem);
                    assert_eq!(moved, bits_at(&mut chip, Space::L1, (512 + at, shift), elem));
                }
            }
            let turned = Case::new("mte_l1_l0b")
                .ptr(elem, Space::L1, 512)
                .ptr(elem, Space::L0b, 0)
                .ints(&[k, rows])
                .attr("transpose", Attr::Bool(true));
            turned.run(&mut chip);
            // The source is stored K × N, the operand N × K, both sides padded to whole boxes of both directions.
            let q = (256 / elem.bits() as usize).max(16);
            let (source, target) = ((k as usize).div_ceil(q) * q / 16, (rows as usize).div_ceil(q) * q / 16);
            for c in 0..k as usize {
                for j in 0..rows as usize {
                    let (from, to) = (boxed(c, j, source, elem), boxed(j, c, target, elem));
                    let moved = bits_at(&mut chip, Space::L0b, to, elem);
                    let expected = bits_at(&mut chip, Space::L1, (512 + from.0, from.1), elem);
                    assert_eq!(moved, expected, "{elem} B({c}, {j}) of {k}x{rows}");
                }
            }
        }
    }
}

/// The sum of cube.md 5, one step after the other, by the exact product of two binary32 numbers and one rounding.
fn chain(start: f32, pairs: impl Iterator<Item = (f64, f64)>) -> f32 {
    pairs.fold(start, |s, (x, y)| (x as f32).mul_add(y as f32, s))
}

#[test]
fn products_add_in_order_with_one_rounding_a_step() {
    let mut dice = Dice(3);
    for elem in ELEMS.into_iter().filter(|elem| !elem.is_fp4()) {
        for (m, n, k) in [(1usize, 16usize, 40usize), (5, 3, 7), (17, 33, 70)] {
            let to = if elem == Elem::I8 { Elem::I32 } else { Elem::F32 };
            let mut chip = Chip::default();
            let mut left = vec![0u8; 1 << 15];
            let mut right = vec![0u8; 1 << 15];
            let code = |dice: &mut Dice| match elem {
                Elem::I8 => dice.below(256),
                _ => elem.encode_f64((dice.below(4000) as f64 - 2000.0) / 256.0, Overflow::Saturate),
            };
            let sz = elem.bits() as usize / 8;
            let (mut a, mut b) = (HashMap::new(), HashMap::new());
            for c in 0..k {
                for i in 0..m {
                    let at = if m == 1 { c * sz } else { boxed(i, c, m.div_ceil(16), elem).0 };
                    let bits = code(&mut dice);
                    left[at..at + sz].copy_from_slice(&bits.to_le_bytes()[..sz]);
                    a.insert((i, c), real(elem, bits));
                }
                for j in 0..n {
                    let at = boxed(j, c, n.div_ceil(16), elem).0;
                    let bits = code(&mut dice);
                    right[at..at + sz].copy_from_slice(&bits.to_le_bytes()[..sz]);
                    b.insert((c, j), real(elem, bits));
                }
            }
            chip.put(Space::L0a, 512, &left);
            chip.put(Space::L0b, 1024, &right);
            let bias: Vec<u8> = (0..64u32).flat_map(|j| ((j as f32) * 0.37).to_le_bytes()).collect();
            chip.put(Space::Bt, 64, &bias);
            let extents = [m as i64, n as i64, k as i64];
            let operands = |name: &str| {
                Case::new(name).ptr(elem, Space::L0a, 512).ptr(elem, Space::L0b, 1024).ptr(to, Space::L0c, 64)
            };
            operands("mad_bias").ptr(to, Space::Bt, 64).ints(&extents).run(&mut chip);
            operands("mad_acc").ints(&extents).run(&mut chip);
            let rows = m.div_ceil(16) * 16;
            for i in 0..if m == 1 { 1 } else { rows } {
                for j in 0..n.div_ceil(16) * 16 {
                    let at = 64 + 64 * ((j / 16) * rows + i) + 4 * (j % 16);
                    let made = chip.get(Space::L0c, 0, at, 4);
                    if i >= m || j >= n {
                        assert_eq!(made, None, "the footprint is undefined");
                        continue;
                    }
                    let pairs = || (0..k).map(|c| (a[&(i, c)], b[&(c, j)]));
                    let expected = match to {
                        Elem::I32 => {
                            let start = ((j as f32) * 0.37).to_bits() as i32;
                            let sum: i32 = pairs().map(|(x, y)| x as i32 * y as i32).sum();
                            start.wrapping_add(sum).wrapping_add(sum) as u32
                        }
                        _ => chain(chain((j as f32) * 0.37, pairs()), pairs()).to_bits(),
                    };
                    assert_eq!(made, Some(u64::from(expected)), "{elem} ({i}, {j}) of {m}x{n}x{k}");
                }
            }
        }
    }
}

#[test]
fn scales_multiply_blocks() {
    let mut dice = Dice(4);
    for (elem, m) in [(Elem::F8e4m3, 20usize), (Elem::F8e5m2, 1), (Elem::F4e2m1x2, 18), (Elem::F4e1m2x2, 1)] {
        let (n, k) = (17usize, 128usize);
        let mut chip = Chip::default();
        chip.put(Space::L0a, 0, &dice.bytes(1 << 14));
        chip.put(Space::L0b, 512, &dice.bytes(1 << 14));
        let codes = |dice: &mut Dice| (0..4096).map(|_| 120 + dice.below(14) as u8).collect::<Vec<_>>();
        chip.put(Space::L1, 0, &codes(&mut dice));
        // Two columns of 32-byte pieces a row of boxes: what ZZ 32 and NN 32 are.
        Case::new("mte_l1_l0a_mx")
            .ptr(Elem::F8e8m0, Space::L1, 0)
            .ptr(elem, Space::L0a, 0)
            .ints(&[m as i64, k as i64])
            .run(&mut chip);
        Case::new("mte_l1_l0b_mx")
            .ptr(Elem::F8e8m0, Space::L1, 1024)
            .ptr(elem, Space::L0b, 512)
            .ints(&[k as i64, n as i64])
            .run(&mut chip);
        Case::new("mad_mx")
            .ptr(elem, Space::L0a, 0)
            .ptr(elem, Space::L0b, 512)
            .ptr(Elem::F32, Space::L0c, 0)
            .ints(&[m as i64, n as i64, k as i64])
            .run(&mut chip);
        let rows = m.div_ceil(16) * 16;
        let scale = |chip: &mut Chip, base: usize, i: usize, g: usize, is_run: bool| {
            let at = if is_run { g } else { 32 * ((i / 16) * 2 + g / 2) + 2 * (i % 16) + g % 2 };
            (chip.get(Space::L1, 0, base + at, 1).unwrap() as f64 - 127.0).exp2()
        };
        for i in 0..m {
            for j in 0..n {
                let mut s = 0f32;
                let mut is_nan = false;
                for c in 0..k {
                    let bits = elem.bits() as usize;
                    let place = match m {
                        1 => (c * bits / 8, c * bits % 8),
                        _ => boxed(i, c, rows / 16, elem),
                    };
                    let x = real(elem, bits_at(&mut chip, Space::L0a, place, elem).unwrap());
                    let (at, shift) = boxed(j, c, 2, elem);
                    let y = real(elem, bits_at(&mut chip, Space::L0b, (512 + at, shift), elem).unwrap());
                    let exact =
                        x * scale(&mut chip, 0, i, c / 32, m == 1) * (y * scale(&mut chip, 1024, j, c / 32, false));
                    is_nan |= (s + exact as f32).is_nan();
                    // These products fit binary32, so one fused step is exact.
                    s = (exact as f32).mul_add(1.0, s);
                }
                let expected = if is_nan { 0x7FC0_0000 } else { s.to_bits() };
                let at = 64 * ((j / 16) * rows + i) + 4 * (j % 16);
                assert_eq!(chip.get(Space::L0c, 0, at, 4), Some(u64::from(expected)), "{elem} ({i}, {j})");
            }
        }
    }
}

#[test]
fn saturating_products_know_no_infinity() {
    // cube.md 5: f32, sat: inf·1, NaN·1, 2e38·2; nosat: inf, NaN, inf.
    let values = [f32::INFINITY, f32::NAN, 2e38];
    for (sat, expected) in
        [(true, [f32::MAX.to_bits(), 0, f32::MAX.to_bits()]), (false, [0x7F80_0000, 0x7FC0_0000, 0x7F80_0000])]
    {
        let mut chip = Chip::default();
        for (i, value) in values.iter().enumerate() {
            chip.put(Space::L0a, boxed(i, 0, 1, Elem::F32).0, &value.to_le_bytes());
            chip.put(Space::L0b, boxed(i, 0, 1, Elem::F32).0, &(if i == 2 { 2f32 } else { 1.0 }).to_le_bytes());
        }
        let mad =
            Case::new("mad").ptr(Elem::F32, Space::L0a, 0).ptr(Elem::F32, Space::L0b, 0).ptr(Elem::F32, Space::L0c, 0);
        mad.ints(&[3, 3, 1]).word(if sat { "sat" } else { "nosat" }).run(&mut chip);
        for (i, expected) in expected.into_iter().enumerate() {
            assert_eq!(chip.get(Space::L0c, 0, 64 * i + 4 * i, 4), Some(u64::from(expected)), "sat {sat}, {i}");
        }
    }
    // Without a word CTRL bit 48 decides.
    let mut chip = Chip::default();
    chip.put(Space::L0a, 0, &f32::INFINITY.to_le_bytes());
    chip.put(Space::L0b, 0, &1f32.to_le_bytes());
    let mad =
        Case::new("mad").ptr(Elem::F32, Space::L0a, 0).ptr(Elem::F32, Space::L0b, 0).ptr(Elem::F32, Space::L0c, 0);
    let mut specials = Specials { control: 0, ..Specials::default() };
    mad.ints(&[1, 1, 1]).run_with(&mut chip, &mut specials).unwrap();
    assert_eq!(chip.get(Space::L0c, 0, 0, 4), Some(u64::from(f32::MAX.to_bits())));
    // hif8 0x40 · 0x40 = 256.
    chip.put(Space::L0a, 0, &[0x40]);
    chip.put(Space::L0b, 0, &[0x40]);
    let mad =
        Case::new("mad").ptr(Elem::Hif8, Space::L0a, 0).ptr(Elem::Hif8, Space::L0b, 0).ptr(Elem::F32, Space::L0c, 0);
    mad.ints(&[1, 1, 1]).run(&mut chip);
    assert_eq!(chip.get(Space::L0c, 0, 0, 4), Some(u64::from(256f32.to_bits())));
}

#[test]
fn tf32_rounds_operands_first() {
    for (mode, expected) in [("round_even", 0x3F80_0000u32), ("round_away", 0x3F80_2000)] {
        let mut chip = Chip::default();
        // 1 + 2^-11 lies between two numbers of 10 mantissa bits.
        chip.put(Space::L0a, 0, &0x3F80_1000u32.to_le_bytes());
        chip.put(Space::L0b, 0, &1f32.to_le_bytes());
        let mad =
            Case::new("mad").ptr(Elem::F32, Space::L0a, 0).ptr(Elem::F32, Space::L0b, 0).ptr(Elem::F32, Space::L0c, 0);
        mad.ints(&[1, 1, 1]).items("tf32_mode", vec![GroupItem::Word(mode.into())]).run(&mut chip);
        assert_eq!(chip.get(Space::L0c, 0, 0, 4), Some(u64::from(expected)));
    }
}

/// A store of one accumulator, with clauses; what one element becomes.
fn stored(from: (Elem, u32), to: Elem, clauses: impl Fn(Case) -> Case, chip: &mut Chip) -> u64 {
    chip.put(Space::L0c, 0, &from.1.to_le_bytes());
    let case = Case::new("mte_l0c_gm").ptr(from.0, Space::L0c, 0).ptr(to, Space::Gm, 0).ints(&[1, 1, 16, 1, 0, 0]);
    clauses(case).run(chip);
    chip.get(Space::Gm, 0, 0, to.bits() as usize / 8).unwrap()
}

fn quant(case: Case, mode: &str, payload: (Ty, Value<'static>)) -> Case {
    let items = vec![GroupItem::Value, GroupItem::Pair("mode".into(), mode.into())];
    case.items("pre_quant", items).value(payload.0, payload.1)
}

fn f32_of(v: f64) -> (Ty, Value<'static>) {
    (Ty::Scalar(ScalarType::Float(Elem::F32)), Value::Int(v.to_bits() as i64))
}

fn in_fb(at: i64) -> (Ty, Value<'static>) {
    (Ty::Ptr(Elem::F32, Space::Fb), Value::Ptr(Place { space: Space::Fb, unit: 0 }, at))
}

#[test]
fn values_are_narrowed_as_the_page_says() {
    let mut chip = Chip::default();
    let cast = |case: Case| quant(case, "f32_f16", f32_of(0.0));
    let plain = |v: f32, word: &str, chip: &mut Chip| {
        let with = |case: Case| if word.is_empty() { cast(case) } else { cast(case).word(word) };
        stored((Elem::F32, v.to_bits()), Elem::F16, with, chip)
    };
    for (v, sat, nosat) in [(72000f32, 0x7BFF, 0x7C00), (f32::NEG_INFINITY, 0xFBFF, 0xFC00), (f32::NAN, 0, 0x7E00)] {
        assert_eq!(plain(v, "sat", &mut chip), sat, "{v}");
        assert_eq!(plain(v, "nosat", &mut chip), nosat, "{v}");
        // The cast overflows to infinity where nothing is said.
        assert_eq!(plain(v, "", &mut chip), nosat, "{v}");
    }
    let keeps = |case: Case| cast(case).items("sat", vec![GroupItem::Word("preserve_nan".into())]);
    assert_eq!(stored((Elem::F32, f32::NAN.to_bits()), Elem::F16, keeps, &mut chip), 0x7E00);
    // _vec reads 64-bit words and the upper 19 bits of the scale.
    chip.put(Space::Fb, 256, &u64::from(0.1f32.to_bits()).to_le_bytes());
    let vector = |case: Case| quant(case, "qf322f32_pre_vec", in_fb(256));
    let made = stored((Elem::F32, 1f32.to_bits()), Elem::F32, vector, &mut chip);
    assert_eq!(f32::from_bits(made as u32), 0.099_975_586f32);
    // scalar_relu 0.25: -8 → -2. clip 8: 8.5 → 8.
    let relu = |items: Vec<GroupItem>| move |case: Case| cast(case).items("pre_relu", items.clone());
    let mode = |word: &str| GroupItem::Pair("mode".into(), word.into());
    let slope = |case: Case| {
        let (ty, value) = f32_of(0.25);
        relu(vec![GroupItem::Value, mode("scalar_relu")])(case).value(ty, value)
    };
    assert_eq!(stored((Elem::F32, (-8f32).to_bits()), Elem::F16, slope, &mut chip), 0xC000);
    let clip = |case: Case| {
        let ty = Ty::Scalar(ScalarType::Float(Elem::F16));
        relu(vec![mode("no_relu"), GroupItem::Named("clip".into())])(case).value(ty, Value::Int(8f64.to_bits() as i64))
    };
    assert_eq!(stored((Elem::F32, 8.5f32.to_bits()), Elem::F16, clip, &mut chip), 0x4800);
    // Integers: round to even, clamp, offset, clamp; the sign is bit 46.
    let word =
        |scale: f32, offset: u64, signed: bool| u64::from(scale.to_bits()) | offset << 37 | u64::from(signed) << 46;
    for (v, word, to, expected) in [
        (2.5f32, word(1.0, 0, true), Elem::I8, 2u64),
        (-300.0, word(1.0, 0, true), Elem::I8, 0x80),
        (300.0, word(1.0, 3, false), Elem::U8, 0xFF),
        (-300.0, word(1.0, 257, false), Elem::U8, 1),
        (f32::NAN, word(1.0, 3, true), Elem::I8, 0),
        (-5.0, word(1.0, 0, false), Elem::I8, 0),
    ] {
        chip.put(Space::Fb, 128, &word.to_le_bytes());
        let vector = |case: Case| quant(case, "qf322b8_pre_vec", in_fb(128));
        assert_eq!(stored((Elem::F32, v.to_bits()), to, vector, &mut chip), expected, "{v} to {to}");
    }
    let scaled = |case: Case| quant(case, "qf322fp8_pre_scalar", f32_of(2.0));
    assert_eq!(stored((Elem::F32, 1000f32.to_bits()), Elem::F8e4m3, scaled, &mut chip), 0x7E);
    let nosat = |case: Case| quant(case, "qf322fp8_pre_scalar", f32_of(-2.0)).word("nosat");
    assert_eq!(stored((Elem::F32, 1000f32.to_bits()), Elem::F8e4m3, nosat, &mut chip), 0xFF);
    let i32_f16 = |case: Case| quant(case, "deqf16_scalar", f32_of(0.5));
    assert_eq!(stored((Elem::I32, -6i32 as u32), Elem::F16, i32_f16, &mut chip), 0xC200);
    assert_eq!(stored((Elem::I32, 0x8000_0001), Elem::I32, |case| case, &mut chip), 0x8000_0001);
}

#[test]
fn layouts_place_elements() {
    let (m, n, ss) = (20i64, 32i64, 32i64);
    let element = |i: i64, j: i64| (1000 * i + j) as f32;
    let fresh = || {
        let mut chip = Chip::default();
        for i in 0..m + 30 {
            for j in 0..n {
                let at = 64 * ((j / 16) * 64 + i) + 4 * (j % 16);
                chip.put(Space::L0c, at as usize, &element(i, j).to_le_bytes());
            }
        }
        chip
    };
    let value = |chip: &mut Chip, space: Space, unit: u32, at: i64| {
        chip.get(space, unit, at as usize, 4).map(|bits| f32::from_bits(bits as u32))
    };
    let _ = ss;
    // Columns with a step of 2 rows, twice: the second time one row later.
    let mut chip = fresh();
    Case::new("mte_l0c_gm")
        .ptr(Elem::F32, Space::L0c, 0)
        .ptr(Elem::F32, Space::Gm, 0)
        .ints(&[m, n, 64, 24, 0, 0])
        .group("nz2dn", &[2])
        .group("loop3", &[2, 1, 1000])
        .run(&mut chip);
    for (r, i, j) in (0..2).flat_map(|r| (0..m).flat_map(move |i| (0..n).map(move |j| (r, i, j)))) {
        let made = value(&mut chip, Space::Gm, 0, 4 * (r * 1000 + j * 24 + i));
        assert_eq!(made, Some(element(2 * i + r, j)), "({i}, {j}) of {r}");
    }
    // Blocks of 8 columns.
    let mut chip = fresh();
    Case::new("mte_l0c_l1")
        .ptr(Elem::F32, Space::L0c, 0)
        .ptr(Elem::F32, Space::L1, 32)
        .ints(&[m, n, 64, 200])
        .group("nz2nz", &[1])
        .run(&mut chip);
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let made = value(&mut chip, Space::L1, 0, 32 + 4 * ((j / 8) * 200 + i * 8 + j % 8));
        assert_eq!(made, Some(element(i, j)));
    }
    // Halves to the two vector cores.
    for word in ["split_m", "split_n"] {
        let mut chip = fresh();
        Case::new("mte_l0c_ub")
            .ptr(Elem::F32, Space::L0c, 0)
            .ptr(Elem::F32, Space::Ub, 64)
            .ints(&[m, n, 64, 40])
            .items("dst_mode", vec![GroupItem::Word(word.into())])
            .run(&mut chip);
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let (core, i2, j2) = match word {
                "split_m" => (i / 10, i % 10, j),
                _ => (j / 16, i, j % 16),
            };
            assert_eq!(value(&mut chip, Space::Ub, 1 + core as u32, 64 + 4 * (i2 * 40 + j2)), Some(element(i, j)));
        }
    }
    // Adding to what is there.
    let mut chip = fresh();
    chip.put(Space::Gm, 0, &(0..1024u32).flat_map(|k| (k as f32).to_le_bytes()).collect::<Vec<_>>());
    let pair = |key: &str, word: &str| GroupItem::Pair(key.into(), word.into());
    Case::new("mte_l0c_gm")
        .ptr(Elem::F32, Space::L0c, 0)
        .ptr(Elem::F32, Space::Gm, 0)
        .ints(&[m, n, 64, 32, 0, 0])
        .word("nz2nd")
        .items("atomic", vec![pair("type", "f32"), pair("op", "add")])
        .run(&mut chip);
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        assert_eq!(value(&mut chip, Space::Gm, 0, 4 * (32 * i + j)), Some(element(i, j) + (32 * i + j) as f32));
    }
}

#[test]
fn undefined_bytes_travel() {
    let mut chip = Chip::default();
    chip.put(Space::L0a, 0, &[0; 512]);
    chip.put(Space::L0b, 0, &[0; 512]);
    chip.of(Space::L0a, 0)[32 * 3] = None;
    let mad =
        Case::new("mad").ptr(Elem::F32, Space::L0a, 0).ptr(Elem::F32, Space::L0b, 0).ptr(Elem::F32, Space::L0c, 0);
    mad.ints(&[5, 4, 8]).run(&mut chip);
    for i in 0..5 {
        assert_eq!(chip.get(Space::L0c, 0, 64 * i, 4).is_none(), i == 3, "row {i}");
    }
    // A bias row brings the bytes behind it.
    chip.put(Space::L1, 0, &[0; 8]);
    Case::new("mte_l1_bt")
        .ptr(Elem::F16, Space::L1, 0)
        .ptr(Elem::F32, Space::Bt, 0)
        .ints(&[1])
        .group("nburst", &[1, 0, 0])
        .run(&mut chip);
    assert_eq!(chip.get(Space::Bt, 0, 12, 4), Some(0));
    assert_eq!(chip.get(Space::Bt, 0, 16, 1), None);
    // An undefined parameter is used.
    let vector = quant(
        Case::new("mte_l0c_gm").ptr(Elem::F32, Space::L0c, 0).ptr(Elem::F32, Space::Gm, 0).ints(&[1, 1, 16, 1, 0, 0]),
        "qf322f32_pre_vec",
        in_fb(0),
    );
    let found = vector.run_with(&mut chip, &mut Specials::default()).unwrap_err();
    assert_eq!(found.rule, "undefined-use");
}

#[test]
fn blocks_reach_the_vector_core_and_words_fill_l1() {
    let mut chip = Chip::default();
    Case::new("raw_fill_l1")
        .ptr(Elem::F16, Space::L1, 32)
        .ints(&[64, 0x1234_5678, 2, 3, 1])
        .attr("fill_word_bits", Attr::Int(16, None))
        .run(&mut chip);
    assert_eq!(chip.get(Space::L1, 0, 96, 4), Some(0x5678_5678));
    assert_eq!(chip.get(Space::L1, 0, 96 + 96, 1), None);
    assert_eq!(chip.get(Space::L1, 0, 96 + 128, 2), Some(0x5678));
    // 64 blocks of 32 bytes, five times, reach 10240 bytes.
    chip.put(Space::L1, 0, &Dice(9).bytes(10240));
    Case::new("mte_l1_ub")
        .ptr(Elem::F32, Space::L1, 0)
        .ptr(Elem::F32, Space::Ub, 0)
        .ints(&[64])
        .group("nburst", &[5, 0, 0])
        .run(&mut chip);
    for k in 0..10240 {
        assert_eq!(chip.get(Space::Ub, 1, k, 1), chip.get(Space::L1, 0, k, 1));
    }
}

#[test]
fn broken_rules_are_named() {
    let mad = |m: i64, at: i64| {
        Case::new("mad")
            .ptr(Elem::F16, Space::L0a, at)
            .ptr(Elem::F16, Space::L0b, 0)
            .ptr(Elem::F32, Space::L0c, 0)
            .ints(&[m, 16, 16])
    };
    let store = |to: Elem| Case::new("mte_l0c_l1").ptr(Elem::F32, Space::L0c, 0).ptr(to, Space::L1, 0);
    let mode = |word: &str| vec![GroupItem::Pair("mode".into(), word.into())];
    let cases: Vec<(Case, &str)> = vec![
        (mad(16, 0), ""),
        (mad(4096, 0), "mad-range"),
        (mad(16, 256), "mad-align"),
        (mad(16, 65536), "l0a-bounds"),
        (mad(16, 0).word("sat").word("nosat"), "syntax"),
        (mad(16, 0).items("tf32_mode", vec![GroupItem::Word("round_even".into())]), "mad-clause"),
        (mad(16, 0).word("gently"), "syntax"),
        (
            Case::new("mad")
                .ptr(Elem::F16, Space::L0a, 0)
                .ptr(Elem::Bf16, Space::L0b, 0)
                .ptr(Elem::F32, Space::L0c, 0)
                .ints(&[1, 1, 1]),
            "mad-dtype",
        ),
        (
            Case::new("mad")
                .ptr(Elem::F16, Space::L1, 0)
                .ptr(Elem::F16, Space::L0b, 0)
                .ptr(Elem::F32, Space::L0c, 0)
                .ints(&[1, 1, 1]),
            "mad-space",
        ),
        (
            Case::new("mad_mx")
                .ptr(Elem::F8e4m3, Space::L0a, 0)
                .ptr(Elem::F8e4m3, Space::L0b, 0)
                .ptr(Elem::F32, Space::L0c, 0)
                .ints(&[16, 16, 32]),
            "mad_mx-range",
        ),
        (store(Elem::F32).ints(&[16, 16, 16, 16]), ""),
        (store(Elem::F32).ints(&[16, 16, 16, 0]), "mte_l0c_l1-align"),
        (store(Elem::F32).ints(&[16, 16, 16, 8]), "mte_l0c_l1-overlap"),
        (store(Elem::F16).ints(&[16, 16, 16, 16]), "mte_l0c_l1-dtype"),
        (store(Elem::F32).ints(&[16, 16, 16, 16]).items("pre_relu", mode("big_relu")), "mte_l0c_l1-mode"),
        (store(Elem::F32).ints(&[16, 16, 16, 16]).items("pre_relu", mode("vector_relu")), "mte_l0c_l1-payload"),
        (store(Elem::F32).ints(&[16, 16, 16, 16]).group("loop3", &[1, 0, 0]), "mte_l0c_l1-layout"),
        (store(Elem::F32).ints(&[16, 24, 16, 16]).word("nz2nz"), "mte_l0c_l1-layout"),
        (
            Case::new("mte_l1_l0a").ptr(Elem::F16, Space::L1, 0).ptr(Elem::F16, Space::L0a, 0).ints(&[1, 2, 3]),
            "mte_l1_l0a-form",
        ),
        (
            Case::new("mte_l1_l0a").ptr(Elem::F16, Space::L1, 0).ptr(Elem::F16, Space::L0b, 0).ints(&[1, 2]),
            "mte_l1_l0a-space",
        ),
        (
            Case::new("mte_l1_l0a").ptr(Elem::F16, Space::L1, 0).ptr(Elem::F16, Space::L0a, 0).ints(&[16, 8192]),
            "mte_l1_l0a-range",
        ),
        (Case::new("raw_fill_l1").ptr(Elem::F16, Space::L1, 0).ints(&[0, 0, 1, 1, 0]), "raw_fill_l1-attr"),
        (
            Case::new("mte_l1_fb")
                .ptr(Elem::F32, Space::L1, 0)
                .ptr(Elem::F32, Space::Fb, 4032)
                .ints(&[2])
                .group("nburst", &[1, 0, 0]),
            "fb-bounds",
        ),
    ];
    for (case, rule) in cases {
        let found = case.check();
        assert_eq!(found.first().copied().unwrap_or(""), rule, "{:?}", case.call.items);
    }
}
