//! Element flow: the source elements of each element of a destination, from the steps of an instruction.

mod formula;

pub use formula::bounds;

use std::collections::BTreeSet;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;
use tessera_isa::ops::Role;
use tessera_isa::sem::{self, Apply, Arg, From, Func, Map, Read, Rect, Reduce, Routed, Side, Step, Table};
use tessera_isa::tile::Loc;

/// Elements of all operands together that are followed.
const MOST: u64 = 1 << 20;

/// An element: the operand, by its position in [`Flow::operands`], row and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    pub operand: usize,
    pub row: u64,
    pub col: u64,
}

/// The operation on an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// It stays what it was.
    Kept,
    /// It becomes undefined: scratch, or a block that hardware writes wholly.
    Undefined,
    /// It becomes a value.
    Filled(u64),
    /// It is a copy of another one.
    Copied,
    /// It is a function of others.
    Computed(Func),
    /// It is a fold over others.
    Folded(Func),
    /// Data decides what it is made of, and the data is not known.
    Decided,
}

/// An operand with elements: a tile, or behind the tiles the view of global memory.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its role in the instruction.
    pub role: Role,
    /// Its type in a word or two.
    pub ty: String,
    pub elem: Elem,
    pub rows: u64,
    pub cols: u64,
    /// Valid rows and columns.
    pub valid: [u64; 2],
    /// Rows and columns of a box; 1 × 1 without boxes.
    pub box_dims: (u64, u64),
    /// Whether it is written.
    pub is_dst: bool,
    /// Whether an element of it is read.
    pub is_read: bool,
    /// Whether it only selects where elements go.
    pub decides: bool,
}

#[derive(Clone, Copy, Debug)]
enum Cell {
    Kept,
    Undefined,
    Filled(u64),
    /// Point (i, j) of a step.
    Of {
        step: u32,
        i: u32,
        j: u32,
    },
    Copy {
        operand: u32,
        row: u32,
        col: u32,
    },
    Decided,
}

/// The relation between the elements of an instruction's operands.
#[derive(Debug)]
pub struct Flow {
    pub operands: Vec<Operand>,
    steps: Vec<Step>,
    /// By operand, row by row.
    cells: Vec<Vec<Cell>>,
    /// Destination and index tile, where elements are picked by the index at their own place.
    picked: Option<(usize, usize)>,
}

impl Flow {
    /// Follows an instruction whose values are known; where data decides, the data that `read` gives.
    pub fn of(inst: &Inst, read: Option<Read<'_>>) -> Option<Flow> {
        let operands = operands(inst);
        let area = |o: &Operand| o.rows.saturating_mul(o.cols);
        // A view without extents has no elements that one could point at.
        let is_open = operands.len() < inst.tiles.len() + usize::from(inst.global.is_some());
        if is_open || operands.iter().map(area).fold(0u64, u64::saturating_add) > MOST {
            return None;
        }
        let cells = operands.iter().map(|o| vec![Cell::Kept; area(o) as usize]).collect();
        let mut flow = Flow { operands, steps: Vec::new(), cells, picked: None };
        for step in sem::steps(inst)? {
            flow.step(inst, step, read);
        }
        for (n, operand) in flow.operands.iter_mut().enumerate() {
            operand.is_dst = flow.cells[n].iter().any(|c| !matches!(c, Cell::Kept));
        }
        let sources = flow.read();
        for (n, operand) in flow.operands.iter_mut().enumerate() {
            operand.decides &= !sources.contains(&n);
            operand.is_read = operand.decides || sources.contains(&n);
        }
        Some(flow)
    }

