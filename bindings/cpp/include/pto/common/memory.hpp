// TASSIGN and TSUBVIEW (ops.md 10), and the host's own access to tiles.

#ifndef PTO_INST_HPP
#include <pto/pto-inst.hpp>
#elif !defined(PTO_COMMON_MEMORY_HPP)
#define PTO_COMMON_MEMORY_HPP

#include <pto/common/conv_tile.hpp>
#include <pto/common/global_tensor.hpp>
#include <pto/common/issue.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

inline TesseraStatus AssignBy(TesseraMachine *machine, const TesseraTile *tile) { return tessera_assign(machine, tile); }
inline TesseraStatus AssignBy(TesseraMachine *machine, const TesseraConv *tile)
{
    return tessera_assign_conv(machine, tile);
}

// May the tile lie there?
template <typename TileT>
inline bool CheckAssign(const TileT &tile, TesseraStorage kind, uint64_t storage)
{
    typename TileT::Described descriptor;
    if constexpr (IsConvTile<TileT>) {
        descriptor = tile.Descriptor();
    } else {
        descriptor = Access::TypeOf(TileT::Info);
        descriptor.valid_row = tile.RowMaskInternal;
        descriptor.valid_col = tile.ColMaskInternal;
    }
    descriptor.storage_kind = static_cast<uint32_t>(kind);
    descriptor.storage = storage;
    const auto &machine = CurrentMachine();
    return machine->Done(AssignBy(machine->handle(), &descriptor));
}

template <typename TileT>
inline RecordEvent AssignPointer(TileT &tile, const void *data)
{
    if (CheckAssign(tile, TESSERA_STORAGE_POINTER, reinterpret_cast<uintptr_t>(data))) {
        Access::Rebind(tile, const_cast<void *>(data));
    }
    return {};
}

// A large number that is an address of this thread's memories is meant as one.
template <typename TileT>
inline RecordEvent Assign(TileT &tile, uint64_t address)
{
    const auto &machine = CurrentMachine();
    if (address >> 32 != 0 && machine->Contains(address)) {
        return AssignPointer(tile, reinterpret_cast<const void *>(address));
    }
    if (CheckAssign(tile, TESSERA_STORAGE_ADDRESS, address)) {
        Access::Rebind(tile, static_cast<void *>(machine->Base(TileT::Loc) + address));
    }
    return {};
}

} // namespace pto_detail

// Manual mode: the tile or conv tile lies at this byte address of its memory from here on. Moves no data.
template <typename TileT, typename Address>
PTO_INST std::enable_if_t<pto_detail::IsTile<TileT> && std::is_integral_v<Address>, RecordEvent> TASSIGN(TileT &tile, Address address,
    const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TASSIGN", where);
    if (std::is_signed_v<Address> && address < Address{}) {
        pto_detail::Fail("tassign-range", "the address " + std::to_string(static_cast<int64_t>(address)) +
                                          " is negative: addresses start at 0");
        return {};
    }
    return pto_detail::Assign(tile, static_cast<uint64_t>(address));
}

template <uint64_t address, typename TileT>
PTO_INST RecordEvent TASSIGN(TileT &tile, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TASSIGN", where);
    static_assert(address % 32 == 0, "tassign-align: a tile's address is a multiple of 32");
    return pto_detail::Assign(tile, address);
}

// The tile lies at a pointer: that of another tile's data(), or to memory of the program's own.
template <typename TileT, typename T>
PTO_INST std::enable_if_t<pto_detail::IsTile<TileT>, RecordEvent> TASSIGN(TileT &tile, T *data,
    const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TASSIGN", where);
    return pto_detail::AssignPointer(tile, data);
}

