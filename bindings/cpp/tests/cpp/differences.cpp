// What cpu does that other pages say otherwise (cpp.md 8).
#include <pto/pto-inst.hpp>

#include "expect.hpp"

using namespace pto;

template <typename T, int R, int C>
using Vec = Tile<TileType::Vec, T, R, C>;
template <typename T, int R, int C>
using Mat = Tile<TileType::Mat, T, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor>;

static uint64_t Param(float scale, uint64_t more = 0)
{
    return __builtin_bit_cast(uint32_t, scale) | more;
}
constexpr uint64_t kSigned = uint64_t{1} << 46;

static void QuantizedOutOfMat()
{
    Mat<float, 16, 16> src;
    const float values[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 300.0f, -300.0f, std::numeric_limits<float>::infinity()};
    for (int i = 0; i < 256; ++i) {
        src.SetElement(i / 16, i % 16, values[i % 8]);
    }
    Vec<int8_t, 16, 32> wide;
    Tile<TileType::Vec, int8_t, 16, 32, BLayout::RowMajor, 16, 16> i8;
    TMOV(i8, src, Param(1.0f, kSigned));
    const int want[] = {0, 2, 2, 0, -2, 127, -128, 127};
    const int offset[] = {4, 4, 6, 2, 2, 127, -128, 127};
    for (int i = 0; i < 8; ++i) {
        EXPECT(i8.GetElement(1, i) == want[i]);
    }
    TMOV(i8, src, Param(1.0f, kSigned | uint64_t{3} << 37));
    for (int i = 0; i < 8; ++i) {
        EXPECT(i8.GetElement(1, i) == offset[i]);
    }
    // By column, with the parameters in Mat.
    Tile<TileType::Mat, uint64_t, 1, 16> fp;
    for (int i = 0; i < 16; ++i) {
        fp.SetElement(0, i, Param(i % 2 == 0 ? 2.0f : 1.0f, kSigned));
    }
    TMOV_FP<decltype(i8), decltype(src), decltype(fp), ReluPreMode::NormalRelu>(i8, src, fp);
    EXPECT(i8.GetElement(3, 2) == 5 && i8.GetElement(3, 1) == 2 && i8.GetElement(3, 4) == 0);
    Mat<int32_t, 16, 16> ints;
    ints.SetElement(0, 0, 70000);
    ints.SetElement(0, 1, -70000);
    Tile<TileType::Vec, int16_t, 16, 16> i16;
    TMOV(i16, ints, uint64_t{0});
    EXPECT(i16.GetElement(0, 0) == 32767 && i16.GetElement(0, 1) == -32768);
    // From Vec it is refused.
    Vec<float, 16, 16> vec;
    EXPECT_RULE("quant-source", TMOV(i8, vec, Param(1.0f, kSigned)));
}

static void Saturation()
{
    TileAcc<float, 16, 16> acc;
    acc.SetElement(0, 0, std::numeric_limits<float>::infinity());
    acc.SetElement(0, 1, std::numeric_limits<float>::quiet_NaN());
    acc.SetElement(0, 2, -1e9f);
    Vec<half, 16, 16> f16;
    TMOV(f16, acc, Param(1.0f));
    EXPECT(f16.GetElement(0, 0) == half(std::numeric_limits<float>::infinity()) && f16.GetElement(0, 2) == half(-65504.0f));
    EXPECT(f16.GetElement(0, 1) != f16.GetElement(0, 1));
    cpu_sim::set_task_cookie(uint64_t{1} << 48);
    TMOV(f16, acc, Param(1.0f));
    EXPECT(f16.GetElement(0, 0) == half(65504.0f) && f16.GetElement(0, 1) == half(0) && f16.GetElement(0, 2) == half(-65504.0f));
    Vec<bfloat16_t, 16, 16> bf16;
    TMOV(bf16, acc, Param(-1.0f));
    EXPECT(bf16.GetElement(0, 0) == std::numeric_limits<bfloat16_t>::lowest() && float(bf16.GetElement(0, 1)) == 0.0f);
    cpu_sim::set_task_cookie(0);
}

static void EqualTypes()
{
    Tile<TileType::Acc, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor> acc;
    for (int i = 0; i < 256; ++i) {
        acc.SetElement(i / 16, i % 16, half(i - 100));
    }
    Vec<half, 16, 16> out;
    TMOV(out, acc);
    EXPECT(out.GetElement(3, 5) == half(3 * 16 + 5 - 100));
    TMOV<Vec<half, 16, 16>, decltype(acc), ReluPreMode::NormalRelu>(out, acc);
    EXPECT(out.GetElement(3, 5) == half(0) && out.GetElement(15, 15) == half(155));
}

static void Counts()
{
    using I = Tile<TileType::Vec, int32_t, 8, 8, BLayout::RowMajor, 8, 1>;
    Tile<TileType::Vec, half, 8, 16> a, b;
    Tile<TileType::Vec, half, 8, 32> joined;
    I na, nb, n;
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 16; ++j) {
            a.SetElement(i, j, half(j));
            b.SetElement(i, j, half(100 + j));
        }
        na.SetElement(i, 0, 4 * i + 2); // no whole number of columns: rounded down
        nb.SetElement(i, 0, 9);
    }
    TCONCAT(joined, a, b, n, na, nb);
    EXPECT(n.GetElement(3, 0) == 4 * 3 + 2 + 9 && joined.GetElement(3, 2) == half(2) && joined.GetElement(3, 3) == half(100));
}

static void DnViews()
{
    // 2 × 3 rows of 8 columns, which lie column by column.
    std::vector<float> data(6 * 8);
    for (int i = 0; i < 48; ++i) {
        data[static_cast<std::size_t>(i)] = static_cast<float>(i);
    }
    GlobalTensor<float, Shape<1, 1, 2, 3, 8>, Stride<48, 48, 3, 1, 6>, Layout::DN> view(data.data());
    Vec<float, 6, 8> tile;
    TLOAD(tile, view);
    EXPECT(tile.GetElement(4, 5) == 5 * 6 + 4 && tile.GetElement(0, 7) == 42);
    std::vector<float> out(48);
    GlobalTensor<float, Shape<1, 1, 2, 3, 8>, Stride<48, 48, 3, 1, 6>, Layout::DN> back(out.data());
    TSTORE(back, tile);
    EXPECT(out == data);
}

int main()
{
    QuantizedOutOfMat();
    Saturation();
    EqualTypes();
    Counts();
    DnViews();
    return Finish("differences");
}
