//! What a release carries beside the command: man pages and completion scripts, both made of the command line.

use clap::CommandFactory;
use std::fs;
use std::io;
use std::path::Path;
use tessera_cli::{Cli, Session};

/// Writes a man page for the command and for each subcommand. Returns the number of pages.
pub fn man(dir: &Path) -> io::Result<usize> {
    fs::create_dir_all(dir)?;
    clap_mangen::generate_to(Cli::command(), dir)?;
    Ok(fs::read_dir(dir)?.count())
}

/// Writes the completion script of each shell, under the name by which the shell finds it. Returns the number of scripts.
pub fn completions(dir: &Path) -> io::Result<usize> {
    let scripts = [
        ("bash", "tessera.bash"),
        ("zsh", "_tessera"),
        ("fish", "tessera.fish"),
        ("powershell", "_tessera.ps1"),
        ("elvish", "tessera.elv"),
    ];
    fs::create_dir_all(dir)?;
    for (shell, name) in scripts {
        let mut script = Vec::new();
        let mut session = Session {
            dir: dir.to_path_buf(),
            stdin: &mut io::empty(),
            stdout: &mut script,
            stderr: &mut io::stderr(),
            color: false,
            dialect: None,
        };
        let code = tessera_cli::run(["tessera", "completions", shell].map(Into::into), &mut session);
        if code != 0 {
            return Err(io::Error::other(format!("tessera completions {shell} ends with {code}")));
        }
        fs::write(dir.join(name), script)?;
    }
    Ok(scripts.len())
}
