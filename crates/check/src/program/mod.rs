//! Whole programs: a walk over the IR with the values that are known without running it.
//!
//! Scalars are known or not; tiles have a type, a layout, a place and valid extents, each known or not
//! ([`tessera_absint`]). Loops with constant bounds are walked iteration by iteration while a budget lasts, others
//! once with everything that changes in them unknown. If the condition of a branch is known, only the taken arm is
//! walked. Code that is never reached is checked too, as far as types go. At every instruction the walk builds an
//! `Inst` and calls [`crate::check`].
//!
//! Each operation reports a rule once, with the first iteration at which it is broken.

mod alias;
mod comm;
mod contents;
mod cores;
mod fifos;
mod global;
mod levels;
mod meetings;
mod micro;
mod micro_scope;
mod operand;
mod report;
mod slots;
mod walk;

use report::Report;
use rustc_hash::FxHashSet;
use tessera_ir::inline::{inline, join};
use tessera_ir::scalar::Constants;
use tessera_ir::{Func, Module, NameId, OpKind};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::inst::Inst;
use tessera_isa::profile::Profile;
use walk::Walk;

/// The findings of one function of a module, whose calls are inlined ([`tessera_ir::inline`]).
pub fn check_program(module: &Module, func: &Func, profile: Profile) -> Vec<Diagnostic> {
    let mut report = Report::default();
    check_kernel(module, func, profile, &mut report);
    report.in_text_order()
}

/// One function without calls: cores and FIFOs, then every instruction.
fn check_kernel(module: &Module, func: &Func, profile: Profile, report: &mut Report) {
    // A function that was read with errors may have values without a type.
    let broken = tessera_ir::verify(module, func);
    if !broken.is_empty() {
        return report.diagnostics.extend(broken);
    }
    cores::check(module, func, profile, report);
    fifos::check(module, func, profile, report);
    levels::check(module, func, profile, report);
    meetings::check(module, func, report);
    comm::check(func, report);
    micro_scope::check(module, func, profile, report);
    let constants = Constants::new(module, func);
    Walk::new(module, func, profile, &constants, report).run();
}

/// The findings of every function of a module: the entry with its calls inlined, then each function that it does not
/// reach, with unknown arguments.
pub fn check_module(module: &Module, profile: Profile) -> Vec<Diagnostic> {
    walk_module(module, profile, Report::default()).in_text_order()
}

/// The instructions on tiles of a module, in text order, legal or not: each as the walk first visits it, with the
/// values that are known there.
pub fn instructions(module: &Module, profile: Profile) -> Vec<(Span, Inst)> {
    let report = walk_module(module, profile, Report::meeting());
    let mut met: Vec<(Span, Inst)> = report.met.unwrap_or_default().into_iter().collect();
    met.sort_by_key(|(span, _)| span.start);
    met
}

fn walk_module(module: &Module, profile: Profile, mut report: Report) -> Report {
    let called: FxHashSet<NameId> = module.funcs.iter().flat_map(|f| f.callees()).collect();
    let entry = module.entry(None).map(|f| f.name);
    let mut reached = FxHashSet::default();
    // The entry first, then functions without callers, then the rest: functions that call each other in a cycle.
    let order = |f: &&Func| (Some(f.name) != entry, called.contains(&f.name));
    let mut funcs: Vec<&Func> = module.funcs.iter().collect();
    funcs.sort_by_key(order);
    for func in funcs {
        if reached.contains(&func.name) {
            continue;
        }
        reach(module, func, &mut reached);
        // Both ends of a FIFO are looked at together.
        let group = module.together(func);
        if let Some(Ok(joined)) = (group.len() > 1).then(|| join(module, &group)) {
            group.iter().for_each(|func| reach(module, func, &mut reached));
            check_kernel(module, &joined, profile, &mut report);
            continue;
        }
        match inline(module, func) {
            Ok(inlined) => check_kernel(module, &inlined, profile, &mut report),
            Err(found) if found.span.is_some_and(|span| !report.is_new(span, found.rule)) => {}
            Err(found) => report.diagnostics.push(*found),
        }
    }
    report
}

fn reach(module: &Module, func: &Func, reached: &mut FxHashSet<NameId>) {
    let mut next = vec![func];
    while let Some(func) = next.pop() {
        if reached.insert(func.name) {
            let callees = func.callees();
            next.extend(module.funcs.iter().filter(|f| callees.contains(&f.name)));
        }
    }
}

/// The legality of each instruction on each profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portability {
    /// The instructions, in text order.
    pub rows: Vec<PortabilityRow>,
}

/// One instruction of a [`Portability`] table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortabilityRow {
    pub span: Span,
    pub mnemonic: &'static str,
    /// Per profile, in the order of [`Profile::ALL`]: the rule that refuses it, or `None` where it is legal.
    pub refused: [Option<&'static str>; 3],
}

impl Portability {
    /// Whether every instruction is legal on the profile.
    pub fn is_legal(&self, profile: Profile) -> bool {
        self.rows.iter().all(|row| row.refused[profile as usize].is_none())
    }
}

/// The legality of a module's instructions on each profile: every instruction that has rules, with the first rule that
/// refuses it.
pub fn portability(module: &Module) -> Portability {
    let reports = Profile::ALL.map(|profile| walk_module(module, profile, Report::default()));
    let mut rows = Vec::new();
    for func in &module.funcs {
        func.walk(&mut |_, op, _| {
            let mnemonic = match &op.kind {
                OpKind::Pto(opcode, _) if !opcode.info().rules.is_empty() => opcode.mnemonic(),
                OpKind::Micro(call) => call.name,
                _ => return,
            };
            let refused = [0, 1, 2].map(|i: usize| reports[i].refused.get(&op.span).copied());
            rows.push(PortabilityRow { span: op.span, mnemonic, refused });
        });
    }
    rows.sort_by_key(|row| row.span.start);
    Portability { rows }
}
