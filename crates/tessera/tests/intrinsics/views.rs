//! TRESHAPE, TSUBVIEW and TASSIGN: tiles that share storage, and outlive each other.

use crate::{filled, ramp, rule};
use tessera::Result;
use tessera::prelude::*;

#[test]
fn treshape_copies_on_cpu_and_aliases_on_hardware() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (mut src, values) = filled::<loc::Vec, i32, 4, 16, layout::Nd>(&m)?;
        let mut dst: Tile<loc::Vec, i32, 8, 8> = m.tile()?;
        treshape(&mut dst, &src)?;
        assert_eq!(dst.to_vec()?, values);
        treshape_to(&mut dst, &src, 8, 8)?;
        assert_eq!(rule(treshape_to(&mut dst, &src, 4, 16)), "treshape-shape");
        src.write(&[3; 64])?;
        let aliases = dst.to_vec()? == [3; 64];
        assert_eq!(aliases, profile != Profile::Cpu, "{profile}");
    }
    Ok(())
}

#[test]
fn a_view_outlives_its_source() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let mut view: Tile<loc::Vec, i32, 8, 8> = m.tile()?;
        let mut window: Tile<loc::Vec, i32, 2, 8> = m.tile()?;
        let values = {
            let (src, values) = filled::<loc::Vec, i32, 4, 16, layout::Nd>(&m)?;
            treshape(&mut view, &src)?;
            tsubview(&mut window, &src, 2, 8)?;
            values
        };
        // New tiles take whatever storage is free.
        for _ in 0..8 {
            let mut other: Tile<loc::Vec, i32, 4, 16> = m.tile()?;
            other.write(&[-1; 64])?;
        }
        assert_eq!(view.to_vec()?, values, "{profile}");
        assert_eq!(window.to_vec()?, [&values[40..48], &values[56..64]].concat(), "{profile}");
    }
    Ok(())
}

#[test]
fn a_refused_treshape_changes_nothing() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let (src, _) = filled::<loc::Vec, i32, 4, 16, layout::Nd>(&m)?;
        let mut dst: Tile<loc::Vec, i32, 8, 8> = m.tile()?;
        dst.write(&[5; 64])?;
        assert_eq!(rule(treshape_to(&mut dst, &src, 1, 1)), "treshape-shape");
        assert_eq!(dst.to_vec()?, [5; 64], "{profile}");
    }
    Ok(())
}

#[test]
fn manual_tiles_share_addresses() -> Result<()> {
    let m = Machine::new(Profile::A5);
    let mut a: Tile<loc::Vec, u8, 1, 64> = m.tile_with(TileOptions::new().address(0x100))?;
    let mut b: Tile<loc::Vec, u8, 1, 32> = m.tile()?;
    tassign(&mut b, 0x120)?;
    let values: Vec<u8> = ramp(64);
    a.write(&values)?;
    assert_eq!(b.to_vec()?, values[32..]);
    assert_eq!(rule(tassign(&mut b, 0x121)), "tassign-align");
    assert_eq!(rule(tassign(&mut b, 256 * 1024)), "tassign-range");
    let mut half: Tile<loc::Vec, u8, 1, 32> = m.tile_with(TileOptions::new().address(0x120))?;
    assert_eq!(rule(textract(&mut half, &a, 0, 16)), "overlap");
    Ok(())
}
