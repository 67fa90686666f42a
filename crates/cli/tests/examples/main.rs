//! The programs of `examples/`: each is run by the command line in its own comment, and gives what plain loops give.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod compute;
mod cores;
mod info;
mod irregular;
mod matrix;
mod ranks;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};
use tessera::npy::Array;
use tessera_cli::{Session, run};
use tessera_isa::elem::Elem;

/// A folder with the example in it, in which its command line runs.
struct Example {
    dir: PathBuf,
    command: String,
}

impl Example {
    fn new(name: &str) -> Example {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let dir =
            std::env::temp_dir().join(format!("tessera-example-{}-{}", name.replace('/', "-"), std::process::id()));
        fs::create_dir_all(dir.join(format!("examples/{name}")).parent().unwrap()).unwrap();
        let text = fs::read_to_string(root.join(format!("examples/{name}.pto"))).unwrap();
        fs::write(dir.join(format!("examples/{name}.pto")), &text).unwrap();
        let command = text.lines().find_map(|l| l.strip_prefix("//   ")).unwrap().to_string();
        assert!(command.starts_with("tessera run examples/"), "{command}");
        Example { dir, command }
    }

    /// An input from a file. The file takes the place of what the command line gives: a made-up value, where random bits
    /// would be no parameters.
    fn input(mut self, name: &str, elem: Elem, shape: &[u64], bytes: Vec<u8>) -> Example {
        let file = Array::of_elem(elem, shape.to_vec(), bytes).to_file();
        fs::write(self.dir.join(format!("{name}.npy")), file).unwrap();
        let value = format!("{name}=value:");
        let word = |w: &str| if w.starts_with(&value) { format!("{name}={name}.npy") } else { w.to_string() };
        self.command = self.command.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
        self
    }

    /// Runs the command line, which exits with 1; gives what it said.
    fn fails(self) -> String {
        let (code, told) = self.run();
        assert_eq!(code, 1, "{told}");
        fs::remove_dir_all(&self.dir).unwrap();
        told
    }

    /// Runs the command line: its exit code and what it said.
    fn run(&self) -> (i32, String) {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut session = Session {
            dir: self.dir.clone(),
            stdin: &mut io::empty(),
            stdout: &mut stdout,
            stderr: &mut stderr,
            color: false,
            dialect: None,
        };
        let code = run(self.command.split_whitespace().map(OsString::from), &mut session);
        (code.into(), String::from_utf8_lossy(&stderr).into_owned())
    }

    /// Runs the command line and reads the bytes of the files it wrote.
    fn outputs(self, names: &[&str]) -> Vec<Vec<u8>> {
        let (code, told) = self.run();
        assert_eq!(code, 0, "{}\n{told}", self.command);
        let read = |name: &&str| Array::parse(&fs::read(self.dir.join(format!("{name}.npy"))).unwrap()).unwrap().bytes;
        let found = names.iter().map(read).collect();
        fs::remove_dir_all(&self.dir).unwrap();
        found
    }
}

fn bytes_u16(values: impl Iterator<Item = u16>) -> Vec<u8> {
    values.flat_map(u16::to_le_bytes).collect()
}

fn bytes_u32(values: impl Iterator<Item = u32>) -> Vec<u8> {
    values.flat_map(u32::to_le_bytes).collect()
}

#[test]
fn rope_interleave() {
    let x = |i: usize| (i * 3) as u16;
    let y = |i: usize| (i * 5 + 1) as u16;
    let got = Example::new("rope_interleave")
        .input("even", Elem::F16, &[16, 64], bytes_u16((0..1024).map(x)))
        .input("odd", Elem::F16, &[16, 64], bytes_u16((0..1024).map(y)))
        .outputs(&["low", "high"]);
    for (half, file) in got.iter().enumerate() {
        let stream = (0..1024).map(|n| {
            let (row, k) = (n / 64, half * 64 + n % 64);
            let i = row * 64 + k / 2;
            if k % 2 == 0 { x(i) } else { y(i) }
        });
        assert_eq!(*file, bytes_u16(stream));
    }
}

#[test]
fn nd_to_nz() {
    let got = Example::new("nd_to_nz")
        .input("matrix", Elem::F16, &[32, 64], bytes_u16((0..2048).map(|i| i as u16)))
        .input("boxes", Elem::F16, &[2048], vec![0; 4096])
        .outputs(&["out"]);
    // Four columns of boxes, two boxes each, sixteen rows of sixteen elements.
    let boxes = (0..2048u16).map(|o| {
        let (column, row, c) = (o / 512, o / 16 % 32, o % 16);
        row * 64 + column * 16 + c
    });
    assert_eq!(got, [bytes_u16(boxes)]);
}

#[test]
fn transpose_loop() {
    let got = Example::new("transpose_loop")
        .input("src", Elem::F32, &[64, 96], bytes_u32(0..6144))
        .input("dst", Elem::F32, &[96, 64], vec![0; 6144 * 4])
        .outputs(&["out"]);
    assert_eq!(got, [bytes_u32((0..6144).map(|n| n % 64 * 96 + n / 64))]);
}

