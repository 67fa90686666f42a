// Looking at tiles and memory while a program runs on the host (cpp.md 1). Everything is printed to std::cout.

#ifndef PTO_COMMON_DEBUG_H
#define PTO_COMMON_DEBUG_H

#include <iomanip>
#include <iostream>
#include <string>

#include <pto/pto-inst.hpp>

#ifndef PTO_ASSERT
#ifdef _DEBUG
#define PTO_ASSERT(condition, ...) PTO_CPU_ASSERT(condition, __VA_ARGS__)
#else
#define PTO_ASSERT(condition, ...) static_cast<void>(0)
#endif
#endif

namespace pto {
inline namespace pto_debug {

// A number as it is read: 8-bit integers are no characters.
template <typename T>
inline void PrintNumber(const T &value, int width)
{
    if constexpr (std::is_integral_v<T>) {
        std::cout << std::setw(width) << +value;
    } else {
        std::cout << std::setw(width) << static_cast<double>(value);
    }
}

template <typename T>
inline void printRawMemory(const T *data, std::size_t n, const std::string &name = "", int width = 10, int perRow = 8)
{
    std::cout << name << " (" << n << ")\n";
    for (std::size_t i = 0; i < n; ++i) {
        PrintNumber(data[i], width);
        const bool endsRow = perRow > 0 && (i + 1) % static_cast<std::size_t>(perRow) == 0;
        std::cout << (endsRow || i + 1 == n ? "\n" : " ");
    }
}

// The declared area as it lies.
template <typename TileT>
inline void printRawTile(const TileT &tile, const std::string &name = "", int width = 5, int maxR = TileT::Rows,
                         int maxC = TileT::Cols)
{
    std::cout << name << " " << TileT::Rows << "x" << TileT::Cols << "\n";
    const auto *data = tile.data();
    for (int r = 0; r < TileT::Rows && r < maxR; ++r) {
        for (int c = 0; c < TileT::Cols && c < maxC; ++c) {
            PrintNumber(GetProperDataPart(data, static_cast<std::size_t>(r * TileT::Cols + c)), width);
            std::cout << " ";
        }
        std::cout << "\n";
    }
}

// The valid region by rows and columns.
template <typename TileT>
inline void printTile(const TileT &tile, const std::string &name = "", int width = 5, int maxR = TileT::Rows,
                      int maxC = TileT::Cols)
{
    std::cout << name << " " << tile.GetValidRow() << "x" << tile.GetValidCol() << "\n";
    const auto *data = tile.data();
    for (int r = 0; r < tile.GetValidRow() && r < maxR; ++r) {
        for (int c = 0; c < tile.GetValidCol() && c < maxC; ++c) {
            PrintNumber(GetProperDataPart(data, static_cast<std::size_t>(TileT::Offset(r, c))), width);
            std::cout << " ";
        }
        std::cout << "\n";
    }
}

// The last two dimensions of a view, for all others.
template <typename GlobalT>
inline void printRawGT(const GlobalT &view, const std::string &name = "", int width = 5, int maxR = 1 << 30,
                       int maxC = 1 << 30)
{
    std::cout << name << "\n";
    for (int64_t n = 0; n < view.GetShape(0) * view.GetShape(1) * view.GetShape(2); ++n) {
        const int64_t c = n % view.GetShape(2), b = n / view.GetShape(2) % view.GetShape(1);
        const int64_t a = n / view.GetShape(2) / view.GetShape(1);
        for (int64_t r = 0; r < view.GetShape(3) && r < maxR; ++r) {
            for (int64_t k = 0; k < view.GetShape(4) && k < maxC; ++k) {
                PrintNumber(view.GetElement(a, b, c, r, k), width);
                std::cout << " ";
            }
            std::cout << "\n";
        }
    }
}

} // namespace pto_debug
} // namespace pto

using namespace pto::pto_debug;

#endif
