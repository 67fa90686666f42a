// The overloads of cpp.md 6 that the vector kernel does not call, against plain loops.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "expect.hpp"

using namespace pto;

template <typename T, int Rows = 8, int Cols = 32>
using Vec = Tile<TileType::Vec, T, Rows, Cols>;

// Small whole numbers of both signs.
static int Small(int i) { return (i * 37 + 11) % 23 - 11; }

template <typename TileT, typename Function>
static void Fill(TileT &tile, Function f)
{
    std::vector<typename TileT::DType> values;
    for (int i = 0; i < tile.GetValidRow() * tile.GetValidCol(); ++i) {
        values.push_back(static_cast<typename TileT::DType>(f(i)));
    }
    HostLoad(tile, values.data());
}

template <typename TileT>
static std::vector<typename TileT::DType> Read(const TileT &tile)
{
    std::vector<typename TileT::DType> values(static_cast<size_t>(tile.GetValidRow() * tile.GetValidCol()));
    HostStore(values.data(), tile);
    return values;
}

// Is every element what the function of its place gives?
template <typename TileT, typename Function>
static bool Holds(const TileT &tile, Function f)
{
    const auto values = Read(tile);
    for (size_t i = 0; i < values.size(); ++i) {
        if (!(static_cast<double>(values[i]) == static_cast<double>(f(static_cast<int>(i))))) {
            std::printf("element %d is %g, not %g\n", static_cast<int>(i), static_cast<double>(values[i]),
                        static_cast<double>(f(static_cast<int>(i))));
            return false;
        }
    }
    return true;
}

static int Relu(int x) { return x > 0 ? x : 0; }

template <typename T>
static void Fused()
{
    Vec<T> a, b, d;
    const auto x = [](int i) { return Small(i); };
    const auto y = [](int i) { return Small(i + 5); };
    const auto z = [](int i) { return Small(i * 3 + 2); };
    Fill(a, x);
    Fill(b, y);
    TSUBRELU(d, a, b);
    EXPECT(Holds(d, [&](int i) { return Relu(x(i) - y(i)); }));
    Fill(d, z);
    TMULADDDST(d, a, b);
    EXPECT(Holds(d, [&](int i) { return x(i) * y(i) + z(i); }));
    Fill(d, z);
    TFUSEDMULADD(d, a, b);
    EXPECT(Holds(d, [&](int i) { return x(i) * z(i) + y(i); }));
    Fill(d, z);
    const RecordEvent done = TFUSEDMULADDRELU(d, a, b);
    EXPECT(Holds(d, [&](int i) { return Relu(x(i) * z(i) + y(i)); }));
    // In place, after an event, and without one.
    TSUBRELU(a, a, b, done);
    EXPECT(Holds(a, [&](int i) { return Relu(x(i) - y(i)); }));
    TSUBRELU_IMPL(a, a, b);
    EXPECT(Holds(a, [&](int i) { return Relu(Relu(x(i) - y(i)) - y(i)); }));
    Tile<TileType::Vec, T, 8, 32, BLayout::RowMajor, 4, 32> fewer;
    EXPECT_RULE("tsub-valid", TSUBRELU(fewer, a, b));
}

// Where roundings differ: f16 is rounded once in one form, and after the product too in the other.
static void Rounding()
{
    constexpr float x = 1.0f + 3.0f / 1024;
    Vec<half, 1, 16> a, b, d;
    Fill(a, [](int) { return x; });
    Fill(b, [](int) { return -1.0f; });
    Fill(d, [](int) { return x; });
    TFUSEDMULADD(d, a, b);
    const float once = static_cast<float>(static_cast<half>(x * x - 1.0f));
    EXPECT(Holds(d, [&](int) { return once; }));
    Fill(d, [](int) { return -1.0f; });
    TMULADDDST(d, a, a);
    const float twice = static_cast<float>(static_cast<half>(x * x)) - 1.0f;
    EXPECT(Holds(d, [&](int) { return twice; }));
    EXPECT(once != twice);
}

