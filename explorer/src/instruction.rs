//! One instruction: its legality everywhere, its operands, what moves where, and with which values.

use crate::Answer;
use crate::answers::{Places, profile};
use crate::run::recorded;
use crate::setup::Ask as Given;
use crate::values::bits;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use tessera::program::TileData;
use tessera::{Diagnostic, Profile, Program};
use tessera_draw::flow::{At, Flow, How};
use tessera_draw::{instruction, sample};
use tessera_isa::inst::Inst;

#[derive(Debug, Deserialize)]
pub struct Ask {
    text: String,
    profile: String,
}

#[derive(Debug, Deserialize)]
pub struct AskElement {
    text: String,
    profile: String,
    operand: usize,
    row: u64,
    col: u64,
}

/// The last instruction on tiles of a program, with its data before and after where it runs.
struct Subject {
    inst: Inst,
    /// By operand: contents before and after.
    contents: Option<Vec<[Option<TileData>; 2]>>,
    names: Vec<String>,
}

impl Subject {
    fn of(text: &str, profile: Profile) -> Result<Subject, String> {
        let program = Program::read(text, Some(profile));
        if let Some(ran) = Subject::ran(text, profile) {
            return Ok(ran);
        }
        let last = tessera_check::instructions(program.module(), profile).pop();
        let (_, inst) = last.ok_or("there is no instruction on tiles")?;
        let names = inst.tiles.iter().map(|t| t.role.to_string()).collect();
        Ok(Subject { inst: sample::known(&inst), contents: None, names })
    }

    /// The same from a run on made-up inputs.
    fn ran(text: &str, profile: Profile) -> Option<Subject> {
        let ask = Given { text: text.into(), profile: Some(profile.name().into()), ..Given::default() };
        let setup = ask.setup().ok()?;
        let (kernel, outcome) = (&setup.kernel, recorded(&setup));
        let block = outcome.recorded.last().filter(|_| !outcome.failed())?;
        let (last, before) = block.steps.split_last()?;
        let mut state: HashMap<_, TileData> = HashMap::new();
        let changes = block.start.iter().chain(before.iter().flat_map(|s| &s.changed));
        for tile in changes.filter(|t| t.core == 0) {
            state.insert(tile.value, tile.data.clone());
        }
        let after = |value| last.changed.iter().find(|t| t.value == value && t.core == 0).map(|t| t.data.clone());
        let contents = last.tiles.iter().map(|value| match value {
            Some(value) => [state.get(value).cloned(), after(*value).or_else(|| state.get(value).cloned())],
            None => [None, None],
        });
        let names = last.tiles.iter().map(|v| v.map_or(String::new(), |v| kernel.name(v).to_string()));
        Some(Subject { inst: last.inst.clone(), contents: Some(contents.collect()), names: names.collect() })
    }

    fn flow(&self) -> Option<Flow> {
        let inst = &self.inst;
        let read = |tile: usize, byte: i64, len: u64| match &self.contents {
            None => sample::element(inst, tile, byte, len),
            Some(all) => {
                let before = all.get(tile)?[0].as_ref()?;
                let at = usize::try_from(byte).ok()?;
                let range = at..at + len as usize;
                before.raw_defined.get(range.clone())?.iter().all(|d| *d == 0xFF).then_some(())?;
                Some(before.raw.get(range)?.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte)))
            }
        };
        Flow::of(inst, Some(&read))
    }

    /// An element's value before or after.
    fn value(&self, at: At, after: bool) -> Value {
        let data = self.contents.as_ref().and_then(|all| all.get(at.operand)?[usize::from(after)].as_ref());
        let Some(data) = data.filter(|d| at.row < d.rows && at.col < d.cols) else { return Value::Null };
        let n = (at.row * data.cols + at.col) as usize;
        let size = data.elem.bytes_of(1) as usize;
        let first = if data.elem.is_fp4() { n / 2 } else { n * size };
        let is_known = data.defined.get(first..first + size).is_some_and(|d| d.iter().all(|d| *d == 0xFF));
        match bits(data.elem, &data.elements, n) {
            Some(bits) if is_known => json!(data.elem.format_bits(bits)),
            _ => json!("undefined"),
        }
    }
}

fn code(how: How) -> &'static str {
    match how {
        How::Kept => "k",
        How::Undefined => "u",
        How::Filled(_) => "f",
        How::Copied => "c",
        How::Computed(_) => "m",
        How::Folded(_) => "s",
        How::Decided => "d",
    }
}

pub fn answer(ask: &Ask) -> Answer {
    let chosen = profile(&ask.profile)?;
    let places = Places::new(&ask.text);
    let legality: Vec<Value> = Profile::ALL
        .iter()
        .map(|profile| {
            let found = Program::read(&ask.text, Some(*profile)).check();
            let ok = !found.iter().any(Diagnostic::is_error);
            json!({ "profile": profile.name(), "ok": ok, "findings": places.findings(&found) })
        })
        .collect();
    let Ok(subject) = Subject::of(&ask.text, chosen) else {
        return Ok(json!({ "legality": legality }));
    };
    let info = subject.inst.op.info();
    let Some(flow) = subject.flow() else {
        return Ok(json!({
            "legality": legality, "name": info.mnemonic, "summary": info.summary, "formula": info.formula,
        }));
    };
    let operands = flow.operands.iter().enumerate().map(|(operand, o)| {
        let cells = (0..o.rows).flat_map(|row| (0..o.cols).map(move |col| At { operand, row, col }));
        let cells: String = cells.map(|at| code(flow.how(at))).collect();
        json!({
            "name": flow.name(operand), "value": subject.names.get(operand), "type": o.ty, "rows": o.rows,
            "cols": o.cols, "valid": o.valid, "box": o.box_dims, "is_dst": o.is_dst, "cells": cells,
        })
    });
    let operands: Vec<Value> = operands.collect();
    Ok(json!({
        "legality": legality, "name": info.mnemonic, "summary": info.summary, "formula": info.formula,
        "operands": operands, "runs": subject.contents.is_some(),
        "svg": instruction::picture(&flow, &subject.inst.op.title()),
    }))
}

pub fn element(ask: &AskElement) -> Answer {
    let subject = Subject::of(&ask.text, profile(&ask.profile)?)?;
    let flow = subject.flow().ok_or("nothing of it can be followed")?;
    let at = At { operand: ask.operand, row: ask.row, col: ask.col };
    let list = |all: Vec<At>| all.into_iter().map(|a| json!([a.operand, a.row, a.col])).collect::<Vec<_>>();
    let is_dst = flow.operands.get(at.operand).is_some_and(|o| o.is_dst);
    let sources = if is_dst { flow.sources(at) } else { Vec::new() };
    let formula = if is_dst { flow.formula(at) } else { format!("{}[{}, {}]", flow.name(at.operand), at.row, at.col) };
    Ok(json!({
        "formula": formula, "before": subject.value(at, false), "after": subject.value(at, true),
        "sources": list(sources), "users": list(flow.users(at)), "how": code(flow.how(at)),
    }))
}
