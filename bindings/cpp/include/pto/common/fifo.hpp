// Pipes between the cube core and the vector cores of a block (isa/structure.md 6, cpp.md 6.7).
//
// The cores are threads. A pipe type has one state for each block, which all threads share; slots hold the valid region
// of what is pushed, row by row, in the program's memory or inside the pipe.

#ifndef PTO_INST_HPP
#include <pto/pto-inst.hpp>
#endif
#ifndef PTO_COMMON_FIFO_HPP
#define PTO_COMMON_FIFO_HPP

#include <pto/common/fixpipe.hpp>
#include <pto/common/move.hpp>
#include <pto/common/pipe_state.hpp>
#include <pto/common/quant_config.hpp>
#include <pto/common/transfer.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

// What one end of a pipe does. A lane is a vector core, where one is meant: the thread's own, or one that is given.
template <typename Pipe, TileSplitAxis Split>
class PipeEnd {
    static constexpr uint32_t kSlots = Pipe::RingFiFo::SLOT_NUM;

public:
    PipeEnd(Pipe &pipe, bool toVector, int32_t lane = -1)
        : pipe_(pipe), toVector_(toVector), isGiven_(lane >= 0), state_(Pipe::StateOf(toVector)),
          lane_(isGiven_ ? static_cast<uint32_t>(lane) : get_subblockid())
    {}

    // Tells the judge of order of a push (0), a pop (1), a free (2) or a slot to fill (3); a view of a slot is no tile.
    void Judge(uint32_t part, const TesseraTile *tile) const
    {
        if (!IsJudged()) {
            return;
        }
        JudgedAt(nullptr, SourceLocation{});
        TesseraFifo fifo{};
        fifo.key = reinterpret_cast<uintptr_t>(&state_);
        fifo.to_vector = toVector_;
        fifo.split = pto_model::SplitsRows(Split) ? 1 : pto_model::SplitsCols(Split) ? 2 : 0;
        fifo.both = toVector_ ? IsShared() : Split != TILE_NO_SPLIT && get_subblockdim() >= 2;
        fifo.slots = kSlots;
        fifo.slot_size = Pipe::RingFiFo::SLOT_SIZE;
        fifo.base = toVector_ ? pipe_.fifo.c2vBuf : pipe_.fifo.v2cBuf;
        fifo.global = Pipe::is_global || GetProfile() == Profile::A2A3 ? pipe_.GlobalSlots(toVector_) : nullptr;
        tessera_races_move(CurrentMachine()->handle(), &fifo, part, tile);
    }

    uint32_t lane() const { return lane_ & 1; }
    // A vector core other than the first has no part in what is not split; on a2a3 both receive it (isa/structure.md 6).
    bool IsIdle() const
    {
        constexpr bool bothReceive = kStaticProfile && kProfile == Profile::A2A3;
        return Split == TILE_NO_SPLIT && lane_ != 0 && !(bothReceive && IsShared());
    }
    // Do both vector cores pop, and free, each slot?
    bool IsShared() const
    {
        return toVector_ && get_subblockdim() >= 2 && (Split != TILE_NO_SPLIT || Pipe::isNoSplit);
    }
    // Is what is pushed one of two parts?
    bool IsPart() const { return !toVector_ && Split != TILE_NO_SPLIT && (get_subblockdim() >= 2 || isGiven_); }

    // A slot to fill, or -1.
    int64_t Allocate()
    {
        std::unique_lock<std::mutex> lock(state_.mutex);
        const int64_t n = NextPush();
        const uint32_t slot = static_cast<uint32_t>(n % kSlots);
        pto_model::PipeSlot &entry = state_.slots[slot];
        if (pipe_.prod.allocates && entry.index != n) {
            const auto isThere = [&] { return entry.index == n || (entry.index < 0 && state_.occupied < kSlots); };
            if (!pto_model::WaitFor(state_.changed, lock, "TPUSH waits for a free slot", isThere)) {
                return -1;
            }
            // The other core may have taken it for the same push.
            state_.occupied += entry.index == n ? 0 : 1;
            entry.index = n;
        }
        return slot;
    }

