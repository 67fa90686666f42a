//! Nests that compute, against the definition of what an element becomes, bit for bit.

use smallvec::SmallVec;
use tessera_exec::engine::memory::MemoryId;
use tessera_exec::kernels::{Level, MapKernel, Mapped};
use tessera_exec::nest::{DST, Map, Operand, Place, lower};
use tessera_isa::elem::Elem;
use tessera_isa::layout::Layout;
use tessera_isa::sem::Func;
use tessera_testkit::random::Random;

/// Every function that has a kernel, with how many arguments it takes.
const FUNCS: [(Func, usize); 1] = [(Func::Add, 2)];

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
    let bits = match random.range(0, 9) {
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

#[test]
fn every_function_and_type_matches_its_definition() {
    let mut random = Random(21);
    for (func, arity) in FUNCS {
        for elem in ELEMS {
            for round in 0..60 {
                let (rows, cols) = (random.range(1, 5), random.range(1, 150));
                let size = elem.bits() as usize / 8;
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
                let (to, _) = shape(&mut random);
                let mut shapes = vec![(to, Map::SAME)];
                let mut args: SmallVec<[(Elem, Option<u64>); 3]> = SmallVec::new();
                for _ in 0..arity {
                    if random.range(0, 4) == 0 && args.iter().any(|(_, scalar)| scalar.is_none()) {
                        args.push((elem, Some(value(&mut random, elem))));
                    } else {
                        args.push((elem, None));
                        shapes.push(shape(&mut random));
                    }
                }
                // In place: the first argument is the destination.
                let in_place = round % 3 == 0;
                if in_place {
                    shapes[1] = shapes[0].clone();
                }
                let bytes = |layout: &Layout| layout.footprint() as usize * size;
                let mut memories: Vec<Vec<u8>> = Vec::new();
                for (layout, _) in &shapes {
                    let elements = bytes(layout) / size;
                    let values = (0..elements).map(|_| value(&mut random, elem));
                    memories.push(values.flat_map(|v| v.to_le_bytes().into_iter().take(size)).collect());
                }
                let operands: Vec<Operand<'_>> =
                    shapes.iter().map(|(layout, map)| Operand { layout, map: *map, bits: elem.bits() }).collect();
                let mut places: Vec<Place> =
                    (0..shapes.len()).map(|memory| Place { memory: MemoryId::new(memory), at: 0 }).collect();
                if in_place {
                    places[1] = places[0];
                }
                let mapped = Mapped { func, to: elem, args };
                let nests = lower([rows, cols], &operands);
                let mut want = memories[0].clone();
                for nest in &nests {
                    nest.for_each_element(|at| {
                        let elements =
                            (1..shapes.len()).map(|k| read(&memories[places[k].memory.index()], at[k], elem));
                        let result = mapped.eval(elements).to_le_bytes();
                        want[at[DST] as usize..at[DST] as usize + size].copy_from_slice(&result[..size]);
                    });
                }
                for level in Level::available() {
                    let mut got = memories.clone();
                    for nest in &nests {
                        MapKernel::new(nest.clone(), mapped.clone(), level).run(&mut got, &places).unwrap();
                    }
                    assert_eq!(got[0], want, "{mapped:?} {level:?} {rows}x{cols}");
                    assert_eq!(got[1..], memories[1..], "only the destination is written");
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
