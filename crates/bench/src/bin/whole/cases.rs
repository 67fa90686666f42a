//! The kernels: instructions, and what a good user of numpy writes for the same.

use tessera::Elem;

/// An array of global memory.
#[derive(Clone, Copy)]
pub struct Array {
    pub name: &'static str,
    pub elem: Elem,
    pub elements: usize,
    /// As numpy has it.
    pub shape: Option<[usize; 2]>,
}

impl Array {
    /// Numbers that look like any: of f32 between -1 and 1, of i8 all.
    pub fn bytes(&self, k: usize) -> Vec<u8> {
        let factor = k + 7;
        match self.elem {
            Elem::I8 => (0..self.elements).map(|n| ((n * factor % 251) as i64 - 125) as u8).collect(),
            _ => (0..self.elements).flat_map(|n| ((n * factor % 997) as f32 / 500.0 - 1.0).to_le_bytes()).collect(),
        }
    }

    pub fn numpy_values(&self, k: usize) -> String {
        match self.elem {
            Elem::I8 => format!("n * {} % 251 - 125", k + 7),
            _ => format!("n * {} % 997 / 500 - 1", k + 7),
        }
    }

    pub fn numpy_type(&self) -> &'static str {
        if self.elem == Elem::I8 { "int8" } else { "float32" }
    }
}

/// A kernel: a body that runs again and again, with pointers `%p_NAME` and views `%g_NAME` of its arrays.
pub struct Case {
    pub name: &'static str,
    pub arrays: Vec<Array>,
    /// Types and tiles, then what comes once before the rounds.
    types: String,
    tiles: String,
    body: String,
    pub numpy_setup: &'static str,
    pub numpy: &'static [&'static str],
}

const VIEW: &str = "!pto.tensor_view<?x?xf32>";

impl Case {
    pub fn text(&self, rounds: u64) -> String {
        let arguments: Vec<String> =
            self.arrays.iter().map(|a| format!("%p_{}: !pto.ptr<{}>", a.name, a.elem)).collect();
        let view = |a: &Array| {
            let [rows, cols] = a.shape.unwrap_or([1, a.elements]);
            format!(
                "    %rows_{0} = arith.constant {rows} : index\n    %cols_{0} = arith.constant {cols} : index\n    \
                 %g_{0} = pto.make_tensor_view %p_{0}, shape = [%rows_{0}, %cols_{0}], strides = [%cols_{0}, %c1] : \
                 !pto.tensor_view<?x?x{1}>\n",
                a.name, a.elem
            )
        };
        let views: String = self.arrays.iter().map(view).collect();
        format!(
            "{}module {{
  func.func @kernel({}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant {rounds} : index
    %one = arith.constant 1.0 : f32
    %less = arith.constant -1.0 : f32
    %epsilon = arith.constant 1.0e-5 : f32
{views}{}    scf.for %i = %c0 to %n step %c1 {{
{}    }}
    return
  }}
}}
",
            self.types,
            arguments.join(", "),
            self.tiles,
            self.body
        )
    }
}

/// Tiles of these names and a type.
fn tiles(names: &[&str], ty: &str) -> String {
    names.iter().map(|name| format!("    %{name} = pto.alloc_tile : {ty}\n")).collect()
}

fn lines(body: &[&str]) -> String {
    body.iter().map(|line| format!("      pto.{line}\n")).collect()
}

