// Conv tiles between shapes, layouts and views of them, and views with the tags of block scales (cpp.md 5).

#include <algorithm>
#include <cstring>

#include "expect.hpp"

using namespace pto;

// Element (r, c) of an R × C matrix in global memory (cpp.md 5, last column of the table).
static int64_t PlaceOf(Layout layout, const int64_t *s, int64_t r, int64_t c)
{
    switch (layout) {
        case Layout::MX_A_ZZ: return r / 16 * s[1] + c / 2 * s[2] + r % 16 * s[3] + c % 2 * s[4];
        case Layout::MX_A_ND: return r * s[2] + c / 2 * s[3] + c % 2 * s[4];
        case Layout::MX_A_DN: return c / 2 * s[2] + r * s[3] + c % 2 * s[4];
        case Layout::MX_B_NN: return c / 16 * s[1] + r / 2 * s[2] + c % 16 * s[3] + r % 2 * s[4];
        case Layout::MX_B_ND: return r / 2 * s[2] + c * s[3] + r % 2 * s[4];
        default: return c * s[2] + r / 2 * s[3] + r % 2 * s[4];
    }
}

template <Layout Tag, typename TileT>
static void LoadsMx()
{
    constexpr int kRows = TileT::Rows, kCols = TileT::Cols;
    uint8_t bytes[kRows * kCols];
    for (int i = 0; i < kRows * kCols; ++i) {
        bytes[i] = static_cast<uint8_t>(i * 7 + i / 256);
    }
    using ShapeT = TileShape2D<uint8_t, kRows, kCols, Tag>;
    using StrideT = BaseShape2D<uint8_t, kRows, kCols, Tag>;
    GlobalTensor<uint8_t, ShapeT, StrideT, Tag> view(bytes);
    TileT tile;
    TLOAD(tile, view);
    const StrideT stride;
    int wrong = 0;
    for (int r = 0; r < kRows; ++r) {
        for (int c = 0; c < kCols; ++c) {
            wrong += tile.GetElement(r, c) != bytes[PlaceOf(Tag, stride.stride, r, c)];
        }
    }
    EXPECT(wrong == 0);
}

static void MxViews()
{
    using Nd = Tile<TileType::Vec, uint8_t, 32, 64>;
    using Boxes = Tile<TileType::Mat, uint8_t, 32, 64, BLayout::ColMajor, 32, 64, SLayout::RowMajor>;
    LoadsMx<Layout::MX_A_ZZ, Nd>();
    LoadsMx<Layout::MX_A_ND, Nd>();
    LoadsMx<Layout::MX_A_DN, Nd>();
    LoadsMx<Layout::MX_B_NN, Nd>();
    LoadsMx<Layout::MX_B_ND, Nd>();
    LoadsMx<Layout::MX_B_DN, Nd>();
    LoadsMx<Layout::MX_A_ZZ, Boxes>();
    LoadsMx<Layout::MX_B_DN, Boxes>();
    LoadsMx<Layout::MX_A_ZZ, TileLeftScale<uint8_t, 32, 64>>();
    LoadsMx<Layout::MX_B_NN, TileRightScale<uint8_t, 32, 64>>();
    // They are loaded, not stored.
    uint8_t bytes[32 * 64] = {};
    GlobalTensor<uint8_t, TileShape2D<uint8_t, 32, 64, Layout::MX_A_ZZ>, BaseShape2D<uint8_t, 32, 64, Layout::MX_A_ZZ>,
                 Layout::MX_A_ZZ>
        view(bytes);
    Nd tile;
    TLOAD(tile, view);
    EXPECT_RULE("binding", TSTORE(view, tile));
}

