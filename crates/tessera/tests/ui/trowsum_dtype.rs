// error: trowsum-dtype: the element types are those of a signature
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f32, 8, 8> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f16, 8, 16> = machine.tile()?;
    trowsum(&mut dst, &src)?;
    Ok(())
}
