// error: tile-box-rows: the rows are a multiple of the box's
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Mat, f16, 15, 16, layout::Usual>()?;
    Ok(())
}
