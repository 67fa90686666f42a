//! The intrinsics of the instruction table's rows outside the layout set.
//!
//! Generated from the table by the test `generated`; do not edit.

use super::AsTile;
use super::intrinsic::intrinsics;

intrinsics! {
    /// `TADD(dst, src0, src1)`: Sum of two tiles.
    ///
    /// `dst(i,j) = src0(i,j) + src1(i,j)` (isa/elementwise.md 1)
    tadd[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tadd Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWSUM(dst, src, tmp)`: The sum of each row of src goes to column 0 of dst.
    ///
    /// `dst(i,0) = (((+0 + src(i,0)) + src(i,1)) + ...) + src(i,C-1), C = src.Cv` (isa/reduce.md 1)
    trowsum_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp)
        = Trowsum Plain {Src: Src, Dst: Dst};

    /// `TROWSUM(dst, src)`: The sum of each row of src goes to column 0 of dst.
    ///
    /// `dst(i,0) = (((+0 + src(i,0)) + src(i,1)) + ...) + src(i,C-1), C = src.Cv` (isa/reduce.md 1)
    trowsum[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Trowsum Plain {Src: Src, Dst: Dst};

    /// `TMATMUL(dst, a, b)`: Matrix product: fresh product.
    ///
    /// `dst(i,j) = s(K), s(0) = +0, s(k+1) = round(s(k) + a(i,k)*b(k,j)) with one rounding; M = a.Rv, K = a.Cv, N = b.Cv` (isa/matrix.md 1)
    tmatmul[Dst: AsTile, A: AsTile, B: AsTile](dst: write Dst, a: read A, b: read B)
        = Tmatmul Plain {A: A, B: B, Dst: Dst};

    /// `TGATHER(dst, src, idx, tmp)`: Picks elements of src by linear index.
    ///
    /// `k = idx(i,j); dst(i,j) = src(k / src.C, k mod src.C)` (isa/irregular.md 4)
    tgather_tmp[Dst: AsTile, Src: AsTile, Idx: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, idx: read Idx, tmp: write Tmp)
        = Tgather Plain {Src: Src, Idx: Idx, Dst: Dst};

    /// `TGATHER(dst, src, idx)`: Picks elements of src by linear index.
    ///
    /// `k = idx(i,j); dst(i,j) = src(k / src.C, k mod src.C)` (isa/irregular.md 4)
    tgather[Dst: AsTile, Src: AsTile, Idx: AsTile](dst: write Dst, src: read Src, idx: read Idx)
        = Tgather Plain {Src: Src, Idx: Idx, Dst: Dst};
}