/// A kernel on matrices of f32 of one shape: `x` and perhaps `y` are loaded, `z` is stored; `%w` and `%r` are scratch.
fn plain(
    name: &'static str,
    [rows, cols]: [usize; 2],
    body: &[&str],
    numpy_setup: &'static str,
    numpy: &'static [&'static str],
) -> Case {
    let body = lines(body);
    let uses_y = body.contains("%y");
    let array = |name| Array { name, elem: Elem::F32, elements: rows * cols, shape: Some([rows, cols]) };
    let arrays = if uses_y { vec![array("x"), array("y"), array("z")] } else { vec![array("x"), array("z")] };
    let load = |name: &str| format!("      pto.tload ins(%g_{name} : {VIEW}) outs(%{name} : !t)\n");
    let loads: String = ["x", "y"].into_iter().filter(|n| *n == "x" || uses_y).map(load).collect();
    Case {
        name,
        arrays,
        types: format!(
            "!t = !pto.tile_buf<vec, {rows}x{cols}xf32>\n!r = !pto.tile_buf<vec, {rows}x1xf32, blayout=col_major>\n"
        ),
        tiles: format!(
            "    %share = arith.constant {} : f32\n{}{}",
            1.0 / cols as f64,
            tiles(&["x", "y", "z", "w", "tmp"], "!t"),
            tiles(&["r"], "!r")
        ),
        body: format!("{loads}{body}      pto.tstore ins(%z : !t) outs(%g_z : {VIEW})\n"),
        numpy_setup,
        numpy,
    }
}

