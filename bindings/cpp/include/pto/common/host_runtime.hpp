// Stand-ins for the host's runtime, for programs that are built with __CPU_SIM (cpp.md 2). Device memory is the heap.

#ifndef PTO_COMMON_HOST_RUNTIME_HPP
#define PTO_COMMON_HOST_RUNTIME_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <pto/common/cpu_stub.hpp>

namespace pto {
inline namespace pto_device {

using aclrtStream = void *;

enum {
    ACL_MEM_MALLOC_HUGE_FIRST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 0,
    ACL_MEMCPY_DEVICE_TO_HOST = 1,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 2,
};

constexpr int kAclInvalidParameter = 145000;

inline int aclInit(const char *)
{
    // The environment is read again.
    cpu_sim::pto_model::CoreCount() = 0;
    cpu_sim::pto_model::ConfiguredCores();
    return 0;
}
inline int aclFinalize() { return 0; }
inline int aclrtSetDevice(int) { return 0; }
inline int aclrtResetDevice(int) { return 0; }

inline int aclrtCreateStream(aclrtStream *stream)
{
    static char handle;
    *stream = &handle;
    return 0;
}
inline int aclrtDestroyStream(aclrtStream) { return 0; }
// The host waits until the kernels of the stream are done.
inline int aclrtSynchronizeStream(aclrtStream) { return pto_model::EndJudgedKernel(), 0; }

inline int aclrtMallocHost(void **pointer, std::size_t size)
{
    if (pointer == nullptr || size == 0) {
        return kAclInvalidParameter;
    }
    *pointer = std::calloc(size, 1);
    return *pointer == nullptr ? kAclInvalidParameter : 0;
}
inline int aclrtFreeHost(void *pointer)
{
    std::free(pointer);
    return 0;
}
inline int aclrtMalloc(void **pointer, std::size_t size, int)
{
    const int status = aclrtMallocHost(pointer, size);
    if (status == 0) {
        tessera_register_buffer(*pointer, size);
    }
    return status;
}
inline int aclrtFree(void *pointer)
{
    tessera_register_buffer(pointer, 0);
    std::free(pointer);
    return 0;
}

inline int aclrtMemcpy(void *dst, std::size_t dstSize, const void *src, std::size_t srcSize, int)
{
    const std::size_t size = dstSize < srcSize ? dstSize : srcSize;
    if (size != 0) {
        std::memcpy(dst, src, size);
    }
    return 0;
}
inline int aclrtMemset(void *dst, std::size_t dstSize, int value, std::size_t count)
{
    if (count == 0) {
        return 0;
    }
    if (dst == nullptr || count > dstSize) {
        return kAclInvalidParameter;
    }
    std::memset(dst, value, count);
    return 0;
}

} // namespace pto_device
} // namespace pto

#endif
