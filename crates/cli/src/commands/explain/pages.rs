//! The pages of `tessera explain`, one function a kind of thing.

use crate::render::table::{Table, paragraph, wrap};
use crate::render::{example, legality, width};
use std::fmt::Write;
use tessera::{Elem, Severity};
use tessera_check::examples::{Example, examples};
use tessera_isa::cost::{Timing, cost, figure};
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrKind, AttrName, IdArray, OpInfo, Opcode, Operand, Pipe, Spelling, Text, Types};
use tessera_isa::profile::{Profile, Profiles};
use tessera_isa::sem::{Axis, Core, Sem};
use tessera_isa::tile::{BLayout, LayoutName, Loc, SLayout};
use tessera_micro::rules::{Rule, rule};

pub fn instruction_page(op: Opcode) -> String {
    let info = op.info();
    let mut out = format!("{}, an instruction\n\n{}", op.title(), paragraph(info.summary, 2));
    if !info.formula.is_empty() {
        let _ = write!(out, "\n{}", paragraph(info.formula, 4));
    }
    facts(&mut out, info);
    let forms = if info.text == Text::Forms { info.forms } else { &[] };
    if !forms.is_empty() {
        out.push_str("\nForms\n");
    }
    if forms.is_empty() {
        out.push_str(&written_as(op));
    }
    for form in forms {
        let name = |o: &Operand| if o.optional { format!("[{}]", o.role) } else { o.role.to_string() };
        let roles = |list: &[Operand]| list.iter().map(name).collect::<Vec<_>>().join(", ");
        let effect = if form.outs.is_empty() { String::new() } else { format!(" → {}", roles(form.outs)) };
        let _ = writeln!(out, "  {}: {}{effect}", form.form, roles(form.ins));
        if let Some(formula) = form.formula {
            out.push_str(&paragraph(formula, 4));
        }
        let Some(shape) = op.shapes().iter().find(|s| s.form == form.form) else { continue };
        let lines = example::examples(op, shape);
        let [asm, ssa, dps] = [&lines.asm, &lines.ssa, &lines.dps].map(|line| example::as_printed(line));
        let cpp = example::call(op, form.form).unwrap_or_default();
        for (label, line) in [("asm", asm), ("ssa", ssa), ("dps", dps), ("C++", cpp)] {
            for (n, part) in example::cut(&line, width() - 11).iter().enumerate().filter(|(_, p)| !p.is_empty()) {
                let _ = writeln!(out, "    {:<4} {part}", if n == 0 { label } else { "" });
            }
        }
    }
    if let Some(table) = legality::legality(info) {
        let table = table.render();
        let _ = write!(out, "\nLegality\n{table}");
        for line in legality::legend(&table) {
            out.push_str(&paragraph(&line, 2));
        }
    }
    let edge_cases = info.edge_cases();
    if !edge_cases.is_empty() {
        out.push_str("\nEdge cases\n");
        for note in edge_cases {
            let lines = wrap(note, width() - 4);
            let line = |(n, line): (usize, &String)| format!("  {} {line}\n", if n == 0 { "·" } else { " " });
            out.extend(lines.iter().enumerate().map(line));
        }
    }
    out.push_str(&costs(op));
    if !info.rules.is_empty() {
        let table = rule_table(info).render();
        let _ = write!(
            out,
            "\nRules, in the order in which they are checked (W warns; sources are pages of docs/spec)\n{table}"
        );
    }
    out
}

/// The pages of the specification that a row names, as files of the repository.
fn in_docs(source: &str) -> String {
    let page = |word: &str| match word.split_once(".md") {
        Some(("trace", rest)) => format!("docs/trace.md{rest}"),
        Some((page, rest)) if !page.contains(char::is_uppercase) => format!("docs/spec/{page}.md{rest}"),
        _ => word.to_string(),
    };
    source.split(' ').map(page).collect::<Vec<_>>().join(" ")
}

/// The rules of an instruction, in the order in which they are checked.
pub fn rule_table(info: &OpInfo) -> Table {
    let mut table = Table::new(["rule", "", "on", "what holds", "source"]);
    for (n, r) in info.rules.iter().enumerate().filter_map(|(n, r)| Some((n, rule(r.id)?))) {
        // Several conditions may have one id.
        if info.rules.iter().take(n).any(|before| before.id == r.id) {
            continue;
        }
        table.row([r.id.into(), short_severity(r).into(), profiles(r.on), r.text.into(), r.source.into()]);
    }
    table
}

