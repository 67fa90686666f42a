//! Index maps: what an instruction moves, fills and clobbers, as data.
//!
//! [`steps`] turns an [`Inst`] whose values are known into a short list of regular steps. The simulator lowers them to
//! nests, the verifier derives `overlap` and `footprint` from them; neither lists instructions.

use crate::inst::{AccToVec, ConvType, Inst, Split};
use crate::ops::{Form, Opcode, Role};
use crate::profile::Profile;
use crate::tile::{LayoutName, Loc, SLayout, Tile};

/// An affine map from the domain of a move to the elements of a tile: `(r, c) = origin + step · (i, j)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Map {
    /// Row and column of (0, 0).
    pub origin: [u64; 2],
    /// `step[a][b]`: how far axis `a` (row, column) goes when domain index `b` (i, j) grows by one.
    pub step: [[u64; 2]; 2],
}

impl Map {
    /// The identity, from an origin.
    pub fn at(r: u64, c: u64) -> Self {
        Map {
            origin: [r, c],
            step: [[1, 0], [0, 1]],
        }
    }

    /// Rows and columns swapped.
    pub fn transposed() -> Self {
        Map {
            origin: [0, 0],
            step: [[0, 1], [1, 0]],
        }
    }

    /// Every `n`-th column, from column `c`.
    pub fn columns(c: u64, n: u64) -> Self {
        Map {
            origin: [0, c],
            step: [[1, 0], [0, n]],
        }
    }

    /// The element that (i, j) stands for.
    pub fn apply(&self, i: u64, j: u64) -> (u64, u64) {
        let [[a, b], [c, d]] = self.step;
        (self.origin[0] + a * i + b * j, self.origin[1] + c * i + d * j)
    }
}

/// A regular move: for all (i, j) of the domain, `dst[dst(i,j)] = src[src(i,j)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Extent of i.
    pub rows: u64,
    /// Extent of j.
    pub cols: u64,
    /// Where the element comes from.
    pub src: Map,
    /// Where it goes.
    pub dst: Map,
}

/// One side of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The tile operand at this position of [`Inst::tiles`].
    Tile(usize),
    /// The instruction's view of global memory.
    Global,
}

/// What happens to an element on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// Bits are kept.
    Bits,
    /// The low bytes are kept (TPACK).
    LowBytes,
    /// Converted between element types, as `cpu` and moves into Bias do (ops.md 1.5).
    Convert,
    /// Through fixpipe; the parameter of column j is `fp[first + j]`.
    Fixpipe {
        /// The parameter of the first column.
        first: u64,
    },
}

/// A rectangle of a tile's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rect {
    /// First row.
    pub row: u64,
    /// First column.
    pub col: u64,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
}

impl Rect {
    /// The part inside a declared area.
    pub fn clip(self, rows: u64, cols: u64) -> Rect {
        Rect {
            rows: self.rows.min(rows.saturating_sub(self.row)),
            cols: self.cols.min(cols.saturating_sub(self.col)),
            ..self
        }
    }

    /// Does the rectangle leave a declared area?
    pub fn leaves(self, rows: u64, cols: u64) -> bool {
        self.row.saturating_add(self.rows) > rows || self.col.saturating_add(self.cols) > cols
    }

    /// Has it no elements?
    pub fn is_empty(self) -> bool {
        self.rows == 0 || self.cols == 0
    }
}

/// One step of an instruction, in the order in which they take effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Elements of the rectangle that no later step writes become undefined (ops.md 1.3). Not clipped.
    Clobber {
        /// The destination's position in [`Inst::tiles`].
        dst: usize,
        /// The vector core whose copy is meant.
        core: u8,
        /// The block that hardware writes.
        rect: Rect,
    },
    /// The tile's contents become undefined (scratch).
    Scratch {
        /// The tile's position in [`Inst::tiles`].
        tile: usize,
    },
    /// Elements move.
    Move {
        /// From.
        src: Side,
        /// To.
        dst: Side,
        /// The vector core that is written.
        core: u8,
        /// What happens on the way.
        how: How,
        /// Which elements.
        geometry: Move,
    },
    /// A rectangle becomes a value.
    Fill {
        /// The destination's position in [`Inst::tiles`].
        dst: usize,
        /// Which elements.
        rect: Rect,
        /// The bits of the value.
        bits: u64,
    },
    /// All bytes of the declared area are copied (TRESHAPE on cpu).
    Bytes {
        /// The source's position.
        src: usize,
        /// The destination's position.
        dst: usize,
        /// How many bytes.
        len: u64,
    },
    /// The dense contents of a buffer are copied into a conv tile.
    LoadConv {
        /// The conv tile's position.
        dst: usize,
        /// How many elements.
        elements: u64,
    },
    /// Image to columns (ops.md 7).
    Img2col {
        /// The conv tile's position.
        src: usize,
        /// The destination's position.
        dst: usize,
        /// The configuration.
        conv: Img2col,
    },
}

