// error: tfillpad-shape: declared shapes are equal (EXPAND: the destination's are at least the source's)
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f32, 8, 8> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 8, 16> = machine.tile()?;
    tfillpad(&mut dst, &src)?;
    Ok(())
}
