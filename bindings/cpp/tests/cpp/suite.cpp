// Programs as a test-suite for the host's simulator has them: a kernel template with views, addresses and flags; a host part that
// allocates, copies, launches and compares with values that it computes itself (cpp.md 2 to 6).

#include <pto/common/constants.hpp>
#include <pto/pto-inst.hpp>

#include <numeric>

#include "expect.hpp"

using namespace std;
using namespace pto;

// Host and device arrays of one case, and what comes out.
template <typename T>
struct Arrays {
    explicit Arrays(initializer_list<size_t> sizes)
    {
        for (size_t n : sizes) {
            void *host = nullptr, *device = nullptr;
            EXPECT(aclrtMallocHost(&host, n * sizeof(T)) == 0);
            EXPECT(aclrtMalloc(&device, n * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST) == 0);
            hosts.push_back(static_cast<T *>(host));
            devices.push_back(static_cast<T *>(device));
            bytes.push_back(n * sizeof(T));
        }
    }
    ~Arrays()
    {
        for (size_t i = 0; i < hosts.size(); ++i) {
            aclrtFreeHost(hosts[i]);
            aclrtFree(devices[i]);
        }
    }
    T *operator[](size_t i) { return hosts[i]; }
    T *Device(size_t i) { return devices[i]; }
    // The first array is the result; the others go to the device before the launch.
    template <typename Kernel>
    void Launch(Kernel kernel)
    {
        aclrtStream stream;
        EXPECT(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0 && aclrtCreateStream(&stream) == 0 && stream != nullptr);
        for (size_t i = 0; i < hosts.size(); ++i) {
            aclrtMemcpy(devices[i], bytes[i], hosts[i], bytes[i], ACL_MEMCPY_HOST_TO_DEVICE);
        }
        kernel();
        aclrtSynchronizeStream(stream);
        aclrtMemcpy(hosts[0], bytes[0], devices[0], bytes[0], ACL_MEMCPY_DEVICE_TO_HOST);
        aclrtDestroyStream(stream);
        aclrtResetDevice(0);
        aclFinalize();
    }
    vector<T *> hosts, devices;
    vector<size_t> bytes;
};

template <typename T>
static T Value(int i)
{
    return static_cast<T>((i * 37 + 11) % 61 - (is_signed_v<T> || !is_arithmetic_v<T> ? 30 : 0));
}

template <typename T>
static void Fill(T *data, int n, int salt)
{
    for (int i = 0; i < n; ++i) {
        data[i] = Value<T>(i + salt);
    }
}

// --- Two tiles and one.
template <typename T, int kGRows_, int kGCols_, int kTRows_, int kTCols_, int kVRows_, int kVCols_>
AICORE void runTAdd(__gm__ T __out__ *out, __gm__ T __in__ *src0, __gm__ T __in__ *src1)
{
    using DynShape = pto::Shape<1, 1, 1, -1, -1>;
    using DynStride = pto::Stride<1, 1, 1, -1, 1>;
    using GlobalData = GlobalTensor<T, DynShape, DynStride>;
    using TileData = Tile<TileType::Vec, T, kTRows_, kTCols_, BLayout::RowMajor, -1, -1>;
    TileData src0Tile(kVRows_, kVCols_);
    TileData src1Tile(kVRows_, kVCols_);
    TileData dstTile(kVRows_, kVCols_);
    TASSIGN(src0Tile, 0x0);
    TASSIGN(src1Tile, kTRows_ * kTCols_ * static_cast<int>(sizeof(T)));
    TASSIGN(dstTile, 2 * kTRows_ * kTCols_ * sizeof(T));
    GlobalData src0Global(src0, DynShape(kVRows_, kVCols_), DynStride(kGCols_));
    GlobalData src1Global(src1, DynShape(kVRows_, kVCols_), DynStride(kGCols_));
    GlobalData dstGlobal(out, DynShape(kVRows_, kVCols_), DynStride(kGCols_));
    Event<Op::TLOAD, Op::TADD> event0;
    Event<Op::TADD, Op::TSTORE_VEC> event1;
    TLOAD(src0Tile, src0Global);
    event0 = TLOAD(src1Tile, src1Global);
    event1 = TADD(dstTile, src0Tile, src1Tile, event0);
    TSTORE(dstGlobal, dstTile, event1);
    out = dstGlobal.data();
}

