//! What the types alone decide: the rules that hold on every profile, as constant functions.
//!
//! Each function gives the sentence of the first rule that the types break, starting with the rule's id; [`legal!`]
//! makes it a compile error. The run-time rules state the same with the actual values, and a test compares both. Of a
//! tile whose type is known at run time only (`None`) there is nothing to say here.

use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Loc, SLayout};

/// What a tile's type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Where the tile lives.
    pub loc: Loc,
    /// The element type.
    pub elem: Elem,
    /// Declared rows.
    pub rows: u64,
    /// Declared columns.
    pub cols: u64,
    /// Outer order, inner order and box size as written; `None` for the usual layout.
    pub order: Option<(BLayout, SLayout, u32)>,
}

/// A sentence about what is wrong.
pub(crate) type Wrong = Option<&'static str>;

/// A compile error with the sentence, where the constant expression gives one.
macro_rules! legal {
    ($rule:expr) => {
        const {
            let wrong: $crate::typed::known::Wrong = $rule;
            assert!(wrong.is_none(), "{}", $crate::typed::known::sentence(wrong))
        }
    };
}
pub(crate) use legal;

pub(crate) const fn sentence(wrong: Wrong) -> &'static str {
    match wrong {
        Some(sentence) => sentence,
        None => "",
    }
}

impl Known {
    const fn layout(&self) -> (BLayout, SLayout, u32) {
        match self.order {
            Some(order) => order,
            None => self.loc.usual(Profile::Cpu),
        }
    }

    const fn is_boxed(&self) -> bool {
        !matches!(self.layout().1, SLayout::NoneBox)
    }

    const fn is_nd(&self) -> bool {
        matches!(self.layout(), (BLayout::RowMajor, SLayout::NoneBox, _))
    }

    const fn bytes(&self) -> u64 {
        self.elem.bytes_of(self.rows.saturating_mul(self.cols))
    }

    const fn in_loc(&self, loc: Loc) -> bool {
        self.loc as u8 == loc as u8
    }

    const fn same_loc(&self, other: &Known) -> bool {
        self.in_loc(other.loc)
    }

    const fn same_elem(&self, other: &Known) -> bool {
        self.elem as u8 == other.elem as u8
    }

    const fn same_shape(&self, other: &Known) -> bool {
        self.rows == other.rows && self.cols == other.cols
    }

    /// Rows and columns of a box (tile-model.md 5).
    const fn box_dims(&self) -> (u64, u64) {
        let c0 = self.elem.c0();
        match self.layout() {
            (_, SLayout::NoneBox, _) => (1, 1),
            (_, SLayout::RowMajor, 1024) => (if self.rows == 1 { 1 } else { 16 }, 16),
            (_, SLayout::RowMajor, 32) => (if self.rows == 1 { 1 } else { 16 }, 2),
            (_, SLayout::RowMajor, _) => (if self.rows == 1 { 1 } else { 16 }, c0),
            (_, SLayout::ColMajor, 1024) => (16, 16),
            (_, SLayout::ColMajor, 32) => (2, 16),
            (_, SLayout::ColMajor, _) => (c0, 16),
        }
    }

