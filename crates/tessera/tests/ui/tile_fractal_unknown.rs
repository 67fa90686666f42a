// error: tile-fractal: the fractal is 512, 1024 or 32
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Mat, f16, 16, 16, layout::Nz<256>>()?;
    Ok(())
}
