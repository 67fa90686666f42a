//! TMOV, TEXTRACT and TINSERT between other locations than Acc.

use crate::{bits, filled, ramp, rule};
use tessera::Result;
use tessera::prelude::*;

#[test]
fn tmov_changes_the_layout_and_keeps_the_elements() -> Result<()> {
    let m = Machine::new(Profile::Cpu);
    let (src, values) = filled::<loc::Vec, f16, 32, 48, layout::Nd>(&m)?;
    let mut nz: Tile<loc::Mat, f16, 32, 48> = m.tile()?;
    let mut zn: Tile<loc::Right, f16, 32, 48, layout::Zn> = m.tile()?;
    let mut zz: Tile<loc::Left, f16, 32, 48, layout::Zz> = m.tile()?;
    let mut nn: Tile<loc::Vec, f16, 32, 48, layout::Nn> = m.tile()?;
    let mut dn: Tile<loc::Vec, f16, 32, 48, layout::Dn> = m.tile()?;
    tmov(&mut nz, &src)?;
    tmov(&mut zn, &nz)?;
    tmov(&mut zz, &zn)?;
    tmov(&mut nn, &zz)?;
    tmov(&mut dn, &nn)?;
    assert_eq!(bits(&dn.to_vec()?), bits(&values));
    // tile-model.md 5: NZ is offset bc·rows·IC + br·N + ir·IC + ic.
    let raw = nz.to_bytes()?;
    for r in 0..32 {
        for c in 0..48 {
            let at = (c / 16) * 32 * 16 + (r / 16) * 256 + (r % 16) * 16 + c % 16;
            let element = u16::from_le_bytes([raw[at * 2], raw[at * 2 + 1]]);
            assert_eq!(element, values[r * 48 + c].to_bits(), "({r}, {c})");
        }
    }
    Ok(())
}

#[test]
fn tmov_moves_only_the_valid_region() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let (mut src, values) = filled::<loc::Vec, i32, 4, 16, layout::Nd>(&m)?;
    let (mut dst, _) = filled::<loc::Vec, i32, 4, 16, layout::Nd>(&m)?;
    dst.write(&[7; 64])?;
    src.set_valid(2, 8)?;
    dst.set_valid(2, 8)?;
    tmov(&mut dst, &src)?;
    dst.set_valid(4, 16)?;
    let got = dst.to_vec()?;
    for r in 0..4 {
        for c in 0..16 {
            let want = if r < 2 && c < 8 { values[r * 16 + c] } else { 7 };
            assert_eq!(got[r * 16 + c], want, "({r}, {c})");
        }
    }
    Ok(())
}

#[test]
fn tmov_converts_on_cpu_with_a_warning() -> Result<()> {
    let m = Machine::new(Profile::Cpu);
    let mut src: Tile<loc::Vec, f32, 1, 32> = m.tile()?;
    let mut dst: Tile<loc::Vec, i8, 1, 32> = m.tile()?;
    src.write(&[-1.9; 32])?;
    tmov(&mut dst, &src)?;
    assert_eq!(dst.to_vec()?, [-1; 32]);
    assert_eq!(m.take_warnings()[0].rule, "value-conversion");
    assert!(m.take_warnings().is_empty());
    Ok(())
}