template <typename T, int kGRows_, int kGCols_, int kTRows_, int kTCols_, int kVRows_, int kVCols_>
static void TestAdd()
{
    constexpr int n = kGRows_ * kGCols_;
    Arrays<T> arrays({n, n, n});
    Fill(arrays[0], n, 5);
    Fill(arrays[1], n, 0);
    Fill(arrays[2], n, 17);
    vector<T> golden(arrays[0], arrays[0] + n);
    for (int r = 0; r < kVRows_; ++r) {
        for (int c = 0; c < kVCols_; ++c) {
            golden[r * kGCols_ + c] = static_cast<T>(arrays[1][r * kGCols_ + c] + arrays[2][r * kGCols_ + c]);
        }
    }
    arrays.Launch([&] {
        runTAdd<T, kGRows_, kGCols_, kTRows_, kTCols_, kVRows_, kVCols_>(arrays.Device(0), arrays.Device(1), arrays.Device(2));
    });
    EXPECT(memcmp(golden.data(), arrays[0], n * sizeof(T)) == 0);
}

// --- A row's maximum, spread and subtracted, exponentials, their sum, and the quotient: a softmax of rows.
template <int kRows, int kCols>
AICORE void runSoftmax(__gm__ float *out, __gm__ float *in)
{
    using GlobalData = GlobalTensor<float, pto::Shape<1, 1, 1, kRows, kCols>, pto::Stride<kRows * kCols, kRows * kCols, kRows * kCols, kCols, 1>>;
    using Full = Tile<TileType::Vec, float, kRows, kCols>;
    using Column = Tile<TileType::Vec, float, kRows, 8, BLayout::RowMajor, kRows, 1>;
    Full x, y, tmp;
    Column most, sum;
    uint64_t address = 0;
    const auto next = [&](int64_t bytes) { return exchange(address, address + static_cast<uint64_t>(bytes)); };
    TASSIGN(x, next(Full::GetSizeInBytes()));
    TASSIGN(y, next(Full::GetSizeInBytes()));
    TASSIGN(tmp, next(Full::GetSizeInBytes()));
    TASSIGN(most, next(Column::GetSizeInBytes()));
    TASSIGN(sum, next(Column::GetSizeInBytes()));
    GlobalData inGlobal(in), outGlobal(out);
    TLOAD(x, inGlobal);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TROWMAX(most, x, tmp);
    pipe_barrier(PIPE_V);
    TROWEXPANDSUB(y, x, most);
    TEXP<ExpAlgorithm::HIGH_PRECISION>(y, y);
    TROWSUM(sum, y, tmp);
    TROWEXPANDDIV(y, y, sum);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
    TSTORE(outGlobal, y);
}

static void TestSoftmax()
{
    constexpr int rows = 16, cols = 64;
    Arrays<float> arrays({rows * cols, rows * cols});
    for (int i = 0; i < rows * cols; ++i) {
        arrays[1][i] = static_cast<float>(i * 29 % 83) / 16 - 2;
    }
    arrays.Launch([&] { runSoftmax<rows, cols>(arrays.Device(0), arrays.Device(1)); });
    int wrong = 0;
    for (int r = 0; r < rows; ++r) {
        const float *x = arrays[1] + r * cols;
        const float most = *max_element(x, x + cols);
        double sum = 0;
        for (int c = 0; c < cols; ++c) {
            sum += exp(static_cast<double>(x[c] - most));
        }
        for (int c = 0; c < cols; ++c) {
            wrong += abs(arrays[0][r * cols + c] - exp(static_cast<double>(x[c] - most)) / sum) > 1e-6;
        }
    }
    EXPECT(wrong == 0);
}

