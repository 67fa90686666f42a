//! Products that wait with what comes before and after them leave what instructions leave one after the other.

use super::support::Program;
use std::fmt::Write;
use tessera_isa::profile::Profile;
use tessera_testkit::random::Random;

const VIEW: &str = "!pto.tensor_view<?x?xf32>";

/// Elements of a buffer: room for every view at every place.
const ELEMENTS: u64 = 512 * 140;

/// The sizes: rows, columns and depth of the first product, columns of the second.
struct Shape {
    m: u64,
    n: u64,
    k: u64,
    d: u64,
    /// Rows and depth that are valid.
    rows: u64,
    depth: u64,
}

impl Shape {
    fn new(r: &mut Random) -> Shape {
        // An instruction that touches less than 64 KiB does not wait, unless another one waits already.
        let (m, n) = (r.pick(&[16, 64, 128, 128]), r.pick(&[32, 64, 128, 128]));
        let (k, d) = (r.pick(&[32, 64, 64, 128]), r.pick(&[32, 64]));
        let (rows, depth) = (r.pick(&[m, m, m, m, m - 8, m - 3]), r.pick(&[k, k, k, k, k - 8, k - 5]));
        Shape { m, n, k, d, rows, depth }
    }

    fn types(&self, r: &mut Random) -> String {
        let Shape { m, n, k, d, rows, depth } = self;
        let tile = |name: &str, loc: &str, [rows, cols]: [u64; 2], valid: [u64; 2], more: &str| {
            let [v_row, v_col] = valid;
            format!(
                "!{name} = !pto.tile_buf<loc={loc}, dtype=f32, rows={rows}, cols={cols}, v_row={v_row}, v_col={v_col}{more}>\n"
            )
        };
        let nz = ", blayout=col_major, slayout=row_major, fractal=512";
        let nd = ", blayout=row_major, slayout=none_box, fractal=512";
        let dn = ", blayout=col_major, slayout=none_box, fractal=512";
        let right = ", blayout=row_major, slayout=col_major, fractal=512";
        let either = r.pick(&[nz, right]);
        let acc = ", blayout=col_major, slayout=row_major, fractal=1024";
        [
            tile("a_l1", "mat", [*m, *k], [*rows, *depth], nz),
            tile("b_l1", "mat", [*k, *n], [*depth, *n], either),
            tile("v_l1", "mat", [*n, *d], [*n, *d], nz),
            tile("p_l1", "mat", [*m, *n], [*rows, *n], nz),
            tile("left", "left", [*m, *k], [*rows, *depth], nz),
            tile("right", "right", [*k, *n], [*depth, *n], right),
            tile("weights", "left", [*m, *n], [*rows, *n], nz),
            tile("values", "right", [*n, *d], [*n, *d], right),
            tile("acc", "acc", [*m, *n], [*rows, *n], acc),
            tile("out", "acc", [*m, *d], [*rows, *d], acc),
            tile("s", "vec", [*m, *n], [*rows, *n], nd),
            tile("o", "vec", [*m, *d], [*rows, *d], nd),
            tile("c", "vec", [*m, 1], [*rows, 1], dn),
        ]
        .concat()
    }
}

/// The tiles: name, type, location and bytes.
fn tiles(shape: &Shape) -> Vec<(&'static str, &'static str, &'static str, u64)> {
    let Shape { m, n, k, d, .. } = shape;
    vec![
        ("a_l1", "a_l1", "mat", m * k),
        ("b_l1", "b_l1", "mat", k * n),
        ("v_l1", "v_l1", "mat", n * d),
        ("p_l1", "p_l1", "mat", m * n),
        ("left", "left", "left", m * k),
        ("weights", "weights", "left", m * n),
        ("right", "right", "right", k * n),
        ("values", "values", "right", n * d),
        ("acc", "acc", "acc", m * n),
        ("out", "out", "acc", m * d),
        ("s", "s", "vec", m * n),
        ("t", "s", "vec", m * n),
        ("o", "o", "vec", m * d),
        ("more", "o", "vec", m * d),
        ("c", "c", "vec", *m),
        ("f", "c", "vec", *m),
    ]
}

