//! The sample cases of `tests/cases-micro`: programs of micro instructions with the rules that they break and the bytes that
//! they write. `tests/cases-micro/README.md` says how the files read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use libtest_mimic::{Arguments, Failed, Trial};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};
use tessera::npy::Array;
use tessera_cli::{Session, run};

/// How many cases each file has; none gets lost.
const FILES: [(&str, usize); 5] = [("legal", 120), ("illegal", 80), ("runtime", 20), ("mixed", 3), ("races", 30)];

fn main() -> Result<(), String> {
    let mut trials = Vec::new();
    for (kind, count) in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases-micro").join(format!("{kind}.txt"));
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let cases = cases(&text);
        if cases.len() != count {
            return Err(format!("{kind}.txt has {} cases, expected {count}", cases.len()));
        }
        for case in cases {
            let name = format!("{kind}/{}", case.name);
            trials.push(Trial::test(name.clone(), move || case.check(kind, &name)));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

#[derive(Clone, Default)]
struct Command {
    line: Vec<String>,
    exit: u8,
    errors: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Clone)]
struct Data {
    name: String,
    ty: String,
    count: usize,
    bytes: Vec<u8>,
}

#[derive(Clone, Default)]
struct Case {
    name: String,
    commands: Vec<Command>,
    program: String,
    inputs: Vec<Data>,
    expected: Vec<Data>,
    ulp: Vec<(String, u64)>,
}

enum Part {
    Nothing,
    Program,
    Input,
    Expected,
}

fn cases(text: &str) -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    let mut part = Part::Nothing;
    for line in text.lines() {
        let Some(head) = line.strip_prefix("//// ") else {
            if let Some(case) = all.last_mut() {
                match part {
                    Part::Program => case.program.extend([line, "\n"]),
                    Part::Input => hex(line, case.inputs.last_mut()),
                    Part::Expected => hex(line, case.expected.last_mut()),
                    Part::Nothing => {}
                }
            }
            continue;
        };
        let words: Vec<String> = head.split(' ').map(String::from).collect();
        if words[0] == "case" {
            all.push(Case { name: words[1..].join("-"), ..Case::default() });
            part = Part::Nothing;
            continue;
        }
        let Some(case) = all.last_mut() else { continue };
        let data =
            || Data { name: words[1].clone(), ty: words[2].clone(), count: words[3].parse().unwrap(), bytes: vec![] };
        match words[0].as_str() {
            "command" => case.commands.push(Command { line: words[1..].to_vec(), ..Command::default() }),
            "again" => {
                let line = case.commands[0].line.iter().chain(&words[1..]).cloned().collect();
                case.commands.push(Command { line, ..Command::default() });
            }
            "exit" => case.commands.last_mut().unwrap().exit = words[1].parse().unwrap(),
            "error" => case.commands.last_mut().unwrap().errors = words[1..].to_vec(),
            "warning" => case.commands.last_mut().unwrap().warnings = words[1..].to_vec(),
            "ulp" => case.ulp.push((words[1].clone(), words[2].parse().unwrap())),
            "program" => part = Part::Program,
            "in" => {
                case.inputs.push(data());
                part = Part::Input;
            }
            "expected" => {
                case.expected.push(data());
                part = Part::Expected;
            }
            _ => {}
        }
    }
    all
}

/// 32 bytes a line; `* n` is the line before, n more times.
fn hex(line: &str, data: Option<&mut Data>) {
    let Some(data) = data else { return };
    if let Some(times) = line.strip_prefix("* ") {
        let row = data.bytes[data.bytes.len() - 32..].to_vec();
        (0..times.parse::<usize>().unwrap()).for_each(|_| data.bytes.extend(&row));
    } else {
        let digits = |n: usize| u8::from_str_radix(&line[2 * n..2 * n + 2], 16).unwrap();
        data.bytes.extend((0..line.len() / 2).map(digits));
    }
}