    /// The operands that elements are made of.
    fn read(&self) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        for (operand, o) in self.operands.iter().enumerate().filter(|(_, o)| o.is_dst) {
            for_each([o.rows, o.cols], |row, col| {
                self.each_source(At { operand, row, col }, &mut |from| {
                    all.insert(from.operand);
                    true
                });
            });
        }
        all
    }

    fn set(&mut self, operand: usize, (row, col): (u64, u64), cell: Cell) {
        let Some(o) = self.operands.get(operand) else { return };
        if row < o.rows && col < o.cols {
            self.cells[operand][(row * o.cols + col) as usize] = cell;
        }
    }

    fn fill(&mut self, operand: usize, rect: Rect, cell: Cell) {
        let Some(o) = self.operands.get(operand) else { return };
        let rect = rect.clip(o.rows, o.cols);
        for row in rect.row..rect.row + rect.rows {
            (rect.col..rect.col + rect.cols).for_each(|col| self.set(operand, (row, col), cell));
        }
    }

    fn whole(&self, operand: usize) -> Rect {
        let (rows, cols) = self.operands.get(operand).map_or((0, 0), |o| (o.rows, o.cols));
        Rect { row: 0, col: 0, rows, cols }
    }

    /// The position of the view.
    fn view(&self) -> usize {
        self.operands.len().saturating_sub(1)
    }

    /// The operand of a side, and how many of its columns are one element.
    fn side(&self, side: Side) -> (usize, u64) {
        match side {
            Side::Tile(n) => (n, 1),
            Side::Bytes(n) => (n, self.operands.get(n).and_then(|o| o.elem.size()).unwrap_or(1)),
            Side::Global => (self.view(), 1),
        }
    }

    fn step(&mut self, inst: &Inst, step: Step, read: Option<Read<'_>>) {
        let number = self.steps.len() as u32;
        let of = |i: u64, j: u64| Cell::Of { step: number, i: i as u32, j: j as u32 };
        match &step {
            Step::Clobber { dst, rect, .. } => self.fill(*dst, *rect, Cell::Undefined),
            Step::Scratch { tile } => self.fill(*tile, self.whole(*tile), Cell::Undefined),
            Step::Fill { dst, rect, bits } => self.fill(*dst, *rect, Cell::Filled(*bits)),
            Step::Apply(Apply { extent, dst, .. }) => {
                let (operand, width) = self.side(dst.0);
                for_each(*extent, |i, j| {
                    let (row, col) = dst.1.of([i, j]);
                    self.set(operand, (row, col / width), of(i, j));
                });
            }
            Step::Reduce(Reduce { extent: [rows, cols, _], dst, .. }) => {
                for_each([*rows, *cols], |i, j| self.set(dst.0, dst.1.of([i, j, 0]), of(i, j)));
            }
            Step::Pack { extent: [rows, cols], dst, row_bytes, .. } => {
                let (each, size) = (cols.div_ceil(8), self.side(Side::Bytes(*dst)).1);
                for_each([*rows, each], |i, b| {
                    let k = i * each + b;
                    let at = (k / (*row_bytes).max(1), k % (*row_bytes).max(1) / size);
                    self.set(*dst, at, of(i, b));
                });
            }
            Step::Gather { src, idx, dst, extent } => {
                let columns = self.operands.get(*src).map_or(1, |o| o.cols.max(1));
                self.picked = Some((*dst, *idx));
                for_each(*extent, |i, j| {
                    let k = read.and_then(|read| element(inst, read, *idx, i, j));
                    self.set(*dst, (i, j), k.map_or(Cell::Decided, |k| copy(*src, k / columns, k % columns)));
                });
            }
            Step::Routed(routed) => self.routed(inst, routed, read),
            Step::Table(table) => return self.table(inst, table, read),
            Step::Join => return self.join(inst, read),
            Step::Bytes { src, dst, .. } => {
                let layouts = inst.tiles.get(*src).zip(inst.tiles.get(*dst));
                let Some((from, to)) = layouts else { return };
                let (have, want) = (i64::from(from.tile.elem.bits()), i64::from(to.tile.elem.bits()));
                for_each([to.tile.rows, to.tile.cols], |row, col| {
                    let found = from.layout.inverse(to.layout.offset(row, col) * want / have);
                    self.set(*dst, (row, col), found.map_or(Cell::Undefined, |(r, c)| copy(*src, r, c)));
                });
            }
            Step::LoadConv { dst, .. } => {
                let (from, dst) = (self.view(), *dst);
                let Rect { rows, cols, .. } = self.whole(dst);
                let columns = self.operands.get(from).map_or(1, |o| o.cols.max(1));
                for_each([rows, cols], |r, c| {
                    let n = r * cols + c;
                    self.set(dst, (r, c), copy(from, n / columns, n % columns));
                });
            }
            Step::Img2col { src, dst, conv } => {
                let columns = self.operands.get(*src).map_or(1, |o| o.cols.max(1));
                for_each([conv.rows, conv.cols], |r, c| {
                    let cell = match conv.element(r, c) {
                        Some(at) => copy(*src, at / columns, at % columns),
                        None => Cell::Filled(conv.pad_bits),
                    };
                    self.set(*dst, (r, c), cell);
                });
            }
        }
        self.steps.push(step);
    }

    /// The contents of these decide what goes where.
    fn decide(&mut self, operands: impl IntoIterator<Item = usize>) {
        for n in operands {
            if let Some(operand) = self.operands.get_mut(n) {
                operand.decides = true;
            }
        }
    }

    fn routed(&mut self, inst: &Inst, routed: &Routed, read: Option<Read<'_>>) {
        self.decide(routed.how.deciders().iter().filter_map(|role| inst.tile_index(*role)));
        let routes = read.and_then(|read| sem::routes(inst, routed.how, read).ok());
        let Some(routes) = routes else {
            for (operand, rect) in &routed.writes {
                self.fill(*operand, *rect, Cell::Decided);
            }
            return;
        };
        for route in routes.all {
            let size = |n: usize| inst.tiles.get(n).and_then(|t| t.tile.elem.size()).unwrap_or(1).max(1) as i64;
            let place = |n: usize, byte: i64| inst.tiles.get(n)?.layout.inverse(byte / size(n));
            for byte in (0..route.len as i64).step_by(size(route.dst) as usize) {
                let cell = match route.from {
                    From::Tile(n, at) => place(n, at + byte).map_or(Cell::Decided, |(r, c)| copy(n, r, c)),
                    From::Value(bits) => Cell::Filled(bits),
                    From::Undefined => Cell::Undefined,
                };
                if let Some(at) = place(route.dst, route.to + byte) {
                    self.set(route.dst, at, cell);
                }
            }
        }
    }

    fn table(&mut self, inst: &Inst, table: &Table, read: Option<Read<'_>>) {
        self.decide([table.idx]);
        let index = |n: u64| {
            let (r, c) = table.index_at(n);
            table.find(element(inst, read?, table.idx, r, c)?)
        };
        match (0..table.count()).map(index).collect::<Option<Vec<_>>>() {
            Some(found) => table.steps(inst, &found).into_iter().for_each(|step| self.step(inst, step, read)),
            None => {
                let dst = if table.scatters { self.view() } else { table.data };
                self.fill(dst, self.whole(dst), Cell::Decided);
            }
        }
    }

    /// An indexed TCONCAT takes as many columns of each source as the index tiles say (ops.md 6).
    fn join(&mut self, inst: &Inst, read: Option<Read<'_>>) {
        let indices = [Role::Src0, Role::Src1, Role::Idx0, Role::Idx1, Role::Dst].map(|role| inst.tile_index(role));
        let [Some(src0), Some(src1), Some(idx0), Some(idx1), Some(dst)] = indices else { return };
        self.decide([idx0, idx1]);
        let [rows, cols] = self.operands.get(dst).map_or([0, 0], |o| o.valid);
        for row in 0..rows {
            let count = |idx: usize| {
                let size = inst.tiles.get(idx)?.tile.elem.size()?;
                Some(element(inst, read?, idx, row, 0)? / size.max(1))
            };
            let (Some(first), Some(second)) = (count(idx0), count(idx1)) else {
                self.fill(dst, Rect { row, col: 0, rows: 1, cols }, Cell::Decided);
                continue;
            };
            for col in 0..cols.min(first.saturating_add(second)) {
                let from = if col < first { copy(src0, row, col) } else { copy(src1, row, col - first) };
                self.set(dst, (row, col), from);
            }
        }
    }

    /// The operation on an element.
    pub fn how(&self, at: At) -> How {
        match self.cell(at) {
            Cell::Kept => How::Kept,
            Cell::Undefined => How::Undefined,
            Cell::Filled(bits) => How::Filled(bits),
            Cell::Copy { .. } => How::Copied,
            Cell::Decided => How::Decided,
            Cell::Of { step, .. } => match self.steps.get(step as usize) {
                Some(Step::Apply(Apply { func: Func::Bits, .. })) => How::Copied,
                Some(Step::Apply(apply)) => How::Computed(apply.func),
                Some(Step::Reduce(reduce)) => How::Folded(reduce.func),
                Some(Step::Pack { func, .. }) => How::Folded(*func),
                _ => How::Decided,
            },
        }
    }

    fn cell(&self, at: At) -> Cell {
        let Some(o) = self.operands.get(at.operand).filter(|o| at.row < o.rows && at.col < o.cols) else {
            return Cell::Kept;
        };
        self.cells[at.operand][(at.row * o.cols + at.col) as usize]
    }

    /// The elements that an element is made of, in the order of the function's arguments.
    pub fn sources(&self, at: At) -> Vec<At> {
        let mut all = Vec::new();
        self.each_source(at, &mut |from| {
            all.push(from);
            true
        });
        all
    }

    /// Calls `f` for each source until it says that it has enough.
    fn each_source(&self, at: At, f: &mut impl FnMut(At) -> bool) {
        let (step, i, j) = match self.cell(at) {
            Cell::Of { step, i, j } => (step, u64::from(i), u64::from(j)),
            Cell::Copy { operand, row, col } => {
                let more = f(At { operand: operand as usize, row: row.into(), col: col.into() });
                if let Some((_, idx)) = self.picked.filter(|(dst, _)| *dst == at.operand && more) {
                    f(At { operand: idx, ..at });
                }
                return;
            }
            _ => return,
        };
        let mut arg = |arg: &Arg, i: u64, j: u64| match arg {
            Arg::Element(side, map) => {
                let (operand, width) = self.side(*side);
                let (row, col) = map.of([i, j]);
                f(At { operand, row, col: col / width })
            }
            Arg::Scalar(..) => true,
        };
        match self.steps.get(step as usize) {
            Some(Step::Apply(apply)) => {
                apply.args.iter().all(|a| arg(a, i, j));
            }
            Some(Step::Pack { extent, args, .. }) => {
                let columns = 8 * j..(8 * j + 8).min(extent[1]);
                columns.flat_map(|j| args.iter().map(move |a| (a, j))).all(|(a, j)| arg(a, i, j));
            }
            Some(Step::Reduce(reduce)) => {
                let one = |(operand, map): &(usize, Map<3>), k: u64| {
                    let (row, col) = map.of([i, j, k]);
                    At { operand: *operand, row, col }
                };
                let start = reduce.start.iter().map(|s| one(s, 0));
                let terms = (0..reduce.extent[2]).flat_map(|k| reduce.args.iter().map(move |a| (a, k)));
                let scales = (0..reduce.extent[2].div_ceil(32))
                    .flat_map(|k| reduce.scales.iter().flatten().map(move |a| (a, k)));
                start.chain(terms.chain(scales).map(|(a, k)| one(a, k))).all(f);
            }
            _ => {}
        }
    }

    /// The elements that an element goes into, in the order of operands.
    pub fn users(&self, of: At) -> Vec<At> {
        let mut all = Vec::new();
        for (operand, o) in self.operands.iter().enumerate().filter(|(_, o)| o.is_dst) {
            for_each([o.rows, o.cols], |row, col| {
                let mut found = false;
                self.each_source(At { operand, row, col }, &mut |from| {
                    found |= from == of;
                    !found
                });
                all.extend(found.then_some(At { operand, row, col }));
            });
        }
        all
    }
}

