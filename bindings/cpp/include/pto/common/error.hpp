// What goes wrong when a kernel runs: a broken rule is handed to a handler or thrown; warnings go to a handler only.

#ifndef PTO_COMMON_ERROR_HPP
#define PTO_COMMON_ERROR_HPP

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include <pto/common/where.hpp>

namespace pto {

// A broken rule: rule() is its id, what() the whole finding with values and a way out; instruction() is the intrinsic that
// broke it, file() and line() are the place of its call where they are known.
class Error : public std::runtime_error {
public:
    Error(std::string rule, std::string message, const std::string &text)
        : std::runtime_error(text), rule_(std::move(rule)), message_(std::move(message)), running_(model::CurrentRunning())
    {}

    const std::string &rule() const noexcept { return rule_; }
    const std::string &message() const noexcept { return message_; }
    const char *file() const noexcept { return running_.where.file != nullptr ? running_.where.file : ""; }
    unsigned line() const noexcept { return running_.where.line; }
    const char *instruction() const noexcept { return running_.instruction != nullptr ? running_.instruction : ""; }

private:
    std::string rule_;
    std::string message_;
    model::Running running_;
};

// Called instead of throwing. When it returns, the instruction had no effect and the kernel goes on.
using ErrorHandler = std::function<void(const Error &)>;
// Called with every warning.
using WarningHandler = std::function<void(const Error &)>;

namespace model {

inline ErrorHandler &CurrentErrorHandler()
{
    static thread_local ErrorHandler handler;
    return handler;
}

inline WarningHandler &CurrentWarningHandler()
{
    static thread_local WarningHandler handler;
    return handler;
}

} // namespace model

// Sets this thread's error handler and gives the one before; an empty one means: throw.
inline ErrorHandler SetErrorHandler(ErrorHandler handler)
{
    return std::exchange(model::CurrentErrorHandler(), std::move(handler));
}

// Sets this thread's warning handler and gives the one before; an empty one means: warnings are dropped.
inline WarningHandler SetWarningHandler(WarningHandler handler)
{
    return std::exchange(model::CurrentWarningHandler(), std::move(handler));
}

} // namespace pto

#include <pto/common/failure.hpp>

#endif
