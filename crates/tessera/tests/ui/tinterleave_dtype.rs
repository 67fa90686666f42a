// error: tinterleave-dtype: standard types, all alike
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, i32, 8, 16> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 8, 8> = machine.tile()?;
    let mut other: Tile<loc::Vec, i32, 8, 8> = machine.tile()?;
    tdeinterleave_one(&mut dst, &mut other, &src)?;
    Ok(())
}
