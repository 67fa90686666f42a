//! Load a matrix, transpose it on a simulated A5, store it; then see what a mistake looks like.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use tessera::prelude::*;

/// The program.
pub fn main() -> tessera::Result<()> {
    let machine = Machine::new(Profile::A5);
    let mut src: Tile<loc::Vec, f32, 8, 16> = machine.tile()?;
    let mut dst: Tile<loc::Vec, f32, 16, 8> = machine.tile()?;

    let matrix: Vec<f32> = (0..128).map(|i| i as f32).collect();
    tload(&mut src, &matrix)?;
    ttrans(&mut dst, &src)?;

    let mut transposed = vec![0.0f32; 128];
    tstore(&mut transposed, &dst)?;
    assert_eq!(transposed[..4], [0.0, 16.0, 32.0, 48.0]);
    println!("row 0 is now {:?}", &transposed[..8]);

    let mut left: Tile<loc::Left, f32, 16, 8> = machine.tile()?;
    if let Err(error) = tmov(&mut left, &dst) {
        println!("{error}");
    }
    Ok(())
}
