//! `tessera demo`: a small program, run on every profile, with what it does to layouts and values.

use crate::render::grid;
use crate::session::{FINE, Failure, Outcome, Session};
use std::fmt::Write;
use tessera::program::{Bindings, Input, Need};
use tessera::{Elem, Profile, Program};
use tessera_isa::tile::Tile;

const PROGRAM: &str = include_str!("demo/demo.pto");
/// What the accumulator holds: halves, which round, and values that saturate.
const ACC: [f32; 8] = [0.5, 1.5, 2.5, -0.5, -1.5, 300.0, f32::INFINITY, f32::NAN];

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: tessera demo --source > demo.pto && tessera check demo.pto --profile all")]
pub struct Args {
    /// Print the program instead
    #[arg(long)]
    source: bool,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let text = if args.source { PROGRAM.to_string() } else { page()? };
    session.stdout.write_all(text.as_bytes())?;
    Ok(FINE)
}

fn page() -> Result<String, Failure> {
    let programs = Profile::ALL.map(|p| Program::read(PROGRAM, Some(p)));
    let results = programs.iter().map(|p| Ok((p.profile(), results_of(p)?)));
    let results: Vec<(Profile, Results)> = results.collect::<Result<_, Failure>>()?;
    let tiles = tiles(&programs[0])?;
    let mut out = String::from(
        "Three layout instructions that every profile has (tessera demo --source prints the program):\n\n\
         \x20 %lo, %hi = pto.textract %src, 0, 0, 16, 0        two windows of an ND tile, each repacked to NZ\n\
         \x20 %t = pto.ttrans %src                             the transpose\n\
         \x20 %out = pto.tinsert %acc, 16, 0, %p, init(%old)   f32 → i8, put into rows 16 to 31\n\n\
         1  Where the elements lie before (ND) and after (NZ): boxes of 16×8 f32, column by column.\n\n",
    );
    let grids = tiles.map(|tile| grid::draw(&tile, 5, 48));
    out.push_str(&side_by_side(&grids));
    let (_, first) = results.first().ok_or_else(broken)?;
    let row = |bytes: &[u8], elem: Elem, from: usize, n: usize| -> String {
        let size = elem.size().unwrap_or(1) as usize;
        let texts = bytes.chunks(size).skip(from).take(n).map(|c| {
            let bits = c.iter().rev().fold(0u64, |bits, b| bits << 8 | u64::from(*b));
            let text = elem.format_bits(bits);
            format!("{:>6}", text.strip_suffix(".0").unwrap_or(&text))
        });
        texts.collect()
    };
    let _ = write!(
        out,
        "\n2  The values: src(r, c) = 100·r + c.\n\n  row 1 of %src{}\n  row 1 of %lo {}   (the same elements at other places)\n  row 1 of %t  {}   (column 1 of %src)\n",
        row(&first.src, Elem::F32, 16, 6),
        row(&first.lo, Elem::F32, 16, 6),
        row(&first.t, Elem::F32, 32, 6),
    );
    out.push_str(
        "\n3  The insert, with scale 1 and offset 3: cpu rounds x + 3, hardware rounds x and then adds 3.\n\n",
    );
    let acc: String = ACC.iter().map(|v| format!("{:>6}", v.to_string().to_lowercase())).collect();
    let _ = writeln!(out, "  %acc{acc:>57}");
    for (profile, r) in &results {
        let _ = writeln!(out, "  {:<13}{}", format!("%out on {profile}"), row(&r.out, Elem::I8, 16 * 32, 8));
    }
    out.push_str("\nNext: tessera explain tinsert · tessera layout 33x32xf16 · tessera run FILE --in src=a.npy\n");
    Ok(out)
}

/// What a run gives, as bytes in row-major order.
struct Results {
    src: Vec<u8>,
    lo: Vec<u8>,
    t: Vec<u8>,
    out: Vec<u8>,
}

fn broken() -> Failure {
    Failure::usage("the demo does not run, which is a bug of tessera")
}

fn results_of(program: &Program) -> Result<Results, Failure> {
    let kernel = program.entry().map_err(|_| broken())?;
    let find = |name: &str| kernel.find(name).ok_or_else(broken);
    let floats = |n: u32, of: &dyn Fn(u32) -> f32| (0..n).flat_map(|i| of(i).to_le_bytes()).collect::<Vec<u8>>();
    let src = floats(32 * 16, &|i| (100 * (i / 16) + i % 16) as f32);
    let acc = floats(16 * 32, &|i| ACC[i as usize % ACC.len()]);
    let tile = |rows, cols, elements| Input::Tile { rows, cols, elements };
    let wanted = [find("lo")?, find("t")?, find("out")?];
    let outcome = kernel.execute(Bindings {
        inputs: vec![
            (find("src")?, tile(32, 16, src.clone())),
            (find("acc")?, tile(16, 32, acc)),
            (find("old")?, tile(32, 32, vec![0; 32 * 32])),
        ],
        outputs: wanted.map(|v| (v, 0)).to_vec(),
        ..Bindings::default()
    });
    let take = |n: usize| outcome.tiles.get(n).map(|t| t.data.elements.clone()).ok_or_else(broken);
    Ok(Results { src, lo: take(0)?, t: take(1)?, out: take(2)? })
}

/// The tile before the repack, as much of it as one window takes, and the tile after it.
fn tiles(program: &Program) -> Result<[Tile; 2], Failure> {
    let kernel = program.entry().map_err(|_| broken())?;
    let tile = |name: &str| match kernel.find(name).map(|v| kernel.need(v)) {
        Some(Need::Tile(tile)) => Ok(tile),
        _ => Err(broken()),
    };
    let (src, lo) = (tile("src")?, tile("lo")?);
    Ok([Tile { rows: lo.rows, v_row: lo.v_row, ..src }, lo])
}

fn side_by_side(blocks: &[String; 2]) -> String {
    let [left, right] = blocks;
    let width = left.lines().map(|l| l.chars().count()).max().unwrap_or(0) + 2;
    let pairs = left.lines().zip(right.lines());
    pairs.map(|(l, r)| format!("{}\n", format!("  {l:<width$}{r}").trim_end())).collect()
}
