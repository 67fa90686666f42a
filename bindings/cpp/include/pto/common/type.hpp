// The words of the tile model, with the tags of the C ABI as their values, and what an element type is.

#ifndef PTO_INST_HPP
#include <pto/pto-inst.hpp>
#elif !defined(PTO_COMMON_TYPE_HPP)
#define PTO_COMMON_TYPE_HPP

#include <pto/common/number.hpp>

namespace pto {

enum class TileType : uint32_t {
    Vec = TESSERA_LOC_VEC,
    Mat = TESSERA_LOC_MAT,
    Left = TESSERA_LOC_LEFT,
    Right = TESSERA_LOC_RIGHT,
    Acc = TESSERA_LOC_ACC,
    Bias = TESSERA_LOC_BIAS,
    Scaling = TESSERA_LOC_SCALING,
    ScaleLeft = TESSERA_LOC_SCALE_LEFT,
    ScaleRight = TESSERA_LOC_SCALE_RIGHT,
    // A name only: no memory is simulated for it.
    Ctrl,
};

enum class BLayout : uint32_t {
    RowMajor = TESSERA_B_LAYOUT_ROW_MAJOR,
    ColMajor = TESSERA_B_LAYOUT_COL_MAJOR,
};

enum class SLayout : uint32_t {
    NoneBox = TESSERA_S_LAYOUT_NONE_BOX,
    RowMajor = TESSERA_S_LAYOUT_ROW_MAJOR,
    ColMajor = TESSERA_S_LAYOUT_COL_MAJOR,
};

// A custom pad value carries the bits of an element in its low half: PadValueCustom makes one.
enum class PadValue : uint64_t {
    Null = TESSERA_PAD_NULL,
    Zero = TESSERA_PAD_ZERO,
    Max = TESSERA_PAD_MAX,
    Min = TESSERA_PAD_MIN,
    CustomBase = uint64_t{1} << 32,
};

constexpr PadValue PadValueCustomBits(uint32_t bits)
{
    return static_cast<PadValue>(static_cast<uint64_t>(PadValue::CustomBase) | bits);
}

// The value as its own type has it: with an element type of as many bytes it is that element (cpp.md 8).
template <typename ValueT>
constexpr PadValue PadValueCustom(ValueT value)
{
    if constexpr (std::is_same_v<ValueT, double>) {
        return PadValueCustom(static_cast<float>(value));
    } else if constexpr (sizeof(ValueT) == 1) {
        return PadValueCustomBits(__builtin_bit_cast(uint8_t, value));
    } else if constexpr (sizeof(ValueT) == 2) {
        return PadValueCustomBits(__builtin_bit_cast(uint16_t, value));
    } else {
        static_assert(sizeof(ValueT) == 4, "tile-pad: a custom pad value has one, two or four bytes");
        return PadValueCustomBits(__builtin_bit_cast(uint32_t, value));
    }
}

constexpr PadValue PadValueCustom16(uint16_t bits)
{
    return PadValueCustomBits(bits);
}

template <auto value>
inline constexpr PadValue PadCustom = PadValueCustom(value);

template <typename PadT>
constexpr bool isCustomPadValue(PadT pad)
{
    return static_cast<uint64_t>(pad) >> 32 != 0;
}

template <typename PadT>
constexpr uint32_t getCustomPadBits(PadT pad)
{
    return static_cast<uint32_t>(static_cast<uint64_t>(pad));
}

enum class CompactMode : uint32_t {
    Null = TESSERA_COMPACT_NULL,
    Normal = TESSERA_COMPACT_NORMAL,
    RowPlusOne = TESSERA_COMPACT_ROW_PLUS_ONE,
    RowAlignedPadding = TESSERA_COMPACT_ROW_ALIGNED_PADDING,
};

enum class ReluPreMode : uint32_t {
    NoRelu = TESSERA_RELU_NO_RELU,
    NormalRelu = TESSERA_RELU_NORMAL_RELU,
};

enum class AccToVecMode : uint32_t {
    SingleModeVec0 = TESSERA_ACC_TO_VEC_SINGLE_MODE_VEC0,
    SingleModeVec1 = TESSERA_ACC_TO_VEC_SINGLE_MODE_VEC1,
    DualModeSplitM = TESSERA_ACC_TO_VEC_DUAL_MODE_SPLIT_M,
    DualModeSplitN = TESSERA_ACC_TO_VEC_DUAL_MODE_SPLIT_N,
};

enum class TInsertMode : uint32_t {
    SPLIT2 = TESSERA_SPLIT_SPLIT2,
    SPLIT4 = TESSERA_SPLIT_SPLIT4,
};

// Layouts of views (the first three, and the six of scales) and of conv tiles.
enum class Layout : uint32_t {
    ND = TESSERA_VIEW_LAYOUT_ND,
    DN = TESSERA_VIEW_LAYOUT_DN,
    NZ = TESSERA_VIEW_LAYOUT_NZ,
    SCALE,
    MX_A_ND,
    MX_A_DN,
    MX_A_ZZ,
    MX_B_ND,
    MX_B_DN,
    MX_B_NN,
    HIF4_A_ZZ,
    HIF4_B_NN,
    NC1HWC0,
    GNC1HWC0,
    NCHW,
    GNCHW,
    NHWC,
    NDC1HWC0,
    NCDHW,
    FRACTAL_Z,
    FRACTAL_Z_S16S8,
    FRACTAL_Z_3D,
    MAX,
};

namespace pto_model {

template <typename T, typename Enable = void>
struct ElemOf {
    static constexpr bool known = false;
};

template <TesseraElem Tag, int Bits>
struct KnownElem {
    static constexpr bool known = true;
    static constexpr TesseraElem tag = Tag;
    static constexpr int bits = Bits;
};

template <> struct ElemOf<float> : KnownElem<TESSERA_ELEM_F32, 32> {};
template <> struct ElemOf<half> : KnownElem<TESSERA_ELEM_F16, 16> {};
template <> struct ElemOf<bfloat16_t> : KnownElem<TESSERA_ELEM_BF16, 16> {};
template <TesseraElem Tag> struct ElemOf<SmallFloat<Tag, 8>> : KnownElem<Tag, 8> {};
template <TesseraElem Tag> struct ElemOf<Float4x2<Tag>> : KnownElem<Tag, 4> {};

constexpr TesseraElem IntegerElem(std::size_t size, bool is_signed)
{
    switch (size) {
        case 1: return is_signed ? TESSERA_ELEM_I8 : TESSERA_ELEM_U8;
        case 2: return is_signed ? TESSERA_ELEM_I16 : TESSERA_ELEM_U16;
        case 4: return is_signed ? TESSERA_ELEM_I32 : TESSERA_ELEM_U32;
        default: return is_signed ? TESSERA_ELEM_I64 : TESSERA_ELEM_U64;
    }
}

// long and long long are both int64_t to a kernel.
template <typename T>
struct ElemOf<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8>>
    : KnownElem<IntegerElem(sizeof(T), std::is_signed_v<T>), static_cast<int>(8 * sizeof(T))> {};

// Adds to element i, whatever other threads do to it or to its neighbour in the same byte.
template <typename T, typename ValueT>
inline void AtomicAdd(T *data, std::size_t i, ValueT value)
{
    using Word = std::conditional_t<sizeof(T) == 1, uint8_t,
                                    std::conditional_t<sizeof(T) == 2, uint16_t,
                                                       std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
    static_assert(sizeof(T) == sizeof(Word), "an element has 1, 2, 4 or 8 bytes");
    const std::size_t part = IsTwinType<T>() ? i % 2 : 0;
    Word *word = reinterpret_cast<Word *>(data + (IsTwinType<T>() ? i / 2 : i));
    Word before = __atomic_load_n(word, __ATOMIC_RELAXED);
    Word after = 0;
    do {
        T element;
        std::memcpy(&element, &before, sizeof(T));
        SetProperDataPart(&element, part, GetProperDataPart(&element, part) + value);
        std::memcpy(&after, &element, sizeof(T));
    } while (!__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

// A value that can be an operand: arithmetic, or one of the element types above.
template <typename T>
inline constexpr bool IsScalar = std::is_arithmetic_v<T> || (ElemOf<T>::known && std::is_convertible_v<T, float>);

constexpr TesseraScalar MakeScalarBits(TesseraRole role, TesseraNumber kind, uint64_t bits)
{
    return TesseraScalar{static_cast<uint32_t>(role), static_cast<uint32_t>(kind), bits, 0, 0};
}

template <typename ValueT>
inline TesseraScalar MakeScalar(TesseraRole role, ValueT value)
{
    if constexpr (std::is_integral_v<ValueT> && std::is_signed_v<ValueT>) {
        return MakeScalarBits(role, TESSERA_NUMBER_INT, static_cast<uint64_t>(static_cast<int64_t>(value)));
    } else if constexpr (std::is_integral_v<ValueT>) {
        return MakeScalarBits(role, TESSERA_NUMBER_UINT, static_cast<uint64_t>(value));
    } else {
        double wide = 0;
        if constexpr (std::is_same_v<ValueT, double>) {
            wide = value;
        } else {
            wide = static_cast<double>(static_cast<float>(value));
        }
        uint64_t bits = 0;
        std::memcpy(&bits, &wide, sizeof bits);
        return MakeScalarBits(role, TESSERA_NUMBER_FLOAT, bits);
    }
}

// A number that has a type.
template <typename ValueT>
inline TesseraScalar MakeTyped(ValueT value)
{
    TesseraScalar scalar = MakeScalar(TESSERA_ROLE_SCALAR, value);
    scalar.elem = static_cast<uint32_t>(ElemOf<ValueT>::tag) + 1;
    return scalar;
}

// A scalar in a type of its own: Exactly makes one.
template <typename ValueT>
struct Exact {
    ValueT value;
};

// The scalar operand of an instruction on elements of type T: a number becomes an element first.
template <typename T>
class ScalarOf {
public:
    template <typename ValueT, std::enable_if_t<IsScalar<ValueT>, int> = 0>
    ScalarOf(ValueT value) : scalar(MakeTyped(As(value)))
    {}
    template <typename ValueT>
    ScalarOf(Exact<ValueT> exact) : scalar(MakeTyped(exact.value))
    {}

    TesseraScalar scalar;

private:
    template <typename ValueT>
    static T As(ValueT value)
    {
        if constexpr (std::is_same_v<ValueT, T>) {
            return value;
        } else if constexpr (std::is_arithmetic_v<ValueT>) {
            return static_cast<T>(value);
        } else {
            return static_cast<T>(static_cast<float>(value));
        }
    }
};

} // namespace pto_model

// A scalar that an instruction takes in the type that it has, and not as an element of its tiles: TSELS takes the bits of
// an integer, TLRELU a slope of more precision (isa/scalar.md 2).
template <typename ValueT>
constexpr pto_model::Exact<ValueT> Exactly(ValueT value)
{
    return {value};
}

// Says that a call has no scratch tile, where its arguments would be those of another call.
struct NoTmp {};

} // namespace pto

#endif
