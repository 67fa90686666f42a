// Element types that C++ has not: half, bfloat16_t, the fp8 types, HiFloat8, fp4 and int4 (tile-model.md 3, cpp.md 1).
//
// A value that the type has not is rounded to nearest, ties to even (HiFloat8: away from zero); half and bfloat16_t
// overflow to infinity, the 8-bit types to their largest value. Their names are in the global namespace too.

#ifndef PTO_COMMON_NUMBER_HPP
#define PTO_COMMON_NUMBER_HPP

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <limits>
#include <type_traits>

#include <tessera.h>

// The compiler has a half of its own from g++ 12 and clang 15 on.
#if defined(__FLT16_MANT_DIG__) && !(defined(__clang__) && __clang_major__ < 15)
#define PTO_HAS_FLOAT16 1
#else
#define PTO_HAS_FLOAT16 0
#endif
#if defined(__STDCPP_BFLOAT16_T__)
#include <stdfloat>
#define PTO_HAS_BFLOAT16 1
#else
#define PTO_HAS_BFLOAT16 0
#endif

namespace pto {
namespace pto_model {

// Rounds once, from binary64, to a binary format of 16 bits.
template <int ExponentBits, int MantissaBits>
constexpr uint16_t NarrowTo16(double value)
{
    constexpr int bias = (1 << (ExponentBits - 1)) - 1;
    constexpr uint64_t infinity = ((uint64_t{1} << ExponentBits) - 1) << MantissaBits;
    const uint64_t bits = __builtin_bit_cast(uint64_t, value);
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
constexpr float WidenFrom16(uint16_t bits)
{
    constexpr int bias = (1 << (ExponentBits - 1)) - 1;
    constexpr uint32_t top = (1u << ExponentBits) - 1;
    uint32_t mantissa = bits & ((1u << MantissaBits) - 1);
    uint32_t exponent = (static_cast<uint32_t>(bits) >> MantissaBits) & top;
    const uint32_t sign = static_cast<uint32_t>(bits >> 15) << 31;
    if (exponent == top) {
        exponent = 0xFF;
    } else if (exponent != 0) {
        exponent += 127 - bias;
    } else if (mantissa != 0 && ExponentBits < 8) {
        // A subnormal that is none as a float: its highest bit becomes the hidden one.
        exponent = 128 - bias;
        while ((mantissa >> MantissaBits) == 0) {
            mantissa <<= 1;
            --exponent;
        }
        mantissa &= (1u << MantissaBits) - 1;
    }
    return __builtin_bit_cast(float, sign | exponent << 23 | mantissa << (23 - MantissaBits));
}

template <typename NumberT>
using IfArithmetic = std::enable_if_t<std::is_arithmetic_v<NumberT>, int>;

// A 16-bit float, where the compiler has none. Two of a kind make a third; with other numbers it is a float.
template <int ExponentBits, int MantissaBits>
struct Float16 {
    uint16_t bits;

    Float16() = default;
    template <typename NumberT, IfArithmetic<NumberT> = 0>
    constexpr Float16(NumberT value) : bits(NarrowTo16<ExponentBits, MantissaBits>(static_cast<double>(value)))
    {}
    constexpr operator float() const { return WidenFrom16<ExponentBits, MantissaBits>(bits); }

    static constexpr Float16 FromBits(uint16_t bits)
    {
        Float16 value{0};
        value.bits = bits;
        return value;
    }

    constexpr Float16 operator-() const { return FromBits(static_cast<uint16_t>(bits ^ 0x8000)); }
    constexpr Float16 &operator+=(float other) { return *this = Float16(static_cast<float>(*this) + other); }
    constexpr Float16 &operator-=(float other) { return *this = Float16(static_cast<float>(*this) - other); }
    constexpr Float16 &operator*=(float other) { return *this = Float16(static_cast<float>(*this) * other); }
    constexpr Float16 &operator/=(float other) { return *this = Float16(static_cast<float>(*this) / other); }
};

template <int Exponent, int Mantissa>
constexpr Float16<Exponent, Mantissa> operator+(Float16<Exponent, Mantissa> a, Float16<Exponent, Mantissa> b)
{
    return static_cast<float>(a) + static_cast<float>(b);
}
template <int Exponent, int Mantissa>
constexpr Float16<Exponent, Mantissa> operator-(Float16<Exponent, Mantissa> a, Float16<Exponent, Mantissa> b)
{
    return static_cast<float>(a) - static_cast<float>(b);
}
template <int Exponent, int Mantissa>
constexpr Float16<Exponent, Mantissa> operator*(Float16<Exponent, Mantissa> a, Float16<Exponent, Mantissa> b)
{
    return static_cast<float>(a) * static_cast<float>(b);
}
template <int Exponent, int Mantissa>
constexpr Float16<Exponent, Mantissa> operator/(Float16<Exponent, Mantissa> a, Float16<Exponent, Mantissa> b)
{
    return static_cast<float>(a) / static_cast<float>(b);
}

// A float of 8 or 4 bits, converted by the library's exact codecs. An object of a 4-bit type has room for two elements,
// the even one in the low nibble; as a number it is that one.
template <TesseraElem Elem, int Bits>
struct SmallFloat {
    uint8_t bits;

    SmallFloat() = default;
    template <typename NumberT, IfArithmetic<NumberT> = 0>
    SmallFloat(NumberT value) : bits(Encode(static_cast<double>(value)))
    {}
    operator double() const { return Decode(0); }

    static constexpr SmallFloat FromRaw(uint8_t raw)
    {
        SmallFloat value{};
        value.bits = raw;
        return value;
    }
    static constexpr SmallFloat FromBits(uint8_t raw) { return FromRaw(raw); }
    constexpr uint8_t RawData() const { return bits; }

    SmallFloat &operator+=(double other) { return *this = SmallFloat(static_cast<double>(*this) + other); }
    SmallFloat &operator-=(double other) { return *this = SmallFloat(static_cast<double>(*this) - other); }
    SmallFloat &operator*=(double other) { return *this = SmallFloat(static_cast<double>(*this) * other); }
    SmallFloat &operator/=(double other) { return *this = SmallFloat(static_cast<double>(*this) / other); }

protected:
    static uint8_t Encode(double value)
    {
        uint64_t code = 0;
        tessera_encode(Elem, value, &code);
        return static_cast<uint8_t>(code);
    }
    double Decode(int i) const
    {
        double value = 0;
        tessera_decode(Elem, Bits == 4 ? static_cast<uint64_t>(bits >> (4 * (i & 1)) & 0xF) : bits, &value);
        return value;
    }
};

template <TesseraElem Elem>
using Float8 = SmallFloat<Elem, 8>;

// Two fp4 elements.
template <TesseraElem Elem>
struct Float4x2 : SmallFloat<Elem, 4> {
    using Base = SmallFloat<Elem, 4>;
    using Base::Base;

    Float4x2() = default;
    Float4x2(float even, float odd)
    {
        this->bits = static_cast<uint8_t>(Base::Encode(static_cast<double>(even)) |
                                          Base::Encode(static_cast<double>(odd)) << 4);
    }
    static constexpr Float4x2 FromRaw(uint8_t raw)
    {
        Float4x2 value{};
        value.bits = raw;
        return value;
    }
    static constexpr Float4x2 FromBits(uint8_t raw) { return FromRaw(raw); }

    float Get(int i) const { return static_cast<float>(this->Decode(i)); }
};

template <typename Char, typename Traits, TesseraElem Elem, int Bits>
std::basic_ostream<Char, Traits> &operator<<(std::basic_ostream<Char, Traits> &out, const SmallFloat<Elem, Bits> &value)
{
    return out << static_cast<double>(value);
}

} // namespace pto_model

inline namespace pto_elements {

#if PTO_HAS_FLOAT16
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
using half = _Float16;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#else
using half = pto_model::Float16<5, 10>;
#endif
using aclFloat16 = half;
using float16_t = half;
using float32_t = float;
#if PTO_HAS_BFLOAT16
using bfloat16_t = std::bfloat16_t;
#else
using bfloat16_t = pto_model::Float16<8, 7>;
#endif
using float8_e4m3_t = pto_model::Float8<TESSERA_ELEM_F8E4M3>;
using float8_e5m2_t = pto_model::Float8<TESSERA_ELEM_F8E5M2>;
using float8_e8m0_t = pto_model::Float8<TESSERA_ELEM_F8E8M0>;
using hifloat8_t = pto_model::Float8<TESSERA_ELEM_HIF8>;
using float4_e2m1x2_t = pto_model::Float4x2<TESSERA_ELEM_F4E2M1X2>;
using float4_e1m2x2_t = pto_model::Float4x2<TESSERA_ELEM_F4E1M2X2>;

// Do two elements share an object?
template <typename T>
constexpr bool IsTwinType()
{
    return std::is_same_v<std::remove_cv_t<T>, float4_e2m1x2_t> || std::is_same_v<std::remove_cv_t<T>, float4_e1m2x2_t>;
}

// Element i of an array; a 4-bit one comes in the low nibble.
template <typename T>
inline std::remove_cv_t<T> GetProperDataPart(T *data, std::size_t i)
{
    if constexpr (IsTwinType<T>()) {
        return std::remove_cv_t<T>::FromRaw(static_cast<uint8_t>(data[i / 2].bits >> (4 * (i % 2)) & 0xF));
    } else {
        return data[i];
    }
}

template <typename T, typename ValueT>
inline void SetProperDataPart(T *data, std::size_t i, ValueT value)
{
    if constexpr (IsTwinType<T>()) {
        const int shift = static_cast<int>(4 * (i % 2));
        const int code = static_cast<T>(value).bits & 0xF;
        data[i / 2].bits = static_cast<uint8_t>((data[i / 2].bits & ~(0xF << shift)) | code << shift);
    } else {
        data[i] = static_cast<T>(value);
    }
}

} // namespace pto_elements

// An integer of 4 bits in a byte of its own: its low nibble counts.
struct int4b_t {
    uint8_t bits;

