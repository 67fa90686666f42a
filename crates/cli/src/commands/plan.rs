//! `tessera plan`: where tiles are placed, and which instruction waits for which.

mod timeline;

use super::{Loaded, load_entry};
use crate::output::is_stdout;
use crate::policy::Format;
use crate::render::table::Table;
use crate::session::{FINE, Failure, Outcome, Session};
use crate::source::Source;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use tessera::program::SyncPlace;
use tessera::{Kernel, Profile, Program};
use tessera_ir::OpId;
use tessera_isa::diag::Span;
use tessera_isa::ops::Pipe;
use tessera_plan::{MemoryMap, MemoryRows, Pipes, Row};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera plan kernel.pto --profile a5\n  tessera plan kernel.pto --svg map.svg\n  \
                        tessera plan kernel.pto --profile a5 --sync > manual.pto\n  tessera plan kernel.pto --profile \
                        a5 --timeline t.json --set n=16"
)]
pub struct Args {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// cpu, a2a3, a5 or a device name. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    #[command(flatten)]
    pub version: super::TextVersion,
    /// The function to place
    #[arg(long, value_name = "F")]
    entry: Option<String>,
    /// Also draw the memory map into this file; `-` draws nothing else, to standard output
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print only the program, with the flags and barriers that it needs
    #[arg(long, conflicts_with = "svg")]
    sync: bool,
    /// With `--sync`: list each flag and barrier, where it stands (lines of FILE), and the dependence that it serves,
    /// instead of the program; (+1) is an iteration later
    #[arg(long, requires = "sync")]
    table: bool,
    /// With `--sync`: first remove the flags and barriers that the program has
    #[arg(long, requires = "sync")]
    resync: bool,
    /// Print the program with the mem_bars that accesses inside its vecscopes need; with `--sync`, after its flags
    #[arg(long, conflicts_with_all = ["svg", "table"])]
    mem_bar: bool,
    /// With `--sync`: unroll loops so that the ids of flags are constants
    #[arg(long, requires = "sync")]
    unroll: bool,
    /// With `--sync`: list on standard error each flag and barrier that is stronger than the program may need, and
    /// why
    #[arg(long, short = 'v', requires = "sync")]
    verbose: bool,
    /// The format of the addresses and pipes
    #[arg(long, value_enum, value_name = "F", default_value_t = Format::Human, conflicts_with_all = ["sync", "timeline"])]
    format: Format,
    #[command(flatten)]
    level: super::Level,
    #[command(flatten)]
    timeline: timeline::TimelineArgs,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let loaded = load_entry(session, &args.file, args.profile, args.entry.as_deref())?.at(args.level);
    // A map shows where tiles lie, also those that overwrite each other.
    loaded.legal_but_for(session, Format::Human, &["tile-overlap"])?;
    if args.sync {
        return synchronise(args, session, &loaded);
    }
    if args.mem_bar {
        let entry = args.entry.as_deref();
        let text = loaded.with_entry(session, entry, |_| loaded.program.with_bars(entry))?;
        session.stdout.write_all(text.as_bytes())?;
        return Ok(FINE);
    }
    let (kernel, placement) = loaded.with_entry(session, args.entry.as_deref(), |kernel| {
        let placement = kernel.plan(&[])?;
        Ok((kernel, placement))
    })?;
    let map = tessera_plan::map(kernel.module(), kernel.func(), kernel.profile(), &placement);
    let pipes = tessera_plan::pipes(kernel.module(), kernel.func(), kernel.profile(), None);
    match args.timeline.file() {
        Some(file) => {
            timeline::run(args, file, session, &loaded)?;
        }
        None if args.svg.as_deref().is_some_and(is_stdout) => {}
        None => {
            let page = Page { source: &loaded.source, kernel: &kernel };
            let text = match args.format {
                Format::Human => page.text(&map, &pipes),
                Format::Json => format!("{:#}\n", page.json(&map, &pipes)),
            };
            session.stdout.write_all(text.as_bytes())?;
        }
    }
    if let Some(file) = &args.svg {
        session.write(file, crate::render::map::draw(&map).into_bytes())?;
    }
    Ok(FINE)
}