/// The configuration of a TIMG2COL, defaults filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Img2col {
    /// The image.
    pub image: ConvType,
    /// Kernel height and width.
    pub kernel: [u64; 2],
    /// Stride, vertical and horizontal.
    pub stride: [u64; 2],
    /// Dilation, vertical and horizontal.
    pub dilation: [u64; 2],
    /// Padding: left, right, top, bottom.
    pub pad: [u64; 4],
    /// First output position.
    pub pos_m: u64,
    /// First kernel position.
    pub pos_k: u64,
    /// The bits read outside the image.
    pub pad_bits: u64,
    /// Rows written.
    pub rows: u64,
    /// Columns written.
    pub cols: u64,
}

impl Img2col {
    /// Output rows and columns; `None` where the kernel does not fit the padded image (`timg2col-empty`).
    pub fn output(&self) -> Option<[u64; 2]> {
        let [left, right, top, bottom] = self.pad;
        let [_, _, _, h, w, _] = self.image.dims;
        let extent = |size: u64, pad: u64, axis: usize| {
            let span = self.dilation[axis].saturating_mul(self.kernel[axis].saturating_sub(1)) + 1;
            size.saturating_add(pad)
                .checked_sub(span)
                .map(|rest| rest / self.stride[axis].max(1) + 1)
        };
        Some([extent(h, top + bottom, 0)?, extent(w, left + right, 1)?])
    }
}

/// Rounds up to a multiple of `n`.
pub fn ceil_to(x: u64, n: u64) -> u64 {
    x.div_ceil(n.max(1)).saturating_mul(n.max(1))
}

/// The steps of an instruction; `None` where a value that they depend on is not known, or the instruction moves
/// nothing by itself (views, indexed TCONCAT, whose counts are data).
pub fn steps(inst: &Inst) -> Option<Vec<Step>> {
    use Opcode::*;
    match inst.op {
        Tmov | TmovFp => window(inst, Role::Dst, [0, 0], [0, 0]),
        Textract if inst.form == Form::TwoWindows => {
            let (r0, c0) = (inst.index_u64(Role::Row)?, inst.index_u64(Role::Col)?);
            let (r1, c1) = (inst.index_u64(Role::Row1)?, inst.index_u64(Role::Col1)?);
            let mut all = window(inst, Role::Dst0, [r0, c0], [0, 0])?;
            all.extend(window(inst, Role::Dst1, [r1, c1], [0, 0])?);
            Some(all)
        }
        Textract | TextractFp => window(
            inst,
            Role::Dst,
            [inst.index_u64(Role::Row)?, inst.index_u64(Role::Col)?],
            [0, 0],
        ),
        Tinsert | TinsertFp => window(
            inst,
            Role::Dst,
            [0, 0],
            [inst.index_u64(Role::Row)?, inst.index_u64(Role::Col)?],
        ),
        Ttrans => transpose(inst),
        Tconcat if inst.form == Form::Plain => concat(inst),
        Tpack => pack(inst),
        Tfillpad | TfillpadInplace | TfillpadExpand => fillpad(inst),
        Tinterleave | Tdeinterleave => interleave(inst),
        Treshape | Bitcast if inst.profile == Profile::Cpu => {
            let (src, dst) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
            Some(vec![Step::Bytes {
                src,
                dst,
                len: inst.tiles.get(dst)?.tile.bytes(),
            }])
        }
        Timg2col => img2col(inst),
        Tload => load(inst),
        Tstore => {
            let src = inst.tile_index(Role::Src)?;
            let [rows, cols] = valid(inst, src)?;
            Some(vec![plain(
                Side::Tile(src),
                Side::Global,
                Move {
                    rows,
                    cols,
                    src: Map::at(0, 0),
                    dst: Map::at(0, 0),
                },
            )])
        }
        _ => None,
    }
}

fn valid(inst: &Inst, tile: usize) -> Option<[u64; 2]> {
    let [r, c] = inst.tiles.get(tile)?.valid;
    Some([r?, c?])
}

fn plain(src: Side, dst: Side, geometry: Move) -> Step {
    Step::Move {
        src,
        dst,
        core: 0,
        how: How::Bits,
        geometry,
    }
}

