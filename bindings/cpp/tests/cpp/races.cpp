// Kernels whose order is judged: `races KERNEL [N]` runs one, without its N-th pair of a set and a wait (or its N-th barrier). A
// kernel says how many it has with `races KERNEL count`.
#include <pto/common/cross_core.hpp>
#include <pto/common/fifo.hpp>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

using namespace pto;

static int dropped = -1;
static int pairs = 0;

// The pair of this number is there. All numbers of a kernel are used in every run.
static bool Has(int n)
{
    pairs = n + 1 > pairs ? n + 1 : pairs;
    return n != dropped;
}
#define SET(n, from, to, id) (Has(n) ? set_flag(from, to, id) : void())
#define WAIT(n, from, to, id) (Has(n) ? wait_flag(from, to, id) : void())
#define BARRIER(n, pipe) (Has(n) ? pipe_barrier(pipe) : void())

constexpr int kSize = 32, kSteps = 6;
using Operand = Tile<TileType::Mat, half, kSize, kSize, BLayout::ColMajor, kSize, kSize, SLayout::RowMajor>;
using A = TileLeft<half, kSize, kSize>;
using B = TileRight<half, kSize, kSize>;
using C = TileAcc<float, kSize, kSize>;
using V = Tile<TileType::Vec, float, kSize, kSize>;
template <typename T>
using Matrix = GlobalTensor<T, Shape<1, 1, 1, kSize, kSize>, Stride<kSize * kSize, kSize * kSize, kSize * kSize, kSize, 1>>;

static std::vector<half> Halves(int count) { return std::vector<half>(static_cast<std::size_t>(count), half(1.0f)); }

// C = the sum of A[k] × B[k], with two buffers for the loads and two for the operands of the product.
static void Gemm()
{
    static std::vector<half> a = Halves(kSteps * kSize * kSize), b = a;
    static std::vector<float> c(kSize * kSize);
    C acc;
    TASSIGN(acc, 0);
    for (int i = 0; i < 2; ++i) {
        SET(0, PIPE_MTE1, PIPE_MTE2, i);
        SET(1, PIPE_M, PIPE_MTE1, i);
    }
    for (int k = 0; k < kSteps; ++k) {
        const int turn = k % 2;
        Operand l1a, l1b;
        A l0a;
        B l0b;
        TASSIGN(l1a, turn * 0x2000);
        TASSIGN(l1b, 0x8000 + turn * 0x2000);
        TASSIGN(l0a, turn * 0x2000);
        TASSIGN(l0b, turn * 0x2000);
        Matrix<half> ga(a.data() + k * kSize * kSize), gb(b.data() + k * kSize * kSize);
        WAIT(0, PIPE_MTE1, PIPE_MTE2, turn);
        TLOAD(l1a, ga);
        TLOAD(l1b, gb);
        SET(2, PIPE_MTE2, PIPE_MTE1, turn);
        WAIT(2, PIPE_MTE2, PIPE_MTE1, turn);
        WAIT(1, PIPE_M, PIPE_MTE1, turn);
        TMOV(l0a, l1a);
        TMOV(l0b, l1b);
        SET(0, PIPE_MTE1, PIPE_MTE2, turn);
        SET(3, PIPE_MTE1, PIPE_M, turn);
        WAIT(3, PIPE_MTE1, PIPE_M, turn);
        if (k == 0) {
            TMATMUL(acc, l0a, l0b);
        } else {
            TMATMUL_ACC(acc, acc, l0a, l0b);
        }
        SET(1, PIPE_M, PIPE_MTE1, turn);
    }
    for (int i = 0; i < 2; ++i) {
        WAIT(0, PIPE_MTE1, PIPE_MTE2, i);
        WAIT(1, PIPE_M, PIPE_MTE1, i);
    }
    SET(4, PIPE_M, PIPE_FIX, 0);
    WAIT(4, PIPE_M, PIPE_FIX, 0);
    Matrix<float> gc(c.data());
    TSTORE(gc, acc);
}

// The cube core pushes products, a vector core pops them, doubles them and stores them.
using Ring = TPipe<3, DIR_C2V, kSize * kSize * 4, 2>;

