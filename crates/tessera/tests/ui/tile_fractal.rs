// error: tile-fractal: fractal 1024 needs a 4-byte element type
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Acc, f16, 16, 16, layout::Usual>()?;
    Ok(())
}
