// TPRINT: a tile, or a view, on the standard output (cpp.md 6.6).

#ifndef PTO_COMMON_PRINT_HPP
#define PTO_COMMON_PRINT_HPP

#include <pto/common/arguments.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {

namespace pto_detail {

// Rows of numbers, each in its width; get gives an element.
template <PrintFormat format, typename Get>
inline void PrintRows(int64_t rows, int64_t cols, Get get)
{
    constexpr int width = format == PrintFormat::Width10_Precision6 ? 10 : 8;
    constexpr int precision =
        format == PrintFormat::Width10_Precision6 ? 6 : format == PrintFormat::Width8_Precision2 ? 2 : 4;
    using T = decltype(get(rows, cols));
    std::printf("TPRINT %lldx%lld\n", static_cast<long long>(rows), static_cast<long long>(cols));
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) {
            const T value = get(r, c);
            const char *gap = c == 0 ? "" : " ";
            if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
                std::printf("%s%*lld", gap, width, static_cast<long long>(value));
            } else if constexpr (std::is_integral_v<T>) {
                std::printf("%s%*llu", gap, width, static_cast<unsigned long long>(value));
            } else {
                std::printf("%s%*.*f", gap, width, precision, static_cast<double>(static_cast<float>(value)));
            }
        }
        std::printf("\n");
    }
}

} // namespace pto_detail

// The valid region, row by row.
template <PrintFormat format = PrintFormat::Width8_Precision4, typename TileT>
PTO_INST std::enable_if_t<pto_detail::IsTile<TileT>> TPRINT_IMPL(TileT &src)
{
    pto_detail::PrintRows<format>(src.GetValidRow(), src.GetValidCol(), [&](int64_t r, int64_t c) { return src.GetValue(r, c); });
}
// A view: its last dimension is a row.
template <PrintFormat format = PrintFormat::Width8_Precision4, typename Global>
PTO_INST std::enable_if_t<pto_detail::IsView<Global>> TPRINT_IMPL(const Global &src)
{
    const int64_t n[4] = {src.GetShape(0), src.GetShape(1), src.GetShape(2), src.GetShape(3)};
    pto_detail::PrintRows<format>(n[0] * n[1] * n[2] * n[3], src.GetShape(4), [&](int64_t r, int64_t c) {
        return src.GetElement(r / (n[3] * n[2] * n[1]), r / (n[3] * n[2]) % n[1], r / n[3] % n[2], r % n[3], c);
    });
}
template <PrintFormat format = PrintFormat::Width8_Precision4, typename Global>
PTO_INST std::enable_if_t<pto_detail::IsView<Global>> TPRINT(const Global &src)
{
    TPRINT_IMPL<format>(src);
}
template <PrintFormat format = PrintFormat::Width8_Precision4, typename TileT>
PTO_INST std::enable_if_t<pto_detail::IsTile<TileT>> TPRINT(TileT &src)
{
    TPRINT_IMPL<format>(src);
}
// With a place in global memory that hardware prints through.
template <PrintFormat format = PrintFormat::Width8_Precision4, typename TileT, typename Global>
PTO_INST std::enable_if_t<pto_detail::IsTile<TileT> && pto_detail::IsView<Global>> TPRINT(TileT &src, const Global &)
{
    TPRINT_IMPL<format>(src);
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
