// Where a kernel calls an instruction: the place that an error names (cpp.md 9).

#ifndef PTO_COMMON_WHERE_HPP
#define PTO_COMMON_WHERE_HPP

namespace pto {
namespace pto_model {

// A place of the source. As a default argument it is the place of the call.
struct Where {
    const char *file = nullptr;
    unsigned line = 0;

    static constexpr Where Here(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE())
    {
        return Where{file, line};
    }
};

// The instruction that runs now, if one does.
struct Running {
    const char *instruction = nullptr;
    Where where;
};

inline Running &CurrentRunning()
{
    static thread_local Running running;
    return running;
}

} // namespace pto_model
} // namespace pto

#endif
