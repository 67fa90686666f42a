// The state of pipes: slots, who has filled and freed them, and the type that names a pipe (cpp.md 6.7).

#ifndef PTO_COMMON_PIPE_STATE_HPP
#define PTO_COMMON_PIPE_STATE_HPP

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <pto/common/issue.hpp>
#include <pto/common/waiting.hpp>

namespace pto {

enum TileSplitAxis : uint8_t {
    TILE_NO_SPLIT,
    TILE_UP_DOWN,
    TILE_LEFT_RIGHT,
    TILE_UP_DOWN_ODD,
    TILE_LEFT_RIGHT_ODD,
};

// Those with _GM have their slots in global memory on a5, too; here a pipe with slots there has them there.
enum Direction : uint8_t { UNDEFINED, DIR_C2V, DIR_V2C, DIR_BOTH, DIR_V2C_CTRL, DIR_C2V_GM, DIR_V2C_GM, DIR_BOTH_GM };

namespace pto_model {

// One slot: who has filled and freed it, and how large the whole of it is.
struct PipeSlot {
    std::vector<char> bytes;
    // Which push has it; -1 while it is free.
    int64_t index = -1;
    uint32_t pushes = 0;
    uint32_t frees = 0;
    int64_t rows = 0;
    int64_t cols = 0;
};

// The state of one direction of a pipe in one block.
struct PipeState {
    std::mutex mutex;
    std::condition_variable changed;
    // Slots that are filled, or being filled, and not freed.
    uint32_t occupied = 0;
    uint32_t next_producer_slot = 0;
    uint32_t popped_not_freed = 0;
    uint32_t popped_not_freed_by_lane[2] = {0, 0};
    // Pushes, pops and frees of each lane so far.
    uint64_t pushed[2] = {0, 0};
    uint64_t popped[2] = {0, 0};
    uint64_t freed[2] = {0, 0};
    std::vector<PipeSlot> slots;
};

constexpr bool SplitsRows(TileSplitAxis split) { return split == TILE_UP_DOWN || split == TILE_UP_DOWN_ODD; }
constexpr bool SplitsCols(TileSplitAxis split) { return split == TILE_LEFT_RIGHT || split == TILE_LEFT_RIGHT_ODD; }
constexpr bool IsOdd(TileSplitAxis split) { return split == TILE_UP_DOWN_ODD || split == TILE_LEFT_RIGHT_ODD; }

} // namespace pto_model

inline namespace PTO_PROFILE_NAMESPACE {

// A pipe. Objects of one type are ends of one FIFO for each direction and block.
template <uint8_t FlagID, uint8_t Direction_, uint32_t SlotSize, uint32_t SlotNum, uint32_t LocalSlotNum = 2,
          bool IsNoSplit = false, bool EnUnitFlag = false>
class TPipe {
    static_assert(SlotNum >= 1, "fifo: a pipe has at least one slot");

public:
    using SharedState = pto_model::PipeState;
    struct SharedStateStorage {
        SharedState c2v;
        SharedState v2c;
    };
    struct RingFiFo {
        static constexpr uint32_t SLOT_NUM = SlotNum;
        static constexpr uint32_t SLOT_SIZE = SlotSize;
        static constexpr uint32_t LOCAL_SLOT_NUM = LocalSlotNum;
        void *gmSlots = nullptr;
        uint32_t c2vBuf = 0;
        uint32_t v2cBuf = 0;
    };
    // The producer's end: steps can be switched off, and an entry may start inside its slot.
    struct Producer {
        bool allocates = true;
        bool records = true;
        uint32_t tileId = 0;
        bool isNamed = false;
        uint32_t entryOffset = 0;

        void setAllocateStatus(bool on) { allocates = on; }
        void setRecordStatus(bool on) { records = on; }
        void setTileId(uint32_t id, uint32_t = 0)
        {
            tileId = id;
            isNamed = true;
        }
        uint32_t getTileId() const { return tileId; }
        void setEntryOffset(uint32_t bytes) { entryOffset = bytes; }
    };
    struct Consumer {
        bool waits = true;
        bool frees = true;
        uint32_t tileId = 0;
        bool isNamed = false;
        uint32_t entryOffset = 0;
        // Which way the last pop went.
        bool toVector = true;

        void setWaitStatus(bool on) { waits = on; }
        void setFreeStatus(bool on) { frees = on; }
        void setTileId(uint32_t id, uint32_t = 0)
        {
            tileId = id;
            isNamed = true;
        }
        uint32_t getTileId() const { return tileId; }
        void setentryOffset(uint32_t bytes) { entryOffset = bytes; }
        void setEntryOffset(uint32_t bytes) { entryOffset = bytes; }
    };

    static constexpr bool is_both = Direction_ == DIR_BOTH || Direction_ == DIR_BOTH_GM;
    static constexpr bool is_c2v = Direction_ == DIR_C2V || Direction_ == DIR_C2V_GM || is_both;
    static constexpr bool is_v2c = Direction_ == DIR_V2C || Direction_ == DIR_V2C_GM || Direction_ == DIR_V2C_CTRL || is_both;
    static constexpr bool isNoSplit = IsNoSplit;

    TPipe(void *gmSlots, uint32_t c2vBuf, uint32_t v2cBuf)
    {
        fifo.gmSlots = gmSlots;
        fifo.c2vBuf = c2vBuf;
        fifo.v2cBuf = v2cBuf;
    }
    TPipe() : TPipe(nullptr, 0, 0) {}

    // The state of this thread's block; of the direction to the vector cores where there are both.
    static SharedState &GetSharedState() { return StateOf(is_c2v); }
    static SharedState &StateOf(bool toVector)
    {
        SharedStateStorage &storage = Storage();
        return toVector ? storage.c2v : storage.v2c;
    }
    // Empties the pipe in every block.
    static void reset_for_cpu_sim()
    {
        std::lock_guard<std::mutex> lock(AllMutex());
        All().clear();
    }

    // Are the slots in global memory on every profile?
    static constexpr bool is_global = Direction_ == DIR_C2V_GM || Direction_ == DIR_V2C_GM || Direction_ == DIR_BOTH_GM;
    // The first slot in the program's memory, if slots lie there.
    const void *GlobalSlots(bool toVector) const
    {
        const std::size_t before = is_both && !toVector ? SlotNum : 0;
        return fifo.gmSlots == nullptr ? nullptr : static_cast<const char *>(fifo.gmSlots) + before * SlotSize;
    }

    // The bytes of a slot: in the program's memory, V2C behind C2V where there are both, or in the pipe.
    char *Slot(bool toVector, SharedState &state, uint32_t slot) const
    {
        if (fifo.gmSlots != nullptr) {
            const std::size_t before = is_both && !toVector ? SlotNum : 0;
            return static_cast<char *>(fifo.gmSlots) + (before + slot) * SlotSize;
        }
        // Both vector cores may ask for a new slot at once.
        std::lock_guard<std::mutex> lock(state.mutex);
        std::vector<char> &bytes = state.slots[slot].bytes;
        if (bytes.empty()) {
            bytes.resize(SlotSize);
        }
        return bytes.data();
    }

    RingFiFo fifo;
    Producer prod;
    Consumer cons;

private:
    static std::mutex &AllMutex()
    {
        static std::mutex mutex;
        return mutex;
    }
    static std::map<uint32_t, std::unique_ptr<SharedStateStorage>> &All()
    {
        static std::map<uint32_t, std::unique_ptr<SharedStateStorage>> all;
        return all;
    }
    static SharedStateStorage &Storage()
    {
        std::lock_guard<std::mutex> lock(AllMutex());
        std::unique_ptr<SharedStateStorage> &storage = All()[get_block_idx()];
        if (!storage) {
            storage.reset(new SharedStateStorage());
            storage->c2v.slots.resize(SlotNum);
            storage->v2c.slots.resize(SlotNum);
        }
        return *storage;
    }
};

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