/// The cost of an instruction; the moves have theirs by path.
fn costs(op: Opcode) -> String {
    match cost_table(op) {
        Some((title, table)) => format!("\n{title}\n{}", table.render()),
        None if op.info().by_flows() => String::new(),
        None => "\nCost\n  unknown (docs/spec/isa/cost.md)\n".into(),
    }
}

/// The cost of an instruction in cycles, where a profile has a figure.
pub fn cost_table(op: Opcode) -> Option<(String, Table)> {
    let info = op.info();
    let unit = match info.sem {
        Sem::Fold { each: Axis::Row, .. } => ", for each step of the reduction",
        Sem::Fold { .. } => ", for each row that is folded in",
        _ => "",
    };
    let mut table = Table::new(["on", "types", "cycles", "basis"]);
    let mut known = false;
    for profile in Profile::ALL {
        let Some(found) = cost(op, profile) else { continue };
        known = true;
        let mut rows: Vec<(String, String)> = Vec::new();
        for elem in Elem::ALL {
            let (Some(n), true) = (cycles(&found.timing, *elem), takes(info, profile, *elem)) else { continue };
            match rows.iter_mut().find(|(_, cycles)| *cycles == n) {
                Some((types, _)) => *types += &format!(" {elem}"),
                None => rows.push((elem.to_string(), n)),
            }
        }
        for (types, cycles) in rows {
            let basis = if found.published { "published" } else { "derived" };
            table.row([profile.name().into(), types, cycles, basis.into()]);
        }
    }
    known.then(|| (format!("Cost of n repeats of 256 bytes{unit} (docs/spec/isa/cost.md)"), table))
}

/// Whether a signature of the profile names the type.
fn takes(info: &OpInfo, profile: Profile, elem: Elem) -> bool {
    let named = |types: Types| match types {
        Types::EqualOf(list) | Types::EachOf(list) => list.contains(&elem),
        Types::Pairs(pairs) => pairs.iter().any(|(src, _)| *src == elem),
        _ => true,
    };
    info.sigs.iter().any(|s| s.on.has(profile) && named(s.types))
}

/// The cycles as a sum, where the type has figures.
fn cycles(timing: &Timing, elem: Elem) -> Option<String> {
    Some(match timing {
        Timing::Startup { startup, completion, per_repeat, interval } => {
            let (completion, per_repeat) = (figure(completion, elem)?, figure(per_repeat, elem)?);
            format!("{startup} + {completion} + {per_repeat}·n + {interval}·(n - 1)")
        }
        Timing::Latency { latency, per_repeat } => {
            format!("{} + {}·(n - 1)", figure(latency, elem)?, figure(per_repeat, elem)?)
        }
    })
}

/// The notation of an instruction with a text form of its own, as the language reference has it.
fn written_as(op: Opcode) -> String {
    let cut = |line: &&str| example::cut(line, width() - 4);
    let shown: String = written_lines(op).iter().flat_map(cut).map(|part| format!("    {part}\n")).collect();
    if shown.is_empty() { shown } else { format!("\nWritten\n{shown}") }
}

/// Lines of the language reference that have an instruction.
pub fn written_lines(op: Opcode) -> Vec<&'static str> {
    let call = format!("pto.{}", op.mnemonic());
    let names = |line: &&str| {
        let rest = line.split_once(&call).map(|(_, rest)| rest);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    };
    let mut lines: Vec<&str> = Vec::new();
    for line in super::LANGUAGE.lines().map(str::trim).filter(|l| l.starts_with(['%', 'p'])).filter(names) {
        // Lines that differ in names and types only show the same.
        if !lines.iter().any(|shown| notation(shown) == notation(line)) {
            lines.push(line);
        }
    }
    lines
}

/// A line without the names of its values and without its types.
fn notation(line: &str) -> Vec<&str> {
    line.split(" : ").next().unwrap_or(line).split_whitespace().filter(|word| !word.starts_with('%')).collect()
}

/// Names, pipe, attributes and source, one line each.
fn facts(out: &mut String, info: &OpInfo) {
    definitions(out, &fact_list(info));
}

/// The same as a table.
pub fn fact_lines(info: &OpInfo) -> Table {
    let mut table = Table::new(["", ""]);
    fact_list(info).into_iter().for_each(|(key, text)| table.row([key.to_string(), text]));
    table
}

