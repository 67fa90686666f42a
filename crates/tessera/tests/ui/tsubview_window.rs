// error: tsubview-window: a view is none_box, of the source's type, inside it, and starts at a 32-byte boundary
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f32, 8, 8> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 8, 16> = machine.tile()?;
    tsubview(&mut dst, &src, 0, 0)?;
    Ok(())
}
