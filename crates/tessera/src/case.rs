//! One program with its inputs and what must come of it: what a test suite runs thousands of.
//!
//! ```
//! use tessera::case::{Case, Status};
//! use tessera::program::{Content, From, Inputs};
//! use tessera::{Program, fill::Fill};
//!
//! let text = "%d = pto.tadd %a, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>";
//! let mut case = Case::new(Program::read(text, None));
//! case.inputs.contents.push(Content { name: "a".into(), label: "a".into(), from: From::Fill(Fill::Iota) });
//! case.fills_missing = true;
//! assert_eq!(case.run().status, Status::Passed);
//! # Ok::<(), tessera::Error>(())
//! ```

use crate::compare::{Comparison, Tolerance, compare_bytes};
use crate::npy::Array;
use crate::program::{Bindings, Content, From, InputError, Inputs, Kernel, Limits, Need, Outcome, Setting};
use crate::{Diagnostic, Error, Literal, Program};
use std::borrow::Cow;
use tessera_ir::ValueId;

/// An output, and what it must be.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The tile or argument.
    pub name: String,
    /// Whether it is the copy of vector core 1.
    pub core1: bool,
    /// The name of the array in messages.
    pub label: String,
    /// The expected array.
    pub array: Array,
    /// Whether it is rounded to the output's type first.
    pub is_cast: bool,
    /// The tolerance.
    pub tolerance: Tolerance,
}

/// A program with its inputs and what must come of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program, on a profile.
    pub program: Program,
    /// The kernel, where it is not the entry.
    pub entry: Option<String>,
    /// The number of blocks.
    pub blocks: u32,
    /// The inputs.
    pub inputs: Inputs,
    /// Whether missing inputs are made up.
    pub fills_missing: bool,
    /// The expected outputs.
    pub expect: Vec<Expected>,
    /// The rules that must be reported, as errors or warnings; `syntax-` stands for all of that family.
    pub rules: Vec<String>,
    /// Whether the order of the pipes is judged, too.
    pub races: bool,
    /// The limits of the run.
    pub limits: Limits,
}

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Status {
    /// All is as it must be.
    Passed,
    /// The program is illegal.
    Refused,
    /// An error stopped the run.
    Stopped,
    /// An output is not what it must be.
    Differs,
    /// Accesses race, or flags are broken.
    Races,
    /// A rule that must be reported is not.
    Unreported,
    /// The inputs do not fit the program.
    Unbound,
}