/// The program with flags, or what each of them is for.
fn synchronise(args: &Args, session: &mut Session<'_>, loaded: &Loaded) -> Outcome {
    let kernel = loaded.with_entry(session, args.entry.as_deref(), Ok)?;
    if kernel.has_flags() && !args.resync {
        let what = "the program has flags or barriers already; --resync takes them out and makes new ones";
        return Err(Failure::usage(format!("{}: {what}", loaded.source.name)));
    }
    let synced = loaded.with_entry(session, args.entry.as_deref(), |kernel| match args.unroll {
        true => kernel.synced_unrolled(),
        false => kernel.synced(),
    })?;
    for found in synced.warnings.iter().chain(synced.fallbacks.iter().filter(|_| args.verbose)) {
        let text = crate::render::diagnostic::human(found, &loaded.source, session.color);
        session.stderr.write_all(text.as_bytes())?;
    }
    if !synced.fallbacks.is_empty() && !args.verbose {
        let count = crate::words::counted(synced.fallbacks.len() as u64, "fallback");
        writeln!(session.stderr, "{}: {count} in the inserted order (-v lists them)", loaded.source.name)?;
    }
    if !args.table {
        let text = match args.mem_bar {
            true => loaded.with_entry(session, args.entry.as_deref(), |_| {
                Program::read(&synced.text, Some(kernel.profile())).with_bars(args.entry.as_deref())
            })?,
            false => synced.text,
        };
        session.stdout.write_all(text.as_bytes())?;
        return Ok(FINE);
    }
    let mut table = Table::new(["operation", "stands", "orders", "before", "because of"]);
    for row in &synced.rows {
        let line = |span: Span| loaded.source.line(span);
        let stands = match row.place {
            SyncPlace::Before(span) | SyncPlace::BeforeLoop(span) => format!("before {}", line(span)),
            SyncPlace::After(span) | SyncPlace::AfterLoop(span) => format!("after {}", line(span)),
        };
        let place = |(name, span): (&str, Span)| format!("{name} {}", line(span));
        let second = match row.later {
            0 => place(row.second),
            n => format!("{} (+{n})", place(row.second)),
        };
        let tile = row.tile.as_ref().map_or("global memory".into(), |tile| format!("%{tile}"));
        let operation = row.operation.trim_start_matches("pto.").to_string();
        table.row([operation, stands, place(row.first), second, format!("{tile}, {}", row.kind)]);
    }
    session.stdout.write_all(table.render().as_bytes())?;
    Ok(FINE)
}

/// Addresses and pipes, for people.
pub fn page(source: &Source, kernel: &Kernel, map: &MemoryMap, pipes: &Pipes) -> String {
    Page { source, kernel }.text(map, pipes)
}

struct Page<'a> {
    source: &'a Source,
    kernel: &'a Kernel,
}

