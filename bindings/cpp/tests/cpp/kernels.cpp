// Small kernels with TLOAD, a layout instruction and TSTORE, over three types and six layouts, on cpu, where any pair
// of layouts is legal. What must come out is computed by plain loops, offsets by the formulas of tile-model.md 5.

#include <cstring>
#include <vector>

#include "expect.hpp"

using namespace pto;

template <typename T>
static T Number(int i)
{
    // Small whole numbers that all three types have.
    return static_cast<T>((i * 37 + 11) % 101 - 50);
}

template <typename T>
static bool Same(T a, T b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

// The six layouts: outer order, inner order, fractal.
template <BLayout B_, SLayout S_, int F_ = 512>
struct L {
    static constexpr BLayout B = B_;
    static constexpr SLayout S = S_;
    static constexpr int F = F_;
};
using ND = L<BLayout::RowMajor, SLayout::NoneBox>;
using DN = L<BLayout::ColMajor, SLayout::NoneBox>;
using NZ = L<BLayout::ColMajor, SLayout::RowMajor>;
using ZN = L<BLayout::RowMajor, SLayout::ColMajor>;
using ZZ = L<BLayout::RowMajor, SLayout::RowMajor>;
using NN = L<BLayout::ColMajor, SLayout::ColMajor>;

template <typename T, typename Lay, int R, int C, int VR = R, int VC = C, PadValue P = PadValue::Null>
using TileOf = Tile<TileType::Vec, T, R, C, Lay::B, VR, VC, Lay::S, Lay::F, P>;

// Dense global memory of R × C elements.
template <typename T, int R, int C>
using Dense = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;

template <typename T>
static std::vector<T> Fresh(int n, int from = 0)
{
    std::vector<T> all;
    for (int i = 0; i < n; ++i) {
        all.push_back(Number<T>(from + i));
    }
    return all;
}

// The table of tile-model.md 5, written down once more.
template <typename T, typename Lay>
static int Offset(int rows, int cols, int r, int c)
{
    const int c0 = 32 / static_cast<int>(sizeof(T));
    int ir = 1, ic = 1;
    if (Lay::S != SLayout::NoneBox) {
        ir = Lay::F == 1024 || Lay::S == SLayout::RowMajor ? 16 : c0;
        ic = Lay::F == 1024 || Lay::S == SLayout::ColMajor ? 16 : c0;
    }
    const int br = r / ir, rr = r % ir, bc = c / ic, cc = c % ic, n = ir * ic;
    const int outer = Lay::B == BLayout::RowMajor ? br * cols * ir + bc * n : bc * rows * ic + br * n;
    return outer + (Lay::S == SLayout::ColMajor ? cc * ir + rr : rr * ic + cc);
}

// The tile's bytes lie as the formulas say.
template <typename Lay, typename TileT>
static void ExpectBytes(const TileT &tile, const std::vector<typename TileT::DType> &logical)
{
    using T = typename TileT::DType;
    std::vector<T> raw(static_cast<size_t>(TileT::Numel));
    HostBytes(tile, raw.data(), raw.size() * sizeof(T));
    bool same = true;
    for (int r = 0; r < TileT::Rows; ++r) {
        for (int c = 0; c < TileT::Cols; ++c) {
            const size_t at = static_cast<size_t>(Offset<T, Lay>(TileT::Rows, TileT::Cols, r, c));
            same = same && at == static_cast<size_t>(TileT::Offset(r, c)) &&
                   Same(raw[at], logical[static_cast<size_t>(r * TileT::Cols + c)]);
        }
    }
    EXPECT(same);
}

// Loads, moves and stores every way between two layouts.
template <typename T, typename From, typename To>
static void Kernels()
{
    constexpr int R = 32, C = 64;
    std::vector<T> in = Fresh<T>(R * C), out(R * C);
    Dense<T, R, C> gmIn(in.data()), gmOut(out.data());
    TileOf<T, From, R, C> src;
    TLOAD(src, gmIn);
    ExpectBytes<From>(src, in);

    TileOf<T, To, R, C> dst;
    RecordEvent moved = TMOV(dst, src);
    TSTORE(gmOut, dst, moved);
    ExpectBytes<To>(dst, in);
    EXPECT(std::memcmp(in.data(), out.data(), sizeof(T) * in.size()) == 0);

    // A window out of the middle, and back to another place.
    TileOf<T, To, R, 32, 20, 18> window;
    TEXTRACT(window, src, 5, 33);
    TINSERT(dst, window, 3, 7);
    TSTORE(gmOut, dst);
    std::vector<T> want = in;
    for (int i = 0; i < 20; ++i) {
        for (int j = 0; j < 18; ++j) {
            want[static_cast<size_t>((3 + i) * C + 7 + j)] = in[static_cast<size_t>((5 + i) * C + 33 + j)];
        }
    }
    EXPECT(std::memcmp(want.data(), out.data(), sizeof(T) * want.size()) == 0);

    // Transposed.
    TileOf<T, To, C, R> turned;
    TTRANS(turned, src);
    std::vector<T> flat(R * C);
    Dense<T, C, R> gmTurned(flat.data());
    TSTORE(gmTurned, turned);
    bool same = true;
    for (int i = 0; i < R; ++i) {
        for (int j = 0; j < C; ++j) {
            same = same && Same(flat[static_cast<size_t>(j * R + i)], in[static_cast<size_t>(i * C + j)]);
        }
    }
    EXPECT(same);

    // Joined: 20 + 40 valid columns, in all layouts of the sources.
    TileOf<T, From, R, C, R, 20> left;
    TileOf<T, From, R, C, R, 40> right;
    TileOf<T, To, R, C, R, 60> both;
    TEXTRACT(left, src, 0, 0);
    TEXTRACT(right, src, 0, 24);
    TCONCAT(both, left, right);
    same = true;
    for (int i = 0; i < R; ++i) {
        for (int j = 0; j < 60; ++j) {
            same = same && Same(both.GetValue(i, j), in[static_cast<size_t>(i * C + (j < 20 ? j : j + 4))]);
        }
    }
    EXPECT(same);

    // Padded with the largest value, and with a value of the caller's.
    TileOf<T, To, R, C, -1, -1, PadValue::Max> padded(R, C);
    TileOf<T, From, R, C, -1, -1> part(7, 9);
    TEXTRACT(part, src, 2, 2);
    TFILLPAD_EXPAND(padded, part);
    TileOf<T, To, R, C, -1, -1> filled(7, 9);
    TMOV_FP(filled, part, 3);
    const T most = std::is_same_v<T, int8_t> ? static_cast<T>(127) : static_cast<T>(INFINITY);
    same = padded.GetValidRow() == R && padded.GetValidCol() == C;
    for (int i = 0; i < R; ++i) {
        for (int j = 0; j < C; ++j) {
            const bool inside = i < 7 && j < 9;
            const T moved1 = in[static_cast<size_t>((i + 2) % R * C + (j + 2) % C)];
            same = same && Same(padded.GetValue(i, j), inside ? moved1 : most) &&
                   Same(filled.GetValue(i, j), inside ? moved1 : static_cast<T>(3));
        }
    }
    EXPECT(same);
}

// Only row-major tiles interleave.
template <typename T, typename Lay>
static void Interleave()
{
    constexpr int R = 32, C = 64, V = 50;
    TileOf<T, Lay, R, C, R, V> a, b, lo, hi, x, y;
    std::vector<T> va = Fresh<T>(R * V), vb = Fresh<T>(R * V, 7);
    HostLoad(a, va.data());
    HostLoad(b, vb.data());
    TINTERLEAVE(hi, lo, b, a);
    TDEINTERLEAVE(y, x, hi, lo);
    bool same = true;
    for (int i = 0; i < R; ++i) {
        for (int j = 0; j < V; ++j) {
            const auto stream = [&](int k) { return (k % 2 == 0 ? va : vb)[static_cast<size_t>(i * V + k / 2)]; };
            same = same && Same(lo.GetValue(i, j), stream(j)) && Same(hi.GetValue(i, j), stream(V + j)) &&
                   Same(x.GetValue(i, j), va[static_cast<size_t>(i * V + j)]) &&
                   Same(y.GetValue(i, j), vb[static_cast<size_t>(i * V + j)]);
        }
    }
    EXPECT(same);
    TileOf<T, Lay, R, C, R, V / 2> even, odd;
    TDeInterleave(odd, even, a);
    for (int j = 0; j < V / 2; ++j) {
        EXPECT(Same(even.GetValue(3, j), va[static_cast<size_t>(3 * V + 2 * j)]));
        EXPECT(Same(odd.GetValue(3, j), va[static_cast<size_t>(3 * V + 2 * j + 1)]));
    }
}

template <typename T>
static void AllLayouts()
{
    Kernels<T, ND, NZ>();
    Kernels<T, NZ, ND>();
    Kernels<T, DN, ZZ>();
    Kernels<T, ZN, DN>();
    Kernels<T, ZZ, NN>();
    Kernels<T, NN, ZN>();
    Interleave<T, ND>();
    Interleave<T, ZN>();
}

// Global memory: strides, columns first, boxes, dynamic extents, fewer dimensions.
static void Views()
{
    std::vector<float> gm = Fresh<float>(64 * 64), out(64 * 64);
    Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, -1, -1> t(5, 11);
    using S2 = Shape<-1, -1>;
    using T2 = Stride<-1, 1>;
    TLOAD(t, GlobalTensor<const float, S2, T2>(gm.data() + 130, S2(5, 11), T2(64)));
    EXPECT(t.GetValue(4, 10) == gm[130 + 4 * 64 + 10]);
    // Rows backwards.
    TSTORE(GlobalTensor<float, S2, T2>(out.data() + 10 * 64, S2(5, 11), T2(-64)), t);
    EXPECT(out[6 * 64 + 10] == gm[130 + 4 * 64 + 10] && out[11 * 64] == 0);
    // Columns first: the same numbers, transposed.
    Tile<TileType::Vec, float, 16, 16, BLayout::ColMajor, 5, 11> dn;
    GlobalTensor<float, Shape<1, 1, 1, 11, 5>, Stride<0, 0, 0, 1, 11>, Layout::DN> view(gm.data());
    EXPECT_RULE("tload-shape", TLOAD(t, view));
    GlobalTensor<float, Shape<1, 1, 1, 5, 11>, Stride<0, 0, 0, 1, 5>, Layout::DN> columns(gm.data());
    TLOAD(dn, columns);
    EXPECT(dn.GetValue(3, 4) == gm[3 + 4 * 5]);
    // Boxes of 16 × 8 floats.
    Tile<TileType::Mat, float, 32, 16, BLayout::ColMajor, 32, 16, SLayout::RowMajor> nz;
    GlobalTensor<float, Shape<1, 2, 2, 16, 8>, Stride<512, 256, 128, 8, 1>, Layout::NZ> boxes(gm.data());
    TLOAD(nz, boxes);
    EXPECT(nz.GetValue(17, 9) == gm[256 + 128 + 8 + 1]);
    // A buffer whose end is known.
    GlobalTensor<float, Shape<5, 11>, Stride<64, 1>> bounded(gm.data());
    bounded.SetExtent(4 * 64 + 10);
    EXPECT_RULE("gm-bounds", TLOAD(t, bounded));
    bounded.SetExtent(4 * 64 + 11);
    EXPECT_RULE("", TLOAD(t, bounded));
}

// Storage: handles, windows, addresses, what is undefined.
static void Storages()
{
    using T = Tile<TileType::Vec, int32_t, 16, 16>;
    T a;
    T b = a;
    a.SetValue(1, 2, 42);
    EXPECT(b.GetValue(1, 2) == 42);
    T c;
    TASSIGN(c, a);
    EXPECT(c.GetValue(1, 2) == 42);
    TASSIGN(c, 0x400);
    EXPECT(c.GetValue(1, 2) == 0);
    T zero;
    TASSIGN(zero, 0);
    EXPECT(reinterpret_cast<char *>(c.data()) - reinterpret_cast<char *>(zero.data()) == 0x400);
    T d;
    TASSIGN<0x400>(d);
    d.SetValue(0, 0, 5);
    EXPECT(c.GetValue(0, 0) == 5);
    Tile<TileType::Vec, int32_t, 4, 8> window;
    TSUBVIEW(window, a, 1, 0);
    EXPECT(window.GetValue(0, 2) == 42);
    window.SetValue(3, 7, 9);
    EXPECT(a.GetValue(4, 7) == 9);
    EXPECT_RULE("tsubview-window", TSUBVIEW(window, a, 0, 1));

    // Undefined elements are stored as 0, counted, and warned about.
    std::string warned;
    SetWarningHandler([&](const Error &e) { warned = e.rule(); });
    Reset();
    T fresh;
    fresh.SetValue(0, 1, 8);
    std::vector<int32_t> out(256, -1);
    TSTORE(Dense<int32_t, 16, 16>(out.data()), fresh);
    EXPECT(warned == "undefined-read" && out[0] == 0 && out[1] == 8 && UndefinedBytesStored() == 255 * 4);
    SetWarningHandler({});
}

static void Numbers()
{
    const auto h16 = [](double value) { return __builtin_bit_cast(uint16_t, half(value)); };
    EXPECT(h16(65504.0) == 0x7BFF && h16(65519.9) == 0x7BFF && h16(65520.0) == 0x7C00);
    EXPECT(h16(1.0 + 1.0 / 2048) == 0x3C00 && h16(1.0 + 3.0 / 2048) == 0x3C02);
    EXPECT(h16(5.9604645e-8) == 1 && h16(2.9802322e-8) == 0 && h16(2.98023224e-8 * 1.0001) == 1);
    EXPECT(h16(-0.0) == 0x8000 && (h16(NAN) & 0x7FFF) == 0x7E00 && float(FromBits<half>(0xFC00)) == -INFINITY);
    EXPECT(h16(6.097555160522461e-5) == 0x03FF && h16(2049) == 0x6800 && h16(2051) == 0x6802);
    // The class that stands in for half where the compiler has none.
    using Half = pto_model::Float16<5, 10>;
    for (int bits = 0; bits < 0x10000; ++bits) {
        const half h = FromBits<half>(static_cast<uint16_t>(bits));
        const Half c = Half::FromBits(static_cast<uint16_t>(bits));
        const bfloat16_t b = FromBits<bfloat16_t>(static_cast<uint16_t>(bits));
        const bool nan = float(h) != float(h), bnan = float(b) != float(b);
        if ((!nan && (h16(double(h)) != bits || Half(float(c)).bits != bits || float(c) != float(h))) ||
            (!bnan && __builtin_bit_cast(uint16_t, bfloat16_t(float(b))) != bits)) {
            EXPECT(false);
            break;
        }
    }
    half x = 1.5f;
    x = x * half(2) + half(1);
    EXPECT(float(x) == 4.0f && float(bfloat16_t(3.14159f)) == 3.140625f);
    EXPECT(float8_e4m3_t(448).bits == 0x7E && float8_e4m3_t(1000).bits == 0x7E && float(float8_e5m2_t(1.25f)) == 1.25f);
    EXPECT(hifloat8_t(32768).bits == 0x6E && float(float8_e8m0_t::FromBits(127)) == 1.0f);
    EXPECT(float4_e2m1x2_t(1.0f, -6.0f).bits == 0xF2 && float4_e2m1x2_t::FromBits(0xF2).Get(1) == -6.0f);
}

// Quantization out of an accumulator, and images to columns.
static void Cube()
{
    TileAcc<float, 16, 32> acc;
    std::vector<float> values(16 * 32);
    for (int i = 0; i < 512; ++i) {
        values[static_cast<size_t>(i)] = static_cast<float>(i - 256) / 2;
    }
    HostLoad(acc, values.data());
    using M8 = Tile<TileType::Mat, int8_t, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor>;
    M8 m;
    // Scale 1, signed result.
    const uint64_t one = uint64_t{1} << 46 | 0x3F800000;
    TMOV(m, acc, one);
    EXPECT(m.GetValue(0, 0) == -128 && m.GetValue(8, 1) == 0 && m.GetValue(8, 3) == 2 && m.GetValue(15, 31) == 127);
    TINSERT<M8, TileAcc<float, 16, 32>, ReluPreMode::NormalRelu>(m, acc, one, 0, 0);
    EXPECT(m.GetValue(0, 0) == 0 && m.GetValue(15, 31) == 127);
    Tile<TileType::Scaling, uint64_t, 1, 32> fp;
    std::vector<uint64_t> scales(32, uint64_t{1} << 46 | 0x40000000);
    HostLoad(fp, scales.data());
    TEXTRACT_FP(m, acc, fp, 0, 0);
    EXPECT(m.GetValue(8, 3) == 3 && m.GetValue(7, 31) == -1);
    TINSERT_FP(m, acc, fp, 0, 0);
    EXPECT(m.GetValue(8, 3) == 3);
    Tile<TileType::Vec, float, 16, 32> vec;
    TMOV(vec, acc);
    EXPECT(vec.GetValue(3, 4) == values[3 * 32 + 4]);

    using Image = DenseConvTile<TileType::Mat, half, Layout::NC1HWC0, 1, 1, 4, 4, 16>;
    Image image;
    std::vector<half> pixels = Fresh<half>(4 * 4 * 16);
    TLOAD(image, GlobalTensor<half, Shape<1, 1, 4, 4, 16>, Stride<256, 256, 64, 16, 1>>(pixels.data()));
    TileLeft<half, 16, 144> left;
    Img2colConfig cfg;
    cfg.kernelH = cfg.kernelW = 3;
    cfg.padLeft = cfg.padRight = cfg.padTop = cfg.padBottom = 1;
    TIMG2COL(left, image, cfg.SetPadValue(-1));
    for (int m1 = 0; m1 < 16; ++m1) {
        for (int k = 0; k < 144; ++k) {
            const int iy = m1 / 4 + k / 48 - 1, ix = m1 % 4 + k / 16 % 3 - 1;
            const bool inside = iy >= 0 && iy < 4 && ix >= 0 && ix < 4;
            const half want = inside ? pixels[static_cast<size_t>((iy * 4 + ix) * 16 + k % 16)] : half(-1);
            EXPECT(Same(left.GetValue(m1, k), want));
        }
    }
    SETFMATRIX(4, 4, 1, 1, 1, 1);
    SET_IMG2COL_PADDING(-1);
    SET_IMG2COL_KERNEL(3, 3);
    TileLeft<half, 16, 16> second;
    TIMG2COL(second, image, 0, 128);
    EXPECT(Same(second.GetValue(5, 3), left.GetValue(5, 131)));
    SETFMATRIX(5, 4);
    EXPECT_RULE("timg2col-fmap", TIMG2COL(second, image, 0, 0));
}

// The forms that the kernels above do not have.
static void Rest()
{
    using F = Tile<TileType::Vec, int32_t, 16, 16>;
    F a;
    std::vector<int32_t> va = Fresh<int32_t>(256);
    va[7] = 0x12345678;
    HostLoad(a, va.data());
    Tile<TileType::Vec, uint8_t, 16, 32, BLayout::RowMajor, 16, 16> packed;
    TPACK(packed, a);
    EXPECT(packed.GetValue(0, 7) == 0x78 && packed.GetValue(0, 0) == static_cast<uint8_t>(va[0]));
    using N = Tile<TileType::Vec, int32_t, 16, 8, BLayout::ColMajor, 10, 8, SLayout::RowMajor>;
    N n0, n1;
    TEXTRACT(n0, n1, a, 0, 0, 6, 8);
    EXPECT(n0.GetValue(9, 7) == va[9 * 16 + 7] && n1.GetValue(9, 7) == va[15 * 16 + 15]);
    // Per row: one column of src0, then as many of src1 as the index says.
    using I = Tile<TileType::Vec, int16_t, 16, 16, BLayout::RowMajor, 16, 1>;
    I i0, i1, joined;
    std::vector<int16_t> ones(16, 2), rows(16);
    for (int i = 0; i < 16; ++i) {
        rows[static_cast<size_t>(i)] = static_cast<int16_t>(2 * i);
    }
    HostLoad(i0, ones.data());
    HostLoad(i1, rows.data());
    F b, dst;
    std::vector<int32_t> zero(256, 0);
    HostLoad(b, va.data());
    HostLoad(dst, zero.data());
    TCONCAT(dst, a, b, joined, i0, i1);
    EXPECT(dst.GetValue(5, 0) == va[80] && dst.GetValue(5, 5) == va[84] && dst.GetValue(5, 6) == 0);
    EXPECT(joined.GetValue(5, 0) == 12 && joined.GetValue(15, 0) == 32);
    TCONCAT(dst, a, b, i0, i1);
    F top;
    Tile<TileType::Vec, int32_t, 32, 16> tall;
    TCONCAT<0>(tall, a, b);
    EXPECT(tall.GetValue(20, 3) == va[4 * 16 + 3]);
    // In place: only the padding changes.
    Tile<TileType::Vec, int32_t, 16, 16, BLayout::RowMajor, 3, 4> small;
    std::vector<int32_t> twelve = Fresh<int32_t>(12);
    HostLoad(small, twelve.data());
    Tile<TileType::Vec, int32_t, 16, 16, BLayout::RowMajor, 16, 16, SLayout::NoneBox, 512, PadValue::Min> view;
    TFILLPAD_INPLACE(view, small);
    EXPECT(view.GetValue(2, 3) == twelve[11] && view.GetValue(2, 4) == INT32_MIN && small.GetValue(15, 15) == INT32_MIN);
    TFILLPAD(small, 6);
    EXPECT(view.GetValue(2, 4) == 6);
    Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, 2, 2, SLayout::NoneBox, 512, PadValueCustom(2.5f)> custom;
    std::vector<float> four(4, 1.0f);
    TLOAD(custom, Dense<float, 2, 2>(four.data()));
    EXPECT(custom.GetValue(1, 1) == 1.0f && custom.GetValue(7, 7) == 2.5f);
}

int main()
{
    AllLayouts<float>();
    AllLayouts<half>();
    AllLayouts<int8_t>();
    Kernels<float, L<BLayout::ColMajor, SLayout::RowMajor, 1024>, ND>();
    Views();
    Storages();
    Numbers();
    Cube();
    Rest();
    return Finish("kernels");
}
