//! Command lines as files: each `tests/cli/*.test` is a transcript that must come out again.
//!
//! `--- NAME` starts a file of the test's directory; `$ tessera …` is a command line (single quotes group words,
//! `< NAME` feeds a file to standard input), `$ cat NAME` shows a file, `$ array NAME TYPE SHAPE` writes an npy file of 0, 1,
//! 2, …, `$ show NAME` shows one, `$ bytes NAME HEX` writes bytes, `$ mkdir NAME` makes a directory, `$ ls` lists. Below a command stand its standard output
//! (`| `), its standard error (`! `) and its exit code (`= N`). `BLESS=1 cargo test --test cli` writes what happens
//! now into the files.

use libtest_mimic::{Arguments, Failed, Trial};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tessera::npy::{Array, shape_text};
use tessera_cli::{Session, run};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;

fn main() {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let entries = fs::read_dir(&root).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "test")).collect();
    files.sort();
    assert!(!files.is_empty(), "there are no tests in {}", root.display());
    let trial = |file: PathBuf| {
        let name = file.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        Trial::test(name, move || test(&file))
    };
    libtest_mimic::run(&args, files.into_iter().map(trial).collect()).exit();
}

fn test(file: &Path) -> Result<(), Failed> {
    let wanted = fs::read_to_string(file)?;
    let dir = std::env::temp_dir()
        .join(format!("tessera-cli-{}", std::process::id()))
        .join(file.file_stem().unwrap_or_default());
    fs::create_dir_all(&dir)?;
    let got = transcript(&wanted, &dir);
    let _ = fs::remove_dir_all(&dir);
    let got = got?;
    if std::env::var_os("BLESS").is_some() {
        fs::write(file, got)?;
        return Ok(());
    }
    let differs = wanted.lines().zip(got.lines()).position(|(a, b)| a != b);
    match differs
        .or((wanted.lines().count() != got.lines().count()).then(|| wanted.lines().count().min(got.lines().count())))
    {
        None => Ok(()),
        Some(line) => {
            let side = |text: &str| text.lines().nth(line).unwrap_or("(the end)").to_string();
            Err(format!("line {} is\n  {}\nand was expected to be\n  {}", line + 1, side(&got), side(&wanted)).into())
        }
    }
}

/// The test with what its commands do now.
fn transcript(test: &str, dir: &Path) -> Result<String, Failed> {
    let mut out = String::new();
    let mut lines = test.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("--- ") {
            let mut text = String::new();
            while let Some(next) = lines.next_if(|l| !l.starts_with("--- ") && !l.starts_with("$ ")) {
                text.push_str(next);
                text.push('\n');
            }
            let _ = write!(out, "{line}\n{text}");
            // The blank line before the next section belongs to the test, not to the file.
            fs::write(dir.join(name), format!("{}\n", text.trim_end()))?;
        } else if let Some(command) = line.strip_prefix("$ ") {
            while lines.next_if(|l| l.starts_with(['|', '!', '='])).is_some() {}
            let _ = writeln!(out, "{line}");
            out.push_str(&perform(command, dir)?);
        } else {
            let _ = writeln!(out, "{line}");
        }
    }
    Ok(out)
}

fn perform(command: &str, dir: &Path) -> Result<String, Failed> {
    let mut words = split(command);
    let mut stdin = Vec::new();
    if let [.., arrow, name] = words.as_slice()
        && arrow == "<"
    {
        stdin = fs::read(dir.join(name))?;
        words.truncate(words.len() - 2);
    }
    if let Some(text) = built_in(&words, dir)? {
        return Ok(prefixed(&text, "|"));
    }
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: dir.to_path_buf(),
        stdin: &mut stdin.as_slice(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    let code = run(words.into_iter().map(OsString::from), &mut session);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(prefixed(&text(&stdout), "|") + &prefixed(&text(&stderr), "!") + &format!("= {code}\n"))
}

/// Commands besides `tessera`.
fn built_in(words: &[String], dir: &Path) -> Result<Option<String>, Failed> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(Some(match words.as_slice() {
        ["cat", name] => fs::read_to_string(dir.join(name))?,
        ["array", name, elem, shape] => {
            let elem = Elem::parse(elem).ok_or("no such type")?;
            let shape: Vec<u64> = shape.split('x').filter_map(|n| n.parse().ok()).collect();
            let size = elem.size().ok_or("no fp4 here")? as usize;
            let count: u64 = shape.iter().product();
            let encode = |i: u64| elem.encode_in_range(&Number::Int(i.into())).unwrap_or(0).to_le_bytes();
            let bytes = (0..count).flat_map(|i| encode(i).into_iter().take(size)).collect();
            fs::write(dir.join(name), Array::of_elem(elem, shape, bytes).to_file())?;
            String::new()
        }
        ["show", name] => {
            let array = Array::parse(&fs::read(dir.join(name))?)?;
            let head: Vec<String> = array.bytes.iter().take(24).map(|b| format!("{b:02x}")).collect();
            format!("{} {}: {} …\n", array.descr, shape_text(&array.shape), head.join(" "))
        }
        ["bytes", name, hex] => {
            let digits = (0..hex.len() / 2).filter_map(|i| u8::from_str_radix(hex.get(2 * i..2 * i + 2)?, 16).ok());
            fs::write(dir.join(name), digits.collect::<Vec<u8>>())?;
            String::new()
        }
        ["mkdir", name] => {
            fs::create_dir_all(dir.join(name))?;
            String::new()
        }
        ["ls"] => {
            let mut names: Vec<String> =
                fs::read_dir(dir)?.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names.join(" ") + "\n"
        }
        _ => return Ok(None),
    }))
}

fn prefixed(text: &str, mark: &str) -> String {
    text.lines().map(|l| format!("{}\n", format!("{mark} {l}").trim_end())).collect()
}

/// Words at blanks; single quotes group.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (n, part) in command.split('\'').enumerate() {
        if n % 2 == 1 {
            words.push(part.to_string());
        } else {
            words.extend(part.split_whitespace().map(String::from));
        }
    }
    words
}
