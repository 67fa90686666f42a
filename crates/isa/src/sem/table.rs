//! MGATHER and MSCATTER: rows or elements of a view by index (isa/memory.md 5).

use super::memory::last_of_each;
use super::{Apply, Arg, Func, Map, Rect, Side, Step, Steps, valid};
use crate::inst::{Coalesce, GatherOob, Inst, ScatterAtomic, ScatterOob};
use crate::ops::Role;
use smallvec::SmallVec;

/// The treatment of an index beyond the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Beyond {
    Refused,
    /// It is the last one.
    Clamped,
    /// It starts again from the first one.
    Wrapped,
    /// The element is 0.
    Zero,
    Skipped,
}

/// The result of looking up an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableSlot {
    /// To this row or element of the table.
    At(u64),
    Zero,
    Nothing,
}

/// Rows or elements of a view by the indices in a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    pub data: usize,
    pub idx: usize,
    pub scatters: bool,
    /// The function that combines an element with the old one, if there is one.
    pub combine: Option<Func>,
    /// Whether an index means a row.
    pub by_row: bool,
    /// Rows and columns of the data.
    pub extent: [u64; 2],
    /// Rows and columns of the tile of indices.
    pub indices: [u64; 2],
    pub columns: u64,
    /// The number of rows or elements of the table.
    pub capacity: u64,
    pub beyond: Beyond,
}

/// Rows or elements: as the instruction says, or as the shape of its indices says; `None` where that is not known.
pub fn coalesce(inst: &Inst) -> Option<Coalesce> {
    if let Some(named) = inst.attrs.coalesce() {
        return Some(named);
    }
    let region = valid(inst, data(inst)?)?;
    Some(if region == shape_of_indices(inst)? { Coalesce::Elem } else { Coalesce::Row })
}

fn data(inst: &Inst) -> Option<usize> {
    inst.tile_index(Role::Dst).or_else(|| inst.tile_index(Role::Src))
}

/// Rows and columns of the indices, in a tile or in global memory.
pub fn shape_of_indices(inst: &Inst) -> Option<[u64; 2]> {
    match inst.tile_index(Role::Idx) {
        Some(idx) => valid(inst, idx),
        None => {
            let [rows, cols] = inst.view(Role::IdxView)?.shape();
            Some([rows?, cols?])
        }
    }
}

/// MGATHER and MSCATTER: the indices decide. Those in global memory are read before the instruction is issued.
pub fn table(inst: &Inst) -> Steps {
    let table = table_of(inst)?;
    if inst.tile_index(Role::Idx).is_some() {
        return Some(vec![Step::Table(table)]);
    }
    let found: Option<Vec<TableSlot>> = inst.indices.as_ref()?.iter().map(|k| table.find(*k)).collect();
    Some(table.steps(inst, &found?))
}

/// The table of an instruction whose values are known.
pub fn table_of(inst: &Inst) -> Option<Table> {
    let data = data(inst)?;
    // Without a tile of indices none is named.
    let idx = inst.tile_index(Role::Idx).unwrap_or(usize::MAX);
    let scatters = inst.tile(Role::Src).is_some();
    let [rows, columns] = inst.global.as_ref()?.shape();
    let (rows, columns) = (rows?, columns?);
    let by_row = coalesce(inst)? == Coalesce::Row;
    let beyond = match (scatters, inst.attrs.gather_oob(), inst.attrs.scatter_oob()) {
        (false, Some(GatherOob::Clamp), _) | (true, _, Some(ScatterOob::Clamp)) => Beyond::Clamped,
        (false, Some(GatherOob::Wrap), _) | (true, _, Some(ScatterOob::Wrap)) => Beyond::Wrapped,
        (false, Some(GatherOob::Zero), _) => Beyond::Zero,
        (true, _, Some(ScatterOob::Skip)) => Beyond::Skipped,
        _ => Beyond::Refused,
    };
    let combine = match inst.attrs.scatter_atomic().filter(|_| scatters) {
        Some(ScatterAtomic::Add) => Some(Func::Add),
        Some(ScatterAtomic::Max) => Some(Func::Max),
        Some(ScatterAtomic::Min) => Some(Func::Min),
        _ => None,
    };
    Some(Table {
        data,
        idx,
        scatters,
        combine,
        by_row,
        extent: valid(inst, data)?,
        indices: shape_of_indices(inst)?,
        columns,
        capacity: if by_row { rows } else { rows.saturating_mul(columns) },
        beyond,
    })
}

impl Table {
    /// The number of indices that count: one for each row, or for each element.
    pub fn count(&self) -> u64 {
        match self.extent {
            // Nothing moves, so nothing is looked up.
            [0, _] | [_, 0] => 0,
            [rows, _] if self.by_row => rows,
            [rows, cols] => rows.saturating_mul(cols),
        }
    }

