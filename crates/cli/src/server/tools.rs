//! The tools: what each takes, and what it answers.

use super::{Answer, Refusal, Server, arrays};
use crate::render::json;
use crate::session::Session;
use crate::source::Source;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tessera::case::{Case, Expected};
use tessera::compare::Tolerance;
use tessera::fill::Fill;
use tessera::npy::Array;
use tessera::program::{Content, From, Limits, Setting, TimelineOptions};
use tessera::{Diagnostic, Kernel, Literal, OrderOptions, Profile, Program};
use tessera_smith::reduce::{Goal, reduce};

/// A tool: its name, what it does, and the arguments besides the program that it takes.
pub struct Tool {
    pub name: &'static str,
    pub about: &'static str,
    takes_program: bool,
    properties: fn() -> Value,
    required: &'static [&'static str],
}

/// All of them.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "check",
        about: "Checks a PTO program against every rule of a profile. Answers with the findings as `tessera check --format \
                json` writes them; ok is true where none is an error.",
        takes_program: true,
        properties: || json!({}),
        required: &[],
    },
    Tool {
        name: "run",
        about: "Runs a PTO program on arrays. Answers with its outputs and findings. Inputs that are not given are made up.",
        takes_program: true,
        properties: run_properties,
        required: &[],
    },
    Tool {
        name: "expect",
        about: "Runs a PTO program and compares its outputs with expected arrays: bit for bit, or within atol, rtol or ulp.",
        takes_program: true,
        properties: expect_properties,
        required: &["expect"],
    },
    Tool {
        name: "races",
        about: "Judges the order of the pipes on every path: races, flags, deadlocks.",
        takes_program: true,
        properties: || json!({}),
        required: &[],
    },
    Tool {
        name: "plan",
        about: "Shows where tiles are placed and which instruction waits for which pipe; with cycles: true also the \
                modelled time of a run.",
        takes_program: true,
        properties: || json!({"cycles": {"type": "boolean"}, "set": set_schema()}),
        required: &[],
    },
    Tool {
        name: "build",
        about: "Builds a PTO program as C++ that calls the intrinsics, placed and ordered.",
        takes_program: true,
        properties: || json!({}),
        required: &[],
    },
    Tool {
        name: "explain",
        about: "Explains an instruction, rule, element type, profile, layout or location; without a topic, lists them.",
        takes_program: false,
        properties: || json!({"topic": {"type": "string"}}),
        required: &[],
    },
    Tool {
        name: "reduce",
        about: "Makes a program small that a rule is reported for, by check or by a run on made-up inputs.",
        takes_program: true,
        properties: || json!({"rule": {"type": "string"}, "tries": {"type": "integer", "minimum": 1}}),
        required: &["rule"],
    },
    Tool {
        name: "smith",
        about: "Makes a random legal program from the instruction table; with illegal, one that breaks exactly this rule.",
        takes_program: false,
        properties: || {
            json!({"profile": profile_schema(), "seed": {"type": "integer", "minimum": 0},
                "size": {"type": "integer", "minimum": 1}, "illegal": {"type": "string"},
                "features": {"type": "array", "items": {"type": "string"}}})
        },
        required: &[],
    },
];

fn profile_schema() -> Value {
    json!({"type": "string", "enum": ["cpu", "a2a3", "a5"], "description": "default: the module's own, else cpu"})
}

fn set_schema() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "number"}, "description": "scalar arguments by name"})
}

fn arrays_schema() -> Value {
    json!({"type": "object", "description": "arrays by argument name: a nested list; {\"shape\": […], \"data\": […]}; \
        {\"file\": \"x.npy\"}; or a word: random, random:7, iota, zeros, ones, value:2.5"})
}

fn run_properties() -> Value {
    json!({
        "inputs": arrays_schema(),
        "set": set_schema(),
        "outputs": {"type": "array", "items": {"type": "string"}, "description": "tiles or arguments; default: what it puts out"},
        "blocks": {"type": "integer", "minimum": 1},
        "head": {"type": "integer", "minimum": 0, "description": "elements of each output, at most"},
    })
}

fn expect_properties() -> Value {
    let mut all = run_properties();
    all["expect"] = arrays_schema();
    for name in ["atol", "rtol"] {
        all[name] = json!({"type": "number", "minimum": 0});
    }
    all["ulp"] = json!({"type": "integer", "minimum": 0});
    all
}

