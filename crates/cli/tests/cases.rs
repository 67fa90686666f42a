//! The sample cases of `tests/cases` and `tests/cases-compute`: each command line of a folder, run in a copy of it, with its exit code, the rules
//! it reports and the files it writes compared to what the folder expects.

use libtest_mimic::{Arguments, Failed, Trial};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tessera::npy::{Array, shape_text};
use tessera_cli::{Session, run};

fn main() {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut trials = Vec::new();
    for set in ["cases", "cases-compute"] {
        let before = trials.len();
        for group in ["legal", "illegal", "warning", "runtime"] {
            for folder in folders(&root.join(set).join(group)) {
                let name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                let of_set = set.strip_prefix("cases-").map(|s| format!("{s}/")).unwrap_or_default();
                trials.push(Trial::test(format!("{of_set}{group}/{name}"), move || case(&folder)));
            }
        }
        assert!(trials.len() > before, "there are no cases in {}", root.join(set).display());
    }
    libtest_mimic::run(&args, trials).exit();
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|e| e.path()).filter(|p| p.is_dir()).collect();
    all.sort();
    all
}

fn case(folder: &Path) -> Result<(), Failed> {
    let dir = Copy::of(folder)?;
    let commands = fs::read_to_string(folder.join("command.txt"))?;
    let expected = fs::read_to_string(folder.join("expected.txt"))?;
    if commands.lines().count() != expected.lines().count() {
        return Err("every command line has a line in expected.txt, and no other line is there".into());
    }
    let mut reported = Vec::new();
    for (command, expected) in commands.lines().zip(expected.lines()) {
        let run = Run::new(command, &dir.0);
        run.compare(expected).map_err(|why| run.explain(command, &why))?;
        reported.extend(run.reported);
    }
    let rules = fs::read_to_string(folder.join("rules.txt")).unwrap_or_default();
    if let Some(missing) = rules.lines().find(|rule| !reported.iter().any(|(id, _)| is_of(id, rule))) {
        return Err(format!("{missing} is in rules.txt, and {reported:?} is reported").into());
    }
    compare_files(&dir.0).map_err(Failed::from)
}

/// A copy of a folder that is removed again.
struct Copy(PathBuf);

