//! Ways out of a finding that are exact enough to be edits: what its help says to write, and the smallest changes of types
//! that the table could mean. Each is tried: one that does not make the finding go away, or makes another, is not offered.

use crate::actions::Fix;
use crate::findings::Finding;
use crate::snapshot::Snapshot;
use crate::symbols::type_of;
use std::sync::Arc;
use tessera::{BLayout, Profile, SLayout, TileType};
use tessera_asm::print_type;
use tessera_ir::{Def, Func, Op, OpKind, Type, ValueId};
use tessera_isa::diag::Span;
use tessera_isa::ops::Kind;
use tessera_isa::tile::{Extent, Loc};

/// The limits of offered fixes, and of bytes of text that are read to find them.
const OFFERED: usize = 4;
const BYTES: usize = 2 << 20;

/// The fixes of a finding.
pub fn fixes(snapshot: &Arc<Snapshot>, finding: &Finding) -> Vec<Fix> {
    let tries = (BYTES / snapshot.text.text.len().max(1)).clamp(2, 64);
    let candidates = candidates(snapshot, finding).into_iter().take(tries);
    candidates.filter(|fix| mends(snapshot, finding, &fix.edits)).take(OFFERED).collect()
}

/// The document with edits.
pub fn tried(snapshot: &Arc<Snapshot>, edits: Vec<(Span, String)>) -> Snapshot {
    let text = snapshot.text.with(edits);
    Snapshot::new(snapshot.uri.clone(), snapshot.version, text, snapshot.config.clone(), None)
}

/// Whether the finding is gone and no new one appeared.
fn mends(snapshot: &Arc<Snapshot>, finding: &Finding, edits: &[(Span, String)]) -> bool {
    let rule = finding.diagnostic.rule;
    let same = |f: &&Finding| f.diagnostic.rule == rule;
    let errors =
        |s: &Snapshot, p: Profile| s.findings().iter().filter(|f| f.diagnostic.is_error() && f.on.contains(&p)).count();
    let tried = tried(snapshot, edits.to_vec());
    // A text that could not be read was not checked further, so later findings are not new.
    if snapshot.program.has_errors() {
        let broken = |s: &Snapshot| s.program.check().iter().filter(|d| d.is_error()).count();
        return !tried.program.has_errors() || broken(&tried) < broken(snapshot);
    }
    let fewer = |p: Profile| errors(&tried, p) < errors(snapshot, p);
    let more = |p: &Profile| errors(&tried, *p) > errors(snapshot, *p);
    let gone = match finding.diagnostic.is_error() {
        true => finding.on.iter().all(|p| fewer(*p)),
        false => tried.findings().iter().filter(same).count() < snapshot.findings().iter().filter(same).count(),
    };
    gone && !tried.program.has_errors() && !snapshot.profiles().0.iter().any(more)
}

fn candidates(snapshot: &Arc<Snapshot>, finding: &Finding) -> Vec<Fix> {
    let mut all = Vec::new();
    let Some(span) = finding.diagnostic.span else { return all };
    let help = finding.diagnostic.help.as_deref().unwrap_or("");
    from_help(snapshot, span, help, &mut all);
    let around = snapshot.operations_in(Span::new(span.start, span.end.max(span.start + 1)));
    if let Some((func, op)) = around.min_by_key(|(_, op)| op.span.end - op.span.start) {
        let mut of_op = OfOperation { snapshot, finding, func, op, all };
        of_op.numbers(help);
        of_op.attributes(help);
        of_op.types(help);
        all = of_op.all;
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|fix| seen.insert(fix.title.clone()));
    all
}

/// Replacements that the help line states word for word.
fn from_help(snapshot: &Snapshot, span: Span, help: &str, all: &mut Vec<Fix>) {
    let mut offer = |title: String, span: Span, text: String| all.push(Fix { title, edits: vec![(span, text)] });
    let quoted = help.split('`').skip(1).step_by(2).filter(|text| !text.contains('…') && !text.is_empty());
    for text in quoted {
        if help.starts_with("did you mean") || help.starts_with("write") {
            offer(format!("Change to `{text}`"), span, text.to_string());
        }
        if help.starts_with("add") || help.starts_with("write") {
            offer(format!("Add `{text}`"), Span::new(span.end, span.end), text.to_string());
            let end = snapshot.text.line_end(span.end);
            offer(format!("Add `{text}` at the end of the line"), Span::new(end, end), text.to_string());
        }
    }
    if help.starts_with("leave it out") || help.starts_with("remove it") {
        let (start, indent) = snapshot.text.indent(span.start);
        let end = snapshot.text.line_end(span.end.saturating_sub(1).max(span.start));
        let is_line = start as usize + indent.len() == span.start as usize && end == span.end;
        let next = snapshot.text.text.get(end as usize..).unwrap_or_default();
        let behind = next.len() - next.trim_start_matches(['\r', '\n']).len().max(next.len().saturating_sub(2));
        let whole = Span::new(start, end + behind as u32);
        offer("Leave it out".into(), if is_line { whole } else { span }, String::new());
    }
}

