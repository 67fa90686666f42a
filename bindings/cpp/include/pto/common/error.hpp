// What goes wrong when a kernel runs: a broken rule is handed to a handler or thrown; warnings go to a handler only.

#ifndef PTO_COMMON_ERROR_HPP
#define PTO_COMMON_ERROR_HPP

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <pto/common/ref_ptr.hpp>
#include <pto/common/source_location.hpp>

namespace pto {

// A broken rule: rule() is its id, what() the whole finding with values and a way out; instruction() is the intrinsic that
// broke it, file() and line() are the place of its call where they are known.
class Error : public std::runtime_error {
public:
    Error(std::string rule, std::string message, const std::string &text)
        : std::runtime_error(text), rule_(std::move(rule)), message_(std::move(message)), running_(Now())
    {}

    const std::string &rule() const noexcept { return rule_; }
    const std::string &message() const noexcept { return message_; }
    const char *file() const noexcept { return running_.where.file != nullptr ? running_.where.file : ""; }
    unsigned line() const noexcept { return running_.where.line; }
    const char *instruction() const noexcept { return running_.instruction != nullptr ? running_.instruction : ""; }

private:
    static pto_model::Running Now()
    {
        const pto_model::Running *running = pto_model::CurrentRunning();
        return running == nullptr ? pto_model::Running{} : pto_model::Running{running->instruction, running->where, nullptr};
    }

    std::string rule_;
    std::string message_;
    pto_model::Running running_;
};

// What is called with an error or a warning: any function of a `const Error &`, or nothing.
class ErrorHandler {
    struct Function : pto_model::Counted {
        virtual ~Function() = default;
        virtual void Call(const Error &error) = 0;
    };
    template <typename Callee>
    struct Of final : Function {
        explicit Of(Callee given) : function(std::move(given)) {}
        void Call(const Error &error) override { function(error); }
        Callee function;
    };

    template <typename Callee>
    static constexpr bool kIsFunction =
        std::is_invocable_v<Callee &, const Error &> && !std::is_same_v<std::decay_t<Callee>, ErrorHandler>;

public:
    ErrorHandler() = default;
    ErrorHandler(std::nullptr_t) {}
    template <typename Callee, std::enable_if_t<kIsFunction<Callee>, int> = 0>
    ErrorHandler(Callee function)
    {
        // A function object, or a pointer, may itself be empty.
        if constexpr (std::is_constructible_v<bool, Callee &> && !std::is_empty_v<Callee>) {
            if (!static_cast<bool>(function)) {
                return;
            }
        }
        function_ = pto_model::RefPtr<Function>(new Of<Callee>(std::move(function)));
    }

    explicit operator bool() const { return static_cast<bool>(function_); }
    void operator()(const Error &error) const { function_->Call(error); }

private:
    pto_model::RefPtr<Function> function_;
};

// An error handler is called instead of throwing: when it returns, the instruction had no effect and the kernel goes on.
// A warning handler is called with every warning.
using WarningHandler = ErrorHandler;

namespace pto_model {

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

} // namespace pto_model

// Sets this thread's error handler and gives the one before; an empty one means: throw.
inline ErrorHandler SetErrorHandler(ErrorHandler handler)
{
    return std::exchange(pto_model::CurrentErrorHandler(), std::move(handler));
}

// Sets this thread's warning handler and gives the one before; an empty one means: warnings are dropped.
inline WarningHandler SetWarningHandler(WarningHandler handler)
{
    return std::exchange(pto_model::CurrentWarningHandler(), std::move(handler));
}

} // namespace pto

#include <pto/common/failure.hpp>

#endif
