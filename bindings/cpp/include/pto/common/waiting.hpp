// How a thread waits for others: not for ever.

#ifndef PTO_COMMON_WAITING_HPP
#define PTO_COMMON_WAITING_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>

#include <pto/common/cpu_stub.hpp>
#include <pto/common/failure.hpp>

namespace pto {
namespace pto_model {

// A core that never comes, or that failed, ends it with an error.
template <typename Condition>
inline bool WaitFor(std::condition_variable &changed, std::unique_lock<std::mutex> &lock, const char *what, Condition condition)
{
    const auto start = std::chrono::steady_clock::now();
    const auto limit = std::chrono::seconds(cpu_sim::pto_model::Environment("PTO_CPU_SIM_PIPE_SECONDS", 60));
    while (!condition()) {
        changed.wait_for(lock, std::chrono::milliseconds(20));
        const bool isCancelled = cpu_sim::pto_model::IsCancelled();
        if (isCancelled || (limit.count() != 0 && std::chrono::steady_clock::now() - start > limit)) {
            Fail("deadlock", std::string(what) + (isCancelled ? ": another core of the launch has failed"
                                                              : ": no other core came for " +
                                                                    std::to_string(limit.count()) +
                                                                    " s (PTO_CPU_SIM_PIPE_SECONDS)"));
            return false;
        }
    }
    return true;
}

} // namespace pto_model
} // namespace pto

#endif
