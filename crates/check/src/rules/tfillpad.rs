//! TFILLPAD, TFILLPAD_INPLACE and TFILLPAD_EXPAND, from a tile or from a value (ops.md 6).

use super::*;
use tessera_isa::inst::{AttrValue, PadWord};
use tessera_isa::ops::{AttrName, Bind};
use tessera_isa::tile::{Extent, Pad};

pub(super) fn signature(inst: &Inst) -> Option<Fault> {
    let table = signature::check(inst);
    if table.as_ref().is_some_and(|f| f.rule != "tfillpad-dtype") {
        return table;
    }
    mat(inst, inst.tile(Role::Src), inst.tile(Role::Dst)?).or(table)
}

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    let (src, dst) = ends(inst)?;
    shape(inst, src, dst)
        .or_else(|| valid(inst, src, dst))
        .or_else(|| pad(inst, dst))
        .or_else(|| inplace(inst, src, dst))
}

/// a2a3 and a5 fill a Mat tile where it lies, with zero: that is a matter of `tfillpad-layout`.
fn mat(inst: &Inst, src: Option<&TileArg>, dst: &TileArg) -> Option<Fault> {
    if !inst.profile.is_npu() || dst.tile.loc != Loc::Mat {
        return None;
    }
    let apart = src.is_some_and(|src| matches!((src.place, dst.place), (Some(a), Some(b)) if a != b));
    if apart {
        let what = format!("{} fills a Mat tile where it lies, and src and dst are two storages", inst.profile);
        let help = "give both tiles one address, or use tfillpad_inplace";
        return broken(inst, Role::Dst, "tfillpad-layout", what, help);
    }
    let value = match src {
        // A missing pad is a rule of its own.
        Some(_) => dst.tile.pad_bits().filter(|bits| *bits != 0).map(|bits| dst.tile.elem.format_bits(bits)),
        None => inst.scalar(Role::Fill).filter(|v| !is_zero(v)).map(|v| number(&v)),
    }?;
    let what = format!("{} fills Mat tiles with zero, and the value is {value}", inst.profile);
    broken(inst, Role::Dst, "tfillpad-layout", what, "pad=zero; cpu fills with any value")
}

fn is_zero(v: &Number) -> bool {
    match v {
        Number::Int(v) => *v == 0,
        // Zero as bits: -0.0 is another value.
        Number::Float(v) => v.to_bits() == 0,
    }
}

pub(super) fn number(v: &Number) -> String {
    match v {
        Number::Int(v) => v.to_string(),
        Number::Float(v) => format!("{v:?}"),
    }
}

fn shape(inst: &Inst, src: &TileArg, dst: &TileArg) -> Option<Fault> {
    let (s, d) = (&src.tile, &dst.tile);
    let (expands, larger) = (inst.op.info().expands, d.rows >= s.rows && d.cols >= s.cols);
    if larger && (expands || (d.rows, d.cols) == (s.rows, s.cols)) {
        return None;
    }
    let asked = if expands { "dst is at least as large as src" } else { "the declared shapes are equal" };
    let what = format!("{asked}, and src is declared {}x{} and dst {}x{}", s.rows, s.cols, d.rows, d.cols);
    let help = match (expands, larger) {
        (true, _) => format!("declare dst {}x{}", d.rows.max(s.rows), d.cols.max(s.cols)),
        (false, true) => "tfillpad_expand fills a larger tile".into(),
        (false, false) => format!("declare dst {}x{}", s.rows, s.cols),
    };
    broken(inst, Role::Dst, "tfillpad-shape", what, help)
}

