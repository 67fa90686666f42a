// Programs have names of their own: macros that are there before the header, and types and functions beside `using namespace`.

// Letters and words that programs like to use for sizes and checks.
#define A 1
#define B 2
#define C 3
#define D 4
#define E 5
#define F 6
#define G 7
#define H 8
#define I 9
#define J 10
#define K 11
#define L 12
#define M 13
#define N 14
#define O 15
#define P 16
#define Q 17
#define R 18
#define S 19
#define U 20
#define V 21
#define W 22
#define X 23
#define Y 24
#define Z 25
#define C0 16
#define N0 16
#define ROWS 32
#define COLS 64
#define SIZE 128
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define CHECK(x) ((x) ? 0 : 1)
#define ASSERT(x) CHECK(x)
#define FAIL(x) (x)
#define ERROR 1
#define DEBUG 1
#define ALIGN(x, y) (((x) + (y)-1) / (y) * (y))

#include <pto/pto-inst.hpp>

using namespace std;
using namespace pto;

struct Tile2 {
    int value;
};
struct Error {
    int code;
};
struct Machine {
    int cores;
};
class Call {};
struct Matrix {};
struct Held {};
enum class Status { Ok };
template <typename T>
T min(T a, T b)
{
    return a < b ? a : b;
}
template <typename T>
T max(T a, T b)
{
    return a < b ? b : a;
}
static int ceil_div(int a, int b) { return (a + b - 1) / b; }
static int Print(int x) { return x; }
static int Load(int x) { return x; }
static int Store(int x) { return x; }
static int Where(int x) { return x; }
static int Assign(int x) { return x; }
static int Reset() { return 0; }
static int device = 0, elements = 0, debug = 0;
namespace detail {
static int Fail() { return 1; }
} // namespace detail
namespace model {
static int Fail() { return 2; }
} // namespace model

template <typename T, int kRows, int kCols>
AICORE void runTADD(__gm__ T __out__ *out, __gm__ T __in__ *src0, __gm__ T __in__ *src1)
{
    using GlobalData = GlobalTensor<T, pto::Shape<1, 1, 1, kRows, kCols>, pto::Stride<1, 1, 1, kCols, 1>>;
    using TileData = Tile<TileType::Vec, T, kRows, kCols, BLayout::RowMajor, -1, -1>;
    TileData a(kRows, kCols), b(kRows, kCols), sum(kRows, kCols);
    TASSIGN(a, 0x0);
    TASSIGN(b, 0x4000);
    TASSIGN(sum, 0x8000);
    GlobalData src0Global(src0), src1Global(src1), dstGlobal(out);
    TLOAD(a, src0Global);
    TLOAD(b, src1Global);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(sum, a, b);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(dstGlobal, sum);
}

int main()
{
    Tile2 tile{ceil_div(SIZE, ROWS)};
    ::Error error{detail::Fail()};
    Machine machine{model::Fail()};
    vector<float> x(ROWS * COLS, 1.5f), y(ROWS * COLS, 2.5f), z(ROWS * COLS);
    runTADD<float, ROWS, COLS>(z.data(), x.data(), y.data());
    int own = Print(1) + Load(2) + Store(3) + Where(4) + Assign(5) + tile.value + error.code + machine.cores;
    own += Reset() + device + elements + debug;
    const bool isRight = z[0] == 4.0f && z[ROWS * COLS - 1] == 4.0f && own == 22 && ::max(::min(3, 4), 2) == 3;
    printf("names: %s\n", isRight ? "ok" : "FAILED");
    return isRight && static_cast<int>(Status::Ok) == 0 ? 0 : 1;
}
