// TFILLPAD, TFILLPAD_INPLACE and TFILLPAD_EXPAND (ops.md 6).

#ifndef PTO_COMMON_FILL_HPP
#define PTO_COMMON_FILL_HPP

#include <pto/common/arguments.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

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

} // namespace pto_detail

// dst and src are two views of one storage; a dst that has no storage yet becomes one.
PTO_INTRINSIC(TFILLPAD_INPLACE, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTile<Src>), (Dst &dst, Src &src),
              (dst, src),
              pto_detail::CheckFillpad<Dst, Src>();
              pto_detail::CheckSameShape<Dst, Src>();
              // Where dst is to become a view, it is one only if the instruction is legal.
              Dst view = dst;
              const bool becomesView = pto_detail::Access::IsUnbound(dst);
              if (becomesView) { pto_detail::Access::Rebind(view, src, 0, pto_detail::Access::Pitch(src)); }
              const bool done =
                  pto_detail::Call(TESSERA_OP_TFILLPAD_INPLACE, "TFILLPAD_INPLACE", where).Src(src).Dst(view).Done();
              if (done && becomesView) { pto_detail::Access::Rebind(dst, src, 0, pto_detail::Access::Pitch(src)); })

// As TFILLPAD, into a tile that may be larger; a dynamic valid region of dst becomes its declared area.
PTO_INTRINSIC(TFILLPAD_EXPAND, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTile<Src>), (Dst &dst, Src &src),
              (dst, src),
              pto_detail::CheckFillpad<Dst, Src>();
              PTO_STATIC_RULE(Dst::Rows >= Src::Rows && Dst::Cols >= Src::Cols,
                              "tfillpad-shape: the destination's declared shape covers the source's");
              if (pto_detail::Call(TESSERA_OP_TFILLPAD_EXPAND, "TFILLPAD_EXPAND", where).Dst(dst).Src(src).Done()) {
                  pto_detail::Access::Expand(dst, Dst::Info);
              })

// The valid region of src, and dst's pad value everywhere else of its declared area; Expand and InPlace are the forms with
// these names. In Mat a destination without a pad value takes Zero.
PTO_INTRINSIC(TFILLPAD, (TFillPadMode mode = TFillPadMode::Normal, typename Dst, typename Src), (mode, Dst, Src),
              (pto_detail::IsTile<Src>), (Dst &dst, Src &src), (dst, src),
              if constexpr (mode == TFillPadMode::InPlace) {
                  TFILLPAD_INPLACE_IMPL(dst, src, where);
              } else if constexpr (mode == TFillPadMode::Expand) {
                  TFILLPAD_EXPAND_IMPL(dst, src, where);
              } else if constexpr (Dst::Loc == TileType::Mat && Dst::PadVal == PadValue::Null) {
                  TFILLPAD_IMPL<Dst, PadValue::Zero>(dst, src, where);
              } else {
                  pto_detail::CheckFillpad<Dst, Src>();
                  pto_detail::CheckSameShape<Dst, Src>();
                  pto_detail::Call(TESSERA_OP_TFILLPAD, "TFILLPAD", where).Dst(dst).Src(src).Issue();
              })
// With the pad value that is named.
PTO_INTRINSIC(TFILLPAD, (typename Dst, PadValue pad, typename Src), (Dst, pad, Src), (pto_detail::IsTile<Src>),
              (Dst &dst, Src &src), (dst, src),
              PTO_STATIC_FLOW("tfillpad", kTfillpadSigs, pto_detail::Form::Plain, Src::Info, Dst::Info);
              pto_detail::CheckSameShape<Dst, Src>();
              pto_detail::Call(TESSERA_OP_TFILLPAD, "TFILLPAD", where).Src(src).Dst(dst).Padded(pad).Issue();)

// dst keeps its valid region; everything else of its declared area becomes fp.
#define PTO_FILL(name, ...)                                                                                              \
    PTO_INTRINSIC(name, (typename Dst, typename Fill), (Dst, Fill), (pto_detail::IsScalar<Fill>), (Dst &dst, Fill fp),       \
                  (dst, fp), pto_detail::CheckFill<Dst>();                                                                   \
                  if (pto_detail::Call(TESSERA_OP_##name, #name, where).Dst(dst).Scalar(TESSERA_ROLE_FILL, fp).Done()) {     \
                      __VA_ARGS__                                                                                        \
                  })
PTO_FILL(TFILLPAD, )
PTO_FILL(TFILLPAD_INPLACE, )
PTO_FILL(TFILLPAD_EXPAND, pto_detail::Access::Expand(dst, Dst::Info);)
#undef PTO_FILL

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
