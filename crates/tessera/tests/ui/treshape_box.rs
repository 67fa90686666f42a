// error: treshape-box: both tiles are boxed or both are not
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f32, 16, 8> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 16, 8, layout::Nz> = machine.tile()?;
    treshape(&mut dst, &src)?;
    Ok(())
}
