//! The memory map as a picture: addresses upward, program order to the right, one box per tile.

use super::svg::{Svg, escape};
use tessera_isa::tile::Loc;
use tessera_plan::{MemoryMap, MemoryRows, Row, Slot};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 24.0;
const HEADER: f64 = 74.0;
const PANEL: f64 = 280.0;
const PANEL_TITLE: f64 = 30.0;
const PANEL_GAP: f64 = 46.0;
const FOOTER: f64 = 20.0;
/// Pixels per character of the label font, rounded up, so that a label never leaves its box.
const CHAR: f64 = 6.7;

/// Class and size of texts.
const TITLE: (&str, u8) = ("ti", 18);
const PANEL_HEAD: (&str, u8) = ("ti", 14);
const NOTE: (&str, u8) = ("ts", 11);
const LABEL: (&str, u8) = ("to", 11);
const PLAIN: (&str, u8) = ("ti", 11);

/// Fill and border of the boxes, one pair after the other.
const COLOURS: [(&str, &str); 8] = [
    ("#cfe3f7", "#3973ac"),
    ("#d5efd6", "#3d8b46"),
    ("#fde3c4", "#c27a1d"),
    ("#e5dcf4", "#7657ae"),
    ("#f9d6da", "#b94856"),
    ("#d1efee", "#2b8a86"),
    ("#f4ebbd", "#94801a"),
    ("#e3e3e3", "#707070"),
];

/// Draws a map.
pub fn draw(map: &MemoryMap) -> String {
    let panels = map.memories.len().max(1) as f64;
    let height = HEADER + panels * (PANEL_TITLE + PANEL + PANEL_GAP) + FOOTER;
    let title = format!("Memory map of @{}", map.function);
    let mut draw = Picture { svg: Svg::new(WIDTH, height, &title), map };
    draw.head();
    let mut top = HEADER;
    for memory in &map.memories {
        draw.panel(memory, top);
        top += PANEL_TITLE + PANEL + PANEL_GAP;
    }
    if map.memories.is_empty() {
        draw.text(LEFT, HEADER + 30.0, NOTE, "start", "no tile of this function needs storage");
    }
    draw.svg.end()
}

struct Picture<'a> {
    svg: Svg,
    map: &'a MemoryMap,
}

