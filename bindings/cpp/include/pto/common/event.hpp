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

// What every intrinsic returns, and takes as trailing operands to wait for.
struct RecordEvent {
    void Wait() const {}
};

// The event between two instructions.
template <Op Src, Op Dst, bool AutoToken = true, event_t Id = 0>
struct Event : RecordEvent {
    Event() = default;
    Event(RecordEvent) {}
    Event &operator=(RecordEvent) { return *this; }

    Event &Init() { return *this; }
    Event &Record() { return *this; }
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
inline std::enable_if_t<(pto_model::IsEvent<WaitEvents> && ...)> TSYNC(const WaitEvents &...)
{}
template <Op>
inline void TSYNC()
{}

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