#[test]
fn conv_img2col() {
    let image = |y: i64, x: i64, c: i64| ((y * 6 + x) * 16 + c + 1) as u16;
    let all = (0..576).map(|n| image(n / 96, n / 16 % 6, n % 16));
    let got =
        Example::new("conv_img2col").input("image", Elem::F16, &[1, 1, 6, 6, 16], bytes_u16(all)).outputs(&["patches"]);
    let patches = (0..16 * 144).map(|n: i64| {
        let (pixel, k) = (n / 144, n % 144);
        let (y, x) = (pixel / 6 + k / 48 - 1, pixel % 6 + k / 16 % 3 - 1);
        let inside = (0..6).contains(&y) && (0..6).contains(&x);
        if inside { image(y, x, k % 16) } else { 0 }
    });
    assert_eq!(got, [bytes_u16(patches)]);
}

#[test]
fn ragged_edge() {
    let got =
        Example::new("ragged_edge").input("matrix", Elem::F32, &[13, 29], bytes_u32(0..13 * 29)).outputs(&["whole"]);
    let minus_infinity = 0xFF80_0000;
    let whole = (0..16 * 32).map(|n| {
        let (r, c) = (n / 32, n % 32);
        if r < 13 && c < 29 { r * 29 + c } else { minus_infinity }
    });
    assert_eq!(got, [bytes_u32(whole)]);
}

#[test]
fn requantized_insert() {
    let value = |r: usize, c: usize| (r as f32) - (c as f32) * 8.0;
    let scale = |c: usize| if c.is_multiple_of(2) { 0.5f32 } else { 2.0 };
    let acc = (0..512).map(|n| value(n / 32, n % 32).to_bits());
    let params = (0..32).flat_map(|c| (u64::from(scale(c).to_bits()) | 1 << 46).to_le_bytes());
    let got = Example::new("requantized_insert")
        .input("acc", Elem::F32, &[16, 32], bytes_u32(acc))
        .input("scales", Elem::U64, &[1, 32], params.collect())
        .input("dst", Elem::I8, &[48, 96], vec![7; 48 * 96])
        .outputs(&["out"]);
    let dst = (0..48 * 96).map(|n| {
        let (r, c) = (n / 96, n % 96);
        if !(16..32).contains(&r) || !(32..64).contains(&c) {
            return 7u8;
        }
        let t = value(r - 16, c - 32) * scale(c - 32);
        t.round_ties_even().clamp(-128.0, 127.0) as i8 as u8
    });
    assert_eq!(got, [dst.collect::<Vec<u8>>()]);
}

#[test]
fn embedding() {
    let table = |row: usize, col: usize| (row * 64 + col) as f32 * 0.5;
    let tokens = [3i32, 7, 3, 99, 0, -1, 5, 5, 5, 12, -1, 1, 2, 3, 4, 98];
    let grad = |n: usize| (n % 61) as f32 * 0.37 + 0.01;
    let floats = |values: Vec<f32>| bytes_u32(values.into_iter().map(f32::to_bits));
    let got = Example::new("embedding")
        .input("table", Elem::F32, &[100, 64], floats((0..6400).map(|n| table(n / 64, n % 64)).collect()))
        .input("tokens", Elem::I32, &[16, 1], bytes_u32(tokens.iter().map(|t| *t as u32)))
        .input("grad", Elem::F32, &[16, 64], floats((0..1024).map(grad).collect()))
        .input("sums", Elem::F32, &[100, 64], vec![0; 6400 * 4])
        .outputs(&["out", "sums_out"]);
    let picked = (0..1024).map(|n| usize::try_from(tokens[n / 64]).map_or(0.0, |row| table(row, n % 64)));
    let mut sums = vec![0f32; 6400];
    for n in 0..1024 {
        if let Ok(row) = usize::try_from(tokens[n / 64]) {
            sums[row * 64 + n % 64] += grad(n);
        }
    }
    assert_eq!(got, [floats(picked.collect()), floats(sums)]);
}

#[test]
fn gemm_requantized() {
    let a = |i: usize, k: usize| ((i * 7 + k * 3) % 9) as i32 - 4;
    let b = |k: usize, j: usize| ((k * 5 + j * 11) % 7) as i32 - 3;
    let bias = |j: usize| j as i32 * 3 - 40;
    // Powers of two, so that the scale keeps its bits and nothing but the last step rounds.
    let scale = |j: usize| [0.5f32, 0.25, 0.125][j % 3];
    let halves = |values: Vec<i32>| bytes_u16(values.into_iter().map(half_of));
    let parameters = (0..32).flat_map(|j| (1u64 << 46 | u64::from(scale(j).to_bits())).to_le_bytes()).collect();
    let got = Example::new("gemm_requantized")
        .input("a", Elem::F16, &[32, 64], halves((0..2048).map(|n| a(n / 64, n % 64)).collect()))
        .input("b", Elem::F16, &[64, 32], halves((0..2048).map(|n| b(n / 32, n % 32)).collect()))
        .input("bias", Elem::F32, &[1, 32], bytes_u32((0..32).map(|j| (bias(j) as f32).to_bits())))
        .input("scales", Elem::U64, &[1, 32], parameters)
        .outputs(&["c"]);
    let result = (0..1024).map(|n| {
        let (i, j) = (n / 32, n % 32);
        let sum = bias(j) + (0..64).map(|k| a(i, k) * b(k, j)).sum::<i32>();
        (sum as f32 * scale(j)).round_ties_even().clamp(0.0, 127.0) as u8
    });
    assert_eq!(got, [result.collect::<Vec<u8>>()]);
}

/// A small integer in binary16.
fn half_of(v: i32) -> u16 {
    Elem::F16.encode_f32(v as f32, tessera_isa::codec::Overflow::Infinity) as u16
}
