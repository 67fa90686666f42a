// Element types that C++ has not: half, bfloat16_t, the fp8 types, HiFloat8 and fp4 (tile-model.md 3).
//
// All convert from and to float on the host. A value that the type has not is rounded to nearest, ties to even
// (HiFloat8: away from zero); half and bfloat16_t overflow to infinity, the 8-bit types to their largest value.

#ifndef PTO_COMMON_NUMBER_HPP
#define PTO_COMMON_NUMBER_HPP

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <tessera.h>

namespace pto {
namespace model {

// Rounds once, from binary64, to a binary format of 16 bits.
template <int ExponentBits, int MantissaBits>
inline uint16_t NarrowTo16(double value)
{
    constexpr int bias = (1 << (ExponentBits - 1)) - 1;
    constexpr uint64_t infinity = ((uint64_t{1} << ExponentBits) - 1) << MantissaBits;
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const uint64_t sign = (bits >> 63) << (ExponentBits + MantissaBits);
    const int exponent = static_cast<int>((bits >> 52) & 0x7FF);
    uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
    if (exponent == 0x7FF) {
        const uint64_t quiet = mantissa == 0 ? 0 : uint64_t{1} << (MantissaBits - 1);
        return static_cast<uint16_t>(sign | infinity | quiet);
    }
    if (exponent == 0) {
        return static_cast<uint16_t>(sign);
    }
    mantissa |= uint64_t{1} << 52;
    int target = exponent - 1023 + bias;
    int shift = 52 - MantissaBits;
    if (target <= 0) {
        shift += 1 - target;
        target = 1;
        if (shift > 54) {
            return static_cast<uint16_t>(sign);
        }
        // A subnormal has no hidden bit: its exponent field is 0, one less than the one it counts with.
    }
    uint64_t kept = mantissa >> shift;
    const uint64_t rest = mantissa & ((uint64_t{1} << shift) - 1);
    const uint64_t tie = uint64_t{1} << (shift - 1);
    if (rest > tie || (rest == tie && (kept & 1) != 0)) {
        ++kept;
    }
    // The hidden bit, and a carry out of the mantissa, add one to the exponent field.
    const uint64_t magnitude = (static_cast<uint64_t>(target - 1) << MantissaBits) + kept;
    return static_cast<uint16_t>(sign | (magnitude < infinity ? magnitude : infinity));
}

template <int ExponentBits, int MantissaBits>
inline float WidenFrom16(uint16_t bits)
{
    constexpr int bias = (1 << (ExponentBits - 1)) - 1;
    constexpr int top = (1 << ExponentBits) - 1;
    const int mantissa = bits & ((1 << MantissaBits) - 1);
    const int exponent = (bits >> MantissaBits) & top;
    float magnitude = 0;
    if (exponent == top) {
        magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent == 0) {
        magnitude = std::ldexp(static_cast<float>(mantissa), 1 - bias - MantissaBits);
    } else {
        magnitude = std::ldexp(static_cast<float>(mantissa + (1 << MantissaBits)), exponent - bias - MantissaBits);
    }
    return (bits >> 15) != 0 ? -magnitude : magnitude;
}

template <typename N>
using IfArithmetic = std::enable_if_t<std::is_arithmetic_v<N>, int>;

// A 16-bit float; Tag tells the types apart.
template <int ExponentBits, int MantissaBits>
struct Float16 {
    uint16_t bits;

    Float16() = default;
    template <typename N, IfArithmetic<N> = 0>
    Float16(N value) : bits(NarrowTo16<ExponentBits, MantissaBits>(static_cast<double>(value)))
    {}
    operator float() const { return WidenFrom16<ExponentBits, MantissaBits>(bits); }

    static Float16 FromBits(uint16_t bits)
    {
        Float16 value;
        value.bits = bits;
        return value;
    }
};

// An 8-bit float, converted by the library's exact codecs.
template <TesseraElem Elem>
struct Float8 {
    uint8_t bits;

    Float8() = default;
    template <typename N, IfArithmetic<N> = 0>
    Float8(N value) : bits(0)
    {
        uint64_t code = 0;
        tessera_encode(Elem, static_cast<double>(value), &code);
        bits = static_cast<uint8_t>(code);
    }
    operator float() const
    {
        double value = 0;
        tessera_decode(Elem, bits, &value);
        return static_cast<float>(value);
    }

    static Float8 FromBits(uint8_t bits)
    {
        Float8 value;
        value.bits = bits;
        return value;
    }
};

// Two fp4 elements: the even one in the low nibble, the odd one in the high nibble.
template <TesseraElem Elem>
struct Float4x2 {
    uint8_t bits;

    Float4x2() = default;
    Float4x2(float even, float odd) : bits(static_cast<uint8_t>(Encode(even) | Encode(odd) << 4)) {}

    float Get(int i) const
    {
        double value = 0;
        tessera_decode(Elem, (bits >> (4 * (i & 1))) & 0xF, &value);
        return static_cast<float>(value);
    }

    static Float4x2 FromBits(uint8_t bits)
    {
        Float4x2 value;
        value.bits = bits;
        return value;
    }

private:
    static uint64_t Encode(float value)
    {
        uint64_t code = 0;
        tessera_encode(Elem, value, &code);
        return code;
    }
};

} // namespace model

using half = model::Float16<5, 10>;
using bfloat16_t = model::Float16<8, 7>;
using float8_e4m3_t = model::Float8<TESSERA_ELEM_F8E4M3>;
using float8_e5m2_t = model::Float8<TESSERA_ELEM_F8E5M2>;
using float8_e8m0_t = model::Float8<TESSERA_ELEM_F8E8M0>;
using hifloat8_t = model::Float8<TESSERA_ELEM_HIF8>;
using float4_e2m1x2_t = model::Float4x2<TESSERA_ELEM_F4E2M1X2>;
using float4_e1m2x2_t = model::Float4x2<TESSERA_ELEM_F4E1M2X2>;

} // namespace pto

#endif
