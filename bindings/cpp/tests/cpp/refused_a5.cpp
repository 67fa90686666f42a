// Does not compile on a5: each line marked "refused" names the rule that refuses it.

#define PTO_NPU_ARCH_A5
#include <pto/pto-inst.hpp>

using namespace pto;

using Vec = Tile<TileType::Vec, float, 16, 64>;
using VecNz = Tile<TileType::Vec, half, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor>;
using VecWide = Tile<TileType::Vec, half, 16, 64, BLayout::ColMajor, 16, 32, SLayout::RowMajor>;
using Mat = Tile<TileType::Mat, half, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor>;
using Left = TileLeft<half, 16, 32>;

void Refused(Vec &v, VecNz &n, VecWide &w, Mat &m, Left &l)
{
    TINSERT(n, v, 0, 0);                                              // refused: tinsert-layout
    TINSERT(n, w, 0, 0);                                              // refused: tinsert-cols
    TINSERT<TInsertMode::SPLIT2>(n, n);                               // refused: tinsert-loc
    TMOV(n, m);                                                       // refused: tmov-loc
    TEXTRACT(m, l, 0, 0);                                             // refused: textract-loc
    Tile<TileType::Vec, int64_t, 16, 64> wide;
    TInterleave(wide, wide, wide, wide);                              // refused: tinterleave-dtype
    TInterleave(n, n, n, n);                                          // refused: tinterleave-layout
    Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 16, 63> odd;
    TInterleave(odd, odd, odd, odd);                                  // refused: tinterleave-even
    Tile<TileType::Vec, float, 8, 64> less;
    TRESHAPE(less, v);                                                // refused: treshape-bytes
    TRESHAPE(n, v);                                                   // refused: treshape-box treshape-bytes
    TRESHAPE(m, n);                                                   // refused: treshape-loc
    TTRANS(n, n);                                                     // refused: ttrans-layout
    Tile<TileType::Vec, half, 64, 16> narrow;
    TTRANS(narrow, v);                                                // refused: ttrans-size
    TFILLPAD(v, v);                                                   // refused: tfillpad-pad
    TFILLPAD(l, 0);                                                   // refused: tfillpad-loc
    TASSIGN<0x10>(v);                                                 // refused: tassign-align
    float *data = nullptr;
    TLOAD(n, GlobalTensor<float, Shape<16, 32>, Stride<32, 1>>(data)); // refused: tload-layout
    TSTORE(GlobalTensor<half, Shape<16, 64>, Stride<64, 1>>(nullptr), v); // refused: tstore-dtype
    Tile<TileType::Vec, float, 16, 3> short3;                         // refused: tile-align
    Tile<TileType::Vec, float, 0, 8> none;                            // refused: tile-shape
    Tile<TileType::Vec, float4_e2m1x2_t, 16, 64, BLayout::RowMajor, 16, 63> fp4; // refused: tile-fp4
    Tile<TileType::Mat, half, 16, 24, BLayout::ColMajor, 16, 24, SLayout::RowMajor> boxCols; // refused: tile-box-cols
    Tile<TileType::Mat, half, 24, 32, BLayout::ColMajor, 24, 32, SLayout::RowMajor> boxRows; // refused: tile-box-rows
    Tile<TileType::Mat, half, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor, 256> fractal; // refused: tile-fractal
}
