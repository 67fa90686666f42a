//! A timeline as a picture: a lane for each pipe, cycles to the right. Colours follow the reader's light or dark theme.

use super::{Shown, core_name};
use std::collections::HashSet;
use std::fmt::Write;
use tessera_draw::svg::{Svg, escape};
use tessera_isa::ops::Pipe;
use tessera_race::timeline::{Arrow, Process, Slice, SliceKind};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 24.0;
const HEADER: f64 = 84.0;
const LANE: f64 = 30.0;
const BOX: f64 = 22.0;
const GAP: f64 = 26.0;
const FOOTER: f64 = 40.0;
/// Pixels per character of a label, rounded up.
const CHAR: f64 = 6.4;
/// Slices that are narrower than this are drawn together with their neighbours.
const THIN: f64 = 0.8;
/// Of more arrows than this only those of the critical path are drawn.
const MAX_ARROWS: usize = 300;
/// More arrows than this are drawn thin.
const MANY_ARROWS: usize = 100;

/// Colours that a theme changes.
const STYLE: &str = r#"<style>
svg { --page: #ffffff; --ink: #1f2328; --faint: #59636e; --line: #d8dee4; --lane: #f6f8fa; --box: #b6d4f7; --edge: #2f6fb2;
  --wait: #d0a215; --path: #c02040; --arrow: #6e4fa3 }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --ink: #e6edf3; --faint: #9198a1; --line: #30363d; --lane: #161b22; --box: #1f4f86; --edge: #6cb0f5;
    --wait: #d8b13c; --path: #ff7b8a; --arrow: #b392f0 }
}
.title { font-size: 17px; font-weight: bold; fill: var(--ink) }
.name { font-size: 13px; font-weight: bold; fill: var(--ink) }
.note { font-size: 11px; fill: var(--faint) }
.text { font-size: 11px; fill: var(--ink) }
.page { fill: var(--page) }
.lane { fill: var(--lane) }
.tick { stroke: var(--line) }
.work { fill: var(--box); stroke: var(--edge) }
.unknown { fill: var(--page); stroke: var(--edge); stroke-dasharray: 3 2 }
.wait { stroke: var(--wait); stroke-width: 2; stroke-dasharray: 2 3 }
.path { fill: none; stroke: var(--path); stroke-width: 2.5 }
.arrow { fill: none; stroke: var(--arrow); stroke-width: 1.2 }
.head { fill: var(--arrow) }
.many { stroke-width: 0.5; opacity: 0.6 }
</style>"#;

/// Draws a timeline.
pub fn draw(shown: &Shown<'_>) -> String {
    let lanes: Vec<Vec<Pipe>> = shown.line.processes.iter().map(lanes).collect();
    let rows: f64 = lanes.iter().map(|l| l.len() as f64 * LANE + GAP).sum();
    let height = HEADER + rows.max(GAP) + FOOTER;
    let mut picture = Picture { svg: Svg::default(), shown, total: shown.line.total.max(1), tops: Vec::new() };
    picture.head(height);
    let mut top = HEADER;
    for (process, lanes) in shown.line.processes.iter().zip(&lanes) {
        top = picture.process(process, lanes, top);
    }
    picture.axis();
    for (n, process) in shown.line.processes.iter().enumerate() {
        picture.slices(n, process);
    }
    picture.path();
    picture.arrows();
    picture.svg.end()
}

/// The pipes of a core that are used.
fn lanes(process: &Process) -> Vec<Pipe> {
    Pipe::ALL.iter().copied().filter(|pipe| process.slices.iter().any(|s| s.pipe == *pipe)).collect()
}

struct Picture<'a> {
    svg: Svg,
    shown: &'a Shown<'a>,
    total: u64,
    /// By process: the lanes with their tops.
    tops: Vec<Vec<(Pipe, f64)>>,
}

