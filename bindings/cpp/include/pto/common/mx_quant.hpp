// TQUANT to MX formats: groups of 32 elements share an exponent (cpp.md 6.6).

#ifndef PTO_COMMON_MX_QUANT_HPP
#define PTO_COMMON_MX_QUANT_HPP

#include <pto/common/gather.hpp>

namespace pto {
namespace cpu_quant {

inline uint32_t Bits(float x) { return __builtin_bit_cast(uint32_t, x); }

inline float Bf16BitsToFloat(uint16_t bits) { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }

// |x| as bf16, cut off and not rounded.
inline uint16_t AbsBf16BitsFromFloat(float x) { return static_cast<uint16_t>((Bits(x) & 0x7FFFFFFF) >> 16); }

// The exponent that a group with the maximum m shares.
template <QuantType type, QuantScaleAlg alg = QuantScaleAlg::OCP>
inline uint8_t ComputeMxSharedExponent(float m)
{
    constexpr bool isE4m3 = type == QuantType::MXFP8;
    if (std::isnan(m)) {
        return 255;
    }
    if constexpr (alg == QuantScaleAlg::OCP) {
        const int biased = static_cast<int>(Bits(m) >> 23 & 0xFF) - (isE4m3 ? 8 : 2);
        return static_cast<uint8_t>(biased > 0 ? biased : 0);
    } else {
        if (m == 0.0f) {
            return 0;
        }
        if (std::isinf(m)) {
            return 254;
        }
        const uint32_t bits = Bits(m * (1.0f / (isE4m3 ? 448.0f : 6.0f)));
        const uint32_t exponent = bits >> 23 & 0xFF, mantissa = bits & 0x7FFFFF;
        const bool isUp = mantissa != 0 && exponent != 254 && !(exponent == 0 && mantissa <= 0x400000);
        return static_cast<uint8_t>(exponent + (isUp ? 1 : 0));
    }
}

// What the elements of a group are multiplied by.
template <QuantType type = QuantType::MXFP8, QuantScaleAlg alg = QuantScaleAlg::OCP>
inline float ComputeMxGroupScaling(float m, uint8_t e)
{
    return e == 255 ? m : std::ldexp(1.0f, 127 - static_cast<int>(e));
}

// The nearest E4M3 value, the even one of two; a NaN is 7F.
template <QuantScaleAlg alg = QuantScaleAlg::OCP>
inline uint8_t EncodeE4M3Fn(float x)
{
    if (std::isnan(x)) {
        return 0x7F;
    }
    const uint8_t sign = std::signbit(x) ? 0x80 : 0;
    const float clamped = std::fmin(std::fabs(x), 448.0f);
    if (alg == QuantScaleAlg::NV && clamped < 0x1p-10f) {
        return sign;
    }
    uint64_t code = 0;
    tessera_encode(TESSERA_ELEM_F8E4M3, static_cast<double>(clamped), &code);
    return static_cast<uint8_t>(code | sign);
}

// The nearest E2M1 value, the even one of two, in the low nibble; a NaN is 7.
inline uint8_t EncodeE2M1Magic(float x)
{
    if (std::isnan(x)) {
        return 7;
    }
    const uint8_t sign = std::signbit(x) ? 8 : 0;
    uint64_t code = 0;
    tessera_encode(TESSERA_ELEM_F4E2M1X2, static_cast<double>(std::fmin(std::fabs(x), 6.0f)), &code);
    return static_cast<uint8_t>(code | sign);
}

// An element times its scale: a source of bf16 is rounded to bf16 again.
template <typename T>
inline float ApplyE2M1ScaleForSource(float x, float scale)
{
    const float product = x * scale;
    if constexpr (std::is_same_v<T, bfloat16_t>) {
        return static_cast<float>(static_cast<bfloat16_t>(product));
    } else {
        return product;
    }
}

// The largest magnitude of a group: of row i along columns (axis 1), or of column i along rows (axis 0).
template <int axis = 1, QuantType type = QuantType::MXFP8, QuantScaleAlg alg = QuantScaleAlg::OCP, typename Src>
inline float ComputeMxGroupMax(Src &src, int i, int group)
{
    const int end = static_cast<int>(axis == 1 ? src.GetValidCol() : src.GetValidRow());
    float max = 0.0f;
    for (int k = group * MX_BLOCK_SIZE; k < end && k < (group + 1) * MX_BLOCK_SIZE; ++k) {
        const float x = static_cast<float>(axis == 1 ? src.GetElement(i, k) : src.GetElement(k, i));
        const bool isNan = std::isnan(x);
        if (isNan && type == QuantType::MXFP8) {
            continue;
        }
        if (isNan || std::isnan(max)) {
            max = std::numeric_limits<float>::quiet_NaN();
            continue;
        }
        const bool isCut = type == QuantType::MXFP4_E2M1 && alg == QuantScaleAlg::OCP;
        max = std::fmax(max, isCut ? Bf16BitsToFloat(AbsBf16BitsFromFloat(x)) : std::fabs(x));
    }
    return max;
}

} // namespace cpu_quant

inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

// A byte as an element of a type of one byte.
template <typename T>
inline T OfByte(uint8_t byte)
{
    static_assert(sizeof(T) == 1, "tquant-dtype: exponents have one byte");
    return __builtin_bit_cast(T, byte);
}

// Element i of a tile in storage order.
template <typename TileT, typename ValueT>
inline void PutStored(TileT &tile, int64_t i, ValueT value)
{
    tile.data()[i] = static_cast<typename TileT::DType>(value);
}

template <int axis, QuantType type, QuantScaleAlg alg, typename Dst, typename Src, typename Exp, typename Max, typename Scaling>
inline void QuantizeMx(Dst &dst, Src &src, Exp *exp, Max *max, Scaling *scaling, Exp *zz, const SourceLocation &where)
{
    using namespace pto::cpu_quant;
    static_assert(axis == 0 || axis == 1, "tquant-attr: groups are along columns (1) or rows (0)");
    const Run run("TQUANT", where);
    const int rows = static_cast<int>(src.GetValidRow()), cols = static_cast<int>(src.GetValidCol());
    const int lines = axis == 1 ? rows : cols, length = axis == 1 ? cols : rows;
    const int groups = (length + MX_BLOCK_SIZE - 1) / MX_BLOCK_SIZE;
    if (dst.GetValidRow() != rows || dst.GetValidCol() != cols) {
        Fail("tquant-valid", "src has " + std::to_string(rows) + " x " + std::to_string(cols) +
                                 " valid elements, and dst has others");
        return;
    }
    for (int line = 0; line < lines; ++line) {
        for (int group = 0; group < groups; ++group) {
            const float m = ComputeMxGroupMax<axis, type, alg>(src, line, group);
            const uint8_t e = ComputeMxSharedExponent<type, alg>(m);
            const float scale = ComputeMxGroupScaling<type, alg>(m, e);
            const int64_t place = axis == 1 ? int64_t{line} * groups + group : int64_t{group} * cols + line;
            // Exponents in one row lie side by side, as maxima and scales do (isa/today.md 6.4).
            const bool isFlat = axis == 1 && Exp::Rows == 1;
            const int64_t row = isFlat ? 0 : axis == 1 ? line : group, col = isFlat ? place : axis == 1 ? group : line;
            exp->SetElement(row, col, OfByte<typename Exp::DType>(e));
            PutStored(*max, place, m);
            PutStored(*scaling, place, scale);
            if (zz != nullptr) {
                // Blocks of 16 rows and 2 groups, row by row inside.
                const int64_t block = int64_t{line} / 16 * ((groups + 1) / 2) + group / 2;
                zz->SetElement(0, static_cast<int>(block * 32 + line % 16 * 2 + group % 2), OfByte<typename Exp::DType>(e));
            }
            for (int k = group * MX_BLOCK_SIZE; k < length && k < (group + 1) * MX_BLOCK_SIZE; ++k) {
                const int r = axis == 1 ? line : k, c = axis == 1 ? k : line;
                const float x = static_cast<float>(src.GetElement(r, c));
                if constexpr (type == QuantType::MXFP8) {
                    dst.SetElement(r, c, OfByte<typename Dst::DType>(EncodeE4M3Fn<alg>(x * scale)));
                } else {
                    const uint8_t code = EncodeE2M1Magic(ApplyE2M1ScaleForSource<typename Src::DType>(x, scale));
                    double value = 0;
                    tessera_decode(TESSERA_ELEM_F4E2M1X2, code, &value);
                    dst.SetElement(r, c, static_cast<typename Dst::DType>(value));
                }
            }
        }
    }
}

constexpr QuantType FormatOf(MxQuantAlg alg)
{
    return alg == MxQuantAlg::OcpMxFp8E4M3 || alg == MxQuantAlg::NvMxFp8E4M3 ? QuantType::MXFP8 : QuantType::MXFP4_E2M1;
}
constexpr QuantScaleAlg ScaleOf(MxQuantAlg alg)
{
    return alg == MxQuantAlg::NvMxFp8E4M3 || alg == MxQuantAlg::NvMxFp4E2M1 ? QuantScaleAlg::NV : QuantScaleAlg::OCP;
}

} // namespace pto_detail

