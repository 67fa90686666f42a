//! `tessera layout`: where the elements of a tile lie in memory.

use crate::output::is_stdout;
use crate::render::table::paragraph;
use crate::render::{grid, tile, width};
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session};
use std::fmt::Write;
use std::path::PathBuf;
use tessera::{Profile, TileType};
use tessera_ir::Type;
use tessera_isa::tile::Tile;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tessera layout '!pto.tile_buf<vec, 33x32xf16, blayout=col_major, \
                        slayout=row_major>'\n  tessera layout '!pto.tile<loc=left, f16, 32, 32>' --profile a2a3\n  \
                        tessera layout 16x64xf4e2m1x2 --profile a5 --svg fp4.svg")]
pub struct Args {
    /// A tile type in any spelling; `!pto.tile<…>` around it may be left out
    #[arg(value_name = "TYPE")]
    ty: String,
    /// The profile: cpu, a2a3 or a5, or a device name
    #[arg(long, value_name = "P", default_value = "cpu", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Profile,
    /// Also write the picture to this file; `-` writes nothing else, to standard output
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let ty = parse(&args.ty)?;
    let tile = ty.resolve(args.profile);
    if let Some(fault) = tile.fault(args.profile) {
        let (word, is_error) = (fault.severity.name(), fault.is_error());
        let help = fault.help.map(|h| format!("\n  help: {h}")).unwrap_or_default();
        writeln!(session.stderr, "{word}[{}]: {} (profile {}){help}", fault.rule, fault.message, args.profile)?;
        if is_error {
            return Ok(PROGRAM_ERROR);
        }
    }
    let title = format!("{tile} on {}", args.profile);
    let out = format!("{title}\n\n{}", page(&tile, 24, width()));
    if let Some(file) = &args.svg {
        session.write(file, tile::draw(&tile, &title).into_bytes())?;
    }
    if !args.svg.as_deref().is_some_and(is_stdout) {
        session.stdout.write_all(out.as_bytes())?;
    }
    Ok(FINE)
}

/// The grid with this many rows, as wide as it may be, and notes on the layout.
pub fn page(tile: &Tile, rows: u64, columns: usize) -> String {
    let mut out = format!("{}\n", grid::draw(tile, rows, columns));
    for (key, text) in grid::legend(tile, "· marks padding") {
        let _ = write!(out, "{}", paragraph(&format!("{key:<10} {text}"), 2));
    }
    out
}

fn parse(text: &str) -> Result<TileType, Failure> {
    let written = text.trim();
    let full = if written.starts_with('!') { written.to_string() } else { format!("!pto.tile<{written}>") };
    let shown: String = written.chars().take(80).collect();
    match tessera_asm::parse_type(&full) {
        Ok(Type::Tile(tile)) => Ok(tile),
        Ok(_) => Err(Failure::usage(format!("'{shown}' is not a tile type; write one such as !pto.tile<16x32xf16>"))),
        Err(d) => {
            let help = d.help.map(|h| format!("; {h}")).unwrap_or_default();
            Err(Failure::usage(format!("'{shown}' is not a type: {}{help}", d.message)))
        }
    }
}
