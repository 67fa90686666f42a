//! A tile as a grid of logical elements with their offsets in memory: which rows and columns to show, and the text.

use std::fmt::Write;
use std::ops::RangeInclusive;
use tessera_isa::layout::Layout;
use tessera_isa::tile::{BLayout, Extent, LayoutName, Tile};

/// One shown row or column: an index, or indices that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// This index.
    Index(u64),
    /// The indices from here to the next slot.
    Gap(u64),
}

impl Slot {
    /// The first index that the slot stands for.
    pub fn start(self) -> u64 {
        match self {
            Slot::Index(i) | Slot::Gap(i) => i,
        }
    }

    /// The index, if it is one.
    pub fn index(self) -> Option<u64> {
        match self {
            Slot::Index(i) => Some(i),
            Slot::Gap(_) => None,
        }
    }
}

/// At most about `budget` slots of an axis: everything if it fits, else the edges of boxes, else the corners.
pub fn choose(len: u64, box_len: u64, budget: u64) -> Vec<Slot> {
    let all = |from: u64, to: u64| (from..to).map(Slot::Index);
    if len <= budget {
        return all(0, len).collect();
    }
    // The head of a run of indices, a gap, and its last index.
    let sampled = |from: u64, to: u64, head: u64| -> Vec<Slot> {
        if to - from <= head + 2 {
            return all(from, to).collect();
        }
        all(from, from + head).chain([Slot::Gap(from + head), Slot::Index(to - 1)]).collect()
    };
    if box_len <= 1 {
        return sampled(0, len, budget.saturating_sub(2).max(1));
    }
    let boxes = len.div_ceil(box_len);
    let of_box = |b: u64, head: u64| sampled(b * box_len, ((b + 1) * box_len).min(len), head);
    let every = |head: u64| -> Vec<Slot> { (0..boxes).flat_map(|b| of_box(b, head)).collect() };
    if boxes * 3 <= budget + 2 {
        let fitting = (1..box_len).rev().map(every).find(|slots| slots.len() as u64 <= budget);
        if let Some(slots) = fitting {
            return slots;
        }
    }
    let shown = (budget.saturating_sub(4) / 3).clamp(1, boxes.saturating_sub(1).max(1));
    let mut slots: Vec<Slot> = (0..shown).flat_map(|b| of_box(b, 1)).collect();
    if shown + 1 < boxes {
        slots.push(Slot::Gap(shown * box_len));
    }
    if shown < boxes {
        slots.extend(of_box(boxes - 1, 1));
    }
    slots
}

/// The contents of a picture of a tile.
pub struct Grid {
    /// The tile.
    pub tile: Tile,
    /// Its layout.
    pub layout: Layout,
    /// Rows and columns of a box; 1 × 1 without boxes.
    pub box_dims: (u64, u64),
    /// The shown rows.
    pub rows: Vec<Slot>,
    /// The shown columns.
    pub cols: Vec<Slot>,
}

impl Grid {
    /// A grid of at most `rows` × `cols` slots.
    pub fn new(tile: Tile, rows: u64, cols: u64) -> Grid {
        let box_dims = tile.box_dims().unwrap_or((1, 1));
        Grid {
            layout: tile.layout(),
            box_dims,
            rows: choose(tile.rows, box_dims.0, rows),
            cols: choose(tile.cols, box_dims.1, cols),
            tile,
        }
    }

    /// Whether a box starts at this slot.
    pub fn is_edge(slot: Slot, box_len: u64) -> bool {
        box_len > 1 && slot.start() > 0 && slot.start().is_multiple_of(box_len)
    }

    /// Whether the element is padding, as far as the type says.
    pub fn is_padding(&self, r: u64, c: u64) -> bool {
        let beyond = |v: Extent, i: u64| v.known().is_some_and(|v| i >= v);
        beyond(self.tile.v_row, r) || beyond(self.tile.v_col, c)
    }

    /// Whether the type has padding.
    pub fn has_padding(&self) -> bool {
        let short = |v: Extent, n: u64| v.known().is_some_and(|v| v < n);
        short(self.tile.v_row, self.tile.rows) || short(self.tile.v_col, self.tile.cols)
    }

    /// Digits of the largest offset.
    pub fn digits(&self) -> usize {
        self.layout.footprint().saturating_sub(1).to_string().len()
    }
}

/// A tile as text of at most about `max_rows` rows and `max_width` columns.
pub fn draw(tile: &Tile, max_rows: u64, max_width: usize) -> String {
    widest(4..=64, max_width, |columns| draw_columns(&Grid::new(*tile, max_rows, columns)))
}

