//! `tessera info`: what a program has, and a command line that runs it.

use super::run::Ready;
use super::{Loaded, load_entry};
use crate::policy::{Format, Policy};
use crate::render::table::{Table, paragraph};
use crate::session::{FINE, Outcome, Session, USAGE_ERROR};
use serde_json::{Value, json};
use std::path::PathBuf;
use tessera::info::{ArgumentInfo, ArgumentKind, FifoInfo, KernelInfo, kernels};
use tessera::{Diagnostic, Profile};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera info kernel.pto\n  tessera info kernel.pto --entry matmul --profile a5 --format \
                  json\n\nThe suggested command line has been run. Its sizes are the first that work; its inputs are \
                  random."
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
    /// The function to show. Default: every function that can be the kernel
    #[arg(long, value_name = "F")]
    entry: Option<String>,
    /// Print only the names of the kernels, one per line
    #[arg(long, conflicts_with = "format")]
    names: bool,
    /// The format of the output
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let loaded = load_entry(session, &args.file, args.profile, args.entry.as_deref())?;
    let policy = Policy::plain(args.format);
    if loaded.program.has_errors() {
        let errors: Vec<Diagnostic> = loaded.program.check().into_iter().filter(Diagnostic::is_error).collect();
        return loaded.report(session, &policy, &errors);
    }
    if args.names {
        let module = loaded.program.module();
        for func in module.candidates().into_iter().filter(|_| !module.is_listing) {
            writeln!(session.stdout, "{}", module.names.text(func.name))?;
        }
        return Ok(FINE);
    }
    let found = kernels(&loaded.program, args.entry.as_deref());
    if found.is_empty() {
        loaded.kernel(session, &policy, args.entry.as_deref())?;
        return Ok(USAGE_ERROR);
    }
    let text = match args.format {
        Format::Human => page(args, &loaded, &found),
        Format::Json => format!("{}\n", record(args, &loaded, &found)),
    };
    session.stdout.write_all(text.as_bytes())?;
    Ok(FINE)
}

/// A command line that runs a kernel, where it runs.
fn command(args: &Args, found: &KernelInfo) -> Option<String> {
    let (kernel, suggestion) = found.runs.as_ref().ok()?;
    let name = found.name.as_deref().filter(|_| args.entry.is_some() || !found.is_entry);
    let ready = Ready::new(&args.file, args.profile, name, 1);
    let ready = if found.communicates { ready.ranks(2) } else { ready };
    Some(ready.with(kernel, suggestion).line())
}

/// Why a kernel does not run, or why the command line does not.
fn stops(found: &KernelInfo) -> Option<&Diagnostic> {
    match &found.runs {
        Ok((_, suggestion)) => suggestion.stops.as_ref(),
        Err(diagnostic) => Some(diagnostic),
    }
}

fn page(args: &Args, loaded: &Loaded, found: &[KernelInfo]) -> String {
    let profile = loaded.program.profile();
    let whose = match (args.profile, loaded.program.module().target) {
        (Some(_), _) => "",
        (None, Some(_)) => ", the module's own",
        (None, None) => ", because the program names none",
    };
    let mut out = format!("{} on {profile}{whose}\n", loaded.source.name);
    for kernel in found {
        let name = kernel.name.as_ref().map_or("the listing".into(), |name| format!("@{}", name.replace(',', ", @")));
        let blocks = if kernel.uses_blocks { "; it asks for its block: --blocks N repeats it" } else { "" };
        out.push_str(&format!("\n{}", paragraph(&format!("{name} runs on {}{blocks}", kernel.cores), 0)));
        for fifo in &kernel.fifos {
            let split = ["whole tiles", "rows halved", "columns halved"].get(usize::from(fifo.split)).unwrap_or(&"?");
            let FifoInfo { owner, direction, slots, slot_size, .. } = fifo;
            out.push_str(&format!("  {direction} FIFO of @{owner}: {slots} slots of {slot_size} bytes, {split}\n"));
        }
        let mut table = Table::new(["argument", "type", "extents", "use"]);
        for argument in &kernel.arguments {
            let ArgumentInfo { name, ty, extents, .. } = argument;
            table.row([format!("%{name}"), ty.clone(), extents.join(" x "), used(argument).into()]);
        }
        if !table.is_empty() {
            out.push_str(&table.render());
        }
        for window in &kernel.windows {
            let of = window.context.as_ref().map_or(String::new(), |context| format!(" of %{context}"));
            let names: Vec<String> = window.args.iter().map(|name| format!("%{name}")).collect();
            let names = if names.is_empty() { "nothing".into() } else { names.join(", ") };
            out.push_str(&format!("  the window{of}, which other ranks reach, holds {names}\n"));
        }
        if let Some(line) = command(args, kernel) {
            out.push_str(&format!("\n  {line}\n"));
        }
        if let Some(why) = stops(kernel) {
            let before = if kernel.runs.is_ok() { "a trial of this stops" } else { "it does not run" };
            out.push_str(&paragraph(&format!("{before}: {}: {}", why.rule, why.message), 2));
        }
    }
    out
}

fn used(argument: &ArgumentInfo) -> &'static str {
    match (argument.what, argument.is_read, argument.is_written) {
        (ArgumentKind::Scalar, ..) => "scalar",
        (_, true, true) => "read, written",
        (_, true, false) => "read",
        (_, false, true) => "written",
        (_, false, false) => "unused",
    }
}

fn record(args: &Args, loaded: &Loaded, found: &[KernelInfo]) -> Value {
    let argument = |a: &ArgumentInfo| {
        let what = match a.what {
            ArgumentKind::Scalar => "scalar",
            ArgumentKind::Memory => "memory",
            ArgumentKind::Tile => "tile",
            _ => "other",
        };
        // Extents that are numbers are numbers.
        let extents: Vec<Value> = a.extents.iter().map(|e| e.parse::<u64>().map_or(json!(e), |n| json!(n))).collect();
        json!({
            "name": a.name, "what": what, "type": a.ty, "elem": a.elem.map(|e| e.name()), "extents": extents,
            "read": a.is_read, "written": a.is_written,
        })
    };
    let fifo = |f: &FifoInfo| {
        json!({
            "owner": f.owner, "direction": f.direction, "slots": f.slots, "slot_size": f.slot_size, "split": f.split,
        })
    };
    let kernel = |k: &KernelInfo| {
        json!({
            "name": k.name, "entry": k.is_entry, "cores": k.cores, "uses_blocks": k.uses_blocks,
            "fifos": k.fifos.iter().map(fifo).collect::<Vec<_>>(),
            "arguments": k.arguments.iter().map(argument).collect::<Vec<_>>(),
            "windows": k.windows.iter().map(|w| json!({ "context": w.context, "args": w.args })).collect::<Vec<_>>(),
            "command": command(args, k),
            "stops": stops(k).map(|d| json!({ "rule": d.rule, "message": d.message })),
        })
    };
    let kernels: Vec<Value> = found.iter().map(kernel).collect();
    json!({ "file": loaded.source.name, "profile": loaded.program.profile().name(), "kernels": kernels })
}
