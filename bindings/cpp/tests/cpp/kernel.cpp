// The kernel of docs/cpp.md.
#include <pto/pto-inst.hpp>

#include <cstdio>

using namespace pto;

// Transposes a 16 × 64 matrix in global memory.
AICORE void transpose(float *out, float *in)
{
    using In = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
    using Out = GlobalTensor<float, Shape<1, 1, 1, 64, 16>, Stride<1024, 1024, 1024, 16, 1>>;
    Tile<TileType::Vec, float, 16, 64> src;
    Tile<TileType::Vec, float, 64, 16> dst;
    TLOAD(src, In(in));
    TTRANS(dst, src);
    TSTORE(Out(out), dst);
}

int main()
{
    static float in[16][64], out[64][16];
    for (int i = 0; i < 16 * 64; ++i) {
        in[i / 64][i % 64] = static_cast<float>(i);
    }
    transpose(&out[0][0], &in[0][0]);
    std::printf("%g %g\n", out[3][2], in[2][3]);
    return out[3][2] == in[2][3] ? 0 : 1;
}
