//! `tessera explore`: the explorer, one page that needs no server and no network.

use super::load;
use crate::session::{FINE, Failure, Outcome, Session};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tessera::Profile;

/// The page that `explorer/build` made, compressed by build.rs.
const PAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/explorer.html.zlib"));

/// The place in the page for its initial program.
const GIVEN: &str = "/*GIVEN*/";

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tessera explore\n  tessera explore kernel.pto --profile a2a3\n  tessera explore \
                  kernel.pto --html kernel.html")]
pub struct Args {
    /// The program to open; `-` is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// cpu, a2a3, a5 or a device name. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    /// Write the page to this file and open nothing; `-` is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let given = match &args.file {
        None => serde_json::json!({}),
        Some(file) => {
            let program = load(session, file, args.profile)?.program;
            serde_json::json!({
                "tab": "program", "text": program.source().as_ref(), "profile": program.profile().name(),
            })
        }
    };
    // Whatever the program says, it neither ends the element that it stands in nor begins a comment there.
    let given = given.to_string().replace('<', "\\u003c");
    let page = miniz_oxide::inflate::decompress_to_vec_zlib(PAGE)
        .map_err(|error| Failure::from(io::Error::other(error.to_string())))?;
    let page = String::from_utf8_lossy(&page).replacen(GIVEN, &given, 1);
    let Some(file) = &args.html else {
        let file = std::env::temp_dir().join(format!("tessera-explorer-{}.html", std::process::id()));
        session.write(&file, page.into_bytes())?;
        open(&file)?;
        writeln!(session.stdout, "{}", file.display())?;
        return Ok(FINE);
    };
    session.write(file, page.into_bytes())?;
    Ok(FINE)
}

/// Hands the file to whatever shows pages here.
fn open(file: &Path) -> Result<(), Failure> {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let started = Command::new(program).arg(file).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.map(drop).map_err(|error| {
        let shown = file.display();
        Failure::usage(format!("cannot start {program}: {error}; open {shown} in a browser, or use --html FILE"))
    })
}
