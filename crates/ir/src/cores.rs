//! The cores that run functions and sections (isa/structure.md 4): kinds of functions, sections, and tokens between
//! cores.

use crate::{Arg, BlockId, Dialect, Func, Module, Op, OpKind};
use tessera_isa::ops::{Opcode, Order, Pipe, Role};
use tessera_isa::profile::Profile;
pub use tessera_isa::sem::Core;
use tessera_isa::sem::Sem;

/// The attribute that marks a function, or a module with all of its functions.
pub const KERNEL_KIND: &str = "pto.kernel_kind";

/// The kind of core that attributes mark.
pub fn kind_of(attrs: &[(String, String)]) -> Option<Core> {
    let (_, value) = attrs.iter().find(|(key, _)| key == KERNEL_KIND)?;
    Core::ALL.iter().copied().find(|core| value.contains(core.name()))
}

/// The processes of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// One process that has all pipes and memories.
    Unsplit,
    /// One core of a kind: one process.
    One(Core),
    /// The cube core and two vector cores, each from the start of the kernel.
    Mixed,
}

impl Op {
    /// The kind of core that a section is for.
    pub fn section_core(&self) -> Option<Core> {
        let kind = self.section()?.strip_prefix("section.")?;
        Core::ALL.iter().copied().find(|core| core.name() == kind)
    }

    /// Makes a section of two blocks, the second of which is empty.
    pub fn section_of(core: Core, body: BlockId, empty: BlockId, span: tessera_isa::diag::Span) -> Op {
        let mut op = Op::new(OpKind::If, crate::TextForm::Ssa, span);
        op.operands.push(crate::Operand { role: Role::Number, arg: Arg::Int(1), span, type_span: span });
        op.blocks.extend([body, empty]);
        op.attrs_mut().words.push(format!("section.{core}"));
        op
    }

    /// Whether a token between cores is as on a2a3: one set gives a token to both vector cores, and a wait holds up the whole
    /// core. So it is there, and from 0.60 on everywhere for `sync.set` and `sync.wait` (isa/today.md 8.3).
    pub fn is_wide_token(&self, module: &Module, profile: Profile) -> bool {
        let is_sync = matches!(self.opcode(), Some(Opcode::SyncSet | Opcode::SyncWait));
        profile == Profile::A2a3 || is_sync && module.dialect.is_some_and(|dialect| dialect >= Dialect::V0_60)
    }

    /// The pipe and the id of `sync.set` and `sync.wait`.
    pub fn token(&self) -> Option<(Pipe, Arg)> {
        let OpKind::Pto(opcode, _) = self.kind else { return None };
        if !matches!(opcode.info().sem, Sem::Orders(Order::CoreSet | Order::CoreWait)) {
            return None;
        }
        let words = &self.attrs.as_deref()?.words;
        let pipe = Pipe::ALL.iter().copied().find(|pipe| words.first().is_some_and(|w| w == pipe.cpp()))?;
        let written = words.get(1).and_then(|id| id.parse().ok()).map(Arg::Int);
        Some((pipe, written.or(self.operands.first().map(|o| o.arg))?))
    }
}

impl Op {
    /// Whether it is a token whose ids count modulo 16 on a vector core (micro/cube.md 8).
    pub fn is_block_token(&self) -> bool {
        matches!(self.opcode(), Some(Opcode::SetIntraBlock | Opcode::WaitIntraBlock))
    }
}

impl Func {
    /// The cores that the function, without calls, runs on.
    pub fn runs(&self) -> Runs {
        if let Some(core) = self.core {
            return Runs::One(core);
        }
        let (mut cube, mut vector) = (false, false);
        for core in self.ops.iter().filter_map(Op::section_core) {
            cube |= core == Core::Cube;
            vector |= core == Core::Vector;
        }
        match (cube, vector) {
            (true, true) => Runs::Mixed,
            (true, false) => Runs::One(Core::Cube),
            (false, true) => Runs::One(Core::Vector),
            (false, false) => Runs::Unsplit,
        }
    }

    /// By operation: the kind of core that runs it, where only one kind does.
    pub fn cores(&self) -> Vec<Option<Core>> {
        let one = if let Runs::One(core) = self.runs() { Some(core) } else { None };
        let mut cores = vec![one; self.ops.len()];
        self.mark(self.body, one, &mut cores);
        cores
    }

    fn mark(&self, block: BlockId, core: Option<Core>, cores: &mut [Option<Core>]) {
        for id in &self.block(block).ops {
            let op = self.op(*id);
            cores[id.index()] = core;
            let inner = core.or(op.section_core());
            op.blocks.iter().for_each(|block| self.mark(*block, inner, cores));
        }
    }
}
