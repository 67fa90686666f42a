// TRESHAPE, TTRANS, TCONCAT, TPACK, TINTERLEAVE and TDEINTERLEAVE (ops.md 4, 5, 6 and 8).

#ifndef PTO_COMMON_REARRANGE_HPP
#define PTO_COMMON_REARRANGE_HPP

#include <pto/common/global_tensor.hpp>
#include <pto/common/issue.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {

// The rows and columns that TRESHAPE's destination must have.
struct ShapeRef {
    int64_t rows;
    int64_t cols;

    ShapeRef(int64_t newRows, int64_t newCols) : rows(newRows), cols(newCols) {}
    // The last dimension is the columns, all others together are the rows.
    template <int64_t... Ds>
    ShapeRef(const Shape<Ds...> &shape) : rows(1), cols(shape[shape.rank - 1])
    {
        for (int i = 0; i + 1 < shape.rank; ++i) {
            rows *= shape[i];
        }
    }
};

namespace detail {

// dst lies where src does. A window of a wider tile keeps its pitch, so both need the same lines.
template <typename TileDataOut, typename TileDataIn>
inline void BindReshaped(TileDataOut &dst, TileDataIn &src)
{
    const uint64_t pitch = Access::Pitch(src);
    if (pitch == 0) {
        Access::Rebind(dst, src, 0, 0);
        return;
    }
    const auto lines = [](const TileInfo &t) { return t.blayout == BLayout::RowMajor ? t.rows : t.cols; };
    if (TileDataOut::isBoxedLayout || lines(TileDataOut::Info) != lines(TileDataIn::Info)) {
        Fail("treshape-bytes", "the source is a window of a wider tile, and the destination has other lines: move the "
                               "window to a tile of its own first");
        return;
    }
    const uint64_t bits = pitch * static_cast<uint64_t>(TileDataIn::Info.bits);
    Access::Rebind(dst, src, 0, bits / static_cast<uint64_t>(TileDataOut::Info.bits));
}

template <typename TileDataOut, typename TileDataIn>
inline RecordEvent Reshape(TileDataOut &dst, TileDataIn &src, const ShapeRef *shape)
{
    PTO_STATIC_RULE(TileDataIn::Loc == TileDataOut::Loc, "treshape-loc: both tiles have one location");
    PTO_STATIC_RULE(TileDataIn::isBoxedLayout == TileDataOut::isBoxedLayout,
                    "treshape-box: both tiles are boxed or both are not");
    PTO_STATIC_RULE(TileDataIn::Info.Bytes() == TileDataOut::Info.Bytes(),
                    "treshape-bytes: both tiles have the same declared bytes");
    // cpu copies; a2a3 and a5 bind dst to the storage of src, so dst needs none of its own.
    const bool copies = GetProfile() == Profile::Cpu;
    Call call(TESSERA_OP_TRESHAPE);
    call.Tile(TESSERA_ROLE_DST, dst, copies).Src(src);
    if (shape != nullptr) {
        call.Attr(TESSERA_ATTR_NAME_SHAPE, shape->rows, shape->cols);
    }
    if (call.Done() && !copies) {
        BindReshaped(dst, src);
    }
    return {};
}

template <typename Dst, typename Src>
constexpr void CheckInterleave()
{
    PTO_STATIC_FLOW_IDS(kTinterleaveSigs, Form::Plain, Src::Info, Dst::Info, "tinterleave-profile", "tinterleave-loc",
                        "tinterleave-layout", "tinterleave-dtype");
    PTO_STATIC_RULE(Dst::ValidCol < 0 || Dst::ValidCol % 2 == 0,
                    "tinterleave-even: the number of valid columns is even");
}

template <typename Dst1, typename Dst0, typename Src1, typename Src0>
inline RecordEvent Interleave(TesseraOp op, Dst1 &dst1, Dst0 &dst0, Src1 &src1, Src0 &src0)
{
    CheckInterleave<Dst0, Src0>();
    CheckInterleave<Dst1, Src1>();
    return Call(op)
        .Tile(TESSERA_ROLE_DST0, dst0)
        .Tile(TESSERA_ROLE_DST1, dst1)
        .Tile(TESSERA_ROLE_SRC0, src0)
        .Tile(TESSERA_ROLE_SRC1, src1)
        .Issue();
}

// The general overloads, for tiles of different types, step back where the one of the reference page fits.
template <typename Dst1, typename Dst0, typename Src1, typename Src0, typename... WaitEvents>
using MixedEventIf = std::enable_if_t<!(std::is_same_v<Dst1, Dst0> && std::is_same_v<Src1, Src0>) && IsTile<Src0> &&
                                          (IsEvent<WaitEvents> && ...),
                                      RecordEvent>;
// One source: the third operand is a tile and nothing else is.
template <typename Dst1, typename Dst0, typename Src, typename... WaitEvents>
inline RecordEvent Deinterleave(Dst1 &dst1, Dst0 &dst0, Src &src)
{
    PTO_STATIC_FLOW_IDS(kTdeinterleaveSigs, Form::OneSource, Src::Info, Dst0::Info, "tinterleave-profile",
                        "tinterleave-loc", "tinterleave-layout", "tinterleave-dtype");
    PTO_STATIC_FLOW_IDS(kTdeinterleaveSigs, Form::OneSource, Src::Info, Dst1::Info, "tinterleave-profile",
                        "tinterleave-loc", "tinterleave-layout", "tinterleave-dtype");
    return Call(TESSERA_OP_TDEINTERLEAVE)
        .Tile(TESSERA_ROLE_DST0, dst0)
        .Tile(TESSERA_ROLE_DST1, dst1)
        .Tile(TESSERA_ROLE_SRC0, src)
        .Issue();
}

} // namespace detail

