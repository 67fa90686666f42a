//! Rules that types alone decide: a compile error that starts with the rule's id.
//!
//! Tile types and signatures are looked up in the tables of `tessera-isa`, on every profile: a combination that all
//! profiles refuse does not compile. The functions below are the rules about declared types that no signature can
//! express; each returns the id of the broken rule, and a test compares them with the machine's verdicts. A tile whose
//! type is known at run time only (`None`) passes here.

use crate::{Elem, Form, Opcode, Profile, Role};
use tessera_isa::ops::sig::{Miss, find};
use tessera_isa::rules;
use tessera_isa::tile::{LayoutName, Loc, Tile, TileType};

/// The id of the rule that the types break.
pub(crate) type Wrong = Option<&'static str>;

/// A compile error with the rule's sentence, where the constant expression gives a rule.
macro_rules! legal {
    ($($rule:expr),* $(,)?) => {
        const { $(
            let wrong: $crate::typed::known::Wrong = $rule;
            assert!(wrong.is_none(), "{}", $crate::typed::known::Sentence::of(wrong).text());
        )* }
    };
}
pub(crate) use legal;

/// The text of a compile error.
pub(crate) struct Sentence {
    bytes: [u8; 256],
    len: usize,
}

impl Sentence {
    pub(crate) const fn of(wrong: Wrong) -> Sentence {
        let Some(id) = wrong else { return Sentence { bytes: [0; 256], len: 0 } };
        Sentence { bytes: [0; 256], len: 0 }.and(id).and(": ").and(rules::sentence(id))
    }

    const fn and(mut self, text: &str) -> Sentence {
        let (text, mut n) = (text.as_bytes(), 0);
        while n < text.len() && self.len < self.bytes.len() {
            self.bytes[self.len] = text[n];
            (self.len, n) = (self.len + 1, n + 1);
        }
        self
    }

