//! Out of an accumulator: conversion, quantization, ReLU, AccToVecMode (fixpipe.md).

use crate::{param, rule};
use tessera::Result;
use tessera::prelude::*;

fn acc(m: &Machine) -> Result<(Tile<loc::Acc, f32, 16, 32>, Vec<f32>)> {
    let mut tile = m.tile()?;
    let values: Vec<f32> = (0..512).map(|i| (i as f32 - 256.0) / 2.0).collect();
    tile.write(&values)?;
    Ok((tile, values))
}

/// Round to nearest even, then clamp: i8 with scale and no offset.
fn to_i8(v: f32, scale: f32) -> i8 {
    (v * scale).round_ties_even().clamp(-128.0, 127.0) as i8
}

#[test]
fn plain_and_relu_forms_convert() -> Result<()> {
    let m = Machine::new(Profile::A2a3);
    let (src, values) = acc(&m)?;
    let mut mat: Tile<loc::Mat, f16, 16, 32> = m.tile()?;
    let want: Vec<f16> = values.iter().map(|v| f16::from_f32(*v)).collect();
    let relu: Vec<f16> = values.iter().map(|v| f16::from_f32(v.max(0.0))).collect();
    tmov(&mut mat, &src)?;
    assert_eq!(mat.to_vec()?, want);
    tmov_relu(&mut mat, &src)?;
    assert_eq!(mat.to_vec()?, relu);
    textract(&mut mat, &src, 0, 0)?;
    assert_eq!(mat.to_vec()?, want);
    textract_relu(&mut mat, &src, 0, 0)?;
    assert_eq!(mat.to_vec()?, relu);
    tinsert(&mut mat, &src, 0, 0)?;
    assert_eq!(mat.to_vec()?, want);
    tinsert_relu(&mut mat, &src, 0, 0)?;
    assert_eq!(mat.to_vec()?, relu);
    Ok(())
}

#[test]
fn scalar_quantization() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (src, values) = acc(&m)?;
        let mut dst: Tile<loc::Mat, i8, 16, 32> = m.tile()?;
        let want: Vec<i8> = values.iter().map(|v| to_i8(*v, 0.25)).collect();
        let quant = param(0.25, 0, true);
        tmov_quant(&mut dst, &src, quant)?;
        assert_eq!(dst.to_vec()?, want, "{profile}");
        dst.write(&[0; 512])?;
        textract_quant(&mut dst, &src, quant, 0, 0)?;
        assert_eq!(dst.to_vec()?, want, "{profile}");
        dst.write(&[0; 512])?;
        tinsert_quant(&mut dst, &src, quant, 0, 0)?;
        assert_eq!(dst.to_vec()?, want, "{profile}");
        let relu: Vec<i8> = want.iter().map(|v| *v.max(&0)).collect();
        tmov_with(&mut dst, &src, Fixpipe::new().quant(quant).relu())?;
        assert_eq!(dst.to_vec()?, relu, "{profile}");

        assert_eq!(rule(tmov_quant(&mut dst, &src, param(0.25, 0, false))), "quant-sign");
        assert_eq!(rule(tmov_quant(&mut dst, &src, param(f32::NAN, 0, true))), "quant-scale");
    }
    Ok(())
}

#[test]
fn vector_quantization_takes_a_parameter_per_column() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (src, values) = acc(&m)?;
        let mut fp: Tile<loc::Scaling, u64, 1, 32> = m.tile()?;
        let scales: Vec<f32> = (0..32).map(|c| [0.5, 1.0, 2.0, 0.25][c % 4]).collect();
        fp.write(&scales.iter().map(|s| param(*s, 0, true)).collect::<Vec<_>>())?;
        let want: Vec<i8> = values.iter().enumerate().map(|(i, v)| to_i8(*v, scales[i % 32])).collect();
        let mut dst: Tile<loc::Mat, i8, 16, 32> = m.tile()?;
        tmov_fp(&mut dst, &src, &fp)?;
        assert_eq!(dst.to_vec()?, want, "{profile}");
        dst.write(&[0; 512])?;
        textract_fp(&mut dst, &src, &fp, 0, 0)?;
        assert_eq!(dst.to_vec()?, want, "{profile}");
        dst.write(&[0; 512])?;
        tinsert_fp(&mut dst, &src, &fp, 0, 0)?;
        assert_eq!(dst.to_vec()?, want, "{profile}");
        dst.write(&[0; 512])?;
        tinsert_with(&mut dst, &src, 0, 0, Fixpipe::new().fp(&fp))?;
        assert_eq!(dst.to_vec()?, want, "{profile}");

        fp.set_valid(1, 31)?;
        assert_eq!(rule(tmov_fp(&mut dst, &src, &fp)), "fp-short");
        let empty: Tile<loc::Scaling, u64, 1, 32> = m.tile()?;
        assert_eq!(rule(tmov_fp(&mut dst, &src, &empty)), "undefined-use");
    }
    Ok(())
}

#[test]
fn dual_modes_split_between_the_cores() -> Result<()> {
    for profile in [Profile::Cpu, Profile::A5] {
        let m = Machine::new(profile);
        let (src, values) = acc(&m)?;
        let mut half: Tile<loc::Vec, f32, 8, 32> = m.tile()?;
        tmov_with(&mut half, &src, Fixpipe::new().mode(AccToVec::DualModeSplitM))?;
        assert_eq!(half.to_vec()?, values[..256], "{profile}");
        assert_eq!(half.to_vec_core1()?, values[256..], "{profile}");

        let mut half: Tile<loc::Vec, f32, 16, 16> = m.tile()?;
        textract_with(&mut half, &src, 0, 0, Fixpipe::new().mode(AccToVec::DualModeSplitN))?;
        let (zero, one) = (half.to_vec()?, half.to_vec_core1()?);
        for r in 0..16 {
            for c in 0..16 {
                assert_eq!(zero[r * 16 + c], values[r * 32 + c]);
                assert_eq!(one[r * 16 + c], values[r * 32 + 16 + c]);
            }
        }

        let mut whole: Tile<loc::Vec, f32, 16, 32> = m.tile()?;
        tmov_with(&mut whole, &src, Fixpipe::new().mode(AccToVec::SingleModeVec1))?;
        assert_eq!(whole.to_vec_core1()?, values);
        assert!(whole.defined()?.iter().all(|d| !d), "core 0 was not written");
    }
    let m = Machine::new(Profile::A2a3);
    let (src, _) = acc(&m)?;
    let mut mat: Tile<loc::Mat, f16, 16, 32> = m.tile()?;
    let mode = Fixpipe::new().mode(AccToVec::SingleModeVec0);
    assert_eq!(rule(tmov_with(&mut mat, &src, mode)), "acc-mode");
    Ok(())
}