template <typename TileDataOut, typename TileDataIn, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TRESHAPE(TileDataOut &dst, TileDataIn &src, WaitEvents &...)
{
    return detail::Reshape(dst, src, nullptr);
}

template <typename TileDataOut, typename TileDataIn, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TRESHAPE(TileDataOut &dst, TileDataIn &src, ShapeRef newShape, WaitEvents &...)
{
    return detail::Reshape(dst, src, &newShape);
}

namespace detail {

template <typename TileDataDst, typename TileDataSrc>
constexpr void CheckTranspose()
{
    PTO_STATIC_FLOW("ttrans", kTtransSigs, Form::Plain, TileDataSrc::Info, TileDataDst::Info);
    PTO_STATIC_RULE(TileDataSrc::Info.bits == TileDataDst::Info.bits,
                    "ttrans-size: both element types have the same size");
}

} // namespace detail

template <typename TileDataDst, typename TileDataSrc, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TTRANS(TileDataDst &dst, TileDataSrc &src, WaitEvents &...)
{
    detail::CheckTranspose<TileDataDst, TileDataSrc>();
    return detail::Call(TESSERA_OP_TTRANS).Dst(dst).Src(src).Issue();
}

template <typename TileDataDst, typename TileDataSrc, typename TileDataTmp, typename... WaitEvents>
PTO_INST detail::TileEventIf<TileDataTmp, WaitEvents...> TTRANS(TileDataDst &dst, TileDataSrc &src, TileDataTmp &tmp,
                                                                WaitEvents &...)
{
    detail::CheckTranspose<TileDataDst, TileDataSrc>();
    PTO_STATIC_RULE(TileDataTmp::Loc == TileDataSrc::Loc && TileDataTmp::Info.bits == TileDataSrc::Info.bits,
                    "ttrans-tmp: tmp has the source's location and element size");
    return detail::Call(TESSERA_OP_TTRANS).Dst(dst).Src(src).Tile(TESSERA_ROLE_TMP, tmp).Issue();
}

namespace detail {

template <typename Dst, typename Src0, typename Src1>
constexpr void CheckConcat()
{
    PTO_STATIC_FLOW("tconcat", kTconcatSigs, Form::Plain, Src0::Info, Dst::Info);
    PTO_STATIC_FLOW("tconcat", kTconcatSigs, Form::Plain, Src1::Info, Dst::Info);
}

template <typename Dst, typename Src0, typename Src1>
inline Call &Concat(Call &call, Dst &dst, Src0 &src0, Src1 &src1)
{
    CheckConcat<Dst, Src0, Src1>();
    return call.Dst(dst).Tile(TESSERA_ROLE_SRC0, src0).Tile(TESSERA_ROLE_SRC1, src1);
}

} // namespace detail

