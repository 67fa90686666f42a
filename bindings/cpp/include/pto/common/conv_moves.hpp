// Moves of conv tiles (cpp.md 5): between their layouts (TTRANS), out of a FRACTAL_Z array into Right (TEXTRACT, TMOV), and from
// and to views of the same layout (TLOAD, TSTORE).
//
// Every one copies rows and columns from one array to another; what differs is how an array splits their numbers into its
// dimensions. Positions that no source element names keep their bits.

#ifndef PTO_COMMON_CONV_MOVES_HPP
#define PTO_COMMON_CONV_MOVES_HPP

#include <pto/common/move.hpp>
#include <pto/common/rearrange.hpp>
#include <pto/common/transfer.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

// An array as rows and columns; digits are given outermost first.
class Matrix {
public:
    Matrix(TileType loc, TesseraElem elem, const void *data)
    {
        matrix_.loc = static_cast<uint32_t>(loc);
        matrix_.elem = static_cast<uint32_t>(elem);
        matrix_.data = const_cast<void *>(data);
    }

    Matrix &Row(int64_t extent, int64_t stride) { return Add(matrix_.row, rowCount_, rows_, extent, stride); }
    Matrix &Col(int64_t extent, int64_t stride) { return Add(matrix_.col, colCount_, cols_, extent, stride); }
    int64_t rows() const { return rows_; }
    int64_t cols() const { return cols_; }

    // Copies so many rows and columns, from (row, col) of the source on.
    void CopyFrom(const Matrix &src, int64_t rows, int64_t cols, int64_t row = 0, int64_t col = 0) const
    {
        if (rows <= 0 || cols <= 0) {
            return;
        }
        const auto &machine = CurrentMachine();
        const uint64_t at[2] = {static_cast<uint64_t>(row), static_cast<uint64_t>(col)};
        const uint64_t extent[2] = {static_cast<uint64_t>(rows), static_cast<uint64_t>(cols)};
        machine->Done(tessera_copy_matrix(machine->handle(), &matrix_, &src.matrix_, &at, &extent));
    }

private:
    Matrix &Add(TesseraDigit (&digits)[5], int &count, int64_t &all, int64_t extent, int64_t stride)
    {
        digits[count++] = {static_cast<uint64_t>(extent), stride};
        all *= extent;
        return *this;
    }

    TesseraMatrix matrix_{};
    int rowCount_ = 0;
    int colCount_ = 0;
    int64_t rows_ = 1;
    int64_t cols_ = 1;
};

// The extents of a layout by name; what it has not is 1. `c` counts blocks where there are some.
struct ConvExtents {
    int64_t g = 1, n = 1, c = 1, d = 1, h = 1, w = 1, c0 = 1;

