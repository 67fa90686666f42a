//! A tile as a picture for documentation: its elements in logical order, coloured by their place in memory, and the memory
//! itself, line by line; box edges, padding hatched, a legend below.

use super::colour::along;
use super::grid::{Grid, Slot, choose, legend};
use super::svg::Svg;
use tessera_isa::tile::Tile;

const CELL_HEIGHT: f64 = 24.0;
const GAP: f64 = 20.0;
const MARGIN: f64 = 24.0;
const HEAD: f64 = 58.0;
const LABEL: f64 = 52.0;
const CHAR: f64 = 7.3;
const LINE: f64 = 20.0;
/// Bytes in a line of the memory's picture: what one block of a move is.
const MEMORY_LINE: u64 = 32;
/// Lines of memory that are shown.
const MEMORY_LINES: u64 = 10;

/// Draws a tile.
pub fn draw(tile: &Tile, title: &str) -> String {
    let grid = Grid::new(*tile, 36, 34);
    let cell = (grid.digits() as f64 * CHAR + 12.0).max(28.0);
    let x = positions(&grid.cols, MARGIN + LABEL, cell, grid.box_dims.1);
    let y = positions(&grid.rows, MARGIN + HEAD, CELL_HEIGHT, grid.box_dims.0);
    let (right, bottom) = (end(&x), end(&y));
    let memory = Memory::of(&grid, bottom + 58.0);
    let facts = legend(tile, "hatched elements are padding");
    let text_width = facts.iter().map(|(_, t)| t.chars().count() + 14).max().unwrap_or(0) as f64 * CHAR;
    let width = right.max(memory.right()).max(MARGIN + text_width.max(title.chars().count() as f64 * 9.2)) + MARGIN;
    let below = memory.bottom();
    let height = below + 22.0 + LINE * (facts.len() as f64 + 1.0) + MARGIN;
    let mut out = Svg::new(width, height, title);
    out.line(format_args!("<g font-size=\"15\" font-weight=\"bold\">"));
    out.text((MARGIN, MARGIN + 12.0), "start", "ti", title);
    out.line(format_args!("</g>"));
    axis_labels(&mut out, &grid, &x, &y);
    cells(&mut out, &grid, &x, &y);
    box_edges(&mut out, &grid, &x, &y);
    memory.draw(&mut out, &grid);
    for (n, (key, text)) in facts.iter().enumerate() {
        let at = below + 22.0 + LINE * (n as f64 + 1.0);
        out.text((MARGIN, at), "start", "ts", key);
        out.text((MARGIN + 12.0 * CHAR, at), "start", "ti", text);
    }
    out.end()
}

/// The start and width of each slot; boxes have a gap between them.
fn positions(slots: &[Slot], start: f64, size: f64, box_len: u64) -> Vec<(f64, f64)> {
    let mut at = start;
    let place = |slot: &Slot| {
        if Grid::is_edge(*slot, box_len) {
            at += 3.0;
        }
        let size = if slot.index().is_some() { size } else { GAP };
        at += size;
        (at - size, size)
    };
    slots.iter().map(place).collect()
}

fn end(positions: &[(f64, f64)]) -> f64 {
    positions.last().map_or(0.0, |(at, size)| at + size)
}

fn axis_labels(out: &mut Svg, grid: &Grid, x: &[(f64, f64)], y: &[(f64, f64)]) {
    let top = MARGIN + HEAD - 8.0;
    for (slot, (at, size)) in grid.cols.iter().zip(x) {
        let text = slot.index().map_or("…".into(), |c| c.to_string());
        out.text((at + size / 2.0, top), "middle", "ts", &text);
    }
    for (slot, (at, size)) in grid.rows.iter().zip(y) {
        let text = slot.index().map_or("⋮".into(), |r| r.to_string());
        out.text((MARGIN + LABEL - 8.0, at + size / 2.0 + 4.0), "end", "ts", &text);
    }
}

/// One element: coloured by its offset, or hatched.
fn cell(out: &mut Svg, grid: &Grid, (r, c): (u64, u64), [left, top, width, height]: [f64; 4], text: &str) {
    let last = grid.layout.footprint().saturating_sub(1).max(1) as f64;
    let padding = grid.is_padding(r, c);
    let fill = match padding {
        true => "url(#hatch)".into(),
        false => along(grid.layout.offset(r, c) as f64 / last).hex(),
    };
    out.line(format_args!(
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\" \
         stroke=\"#fff\" stroke-opacity=\"0.7\"/>"
    ));
    let class = if padding { "ts" } else { "to" };
    out.text((left + width / 2.0, top + height / 2.0 + 4.0), "middle", class, text);
}

