//! The sample cases of `tests/cases` and `tests/cases-compute`: each command line of a case, run in a folder with its
//! inputs; its exit code, the rules it reports and the files it writes are compared with what the case expects.

use libtest_mimic::{Arguments, Failed, Trial};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tessera::npy::{Array, shape_text};
use tessera_cli::{Session, run};
use tessera_testkit::cases::{self, Case, Command, KINDS, SETS};

fn main() -> Result<(), String> {
    let args = Arguments::from_args();
    let mut trials = Vec::new();
    for (set, kind) in SETS.iter().flat_map(|set| KINDS.map(|kind| (set, kind))) {
        for case in cases::of(set, kind)? {
            let of_set = set.strip_prefix("cases-").map(|s| format!("{s}/")).unwrap_or_default();
            let name = format!("{of_set}{kind}/{}", case.name);
            trials.push(Trial::test(name.clone(), move || try_case(&case, &name)));
        }
    }
    if trials.len() != COUNT {
        return Err(format!("{} sample cases are there, expected {COUNT}", trials.len()));
    }
    libtest_mimic::run(&args, trials).exit()
}

/// No case gets lost.
const COUNT: usize = 929;

fn try_case(case: &Case, name: &str) -> Result<(), Failed> {
    let dir = Folder::of(case, name)?;
    let mut reported = Vec::new();
    for command in &case.commands {
        let run = Run::new(&command.line, &dir.0);
        run.compare(command).map_err(|why| run.explain(&command.line, &why))?;
        reported.extend(run.reported);
    }
    if let Some(missing) = case.rules.iter().find(|rule| !reported.iter().any(|(id, _)| is_of(id, rule))) {
        return Err(format!("{missing} must be reported, and {reported:?} is").into());
    }
    compare_files(case, &dir.0).map_err(Failed::from)
}

/// A folder with the files of a case that is removed again.
struct Folder(PathBuf);

impl Folder {
    fn of(case: &Case, name: &str) -> io::Result<Folder> {
        let to = std::env::temp_dir().join(format!("tessera-cases-{}", std::process::id())).join(name);
        case.write_to(&to)?;
        Ok(Folder(to))
    }
}

impl Drop for Folder {
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
            dialect: None,
        };
        let code = run(command.split_whitespace().map(OsString::from), &mut session);
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        let reported =
            stdout.lines().filter_map(json_finding).chain(stderr.lines().filter_map(human_finding)).collect();
        Run { code, stdout, stderr, reported }
    }

    fn compare(&self, expected: &Command) -> Result<(), String> {
        if expected.exit != self.code {
            return Err(format!("exit code {} was expected, and it is {}", expected.exit, self.code));
        }
        let Some((severity, rule)) = &expected.finding else { return Ok(()) };
        let found = |s: &String| severity == "reported" || s == severity;
        if !self.reported.iter().any(|(id, s)| is_of(id, rule) && found(s)) {
            return Err(format!("{severity} {rule} was expected, and {:?} is reported", self.reported));
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

/// Whether a reported rule is the expected one; `syntax-` stands for every rule of that family.
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

/// Every `out_NAME.npy` equals the expected array, bit for bit, or as far as the case says.
fn compare_files(case: &Case, dir: &Path) -> Result<(), String> {
    for array in &case.expected {
        let name = &array.name;
        let got = Array::read(dir.join(format!("out_{name}.npy"))).map_err(|e| format!("{name}: {e}"))?;
        let wanted = Array::parse(&array.npy()).map_err(|e| format!("{name}: {e}"))?;
        if wanted.shape != got.shape {
            return Err(format!("{name} has shape {}, expected {}", shape_text(&got.shape), shape_text(&wanted.shape)));
        }
        if let Some((_, most)) = case.ulp.iter().find(|u| u.0 == *name) {
            far(&wanted, &got, *most).map_or(Ok(()), |why| Err(format!("{name}: {why}")))?;
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
