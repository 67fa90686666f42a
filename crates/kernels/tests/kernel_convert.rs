//! Conversions of whole rows against the definition, element by element and bit for bit.

use tessera_isa::codec::QuantParam;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Fixpipe;
use tessera_kernels::nest::{Dim, Nest};
use tessera_kernels::{Conversion, Convert, Level, Params, Sides};
use tessera_testkit::random::{Random, rounds};

/// Values where rounding, clamping and the special cases of fixpipe.md 4 show.
fn value(random: &mut Random) -> u32 {
    match random.range(0, 7) {
        0 => {
            [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0xffff_ffff, 0x7f7f_ffff, 0x0000_0001, 0x7f80_0001]
                [random.range(0, 8) as usize]
        }
        1 => random.next() as u32,
        2 => (random.range(0, 2000) as f32 / 2.0 - 500.0).to_bits(),
        // Around the subnormals of f16 and its largest values.
        3 => ((random.range(0, 4096) as f32) * 2f32.powi(-26)).to_bits(),
        4 => (65000.0 + random.range(0, 2000) as f32 / 2.0).to_bits(),
        // Ties of bf16.
        5 => (random.next() as u32) & 0xffff_0000 | 0x8000,
        _ => ((random.next() as i32) as f32 / 1e7).to_bits(),
    }
}

fn params(random: &mut Random, n: usize) -> Vec<QuantParam> {
    let param = |_| {
        let scale = [1.0f32, 0.1, -2.5, 1e-3, 1e30, 0.0, 3e38][random.range(0, 6) as usize];
        let bits = u64::from(scale.to_bits()) | random.range(0, 15) << 32;
        let offset = if random.range(0, 1) == 0 { random.range(0, 511) } else { 0 };
        QuantParam::scalar(bits | offset << 37)
    };
    (0..n).map(param).collect()
}

#[test]
fn every_form_matches_its_definition() {
    let mut random = Random(7);
    for round in 0..rounds(3000) {
        let src = [Elem::F32, Elem::F32, Elem::I32][round % 3];
        let dst = [Elem::F16, Elem::Bf16, Elem::I8, Elem::U8, Elem::F32, Elem::I16, Elem::F8e4m3][round % 7];
        if (src, dst) == (Elem::I32, Elem::F32) || (src, dst) == (Elem::F32, Elem::I16) {
            continue;
        }
        let relu = random.range(0, 1) == 1;
        let conversion = Conversion::Fixpipe(Fixpipe {
            src,
            dst,
            relu,
            hardware_rounding: random.range(0, 1) == 1,
            saturate_inf: random.range(0, 1) == 1,
        });
        let quant = dst.bits() < 16 || dst == Elem::I16 || (src == Elem::I32) || random.range(0, 1) == 1;
        let quant = quant && dst != Elem::F32;
        let (rows, cols, blocks) = (random.range(1, 6), random.range(1, 70), random.range(1, 3));
        let per_column = quant && random.range(0, 1) == 1;
        let step = u64::from(dst.bits() / 8);
        // Rows apart by more than their length on both sides, blocks of columns far apart.
        let (src_gap, dst_gap) = (random.range(0, 5), random.range(0, 5));
        let (block, param) = (rows * (cols * 4 + src_gap), if per_column { cols } else { 0 });
        // Rows go to rows, or to columns as into a DN tile.
        let transposed = random.range(0, 2) == 0;
        let (count, pitch) = if transposed { (cols, rows * step + dst_gap) } else { (rows, cols * step + dst_gap) };
        let row = (rows, cols * 4 + src_gap, if transposed { step } else { pitch }, 0);
        let col = (cols, 4, if transposed { pitch } else { step }, u64::from(per_column));
        let outer = (blocks, block, count * pitch, param);
        let dims = if transposed { [outer, col, row] } else { [outer, row, col] };
        let nest = Nest {
            bits: [dst.bits(), 32, 64, 0],
            base: [0; 4],
            dims: dims
                .iter()
                .map(|&(extent, src, dst, param)| Dim { extent, step: [dst as i64, src as i64, 8 * param as i64, 0] })
                .collect(),
        };
        // Not one byte more than the nest touches.
        let src_len = (blocks * rows * (cols * 4 + src_gap) - src_gap) as usize;
        let dst_len = (blocks * count * pitch - dst_gap) as usize;
        let mut from = random.bytes(src_len);
        nest.for_each_element(|[_, s, ..]| {
            let x = if src == Elem::I32 { (random.next() >> random.range(32, 63)) as u32 } else { value(&mut random) };
            from[s as usize..s as usize + 4].copy_from_slice(&x.to_le_bytes());
        });
        let to = random.bytes(dst_len);
        let list = match (quant, per_column) {
            (false, _) => Vec::new(),
            (true, false) => params(&mut random, 1),
            (true, true) => params(&mut random, (blocks * cols) as usize),
        };
        let mut want = to.clone();
        nest.for_each_element(|[d, s, p, _]| {
            let [d, s, size] = [d as usize, s as usize, dst.bits() as usize / 8];
            let bits = u32::from_le_bytes(from[s..s + 4].try_into().unwrap());
            let value = conversion.apply(bits.into(), list.get(p as usize / 8));
            want[d..d + size].copy_from_slice(&value.to_le_bytes()[..size]);
        });
        let params = Params::new(list);
        for level in Level::available() {
            let convert = Convert::new(nest.clone(), conversion, level);
            let mut got = to.clone();
            convert.run(Sides::Two(&from, &mut got), [0, 0], &params).unwrap();
            assert_eq!(got, want, "{conversion:?} {level:?} quant {quant} {params:?} {nest:?}");
            let mut memory = [to.clone(), from.clone()].concat();
            convert.run(Sides::One(&mut memory), [to.len(), 0], &params).unwrap();
            assert_eq!(&memory[..to.len()], &want[..], "one memory, {conversion:?} {level:?}");
        }
    }
}

