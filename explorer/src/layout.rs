//! A tile type: where its elements lie.

use crate::Answer;
use crate::answers::profile;
use serde::Deserialize;
use serde_json::json;
use tessera::Loc;
use tessera_draw::{grid, tile};
use tessera_ir::Type;

/// Elements that a page shows.
const MOST: u64 = 1 << 16;

#[derive(Debug, Deserialize)]
pub struct Ask {
    r#type: String,
    profile: String,
}

pub fn answer(ask: &Ask) -> Answer {
    let profile = profile(&ask.profile)?;
    let written = ask.r#type.trim();
    let full = if written.starts_with('!') { written.to_string() } else { format!("!pto.tile<{written}>") };
    let ty = match tessera_asm::parse_type(&full) {
        Ok(Type::Tile(ty)) => ty,
        Ok(_) => return Err(format!("'{written}' is not a tile type; write one such as 16x32xf16")),
        Err(d) => return Err(d.help.map_or_else(|| d.message.clone(), |help| format!("{}; {help}", d.message))),
    };
    let tile = ty.resolve(profile);
    let fault = tile.fault(profile);
    if tile.rows.saturating_mul(tile.cols) > MOST {
        return Err(format!("{tile} has more than {MOST} elements; a page shows no more"));
    }
    let layout = tile.layout();
    let offsets: Vec<i64> =
        (0..tile.rows).flat_map(|r| (0..tile.cols).map(move |c| (r, c))).map(|(r, c)| layout.offset(r, c)).collect();
    let (ir, ic) = tile.box_dims().unwrap_or((1, 1));
    let title = format!("{tile} on {profile}");
    Ok(json!({
        "title": title, "layout": tile.layout_name().name(), "formula": tile.layout_name().formula(),
        "about": tile.layout_name().about(),
        "rows": tile.rows, "cols": tile.cols, "bits": tile.elem.bits(), "elem": tile.elem.name(),
        "valid": [tile.v_row.known().unwrap_or(tile.rows), tile.v_col.known().unwrap_or(tile.cols)],
        "box": [ir, ic], "offsets": offsets, "bytes": tile.bytes(),
        "memory": tile.loc.memory_name(), "is_ub": tile.loc == Loc::Vec,
        "legend": grid::legend(&tile, "hatched elements are padding"),
        "svg": tile::draw(&tile, &title),
        "fault": fault.map(|f| json!({
            "rule": f.rule, "severity": f.severity.name(), "message": f.message, "help": f.help,
        })),
    }))
}