static void Views()
{
    // A tile with other extents than the view: rows are (n, h, w) and columns (c1, c0) on both sides.
    half image[2 * 3 * 4 * 5 * 16], out[2 * 3 * 4 * 5 * 16] = {};
    for (int i = 0; i < 2 * 3 * 4 * 5 * 16; ++i) {
        image[i] = half(i % 2048);
    }
    using View = GlobalTensor<half, Shape<2, 3, 4, 5, 16>, Stride<960, 320, 80, 16, 1>, Layout::NC1HWC0>;
    View view(image);
    ConvTile<TileType::Mat, half, 4096, Layout::NC1HWC0, ConvTileShape<1, 3, 8, 5, 16>> tall;
    TLOAD(tall, view);
    // Row 26 is image 1, h 1, w 1 of the view, and h 5, w 1 of the tile.
    EXPECT(tall.data()[(2 * 8 + 5) * 80 + 16 + 7] == image[960 + 2 * 320 + 80 + 16 + 7]);
    View back(out);
    TSTORE(back, tall);
    EXPECT(std::memcmp(image, out, sizeof image) == 0);
    // A part of the view, and one that leaves a part of the tile as it was.
    ConvTile<TileType::Mat, half, 4096, Layout::NC1HWC0, ConvTileShape<1, 2, 4, 5, 16>> part;
    TLOAD(part, view);
    EXPECT(part.data()[(1 * 4 + 3) * 80 + 4 * 16 + 15] == image[1 * 320 + 3 * 80 + 4 * 16 + 15]);
    EXPECT_RULE("tstore-shape", TSTORE((GlobalTensor<half, Shape<1, 1, 1, 1, 16>, Stride<16, 16, 16, 16, 1>,
                                                     Layout::NC1HWC0>(out)), part));
    // With depths; C0 lies behind the five dimensions.
    using Deep = ConvTile<TileType::Mat, half, 8192, Layout::NDC1HWC0, ConvTileShape<1, 2, 3, 2, 5, 16>>;
    GlobalTensor<half, Shape<1, 2, 3, 2, 5>, Stride<960, 480, 160, 80, 16>, Layout::NDC1HWC0> deep(image);
    Deep volume;
    TLOAD(volume, deep);
    EXPECT(std::memcmp(volume.data(), image, 960 * sizeof(half)) == 0);
    std::memset(static_cast<void *>(out), 0, sizeof out);
    GlobalTensor<half, Shape<1, 2, 3, 2, 5>, Stride<960, 480, 160, 80, 16>, Layout::NDC1HWC0> deepOut(out);
    TSTORE(deepOut, volume);
    EXPECT(std::memcmp(out, image, 960 * sizeof(half)) == 0 && out[960] == half(0));
    // Filters: rows are (c1, h, w, c0), columns n; a tile of boxes splits rows into two.
    GlobalTensor<half, Shape<2, 1, 3, 16, 16>, Stride<768, 768, 256, 16, 1>, Layout::FRACTAL_Z> filters(image);
    ConvTile<TileType::Mat, half, 4096, Layout::FRACTAL_Z, ConvTileShape<3, 2, 16, 16>> boxes;
    TLOAD(boxes, filters);
    // a = 1, b = 1 is row 3 · 16 + c0: c1 1, w 0.
    EXPECT(boxes.data()[(3 * 16 + 5) * 16 + 9] == image[768 + 5 * 16 + 9]);
    EXPECT_RULE("tstore-layout", TSTORE(filters, boxes));
}

// What is undefined stays so on the way through conv tiles, and is found when it is stored.
static void Definedness()
{
    std::string warned;
    const auto before = SetWarningHandler([&](const Error &warning) { warned = warning.rule(); });
    using Image = ConvTile<TileType::Mat, half, 1024, Layout::NCHW, ConvTileShape<1, 16, 2, 2>>;
    using Blocks = ConvTile<TileType::Mat, half, 1024, Layout::NC1HWC0, ConvTileShape<1, 1, 2, 2, 16>>;
    half values[64], out[64];
    std::fill_n(values, 64, half(3));
    GlobalTensor<half, Shape<1, 1, 2, 2, 16>, Stride<64, 64, 32, 16, 1>, Layout::NC1HWC0> view(out);
    Image image;
    Blocks blocks;
    TTRANS(blocks, image);
    const uint64_t stored = UndefinedBytesStored();
    std::fill_n(out, 64, half(9));
    TSTORE(view, blocks);
    EXPECT(warned == "undefined-read" && UndefinedBytesStored() == stored + 128 && out[5] == half(0));
    warned.clear();
    TLOAD(image, values);
    TTRANS(blocks, image);
    TSTORE(view, blocks);
    EXPECT(warned.empty() && UndefinedBytesStored() == stored + 128 && out[63] == half(3));
    // Bytes to which a pointer was handed out are defined.
    Image written;
    written.data()[0] = half(1);
    TTRANS(blocks, written);
    TSTORE(view, blocks);
    EXPECT(warned.empty() && out[0] == half(1));
    Blocks same;
    TASSIGN(same, 0);
    Image there;
    TASSIGN(there, 0);
    EXPECT_RULE("overlap", TTRANS(same, there));
    SetWarningHandler(before);
}

int main()
{
    MxViews();
    Views();
    Definedness();
    return Finish("conv");
}