impl Picture<'_> {
    fn text(&mut self, x: f64, y: f64, (class, size): (&str, u8), anchor: &str, text: &str) {
        let text = escape(text);
        self.svg.line(format_args!(
            r#"<text class="{class}" font-size="{size}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    fn head(&mut self) {
        let title = format!("Memory map of @{} on {}", self.map.function, self.map.profile);
        self.text(LEFT, 28.0, TITLE, "start", &title);
        self.legend(LEFT, 40.0);
    }

    fn legend(&mut self, x: f64, y: f64) {
        let (fill, border) = COLOURS[0];
        let entries = [(fill, border, "placed automatically"), ("url(#hatch)", "#707070", "address in the text")];
        let mut at = x;
        for (fill, border, text) in entries {
            self.svg.line(format_args!(
                r#"<rect x="{at:.1}" y="{y:.1}" width="22" height="12" rx="2" fill="{fill}" stroke="{border}"/>"#
            ));
            self.text(at + 28.0, y + 10.0, NOTE, "start", text);
            at += 28.0 + text.chars().count() as f64 * CHAR + 18.0;
        }
        self.svg.line(format_args!(
            r##"<line x1="{at:.1}" y1="{0:.1}" x2="{1:.1}" y2="{0:.1}" stroke="#d33b4d" stroke-width="1.5" stroke-dasharray="6 3"/>"##,
            y + 6.0,
            at + 22.0
        ));
        self.text(at + 28.0, y + 10.0, NOTE, "start", "capacity");
        self.text(at + 110.0, y + 10.0, NOTE, "start", "address ↑   program order →");
    }

    fn panel(&mut self, memory: &MemoryRows, top: f64) {
        let scale = Scale::new(self.map, memory, top + PANEL_TITLE);
        self.text(LEFT, top + 16.0, PANEL_HEAD, "start", &panel_title(memory));
        self.text(WIDTH - RIGHT, top + 16.0, NOTE, "end", &summary(memory));
        self.axes(&scale);
        for (i, row) in memory.rows.iter().enumerate() {
            self.tile(&scale, row, i);
        }
        // Labels and overlaps lie above all boxes, so that none hides them.
        memory.rows.iter().for_each(|row| self.label(&scale, row));
        for (n, row) in memory.rows.iter().enumerate() {
            memory.rows[n + 1..].iter().for_each(|other| self.overlap(&scale, row, other));
        }
        if let Some(capacity) = memory.capacity.filter(|c| *c <= scale.bytes) {
            let (y, right) = (scale.y(capacity), WIDTH - RIGHT);
            self.svg.line(format_args!(
                r##"<line x1="{LEFT}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}" stroke="#d33b4d" stroke-width="1.5" stroke-dasharray="6 3"/>"##
            ));
        }
    }

    fn axes(&mut self, scale: &Scale) {
        let (bottom, right) = (scale.top + PANEL, WIDTH - RIGHT);
        self.svg.line(format_args!(
            r##"<rect x="{LEFT}" y="{0:.1}" width="{1:.1}" height="{PANEL}" fill="none" class="tn"/>"##,
            scale.top,
            right - LEFT
        ));
        for tick in ticks(scale.bytes) {
            let y = scale.y(tick);
            self.svg.line(format_args!(
                r##"<line class="tn" stroke-opacity="0.4" x1="{LEFT}" y1="{y:.1}" x2="{right:.1}" y2="{y:.1}"/>"##
            ));
            self.text(LEFT - 8.0, y + 4.0, NOTE, "end", &format!("{tick:#x}"));
        }
        for position in steps(self.map.exit) {
            let x = scale.x(position);
            self.svg.line(format_args!(
                r##"<line x1="{x:.1}" y1="{bottom:.1}" x2="{x:.1}" y2="{0:.1}" class="tn"/>"##,
                bottom + 4.0
            ));
            let (name, anchor) = match position {
                0 => ("start", "start"),
                p if p == self.map.exit => ("end", "end"),
                p => (self.map.steps.get(p as usize).copied().unwrap_or(""), "middle"),
            };
            self.text(x, bottom + 16.0, NOTE, anchor, &format!("{position}"));
            self.text(x, bottom + 29.0, NOTE, anchor, name);
        }
    }

    fn tile(&mut self, scale: &Scale, row: &Row, index: usize) {
        let Row { name, ty, slot, .. } = row;
        let (Slot { addr, bytes, start, end, .. }, limit) = (*slot, slot.limit());
        let (x, x2) = (scale.x(start), scale.x(end.saturating_add(1)));
        let (y, y2) = (scale.y(limit), scale.y(addr));
        let (w, h) = ((x2 - x).max(1.5), (y2 - y).max(1.0));
        let (fill, border) = match row.is_manual {
            true => ("url(#hatch)", "#707070"),
            false => COLOURS[index % COLOURS.len()],
        };
        let hint = escape(&format!("{name} {ty}: {addr:#x}…{limit:#x}, {bytes} bytes, positions {start} to {end}"));
        self.svg.line(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" rx="2" fill="{fill}" stroke="{border}"><title>{hint}</title></rect>"#
        ));
    }

    /// The name of a tile in its box, with its size where there is room.
    fn label(&mut self, scale: &Scale, row: &Row) {
        let Row { name, slot, .. } = row;
        let (Slot { addr, bytes, start, end, .. }, limit) = (*slot, slot.limit());
        let (x, x2) = (scale.x(start), scale.x(end.saturating_add(1)));
        let (y, y2) = (scale.y(limit), scale.y(addr));
        let (w, h) = ((x2 - x).max(1.5), (y2 - y).max(1.0));
        if h < 13.0 {
            return;
        }
        let long = format!("{name}  {}", size(bytes));
        let Some(label) = [long, name.clone()].into_iter().find(|l| width(l) + 8.0 <= w) else {
            return self.upright(row, x, y, w, h);
        };
        if row.is_manual {
            // Letters on stripes are hard to read.
            self.svg.line(format_args!(
                r##"<rect x="{0:.1}" y="{1:.1}" width="{2:.1}" height="12" class="tp"/>"##,
                x + w / 2.0 - width(&label) / 2.0 - 2.0,
                y + h / 2.0 - 6.0,
                width(&label) + 4.0
            ));
        }
        let class = if row.is_manual { PLAIN } else { LABEL };
        self.text(x + w / 2.0, y + h / 2.0 + 4.0, class, "middle", &label);
    }

    /// Marks the bytes that two tiles with addresses share while both are alive.
    fn overlap(&mut self, scale: &Scale, a: &Row, b: &Row) {
        let (from, to) = (a.slot.addr.max(b.slot.addr), a.slot.limit().min(b.slot.limit()));
        let (start, end) = (a.slot.start.max(b.slot.start), a.slot.end.min(b.slot.end));
        // One that begins where the other ends takes over its place.
        if !(a.is_manual && b.is_manual) || from >= to || start >= end {
            return;
        }
        let (x, x2) = (scale.x(start), scale.x(end.saturating_add(1)));
        let (y, y2) = (scale.y(to), scale.y(from));
        let (w, h) = ((x2 - x).max(1.5), (y2 - y).max(2.0));
        let hint = escape(&format!("{} and {} are both alive in {from:#x}…{to:#x}", a.name, b.name));
        self.svg.line(format_args!(
            r##"<rect x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" fill="#d33b4d" fill-opacity="0.35" stroke="#d33b4d" stroke-width="2"><title>{hint}</title></rect>"##
        ));
        let label = "overlap";
        if width(label) + 8.0 <= w {
            self.text(x + w / 2.0, y - 4.0, PLAIN, "middle", label);
        }
    }

    /// A narrow box has its name written upward, if it is high enough.
    fn upright(&mut self, row: &Row, x: f64, y: f64, w: f64, h: f64) {
        if w < 13.0 || width(&row.name) + 8.0 > h {
            return;
        }
        let (cx, cy) = (x + w / 2.0 + 4.0, y + h / 2.0);
        let class = if row.is_manual { "ti" } else { "to" };
        self.svg.line(format_args!(
            r#"<text class="{class}" font-size="11" x="{cx:.1}" y="{cy:.1}" text-anchor="middle" transform="rotate(-90 {cx:.1} {cy:.1})">{}</text>"#,
            escape(&row.name)
        ));
    }
}