impl Copy {
    fn of(folder: &Path) -> io::Result<Copy> {
        let tests = folder.ancestors().nth(3).unwrap_or(folder);
        let name = folder.strip_prefix(tests).unwrap_or(folder);
        let to = std::env::temp_dir().join(format!("tessera-cases-{}", std::process::id())).join(name);
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(folder)? {
            let from = entry?.path();
            fs::copy(&from, to.join(from.file_name().unwrap_or_default()))?;
        }
        Ok(Copy(to))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a command line did.
struct Run {
    code: u8,
    stdout: String,
    stderr: String,
    /// Rules with their severities.
    reported: Vec<(String, String)>,
}

impl Run {
    fn new(command: &str, dir: &Path) -> Run {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut session = Session {
            dir: dir.to_path_buf(),
            stdin: &mut io::empty(),
            stdout: &mut stdout,
            stderr: &mut stderr,
            color: false,
        };
        let code = run(command.split_whitespace().map(OsString::from), &mut session);
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        let reported =
            stdout.lines().filter_map(json_finding).chain(stderr.lines().filter_map(human_finding)).collect();
        Run { code, stdout, stderr, reported }
    }

    /// Holds `exit N[, error|warning|reported: RULE]`?
    fn compare(&self, expected: &str) -> Result<(), String> {
        let (exit, finding) = expected.split_once(", ").unwrap_or((expected, ""));
        if exit != format!("exit {}", self.code) {
            return Err(format!("{exit} was expected, and the exit code is {}", self.code));
        }
        let Some((severity, rule)) = finding.split_once(": ") else {
            return Ok(());
        };
        let found = |s: &str| severity == "reported" || s == severity;
        if !self.reported.iter().any(|(id, s)| is_of(id, rule) && found(s)) {
            return Err(format!("{finding} was expected, and {:?} is reported", self.reported));
        }
        match self.reported.iter().find(|(_, s)| severity == "warning" && s == "error") {
            Some((id, _)) => Err(format!("only warnings were expected, and {id} is an error")),
            None => Ok(()),
        }
    }

    fn explain(&self, command: &str, why: &str) -> Failed {
        format!("{command}\n{why}\n{}{}", self.stdout, self.stderr).into()
    }
}

/// Is a reported rule the expected one? `syntax-` stands for every rule of that family.
fn is_of(id: &str, expected: &str) -> bool {
    id == expected || expected.ends_with('-') && id.starts_with(expected)
}

fn json_finding(line: &str) -> Option<(String, String)> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    Some((value["rule"].as_str()?.into(), value["severity"].as_str()?.into()))
}

fn human_finding(line: &str) -> Option<(String, String)> {
    let (severity, rest) = line.split_once('[')?;
    let (rule, _) = rest.split_once("]:")?;
    matches!(severity, "error" | "warning" | "note").then(|| (rule.into(), severity.into()))
}

/// Every `expected_NAME.npy` equals `out_NAME.npy`, bit for bit, or as far as `ulp.txt` says.
fn compare_files(dir: &Path) -> Result<(), String> {
    let ulp = fs::read_to_string(dir.join("ulp.txt")).unwrap_or_default();
    let allowed = |name: &str| ulp.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok());
    for entry in fs::read_dir(dir).map_err(|e| e.to_string())?.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(name) = file.strip_prefix("expected_").filter(|n| n.ends_with(".npy")) else {
            continue;
        };
        let read = |file: String| {
            let bytes = fs::read(dir.join(&file)).map_err(|e| format!("{file}: {e}"))?;
            Array::parse(&bytes).map_err(|e| format!("{file}: {e}"))
        };
        let (wanted, got) = (read(file.clone())?, read(format!("out_{name}"))?);
        if wanted.shape != got.shape {
            return Err(format!("{name} has shape {}, expected {}", shape_text(&got.shape), shape_text(&wanted.shape)));
        }
        if let Some(most) = allowed(name.trim_end_matches(".npy")) {
            far(&wanted, &got, most).map_or(Ok(()), |why| Err(format!("{name}: {why}")))?;
        } else if let Some(at) = wanted.bytes.iter().zip(&got.bytes).position(|(a, b)| a != b) {
            let count = wanted.bytes.iter().zip(&got.bytes).filter(|(a, b)| a != b).count();
            return Err(format!("{name} differs in {count} bytes of {}, first at byte {at}", wanted.bytes.len()));
        }
        if wanted.bytes.len() != got.bytes.len() {
            return Err(format!("{name} has {} bytes, expected {}", got.bytes.len(), wanted.bytes.len()));
        }
    }
    Ok(())
}

/// The first element that is more than `most` codes off; a NaN is only near a NaN.
fn far(wanted: &Array, got: &Array, most: u64) -> Option<String> {
    let size = wanted.bytes.len() / wanted.shape.iter().product::<u64>().max(1) as usize;
    // bf16 is an unsigned integer to numpy.
    let infinity = match (size, wanted.descr.contains('f')) {
        (4, _) => 0x7F80_0000,
        (_, true) => 0x7C00,
        _ => 0x7F80,
    };
    let code = |bytes: &[u8]| {
        let bits = bytes.iter().rev().fold(0i64, |bits, b| bits << 8 | i64::from(*b));
        let sign = 1 << (8 * size - 1);
        let magnitude = bits & (sign - 1);
        (magnitude <= infinity).then_some(if bits & sign != 0 { -magnitude } else { magnitude })
    };
    let elements = wanted.bytes.chunks_exact(size.max(1)).zip(got.bytes.chunks_exact(size.max(1)));
    elements.enumerate().find_map(|(n, (wanted, got))| match (code(wanted), code(got)) {
        (Some(x), Some(y)) if x.abs_diff(y) <= most => None,
        (None, None) => None,
        _ => Some(format!("element {n} is {got:02x?}, expected {wanted:02x?} within {most} ulp")),
    })
}
