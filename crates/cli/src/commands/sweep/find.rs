//! Collects cases: folders, programs and lists (docs/sweep.md). A case is a `tessera run` command line and the
//! findings that it must report.

use crate::commands::{Cli, Command, run};
use crate::session::{Failure, Session};
use clap::Parser;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};
use tessera::Profile;
use tessera::case::Case;
use tessera::program::Limits;

/// Folders in folders that are looked into.
const MAX_DEPTH: usize = 32;
/// The longest list that is read.
const MAX_LIST: u64 = 256 << 20;
/// The program of a folder that is one case.
const PROGRAM: &str = "program.pto";

/// A case before its files are read.
#[derive(Clone, Debug, Default)]
pub struct CaseSource {
    pub name: String,
    /// The folder that its files are in.
    pub dir: PathBuf,
    /// The words after `tessera run`.
    words: Vec<String>,
    /// By output: the values of its type that it may be off.
    ulp: Vec<(String, u64)>,
    /// The rules that must be reported.
    rules: Vec<String>,
    /// The profiles that it is made for.
    profiles: Vec<Profile>,
    /// Why it is no case.
    wrong: Option<String>,
}

/// The cases of a folder, a program or a list.
pub fn cases(session: &mut Session<'_>, path: &Path) -> Result<Vec<CaseSource>, Failure> {
    let unreadable = |e: io::Error| Failure::file("read", path, &e);
    let full = session.path(path);
    let is_dir = fs::metadata(&full).map_err(unreadable)?.is_dir();
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let mut all = Vec::new();
    if is_dir {
        walk(&full, path, "", MAX_DEPTH, &mut all).map_err(unreadable)?;
        return Ok(all);
    }
    let dir = path.parent().unwrap_or(Path::new("")).to_path_buf();
    match extension {
        "pto" => {
            let name = file_name(path);
            all.push(program(&full.with_file_name(""), &dir, &name, &name));
        }
        "jsonl" | "json" | "txt" => {
            let bytes = session.read(path, MAX_LIST)?;
            let text = String::from_utf8_lossy(&bytes);
            if let ("json", Ok(Value::Array(objects))) = (extension, serde_json::from_str(&text)) {
                all.extend((1..).zip(objects).map(|(n, object)| listed(&dir, n, &object)));
                return Ok(all);
            }
            for (n, line) in (1..).zip(text.lines()).filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#')) {
                all.push(match serde_json::from_str::<Value>(line) {
                    _ if extension == "txt" => commanded(&dir, n, line),
                    Ok(object) => listed(&dir, n, &object),
                    Err(e) => {
                        return Err(Failure::usage(format!("{}:{n} is no JSON object: {e}", path.display())));
                    }
                });
            }
        }
        _ => {
            let what = format!("{} is no folder, no program (.pto) and no list", path.display());
            return Err(Failure::usage(format!("{what} (.jsonl, .json, .txt)")));
        }
    }
    Ok(all)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// All cases below a folder, by name.
fn walk(full: &Path, dir: &Path, name: &str, depth: usize, all: &mut Vec<CaseSource>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> = fs::read_dir(full)?.flatten().map(|e| e.path()).collect();
    entries.sort();
    let below = |file: &str| if name.is_empty() { file.to_string() } else { format!("{name}/{file}") };
    for entry in entries {
        let file = file_name(&entry);
        if file.starts_with('.') {
            continue;
        }
        if entry.is_dir() && depth > 0 {
            walk(&entry, &dir.join(&file), &below(&file), depth - 1, all)?;
        } else if file == PROGRAM {
            let name = if name.is_empty() { below(&file) } else { name.to_string() };
            all.push(program(full, dir, &name, &file));
        } else if file.ends_with(".pto") {
            all.push(program(full, dir, &below(&file), &file));
        }
    }
    Ok(())
}

/// A program with what lies beside it.
fn program(full: &Path, dir: &Path, name: &str, file: &str) -> CaseSource {
    let mut found =
        CaseSource { name: name.into(), dir: dir.into(), words: vec![file.into()], ..CaseSource::default() };
    let is_folder = file == PROGRAM;
    let described = if is_folder { "case.json".into() } else { file.replace(".pto", ".json") };
    if let Ok(text) = fs::read_to_string(full.join(&described)) {
        match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => found.describe(&object),
            _ => found.wrong = Some(format!("{described} is no JSON object")),
        }
        return found;
    }
    if !is_folder {
        return found;
    }
    let lines = |file: &str| fs::read_to_string(full.join(file)).unwrap_or_default();
    if let Some(command) = lines("command.txt").lines().max_by_key(|l| l.starts_with("tessera run ")) {
        found.take_command(command);
    } else {
        found.add_files(full, "in_", "--in");
    }
    found.add_files(full, "expected_", "--expect");
    found.rules = lines("rules.txt").lines().map(String::from).filter(|rule| !rule.is_empty()).collect();
    let ulp = |line: &str| line.split_once(' ').and_then(|(name, n)| Some((name.to_string(), n.trim().parse().ok()?)));
    found.ulp = lines("ulp.txt").lines().filter_map(ulp).collect();
    found
}

