// error: tconcat-dtype: all element types are alike (a2a3, a5: standard types)
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, i32, 8, 8> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 8, 16> = machine.tile()?;
    tconcat(&mut dst, &src, &src)?;
    Ok(())
}
