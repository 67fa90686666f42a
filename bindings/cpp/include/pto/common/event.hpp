// Order between instructions. Instructions run when they are called, so waiting is done at once; the types are there
// for kernels that order their instructions by events and flags.

#ifndef PTO_COMMON_EVENT_HPP
#define PTO_COMMON_EVENT_HPP

#include <type_traits>

namespace pto {

// What every intrinsic returns, and takes as trailing operands to wait for.
struct RecordEvent {
    void Wait() const {}
};

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

inline void set_flag(pipe_t, pipe_t, event_t) {}
inline void wait_flag(pipe_t, pipe_t, event_t) {}
inline void pipe_barrier(pipe_t) {}

namespace model {

template <typename T>
inline constexpr bool IsEvent = std::is_base_of_v<RecordEvent, std::remove_cv_t<T>>;

// RecordEvent where all trailing operands are events; else the overload does not exist.
template <typename... WaitEvents>
using EventIf = std::enable_if_t<(IsEvent<WaitEvents> && ...), RecordEvent>;

} // namespace model

template <typename T>
struct is_event : std::bool_constant<model::IsEvent<T>> {};
template <typename... Ts>
inline constexpr bool all_events_v = (is_event<Ts>::value && ...);

// Waits for events, or for everything.
template <typename... WaitEvents>
inline model::EventIf<WaitEvents...> TSYNC(const WaitEvents &...)
{
    return {};
}

} // namespace pto

#endif
