// The simulated core behind the intrinsics: one per thread, made when it is first needed.

#ifndef PTO_COMMON_MACHINE_HPP
#define PTO_COMMON_MACHINE_HPP

#include <pto/common/cpu_stub.hpp>
#include <pto/common/error.hpp>
#include <pto/common/profile.hpp>
#include <pto/common/type.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

using namespace pto::pto_model;

class Machine : public Counted {
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

    // Begins anew on a profile; memories stay where they are, and automatic storage of before is gone.
    void Restart(Profile profile)
    {
        EndJudgedKernel();
        if (Done(tessera_machine_reset(handle_, static_cast<uint32_t>(profile)))) {
            profile_ = profile;
            ++age_;
        }
    }
    // How often it began anew.
    uint32_t age() const { return age_; }

    // The first byte of a location's memory.
    char *Base(TileType loc)
    {
        char *&base = bases_[static_cast<uint32_t>(loc)];
        if (base == nullptr) {
            void *found = nullptr;
            Done(tessera_memory_base(handle_, static_cast<uint32_t>(loc), &found));
            base = static_cast<char *>(found);
        }
        return base;
    }

    // Is it an address in one of the memories?
    bool Contains(uintptr_t address) const { return tessera_contains(handle_, address) != 0; }

    // Reports what the last call found; says whether it did its work.
    bool Done(TesseraStatus status) const
    {
        if (status == TESSERA_STATUS_OK && !CurrentWarningHandler() && !KeepsFindings()) {
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
            if (status == TESSERA_STATUS_OK && KeepsFindings()) {
                KeepFinding(Error(found.rule, found.message, found.text), false);
            }
            if (status == TESSERA_STATUS_OK && CurrentWarningHandler()) {
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
    uint32_t age_ = 0;
    char *bases_[static_cast<uint32_t>(TileType::Ctrl) + 1] = {};
};

inline RefPtr<Machine> &CurrentMachine()
{
    static thread_local RefPtr<Machine> machine(new Machine(kProfile));
    return machine;
}

// Automatic storage of one tile, shared by the handles to it, allocated when it is first used.
class Cell : public Counted {
public:
    Cell() = default;
    ~Cell()
    {
        // Another thread leaves it to the core, which frees everything when its own thread ends.
        if (machine_ && machine_.get() == CurrentMachine().get() && machine_->age() == age_) {
            tessera_storage_free(machine_->handle(), handle_);
        }
    }
    Cell(const Cell &) = delete;
    Cell &operator=(const Cell &) = delete;

    void *data() const { return data_; }
    // Is it of a core that began anew since?
    bool IsGone() const { return machine_ && machine_->age() != age_; }

    // Gives the storage to a tile or conv tile, unless it is there already.
    template <typename Descriptor>
    void *Allocate(const Descriptor &descriptor)
    {
        if (data_ == nullptr) {
            const RefPtr<Machine> &machine = CurrentMachine();
            uint64_t handle = 0;
            if (machine->Done(Call(machine->handle(), &descriptor, &handle)) &&
                machine->Done(tessera_storage_data(machine->handle(), handle, &data_))) {
                machine_ = machine;
                age_ = machine->age();
                handle_ = handle;
            }
        }
        return data_;
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

    RefPtr<Machine> machine_;
    void *data_ = nullptr;
    uint64_t handle_ = 0;
    uint32_t age_ = 0;
};

} // namespace pto_detail

// This thread's core begins anew on this profile: memories have no defined contents, and tiles without an address that were
// used before are not usable any more.
inline void SetProfile(Profile profile)
{
    if (kStaticProfile && profile != kProfile) {
        pto_detail::Fail("unknown-profile", "the kernel is compiled for one profile: SetProfile cannot change it, remove "
                                        "the PTO_PROFILE_ macro to choose when it runs");
        return;
    }
    pto_detail::CurrentMachine()->Restart(profile);
}

// The profile of this thread's core.
inline Profile GetProfile() { return pto_detail::CurrentMachine()->profile(); }

// This thread's core begins anew. A template, so that a function of the program with this name is the better choice.
template <typename = void>
inline void Reset()
{
    SetProfile(GetProfile());
}

// How many bytes without a defined value TSTORE has written as 0 on this thread's core.
inline uint64_t UndefinedBytesStored() { return tessera_undefined_stored(pto_detail::CurrentMachine()->handle()); }

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
