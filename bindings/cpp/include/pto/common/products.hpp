// What the rows of the matrix unit do not say: TMATMUL_ACC on one accumulator, AccPhase as a template argument,
// TGET_SCALE_ADDR and the modes of f32 products (isa/matrix.md 3, 5 and 6).

#ifndef PTO_COMMON_PRODUCTS_HPP
#define PTO_COMMON_PRODUCTS_HPP

#include <pto/common/matrix.hpp>
#include <pto/common/memory.hpp>

namespace pto {

// Which part of a sum a product is; it changes no result.
enum class AccPhase : uint32_t { Unspecified = 0, Unknown = 0, Partial = 2, Final = 3 };

inline namespace PTO_PROFILE_NAMESPACE {

// The product is added to what dst holds.
template <typename Dst, typename A, typename B>
PTO_INST void TMATMUL_ACC_IMPL(Dst &dst, A &a, B &b)
{
    TMATMUL_ACC_IMPL(dst, dst, a, b);
}
template <typename Dst, typename A, typename B, typename... WaitEvents>
PTO_INST detail::TileEventIf<B, WaitEvents...> TMATMUL_ACC(Dst &dst, A &a, B &b, WaitEvents &...)
{
    return TMATMUL_ACC_IMPL(dst, dst, a, b), RecordEvent{};
}

#define PTO_WITH_PHASE(name)                                                                                           \
    template <AccPhase Phase, typename... Args>                                                                        \
    PTO_INST RecordEvent name(Args &...args)                                                                           \
    {                                                                                                                  \
        return name(args...);                                                                                          \
    }
PTO_WITH_PHASE(TMATMUL)
PTO_WITH_PHASE(TMATMUL_ACC)
PTO_WITH_PHASE(TMATMUL_BIAS)
PTO_WITH_PHASE(TMATMUL_MX)
PTO_WITH_PHASE(TGEMV)
PTO_WITH_PHASE(TGEMV_ACC)
PTO_WITH_PHASE(TGEMV_BIAS)
PTO_WITH_PHASE(TGEMV_MX)
#undef PTO_WITH_PHASE

// dst lies at a 16th of src's address; without addresses both keep their own storage. Moves no data.
template <typename Dst, typename Src>
PTO_INST void TGET_SCALE_ADDR_IMPL(Dst &dst, Src &src)
{
    PTO_STATIC_SIG(kTgetScaleAddrSigs, Plain, "tget_scale_addr-profile", "tget_scale_addr-loc",
                   "tget_scale_addr-layout", "tget_scale_addr-dtype", {TESSERA_ROLE_SRC, Src::Info},
                   {TESSERA_ROLE_DST, Dst::Info});
    detail::Call call(TESSERA_OP_TGET_SCALE_ADDR);
    call.Tile(TESSERA_ROLE_DST, dst).Tile(TESSERA_ROLE_SRC, src);
    uint64_t address = 0;
    if (call.Done() && detail::Access::Address(src, address)) {
        TASSIGN(dst, address >> 4);
    }
}
template <typename Dst, typename Src, typename... WaitEvents>
PTO_INST detail::TileEventIf<Src, WaitEvents...> TGET_SCALE_ADDR(Dst &dst, Src &src, WaitEvents &...)
{
    return TGET_SCALE_ADDR_IMPL(dst, src), RecordEvent{};
}

// From here on f32 operands of products are rounded to 11 (a2a3: HF32) or 10 (a5: TF32) bits of mantissa; CAST_ROUND or
// CAST_RINT.
PTO_INST RecordEvent SETHF32MODE(bool enable = true, RoundMode mode = RoundMode::CAST_ROUND)
{
    return detail::Call(TESSERA_OP_SETHF32MODE)
        .Attr(TESSERA_ATTR_NAME_ENABLE, enable)
        .Attr(TESSERA_ATTR_NAME_F32_MODE, mode == RoundMode::CAST_RINT ? 1 : 0)
        .Issue();
}
PTO_INST RecordEvent SETTF32MODE(bool enable = true, RoundMode mode = RoundMode::CAST_ROUND)
{
    return detail::Call(TESSERA_OP_SETTF32MODE)
        .Attr(TESSERA_ATTR_NAME_ENABLE, enable)
        .Attr(TESSERA_ATTR_NAME_F32_MODE, mode == RoundMode::CAST_RINT ? 1 : 0)
        .Issue();
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
