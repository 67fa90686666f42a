//! `cargo xtask codegen [--check]` writes, or compares, everything that is made of the instruction table;
//! `cargo xtask digest` prints the digest of the sources of the explorer's page; `cargo xtask man DIR` and
//! `cargo xtask completions DIR` write what a release carries beside the command.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask codegen [--check] | digest | man DIR | completions DIR";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["codegen"] => match xtask::write() {
            Ok(changed) => {
                changed.iter().for_each(|file| println!("{}", file.display()));
                println!("{} files changed", changed.len());
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        ["codegen", "--check"] => {
            let different = xtask::check();
            different.iter().for_each(|file| eprintln!("error: {} is not what is generated", file.display()));
            if different.is_empty() {
                return ExitCode::SUCCESS;
            }
            eprintln!("help: cargo xtask codegen writes the files");
            ExitCode::FAILURE
        }
        ["digest"] => {
            println!("{}", xtask::engine::digest());
            ExitCode::SUCCESS
        }
        ["man", dir] => written(xtask::release::man(Path::new(dir))),
        ["completions", dir] => written(xtask::release::completions(Path::new(dir))),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Prints how many files were written, or why they were not.
fn written(outcome: std::io::Result<usize>) -> ExitCode {
    match outcome {
        Ok(count) => {
            println!("{count} files written");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
