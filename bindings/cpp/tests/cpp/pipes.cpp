// Pipes between cores that are threads, and in one thread (cpp.md 6.7).
#include <pto/common/fifo.hpp>

#include "expect.hpp"

using namespace pto;

using Acc = TileAcc<float, 16, 32>;
using Whole = Tile<TileType::Vec, float, 16, 32>;
using Upper = Tile<TileType::Vec, float, 8, 32>;
using Left = Tile<TileType::Vec, float, 16, 16>;
using MatTile = Tile<TileType::Mat, float, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor>;

template <typename TileT>
static void Count(TileT &tile, float from)
{
    for (int r = 0; r < TileT::Rows; ++r) {
        for (int c = 0; c < TileT::Cols; ++c) {
            tile.SetElement(r, c, from + static_cast<float>(r * TileT::Cols + c));
        }
    }
}

// One thread: push, pop, free in order; the counters tell.
static void InOrder()
{
    using Pipe = TPipe<0, DIR_C2V, 16 * 32 * 4, 2>;
    static_assert(Pipe::RingFiFo::SLOT_NUM == 2 && Pipe::RingFiFo::SLOT_SIZE == 2048 && Pipe::is_c2v && !Pipe::is_v2c);
    Pipe::reset_for_cpu_sim();
    Pipe pipe(nullptr, 0, 0);
    Acc acc;
    Whole out;
    for (int n = 0; n < 5; ++n) {
        Count(acc, static_cast<float>(1000 * n));
        TPUSH<Pipe, Acc, TILE_NO_SPLIT>(pipe, acc);
        auto &state = Pipe::GetSharedState();
        EXPECT(state.occupied == 1 && state.next_producer_slot == static_cast<uint32_t>((n + 1) % 2));
        TPOP<Pipe, Whole, TILE_NO_SPLIT>(pipe, out);
        EXPECT(state.popped_not_freed == 1 && out.GetElement(3, 7) == 1000 * n + 3 * 32 + 7);
        TFREE<Pipe, TILE_NO_SPLIT>(pipe);
        EXPECT(state.occupied == 0 && state.popped_not_freed == 0);
    }
    EXPECT_RULE("fifo-free", TFREE(pipe));
    Tile<TileType::Acc, float, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor, 1024> large;
    EXPECT_RULE("fifo-slot", TPUSH(pipe, large));
    // Slots of the program's own, dense and row-major.
    std::vector<float> slots(2 * 512);
    Pipe own(slots.data(), 0, 0);
    Pipe::reset_for_cpu_sim();
    MatTile mat;
    Count(mat, 5.0f);
    TPUSH(mat, own);
    TPUSH(mat, own);
    EXPECT(slots[0] == 5.0f && slots[33] == 38.0f && slots[512 + 511] == 516.0f);
    TPOP(out, own);
    EXPECT(out.GetElement(1, 1) == 38.0f && Pipe::GetSharedState().occupied == 2);
    // A second vector core has no part in what is not split.
    cpu_sim::set_execution_context(0, 1, 1);
    TPUSH(own, mat);
    EXPECT(Pipe::GetSharedState().occupied == 2);
    TPOP(own, out);
    EXPECT(out.GetElement(1, 1) == 0.0f);
    TFREE(own);
    EXPECT(Pipe::GetSharedState().occupied == 2);
    cpu_sim::reset_execution_context();
}

