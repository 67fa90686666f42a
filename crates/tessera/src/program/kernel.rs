//! The function that runs, and one run of it.

use super::Program;
use crate::{Error, Profile, Result};
use std::borrow::Cow;
use std::sync::Arc;
use tessera_interp::{Input, Limits, Outcome, Progress, Run};
use tessera_ir::{Func, Module, ValueId};
use tessera_isa::codec::Number;
use tessera_plan::Placement;
use tessera_race::{Mode as OrderMode, Options as OrderOptions, Report as OrderReport};

/// A function of a program, without calls, and what it is to run with.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(super) program: Program,
    pub(super) body: Body,
    pub(super) bindings: Bindings,
    /// Why it cannot run on the profile that was asked for.
    pub(super) refused: Option<Error>,
}

/// The index of the function.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// It calls nothing, and is the program's own.
    OfModule(usize),
    Inlined(Box<Func>),
}

/// The configuration of a run, for tools; [`Kernel::input`] and its like are for everyone.
#[derive(Clone, Debug)]
pub struct Bindings {
    /// The inputs of arguments and listings.
    pub inputs: Vec<(ValueId, Input)>,
    /// The values that are wanted, each as one vector core sees it.
    pub outputs: Vec<(ValueId, u8)>,
    /// The number of blocks.
    pub blocks: u32,
    /// Whether undefined bytes are followed.
    pub tracked: bool,
    /// Whether every instruction leaves a line.
    pub trace: bool,
    /// Whether it is recorded step by step.
    pub record: bool,
    /// Whether instructions that follow each other may go through the data together; nothing but the time tells.
    pub fuses: bool,
    /// The origin of the order, if it overrides the program's.
    pub order: Option<OrderMode>,
    /// The limits of the run.
    pub limits: Limits,
    /// The receiver of progress reports.
    pub progress: Option<Arc<Progress>>,
}

impl Default for Bindings {
    fn default() -> Self {
        Bindings {
            inputs: Vec::new(),
            outputs: Vec::new(),
            blocks: 1,
            tracked: true,
            trace: false,
            record: false,
            fuses: true,
            order: None,
            limits: Limits::default(),
            progress: None,
        }
    }
}

impl Kernel {
    pub(super) fn new(program: &Program, func: Cow<'_, Func>) -> Self {
        let place = |func: &Func| program.module().funcs.iter().position(|f| std::ptr::eq(f, func));
        let body = match (&func, place(&func)) {
            (Cow::Borrowed(_), Some(place)) => Body::OfModule(place),
            _ => Body::Inlined(Box::new(func.into_owned())),
        };
        Kernel { program: program.clone(), body, bindings: Bindings::default(), refused: None }
    }

    /// The program it belongs to.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The module that its names and types belong to.
    pub fn module(&self) -> &Module {
        self.program.module()
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        self.program.profile()
    }

    /// The function.
    pub fn func(&self) -> &Func {
        match &self.body {
            Body::OfModule(place) => &self.module().funcs[*place],
            Body::Inlined(func) => func,
        }
    }

    /// The name of a value, without `%`.
    pub fn name(&self, value: ValueId) -> &str {
        self.module().names.text(self.func().value(value).name)
    }

    /// The value of a name, with or without `%`: an argument, else the last definition of that name.
    pub fn find(&self, name: &str) -> Option<ValueId> {
        let name = self.module().names.find(name.strip_prefix('%').unwrap_or(name))?;
        let argument = self.func().args.iter().copied().find(|v| self.func().value(*v).name == name);
        argument.or_else(|| self.func().find(name))
    }

    /// Places automatic tiles; the tiles in `keep` live to the end.
    pub fn plan(&self, keep: &[ValueId]) -> Result<Placement> {
        Ok(tessera_race::place(self.module(), self.func(), self.profile(), keep, None)?)
    }

    /// Races, broken rules of flags and deadlocks on every path (sync.md 4).
    ///
    /// ```
    /// use tessera::{OrderOptions, Program, Verdict};
    ///
    /// let text = "pto.barrier <PIPE_ALL>\n%b = pto.tadd %a, %a : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>";
    /// let report = Program::parse(text)?.entry()?.order(&OrderOptions::default())?;
    /// assert_eq!(report.verdict, Verdict::RaceFree);
    /// # Ok::<(), tessera::Error>(())
    /// ```
    pub fn order(&self, options: &OrderOptions) -> Result<OrderReport> {
        let placement = tessera_race::place(self.module(), self.func(), self.profile(), &[], options.mode)?;
        let text = self.program.source();
        let options = OrderOptions { joined: true, ..options.clone() };
        let mut report = tessera_race::check(self.module(), self.func(), self.profile(), &placement, text, &options);
        report.diagnostics = self.program.with_locations(report.diagnostics);
        Ok(report)
    }

    /// Whether the order of its pipes can be wrong: the program orders them itself, or runs on several cores.
    pub fn orders_pipes(&self, mode: Option<crate::OrderMode>) -> bool {
        let written = mode.unwrap_or_else(|| tessera_race::mode(self.func()));
        written == tessera_race::Mode::Manual || self.func().runs() == tessera_ir::Runs::Mixed
    }

    /// The integers that a run binds to arguments.
    pub fn integers(&self, bindings: &Bindings) -> Vec<(ValueId, i64)> {
        let known = |(value, input): &(ValueId, Input)| match input {
            Input::Scalar(Number::Int(n)) => Some((*value, i64::try_from(*n).ok()?)),
            _ => None,
        };
        bindings.inputs.iter().filter_map(known).collect()
    }

    /// Places the tiles of a run; if they do not fit, returns the finding.
    pub(super) fn placed(&self, bindings: &Bindings) -> std::result::Result<Placement, Box<Outcome>> {
        let keep: Vec<ValueId> = bindings.outputs.iter().map(|o| o.0).collect();
        tessera_race::place(self.module(), self.func(), self.profile(), &keep, bindings.order).map_err(|error| {
            let diagnostics = Error::from(error).diagnostics().cloned().collect();
            Box::new(Outcome { diagnostics: self.program.with_locations(diagnostics), ..Outcome::default() })
        })
    }

    pub(crate) fn prepared<'a>(&'a self, bindings: Bindings, placement: &'a Placement) -> Run<'a> {
        let Bindings { inputs, outputs, blocks, tracked, trace, record, fuses, limits, progress, .. } = bindings;
        let (module, func, profile) = (self.module(), self.func(), self.profile());
        Run {
            module,
            func,
            profile,
            placement,
            blocks,
            tracked,
            inputs,
            outputs,
            trace,
            record,
            fuses,
            limits,
            progress,
            observe: None,
        }
    }
}
