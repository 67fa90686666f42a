//! The instructions that rearrange rows and columns (ops.md 5, 6, 8).

use super::blocks::Footprint;
use super::{Cell, Done, Reference};
use tessera_isa::codec::Number;
use tessera_isa::ops::{Form, Role};
use tessera_isa::profile::Profile;

impl Reference<'_> {
    /// TTRANS: `dst(j,i) = src(i,j)`; a5 takes the declared shape.
    pub(super) fn transpose(&mut self) -> Option<Done> {
        let d = self.index(Role::Dst)?;
        let src = self.source(Role::Src)?.clone();
        let [rows, cols] = if self.inst.profile == Profile::A5 { [src.tile.rows, src.tile.cols] } else { src.valid };
        if let Some(tmp) = self.index(Role::Tmp) {
            self.tiles.get_mut(tmp)?.cores[0].defined.fill(0);
        }
        let mut written = Vec::new();
        for i in 0..rows {
            for j in 0..cols {
                written.push((j, i, src.get(i, j)));
            }
        }
        self.put(d, written)
    }

    /// Writes elements; a2a3 touches whole blocks.
    fn put(&mut self, d: usize, written: Vec<(u64, u64, Cell)>) -> Option<Done> {
        if self.inst.profile == Profile::A2a3 {
            Footprint::Blocks.clobber(self.tiles.get_mut(d)?, 0, [0, 0], &written);
        }
        for (r, c, cell) in written {
            self.tiles.get_mut(d)?.set(0, r, c, cell);
        }
        Some(Ok(false))
    }

    /// TCONCAT: `dst(i, j) = j < src0.Cv ? src0(i,j) : src1(i, j-src0.Cv)`, or along the rows.
    pub(super) fn join(&mut self) -> Option<Done> {
        let d = self.index(Role::Dst)?;
        let (a, b) = (self.source(Role::Src0)?.clone(), self.source(Role::Src1)?.clone());
        let mut written = Vec::new();
        if self.inst.attrs.dim() == 0 {
            for j in 0..a.valid[1] {
                for i in 0..a.valid[0] + b.valid[0] {
                    let cell = if i < a.valid[0] { a.get(i, j) } else { b.get(i - a.valid[0], j) };
                    written.push((i, j, cell));
                }
            }
        } else {
            for i in 0..a.valid[0] {
                for j in 0..a.valid[1] + b.valid[1] {
                    let cell = if j < a.valid[1] { a.get(i, j) } else { b.get(i, j - a.valid[1]) };
                    written.push((i, j, cell));
                }
            }
        }
        self.put(d, written)
    }

    /// Indexed TCONCAT.
    pub(super) fn join_indexed(&mut self) -> Option<Done> {
        let d = self.index(Role::Dst)?;
        let [rows, limit] = self.old.get(d)?.valid;
        for i in 0..rows {
            let mut at = 0;
            let mut total = 0;
            let mut size = 1;
            for idx in [Role::Idx0, Role::Idx1] {
                let counts = self.source(idx)?;
                let mask = counts.tile.elem.mask();
                if counts.get(i, 0).defined & mask != mask {
                    return Some(Err("undefined-use"));
                }
            }
            for (idx, src) in [(Role::Idx0, Role::Src0), (Role::Idx1, Role::Src1)] {
                let (counts, src) = (self.source(idx)?, self.source(src)?.clone());
                let raw = counts.get(i, 0);
                let elem = counts.tile.elem;
                size = elem.size()?;
                let Number::Int(bytes) = elem.decode(raw.bits) else {
                    return None;
                };
                if bytes < 0 || bytes as u64 / size > src.valid[1] {
                    return Some(Err("tconcat-index"));
                }
                let n = bytes as u64 / size;
                total += n;
                for j in 0..n {
                    if at < limit {
                        let cell = src.get(i, j);
                        self.tiles.get_mut(d)?.set(0, i, at, cell);
                        at += 1;
                    }
                }
            }
            if let Some(out) = self.index(Role::DstIdx) {
                let value = total.min(limit) * size;
                self.tiles.get_mut(out)?.set(0, i, 0, Cell::of(value));
            }
        }
        Some(Ok(false))
    }

    /// TPACK: the low bytes of every element.
    pub(super) fn pack(&mut self) -> Option<Done> {
        let d = self.index(Role::Dst)?;
        let src = self.source(Role::Src)?.clone();
        for i in 0..src.valid[0] {
            for j in 0..src.valid[1] {
                self.tiles.get_mut(d)?.set(0, i, j, src.get(i, j));
            }
        }
        Some(Ok(false))
    }

    /// TFILLPAD, TFILLPAD_INPLACE, TFILLPAD_EXPAND, from a tile or from a value.
    pub(super) fn fill_padding(&mut self) -> Option<Done> {
        let d = self.index(Role::Dst)?;
        let dst = self.old.get(d)?.clone();
        let (src, bits) = if self.inst.form == Form::Fill {
            (dst.clone(), self.fill_value(dst.tile.elem)?)
        } else {
            (self.source(Role::Src)?.clone(), dst.tile.pad_bits()?)
        };
        for r in 0..dst.tile.rows {
            for c in 0..dst.tile.cols {
                let inside = r < src.valid[0] && c < src.valid[1];
                let cell = if inside { src.get(r, c) } else { Cell::of(bits) };
                self.tiles.get_mut(d)?.set(0, r, c, cell);
            }
        }
        if self.inst.op.info().expands {
            let tile = self.tiles.get_mut(d)?;
            let declared = [tile.tile.rows, tile.tile.cols];
            let extents = [tile.tile.v_row, tile.tile.v_col];
            for axis in 0..2 {
                if extents[axis].known().is_none() {
                    tile.valid[axis] = declared[axis];
                }
            }
        }
        Some(Ok(false))
    }

    /// TINTERLEAVE.
    pub(super) fn interleave(&mut self) -> Option<Done> {
        let (d0, d1) = (self.index(Role::Dst0)?, self.index(Role::Dst1)?);
        let (s0, s1) = (self.source(Role::Src0)?.clone(), self.source(Role::Src1)?.clone());
        let [rows, v] = s0.valid;
        let h = v / 2;
        for i in 0..rows {
            for k in 0..h {
                self.tiles.get_mut(d0)?.set(0, i, 2 * k, s0.get(i, k));
                self.tiles.get_mut(d0)?.set(0, i, 2 * k + 1, s1.get(i, k));
                self.tiles.get_mut(d1)?.set(0, i, 2 * k, s0.get(i, h + k));
                self.tiles.get_mut(d1)?.set(0, i, 2 * k + 1, s1.get(i, h + k));
            }
        }
        Some(Ok(false))
    }

    /// TDEINTERLEAVE, of two sources or of one.
    pub(super) fn deinterleave(&mut self) -> Option<Done> {
        let (d0, d1) = (self.index(Role::Dst0)?, self.index(Role::Dst1)?);
        let s0 = self.source(Role::Src0)?.clone();
        let [rows, v] = self.old.get(d0)?.valid;
        let Some(s1) = self.source(Role::Src1).cloned() else {
            for i in 0..rows {
                for k in 0..v {
                    self.tiles.get_mut(d0)?.set(0, i, k, s0.get(i, 2 * k));
                    self.tiles.get_mut(d1)?.set(0, i, k, s0.get(i, 2 * k + 1));
                }
            }
            return Some(Ok(false));
        };
        let h = v / 2;
        for i in 0..rows {
            for k in 0..h {
                self.tiles.get_mut(d0)?.set(0, i, k, s0.get(i, 2 * k));
                self.tiles.get_mut(d1)?.set(0, i, k, s0.get(i, 2 * k + 1));
                self.tiles.get_mut(d0)?.set(0, i, h + k, s1.get(i, 2 * k));
                self.tiles.get_mut(d1)?.set(0, i, h + k, s1.get(i, 2 * k + 1));
            }
        }
        Some(Ok(false))
    }
}