static void Narrowed()
{
    Vec<float> a, b;
    Vec<half> h;
    Fill(a, [](int i) { return i == 0 ? 1e9f : Small(i) + 0.25f; });
    Fill(b, [](int i) { return static_cast<float>(Small(i + 9)); });
    TADDRELUCONV(h, a, b);
    EXPECT(Holds(h, [](int i) {
        return i == 0 ? 65504.0f : std::fmax(Small(i) + 0.25f + static_cast<float>(Small(i + 9)), 0.0f);
    }));
    Vec<int16_t> s, t;
    Vec<int8_t> d;
    Fill(s, [](int i) { return i * 3 - 300; });
    Fill(t, [](int i) { return -i; });
    TSUBRELUCONV(d, s, t);
    EXPECT(Holds(d, [](int i) { return std::min(Relu(i * 4 - 300), 127); }));
    Vec<int32_t> p, q;
    Vec<half> tmp, e;
    Fill(p, [](int i) { return i * 1000 - 50000; });
    Fill(q, [](int i) { return i == 7 ? 2000000000 : i; });
    TADDDEQRELU(e, p, q, 0.25f, tmp);
    const bool cpu = GetProfile() == Profile::Cpu;
    EXPECT(Holds(e, [&](int i) -> float {
        if (i == 7) {
            return cpu ? std::numeric_limits<float>::infinity() : 65504.0f;
        }
        return std::fmax(static_cast<float>(static_cast<half>(static_cast<float>(i * 1001 - 50000) * 0.25f)), 0.0f);
    }));
    EXPECT_RULE("tadd-dtype", TADDRELUCONV(d, a, b));
}

static void Generators()
{
    Tile<TileType::Vec, int32_t, 1, 32> row, small;
    Tile<TileType::Vec, int32_t, 1, 192> tmp;
    TCI<decltype(row), int32_t, 0>(row, 5);
    EXPECT(Holds(row, [](int i) { return 5 + i; }));
    TCI<decltype(row), int32_t, 1>(row, 5);
    EXPECT(Holds(row, [](int i) { return 5 - i; }));
    TCI<decltype(row), decltype(tmp), int32_t, 1>(row, 7, tmp);
    EXPECT(Holds(row, [](int i) { return 7 - i; }));
    // Only a2a3 needs room in it.
    const bool a2a3 = GetProfile() == Profile::A2A3;
    EXPECT_RULE(a2a3 ? "tci-tmp" : "", (TCI<decltype(row), decltype(small), int32_t, 1>(row, 7, small)));
    Vec<float, 8, 8> triangle;
    TTRI<decltype(triangle), 1>(triangle, 2);
    EXPECT(Holds(triangle, [](int i) { return i % 8 >= i / 8 + 2 ? 1 : 0; }));
    TTRI<decltype(triangle), 0>(triangle, -1);
    EXPECT(Holds(triangle, [](int i) { return i % 8 <= i / 8 - 1 ? 1 : 0; }));
    if (GetProfile() == Profile::A2A3) {
        return;
    }
    Tile<TileType::Vec, uint32_t, 1, 8> random;
    TRandomKey key = {0, 0};
    TRandomCounter counter = {0, 0, 0, 0};
    TRANDOM(random, key, counter);
    EXPECT(random.GetValue(0, 0) == 0x6627E8D5u && random.GetValue(0, 3) == 0x9B00DBD8u);
    TRANDOM<7>(random, key, counter);
    EXPECT(random.GetValue(0, 0) == 0x5F6FB709u && random.GetValue(0, 3) == 0x4F730A48u);
    Tile<TileType::Vec, uint16_t, 1, 16, BLayout::RowMajor, 1, 3> src;
    Tile<TileType::Vec, uint8_t, 1, 32> filter;
    Tile<TileType::Vec, uint32_t, 1, 256> counts;
    const uint16_t words[] = {0x0102, 0x0103, 0x0203};
    HostLoad(src, words);
    Fill(filter, [](int) { return 1; });
    THISTOGRAM<HistByte::BYTE_1>(counts, src, filter);
    EXPECT(Holds(counts, [](int i) { return i == 0 ? 0 : i == 1 ? 2 : 3; }));
    THISTOGRAM<HistByte::BYTE_0>(counts, src, filter);
    EXPECT(Holds(counts, [](int i) { return i < 2 ? 0 : i == 2 ? 1 : 2; }));
}

