//! Several ranks in one run: what an all-reduce costs beside a copy of the bytes that it puts, loads and stores, and what a signal costs.

use super::programs::{Programs, seconds, shortest};
use std::hint::black_box;
use std::sync::Arc;
use tessera::program::{Input, Program, Ranks};
use tessera::{Elem, Error, Result};

/// The ranks and the bytes of each that are reduced.
const RANKS: u64 = 16;
const BYTES: u64 = 4 << 20;

/// All of them.
pub static RANKED: &[Programs] = &[
    Programs {
        name: "ranks 16 all-reduce 4 MiB",
        unit: "of memcpy",
        measure: |budget, _| {
            let run = shortest(budget, all_reduce)?;
            // A step puts, loads and stores a chunk; while chunks are added, it loads another one.
            let moved = 7 * (RANKS - 1) * BYTES;
            Ok(shortest(budget / 4, || Ok(copy(moved as usize)))? / run)
        },
    },
    Programs {
        name: "ranks 2 notify and wait",
        unit: "us",
        measure: |budget, _| {
            let pairs = 100_000;
            let run = |text: &str| run(text, 2, Vec::new());
            let text = ping_pong(pairs);
            // Each round has a pair in each direction.
            Ok(shortest(budget, || run(&text))? * 1e6 / (2 * pairs) as f64)
        },
    },
    Programs {
        name: "ranks 4 x 250000 signals",
        unit: "s",
        measure: |budget, _| {
            let text = signals(250_000);
            shortest(budget, || run(&text, 4, Vec::new()))
        },
    },
];

/// Seconds of a copy of so many bytes, in pieces that are as large as a chunk.
fn copy(bytes: usize) -> f64 {
    let chunk = (BYTES / RANKS) as usize;
    let (from, mut to) = (vec![1u8; (BYTES * RANKS) as usize], vec![0u8; (BYTES * RANKS) as usize]);
    let (time, ()) = seconds(|| {
        for n in 0..bytes / chunk {
            let at = n * chunk % from.len();
            to[at..at + chunk].copy_from_slice(black_box(&from[at..at + chunk]));
        }
        black_box(&mut to);
    });
    time
}

/// Seconds of a run of a kernel on ranks with these inputs each.
fn run(text: &str, count: usize, inputs: Vec<(&str, Vec<u8>)>) -> Result<f64> {
    let kernel = Program::parse_shared(Arc::from(text))?.entry()?;
    let mut ranks = Ranks::new(vec![kernel.clone(); count])?;
    for bindings in &mut ranks.bindings {
        for (name, bytes) in &inputs {
            let dims = vec![bytes.len() as u64 / 4];
            let input = Input::Buffer { bytes: bytes.clone(), elem: Elem::F32, dims };
            bindings.inputs.push((kernel.argument(name)?, input));
        }
    }
    let (time, outcome) = seconds(|| ranks.execute());
    match outcome.diagnostics.into_iter().find(|d| d.is_error()) {
        Some(found) => Err(Error::from(Box::new(found))),
        None => Ok(time),
    }
}

/// The head of a kernel: its rank `%me`, the number of ranks `%n`, and how far the next rank's window is, `%by`.
const HEAD: &str = "
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i64
  %k32 = arith.constant 32 : i64
  %word = pto.load %ctx[%c2] : !pto.ptr<i64> -> i64
  %high = arith.shli %word, %k32 : i64
  %me64 = arith.shrui %high, %k32 : i64
  %n64 = arith.shrui %word, %k32 : i64
  %me = arith.index_cast %me64 : i64 to index
  %n = arith.index_cast %n64 : i64 to index
  %after = arith.addi %me, %c1 : index
  %right = arith.remui %after, %n : index
  %mine = arith.addi %me, %c4 : index
  %its = arith.addi %right, %c4 : index
  %here = pto.load %ctx[%mine] : !pto.ptr<i64> -> i64
  %there = pto.load %ctx[%its] : !pto.ptr<i64> -> i64
  %bytes = arith.subi %there, %here : i64
  %words = arith.divsi %bytes, %four : i64
  %by = arith.index_cast %words : i64 to index
  %rflag = pto.addptr %flag, %by : !pto.ptr<i32> -> !pto.ptr<i32>
";

