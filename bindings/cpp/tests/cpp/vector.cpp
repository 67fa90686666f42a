// Every instruction of the vector unit, on every profile, against plain loops.

#include <algorithm>
#include <cmath>
#include <vector>

#include "expect.hpp"

using namespace pto;

constexpr int kRows = 8;
constexpr int kCols = 16;

template <typename T, int Rows = kRows, int Cols = kCols, int ValidRow = Rows, int ValidCol = Cols>
using Vec = Tile<TileType::Vec, T, Rows, Cols, BLayout::RowMajor, ValidRow, ValidCol>;
// One value a row, and one a column.
using RowValues = Vec<float, kRows, 8, kRows, 1>;
using RowPlaces = Vec<int32_t, kRows, 8, kRows, 1>;
using ColValues = Vec<float, kRows, kCols, 1, kCols>;
using ColPlaces = Vec<int32_t, kRows, kCols, 1, kCols>;
using Column = Tile<TileType::Vec, float, kRows, 1, BLayout::ColMajor>;
// Two bytes of bits a row.
using Mask = Vec<uint8_t, kRows, 32, kRows, 2>;

// Halves that are never 0, and whole numbers.
static float A(int i) { return static_cast<float>((i * 37 + 11) % 23 - 11) + 0.5f; }
static float B(int i) { return static_cast<float>((i * 29 + 3) % 17 - 8) + 0.25f; }
static int32_t C(int i) { return (i * 7919 + 101) % 4001 - 2000; }
static int32_t D(int i) { return (i * 31 + 5) % 37 - 9; }
static float Row(int i) { return B(i / kCols); }
static float Col(int i) { return B(i % kCols); }

template <typename TileT, typename F>
static void Fill(TileT &tile, F f)
{
    std::vector<typename TileT::DType> values;
    for (int i = 0; i < static_cast<int>(tile.GetValidRow() * tile.GetValidCol()); ++i) {
        values.push_back(f(i));
    }
    HostLoad(tile, values.data());
}

// Equal, or within one unit in the last place of a value that was computed with more precision.
static bool Near(float got, double want)
{
    const float nearest = static_cast<float>(want);
    return got == nearest || got == std::nextafter(nearest, INFINITY) || got == std::nextafter(nearest, -INFINITY);
}

#define EACH(tile, expected)                                                           \
    for (int i = 0; i < kRows * kCols; ++i) {                                          \
        EXPECT((tile).GetValue(i / kCols, i % kCols) == (expected));                   \
    }
#define EACH_NEAR(tile, expected)                                                      \
    for (int i = 0; i < kRows * kCols; ++i) {                                          \
        EXPECT(Near((tile).GetValue(i / kCols, i % kCols), (expected)));               \
    }

