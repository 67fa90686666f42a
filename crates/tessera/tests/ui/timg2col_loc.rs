// error: timg2col-loc: the source is a conv tile in Mat, the destination is in Left
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let image = machine.conv_tile::<f16>(&[1, 1, 4, 4, 16])?;
    let mut dst: Tile<loc::Right, f16, 16, 16> = machine.tile()?;
    timg2col(&mut dst, &image, Img2col::kernel(1, 1))?;
    Ok(())
}
