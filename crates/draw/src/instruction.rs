//! Pictures of instructions: sources on the left, destinations on the right. An element has the colour of its source
//! element, and a few elements have arrows.

use super::colour::{Colour, grey, place};
use super::flow::{At, Flow, How, Operand, bounds};
use super::sample;
use super::svg::Svg;
use std::collections::BTreeMap;
use std::fmt::Write;
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;

const MARGIN: f64 = 16.0;
const LABEL: f64 = 22.0;
const BETWEEN: f64 = 18.0;
const MIDDLE: f64 = 120.0;
const CHAR: f64 = 7.3;
const LINE: f64 = 19.0;
/// The greatest width and height of a grid.
const WIDEST: f64 = 340.0;
const HIGHEST: f64 = 220.0;
/// Rows or columns of an operand that are drawn; what is beyond is cut off.
const MOST: u64 = 64;
/// Colours along an axis, so that cells share them and pictures stay small.
const BANDS: u64 = 8;
/// Sources of one element that count for its colour.
const MIXED: usize = 64;
/// Elements that have arrows.
const ARROWS: [&str; 3] = ["#d6336c", "#1971c2", "#2b8a3e"];

/// Draws an instruction; values that it does not know are small ones. None where nothing moves.
///
/// ```
/// use tessera_isa::elem::Elem;
/// use tessera_isa::inst::{Inst, TileArg};
/// use tessera_isa::ops::{Form, Opcode, Role};
/// use tessera_isa::profile::Profile;
/// use tessera_isa::tile::{Loc, TileType};
///
/// let tile = |rows, cols| TileType::new(Loc::Vec, Elem::F32, rows, cols).resolve(Profile::Cpu);
/// let mut inst = Inst::new(Opcode::parse("ttrans").unwrap(), Form::Plain, Profile::Cpu);
/// inst.tiles.push(TileArg::of_type(Role::Src, tile(8, 16)));
/// inst.tiles.push(TileArg::of_type(Role::Dst, tile(16, 8)));
/// let picture = tessera_draw::instruction::draw(&inst).unwrap();
/// assert!(picture.contains("dst[3, 4] = src[4, 3]"), "{picture}");
/// ```
pub fn draw(inst: &Inst) -> Option<String> {
    let inst = sample::known(inst);
    let read = |tile: usize, byte: i64, len: u64| sample::element(&inst, tile, byte, len);
    let flow = Flow::of(&inst, Some(&read))?;
    flow.operands.iter().any(|o| o.is_dst).then(|| picture(&flow, &inst.op.title()))
}

/// The picture of elements that are known.
pub fn picture(flow: &Flow, title: &str) -> String {
    let samples = samples(flow);
    let texts: Vec<String> = samples.iter().map(|at| flow.formula(*at)).collect();
    let panels = panels(flow);
    let right = panels.iter().map(|p| p.x + p.width().max(p.label().chars().count() as f64 * CHAR)).fold(0.0, f64::max);
    let bottom = panels.iter().map(|p| p.y + p.height()).fold(0.0, f64::max) + BETWEEN;
    let text = texts.iter().map(|t| t.chars().count() as f64 * CHAR + 28.0).fold(0.0, f64::max);
    let notes = notes(flow);
    let height = bottom + LINE * (texts.len() + usize::from(!notes.is_empty())) as f64 + MARGIN;
    let notes_width = notes.chars().count() as f64 * CHAR;
    let mut out = Svg::new(right.max(MARGIN + text.max(notes_width)) + MARGIN, height, title);
    for panel in &panels {
        panel.draw(&mut out, flow);
    }
    for (at, colour) in samples.iter().zip(ARROWS) {
        arrows(&mut out, flow, &panels, *at, colour);
    }
    for (n, (text, colour)) in texts.iter().zip(ARROWS).enumerate() {
        let y = bottom + LINE * (n as f64 + 0.7);
        out.line(format_args!(
            "<rect x=\"{MARGIN}\" y=\"{:.1}\" width=\"11\" height=\"11\" fill=\"{colour}\"/>",
            y - 10.0
        ));
        out.text((MARGIN + 18.0, y), "start", "ti", text);
    }
    if !notes.is_empty() {
        out.text((MARGIN, bottom + LINE * (texts.len() as f64 + 0.7)), "start", "ts", &notes);
    }
    out.end()
}

