//! The vector unit (isa/elementwise.md 2, scalar.md 2, reduce.md 2).

use super::*;
use tessera_isa::ops::TmpAsk;

pub(super) fn tmp(_inst: &Inst, _rule: &'static str, _ask: TmpAsk) -> Option<Fault> {
    None
}

pub(super) fn check(_inst: &Inst, _rule: &RuleUse) -> Option<Fault> {
    None
}
