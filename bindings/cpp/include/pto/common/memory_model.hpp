// The memories of a thread's core as a program sees them: where they start, and how large the target has them (cpp.md 4).

#ifndef PTO_COMMON_MEMORY_MODEL_HPP
#define PTO_COMMON_MEMORY_MODEL_HPP

#include <pto/common/memory.hpp>

namespace pto {

enum class NPUArch : uint32_t { A2A3, A5 };

inline namespace PTO_PROFILE_NAMESPACE {

// What a target has; the simulated memories have room for more.
struct NPUMemorySizes {
    std::size_t ubBytes;
    std::size_t l1Bytes;
    std::size_t l0aBytes;
    std::size_t l0bBytes;
    std::size_t l0cBytes;
};

class NPUMemoryModel {
public:
    static NPUMemoryModel &Instance()
    {
        static thread_local NPUMemoryModel model;
        return model;
    }
    // The target of threads that have not said one.
    static void SetDefaultArch(NPUArch arch) { DefaultArch() = arch; }

    void Initialize(NPUArch arch)
    {
        arch_ = arch;
        isInitialized_ = true;
        pto_detail::CurrentMachine();
    }
    void EnsureInitialized()
    {
        if (!isInitialized_) {
            Initialize(DefaultArch());
        }
    }
    // All memories hold zeros.
    void Clear()
    {
        EnsureInitialized();
        const auto &machine = pto_detail::CurrentMachine();
        machine->Done(tessera_machine_clear(machine->handle()));
    }
    void Reset()
    {
        Clear();
        isInitialized_ = false;
    }
    bool IsInitialized() const { return isInitialized_; }
    NPUArch GetArch() const { return isInitialized_ ? arch_ : DefaultArch(); }
    NPUMemorySizes GetSizes() const
    {
        const std::size_t acc = GetArch() == NPUArch::A5 ? 256 : 128;
        return {Size("PTO_CPU_SIM_UB_BYTES", 512), Size("PTO_CPU_SIM_L1_BYTES", 512), Size("PTO_CPU_SIM_L0A_BYTES", 64),
                Size("PTO_CPU_SIM_L0B_BYTES", 64), Size("PTO_CPU_SIM_L0C_BYTES", acc)};
    }
    bool ContainsAddress(uintptr_t address) const { return pto_detail::CurrentMachine()->Contains(address); }

    char *GetUBBase() { return pto_detail::CurrentMachine()->Base(TileType::Vec); }
    char *GetL1Base() { return pto_detail::CurrentMachine()->Base(TileType::Mat); }
    char *GetL0ABase() { return pto_detail::CurrentMachine()->Base(TileType::Left); }
    char *GetL0BBase() { return pto_detail::CurrentMachine()->Base(TileType::Right); }
    char *GetL0CBase() { return pto_detail::CurrentMachine()->Base(TileType::Acc); }
    // Registers are no memory of a location.
    char *GetREGBase()
    {
        static thread_local char registers[kRegisterBytes];
        return registers;
    }

private:
    static constexpr std::size_t kRegisterBytes = 64 * 1024;

    static NPUArch &DefaultArch()
    {
        static NPUArch arch = NPUArch::A2A3;
        return arch;
    }
    static std::size_t Size(const char *name, std::size_t kibibytes)
    {
        return static_cast<std::size_t>(cpu_sim::pto_model::Environment(name, kibibytes * 1024));
    }

    NPUArch arch_ = NPUArch::A2A3;
    bool isInitialized_ = false;
};

inline void NPU_MEMORY_INIT(NPUArch arch = NPUArch::A2A3)
{
    NPUMemoryModel::SetDefaultArch(arch);
    NPUMemoryModel::Instance().Initialize(arch);
}

inline void NPU_MEMORY_CLEAR() { NPUMemoryModel::Instance().Clear(); }

// What a type is.
template <typename T>
inline constexpr bool is_conv_tile_v = pto_detail::IsConvTile<std::remove_cv_t<T>>;
template <typename T>
inline constexpr bool is_tile_data_v = pto_detail::IsTileData<std::remove_cv_t<T>>;
template <typename T>
inline constexpr bool is_global_data_v = false;
template <typename T, typename ShapeT, typename StrideT, Layout Tag>
inline constexpr bool is_global_data_v<GlobalTensor<T, ShapeT, StrideT, Tag>> = true;
template <typename T>
inline constexpr bool is_boxed_data_v = pto_detail::IsBoxedTile<std::remove_cv_t<T>>;

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
