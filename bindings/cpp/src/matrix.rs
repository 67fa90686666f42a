//! Moves between arrays that are rows and columns in ways of their own: conv tiles, and views of them (cpp.md 5).

use crate::abi::{TesseraDigit, TesseraMatrix, TesseraStatus};
use crate::calls::given;
use crate::convert::{Answer, Refusal, elem, word};
use crate::machine::{TesseraMachine, span};
use crate::places::lent_of;
use crate::view::registered;
use tessera_exec::engine::TileId;
use tessera_isa::diag::{Diagnostic, Fault};
use tessera_isa::inst::{Place, Root, TileArg};
use tessera_isa::layout::{Axis, Digit, Layout};
use tessera_isa::ops::Role;
use tessera_isa::tile::{BLayout, Extent, Loc, SLayout, TileType};

/// Copies `extent` rows and columns from (src_at[0], src_at[1]) on to the first ones of `dst`. What is undefined stays so; where it
/// is copied to memory of the caller's own it is written as 0, counted, and reported in a warning.
///
/// # Safety
/// As in `calls`; the arrays' elements are memory of the machine or of the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_copy_matrix(
    machine: *mut TesseraMachine,
    dst: *const TesseraMatrix,
    src: *const TesseraMatrix,
    src_at: *const [u64; 2],
    extent: *const [u64; 2],
) -> TesseraStatus {
    TesseraMachine::call(machine, |m| {
        // SAFETY: null is refused, and the caller of the ABI vouches for the rest (see `calls`).
        let (dst, src, at, extent) = unsafe { (given(dst)?, given(src)?, given(src_at)?, given(extent)?) };
        m.copy_matrix(dst, src, *at, *extent)
    })
}

/// The axis that digits make.
fn axis(digits: &[TesseraDigit]) -> Axis {
    let digits: Vec<Digit> =
        digits.iter().filter(|d| d.extent != 0).map(|d| Digit { extent: d.extent, stride: d.stride }).collect();
    Axis::from_digits(&digits)
}

impl TesseraMachine {
    fn copy_matrix(
        &mut self,
        dst: &TesseraMatrix,
        src: &TesseraMatrix,
        at: [u64; 2],
        extent: [u64; 2],
    ) -> Answer<Vec<Diagnostic>> {
        let (mut to, mut from) = (self.matrix(Role::Dst, dst)?, self.matrix(Role::Src, src)?);
        if to.tile.elem.bits() != from.tile.elem.bits() {
            let what = format!("elements of {} become elements of {}", from.tile.elem, to.tile.elem);
            return Err(Refusal::argument(what));
        }
        let is_inside = |arg: &TileArg, at: [u64; 2]| {
            let ends = [0, 1].map(|n| at[n].checked_add(extent[n]));
            ends[0].is_some_and(|end| end <= arg.tile.rows) && ends[1].is_some_and(|end| end <= arg.tile.cols)
        };
        if !is_inside(&from, at) || !is_inside(&to, [0, 0]) {
            return Err(Refusal::argument(format!("{extent:?} elements at {at:?} leave one of the arrays")));
        }
        for arg in [&mut to, &mut from] {
            self.place(arg)?;
            check_bounds(arg)?;
        }
        if let [Some(a), Some(b)] = [&to, &from].map(|arg| arg.place)
            && a.root == b.root
            && a.start < b.start.saturating_add(span(&from))
            && b.start < a.start.saturating_add(span(&to))
        {
            let what = "the destination and the source share bytes";
            return Err(Fault::new("overlap", what).help("bind them to different addresses").into());
        }
        self.lend([&to, &from]);
        let (dst, src) = (self.engine.describe(0, &to, None)?, self.engine.describe(1, &from, None)?);
        if lent_of(&to).is_some() && lent_of(&from).is_none() {
            return self.store_matrix((dst, &to.layout), src, at, extent);
        }
        self.engine.copy_once((src, at), (dst, [0, 0]), extent)?;
        Ok(Vec::new())
    }

    /// Undefined elements become zeros on the way.
    fn store_matrix(
        &mut self,
        (dst, layout): (TileId, &Layout),
        src: TileId,
        at: [u64; 2],
        extent: [u64; 2],
    ) -> Answer<Vec<Diagnostic>> {
        let [rows, cols] = extent;
        self.engine.copy_once((src, at), (dst, [0, 0]), extent)?;
        let data = self.engine.read(src, 0)?;
        let size = data.elem.bits() as usize / 8;
        let mut is_undefined = false;
        for (r, c) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
            let n = ((at[0] + r) * data.cols + at[1] + c) as usize * size;
            if data.defined.get(n..n + size).is_some_and(|mask| mask.iter().any(|m| *m != 0xFF)) {
                is_undefined = true;
                let offset = layout.offset(r, c).max(0) as u64 * size as u64;
                self.engine.write_bytes(dst, offset, &vec![0; size])?;
            }
        }
        if is_undefined { Ok(vec![self.count_undefined(src, 0)?]) } else { Ok(Vec::new()) }
    }

    fn matrix(&self, role: Role, given: &TesseraMatrix) -> Answer<TileArg> {
        let layout = Layout { row: axis(&given.row), col: axis(&given.col) };
        let (rows, cols) = (layout.rows(), layout.cols());
        if given.data.is_null() {
            return Err(Refusal::null());
        }
        if [&layout.row, &layout.col].iter().any(|a| a.digits.iter().any(|d| d.stride < 0)) {
            return Err(Refusal::argument("an array has a negative stride"));
        }
        let ty = TileType {
            v_row: Extent::Static(rows),
            v_col: Extent::Static(cols),
            blayout: Some(BLayout::RowMajor),
            slayout: Some(SLayout::NoneBox),
            ..TileType::new(word(Loc::ALL, given.loc, "location")?, elem(given.elem)?, rows, cols)
        };
        let place = Some(Place { root: Root::Host, start: given.data as u64 });
        Ok(TileArg { layout, place, ..TileArg::of_type(role, ty.resolve(self.profile)) })
    }
}

/// `gm-bounds`, where the buffer is known.
fn check_bounds(arg: &TileArg) -> Answer<()> {
    let Some((first, end)) = lent_of(arg) else { return Ok(()) };
    match registered(first as usize) {
        Some((_, rest)) if end - first > rest as u64 => {
            let what = format!("the view spans {} bytes, and the buffer has {rest} from there on", end - first);
            Err(Fault::new("gm-bounds", what).help("check its extents and strides").into())
        }
        _ => Ok(()),
    }
}
