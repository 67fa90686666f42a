// TSTORE out of an accumulator and with addition, TSTORE_FP, TPREFETCH, MGATHER and MSCATTER against plain loops.

#include <thread>

#include "expect.hpp"

using namespace pto;

constexpr int kSide = 16;
constexpr int kAll = kSide * kSide;
constexpr uint64_t kSigned = uint64_t(1) << 46;
constexpr uint64_t kHalf = 0x3f000000;

template <typename T>
using Square = GlobalTensor<T, Shape<1, 1, 1, kSide, kSide>, Stride<kAll, kAll, kAll, kSide, 1>>;
using Vec = Tile<TileType::Vec, float, kSide, kSide>;
using Acc = Tile<TileType::Acc, float, kSide, kSide, BLayout::ColMajor, kSide, kSide, SLayout::RowMajor, 1024>;
using Index = Tile<TileType::Vec, int32_t, kSide, 8, BLayout::RowMajor, kSide, 1>;
using Fp = Tile<TileType::Scaling, uint64_t, 1, kSide>;

static float Value(int n) { return static_cast<float>(n - 100); }

static void AtomicAdds()
{
    float in[kAll], out[kAll] = {};
    for (int n = 0; n < kAll; ++n) {
        in[n] = Value(n);
    }
    Square<float> from(in), to(out);
    auto add = [&] {
        Vec tile;
        TLOAD(tile, from);
        TSTORE<Vec, Square<float>, AtomicType::AtomicAdd>(to, tile);
        TSTORE<STPhase::Final, Vec, Square<float>, AtomicType::AtomicAdd>(to, tile);
    };
    std::thread other(add);
    add();
    other.join();
    for (int n = 0; n < kAll; ++n) {
        EXPECT(out[n] == 4 * Value(n));
    }
}

static void OutOfAcc()
{
    float in[kAll];
    int8_t out[kAll];
    uint64_t parameters[kSide];
    for (int n = 0; n < kAll; ++n) {
        in[n] = Value(n);
    }
    for (int j = 0; j < kSide; ++j) {
        parameters[j] = kSigned | kHalf;
    }
    Square<float> from(in);
    Square<int8_t> to(out);
    GlobalTensor<uint64_t, Shape<1, 1, 1, 1, kSide>, Stride<kSide, kSide, kSide, kSide, 1>> row(parameters);
    Acc acc;
    Fp fp;
    TLOAD(acc, from);
    TLOAD(fp, row);
    auto expect = [&](bool relu) {
        for (int n = 0; n < kAll; ++n) {
            const float t = Value(n) * 0.5f;
            const int even = 2 * static_cast<int>(t / 2);
            const int whole = static_cast<int>(t);
            const int rounded = t == static_cast<float>(whole) ? whole : (even == whole ? whole : whole + (t > 0 ? 1 : -1));
            const int clamped = rounded > 127 ? 127 : rounded < -128 ? -128 : rounded;
            EXPECT(out[n] == (relu && clamped < 0 ? 0 : clamped));
        }
    };
    TSTORE(to, acc, kSigned | kHalf);
    expect(false);
    TSTORE<Acc, Square<int8_t>, AtomicType::AtomicNone, ReluPreMode::NormalRelu>(to, acc, kSigned | kHalf);
    expect(true);
    TSTORE_FP(to, acc, fp);
    expect(false);
    EXPECT(RuleOf([&] { TSTORE(to, acc, kHalf); }) == "quant-sign");
    EXPECT(RuleOf([&] { TSTORE(to, acc); }) == "tstore-dtype");
}

static void ByIndex()
{
    float table[kAll], out[kAll];
    int32_t rows[kSide];
    for (int n = 0; n < kAll; ++n) {
        table[n] = Value(n);
    }
    for (int i = 0; i < kSide; ++i) {
        rows[i] = i == 3 ? -1 : kSide - 1 - i;
    }
    Square<float> from(table), to(out);
    GlobalTensor<int32_t, Shape<1, 1, 1, kSide, 1>, Stride<kSide, kSide, kSide, 1, 1>> list(rows);
    Vec tile;
    Index idx;
    TLOAD(idx, list);
    MGATHER<Coalesce::Row, GatherOOB::Zero>(tile, from, idx);
    TSTORE(to, tile);
    for (int n = 0; n < kAll; ++n) {
        EXPECT(out[n] == (n / kSide == 3 ? 0.0f : Value((kSide - 1 - n / kSide) * kSide + n % kSide)));
    }
    MSCATTER<Coalesce::Row, ScatterAtomicOp::Add, ScatterOOB::Skip>(from, tile, idx);
    for (int n = 0; n < kAll; ++n) {
        EXPECT(table[n] == (n / kSide == kSide - 4 ? 1 : 2) * Value(n));
    }
    EXPECT(RuleOf([&] { MGATHER(tile, from, idx); }) == "mgather-index");
    TPREFETCH(tile, to);
}

int main()
{
    AtomicAdds();
    OutOfAcc();
    ByIndex();
    return g_failures == 0 ? 0 : 1;
}
