//! The instructions that rearrange rows and columns (ops.md 5, 6, 8).

use super::blocks::Footprint;
use super::{Cell, Done, NO_MEANING, Picture, Reference, area, number};
use tessera_isa::codec::Number;
use tessera_isa::ops::{Form, Role};
use tessera_isa::profile::Profile;

impl Reference<'_> {
    /// TTRANS: `dst(j,i) = src(i,j)`; a5 takes the declared shape.
    pub(super) fn transpose(&mut self) -> Done {
        let (d, src) = (self.index(Role::Dst)?, self.source(Role::Src)?);
        let extent = if self.inst.profile == Profile::A5 { [src.tile.rows, src.tile.cols] } else { src.valid };
        self.scratch();
        self.put(d, area(extent).map(|[i, j]| (j, i, src.get(i, j))).collect())
    }

    /// Writes elements; a2a3 touches whole blocks.
    fn put(&mut self, d: usize, written: Vec<(u64, u64, Cell)>) -> Done {
        if self.inst.profile == Profile::A2a3 {
            Footprint::Blocks.clobber(&mut self.tiles[d], 0, [0, 0], &written);
        }
        self.tiles[d].put(0, written);
        Ok(false)
    }

    /// TCONCAT: `dst(i, j) = j < src0.Cv ? src0(i,j) : src1(i, j-src0.Cv)`, or along the rows.
    pub(super) fn join(&mut self) -> Done {
        let (d, a, b) = (self.index(Role::Dst)?, self.source(Role::Src0)?, self.source(Role::Src1)?);
        let [rows, cols] = a.valid;
        let (extent, [down, right]) = match self.inst.attrs.dim() {
            0 => ([rows + b.valid[0], cols], [rows, 0]),
            _ => ([rows, cols + b.valid[1]], [0, cols]),
        };
        let cell = |i: u64, j: u64| if i < rows && j < cols { a.get(i, j) } else { b.get(i - down, j - right) };
        self.put(d, area(extent).map(|[i, j]| (i, j, cell(i, j))).collect())
    }

    /// Indexed TCONCAT.
    pub(super) fn join_indexed(&mut self) -> Done {
        let d = self.index(Role::Dst)?;
        let [rows, limit] = self.old[d].valid;
        for i in 0..rows {
            let (mut at, mut total, mut size) = (0, 0, 1);
            for idx in [Role::Idx0, Role::Idx1] {
                let counts = self.source(idx)?;
                if !counts.get(i, 0).is_whole(counts.tile.elem) {
                    return Err("undefined-use");
                }
            }
            for (idx, src) in [(Role::Idx0, Role::Src0), (Role::Idx1, Role::Src1)] {
                let (counts, src) = (self.source(idx)?, self.source(src)?);
                let elem = counts.tile.elem;
                size = elem.size().ok_or(NO_MEANING)?;
                let Number::Int(bytes) = number(elem, counts.get(i, 0).bits) else {
                    return Err(NO_MEANING);
                };
                if bytes < 0 || bytes as u64 / size > src.valid[1] {
                    return Err("tconcat-index");
                }
                let n = bytes as u64 / size;
                total += bytes as u64;
                for j in 0..n.min(limit - at) {
                    self.tiles[d].set(0, i, at, src.get(i, j));
                    at += 1;
                }
            }
            if let Ok(out) = self.index(Role::DstIdx) {
                self.tiles[out].set(0, i, 0, Cell::of(total.min(limit * size)));
            }
        }
        Ok(false)
    }

    /// TPACK: the low bytes of every element.
    pub(super) fn pack(&mut self) -> Done {
        let (d, src) = (self.index(Role::Dst)?, self.source(Role::Src)?);
        self.tiles[d].put(0, area(src.valid).map(|[i, j]| (i, j, src.get(i, j))).collect());
        Ok(false)
    }

    /// TFILLPAD, TFILLPAD_INPLACE, TFILLPAD_EXPAND, from a tile or from a value.
    pub(super) fn fill_padding(&mut self) -> Done {
        let (d, dst) = (self.index(Role::Dst)?, self.source(Role::Dst)?);
        let (src, bits) = if self.inst.form == Form::Fill {
            (dst, self.fill_value(dst.tile.elem)?)
        } else {
            (self.source(Role::Src)?, dst.tile.pad_bits().ok_or(NO_MEANING)?)
        };
        for [r, c] in area([dst.tile.rows, dst.tile.cols]) {
            let inside = r < src.valid[0] && c < src.valid[1];
            self.tiles[d].set(0, r, c, if inside { src.get(r, c) } else { Cell::of(bits) });
        }
        if self.inst.op.info().expands {
            let Picture { tile, valid, .. } = &mut self.tiles[d];
            for (valid, (extent, declared)) in valid.iter_mut().zip([(tile.v_row, tile.rows), (tile.v_col, tile.cols)])
            {
                if extent.known().is_none() {
                    *valid = declared;
                }
            }
        }
        Ok(false)
    }

    /// TINTERLEAVE.
    pub(super) fn interleave(&mut self) -> Done {
        let (d0, d1) = (self.index(Role::Dst0)?, self.index(Role::Dst1)?);
        let (s0, s1) = (self.source(Role::Src0)?, self.source(Role::Src1)?);
        let [rows, v] = s0.valid;
        let h = v / 2;
        for [i, k] in area([rows, h]) {
            self.tiles[d0].set(0, i, 2 * k, s0.get(i, k));
            self.tiles[d0].set(0, i, 2 * k + 1, s1.get(i, k));
            self.tiles[d1].set(0, i, 2 * k, s0.get(i, h + k));
            self.tiles[d1].set(0, i, 2 * k + 1, s1.get(i, h + k));
        }
        Ok(false)
    }

    /// TDEINTERLEAVE, of two sources or of one.
    pub(super) fn deinterleave(&mut self) -> Done {
        let (d0, d1, s0) = (self.index(Role::Dst0)?, self.index(Role::Dst1)?, self.source(Role::Src0)?);
        let [rows, v] = self.old[d0].valid;
        let s1 = self.source(Role::Src1);
        let h = if s1.is_ok() { v / 2 } else { v };
        for [i, k] in area([rows, h]) {
            self.tiles[d0].set(0, i, k, s0.get(i, 2 * k));
            self.tiles[d1].set(0, i, k, s0.get(i, 2 * k + 1));
            if let Ok(s1) = s1 {
                self.tiles[d0].set(0, i, h + k, s1.get(i, 2 * k));
                self.tiles[d1].set(0, i, h + k, s1.get(i, 2 * k + 1));
            }
        }
        Ok(false)
    }
}