// The cube core and two vector cores as threads, more tiles than slots.
template <TileSplitAxis Split, typename Half>
static void Split2()
{
    using Pipe = TPipe<1, DIR_C2V, 16 * 32 * 4, 2>;
    Pipe::reset_for_cpu_sim();
    constexpr int kTiles = 7;
    std::vector<float> got(2 * kTiles * 256);
    std::thread cube([] {
        Pipe pipe(nullptr, 0, 0);
        Acc acc;
        for (int n = 0; n < kTiles; ++n) {
            Count(acc, static_cast<float>(1000 * n));
            TPUSH<Pipe, Acc, Split>(pipe, acc);
        }
    });
    std::vector<std::thread> lanes;
    for (uint32_t lane = 0; lane < 2; ++lane) {
        lanes.emplace_back([lane, &got] {
            cpu_sim::set_execution_context(0, lane, 2);
            Pipe pipe(nullptr, 0, 0);
            Half half;
            for (int n = 0; n < kTiles; ++n) {
                TPOP<Pipe, Half, Split>(pipe, half);
                HostStore(&got[static_cast<std::size_t>((static_cast<int>(lane) * kTiles + n) * 256)], half);
                TFREE<Pipe, Split>(pipe);
            }
        });
    }
    cube.join();
    for (std::thread &lane : lanes) {
        lane.join();
    }
    bool isRight = true;
    for (int lane = 0; lane < 2; ++lane) {
        for (int n = 0; n < kTiles; ++n) {
            for (int i = 0; i < 256; ++i) {
                const int r = Split == TILE_UP_DOWN ? lane * 8 + i / 32 : i / 16;
                const int c = Split == TILE_UP_DOWN ? i % 32 : lane * 16 + i % 16;
                isRight = isRight && got[static_cast<std::size_t>((lane * kTiles + n) * 256 + i)] == 1000 * n + r * 32 + c;
            }
        }
    }
    EXPECT(isRight && Pipe::GetSharedState().occupied == 0);
    EXPECT(Pipe::GetSharedState().popped_not_freed_by_lane[1] == 0);
}

// Vector cores fill their halves, the cube core takes the whole, and both ways at once.
static void BothWays()
{
    using Pipe = TPipe<2, DIR_BOTH, 16 * 32 * 4, 2>;
    static_assert(Pipe::is_c2v && Pipe::is_v2c);
    std::vector<float> out(512);
    cpu_sim::KernelLaunchOptions options;
    options.explicit_block_count = 2;
    options.subblocks_per_block = 3; // the cube core, and two vector cores
    Pipe::reset_for_cpu_sim();
    cpu_sim::LaunchKernelMultiCore(options, nullptr, [&] {
        const uint32_t core = get_subblockid();
        const uint32_t block = get_block_idx();
        EXPECT(get_block_num() == 2);
        cpu_sim::set_execution_context(block, core == 0 ? 0 : core - 1, 2);
        Pipe pipe(nullptr, 0, 0);
        if (core == 0) {
            Acc acc;
            Count(acc, 100.0f * static_cast<float>(block));
            TPUSH<Pipe, Acc, TILE_UP_DOWN>(pipe, acc);
            MatTile whole;
            TPOP<Pipe, MatTile, TILE_UP_DOWN>(pipe, whole);
            TFREE<Pipe, TILE_UP_DOWN>(pipe);
            if (block == 1) {
                HostStore(out.data(), whole);
            }
        } else {
            Upper half;
            TPOP<Pipe, Upper, TILE_UP_DOWN>(pipe, half);
            TFREE<Pipe, TILE_UP_DOWN>(pipe);
            TADDS(half, half, 0.5f);
            TPUSH<Pipe, Upper, TILE_UP_DOWN>(pipe, half);
        }
    });
    EXPECT(out[0] == 100.5f && out[15 * 32 + 31] == 611.5f);
}

// A failure of one core ends the others, and the launch tells it.
static void Failure()
{
    using Pipe = TPipe<3, DIR_C2V, 2048, 2>;
    cpu_sim::KernelLaunchOptions options;
    options.explicit_block_count = 1;
    options.subblocks_per_block = 2;
    const std::string rule = RuleOf([&] {
        cpu_sim::LaunchKernelMultiCore(options, nullptr, [] {
            const bool isCube = get_subblockid() == 0;
            cpu_sim::set_execution_context(0, 0, 1);
            Pipe pipe(nullptr, 0, 0);
            Whole tile;
            if (isCube) {
                Upper window;
                TINSERT(tile, window, 9, 0);
            } else {
                TPOP(pipe, tile);
            }
        });
    });
    EXPECT(rule == "tinsert-bounds" || rule == "deadlock");
    cpu_sim::KernelLaunchOptions work;
    work.total_work_items = 5;
    work.work_quantum = 2;
    std::atomic<int> runs{0};
    cpu_sim::LaunchKernelMultiCore(work, nullptr, [&] { ++runs; });
    EXPECT(runs == 3);
}

