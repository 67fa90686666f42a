//! What hardware writes beside the window (ops.md 1.3; the footprint notes of ops.md and fixpipe.md 5).

use super::{Cell, Content, Picture};
use tessera_isa::inst::{AccToVec, Inst};
use tessera_isa::ops::Opcode;
use tessera_isa::profile::Profile;
use tessera_isa::tile::{LayoutName, Loc, Tile};

/// The area that becomes undefined before the window is written.
pub(super) enum Footprint {
    /// Nothing.
    Exact,
    /// Every 32-byte block that is touched.
    Blocks,
    /// Rows and columns from the window's origin.
    Rect(u64, u64),
}

fn round_up(x: u64, n: u64) -> u64 {
    x.div_ceil(n) * n
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
            (Loc::Acc, Loc::Mat) => {
                let all = if extract { rows } else { src.rows };
                Footprint::Rect(all, round_up(cols, c0))
            }
            (Loc::Acc, Loc::Vec) if is_nz(dst) => {
                let mode = inst.attrs.acc_to_vec();
                let (half, unit) = match mode {
                    Some(AccToVec::DualModeSplitM) => (2, 16),
                    Some(AccToVec::DualModeSplitN) => (1, 32),
                    _ => (1, c0),
                };
                let all = if extract { rows } else { src.rows / half };
                Footprint::Rect(all, round_up(cols, unit))
            }
            (Loc::Vec, Loc::Vec | Loc::Mat) if is_insert && is_nz(src) => {
                let rows = if inst.attrs.split().is_some() { round_up(rows, 16) } else { rows };
                Footprint::Rect(rows, round_up(cols, c0))
            }
            _ => Footprint::Exact,
        }
    }

    /// Makes the area undefined, as far as it lies in the tile.
    pub fn clobber(&self, tile: &mut Picture, core: u8, at: [u64; 2], written: &[(u64, u64, Cell)]) {
        match self {
            Footprint::Exact => {}
            Footprint::Blocks => {
                let layout = tile.tile.layout();
                let bits = i64::from(tile.tile.elem.bits());
                let content: &mut Content = &mut tile.cores[usize::from(core & 1)];
                for (r, c, _) in written {
                    let block = (layout.offset(*r, *c) * bits / 8 / 32 * 32) as usize;
                    content.defined.iter_mut().skip(block).take(32).for_each(|d| *d = 0);
                }
            }
            Footprint::Rect(rows, cols) => {
                for r in at[0]..(at[0] + rows).min(tile.tile.rows) {
                    for c in at[1]..(at[1] + cols).min(tile.tile.cols) {
                        let (at, elem) = (tile.tile.layout().offset(r, c), tile.tile.elem);
                        let content: &mut Content = &mut tile.cores[usize::from(core & 1)];
                        let cell = content.get(at, elem);
                        content.set(at, elem, Cell { defined: 0, ..cell });
                    }
                }
            }
        }
    }
}
