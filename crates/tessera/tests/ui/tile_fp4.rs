// error: tile-fp4: fp4: cols, v_col and indexCol are even; where two rows share a byte (DN, ZN, NN), v_row and indexRow too
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    machine.tile::<loc::Vec, F4E2M1, 64, 3, layout::Dn>()?;
    Ok(())
}
