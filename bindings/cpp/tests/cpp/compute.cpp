// The instructions that compute, on every profile, against plain loops; wrong calls are refused with the rule's id.

#include <vector>

#include "expect.hpp"

using namespace pto;

template <typename T>
using Vec = Tile<TileType::Vec, T, 8, 16>;

// Small whole numbers.
static int Small(int i) { return (i * 37 + 11) % 23 - 11; }

template <typename TileT>
static void Fill(TileT &tile, int from)
{
    std::vector<typename TileT::DType> values;
    for (int i = 0; i < TileT::Rows * TileT::Cols; ++i) {
        values.push_back(static_cast<typename TileT::DType>(Small(from + i)));
    }
    HostLoad(tile, values.data());
}

static void Add()
{
    Vec<float> a, b, sum;
    Fill(a, 0);
    Fill(b, 7);
    const RecordEvent done = TADD(sum, a, b);
    TADD(a, sum, b, done);
    for (int i = 0; i < 128; ++i) {
        EXPECT(sum.GetValue(i / 16, i % 16) == Small(i) + Small(i + 7));
        EXPECT(a.GetValue(i / 16, i % 16) == Small(i) + 2 * Small(i + 7));
    }
    Vec<int32_t> whole;
    EXPECT_RULE("tadd-dtype", TADD(sum, whole, b));
    Tile<TileType::Vec, float, 8, 16, BLayout::RowMajor, 4, 16> fewer;
    EXPECT_RULE("tadd-valid", TADD(fewer, a, b));
    Tile<TileType::Mat, float, 8, 16> mat;
    EXPECT_RULE(GetProfile() == Profile::Cpu ? "" : "tadd-loc", TADD(sum, sum, mat));
}

static void RowSum()
{
    Vec<float> src, tmp;
    Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, 8, 1> sums, again;
    Fill(src, 3);
    TROWSUM(sums, src, tmp);
    TROWSUM(again, src);
    for (int row = 0; row < 8; ++row) {
        int sum = 0;
        for (int col = 0; col < 16; ++col) {
            sum += Small(3 + row * 16 + col);
        }
        EXPECT(sums.GetValue(row, 0) == sum && again.GetValue(row, 0) == sum);
    }
    Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, 4, 1> fewer;
    EXPECT_RULE("trowsum-valid", TROWSUM(fewer, src));
}

static void MatMul()
{
    Vec<half> unused;
    TileAcc<float, 16, 16> c;
    TileRight<half, 32, 16> b;
    TileLeft<half, 16, 32> a;
    Fill(a, 1);
    Fill(b, 5);
    TMATMUL(c, a, b);
    for (int i = 0; i < 256; ++i) {
        int sum = 0;
        for (int k = 0; k < 32; ++k) {
            sum += Small(1 + i / 16 * 32 + k) * Small(5 + k * 16 + i % 16);
        }
        EXPECT(c.GetValue(i / 16, i % 16) == sum);
    }
    EXPECT_RULE("tmatmul-loc", TMATMUL(c, unused, b));
    TileAcc<int32_t, 16, 16> whole;
    EXPECT_RULE("tmatmul-dtype", TMATMUL(whole, a, b));
}

static void Gather()
{
    Vec<float> src, dst;
    Vec<int32_t> idx, tmp;
    Fill(src, 0);
    std::vector<int32_t> picks;
    for (int i = 0; i < 128; ++i) {
        picks.push_back(i * 41 % 128);
    }
    HostLoad(idx, picks.data());
    TGATHER(dst, src, idx, tmp);
    for (int i = 0; i < 128; ++i) {
        EXPECT(dst.GetValue(i / 16, i % 16) == Small(i * 41 % 128));
    }
    EXPECT_RULE(GetProfile() == Profile::A2A3 ? "tgather-tmp" : "", TGATHER(dst, src, idx));
    picks[77] = 128;
    HostLoad(idx, picks.data());
    EXPECT_RULE("tgather-index", TGATHER(dst, src, idx, tmp));
}

int main()
{
    for (const Profile profile : {Profile::Cpu, Profile::A2A3, Profile::A5}) {
        SetProfile(profile);
        Add();
        RowSum();
        MatMul();
        Gather();
    }
    return Finish("compute");
}
