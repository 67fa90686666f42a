//! The `tile-*` rules: is this a tile type on this profile? (tile-model.md 3, 5, 6)

use crate::codec::Number;
use crate::diag::Fault;
use crate::profile::Profile;
use crate::tile::{BLayout, Compact, Extent, LayoutName, Loc, Pad, Tile};

/// The largest dimension, and the largest product of dimensions.
const LIMIT: u64 = 1 << 32;

const fn beyond(valid: Extent, declared: u64) -> bool {
    matches!(valid, Extent::Static(n) if n > declared)
}

const fn odd(extent: Extent) -> bool {
    matches!(extent, Extent::Static(n) if n % 2 == 1)
}

impl Tile {
    /// The id of the first broken `tile-*` rule. Constant, so that the machine and the typed intrinsics call the same
    /// function; a pad value is not checked.
    pub const fn broken(&self, profile: Profile) -> Option<&'static str> {
        let (rows, cols) = (self.rows, self.cols);
        if let Some(rule) = self.shape_broken() {
            return Some(rule);
        }
        let Some(memory) = profile.memory(self.loc) else { return Some("tile-loc") };
        if !matches!(profile, Profile::A5) && !self.elem.info().on_cpu_and_a2a3 {
            return Some("tile-dtype");
        }
        let fractal_fits = match self.fractal {
            512 => true,
            // Without boxes it means nothing (isa/today.md 5.4).
            1024 => !self.is_boxed() || self.elem.bits() == 32,
            32 => !self.is_boxed() || self.elem.bits() == 8,
            _ => false,
        };
        let Some((box_rows, box_cols)) = self.box_dims() else { return Some("tile-fractal") };
        if !fractal_fits {
            return Some("tile-fractal");
        }
        if !self.is_boxed() && !self.major().is_multiple_of(self.elem.c0()) {
            return Some("tile-align");
        }
        if !cols.is_multiple_of(box_cols) {
            return Some("tile-box-cols");
        }
        let nz = matches!(self.layout_name(), LayoutName::Nz);
        let any_rows = matches!(self.loc, Loc::Vec) || self.fractal == 32 || rows == 1;
        if !rows.is_multiple_of(box_rows) && !any_rows {
            return Some("tile-box-rows");
        }
        if matches!(self.compact, Compact::RowPlusOne) && nz && rows % 16 != 1 {
            return Some("tile-compact");
        }
        let odd_rows = self.rows_share_bytes() && odd(self.v_row);
        if self.elem.is_fp4() && (cols % 2 == 1 || odd(self.v_col) || odd_rows) {
            return Some("tile-fp4");
        }
        match memory.bytes {
            Some(limit) if self.bytes() > limit => Some("tile-size"),
            _ => None,
        }
    }

    const fn shape_broken(&self) -> Option<&'static str> {
        if self.rows == 0 || self.cols == 0 {
            return Some("tile-shape");
        }
        if self.rows >= LIMIT || self.cols >= LIMIT || self.rows.saturating_mul(self.cols) >= LIMIT {
            return Some("tile-size");
        }
        if beyond(self.v_row, self.rows) || beyond(self.v_col, self.cols) { Some("tile-shape") } else { None }
    }

    /// The extent along which elements lie one after the other.
    const fn major(&self) -> u64 {
        match self.blayout {
            BLayout::RowMajor => self.cols,
            BLayout::ColMajor => self.rows,
        }
    }

    /// The first broken `tile-*` rule, if any, with the actual values.
    pub fn fault(&self, profile: Profile) -> Option<Fault> {
        let Some(rule) = self.broken(profile) else { return self.pad_fault().or_else(|| self.idle_fractal()) };
        let (what, help) = self.explain(rule, profile);
        Some(Fault::new(rule, what).help(help))
    }

    /// The fault, and the smallest change that would fix it.
    fn explain(&self, rule: &str, profile: Profile) -> (String, String) {
        let (rows, cols, elem) = (self.rows, self.cols, self.elem);
        let (box_rows, box_cols) = self.box_dims().unwrap_or((1, 1));
        let up = |n: u64, to: u64| n.div_ceil(to) * to;
        match rule {
            "tile-shape" if rows == 0 || cols == 0 => {
                (format!("a tile of {rows} × {cols} elements has no area"), "rows and cols are at least 1".into())
            }
            "tile-shape" => {
                let (name, v, axis, declared) = match self.v_row {
                    Extent::Static(v) if v > rows => ("v_row", v, "rows", rows),
                    _ => ("v_col", self.v_col.known().unwrap_or_default(), "cols", cols),
                };
                let what = format!("{name}={v} is beyond the declared {axis}={declared}");
                (what, format!("{name} is at most {declared}"))
            }
            "tile-loc" => (format!("{profile} has no location {}", self.loc), format!("a5 has {}", self.loc)),
            "tile-dtype" => (format!("{profile} has no element type {elem}"), format!("a5 has {elem}")),
            "tile-fractal" => {
                let why = if self.is_boxed() {
                    format!("{elem} has {} bits", elem.bits())
                } else {
                    "the layout has no box".into()
                };
                let what = match self.fractal {
                    1024 => format!("fractal=1024 needs a box and a 4-byte type, and {why}"),
                    32 => format!("fractal=32 needs a box and a 1-byte type, and {why}"),
                    other => format!("fractal={other} is not a box size"),
                };
                (what, "use fractal=512".into())
            }
            "tile-align" => {
                let (n, c0) = (self.major(), elem.c0());
                let (word, valid) =
                    if self.blayout == BLayout::RowMajor { ("cols", "v_col") } else { ("rows", "v_row") };
                let bytes = elem.bytes_of(n);
                let what = format!("{word}={n} of {elem} are {bytes} bytes, which is no multiple of 32");
                (what, format!("{word} {n} → {}, keep {valid}={n}", up(n, c0)))
            }
            "tile-box-cols" | "tile-box-rows" => {
                let (axis, n, box_n, words, valid) = match rule {
                    "tile-box-cols" => ("cols", cols, box_cols, "columns", "v_col"),
                    _ => ("rows", rows, box_rows, "rows", "v_row"),
                };
                let boxes = format!("({elem} boxes are {box_rows}x{box_cols})");
                let what = format!("{axis}={n} is no multiple of the box's {box_n} {words} {boxes}");
                (what, format!("{axis} {n} → {}, keep {valid}={n}", up(n, box_n)))
            }
            "tile-compact" => {
                let what = format!("compact=row_plus_one needs rows % 16 == 1, and rows={rows}");
                (what, format!("rows {rows} → {}", rows / 16 * 16 + 1))
            }
            "tile-fp4" => {
                let extents = [("cols", Extent::Static(cols)), ("v_col", self.v_col), ("v_row", self.v_row)];
                let found = extents.into_iter().find(|(_, extent)| odd(*extent));
                let (name, n) = found.map_or(("cols", cols), |(name, n)| (name, n.known().unwrap_or_default()));
                let what = format!("{name}={n} is odd, and {elem} packs two elements into a byte");
                (what, format!("{name} {n} → {}", n + 1))
            }
            _ => match profile.memory(self.loc).and_then(|m| m.bytes) {
                Some(limit) if rows < LIMIT && cols < LIMIT && rows * cols < LIMIT => {
                    let (bytes, memory) = (self.bytes(), self.loc.memory_name());
                    let what = format!("the tile's {bytes} bytes exceed {memory}'s {limit} bytes on {profile}");
                    (what, "split the tile into smaller ones".into())
                }
                _ => (format!("{rows} × {cols} elements are more than 2^32"), "split the tile".into()),
            },
        }
    }

    /// Whether two fp4 elements of neighbouring rows share a byte (DN, ZN, NN).
    pub const fn rows_share_bytes(&self) -> bool {
        matches!(self.layout_name(), LayoutName::Dn | LayoutName::Zn | LayoutName::Nn)
    }

    /// A box size that no box has means nothing.
    fn idle_fractal(&self) -> Option<Fault> {
        if self.is_boxed() || self.fractal == 512 {
            return None;
        }
        let what = format!("fractal={} means nothing, since the layout has no box", self.fractal);
        Some(Fault::new("tile-fractal", what).warns().help("use fractal=512"))
    }

    fn pad_fault(&self) -> Option<Fault> {
        let Pad::Custom(literal) = self.pad else { return None };
        match literal.to_bits(self.elem) {
            Some((_, true)) => None,
            Some((bits, false)) => {
                let elem = self.elem;
                // All digits: the shortest ones would be those that were written.
                let used = match elem.decode(bits) {
                    Number::Float(v) => v.to_string(),
                    Number::Int(v) => v.to_string(),
                };
                let what = format!("the pad value {literal} is not exact in {elem}: {used} is used");
                Some(Fault::new("tile-pad", what).warns())
            }
            None => {
                let what = format!("the pad value {literal} is out of range for {}", self.elem);
                Some(Fault::new("tile-pad", what).help("use a value of the element type, or pad=max or pad=min"))
            }
        }
    }
}