    // The slot that is allocated now is filled, as far as this core fills it.
    void Record(int64_t rows, int64_t cols)
    {
        std::lock_guard<std::mutex> lock(state_.mutex);
        const int64_t n = NextPush();
        pto_model::PipeSlot &entry = state_.slots[static_cast<uint32_t>(n % kSlots)];
        entry.rows = rows;
        entry.cols = cols;
        if (pipe_.prod.records) {
            ++entry.pushes;
            ++state_.pushed[ProducerLane()];
            ++pipe_.prod.tileId;
            const int64_t next = entry.pushes >= Producers() ? n + 1 : n;
            state_.next_producer_slot = static_cast<uint32_t>(next % kSlots);
            state_.changed.notify_all();
        }
    }

    // The slot to read, when it is filled, or -1. Where nobody waits it is the one that was read last.
    int64_t Take()
    {
        std::unique_lock<std::mutex> lock(state_.mutex);
        const uint32_t lane = ConsumerLane();
        const uint64_t done = state_.popped[lane];
        const uint64_t n = pipe_.cons.isNamed ? pipe_.cons.tileId : pipe_.cons.waits || done == 0 ? done : done - 1;
        const uint32_t slot = static_cast<uint32_t>(n % kSlots);
        if (!pipe_.cons.waits) {
            return slot;
        }
        const auto isFilled = [&] { return state_.slots[slot].pushes >= Producers() && IsPushed(n); };
        if (!pto_model::WaitFor(state_.changed, lock, "TPOP waits for a filled slot", isFilled)) {
            return -1;
        }
        ++state_.popped[lane];
        ++pipe_.cons.tileId;
        if (IsShared()) {
            ++state_.popped_not_freed_by_lane[lane];
        }
        if (!IsShared() && lane == 0) {
            ++state_.popped_not_freed;
        }
        pipe_.cons.toVector = toVector_;
        return slot;
    }

    // The oldest popped slot is free again, when all that popped it say so.
    void Free()
    {
        if (!pipe_.cons.frees) {
            return;
        }
        std::unique_lock<std::mutex> lock(state_.mutex);
        const uint32_t lane = IsShared() ? this->lane() : 0;
        uint32_t &open = IsShared() ? state_.popped_not_freed_by_lane[lane] : state_.popped_not_freed;
        if (open == 0) {
            lock.unlock();
            Fail("fifo-free", "TFREE without a popped slot: pop one first");
            return;
        }
        --open;
        pto_model::PipeSlot &entry = state_.slots[static_cast<uint32_t>(state_.freed[lane]++ % kSlots)];
        if (++entry.frees >= (IsShared() ? 2u : 1u)) {
            state_.occupied -= entry.index >= 0 && state_.occupied > 0 ? 1 : 0;
            entry.index = -1;
            entry.pushes = 0;
            entry.frees = 0;
        }
        state_.changed.notify_all();
    }

    char *Bytes(int64_t slot, uint32_t offset) const
    {
        return pipe_.Slot(toVector_, state_, static_cast<uint32_t>(slot)) + offset;
    }
    const pto_model::PipeSlot &Entry(int64_t slot) const { return state_.slots[static_cast<uint32_t>(slot)]; }

private:
    int64_t NextPush() const
    {
        return static_cast<int64_t>(pipe_.prod.isNamed ? pipe_.prod.tileId : state_.pushed[ProducerLane()]);
    }
    uint32_t ProducerLane() const { return IsPart() ? lane() : 0; }
    uint32_t ConsumerLane() const
    {
        return IsShared() || (toVector_ && Split != TILE_NO_SPLIT && isGiven_) ? lane() : 0;
    }
    // How many cores fill a slot: both vector cores where what they push is split.
    uint32_t Producers() const
    {
        return !toVector_ && Split != TILE_NO_SPLIT && (get_subblockdim() >= 2 || state_.pushed[1] > 0) ? 2u : 1u;
    }
    bool IsPushed(uint64_t n) const { return pipe_.cons.isNamed || (state_.pushed[0] > n && (Producers() == 1 || state_.pushed[1] > n)); }

    Pipe &pipe_;
    bool toVector_;
    bool isGiven_;
    typename Pipe::SharedState &state_;
    uint32_t lane_;
};