/// TMOV, TEXTRACT and TINSERT: a window of the source at `from` becomes a window of the destination at `to`.
fn window(inst: &Inst, dst_role: Role, from: [u64; 2], to: [u64; 2]) -> Option<Vec<Step>> {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(dst_role)?);
    let (src, dst) = (&inst.tiles.get(s)?.tile, &inst.tiles.get(d)?.tile);
    let extract = matches!(inst.op, Opcode::Textract | Opcode::TextractFp);
    let (halves_m, halves_n) = inst.dual_division();
    // What one core writes: TEXTRACT takes its size from the destination, the others from the source.
    let [rows, cols] = if extract {
        valid(inst, d)?
    } else {
        let [r, c] = valid(inst, s)?;
        [r / halves_m, c / halves_n]
    };
    let cores: &[(u8, u64)] = match inst.attrs.acc_to_vec {
        Some(AccToVec::SingleModeVec1) => &[(1, 0)],
        Some(AccToVec::DualModeSplitM | AccToVec::DualModeSplitN) => &[(0, 0), (1, 1)],
        _ => &[(0, 0)],
    };
    let how = if inst.is_fixpipe() {
        How::Fixpipe {
            first: if extract { from[1] } else { 0 },
        }
    } else if src.elem != dst.elem {
        How::Convert
    } else {
        How::Bits
    };
    let mut all = Vec::new();
    for (core, half) in cores {
        let origin = [
            from[0] + half * rows * (halves_m - 1),
            from[1] + half * cols * (halves_n - 1),
        ];
        if rows > 0
            && cols > 0
            && let Some([r, c]) = footprint(inst, src, dst, rows, cols, extract)
        {
            let rect = Rect {
                row: to[0],
                col: to[1],
                rows: r,
                cols: c,
            };
            all.push(Step::Clobber {
                dst: d,
                core: *core,
                rect,
            });
        }
        let geometry = Move {
            rows,
            cols,
            src: Map::at(origin[0], origin[1]),
            dst: Map::at(to[0], to[1]),
        };
        all.push(Step::Move {
            src: Side::Tile(s),
            dst: Side::Tile(d),
            core: *core,
            how,
            geometry,
        });
    }
    if inst.form == Form::Fill {
        fill_outside(inst, d, valid(inst, d)?, fill_bits(inst, dst)?, &mut all);
    }
    Some(all)
}

/// Rows and columns of the block that hardware writes from the window's origin, where it writes more than the window
/// (ops.md 2, 3.2; fixpipe.md 5).
fn footprint(inst: &Inst, src: &Tile, dst: &Tile, rows: u64, cols: u64, extract: bool) -> Option<[u64; 2]> {
    let c0 = dst.elem.c0();
    let nz = |t: &Tile| t.layout_name() == LayoutName::Nz;
    let is_move = matches!(inst.op, Opcode::Tmov | Opcode::TmovFp);
    let is_insert = matches!(inst.op, Opcode::Tinsert | Opcode::TinsertFp);
    match (inst.profile, src.loc, dst.loc) {
        (Profile::Cpu, ..) => None,
        (Profile::A2a3, Loc::Vec, Loc::Vec) if is_move => Some(blocks(dst, rows, cols)),
        (_, Loc::Acc, Loc::Mat) => Some([if extract { rows } else { src.rows }, ceil_to(cols, c0)]),
        (_, Loc::Acc, Loc::Vec) if nz(dst) => {
            let (halves_m, halves_n) = inst.dual_division();
            let unit = if halves_m == 2 {
                16
            } else if halves_n == 2 {
                32
            } else {
                c0
            };
            Some([if extract { rows } else { src.rows / halves_m }, ceil_to(cols, unit)])
        }
        (Profile::A5, Loc::Vec, _) if is_insert && nz(src) => {
            let rows = if inst.attrs.split.is_some() {
                ceil_to(rows, 16)
            } else {
                rows
            };
            Some([rows, ceil_to(cols, c0)])
        }
        _ => None,
    }
}

/// A window from (0, 0) rounded up to whole 32-byte blocks, clipped to the declared area.
fn blocks(tile: &Tile, rows: u64, cols: u64) -> [u64; 2] {
    let c0 = tile.elem.c0();
    let along_rows = tile.layout_name() == LayoutName::Dn || tile.slayout == SLayout::ColMajor;
    let (br, bc) = match (tile.is_boxed(), tile.fractal, tile.box_dims()) {
        // A box of fractal 32 is one block.
        (true, 32, Some((ir, ic))) if ir > 1 => (ir, ic),
        _ if along_rows => (c0, 1),
        _ => (1, c0),
    };
    [ceil_to(rows, br).min(tile.rows), ceil_to(cols, bc).min(tile.cols)]
}

