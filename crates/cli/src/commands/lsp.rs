//! `tessera lsp`: the language server, with the pages of this command.

use super::{explain, layout};
use crate::render::example;
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR};
use std::sync::Arc;
use tessera::{Opcode, Profile};
use tessera_isa::tile::Tile;
use tessera_lsp::{Connection, Exit, Pages};

#[derive(Debug, clap::Args)]
#[command(after_help = "Editors start this command; docs/editors.md explains the setup of VS Code, Neovim and \
                  Helix.\nSettings (initializationOptions, or the section `tessera`): profiles (a list of cpu, a2a3, \
                  a5, or all; default: the module's own, else all), races, hints (true or false).")]
pub struct Args {
    /// Accepted for editors that pass it; the server always uses standard input and output
    #[arg(long)]
    stdio: bool,
}

/// The pages that `tessera explain` and `tessera layout` show.
pub struct CommandPages;

/// A picture in an editor is smaller than a terminal.
const ROWS: u64 = 12;
const COLUMNS: usize = 72;

impl Pages for CommandPages {
    fn explain(&self, name: &str) -> Option<String> {
        explain::explain(name)
    }

    fn layout(&self, tile: &Tile, profile: Profile) -> String {
        match tile.fault(profile).filter(|fault| fault.is_error()) {
            Some(fault) => format!("{}: {}\n", fault.rule, fault.message),
            None => layout::page(tile, ROWS, COLUMNS),
        }
    }

    fn examples(&self, op: Opcode) -> Vec<[String; 3]> {
        let forms = op.shapes().iter().map(|shape| example::examples(op, shape));
        forms.map(|lines| [lines.asm, lines.ssa, lines.dps]).collect()
    }
}

pub fn run(_: &Args) -> Outcome {
    crate::memory::keep();
    let (connection, threads) = Connection::stdio();
    let ended = tessera_lsp::serve(connection, Arc::new(CommandPages));
    let exit = ended.map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let read = threads.join();
    match (exit, read) {
        (Exit::Orderly, _) => Ok(FINE),
        (Exit::Abrupt, Ok(())) => Ok(PROGRAM_ERROR),
        (Exit::Abrupt, Err(error)) => {
            let message = format!("the editor's message cannot be read: {error}");
            Err(Failure { code: PROGRAM_ERROR, message })
        }
    }
}
