// The order of calls, judged while they run (sync.md 4): flags, barriers, buffer tokens, pipes and cross-core calls go through the
// detector that judges runs of text. `TESSERA_RACES=off|warn|error` in the environment, or tessera::races, says whether.

#ifndef PTO_COMMON_RACES_HPP
#define PTO_COMMON_RACES_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <tessera.h>

#include <pto/common/failure.hpp>

namespace pto {
namespace pto_model {

// What a call does not have.
constexpr uint32_t kNoPipe = UINT32_MAX;

enum class CoreKind { Cube, Vector, Both };

inline bool IsJudged()
{
    static const uint8_t *const mode = tessera_races_mode();
    return __atomic_load_n(mode, __ATOMIC_RELAXED) != 0;
}

// Prints what was found since it was called last, or writes it to the file that TESSERA_FINDINGS names.
inline void PrintRaces()
{
    static std::mutex mutex;
    static uint32_t printed = 0;
    const std::lock_guard<std::mutex> lock(mutex);
    std::FILE *file = KeepsFindings() ? std::fopen(std::getenv("TESSERA_FINDINGS"), "a") : nullptr;
    for (TesseraRace race; tessera_races_found(printed, &race) == TESSERA_STATUS_OK; ++printed) {
        if (file != nullptr) {
            std::fprintf(file, "%s\n", race.json);
        } else if (race.line != 0) {
            std::fprintf(stderr, "%s:%u: %s\n", race.file, race.line, race.found.text);
        } else {
            std::fprintf(stderr, "%s%s%s\n", race.name, *race.name == '\0' ? "" : ": ", race.found.text);
        }
    }
    if (file != nullptr) {
        std::fclose(file);
    }
}

inline bool HasRaceErrors()
{
    TesseraRace race;
    for (uint32_t n = 0; tessera_races_found(n, &race) == TESSERA_STATUS_OK; ++n) {
        if (race.found.severity == TESSERA_SEVERITY_ERROR) {
            return true;
        }
    }
    return false;
}

inline void FinishRaces()
{
    ToldAtEnd() = nullptr;
    tessera_races_finish();
    PrintRaces();
    if (std::FILE *file = KeepsFindings() ? std::fopen(std::getenv("TESSERA_FINDINGS"), "a") : nullptr) {
        std::fprintf(file, "{\"kind\":\"end\"}\n");
        std::fclose(file);
    }
}

inline void TellAtExit(int status)
{
    if (ToldAtEnd() != nullptr) {
        FinishRaces();
    }
    if (status == 0 && HasRaceErrors()) {
        EndWithError();
    }
}

// What is found is told when the program ends; with errors its exit code is 1.
inline void TellRacesAtExit()
{
    static const bool registered = [] {
        ToldAtEnd() = FinishRaces;
#if defined(__GLIBC__)
        on_exit([](int status, void *) { TellAtExit(status); }, nullptr);
#else
        std::atexit([] { TellAtExit(0); });
#endif
        return true;
    }();
    static_cast<void>(registered);
}

// Keeps an error, or a warning, for the file of findings.
inline void KeepFinding(const Error &error, bool isError)
{
    TellRacesAtExit();
    tessera_findings_add(error.rule().c_str(), isError, error.what(), error.instruction(), error.file(), error.line());
}

// The place of the next call: that of the outermost intrinsic that runs, or of the call itself.
inline void JudgedAt(const char *name, const SourceLocation &where)
{
    TellRacesAtExit();
    const Running own{name, where, nullptr};
    const Running *at = name == nullptr ? CurrentRunning() : &own;
    for (const Running *outer = CurrentRunning(); outer != nullptr; outer = outer->outer) {
        at = outer->where.file != nullptr || at == nullptr || at->where.file == nullptr ? outer : at;
    }
    if (at != nullptr) {
        tessera_races_at(at->instruction, at->where.file, at->where.line, cpu_sim::pto_model::Current().block, get_subblockid());
    }
}

// An order operation, where order is judged.
inline void JudgeOrder(TesseraOp op, const char *name, const SourceLocation &where, uint32_t first, uint32_t second, int64_t id,
                       uint32_t kind = 0, uint32_t mode = kNoPipe)
{
    if (IsJudged()) {
        JudgedAt(name, where);
        tessera_races_order(static_cast<uint32_t>(op), kind, first, second, mode, id);
    }
}

// A kernel ends on this thread.
inline void EndJudgedKernel()
{
    if (IsJudged()) {
        TellRacesAtExit();
        tessera_races_end();
    }
}

} // namespace pto_model
} // namespace pto

namespace tessera {

enum class Races { off, warn, error };

// Says how the order of calls is judged from here on, in all threads, and gives what was before.
inline Races races(Races mode)
{
    pto::pto_model::TellRacesAtExit();
    return static_cast<Races>(tessera_races_set(static_cast<uint32_t>(mode)));
}

// The kernel that this thread runs ends here: what comes later starts when all of it is done. A kernel also ends with its thread,
// at pto::Reset, and where the host waits for its stream.
inline void kernel_ends() { pto::pto_model::EndJudgedKernel(); }

// How many findings about the order of calls there are so far, after the kernel of this thread has ended.
inline uint32_t races_found()
{
    kernel_ends();
    return tessera_races_count();
}

} // namespace tessera

#endif