#[test]
fn tmov_reaches_every_destination_of_mat() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let (mat, values) = filled::<loc::Mat, f16, 32, 32, layout::Nz>(&m)?;
    let mut left: Tile<loc::Left, f16, 32, 32> = m.tile()?;
    let mut right: Tile<loc::Right, f16, 32, 32> = m.tile()?;
    tmov(&mut left, &mat)?;
    tmov(&mut right, &mat)?;
    assert_eq!(bits(&left.to_vec()?), bits(&values));
    assert_eq!(bits(&right.to_vec()?), bits(&values));

    let mut row: Tile<loc::Mat, f16, 1, 32, layout::Nd> = m.tile()?;
    let mut bias: Tile<loc::Bias, f32, 1, 32> = m.tile()?;
    row.write(&(0..32).map(|i| f16::from_f32(i as f32 / 2.0)).collect::<Vec<_>>())?;
    tmov(&mut bias, &row)?;
    assert_eq!(bias.to_vec()?, (0..32).map(|i| i as f32 / 2.0).collect::<Vec<_>>());

    let (scales, values) = filled::<loc::Mat, u64, 1, 16, layout::Nd>(&m)?;
    let mut scaling: Tile<loc::Scaling, u64, 1, 16> = m.tile()?;
    tmov(&mut scaling, &scales)?;
    assert_eq!(scaling.to_vec()?, values);

    let (scales, values) = filled::<loc::Mat, F8E8M0, 16, 2, layout::Zz<32>>(&m)?;
    let mut left: Tile<loc::ScaleLeft, F8E8M0, 16, 2> = m.tile()?;
    tmov(&mut left, &scales)?;
    assert_eq!(left.to_vec()?, values);
    Ok(())
}

#[test]
fn tmov_fp_fills_the_padding() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let (mut src, values) = filled::<loc::Vec, bf16, 4, 16, layout::Nd>(&m)?;
    let mut dst: Tile<loc::Vec, bf16, 4, 16> = m.tile()?;
    src.set_valid(3, 10)?;
    dst.set_valid(3, 10)?;
    tmov_fp(&mut dst, &src, -2.5)?;
    dst.set_valid(4, 16)?;
    let got = dst.to_vec()?;
    for r in 0..4 {
        for c in 0..16 {
            let inside = r < 3 && c < 10;
            let want = if inside { values[r * 16 + c] } else { bf16::from_f32(-2.5) };
            assert_eq!(got[r * 16 + c].to_bits(), want.to_bits(), "({r}, {c})");
        }
    }
    assert_eq!(rule(tmov_fp(&mut dst, &src, 0.1)), "tmov-valid");
    dst.set_valid(3, 10)?;
    // A value converts to the nearest one; what is out of range does not.
    assert_eq!(rule(tmov_fp(&mut dst, &src, 1e39)), "fp-value");
    tmov_fp(&mut dst, &src, 0.1)?;
    dst.set_valid(4, 16)?;
    assert_eq!(dst.to_vec()?[15].to_bits(), bf16::from_f32(0.1).to_bits());
    Ok(())
}

#[test]
fn textract_takes_a_window() -> Result<()> {
    let m = Machine::new(Profile::A2a3);
    let (src, values) = filled::<loc::Mat, i8, 64, 64, layout::Nz>(&m)?;
    let mut left: Tile<loc::Left, i8, 16, 32> = m.tile()?;
    textract(&mut left, &src, 32, 32)?;
    let got = left.to_vec()?;
    for r in 0..16 {
        for c in 0..32 {
            assert_eq!(got[r * 32 + c], values[(32 + r) * 64 + 32 + c], "({r}, {c})");
        }
    }
    assert_eq!(rule(textract(&mut left, &src, 8, 32)), "textract-align");
    Ok(())
}

#[test]
fn textract_fp_fills_the_padding() -> Result<()> {
    let m = Machine::new(Profile::Cpu);
    let (src, values) = filled::<loc::Vec, u16, 8, 32, layout::Nd>(&m)?;
    let mut dst: Tile<loc::Vec, u16, 4, 16> = m.tile()?;
    dst.set_valid(2, 3)?;
    textract_fp(&mut dst, &src, 9u16, 5, 7)?;
    dst.set_valid(4, 16)?;
    let got = dst.to_vec()?;
    for r in 0..4 {
        for c in 0..16 {
            let want = if r < 2 && c < 3 { values[(5 + r) * 32 + 7 + c] } else { 9 };
            assert_eq!(got[r * 16 + c], want, "({r}, {c})");
        }
    }
    Ok(())
}

