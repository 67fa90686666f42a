//! The numbers that the pages give as checks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use smallvec::SmallVec;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{ScalarType, Sign};
use tessera_micro::run::{Core, Made, Memory, Place, Results, Specials, Value, run};
use tessera_micro::{Attr, Call, Inst, Item, Mask, MicroType, Reg, Ty, find};

/// UB of some bytes; nothing else.
struct Ub(Vec<Option<u8>>);

impl Memory for Ub {
    fn byte(&self, _: Place, at: u64) -> Option<u8> {
        self.0[at as usize]
    }
    fn bytes(&self, _: Place, _: u64, _: usize) -> Option<&[u8]> {
        None
    }
    fn put(&mut self, _: Place, at: u64, value: Option<u8>) {
        self.0[at as usize] = value;
    }
    fn put_all(&mut self, _: Place, at: u64, bytes: &[u8]) {
        for (to, from) in self.0[at as usize..].iter_mut().zip(bytes) {
            *to = Some(*from);
        }
    }
    fn copy(&mut self, from: (Place, u64), to: (Place, u64), len: u64) -> Result<(), tessera_micro::check::Refusal> {
        let bytes = self.0[from.1 as usize..(from.1 + len) as usize].to_vec();
        self.0[to.1 as usize..(to.1 + len) as usize].copy_from_slice(&bytes);
        Ok(())
    }
    fn global(&mut self, _: Place, _: i64, _: u64, _: bool) -> Result<(), tessera_micro::check::Refusal> {
        Ok(())
    }
}

const F32: ScalarType = ScalarType::Float(Elem::F32);
const F16: ScalarType = ScalarType::Float(Elem::F16);
const BF16: ScalarType = ScalarType::Float(Elem::Bf16);

fn vreg(lane: ScalarType) -> Ty {
    Ty::Micro(MicroType::Vreg(lane))
}

fn mask(bits: u8) -> Ty {
    Ty::Micro(MicroType::Mask(bits))
}

fn call(name: &str, values: usize, words: &[&str], attrs: &[(&str, &str)]) -> Call {
    let (name, row) = find(name).unwrap();
    let values = (0..values).map(|_| Item::Value);
    let items = values.chain(words.iter().map(|w| Item::Word(w.to_string()))).collect();
    let attrs = attrs.iter().map(|(key, word)| (key.to_string(), Attr::Word(word.to_string()))).collect();
    Call { name, row, items, attrs }
}

