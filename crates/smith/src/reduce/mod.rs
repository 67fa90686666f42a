//! Makes a failing program small: delta debugging (Zeller and Hildebrandt, *Simplifying and Isolating Failure-Inducing
//! Input*, TSE 2002) on the program itself, so that every try is a program.
//!
//! Operations go in halves, quarters and so on, with what depends on them; functions, loops and branches go or are
//! opened; results become arguments; extents, element types, numbers and attributes become smaller or plain. Whatever
//! still fails is kept, until nothing smaller does.

mod edit;

use edit::OpAt;
use rustc_hash::FxHashSet;
use tessera::{Diagnostic, Program};
use tessera_asm::{Parsed, Trivia};
use tessera_ir::{Module, OpKind};
use tessera_isa::elem::Elem;

/// What is asked of the programs that are tried.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// Whether a try has to be legal, as the first program is.
    pub keeps_legal: bool,
    /// Tries, at most.
    pub most: usize,
}

impl Default for Goal {
    fn default() -> Self {
        Goal { keeps_legal: true, most: 20_000 }
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The smallest program that was found.
    pub text: String,
    /// Operations of the first program, and of this one; ends of blocks are not counted.
    pub operations: [usize; 2],
    /// Programs that were tried.
    pub tries: usize,
    /// Whether the limit of tries ended it.
    pub is_cut: bool,
}

/// The operations of a program; ends of blocks are not counted.
pub fn operations(program: &Program) -> usize {
    edit::ops(program.module()).len()
}

/// Makes a program smaller as long as the test says that it still fails. Every better program is told at once.
pub fn reduce(
    program: &Program,
    goal: &Goal,
    fails: &mut dyn FnMut(&Program) -> bool,
    better: &mut dyn FnMut(&str),
) -> Reduced {
    let before = operations(program);
    let mut search = Search { current: program.clone(), goal, fails, better, tries: 0 };
    // Comments and locations say nothing about the failure.
    let module = program.module().clone();
    search.attempt(module);
    search.run();
    Reduced {
        text: search.current.text(None),
        operations: [before, operations(&search.current)],
        tries: search.tries,
        is_cut: search.tries >= goal.most,
    }
}

struct Search<'a> {
    current: Program,
    goal: &'a Goal,
    fails: &'a mut dyn FnMut(&Program) -> bool,
    better: &'a mut dyn FnMut(&str),
    tries: usize,
}

