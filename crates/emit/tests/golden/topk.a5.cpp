#include "pto/pto-inst.hpp"

using namespace pto;

AICORE void kernel(Tile<TileType::Vec, float, 1, 256, BLayout::RowMajor, 1, 256, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> &scores, Tile<TileType::Vec, float, 1, 64, BLayout::RowMajor, 1, 64, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> &values, Tile<TileType::Vec, uint32_t, 1, 64, BLayout::RowMajor, 1, 64, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> &places)
{
    MrgSortExecutedNumList taken;
    Tile<TileType::Vec, uint32_t, 1, 256, BLayout::RowMajor, 1, 256, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> index;
    TASSIGN(index, 0x600);
    Tile<TileType::Vec, float, 1, 512, BLayout::RowMajor, 1, 512, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> sorted;
    TASSIGN(sorted, 0xa00);
    Tile<TileType::Vec, float, 1, 512, BLayout::RowMajor, 1, 512, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> merged;
    TASSIGN(merged, 0x200);
    Tile<TileType::Vec, float, 1, 512, BLayout::RowMajor, 1, 512, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> scratch;
    Tile<TileType::Vec, float, 1, 128, BLayout::RowMajor, 1, 128, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> top;
    TASSIGN(top, 0xa00);
    TCI(index, static_cast<uint32_t>(0));
    set_flag(PIPE_S, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID0);
    TSORT32(sorted, scores, index);
    TMRGSORT(merged, sorted, static_cast<uint32_t>(64));
    Tile<TileType::Vec, float, 1, 256, BLayout::RowMajor, 1, 256, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> low;
    TSUBVIEW(low, merged, 0, 0);
    Tile<TileType::Vec, float, 1, 256, BLayout::RowMajor, 1, 256, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null> high;
    TSUBVIEW(high, merged, 0, 256);
    TMRGSORT(top, taken, scratch, low, high);
    TGATHER<std::remove_reference_t<decltype(values)>, decltype(top), MaskPattern::P0101>(values, top);
    TGATHER<std::remove_reference_t<decltype(places)>, decltype(top), MaskPattern::P1010>(places, top);
}
