//! A program without a run: findings, legality by profile, arguments, races, the memory map.

use crate::Answer;
use crate::answers::{Places, profile};
use serde::Deserialize;
use serde_json::{Value, json};
use tessera::program::Need;
use tessera::{Diagnostic, Kernel, OrderOptions, Profile, Program};
use tessera_ir::OpId;
use tessera_plan::{MemoryMap, MemoryRows, Row};

/// Operations that are followed before nobody can tell whether there are races.
const RACE_STEPS: u64 = 400_000;

#[derive(Debug, Deserialize)]
pub struct Ask {
    text: String,
    /// Left out: the module's own.
    profile: Option<String>,
    entry: Option<String>,
}

impl Ask {
    pub fn program(&self) -> Result<Program, String> {
        read(&self.text, self.profile.as_deref(), self.entry.as_deref())
    }
}

pub fn read(text: &str, on: Option<&str>, entry: Option<&str>) -> Result<Program, String> {
    Ok(Program::read_entry(text, on.map(profile).transpose()?, entry))
}

pub fn answer(ask: &Ask) -> Answer {
    let (places, program) = (&Places::new(&ask.text), ask.program()?);
    let found = program.check();
    let portability: Vec<Value> = match program.has_errors() {
        true => Vec::new(),
        false => program
            .portability()
            .rows
            .iter()
            .map(|row| json!({ "at": places.at(row.span), "name": row.mnemonic, "refused": row.refused }))
            .collect(),
    };
    let names: Vec<&str> = program
        .module()
        .funcs
        .iter()
        .filter(|_| !program.module().is_listing)
        .map(|f| program.module().names.text(f.name))
        .collect();
    let mut answer = json!({
        "profile": program.profile().name(), "profiles": Profile::ALL.map(|p| p.name()),
        "findings": places.findings(&found), "portability": portability, "functions": names,
    });
    if found.iter().any(Diagnostic::is_error) {
        return Ok(answer);
    }
    let kernel = match program.kernel_or_entry(ask.entry.as_deref()) {
        Ok(kernel) => kernel,
        Err(error) => {
            answer["no_kernel"] = json!(error.message());
            return Ok(answer);
        }
    };
    answer["arguments"] = arguments(&kernel);
    answer["outputs"] = json!(kernel.outputs().into_iter().map(|v| kernel.name(v)).collect::<Vec<_>>());
    answer["map"] = memory_map(&kernel).map_or(Value::Null, |map| shown(places, &kernel, &map));
    answer["races"] = races(places, &kernel);
    Ok(answer)
}

fn arguments(kernel: &Kernel) -> Value {
    let one = |a: &tessera::program::Argument| {
        let need = kernel.need(a.value);
        let kind = match need {
            Need::Scalar(_) => "scalar",
            Need::Buffer(..) => "buffer",
            Need::Tile(_) | Need::Conv(_) => "tile",
            _ => return None,
        };
        Some(json!({
            "name": kernel.name(a.value), "kind": kind, "elem": kernel.elem(a.value).map(|e| e.name()),
            "shape": need.dims(), "is_read": a.is_read, "is_optional": a.is_optional,
        }))
    };
    json!(kernel.arguments().iter().filter_map(one).collect::<Vec<_>>())
}

fn races(places: &Places<'_>, kernel: &Kernel) -> Value {
    let mut options = OrderOptions::default();
    (options.limits.steps, options.limits.total) = (RACE_STEPS, RACE_STEPS);
    match kernel.order(&options) {
        Ok(report) => json!({ "verdict": report.verdict.name(), "findings": places.findings(&report.diagnostics) }),
        Err(error) => json!({ "verdict": "undecided", "findings": places.findings(&[error.diagnostic().clone()]) }),
    }
}

pub fn memory_map(kernel: &Kernel) -> Option<MemoryMap> {
    let placement = kernel.plan(&[]).ok()?;
    Some(tessera_plan::map(kernel.module(), kernel.func(), kernel.profile(), &placement))
}

/// The map, with its picture.
fn shown(places: &Places<'_>, kernel: &Kernel, map: &MemoryMap) -> Value {
    let op = |op: Option<OpId>| op.map(|op| places.at(kernel.func().op(op).span));
    let row = |row: &Row| {
        json!({
            "id": row.value.0, "name": row.name, "type": row.ty, "addr": row.slot.addr, "bytes": row.slot.bytes,
            "start": row.slot.start, "end": row.slot.end, "first": op(row.first), "last": op(row.last),
            "manual": row.is_manual,
        })
    };
    let memory = |memory: &MemoryRows| {
        json!({
            "name": memory.loc.memory_name(), "capacity": memory.capacity, "peak": memory.peak,
            "used": memory.high_water, "rows": memory.rows.iter().map(row).collect::<Vec<_>>(),
        })
    };
    json!({
        "exit": map.exit, "memories": map.memories.iter().map(memory).collect::<Vec<_>>(),
        "svg": tessera_draw::map::draw(map),
    })
}
