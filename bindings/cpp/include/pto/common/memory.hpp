// TASSIGN and TSUBVIEW (ops.md 10), and the host's own access to tiles.

#ifndef PTO_COMMON_MEMORY_HPP
#define PTO_COMMON_MEMORY_HPP

#include <pto/common/global_tensor.hpp>
#include <pto/common/issue.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace detail {

template <typename TileT>
inline bool CheckAssign(const TileT &tile)
{
    TesseraTile descriptor;
    const auto &machine = CurrentMachine();
    return Access::Describe(tile, descriptor, false) &&
           machine->Done(tessera_assign(machine->handle(), &descriptor));
}

template <TileType Loc, typename T, Layout Format, int... Dims>
inline bool CheckAssign(const ConvTile<Loc, T, Format, Dims...> &tile)
{
    TesseraConv descriptor;
    const auto &machine = CurrentMachine();
    return Access::DescribeConv(tile, descriptor) &&
           machine->Done(tessera_assign_conv(machine->handle(), &descriptor));
}

template <typename TileT>
inline RecordEvent Assign(TileT &tile, const TileAddress &address)
{
    TileT moved = tile;
    Access::Rebind(moved, address);
    if (CheckAssign(moved)) {
        Access::Rebind(tile, address);
    }
    return {};
}

} // namespace detail

// Manual mode: the tile lies at this byte address of its memory from here on. Moves no data.
template <typename TileT, typename Address>
PTO_INST std::enable_if_t<std::is_integral_v<Address>, RecordEvent> TASSIGN(TileT &tile, Address address)
{
    if (std::is_signed_v<Address> && address < Address{}) {
        detail::Fail("tassign-range", "the address " + std::to_string(static_cast<int64_t>(address)) +
                                          " is negative: addresses start at 0");
        return {};
    }
    return detail::Assign(tile, TileAddress(static_cast<uint64_t>(address)));
}

template <uint64_t address, typename TileT>
PTO_INST RecordEvent TASSIGN(TileT &tile)
{
    PTO_STATIC_RULE(address % 32 == 0, "tassign-align: a tile's address is a multiple of 32");
    return detail::Assign(tile, TileAddress(address));
}

// The tile lies where another one does.
template <typename TileT>
PTO_INST RecordEvent TASSIGN(TileT &tile, const TileAddress &address)
{
    return detail::Assign(tile, address);
}

template <typename TileT, typename OtherT>
PTO_INST std::enable_if_t<detail::IsTile<OtherT>, RecordEvent> TASSIGN(TileT &tile, const OtherT &other)
{
    PTO_STATIC_RULE(TileT::Loc == OtherT::Loc, "tassign-range: both tiles are in one memory");
    if (TileT::Loc != OtherT::Loc) {
        detail::Fail("tassign-range", "the two tiles are in different memories: give both one location");
        return {};
    }
    return detail::Assign(tile, other.data());
}

// dst becomes a view of the window of src at (row, col); it keeps the pitch of src.
template <typename DstTileData, typename SrcTileData, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TSUBVIEW(DstTileData &dst, SrcTileData &src, int64_t row, int64_t col,
                                                 WaitEvents &...)
{
    detail::Call call(TESSERA_OP_TSUBVIEW);
    call.Tile(TESSERA_ROLE_DST, dst, false).Src(src).At(row, col);
    if (call.Done()) {
        const uint64_t own = SrcTileData::isRowMajor ? SrcTileData::Cols : SrcTileData::Rows;
        const uint64_t pitch = detail::Access::Pitch(src) != 0 ? detail::Access::Pitch(src) : own;
        const uint64_t elements = SrcTileData::isRowMajor
                                      ? static_cast<uint64_t>(row) * pitch + static_cast<uint64_t>(col)
                                      : static_cast<uint64_t>(col) * pitch + static_cast<uint64_t>(row);
        detail::Access::Rebind(
            dst, detail::Access::Window(src.data(), elements * SrcTileData::Info.bits / 8, pitch));
    }
    return {};
}

namespace detail {

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

} // namespace detail

// The host's own access to a tile, in any location and layout and on every profile: the valid region row by row,
// packed. No instruction does this; it is how operands get where no TLOAD reaches, and results out.
template <typename TileT>
inline void HostLoad(TileT &dst, const typename TileT::DType *elements)
{
    const auto &machine = detail::CurrentMachine();
    const TesseraView view = detail::DenseView(dst, elements);
    TesseraTile tile;
    if (detail::Access::Describe(dst, tile)) {
        machine->Done(tessera_host_load(machine->handle(), &tile, &view));
    }
}

// The counterpart; core is the vector core whose copy of a Vec tile is taken.
template <typename TileT>
inline void HostStore(typename TileT::DType *elements, const TileT &src, uint32_t core = 0)
{
    const auto &machine = detail::CurrentMachine();
    const TesseraView view = detail::DenseView(src, elements);
    TesseraTile tile;
    if (detail::Access::Describe(src, tile)) {
        machine->Done(tessera_host_store(machine->handle(), &view, &tile, core));
    }
}

// Copies the declared area as it lies, what is undefined included.
template <typename DstTileData, typename SrcTileData>
inline void HostCopy(DstTileData &dst, const SrcTileData &src)
{
    const auto &machine = detail::CurrentMachine();
    TesseraTile to;
    TesseraTile from;
    if (detail::Access::Describe(dst, to) && detail::Access::Describe(src, from)) {
        machine->Done(tessera_copy(machine->handle(), &to, &from));
    }
}

// Makes the contents of a tile undefined, as those of a new tile are.
template <typename TileT>
inline void HostForget(TileT &tile)
{
    const auto &machine = detail::CurrentMachine();
    TesseraTile descriptor;
    if (detail::Access::Describe(tile, descriptor)) {
        machine->Done(tessera_undefine(machine->handle(), &descriptor));
    }
}

// The same for the bytes at an address of the tile's memory, wherever the tile is bound.
template <typename TileT>
inline void HostForget(const TileT &tile, uint64_t address)
{
    TileT there = tile;
    detail::Access::Rebind(there, TileAddress(address));
    HostForget(there);
}

// The declared bytes as they lie in memory; undefined ones are 0.
template <typename TileT>
inline void HostBytes(const TileT &tile, void *bytes, std::size_t size)
{
    const auto &machine = detail::CurrentMachine();
    TesseraTile descriptor;
    if (detail::Access::Describe(tile, descriptor)) {
        machine->Done(tessera_read(machine->handle(), &descriptor, bytes, size));
    }
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
