// error: treshape-loc: both tiles have one location
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f32, 16, 16> = machine.tile()?;
    let mut dst: Tile<loc::Mat, f32, 16, 16, layout::Nd> = machine.tile()?;
    treshape(&mut dst, &src)?;
    Ok(())
}