    int64_t Channels() const { return c * c0; }
    bool SameImages(const ConvExtents &o) const { return g == o.g && n == o.n && d == o.d && h == o.h && w == o.w; }
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

constexpr bool IsFractalZ(Layout layout) { return layout == Layout::FRACTAL_Z || layout == Layout::FRACTAL_Z_3D; }

constexpr bool IsTransposed(Layout dst, Layout src)
{
    return (src == Layout::NCHW && dst == Layout::NC1HWC0) || (src == Layout::GNCHW && dst == Layout::GNC1HWC0) ||
           (src == Layout::NC1HWC0 && (dst == Layout::NCHW || dst == Layout::FRACTAL_Z)) ||
           (src == Layout::GNC1HWC0 && dst == Layout::FRACTAL_Z) ||
           (src == Layout::NCDHW && dst == Layout::FRACTAL_Z_3D);
}

// Group g of an array of images, dense in its dimensions: channels are rows, (n, d, h, w) columns.
template <typename ConvT>
inline Matrix ImagesOf(const ConvT &t, const ConvExtents &e, int64_t g)
{
    using T = typename ConvT::DType;
    const int64_t image = e.d * e.h * e.w, all = e.n * e.Channels() * image;
    Matrix m(ConvT::Loc, ElemOf<T>::tag, static_cast<const T *>(Access::Pointer(t)) + g * all);
    m.Row(e.c, image * e.c0).Row(e.c0, 1);
    return m.Col(e.n, e.Channels() * image).Col(e.d, e.h * e.w * e.c0).Col(e.h, e.w * e.c0).Col(e.w, e.c0);
}

// The same of a FRACTAL_Z array [G·D·C1·H·W, N1, N0, C0] that holds the images of `src`.
template <typename ConvT>
inline Matrix FractalOf(const ConvT &t, const ConvExtents &src, int64_t g)
{
    using T = typename ConvT::DType;
    const int64_t n1 = t.GetShape(1), n0 = t.GetShape(2), c0 = t.GetShape(3), box = n1 * n0 * c0;
    const int64_t blocks = (src.Channels() + c0 - 1) / c0, image = src.h * src.w;
    Matrix m(ConvT::Loc, ElemOf<T>::tag, static_cast<const T *>(Access::Pointer(t)) + g * src.d * blocks * image * box);
    m.Row(blocks, image * box).Row(c0, 1).Col(n1, n0 * c0).Col(n0, c0);
    return m.Col(src.d, blocks * image * box).Col(src.h, src.w * box).Col(src.w, box);
}

// Says whether everything has a place; tells what does not.
template <typename DstT>
inline bool FitsConv(const DstT &dst, const ConvExtents &from)
{
    bool fits = false;
    if constexpr (IsFractalZ(DstT::layout)) {
        const int64_t c0 = dst.GetShape(3);
        fits = c0 > 0 && (from.c0 == 1 || from.c0 == c0) && from.n <= dst.GetShape(1) * dst.GetShape(2) &&
               from.g * from.d * ((from.Channels() + c0 - 1) / c0) * from.h * from.w <= dst.GetShape(0);
    } else {
        const ConvExtents to = ExtentsOf(dst);
        fits = to.SameImages(from) && (DstT::layout == Layout::NCHW || from.Channels() <= to.Channels());
    }
    if (!fits) {
        Fail("tile-shape", "the source has " + std::to_string(from.n) + " images of " + std::to_string(from.Channels()) +
                               " channels and " + std::to_string(from.d * from.h * from.w) +
                               " pixels, for which the destination has no place: give it the extents of cpp.md 5");
    }
    return fits;
}

template <typename DstT, typename SrcT>
inline void TransposeConv(DstT &dst, SrcT &src, const SourceLocation &where)
{
    const Run run("TTRANS", where);
    if (!IsTransposed(DstT::layout, SrcT::layout)) {
        Fail("ttrans-layout", "TTRANS does not lead from this layout of a conv tile to that one (cpp.md 5)");
        return;
    }
    static_assert(sizeof(typename DstT::DType) == sizeof(typename SrcT::DType), "ttrans-size: element sizes are equal");
    const ConvExtents from = ExtentsOf(src);
    if (!FitsConv(dst, from)) {
        return;
    }
    for (int64_t g = 0; g < from.g; ++g) {
        const Matrix images = ImagesOf(src, from, g);
        if constexpr (IsFractalZ(DstT::layout)) {
            FractalOf(dst, from, g).CopyFrom(images, from.Channels(), images.cols());
        } else {
            const ConvExtents to = ExtentsOf(dst);
            const int64_t channels = to.Channels() < from.Channels() ? to.Channels() : from.Channels();
            ImagesOf(dst, to, g).CopyFrom(images, channels, images.cols());
        }
    }
}

// A FRACTAL_Z array as TEXTRACT reads it: k = (first, c0) are rows, n columns.
template <typename ConvT>
inline Matrix FiltersOf(const ConvT &t)
{
    const bool isFlat = ConvT::totalDimCount == 4;
    const int64_t first = isFlat ? t.GetShape(0) : t.GetShape(0) * t.GetShape(1) * t.GetShape(2);
    const int64_t all = isFlat ? t.GetShape(1) * t.GetShape(2) : t.GetShape(3), c0 = t.GetShape(isFlat ? 3 : 4);
    Matrix m(ConvT::Loc, ElemOf<typename ConvT::DType>::tag, Access::Pointer(t));
    return m.Row(first, all * c0).Row(c0, 1).Col(all, c0);
}

// dst(r, c) = src[k / C0][n / 16][n % 16][k % C0] in whole boxes, k = row + r, n = col + c.
template <typename DstT, typename SrcT>
inline void ExtractConv(DstT &dst, SrcT &src, int64_t row, int64_t col, const char *name, const SourceLocation &where)
{
    static_assert(IsFractalZ(SrcT::layout), "textract-layout: of conv tiles only FRACTAL_Z and FRACTAL_Z_3D are extracted");
    const Run run(name, where);
    using T = typename SrcT::DType;
    static_assert(sizeof(typename DstT::DType) == sizeof(T), "textract-dtype: element types are equal");
    const int64_t c0 = src.GetShape(SrcT::totalDimCount - 1);
    const Matrix filters = FiltersOf(src);
    if (row % c0 != 0 || col % 16 != 0 || filters.cols() % 16 != 0) {
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
    if (row < 0 || col < 0 || row + rows > filters.rows() || col + cols > filters.cols()) {
        Fail("textract-bounds", std::to_string(rows) + " rows and " + std::to_string(cols) + " columns at (" +
                                    std::to_string(row) + ", " + std::to_string(col) + ") leave the array of " +
                                    std::to_string(filters.rows()) + " and " + std::to_string(filters.cols()));
        return;
    }
    constexpr int64_t inR = DstT::InnerRows, inC = DstT::InnerCols;
    Matrix to(DstT::Loc, ElemOf<T>::tag, Access::Pointer(dst));
    to.Row(DstT::Rows / inR, DstT::Offset(inR, 0)).Row(inR, DstT::Offset(1 % inR, 0) + (inR == 1 ? 1 : 0));
    to.Col(DstT::Cols / inC, DstT::Offset(0, inC)).Col(inC, DstT::Offset(0, 1 % inC) + (inC == 1 ? 1 : 0));
    to.CopyFrom(filters, rows, cols, row, col);
}

// The rows and columns of cpp.md 5 of a conv tile, or of a view of the same layout: extents and strides of its dimensions.
inline Matrix ConvMatrix(Layout layout, int dims, const int64_t *n, const int64_t *s, int64_t c0, Matrix m)
{
    if (layout == Layout::NDC1HWC0) {
        // Of a view C0 lies densely behind the last dimension.
        return m.Row(n[0], s[0]).Row(n[3], s[3]).Row(n[4], s[4]).Col(n[1], s[1]).Col(n[2], s[2]).Col(c0, 1);
    }
    if (layout == Layout::NC1HWC0) {
        return m.Row(n[0], s[0]).Row(n[2], s[2]).Row(n[3], s[3]).Col(n[1], s[1]).Col(n[4], s[4]);
    }
    if (dims == 4) {
        return m.Row(n[0], s[0]).Row(n[1], s[1]).Row(n[3], s[3]).Col(n[2], s[2]);
    }
    return m.Row(n[0], s[0]).Row(n[1], s[1]).Row(n[2], s[2]).Row(n[4], s[4]).Col(n[3], s[3]);
}

template <typename ConvT>
inline Matrix ConvMatrixOf(const ConvT &t)
{
    int64_t extents[6], strides[6], all = 1;
    for (int i = ConvT::totalDimCount - 1; i >= 0; --i) {
        extents[i] = t.GetShape(i);
        strides[i] = all;
        all *= extents[i];
    }
    return ConvMatrix(ConvT::layout, ConvT::totalDimCount, extents, strides, extents[ConvT::totalDimCount - 1],
                      Matrix(ConvT::Loc, ElemOf<typename ConvT::DType>::tag, Access::Pointer(t)));
}

template <typename GlobalT>
inline Matrix ConvMatrixOfView(const GlobalT &view)
{
    using T = typename GlobalT::DType;
    const TesseraView v = view.Describe();
    return ConvMatrix(GlobalT::layout, 5, v.shape, v.stride, 32 / static_cast<int64_t>(sizeof(T)),
                      Matrix(TileType::Mat, ElemOf<T>::tag, v.data));
}

constexpr bool IsLoadedConv(Layout layout)
{
    return layout == Layout::NC1HWC0 || layout == Layout::NDC1HWC0 || layout == Layout::FRACTAL_Z;
}

// Are both of a layout in which cpp.md 5 moves them?
template <typename ConvT, typename Global>
inline constexpr bool IsConvPair =
    ConvT::layout == Global::layout && IsLoadedConv(ConvT::layout) && Global::DimCount == 5;

template <typename ConvT, typename Global>
inline void LoadByPlaces(ConvT &dst, const Global &src)
{
    if constexpr (IsConvPair<ConvT, Global>) {
        const Matrix from = ConvMatrixOfView(src), to = ConvMatrixOf(dst);
        to.CopyFrom(from, from.rows() < to.rows() ? from.rows() : to.rows(), from.cols() < to.cols() ? from.cols() : to.cols());
    } else {
        LoadConv(dst, src.Describe());
    }
}

template <typename ConvT, typename Global>
inline void StoreByPlaces(const Global &dst, ConvT &src)
{
    static_assert(!Global::IsConst, "a store writes, and this is a view of const elements");
    if constexpr (!IsConvPair<ConvT, Global> || IsFractalZ(ConvT::layout)) {
        Fail("tstore-layout", "a conv tile is stored in NC1HWC0 or NDC1HWC0, into a view of the same layout and five "
                              "dimensions (cpp.md 5)");
    } else {
        const Matrix to = ConvMatrixOfView(dst), from = ConvMatrixOf(src);
        if (from.rows() > to.rows() || from.cols() > to.cols()) {
            Fail("tstore-shape", "the conv tile has " + std::to_string(from.rows()) + " rows and " +
                                     std::to_string(from.cols()) + " columns, and the view " + std::to_string(to.rows()) +
                                     " and " + std::to_string(to.cols()));
            return;
        }
        to.CopyFrom(from, from.rows(), from.cols());
    }
}

} // namespace pto_detail

PTO_INTRINSIC(TTRANS, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsConvTile<Src>), (Dst &dst, Src &src), (dst, src),
              pto_detail::TransposeConv(dst, src, where);)