    /// The `tile-*` rules (tile-model.md 5).
    pub(crate) const fn tile(&self) -> Wrong {
        const LIMIT: u64 = 1 << 32;
        if self.rows == 0 || self.cols == 0 {
            return Some("tile-shape: a tile without rows or columns has no area; rows and cols are at least 1");
        }
        if self.rows.saturating_mul(self.cols) >= LIMIT {
            return Some("tile-size: a tile has fewer than 2^32 elements; split it");
        }
        let (outer, _, fractal) = self.layout();
        let boxed = self.is_boxed();
        match fractal {
            512 => {}
            1024 if boxed && self.elem.bits() == 32 => {}
            32 if boxed && self.elem.bits() == 8 => {}
            1024 => return Some("tile-fractal: fractal 1024 needs a 4-byte element type; use fractal 512"),
            32 => return Some("tile-fractal: fractal 32 needs a 1-byte element type; use fractal 512"),
            _ => return Some("tile-fractal: the fractal is 512, 1024 or 32"),
        }
        // On hardware the outer order of a Left tile is the profile's (syntax.md 3), so there the machine decides.
        if !boxed && !self.in_loc(Loc::Left) {
            let c0 = self.elem.c0();
            match outer {
                BLayout::RowMajor if !self.cols.is_multiple_of(c0) => {
                    return Some(
                        "tile-align: the bytes of a row are a multiple of 32; declare more columns and set the valid region",
                    );
                }
                BLayout::ColMajor if !self.rows.is_multiple_of(c0) => {
                    return Some(
                        "tile-align: the bytes of a column are a multiple of 32; declare more rows and set the valid region",
                    );
                }
                _ => {}
            }
        }
        let (ir, ic) = self.box_dims();
        if !self.cols.is_multiple_of(ic) {
            return Some(
                "tile-box-cols: the columns are a multiple of the box's; declare more columns and set the valid region",
            );
        }
        let any_rows = self.in_loc(Loc::Vec) && matches!(self.layout(), (BLayout::ColMajor, SLayout::RowMajor, _));
        if !self.rows.is_multiple_of(ir) && !any_rows {
            return Some(
                "tile-box-rows: the rows are a multiple of the box's; declare more rows and set the valid region",
            );
        }
        if self.elem.is_fp4() && !self.cols.is_multiple_of(2) {
            return Some("tile-fp4: two fp4 elements share a byte; declare an even number of columns");
        }
        None
    }
}

/// ReLU, quantization and AccToVecMode belong to an accumulator (fixpipe.md 1).
pub(crate) const fn fixpipe(src: Option<Known>) -> Wrong {
    let Some(src) = src else { return None };
    if src.in_loc(Loc::Acc) {
        return None;
    }
    Some("quant-source: ReLU, quantization and AccToVecMode need a source in Acc; use the plain form")
}

/// The `fp` operand (fixpipe.md 1).
pub(crate) const fn fp(fp: Option<Known>) -> Wrong {
    let Some(fp) = fp else { return None };
    let whole = matches!(fp.elem, Elem::U64 | Elem::I64);
    if fp.in_loc(Loc::Scaling) && whole && fp.rows == 1 && fp.is_nd() {
        return None;
    }
    Some("fp-operand: fp is one row of u64 or i64 in Scaling, ND")
}

/// TRESHAPE (ops.md 4).
pub(crate) const fn treshape(dst: Option<Known>, src: Option<Known>) -> Wrong {
    let (Some(dst), Some(src)) = (dst, src) else {
        return None;
    };
    if !dst.same_loc(&src) {
        return Some("treshape-loc: both tiles have one location; TMOV changes it");
    }
    if dst.is_boxed() != src.is_boxed() {
        return Some("treshape-box: both tiles have boxes or neither has; TMOV changes the layout");
    }
    if dst.bytes() != src.bytes() {
        return Some(
            "treshape-bytes: both tiles have the same number of declared bytes; change the destination's shape",
        );
    }
    None
}

/// TTRANS (ops.md 5).
pub(crate) const fn ttrans(dst: Option<Known>, src: Option<Known>) -> Wrong {
    let (Some(dst), Some(src)) = (dst, src) else {
        return None;
    };
    if dst.elem.bits() != src.elem.bits() {
        return Some("ttrans-size: both element types have one size; give the destination the source's");
    }
    None
}

/// The scratch tile of TTRANS.
pub(crate) const fn ttrans_tmp(src: Option<Known>, tmp: Option<Known>) -> Wrong {
    let (Some(src), Some(tmp)) = (src, tmp) else {
        return None;
    };
    if !tmp.same_loc(&src) || tmp.elem.bits() != src.elem.bits() {
        return Some("ttrans-tmp: tmp has the source's location and element size; leave it out or change its type");
    }
    None
}

/// TPACK (ops.md 6).
pub(crate) const fn tpack(dst: Option<Known>, src: Option<Known>) -> Wrong {
    let (Some(dst), Some(src)) = (dst, src) else {
        return None;
    };
    if !dst.in_loc(Loc::Vec) || !src.in_loc(Loc::Vec) || !dst.is_nd() || !src.is_nd() {
        return Some("tpack-layout: both tiles are in Vec and ND");
    }
    if !matches!((src.elem.bits(), dst.elem.bits()), (32, 16) | (32, 8) | (16, 8)) {
        return Some(
            "tpack-size: elements narrow from 4 bytes to 2 or 1, or from 2 to 1; change the destination's type",
        );
    }
    None
}

