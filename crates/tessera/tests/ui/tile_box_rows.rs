// error: tile-box-rows: with boxes, rows is a multiple of the box's rows, except NZ in Vec
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Mat, f16, 15, 16, layout::Usual>()?;
    Ok(())
}
