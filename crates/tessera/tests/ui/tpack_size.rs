// error: tpack-size: elements narrow from 4 bytes to 2 or 1, or from 2 to 1
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, i32, 8, 8> = machine.tile()?;
    let mut dst: Tile<loc::Vec, i32, 8, 8> = machine.tile()?;
    tpack(&mut dst, &src)?;
    Ok(())
}