static float Floored(float a, float b)
{
    const float r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

struct Tiles {
    Vec<float> a, b, d, tmp;
    Vec<int32_t> c, e, w, itmp;
    Vec<uint8_t, 16, 32> bytes;

    Tiles()
    {
        Fill(a, A);
        Fill(b, B);
        Fill(c, C);
        Fill(e, D);
        Fill(d, [](int) { return 0.0f; });
    }
};

static void Elementwise()
{
    Tiles t;
    auto &[a, b, d, tmp, c, e, w, itmp, bytes] = t;
    Vec<float> positive;
    TABS(positive, a);
    EACH(positive, std::fabs(A(i)));
    const RecordEvent done = TADD(d, a, b);
    EACH(d, A(i) + B(i));
    if (GetProfile() == Profile::A5) {
        // Structured bindings are not captured before C++20.
        auto &dst = d, &src0 = a, &src1 = b;
        EXPECT_RULE("taddrelu-profile", TADDRELU(dst, src0, src1));
    } else {
        TADDRELU(d, a, b);
        EACH(d, std::fmax(A(i) + B(i), 0.0f));
    }
    TSUB(d, a, b, done);
    EACH(d, A(i) - B(i));
    TMUL_IMPL(d, a, b);
    EACH(d, A(i) * B(i));
    TMUL(d, a, b);
    TDIV<DivAlgorithm::HIGH_PRECISION>(d, a, b);
    EACH(d, A(i) / B(i));
    TDIV(d, a, b);
    EACH(d, A(i) / B(i));
    TMAX(d, a, b);
    EACH(d, std::max(A(i), B(i)));
    TMIN(d, a, b);
    EACH(d, std::min(A(i), B(i)));
    TNEG(d, a);
    EACH(d, -A(i));
    TRELU(d, a);
    EACH(d, A(i) > 0 ? A(i) : 0);
    TPRELU(d, a, b, bytes);
    EACH(d, A(i) > 0 ? A(i) : B(i) * A(i));
    TRECIP(d, a);
    EACH(d, 1 / A(i));
    TSQRT(d, positive);
    EACH(d, std::sqrt(std::fabs(A(i))));
    TRSQRT(d, positive);
    EACH_NEAR(d, 1 / std::sqrt(static_cast<double>(std::fabs(A(i)))));
    TRSQRT(d, positive, tmp);
    TEXP<ExpAlgorithm::HIGH_PRECISION>(d, a);
    EACH_NEAR(d, std::exp(static_cast<double>(A(i))));
    TEXP(d, a);
    TLOG(d, positive);
    EACH_NEAR(d, std::log(static_cast<double>(std::fabs(A(i)))));
    TPOW(d, positive, b, tmp);
    EACH_NEAR(d, std::pow(static_cast<double>(std::fabs(A(i))), static_cast<double>(B(i))));
    TREM(d, a, b, tmp);
    EACH(d, Floored(A(i), B(i)));
    TFMOD(d, a, b);
    EACH(d, std::fmod(A(i), B(i)));
    TADDC(d, a, b, positive);
    EACH(d, A(i) + B(i) + std::fabs(A(i)));
    TSUBC(d, a, b, positive);
    EACH(d, A(i) - B(i) + std::fabs(A(i)));
    TAND(w, c, e);
    EACH(w, (C(i) & D(i)));
    TOR(w, c, e);
    EACH(w, (C(i) | D(i)));
    TXOR(w, c, e, itmp);
    EACH(w, (C(i) ^ D(i)));
    TNOT(w, c);
    EACH(w, ~C(i));
    TSHL(w, c, e);
    EACH(w, static_cast<int32_t>(static_cast<uint32_t>(C(i)) << (D(i) & 31)));
    TSHR(w, c, e);
    EACH(w, C(i) >> (D(i) & 31));
    TCVT(w, b, RoundMode::CAST_FLOOR);
    EACH(w, static_cast<int32_t>(std::floor(B(i))));
    TCVT(w, a, tmp, RoundMode::CAST_RINT, SaturationMode::ON);
    EACH(w, static_cast<int32_t>(std::nearbyint(A(i))));
    TCVT(d, c);
    EACH(d, static_cast<float>(C(i)));
    Mask mask;
    TCMP(mask, a, b, CmpMode::LT);
    TSEL<Vec<float>, Mask, Vec<float>>(d, mask, a, b, tmp);
    EACH(d, A(i) < B(i) ? A(i) : B(i));
}

static void Scalar()
{
    Tiles t;
    auto &[a, b, d, tmp, c, e, w, itmp, bytes] = t;
    TADDS(d, a, 2);
    EACH(d, A(i) + 2);
    TSUBS(d, a, 2.5);
    EACH(d, A(i) - 2.5f);
    TMULS(d, a, 0.5f);
    EACH(d, A(i) * 0.5f);
    TDIVS(d, a, 4.0f);
    EACH(d, A(i) / 4);
    TDIVS(d, 4.0f, a);
    EACH(d, 4 / A(i));
    TMAXS(d, a, 1.5f);
    EACH(d, std::max(A(i), 1.5f));
    TMINS(d, a, 1.5f);
    EACH(d, std::min(A(i), 1.5f));
    TLRELU(d, a, 0.25f);
    EACH(d, A(i) > 0 ? A(i) : 0.25f * A(i));
    TREMS(d, a, 3.0f, tmp);
    EACH(d, Floored(A(i), 3));
    TFMODS(d, a, 3.0f);
    EACH(d, std::fmod(A(i), 3.0f));
    TPOWS<PowAlgorithm::DEFAULT>(d, a, 3.0f, tmp);
    EACH_NEAR(d, std::pow(static_cast<double>(A(i)), 3.0));
    TADDSC(d, a, 2.0f, b);
    EACH(d, A(i) + 2 + B(i));
    TSUBSC(d, a, 2.0f, b);
    EACH(d, A(i) - 2 + B(i));
    Fill(d, B);
    TAXPY(d, a, 0.5f);
    EACH(d, B(i) + A(i) * 0.5f);
    TEXPANDS(d, 7);
    EACH(d, 7);
    TANDS(w, c, 0xF0);
    EACH(w, (C(i) & 0xF0));
    TORS(w, c, 0xF0);
    EACH(w, (C(i) | 0xF0));
    TXORS(w, c, 0xF0, itmp);
    EACH(w, (C(i) ^ 0xF0));
    TSHLS(w, c, 3);
    EACH(w, static_cast<int32_t>(static_cast<uint32_t>(C(i)) << 3));
    TSHRS(w, c, 3);
    EACH(w, C(i) >> 3);
    Mask mask;
    TCMPS(mask, a, 1.5f, CmpMode::GE);
    TSELS(d, mask, a, tmp, -1.0f);
    EACH(d, A(i) >= 1.5f ? A(i) : -1);
    // The bits of an integer, as they are.
    TSELS(d, mask, a, tmp, Exactly(int32_t{0x40400000}));
    EACH(d, A(i) >= 1.5f ? A(i) : 3);
    TCMPS(mask, a, b, CmpMode::LT);
    TSELS(d, mask, a, tmp, 0);
    EACH(d, A(i) < B(0) ? A(i) : 0);
    Vec<float> empty;
    auto &dst = d, &src = a;
    EXPECT_RULE("undefined-use", TCMPS(mask, src, empty, CmpMode::LT));
    EXPECT_RULE("texpands-scalar", TEXPANDS(dst, Exactly(int32_t{1})));
    // An integer added to floats is converted by its value (isa/today.md 6.8).
    TADDS(d, a, Exactly(int32_t{1}));
    EACH(d, A(i) + 1);
}

// What a row or a column folds into, from left to right.
template <typename F>
static float Fold(int line, bool row, float start, F f)
{
    float folded = start;
    for (int k = 0; k < (row ? kCols : kRows); ++k) {
        folded = f(folded, A(row ? line * kCols + k : k * kCols + line));
    }
    return folded;
}

template <typename F>
static int Place(int line, bool row, F before)
{
    int best = 0;
    const auto at = [&](int k) { return A(row ? line * kCols + k : k * kCols + line); };
    for (int k = 1; k < (row ? kCols : kRows); ++k) {
        best = before(at(k), at(best)) ? k : best;
    }
    return best;
}

#define EACH_ROW(tile, expected)                                  \
    for (int i = 0; i < kRows; ++i) {                             \
        EXPECT((tile).GetValue(i, 0) == (expected));              \
    }
#define EACH_COL(tile, expected)                                  \
    for (int i = 0; i < kCols; ++i) {                             \
        EXPECT((tile).GetValue(0, i) == (expected));              \
    }

static void Reduce()
{
    Tiles t;
    auto &a = t.a;
    auto &tmp = t.tmp;
    const auto sum = [](float x, float y) { return x + y; };
    const auto product = [](float x, float y) { return x * y; };
    const auto larger = [](float x, float y) { return std::max(x, y); };
    const auto smaller = [](float x, float y) { return std::min(x, y); };
    const auto greater = [](float x, float y) { return x > y; };
    const auto less = [](float x, float y) { return x < y; };
    RowValues rows;
    TROWSUM(rows, a, tmp);
    EACH_ROW(rows, Fold(i, true, 0, sum));
    TROWPROD(rows, a, tmp);
    EACH_ROW(rows, Fold(i, true, 1, product));
    TROWMAX(rows, a, tmp);
    EACH_ROW(rows, Fold(i, true, -INFINITY, larger));
    TROWMIN(rows, a, tmp);
    EACH_ROW(rows, Fold(i, true, INFINITY, smaller));
    ColValues cols;
    TCOLSUM(cols, a);
    EACH_COL(cols, Fold(i, false, 0, sum));
    TCOLSUM(cols, a, tmp, true);
    EACH_COL(cols, Fold(i, false, 0, sum));
    TCOLPROD(cols, a);
    EACH_COL(cols, Fold(i, false, 1, product));
    TCOLMAX(cols, a);
    EACH_COL(cols, Fold(i, false, -INFINITY, larger));
    TCOLMIN(cols, a);
    EACH_COL(cols, Fold(i, false, INFINITY, smaller));
    RowPlaces at_row;
    ColPlaces at_col;
    TROWARGMAX(at_row, a, tmp);
    EACH_ROW(at_row, Place(i, true, greater));
    TROWARGMIN(rows, at_row, a, tmp);
    EACH_ROW(at_row, Place(i, true, less));
    EACH_ROW(rows, Fold(i, true, INFINITY, smaller));
    TCOLARGMAX(cols, at_col, a, tmp);
    EACH_COL(at_col, Place(i, false, greater));
    EACH_COL(cols, Fold(i, false, -INFINITY, larger));
    TCOLARGMIN(at_col, a, tmp);
    EACH_COL(at_col, Place(i, false, less));
    TROWARGMIN(at_row, a);
    TROWARGMAX(rows, at_row, a, NoTmp{});
    EACH_ROW(rows, Fold(i, true, -INFINITY, larger));
}

static void Expand()
{
    Tiles t;
    auto &a = t.a;
    auto &d = t.d;
    auto &tmp = t.tmp;
    RowValues block;
    Column column;
    Vec<float, 1, kCols> row;
    Fill(block, B);
    Fill(column, B);
    Fill(row, B);
    TROWEXPAND(d, block);
    EACH(d, Row(i));
    TCOLEXPAND(d, row);
    EACH(d, Col(i));
    TROWEXPANDADD(d, a, column);
    EACH(d, A(i) + Row(i));
    TROWEXPANDSUB(d, column, a);
    EACH(d, Row(i) - A(i));
    TROWEXPANDMUL(d, a, column, tmp);
    EACH(d, A(i) * Row(i));
    TROWEXPANDDIV<DivAlgorithm::DEFAULT>(d, a, column);
    EACH(d, A(i) / Row(i));
    TROWEXPANDMAX(d, a, column);
    EACH(d, std::max(A(i), Row(i)));
    TROWEXPANDMIN(d, a, column);
    EACH(d, std::min(A(i), Row(i)));
    TROWEXPANDEXPDIF(d, a, column);
    EACH_NEAR(d, std::exp(static_cast<double>(A(i) - Row(i))));
    TROWEXPANDADD(d, a, block, Src1Col{1});
    EACH(d, A(i) + Row(i));
    TCOLEXPANDADD(d, a, row);
    EACH(d, A(i) + Col(i));
    TCOLEXPANDSUB(d, a, row);
    EACH(d, A(i) - Col(i));
    TCOLEXPANDMUL(d, a, row);
    EACH(d, A(i) * Col(i));
    TCOLEXPANDDIV<DivAlgorithm::HIGH_PRECISION>(d, a, row);
    EACH(d, A(i) / Col(i));
    TCOLEXPANDMAX(d, a, row);
    EACH(d, std::max(A(i), Col(i)));
    TCOLEXPANDMIN(d, a, row);
    EACH(d, std::min(A(i), Col(i)));
    TCOLEXPANDEXPDIF(d, a, row);
    EACH_NEAR(d, std::exp(static_cast<double>(A(i) - Col(i))));
    TPAIRREDUCESUM(d, a);
    for (int i = 0; i < kRows * kCols; ++i) {
        const int j = i % kCols;
        const int pair = i - j + 2 * j;
        EXPECT(d.GetValue(i / kCols, j) == (j < kCols / 2 ? A(pair) + A(pair + 1) : 0));
    }
}

int main()
{
    for (const Profile profile : {Profile::Cpu, Profile::A2A3, Profile::A5}) {
        SetProfile(profile);
        Elementwise();
        Scalar();
        Reduce();
        Expand();
    }
    return Finish("vector");
}
