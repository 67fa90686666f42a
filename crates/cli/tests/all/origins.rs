//! Origins against data: what every output byte of the sample programs is said to be, worked out on their input files,
//! must be what a run writes. And no conversion between the forms changes what a program is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::equiv::{Answer, Given, equiv};
use tessera::npy::Array;
use tessera::program::{Bindings, Input, Kernel, Need};
use tessera::{ErrorKind, Literal, Program};
use tessera_interp::{Run, watch};
use tessera_ir::{TextForm, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;
use tessera_provenance::{ProvenanceTracker, Terms, Values};
use tessera_testkit::cases;

/// A command line of a sample case.
struct Case {
    name: String,
    text: String,
    profile: Option<Profile>,
    arrays: Vec<(String, Array)>,
    set: Vec<(String, Literal)>,
    outputs: Vec<String>,
    blocks: u32,
}

/// The command lines of all cases that this test understands.
fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for sample in cases::of("cases", "legal").unwrap() {
        let runs = sample.commands.iter().filter(|c| c.line.contains(" run "));
        all.extend(runs.filter_map(|command| Case::new(&sample, &command.line)));
    }
    assert!(all.len() > 200, "only {} cases", all.len());
    all
}

impl Case {
    /// `None` where tiles are given or wanted as raw bytes.
    fn new(sample: &cases::Case, command: &str) -> Option<Case> {
        let mut words = command.split_whitespace().skip(3);
        let mut case = Case {
            name: sample.name.clone(),
            text: sample.program.clone(),
            profile: None,
            arrays: Vec::new(),
            set: Vec::new(),
            outputs: Vec::new(),
            blocks: 1,
        };
        while let Some(word) = words.next() {
            let (name, value) = match word {
                "--in" | "--out" | "--set" => words.next()?.split_once('=')?,
                "--profile" | "--blocks" => ("", words.next()?),
                "--strict" | "--allow" | "--format" | "--trace" | "--raw-in" | "--raw-out" | "--entry" => return None,
                _ => return None,
            };
            match word {
                "--in" => case.arrays.push((name.into(), Array::parse(&sample.input(value)?.npy()).ok()?)),
                "--out" => case.outputs.push(name.into()),
                "--set" => case.set.push((name.into(), Number::Int(value.parse().ok()?).into())),
                "--profile" => case.profile = Profile::parse(value),
                _ => case.blocks = value.parse().ok()?,
            }
        }
        Some(case)
    }

    fn inputs(&self, kernel: &Kernel) -> Vec<(ValueId, Input)> {
        let mut inputs = Vec::new();
        for (name, array) in &self.arrays {
            let value = kernel.find(name).unwrap();
            inputs.push((value, kernel.bind_array(value, array.clone()).unwrap()));
        }
        for (name, number) in &self.set {
            let value = kernel.find(name).unwrap();
            inputs.push((value, kernel.bind_number(value, *number).unwrap()));
        }
        inputs
    }
}

