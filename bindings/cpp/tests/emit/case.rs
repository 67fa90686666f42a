//! Programs with their inputs, and what they must give.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use tessera::fill::Fill;
use tessera::npy::Array;
use tessera::program::{Bindings, Input, Kernel, Literal, Need, Program};
use tessera_cli::Session;
use tessera_cli::render::example::examples;
use tessera_isa::codec::Number;
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{Opcode, Shape};
use tessera_isa::profile::Profile;
use tessera_testkit::cases;

/// A quantization parameter with scale 1 and a signed result (fixpipe.md 3).
const QUANT: u64 = 1 << 46 | 0x3F80_0000;

/// An array, row by row.
pub struct Npy {
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

/// A program with its inputs, and what it must give.
pub struct Case {
    pub name: String,
    pub text: String,
    pub profile: Profile,
    pub inputs: BTreeMap<String, Npy>,
    pub scalars: BTreeMap<String, String>,
    pub expected: BTreeMap<String, Vec<u8>>,
    pub blocks: u32,
}

impl Case {
    /// A sample case. `None` where its command line has other options.
    pub fn sample(sample: &cases::Case) -> Option<Case> {
        let command = &sample.commands.first()?.line;
        let mut words = command.split_whitespace();
        let mut case = Case {
            name: format!("case_{}", sample.name.replace('-', "_")),
            text: sample.program.clone(),
            profile: Profile::Cpu,
            inputs: BTreeMap::new(),
            scalars: BTreeMap::new(),
            expected: BTreeMap::new(),
            blocks: 1,
        };
        let npy = |array: &cases::Array| Npy { shape: array.shape.clone(), bytes: array.bytes.clone() };
        while let Some(word) = words.next() {
            let pair = |text: &str| text.split_once('=').map(|(a, b)| (a.to_string(), b.to_string()));
            match word {
                "--profile" => case.profile = Profile::parse(words.next()?)?,
                "--in" => case
                    .inputs
                    .extend(pair(words.next()?).map(|(name, file)| (name, npy(sample.input(&file).unwrap())))),
                "--set" => case.scalars.extend(pair(words.next()?)),
                "--out" => {
                    let (name, _) = pair(words.next()?)?;
                    // Where only a distance is promised, the command says which of the results it is.
                    let want = match sample.ulp.is_empty() {
                        true => sample.expected.iter().find(|array| array.name == name).unwrap().bytes.clone(),
                        false => run(sample, command, &name),
                    };
                    case.expected.insert(name, want);
                }
                "--blocks" => case.blocks = words.next()?.parse().ok()?,
                "--raw-in" | "--raw-out" | "--dump" => return None,
                _ => {}
            }
        }
        Some(case)
    }

    /// The example of a row's form, on a profile: the simulator says what it must give. `None` where it is not legal, or has
    /// a view of unknown extent.
    pub fn example(op: Opcode, (n, shape): (usize, &Shape), profile: Profile) -> Option<Case> {
        let text = examples(op, shape).dps;
        let program = Program::read(&text, Some(profile));
        if program.check().iter().any(Diagnostic::is_error) {
            return None;
        }
        let kernel = program.entry().unwrap();
        // Some bytes are no index of anything: small numbers are, and zeros always. The last one is a quantization parameter.
        let fills: [fn(u64) -> u8; 4] = [
            |i| (i * 89 % 251) as u8,
            |i| if i % 4 == 0 { (i / 4 % 8 * 32) as u8 } else { 0 },
            |_| 0,
            |i| QUANT.to_le_bytes()[i as usize % 8],
        ];
        let mut why = Vec::new();
        for fill in fills {
            let mut case = Case {
                name: format!("{op}_{n}_{profile}"),
                text: text.clone(),
                profile,
                inputs: BTreeMap::new(),
                scalars: BTreeMap::new(),
                expected: BTreeMap::new(),
                blocks: 1,
            };
            let bindings = case.bind(&kernel, fill)?;
            let outcome = kernel.execute(bindings);
            if outcome.failed() {
                why.extend(outcome.diagnostics);
                continue;
            }
            let tiles = outcome.tiles.into_iter().map(|t| (kernel.name(t.value).to_string(), t.data.elements));
            case.expected.extend(tiles);
            let buffers = outcome.buffers.into_iter().map(|b| (kernel.name(b.value).to_string(), b.bytes));
            case.expected.extend(buffers);
            return Some(case);
        }
        panic!("{op}_{n}_{profile}: {why:?}\n{text}");
    }

