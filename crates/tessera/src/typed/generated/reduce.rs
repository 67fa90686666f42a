//! Reductions and expansions (isa/reduce.md).
//!
//! Generated from the instruction table by the test `generated`; do not edit.

use crate::typed::AsTile;
use crate::typed::intrinsic::intrinsics;

intrinsics! {
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

    /// `TROWPROD(dst, src, tmp)`: The product of each row of src goes to column 0 of dst.
    ///
    /// `dst(i,0) = (((1 * src(i,0)) * src(i,1)) * ...) * src(i,C-1), C = src.Cv` (isa/reduce.md 1)
    trowprod_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp)
        = Trowprod Plain {Src: Src, Dst: Dst};

    /// `TROWPROD(dst, src)`: The product of each row of src goes to column 0 of dst.
    ///
    /// `dst(i,0) = (((1 * src(i,0)) * src(i,1)) * ...) * src(i,C-1), C = src.Cv` (isa/reduce.md 1)
    trowprod[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Trowprod Plain {Src: Src, Dst: Dst};

    /// `TROWMAX(dst, src, tmp)`: The maximum of each row of src goes to column 0 of dst.
    ///
    /// `dst(i,0) = max over 0 <= j < src.Cv of src(i,j)` (isa/reduce.md 1)
    trowmax_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp)
        = Trowmax Plain {Src: Src, Dst: Dst};

    /// `TROWMAX(dst, src)`: The maximum of each row of src goes to column 0 of dst.
    ///
    /// `dst(i,0) = max over 0 <= j < src.Cv of src(i,j)` (isa/reduce.md 1)
    trowmax[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Trowmax Plain {Src: Src, Dst: Dst};

    /// `TROWMIN(dst, src, tmp)`: The minimum of each row of src goes to column 0 of dst.
    ///
    /// `dst(i,0) = min over 0 <= j < src.Cv of src(i,j)` (isa/reduce.md 1)
    trowmin_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp)
        = Trowmin Plain {Src: Src, Dst: Dst};

    /// `TROWMIN(dst, src)`: The minimum of each row of src goes to column 0 of dst.
    ///
    /// `dst(i,0) = min over 0 <= j < src.Cv of src(i,j)` (isa/reduce.md 1)
    trowmin[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Trowmin Plain {Src: Src, Dst: Dst};

    /// `TCOLSUM(dst, src, tmp, isBinary)`: The sum of each column of src goes to row 0 of dst.
    ///
    /// `dst(0,j) = (((+0 + src(0,j)) + src(1,j)) + ...) + src(R-1,j), R = src.Rv` (isa/reduce.md 1)
    tcolsum_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp, is_binary: flag IsBinary)
        = Tcolsum Plain {Src: Src, Dst: Dst};

    /// `TCOLSUM(dst, src)`: The sum of each column of src goes to row 0 of dst.
    ///
    /// `dst(0,j) = (((+0 + src(0,j)) + src(1,j)) + ...) + src(R-1,j), R = src.Rv` (isa/reduce.md 1)
    tcolsum[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tcolsum Plain {Src: Src, Dst: Dst};

    /// `TCOLPROD(dst, src)`: The product of each column of src goes to row 0 of dst.
    ///
    /// `dst(0,j) = (((1 * src(0,j)) * src(1,j)) * ...) * src(R-1,j), R = src.Rv` (isa/reduce.md 1)
    tcolprod[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tcolprod Plain {Src: Src, Dst: Dst};

    /// `TCOLMAX(dst, src)`: The maximum of each column of src goes to row 0 of dst.
    ///
    /// `dst(0,j) = max over 0 <= i < src.Rv of src(i,j)` (isa/reduce.md 1)
    tcolmax[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tcolmax Plain {Src: Src, Dst: Dst};

    /// `TCOLMIN(dst, src)`: The minimum of each column of src goes to row 0 of dst.
    ///
    /// `dst(0,j) = min over 0 <= i < src.Rv of src(i,j)` (isa/reduce.md 1)
    tcolmin[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tcolmin Plain {Src: Src, Dst: Dst};

    /// `TROWARGMAX(dst, src, tmp)`: Column index of the first greatest element of each row, and with two destinations its value too.
    ///
    /// `dst(i,0) = first j with src(i,j) greatest in row i; dst_val(i,0) = src(i, dst(i,0))` (isa/reduce.md 1)
    trowargmax_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp)
        = Trowargmax Plain {Src: Src, Dst: Dst};

    /// `TROWARGMAX(dst, src)`: Column index of the first greatest element of each row, and with two destinations its value too.
    ///
    /// `dst(i,0) = first j with src(i,j) greatest in row i; dst_val(i,0) = src(i, dst(i,0))` (isa/reduce.md 1)
    trowargmax[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Trowargmax Plain {Src: Src, Dst: Dst};

    /// `TROWARGMAX(dstVal, dst, src, tmp)`: Column index of the first greatest element of each row, and with two destinations its value too.
    ///
    /// `dst(i,0) = first j with src(i,j) greatest in row i; dst_val(i,0) = src(i, dst(i,0))` (isa/reduce.md 1)
    trowargmax_valued_tmp[DstVal: AsTile, Dst: AsTile, Src: AsTile, Tmp: AsTile](dst_val: write DstVal, dst: write Dst, src: read Src, tmp: write Tmp)
        = Trowargmax Valued {Src: Src, DstVal: DstVal, Dst: Dst};

    /// `TROWARGMAX(dstVal, dst, src)`: Column index of the first greatest element of each row, and with two destinations its value too.
    ///
    /// `dst(i,0) = first j with src(i,j) greatest in row i; dst_val(i,0) = src(i, dst(i,0))` (isa/reduce.md 1)
    trowargmax_valued[DstVal: AsTile, Dst: AsTile, Src: AsTile](dst_val: write DstVal, dst: write Dst, src: read Src)
        = Trowargmax Valued {Src: Src, DstVal: DstVal, Dst: Dst};

    /// `TCOLARGMAX(dst, src, tmp)`: Row index of the first greatest element of each column, and with two destinations its value too.
    ///
    /// `dst(0,j) = first i with src(i,j) greatest in column j; dst_val(0,j) = src(dst(0,j), j)` (isa/reduce.md 1)
    tcolargmax_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp)
        = Tcolargmax Plain {Src: Src, Dst: Dst};

    /// `TCOLARGMAX(dst, src)`: Row index of the first greatest element of each column, and with two destinations its value too.
    ///
    /// `dst(0,j) = first i with src(i,j) greatest in column j; dst_val(0,j) = src(dst(0,j), j)` (isa/reduce.md 1)
    tcolargmax[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tcolargmax Plain {Src: Src, Dst: Dst};

    /// `TCOLARGMAX(dstVal, dst, src, tmp)`: Row index of the first greatest element of each column, and with two destinations its value too.
    ///
    /// `dst(0,j) = first i with src(i,j) greatest in column j; dst_val(0,j) = src(dst(0,j), j)` (isa/reduce.md 1)
    tcolargmax_valued_tmp[DstVal: AsTile, Dst: AsTile, Src: AsTile, Tmp: AsTile](dst_val: write DstVal, dst: write Dst, src: read Src, tmp: write Tmp)
        = Tcolargmax Valued {Src: Src, DstVal: DstVal, Dst: Dst};

    /// `TCOLARGMAX(dstVal, dst, src)`: Row index of the first greatest element of each column, and with two destinations its value too.
    ///
    /// `dst(0,j) = first i with src(i,j) greatest in column j; dst_val(0,j) = src(dst(0,j), j)` (isa/reduce.md 1)
    tcolargmax_valued[DstVal: AsTile, Dst: AsTile, Src: AsTile](dst_val: write DstVal, dst: write Dst, src: read Src)
        = Tcolargmax Valued {Src: Src, DstVal: DstVal, Dst: Dst};

    /// `TROWARGMIN(dst, src, tmp)`: Column index of the first least element of each row, and with two destinations its value too.
    ///
    /// `dst(i,0) = first j with src(i,j) least in row i; dst_val(i,0) = src(i, dst(i,0))` (isa/reduce.md 1)
    trowargmin_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp)
        = Trowargmin Plain {Src: Src, Dst: Dst};

    /// `TROWARGMIN(dst, src)`: Column index of the first least element of each row, and with two destinations its value too.
    ///
    /// `dst(i,0) = first j with src(i,j) least in row i; dst_val(i,0) = src(i, dst(i,0))` (isa/reduce.md 1)
    trowargmin[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Trowargmin Plain {Src: Src, Dst: Dst};

    /// `TROWARGMIN(dstVal, dst, src, tmp)`: Column index of the first least element of each row, and with two destinations its value too.
    ///
    /// `dst(i,0) = first j with src(i,j) least in row i; dst_val(i,0) = src(i, dst(i,0))` (isa/reduce.md 1)
    trowargmin_valued_tmp[DstVal: AsTile, Dst: AsTile, Src: AsTile, Tmp: AsTile](dst_val: write DstVal, dst: write Dst, src: read Src, tmp: write Tmp)
        = Trowargmin Valued {Src: Src, DstVal: DstVal, Dst: Dst};

    /// `TROWARGMIN(dstVal, dst, src)`: Column index of the first least element of each row, and with two destinations its value too.
    ///
    /// `dst(i,0) = first j with src(i,j) least in row i; dst_val(i,0) = src(i, dst(i,0))` (isa/reduce.md 1)
    trowargmin_valued[DstVal: AsTile, Dst: AsTile, Src: AsTile](dst_val: write DstVal, dst: write Dst, src: read Src)
        = Trowargmin Valued {Src: Src, DstVal: DstVal, Dst: Dst};

    /// `TCOLARGMIN(dst, src, tmp)`: Row index of the first least element of each column, and with two destinations its value too.
    ///
    /// `dst(0,j) = first i with src(i,j) least in column j; dst_val(0,j) = src(dst(0,j), j)` (isa/reduce.md 1)
    tcolargmin_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp)
        = Tcolargmin Plain {Src: Src, Dst: Dst};

    /// `TCOLARGMIN(dst, src)`: Row index of the first least element of each column, and with two destinations its value too.
    ///
    /// `dst(0,j) = first i with src(i,j) least in column j; dst_val(0,j) = src(dst(0,j), j)` (isa/reduce.md 1)
    tcolargmin[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tcolargmin Plain {Src: Src, Dst: Dst};

    /// `TCOLARGMIN(dstVal, dst, src, tmp)`: Row index of the first least element of each column, and with two destinations its value too.
    ///
    /// `dst(0,j) = first i with src(i,j) least in column j; dst_val(0,j) = src(dst(0,j), j)` (isa/reduce.md 1)
    tcolargmin_valued_tmp[DstVal: AsTile, Dst: AsTile, Src: AsTile, Tmp: AsTile](dst_val: write DstVal, dst: write Dst, src: read Src, tmp: write Tmp)
        = Tcolargmin Valued {Src: Src, DstVal: DstVal, Dst: Dst};

    /// `TCOLARGMIN(dstVal, dst, src)`: Row index of the first least element of each column, and with two destinations its value too.
    ///
    /// `dst(0,j) = first i with src(i,j) least in column j; dst_val(0,j) = src(dst(0,j), j)` (isa/reduce.md 1)
    tcolargmin_valued[DstVal: AsTile, Dst: AsTile, Src: AsTile](dst_val: write DstVal, dst: write Dst, src: read Src)
        = Tcolargmin Valued {Src: Src, DstVal: DstVal, Dst: Dst};

    /// `TROWEXPAND(dst, src)`: Copies column 0 of src into every column of dst; bits are moved, not computed.
    ///
    /// `dst(i,j) = src(i,0)` (isa/reduce.md 1)
    trowexpand[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Trowexpand Plain {Src: Src, Dst: Dst};

    /// `TCOLEXPAND(dst, src)`: Copies row 0 of src into every row of dst; bits are moved, not computed.
    ///
    /// `dst(i,j) = src(0,j)` (isa/reduce.md 1)
    tcolexpand[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tcolexpand Plain {Src: Src, Dst: Dst};

    /// `TROWEXPANDADD(dst, src0, src1, tmp, src1Col)`: Row broadcast: each row of the full operand adds the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = s0(i,j) + s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandadd_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Trowexpandadd Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDADD(dst, src0, src1, src1Col)`: Row broadcast: each row of the full operand adds the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = s0(i,j) + s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandadd[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Trowexpandadd Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDSUB(dst, src0, src1, tmp, src1Col)`: Row broadcast: each row of the full operand subtracts the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = s0(i,j) - s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandsub_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Trowexpandsub Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDSUB(dst, src0, src1, src1Col)`: Row broadcast: each row of the full operand subtracts the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = s0(i,j) - s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandsub[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Trowexpandsub Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDMUL(dst, src0, src1, tmp, src1Col)`: Row broadcast: each row of the full operand multiplies by the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = s0(i,j) * s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandmul_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Trowexpandmul Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDMUL(dst, src0, src1, src1Col)`: Row broadcast: each row of the full operand multiplies by the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = s0(i,j) * s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandmul[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Trowexpandmul Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDDIV(dst, src0, src1, tmp, src1Col)`: Row broadcast: each row of the full operand divides by the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = s0(i,j) / s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpanddiv_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Trowexpanddiv Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDDIV(dst, src0, src1, src1Col)`: Row broadcast: each row of the full operand divides by the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = s0(i,j) / s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpanddiv[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Trowexpanddiv Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDMAX(dst, src0, src1, tmp, src1Col)`: Row broadcast: each row of the full operand takes the maximum with the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = max(s0(i,j), s1(i,j)); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandmax_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Trowexpandmax Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDMAX(dst, src0, src1, src1Col)`: Row broadcast: each row of the full operand takes the maximum with the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = max(s0(i,j), s1(i,j)); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandmax[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Trowexpandmax Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDMIN(dst, src0, src1, tmp, src1Col)`: Row broadcast: each row of the full operand takes the minimum with the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = min(s0(i,j), s1(i,j)); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandmin_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Trowexpandmin Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDMIN(dst, src0, src1, src1Col)`: Row broadcast: each row of the full operand takes the minimum with the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = min(s0(i,j), s1(i,j)); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandmin[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Trowexpandmin Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDEXPDIF(dst, src0, src1, tmp, src1Col)`: Row broadcast: each row of the full operand takes exp of the difference with the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = exp(s0(i,j) - s1(i,j)); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandexpdif_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Trowexpandexpdif Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TROWEXPANDEXPDIF(dst, src0, src1, src1Col)`: Row broadcast: each row of the full operand takes exp of the difference with the value (or 32-byte block) of that row in the other operand.
    ///
    /// `dst(i,j) = exp(s0(i,j) - s1(i,j)); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(i, j mod n), n = its Cv (1 with src1Col = 1)` (isa/reduce.md 1)
    trowexpandexpdif[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Trowexpandexpdif Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TCOLEXPANDADD(dst, src0, src1)`: Column broadcast: each row of the full operand adds row 0 of the other operand.
    ///
    /// `dst(i,j) = s0(i,j) + s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(0,j)` (isa/reduce.md 1)
    tcolexpandadd[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tcolexpandadd Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TCOLEXPANDSUB(dst, src0, src1)`: Column broadcast: each row of the full operand subtracts row 0 of the other operand.
    ///
    /// `dst(i,j) = s0(i,j) - s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(0,j)` (isa/reduce.md 1)
    tcolexpandsub[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tcolexpandsub Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TCOLEXPANDMUL(dst, src0, src1)`: Column broadcast: each row of the full operand multiplies by row 0 of the other operand.
    ///
    /// `dst(i,j) = s0(i,j) * s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(0,j)` (isa/reduce.md 1)
    tcolexpandmul[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tcolexpandmul Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TCOLEXPANDDIV(dst, src0, src1)`: Column broadcast: each row of the full operand divides by row 0 of the other operand.
    ///
    /// `dst(i,j) = s0(i,j) / s1(i,j); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(0,j)` (isa/reduce.md 1)
    tcolexpanddiv[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tcolexpanddiv Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TCOLEXPANDMAX(dst, src0, src1)`: Column broadcast: each row of the full operand takes the maximum with row 0 of the other operand.
    ///
    /// `dst(i,j) = max(s0(i,j), s1(i,j)); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(0,j)` (isa/reduce.md 1)
    tcolexpandmax[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tcolexpandmax Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TCOLEXPANDMIN(dst, src0, src1)`: Column broadcast: each row of the full operand takes the minimum with row 0 of the other operand.
    ///
    /// `dst(i,j) = min(s0(i,j), s1(i,j)); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(0,j)` (isa/reduce.md 1)
    tcolexpandmin[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tcolexpandmin Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TCOLEXPANDEXPDIF(dst, src0, src1)`: Column broadcast: each row of the full operand takes exp of the difference with row 0 of the other operand.
    ///
    /// `dst(i,j) = exp(s0(i,j) - s1(i,j)); for the full operand s(i,j) = src(i,j), for the broadcast operand s(i,j) = src(0,j)` (isa/reduce.md 1)
    tcolexpandexpdif[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tcolexpandexpdif Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TPAIRREDUCESUM(dst, src)`: Adds neighbouring pairs of each row into the lower half of dst's row and zeroes the upper half.
    ///
    /// `dst(i,k) = src(i,2k) + src(i,2k+1) for k < floor(C/2); dst(i,k) = +0 for the other k < C, C = dst.Cv; cpu only: for odd C dst(i,(C-1)/2) = src(i,C-1) + 0` (isa/reduce.md 1)
    tpairreducesum[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tpairreducesum Plain {Src: Src, Dst: Dst};
}
