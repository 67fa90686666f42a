// Tiles: a type known at compile time, a valid region, and a pointer to storage.
//
// A tile object is a handle. Copies share what it is bound to, and each can be bound elsewhere afterwards: by TASSIGN, or
// by assigning `data()`. A tile that nothing binds has storage of its own from its first use until its last handle is
// destroyed.

#ifndef PTO_COMMON_TILE_HPP
#define PTO_COMMON_TILE_HPP

#include <pto/common/binding.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

// Valid rows and columns: a constant where the type fixes them, else a value. -1 is not set yet.
template <int Extent>
struct ValidRows : TileBase {
    static constexpr int GetValidRow() { return Extent; }

protected:
    ValidRows() { RowMaskInternal = Extent; }
};
template <>
struct ValidRows<-1> : TileBase {
    int GetValidRow() const { return RowMaskInternal; }
};
template <int Rows, int Extent>
struct ValidRegion : ValidRows<Rows> {
    static constexpr int GetValidCol() { return Extent; }

protected:
    ValidRegion() { this->ColMaskInternal = Extent; }
};
template <int Rows>
struct ValidRegion<Rows, -1> : ValidRows<Rows> {
    int GetValidCol() const { return this->ColMaskInternal; }
};

inline void SetExtent(int &extent, int64_t value, int64_t type, int64_t declared, const char *what)
{
    if (type >= 0 ? value != type : value < 0 || value > declared) {
        Fail("valid-range", std::to_string(value) + " valid " + what +
                                (type >= 0 ? " are asked for, and the type fixes them to " + std::to_string(type)
                                           : " are asked for, and the tile has " + std::to_string(declared)));
        return;
    }
    extent = static_cast<int>(value);
}

} // namespace pto_detail

// A tile. RowValid and ColValid of -1 are set when the tile is made, or later with SetValidRow and SetValidCol.
template <TileType Loc_, typename T, int Rows_, int Cols_, BLayout Outer = BLayout::RowMajor, int RowValid = Rows_,
          int ColValid = Cols_, SLayout Inner = SLayout::NoneBox, int Fractal = 512, auto Pad = PadValue::Null,
          CompactMode Compact_ = CompactMode::Null>
class Tile : public pto_detail::ValidRegion<RowValid, ColValid> {
    static_assert(pto_detail::ElemOf<T>::known, "tile-dtype: this is no element type of the tile model");
    // On a2a3 and a5 a Left tile has the profile's outer order, whatever is written (syntax.md 3).
    static constexpr bool kUsualOrder = kStaticProfile && kProfile != Profile::Cpu && Loc_ == TileType::Left;

    using Region = pto_detail::ValidRegion<RowValid, ColValid>;

public:
    using DType = T;
    using TileDType = T *;
    using Described = TesseraTile;
    static constexpr TileType Loc = Loc_;
    static constexpr int Rows = Rows_;
    static constexpr int Cols = Cols_;
    static constexpr int Numel = Rows_ * Cols_;
    static constexpr int ValidRow = RowValid;
    static constexpr int ValidCol = ColValid;
    static constexpr BLayout BFractal =
        kUsualOrder ? pto_detail::kUsual[static_cast<int>(kProfile)][static_cast<int>(TileType::Left)].outer : Outer;
    static constexpr SLayout SFractal = Inner;
    static constexpr int SFractalSize = Fractal;
    static constexpr PadValue PadVal = static_cast<PadValue>(Pad);
    static constexpr CompactMode Compact = Compact_;
    static constexpr pto_detail::TileInfo Info{Loc_,     pto_detail::ElemOf<T>::tag, pto_detail::ElemOf<T>::bits, Rows_,
                                           Cols_,    RowValid,               ColValid,                BFractal,
                                           SFractal, Fractal,                PadVal,                  Compact_};
    PTO_STATIC_TILE(Info);
    static constexpr bool isRowMajor = BFractal == BLayout::RowMajor;
    static constexpr bool isBoxedLayout = Inner != SLayout::NoneBox;
    static constexpr bool isInnerRowMajor = Inner == SLayout::RowMajor;
    static constexpr bool isInnerColMajor = Inner == SLayout::ColMajor;
    // Rows and columns of a box; 1 × 1 without boxes.
    static constexpr int InnerRows = Info.InnerRows();
    static constexpr int InnerCols = Info.InnerCols();
    static constexpr int InnerNumel = InnerRows * InnerCols;
    static constexpr int RowStride = isRowMajor ? Cols : 1;
    static constexpr int ColStride = isRowMajor ? 1 : Rows;

    Tile() = default;
    // Both valid extents; a static one must be the type's own.
    Tile(int64_t validRow, int64_t validCol) { SetValidShape(validRow, validCol); }
    // The one valid extent that is dynamic.
    template <bool OneDynamic = (RowValid < 0) != (ColValid < 0), std::enable_if_t<OneDynamic, int> = 0>
    explicit Tile(int64_t valid)
    {
        SetValidShape(RowValid < 0 ? valid : RowValid, ColValid < 0 ? valid : ColValid);
    }
    // A copy lies where the other tile does, also if that has no storage yet.
    Tile(const Tile &other)
        : Region(pto_detail::Access::Shared(other)), data_(other.data_), kAligned_(other.kAligned_)
    {}
    Tile &operator=(const Tile &other)
    {
        Region::operator=(pto_detail::Access::Shared(other));
        data_ = other.data_;
        kAligned_ = other.kAligned_;
        return *this;
    }

