#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void embedding(__gm__ float *table, __gm__ int32_t *tokens, __gm__ float *grad, __gm__ float *sums, __gm__ float *out)
{
    GlobalTensor<float, pto::Shape<1, 1, 1, 100, 64>, pto::Stride<6400, 6400, 6400, 64, 1>, Layout::ND> table_view(table);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, 16, 1>, pto::Stride<16, 16, 16, 1, 1>, Layout::ND> tokens_view(tokens);
    GlobalTensor<float, pto::Shape<1, 1, 1, 16, 64>, pto::Stride<1024, 1024, 1024, 64, 1>, Layout::ND> grad_view(grad);
    GlobalTensor<float, pto::Shape<1, 1, 1, 100, 64>, pto::Stride<6400, 6400, 6400, 64, 1>, Layout::ND> sums_view(sums);
    GlobalTensor<float, pto::Shape<1, 1, 1, 16, 64>, pto::Stride<1024, 1024, 1024, 64, 1>, Layout::ND> out_view(out);
    Tile<TileType::Vec, int32_t, 16, 8, BLayout::RowMajor, 16, 1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> ids;
    TASSIGN(ids, 0x0);
    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 16, 64, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> x;
    TASSIGN(x, 0x200);
    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 16, 64, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> g;
    TASSIGN(g, 0x200);
    TLOAD(ids, tokens_view);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    MGATHER<Coalesce::Row, GatherOOB::Zero>(x, table_view, ids);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(out_view, x);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    TLOAD(g, grad_view);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    MSCATTER<Coalesce::Row, ScatterAtomicOp::Add, ScatterOOB::Skip>(sums_view, g, ids);
}
