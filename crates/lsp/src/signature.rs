//! Signature help: the operands of the instruction that is being written, and the one at the cursor.

use crate::context::{Context, Open};
use crate::snapshot::Snapshot;
use gen_lsp_types as lsp;
use tessera_isa::diag::Span;
use tessera_isa::ops::{Opcode, Role, Shape};

/// The forms of the instruction around a place; the first one that has an operand there is active.
pub fn help(snapshot: &Snapshot, at: u32) -> Option<lsp::SignatureHelp> {
    if snapshot.tokens().in_comment(at) {
        return None;
    }
    let context = Context::new(snapshot, at);
    let op = context.opcode().filter(|_| !context.at_start && !context.after_colon)?;
    let (is_dps, is_out) = match context.open {
        None => (false, false),
        Some((Open::Round(is_out), "ins" | "outs")) => (true, is_out),
        Some(_) => return None,
    };
    // Commas between results stand before the operands.
    let statement = snapshot.text.slice(Span::new(context.start, at));
    let results = statement.split_once('=').filter(|_| !is_dps).map_or(0, |(results, _)| results.matches(',').count());
    let position = context.commas.saturating_sub(results);
    let shapes: Vec<&Shape> = op.shapes().iter().filter(|shape| is_dps || !shape.dps_only).collect();
    let list = |shape: &Shape| if is_out { shape.outs.len() } else { shape.ins.len() };
    let active = shapes.iter().position(|shape| position < list(shape)).unwrap_or(0);
    let signatures = shapes.iter().map(|shape| signature(op, shape, is_dps)).collect::<Vec<_>>();
    let before = shapes.get(active).filter(|_| is_out).map_or(0, |shape| shape.ins.len());
    let found = !signatures.is_empty();
    found.then(|| lsp::SignatureHelp {
        signatures,
        active_signature: u32::try_from(active).ok(),
        active_parameter: u32::try_from(before + position).ok().map(Into::into),
    })
}

/// One form of an instruction: operands that are read, then those that are written.
fn signature(op: Opcode, shape: &Shape, is_dps: bool) -> lsp::SignatureInformation {
    let mut label = String::new();
    let mut parameters: Vec<(usize, usize)> = Vec::new();
    let mut list = |label: &mut String, roles: &[Role]| {
        for (n, role) in roles.iter().enumerate() {
            label.push_str(if n > 0 { ", " } else { "" });
            // Names of operands are ASCII, so that bytes are units.
            parameters.push((label.len(), label.len() + role.name().len()));
            label.push_str(role.name());
        }
    };
    let name = op.mnemonic();
    if is_dps {
        label += &format!("pto.{name} ins(");
        list(&mut label, &shape.ins);
        label.push(')');
        if !shape.outs.is_empty() {
            label.push_str(" outs(");
            list(&mut label, &shape.outs);
            label.push(')');
        }
    } else {
        label += &format!("{name} ");
        list(&mut label, &shape.ins);
        if !shape.outs.is_empty() {
            label.push_str(" -> ");
            list(&mut label, &shape.outs);
        }
    }
    let place = |(start, end): (usize, usize)| Some((u32::try_from(start).ok()?, u32::try_from(end).ok()?));
    let parameter =
        |range| lsp::ParameterInformation { label: lsp::ParameterInformationLabel::Tuple(range), documentation: None };
    lsp::SignatureInformation {
        label,
        documentation: Some(op.info().summary.to_string().into()),
        parameters: Some(parameters.into_iter().filter_map(place).map(parameter).collect()),
        active_parameter: None,
    }
}