/// The pipes of an instruction; those of a FIFO's operations depend on the direction and the profile.
fn pipes(info: &OpInfo) -> String {
    let mut pipes: Vec<&str> = match info.sem {
        Sem::Fifo(part) => {
            let of = |core| part.dir(core).map(|dir| Profile::ALL.map(|profile| part.pipe(dir, profile).name()));
            [Core::Cube, Core::Vector].into_iter().filter_map(of).flatten().collect()
        }
        _ => info.sigs.iter().map(|s| s.pipe.name()).collect(),
    };
    pipes.sort_unstable();
    pipes.dedup();
    if pipes.is_empty() { info.pipe.name().into() } else { pipes.join(", ") }
}

fn fact_list(info: &OpInfo) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&'static str, String)> = Vec::new();
    if !info.aliases.is_empty() {
        lines.push(("also", info.aliases.join(", ")));
    }
    if !info.cpp.is_empty() {
        lines.push(("C++", info.cpp.join(", ")));
    }
    if let Text::Comm(text) = info.text {
        lines.push(("written", format!("pto.{}({} : types)", info.mnemonic, text.pattern())));
    }
    lines.push(("pipe", pipes(info)));
    lines.extend(info.attrs.iter().map(|attr| ("attribute", format!("{attr} = {}", attribute_values(*attr)))));
    lines.push(("source", in_docs(info.source)));
    lines
}

/// Lines of the shape `key  text`, the text wrapped under itself.
fn definitions(out: &mut String, lines: &[(&str, String)]) {
    out.push('\n');
    for (key, text) in lines {
        for (n, part) in wrap(text, width() - 13).iter().enumerate() {
            let _ = writeln!(out, "  {:<10} {part}", if n == 0 { key } else { "" });
        }
    }
}

fn attribute_values(attr: AttrName) -> String {
    let info = attr.info();
    let default = match (info.kind, info.default) {
        // The first word is the usual one.
        (_, None | Some(AttrValue::Word(0))) => None,
        (AttrKind::Word { list, .. }, Some(AttrValue::Word(n))) => list.get(usize::from(n)).map(|w| w.name.to_string()),
        (_, Some(AttrValue::Ints([0, 0, 0, 0]))) => Some("0".into()),
        (AttrKind::Ints(n), Some(AttrValue::Ints(all))) => Some(format!("{:?}", all.get(..n).unwrap_or(&all))),
        (_, Some(AttrValue::Int(v))) => Some(v.to_string()),
        (_, Some(AttrValue::Bool(v))) => Some(v.to_string()),
        (_, Some(AttrValue::Float(bits))) => Some(f64::from_bits(bits).to_string()),
        (_, Some(_)) => None,
    };
    let values = match info.kind {
        AttrKind::Word { list, spelling, .. } => {
            let between = if spelling == Spelling::Quoted { "\" | \"" } else { " | " };
            spelling.spell(&list.iter().map(|w| w.name).collect::<Vec<_>>().join(between))
        }
        _ => info.about.to_string(),
    };
    values + &default.map_or(String::new(), |default| format!(", default {default}"))
}

fn profiles(on: Profiles) -> String {
    if on == Profiles::ALL {
        return "all".into();
    }
    on.iter().map(|p| p.name()).collect::<Vec<_>>().join(" ")
}

fn short_severity(rule: &Rule) -> &'static str {
    match rule.severity {
        Severity::Error => "",
        Severity::Warning => "W",
        Severity::Note => "note",
    }
}

/// The instructions that something holds of.
fn users(uses: impl Fn(&OpInfo) -> bool) -> String {
    let ops = Opcode::ALL.iter().filter(|op| uses(op.info()));
    ops.map(|op| op.mnemonic()).collect::<Vec<_>>().join(", ")
}

pub fn rule_page(rule: &Rule) -> String {
    let mut out = format!("{}, a rule ({})\n\n{}", rule.id, rule.severity.name(), paragraph(rule.text, 2));
    let users = users(|info| info.rules.iter().any(|r| r.id == rule.id));
    let mut lines = vec![("profiles", rule.on.iter().map(|p| p.name()).collect::<Vec<_>>().join(", "))];
    if !users.is_empty() {
        lines.push(("checked by", users));
    }
    if rule.implied {
        lines.push(("note", "other rules imply it, so it never fails alone".into()));
    }
    if rule.severity == Severity::Warning {
        let text = format!("--deny {0} and --strict make it an error, --allow {0} silences it", rule.id);
        lines.push(("options", text));
    }
    lines.push(("source", in_docs(rule.source)));
    definitions(&mut out, &lines);
    if let Some(example) = super::order::examples().find(|example| example.rule == rule.id) {
        let _ = write!(out, "\nWhy\n{}", paragraph(example.why, 2));
        out.push_str("\nBreaks it; the lines with + are missing, those with - are too many\n");
        out.extend(example.lines.lines().map(|line| format!("    {line}\n")));
    }
    for Example { breaks, profile, text, .. } in examples().iter().filter(|example| example.rule == rule.id) {
        let _ = write!(out, "\n{} on {profile}\n", if *breaks { "Breaks it" } else { "Keeps it" });
        for line in text.lines() {
            out.extend(example::cut(line, width() - 4).iter().map(|part| format!("    {part}\n")));
        }
        let found = tessera::Program::read(text, Profile::parse(profile)).check();
        if let Some(found) = found.iter().find(|d| *breaks && d.rule == rule.id) {
            out.push_str(&paragraph(&found.message, 2));
            out.extend(found.help.iter().map(|help| paragraph(&format!("help: {help}"), 2)));
        }
    }
    out
}

