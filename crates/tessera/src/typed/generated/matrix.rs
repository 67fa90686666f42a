//! Matrix products (isa/matrix.md).
//!
//! Generated from the instruction table by the test `generated`; do not edit.

use crate::typed::intrinsic::intrinsics;
use crate::typed::AsTile;

intrinsics! {
    /// `TMATMUL(dst, a, b)`: Matrix product: fresh product.
    ///
    /// `dst(i,j) = s(K), s(0) = +0, s(k+1) = round(s(k) + a(i,k)*b(k,j)) with one rounding; M = a.Rv, K = a.Cv, N = b.Cv` (isa/matrix.md 1)
    tmatmul[Dst: AsTile, A: AsTile, B: AsTile](dst: write Dst, a: read A, b: read B)
        = Tmatmul Plain {A: A, B: B, Dst: Dst};
}
