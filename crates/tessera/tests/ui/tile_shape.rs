// error: tile-shape: rows and cols are at least 1, and static valid extents are at most the declared ones
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Vec, f32, 0, 8, layout::Nd>()?;
    Ok(())
}