// --- A product: global to L1, to L0A and L0B, to L0C, and out; in steps along k, with a bias.
template <typename In, int kM, int kK, int kN, int kStep>
AICORE void runMatmul(__gm__ float *out, __gm__ In *a, __gm__ In *b, __gm__ float *bias)
{
    using GlobalA = GlobalTensor<In, pto::Shape<1, 1, 1, kM, kStep>, pto::Stride<kM * kK, kM * kK, kM * kK, kK, 1>>;
    using GlobalB = GlobalTensor<In, pto::Shape<1, 1, 1, kStep, kN>, pto::Stride<kK * kN, kK * kN, kK * kN, kN, 1>>;
    using GlobalBias = GlobalTensor<float, pto::Shape<1, 1, 1, 1, kN>, pto::Stride<kN, kN, kN, kN, 1>>;
    using GlobalOut = GlobalTensor<float, pto::Shape<1, 1, 1, kM, kN>, pto::Stride<kM * kN, kM * kN, kM * kN, kN, 1>>;
    Tile<TileType::Mat, In, kM, kStep, BLayout::ColMajor, kM, kStep, SLayout::RowMajor, 512> aMat;
    Tile<TileType::Mat, In, kStep, kN, BLayout::ColMajor, kStep, kN, SLayout::RowMajor, 512> bMat;
    Tile<TileType::Mat, float, 1, kN, BLayout::RowMajor> biasMat;
    TileLeft<In, kM, kStep> aTile;
    TileRight<In, kStep, kN> bTile;
    Tile<TileType::Bias, float, 1, kN> biasTile;
    TileAcc<float, kM, kN> acc;
    TASSIGN(aMat, 0x0);
    TASSIGN(bMat, 0x10000);
    TASSIGN(biasMat, 0x20000);
    TASSIGN(aTile, 0x0);
    TASSIGN(bTile, 0x0);
    TASSIGN(biasTile, 0x0);
    TASSIGN(acc, 0x0);
    for (int k = 0; k < kK; k += kStep) {
        GlobalA aGlobal(a + k);
        GlobalB bGlobal(b + k * kN);
        TLOAD(aMat, aGlobal);
        TLOAD(bMat, bGlobal);
        set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        TMOV(aTile, aMat);
        TMOV(bTile, bMat);
        set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        if (k == 0) {
            GlobalBias biasGlobal(bias);
            TLOAD(biasMat, biasGlobal);
            TMOV(biasTile, biasMat);
            TMATMUL_BIAS(acc, aTile, bTile, biasTile);
        } else {
            TMATMUL_ACC(acc, acc, aTile, bTile);
        }
        set_flag(PIPE_M, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_M, PIPE_MTE2, EVENT_ID0);
    }
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    GlobalOut outGlobal(out);
    TSTORE<STPhase::Final>(outGlobal, acc);
}

template <typename In>
static void TestMatmul()
{
    constexpr int m = 32, k = 64, n = 48;
    Arrays<In> in({m * k, k * n});
    Arrays<float> out({m * n, n});
    Fill(in[0], m * k, 3);
    Fill(in[1], k * n, 9);
    Fill(out[1], n, 1);
    aclrtMemcpy(in.Device(0), m * k * sizeof(In), in[0], m * k * sizeof(In), ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(in.Device(1), k * n * sizeof(In), in[1], k * n * sizeof(In), ACL_MEMCPY_HOST_TO_DEVICE);
    out.Launch([&] { runMatmul<In, m, k, n, 32>(out.Device(0), in.Device(0), in.Device(1), out.Device(1)); });
    int wrong = 0;
    for (int r = 0; r < m; ++r) {
        for (int c = 0; c < n; ++c) {
            float sum = out[1][c];
            for (int i = 0; i < k; ++i) {
                sum += static_cast<float>(in[0][r * k + i]) * static_cast<float>(in[1][i * n + c]);
            }
            wrong += sum != out[0][r * n + c];
        }
    }
    EXPECT(wrong == 0);
}

// --- Compare and select; convert; gather and scatter; sort.
AICORE static void runVector(__gm__ float *out, __gm__ float *a, __gm__ float *b)
{
    constexpr int R = 16, C = 64;
    using G = GlobalTensor<float, pto::Shape<1, 1, 1, R, C>, pto::Stride<R * C, R * C, R * C, C, 1>>;
    Tile<TileType::Vec, float, R, C> x, y, z;
    Tile<TileType::Vec, uint8_t, R, 32, BLayout::RowMajor, R, C / 8> mask;
    Tile<TileType::Vec, half, R, C> halves;
    Tile<TileType::Vec, int32_t, R, C> words, index;
    Tile<TileType::Vec, uint8_t, 1, 32> tmp;
    TASSIGN(x, 0);
    TASSIGN(y, 0x1000);
    TASSIGN(z, 0x2000);
    TASSIGN(mask, 0x3000);
    TASSIGN(halves, 0x4000);
    TASSIGN(words, 0x5000);
    TASSIGN(index, 0x6000);
    TASSIGN(tmp, 0x7000);
    G ga(a), gb(b), go(out);
    TLOAD(x, ga);
    TLOAD(y, gb);
    TCMP(mask, x, y, CmpMode::GT);
    TSEL(z, mask, x, y, tmp);
    TMULS(z, z, 0.5f);
    TCVT(halves, z, RoundMode::CAST_RINT);
    TCVT(z, halves, RoundMode::CAST_NONE);
    TCVT(words, z, RoundMode::CAST_FLOOR);
    TMAXS(words, words, 0);
    TANDS(words, words, 63);
    iota(index.data(), index.data() + index.Numel, 0);
    for (int i = 0; i < index.Numel; ++i) {
        index.SetValue(i, R * C - 1 - index.GetValue(i));
    }
    TGATHER(y, z, index, tmp);
    TSTORE(go, y);
    // What the host sees of the tile is what the kernel left.
    EXPECT(y.data()[0] == z.data()[R * C - 1] && words.GetElement(0, 0) >= 0);
}

static void TestVector()
{
    constexpr int n = 16 * 64;
    Arrays<float> arrays({n, n, n});
    Fill(arrays[1], n, 2);
    Fill(arrays[2], n, 31);
    arrays.Launch([&] { runVector(arrays.Device(0), arrays.Device(1), arrays.Device(2)); });
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        wrong += arrays[0][n - 1 - i] != max(arrays[1][i], arrays[2][i]) / 2;
    }
    EXPECT(wrong == 0);
}

