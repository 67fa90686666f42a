//! The vector unit's intrinsics: scalars with types, words as arguments, forms by name.

use tessera::prelude::*;
use tessera::{Attrs, Instruction, Opcode, Result, Role};

type Vector = Tile<loc::Vec, f32, 2, 8>;

fn filled(m: &Machine, f: impl Fn(i32) -> f32) -> Result<Vector> {
    let mut tile: Vector = m.tile()?;
    tile.write(&(0..16).map(f).collect::<Vec<_>>())?;
    Ok(tile)
}

fn expected(f: impl Fn(i32) -> f32) -> Vec<f32> {
    (0..16).map(f).collect()
}

#[test]
fn scalars_and_their_order() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let a = filled(&m, |i| i as f32 + 1.0)?;
        let mut d: Vector = m.tile()?;
        tadds(&mut d, &a, 2.5f32)?;
        assert_eq!(d.to_vec()?, expected(|i| i as f32 + 3.5), "{profile}");
        tdivs(&mut d, &a, 4.0f32)?;
        assert_eq!(d.to_vec()?, expected(|i| (i as f32 + 1.0) / 4.0), "{profile}");
        tdivs_scalar_first(&mut d, 4.0f32, &a)?;
        assert_eq!(d.to_vec()?, expected(|i| 4.0 / (i as f32 + 1.0)), "{profile}");
        // A scalar of another kind counts by its value (isa/today.md 6.8); a wider float is rounded.
        tadds(&mut d, &a, 2i32)?;
        assert_eq!(d.to_vec()?, expected(|i| i as f32 + 3.0), "{profile}");
        tadds(&mut d, &a, f16::from_f32(0.5))?;
        assert_eq!(d.to_vec()?, expected(|i| i as f32 + 1.5), "{profile}");
        // What a front end puts together says the order by giving operands in it.
        let (src, mut out) = (a.into_buf(), d.into_buf());
        let divide = || Instruction::new(Opcode::parse("tdivs").unwrap());
        divide().value(Role::Scalar, 8.0f32).tile(Role::Src, &src).tile(Role::Dst, &out).issue()?;
        assert_eq!(out.to_vec::<f32>()?, expected(|i| 8.0 / (i as f32 + 1.0)), "{profile}");
        divide().tile(Role::Src, &src).value(Role::Scalar, 8.0f32).tile(Role::Dst, &out).issue()?;
        assert_eq!(out.to_vec::<f32>()?, expected(|i| (i as f32 + 1.0) / 8.0), "{profile}");
        out.write(&[0f32; 16])?;
        taxpy(&mut out, &src, 0.5f32)?;
        assert_eq!(out.to_vec::<f32>()?, expected(|i| (i as f32 + 1.0) / 2.0), "{profile}");
    }
    Ok(())
}

#[test]
fn words_are_arguments() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let a = filled(&m, |i| i as f32 - 7.5)?;
        let mut whole: Tile<loc::Vec, i32, 2, 8> = m.tile()?;
        for (mode, round) in [(Rounding::Floor, f32::floor as fn(f32) -> f32), (Rounding::Ceil, f32::ceil)] {
            tcvt(&mut whole, &a, mode)?;
            let want: Vec<i32> = (0..16).map(|i| round(i as f32 - 7.5) as i32).collect();
            assert_eq!(whole.to_vec()?, want, "{profile} {mode}");
        }
        tcvt(&mut whole, &a, (Rounding::Trunc, Saturation::On))?;
        tcvt(&mut whole, &a, Attrs::default())?;
        let mut mask: Tile<loc::Vec, u8, 2, 32> = m.tile()?;
        mask.set_valid(2, 1)?;
        let zero = filled(&m, |_| 0.0)?;
        tcmp(&mut mask, &a, &zero, Cmp::Lt)?;
        assert_eq!(mask.to_vec()?, [0xFF, 0], "{profile}");
        let (mut d, mut tmp): (Vector, Vector) = (m.tile()?, m.tile()?);
        tsel_tmp(&mut d, &mask, &zero, &a, &mut tmp)?;
        assert_eq!(d.to_vec()?, expected(|i| (i as f32 - 7.5).max(0.0)), "{profile}");
    }
    Ok(())
}

#[test]
fn reductions_say_where() -> Result<()> {
    for profile in Profile::ALL {
        let m = Machine::new(profile);
        let a = filled(&m, |i| (i * 5 % 8) as f32)?;
        let (mut value, mut tmp): (Vector, Vector) = (m.tile()?, m.tile()?);
        let mut at: Tile<loc::Vec, i32, 2, 8> = m.tile()?;
        value.set_valid(2, 1)?;
        at.set_valid(2, 1)?;
        trowargmax_valued_tmp(&mut value, &mut at, &a, &mut tmp)?;
        assert_eq!((value.to_vec()?, at.to_vec()?), (vec![7.0, 7.0], vec![3, 3]), "{profile}");
        trowargmin(&mut at, &a)?;
        assert_eq!(at.to_vec()?, [0, 0], "{profile}");
        value.set_valid(1, 8)?;
        tcolsum_tmp(&mut value, &a, &mut tmp, true)?;
        assert_eq!(value.to_vec()?, (0..8).map(|i| 2.0 * (i * 5 % 8) as f32).collect::<Vec<_>>(), "{profile}");
    }
    Ok(())
}
