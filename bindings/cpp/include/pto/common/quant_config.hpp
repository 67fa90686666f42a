// SET_QUANT_SCALAR and SET_QUANT_VECTOR: the parameter that a quantizing TPUSH uses (cpp.md 6.3).

#ifndef PTO_COMMON_QUANT_CONFIG_HPP
#define PTO_COMMON_QUANT_CONFIG_HPP

#include <pto/common/arguments.hpp>

namespace pto {
namespace pto_model {

// The scale 1, a parameter for every column, or one for each, which stays where it is.
struct QuantConfig {
    uint64_t scalar = 0x3F800000;
    const void *vector = nullptr;
    uint64_t (*read)(const void *, int) = nullptr;

    uint64_t At(int column) const { return read(vector, column); }
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
    pto_model::CurrentQuant() = {__builtin_bit_cast(uint32_t, scale) | isSigned << 46, nullptr, nullptr};
}

// The parameters of a tile: 64 bits each, or a float that is the scale of a result with a sign (isa/today.md 6.10).
template <typename Fp>
PTO_INST std::enable_if_t<pto_detail::IsTile<Fp>> SET_QUANT_VECTOR(Fp &fp)
{
    using T = typename Fp::DType;
    constexpr bool isWhole = std::is_integral_v<T> && sizeof(T) == sizeof(uint64_t);
    static_assert(isWhole || (!std::is_integral_v<T> && (sizeof(T) == 2 || sizeof(T) == 4)),
                  "fp-operand: a quantization parameter has 64 bits, or is a float");
    pto_model::QuantConfig &config = pto_model::CurrentQuant();
    config.vector = fp.data();
    config.read = [](const void *all, int column) {
        const T value = static_cast<const T *>(all)[column];
        if constexpr (isWhole) {
            return static_cast<uint64_t>(value);
        } else {
            return __builtin_bit_cast(uint32_t, static_cast<float>(value)) | uint64_t{1} << 46;
        }
    };
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
