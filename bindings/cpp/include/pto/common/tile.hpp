// Tiles: a type known at compile time, a valid region, and a binding to storage.
//
// A tile object is a handle. Copies share what it is bound to, and each can be bound elsewhere afterwards. A tile that
// no TASSIGN binds has storage of its own from its first use until its last handle is destroyed.

#ifndef PTO_COMMON_TILE_HPP
#define PTO_COMMON_TILE_HPP

#include <pto/common/check.hpp>
#include <pto/common/machine.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
template <TileType, typename, Layout, int...>
class ConvTile;
namespace detail {
struct Access;
} // namespace detail

// What a tile is bound to: the address of manual mode, or automatic storage.
class TileAddress {
public:
    TileAddress() : cell_(std::make_shared<detail::Cell>()) {}
    explicit TileAddress(uint64_t address) : address_(address) {}

    bool IsAutomatic() const { return cell_ != nullptr; }
    // The address of manual mode; the distance from the start of automatic storage.
    uint64_t Value() const { return address_; }

private:
    friend struct detail::Access;

    std::shared_ptr<detail::Cell> cell_;
    uint64_t address_ = 0;
    uint64_t pitch_ = 0;
};

namespace detail {

// What all tiles have in common, whatever their type.
class TileBase {
protected:
    friend struct Access;

    TileBase(int64_t validRow, int64_t validCol) : validRow_(validRow), validCol_(validCol) {}

    TileAddress address_;
    int64_t validRow_;
    int64_t validCol_;
};

inline void SetExtent(int64_t &extent, int64_t value, int64_t type, int64_t declared, const char *what)
{
    if (type >= 0 ? value != type : value < 0 || value > declared) {
        Fail("valid-range", std::to_string(value) + " valid " + what +
                                (type >= 0 ? " are asked for, and the type fixes them to " + std::to_string(type)
                                           : " are asked for, and the tile has " + std::to_string(declared)));
        return;
    }
    extent = value;
}

// The library's descriptors of tiles, and the binding behind a handle.
struct Access {
    static constexpr TesseraTile TypeOf(const TileInfo &info)
    {
        TesseraTile tile{};
        tile.loc = static_cast<uint32_t>(info.loc);
        tile.elem = static_cast<uint32_t>(info.elem);
        tile.rows = static_cast<uint64_t>(info.rows);
        tile.cols = static_cast<uint64_t>(info.cols);
        tile.blayout = static_cast<uint32_t>(info.blayout);
        tile.slayout = static_cast<uint32_t>(info.slayout);
        tile.fractal = static_cast<uint32_t>(info.fractal);
        tile.compact = static_cast<uint32_t>(info.compact);
        const uint64_t pad = static_cast<uint64_t>(info.pad);
        tile.pad = pad >> 32 != 0 ? static_cast<uint32_t>(pad >> 32) : static_cast<uint32_t>(pad);
        tile.pad_bits = pad >> 32 != 0 ? static_cast<uint32_t>(pad) : 0;
        tile.type_valid_row = info.validRow;
        tile.type_valid_col = info.validCol;
        return tile;
    }

    // Fills in a descriptor; automatic storage that is not there yet is made if the instruction needs it.
    template <typename TileT>
    static bool Describe(const TileT &tile, TesseraTile &out, bool needsStorage = true)
    {
        static constexpr TesseraTile type = TypeOf(TileT::Info);
        out = type;
        return Bind(tile, out, needsStorage);
    }

    template <TileType Loc, typename T, Layout Format, int... Dims>
    static bool DescribeConv(const ConvTile<Loc, T, Format, Dims...> &tile, TesseraConv &out)
    {
        using ConvT = ConvTile<Loc, T, Format, Dims...>;
        out = TesseraConv{};
        out.loc = static_cast<uint32_t>(Loc);
        out.elem = static_cast<uint32_t>(ElemOf<T>::tag);
        out.has_depth = ConvT::HasDepth ? 1 : 0;
        for (int i = 0, from = 0; i < 6; ++i) {
            out.dims[i] = i == 1 && !ConvT::HasDepth ? 1 : static_cast<uint64_t>(ConvT::GetDim(from++));
        }
        const TileAddress &address = static_cast<const TileBase &>(tile).address_;
        if (!address.cell_) {
            out.storage_kind = TESSERA_STORAGE_ADDRESS;
            out.storage = address.address_;
            return true;
        }
        if (!address.cell_->Allocate(out)) {
            return false;
        }
        out.storage_kind = TESSERA_STORAGE_AUTOMATIC;
        out.storage = address.cell_->handle();
        return true;
    }