impl Tool {
    /// The JSON Schema of its arguments.
    pub fn schema(&self) -> Value {
        let mut properties = (self.properties)();
        if self.takes_program {
            properties["program"] = json!({"type": "string", "description": "the text of the program"});
            properties["file"] =
                json!({"type": "string", "description": "instead of program: a file below the folder of --root"});
            properties["profile"] = profile_schema();
            properties["entry"] = json!({"type": "string", "description": "the function, where there are several"});
        }
        json!({"type": "object", "properties": properties, "required": self.required, "additionalProperties": false})
    }
}

fn arguments(what: impl Into<String>) -> Refusal {
    Refusal::new("arguments", what)
}

/// Answers a request.
pub fn answer(server: &Server, name: &str, given: &Value, is_cancelled: &AtomicBool) -> Answer {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        let names: Vec<&str> = TOOLS.iter().map(|t| t.name).collect();
        return Err(Refusal::new("unknown-tool", format!("there is no tool '{name}'; there are {}", names.join(", "))));
    };
    let empty = Map::new();
    let given = match given {
        Value::Null => &empty,
        Value::Object(object) => object,
        other => return Err(arguments(format!("the arguments of {name} are an object, and {} is none", shown(other)))),
    };
    let schema = tool.schema();
    let known = schema["properties"].as_object().unwrap_or(&empty);
    if let Some(key) = given.keys().find(|key| !known.contains_key(*key)) {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        return Err(arguments(format!("{name} takes no argument '{key}'; it takes {}", names.join(", "))));
    }
    if let Some(key) = tool.required.iter().find(|key| !given.contains_key(**key)) {
        return Err(arguments(format!("{name} needs the argument '{key}'")));
    }
    let request = Request { server, given, is_cancelled };
    match name {
        "explain" => request.explain(),
        "smith" => request.smith(),
        "check" => request.check(),
        "run" => request.run(),
        "expect" => request.expect(),
        "races" => request.races(),
        "plan" => request.plan(),
        "build" => request.build(),
        _ => request.reduce(),
    }
}

/// A value, cut where it is long.
fn shown(value: &Value) -> String {
    let text: String = value.to_string().chars().take(60).collect();
    text
}

struct Request<'a> {
    server: &'a Server,
    given: &'a Map<String, Value>,
    is_cancelled: &'a AtomicBool,
}

