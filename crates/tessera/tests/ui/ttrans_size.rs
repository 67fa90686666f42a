// error: ttrans-size: both element types have the same size
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f16, 16, 16> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 16, 16> = machine.tile()?;
    ttrans(&mut dst, &src)?;
    Ok(())
}
