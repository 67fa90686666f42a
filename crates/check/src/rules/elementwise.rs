//! Elementwise instructions (isa/elementwise.md 2).

use super::*;

/// `-valid`: sources and destination have equal valid regions; scratch has a rule of its own.
pub(super) fn same_valid(inst: &Inst, rule: Rule) -> Option<Fault> {
    let tiles = || inst.tiles.iter().filter(|t| inst.op.effect(inst.form, t.role) != Effect::Scratch);
    for (axis, name) in ["rows", "columns"].into_iter().enumerate() {
        let known = || tiles().filter_map(|t| Some((t.role, t.valid[axis]?)));
        let Some((last, n)) = known().next_back() else { continue };
        if let Some((role, m)) = known().find(|(_, m)| *m != n) {
            let what = format!("{role} has {m} valid {name} and {last} has {n}");
            return broken(inst, role, rule, what, format!("set the valid {name} of {role} to {n}"));
        }
    }
    None
}