static void Cube(half *a, half *b)
{
    Ring ring(nullptr, 0x10000, 0);
    Operand l1a, l1b;
    A l0a;
    B l0b;
    C acc;
    TASSIGN(l1a, 0);
    TASSIGN(l1b, 0x8000);
    TASSIGN(l0a, 0);
    TASSIGN(l0b, 0);
    TASSIGN(acc, 0);
    Matrix<half> gb(b);
    TLOAD(l1b, gb);
    SET(0, PIPE_MTE1, PIPE_MTE2, 0);
    SET(1, PIPE_FIX, PIPE_M, 0);
    SET(2, PIPE_M, PIPE_MTE1, 0);
    for (int k = 0; k < kSteps; ++k) {
        Matrix<half> ga(a + k * kSize * kSize);
        WAIT(0, PIPE_MTE1, PIPE_MTE2, 0);
        TLOAD(l1a, ga);
        SET(3, PIPE_MTE2, PIPE_MTE1, 0);
        WAIT(3, PIPE_MTE2, PIPE_MTE1, 0);
        WAIT(2, PIPE_M, PIPE_MTE1, 0);
        TMOV(l0a, l1a);
        TMOV(l0b, l1b);
        SET(0, PIPE_MTE1, PIPE_MTE2, 0);
        SET(4, PIPE_MTE1, PIPE_M, 0);
        WAIT(4, PIPE_MTE1, PIPE_M, 0);
        WAIT(1, PIPE_FIX, PIPE_M, 0);
        TMATMUL(acc, l0a, l0b);
        SET(2, PIPE_M, PIPE_MTE1, 0);
        SET(5, PIPE_M, PIPE_FIX, 0);
        WAIT(5, PIPE_M, PIPE_FIX, 0);
        TPUSH<Ring, C, TILE_NO_SPLIT>(ring, acc);
        SET(1, PIPE_FIX, PIPE_M, 0);
    }
    WAIT(0, PIPE_MTE1, PIPE_MTE2, 0);
    WAIT(1, PIPE_FIX, PIPE_M, 0);
    WAIT(2, PIPE_M, PIPE_MTE1, 0);
}

static void Vector(float *c)
{
    Ring ring(nullptr, 0x10000, 0);
    V out;
    TASSIGN(out, 0);
    SET(6, PIPE_MTE3, PIPE_V, 0);
    for (int k = 0; k < kSteps; ++k) {
        V popped;
        Matrix<float> gc(c + k * kSize * kSize);
        TPOP<Ring, V, TILE_NO_SPLIT>(ring, popped);
        WAIT(6, PIPE_MTE3, PIPE_V, 0);
        TMULS(out, popped, 2.0f);
        TFREE<Ring, TILE_NO_SPLIT>(ring);
        SET(7, PIPE_V, PIPE_MTE3, 0);
        WAIT(7, PIPE_V, PIPE_MTE3, 0);
        TSTORE(gc, out);
        SET(6, PIPE_MTE3, PIPE_V, 0);
    }
    WAIT(6, PIPE_MTE3, PIPE_V, 0);
}

static void Fifo()
{
    static std::vector<half> a = Halves(kSteps * kSize * kSize), b = a;
    static std::vector<float> c(kSteps * kSize * kSize);
    Ring::reset_for_cpu_sim();
    std::thread cube([] { Cube(a.data(), b.data()); });
    std::thread vector([] { Vector(c.data()); });
    cube.join();
    vector.join();
}

// Vector cores prepare an operand in global memory, the cube core loads it: tokens between cores, numbers 0 to 2 of which are dropped
// on the vector core's side and on its own.
static void Prepare(float *from, float *to)
{
#undef __DAV_CUBE__
#undef __DAV_VEC__
#define __DAV_VEC__
    V in, out;
    TASSIGN(in, 0);
    TASSIGN(out, 0x4000);
    Matrix<float> gin(from), gout(to);
    TLOAD(in, gin);
    SET(0, PIPE_MTE2, PIPE_V, 0);
    WAIT(0, PIPE_MTE2, PIPE_V, 0);
    TADDS(out, in, 1.0f);
    SET(1, PIPE_V, PIPE_MTE3, 0);
    WAIT(1, PIPE_V, PIPE_MTE3, 0);
    TSTORE(gout, out);
    if (Has(2)) {
        set_intra_block(PIPE_MTE3, 0);
    }
}

