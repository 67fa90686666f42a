// error: tile-size: a tile has fewer than 2^32 elements
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Vec, f32, 65536, 65536, layout::Nd>()?;
    Ok(())
}