static void Gathers()
{
    Vec<int32_t> src;
    Fill(src, [](int i) { return Small(i); });
    Vec<int32_t, 8, 16> half_of_it;
    TGATHER<decltype(half_of_it), decltype(src), MaskPattern::P1010>(half_of_it, src);
    EXPECT(Holds(half_of_it, [](int i) { return Small(i / 16 * 32 + i % 16 * 2 + 1); }));
    Vec<int32_t, 2, 32> rows;
    TGATHER<decltype(rows), decltype(src), MaskPattern::P0100, GatherAxis::GATHER_COL>(rows, src);
    EXPECT(Holds(rows, [](int i) { return Small((i / 32 * 4 + 2) * 32 + i % 32); }));
    EXPECT_RULE("tgather-valid", (TGATHER<decltype(rows), decltype(src), MaskPattern::P0101, GatherAxis::GATHER_COL>(rows, src)));

    Vec<int32_t> wide;
    Fill(wide, [](int) { return 99; });
    TSCATTER<MaskPattern::P1010>(wide, half_of_it);
    EXPECT(Holds(wide, [](int i) { return i % 2 == 1 ? Small(i) : 0; }));
    Fill(wide, [](int) { return 99; });
    TSCATTER<MaskPattern::P0100, ScatterAxis::SCATTER_COL>(wide, rows);
    EXPECT(Holds(wide, [](int i) { return i / 32 % 4 == 2 ? Small(i) : 0; }));
    EXPECT_RULE("tscatter-valid", TSCATTER<MaskPattern::P0001>(wide, half_of_it));

    // What is greater than a key, which a tile or a number gives.
    Vec<int32_t, 1, 8> key;
    Vec<int32_t> places, tmp;
    Vec<int32_t, 1, 8> counts;
    Fill(key, [](int) { return 3; });
    Fill(places, [](int) { return -1; });
    const bool a2a3 = GetProfile() == Profile::A2A3;
    if (!a2a3) {
        TGATHER<decltype(places), decltype(src), decltype(key), decltype(counts), decltype(tmp), CmpMode::GT>(
            places, src, key, counts, tmp, 100);
        for (int r = 0; r < 8; ++r) {
            int n = 0;
            for (int c = 0; c < 32; ++c) {
                if (Small(r * 32 + c) > 3) {
                    EXPECT(places.GetValue(r, n) == 100 + r * 32 + c);
                    ++n;
                }
            }
            EXPECT(counts.GetValue(0, r) == n);
        }
    }
    const int three = 3;
    TGATHER(places, src, three, counts, tmp, 0);
    int n = 0;
    for (int c = 0; c < 32; ++c) {
        n += Small(c) == 3;
    }
    EXPECT(counts.GetValue(0, 0) == n);
    SETVAL(places, 33, 77);
    EXPECT(GETVAL(places, 33) == 77);
    EXPECT_RULE("tgetval-index", GETVAL(places, 256));
}

// (value, index) records, sorted downward.
template <typename TileT>
static void Records(TileT &tile, int from, int step)
{
    Fill(tile, [&](int i) { return i % 2 == 0 ? static_cast<float>(from - i / 2 * step) : 0.0f; });
}

static void Sorts()
{
    Vec<float, 1, 64> a, b, c;
    Vec<float, 1, 192> merged, tmp;
    Records(a, 100, 2);
    Records(b, 99, 2);
    Records(c, 50, 1);
    MrgSortExecutedNumList executed;
    Vec<float, 1, 128> two, scratch;
    TMRGSORT<decltype(two), decltype(scratch), decltype(a), decltype(b), false>(two, executed, scratch, a, b);
    EXPECT(executed.mrgSortList0 == 32 && executed.mrgSortList1 == 32 && executed.mrgSortList2 == 0);
    EXPECT(Holds(two, [](int i) { return i % 2 == 0 ? 100 - i / 2 : 0; }));
    TMRGSORT<decltype(merged), decltype(tmp), decltype(a), decltype(b), decltype(c), true>(merged, executed, tmp, a, b, c);
    EXPECT(executed.mrgSortList0 + executed.mrgSortList1 + executed.mrgSortList2 > 64);
    EXPECT(merged.GetValue(0, 0) == 100.0f && merged.GetValue(0, 2) == 99.0f);
    Vec<float, 1, 256> four, sorted;
    Fill(four, [](int i) { return i % 2 == 0 ? static_cast<float>(1000 - i % 64 * 4 - i / 64) : 0.0f; });
    TMRGSORT(sorted, four, 64);
    const auto values = Read(sorted);
    for (size_t i = 2; i < values.size(); i += 2) {
        EXPECT(values[i] <= values[i - 2]);
    }
}

