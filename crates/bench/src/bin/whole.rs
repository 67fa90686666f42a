//! Whole kernels beside numpy on one thread: `cargo run --release -p tessera-bench --bin whole`. Without a python3 that has
//! numpy only our own times are printed.

#![allow(clippy::print_stdout, reason = "it is a command")]

use std::process::Command;
use std::time::Instant;
use tessera::program::{Bindings, Input, Kernel, Program};
use tessera::{Elem, Error};

/// A kernel on two matrices of f32 that leaves a third one, as instructions on `%x`, `%y`, `%z` of type `!t`, with scratch
/// `%tmp` and a value for each row `%r`; and the same in numpy.
struct Case {
    name: &'static str,
    rows: usize,
    cols: usize,
    body: &'static [&'static str],
    numpy: &'static str,
}

const CASES: [Case; 4] = [
    Case {
        name: "softmax 128x512",
        rows: 128,
        cols: 512,
        body: &[
            "pto.trowmax ins(%x, %tmp : !t, !t) outs(%r : !r)",
            "pto.trowexpandsub ins(%x, %r : !t, !r) outs(%z : !t) {src1Col = 1}",
            "pto.texp ins(%z : !t) outs(%z : !t)",
            "pto.trowsum ins(%z, %tmp : !t, !t) outs(%r : !r)",
            "pto.trowexpanddiv ins(%z, %r : !t, !r) outs(%z : !t) {src1Col = 1}",
        ],
        numpy: "e = np.exp(x - x.max(1, keepdims=True)); z = e / e.sum(1, keepdims=True)",
    },
    Case {
        name: "layer norm 128x512",
        rows: 128,
        cols: 512,
        body: &[
            "pto.trowsum ins(%x, %tmp : !t, !t) outs(%r : !r)",
            "pto.tmuls ins(%r, %share : !r, f32) outs(%r : !r)",
            "pto.trowexpandsub ins(%x, %r : !t, !r) outs(%z : !t) {src1Col = 1}",
            "pto.tmul ins(%z, %z : !t, !t) outs(%w : !t)",
            "pto.trowsum ins(%w, %tmp : !t, !t) outs(%r : !r)",
            "pto.tmuls ins(%r, %share : !r, f32) outs(%r : !r)",
            "pto.tadds ins(%r, %epsilon : !r, f32) outs(%r : !r)",
            "pto.tsqrt ins(%r : !r) outs(%r : !r)",
            "pto.trowexpanddiv ins(%z, %r : !t, !r) outs(%z : !t) {src1Col = 1}",
            "pto.tmul ins(%z, %y : !t, !t) outs(%z : !t)",
        ],
        numpy: "d = x - x.mean(1, keepdims=True); z = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * y",
    },
    Case {
        name: "silu and product (decode step) 16x4096",
        rows: 16,
        cols: 4096,
        body: &[
            "pto.tmuls ins(%x, %less : !t, f32) outs(%z : !t)",
            "pto.texp ins(%z : !t) outs(%z : !t)",
            "pto.tadds ins(%z, %one : !t, f32) outs(%z : !t)",
            "pto.tdiv ins(%x, %z : !t, !t) outs(%z : !t)",
            "pto.tmul ins(%z, %y : !t, !t) outs(%z : !t)",
        ],
        numpy: "z = x / (np.exp(-x) + 1) * y",
    },
    Case {
        name: "root mean square norm (decode step) 32x2048",
        rows: 32,
        cols: 2048,
        body: &[
            "pto.tmul ins(%x, %x : !t, !t) outs(%z : !t)",
            "pto.trowsum ins(%z, %tmp : !t, !t) outs(%r : !r)",
            "pto.tmuls ins(%r, %share : !r, f32) outs(%r : !r)",
            "pto.tadds ins(%r, %epsilon : !r, f32) outs(%r : !r)",
            "pto.trsqrt ins(%r : !r) outs(%r : !r)",
            "pto.trowexpandmul ins(%x, %r : !t, !r) outs(%z : !t) {src1Col = 1}",
            "pto.tmul ins(%z, %y : !t, !t) outs(%z : !t)",
        ],
        numpy: "z = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * y",
    },
];

