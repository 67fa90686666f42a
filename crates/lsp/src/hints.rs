//! Inlay hints: layouts that a type leaves out, and the addresses of tiles.

use crate::snapshot::Snapshot;
use crate::symbols::type_of;
use gen_lsp_types as lsp;
use std::collections::HashMap;
use tessera::Profile;
use tessera_ir::{Func, Type, ValueId};
use tessera_isa::diag::Span;
use tessera_isa::tile::{Loc, TileType};

/// By place of a tile's definition: where it lies.
pub type Places = HashMap<u32, Place>;

/// The place of a tile.
#[derive(Clone, Debug)]
pub struct Place {
    pub loc: Loc,
    pub addr: u64,
    pub bytes: u64,
    /// Whether the text states it.
    pub is_manual: bool,
    /// The lines between which it lives, from 1; none for the beginning and the end.
    pub lines: (Option<usize>, Option<usize>),
    name: String,
}

/// The places of the tiles of every kernel.
pub fn places(snapshot: &Snapshot) -> Places {
    let mut all = Places::new();
    if snapshot.program.has_errors() {
        return all;
    }
    let program = snapshot.on(snapshot.profile());
    let kernels = program.entries().into_iter().filter_map(|name| program.kernel_or_entry(name.as_deref()).ok());
    for kernel in kernels {
        let Ok(placement) = kernel.plan(&[]) else { continue };
        let (module, func) = (kernel.module(), kernel.func());
        let map = tessera_plan::map(module, func, kernel.profile(), &placement);
        let line = |op: tessera_ir::OpId| snapshot.text.line_of(func.op(op).span.start) + 1;
        for row in map.memories.iter().flat_map(|memory| &memory.rows) {
            let place = Place {
                loc: row.slot.loc,
                addr: row.slot.addr,
                bytes: row.slot.bytes,
                is_manual: row.is_manual,
                lines: (row.first.map(line), row.last.map(line)),
                name: row.name.clone(),
            };
            all.entry(func.value(row.value).span.start).or_insert(place);
        }
    }
    all
}

/// The place of the tile that is defined here; in a text with errors, its last known place.
pub fn place<'a>(snapshot: &'a Snapshot, func: &Func, value: ValueId) -> Option<&'a Place> {
    let start = func.value(value).span.start;
    match &snapshot.good {
        None => snapshot.known_places()?.get(&start),
        Some(good) => {
            let name = format!("%{}", snapshot.program.module().names.text(func.value(value).name));
            let mut named = good.known_places()?.values().filter(|place| place.name == name);
            // Two tiles of one name could be mixed up.
            named.next().filter(|_| named.next().is_none())
        }
    }
}

/// The hints of a part of the text.
pub fn hints(snapshot: &Snapshot, span: Span) -> Vec<lsp::InlayHint> {
    if !snapshot.config.hints {
        return Vec::new();
    }
    let (profiles, _) = snapshot.profiles();
    let mut all = Vec::new();
    for func in &snapshot.program.module().funcs {
        for (value, id) in func.values.iter().zip((0..).map(ValueId)) {
            if value.span.end < span.start || span.end < value.span.start {
                continue;
            }
            let Some(Type::Tile(tile)) = type_of(snapshot, func, id) else { continue };
            if let Some(place) = place(snapshot, func, id).filter(|place| !place.is_manual) {
                let label = format!("{} {:#x}", place.loc.memory_name(), place.addr);
                let about = format!("{} bytes, placed automatically on {}", place.bytes, snapshot.profile());
                all.push(hint(snapshot, value.span.end, label, about));
            }
            // If the type is an alias or left out, its layout is shown behind the name.
            let at = if value.type_span.start > value.span.start { value.type_span.end } else { value.span.end };
            if let Some(label) = inferred(tile, &profiles) {
                let about = "the layout that the type leaves to the profile".to_string();
                all.push(hint(snapshot, at, label, about));
            }
        }
    }
    all
}

fn hint(snapshot: &Snapshot, at: u32, label: String, about: String) -> lsp::InlayHint {
    lsp::InlayHint {
        position: snapshot.text.position(at),
        label: label.into(),
        kind: Some(lsp::InlayHintKind::Type),
        text_edits: None,
        tooltip: Some(about.into()),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

/// The layout that a type leaves out, by profile where they differ.
fn inferred(tile: &TileType, profiles: &[Profile]) -> Option<String> {
    if tile.blayout.is_some() && tile.slayout.is_some() && !profiles.iter().any(|p| tile.replaces_blayout(*p)) {
        return None;
    }
    let mut layouts: Vec<(String, Vec<&str>)> = Vec::new();
    for profile in profiles {
        let on = tile.resolve(*profile);
        let fractal = if on.is_boxed() && on.fractal != 512 { format!(" {}", on.fractal) } else { String::new() };
        let name = format!("{}{fractal}", on.layout_name());
        match layouts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, on)) => on.push(profile.name()),
            None => layouts.push((name, vec![profile.name()])),
        }
    }
    match layouts.as_slice() {
        [] => None,
        [(one, _)] => Some(one.clone()),
        many => {
            Some(many.iter().map(|(name, on)| format!("{name} ({})", on.join(", "))).collect::<Vec<_>>().join(", "))
        }
    }
}
