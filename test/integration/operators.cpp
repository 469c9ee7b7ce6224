// All replaceable operators of C++17: 8 of new (plain and array; throwing and nothrow; with and without
// alignment) and 12 of delete (plain and array; unsized, sized and nothrow; each also aligned). Each new
// is paired with the deletes that may end it. Aligned ones are aligned; failures throw or answer null,
// and call the new-handler first.

#include <cstdint>
#include <cstring>
#include <new>

#include "check.h"
#include "under_test.h"

namespace {

const size_t sizes[] = {0, 1, 8, 16, 24, 100, 1000, 4096, 20000, 300000, 3 << 20};
size_t blocks_made;

void use(void *block, size_t size, size_t alignment) {
    CHECK_THAT(block != nullptr, "size %zu, alignment %zu", size, alignment);
    CHECK_THAT(reinterpret_cast<uintptr_t>(block) % alignment == 0, "size %zu: %p, alignment %zu",
               size, block, alignment);
    memset(block, 0x5a, size);
    CHECK_THAT(malloc_usable_size(block) >= size, "size %zu: the block is not malloc's", size);
    KEEP(block);
    blocks_made++;
}

void plain(size_t size) {
    const size_t normal = size >= 16 ? 16 : 1;
    void *block;
    block = ::operator new(size);
    use(block, size, normal);
    ::operator delete(block);
    block = ::operator new(size);
    use(block, size, normal);
    ::operator delete(block, size);
    block = ::operator new(size, std::nothrow);
    use(block, size, normal);
    ::operator delete(block, std::nothrow);
    block = ::operator new[](size);
    use(block, size, normal);
    ::operator delete[](block);
    block = ::operator new[](size);
    use(block, size, normal);
    ::operator delete[](block, size);
    block = ::operator new[](size, std::nothrow);
    use(block, size, normal);
    ::operator delete[](block, std::nothrow);
}

void aligned(size_t size, size_t alignment) {
    const std::align_val_t align{alignment};
    void *block;
    block = ::operator new(size, align);
    use(block, size, alignment);
    ::operator delete(block, align);
    block = ::operator new(size, align);
    use(block, size, alignment);
    ::operator delete(block, size, align);
    block = ::operator new(size, align, std::nothrow);
    use(block, size, alignment);
    ::operator delete(block, align, std::nothrow);
    block = ::operator new[](size, align);
    use(block, size, alignment);
    ::operator delete[](block, align);
    block = ::operator new[](size, align);
    use(block, size, alignment);
    ::operator delete[](block, size, align);
    block = ::operator new[](size, align, std::nothrow);
    use(block, size, alignment);
    ::operator delete[](block, align, std::nothrow);
}

void null_is_nothing() {
    const std::align_val_t align{64};
    ::operator delete(nullptr);
    ::operator delete (nullptr, size_t{8});
    ::operator delete(nullptr, std::nothrow);
    ::operator delete(nullptr, align);
    ::operator delete (nullptr, size_t{8}, align);
    ::operator delete(nullptr, align, std::nothrow);
    ::operator delete[](nullptr);
    ::operator delete[](nullptr, size_t{8});
    ::operator delete[](nullptr, std::nothrow);
    ::operator delete[](nullptr, align);
    ::operator delete[](nullptr, size_t{8}, align);
    ::operator delete[](nullptr, align, std::nothrow);
}

size_t too_much() {
    volatile size_t size = SIZE_MAX / 2 + 1;
    return size;
}

template <typename Call> void must_throw(Call call) {
    bool thrown = false;
    try {
        void *block = call();
        KEEP(block);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown);
}

int handler_calls;

void handler() {
    if (++handler_calls == 3) {
        std::set_new_handler(nullptr);
    }
}

void failures() {
    const size_t size = too_much();
    const std::align_val_t align{4096};
    must_throw([&] { return ::operator new(size); });
    must_throw([&] { return ::operator new[](size); });
    must_throw([&] { return ::operator new(size, align); });
    must_throw([&] { return ::operator new[](size, align); });
    CHECK(::operator new(size, std::nothrow) == nullptr);
    CHECK(::operator new[](size, std::nothrow) == nullptr);
    CHECK(::operator new(size, align, std::nothrow) == nullptr);
    CHECK(::operator new[](size, align, std::nothrow) == nullptr);
    // The handler is called again and again until it gives up or makes room.
    std::set_new_handler(handler);
    must_throw([&] { return ::operator new(size); });
    CHECK_THAT(handler_calls == 3, "the new-handler was called %d times", handler_calls);
    handler_calls = 0;
    std::set_new_handler(handler);
    CHECK(::operator new(size, align, std::nothrow) == nullptr);
    CHECK_THAT(handler_calls == 3, "the new-handler was called %d times", handler_calls);
    // A handler that throws: out of the throwing forms; caught inside the nothrow ones.
    std::set_new_handler([] { throw std::bad_alloc(); });
    must_throw([&] { return ::operator new[](size); });
    CHECK(::operator new(size, std::nothrow) == nullptr);
    std::set_new_handler(nullptr);
}

} // namespace

int main() {
    for (size_t size : sizes) {
        plain(size);
        for (size_t alignment = 1; alignment <= (4u << 20); alignment *= 2) {
            aligned(size, alignment);
        }
    }
    null_is_nothing();
    failures();
    const size_t rounds = sizeof sizes / sizeof *sizes;
    CHECK_THAT(blocks_made == rounds * 6 * (1 + 23), "%zu blocks were made", blocks_made);
    return 0;
}