static void Quantized()
{
    using Param = Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor>;
    Vec<float> src;
    Vec<int8_t> sym;
    Vec<uint8_t> asym, tmp;
    Param scale, offset;
    Fill(src, [](int i) { return static_cast<float>(i - 100) * 0.5f; });
    Fill(scale, [](int i) { return i % 2 == 0 ? 1.0f : 2.0f; });
    Fill(offset, [](int) { return 128.0f; });
    const auto rounded = [](int i) {
        return std::nearbyint(static_cast<float>(i - 100) * 0.5f * (i / 32 % 2 == 0 ? 1.0f : 2.0f));
    };
    TQUANT<QuantType::INT8_SYM>(sym, src, scale);
    EXPECT(Holds(sym, [&](int i) { return std::fmin(std::fmax(rounded(i), -128), 127); }));
    TQUANT<QuantType::INT8_ASYM, decltype(asym), decltype(src), Param>(asym, src, scale, &offset);
    EXPECT(Holds(asym, [&](int i) { return std::fmin(std::fmax(rounded(i) + 128, 0), 255); }));
    TQUANT<QuantType::INT8_ASYM, decltype(asym), decltype(src), Param, decltype(tmp)>(asym, src, scale, tmp, &offset);
    EXPECT(Holds(asym, [&](int i) { return std::fmin(std::fmax(rounded(i) + 128, 0), 255); }));
    EXPECT_RULE("tquant-attr", TQUANT<QuantType::INT8_SYM>(sym, src, scale, &offset));
}

static void Products()
{
    TileLeft<half, 16, 32> a;
    TileRight<half, 32, 16> b;
    TileAcc<float, 16, 16> c, sum;
    Tile<TileType::Bias, float, 1, 16> bias;
    Fill(a, [](int i) { return Small(i); });
    Fill(b, [](int i) { return Small(i + 3); });
    Fill(bias, [](int i) { return i; });
    const auto product = [](int i) {
        int total = 0;
        for (int k = 0; k < 32; ++k) {
            total += Small(i / 16 * 32 + k) * Small(3 + k * 16 + i % 16);
        }
        return total;
    };
    const RecordEvent done = TMATMUL<AccPhase::Partial>(c, a, b);
    EXPECT(Holds(c, product));
    TMATMUL_ACC(c, a, b, done);
    EXPECT(Holds(c, [&](int i) { return 2 * product(i); }));
    TMATMUL_ACC<AccPhase::Final>(c, a, b);
    EXPECT(Holds(c, [&](int i) { return 3 * product(i); }));
    TMATMUL_ACC(sum, c, a, b);
    EXPECT(Holds(sum, [&](int i) { return 4 * product(i); }));
    TMATMUL_BIAS<AccPhase::Unspecified>(c, a, b, bias);
    EXPECT(Holds(c, [&](int i) { return product(i) + i % 16; }));
    TMATMUL_IMPL(c, a, b);
    EXPECT(Holds(c, product));

    TileLeft<half, 1, 32> row, small;
    TileAcc<float, 1, 16> r, q;
    Fill(row, [](int i) { return Small(i); });
    TGEMV(r, row, b);
    EXPECT(Holds(r, product));
    TGEMV_ACC<AccPhase::Final>(q, r, row, b);
    EXPECT(Holds(q, [&](int i) { return 2 * product(i); }));
    TGEMV_BIAS(q, row, b, bias, done);
    EXPECT(Holds(q, [&](int i) { return product(i) + i % 16; }));
    SETHF32MODE(false);
    SETTF32MODE(false, RoundMode::CAST_RINT);
}

static void Moves()
{
    Vec<float> src, dst, tmp;
    Fill(src, [](int i) { return Small(i); });
    const auto same = [](int i) { return Small(i); };
    TMOV<STPhase::Final>(dst, src);
    EXPECT(Holds(dst, same));
    TMOV(dst, src, tmp);
    TMOV<1, Vec<float>, Vec<float>, Vec<float>>(dst, src, tmp);
    TMOV<Vec<float>, Vec<float>, ReluPreMode::NoRelu>(dst, src);
    TMOV_IMPL(dst, src);
    EXPECT(Holds(dst, same));
    Vec<float, 4, 16> window, second;
    TEXTRACT(window, src);
    EXPECT(Holds(window, [](int i) { return Small(i / 16 * 32 + i % 16); }));
    TEXTRACT(window, src, 2);
    EXPECT(Holds(window, [](int i) { return Small((i / 16 + 2) * 32 + i % 16); }));
    TEXTRACT(window, src, 2, 8);
    EXPECT(Holds(window, [](int i) { return Small((i / 16 + 2) * 32 + i % 16 + 8); }));
    if (GetProfile() != Profile::A2A3) {
        TINSERT(dst, window, 0, 0);
        EXPECT(dst.GetValue(1, 3) == src.GetValue(3, 11));
    }
    EXPECT_RULE("quant-source", TMOV(dst, src, uint64_t{0x3F800000}));
    if (GetProfile() == Profile::Cpu) {
        TEXTRACT(window, second, src, 0, 0, 1, 8);
        EXPECT(Holds(second, [](int i) { return Small((i / 16 + 1) * 32 + i % 16 + 8); }));
        TileAcc<float, 16, 16> acc;
        Vec<half, 16, 16> narrow;
        Fill(acc, [](int i) { return Small(i); });
        TMOV<Vec<half, 16, 16>, TileAcc<float, 16, 16>, ReluPreMode::NormalRelu>(narrow, acc);
        EXPECT(Holds(narrow, [](int i) { return Relu(Small(i)); }));
        TMOV<STPhase::Partial, Vec<half, 16, 16>, TileAcc<float, 16, 16>, AccToVecMode::SingleModeVec0>(narrow, acc);
        EXPECT(Holds(narrow, [](int i) { return Small(i); }));
        Tile<TileType::Mat, float, 16, 16> mat, padded;
        Tile<TileType::Mat, float, 16, 16, BLayout::RowMajor, 8, 8> part;
        Fill(part, [](int i) { return i + 1; });
        TFILLPAD(padded, part);
        TFILLPAD<decltype(mat), PadValue::Max>(mat, part);
        EXPECT(padded.GetValue(9, 9) == 0.0f && padded.GetValue(1, 1) == 10.0f);
        EXPECT(mat.GetValue(9, 9) > 3e38f && mat.GetValue(7, 7) == 64.0f);
    }
}

