//! Runs texts.

use tessera_asm::parse;
use tessera_interp::{Input, Outcome, Run, run, run_on};
use tessera_ir::{Func, Module, ValueId, inline::inline};
use tessera_isa::codec::Number;
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;

/// A program and what it runs with.
pub struct Program {
    module: Module,
    func: Func,
    profile: Profile,
    blocks: u32,
    tracked: bool,
    trace: bool,
    record: bool,
    fuses: bool,
    threads: Option<usize>,
    inputs: Vec<(ValueId, Input)>,
    outputs: Vec<(ValueId, u8)>,
}

/// The outcome, with buffers by name.
pub struct Ran {
    pub outcome: Outcome,
    names: Vec<(String, ValueId)>,
}

impl std::ops::Deref for Ran {
    type Target = Outcome;
    fn deref(&self) -> &Outcome {
        &self.outcome
    }
}

impl Ran {
    pub fn buffer(&self, name: &str) -> &[u8] {
        let value = self.names.iter().find(|n| n.0 == name).map(|n| n.1);
        let found = self.outcome.buffers.iter().find(|b| Some(b.value) == value);
        &found.unwrap_or_else(|| panic!("no {name}: {:?}", self.outcome.diagnostics)).bytes
    }
}

impl Program {
    pub fn new(text: &str, profile: Profile) -> Self {
        let parsed = parse(text, Some(profile));
        assert!(!parsed.has_errors(), "{:#?}", parsed.diagnostics);
        let module = parsed.module;
        let func = inline(&module, module.entry(None).unwrap()).unwrap().into_owned();
        Program {
            module,
            func,
            profile,
            blocks: 1,
            tracked: true,
            trace: false,
            record: false,
            fuses: true,
            threads: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    fn value(&self, name: &str) -> ValueId {
        let id = self.module.names.find(name).unwrap_or_else(|| panic!("no %{name}"));
        self.func.find(id).unwrap()
    }

    fn input(mut self, name: &str, input: Input) -> Self {
        let value = self.value(name);
        self.inputs.push((value, input));
        self
    }

    pub fn buffer(self, name: &str, bytes: &[u8]) -> Self {
        let input = Input::Buffer { bytes: bytes.to_vec(), elem: Elem::U8, dims: vec![bytes.len() as u64] };
        self.input(name, input)
    }

    pub fn tile(self, name: &str, rows: u64, cols: u64, elements: &[u8]) -> Self {
        let input = Input::Tile { rows, cols, elements: elements.to_vec() };
        self.input(name, input)
    }

    pub fn raw(self, name: &str, bytes: &[u8]) -> Self {
        self.input(name, Input::TileBytes(bytes.to_vec()))
    }

    pub fn scalar(self, name: &str, value: Number) -> Self {
        self.input(name, Input::Scalar(value))
    }

    /// `NAME`, or `NAME@1`.
    pub fn output(mut self, name: &str) -> Self {
        let (name, core) = name.split_once('@').map_or((name, 0), |(name, core)| (name, core.parse().unwrap()));
        let value = self.value(name);
        self.outputs.push((value, core));
        self
    }

    pub fn blocks(mut self, blocks: u32) -> Self {
        self.blocks = blocks;
        self
    }

    pub fn tracked(mut self, tracked: bool) -> Self {
        self.tracked = tracked;
        self
    }

    pub fn fuses(mut self, fuses: bool) -> Self {
        self.fuses = fuses;
        self
    }

    /// Sets the maximum number of threads, in place of the machine's.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    pub fn record(mut self, record: bool) -> Self {
        self.record = record;
        self
    }

    pub fn trace(mut self) -> Self {
        self.trace = true;
        self
    }

    pub fn run(self) -> Ran {
        let keep: Vec<ValueId> = self.outputs.iter().map(|o| o.0).collect();
        let placement = tessera_plan::plan(&self.module, &self.func, self.profile, &keep).unwrap();
        let program = Run {
            observe: None,
            module: &self.module,
            func: &self.func,
            profile: self.profile,
            placement: &placement,
            blocks: self.blocks,
            tracked: self.tracked,
            inputs: self.inputs,
            outputs: self.outputs,
            trace: self.trace,
            record: self.record,
            fuses: self.fuses,
            limits: Default::default(),
            progress: None,
        };
        let outcome = match self.threads {
            Some(threads) => run_on(threads, program),
            None => run(program),
        };
        let name = |v: &ValueId| self.module.names.text(self.func.value(*v).name).to_string();
        Ran { outcome, names: self.func.args.iter().map(|v| (name(v), *v)).collect() }
    }
}

pub fn rules(diagnostics: &[Diagnostic]) -> Vec<&'static str> {
    diagnostics.iter().map(|d| d.rule).collect()
}

pub fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

pub fn u32s(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}