    /// The position in the tile of indices of index `n` among those that count.
    pub fn index_at(&self, n: u64) -> (u64, u64) {
        let cols = self.indices[1].max(1);
        (n / cols, n % cols)
    }

    /// Looks up an index; `None` if it is an error.
    ///
    /// ```
    /// use tessera_isa::sem::{Beyond, TableSlot, Table};
    ///
    /// let table = Table {
    ///     data: 0, idx: 1, scatters: false, combine: None, by_row: false, extent: [1, 2], indices: [1, 2], columns: 4,
    ///     capacity: 12, beyond: Beyond::Wrapped,
    /// };
    /// assert_eq!([5, 13].map(|k| table.find(k)), [Some(TableSlot::At(5)), Some(TableSlot::At(1))]);
    /// ```
    pub fn find(&self, k: u64) -> Option<TableSlot> {
        let n = self.capacity;
        match self.beyond {
            _ if k < n => Some(TableSlot::At(k)),
            Beyond::Zero => Some(TableSlot::Zero),
            Beyond::Skipped => Some(TableSlot::Nothing),
            Beyond::Clamped => n.checked_sub(1).map(TableSlot::At),
            Beyond::Wrapped => k.checked_rem(n).map(TableSlot::At),
            Beyond::Refused => None,
        }
    }

    /// Row and column of the table that an index leads to.
    pub fn place(&self, at: u64) -> [u64; 2] {
        if self.by_row { [at, 0] } else { [at / self.columns.max(1), at % self.columns.max(1)] }
    }

    /// The steps that these indices come to, `found` having one for each that counts. Neighbours that lead to neighbours
    /// go together.
    pub fn steps(&self, inst: &Inst, found: &[TableSlot]) -> Vec<Step> {
        let width = if self.by_row { self.extent[1] } else { 1 };
        if self.extent.contains(&0) {
            return Vec::new();
        }
        let from = |n: u64| if self.by_row { [n, 0] } else { [n / self.extent[1], n % self.extent[1]] };
        let points = (0..).zip(found).map(|(n, found)| (from(n), *found));
        let mut points: Vec<([u64; 2], TableSlot)> = points.filter(|(_, found)| *found != TableSlot::Nothing).collect();
        if self.scatters && self.combine.is_none() {
            points = self.last(inst, points);
        }
        let mut steps = Vec::new();
        let mut rest = points.as_slice();
        while let Some((first, found)) = rest.first() {
            let n = 1 + rest.windows(2).take_while(|two| self.continues(two)).count();
            let extent = if self.by_row { [n as u64, width] } else { [1, n as u64] };
            steps.push(self.step(*first, *found, extent));
            rest = rest.get(n..).unwrap_or(&[]);
        }
        steps
    }

    /// Of the rows or elements that are written to one place, the last: it stays.
    fn last(&self, inst: &Inst, points: Vec<([u64; 2], TableSlot)>) -> Vec<([u64; 2], TableSlot)> {
        let layout = inst.global.as_ref().and_then(|view| view.layout());
        let key = |(_, found): &([u64; 2], TableSlot)| match (found, &layout) {
            (TableSlot::At(at), Some(layout)) => {
                let [r, c] = self.place(*at);
                layout.offset(r, c)
            }
            _ => -1,
        };
        last_of_each(points.iter().copied(), key)
    }

    /// Whether the second of two follows the first, on both sides.
    fn continues(&self, two: &[([u64; 2], TableSlot)]) -> bool {
        let [(a, x), (b, y)] = two else { return false };
        let next = match (x, y) {
            (TableSlot::At(x), TableSlot::At(y)) => {
                y.checked_sub(*x) == Some(1) && (self.by_row || y % self.columns.max(1) != 0)
            }
            (x, y) => x == y,
        };
        let beside = if self.by_row { [a[0] + 1, a[1]] } else { [a[0], a[1] + 1] };
        next && beside == *b
    }

    fn step(&self, at: [u64; 2], found: TableSlot, extent: [u64; 2]) -> Step {
        let TableSlot::At(k) = found else {
            let [row, col] = at;
            let rect = Rect { row, col, rows: extent[0], cols: extent[1] };
            return Step::Fill { dst: self.data, rect, bits: 0 };
        };
        let [r, c] = self.place(k);
        let (tile, view) = ((Side::Tile(self.data), Map::at(at[0], at[1])), (Side::Global, Map::at(r, c)));
        match (self.scatters, self.combine) {
            (false, _) => Step::Apply(Apply::copy(extent, view, tile)),
            (true, None) => Step::Apply(Apply::copy(extent, tile, view)),
            (true, Some(func)) => {
                let args = SmallVec::from_iter([Arg::Element(view.0, view.1), Arg::Element(tile.0, tile.1)]);
                Step::Apply(Apply { func, core: 0, extent, dst: view, args })
            }
        }
    }
}