/// Two ranks that notify each other in turn.
fn ping_pong(rounds: u64) -> String {
    format!(
        "func.func @k(%ctx: !pto.ptr<i64>, %flag: !pto.ptr<i32>) {{{HEAD}
  %rounds = arith.constant {rounds} : index
  %s = pto.make_tensor_view %rflag, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
  %f = pto.make_tensor_view %flag, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
  %is_first = arith.cmpi eq, %me, %c0 : index
  scf.for %i = %c0 to %rounds step %c1 {{
    %i32 = arith.index_cast %i : index to i32
    %want = arith.addi %i32, %one : i32
    scf.if %is_first {{
      pto.comm.tnotify(%s, %one : !pto.tensor_view<1xi32>, i32) {{notifyOp = #pto<notify_op atomic_add>}}
    }}
    pto.comm.twait(%f, %want : !pto.tensor_view<1xi32>, i32) {{cmp = #pto<wait_cmp ge>}}
    scf.if %is_first {{
    }} else {{
      pto.comm.tnotify(%s, %one : !pto.tensor_view<1xi32>, i32) {{notifyOp = #pto<notify_op atomic_add>}}
    }}
  }}
  return
}}
"
    )
}

/// Ranks that notify their neighbours, and wait at the end.
fn signals(count: u64) -> String {
    format!(
        "func.func @k(%ctx: !pto.ptr<i64>, %flag: !pto.ptr<i32>) {{{HEAD}
  %count = arith.constant {count} : index
  %all = arith.constant {count} : i32
  %s = pto.make_tensor_view %rflag, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
  %f = pto.make_tensor_view %flag, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
  scf.for %i = %c0 to %count step %c1 {{
    pto.comm.tnotify(%s, %one : !pto.tensor_view<1xi32>, i32) {{notifyOp = #pto<notify_op atomic_add>}}
  }}
  pto.comm.twait(%f, %all : !pto.tensor_view<1xi32>, i32) {{cmp = #pto<wait_cmp ge>}}
  return
}}
"
    )
}

/// Seconds of a ring all-reduce: chunks go round once to be added, and once more when they are finished.
fn all_reduce() -> Result<f64> {
    let elements = BYTES / 4 / RANKS;
    let (rows, cols) = (elements / 1024, 1024);
    let steps = 2 * (RANKS - 1);
    let row = format!("!pto.partition_tensor_view<{rows}x{cols}xf32>");
    let tile = format!("!pto.tile_buf<vec, {rows}x{cols}xf32>");
    let view = |name: &str, pointer: &str, at: &str| {
        format!(
            "    %{name}p = pto.addptr {pointer}, {at} : !pto.ptr<f32> -> !pto.ptr<f32>
    %{name}v = pto.make_tensor_view %{name}p, shape = [%rows, %cols], strides = [%cols, %c1] : !pto.tensor_view<?x?xf32>
    %{name} = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%rows, %cols] : !pto.tensor_view<?x?xf32> -> {row}
"
        )
    };
    let text = format!(
        "func.func @k(%ctx: !pto.ptr<i64>, %flag: !pto.ptr<i32>, %x: !pto.ptr<f32>, %inbox: !pto.ptr<f32>) {{{HEAD}
  %rows = arith.constant {rows} : index
  %cols = arith.constant {cols} : index
  %size = arith.constant {elements} : index
  %steps = arith.constant {steps} : index
  %half = arith.constant {} : index
  %theirs = pto.addptr %inbox, %by : !pto.ptr<f32> -> !pto.ptr<f32>
  %a = pto.alloc_tile : {tile}
  %b = pto.alloc_tile : {tile}
  scf.for %s = %c0 to %steps step %c1 {{
    %twice = arith.addi %n, %n : index
    %far = arith.addi %me, %twice : index
    %out1 = arith.subi %far, %s : index
    %out = arith.remui %out1, %n : index
    %in1 = arith.subi %out1, %c1 : index
    %in = arith.remui %in1, %n : index
    %from = arith.muli %out, %size : index
    %at = arith.muli %in, %size : index
    %slot = arith.muli %s, %size : index
    %fw = pto.addptr %flag, %s : !pto.ptr<i32> -> !pto.ptr<i32>
    %rw = pto.addptr %rflag, %s : !pto.ptr<i32> -> !pto.ptr<i32>
    %f = pto.make_tensor_view %fw, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
    %r = pto.make_tensor_view %rw, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
{}{}{}{}    pto.comm.tput(%to, %sent, buf(%a) : {row}, {row}, {tile})
    pto.comm.tnotify(%r, %one : !pto.tensor_view<1xi32>, i32) {{notifyOp = #pto<notify_op atomic_add>}}
    pto.comm.twait(%f, %one : !pto.tensor_view<1xi32>, i32) {{cmp = #pto<wait_cmp ge>}}
    pto.tload ins(%came : {row}) outs(%b : {tile})
    %adds = arith.cmpi slt, %s, %half : index
    scf.if %adds {{
      pto.tload ins(%own : {row}) outs(%a : {tile})
      pto.tadd ins(%a, %b : {tile}, {tile}) outs(%b : {tile})
    }}
    pto.tstore ins(%b : {tile}) outs(%own : {row})
  }}
  return
}}
",
        RANKS - 1,
        view("sent", "%x", "%from"),
        view("to", "%theirs", "%slot"),
        view("came", "%inbox", "%slot"),
        view("own", "%x", "%at"),
    );
    run(&text, RANKS as usize, vec![("x", vec![0; BYTES as usize])])
}