// --- Many blocks: each a part of one array, a sum by atomic stores, and a meeting in between.
static void TestBlocks()
{
    constexpr int rows = 8, cols = 64, blocks = 4;
    Arrays<float> arrays({rows * cols, blocks * rows * cols});
    Fill(arrays[1], blocks * rows * cols, 7);
    atomic<int> before{0}, early{0};
    arrays.Launch([&] {
        cpu_sim::KernelLaunchOptions options;
        options.kernel_name = "sum";
        options.explicit_block_count = blocks;
        cpu_sim::LaunchKernelMultiCore(options, nullptr, [&] {
            using Part = GlobalTensor<float, pto::Shape<1, 1, 1, rows, cols / 2>, pto::Stride<1, 1, 1, cols, 1>>;
            using Half = Tile<TileType::Vec, float, rows, cols / 2>;
            Half left, right;
            TASSIGN(left, 0);
            TASSIGN(right, Half::GetSizeInBytes());
            float *own = arrays.Device(1) + get_block_idx() * rows * cols;
            for (int round = 0; round < 50; ++round) {
                TLOAD(left, Part(own));
                TLOAD(right, Part(own + cols / 2));
                TSTORE(Part(own), left);
                TSTORE(Part(own + cols / 2), right);
            }
            TSTORE<Half, Part, AtomicType::AtomicAdd>(Part(arrays.Device(0)), left);
            TSTORE<Half, Part, AtomicType::AtomicAdd>(Part(arrays.Device(0) + cols / 2), right);
            ++before;
            SYNCALL<SyncCoreType::AIVOnly>();
            early += before.load() != blocks;
        });
    });
    EXPECT(early == 0);
    int wrong = 0;
    for (int i = 0; i < rows * cols; ++i) {
        float sum = 0;
        for (int b = 0; b < blocks; ++b) {
            sum += arrays[1][b * rows * cols + i];
        }
        wrong += sum != arrays[0][i];
    }
    EXPECT(wrong == 0);
}

// --- A view that leaves its buffer is refused with a place; a part of a large one is not copied as a whole.
static void TestBuffers()
{
    Arrays<float> arrays({1 << 22});
    using G = GlobalTensor<float, pto::Shape<1, 1, 1, 8, 8>, pto::Stride<1, 1, 1, 1 << 18, 1>>;
    Tile<TileType::Vec, float, 8, 8> tile;
    TASSIGN(tile, 0);
    float *data = arrays.Device(0);
    for (int i = 0; i < 2000; ++i) {
        TLOAD(tile, G(data + i));
        TADDS(tile, tile, 1.0f);
        TSTORE(G(data + i), tile);
    }
    EXPECT(data[7] == 8.0f && data[7 + (1 << 18)] == 8.0f && data[2003] == 4.0f);
    try {
        TLOAD(tile, G(data + (1 << 22) - 4));
        EXPECT(false);
    } catch (const pto::Error &error) {
        EXPECT(error.rule() == "gm-bounds" && error.line() == __LINE__ - 3 && string(error.instruction()) == "TLOAD");
    }
    // A view of the memory of a tile, too.
    Tile<TileType::Vec, float, 8, 8> other;
    TASSIGN(other, 0x1000);
    GlobalTensor<float, pto::Shape<1, 1, 1, 8, 8>, pto::Stride<64, 64, 64, 8, 1>> own(tile.data());
    TLOAD(other, own);
    EXPECT(other.data()[63] == tile.data()[63]);
    TADDS(other, other, 1.0f);
    TSTORE(own, other);
    EXPECT(tile.data()[63] == other.data()[63]);
}

int main()
{
    TestAdd<float, 64, 64, 64, 64, 64, 64>();
    TestAdd<int32_t, 20, 40, 32, 64, 19, 37>();
    TestAdd<half, 16, 256, 16, 256, 16, 256>();
    TestAdd<int16_t, 33, 65, 64, 128, 33, 65>();
    TestSoftmax();
    TestMatmul<half>();
    TestMatmul<float>();
    TestVector();
    TestBlocks();
    TestBuffers();
    return Finish("suite");
}