#[test]
fn the_vectors_of_the_specification() {
    // fixpipe.md 4: scale 1, signed, offset 0, and on cpu with offset 3.
    let input = [0.5f32, 1.5, 2.5, -0.5, -1.5, 300.0, -300.0, f32::INFINITY, f32::NAN];
    let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_le_bytes()).collect();
    let dim = Dim { extent: 9, step: [1, 4, 0, 0] };
    let nest = Nest { bits: [8, 32, 64, 0], base: [0; 4], dims: [dim].into_iter().collect() };
    let one = 1u64 << 46 | u64::from(1f32.to_bits());
    for level in Level::available() {
        for hardware_rounding in [false, true] {
            let fixpipe =
                Fixpipe { src: Elem::F32, dst: Elem::I8, relu: false, hardware_rounding, saturate_inf: false };
            let convert = Convert::new(nest.clone(), Conversion::Fixpipe(fixpipe), level);
            let mut out = [0u8; 9];
            convert.run(Sides::Two(&bytes, &mut out), [0, 0], &Params::new([QuantParam::scalar(one)])).unwrap();
            assert_eq!(out.map(|b| b as i8), [0, 2, 2, 0, -2, 127, -128, 127, 0]);
            if !hardware_rounding {
                convert
                    .run(Sides::Two(&bytes, &mut out), [0, 0], &Params::new([QuantParam::scalar(one | 3 << 37)]))
                    .unwrap();
                assert_eq!(out.map(|b| b as i8)[..5], [4, 4, 6, 2, 2]);
            }
        }
    }
}

#[test]
fn a_missing_parameter_is_refused() {
    let dim = Dim { extent: 9, step: [1, 4, 8, 0] };
    let nest = Nest { bits: [8, 32, 64, 0], base: [0, 0, 16, 0], dims: [dim].into_iter().collect() };
    let fixpipe = Fixpipe { src: Elem::F32, dst: Elem::I8, relu: false, hardware_rounding: false, saturate_inf: false };
    let convert = Convert::new(nest, Conversion::Fixpipe(fixpipe), Level::best());
    let params = |n: usize| Params::new(vec![QuantParam::scalar(1 << 46); n]);
    assert!(convert.run(Sides::Two(&[0; 36], &mut [0; 9]), [0, 0], &params(10)).is_err());
    assert!(convert.run(Sides::Two(&[0; 36], &mut [0; 9]), [0, 0], &params(11)).is_ok());
}
