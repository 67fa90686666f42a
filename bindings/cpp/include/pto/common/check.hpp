// Rules that can be checked while a kernel is compiled: tile types, and the legality tables of the instructions.
//
// The tables come from the instruction table of the library (paths.hpp is generated), so a refusal by the compiler and
// one at run time have the same rule id. Without a PTO_PROFILE_ macro nothing is refused here.

#ifndef PTO_COMMON_CHECK_HPP
#define PTO_COMMON_CHECK_HPP

#include <pto/common/profile.hpp>
#include <pto/common/type.hpp>

namespace pto {
namespace model {

// A tile type as a value.
struct TileInfo {
    TileType loc;
    TesseraElem elem;
    int bits;
    int64_t rows;
    int64_t cols;
    int64_t validRow;
    int64_t validCol;
    BLayout blayout;
    SLayout slayout;
    int fractal;
    PadValue pad;
    CompactMode compact;

    constexpr bool IsBoxed() const { return slayout != SLayout::NoneBox; }
    constexpr bool IsNz() const { return blayout == BLayout::ColMajor && slayout == SLayout::RowMajor; }
    constexpr int C0() const { return 256 / bits; }
    constexpr int64_t Bytes() const { return (rows * cols * bits + 7) / 8; }
    constexpr int InnerRows() const
    {
        if (!IsBoxed() || (slayout == SLayout::RowMajor && rows == 1)) {
            return 1;
        }
        return slayout == SLayout::RowMajor || fractal == 1024 ? 16 : fractal == 32 ? 2 : C0();
    }
    constexpr int InnerCols() const
    {
        if (!IsBoxed()) {
            return 1;
        }
        return slayout == SLayout::ColMajor || fractal == 1024 ? 16 : fractal == 32 ? 2 : C0();
    }
    // The order of Nd, Dn, Nz, Zn, Zz, Nn in the generated tables.
    constexpr int LayoutName() const
    {
        const bool rowMajor = blayout == BLayout::RowMajor;
        switch (slayout) {
            case SLayout::NoneBox: return rowMajor ? 0 : 1;
            case SLayout::RowMajor: return rowMajor ? 4 : 2;
            default: return rowMajor ? 3 : 5;
        }
    }
    constexpr bool RowsShareBytes() const { return LayoutName() == 1 || LayoutName() == 3 || LayoutName() == 5; }
    constexpr bool SameLayout(const TileInfo &other) const
    {
        return LayoutName() == other.LayoutName() && (!IsBoxed() || fractal == other.fractal);
    }
};

// The order and the fractal that a location usually has (tile-model.md 5).
constexpr BLayout UsualBLayout(TileType loc, Profile profile)
{
    switch (loc) {
        case TileType::Mat:
        case TileType::Acc:
        case TileType::ScaleRight: return BLayout::ColMajor;
        case TileType::Left: return profile == Profile::A2A3 ? BLayout::RowMajor : BLayout::ColMajor;
        default: return BLayout::RowMajor;
    }
}

constexpr SLayout UsualSLayout(TileType loc)
{
    switch (loc) {
        case TileType::Mat:
        case TileType::Acc:
        case TileType::Left:
        case TileType::ScaleLeft: return SLayout::RowMajor;
        case TileType::Right:
        case TileType::ScaleRight: return SLayout::ColMajor;
        default: return SLayout::NoneBox;
    }
}

constexpr int UsualFractal(TileType loc)
{
    switch (loc) {
        case TileType::Acc: return 1024;
        case TileType::ScaleLeft:
        case TileType::ScaleRight: return 32;
        default: return 512;
    }
}

// The rules of tile types (tile-model.md 5).
constexpr bool TileShapeOk(const TileInfo &t)
{
    return t.rows >= 1 && t.cols >= 1 && t.validRow >= -1 && t.validCol >= -1 && t.validRow <= t.rows &&
           t.validCol <= t.cols;
}
constexpr bool TileLocOk(const TileInfo &t, Profile profile)
{
    return profile != Profile::A2A3 || (t.loc != TileType::ScaleLeft && t.loc != TileType::ScaleRight);
}
constexpr bool TileDtypeOk(const TileInfo &t, Profile profile)
{
    return profile == Profile::A5 || t.elem < TESSERA_ELEM_F8E4M3;
}
constexpr bool TileFractalOk(const TileInfo &t)
{
    return t.fractal == 512 || (t.IsBoxed() && ((t.fractal == 1024 && t.bits == 32) || (t.fractal == 32 && t.bits == 8)));
}
constexpr bool TileAlignOk(const TileInfo &t)
{
    return t.IsBoxed() || (t.blayout == BLayout::RowMajor ? t.cols : t.rows) % t.C0() == 0;
}
constexpr bool TileBoxColsOk(const TileInfo &t) { return t.cols % t.InnerCols() == 0; }
constexpr bool TileBoxRowsOk(const TileInfo &t)
{
    return (t.IsNz() && t.loc == TileType::Vec) || t.rows % t.InnerRows() == 0;
}
constexpr bool TileCompactOk(const TileInfo &t)
{
    return t.compact != CompactMode::RowPlusOne || !t.IsNz() || t.rows % 16 == 1;
}
constexpr bool TileFp4Ok(const TileInfo &t)
{
    const bool rowsOk = !t.RowsShareBytes() || t.validRow < 0 || t.validRow % 2 == 0;
    return t.bits != 4 || (t.cols % 2 == 0 && (t.validCol < 0 || t.validCol % 2 == 0) && rowsOk);
}

} // namespace model
} // namespace pto

