// What device code finds around the instructions: pipes, flags, the block that it is, its control words; and where the
// build is one for the host (__CPU_SIM), the names of the host's runtime (cpp.md 2, 3).
//
// Order is the order of calls, so flags and barriers do nothing, but for where order is judged (races.hpp). Under __CPU_SIM all names are in the global namespace too.

#ifndef PTO_INST_HPP
#include <pto/pto-inst.hpp>
#elif !defined(PTO_COMMON_CPU_STUB_HPP)
#define PTO_COMMON_CPU_STUB_HPP

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include <pto/common/constants.hpp>

namespace pto {
inline namespace pto_device {

using pipe_t = int;
using event_t = int;
constexpr pipe_t PIPE_S = 0;
constexpr pipe_t PIPE_V = 1;
constexpr pipe_t PIPE_MTE1 = 2;
constexpr pipe_t PIPE_MTE2 = 3;
constexpr pipe_t PIPE_MTE3 = 4;
constexpr pipe_t PIPE_M = 5;
constexpr pipe_t PIPE_ALL = 6;
constexpr pipe_t PIPE_FIX = 7;
#ifndef __CPU_SIM
// Macros where the build is one for the host.
constexpr event_t EVENT_ID0 = 0;
constexpr event_t EVENT_ID1 = 1;
constexpr event_t EVENT_ID2 = 2;
constexpr event_t EVENT_ID3 = 3;
constexpr event_t EVENT_ID4 = 4;
constexpr event_t EVENT_ID5 = 5;
constexpr event_t EVENT_ID6 = 6;
constexpr event_t EVENT_ID7 = 7;
#endif

enum dsb_t { DSB_DDR, DSB_ALL, DSB_UB };
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE, CACHELINE_OUT };

template <typename What>
inline void dsb(What)
{}
template <typename T>
inline void dcci(T *, int, int = 0)
{}

} // namespace pto_device

namespace cpu_sim {
namespace pto_model {

// Who a thread is: which block, which of its vector cores, and its control words.
struct Context {
    uint32_t block = 0;
    uint32_t subblock = 0;
    uint32_t subblockDim = 1;
    uint64_t cookie = 0;
    uint64_t ctrl = 0;
    // The launch that the thread belongs to, if it does: how many blocks it has, whether one has failed, and where all meet.
    uint32_t blockCount = 0;
    const std::atomic<bool> *isCancelled = nullptr;
    void *meeting = nullptr;
    void (*meet)(void *meeting) = nullptr;
};

inline Context &Current()
{
    static thread_local Context context;
    return context;
}

inline bool IsCancelled()
{
    const std::atomic<bool> *flag = Current().isCancelled;
    return flag != nullptr && flag->load();
}

// Waits until all threads of the launch are here; a thread on its own waits for nobody.
inline void MeetAll()
{
    const Context &context = Current();
    if (context.meet != nullptr) {
        context.meet(context.meeting);
    }
}

// What the program put in place of get_subblockid and of the storage of pipes.
struct Hooks {
    void *subblockId = nullptr;
    void *pipeState = nullptr;
};

inline Hooks &CurrentHooks()
{
    static Hooks hooks;
    return hooks;
}

// A number from the environment, or what is usual.
inline uint64_t Environment(const char *name, uint64_t usual)
{
    const char *text = std::getenv(name);
    if (text == nullptr || *text == '\0') {
        return usual;
    }
    char *end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 0);
    return *end == '\0' ? static_cast<uint64_t>(value) : usual;
}

// How many cores a launch has; 0 until somebody asks.
inline uint32_t &CoreCount()
{
    static uint32_t count = 0;
    return count;
}

inline uint32_t ConfiguredCores()
{
    uint32_t &count = CoreCount();
    if (count == 0) {
        const uint64_t cores = Environment("PTO_CPU_SIM_NUM_CORES", 4);
        count = cores == 0 || cores > 65536 ? 4 : static_cast<uint32_t>(cores);
    }
    return count;
}

} // namespace pto_model

