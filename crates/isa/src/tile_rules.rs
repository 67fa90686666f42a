//! The `tile-*` rules: is this a tile type on this profile? (tile-model.md 3, 5, 6)

use crate::diag::Fault;
use crate::profile::Profile;
use crate::tile::{BLayout, Compact, LayoutName, Loc, Pad, Tile};

/// The largest dimension, and the largest product of dimensions.
const LIMIT: u64 = 1 << 32;

impl Tile {
    /// The first broken `tile-*` rule, if any.
    pub fn fault(&self, profile: Profile) -> Option<Fault> {
        self.shape_fault()
            .or_else(|| self.exists_fault(profile))
            .or_else(|| self.fractal_fault())
            .or_else(|| self.align_fault())
            .or_else(|| self.compact_fault())
            .or_else(|| self.fp4_fault())
            .or_else(|| self.size_fault(profile))
            .or_else(|| self.pad_fault())
    }

    fn shape_fault(&self) -> Option<Fault> {
        if self.rows == 0 || self.cols == 0 {
            let what = format!("a tile of {} × {} elements has no area", self.rows, self.cols);
            return Some(Fault::new("tile-shape", what).help("rows and cols are at least 1"));
        }
        let fits = |n: u64| n < LIMIT;
        if !fits(self.rows) || !fits(self.cols) || !self.rows.checked_mul(self.cols).is_some_and(fits) {
            let what = format!("{} × {} elements are more than 2^32", self.rows, self.cols);
            return Some(Fault::new("tile-size", what).help("split the tile"));
        }
        for (name, v, declared, axis) in
            [("v_row", self.v_row, self.rows, "rows"), ("v_col", self.v_col, self.cols, "cols")]
        {
            if let Some(v) = v.known().filter(|v| *v > declared) {
                let what = format!("{name}={v} is beyond the declared {axis}={declared}");
                return Some(Fault::new("tile-shape", what).help(format!("{name} is at most {declared}")));
            }
        }
        None
    }

    fn exists_fault(&self, profile: Profile) -> Option<Fault> {
        if profile.memory(self.loc).is_none() {
            let what = format!("{profile} has no location {}", self.loc);
            return Some(Fault::new("tile-loc", what).help(format!("a5 has {}", self.loc)));
        }
        if profile != Profile::A5 && !self.elem.info().on_cpu_and_a2a3 {
            let what = format!("{profile} has no element type {}", self.elem);
            return Some(Fault::new("tile-dtype", what).help(format!("a5 has {}", self.elem)));
        }
        None
    }

    fn fractal_fault(&self) -> Option<Fault> {
        let elem = self.elem;
        let what = match self.fractal {
            512 => return None,
            1024 if !self.is_boxed() || elem.bits() != 32 => {
                let why = if self.is_boxed() {
                    format!("{elem} has {} bits", elem.bits())
                } else {
                    "the layout has no box".into()
                };
                format!("fractal=1024 needs a box and a 4-byte type, and {why}")
            }
            32 if !self.is_boxed() || elem.bits() != 8 => {
                let why = if self.is_boxed() {
                    format!("{elem} has {} bits", elem.bits())
                } else {
                    "the layout has no box".into()
                };
                format!("fractal=32 needs a box and a 1-byte type, and {why}")
            }
            1024 | 32 => return None,
            other => format!("fractal={other} is not a box size"),
        };
        Some(Fault::new("tile-fractal", what).help("use fractal=512"))
    }

