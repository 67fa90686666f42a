// Legal: every line of this file is fine.
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f32, 8, 16> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 16, 8> = machine.tile()?;
    tfillpad(&mut dst, 0)?;
    ttrans(&mut dst, &src)?;
    Ok(())
}
