// Conv tiles: dense arrays of up to six dimensions, with what TIMG2COL asks of them (cpp.md 5).

#ifndef PTO_COMMON_CONV_TILE_HPP
#define PTO_COMMON_CONV_TILE_HPP

#include <pto/common/tile.hpp>

namespace pto {

// The extents of a conv tile; -1 is given when it is made.
template <int... Dims>
struct ConvTileShape {
    static_assert(sizeof...(Dims) >= 1 && sizeof...(Dims) <= 6, "tile-shape: a conv tile has one to six dimensions");

    static constexpr int totalDimCount = sizeof...(Dims);
    static constexpr int dynamicDimCount = ((Dims == -1 ? 1 : 0) + ...);
    static constexpr int64_t staticShape[6] = {Dims...};
    int64_t shape[6] = {(Dims == -1 ? 1 : Dims)...};

    ConvTileShape() = default;
    // The dynamic extents, or all of them; static ones stay.
    template <typename... Ns, std::enable_if_t<(sizeof...(Ns) > 0) && (std::is_convertible_v<Ns, int64_t> && ...), int> = 0>
    explicit ConvTileShape(Ns... numbers)
    {
        static_assert(sizeof...(Ns) == dynamicDimCount || sizeof...(Ns) == totalDimCount,
                      "tile-shape: give the dynamic extents of the conv tile, or all of them");
        const int64_t given[] = {static_cast<int64_t>(numbers)...};
        for (int i = 0, from = 0; i < totalDimCount; ++i) {
            const bool isDynamic = staticShape[i] == -1;
            shape[i] = isDynamic ? given[from] : shape[i];
            from += isDynamic || sizeof...(Ns) == totalDimCount ? 1 : 0;
        }
    }
};

inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

// What TIMG2COL takes from a conv tile besides its elements.
template <typename T>
class ConvFields : public TileBase {
#define PTO_CONV_FIELD(type, name, field, start)                                                                         \
public:                                                                                                                  \
    type Get##name() const { return field; }                                                                             \
    void Set##name(type value) { field = value; }                                                                        \
                                                                                                                         \
private:                                                                                                                 \
    type field = start;

    PTO_CONV_FIELD(uint16_t, FmapH, fmapH_, 0)
    PTO_CONV_FIELD(uint16_t, FmapW, fmapW_, 0)
    PTO_CONV_FIELD(uint16_t, FilterH, filterH_, 1)
    PTO_CONV_FIELD(uint16_t, FilterW, filterW_, 1)
    PTO_CONV_FIELD(uint16_t, DilationH, dilationH_, 1)
    PTO_CONV_FIELD(uint16_t, DilationW, dilationW_, 1)
    PTO_CONV_FIELD(uint16_t, StrideH, strideH_, 1)
    PTO_CONV_FIELD(uint16_t, StrideW, strideW_, 1)
    PTO_CONV_FIELD(T, PadValue, padValue_, {})
    PTO_CONV_FIELD(uint16_t, ChannelSize, channelSize_, 0)
    PTO_CONV_FIELD(uint16_t, RepeatStride, repeatStride_, 0)
    PTO_CONV_FIELD(uint8_t, RepeatTime, repeatTime_, 1)
    PTO_CONV_FIELD(uint8_t, RepeatMode, repeatMode_, 0)
    PTO_CONV_FIELD(bool, Transpose, transpose_, false)
    PTO_CONV_FIELD(uint16_t, DstStride, dstStride_, 0)
    PTO_CONV_FIELD(uint16_t, DstMposition, dstMposition_, 0)
#undef PTO_CONV_FIELD

public:
    // Left, right, top, bottom.
    uint8_t GetPadList(int i) const { return i >= 0 && i < 4 ? padList_[i] : uint8_t{0}; }
    void SetPadList(int i, uint8_t pad)
    {
        if (i >= 0 && i < 4) {
            padList_[i] = pad;
        }
    }
    const uint8_t *GetPadListArray() const { return padList_; }
    void SetPadListArray(const uint8_t pads[4]) { std::memcpy(padList_, pads, sizeof padList_); }

private:
    uint8_t padList_[4] = {};
};

} // namespace pto_detail

template <TileType Loc_, typename T, int BufferBytes, Layout Format, typename ShapeT>
class ConvTile : public pto_detail::ConvFields<T> {
    static_assert(pto_detail::ElemOf<T>::known, "tile-dtype: this is no element type of the tile model");
    using Fields = pto_detail::ConvFields<T>;

