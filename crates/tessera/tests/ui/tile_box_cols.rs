// error: tile-box-cols: with boxes, cols is a multiple of the box's columns
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Mat, f16, 16, 24, layout::Nz>()?;
    Ok(())
}