/// The bytes of a file of one dimension.
fn npy(data: &Data) -> Vec<u8> {
    let descr = match data.ty.trim_start_matches(['s', 'u']) {
        _ if data.ty == "f32" => "<f4",
        _ if data.ty == "f16" => "<f2",
        "bf16" => "<u2",
        "i8" if data.ty.starts_with('u') => "|u1",
        "i16" if data.ty.starts_with('u') => "<u2",
        "i32" if data.ty.starts_with('u') => "<u4",
        "i64" if data.ty.starts_with('u') => "<u8",
        "i8" => "|i1",
        "i16" => "<i2",
        "i32" => "<i4",
        "i64" => "<i8",
        _ => "|u1",
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({},), }}", data.count);
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.bytes());
    out.extend(&data.bytes);
    out
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Case {
    fn check(&self, kind: &str, name: &str) -> Result<(), Failed> {
        let dir = Folder(std::env::temp_dir().join(format!("tessera-micro-{}", std::process::id())).join(name));
        fs::create_dir_all(&dir.0)?;
        fs::write(dir.0.join("program.pto"), &self.program)?;
        for data in &self.inputs {
            fs::write(dir.0.join(format!("in_{}.npy", data.name)), npy(data))?;
        }
        for command in &self.commands {
            // What `check` says of what does not run is a note.
            if !(self.name.contains("not-executable") && command.line[1] == "check") {
                command.check(&dir.0)?;
            }
        }
        let writes = kind == "legal" || kind == "mixed";
        for data in self.expected.iter().filter(|_| writes) {
            let most = self.ulp.iter().find(|(name, _)| *name == data.name).map_or(0, |(_, most)| *most);
            compare(
                data,
                &Array::read(dir.0.join(format!("out_{}.npy", data.name))).map_err(|e| e.to_string())?.bytes,
                most,
            )?;
        }
        Ok(())
    }
}

impl Command {
    fn check(&self, dir: &Path) -> Result<(), Failed> {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut session = Session {
            dir: dir.to_path_buf(),
            stdin: &mut io::empty(),
            stdout: &mut stdout,
            stderr: &mut stderr,
            color: false,
            dialect: None,
        };
        let code = run(self.line.iter().map(OsString::from), &mut session);
        let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        let found: Vec<(String, String)> = stdout.lines().filter_map(finding).collect();
        let told = || format!("{}\n{stdout}{stderr}", self.line.join(" "));
        if code != self.exit {
            return Err(format!("exit code {code}, expected {}\n{}", self.exit, told()).into());
        }
        let mut errors: Vec<&str> = found.iter().filter(|f| f.1 == "error").map(|f| f.0.as_str()).collect();
        errors.sort_unstable();
        errors.dedup();
        // With --strict warnings are errors, which the case does not list again.
        if errors != self.errors && !self.line.iter().any(|word| word == "--strict") {
            return Err(format!("errors {errors:?}, expected {:?}\n{}", self.errors, told()).into());
        }
        match self.warnings.iter().find(|w| !found.iter().any(|(rule, severity)| rule == *w && severity == "warning")) {
            Some(missing) => Err(format!("{missing} is not warned of\n{}", told()).into()),
            None => Ok(()),
        }
    }
}

fn finding(line: &str) -> Option<(String, String)> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    Some((value["rule"].as_str()?.into(), value["severity"].as_str()?.into()))
}

/// Bit for bit, or so many units in the last place off, a NaN for a NaN.
fn compare(expected: &Data, got: &[u8], most: u64) -> Result<(), Failed> {
    let size = if expected.ty == "f32" { 4 } else { 2 };
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    let (sign, infinity) = if size == 4 { (1u64 << 31, 0x7F80_0000) } else { (1u64 << 15, 0x7C00) };
    let ordered = |bits: u64| if bits & sign != 0 { -((bits & (sign - 1)) as i64) } else { bits as i64 };
    let is_near = |a: &[u8], b: &[u8]| {
        let (a, b) = (number(a), number(b));
        let nan = |bits: u64| bits & (sign - 1) > infinity;
        nan(a) && nan(b) || ordered(a).abs_diff(ordered(b)) <= most
    };
    let pairs = || expected.bytes.chunks(size).zip(got.chunks(size));
    if expected.bytes.len() == got.len() && (expected.bytes == got || most > 0 && pairs().all(|(a, b)| is_near(a, b))) {
        return Ok(());
    }
    let at = expected.bytes.iter().zip(got).position(|(a, b)| a != b).unwrap_or(0);
    let part = |bytes: &[u8]| bytes.iter().skip(at).take(8).map(|b| format!("{b:02x}")).collect::<String>();
    Err(format!("{} differs at byte {at}: {}, expected {}", expected.name, part(got), part(&expected.bytes)).into())
}
