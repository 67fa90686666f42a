// error: tload-dtype: the view and the tile have one element type
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let mut dst: Tile<loc::Vec, f32, 8, 8> = machine.tile()?;
    tload(&mut dst, &[0i32; 64])?;
    Ok(())
}
