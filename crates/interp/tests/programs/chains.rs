//! Instructions that go through the data together leave what they leave one after the other: bytes, definedness, findings.

use super::support::{Program, rules};
use std::fmt::Write;
use tessera_isa::profile::Profile;
use tessera_testkit::random::Random;

/// Tiles of a program by kind: wide ones of f32 and of f16, a value for each row, and one for each column.
const TILES: [(&str, usize, u64); 4] =
    [("w", 4, 64 * 128 * 4), ("h", 2, 64 * 128 * 2), ("c", 2, 64 * 4), ("r", 1, 128 * 4)];

/// The arrangement of tiles in memory.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    Placed,
    Apart,
    /// Some lie some rows further on in others.
    Overlapping,
}

fn types(valid: (u64, u64)) -> [String; 4] {
    let (rows, cols) = valid;
    [
        format!("!pto.tile_buf<vec, 64x128xf32, valid={rows}x{cols}>"),
        format!("!pto.tile_buf<vec, 64x128xf16, valid={rows}x{cols}>"),
        format!("!pto.tile_buf<vec, 64x1xf32, valid={rows}x1, blayout=col_major>"),
        format!("!pto.tile_buf<vec, 1x128xf32, valid=1x{cols}>"),
    ]
}

fn program(r: &mut Random, lies: Where) -> String {
    let valid = r.pick(&[(64, 128), (64, 128), (60, 100), (61, 128)]);
    let types = types(valid);
    let [wide, half, column, row] = &types;
    let mut text = format!(
        "func.func @kernel(%p: !pto.ptr<f32>) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rounds = arith.constant {} : index
  %rows = arith.constant {} : index
  %cols = arith.constant {} : index
  %view = pto.make_tensor_view %p, shape = [%rows, %cols], strides = [%cols, %one] : !pto.tensor_view<?x?xf32>
  %s = arith.constant 0.75 : f32\n",
        r.range(2, 4),
        valid.0,
        valid.1,
    );
    let mut next = 0;
    for ((kind, count, bytes), ty) in TILES.iter().zip(&types) {
        for k in 0..*count {
            let address = match lies {
                Where::Overlapping if r.once_in(3) => r.below(16) * 16 * 512,
                _ => next,
            };
            next += bytes.next_multiple_of(512);
            let at = if lies == Where::Placed {
                String::new()
            } else {
                let _ = writeln!(text, "  %a_{kind}{k} = arith.constant {address} : i64");
                format!("addr = %a_{kind}{k} ")
            };
            let _ = writeln!(text, "  %{kind}{k} = pto.alloc_tile {at}: {ty}");
        }
    }
    for tile in ["w0", "w1"] {
        let _ = writeln!(text, "  pto.tload ins(%view : !pto.tensor_view<?x?xf32>) outs(%{tile} : {wide})");
    }
    let _ = writeln!(text, "  pto.texpands ins(%s : f32) outs(%r0 : {row})");
    let _ = writeln!(text, "  pto.trowmax ins(%w0, %w3 : {wide}, {wide}) outs(%c0 : {column})");
    let _ = writeln!(text, "  scf.for %i = %zero to %rounds step %one {{");
    for _ in 0..r.range(3, 20) {
        let w = |r: &mut Random| format!("%w{}", r.below(4));
        let (a, b, c) = (w(r), w(r), w(r));
        let (h, g, per_row) = (format!("%h{}", r.below(2)), format!("%h{}", r.below(2)), format!("%c{}", r.below(2)));
        let line = match r.below(9) {
            0 | 1 => {
                let op = r.pick(&["tadd", "tsub", "tmul", "tmax"]);
                format!("pto.{op} ins({a}, {b} : {wide}, {wide}) outs({c} : {wide})")
            }
            2 => {
                let op = r.pick(&["tadds", "tmuls"]);
                format!("pto.{op} ins({a}, %s : {wide}, f32) outs({c} : {wide})")
            }
            3 => format!("pto.{} ins({a} : {wide}) outs({c} : {wide})", r.pick(&["trelu", "tabs", "texp", "tmov"])),
            4 => {
                let op = r.pick(&["trowexpandsub", "trowexpandmul"]);
                format!("pto.{op} ins({a}, {per_row} : {wide}, {column}) outs({c} : {wide}) {{src1Col = 1}}")
            }
            5 => format!("pto.tcolexpandadd ins({a}, %r0 : {wide}, {row}) outs({c} : {wide})"),
            6 => {
                let op = r.pick(&["trowsum", "trowmax"]);
                let scratch = (r.below(3) + 1 + a[2..].parse::<u64>().unwrap()) % 4;
                format!("pto.{op} ins({a}, %w{scratch} : {wide}, {wide}) outs({per_row} : {column})")
            }
            7 => format!("pto.tadd ins({h}, {g} : {half}, {half}) outs({g} : {half})"),
            _ => match r.once_in(2) {
                true => format!("pto.tcvt ins({a} {{rmode = #pto<round_mode RINT>}} : {wide}) outs({h} : {half})"),
                false => format!("pto.tcvt ins({h} : {half}) outs({a} : {wide})"),
            },
        };
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("  }\n  return\n}\n");
    text
}

/// The results of a run: findings, and every tile with its definedness.
fn left(text: &str, profile: Profile, tracked: bool, fuses: bool, bytes: &[u8]) -> (Vec<String>, Vec<[Vec<u8>; 2]>) {
    let mut program = Program::new(text, profile).buffer("p", bytes).tracked(tracked).fuses(fuses);
    for (kind, count, _) in TILES {
        for k in 0..count {
            program = program.output(&format!("{kind}{k}"));
        }
    }
    let ran = program.run();
    let found = ran.diagnostics.iter().map(|d| format!("{}: {} {:?}", d.rule, d.message, d.span)).collect();
    (found, ran.tiles.iter().map(|t| [t.data.raw.clone(), t.data.raw_defined.clone()]).collect())
}

#[test]
fn chains_leave_what_instructions_leave() {
    let mut r = Random(18);
    let mut whole = 0;
    for n in 0..90 {
        let lies = [Where::Placed, Where::Apart, Where::Overlapping][n % 3];
        let text = program(&mut r, lies);
        let bytes: Vec<u8> = (0..64 * 128).flat_map(|_| (r.below(4096) as f32 / 1024.0 - 2.0).to_le_bytes()).collect();
        let profile = if lies == Where::Placed { r.pick(&Profile::ALL) } else { Profile::Cpu };
        for tracked in [true, false] {
            let fused = left(&text, profile, tracked, true, &bytes);
            let plain = left(&text, profile, tracked, false, &bytes);
            assert!(fused == plain, "{tracked} {:?} {:?}\n{text}", fused.0, plain.0);
            whole += usize::from(!plain.1.is_empty());
        }
    }
    // Overlapping tiles make many of the others illegal.
    assert!(whole > 90, "only {whole} programs ran to their end");
}

/// A program that loads, computes and stores, again and again, at other places of two buffers each time. Of its tiles only some
/// are looked at after the end, if any.
fn storing(r: &mut Random, is_placed: bool) -> String {
    let valid = r.pick(&[(64, 128), (64, 128), (60, 100), (61, 128), (64, 96), (63, 64), (62, 32)]);
    let types = types(valid);
    let [wide, half, column, row] = &types;
    let (rows, cols) = valid;
    let mut text = format!(
        "func.func @kernel(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rounds = arith.constant {} : index
  %all = arith.constant 256 : index
  %pitch = arith.constant 128 : index
  %rows = arith.constant {rows} : index
  %cols = arith.constant {cols} : index
  %p_all = pto.make_tensor_view %p, shape = [%all, %pitch], strides = [%pitch, %one] : !pto.tensor_view<?x?xf32>
  %q_all = pto.make_tensor_view %q, shape = [%all, %pitch], strides = [%pitch, %one] : !pto.tensor_view<?x?xf32>
  %s = arith.constant {} : f32\n",
        r.range(2, 5),
        r.pick(&["0.75", "-1.0", "1.0e30", "0.0"]),
    );
    let mut next = 0;
    for ((kind, count, bytes), ty) in TILES.iter().zip(&types) {
        for k in 0..*count {
            let at = if is_placed { String::new() } else { format!("addr = %a_{kind}{k} ") };
            if !is_placed {
                let _ = writeln!(text, "  %a_{kind}{k} = arith.constant {next} : i64");
            }
            next += bytes.next_multiple_of(512);
            let _ = writeln!(text, "  %{kind}{k} = pto.alloc_tile {at}: {ty}");
        }
    }
    let _ = writeln!(text, "  pto.texpands ins(%s : f32) outs(%r0 : {row})");
    let _ = writeln!(text, "  pto.texpands ins(%s : f32) outs(%c0 : {column})");
    let _ = writeln!(text, "  scf.for %i = %zero to %rounds step %one {{");
    let part = format!("!pto.partition_tensor_view<{rows}x{cols}xf32>");
    for n in 0..4 {
        let (of, from) = (r.pick(&["p", "q"]), r.pick(&[0, 0, 16, 64, 70]));
        let _ = writeln!(
            text,
            "    %from{n} = arith.constant {from} : index
    %by{n} = arith.constant {} : index
    %far{n} = arith.muli %i, %by{n} : index
    %row{n} = arith.addi %from{n}, %far{n} : index
    %v{n} = pto.partition_view %{of}_all, offsets = [%row{n}, %zero], sizes = [%rows, %cols] : !pto.tensor_view<?x?xf32> -> {part}",
            r.pick(&[0, 3, 16]),
        );
    }
    for n in 0..r.range(4, 24) {
        let w = |r: &mut Random| format!("%w{}", r.below(4));
        let (a, b, c, v) = (w(r), w(r), w(r), r.below(4));
        let (h, per_row) = (format!("%h{}", r.below(2)), format!("%c{}", r.below(2)));
        let line = match if n == 0 { 9 } else { r.below(13) } {
            0..=2 => {
                let op = r.pick(&["tadd", "tsub", "tmul", "tmax", "tmin", "tdiv"]);
                format!("pto.{op} ins({a}, {b} : {wide}, {wide}) outs({c} : {wide})")
            }
            3 => format!("pto.{} ins({a}, %s : {wide}, f32) outs({c} : {wide})", r.pick(&["tadds", "tmuls", "tmaxs"])),
            4 | 5 => {
                let op = r.pick(&["trelu", "tabs", "tneg", "texp", "tsqrt", "trsqrt", "tlog", "tmov"]);
                format!("pto.{op} ins({a} : {wide}) outs({c} : {wide})")
            }
            6 => {
                let op = r.pick(&["trowexpandsub", "trowexpandmul", "trowexpanddiv"]);
                format!("pto.{op} ins({a}, {per_row} : {wide}, {column}) outs({c} : {wide}) {{src1Col = 1}}")
            }
            7 => format!("pto.tcolexpandadd ins({a}, %r0 : {wide}, {row}) outs({c} : {wide})"),
            8 => {
                let op = r.pick(&["trowsum", "trowmax", "trowmin"]);
                let scratch = (r.below(3) + 1 + a[2..].parse::<u64>().unwrap()) % 4;
                format!("pto.{op} ins({a}, %w{scratch} : {wide}, {wide}) outs({per_row} : {column})")
            }
            9 | 10 => format!("pto.tload ins(%v{v} : {part}) outs({a} : {wide})"),
            11 => format!("pto.tstore ins({a} : {wide}) outs(%v{v} : {part})"),
            _ => match r.once_in(2) {
                true => format!("pto.tcvt ins({a} {{rmode = #pto<round_mode RINT>}} : {wide}) outs({h} : {half})"),
                false => format!("pto.tcvt ins({h} : {half}) outs({a} : {wide})"),
            },
        };
        let _ = writeln!(text, "    {line}");
    }
    let _ = writeln!(text, "    pto.tstore ins(%w{} : {wide}) outs(%v{} : {part})", r.below(4), r.below(4));
    text.push_str("  }\n  return\n}\n");
    text
}

/// Findings, a tile with its definedness, and the buffers.
type Stored = (Vec<String>, Vec<[Vec<u8>; 2]>, Vec<Vec<u8>>);

/// The results of a run of a program with two buffers.
fn stored(
    text: &str,
    profile: Profile,
    tracked: bool,
    fuses: bool,
    [p, q]: [&[u8]; 2],
    output: Option<&str>,
) -> Stored {
    let program = Program::new(text, profile).buffer("p", p).buffer("q", q).tracked(tracked).fuses(fuses);
    let ran = output.into_iter().fold(program, |program, name| program.output(name)).run();
    let found = ran.diagnostics.iter().map(|d| format!("{}: {} {:?}", d.rule, d.message, d.span)).collect();
    let tiles = ran.tiles.iter().map(|t| [t.data.raw.clone(), t.data.raw_defined.clone()]).collect();
    (found, tiles, ran.buffers.iter().map(|b| b.bytes.clone()).collect())
}

/// A number that looks like any, or now and then none.
fn number(r: &mut Random, one_in: u64) -> u32 {
    let odd = [f32::NAN.to_bits(), 0xFF80_1234, 0x7F80_0000, 0x8000_0000, 1, 0x7F7F_FFFF];
    match r.below(one_in) {
        0 => r.pick(&odd),
        _ => (r.below(4096) as f32 / 1024.0 - 2.0).to_bits(),
    }
}

#[test]
fn chains_store_what_instructions_store() {
    let mut r = Random(19);
    let mut whole = 0;
    for n in 0..150 {
        let is_placed = n % 2 == 0;
        let text = storing(&mut r, is_placed);
        let [p, q] = [0, 1].map(|_| (0..256 * 128).flat_map(|_| number(&mut r, 40).to_le_bytes()).collect::<Vec<u8>>());
        let profile = if is_placed { r.pick(&Profile::ALL) } else { Profile::Cpu };
        let output = r.once_in(3).then(|| format!("w{}", r.below(4)));
        for tracked in [true, false] {
            let left = |fuses: bool| stored(&text, profile, tracked, fuses, [&p, &q], output.as_deref());
            let (fused, plain) = (left(true), left(false));
            assert!(fused == plain, "{tracked} {profile} {:?} {:?}\n{text}", fused.0, plain.0);
            whole += usize::from(!plain.2.is_empty());
        }
    }
    assert!(whole > 200, "only {whole} programs ran to their end");
}

/// Norms and the like: rows are folded, often as they are made, and other rows are made of the results.
fn folding(r: &mut Random, [rows, cols]: [u64; 2]) -> String {
    let (wide, column) = ("!t", "!r");
    let view = "!pto.tensor_view<?x?xf32>";
    let mut body = String::new();
    let mut last = "x";
    for _ in 0..r.range(4, 14) {
        let tile = |r: &mut Random| r.pick(&["x", "y", "z", "w"]);
        let (any, b, to, per_row) = (tile(r), tile(r), tile(r), r.pick(&["r", "s"]));
        let a = r.pick(&[last, last, any]);
        let line = match r.below(12) {
            0..=2 => {
                let op = r.pick(&["tadd", "tsub", "tmul", "tmax", "tdiv"]);
                format!("{op} ins(%{a}, %{} : {wide}, {wide}) outs(%{to} : {wide})", r.pick(&[a, b]))
            }
            3 => format!("{} ins(%{a} : {wide}) outs(%{to} : {wide})", r.pick(&["texp", "tabs", "tneg", "trelu"])),
            4 => format!("tmuls ins(%{a}, %share : {wide}, f32) outs(%{to} : {wide})"),
            5..=7 => {
                let op = r.pick(&["trowexpandsub", "trowexpandmul", "trowexpanddiv", "trowexpanddiv"]);
                format!("{op} ins(%{a}, %{per_row} : {wide}, {column}) outs(%{to} : {wide}) {{src1Col = 1}}")
            }
            8..=10 => {
                let op = r.pick(&["trowsum", "trowsum", "trowmax", "trowmin"]);
                format!("{op} ins(%{last}, %tmp : {wide}, {wide}) outs(%{per_row} : {column})")
            }
            _ => {
                let op = r.pick(&["tmuls", "tadds"]);
                format!("{op} ins(%{per_row}, %share : {column}, f32) outs(%{per_row} : {column})")
            }
        };
        last = if line.contains("outs(%r") || line.contains("outs(%s") { last } else { to };
        let _ = writeln!(body, "    pto.{line}");
    }
    let tiles: String = ["x", "y", "z", "w", "tmp"].map(|t| format!("  %{t} = pto.alloc_tile : {wide}\n")).concat();
    format!(
        "!t = !pto.tile_buf<vec, {rows}x{cols}xf32>
!r = !pto.tile_buf<vec, {rows}x1xf32, blayout=col_major>
func.func @kernel(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rounds = arith.constant 3 : index
  %rows = arith.constant {rows} : index
  %cols = arith.constant {cols} : index
  %share = arith.constant {} : f32
  %p_all = pto.make_tensor_view %p, shape = [%rows, %cols], strides = [%cols, %one] : {view}
  %q_all = pto.make_tensor_view %q, shape = [%rows, %cols], strides = [%cols, %one] : {view}
{tiles}  %r = pto.alloc_tile : {column}
  %s = pto.alloc_tile : {column}
  pto.texpands ins(%share : f32) outs(%r : {column})
  pto.texpands ins(%share : f32) outs(%s : {column})
  pto.texpands ins(%share : f32) outs(%z : {wide})
  pto.texpands ins(%share : f32) outs(%w : {wide})
  scf.for %i = %zero to %rounds step %one {{
    pto.tload ins(%p_all : {view}) outs(%x : {wide})
    pto.tload ins(%q_all : {view}) outs(%y : {wide})
{body}    pto.tstore ins(%{last} : {wide}) outs(%q_all : {view})
  }}
  return
}}
",
        r.pick(&["0.75", "3.0", "-1.0e-3", "0.0"]),
    )
}