    template <typename TileT>
    static const TileAddress &Touch(const TileT &tile)
    {
        TesseraTile descriptor;
        Describe(tile, descriptor);
        return static_cast<const TileBase &>(tile).address_;
    }
    static bool IsUnbound(const TileBase &tile) { return tile.address_.cell_ && !tile.address_.cell_->allocated(); }
    static void Rebind(TileBase &tile, const TileAddress &address) { tile.address_ = address; }
    static void Expand(TileBase &tile, const TileInfo &info)
    {
        tile.validRow_ = info.validRow < 0 ? info.rows : tile.validRow_;
        tile.validCol_ = info.validCol < 0 ? info.cols : tile.validCol_;
    }
    // The part of a binding that starts `bytes` further on, with rows or columns `pitch` elements apart.
    static TileAddress Window(const TileAddress &address, uint64_t bytes, uint64_t pitch)
    {
        TileAddress window = address;
        window.address_ += bytes;
        window.pitch_ = pitch;
        return window;
    }
    static uint64_t Pitch(const TileBase &tile) { return tile.address_.pitch_; }

    template <typename TileT, typename Value, typename Function>
    static void Element(const TileT &tile, int64_t row, int64_t col, Value *value, Function function)
    {
        TesseraTile descriptor;
        if (Describe(tile, descriptor)) {
            const auto &machine = CurrentMachine();
            machine->Done(function(machine->handle(), &descriptor, row, col, value, sizeof(*value)));
        }
    }

private:
    static bool Bind(const TileBase &tile, TesseraTile &out, bool needsStorage)
    {
        const TileAddress &address = tile.address_;
        out.valid_row = tile.validRow_;
        out.valid_col = tile.validCol_;
        out.pitch = address.pitch_;
        if (!address.cell_) {
            out.storage_kind = TESSERA_STORAGE_ADDRESS;
            out.storage = address.address_;
            return true;
        }
        if (!needsStorage && !address.cell_->allocated()) {
            out.storage_kind = TESSERA_STORAGE_NONE;
            return true;
        }
        if (!address.cell_->Allocate(out)) {
            return false;
        }
        out.storage_kind = TESSERA_STORAGE_AUTOMATIC;
        out.storage = address.cell_->handle();
        out.offset = address.address_;
        return true;
    }
};

} // namespace detail

// A tile. RowValid and ColValid of -1 are set when the tile is made, or later with SetValidRow and SetValidCol.
template <TileType Loc_, typename T, int Rows_, int Cols_, BLayout B = BLayout::RowMajor, int RowValid = Rows_,
          int ColValid = Cols_, SLayout S = SLayout::NoneBox, int Fractal = 512, PadValue Pad = PadValue::Null,
          CompactMode Compact = CompactMode::Null>
class Tile : public detail::TileBase {
    static_assert(detail::ElemOf<T>::known, "tile-dtype: this is no element type of the tile model");
    // On a2a3 and a5 a Left tile has the profile's outer order, whatever is written (syntax.md 3).
    static constexpr bool kUsualOrder = kStaticProfile && kProfile != Profile::Cpu && Loc_ == TileType::Left;

public:
    using DType = T;
    static constexpr TileType Loc = Loc_;
    static constexpr int Rows = Rows_;
    static constexpr int Cols = Cols_;
    static constexpr int Numel = Rows_ * Cols_;
    static constexpr int ValidRow = RowValid;
    static constexpr int ValidCol = ColValid;
    static constexpr BLayout BFractal = kUsualOrder ? detail::kUsual[static_cast<int>(kProfile)][static_cast<int>(Loc_)].outer : B;
    static constexpr SLayout SFractal = S;
    static constexpr int SFractalSize = Fractal;
    static constexpr PadValue PadVal = Pad;
    static constexpr CompactMode Compactness = Compact;
    static constexpr detail::TileInfo Info{Loc_,     detail::ElemOf<T>::tag, detail::ElemOf<T>::bits, Rows_,
                                           Cols_,    RowValid,               ColValid,                BFractal,
                                           SFractal, Fractal,                Pad,                     Compact};
    PTO_STATIC_TILE(Info);
    static constexpr bool isRowMajor = BFractal == BLayout::RowMajor;
    static constexpr bool isBoxedLayout = S != SLayout::NoneBox;
    // Rows and columns of a box; 1 × 1 without boxes.
    static constexpr int InnerRows = Info.InnerRows();
    static constexpr int InnerCols = Info.InnerCols();
    static constexpr int InnerNumel = InnerRows * InnerCols;
    // Elements between neighbouring rows and columns of boxes; of elements where there are no boxes.
    static constexpr int RowStride = isRowMajor ? Cols * InnerRows : InnerNumel;
    static constexpr int ColStride = isRowMajor ? InnerNumel : Rows * InnerCols;

    Tile() : TileBase(RowValid, ColValid) {}
    // Both valid extents; a static one must be the type's own.
    Tile(int64_t validRow, int64_t validCol) : Tile() { SetValidShape(validRow, validCol); }
    // The one valid extent that is dynamic.
    template <bool OneDynamic = (RowValid < 0) != (ColValid < 0), std::enable_if_t<OneDynamic, int> = 0>
    explicit Tile(int64_t valid) : Tile()
    {
        SetValidShape(RowValid < 0 ? valid : RowValid, ColValid < 0 ? valid : ColValid);
    }