// Converted and quantized on the way; slots as views.
static void OnTheWay()
{
    using Pipe = TPipe<4, DIR_C2V, 4096, 4>;
    Pipe::reset_for_cpu_sim();
    Pipe pipe(nullptr, 0, 0);
    Acc acc;
    Count(acc, -200.0f);
    using ToHalf = FixpipeParams<LayoutMode_t::NZ2ND, F322F16, ReluPreMode::NormalRelu>;
    TPUSH<Pipe, Acc, ToHalf>(pipe, acc);
    Tile<TileType::Vec, half, 16, 32> f16;
    TPOP(pipe, f16);
    TFREE(pipe);
    EXPECT(f16.GetElement(0, 0) == half(0) && f16.GetElement(15, 31) == half(311));
    SET_QUANT_SCALAR<int8_t>(0.5f);
    TPUSH<Pipe, Acc, FixpipeParams<LayoutMode_t::NZ2ND, QF322B8_PRE>>(pipe, acc);
    Tile<TileType::Vec, int8_t, 16, 32> i8;
    TPOP(pipe, i8);
    TFREE(pipe);
    EXPECT(i8.GetElement(0, 1) == -100 && i8.GetElement(8, 0) == 28 && i8.GetElement(15, 31) == 127);
    Tile<TileType::Scaling, uint64_t, 1, 32> fp;
    for (int i = 0; i < 32; ++i) {
        fp.SetElement(0, i, uint64_t{1} << 46 | __builtin_bit_cast(uint32_t, i == 1 ? 1.0f : 0.25f));
    }
    SET_QUANT_VECTOR(fp);
    TPUSH<Pipe, Acc, FixpipeParams<LayoutMode_t::NZ2ND, VQF322B8_PRE>>(pipe, acc);
    TPOP(pipe, i8);
    TFREE(pipe);
    EXPECT(i8.GetElement(8, 0) == 14 && i8.GetElement(8, 1) == 57);
    using G = GlobalTensor<float, Shape<1, 1, 1, 16, 32>, Stride<512, 512, 512, 32, 1>>;
    G slot;
    TALLOC<Pipe, G, TILE_NO_SPLIT>(pipe, slot);
    Whole tile, back;
    Count(tile, 3.0f);
    TSTORE(slot, tile);
    TPUSH<Pipe, G, TILE_NO_SPLIT>(pipe, slot);
    G read;
    TPOP<Pipe, G, TILE_NO_SPLIT>(pipe, read);
    EXPECT(read.data() == slot.data());
    TLOAD(back, read);
    EXPECT(back.GetElement(2, 2) == 69.0f);
    TFREE<Pipe, G, TILE_NO_SPLIT>(pipe, read);
    EXPECT(Pipe::GetSharedState().occupied == 0);
    // Two entries of one slot: allocated with the first, recorded with the second.
    pipe.prod.setRecordStatus(false);
    TPUSH(pipe, tile, 0);
    pipe.prod.setRecordStatus(true);
    pipe.prod.setAllocateStatus(false);
    pipe.prod.setEntryOffset(2048);
    Count(tile, 9.0f);
    TPUSH(pipe, tile, 0);
    EXPECT(Pipe::GetSharedState().occupied == 1);
    TPOP(pipe, back);
    EXPECT(back.GetElement(0, 0) == 3.0f);
    pipe.cons.setWaitStatus(false);
    pipe.cons.setentryOffset(2048);
    TPOP(pipe, back);
    EXPECT(back.GetElement(0, 0) == 9.0f);
    TFREE(pipe);
    EXPECT(Pipe::GetSharedState().occupied == 0);
}

// Both lanes pop what is not split; the second gets zeros.
static void NoSplit()
{
    using Pipe = TPipe<5, DIR_C2V, 2048, 2, 2, true>;
    Pipe::reset_for_cpu_sim();
    Pipe pipe(nullptr, 0, 0);
    Acc acc;
    Count(acc, 1.0f);
    TPUSH(pipe, acc);
    Whole out;
    cpu_sim::set_execution_context(0, 0, 2);
    TPOP(pipe, out);
    EXPECT(out.GetElement(0, 1) == 2.0f);
    TFREE(pipe);
    EXPECT(Pipe::GetSharedState().occupied == 1);
    cpu_sim::set_execution_context(0, 1, 2);
    TPOP(pipe, out);
    EXPECT(out.GetElement(0, 1) == 0.0f);
    TFREE(pipe);
    EXPECT(Pipe::GetSharedState().occupied == 0);
    cpu_sim::reset_execution_context();
}

int main()
{
    InOrder();
    Split2<TILE_UP_DOWN, Upper>();
    Split2<TILE_LEFT_RIGHT, Left>();
    BothWays();
    Failure();
    OnTheWay();
    NoSplit();
    return Finish("pipes");
}