fn copy(operand: usize, row: u64, col: u64) -> Cell {
    Cell::Copy { operand: operand as u32, row: row as u32, col: col as u32 }
}

fn for_each([rows, cols]: [u64; 2], mut f: impl FnMut(u64, u64)) {
    (0..rows.min(MOST)).for_each(|i| (0..cols.min(MOST)).for_each(|j| f(i, j)));
}

/// An element of a tile as an unsigned integer, where it is known.
fn element(inst: &Inst, read: Read<'_>, tile: usize, row: u64, col: u64) -> Option<u64> {
    let arg = inst.tiles.get(tile)?;
    let size = arg.tile.elem.size()?;
    read(tile, arg.layout.offset(row, col) * size as i64, size)
}

fn operands(inst: &Inst) -> Vec<Operand> {
    let tiles = inst.tiles.iter().map(|t| {
        // A conv tile is an array of rows of pixels.
        let conv = inst.conv.filter(|c| t.tile.rows == 1 && t.tile.cols == c.elements() && c.elem == t.tile.elem);
        let [rows, cols] = conv.map_or([t.tile.rows, t.tile.cols], |c| {
            let [.., w, c0] = c.dims;
            [c.elements() / (w * c0).max(1), w * c0]
        });
        let dims = conv.map_or(vec![rows, cols], |c| c.written_dims().to_vec());
        let dims = dims.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let layout = conv.map_or(t.tile.layout_name().name(), |c| c.format());
        let loc = if t.tile.loc == Loc::Vec { String::new() } else { format!(" {}", t.tile.loc) };
        let valid = if conv.is_some() { [None; 2] } else { t.valid };
        Operand {
            role: t.role,
            ty: format!("{dims}x{} {layout}{loc}", t.tile.elem),
            elem: t.tile.elem,
            rows,
            cols,
            valid: [valid[0].unwrap_or(rows), valid[1].unwrap_or(cols)],
            box_dims: t.tile.box_dims().unwrap_or((1, 1)),
            is_dst: false,
            is_read: false,
            decides: false,
        }
    });
    let view = inst.global.as_ref().and_then(|view| {
        let [rows, cols] = view.shape();
        let (rows, cols) = (rows?, cols?);
        let ty = format!("{rows}x{cols}x{} in global memory", view.elem);
        let box_dims = (1, 1);
        Some(Operand {
            role: Role::Global,
            ty,
            elem: view.elem,
            rows,
            cols,
            valid: [rows, cols],
            box_dims,
            is_dst: false,
            is_read: false,
            decides: false,
        })
    });
    tiles.chain(view).collect()
}
