#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void softmax(__gm__ float *x, __gm__ float *y, int64_t rows, int64_t cols)
{
    GlobalTensor<float, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<1, 1, 1, -1, 1>, Layout::ND> from(x, pto::Shape<1, 1, 1, -1, -1>(rows, cols), pto::Stride<1, 1, 1, -1, 1>(cols));
    GlobalTensor<float, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<1, 1, 1, -1, 1>, Layout::ND> to(y, pto::Shape<1, 1, 1, -1, -1>(rows, cols), pto::Stride<1, 1, 1, -1, 1>(cols));
    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> data;
    TASSIGN(data, 0x0);
    data.SetValidShape(rows, cols);
    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 16, 64, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> tmp;
    Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor, -1, 1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> peak;
    TASSIGN(peak, 0x1000);
    peak.SetValidRow(rows);
    Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor, -1, 1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> total;
    TASSIGN(total, 0x1000);
    total.SetValidRow(rows);
    TLOAD(data, from);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TROWMAX(peak, data, tmp);
    TROWEXPANDSUB(data, data, peak);
    TEXP(data, data);
    TROWSUM(total, data, tmp);
    TROWEXPANDDIV(data, data, total);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(to, data);
}