    // -1 while a dynamic extent is not set.
    int64_t GetValidRow() const { return validRow_; }
    int64_t GetValidCol() const { return validCol_; }
    void SetValidRow(int64_t rows) { detail::SetExtent(validRow_, rows, RowValid, Rows_, "rows"); }
    void SetValidCol(int64_t cols) { detail::SetExtent(validCol_, cols, ColValid, Cols_, "columns"); }
    void SetValidShape(int64_t rows, int64_t cols)
    {
        SetValidRow(rows);
        SetValidCol(cols);
    }

    // What the tile is bound to; TASSIGN takes it. Asking for it is a use: automatic storage is there afterwards.
    const TileAddress &data() const { return detail::Access::Touch(*this); }

    // The offset of an element from the start of the tile, in elements (tile-model.md 5).
    static constexpr int64_t Offset(int64_t row, int64_t col)
    {
        return row / InnerRows * RowStride + col / InnerCols * ColStride +
               (S == SLayout::ColMajor ? col % InnerCols * InnerRows + row % InnerRows
                                       : row % InnerRows * InnerCols + col % InnerCols);
    }

    // One element of the declared area, read and written from the host. Not for fp4, whose elements share bytes.
    T GetValue(int64_t row, int64_t col) const
    {
        T value{};
        detail::Access::Element(*this, row, col, &value, tessera_read_element);
        return value;
    }
    void SetValue(int64_t row, int64_t col, T value)
    {
        detail::Access::Element(*this, row, col, &value, tessera_write_element);
    }
};

// A conv tile: a dense array in L1, with N, C1, H, W, C0 or N, D, C1, H, W, C0 as dimensions (tile-model.md 7).
template <TileType Loc_, typename T, Layout Format, int... Dims>
class ConvTile : public detail::TileBase {
    static_assert(detail::ElemOf<T>::known, "tile-dtype: this is no element type of the tile model");
    static_assert(Format == Layout::NC1HWC0 || Format == Layout::NDC1HWC0,
                  "tile-shape: a conv tile is NC1HWC0 or NDC1HWC0");
    static_assert(sizeof...(Dims) == (Format == Layout::NDC1HWC0 ? 6 : 5),
                  "tile-shape: NC1HWC0 has five dimensions, NDC1HWC0 six");
    static_assert(((Dims >= 1) && ...), "tile-shape: every dimension is at least 1");

public:
    using DType = T;
    static constexpr TileType Loc = Loc_;
    static constexpr bool HasDepth = Format == Layout::NDC1HWC0;
    static constexpr int64_t Numel = (int64_t{1} * ... * Dims);
    // As TIMG2COL sees it: one row in L1.
    static constexpr detail::TileInfo Info{Loc_,
                                           detail::ElemOf<T>::tag,
                                           detail::ElemOf<T>::bits,
                                           1,
                                           Numel,
                                           1,
                                           Numel,
                                           BLayout::RowMajor,
                                           SLayout::NoneBox,
                                           512,
                                           PadValue::Null,
                                           CompactMode::Null};
    PTO_STATIC_RULE(detail::TileDtypeOk(Info, kProfile), "tile-dtype: the element type does not exist on this profile");
    PTO_STATIC_RULE(detail::TileSizeOk(Info, kProfile), "tile-size: the tile does not fit its memory on this profile");

    ConvTile() : TileBase(1, Numel) {}

    // What the tile is bound to; TASSIGN takes it.
    const TileAddress &data() const
    {
        TesseraConv descriptor;
        detail::Access::DescribeConv(*this, descriptor);
        return address_;
    }

    static constexpr int64_t GetDim(int i)
    {
        constexpr int64_t dims[] = {Dims...};
        return dims[i];
    }
};

// Tiles of the matrix unit in the layouts that it takes.
template <typename T, int Rows, int Cols, int RowValid = Rows, int ColValid = Cols>
using TileLeft = Tile<TileType::Left, T, Rows, Cols, detail::kUsual[static_cast<int>(kProfile)][static_cast<int>(TileType::Left)].outer, RowValid, ColValid,
                      SLayout::RowMajor>;
template <typename T, int Rows, int Cols, int RowValid = Rows, int ColValid = Cols>
using TileRight = Tile<TileType::Right, T, Rows, Cols, BLayout::RowMajor, RowValid, ColValid, SLayout::ColMajor>;
template <typename T, int Rows, int Cols, int RowValid = Rows, int ColValid = Cols>
using TileAcc = Tile<TileType::Acc, T, Rows, Cols, BLayout::ColMajor, RowValid, ColValid, SLayout::RowMajor, 1024>;

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
