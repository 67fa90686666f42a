// The simulated core behind the intrinsics: one per thread, made when it is first needed.

#ifndef PTO_COMMON_MACHINE_HPP
#define PTO_COMMON_MACHINE_HPP

#include <memory>

#include <pto/common/error.hpp>
#include <pto/common/profile.hpp>
#include <pto/common/type.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace detail {

using namespace pto::model;

class Machine {
public:
    explicit Machine(Profile profile) : profile_(profile)
    {
        if (tessera_abi_version() != TESSERA_ABI_VERSION) {
            Fail("binding", "the library has ABI version " + std::to_string(tessera_abi_version()) +
                                " and the headers have " + std::to_string(TESSERA_ABI_VERSION) +
                                ": build both from one source");
            return;
        }
        if (tessera_machine_create(static_cast<uint32_t>(profile), &handle_) != TESSERA_STATUS_OK) {
            Fail("memory-limit", "the simulated core could not be made");
        }
    }
    ~Machine() { tessera_machine_destroy(handle_); }
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;

    TesseraMachine *handle() const { return handle_; }
    Profile profile() const { return profile_; }

    // Reports what the last call found; says whether it did its work.
    bool Done(TesseraStatus status) const
    {
        if (status == TESSERA_STATUS_OK && !CurrentWarningHandler()) {
            return true;
        }
        return Report(status);
    }

private:
    bool Report(TesseraStatus status) const
    {
        // Copied before anybody is told: a handler may issue instructions of its own.
        std::string rule, message, text;
        const uint32_t count = tessera_diagnostic_count(handle_);
        for (uint32_t i = 0; i < count; ++i) {
            TesseraDiagnostic found{};
            if (tessera_diagnostic(handle_, i, &found) != TESSERA_STATUS_OK) {
                continue;
            }
            if (found.severity == TESSERA_SEVERITY_ERROR) {
                rule = found.rule;
                message = found.message;
                text = found.text;
                break;
            }
            if (status == TESSERA_STATUS_OK) {
                CurrentWarningHandler()(Error(found.rule, found.message, found.text));
            }
        }
        if (status == TESSERA_STATUS_OK) {
            return true;
        }
        if (rule.empty()) {
            rule = "binding";
            message = text = "the library refused a call with status " + std::to_string(static_cast<int>(status));
        }
        Fail(Error(rule, message, text));
        return false;
    }

    TesseraMachine *handle_ = nullptr;
    Profile profile_;
};

inline std::shared_ptr<Machine> &CurrentMachine()
{
    static thread_local std::shared_ptr<Machine> machine;
    if (!machine) {
        machine = std::make_shared<Machine>(kProfile);
    }
    return machine;
}

// Automatic storage of one tile, shared by the handles to it, allocated when it is first used.
class Cell {
public:
    Cell() = default;
    ~Cell()
    {
        if (machine_) {
            tessera_storage_free(machine_->handle(), handle_);
        }
    }
    Cell(const Cell &) = delete;
    Cell &operator=(const Cell &) = delete;

    bool allocated() const { return machine_ != nullptr; }
    uint64_t handle() const { return handle_; }

    // Gives the storage to a tile or conv tile, unless it is there already.
    template <typename Descriptor>
    bool Allocate(const Descriptor &descriptor)
    {
        const std::shared_ptr<Machine> &machine = CurrentMachine();
        if (machine_ == machine) {
            return true;
        }
        if (machine_) {
            Fail("binding", "the tile's storage belongs to a core that SetProfile or Reset has replaced, or to another "
                            "thread's: make a new tile");
            return false;
        }
        if (!machine->Done(Call(machine->handle(), &descriptor, &handle_))) {
            return false;
        }
        machine_ = machine;
        return true;
    }

private:
    static TesseraStatus Call(TesseraMachine *machine, const TesseraTile *tile, uint64_t *handle)
    {
        return tessera_storage_alloc(machine, tile, handle);
    }
    static TesseraStatus Call(TesseraMachine *machine, const TesseraConv *tile, uint64_t *handle)
    {
        return tessera_storage_alloc_conv(machine, tile, handle);
    }

    std::shared_ptr<Machine> machine_;
    uint64_t handle_ = 0;
};

} // namespace detail

// Replaces this thread's core by a new one of this profile; tiles that were used before are not usable any more.
inline void SetProfile(Profile profile)
{
    if (kStaticProfile && profile != kProfile) {
        detail::Fail("unknown-profile", "the kernel is compiled for one profile: SetProfile cannot change it, remove "
                                        "the PTO_PROFILE_ macro to choose when it runs");
        return;
    }
    detail::CurrentMachine() = std::make_shared<detail::Machine>(profile);
}

// The profile of this thread's core.
inline Profile GetProfile() { return detail::CurrentMachine()->profile(); }

// Replaces this thread's core by a new one of the same profile.
inline void Reset() { SetProfile(GetProfile()); }

// How many bytes without a defined value TSTORE has written as 0 on this thread's core.
inline uint64_t UndefinedBytesStored() { return tessera_undefined_stored(detail::CurrentMachine()->handle()); }

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
