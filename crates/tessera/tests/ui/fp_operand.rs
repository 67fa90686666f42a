// error: fp-operand: fp is a Scaling tile of u64 or i64, 1 × n, ND
use tessera::prelude::*;

fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::Cpu);
    let src: Tile<loc::Acc, f32, 16, 32> = machine.tile()?;
    let mut dst: Tile<loc::Mat, i8, 16, 32> = machine.tile()?;
    let fp: Tile<loc::Scaling, f32, 1, 32> = machine.tile()?;
    tmov_fp(&mut dst, &src, &fp)?;
    Ok(())
}
