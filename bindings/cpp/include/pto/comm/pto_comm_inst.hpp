// Communication between ranks whose memory is one process's (cpp.md 6.8): copies, signals and collective operations.
//
// All elements move at once, by the strides of both sides; the tiles that hardware moves them through are not needed.

#ifndef PTO_COMM_PTO_COMM_INST_HPP
#define PTO_COMM_PTO_COMM_INST_HPP

#include <mutex>
#include <thread>

#include <pto/comm/comm_types.hpp>

namespace pto {
namespace comm {
namespace pto_detail {

using pto::pto_detail::IsTile;
using pto::pto_detail::IsView;

template <typename GlobalT>
struct Extents {
    int64_t n[5];
    explicit Extents(const GlobalT &view)
        : n{view.GetShape(0), view.GetShape(1), view.GetShape(2), view.GetShape(3), view.GetShape(4)}
    {}
    int64_t Count() const { return n[0] * n[1] * n[2] * n[3] * n[4]; }
};

// Calls f(indices) for every element.
template <typename GlobalT, typename Function>
inline void ForEach(const GlobalT &view, Function f)
{
    const Extents<GlobalT> e(view);
    int64_t at[5];
    for (at[0] = 0; at[0] < e.n[0]; ++at[0])
        for (at[1] = 0; at[1] < e.n[1]; ++at[1])
            for (at[2] = 0; at[2] < e.n[2]; ++at[2])
                for (at[3] = 0; at[3] < e.n[3]; ++at[3])
                    for (at[4] = 0; at[4] < e.n[4]; ++at[4])
                        f(at);
}

template <typename GlobalT>
inline auto Get(const GlobalT &view, const int64_t (&at)[5])
{
    return view.GetElement(at[0], at[1], at[2], at[3], at[4]);
}
template <typename GlobalT, typename T>
inline void Set(GlobalT &view, const int64_t (&at)[5], T value)
{
    view.SetElement(at[0], at[1], at[2], at[3], at[4], value);
}

template <typename DstT, typename SrcT>
inline bool SameShape(const char *name, const DstT &dst, const SrcT &src)
{
    for (int i = 0; i < 5; ++i) {
        if (dst.GetShape(i) != src.GetShape(i)) {
            pto_model::Fail("gm-bounds", std::string(name) + ": dimension " + std::to_string(i) + " of the views is " +
                                         std::to_string(dst.GetShape(i)) + " and " + std::to_string(src.GetShape(i)) +
                                         ": give both one shape");
            return false;
        }
    }
    return true;
}

template <typename DstT, typename SrcT>
inline void Copy(const char *name, DstT &dst, SrcT &src, AtomicType atomic)
{
    if (!SameShape(name, dst, src)) {
        return;
    }
    ForEach(src, [&](const int64_t(&at)[5]) {
        if (atomic == AtomicType::AtomicAdd) {
            dst.AddToElement(at[0], at[1], at[2], at[3], at[4], Get(src, at));
        } else {
            Set(dst, at, Get(src, at));
        }
    });
}

constexpr bool Holds(WaitCmp cmp, int32_t value, int32_t wanted)
{
    switch (cmp) {
        case WaitCmp::EQ: return value == wanted;
        case WaitCmp::NE: return value != wanted;
        case WaitCmp::GT: return value > wanted;
        case WaitCmp::GE: return value >= wanted;
        case WaitCmp::LT: return value < wanted;
        default: return value <= wanted;
    }
}

template <typename SignalT>
inline int32_t *Address(const SignalT &signal, const int64_t (&at)[5])
{
    int64_t offset = 0;
    for (int i = 0; i < 5; ++i) {
        offset += at[i] * signal.GetStride(i);
    }
    return signal.data() + offset;
}

} // namespace pto_detail

// dst, which may be a remote rank's, becomes src, or has src added.
template <AtomicType atomic = AtomicType::AtomicNone, typename DstT, typename SrcT, typename TileT>
inline std::enable_if_t<pto_detail::IsTile<TileT>> TPUT_IMPL(DstT &&dst, SrcT &&src, TileT &)
{
    pto_detail::Copy("TPUT", dst, src, atomic);
}
template <AtomicType atomic = AtomicType::AtomicNone, typename DstT, typename SrcT, typename TileT, typename OtherT,
          typename... WaitEvents>
inline std::enable_if_t<pto_detail::IsTile<TileT> && pto_detail::IsTile<OtherT>, RecordEvent> TPUT(DstT &&dst, SrcT &&src, TileT &,
                                                                                          OtherT &, WaitEvents &...)
{
    pto_detail::Copy("TPUT", dst, src, atomic);
    return {};
}
template <AtomicType atomic = AtomicType::AtomicNone, typename DstT, typename SrcT, typename TileT, typename... WaitEvents>
inline std::enable_if_t<pto_detail::IsTile<TileT> && all_events_v<WaitEvents...>, RecordEvent> TPUT(DstT &&dst, SrcT &&src,
                                                                                               TileT &, WaitEvents &...)
{
    pto_detail::Copy("TPUT", dst, src, atomic);
    return {};
}
template <typename DstT, typename SrcT, typename TileT>
inline std::enable_if_t<pto_detail::IsTile<TileT>, RecordEvent> TPUT(DstT &&dst, SrcT &&src, TileT &, AtomicType atomic)
{
    pto_detail::Copy("TPUT", dst, src, atomic);
    return {};
}

// dst becomes src, which may be a remote rank's.
template <typename DstT, typename SrcT, typename TileT>
inline std::enable_if_t<pto_detail::IsTile<TileT>> TGET_IMPL(DstT &&dst, SrcT &&src, TileT &)
{
    pto_detail::Copy("TGET", dst, src, AtomicType::AtomicNone);
}
template <typename DstT, typename SrcT, typename TileT, typename... More>
inline std::enable_if_t<pto_detail::IsTile<TileT>, RecordEvent> TGET(DstT &&dst, SrcT &&src, TileT &, More &...)
{
    pto_detail::Copy("TGET", dst, src, AtomicType::AtomicNone);
    return {};
}

template <DmaEngine = DmaEngine::SDMA, typename DstT, typename SrcT>
inline AsyncEvent TPUT_ASYNC(DstT &&dst, SrcT &&src, const AsyncSession &, uint32_t = 0)
{
    pto_detail::Copy("TPUT_ASYNC", dst, src, AtomicType::AtomicNone);
    return {true};
}
template <DmaEngine = DmaEngine::SDMA, typename DstT, typename SrcT>
inline AsyncEvent TGET_ASYNC(DstT &&dst, SrcT &&src, const AsyncSession &, uint32_t = 0)
{
    pto_detail::Copy("TGET_ASYNC", dst, src, AtomicType::AtomicNone);
    return {true};
}

// Sets every element of a signal, or adds to it.
template <typename SignalT>
inline void TNOTIFY_IMPL(SignalT &&signal, int32_t value, NotifyOp op)
{
    pto_detail::ForEach(signal, [&](const int64_t(&at)[5]) {
        int32_t *word = pto_detail::Address(signal, at);
        if (op == NotifyOp::AtomicAdd) {
            __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
        } else {
            __atomic_store_n(word, value, __ATOMIC_RELEASE);
        }
    });
}
template <typename SignalT, typename... WaitEvents>
inline void TNOTIFY(SignalT &&signal, int32_t value, NotifyOp op, WaitEvents &...)
{
    TNOTIFY_IMPL(signal, value, op);
}

// Do all elements of a signal compare so?
template <typename SignalT>
inline bool TTEST_IMPL(SignalT &&signal, int32_t value, WaitCmp cmp)
{
    bool all = true;
    pto_detail::ForEach(signal, [&](const int64_t(&at)[5]) {
        all = all && pto_detail::Holds(cmp, __atomic_load_n(pto_detail::Address(signal, at), __ATOMIC_ACQUIRE), value);
    });
    return all;
}
template <typename SignalT, typename... WaitEvents>
inline bool TTEST(SignalT &&signal, int32_t value, WaitCmp cmp, WaitEvents &...)
{
    return TTEST_IMPL(signal, value, cmp);
}

// Waits until they do; gives up after PTO_CPU_SIM_TWAIT_MAX_SPINS looks, 0 being never.
template <typename SignalT>
inline void TWAIT_IMPL(SignalT &&signal, int32_t value, WaitCmp cmp)
{
    const uint64_t most = cpu_sim::pto_model::Environment("PTO_CPU_SIM_TWAIT_MAX_SPINS", 100000);
    for (uint64_t spins = 0; !TTEST_IMPL(signal, value, cmp); ++spins) {
        if ((most != 0 && spins >= most) || cpu_sim::pto_model::IsCancelled()) {
            pto_model::Fail("deadlock", "TWAIT: the signal did not become what is waited for in " + std::to_string(spins) +
                                        " looks (PTO_CPU_SIM_TWAIT_MAX_SPINS)");
            return;
        }
        std::this_thread::yield();
    }
}
template <typename SignalT, typename... WaitEvents>
inline void TWAIT(SignalT &&signal, int32_t value, WaitCmp cmp, WaitEvents &...)
{
    TWAIT_IMPL(signal, value, cmp);
}

// Every rank gets what the root has.
template <typename GlobalT, typename SrcT>
inline void TBROADCAST_IMPL(ParallelGroup<GlobalT> &group, SrcT &src)
{
    for (int rank = 0; rank < group.GetSize(); ++rank) {
        pto_detail::Copy("TBROADCAST", group[rank], src, AtomicType::AtomicNone);
    }
}
template <typename GlobalT, typename SrcT, typename TileT, typename... More>
inline std::enable_if_t<pto_detail::IsTile<TileT>, RecordEvent> TBROADCAST(ParallelGroup<GlobalT> &group, SrcT &&src, TileT &,
                                                                      More &...)
{
    TBROADCAST_IMPL(group, src);
    return {};
}

namespace pto_detail {

// Calls f(rank, indices of the rank's element, indices in the whole): ranks follow each other in dimension 3.
template <typename GlobalT, typename WholeT, typename Function>
inline void ForEachPart(const char *name, ParallelGroup<GlobalT> &group, const WholeT &whole, Function f)
{
    int64_t row = 0;
    for (int rank = 0; rank < group.GetSize(); ++rank) {
        const int64_t rows = group[rank].GetShape(3);
        if (row + rows > whole.GetShape(3)) {
            pto_model::Fail("gm-bounds", std::string(name) + ": rank " + std::to_string(rank) + " has rows " +
                                         std::to_string(row) + " to " + std::to_string(row + rows) +
                                         ", and the whole has " + std::to_string(whole.GetShape(3)));
            return;
        }
        ForEach(group[rank], [&](const int64_t(&at)[5]) {
            const int64_t there[5] = {at[0], at[1], at[2], at[3] + row, at[4]};
            f(rank, at, there);
        });
        row += rows;
    }
}

} // namespace pto_detail

// The rows of all ranks, one after the other.
template <typename GlobalT, typename DstT, typename TileT, typename... More>
inline std::enable_if_t<pto_detail::IsTile<TileT>, RecordEvent> TGATHER(ParallelGroup<GlobalT> &group, DstT &&dst, TileT &,
                                                                   More &...)
{
    pto_detail::ForEachPart("TGATHER", group, dst, [&](int rank, const int64_t(&at)[5], const int64_t(&there)[5]) {
        pto_detail::Set(dst, there, pto_detail::Get(group[rank], at));
    });
    return {};
}

// Every rank gets its rows.
template <typename GlobalT, typename SrcT, typename TileT, typename... More>
inline std::enable_if_t<pto_detail::IsTile<TileT>, RecordEvent> TSCATTER(ParallelGroup<GlobalT> &group, SrcT &&src, TileT &,
                                                                    More &...)
{
    pto_detail::ForEachPart("TSCATTER", group, src, [&](int rank, const int64_t(&at)[5], const int64_t(&there)[5]) {
        pto_detail::Set(group[rank], at, pto_detail::Get(src, there));
    });
    return {};
}

// The elements of all ranks together: the root's first, then the others in the order of the ranks (isa/comm.md 3).
template <typename GlobalT, typename DstT>
inline void TREDUCE_IMPL(ParallelGroup<GlobalT> &group, DstT &dst, ReduceOp op)
{
    for (int rank = 0; rank < group.GetSize(); ++rank) {
        if (!pto_detail::SameShape("TREDUCE", dst, group[rank])) {
            return;
        }
    }
    using T = typename GlobalT::RawDType;
    pto_detail::ForEach(dst, [&](const int64_t(&at)[5]) {
        const int root = group.GetRootIdx();
        T all = pto_detail::Get(group[root], at);
        for (int rank = 0; rank < group.GetSize(); ++rank) {
            if (rank == root) {
                continue;
            }
            const T next = pto_detail::Get(group[rank], at);
            all = op == ReduceOp::Sum ? static_cast<T>(all + next)
                  : op == ReduceOp::Max ? (next > all ? next : all)
                                        : (next < all ? next : all);
        }
        pto_detail::Set(dst, at, all);
    });
}
template <typename GlobalT, typename DstT, typename AccT, typename RecvT>
inline std::enable_if_t<pto_detail::IsTile<AccT> && pto_detail::IsTile<RecvT>> TREDUCE_IMPL(ParallelGroup<GlobalT> &group, DstT &dst,
                                                                                  AccT &, RecvT &, ReduceOp op)
{
    TREDUCE_IMPL(group, dst, op);
}
template <typename GlobalT, typename DstT, typename AccT, typename RecvT, typename... WaitEvents>
inline std::enable_if_t<pto_detail::IsTile<RecvT>, RecordEvent> TREDUCE(ParallelGroup<GlobalT> &group, DstT &&dst, AccT &,
                                                                   RecvT &, ReduceOp op, WaitEvents &...)
{
    TREDUCE_IMPL(group, dst, op);
    return {};
}
template <typename GlobalT, typename DstT, typename AccT, typename RecvT, typename OtherT, typename... WaitEvents>
inline std::enable_if_t<pto_detail::IsTile<OtherT>, RecordEvent> TREDUCE(ParallelGroup<GlobalT> &group, DstT &&dst, AccT &,
                                                                    RecvT &, OtherT &, ReduceOp op, WaitEvents &...)
{
    TREDUCE_IMPL(group, dst, op);
    return {};
}

} // namespace comm

// Found by their arguments too.
inline namespace PTO_PROFILE_NAMESPACE {
using comm::TBROADCAST;
using comm::TGET;
using comm::TGET_ASYNC;
using comm::TNOTIFY;
using comm::TPUT;
using comm::TPUT_ASYNC;
using comm::TREDUCE;
using comm::TTEST;
using comm::TWAIT;
} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
