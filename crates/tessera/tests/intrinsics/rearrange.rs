//! TTRANS, TCONCAT, TPACK, TINTERLEAVE and TDEINTERLEAVE.

use crate::{bits, filled, rule};
use tessera::Result;
use tessera::prelude::*;

#[test]
fn ttrans_on_every_profile() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (src, values) = filled::<loc::Vec, f32, 24, 40, layout::Nd>(&m)?;
        let mut dst: Tile<loc::Vec, f32, 40, 24> = m.tile()?;
        let mut tmp: Tile<loc::Vec, u32, 24, 40> = m.tile()?;
        tmp.write(&[0; 960])?;
        let want: Vec<f32> = (0..960).map(|i| values[(i % 24) * 40 + i / 24]).collect();
        ttrans(&mut dst, &src)?;
        assert_eq!(bits(&dst.to_vec()?), bits(&want), "{profile}");
        dst.write(&[0.0; 960])?;
        ttrans_tmp(&mut dst, &src, &mut tmp)?;
        assert_eq!(bits(&dst.to_vec()?), bits(&want), "{profile}");
        assert!(tmp.defined()?.iter().all(|d| !d), "scratch is undefined afterwards");
    }
    Ok(())
}

#[test]
fn ttrans_moves_bits_between_types_of_one_size() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let (src, values) = filled::<loc::Vec, i16, 16, 16, layout::Nd>(&m)?;
    let mut dst: Tile<loc::Vec, f16, 16, 16, layout::Dn> = m.tile()?;
    ttrans(&mut dst, &src)?;
    let want: Vec<u64> = (0..256).map(|i| u64::from(values[(i % 16) * 16 + i / 16] as u16)).collect();
    assert_eq!(bits(&dst.to_vec()?), want);
    Ok(())
}

#[test]
fn tconcat_joins_columns_and_rows() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (mut a, va) = filled::<loc::Vec, i32, 4, 8, layout::Nd>(&m)?;
        let (b, vb) = filled::<loc::Vec, i32, 4, 16, layout::Nd>(&m)?;
        let mut dst: Tile<loc::Vec, i32, 4, 24> = m.tile()?;
        a.set_valid(4, 5)?;
        dst.set_valid(4, 21)?;
        tconcat(&mut dst, &a, &b)?;
        let got = dst.to_vec()?;
        for r in 0..4 {
            for c in 0..21 {
                let want = if c < 5 { va[r * 8 + c] } else { vb[r * 16 + c - 5] };
                assert_eq!(got[r * 21 + c], want, "({r}, {c}) on {profile}");
            }
        }
        a.set_valid(3, 5)?;
        assert_eq!(rule(tconcat(&mut dst, &a, &b)), "tconcat-rows");
    }
    let m = Machine::new(Profile::Cpu);
    let (a, va) = filled::<loc::Vec, i32, 2, 8, layout::Nd>(&m)?;
    let (b, vb) = filled::<loc::Vec, i32, 3, 8, layout::Nd>(&m)?;
    let mut dst: Tile<loc::Vec, i32, 5, 8> = m.tile()?;
    tconcat_rows(&mut dst, &a, &b)?;
    assert_eq!(dst.to_vec()?, [va, vb].concat());
    Ok(())
}

