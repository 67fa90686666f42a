#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void gemm(__gm__ half *a, __gm__ half *b, __gm__ float *bias, __gm__ uint64_t *scales, __gm__ int8_t *c)
{
    GlobalTensor<half, pto::Shape<1, 1, 1, 32, 64>, pto::Stride<2048, 2048, 2048, 64, 1>, Layout::ND> a_view(a);
    GlobalTensor<half, pto::Shape<1, 1, 1, 64, 32>, pto::Stride<2048, 2048, 2048, 32, 1>, Layout::ND> b_view(b);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, Layout::ND> bias_view(bias);
    GlobalTensor<uint64_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>, Layout::ND> scales_view(scales);
    GlobalTensor<int8_t, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<1024, 1024, 1024, 32, 1>, Layout::ND> c_view(c);
    Tile<TileType::Mat, half, 32, 64, BLayout::ColMajor, 32, 64, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> al1;
    TASSIGN(al1, 0x0);
    Tile<TileType::Mat, half, 64, 32, BLayout::ColMajor, 64, 32, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> bl1;
    TASSIGN(bl1, 0x1000);
    Tile<TileType::Mat, float, 1, 32, BLayout::RowMajor, 1, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> biasl1;
    TASSIGN(biasl1, 0x2000);
    Tile<TileType::Mat, uint64_t, 1, 32, BLayout::RowMajor, 1, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> fpl1;
    TASSIGN(fpl1, 0x2080);
    TLOAD(al1, a_view);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TLOAD(bl1, b_view);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
    TLOAD(biasl1, bias_view);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID2);
    TLOAD(fpl1, scales_view);
    set_flag(PIPE_MTE2, PIPE_FIX, EVENT_ID0);
    Tile<TileType::Left, half, 32, 64, BLayout::ColMajor, 32, 64, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> left;
    TASSIGN(left, 0x0);
    Tile<TileType::Right, half, 64, 32, BLayout::RowMajor, 64, 32, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Null> right;
    TASSIGN(right, 0x0);
    Tile<TileType::Bias, float, 1, 32, BLayout::RowMajor, 1, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> row;
    TASSIGN(row, 0x0);
    Tile<TileType::Scaling, uint64_t, 1, 32, BLayout::RowMajor, 1, 32, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> fp;
    TASSIGN(fp, 0x0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(left, al1);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
    TMOV(right, bl1);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID2);
    TMOV(row, biasl1);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_FIX, EVENT_ID0);
    TMOV(fp, fpl1);
    Tile<TileType::Acc, float, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Null> acc;
    TASSIGN(acc, 0x0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    TMATMUL_BIAS(acc, left, right, row);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    TSTORE_FP<decltype(acc), decltype(c_view), decltype(fp), AtomicType::AtomicNone, ReluPreMode::NormalRelu>(c_view, acc, fp);
}
