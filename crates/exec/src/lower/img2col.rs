//! TIMG2COL (ops.md 7): a patch of the image for every row, a place in the kernel for every column.
//!
//! Rows are cut where the output row ends, columns where the place in the kernel changes. In such a piece neighbouring
//! rows lie `strideW` pixels apart and neighbouring columns side by side, so what falls inside the image is a nest and
//! the rest is filled.

use crate::lower::{Lowering, operand};
use tessera_isa::layout::{Axis, Layout};
use tessera_isa::sem::{Img2col, Rect};
use tessera_kernels::Failure;
use tessera_kernels::nest::{Map, Nests, Operand, SRC, lower};

/// Rows of the destination that share image, depth and output row.
struct RowPiece {
    /// First row, and how many.
    row: u64,
    rows: u64,
    /// Their position in the output.
    n: u64,
    d: u64,
    oy: u64,
    ox: u64,
}

/// Columns of the destination that share a place in the kernel.
struct ColPiece {
    /// First column, and how many.
    col: u64,
    cols: u64,
    c1: u64,
    ky: u64,
    kx: u64,
    c0: u64,
}

impl Lowering<'_> {
    pub fn img2col(&mut self, src: usize, dst: usize, conv: &Img2col) -> Result<(), Failure> {
        let Some([oh, ow]) = conv.output() else {
            return Ok(());
        };
        let mut nests = Nests::new();
        let mut outside: Vec<Rect> = Vec::new();
        let columns = col_pieces(conv);
        for rows in row_pieces(conv, oh.max(1), ow.max(1)) {
            for cols in &columns {
                self.piece(dst, conv, &rows, cols, &mut nests, &mut outside);
            }
        }
        self.copy(operand(src, 0), operand(dst, 0), nests);
        for rect in outside {
            self.fill(dst, rect, conv.pad_bits)?;
        }
        Ok(())
    }

    fn piece(
        &self,
        dst: usize,
        conv: &Img2col,
        rows: &RowPiece,
        cols: &ColPiece,
        nests: &mut Nests,
        outside: &mut Vec<Rect>,
    ) {
        let Some(tile) = self.inst.tiles.get(dst) else {
            return;
        };
        let [images, depth, channels, height, width, lanes] = conv.image.dims;
        let [left, _, top, _] = conv.pad;
        let rect = |from: u64, to: u64| Rect { row: rows.row + from, col: cols.col, rows: to - from, cols: cols.cols };
        // The piece's rows that overlap the image: first <= row < end.
        let y = (rows.oy * conv.stride[0] + cols.ky * conv.dilation[0]).checked_sub(top);
        let y = y.filter(|y| *y < height && rows.n < images && cols.c1 < channels);
        let x = rows.ox * conv.stride[1] + cols.kx * conv.dilation[1];
        let stride = conv.stride[1].max(1);
        let first = left.saturating_sub(x).div_ceil(stride).min(rows.rows);
        let end = (left + width).saturating_sub(x).div_ceil(stride).clamp(first, rows.rows);
        let (Some(y), true) = (y, first < end) else {
            outside.push(rect(0, rows.rows));
            return;
        };
        outside.extend([rect(0, first), rect(end, rows.rows)].into_iter().filter(|r| !r.is_empty()));
        let pixel =
            ((((rows.n * depth + rows.d) * channels + cols.c1) * height) + y) * width + (x + first * stride - left);
        let from = Layout { row: Axis::linear(end - first, (stride * lanes) as i64), col: Axis::linear(cols.cols, 1) };
        let bits = conv.image.elem.bits();
        let to = Operand { layout: &tile.layout, map: Map::at(rows.row + first, cols.col), bits };
        let from = Operand { layout: &from, map: Map::SAME, bits };
        let start = (pixel * lanes + cols.c0) as i64 * i64::from(bits / 8);
        for mut nest in lower([end - first, cols.cols], &[to, from]) {
            nest.base[SRC] += start;
            nests.push(nest);
        }
    }
}

fn row_pieces(conv: &Img2col, oh: u64, ow: u64) -> Vec<RowPiece> {
    let depth = conv.image.dims[1].max(1);
    let mut pieces = Vec::new();
    let mut row = 0;
    while row < conv.rows {
        let m = conv.pos_m.saturating_add(row);
        let ox = m % ow;
        let rows = (ow - ox).min(conv.rows - row);
        pieces.push(RowPiece { row, rows, n: m / (depth * oh * ow), d: m / (oh * ow) % depth, oy: m / ow % oh, ox });
        row += rows;
    }
    pieces
}

fn col_pieces(conv: &Img2col) -> Vec<ColPiece> {
    let lanes = conv.image.dims[5].max(1);
    let taps = (conv.kernel[0] * conv.kernel[1]).max(1);
    let mut pieces = Vec::new();
    let mut col = 0;
    while col < conv.cols {
        let k = conv.pos_k.saturating_add(col);
        let c0 = k % lanes;
        let cols = (lanes - c0).min(conv.cols - col);
        let tap = k / lanes % taps;
        pieces.push(ColPiece {
            col,
            cols,
            c1: k / (lanes * taps),
            ky: tap / conv.kernel[1].max(1),
            kx: tap % conv.kernel[1].max(1),
            c0,
        });
        col += cols;
    }
    pieces
}
