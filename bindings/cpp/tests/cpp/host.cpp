// Programs as they are written for the host's simulator (cpp.md 1 to 5): built with __CPU_SIM, launched like kernels, data
// in memory of the runtime's, tiles as pointers.
#include <pto/common/constants.hpp>
#include <pto/common/cpu_stub.hpp>
#include <pto/pto-inst.hpp>
#include <pto/cpu/tile_offsets.hpp>

#include "expect.hpp"

using namespace pto;

// --- a kernel and its launch -----------------------------------------------------------------------------------------

template <typename T, int kRows, int kCols, int kValidRows, int kValidCols>
__global__ AICORE void RunAdd(__gm__ T __out__ *out, __gm__ T __in__ *src0, __gm__ T __in__ *src1)
{
    using DynShape = Shape<1, 1, 1, kValidRows, kValidCols>;
    using DynStride = Stride<1, 1, 1, kCols, 1>;
    using GlobalData = GlobalTensor<T, DynShape, DynStride>;
    using TileData = Tile<TileType::Vec, T, kRows, kCols, BLayout::RowMajor, -1, -1>;
    TileData tile0(kValidRows, kValidCols);
    TileData tile1(kValidRows, kValidCols);
    TileData sum(kValidRows, kValidCols);
    TASSIGN(tile0, 0x0);
    TASSIGN(tile1, 0x4000);
    TASSIGN(sum, 0x8000);
    GlobalData global0(src0);
    GlobalData global1(src1);
    GlobalData globalOut(out);
    Event<Op::TLOAD, Op::TADD> loaded;
    Event<Op::TADD, Op::TSTORE_VEC> added;
    TLOAD(tile0, global0);
    loaded = TLOAD(tile1, global1);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    added = TADD(sum, tile0, tile1, loaded);
    pipe_barrier(PIPE_ALL);
    TSTORE(globalOut, sum, added);
    out = globalOut.data();
}

template <typename T, int kRows, int kCols, int kValidRows, int kValidCols>
void LaunchAdd(T *out, T *src0, T *src1, void *stream)
{
    (void)stream;
    if constexpr (std::is_same_v<T, aclFloat16>) {
        RunAdd<half, kRows, kCols, kValidRows, kValidCols>((half *)out, (half *)src0, (half *)src1);
    } else {
        RunAdd<T, kRows, kCols, kValidRows, kValidCols>(out, src0, src1);
    }
}