/// Two products in a loop, of what is loaded at other places each time, as attention has them, with something in between now and
/// then that makes copies matter.
fn program(r: &mut Random, shape: &Shape, is_placed: bool) -> String {
    let Shape { n, d, rows, depth, .. } = shape;
    let mut text = shape.types(r);
    text.push_str("func.func @kernel(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {\n");
    let rounds = r.range(3, 5);
    for (name, value) in
        [("zero", 0), ("one", 1), ("rounds", rounds), ("n", *n), ("d", *d), ("rows", *rows), ("depth", *depth)]
    {
        let _ = writeln!(text, "  %{name} = arith.constant {value} : index");
    }
    let (is_far, is_turned) = (r.once_in(3), r.once_in(3));
    let pitch = |cols: u64| if is_far { 512 } else { cols };
    let _ = writeln!(text, "  %scale = arith.constant 0.125 : f32\n  %half = arith.constant 0.5 : f32");
    let mut next = [("mat", 0u64), ("left", 0), ("right", 0), ("acc", 0), ("vec", 0)];
    for (name, ty, loc, elements) in tiles(shape) {
        let end = next.iter_mut().find(|(at, _)| *at == loc).map(|(_, end)| end);
        let mut at = String::new();
        if let Some(end) = end.filter(|_| !is_placed) {
            // Now and then one lies over the one before.
            let back = if r.once_in(12) { r.pick(&[512, 1024, 4096]).min(*end) } else { 0 };
            let address = (*end - back).next_multiple_of(512);
            *end = address + (elements * 4).next_multiple_of(512);
            let _ = writeln!(text, "  %at_{name} = arith.constant {address} : i64");
            at = format!("addr = %at_{name} ");
        }
        let _ = writeln!(text, "  %{name} = pto.alloc_tile {at}: !{ty}");
    }
    for tile in ["s", "t", "o", "more", "c", "f"] {
        let ty = tiles(shape).iter().find(|t| t.0 == tile).map(|t| t.1).unwrap_or_default();
        let _ = writeln!(text, "  pto.texpands ins(%scale : f32) outs(%{tile} : !{ty})");
    }
    let _ = writeln!(text, "  scf.for %i = %zero to %rounds step %one {{");
    // Views: the left factor, the right one (perhaps turned), the values, and where results go.
    let mut view = |name: &str, of: &str, [rows, cols]: [(&str, u64); 2], is_turned: bool| {
        let strides = if is_turned {
            ["%one".to_string(), format!("%{name}_pitch")]
        } else {
            [format!("%{name}_pitch"), "%one".into()]
        };
        let layout = if is_turned { " {layout = #pto.layout<dn>}" } else { "" };
        let _ = writeln!(
            text,
            "    %{name}_pitch = arith.constant {} : index
    %{name}_by = arith.constant {} : index
    %{name}_far = arith.muli %i, %{name}_by : index
    %{name}_at = pto.addptr %{of}, %{name}_far : !pto.ptr<f32> -> !pto.ptr<f32>
    %{name} = pto.make_tensor_view %{name}_at, shape = [%{}, %{}], strides = [{}]{layout} : {VIEW}",
            pitch(if is_turned { rows.1 } else { cols.1 }),
            [0, 16, 128][(cols.1 as usize / 16) % 3],
            rows.0,
            cols.0,
            strides.join(", "),
        );
    };
    view("g_a", "p", [("rows", *rows), ("depth", *depth)], false);
    view("g_b", "p", [("depth", *depth), ("n", *n)], is_turned);
    view("g_v", "p", [("n", *n), ("d", *d)], false);
    view("g_o", "q", [("rows", *rows), ("d", *d)], false);
    view("g_s", "q", [("rows", *rows), ("n", *n)], false);
    let product = if r.once_in(3) {
        "%first = arith.cmpi eq, %i, %zero : index
    scf.if %first {
      pto.tmatmul ins(%left, %right : !left, !right) outs(%acc : !acc)
    } else {
      pto.tmatmul.acc ins(%acc, %left, %right : !acc, !left, !right) outs(%acc : !acc)
    }"
    } else {
        "pto.tmatmul ins(%left, %right : !left, !right) outs(%acc : !acc)"
    };
    let to_left = r.pick(&[
        "pto.tmov ins(%a_l1 : !a_l1) outs(%left : !left)",
        "pto.textract ins(%a_l1, %zero, %zero : !a_l1, index, index) outs(%left : !left)",
    ]);
    let load = |name: &str, to: &str| format!("pto.tload ins(%{name} : {VIEW}) outs(%{to} : !{to})");
    let mut body: Vec<String> = vec![
        load("g_a", "a_l1"),
        load("g_b", "b_l1"),
        to_left.into(),
        "pto.tmov ins(%b_l1 : !b_l1) outs(%right : !right)".into(),
        product.into(),
        "pto.tmov ins(%acc : !acc) outs(%s : !s)".into(),
        "pto.tmuls ins(%s, %scale : !s, f32) outs(%s : !s)".into(),
        "pto.trowmax ins(%s, %t : !s, !s) outs(%c : !c)".into(),
        "pto.trowexpandexpdif ins(%s, %c : !s, !c) outs(%t : !s)".into(),
        "pto.trowsum ins(%t, %s : !s, !s) outs(%f : !c)".into(),
        "pto.tmov ins(%t : !s) outs(%p_l1 : !p_l1)".into(),
        "pto.tmov ins(%p_l1 : !p_l1) outs(%weights : !weights)".into(),
        load("g_v", "v_l1"),
        "pto.tmov ins(%v_l1 : !v_l1) outs(%values : !values)".into(),
        "pto.tmatmul ins(%weights, %values : !weights, !values) outs(%out : !out)".into(),
        "pto.tmov ins(%out : !out) outs(%more : !o)".into(),
        "pto.trowexpandmul ins(%o, %f : !o, !c) outs(%o : !o)".into(),
        "pto.tadd ins(%o, %more : !o, !o) outs(%o : !o)".into(),
        format!("pto.tstore ins(%o : !o) outs(%g_o : {VIEW})"),
    ];
    let others = [
        load("g_a", "a_l1"),
        load("g_v", "v_l1"),
        "pto.tadds ins(%s, %half : !s, f32) outs(%s : !s)".into(),
        "pto.tadds ins(%t, %half : !s, f32) outs(%t : !s)".into(),
        "pto.tmuls ins(%more, %half : !o, f32) outs(%more : !o)".into(),
        "pto.tmov ins(%acc : !acc) outs(%t : !s)".into(),
        "pto.tmov ins(%s : !s) outs(%p_l1 : !p_l1)".into(),
        "pto.tmov ins(%out : !out) outs(%o : !o)".into(),
        "pto.tmatmul.acc ins(%out, %weights, %values : !out, !weights, !values) outs(%out : !out)".into(),
        "pto.tmatmul ins(%left, %right : !left, !right) outs(%acc : !acc)".into(),
        format!("pto.tstore ins(%acc : !acc) outs(%g_s : {VIEW})"),
        format!(
            "pto.tmatmul ins(%left, %right : !left, !right) outs(%acc : !acc)
    pto.tstore ins(%acc : !acc) outs(%g_s : {VIEW})"
        ),
        format!("pto.tload ins(%g_o : {VIEW}) outs(%more : !o)"),
    ];
    for _ in 0..r.pick(&[0, 0, 1, 2, 3]) {
        let (at, other) = (r.below(body.len() as u64 + 1) as usize, r.pick(&others.iter().collect::<Vec<_>>()).clone());
        body.insert(at, other);
    }
    for line in body {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("  }\n  return\n}\n");
    text
}

/// The results of a run: findings, tiles with their definedness, and the buffers.
type Left = (Vec<String>, Vec<[Vec<u8>; 2]>, Vec<Vec<u8>>);

fn left(text: &str, tracked: bool, fuses: bool, [p, q]: [&[u8]; 2], outputs: &[&str]) -> Left {
    let program = Program::new(text, Profile::Cpu).buffer("p", p).buffer("q", q).tracked(tracked).fuses(fuses);
    let ran = outputs.iter().fold(program, |program, name| program.output(name)).run();
    let found = ran.diagnostics.iter().map(|d| format!("{}: {} {:?}", d.rule, d.message, d.span)).collect();
    let tiles = ran.tiles.iter().map(|t| [t.data.raw.clone(), t.data.raw_defined.clone()]).collect();
    (found, tiles, ran.buffers.iter().map(|b| b.bytes.clone()).collect())
}

#[test]
fn products_in_chains_leave_what_instructions_leave() {
    let mut r = Random(23);
    let mut whole = 0;
    for n in 0..160 {
        let shape = Shape::new(&mut r);
        let text = program(&mut r, &shape, n % 2 == 0);
        let [p, q] = [0, 1].map(|_| {
            let number = |r: &mut Random| match r.below(1 << 14) {
                0 => r.pick(&[f32::NAN.to_bits(), 0xFF80_1234, 0x7F80_0000, 0x8000_0000, 1]),
                _ => (r.below(4096) as f32 / 1024.0 - 2.0).to_bits(),
            };
            (0..ELEMENTS).flat_map(|_| number(&mut r).to_le_bytes()).collect::<Vec<u8>>()
        });
        let names: Vec<&str> = tiles(&shape).iter().map(|t| t.0).collect();
        let outputs: Vec<&str> = (0..r.pick(&[0, 0, 1, 3])).map(|_| r.pick(&names)).collect();
        for tracked in [true, false] {
            let [fused, plain] = [true, false].map(|fuses| left(&text, tracked, fuses, [&p, &q], &outputs));
            assert!(fused == plain, "tracked: {tracked}, {:?} {:?}\n{text}", fused.0, plain.0);
            whole += usize::from(!plain.2.is_empty());
        }
    }
    assert!(whole > 200, "only {whole} programs ran to their end");
}