// A part of a slot as a view of rows that lie `pitch` elements apart.
template <typename T>
inline TesseraView SlotView(void *bytes, int64_t rows, int64_t cols, int64_t pitch)
{
    TesseraView view{};
    view.data = bytes;
    view.elem = static_cast<uint32_t>(ElemOf<T>::tag);
    view.layout = TESSERA_VIEW_LAYOUT_ND;
    view.dims = 2;
    view.shape[0] = rows;
    view.shape[1] = cols;
    view.stride[0] = pitch;
    view.stride[1] = 1;
    view.extent = -1;
    return view;
}

template <typename Pipe>
inline bool FitsSlot(int64_t bytes, uint32_t offset)
{
    if (bytes + offset <= static_cast<int64_t>(Pipe::RingFiFo::SLOT_SIZE)) {
        return true;
    }
    Fail("fifo-slot", std::to_string(bytes) + " bytes from " + std::to_string(offset) + " on do not fit a slot of " +
                          std::to_string(Pipe::RingFiFo::SLOT_SIZE));
    return false;
}

template <typename Pipe, TileSplitAxis Split, typename TileT>
inline void PushTo(Pipe &pipe, TileT &tile, bool toVector, int32_t subBlock)
{
    PipeEnd<Pipe, Split> end(pipe, toVector, subBlock);
    if (end.IsIdle()) {
        return;
    }
    using T = typename TileT::DType;
    const int64_t rows = tile.GetValidRow(), cols = tile.GetValidCol();
    // A vector core fills its part of the whole; of an odd number the first has one more.
    const int64_t odd = pto_model::IsOdd(Split) ? (end.lane() == 0 ? -1 : 1) : 0;
    const int64_t allRows = end.IsPart() && pto_model::SplitsRows(Split) ? 2 * rows + odd : rows;
    const int64_t allCols = end.IsPart() && pto_model::SplitsCols(Split) ? 2 * cols + odd : cols;
    const int64_t row = end.IsPart() && end.lane() == 1 ? allRows - rows : 0;
    const int64_t col = end.IsPart() && end.lane() == 1 ? allCols - cols : 0;
    if (!FitsSlot<Pipe>(allRows * allCols * ElemOf<T>::bits / 8, pipe.prod.entryOffset)) {
        return;
    }
    const int64_t slot = end.Allocate();
    if (slot < 0) {
        return;
    }
    T *first = reinterpret_cast<T *>(end.Bytes(slot, pipe.prod.entryOffset)) + row * allCols + col;
    const TesseraView view = SlotView<T>(first, rows, cols, allCols);
    const auto &machine = CurrentMachine();
    TesseraTile described;
    if (Access::Describe(tile, described) && machine->Done(tessera_host_store(machine->handle(), &view, &described, 0))) {
        end.Judge(0, &described);
        end.Record(allRows, allCols);
    }
}

template <typename Pipe, TileSplitAxis Split, typename TileT>
inline void Push(Pipe &pipe, TileT &tile, int32_t subBlock)
{
    constexpr bool isCube = TileT::Loc == TileType::Acc || TileT::Loc == TileType::Mat;
    PushTo<Pipe, Split>(pipe, tile, Pipe::is_c2v && (!Pipe::is_v2c || isCube), subBlock);
}

// A view is bound to bytes of a slot.
template <typename GlobalT>
inline void BindView(GlobalT &view, char *bytes)
{
    view.Rebind(reinterpret_cast<typename GlobalT::DType *>(bytes));
}