template <typename T, int kRows, int kCols, int kValidRows = kRows, int kValidCols = kCols>
static void Add()
{
    constexpr std::size_t bytes = sizeof(T) * kRows * kCols;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    EXPECT(aclrtCreateStream(&stream) == 0 && stream != nullptr);
    T *outHost, *src0Host, *src1Host, *out, *src0, *src1;
    aclrtMallocHost((void **)(&outHost), bytes);
    aclrtMallocHost((void **)(&src0Host), bytes);
    aclrtMallocHost((void **)(&src1Host), bytes);
    aclrtMalloc((void **)&out, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&src0, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&src1, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    std::vector<T> golden(kRows * kCols, T(0));
    for (int i = 0; i < kRows * kCols; ++i) {
        src0Host[i] = static_cast<T>(i % 7);
        src1Host[i] = static_cast<T>(i % 5 - 2);
        if (i / kCols < kValidRows && i % kCols < kValidCols) {
            golden[static_cast<std::size_t>(i)] = static_cast<T>(src0Host[i] + src1Host[i]);
        }
    }
    const std::string file = "host_input.bin";
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char *>(src0Host), static_cast<std::streamsize>(bytes));
    std::ifstream(file, std::ios::binary).read(reinterpret_cast<char *>(src0Host), static_cast<std::streamsize>(bytes));
    std::filesystem::remove(file);
    aclrtMemcpy(src0, bytes, src0Host, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(src1, bytes, src1Host, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    LaunchAdd<T, kRows, kCols, kValidRows, kValidCols>(out, src0, src1, stream);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(outHost, bytes, out, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    EXPECT(std::memcmp(golden.data(), outHost, bytes) == 0);
    aclrtFree(out);
    aclrtFree(src0);
    aclrtFree(src1);
    aclrtFreeHost(outHost);
    aclrtFreeHost(src0Host);
    aclrtFreeHost(src1Host);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
}

static void Runtime()
{
    int array[4] = {1, 2, 3, 4}, other[2] = {};
    EXPECT(aclrtMemcpy(other, sizeof other, array, sizeof array, ACL_MEMCPY_DEVICE_TO_DEVICE) == 0 && other[1] == 2);
    EXPECT(aclrtMemset(array, sizeof array, 0, 0) == 0 && array[0] == 1);
    EXPECT(aclrtMemset(array, sizeof array, 1, sizeof array + 1) == 145000 && array[0] == 1);
    EXPECT(aclrtMemset(nullptr, 4, 1, 4) == 145000 && aclrtMemset(array, sizeof array, 0, 8) == 0 && array[1] == 0);
    void *none = nullptr;
    EXPECT(aclrtMallocHost(&none, 0) != 0 && aclrtMalloc(&none, 0, ACL_MEM_MALLOC_HUGE_FIRST) != 0);
    // What the runtime gave has an end.
    float *buffer = nullptr;
    aclrtMalloc((void **)&buffer, 16 * 16 * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST);
    EXPECT(buffer[255] == 0);
    using G = GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 16, 1>>;
    Tile<TileType::Vec, float, 16, 16> tile;
    G whole(buffer), late(buffer + 16);
    EXPECT_RULE("", TLOAD(tile, whole));
    EXPECT_RULE("gm-bounds", TLOAD(tile, late));
    EXPECT_RULE("gm-bounds", TSTORE(late, tile));
    aclrtFree(buffer);
}

static void Contexts()
{
    EXPECT(get_block_idx() == 0 && get_subblockid() == 0 && get_subblockdim() == 1 && get_block_num() == 4);
    {
        cpu_sim::ScopedExecutionContext scope(3, 1, 2);
        EXPECT(get_block_idx() == 3 && get_coreid() == 3 && get_subblockid() == 1 && get_subblockdim() == 2);
    }
    EXPECT(get_block_idx() == 0);
    cpu_sim::set_execution_context(7, 1);
    std::thread([] { EXPECT(get_block_idx() == 0); }).join();
    EXPECT(get_block_idx() == 7 && get_subblockdim() == 1);
    cpu_sim::reset_execution_context();
    cpu_sim::register_hooks(reinterpret_cast<void *>(+[]() -> uint32_t { return 42; }), nullptr);
    EXPECT(get_subblockid() == 42);
    cpu_sim::register_hooks(nullptr, nullptr);
    set_ctrl(sbitset1(get_ctrl(), 48));
    EXPECT(get_ctrl() == uint64_t{1} << 48 && sbitset0(get_ctrl(), 48) == 0);
    set_ctrl(0);
    cpu_sim::set_task_cookie(5);
    EXPECT(get_task_cookie() == 5);
    cpu_sim::set_task_cookie(0);
    dsb(DSB_DDR);
    dcci(&g_failures, SINGLE_CACHE_LINE);
    dcci(&g_failures, ENTIRE_DATA_CACHE, CACHELINE_OUT);
}

// --- tiles as pointers -----------------------------------------------------------------------------------------------

template <typename TileT>
static PTO_INTERNAL void Fill(typename TileT::TileDType p, typename TileT::DType value)
{
    std::fill(p, p + TileT::Numel, value);
}

static void Pointers()
{
    NPU_MEMORY_INIT(NPUArch::A5);
    NPUMemoryModel &memory = NPUMemoryModel::Instance();
    EXPECT(memory.IsInitialized() && memory.GetArch() == NPUArch::A5 && memory.GetSizes().l0cBytes == 256 * 1024);
    using T = Tile<TileType::Vec, float, 8, 16>;
    T a, b, c;
    TASSIGN(a, 0x200);
    TASSIGN(b, uint64_t{0x400});
    // A tile at address a lies a bytes behind its memory's base, for every location.
    EXPECT(reinterpret_cast<char *>(a.data()) == memory.GetUBBase() + 0x200);
    Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor> mat;
    TASSIGN<0x600>(mat);
    EXPECT(reinterpret_cast<char *>(mat.data()) == memory.GetL1Base() + 0x600);
    EXPECT(memory.ContainsAddress(reinterpret_cast<uintptr_t>(mat.data())));
    EXPECT(!memory.ContainsAddress(reinterpret_cast<uintptr_t>(&mat)) && memory.GetREGBase() != nullptr);
    EXPECT(memory.GetL0ABase() != memory.GetL0BBase() && memory.GetL0CBase() != memory.GetL0ABase());
    // Host writes are seen by instructions, and the other way round.
    Fill<T>(a.data(), 2.0f);
    b.data()[17] = 5.0f;
    TADD(c, a, b);
    const T &readOnly = c;
    EXPECT(c.data()[17] == 7.0f && readOnly.data()[0] == 2.0f && c.GetValue(17) == 7.0f && c.GetElement(1, 1) == 7.0f);
    float *kept = a.data();
    kept[3] = 40.0f;
    TADD(c, a, b);
    EXPECT(c.GetValue(3) == 40.0f && a.data() == kept);
    c.SetValue(2, 9.0f);
    c.SetElement(0, 3, 8.0f);
    c.AddToElement(0, 3, 1.5f);
    EXPECT(c.data()[2] == 9.0f && c.data()[3] == 9.5f);
    // A copy has the same address; assigning data() binds elsewhere.
    T d = c;
    EXPECT(d.data() == c.data());
    d.data() = a.data();
    EXPECT(d.GetValue(3) == 40.0f && c.data() != d.data());
    // Memory of the program's own.
    std::vector<float> host(T::Numel, 1.0f), result(T::Numel);
    T in, out;
    in.data() = host.data();
    out.data() = result.data();
    TADD(out, in, a);
    EXPECT(result[3] == 41.0f && result[0] == 3.0f);
    TADD(out, out, out);
    EXPECT(result[3] == 82.0f && out.GetElement(0, 3) == 82.0f);
    in.data() = out.data() + 8;
    EXPECT_RULE("overlap", TADD(in, out, out));
    // A number that is an address of this thread's memories is a pointer.
    TASSIGN(d, reinterpret_cast<uintptr_t>(c.data()));
    EXPECT(d.data() == c.data());
    TASSIGN(d, reinterpret_cast<uint64_t>(mat.data()));
    EXPECT(static_cast<void *>(d.data()) == static_cast<void *>(mat.data()));
    // A host tile of another layout.
    std::vector<half> boxed(256);
    Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor> hostMat;
    hostMat.data() = boxed.data();
    std::vector<half> dense(256);
    for (int i = 0; i < 256; ++i) {
        dense[static_cast<std::size_t>(i)] = static_cast<half>(i);
    }
    TLOAD(hostMat, GlobalTensor<half, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 16, 1>>(dense.data()));
    EXPECT(boxed[static_cast<std::size_t>(GetTileOffset<decltype(hostMat)>(3, 5))] == static_cast<half>(3 * 16 + 5));
    NPU_MEMORY_CLEAR();
    EXPECT(a.data()[3] == 0.0f && boxed[1] == static_cast<half>(1));
}

// Bytes to which a pointer was handed out are defined; all others are tracked.
static void Definedness()
{
    Reset();
    using T = Tile<TileType::Vec, int32_t, 8, 8>;
    using G = GlobalTensor<int32_t, Shape<1, 1, 1, 8, 8>, Stride<64, 64, 64, 8, 1>>;
    int32_t out[64];
    int warned = 0;
    SetWarningHandler([&](const Error &e) { warned += e.rule() == "undefined-read"; });
    T never, other, exposed, sum;
    TASSIGN(never, 0x10000);
    TASSIGN(other, 0x11000);
    TASSIGN(exposed, 0x12000);
    TASSIGN(sum, 0x13000);
    TSTORE(G(out), never);
    EXPECT(warned == 1 && UndefinedBytesStored() == 256);
    exposed.data()[0] = 3;
    TSTORE(G(out), exposed);
    EXPECT(warned == 1 && out[0] == 3 && out[1] == 0);
    // What is computed from undefined elements is undefined, unless somebody may have written it.
    TADD(sum, never, exposed);
    TSTORE(G(out), sum);
    EXPECT(warned == 2);
    TADD(exposed, never, never);
    TSTORE(G(out), exposed);
    EXPECT(warned == 2);
    // Reading through a const tile hands nothing out.
    const T &constant = other;
    EXPECT(constant.data()[5] == 0);
    TSTORE(G(out), other);
    EXPECT(warned == 3);
    // Storage of a tile that is gone is undefined for the next one.
    int32_t *first = nullptr;
    {
        T scoped;
        first = scoped.data();
        TSTORE(G(out), scoped);
        EXPECT(warned == 3);
    }
    T next;
    TSTORE(G(out), next);
    EXPECT(warned == 4);
    EXPECT(next.data() == first);
    // A host tile is defined.
    int32_t array[64] = {};
    T host;
    host.data() = array;
    TSTORE(G(out), host);
    EXPECT(warned == 4);
    // So is what the program cleared.
    NPU_MEMORY_CLEAR();
    TSTORE(G(out), never);
    EXPECT(warned == 4 && out[7] == 0);
    SetWarningHandler({});
}

// --- types -----------------------------------------------------------------------------------------------------------

static void Constants()
{
    using T = Tile<TileType::Vec, half, 16, 32, BLayout::RowMajor, 8, DYNAMIC, SLayout::NoneBox, 512, PadValue::Zero>;
    T t(20);
    static_assert(T::GetValidRow() == 8 && T::Numel == 512 && T::RowStride == 32 && T::ColStride == 1);
    static_assert(std::is_same_v<T::TileDType, half *> && T::GetSizeInBytes() == 1024 && T::GetSizeInUnits() == 512);
    static_assert(T::PadVal == PadValue::Zero && T::Compact == CompactMode::Null && !T::isBoxedLayout && T::isRowMajor);
    EXPECT(t.GetValidCol() == 20 && t.Numel == 512 && t.RowMaskInternal == 8 && t.ColMaskInternal == 20);
    t.SetValidCol(5);
    EXPECT(t.GetValidCol() == 5);
    using Nz = TileAcc<float, 32, 16>;
    static_assert(Nz::RowStride == 1 && Nz::ColStride == 32 && Nz::isInnerRowMajor && Nz::InnerRows == 16);
    static_assert(Nz::Offset(17, 3) == 256 + 16 + 3 && GetTileElementOffset<Nz>(17, 3) == 275);
    static_assert(TileLeftCompact<half, 16, 16>::Compact == CompactMode::Normal && !TileLeft<half, 16, 16>::isRowMajor);
    static_assert(TileLeftScale<uint8_t, 16, 2>::SFractalSize == 32 && TileRightScale<uint8_t, 2, 16>::isInnerColMajor);
    static_assert(is_tile_data_v<T> && is_boxed_data_v<Nz> && !is_boxed_data_v<T> && !is_tile_data_v<int>);
    static_assert(static_cast<int>(Layout::NC1HWC0) == 12 && static_cast<int>(TileType::Ctrl) == 9);
    static_assert(GetTypeSize<half>() == 2 && CeilDivision(7, 2) == 4 && CeilAlignment(7, 4) == 8 && NUM_77 == 77);
    static_assert(TileConfig::fractalMxSize == 32 && GlobalTensorDim::TOTAL_DIM == 5 && F16_MAX == 65504.0f);
    static_assert(isCustomPadValue(PadValueCustom(-1.0f)) && getCustomPadBits(PadCustom<int16_t{-2}>) == 0xFFFE);
    static_assert(static_cast<uint64_t>(PadValueCustom(FromBits<half>(0xBC00))) == 0x10000BC00);
    t.SetKAligned(true);
    EXPECT(t.GetKAligned());
    t.SetMadTF32Mode();
    t.ResetMadMode();
    PTO_CPU_ASSERT(true, "never printed");
    PTO_STATIC_ASSERT(true, "message");
    PTO_STATIC_ASSERT(true);
}

static void CustomPads()
{
    constexpr auto pad = PadValueCustom(FromBits<half>(0xBC00));
    Tile<TileType::Vec, half, 4, 16, BLayout::RowMajor, 2, 3, SLayout::NoneBox, 512, pad> tile;
    half in[6] = {1, 2, 3, 4, 5, 6};
    TLOAD(tile, GlobalTensor<half, Shape<1, 1, 1, 2, 3>, Stride<6, 6, 6, 3, 1>>(in));
    EXPECT(tile.GetElement(0, 2) == half(3) && tile.GetElement(0, 3) == half(-1) && tile.GetElement(1, 15) == half(-1));
}

static void Views()
{
    float data[2 * 3 * 4] = {};
    // As many numbers as are dynamic, all five, or none.
    Shape<1, 1, 1, -1, -1> two(3, 4);
    EXPECT(two.shape[3] == 3 && two.shape[4] == 4 && two.staticShape[3] == -1 && two.staticShape[0] == 1);
    Shape<1, 1, 1, -1, 4> all(9, 9, 9, 3, 9);
    EXPECT(all.shape[0] == 1 && all.shape[3] == 3 && all.shape[4] == 4);
    Shape<1, -1, -1, 8, 8> none;
    EXPECT(none.shape[1] == 1 && none.shape[4] == 8);
    const pto::Shape deduced(1, 1, 2, 3, 4);
    static_assert(std::is_same_v<decltype(deduced), const Shape<-1, -1, -1, -1, -1>>);
    const auto strides = pto::Stride(24, 24, 12, 4, 1);
    GlobalTensor<float, Shape<-1, -1, -1, -1, -1>, Stride<-1, -1, -1, -1, -1>> g(data, deduced, strides);
    EXPECT(g.GetShape(2) == 2 && g.GetStride(2) == 12 && g.GetShape(5) == -1 && g.GetStride(-1) == -1);
    g.SetElement(0, 0, 1, 2, 3, 5.0f);
    g.AddToElement(23, 1.0f);
    EXPECT(g.GetElement(23) == 6.0f && g.GetElement(0, 0, 1, 2, 3) == 6.0f && data[23] == 6.0f);
    g.SetShape<GlobalTensorDim::DIM_3, GlobalTensorDim::DIM_4>(2, 2);
    g.SetStride<3>(8);
    EXPECT(g.GetShape(3) == 2 && g.GetShape(4) == 2 && g.GetStride(3) == 8);
    using G = GlobalTensor<float, Shape<1, 1, 2, 3, 4>, Stride<24, 24, 12, 4, 1>, Layout::ND>;
    static_assert(G::GetShape<3>() == 3 && G::GetStride<3>() == 4 && G::staticShape[2] == 2 && G::layout == Layout::ND);
    static_assert(std::is_same_v<G::DType, float> && std::is_same_v<G::RawDType, float> && is_global_data_v<G>);
    G first(data), second;
    TASSIGN(second, data + 1);
    EXPECT(second.data() == data + 1 && first.data() == data);
    // A const pointer may be viewed, and any layout may be named.
    GlobalTensor<const float, G::Shape, G::Stride, Layout::MX_A_ZZ> named(data);
    EXPECT(named.data() == data);
    using Nz = TileShape2D<half, 32, 48, Layout::NZ>;
    static_assert(Nz::staticShape[1] == 3 && Nz::staticShape[2] == 2 && Nz::staticShape[4] == 16);
    using NzStride = BaseShape2D<half, 32, 48, Layout::NZ>;
    static_assert(NzStride::staticStride[1] == 512 && NzStride::staticStride[2] == 256 && NzStride::staticStride[4] == 1);
    TileShape2D<float> open(3, 4);
    BaseShape2D<float, -1, -1, Layout::DN> openStride(3, 4);
    EXPECT(open.shape[3] == 3 && open.shape[4] == 4 && openStride.stride[3] == 1 && openStride.stride[4] == 3);
    using Mx = TileShape2D<uint8_t, 32, 4, Layout::MX_A_ZZ>;
    static_assert(Mx::staticShape[1] == 2 && Mx::staticShape[2] == 2 && Mx::staticShape[3] == 16 && Mx::staticShape[4] == 2);
    std::vector<half> boxes(32 * 48);
    boxes[512 + 256 + 16 + 5] = half(7);
    Tile<TileType::Mat, half, 32, 48, BLayout::ColMajor, 32, 48, SLayout::RowMajor> mat;
    GlobalTensor<half, Nz, NzStride, Layout::NZ> nz(boxes.data());
    TLOAD(mat, nz);
    EXPECT(mat.GetElement(17, 21) == half(7));
}

static void Conv()
{
    using Image = ConvTile<TileType::Mat, half, 4096, Layout::NC1HWC0, ConvTileShape<1, 1, -1, -1, 16>>;
    static_assert(Image::bufferSize == 4096 && Image::totalDimCount == 5 && Image::dynamicDimCount == 2);
    static_assert(is_conv_tile_v<Image> && Image::isDynamicDim && Image::staticShape[4] == 16);
    Image image(3, 4);
    EXPECT(image.GetShape(2) == 3 && image.GetShape(3) == 4 && image.GetShape(5) == -1 && image.GetFilterH() == 1);
    image.SetDynamicShape(4, 4);
    std::vector<half> pixels(256);
    for (int i = 0; i < 256; ++i) {
        pixels[static_cast<std::size_t>(i)] = static_cast<half>(i);
    }
    image.data() = pixels.data();
    image.SetFmapH(4);
    image.SetFmapW(4);
    image.SetFilterH(3);
    image.SetFilterW(3);
    const uint8_t pads[4] = {1, 1, 1, 1};
    image.SetPadListArray(pads);
    image.SetPadValue(half(-1));
    EXPECT(image.GetPadList(3) == 1 && image.GetPadListArray()[0] == 1 && image.GetRepeatTime() == 1);
    SETFMATRIX(image);
    SET_IMG2COL_RPT(image);
    SET_IMG2COL_PADDING(image);
    TileLeft<half, 16, 144> left;
    TIMG2COL(left, image);
    // Output (0, 0), tap (0, 0) is padding; tap (1, 1) is pixel (0, 0).
    EXPECT(left.GetElement(0, 0) == half(-1) && left.GetElement(0, 4 * 16 + 5) == half(5));
    TileLeft<half, 16, 16> second;
    TIMG2COL<decltype(second), Image, SetFmatrixMode::FMATRIX_A_MANUAL>(second, image, 0, 4 * 16);
    EXPECT(second.GetElement(5, 3) == pixels[5 * 16 + 3]);
    Image empty(4, 4);
    EXPECT_RULE("timg2col-fmap", SETFMATRIX(empty));
}

static void ConvMoves()
{
    constexpr int N = 2, C = 20, H = 3, W = 2;
    using Image = ConvTile<TileType::Mat, half, 1024, Layout::NCHW, ConvTileShape<N, C, H, W>>;
    using Blocks = ConvTile<TileType::Mat, half, 2048, Layout::NC1HWC0, ConvTileShape<N, 2, H, W, 16>>;
    using Fractal = ConvTile<TileType::Mat, half, 4096, Layout::FRACTAL_Z, ConvTileShape<2 * H * W, 1, 16, 16>>;
    Image image;
    for (int i = 0; i < N * C * H * W; ++i) {
        image.data()[i] = half(i);
    }
    Blocks blocks;
    Tile<TileType::Vec, half, 16, 16> tmp;
    TTRANS(blocks, image, tmp);
    const auto at = [&](int n, int c, int h, int w) { return image.data()[((n * C + c) * H + h) * W + w]; };
    EXPECT(blocks.data()[(((1 * 2 + 1) * H + 2) * W + 1) * 16 + 3] == at(1, 19, 2, 1));
    Fractal fractal;
    TTRANS(fractal, blocks, tmp);
    EXPECT(fractal.data()[(((1 * H + 2) * W + 1) * 16 + 1) * 16 + 3] == at(1, 19, 2, 1));
    Image back;
    TTRANS(back, blocks, tmp);
    EXPECT(std::memcmp(back.data(), image.data(), sizeof(half) * N * C * H * W) == 0);
    TileRight<half, 32, 16> right;
    TEXTRACT(right, fractal, 16, 0);
    // Row 17 is element 1 of block 2, which is image row 1, column 0 of the first channels.
    EXPECT(right.GetElement(17, 1) == at(1, 1, 1, 0));
    TMOV(right, fractal);
    EXPECT(right.GetElement(1, 0) == at(0, 1, 0, 0));
    EXPECT_RULE("textract-align", TEXTRACT(right, fractal, 8, 0));
    EXPECT_RULE("textract-bounds", TEXTRACT(right, fractal, 2 * H * W * 16 - 16, 0));
    EXPECT_RULE("ttrans-layout", TTRANS(image, back, tmp));
    using Volume = ConvTile<TileType::Mat, half, 1024, Layout::NCDHW, ConvTileShape<1, 16, 2, 2, 2>>;
    using Fractal3 = ConvTile<TileType::Mat, half, 4096, Layout::FRACTAL_Z_3D, ConvTileShape<8, 1, 16, 16>>;
    using Grouped = ConvTile<TileType::Mat, half, 1024, Layout::GNCHW, ConvTileShape<2, 1, 16, 2, 2>>;
    using GroupedBlocks = ConvTile<TileType::Mat, half, 1024, Layout::GNC1HWC0, ConvTileShape<2, 1, 1, 2, 2, 16>>;
    using GroupedFractal = ConvTile<TileType::Mat, half, 4096, Layout::FRACTAL_Z, ConvTileShape<8, 1, 16, 16>>;
    Volume volume;
    Grouped grouped;
    for (int i = 0; i < 128; ++i) {
        volume.data()[i] = half(i);
        grouped.data()[i] = half(i);
    }
    Fractal3 fractal3;
    TTRANS(fractal3, volume, tmp);
    EXPECT(fractal3.data()[(1 * 4 + 1 * 2 + 0) * 256 + 5] == volume.data()[((5 * 2 + 1) * 2 + 1) * 2]);
    GroupedBlocks groupedBlocks;
    TTRANS(groupedBlocks, grouped, tmp);
    EXPECT(groupedBlocks.data()[((1 * 2 + 1) * 2 + 0) * 16 + 7] == grouped.data()[((16 + 7) * 2 + 1) * 2]);
    GroupedFractal groupedFractal;
    TTRANS(groupedFractal, groupedBlocks, tmp);
    EXPECT(groupedFractal.data()[(1 * 4 + 1 * 2 + 0) * 256 + 7] == grouped.data()[((16 + 7) * 2 + 1) * 2]);
}

static void Threads()
{
    // A tile that another thread uses works on the storage of the one that bound it.
    Tile<TileType::Vec, float, 8, 8> shared;
    shared.data()[0] = 1.0f;
    std::thread([&shared] {
        TADDS(shared, shared, 2.0f);
        shared.AddToElement(0, 0, 4.0f);
    }).join();
    EXPECT(shared.GetValue(0) == 7.0f);
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) {
        threads.emplace_back([&shared] {
            for (int i = 0; i < 100; ++i) {
                shared.AddToElement(0, 0, 1.0f);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT(shared.GetValue(0) == 407.0f);
}

int main()
{
    Add<float, 64, 64>();
    Add<int32_t, 64, 64>();
    Add<aclFloat16, 16, 256>();
    Add<int16_t, 64, 64, 60, 60>();
    Runtime();
    Contexts();
    Pointers();
    Definedness();
    Constants();
    CustomPads();
    Views();
    Conv();
    ConvMoves();
    Threads();
    return Finish("host");
}