fn fill_bits(inst: &Inst, dst: &Tile) -> Option<u64> {
    dst.elem.encode_exact(&inst.scalar(Role::Fill)?)
}

/// Fills everything of the declared area outside the first `kept` rows and columns.
fn fill_outside(inst: &Inst, dst: usize, kept: [u64; 2], bits: u64, all: &mut Vec<Step>) {
    let Some(tile) = inst.tiles.get(dst).map(|t| &t.tile) else {
        return;
    };
    let [r, c] = [kept[0].min(tile.rows), kept[1].min(tile.cols)];
    let right = Rect {
        row: 0,
        col: c,
        rows: r,
        cols: tile.cols - c,
    };
    let below = Rect {
        row: r,
        col: 0,
        rows: tile.rows - r,
        cols: tile.cols,
    };
    all.extend(
        [right, below]
            .into_iter()
            .filter(|rect| !rect.is_empty())
            .map(|rect| Step::Fill { dst, rect, bits }),
    );
}

fn transpose(inst: &Inst) -> Option<Vec<Step>> {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let (src, dst) = (&inst.tiles.get(s)?.tile, &inst.tiles.get(d)?.tile);
    // a5 transposes the declared shape, whatever is valid (ttrans seed).
    let [rows, cols] = if inst.profile == Profile::A5 {
        [src.rows, src.cols]
    } else {
        valid(inst, s)?
    };
    let mut all = Vec::new();
    if let Some(tile) = inst.tile_index(Role::Tmp) {
        all.push(Step::Scratch { tile });
    }
    if inst.profile == Profile::A2a3 && rows > 0 && cols > 0 {
        let rect = Rect {
            row: 0,
            col: 0,
            rows: cols,
            cols: ceil_to(rows, dst.elem.c0()).min(dst.cols),
        };
        all.push(Step::Clobber { dst: d, core: 0, rect });
    }
    all.push(plain(
        Side::Tile(s),
        Side::Tile(d),
        Move {
            rows,
            cols,
            src: Map::at(0, 0),
            dst: Map::transposed(),
        },
    ));
    Some(all)
}

fn concat(inst: &Inst) -> Option<Vec<Step>> {
    let (s0, s1, d) = (
        inst.tile_index(Role::Src0)?,
        inst.tile_index(Role::Src1)?,
        inst.tile_index(Role::Dst)?,
    );
    let ([r0, c0], [r1, c1]) = (valid(inst, s0)?, valid(inst, s1)?);
    let by_rows = inst.attrs.dim == Some(0);
    let second = if by_rows { Map::at(r0, 0) } else { Map::at(0, c0) };
    let mut all = Vec::new();
    if inst.profile == Profile::A2a3 && r0 > 0 && c0 + c1 > 0 {
        let dst = &inst.tiles.get(d)?.tile;
        let cols = ceil_to(c0 + c1, dst.elem.c0()).min(dst.cols);
        all.push(Step::Clobber {
            dst: d,
            core: 0,
            rect: Rect {
                row: 0,
                col: 0,
                rows: r0,
                cols,
            },
        });
    }
    let first = Move {
        rows: r0,
        cols: c0,
        src: Map::at(0, 0),
        dst: Map::at(0, 0),
    };
    let then = Move {
        rows: r1,
        cols: c1,
        src: Map::at(0, 0),
        dst: second,
    };
    all.push(plain(Side::Tile(s0), Side::Tile(d), first));
    all.push(plain(Side::Tile(s1), Side::Tile(d), then));
    Some(all)
}

fn pack(inst: &Inst) -> Option<Vec<Step>> {
    let (s, d) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    let [rows, cols] = valid(inst, s)?;
    let geometry = Move {
        rows,
        cols,
        src: Map::at(0, 0),
        dst: Map::at(0, 0),
    };
    Some(vec![Step::Move {
        src: Side::Tile(s),
        dst: Side::Tile(d),
        core: 0,
        how: How::LowBytes,
        geometry,
    }])
}

fn fillpad(inst: &Inst) -> Option<Vec<Step>> {
    let d = inst.tile_index(Role::Dst)?;
    let dst = &inst.tiles.get(d)?.tile;
    let mut all = Vec::new();
    if inst.form == Form::Fill {
        fill_outside(inst, d, valid(inst, d)?, fill_bits(inst, dst)?, &mut all);
        return Some(all);
    }
    let s = inst.tile_index(Role::Src)?;
    let [rows, cols] = valid(inst, s)?;
    if inst.op != Opcode::TfillpadInplace {
        let geometry = Move {
            rows,
            cols,
            src: Map::at(0, 0),
            dst: Map::at(0, 0),
        };
        all.push(plain(Side::Tile(s), Side::Tile(d), geometry));
    }
    fill_outside(inst, d, [rows, cols], dst.pad_bits()?, &mut all);
    Some(all)
}

