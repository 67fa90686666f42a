#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" AICORE void cube(__gm__ half *a)
{
#if defined(__DAV_CUBE__)
    TPipe<0, Direction::DIR_BOTH, 1024, 4, 4, false> pipe(nullptr, 0, 0);
    Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> am;
    TASSIGN(am, 0x1000);
    Tile<TileType::Left, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> al;
    TASSIGN(al, 0x0);
    Tile<TileType::Right, half, 16, 16, BLayout::RowMajor, 16, 16, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Null> br;
    TASSIGN(br, 0x0);
    Tile<TileType::Acc, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Null> acc;
    TASSIGN(acc, 0x0);
    GlobalTensor<half, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, Layout::ND> va_all(a);
    TLOAD(am, va_all);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(al, am);
    for (int64_t i = 0; i < 4; i += 1) {
        Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> t;
        TPOP<decltype(pipe), decltype(t), TileSplitAxis::TILE_UP_DOWN>(pipe, t);
        TMOV(br, t);
        set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        TFREE<decltype(pipe), TileSplitAxis::TILE_UP_DOWN>(pipe);
        wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        TMATMUL(acc, al, br);
        set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        TPUSH<decltype(pipe), decltype(acc), TileSplitAxis::TILE_UP_DOWN>(pipe, acc);
    }
#endif
}

extern "C" AICORE void vec(__gm__ half *b, __gm__ float *c)
{
#if defined(__DAV_VEC__)
    set_mask_norm();
    set_vector_mask(-1, -1);
    TPipe<0, Direction::DIR_BOTH, 1024, 4, 4, false> pipe(nullptr, 0, 0);
    const int64_t sub64 = static_cast<int64_t>(get_subblockid());
    const int64_t sub = static_cast<int64_t>(sub64);
    const int64_t row = sub * 8;
    Tile<TileType::Vec, half, 8, 16, BLayout::RowMajor, 8, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> in;
    TASSIGN(in, 0x1200);
    Tile<TileType::Vec, float, 8, 16, BLayout::RowMajor, 8, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> out;
    TASSIGN(out, 0x1000);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    for (int64_t i_2 = 0; i_2 < 4; i_2 += 1) {
        const int64_t base = i_2 * 16;
        const int64_t r = base + row;
        GlobalTensor<half, pto::Shape<1, 1, 1, 8, 16>, pto::Stride<128, 128, 128, 16, 1>, Layout::ND> pb(b + (r * 16));
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        TLOAD(in, pb);
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        TPUSH<decltype(pipe), decltype(in), TileSplitAxis::TILE_UP_DOWN>(pipe, in);
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        Tile<TileType::Vec, float, 8, 16, BLayout::RowMajor, 8, 16, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> t_2;
        TPOP<decltype(pipe), decltype(t_2), TileSplitAxis::TILE_UP_DOWN>(pipe, t_2);
        TADD(out, t_2, t_2);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TFREE<decltype(pipe), TileSplitAxis::TILE_UP_DOWN>(pipe);
        GlobalTensor<float, pto::Shape<1, 1, 1, 8, 16>, pto::Stride<128, 128, 128, 16, 1>, Layout::ND> pc(c + (r * 16));
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(pc, out);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
#endif
}