PTO_INTRINSIC(TTRANS, (typename Dst, typename Src, typename Tmp), (Dst, Src, Tmp),
              (pto_detail::IsConvTile<Src> && pto_detail::IsTile<Tmp>), (Dst &dst, Src &src, [[maybe_unused]] Tmp &tmp), (dst, src, tmp),
              pto_detail::TransposeConv(dst, src, where);)
PTO_INTRINSIC_OR(TEXTRACT, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsConvTile<Src>),
                 (Dst &dst, Src &src, int64_t row = 0, int64_t col = 0), (Dst &dst, Src &src, int64_t row, int64_t col),
                 (dst, src, row, col), pto_detail::ExtractConv(dst, src, row, col, "TEXTRACT", where);)
PTO_INTRINSIC(TMOV, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsConvTile<Src>), (Dst &dst, Src &src), (dst, src),
              pto_detail::ExtractConv(dst, src, 0, 0, "TMOV", where);)
PTO_INTRINSIC(TLOAD, (typename Conv, typename Global), (Conv, Global), (pto_detail::IsConvTile<Conv> && pto_detail::IsView<Global>),
              (Conv &dst, const Global &src), (dst, src), const pto_detail::Run run("TLOAD", where);
              pto_detail::LoadByPlaces(dst, src);)
PTO_INTRINSIC(TSTORE, (typename Conv, typename Global), (Conv, Global), (pto_detail::IsConvTile<Conv> && pto_detail::IsView<Global>),
              (const Global &dst, Conv &src), (dst, src), const pto_detail::Run run("TSTORE", where);
              pto_detail::StoreByPlaces(dst, src);)

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
