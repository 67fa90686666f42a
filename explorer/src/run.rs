//! A run, step by step.

use crate::Answer;
use crate::answers::{findings, place};
use crate::program::read;
use crate::values;
use serde::Deserialize;
use serde_json::{Number as JsonNumber, Value, json};
use std::collections::BTreeMap;
use tessera::case::Case;
use tessera::compare::{Tolerance, compare};
use tessera::fill::Fill;
use tessera::npy::Array;
use tessera::program::{Content, From, Inputs, Limits, Outcome, PrintedWhat, Setting};
use tessera::{Diagnostic, Elem, Kernel, Literal, Number, Program};
use tessera_exec::interp::{Recorded, Step, TileOutput};
use tessera_ir::{OpId, ValueId};
use tessera_isa::codec::Overflow;

/// How long a page may be busy, and how much it holds.
const LIMITS: Limits = Limits { steps: 2_000_000, memory: 1 << 27 };
/// Elements of all steps that are written out.
const ELEMENTS: usize = 400_000;

#[derive(Debug, Default, Deserialize)]
pub struct Ask {
    text: String,
    profile: Option<String>,
    entry: Option<String>,
    #[serde(default)]
    inputs: BTreeMap<String, Given>,
    #[serde(default)]
    set: BTreeMap<String, JsonNumber>,
    blocks: Option<u32>,
    /// What outputs must be.
    #[serde(default)]
    expect: BTreeMap<String, Vec<JsonNumber>>,
}

/// What an argument holds.
#[derive(Debug, Deserialize)]
pub struct Given {
    /// `random`, `iota`, `zeros`, `ones`, `value:3`.
    fill: Option<String>,
    values: Option<Vec<JsonNumber>>,
    shape: Option<Vec<u64>>,
}

fn number(n: &JsonNumber) -> Number {
    n.as_i64().map_or_else(|| Number::Float(n.as_f64().unwrap_or(0.0)), |v| Number::Int(v.into()))
}

/// Numbers as elements of a type.
fn array(elem: Elem, shape: Option<Vec<u64>>, numbers: &[JsonNumber]) -> Array {
    let raw: Vec<u64> = numbers.iter().map(|n| elem.encode(number(n), Overflow::Infinity)).collect();
    let bytes = match elem.size() {
        Some(size) if !elem.is_fp4() => {
            raw.iter().flat_map(|v| v.to_le_bytes().into_iter().take(size as usize)).collect()
        }
        _ => raw.chunks(2).map(|pair| (pair[0] | pair.get(1).unwrap_or(&0) << 4) as u8).collect(),
    };
    Array::of_elem(elem, shape.unwrap_or_else(|| vec![numbers.len() as u64]), bytes)
}

impl Ask {
    /// The numbers of scalars.
    pub fn settings(set: &BTreeMap<String, JsonNumber>) -> Vec<(String, Literal)> {
        set.iter().map(|(name, n)| (name.clone(), Literal::Number(number(n)))).collect()
    }

    fn inputs(&self, kernel: &Kernel) -> Result<Inputs, String> {
        let mut inputs = Inputs::default();
        for (name, given) in &self.inputs {
            let label = format!("%{name}");
            let value = kernel.argument(name).map_err(|e| e.message().to_string())?;
            let from = match (&given.values, given.fill.as_deref()) {
                (Some(numbers), _) => {
                    let elem = kernel.elem(value).ok_or_else(|| format!("%{name} has no elements"))?;
                    let shape = given.shape.clone().or_else(|| kernel.need(value).dims());
                    let is_all = |s: &Vec<u64>| s.iter().product::<u64>() == numbers.len() as u64;
                    From::Array(array(elem, shape.filter(is_all), numbers))
                }
                (None, fill) => {
                    inputs.shapes.extend(given.shape.clone().map(|shape| (name.clone(), shape)));
                    let fill = Fill::parse(fill.unwrap_or("random")).map_err(|e| e.message().to_string())?;
                    From::Fill(fill.ok_or_else(|| format!("%{name}: write random, iota, zeros, ones or value:N"))?)
                }
            };
            inputs.contents.push(Content { name: name.clone(), label, from });
        }
        let set = Ask::settings(&self.set).into_iter().map(|(name, n)| (name, Setting::Value(n)));
        inputs.set.extend(set);
        Ok(inputs)
    }
}

/// Runs a program on what is given and on made-up contents, with a record of each step.
pub fn recorded(
    program: &Program,
    entry: Option<&str>,
    inputs: &Inputs,
    blocks: u32,
) -> Result<(Kernel, Outcome), String> {
    let kernel = program.kernel_or_entry(entry).map_err(|e| e.message().to_string())?;
    let case = Case {
        entry: entry.map(String::from),
        inputs: inputs.clone(),
        blocks,
        fills_missing: true,
        limits: LIMITS,
        ..Case::new(program.clone())
    };
    let mut bindings = case.bindings(&kernel).map_err(|refused| {
        let label = refused.label.map_or(String::new(), |label| format!("{label}: "));
        format!("{label}{}", refused.error.message())
    })?;
    bindings.record = true;
    bindings.outputs.extend(kernel.outputs().into_iter().map(|v| (v, 0)));
    bindings.outputs.sort_unstable();
    bindings.outputs.dedup();
    let outcome = kernel.execute(bindings);
    Ok((kernel, outcome))
}

pub fn value_name(kernel: &Kernel, value: ValueId) -> String {
    kernel.name(value).to_string()
}

