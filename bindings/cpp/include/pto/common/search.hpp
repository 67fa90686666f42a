// The search for a signature, in the order of ops.md 1: profile and form, locations, layouts, types.

#ifndef PTO_COMMON_SEARCH_HPP
#define PTO_COMMON_SEARCH_HPP

#include <pto/common/check.hpp>
#include <pto/common/signatures.hpp>

namespace pto {
namespace pto_model {

// At which step the last signature fell away.
enum class Miss { Profile, Loc, Layout, Dtype, None };

// An operand that is judged.
struct Judged {
    TesseraRole role;
    TileInfo tile;
};

constexpr bool Has(uint64_t set, uint32_t position) { return (set >> position & 1) != 0; }

constexpr bool Holds(const Condition &condition, const TileInfo &tile, const TileInfo &other, Profile profile)
{
    switch (condition.ask) {
        case Ask::Loc: return Has(condition.value, static_cast<uint32_t>(tile.loc));
        case Ask::Layout: return Has(condition.value, static_cast<uint32_t>(tile.LayoutName()));
        case Ask::Fractal: return tile.fractal == static_cast<int>(condition.value);
        case Ask::Usual: return tile.HasUsualLayout(profile);
        case Ask::Rows: return tile.rows == condition.value;
        case Ask::Cols: return tile.cols == condition.value;
        case Ask::RowMajor: return tile.blayout == BLayout::RowMajor;
        case Ask::OneLine: return !tile.IsBoxed() && (tile.rows == 1 || tile.cols == 1) && tile.bits < 64;
        case Ask::SameLayout: return tile.SameLayout(other);
        case Ask::Elem: return Has(condition.value, tile.elem);
        case Ask::SameSize: return tile.bits == other.bits;
        default: return tile.elem == other.elem;
    }
}

// Of the operands that are asked, each; an operand that another one is compared with may be missing.
template <std::size_t kTiles>
constexpr bool Holds(const Condition &condition, const Judged (&tiles)[kTiles], Profile profile)
{
    const Judged *other = condition.roles == 0 ? &tiles[0] : nullptr;
    for (const Judged &judged : tiles) {
        if (condition.roles != 0 && judged.role == condition.value) {
            other = &judged;
        }
    }
    const bool compares = condition.ask == Ask::SameLayout || condition.ask == Ask::SameElem ||
                          condition.ask == Ask::SameSize;
    for (const Judged &judged : tiles) {
        const bool asked = condition.roles == 0 || (judged.role - condition.from < 64 && Has(condition.roles, judged.role - condition.from));
        if (asked && !(compares && other == nullptr) &&
            !Holds(condition, judged.tile, other == nullptr ? judged.tile : other->tile, profile)) {
            return false;
        }
    }
    return true;
}

template <std::size_t kSigs, std::size_t kTiles>
constexpr Miss FindSig(const Condition (&sigs)[kSigs], Profile profile, Form form, const Judged (&tiles)[kTiles])
{
    Miss furthest = Miss::Profile;
    for (std::size_t n = 0; n < kSigs;) {
        const bool isFor = Has(sigs[n].value, static_cast<uint32_t>(profile)) && Has(sigs[n].roles, static_cast<uint32_t>(form));
        bool asked[5] = {};
        bool taken[5] = {};
        for (++n; n < kSigs && sigs[n].ask != Ask::On;) {
            const int step = static_cast<int>(sigs[n].ask);
            bool fits = isFor;
            for (++n; n < kSigs && sigs[n].ask > Ask::Types; ++n) {
                fits = fits && Holds(sigs[n], tiles, profile);
            }
            asked[step] = true;
            taken[step] = taken[step] || fits;
        }
        Miss miss = isFor ? Miss::None : Miss::Profile;
        for (int step = static_cast<int>(Miss::Dtype); isFor && step > 0; --step) {
            if (asked[step] && !taken[step]) {
                miss = static_cast<Miss>(step);
            }
        }
        furthest = miss > furthest ? miss : furthest;
    }
    return furthest;
}

} // namespace pto_model
} // namespace pto

#endif