impl Status {
    /// Every one.
    pub const ALL: [Status; 7] = [
        Status::Passed,
        Status::Refused,
        Status::Stopped,
        Status::Differs,
        Status::Races,
        Status::Unreported,
        Status::Unbound,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Refused => "refused",
            Status::Stopped => "stopped",
            Status::Differs => "differs",
            Status::Races => "races",
            Status::Unreported => "unreported",
            Status::Unbound => "unbound",
        }
    }

    /// The status of a name.
    pub fn parse(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// The outcome of a case.
#[derive(Clone, Debug)]
pub struct Report {
    /// In a word.
    pub status: Status,
    /// In a sentence; empty where it passed.
    pub message: String,
    /// All errors and warnings.
    pub found: Vec<Diagnostic>,
    /// The outputs that were compared, by name.
    pub compared: Vec<(String, Comparison)>,
}

impl Case {
    /// A program alone.
    pub fn new(program: Program) -> Case {
        Case {
            program,
            entry: None,
            blocks: 1,
            inputs: Inputs::default(),
            fills_missing: false,
            expect: Vec::new(),
            rules: Vec::new(),
            races: true,
            limits: Limits::default(),
        }
    }

    /// Checks, runs and compares.
    pub fn run(&self) -> Report {
        let mut report =
            Report { status: Status::Passed, message: String::new(), found: Vec::new(), compared: Vec::new() };
        if let Err((status, message)) = self.try_run(&mut report) {
            (report.status, report.message) = (status, message);
        }
        if self.rules.is_empty() || report.status == Status::Unbound {
            return report;
        }
        match (self.unreported(&report.found), report.status) {
            (Some(rule), _) => {
                (report.status, report.message) = (Status::Unreported, format!("{rule} is not reported"))
            }
            (None, Status::Refused | Status::Stopped | Status::Races) => {
                (report.status, report.message) = (Status::Passed, String::new())
            }
            _ => {}
        }
        report
    }

    /// A rule that must be reported and is not.
    fn unreported(&self, found: &[Diagnostic]) -> Option<&String> {
        let is_of = |id: &str, rule: &str| id == rule || rule.ends_with('-') && id.starts_with(rule);
        self.rules.iter().find(|rule| !found.iter().any(|d| is_of(d.rule, rule)))
    }

    fn try_run(&self, report: &mut Report) -> Result<(), (Status, String)> {
        report.found = self.program.check();
        stop_at(&report.found, Status::Refused)?;
        if !self.rules.is_empty() && self.expect.is_empty() && self.unreported(&report.found).is_none() {
            return Ok(());
        }
        let kernel = self.program.kernel_or_entry(self.entry.as_deref());
        let kernel = kernel.map_err(|error| {
            report.found.extend(error.diagnostics().cloned());
            (Status::Refused, sentence(error.diagnostic()))
        })?;
        let mut bindings = self.bindings(&kernel).map_err(|InputError { label, error }| {
            let label = label.map_or(String::new(), |label| format!("{label}: "));
            (Status::Unbound, format!("{label}{}", error.message()))
        })?;
        let unbound = |error: Error| (Status::Unbound, error.message().to_string());
        for expected in &self.expect {
            let value = kernel.result(&expected.name).map_err(unbound)?;
            bindings.outputs.push((value, u8::from(expected.core1)));
        }
        if self.expect.is_empty() {
            bindings.outputs.extend(kernel.outputs().into_iter().map(|v| (v, 0)));
        }
        bindings.outputs.sort_unstable();
        bindings.outputs.dedup();
        let shapes = kernel.shapes(&bindings);
        let (outcome, order) = match self.races {
            true => kernel.execute_judged(bindings),
            false => (kernel.execute(bindings), None),
        };
        report.found.extend(outcome.diagnostics.iter().cloned());
        let order = order.map_or(Vec::new(), |order| order.diagnostics);
        report.found.extend(order.iter().cloned());
        stop_at(&outcome.diagnostics, Status::Stopped)?;
        for expected in &self.expect {
            let found = expected.compare(&kernel, &outcome, &shapes).map_err(unbound)?;
            report.compared.push((expected.name.clone(), found));
        }
        let worst = report.compared.iter().find(|(_, found)| !found.is_equal());
        worst.map_or(Ok(()), |(name, found)| Err((Status::Differs, difference(name, found))))?;
        stop_at(&order, Status::Races)
    }

    /// The inputs of the kernel.
    pub fn bindings(&self, kernel: &Kernel) -> Result<Bindings, InputError> {
        let (mut bindings, mut open) = kernel.bind_inputs(self.inputs.clone(), self.blocks)?;
        if self.fills_missing {
            let suggestion = kernel.suggest(&bindings.inputs, self.blocks);
            let mut all = self.inputs.clone();
            let name = |v: ValueId| kernel.name(v).to_string();
            all.set.extend(suggestion.set.iter().map(|(v, n)| (name(*v), Setting::Value(Literal::Number(*n)))));
            for (value, fill, shape) in suggestion.fill {
                let (name, label) = (name(value), format!("{fill} %{}", name(value)));
                all.shapes.extend(shape.map(|shape| (name.clone(), shape)));
                if !self.inputs.contents.iter().any(|c| c.name.trim_start_matches('%') == name) {
                    all.contents.push(Content { name, label, from: From::Fill(fill) });
                }
            }
            (bindings, open) = kernel.bind_inputs(all, self.blocks)?;
        }
        kernel.unbound_or_open(&bindings.inputs, &open)?;
        bindings.limits = self.limits;
        Ok(bindings)
    }
}

impl Expected {
    /// Compares what a run gave.
    pub fn compare(
        &self,
        kernel: &Kernel,
        outcome: &Outcome,
        shapes: &[(ValueId, Vec<u64>)],
    ) -> crate::Result<Comparison> {
        let value = kernel.result(&self.name)?;
        let got = kernel.contents(outcome, shapes, value, u8::from(self.core1));
        let Some((elem, shape, got)) = got else {
            return Err(Error::request(format!("%{} has no contents to compare", self.name)));
        };
        let want = if self.is_cast { Cow::Owned(self.array.cast(elem)?) } else { Cow::Borrowed(&self.array) };
        // The memory behind a pointer has any shape.
        let has_shape = !matches!(kernel.need(value), Need::Buffer(_, None)) && !elem.is_fp4();
        if has_shape && shape != want.shape {
            let [w, g] = [&want.shape, &shape].map(|s| crate::npy::shape_text(s));
            return Err(Error::request(format!("its shape is {w}, and %{} is {g}", self.name)));
        }
        compare_bytes(elem, got, &want, &self.tolerance)
    }
}

fn stop_at(found: &[Diagnostic], status: Status) -> Result<(), (Status, String)> {
    found.iter().find(|d| d.is_error()).map_or(Ok(()), |d| Err((status, sentence(d))))
}

fn sentence(d: &Diagnostic) -> String {
    format!("{}: {}", d.rule, d.message)
}

fn difference(name: &str, found: &Comparison) -> String {
    let Comparison { elements, different, worst } = found;
    let worst = worst.first().map_or(String::new(), |d| {
        let index: Vec<String> = d.index.iter().map(u64::to_string).collect();
        format!(", worst [{}]: {} instead of {}", index.join(", "), d.got, d.want)
    });
    format!("%{name} differs in {different} of {elements} elements{worst}")
}