pub fn elem_page(elem: Elem) -> String {
    let info = elem.info();
    let mut out = format!("{elem}, an element type\n\n{}", paragraph(info.about, 2));
    let digits = (elem.bits() / 4) as usize;
    let dtypes = std::iter::once(info.npy).chain(info.dtype_names.iter().copied());
    let lines = [
        ("spellings", info.spellings.join(", ")),
        ("C++", info.cpp.to_string()),
        ("bits", elem.bits().to_string()),
        ("C0", format!("{} elements are 32 bytes", elem.c0())),
        ("npy", dtypes.collect::<Vec<_>>().join(", ")),
        ("pad", format!("min 0x{:0digits$X}, max 0x{:0digits$X}", info.pad_min, info.pad_max)),
        ("profiles", if info.on_cpu_and_a2a3 { "cpu, a2a3, a5" } else { "a5" }.to_string()),
    ];
    definitions(&mut out, &lines);
    out
}

pub fn profile_page(profile: Profile) -> String {
    let info = profile.info();
    let mut out = format!("{profile}, a profile\n\n{}", paragraph(info.summary, 2));
    let spellings = info.names.iter().map(|n| n.to_string());
    let devices = info.device_prefixes.iter().map(|n| format!("{n}…"));
    definitions(&mut out, &[("spellings", spellings.chain(devices).collect::<Vec<_>>().join(", "))]);
    let mut table = Table::new(["location", "memory", "bytes", "usual layout"]);
    for loc in Loc::ALL {
        let usual = if profile.memory(*loc).is_some() { usual(*loc, profile) } else { "–".into() };
        table.row([loc.name().to_string(), loc.memory_name().into(), bytes(*loc, profile), usual]);
    }
    let _ = write!(out, "\n{}", table.render());
    let elems: Vec<&str> =
        Elem::ALL.iter().filter(|e| profile == Profile::A5 || e.info().on_cpu_and_a2a3).map(|e| e.name()).collect();
    definitions(&mut out, &[("types", elems.join(" "))]);
    out
}

fn bytes(loc: Loc, profile: Profile) -> String {
    match profile.memory(loc) {
        None => "absent".into(),
        Some(memory) => match memory.bytes {
            None => "no limit".into(),
            Some(n) if memory.reserved > 0 => {
                format!("{} Ki, the last {} Ki for the runtime", n / 1024, memory.reserved / 1024)
            }
            Some(n) => format!("{} Ki", n / 1024),
        },
    }
}

fn usual(loc: Loc, profile: Profile) -> String {
    let (b, s, fractal) = loc.usual(profile);
    let name = LayoutName::of(b, s);
    if name.is_boxed() { format!("{name} {fractal}") } else { name.to_string() }
}

pub fn loc_page(loc: Loc) -> String {
    let mut out = format!("{loc}, a location\n");
    let also = if loc == Loc::Vec { ", also `ub` in text" } else { "" };
    let cpp = format!("TileType::{}{also}", loc.cpp());
    definitions(&mut out, &[("memory", loc.memory_name().to_string()), ("C++", cpp)]);
    let mut table = Table::new(["profile", "bytes", "usual layout"]);
    for p in Profile::ALL {
        let usual = if p.memory(loc).is_some() { usual(loc, p) } else { "–".into() };
        table.row([p.name().to_string(), bytes(loc, p), usual]);
    }
    let _ = write!(out, "\n{}", table.render());
    out
}

