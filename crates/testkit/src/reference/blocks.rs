//! What hardware writes beside the window (ops.md 1.3; the footprint notes of ops.md and fixpipe.md 5).

use super::{Cell, Picture};
use tessera_isa::inst::{AccToVec, Inst};
use tessera_isa::ops::Opcode;
use tessera_isa::profile::Profile;
use tessera_isa::tile::{LayoutName, Loc, Tile};

/// The area that becomes undefined before the window is written.
pub(super) enum Footprint {
    Exact,
    /// Every 32-byte block that is touched.
    Blocks,
    /// Rows and columns from the window's origin.
    Rect(u64, u64),
}

impl Footprint {
    pub fn of(inst: &Inst, src: &Tile, dst: &Tile, extent: [u64; 2], extract: bool) -> Self {
        let [rows, cols] = extent;
        let c0 = dst.elem.c0();
        let is_insert = matches!(inst.op, Opcode::Tinsert | Opcode::TinsertFp);
        let is_move = matches!(inst.op, Opcode::Tmov | Opcode::TmovFp);
        let is_nz = |t: &Tile| t.layout_name() == LayoutName::Nz;
        if inst.profile == Profile::Cpu {
            return Footprint::Exact;
        }
        match (src.loc, dst.loc) {
            (Loc::Vec, Loc::Vec) if is_move && inst.profile == Profile::A2a3 => Footprint::Blocks,
            (Loc::Acc, Loc::Mat) => Footprint::Rect(if extract { rows } else { src.rows }, cols.next_multiple_of(c0)),
            (Loc::Acc, Loc::Vec) if is_nz(dst) => {
                let (half, unit) = match inst.attrs.acc_to_vec() {
                    Some(AccToVec::DualModeSplitM) => (2, 16),
                    Some(AccToVec::DualModeSplitN) => (1, 32),
                    _ => (1, c0),
                };
                Footprint::Rect(if extract { rows } else { src.rows / half }, cols.next_multiple_of(unit))
            }
            (Loc::Vec, Loc::Vec | Loc::Mat) if is_insert && is_nz(src) => {
                let rows = if inst.attrs.split().is_some() { rows.next_multiple_of(16) } else { rows };
                Footprint::Rect(rows, cols.next_multiple_of(c0))
            }
            _ => Footprint::Exact,
        }
    }

    /// Makes the area undefined, as far as it lies in the tile.
    pub fn clobber(&self, tile: &mut Picture, core: usize, at: [u64; 2], written: &[(u64, u64, Cell)]) {
        match self {
            Footprint::Exact => {}
            Footprint::Blocks => {
                let layout = tile.tile.layout();
                let bits = i64::from(tile.tile.elem.bits());
                for (r, c, _) in written {
                    let block = (layout.offset(*r, *c) * bits / 8 / 32 * 32) as usize;
                    tile.cores[core].defined.iter_mut().skip(block).take(32).for_each(|d| *d = 0);
                }
            }
            Footprint::Rect(rows, cols) => {
                for r in at[0]..(at[0] + rows).min(tile.tile.rows) {
                    for c in at[1]..(at[1] + cols).min(tile.tile.cols) {
                        let (at, elem) = (tile.tile.layout().offset(r, c), tile.tile.elem);
                        let cell = tile.cores[core].get(at, elem);
                        tile.cores[core].set(at, elem, Cell { defined: 0, ..cell });
                    }
                }
            }
        }
    }
}