    static constexpr int64_t StaticNumel()
    {
        int64_t n = 1;
        for (int i = 0; i < ShapeT::totalDimCount; ++i) {
            n *= ShapeT::staticShape[i] == -1 ? 1 : ShapeT::staticShape[i];
        }
        return n;
    }

public:
    using DType = T;
    using TileDType = T *;
    using Described = TesseraConv;
    static constexpr TileType Loc = Loc_;
    static constexpr int bufferSize = BufferBytes;
    static constexpr Layout layout = Format;
    static constexpr int totalDimCount = ShapeT::totalDimCount;
    static constexpr int dynamicDimCount = ShapeT::dynamicDimCount;
    static constexpr const int64_t (&staticShape)[6] = ShapeT::staticShape;
    static constexpr bool isDynamicDim = dynamicDimCount > 0;
    static constexpr bool HasDepth = Format == Layout::NDC1HWC0;
    // As TIMG2COL sees it: one row in L1.
    static constexpr pto_detail::TileInfo Info{Loc_,
                                           pto_detail::ElemOf<T>::tag,
                                           pto_detail::ElemOf<T>::bits,
                                           1,
                                           StaticNumel(),
                                           1,
                                           StaticNumel(),
                                           BLayout::RowMajor,
                                           SLayout::NoneBox,
                                           512,
                                           PadValue::Null,
                                           CompactMode::Null};
    PTO_STATIC_RULE(pto_detail::TileDtypeOk(Info, kProfile), "tile-dtype: the element type does not exist on this profile");
    PTO_STATIC_RULE(pto_detail::TileSizeOk(Info, kProfile), "tile-size: the tile does not fit its memory on this profile");

    ConvTile() = default;
    template <typename... Ns, std::enable_if_t<(sizeof...(Ns) > 0) && (std::is_integral_v<Ns> && ...), int> = 0>
    explicit ConvTile(Ns... numbers) : shape_(numbers...)
    {}
    ConvTile(const ConvTile &other)
        : Fields(pto_detail::Access::Shared(other)), data_(other.data_), shape_(other.shape_)
    {}
    ConvTile &operator=(const ConvTile &other)
    {
        Fields::operator=(pto_detail::Access::Shared(other));
        data_ = other.data_;
        shape_ = other.shape_;
        return *this;
    }

    // The dynamic extents, in order.
    template <typename... Ns>
    void SetDynamicShape(Ns... numbers)
    {
        shape_ = ShapeT(numbers...);
    }
    // -1 outside.
    int64_t GetShape(int i) const { return i >= 0 && i < totalDimCount ? shape_.shape[i] : -1; }
    int64_t Numel() const
    {
        int64_t n = 1;
        for (int i = 0; i < totalDimCount; ++i) {
            n *= shape_.shape[i];
        }
        return n;
    }

    // As of a tile.
    T *&data()
    {
        pto_detail::Access::Expose(*this);
        return data_;
    }
    T *const &data() const
    {
        pto_detail::Access::Touch(*this);
        return data_;
    }

    // The type as the library knows it.
    TesseraConv Descriptor() const
    {
        TesseraConv conv{};
        conv.loc = static_cast<uint32_t>(Loc_);
        conv.elem = static_cast<uint32_t>(pto_detail::ElemOf<T>::tag);
        // Groups lie where depths do: to the library a sixth dimension is only an extent more.
        constexpr bool isLong = totalDimCount == 6;
        conv.has_depth = isLong ? 1 : 0;
        for (int i = 0, from = 0; i < 6; ++i) {
            conv.dims[i] = i == 1 && !isLong ? 1 : from < totalDimCount ? static_cast<uint64_t>(shape_.shape[from++]) : 1;
        }
        return conv;
    }

private:
    friend struct pto_detail::Access;

    mutable T *data_ = nullptr;
    ShapeT shape_;
};

// A conv tile whose buffer is as large as its extents make it.
template <TileType Loc, typename T, Layout Format, int... Dims>
using DenseConvTile = ConvTile<Loc, T, static_cast<int>((int64_t{1} * ... * Dims) * static_cast<int64_t>(sizeof(T))), Format,
                               ConvTileShape<Dims...>>;

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
