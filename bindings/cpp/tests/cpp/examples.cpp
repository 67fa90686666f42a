// The examples of the reference pages, as they stand there, run on cpu and a5; then the same with data in them.

#include <vector>

#include "expect.hpp"

namespace tinsert_auto {
#include "examples/tinsert_auto.inc"
}
namespace tinsert_manual {
#include "examples/tinsert_manual.inc"
}
namespace tinterleave_auto {
#include "examples/tinterleave_auto.inc"
}
namespace tinterleave_manual {
#include "examples/tinterleave_manual.inc"
}
namespace treshape {
#include "examples/treshape_example.inc"
}
namespace ttrans_auto {
#include "examples/ttrans_auto.inc"
}
namespace ttrans_manual {
#include "examples/ttrans_manual.inc"
}
namespace layout_family {
#include "examples/layout_family_declarations.inc"
}

static void RunPages()
{
    EXPECT_RULE("", tinsert_auto::example_auto());
    EXPECT_RULE("", tinsert_manual::example_manual());
    EXPECT_RULE("", tinterleave_auto::example_auto());
    // 16 × 256 half are 0x2000 bytes, and the page puts the tiles 0x1000 apart.
    EXPECT_RULE("overlap", tinterleave_manual::example_manual());
    EXPECT_RULE("", treshape::example());
    EXPECT_RULE("", ttrans_auto::example_auto());
    EXPECT_RULE("", ttrans_manual::example_manual());
}

template <typename T, typename Tile>
static std::vector<T> Contents(const Tile &tile)
{
    std::vector<T> all(static_cast<size_t>(tile.GetValidRow() * tile.GetValidCol()));
    pto::HostStore(all.data(), tile);
    return all;
}

template <typename Tile>
static void Count(Tile &tile, int from)
{
    std::vector<typename Tile::DType> all(static_cast<size_t>(tile.GetValidRow() * tile.GetValidCol()));
    for (size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<typename Tile::DType>(from + static_cast<int>(i % 1024));
    }
    pto::HostLoad(tile, all.data());
}

static void InterleaveApart()
{
    using namespace pto;
    using TileT = Tile<TileType::Vec, half, 16, 256, BLayout::RowMajor, 16, 256>;
    TileT src0, src1, dst0, dst1;
    TASSIGN(src0, 0x2000);
    TASSIGN(src1, 0x4000);
    TASSIGN(dst0, 0x6000);
    TASSIGN(dst1, 0x8000);
    Count(src0, 0);
    Count(src1, 1024);
    const auto a = Contents<half>(src0), b = Contents<half>(src1);
    TInterleave(dst1, dst0, src1, src0);
    for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 256; ++j) {
            const auto stream = [&](int k) { return float((k % 2 == 0 ? a : b)[size_t(i * 256 + k / 2)]); };
            EXPECT(float(dst0.GetValue(i, j)) == stream(j));
            EXPECT(float(dst1.GetValue(i, j)) == stream(256 + j));
        }
    }
    TileT back0, back1;
    TASSIGN(back0, 0xA000);
    TASSIGN(back1, 0xC000);
    TDeInterleave(back1, back0, dst1, dst0);
    for (int i = 0; i < 16 * 256; ++i) {
        EXPECT(float(back0.GetValue(i / 256, i % 256)) == float(a[size_t(i)]));
        EXPECT(float(back1.GetValue(i / 256, i % 256)) == float(b[size_t(i)]));
    }
}

static void Others()
{
    using namespace pto;
    {
        Tile<TileType::Vec, float, 16, 16> src, dst, tmp;
        Count(src, 5);
        TTRANS(dst, src, tmp);
        for (int i = 0; i < 16; ++i) {
            for (int j = 0; j < 16; ++j) {
                EXPECT(dst.GetValue(j, i) == src.GetValue(i, j));
            }
        }
    }
    {
        Tile<TileType::Vec, float, 16, 16> src;
        Tile<TileType::Vec, float, 8, 32> dst;
        Count(src, 9);
        TRESHAPE(dst, src);
        for (int k = 0; k < 256; ++k) {
            EXPECT(dst.GetValue(k / 32, k % 32) == 9.0f + float(k));
        }
        // cpu has copied; a5 has bound dst to the storage of src.
        src.SetValue(0, 0, -1.0f);
        EXPECT(dst.GetValue(0, 0) == (GetProfile() == Profile::Cpu ? 9.0f : -1.0f));
        EXPECT_RULE("treshape-shape", TRESHAPE(dst, src, {16, 16}));
    }
    {
        Tile<TileType::Vec, half, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor> src;
        Tile<TileType::Mat, half, 32, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor> dst(32, 64);
        Count(src, 3);
        std::vector<half> old(32 * 64, half(-7));
        HostLoad(dst, old.data());
        TINSERT<TInsertMode::SPLIT2>(dst, src, 16, 32);
        for (int i = 0; i < 32; ++i) {
            for (int j = 0; j < 64; ++j) {
                const bool inside = i >= 16 && j >= 32;
                EXPECT(float(dst.GetValue(i, j)) == (inside ? float(src.GetValue(i - 16, j - 32)) : -7.0f));
            }
        }
    }
}

int main()
{
    for (const pto::Profile profile : {pto::Profile::Cpu, pto::Profile::A5}) {
        pto::SetProfile(profile);
        RunPages();
        InterleaveApart();
        Others();
    }
    pto::SetProfile(pto::Profile::A2A3);
    EXPECT_RULE("tinsert-loc", tinsert_auto::example_auto());
    EXPECT_RULE("tinterleave-profile", tinterleave_auto::example_auto());
    EXPECT_RULE("", ttrans_auto::example_auto());
    EXPECT_RULE("", treshape::example());
    return Finish("examples");
}
