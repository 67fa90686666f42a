// error: tile-align: the bytes of a row are a multiple of 32
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Vec, f32, 16, 2, layout::Nd>()?;
    Ok(())
}