#[test]
fn indexed_tconcat_takes_counts_per_row() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let (a, va) = filled::<loc::Vec, i16, 2, 16, layout::Nd>(&m)?;
    let (b, vb) = filled::<loc::Vec, i16, 2, 16, layout::Nd>(&m)?;
    let mut idx0: Tile<loc::Vec, i32, 2, 8> = m.tile()?;
    let mut idx1: Tile<loc::Vec, i32, 2, 8> = m.tile()?;
    let mut counts: Tile<loc::Vec, i32, 2, 8> = m.tile()?;
    // Byte counts of the index type: 3 and 5 columns in row 0, 16 and 12 in row 1.
    idx0.write(&[12, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0])?;
    idx1.write(&[20, 0, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0, 0, 0, 0, 0])?;
    counts.set_valid(2, 1)?;
    let mut dst: Tile<loc::Vec, i16, 2, 32> = m.tile()?;
    dst.set_valid(2, 20)?;
    let want = |kept: i16| -> Vec<i16> {
        let row = |r: usize, n0: usize, n1: usize| {
            let mut row = va[r * 16..r * 16 + n0].to_vec();
            row.extend(&vb[r * 16..r * 16 + n1]);
            row.resize(20, kept);
            row
        };
        [row(0, 3, 5), row(1, 16, 4)].concat()
    };
    dst.write(&[-7; 40])?;
    tconcat_indexed(&mut dst, &a, &b, &idx0, &idx1)?;
    assert_eq!(dst.to_vec()?, want(-7));
    dst.write(&[-8; 40])?;
    tconcat_indexed_out(&mut dst, &mut counts, &a, &b, &idx0, &idx1)?;
    assert_eq!(dst.to_vec()?, want(-8));
    assert_eq!(counts.to_vec()?, [8 * 4, 20 * 4]);
    idx0.write(&[-4; 16])?;
    assert_eq!(rule(tconcat_indexed(&mut dst, &a, &b, &idx0, &idx1)), "tconcat-index");
    Ok(())
}

#[test]
fn tpack_keeps_the_low_bytes() -> Result<()> {
    for profile in [Profile::Cpu, Profile::A5] {
        let m = Machine::new(profile);
        let (src, values) = filled::<loc::Vec, u32, 4, 32, layout::Nd>(&m)?;
        let mut narrow: Tile<loc::Vec, i16, 4, 32> = m.tile()?;
        let mut bytes: Tile<loc::Vec, u8, 4, 32> = m.tile()?;
        tpack(&mut narrow, &src)?;
        tpack(&mut bytes, &narrow)?;
        assert_eq!(narrow.to_vec()?, values.iter().map(|v| *v as i16).collect::<Vec<_>>());
        assert_eq!(bytes.to_vec()?, values.iter().map(|v| *v as u8).collect::<Vec<_>>());
        narrow.set_valid(3, 32)?;
        assert_eq!(rule(tpack(&mut narrow, &src)), "tpack-valid");
    }
    Ok(())
}

type Row = Tile<loc::Vec, u16, 3, 16>;

#[test]
fn interleaving_and_back() -> Result<()> {
    for profile in [Profile::Cpu, Profile::A5] {
        let m = Machine::new(profile);
        let (src0, a) = filled::<loc::Vec, u16, 3, 16, layout::Usual>(&m)?;
        let mut src1: Row = m.tile()?;
        let b: Vec<u16> = a.iter().map(|v| !v).collect();
        src1.write(&b)?;
        let (mut dst0, mut dst1): (Row, Row) = (m.tile()?, m.tile()?);
        tinterleave(&mut dst1, &mut dst0, &src1, &src0)?;
        let (got0, got1) = (dst0.to_vec()?, dst1.to_vec()?);
        for r in 0..3 {
            for k in 0..8 {
                let at = r * 16 + 2 * k;
                assert_eq!([got0[at], got0[at + 1]], [a[r * 16 + k], b[r * 16 + k]]);
                assert_eq!([got1[at], got1[at + 1]], [a[r * 16 + 8 + k], b[r * 16 + 8 + k]]);
            }
        }
        let (mut back0, mut back1): (Row, Row) = (m.tile()?, m.tile()?);
        tdeinterleave(&mut back1, &mut back0, &dst1, &dst0)?;
        assert_eq!((back0.to_vec()?, back1.to_vec()?), (a.clone(), b));

        let mut even: Tile<loc::Vec, u16, 3, 16> = m.tile()?;
        let mut odd: Tile<loc::Vec, u16, 3, 16> = m.tile()?;
        even.set_valid(3, 8)?;
        odd.set_valid(3, 8)?;
        tdeinterleave_one(&mut odd, &mut even, &src0)?;
        let (evens, odds) = (even.to_vec()?, odd.to_vec()?);
        for i in 0..24 {
            assert_eq!([evens[i], odds[i]], [a[i / 8 * 16 + i % 8 * 2], a[i / 8 * 16 + i % 8 * 2 + 1]]);
        }
        dst0.set_valid(3, 14)?;
        assert_eq!(rule(tinterleave(&mut dst1, &mut dst0, &src1, &src0)), "tinterleave-shape");
    }
    Ok(())
}