// The tile lies where another one does.
template <typename TileT, typename OtherT>
PTO_INST std::enable_if_t<pto_detail::IsTile<TileT> && pto_detail::IsTile<OtherT>, RecordEvent> TASSIGN(TileT &tile, const OtherT &other,
    const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TASSIGN", where);
    PTO_STATIC_RULE(TileT::Loc == OtherT::Loc, "tassign-range: both tiles are in one memory");
    if (TileT::Loc != OtherT::Loc) {
        pto_detail::Fail("tassign-range", "the two tiles are in different memories: give both one location");
        return {};
    }
    const void *data = pto_detail::Access::Pointer(other);
    if (pto_detail::CheckAssign(tile, TESSERA_STORAGE_POINTER, reinterpret_cast<uintptr_t>(data))) {
        pto_detail::Access::Rebind(tile, other, 0, 0);
    }
    return {};
}

// The view is one of another array from here on.
template <typename T, typename ShapeT, typename StrideT, Layout Tag>
PTO_INST RecordEvent TASSIGN(GlobalTensor<T, ShapeT, StrideT, Tag> &global, T *data)
{
    global.Rebind(data);
    return {};
}

// dst becomes a view of the window of src at (row, col); it keeps the pitch of src.
PTO_INTRINSIC(TSUBVIEW, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTile<Src>),
              (Dst &dst, Src &src, int64_t row, int64_t col), (dst, src, row, col),
              pto_detail::Call call(TESSERA_OP_TSUBVIEW, "TSUBVIEW", where);
              call.Tile(TESSERA_ROLE_DST, dst, false).Src(src).At(row, col);
              if (call.Done()) {
                  const uint64_t own = Src::isRowMajor ? Src::Cols : Src::Rows;
                  const uint64_t pitch = pto_detail::Access::Pitch(src) != 0 ? pto_detail::Access::Pitch(src) : own;
                  const uint64_t elements = Src::isRowMajor ? static_cast<uint64_t>(row) * pitch + static_cast<uint64_t>(col)
                                                            : static_cast<uint64_t>(col) * pitch + static_cast<uint64_t>(row);
                  pto_detail::Access::Rebind(dst, src, elements * Src::Info.bits / 8, pitch);
              })

namespace pto_detail {

// A dense row-major view of a tile's valid region.
template <typename TileT>
inline TesseraView DenseView(const TileT &tile, const typename TileT::DType *elements)
{
    TesseraView view{};
    // The library writes through the pointer in HostStore only, whose elements are not const.
    view.data = const_cast<typename TileT::DType *>(elements);
    view.elem = static_cast<uint32_t>(TileT::Info.elem);
    view.layout = TESSERA_VIEW_LAYOUT_ND;
    view.dims = 2;
    view.shape[0] = tile.GetValidRow();
    view.shape[1] = tile.GetValidCol();
    view.stride[0] = tile.GetValidCol();
    view.stride[1] = 1;
    view.extent = -1;
    return view;
}

} // namespace pto_detail

// The host's own access to a tile, in any location and layout and on every profile: the valid region row by row,
// packed. No instruction does this; it is how operands get where no TLOAD reaches, and results out.
template <typename TileT>
inline void HostLoad(TileT &dst, const typename TileT::DType *elements)
{
    const auto &machine = pto_detail::CurrentMachine();
    const TesseraView view = pto_detail::DenseView(dst, elements);
    TesseraTile tile;
    if (pto_detail::Access::Describe(dst, tile)) {
        machine->Done(tessera_host_load(machine->handle(), &tile, &view));
    }
}

// The counterpart; core is the vector core whose copy of a Vec tile is taken.
template <typename TileT>
inline void HostStore(typename TileT::DType *elements, const TileT &src, uint32_t core = 0)
{
    const auto &machine = pto_detail::CurrentMachine();
    const TesseraView view = pto_detail::DenseView(src, elements);
    TesseraTile tile;
    if (pto_detail::Access::Describe(src, tile)) {
        machine->Done(tessera_host_store(machine->handle(), &view, &tile, core));
    }
}

// The declared bytes as they lie in memory; undefined ones are 0.
template <typename TileT>
inline void HostBytes(const TileT &tile, void *bytes, std::size_t size)
{
    const auto &machine = pto_detail::CurrentMachine();
    TesseraTile descriptor;
    if (pto_detail::Access::Describe(tile, descriptor)) {
        machine->Done(tessera_read(machine->handle(), &descriptor, bytes, size));
    }
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
