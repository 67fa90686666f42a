// One mistake for each tool of `tessera sanitize`, with the tool's name in its line.
#include <pto/pto-inst.hpp>

#include <cstdio>

using namespace pto;

AICORE static void Kernel(float *x, float *y)
{
    using Part = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
    Tile<TileType::Vec, float, 16, 64> a, b, c;
    TASSIGN(a, 0x0);
    TASSIGN(b, 0x1000);
    TASSIGN(c, 0x2000);
    TASSIGN(c, 0x2001); // memcheck
    Part gx(x), gy(y);
    TLOAD(a, gx);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1); // synccheck
    TADD(c, a, b);
    TSTORE(gy, c); // racecheck, initcheck
}

int main()
{
    static float x[1024], y[1024];
    Kernel(x, y);
    std::printf("the kernel has run\n");
}