fn compute(call: &Call, args: &[(Ty, Value<'_>)], results: &[Ty]) -> Results {
    let types: SmallVec<[Ty; 8]> = args.iter().map(|a| a.0).collect();
    let inst = Inst { call, args: types, results: results.iter().copied().collect() };
    let values: Vec<Value<'_>> = args.iter().map(|a| a.1).collect();
    let (mut specials, mut ub, mut notes) = (Specials::default(), Ub(vec![None; 4096]), Vec::new());
    run(&inst, &values, &mut Core { specials: &mut specials, memory: &mut ub, notes: &mut notes }).unwrap()
}

fn reg_of(results: &Results) -> &Reg {
    match &results[0] {
        Made::Reg(reg) => reg,
        other => panic!("{other:?}"),
    }
}

fn mask_of(made: &Made) -> Mask {
    match made {
        Made::Mask(mask) => **mask,
        other => panic!("{other:?}"),
    }
}

fn all() -> Mask {
    Mask::of(tessera_micro::Bits::ALL)
}

/// One lane converted.
fn cvt(from: ScalarType, to: ScalarType, bits: u64, attrs: &[(&str, &str)]) -> u64 {
    let size = (tessera_micro::lane_bits(from) / 8) as usize;
    let mut x = Reg::zero();
    x.put(size, 0, bits);
    let call = call("vcvt", 2, &[], attrs);
    let g = tessera_micro::lane_bits(from).min(32) as u8;
    let made = compute(&call, &[(vreg(from), Value::Reg(&x)), (mask(g), Value::Mask(&all()))], &[vreg(to)]);
    reg_of(&made).lane((tessera_micro::lane_bits(to) / 8) as usize, 0)
}

fn f32(v: f32) -> u64 {
    u64::from(v.to_bits())
}

#[test]
fn conversions() {
    let sat = |rnd: &'static str| [("rnd", rnd), ("sat", "SAT"), ("part", "EVEN")];
    let nosat = |rnd: &'static str| [("rnd", rnd), ("sat", "NOSAT"), ("part", "EVEN")];
    assert_eq!(cvt(F32, F16, f32(f32::INFINITY), &sat("R")), 0x7BFF);
    assert_eq!(cvt(F32, F16, f32(f32::NAN), &sat("R")), 0);
    assert_eq!(cvt(F32, F16, f32(-1e-8), &sat("R")), 0x8000);
    assert_eq!(cvt(F32, F16, f32(65520.0), &nosat("R")), 0x7C00);
    let half = 1.0 + 2f32.powi(-11);
    assert_eq!(
        [("R", 0x3C00), ("A", 0x3C01), ("O", 0x3C01)].map(|(m, _)| cvt(F32, F16, f32(half), &sat(m))),
        [0x3C00, 0x3C01, 0x3C01]
    );
    let i32_ = ScalarType::Int(32, Sign::None);
    assert_eq!(cvt(F32, i32_, f32(3e9), &[("rnd", "R"), ("sat", "SAT")]), 0x7FFF_FFFF);
    assert_eq!(cvt(F32, i32_, f32(3e9), &[("rnd", "R"), ("sat", "NOSAT")]), 0xB2D0_5E00);
    let u8_ = ScalarType::Int(8, Sign::Unsigned);
    assert_eq!(cvt(F16, u8_, 0xBC00, &sat("R")), 0);
    assert_eq!(cvt(F16, u8_, 0xBC00, &nosat("R")), 0xFF);
    assert_eq!(cvt(i32_, u8_, 300, &[("sat", "NOSAT"), ("part", "P0")]), 0x2C);
    let e4m3 = ScalarType::Float(Elem::F8e4m3);
    let e5m2 = ScalarType::Float(Elem::F8e5m2);
    let f8 = |m: &'static str| [("rnd", m), ("sat", "SAT"), ("part", "P0")];
    for (m, low, high) in [("R", 0x38, 0x3A), ("A", 0x39, 0x3A), ("H", 0x38, 0x39), ("Z", 0x38, 0x39)] {
        assert_eq!(cvt(F32, e4m3, f32(1.0625), &f8(m)), low, "{m}");
        assert_eq!(cvt(F32, e4m3, f32(1.1875), &f8(m)), high, "{m}");
    }
    assert_eq!([("R"), ("A")].map(|m| cvt(F32, e4m3, f32(1000.0), &f8(m))), [0x7E, 0x78]);
    assert_eq!(["R", "A", "Z"].map(|m| cvt(F32, e5m2, f32(1e10), &f8(m))), [0x7B, 0x7D, 0x7C]);
    let hif8 = ScalarType::Float(Elem::Hif8);
    let inf = |sat: &'static str| cvt(F32, hif8, f32(f32::INFINITY), &[("rnd", "A"), ("sat", sat), ("part", "P0")]);
    assert_eq!([inf("NOSAT"), inf("SAT")], [0x6F, 0x6E]);
    let fp4 = ScalarType::Float(Elem::F4e1m2x2);
    assert_eq!(["R", "A"].map(|m| cvt(BF16, fp4, 0x3F20, &[("rnd", m), ("part", "P0")]) & 15), [2, 3]);
}

#[test]
fn fused_arithmetic_rounds_once() {
    let fused = |lane: ScalarType, acc: u64, x: u64, y: u64| {
        let size = (tessera_micro::lane_bits(lane) / 8) as usize;
        let reg = |bits: u64| Reg::from_lanes(size, |_| Some(bits));
        let (acc, x, y) = (reg(acc), reg(x), reg(y));
        let call = call("vmula", 4, &[], &[]);
        let g = tessera_micro::lane_bits(lane).min(32) as u8;
        let args = [
            (vreg(lane), Value::Reg(&acc)),
            (vreg(lane), Value::Reg(&x)),
            (vreg(lane), Value::Reg(&y)),
            (mask(g), Value::Mask(&all())),
        ];
        reg_of(&compute(&call, &args, &[vreg(lane)])).lane(size, 3)
    };
    let e = 2f32.powi(-12);
    assert_eq!(fused(F32, f32(-1.0), f32(1.0 + e), f32(1.0 - e)), f32(-(2f32.powi(-24))));
    assert_eq!(fused(BF16, 0x0001, 0x3F88, 0x3F88), 0x3F91);
    assert_eq!(fused(BF16, 0x8001, 0x3F88, 0x3F88), 0x3F90);
}

fn words(mask: Mask) -> Vec<u32> {
    mask.bits.words().iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]).collect()
}