impl Page<'_> {
    fn text(&self, map: &MemoryMap, pipes: &Pipes) -> String {
        let mut out = format!("@{} on {}\n", map.function, map.profile);
        if map.memories.is_empty() {
            out.push_str("\n  no tiles\n");
        }
        for memory in &map.memories {
            let _ = write!(out, "\n{}\n{}", headline(memory), self.memory(memory).render());
        }
        let _ = write!(out, "\nPipes\n{}", self.pipes(pipes).render());
        out
    }

    fn json(&self, map: &MemoryMap, pipes: &Pipes) -> Value {
        let line = |op: OpId| self.source.line(self.kernel.func().op(op).span);
        let tile = |row: &Row| {
            json!({
                "name": row.name.trim_start_matches('%'), "type": row.ty, "address": row.slot.addr,
                "bytes": row.slot.bytes, "first": row.first.map(line), "last": row.last.map(line),
                "manual": row.is_manual,
            })
        };
        let memory = |memory: &MemoryRows| {
            json!({
                "memory": memory.loc.memory_name(), "location": memory.loc.name(), "capacity": memory.capacity,
                "reserved": memory.reserved, "in_use": memory.high_water, "peak": memory.peak,
                "tiles": memory.rows.iter().map(tile).collect::<Vec<_>>(),
            })
        };
        let mut waits_of: HashMap<OpId, Vec<Value>> = HashMap::new();
        for wait in &pipes.waits {
            let tile = self.kernel.name(wait.tile);
            let shown = json!({ "line": line(wait.from), "tile": tile, "hazard": wait.hazard.name() });
            waits_of.entry(wait.to).or_default().push(shown);
        }
        let mut instruction = |(op, pipe): &(OpId, Pipe)| {
            let waits = waits_of.remove(op).unwrap_or_default();
            let name = self.kernel.func().op(*op).kind.name();
            json!({ "line": line(*op), "instruction": name, "pipe": pipe.name(), "waits": waits })
        };
        json!({
            "kernel": map.function, "profile": map.profile.name(),
            "memories": map.memories.iter().map(memory).collect::<Vec<_>>(),
            "instructions": pipes.ops.iter().map(&mut instruction).collect::<Vec<_>>(),
        })
    }

    fn memory(&self, memory: &MemoryRows) -> Table {
        let mut table = Table::new(["address", "bytes", "tile", "type", "alive", ""]);
        for row in &memory.rows {
            let from = row.first.map_or("entry".into(), |op| self.line(op));
            let to = row.last.map_or("exit".into(), |op| self.line(op));
            table.row([
                format!("0x{:05x}", row.slot.addr),
                row.slot.bytes.to_string(),
                row.name.clone(),
                row.ty.clone(),
                format!("{from} – {to}"),
                if row.is_manual { "manual".into() } else { String::new() },
            ]);
        }
        table
    }

    fn pipes(&self, pipes: &Pipes) -> Table {
        let mut table = Table::new(["line", "instruction", "pipe", "waits for"]);
        let func = self.kernel.func();
        let mut pipe_of: Vec<Option<Pipe>> = vec![None; func.ops.len()];
        pipes.ops.iter().for_each(|(op, pipe)| pipe_of[op.index()] = Some(*pipe));
        let mut waits_of: Vec<String> = vec![String::new(); func.ops.len()];
        for wait in &pipes.waits {
            let from = pipe_of[wait.from.index()].map_or("?", |pipe| pipe.name());
            let (tile, hazard) = (self.kernel.name(wait.tile), wait.hazard.name());
            let waits = &mut waits_of[wait.to.index()];
            let between = if waits.is_empty() { "" } else { "; " };
            let _ = write!(waits, "{between}{from} of {} (%{tile}, {hazard})", self.line(wait.from));
        }
        for (op, pipe) in &pipes.ops {
            let waits = std::mem::take(&mut waits_of[op.index()]);
            let mnemonic = func.op(*op).opcode().map_or("", |o| o.mnemonic());
            table.row([self.line(*op), mnemonic.into(), pipe.name().into(), waits]);
        }
        table
    }

    fn line(&self, op: OpId) -> String {
        self.source.line(self.kernel.func().op(op).span).to_string()
    }
}

fn headline(memory: &MemoryRows) -> String {
    let limit = memory.capacity.map_or(String::new(), |bytes| format!(" of {bytes}"));
    let reserved = match memory.reserved {
        0 => String::new(),
        n => format!(" ({n} more for the runtime)"),
    };
    let MemoryRows { loc, high_water, peak, .. } = memory;
    let name = loc.memory_name();
    format!("{name} ({loc}): {high_water}{limit} bytes in use{reserved}, at most {peak} alive together")
}
