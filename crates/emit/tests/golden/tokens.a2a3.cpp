#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void tokens(__gm__ half *a, __gm__ float *c, __gm__ int64_t *ffts)
{
    GlobalTensor<half, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, Layout::ND> a_view(a);
    set_ffts_base_addr((uint64_t)(ffts));
    GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, Layout::ND> v(c);
#if defined(__DAV_CUBE__)
    {
        Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> am;
        TASSIGN(am, 0x0);
        Tile<TileType::Left, half, 16, 16, BLayout::RowMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> al;
        TASSIGN(al, 0x0);
        Tile<TileType::Right, half, 16, 16, BLayout::RowMajor, 16, 16, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Null> ar;
        TASSIGN(ar, 0x0);
        Tile<TileType::Acc, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Null> acc;
        TASSIGN(acc, 0x0);
        TLOAD(am, a_view);
        set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        TMOV(al, am);
        TMOV(ar, am);
        set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        TMATMUL(acc, al, ar);
        set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        TSTORE(v, acc);
        ffts_cross_core_sync(PIPE_FIX, 0x321);
    }
#endif
#if defined(__DAV_VEC__)
    {
        set_mask_norm();
        set_vector_mask(-1, -1);
        wait_flag_dev(3);
        const int64_t sub64 = static_cast<int64_t>(get_subblockid());
        const int64_t sub = static_cast<int64_t>(sub64);
        const int64_t row = sub * 8;
        GlobalTensor<float, pto::Shape<1, 1, 1, 8, 16>, pto::Stride<128, 128, 128, 16, 1>, Layout::ND> p(c + (row * 16));
        Tile<TileType::Vec, float, 8, 16, BLayout::RowMajor, 8, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> t;
        TASSIGN(t, 0x0);
        TLOAD(t, p);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TADD(t, t, t);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(p, t);
    }
#endif
}
