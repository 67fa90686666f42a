// TFILLPAD, TFILLPAD_INPLACE and TFILLPAD_EXPAND (ops.md 6).

#ifndef PTO_COMMON_FILL_HPP
#define PTO_COMMON_FILL_HPP

#include <pto/common/issue.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace detail {

template <typename Dst, typename Src>
constexpr void CheckFillpad()
{
    PTO_STATIC_FLOW("tfillpad", kTfillpadSigs, Form::Plain, Src::Info, Dst::Info);
    PTO_STATIC_RULE(Dst::PadVal != PadValue::Null, "tfillpad-pad: the destination's pad is not Null");
}

template <typename Dst, typename Src>
constexpr void CheckSameShape()
{
    PTO_STATIC_RULE(Dst::Rows == Src::Rows && Dst::Cols == Src::Cols, "tfillpad-shape: declared shapes are equal");
}

template <typename Dst>
constexpr void CheckFill()
{
    PTO_STATIC_FLOW("tfillpad", kTfillpadSigs, Form::Fill, Dst::Info, Dst::Info);
}

} // namespace detail

// The valid region of src, and dst's pad value everywhere else of its declared area.
template <typename DstTileData, typename SrcTileData, typename... WaitEvents>
PTO_INST detail::TileEventIf<SrcTileData, WaitEvents...> TFILLPAD(DstTileData &dst, SrcTileData &src, WaitEvents &...)
{
    detail::CheckFillpad<DstTileData, SrcTileData>();
    detail::CheckSameShape<DstTileData, SrcTileData>();
    return detail::Call(TESSERA_OP_TFILLPAD).Dst(dst).Src(src).Issue();
}

// dst keeps its valid region; everything else of its declared area becomes fp.
template <typename TileT, typename FillT, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TFILLPAD(TileT &dst, FillT fp, WaitEvents &...)
{
    detail::CheckFill<TileT>();
    return detail::Call(TESSERA_OP_TFILLPAD).Dst(dst).Scalar(TESSERA_ROLE_FILL, fp).Issue();
}

// dst and src are two views of one storage; a dst that has no storage yet becomes one.
template <typename DstTileData, typename SrcTileData, typename... WaitEvents>
PTO_INST detail::TileEventIf<SrcTileData, WaitEvents...> TFILLPAD_INPLACE(DstTileData &dst, SrcTileData &src,
                                                                          WaitEvents &...)
{
    detail::CheckFillpad<DstTileData, SrcTileData>();
    detail::CheckSameShape<DstTileData, SrcTileData>();
    // Where dst is to become a view, it is one only if the instruction is legal.
    DstTileData view = dst;
    const bool becomesView = detail::Access::IsUnbound(dst);
    if (becomesView) {
        detail::Access::Rebind(view, src, 0, detail::Access::Pitch(src));
    }
    if (detail::Call(TESSERA_OP_TFILLPAD_INPLACE).Src(src).Dst(view).Done() && becomesView) {
        detail::Access::Rebind(dst, src, 0, detail::Access::Pitch(src));
    }
    return {};
}

template <typename TileT, typename FillT, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TFILLPAD_INPLACE(TileT &dst, FillT fp, WaitEvents &...)
{
    detail::CheckFill<TileT>();
    return detail::Call(TESSERA_OP_TFILLPAD_INPLACE).Dst(dst).Scalar(TESSERA_ROLE_FILL, fp).Issue();
}

// As TFILLPAD, into a tile that may be larger; a dynamic valid region of dst becomes its declared area.
template <typename DstTileData, typename SrcTileData, typename... WaitEvents>
PTO_INST detail::TileEventIf<SrcTileData, WaitEvents...> TFILLPAD_EXPAND(DstTileData &dst, SrcTileData &src,
                                                                         WaitEvents &...)
{
    detail::CheckFillpad<DstTileData, SrcTileData>();
    PTO_STATIC_RULE(DstTileData::Rows >= SrcTileData::Rows && DstTileData::Cols >= SrcTileData::Cols,
                    "tfillpad-shape: the destination's declared shape covers the source's");
    if (detail::Call(TESSERA_OP_TFILLPAD_EXPAND).Dst(dst).Src(src).Done()) {
        detail::Access::Expand(dst, DstTileData::Info);
    }
    return {};
}

template <typename TileT, typename FillT, typename... WaitEvents>
PTO_INST detail::ScalarEventIf<FillT, WaitEvents...> TFILLPAD_EXPAND(TileT &dst, FillT fp, WaitEvents &...)
{
    detail::CheckFill<TileT>();
    if (detail::Call(TESSERA_OP_TFILLPAD_EXPAND).Dst(dst).Scalar(TESSERA_ROLE_FILL, fp).Done()) {
        detail::Access::Expand(dst, TileT::Info);
    }
    return {};
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
