//! TLOAD and TSTORE with slices.

use crate::{bits, ramp, rule};
use tessera::Result;
use tessera::prelude::*;

#[test]
fn slices_are_dense_views_of_the_valid_region() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let mut tile: Tile<loc::Vec, i32, 4, 16> =
            m.tile_with(TileOptions::new().pad(Pad::Custom(PadLiteral::Int(9))))?;
        tile.set_valid(2, 3)?;
        let data = [1, 2, 3, 4, 5, 6];
        tload(&mut tile, &data)?;
        assert_eq!(tile.to_vec()?, data);
        let mut out = [0; 6];
        tstore(&mut out, &tile)?;
        assert_eq!(out, data);
        tile.set_valid(4, 16)?;
        assert_eq!(tile.get(3, 15)?, Some(9), "the padding is filled on {profile}");
        assert_eq!(rule(tstore(&mut out, &tile)), "gm-bounds");
        assert_eq!(out, data, "a refused store writes nothing");
    }
    Ok(())
}

#[test]
fn strides_offsets_and_tags() -> Result<()> {
    let m = Machine::new(Profile::Cpu);
    let data: Vec<u16> = ramp(1000);
    let mut tile: Tile<loc::Vec, u16, 16, 32> = m.tile()?;
    let view = Tensor::new(&data).shape(&[4, 4, 32]).strides(&[200, 40, 1]).offset(7);
    tload(&mut tile, view)?;
    let got = tile.to_vec()?;
    for r in 0..16 {
        for c in 0..32 {
            assert_eq!(got[r * 32 + c], data[7 + r / 4 * 200 + r % 4 * 40 + c], "({r}, {c})");
        }
    }
    let columns: Vec<u16> = ramp(512);
    tload(&mut tile, Tensor::new(&columns).tag(ViewTag::Dn))?;
    let got = tile.to_vec()?;
    for r in 0..16 {
        for c in 0..32 {
            assert_eq!(got[r * 32 + c], columns[c * 16 + r], "({r}, {c})");
        }
    }
    let boxes: Vec<u16> = ramp(512);
    tload(&mut tile, Tensor::new(&boxes).shape(&[1, 2, 1, 16, 16]).tag(ViewTag::Nz))?;
    let got = tile.to_vec()?;
    for r in 0..16 {
        for c in 0..32 {
            assert_eq!(got[r * 32 + c], boxes[c / 16 * 256 + r * 16 + c % 16], "({r}, {c})");
        }
    }
    let mut out = vec![0u16; 1024];
    tstore(TensorMut::new(&mut out).shape(&[16, 32]).strides(&[64, 2]).offset(1), &tile)?;
    for (i, v) in got.iter().enumerate() {
        assert_eq!(out[1 + i / 32 * 64 + i % 32 * 2], *v);
    }
    assert_eq!(out.iter().filter(|v| **v != 0).count(), got.iter().filter(|v| **v != 0).count());
    Ok(())
}

#[test]
fn undefined_elements_are_stored_as_zero_and_reported() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let tile: Tile<loc::Vec, f32, 1, 8> = m.tile()?;
    let mut out = vec![1.0f32; 8];
    tstore(&mut out, &tile)?;
    assert_eq!(out, [0.0; 8]);
    assert_eq!(m.take_warnings()[0].rule, "undefined-read");
    Ok(())
}

#[test]
fn every_element_type_survives_a_round_trip() -> Result<()> {
    fn check<T: Element>(m: &Machine) -> Result<()> {
        let data: Vec<T> = ramp(16 * 64);
        let mut tile: Tile<loc::Vec, T, 16, 64> = m.tile()?;
        tload(&mut tile, &data)?;
        let mut out: Vec<T> = vec![T::from_element_bits(0); 16 * 64];
        tstore(&mut out, &tile)?;
        assert_eq!(bits(&out), bits(&data), "{}", T::ELEM);
        Ok(())
    }
    let m = Machine::new(Profile::A5);
    check::<f32>(&m)?;
    check::<f16>(&m)?;
    check::<bf16>(&m)?;
    check::<i8>(&m)?;
    check::<i16>(&m)?;
    check::<i32>(&m)?;
    check::<i64>(&m)?;
    check::<u8>(&m)?;
    check::<u16>(&m)?;
    check::<u32>(&m)?;
    check::<u64>(&m)?;
    check::<F8E4M3>(&m)?;
    check::<F8E5M2>(&m)?;
    check::<F8E8M0>(&m)?;
    check::<Hif8>(&m)?;
    check::<F4E2M1>(&m)?;
    check::<F4E1M2>(&m)
}