/// The text with the most columns that is at most so wide, else the one with the fewest.
pub fn widest(columns: RangeInclusive<u64>, max_width: usize, draw: impl Fn(u64) -> String) -> String {
    let fits = |text: &String| text.lines().all(|line| line.chars().count() <= max_width);
    let least = *columns.start();
    columns.rev().map(&draw).find(fits).unwrap_or_else(|| draw(least))
}

fn draw_columns(grid: &Grid) -> String {
    let (ir, ic) = grid.box_dims;
    let mark = usize::from(grid.has_padding());
    let label = grid.tile.rows.saturating_sub(1).to_string().len().max(1);
    let cell = (grid.digits() + mark).max(grid.tile.cols.saturating_sub(1).to_string().len());
    let widths: Vec<usize> = grid.cols.iter().map(|s| if s.index().is_some() { cell } else { 1 }).collect();
    // A line of the grid: one text per shown column, with the edge character where a box starts.
    let line = |texts: &dyn Fn(Slot) -> String, edge: &str| -> String {
        let cells = grid.cols.iter().zip(&widths).map(|(slot, w)| {
            let before = if Grid::is_edge(*slot, ic) { edge } else { "" };
            format!("{before} {:>w$}", texts(*slot))
        });
        cells.collect()
    };
    let rule = |left: char, cross: &str, right: char| -> String {
        let cells = grid.cols.iter().zip(&widths).map(|(slot, w)| {
            let before = if Grid::is_edge(*slot, ic) { format!("─{cross}") } else { String::new() };
            before + &"─".repeat(w + 1)
        });
        format!("{:label$} {left}{}─{right}\n", "", cells.collect::<String>())
    };
    let head = line(&|s| s.index().map_or("…".into(), |c| c.to_string()), "  ");
    let mut out = format!("{:label$}  {head}\n{}", "", rule('┌', "┬", '┐'));
    for row in &grid.rows {
        if Grid::is_edge(*row, ir) {
            out.push_str(&rule('├', "┼", '┤'));
        }
        let text = |col: Slot| match (row.index(), col.index()) {
            (Some(r), Some(c)) => {
                let mark = if grid.is_padding(r, c) { "·" } else { "" };
                format!("{mark}{}", grid.layout.offset(r, c))
            }
            (Some(_), None) => "…".into(),
            (None, _) => "⋮".into(),
        };
        let name = row.index().map_or("⋮".into(), |r| r.to_string());
        let _ = writeln!(out, "{name:>label$} │{} │", line(&text, " │"));
    }
    out + &rule('└', "┴", '┘')
}

/// Facts about the layout: formula, boxes, pitch, footprint, valid region and how padding looks.
pub fn legend(tile: &Tile, padding_mark: &str) -> Vec<(&'static str, String)> {
    let (ir, ic) = tile.box_dims().unwrap_or((1, 1));
    let name = tile.layout_name();
    let elem = tile.elem;
    let mut lines = vec![
        ("layout", format!("{name}: blayout={}, slayout={}", tile.blayout, tile.slayout)),
        ("offset", format!("offset(r, c) = {}", name.formula())),
    ];
    if name.is_boxed() {
        let (fractal, rows, cols) = (tile.fractal, tile.rows.div_ceil(ir), tile.cols.div_ceil(ic));
        let size = format!("IR×IC = {ir}×{ic} elements (fractal={fractal}), N = {}", ir * ic);
        lines.push(("boxes", format!("{size}, {rows} × {cols} of them")));
    }
    let (pitch, unit) = match (name, tile.blayout) {
        (LayoutName::Nd, _) => (tile.cols, "row"),
        (LayoutName::Dn, _) => (tile.rows, "column"),
        (_, BLayout::ColMajor) => (tile.rows.saturating_mul(ic), "column of boxes"),
        (_, BLayout::RowMajor) => (tile.cols.saturating_mul(ir), "row of boxes"),
    };
    lines.push(("pitch", format!("{pitch} elements ({} bytes) from one {unit} to the next", elem.bytes_of(pitch))));
    let count = tile.rows.saturating_mul(tile.cols);
    lines.push(("footprint", format!("{count} elements, {} bytes", tile.bytes())));
    let valid = match (tile.v_row.known(), tile.v_col.known()) {
        (Some(r), Some(c)) if (r, c) == (tile.rows, tile.cols) => "all of it".to_string(),
        (Some(r), Some(c)) => format!("{r}x{c}; {padding_mark}"),
        _ => format!("{}x{}, set at run time", tile.v_row, tile.v_col),
    };
    lines.push(("valid", valid));
    lines
}
