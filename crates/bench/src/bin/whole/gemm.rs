//! C = A · B of 1024 × 1024 f32 over blocks, beside multiply-adds in registers.

use crate::best_and_median;
use std::time::Instant;
use tessera::program::{Bindings, Input, Program};
use tessera::{Elem, Error};
use tessera_cli::bench::multiply_adds;

const N: usize = 1024;

/// Blocks of 128 × 128 of C, K in steps of 128.
const TEXT: &str = "!l1 = !pto.tile_buf<loc=mat, f32, 128, 128>
!left = !pto.tile_buf<loc=left, f32, 128, 128>
!right = !pto.tile_buf<loc=right, f32, 128, 128>
!acc = !pto.tile_buf<loc=acc, f32, 128, 128>
!part = !pto.partition_tensor_view<128x128xf32>
!all = !pto.tensor_view<?x?xf32>
module {
  func.func @gemm(%p_a: !pto.ptr<f32>, %p_b: !pto.ptr<f32>, %p_c: !pto.ptr<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %c1024 = arith.constant 1024 : index
    %a = pto.make_tensor_view %p_a, shape = [%c1024, %c1024], strides = [%c1024, %c1] : !all
    %b = pto.make_tensor_view %p_b, shape = [%c1024, %c1024], strides = [%c1024, %c1] : !all
    %c = pto.make_tensor_view %p_c, shape = [%c1024, %c1024], strides = [%c1024, %c1] : !all
    %a_l1 = pto.alloc_tile : !l1
    %b_l1 = pto.alloc_tile : !l1
    %left = pto.alloc_tile : !left
    %right = pto.alloc_tile : !right
    %acc = pto.alloc_tile : !acc
    scf.for %row = %c0 to %c1024 step %c128 {
      scf.for %col = %c0 to %c1024 step %c128 {
        scf.for %k = %c0 to %c1024 step %c128 {
          %some_a = pto.partition_view %a, offsets = [%row, %k], sizes = [%c128, %c128] : !all -> !part
          %some_b = pto.partition_view %b, offsets = [%k, %col], sizes = [%c128, %c128] : !all -> !part
          pto.tload ins(%some_a : !part) outs(%a_l1 : !l1)
          pto.tload ins(%some_b : !part) outs(%b_l1 : !l1)
          pto.textract ins(%a_l1, %c0, %c0 : !l1, index, index) outs(%left : !left)
          pto.textract ins(%b_l1, %c0, %c0 : !l1, index, index) outs(%right : !right)
          %is_first = arith.cmpi eq, %k, %c0 : index
          scf.if %is_first {
            pto.tmatmul ins(%left, %right : !left, !right) outs(%acc : !acc)
          } else {
            pto.tmatmul.acc ins(%acc, %left, %right : !acc, !left, !right) outs(%acc : !acc)
          }
        }
        %to = pto.partition_view %c, offsets = [%row, %col], sizes = [%c128, %c128] : !all -> !part
        pto.tstore ins(%acc : !acc) outs(%to : !part)
      }
    }
    return
  }
}
";

pub fn measure() -> Result<(), Error> {
    let program = Program::parse(TEXT)?;
    let kernel = program.entry()?;
    let work = N * N * N;
    let bytes = |k: usize| -> Vec<u8> {
        (0..N * N).flat_map(|n| ((n * (k + 7) % 997) as f32 / 500.0 - 1.0).to_le_bytes()).collect()
    };
    let (mut rates, mut peaks, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..7 {
        let inputs = ["p_a", "p_b", "p_c"].into_iter().enumerate().filter_map(|(k, name)| {
            Some((kernel.find(name)?, Input::Buffer { bytes: bytes(k), elem: Elem::F32, dims: vec![(N * N) as u64] }))
        });
        let bindings = Bindings { inputs: inputs.collect(), ..Bindings::default() };
        let start = Instant::now();
        let outcome = kernel.execute(bindings);
        let ours = start.elapsed().as_secs_f64();
        if let Some(found) = outcome.diagnostics.into_iter().find(|d| d.is_error()) {
            return Err(Error::from(Box::new(found)));
        }
        let start = Instant::now();
        std::hint::black_box(multiply_adds(std::hint::black_box(work)));
        let peak = start.elapsed().as_secs_f64();
        rates.push(ours);
        peaks.push(peak);
        ratios.push(peak / ours);
    }
    let ((ours, _), (peak, _), (_, pairs)) =
        (best_and_median(&mut rates), best_and_median(&mut peaks), best_and_median(&mut ratios));
    println!(
        "gemm 1024x1024x1024: {:.1} of {:.1} thousand million multiply-adds a second, {:.2} of peak (pairs: {pairs:.2})",
        work as f64 / ours / 1e9,
        work as f64 / peak / 1e9,
        peak / ours
    );
    Ok(())
}