    void SetValidRow(int64_t rows) { pto_detail::SetExtent(this->RowMaskInternal, rows, RowValid, Rows_, "rows"); }
    void SetValidCol(int64_t cols) { pto_detail::SetExtent(this->ColMaskInternal, cols, ColValid, Cols_, "columns"); }
    void SetValidShape(int64_t rows, int64_t cols)
    {
        SetValidRow(rows);
        SetValidCol(cols);
    }

    // Bytes and objects of the declared area; two 4-bit elements share an object.
    static constexpr int64_t GetSizeInBytes() { return Info.Bytes(); }
    static constexpr int64_t GetSizeInUnits() { return Info.Bytes() / static_cast<int64_t>(sizeof(T)); }

    // A flag of the matrix unit, without effect here.
    bool GetKAligned() const { return kAligned_; }
    void SetKAligned(bool aligned) { kAligned_ = aligned; }
    // As SETTF32MODE; 2 is CAST_ROUND.
    template <typename Mode = RoundMode>
    void SetMadTF32Mode(Mode mode = static_cast<Mode>(2))
    {
        SETTF32MODE(true, mode);
    }
    template <typename Mode = RoundMode>
    void ResetMadMode()
    {
        SETTF32MODE(false, static_cast<Mode>(2));
    }

    // The elements where they lie, in the order of the layout; assigning it binds the tile elsewhere. What is written
    // through it cannot be seen, so from the first call on all declared bytes count as defined (cpp.md 4).
    T *&data()
    {
        pto_detail::Access::Expose(*this);
        return data_;
    }
    T *const &data() const
    {
        pto_detail::Access::Touch(*this);
        return data_;
    }

    // The offset of an element from the start of the tile, in elements (tile-model.md 5).
    static constexpr int64_t Offset(int64_t row, int64_t col)
    {
        constexpr int64_t rowOfBoxes = isRowMajor ? Cols_ * InnerRows : InnerNumel;
        constexpr int64_t colOfBoxes = isRowMajor ? InnerNumel : Rows_ * InnerCols;
        return row / InnerRows * rowOfBoxes + col / InnerCols * colOfBoxes +
               (Inner == SLayout::ColMajor ? col % InnerCols * InnerRows + row % InnerRows
                                       : row % InnerRows * InnerCols + col % InnerCols);
    }

    // One element of the declared area by its place in storage, or by its coordinates.
    T GetValue(uint32_t offset) const
    {
        pto_detail::Access::Touch(*this);
        return GetProperDataPart(data_, offset);
    }
    void SetValue(uint32_t offset, T value)
    {
        pto_detail::Access::Expose(*this);
        SetProperDataPart(data_, offset, value);
    }
    T GetValue(int64_t row, int64_t col) const { return GetElement(row, col); }
    void SetValue(int64_t row, int64_t col, T value) { SetElement(row, col, value); }

    // By coordinates, in any layout. Adding is atomic between threads.
    T GetElement(int64_t row, int64_t col) const
    {
        if constexpr (IsTwinType<T>()) {
            pto_detail::Access::Touch(*this);
            return GetProperDataPart(data_, static_cast<std::size_t>(Offset(row, col)));
        } else {
            T value{};
            pto_detail::Access::Element(*this, row, col, &value, tessera_read_element);
            return value;
        }
    }
    void SetElement(int64_t row, int64_t col, T value)
    {
        if constexpr (IsTwinType<T>()) {
            pto_detail::Access::Expose(*this);
            SetProperDataPart(data_, static_cast<std::size_t>(Offset(row, col)), value);
        } else {
            pto_detail::Access::Element(*this, row, col, &value, tessera_write_element);
        }
    }
    void AddToElement(int64_t row, int64_t col, T value)
    {
        pto_detail::Access::Expose(*this);
        pto_detail::AtomicAdd(data_, static_cast<std::size_t>(Offset(row, col)), value);
    }

private:
    friend struct pto_detail::Access;

    mutable T *data_ = nullptr;
    bool kAligned_ = false;
};

// Tiles of the matrix unit in the layouts that it takes.
#define PTO_TILE_ALIAS(name, loc, outer, inner, fractal)                                                                 \
    template <typename T, int Rows, int Cols, int RowValid = Rows, int ColValid = Cols>                                  \
    using name = Tile<TileType::loc, T, Rows, Cols, outer, RowValid, ColValid, SLayout::inner, fractal>;                 \
    template <typename T, int Rows, int Cols, int RowValid = Rows, int ColValid = Cols>                                  \
    using name##Compact = Tile<TileType::loc, T, Rows, Cols, outer, RowValid, ColValid, SLayout::inner, fractal,         \
                               PadValue::Null, CompactMode::Normal>

PTO_TILE_ALIAS(TileLeft, Left, pto_detail::LeftOrder(), RowMajor, 512);
PTO_TILE_ALIAS(TileRight, Right, BLayout::RowMajor, ColMajor, 512);
PTO_TILE_ALIAS(TileAcc, Acc, BLayout::ColMajor, RowMajor, 1024);
PTO_TILE_ALIAS(TileLeftScale, ScaleLeft, BLayout::RowMajor, RowMajor, 32);
PTO_TILE_ALIAS(TileRightScale, ScaleRight, BLayout::ColMajor, ColMajor, 32);
#undef PTO_TILE_ALIAS

// The element offset of tile-model.md 5.
template <typename TileT>
constexpr int64_t GetTileElementOffset(int64_t row, int64_t col)
{
    return TileT::Offset(row, col);
}
template <typename TileT>
constexpr int64_t GetTileOffset(int64_t row, int64_t col)
{
    return TileT::Offset(row, col);
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
