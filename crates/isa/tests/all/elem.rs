//! The table of element types, against tile-model.md 3 and 6.

use std::collections::HashSet;

use tessera_isa::elem::{Elem, ElemKind, PadKind};

#[test]
fn every_spelling_of_the_tile_model_names_its_type() {
    let spellings = "f32 float|f16 half|bf16 bfloat16_t|i8 si8 int8_t|i16 si16 int16_t|i32 si32 int32_t|i64 si64 int64_t|\
        u8 ui8 uint8_t|u16 ui16 uint16_t|u32 ui32 uint32_t|u64 ui64 uint64_t|f8e4m3 f8E4M3FN f8E4M3 float8_e4m3_t|\
        f8e5m2 f8E5M2 float8_e5m2_t|f8e8m0 f8E8M0FNU float8_e8m0_t|hif8 hifloat8_t|f4e2m1x2 float4_e2m1x2_t|\
        f4e1m2x2 float4_e1m2x2_t";
    let rows: Vec<Vec<&str>> = spellings.split('|').map(|row| row.split(' ').collect()).collect();
    assert_eq!(rows.len(), Elem::ALL.len());
    for (row, &elem) in rows.iter().zip(Elem::ALL) {
        assert_eq!(row[0], elem.name());
        assert_eq!(row, elem.info().spellings);
        for spelling in row {
            assert_eq!(Elem::parse(spelling), Some(elem), "{spelling}");
        }
    }
    for unknown in ["", "f", "F32", "f64", "i1", "index", "float4", "f32 ", "i128"] {
        assert_eq!(Elem::parse(unknown), None, "{unknown}");
    }
}

#[test]
fn names_are_unambiguous_and_cpp_and_mlir_names_parse_back() {
    let mut seen = HashSet::new();
    for &elem in Elem::ALL {
        let row = elem.info();
        assert_eq!(row.elem, elem);
        assert_eq!(Elem::parse(elem.cpp()), Some(elem));
        assert_eq!(Elem::parse(elem.mlir()), Some(elem));
        assert_eq!(elem.to_string(), elem.name());
        assert_eq!((row.bits, row.kind), (elem.bits(), elem.kind()));
        assert!(row.spellings.iter().all(|s| seen.insert(*s)), "{elem} shares a spelling");
        assert!(!row.about.is_empty());
    }
}

#[test]
fn sizes_follow_from_the_bits() {
    for &elem in Elem::ALL {
        let bits = u64::from(elem.bits());
        assert_eq!(elem.c0() * bits, 256);
        assert_eq!(u64::from(elem.mask().count_ones()), bits);
        assert_eq!(elem.bytes_of(elem.c0()), 32);
        assert_eq!(elem.size(), (bits >= 8).then_some(bits / 8));
        assert_eq!(
            elem.bytes_of(u64::MAX),
            if bits > 8 { u64::MAX } else { (u64::MAX as u128 * bits as u128).div_ceil(8) as u64 }
        );
    }
    assert_eq!(Elem::F4e2m1x2.c0(), 64);
    assert_eq!([0, 1, 2, 3].map(|n| Elem::F4e1m2x2.bytes_of(n)), [0, 1, 1, 2]);
}

#[test]
fn kinds_and_profiles() {
    let small = [Elem::F8e4m3, Elem::F8e5m2, Elem::F8e8m0, Elem::Hif8, Elem::F4e2m1x2, Elem::F4e1m2x2];
    for &elem in Elem::ALL {
        assert_eq!(elem.info().on_cpu_and_a2a3, !small.contains(&elem), "{elem}");
        let kind = match elem.name().as_bytes()[0] {
            b'i' => ElemKind::SignedInt,
            b'u' => ElemKind::UnsignedInt,
            _ => ElemKind::Float,
        };
        assert_eq!(elem.kind(), if elem == Elem::Hif8 { ElemKind::Float } else { kind });
        assert_eq!(elem.is_float(), elem.kind() == ElemKind::Float);
        assert_eq!(elem.is_signed(), elem.kind() != ElemKind::UnsignedInt && elem != Elem::F8e8m0);
        assert_eq!(elem.is_fp4(), elem.name().starts_with("f4"));
    }
}

#[test]
fn pads_are_those_of_the_tile_model() {
    let pads: [(&[Elem], u64, u64); 15] = [
        (&[Elem::F32], 0xFF80_0000, 0x7F80_0000),
        (&[Elem::F16], 0xFC00, 0x7C00),
        (&[Elem::Bf16], 0xFF80, 0x7F80),
        (&[Elem::I8], i8::MIN as u8 as u64, i8::MAX as u64),
        (&[Elem::I16], i16::MIN as u16 as u64, i16::MAX as u64),
        (&[Elem::I32], i32::MIN as u32 as u64, i32::MAX as u64),
        (&[Elem::I64], i64::MIN as u64, i64::MAX as u64),
        (&[Elem::U8], 0, u8::MAX as u64),
        (&[Elem::U16], 0, u16::MAX as u64),
        (&[Elem::U32], 0, u32::MAX as u64),
        (&[Elem::U64], 0, u64::MAX),
        (&[Elem::F8e4m3], 0xFE, 0x7E),
        (&[Elem::F8e5m2], 0xFC, 0x7C),
        (&[Elem::Hif8], 0xEF, 0x6F),
        (&[Elem::F4e2m1x2, Elem::F4e1m2x2], 0xF, 0x7),
    ];
    for (elems, min, max) in pads {
        for elem in elems {
            assert_eq!(elem.pad_bits(PadKind::Min), min, "{elem}");
            assert_eq!(elem.pad_bits(PadKind::Max), max, "{elem}");
        }
    }
    assert_eq!((Elem::F8e8m0.pad_bits(PadKind::Min), Elem::F8e8m0.pad_bits(PadKind::Max)), (0x00, 0xFE));
    assert!(Elem::ALL.iter().all(|elem| elem.pad_bits(PadKind::Zero) == 0));
}

#[test]
fn npy_descriptors_have_the_width_of_the_element() {
    for &elem in Elem::ALL {
        let npy = elem.info().npy;
        let width: u64 = npy[2..].parse().expect("a descriptor ends in its width");
        assert_eq!(width, elem.size().unwrap_or(1), "{elem}");
        assert_eq!(npy.starts_with('|'), width == 1, "{elem}");
    }
    assert_eq!(Elem::Bf16.info().npy, "<u2");
    assert_eq!(Elem::F16.info().npy, "<f2");
}

#[test]
fn misspellings_find_a_neighbour() {
    for (wrong, right) in [
        ("F32", "f32"),
        ("flaot", "float"),
        ("bfloat16", "bfloat16_t"),
        ("f8e4m3fn", "f8E4M3FN"),
        ("hif", "hif8"),
        ("uint32", "ui32"),
        ("float8_e4m3", "float8_e4m3_t"),
    ] {
        assert_eq!(Elem::nearest(wrong), Some(right), "{wrong}");
    }
    assert_eq!(Elem::nearest("complex"), None);
    assert_eq!(Elem::nearest(""), None);
    assert_eq!(Elem::nearest(&"f".repeat(1 << 20)), None);
    assert!(Elem::ALL.iter().flat_map(|e| e.info().spellings).all(|s| Elem::nearest(s) == Some(s)));
}