/// A static valid region of EXPAND's destination covers the source's; a dynamic one will be the declared area.
fn valid(inst: &Inst, src: &TileArg, dst: &TileArg) -> Option<Fault> {
    if !inst.op.info().expands {
        return None;
    }
    let axes = [("v_row", dst.tile.v_row.known(), src.valid[0]), ("v_col", dst.tile.v_col.known(), src.valid[1])];
    let (name, have, need) = axes.into_iter().find_map(|(name, have, need)| {
        let (have, need) = (have?, need?);
        (have < need).then_some((name, have, need))
    })?;
    let what = format!("dst's {name}={have} does not cover src's {name}={need}");
    broken(inst, Role::Dst, "tfillpad-valid", what, format!("{name} {have} → {need}, or `?` in dst"))
}

fn pad(inst: &Inst, dst: &TileArg) -> Option<Fault> {
    let said = inst.attrs.get(AttrName::PadOfDst);
    if let Some(AttrValue::Word(said)) = said
        && let Some(word) = PadWord::ALL.get(usize::from(said))
    {
        if dst.tile.loc != Loc::Mat {
            let what = format!("padValue = {word} is written, and only Mat tiles name their pad there");
            return broken(inst, Role::Dst, "tfillpad-pad", what, "leave padValue out");
        }
        let is_it = match word {
            PadWord::Null => dst.tile.pad == Pad::Null,
            PadWord::Zero => dst.tile.pad == Pad::Zero,
            PadWord::Max => dst.tile.pad == Pad::Max,
            PadWord::Min => dst.tile.pad == Pad::Min,
        };
        if !is_it {
            let what = format!("padValue = {word}, and dst is {}", dst.tile);
            return broken(inst, Role::Dst, "tfillpad-pad", what, "write the same in both places");
        }
    }
    if dst.tile.pad != Pad::Null {
        return None;
    }
    let what = "dst's pad is null, so there is no value to fill with";
    broken(inst, Role::Dst, "tfillpad-pad", what, "write pad=zero, max, min or custom(…) in dst's type")
}

fn inplace(inst: &Inst, src: &TileArg, dst: &TileArg) -> Option<Fault> {
    let (a, b) = src.place.zip(dst.place).filter(|_| inst.op.info().binds == Some(Bind::InPlace))?;
    let what = if a != b {
        "TFILLPAD_INPLACE fills a tile where it lies, and src and dst are two storages"
    } else if src.layout != dst.layout {
        "TFILLPAD_INPLACE fills a tile where it lies, and src and dst lay out one storage differently"
    } else {
        return None;
    };
    let help = "give dst the address and layout of src, or no address, or use tfillpad";
    broken(inst, Role::Dst, "tfillpad-inplace", what, help)
}

/// `tfillpad-noop`: what is kept is all there is, in every run. A dynamic region that happens to be whole is what
/// the inner blocks of a ragged loop have.
pub(super) fn noop(inst: &Inst) -> Option<Fault> {
    let dst = inst.tile(Role::Dst)?;
    let kept = if inst.form == Form::Fill { dst } else { inst.tile(Role::Src)? };
    let [rows, cols] = [kept.tile.v_row, kept.tile.v_col].map(Extent::known);
    if rows? < dst.tile.rows || cols? < dst.tile.cols {
        return None;
    }
    let what = format!("nothing is padded: the valid region covers all of dst's {}x{}", dst.tile.rows, dst.tile.cols);
    let help = if inst.form == Form::Fill { "leave the instruction out" } else { "use tmov" };
    Some(Fault::new("tfillpad-noop", what).help(help))
}

/// `tfillpad-static`: a region that the type says stays what the type says.
pub(super) fn stays(inst: &Inst) -> Option<Fault> {
    let dst = &inst.tile(Role::Dst)?.tile;
    let [rows, cols] = [dst.v_row, dst.v_col].map(Extent::known);
    if !inst.op.info().expands || rows.is_none_or(|r| r == dst.rows) && cols.is_none_or(|c| c == dst.cols) {
        return None;
    }
    let what = format!(
        "the valid region of dst is {}x{} in its type, and stays so: only dynamic extents are expanded to {}x{}",
        dst.v_row, dst.v_col, dst.rows, dst.cols
    );
    Some(Fault::new("tfillpad-static", what).help("write valid=?x?, or use tfillpad"))
}