/// The legend of the picture.
fn notes(flow: &Flow) -> String {
    let all = || {
        let each = flow.operands.iter().enumerate();
        each.flat_map(|(operand, o)| {
            (0..o.rows.min(MOST)).flat_map(move |row| (0..o.cols.min(MOST)).map(move |col| At { operand, row, col }))
        })
        .map(|at| flow.how(at))
    };
    let mut notes = Vec::new();
    if all().any(|h| matches!(h, How::Filled(_))) {
        let is_shaded = (0..flow.operands.len()).any(|operand| values(flow, operand).is_some());
        notes.push(if is_shaded { "grey: a value, the darker the greater" } else { "grey: a value" });
    }
    if all().any(|h| h == How::Undefined) {
        notes.push("hatched: undefined afterwards");
    }
    if all().any(|h| h == How::Decided) {
        notes.push("dotted: data decides");
    }
    if flow.operands.iter().any(|o| o.valid[0] < o.rows || o.valid[1] < o.cols) {
        notes.push("faded: outside the valid region");
    }
    notes.join(" · ")
}

/// The least and the greatest value that fills a part of an operand, where there are several.
fn values(flow: &Flow, operand: usize) -> Option<(f64, f64)> {
    let o = flow.operands.get(operand)?;
    let mut range: Option<(f64, f64)> = None;
    for at in (0..o.rows.min(MOST)).flat_map(|row| (0..o.cols.min(MOST)).map(move |col| At { operand, row, col })) {
        if let How::Filled(bits) = flow.how(at) {
            let value = number(o.elem, bits);
            range = Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
        }
    }
    range.filter(|(low, high)| low < high)
}

fn number(elem: Elem, bits: u64) -> f64 {
    match elem.decode(bits) {
        Number::Int(v) => v as f64,
        Number::Float(v) => v,
    }
}

/// Elements that are followed: from the first and the last part of each destination.
fn samples(flow: &Flow) -> Vec<At> {
    let mut found: Vec<At> = Vec::new();
    let is_made = |at: &At| matches!(flow.how(*at), How::Copied | How::Computed(_) | How::Folded(_));
    let dsts = flow.operands.iter().enumerate().filter(|(_, o)| o.is_dst);
    for (operand, o) in dsts {
        let cells =
            (0..o.rows.min(MOST)).flat_map(|row| (0..o.cols.min(MOST)).map(move |col| At { operand, row, col }));
        let mut made: Vec<At> = cells.clone().filter(is_made).collect();
        if made.is_empty() {
            made.extend(cells.filter(|at| matches!(flow.how(*at), How::Filled(_))));
        }
        for at in [made.len() * 2 / 9, made.len() * 4 / 5].into_iter().filter_map(|n| made.get(n)) {
            if !found.contains(at) {
                found.push(*at);
            }
        }
    }
    found.truncate(ARROWS.len());
    found
}

/// A grid in the picture.
struct Panel<'a> {
    operand: usize,
    info: &'a Operand,
    name: String,
    /// The number of the source, for its colours.
    source: usize,
    x: f64,
    y: f64,
    cell: f64,
}

fn panels(flow: &Flow) -> Vec<Panel<'_>> {
    let mut all: Vec<Panel<'_>> = Vec::new();
    let mut source = 0;
    for (operand, info) in flow.operands.iter().enumerate() {
        let [rows, cols] = [info.rows, info.cols].map(|n| n.clamp(1, MOST) as f64);
        let cell = (WIDEST / cols).min(HIGHEST / rows).clamp(4.0, 13.0).floor();
        let name = flow.name(operand);
        all.push(Panel { operand, info, name, source, x: 0.0, y: 0.0, cell });
        source += usize::from(!info.is_dst);
    }
    // Neighbours have cells of one size, so that shapes can be compared.
    let cell = all.iter().map(|p| p.cell).fold(13.0, f64::min);
    all.iter_mut().for_each(|p| p.cell = cell);
    let wide = |p: &Panel<'_>| p.width().max(p.label().chars().count() as f64 * CHAR);
    let left = all.iter().filter(|p| !p.info.is_dst).map(wide).fold(0.0, f64::max);
    let [mut y_left, mut y_right] = [MARGIN + LABEL; 2];
    let x_right = if left > 0.0 { MARGIN + left + MIDDLE } else { MARGIN };
    for panel in &mut all {
        let (x, y) = if panel.info.is_dst { (x_right, &mut y_right) } else { (MARGIN, &mut y_left) };
        (panel.x, panel.y) = (x, *y);
        *y += panel.height() + LABEL + BETWEEN;
    }
    all
}

