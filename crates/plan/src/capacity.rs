//! The `capacity` error: who is alive where it is too tight (ops.md 10).

use crate::life::Life;
use crate::place::{Overflow, Space};
use crate::{Placement, name_of, tile_of};
use tessera_ir::{Func, Module};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;

/// More tiles than this are summed up in one line of the table.
const MAX_ROWS: usize = 24;

/// The error with its table.
#[allow(clippy::too_many_arguments, reason = "everything that the table shows")]
pub fn report(
    module: &Module,
    func: &Func,
    profile: Profile,
    loc: Loc,
    lives: &[&Life],
    space: &Space,
    placement: &Placement,
    overflow: Overflow,
) -> Box<Diagnostic> {
    let (Overflow::Alive(peak) | Overflow::Scattered(peak)) = overflow;
    let mut alive: Vec<&Life> = lives.iter().copied().filter(|l| l.start <= peak.at && peak.at <= l.end).collect();
    alive.sort_by_key(|l| std::cmp::Reverse(l.bytes));
    let memory = loc.memory_name();
    let room = space.bytes();
    let op = placement.points.op_at(peak.at);
    let place = format!("at {}", op.map_or("the start", |op| func.op(op).kind.name()));
    let message = match overflow {
        Overflow::Alive(_) => format!(
            "{} alive {place}, {} bytes together, and {memory} of {profile} has {room} bytes for automatic tiles",
            if alive.len() == 1 { "1 tile is".to_string() } else { format!("{} tiles are", alive.len()) },
            peak.bytes
        ),
        Overflow::Scattered(_) => format!(
            "the tiles alive {place} need {} of the {room} bytes of {memory} on {profile}, but no order that was tried places all lives without gaps",
            peak.bytes
        ),
    };
    let span = op.map_or(func.span, |op| func.op(op).span);
    let mut d = Diagnostic::error("capacity", message).at(span, "the most bytes are alive here");
    for life in alive.iter().take(MAX_ROWS) {
        let name = name_of(module, func, life.value);
        let name = if life.is_scratch { format!("scratch of the instruction that writes {name}") } else { name };
        let value = func.value(life.value);
        if value.span != Span::default() && Some(value.span) != d.span {
            d = d.and_at(value.span, format!("{name}: {} bytes", life.bytes));
        }
        let ty = tile_of(module, func, profile, life.value).filter(|_| !life.is_scratch);
        let ty = ty.map_or_else(String::new, |t| format!(", {t}"));
        d = d.note(format!("{name}{ty}: {} bytes", life.bytes));
    }
    if alive.len() > MAX_ROWS {
        let rest: u64 = alive.iter().skip(MAX_ROWS).fold(0, |n, l| n.saturating_add(l.bytes));
        d = d.note(format!("{} more tiles: {rest} bytes", alive.len() - MAX_ROWS));
    }
    if let Some(m) = profile.memory(loc)
        && let (Some(bytes), Some(free)) = (m.bytes, m.room())
    {
        let manual = free.saturating_sub(room);
        d = d.note(format!(
            "{memory} has {bytes} bytes: {} reserved for the runtime, {manual} kept for manual tiles",
            m.reserved
        ));
    }
    Box::new(d.help(match overflow {
        Overflow::Alive(peak) => format!(
            "use smaller tiles or end one's life earlier: {} bytes are too many",
            peak.bytes.saturating_sub(room)
        ),
        Overflow::Scattered(_) => {
            "give the long-lived tiles addresses (tassign), or make their sizes equal".to_string()
        }
    }))
}
