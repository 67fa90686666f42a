// TCMPS with a tile for the scalar (isa/scalar.md 1).

#ifndef PTO_COMMON_COMPARE_HPP
#define PTO_COMMON_COMPARE_HPP

#include <pto/common/scalar.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {

// Every element of src0 is compared with element (0, 0) of src1.
template <typename Dst, typename Src0, typename Src1>
PTO_INST std::enable_if_t<detail::IsTile<Src1>> TCMPS_IMPL(Dst &dst, Src0 &src0, Src1 &src1, CmpMode cmpMode)
{
    typename Src1::DType value{};
    TesseraTile descriptor;
    const std::shared_ptr<detail::Machine> &machine = detail::CurrentMachine();
    if (detail::Access::Describe(src1, descriptor) &&
        machine->Done(tessera_read_scalar(machine->handle(), &descriptor, &value, sizeof value))) {
        TCMPS_IMPL(dst, src0, Exactly(value), cmpMode);
    }
}
template <typename Dst, typename Src0, typename Src1, typename... WaitEvents>
PTO_INST detail::TileEventIf<Src1, WaitEvents...> TCMPS(Dst &dst, Src0 &src0, Src1 &src1, CmpMode cmpMode, WaitEvents &...)
{
    TCMPS_IMPL(dst, src0, src1, cmpMode);
    return {};
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