/// Scores of 128 queries with blocks of 128 keys, a softmax that goes along, and what the values weigh.
fn attention() -> Case {
    let array = |name, rows, cols| Array { name, elem: Elem::F32, elements: rows * cols, shape: Some([rows, cols]) };
    let col = "!col";
    Case {
        name: "flash attention 128 queries, 512 keys, 64",
        arrays: vec![array("q", 128, 64), array("k", 512, 64), array("v", 512, 64), array("z", 128, 64)],
        types: "!q_l1 = !pto.tile_buf<loc=mat, f32, 128, 64>
!kt_l1 = !pto.tile_buf<loc=mat, dtype=f32, rows=64, cols=128, v_row=64, v_col=128, blayout=row_major, slayout=col_major, fractal=512, pad=0>
!v_l1 = !pto.tile_buf<loc=mat, f32, 128, 64>
!p_l1 = !pto.tile_buf<loc=mat, f32, 128, 128>
!q = !pto.tile_buf<loc=left, f32, 128, 64>
!kt = !pto.tile_buf<loc=right, f32, 64, 128>
!p = !pto.tile_buf<loc=left, f32, 128, 128>
!v = !pto.tile_buf<loc=right, f32, 128, 64>
!scores = !pto.tile_buf<loc=acc, f32, 128, 128>
!weighted = !pto.tile_buf<loc=acc, f32, 128, 64>
!s = !pto.tile_buf<vec, 128x128xf32>
!o = !pto.tile_buf<vec, 128x64xf32>
!col = !pto.tile_buf<vec, 128x1xf32, blayout=col_major>
"
        .into(),
        tiles: [
            "    %c128 = arith.constant 128 : index\n    %c64 = arith.constant 64 : index\n".into(),
            "    %c512 = arith.constant 512 : index\n    %eighth = arith.constant 0.125 : f32\n".into(),
            "    %zero = arith.constant 0.0 : f32\n    %lowest = arith.constant 0xFF800000 : f32\n".into(),
            "    %g_kt = pto.make_tensor_view %p_k, shape = [%c64, %c512], strides = [%c1, %c64] {layout = #pto.layout<dn>} : !pto.tensor_view<?x?xf32>\n".into(),
            tiles(&["q_l1"], "!q_l1"),
            tiles(&["kt_l1"], "!kt_l1"),
            tiles(&["v_l1"], "!v_l1"),
            tiles(&["p_l1"], "!p_l1"),
            tiles(&["queries"], "!q"),
            tiles(&["keys"], "!kt"),
            tiles(&["weights"], "!p"),
            tiles(&["values"], "!v"),
            tiles(&["scores"], "!scores"),
            tiles(&["weighted"], "!weighted"),
            tiles(&["s", "e"], "!s"),
            tiles(&["o", "more"], "!o"),
            tiles(&["largest", "peak", "newest", "factor", "sums", "total"], col),
        ]
        .concat(),
        body: "      pto.tload ins(%g_q : !pto.tensor_view<?x?xf32>) outs(%q_l1 : !q_l1)
      pto.tmov ins(%q_l1 : !q_l1) outs(%queries : !q)
      pto.texpands ins(%lowest : f32) outs(%peak : !col)
      pto.texpands ins(%zero : f32) outs(%total : !col)
      pto.texpands ins(%zero : f32) outs(%o : !o)
      scf.for %at = %c0 to %c512 step %c128 {
        %some_k = pto.partition_view %g_kt, offsets = [%c0, %at], sizes = [%c64, %c128] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x128xf32>
        %some_v = pto.partition_view %g_v, offsets = [%at, %c0], sizes = [%c128, %c64] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<128x64xf32>
        pto.tload ins(%some_k : !pto.partition_tensor_view<64x128xf32>) outs(%kt_l1 : !kt_l1)
        pto.tload ins(%some_v : !pto.partition_tensor_view<128x64xf32>) outs(%v_l1 : !v_l1)
        pto.tmov ins(%kt_l1 : !kt_l1) outs(%keys : !kt)
        pto.tmatmul ins(%queries, %keys : !q, !kt) outs(%scores : !scores)
        pto.tmov ins(%scores : !scores) outs(%s : !s)
        pto.tmuls ins(%s, %eighth : !s, f32) outs(%s : !s)
        pto.trowmax ins(%s, %e : !s, !s) outs(%largest : !col)
        pto.tmax ins(%peak, %largest : !col, !col) outs(%newest : !col)
        pto.tsub ins(%peak, %newest : !col, !col) outs(%factor : !col)
        pto.texp ins(%factor : !col) outs(%factor : !col)
        pto.tmov ins(%newest : !col) outs(%peak : !col)
        pto.trowexpandexpdif ins(%s, %newest : !s, !col) outs(%e : !s)
        pto.trowsum ins(%e, %s : !s, !s) outs(%sums : !col)
        pto.tmul ins(%total, %factor : !col, !col) outs(%total : !col)
        pto.tadd ins(%total, %sums : !col, !col) outs(%total : !col)
        pto.tmov ins(%e : !s) outs(%p_l1 : !p_l1)
        pto.tmov ins(%p_l1 : !p_l1) outs(%weights : !p)
        pto.tmov ins(%v_l1 : !v_l1) outs(%values : !v)
        pto.tmatmul ins(%weights, %values : !p, !v) outs(%weighted : !weighted)
        pto.tmov ins(%weighted : !weighted) outs(%more : !o)
        pto.trowexpandmul ins(%o, %factor : !o, !col) outs(%o : !o)
        pto.tadd ins(%o, %more : !o, !o) outs(%o : !o)
      }
      pto.trowexpanddiv ins(%o, %total : !o, !col) outs(%o : !o)
      pto.tstore ins(%o : !o) outs(%g_z : !pto.tensor_view<?x?xf32>)
"
        .into(),
        numpy_setup: "kt = [np.ascontiguousarray(k[a:a + 128].T) for a in range(0, 512, 128)]
s = np.empty((128, 128), np.float32)
o = np.empty((128, 64), np.float32)",
        numpy: &[
            "peak = np.full((128, 1), -np.inf, np.float32); total = np.zeros((128, 1), np.float32); o.fill(0)",
            "for n in range(4):",
            "    np.matmul(q, kt[n], out=s); s *= np.float32(0.125)",
            "    newest = np.maximum(peak, s.max(1, keepdims=True)); factor = np.exp(peak - newest); peak = newest",
            "    np.subtract(s, newest, out=s); np.exp(s, out=s)",
            "    total *= factor; total += s.sum(1, keepdims=True)",
            "    np.multiply(o, factor, out=o); o += s @ v[128 * n:128 * n + 128]",
            "np.divide(o, total, out=z)",
        ],
    }
}