fn cells(out: &mut Svg, grid: &Grid, x: &[(f64, f64)], y: &[(f64, f64)]) {
    for (row, (top, height)) in grid.rows.iter().zip(y) {
        for (col, (left, width)) in grid.cols.iter().zip(x) {
            let (Some(r), Some(c)) = (row.index(), col.index()) else {
                let mark = if row.index().is_some() { "…" } else { "⋮" };
                out.text((left + width / 2.0, top + height / 2.0 + 4.0), "middle", "ts", mark);
                continue;
            };
            cell(out, grid, (r, c), [*left, *top, *width, *height], &grid.layout.offset(r, c).to_string());
        }
    }
}

/// The memory of the tile, a fixed number of bytes per line, each element with its row and column.
struct Memory {
    per_line: u64,
    lines: Vec<Slot>,
    x: Vec<(f64, f64)>,
    y: Vec<(f64, f64)>,
    columns: Vec<Slot>,
}

impl Memory {
    fn of(grid: &Grid, top: f64) -> Memory {
        let per_line = (MEMORY_LINE * 8 / u64::from(grid.tile.elem.bits())).max(1);
        let lines = choose(grid.layout.footprint().div_ceil(per_line).max(1), 1, MEMORY_LINES);
        let columns = choose(per_line, 1, 16);
        let longest = format!("{},{}", grid.tile.rows.saturating_sub(1), grid.tile.cols.saturating_sub(1)).len();
        let x = positions(&columns, MARGIN + LABEL, (longest as f64 * CHAR + 8.0).max(28.0), 1);
        let y = positions(&lines, top, CELL_HEIGHT, 1);
        Memory { per_line, lines, x, y, columns }
    }

    fn right(&self) -> f64 {
        end(&self.x)
    }

    fn bottom(&self) -> f64 {
        end(&self.y)
    }

    fn draw(&self, out: &mut Svg, grid: &Grid) {
        let Some((top, _)) = self.y.first() else { return };
        let head = format!("memory, {MEMORY_LINE} bytes a line: row,column of the element there");
        out.text((MARGIN, top - 12.0), "start", "ts", &head);
        for (line, (top, height)) in self.lines.iter().zip(&self.y) {
            let (middle, first) = (top + height / 2.0 + 4.0, line.start() * self.per_line);
            let label = line.index().map_or("⋮".into(), |l| format!("+{}", l * MEMORY_LINE));
            out.text((MARGIN + LABEL - 8.0, middle), "end", "ts", &label);
            for (column, (left, width)) in self.columns.iter().zip(&self.x) {
                let place = i64::try_from(first + column.start()).unwrap_or(i64::MAX);
                match (line.index(), column.index(), grid.layout.inverse(place)) {
                    (Some(_), Some(_), Some((r, c))) => {
                        cell(out, grid, (r, c), [*left, *top, *width, *height], &format!("{r},{c}"));
                    }
                    (Some(_), Some(_), None) => {}
                    (Some(_), None, _) => out.text((left + width / 2.0, middle), "middle", "ts", "…"),
                    (None, ..) => out.text((left + width / 2.0, middle), "middle", "ts", "⋮"),
                }
            }
        }
    }
}

/// A frame around every run of slots between box edges.
fn box_edges(out: &mut Svg, grid: &Grid, x: &[(f64, f64)], y: &[(f64, f64)]) {
    for (top, bottom) in runs(&grid.rows, y, grid.box_dims.0) {
        for (left, right) in runs(&grid.cols, x, grid.box_dims.1) {
            out.line(format_args!(
                "<rect class=\"te\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" \
                 stroke-width=\"1.6\"/>",
                right - left,
                bottom - top
            ));
        }
    }
}

fn runs(slots: &[Slot], positions: &[(f64, f64)], box_len: u64) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (slot, (at, size)) in slots.iter().zip(positions) {
        match all.last_mut() {
            Some(run) if !Grid::is_edge(*slot, box_len) => run.1 = at + size,
            _ => all.push((*at, at + size)),
        }
    }
    all
}
