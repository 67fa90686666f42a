// Rules that can be checked while a kernel is compiled: tile types, and the signatures of the instructions.
//
// The tables come from the tables of the library (profiles.hpp and signatures.hpp are generated), so a refusal by the
// compiler and one at run time have the same rule id. Without a PTO_PROFILE_ macro nothing is refused here, and the
// signatures are not even read.

#ifndef PTO_COMMON_CHECK_HPP
#define PTO_COMMON_CHECK_HPP

#include <pto/common/profile.hpp>
#include <pto/common/profiles.hpp>

namespace pto {
namespace pto_model {

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
    constexpr int PerBlock() const { return 256 / bits; }
    constexpr int64_t Bytes() const { return (rows * cols * bits + 7) / 8; }
    // One row of row-major boxes is just a row.
    constexpr int InnerRows() const { return slayout == SLayout::RowMajor && rows == 1 ? 1 : Box()[0]; }
    constexpr int InnerCols() const { return Box()[1]; }
    constexpr const int (&Box() const)[2]
    {
        const int size = bits == 64 ? 4 : bits == 32 ? 3 : bits == 16 ? 2 : bits == 8 ? 1 : 0;
        return kBox[static_cast<int>(slayout)][fractal == 1024 ? 1 : fractal == 32 ? 2 : 0][size];
    }
    constexpr bool HasUsualLayout(Profile profile) const
    {
        if (loc == TileType::Ctrl) {
            return false;
        }
        const UsualLayout &usual = kUsual[static_cast<int>(profile)][static_cast<int>(loc)];
        return blayout == usual.outer && slayout == usual.inner && (!IsBoxed() || fractal == usual.fractal);
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

// The rules of tile types (tile-model.md 5).
constexpr bool TileShapeOk(const TileInfo &t)
{
    return t.rows >= 1 && t.cols >= 1 && t.validRow >= -1 && t.validCol >= -1 && t.validRow <= t.rows &&
           t.validCol <= t.cols;
}
constexpr bool TileLocOk(const TileInfo &t, Profile profile)
{
    return t.loc != TileType::Ctrl && kMemoryBytes[static_cast<int>(profile)][static_cast<int>(t.loc)] != 0;
}
constexpr bool TileDtypeOk(const TileInfo &t, Profile profile)
{
    return (kElems[static_cast<int>(profile)] >> t.elem & 1) != 0;
}
constexpr bool TileFractalOk(const TileInfo &t)
{
    return t.fractal == 512 || (t.IsBoxed() && ((t.fractal == 1024 && t.bits == 32) || (t.fractal == 32 && t.bits == 8)));
}
constexpr bool TileAlignOk(const TileInfo &t)
{
    return t.IsBoxed() || (t.blayout == BLayout::RowMajor ? t.cols : t.rows) % t.PerBlock() == 0;
}
constexpr bool TileBoxColsOk(const TileInfo &t) { return t.cols % t.InnerCols() == 0; }
constexpr bool TileBoxRowsOk(const TileInfo &t)
{
    return t.loc == TileType::Vec || t.fractal == 32 || t.rows == 1 || t.rows % t.InnerRows() == 0;
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

constexpr bool TileSizeOk(const TileInfo &t, Profile profile)
{
    const int64_t limit = TileLocOk(t, profile) ? kMemoryBytes[static_cast<int>(profile)][static_cast<int>(t.loc)] : 0;
    return limit <= 0 || t.Bytes() <= limit;
}

} // namespace pto_model
} // namespace pto

// Refuses an illegal tile type where the profile is fixed.
#define PTO_STATIC_TILE(info)                                                                                            \
    static_assert(!kStaticProfile || pto_detail::TileShapeOk(info),                                                          \
                  "tile-shape: rows and cols are at least 1 and the valid extents lie inside them");                     \
    static_assert(!kStaticProfile || pto_detail::TileLocOk(info, kProfile),                                                  \
                  "tile-loc: the location does not exist on this profile");                                              \
    static_assert(!kStaticProfile || pto_detail::TileDtypeOk(info, kProfile),                                                \
                  "tile-dtype: the element type does not exist on this profile");                                        \
    static_assert(!kStaticProfile || pto_detail::TileFractalOk(info),                                                        \
                  "tile-fractal: the fractal is 512, 1024 (boxed, 4-byte types) or 32 (boxed, 1-byte types)");           \
    static_assert(!kStaticProfile || pto_detail::TileAlignOk(info),                                                          \
                  "tile-align: the bytes of the major dimension are a multiple of 32");                                  \
    static_assert(!kStaticProfile || pto_detail::TileBoxColsOk(info),                                                        \
                  "tile-box-cols: cols is a multiple of the box's columns");                                             \
    static_assert(!kStaticProfile || pto_detail::TileBoxRowsOk(info),                                                        \
                  "tile-box-rows: rows is a multiple of the box's rows, except in Vec, of scales and of one row");                              \
    static_assert(!kStaticProfile || pto_detail::TileCompactOk(info),                                                        \
                  "tile-compact: RowPlusOne on an NZ tile needs rows % 16 == 1");                                        \
    static_assert(!kStaticProfile || pto_detail::TileFp4Ok(info),                                                            \
                  "tile-fp4: cols and valid columns are even, and valid rows too where two rows share a byte");          \
    static_assert(!kStaticProfile || pto_detail::TileSizeOk(info, kProfile),                                                 \
                  "tile-size: the tile does not fit its memory on this profile")

#ifdef PTO_STATIC_PROFILE
#include <pto/common/search.hpp>

// Refuses tiles that no signature takes, with a sentence for each step of the search.
#define PTO_STATIC_MISS(sigs, form, profileText, locText, layoutText, dtypeText, ...)                                    \
    do {                                                                                                                 \
        constexpr pto_detail::Judged tiles[] = {__VA_ARGS__};                                                                \
        constexpr pto_detail::Miss miss = pto_detail::FindSig(pto_detail::sigs, kProfile, form, tiles);                              \
        static_assert(miss != pto_detail::Miss::Profile, profileText);                                                       \
        static_assert(miss != pto_detail::Miss::Loc, locText);                                                               \
        static_assert(miss != pto_detail::Miss::Layout, layoutText);                                                         \
        static_assert(miss != pto_detail::Miss::Dtype, dtypeText);                                                           \
    } while (false)

// Operands that are judged by role, under the instruction's four rule ids.
#define PTO_STATIC_SIG(sigs, form, profileId, locId, layoutId, dtypeId, ...)                                             \
    PTO_STATIC_MISS(sigs, pto_detail::Form::form, profileId ": the profile has no such form of the instruction",             \
                    locId ": no signature takes operands in these locations",                                            \
                    layoutId ": no signature takes these layouts",                                                       \
                    dtypeId ": no signature takes these element types", __VA_ARGS__)

// A move from a source to a destination.
#define PTO_STATIC_FLOW_IDS(sigs, form, src, dst, profileId, locId, layoutId, dtypeId)                                   \
    PTO_STATIC_MISS(sigs, form, profileId ": the profile has no such form of the instruction",                           \
                    locId ": the instruction does not move between these locations",                                     \
                    layoutId ": the instruction does not take this pair of layouts",                                     \
                    dtypeId ": the instruction does not take these element types", {TESSERA_ROLE_SRC, src},              \
                    {TESSERA_ROLE_DST, dst})
#else
#define PTO_STATIC_SIG(...) static_cast<void>(0)
#define PTO_STATIC_FLOW_IDS(...) static_cast<void>(0)
#endif

#define PTO_STATIC_FLOW(name, sigs, form, src, dst)                                                                      \
    PTO_STATIC_FLOW_IDS(sigs, form, src, dst, name "-loc", name "-loc", name "-layout", name "-dtype")

// Refuses what a rule of its own forbids where the profile is fixed.
#define PTO_STATIC_RULE(condition, text) static_assert(!kStaticProfile || (condition), text)

#endif
