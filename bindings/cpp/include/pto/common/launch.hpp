// Launches of kernels whose blocks, and the cores of a block, are threads (cpp.md 2).

#ifndef PTO_COMMON_LAUNCH_HPP
#define PTO_COMMON_LAUNCH_HPP

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <pto/common/failure.hpp>
#include <pto/common/waiting.hpp>

namespace pto {
namespace cpu_sim {

struct KernelLaunchOptions {
    std::string kernel_name;
    uint32_t requested_cores = 0;
    uint64_t total_work_items = 0;
    uint64_t work_quantum = 1;
    uint32_t subblocks_per_block = 1;
    uint32_t explicit_block_count = 0;
    bool write_trace_files = false;
};

namespace pto_model {

// As many blocks as are asked for, and no more than there is work.
inline uint32_t BlocksOf(const KernelLaunchOptions &options)
{
    if (options.explicit_block_count != 0) {
        return options.explicit_block_count;
    }
    const uint32_t cores = options.requested_cores != 0 ? options.requested_cores : ConfiguredCores();
    const uint64_t quantum = options.work_quantum == 0 ? 1 : options.work_quantum;
    const uint64_t pieces = (options.total_work_items + quantum - 1) / quantum;
    return options.total_work_items == 0 || pieces > cores ? cores : static_cast<uint32_t>(pieces);
}

// Where the threads of a launch meet.
class Meeting {
public:
    explicit Meeting(uint32_t threads) : running_(threads) {}

    static void Meet(void *meeting) { static_cast<Meeting *>(meeting)->Arrive(); }
    // A thread has ended: nobody waits for it any more.
    void End()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        --running_;
        Open();
    }

private:
    void Arrive()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        const uint64_t round = round_;
        ++arrived_;
        Open();
        pto::pto_model::WaitFor(changed_, lock, "SYNCALL waits for the other cores", [&] { return round_ != round; });
    }
    void Open()
    {
        if (arrived_ != 0 && arrived_ >= running_) {
            arrived_ = 0;
            ++round_;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    uint32_t running_;
    uint32_t arrived_ = 0;
    uint64_t round_ = 0;
};

template <typename Function>
inline void CallKernel(Function &function, uint32_t block, uint32_t subblock)
{
    if constexpr (std::is_invocable_v<Function &, uint32_t, uint32_t>) {
        function(block, subblock);
    } else if constexpr (std::is_invocable_v<Function &, uint32_t>) {
        function(block);
    } else {
        function();
    }
}

} // namespace pto_model

// Runs the kernel in a thread for each block and subblock; the first exception of them is thrown again here.
template <typename Stream, typename Function>
inline void LaunchKernelMultiCore(const KernelLaunchOptions &options, Stream, Function function)
{
    const uint32_t blocks = pto_model::BlocksOf(options);
    const uint32_t lanes = options.subblocks_per_block == 0 ? 1 : options.subblocks_per_block;
    std::atomic<bool> isCancelled{false};
    pto_model::Meeting meeting(blocks * lanes);
    std::exception_ptr first;
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (uint32_t n = 0; n < blocks * lanes; ++n) {
        threads.emplace_back([&, n] {
            pto_model::Context &context = pto_model::Current();
            context.blockCount = blocks;
            context.isCancelled = &isCancelled;
            context.meeting = &meeting;
            context.meet = pto_model::Meeting::Meet;
            set_execution_context(n / lanes, n % lanes, lanes);
            try {
                pto_model::CallKernel(function, n / lanes, n % lanes);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(mutex);
                first = first ? first : std::current_exception();
                isCancelled = true;
            }
            meeting.End();
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    if (first) {
        std::rethrow_exception(first);
    }
}

// Traces of instructions are made by `tessera trace`; here there are none.
constexpr bool kInstructionTraceEnabled = false;

struct InstructionTraceRecord {
    std::string name;
};

inline void ResetInstructionTrace() {}
inline std::vector<InstructionTraceRecord> CopyInstructionTraceRecords() { return {}; }
template <typename Stream>
inline void DumpInstructionTraceJson(Stream &out)
{
    out << "[]\n";
}

} // namespace cpu_sim
} // namespace pto

#endif