static void Consume(float *from)
{
#undef __DAV_CUBE__
#undef __DAV_VEC__
#define __DAV_CUBE__
    using Loaded = Tile<TileType::Mat, float, kSize, kSize, BLayout::ColMajor, kSize, kSize, SLayout::RowMajor>;
    Loaded l1;
    TileLeft<float, kSize, kSize> l0;
    TASSIGN(l1, 0);
    TASSIGN(l0, 0);
    Matrix<float> gin(from);
    set_intra_block(PIPE_S, 5);
    if (Has(2)) {
        wait_intra_block(PIPE_MTE2, 0);
    }
    TLOAD(l1, gin);
    SET(3, PIPE_MTE2, PIPE_MTE1, 0);
    WAIT(3, PIPE_MTE2, PIPE_MTE1, 0);
    TMOV(l0, l1);
}

static void Last()
{
#undef __DAV_VEC__
#define __DAV_VEC__
#undef __DAV_CUBE__
    wait_intra_block(PIPE_S, 5);
#define __DAV_CUBE__
}

static void Mixed()
{
    static std::vector<float> from(kSize * kSize), middle(kSize * kSize);
    std::thread vector([] {
        Prepare(from.data(), middle.data());
        Last();
    });
    std::thread cube([] { Consume(middle.data()); });
    vector.join();
    cube.join();
}

// A loop ordered by buffer tokens, and by a barrier at its end.
static void Tokens()
{
    static std::vector<float> x(kSteps * kSize * kSize), y(kSteps * kSize * kSize);
    const auto take = [](int n, pipe_t pipe, int id) { Has(n) ? get_buf(pipe, id, 0) : void(); };
    const auto give = [](int n, pipe_t pipe, int id) { Has(n) ? rls_buf(pipe, id, 0) : void(); };
    for (int k = 0; k < kSteps; ++k) {
        V in, out;
        TASSIGN(in, 0);
        TASSIGN(out, 0x4000);
        Matrix<float> gx(x.data() + k * kSize * kSize), gy(y.data() + k * kSize * kSize);
        take(0, PIPE_MTE2, 0);
        TLOAD(in, gx);
        give(0, PIPE_MTE2, 0);
        take(0, PIPE_V, 0);
        take(1, PIPE_V, 1);
        TADDS(out, in, 1.0f);
        give(0, PIPE_V, 0);
        give(1, PIPE_V, 1);
        take(1, PIPE_MTE3, 1);
        TSTORE(gy, out);
        give(1, PIPE_MTE3, 1);
        // This one reads what the next round loads.
        TSTORE(gx, in);
        BARRIER(2, PIPE_ALL);
    }
}

// Order by events: without the operand the instruction does not wait.
static void Events()
{
    static std::vector<float> x(kSize * kSize), y(kSize * kSize);
    V a, b, out;
    TASSIGN(a, 0);
    TASSIGN(b, 0x4000);
    TASSIGN(out, 0x8000);
    Matrix<float> gx(x.data()), gy(y.data());
    Event<Op::TLOAD, Op::TADD> loaded;
    Event<Op::TADD, Op::TSTORE_VEC> added;
    Event<Op::TSTORE_VEC, Op::TLOAD> stored;
    for (int k = 0; k < kSteps; ++k) {
        TLOAD(a, gx);
        loaded = TLOAD(b, gx);
        Has(0) ? added = TADD(out, a, b, loaded) : added = TADD(out, a, b);
        Has(1) ? TSTORE(gy, out, added) : TSTORE(gy, out);
        stored.Record();
        Has(2) ? TSYNC(stored) : void();
    }
}

int main(int argc, char **argv)
{
    const bool counts = argc > 2 && std::strcmp(argv[2], "count") == 0;
    dropped = argc > 2 && !counts ? std::atoi(argv[2]) : -1;
    const struct {
        const char *name;
        void (*run)();
    } kernels[] = {{"gemm", Gemm}, {"fifo", Fifo}, {"mixed", Mixed}, {"tokens", Tokens}, {"events", Events}};
    for (const auto &kernel : kernels) {
        if (argc > 1 && std::strcmp(argv[1], kernel.name) == 0) {
            kernel.run();
            counts ? static_cast<void>(std::printf("%d\n", pairs)) : void();
            return 0;
        }
    }
    return 2;
}
