//! Nests that compute, against the definition of what an element becomes, bit for bit.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use smallvec::SmallVec;
use tessera_isa::codec::Overflow;
use tessera_isa::elem::Elem;
use tessera_isa::layout::Layout;
use tessera_isa::sem::{Func, Rounding, Saturation};
use tessera_kernels::nest::{DST, Map, Operand, lower};
use tessera_kernels::{Level, MapKernel, Mapped, MemoryId, Place};
use tessera_testkit::random::{self, Random};

/// Every function with how many arguments it takes.
const FUNCS: [(Func, usize); 29] = [
    (Func::Abs, 1),
    (Func::Neg, 1),
    (Func::Not, 1),
    (Func::Relu, 1),
    (Func::Recip, 1),
    (Func::Exp, 1),
    (Func::Log, 1),
    (Func::Sqrt, 1),
    (Func::Rsqrt, 1),
    (Func::Add, 2),
    (Func::Sub, 2),
    (Func::Mul, 2),
    (Func::Div, 2),
    (Func::MulRecip, 2),
    (Func::Rem, 2),
    (Func::Fmod, 2),
    (Func::Pow, 2),
    (Func::Max, 2),
    (Func::Min, 2),
    (Func::And, 2),
    (Func::Or, 2),
    (Func::Xor, 2),
    (Func::Shl, 2),
    (Func::Shr, 2),
    (Func::Prelu, 2),
    (Func::ExpDif, 2),
    (Func::AddAdd, 3),
    (Func::SubAdd, 3),
    (Func::Axpy, 3),
];

