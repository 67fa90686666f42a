//! Cores: which code runs where, and that it can (isa/structure.md 4).

use super::report::Report;
use super::walk::Walk;
use tessera_ir::{Core, Func, Module, Op, OpKind, Runs};
use tessera_isa::diag::{Diagnostic, Fault, Severity, Span};
use tessera_isa::inst::Inst;
use tessera_isa::ops::Pipe;
use tessera_isa::profile::Profile;
use tessera_isa::sem::Sem;
use tessera_micro::Call;

impl Report {
    /// Reports a fault at an operation, once.
    pub(super) fn fault(&mut self, op: &Op, label: &str, fault: Fault) {
        self.fault_at(op.span, op.span, label, fault);
    }

    /// The same at another place of the operation.
    pub(super) fn fault_at(&mut self, op: Span, at: Span, label: &str, fault: Fault) {
        if fault.is_error() {
            self.refuse(op, fault.rule);
        }
        if self.is_new(at, fault.rule) {
            self.diagnostics.push(Diagnostic::from(fault).at(at, label));
        }
    }
}

/// `section-kind` and `mixed-outside-section` of a kernel without calls.
pub(super) fn check(module: &Module, func: &Func, profile: Profile, report: &mut Report) {
    let (cores, is_mixed) = (func.cores(), func.runs() == Runs::Mixed);
    func.walk(&mut |id, op, _| {
        let core = cores[id.index()];
        if let (Some(core), Some(section)) = (core, op.section_core())
            && core != section
        {
            let what = format!("a section for the {section} core stands in code for the {core} core");
            let help = format!("move it out, or write section.{core}");
            report.fault(op, "never runs", Fault::new("section-kind", what).help(help));
        }
        if is_mixed && core.is_none() && touches(op, profile) {
            let name = op.kind.name();
            let kernel = module.names.text(func.name);
            let what = format!("{name} stands outside of sections, and @{kernel} runs on cores of both kinds");
            let help = "move it into pto.section.cube or pto.section.vector";
            report.fault(op, "all three cores would run it", Fault::new("mixed-outside-section", what).help(help));
        }
    });
}

/// Whether an instruction touches a tile's bytes or writes global memory.
fn touches(op: &Op, profile: Profile) -> bool {
    let opcode = match &op.kind {
        OpKind::Pto(opcode, _) => *opcode,
        OpKind::Micro(call) => return call.is_on_pipe(),
        _ => return op.is_vecscope(),
    };
    let info = opcode.info();
    let prints_a_tile = matches!(info.sem, Sem::Prints) && !info.forms.is_empty();
    !opcode.only_names(profile) && (info.sem.computes() || matches!(info.sem, Sem::Stores | Sem::Gets) || prints_a_tile)
}

impl Walk<'_> {
    /// `kind-pipe`: the core has the pipe that does it.
    pub(super) fn check_pipe(&mut self, op: &Op, inst: &Inst) {
        if self.report.refused.contains_key(&op.span) || !touches(op, self.state.profile) {
            return;
        }
        let pipe = inst.pipe();
        let Some(core) = self.core else { return self.check_kind(op, inst, pipe) };
        let phases = inst.phases().phases.iter().map(|phase| phase.pipe);
        let Some(pipe) = phases.chain([pipe]).find(|pipe| !core.has(*pipe)) else { return };
        self.lacks_pipe(op, core, pipe);
    }

    /// `kind-pipe` of a micro instruction (micro/cube.md 2).
    pub(super) fn check_micro_pipe(&mut self, op: &Op, call: &Call) {
        let Some(core) = self.core.filter(|_| call.is_on_pipe()) else { return };
        let Some(pipe) = call.pipe() else { return };
        let is_cube = call.row.core == tessera_micro::Core::Cube;
        if !core.has(pipe) || is_cube && core == Core::Vector {
            self.lacks_pipe(op, core, pipe);
        }
    }

    fn lacks_pipe(&mut self, op: &Op, core: Core, pipe: Pipe) {
        let name = op.kind.name();
        let what = format!("{name} runs on pipe {pipe} here, which the {core} core does not have");
        let mut fault = Fault::new("kind-pipe", what).help(format!("move it into code for the {} core", core.other()));
        if self.state.profile == Profile::Cpu {
            fault.severity = Severity::Warning;
        }
        self.report.fault(op, "", fault);
    }
    /// `unsplit-core`: code without sections runs on one core, which has the pipes of one kind on hardware.
    fn check_kind(&mut self, op: &Op, inst: &Inst, pipe: Pipe) {
        if self.state.profile == Profile::Cpu || !self.is_unsplit || self.dead {
            return;
        }
        let (cube, vector) = (Core::Cube.has(pipe), Core::Vector.has(pipe));
        if cube == vector {
            return;
        }
        let kind = usize::from(vector);
        let is_first = self.kinds[kind].is_none();
        self.kinds[kind].get_or_insert((op.span, inst.op));
        let Some((other, before)) = self.kinds[1 - kind].filter(|_| is_first) else { return };
        let (core, profile) = (if cube { Core::Cube } else { Core::Vector }, self.state.profile);
        if !self.report.is_new(op.span, "unsplit-core") {
            return;
        }
        let what = format!(
            "{} runs on pipe {pipe} of the {core} core, and {} on the {} core: no core of {profile} has both",
            inst.op.title(),
            before.title(),
            core.other()
        );
        let help = "put each kind into a pto.section.cube or pto.section.vector of its own, and hand tiles over with a \
                    FIFO (pto.tpush_to_aiv, pto.tpop_from_aic) or through global memory with pto.sync.set and sync.wait";
        let found = Diagnostic::from(Fault::new("unsplit-core", what).help(help)).at(op.span, format!("{core} core"));
        self.report.diagnostics.push(found.and_at(other, format!("{} core", core.other())));
    }
}
