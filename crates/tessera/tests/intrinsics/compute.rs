//! The instructions that compute, on every profile, against sums and products by hand.

use crate::rule;
use tessera::Result;
use tessera::prelude::*;

#[test]
fn tadd_adds() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (mut a, mut b): (Tile<loc::Vec, i32, 2, 8>, Tile<loc::Vec, i32, 2, 8>) = (m.tile()?, m.tile()?);
        let mut sum: Tile<loc::Vec, i32, 2, 8> = m.tile()?;
        a.write(&(0..16).collect::<Vec<_>>())?;
        b.write(&[i32::MAX; 16])?;
        tadd(&mut sum, &a, &b)?;
        let want: Vec<i32> = (0..16).map(|i| i32::MAX.wrapping_add(i)).collect();
        assert_eq!(sum.to_vec()?, want, "{profile}");
        sum.set_valid(1, 8)?;
        // The destination's region is the domain; one that is known at run time may be smaller (isa/today.md 5.4).
        m.take_warnings();
        tadd(&mut sum, &a, &b)?;
        assert_eq!(sum.to_vec()?, want[..8], "{profile}");
        assert_eq!(m.take_warnings().iter().map(|w| w.rule).collect::<Vec<_>>(), ["tadd-valid"], "{profile}");
        let (mut boxed, mat): (Tile<loc::Vec, f32, 16, 8, layout::Nz>, Tile<loc::Mat, f32, 16, 8, layout::Nd>) =
            (m.tile()?, m.tile()?);
        let plain: Tile<loc::Vec, f32, 16, 8> = m.tile()?;
        let [on_layout, on_loc] = match profile {
            Profile::Cpu => ["legal", "legal"],
            _ => ["tadd-layout", "tadd-loc"],
        };
        assert_eq!(rule(tadd(&mut boxed, &plain, &plain)), on_layout, "{profile}");
        assert_eq!(rule(tadd(&mut boxed, &mat, &plain)), on_loc, "{profile}");
        // A type that one profile lacks is that profile's to refuse.
        let mut bytes: Tile<loc::Vec, u8, 1, 32> = m.tile()?;
        bytes.write(&[200; 32])?;
        let source = bytes.into_buf();
        let mut doubled: Tile<loc::Vec, u8, 1, 32> = m.tile()?;
        match profile {
            Profile::A2a3 => assert_eq!(rule(tadd(&mut doubled, &source, &source)), "tadd-dtype"),
            _ => {
                tadd(&mut doubled, &source, &source)?;
                assert_eq!(doubled.to_vec()?, [144; 32]);
            }
        }
    }
    Ok(())
}

#[test]
fn trowsum_sums_rows() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let mut src: Tile<loc::Vec, f32, 8, 16> = m.tile()?;
        let mut tmp: Tile<loc::Vec, f32, 8, 16> = m.tile()?;
        let mut column: Tile<loc::Vec, f32, 8, 1, layout::Dn> = m.tile()?;
        let mut wide: Tile<loc::Vec, f32, 8, 8> = m.tile()?;
        wide.set_valid(8, 1)?;
        src.write(&(0..128).map(|i| i as f32 / 2.0).collect::<Vec<_>>())?;
        // Sixteen halves that begin at 8i: 16 · 8i + (0 + … + 15) / 2.
        let want: Vec<f32> = (0..8).map(|i| 128.0 * i as f32 + 60.0).collect();
        trowsum(&mut column, &src)?;
        trowsum_tmp(&mut wide, &src, &mut tmp)?;
        assert_eq!([column.to_vec()?, wide.to_vec()?], [want.clone(), want], "{profile}");
        wide.set_valid(7, 1)?;
        assert_eq!(rule(trowsum(&mut wide, &src)), "trowsum-valid");
        src.set_valid(8, 0)?;
        assert_eq!(rule(trowsum(&mut column, &src)), "trowsum-empty");
    }
    Ok(())
}

#[test]
fn tmatmul_multiplies() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let mut a: Tile<loc::Left, f16, 16, 32> = m.tile()?;
        let mut b: Tile<loc::Right, f16, 32, 16> = m.tile()?;
        let mut c: Tile<loc::Acc, f32, 16, 16> = m.tile()?;
        let small = |i: usize| f16::from_f32((i % 7) as f32 - 3.0);
        let left: Vec<f16> = (0..512).map(small).collect();
        let right: Vec<f16> = (0..512).map(|i| small(i * 5 + 1)).collect();
        a.write(&left)?;
        b.write(&right)?;
        tmatmul(&mut c, &a, &b)?;
        let product = |i: usize| {
            let (row, col) = (i / 16, i % 16);
            (0..32).map(|k| left[row * 32 + k].to_f32() * right[k * 16 + col].to_f32()).sum::<f32>()
        };
        assert_eq!(c.to_vec()?, (0..256).map(product).collect::<Vec<_>>(), "{profile}");
        a.set_valid(16, 31)?;
        // K is a's (isa/today.md 5.4).
        m.take_warnings();
        tmatmul(&mut c, &a, &b)?;
        assert_eq!(m.take_warnings().iter().map(|w| w.rule).collect::<Vec<_>>(), ["tmatmul-valid"], "{profile}");
        let product = |i: usize| {
            let (row, col) = (i / 16, i % 16);
            (0..31).map(|k| left[row * 32 + k].to_f32() * right[k * 16 + col].to_f32()).sum::<f32>()
        };
        assert_eq!(c.to_vec()?, (0..256).map(product).collect::<Vec<_>>(), "{profile}");
    }
    Ok(())
}

#[test]
fn tgather_picks() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (mut src, mut idx): (Tile<loc::Vec, f32, 4, 8>, Tile<loc::Vec, i32, 2, 8>) = (m.tile()?, m.tile()?);
        let (mut tmp, mut dst): (Tile<loc::Vec, i32, 2, 8>, Tile<loc::Vec, f32, 2, 8>) = (m.tile()?, m.tile()?);
        src.write(&(0..32).map(|i| i as f32).collect::<Vec<_>>())?;
        let picks: Vec<i32> = (0..16).map(|i| i * 13 % 32).collect();
        idx.write(&picks)?;
        tgather_tmp(&mut dst, &src, &idx, &mut tmp)?;
        assert_eq!(dst.to_vec()?, picks.iter().map(|k| *k as f32).collect::<Vec<_>>(), "{profile}");
        // a2a3 needs the scratch tile.
        let without = if profile == Profile::A2a3 { "tgather-tmp" } else { "legal" };
        assert_eq!(rule(tgather(&mut dst, &src, &idx)), without, "{profile}");
        idx.write(&[32; 16])?;
        assert_eq!(rule(tgather_tmp(&mut dst, &src, &idx, &mut tmp)), "tgather-index");
    }
    Ok(())
}