impl Picture<'_> {
    fn x(&self, cycle: u64) -> f64 {
        LEFT + cycle as f64 / self.total as f64 * (WIDTH - LEFT - RIGHT)
    }

    /// The top of a slice's box.
    fn y(&self, process: usize, slice: &Slice) -> f64 {
        let lanes = self.tops.get(process).map_or(&[][..], Vec::as_slice);
        lanes.iter().find(|(pipe, _)| *pipe == slice.pipe).map_or(0.0, |(_, top)| top + (LANE - BOX) / 2.0)
    }

    fn text(&mut self, (x, y): (f64, f64), class: &str, anchor: &str, text: &str) {
        let text = escape(text);
        self.svg
            .line(format_args!(r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#));
    }

    fn head(&mut self, height: f64) {
        self.svg.line(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif">"#
        ));
        self.svg.line(format_args!("{STYLE}"));
        self.svg.line(format_args!(
            r#"<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path class="head" d="M0,0 L8,4 L0,8 z"/></marker></defs>
<rect class="page" width="{WIDTH}" height="{height}"/>"#
        ));
        let title = format!("Timeline of {}: {}", self.shown.title(), self.shown.total());
        self.text((LEFT, 26.0), "title", "start", &title);
        let below = self.shown.bound().map_or(String::new(), |bound| format!("{bound}; "));
        self.text((LEFT, 44.0), "note", "start", &format!("{below}{}", self.shown.costs()));
        self.legend(58.0);
    }

    fn legend(&mut self, y: f64) {
        let mut x = LEFT;
        let middle = y + 6.0;
        for (class, text) in [("work", "instruction :line"), ("unknown", "of unknown cost"), ("path", "critical path")]
        {
            self.svg
                .line(format_args!(r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="22" height="12" rx="2"/>"#));
            self.text((x + 28.0, y + 10.0), "note", "start", text);
            x += 46.0 + text.len() as f64 * CHAR;
        }
        let mark = |svg: &mut Svg, x: f64, class: &str, end: &str| {
            svg.line(format_args!(
                r#"<path class="{class}" d="M{x:.1},{middle:.1} L{:.1},{middle:.1}"{end}/>"#,
                x + 22.0
            ));
        };
        mark(&mut self.svg, x, "wait", "");
        self.text((x + 28.0, y + 10.0), "note", "start", "waits");
        x += 78.0;
        mark(&mut self.svg, x, "arrow", r#" marker-end="url(#head)""#);
        self.text((x + 28.0, y + 10.0), "note", "start", "flag");
    }

    /// The lanes of a core; gives the place below them.
    fn process(&mut self, process: &Process, lanes: &[Pipe], top: f64) -> f64 {
        let name = core_name(self.shown.line, process);
        let mut y = top;
        if !name.is_empty() {
            self.text((LEFT, y + 14.0), "name", "start", &name);
            y += 18.0;
        }
        let mut tops = Vec::new();
        for pipe in lanes {
            let width = WIDTH - LEFT - RIGHT;
            self.svg.line(format_args!(
                r#"<rect class="lane" x="{LEFT}" y="{:.1}" width="{width}" height="{:.1}"/>"#,
                y + 1.0,
                LANE - 2.0
            ));
            self.text((LEFT - 8.0, y + LANE / 2.0 + 4.0), "name", "end", pipe.name());
            tops.push((*pipe, y));
            y += LANE;
        }
        self.tops.push(tops);
        y + GAP - if name.is_empty() { 0.0 } else { 18.0 }
    }

    /// Below the last lane.
    fn bottom(&self) -> f64 {
        self.tops.iter().flatten().map(|(_, top)| top + LANE).fold(HEADER, f64::max) + 4.0
    }

    fn axis(&mut self) {
        let bottom = self.bottom();
        let step = round_step(self.total);
        for cycle in (0..=self.total).step_by(step as usize) {
            let x = self.x(cycle);
            self.svg
                .line(format_args!(r#"<line class="tick" x1="{x:.1}" y1="{HEADER}" x2="{x:.1}" y2="{bottom:.1}"/>"#));
            self.text((x, bottom + 14.0), "note", "middle", &cycle.to_string());
        }
        self.text((WIDTH - RIGHT, bottom + 30.0), "note", "end", "cycles →");
    }

    /// Boxes, with neighbours that are too thin for one of their own drawn together.
    fn slices(&mut self, n: usize, process: &Process) {
        for pipe in lanes(process) {
            let mut thin: Option<(u64, u64)> = None;
            let slices: Vec<&Slice> = process.slices.iter().filter(|s| s.pipe == pipe).collect();
            for slice in slices {
                let y = self.y(n, slice);
                let narrow = self.x(slice.end) - self.x(slice.start) < THIN && slice.is_work();
                match &mut thin {
                    Some((_, end)) if narrow && *end == slice.start => *end = slice.end,
                    _ => {
                        if let Some(done) = thin.take() {
                            self.filled(done, y);
                        }
                        match narrow {
                            true => thin = Some((slice.start, slice.end)),
                            false => self.slice(slice, y),
                        }
                    }
                }
            }
            let top = self.tops[n].iter().find(|t| t.0 == pipe).map_or(0.0, |t| t.1 + (LANE - BOX) / 2.0);
            if let Some(done) = thin {
                self.filled(done, top);
            }
        }
    }

    fn filled(&mut self, (start, end): (u64, u64), y: f64) {
        let (x, width) = (self.x(start), (self.x(end) - self.x(start)).max(THIN));
        self.svg.line(format_args!(r#"<rect class="work" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{BOX}"/>"#));
    }

    fn slice(&mut self, slice: &Slice, y: f64) {
        let (x, end) = (self.x(slice.start), self.x(slice.end));
        let class = match &slice.what {
            SliceKind::Wait(why) => {
                let (middle, why) = (y + BOX / 2.0, escape(&why.to_string()));
                self.svg.line(format_args!(
                    r#"<path class="wait" d="M{x:.1},{middle:.1} L{end:.1},{middle:.1}"><title>wait {why}, {} cycles</title></path>"#,
                    slice.cycles()
                ));
                return;
            }
            SliceKind::Work { known: true } => "work",
            SliceKind::Work { known: false } => "unknown",
        };
        let (width, name, line) = ((end - x).max(THIN), self.shown.mnemonic(slice), self.shown.number(slice));
        let mut about = format!("{name} in line {line}, {} to {}", slice.start, slice.end);
        if !slice.turns.is_empty() {
            let _ =
                write!(about, ", iteration {}", slice.turns.iter().map(u64::to_string).collect::<Vec<_>>().join(","));
        }
        self.svg.line(format_args!(
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{BOX}" rx="2"><title>{}: {}</title></rect>"#,
            escape(&about),
            escape(&self.shown.operands(slice))
        ));
        let long = format!("{name} :{line}");
        let label = [long.as_str(), name].into_iter().find(|l| l.len() as f64 * CHAR + 6.0 <= width);
        if let Some(label) = label {
            self.text((x + width / 2.0, y + BOX / 2.0 + 4.0), "text", "middle", label);
        }
    }

    /// A frame around what the critical path goes through; neighbours share one.
    fn path(&mut self) {
        let mut frames: Vec<(f64, u64, u64)> = Vec::new();
        for step in &self.shown.line.path {
            let slice = self.shown.slice(step.at);
            let y = self.y(step.at.0, slice);
            let narrow = self.x(slice.end) - self.x(slice.start) < 4.0 * THIN;
            match frames.last_mut() {
                Some((top, _, end)) if narrow && *top == y && *end == slice.start => *end = slice.end,
                _ => frames.push((y, slice.start, slice.end)),
            }
        }
        for (y, start, end) in frames {
            let (x, width) = (self.x(start), (self.x(end) - self.x(start)).max(THIN));
            self.svg.line(format_args!(
                r#"<rect class="path" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{BOX}" rx="2"/>"#
            ));
        }
    }

    fn arrows(&mut self) {
        let line = self.shown.line;
        let mut arrows: Vec<&Arrow> = line.arrows.iter().collect();
        if arrows.len() > MAX_ARROWS {
            let path: HashSet<_> = line.path.iter().map(|step| step.at).collect();
            arrows.retain(|arrow| path.contains(&arrow.from) && path.contains(&arrow.to));
            arrows.truncate(MAX_ARROWS);
            let what = format!("{} of {} flags are drawn, those of the critical path", arrows.len(), line.arrows.len());
            self.text((LEFT, self.bottom() + 30.0), "note", "start", &what);
        }
        let class = if arrows.len() > MANY_ARROWS { "arrow many" } else { "arrow" };
        for arrow in arrows {
            let [from, to] = [arrow.from, arrow.to].map(|at| self.shown.slice(at));
            let (mut y, mut y2) = (self.y(arrow.from.0, from), self.y(arrow.to.0, to));
            if y < y2 {
                y += BOX
            } else {
                y2 += BOX
            }
            let (x, x2) = (self.x(from.end), self.x(to.start));
            let why = escape(&arrow.why.to_string());
            self.svg.line(format_args!(
                r#"<path class="{class}" d="M{x:.1},{y:.1} L{x2:.1},{y2:.1}" marker-end="url(#head)"><title>{why}</title></path>"#
            ));
        }
    }
}

/// A round number of cycles between ticks, for at most ten of them.
fn round_step(total: u64) -> u64 {
    let steps = (0..19).flat_map(|k| [1, 2, 5].map(|n| n * 10u64.pow(k)));
    steps.into_iter().find(|step| total / step <= 10).unwrap_or(u64::MAX)
}
