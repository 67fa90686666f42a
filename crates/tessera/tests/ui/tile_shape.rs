// error: tile-shape: a tile without rows or columns has no area
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Vec, f32, 0, 8, layout::Nd>()?;
    Ok(())
}
