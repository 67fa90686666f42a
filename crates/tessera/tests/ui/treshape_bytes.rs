// error: treshape-bytes: both tiles have the same declared bytes
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f32, 8, 16> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 8, 8> = machine.tile()?;
    treshape(&mut dst, &src)?;
    Ok(())
}
