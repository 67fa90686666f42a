//! Between global memory and tiles (isa/memory.md).
//!
//! Generated from the instruction table by the test `generated`; do not edit.

use crate::typed::AsTile;
use crate::typed::intrinsic::transfers;

transfers! {
    /// `TLOAD(dst, global)`: Copies a view of global memory into a tile and fills the tile's padding.
    ///
    /// `dst(i,j) = view(i,j); padding = pad value, if there is one` (isa/memory.md 4)
    tload_with[Dst: AsTile](dst: write Dst, global: from Global, attrs: attrs Attrs) = Tload from global;

    /// `TLOAD(dst, global, indexRow, indexCol)`: Copies a view of global memory into a tile and fills the tile's padding.
    ///
    /// `dst(i,j) = view(i,j); padding = pad value, if there is one` (isa/memory.md 4)
    tload_window[Dst: AsTile](dst: write Dst, global: from Global, row: index Row, col: index Col, attrs: attrs Attrs) = Tload from global;

    /// `TPREFETCH(dst, global)`: Reads a view ahead of its use, through a tile.
    ///
    /// `dst(i,j) = view(i,j) where the shapes agree, else dst becomes undefined` (isa/memory.md 4)
    tprefetch[Dst: AsTile](dst: write Dst, global: from Global) = Tprefetch from global;

    /// `TSTORE(global, src)`: Copies a tile's valid region to a view; out of an accumulator it converts, quantizes and clips; it can add.
    ///
    /// `view(i,j) = f(src(i,j)), atomic_add: view(i,j) = view(i,j) + f(src(i,j)); f: memory.md, 3` (isa/memory.md 3)
    tstore_with[Src: AsTile](global: into Global, src: read Src, attrs: attrs Attrs) = Tstore into global;

    /// `TSTORE(global, src, preQuantScalar)`: Copies a tile's valid region to a view; out of an accumulator it converts, quantizes and clips; it can add.
    ///
    /// `view(i,j) = f(src(i,j)), atomic_add: view(i,j) = view(i,j) + f(src(i,j)); f: memory.md, 3` (isa/memory.md 3)
    tstore_scalar_quant[Src: AsTile](global: into Global, src: read Src, quant: quant Quant, attrs: attrs Attrs) = Tstore into global;

    /// `TSTORE(global, src, indexRow, indexCol)`: Copies a tile's valid region to a view; out of an accumulator it converts, quantizes and clips; it can add.
    ///
    /// `view(i,j) = f(src(i,j)), atomic_add: view(i,j) = view(i,j) + f(src(i,j)); f: memory.md, 3` (isa/memory.md 3)
    tstore_window[Src: AsTile](global: into Global, src: read Src, row: index Row, col: index Col, attrs: attrs Attrs) = Tstore into global;

    /// `TSTORE_FP(global, src, fp)`: tstore out of an accumulator with one quantization parameter per column.
    ///
    /// `view(i,j) = quant(src(i,j), fp[j])` (isa/memory.md 3)
    tstore_fp[Src: AsTile, Fp: AsTile](global: into Global, src: read Src, fp: read Fp, attrs: attrs Attrs) = TstoreFp into global;

    /// `MGATHER(dst, global, idx)`: Gathers rows or elements of a view by index.
    ///
    /// `elem: dst(i,j) = view[t(idx(i,j))]; row: dst(i,j) = view(t(idx[i]), j); t: memory.md, 5` (isa/memory.md 5)
    mgather[Dst: AsTile, Idx: AsTile](dst: write Dst, global: from Global, idx: read Idx, attrs: attrs Attrs) = Mgather from global;

    /// `MSCATTER(global, src, idx)`: Scatters rows or elements of a tile into a view by index.
    ///
    /// `elem: view[t(idx(i,j))] = src(i,j) (or op=); row: view(t(idx[i]), j) = src(i,j) (or op=); in row-major order of (i,j)` (isa/memory.md 5)
    mscatter[Src: AsTile, Idx: AsTile](global: into Global, src: read Src, idx: read Idx, attrs: attrs Attrs) = Mscatter into global;
}
