//! Matrix products (isa/matrix.md).
//!
//! Generated from the instruction table by the test `generated`; do not edit.

use crate::typed::AsTile;
use crate::typed::intrinsic::intrinsics;

intrinsics! {
    /// `TMATMUL(dst, a, b)`: Matrix product: fresh product.
    ///
    /// `dst(i,j) = s(K), s(0) = +0, s(k+1) = round(s(k) + a(i,k)*b(k,j)) with one rounding; M = a.Rv, K = a.Cv, N = b.Cv` (isa/matrix.md 1)
    tmatmul[Dst: AsTile, A: AsTile, B: AsTile](dst: write Dst, a: read A, b: read B)
        = Tmatmul Plain {A: A, B: B, Dst: Dst};

    /// `TMATMUL_ACC(dst, acc, a, b)`: Matrix product: product added to an accumulator.
    ///
    /// `dst(i,j) = s(K), s(0) = acc(i,j), s(k+1) = round(s(k) + a(i,k)*b(k,j)) with one rounding; M = a.Rv, K = a.Cv, N = b.Cv` (isa/matrix.md 1)
    tmatmul_acc[Dst: AsTile, Acc: AsTile, A: AsTile, B: AsTile](dst: write Dst, acc: read Acc, a: read A, b: read B)
        = TmatmulAcc Plain {Acc: Acc, A: A, B: B, Dst: Dst};

    /// `TMATMUL_BIAS(dst, a, b, bias)`: Matrix product: product added to a bias row.
    ///
    /// `dst(i,j) = s(K), s(0) = bias(0,j), s(k+1) = round(s(k) + a(i,k)*b(k,j)) with one rounding; M = a.Rv, K = a.Cv, N = b.Cv` (isa/matrix.md 1)
    tmatmul_bias[Dst: AsTile, A: AsTile, B: AsTile, Bias: AsTile](dst: write Dst, a: read A, b: read B, bias: read Bias)
        = TmatmulBias Plain {A: A, B: B, Bias: Bias, Dst: Dst};

    /// `TMATMUL_MX(dst, a, aScale, b, bScale)`: Matrix product of block-scaled (MX) operands: fresh product.
    ///
    /// `dst(i,j) = s(K), s(0) = +0, s(k+1) = round(s(k) + a(i,k)*b(k,j)*a_scale(i,k/32)*b_scale(k/32,j)) with one rounding; M = a.Rv, K = a.Cv, N = b.Cv` (isa/matrix.md 1)
    tmatmul_mx[Dst: AsTile, A: AsTile, AScale: AsTile, B: AsTile, BScale: AsTile](dst: write Dst, a: read A, a_scale: read AScale, b: read B, b_scale: read BScale)
        = TmatmulMx Plain {A: A, AScale: AScale, B: B, BScale: BScale, Dst: Dst};

    /// `TMATMUL_MX(dst, acc, a, aScale, b, bScale)`: Matrix product of block-scaled (MX) operands: product added to an accumulator.
    ///
    /// `dst(i,j) = s(K), s(0) = acc(i,j), s(k+1) = round(s(k) + a(i,k)*b(k,j)*a_scale(i,k/32)*b_scale(k/32,j)) with one rounding; M = a.Rv, K = a.Cv, N = b.Cv` (isa/matrix.md 1)
    tmatmul_mx_acc[Dst: AsTile, Acc: AsTile, A: AsTile, AScale: AsTile, B: AsTile, BScale: AsTile](dst: write Dst, acc: read Acc, a: read A, a_scale: read AScale, b: read B, b_scale: read BScale)
        = TmatmulMxAcc Plain {Acc: Acc, A: A, AScale: AScale, B: B, BScale: BScale, Dst: Dst};

    /// `TMATMUL_MX(dst, a, aScale, b, bScale, bias)`: Matrix product of block-scaled (MX) operands: product added to a bias row.
    ///
    /// `dst(i,j) = s(K), s(0) = bias(0,j), s(k+1) = round(s(k) + a(i,k)*b(k,j)*a_scale(i,k/32)*b_scale(k/32,j)) with one rounding; M = a.Rv, K = a.Cv, N = b.Cv` (isa/matrix.md 1)
    tmatmul_mx_bias[Dst: AsTile, A: AsTile, AScale: AsTile, B: AsTile, BScale: AsTile, Bias: AsTile](dst: write Dst, a: read A, a_scale: read AScale, b: read B, b_scale: read BScale, bias: read Bias)
        = TmatmulMxBias Plain {A: A, AScale: AScale, B: B, BScale: BScale, Bias: Bias, Dst: Dst};

    /// `TGEMV(dst, a, b)`: Row vector times matrix: fresh product.
    ///
    /// `dst(i,j) = s(K), s(0) = +0, s(k+1) = round(s(k) + a(i,k)*b(k,j)) with one rounding; M = 1, K = b.Rv, N = b.Cv` (isa/matrix.md 1)
    tgemv[Dst: AsTile, A: AsTile, B: AsTile](dst: write Dst, a: read A, b: read B)
        = Tgemv Plain {A: A, B: B, Dst: Dst};

    /// `TGEMV_ACC(dst, acc, a, b)`: Row vector times matrix: product added to an accumulator.
    ///
    /// `dst(i,j) = s(K), s(0) = acc(i,j), s(k+1) = round(s(k) + a(i,k)*b(k,j)) with one rounding; M = 1, K = b.Rv, N = b.Cv` (isa/matrix.md 1)
    tgemv_acc[Dst: AsTile, Acc: AsTile, A: AsTile, B: AsTile](dst: write Dst, acc: read Acc, a: read A, b: read B)
        = TgemvAcc Plain {Acc: Acc, A: A, B: B, Dst: Dst};

    /// `TGEMV_BIAS(dst, a, b, bias)`: Row vector times matrix: product added to a bias row.
    ///
    /// `dst(i,j) = s(K), s(0) = bias(0,j), s(k+1) = round(s(k) + a(i,k)*b(k,j)) with one rounding; M = 1, K = b.Rv, N = b.Cv` (isa/matrix.md 1)
    tgemv_bias[Dst: AsTile, A: AsTile, B: AsTile, Bias: AsTile](dst: write Dst, a: read A, b: read B, bias: read Bias)
        = TgemvBias Plain {A: A, B: B, Bias: Bias, Dst: Dst};

    /// `TGEMV_MX(dst, a, aScale, b, bScale)`: Row vector times matrix of block-scaled (MX) operands: fresh product.
    ///
    /// `dst(i,j) = s(K), s(0) = +0, s(k+1) = round(s(k) + a(i,k)*b(k,j)*a_scale(i,k/32)*b_scale(k/32,j)) with one rounding; M = 1, K = b.Rv, N = b.Cv` (isa/matrix.md 1)
    tgemv_mx[Dst: AsTile, A: AsTile, AScale: AsTile, B: AsTile, BScale: AsTile](dst: write Dst, a: read A, a_scale: read AScale, b: read B, b_scale: read BScale)
        = TgemvMx Plain {A: A, AScale: AScale, B: B, BScale: BScale, Dst: Dst};

    /// `TGEMV_MX(dst, acc, a, aScale, b, bScale)`: Row vector times matrix of block-scaled (MX) operands: product added to an accumulator.
    ///
    /// `dst(i,j) = s(K), s(0) = acc(i,j), s(k+1) = round(s(k) + a(i,k)*b(k,j)*a_scale(i,k/32)*b_scale(k/32,j)) with one rounding; M = 1, K = b.Rv, N = b.Cv` (isa/matrix.md 1)
    tgemv_mx_acc[Dst: AsTile, Acc: AsTile, A: AsTile, AScale: AsTile, B: AsTile, BScale: AsTile](dst: write Dst, acc: read Acc, a: read A, a_scale: read AScale, b: read B, b_scale: read BScale)
        = TgemvMxAcc Plain {Acc: Acc, A: A, AScale: AScale, B: B, BScale: BScale, Dst: Dst};

    /// `TGEMV_MX(dst, a, aScale, b, bScale, bias)`: Row vector times matrix of block-scaled (MX) operands: product added to a bias row.
    ///
    /// `dst(i,j) = s(K), s(0) = bias(0,j), s(k+1) = round(s(k) + a(i,k)*b(k,j)*a_scale(i,k/32)*b_scale(k/32,j)) with one rounding; M = 1, K = b.Rv, N = b.Cv` (isa/matrix.md 1)
    tgemv_mx_bias[Dst: AsTile, A: AsTile, AScale: AsTile, B: AsTile, BScale: AsTile, Bias: AsTile](dst: write Dst, a: read A, a_scale: read AScale, b: read B, b_scale: read BScale, bias: read Bias)
        = TgemvMxBias Plain {A: A, AScale: AScale, B: B, BScale: BScale, Bias: Bias, Dst: Dst};

    /// `TGET_SCALE_ADDR(dst, src)`: Binds a scale tile to the scale area that belongs to a Left or Right tile; moves no data.
    ///
    /// `address(dst) = address(src) >> 4` (isa/matrix.md 3)
    tget_scale_addr[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = TgetScaleAddr Plain {Src: Src, Dst: Dst};
}
