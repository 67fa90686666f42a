//! What a terminal sees: narrow pages, completion, and what an interrupt leaves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::ffi::OsString;
use std::path::PathBuf;
use tessera_cli::render::set_width;
use tessera_cli::{Session, run};

fn tessera(words: &[&str]) -> String {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: PathBuf::new(),
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    let args = std::iter::once("tessera").chain(words.iter().copied()).map(OsString::from);
    assert_eq!(run(args, &mut session), 0, "{words:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

#[test]
fn pages_fit_sixty_columns() {
    set_width(60);
    for words in [["explain", "tinsert-bounds"], ["explain", "NZ"], ["explain", "a5"], ["explain", "f16"]] {
        for line in tessera(&words).lines() {
            assert!(line.chars().count() <= 60, "{words:?}: {line}");
        }
    }
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/softmax.pto");
    // The command line is for pasting, and the file's name is the user's.
    for line in tessera(&["info", example]).lines().filter(|l| !l.contains("softmax.pto")) {
        assert!(line.chars().count() <= 60, "info: {line}");
    }
    for line in tessera(&["sweep", example, "--profile", "cpu,a5"]).lines() {
        assert!(line.chars().count() <= 60, "sweep: {line}");
    }
    set_width(20);
    assert_eq!(tessera_cli::render::width(), 60);
    set_width(500);
    assert_eq!(tessera_cli::render::width(), 100);
}

#[test]
fn shells_complete_profiles_and_names() {
    let script = tessera(&["completions", "bash"]);
    assert!(script.contains("cpu a2a3 a5 all"), "profiles of check");
    assert!(script.contains("tinsert tinsert_fp"), "names of explain");
    assert!(script.contains("tessera info --names"), "kernels of --entry");
    assert!(tessera(&["completions", "fish"]).contains("tessera info --names"), "kernels of --entry");
    let zsh = tessera(&["completions", "zsh"]);
    assert!(zsh.starts_with("#compdef tessera\n") && zsh.contains("tessera info --names"), "kernels of --entry");
    let entries: Vec<&str> = zsh.lines().filter(|line| line.contains("--entry=")).collect();
    assert!(entries.len() > 3 && entries.iter().all(|line| line.contains(":_tessera_kernels'")), "{entries:?}");
}

/// An interrupt while files are being written leaves those that were there, and nothing half written.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_half_written() {
    use std::process::Command;
    use std::time::Duration;
    let dir = std::env::temp_dir().join(format!("tessera-interrupt-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(
        dir.join("p.pto"),
        "%c = arith.constant 3.0 : f32\n%d = pto.texpands %c : f32 -> !pto.tile<vec, 8x8xf32>\n",
    )
    .unwrap();
    std::fs::write(dir.join("a.npy"), "old").unwrap();
    assert!(Command::new("mkfifo").arg(dir.join("pipe")).status().unwrap().success());
    // Nobody reads the pipe, so the command waits there, after the first file was written beside its place.
    let mut child = Command::new(env!("CARGO_BIN_EXE_tessera"))
        .args(["run", "p.pto", "--out", "d=a.npy", "--raw-out", "d=pipe"])
        .current_dir(&dir)
        .spawn()
        .unwrap();
    let names = || -> Vec<String> {
        let mut all: Vec<String> =
            std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    };
    while names().len() < 4 {
        assert!(child.try_wait().unwrap().is_none(), "the command has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names(), ["a.npy", "p.pto", "pipe"]);
    assert_eq!(std::fs::read(dir.join("a.npy")).unwrap(), b"old");
    std::fs::remove_dir_all(&dir).unwrap();
}
