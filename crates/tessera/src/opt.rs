//! Takes out of a program what cannot matter, and proves every step.
//!
//! Steps are guessed from the text: take an instruction out, read a tile that lies further back, make one
//! instruction of a chain. What a step leaves unread goes with it. A step counts only if the program that results is
//! printed, read again, found legal and **proved equal** to the original ([`equiv`](mod@crate::equiv)); so a wrong guess
//! costs time and nothing else. Guesses that a run on origins makes likely are tried first, and together.
//!
//! ```
//! use tessera::Program;
//!
//! let text = "%t = pto.ttrans %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>
//! %u = pto.ttrans %t : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>
//! %d = pto.tpack %u : !pto.tile<16x16xf32> -> !pto.tile<16x16xf16>";
//! let better = tessera::opt::optimize(&Program::parse(text)?, None, &Default::default(), &[])?;
//! assert_eq!(better.steps.len(), 1);
//! assert!(better.text.starts_with("%d = pto.tpack %s"));
//! # Ok::<(), tessera::Error>(())
//! ```

mod candidates;
mod edit;

use crate::equiv::{Answer, FirstRun, Wanted, equiv_again};
pub use crate::symbolic::Given;
use crate::symbolic::Keep;
use crate::{Error, Kernel, Program, Result, Span};

use candidates::{Candidate, candidates};
use edit::Edit;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use tessera_asm::Parsed;
use tessera_ir::{Module, OpId, Runs, ValueId};

/// Instructions of programs that are looked at to see whether a change alone makes them shorter.
const MAX_TRIES: usize = 100_000;

/// The number of instructions that all proofs together may run.
const MAX_WORK: usize = 20_000;

/// An instruction of the original text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its mnemonic.
    pub mnemonic: &'static str,
    /// Its position.
    pub span: Span,
}

/// A step that was proved and taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The instructions that changed, and what became of them.
    pub changed: Vec<(Instruction, String)>,
    /// The instructions that were taken out.
    pub removed: Vec<Instruction>,
}

/// A program that does the same.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// Its text.
    pub text: String,
    /// The steps taken, in order.
    pub steps: Vec<Step>,
    /// The number of attempted proofs.
    pub proofs: usize,
    /// Whether the limit of proofs was reached with candidates left.
    pub is_cut: bool,
    /// Whether the work that is allowed was done with candidates left.
    pub is_out_of_work: bool,
}

/// Optimizes the entry function of a program, which has no errors. Besides what it puts out, these tiles keep their
/// contents.
pub fn optimize(program: &Program, entry: Option<&str>, given: &Given, wanted: &[String]) -> Result<Optimized> {
    let kernel = program.kernel_or_entry(entry)?;
    let module = program.module();
    let Some(index) = module.funcs.iter().position(|f| f.name == kernel.func().name) else {
        return Err(Error::request("the module has no function to optimize"));
    };
    if kernel.func().runs() == Runs::Mixed {
        let why = "several cores run together, and a step may change what one sees of another";
        return Err(Error::undecided(Some(kernel.func().span), why));
    }
    let instructions = Edit::new(&mut module.clone(), index).map_or(0, |e| e.instructions().len());
    let mut optimizer = Optimizer {
        program,
        entry,
        given,
        wanted,
        index,
        kernel: &kernel,
        rules: program.check().iter().map(|d| d.rule).collect(),
        contents: contents(&kernel, given)?,
        last: None,
        proofs: 0,
        limit: (MAX_WORK / instructions.max(1)).clamp(10, 500),
        instructions: instructions as u64,
        work: Cell::new(0),
    };
    // Nothing can be proved if the program itself cannot be evaluated.
    optimizer.prove(program)?;
    optimizer.proofs = 0;
    let mut module = module.clone();
    if let Some(func) = module.funcs.get_mut(index) {
        let names = wanted.iter().filter_map(|n| module.names.find(n));
        let kept: Vec<ValueId> = names.filter_map(|n| func.find(n)).collect();
        func.outputs.extend(kept);
    }
    let mut steps = Vec::new();
    while let Some((better, step)) = optimizer.likely(&module).or_else(|| optimizer.other(&module)) {
        module = better;
        steps.push(step);
    }
    Ok(Optimized {
        text: optimizer.print(&module),
        steps,
        proofs: optimizer.proofs,
        is_cut: optimizer.proofs >= optimizer.limit,
        is_out_of_work: optimizer.is_out_of_work(),
    })
}

/// The contents of a kernel's tiles, by name.
fn contents(kernel: &Kernel, given: &Given) -> Result<HashMap<String, u64>> {
    let numbers: Vec<(ValueId, u32)> = kernel.func().args.iter().copied().zip(0..).collect();
    given.check(&[kernel])?;
    let watch = given.run(kernel, &mut given.terms(), &numbers, &[], Keep::Contents, &|_| true)?;
    let contents = watch.contents.unwrap_or_default().into_iter();
    Ok(contents.map(|(value, hash)| (kernel.name(value).to_string(), hash)).collect())
}

struct Optimizer<'a> {
    program: &'a Program,
    entry: Option<&'a str>,
    given: &'a Given,
    wanted: &'a [String],
    index: usize,
    kernel: &'a Kernel,
    /// The rules that the original breaks, none of them an error.
    rules: Vec<&'static str>,
    contents: HashMap<String, u64>,
    last: Option<FirstRun>,
    proofs: usize,
    limit: usize,
    /// The number of instructions of the original.
    instructions: u64,
    /// The work of guesses; that of proofs is counted with their terms.
    work: Cell<u64>,
}

