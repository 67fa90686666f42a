// error: tstore-dtype: the view and the tile have one element type
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f32, 8, 8> = machine.tile()?;
    tstore(&mut [0i32; 64], &src)?;
    Ok(())
}
