// What an instruction costs through the header: nanoseconds of small ones, and the speed of large ones beside memcpy, measured in
// turn. `bash bindings/cpp/bench/run` builds and runs it.

#include <pto/pto-inst.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace pto;

static double Seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Nanoseconds of one call: the median of many short runs.
template <typename Function>
static double Nanoseconds(int calls, Function function)
{
    std::vector<double> times;
    for (int i = 0; i < 201; ++i) {
        const double start = Seconds();
        for (int n = 0; n < calls; ++n) {
            function();
        }
        times.push_back((Seconds() - start) * 1e9 / calls);
    }
    std::nth_element(times.begin(), times.begin() + 100, times.end());
    return times[100];
}

// The speed of a function that reads and writes so many bytes, relative to memcpy of half as many: the median of pairs.
template <typename Function>
static void Beside(const char *name, std::size_t bytes, Function function)
{
    std::vector<char> from(bytes / 2, 1), to(bytes / 2);
    const int calls = static_cast<int>(4'000'000 / bytes) + 1;
    std::vector<double> ratios;
    double own = 0;
    for (int i = 0; i < 401; ++i) {
        const double start = Seconds();
        for (int n = 0; n < calls; ++n) {
            function();
        }
        const double middle = Seconds();
        for (int n = 0; n < calls; ++n) {
            std::memcpy(to.data(), from.data(), bytes / 2);
            asm volatile("" ::"r"(to.data()) : "memory");
        }
        const double end = Seconds();
        ratios.push_back((end - middle) / (middle - start));
        own = own == 0 || middle - start < own ? middle - start : own;
    }
    std::nth_element(ratios.begin(), ratios.begin() + 200, ratios.end());
    std::printf("%-34s %8.1f ns  %5.2f of memcpy\n", name, own * 1e9 / calls, ratios[200]);
}

int main()
{
    {
        using Small = Tile<TileType::Vec, float, 16, 16>;
        Small a, b, c;
        TASSIGN(a, 0);
        TASSIGN(b, 1024);
        TASSIGN(c, 2048);
        std::vector<float> zeros(256, 1.0f);
        GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 16, 1>> g(zeros.data());
        TLOAD(a, g);
        TLOAD(b, g);
        std::printf("%-34s %8.1f ns\n", "TMOV f32 16x16", Nanoseconds(1000, [&] { TMOV(b, a); }));
        std::printf("%-34s %8.1f ns\n", "TADD f32 16x16", Nanoseconds(1000, [&] { TADD(c, a, b); }));
        std::printf("%-34s %8.1f ns\n", "TADDS f32 16x16", Nanoseconds(1000, [&] { TADDS(c, a, 1.5f); }));
        std::printf("%-34s %8.1f ns\n", "TMOV and TADD in turn, each", Nanoseconds(1000, [&] {
                        TMOV(b, a);
                        TADD(c, a, b);
                    }) / 2);
        std::printf("%-34s %8.1f ns\n", "TLOAD f32 16x16", Nanoseconds(1000, [&] { TLOAD(a, g); }));
        std::printf("%-34s %8.1f ns\n", "TSTORE f32 16x16", Nanoseconds(1000, [&] { TSTORE(g, a); }));
        Small x, y;
        TLOAD(x, g);
        std::printf("%-34s %8.1f ns\n", "TMOV f32 16x16, automatic", Nanoseconds(1000, [&] { TMOV(y, x); }));
    }
    {
        using Large = Tile<TileType::Vec, half, 128, 128>;
        Large a, b;
        TASSIGN(a, 0);
        TASSIGN(b, 32768);
        std::vector<half> ones(128 * 128);
        GlobalTensor<half, Shape<1, 1, 1, 128, 128>, Stride<1, 1, 1, 128, 1>> g(ones.data());
        TLOAD(a, g);
        Beside("TTRANS f16 128x128", 65536, [&] { TTRANS(b, a); });
        Beside("TMOV f16 128x128", 65536, [&] { TMOV(b, a); });
        Beside("TLOAD f16 128x128", 65536, [&] { TLOAD(a, g); });
        Beside("TSTORE f16 128x128", 65536, [&] { TSTORE(g, a); });
        std::vector<half> wide(128 * 2048);
        GlobalTensor<half, Shape<1, 1, 1, 128, 128>, Stride<1, 1, 1, 2048, 1>> rows(wide.data());
        Beside("TLOAD f16 128x128, rows 4 KiB apart", 65536, [&] { TLOAD(a, rows); });
        Beside("TSTORE f16 128x128, rows 4 KiB apart", 65536, [&] { TSTORE(rows, a); });
    }
}