    /// Inputs of what the kernel needs, filled with a pattern; `None` where their extent is not known.
    fn bind(&mut self, kernel: &Kernel, fill: fn(u64) -> u8) -> Option<Bindings> {
        let mut bindings = Bindings::default();
        for value in kernel.func().args.iter().copied().filter(|v| !kernel.func().outputs.contains(v)) {
            let name = kernel.name(value).to_string();
            let input = match kernel.need(value) {
                Need::Scalar(_) => {
                    // A block of records is a multiple of 64 columns, and a window starts at a whole box.
                    let value = match name.as_str() {
                        "quant" => QUANT,
                        "scalar" => 64,
                        _ => 0,
                    };
                    self.scalars.insert(name, value.to_string());
                    Input::Scalar(Number::Int(value.into()))
                }
                Need::Tile(t) => {
                    let shape = [t.v_row.known()?, t.v_col.known()?];
                    let bytes: Vec<u8> = (0..t.elem.bytes_of(shape[0] * shape[1])).map(fill).collect();
                    self.inputs.insert(name, Npy { shape: shape.to_vec(), bytes: bytes.clone() });
                    Input::Tile { rows: shape[0], cols: shape[1], elements: bytes }
                }
                Need::Buffer(elem, Some(dims)) => {
                    let dims = dims.into_iter().collect::<Option<Vec<u64>>>()?;
                    let bytes: Vec<u8> = (0..elem.bytes_of(dims.iter().product())).map(fill).collect();
                    self.inputs.insert(name, Npy { shape: dims.clone(), bytes: bytes.clone() });
                    Input::Buffer { bytes, elem, dims }
                }
                _ => return None,
            };
            bindings.inputs.push((value, input));
        }
        bindings.outputs = kernel.func().outputs.iter().map(|v| (*v, 0)).collect();
        Some(bindings)
    }

    /// A program with inputs that are made up for it: the simulator says what it must give. `None` where it is not legal on
    /// the profile, or no inputs were found.
    pub fn suggested(name: &str, text: &str, profile: Profile) -> Option<Case> {
        let program = Program::read(text, Some(profile));
        if program.check().iter().any(Diagnostic::is_error) {
            return None;
        }
        let kernel = program.entry().ok()?;
        let blocks = if text.contains("get_block_idx") { 2 } else { 1 };
        let suggestion = kernel.suggest(&[], blocks);
        if suggestion.stops.is_some() {
            return None;
        }
        let mut case = Case {
            name: format!("{}_{profile}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")),
            text: text.into(),
            profile,
            inputs: BTreeMap::new(),
            scalars: BTreeMap::new(),
            expected: BTreeMap::new(),
            blocks,
        };
        let mut bindings = Bindings { blocks, ..Bindings::default() };
        for (value, number) in &suggestion.set {
            let input = kernel.bind_number(*value, Literal::Number(*number)).ok()?;
            let text = match number {
                Number::Int(n) => n.to_string(),
                Number::Float(f) => format!("{f:?}f"),
            };
            case.scalars.insert(kernel.name(*value).into(), text);
            bindings.inputs.push((*value, input));
        }
        let extents = kernel.extents(&bindings.inputs, blocks);
        for value in kernel.func().args.clone() {
            if matches!(kernel.need(value), Need::Scalar(_) | Need::Nothing) || kernel.func().outputs.contains(&value) {
                continue;
            }
            let given = suggestion.fill.iter().find(|(v, ..)| *v == value);
            let (fill, shape) = given.map_or((Fill::Random(None), None), |(_, fill, shape)| (*fill, shape.clone()));
            let input = kernel.bind_fill(value, fill, shape.as_deref(), &extents).ok()??;
            let npy = match &input {
                Input::Buffer { bytes, dims, .. } => Npy { shape: dims.clone(), bytes: bytes.clone() },
                Input::Tile { rows, cols, elements } => Npy { shape: vec![*rows, *cols], bytes: elements.clone() },
                _ => return None,
            };
            case.inputs.insert(kernel.name(value).into(), npy);
            bindings.inputs.push((value, input));
        }
        bindings.outputs = kernel.func().outputs.iter().map(|v| (*v, 0)).collect();
        let outcome = kernel.execute(bindings);
        // What is undefined has no value in C++.
        if outcome.failed() || outcome.diagnostics.iter().any(|d| d.rule.starts_with("undefined")) {
            return None;
        }
        for buffer in outcome.buffers {
            case.expected.insert(kernel.name(buffer.value).into(), buffer.bytes);
        }
        let tiles = outcome.tiles.into_iter().map(|t| (kernel.name(t.value).to_string(), t.data.elements));
        case.expected.extend(tiles);
        Some(case)
    }

