// SET_QUANT_SCALAR and SET_QUANT_VECTOR: the parameter that a quantizing TPUSH uses (cpp.md 6.3).

#ifndef PTO_COMMON_QUANT_CONFIG_HPP
#define PTO_COMMON_QUANT_CONFIG_HPP

#include <pto/common/arguments.hpp>

namespace pto {
namespace pto_model {

// The scale 1, a parameter for every column, or one for each.
struct QuantConfig {
    uint64_t scalar = 0x3F800000;
    const uint64_t *vector = nullptr;
};

inline QuantConfig &CurrentQuant()
{
    static thread_local QuantConfig config;
    return config;
}

} // namespace pto_model

inline namespace PTO_PROFILE_NAMESPACE {

// The bits of the scale; bit 46 says that the result has a sign.
template <typename Out>
PTO_INST void SET_QUANT_SCALAR(float scale)
{
    const uint64_t isSigned = std::is_same_v<Out, int8_t> ? 1 : 0;
    pto_model::CurrentQuant() = {__builtin_bit_cast(uint32_t, scale) | isSigned << 46, nullptr};
}

// The parameters of a tile, which stay where they are.
template <typename Fp>
PTO_INST std::enable_if_t<pto_detail::IsTile<Fp>> SET_QUANT_VECTOR(Fp &fp)
{
    static_assert(sizeof(typename Fp::DType) == sizeof(uint64_t), "fp-operand: a quantization parameter has 64 bits");
    pto_model::CurrentQuant().vector = reinterpret_cast<const uint64_t *>(fp.data());
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