/// TCONCAT: the three data tiles (ops.md 6).
pub(crate) const fn tconcat(dst: Option<Known>, src: Option<Known>) -> Wrong {
    let (Some(dst), Some(src)) = (dst, src) else {
        return None;
    };
    if !dst.same_elem(&src) {
        return Some("tconcat-dtype: all tiles have one element type");
    }
    None
}

/// TFILLPAD and TFILLPAD_INPLACE (ops.md 6).
pub(crate) const fn tfillpad(dst: Option<Known>, src: Option<Known>) -> Wrong {
    let (Some(dst), Some(src)) = (dst, src) else {
        return None;
    };
    if !dst.same_elem(&src) {
        return Some("tfillpad-dtype: both tiles have one element type");
    }
    if !dst.same_shape(&src) {
        return Some("tfillpad-shape: the declared shapes are equal; tfillpad_expand fills a larger tile");
    }
    None
}

/// TFILLPAD_EXPAND (ops.md 6).
pub(crate) const fn tfillpad_expand(dst: Option<Known>, src: Option<Known>) -> Wrong {
    let (Some(dst), Some(src)) = (dst, src) else {
        return None;
    };
    if !dst.same_elem(&src) {
        return Some("tfillpad-dtype: both tiles have one element type");
    }
    if dst.rows < src.rows || dst.cols < src.cols {
        return Some("tfillpad-shape: the destination is at least as large as the source; declare it larger");
    }
    None
}

/// TINTERLEAVE and TDEINTERLEAVE (ops.md 8).
pub(crate) const fn tinterleave(dst: Option<Known>, src: Option<Known>) -> Wrong {
    let (Some(dst), Some(src)) = (dst, src) else {
        return None;
    };
    if !dst.same_elem(&src) {
        return Some("tinterleave-dtype: all tiles have one element type");
    }
    None
}

/// TIMG2COL (ops.md 7).
pub(crate) const fn timg2col(dst: Option<Known>, image: Elem) -> Wrong {
    let Some(dst) = dst else { return None };
    if !dst.in_loc(Loc::Left) {
        return Some("timg2col-loc: the destination is in Left");
    }
    if dst.elem as u8 != image as u8 {
        return Some("timg2col-dtype: the destination has the image's element type");
    }
    None
}

/// TSUBVIEW (ops.md 10).
pub(crate) const fn tsubview(dst: Option<Known>, src: Option<Known>) -> Wrong {
    let (Some(dst), Some(src)) = (dst, src) else {
        return None;
    };
    // On hardware the outer order of a Left tile is the profile's (syntax.md 3).
    let one_order = dst.is_nd() == src.is_nd() || dst.in_loc(Loc::Left);
    let one_kind = dst.same_loc(&src) && dst.same_elem(&src) && one_order;
    if dst.is_boxed() || src.is_boxed() || !one_kind {
        return Some("tsubview-window: a view has its source's location, element type and layout, without boxes");
    }
    if dst.rows > src.rows || dst.cols > src.cols {
        return Some("tsubview-window: a view is no larger than its source");
    }
    None
}

/// TLOAD (tile-model.md 7).
pub(crate) const fn tload(dst: Option<Known>, view: Elem) -> Wrong {
    let Some(dst) = dst else { return None };
    if dst.elem as u8 != view as u8 {
        return Some("tload-dtype: the tile has the slice's element type");
    }
    None
}

/// TSTORE (tile-model.md 7); what leaves an accumulator in another type is the machine's to refuse.
pub(crate) const fn tstore(src: Option<Known>, view: Elem) -> Wrong {
    let Some(src) = src else { return None };
    if src.elem as u8 != view as u8 && !src.in_loc(Loc::Acc) {
        return Some("tstore-dtype: the slice has the tile's element type");
    }
    None
}

#[cfg(test)]
mod tests;