#include <pto/common/paths.hpp>

namespace pto {
namespace model {

constexpr bool TileSizeOk(const TileInfo &t, Profile profile)
{
    const int64_t limit = kMemoryBytes[static_cast<int>(profile)][static_cast<int>(t.loc)];
    return limit <= 0 || t.Bytes() <= limit;
}

// At which step of the search the last line of a table fell away.
enum class Miss { Profile, Loc, Layout, Dtype, None };

constexpr bool Takes(const LayoutRule &rule, const TileInfo &tile, Profile profile)
{
    switch (rule.kind) {
        case LayoutKind::Any: return true;
        case LayoutKind::Of: return (rule.names >> tile.LayoutName() & 1) != 0;
        case LayoutKind::Nz512: return tile.IsNz() && tile.fractal == 512;
        case LayoutKind::Usual:
            return tile.blayout == UsualBLayout(tile.loc, profile) && tile.slayout == UsualSLayout(tile.loc) &&
                   (!tile.IsBoxed() || tile.fractal == UsualFractal(tile.loc));
        case LayoutKind::OneRowNd: return tile.LayoutName() == 0 && tile.rows == 1;
        default: return tile.blayout == BLayout::RowMajor;
    }
}

constexpr bool TakesLayouts(const Path &path, const TileInfo &src, const TileInfo &dst, Profile profile)
{
    for (int i = 0; i < path.layoutCount; ++i) {
        const LayoutPair &pair = path.layouts[i];
        if (Takes(pair.src, src, profile) && Takes(pair.dst, dst, profile) && (!pair.same || src.SameLayout(dst))) {
            return true;
        }
    }
    return false;
}

constexpr bool TakesTypes(const TypeRule &rule, TesseraElem src, TesseraElem dst)
{
    switch (rule.kind) {
        case TypeKind::Any: return true;
        case TypeKind::Equal: return src == dst;
        case TypeKind::EqualOf: return src == dst && (rule.list >> src & 1) != 0;
        case TypeKind::EachOf: return (rule.list >> src & 1) != 0 && (rule.list >> dst & 1) != 0;
        default:
            for (const TypePair &pair : rule.pairs) {
                if (pair.src == src && (pair.dst >> dst & 1) != 0) {
                    return true;
                }
            }
            return false;
    }
}

template <std::size_t N>
constexpr Miss FindPath(const Path (&paths)[N], Profile profile, Form form, const TileInfo &src, const TileInfo &dst)
{
    Miss furthest = Miss::Profile;
    for (const Path &path : paths) {
        if ((path.profiles >> static_cast<int>(profile) & 1) == 0 || (path.forms >> static_cast<int>(form) & 1) == 0) {
            continue;
        }
        Miss miss = Miss::None;
        if ((path.src >> static_cast<int>(src.loc) & 1) == 0 || (path.dst >> static_cast<int>(dst.loc) & 1) == 0) {
            miss = Miss::Loc;
        } else if (!TakesLayouts(path, src, dst, profile)) {
            miss = Miss::Layout;
        } else if (!TakesTypes(path.types, src.elem, dst.elem)) {
            miss = Miss::Dtype;
        }
        if (miss > furthest) {
            furthest = miss;
        }
    }
    return furthest;
}

} // namespace model
} // namespace pto