/// A line of a list of objects.
fn listed(dir: &Path, number: usize, object: &Value) -> CaseSource {
    let mut found = CaseSource { name: format!("line {number}"), dir: dir.into(), ..CaseSource::default() };
    match object {
        Value::Object(object) => {
            match object.get("program") {
                Some(Value::String(program)) => {
                    found.words.push(program.clone());
                    found.name = format!("{program}#{number}");
                }
                _ => found.wrong = Some("it has no \"program\"".into()),
            }
            found.describe(object);
        }
        _ => found.wrong = Some("it is no JSON object".into()),
    }
    found
}

/// A line of a list of commands.
fn commanded(dir: &Path, number: usize, line: &str) -> CaseSource {
    let mut found = CaseSource { name: format!("line {number}"), dir: dir.into(), ..CaseSource::default() };
    found.take_command(line);
    if let Some(program) = found.words.first() {
        found.name = format!("{program}#{number}");
    }
    found
}

/// Options that say what is written, or how: no part of a case.
const DROPPED: [(&str, usize); 6] =
    [("--out", 2), ("--raw-out", 2), ("--format", 2), ("--dump", 2), ("--trace", 2), ("--strict", 1)];

impl CaseSource {
    /// The words of a `tessera run` or `tessera check` command that say what is run.
    fn take_command(&mut self, command: &str) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let [_, "run" | "check", rest @ ..] = words.as_slice() else {
            self.wrong = Some(format!("'{command}' is no `tessera run …`"));
            return;
        };
        self.words.clear();
        let mut rest = rest;
        while let [word, more @ ..] = rest {
            let dropped = DROPPED.iter().find(|(option, _)| option == word).map_or(0, |(_, len)| *len);
            if dropped == 0 {
                self.words.push((*word).to_string());
            }
            rest = more.get(dropped.saturating_sub(1)..).unwrap_or_default();
        }
    }

    /// `in_NAME.npy` becomes `--in NAME=in_NAME.npy`.
    fn add_files(&mut self, full: &Path, prefix: &str, option: &str) {
        let entries = fs::read_dir(full).into_iter().flatten().flatten();
        let mut files: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        files.sort();
        for file in &files {
            if let Some(name) = file.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(".npy")) {
                self.words.extend([option.to_string(), format!("{name}={file}")]);
            }
        }
    }

    /// The fields of a JSON object.
    fn describe(&mut self, object: &Map<String, Value>) {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let list = |value: &Value| match value {
            Value::Array(all) => all.iter().map(text).collect(),
            one => vec![text(one)],
        };
        for (field, value) in object {
            match (field.as_str(), value) {
                ("program", _) => {}
                ("name", _) => self.name = text(value),
                ("in" | "set" | "shape" | "expect", Value::Object(all)) => {
                    for (name, to) in all {
                        self.words.extend([format!("--{field}"), format!("{name}={}", text(to))]);
                    }
                }
                ("ulp", Value::Object(all)) => {
                    self.ulp.extend(all.iter().filter_map(|(name, n)| Some((name.clone(), n.as_u64()?))));
                }
                ("entry" | "blocks" | "atol" | "rtol" | "ulp", _) => {
                    self.words.extend([format!("--{field}"), text(value)]);
                }
                ("rules", _) => self.rules = list(value),
                ("profile", _) => {
                    for name in list(value) {
                        match Profile::parse(&name) {
                            Some(profile) => self.profiles.push(profile),
                            None => self.wrong = Some(format!("there is no profile '{name}'")),
                        }
                    }
                }
                _ => self.wrong = Some(format!("\"{field}\" is no field of a case, or has no such value")),
            }
        }
    }

    /// The command line that it is.
    fn args(&self) -> Result<run::Args, String> {
        if let Some(why) = &self.wrong {
            return Err(why.clone());
        }
        let words = ["tessera", "run"].into_iter().chain(self.words.iter().map(String::as_str)).map(OsString::from);
        match Cli::try_parse_from(words) {
            Ok(Cli { command: Command::Run(args), .. }) => Ok(*args),
            Ok(_) => Err("it is no `tessera run …`".into()),
            Err(error) => {
                Err(error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").into())
            }
        }
    }

    /// The profiles that it runs on, where these are asked for; none is the module's own.
    pub fn profiles(&self, asked: &[Profile]) -> Vec<Option<Profile>> {
        let own = match self.args().ok().and_then(|args| args.profile()) {
            Some(profile) => vec![profile],
            None => self.profiles.clone(),
        };
        match (asked, own.as_slice()) {
            ([], []) => vec![None],
            ([], own) => own.iter().copied().map(Some).collect(),
            (asked, []) => asked.iter().copied().map(Some).collect(),
            (asked, own) => asked.iter().filter(|p| own.contains(p)).copied().map(Some).collect(),
        }
    }

    /// The case with its files, or why there is none.
    pub fn load(&self, session: &mut Session<'_>, profile: Option<Profile>, limits: Limits) -> Result<Case, String> {
        let mut case = self.args()?.case(session, profile)?;
        for expected in &mut case.expect {
            let own = self.ulp.iter().find(|(name, _)| *name == expected.name);
            expected.tolerance.ulp = own.map(|(_, ulp)| *ulp).or(expected.tolerance.ulp);
        }
        case.limits = limits;
        case.fills_missing = true;
        case.rules = self.rules.clone();
        Ok(case)
    }
}
