// error: tile-fractal: fractal is 512, 1024 (boxed, 4-byte types) or 32 (boxed, 1-byte types)
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Mat, f16, 16, 16, layout::Nz<256>>()?;
    Ok(())
}