/// Changes of one operation and what it works on.
struct OfOperation<'a> {
    snapshot: &'a Arc<Snapshot>,
    finding: &'a Finding,
    func: &'a Func,
    op: &'a Op,
    all: Vec<Fix>,
}

impl OfOperation<'_> {
    fn name(&self, value: ValueId) -> &str {
        self.snapshot.program.module().names.text(self.func.value(value).name)
    }

    /// The tiles that the operation works on, the one that the finding is about first.
    fn tiles(&self) -> Vec<(ValueId, TileType)> {
        let values = self.op.values().chain(self.op.results.iter().copied());
        let mut all: Vec<(ValueId, TileType)> = Vec::new();
        for value in values {
            if let Some(Type::Tile(tile)) = type_of(self.snapshot, self.func, value)
                && !all.iter().any(|(known, _)| *known == value)
            {
                all.push((value, *tile));
            }
        }
        let about = self.finding.span();
        let is_about = |value: ValueId| {
            let operands = self.op.operands.iter().filter(|o| o.arg.value() == Some(value));
            let mut spans = operands.flat_map(|o| [o.span, o.type_span]);
            spans.any(|s| s == about) || self.func.value(value).type_span == about
        };
        all.sort_by_key(|(value, _)| !is_about(*value));
        all
    }

    /// The edits that give values other types, everywhere that they are written.
    fn retype(&self, changes: &[(ValueId, TileType)]) -> Vec<(Span, String)> {
        let mut edits: Vec<(Span, String)> = Vec::new();
        for (value, tile) in changes {
            let definition = self.func.value(*value);
            let operands = self.func.ops.iter().flat_map(|op| &op.operands);
            let used = operands.filter(|o| o.arg.value() == Some(*value) && o.type_span != o.span);
            let spans =
                used.map(|o| o.type_span).chain([definition.type_span].into_iter().filter(|s| *s != definition.span));
            for span in spans {
                let old = self.snapshot.text.slice(span);
                let new = print_type(&Type::Tile(*tile));
                // A buffer stays one.
                let new = match old.starts_with("!pto.tile_buf") {
                    true => new.replacen("!pto.tile<", "!pto.tile_buf<", 1),
                    false => new,
                };
                if !edits.iter().any(|(known, _)| *known == span) {
                    edits.push((span, new));
                }
            }
        }
        edits
    }

    fn offer(&mut self, changes: Vec<(ValueId, TileType)>) {
        let profile = self.finding.on.first().copied().unwrap_or(self.snapshot.profile());
        let each = changes.iter().map(|(value, tile)| format!("%{} {}", self.name(*value), tile.resolve(profile)));
        let title = format!("Make {}", each.collect::<Vec<_>>().join(", "));
        let edits = self.retype(&changes);
        if !edits.is_empty() {
            self.all.push(Fix { title, edits });
        }
    }

    /// Other types of the operands: the part that the rule is about first.
    fn types(&mut self, help: &str) {
        let tiles = self.tiles();
        self.arrows(&tiles, help);
        let Some(op) = self.op.opcode() else { return };
        let (ids, rule) = (op.info().ids, self.finding.diagnostic.rule);
        if Some(rule) == ids.loc {
            for (value, tile) in &tiles {
                for loc in Loc::ALL.iter().filter(|loc| **loc != tile.loc) {
                    let (blayout, slayout, fractal) = (None, None, None);
                    self.offer(vec![(*value, TileType { loc: *loc, blayout, slayout, fractal, ..*tile })]);
                }
            }
        }
        if Some(rule) == ids.layout {
            let usual = |t: &TileType| TileType { blayout: None, slayout: None, fractal: None, ..*t };
            let unusual = tiles.iter().filter(|(_, t)| usual(t) != *t);
            self.offer(unusual.map(|(value, tile)| (*value, usual(tile))).collect());
            for (value, tile) in &tiles {
                self.offer(vec![(*value, usual(tile))]);
                for (b, s) in BLayout::ALL.iter().flat_map(|b| SLayout::ALL.iter().map(move |s| (*b, *s))) {
                    self.offer(vec![(*value, tile.with_layout(b, s, 512))]);
                }
            }
        }
        if Some(rule) == ids.dtype || rule == "value-conversion" {
            for (_, from) in &tiles {
                let others = tiles.iter().filter(|(_, t)| t.elem != from.elem);
                let changed: Vec<_> = others.map(|(v, t)| (*v, TileType { elem: from.elem, ..*t })).collect();
                changed.iter().for_each(|one| self.offer(vec![*one]));
                self.offer(changed);
            }
        }
        // Extents as another operand has them, or the other way round.
        for (value, tile) in &tiles {
            for (_, from) in tiles.iter().filter(|(other, _)| other != value) {
                let (rows, cols, v_row, v_col) = (from.rows, from.cols, from.v_row, from.v_col);
                self.offer(vec![(*value, TileType { v_row, v_col, ..*tile })]);
                self.offer(vec![(*value, TileType { rows, cols, v_row, v_col, ..*tile })]);
                self.offer(vec![(*value, TileType { rows: cols, cols: rows, v_row: v_col, v_col: v_row, ..*tile })]);
            }
        }
    }

    /// `cols 2 → 8, keep v_col=2`.
    fn arrows(&mut self, tiles: &[(ValueId, TileType)], help: &str) {
        let words: Vec<&str> = help.split([' ', ',', ';']).filter(|w| !w.is_empty()).collect();
        for part in words.windows(4) {
            let [field, old, "→", new] = part else { continue };
            let (Ok(old), Ok(new)) = (old.parse::<u64>(), new.parse::<u64>()) else { continue };
            for (value, tile) in tiles {
                let mut changed = *tile;
                let keeps = help.contains("keep");
                match *field {
                    "cols" if tile.cols == old => {
                        changed.cols = new;
                        if !keeps && tile.v_col == Extent::Static(old) {
                            changed.v_col = Extent::Static(new);
                        }
                    }
                    "rows" if tile.rows == old => {
                        changed.rows = new;
                        if !keeps && tile.v_row == Extent::Static(old) {
                            changed.v_row = Extent::Static(new);
                        }
                    }
                    "v_row" => changed.v_row = Extent::Static(new),
                    "v_col" => changed.v_col = Extent::Static(new),
                    _ => continue,
                }
                self.offer(vec![(*value, changed)]);
            }
        }
    }

    /// Numbers of the help for constants that the operation counts with: `use 0x40 or 0x60`.
    fn numbers(&mut self, help: &str) {
        let is_number = |w: &&str| w.starts_with(|c: char| c.is_ascii_digit());
        let words = help.split([' ', ',', ';']).filter(is_number);
        let numbers: Vec<&str> = words.filter(|w| w.parse::<i64>().is_ok() || w.starts_with("0x")).collect();
        for operand in self.op.operands.iter().filter(|o| matches!(o.role.kind(), Kind::Index)) {
            let Some(value) = operand.arg.value() else { continue };
            let Def::Result(id, _) = self.func.value(value).def else { continue };
            let constant = self.func.op(id);
            if !matches!(constant.kind, OpKind::Constant(_)) {
                continue;
            }
            let text = self.snapshot.text.slice(constant.span);
            let Some(at) = text.find("arith.constant").map(|at| at + "arith.constant".len()) else { continue };
            let rest = &text[at..];
            let from = at + (rest.len() - rest.trim_start().len());
            let len = text[from..].find([' ', ':']).unwrap_or(text.len() - from);
            let span = Span::new(constant.span.start + from as u32, constant.span.start + (from + len) as u32);
            for number in &numbers {
                let title = format!("Make %{} {number}", self.name(value));
                // Hexadecimal constants are not everyone's.
                let digits = number.strip_prefix("0x").and_then(|hex| i64::from_str_radix(hex, 16).ok());
                let text = digits.map_or(number.to_string(), |n| n.to_string());
                self.all.push(Fix { title, edits: vec![(span, text)] });
            }
        }
    }

    /// `key = value` of the help, where the operation has the key.
    fn attributes(&mut self, help: &str) {
        let Some((key, new)) = help.split_once(" = ") else { return };
        let key = key.rsplit([' ', '{', '(']).next().unwrap_or(key);
        let new = new.split(['}', ',', ';']).next().unwrap_or(new).trim();
        let text = self.snapshot.text.slice(self.op.span);
        let Some(at) = text.find(&format!("{key} = ")).map(|at| at + key.len() + 3) else { return };
        let len = text[at..].find([',', '}', ' ', ':']).unwrap_or(text.len() - at);
        let start = self.op.span.start + at as u32;
        let title = format!("Make {key} {new}");
        self.all.push(Fix { title, edits: vec![(Span::new(start, start + len as u32), new.to_string())] });
    }
}
