// What the C++ tests check with: a failed expectation prints its place and makes the program fail.

#ifndef EXPECT_HPP
#define EXPECT_HPP

#include <cstdio>
#include <string>

#include <pto/pto-inst.hpp>

inline int g_failures = 0;

#define EXPECT(condition)                                                        \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);  \
            ++g_failures;                                                        \
        }                                                                        \
    } while (false)

// The rule that a piece of code breaks; empty if it breaks none.
template <typename F>
std::string RuleOf(F f)
{
    try {
        f();
    } catch (const pto::Error &e) {
        return e.rule();
    }
    return "";
}

#define EXPECT_RULE(id, code)                                                                     \
    do {                                                                                          \
        const std::string rule = RuleOf([&] { code; });                                           \
        if (rule != (id)) {                                                                       \
            std::printf("%s:%d: '%s' instead of '%s'\n", __FILE__, __LINE__, rule.c_str(), id);   \
            ++g_failures;                                                                         \
        }                                                                                         \
    } while (false)

inline int Finish(const char *name)
{
    std::printf("%s: %s\n", name, g_failures == 0 ? "ok" : "FAILED");
    return g_failures == 0 ? 0 : 1;
}

#endif