const ELEMS: [Elem; 11] = [
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

/// Random bits, with zeros, infinities, NaNs, subnormals and the ends of the integers among them.
fn value(random: &mut Random, elem: Elem) -> u64 {
    let sign = 1u64 << (elem.bits() - 1);
    let exponent = match elem {
        Elem::F16 => 0x7C00,
        Elem::Bf16 => 0x7F80,
        _ => 0x7F80_0000,
    };
    let bits = match random.range(0, 12) {
        // Numbers that are neither huge nor tiny, halves among them.
        10.. if elem.is_float() => {
            let v = (random.range(0, 4000) as f64 - 2000.0) / random.pick(&[1.0, 2.0, 4.0, 100.0]);
            elem.encode_f64(v, Overflow::Infinity)
        }
        10.. => (random.range(0, 20) as i64 - 10) as u64,
        0 => 0,
        1 => sign,
        2 => exponent,
        3 => exponent | sign,
        4 => exponent | (1 + random.range(0, 3)),
        5 => random.range(0, 3),
        6 => sign - 1,
        _ => random.next(),
    };
    bits & elem.mask()
}

fn read(bytes: &[u8], at: i64, elem: Elem) -> u64 {
    let element = &bytes[at as usize..at as usize + elem.bits() as usize / 8];
    element.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}

/// Runs a function on random values in random shapes, at every level, against its definition.
fn compare(random: &mut Random, func: Func, to: Elem, types: &[Elem], rounds: usize) {
    let size = |elem: Elem| elem.bits() as usize / 8;
    for round in 0..random::rounds(rounds) {
        let longest = if random.once_in(8) { 700 } else { 150 };
        let (rows, cols) = (random.range(1, 5), random.range(1, longest));
        // Side by side, with a pitch, column by column, or one value a row, a column or for all.
        let shape = |random: &mut Random| {
            let pitch = cols + random.range(0, 3);
            match random.range(0, 5) {
                0 => (Layout::col_major(rows, cols, rows), Map::SAME),
                1 => (Layout::row_major(rows, cols, pitch), Map { origin: [0, 0], step: [[1, 0], [0, 0]] }),
                2 => (Layout::row_major(rows, cols, pitch), Map { origin: [0, 0], step: [[0, 0], [0, 1]] }),
                _ => (Layout::row_major(rows, cols, pitch), Map::SAME),
            }
        };
        let mut shapes = vec![(shape(random).0, Map::SAME)];
        let mut args: SmallVec<[(Elem, Option<u64>); 3]> = SmallVec::new();
        let mut elems = vec![to];
        for (n, elem) in types.iter().enumerate() {
            let may_be_scalar = args.iter().any(|(_, scalar)| scalar.is_none()) || n + 1 < types.len();
            if random.range(0, 4) == 0 && may_be_scalar {
                // A float scalar enters as f32 now and then, whatever the elements are.
                let elem = if elem.is_float() && random.once_in(2) { Elem::F32 } else { *elem };
                args.push((elem, Some(value(random, elem))));
            } else {
                args.push((*elem, None));
                shapes.push(shape(random));
                elems.push(*elem);
            }
        }
        // In place: the first argument is the destination.
        let in_place = round % 3 == 0 && elems[1] == to;
        if in_place {
            shapes[1] = shapes[0].clone();
        }
        let mut memories: Vec<Vec<u8>> = Vec::new();
        for ((layout, _), elem) in shapes.iter().zip(&elems) {
            let values = (0..layout.footprint()).map(|_| value(random, *elem));
            memories.push(values.flat_map(|v| v.to_le_bytes().into_iter().take(size(*elem))).collect());
        }
        let operands: Vec<Operand<'_>> = shapes
            .iter()
            .zip(&elems)
            .map(|((layout, map), elem)| Operand { layout, map: *map, bits: elem.bits() })
            .collect();
        let mut places: Vec<Place> =
            (0..shapes.len()).map(|memory| Place { memory: MemoryId::new(memory), at: 0 }).collect();
        if in_place {
            places[1] = places[0];
        }
        let mapped = Mapped { func, to, args };
        let nests = lower([rows, cols], &operands);
        let mut want = memories[0].clone();
        for nest in &nests {
            nest.for_each_element(|at| {
                let elements = (1..shapes.len()).map(|k| read(&memories[places[k].memory.index()], at[k], elems[k]));
                let result = mapped.eval(elements).unwrap().to_le_bytes();
                want[at[DST] as usize..at[DST] as usize + size(to)].copy_from_slice(&result[..size(to)]);
            });
        }
        for level in Level::available() {
            let mut got = memories.clone();
            for nest in &nests {
                MapKernel::new(nest.clone(), mapped.clone(), level).run(&mut got, &places).unwrap();
            }
            if got[0] != want {
                let at = got[0].iter().zip(&want).position(|(x, y)| x != y).unwrap_or(0) / size(to) * size(to);
                let (got, want) = (read(&got[0], at as i64, to), read(&want, at as i64, to));
                panic!("{mapped:?} {level:?} {rows}x{cols}: byte {at} is {got:#x} and not {want:#x}");
            }
            assert_eq!(got[1..], memories[1..], "only the destination is written");
        }
    }
}

#[test]
fn every_function_and_type_matches_its_definition() {
    let mut random = Random(21);
    for (func, arity) in FUNCS {
        for elem in ELEMS {
            let types = vec![elem; arity];
            if func.is_defined(elem, &types) {
                compare(&mut random, func, elem, &types, 24);
            }
        }
    }
    for narrow in [Elem::F16, Elem::Bf16] {
        compare(&mut random, Func::Axpy, Elem::F32, &[narrow, narrow, Elem::F32], 40);
    }
}

/// Rows that are long enough to be asked for NaN more than once, in place or not, and scalars beside which sums are subnormal.
#[test]
fn every_half_with_scalars_matches_its_definition() {
    let smallest = f32::from_bits(27 << 23);
    let scalars = [1.25, -smallest, smallest.next_down(), f32::from_bits(0x8000_0001), f32::NEG_INFINITY]
        .map(f32::to_bits)
        .into_iter()
        .chain([0x7FFF_FFFF, 0]);
    let codes = Layout::row_major(1, 1 << 16, 1 << 16);
    let all = Operand { layout: &codes, map: Map::SAME, bits: 16 };
    let nest = lower([1, 1 << 16], &[all, all]).remove(0);
    for (scalar, elem) in scalars.flat_map(|scalar| [(scalar, Elem::F16), (scalar, Elem::Bf16)]) {
        for func in [Func::Add, Func::Sub, Func::Mul] {
            let args = SmallVec::from_slice(&[(elem, None), (Elem::F32, Some(u64::from(scalar)))]);
            let mapped = Mapped { func, to: elem, args };
            let codes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
            let want: Vec<u8> =
                (0..1 << 16).flat_map(|code| (mapped.eval([code]).unwrap() as u16).to_le_bytes()).collect();
            for (level, dst) in Level::available().flat_map(|level| [(level, 0), (level, 1)]) {
                let places = [dst, 1].map(|memory| Place { memory: MemoryId::new(memory), at: 0 });
                let mut memories = [vec![0; 1 << 17], codes.clone()];
                MapKernel::new(nest.clone(), mapped.clone(), level).run(&mut memories, &places).unwrap();
                assert!(memories[dst] == want, "{func:?} {elem:?} {scalar:#x} {level:?}");
            }
        }
    }
}

#[test]
fn every_conversion_matches_its_definition() {
    let mut random = Random(22);
    for from in ELEMS {
        for to in ELEMS {
            for rounding in Rounding::ALL {
                for saturation in [None, Some(Saturation::On), Some(Saturation::Off)] {
                    let func = Func::Cvt { rounding: *rounding, saturation };
                    compare(&mut random, func, to, &[from], 2);
                }
            }
        }
    }
}

#[test]
fn a_nest_that_leaves_its_memory_is_refused() {
    let nd = Layout::row_major(4, 16, 16);
    let whole = Operand { layout: &nd, map: Map::SAME, bits: 32 };
    let nest = lower([4, 16], &[whole, whole, whole]).remove(0);
    let mapped = Mapped { func: Func::Add, to: Elem::F32, args: SmallVec::from_elem((Elem::F32, None), 2) };
    let kernel = MapKernel::new(nest, mapped, Level::best());
    let places = [0, 1, 2].map(|memory| Place { memory: MemoryId::new(memory), at: 0 });
    assert!(kernel.run(&mut [vec![0u8; 256], vec![0; 256], vec![0; 256]], &places).is_ok());
    for short in 0..3 {
        let mut memories = [vec![0u8; 256], vec![0; 256], vec![0; 256]];
        memories[short].pop();
        assert!(kernel.run(&mut memories, &places).is_err());
    }
    assert!(kernel.run(&mut [vec![0u8; 256], vec![0; 256]], &places).is_err());
    assert!(kernel.run(&mut [vec![0u8; 256], vec![0; 256], vec![0; 256]], &places[..2]).is_err());
}
