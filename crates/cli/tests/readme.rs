//! The transcripts of the README and of docs/: every command prints what stands below it, in a folder with the examples.
//! Pictures that they write into docs/ are those that lie there. A block of code that names a file (```pto examples/…) is that file.
//! `BLESS=1 cargo test -p tessera-pto-cli --test readme` writes what is printed now, except where `⋮` leaves lines out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use tessera_cli::{Session, run};

/// The exit code of a command line, and both of its streams, run in a folder.
fn printed(command: &str, dir: &Path) -> (u8, String) {
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
    let code = run(words.into_iter().map(OsString::from), &mut session);
    (code, String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
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
        if let Some(file) = line.strip_prefix("```pto ") {
            lines.by_ref().find(|l| *l == "```");
            out += &format!("{}```\n", fs::read_to_string(dir.join(file)).unwrap());
            continue;
        }
        let Some(command) = line.strip_prefix("    $ ").filter(|c| c.starts_with("tessera ")) else { continue };
        let mut shown = Vec::new();
        while let Some(next) = lines.next_if(|l| (l.starts_with("    ") || l.is_empty()) && !l.starts_with("    $ ")) {
            shown.push(next.strip_prefix("    ").unwrap_or("").trim_end());
        }
        let (_, printed) = printed(command, dir);
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

#[test]
fn commands_of_examples_run_on_random_inputs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = std::env::temp_dir().join(format!("tessera-examples-{}", std::process::id()));
    copy(&root.join("examples"), &dir.join("examples"));
    let files = ["examples", "examples/first"].into_iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let mut count = 0;
    for file in files.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "pto")) {
        let text = fs::read_to_string(&file).unwrap();
        let head: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//")).collect();
        // The one-line program of the README has no comment.
        let Some(command) = head.iter().find_map(|line| line.strip_prefix("   ").filter(|c| c.starts_with("tessera ")))
        else {
            assert!(file.ends_with("insert.pto"), "{} shows no command", file.display());
            continue;
        };
        let words: Vec<&str> = command.split(' ').collect();
        let random = |n: usize| match words[n].split_once('=') {
            Some((name, file)) if words[n - 1] == "--in" && file.ends_with(".npy") => format!("{name}=random"),
            _ => words[n].to_string(),
        };
        let words: Vec<String> = (0..words.len()).map(random).collect();
        let (code, said) = printed(&words.join(" "), &dir);
        let fails = head.iter().any(|line| line.contains("on purpose"));
        assert_eq!(code != 0, fails, "{command}: {said}");
        count += 1;
    }
    let _ = fs::remove_dir_all(&dir);
    assert!(count > 20, "{count}");
}
