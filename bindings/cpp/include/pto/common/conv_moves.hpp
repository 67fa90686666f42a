// Moves of conv tiles (cpp.md 5): between their layouts (TTRANS), and out of a FRACTAL_Z array into Right (TEXTRACT, TMOV).
//
// Every array is dense in its own dimensions. Positions that no source element names keep their bits.

#ifndef PTO_COMMON_CONV_MOVES_HPP
#define PTO_COMMON_CONV_MOVES_HPP

#include <pto/common/move.hpp>
#include <pto/common/rearrange.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace detail {

// The extents of a layout by name; what it has not is 1.
struct ConvExtents {
    int64_t g = 1, n = 1, c = 1, d = 1, h = 1, w = 1, c0 = 1;
};

template <typename ConvT>
inline ConvExtents ExtentsOf(const ConvT &t)
{
    const auto s = [&](int i) { return t.GetShape(i); };
    switch (ConvT::layout) {
        case Layout::NCHW: return {1, s(0), s(1), 1, s(2), s(3), 1};
        case Layout::GNCHW: return {s(0), s(1), s(2), 1, s(3), s(4), 1};
        case Layout::NCDHW: return {1, s(0), s(1), s(2), s(3), s(4), 1};
        case Layout::NC1HWC0: return {1, s(0), s(1), 1, s(2), s(3), s(4)};
        case Layout::GNC1HWC0: return {s(0), s(1), s(2), 1, s(3), s(4), s(5)};
        default: return {};
    }
}

constexpr bool IsTransposed(Layout dst, Layout src)
{
    return (src == Layout::NCHW && dst == Layout::NC1HWC0) || (src == Layout::GNCHW && dst == Layout::GNC1HWC0) ||
           (src == Layout::NC1HWC0 && (dst == Layout::NCHW || dst == Layout::FRACTAL_Z)) ||
           (src == Layout::GNC1HWC0 && dst == Layout::FRACTAL_Z) ||
           (src == Layout::NCDHW && dst == Layout::FRACTAL_Z_3D);
}

// The place of channel c of an image in a dense array.
template <typename ConvT>
inline int64_t PlaceOf(const ConvT &t, const ConvExtents &e, int64_t g, int64_t n, int64_t c, int64_t d, int64_t h, int64_t w,
                       const ConvExtents &src)
{
    switch (ConvT::layout) {
        case Layout::NCHW:
        case Layout::GNCHW:
        case Layout::NCDHW: return ((((g * e.n + n) * e.c + c) * e.d + d) * e.h + h) * e.w + w;
        case Layout::NC1HWC0:
        case Layout::GNC1HWC0:
            return ((((g * e.n + n) * e.c + c / e.c0) * e.h + h) * e.w + w) * e.c0 + c % e.c0;
        default: {
            // [·, N1, N0, C0], the first one over groups, depths, blocks of channels, rows and columns.
            const int64_t n1 = t.GetShape(1), n0 = t.GetShape(2), c0 = t.GetShape(3);
            const int64_t blocks = src.c0 > 1 ? src.c : (src.c + c0 - 1) / c0;
            const int64_t first = (((g * src.d + d) * blocks + c / c0) * src.h + h) * src.w + w;
            return ((first * n1 + n / n0) * n0 + n % n0) * c0 + c % c0;
        }
    }
}

template <typename DstT, typename SrcT>
inline void TransposeConv(DstT &dst, SrcT &src, const Where &where)
{
    const Run run("TTRANS", where);
    if (!IsTransposed(DstT::layout, SrcT::layout)) {
        Fail("ttrans-layout", "TTRANS does not lead from this layout of a conv tile to that one (cpp.md 5)");
        return;
    }
    static_assert(sizeof(typename DstT::DType) == sizeof(typename SrcT::DType), "ttrans-size: element sizes are equal");
    const ConvExtents from = ExtentsOf(src), to = ExtentsOf(dst);
    const int64_t all = from.c * from.c0;
    // Channels that fill up the last block are left out where the destination has fewer.
    const int64_t channels = DstT::layout == Layout::NCHW && to.c < all ? to.c : all;
    const int64_t room = dst.Numel();
    for (int pass = 0; pass < 2; ++pass) {
        for (int64_t g = 0; g < from.g; ++g)
            for (int64_t n = 0; n < from.n; ++n)
                for (int64_t c = 0; c < channels; ++c)
                    for (int64_t d = 0; d < from.d; ++d)
                        for (int64_t h = 0; h < from.h; ++h)
                            for (int64_t w = 0; w < from.w; ++w) {
                                const int64_t there = PlaceOf(dst, to, g, n, c, d, h, w, from);
                                // First everything is looked at: what does not fit changes nothing.
                                if (pass == 0 && there >= room) {
                                    Fail("tile-shape", "an element of the source has no place in the destination's " +
                                                           std::to_string(room) + " elements");
                                    return;
                                }
                                if (pass == 1) {
                                    const int64_t here = PlaceOf(src, from, g, n, c, d, h, w, from);
                                    std::memcpy(static_cast<void *>(dst.data() + there), src.data() + here,
                                                sizeof(typename DstT::DType));
                                }
                            }
    }
}

