// TPRINT: a tile on the standard output (cpp.md 6.6).

#ifndef PTO_COMMON_PRINT_HPP
#define PTO_COMMON_PRINT_HPP

#include <pto/common/arguments.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {

// The valid region, row by row.
template <PrintFormat format = PrintFormat::Width8_Precision4, typename TileT>
PTO_INST std::enable_if_t<pto_detail::IsTile<TileT>> TPRINT_IMPL(TileT &src)
{
    constexpr int width = format == PrintFormat::Width10_Precision6 ? 10 : 8;
    constexpr int precision =
        format == PrintFormat::Width10_Precision6 ? 6 : format == PrintFormat::Width8_Precision2 ? 2 : 4;
    const int64_t rows = src.GetValidRow(), cols = src.GetValidCol();
    std::printf("TPRINT %lldx%lld\n", static_cast<long long>(rows), static_cast<long long>(cols));
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) {
            const auto value = src.GetValue(r, c);
            const char *gap = c == 0 ? "" : " ";
            if constexpr (std::is_integral_v<decltype(src.GetValue(r, c))> && std::is_signed_v<decltype(src.GetValue(r, c))>) {
                std::printf("%s%*lld", gap, width, static_cast<long long>(value));
            } else if constexpr (std::is_integral_v<decltype(src.GetValue(r, c))>) {
                std::printf("%s%*llu", gap, width, static_cast<unsigned long long>(value));
            } else {
                std::printf("%s%*.*f", gap, width, precision, static_cast<double>(static_cast<float>(value)));
            }
        }
        std::printf("\n");
    }
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
