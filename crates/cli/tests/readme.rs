//! The transcripts of the README and of docs/: every command prints what stands below it, in a folder with the examples.
//! Pictures that they write into docs/ are those that lie there.
//! `BLESS=1 cargo test -p tessera-pto-cli --test readme` writes what is printed now, except where `⋮` leaves lines out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tessera_cli::{Session, run};

/// Both streams of a command line, run in a folder.
fn printed(command: &str, dir: &Path) -> String {
    let mut words = Vec::new();
    for (n, part) in command.split('\'').enumerate() {
        match n % 2 {
            1 => words.push(part.to_string()),
            _ => words.extend(part.split_whitespace().map(String::from)),
        }
    }
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: dir.to_path_buf(),
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    run(words.into_iter().map(OsString::from), &mut session);
    String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &to) } else { _ = fs::copy(&path, &to).unwrap() }
    }
}

/// The page with what its commands print now, and how many commands it has.
fn page(text: &str, dir: &Path) -> (String, usize) {
    let (mut out, mut commands) = (String::new(), 0);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        let Some(command) = line.strip_prefix("    $ ").filter(|c| c.starts_with("tessera ")) else { continue };
        let mut shown = Vec::new();
        while let Some(next) = lines.next_if(|l| (l.starts_with("    ") || l.is_empty()) && !l.starts_with("    $ ")) {
            shown.push(next.strip_prefix("    ").unwrap_or("").trim_end());
        }
        let printed = printed(command, dir);
        let printed = printed.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        let is_cut = shown.iter().any(|l| l.trim() == "⋮");
        // `⋮` stands for lines that are left out.
        let wanted = shown.iter().take_while(|l| l.trim() != "⋮").copied().collect::<Vec<_>>().join("\n");
        let keeps = is_cut && printed.starts_with(wanted.trim_end());
        let body = if keeps { shown.join("\n") } else { printed };
        let body: Vec<String> = body.trim_end().lines().map(|l| format!("    {l}").trim_end().to_string()).collect();
        out += &body.iter().map(|l| format!("{l}\n")).collect::<String>();
        let is_last = lines.peek().is_some_and(|l| !l.starts_with("    $ "));
        out += if is_last || !body.is_empty() && shown.last() == Some(&"") { "\n" } else { "" };
        commands += 1;
    }
    (out, commands)
}

const PICTURES: &str = "docs/pictures";

/// The pictures that lie in one folder are those that were made in the other.
fn pictures(lie: &Path, made: &Path) {
    if std::env::var_os("BLESS").is_some() {
        copy(made, lie);
    }
    let names = |dir: &Path| {
        let mut all: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        all.sort();
        all
    };
    assert_eq!(names(lie), names(made));
    for name in names(lie) {
        let same = fs::read(lie.join(&name)).unwrap() == fs::read(made.join(&name)).unwrap();
        assert!(same, "{} is another picture now; BLESS=1 writes it anew", name.display());
    }
}

#[test]
fn transcripts_come_out_again() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = std::env::temp_dir().join(format!("tessera-readme-{}", std::process::id()));
    copy(&root.join("examples"), &dir.join("examples"));
    fs::create_dir_all(dir.join(PICTURES)).unwrap();
    let mut pages: Vec<PathBuf> = fs::read_dir(root.join("docs")).unwrap().map(|e| e.unwrap().path()).collect();
    pages.retain(|p| p.extension().is_some_and(|e| e == "md"));
    pages.sort();
    pages.insert(0, root.join("README.md"));
    let mut commands = 0;
    for file in pages {
        let text = fs::read_to_string(&file).unwrap();
        let (now, count) = page(&text, &dir);
        commands += count;
        if std::env::var_os("BLESS").is_some() {
            fs::write(&file, &now).unwrap();
        } else if let Some((n, (is, was))) = (1..).zip(now.lines().zip(text.lines())).find(|(_, (a, b))| a != b) {
            panic!("{}:{n} is\n{is}\nand was\n{was}", file.display());
        } else {
            assert_eq!(now, text, "{}", file.display());
        }
    }
    pictures(&root.join(PICTURES), &dir.join(PICTURES));
    let _ = fs::remove_dir_all(&dir);
    assert!(commands >= 15, "{commands}");
}