// Refuses an illegal tile type where the profile is fixed.
#define PTO_STATIC_TILE(info)                                                                                            \
    static_assert(!kStaticProfile || detail::TileShapeOk(info),                                                          \
                  "tile-shape: rows and cols are at least 1 and the valid extents lie inside them");                     \
    static_assert(!kStaticProfile || detail::TileLocOk(info, kProfile),                                                  \
                  "tile-loc: the location does not exist on this profile");                                              \
    static_assert(!kStaticProfile || detail::TileDtypeOk(info, kProfile),                                                \
                  "tile-dtype: the element type does not exist on this profile");                                        \
    static_assert(!kStaticProfile || detail::TileFractalOk(info),                                                        \
                  "tile-fractal: the fractal is 512, 1024 (boxed, 4-byte types) or 32 (boxed, 1-byte types)");           \
    static_assert(!kStaticProfile || detail::TileAlignOk(info),                                                          \
                  "tile-align: the bytes of the major dimension are a multiple of 32");                                  \
    static_assert(!kStaticProfile || detail::TileBoxColsOk(info),                                                        \
                  "tile-box-cols: cols is a multiple of the box's columns");                                             \
    static_assert(!kStaticProfile || detail::TileBoxRowsOk(info),                                                        \
                  "tile-box-rows: rows is a multiple of the box's rows, except NZ in Vec");                              \
    static_assert(!kStaticProfile || detail::TileCompactOk(info),                                                        \
                  "tile-compact: RowPlusOne on an NZ tile needs rows % 16 == 1");                                        \
    static_assert(!kStaticProfile || detail::TileFp4Ok(info),                                                            \
                  "tile-fp4: cols and valid columns are even, and valid rows too where two rows share a byte");          \
    static_assert(!kStaticProfile || detail::TileSizeOk(info, kProfile),                                                 \
                  "tile-size: the tile does not fit its memory on this profile")

// Refuses a pair of tiles that no line of the table takes, under the instruction's four rule ids.
#define PTO_STATIC_PATH_IDS(paths, form, src, dst, profileId, locId, layoutId, dtypeId)                                  \
    do {                                                                                                                 \
        constexpr detail::Miss miss =                                                                                    \
            kStaticProfile ? detail::FindPath(detail::paths, kProfile, form, src, dst) : detail::Miss::None;             \
        static_assert(miss != detail::Miss::Profile, profileId ": the profile has no such form of the instruction");     \
        static_assert(miss != detail::Miss::Loc, locId ": the instruction does not move between these locations");       \
        static_assert(miss != detail::Miss::Layout, layoutId ": the instruction does not take this pair of layouts");    \
        static_assert(miss != detail::Miss::Dtype, dtypeId ": the instruction does not take these element types");       \
    } while (false)

#define PTO_STATIC_PATH(name, paths, form, src, dst)                                                                     \
    PTO_STATIC_PATH_IDS(paths, form, src, dst, name "-loc", name "-loc", name "-layout", name "-dtype")

// Refuses what a rule of its own forbids where the profile is fixed.
#define PTO_STATIC_RULE(condition, text) static_assert(!kStaticProfile || (condition), text)

#endif
