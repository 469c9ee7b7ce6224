// Fallow for C++ containers: an allocator, and a memory resource for those of std::pmr. Both are for
// programs that link Fallow and keep their own operator new; where Fallow serves malloc, std::allocator
// is Fallow's already. C++17.
#ifndef FALLOW_ALLOCATOR_HPP
#define FALLOW_ALLOCATOR_HPP

#include <fallow/fallow.h>

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory_resource>
#include <new>

#if defined(__cpp_exceptions)
#define FALLOW_THROW(exception) throw exception
#else
#define FALLOW_THROW(exception) std::abort()
#endif

namespace fallow {

// Memory of at least `bytes` bytes (0 counts as 1) at a multiple of `alignment`, a power of two. Throws
// std::bad_alloc; without exceptions it ends the program. Thread-safe.
inline void *allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    void *p = alignment <= alignof(std::max_align_t) ? fallow_malloc(bytes)
                                                     : fallow_aligned_alloc(alignment, bytes);
    if (p == nullptr)
        FALLOW_THROW(std::bad_alloc());
    return p;
}

// Meets the requirements of [allocator.requirements]: stateless, so all are equal, and what one has allocated
// any may free.
template <class T> struct allocator {
    using value_type = T;

    allocator() noexcept = default;
    template <class U> allocator(const allocator<U> &) noexcept {
    }

    // Throws std::bad_array_new_length if that many are more than can be counted.
    [[nodiscard]] T *allocate(std::size_t n) {
        if (n > std::numeric_limits<std::size_t>::max() / sizeof(T))
            FALLOW_THROW(std::bad_array_new_length());
        return static_cast<T *>(fallow::allocate(n * sizeof(T), alignof(T)));
    }

    void deallocate(T *p, std::size_t n) noexcept {
        fallow_free_sized(p, n * sizeof(T));
    }
};

template <class T, class U> bool operator==(const allocator<T> &, const allocator<U> &) noexcept {
    return true;
}

template <class T, class U> bool operator!=(const allocator<T> &, const allocator<U> &) noexcept {
    return false;
}

// [mem.res.class]. All objects of this class are equal.
class memory_resource : public std::pmr::memory_resource {
    void *do_allocate(std::size_t bytes, std::size_t alignment) override {
        return fallow::allocate(bytes, alignment);
    }

    void do_deallocate(void *p, std::size_t bytes, std::size_t alignment) override {
        fallow_free_aligned_sized(p, alignment, bytes);
    }

    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override {
#if defined(__cpp_rtti)
        return dynamic_cast<const memory_resource *>(&other) != nullptr;
#else
        return &other == this; // another of this class cannot be told from one of any other
#endif
    }
};

// One that lives for ever, for std::pmr::set_default_resource() or a container's constructor.
inline std::pmr::memory_resource *resource() noexcept {
    static memory_resource *const one =
        new (fallow::allocate(sizeof(memory_resource))) memory_resource;
    return one;
}

} // namespace fallow

#undef FALLOW_THROW

#endif
