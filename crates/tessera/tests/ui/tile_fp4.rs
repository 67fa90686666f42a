// error: tile-fp4: two fp4 elements share a byte
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Vec, F4E2M1, 64, 3, layout::Dn>()?;
    Ok(())
}
