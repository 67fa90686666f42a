// error: tpack-layout: both tiles are Vec ND
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Mat, i32, 16, 16> = machine.tile()?;
    let mut dst: Tile<loc::Mat, i16, 16, 16> = machine.tile()?;
    tpack(&mut dst, &src)?;
    Ok(())
}
