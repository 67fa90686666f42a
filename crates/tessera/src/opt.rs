//! Takes out of a program what cannot matter, and proves every step.
//!
//! Steps are guessed from the text alone ([`candidates`]): take an instruction out, read a tile that lies further back,
//! make one instruction of a chain. What a step leaves unread goes with it. A step counts only if the program that results
//! is printed, read again, found legal and **proved equal** to the original ([`equiv`](mod@crate::equiv)); so a wrong guess costs
//! time and nothing else.
//!
//! ```
//! use tessera::program::Program;
//!
//! let text = "%t = pto.ttrans %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>
//! %u = pto.ttrans %t : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>
//! %d = pto.tpack %u : !pto.tile<16x16xf32> -> !pto.tile<16x16xf16>";
//! let better = tessera::opt::optimize(&Program::parse(text, None), None, &Default::default()).unwrap();
//! assert_eq!(better.steps.len(), 1);
//! assert!(better.text.starts_with("%d = pto.tpack %s"));
//! ```

mod candidates;
mod edit;

use crate::equiv::{Answer, equiv};
use crate::program::Program;
pub use crate::symbolic::{Given, Stop};
use candidates::{Candidate, candidates};
use edit::Edit;
use tessera_asm::Parsed;
use tessera_ir::{Module, ValueId};
use tessera_isa::diag::{Diagnostic, Span};

/// How many proofs are tried before the rest is left as it is.
const MAX_PROOFS: usize = 500;

/// An instruction of the original text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its mnemonic.
    pub mnemonic: &'static str,
    /// Where it stands.
    pub span: Span,
}

/// A step that was proved and taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The instruction that changed, and what became of it; none where instructions were only taken out.
    pub changed: Option<(Instruction, String)>,
    /// The instructions that were taken out.
    pub removed: Vec<Instruction>,
}

/// A program that does the same.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// Its text.
    pub text: String,
    /// What was done, in order.
    pub steps: Vec<Step>,
    /// How many proofs were tried.
    pub proofs: usize,
    /// Were there more steps to try than proofs?
    pub is_cut: bool,
}

/// Optimizes the entry function of a program, which has no errors.
pub fn optimize(program: &Program, entry: Option<&str>, given: &Given) -> Result<Optimized, Stop> {
    let mut run = Optimizer {
        program,
        entry,
        given,
        rules: program.check().iter().map(|d| d.rule).collect(),
        proofs: 0,
    };
    // Where the program itself has no answer, nothing can be proved.
    run.prove(program)?;
    run.proofs = 0;
    let illegal = |d: Box<Diagnostic>| Stop::Illegal(vec![*d]);
    let name = program.kernel(entry).map_err(illegal)?.func().name;
    let module = program.module();
    let Some(index) = module.funcs.iter().position(|f| f.name == name) else {
        return Err(Stop::Usage("the module has no function to optimize".into()));
    };
    let mut module = module.clone();
    let mut steps = Vec::new();
    'again: while run.proofs < MAX_PROOFS {
        for candidate in candidates(&module, index) {
            if run.proofs >= MAX_PROOFS {
                break 'again;
            }
            if let Some((better, step)) = run.attempt(&module, index, &candidate) {
                module = better;
                steps.push(step);
                continue 'again;
            }
        }
        break;
    }
    Ok(Optimized {
        text: run.print(&module),
        steps,
        proofs: run.proofs,
        is_cut: run.proofs >= MAX_PROOFS,
    })
}

struct Optimizer<'a> {
    program: &'a Program,
    entry: Option<&'a str>,
    given: &'a Given,
    /// The rules that the original breaks, none of them an error.
    rules: Vec<&'static str>,
    proofs: usize,
}

impl Optimizer<'_> {
    /// The program after a step, if that is smaller, legal and equal.
    fn attempt(&mut self, module: &Module, index: usize, candidate: &Candidate) -> Option<(Module, Step)> {
        let mut module = module.clone();
        let mut edit = Edit::new(&mut module, index)?;
        let before = edit.instructions();
        let changed = candidate.apply(&mut edit)?;
        edit.remove_dead();
        let after = edit.instructions();
        let removed: Vec<Instruction> = before
            .iter()
            .filter(|i| !after.iter().any(|a| a.0 == i.0))
            .map(|i| i.1)
            .collect();
        edit.finish();
        if after.len() >= before.len() {
            return None;
        }
        let text = self.print(&module);
        let changed_program = Program::parse(&text, Some(self.program.profile()));
        self.prove(&changed_program).ok()?;
        Some((module, Step { changed, removed }))
    }

    fn print(&self, module: &Module) -> String {
        tessera_asm::print(&Parsed {
            module: module.clone(),
            diagnostics: Vec::new(),
            trivia: self.program.trivia().clone(),
        })
    }

    /// Is a program legal, and equal to the original?
    fn prove(&mut self, other: &Program) -> Result<(), Stop> {
        let found = other.check();
        // A step that brings a new warning is none to take without being asked.
        if found.iter().any(|d| d.is_error() || !self.rules.contains(&d.rule)) {
            return Err(Stop::Illegal(found));
        }
        self.proofs += 1;
        let illegal = |d: Box<Diagnostic>| Stop::Illegal(vec![*d]);
        let (a, b) = (
            self.program.kernel(self.entry).map_err(illegal)?,
            other.kernel(self.entry).map_err(illegal)?,
        );
        // Inputs keep their names and types; one that nothing reads any more may go.
        let known = |v: &ValueId| {
            let found = a.find(b.name(*v)).filter(|o| a.func().args.contains(o));
            found.is_some_and(|o| a.need(o) == b.need(*v))
        };
        if !b.func().args.iter().all(known) {
            return Err(Stop::Usage("the programs have different inputs".into()));
        }
        match equiv(&a, &b, self.given, &[]) {
            Answer::Equal(_) => Ok(()),
            Answer::Different(_) => Err(Stop::Usage("the programs differ".into())),
            Answer::Stopped(_, stop) => Err(stop),
        }
    }
}
