// What tiles and conv tiles are bound to, and how the library is told of it.

#ifndef PTO_COMMON_BINDING_HPP
#define PTO_COMMON_BINDING_HPP

#include <pto/common/check.hpp>
#include <pto/common/machine.hpp>

namespace pto {

enum class RoundMode : uint32_t;

inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

struct Access;

// What all tiles have in common, whatever their type. Where a tile lies is a pointer of its own type.
class TileBase {
public:
    // Valid rows and columns now.
    int RowMaskInternal = -1;
    int ColMaskInternal = -1;

private:
    friend struct Access;

    // Automatic storage, where the tile has or shares one.
    mutable RefPtr<Cell> cell_;
    // What the library was last told that pointers are handed out for.
    mutable const void *exposed_ = nullptr;
    // A window keeps the pitch of its tile, in elements, as long as it lies where it was put.
    const void *window_ = nullptr;
    uint64_t pitch_ = 0;
};

constexpr BLayout LeftOrder()
{
#if defined(PTO_NPU_ARCH_A2A3) && !defined(__CPU_SIM)
    return BLayout::RowMajor;
#else
    return kUsual[static_cast<int>(kProfile)][static_cast<int>(TileType::Left)].outer;
#endif
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
        const bool custom = isCustomPadValue(info.pad);
        tile.pad = custom ? static_cast<uint32_t>(TESSERA_PAD_CUSTOM) : static_cast<uint32_t>(info.pad);
        tile.pad_bits = custom ? getCustomPadBits(info.pad) : 0;
        tile.type_valid_row = info.validRow;
        tile.type_valid_col = info.validCol;
        return tile;
    }

    template <typename TileT>
    static constexpr TesseraTile kType = TypeOf(TileT::Info);

    // Gives a tile storage if an instruction needs it and there is none yet; says whether the tile can be used.
    template <typename TileT>
    static bool Ready(const TileT &tile, bool needsStorage = true)
    {
        const TileBase &base = tile;
        if (tile.data_ == nullptr) {
            if (!base.cell_ && needsStorage) {
                base.cell_ = RefPtr<Cell>(new Cell());
            }
            void *data = !base.cell_ ? nullptr : needsStorage ? base.cell_->Allocate(Type(tile)) : base.cell_->data();
            if (data == nullptr) {
                return !needsStorage;
            }
            tile.data_ = static_cast<typename TileT::DType *>(data);
        }
        if (base.cell_ && base.cell_->IsGone()) {
            Fail("binding", "the tile's storage belongs to a core that SetProfile or Reset has replaced: make a new tile");
            return false;
        }
        return true;
    }

    // Four words that say of a tile what a descriptor says, its type included, and its role.
    template <typename TileT>
    static void Words(const TileT &tile, uint32_t role, uint64_t *words)
    {
        words[0] = reinterpret_cast<uintptr_t>(&kType<TileT>);
        words[1] = reinterpret_cast<uintptr_t>(tile.data_);
        words[2] = static_cast<uint64_t>(static_cast<uint32_t>(tile.RowMaskInternal)) << 32 |
                   static_cast<uint32_t>(tile.ColMaskInternal);
        words[3] = Pitch(tile) << 16 | role;
    }
    // The descriptor of a tile with these words; a pad value of an instruction, one more than it, stands above the role.
    static TesseraTile Described(const uint64_t *words)
    {
        TesseraTile tile = *reinterpret_cast<const TesseraTile *>(words[0]);
        const uint32_t pad = words[3] >> 8 & 0xFF;
        tile.valid_row = static_cast<int32_t>(words[2] >> 32);
        tile.valid_col = static_cast<int32_t>(words[2]);
        tile.storage_kind = words[1] == 0 ? TESSERA_STORAGE_NONE : TESSERA_STORAGE_POINTER;
        tile.storage = words[1];
        tile.pitch = words[3] >> 16;
        tile.pad = pad == 0 ? tile.pad : pad - 1;
        return tile;
    }

    // Fills in a descriptor; automatic storage that is not there yet is made.
    template <typename TileT>
    static bool Describe(const TileT &tile, TesseraTile &out)
    {
        uint64_t words[4];
        const bool isReady = Ready(tile);
        Words(tile, 0, words);
        out = Described(words);
        return isReady;
    }
    template <typename ConvT>
    static bool Describe(const ConvT &tile, TesseraConv &out)
    {
        out = tile.Descriptor();
        const bool isReady = Ready(tile);
        out.storage_kind = TESSERA_STORAGE_POINTER;
        out.storage = reinterpret_cast<uintptr_t>(tile.data_);
        return isReady;
    }

