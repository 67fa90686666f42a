#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void transpose(__gm__ float *src, __gm__ float *dst)
{
    Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> block;
    TASSIGN(block, 0x0);
    Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> turned;
    TASSIGN(turned, 0x400);
    for (int64_t i = 0; i < 64; i += 16) {
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
        for (int64_t j = 0; j < 96; j += 16) {
            GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<1536, 1536, 1536, 96, 1>, Layout::ND> in(src + (i * 96 + j));
            GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<1024, 1024, 1024, 64, 1>, Layout::ND> out(dst + (j * 64 + i));
            wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
            TLOAD(block, in);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
            {
                Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> tmp;
                TASSIGN(tmp, 0x800);
                TTRANS(turned, block, tmp);
            }
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            TSTORE(out, turned);
            set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
        }
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    }
}
