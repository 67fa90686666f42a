// The target profile: fixed when the kernel is compiled, or chosen when it runs.
//
// With PTO_PROFILE_CPU, PTO_PROFILE_A2A3 or PTO_PROFILE_A5 defined, illegal tiles and instructions do not compile.
// Without any of them everything is checked when it runs, on the profile that pto::SetProfile chose (cpu at first).
// Translation units of different profiles may be linked into one program: each profile has its own inline namespace.

#ifndef PTO_COMMON_PROFILE_HPP
#define PTO_COMMON_PROFILE_HPP

#include <pto/common/constants.hpp>
#include <tessera.h>

#if defined(PTO_PROFILE_CPU) + defined(PTO_PROFILE_A2A3) + defined(PTO_PROFILE_A5) > 1
#error "at most one of PTO_PROFILE_CPU, PTO_PROFILE_A2A3 and PTO_PROFILE_A5 is defined"
#endif

// The architecture macro of device code means the profile; a build for the host runs on cpu unless it says otherwise.
#if defined(PTO_NPU_ARCH_A5) && !defined(PTO_PROFILE_A5) && !defined(__CPU_SIM)
#if defined(PTO_PROFILE_CPU) || defined(PTO_PROFILE_A2A3)
#error "PTO_NPU_ARCH_A5 is defined together with another profile"
#endif
#define PTO_PROFILE_A5
#elif defined(PTO_PROFILE_A5) && !defined(PTO_NPU_ARCH_A5)
#define PTO_NPU_ARCH_A5
#endif

#if defined(PTO_PROFILE_CPU)
#define PTO_PROFILE_NAMESPACE profile_cpu
#elif defined(PTO_PROFILE_A2A3)
#define PTO_PROFILE_NAMESPACE profile_a2a3
#elif defined(PTO_PROFILE_A5)
#define PTO_PROFILE_NAMESPACE profile_a5
#else
#define PTO_PROFILE_NAMESPACE profile_at_run_time
#endif
#if defined(PTO_PROFILE_CPU) || defined(PTO_PROFILE_A2A3) || defined(PTO_PROFILE_A5)
#define PTO_STATIC_PROFILE
#endif

namespace pto {

enum class Profile : uint32_t {
    Cpu = TESSERA_PROFILE_CPU,
    A2A3 = TESSERA_PROFILE_A2A3,
    A5 = TESSERA_PROFILE_A5,
};

inline namespace PTO_PROFILE_NAMESPACE {

#if defined(PTO_PROFILE_CPU)
inline constexpr bool kStaticProfile = true;
inline constexpr Profile kProfile = Profile::Cpu;
#elif defined(PTO_PROFILE_A2A3)
inline constexpr bool kStaticProfile = true;
inline constexpr Profile kProfile = Profile::A2A3;
#elif defined(PTO_PROFILE_A5)
inline constexpr bool kStaticProfile = true;
inline constexpr Profile kProfile = Profile::A5;
#else
inline constexpr bool kStaticProfile = false;
inline constexpr Profile kProfile = Profile::Cpu;
#endif

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
