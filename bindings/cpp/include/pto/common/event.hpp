// Order between instructions. Instructions run when they are called, so waiting is done at once; the types are there
// for kernels that order their instructions by events and flags (sync.md).

#ifndef PTO_INST_HPP
#include <pto/pto-inst.hpp>
#elif !defined(PTO_COMMON_EVENT_HPP)
#define PTO_COMMON_EVENT_HPP

#include <type_traits>

#include <pto/common/cpu_stub.hpp>
#include <pto/common/op.hpp>

namespace pto {

// What every intrinsic returns, and takes as trailing operands to wait for. What the call itself returns is known to be done only
// where everything is; an Event knows its instruction.
struct RecordEvent {
    void Wait() const { pto_model::JudgeOrder(TESSERA_OP_BARRIER, "Wait", pto_model::SourceLocation{}, PIPE_ALL, pto_model::kNoPipe, 0); }
    void Await() const { Wait(); }
};

// The event between two instructions.
template <Op Src, Op Dst, bool AutoToken = true, event_t Id = 0>
struct Event : RecordEvent {
    Event() = default;
    Event(RecordEvent) { Record(); }
    Event &operator=(RecordEvent) { return Record(); }

    Event &Init() { return *this; }
    Event &Record() { return Judge(0), *this; }
    void Wait() const { Judge(2); }
    // The next instruction waits.
    void Await() const { Judge(1); }

private:
    void Judge(uint32_t what) const
    {
        if (pto_model::IsJudged()) {
            pto_model::JudgedAt("Event", pto_model::SourceLocation{});
            tessera_races_event(reinterpret_cast<uintptr_t>(this), what);
        }
    }
};

namespace pto_model {

template <typename T>
inline constexpr bool IsEvent = std::is_base_of_v<RecordEvent, std::remove_cv_t<T>>;

// RecordEvent where all trailing operands are events; else the overload does not exist.
template <typename... WaitEvents>
using EventIf = std::enable_if_t<(IsEvent<WaitEvents> && ...), RecordEvent>;

} // namespace pto_model

template <typename T>
struct is_event : std::bool_constant<pto_model::IsEvent<T>> {};
template <typename... Ts>
inline constexpr bool all_events_v = (is_event<Ts>::value && ...);

// Waits for events, for the instructions of a kind, or for everything.
template <typename... WaitEvents>
inline std::enable_if_t<(pto_model::IsEvent<WaitEvents> && ...)> TSYNC(const WaitEvents &...events)
{
    (events.Wait(), ...);
}
template <Op>
inline void TSYNC(const pto_model::SourceLocation &where = pto_model::SourceLocation::Here())
{
    pto_model::JudgeOrder(TESSERA_OP_BARRIER, "TSYNC", where, PIPE_ALL, pto_model::kNoPipe, 0);
}

enum class SyncAllMode : uint32_t { Hard, Soft };
enum class SyncCoreType : uint32_t { AIVOnly, AICOnly, Mix };

// All cores meet (sync.md 5): the threads of a launch that have not ended. It orders arrival only.
template <SyncCoreType = SyncCoreType::AIVOnly>
inline void SYNCALL()
{
    cpu_sim::pto_model::MeetAll();
}
template <SyncAllMode, SyncCoreType = SyncCoreType::AIVOnly, typename GlobalT>
inline void SYNCALL(GlobalT &&, int32_t = 0)
{
    cpu_sim::pto_model::MeetAll();
}

} // namespace pto

#endif
