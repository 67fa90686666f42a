// error: quant-source: relu, quantization and AccToVecMode need an Acc source
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Vec, f16, 16, 16> = machine.tile()?;
    let mut dst: Tile<loc::Mat, f16, 16, 16> = machine.tile()?;
    tmov_relu(&mut dst, &src)?;
    Ok(())
}
