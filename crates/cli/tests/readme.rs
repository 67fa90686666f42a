//! The transcripts of the README: commands whose files are in the repository print what stands below them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::ffi::OsString;
use std::path::Path;
use tessera_cli::{Session, run};

/// Both streams of a command line, run from the root of the repository.
fn printed(command: &str, root: &Path) -> String {
    let mut words = Vec::new();
    for (n, part) in command.split('\'').enumerate() {
        match n % 2 {
            1 => words.push(part.to_string()),
            _ => words.extend(part.split_whitespace().map(String::from)),
        }
    }
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: root.to_path_buf(),
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
    };
    run(words.into_iter().map(OsString::from), &mut session);
    String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap()
}

#[test]
fn transcripts_come_out_again() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let mut lines = readme.lines().peekable();
    let mut checked = 0;
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("    $ ").filter(|c| c.starts_with("tessera ")) else { continue };
        let mut shown = Vec::new();
        while let Some(next) = lines.next_if(|l| (l.starts_with("    ") || l.is_empty()) && !l.starts_with("    $ ")) {
            shown.push(next.strip_prefix("    ").unwrap_or("").trim_end());
        }
        // A run needs data; it is tested with the examples.
        if command.contains(" --in ") {
            continue;
        }
        let printed = printed(command, &root);
        // `⋮` stands for lines that are left out.
        let wanted = shown.iter().take_while(|l| l.trim() != "⋮").copied().collect::<Vec<_>>().join("\n");
        assert!(printed.contains(wanted.trim_end()), "$ {command}\n{printed}\nand the README shows\n{wanted}");
        checked += 1;
    }
    assert!(checked >= 3, "{checked}");
}