static void Memory()
{
    std::vector<float> table(8 * 16), out(8 * 16, 0.0f);
    for (size_t i = 0; i < table.size(); ++i) {
        table[i] = static_cast<float>(i);
    }
    using View = GlobalTensor<float, Shape<1, 1, 1, 8, 16>, Stride<128, 128, 128, 16, 1>>;
    View from(table.data()), to(out.data());
    Vec<float, 8, 16> tile;
    const RecordEvent loaded = TLOAD(tile, from);
    TSTORE<Vec<float, 8, 16>, View>(to, tile, loaded);
    EXPECT(out == table);
    TSTORE<Vec<float, 8, 16>, View, AtomicType::AtomicAdd>(to, tile);
    TSTORE<STPhase::Final, Vec<float, 8, 16>, View, AtomicType::AtomicAdd>(to, tile);
    EXPECT(out[5] == 15.0f);
    TSTORE<STPhase::Partial>(to, tile);
    EXPECT(out == table);
    TLOAD_IMPL(tile, from);
    TSTORE_IMPL(to, tile);
    TPREFETCH(tile, from);

    // Indices in a tile, and in global memory.
    Vec<float, 4, 16> picked, again;
    Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 4> idx;
    std::vector<int32_t> places = {3, 0, 7, 3};
    HostLoad(idx, places.data());
    MGATHER<Coalesce::Row>(picked, from, idx);
    EXPECT(Holds(picked, [&](int i) { return places[static_cast<size_t>(i / 16)] * 16 + i % 16; }));
    GlobalTensor<int32_t, Shape<1, 1, 1, 1, 4>, Stride<4, 4, 4, 4, 1>> index(places.data());
    MGATHER<Coalesce::Row, GatherOOB::Clamp>(again, from, index, index);
    EXPECT(Read(again) == Read(picked));
    places[1] = 9;
    MGATHER<Coalesce::Row, GatherOOB::Zero>(again, from, index, index);
    EXPECT(again.GetValue(1, 5) == 0.0f);
    EXPECT_RULE("mgather-index", MGATHER<Coalesce::Row>(again, from, index, index));
    MSCATTER<Coalesce::Row, ScatterAtomicOp::Add, ScatterOOB::Skip>(to, picked, idx);
    EXPECT(out[3 * 16 + 1] == 3 * (3 * 16 + 1) && out[7 * 16] == 2 * 7 * 16);
    MSCATTER<Coalesce::Row, ScatterAtomicOp::None, ScatterOOB::Undefined, ScatterConflict::Last>(to, picked, idx);
    EXPECT(out[3 * 16 + 1] == 3 * 16 + 1);
    MSCATTER(to, picked, idx);
}