#[test]
fn rows_are_folded_as_instructions_fold_them() {
    let mut r = Random(20);
    let shapes = [[16, 64], [32, 128], [48, 512], [32, 2048], [64, 96], [40, 128], [64, 72], [16, 1024], [128, 256]];
    for n in 0..shapes.len() * 6 {
        let shape = shapes[n % shapes.len()];
        let text = folding(&mut r, shape);
        let one_in = r.pick(&[40, 4096, 1 << 20]);
        let elements = 0..shape[0] * shape[1];
        let [p, q] =
            [0, 1].map(|_| elements.clone().flat_map(|_| number(&mut r, one_in).to_le_bytes()).collect::<Vec<u8>>());
        let output = r.pick(&[None, None, Some("x"), Some("z"), Some("r"), Some("s")]);
        for tracked in [true, false] {
            let left = |fuses: bool| stored(&text, Profile::Cpu, tracked, fuses, [&p, &q], output);
            let (fused, plain) = (left(true), left(false));
            assert!(plain.0.is_empty(), "{:?}\n{text}", plain.0);
            assert!(fused == plain, "{tracked} {:?} {:?}\n{text}", fused.0, plain.0);
        }
    }
}

#[test]
fn an_error_in_a_chain_stops_where_it_did() {
    let [wide, ..] = types((64, 128));
    let text = format!(
        "func.func @kernel(%p: !pto.ptr<f32>) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = pto.alloc_tile : {wide}
  %s = arith.constant 2.0 : f32
  pto.texpands ins(%s : f32) outs(%a : {wide})
  pto.tadds ins(%a, %s : {wide}, f32) outs(%a : {wide})
  pto.tmuls ins(%a, %s : {wide}, f32) outs(%a : {wide})
  pto.tprint ins(%a : {wide})
  pto.tadds ins(%a, %s : {wide}, f32) outs(%a : {wide})
  %no = arith.divsi %one, %zero : i64
  pto.tmuls ins(%a, %s : {wide}, f32) outs(%a : {wide})
  return
}}"
    );
    let [fused, plain] =
        [true, false].map(|fuses| Program::new(&text, Profile::Cpu).buffer("p", &[]).fuses(fuses).run());
    assert_eq!(rules(&fused.diagnostics), rules(&plain.diagnostics));
    assert!(fused.failed() && plain.failed(), "{:?}", fused.diagnostics);
    let printed = |outcome: &tessera_interp::Outcome| outcome.printed[0].tile().unwrap().elements.clone();
    assert_eq!(printed(&fused), printed(&plain));
    assert_eq!(printed(&fused)[..4], 8f32.to_le_bytes());
}
