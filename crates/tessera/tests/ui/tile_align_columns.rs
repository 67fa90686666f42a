// error: tile-align: without boxes, the bytes of the major dimension (cols if row_major, rows if col_major) are a multiple of 32
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Vec, f16, 8, 16, layout::Dn>()?;
    Ok(())
}
