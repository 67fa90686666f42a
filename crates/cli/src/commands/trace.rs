//! `tessera trace`: where an element comes from, or where an input element goes.

use super::equiv::{Known, stopped};
use super::load_entry;
use crate::policy::{Format, Policy};
use crate::session::{FINE, Outcome, Session, USAGE_ERROR};
use crate::source::Source;
use crate::words::{self, counted};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use tessera::formula::{Formula, Node, Notated};
use tessera::trace::{ElementPath, Hop, How, Target, back, forward};
use tessera::{Kernel, Profile};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera trace kernel.pto --at '%dst[3,5]'\n  tessera trace kernel.pto --at 'y[17]' \
                  --format json\n  tessera trace kernel.pto --from 'x[40]' --set n=4\n\nTraces need no data. An element \
                  of a tile is NAME[ROW,COLUMN] (NAME@1 is core 1's copy), an element of a buffer is NAME[INDEX]."
)]
#[group(id = "question", required = true, multiple = false, args = ["at", "from"])]
pub struct Args {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The element to trace back to its origins, newest step first
    #[arg(long, value_name = "NAME[I,J]", value_parser = target)]
    at: Option<Target>,
    /// The input element to follow forward
    #[arg(long, value_name = "NAME[I,J]", value_parser = target)]
    from: Option<Target>,
    /// cpu, a2a3, a5 or a device name. Default: the module's own, else cpu
    #[arg(long, value_name = "P", value_parser = super::profiles(), hide_possible_values = true)]
    profile: Option<Profile>,
    #[command(flatten)]
    pub version: super::TextVersion,
    /// The function to run
    #[arg(long, value_name = "F")]
    entry: Option<String>,
    /// Show long formulas and long traces completely
    #[arg(long, requires = "at")]
    full: bool,
    #[command(flatten)]
    known: Known,
    /// The format of the steps: text, or one JSON object per step
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

fn target(text: &str) -> Result<Target, String> {
    Target::parse(text).map_err(|error| words::sentence(&error))
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let loaded = load_entry(session, &args.file, args.profile, args.entry.as_deref())?;
    loaded.legal(session, args.format)?;
    let kernel = loaded.kernel(session, &Policy::plain(args.format), args.entry.as_deref())?;
    let source = &loaded.source;
    let (given, shown) = args.known.given("tracing");
    let all = |hops: Vec<Hop>| ElementPath { formula: None, hops, is_cut: false };
    let (target, way) = match (&args.at, &args.from) {
        (Some(target), _) => (target, back(&kernel, &given, target, args.full)),
        (None, Some(target)) => (target, forward(&kernel, &given, target).map(all)),
        (None, None) => return Ok(USAGE_ERROR),
    };
    drop(shown);
    let ElementPath { formula, hops, is_cut } = match way {
        Ok(way) => way,
        Err(error) => return stopped(session, args.format, &loaded, &error),
    };
    if args.format == Format::Json {
        if let Some(formula) = &formula {
            writeln!(session.stdout, "{}", formula_record(target, formula))?;
        }
        for (step, hop) in hops.iter().enumerate() {
            let record = record(step, hop, &kernel, source);
            // A record of strings and numbers always has a JSON form.
            writeln!(session.stdout, "{}", serde_json::to_string(&record).unwrap_or_default())?;
        }
        return Ok(FINE);
    }
    let way = ElementPath { formula, hops, is_cut };
    session.stdout.write_all(page(target, &way, &kernel, source, given.blocks).as_bytes())?;
    if way.is_cut {
        writeln!(session.stdout, "  … and more steps; --full shows them")?;
    }
    Ok(FINE)
}

/// The way of an element, for people.
pub fn page(target: &Target, way: &ElementPath, kernel: &Kernel, source: &Source, blocks: u32) -> String {
    let mut out = format!("{target} of {} ({})\n", source.name, kernel.profile());
    if let Some(Formula { term, names }) = &way.formula {
        let _ = writeln!(out, "  = {}", term.text());
        for (n, (name, node)) in names.iter().enumerate() {
            let word = if n == 0 { "where" } else { "     " };
            let _ = writeln!(out, "    {word} {name} = {}", node.text());
        }
    }
    let width = way.hops.iter().map(|h| head(h, kernel, source).len()).max().unwrap_or(0);
    for hop in &way.hops {
        let indent = "  ".repeat(hop.depth);
        let line = format!("  {:<width$}  {indent}{}", head(hop, kernel, source), sentence(hop, blocks));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if way.hops.is_empty() {
        out.push_str("  nothing reads it\n");
    }
    out
}

fn line(hop: &Hop, kernel: &Kernel, source: &Source) -> Option<usize> {
    Some(source.line(kernel.func().op(hop.op?).span))
}

fn mnemonic(hop: &Hop, kernel: &Kernel) -> Option<&'static str> {
    let op = kernel.func().op(hop.op?);
    Some(match &op.kind {
        tessera_ir::OpKind::For => "scf.for",
        tessera_ir::OpKind::While => "scf.while",
        _ => op.opcode().map_or("", |o| o.mnemonic()),
    })
}

fn head(hop: &Hop, kernel: &Kernel, source: &Source) -> String {
    match (line(hop, kernel, source), mnemonic(hop, kernel), &hop.how) {
        (_, _, How::Ends | How::Input | How::NeverWritten) => String::new(),
        (Some(line), Some(mnemonic), _) => format!("{line:>4}: {mnemonic}"),
        _ => String::new(),
    }
}

fn sentence(hop: &Hop, blocks: u32) -> String {
    let to = hop.to.as_deref().unwrap_or("");
    let from = hop.from.as_deref().unwrap_or("");
    let mut text = match &hop.how {
        How::Moved => format!("{to} = {from}"),
        How::Converted(function) => format!("{to} = {from}, converted: {function}"),
        How::Computed(formula) => return format!("{to} = {formula}{}", place(hop, blocks)),
        How::Filled(value) => format!("{to} = {value}"),
        How::Clobbered => format!("{to} is undefined: hardware writes whole blocks, and its footprint covers it"),
        How::NeverWritten => format!("{to} was never written"),
        How::Input => format!("{to} is an input element"),
        How::Parameter => format!("{from} is a quantization parameter"),
        How::Ends => format!("ends in {to}"),
    };
    if hop.more > 0 {
        text.push_str(&format!(", and {} more", counted(hop.more, "element")));
    }
    if !matches!(hop.how, How::Ends) {
        text.push_str(&place(hop, blocks));
    }
    text
}

/// The loops and the block around a step.
fn place(hop: &Hop, blocks: u32) -> String {
    let mut around: Vec<String> = hop.loops.iter().map(|(name, i)| format!("{name} = {i}")).collect();
    if blocks > 1 && hop.op.is_some() {
        around.insert(0, format!("block {}", hop.block));
    }
    if around.is_empty() { String::new() } else { format!("  ({})", around.join(", ")) }
}

/// A formula as data: text, and the tree that it is.
fn formula_record(target: &Target, formula: &Formula) -> serde_json::Value {
    let names: Vec<_> =
        formula.names.iter().map(|(name, node)| serde_json::json!({ "name": name, "term": tree(node) })).collect();
    serde_json::json!({
        "element": target.to_string(), "formula": formula.line(), "term": tree(&formula.term), "where": names,
    })
}

fn tree(node: &Node) -> serde_json::Value {
    match node {
        Node::Element(text) => serde_json::json!({ "element": text }),
        Node::Constant(text) => serde_json::json!({ "constant": text }),
        Node::Name(name) => serde_json::json!({ "name": name }),
        Node::Cut => serde_json::json!({ "cut": true }),
        Node::Apply { function, to, args, more } => {
            let function = match function {
                Notated::Notation(notation) | Notated::Between(notation) => (*notation).to_string(),
                Notated::Call(name) | Notated::Before(name) => name.clone(),
                Notated::Bit(bit) => format!("bit {bit}"),
            };
            let args: Vec<_> = args.iter().map(tree).collect();
            serde_json::json!({ "function": function, "type": to.to_string(), "args": args, "more": more })
        }
    }
}

/// A step as data.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    /// Its place on the way.
    pub step: usize,
    /// The event, in a word.
    pub how: &'static str,
    /// The line of the text.
    pub line: Option<usize>,
    /// The operation.
    pub op: Option<&'static str>,
    /// The block.
    pub block: u32,
    /// The loops around it, outermost first.
    pub loops: Vec<(&'a str, i64)>,
    /// The element that was written.
    pub to: Option<&'a str>,
    /// The element that was read.
    pub from: Option<&'a str>,
    /// The function, the formula or the value.
    pub detail: Option<&'a str>,
    /// Elements that are not shown one by one.
    pub more: u64,
    /// The number of earlier splits of the path.
    pub depth: usize,
}

/// A step as data.
pub fn record<'a>(step: usize, hop: &'a Hop, kernel: &Kernel, source: &Source) -> Record<'a> {
    let (how, detail) = match &hop.how {
        How::Moved => ("moved", None),
        How::Converted(function) => ("converted", Some(function.as_str())),
        How::Computed(function) => ("computed", Some(function.as_str())),
        How::Filled(value) => ("filled", Some(value.as_str())),
        How::Clobbered => ("clobbered", None),
        How::NeverWritten => ("never-written", None),
        How::Input => ("input", None),
        How::Parameter => ("parameter", None),
        How::Ends => ("ends", None),
    };
    Record {
        step,
        how,
        line: line(hop, kernel, source),
        op: mnemonic(hop, kernel),
        block: hop.block,
        loops: hop.loops.iter().map(|(n, i)| (n.as_str(), *i)).collect(),
        to: hop.to.as_deref(),
        from: hop.from.as_deref(),
        detail,
        more: hop.more,
        depth: hop.depth,
    }
}
