// error: tile-align: the bytes of a column are a multiple of 32
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Vec, f16, 8, 16, layout::Dn>()?;
    Ok(())
}