impl Request<'_> {
    fn text(&self, key: &str) -> Result<Option<&str>, Refusal> {
        match self.given.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(arguments(format!("{key} is a text, and {} is none", shown(other)))),
        }
    }

    fn whole(&self, key: &str) -> Result<Option<u64>, Refusal> {
        match self.given.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(n) => Ok(Some(n)),
                None => Err(arguments(format!("{key} is a whole number from 0, and {} is none", shown(value)))),
            },
        }
    }

    fn profile(&self) -> Result<Option<Profile>, Refusal> {
        let Some(word) = self.text("profile")? else { return Ok(None) };
        let found = Profile::parse(word);
        found.map(Some).ok_or_else(|| arguments(format!("there is no profile '{word}'; there are cpu, a2a3, a5")))
    }

    /// The bytes of a file below the folder that was given at the start.
    fn file(&self, name: &str) -> Result<Vec<u8>, Refusal> {
        let refuse = |what: String| Refusal::new("file", what);
        let Some(root) = &self.server.root else {
            return Err(refuse(format!("{name}: files are not read; start with --root DIR, or give the contents")));
        };
        let is_plain = Path::new(name).components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        let path: Option<PathBuf> =
            root.join(name).canonicalize().ok().filter(|path| is_plain && path.starts_with(root));
        let Some(path) = path.filter(|path| path.is_file()) else {
            return Err(refuse(format!("{name}: there is no such file below the folder of --root")));
        };
        let size = path.metadata().map_or(0, |m| m.len());
        if size > self.server.limits.request_size {
            return Err(refuse(format!("{name}: it has {size} bytes, more than {}", self.server.limits.request_size)));
        }
        std::fs::read(&path).map_err(|e| refuse(format!("{name}: {e}")))
    }

    fn program(&self) -> Result<(Program, Source), Refusal> {
        let profile = self.profile()?;
        let (name, bytes) = match (self.text("program")?, self.text("file")?) {
            (Some(text), None) => ("<program>", text.as_bytes().to_vec()),
            (None, Some(file)) => (file, self.file(file)?),
            (Some(_), Some(_)) => return Err(arguments("program and file are given; one of them is enough")),
            (None, None) => return Err(arguments("give program, the text, or file")),
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let program = Program::read_entry(&bytes, profile, self.text("entry")?);
        Ok((program, Source::new(name, text)))
    }

    fn check(&self) -> Answer {
        let (program, source) = self.program()?;
        Ok(findings(&program.check(), &source, program.profile()))
    }

    /// The kernel of a legal program, else the answer that tells what is wrong.
    fn kernel(&self, program: &Program, source: &Source) -> Result<Result<Kernel, Value>, Refusal> {
        let found = program.check();
        if found.iter().any(Diagnostic::is_error) {
            return Ok(Err(findings(&found, source, program.profile())));
        }
        match program.kernel_or_entry(self.text("entry")?) {
            Ok(kernel) => Ok(Ok(kernel)),
            Err(error) => {
                let found: Vec<Diagnostic> = error.diagnostics().cloned().collect();
                Ok(Err(findings(&found, source, program.profile())))
            }
        }
    }

    fn numbers(&self) -> Result<Vec<(String, Setting)>, Refusal> {
        let Some(set) = self.given.get("set") else { return Ok(Vec::new()) };
        let Value::Object(set) = set else { return Err(arguments("set is an object: numbers by name")) };
        set.iter()
            .map(|(name, value)| {
                let number =
                    arrays::number(value).ok_or_else(|| arguments(format!("{name}: {} is no number", shown(value))))?;
                Ok((name.clone(), Setting::Value(Literal::Number(number))))
            })
            .collect()
    }

    /// The array or fill that a value of an object of arrays is.
    fn content(&self, kernel: &Kernel, name: &str, value: &Value) -> Result<From, Refusal> {
        if let Value::String(word) = value {
            let fill = Fill::parse(word).map_err(|e| arguments(format!("array {name}: {}", e.message())))?;
            let fill = fill.ok_or_else(|| {
                arguments(format!("array {name}: '{word}' is no fill; random, iota, zeros, ones, value:V"))
            })?;
            return Ok(From::Fill(fill));
        }
        if let Some(file) = value.get("file").and_then(Value::as_str) {
            let array =
                Array::parse_owned(self.file(file)?).map_err(|e| arguments(format!("{file}: {}", e.message())))?;
            return Ok(From::Array(array));
        }
        let unknown = |e: tessera::Error| arguments(e.message().to_string());
        let value_id = kernel.argument(name).or_else(|_| kernel.result(name)).map_err(unknown)?;
        let elem = kernel.elem(value_id).ok_or_else(|| arguments(format!("{name} is a scalar; give it in set")))?;
        Ok(From::Array(arrays::read(name, value, elem)?))
    }

    fn case(&self, program: &Program, kernel: &Kernel) -> Result<Case, Refusal> {
        let mut case = Case::new(program.clone());
        case.entry = self.text("entry")?.map(String::from);
        case.fills_missing = true;
        case.blocks = u32::try_from(self.whole("blocks")?.unwrap_or(1)).unwrap_or(u32::MAX).clamp(1, 1024);
        case.limits = Limits { steps: self.server.limits.request_steps, memory: self.server.limits.request_memory };
        case.inputs.set = self.numbers()?;
        match self.given.get("inputs") {
            None => {}
            Some(Value::Object(inputs)) => {
                for (name, value) in inputs {
                    let from = self.content(kernel, name, value)?;
                    case.inputs.contents.push(Content { name: name.clone(), label: name.clone(), from });
                }
            }
            Some(_) => return Err(arguments("inputs is an object: arrays by name")),
        }
        Ok(case)
    }

    fn run(&self) -> Answer {
        let (program, source) = self.program()?;
        let kernel = match self.kernel(&program, &source)? {
            Ok(kernel) => kernel,
            Err(answer) => return Ok(answer),
        };
        let case = self.case(&program, &kernel)?;
        let mut bindings = case.bindings(&kernel).map_err(|e| arguments(e.error.message().to_string()))?;
        match self.given.get("outputs") {
            None => bindings.outputs.extend(kernel.outputs().into_iter().map(|v| (v, 0))),
            Some(Value::Array(names)) => {
                for name in names {
                    let name = name.as_str().ok_or_else(|| arguments("outputs is a list of names"))?;
                    let value = kernel.result(name).map_err(|e| arguments(e.message().to_string()))?;
                    bindings.outputs.push((value, 0));
                }
            }
            Some(_) => return Err(arguments("outputs is a list of names")),
        }
        bindings.outputs.sort_unstable();
        bindings.outputs.dedup();
        let head = self.whole("head")?.map(|n| n as usize);
        let (wanted, shapes) = (bindings.outputs.clone(), kernel.shapes(&bindings));
        let mut outcome = kernel.execute(bindings);
        let mut answer = findings(&outcome.diagnostics, &source, program.profile());
        let mut outputs = Map::new();
        if answer["ok"] == json!(true) {
            for (value, core) in wanted {
                let Some(array) = kernel.take_array(&mut outcome, &shapes, value, core) else { continue };
                let Some(elem) = kernel.elem(value) else { continue };
                outputs.insert(kernel.name(value).into(), arrays::write(&array, elem, head));
            }
        }
        answer["outputs"] = Value::Object(outputs);
        Ok(answer)
    }

    fn expect(&self) -> Answer {
        let (program, source) = self.program()?;
        let kernel = match self.kernel(&program, &source)? {
            Ok(kernel) => kernel,
            Err(answer) => return Ok(answer),
        };
        let mut case = self.case(&program, &kernel)?;
        let float = |key: &str| match self.given.get(key) {
            None => Ok(None),
            Some(v) => {
                v.as_f64().filter(|v| *v >= 0.0).map(Some).ok_or_else(|| arguments(format!("{key} is a number from 0")))
            }
        };
        let tolerance = Tolerance { atol: float("atol")?, rtol: float("rtol")?, ulp: self.whole("ulp")? };
        let Some(Value::Object(expect)) = self.given.get("expect") else {
            return Err(arguments("expect is an object: arrays by name"));
        };
        for (name, value) in expect {
            let array = match self.content(&kernel, name, value)? {
                From::Array(array) => array,
                _ => return Err(arguments(format!("{name}: an expected array is given by its numbers"))),
            };
            case.expect.push(Expected {
                name: name.clone(),
                core1: false,
                label: name.clone(),
                array,
                is_cast: false,
                tolerance,
            });
        }
        let report = case.run();
        let mut answer = findings(&report.found, &source, program.profile());
        answer["ok"] = json!(report.status == tessera::case::Status::Passed);
        answer["status"] = json!(report.status.name());
        answer["message"] = json!(report.message);
        let compared = report.compared.iter().map(|(name, found)| {
            let worst: Vec<Value> = found
                .worst
                .iter()
                .map(|d| json!({"index": d.index, "got": d.got, "want": d.want, "distance": d.distance, "ulp": d.ulp}))
                .collect();
            json!({"name": name, "elements": found.elements, "different": found.different, "worst": worst})
        });
        answer["compared"] = compared.collect();
        Ok(answer)
    }

    fn races(&self) -> Answer {
        let (program, source) = self.program()?;
        let kernel = match self.kernel(&program, &source)? {
            Ok(kernel) => kernel,
            Err(answer) => return Ok(answer),
        };
        Ok(match kernel.order(&OrderOptions::default()) {
            Ok(report) => {
                let mut answer = findings(&report.diagnostics, &source, program.profile());
                answer["verdict"] = json!(report.verdict.name());
                answer["ok"] = json!(report.verdict == tessera::Verdict::RaceFree);
                answer
            }
            Err(error) => {
                let found: Vec<Diagnostic> = error.diagnostics().cloned().collect();
                findings(&found, &source, program.profile())
            }
        })
    }

    /// A command of the command line on the program, without files.
    fn command(&self, words: &[&str]) -> Result<(u8, String, String), Refusal> {
        let (program, source) = match self.given.contains_key("program") || self.given.contains_key("file") {
            true => {
                let (program, source) = self.program()?;
                (Some(program.profile().name()), source.text)
            }
            false => (None, String::new()),
        };
        let mut args: Vec<OsString> = ["tessera", "--no-config"].iter().chain(words).map(OsString::from).collect();
        args.extend(program.map(|profile| OsString::from(format!("--profile={profile}"))));
        if let Some(entry) = self.text("entry")? {
            args.push(format!("--entry={entry}").into());
        }
        let (mut stdin, mut stdout, mut stderr) = (source.as_bytes(), Vec::new(), Vec::new());
        let mut session = Session {
            dir: PathBuf::new(),
            stdin: &mut stdin,
            stdout: &mut stdout,
            stderr: &mut stderr,
            color: false,
            dialect: None,
        };
        let code = crate::run(args, &mut session);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok((code, text(stdout), text(stderr)))
    }

    fn plan(&self) -> Answer {
        let (program, source) = self.program()?;
        let kernel = match self.kernel(&program, &source)? {
            Ok(kernel) => kernel,
            Err(answer) => return Ok(answer),
        };
        let (code, out, err) = self.command(&["plan", "-", "--format=json"])?;
        let plan: Value = serde_json::from_str(&out).unwrap_or(Value::Null);
        let mut answer = json!({"ok": code == 0, "plan": plan});
        if code != 0 {
            answer["message"] = json!(err);
        }
        if self.given.get("cycles") == Some(&json!(true)) {
            let case = self.case(&program, &kernel)?;
            let bindings = case.bindings(&kernel).map_err(|e| arguments(e.error.message().to_string()))?;
            let integers = kernel.integers(&bindings);
            let options = TimelineOptions { values: integers, blocks: case.blocks, ..TimelineOptions::default() };
            match kernel.timeline(&options) {
                Ok(timeline) => answer["cycles"] = json!(timeline.total),
                Err(why) => answer["message"] = json!(why.message()),
            }
        }
        Ok(answer)
    }

    fn build(&self) -> Answer {
        let (program, source) = self.program()?;
        let found = program.check();
        if found.iter().any(Diagnostic::is_error) {
            return Ok(findings(&found, &source, program.profile()));
        }
        let options =
            tessera_emit::Options { sync: true, entry: self.text("entry")?, ..tessera_emit::Options::default() };
        Ok(match tessera_emit::build(program.module(), program.profile(), &options) {
            Ok(built) => {
                let mut answer = findings(&found, &source, program.profile());
                answer["cpp"] = json!(built.text);
                answer
            }
            Err(error) => {
                let found: Vec<Diagnostic> = tessera::Error::from(error).diagnostics().cloned().collect();
                findings(&found, &source, program.profile())
            }
        })
    }

    fn explain(&self) -> Answer {
        let mut words = vec!["explain"];
        if let Some(topic) = self.text("topic")? {
            words.extend(["--", topic]);
        }
        let (code, out, err) = self.command(&words)?;
        Ok(match code {
            0 => json!({"ok": true, "text": out}),
            _ => json!({"ok": false, "message": err.trim_end()}),
        })
    }

    fn reduce(&self) -> Answer {
        let (program, source) = self.program()?;
        let rule = self.text("rule")?.unwrap_or_default().to_string();
        if tessera_micro::rules::rule(&rule).is_none() {
            return Err(arguments(format!("there is no rule '{rule}'; the tool explain lists them")));
        }
        let limits =
            Limits { steps: self.server.limits.request_steps.min(1 << 18), memory: self.server.limits.request_memory };
        let mut fails = |program: &Program| {
            !self.is_cancelled.load(Ordering::SeqCst) && crate::commands::reduce::reports(program, &rule, limits)
        };
        if program.has_errors() || !fails(&program) {
            let mut answer = findings(&program.check(), &source, program.profile());
            answer["ok"] = json!(false);
            answer["message"] =
                json!(format!("the program does not fail: {rule} is not reported, or the text cannot be read"));
            return Ok(answer);
        }
        let is_legal = !program.check().iter().any(Diagnostic::is_error);
        let most = self.whole("tries")?.unwrap_or(5000) as usize;
        let reduced = reduce(&program, &Goal { keeps_legal: is_legal, most }, &mut fails, &mut |_| {});
        Ok(json!({"ok": true, "program": reduced.text, "operations": reduced.operations, "tries": reduced.tries}))
    }

    fn smith(&self) -> Answer {
        let mut options = tessera_smith::Options {
            profile: self.profile()?.unwrap_or(Profile::Cpu),
            seed: self.whole("seed")?.unwrap_or(0),
            size: self.whole("size")?.unwrap_or(12) as usize,
            ..tessera_smith::Options::default()
        };
        if let Some(Value::Array(features)) = self.given.get("features") {
            for word in features {
                let feature = word.as_str().and_then(tessera_smith::Feature::parse);
                options
                    .features
                    .push(feature.ok_or_else(|| arguments(format!("there is no feature {}", shown(word))))?);
            }
        }
        let refused = |why: tessera_smith::Refused| arguments(why.0);
        if let Some(rule) = self.text("illegal")? {
            let made = tessera_smith::illegal(&options, rule).map_err(refused)?;
            return Ok(json!({"ok": true, "program": made.text}));
        }
        let made = tessera_smith::smith(&options).map_err(refused)?;
        Ok(json!({"ok": true, "program": made.text, "race_free": made.is_race_free}))
    }
}

/// Findings as `--format json` writes them, and whether none of them is an error.
fn findings(found: &[Diagnostic], source: &Source, profile: Profile) -> Value {
    let all: Vec<Value> =
        found.iter().filter_map(|d| serde_json::from_str(&json::line(d, source, profile)).ok()).collect();
    json!({"ok": !found.iter().any(Diagnostic::is_error), "findings": all})
}
