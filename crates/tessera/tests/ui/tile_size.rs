// error: tile-size: one tile's footprint fits its memory (not on cpu), and no dimension or product exceeds 2^32
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Vec, f32, 65536, 65536, layout::Nd>()?;
    Ok(())
}
