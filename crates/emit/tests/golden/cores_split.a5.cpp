#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void kernel(__gm__ float *a, __gm__ float *b, __gm__ float *c)
{
#if defined(__DAV_CUBE__)
    {
        TPipe<0, Direction::DIR_C2V, 1024, 8, 8, false> pipe(nullptr, 0, 0);
        Tile<TileType::Mat, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> ma;
        TASSIGN(ma, 0x0);
        Tile<TileType::Mat, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> mb;
        TASSIGN(mb, 0x400);
        Tile<TileType::Left, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> l;
        TASSIGN(l, 0x0);
        Tile<TileType::Right, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Null> r;
        TASSIGN(r, 0x0);
        Tile<TileType::Acc, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Null> p;
        TASSIGN(p, 0x0);
        GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, Layout::ND> va_all(a);
        TLOAD(ma, va_all);
        set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, Layout::ND> vb_all(b);
        TLOAD(mb, vb_all);
        set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        TMOV(l, ma);
        wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
        TMOV(r, mb);
        set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        TMATMUL(p, l, r);
        set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        TPUSH<decltype(pipe), decltype(p), TileSplitAxis::TILE_LEFT_RIGHT>(pipe, p);
    }
#endif
#if defined(__DAV_VEC__)
    {
        set_mask_norm();
        set_vector_mask(-1, -1);
        TPipe<0, Direction::DIR_C2V, 1024, 8, 8, false> pipe_2(nullptr, 0, 0);
        const int64_t index = static_cast<int64_t>(get_subblockid());
        const int64_t sub = static_cast<int64_t>(index);
        const int64_t col = sub * 8;
        GlobalTensor<float, pto::Shape<1, 1, 1, 16, 8>, pto::Stride<256, 256, 256, 16, 1>, Layout::ND> half_2(c + col);
        Tile<TileType::Vec, float, 16, 8, BLayout::RowMajor, 16, 8, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> sum;
        TASSIGN(sum, 0x2000);
        Tile<TileType::Vec, float, 16, 8, BLayout::RowMajor, 16, 8, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> t;
        TPOP<decltype(pipe_2), decltype(t), TileSplitAxis::TILE_LEFT_RIGHT>(pipe_2, t);
        TADDS(sum, t, 1.0f);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TFREE<decltype(pipe_2), TileSplitAxis::TILE_LEFT_RIGHT>(pipe_2);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(half_2, sum);
    }
#endif
}