#[test]
fn origins_worked_out_on_data_are_what_a_run_writes() {
    let (mut compared, mut elements) = (0, 0);
    for case in cases() {
        let program = Program::read(&case.text, case.profile);
        let kernel = program.entry().unwrap();
        let core = |name: &str| match name.strip_suffix("@1") {
            Some(name) => (kernel.find(name).unwrap(), 1),
            None => (kernel.find(name).unwrap(), 0),
        };
        let outputs: Vec<(ValueId, u8)> = case.outputs.iter().map(|n| core(n)).collect();
        let wanted: Vec<ValueId> = outputs.iter().map(|o| o.0).collect();
        let placement = kernel.plan(&wanted).unwrap();
        let numbers = kernel.func().args.iter().copied().zip(0..).collect();
        let run = Run {
            module: kernel.module(),
            func: kernel.func(),
            profile: kernel.profile(),
            placement: &placement,
            blocks: case.blocks,
            tracked: true,
            inputs: case.inputs(&kernel),
            outputs: outputs.clone(),
            trace: false,
            record: false,
            fuses: true,
            limits: Default::default(),
            progress: None,
            observe: None,
        };
        let (watched, watch) = watch(run, ProvenanceTracker::new(Terms::default(), numbers, false));
        assert!(!watched.failed(), "{}: {:?}", case.name, watched.diagnostics);
        if watch.undecided.is_some() {
            continue;
        }
        let data = kernel.execute(Bindings {
            inputs: case.inputs(&kernel),
            outputs: outputs.clone(),
            blocks: case.blocks,
            ..Bindings::default()
        });
        assert!(!data.failed(), "{}", case.name);
        let bound = case.inputs(&kernel);
        let bytes: Vec<Option<&[u8]>> = kernel
            .func()
            .args
            .iter()
            .map(|arg| match bound.iter().find(|(v, _)| v == arg).map(|(_, i)| i) {
                Some(Input::Buffer { bytes, .. }) => Some(bytes.as_slice()),
                Some(Input::Tile { elements, .. }) => Some(elements.as_slice()),
                _ => None,
            })
            .collect();
        for output in watch.outputs.iter().filter(|o| outputs.contains(&(o.value, o.core))) {
            let tile = data.tiles.iter().find(|t| (t.value, t.core) == (output.value, output.core));
            let buffer = data.buffers.iter().find(|b| b.value == output.value);
            let expected: &[u8] = match (tile, buffer) {
                (Some(tile), _) => &tile.data.elements,
                (None, Some(buffer)) => &buffer.bytes,
                (None, None) => panic!("{}: no output", case.name),
            };
            assert_eq!(output.origins.len(), expected.len(), "{}", case.name);
            // A buffer that nothing is bound to is undefined.
            let input = |input: u32, byte: u64| bytes[input as usize].and_then(|b| b.get(byte as usize)).copied();
            let mut values = Values::new(&watch.terms, input);
            for (k, (id, byte)) in output.origins.iter().zip(expected).enumerate() {
                // What is undefined is written as 0.
                let said = values.byte(*id).unwrap_or(0);
                let term = watch.terms.get(*id);
                assert_eq!(said, *byte, "{}: byte {k} of an output is {term:?}", case.name);
            }
            elements += expected.len();
        }
        compared += 1;
    }
    assert!(compared > 200 && elements > 100_000, "{compared} cases, {elements} bytes");
}

#[test]
fn every_form_of_a_program_is_equal_to_it() {
    let mut compared = 0;
    for case in cases() {
        let program = Program::read(&case.text, case.profile);
        let kernel = program.entry().unwrap();
        let shapes = case.arrays.iter().filter(|(name, _)| {
            // A shape is needed only where the type leaves it open.
            kernel.unbound(&[]).is_err()
                && !matches!(kernel.find(name).map(|v| kernel.need(v)), Some(Need::Buffer(_, None)))
        });
        let given = Given {
            set: case.set.clone(),
            shapes: shapes
                .map(|(name, array)| {
                    let mut shape = array.shape.clone();
                    if let (Some(last), true) =
                        (shape.last_mut(), kernel.elem(kernel.find(name).unwrap()).is_some_and(Elem::is_fp4))
                    {
                        *last *= 2;
                    }
                    (name.clone(), shape)
                })
                .collect(),
            blocks: case.blocks,
            ..Given::default()
        };
        for form in [TextForm::Asm, TextForm::Ssa, TextForm::Dps] {
            let text = program.text(Some(form));
            let other = Program::read(&text, case.profile);
            let answer = equiv(&kernel, &other.entry().unwrap(), &given, &[]);
            match answer {
                Answer::Equal(_) => compared += 1,
                Answer::Stopped(_, error) if error.kind() == ErrorKind::Undecided => {}
                other => panic!("{} as {form:?}: {other:?}\n{text}", case.name),
            }
        }
    }
    assert!(compared > 600, "only {compared} comparisons");
}