/// Codes of 8 bits, a scale for each row, and something that is added.
fn dequantize() -> Case {
    let array = |name, elem, cols| Array { name, elem, elements: 64 * cols, shape: Some([64, cols]) };
    let row = Array { name: "s", elem: Elem::F32, elements: 64, shape: Some([64, 1]) };
    Case {
        name: "dequantize, scale, add 64x1024",
        arrays: vec![array("q", Elem::I8, 1024), array("y", Elem::F32, 1024), array("z", Elem::F32, 1024), row],
        types: "!b = !pto.tile_buf<vec, 64x1024xi8>\n!t = !pto.tile_buf<vec, 64x1024xf32>\n!r = !pto.tile_buf<vec, 64x1xf32, blayout=col_major>\n".into(),
        tiles: format!(
            "{}{}{}    %g_r = pto.make_tensor_view %p_s, shape = [%rows_s, %c1], strides = [%c1, %rows_s] {{layout = #pto.layout<dn>}} : {VIEW}\n    pto.tload ins(%g_r : {VIEW}) outs(%r : !r)\n",
            tiles(&["q"], "!b"),
            tiles(&["y", "w", "z"], "!t"),
            tiles(&["r"], "!r")
        ),
        body: lines(&[
            "tload ins(%g_q : !pto.tensor_view<?x?xi8>) outs(%q : !b)",
            "tload ins(%g_y : !pto.tensor_view<?x?xf32>) outs(%y : !t)",
            "tcvt ins(%q : !b) outs(%w : !t)",
            "trowexpandmul ins(%w, %r : !t, !r) outs(%w : !t)",
            "tadd ins(%w, %y : !t, !t) outs(%z : !t)",
            "tstore ins(%z : !t) outs(%g_z : !pto.tensor_view<?x?xf32>)",
        ]),
        numpy_setup: "",
        numpy: &["np.multiply(q, s, out=z)", "z += y"],
    }
}

/// Halves of heads turned by angles.
fn rope() -> Case {
    let array = |name| Array { name, elem: Elem::F32, elements: 256 * 128, shape: Some([256, 128]) };
    let half = |name| Array { name, elem: Elem::F32, elements: 256 * 64, shape: Some([256, 64]) };
    let part = "!pto.partition_tensor_view<256x64xf32>";
    let window = |name: &str, of: &str, at: &str| {
        format!(
            "    %{name} = pto.partition_view %g_{of}, offsets = [%c0, %{at}], sizes = [%c256, %c64] : {VIEW} -> {part}\n"
        )
    };
    Case {
        name: "rope (decode step) 256x128",
        arrays: vec![array("x"), half("c"), half("s"), array("z")],
        types: "!t = !pto.tile_buf<vec, 256x64xf32>\n".into(),
        tiles: [
            "    %c64 = arith.constant 64 : index\n    %c256 = arith.constant 256 : index\n".into(),
            window("low", "x", "c0"),
            window("high", "x", "c64"),
            window("to_low", "z", "c0"),
            window("to_high", "z", "c64"),
            tiles(&["a", "b", "c", "s", "ac", "bs", "bc", "as", "l", "h"], "!t"),
        ]
        .concat(),
        body: lines(&[
            &format!("tload ins(%low : {part}) outs(%a : !t)"),
            &format!("tload ins(%high : {part}) outs(%b : !t)"),
            &format!("tload ins(%g_c : {VIEW}) outs(%c : !t)"),
            &format!("tload ins(%g_s : {VIEW}) outs(%s : !t)"),
            "tmul ins(%a, %c : !t, !t) outs(%ac : !t)",
            "tmul ins(%b, %s : !t, !t) outs(%bs : !t)",
            "tsub ins(%ac, %bs : !t, !t) outs(%l : !t)",
            &format!("tstore ins(%l : !t) outs(%to_low : {part})"),
            "tmul ins(%b, %c : !t, !t) outs(%bc : !t)",
            "tmul ins(%a, %s : !t, !t) outs(%as : !t)",
            "tadd ins(%bc, %as : !t, !t) outs(%h : !t)",
            &format!("tstore ins(%h : !t) outs(%to_high : {part})"),
        ]),
        numpy_setup: "w = np.empty((256, 64), np.float32); a, b, l, h = x[:, :64], x[:, 64:], z[:, :64], z[:, 64:]",
        numpy: &[
            "np.multiply(a, c, out=l); np.multiply(b, s, out=w); l -= w",
            "np.multiply(b, c, out=h); np.multiply(a, s, out=w); h += w",
        ],
    }
}