    /// A program of ours on a profile: the simulator says what it must give. `None` where it is not legal.
    pub fn simulated(file: &Path, profile: Profile) -> Option<Case> {
        let text = std::fs::read_to_string(file).unwrap();
        let program = Program::read(&text, Some(profile));
        if program.check().iter().any(Diagnostic::is_error) {
            return None;
        }
        let kernel = program.entry().unwrap();
        let mut case = Case {
            name: format!("{}_{profile}", file.file_stem()?.to_string_lossy()),
            text: text.clone(),
            profile,
            inputs: BTreeMap::new(),
            scalars: BTreeMap::new(),
            expected: BTreeMap::new(),
            blocks: 1,
        };
        // `buffers: NAME=ELEMENTS …` says how long the arguments are; they are filled with a pattern.
        let sizes = text.split_once("buffers: ").unwrap().1.lines().next().unwrap();
        let mut bindings = Bindings::default();
        for size in sizes.split_whitespace() {
            let (name, count) = size.split_once('=').unwrap();
            let value = kernel.find(name).unwrap();
            let Need::Buffer(elem, dims) = kernel.need(value) else { panic!("{name} is no buffer") };
            let count: u64 = count.parse().unwrap();
            let bytes: Vec<u8> = (0..elem.bytes_of(count)).map(|i| (i * 7 % 61) as u8).collect();
            // A `?` is the first dimension here.
            let inner = dims.iter().flatten().flatten().product::<u64>().max(1);
            let shape = match &dims {
                Some(dims) if dims.iter().any(Option::is_none) => {
                    dims.iter().map(|d| d.unwrap_or(count / inner)).collect()
                }
                Some(dims) => dims.iter().flatten().copied().collect(),
                None => vec![count],
            };
            bindings.inputs.push((value, Input::Buffer { bytes: bytes.clone(), elem, dims: shape.clone() }));
            case.inputs.insert(name.into(), Npy { shape, bytes });
        }
        let outcome = kernel.execute(bindings);
        assert!(!outcome.failed(), "{}: {:?}", case.name, outcome.diagnostics);
        for buffer in outcome.buffers {
            case.expected.insert(kernel.name(buffer.value).into(), buffer.bytes);
        }
        Some(case)
    }
}

/// What a sample's own command line writes for an output.
fn run(sample: &cases::Case, command: &str, name: &str) -> Vec<u8> {
    let dir = std::env::temp_dir().join(format!("tessera-emit-{}-{}", std::process::id(), sample.name));
    sample.write_to(&dir).unwrap();
    let file = dir.join("result.npy");
    let mut words: Vec<String> = vec!["tessera".into()];
    let mut given = command.split_whitespace().skip(1);
    while let Some(word) = given.next() {
        let rest = if word == "--out" { given.next() } else { None };
        if rest.is_none() {
            words.push(word.into());
        }
    }
    words.extend(["--out".into(), format!("{name}={}", file.display())]);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut session = Session {
        dir: dir.clone(),
        stdin: &mut std::io::empty(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
        dialect: None,
    };
    tessera_cli::run(words.into_iter().map(OsString::from), &mut session);
    let written = Array::read(&file).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&stderr)));
    std::fs::remove_dir_all(&dir).unwrap();
    written.bytes
}
