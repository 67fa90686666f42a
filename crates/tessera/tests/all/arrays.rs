//! Elements as bytes, and arrays as npy files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::npy::Array;
use tessera::program::Data;
use tessera::{Elem, Element, F4E1M2, F4E2M1, F8E4M3, F8E5M2, F8E8M0, Hif8, bf16, f16};

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn orders_and_byte_orders_are_read() {
    let c =
        file("{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    let f = file("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3), }", &[0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]);
    let big =
        file("{'descr': '>u2', 'fortran_order': False, 'shape': (2, 3), }", &[1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10]);
    let wanted = Array::parse(&c).unwrap();
    assert_eq!(wanted.shape, [2, 3]);
    assert_eq!(Array::parse(&f).unwrap().bytes, wanted.bytes);
    assert_eq!(Array::parse(&big).unwrap().bytes, wanted.bytes);
    assert_eq!(Array::parse(&wanted.to_file()).unwrap(), wanted);
    assert_eq!(wanted.to_file().len() % 64, 12);
}

#[test]
fn types_match_by_kind_and_width() {
    let of = |descr: &str, n: usize| {
        Array::parse(&file(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,)}}"), &vec![0; n]))
            .unwrap()
    };
    assert!(of("<f4", 4).holds(Elem::F32) && !of("<f4", 4).holds(Elem::I32));
    for descr in ["<u2", "V2", "bfloat16"] {
        assert!(of(descr, 2).holds(Elem::Bf16), "{descr}");
    }
    assert!(!of("<i2", 2).holds(Elem::Bf16) && !of("<f2", 2).holds(Elem::Bf16));
    assert!(of("|u1", 1).holds(Elem::F4e2m1x2) && of("|V1", 1).holds(Elem::Hif8));
    assert!(of("float8_e4m3fn", 1).holds(Elem::F8e4m3) && !of("float8_e4m3fn", 1).holds(Elem::F8e5m2));
}

#[test]
fn bad_files_are_sentences() {
    let huge = file("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 8)}", &[]);
    let cases: [(Vec<u8>, &str); 9] = [
        (b"hello".to_vec(), "no npy file"),
        (b"\x93NUMPY\x01".to_vec(), "cut short inside its header"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}".to_vec(), "cut short inside its header"),
        (b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "version is 9"),
        (huge, "more than any file holds"),
        (
            file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", &[0; 15]),
            "needs 16 bytes of data, and it has 15",
        ),
        (file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", &[0; 17]), "left over"),
        (file("{'descr': '<c8', 'fortran_order': False, 'shape': ()}", &[0; 8]), "'<c8'"),
        (file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", &[0; 4]), "header"),
    ];
    for (bytes, text) in cases {
        let message = Array::parse(&bytes).unwrap_err().to_string();
        assert!(message.contains(text), "{message} should say {text}");
    }
    let empty = file("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 5)}", &[]);
    assert!(Array::parse(&empty).unwrap().bytes.is_empty());
}

#[test]
fn elements_survive_their_bytes() {
    assert_eq!([-2i16, 300].to_array().to_vec::<i16>().unwrap(), [-2, 300]);
    assert_eq!([-2i16, 300].to_array().bytes, [0xFE, 0xFF, 0x2C, 0x01]);
    assert_eq!([1.0f32].to_array().bytes, 1.0f32.to_le_bytes());
    let fp4: Vec<F4E2M1> = (0..16).map(F4E2M1::from_bits).collect();
    assert_eq!(fp4.to_array().bytes.len(), 8);
    assert_eq!(fp4.to_array().bytes[0], 0x10, "the even element is the low nibble");
    assert_eq!(fp4.to_array().to_vec::<F4E2M1>().unwrap(), fp4);
}

#[test]
fn every_element_type_has_a_rust_type() {
    let all = [
        f32::ELEM,
        f16::ELEM,
        bf16::ELEM,
        i8::ELEM,
        i16::ELEM,
        i32::ELEM,
        i64::ELEM,
        u8::ELEM,
        u16::ELEM,
        u32::ELEM,
        u64::ELEM,
        F8E4M3::ELEM,
        F8E5M2::ELEM,
        F8E8M0::ELEM,
        Hif8::ELEM,
        F4E2M1::ELEM,
        F4E1M2::ELEM,
    ];
    assert_eq!(all, Elem::ALL);
}

#[test]
fn codes_convert_and_print() {
    assert_eq!(F8E4M3::from_f32(1e9).to_f32(), 448.0);
    assert_eq!(F4E2M1::from_bits(0xFF).to_bits(), 0xF);
    assert_eq!(format!("{:?}", Hif8::from_f32(1.5)), "1.5");
    assert_eq!(F8E8M0::from_f32(4.0).to_f32(), 4.0);
}
