//! `tessera sweep`: what is done is not done again, parts are whole together, and the sample cases pass.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use tessera_cli::{Session, run};
use tessera_testkit::cases;

/// A folder that is removed again.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let dir = std::env::temp_dir().join(format!("tessera-sweep-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Folder(dir)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.0.join(name).parent().unwrap()).unwrap();
        fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }

    fn tessera(&self, command: &str) -> (u8, String) {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut session = Session {
            dir: self.0.clone(),
            stdin: &mut std::io::empty(),
            stdout: &mut stdout,
            stderr: &mut stderr,
            color: false,
            dialect: None,
        };
        let words = std::iter::once("tessera").chain(command.split_whitespace()).map(OsString::from);
        let code = run(words, &mut session);
        (code, String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const ADD: &str = "%d = pto.tadd %a, %b : (!pto.tile<4x8xf32>, !pto.tile<4x8xf32>) -> !pto.tile<4x8xf32>\n";
const SUB: &str = "%d = pto.tsub %a, %b : (!pto.tile<4x8xf32>, !pto.tile<4x8xf32>) -> !pto.tile<4x8xf32>\n";

#[test]
fn the_sample_cases_pass() {
    let folder = Folder::new("samples");
    for (set, kind) in cases::SETS.iter().flat_map(|set| cases::KINDS.map(|kind| (set, kind))) {
        for case in cases::of(set, kind).unwrap() {
            let dir = folder.0.join(set).join(kind).join(&case.name);
            case.write_to(&dir).unwrap();
            for array in &case.expected {
                fs::write(dir.join(format!("expected_{}.npy", array.name)), array.npy()).unwrap();
            }
            let write = |file: &str, lines: Vec<String>| fs::write(dir.join(file), lines.join("\n")).unwrap();
            write("command.txt", case.commands.iter().map(|command| command.line.clone()).collect());
            write("rules.txt", case.rules);
            write("ulp.txt", case.ulp.iter().map(|(name, ulp)| format!("{name} {ulp}")).collect());
        }
    }
    // The samples are about values and findings: some have fewer flags than hardware needs.
    let (code, text) = folder.tessera("sweep . --jobs 2 --no-races");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("929 of 929 cases passed"), "{text}");
}

#[test]
fn what_is_done_is_not_done_again() {
    let folder = Folder::new("resume");
    folder.write("k/a.pto", ADD);
    folder.write("k/b.pto", SUB);
    assert_eq!(folder.tessera("sweep k --out r.jsonl").0, 0);
    assert_eq!(folder.read("r.jsonl").lines().count(), 2);
    // A record that says something else is taken as it is.
    let told = folder.read("r.jsonl").replacen("\"passed\"", "\"stopped\"", 1);
    folder.write("r.jsonl", &told);
    let (code, text) = folder.tessera("sweep k --out r.jsonl");
    assert!(code == 1 && text.contains("1 of 2 cases passed"), "{text}");
    assert_eq!(folder.read("r.jsonl"), told);
    // Another program, profile, input or limit is another case.
    folder.write("k/a.pto", SUB);
    for (n, options) in ["", "--profile a5", "--max-steps 5M"].iter().enumerate() {
        folder.tessera(&format!("sweep k/a.pto {options} --out r.jsonl"));
        assert_eq!(folder.read("r.jsonl").lines().count(), 3 + n, "{options}");
    }
}

#[test]
fn a_line_that_was_cut_short_is_taken_away() {
    let folder = Folder::new("torn");
    folder.write("k/a.pto", ADD);
    folder.write("k/b.pto", SUB);
    folder.tessera("sweep k --out r.jsonl --jobs 1");
    let whole = folder.read("r.jsonl");
    folder.write("r.jsonl", &whole[..whole.len() - 40]);
    assert_eq!(folder.tessera("sweep k --out r.jsonl").0, 0);
    assert_eq!(folder.read("r.jsonl"), whole);
    // A whole line that is no record is not: the file may be something else.
    folder.write("r.jsonl", "hello\n");
    let (code, text) = folder.tessera("sweep k --out r.jsonl");
    assert!(code == 2 && text.contains("r.jsonl:1 is no record of a sweep"), "{text}");
    assert_eq!(folder.read("r.jsonl"), "hello\n");
}

#[test]
fn parts_are_whole_together() {
    let folder = Folder::new("parts");
    for n in 0..7 {
        folder.write(&format!("k/{n}.pto"), if n % 2 == 0 { ADD } else { SUB });
    }
    for part in 1..=3 {
        assert_eq!(folder.tessera(&format!("sweep k --profile cpu,a5 --shard {part}/3 --out p{part}.jsonl")).0, 0);
    }
    let (code, text) = folder.tessera("sweep --merge p1.jsonl p2.jsonl p3.jsonl p1.jsonl --out all.jsonl");
    assert!(code == 0 && text.contains("14 of 14 cases passed"), "{text}");
    // Merged, they are what one machine does, in an order of their own.
    folder.tessera("sweep k --profile cpu,a5 --out one.jsonl");
    folder.tessera("sweep --merge one.jsonl --out sorted.jsonl");
    assert_eq!(folder.read("all.jsonl"), folder.read("sorted.jsonl"));
    for bad in ["0/3", "4/3", "3", "a/b"] {
        assert_eq!(folder.tessera(&format!("sweep k --shard {bad}")).0, 2, "{bad}");
    }
}