// Groups of 32 columns, or rows, share an exponent.
static void Microscaled()
{
    Vec<float, 32, 64> src;
    Vec<int8_t, 32, 64> dst;
    Vec<uint8_t, 32, 32> exp;
    Vec<float, 32, 8> max, scaling;
    Fill(src, [](int i) { return std::ldexp(1.0f + static_cast<float>(i % 4) * 0.25f, i / 32 % 5); });
    TQUANT<QuantType::MXFP8, decltype(dst), decltype(src), decltype(exp), decltype(max), decltype(scaling)>(
        dst, src, &exp, &max, &scaling);
    for (int r = 0; r < 32; ++r) {
        for (int g = 0; g < 2; ++g) {
            // The maximum is 1.75 · 2^k: its exponent 127 + k less 8, and elements of 448 at most.
            const int k = (r * 2 + g) % 5;
            EXPECT(exp.GetValue(r, g) == 127 + k - 8);
            EXPECT(max.data()[r * 2 + g] == std::ldexp(1.75f, k));
            EXPECT(scaling.data()[r * 2 + g] == std::ldexp(1.0f, 8 - k));
            // 1.75 · 2^8 is 448, the largest number: 7E.
            EXPECT(dst.GetValue(r, g * 32 + 3) == 0x7E && dst.GetValue(r, g * 32) == 0x78);
        }
    }
    Tile<TileType::Vec, uint8_t, 32, 64, BLayout::RowMajor, 32, 2> flat, zz;
    TQUANT<QuantType::MXFP8, VecStoreMode::NZ, decltype(dst), decltype(src), decltype(flat), decltype(max), decltype(scaling)>(
        dst, src, &flat, &max, &scaling, &zz);
    for (int r = 0; r < 32; ++r) {
        for (int g = 0; g < 2; ++g) {
            EXPECT(zz.GetValue(0, r / 16 * 32 + r % 16 * 2 + g) == exp.GetValue(r, g));
        }
    }
    Vec<uint8_t, 1, 64> line;
    TQUANT<QuantType::MXFP8>(dst, src, &line, &max, &scaling);
    EXPECT(Holds(line, [](int i) { return 127 + i % 5 - 8; }));
    Vec<int8_t, 64, 32> tall;
    Vec<float, 64, 32> upright;
    Vec<uint8_t, 2, 32> by_column;
    Vec<float, 2, 32> maxima, scales;
    Fill(upright, [](int i) { return i % 32 == 5 ? -448.0f : 1.0f; });
    TQUANT<0, MxQuantAlg::NvMxFp8E4M3>(tall, upright, &by_column, &maxima, &scales);
    EXPECT(by_column.GetValue(0, 5) == 127 && tall.GetValue(0, 5) == static_cast<int8_t>(0xFE));
    EXPECT(maxima.GetValue(1, 5) == 448.0f && scales.GetValue(1, 5) == 1.0f);

    using namespace cpu_quant;
    EXPECT((ComputeMxSharedExponent<QuantType::MXFP4_E2M1, QuantScaleAlg::OCP>(6.0f)) == 127);
    EXPECT((ComputeMxSharedExponent<QuantType::MXFP4_E2M1, QuantScaleAlg::NV>(6.0f)) == 127);
    EXPECT((ComputeMxSharedExponent<QuantType::MXFP8, QuantScaleAlg::NV>(449.0f)) == 128);
    EXPECT((ComputeMxSharedExponent<QuantType::MXFP8, QuantScaleAlg::NV>(std::numeric_limits<float>::infinity())) == 254);
    EXPECT((ComputeMxGroupScaling<QuantType::MXFP8, QuantScaleAlg::NV>(0.0f, 254)) == 0x1p-127f);
    EXPECT(EncodeE4M3Fn<QuantScaleAlg::OCP>(1e9f) == 0x7E && EncodeE4M3Fn<QuantScaleAlg::NV>(-0x1p-11f) == 0x80);
    EXPECT(EncodeE2M1Magic(2.5f) == 4 && EncodeE2M1Magic(-9.0f) == 0xF && EncodeE2M1Magic(std::nanf("")) == 7);
    EXPECT(Bf16BitsToFloat(AbsBf16BitsFromFloat(-1.99999f)) == 1.9921875f);
}

// An error knows the intrinsic, and the place of the call where no event is waited for.
static void Places()
{
    Vec<float> a;
    Vec<int32_t> b;
    const auto caught = [](auto call) {
        try {
            call();
        } catch (const Error &e) {
            return e;
        }
        return Error("", "", "");
    };
    const unsigned line = __LINE__ + 1;
    const Error plain = caught([&] { TADD(a, a, b); });
    EXPECT(plain.rule() == "tadd-dtype" && std::string(plain.instruction()) == "TADD");
    EXPECT(plain.line() == line && std::string(plain.file()) == __FILE__);
    const RecordEvent done = TMOV(a, a);
    const Error waits = caught([&] { TADD(a, a, b, done); });
    EXPECT(waits.line() == line + 4 && std::string(waits.instruction()) == "TADD");
    const Error impl = caught([&] { TADD_IMPL(a, a, b); });
    EXPECT(impl.line() == line + 6);
}

