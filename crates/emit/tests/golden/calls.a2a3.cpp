#include "pto/pto-inst.hpp"

using namespace pto;

static AICORE int64_t twice(Tile<TileType::Vec, float, 32, 32, BLayout::RowMajor, 32, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> &t, int64_t n)
{
    TADD(t, t, t);
    const int64_t m = n * 2;
    return m;
}

extern "C" __global__ AICORE void kernel(__gm__ float *x, int64_t n)
{
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    for (int64_t i = 0; i < n; i += 32) {
        Tile<TileType::Vec, float, 32, 32, BLayout::RowMajor, 32, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> a;
        TASSIGN(a, 0x1000);
        GlobalTensor<float, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<1024, 1024, 1024, 32, 1>, Layout::ND> p(x + (i * 32));
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        TLOAD(a, p);
        pipe_barrier(PIPE_ALL);
        twice(a, i);
        pipe_barrier(PIPE_ALL);
        TSTORE(p, a);
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
}