impl Search<'_> {
    fn module(&self) -> &Module {
        self.current.module()
    }

    /// Takes a program over if it is whole, legal where that is asked, and still fails.
    fn attempt(&mut self, mut module: Module) -> bool {
        if self.tries >= self.goal.most {
            return false;
        }
        module.loc = None;
        for func in &mut module.funcs {
            func.loc = None;
            func.ops.iter_mut().for_each(|op| op.loc = None);
            func.arg_locs.clear();
        }
        if self.goal.keeps_legal && module.funcs.iter().any(|f| f.body.index() >= f.blocks.len()) {
            return false;
        }
        let (diagnostics, trivia, functions) = (Vec::new(), Trivia::default(), Vec::new());
        let text = tessera_asm::print(&Parsed { module, diagnostics, trivia, functions, marks: Vec::new() });
        if text == **self.current.source() {
            return false;
        }
        self.tries += 1;
        let program = Program::read(&text, Some(self.current.profile()));
        if program.has_errors() || self.goal.keeps_legal && program.check().iter().any(Diagnostic::is_error) {
            return false;
        }
        if !(self.fails)(&program) {
            return false;
        }
        (self.better)(&text);
        self.current = program;
        true
    }

    fn run(&mut self) {
        loop {
            let before = self.current.source().clone();
            self.functions();
            self.operations();
            self.flow();
            self.promote();
            self.one_by_one(edit::operands);
            self.operations();
            self.sizes();
            self.one_by_one(edit::constants);
            self.one_by_one(edit::attributes);
            self.operations();
            if *self.current.source() == before || self.tries >= self.goal.most {
                return;
            }
        }
    }

    fn functions(&mut self) {
        let mut at = self.module().funcs.len();
        while at > 0 && self.module().funcs.len() > 1 {
            at -= 1;
            if let Some(other) = edit::without_function(self.module(), at) {
                self.attempt(other);
            }
            at = at.min(self.module().funcs.len());
        }
        // Without calls there is one function to work on.
        if self.module().funcs.len() > 1
            && let Ok(kernel) = self.current.entry()
        {
            let mut module = self.module().clone();
            let mut func = kernel.func().clone();
            let mut seen = FxHashSet::default();
            for n in 0..func.values.len() {
                if !seen.insert(func.values[n].name) {
                    let name = format!("{}_{n}", module.names.text(func.values[n].name));
                    func.values[n].name = module.names.intern(&name);
                    seen.insert(func.values[n].name);
                }
            }
            func.homes.clear();
            module.funcs = vec![func];
            self.attempt(module);
        }
    }

    /// Operations, in chunks that become smaller.
    fn operations(&mut self) {
        let mut size = edit::ops(self.module()).len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            loop {
                // The last ones first: what nothing depends on goes alone.
                let mut all = edit::ops(self.module());
                all.reverse();
                if at >= all.len() {
                    break;
                }
                let chunk: FxHashSet<OpAt> = all.iter().skip(at).take(size).copied().collect();
                let mut other = self.module().clone();
                edit::remove(&mut other, &chunk);
                if !self.attempt(other) {
                    at += size;
                }
                if self.tries >= self.goal.most {
                    return;
                }
            }
            size /= 2;
        }
    }

    /// Loops, branches and sections opened.
    fn flow(&mut self) {
        let mut at = 0;
        loop {
            let all = edit::ops(self.module());
            let is_flow = |(n, id): &&OpAt| matches!(self.module().funcs[*n].op(*id).kind, OpKind::For | OpKind::If);
            let Some(place) = all.iter().filter(is_flow).nth(at).copied() else { return };
            let tried = [0, 1]
                .into_iter()
                .any(|which| edit::unwrap(self.module(), place, which).is_some_and(|other| self.attempt(other)));
            if !tried {
                at += 1;
            }
        }
    }

    /// Results as arguments: all at once, then each alone.
    fn promote(&mut self) {
        let has_results = |module: &Module| -> Vec<OpAt> {
            let all = edit::ops(module).into_iter();
            all.filter(|(n, id)| !module.funcs[*n].op(*id).results.is_empty()).collect()
        };
        let all = has_results(self.module());
        if edit::promote(self.module(), &all).is_some_and(|other| self.attempt(other)) {
            return;
        }
        let mut at = 0;
        loop {
            let all = has_results(self.module());
            let Some(place) = all.get(at) else { return };
            if !edit::promote(self.module(), &[*place]).is_some_and(|other| self.attempt(other)) {
                at += 1;
            }
        }
    }

    fn one_by_one(&mut self, changes: fn(&Module, OpAt) -> Vec<Module>) {
        let mut at = 0;
        loop {
            let Some(place) = edit::ops(self.module()).get(at).copied() else { return };
            let all = changes(self.module(), place);
            if !all.into_iter().any(|other| self.attempt(other)) {
                at += 1;
            }
            if self.tries >= self.goal.most {
                return;
            }
        }
    }

    /// Extents, element types, and what types carry besides.
    fn sizes(&mut self) {
        for from in edit::extents(self.module()) {
            for to in [1, 8, 16, 32, from / 2] {
                if to > 0 && to < from && self.attempt(edit::resize(self.module(), from, to)) {
                    break;
                }
            }
        }
        for from in edit::elems(self.module()) {
            if from != Elem::F32
                && let Some(other) = edit::retype(self.module(), from, Elem::F32)
            {
                self.attempt(other);
            }
        }
        for other in edit::plain_types(self.module()) {
            self.attempt(other);
        }
    }
}
