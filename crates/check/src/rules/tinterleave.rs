//! TINTERLEAVE and TDEINTERLEAVE (PTO ISA, TINTERLEAVE page; ops.md 8).

use super::*;

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    shape(inst).or_else(|| even(inst))
}

fn shape(inst: &Inst) -> Option<Fault> {
    let one_source = inst.form == Form::OneSource;
    for (axis, word) in ["rows", "columns"].into_iter().enumerate() {
        // In units of a destination's extent: the only source holds the columns of both.
        let mut known = inst.tiles.iter().filter_map(|t| {
            let whole = one_source && t.role == Role::Src0 && axis == 1;
            Some((t.role, t.valid[axis]?, if whole { 2 } else { 1 }))
        });
        let Some((first, n, k)) = known.next() else { continue };
        if let Some((role, m, l)) = known.find(|(_, m, l)| n * l != m * k) {
            let what = if k == l {
                format!("{first} has {n} valid {word} and {role} has {m}")
            } else {
                format!("the source has {n} valid {word}, which is not twice the {m} of {role}")
            };
            let help = format!("set the valid {word} of {role} to {}", n * l / k);
            return broken(inst, role, "tinterleave-shape", what, help);
        }
    }
    None
}

fn even(inst: &Inst) -> Option<Fault> {
    let role = if inst.form == Form::OneSource { Role::Src0 } else { Role::Dst0 };
    let v = inst.tile(role)?.valid[1].filter(|v| v % 2 == 1)?;
    let what = format!("{v} valid columns cannot be taken in pairs");
    broken(inst, role, "tinterleave-even", what, format!("v_col {v} → {}", v + 1))
}
