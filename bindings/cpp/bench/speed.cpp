// What an instruction costs through the header: nanoseconds of small ones, and the speed of large ones beside memcpy, measured in
// turn. `bash bindings/cpp/bench/run` builds and runs it.

#include <pto/pto-inst.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
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
    // A core that slept takes some time until it is at its speed.
    for (const double start = Seconds(); Seconds() < start + 0.05;) {
        function();
    }
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

// Bytes that a ring of tiles has: several times the first-level cache, and little enough for the second level.
static constexpr std::size_t kRing = 256 << 10;

// The speed of a function of a turn that reads and writes so many bytes, relative to memcpy of half as many: the median of pairs. Both
// go round as many bytes, which begin at cache lines.
template <typename Function>
static void Beside(const char *name, std::size_t bytes, Function function)
{
    const std::size_t turns = kRing / bytes;
    std::vector<char> room(kRing + 64, 1);
    char *first = room.data() + (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64) % 64;
    const std::size_t calls = (4'000'000 / bytes + turns) / turns * turns;
    std::vector<double> ratios;
    double own = 0;
    for (int i = 0; i < 401; ++i) {
        const double start = Seconds();
        for (std::size_t n = 0; n < calls; ++n) {
            function(n % turns);
        }
        const double middle = Seconds();
        for (std::size_t n = 0; n < calls; ++n) {
            char *from = first + n % turns * bytes;
            std::memcpy(from + bytes / 2, from, bytes / 2);
            asm volatile("" ::"r"(from) : "memory");
        }
        const double end = Seconds();
        ratios.push_back((end - middle) / (middle - start));
        own = own == 0 || middle - start < own ? middle - start : own;
    }
    std::nth_element(ratios.begin(), ratios.begin() + 200, ratios.end());
    std::printf("%-36s %8.1f ns  %5.2f of memcpy\n", name, own * 1e9 / static_cast<double>(calls), ratios[200]);
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
        constexpr std::size_t kBytes = 65536;
        Large a[kRing / kBytes], b[kRing / kBytes];
        std::vector<half> ones(128 * 128);
        GlobalTensor<half, Shape<1, 1, 1, 128, 128>, Stride<1, 1, 1, 128, 1>> g(ones.data());
        for (std::size_t n = 0; n < kRing / kBytes; ++n) {
            TASSIGN(a[n], n * kBytes);
            TASSIGN(b[n], n * kBytes + kBytes / 2);
            TLOAD(a[n], g);
        }
        Beside("TTRANS f16 128x128", kBytes, [&](std::size_t n) { TTRANS(b[n], a[n]); });
        Beside("TMOV f16 128x128", kBytes, [&](std::size_t n) { TMOV(b[n], a[n]); });
        Beside("TLOAD f16 128x128", kBytes, [&](std::size_t n) { TLOAD(a[n], g); });
        Beside("TSTORE f16 128x128", kBytes, [&](std::size_t n) { TSTORE(g, a[n]); });
        std::vector<half> wide(128 * 2048);
        GlobalTensor<half, Shape<1, 1, 1, 128, 128>, Stride<1, 1, 1, 2048, 1>> rows(wide.data());
        Beside("TLOAD f16 128x128, rows 4 KiB apart", kBytes, [&](std::size_t n) { TLOAD(a[n], rows); });
        Beside("TSTORE f16 128x128, rows 4 KiB apart", kBytes, [&](std::size_t n) { TSTORE(rows, a[n]); });
    }
}
