// error: ttrans-tmp: tmp has the source's location and element size
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f32, 16, 16> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 16, 16> = machine.tile()?;
    let mut tmp: Tile<loc::Mat, f32, 16, 16> = machine.tile()?;
    ttrans_tmp(&mut dst, &src, &mut tmp)?;
    Ok(())
}
