// What becomes of an error that no handler takes (cpp.md 9): it is thrown, or printed, or the end.

#ifndef PTO_COMMON_FAILURE_HPP
#define PTO_COMMON_FAILURE_HPP

#include <atomic>
#include <cstring>
#include <exception>

#include <pto/common/error.hpp>

namespace pto {

// Throw, the usual one: a pto::Error that nobody catches, in whatever thread, is printed and ends the process with code 1.
// Print: the instruction is skipped and the program goes on, to end with code 1. Abort: printed, then std::abort.
enum class ErrorMode { Throw, Print, Abort };

namespace pto_model {

struct Failures {
    std::atomic<ErrorMode> mode{ModeOfEnvironment()};
    std::atomic<uint64_t> count{0};
    std::atomic<bool> isPrinted{false};

private:
    static ErrorMode ModeOfEnvironment()
    {
        const char *word = std::getenv("TESSERA_ERRORS");
        if (word == nullptr || *word == '\0' || std::strcmp(word, "throw") == 0) {
            return ErrorMode::Throw;
        }
        if (std::strcmp(word, "print") != 0 && std::strcmp(word, "abort") != 0) {
            std::fprintf(stderr, "warning: TESSERA_ERRORS is '%s'; it is throw, print or abort\n", word);
            return ErrorMode::Throw;
        }
        return *word == 'p' ? ErrorMode::Print : ErrorMode::Abort;
    }
};

// Whether findings are written to a file, one object of JSON a line; `tessera sanitize` asks for it.
inline bool KeepsFindings()
{
    static const bool keeps = [] {
        const char *path = std::getenv("TESSERA_FINDINGS");
        return path != nullptr && *path != '\0';
    }();
    return keeps;
}
inline void KeepFinding(const Error &error, bool isError);

inline Failures &AllFailures()
{
    static Failures failures;
    return failures;
}

// `file:line: error[rule]: …`, with the instruction where the place is not known.
inline void Print(const Error &error)
{
    if (error.line() != 0) {
        std::fprintf(stderr, "%s:%u: %s\n", error.file(), error.line(), error.what());
    } else {
        const char *name = error.instruction();
        std::fprintf(stderr, "%s%s%s\n", name, *name == '\0' ? "" : ": ", error.what());
    }
}

// What is still to be told when the process ends.
inline void (*&ToldAtEnd())()
{
    static void (*function)() = nullptr;
    return function;
}

// Ends the process without destructors, which other threads may still need.
[[noreturn]] inline void EndWithError()
{
    if (ToldAtEnd() != nullptr) {
        ToldAtEnd()();
    }
    std::fflush(nullptr);
    std::_Exit(1);
}

#if defined(__cpp_exceptions)
inline std::terminate_handler &OuterTerminate()
{
    static std::terminate_handler outer = nullptr;
    return outer;
}

// Prints an error that nobody caught; everything else is left to whoever was asked before.
[[noreturn]] inline void Terminate()
{
    if (std::exception_ptr current = std::current_exception()) {
        try {
            std::rethrow_exception(current);
        } catch (const Error &error) {
            Print(error);
            EndWithError();
        } catch (...) {
        }
    }
    if (OuterTerminate() != nullptr) {
        OuterTerminate()();
    }
    std::abort();
}

// A handler that the program sets later stays.
inline const bool kTerminates = (OuterTerminate() = std::set_terminate(Terminate), true);
#endif

inline void Fail(const Error &error)
{
    if (CurrentErrorHandler()) {
        CurrentErrorHandler()(error);
        return;
    }
    Failures &failures = AllFailures();
    failures.count.fetch_add(1);
    if (KeepsFindings()) {
        KeepFinding(error, true);
    }
    switch (failures.mode.load()) {
        case ErrorMode::Throw:
#if defined(__cpp_exceptions)
            throw error;
#else
            [[fallthrough]];
#endif
        case ErrorMode::Abort:
            Print(error);
            std::abort();
        case ErrorMode::Print:
            if (!failures.isPrinted.exchange(true)) {
#if defined(__GLIBC__)
                on_exit([](int status, void *) { status == 0 ? EndWithError() : void(); }, nullptr);
#else
                std::atexit([] { EndWithError(); });
#endif
            }
            Print(error);
    }
}

inline void Fail(const char *rule, const std::string &message)
{
    Fail(Error(rule, message, std::string("error[") + rule + "]: " + message));
}

} // namespace pto_model

// Says what becomes of errors from here on, in all threads, and gives what was before.
inline ErrorMode SetErrorMode(ErrorMode mode) { return pto_model::AllFailures().mode.exchange(mode); }

// How many errors no handler took.
inline uint64_t ErrorCount() { return pto_model::AllFailures().count.load(); }

} // namespace pto

#endif