// The tile as a push with a quantization mode leaves it. On a2a3 nothing but a store takes it out of an accumulator.
template <typename Out, QuantMode_t Mode, ReluPreMode Relu, typename Pipe, typename TileT>
inline void PushQuantized(Pipe &pipe, TileT &tile)
{
    constexpr int cols = (TileT::Cols + 31) / 32 * 32;
    constexpr bool stores = kStaticProfile && kProfile == Profile::A2A3;
    using Made = Tile<TileType::Vec, Out, TileT::Rows, cols, BLayout::RowMajor, -1, -1>;
    using Slot = GlobalTensor<Out, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, 1>>;
    const int64_t validRows = tile.GetValidRow(), validCols = tile.GetValidCol(), all = validRows * validCols;
    Made made(static_cast<unsigned>(validRows), static_cast<unsigned>(validCols));
    Slot slot(nullptr, pto::Shape<1, 1, 1, -1, -1>(validRows, validCols),
              pto::Stride<-1, -1, -1, -1, 1>(all, all, all, validCols));
    PipeEnd<Pipe, TILE_NO_SPLIT> end(pipe, Pipe::is_c2v);
    if constexpr (stores) {
        if (end.IsIdle() || !FitsSlot<Pipe>(all * static_cast<int64_t>(sizeof(Out)), pipe.prod.entryOffset)) {
            return;
        }
        const int64_t place = end.Allocate();
        if (place < 0) {
            return;
        }
        BindView(slot, end.Bytes(place, pipe.prod.entryOffset));
    }
    constexpr pto_model::QuantKind kind = pto_model::KindOf(Mode);
    const pto_model::QuantConfig &config = pto_model::CurrentQuant();
    // The type of the result is the mode's, whatever a parameter that was never set says.
    const auto typed = [](uint64_t bits) {
        constexpr uint64_t sign = uint64_t{1} << 46;
        return std::is_same_v<Out, int8_t> ? bits | sign : bits & ~sign;
    };
    constexpr AtomicType plain = AtomicType::AtomicNone;
    if constexpr (!kind.isQuantized && stores) {
        TSTORE<TileT, Slot, plain, Relu>(slot, tile);
    } else if constexpr (!kind.isQuantized) {
        TMOV<Made, TileT, Relu>(made, tile);
    } else if (kind.byColumn && config.vector != nullptr) {
        Tile<TileType::Scaling, uint64_t, 1, cols, BLayout::RowMajor, 1, -1> fp(tile.GetValidCol());
        for (int i = 0; i < tile.GetValidCol(); ++i) {
            fp.SetElement(0, i, typed(config.At(i)));
        }
        if constexpr (stores) {
            TSTORE_FP<TileT, Slot, decltype(fp), plain, Relu>(slot, tile, fp);
        } else {
            TMOV_FP<Made, TileT, decltype(fp), Relu>(made, tile, fp);
        }
    } else if constexpr (stores) {
        TSTORE<TileT, Slot, plain, Relu>(slot, tile, typed(config.scalar));
    } else {
        TMOV<Made, TileT, Relu>(made, tile, typed(config.scalar));
    }
    if constexpr (stores) {
        TesseraTile described;
        if (Access::Describe(tile, described)) {
            end.Judge(0, &described);
            end.Record(validRows, validCols);
        }
    } else {
        PushTo<Pipe, TILE_NO_SPLIT>(pipe, made, Pipe::is_c2v, -1);
    }
}

template <typename Pipe, TileSplitAxis Split, typename TileT>
inline void Pop(Pipe &pipe, TileT &tile, int32_t subBlock)
{
    // Whoever pops into a vector core's tile reads what the cube pushed.
    constexpr bool toVector = Pipe::is_c2v && (!Pipe::is_v2c || TileT::Loc == TileType::Vec);
    PipeEnd<Pipe, Split> end(pipe, toVector, subBlock);
    using T = typename TileT::DType;
    if (end.IsIdle()) {
        if (end.IsShared() && end.Take() < 0) {
            return;
        }
        std::memset(static_cast<void *>(tile.data()), 0, static_cast<std::size_t>(TileT::GetSizeInBytes()));
        return;
    }
    const int64_t slot = end.Take();
    if (slot < 0) {
        return;
    }
    // A tile without a place of its own lies in the consumer's buffer, one behind the other.
    if (Access::IsUnbound(tile)) {
        const uint32_t base = toVector ? pipe.fifo.c2vBuf : pipe.fifo.v2cBuf;
        const uint32_t room = std::max<uint32_t>(Pipe::RingFiFo::LOCAL_SLOT_NUM, 1);
        TASSIGN(tile, base + static_cast<uint32_t>(slot) % room * Pipe::RingFiFo::SLOT_SIZE);
    }
    const pto_model::PipeSlot &entry = end.Entry(slot);
    const int64_t rows = tile.GetValidRow(), cols = tile.GetValidCol();
    const bool isSecond = toVector && Split != TILE_NO_SPLIT && end.lane() == 1;
    const int64_t row = isSecond && pto_model::SplitsRows(Split) ? entry.rows - rows : 0;
    const int64_t col = isSecond && pto_model::SplitsCols(Split) ? entry.cols - cols : 0;
    const int64_t pitch = pto_model::SplitsCols(Split) && toVector ? entry.cols : cols;
    T *first = reinterpret_cast<T *>(end.Bytes(slot, pipe.cons.entryOffset)) + row * pitch + col;
    const TesseraView view = SlotView<T>(first, rows, cols, pitch);
    const auto &machine = CurrentMachine();
    TesseraTile described;
    if (Access::Describe(tile, described)) {
        machine->Done(tessera_host_load(machine->handle(), &described, &view));
        end.Judge(1, &described);
    }
}