/// The kernel, again and again.
fn text(case: &Case, rounds: u64) -> String {
    let Case { rows, cols, .. } = case;
    let body = case.body.join("\n      ");
    let view = "!pto.tensor_view<?x?xf32>";
    let views: String = ["x", "y", "z"]
        .map(|name| {
            format!("    %g_{name} = pto.make_tensor_view %p_{name}, shape = [%rows, %cols], strides = [%cols, %c1] : {view}\n")
        })
        .concat();
    let load = |name: &str| format!("pto.tload ins(%g_{name} : {view}) outs(%{name} : !t)\n      ");
    let loads: String = ["x", "y"].into_iter().filter(|name| body.contains(&format!("%{name}"))).map(load).collect();
    let tiles: String = ["x", "y", "z", "w", "tmp"].map(|name| format!("    %{name} = pto.alloc_tile : !t\n")).concat();
    format!(
        "!t = !pto.tile_buf<vec, {rows}x{cols}xf32>
!r = !pto.tile_buf<vec, {rows}x1xf32, blayout=col_major>
module {{
  func.func @kernel(%p_x: !pto.ptr<f32>, %p_y: !pto.ptr<f32>, %p_z: !pto.ptr<f32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant {rounds} : index
    %rows = arith.constant {rows} : index
    %cols = arith.constant {cols} : index
    %one = arith.constant 1.0 : f32
    %less = arith.constant -1.0 : f32
    %epsilon = arith.constant 1.0e-5 : f32
    %share = arith.constant {} : f32
{views}{tiles}    %r = pto.alloc_tile : !r
    scf.for %i = %c0 to %n step %c1 {{
      {loads}{body}
      pto.tstore ins(%z : !t) outs(%g_z : {view})
    }}
    return
  }}
}}
",
        1.0 / *cols as f64
    )
}

fn seconds(kernel: &Kernel, case: &Case, fuses: bool) -> Result<f64, Error> {
    let elements = case.rows * case.cols;
    let bytes =
        |k: usize| (0..elements).flat_map(move |n| ((n * k % 997) as f32 / 500.0 - 1.0).to_le_bytes()).collect();
    let inputs = ["p_x", "p_y", "p_z"].into_iter().enumerate().filter_map(|(k, name)| {
        let (elem, dims) = (Elem::F32, vec![elements as u64]);
        Some((kernel.find(name)?, Input::Buffer { bytes: bytes(k + 7), elem, dims }))
    });
    let bindings = Bindings { inputs: inputs.collect(), fuses, ..Bindings::default() };
    let start = Instant::now();
    let outcome = kernel.execute(bindings);
    let time = start.elapsed().as_secs_f64();
    match outcome.diagnostics.into_iter().find(|d| d.is_error()) {
        Some(found) => Err(Error::from(Box::new(found))),
        None => Ok(time),
    }
}

/// Microseconds of one round: what more of them take, so that reading the program does not count.
fn round(case: &Case, fuses: bool) -> Result<f64, Error> {
    let (few, many) = (Program::parse(&text(case, 20))?, Program::parse(&text(case, 420))?);
    let (few, many) = (few.entry()?, many.entry()?);
    let mut times = Vec::new();
    for _ in 0..7 {
        times.push((seconds(&many, case, fuses)? - seconds(&few, case, fuses)?) / 400.0 * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Microseconds in numpy, on one thread.
fn numpy(case: &Case) -> Option<f64> {
    let Case { rows, cols, numpy, .. } = case;
    let script = format!(
        "import numpy as np, time
x = (np.arange({rows} * {cols}) * 7 % 997 / 500 - 1).astype(np.float32).reshape({rows}, {cols})
y = x[::-1].copy()
times = []
for _ in range(200):
    start = time.perf_counter()
    {numpy}
    times.append(time.perf_counter() - start)
print(sorted(times)[100] * 1e6)"
    );
    let ran = Command::new("python3").args(["-c", &script]).env("OMP_NUM_THREADS", "1").output().ok()?;
    String::from_utf8(ran.stdout).ok()?.trim().parse().ok()
}

fn main() -> Result<(), Error> {
    println!("{:42} {:>9} {:>9} {:>9} {:>7}", "kernel", "us", "unfused", "numpy", "times");
    for case in &CASES {
        let (ours, unfused, numpy) = (round(case, true)?, round(case, false)?, numpy(case));
        let times = numpy.map_or(String::new(), |numpy| format!("{:.2}", numpy / ours));
        println!("{:42} {ours:9.1} {unfused:9.1} {:9.1} {times:>7}", case.name, numpy.unwrap_or(0.0));
    }
    Ok(())
}
