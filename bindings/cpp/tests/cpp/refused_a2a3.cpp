// Does not compile on a2a3: each line marked "refused" names the rule that refuses it.

#define PTO_PROFILE_A2A3
#include <pto/pto-inst.hpp>

using namespace pto;

using Vec = Tile<TileType::Vec, float, 16, 64>;
using VecNz = Tile<TileType::Vec, half, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor>;
using Mat = Tile<TileType::Mat, half, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor>;
using MatByte = Tile<TileType::Mat, uint8_t, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor>;
using MatNd = Tile<TileType::Mat, half, 16, 32>;
using Acc = TileAcc<float, 16, 32>;

void Refused(Vec &v, VecNz &n, Mat &m, MatByte &b, MatNd &nd, Acc &a, Tile<TileType::Vec, uint64_t, 1, 32> &notFp)
{
    TINSERT(m, n, 0, 0);                                              // refused: tinsert-loc
    TINSERT(nd, a, 0, 0);                                             // refused: tinsert-layout
    TINSERT(b, a, 0, 0);                                              // refused: tinsert-dtype
    TINSERT_FP(b, a, notFp, 0, 0);                                    // refused: fp-operand
    TMOV(m, n);                                                       // refused: tmov-loc
    TInterleave(v, v, v, v);                                          // refused: tinterleave-profile
    TPACK(v, v);                                                      // refused: tpack-profile tpack-size
    Tile<TileType::Vec, float, 64, 16, BLayout::ColMajor> dn;
    TTRANS(v, dn);                                                    // refused: ttrans-layout
    Tile<TileType::Vec, int64_t, 16, 16> wide;
    TTRANS(wide, wide);                                               // refused: ttrans-dtype
    TCONCAT<0>(v, v, v);                                              // refused: tconcat-dim
    Tile<TileType::Vec, float8_e4m3_t, 16, 32> fp8;                   // refused: tile-dtype
    Tile<TileType::ScaleLeft, uint8_t, 16, 2, BLayout::RowMajor, 16, 2, SLayout::RowMajor, 32> scale; // refused: tile-loc
    Tile<TileType::Vec, float, 256, 256> large;                       // refused: tile-size
    DenseConvTile<TileType::Mat, float8_e5m2_t, Layout::NC1HWC0, 1, 1, 4, 4, 32> image; // refused: tile-dtype
    TADD(n, n, n);                                                    // refused: tadd-layout
    TADD(nd, nd, nd);                                                 // refused: tadd-loc
    TADD(wide, wide, wide);                                           // refused: tadd-dtype
    TROWSUM(v, a);                                                    // refused: trowsum-loc
    TMATMUL(a, m, m);                                                 // refused: tmatmul-loc
    TGATHER(v, v, v, v);                                              // refused: tgather-dtype
}

// What the page's examples need is legal here.
void Legal(Mat &m, Acc &a, Vec &v, Tile<TileType::Vec, float, 64, 16> &t)
{
    TINSERT(m, a, 0, 0);
    TINSERT<Mat, Acc, ReluPreMode::NormalRelu>(m, a, 0, 0);
    TTRANS(t, v);
    TADD(v, v, v);
    TROWSUM(v, v, v);
    static_assert(!TileLeft<half, 16, 16>::isBoxedLayout || TileLeft<half, 16, 16>::isRowMajor);
}
