// Communication between ranks whose memory is one process's (cpp.md 6.8).
#include <pto/comm/comm_types.hpp>
#include <pto/comm/pto_comm_inst.hpp>

#include "expect.hpp"

using namespace pto;

using G = GlobalTensor<float, Shape<1, 1, 1, 4, 8>, Stride<32, 32, 32, 8, 1>>;
using Wide = GlobalTensor<float, Shape<1, 1, 1, 4, 8>, Stride<64, 64, 64, 16, 1>>;
using T = Tile<TileType::Vec, float, 4, 8>;

static std::vector<float> Counted(int n, float from)
{
    std::vector<float> all(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
        all[static_cast<std::size_t>(i)] = from + static_cast<float>(i);
    }
    return all;
}

static void Copies()
{
    std::vector<float> here = Counted(32, 1.0f), there(64);
    G src(here.data());
    Wide dst(there.data());
    T staging, second;
    comm::TPUT(dst, src, staging);
    EXPECT(there[16] == 9.0f && there[8] == 0.0f && there[3 * 16 + 7] == 32.0f);
    comm::TPUT<AtomicType::AtomicAdd>(dst, src, staging);
    TPUT(dst, src, staging, AtomicType::AtomicAdd);
    EXPECT(there[16] == 27.0f);
    comm::TPUT(dst, src, staging, second);
    comm::TPUT_IMPL(dst, src, staging);
    std::vector<float> back(32);
    G got(back.data());
    TGET(got, dst, staging);
    EXPECT(back == here);
    const comm::AsyncSession session;
    const comm::AsyncEvent done = TPUT_ASYNC<comm::DmaEngine::SDMA>(dst, got, session);
    EXPECT(done.valid() && done.Wait(session) && done.Test(session) && TGET_ASYNC(got, dst, session, 1).valid());
    GlobalTensor<float, Shape<1, 1, 1, 2, 8>, Stride<16, 16, 16, 8, 1>> small(back.data());
    EXPECT_RULE("gm-bounds", comm::TPUT(small, src, staging));
}

static void Signals()
{
    int32_t word = 0, matrix[2 * 4] = {};
    comm::Signal signal(&word);
    TNOTIFY(signal, 5, comm::NotifyOp::Set);
    comm::TNOTIFY(signal, 2, comm::NotifyOp::AtomicAdd);
    EXPECT(word == 7 && TTEST(signal, 7, comm::WaitCmp::EQ) && !TTEST(signal, 7, comm::WaitCmp::GT));
    EXPECT(TTEST(signal, 6, comm::WaitCmp::NE) && TTEST(signal, 7, comm::WaitCmp::GE) && TTEST(signal, 8, comm::WaitCmp::LT));
    comm::Signal2D<2, 3> many(matrix, 4);
    TNOTIFY(many, 1, comm::NotifyOp::Set);
    EXPECT(matrix[0] == 1 && matrix[6] == 1 && matrix[3] == 0 && TTEST(many, 1, comm::WaitCmp::EQ));
    matrix[5] = 0;
    EXPECT(!TTEST(many, 1, comm::WaitCmp::EQ));
    std::thread late([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        comm::TNOTIFY(signal, 9, comm::NotifyOp::Set);
    });
    setenv("PTO_CPU_SIM_TWAIT_MAX_SPINS", "0", 1);
    TWAIT(signal, 9, comm::WaitCmp::EQ);
    late.join();
    setenv("PTO_CPU_SIM_TWAIT_MAX_SPINS", "10", 1);
    EXPECT_RULE("deadlock", TWAIT(signal, 1, comm::WaitCmp::EQ));
}

static void Collectives()
{
    std::vector<std::vector<float>> memory;
    std::vector<G> views;
    for (int rank = 0; rank < 3; ++rank) {
        memory.push_back(Counted(32, 100.0f * static_cast<float>(rank)));
    }
    for (std::vector<float> &m : memory) {
        views.emplace_back(m.data());
    }
    auto group = comm::ParallelGroup<G>::Create(views.data(), 3, 0);
    EXPECT(group.GetSize() == 3 && group.GetRootIdx() == 0 && group[2].data() == memory[2].data());
    T acc, recv, more;
    std::vector<float> all(96), sum(32);
    GlobalTensor<float, Shape<1, 1, 1, 12, 8>, Stride<96, 96, 96, 8, 1>> whole(all.data());
    G result(sum.data());
    TGATHER(group, whole, acc);
    EXPECT(all[0] == 0.0f && all[32] == 100.0f && all[95] == 231.0f);
    TREDUCE(group, result, acc, recv, comm::ReduceOp::Sum);
    EXPECT(sum[1] == 303.0f);
    TREDUCE(group, result, acc, recv, more, comm::ReduceOp::Max);
    EXPECT(sum[1] == 201.0f);
    comm::TREDUCE_IMPL(group, result, acc, recv, comm::ReduceOp::Min);
    EXPECT(sum[1] == 1.0f);
    for (float &v : all) {
        v += 0.5f;
    }
    TSCATTER(group, whole, acc, recv);
    EXPECT(memory[1][3] == 103.5f);
    TBROADCAST(group, result, acc);
    EXPECT(memory[2] == sum && memory[0] == sum);
    EXPECT_RULE("gm-bounds", TGATHER(group, result, acc));
}

int main()
{
    Copies();
    Signals();
    Collectives();
    return Finish("communication");
}