PTO_INTRINSIC(TQUANT,
              (QuantType type, typename Dst, typename Src, typename Exp, typename Max, typename Scaling,
               auto alg = QuantScaleAlg::OCP),
              (type, Dst, Src, Exp, Max, Scaling, alg), (pto_detail::IsTile<Exp> && pto_detail::IsTile<Scaling>),
              (Dst &dst, Src &src, Exp *exp, Max *max, Scaling *scaling), (dst, src, exp, max, scaling),
              pto_detail::QuantizeMx<1, type, alg>(dst, src, exp, max, scaling, static_cast<Exp *>(nullptr), where);)
PTO_INTRINSIC(TQUANT,
              (QuantType type, VecStoreMode mode, typename Dst, typename Src, typename Exp, typename Max, typename Scaling),
              (type, mode, Dst, Src, Exp, Max, Scaling), (pto_detail::IsTile<Exp> && pto_detail::IsTile<Scaling>),
              (Dst &dst, Src &src, Exp *exp, Max *max, Scaling *scaling, Exp *expZZ), (dst, src, exp, max, scaling, expZZ),
              pto_detail::QuantizeMx<1, type, QuantScaleAlg::OCP>(dst, src, exp, max, scaling, expZZ, where);)
PTO_INTRINSIC(TQUANT,
              (int axis, MxQuantAlg alg, bool interleave = false, typename Dst, typename Src, typename Exp, typename Max,
               typename Scaling),
              (axis, alg, interleave, Dst, Src, Exp, Max, Scaling), (pto_detail::IsTile<Exp> && pto_detail::IsTile<Scaling>),
              (Dst &dst, Src &src, Exp *exp, Max *max, Scaling *scaling), (dst, src, exp, max, scaling),
              static_assert(alg != MxQuantAlg::Hif4, "tquant-attr: HiFloat4 is not computed here");
              pto_detail::QuantizeMx<axis, pto_detail::FormatOf(alg), pto_detail::ScaleOf(alg)>(dst, src, exp, max, scaling,
                                                                                   static_cast<Exp *>(nullptr), where);)

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