template <typename DstTileData, typename Src0TileData, typename Src1TileData, typename... WaitEvents>
PTO_INST detail::TileEventIf<Src1TileData, WaitEvents...> TCONCAT(DstTileData &dst, Src0TileData &src0,
                                                                  Src1TileData &src1, WaitEvents &...)
{
    detail::Call call(TESSERA_OP_TCONCAT);
    return detail::Concat(call, dst, src0, src1).Issue();
}

// dim 1 joins columns, dim 0 rows (cpu only).
template <int dim, typename DstTileData, typename Src0TileData, typename Src1TileData, typename... WaitEvents>
PTO_INST detail::TileEventIf<Src1TileData, WaitEvents...> TCONCAT(DstTileData &dst, Src0TileData &src0,
                                                                  Src1TileData &src1, WaitEvents &...)
{
    PTO_STATIC_RULE(dim == 1 || (dim == 0 && kProfile == Profile::Cpu), "tconcat-dim: dim is 1 (cpu: or 0)");
    detail::Call call(TESSERA_OP_TCONCAT);
    return detail::Concat(call, dst, src0, src1).Attr(TESSERA_ATTR_NAME_DIM, dim).Issue();
}

// As many columns of each source as the index tiles say, in bytes of the index type per row.
template <typename DstTileData, typename Src0TileData, typename Src1TileData, typename Idx0TileData,
          typename Idx1TileData, typename... WaitEvents>
PTO_INST detail::TileEventIf<Idx1TileData, WaitEvents...> TCONCAT(DstTileData &dst, Src0TileData &src0,
                                                                  Src1TileData &src1, Idx0TileData &idx0,
                                                                  Idx1TileData &idx1, WaitEvents &...)
{
    detail::Call call(TESSERA_OP_TCONCAT);
    return detail::Concat(call, dst, src0, src1).Tile(TESSERA_ROLE_IDX0, idx0).Tile(TESSERA_ROLE_IDX1, idx1).Issue();
}

// The same, with the joined counts as a second destination.
template <typename DstTileData, typename DstIdxTileData, typename Src0TileData, typename Src1TileData,
          typename Idx0TileData, typename Idx1TileData, typename... WaitEvents>
PTO_INST detail::TileEventIf<Idx1TileData, WaitEvents...> TCONCAT(DstTileData &dst, DstIdxTileData &dstIdx,
                                                                  Src0TileData &src0, Src1TileData &src1,
                                                                  Idx0TileData &idx0, Idx1TileData &idx1,
                                                                  WaitEvents &...)
{
    detail::Call call(TESSERA_OP_TCONCAT);
    return detail::Concat(call, dst, src0, src1)
        .Tile(TESSERA_ROLE_IDX0, idx0)
        .Tile(TESSERA_ROLE_IDX1, idx1)
        .Tile(TESSERA_ROLE_DST_IDX, dstIdx)
        .Issue();
}

template <typename DstTileData, typename SrcTileData, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TPACK(DstTileData &dst, SrcTileData &src, WaitEvents &...)
{
    PTO_STATIC_FLOW_IDS(kTpackSigs, detail::Form::Plain, SrcTileData::Info, DstTileData::Info, "tpack-profile",
                        "tpack-layout", "tpack-layout", "tpack-size");
    PTO_STATIC_RULE(SrcTileData::Info.bits <= 32 && SrcTileData::Info.bits > DstTileData::Info.bits &&
                        DstTileData::Info.bits >= 8,
                    "tpack-size: elements narrow from 4 bytes to 2 or 1, or from 2 to 1");
    return detail::Call(TESSERA_OP_TPACK).Dst(dst).Src(src).Issue();
}

