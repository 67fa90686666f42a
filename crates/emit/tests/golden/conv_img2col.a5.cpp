#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void patches(__gm__ half *image)
{
    GlobalTensor<half, pto::Shape<1, 1, 6, 6, 16>, pto::Stride<576, 576, 96, 16, 1>, Layout::ND> image_view(image);
    ConvTile<TileType::Mat, half, 1152, Layout::NC1HWC0, ConvTileShape<1, 1, 6, 6, 16>> conv;
    TASSIGN(conv, 0x0);
    Tile<TileType::Left, half, 16, 144, BLayout::ColMajor, 16, 144, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null> patches_2;
    TASSIGN(patches_2, 0x0);
    TLOAD(conv, image_view);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    conv.SetFmapH(6);
    conv.SetFmapW(6);
    conv.SetFilterH(3);
    conv.SetFilterW(3);
    conv.SetStrideH(1);
    conv.SetStrideW(1);
    conv.SetDilationH(1);
    conv.SetDilationW(1);
    conv.SetPadList(0, 1);
    conv.SetPadList(1, 1);
    conv.SetPadList(2, 1);
    conv.SetPadList(3, 1);
    conv.SetPadValue(static_cast<half>(0));
    SETFMATRIX(conv);
    SET_IMG2COL_PADDING(conv);
    TIMG2COL(patches_2, conv, 0, 0);
}
