// An object that lives as long as somebody holds it.
//
// As std::shared_ptr, whose header alone would take a third of the time that this library takes to compile.

#ifndef PTO_COMMON_HELD_HPP
#define PTO_COMMON_HELD_HPP

#include <utility>

namespace pto {
namespace pto_model {

// What is held counts its holders, in whatever threads they are.
class Counted {
public:
    Counted() = default;
    Counted(const Counted &) = delete;
    Counted &operator=(const Counted &) = delete;

protected:
    ~Counted() = default;

private:
    template <typename T>
    friend class Held;
    long holders_ = 1;
};

template <typename T>
class Held {
public:
    Held() = default;
    // Takes over what was made with new.
    explicit Held(T *made) : held_(made) {}
    Held(const Held &other) : held_(other.held_)
    {
        if (held_ != nullptr) {
            __atomic_add_fetch(&held_->holders_, 1, __ATOMIC_RELAXED);
        }
    }
    Held(Held &&other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
    Held &operator=(Held other) noexcept
    {
        std::swap(held_, other.held_);
        return *this;
    }
    ~Held()
    {
        if (held_ != nullptr && __atomic_sub_fetch(&held_->holders_, 1, __ATOMIC_ACQ_REL) == 0) {
            delete held_;
        }
    }

    T *operator->() const { return held_; }
    T &operator*() const { return *held_; }
    T *get() const { return held_; }
    explicit operator bool() const { return held_ != nullptr; }

private:
    T *held_ = nullptr;
};

} // namespace pto_model
} // namespace pto

#endif