pub fn layout_page(layout: LayoutName) -> String {
    let written = |b: &BLayout| SLayout::ALL.iter().map(move |s| (*b, *s)).collect::<Vec<_>>();
    let orders = BLayout::ALL.iter().flat_map(written).find(|(b, s)| LayoutName::of(*b, *s) == layout);
    let mut out = format!("{layout}, a layout\n\n{}\n", paragraph(layout.about(), 2));
    let _ = writeln!(out, "    offset(r, c) = {}", layout.formula());
    let mut lines = Vec::new();
    if let Some((b, s)) = orders {
        lines.push(("written", format!("blayout={b}, slayout={s}")));
    }
    if layout.is_boxed() {
        lines.push(("where", "br=r/IR, ir=r%IR, bc=c/IC, ic=c%IC, N=IR·IC".into()));
        let boxes = "fractal 512: 16×C0 (row_major) or C0×16 (col_major) with C0 elements in 32 bytes; 1024: 16×16 \
                     (4-byte types); 32: 16×2 or 2×16 (1-byte types)";
        lines.push(("boxes", boxes.into()));
        if layout == LayoutName::Nz {
            let any_rows = "in Vec any rows are legal; rows=16k+1 with compact=row_plus_one avoids bank conflicts";
            lines.push(("rows", any_rows.into()));
        }
    }
    let mut usual: Vec<(String, Vec<&str>)> = Vec::new();
    for profile in Profile::ALL {
        let is_usual = |loc: &&Loc| {
            let (b, s, _) = loc.usual(profile);
            profile.memory(**loc).is_some() && LayoutName::of(b, s) == layout
        };
        let locs = Loc::ALL.iter().filter(is_usual).map(|l| l.name()).collect::<Vec<_>>().join(", ");
        match usual.iter_mut().find(|(known, _)| *known == locs) {
            Some((_, profiles)) => profiles.push(profile.name()),
            None => usual.push((locs, vec![profile.name()])),
        }
    }
    for (locs, profiles) in usual.iter().filter(|(locs, _)| !locs.is_empty()) {
        lines.push(("usual for", format!("{locs} ({})", profiles.join(", "))));
    }
    lines.push(("source", in_docs("tile-model.md 5")));
    definitions(&mut out, &lines);
    out
}

/// The page of an instruction outside the layout set.
pub fn other_page(name: &str) -> String {
    if IdArray::parse(name).is_some() {
        let text = format!(
            "pto.{name} is one of declare_eventid_array, eventid_array_get and eventid_array_set: a small array of ids of \
             flags, of which set_flag_dyn and wait_flag_dyn take one (sync.md 2)."
        );
        let written = "%ids = pto.declare_eventid_array : !pto.eventid_array<2>\n    \
                       pto.eventid_array_set %ids[%i], %id : !pto.eventid_array<2>, index\n    \
                       %id = pto.eventid_array_get %ids[%i] : !pto.eventid_array<2> -> index";
        let title = name.to_ascii_uppercase();
        return format!("{title}, an instruction\n\n{}\nWritten\n    {written}\n", paragraph(&text, 2));
    }
    let text = format!(
        "pto.{name} is a PTO tile instruction outside the layout set: it is read, printed and checked for its text \
         shape, and a program that would execute it stops with the rule not-executable."
    );
    let title = name.to_ascii_uppercase();
    format!("{title}, an instruction that is recognised, not executable yet\n\n{}", paragraph(&text, 2))
}

pub fn pipe_page(pipe: Pipe) -> String {
    let about = match pipe {
        Pipe::S => "scalar work: addresses, views, valid regions, order",
        Pipe::V => "vector work within UB",
        Pipe::M => "matrix products",
        Pipe::Mte1 => "moves from L1 to L0A, L0B and the bias table",
        Pipe::Mte2 => "loads from global memory",
        Pipe::Mte3 => "stores to global memory, and moves from UB to L1",
        Pipe::Fix => "moves out of the accumulator, with quantization and ReLU",
    };
    let mut out = format!("{pipe}, a pipe\n\n{}", paragraph(about, 2));
    let on = |info: &OpInfo| match info.sigs {
        [] => info.pipe == pipe,
        sigs => sigs.iter().any(|s| s.pipe == pipe),
    };
    let users = Some(users(on)).filter(|users| !users.is_empty()).unwrap_or("none of the layout set".into());
    definitions(&mut out, &[("C++", pipe.cpp().to_string()), ("used by", users), ("source", in_docs("ops.md 10"))]);
    out
}

pub fn attribute_page(attr: AttrName) -> String {
    let mut out = format!("{attr}, an attribute\n\n{}", paragraph(&format!("{attr} = {}", attribute_values(attr)), 2));
    let users = users(|info| info.attrs.contains(&attr));
    definitions(&mut out, &[("of", users), ("source", in_docs("syntax.md 2"))]);
    out
}