template <typename T>
inline constexpr bool IsPipe = false;
template <uint8_t Flag, uint8_t Way, uint32_t Size, uint32_t Slots, uint32_t Local, bool NoSplit, bool UnitFlag>
inline constexpr bool IsPipe<TPipe<Flag, Way, Size, Slots, Local, NoSplit, UnitFlag>> = true;

template <typename T>
inline constexpr bool IsFixpipe = false;
template <LayoutMode_t Mode, QuantMode_t Quant, ReluPreMode Relu, STPhase Phase, uint8_t Unit, AtomicType Atomic,
          ClipReluMode_t Clip, bool Flag>
inline constexpr bool IsFixpipe<FixpipeParams<Mode, Quant, Relu, Phase, Unit, Atomic, Clip, Flag>> = true;

} // namespace pto_detail

// Pushes the tile's valid region; waits for a free slot.
template <typename Pipe, typename TileT, TileSplitAxis Split = TILE_NO_SPLIT>
PTO_INST std::enable_if_t<pto_detail::IsPipe<Pipe> && pto_detail::IsTile<TileT>> TPUSH(Pipe &pipe, TileT &tile, int32_t subBlock = -1, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TPUSH", where);
    pto_detail::Push<Pipe, Split>(pipe, tile, subBlock);
}
template <typename TileT, typename Pipe, TileSplitAxis Split = TILE_NO_SPLIT>
PTO_INST std::enable_if_t<pto_detail::IsPipe<Pipe> && pto_detail::IsTile<TileT>> TPUSH(TileT &tile, Pipe &pipe, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TPUSH", where);
    pto_detail::Push<Pipe, Split>(pipe, tile, -1);
}

// The same, converted or quantized on the way by what SET_QUANT_SCALAR or SET_QUANT_VECTOR left.
template <typename Pipe, typename TileT, typename Params>
PTO_INST std::enable_if_t<pto_detail::IsPipe<Pipe> && pto_detail::IsFixpipe<Params>> TPUSH(Pipe &pipe, TileT &tile, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TPUSH", where);
    constexpr QuantMode_t mode = Params::quantMode;
    constexpr ReluPreMode relu = Params::reluMode;
    constexpr pto_model::QuantKind kind = pto_model::KindOf(mode);
    if constexpr (mode == NoQuant) {
        pto_detail::PushQuantized<typename TileT::DType, mode, relu>(pipe, tile);
    } else if constexpr (kind.bits == 8) {
        const pto_model::QuantConfig &config = pto_model::CurrentQuant();
        const uint64_t first = kind.byColumn && config.vector != nullptr ? config.At(0) : config.scalar;
        if ((first >> 46 & 1) != 0) {
            pto_detail::PushQuantized<int8_t, mode, relu>(pipe, tile);
        } else {
            pto_detail::PushQuantized<uint8_t, mode, relu>(pipe, tile);
        }
    } else if constexpr (!kind.isFloat) {
        pto_detail::PushQuantized<int16_t, mode, relu>(pipe, tile);
    } else {
        pto_detail::PushQuantized<std::conditional_t<kind.isBfloat, bfloat16_t, half>, mode, relu>(pipe, tile);
    }
}

