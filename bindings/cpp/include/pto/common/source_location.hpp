// Where a kernel calls an instruction: the place that an error names (cpp.md 9).

#ifndef PTO_COMMON_SOURCE_LOCATION_HPP
#define PTO_COMMON_SOURCE_LOCATION_HPP

namespace pto {
namespace pto_model {

// A place of the source. As a default argument it is the place of the call.
struct SourceLocation {
    const char *file = nullptr;
    unsigned line = 0;

    static constexpr SourceLocation Here(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE())
    {
        return SourceLocation{file, line};
    }
};

// An instruction that runs, and the one around it.
struct Running {
    const char *instruction = nullptr;
    SourceLocation where;
    const Running *outer = nullptr;
};

// The instruction that runs now, if one does.
inline const Running *&CurrentRunning()
{
    static thread_local const Running *running = nullptr;
    return running;
}

} // namespace pto_model
} // namespace pto

#endif