/// From positions and bytes to pixels.
struct Scale {
    top: f64,
    exit: f64,
    bytes: u64,
}

impl Scale {
    fn new(map: &MemoryMap, memory: &MemoryRows, top: f64) -> Self {
        // A memory that is nearly empty is shown up to what is used, so that the boxes can be seen.
        let used = memory.high_water.max(1);
        let bytes = match memory.capacity {
            Some(c) if used.saturating_mul(4) >= c => c.max(used),
            _ => used,
        };
        Scale { top, exit: f64::from(map.exit) + 1.0, bytes: bytes.saturating_add(bytes / 16) }
    }

    fn x(&self, position: u32) -> f64 {
        LEFT + (WIDTH - RIGHT - LEFT) * (f64::from(position) / self.exit).min(1.0)
    }

    fn y(&self, addr: u64) -> f64 {
        self.top + PANEL * (1.0 - (addr as f64 / self.bytes as f64).min(1.0))
    }
}

fn panel_title(memory: &MemoryRows) -> String {
    let name = memory.loc.memory_name();
    let name = name.strip_prefix("the ").unwrap_or(name);
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    let name: String = first.into_iter().chain(letters).collect();
    match memory.loc {
        Loc::Vec | Loc::Mat | Loc::Left | Loc::Right | Loc::Acc => format!("{name} ({})", memory.loc),
        _ => name,
    }
}

fn summary(memory: &MemoryRows) -> String {
    let (tiles, peak, used) = (memory.rows.len(), size(memory.peak), size(memory.high_water));
    let limit = memory.capacity.map_or(String::new(), |bytes| format!(" of {}", size(bytes)));
    let reserved = match memory.reserved {
        0 => String::new(),
        bytes => format!(" ({} more for the runtime)", size(bytes)),
    };
    format!("{tiles} tiles · {peak} alive at most · {used} used{limit}{reserved}")
}

/// Bytes in the unit that keeps them short.
fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1024 && b % 1024 == 0 => format!("{} KiB", b / 1024),
        b if b >= 10 * 1024 => format!("{:.1} KiB", b as f64 / 1024.0),
        b => format!("{b} B"),
    }
}

/// At most nine round addresses.
fn ticks(bytes: u64) -> impl Iterator<Item = u64> {
    let step = (bytes / 8).max(1).next_power_of_two();
    (0..=8).map(move |i| i * step).take_while(move |t| *t <= bytes)
}

/// At most eleven positions, the first and the last among them, none too near to another.
fn steps(exit: u32) -> Vec<u32> {
    let step = exit.div_ceil(10).max(1);
    let mut all: Vec<u32> = (0..exit).step_by(step as usize).filter(|p| *p == 0 || exit - p > step / 2).collect();
    all.push(exit);
    all
}

fn width(label: &str) -> f64 {
    label.chars().count() as f64 * CHAR
}
