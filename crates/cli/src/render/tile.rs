//! A tile as a picture for documentation: cells coloured by memory order, box edges, padding hatched, a legend below.

use super::grid::{Grid, Slot, legend};
use super::svg::{Svg, escape};
use tessera_isa::tile::Tile;

const CELL_HEIGHT: f64 = 24.0;
const GAP: f64 = 20.0;
const MARGIN: f64 = 24.0;
const HEAD: f64 = 58.0;
const LABEL: f64 = 40.0;
const CHAR: f64 = 7.3;
const LINE: f64 = 20.0;

/// Draws a tile.
pub fn draw(tile: &Tile, title: &str) -> String {
    let grid = Grid::new(*tile, 36, 34);
    let cell = (grid.digits() as f64 * CHAR + 12.0).max(28.0);
    let x = positions(&grid.cols, MARGIN + LABEL, cell, grid.box_dims.1);
    let y = positions(&grid.rows, MARGIN + HEAD, CELL_HEIGHT, grid.box_dims.0);
    let (right, bottom) = (end(&x), end(&y));
    let facts = legend(tile, "hatched elements are padding");
    let text_width = facts.iter().map(|(_, t)| t.chars().count() + 14).max().unwrap_or(0) as f64 * CHAR;
    let width = right.max(MARGIN + text_width.max(title.chars().count() as f64 * 9.2)) + MARGIN;
    let height = bottom + 22.0 + LINE * (facts.len() as f64 + 1.0) + MARGIN;
    let mut out = Svg::default();
    out.line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
         {height:.0}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"12\">\n\
         <defs><pattern id=\"padding\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#ffffff\"/><path d=\"M0 0V6\" \
         stroke=\"#d5d9df\" stroke-width=\"2\"/></pattern></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    ));
    out.line(format_args!(
        "<text x=\"{MARGIN}\" y=\"{:.1}\" font-size=\"15\" font-weight=\"bold\" fill=\"#1b2733\">{}</text>",
        MARGIN + 12.0,
        escape(title)
    ));
    axis_labels(&mut out, &grid, &x, &y);
    cells(&mut out, &grid, &x, &y);
    box_edges(&mut out, &grid, &x, &y);
    for (n, (key, text)) in facts.iter().enumerate() {
        let at = bottom + 22.0 + LINE * (n as f64 + 1.0);
        out.line(format_args!(
            "<text x=\"{MARGIN}\" y=\"{at:.1}\" fill=\"#6b7785\">{key}</text><text x=\"{:.1}\" y=\"{at:.1}\" \
             fill=\"#1b2733\">{}</text>",
            MARGIN + 12.0 * CHAR,
            escape(text)
        ));
    }
    out.end()
}

/// Where each slot starts and how wide it is; boxes stand a little apart.
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

fn label(out: &mut Svg, (x, y): (f64, f64), anchor: &str, fill: &str, text: &str) {
    out.line(format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{text}</text>"));
}

fn axis_labels(out: &mut Svg, grid: &Grid, x: &[(f64, f64)], y: &[(f64, f64)]) {
    let top = MARGIN + HEAD - 8.0;
    for (slot, (at, size)) in grid.cols.iter().zip(x) {
        let text = slot.index().map_or("…".into(), |c| c.to_string());
        label(out, (at + size / 2.0, top), "middle", "#6b7785", &text);
    }
    for (slot, (at, size)) in grid.rows.iter().zip(y) {
        let text = slot.index().map_or("⋮".into(), |r| r.to_string());
        label(out, (MARGIN + LABEL - 8.0, at + size / 2.0 + 4.0), "end", "#6b7785", &text);
    }
}

fn cells(out: &mut Svg, grid: &Grid, x: &[(f64, f64)], y: &[(f64, f64)]) {
    let last = grid.layout.footprint().saturating_sub(1).max(1) as f64;
    for (row, (top, height)) in grid.rows.iter().zip(y) {
        for (col, (left, width)) in grid.cols.iter().zip(x) {
            let middle = (left + width / 2.0, top + height / 2.0 + 4.0);
            let (Some(r), Some(c)) = (row.index(), col.index()) else {
                label(out, middle, "middle", "#9aa5b1", if row.index().is_some() { "…" } else { "⋮" });
                continue;
            };
            let offset = grid.layout.offset(r, c);
            let padding = grid.is_padding(r, c);
            let fill = if padding { "url(#padding)".into() } else { shade(offset as f64 / last) };
            let ink = if padding { "#8a95a1" } else { "#1b2733" };
            out.line(format_args!(
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\" \
                 stroke=\"#ffffff\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{offset}</text>",
                middle.0, middle.1
            ));
        }
    }
}

/// From pale to strong along memory, through two hues so that neighbours differ.
fn shade(t: f64) -> String {
    let stops = [(0xff, 0xf4, 0xd6), (0xbf, 0xe3, 0xc9), (0x8f, 0xbd, 0xee)];
    let (a, b, t) = if t < 0.5 { (stops[0], stops[1], t * 2.0) } else { (stops[1], stops[2], t * 2.0 - 1.0) };
    let mix = |a: i32, b: i32| (f64::from(a) + f64::from(b - a) * t).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// A frame around every run of slots between box edges.
fn box_edges(out: &mut Svg, grid: &Grid, x: &[(f64, f64)], y: &[(f64, f64)]) {
    for (top, bottom) in runs(&grid.rows, y, grid.box_dims.0) {
        for (left, right) in runs(&grid.cols, x, grid.box_dims.1) {
            out.line(format_args!(
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"#33414f\" \
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