fn interleave(inst: &Inst) -> Option<Vec<Step>> {
    let (d0, d1) = (inst.tile_index(Role::Dst0)?, inst.tile_index(Role::Dst1)?);
    let s0 = inst.tile_index(Role::Src0)?;
    let [rows, v] = valid(inst, d0)?;
    let step = |s: usize, d: usize, cols: u64, src: Map, dst: Map| {
        plain(Side::Tile(s), Side::Tile(d), Move { rows, cols, src, dst })
    };
    let Some(s1) = inst.tile_index(Role::Src1) else {
        // One source: it holds the whole stream.
        return Some(vec![
            step(s0, d0, v, Map::columns(0, 2), Map::at(0, 0)),
            step(s0, d1, v, Map::columns(1, 2), Map::at(0, 0)),
        ]);
    };
    let h = v / 2;
    Some(if inst.op == Opcode::Tinterleave {
        vec![
            step(s0, d0, h, Map::at(0, 0), Map::columns(0, 2)),
            step(s1, d0, h, Map::at(0, 0), Map::columns(1, 2)),
            step(s0, d1, h, Map::at(0, h), Map::columns(0, 2)),
            step(s1, d1, h, Map::at(0, h), Map::columns(1, 2)),
        ]
    } else {
        vec![
            step(s0, d0, h, Map::columns(0, 2), Map::at(0, 0)),
            step(s0, d1, h, Map::columns(1, 2), Map::at(0, 0)),
            step(s1, d0, h, Map::columns(0, 2), Map::at(0, h)),
            step(s1, d1, h, Map::columns(1, 2), Map::at(0, h)),
        ]
    })
}

fn load(inst: &Inst) -> Option<Vec<Step>> {
    let d = inst.tile_index(Role::Dst)?;
    if let Some(conv) = inst.conv {
        return Some(vec![Step::LoadConv {
            dst: d,
            elements: conv.elements(),
        }]);
    }
    let [rows, cols] = valid(inst, d)?;
    let geometry = Move {
        rows,
        cols,
        src: Map::at(0, 0),
        dst: Map::at(0, 0),
    };
    let mut all = vec![plain(Side::Global, Side::Tile(d), geometry)];
    if let Some(bits) = inst.tiles.get(d)?.tile.pad_bits() {
        fill_outside(inst, d, [rows, cols], bits, &mut all);
    }
    Some(all)
}

fn img2col(inst: &Inst) -> Option<Vec<Step>> {
    let conv = img2col_config(inst)?;
    let (src, dst) = (inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?);
    Some(vec![Step::Img2col { src, dst, conv }])
}

/// The configuration of a TIMG2COL whose attributes are in range (`timg2col-config`) and whose values are known.
pub fn img2col_config(inst: &Inst) -> Option<Img2col> {
    let dst = inst.tile(Role::Dst)?;
    let image = inst.conv?;
    let unsigned = |v: [i64; 2]| Some([u64::try_from(v[0]).ok()?, u64::try_from(v[1]).ok()?]);
    let pad = inst.attrs.pad.unwrap_or([0; 4]);
    let pad_bits = match inst.attrs.pad_value {
        Some(value) => image.elem.encode_exact(&value)?,
        None => 0,
    };
    Some(Img2col {
        image,
        kernel: unsigned(inst.attrs.kernel?)?,
        stride: unsigned(inst.attrs.stride.unwrap_or([1, 1]))?,
        dilation: unsigned(inst.attrs.dilation.unwrap_or([1, 1]))?,
        pad: [
            u64::try_from(pad[0]).ok()?,
            u64::try_from(pad[1]).ok()?,
            u64::try_from(pad[2]).ok()?,
            u64::try_from(pad[3]).ok()?,
        ],
        pos_m: inst.index_u64(Role::PosM)?,
        pos_k: inst.index_u64(Role::PosK)?,
        pad_bits,
        rows: dst.valid[0]?,
        cols: dst.valid[1]?,
    })
}

/// How many column blocks each transfer of an NZ split moves (tinsert seed): all alike, the last takes the rest.
pub fn split_blocks(split: Split, cols: u64, c0: u64) -> Vec<u64> {
    let k = match split {
        Split::Split2 => 2,
        Split::Split4 => 4,
    };
    let total = cols.div_ceil(c0.max(1));
    let part = total / k;
    let mut parts = vec![part; k as usize];
    if let Some(last) = parts.last_mut() {
        *last = total - part * (k - 1);
    }
    parts
}
