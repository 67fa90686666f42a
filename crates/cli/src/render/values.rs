//! Arrays as small tables: the corners of big ones, every element of small ones.

use super::grid::{Slot, choose, widest};
use super::width;
use std::fmt::Write;
use tessera::npy;
use tessera::program::{TileData, tile_shape};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;

/// Rows that a table shows at most.
const MAX_ROWS: u64 = 8;

/// A dense row-major array of elements.
pub struct Values<'a> {
    /// The element type.
    pub elem: Elem,
    /// The extents, in elements.
    pub shape: &'a [u64],
    /// The bytes; fp4 elements are packed two to a byte.
    pub bytes: &'a [u8],
    /// For each byte, 0xFF where it is defined; empty where that is not known.
    pub defined: &'a [u8],
    /// The width of a float and its digits after the point, where a program says so.
    pub format: Option<(usize, usize)>,
}

impl Values<'_> {
    /// An element as text; `?` where it is undefined.
    fn text(&self, index: u64) -> String {
        let fp4 = self.elem.is_fp4();
        let size = self.elem.bytes_of(1) as usize;
        let start = (if fp4 { index / 2 } else { index } as usize).saturating_mul(size);
        let range = start..start.saturating_add(size);
        if self.defined.get(range.clone()).is_some_and(|d| d.iter().any(|d| *d != 0xFF)) {
            return "?".into();
        }
        let bytes = self.bytes.get(range).unwrap_or(&[]);
        let bits = bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        let bits = match (fp4, index % 2) {
            (true, 0) => bits & 15,
            (true, _) => bits >> 4,
            (false, _) => bits,
        };
        match self.format.filter(|_| self.elem.is_float()) {
            Some((width, digits)) => match self.elem.decode(bits) {
                Number::Float(v) => format!("{v:width$.digits$}"),
                Number::Int(v) => v.to_string(),
            },
            None => self.elem.format_bits(bits),
        }
    }

    /// The table, indented by two. All dimensions but the last make up the rows.
    pub fn table(&self) -> String {
        let cols = self.shape.last().copied().unwrap_or(1);
        let rows = self.shape.iter().rev().skip(1).fold(1u64, |n, d| n.saturating_mul(*d));
        if rows == 0 || cols == 0 {
            return "  (empty)\n".into();
        }
        let row_slots = choose(rows, 1, MAX_ROWS);
        widest(3..=40, width(), |columns| self.lines(&row_slots, &choose(cols, 1, columns), cols))
    }

    fn lines(&self, rows: &[Slot], cols: &[Slot], pitch: u64) -> String {
        let cell = |row: Slot, col: Slot| match (row.index(), col.index()) {
            (Some(r), Some(c)) => self.text(r * pitch + c),
            (Some(_), None) => "…".into(),
            (None, _) => "⋮".into(),
        };
        let grid: Vec<Vec<String>> = rows.iter().map(|r| cols.iter().map(|c| cell(*r, *c)).collect()).collect();
        let width = |n: usize| grid.iter().filter_map(|row| row.get(n)).map(|t| t.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..cols.len()).map(width).collect();
        let mut out = String::new();
        for row in &grid {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(text, w)| format!("{text:>w$}")).collect();
            let _ = writeln!(out, "  {}", cells.join(" "));
        }
        out
    }
}

/// A tile with its values; a note may follow its name.
pub fn show_tile(name: &str, note: &str, data: &TileData, format: Option<(usize, usize)>) -> String {
    let shape = tile_shape(data);
    let values = Values { elem: data.elem, shape: &shape, bytes: &data.elements, defined: &data.defined, format };
    format!("%{name}{note}: {} {}\n{}", data.elem, npy::shape_text(&shape), values.table())
}