impl Panel<'_> {
    fn rows(&self) -> u64 {
        self.info.rows.min(MOST)
    }

    fn cols(&self) -> u64 {
        self.info.cols.min(MOST)
    }

    fn width(&self) -> f64 {
        self.cols() as f64 * self.cell
    }

    fn height(&self) -> f64 {
        self.rows() as f64 * self.cell
    }

    fn label(&self) -> String {
        let cut = if self.info.rows > MOST || self.info.cols > MOST { ", its first part" } else { "" };
        let idle = match self.info {
            info if info.decides => ", decides where",
            info if info.is_read || info.is_dst => "",
            _ => ", not read",
        };
        format!("{} {}{cut}{idle}", self.name, self.info.ty)
    }

    fn draw(&self, out: &mut Svg, flow: &Flow) {
        out.text((self.x, self.y - 7.0), "start", "ti", &self.label());
        let (x, y, width, height) = (self.x, self.y, self.width(), self.height());
        // Runs of cells of one colour in one row, by colour.
        let mut paths: BTreeMap<String, String> = BTreeMap::new();
        let values = values(flow, self.operand);
        for row in 0..self.rows() {
            let fills: Vec<Option<String>> = (0..self.cols()).map(|col| self.fill(flow, row, col, values)).collect();
            let mut col = 0;
            for run in fills.chunk_by(|a, b| a == b) {
                if let Some(fill) = run.first().cloned().flatten() {
                    let (left, top) = (x + col as f64 * self.cell, y + row as f64 * self.cell);
                    let (w, h) = (run.len() as f64 * self.cell, self.cell);
                    let _ = write!(paths.entry(fill).or_default(), "M{left} {top}h{w}v{h}h-{w}z");
                }
                col += run.len();
            }
        }
        for (fill, path) in paths {
            out.line(format_args!("<path fill=\"{fill}\" d=\"{path}\"/>"));
        }
        self.fade(out);
        let lines = |step: u64| {
            let mut path = String::new();
            let (across, down) = (self.cols().div_ceil(step), self.rows().div_ceil(step));
            for n in 1..across {
                let _ = write!(path, "M{} {y}v{height}", x + (n * step) as f64 * self.cell);
            }
            for n in 1..down {
                let _ = write!(path, "M{x} {}h{width}", y + (n * step) as f64 * self.cell);
            }
            path
        };
        out.line(format_args!(
            "<path stroke=\"#fff\" stroke-opacity=\"0.3\" stroke-width=\"0.6\" d=\"{}\"/>",
            lines(1)
        ));
        let (ir, ic) = self.info.box_dims;
        let mut edges = String::new();
        for n in (1..self.cols().div_ceil(ic.max(1))).filter(|_| ic > 1) {
            let _ = write!(edges, "M{} {y}v{height}", x + (n * ic) as f64 * self.cell);
        }
        for n in (1..self.rows().div_ceil(ir.max(1))).filter(|_| ir > 1) {
            let _ = write!(edges, "M{x} {}h{width}", y + (n * ir) as f64 * self.cell);
        }
        out.line(format_args!(
            "<path class=\"te\" fill=\"none\" stroke-width=\"1.2\" d=\"M{x} {y}h{width}v{height}h-{width}z{edges}\"/>"
        ));
    }

    /// Elements outside the valid region are faded.
    fn fade(&self, out: &mut Svg) {
        let [rows, cols] = self.info.valid;
        let (rows, cols) = (rows.min(self.rows()), cols.min(self.cols()));
        let (w, h) = (cols as f64 * self.cell, rows as f64 * self.cell);
        let rects = [(self.x + w, self.y, self.width() - w, self.height()), (self.x, self.y + h, w, self.height() - h)];
        for (x, y, w, h) in rects.into_iter().filter(|(_, _, w, h)| *w > 0.0 && *h > 0.0) {
            out.line(format_args!(
                "<rect class=\"tp\" fill-opacity=\"0.6\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>"
            ));
        }
    }

    /// The colour of a cell; none is the ground's.
    fn fill(&self, flow: &Flow, row: u64, col: u64, values: Option<(f64, f64)>) -> Option<String> {
        let at = At { operand: self.operand, row, col };
        match flow.how(at) {
            How::Kept => self.info.is_read.then(|| self.own(row, col).hex()),
            How::Undefined => Some("url(#hatch)".into()),
            How::Filled(bits) => {
                let share = values.map(|(low, high)| (number(self.info.elem, bits) - low) / (high - low));
                Some(grey(share.filter(|t| t.is_finite()).map(|t| (t * BANDS as f64).floor() / BANDS as f64)).hex())
            }
            How::Decided => Some("#e3e0f0".into()),
            How::Copied | How::Computed(_) | How::Folded(_) => {
                let sources = flow.sources(at);
                let step = sources.len().div_ceil(MIXED).max(1);
                let one = |from: &At| source_colour(flow, *from);
                Colour::mean(&sources.iter().step_by(step).map(one).collect::<Vec<_>>()).map(Colour::hex)
            }
        }
    }

    fn own(&self, row: u64, col: u64) -> Colour {
        banded(self.source, self.info, row, col)
    }
}