#[test]
fn predicates() {
    let pattern = |name: &str, word: &str| {
        let call = call(name, 0, &[word], &[]);
        let g = name.rsplit_once('b').unwrap().1.parse().unwrap();
        mask_of(&compute(&call, &[], &[mask(g)])[0])
    };
    let m4 = pattern("pset_b32", "PAT_M4");
    assert_eq!(words(m4), [0x0001_0001; 8]);
    let one = |name: &str, p: &Mask, word: &str| {
        let call = call(name, 1, &[word], &[]);
        mask_of(&compute(&call, &[(mask(32), Value::Mask(p))], &[mask(32)])[0])
    };
    let packed = one("ppack", &m4, "LOWER");
    assert_eq!(words(packed), [0x0101_0101, 0x0101_0101, 0x0101_0101, 0x0101_0101, 0, 0, 0, 0]);
    assert_eq!(words(one("punpack", &packed, "LOWER")), [0x0001_0001; 8]);
    assert_eq!(words(pattern("pset_b16", "PAT_H")), [0x5555_5555, 0x5555_5555, 0x5555_5555, 0x5555_5555, 0, 0, 0, 0]);
    assert_eq!(words(pattern("pset_b8", "PAT_M3"))[..2], [0x4924_9249, 0x9249_2492]);
    let (a, b) = (pattern("pset_b16", "PAT_VL8"), pattern("pset_b16", "PAT_M4"));
    let both = |name: &str| {
        let call = call(name, 2, &[], &[]);
        let made = compute(&call, &[(mask(16), Value::Mask(&a)), (mask(16), Value::Mask(&b))], &[mask(16), mask(16)]);
        [words(mask_of(&made[0])), words(mask_of(&made[1]))]
    };
    let [lo, hi] = both("pdintlv_b16");
    assert_eq!(lo, [0x55, 0, 0, 0, 0x1111_1111, 0x1111_1111, 0x1111_1111, 0x1111_1111]);
    assert_eq!(hi, [0x55, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(both("pintlv_b16")[0][..2], [0x1115_1115, 0x0004_0004]);
    let below = call("plt_b32", 1, &[], &[]);
    let i32_ = Ty::Scalar(ScalarType::Int(32, Sign::None));
    let made = compute(&below, &[(i32_, Value::Int(13))], &[mask(32), i32_]);
    let (plt, pnot) = (mask_of(&made[0]), call("pnot", 2, &[], &[]));
    let lanes = pattern("pset_b32", "PAT_ALL");
    let not = compute(&pnot, &[(mask(32), Value::Mask(&plt)), (mask(32), Value::Mask(&lanes))], &[mask(32)]);
    let expected = [0, 0x1110_0000, 0x1111_1111, 0x1111_1111, 0x1111_1111, 0x1111_1111, 0x1111_1111, 0x1111_1111];
    assert_eq!(words(mask_of(&not[0])), expected);
}

#[test]
fn sums_are_trees_of_neighbours() {
    let sum = |lane: ScalarType, values: &[u64]| {
        let size = (tessera_micro::lane_bits(lane) / 8) as usize;
        let x = Reg::from_lanes(size, |i| Some(values.get(i).copied().unwrap_or(0)));
        let call = call("vcadd", 2, &[], &[]);
        let g = tessera_micro::lane_bits(lane).min(32) as u8;
        let made = compute(&call, &[(vreg(lane), Value::Reg(&x)), (mask(g), Value::Mask(&all()))], &[vreg(lane)]);
        reg_of(&made).lane(size, 0)
    };
    assert_eq!(sum(F32, &[1e8f32, 1.0, -1e8, 1.0].map(f32)), 0);
    let f16 = |v: f64| Elem::F16.encode_f64(v, tessera_isa::codec::Overflow::Infinity);
    assert_eq!(sum(F16, &[60000.0, 60000.0, -30000.0, 100.0].map(f16)), 0x7C00);
    assert_eq!(sum(F32, &[0x8000_0000; 64]), 0);
}

#[test]
fn whole_registers_give_what_lanes_give() {
    let specials = [0x7F80_0000u32, 0xFF80_0000, 0x7FC1_2345, 0x8000_0000, 1, 0x3F80_0000, 0xC049_0FDB, 0x7F7F_FFFF];
    let pick = |n: usize| u64::from(specials[n % specials.len()]);
    let (x, y) = (Reg::from_lanes(4, |i| Some(pick(i))), Reg::from_lanes(4, |i| Some(pick(i / 8))));
    for (name, func) in [("vadd", 0), ("vsub", 1), ("vmul", 2)] {
        for lane in [F32, ScalarType::Int(32, Sign::None), ScalarType::Int(32, Sign::Unsigned)] {
            let elem = tessera_micro::lane_elem(lane);
            let call = call(name, 3, &[], &[]);
            let args = [(vreg(lane), Value::Reg(&x)), (vreg(lane), Value::Reg(&y)), (mask(32), Value::Mask(&all()))];
            let made = compute(&call, &args, &[vreg(lane)]);
            use tessera_isa::sem::Func;
            let func = [Func::Add, Func::Sub, Func::Mul][func];
            for i in 0..64 {
                let slow = func.eval(elem, &[(elem, x.lane(4, i)), (elem, y.lane(4, i))]);
                assert_eq!(Some(reg_of(&made).lane(4, i)), slow, "{name} of {lane:?}, lane {i}");
            }
        }
    }
}