    pub(crate) const fn text(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

/// The rule that refuses the tile type on every profile. a5 has all locations and element types, so its rule is told.
pub(crate) const fn tile(ty: TileType) -> Wrong {
    let (mut n, mut wrong) = (0, None);
    while n < Profile::ALL.len() {
        wrong = ty.resolve(Profile::ALL[n]).broken(Profile::ALL[n]);
        if wrong.is_none() {
            return None;
        }
        n += 1;
    }
    wrong
}

/// The rule under which every profile refuses the operands, by the row's signatures; the one that is asked last where
/// profiles differ.
pub(crate) const fn refused<const N: usize>(op: Opcode, form: Form, types: [(Role, Option<TileType>); N]) -> Wrong {
    let (info, mut furthest, mut p) = (op.info(), Miss::Profile, 0);
    while p < Profile::ALL.len() {
        let profile = Profile::ALL[p];
        let anything = TileType::new(Loc::Vec, Elem::U8, 1, 1).resolve(profile);
        let (mut tiles, mut n) = ([(Role::Dst, anything); N], 0);
        while n < N {
            let (role, Some(ty)) = types[n] else { return None };
            tiles[n] = (role, ty.resolve(profile));
            n += 1;
        }
        match find(info.sigs, profile, form, &tiles) {
            Ok(_) => return None,
            Err(miss) if miss as u8 > furthest as u8 => furthest = miss,
            Err(_) => {}
        }
        p += 1;
    }
    match (furthest, info.ids.profile) {
        (Miss::Profile, Some(id)) => Some(id),
        (Miss::Profile | Miss::Loc, _) => info.ids.loc,
        (Miss::Layout, _) => info.ids.layout,
        (Miss::Dtype, _) => info.ids.dtype,
    }
}

/// A rule about two types, where both are known: the first condition of the list that does not hold.
macro_rules! pairs {
    ($($(#[$doc:meta])* $name:ident($a:ident, $b:ident) { $($rule:literal: $holds:expr,)* })*) => {$(
        $(#[$doc])*
        pub(crate) const fn $name($a: Option<TileType>, $b: Option<TileType>) -> Wrong {
            let (Some($a), Some($b)) = ($a, $b) else { return None };
            // If the layout is left out, only that of Left depends on the profile.
            let ($a, $b) = ($a.resolve(Profile::Cpu), $b.resolve(Profile::Cpu));
            $(if !$holds {
                return Some($rule);
            })*
            None
        }
    )*};
}

pairs! {
    /// TRESHAPE (ops.md 4).
    treshape(dst, src) {
        "treshape-loc": is_in(&dst, src.loc),
        "treshape-box": dst.is_boxed() == src.is_boxed(),
        "treshape-bytes": dst.bytes() == src.bytes(),
    }
    /// TTRANS (ops.md 5).
    ttrans(dst, src) { "ttrans-size": dst.elem.bits() == src.elem.bits(), }
    /// The scratch tile of TTRANS.
    ttrans_tmp(tmp, src) { "ttrans-tmp": is_in(&tmp, src.loc) && tmp.elem.bits() == src.elem.bits(), }
    /// TPACK (ops.md 6).
    tpack(dst, src) {
        "tpack-size": matches!((src.elem.bits(), dst.elem.bits()), (32, 16) | (32, 8) | (16, 8)),
    }
    /// TFILLPAD and TFILLPAD_INPLACE (ops.md 6).
    tfillpad(dst, src) { "tfillpad-shape": dst.rows == src.rows && dst.cols == src.cols, }
    /// TFILLPAD_EXPAND (ops.md 6).
    tfillpad_expand(dst, src) { "tfillpad-shape": dst.rows >= src.rows && dst.cols >= src.cols, }
    /// TSUBVIEW (ops.md 10); on hardware the outer order of a Left tile is the profile's (syntax.md 3).
    tsubview(dst, src) {
        "tsubview-window": is_in(&dst, src.loc),
        "tsubview-window": dst.elem as u8 == src.elem as u8 && (dst.same_layout(&src) || is_in(&dst, Loc::Left)),
        "tsubview-window": dst.rows <= src.rows && dst.cols <= src.cols,
    }
}

const fn is_in(tile: &Tile, loc: Loc) -> bool {
    tile.loc as u8 == loc as u8
}

/// ReLU, quantization and AccToVecMode belong to an accumulator; cpu quantizes out of Mat, too (fixpipe.md 1).
pub(crate) const fn fixpipe(src: Option<TileType>) -> Wrong {
    match src {
        Some(src) if !matches!(src.loc, Loc::Acc | Loc::Mat) => Some("quant-source"),
        _ => None,
    }
}

/// The `fp` operand (fixpipe.md 1).
pub(crate) const fn fp(fp: Option<TileType>) -> Wrong {
    let Some(fp) = fp else { return None };
    let fp = fp.resolve(Profile::Cpu);
    let one_row = fp.rows == 1 && matches!(fp.layout_name(), LayoutName::Nd);
    let fits =
        (is_in(&fp, Loc::Scaling) || is_in(&fp, Loc::Mat)) && matches!(fp.elem, Elem::U64 | Elem::I64) && one_row;
    if fits { None } else { Some("fp-operand") }
}

/// The rules of an `_FP` form: a tile quantizes what comes out of an accumulator, a value fills the padding.
pub(crate) const fn fp_form(src: Option<TileType>, tile: Option<TileType>, is_value: bool) -> Wrong {
    match fixpipe(src) {
        _ if is_value => None,
        None => fp(tile),
        wrong => wrong,
    }
}

/// TLOAD and TSTORE: tile and slice have one element type, except that an accumulator may be stored in another, which is
/// the machine's to refuse (tile-model.md 7).
pub(crate) const fn transfer(tile: Option<TileType>, slice: Elem, rule: &'static str, stores: bool) -> Wrong {
    let Some(tile) = tile else { return None };
    let fits = tile.elem as u8 == slice as u8 || (stores && matches!(tile.loc, Loc::Acc));
    if fits { None } else { Some(rule) }
}

#[cfg(test)]
mod tests;
