// What the rows of the matrix unit do not say: TMATMUL_ACC on one accumulator, TGET_SCALE_ADDR and the modes of f32
// products (isa/matrix.md 3 and 5, cpp.md 6.5).

#ifndef PTO_COMMON_PRODUCTS_HPP
#define PTO_COMMON_PRODUCTS_HPP

#include <pto/common/matrix.hpp>
#include <pto/common/memory.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {

// The product is added to what dst holds.
PTO_INTRINSIC(TMATMUL_ACC, (typename Dst, typename TileA, typename TileB), (Dst, TileA, TileB), (pto_detail::IsTile<TileB>), (Dst &dst, TileA &a, TileB &b),
              (dst, a, b), TMATMUL_ACC_IMPL(dst, dst, a, b, where);)
PTO_INTRINSIC(TMATMUL_ACC, (AccPhase phase, typename Dst, typename TileA, typename TileB), (phase, Dst, TileA, TileB), (pto_detail::IsTile<TileB>),
              (Dst &dst, TileA &a, TileB &b), (dst, a, b), TMATMUL_ACC_IMPL(dst, dst, a, b, where);)

// dst lies at a 16th of src's address; without addresses both keep their own storage. Moves no data.
PTO_INTRINSIC(TGET_SCALE_ADDR, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTile<Src>), (Dst &dst, Src &src),
              (dst, src),
              PTO_STATIC_SIG(kTgetScaleAddrSigs, Plain, "tget_scale_addr-profile", "tget_scale_addr-loc",
                             "tget_scale_addr-layout", "tget_scale_addr-dtype", {TESSERA_ROLE_SRC, Src::Info},
                             {TESSERA_ROLE_DST, Dst::Info});
              pto_detail::Call call(TESSERA_OP_TGET_SCALE_ADDR, "TGET_SCALE_ADDR", where);
              call.Tile(TESSERA_ROLE_DST, dst).Tile(TESSERA_ROLE_SRC, src);
              uint64_t address = 0;
              if (call.Done() && pto_detail::Access::Address(src, address)) { TASSIGN(dst, address >> 4); })

// From here on f32 operands of products are rounded to 11 (a2a3: HF32) or 10 (a5: TF32) bits of mantissa; CAST_ROUND or
// CAST_RINT.
#define PTO_F32_MODE(name)                                                                                               \
    PTO_INST RecordEvent name(bool enable = true, RoundMode mode = RoundMode::CAST_ROUND,                                \
                              const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())                                        \
    {                                                                                                                    \
        return pto_detail::Call(TESSERA_OP_##name, #name, where)                                                             \
            .Attr(TESSERA_ATTR_NAME_ENABLE, enable)                                                                      \
            .Attr(TESSERA_ATTR_NAME_F32_MODE, mode == RoundMode::CAST_RINT ? 1 : 0)                                      \
            .Issue();                                                                                                    \
    }
PTO_F32_MODE(SETHF32MODE)
PTO_F32_MODE(SETTF32MODE)
#undef PTO_F32_MODE

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
