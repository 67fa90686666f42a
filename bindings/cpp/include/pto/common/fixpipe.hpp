// What a push out of an accumulator does to the elements on their way (cpp.md 6.7, 7).

#ifndef PTO_INST_HPP
#include <pto/pto-inst.hpp>
#elif !defined(PTO_COMMON_FIXPIPE_HPP)
#define PTO_COMMON_FIXPIPE_HPP

#include <pto/common/arguments.hpp>

namespace pto {

enum class LayoutMode_t : uint32_t { NZ2NZ, NZ2ND, NZ2DN };
enum class ClipReluMode_t : uint32_t { NoClipRelu, ClipRelu };

enum QuantMode_t : uint32_t {
    NoQuant = 0,
    F322F16 = 1,
    VREQ8 = 2,
    REQ8 = 3,
    VDEQF16 = 4,
    DEQF16 = 5,
    VSHIFTS322S16 = 12,
    SHIFTS322S16 = 13,
    F322BF16 = 16,
    VQF322B8_PRE = 23,
    QF322B8_PRE = 24,
    QF322F16_PRE = 32,
    QF322BF16_PRE = 34,
    QS322BF16_PRE = 35,
    VQS322BF16_PRE = 36,
};

template <LayoutMode_t Layout = LayoutMode_t::NZ2ND, QuantMode_t Quant = NoQuant, ReluPreMode Relu = ReluPreMode::NoRelu,
          STPhase Phase = STPhase::Unspecified, uint8_t UnitFlag = 0, AtomicType Atomic = AtomicType::AtomicNone,
          ClipReluMode_t Clip = ClipReluMode_t::NoClipRelu, bool Extra = false>
struct FixpipeParams {
    static constexpr LayoutMode_t layoutMode = Layout;
    static constexpr QuantMode_t quantMode = Quant;
    static constexpr ReluPreMode reluMode = Relu;
};

namespace pto_model {

// What a mode makes of an element, and whether its parameters go by column.
struct QuantKind {
    bool isQuantized;
    bool byColumn;
    int bits;
    bool isFloat;
    bool isBfloat;
};

constexpr QuantKind KindOf(QuantMode_t mode)
{
    switch (mode) {
        case NoQuant: return {false, false, 0, false, false};
        case F322F16: return {false, false, 16, true, false};
        case F322BF16: return {false, false, 16, true, true};
        case VREQ8:
        case VQF322B8_PRE: return {true, true, 8, false, false};
        case REQ8:
        case QF322B8_PRE: return {true, false, 8, false, false};
        case VDEQF16: return {true, true, 16, true, false};
        case DEQF16:
        case QF322F16_PRE: return {true, false, 16, true, false};
        case VSHIFTS322S16: return {true, true, 16, false, false};
        case SHIFTS322S16: return {true, false, 16, false, false};
        case VQS322BF16_PRE: return {true, true, 16, true, true};
        default: return {true, false, 16, true, true};
    }
}

} // namespace pto_model
} // namespace pto

#endif
