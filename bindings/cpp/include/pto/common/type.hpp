// The words of the tile model, with the tags of the C ABI as their values, and what an element type is.

#ifndef PTO_COMMON_TYPE_HPP
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

// A custom pad value carries the binary32 bits of the value in its low half: PadValueCustom makes one.
enum class PadValue : uint64_t {
    Null = TESSERA_PAD_NULL,
    Zero = TESSERA_PAD_ZERO,
    Max = TESSERA_PAD_MAX,
    Min = TESSERA_PAD_MIN,
    Custom = uint64_t{TESSERA_PAD_CUSTOM} << 32,
};

constexpr PadValue PadValueCustomBits(uint32_t binary32)
{
    return static_cast<PadValue>(static_cast<uint64_t>(PadValue::Custom) | binary32);
}

constexpr PadValue PadValueCustom(float value)
{
    return PadValueCustomBits(__builtin_bit_cast(uint32_t, value));
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

// Layouts of views (the first three) and of conv tiles.
enum class Layout : uint32_t {
    ND = TESSERA_VIEW_LAYOUT_ND,
    DN = TESSERA_VIEW_LAYOUT_DN,
    NZ = TESSERA_VIEW_LAYOUT_NZ,
    NC1HWC0,
    NDC1HWC0,
};

namespace model {

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
template <TesseraElem Tag> struct ElemOf<Float8<Tag>> : KnownElem<Tag, 8> {};
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

// A value that can be an operand: arithmetic, or one of the element types above.
template <typename T>
inline constexpr bool IsScalar = std::is_arithmetic_v<T> || (ElemOf<T>::known && std::is_convertible_v<T, float>);

constexpr TesseraScalar MakeScalarBits(TesseraRole role, TesseraNumber kind, uint64_t bits)
{
    return TesseraScalar{static_cast<uint32_t>(role), static_cast<uint32_t>(kind), bits, 0, 0};
}

template <typename V>
inline TesseraScalar MakeScalar(TesseraRole role, V value)
{
    if constexpr (std::is_integral_v<V> && std::is_signed_v<V>) {
        return MakeScalarBits(role, TESSERA_NUMBER_INT, static_cast<uint64_t>(static_cast<int64_t>(value)));
    } else if constexpr (std::is_integral_v<V>) {
        return MakeScalarBits(role, TESSERA_NUMBER_UINT, static_cast<uint64_t>(value));
    } else {
        double wide = 0;
        if constexpr (std::is_same_v<V, double>) {
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
template <typename V>
inline TesseraScalar MakeTyped(V value)
{
    TesseraScalar scalar = MakeScalar(TESSERA_ROLE_SCALAR, value);
    scalar.elem = static_cast<uint32_t>(ElemOf<V>::tag) + 1;
    return scalar;
}

// A scalar in a type of its own: Exactly makes one.
template <typename V>
struct Exact {
    V value;
};

// The scalar operand of an instruction on elements of type T: a number becomes an element first.
template <typename T>
class ScalarOf {
public:
    template <typename V, std::enable_if_t<IsScalar<V>, int> = 0>
    ScalarOf(V value) : scalar(MakeTyped(As(value)))
    {}
    template <typename V>
    ScalarOf(Exact<V> exact) : scalar(MakeTyped(exact.value))
    {}

    TesseraScalar scalar;

private:
    template <typename V>
    static T As(V value)
    {
        if constexpr (std::is_same_v<V, T>) {
            return value;
        } else if constexpr (std::is_arithmetic_v<V>) {
            return static_cast<T>(value);
        } else {
            return static_cast<T>(static_cast<float>(value));
        }
    }
};

} // namespace model

// A scalar that an instruction takes in the type that it has, and not as an element of its tiles: TSELS takes the bits of
// an integer, TLRELU a slope of more precision (isa/scalar.md 2).
template <typename V>
constexpr model::Exact<V> Exactly(V value)
{
    return {value};
}

// Says that a call has no scratch tile, where its arguments would be those of another call.
struct NoTmp {};

} // namespace pto

#endif