    // Makes sure that a tile has storage.
    template <typename TileT>
    static bool Touch(const TileT &tile)
    {
        return tile.data_ != nullptr || Ready(tile);
    }

    // A pointer to the tile's bytes is handed out.
    template <typename TileT>
    static void Expose(TileT &tile)
    {
        TileBase &base = tile;
        if (tile.data_ != nullptr && base.exposed_ == tile.data_) {
            return;
        }
        typename TileT::Described descriptor;
        if (Describe(tile, descriptor)) {
            const auto &machine = CurrentMachine();
            if (machine->Contains(reinterpret_cast<uintptr_t>(tile.data_))) {
                machine->Done(ExposeBy(machine->handle(), &descriptor));
            }
            base.exposed_ = tile.data_;
        }
    }

    template <typename TileT>
    static bool IsUnbound(const TileT &tile)
    {
        const TileBase &base = tile;
        return tile.data_ == nullptr && (!base.cell_ || base.cell_->data() == nullptr);
    }

    // A copy of a tile that has no storage yet shares the storage that either gets first.
    template <typename TileT>
    static const TileT &Shared(const TileT &tile)
    {
        const TileBase &base = tile;
        if (tile.data_ == nullptr && !base.cell_) {
            base.cell_ = RefPtr<Cell>(new Cell());
        }
        return tile;
    }

    // The tile lies at a pointer from here on.
    template <typename TileT>
    static void Rebind(TileT &tile, void *data)
    {
        TileBase &base = tile;
        tile.data_ = static_cast<typename TileT::DType *>(data);
        base.cell_ = {};
        base.pitch_ = 0;
    }
    // The tile lies where another one does, `bytes` further on, with rows or columns `pitch` elements apart (0: its own).
    template <typename TileT, typename OtherT>
    static void Rebind(TileT &tile, const OtherT &other, uint64_t bytes, uint64_t pitch)
    {
        if (Touch(other)) {
            RefPtr<Cell> cell = static_cast<const TileBase &>(other).cell_;
            char *data = const_cast<char *>(reinterpret_cast<const char *>(other.data_));
            Rebind(tile, static_cast<void *>(data + bytes));
            TileBase &base = tile;
            base.cell_ = std::move(cell);
            base.window_ = tile.data_;
            base.pitch_ = pitch;
        }
    }
    template <typename TileT>
    static uint64_t Pitch(const TileT &tile)
    {
        const TileBase &base = tile;
        return base.window_ == tile.data_ ? base.pitch_ : 0;
    }
    // Where the tile lies, without handing it out.
    template <typename TileT>
    static const void *Pointer(const TileT &tile)
    {
        Touch(tile);
        return tile.data_;
    }
    // Its address in the memory of its location; false for automatic storage and memory of the host.
    template <typename TileT>
    static bool Address(const TileT &tile, uint64_t &address)
    {
        char *base = CurrentMachine()->Base(TileT::Loc);
        const uint64_t room = tessera_memory_room(CurrentMachine()->handle(), static_cast<uint32_t>(TileT::Loc));
        address = static_cast<uint64_t>(static_cast<const char *>(Pointer(tile)) - base);
        return address < room;
    }

    template <typename TileT>
    static void Expand(TileT &tile, const TileInfo &info)
    {
        tile.RowMaskInternal = static_cast<int>(info.validRow < 0 ? info.rows : tile.RowMaskInternal);
        tile.ColMaskInternal = static_cast<int>(info.validCol < 0 ? info.cols : tile.ColMaskInternal);
    }

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
    template <typename TileT>
    static decltype(auto) Type(const TileT &tile)
    {
        if constexpr (std::is_same_v<typename TileT::Described, TesseraTile>) {
            return (kType<TileT>);
        } else {
            return tile.Descriptor();
        }
    }
    static TesseraStatus ExposeBy(TesseraMachine *machine, const TesseraTile *tile) { return tessera_expose(machine, tile); }
    static TesseraStatus ExposeBy(TesseraMachine *machine, const TesseraConv *tile)
    {
        return tessera_expose_conv(machine, tile);
    }
};

} // namespace pto_detail
} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
