//! Instructions whose data decides where (isa/irregular.md).
//!
//! Generated from the instruction table by the test `generated`; do not edit.

use crate::typed::intrinsic::intrinsics;
use crate::typed::{AsTile, Element};

intrinsics! {
    /// `TCI(dst, scalar, descending)`: Consecutive integers in one row, upward or downward from a start value.
    ///
    /// `dst(0,j) = scalar + j, descending: scalar - j; modulo 2^W` (isa/irregular.md 3)
    tci[Dst: AsTile, Scalar: Element](dst: write Dst, scalar: value Scalar, descending: flag Descending)
        = Tci Plain {Dst: Dst};

    /// `TTRI(dst, scalar, upperOrLower)`: A triangular matrix of ones and zeros.
    ///
    /// `d = diagonal; lower: dst(i,j) = (j <= i + d ? 1 : 0); upper: dst(i,j) = (j >= i + d ? 1 : 0)` (isa/irregular.md 3)
    ttri[Dst: AsTile, Scalar: Element](dst: write Dst, scalar: value Scalar)
        = Ttri Plain {Dst: Dst};

    /// `TRANDOM(dst, key0, key1, counter0, counter1, counter2, counter3, rounds)`: Counter-based pseudo-random 32-bit words: Philox 4x32.
    ///
    /// `dst(i,j) = word (j mod 4) of philox(counter + i*A + j/4, key, rounds); A: irregular.md, 5` (isa/irregular.md 5)
    trandom[Dst: AsTile, Key0: Element, Key1: Element, Counter0: Element, Counter1: Element, Counter2: Element, Counter3: Element](dst: write Dst, key0: value Key0, key1: value Key1, counter0: value Counter0, counter1: value Counter1, counter2: value Counter2, counter3: value Counter3)
        = Trandom Plain {Dst: Dst};

    /// `THISTOGRAM(dst, src, idx, isMSB, byte)`: Per row, the cumulative histogram of one byte of every element that passes a filter on the higher bytes.
    ///
    /// `dst(i,b) = #{ j : pass(i,j) and byte(src(i,j)) <= b }, b = 0..255` (isa/irregular.md 3)
    thistogram[Dst: AsTile, Src: AsTile, Idx: AsTile](dst: write Dst, src: read Src, idx: read Idx, is_msb: flag IsMsb)
        = Thistogram Plain {Src: Src, Idx: Idx, Dst: Dst};

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

    /// `TGATHER(dst, src, scalar, cdst, tmp, cmpMode, offset)`: Picks elements of src by linear index.
    ///
    /// `k = idx(i,j); dst(i,j) = src(k / src.C, k mod src.C)` (isa/irregular.md 4)
    tgather_compare_tmp[Dst: AsTile, Src: AsTile, Scalar: Element, Cdst: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, scalar: value Scalar, cdst: write Cdst, tmp: write Tmp, attrs: attrs Attrs)
        = Tgather Compare {Src: Src, Dst: Dst, Cdst: Cdst};

    /// `TGATHER(dst, src, scalar, cdst, cmpMode, offset)`: Picks elements of src by linear index.
    ///
    /// `k = idx(i,j); dst(i,j) = src(k / src.C, k mod src.C)` (isa/irregular.md 4)
    tgather_compare[Dst: AsTile, Src: AsTile, Scalar: Element, Cdst: AsTile](dst: write Dst, src: read Src, scalar: value Scalar, cdst: write Cdst, attrs: attrs Attrs)
        = Tgather Compare {Src: Src, Dst: Dst, Cdst: Cdst};

    /// `TGATHER(dst, src, maskPattern)`: Picks elements of src by linear index.
    ///
    /// `k = idx(i,j); dst(i,j) = src(k / src.C, k mod src.C)` (isa/irregular.md 4)
    tgather_mask[Dst: AsTile, Src: AsTile](dst: write Dst, src: read Src, attrs: attrs Attrs)
        = Tgather Mask {Src: Src, Dst: Dst};

    /// `TGATHERB(dst, src, idx)`: Gathers blocks of 32 bytes by byte offset.
    ///
    /// `dst(i, b*C0 + k) = element of the bytes idx(i,b) + k*sz ... of src's storage, k < C0` (isa/irregular.md 4)
    tgatherb[Dst: AsTile, Src: AsTile, Idx: AsTile](dst: write Dst, src: read Src, idx: read Idx)
        = Tgatherb Plain {Src: Src, Idx: Idx, Dst: Dst};

    /// `TSCATTER(dst, src, idx)`: Writes each element of src to the element of dst that its index names.
    ///
    /// `k = idx(i,j); dst(k / dst.C, k mod dst.C) = src(i,j), in row-major order of (i,j)` (isa/irregular.md 4)
    tscatter[Dst: AsTile, Src: AsTile, Idx: AsTile](dst: write Dst, src: read Src, idx: read Idx)
        = Tscatter Plain {Src: Src, Idx: Idx, Dst: Dst};

    /// `TSORT32(dst, src, idx, tmp)`: Sorts every 32 columns of a row downward and writes (value, index) records.
    ///
    /// `record n of block b of row i in dst = (src(i,j), idx(i,j)), j the n-th column of the block in descending order of src` (isa/irregular.md 6)
    tsort32_tmp[Dst: AsTile, Src: AsTile, Idx: AsTile, Tmp: AsTile](dst: write Dst, src: read Src, idx: read Idx, tmp: write Tmp)
        = Tsort32 Plain {Src: Src, Idx: Idx, Dst: Dst};

    /// `TSORT32(dst, src, idx)`: Sorts every 32 columns of a row downward and writes (value, index) records.
    ///
    /// `record n of block b of row i in dst = (src(i,j), idx(i,j)), j the n-th column of the block in descending order of src` (isa/irregular.md 6)
    tsort32[Dst: AsTile, Src: AsTile, Idx: AsTile](dst: write Dst, src: read Src, idx: read Idx)
        = Tsort32 Plain {Src: Src, Idx: Idx, Dst: Dst};

    /// `TMRGSORT(dst, src, scalar, exhausted)`: Merges each four neighbouring sorted blocks of records of one row.
    ///
    /// `for g < src.Cv / (4*blockLen): records of columns 4*g*blockLen ... of dst = merge of the four blocks of blockLen columns there` (isa/irregular.md 6)
    tmrgsort[Dst: AsTile, Src: AsTile, Scalar: Element](dst: write Dst, src: read Src, scalar: value Scalar, exhausted: flag Exhausted)
        = Tmrgsort Blocks {Src: Src, Dst: Dst};

    /// `TMRGSORT(dst, executed, tmp, src0, src1, src2, src3, exhausted)`: Merges each four neighbouring sorted blocks of records of one row.
    ///
    /// `for g < src.Cv / (4*blockLen): records of columns 4*g*blockLen ... of dst = merge of the four blocks of blockLen columns there` (isa/irregular.md 6)
    tmrgsort_lists_src2_src3_tmp[Dst: AsTile, Executed: AsTile, Tmp: AsTile, Src0: AsTile, Src1: AsTile, Src2: AsTile, Src3: AsTile](dst: write Dst, executed: write Executed, tmp: write Tmp, src0: read Src0, src1: read Src1, src2: read Src2, src3: read Src3, exhausted: flag Exhausted)
        = Tmrgsort Lists {Src0: Src0, Src1: Src1, Src2: Src2, Src3: Src3, Dst: Dst};

    /// `TMRGSORT(dst, executed, tmp, src0, src1, src2, exhausted)`: Merges each four neighbouring sorted blocks of records of one row.
    ///
    /// `for g < src.Cv / (4*blockLen): records of columns 4*g*blockLen ... of dst = merge of the four blocks of blockLen columns there` (isa/irregular.md 6)
    tmrgsort_lists_src2_tmp[Dst: AsTile, Executed: AsTile, Tmp: AsTile, Src0: AsTile, Src1: AsTile, Src2: AsTile](dst: write Dst, executed: write Executed, tmp: write Tmp, src0: read Src0, src1: read Src1, src2: read Src2, exhausted: flag Exhausted)
        = Tmrgsort Lists {Src0: Src0, Src1: Src1, Src2: Src2, Dst: Dst};

    /// `TMRGSORT(dst, executed, tmp, src0, src1, exhausted)`: Merges each four neighbouring sorted blocks of records of one row.
    ///
    /// `for g < src.Cv / (4*blockLen): records of columns 4*g*blockLen ... of dst = merge of the four blocks of blockLen columns there` (isa/irregular.md 6)
    tmrgsort_lists_tmp[Dst: AsTile, Executed: AsTile, Tmp: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, executed: write Executed, tmp: write Tmp, src0: read Src0, src1: read Src1, exhausted: flag Exhausted)
        = Tmrgsort Lists {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TMRGSORT(dst, executed, src0, src1, src2, src3, exhausted)`: Merges each four neighbouring sorted blocks of records of one row.
    ///
    /// `for g < src.Cv / (4*blockLen): records of columns 4*g*blockLen ... of dst = merge of the four blocks of blockLen columns there` (isa/irregular.md 6)
    tmrgsort_lists_src2_src3[Dst: AsTile, Executed: AsTile, Src0: AsTile, Src1: AsTile, Src2: AsTile, Src3: AsTile](dst: write Dst, executed: write Executed, src0: read Src0, src1: read Src1, src2: read Src2, src3: read Src3, exhausted: flag Exhausted)
        = Tmrgsort Lists {Src0: Src0, Src1: Src1, Src2: Src2, Src3: Src3, Dst: Dst};

    /// `TMRGSORT(dst, executed, src0, src1, src2, exhausted)`: Merges each four neighbouring sorted blocks of records of one row.
    ///
    /// `for g < src.Cv / (4*blockLen): records of columns 4*g*blockLen ... of dst = merge of the four blocks of blockLen columns there` (isa/irregular.md 6)
    tmrgsort_lists_src2[Dst: AsTile, Executed: AsTile, Src0: AsTile, Src1: AsTile, Src2: AsTile](dst: write Dst, executed: write Executed, src0: read Src0, src1: read Src1, src2: read Src2, exhausted: flag Exhausted)
        = Tmrgsort Lists {Src0: Src0, Src1: Src1, Src2: Src2, Dst: Dst};

    /// `TMRGSORT(dst, executed, src0, src1, exhausted)`: Merges each four neighbouring sorted blocks of records of one row.
    ///
    /// `for g < src.Cv / (4*blockLen): records of columns 4*g*blockLen ... of dst = merge of the four blocks of blockLen columns there` (isa/irregular.md 6)
    tmrgsort_lists[Dst: AsTile, Executed: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, executed: write Executed, src0: read Src0, src1: read Src1, exhausted: flag Exhausted)
        = Tmrgsort Lists {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `SETVAL(dst, index, scalar)`: Writes a scalar into one element.
    ///
    /// `element k of dst's storage = scalar, k = index` (isa/irregular.md 9)
    tsetval[Dst: AsTile, Scalar: Element](dst: write Dst, index: index Index, scalar: value Scalar)
        = Tsetval Plain {Dst: Dst};

    /// `TPARTADD(dst, src0, src1)`: Sum where both sources are valid, a copy where only one is.
    ///
    /// `dst(i,j) = src0(i,j) + src1(i,j) where both are valid, else the valid one` (isa/irregular.md 7)
    tpartadd[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tpartadd Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TPARTMUL(dst, src0, src1)`: Product where both sources are valid, a copy where only one is.
    ///
    /// `dst(i,j) = src0(i,j) * src1(i,j) where both are valid, else the valid one` (isa/irregular.md 7)
    tpartmul[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tpartmul Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TPARTMAX(dst, src0, src1)`: Maximum where both sources are valid, a copy where only one is.
    ///
    /// `dst(i,j) = max(src0(i,j), src1(i,j)) where both are valid, else the valid one` (isa/irregular.md 7)
    tpartmax[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tpartmax Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TPARTMIN(dst, src0, src1)`: Minimum where both sources are valid, a copy where only one is.
    ///
    /// `dst(i,j) = min(src0(i,j), src1(i,j)) where both are valid, else the valid one` (isa/irregular.md 7)
    tpartmin[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: write Dst, src0: read Src0, src1: read Src1)
        = Tpartmin Plain {Src0: Src0, Src1: Src1, Dst: Dst};

    /// `TPARTARGMAX(dst, src0, src1, dstIdx, src0Idx, src1Idx)`: Greater value with its index where both sources are valid, a copy where only one is.
    ///
    /// `(dst, dstIdx)(i,j) = (src0, src0Idx)(i,j) if src0(i,j) >= src1(i,j), else (src1, src1Idx)(i,j)` (isa/irregular.md 7)
    tpartargmax[Dst: AsTile, Src0: AsTile, Src1: AsTile, DstIdx: AsTile, Src0Idx: AsTile, Src1Idx: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, dst_idx: write DstIdx, src0_idx: read Src0Idx, src1_idx: read Src1Idx)
        = Tpartargmax Plain {Src0: Src0, Src1: Src1, Src0Idx: Src0Idx, Src1Idx: Src1Idx, Dst: Dst, DstIdx: DstIdx};

    /// `TPARTARGMIN(dst, src0, src1, dstIdx, src0Idx, src1Idx)`: Smaller value with its index where both sources are valid, a copy where only one is.
    ///
    /// `(dst, dstIdx)(i,j) = (src0, src0Idx)(i,j) if src0(i,j) <= src1(i,j), else (src1, src1Idx)(i,j)` (isa/irregular.md 7)
    tpartargmin[Dst: AsTile, Src0: AsTile, Src1: AsTile, DstIdx: AsTile, Src0Idx: AsTile, Src1Idx: AsTile](dst: write Dst, src0: read Src0, src1: read Src1, dst_idx: write DstIdx, src0_idx: read Src0Idx, src1_idx: read Src1Idx)
        = Tpartargmin Plain {Src0: Src0, Src1: Src1, Src0Idx: Src0Idx, Src1Idx: Src1Idx, Dst: Dst, DstIdx: DstIdx};

    /// `TQUANT(dst, src, fp, offset, quant_type)`: Affine quantization of f32 to 8-bit integers, one factor (and offset) per row.
    ///
    /// `INT8_SYM: dst = clamp(rne(src*fp)); INT8_ASYM: dst = clamp(rne(src*fp + offset))` (isa/irregular.md 8)
    tquant_offset[Dst: AsTile, Src: AsTile, Fp: AsTile, Offset: AsTile](dst: write Dst, src: read Src, fp: read Fp, offset: read Offset, attrs: attrs Attrs)
        = Tquant Plain {Src: Src, Fp: Fp, Offset: Offset, Dst: Dst};

    /// `TQUANT(dst, src, fp, quant_type)`: Affine quantization of f32 to 8-bit integers, one factor (and offset) per row.
    ///
    /// `INT8_SYM: dst = clamp(rne(src*fp)); INT8_ASYM: dst = clamp(rne(src*fp + offset))` (isa/irregular.md 8)
    tquant[Dst: AsTile, Src: AsTile, Fp: AsTile](dst: write Dst, src: read Src, fp: read Fp, attrs: attrs Attrs)
        = Tquant Plain {Src: Src, Fp: Fp, Dst: Dst};

    /// `TDEQUANT(dst, src, scale, offset)`: Integers back to f32 with a scale and an offset per row.
    ///
    /// `dst(i,j) = (f32(src(i,j)) - offset(i,0)) * scale(i,0)` (isa/irregular.md 8)
    tdequant[Dst: AsTile, Src: AsTile, Scale: AsTile, Offset: AsTile](dst: write Dst, src: read Src, scale: read Scale, offset: read Offset)
        = Tdequant Plain {Src: Src, Scale: Scale, Offset: Offset, Dst: Dst};
}