inline void set_execution_context(uint32_t block, uint32_t subblock, uint32_t subblockDim = 1)
{
    pto_model::Context &context = pto_model::Current();
    context.block = block;
    context.subblock = subblock;
    context.subblockDim = subblockDim;
}

inline void reset_execution_context() { set_execution_context(0, 0, 1); }

inline void set_task_cookie(uint64_t cookie) { pto_model::Current().cookie = cookie; }

// A context for as long as the object lives.
class ScopedExecutionContext {
public:
    ScopedExecutionContext(uint32_t block, uint32_t subblock, uint32_t dim = 1) : before_(pto_model::Current())
    {
        set_execution_context(block, subblock, dim);
    }
    ~ScopedExecutionContext() { set_execution_context(before_.block, before_.subblock, before_.subblockDim); }
    ScopedExecutionContext(const ScopedExecutionContext &) = delete;
    ScopedExecutionContext &operator=(const ScopedExecutionContext &) = delete;

private:
    pto_model::Context before_;
};

// Functions that replace get_subblockid (`uint32_t ()`) and the storage of pipes; null is none.
inline void register_hooks(void *subblockId, void *pipeState)
{
    pto_model::CurrentHooks().subblockId = subblockId;
    pto_model::CurrentHooks().pipeState = pipeState;
}

} // namespace cpu_sim

inline namespace pto_device {

inline uint32_t get_block_idx() { return cpu_sim::pto_model::Current().block; }
inline uint32_t get_block_num()
{
    const uint32_t launched = cpu_sim::pto_model::Current().blockCount;
    return launched != 0 ? launched : cpu_sim::pto_model::ConfiguredCores();
}
inline uint32_t get_subblockid()
{
    void *hook = cpu_sim::pto_model::CurrentHooks().subblockId;
    return hook != nullptr ? reinterpret_cast<uint32_t (*)()>(hook)() : cpu_sim::pto_model::Current().subblock;
}
inline uint32_t get_subblockdim() { return cpu_sim::pto_model::Current().subblockDim; }
inline uint32_t get_coreid() { return cpu_sim::pto_model::Current().block; }

inline uint64_t get_ctrl() { return cpu_sim::pto_model::Current().ctrl; }
inline void set_ctrl(uint64_t value) { cpu_sim::pto_model::Current().ctrl = value; }
constexpr uint64_t sbitset0(uint64_t value, int bit) { return value & ~(uint64_t{1} << bit); }
constexpr uint64_t sbitset1(uint64_t value, int bit) { return value | uint64_t{1} << bit; }
inline uint64_t get_task_cookie() { return cpu_sim::pto_model::Current().cookie; }

} // namespace pto_device
} // namespace pto

#include <pto/common/races.hpp>

namespace pto {
inline namespace pto_device {

inline void set_flag(pipe_t from, pipe_t to, int id,
                     const pto_model::SourceLocation &where = pto_model::SourceLocation::Here())
{
    pto_model::JudgeOrder(TESSERA_OP_SET_FLAG, "set_flag", where, static_cast<uint32_t>(from), static_cast<uint32_t>(to), id);
}
inline void wait_flag(pipe_t from, pipe_t to, int id,
                      const pto_model::SourceLocation &where = pto_model::SourceLocation::Here())
{
    pto_model::JudgeOrder(TESSERA_OP_WAIT_FLAG, "wait_flag", where, static_cast<uint32_t>(from), static_cast<uint32_t>(to), id);
}
inline void pipe_barrier(pipe_t pipe, const pto_model::SourceLocation &where = pto_model::SourceLocation::Here())
{
    pto_model::JudgeOrder(TESSERA_OP_BARRIER, "pipe_barrier", where, static_cast<uint32_t>(pipe), pto_model::kNoPipe, 0);
}

} // namespace pto_device
} // namespace pto

#ifdef __CPU_SIM
using namespace pto::pto_device;
#include <pto/common/host_runtime.hpp>
#endif

#endif
