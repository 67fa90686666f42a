// Macros and constants of kernels (cpp.md 1).

#ifndef PTO_INST_HPP
#include <pto/pto-inst.hpp>
#elif !defined(PTO_COMMON_CONSTANTS_HPP)
#define PTO_COMMON_CONSTANTS_HPP

#include <cstdio>
#include <cstdlib>

// How device code marks its functions and memories; here everything runs on the host.
#ifndef AICORE
#define AICORE
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef __global__
#define __global__
#endif
#ifndef __gm__
#define __gm__
#endif
#ifdef __CPU_SIM
#ifndef __in__
#define __in__
#endif
#ifndef __out__
#define __out__
#endif
#ifndef __ubuf__
#define __ubuf__
#endif
#ifndef __cbuf__
#define __cbuf__
#endif
#ifndef __ca__
#define __ca__
#endif
#ifndef __cb__
#define __cb__
#endif
#ifndef __cc__
#define __cc__
#endif
#ifndef __fbuf__
#define __fbuf__
#endif
#ifndef __biasbuf__
#define __biasbuf__
#endif
#ifndef __tf__
#define __tf__
#endif
#if !defined(__DAV_CUBE__) && !defined(__DAV_VEC__)
#define __DAV_CUBE__
#define __DAV_VEC__
#endif
#ifndef OP_NAME
#define OP_NAME(x)
#endif
#ifndef OP_TYPE
#define OP_TYPE(x)
#endif
#ifndef __cce_get_tile_ptr
#define __cce_get_tile_ptr(x) x
#endif
#ifndef set_mask_norm
#define set_mask_norm(...)
#endif
#ifndef set_vector_mask
#define set_vector_mask(...)
#endif
#define EVENT_ID0 0
#define EVENT_ID1 1
#define EVENT_ID2 2
#define EVENT_ID3 3
#define EVENT_ID4 4
#define EVENT_ID5 5
#define EVENT_ID6 6
#define EVENT_ID7 7
#define EVENT_ID_MAX 8
#define F16_MAX 65504.0f
#define aclFloat16ToFloat(x) (static_cast<float>(x))
#define HcclHostBarrier(x, y)
#define CommMpiInit(x, y) true
#define CommMpiFinalize()
#define SKIP_IF_RANKS_LT(n)

namespace cce {
using std::printf;
} // namespace cce
#endif

#ifndef PTO_INLINE
#define PTO_INLINE inline __attribute__((always_inline))
#endif
#ifndef PTO_INTERNAL
#define PTO_INTERNAL inline __attribute__((always_inline))
#endif
#ifndef PTO_INST
#define PTO_INST inline __attribute__((always_inline))
#endif

#define PTO_STATIC_ASSERT(...) static_assert(__VA_ARGS__)
// At run time: prints and aborts.
#define PTO_CPU_ASSERT(condition, ...)                                                                                   \
    ((condition) ? static_cast<void>(0)                                                                                  \
                 : ::pto::pto_model::AssertionFailed(__FILE__, __LINE__, #condition, ::pto::pto_model::Text(__VA_ARGS__)))

namespace pto {
namespace pto_model {

inline const char *Text() { return ""; }
inline const char *Text(const char *text) { return text; }
template <typename String>
inline const char *Text(const String &text)
{
    return text.c_str();
}

[[noreturn]] inline void AssertionFailed(const char *file, int line, const char *condition, const char *text)
{
    std::fprintf(stderr, "%s:%d: assertion failed: %s%s%s\n", file, line, condition, *text == '\0' ? "" : ": ", text);
    std::abort();
}

} // namespace pto_model

constexpr int DYNAMIC = -1;
constexpr int NUM_1 = 1;
constexpr int NUM_4 = 4;
constexpr int NUM_8 = 8;
constexpr int NUM_12 = 12;
constexpr int NUM_16 = 16;
constexpr int NUM_32 = 32;
constexpr int NUM_64 = 64;
constexpr int NUM_77 = 77;
constexpr int NUM_96 = 96;
constexpr int NUM_128 = 128;
constexpr int NUM_256 = 256;
constexpr int NUM_512 = 512;
constexpr int BLOCK_BYTE_SIZE = 32;
constexpr int C0_SIZE_BYTE = 32;
constexpr int REPEAT_BYTE = 256;
constexpr int BLOCK_LEN = 16;
constexpr int CUBE_BLOCK_SIZE = 512;
constexpr int FRACTAL_NZ_ROW = 16;
constexpr int ACC_C0_SIZE = 16;
constexpr int MX_COL_LEN = 2;
constexpr int MX_ROW_LEN = 16;
constexpr int MX_BLOCK_SIZE = 32;

struct TileConfig {
    static constexpr int fractalABSize = 512;
    static constexpr int fractalCSize = 1024;
    static constexpr int fractalMxSize = 32;
    static constexpr int alignedSize = 32;
};

struct GlobalTensorDim {
    static constexpr int DIM_0 = 0;
    static constexpr int DIM_1 = 1;
    static constexpr int DIM_2 = 2;
    static constexpr int DIM_3 = 3;
    static constexpr int DIM_4 = 4;
    static constexpr int TOTAL_DIM = 5;
};

template <typename TypeA, typename TypeB>
constexpr auto CeilDivision(TypeA a, TypeB b)
{
    return b == 0 ? a : (a + b - 1) / b;
}
template <typename TypeA, typename TypeB>
constexpr auto CeilAlignment(TypeA a, TypeB b)
{
    return b == 0 ? a : (a + b - 1) / b * b;
}

} // namespace pto

#endif
