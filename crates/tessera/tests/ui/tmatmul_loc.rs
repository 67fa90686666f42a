// error: tmatmul-loc: the operands lie in the locations of a signature
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f32, 16, 16> = machine.tile()?;
    let mut dst: Tile<loc::Acc, f32, 16, 16> = machine.tile()?;
    tmatmul(&mut dst, &src, &src)?;
    Ok(())
}