// dst(r, c) = src[k / C0][n / 16][n % 16][k % C0] in whole boxes, k = row + r, n = col + c.
template <typename DstT, typename SrcT>
inline void ExtractConv(DstT &dst, SrcT &src, int64_t row, int64_t col, const char *name, const Where &where)
{
    const Run run(name, where);
    using T = typename SrcT::DType;
    static_assert(sizeof(typename DstT::DType) == sizeof(T), "textract-dtype: element types are equal");
    const bool isFlat = SrcT::totalDimCount == 4;
    const int64_t c0 = src.GetShape(isFlat ? 3 : 4);
    const int64_t all = isFlat ? src.GetShape(1) * src.GetShape(2) : src.GetShape(3);
    const int64_t first = isFlat ? src.GetShape(0) : src.GetShape(0) * src.GetShape(1) * src.GetShape(2);
    if (row % c0 != 0 || col % 16 != 0 || all % 16 != 0) {
        Fail("textract-align", "the window of a FRACTAL_Z array starts at a multiple of " + std::to_string(c0) +
                                   " rows and of 16 columns, and this is (" + std::to_string(row) + ", " +
                                   std::to_string(col) + ")");
        return;
    }
    const auto up = [](int64_t n, int64_t unit, int64_t most) {
        const int64_t whole = (n + unit - 1) / unit * unit;
        return whole < most ? whole : most;
    };
    const int64_t rows = up(dst.GetValidRow(), c0, DstT::Rows), cols = up(dst.GetValidCol(), 16, DstT::Cols);
    if (row < 0 || col < 0 || row + rows > first * c0 || col + cols > all) {
        Fail("textract-bounds", std::to_string(rows) + " rows and " + std::to_string(cols) + " columns at (" +
                                    std::to_string(row) + ", " + std::to_string(col) + ") leave the array of " +
                                    std::to_string(first * c0) + " and " + std::to_string(all));
        return;
    }
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) {
            const int64_t k = row + r, n = col + c;
            const int64_t from = ((k / c0 * (all / 16) + n / 16) * 16 + n % 16) * c0 + k % c0;
            std::memcpy(static_cast<void *>(dst.data() + DstT::Offset(r, c)), src.data() + from, sizeof(T));
        }
    }
}

} // namespace detail

template <TileType DL, typename DT, int DB, Layout DF, typename DS, TileType SL, typename ST, int SB, Layout SF, typename SS,
          typename Tmp>
PTO_INST RecordEvent TTRANS(ConvTile<DL, DT, DB, DF, DS> &dst, ConvTile<SL, ST, SB, SF, SS> &src, Tmp &,
                            const detail::Where &where = detail::Where::Here())
{
    return detail::TransposeConv(dst, src, where), RecordEvent{};
}
template <TileType DL, typename DT, int DB, Layout DF, typename DS, TileType SL, typename ST, int SB, Layout SF, typename SS>
PTO_INST RecordEvent TTRANS(ConvTile<DL, DT, DB, DF, DS> &dst, ConvTile<SL, ST, SB, SF, SS> &src,
                            const detail::Where &where = detail::Where::Here())
{
    return detail::TransposeConv(dst, src, where), RecordEvent{};
}

template <typename Dst, TileType L, typename T, int B, typename S>
PTO_INST RecordEvent TEXTRACT(Dst &dst, ConvTile<L, T, B, Layout::FRACTAL_Z, S> &src, int64_t row = 0, int64_t col = 0,
                              const detail::Where &where = detail::Where::Here())
{
    return detail::ExtractConv(dst, src, row, col, "TEXTRACT", where), RecordEvent{};
}
template <typename Dst, TileType L, typename T, int B, typename S>
PTO_INST RecordEvent TEXTRACT(Dst &dst, ConvTile<L, T, B, Layout::FRACTAL_Z_3D, S> &src, int64_t row = 0, int64_t col = 0,
                              const detail::Where &where = detail::Where::Here())
{
    return detail::ExtractConv(dst, src, row, col, "TEXTRACT", where), RecordEvent{};
}
template <typename Dst, TileType L, typename T, int B, typename S>
PTO_INST RecordEvent TMOV(Dst &dst, ConvTile<L, T, B, Layout::FRACTAL_Z, S> &src,
                          const detail::Where &where = detail::Where::Here())
{
    return detail::ExtractConv(dst, src, 0, 0, "TMOV", where), RecordEvent{};
}
template <typename Dst, TileType L, typename T, int B, typename S>
PTO_INST RecordEvent TMOV(Dst &dst, ConvTile<L, T, B, Layout::FRACTAL_Z_3D, S> &src,
                          const detail::Where &where = detail::Where::Here())
{
    return detail::ExtractConv(dst, src, 0, 0, "TMOV", where), RecordEvent{};
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