#[test]
fn textract_pair_takes_two_windows() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (src, values) = filled::<loc::Vec, f32, 32, 32, layout::Nd>(&m)?;
        let mut dst0: Tile<loc::Vec, f32, 16, 16, layout::Nz> = m.tile()?;
        let mut dst1: Tile<loc::Vec, f32, 16, 8, layout::Nz> = m.tile()?;
        textract_pair(&mut dst0, &mut dst1, &src, (3, 5), (16, 24))?;
        let (got0, got1) = (dst0.to_vec()?, dst1.to_vec()?);
        for r in 0..16 {
            for c in 0..16 {
                assert_eq!(got0[r * 16 + c].to_bits(), values[(3 + r) * 32 + 5 + c].to_bits());
            }
            for c in 0..8 {
                assert_eq!(got1[r * 8 + c].to_bits(), values[(16 + r) * 32 + 24 + c].to_bits());
            }
        }
        assert_eq!(rule(textract_pair(&mut dst0, &mut dst1, &src, (17, 0), (0, 0))), "textract-bounds");
    }
    Ok(())
}

#[test]
fn tinsert_puts_a_window_and_keeps_the_rest() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let (mut src, values) = filled::<loc::Vec, i32, 8, 16, layout::Nd>(&m)?;
    let mut dst: Tile<loc::Vec, i32, 16, 32> = m.tile()?;
    dst.write(&[-1; 512])?;
    src.set_valid(5, 9)?;
    tinsert(&mut dst, &src, 11, 23)?;
    let got = dst.to_vec()?;
    for r in 0..16 {
        for c in 0..32 {
            let inside = r >= 11 && c >= 23;
            let want = if inside { values[(r - 11) * 16 + c - 23] } else { -1 };
            assert_eq!(got[r * 32 + c], want, "({r}, {c})");
        }
    }
    assert_eq!(rule(tinsert(&mut dst, &src, 12, 0)), "tinsert-bounds");
    assert_eq!(rule(tinsert(&mut dst, &src, 0, 24)), "tinsert-bounds");
    Ok(())
}

#[test]
fn tinsert_split_is_the_plain_insert() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let (src, values) = filled::<loc::Vec, f16, 16, 80, layout::Nz>(&m)?;
    for split in [Split::Split2, Split::Split4] {
        let mut dst: Tile<loc::Mat, f16, 32, 96> = m.tile()?;
        dst.write(&vec![f16::ZERO; 32 * 96])?;
        tinsert_split(&mut dst, &src, split, 16, 16)?;
        let got = dst.to_vec()?;
        for r in 0..32 {
            for c in 0..96 {
                let inside = r >= 16 && c >= 16;
                let want = if inside { values[(r - 16) * 80 + c - 16] } else { f16::ZERO };
                assert_eq!(got[r * 96 + c].to_bits(), want.to_bits(), "({r}, {c})");
            }
        }
    }
    Ok(())
}

#[test]
fn tinsert_fp_fills_the_padding() -> Result<()> {
    let m = Machine::new(Profile::Cpu);
    let mut src: Tile<loc::Vec, i16, 1, 16> = m.tile()?;
    let mut dst: Tile<loc::Vec, i16, 2, 32> = m.tile()?;
    dst.write(&ramp(64))?;
    src.set_valid(1, 2)?;
    src.write(&[100, 200])?;
    dst.set_valid(1, 20)?;
    let kept = dst.to_vec()?;
    tinsert_fp(&mut dst, &src, -5, 0, 3)?;
    dst.set_valid(2, 32)?;
    let got = dst.to_vec()?;
    for r in 0..2 {
        for c in 0..32 {
            let want = match (r, c) {
                (0, 3) => 100,
                (0, 4) => 200,
                (0, c) if c < 20 => kept[c],
                _ => -5,
            };
            assert_eq!(got[r * 32 + c], want, "({r}, {c})");
        }
    }
    Ok(())
}

#[test]
fn fp4_moves_by_nibbles() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let (src, values) = filled::<loc::Vec, F4E2M1, 16, 64, layout::Nd>(&m)?;
    let mut nz: Tile<loc::Vec, F4E2M1, 16, 64, layout::Nz> = m.tile()?;
    tmov(&mut nz, &src)?;
    assert_eq!(nz.to_vec()?, values);
    assert_eq!(nz.to_bytes()?.len(), 512);
    assert_eq!(nz.get(3, 7)?, Some(values[3 * 64 + 7]));
    Ok(())
}
