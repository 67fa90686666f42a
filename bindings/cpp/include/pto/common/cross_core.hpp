// Order between the cores of a block, buffer tokens, and what else emitted programs call (sync.md 5; spec/build.md 2).
//
// A token goes from one kind of core to the other. Which kind a call stands in is what `__DAV_CUBE__` and `__DAV_VEC__` say
// at the call; where a build has both, one thread runs both, and tokens order nothing.

#ifndef PTO_INST_HPP
#include <pto/pto-inst.hpp>
#endif
#ifndef PTO_COMMON_CROSS_CORE_HPP
#define PTO_COMMON_CROSS_CORE_HPP

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include <pto/common/waiting.hpp>

// Whether a macro without parameters is defined where this stands: one that is not is its own name.
#define PTO_TEXT_OF(...) #__VA_ARGS__
#define PTO_IS_DEFINED(...) (PTO_TEXT_OF(__VA_ARGS__)[0] != '_')
#define PTO_CORE_HERE                                                                                                    \
    (PTO_IS_DEFINED(__DAV_CUBE__) == PTO_IS_DEFINED(__DAV_VEC__) ? pto::pto_model::CoreKind::Both                          \
     : PTO_IS_DEFINED(__DAV_CUBE__)                              ? pto::pto_model::CoreKind::Cube                          \
                                                                 : pto::pto_model::CoreKind::Vector)

namespace pto {
namespace pto_model {

// Tokens of all blocks: counters by receiver and sender. Core 0 is the cube core, 1 and 2 are the vector cores.
class Tokens {
public:
    static Tokens &Instance()
    {
        static Tokens tokens;
        return tokens;
    }
    static uint32_t Self(CoreKind kind) { return kind == CoreKind::Cube ? 0 : 1 + (get_subblockid() & 1); }

    void Give(uint32_t id, uint32_t from, uint32_t to)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++counts_[{get_block_idx(), id, from, to}];
        changed_.notify_all();
    }
    // Takes a token of each of these senders (a mask).
    void Take(uint32_t id, uint32_t senders, uint32_t to)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        const auto all = [&] {
            for (uint32_t from = 0; from < 3; ++from) {
                if ((senders >> from & 1) != 0 && counts_[{get_block_idx(), id, from, to}] == 0) {
                    return false;
                }
            }
            return true;
        };
        // Between vector cores the id was given by both of them, else by the cube core.
        const auto isThere = [&] { return all() || (to != 0 && senders == 1 && IsMeeting(id, to)); };
        if (!WaitFor(changed_, lock, "a core waits for a token", isThere)) {
            return;
        }
        const uint32_t taken = all() ? senders : 6u;
        for (uint32_t from = 0; from < 3; ++from) {
            counts_[{get_block_idx(), id, from, to}] -= (taken >> from & 1) != 0 ? 1 : 0;
        }
    }

private:
    using Key = std::pair<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>>;
    struct Place : Key {
        Place(uint32_t block, uint32_t id, uint32_t from, uint32_t to) : Key({block, id}, {from, to}) {}
    };
    bool IsMeeting(uint32_t id, uint32_t to)
    {
        return counts_[{get_block_idx(), id, 1, to}] > 0 && counts_[{get_block_idx(), id, 2, to}] > 0;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Place, uint32_t> counts_;
};

// Tells the judge of order of a token; one thread that is both kinds of cores has none.
inline void JudgeToken(TesseraOp op, const char *name, const SourceLocation &where, CoreKind kind, int pipe, uint32_t id, uint32_t mode)
{
    if (kind != CoreKind::Both) {
        const bool isCube = kind == CoreKind::Cube;
        const int64_t own = isCube || mode != kNoPipe ? id : id & 15;
        JudgeOrder(op, name, where, static_cast<uint32_t>(pipe), kNoPipe, own, isCube ? 1 : 2, mode);
    }
}

// a2a3: from the cube core to both vector cores, from a vector core to the cube core (mode 2); between the vector cores
// (mode 1); of all cores of a kind (mode 0). The configuration has the mode from bit 4 and the id from bit 8 on.
inline void GiveToBlock(CoreKind kind, int pipe, uint64_t config, const SourceLocation &where)
{
    const uint32_t mode = config >> 4 & 15, id = config >> 8 & 15;
    JudgeToken(TESSERA_OP_SYNC_SET, "ffts_cross_core_sync", where, kind, pipe, id, mode);
    if (kind == CoreKind::Both) {
        return;
    }
    const uint32_t self = Tokens::Self(kind);
    if (mode == 0) {
        cpu_sim::pto_model::MeetAll();
        Tokens::Instance().Give(id, self == 0 ? 1 : 0, self);
        if (self == 0) {
            Tokens::Instance().Give(id, 2, self);
        }
        return;
    }
    const bool toVectors = self == 0 || mode == 1;
    for (uint32_t to = toVectors ? 1 : 0; to < (toVectors ? 3u : 1u); ++to) {
        Tokens::Instance().Give(id, self, to);
    }
}

inline void TakeInBlock(CoreKind kind, uint32_t id, const SourceLocation &where)
{
    if (kind != CoreKind::Both) {
        const uint32_t self = Tokens::Self(kind);
        Tokens::Instance().Take(id, self != 0 ? 1 : get_subblockdim() >= 2 ? 6 : 2, self);
        JudgeToken(TESSERA_OP_SYNC_WAIT, "wait_flag_dev", where, kind, PIPE_S, id, 2);
    }
}

// a5: one token to one core; ids from 16 on are the second vector core's.
inline void GiveToCore(CoreKind kind, int pipe, uint32_t id, const SourceLocation &where)
{
    JudgeToken(TESSERA_OP_SET_INTRA_BLOCK, "set_intra_block", where, kind, pipe, id, kNoPipe);
    if (kind != CoreKind::Both) {
        const uint32_t self = Tokens::Self(kind);
        self == 0 ? Tokens::Instance().Give(id & 15, 0, id < 16 ? 1 : 2) : Tokens::Instance().Give(id & 15, self, 0);
    }
}

inline void TakeFromCore(CoreKind kind, int pipe, uint32_t id, const SourceLocation &where)
{
    if (kind != CoreKind::Both) {
        const uint32_t self = Tokens::Self(kind);
        Tokens::Instance().Take(id & 15, self != 0 ? 1 : id < 16 ? 2 : 4, self);
        JudgeToken(TESSERA_OP_WAIT_INTRA_BLOCK, "wait_intra_block", where, kind, pipe, id, kNoPipe);
    }
}

} // namespace pto_model