// Instructions come again in every order, with other scalars, valid regions, places and owners, and once more after the core
// began anew: each does what it says, never what an earlier one like it did.
static void Again()
{
    using Part = Tile<TileType::Vec, float, 8, 32, BLayout::RowMajor, -1, -1>;
    constexpr int kPlaces = 4, kElements = 8 * 32;
    std::vector<std::vector<float>> model;
    const auto begin = [&] {
        model.assign(kPlaces, std::vector<float>(kElements));
        for (int p = 0; p < kPlaces; ++p) {
            Vec<float> whole;
            TASSIGN(whole, p * kElements * 4);
            Fill(whole, [&](int i) { return model[p][i] = static_cast<float>(Small(i + p)); });
        }
    };
    begin();
    Part tiles[3] = {Part(8, 32), Part(8, 32), Part(8, 32)};
    int places[3] = {0, 1, 2};
    for (int k = 0; k < 3; ++k) {
        TASSIGN(tiles[k], places[k] * kElements * 4);
    }
    uint32_t seed = 1;
    const auto random = [&](uint32_t below) { seed = seed * 1664525u + 1013904223u;
        return (seed >> 16) % below; };
    int rows = 8, cols = 32;
    for (int round = 0; round < 3000; ++round) {
        const auto apply = [&](int d, auto f) {
            for (int i = 0; i < kElements; ++i) {
                if (i / 32 < rows && i % 32 < cols) {
                    model[places[d]][i] = f(i);
                }
            }
        };
        const auto at = [&](int k, int i) { return model[places[k]][i]; };
        switch (random(12)) {
        case 0:
        case 1:
        case 2:
            TMOV(tiles[1], tiles[0]);
            apply(1, [&](int i) { return at(0, i); });
            break;
        case 3:
        case 4:
            TMOV(tiles[2], tiles[1]);
            apply(2, [&](int i) { return at(1, i); });
            break;
        case 5:
        case 6:
            TMAX(tiles[0], tiles[1], tiles[2]);
            apply(0, [&](int i) { return std::max(at(1, i), at(2, i)); });
            break;
        case 7:
        case 8: {
            const float scalar = static_cast<float>(random(3)) - 1.0f;
            TADDS(tiles[2], tiles[0], scalar);
            apply(2, [&](int i) { return at(0, i) + scalar; });
            break;
        }
        case 9: {
            rows = static_cast<int>(random(8)) + 1;
            cols = static_cast<int>(random(32)) + 1;
            for (Part &tile : tiles) {
                tile.SetValidShape(rows, cols);
            }
            // What lies beside a valid region may be written, too.
            begin();
            break;
        }
        case 10:
            // Three of four places, in another order.
            for (int k = 0, first = static_cast<int>(random(kPlaces)); k < 3; ++k) {
                places[k] = (first + k) % kPlaces;
                TASSIGN(tiles[k], places[k] * kElements * 4);
            }
            break;
        default:
            if (random(8) == 0) {
                SetProfile(GetProfile());
                begin();
            } else {
                // Storage that comes and goes, at one address for the allocator.
                Vec<float> whole, copy;
                const float scalar = static_cast<float>(round);
                TEXPANDS(whole, scalar);
                TMOV(copy, whole);
                EXPECT(copy.GetValue(7, 31) == scalar);
            }
        }
        const int shown = static_cast<int>(random(3));
        const auto values = Read(tiles[shown]);
        for (int i = 0, n = 0; i < kElements; ++i) {
            if (i / 32 < rows && i % 32 < cols) {
                EXPECT(values[n++] == at(shown, i));
            }
        }
    }
}

