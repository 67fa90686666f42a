//! When everything happens: pipes, waits, and what waits for what, in estimated cycles.

use crate::Answer;
use crate::answers::Places;
use crate::setup::{Ask, Setup, said};
use serde_json::{Value, json};
use tessera::Kernel;
use tessera::program::{Timeline, TimelineOptions};
use tessera_isa::ops::Pipe;
use tessera_race::Core;
use tessera_race::timeline::{Process, Slice, SliceKind};

/// More than this no page draws.
const MOST: usize = 20_000;

pub fn answer(ask: &Ask) -> Answer {
    let Setup { kernel, bindings } = ask.setup()?;
    let values = kernel.integers(&bindings);
    let options = TimelineOptions { values: values.clone(), blocks: bindings.blocks, ..TimelineOptions::default() };
    let line = kernel.timeline(&options).map_err(said)?;
    let slices: usize = line.processes.iter().map(|p| p.slices.len()).sum();
    if slices > MOST {
        return Err(format!("the timeline has {slices} parts, and a page draws {MOST}; take fewer rounds or blocks"));
    }
    let places = Places::new(&ask.text);
    let numbers: Vec<Value> = values.iter().map(|(v, n)| json!([kernel.name(*v), n])).collect();
    let processes: Vec<Value> = line.processes.iter().map(|p| process(&places, &kernel, &line, p)).collect();
    let arrow = |a: &tessera_race::timeline::Arrow| json!({ "from": a.from, "to": a.to, "why": a.why.to_string() });
    let bound = line.bound().map(|(process, pipe, cycles)| json!([process, pipe.name(), cycles]));
    Ok(json!({
        "total": line.total, "unknown": line.unknown(), "values": numbers, "processes": processes, "bound": bound,
        "arrows": line.arrows.iter().map(arrow).collect::<Vec<_>>(),
        "path": line.path.iter().map(|step| step.at).collect::<Vec<_>>(),
    }))
}

fn process(places: &Places<'_>, kernel: &Kernel, line: &Timeline, process: &Process) -> Value {
    let core = match process.core {
        Core::Unsplit => String::new(),
        core => core.name().to_string(),
    };
    let blocks = line.processes.iter().any(|p| p.block > 0);
    let name = if blocks { format!("block {} {core}", process.block) } else { core };
    let pipes = Pipe::ALL.iter().filter(|pipe| process.slices.iter().any(|s| s.pipe == **pipe));
    let slice = |slice: &Slice| {
        let (kind, why) = match &slice.what {
            SliceKind::Work { known: true } => ("work", None),
            SliceKind::Work { known: false } => ("unknown", None),
            SliceKind::Wait(why) => ("wait", Some(why.to_string())),
        };
        json!({
            "pipe": slice.pipe.name(), "start": slice.start, "end": slice.end, "kind": kind, "why": why,
            "name": kernel.func().ops.get(slice.op.index()).map(|op| op.kind.name()), "at": places.at(slice.span),
            "turns": slice.turns, "bytes": slice.bytes,
        })
    };
    json!({
        "name": name.trim(), "core": process.core.name(), "block": process.block,
        "pipes": pipes.map(|p| p.name()).collect::<Vec<_>>(),
        "slices": process.slices.iter().map(slice).collect::<Vec<_>>(),
    })
}
