//! What output files become: links are followed, modes stay, pipes are written through, and one file is written once.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tessera_cli::{Session, output, run};

const PROGRAM: &str = "%c = arith.constant 3.0 : f32\n%d = pto.texpands %c : f32 -> !pto.tile<vec, 8x8xf32>\n";

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let dir = std::env::temp_dir().join(format!("tessera-outputs-{}-{name}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("p.pto"), PROGRAM).unwrap();
        Place(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Exit code, standard output, standard error.
    fn tessera(&self, words: &[&str]) -> (u8, Vec<u8>, String) {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut session = session(&self.0, &mut stdout, &mut stderr);
        let args = std::iter::once("tessera").chain(words.iter().copied()).map(OsString::from);
        let code = run(args, &mut session);
        (code, stdout, String::from_utf8(stderr).unwrap())
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o777
    }

    /// Names other than the program, so that nothing half written stays.
    fn names(&self) -> Vec<String> {
        let mut all: Vec<String> =
            fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        all.retain(|n| n != "p.pto");
        all.sort();
        all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn session<'a>(dir: &Path, stdout: &'a mut Vec<u8>, stderr: &'a mut Vec<u8>) -> Session<'a> {
    // An empty reader without a place of its own.
    let stdin: &'a mut std::io::Empty = Box::leak(Box::new(std::io::empty()));
    Session { dir: dir.to_path_buf(), stdin, stdout, stderr, color: false, dialect: None }
}

#[test]
fn a_file_keeps_its_mode_and_a_link_its_place() {
    let place = Place::new("mode");
    fs::write(place.path("secret.npy"), "old").unwrap();
    fs::set_permissions(place.path("secret.npy"), PermissionsExt::from_mode(0o600)).unwrap();
    symlink("secret.npy", place.path("link.npy")).unwrap();
    symlink("fresh.npy", place.path("dangling.npy")).unwrap();
    let words = ["run", "p.pto", "--out", "d=link.npy", "--raw-out", "d=dangling.npy"];
    assert_eq!(place.tessera(&words), (0, vec![], String::new()));
    assert_eq!(place.mode("secret.npy"), 0o600);
    assert!(fs::read(place.path("secret.npy")).unwrap().starts_with(b"\x93NUMPY"));
    assert_eq!(fs::read(place.path("fresh.npy")).unwrap().len(), 256);
    for link in ["link.npy", "dangling.npy"] {
        assert!(fs::symlink_metadata(place.path(link)).unwrap().is_symlink(), "{link}");
    }
    assert_eq!(place.names(), ["dangling.npy", "fresh.npy", "link.npy", "secret.npy"]);
}

#[test]
fn fmt_and_opt_keep_modes_and_links() {
    let place = Place::new("fmt");
    fs::write(place.path("q.pto"), PROGRAM.replace(" = ", "=")).unwrap();
    fs::set_permissions(place.path("q.pto"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("q.pto", place.path("l.pto")).unwrap();
    let (code, _, said) = place.tessera(&["fmt", "-w", "l.pto"]);
    assert_eq!((code, said.as_str()), (0, ""));
    let text = fs::read_to_string(place.path("q.pto")).unwrap();
    assert!(text.contains("%d = pto.texpands"), "{text}");
    assert_eq!(place.mode("q.pto"), 0o640);
    assert_eq!(place.tessera(&["opt", "q.pto", "-o", "l.pto"]).0, 0);
    assert_eq!(place.mode("q.pto"), 0o640);
    assert!(fs::symlink_metadata(place.path("l.pto")).unwrap().is_symlink());
}

#[test]
fn a_pipe_is_written_through() {
    let place = Place::new("pipe");
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let path = place.path("pipe");
    let reader = std::thread::spawn(move || fs::read(path).unwrap());
    assert_eq!(place.tessera(&["run", "p.pto", "--raw-out", "d=pipe"]).0, 0);
    assert_eq!(reader.join().unwrap(), 3f32.to_le_bytes().repeat(64));
    assert!(fs::symlink_metadata(place.path("pipe")).unwrap().file_type().is_fifo());
}

#[test]
fn a_device_stays_one() {
    let place = Place::new("device");
    symlink("/dev/null", place.path("null")).unwrap();
    assert_eq!(place.tessera(&["run", "p.pto", "--out", "d=null", "--raw-out", "d=null"]).0, 0);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert_eq!(place.names(), ["null"]);
}

#[test]
fn standard_output_gets_the_array_alone() {
    let place = Place::new("stdout");
    let text = format!("{PROGRAM}pto.tprint ins(%d : !pto.tile_buf<vec, 8x8xf32>)\n");
    fs::write(place.path("p.pto"), text).unwrap();
    let (code, out, said) = place.tessera(&["run", "p.pto", "--raw-out", "d=-", "--dump", "d"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(out, 3f32.to_le_bytes().repeat(64));
    assert_eq!(said.matches("%d: f32 (8, 8)").count(), 2, "{said}");
    let json = place.tessera(&["run", "p.pto", "--out", "d=-", "--format", "json"]);
    assert_eq!((json.0, json.1.len()), (2, 0));
}

#[test]
fn one_file_is_written_once() {
    let place = Place::new("twice");
    symlink("a.npy", place.path("b.npy")).unwrap();
    let cases = [
        (["--out", "d=a.npy", "--raw-out", "d=./a.npy"], "a.npy is written also as ./a.npy"),
        (["--out", "d=a.npy", "--trace", "b.npy"], "a.npy is written also as b.npy"),
        (["--out", "d=-", "--raw-out", "d=-"], "standard output is written twice"),
    ];
    for (words, wanted) in cases {
        let (code, out, said) = place.tessera(&[&["run", "p.pto"][..], &words].concat());
        assert_eq!((code, out.len()), (2, 0), "{said}");
        assert!(said.contains(wanted) && said.contains("each output needs a file of its own"), "{said}");
    }
    assert_eq!(place.names(), ["b.npy"]);
}

#[test]
fn what_cannot_be_written_leaves_all_else_as_it_was() {
    let place = Place::new("none");
    fs::write(place.path("a.npy"), "old").unwrap();
    symlink("loop2", place.path("loop1")).unwrap();
    symlink("loop1", place.path("loop2")).unwrap();
    for bad in ["no/x.npy", "loop1", "."] {
        let (code, _, said) = place.tessera(&["run", "p.pto", "--out", "d=a.npy", "--raw-out", &format!("d={bad}")]);
        assert_eq!(code, 2, "{said}");
        assert!(said.starts_with(&format!("error: cannot write {bad}: ")), "{said}");
    }
    assert_eq!(fs::read(place.path("a.npy")).unwrap(), b"old");
    assert_eq!(place.names(), ["a.npy", "loop1", "loop2"]);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let session = session(&place.0, &mut stdout, &mut stderr);
    assert!(output::check(&session, &[Path::new("a.npy"), Path::new("b.npy")]).is_ok());
}
