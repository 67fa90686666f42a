#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void ids(__gm__ float *x, int64_t n)
{
    GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, Layout::ND> x_view(x);
    int64_t ids_2[2] = {};
    ids_2[0] = 1;
    const int64_t e = ids_2[0];
    Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> t;
    TASSIGN(t, 0x0);
    TLOAD(t, x_view);
    set_flag(PIPE_MTE2, PIPE_V, static_cast<event_t>(e));
    wait_flag(PIPE_MTE2, PIPE_V, static_cast<event_t>(e));
    TADD(t, t, t);
    cce::printf("n = %lld\n", static_cast<long long>(n));
}