/// The work of a change for each instruction of the program, and of reading, checking and preparing the result.
const CHANGE: u64 = 4;
const READ: u64 = 80;

impl Optimizer<'_> {
    fn is_out_of_work(&self) -> bool {
        let proofs = self.last.as_ref().map_or(0, FirstRun::work);
        self.work.get().saturating_add(proofs) > self.given.work
    }

    fn spend(&self, each: u64) {
        self.work.set(self.work.get().saturating_add(each.saturating_mul(self.instructions)));
    }

    /// Everything that is likely, together; where that cannot be proved, halves of it.
    fn likely(&mut self, module: &Module) -> Option<(Module, Step)> {
        let mut original = module.clone();
        let edit = Edit::new(&mut original, self.index)?;
        let hash = |v: ValueId| self.contents.get(edit.module.names.text(edit.func.value(v).name));
        let same = |a: ValueId, b: ValueId| hash(a).is_some() && hash(a) == hash(b);
        let mut seen: HashSet<OpId> = HashSet::new();
        let mut all: Vec<Candidate> = Vec::new();
        let mut tries = MAX_TRIES / edit.instructions().len().max(1);
        for candidate in candidates(module, self.index) {
            // One change of an instruction at a time; the others are tried in the next round.
            let is_new = candidate.op().is_none_or(|op| !seen.contains(&op));
            if !is_new || !candidate.is_likely(&edit, same) {
                continue;
            }
            // Looking at each change alone takes as long as the program is; of a long one, all are tried together.
            let alone = tries > 0;
            tries = tries.saturating_sub(1);
            if !alone || self.change(module, std::slice::from_ref(&candidate)).is_some() {
                seen.extend(candidate.op());
                all.push(candidate);
            }
        }
        self.prove_some(module, &all)
    }

    fn prove_some(&mut self, module: &Module, all: &[Candidate]) -> Option<(Module, Step)> {
        if all.is_empty() {
            return None;
        }
        let better = self.attempt(module, all);
        if better.is_some() || all.len() == 1 {
            return better;
        }
        let (first, second) = all.split_at(all.len() / 2);
        self.prove_some(module, first).or_else(|| self.prove_some(module, second))
    }

    /// The remaining candidates, one by one.
    fn other(&mut self, module: &Module) -> Option<(Module, Step)> {
        let all = candidates(module, self.index);
        all.iter().find_map(|candidate| self.attempt(module, std::slice::from_ref(candidate)))
    }

    /// The program after some changes, if that is shorter; not proved yet.
    fn change(&self, module: &Module, all: &[Candidate]) -> Option<(Module, Step)> {
        if self.is_out_of_work() {
            return None;
        }
        self.spend(CHANGE);
        let mut module = module.clone();
        let mut edit = Edit::new(&mut module, self.index)?;
        let before = edit.instructions();
        let changed = all.iter().filter_map(|candidate| candidate.apply(&mut edit)).collect();
        edit.remove_dead();
        let after = edit.instructions();
        let left: HashSet<OpId> = after.iter().map(|a| a.0).collect();
        let removed: Vec<Instruction> = before.iter().filter(|i| !left.contains(&i.0)).map(|i| i.1).collect();
        edit.finish();
        (after.len() < before.len()).then_some((module, Step { changed, removed }))
    }

    /// The program after some changes, if that is shorter, legal and equal.
    fn attempt(&mut self, module: &Module, all: &[Candidate]) -> Option<(Module, Step)> {
        if self.proofs >= self.limit {
            return None;
        }
        let better = self.change(module, all)?;
        self.spend(READ);
        let program = Program::read(self.print(&better.0), Some(self.program.profile()));
        let proved = self.prove(&program);
        if self.last.is_none() {
            // The original could not be run again within the work.
            self.work.set(u64::MAX);
        }
        proved.ok()?;
        Some(better)
    }

    fn print(&self, module: &Module) -> String {
        tessera_asm::print(&Parsed {
            module: module.clone(),
            diagnostics: Vec::new(),
            trivia: self.program.trivia().clone(),
            functions: Vec::new(),
            marks: Vec::new(),
        })
    }

    /// Whether a program is legal and equal to the original.
    fn prove(&mut self, other: &Program) -> Result<()> {
        let found = other.check();
        // A step that brings a new warning is none to take without being asked.
        if found.iter().any(|d| !d.is_error() && !self.rules.contains(&d.rule)) {
            return Err(Error::request("the change brings a new warning"));
        }
        if let Some(error) = Error::of(found) {
            return Err(error.in_text(other.source()));
        }
        self.proofs += 1;
        let a = self.kernel;
        let b = other.kernel_or_entry(self.entry)?;
        // Inputs keep their names and types; one that nothing reads any more may go.
        let known = |v: &ValueId| {
            let found = a.find(b.name(*v)).filter(|o| a.func().args.contains(o));
            found.is_some_and(|o| a.need(o) == b.need(*v))
        };
        if !b.func().args.iter().all(known) {
            return Err(Error::request("the programs have different inputs"));
        }
        match equiv_again(a, &b, self.given, Wanted::Own(self.wanted), false, &mut self.last) {
            Ok(Answer::Equal(_)) => Ok(()),
            Ok(Answer::Different(_)) => Err(Error::request("the programs differ")),
            Ok(Answer::Stopped(_, error)) | Err((_, error)) => Err(error),
        }
    }
}