// Loads and stores come again, from and to other addresses, with other strides, valid regions and tiles, with something
// undefined, and beyond the end of a buffer whose extent is known: each does what it says, and says what there is to say.
static void TransfersAgain()
{
    using Part = Tile<TileType::Vec, float, 8, 32, BLayout::RowMajor, -1, -1>;
    using View = GlobalTensor<float, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>>;
    constexpr int kElements = 8 * 32, kHost = 4096;
    std::vector<float> host(kHost);
    std::iota(host.begin(), host.end(), 0.0f);
    std::vector<float> model = host;
    std::vector<float> held[2] = {std::vector<float>(kElements), std::vector<float>(kElements)};
    Part tiles[2] = {Part(8, 32), Part(8, 32)};
    const auto place = [&](int from) {
        for (int k = 0; k < 2; ++k) {
            Vec<float> whole;
            TASSIGN(whole, (from + k) * kElements * 4);
            Fill(whole, [&](int i) { return held[k][static_cast<size_t>(i)] = static_cast<float>(Small(i + k)); });
            TASSIGN(tiles[k], (from + k) * kElements * 4);
        }
    };
    place(0);
    uint32_t seed = 5;
    const auto random = [&](uint32_t below) {
        seed = seed * 1664525u + 1013904223u;
        return static_cast<int>((seed >> 16) % below);
    };
    int warned = 0, refused = 0, undefined = 0, outside = 0;
    const auto before = SetWarningHandler([&](const Error &e) { warned += e.rule() == "undefined-read"; });
    int rows = 8, cols = 32, pitch = 32, at = 0;
    bool isRegistered = false;
    for (int round = 0; round < 4000; ++round) {
        const int k = random(2);
        if (random(3) == 0) {
            at = random(kHost - 8 * 64);
        }
        View view(host.data() + at, Shape<1, 1, 1, -1, -1>(rows, cols), Stride<1, 1, 1, -1, 1>(pitch));
        const auto each = [&](auto f) {
            for (int i = 0; i < rows; ++i) {
                for (int j = 0; j < cols; ++j) {
                    f(held[k][static_cast<size_t>(i * 32 + j)], model[static_cast<size_t>(at + i * pitch + j)]);
                }
            }
        };
        // Only half of the host's memory is known, and what starts there must not leave it.
        const bool leaves = isRegistered && at < kHost / 2 && at + (rows - 1) * pitch + cols > kHost / 2;
        const auto tried = [&](auto call) {
            outside += leaves;
            try {
                call();
                EXPECT(!leaves);
                return true;
            } catch (const Error &e) {
                EXPECT(leaves && e.rule() == "gm-bounds");
                ++refused;
                return false;
            }
        };
        switch (random(16)) {
        case 0:
            std::iota(host.begin(), host.end(), 0.0f);
            model = host;
            rows = random(8) + 1;
            cols = random(32) + 1;
            pitch = 32 + random(3) * 16;
            for (Part &tile : tiles) {
                tile.SetValidShape(rows, cols);
            }
            break;
        case 1:
            place(random(3));
            break;
        case 2: {
            // Storage that comes and goes, and was never written.
            Tile<TileType::Vec, float, 8, 32> never;
            View there(host.data(), Shape<1, 1, 1, -1, -1>(8, 32), Stride<1, 1, 1, -1, 1>(32));
            for (int n = 0; n < 3; ++n, ++undefined) {
                TSTORE(there, never);
            }
            std::fill(model.begin(), model.begin() + kElements, 0.0f);
            break;
        }
        case 3:
            tessera_register_buffer(host.data(), isRegistered ? 0 : kHost / 2 * sizeof(float));
            isRegistered = !isRegistered;
            break;
        case 4:
            if (random(8) == 0) {
                SetProfile(GetProfile());
                place(0);
            }
            break;
        case 5:
        case 6:
        case 7:
        case 8:
        case 9:
        case 10:
            if (tried([&] { TLOAD(tiles[k], view); })) {
                each([](float &tile, float &there) { tile = there; });
            }
            break;
        case 11: {
            // What is added to what is there is issued in full every time, and is not taken for what was issued before it.
            Vec<float> fresh, copy;
            TEXPANDS(fresh, 1.0f);
            TMOV(copy, fresh);
            if (tried([&] { TSTORE<Part, View, AtomicType::AtomicAdd>(view, tiles[k]); })) {
                each([](float &tile, float &there) { there += tile; });
            }
            break;
        }
        default:
            if (tried([&] { TSTORE(view, tiles[k]); })) {
                each([](float &tile, float &there) { there = tile; });
            }
        }
        EXPECT(host == model);
        const auto values = Read(tiles[k]);
        for (int i = 0, n = 0; i < kElements; ++i) {
            if (i / 32 < rows && i % 32 < cols) {
                EXPECT(values[static_cast<size_t>(n++)] == held[k][static_cast<size_t>(i)]);
            }
        }
    }
    if (isRegistered) {
        tessera_register_buffer(host.data(), 0);
    }
    SetWarningHandler(before);
    EXPECT(warned == undefined && undefined > 300 && refused == outside && refused > 50);
}

int main()
{
    for (const Profile profile : {Profile::Cpu, Profile::A2A3, Profile::A5}) {
        SetProfile(profile);
        Fused<float>();
        Fused<half>();
        Rounding();
        Narrowed();
        Generators();
        Gathers();
        Sorts();
        Quantized();
        Products();
        Moves();
        Memory();
        Places();
        Again();
        TransfersAgain();
    }
    SetProfile(Profile::Cpu);
    Fused<int32_t>();
    Microscaled();
    return Finish("intrinsics");
}
