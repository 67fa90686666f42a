//! Scratch operands that text leaves out (isa/today.md 9): where level 3 wants them written, and how much room the
//! assembler takes for them elsewhere.

use super::{Form, Given, Judged, Opcode, Role, RuleKind, TmpAsk, TmpElem, TmpExtent};
use crate::elem::Elem;
use crate::inst::Attrs;
use crate::profile::Profile;
use crate::sem::Saturation;
use crate::tile::{BLayout, Extent, Loc, SLayout, Tile, TileType};

/// The uses of an instruction for which level 3 wants its scratch operand written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Always,
    /// Where it adds in pairs.
    Pairs,
    Floats,
    /// Unless the source has a known multiple of 32 valid columns.
    OddColumns,
    /// Where it merges lists.
    Lists,
    /// For the pairs of types that hardware wraps through scratch.
    Wraps,
}

/// Level 3 on a2a3.
const WANTED: &[(Opcode, Wanted)] = &[
    (Opcode::Tci, Wanted::Always),
    (Opcode::Trowsum, Wanted::Always),
    (Opcode::Trowprod, Wanted::Always),
    (Opcode::Trowmax, Wanted::Always),
    (Opcode::Trowmin, Wanted::Always),
    (Opcode::Trowargmax, Wanted::Always),
    (Opcode::Trowargmin, Wanted::Always),
    (Opcode::Tcolargmax, Wanted::Always),
    (Opcode::Tcolargmin, Wanted::Always),
    (Opcode::Tcolsum, Wanted::Pairs),
    (Opcode::Tprelu, Wanted::Always),
    (Opcode::Tsel, Wanted::Always),
    (Opcode::Tsels, Wanted::Always),
    (Opcode::Trem, Wanted::Always),
    (Opcode::Trems, Wanted::Always),
    (Opcode::Txor, Wanted::Always),
    (Opcode::Txors, Wanted::Always),
    (Opcode::Tpow, Wanted::Floats),
    (Opcode::Tpows, Wanted::Floats),
    (Opcode::Ttrans, Wanted::Always),
    (Opcode::Tsort32, Wanted::OddColumns),
    (Opcode::Tmrgsort, Wanted::Lists),
    (Opcode::Tquant, Wanted::Always),
    (Opcode::Tcvt, Wanted::Wraps),
];

fn tile(tiles: &[Judged], role: Role) -> Option<&Tile> {
    tiles.iter().find(|(r, _)| *r == role).map(|(_, tile)| tile)
}

/// Whether a conversion wraps through scratch on a2a3: f32 or f16 into i16, f16 into i8, without saturation.
pub fn wraps_through_scratch(attrs: &Attrs, src: Elem, dst: Elem) -> bool {
    let pairs = [(Elem::F32, Elem::I16), (Elem::F16, Elem::I16), (Elem::F16, Elem::I8)];
    attrs.saturation() == Some(Saturation::Off) && pairs.contains(&(src, dst))
}

impl Opcode {
    /// Whether level 3 wants the scratch operand of this use written (`level-tmp`).
    ///
    /// ```
    /// use tessera_isa::{inst::Attrs, ops::{Form, Opcode}, profile::Profile};
    /// assert!(Opcode::Txor.wants_scratch(Form::Plain, &Attrs::new(), Profile::A2a3, &[]));
    /// assert!(!Opcode::Txor.wants_scratch(Form::Plain, &Attrs::new(), Profile::A5, &[]));
    /// ```
    pub fn wants_scratch(self, form: Form, attrs: &Attrs, profile: Profile, tiles: &[Judged]) -> bool {
        let wanted = WANTED.iter().find(|(op, _)| *op == self).filter(|_| profile == Profile::A2a3);
        let (src, dst) = (tile(tiles, Role::Src), tile(tiles, Role::Dst));
        match wanted.map(|(_, wanted)| wanted) {
            None => false,
            Some(Wanted::Always) => true,
            Some(Wanted::Pairs) => attrs.is_binary(),
            Some(Wanted::Floats) => dst.is_some_and(|dst| dst.elem.is_float()),
            Some(Wanted::OddColumns) => !matches!(src.map(|t| t.v_col), Some(Extent::Static(n)) if n % 32 == 0),
            Some(Wanted::Lists) => matches!(form, Form::Lists | Form::ListsTmpOut),
            Some(Wanted::Wraps) => {
                src.zip(dst).is_some_and(|(src, dst)| wraps_through_scratch(attrs, src.elem, dst.elem))
            }
        }
    }

    /// The scratch tile of a use that a rule asks for: the smallest one that the rules take, with the declared extents of
    /// the others. None where nothing is asked for.
    pub fn scratch_tile(self, form: Form, attrs: &Attrs, profile: Profile, tiles: &[Judged]) -> Option<TileType> {
        let asked = self.info().rules.iter().filter(|rule| rule.on.has(profile));
        let all: Vec<RuleKind> = asked.map(|rule| rule.kind).collect();
        let more_rows = u64::from(all.contains(&RuleKind::TmpRows));
        all.into_iter().find_map(|kind| match kind {
            RuleKind::Tmp(ask) => room_of(&ask, tiles, more_rows),
            RuleKind::PairTmp if attrs.is_binary() => {
                tile(tiles, Role::Src).map(|src| in_vec(src.elem, src.rows.div_ceil(2), src.cols))
            }
            RuleKind::GatherTmp if form == Form::Plain => {
                tile(tiles, Role::Idx).map(|idx| in_vec(idx.elem, idx.rows, idx.cols).with_valid(idx.v_row, idx.v_col))
            }
            RuleKind::SortTmp if self.wants_scratch(form, attrs, Profile::A2a3, tiles) => {
                tile(tiles, Role::Src).map(|src| in_vec(src.elem, 1, src.cols))
            }
            _ => None,
        })
    }
}

/// The smallest tile that `-tmp` takes; none where nothing is asked for.
fn room_of(ask: &TmpAsk, tiles: &[Judged], more_rows: u64) -> Option<TileType> {
    let dst = tile(tiles, Role::Dst)?;
    let is_asked = match ask.given {
        Given::Always => true,
        Given::ForFloats => dst.elem.is_float(),
        Given::Optional => false,
    };
    let elem = match ask.elem {
        TmpElem::U8 => Elem::U8,
        TmpElem::LikeSrc => tile(tiles, Role::Src).or_else(|| tile(tiles, Role::Src0)).unwrap_or(dst).elem,
        TmpElem::Any | TmpElem::LikeDst => dst.elem,
    };
    let extent = |ask: TmpExtent, axis: (u64, Extent)| match ask {
        TmpExtent::Any => (1, Extent::Static(1)),
        TmpExtent::AtLeast(n) => (n, Extent::Static(n)),
        TmpExtent::AtLeastDst | TmpExtent::LikeDst => axis,
    };
    let (rows, v_row) = extent(ask.rows, (dst.rows, dst.v_row));
    let (cols, v_col) = extent(ask.cols, (dst.cols, dst.v_col));
    if more_rows > 0 {
        return is_asked.then(|| in_vec(elem, dst.rows + more_rows, dst.cols));
    }
    is_asked.then(|| in_vec(elem, rows, cols).with_valid(v_row, v_col))
}

/// A tile in Vec, row by row, each a multiple of 32 bytes.
fn in_vec(elem: Elem, rows: u64, cols: u64) -> TileType {
    let tile = TileType::new(Loc::Vec, elem, rows, cols.next_multiple_of(elem.c0()));
    let valid = tile.with_valid(Extent::Static(rows), Extent::Static(cols));
    valid.with_layout(BLayout::RowMajor, SLayout::NoneBox, 512)
}
