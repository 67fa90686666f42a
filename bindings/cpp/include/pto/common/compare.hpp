// Where C++ takes a tile for a scalar: its element (0, 0) counts (isa/scalar.md 1, cpp.md 6.6).

#ifndef PTO_COMMON_COMPARE_HPP
#define PTO_COMMON_COMPARE_HPP

#include <pto/common/scalar.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

// Says whether the element could be read.
template <typename TileT>
inline bool ReadScalar(const TileT &tile, typename TileT::DType &value)
{
    TesseraTile descriptor;
    const RefPtr<Machine> &machine = CurrentMachine();
    return Access::Describe(tile, descriptor) &&
           machine->Done(tessera_read_scalar(machine->handle(), &descriptor, &value, sizeof value));
}

} // namespace pto_detail

PTO_INTRINSIC(TCMPS, (typename Dst, typename Src0, typename Src1), (Dst, Src0, Src1), (pto_detail::IsTile<Src1>),
              (Dst &dst, Src0 &src0, Src1 &src1, CmpMode cmpMode), (dst, src0, src1, cmpMode),
              const pto_detail::Run run("TCMPS", where);
              typename Src1::DType value{};
              if (pto_detail::ReadScalar(src1, value)) { TCMPS_IMPL(dst, src0, Exactly(value), cmpMode, where); })

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
