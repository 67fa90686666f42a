// error: tfillpad-dtype: element types are equal
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, i32, 8, 8> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 8, 8> = machine.tile()?;
    tfillpad(&mut dst, &src)?;
    Ok(())
}