pub fn answer(ask: &Ask) -> Answer {
    let program = read(&ask.text, ask.profile.as_deref(), ask.entry.as_deref())?;
    let text = &ask.text;
    let mut found = program.check();
    if found.iter().any(Diagnostic::is_error) {
        return Ok(json!({ "findings": findings(text, &found) }));
    }
    let inputs = match program.kernel_or_entry(ask.entry.as_deref()) {
        Ok(kernel) => ask.inputs(&kernel)?,
        Err(error) => return Err(error.message().into()),
    };
    let (kernel, mut outcome) = recorded(&program, ask.entry.as_deref(), &inputs, ask.blocks.unwrap_or(1))?;
    found.append(&mut outcome.diagnostics);
    let mut left = ELEMENTS;
    let positions = positions(&kernel);
    let blocks: Vec<Value> =
        outcome.recorded.iter().map(|block| shown_block(text, &kernel, block, &positions, &mut left)).collect();
    let outputs = outputs(&kernel, &outcome);
    let compared = compared(ask, &kernel, &outputs)?;
    let outputs = outputs.iter().map(|(name, elem, array)| {
        json!({ "name": name, "elem": elem.name(), "shape": array.shape, "values": values::texts(*elem, &array.bytes, &[]) })
    });
    let outputs: Vec<Value> = outputs.collect();
    let printed = outcome.printed.iter().map(|p| match &p.what {
        PrintedWhat::Text(text) => json!({ "text": text }),
        PrintedWhat::Tile(value, data) => json!({ "name": kernel.name(*value), "tile": values::tile(data) }),
    });
    Ok(json!({
        "findings": findings(text, &found), "blocks": blocks, "outputs": outputs, "compared": compared,
        "printed": printed.collect::<Vec<_>>(), "profile": program.profile().name(),
    }))
}

/// Where operations stand in the memory map.
fn positions(kernel: &Kernel) -> BTreeMap<OpId, u32> {
    let Ok(placement) = kernel.plan(&[]) else { return BTreeMap::new() };
    (0..=placement.points.exit()).filter_map(|p| Some((placement.points.op_at(p)?, p))).collect()
}

fn shown_tile(kernel: &Kernel, tile: &TileOutput, left: &mut usize) -> Value {
    let count = (tile.data.rows * tile.data.cols) as usize;
    let mut shown = json!({ "id": tile.value.0, "core": tile.core, "name": kernel.name(tile.value) });
    if let Some(rest) = left.checked_sub(count) {
        *left = rest;
        shown["tile"] = values::tile(&tile.data);
    }
    shown
}

fn shown_block(
    text: &str,
    kernel: &Kernel,
    block: &Recorded,
    positions: &BTreeMap<OpId, u32>,
    left: &mut usize,
) -> Value {
    let start: Vec<Value> = block.start.iter().map(|t| shown_tile(kernel, t, left)).collect();
    let step = |step: &Step| {
        let roles = step.inst.tiles.iter().zip(&step.tiles);
        let operands: Vec<Value> = roles
            .map(|(arg, value)| {
                json!({
                    "role": arg.role.name(), "is_dst": arg.role.is_dst(), "id": value.map(|v| v.0),
                    "name": value.map(|v| value_name(kernel, v)), "type": arg.tile.to_string(), "valid": arg.valid,
                })
            })
            .collect();
        let scalars = step.inst.scalars.iter().filter_map(|s| Some((s.role.name(), s.value?)));
        let scalars: Vec<Value> = scalars
            .map(|(role, value)| match value {
                Number::Int(v) => json!([role, v.to_string()]),
                Number::Float(v) => json!([role, v.to_string()]),
            })
            .collect();
        json!({
            "at": place(text, kernel.func().op(step.op).span), "op": step.inst.op.mnemonic(), "core": step.core,
            "position": positions.get(&step.op), "operands": operands, "scalars": scalars,
            "changed": step.changed.iter().map(|t| shown_tile(kernel, t, left)).collect::<Vec<_>>(),
        })
    };
    let steps: Vec<Value> = block.steps.iter().map(step).collect();
    json!({ "block": block.block, "start": start, "steps": steps, "is_cut": block.is_cut || *left == 0 })
}

fn outputs(kernel: &Kernel, outcome: &Outcome) -> Vec<(String, Elem, Array)> {
    let tiles = outcome.tiles.iter().map(|t| t.value);
    let written = kernel.outputs();
    let buffers = outcome.buffers.iter().map(|b| b.value).filter(|v| written.contains(v));
    let one = |value: ValueId| {
        let array = kernel.array(outcome, &[], value, 0)?;
        Some((kernel.name(value).to_string(), kernel.elem(value)?, array))
    };
    tiles.chain(buffers).filter_map(one).collect()
}

fn compared(ask: &Ask, kernel: &Kernel, outputs: &[(String, Elem, Array)]) -> Result<Vec<Value>, String> {
    let mut all = Vec::new();
    for (name, numbers) in &ask.expect {
        let bare = name.trim_start_matches('%');
        let Some((_, elem, got)) = outputs.iter().find(|(n, ..)| n == bare) else {
            let names: Vec<String> = kernel.outputs().into_iter().map(|v| format!("%{}", kernel.name(v))).collect();
            return Err(format!("there is no output %{bare}; there are {}", names.join(", ")));
        };
        let count: u64 = got.shape.iter().product();
        if count != numbers.len() as u64 {
            return Err(format!("%{bare} has {count} elements, and {} are expected", numbers.len()));
        }
        let want = array(*elem, Some(got.shape.clone()), numbers);
        let found = compare(*elem, got, &want, &Tolerance { ulp: Some(0), ..Tolerance::default() })
            .map_err(|e| e.message().to_string())?;
        let worst: Vec<Value> =
            found.worst.iter().map(|d| json!({ "index": d.index, "got": d.got, "want": d.want })).collect();
        all.push(json!({ "name": bare, "elements": found.elements, "different": found.different, "worst": worst }));
    }
    Ok(all)
}