pub fn cases() -> Vec<Case> {
    let softmax = &[
        "trowmax ins(%x, %tmp : !t, !t) outs(%r : !r)",
        "trowexpandsub ins(%x, %r : !t, !r) outs(%z : !t) {src1Col = 1}",
        "texp ins(%z : !t) outs(%z : !t)",
        "trowsum ins(%z, %tmp : !t, !t) outs(%r : !r)",
        "trowexpanddiv ins(%z, %r : !t, !r) outs(%z : !t) {src1Col = 1}",
    ];
    let norm = &[
        "trowsum ins(%x, %tmp : !t, !t) outs(%r : !r)",
        "tmuls ins(%r, %share : !r, f32) outs(%r : !r)",
        "trowexpandsub ins(%x, %r : !t, !r) outs(%z : !t) {src1Col = 1}",
        "tmul ins(%z, %z : !t, !t) outs(%w : !t)",
        "trowsum ins(%w, %tmp : !t, !t) outs(%r : !r)",
        "tmuls ins(%r, %share : !r, f32) outs(%r : !r)",
        "tadds ins(%r, %epsilon : !r, f32) outs(%r : !r)",
        "tsqrt ins(%r : !r) outs(%r : !r)",
        "trowexpanddiv ins(%z, %r : !t, !r) outs(%z : !t) {src1Col = 1}",
        "tmul ins(%z, %y : !t, !t) outs(%z : !t)",
    ];
    let silu = &[
        "tmuls ins(%x, %less : !t, f32) outs(%z : !t)",
        "texp ins(%z : !t) outs(%z : !t)",
        "tadds ins(%z, %one : !t, f32) outs(%z : !t)",
        "tdiv ins(%x, %z : !t, !t) outs(%z : !t)",
        "tmul ins(%z, %y : !t, !t) outs(%z : !t)",
    ];
    let rms = &[
        "tmul ins(%x, %x : !t, !t) outs(%z : !t)",
        "trowsum ins(%z, %tmp : !t, !t) outs(%r : !r)",
        "tmuls ins(%r, %share : !r, f32) outs(%r : !r)",
        "tadds ins(%r, %epsilon : !r, f32) outs(%r : !r)",
        "trsqrt ins(%r : !r) outs(%r : !r)",
        "trowexpandmul ins(%x, %r : !t, !r) outs(%z : !t) {src1Col = 1}",
        "tmul ins(%z, %y : !t, !t) outs(%z : !t)",
    ];
    vec![
        plain(
            "softmax 128x512",
            [128, 512],
            softmax,
            "",
            &["np.subtract(x, x.max(1, keepdims=True), out=z)", "np.exp(z, out=z)", "z /= z.sum(1, keepdims=True)"],
        ),
        plain(
            "layer norm 128x512",
            [128, 512],
            norm,
            "w = np.empty_like(x)",
            &[
                "np.subtract(x, x.mean(1, keepdims=True), out=z)",
                "np.multiply(z, z, out=w)",
                "z /= np.sqrt(w.mean(1, keepdims=True) + np.float32(1e-5))",
                "z *= y",
            ],
        ),
        plain(
            "silu and product (decode step) 16x4096",
            [16, 4096],
            silu,
            "",
            &["np.negative(x, out=z); np.exp(z, out=z)", "z += np.float32(1); np.divide(x, z, out=z); z *= y"],
        ),
        plain(
            "root mean square norm (decode step) 32x2048",
            [32, 2048],
            rms,
            "",
            &[
                "np.multiply(x, x, out=z)",
                "r = np.float32(1) / np.sqrt(z.mean(1, keepdims=True) + np.float32(1e-5))",
                "np.multiply(x, r, out=z); z *= y",
            ],
        ),
        rope(),
        dequantize(),
        attention(),
    ]
}