inline namespace pto_device {

// Buffer tokens order pipes, and the order of calls is one already; a judge of order is told of them.
inline void get_buf(pipe_t pipe, int id, int = 0, const pto_model::SourceLocation &where = pto_model::SourceLocation::Here())
{
    pto_model::JudgeOrder(TESSERA_OP_GET_BUF, "get_buf", where, static_cast<uint32_t>(pipe), pto_model::kNoPipe, id);
}
inline void rls_buf(pipe_t pipe, int id, int = 0, const pto_model::SourceLocation &where = pto_model::SourceLocation::Here())
{
    pto_model::JudgeOrder(TESSERA_OP_RLS_BUF, "rls_buf", where, static_cast<uint32_t>(pipe), pto_model::kNoPipe, id);
}
// Where the counters of tokens lie is nothing to the host.
inline void set_ffts_base_addr(uint64_t) {}
[[noreturn]] inline void trap() { throw Error("trap", "the program stops itself", ""); }

} // namespace pto_device
} // namespace pto

// Macros, because a call tells its core by what is defined where it stands.
#define PTO_CALLED_HERE pto::pto_model::SourceLocation::Here()
#define ffts_cross_core_sync(pipe, config)                                                                               \
    pto::pto_model::GiveToBlock(PTO_CORE_HERE, pipe, static_cast<uint64_t>(config), PTO_CALLED_HERE)
#define wait_flag_dev(id) pto::pto_model::TakeInBlock(PTO_CORE_HERE, static_cast<uint32_t>(id), PTO_CALLED_HERE)
#define set_intra_block(pipe, id) pto::pto_model::GiveToCore(PTO_CORE_HERE, pipe, static_cast<uint32_t>(id), PTO_CALLED_HERE)
#define wait_intra_block(pipe, id) pto::pto_model::TakeFromCore(PTO_CORE_HERE, pipe, static_cast<uint32_t>(id), PTO_CALLED_HERE)

#endif
