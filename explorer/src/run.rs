//! A run, step by step.

use crate::Answer;
use crate::answers::Places;
use crate::setup::{self, Setup, expected, said};
use crate::values;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tessera::npy::Array;
use tessera::program::{Outcome, PrintedValue, Shapes};
use tessera::{Diagnostic, Elem, Kernel, Number};
use tessera_interp::{Recorded, Step, Stored, TileOutput};
use tessera_ir::{OpId, ValueId};

/// Elements of all steps that are written out.
const ELEMENTS: usize = 400_000;

#[derive(Debug, Default, Deserialize)]
pub struct Ask {
    #[serde(flatten)]
    program: setup::Ask,
    /// What outputs must be, see [`expected`].
    #[serde(default)]
    expect: String,
}

/// Runs a program with a record of each step.
pub fn recorded(setup: &Setup) -> Outcome {
    let kernel = &setup.kernel;
    let mut bindings = setup.bindings.clone();
    bindings.record = true;
    bindings.outputs.extend(kernel.outputs().into_iter().map(|v| (v, 0)));
    bindings.outputs.sort_unstable();
    bindings.outputs.dedup();
    kernel.execute(bindings)
}

pub fn answer(ask: &Ask) -> Answer {
    let program = ask.program.program()?;
    let places = Places::new(&ask.program.text);
    let mut found = program.check();
    if found.iter().any(Diagnostic::is_error) {
        return Ok(json!({ "findings": places.findings(&found) }));
    }
    let setup = ask.program.setup()?;
    let (kernel, shapes) = (&setup.kernel, setup.shapes());
    let mut outcome = recorded(&setup);
    found.append(&mut outcome.diagnostics);
    let mut shown = Shown { places: &places, kernel, shapes: &shapes, positions: positions(kernel), left: ELEMENTS };
    let blocks: Vec<Value> = outcome.recorded.iter().map(|block| shown.block(block)).collect();
    let outputs = outputs(kernel, &outcome, &shapes);
    let mut compared = Vec::new();
    for one in expected(kernel, &ask.expect, &outputs)? {
        let found = one.compare(kernel, &outcome, &shapes).map_err(|e| format!("%{}: {}", one.name, said(e)))?;
        let worst: Vec<Value> =
            found.worst.iter().map(|d| json!({ "index": d.index, "got": d.got, "want": d.want })).collect();
        compared.push(json!({
            "name": one.name, "elements": found.elements, "different": found.different, "worst": worst,
        }));
    }
    let outputs = outputs.iter().map(|(name, elem, array)| {
        json!({ "name": name, "elem": elem.name(), "shape": array.shape, "values": values::texts(*elem, &array.bytes, &[]) })
    });
    let outputs: Vec<Value> = outputs.collect();
    let printed = outcome.printed.iter().map(|p| match &p.what {
        PrintedValue::Text(text) => json!({ "text": text }),
        PrintedValue::Tile(value, data) => json!({ "name": kernel.name(*value), "tile": values::tile(data) }),
    });
    Ok(json!({
        "findings": places.findings(&found), "blocks": blocks, "outputs": outputs, "compared": compared,
        "printed": printed.collect::<Vec<_>>(), "profile": program.profile().name(),
    }))
}

/// Where operations stand in the memory map.
fn positions(kernel: &Kernel) -> BTreeMap<OpId, u32> {
    let Ok(placement) = kernel.plan(&[]) else { return BTreeMap::new() };
    (0..=placement.points.exit()).filter_map(|p| Some((placement.points.op_at(p)?, p))).collect()
}

/// Writes a record out, as far as there is room.
struct Shown<'a> {
    places: &'a Places<'a>,
    kernel: &'a Kernel,
    shapes: &'a Shapes,
    positions: BTreeMap<OpId, u32>,
    /// Elements that still have room.
    left: usize,
}

impl Shown<'_> {
    /// Takes room for so many elements, if there is any.
    fn has_room(&mut self, elements: usize) -> bool {
        let rest = self.left.checked_sub(elements);
        self.left = rest.unwrap_or(self.left);
        rest.is_some()
    }

    fn tile(&mut self, tile: &TileOutput) -> Value {
        let mut shown = json!({ "id": tile.value.0, "core": tile.core, "name": self.kernel.name(tile.value) });
        if self.has_room((tile.data.rows * tile.data.cols) as usize) {
            shown["tile"] = values::tile(&tile.data);
        }
        shown
    }

    /// A part of global memory, in whole elements: the number of the first one, and how many the buffer has.
    fn stored(&mut self, stored: &Stored) -> Value {
        let Stored { value, at, bytes, defined } = stored;
        let elem = self.kernel.elem(*value).unwrap_or(Elem::U8);
        let size = elem.bytes_of(1) as usize;
        let per = 8 * size / elem.bits() as usize;
        let mut shown = json!({ "id": value.0, "name": self.kernel.name(*value), "elem": elem.name() });
        let known = self.shapes.iter().find(|(v, _)| v == value).map(|(_, shape)| shape.clone());
        shown["shape"] = json!(known.or_else(|| self.kernel.need(*value).dims()));
        if self.has_room(bytes.len() / size * per) {
            shown["first"] = json!(at / size * per);
            shown["values"] = json!(values::texts(elem, bytes, defined));
        }
        shown
    }

    fn block(&mut self, block: &Recorded) -> Value {
        let start: Vec<Value> = block.start.iter().map(|t| self.tile(t)).collect();
        let buffers: Vec<Value> = block.buffers.iter().map(|b| self.stored(b)).collect();
        let steps: Vec<Value> = block.steps.iter().map(|s| self.step(s)).collect();
        json!({
            "block": block.block, "start": start, "buffers": buffers, "steps": steps,
            "is_cut": block.is_cut || self.left == 0,
        })
    }

    fn step(&mut self, step: &Step) -> Value {
        let kernel = self.kernel;
        let roles = step.inst.tiles.iter().zip(&step.tiles);
        let operands: Vec<Value> = roles
            .map(|(arg, value)| {
                json!({
                    "role": arg.role.name(), "is_dst": arg.role.is_dst(), "id": value.map(|v| v.0),
                    "name": value.map(|v| kernel.name(v)), "type": arg.tile.to_string(), "valid": arg.valid,
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
            "at": self.places.at(kernel.func().op(step.op).span), "op": step.inst.op.mnemonic(), "core": step.core,
            "position": self.positions.get(&step.op), "operands": operands, "scalars": scalars,
            "changed": step.changed.iter().map(|t| self.tile(t)).collect::<Vec<_>>(),
            "stored": step.stored.iter().map(|b| self.stored(b)).collect::<Vec<_>>(),
        })
    }
}

fn outputs(kernel: &Kernel, outcome: &Outcome, shapes: &Shapes) -> Vec<(String, Elem, Array)> {
    let tiles = outcome.tiles.iter().map(|t| t.value);
    let written = kernel.outputs();
    let buffers = outcome.buffers.iter().map(|b| b.value).filter(|v| written.contains(v));
    let one = |value: ValueId| {
        let array = kernel.array(outcome, shapes, value, 0)?;
        Some((kernel.name(value).to_string(), kernel.elem(value)?, array))
    };
    tiles.chain(buffers).filter_map(one).collect()
}