    int4b_t() = default;
    explicit constexpr int4b_t(int32_t value) : bits(static_cast<uint8_t>(value & 0xF)) {}
    constexpr operator int8_t() const { return static_cast<int8_t>((bits & 7) - (bits & 8)); }
};

// The element that has these bits.
template <typename T>
constexpr T FromBits(uint16_t bits)
{
    if constexpr (sizeof(T) == 2) {
        return __builtin_bit_cast(T, bits);
    } else {
        return T::FromRaw(static_cast<uint8_t>(bits));
    }
}

// Bytes of an object of the type.
template <typename T>
constexpr int GetTypeSize()
{
    return static_cast<int>(sizeof(T));
}

} // namespace pto

using namespace pto::pto_elements;

namespace pto {
namespace pto_model {

// What all of them have; what is not said here is what the primary template says.
template <typename T>
struct FloatLimits {
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = true;
    static constexpr bool is_integer = false;
    static constexpr bool is_exact = false;
    static constexpr bool is_bounded = true;
    static constexpr bool is_modulo = false;
    static constexpr bool traps = false;
    static constexpr bool tinyness_before = false;
    static constexpr int radix = 2;
    static constexpr bool is_iec559 = false;
    static constexpr bool has_infinity = false;
    static constexpr bool has_quiet_NaN = false;
    static constexpr bool has_signaling_NaN = false;
    static constexpr std::float_round_style round_style = std::round_to_nearest;
};

// The largest, the smallest normal, the smallest and the distance from 1 to the next, infinity and NaN, as bits.
template <typename T, uint16_t Max, uint16_t Lowest, uint16_t Min, uint16_t Denorm, uint16_t Epsilon, uint16_t Infinity,
          uint16_t Nan, int Digits>
struct Limits : FloatLimits<T> {
    static constexpr int digits = Digits;
    static constexpr bool has_infinity = Infinity != 0;
    static constexpr bool has_quiet_NaN = Nan != 0;
#define PTO_LIMIT(name, bits)                                                                                            \
    static constexpr auto name() noexcept { return pto::FromBits<T>(bits); }
    PTO_LIMIT(max, Max)
    PTO_LIMIT(lowest, Lowest)
    PTO_LIMIT(min, Min)
    PTO_LIMIT(denorm_min, Denorm)
    PTO_LIMIT(epsilon, Epsilon)
    PTO_LIMIT(infinity, Infinity)
    PTO_LIMIT(quiet_NaN, Nan)
#undef PTO_LIMIT
};

} // namespace pto_model
} // namespace pto

namespace std {

#if !defined(__STDCPP_FLOAT16_T__)
template <>
struct numeric_limits<pto::half> : pto::pto_model::Limits<pto::half, 0x7BFF, 0xFBFF, 0x0400, 1, 0x1400, 0x7C00, 0x7E00, 11> {
    static constexpr bool is_iec559 = true;
};
#endif
#if !PTO_HAS_BFLOAT16
template <>
struct numeric_limits<pto::bfloat16_t>
    : pto::pto_model::Limits<pto::bfloat16_t, 0x7F7F, 0xFF7F, 0x0080, 1, 0x3C00, 0x7F80, 0x7FC0, 8> {};
#endif
template <>
struct numeric_limits<pto::float8_e4m3_t> : pto::pto_model::Limits<pto::float8_e4m3_t, 0x7E, 0xFE, 0x08, 1, 0x20, 0, 0x7F, 4> {};
template <>
struct numeric_limits<pto::float8_e5m2_t>
    : pto::pto_model::Limits<pto::float8_e5m2_t, 0x7B, 0xFB, 0x04, 1, 0x34, 0x7C, 0x7E, 3> {};
template <>
struct numeric_limits<pto::float8_e8m0_t> : pto::pto_model::Limits<pto::float8_e8m0_t, 0xFE, 0, 0, 0, 0x7F, 0, 0xFF, 1> {
    static constexpr bool is_signed = false;
};
template <>
struct numeric_limits<pto::hifloat8_t> : pto::pto_model::Limits<pto::hifloat8_t, 0x6E, 0xEE, 0x7E, 1, 0x20, 0x6F, 0x80, 4> {};
template <>
struct numeric_limits<pto::float4_e2m1x2_t> : pto::pto_model::Limits<pto::float4_e2m1x2_t, 7, 0xF, 1, 1, 1, 0, 0, 2> {};
template <>
struct numeric_limits<pto::float4_e1m2x2_t> : pto::pto_model::Limits<pto::float4_e1m2x2_t, 7, 0xF, 1, 1, 1, 0, 0, 3> {};
template <>
struct numeric_limits<pto::int4b_t> {
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = true;
    static constexpr bool is_integer = true;
    static constexpr bool is_exact = true;
    static constexpr int digits = 3;
    static constexpr pto::int4b_t max() noexcept { return pto::int4b_t(7); }
    static constexpr pto::int4b_t min() noexcept { return pto::int4b_t(-8); }
    static constexpr pto::int4b_t lowest() noexcept { return min(); }
};

} // namespace std

#endif