// What was stored into an allocated slot is there.
template <typename Pipe, typename GlobalT, TileSplitAxis Split>
PTO_INST std::enable_if_t<pto_detail::IsPipe<Pipe> && pto_detail::IsView<GlobalT>> TPUSH(Pipe &pipe, GlobalT &view, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TPUSH", where);
    pto_detail::PipeEnd<Pipe, Split> end(pipe, Pipe::is_c2v);
    if (!end.IsIdle()) {
        end.Judge(0, nullptr);
        end.Record(view.GetShape(3), view.GetShape(4));
    }
}

// A slot to store into, as a view.
template <typename Pipe, typename GlobalT, TileSplitAxis Split = TILE_NO_SPLIT>
PTO_INST std::enable_if_t<pto_detail::IsPipe<Pipe> && pto_detail::IsView<GlobalT>> TALLOC(Pipe &pipe, GlobalT &view, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TALLOC", where);
    pto_detail::PipeEnd<Pipe, Split> end(pipe, Pipe::is_c2v);
    if (end.IsIdle()) {
        return;
    }
    const int64_t slot = end.Allocate();
    if (slot >= 0) {
        end.Judge(3, nullptr);
        pto_detail::BindView(view, end.Bytes(slot, pipe.prod.entryOffset));
    }
}

// Pops into the tile, where it lies; waits for a filled slot.
template <typename Pipe, typename TileT, TileSplitAxis Split = TILE_NO_SPLIT>
PTO_INST std::enable_if_t<pto_detail::IsPipe<Pipe> && pto_detail::IsTile<TileT>> TPOP(Pipe &pipe, TileT &tile, int32_t subBlock = -1, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TPOP", where);
    pto_detail::Pop<Pipe, Split>(pipe, tile, subBlock);
}
template <typename TileT, typename Pipe, TileSplitAxis Split = TILE_NO_SPLIT>
PTO_INST std::enable_if_t<pto_detail::IsPipe<Pipe> && pto_detail::IsTile<TileT>> TPOP(TileT &tile, Pipe &pipe, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TPOP", where);
    pto_detail::Pop<Pipe, Split>(pipe, tile, -1);
}
// Pops as a view of the slot.
template <typename Pipe, typename GlobalT, TileSplitAxis Split>
PTO_INST std::enable_if_t<pto_detail::IsPipe<Pipe> && pto_detail::IsView<GlobalT>> TPOP(Pipe &pipe, GlobalT &view, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TPOP", where);
    pto_detail::PipeEnd<Pipe, Split> end(pipe, Pipe::is_c2v);
    if (end.IsIdle() && !end.IsShared()) {
        return;
    }
    const int64_t slot = end.Take();
    if (slot >= 0) {
        end.Judge(1, nullptr);
        // The second vector core's part begins behind the first one's, unless the program says where (isa/today.md 7.2).
        const bool isSecond = Pipe::is_c2v && Split != TILE_NO_SPLIT && end.lane() == 1 && pipe.cons.entryOffset == 0;
        const int64_t part = pto_model::SplitsRows(Split) ? view.GetShape(3) * view.GetStride(3) : view.GetShape(4) * view.GetStride(4);
        const int64_t bytes = isSecond ? part * pto_detail::ElemOf<typename GlobalT::DType>::bits / 8 : 0;
        pto_detail::BindView(view, end.Bytes(slot, pipe.cons.entryOffset) + bytes);
    }
}

// Frees the oldest popped slot.
template <typename Pipe, TileSplitAxis Split = TILE_NO_SPLIT>
PTO_INST std::enable_if_t<pto_detail::IsPipe<Pipe>> TFREE(Pipe &pipe, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("TFREE", where);
    pto_detail::PipeEnd<Pipe, Split> end(pipe, Pipe::is_c2v && (!Pipe::is_v2c || pipe.cons.toVector));
    if (!end.IsIdle() || end.IsShared()) {
        end.Judge(2, nullptr);
        end.Free();
    }
}
template <typename Pipe, typename GlobalT, TileSplitAxis Split>
PTO_INST std::enable_if_t<pto_detail::IsPipe<Pipe> && pto_detail::IsView<GlobalT>> TFREE(Pipe &pipe, GlobalT &, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    TFREE<Pipe, Split>(pipe, where);
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
