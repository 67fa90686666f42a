//! The effects of an instruction on its operands, from its row: one definition for verifier, planner, engine and front
//! ends.

use crate::inst::Inst;
use crate::ops::{Bind, Covers, Effect, FormInfo, Role};
use smallvec::SmallVec;

/// The effect on one tile operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub role: Role,
    /// The effect; [`Effect::View`] if only names change.
    pub effect: Effect,
    /// Whether every element of its declared area is written, so that older contents do not matter.
    pub covers: bool,
    /// Whether its valid region counts.
    pub needs_valid: bool,
}

impl Touch {
    /// Whether its bytes are read.
    pub fn reads(&self) -> bool {
        matches!(self.effect, Effect::Read | Effect::ReadWrite)
    }

    /// Whether its bytes change.
    pub fn writes(&self) -> bool {
        matches!(self.effect, Effect::Write | Effect::ReadWrite | Effect::Scratch)
    }
}

/// The effects on the operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    /// The tile operands, in the order of [`Inst::tiles`].
    pub tiles: SmallVec<[Touch; 4]>,
    /// The binding of the destination to storage.
    pub binds: Option<Bind>,
}

impl Effects {
    /// Whether the instruction moves or changes bytes at all. Views do not: their purpose is to share storage.
    pub fn moves(&self) -> bool {
        self.tiles.iter().any(|t| !matches!(t.effect, Effect::View | Effect::Unused))
    }
}

/// The effects of an instruction on its operands.
pub fn effects(inst: &Inst) -> Effects {
    let binds = inst.op.binds(inst.profile);
    let only_names = binds.is_some_and(Bind::only_names);
    let form = inst.op.form(inst.form);
    let tiles = inst.tiles.iter().map(|arg| {
        let row = form.and_then(|f| f.operand(arg.role));
        let is_valid = arg.valid == [Some(arg.tile.rows), Some(arg.tile.cols)];
        let covers = match row.map(|o| o.covers) {
            Some(Covers::Declared) => true,
            Some(Covers::Valid) => is_valid,
            Some(Covers::Sources) => is_valid && sources(inst, form) == Some(arg.tile.rows * arg.tile.cols),
            Some(Covers::Part) | None => false,
        };
        Touch {
            role: arg.role,
            effect: match row {
                _ if only_names => Effect::View,
                Some(o) if !o.is_used(inst.profile, &inst.attrs) => Effect::Unused,
                row => row.map_or(Effect::Read, |o| o.effect),
            },
            covers,
            needs_valid: row.is_some_and(|o| o.valid.has(inst.profile)),
        }
    });
    Effects { tiles: tiles.collect(), binds }
}

/// The total number of elements of the data sources, as far as the instruction reads them.
fn sources(inst: &Inst, form: Option<&FormInfo>) -> Option<u64> {
    let data = inst.tiles.iter().filter(|t| matches!(t.role, Role::Src | Role::Src0 | Role::Src1));
    data.map(|arg| {
        let by_valid = form.and_then(|f| f.operand(arg.role)).is_some_and(|o| o.valid.has(inst.profile));
        let [rows, cols] = if by_valid { arg.valid } else { [Some(arg.tile.rows), Some(arg.tile.cols)] };
        Some(rows? * cols?)
    })
    .sum()
}
