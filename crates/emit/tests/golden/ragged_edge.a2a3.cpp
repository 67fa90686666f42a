#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void edge(__gm__ float *matrix, int64_t rows, int64_t cols)
{
    GlobalTensor<float, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<1, 1, 1, -1, 1>, Layout::ND> view(matrix, pto::Shape<1, 1, 1, -1, -1>(rows, cols), pto::Stride<1, 1, 1, -1, 1>(cols));
    Tile<TileType::Vec, float, 16, 32, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> edge_2;
    TASSIGN(edge_2, 0x0);
    edge_2.SetValidShape(rows, cols);
    Tile<TileType::Vec, float, 16, 32, BLayout::RowMajor, 16, 32, SLayout::NoneBox, 512, PadValue::Min, CompactMode::Null> whole;
    TASSIGN(whole, 0x800);
    TLOAD(edge_2, view);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TFILLPAD(whole, edge_2);
}
