//! Tile-scalar instructions (isa/scalar.md).
//!
//! Generated from the instruction table by the test `generated`; do not edit.

use crate::typed::intrinsic::intrinsics;
use crate::typed::{AsTile, Element};

intrinsics! {
    /// `TADDS(dst, src, scalar)`: Adds a scalar.
    ///
    /// `dst(i,j) = src(i,j) + s` (isa/scalar.md 1)
    tadds[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tadds Plain {Src: Src, Dst: Dst};

    /// `TADDSC(dst, src0, scalar, src1)`: Tile plus scalar plus tile.
    ///
    /// `dst(i,j) = (src0(i,j) + s) + src1(i,j)` (isa/scalar.md 1)
    taddsc[Dst: AsTile, Src0: AsTile, Scalar: Element, Src1: AsTile](dst: write Dst, src0: read Src0, scalar: value Scalar, src1: read Src1)
        = Taddsc Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TANDS(dst, src, scalar)`: Bitwise AND with a scalar.
    ///
    /// `dst(i,j) = src(i,j) & s` (isa/scalar.md 1)
    tands[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tands Plain {Src: Src, Dst: Dst};

    /// `TAXPY(dst, src, scalar)`: Adds a scaled tile to the destination, which is read and written.
    ///
    /// `dst(i,j) = dst(i,j) + src(i,j) * s` (isa/scalar.md 3)
    taxpy[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Taxpy Plain {Src: Src, Dst: Dst};

    /// `TCMPS(dst, src, scalar, cmpMode)`: Compares with a scalar; one bit per element into a mask (elementwise.md, 4).
    ///
    /// `bit j mod 8 of mask byte (i, j / 8) = src(i,j) <cmpMode> s; where the byte lies: elementwise.md, 4` (isa/scalar.md 3)
    tcmps[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar, attrs: attrs Attrs)
        = Tcmps Plain {Src: Src, Dst: Dst};

    /// `TDIVS(dst, src, scalar)`: Divides by a scalar, or a scalar by the tile: the operand order says which.
    ///
    /// `dst(i,j) = src(i,j) / s; with the scalar first: dst(i,j) = s / src(i,j)` (isa/scalar.md 3)
    tdivs[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tdivs Plain {Src: Src, Dst: Dst};

    /// `TDIVS(dst, scalar, src)`: Divides by a scalar, or a scalar by the tile: the operand order says which.
    ///
    /// `dst(i,j) = src(i,j) / s; with the scalar first: dst(i,j) = s / src(i,j)` (isa/scalar.md 3)
    tdivs_scalar_first[Dst: AsTile, Scalar: Element, Src: AsTile](dst: write Dst, scalar: value Scalar, src: read Src)
        = Tdivs ScalarFirst {Src: Src, Dst: Dst};

    /// `TEXPANDS(dst, scalar)`: Every element of the valid region (in Mat: of the declared area) becomes the scalar.
    ///
    /// `dst(i,j) = s` (isa/scalar.md 3)
    texpands[Dst: AsTile, Scalar: Element](dst: write Dst, scalar: value Scalar)
        = Texpands Plain {Dst: Dst};

    /// `TFMODS(dst, src, scalar)`: Truncated remainder by a scalar.
    ///
    /// `dst(i,j) = src(i,j) - trunc(src(i,j) / s) * s` (isa/scalar.md 1)
    tfmods[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tfmods Plain {Src: Src, Dst: Dst};

    /// `TLRELU(dst, src, scalar)`: ReLU with one slope for all elements.
    ///
    /// `dst(i,j) = src(i,j) > 0 ? src(i,j) : s * src(i,j)` (isa/scalar.md 2)
    tlrelu[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tlrelu Plain {Src: Src, Dst: Dst};

    /// `TMAXS(dst, src, scalar)`: Larger of element and scalar.
    ///
    /// `dst(i,j) = max(src(i,j), s)` (isa/scalar.md 1)
    tmaxs[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tmaxs Plain {Src: Src, Dst: Dst};

    /// `TMINS(dst, src, scalar)`: Smaller of element and scalar.
    ///
    /// `dst(i,j) = min(src(i,j), s)` (isa/scalar.md 1)
    tmins[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tmins Plain {Src: Src, Dst: Dst};

    /// `TMULS(dst, src, scalar)`: Multiplies by a scalar.
    ///
    /// `dst(i,j) = src(i,j) * s` (isa/scalar.md 1)
    tmuls[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tmuls Plain {Src: Src, Dst: Dst};

    /// `TORS(dst, src, scalar)`: Bitwise OR with a scalar.
    ///
    /// `dst(i,j) = src(i,j) | s` (isa/scalar.md 1)
    tors[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tors Plain {Src: Src, Dst: Dst};

    /// `TPOWS(dst, src, scalar, tmp)`: Power with a scalar exponent.
    ///
    /// `dst(i,j) = src(i,j) ^ s` (isa/scalar.md 1)
    tpows_tmp[Dst: AsTile, Src: AsTile, Scalar: Element, Tmp: AsTile](dst: write Dst, src: read Src, scalar: value Scalar, tmp: write Tmp)
        = Tpows Plain {Src: Src, Dst: Dst};

    /// `TPOWS(dst, src, scalar)`: Power with a scalar exponent.
    ///
    /// `dst(i,j) = src(i,j) ^ s` (isa/scalar.md 1)
    tpows[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tpows Plain {Src: Src, Dst: Dst};

    /// `TREMS(dst, src, scalar, tmp)`: Floored remainder by a scalar.
    ///
    /// `dst(i,j) = src(i,j) - floor(src(i,j) / s) * s` (isa/scalar.md 1)
    trems_tmp[Dst: AsTile, Src: AsTile, Scalar: Element, Tmp: AsTile](dst: write Dst, src: read Src, scalar: value Scalar, tmp: write Tmp)
        = Trems Plain {Src: Src, Dst: Dst};

    /// `TREMS(dst, src, scalar)`: Floored remainder by a scalar.
    ///
    /// `dst(i,j) = src(i,j) - floor(src(i,j) / s) * s` (isa/scalar.md 1)
    trems[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Trems Plain {Src: Src, Dst: Dst};

    /// `TSELS(dst, mask, src, tmp, scalar)`: Picks src where the mask bit is 1, the scalar where it is 0; bits are copied.
    ///
    /// `dst(i,j) = bit j mod W of mask(i, j / W) ? src(i,j) : s; W = bits of mask's type` (isa/scalar.md 3)
    tsels_tmp[Dst: AsTile, Mask: AsTile, Src: AsTile, Tmp: AsTile, Scalar: Element](dst: write Dst, mask: read Mask, src: read Src, tmp: write Tmp, scalar: value Scalar)
        = Tsels Plain {Mask: Mask, Src: Src, Dst: Dst};

    /// `TSELS(dst, mask, src, scalar)`: Picks src where the mask bit is 1, the scalar where it is 0; bits are copied.
    ///
    /// `dst(i,j) = bit j mod W of mask(i, j / W) ? src(i,j) : s; W = bits of mask's type` (isa/scalar.md 3)
    tsels[Dst: AsTile, Mask: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, mask: read Mask, src: read Src, scalar: value Scalar)
        = Tsels Plain {Mask: Mask, Src: Src, Dst: Dst};

    /// `TSHLS(dst, src, scalar)`: Left shift by one count.
    ///
    /// `dst(i,j) = src(i,j) << (s mod W)` (isa/scalar.md 1)
    tshls[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tshls Plain {Src: Src, Dst: Dst};

    /// `TSHRS(dst, src, scalar)`: Right shift by one count; arithmetic for signed types, logical for unsigned.
    ///
    /// `dst(i,j) = src(i,j) >> (s mod W)` (isa/scalar.md 1)
    tshrs[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tshrs Plain {Src: Src, Dst: Dst};

    /// `TSUBS(dst, src, scalar)`: Subtracts a scalar.
    ///
    /// `dst(i,j) = src(i,j) - s` (isa/scalar.md 1)
    tsubs[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Tsubs Plain {Src: Src, Dst: Dst};

    /// `TSUBSC(dst, src0, scalar, src1)`: Tile minus scalar plus tile.
    ///
    /// `dst(i,j) = (src0(i,j) - s) + src1(i,j)` (isa/scalar.md 1)
    tsubsc[Dst: AsTile, Src0: AsTile, Scalar: Element, Src1: AsTile](dst: write Dst, src0: read Src0, scalar: value Scalar, src1: read Src1)
        = Tsubsc Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TXORS(dst, src, scalar, tmp)`: Bitwise exclusive OR with a scalar.
    ///
    /// `dst(i,j) = src(i,j) ^ s` (isa/scalar.md 1)
    txors_tmp[Dst: AsTile, Src: AsTile, Scalar: Element, Tmp: AsTile](dst: write Dst, src: read Src, scalar: value Scalar, tmp: write Tmp)
        = Txors Plain {Src: Src, Dst: Dst};

    /// `TXORS(dst, src, scalar)`: Bitwise exclusive OR with a scalar.
    ///
    /// `dst(i,j) = src(i,j) ^ s` (isa/scalar.md 1)
    txors[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar)
        = Txors Plain {Src: Src, Dst: Dst};
}