/// The colour of a source's element. An operand that is read and written has its own colours.
fn source_colour(flow: &Flow, at: At) -> Colour {
    let before = flow.operands.iter().take(at.operand).filter(|o| !o.is_dst).count();
    flow.operands.get(at.operand).map_or_else(|| place(0, 0.0, 0.0), |o| banded(before, o, at.row, at.col))
}

fn banded(source: usize, info: &Operand, row: u64, col: u64) -> Colour {
    let band = |i: u64, n: u64| (i * BANDS / n.max(1)) as f64 / (BANDS.min(n.max(2)) - 1) as f64;
    place(source, band(col, info.cols).min(1.0), band(row, info.rows).min(1.0))
}

/// Frames around an element and what it is made of, with lines from these to it.
fn arrows(out: &mut Svg, flow: &Flow, panels: &[Panel<'_>], at: At, colour: &str) {
    let frame = |out: &mut Svg, operand: usize, [r0, c0, r1, c1]: [u64; 4]| {
        let panel = panels.get(operand)?;
        let (r1, c1) = (r1.min(panel.rows().saturating_sub(1)), c1.min(panel.cols().saturating_sub(1)));
        let (x, y) = (panel.x + c0 as f64 * panel.cell, panel.y + r0 as f64 * panel.cell);
        let (w, h) = ((c1.saturating_sub(c0) + 1) as f64 * panel.cell, (r1.saturating_sub(r0) + 1) as f64 * panel.cell);
        out.line(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"2.4\"/>"
        ));
        Some((x, y, w, h))
    };
    let Some((x, y, _, h)) = frame(out, at.operand, [at.row, at.col, at.row, at.col]) else { return };
    let to = (x, y + h / 2.0);
    for (operand, rect) in bounds(&flow.sources(at)) {
        let Some((x, y, w, h)) = frame(out, operand, rect) else { continue };
        let is_left = panels.get(operand).is_some_and(|p| !p.info.is_dst);
        if !is_left {
            continue;
        }
        let from = (x + w, y + h / 2.0);
        let bend = ((to.0 - from.0) / 2.0).max(30.0);
        out.line(format_args!(
            "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-opacity=\"0.85\" d=\"M{:.1} {:.1}C{:.1} {:.1} {:.1} \
             {:.1} {:.1} {:.1}l-6 -3.5m6 3.5l-6 3.5\"/>",
            from.0, from.1, from.0 + bend, from.1, to.0 - bend, to.1, to.0, to.1
        ));
    }
}