// The operand order is (dst1, dst0, src1, src0): dst0 receives the first half of the interleaved stream.
template <typename TileDataDst, typename TileDataSrc, typename... WaitEvents>
PTO_INST detail::TileEventIf<TileDataSrc, WaitEvents...> TInterleave(TileDataDst &dst1, TileDataDst &dst0,
                                                                     TileDataSrc &src1, TileDataSrc &src0,
                                                                     WaitEvents &...)
{
    return detail::Interleave(TESSERA_OP_TINTERLEAVE, dst1, dst0, src1, src0);
}
template <typename Dst1, typename Dst0, typename Src1, typename Src0, typename... WaitEvents>
PTO_INST detail::MixedEventIf<Dst1, Dst0, Src1, Src0, WaitEvents...> TInterleave(Dst1 &dst1, Dst0 &dst0, Src1 &src1,
                                                                                 Src0 &src0, WaitEvents &...)
{
    return detail::Interleave(TESSERA_OP_TINTERLEAVE, dst1, dst0, src1, src0);
}
template <typename TileDataDst, typename TileDataSrc, typename... WaitEvents>
PTO_INST detail::TileEventIf<TileDataSrc, WaitEvents...> TINTERLEAVE(TileDataDst &dst1, TileDataDst &dst0,
                                                                     TileDataSrc &src1, TileDataSrc &src0,
                                                                     WaitEvents &...)
{
    return detail::Interleave(TESSERA_OP_TINTERLEAVE, dst1, dst0, src1, src0);
}
template <typename Dst1, typename Dst0, typename Src1, typename Src0, typename... WaitEvents>
PTO_INST detail::MixedEventIf<Dst1, Dst0, Src1, Src0, WaitEvents...> TINTERLEAVE(Dst1 &dst1, Dst0 &dst0, Src1 &src1,
                                                                                 Src0 &src0, WaitEvents &...)
{
    return detail::Interleave(TESSERA_OP_TINTERLEAVE, dst1, dst0, src1, src0);
}

template <typename TileDataDst, typename TileDataSrc, typename... WaitEvents>
PTO_INST detail::TileEventIf<TileDataSrc, WaitEvents...> TDeInterleave(TileDataDst &dst1, TileDataDst &dst0,
                                                                       TileDataSrc &src1, TileDataSrc &src0,
                                                                       WaitEvents &...)
{
    return detail::Interleave(TESSERA_OP_TDEINTERLEAVE, dst1, dst0, src1, src0);
}
template <typename Dst1, typename Dst0, typename Src1, typename Src0, typename... WaitEvents>
PTO_INST detail::MixedEventIf<Dst1, Dst0, Src1, Src0, WaitEvents...> TDeInterleave(Dst1 &dst1, Dst0 &dst0, Src1 &src1,
                                                                                   Src0 &src0, WaitEvents &...)
{
    return detail::Interleave(TESSERA_OP_TDEINTERLEAVE, dst1, dst0, src1, src0);
}
template <typename TileDataDst, typename TileDataSrc, typename... WaitEvents>
PTO_INST detail::TileEventIf<TileDataSrc, WaitEvents...> TDEINTERLEAVE(TileDataDst &dst1, TileDataDst &dst0,
                                                                       TileDataSrc &src1, TileDataSrc &src0,
                                                                       WaitEvents &...)
{
    return detail::Interleave(TESSERA_OP_TDEINTERLEAVE, dst1, dst0, src1, src0);
}
template <typename Dst1, typename Dst0, typename Src1, typename Src0, typename... WaitEvents>
PTO_INST detail::MixedEventIf<Dst1, Dst0, Src1, Src0, WaitEvents...> TDEINTERLEAVE(Dst1 &dst1, Dst0 &dst0, Src1 &src1,
                                                                                   Src0 &src0, WaitEvents &...)
{
    return detail::Interleave(TESSERA_OP_TDEINTERLEAVE, dst1, dst0, src1, src0);
}

// One source, which holds the whole stream.
template <typename Dst1, typename Dst0, typename Src, typename... WaitEvents>
PTO_INST detail::TileEventIf<Src, WaitEvents...> TDeInterleave(Dst1 &dst1, Dst0 &dst0, Src &src, WaitEvents &...)
{
    return detail::Deinterleave(dst1, dst0, src);
}
template <typename Dst1, typename Dst0, typename Src, typename... WaitEvents>
PTO_INST detail::TileEventIf<Src, WaitEvents...> TDEINTERLEAVE(Dst1 &dst1, Dst0 &dst0, Src &src, WaitEvents &...)
{
    return detail::Deinterleave(dst1, dst0, src);
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