    fn align_fault(&self) -> Option<Fault> {
        if !self.is_boxed() {
            let (n, word) = match self.blayout {
                BLayout::RowMajor => (self.cols, "cols"),
                BLayout::ColMajor => (self.rows, "rows"),
            };
            let c0 = self.elem.c0();
            if n % c0 == 0 {
                return None;
            }
            let bytes = self.elem.bytes_of(n);
            let up = n.div_ceil(c0) * c0;
            let valid = if word == "cols" { "v_col" } else { "v_row" };
            let what = format!("{word}={n} of {} are {bytes} bytes, which is no multiple of 32", self.elem);
            return Some(Fault::new("tile-align", what).help(format!("{word} {n} → {up}, keep {valid}={n}")));
        }
        let (ir, ic) = self.box_dims()?;
        if !self.cols.is_multiple_of(ic) {
            let up = self.cols.div_ceil(ic) * ic;
            let what = format!(
                "cols={} is no multiple of the box's {ic} columns ({} boxes are {ir}x{ic})",
                self.cols, self.elem
            );
            return Some(
                Fault::new("tile-box-cols", what).help(format!("cols {} → {up}, keep v_col={}", self.cols, self.cols)),
            );
        }
        let any_rows = self.layout_name() == LayoutName::Nz && self.loc == Loc::Vec;
        if !self.rows.is_multiple_of(ir) && !any_rows {
            let up = self.rows.div_ceil(ir) * ir;
            let what =
                format!("rows={} is no multiple of the box's {ir} rows ({} boxes are {ir}x{ic})", self.rows, self.elem);
            return Some(
                Fault::new("tile-box-rows", what).help(format!("rows {} → {up}, keep v_row={}", self.rows, self.rows)),
            );
        }
        None
    }

    fn compact_fault(&self) -> Option<Fault> {
        let nz = self.layout_name() == LayoutName::Nz;
        if self.compact != Compact::RowPlusOne || !nz || self.rows % 16 == 1 {
            return None;
        }
        let what = format!("compact=row_plus_one needs rows % 16 == 1, and rows={}", self.rows);
        Some(Fault::new("tile-compact", what).help(format!("rows {} → {}", self.rows, self.rows / 16 * 16 + 1)))
    }

    fn fp4_fault(&self) -> Option<Fault> {
        if !self.elem.is_fp4() {
            return None;
        }
        let odd = |n: Option<u64>| n.filter(|n| n % 2 == 1);
        let mut extents = vec![("cols", odd(Some(self.cols))), ("v_col", odd(self.v_col.known()))];
        if self.rows_share_bytes() {
            extents.push(("v_row", odd(self.v_row.known())));
        }
        let (name, n) = extents.into_iter().find_map(|(name, n)| n.map(|n| (name, n)))?;
        let what = format!("{name}={n} is odd, and {} packs two elements into a byte", self.elem);
        Some(Fault::new("tile-fp4", what).help(format!("{name} {n} → {}", n + 1)))
    }

    /// Do two fp4 elements of neighbouring rows share a byte (DN, ZN, NN)?
    pub fn rows_share_bytes(&self) -> bool {
        matches!(self.layout_name(), LayoutName::Dn | LayoutName::Zn | LayoutName::Nn)
    }

    fn size_fault(&self, profile: Profile) -> Option<Fault> {
        let limit = profile.memory(self.loc)?.bytes?;
        let bytes = self.bytes();
        if bytes <= limit {
            return None;
        }
        let what = format!("the tile's {bytes} bytes exceed {}'s {limit} bytes on {profile}", self.loc.memory_name());
        Some(Fault::new("tile-size", what).help("split the tile into smaller ones"))
    }

    fn pad_fault(&self) -> Option<Fault> {
        let Pad::Custom(literal) = self.pad else { return None };
        match literal.to_bits(self.elem) {
            Some((_, true)) => None,
            Some((bits, false)) => {
                let what = format!(
                    "the pad value {literal} is not exact in {}: {} is used",
                    self.elem,
                    self.elem.format_bits(bits)
                );
                Some(Fault::new("tile-pad", what).warns())
            }
            None => {
                let what = format!("the pad value {literal} is out of range for {}", self.elem);
                Some(Fault::new("tile-pad", what).help("use a value of the element type, or pad=max or pad=min"))
            }
        }
    }
}
