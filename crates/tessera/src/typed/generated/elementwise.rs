//! Elementwise instructions (isa/elementwise.md).
//!
//! Generated from the instruction table by the test `generated`; do not edit.

use crate::typed::AsTile;
use crate::typed::intrinsic::intrinsics;

intrinsics! {
    /// `TABS(dst, src)`: Absolute value.
    ///
    /// `dst(i,j) = |src(i,j)|` (isa/elementwise.md 1)
    tabs[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tabs Plain {Src: Src, Dst: Dst};

    /// `TADD(dst, src0, src1)`: Sum of two tiles.
    ///
    /// `dst(i,j) = src0(i,j) + src1(i,j)` (isa/elementwise.md 1)
    tadd[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tadd Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TADDC(dst, src0, src1, src2)`: Sum of three tiles, left to right.
    ///
    /// `dst(i,j) = (src0(i,j) + src1(i,j)) + src2(i,j)` (isa/elementwise.md 1)
    taddc[Dst: AsTile, Src0: AsTile, Src1: AsTile, Src2: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, src2: read Src2)
        = Taddc Plain {Src0: Src0, Src1: Src1, Src2: Src2, Dst: Dst};

    /// `TAND(dst, src0, src1)`: Bitwise AND.
    ///
    /// `dst(i,j) = src0(i,j) & src1(i,j)` (isa/elementwise.md 1)
    tand[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tand Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TCMP(dst, src0, src1, cmpMode)`: Compares two tiles; one bit per element into a mask (elementwise.md, 4).
    ///
    /// `bit j mod 8 of byte j / 8 of dst's row i = src0(i,j) <cmpMode> src1(i,j)` (isa/elementwise.md 4)
    tcmp[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, attrs: attrs Attrs)
        = Tcmp Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TCVT(dst, src, tmp, rmode, sat_mode)`: Converts every element to dst's type (elementwise.md, 5).
    ///
    /// `dst(i,j) = convert(src(i,j), rmode, sat_mode)` (isa/elementwise.md 5)
    tcvt_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp, attrs: attrs Attrs)
        = Tcvt Plain {Src: Src, Dst: Dst};

    /// `TCVT(dst, src, rmode, sat_mode)`: Converts every element to dst's type (elementwise.md, 5).
    ///
    /// `dst(i,j) = convert(src(i,j), rmode, sat_mode)` (isa/elementwise.md 5)
    tcvt[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src, attrs: attrs Attrs)
        = Tcvt Plain {Src: Src, Dst: Dst};

    /// `TDIV(dst, src0, src1)`: Quotient of two tiles; integers truncate toward zero.
    ///
    /// `dst(i,j) = src0(i,j) / src1(i,j)` (isa/elementwise.md 1)
    tdiv[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tdiv Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TEXP(dst, src)`: Natural exponential.
    ///
    /// `dst(i,j) = e^src(i,j)` (isa/elementwise.md 1)
    texp[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Texp Plain {Src: Src, Dst: Dst};

    /// `TFMOD(dst, src0, src1)`: Truncated remainder: a nonzero result has the sign of the dividend.
    ///
    /// `dst(i,j) = src0(i,j) - trunc(src0(i,j) / src1(i,j)) * src1(i,j)` (isa/elementwise.md 1)
    tfmod[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tfmod Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TLOG(dst, src)`: Natural logarithm.
    ///
    /// `dst(i,j) = ln(src(i,j))` (isa/elementwise.md 1)
    tlog[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tlog Plain {Src: Src, Dst: Dst};

    /// `TMAX(dst, src0, src1)`: Larger of two elements.
    ///
    /// `dst(i,j) = max(src0(i,j), src1(i,j))` (isa/elementwise.md 1)
    tmax[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tmax Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TMIN(dst, src0, src1)`: Smaller of two elements.
    ///
    /// `dst(i,j) = min(src0(i,j), src1(i,j))` (isa/elementwise.md 1)
    tmin[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tmin Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TMUL(dst, src0, src1)`: Product of two tiles.
    ///
    /// `dst(i,j) = src0(i,j) * src1(i,j)` (isa/elementwise.md 1)
    tmul[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tmul Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TNEG(dst, src)`: Sign change.
    ///
    /// `dst(i,j) = -src(i,j)` (isa/elementwise.md 1)
    tneg[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tneg Plain {Src: Src, Dst: Dst};

    /// `TNOT(dst, src)`: Bitwise complement.
    ///
    /// `dst(i,j) = ~src(i,j)` (isa/elementwise.md 1)
    tnot[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tnot Plain {Src: Src, Dst: Dst};

    /// `TOR(dst, src0, src1)`: Bitwise OR.
    ///
    /// `dst(i,j) = src0(i,j) | src1(i,j)` (isa/elementwise.md 1)
    tor[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tor Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TPOW(dst, src0, src1, tmp)`: src0 raised to the power src1; integers by repeated multiplication, wrapping.
    ///
    /// `dst(i,j) = src0(i,j) ^ src1(i,j)` (isa/elementwise.md 1)
    tpow_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Tpow Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TPOW(dst, src0, src1)`: src0 raised to the power src1; integers by repeated multiplication, wrapping.
    ///
    /// `dst(i,j) = src0(i,j) ^ src1(i,j)` (isa/elementwise.md 1)
    tpow[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tpow Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TPRELU(dst, src0, src1, tmp)`: ReLU with a slope per element.
    ///
    /// `dst(i,j) = src0(i,j) > 0 ? src0(i,j) : src1(i,j) * src0(i,j)` (isa/elementwise.md 1)
    tprelu_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Tprelu Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TPRELU(dst, src0, src1)`: ReLU with a slope per element.
    ///
    /// `dst(i,j) = src0(i,j) > 0 ? src0(i,j) : src1(i,j) * src0(i,j)` (isa/elementwise.md 1)
    tprelu[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tprelu Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TRECIP(dst, src)`: Reciprocal; integers truncate.
    ///
    /// `dst(i,j) = 1 / src(i,j)` (isa/elementwise.md 1)
    trecip[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Trecip Plain {Src: Src, Dst: Dst};

    /// `TRELU(dst, src)`: Negative elements become zero.
    ///
    /// `dst(i,j) = src(i,j) > 0 ? src(i,j) : 0` (isa/elementwise.md 1)
    trelu[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Trelu Plain {Src: Src, Dst: Dst};

    /// `TREM(dst, src0, src1, tmp)`: Floored remainder: a nonzero result has the sign of the divisor (i64: truncated, as tfmod).
    ///
    /// `dst(i,j) = src0(i,j) - floor(src0(i,j) / src1(i,j)) * src1(i,j)` (isa/elementwise.md 1)
    trem_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Trem Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TREM(dst, src0, src1)`: Floored remainder: a nonzero result has the sign of the divisor (i64: truncated, as tfmod).
    ///
    /// `dst(i,j) = src0(i,j) - floor(src0(i,j) / src1(i,j)) * src1(i,j)` (isa/elementwise.md 1)
    trem[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Trem Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TRSQRT(dst, src, tmp)`: Reciprocal of the square root, as one operation.
    ///
    /// `dst(i,j) = 1 / sqrt(src(i,j))` (isa/elementwise.md 1)
    trsqrt_tmp[Dst: AsTile, Src: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, tmp: write Tmp)
        = Trsqrt Plain {Src: Src, Dst: Dst};

    /// `TRSQRT(dst, src)`: Reciprocal of the square root, as one operation.
    ///
    /// `dst(i,j) = 1 / sqrt(src(i,j))` (isa/elementwise.md 1)
    trsqrt[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Trsqrt Plain {Src: Src, Dst: Dst};

    /// `TSEL(dst, mask, src0, src1, tmp)`: Picks src0 where the mask bit is 1, src1 where it is 0; bits are copied.
    ///
    /// `dst(i,j) = bit j mod W of mask(i, j / W) ? src0(i,j) : src1(i,j); W = bits of mask's type` (isa/elementwise.md 4)
    tsel_tmp[Dst: AsTile, Mask: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, mask: read Mask, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Tsel Plain {Mask: Mask, Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TSEL(dst, mask, src0, src1)`: Picks src0 where the mask bit is 1, src1 where it is 0; bits are copied.
    ///
    /// `dst(i,j) = bit j mod W of mask(i, j / W) ? src0(i,j) : src1(i,j); W = bits of mask's type` (isa/elementwise.md 4)
    tsel[Dst: AsTile, Mask: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, mask: read Mask, src0: read Src0, src1: read Src1)
        = Tsel Plain {Mask: Mask, Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TSHL(dst, src0, src1)`: Left shift by a count per element.
    ///
    /// `dst(i,j) = src0(i,j) << (src1(i,j) mod W)` (isa/elementwise.md 1)
    tshl[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tshl Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TSHR(dst, src0, src1)`: Right shift by a count per element; arithmetic for signed types, logical for unsigned.
    ///
    /// `dst(i,j) = src0(i,j) >> (src1(i,j) mod W)` (isa/elementwise.md 1)
    tshr[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tshr Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TSQRT(dst, src)`: Square root.
    ///
    /// `dst(i,j) = sqrt(src(i,j))` (isa/elementwise.md 1)
    tsqrt[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src)
        = Tsqrt Plain {Src: Src, Dst: Dst};

    /// `TSUB(dst, src0, src1)`: Difference of two tiles.
    ///
    /// `dst(i,j) = src0(i,j) - src1(i,j)` (isa/elementwise.md 1)
    tsub[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tsub Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TSUBC(dst, src0, src1, src2)`: Difference of two tiles plus a third.
    ///
    /// `dst(i,j) = (src0(i,j) - src1(i,j)) + src2(i,j)` (isa/elementwise.md 1)
    tsubc[Dst: AsTile, Src0: AsTile, Src1: AsTile, Src2: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, src2: read Src2)
        = Tsubc Plain {Src0: Src0, Src1: Src1, Src2: Src2, Dst: Dst};

    /// `TXOR(dst, src0, src1, tmp)`: Bitwise exclusive OR.
    ///
    /// `dst(i,j) = src0(i,j) ^ src1(i,j)` (isa/elementwise.md 1)
    txor_tmp[Dst: AsTile, Src0: AsTile, Src1: AsTile, Tmp: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, tmp: write Tmp)
        = Txor Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TXOR(dst, src0, src1)`: Bitwise exclusive OR.
    ///
    /// `dst(i,j) = src0(i,j) ^ src1(i,j)` (isa/elementwise.md 1)
    txor[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Txor Plain {Src0: Src0, Src1: Src1, Dst: Dst};
}
