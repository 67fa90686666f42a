//! The sample cases of `tests/cases` and `tests/cases-compute`: programs with command lines, inputs and expected results.
//! `tests/cases/README.md` describes the format.

use std::fs;
use std::path::{Path, PathBuf};

/// The sets of cases, folders of `tests`.
pub const SETS: [&str; 2] = ["cases", "cases-compute"];

/// The kinds of cases, folders of a set.
pub const KINDS: [&str; 4] = ["legal", "illegal", "warning", "runtime"];

/// One program with what its command lines must do.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The number and the label.
    pub name: String,
    /// The command lines, which run one after the other.
    pub commands: Vec<Command>,
    /// Rules that the command lines must report between them.
    pub rules: Vec<String>,
    /// Outputs that may be off by a number of codes.
    pub ulp: Vec<(String, u64)>,
    /// The contents of `program.pto`.
    pub program: String,
    /// The contents of the files `in_NAME.npy`.
    pub inputs: Vec<Array>,
    /// What the files `out_NAME.npy` must hold.
    pub expected: Vec<Array>,
}

/// A command line and its result.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The command line.
    pub line: String,
    /// Its exit code.
    pub exit: u8,
    /// Severity and rule of a finding; the severity is `error`, `warning`, or `reported` for either.
    pub finding: Option<(String, String)>,
}

/// A named array.
#[derive(Clone, Debug)]
pub struct Array {
    /// The tile or argument.
    pub name: String,
    /// The element type as numpy writes it.
    pub descr: &'static str,
    /// The extents.
    pub shape: Vec<u64>,
    /// The elements, row by row, little-endian.
    pub bytes: Vec<u8>,
}

const TYPES: [(&str, &str); 10] = [
    ("i8", "|i1"),
    ("u8", "|u1"),
    ("i16", "<i2"),
    ("u16", "<u2"),
    ("i32", "<i4"),
    ("u32", "<u4"),
    ("i64", "<i8"),
    ("u64", "<u8"),
    ("f16", "<f2"),
    ("f32", "<f4"),
];

impl Array {
    /// The array as a `.npy` file of version 1.
    pub fn npy(&self) -> Vec<u8> {
        let extents: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let comma = if extents.len() == 1 { "," } else { "" };
        let header = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
            self.descr,
            extents.join(", ")
        );
        // Magic, version and length take 10 bytes; the header ends with a newline at a multiple of 64.
        let len = (10 + header.len() + 1).next_multiple_of(64) - 10;
        let mut file = b"\x93NUMPY\x01\0".to_vec();
        file.extend((len as u16).to_le_bytes());
        file.extend(format!("{header:<0$}\n", len - 1).bytes());
        file.extend(&self.bytes);
        file
    }

    /// Reads `NAME TYPE SHAPE` and lines of hex.
    fn parse(about: &str, lines: &[&str]) -> Option<Array> {
        let [name, elem, shape] = about.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let descr = TYPES.iter().find(|t| t.0 == elem)?.1;
        let shape = shape.split('x').map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
        let (mut bytes, mut row) = (Vec::new(), Vec::new());
        for line in lines {
            match line.strip_prefix("* ") {
                Some(times) => bytes.extend(row.repeat(times.parse().ok()?)),
                None => {
                    let digits = |at: usize| u8::from_str_radix(line.get(at..at + 2)?, 16).ok();
                    row = (0..line.len()).step_by(2).map(digits).collect::<Option<_>>()?;
                    bytes.extend(&row);
                }
            }
        }
        let size: u64 = descr.get(2..)?.parse().ok()?;
        let is_whole = bytes.len() as u64 == shape.iter().product::<u64>() * size;
        is_whole.then(|| Array { name: name.into(), descr, shape, bytes })
    }
}

impl Case {
    /// Adds a part to the case.
    fn add(&mut self, head: &str, lines: &[&str]) -> Option<()> {
        let (word, rest) = head.split_once(' ').unwrap_or((head, ""));
        match word {
            "command" => self.commands.push(Command { line: rest.into(), ..Command::default() }),
            "exit" => self.commands.last_mut()?.exit = rest.parse().ok()?,
            "error" | "warning" | "reported" => {
                self.commands.last_mut()?.finding = Some((word.into(), rest.into()));
            }
            "rules" => self.rules.extend(rest.split(' ').map(String::from)),
            "ulp" => {
                let (name, most) = rest.split_once(' ')?;
                self.ulp.push((name.into(), most.parse().ok()?));
            }
            "program" => self.program = lines.iter().map(|line| format!("{line}\n")).collect(),
            "in" => self.inputs.push(Array::parse(rest, lines)?),
            "expected" => self.expected.push(Array::parse(rest, lines)?),
            _ => return None,
        }
        Some(())
    }

    /// The input of a file name, `in_NAME.npy`.
    pub fn input(&self, file: &str) -> Option<&Array> {
        let name = file.strip_prefix("in_")?.strip_suffix(".npy")?;
        self.inputs.iter().find(|array| array.name == name)
    }

    /// Writes the program and its inputs into a folder, where the command lines find them.
    pub fn write_to(&self, dir: &Path) -> std::io::Result<()> {
        fs::create_dir_all(dir)?;
        fs::write(dir.join("program.pto"), &self.program)?;
        self.inputs.iter().try_for_each(|array| fs::write(dir.join(format!("in_{}.npy", array.name)), array.npy()))
    }
}

/// Reads the cases of a file.
pub fn parse(text: &str) -> Result<Vec<Case>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut cases: Vec<Case> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let head = line.strip_prefix("//// ").ok_or_else(|| format!("line {}: no part begins here", at + 1))?;
        let len = lines.iter().skip(at + 1).take_while(|line| !line.starts_with("//// ")).count();
        let body = lines.get(at + 1..at + 1 + len).unwrap_or_default();
        match (head.strip_prefix("case "), cases.last_mut()) {
            (Some(name), _) => cases.push(Case { name: name.replace(' ', "-"), ..Case::default() }),
            (None, Some(case)) => case.add(head, body).ok_or_else(|| format!("line {}: {head}", at + 1))?,
            (None, None) => return Err(format!("line {}: a part before the first case", at + 1)),
        }
        at += 1 + len;
    }
    Ok(cases)
}

/// The cases of all text files of a folder, by name.
pub fn read(dir: &Path) -> Result<Vec<Case>, String> {
    let entries = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let mut cases = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "txt")) {
        let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        cases.extend(parse(&text).map_err(|e| format!("{}: {e}", file.display()))?);
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// The cases of a set and a kind.
pub fn of(set: &str, kind: &str) -> Result<Vec<Case>, String> {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(set).join(kind))
}
