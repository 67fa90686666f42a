// An object that lives as long as somebody holds it.
//
// As std::shared_ptr, whose header alone would take a third of the time that this library takes to compile.

#ifndef PTO_COMMON_REF_PTR_HPP
#define PTO_COMMON_REF_PTR_HPP

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
    friend class RefPtr;
    long holders_ = 1;
};

template <typename T>
class RefPtr {
public:
    RefPtr() = default;
    // Takes over what was made with new.
    explicit RefPtr(T *made) : object_(made) {}
    RefPtr(const RefPtr &other) : object_(other.object_)
    {
        if (object_ != nullptr) {
            __atomic_add_fetch(&object_->holders_, 1, __ATOMIC_RELAXED);
        }
    }
    RefPtr(RefPtr &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    RefPtr &operator=(RefPtr other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    ~RefPtr()
    {
        if (object_ != nullptr && __atomic_sub_fetch(&object_->holders_, 1, __ATOMIC_ACQ_REL) == 0) {
            delete object_;
        }
    }

    T *operator->() const { return object_; }
    T &operator*() const { return *object_; }
    T *get() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }

private:
    T *object_ = nullptr;
};

} // namespace pto_model
} // namespace pto

#endif
